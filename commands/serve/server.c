/* server.c -- HTTP; see server.h. */
#include "commands/serve/server.h"

#include <fcntl.h>
#include <microhttpd.h>
#include <netdb.h>
#include <stdatomic.h>
#include <strings.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/grow.h"
#include "base/utf8.h"

enum { CONNECTIONS = 4000, SECONDS = 60, LAST_SECONDS = 10 };

struct Server {
    const ServeSettings *settings;
    struct MHD_Daemon *daemon;
    void (*handle)(Exchange *exchange, void *context);
    void *context;
    FILE *log;
    atomic_int open;  // requests that are not answered yet
    atomic_bool ending;
};

/* ---- answers ---- */

void exchange_send(Exchange *e, int status, const char *type, char *bytes, size_t length)
{
    const char *cors = e->server->settings->cors;
    e->status = bytes ? status : 500;
    e->response = bytes ? MHD_create_response_from_buffer(length, bytes, MHD_RESPMEM_MUST_FREE)
                        : MHD_create_response_from_buffer(0, "", MHD_RESPMEM_PERSISTENT);
    const char *const headers[][2] = {
        {"Content-Type", type},
        {"X-Content-Type-Options", "nosniff"},
        {"Allow", status == 405 ? e->allowed : NULL},
        {"Retry-After", status == 503 || status == 429 ? "2" : NULL},
        {"Access-Control-Allow-Origin", cors},
        {"Access-Control-Allow-Headers", cors ? "Content-Type" : NULL}};
    for (size_t i = 0; e->response && i < sizeof headers / sizeof *headers; i++)
        if (headers[i][1]) MHD_add_response_header(e->response, headers[i][0], headers[i][1]);
    if (e->waits) MHD_resume_connection(e->connection);
}

void exchange_answer(Exchange *e, int status, json_t *answer)
{
    char *text = answer ? json_dumps(answer, JSON_COMPACT) : NULL;
    json_decref(answer);
    exchange_send(e, status, "application/json", text, text ? strlen(text) : 0);
}

bool exchange_error(Exchange *e, int status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    exchange_answer(e, status, json_pack("{s:o}", "error", json_vsprintf(format, arguments)));
    va_end(arguments);
    return false;
}

void exchange_wait(Exchange *e)
{
    e->waits = true;
    MHD_suspend_connection(e->connection);
}

/* ---- requests ---- */

static enum MHD_Result add_value(void *exchange, enum MHD_ValueKind kind, const char *key,
                                 size_t key_length, const char *value, size_t length)
{
    Exchange *e = exchange;
    (void)kind, (void)key_length;
    if (!key || !value || json_object_get(e->request, key)) return MHD_YES;
    json_object_set_new_nocheck(e->request, key, json_stringn_nocheck(value, length));
    e->refused |= memchr(value, 0, length) != NULL;
    return MHD_YES;
}

/* A form that is read, and its field that the next part may go on with. */
typedef struct Form {
    Exchange *exchange;
    char *key, *bytes;  // key: NULL where none is taken
    size_t length, size;
} Form;

static void end_field(Form *form)
{
    if (form->key)
        json_object_set_new_nocheck(
            form->exchange->request, form->key,
            json_stringn_nocheck(form->length ? form->bytes : "", form->length));
    free(form->key);
    form->key = NULL, form->length = 0;
}

/* A part of a field; `offset` bytes of it have come before. Of fields with one name the first counts. */
static enum MHD_Result add_field(void *context, enum MHD_ValueKind kind, const char *key,
                                 const char *file, const char *type, const char *encoding,
                                 const char *bytes, uint64_t offset, size_t length)
{
    Form *form = context;
    (void)kind, (void)type, (void)encoding;
    if (offset == 0) {
        end_field(form);
        if (key && !file && !json_object_get(form->exchange->request, key))
            form->key = strdup(key);
    }
    if (!form->key || !length) return MHD_YES;
    if (memchr(bytes, 0, length)) form->exchange->refused = true;
    if (!GROW(form->bytes, form->size, form->length + length + 1)) return MHD_NO;
    memcpy(form->bytes + form->length, bytes, length);
    form->length += length;
    return MHD_YES;
}

/* false: its Content-Type is none of a form. */
static bool read_form(Exchange *e)
{
    enum { BUFFER = 1 << 16 };
    Form form = {.exchange = e};
    struct MHD_PostProcessor *post =
        MHD_create_post_processor(e->connection, BUFFER, add_field, &form);
    if (!post) return false;
    MHD_post_process(post, e->body, e->length);
    MHD_destroy_post_processor(post);
    end_field(&form);
    free(form.bytes);
    return true;
}

static bool keep(Exchange *e, const char *bytes, size_t length)
{
    if (e->too_long || e->length + length > 1024 * (size_t)e->server->settings->most_body)
        return e->too_long = true, true;
    if (!GROW(e->body, e->size, e->length + length + 1)) return false;
    memcpy(e->body + e->length, bytes, length);
    e->length += length;
    return true;
}

