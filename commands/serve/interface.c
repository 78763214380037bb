/* interface.c -- what the server says; see interface.h. */
#include "commands/serve/interface.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/file.h"
#include "base/hash.h"
#include "commands/serve/drawing.h"
#include "commands/serve/language.h"
#include "data/html.h"

enum { MOST_ALTERNATIVES = 10, COUNTERS = 4096, KEYS_LIMIT = 1 << 24 };

/* The requests of an address or key in a minute. */
typedef struct Counter {
    uint64_t client;
    time_t minute;
    int requests;
} Counter;

struct Interface {
    const ServeSettings *settings;
    Service *service;
    const Pair *pair;  // [pairs] of the service
    int pairs;
    json_t *keys;  // a set; NULL: none are needed
    Counter counter[COUNTERS];
};

/* A request while the service translates for it. */
typedef struct Job {
    Task task;
    Exchange *exchange;
    json_t *detected;  // or NULL
    bool array, html, details, attention;
    const char *format;  // of attention
    int texts;
    char **text;             // [texts] of the request
    HtmlDocument *document;  // [texts] of HTML; or NULL
} Job;

static void job_free(Job *job)
{
    for (int i = 0; job->document && i < job->texts; i++) html_close(&job->document[i]);
    for (int i = 0; job->text && i < job->texts; i++) free(job->text[i]);
    if (job->task.text != job->text) free(job->task.text);
    free(job->text);
    free(job->document);
    free(job->task.beginning);
    json_decref(job->detected);
    free(job);
}

/* ---- answers ---- */

static const char *hypothesis_text(const QkvTranslation *t, int h)
{
    return t->hypothesis[h < t->count ? h : t->count - 1].text;
}

/* The h-th best translation of text i, and *translation (=) that of its first block or the next text. */
static json_t *text_json(Job *job, int i, const QkvTranslation **translation, int h)
{
    if (!job->html) return json_string(hypothesis_text((*translation)++, h));
    HtmlDocument *d = &job->document[i];
    const char **block = malloc(((size_t)d->count + 1) * sizeof *block);
    for (int k = 0; block && k < d->count; k++) block[k] = hypothesis_text((*translation)++, h);
    char *text = block ? html_join(d, block) : NULL;
    json_t *json = text ? json_string(text) : NULL;
    free(block);
    free(text);
    return json;
}

static json_t *texts_json(const char *const *text, int count)
{
    json_t *list = json_array();
    for (int i = 0; i < count; i++) json_array_append_new(list, json_string(text[i]));
    return list;
}

static json_int_t characters(const char *text, size_t bytes)
{
    json_int_t count = 0;
    for (size_t i = 0; i < bytes; i++) count += (text[i] & 0xC0) != 0x80;
    return count;
}

/* What is doubtful about a translation, and where its sentences are, in characters. */
static json_t *details_json(const char *text, const QkvTranslation *t)
{
    json_t *sentences = json_array();
    for (int i = 0; i < t->sentences; i++) {
        const QkvSentence *s = &t->sentence[i];
        const char *target = t->hypothesis[0].text;
        json_array_append_new(sentences, json_pack("{s:[I,I],s:[I,I],s:f}", "source",
                                                   characters(text, s->source_begin),
                                                   characters(text, s->source_end), "target",
                                                   characters(target, s->target_begin),
                                                   characters(target, s->target_end), "score",
                                                   s->translation.score));
    }
    return json_pack("{s:i,s:b,s:b,s:o,s:o,s:o}", "cut", t->cut, "limit", t->limit, "doubtful",
                     t->doubtful, "missing", texts_json(t->missing, t->missing_count),
                     "unknown", texts_json(t->unknown, t->unknown_count), "sentences",
                     sentences);
}

