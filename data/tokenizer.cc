/* tokenizer.cc -- text to ids and back: a C face for Google's SentencePiece.
 *
 * The library's inner checks (CHECK in its sources) end the process: a corpus of spaces does it,
 * and a sum that becomes NaN. They sit in its trainers. So a model is learned in a child process,
 * which hands back through a pipe
 *
 *     'M' and the model's bytes, or 'E' and what went wrong
 *
 * and whose standard error is kept for the sentence, should it end without either. What the
 * library does in this process, loading, encoding and decoding, only returns errors or throws,
 * once sentencepiece_check has seen the model; every exception stops here.
 *
 * The word type's rules. The library's word model splits at spaces only, so the normalisation
 * table, which is part of the model, puts the spaces in. It is the named table (nmt_nfkc, say) with
 *
 *     text        becomes     because
 *     ' or ’      "' "        the article in "l'école" is a word; any apostrophe is one
 *     . , : etc   " . "       a mark is a word
 *     .5 ,5 :5    unchanged   numbers and times: "3.14", "10:30"
 *     .a          unchanged   names: "www.example.org"
 *
 * and a second table undoes it on the way back: "' " becomes "'", " ." becomes "." (but " .5"
 * stays), " ," becomes ",", and so on for the marks that take no space in any language. */
extern "C" {
#include "base/error.h"
#include "base/packed.h"
}
#include "data/sentencepiece.h"
#include "data/tokenizer.h"

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <sentencepiece_processor.h>
#include <sentencepiece_trainer.h>
#include <signal.h>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <unordered_map>
#include <vector>

using sentencepiece::SentencePieceProcessor;
using sentencepiece::SentencePieceTrainer;
using sentencepiece::util::Status;
using Options = std::unordered_map<std::string, std::string>;
using Rules = std::map<std::string, std::string>;

struct Tokenizer {
    SentencePieceProcessor processor;
    int vocab_size;
};

static const char *const TYPE_NAMES[TOKENIZER_TYPES] = {"unigram", "bpe", "word", "char"};
static const char SPACE_SYMBOL[] = "\xe2\x96\x81";  // U+2581

static const size_t MAX_TRAINING_BYTES = (size_t)1 << 29;  // its arrays have 32-bit places
static const char MAX_SENTENCE_BYTES[] = "4192";           // longer ones teach nothing

/* Runs work(), which says true or false, and turns what it throws into a sentence. */
template <class Work> static bool guarded(Error *error, Work work)
{
    try {
        return work();
    } catch (const std::bad_alloc &) {
        return error_set(error, "out of memory in SentencePiece");
    } catch (const std::exception &e) {
        return error_set(error, "SentencePiece failed: %s", e.what());
    } catch (...) {
        return error_set(error, "SentencePiece failed");
    }
}

/* The library's messages go nowhere from here on. Its only public switch is an option of
 * training: this training fails for want of text, at once, and its failure means nothing. */
static void silence(void)
{
    static std::once_flag once;
    std::call_once(once, [] {
        std::string model;
        SentencePieceTrainer::Train(
            Options{{"minloglevel", "3"}, {"normalization_rule_name", "identity"}}, nullptr,
            &model)
            .IgnoreError();
    });
}

/* What a status says, without the source line that the library puts before it. */
static std::string reason(const std::string &message)
{
    size_t bracket = message.rfind("] ");
    std::string text = bracket == std::string::npos ? message : message.substr(bracket + 2);
    while (!text.empty() && isspace((unsigned char)text.back())) text.pop_back();
    return text.empty() ? message : text;
}

/* ---- learning, in the child ---- */

class Sample : public sentencepiece::SentenceIterator
{
  public:
    Sample(const Sentences *sentences, size_t wanted) : sentences_(sentences), wanted_(wanted)
    {
        fetch();
    }
    bool done() const override
    {
        return i_ >= wanted_;
    }
    void Next() override
    {
        i_++;
        fetch();
    }
    const std::string &value() const override
    {
        return value_;
    }
    Status status() const override
    {
        return Status();
    }