/* *last (=) the value of the header X-Forwarded-For that comes last: a proxy may add one of its own. */
static enum MHD_Result find_proxied(void *last, enum MHD_ValueKind kind, const char *key,
                                    const char *value)
{
    (void)kind;
    if (!strcasecmp(key, "X-Forwarded-For")) *(const char **)last = value;
    return MHD_YES;
}

/* Behind a proxy on this machine the client is the last address that the proxy names. */
static void name_client(Exchange *e)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(e->connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    const char *proxied = NULL;
    MHD_get_connection_values(e->connection, MHD_HEADER_KIND, find_proxied, &proxied);
    if (info)
        getnameinfo(info->client_addr, sizeof(struct sockaddr_in6), e->client, sizeof e->client,
                    NULL, 0, NI_NUMERICHOST);
    if (!proxied || !(strstr(e->client, "127.0.0.1") || !strcmp(e->client, "::1"))) return;
    const char *last = strrchr(proxied, ',');
    last = last ? last + 1 : proxied;
    snprintf(e->client, sizeof e->client, "%s", last + strspn(last, " "));
}

/* Reads what the headers say. A body that is a little too long is read, so that the client reads the
 * answer. */
static void begin(Exchange *e)
{
    struct MHD_Connection *c = e->connection;
    const char *type = MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Content-Type"),
               *length = MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Content-Length");
    name_client(e);
    uint64_t bytes = length ? strtoull(length, NULL, 10) : 0,
             most = 1024 * (uint64_t)e->server->settings->most_body;
    e->begin = clock_seconds();
    e->is_json = type && strcasestr(type, "json");
    e->too_long = bytes > most, e->refused = bytes > 16 * most;
}

/* The parameters of a whole request; false if it was answered, because they cannot be read. */
static bool read_parameters(Exchange *e)
{
    json_error_t why;
    const char *coding =
        MHD_lookup_connection_value(e->connection, MHD_HEADER_KIND, "Content-Encoding");
    if (coding && strcasecmp(coding, "identity"))
        return exchange_error(e, 415, "Invalid request: the body must not be compressed");
    if (e->too_long)
        return exchange_error(e, 413, "Invalid request: the body is longer than %d kB",
                              e->server->settings->most_body);
    if (e->is_json && e->length) {
        e->request = json_loadb(e->body, e->length, JSON_REJECT_DUPLICATES, &why);
        if (!json_is_object(e->request))
            return exchange_error(e, 400, "Invalid JSON format: %s",
                                  e->request ? "it is no object" : why.text);
    } else {
        e->request = json_object();
        if (e->length && !read_form(e))
            return exchange_error(e, 415,
                                  "Invalid request: the Content-Type must be "
                                  "application/json or that of a form");
    }
    MHD_get_connection_values_n(e->connection, MHD_GET_ARGUMENT_KIND, add_value, e);
    const char *key;
    json_t *value;
    json_object_foreach(e->request, key, value) e->refused |=
        json_is_string(value) &&
        !utf8_is_valid(json_string_value(value), json_string_length(value), NULL);
    return !e->refused ||
           exchange_error(e, 400, "Invalid request: it is not UTF-8 without NUL");
}

bool parameters_read(const OptionGroup *group, const json_t *request, Error *error)
{
    bool good = true;
    for (int i = 0; good && i < group->count; i++) {
        char key[32];
        snprintf(key, sizeof key, "%s", group->options[i].name);
        for (char *at = key; *at; at++) *at = *at == '-' ? '_' : *at;
        const json_t *value = json_object_get(request, key);
        if (!value) value = json_object_get(request, group->options[i].name);  // as errors say
        if (!value || json_is_null(value)) continue;
        char *other = json_is_string(value)
                          ? NULL
                          : json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(9));
        const char *text = other ? other : json_string_value(value);
        good = text ? options_set(group, 1, group->options[i].name, text, error)
                    : error_memory(error, "for a request");
        free(other);
    }
    return good;
}

static enum MHD_Result on_request(void *context, struct MHD_Connection *connection,
                                  const char *path, const char *method, const char *version,
                                  const char *bytes, size_t *length, void **exchange)
{
    Server *server = context;
    Exchange *e = *exchange;
    (void)version;
    if (!e) {
        *exchange = e = calloc(1, sizeof *e);
        if (!e) return MHD_NO;
        *e = (Exchange){
            .server = server, .connection = connection, .method = method, .path = path};
        server->open++;
        begin(e);
        if (!e->refused) return MHD_YES;
    } else if (*length) {
        bool good = keep(e, bytes, *length);
        *length = 0;
        return good ? MHD_YES : MHD_NO;
    }
    if (!e->waits) {
        if (server->ending) exchange_error(e, 503, "The server is ending");
        else if (read_parameters(e)) server->handle(e, server->context);
        if (e->waits) return MHD_YES;  // to be called again, when the other thread has answered
    }
    return e->response ? MHD_queue_response(connection, (unsigned)e->status, e->response)
                       : MHD_NO;
}