static void answer_translation(Job *job, const QkvTranslation *translation)
{
    int others = job->task.alternatives - 1;
    json_t *best = json_array(), *alternatives = json_array(), *details = json_array();
    for (int i = 0; i < job->texts; i++) {
        const QkvTranslation *first = translation, *at = first;
        json_t *more = json_array();
        json_array_append_new(best, text_json(job, i, &at, 0));
        for (int h = 1; h <= others; h++) {
            at = first;
            json_t *other = text_json(job, i, &at, h);
            bool repeats = json_equal(other, json_array_get(best, (size_t)i));
            for (size_t k = 0; k < json_array_size(more); k++)
                repeats |= json_equal(other, json_array_get(more, k));
            if (repeats) json_decref(other);
            else json_array_append_new(more, other);
        }
        json_array_append_new(alternatives, more);
        if (!job->html) json_array_append_new(details, details_json(job->task.text[i], first));
        translation = at;
    }
    const struct {
        const char *key;
        json_t *value;
        bool used;
    } members[] = {{"translatedText", best, true},
                   {"alternatives", alternatives, others > 0},
                   {"details", details, job->details && !job->html}};
    json_t *answer = json_object();
    for (size_t m = 0; m < sizeof members / sizeof *members; m++) {
        json_t *value = members[m].value;
        if (members[m].used)
            json_object_set(answer, members[m].key,
                            job->array ? value : json_array_get(value, 0));
        json_decref(value);
    }
    if (job->detected && job->array) {
        json_t *all = json_array();
        for (int i = 0; i < job->texts; i++) json_array_append(all, job->detected);
        json_object_set_new(answer, "detectedLanguage", all);
    } else if (job->detected) json_object_set(answer, "detectedLanguage", job->detected);
    exchange_answer(job->exchange, 200, answer);
}

static void answer_attention(const Job *job, const QkvModel *model,
                             const QkvTranslation *translation)
{
    Error error;
    size_t length;
    char *bytes =
        drawing_make(&length, job->format, job->exchange->request, job->exchange->pair, model,
                     job->task.text[0], translation, &error);
    if (bytes) exchange_send(job->exchange, drawing_type(job->format), bytes, length);
    else exchange_error(job->exchange, 400, "%s", error.text);
}

static void done(Task *task, const QkvModel *model, const QkvTranslation *translation,
                 const QkvError *error)
{
    Job *job = task->context;
    if (!translation)
        exchange_error(job->exchange, 500, "Cannot translate text: %s", error->text);
    else if (job->attention) answer_attention(job, model, translation);
    else answer_translation(job, translation);
    job_free(job);
}

/* ---- requests ---- */

static const char *text_of(const json_t *request, const char *key)
{
    const char *text = json_string_value(json_object_get(request, key));
    return text && *text ? text : NULL;
}

static bool is_language(const Interface *in, const char *code)
{
    for (int i = 0; i < in->pairs; i++) {
        const Pair *pair = &in->pair[i];
        if (!strcmp(pair->source, code) || !strcmp(pair->target, code)) return true;
    }
    return false;
}

/* detected (=) the languages of the texts, the most probable first; an answer was given if it is NULL. */
static json_t *detect(Exchange *e, const json_t *q)
{
    LanguageGuess guess[LANGUAGES_FOUND];
    json_t *list = json_array();
    int count = 0;
    if (json_is_string(q)) count = language_detect(guess, json_string_value(q));
    else {
        size_t length = 1;
        for (size_t i = 0; i < json_array_size(q); i++)
            length += json_string_length(json_array_get(q, i)) + 1;
        char *all = calloc(length, 1), *end = all;
        for (size_t i = 0; all && i < json_array_size(q); i++) {
            const char *text = json_string_value(json_array_get(q, i));
            end = stpcpy(end, text ? text : "");
            *end++ = '\n';
        }
        if (all) count = language_detect(guess, all);
        free(all);
    }
    if (count < 0) {
        json_decref(list);
        exchange_error(
            e, 400,
            "This server cannot detect languages: it was built without CLD2 (libcld2-dev)");
        return NULL;
    }
    for (int i = 0; i < count; i++)
        json_array_append_new(list, json_pack("{s:i,s:s}", "confidence", guess[i].percent,
                                              "language", guess[i].code));
    return list;
}

