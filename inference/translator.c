/* translator.c -- batches of sentences of similar length; each thread searches one after the
 * other.
 *
 * The sentences of a batch are searched together, so that a step is a product of many rows. The
 * longest sentences come first, so that the threads finish at about the same time. A batch has
 * at most batch_rows prefixes, and BATCH_BYTES of keys and values if all of them reached their
 * limit, which they do not. */
#include "inference/translator.h"

#include <stdatomic.h>

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
    SearchTask *task;    // [sentences] the longest first
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
    SearchTask task = {.source = id,
                       .length = length,
                       .limit = search_limit(run->config, &run->model, length, prefix),
                       .prefix = prefix ? input->prefix->id + input->prefix->start[p] : NULL,
                       .prefix_length = prefix,
                       .placeholder = input->placeholder,
                       .first_byte = input->first_byte,
                       .line = input->line + (uint64_t)s};
    for (int t = 0; run->config->copy_unknown && t < length; t++)
        task.unknowns += id[t] == ID_UNKNOWN;
    choices_placeholders(left, &task, id, length);  // of none wanted
    for (int i = 0; i < PLACEHOLDERS; i++) task.placeholders += task.each[i] = -left[i];
    int needed = prefix + choices_placeholders(left, &task, task.prefix, prefix) + 1;
    if (task.placeholders && task.limit < needed) task.limit = needed;
    return task;
}

static int longer_first(const void *a, const void *b)
{
    const SearchTask *x = a, *y = b;
    return x->length != y->length ? y->length - x->length
                                  : (x->line > y->line) - (x->line < y->line);
}

bool translator_check(const Ensemble *ensemble, const SearchConfig *config, Error *error)
{
    if (!search_check(config, error)) return false;
    if (config->shortlist && (!ensemble->shortlist || ensemble->count > 1))
        return error_set(error,
                         ensemble->count > 1
                             ? "several models that translate together use no `shortlist`"
                             : "this model has no `shortlist`: training saves one");
    return !config->shortlist || ensemble->model[0]->weights.output.int8 ||
           error_set(error, "a `shortlist` is for a model in int8: load it so");
}

/* Checks the settings, the sentences and the prefix constraints, and makes the tasks. */
static bool make_tasks(TranslatorRun *run, Error *error)
{
    const Packed *source = &run->input->source, *prefix = run->input->prefix;
    int most = run->model.vocab - 2;
    if (!translator_check(run->ensemble, run->config, error)) return false;
    if (prefix && prefix->sentences != 1 && prefix->sentences != source->sentences)
        return error_set(error, "%d sentences, but %d forced beginnings", source->sentences,
                         prefix->sentences);
    run->task = calloc((size_t)source->sentences + 1, sizeof *run->task);
    if (!run->task) return error_memory(error, "for %d sentences", source->sentences);
    for (int s = 0; s < source->sentences; s++) {
        if (!sentence_check(source->id + source->start[s], packed_length(source, s),
                            &run->model, true, error))
            return error_prefix(error, "sentence %d", s + 1);
        SearchTask task = run->task[s] = task_of(run, s);
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
            if (task.prefix[t] < ID_END + (t + 1 < task.prefix_length) || task.prefix[t] > most)
                return error_set(error,
                                 "token %d of the forced beginning of sentence %d is %d, "
                                 "but the vocabulary has 1 to %d",
                                 t + 1, s + 1, task.prefix[t], most);
    }
    qsort(run->task, (size_t)source->sentences, sizeof *run->task, longer_first);
    return true;
}

/* ---- results and batches ---- */

