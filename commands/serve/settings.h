/* settings.h -- the options of ./serve. */
#pragma once

#include "base/options.h"
#include "inference/passage.h"
#include "inference/search.h"

enum { SERVE_GROUPS = 3 };

typedef struct ServeSettings {
    StringList model;  // "en-fr=DIR", or a path
    char *address, *api_keys, *cors, *log;
    int port, threads, most_characters, most_body, most_waiting, most_requests;
    bool int8, quiet, help, short_help, version;
    PassageConfig passage;
    SearchConfig search;
    OptionGroup groups[SERVE_GROUPS];
} ServeSettings;

/* Sets the defaults, for options_free. The groups point into the settings, which must not be moved. */
bool serve_defaults(ServeSettings *settings, Error *error);

/* Sets the defaults, then reads the command line. False: wrong usage (exit status 2). */
bool serve_read(ServeSettings *settings, int argc, char *const *argv, Error *error);