/* Nothing is translated from a language to itself. */
static void answer_unchanged(Exchange *e, const json_t *detected)
{
    json_t *q = json_object_get(e->request, "q"),
           *answer = json_pack("{s:O}", "translatedText", q);
    json_t *all = json_is_array(q) ? json_array() : json_deep_copy(detected);
    for (size_t i = 0; i < json_array_size(q); i++)
        json_array_append_new(all, json_deep_copy(detected));
    if (detected) json_object_set(answer, "detectedLanguage", all);
    json_decref(all);
    exchange_answer(e, 200, answer);
}

/* The pair of a request; NULL: an answer was given. detected (=) what was detected, or NULL. */
static const Pair *find_pair(const Interface *in, Exchange *e, json_t **detected)
{
    const char *source = text_of(e->request, "source"), *target = text_of(e->request, "target");
    char names[2][LANGUAGE_NAME];
    *detected = NULL;
    if (strcmp(source, "auto") == 0) {
        json_t *all = detect(e, json_object_get(e->request, "q"));
        if (!all) return NULL;
        for (size_t i = 0; !*detected && i < json_array_size(all); i++) {
            json_t *guess = json_array_get(all, i);
            const char *code = text_of(guess, "language");
            if (service_pair(in->service, code, target) || !strcmp(code, target))
                *detected = json_incref(guess);
        }
        json_decref(all);
        for (int i = 0; !*detected && i < in->pairs; i++) {
            const Pair *pair = &in->pair[i];
            if (!strcmp(pair->target, target))
                *detected = json_pack("{s:i,s:s}", "confidence", 0, "language", pair->source);
        }
        if (*detected) source = text_of(*detected, "language");
    }
    if (!is_language(in, source))
        return exchange_error(e, 400, "%s is not supported", source), NULL;
    if (!is_language(in, target))
        return exchange_error(e, 400, "%s is not supported", target), NULL;
    const Pair *pair = service_pair(in->service, source, target);
    if (pair) return pair;
    if (!strcmp(source, target) && !strcmp(e->path, "/translate"))
        return answer_unchanged(e, *detected), NULL;
    language_name(names[0], source), language_name(names[1], target);
    exchange_error(e, 400, "%s (%s) is not available as a target language from %s (%s)",
                   names[1], target, names[0], source);
    return NULL;
}

/* The texts of q, whose characters are counted; NULL: an answer was given, or memory is short. */
static char **read_texts(Exchange *e, int *count, const json_t *q, int limit)
{
    int texts = json_is_array(q) ? (int)json_array_size(q) : 1;
    char **text = calloc((size_t)texts + 1, sizeof *text);
    bool good = text;
    for (int i = 0; good && i < texts; i++) {
        const json_t *one = json_is_array(q) ? json_array_get(q, (size_t)i) : q;
        const char *value = json_string_value(one);
        if (value) e->characters += characters(value, strlen(value));
        if (!value)
            exchange_error(e, 400, "Invalid request: q is no text and no array of texts");
        good = value && (text[i] = strdup(value));
    }
    if (good && e->characters > limit) {
        exchange_error(e, 400, "Invalid request: request (%lld) exceeds text limit (%d)",
                       e->characters, limit);
        good = false;
    }
    *count = texts;
    if (good) return text;
    for (int i = 0; text && i < texts; i++) free(text[i]);
    free(text);
    return NULL;
}

/* The task translates the blocks of the documents. */
static bool read_html(Job *job, Error *error)
{
    int blocks = 0;
    job->document = calloc((size_t)job->texts + 1, sizeof *job->document);
    bool good = job->document || error_memory(error, "for HTML");
    for (int i = 0; good && i < job->texts; i++) {
        good = html_open(&job->document[i], job->text[i], strlen(job->text[i]), error);
        blocks += job->document[i].count;
    }
    char **block = good ? calloc((size_t)blocks + 1, sizeof *block) : NULL;
    if (good && !block) good = error_memory(error, "for HTML");
    for (int i = 0, k = 0; good && i < job->texts; i++)
        for (int b = 0; b < job->document[i].count; b++)
            block[k++] = job->document[i].block[b].text;
    job->task.text = block, job->task.count = blocks;
    return good;
}

