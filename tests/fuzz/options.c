/* options.c -- fuzzes the command lines of both programs: one word a line. */
#include "commands/train/settings.h"
#include "commands/translate/request.h"

#include "tests/fixtures/fuzz.h"

enum { WORDS = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static Settings settings;
    static Request request;
    char *text = strndup((const char *)data, size), *argv[WORDS + 2] = {"train"};
    int argc = 1;
    for (char *word, *rest = text; argc <= WORDS && (word = strsep(&rest, "\n"));)
        argv[argc++] = word;
    bool good = settings_read(&settings, argc, argv, &error);
    options_name_in_error(settings.groups, SETTINGS_GROUPS, &error);
    if (accepted(good)) free(options_help(settings.groups, SETTINGS_GROUPS, false));
    settings_free(&settings);
    good = request_read(&request, argc, argv, &error);
    options_name_in_error(request.groups, REQUEST_GROUPS, &error);
    if (accepted(good)) free(options_help(request.groups, REQUEST_GROUPS, false));
    request_free(&request);
    free(text);
    return 0;
}
