/* service.c -- the threads that translate; see service.h. */
#include "commands/serve/service.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/workers.h"
#include "inference/translator.h"
#include "library/qkv-inside.h"

enum { LONGEST_BATCH = 32 };  // tasks

/* A model, and what is kept in texts, as long as a thread translates with it. */
typedef struct Loaded {
    QkvModel *model;
    SpanRules *rules;
    PassageConfig texts;  // with these
    atomic_int users;
} Loaded;

/* The tasks of one kind that wait, and the threads that take them. */
typedef struct Lane {
    Service *service;
    Task *first;  // the one that has waited longest
    int waiting;
    int threads, translator_threads;
    pthread_t *thread;  // [threads]
    pthread_cond_t more;
} Lane;

struct Service {
    const ServeSettings *settings;
    Pair *pair;  // [pairs]
    int pairs;
    Lane lane[2];  // short texts, long ones
    pthread_mutex_t lock;
    bool stopping;
};

static void wake_all(Service *s)
{
    for (int l = 0; l < 2; l++)
        if (s->lane[l].thread) pthread_cond_broadcast(&s->lane[l].more);
}

/* ---- models ---- */

static void release(Loaded *loaded)
{
    if (!loaded || --loaded->users) return;
    qkv_model_free(loaded->model);
    spanrules_free(loaded->rules);
    free(loaded);
}

static Loaded *load(const Service *s, const Pair *pair, Error *error)
{
    QkvError why;
    const PassageConfig *texts = &s->settings->passage;
    QkvPrecision precision = s->settings->int8 ? QKV_INT8 : QKV_FLOAT;
    Loaded *loaded = calloc(1, sizeof *loaded);
    if (!loaded) return error_memory(error, "for a model"), NULL;
    loaded->users = 1;
    loaded->texts = *texts;
    loaded->texts.rules = loaded->rules =
        spanrules_open(texts->protect.item, texts->protect.count, texts->terms, error);
    if (loaded->rules && (loaded->model = qkv_model_load(pair->path, precision, &why))) {
        Ensemble one = bundle_ensemble(inside_model(loaded->model));
        if (translator_check(&one, &s->settings->search, error)) return loaded;
    } else if (loaded->rules) error_set(error, "%s", why.text);
    return release(loaded), NULL;
}

/* Sets the languages that are not known yet, from the names of the files that the model was trained on. */
static bool guess_languages(Pair *pair, Error *error)
{
    char *code[] = {pair->source, pair->target};
    for (int side = 0; side < SIDES; side++)
        if (!*code[side])
            bundle_language(code[side], inside_model(pair->loaded->model), (CorpusSide)side);
    return (*pair->source && *pair->target) ||
           error_set(error,
                     "which languages %s translates is not known: write --model "
                     "SOURCE-TARGET=%s, such as en-fr=%s",
                     pair->path, pair->path, pair->path);
}

/* Reads "en-fr=PATH", "pt-BR-en=PATH" or PATH. A target has two or three small letters after its dash, and
 * then the end or another dash. */
static bool read_pair(Pair *pair, const char *argument, Error *error)
{
    const char *equals = strchr(argument, '='), *dash = NULL;
    bool named = equals && memchr(argument, '-', (size_t)(equals - argument)) &&
                 !memchr(argument, '/', (size_t)(equals - argument));
    int targets = 0;
    *pair = (Pair){.path = named ? equals + 1 : argument};
    if (!named) return true;
    for (const char *at = argument; at < equals; at++) {
        size_t letters = *at == '-' ? strspn(at + 1, "abcdefghijklmnopqrstuvwxyz") : 0;
        if ((letters == 2 || letters == 3) && strchr("-=", at[1 + letters]))
            dash = at, targets++;
    }
    if (targets != 1 || dash == argument || dash - argument >= LANGUAGE ||
        equals - dash > LANGUAGE)
        return error_set(error,
                         "--model takes PATH or SOURCE-TARGET=PATH, such as "
                         "en-fr=checkpoints/mine or pt-BR-en=checkpoints/mine, not '%s'",
                         argument);
    memcpy(pair->source, argument, (size_t)(dash - argument));
    memcpy(pair->target, dash + 1, (size_t)(equals - dash - 1));
    return true;
}

