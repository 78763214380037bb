/* web.c -- what the page calls (plots/page/engine.js): a model in WebAssembly, in a browser's tab.
 *
 * Texts are UTF-8 and end with NUL; the caller writes them to memory of malloc. A function that fails returns
 * NULL or false, and web_error says why. There is one model, and one training. */

#include "base/block.h"
#include "base/textstream.h"
#include "data/batches.h"
#include "data/toy/grammar.h"
#include "explain/page.h"
#include "inference/copying.h"
#include "inference/translator.h"
#include "model/quantised.h"
#include "training/trainer.h"

#define EXPORT(name) __attribute__((export_name(#name))) name

static struct {
    Vocabulary vocabulary;
    Transformer model;
    real *kept;  // [params.size] the weights before web_change; or NULL
    Choice choice;
    Error error;
} web;

const char *EXPORT(web_error)(void)
{
    return web.error.text;
}

/* ---- the model: tokenizers, and what commands/translate/webpage.c writes ---- */

bool EXPORT(web_vocabulary)(const void *source, size_t source_size, const void *target,
                            size_t target_size)
{
    vocabulary_free(&web.vocabulary);
    const void *const model[SIDES] = {source_size ? source : NULL, target};
    return vocabulary_copy(&web.vocabulary, model, (size_t[SIDES]){source_size, target_size},
                           &web.error) &&
           vocabulary_load(&web.vocabulary, &web.error);
}

/* Sets options from lines "name value". */
static bool set_options(const OptionGroup *group, const char *lines)
{
    char name[40], value[40];
    for (int end; sscanf(lines, "%39s %39s%n", name, value, &end) == 2; lines += end)
        if (!options_set(group, 1, name, value, &web.error)) return false;
    return true;
}

bool EXPORT(web_model)(const char *options)
{
    const Vocabulary *v = &web.vocabulary;
    ModelConfig config = {.vocab = tokenizer_vocab_size(v->tokenizer[TARGET])};
    if (!vocabulary_is_joint(v))
        config.source_vocab = tokenizer_vocab_size(v->tokenizer[SOURCE]);
    const OptionGroup group = {"Model", NULL, model_options, model_option_count, &config};
    if (!set_options(&group, options)) return false;
    free(web.kept);
    web.kept = NULL;
    web.choice = choice_default;
    transformer_free(&web.model);
    return transformer_create(&web.model, &config, &web.error);
}

/* w [count] (=) a row of numbers: floats, or a scale and integers of 8 bits or of 18, four in 9 bytes. Returns
 * the bytes that it takes; w NULL: only counts. */
static size_t take_row(real *w, size_t count, int bits, const unsigned char *bytes)
{
    float scale;
    const unsigned char *at = bytes + (bits == 32 ? 0 : sizeof scale);
    for (size_t i = 0; w && i < count; i++) {
        const unsigned char *four = at + i / 4 * 9, *low = four + i % 4 * 2;
        memcpy(&scale, bits == 32 ? at + i * sizeof scale : bytes, sizeof scale);
        if (bits == 32) w[i] = scale;
        if (bits == 8) w[i] = scale * (real)(int8_t)at[i];
        if (bits == 18)
            w[i] = scale *
                   (real)((low[0] | low[1] << 8 | (four[8] >> i % 4 * 2 & 3) << 16) - 131072);
    }
    return bits == 32 ? count * sizeof scale
                      : sizeof scale + (bits == 8 ? count : (count + 3) / 4 * 9);
}

/* The weights, as commands/translate/webpage.h describes them. With 8 bits the model computes in int8 from now on,
 * and is not trained. */
bool EXPORT(web_weights)(const unsigned char *bytes, size_t size)
{
    const Params *params = &web.model.params;
    const unsigned char *end = bytes + size;
    bool int8 = false;
    if (size < 2) return error_set(&web.error, "the weights are empty");
    if (*bytes) web.choice.known_layer = bytes[0] - 1, web.choice.known_head = bytes[1] - 1;
    bytes += 2;
    for (int t = 0; t < params->count; t++) {
        const Tensor *tensor = &params->tensor[t];
        size_t row = tensor->shape[1] > 1 ? (size_t)tensor->shape[1] : tensor->count;
        int bits = bytes < end ? *bytes++ : 32;
        int8 |= bits == 8;
        if ((size_t)(end - bytes) < tensor->count / row * take_row(NULL, row, bits, bytes))
            return error_set(&web.error, "the weights end before %s", tensor->name);
        for (size_t at = 0; at < tensor->count; at += row)
            bytes += take_row(web.model.block + tensor->offset + at, row, bits, bytes);
    }
    return !int8 || transformer_prepare(&web.model, true, &web.error);
}

/* ---- changes ---- */

/* Splits at spaces. */
static bool split(StringList *list, const char *text)
{
    char item[40];
    for (int end; sscanf(text, "%39s%n", item, &end) == 1; text += end)
        if (!strings_add(list, item, &web.error)) return false;
    return true;
}