    /* The place of the i-th of `wanted` sentences, evenly spread over all of them. */
    static size_t place(size_t i, size_t wanted, size_t count)
    {
        return (size_t)((unsigned __int128)i * count / wanted);
    }

  private:
    void fetch()
    {
        if (done()) return;
        size_t length = 0;
        const char *text =
            sentences_->at(sentences_->context, place(i_, wanted_, sentences_->count), &length);
        value_.assign(text, length);
    }
    const Sentences *sentences_;
    size_t wanted_, i_ = 0;
    std::string value_;
};

/* How many sentences to learn from: TOKENIZER_SENTENCES, and what stays below
 * MAX_TRAINING_BYTES. */
static size_t sample_size(const Sentences *sentences)
{
    size_t wanted = std::min(sentences->count, (size_t)TOKENIZER_SENTENCES), bytes = 0;
    for (size_t i = 0; i < wanted; i++) {
        size_t length = 0;
        sentences->at(sentences->context, Sample::place(i, wanted, sentences->count), &length);
        bytes += length;
    }
    if (bytes <= MAX_TRAINING_BYTES) return wanted;
    return (size_t)((double)wanted * MAX_TRAINING_BYTES / (double)bytes);
}

struct Mark {
    const char *text;
    bool glued_left, glued_right;  // in every language
    bool in_numbers, in_names;     // 3.14 and example.org are one word
};
static const Mark MARKS[] = {
    {".", true, false, true, true},     {",", true, false, true, false},
    {":", false, false, true, false},   {";", false, false, false, false},
    {"?", false, false, false, false},  {"!", false, false, false, false},
    {"(", false, true, false, false},   {")", true, false, false, false},
    {"“", false, true, false, false},   {"”", true, false, false, false},
    {"«", false, false, false, false},  {"»", false, false, false, false},
    {"\"", false, false, false, false},
};

