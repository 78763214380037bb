/* interface.c -- what the server says; see interface.h. */
#include "commands/serve/interface.h"

#include <time.h>

#include "base/hash.h"
#include "base/textstream.h"
#include "base/utf8.h"
#include "commands/serve/drawing.h"
#include "commands/serve/language.h"
#include "data/html.h"
#include "data/text.h"

enum { MOST_ALTERNATIVES = 10, COUNTERS = 4096 };

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
    Exchange *exchange;  // which has the texts
    json_t *detected;    // or NULL
    bool details;
    const char *format;  // of attention; NULL: it was not asked for
    int texts;
    const char **text;       // [texts]
    HtmlDocument *document;  // [texts] of HTML; or NULL
} Job;

static void job_free(Job *job)
{
    for (int i = 0; job->document && i < job->texts; i++) html_close(&job->document[i]);
    if (job->task.text != job->text) free(job->task.text);
    free(job->text);
    free(job->document);
    json_decref(job->detected);
    free(job);
}

/* The value of a parameter; NULL: it is no text, or empty. */
static const char *text_of(const json_t *request, const char *key)
{
    const char *text = json_string_value(json_object_get(request, key));
    return text && *text ? text : NULL;
}

/* ---- answers ---- */

static const char *hypothesis_text(const QkvTranslation *t, int h)
{
    return t->hypothesis[h < t->count ? h : t->count - 1].text;
}

/* The h-th best translation of text i, and *translation (=) that of its first block or the next text. Without
 * translations, from a language to itself, the text. */