static void translate(Interface *in, Exchange *e, const char *format, bool attention)
{
    Error error;
    const json_t *q = json_object_get(e->request, "q"),
                 *more = json_object_get(e->request, "alternatives");
    const char *prefix = text_of(e->request, "prefix");
    long others = json_is_string(more) ? strtol(json_string_value(more), NULL, 10)
                                       : (long)json_integer_value(more);
    Job *job = calloc(1, sizeof *job);
    if (!job) return exchange_error(e, 500, "There is not enough memory");
    *job = (Job){.exchange = e,
                 .array = json_is_array(q),
                 .html = !attention && !strcmp(format, "html"),
                 .attention = attention,
                 .details = json_is_true(json_object_get(e->request, "details")),
                 .format = format};
    job->task = (Task){.done = done, .context = job, .alternatives = 1};
    if (!attention && others > 0)
        job->task.alternatives += others < MOST_ALTERNATIVES ? (int)others : MOST_ALTERNATIVES;
    job->task.pair = find_pair(in, e, &job->detected);
    if (job->task.pair)
        job->text = read_texts(e, &job->texts, q, in->settings->most_characters);
    job->task.text = job->text, job->task.count = job->texts;
    bool good = job->text;
    if (good) e->pair = job->task.pair->name;
    if (good && job->html && !read_html(job, &error))
        good = false, exchange_error(e, 400, "%s", error.text);
    if (good && prefix && job->task.count == 1 && !job->html)
        job->task.beginning = strdup(prefix);
    if (good && !job->task.count) answer_translation(job, NULL), good = false;
    if (good) {
        exchange_wait(e);
        if (service_add(in->service, &job->task)) return;
        exchange_error(e, 503, "Too many requests wait: try again later");
    } else if (!e->status) exchange_error(e, 500, "There is not enough memory");
    job_free(job);
}

/* ---- without translating ---- */

static void answer_languages(const Interface *in, Exchange *e)
{
    json_t *list = json_array();
    char name[LANGUAGE_NAME];
    for (int i = 0; i < 2 * in->pairs; i++) {
        const Pair *own = &in->pair[i / 2];
        const char *code = i % 2 ? own->target : own->source;
        json_t *targets = json_array();
        bool listed = false;
        for (size_t k = 0; k < json_array_size(list); k++)
            listed |= !strcmp(text_of(json_array_get(list, k), "code"), code);
        for (int k = 0; k < in->pairs; k++) {
            const Pair *pair = &in->pair[k];
            if (!strcmp(pair->source, code))
                json_array_append_new(targets, json_string(pair->target));
        }
        json_array_append_new(targets, json_string(code));
        language_name(name, code);
        if (listed) json_decref(targets);
        else
            json_array_append_new(list, json_pack("{s:s,s:s,s:o}", "code", code, "name", name,
                                                  "targets", targets));
    }
    exchange_answer(e, 200, list);
}

static void answer_settings(const Interface *in, Exchange *e)
{
    const Pair *pair = &in->pair[0];
    char source[LANGUAGE_NAME], target[LANGUAGE_NAME];
    language_name(source, pair->source), language_name(target, pair->target);
    exchange_answer(e, 200,
                    json_pack("{s:b,s:i,s:i,s:b,s:b,s:b,s:[],s:{s:{s:s,s:s},s:{s:s,s:s}}}",
                              "apiKeys", in->keys != NULL, "charLimit",
                              in->settings->most_characters, "frontendTimeout", 250,
                              "keyRequired", in->keys != NULL, "suggestions", 0,
                              "filesTranslation", 0, "supportedFilesFormat", "language",
                              "source", "code", pair->source, "name", source, "target", "code",
                              pair->target, "name", target));
}

static void answer_page(Interface *in, Exchange *e)
{
    const Pair *pair = &in->pair[0];
    json_object_clear(e->request);
    json_object_set_new(e->request, "q", json_string("Hello."));
    json_object_set_new(e->request, "source", json_string(pair->source));
    json_object_set_new(e->request, "target", json_string(pair->target));
    translate(in, e, "page", true);
}

/* ---- who may ask ---- */

/* Whether a client has asked too often in this minute. */
static bool asks_too_often(Interface *in, const char *client)
{
    uint64_t hash = hash_bytes(HASH_START, client, strlen(client));
    Counter *c = &in->counter[hash % COUNTERS];
    time_t minute = time(NULL) / 60;
    if (c->client != hash || c->minute != minute) *c = (Counter){hash, minute, 0};
    return in->settings->most_requests && ++c->requests > in->settings->most_requests;
}

