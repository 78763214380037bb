/* tokenizer-learning.cc -- learns a SentencePiece model from sentences.
 *
 * The internal checks of the library's trainers (CHECK in its sources) end the process, for
 * example on a corpus of spaces or when a sum becomes NaN. So a model is learned in a child
 * process. It leaves a file in memory: the model if its exit status is 0, else what it wrote to its
 * standard error, in its own words or in the library's. */
extern "C" {
#include "base/error.h"
#include "base/packed.h"
#include "base/utf8.h"
#include "data/sentencepiece.h"
#include "data/tokenizer.h"
}
#include "data/tokenizer-library.hh"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <sentencepiece_processor.h>
#include <sentencepiece_trainer.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unicode/uchar.h>
#include <unistd.h>
#include <unordered_map>

using sentencepiece::SentencePieceTrainer;
using sentencepiece::util::Status;
using Options = std::unordered_map<std::string, std::string>;

static const size_t MAX_TRAINING_BYTES = (size_t)1 << 29;  // the library has 32-bit indices
static const char MAX_SENTENCE_BYTES[] = "4192";           // longer sentences are skipped
static const char NO_TEXT[] = "there is no text to learn a tokenizer from";
static const double DEFAULT_COVERAGE = 0.9995;
enum { LEAST_COUNT = 2 };

const char *const tokenizer_normalizations[] = {"nmt_nfkc", "nfkc", "nmt_nfkc_cf", "nfkc_cf",
                                                "identity", "text", "text_cf",     nullptr};

using Rules = std::map<std::string, std::string>;  // from a text to a text, UTF-8

/* ---- the rules of `text` ----
 *
 * Those of nmt_nfkc, but not those that change what a text says: a number keeps its value (10⁵, x₁, 3½,
 * ② and ㎡ stay), and letters stay that are one for their readers (Thai ำ, Lao ໜ, Korean ㅋ,
 * Armenian և), the wide punctuation of Chinese and Japanese (？), an accent that stands alone (´), the
 * hyphen that does not break, and the zero-width non-joiner, as in Persian. What nobody sees goes, where nmt_nfkc leaves it or makes a space of
 * it. */

static bool stays(UChar32 c, const std::string &becomes)
{
    static const unsigned types = 1 << U_DT_SUPER | 1 << U_DT_SUB | 1 << U_DT_FRACTION |
                                  1 << U_DT_CIRCLE | 1 << U_DT_SQUARE;
    int type = u_getIntPropertyValue(c, UCHAR_DECOMPOSITION_TYPE);
    bool accent = becomes[0] == ' ' && becomes[1];
    bool wide = type == U_DT_WIDE && u_isgraph(c) && !u_isalnum(c);
    return types >> type & 1 || (type == U_DT_COMPAT && u_charType(c) == U_OTHER_LETTER) ||
           accent || wide || c == 0x587 || c == 0x2011 || c == 0x200c;
}

static bool is_invisible(UChar32 c)
{
    return c == 0xad || c == 0x200b || c == 0x2060 || c == 0xfeff ||
           u_hasBinaryProperty(c, UCHAR_BIDI_CONTROL);
}

static Rules text_rules(Rules rules)
{
    char invisible[5];
    for (auto rule = rules.begin(); rule != rules.end();) {
        unsigned c;
        utf8_next(rule->first.c_str(), &c);
        rule = stays((UChar32)c, rule->second) ? rules.erase(rule) : std::next(rule);
    }
    for (UChar32 c = 0; c <= 0xfeff; c++)
        if (is_invisible(c)) utf8_encode(invisible, (unsigned)c), rules[invisible] = "";
    return rules;
}

/* ---- the rules by which the word type splits text into words ----
 *
 * The library's word model splits at spaces only. So the model's normalisation table inserts
 * the spaces. It is a named table, such as nmt_nfkc, with these rules added:
 *
 *     text        becomes     because
 *     ' or ’      "' "        the article in "l'école" is a word; both apostrophes are the same
 *     . , : etc   " . "       a punctuation mark is a word
 *     .5 ,5 :5    unchanged   numbers and times: "3.14", "10:30"
 *     .a          unchanged   names: "www.example.org"
 *
 * A second table removes spaces when text is decoded: "' " becomes "'", " ." becomes "." (but "
 * .5" stays), " ," becomes ",", and so on for the punctuation that has no space in any
 * language. */