/* Changes the weights (inference/intervention.h); the last call's changes are undone first. Both texts
 * have spaces between their changes. Undo with "" before web_update. */
bool EXPORT(web_change)(const char *ablate, const char *intervene)
{
    size_t bytes = web.model.params.size * sizeof(real);
    Intervention change = {0};
    if (web.kept) {
        memcpy(web.model.block, web.kept, bytes);
        transformer_use(&web.model, web.model.block);
        free(web.kept);
        web.kept = NULL;
    }
    if (!*ablate && !*intervene) return true;
    web.kept = block_allocate(bytes);
    if (!web.kept) return error_memory(&web.error, "for a changed model");
    memcpy(web.kept, web.model.block, bytes);
    bool good = split(&change.ablate, ablate) && split(&change.intervene, intervene) &&
                intervention_parse(&change, &web.error) &&
                intervention_apply(&change, &web.model, &web.error);
    strings_free(&change.ablate);
    strings_free(&change.intervene);
    return good;
}

/* A head's W_Q, W_K and W_V, [3,dh,D]; valid until the next call. kind: an AttentionKind */
const real *EXPORT(web_projections)(int kind, int layer, int head)
{
    static real out[3 * 512 * 512], row[MAX_D_MODEL];
    const AttentionWeights *a = attention_weights(&web.model.weights, kind, layer);
    const Linear *const linear[] = {&a->q, &a->k, &a->v};
    int D = web.model.config.d_model, dh = D / web.model.config.heads, n = 3 * dh;
    for (int r = 0; r < n && (r + 1) * D <= (int)(sizeof out / sizeof *out); r++)
        memcpy(out + r * D, matrix_row(row, &linear[r / dh]->W, head * dh + r % dh, D),
               (size_t)D * sizeof *out);
    return out;
}

/* ---- translations ---- */

/* Lines of text, and their translations. */
typedef struct Answer {
    IdLines lines;
    Translations found;
} Answer;

static bool read_lines(Answer *answer, const char *text)
{
    answer->lines.find_unknown = true;
    do {
        size_t length = strcspn(text, "\n");
        if (!idlines_add(&answer->lines, web.vocabulary.tokenizer[SOURCE],
                         web.model.config.max_length, text, length, NULL, &web.error))
            return false;
        text += length + (text[length] == '\n');
    } while (*text);
    return true;
}

static bool translate(Answer *answer, const char *text)
{
    if (!read_lines(answer, text)) return false;
    Ensemble ensemble = ensemble_of(&web.model);
    TranslatorInput input = translator_input(idlines_packed(&answer->lines), &web.vocabulary);
    return translator_run(&answer->found, &ensemble, &input, &search_copying,
                          workers_start(1, NULL), NULL, &web.error);
}

static void answer_free(Answer *answer)
{
    translations_free(&answer->found);
    idlines_free(&answer->lines);
}

/* What a hypothesis of line s copies; *copied is to be freed. */
static bool copy(const char ***copied, const Answer *answer, int s, const Hypothesis *best)
{
    LazySnapshot lazy = copying_snapshot(&web.model, &answer->lines, s, best);
    *copied = calloc((size_t)best->length, sizeof **copied);
    bool good = *copied ? copying_choose(*copied, &lazy, &web.error)
                        : error_memory(&web.error, "to copy words");
    snapshot_close(lazy.taken);
    return good;
}

/* The translations of lines: "SCORE\tTRANSLATION\n" for each. For free(). */
char *EXPORT(web_translate)(const char *text)
{
    Answer answer = {0};
    TextStream stream;
    FILE *out = textstream_open(&stream);
    bool good = out && translate(&answer, text);
    for (int s = 0; good && s < answer.found.sentences; s++) {
        const Hypothesis *best = answer.found.sentence[s].hypothesis;
        const char **copied = NULL;
        char *line = NULL;
        good = copy(&copied, &answer, s, best) &&
               tokenizer_decode_replaced(web.vocabulary.tokenizer[TARGET], &line, best->id,
                                         (size_t)best->length, copied, &web.error);
        if (good) fprintf(out, "%.7f\t%s\n", best->score, line);
        free(copied);
        free(line);
    }
    answer_free(&answer);
    char *lines = textstream_close(&stream);
    return good ? lines : (free(lines), NULL);
}

/* ---- attention ---- */

/* Goes back through the pass, so that the snapshot has its gradients. */
static bool backward(Snapshot *snapshot)
{
    Weights dw;
    Loss loss = {0};
    real *block = block_zeros(web.model.params.size * sizeof(real), &web.error);
    if (!block) return false;
    params_bind(&dw, block, &web.model.config);
    transformer_backward(&loss, &snapshot->activations, &web.model, &dw, 0.1,
                         1 / (real)snapshot->target.rows);
    free(block);
    return true;
}

