/* translator.c -- batches of sentences of similar length, one after the other on each thread.
 *
 * Sentences of a batch are searched together, so that a step is a product of many rows; the longer
 * ones come first, so that the threads finish together. A batch has at most BATCH_ROWS prefixes,
 * and nodes of at most BATCH_BYTES if all reached their limit, which they do not. A smaller batch
 * reads the weights more often, a larger one leaves threads without work when there are few
 * sentences: 200 sentences, beam 4, 20 tokens each, D 256, 3 layers, V 8000 took 3.4, 2.8, 2.5 and
 * 2.3 seconds of one core with 32, 64, 128 and 256 rows. */
#include "inference/translator.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "inference/beam.h"
#include "inference/greedy.h"

enum { BATCH_ROWS = 84, BATCH_BYTES = 256 << 20 };

typedef struct Batch {
    Packed source;
    Translation **found;  // [sentences] where what is found goes
} Batch;

typedef struct Work {
    const Transformer *model;
    const SearchConfig *config;
    const volatile sig_atomic_t *stop;
    Arena *arena;  // [workers]
    Batch *batch;  // [batches]
    int batches;
    atomic_int next;
    atomic_bool failed;
    Error *error;
} Work;

/* ---- the block of results ---- */

static void result_layout(Translations *out, Arena *arena, const Packed *source,
                          const SearchConfig *config, const ModelConfig *model)
{
    size_t S = (size_t)source->sentences, n_best = (size_t)config->n_best, ids = 0;
    out->sentence = ARENA_TAKE(arena, Translation, S);
    Hypothesis *hypothesis = ARENA_TAKE(arena, Hypothesis, S * n_best);
    for (size_t s = 0; s < S; s++)
        ids += n_best *
               (size_t)search_limit(config, model, source->start[s + 1] - source->start[s]);
    int *id = ARENA_TAKE(arena, int, ids);
    if (!id) return;
    for (size_t s = 0; s < S; s++, hypothesis += n_best) {
        int limit = search_limit(config, model, source->start[s + 1] - source->start[s]);
        out->sentence[s] = (Translation){.hypothesis = hypothesis};
        for (size_t i = 0; i < n_best; i++, id += limit) hypothesis[i] = (Hypothesis){.id = id};
    }
}

static bool result_create(Translations *out, const Packed *source, const SearchConfig *config,
                          const ModelConfig *model, Error *error)
{
    *out = (Translations){.sentences = source->sentences};
    result_layout(out, &out->block, source, config, model);
    size_t bytes = out->block.used;
    if (!arena_reserve(&out->block, NULL))
        return error_set(error,
                         "not enough memory for %.1f MB of translations: fewer sentences "
                         "at a time, or a smaller --n-best, need less",
                         (double)bytes / 1e6);
    result_layout(out, &out->block, source, config, model);
    return true;
}

void translations_free(Translations *translations)
{
    arena_free(&translations->block);
    *translations = (Translations){0};
}

/* ---- the cut into batches ---- */

typedef struct Place {
    int length, sentence;
} Place;

static int longer_first(const void *a, const void *b)
{
    const Place *x = a, *y = b;
    if (x->length != y->length) return x->length < y->length ? 1 : -1;
    return (x->sentence > y->sentence) - (x->sentence < y->sentence);
}

/* How many of the places make one batch: at least one. */
static int batch_size(const Place *place, int count, const SearchConfig *config,
                      const ModelConfig *model)
{
    size_t bytes = 0, a_token = (size_t)config->beam * cache_node_bytes(model);
    for (int i = 0; i < count; i++) {
        bytes += a_token * (size_t)search_limit(config, model, place[i].length);
        if (i > 0 && ((i + 1) * config->beam > BATCH_ROWS || bytes > BATCH_BYTES)) return i;
    }
    return count;
}

/* Takes, and fills if the arena does not only measure, what the batches point to. */
static void batches_layout(Work *work, Arena *arena, Translations *out, const Packed *source)
{
    size_t S = (size_t)source->sentences;
    Place *place = ARENA_TAKE(arena, Place, S);
    int *id = ARENA_TAKE(arena, int, (size_t)source->rows);
    int *start = ARENA_TAKE(arena, int, 2 * S);  // a batch has one more than sentences
    Translation **found = ARENA_TAKE(arena, Translation *, S);
    work->batch = ARENA_TAKE(arena, Batch, S);
    if (!work->batch) return;

    for (int s = 0; s < source->sentences; s++)
        place[s] = (Place){source->start[s + 1] - source->start[s], s};
    qsort(place, S, sizeof *place, longer_first);
    work->batches = 0;
    for (int left = source->sentences; left > 0;) {
        int count = batch_size(place, left, work->config, &work->model->config), rows = 0;
        Batch *batch = &work->batch[work->batches++];
        for (int i = 0; i < count; i++) {
            const int *from = source->id + source->start[place[i].sentence];
            start[i] = rows;
            for (int t = 0; t < place[i].length; t++) id[rows++] = from[t];
            found[i] = &out->sentence[place[i].sentence];
        }
        start[count] = rows;
        *batch = (Batch){{count, rows, id, start}, found};
        id += rows, start += count + 1, found += count, place += count, left -= count;
    }
}