#define DIGITS  "0123456789"
#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

struct Punctuation {
    const char *text;
    bool glued_left, glued_right;  // no space on that side, in any language
    const char *inside;            // it is no mark before these: 3.14, example.org
};
static const Punctuation MARKS[] = {
    {".", true, false, DIGITS LETTERS},
    {",", true, false, DIGITS},
    {":", false, false, DIGITS},
    {";", false, false, ""},
    {"?", false, false, ""},
    {"!", false, false, ""},
    {"(", false, true, ""},
    {")", true, false, ""},
    {"“", false, true, ""},
    {"”", true, false, ""},
    {"«", false, false, ""},
    {"»", false, false, ""},
    {"\"", false, false, ""},
};

/* The text with spaces around its punctuation and after its apostrophes. */
static std::string spaced(const std::string &text)
{
    std::string out;
    for (size_t i = 0; i < text.size();) {
        const size_t mark = tokenizer_mark(text.c_str() + i), count = mark ? mark : 1;
        const bool space = mark || text[i] == '\'';
        out += (mark ? " " : "") + text.substr(i, count) + (space ? " " : "");
        i += count;
    }
    return out;
}

/* Adds the rules that leave a mark inside a number or a name unchanged, after the text
 * `before`. */
static void keep_inside(Rules *rules, const Punctuation &mark, const std::string &before)
{
    for (const char *c = mark.inside; *c; c++) {
        std::string text = before + mark.text + *c;
        (*rules)[text] = text;
    }
}

/* The piece of placeholder i, from 0. A piece of the type word begins with the space before it. */
static std::string placeholder_piece(int i, bool word)
{
    return (word ? TOKENIZER_SPACE : "") + ("<ph" + std::to_string(i + 1) + ">");
}

/* For normalisation: a named table with the rules above, and spaces around placeholders. */
static Rules word_rules(const Rules &named, bool placeholders)
{
    Rules rules;
    for (int i = 0; placeholders && i < PLACEHOLDERS; i++)
        rules[placeholder_piece(i, false)] = " " + placeholder_piece(i, false) + " ";
    for (const auto &[from, to] : named) rules[from] = spaced(to);
    rules["'"] = rules["’"] = "' ";
    for (const Punctuation &mark : MARKS) {
        rules[mark.text] = spaced(mark.text);
        keep_inside(&rules, mark, "");
    }
    return rules;
}

/* For decoding. */
static Rules glue_rules(void)
{
    Rules rules{{"' ", "'"}};
    for (const Punctuation &mark : MARKS) {
        if (mark.glued_left) {
            rules[std::string(" ") + mark.text] = mark.text;
            keep_inside(&rules, mark, " ");
        }
        if (mark.glued_right) rules[std::string(mark.text) + " "] = mark.text;
    }
    return rules;
}

/* ---- learning, in the child ---- */

/* Sentences to learn from, evenly spread: at most TOKENIZER_SENTENCES and MAX_TRAINING_BYTES; and one
 * more at the end unless it is empty. */
class Sample : public sentencepiece::SentenceIterator
{
  public:
    Sample(const Sentences *text, int texts, const char *last = "")
        : text_(text), last_(last), count_((size_t)texts * text->count),
          wanted_(std::min(count_, (size_t)TOKENIZER_SENTENCES))
    {
        size_t bytes = 0, length = 0;
        for (size_t i = 0; i < wanted_; i++) at(i, &length), bytes += length;
        if (bytes > MAX_TRAINING_BYTES)
            wanted_ = (size_t)((double)wanted_ * MAX_TRAINING_BYTES / (double)bytes);
    }
    bool done() const override
    {
        return i_ >= wanted_ + (*last_ ? 1 : 0);
    }
    void Next() override
    {
        i_++;
    }
    const std::string &value() const override
    {
        size_t length = strlen(last_);
        const char *text = i_ < wanted_ ? at(i_, &length) : last_;
        return value_.assign(text, length);
    }
    Status status() const override
    {
        return Status();
    }

