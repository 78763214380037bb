/* settings-presets.c -- the presets of ./train, and what it chooses by itself; see settings.h. */
#include "commands/train/console.h"
#include "commands/train/settings.h"
#include "data/corpuscheck.h"
#include "kernels/bf16.h"
#include "scores/tokenization.h"

const char *const preset_names[] = {"toy", "tiny", "small", "base", "auto", NULL};

const char *const preset_purposes[] = {
    "the built-in corpus, whole words, about a minute",
    "10,000 to 100,000 pairs: Transformer-Tiny of Wu et al. 2021",
    "about 100,000 pairs",
    "a million pairs or more: the base model of Vaswani et al. 2017",
    NULL,
};

// clang-format off
static const struct {
    const char *option, *value[PRESETS];
} settings[] = {
    {"tokenizer",       {"word",        "bpe",          "bpe",          "bpe"}},
    {"normalization",   {"nmt_nfkc_cf", "nmt_nfkc",     "nmt_nfkc",     "nmt_nfkc"}},
    {"vocab-size",      {"2000",        "10000",        "10000",        "10000"}},
    {"d-model",         {"128",         "128",          "256",          "512"}},
    {"heads",           {"4",           "4",            "8",            "8"}},
    {"ffn",             {"256",         "256",          "512",          "2048"}},
    {"encoder-layers",  {"2",           "4",            "3",            "6"}},
    {"decoder-layers",  {"2",           "4",            "3",            "6"}},
    {"max-length",      {"64",          "256",          "256",          "256"}},
    {"output-bias",     {"true",        "false",        "false",        "false"}},
    {"batch-tokens",    {"1600",        "8192",         "8192",         "25000"}},
    {"micro-tokens",    {"400",         "320",          "512",          "512"}},
    {"accumulators",    {"4",           "0",            "0",            "0"}},
    {"learning-rate",   {"0.003",       "0.005",        "0.002",        "0.0007"}},
    {"schedule",        {"cosine",      "inverse-sqrt", "inverse-sqrt", "inverse-sqrt"}},
    {"warmup",          {"200",         "2000",         "2000",         "4000"}},
    {"max-updates",     {"2400",        "8000",         "30000",        "100000"}},
    {"dropout",         {"0.1",         "0.3",          "0.2",          "0.1"}},
    {"label-smoothing", {"0.1",         "0.1",          "0.1",          "0.1"}},
    {"augment",         {"0",           "0.3",          "0.3",          "0.3"}},
    {"clip-norm",       {"1",           "25",           "5",            "1"}},
    {"valid-every",     {"400",         "0",            "0",            "0"}},
    {"patience",        {"0",           "10",           "10",           "10"}},
};
// clang-format on
enum { SETTINGS = sizeof settings / sizeof *settings };

bool preset_apply(Settings *s, int preset, Error *error)
{
    bool good = true;
    for (int i = 0; good && i < SETTINGS; i++)
        good = options_set(s->groups, SETTINGS_GROUPS, settings[i].option,
                           settings[i].value[preset], error);
    return good;
}

void presets_print(FILE *out)
{
    fprintf(out, "  %-16s", "");
    for (int p = 0; p < PRESETS; p++) fprintf(out, "%14s", preset_names[p]);
    for (int s = 0; s < SETTINGS; s++) {
        fprintf(out, "\n  %-16s", settings[s].option);
        for (int p = 0; p < PRESETS; p++) fprintf(out, "%14s", settings[s].value[p]);
    }
    fputc('\n', out);
}

/* ---- auto ---- */

/* A word of the text is counted as six characters, both sides together: that is one of English with its
 * space; or, without spaces, as six bytes, which are two characters of Chinese. */
enum { WORD = 6 };

static const struct Size {
    double words, pairs;  // of the text, at most
    int vocabulary, width, heads, ffn, layers, batch_tokens;
    double rate, dropout, r_drop, augment, both_directions;
    double length;  // tokens in training, for each root of the tokens of the text
} sizes[] = {
    {3e3, INFINITY, 500, 128, 4, 256, 2, 1024, 0.005, 0.1, 0, 0, 0, 6000},
    {6e4, INFINITY, 3000, 192, 6, 384, 2, 2048, 0.003, 0.2, 4, 0.3, 0.33, 20000},
    {3e5, INFINITY, 5000, 128, 4, 256, 4, 2048, 0.003, 0.2, 4, 0.3, 0.33, 20000},
    {1.2e6, 4e4, 10000, 128, 4, 256, 4, 4096, 0.004, 0.1, 4, 0.3, 0.33, 29000},
    {1.2e6, INFINITY, 10000, 256, 8, 512, 4, 4096, 0.003, 0.1, 4, 0.3, 0, 16000},
    {3e6, INFINITY, 10000, 256, 8, 512, 4, 8192, 0.003, 0.1, 4, 0.3, 0, 18000},
    {1e7, INFINITY, 10000, 256, 8, 512, 4, 8192, 0.003, 0.1, 0, 0.3, 0, 25000},
    {INFINITY, INFINITY, 16000, 256, 8, 1024, 4, 12288, 0.002, 0.1, 0, 0.3, 0, 40000},
};