static bool load_pairs(Service *s, Error *error)
{
    for (; s->pairs < s->settings->model.count; s->pairs++) {
        Pair *pair = &s->pair[s->pairs];
        bool good = read_pair(pair, s->settings->model.item[s->pairs], error) &&
                    (pair->loaded = load(s, pair, error)) && guess_languages(pair, error);
        if (good && service_pair(s, pair->source, pair->target))
            good =
                error_set(error,
                          "--model names two models for %s-%s: leave one out, or write other "
                          "languages before it, as SOURCE-TARGET=PATH",
                          pair->source, pair->target);
        if (!good) return release(pair->loaded), false;
        snprintf(pair->name, sizeof pair->name, "%s-%s", pair->source, pair->target);
    }
    return s->pairs || error_set(error, "--no-model leaves no model: name one with --model");
}

bool service_reload(Service *s, Error *error)
{
    int loaded = 0;
    Loaded **model = calloc((size_t)s->pairs, sizeof *model);
    if (!model) return error_memory(error, "for %d models", s->pairs);
    while (loaded < s->pairs && (model[loaded] = load(s, &s->pair[loaded], error))) loaded++;
    bool good = loaded == s->pairs;
    pthread_mutex_lock(&s->lock);
    for (int i = 0; good && i < s->pairs; i++) {
        Loaded *old = s->pair[i].loaded;
        s->pair[i].loaded = model[i], model[i] = old;
    }
    wake_all(s);
    pthread_mutex_unlock(&s->lock);
    for (int i = 0; i < loaded; i++) release(model[i]);
    free(model);
    return good;
}

const Pair *service_pair(const Service *s, const char *source, const char *target)
{
    for (const Pair *pair = s->pair; pair < s->pair + s->pairs; pair++)
        if ((!source || !strcmp(pair->source, source)) &&
            (!target || !strcmp(pair->target, target)))
            return pair;
    return NULL;
}

const Pair *service_pairs(const Service *s, int *count)
{
    return *count = s->pairs, s->pair;
}

/* ---- translating ---- */

/* What one thread translates with, for each pair. */
typedef struct Engine {
    Loaded *loaded;
    QkvTranslator *translator;
} Engine;

static void close_engine(Engine *engine)
{
    qkv_translator_free(engine->translator);
    release(engine->loaded);
    *engine = (Engine){0};
}

/* Makes the engine that of the pair's model, which may be a new one. */
static bool renew(Engine *engine, Lane *lane, const Pair *pair, QkvError *error)
{
    Service *s = lane->service;
    pthread_mutex_lock(&s->lock);
    Loaded *now = pair->loaded;
    now->users++;
    pthread_mutex_unlock(&s->lock);
    if (now == engine->loaded) return release(now), true;
    close_engine(engine);
    engine->loaded = now;
    engine->translator = qkv_translator_new(now->model, lane->translator_threads, error);
    if (!engine->translator) close_engine(engine);
    return engine->translator;
}

/* Translates tasks of one pair, up to the end of the list, and calls done for each. */
static void translate(Engine *engine, Lane *lane, Task *task)
{
    QkvError error = {"not enough memory"};
    SearchConfig search = lane->service->settings->search;
    int count = 0;
    for (const Task *t = task; t; t = t->next) count += t->count;
    const char **texts = malloc((size_t)count * sizeof *texts);
    int filled = 0;
    for (const Task *t = task; texts && t; t = t->next)
        for (int i = 0; i < t->count; i++) texts[filled++] = t->text[i];
    search.n_best = task->alternatives;
    if (search.beam < search.n_best) search.beam = search.n_best;
    QkvTranslations *out = NULL;
    if (texts && renew(engine, lane, task->pair, &error)) {
        inside_configure(engine->translator, &engine->loaded->texts, &search);
        out = qkv_translate(engine->translator, texts,
                            task->beginning ? &task->beginning : NULL, count, &error);
    }
    free(texts);
    const QkvTranslation *translation = out ? out->sentence : NULL;
    const Loaded *loaded = engine->loaded;  // not NULL if there are translations
    bool alone = out || !task->next;        // else one of them is to blame
    for (Task *t = task, *next; t; t = next) {
        int own = t->count;
        next = t->next, t->next = NULL;
        if (alone && !out) t->done(t, NULL, NULL, NULL, &error);
        else if (alone) t->done(t, loaded->model, &loaded->texts, translation, &error);
        else translate(engine, lane, t);
        if (translation) translation += own;
    }
    qkv_translations_free(out);
}