  private:
    const char *at(size_t i, size_t *length) const
    {
        const size_t place = (size_t)((unsigned __int128)i * count_ / wanted_);
        const Sentences &text = text_[place / text_->count];
        const size_t *start = text.start + place % text_->count;
        *length = start[1] - start[0];
        return text.bytes + start[0];
    }
    const Sentences *text_;
    const char *last_;
    size_t count_, wanted_, i_ = 0;
    mutable std::string value_;
};

/* Valid UTF-8 as hexadecimal code points, separated by spaces. */
static std::string code_points(const std::string &text)
{
    std::string out;
    for (size_t i = 0; i < text.size();) {
        unsigned code;
        char hex[16];
        i += utf8_next(text.c_str() + i, &code);
        snprintf(hex, sizeof hex, "%s%X", out.empty() ? "" : " ", code);
        out += hex;
    }
    return out;
}

/* Sets errno if it fails. */
static bool write_all(int file, const std::string &bytes)
{
    errno = EFBIG;  // if only a part is written
    return write(file, bytes.data(), bytes.size()) == (ssize_t)bytes.size();
}

/* Writes rules to a file in memory, which stays open, and returns a name by which the library can open
 * it. */
static std::string rules_file(const Rules &rules)
{
    std::string tsv;
    for (const auto &[from, to] : rules)
        tsv += code_points(from) + "\t" + code_points(to) + "\n";
    int file = memfd_create("rules", 0);
    if (!write_all(file, tsv)) throw std::runtime_error(strerror(errno));
    return "/proc/self/fd/" + std::to_string(file);
}

/* The library's table of rules, read from a small model that contains it: normalization_rule_name or
 * normalization_rule_tsv. */
static std::string table(const std::string &option, const std::string &value)
{
    const Sentences none = {};
    Sample sample(&none, 1, "a");
    std::string model;
    const Options options{
        {"model_type", "char"}, {"vocab_size", "5"}, {option, value}, {"minloglevel", "3"}};
    const Status status = SentencePieceTrainer::Train(options, &sample, &model);
    if (!status.ok()) throw std::runtime_error(reason(status.error_message()));
    Error error;
    Pieces pieces;
    if (!pieces_read(&pieces, model.data(), model.size(), &error))
        throw std::runtime_error(error.text);
    std::string charsmap((const char *)pieces.normalizer.charsmap.at,
                         pieces.normalizer.charsmap.count);
    pieces_free(&pieces);
    return charsmap;
}

static Rules named_rules(const std::string &name)
{
    if (name.find("text") == 0) return text_rules(named_rules("nmt_nfkc" + name.substr(4)));
    Rules rules;
    Error error;
    auto add = [](void *context, const char *from, const char *to) {
        (*static_cast<Rules *>(context))[from] = to;
    };
    const std::string charsmap = table("normalization_rule_name", name);
    if (!charsmap_rules({(const unsigned char *)charsmap.data(), charsmap.size()}, &rules, add,
                        &error))
        throw std::runtime_error(error.text);
    return rules;
}

/* The number of pieces that every model has: </s>, <unk>, the placeholders and the tags. */
static int fixed_pieces(const TokenizerSettings *settings)
{
    return ID_UNKNOWN + 1 + (settings->placeholders ? PLACEHOLDERS : 0) +
           (settings->tags ? settings->tags->count : 0);
}

static Options training_options(const TokenizerSettings *settings)
{
    const bool words = settings->type == TOKENIZER_WORD;
    std::string name = tokenizer_normalizations[settings->normalization];
    if (settings->lowercase && name.find("_cf") == std::string::npos) name += "_cf";
    Options options{
        {"model_type", tokenizer_type_names[settings->type]},
        {"vocab_size", std::to_string(settings->vocab_size - 1)},  // without <pad>
        {"hard_vocab_limit", "false"},
        {"byte_fallback", settings->byte_fallback ? "true" : "false"},
        {"eos_id", std::to_string(ID_END)},
        {"unk_id", std::to_string(ID_UNKNOWN)},
        {"bos_id", "-1"},
        {"pad_id", "-1"},
        {"unk_surface", words ? " ⁇" : "⁇"},
        {"max_sentence_length", MAX_SENTENCE_BYTES},
        {"num_threads", "4"},  // fixed, because it changes how sums are rounded
        {"minloglevel", "3"},
    };
    std::string symbols;
    for (int i = 0; settings->placeholders && i < PLACEHOLDERS; i++)
        symbols += "," + placeholder_piece(i, words);
    for (int i = 0; settings->tags && i < settings->tags->count; i++)
        symbols += std::string(",") + settings->tags->item[i];
    if (!symbols.empty()) options["user_defined_symbols"] = symbols.substr(1);
    options["normalization_rule_name"] = name;
    if (words || name.find("text") == 0) {
        Rules rules = named_rules(name);
        if (words) rules = word_rules(rules, settings->placeholders);
        options["normalization_rule_name"] = "user_defined";
        options["precompiled_charsmap"] = table("normalization_rule_tsv", rules_file(rules));
    }
    if (words) options["denormalization_rule_tsv"] = rules_file(glue_rules());
    return options;
}