static const struct Size *size_of(const Settings *s)
{
    const struct Size *size = sizes;
    while (s->words > size->words || s->pairs > size->pairs) size++;
    return size;
}

static double count_words(const CorpusText *text, const Spacing spacing[SIDES])
{
    double all = 0;
    for (int side = 0; side < SIDES; side++) {
        bool bytes = spacing_is_unspaced(&spacing[side]);
        for (size_t i = 0; i < text->start[side][text->pairs]; i++)
            all += bytes || (text->bytes[side][i] & 0xC0) != 0x80;
    }
    return all / WORD;
}

/* Whether most source sentences are one word, which is to be spelled, not translated. */
static bool spells(const CorpusText *text, const Spacing *source)
{
    size_t spaces = 0;
    for (size_t i = 0; i < text->start[SOURCE][text->pairs]; i++)
        spaces += text->bytes[SOURCE][i] == ' ';
    return 2 * spaces < text->pairs && !spacing_is_unspaced(source);
}

/* Whether more than 1 % of the pairs have a side that is longer. */
static bool many_longer(const CorpusText *text, size_t bytes)
{
    size_t count = 0;
    for (size_t i = 0; i < text->pairs; i++)
        count += corpus_sentence(text, SOURCE, i).length > bytes ||
                 corpus_sentence(text, TARGET, i).length > bytes;
    return count * 100 > text->pairs;
}

static void choose(Settings *s, const CorpusText *text, const Spacing spacing[SIDES])
{
    enum { TOKEN = 3 };  // bytes of a subword, at least on average
    TrainingConfig *t = &s->training;
    const struct Size *size = size_of(s);
    if (spacing_is_unspaced(&spacing[TARGET])) s->data.bleu_tokenize = TOKENIZATION_CHAR;
    if (spacing_is_chinese(&spacing[TARGET])) s->data.bleu_tokenize = TOKENIZATION_ZH;
    t->batch_tokens = size->batch_tokens;
    t->learning_rate = size->rate;
    t->dropout = size->dropout;
    t->r_drop = size->r_drop;
    t->augment = size->augment;
    t->optimizer = OPTIMIZER_MUON;
    t->schedule = SCHEDULE_COSINE;
    t->precision = bf16_is_faster() ? PRECISION_BF16 : PRECISION_FLOAT;
    t->best = t->valid_translations ? BEST_CHRF : BEST_LOSS;
    t->patience = 0;
    if (s->fine_tuning.init) t->learning_rate /= 3;
    if (s->fine_tuning.init) return;
    double different = 5 * pow(s->words, 0.6);  // words, by Heaps' law
    s->data.learn.vocab_size = (int)fmin(size->vocabulary, 100 * ceil(different / 100));
    s->data.learn.normalization = NORMALIZATION_TEXT;
    bool spelled = spells(text, &spacing[SOURCE]);
    if (spelled) s->data.learn.type = TOKENIZER_CHAR, s->data.learn.vocab_size = 3000;
    if (!spelled && s->data.vocabulary == VOCABULARY_JOINT && !s->fine_tuning.teacher.count &&
        t->guide_alignment == 0)
        t->both_directions = size->both_directions;
    if (many_longer(text, TOKEN * (size_t)s->model.max_length)) s->model.max_length *= 2;
    s->model.d_model = size->width;
    s->model.heads = size->heads;
    s->model.ffn = size->ffn;
    s->model.encoder_layers = s->model.decoder_layers = size->layers;
}

static double tokens_of(const CorpusReport *report)
{
    return (double)(report->tokens[SOURCE] + report->tokens[TARGET]);
}

/* Updates, after which more would hardly help. */
static double length(const Settings *s, const CorpusReport *train)
{
    double tokens = tokens_of(train);
    double all = size_of(s)->length * sqrt(tokens) / (s->fine_tuning.init ? 4 : 1);
    return fmax(150, all / fmin(tokens, s->training.batch_tokens));
}

/* The updates of an epoch, an estimate: rather too many than too few. */
static double epoch_of(const TrainingConfig *t, const CorpusReport *train)
{
    double pairs = (double)train->kept, tokens = tokens_of(train);
    return fmin(pairs, ceil(tokens / fmax(1, t->batch_tokens - tokens / pairs)));
}

/* Updates until a limit; without one, a guess. */
static double updates_of(const TrainingConfig *t, const CorpusReport *train)
{
    enum { GUESS = 5000 };
    double updates = t->max_updates ? t->max_updates : t->max_epochs ? INFINITY : GUESS;
    return t->max_epochs ? fmin(updates, t->max_epochs * epoch_of(t, train)) : updates;
}

