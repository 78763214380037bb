/* console.c -- what ./train prints on standard error; see console.h. */
#include "commands/train/console.h"

#include "base/clock.h"
#include "base/columns.h"
#include "base/utf8.h"
#include "commands/command.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static ProgressBar bar;  // bar.out: NULL if quiet

void console_start(bool quiet)
{
    bar = progressbar_start(quiet ? NULL : stderr, clock_seconds());
}

void console_stage(const char *format, ...)
{
    char text[160];
    va_list arguments;
    if (!bar.terminal) return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    bar.shown = 0;  // draw it at once
    if (!progressbar_begin(&bar, clock_seconds())) return;
    progressbar_add(&bar, "%s", text);
    progressbar_end(&bar);
}

void console_say(const char *format, ...)
{
    if (!bar.out) return;
    va_list arguments;
    va_start(arguments, format);
    progressbar_clear(&bar);
    utf8_vprint(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
}

ProgressBar *console_bar(void)
{
    return &bar;
}

void console_cut(const char *left, const char *text, size_t length)
{
    char *line = NULL;
    if (!bar.out || asprintf(&line, "%s%.*s", left, (int)length, text) < 0) return;
    int width = columns_width(line), most = columns_of(stderr, 100);
    columns_put(stderr, line, width < most ? width : most, false);
    fputc('\n', stderr);
    free(line);
}

void console_error(const char *kind, const Error *error, const char *after)
{
    progressbar_clear(&bar);
    fprintf(stderr, "%s: %s%s%s\n", command_name(), kind, error->text, after);
}
