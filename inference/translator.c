/* translator.c -- batches of sentences of similar length; each thread searches one after the
 * other.
 *
 * The sentences of a batch are searched together, so that a step is a product of many rows. The
 * longest sentences come first, so that the threads finish at about the same time. A batch has
 * at most batch_rows prefixes, and BATCH_BYTES of keys and values if all of them reached their
 * limit, which they do not. Smaller batches read the weights more often; larger ones leave
 * threads idle if there are few sentences. 200 sentences, beam 4, 20 tokens each, D 256, 3
 * layers, V 8000 took 3.4, 2.8, 2.5 and 2.3 seconds of one core with 32, 64, 128 and 256
 * rows. */
#include "inference/translator.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "inference/beam.h"
#include "inference/cache.h"
#include "inference/choices.h"

enum { BATCH_BYTES = 256 << 20 };

/* One call of translator_run. */
typedef struct TranslatorRun {
    const Ensemble *ensemble;
    const TranslatorInput *input;
    const SearchConfig *config;
    ModelConfig model;  // ensemble_config
    Translations *out;
    const volatile sig_atomic_t *stop;
    int threads;
    Arena plan;          // holds the next two:
    Arena *arena;        // [threads] memory for one batch
    SearchBatch *batch;  // [batches]
    int batches;
    atomic_int done;  // sentences
} TranslatorRun;

static SearchTask task_of(const TranslatorRun *run, int s)
{
    const TranslatorInput *input = run->input;
    int p = input->prefix && input->prefix->sentences > 1 ? s : 0;
    int prefix = input->prefix ? packed_length(input->prefix, p) : 0;
    int length = packed_length(&input->source, s), left[PLACEHOLDERS];
    const int *id = input->source.id + input->source.start[s];
    SearchTask task = {.limit = search_limit(run->config, &run->model, length, prefix),
                       .prefix = prefix ? input->prefix->id + input->prefix->start[p] : NULL,
                       .prefix_length = prefix,
                       .placeholder = input->placeholder,
                       .line = input->line + (uint64_t)s};
    for (int t = 0; run->config->copy_unknown && t < length; t++)
        task.unknowns += id[t] == ID_UNKNOWN;
    choices_placeholders(left, &task, id, length);  // of none wanted
    for (int i = 0; i < PLACEHOLDERS; i++) task.placeholders += task.each[i] = -left[i];
    int needed = prefix + choices_placeholders(left, &task, task.prefix, prefix) + 1;
    if (task.placeholders && task.limit < needed) task.limit = needed;
    return task;
}

/* ---- the block of results ---- */

static void result_layout(const TranslatorRun *run, Arena *arena)
{
    size_t S = (size_t)run->input->source.sentences, ids = 0;
    size_t results = (size_t)run->config->n_best;
    Translation *sentence = run->out->sentence = ARENA_TAKE(arena, Translation, S);
    Hypothesis *hypothesis = ARENA_TAKE(arena, Hypothesis, S * results);
    for (size_t s = 0; s < S; s++) ids += results * (size_t)task_of(run, (int)s).limit;
    int *id = ARENA_TAKE(arena, int, ids);
    double *each = ARENA_TAKE(arena, double, ids);
    if (!each) return;
    for (size_t s = 0; s < S; s++, hypothesis += results) {
        int limit = task_of(run, (int)s).limit;
        sentence[s] = (Translation){.hypothesis = hypothesis, .limit = limit};
        for (size_t i = 0; i < results; i++, id += limit, each += limit)
            hypothesis[i] = (Hypothesis){.id = id, .each = each};
    }
}

void translations_free(Translations *translations)
{
    arena_free(&translations->block);
    *translations = (Translations){0};
}

/* ---- the batches ---- */

typedef struct SentenceLength {
    int length, sentence;
} SentenceLength;

static int longer_first(const void *a, const void *b)
{
    const SentenceLength *x = a, *y = b;
    return x->length != y->length ? y->length - x->length : x->sentence - y->sentence;
}

/* The hypotheses of a batch. With more of them the keys and values of their sentences leave the
 * cache; with fewer the weights, which are larger in float, are read more often. */
static int batch_rows(const TranslatorRun *run)
{
    if (run->config->batch_rows) return run->config->batch_rows;
    return run->ensemble->model[0]->weights.output.int8 ? 42 : 84;
}

/* The number of the next sentences that make one batch: at least one. */
static int batch_size(const TranslatorRun *run, const SentenceLength *next, int count)
{
    int rows = search_rows(run->config);
    size_t bytes = 0, bytes_of_token = 0;
    for (int m = 0; m < run->ensemble->count; m++)
        bytes_of_token += (size_t)rows * cache_node_bytes(&run->ensemble->model[m]->config);
    for (int i = 0; i < count; i++) {
        bytes += bytes_of_token * (size_t)task_of(run, next[i].sentence).limit;
        if (i > 0 && ((i + 1) * rows > batch_rows(run) || bytes > BATCH_BYTES)) return i;
    }
    return count;
}