double validation_work(const TrainingConfig *t, const CorpusReport *valid)
{
    enum { MARGIN = 20 };  // tokens that a translation may be longer
    double n = (double)valid->kept, translated = fmin(1, t->valid_translations / n);
    double target = 1.5 * (double)valid->tokens[TARGET] + MARGIN * n;
    return tokens_of(valid) + translated * ((double)valid->tokens[SOURCE] + 3 * target);
}

/* The weight of R-Drop: few updates are better without. */
static double r_drop_of(const Settings *s, const CorpusReport *train)
{
    static const double FEW = 0.5;  // of all updates
    return updates_of(&s->training, train) < FEW * length(s, train) ? 0 : size_of(s)->r_drop;
}

static void set_pace(Settings *s, const CorpusReport *train, const CorpusReport *valid)
{
    enum { VALIDATIONS = 20, APART = 250 };  // at most; updates, at least
    static const double SHARE = 0.1;         // of the work that is validation's, at most
    TrainingConfig *t = &s->training;
    double updates = updates_of(t, train);
    double r_drop = r_drop_of(s, train);
    t->r_drop = fmin(t->r_drop, r_drop);  // twice as many fit once it is left out
    if (r_drop == 0) t->both_directions = 0;
    t->warmup = (int)fmin(1000, updates / 6);
    t->ema = fmax(0, round(1000 * fmin(0.999, 1 - 8 / updates)) / 1000);
    double update = 3 * fmin(tokens_of(train), t->batch_tokens);  // its work
    double count = fmin(fmin(VALIDATIONS, updates / APART),
                        SHARE * updates * update / validation_work(t, valid));
    t->valid_every = (int)ceil(updates / fmax(1, floor(count)));
}

bool auto_choose(Settings *s, const CorpusText *text, double share, Error *error)
{
    if (!s->automatic) return true;
    size_t n = text->pairs;
    s->pairs = (double)n * share;
    const Spacing spacing[SIDES] = {corpus_spacing(text, SOURCE), corpus_spacing(text, TARGET)};
    s->words = count_words(text, spacing) * share;
    Settings chosen = *s;
    choose(&chosen, text, spacing);
    int heads = chosen.model.heads;
    if (!s->fine_tuning.init) chosen.model.heads = 1;
    if (!settings_take(s, &chosen, error)) return false;
    chosen.data.learn.byte_fallback = !s->fine_tuning.init && s->data.learn.vocab_size >= 3000;
    while (!s->fine_tuning.init && s->model.d_model % heads) heads--;  // of a given width
    chosen.model.heads = heads;
    return settings_take(s, &chosen, error);
}

bool auto_lengthen(Settings *s, const CorpusReport *train, const CorpusReport *valid,
                   double fit, Error *error)
{
    Settings chosen = *s;
    if (!s->automatic) return true;
    double updates = length(s, train);
    // three times as many still gain a little
    chosen.training.max_updates = (int)(fit > 0 ? fmax(1, fmin(3 * updates, fit)) : updates);
    chosen.training.max_updates = (int)updates_of(&chosen.training, train);
    if (!settings_take(s, &chosen, error)) return false;
    chosen.training.max_updates = s->training.max_updates;
    set_pace(&chosen, train, valid);
    return settings_take(s, &chosen, error);
}

void auto_report(const Settings *s, const CorpusReport *train)
{
    const TrainingConfig *t = &s->training;
    double usual = size_of(s)->r_drop,
           r_drop = s->seconds > 0 && t->r_drop == 0 ? 0 : r_drop_of(s, train);
    bool bf16 = t->precision == PRECISION_BF16;
    char words[NUMBER_TEXT], pairs[NUMBER_TEXT], updates[NUMBER_TEXT];
    console_say(
        "automatic     as the text has about %s words in %s pairs; options override it:",
        number_text(words, s->words), number_text(pairs, s->pairs));
    console_say("  learns with %s, rate %g, dropout %g%s%s",
                t->optimizer == OPTIMIZER_MUON ? "Muon" : "Adam", t->learning_rate, t->dropout,
                t->r_drop > 0 ? " and R-Drop"
                : usual > 0   ? " and no R-Drop"
                              : "",
                t->r_drop != r_drop || usual == 0 ? ""  // it is given, or as usual
                : r_drop > 0                      ? ", since it will read each sentence often"
                                                  : ", which takes more updates");
    if (t->max_updates || t->max_epochs)
        console_say("  for         %s%s updates of %d tokens: %.1f times through the text%s",
                    t->patience ? "at most " : "", number_text(updates, updates_of(t, train)),
                    t->batch_tokens, updates_of(t, train) / epoch_of(t, train),
                    t->both_directions > 0 ? ", in both directions at first" : "");
    console_say("  products    %s%s", bf16 ? "bf16" : "float",
                bf16 != bf16_is_faster() ? ""  // it is given
                : bf16                   ? ", which this processor multiplies faster"
                                         : ": this processor does not multiply bf16 faster");
}