static const char DIGITS[] = "0123456789";
static const char LETTERS[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

/* text with spaces around its marks and behind its apostrophes. */
static std::string spaced(const std::string &text)
{
    std::string out;
    for (size_t i = 0; i < text.size();) {
        std::string_view rest(text.data() + i, text.size() - i);
        auto mark = std::find_if(std::begin(MARKS), std::end(MARKS), [&](const Mark &m) {
            return rest.substr(0, strlen(m.text)) == m.text;
        });
        if (mark != std::end(MARKS)) {
            out += std::string(" ") + mark->text + " ";
            i += strlen(mark->text);
        } else {
            out += text[i];
            if (text[i] == '\'') out += ' ';
            i++;
        }
    }
    return out;
}

/* Adds the rules that keep a mark inside a number or a name; `before` is what precedes it. */
static void keep_inside(Rules *rules, const Mark &mark, const std::string &before)
{
    std::string follow =
        std::string(mark.in_numbers ? DIGITS : "") + (mark.in_names ? LETTERS : "");
    for (char c : follow) {
        std::string text = before + mark.text + c;
        (*rules)[text] = text;
    }
}

static Rules word_rules(const Rules &named)
{
    Rules rules;
    for (const auto &[from, to] : named) rules[from] = spaced(to);
    rules["'"] = rules["’"] = "' ";
    for (const Mark &mark : MARKS) {
        rules[mark.text] = spaced(mark.text);
        keep_inside(&rules, mark, "");
    }
    return rules;
}

static Rules glue_rules(void)
{
    Rules rules{{"' ", "'"}};
    for (const Mark &mark : MARKS) {
        if (mark.glued_left) {
            rules[std::string(" ") + mark.text] = mark.text;
            keep_inside(&rules, mark, " ");
        }
        if (mark.glued_right) rules[std::string(mark.text) + " "] = mark.text;
    }
    return rules;
}

/* UTF-8, known to be valid, as hexadecimal code points with spaces between. */
static std::string code_points(const std::string &text)
{
    std::string out;
    for (size_t i = 0; i < text.size();) {
        unsigned char lead = (unsigned char)text[i];
        int bytes = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
        unsigned code = bytes == 1 ? lead : lead & (0x7fu >> bytes);
        for (int k = 1; k < bytes; k++) code = code << 6 | ((unsigned char)text[i + k] & 0x3f);
        char hex[16];
        snprintf(hex, sizeof hex, "%s%X", out.empty() ? "" : " ", code);
        out += hex;
        i += bytes;
    }
    return out;
}

/* A file in memory that the library can open by the name that is returned. */
static std::string rules_file(const Rules &rules)
{
    std::string tsv;
    for (const auto &[from, to] : rules)
        tsv += code_points(from) + "\t" + code_points(to) + "\n";
    int file = memfd_create("rules", 0);
    for (size_t done = 0; file >= 0 && done < tsv.size();) {
        ssize_t wrote = write(file, tsv.data() + done, tsv.size() - done);
        if (wrote <= 0) throw std::bad_alloc();
        done += (size_t)wrote;
    }
    return "/proc/self/fd/" + std::to_string(file);
}

/* All rules of one of the library's own tables, by way of the smallest model that has it. */
static Rules named_rules(const std::string &name)
{
    struct One {
        static const char *at(const void *, size_t, size_t *length)
        {
            *length = 1;
            return "a";
        }
    };
    const Sentences one = {1, One::at, nullptr};
    Sample sample(&one, 1);
    std::string model;
    const Status status = SentencePieceTrainer::Train(Options{{"model_type", "char"},
                                                              {"vocab_size", "5"},
                                                              {"normalization_rule_name", name},
                                                              {"minloglevel", "3"}},
                                                      &sample, &model);
    if (!status.ok()) throw std::runtime_error(reason(status.error_message()));
    Rules rules;
    Error error;
    auto add = [](void *context, const char *from, const char *to) {
        (*static_cast<Rules *>(context))[from] = to;
    };
    if (!sentencepiece_rules(model.data(), model.size(), &rules, add, &error)) {
        throw std::runtime_error(error.text);
    }
    return rules;
}

static Options training_options(const TokenizerSettings *settings)
{
    const bool words = settings->type == TOKENIZER_WORD;
    const bool whole = words || settings->type == TOKENIZER_CHAR;
    double coverage = settings->coverage > 0 ? settings->coverage : whole ? 1.0 : 0.9995;
    std::string name = settings->normalization ? settings->normalization : "nmt_nfkc";
    if (settings->lowercase && name.find("_cf") == std::string::npos) name += "_cf";
    Options options{
        {"model_type", TYPE_NAMES[settings->type]},
        {"vocab_size", std::to_string(settings->vocab_size - 1)},  // <pad> is ours
        {"hard_vocab_limit", "false"},
        {"character_coverage", std::to_string(coverage)},
        {"byte_fallback", settings->byte_fallback ? "true" : "false"},
        {"eos_id", std::to_string(ID_END)},
        {"unk_id", std::to_string(ID_UNKNOWN)},
        {"bos_id", "-1"},
        {"pad_id", "-1"},
        {"unk_surface", words ? " ⁇" : "⁇"},
        {"max_sentence_length", MAX_SENTENCE_BYTES},
        {"num_threads", "4"},  // a fixed number: sums are split, and so rounded, by threads
        {"minloglevel", "3"},
    };
    if (words) {
        options["normalization_rule_tsv"] = rules_file(word_rules(named_rules(name)));
        options["denormalization_rule_tsv"] = rules_file(glue_rules());
    } else {
        options["normalization_rule_name"] = name;
    }
    return options;
}

static void reply_write(int reply, const char *bytes, size_t count)
{
    for (size_t done = 0; done < count;) {
        ssize_t wrote = write(reply, bytes + done, count - done);
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote <= 0) _exit(1);
        done += (size_t)wrote;
    }
}

/* The child's whole life. Its descriptors are made the same every time (the reply is 3, the
 * rules 4 and 5), since their names come to stand in the model; its exit skips everything that
 * the parent had registered to run at its own. */
