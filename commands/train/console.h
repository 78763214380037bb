/* console.h -- standard error of ./train: lines, and a line of progress on a terminal.
 *
 * The progress line is that of commands/progressbar.h. A quiet console prints nothing but
 * errors. */
#pragma once

#include "base/error.h"
#include "commands/progressbar.h"

void console_start(bool quiet);

/* On a terminal: what the program does until the next line, "reading a.en …". */
void console_stage(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* One line, in place of the progress line if there is one. */
void console_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
#define console_warn(...) console_say("warning       " __VA_ARGS__)

/* A sentence after `left`, cut to the width of the terminal or to 100 columns. */
void console_cut(const char *left, const char *text, size_t length);

extern ProgressBar console_bar;  // out is NULL if quiet

/* "train: KIND ERROR AFTER", even if quiet; kind is "" or "warning: ". */
void console_error(const char *kind, const Error *error, const char *after);