static void result_layout(TranslatorRun *run, Arena *arena)
{
    size_t S = (size_t)run->input->source.sentences, ids = 0;
    size_t results = (size_t)run->config->n_best;
    Translation *sentence = run->out->sentence = ARENA_TAKE(arena, Translation, S);
    Hypothesis *hypothesis = ARENA_TAKE(arena, Hypothesis, S * results);
    for (size_t s = 0; s < S; s++) ids += results * (size_t)run->task[s].limit;
    int *id = ARENA_TAKE(arena, int, ids);
    double *each = ARENA_TAKE(arena, double, ids);
    if (!each) return;
    for (SearchTask *t = run->task; t < run->task + S; t++, hypothesis += results) {
        t->found = &sentence[t->line - run->input->line];
        *t->found = (Translation){.hypothesis = hypothesis, .limit = t->limit};
        for (size_t i = 0; i < results; i++, id += t->limit, each += t->limit)
            hypothesis[i] = (Hypothesis){.id = id, .each = each};
    }
}

void translations_free(Translations *translations)
{
    arena_free(&translations->block);
    *translations = (Translations){0};
}

/* The number of the next sentences that make one batch: at least one. With more hypotheses the keys
 * and values of their sentences leave the cache; with fewer the weights, which are larger in float,
 * are read more often (docs/speed.md). */
static int batch_size(const TranslatorRun *run, const SearchTask *next, int count)
{
    int rows = search_rows(run->config), most = run->config->batch_rows;
    if (!most) most = run->ensemble->model[0]->weights.output.int8 ? 42 : 84;
    size_t bytes = 0, bytes_of_token = 0;
    for (int m = 0; m < run->ensemble->count; m++)
        bytes_of_token += (size_t)rows * cache_node_bytes(&run->ensemble->model[m]->config);
    for (int i = 0; i < count; i++) {
        bytes += bytes_of_token * (size_t)next[i].limit;
        if (i > 0 && ((i + 1) * rows > most || bytes > BATCH_BYTES)) return i;
    }
    return count;
}

/* Takes the arrays of the batches; fills them unless the arena only measures. */
static void batch_layout(TranslatorRun *run, Arena *arena)
{
    const Packed *source = &run->input->source;
    int *id = ARENA_TAKE(arena, int, (size_t)source->rows);
    int *start =
        ARENA_TAKE(arena, int, 2 * (size_t)source->sentences);  // one more for each batch
    run->batch = ARENA_TAKE(arena, SearchBatch, (size_t)source->sentences);
    run->arena = ARENA_TAKE(arena, Arena, (size_t)run->threads);
    if (!run->arena) return;

    for (int t = 0; t < run->threads; t++) run->arena[t] = (Arena){0};
    for (int first = 0, count; first < source->sentences; first += count) {
        const SearchTask *task = &run->task[first];
        int rows = 0;
        count = batch_size(run, task, source->sentences - first);
        for (int i = 0; i < count; rows += task[i++].length) {
            start[i] = rows;
            memcpy(id + rows, task[i].source, (size_t)task[i].length * sizeof *id);
        }
        start[count] = rows;
        run->batch[run->batches++] =
            (SearchBatch){run->ensemble, run->config, {count, rows, id, start}, task};
        id += rows, start += count + 1;
    }
}

/* Allocates the results and cuts the sentences into batches. */
static bool plan_create(TranslatorRun *run, Error *error)
{
    Arena *block = &run->out->block;
    result_layout(run, block);
    batch_layout(run, &run->plan);
    double bytes = (double)(block->used + run->plan.used);
    if (!arena_reserve(block, NULL) || !arena_reserve(&run->plan, NULL))
        return error_memory(error,
                            "for %.1f MB of translations: fewer sentences "
                            "at a time, or a smaller `n-best`, need less",
                            bytes / 1e6);
    result_layout(run, block);
    batch_layout(run, &run->plan);
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
    *translations = (Translations){.sentences = input->source.sentences};
    bool good = make_tasks(&run, error) && plan_create(&run, error) &&
                workers_each(workers, (size_t)run.batches, search_one, &run, error);
    translations->stopped = atomic_load(&run.done) < input->source.sentences;
    for (int t = 0; run.arena && t < run.threads; t++) arena_free(&run.arena[t]);
    arena_free(&run.plan);
    free(run.task);
    if (!good) translations_free(translations);
    return good;
}