[[noreturn]] static void child(int reply, int messages, const Sentences *sentences,
                               const TokenizerSettings *settings)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (int s : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGABRT, SIGSEGV}) signal(s, SIG_DFL);
    struct rlimit no_core = {0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    reply = fcntl(reply, F_DUPFD, 10);
    messages = fcntl(messages, F_DUPFD, 10);
    int nothing = open("/dev/null", O_RDWR);
    if (dup2(nothing, 0) < 0 || dup2(nothing, 1) < 0 || dup2(messages, 2) < 0 ||
        dup2(reply, 3) < 0) {
        _exit(1);
    }
    close_range(4, ~0u, 0);
    atexit([] { _exit(1); });

    std::string model;
    Error error = {};
    bool good = guarded(&error, [&] {
        Sample sample(sentences, sample_size(sentences));
        const Status status =
            SentencePieceTrainer::Train(training_options(settings), &sample, &model);
        return status.ok() ? true : error_set(&error, "%s", status.error_message());
    });
    if (good) {
        reply_write(3, "M", 1);
        reply_write(3, model.data(), model.size());
    } else {
        reply_write(3, "E", 1);
        reply_write(3, error.text, strlen(error.text));
    }
    _exit(0);
}

/* ---- learning, in the parent ---- */

/* The library's words in ours, where we know them. */
static bool explain(Error *error, const std::string &message, const TokenizerSettings *settings)
{
    int asked, needed;
    size_t at = message.find("required_chars. ");
    if (at != std::string::npos &&
        sscanf(message.c_str() + at, "required_chars. %d vs %d", &asked, &needed) == 2) {
        return error_set(error,
                         "a vocabulary of %d is too small: every character of the text needs a "
                         "place in it, which takes a vocabulary size of %d or more, or a lower "
                         "character coverage",
                         settings->vocab_size, needed + 1);
    }
    for (const char *sign : {"sentences_.empty()", "required_chars_.empty()"}) {
        if (message.find(sign) != std::string::npos) {
            return error_set(error,
                             "there is no text to learn a tokenizer from: no line has "
                             "between 1 and %s bytes that are more than spaces",
                             MAX_SENTENCE_BYTES);
        }
    }
    return error_set(error, "cannot learn a tokenizer: %s", reason(message).c_str());
}

static bool settings_check(const TokenizerSettings *settings, Error *error)
{
    static const char *const NAMES[] = {"nmt_nfkc", "nfkc", "nmt_nfkc_cf", "nfkc_cf",
                                        "identity"};
    const std::string name = settings->normalization ? settings->normalization : "nmt_nfkc";
    if (std::find(std::begin(NAMES), std::end(NAMES), name) == std::end(NAMES)) {
        return error_set(error,
                         "there is no normalisation '%s': there are nmt_nfkc, nfkc, "
                         "nmt_nfkc_cf, nfkc_cf and identity",
                         name.c_str());
    }
    if (settings->lowercase && name == "identity") {
        return error_set(error, "lowercasing is part of a normalisation: 'identity' has none");
    }
    if (settings->coverage != 0 && !(settings->coverage >= 0.98 && settings->coverage <= 1)) {
        return error_set(error, "character coverage is from 0.98 to 1, not %g",
                         settings->coverage);
    }
    int least = settings->byte_fallback ? 256 + 4 : 4;
    if (settings->vocab_size < least) {
        return error_set(error, "a vocabulary of %d is too small: it takes %d or more",
                         settings->vocab_size, least);
    }
    return true;
}

static bool read_all(int from, std::string *into)
{
    char block[1 << 16];
    for (;;) {
        ssize_t got = read(from, block, sizeof block);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return got == 0;
        into->append(block, (size_t)got);
    }
}

struct Descriptor {
    int number = -1;
    ~Descriptor()
    {
        release();
    }
    void release()
    {
        if (number >= 0) close(number);
        number = -1;
    }
};

