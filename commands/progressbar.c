/* progressbar.c -- see progressbar.h. */
#include "commands/progressbar.h"

#include "base/profile.h"

#include <math.h>
#include <string.h>

enum { WIDTH = 20, TEXT = 192 };
static const double INTERVAL = 0.2;  // seconds from one drawing to the next

ProgressBar progressbar_start(FILE *out)
{
    return (ProgressBar){.out = out, .begin = clock_seconds()};
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

static void put_line(char text[TEXT], double lines, double share, double seconds)
{
    char done[NUMBER_TEXT], rate[NUMBER_TEXT], left[DURATION_TEXT], bar[WIDTH + 1] = {0};
    number_text(done, lines);
    number_text(rate, seconds > 0 ? lines / seconds : 0);
    if (share < 0) {
        snprintf(text, TEXT, "%s lines, %s/s", done, rate);
        return;
    }
    int filled = (int)(share * WIDTH);
    memset(bar, ' ', WIDTH);
    memset(bar, '#', (size_t)(filled < WIDTH ? filled : WIDTH));
    duration_text(left, share > 0 ? seconds * (1 - share) / share : 0);
    snprintf(text, TEXT, "%3.0f%% [%s] %s lines, %s/s, %s left", 100 * share, bar, done, rate,
             left);
}

void progressbar_show(ProgressBar *bar, double lines, double share)
{
    double now = clock_seconds();
    if (!bar->out || now - bar->begin < INTERVAL || now - bar->shown < INTERVAL) return;
    char text[TEXT];
    bar->shown = now;
    put_line(text, lines, share, now - bar->begin);
    fprintf(bar->out, "\r\033[K%s", text);
    fflush(bar->out);
}

void progressbar_clear(ProgressBar *bar)
{
    if (bar->out && bar->shown > 0) fputs("\r\033[K", bar->out);
    if (bar->out) fflush(bar->out);
}
