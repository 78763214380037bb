/* generate.c -- writes the man pages and the shell completion of the two programs from their
 * option tables. make runs it; it is not installed.
 *
 *     generate FILE >OUT
 *
 *     qkv-train.1, qkv-translate.1      the page, from manual/FILE.in, where a line @options@
 *                                       becomes the OPTIONS and @presets@ the presets
 *     qkv-train.bash, .zsh, .fish, …    completion for that shell
 *     any other                         manual/FILE.in
 *
 * In any manual/FILE.in @version@ becomes the version. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/options.h"
#include "commands/train/presets.h"
#include "commands/train/settings.h"
#include "commands/translate/request.h"
#include "manual/completion.h"
#include "manual/roff.h"

static const char *const SHELLS[] = {
    [SHELL_BASH] = "bash", [SHELL_ZSH] = "zsh", [SHELL_FISH] = "fish"};
enum { SHELL_COUNT = sizeof SHELLS / sizeof *SHELLS };

/* ---- pages ---- */

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
static bool write_page(FILE *out, const char *name, const CompletedProgram *program,
                       Error *error)
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

/* ---- files ---- */

static bool write_file(FILE *out, const char *name, const CompletedProgram *program,
                       int programs, Error *error)
{
    for (int p = 0; p < programs; p++) {
        size_t length = strlen(program[p].name);
        if (strncmp(name, program[p].name, length) || name[length] != '.') continue;
        for (int s = 0; s < SHELL_COUNT; s++)
            if (!strcmp(name + length + 1, SHELLS[s]))
                return completion_write(out, (Shell)s, &program[p]) ||
                       error_memory(error, "for %s", name);
        return write_page(out, name, &program[p], error);
    }
    return write_page(out, name, NULL, error);
}

int main(int argc, char **argv)
{
    static Settings settings;
    static Request request;
    Error error = {"usage: generate FILE >OUT"};
    settings_documented(&settings);
    bool good = argc == 2 && request_defaults(&request, &error);
    const CompletedProgram programs[] = {
        {"qkv-train", "train", NULL, settings.groups, SETTINGS_GROUPS},
        {"qkv-translate", "translate", "TEXT", request.groups, REQUEST_GROUPS},
    };
    good = good && write_file(stdout, argv[1], programs, 2, &error) &&
           stream_flush(stdout, argv[1], &error);
    if (!good) fprintf(stderr, "generate: %s\n", error.text);
    request_free(&request);
    settings_free(&settings);
    return good ? 0 : 1;
}
