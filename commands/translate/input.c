/* input.c -- the lines that ./translate reads; see input.h. */
#include "commands/translate/input.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool input_open(Input *input, const StringList *texts, FILE *prompt, Error *error)
{
    *input = (Input){.texts = texts, .reader = {.descriptor = -1}};
    if (texts->count) return true;
    struct stat about;
    if (fstat(STDIN_FILENO, &about) == 0 && S_ISREG(about.st_mode))
        input->size = (double)about.st_size;
    if (prompt && isatty(STDIN_FILENO) && isatty(fileno(prompt))) input->prompt = prompt;
    return text_open_descriptor(&input->reader, STDIN_FILENO, "standard input", error);
}

static TextResult next_text(Input *input, const char **line, size_t *length, Error *error)
{
    if (input->next == input->texts->count) return TEXT_END;
    *line = input->texts->item[input->next++];
    *length = strlen(*line);
    size_t bad;
    if (text_is_utf8(*line, *length, &bad)) return TEXT_LINE;
    error_set(error, "text %d of the command line is not valid UTF-8 (byte %zu)", input->next,
              bad + 1);
    return TEXT_ERROR;
}

TextResult input_next(Input *input, const char **line, size_t *length, Error *error)
{
    if (input->prompt && !text_ready(&input->reader)) {
        fputs("> ", input->prompt);
        fflush(input->prompt);
    }
    TextResult result = input->texts->count ? next_text(input, line, length, error)
                                            : text_next(&input->reader, line, length, error);
    if (result == TEXT_LINE) input->lines++;
    if (result == TEXT_END && input->prompt) fputc('\n', input->prompt);
    return result;
}

bool input_ready(Input *input)
{
    return input->texts->count || text_ready(&input->reader);
}

double input_share(const Input *input)
{
    off_t read = input->size > 0 ? lseek(STDIN_FILENO, 0, SEEK_CUR) : -1;
    if (read < 0) return -1;
    double waiting = (double)(input->reader.end - input->reader.begin);
    double share = ((double)read - waiting) / input->size;
    return share < 0 ? 0 : share > 1 ? 1 : share;
}

/* ---- lines that go together ---- */

bool partner_next(TextReader *reader, const char **line, size_t *length, const char *what,
                  Error *error)
{
    TextResult result = text_next(reader, line, length, error);
    if (result == TEXT_END)
        error_set(
            error,
            "'%s' has only %zu lines, but there are more %s: they must match line by line",
            reader->name, reader->line, what);
    return result == TEXT_LINE;
}

bool partner_end(TextReader *reader, long long lines, const char *what, Error *error)
{
    const char *line;
    size_t length;
    TextResult result = text_next(reader, &line, &length, error);
    if (result == TEXT_LINE)
        error_set(error, "'%s' has more lines than the %lld %s: they must match line by line",
                  reader->name, lines, what);
    return result == TEXT_END;
}
