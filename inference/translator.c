/* translator.c -- batches of sentences of similar length, one after the other on each thread.
 *
 * Sentences of a batch are searched together, so that a step is a product of many rows; the longer
 * ones come first, so that the threads finish together. A batch has at most batch_rows prefixes,
 * and nodes of at most BATCH_BYTES if all reached their limit, which they do not. A smaller batch
 * reads the weights more often, a larger one leaves threads without work when there are few
 * sentences: 200 sentences, beam 4, 20 tokens each, D 256, 3 layers, V 8000 took 3.4, 2.8, 2.5 and
 * 2.3 seconds of one core with 32, 64, 128 and 256 rows. */
#include "inference/translator.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/profile.h"
#include "inference/beam.h"
#include "inference/greedy.h"

enum { BATCH_BYTES = 256 << 20 };

typedef struct Batch {
    Packed source;
    SearchTask *task;     // [sentences]
    Translation **found;  // [sentences] where what is found goes
} Batch;

typedef struct Work {
    const Ensemble *ensemble;
    const TranslatorInput *input;
    const SearchConfig *config;
    ModelConfig model;  // what the models have in common
    Translations *out;
    const volatile sig_atomic_t *stop;
    Arena *arena;  // [workers]
    Batch *batch;  // [batches]
    int batches;
    atomic_int next, done;  // batches taken; sentences done
    atomic_bool failed;
    Error *error;
} Work;

static SearchTask task_of(const Work *work, int s)
{
    const TranslatorInput *input = work->input;
    int own = input->prefix && input->prefix->sentences > 1 ? s : 0;
    int prefix = input->prefix ? packed_length(input->prefix, own) : 0;
    int unknowns = 0, first = input->source.start[s], length = packed_length(&input->source, s);
    for (int t = 0; work->config->copy_unknown && t < length; t++)
        unknowns += input->source.id[first + t] == ID_UNKNOWN;
    return (SearchTask){.limit = search_limit(work->config, &work->model, length, prefix),
                        .prefix = prefix ? input->prefix->id + input->prefix->start[own] : NULL,
                        .prefix_length = prefix,
                        .unknowns = unknowns,
                        .line = input->line + (uint64_t)s};
}

/* ---- the block of results ---- */

static void result_layout(const Work *work, Arena *arena)
{
    Translations *out = work->out;
    size_t S = (size_t)work->input->source.sentences, ids = 0;
    size_t results = (size_t)search_results(work->config);
    out->sentence = ARENA_TAKE(arena, Translation, S);
    Hypothesis *hypothesis = ARENA_TAKE(arena, Hypothesis, S * results);
    for (size_t s = 0; s < S; s++) ids += results * (size_t)task_of(work, (int)s).limit;
    int *id = ARENA_TAKE(arena, int, ids);
    if (!id) return;
    for (size_t s = 0; s < S; s++, hypothesis += results) {
        int limit = task_of(work, (int)s).limit;
        out->sentence[s] = (Translation){.hypothesis = hypothesis};
        for (size_t i = 0; i < results; i++, id += limit)
            hypothesis[i] = (Hypothesis){.id = id};
    }
}