static bool train(std::string *model, const Sentences *sentences,
                  const TokenizerSettings *settings, Error *error)
{
    Descriptor in, out, messages;
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return error_set(error, "cannot learn a tokenizer: %s", strerror(errno));
    }
    in.number = ends[0], out.number = ends[1];
    messages.number = memfd_create("messages", MFD_CLOEXEC);
    pid_t pid = messages.number < 0 ? -1 : fork();
    if (pid < 0) return error_set(error, "cannot learn a tokenizer: %s", strerror(errno));
    if (pid == 0) child(out.number, messages.number, sentences, settings);

    out.release();
    std::string reply, said;
    bool got = guarded(error, [&] { return read_all(in.number, &reply); });
    in.release();  // a child that still writes ends by it
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {}
    if (got && !reply.empty() && reply[0] == 'M' && status == 0) {
        *model = reply.substr(1);
        return true;
    }
    if (got && !reply.empty() && reply[0] == 'E') return explain(error, reply, settings);
    if (WIFSIGNALED(status)) {
        int number = WTERMSIG(status);
        return error_set(error, "learning a tokenizer was ended by signal %d (%s)%s", number,
                         strsignal(number),
                         number == SIGKILL || number == SIGABRT ? ": is there enough memory?"
                                                                : "");
    }
    lseek(messages.number, 0, SEEK_SET);
    read_all(messages.number, &said);
    size_t end = said.find('\n');
    return explain(error, said.empty() ? "it ended without a word" : said.substr(0, end),
                   settings);
}

/* ---- the C face ---- */

const char *tokenizer_type_name(TokenizerType type)
{
    return TYPE_NAMES[type];
}

bool tokenizer_type_parse(TokenizerType *type, const char *name, Error *error)
{
    for (int i = 0; i < TOKENIZER_TYPES; i++) {
        if (strcmp(name, TYPE_NAMES[i]) != 0) continue;
        *type = (TokenizerType)i;
        return true;
    }
    return error_set(error, "there is no tokenizer '%s': there are unigram, bpe, word and char",
                     name);
}

bool tokenizer_train(unsigned char **model, size_t *size, const Sentences *sentences,
                     const TokenizerSettings *settings, Error *error)
{
    return guarded(error, [&] {
        std::string bytes;
        if (!settings_check(settings, error)) return false;
        if (!train(&bytes, sentences, settings, error)) return false;
        *model = (unsigned char *)malloc(bytes.size());
        if (!*model) throw std::bad_alloc();
        memcpy(*model, bytes.data(), bytes.size());
        *size = bytes.size();
        return true;
    });
}

static bool load(Tokenizer *tokenizer, const void *model, size_t size, Error *error)
{
    SentencePieceProcessor &processor = tokenizer->processor;
    const Status status =
        processor.LoadFromSerializedProto(std::string_view((const char *)model, size));
    if (!status.ok()) return error_set(error, "%s", reason(status.error_message()).c_str());
    const int pieces = processor.GetPieceSize();
    if (pieces < 3 || !processor.IsControl(ID_END) || !processor.IsUnknown(ID_UNKNOWN)) {
        return error_set(error, "its first pieces are not </s> and <unk>");
    }
    for (int id = 0; id < pieces; id++) {
        if (!std::isfinite(processor.GetScore(id))) {
            return error_set(error, "the score of piece %d is not a number", id);
        }
    }
    tokenizer->vocab_size = pieces + 1;
    return true;
}

Tokenizer *tokenizer_load(const void *model, size_t size, Error *error)
{
    Tokenizer *tokenizer = nullptr;
    bool good = guarded(error, [&] {
        if (!sentencepiece_check(model, size, error)) return false;
        silence();
        tokenizer = new Tokenizer;
        return load(tokenizer, model, size, error);
    });
    if (good) return tokenizer;
    tokenizer_free(tokenizer);
    error_prefix(error, "this is not a SentencePiece model that can be used");
    return nullptr;
}

void tokenizer_free(Tokenizer *tokenizer)
{
    delete tokenizer;
}

int tokenizer_vocab_size(const Tokenizer *tokenizer)
{
    return tokenizer->vocab_size;
}

static bool too_long(Error *error, size_t length)
{
    return error_set(error, "a text of %zu bytes is too long for the tokenizer: %d at most",
                     length, TOKENIZER_MAX_TEXT);
}