/* The coverage. By default it is 1 where characters or words are the tokens; with bytes it is
 * DEFAULT_COVERAGE, and else that or more, so that all characters get a piece that
 * occur LEAST_COUNT times, as far as all that get one are at most a quarter of the vocabulary.
 * A char model counts them: its scores are the logarithms of their shares, most frequent first;
 * `once` is a character that its text has once. */
static double coverage_of(Options options, const Sentences *text, int texts,
                          const TokenizerSettings *settings)
{
    if (settings->coverage > 0) return settings->coverage;
    if (settings->type == TOKENIZER_WORD || settings->type == TOKENIZER_CHAR) return 1;
    if (settings->byte_fallback) return DEFAULT_COVERAGE;
    static const char once[] = "\xf3\xb0\x80\x80";  // U+F0000, for private use
    std::string model;
    Sample sample(text, texts, once);
    options["model_type"] = "char";
    options["character_coverage"] = "1";
    options["vocab_size"] = "1200000";  // all of Unicode
    options.erase("user_defined_symbols");
    sentencepiece::SentencePieceProcessor counted;
    if (!SentencePieceTrainer::Train(options, &sample, &model).ok() ||
        !counted.LoadFromSerializedProto(model).ok())
        return DEFAULT_COVERAGE;  // training the model itself fails, too, with the reason
    const int first = ID_UNKNOWN + 1, most = first + settings->vocab_size / 4;
    const double single = counted.GetScore(counted.PieceToId(once));
    double rare = -1;  // occurrences of the characters from `id` on, without `once`
    for (int id = counted.GetPieceSize() - 1; id >= first; id--) {
        double count = exp(counted.GetScore(id) - single);
        if (count > LEAST_COUNT - 0.5 && id < most)
            return std::max(DEFAULT_COVERAGE, 1 - (rare + 0.5 * count) * exp(single));
        rare += count;
    }
    return DEFAULT_COVERAGE;
}

/* The reply of the child (=) a text. */
static bool reply_with(const std::string &text)
{
    return !ftruncate(2, 0) && !lseek(2, 0, SEEK_SET) && write_all(2, text);
}

/* Learns a model, writes it to `reply`, in place of messages, and ends the process. A word model
 * contains the name of the file of rules for decoding, so descriptors are always the same: the reply is 2
 * and 3, rules are 4 and 5. _exit skips what the parent registered with atexit. */
[[noreturn]] static void child(int reply, const Sentences *text, int texts,
                               const TokenizerSettings *settings)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (int s : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGABRT, SIGSEGV})
        if (signal(s, SIG_DFL) == SIG_IGN) signal(s, SIG_IGN);
    struct rlimit no_core = {0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    reply = fcntl(reply, F_DUPFD, 4);
    int nothing = open("/dev/null", O_RDWR);
    if (dup2(nothing, 0) < 0 || dup2(nothing, 1) < 0 || dup2(reply, 2) < 0 ||
        dup2(reply, 3) < 0)
        _exit(1);
    close_range(4, ~0u, 0);
    atexit([] { _exit(1); });

    std::string model;
    Error error = {};
    bool good = guarded(&error, [&] {
        Options options = training_options(settings);
        char coverage[32];
        snprintf(coverage, sizeof coverage, "%.9f",
                 coverage_of(options, text, texts, settings));
        options["character_coverage"] = coverage;
        Sample sample(text, texts);
        const Status status = SentencePieceTrainer::Train(options, &sample, &model);
        sentencepiece::SentencePieceProcessor made;
        if (status.ok() && made.LoadFromSerializedProto(model).ok() &&
            made.GetPieceSize() <= fixed_pieces(settings))
            return error_set(&error, "%s", NO_TEXT);
        return status.ok() ? true : error_set(&error, "%s", status.error_message());
    });
    if (!good) write_all(2, error.text);
    if (good && !(good = reply_with(model))) reply_with(strerror(errno));
    _exit(good ? 0 : 1);
}

