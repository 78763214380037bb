/* console.c -- what ./train prints on standard error; see console.h. */
#include "commands/train/console.h"

#include "base/clock.h"
#include "base/columns.h"
#include "base/utf8.h"
#include "commands/command.h"

ProgressBar console_bar;

void console_start(bool quiet)
{
    console_bar = progressbar_start(quiet ? NULL : stderr, clock_seconds());
}

void console_stage(const char *format, ...)
{
    char text[160];
    va_list arguments;
    if (!console_bar.terminal) return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    console_bar.shown = 0;  // draw it at once
    if (!progressbar_begin(&console_bar, clock_seconds())) return;
    progressbar_add(&console_bar, "%s", text);
    progressbar_end(&console_bar);
}

void console_say(const char *format, ...)
{
    if (!console_bar.out) return;
    va_list arguments;
    va_start(arguments, format);
    progressbar_clear(&console_bar);
    utf8_vprint(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
}

void console_cut(const char *left, const char *text, size_t length)
{
    char *line = NULL;
    if (!console_bar.out || asprintf(&line, "%s%.*s", left, (int)length, text) < 0) return;
    int width = columns_width(line), most = columns_of(stderr, 100);
    columns_put(stderr, line, width < most ? width : most, false);
    fputc('\n', stderr);
    free(line);
}

void console_error(const char *kind, const Error *error, const char *after)
{
    progressbar_clear(&console_bar);
    fprintf(stderr, "%s: %s%s%s\n", command_name(), kind, error->text, after);
}