static bool result_create(const Work *work, Error *error)
{
    Translations *out = work->out;
    *out = (Translations){.sentences = work->input->source.sentences};
    result_layout(work, &out->block);
    size_t bytes = out->block.used;
    if (!arena_reserve(&out->block, NULL))
        return error_set(error,
                         "not enough memory for %.1f MB of translations: fewer sentences "
                         "at a time, or a smaller --n-best, need less",
                         (double)bytes / 1e6);
    result_layout(work, &out->block);
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

/* Bytes that one more step of a hypothesis takes, in all models. */
static size_t node_bytes(const Ensemble *ensemble)
{
    size_t bytes = 0;
    for (int m = 0; m < ensemble->count; m++)
        bytes += cache_node_bytes(&ensemble->model[m]->config);
    return bytes;
}

/* How many of the places make one batch: at least one. */
static int batch_size(const Work *work, const Place *place, int count)
{
    int rows = search_rows(work->config);
    size_t bytes = 0, a_token = (size_t)rows * node_bytes(work->ensemble);
    for (int i = 0; i < count; i++) {
        bytes += a_token * (size_t)task_of(work, place[i].sentence).limit;
        if (i > 0 && ((i + 1) * rows > work->config->batch_rows || bytes > BATCH_BYTES))
            return i;
    }
    return count;
}

/* Takes, and fills if the arena does not only measure, what the batches point to. */
static void batches_layout(Work *work, Arena *arena)
{
    const Packed *source = &work->input->source;
    size_t S = (size_t)source->sentences;
    Place *place = ARENA_TAKE(arena, Place, S);
    int *id = ARENA_TAKE(arena, int, (size_t)source->rows);
    int *start = ARENA_TAKE(arena, int, 2 * S);  // a batch has one more than sentences
    SearchTask *task = ARENA_TAKE(arena, SearchTask, S);
    Translation **found = ARENA_TAKE(arena, Translation *, S);
    work->batch = ARENA_TAKE(arena, Batch, S);
    if (!work->batch) return;

    for (int s = 0; s < source->sentences; s++) place[s] = (Place){packed_length(source, s), s};
    qsort(place, S, sizeof *place, longer_first);
    work->batches = 0;
    for (int left = source->sentences; left > 0;) {
        int count = batch_size(work, place, left), rows = 0;
        Batch *batch = &work->batch[work->batches++];
        for (int i = 0; i < count; i++) {
            const int *from = source->id + source->start[place[i].sentence];
            start[i] = rows;
            for (int t = 0; t < place[i].length; t++) id[rows++] = from[t];
            task[i] = task_of(work, place[i].sentence);
            found[i] = &work->out->sentence[place[i].sentence];
        }
        start[count] = rows;
        *batch = (Batch){{count, rows, id, start}, task, found};
        id += rows, start += count + 1, task += count, found += count;
        place += count, left -= count;
    }
}

/* ---- a thread's part ---- */

typedef union Search {
    Greedy greedy;
    BeamSearch beam;
} Search;

static bool is_greedy(const SearchConfig *config)
{
    return config->sample || (config->beam == 1 && !config->alternatives);
}

static void search_layout(Search *search, Arena *arena, const Work *work, const Batch *batch)
{
    if (is_greedy(work->config))
        greedy_layout(&search->greedy, arena, work->ensemble, &batch->source, batch->task,
                      work->config);
    else
        beam_layout(&search->beam, arena, work->ensemble, &batch->source, batch->task,
                    work->config);
}

static bool batch_search(const Work *work, const Batch *batch, Arena *arena, Error *error)
{
    Search search;
    Arena measure = {0};
    search_layout(&search, &measure, work, batch);
    if (!arena_fit(arena, measure.used))
        return error_set(error,
                         "not enough memory to search with %.1f MB: a smaller --beam or "
                         "--max-length-ratio, or fewer --threads, need less",
                         (double)measure.used / 1e6);
    search_layout(&search, arena, work, batch);
    if (is_greedy(work->config) ? greedy_search(batch->found, &search.greedy)
                                : beam_search(batch->found, &search.beam))
        return true;
    return error_set(error, "the model's scores are not numbers (NaN or infinity): it cannot "
                            "translate");
}

static void take_batches(void *context, int worker)
{
    Work *work = context;
    ProfilePart part = profile_enter(PROFILE_SEARCH);
    while (!atomic_load(&work->failed) && !(work->stop && *work->stop)) {
        int next = atomic_fetch_add(&work->next, 1);
        if (next >= work->batches) break;
        Error error;
        const Batch *batch = &work->batch[next];
        if (!batch_search(work, batch, &work->arena[worker], &error)) {
            if (!atomic_exchange(&work->failed, true)) error_set(work->error, "%s", error.text);
            break;
        }
        int sentences = batch->source.sentences;
        int done = atomic_fetch_add(&work->done, sentences) + sentences;
        if (worker == 0 && work->input->done) work->input->done(work->input->context, done);
    }
    profile_leave(part);
}

/* Whether the models can take what is asked of them; if not, says which sentence is wrong. */
static bool input_check(const Work *work, Error *error)
{
    const Packed *source = &work->input->source, *prefix = work->input->prefix;
    if (!search_check(work->config, error)) return false;
    if (prefix && prefix->sentences != 1 && prefix->sentences != source->sentences)
        return error_set(error, "%d sentences, but %d forced beginnings", source->sentences,
                         prefix->sentences);
    for (int s = 0; s < source->sentences; s++) {
        if (!sentence_check(source->id + source->start[s], packed_length(source, s),
                            &work->model, true, error))
            return error_prefix(error, "sentence %d", s + 1);
        SearchTask task = task_of(work, s);
        if (task.prefix_length >= task.limit)
            return error_set(error,
                             "the forced beginning has %d tokens, and a translation may "
                             "have %d, its end included",
                             task.prefix_length, task.limit);
        for (int t = 0; t < task.prefix_length; t++)
            if (task.prefix[t] <= ID_END || task.prefix[t] >= work->model.vocab - 1)
                return error_set(error,
                                 "token %d of the forced beginning of sentence %d is %d, "
                                 "where the vocabulary has 1 to %d",
                                 t + 1, s + 1, task.prefix[t], work->model.vocab - 2);
    }
    return true;
}

bool translator_run(Translations *translations, const Ensemble *ensemble,
                    const TranslatorInput *input, const SearchConfig *config, Workers *workers,
                    const volatile sig_atomic_t *stop, Error *error)
{
    *translations = (Translations){0};
    Work work = {.ensemble = ensemble,
                 .input = input,
                 .config = config,
                 .out = translations,
                 .model = ensemble_config(ensemble),
                 .stop = stop,
                 .error = error};
    if (!input_check(&work, error) || !result_create(&work, error)) return false;

    Arena plan = {0};
    int threads = workers_count(workers);
    work.arena = calloc((size_t)threads, sizeof *work.arena);
    batches_layout(&work, &plan);
    bool ready = work.arena && arena_reserve(&plan, NULL);
    if (ready) {
        batches_layout(&work, &plan);
        workers_run(workers, take_batches, &work);
        translations->stopped = atomic_load(&work.next) < work.batches;
    } else {
        error_set(error, "not enough memory for %d sentences", input->source.sentences);
    }
    for (int t = 0; work.arena && t < threads; t++) arena_free(&work.arena[t]);
    free(work.arena);
    arena_free(&plan);
    if (ready && !atomic_load(&work.failed)) return true;
    translations_free(translations);
    return false;
}

bool translator_memory(size_t *bytes, const Ensemble *ensemble, const TranslatorInput *input,
                       const SearchConfig *config, Workers *workers, Error *error)
{
    Translations out;
    Arena plan = {0};
    Work work = {.ensemble = ensemble,
                 .input = input,
                 .config = config,
                 .out = &out,
                 .model = ensemble_config(ensemble)};
    size_t largest = 0, threads = (size_t)workers_count(workers);
    if (!result_create(&work, error)) return false;
    batches_layout(&work, &plan);
    bool good = arena_reserve(&plan, error);
    if (good) batches_layout(&work, &plan);
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
