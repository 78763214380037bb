/* tokenizer-learning.cc -- a SentencePiece model from sentences.
 *
 * The library's inner checks (CHECK in its sources) end the process: a corpus of spaces does it,
 * and a sum that becomes NaN. They sit in its trainers. So a model is learned in a child process,
 * which hands back through a pipe
 *
 *     'M' and the model's bytes, or 'E' and what went wrong
 *
 * and whose standard error is kept for the sentence, should it end without either. */
extern "C" {
#include "base/error.h"
#include "base/packed.h"
#include "data/sentencepiece.h"
#include "data/tokenizer.h"
}
#include "data/tokenizer-library.hh"
#include "data/tokenizer-words.hh"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sentencepiece_trainer.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <unordered_map>

using sentencepiece::SentencePieceTrainer;
using sentencepiece::util::Status;
using Options = std::unordered_map<std::string, std::string>;

static const size_t MAX_TRAINING_BYTES = (size_t)1 << 29;  // its arrays have 32-bit places
static const char MAX_SENTENCE_BYTES[] = "4192";           // longer ones teach nothing

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
        {"model_type", tokenizer_type_name(settings->type)},
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