/* This thread's share of the tasks that wait: those that can be one batch with the first. */
static Task *take(Lane *lane)
{
    int most = (lane->waiting + lane->threads - 1) / lane->threads;
    Task *batch = NULL, **end = &batch, **at = &lane->first;
    if (most > LONGEST_BATCH) most = LONGEST_BATCH;
    while (*at && most > 0) {
        Task *t = *at;
        if (batch && (t->pair != batch->pair || t->alternatives != batch->alternatives ||
                      t->beginning || batch->beginning)) {
            at = &t->next;
            continue;
        }
        *at = t->next;
        *end = t, end = &t->next;
        t->next = NULL;
        lane->waiting--, most--;
    }
    return batch;
}

static void *work(void *argument)
{
    Lane *lane = argument;
    Service *s = lane->service;
    Engine *engine = calloc((size_t)s->pairs, sizeof *engine);
    if (lane == &s->lane[1])
        setpriority(PRIO_PROCESS, (id_t)gettid(), getpriority(PRIO_PROCESS, 0) + 10);
    for (;;) {
        pthread_mutex_lock(&s->lock);
        while (!lane->first && !s->stopping) {
            for (int i = 0; engine && i < s->pairs; i++)  // what was loaded again
                if (engine[i].loaded != s->pair[i].loaded) close_engine(&engine[i]);
            pthread_cond_wait(&lane->more, &s->lock);
        }
        Task *batch = engine ? take(lane) : NULL;
        pthread_mutex_unlock(&s->lock);
        if (!batch) break;
        translate(&engine[batch->pair - s->pair], lane, batch);
    }
    for (int i = 0; engine && i < s->pairs; i++) close_engine(&engine[i]);
    free(engine);
    return NULL;
}

bool service_add(Service *s, Task *task)
{
    size_t length = 0;
    for (int i = 0; i < task->count; i++) length += strlen(task->text[i]);
    Lane *lane = &s->lane[length > SHORT_TEXT];
    pthread_mutex_lock(&s->lock);
    bool good = lane->waiting < s->settings->most_waiting && !s->stopping;
    if (good) {
        Task **end = &lane->first;
        while (*end) end = &(*end)->next;
        *end = task, task->next = NULL;
        lane->waiting++;
        pthread_cond_signal(&lane->more);
    }
    pthread_mutex_unlock(&s->lock);
    return good;
}

/* ---- beginning and end ---- */

static bool start_lane(Lane *lane, Service *s, int threads, int translator_threads,
                       Error *error)
{
    *lane = (Lane){.service = s, .translator_threads = translator_threads};
    pthread_cond_init(&lane->more, NULL);
    lane->thread = calloc((size_t)threads, sizeof *lane->thread);
    while (lane->thread && lane->threads < threads)
        if (pthread_create(&lane->thread[lane->threads], NULL, work, lane)) break;
        else lane->threads++;
    return lane->threads == threads ||
           error_set(error, "cannot start a thread: allow more memory (ulimit -v) or threads "
                            "(ulimit -u), or fewer --threads");
}

Service *service_start(const ServeSettings *settings, Error *error)
{
    int threads = settings->threads ? settings->threads : workers_processors();
    Service *s = calloc(1, sizeof *s);
    if (!s) return error_memory(error, "to serve"), NULL;
    s->settings = settings;
    pthread_mutex_init(&s->lock, NULL);
    s->pair = calloc((size_t)settings->model.count + 1, sizeof *s->pair);
    if ((s->pair || error_memory(error, "to serve")) && load_pairs(s, error) &&
        start_lane(&s->lane[0], s, threads, 1, error) &&
        start_lane(&s->lane[1], s, 1, threads, error))
        return s;
    service_free(s);
    return NULL;
}

void service_stop(Service *s)
{
    pthread_mutex_lock(&s->lock);
    s->stopping = true;
    wake_all(s);
    pthread_mutex_unlock(&s->lock);
    for (int l = 0; l < 2; l++) {
        for (int i = 0; i < s->lane[l].threads; i++) pthread_join(s->lane[l].thread[i], NULL);
        s->lane[l].threads = 0;
    }
}

void service_free(Service *s)
{
    if (!s) return;
    service_stop(s);
    for (int i = 0; i < s->pairs; i++) release(s->pair[i].loaded);
    for (int l = 0; l < 2; l++) free(s->lane[l].thread);
    free(s->pair);
    free(s);
}