/* ---- a thread's part ---- */

typedef union Search {
    Greedy greedy;
    BeamSearch beam;
} Search;

static void search_layout(Search *search, Arena *arena, const Work *work, const Batch *batch)
{
    if (work->config->beam == 1)
        greedy_layout(&search->greedy, arena, work->model, &batch->source, work->config);
    else
        beam_layout(&search->beam, arena, work->model, &batch->source, work->config);
}

static bool batch_search(const Work *work, const Batch *batch, Arena *arena, Error *error)
{
    const Transformer *model = work->model;
    Search search;
    Arena measure = {0};
    search_layout(&search, &measure, work, batch);
    if (!arena->base || arena->size < measure.used) {
        arena_free(arena);
        arena->used = measure.used;
        if (!arena_reserve(arena, NULL))
            return error_set(error,
                             "not enough memory to search with %.1f MB: a smaller --beam "
                             "or --max-length-ratio, or fewer --threads, need less",
                             (double)measure.used / 1e6);
    }
    arena_reset(arena);
    search_layout(&search, arena, work, batch);
    if (work->config->beam == 1 ? greedy_search(batch->found, &search.greedy, model)
                                : beam_search(batch->found, &search.beam, model))
        return true;
    return error_set(error, "the model's scores are not numbers (NaN or infinity): it cannot "
                            "translate");
}

static void take_batches(void *context, int worker)
{
    Work *work = context;
    while (!atomic_load(&work->failed) && !(work->stop && *work->stop)) {
        int next = atomic_fetch_add(&work->next, 1);
        if (next >= work->batches) return;
        Error error;
        if (batch_search(work, &work->batch[next], &work->arena[worker], &error)) continue;
        if (!atomic_exchange(&work->failed, true)) error_set(work->error, "%s", error.text);
    }
}

bool translator_run(Translations *translations, const Transformer *model, const Packed *source,
                    const SearchConfig *config, Workers *workers,
                    const volatile sig_atomic_t *stop, Error *error)
{
    *translations = (Translations){0};
    if (!search_check(config, error)) return false;
    for (int s = 0; s < source->sentences; s++)
        if (!sentence_check(source->id + source->start[s],
                            source->start[s + 1] - source->start[s], &model->config, true,
                            error))
            return error_prefix(error, "sentence %d", s + 1);
    if (!result_create(translations, source, config, &model->config, error)) return false;

    Work work = {.model = model, .config = config, .stop = stop, .error = error};
    Arena plan = {0};
    int threads = workers_count(workers);
    work.arena = calloc((size_t)threads, sizeof *work.arena);
    batches_layout(&work, &plan, translations, source);
    bool ready = work.arena && arena_reserve(&plan, NULL);
    if (ready) {
        batches_layout(&work, &plan, translations, source);
        workers_run(workers, take_batches, &work);
        translations->stopped = atomic_load(&work.next) < work.batches;
    } else {
        error_set(error, "not enough memory for %d sentences", source->sentences);
    }
    for (int t = 0; work.arena && t < threads; t++) arena_free(&work.arena[t]);
    free(work.arena);
    arena_free(&plan);
    if (ready && !atomic_load(&work.failed)) return true;
    translations_free(translations);
    return false;
}

bool translator_memory(size_t *bytes, const Transformer *model, const Packed *source,
                       const SearchConfig *config, Workers *workers, Error *error)
{
    Translations out;
    Arena plan = {0};
    Work work = {.model = model, .config = config};
    size_t largest = 0, threads = (size_t)workers_count(workers);
    if (!result_create(&out, source, config, &model->config, error)) return false;
    batches_layout(&work, &plan, &out, source);
    bool good = arena_reserve(&plan, error);
    if (good) batches_layout(&work, &plan, &out, source);
    for (int b = 0; b < work.batches; b++) {
        Search search;
        Arena measure = {0};
        search_layout(&search, &measure, &work, &work.batch[b]);
        if (measure.used > largest) largest = measure.used;
    }
    if (threads > (size_t)work.batches) threads = (size_t)work.batches;
    *bytes = out.block.size + plan.size + threads * block_bytes(largest);
    arena_free(&plan);
    translations_free(&out);
    return good;
}
