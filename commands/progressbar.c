/* progressbar.c -- see progressbar.h. */
#include "commands/progressbar.h"

#include "base/columns.h"

#include <unistd.h>

enum { WIDTH = 20, TEXT = 28, COLUMNS = 80 };  // of the bar; of what stands beside it; default
static const double REDRAW = 0.2, LINE = 10;   // seconds between two lines

ProgressBar progressbar_start(FILE *out, double now)
{
    bool terminal = out && isatty(fileno(out));
    return (ProgressBar){.out = out, .terminal = terminal, .begin = now, .shown = now};
}

const char *number_text(char text[NUMBER_TEXT], double number)
{
    char digits[32];
    int length = snprintf(digits, sizeof digits, "%.0f", fmin(fmax(number, 0), 1e15)), n = 0;
    for (int i = 0; i < length; i++) {
        if (i && (length - i) % 3 == 0) text[n++] = ',';
        text[n++] = digits[i];
    }
    text[n] = 0;
    return text;
}

const char *duration_text(char text[DURATION_TEXT], double seconds)
{
    long s = lround(fmin(fmax(seconds, 0), 1e9));
    if (s < 60) snprintf(text, DURATION_TEXT, "%lds", s);
    else if (s < 3600) snprintf(text, DURATION_TEXT, "%ldm%02lds", s / 60, s % 60);
    else snprintf(text, DURATION_TEXT, "%ldh%02ldm", s / 3600, s / 60 % 60);
    return text;
}

/* ---- the line ---- */

bool progressbar_begin(ProgressBar *bar, double now)
{
    if (!bar->out || now - bar->shown < (bar->terminal ? REDRAW : LINE)) return false;
    bar->columns = columns_of(bar->out, COLUMNS);
    bar->shown = now;
    bar->line[0] = 0;
    return true;
}

void progressbar_add(ProgressBar *bar, const char *format, ...)
{
    size_t used = strlen(bar->line);
    va_list arguments;
    va_start(arguments, format);
    char *end = bar->line + used;
    if (used) end += snprintf(end, sizeof bar->line - used, "  ");
    vsnprintf(end, sizeof bar->line - (size_t)(end - bar->line), format, arguments);
    va_end(arguments);
    if (used && bar->terminal && columns_width(bar->line) >= bar->columns) bar->line[used] = 0;
}

void progressbar_share(ProgressBar *bar, double share, double left, bool at_most)
{
    char drawn[WIDTH + 4] = "", time[DURATION_TEXT + 16] = "", text[DURATION_TEXT];
    int width = bar->columns - TEXT < WIDTH ? bar->columns - TEXT : WIDTH;
    if (bar->terminal && width > 4)
        snprintf(drawn, sizeof drawn, " [%-*.*s]", width, (int)(share * width),
                 "####################");
    if (isfinite(left))
        snprintf(time, sizeof time, " %s%s left", at_most ? "at most " : "",
                 duration_text(text, left));
    progressbar_add(bar, "%3.0f%%%s%s", floor(100 * share), drawn, time);
}

void progressbar_end(ProgressBar *bar)
{
    int width = columns_width(bar->line);
    if (bar->terminal && width >= bar->columns) width = bar->columns - 1;
    if (bar->terminal) fputs("\r\033[K", bar->out);
    columns_put(bar->out, bar->line, width, false);
    if (!bar->terminal) fputc('\n', bar->out);
    fflush(bar->out);
}

void progressbar_clear(ProgressBar *bar)
{
    if (!bar->out) return;
    if (bar->terminal && bar->line[0]) fputs("\r\033[K", bar->out);
    bar->line[0] = 0;
    fflush(bar->out);
}
