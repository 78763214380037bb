/* server.h -- HTTP, by libmicrohttpd: requests are read and answered by one thread, which never waits for
 * a translation. */
#pragma once

#include "base/json.h"
#include "commands/serve/service.h"

typedef struct Server Server;

/* A request and its answer. */
typedef struct Exchange {
    Server *server;
    const char *method, *path;
    json_t *request;      // its parameters: the body, JSON or a form, and the query
    char client[64];      // the address; behind a proxy on this machine, the one that it names
    const char *allowed;  // methods of the path, for status 405
    /* for the log */
    const char *pair;
    long long characters;
    /* private */
    struct MHD_Connection *connection;
    struct MHD_Response *response;
    char *body;
    size_t length, size;
    bool is_json, too_long, refused, waits;
    int status;
    double begin;
} Exchange;

/* Sets the options of a group that a request has, with `_` or `-`. A form has texts in place of numbers,
 * true and false, as JSON may have, too; null is nothing. */
bool parameters_read(const OptionGroup *group, const json_t *request, Error *error);

/* Each of these answers, once, on any thread. */
void exchange_answer(Exchange *exchange, int status, json_t *answer);  // takes the answer
bool exchange_error(Exchange *exchange, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));  // returns false
/* bytes: from malloc; takes them. NULL: there was no memory for them, which is status 500 */
void exchange_send(Exchange *exchange, int status, const char *type, char *bytes,
                   size_t length);

/* Says that another thread will answer. Call it before that thread can. */
void exchange_wait(Exchange *exchange);

/* Starts to listen; port (=) the port. handle answers a request, or sees to it. */
Server *server_start(const ServeSettings *settings,
                     void (*handle)(Exchange *exchange, void *context), void *context,
                     int *port, Error *error);

/* Goes on with the log in a new file, if the old one was moved away. */
bool server_reopen_log(Server *server, Error *error);

/* Answers what was begun, for at most some seconds after the last translation, and ends. */
void server_quiesce(Server *server);  // no new connections, and 503 for new requests
void server_stop(Server *server);
