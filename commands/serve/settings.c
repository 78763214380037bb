/* settings.c -- the options of ./serve; see settings.h. */
#include "commands/serve/settings.h"

#include "commands/command.h"

#define FIELD(name) offsetof(ServeSettings, name)

// clang-format off
static const Option serve_options[] = {
    {"model", OPTION_LIST, FIELD(model), 0, 0, NULL, "[en-fr=]PATH",
     "a checkpoint or the folder of a run, and the languages that it translates from and to; several "
     "times for several pairs", OPTION_COMMON},
    {"int8", OPTION_FLAG, FIELD(int8), 0, 0, NULL, NULL,
     "quantise the weights: about twice as fast", OPTION_COMMON},
    {"address", OPTION_TEXT, FIELD(address), 0, 0, NULL, "ADDRESS",
     "the address to listen on; 0.0.0.0 or :: are all of this machine", OPTION_COMMON},
    {"port", OPTION_INT, FIELD(port), 0, 65535, NULL, NULL,
     "the port to listen on; 0: any that is free", OPTION_COMMON},
    {"threads", OPTION_INT, FIELD(threads), 0, 1024, NULL, NULL,
     "threads that translate; 0: one for each processor", OPTION_COMMON},
    {"api-keys", OPTION_TEXT, FIELD(api_keys), 0, 0, NULL, "FILE",
     "answer only requests whose api_key is a line of FILE", OPTION_COMMON},
    {"cors", OPTION_TEXT, FIELD(cors), 0, 0, NULL, "ORIGIN",
     "let pages of another site call this server: https://example.org, or * for all", 0},
    {"log", OPTION_TEXT, FIELD(log), 0, 0, NULL, "FILE",
     "append a line of JSON for each request, without its text; - is standard error", 0},
    {"limit-characters", OPTION_INT, FIELD(most_characters), 1, 1 << 30, NULL, NULL,
     "the longest text of a request, in characters", 0},
    {"limit-body", OPTION_INT, FIELD(most_body), 1, 1 << 20, NULL, NULL,
     "the longest body of a request, in kilobytes", 0},
    {"limit-waiting", OPTION_INT, FIELD(most_waiting), 1, 1 << 20, NULL, NULL,
     "requests that wait; more are answered 503", 0},
    {"limit-rate", OPTION_INT, FIELD(most_requests), 0, 1 << 30, NULL, NULL,
     "requests a minute of an address or API key; more are answered 429; 0: no limit", 0},
    {"quiet", OPTION_FLAG, FIELD(quiet), 0, 0, NULL, NULL, "print errors only",
     OPTION_COMMON | OPTION_LETTER},
    {"h", OPTION_FLAG, FIELD(short_help), 0, 0, NULL, NULL, "print the most used options", 0},
    {"help", OPTION_FLAG, FIELD(help), 0, 0, NULL, NULL, "print all options", OPTION_COMMON},
    {"version", OPTION_FLAG, FIELD(version), 0, 0, NULL, NULL, "print the version", OPTION_LETTER},
};
// clang-format on

bool serve_defaults(ServeSettings *s, Error *error)
{
    *s = (ServeSettings){.port = 5000,
                         .most_characters = 1000000,
                         .most_body = 8192,
                         .most_waiting = 1000,
                         .search = search_copying};
    int own = sizeof serve_options / sizeof *serve_options;
    const OptionGroup groups[] = {
        {"Serving", NULL, serve_options, own, s},
        {"Texts", NULL, passage_options, passage_option_count, &s->passage},
        {"Searching", NULL, search_options + 1, search_option_count - 1, &s->search}};
    memcpy(s->groups, groups, sizeof groups);
    return options_set(s->groups, SERVE_GROUPS, "model", "checkpoints/toy", error) &&
           options_set(s->groups, SERVE_GROUPS, "address", "127.0.0.1", error);
}

/* Whether browsers write an origin so: without a path, and in small letters. */
static bool is_origin(const char *text)
{
    const char *host = strstr(text, "://");
    return !strcmp(text, "*") || !strcmp(text, "null") ||
           (host && host[3] && !strpbrk(host + 3, "/, \r\nABCDEFGHIJKLMNOPQRSTUVWXYZ"));
}

bool serve_read(ServeSettings *s, int argc, char *const *argv, Error *error)
{
    bool shipped;
    return serve_defaults(s, error) &&
           options_parse(s->groups, SERVE_GROUPS, argc, argv, NULL, error) &&
           command_find_model(&shipped, &s->model, s->groups, SERVE_GROUPS, argc, argv,
                              error) &&
           (!s->cors || is_origin(s->cors) ||
            error_set(error,
                      "--cors takes one origin as browsers write it, https://example.org, "
                      "or * for all, not '%s'",
                      s->cors)) &&
           search_check(&s->search, error);
}
