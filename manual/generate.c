/* generate.c -- writes the man pages, those of the programs from their option tables. make runs
 * it; it is not installed.
 *
 *     generate FILE >OUT                manual/FILE.in, in which @version@ becomes the version
 *     qkv-train.1, qkv-translate.1, qkv-serve.1      and a line @options@ the OPTIONS, @presets@ the presets */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/options.h"
#include "commands/serve/settings.h"
#include "commands/train/settings.h"
#include "commands/translate/request.h"
#include "manual/roff.h"

typedef struct Program {
    const char *page;
    const OptionGroup *groups;  // [count]
    int count;
} Program;

static void write_presets(FILE *out)
{
    for (int p = 0; p < PRESETS; p++) {
        fprintf(out, ".TP\n.B %s\n", preset_names[p]);
        manual_text(out, preset_purposes[p]);
    }
    fputs(".PP\n.EX\n", out);
    presets_print(out);
    fputs(".EE\n", out);
}

static void write_line(FILE *out, const char *line)
{
    static const char mark[] = "@version@";
    for (const char *found; (found = strstr(line, mark)); line = found + sizeof mark - 1)
        fprintf(out, "%.*s%s", (int)(found - line), line, QKV_VERSION);
    fputs(line, out);
}

/* Writes manual/NAME.in as a page; program NULL: without options and presets. */
static bool write_page(FILE *out, const char *name, const Program *program, Error *error)
{
    char path[256], *line = NULL;
    size_t size = 0;
    bool good = true;
    snprintf(path, sizeof path, "manual/%s.in", name);
    FILE *in = fopen(path, "r");
    if (!in) return error_set(error, "cannot read %s: %s", path, strerror(errno));
    while (good && getline(&line, &size, in) > 0) {
        if (program && !strcmp(line, "@options@\n"))
            good = manual_options(out, program->groups, program->count);
        else if (program && !strcmp(line, "@presets@\n")) write_presets(out);
        else write_line(out, line);
    }
    if (!good) error_memory(error, "for %s", name);
    if (good && ferror(in))
        good = error_set(error, "cannot read %s: %s", path, strerror(errno));
    free(line);
    fclose(in);
    return good;
}

int main(int argc, char **argv)
{
    static Settings settings;
    static Request request;
    static ServeSettings serve;
    Error error = {"usage: generate FILE >OUT"};
    settings_documented(&settings);
    bool good =
        argc == 2 && request_defaults(&request, &error) && serve_defaults(&serve, &error);
    const Program programs[] = {{"qkv-train.1", settings.groups, SETTINGS_GROUPS},
                                {"qkv-translate.1", request.groups, REQUEST_GROUPS},
                                {"qkv-serve.1", serve.groups, SERVE_GROUPS}};
    const Program *program = NULL;
    for (int p = 0; good && p < 3; p++)
        if (!strcmp(argv[1], programs[p].page)) program = &programs[p];
    good = good && write_page(stdout, argv[1], program, &error) &&
           stream_flush(stdout, argv[1], &error);
    if (!good) fprintf(stderr, "generate: %s\n", error.text);
    request_free(&request);
    options_free(serve.groups, SERVE_GROUPS);
    settings_free(&settings);
    return good ? 0 : 1;
}