bool tokenizer_encode(const Tokenizer *tokenizer, Ids *ids, const char *text, size_t length,
                      Error *error)
{
    if (length > TOKENIZER_MAX_TEXT) return too_long(error, length);
    return guarded(error, [&] {
        std::vector<int> pieces;
        const Status status =
            tokenizer->processor.Encode(std::string_view(text, length), &pieces);
        if (!status.ok()) {
            return error_set(error, "cannot tokenize: %s",
                             reason(status.error_message()).c_str());
        }
        if (ids->count + pieces.size() > ids->size) {
            size_t wanted = std::max(ids->count + pieces.size(), ids->size + ids->size / 2);
            void *grown = realloc(ids->id, wanted * sizeof *ids->id);
            if (!grown) throw std::bad_alloc();
            ids->id = (int32_t *)grown;
            ids->size = wanted;
        }
        for (int id : pieces) ids->id[ids->count++] = id;
        return true;
    });
}

/* The library gives no normalised text, but the pieces of it, unknown ones as they stand there. */
bool tokenizer_normalize(const Tokenizer *tokenizer, char **normalized, size_t *size,
                         const char *text, size_t length, Error *error)
{
    if (length > TOKENIZER_MAX_TEXT) return too_long(error, length);
    return guarded(error, [&] {
        const SentencePieceProcessor &processor = tokenizer->processor;
        sentencepiece::ImmutableSentencePieceText cut;
        const Status status =
            processor.Encode(std::string_view(text, length), cut.mutable_proto());
        if (!status.ok()) {
            return error_set(error, "cannot tokenize: %s",
                             reason(status.error_message()).c_str());
        }
        std::string joined;
        for (const auto &piece : cut.pieces()) {
            if (processor.IsByte((int)piece.id())) {
                joined += (char)std::stoi(piece.piece().substr(3, 2), nullptr, 16);
            } else {
                joined += piece.piece();
            }
        }
        *size = joined.size();
        *normalized = (char *)malloc(joined.size() + 1);
        if (!*normalized) throw std::bad_alloc();
        memcpy(*normalized, joined.c_str(), joined.size() + 1);
        return true;
    });
}

bool tokenizer_decode(const Tokenizer *tokenizer, char **text, const int32_t *id, size_t count,
                      Error *error)
{
    return guarded(error, [&] {
        std::vector<int> pieces;
        pieces.reserve(count);
        for (size_t i = 0; i < count; i++) {
            if (id[i] < 0 || id[i] >= tokenizer->vocab_size) {
                return error_set(error, "there is no token %d: there are %d", (int)id[i],
                                 tokenizer->vocab_size);
            }
            if (id[i] != tokenizer->vocab_size - 1) pieces.push_back(id[i]);
        }
        std::string decoded;
        const Status status = tokenizer->processor.Decode(pieces, &decoded);
        if (!status.ok()) {
            return error_set(error, "cannot put the tokens together: %s",
                             reason(status.error_message()).c_str());
        }
        for (char &c : decoded) {
            if ((unsigned char)c < 0x20) c = ' ';
        }
        size_t first = decoded.find_first_not_of(' '), last = decoded.find_last_not_of(' ');
        decoded = first == std::string::npos ? "" : decoded.substr(first, last - first + 1);
        *text = strdup(decoded.c_str());
        if (!*text) throw std::bad_alloc();
        return true;
    });
}

const char *tokenizer_piece(const Tokenizer *tokenizer, int32_t id)
{
    assert(id >= 0 && id < tokenizer->vocab_size);
    if (id == tokenizer->vocab_size - 1) return "<pad>";
    return tokenizer->processor.IdToPiece(id).c_str();
}

bool tokenizer_begins_word(const Tokenizer *tokenizer, int32_t id)
{
    return strncmp(tokenizer_piece(tokenizer, id), SPACE_SYMBOL, strlen(SPACE_SYMBOL)) == 0;
}

const char *tokenizer_label(const Tokenizer *tokenizer, int32_t id)
{
    const char *piece = tokenizer_piece(tokenizer, id);
    const char *rest = piece + strlen(SPACE_SYMBOL);
    return tokenizer_begins_word(tokenizer, id) && *rest ? rest : piece;
}