static void write_log(const Exchange *e)
{
    time_t now = time(NULL);
    struct tm utc;
    char time[32];
    strftime(time, sizeof time, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    JsonWriter json = {.out = e->server->log, .lines = true};
    flockfile(e->server->log);
    json_open(&json, NULL);
    json_put_text(&json, "time", time);
    json_put_text(&json, "method", e->method);
    json_put_text(&json, "path", e->path);
    json_put_integer(&json, "status", e->status);
    if (e->pair) json_put_text(&json, "pair", e->pair);
    json_put_integer(&json, "characters", e->characters);
    json_put_digits(&json, "milliseconds", 1e3 * (clock_seconds() - e->begin), 2);
    json_close(&json);
    fflush(e->server->log);
    funlockfile(e->server->log);
}

static void on_end(void *context, struct MHD_Connection *connection, void **exchange,
                   enum MHD_RequestTerminationCode why)
{
    Exchange *e = *exchange;
    (void)context, (void)connection, (void)why;
    if (!e) return;
    if (e->server->log && e->status) write_log(e);
    if (e->response) MHD_destroy_response(e->response);
    json_decref(e->request);
    e->server->open--;
    free(e->body);
    free(e);
    *exchange = NULL;
}

/* ---- the server ---- */

/* Starts to listen and to read requests; *port (=) the port. NULL on error */
static struct MHD_Daemon *listen_at(Server *server, int *port, Error *error)
{
    const ServeSettings *settings = server->settings;
    char number[16];
    struct addrinfo *found = NULL;
    const struct addrinfo hints = {.ai_flags = AI_PASSIVE | AI_NUMERICSERV,
                                   .ai_socktype = SOCK_STREAM};
    snprintf(number, sizeof number, "%d", settings->port);
    int why = getaddrinfo(settings->address, number, &hints, &found);
    if (why)
        return error_set(error, "--address %s: %s", settings->address, gai_strerror(why)), NULL;
    unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME;
    if (found->ai_family == AF_INET6) flags |= MHD_USE_DUAL_STACK;
    struct MHD_Daemon *daemon =
        MHD_start_daemon(flags, 0, NULL, NULL, on_request, server, MHD_OPTION_SOCK_ADDR,
                         found->ai_addr, MHD_OPTION_NOTIFY_COMPLETED, on_end, NULL,
                         MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS,
                         MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)SECONDS, MHD_OPTION_END);
    int reason = errno;
    freeaddrinfo(found);
    if (daemon) *port = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT)->port;
    else
        error_set(error, "cannot listen at %s, port %d: %s%s", settings->address,
                  settings->port, strerror(reason),
                  reason == EADDRINUSE ? "; --port N names another port"
                  : reason == EAGAIN ? ": allow more memory (ulimit -v) or threads (ulimit -u)"
                                     : "");
    return daemon;
}

static FILE *open_log(const ServeSettings *settings, Error *error)
{
    if (!strcmp(settings->log, "-")) return stderr;
    int flags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC;
    int fd = open(settings->log, flags | O_NONBLOCK, 0666);
    FILE *log = fd >= 0 && !fcntl(fd, F_SETFL, flags) ? fdopen(fd, "a") : NULL;
    if (!log)
        error_set(error, "cannot write '%s': %s", settings->log,
                  errno == ENXIO ? "it is a pipe that nobody reads" : strerror(errno));
    if (!log && fd >= 0) close(fd);
    return log;
}

bool server_reopen_log(Server *server, Error *error)
{
    if (!server->log || server->log == stderr) return true;
    FILE *log = open_log(server->settings, error);
    if (!log) return false;
    dup3(fileno(log), fileno(server->log), O_CLOEXEC);  // each line was flushed
    fclose(log);
    return true;
}

Server *server_start(const ServeSettings *settings, void (*handle)(Exchange *, void *),
                     void *context, int *port, Error *error)
{
    struct rlimit files;
    Server *server = calloc(1, sizeof *server);
    if (!server) return error_memory(error, "to serve"), NULL;
    server->settings = settings, server->handle = handle, server->context = context;
    bool good = !settings->log || (server->log = open_log(settings, error));
    if (!getrlimit(RLIMIT_NOFILE, &files))
        files.rlim_cur = files.rlim_max, setrlimit(RLIMIT_NOFILE, &files);
    if (good && (server->daemon = listen_at(server, port, error))) return server;
    server_stop(server);
    return NULL;
}

void server_quiesce(Server *server)
{
    int fd = MHD_quiesce_daemon(server->daemon);
    if (fd >= 0) close(fd);
    server->ending = true;
}

void server_stop(Server *server)
{
    for (double end = clock_seconds() + LAST_SECONDS; server->open && clock_seconds() < end;)
        usleep(10000);
    if (server->daemon) MHD_stop_daemon(server->daemon);
    if (server->log && server->log != stderr) fclose(server->log);
    free(server);
}