static char *data_of(Snapshot *snapshot, bool given)
{
    bool goes_back = !web.model.prepared.count;
    PictureInput input = {.snapshot = snapshot,
                          .gradients = goes_back ? snapshot : NULL,
                          .vocabulary = &web.vocabulary,
                          .model_name = "the model in this page",
                          .choice = &web.choice,
                          .words = !goes_back,
                          .given = given};
    TextStream stream;
    JsonWriter json = {.out = textstream_open(&stream)};
    bool good = json.out && (!goes_back || backward(snapshot)) &&
                page_data(&json, &input, true, &web.error);
    char *text = textstream_close(&stream);
    return good ? text : (free(text), NULL);
}

/* The data of a page (explain/page.h) for a sentence and a translation of it, "" for the model's own, with
 * gradients. For free(). */
char *EXPORT(web_attention)(const char *text, const char *given)
{
    Answer answer = {0};
    IdLines line = {.find_unknown = true};
    const Hypothesis *best = NULL;
    const char **copied = NULL;
    char *data = NULL;
    bool good = *given ? idlines_add(&line, web.vocabulary.tokenizer[TARGET],
                                     web.model.config.max_length, given, strlen(given), NULL,
                                     &web.error) &&
                             read_lines(&answer, text)
                       : translate(&answer, text);
    if (good && !*given) {
        best = answer.found.sentence->hypothesis;
        good = copy(&copied, &answer, 0, best);
    }
    if (good) {
        const Packed from = {1, answer.lines.start[1], answer.lines.ids.id, NULL},
                     to = {1, best ? best->length : line.start[1],
                           best ? best->id : line.ids.id, NULL};
        Snapshot *snapshot = snapshot_open_for(
            &web.model, &from, &to, web.model.prepared.count ? KEEP_ATTENTION : KEEP_GRADIENTS,
            &web.error);
        if (snapshot) {
            snapshot->unknown[SOURCE] = (const char *const *)answer.lines.unknown;
            snapshot->unknown[TARGET] = best ? copied : (const char *const *)line.unknown;
            snapshot->each = best ? best->each : NULL;
            data = data_of(snapshot, !best);
        }
        snapshot_close(snapshot);
    }
    free(copied);
    idlines_free(&line);
    answer_free(&answer);
    return data;
}

/* ---- training ---- */

enum { TEST_PAIRS = 500, VALID_PAIRS = 500, TRAIN_PAIRS = 20000 };

static struct {
    Corpus corpus;
    Batches batches;
    TrainingConfig config;
    Trainer *trainer;
    long long update;  // made
    uint64_t epoch;
    size_t in_epoch;  // updates
} learn;

/* The toy's training set, once; the trainings of a page share it. */
static bool make_corpus(void)
{
    CorpusText text = {0};
    CorpusReport report = {0};
    const Tokenizer *tokenizer[SIDES] = {web.vocabulary.tokenizer[SOURCE],
                                         web.vocabulary.tokenizer[TARGET]};
    static char en[LINE_BYTES], fr[LINE_BYTES], align[LINE_BYTES];
    if (learn.corpus.pairs) return true;
    for (int i = 0; i < TEST_PAIRS + VALID_PAIRS + TRAIN_PAIRS; i++) {
        corpus_next(en, fr, align);
        if (i >= TEST_PAIRS + VALID_PAIRS &&
            !corpus_add(&text, (const char *[]){en, fr}, (size_t[]){strlen(en), strlen(fr)},
                        (CorpusLine){0}, &web.error))
            return corpus_text_free(&text), false;
    }
    return corpus_encode(&learn.corpus, &text, &report, tokenizer, NULL,
                         web.model.config.max_length - 1, false, &web.error);
}

/* Gives the model initial weights, and begins to train it on the toy's corpus, with options of
 * training/config.h. */
bool EXPORT(web_train)(const char *options)
{
    const OptionGroup group = {"Training", NULL, training_options, training_option_count,
                               &learn.config};
    trainer_free(learn.trainer);
    batches_free(&learn.batches);
    learn.trainer = NULL;
    learn.config = training_defaults();
    learn.update = 0, learn.epoch = 0, learn.in_epoch = 0;
    if (!set_options(&group, options) || !make_corpus() ||
        !batches_init(&learn.batches, &learn.corpus, learn.config.seed,
                      learn.config.batch_tokens, &web.error))
        return false;
    params_initialise(&web.model.params, web.model.block, learn.config.seed);
    learn.trainer = trainer_create(&web.model, &learn.config, NULL,
                                   workers_start(1, &web.error), &web.error);
    return learn.trainer;
}

/* Changes the learning rate from now on: the trainer reads it at every update. */
void EXPORT(web_learning_rate)(double rate)
{
    learn.config.learning_rate = rate;
}

/* One update more. Returns the loss a token, or NaN: web_error. */
double EXPORT(web_update)(void)
{
    int count;
    UpdateStats stats;
    if (learn.in_epoch == batches_updates(&learn.batches, learn.epoch))
        learn.epoch++, learn.in_epoch = 0;
    if (!batches_update(&learn.batches, &count, learn.epoch, learn.in_epoch++, &web.error) ||
        !trainer_update(learn.trainer, ++learn.update, learn.batches.pair, count, &stats,
                        &web.error))
        return NAN;
    return stats.loss.nll / (double)stats.loss.tokens;
}