static bool may_ask(Interface *in, Exchange *e)
{
    const char *key = text_of(e->request, "api_key");
    if (in->keys && !key)
        return exchange_error(e, 403, "Please contact the server operator to get an API key"),
               false;
    if (in->keys && !json_object_get(in->keys, key))
        return exchange_error(e, 403, "Invalid API key"), false;
    if (!asks_too_often(in, in->keys ? key : e->client)) return true;
    exchange_error(e, 429, "Slowdown: %d per 1 minute", in->settings->most_requests);
    return false;
}

static bool has_parameters(Exchange *e, const char *const *names)
{
    for (; *names; names++) {
        const json_t *value = json_object_get(e->request, *names);
        bool filled =
            text_of(e->request, *names) || (!strcmp(*names, "q") && json_array_size(value) > 0);
        if (!filled)
            return exchange_error(e, 400, "Invalid request: missing %s parameter", *names),
                   false;
    }
    return true;
}

void interface_answer(Exchange *e, void *interface)
{
    static const char *const all[] = {"q", "source", "target", NULL};
    Interface *in = interface;
    static const char *const posts[] = {"/translate", "/detect", "/attention", NULL};
    static const char *const gets[] = {"/", "/languages", "/frontend/settings", "/health",
                                       NULL};
    int post = 0, get = 0;
    while (posts[post] && strcmp(posts[post], e->path)) post++;
    while (gets[get] && strcmp(gets[get], e->path)) get++;
    const char *format = text_of(e->request, "format");
    if (!posts[post] && !gets[get]) return exchange_error(e, 404, "Not Found");
    if (!strcmp(e->method, "OPTIONS") && in->settings->cors)
        return exchange_answer(e, 200, json_object());
    bool reads = !strcmp(e->method, "GET") || !strcmp(e->method, "HEAD");
    if (posts[post] ? strcmp(e->method, "POST") != 0 : !reads)
        return exchange_error(e, 405, "Method Not Allowed");
    if (get == 0) return answer_page(in, e);
    if (get == 1) return answer_languages(in, e);
    if (get == 2) return answer_settings(in, e);
    if (get == 3) return exchange_answer(e, 200, json_pack("{s:s}", "status", "ok"));
    if (!may_ask(in, e) || !has_parameters(e, post == 1 ? (const char *[]){"q", NULL} : all))
        return;
    if (post == 1) {
        json_t *found = detect(e, json_object_get(e->request, "q"));
        if (found) exchange_answer(e, 200, found);
        return;
    }
    bool attention = post == 2;
    if (!format) format = attention ? "json" : "text";
    if (attention ? !drawing_type(format) || !strcmp(format, "page")
                  : strcmp(format, "text") && strcmp(format, "html"))
        return exchange_error(e, 400, "%s format is not supported", format);
    translate(in, e, format, attention);
}

/* ---- beginning and end ---- */

static bool read_keys(Interface *in, Error *error)
{
    const char *path = in->settings->api_keys;
    char *text = file_read_input(path, KEYS_LIMIT, NULL, error), *rest = NULL;
    if (!text) return false;
    in->keys = json_object();
    for (char *key = strtok_r(text, " \t\r\n", &rest); key;
         key = strtok_r(NULL, " \t\r\n", &rest))
        json_object_set_new(in->keys, key, json_true());
    free(text);
    return json_object_size(in->keys) ||
           error_set(error, "%s has no API key in it: write one on each line", path);
}

Interface *interface_open(const ServeSettings *settings, Service *service, Error *error)
{
    Interface *in = calloc(1, sizeof *in);
    if (!in) return error_memory(error, "to serve"), NULL;
    in->settings = settings, in->service = service;
    in->pair = service_pairs(service, &in->pairs);
    if (!settings->api_keys || read_keys(in, error)) return in;
    interface_close(in);
    return NULL;
}

void interface_close(Interface *in)
{
    if (in) json_decref(in->keys);
    free(in);
}
