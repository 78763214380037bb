/* columns.c -- text in a terminal; see columns.h. The widths are Unicode's East Asian Width
 * (UAX 11), from GLib; the directions are those of ICU. */
#include "base/columns.h"

#include <glib.h>
#include <sys/ioctl.h>
#include <unicode/uchar.h>

#include "base/utf8.h"

/* U+200E: a terminal that reorders text from right to left leaves alone what is beyond it. */
#define LEFT_TO_RIGHT "\xe2\x80\x8e"

static int width_of(unsigned code)
{
    if (!utf8_is_shown(code)) return 1;  // as U+FFFD
    if (g_unichar_iszerowidth(code)) return 0;
    return g_unichar_iswide(code) ? 2 : 1;
}

/* Whether a character of the first `length` bytes is written from right to left. */
static bool is_leftward(const char *text, size_t length)
{
    unsigned code;
    for (const char *end = text + length; text < end;) {
        text += utf8_next(text, &code);
        UCharDirection way = u_charDirection((UChar32)code);
        if (way == U_RIGHT_TO_LEFT || way == U_RIGHT_TO_LEFT_ARABIC || way == U_ARABIC_NUMBER)
            return true;
    }
    return false;
}

int columns_of(FILE *out, int otherwise)
{
    struct winsize size = {0};
    return ioctl(fileno(out), TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col
                                                                         : otherwise;
}

static int width_of_part(const char *text, size_t length)
{
    int width = 0;
    unsigned code;
    for (const char *end = text + length; text < end; width += width_of(code))
        text += utf8_next(text, &code);
    return width;
}

int columns_width(const char *text)
{
    return width_of_part(text, strlen(text));
}

/* Writes as much of the text as fits into `width` columns; returns the number of columns
 * written. */
static int put_some(FILE *out, const char *text, int width)
{
    int used = 0;
    unsigned code;
    while (*text) {
        int length = utf8_next(text, &code), needs = width_of(code);
        if (used + needs > width) break;
        if (utf8_is_shown(code) && code != 0xfffd) fwrite(text, 1, (size_t)length, out);
        else fputs("\xef\xbf\xbd", out);
        used += needs;
        text += length;
    }
    return used;
}

void columns_put(FILE *out, const char *text, int width, bool right)
{
    int needs = columns_width(text), used = 0;
    bool cut = needs > width;
    const char *mark = is_leftward(text, strlen(text)) ? LEFT_TO_RIGHT : "";
    for (; right && used < width - needs; used++) fputc(' ', out);
    fputs(mark, out);
    used += put_some(out, text, cut ? width - 1 : needs);
    if (cut) fputs("…", out), used++;
    fputs(mark, out);
    for (; used < width; used++) fputc(' ', out);
}

void columns_wrap(FILE *out, const char *text, int first, int indent, int width)
{
    int column = 0;
    fprintf(out, "%*s", *text ? first : 0, "");
    while (*text) {
        size_t length = strcspn(text, " ");
        int needs = width_of_part(text, length);
        bool full = column && column + 1 + needs > width - indent;
        if (full) fprintf(out, "\n%*s", indent, ""), column = 0;
        if (column) fputc(' ', out), column++;
        column += put_some(out, text, needs);
        const char *next = text + length + strspn(text + length, " ");
        if (is_leftward(text, length) && !is_leftward(next, strcspn(next, " ")))
            fputs(LEFT_TO_RIGHT, out);
        text = next;
    }
    fputc('\n', out);
}

void columns_say(FILE *out, int width, const char *format, ...)
{
    char text[4096];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    columns_wrap(out, text, 0, 0, width);
    fputc('\n', out);
}