static json_t *text_json(Job *job, int i, const QkvTranslation **translation, int h)
{
    if (!job->document)
        return json_string(*translation ? hypothesis_text((*translation)++, h) : job->text[i]);
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

/* A range of a text in characters. */
static json_t *range_json(Utf8Place *place, size_t begin, size_t end)
{
    json_int_t first = (json_int_t)utf8_move(place, begin);
    return json_pack("[I,I]", first, (json_int_t)utf8_move(place, end));
}

/* What is doubtful about a translation, and where its sentences are, in characters. */
static json_t *details_json(const char *text, const QkvTranslation *t)
{
    json_t *sentences = json_array();
    Utf8Place source = {.text = text}, target = {.text = t->hypothesis[0].text};
    for (int i = 0; i < t->sentences; i++) {
        const QkvSentence *s = &t->sentence[i];
        json_t *from = range_json(&source, s->source_begin, s->source_end),
               *to = range_json(&target, s->target_begin, s->target_end);
        json_array_append_new(sentences, json_pack("{s:o,s:o,s:f}", "source", from, "target",
                                                   to, "score", s->translation.score));
    }
    return json_pack("{s:i,s:b,s:b,s:o,s:o,s:o}", "cut", t->cut, "limit", t->limit, "doubtful",
                     t->doubtful, "missing", texts_json(t->missing, t->missing_count),
                     "unknown", texts_json(t->unknown, t->unknown_count), "sentences",
                     sentences);
}

/* The i-th of the texts of a request, which has an array of them or one; NULL: there are no more. */
static json_t *text_at(const Exchange *e, size_t i)
{
    json_t *q = json_object_get(e->request, "q");
    return json_is_array(q) ? json_array_get(q, i) : i ? NULL : q;
}

/* Adds a value of one of these texts to an answer: alone, or to an array. */
static void add_value(const Exchange *e, json_t *answer, const char *key, json_t *value)
{
    if (!json_is_array(json_object_get(e->request, "q"))) {
        json_object_set_new(answer, key, value);
        return;
    }
    if (!json_object_get(answer, key)) json_object_set_new(answer, key, json_array());
    json_array_append_new(json_object_get(answer, key), value);
}

static void answer_translation(Job *job, const QkvTranslation *translation)
{
    const Exchange *e = job->exchange;
    json_t *answer = json_object();
    for (int i = 0; i < job->texts; i++) {
        const QkvTranslation *first = translation, *at = first;
        json_t *found = json_array();  // different ones, best first
        for (int h = 0; h < job->task.alternatives; h++) {
            at = first;
            json_t *text = text_json(job, i, &at, h);
            size_t k = 0;
            while (k < json_array_size(found) && !json_equal(text, json_array_get(found, k)))
                k++;
            if (k == json_array_size(found)) json_array_append(found, text);
            json_decref(text);
        }
        add_value(e, answer, "translatedText", json_incref(json_array_get(found, 0)));
        json_array_remove(found, 0);
        if (job->task.alternatives > 1)
            add_value(e, answer, "alternatives", json_incref(found));
        if (job->details && first && !job->document)
            add_value(e, answer, "details", details_json(job->text[i], first));
        if (job->detected) add_value(e, answer, "detectedLanguage", json_incref(job->detected));
        json_decref(found);
        translation = at;
    }
    exchange_answer(job->exchange, 200, answer);
}

static void send_attention(const Job *job, const QkvModel *model, const PassageConfig *texts,
                           const QkvTranslation *translation)
{
    Error error;
    size_t length;
    char *bytes =
        drawing_make(&length, job->format, job->exchange->request, job->exchange->pair, model,
                     texts, job->text[0], translation, &error);
    if (bytes) exchange_send(job->exchange, 200, drawing_type(job->format), bytes, length);
    else exchange_error(job->exchange, 400, "%s", error.text);
}

static void done(Task *task, const QkvModel *model, const PassageConfig *texts,
                 const QkvTranslation *translation, const QkvError *error)
{
    Job *job = (Job *)task;
    if (!translation)
        exchange_error(job->exchange, 500, "Cannot translate text: %s", error->text);
    else if (job->format) send_attention(job, model, texts, translation);
    else answer_translation(job, translation);
    job_free(job);
}

/* ---- requests ---- */

static bool is_language(const Interface *in, const char *code)
{
    return service_pair(in->service, code, NULL) || service_pair(in->service, NULL, code);
}

/* The languages of the texts, the most probable first; NULL: an answer was given. */
static json_t *detect(const Interface *in, Exchange *e)
{
    LanguageGuess guess[LANGUAGES_FOUND];
    json_t *list = json_array(), *one;
    const char *format = text_of(e->request, "format");  // of texts, or of attention
    bool html = format && !strcmp(format, "html") && strcmp(e->path, "/attention") != 0;
    TextStream stream;
    FILE *all = textstream_open(&stream);
    for (size_t i = 0; all && (one = text_at(e, i)); i++)
        if (json_is_string(one)) fprintf(all, "%s%s", i ? "\n" : "", json_string_value(one));
    char *text = textstream_close(&stream);
    int count = text ? language_detect(guess, text, html) : 0;
    free(text);
    for (int i = 0; i < count; i++) {
        bool norwegian = !strcmp(guess[i].code, "no") && !is_language(in, "no");
        json_array_append_new(list, json_pack("{s:i,s:s}", "confidence", guess[i].percent,
                                              "language", norwegian ? "nb" : guess[i].code));
    }
    if (count >= 0) return list;
    json_decref(list);
    exchange_error(
        e, 400, "This server cannot detect languages: it was built without CLD2 (libcld2-dev)");
    return NULL;
}

/* Whether two codes are of one language, as pt and pt-BR. */
static bool is_kind(const char *a, const char *b)
{
    size_t length = strcspn(a, "-");
    return length == strcspn(b, "-") && !strncmp(a, b, length);
}

/* The source that a detected language stands for: itself, or another kind of it; NULL: it is not translated to
 * the target. */
static const char *source_of(const Interface *in, const char *code, const char *target)
{
    if (service_pair(in->service, code, target)) return code;
    for (int i = 0; i < in->pairs; i++)
        if (!strcmp(in->pair[i].target, target) && is_kind(in->pair[i].source, code))
            return in->pair[i].source;
    return is_kind(code, target) ? target : NULL;
}

/* The only language that is translated to the target, or NULL. */
static const char *only_source(const Interface *in, const char *target)
{
    const char *only = NULL;
    for (int i = 0; i < in->pairs; i++)
        if (!strcmp(in->pair[i].target, target)) {
            if (only) return NULL;
            only = in->pair[i].source;
        }
    return only;
}

/* *detected (=) of the languages of the texts the first that is translated to the target, or is it; else the
 * only one that is; else the first, which is refused. False: an answer was given. */
static bool detect_source(const Interface *in, Exchange *e, json_t **detected,
                          const char *target)
{
    json_t *all = detect(in, e);
    if (!all) return false;
    const char *source = NULL;
    json_int_t percent = 0;
    for (size_t i = 0; i < json_array_size(all) && !source; i++) {
        const json_t *guess = json_array_get(all, i);
        source = source_of(in, text_of(guess, "language"), target);
        if (source) percent = json_integer_value(json_object_get(guess, "confidence"));
    }
    if (!source) source = only_source(in, target);
    if (!source) source = text_of(json_array_get(all, 0), "language");
    if (source) *detected = json_pack("{s:I,s:s}", "confidence", percent, "language", source);
    json_decref(all);
    return *detected ||
           exchange_error(e, 400, "The language of the text is not known: name it as source");
}

/* The pair of a request; NULL: an answer was given. job->detected (=) what was detected, or NULL. */
static const Pair *find_pair(const Interface *in, Job *job)
{
    Exchange *e = job->exchange;
    json_t **detected = &job->detected;
    const char *source = text_of(e->request, "source"), *target = text_of(e->request, "target");
    char names[2][LANGUAGE_NAME];
    *detected = NULL;
    const char *unknown = is_language(in, target) ? NULL : target;
    if (!unknown && !strcmp(source, "auto") && !detect_source(in, e, detected, target))
        return NULL;
    if (*detected) source = text_of(*detected, "language");
    if (!unknown && !is_language(in, source)) unknown = source;
    if (unknown) return exchange_error(e, 400, "%s is not supported", unknown), NULL;
    const Pair *pair = service_pair(in->service, source, target);
    if (pair) return pair;
    if (!strcmp(source, target) && !strcmp(e->path, "/translate"))
        return answer_translation(job, NULL), NULL;
    language_name(names[0], source), language_name(names[1], target);
    exchange_error(e, 400, "%s (%s) is not available as a target language from %s (%s)",
                   names[1], target, names[0], source);
    return NULL;
}

/* job->text (=) the texts, whose characters are counted. False: an answer was given. */
static bool read_texts(Job *job, int limit)
{
    enum { TEXTS = 20000 };  // each takes memory, even an empty one
    Exchange *e = job->exchange;
    json_t *text;
    while (text_at(e, (size_t)job->texts)) job->texts++;
    if (job->texts > TEXTS)
        return exchange_error(e, 400, "Invalid request: it has %d texts; the limit is %d",
                              job->texts, TEXTS);
    job->text = calloc((size_t)job->texts + 1, sizeof *job->text);
    if (!job->text) return exchange_error(e, 500, "There is not enough memory");
    for (size_t i = 0; (text = text_at(e, i)); i++) {
        if (!json_is_string(text))
            return exchange_error(e, 400,
                                  "Invalid request: q is no text and no array of texts");
        job->text[i] = json_string_value(text);
        e->characters += (long long)utf8_count(job->text[i], json_string_length(text));
    }
    return e->characters <= limit ||
           exchange_error(e, 400, "Invalid request: request (%lld) exceeds text limit (%d)",
                          e->characters, limit);
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
    const char **block = good ? calloc((size_t)blocks + 1, sizeof *block) : NULL;
    if (good && !block) good = error_memory(error, "for HTML");
    for (int i = 0, k = 0; good && i < job->texts; i++)
        for (int b = 0; b < job->document[i].count; b++)
            block[k++] = job->document[i].block[b].text;
    job->task.text = block, job->task.count = blocks;
    return good;
}

static const Option job_options[] = {
    {.name = "alternatives", .kind = OPTION_INT, .offset = offsetof(Job, task.alternatives)},
    {.name = "details", .kind = OPTION_FLAG, .offset = offsetof(Job, details)}};

/* What a request asks for. False: an answer was given. */
static bool read_job(Job *job, const Interface *in)
{
    Error error;
    Exchange *e = job->exchange;
    const OptionGroup group = {.options = job_options, .count = 2, .values = job};
    bool texts = !strcmp(e->path, "/translate"), page = !strcmp(e->path, "/");
    const char *format = text_of(e->request, "format"), *prefix = text_of(e->request, "prefix");
    if (!format) format = texts ? "text" : "json";
    bool html = !strcmp(format, "html");
    if (texts ? !html && strcmp(format, "text")
              : !drawing_type(format) || (!strcmp(format, "page") && !page))
        return exchange_error(e, 400, "%s format is not supported", format);
    if (!texts && json_is_array(json_object_get(e->request, "q")))
        return exchange_error(e, 400, "Invalid request: attention is that of one text");
    if (!parameters_read(&group, e->request, &error))
        return exchange_error(e, 400, "Invalid request: %s", error.text);
    if (job->task.alternatives > MOST_ALTERNATIVES)
        return exchange_error(e, 400, "Invalid request: alternatives parameter must be <= %d",
                              MOST_ALTERNATIVES);
    job->task.alternatives =
        1 + (texts && job->task.alternatives > 0 ? job->task.alternatives : 0);
    job->format = texts ? NULL : format;
    if (!read_texts(job, page ? INT_MAX : in->settings->most_characters) ||
        !(job->task.pair = find_pair(in, job)))
        return false;
    job->task.text = job->text, job->task.count = job->texts;
    e->pair = job->task.pair->name;
    if (texts && html && !read_html(job, &error))
        return exchange_error(e, 400, "%s", error.text);
    if (prefix && (job->texts != 1 || job->document))
        return exchange_error(e, 400, "Invalid request: prefix is that of one text, not HTML");
    job->task.beginning = prefix;
    if (!job->task.count) answer_translation(job, NULL);
    return job->task.count;
}

/* Translates the texts, or draws the attention of one. */
static void translate(Interface *in, Exchange *e)
{
    Job *job = calloc(1, sizeof *job);
    if (job) job->exchange = e, job->task.done = done;
    if (!job) exchange_error(e, 500, "There is not enough memory");
    else if (read_job(job, in)) {
        exchange_wait(e);
        if (service_add(in->service, &job->task)) return;
        exchange_error(e, 503, "Too many requests wait: try again later");
    }
    if (job) job_free(job);
}

/* ---- without translating ---- */

static void answer_detect(Interface *in, Exchange *e)
{
    json_t *found = detect(in, e);
    if (found) exchange_answer(e, 200, found);
}

static json_t *language_json(const char *code)
{
    char name[LANGUAGE_NAME];
    language_name(name, code);
    return json_pack("{s:s,s:s}", "code", code, "name", name);
}

static void answer_languages(Interface *in, Exchange *e)
{
    json_t *list = json_array();
    for (int i = 0; i < 2 * in->pairs; i++) {
        const char *code = i % 2 ? in->pair[i / 2].target : in->pair[i / 2].source;
        size_t known = 0;
        while (known < json_array_size(list) &&
               strcmp(text_of(json_array_get(list, known), "code"), code))
            known++;
        if (known < json_array_size(list)) continue;
        json_t *language = language_json(code), *targets = json_array();
        for (int k = 0; k < in->pairs; k++)
            if (!strcmp(in->pair[k].source, code))
                json_array_append_new(targets, json_string(in->pair[k].target));
        json_array_append_new(targets, json_string(code));
        json_object_set_new(language, "targets", targets);
        json_array_append_new(list, language);
    }
    exchange_answer(e, 200, list);
}

static void answer_settings(Interface *in, Exchange *e)
{
    exchange_answer(e, 200,
                    json_pack("{s:b,s:i,s:i,s:b,s:b,s:b,s:[],s:{s:o,s:o}}", "apiKeys",
                              in->keys != NULL, "charLimit", in->settings->most_characters,
                              "frontendTimeout", 250, "keyRequired", in->keys != NULL,
                              "suggestions", 0, "filesTranslation", 0, "supportedFilesFormat",
                              "language", "source", language_json(in->pair->source), "target",
                              language_json(in->pair->target)));
}

static void answer_health(Interface *in, Exchange *e)
{
    (void)in;
    exchange_answer(e, 200, json_pack("{s:s}", "status", "ok"));
}

static void answer_page(Interface *in, Exchange *e)
{
    json_decref(e->request);
    e->request = json_pack("{s:s,s:s,s:s,s:s}", "q", "Hello.", "source", in->pair->source,
                           "target", in->pair->target, "format", "page");
    if (e->request) translate(in, e);
    else exchange_error(e, 500, "There is not enough memory");
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
        return exchange_error(e, 403, "Please contact the server operator to get an API key");
    if (in->keys && !json_object_get(in->keys, key))
        return exchange_error(e, 403, "Invalid API key");
    return !asks_too_often(in, in->keys ? key : e->client) ||
           exchange_error(e, 429, "Slowdown: %d per 1 minute", in->settings->most_requests);
}

static bool has_parameters(Exchange *e, int count)
{
    static const char *const names[] = {"q", "source", "target"};
    static const char *const optional[] = {"format", "prefix"};
    for (int i = 0; i < 2; i++) {
        const json_t *given = json_object_get(e->request, optional[i]);
        if (given && !json_is_string(given) && !json_is_null(given))
            return exchange_error(e, 400, "Invalid request: %s is no text", optional[i]);
    }
    for (int i = 0; i < count; i++)
        if (!text_of(e->request, names[i]) &&
            (i || !json_array_size(json_object_get(e->request, names[i]))))
            return exchange_error(e, 400, "Invalid request: missing %s parameter", names[i]);
    return true;
}

/* What LibreTranslate says where these are switched off. */
static void answer_disabled(Interface *in, Exchange *e)
{
    (void)in;
    exchange_error(e, 403, "%s are disabled on this server.",
                   strcmp(e->path, "/suggest") ? "Files translation" : "Suggestions");
}

/* parameters: how many of the three it needs */
static const struct Route {
    const char *path;
    bool posts;  // else it is a GET
    int parameters;
    void (*answer)(Interface *in, Exchange *e);
} routes[] = {{"/translate", true, 3, translate},
              {"/attention", true, 3, translate},
              {"/detect", true, 1, answer_detect},
              {"/translate_file", true, 0, answer_disabled},
              {"/suggest", true, 0, answer_disabled},
              {"/", false, 0, answer_page},
              {"/languages", false, 0, answer_languages},
              {"/frontend/settings", false, 0, answer_settings},
              {"/health", false, 0, answer_health},
              {NULL, false, 0, NULL}};

void interface_answer(Exchange *e, void *interface)
{
    Interface *in = interface;
    const struct Route *route = routes;
    while (route->path && strcmp(route->path, e->path)) route++;
    bool reads = !strcmp(e->method, "GET") || !strcmp(e->method, "HEAD");
    e->allowed = route->posts ? "POST" : "GET, HEAD";
    if (!route->path) exchange_error(e, 404, "Not Found");
    else if (!strcmp(e->method, "OPTIONS") && in->settings->cors)
        exchange_answer(e, 200, json_object());
    else if (route->posts ? strcmp(e->method, "POST") != 0 : !reads)
        exchange_error(e, 405, "Method Not Allowed");
    else if (!route->parameters || (may_ask(in, e) && has_parameters(e, route->parameters)))
        route->answer(in, e);
}

/* ---- beginning and end ---- */

static bool read_keys(Interface *in, Error *error)
{
    static const char blanks[] = " \t";
    const char *path = in->settings->api_keys;
    TextReader reader;
    TextResult result = TEXT_ERROR;
    const char *line;
    size_t length;
    in->keys = json_object();
    bool good = text_open(&reader, path, error);
    reader.strict = true;
    while (good && (result = text_next(&reader, &line, &length, error)) == TEXT_LINE) {
        line += strspn(line, blanks);
        char *key = strndup(line, length = strcspn(line, blanks));
        good = (key || error_memory(error, "for an API key")) &&
               (!line[length + strspn(line + length, blanks)] ||
                error_set(error,
                          "%s, line %zu: an API key has no blank in it: write one on each line",
                          path, reader.line));
        if (good && *key) json_object_set_new(in->keys, key, json_true());
        free(key);
    }
    text_close(&reader);
    return good && result == TEXT_END &&
           (json_object_size(in->keys) ||
            error_set(error, "%s has no API key in it: write one on each line", path));
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