/* Takes the arrays of the plan; fills them unless the arena only measures. */
static void plan_layout(TranslatorRun *run, Arena *arena)
{
    const Packed *source = &run->input->source;
    size_t S = (size_t)source->sentences;
    SentenceLength *next = ARENA_TAKE(arena, SentenceLength, S);
    int *id = ARENA_TAKE(arena, int, (size_t)source->rows);
    int *start = ARENA_TAKE(arena, int, 2 * S);  // one more than sentences for each batch
    SearchTask *task = ARENA_TAKE(arena, SearchTask, S);
    Translation **found = ARENA_TAKE(arena, Translation *, S);
    run->batch = ARENA_TAKE(arena, SearchBatch, S);
    run->arena = ARENA_TAKE(arena, Arena, (size_t)run->threads);
    if (!run->arena) return;

    for (int t = 0; t < run->threads; t++) run->arena[t] = (Arena){0};
    for (int s = 0; s < source->sentences; s++)
        next[s] = (SentenceLength){packed_length(source, s), s};
    qsort(next, S, sizeof *next, longer_first);
    for (int left = source->sentences; left > 0;) {
        int count = batch_size(run, next, left), rows = 0;
        for (int i = 0; i < count; i++) {
            const int *from = source->id + source->start[next[i].sentence];
            start[i] = rows;
            for (int t = 0; t < next[i].length; t++) id[rows++] = from[t];
            task[i] = task_of(run, next[i].sentence);
            found[i] = &run->out->sentence[next[i].sentence];
        }
        start[count] = rows;
        run->batch[run->batches++] =
            (SearchBatch){run->ensemble, run->config, {count, rows, id, start}, task, found};
        id += rows, start += count + 1, task += count, found += count;
        next += count, left -= count;
    }
}

/* Allocates the results and cuts the sentences into batches. On failure there is nothing to
 * free. */
static bool plan_create(TranslatorRun *run, Error *error)
{
    Arena *block = &run->out->block;
    *run->out = (Translations){.sentences = run->input->source.sentences};
    result_layout(run, block);
    plan_layout(run, &run->plan);
    double bytes = (double)(block->used + run->plan.used);
    if (!arena_reserve(block, NULL) || !arena_reserve(&run->plan, NULL)) {
        translations_free(run->out);
        return error_memory(error,
                            "for %.1f MB of translations: fewer sentences "
                            "at a time, or a smaller `n-best`, need less",
                            bytes / 1e6);
    }
    result_layout(run, block);
    plan_layout(run, &run->plan);
    return true;
}

static bool search_one(void *context, size_t number, int worker, Error *error)
{
    TranslatorRun *run = context;
    const SearchBatch *batch = &run->batch[number];
    if (run->stop && *run->stop) return true;
    bool good = beam_search(batch, &run->arena[worker], error);
    int sentences = good ? batch->source.sentences : 0;
    int done = atomic_fetch_add(&run->done, sentences) + sentences;
    if (good && worker == 0 && run->input->done) run->input->done(run->input->context, done);
    return good;
}

/* Checks the settings, the sentences and the prefix constraints. */
static bool input_check(const TranslatorRun *run, Error *error)
{
    const Packed *source = &run->input->source, *prefix = run->input->prefix;
    int most = run->model.vocab - 2;
    const Ensemble *ensemble = run->ensemble;
    if (!search_check(run->config, error)) return false;
    if (run->config->shortlist && (!ensemble->shortlist || ensemble->count > 1))
        return error_set(error,
                         ensemble->count > 1
                             ? "several models that translate together use no `shortlist`"
                             : "this model has no `shortlist`: training saves one");
    if (run->config->shortlist && !ensemble->model[0]->weights.output.int8)
        return error_set(error, "a `shortlist` is for a model in int8: load it so");
    if (prefix && prefix->sentences != 1 && prefix->sentences != source->sentences)
        return error_set(error, "%d sentences, but %d forced beginnings", source->sentences,
                         prefix->sentences);
    for (int s = 0; s < source->sentences; s++) {
        if (!sentence_check(source->id + source->start[s], packed_length(source, s),
                            &run->model, true, error))
            return error_prefix(error, "sentence %d", s + 1);
        SearchTask task = task_of(run, s);
        int left[PLACEHOLDERS], limit = at_most(task.limit, run->model.max_length);
        int needed = choices_placeholders(left, &task, task.prefix, task.prefix_length);
        if (task.prefix_length + needed >= limit)
            return error_set(error,
                             "the forced beginning has %d tokens, and a translation may "
                             "have %d, its end included",
                             task.prefix_length, limit - needed);
        for (int i = 0; i < PLACEHOLDERS; i++)
            if (left[i] < 0)
                return error_set(error,
                                 "the forced beginning of sentence %d has placeholder %d "
                                 "%d times, but the sentence %d times",
                                 s + 1, i + 1, task.each[i] - left[i], task.each[i]);
        for (int t = 0; t < task.prefix_length; t++)
            if (task.prefix[t] <= ID_END || task.prefix[t] > most)
                return error_set(error,
                                 "token %d of the forced beginning of sentence %d is %d, "
                                 "but the vocabulary has 1 to %d",
                                 t + 1, s + 1, task.prefix[t], most);
    }
    return true;
}

bool translator_run(Translations *translations, const Ensemble *ensemble,
                    const TranslatorInput *input, const SearchConfig *config, Workers *workers,
                    const volatile sig_atomic_t *stop, Error *error)
{
    TranslatorRun run = {.ensemble = ensemble,
                         .input = input,
                         .config = config,
                         .model = ensemble_config(ensemble),
                         .out = translations,
                         .stop = stop,
                         .threads = workers_count(workers)};
    *translations = (Translations){0};
    if (!input_check(&run, error) || !plan_create(&run, error)) return false;

    bool good = workers_each(workers, (size_t)run.batches, search_one, &run, error);
    translations->stopped = atomic_load(&run.done) < input->source.sentences;
    for (int t = 0; t < run.threads; t++) arena_free(&run.arena[t]);
    arena_free(&run.plan);
    if (!good) translations_free(translations);
    return good;
}
