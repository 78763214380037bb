/* service.h -- models of language pairs, and the threads that translate for the requests that wait.
 *
 * Texts of at most SHORT_TEXT bytes are translated by one thread for each processor: each takes its
 * share of the tasks that wait, and translates them as one batch. Longer ones have a thread of their
 * own, with a lower priority, so that a short text never waits for a document. A thread renews its
 * translator when the model was loaded again. */
#pragma once

#include "commands/serve/settings.h"
#include "library/qkv.h"

enum { SHORT_TEXT = 4000, LANGUAGE = 16 };

typedef struct Service Service;

/* A model, and what it translates. */
typedef struct Pair {
    char source[LANGUAGE], target[LANGUAGE], name[2 * LANGUAGE];  // "en", "fr", "en-fr"
    const char *path;
    struct Loaded *loaded;  // private
} Pair;

/* The texts of one request: the first member of what the caller has for it. */
typedef struct Task {
    const Pair *pair;
    const char **text;  // [count]
    int count;
    int alternatives;       // hypotheses of each text
    const char *beginning;  // what the only translation must begin with; or NULL
    /* Called on a thread of the service, once. translation [count]; NULL: the error says why */
    void (*done)(struct Task *task, const QkvModel *model, const PassageConfig *texts,
                 const QkvTranslation *translation, const QkvError *error);
    struct Task *next;  // of the service
} Task;

/* Loads the models and starts the threads. The settings must outlive the service. */
Service *service_start(const ServeSettings *settings, Error *error);

/* All pairs [*count]; the first pair of two codes, of which NULL means any; or NULL. */
const Pair *service_pairs(const Service *service, int *count);
const Pair *service_pair(const Service *service, const char *source, const char *target);

/* Takes a task, and calls done. false: too many wait. */
bool service_add(Service *service, Task *task);

/* Loads all models and the terms again. Requests go on with the old ones meanwhile, and if one cannot be loaded. */
bool service_reload(Service *service, Error *error);

/* Translates what waits and ends the threads; no task can be added then. */
void service_stop(Service *service);
void service_free(Service *service);  // allowed on NULL