/* ---- learning, in the parent ---- */

/* Says what a message of the library means for the settings, where that is known. */
static bool explain(Error *error, const std::string &message, const TokenizerSettings *settings)
{
    int asked, needed;
    size_t at = message.find("required_chars. ");
    if (at != std::string::npos &&
        sscanf(message.c_str() + at, "required_chars. %d vs %d", &asked, &needed) == 2)
        return error_set(error,
                         "a vocabulary of %d is too small: every character of the text needs a "
                         "place in it, which takes a vocabulary size of %d or more, or a lower "
                         "character coverage",
                         settings->vocab_size, needed + 1);
    for (const char *sign : {NO_TEXT, "sentences_.empty()", "required_chars_.empty()"})
        if (message.find(sign) != std::string::npos)
            return error_set(error,
                             "%s: it takes lines of 1 to %s bytes with characters other than "
                             "spaces and those that normalisation removes",
                             NO_TEXT, MAX_SENTENCE_BYTES);
    if (message.find(strerror(EAGAIN)) != std::string::npos)
        return error_set(error, "cannot start a thread to learn a tokenizer: allow more memory "
                                "(ulimit -v) or threads (ulimit -u)");
    return error_set(error, "cannot learn a tokenizer: %s", reason(message).c_str());
}

static bool settings_check(const TokenizerSettings *settings, Error *error)
{
    if (settings->lowercase && settings->normalization == NORMALIZATION_IDENTITY)
        return error_set(error, "lowercasing is part of a normalisation: 'identity' has none");
    if (settings->coverage != 0 && !(settings->coverage >= 0.98 && settings->coverage <= 1))
        return error_set(error, "character coverage is from 0.98 to 1, not %g",
                         settings->coverage);
    int least = fixed_pieces(settings) + 2 + (settings->byte_fallback ? 256 : 0);
    if (settings->vocab_size < least)
        return error_set(error, "a vocabulary of %d is too small: it takes %d or more",
                         settings->vocab_size, least);
    return true;
}

/* A file in memory. */
struct File {
    int number = memfd_create("tokenizer", MFD_CLOEXEC);
    ~File()
    {
        if (number >= 0) close(number);
    }
    std::string text() const
    {
        std::string text(lseek(number, 0, SEEK_END), 0);
        if (pread(number, text.data(), text.size(), 0) != (ssize_t)text.size())
            throw std::runtime_error("cannot read the model");
        return text;
    }
};

static bool learn(std::string *model, const Sentences *text, int texts,
                  const TokenizerSettings *settings, Error *error)
{
    File reply;
    pid_t pid = reply.number < 0 ? -1 : fork();
    if (pid < 0) return error_set(error, "cannot learn a tokenizer: %s", strerror(errno));
    if (pid == 0) child(reply.number, text, texts, settings);

    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {}
    if (WIFSIGNALED(status)) {
        int number = WTERMSIG(status);
        bool memory = number == SIGKILL || number == SIGABRT;
        return error_set(error, "learning a tokenizer was ended by signal %d (%s)%s", number,
                         strsignal(number), memory ? ": is there enough memory?" : "");
    }
    *model = reply.text();
    if (status == 0) return true;
    std::string said = model->substr(0, model->find('\n'));
    return explain(error, said.empty() ? "it ended without a message" : said, settings);
}

bool tokenizer_train(unsigned char **model, size_t *size, const Sentences *text, int texts,
                     const TokenizerSettings *settings, Error *error)
{
    return guarded(error, [&] {
        std::string bytes;
        return settings_check(settings, error) && learn(&bytes, text, texts, settings, error) &&
               copy_bytes(model, size, bytes);
    });
}
