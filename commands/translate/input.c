/* input.c -- the lines that ./translate reads; see input.h. */
#include "commands/translate/input.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/grow.h"
#include "base/utf8.h"
#include "commands/command.h"

enum { MOST_LINES = 10, MOST_WORDS = 10 };  // of unknown words that are named
enum { MOST_AHEAD = 100 };                  // lines by which input_is_pairs decides

/* A text that names a file was probably meant as one. */
static void hint_at_files(const StringList *texts, FILE *news)
{
    struct stat about;
    for (int i = 0; i < texts->count; i++)
        if (!stat(texts->item[i], &about) &&
            (S_ISREG(about.st_mode) || S_ISFIFO(about.st_mode)))
            command_say(news, "'%s' is a file: to translate its lines, %stranslate <%s",
                        texts->item[i], command_prefix(), texts->item[i]);
}

bool input_open(Input *input, const Request *r, FILE *news, Error *error)
{
    bool reads = !r->texts.count;
    *input = (Input){.texts = &r->texts, .news = news};
    hint_at_files(&r->texts, news);
    input->prompt = reads && news && isatty(STDIN_FILENO) && isatty(fileno(news));
    bool good = (!reads || text_open(&input->reader, "-", error)) &&
                (!r->target || text_open(&input->target, r->target, error)) &&
                (!r->gold || text_open(&input->gold, r->gold, error));
    input->reader.replace = input->target.replace = r->invalid == TEXT_REPLACE;
    input->gold.strict = true;
    return good;
}

void input_close(Input *input)
{
    text_close(&input->reader);
    text_close(&input->target);
    text_close(&input->gold);
    strings_free(&input->ahead);
    free(input->paragraph);
}

static bool is_blank(const char *line)
{
    return !line[strspn(line, " \t\r")];
}

/* Reads a line of standard input, after a prompt if it is a terminal. */
static TextResult read_line(Input *input, const char **line, size_t *length, Error *error)
{
    if (input->prompt) fputs("> ", input->news), fflush(input->news);
    TextResult result = text_next(&input->reader, line, length, error);
    if (input->prompt && (result == TEXT_END || file_stop)) fputc('\n', input->news);
    bool open = input->fence.count;
    input->code = result == TEXT_LINE && fence_next(&input->fence, *line, *length);
    if (input->code && !open) input->fence_line = (long long)input->reader.line;
    return result;
}

/* Reads lines up to an empty one, or one of a block of code, which is the text after it. */
static TextResult read_paragraph(Input *input, const char **line, size_t *length, Error *error)
{
    size_t end = 0;
    TextResult result = TEXT_LINE;
    if (input->after) {
        input->line = (long long)input->reader.line;
        *line = input->after, *length = input->after_length;
        input->after = NULL, input->code = input->fence.count;
        return TEXT_LINE;
    }
    while ((result = read_line(input, line, length, error)) == TEXT_LINE) {
        bool alone = input->code || is_blank(*line);
        if (!end) input->line = (long long)input->reader.line;
        if (alone && !end) return TEXT_LINE;
        if (!GROW(input->paragraph, input->paragraph_size, end + *length + 2))
            return error_memory(error, "for a paragraph"), TEXT_ERROR;
        char *to = input->paragraph + end + (end > 0);
        memcpy(to, *line, *length + 1);
        input->code = false;
        if (alone) {
            input->after = to, input->after_length = *length;
            break;
        }
        if (end) input->paragraph[end++] = '\n';
        end += *length;
    }
    *line = input->paragraph, *length = end;
    return end && result == TEXT_END ? TEXT_LINE : result;
}

static TextResult next_line(Input *input, const char **line, size_t *length, Error *error)
{
    size_t bad;
    if (!input->texts->count)
        return (input->wrapped ? read_paragraph : read_line)(input, line, length, error);
    if (input->lines == input->texts->count) return TEXT_END;
    *line = input->texts->item[input->lines];
    *length = strlen(*line);
    if (utf8_is_valid(*line, *length, &bad)) return TEXT_LINE;
    if (input->reader.replace)
        return text_replace(&input->reader, line, length, error) ? TEXT_LINE : TEXT_ERROR;
    error_set(error, "text %lld is not valid UTF-8 (byte %zu)", input->lines + 1, bad + 1);
    return TEXT_ERROR;
}

/* The columns of a line, with a TAB or else with " ||| " between them. */
static bool pair_columns(Input *input, const char *line, size_t *length, const char **second,
                         size_t *second_length)
{
    bool tab = text_columns(line, length, "\t", second, second_length);
    bool both = tab || text_columns(line, length, " ||| ", second, second_length);
    if (both && !input->mark) input->mark = tab ? "TAB" : "|||";
    return both;
}

TextResult input_next(Input *input, const char **line, size_t *length, Error *error)
{
    TextResult result = TEXT_LINE;
    if (input->again < input->ahead.count)
        *line = input->ahead.item[input->again++], *length = strlen(*line);
    else result = next_line(input, line, length, error);
    if (file_stop && result == TEXT_ERROR) result = TEXT_END;
    if (result != TEXT_LINE) return result;
    input->lines++;
    if (!input->wrapped || input->texts->count) input->line = input->lines;
    const char *second;
    size_t first_length = *length, second_length;
    if (input->sources && pair_columns(input, *line, &first_length, &second, &second_length)) {
        input->sources = false;
        progressbar_clear(&input->bar);
        command_say(
            input->news,
            "line %lld has a %s, but the first line has none: all are translated; pairs "
            "to align have one in each line",
            input->lines, input->mark);
    }
    return TEXT_LINE;
}

bool input_ready(Input *input)
{
    return input->texts->count || (!input->prompt && text_ready(&input->reader));
}

double input_share(const Input *input)
{
    struct stat about;
    if (input->texts->count || fstat(STDIN_FILENO, &about) || !S_ISREG(about.st_mode))
        return -1;
    double read = (double)lseek(STDIN_FILENO, 0, SEEK_CUR);
    double waiting = (double)(input->reader.end - input->reader.begin);
    return fmin(fmax((read - waiting) / (double)about.st_size, 0), 1);
}

/* ---- unknown words ---- */

void input_warn_unknown(Input *input, const StringList *words, const char *what)
{
    char number[NUMBER_TEXT];
    FILE *news = input->news;
    if (!news || !words->count || ++input->unknown_lines > MOST_LINES) return;
    progressbar_clear(&input->bar);
    fprintf(news, "%s: ", command_name());
    if (input->lines && input->texts->count != 1)
        fprintf(news, "%s %lld%s", input->texts->count ? "text" : "line", input->line,
                what ? ", " : ": ");
    fprintf(news, "%s%snot in this model's vocabulary", what ? what : "", what ? ": " : "");
    for (int w = 0; w < words->count && w < MOST_WORDS; w++) {
        char word[81];
        bool whole = utf8_fit(word, sizeof word, words->item[w]);
        fprintf(news, "%s %s%s", w ? "," : ":", word, whole ? "" : "…");
    }
    if (words->count > MOST_WORDS)
        fprintf(news, ", and %s more", number_text(number, words->count - MOST_WORDS));
    fputc('\n', news);
}

bool input_warn_line(Input *input, const IdLines *lines, const char *what, Error *error)
{
    StringList words = {0};
    bool good = unknown_words(&words, lines, lines->count - 1, lines->count, error);
    if (good) input_warn_unknown(input, &words, what);
    strings_free(&words);
    return good;
}

void input_end(Input *input)
{
    long long more = input->unknown_lines - MOST_LINES;
    progressbar_clear(&input->bar);
    if (more > 0)
        command_say(input->news, "%lld more line%s words that are not in the vocabulary", more,
                    more == 1 ? " has" : "s have");
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

bool partner_end(TextReader *reader, const char *what, Error *error)
{
    size_t lines = reader->line;
    const char *line;
    size_t length;
    TextResult result = reader->name ? text_next(reader, &line, &length, error) : TEXT_END;
    if (result == TEXT_LINE)
        error_set(error, "'%s' has more lines than the %zu %s: they must match line by line",
                  reader->name, lines, what);
    return result == TEXT_END;
}

bool input_is_pairs(Input *input, bool *pairs, Error *error)
{
    const char *line = "", *second;
    size_t length, second_length;
    TextResult result = TEXT_LINE;
    *pairs = input->target.name;
    while (!*pairs && is_blank(line) && input->ahead.count < MOST_AHEAD) {
        result = next_line(input, &line, &length, error);
        if (result != TEXT_LINE) break;
        if (!strings_add(&input->ahead, line, error)) return false;
        *pairs = pair_columns(input, line, &length, &second, &second_length);
        input->lines++;
    }
    input->lines = 0;
    input->sources = !*pairs;
    return result != TEXT_ERROR || file_stop;
}

TextResult input_next_columns(Input *input, const char *line[SIDES], size_t length[SIDES],
                              bool *both, Error *error)
{
    TextResult result = input_next(input, &line[SOURCE], &length[SOURCE], error);
    if (result != TEXT_LINE) return result;
    bool columns = !input->target.name;
    bool good =
        columns
            ? pair_columns(input, line[SOURCE], &length[SOURCE], &line[TARGET], &length[TARGET])
            : partner_next(&input->target, &line[TARGET], &length[TARGET], "sources", error);
    if (both) *both = good;
    if (good || (columns && both && (input->mark || is_blank(line[SOURCE])))) return TEXT_LINE;
    if (columns)
        error_set(error,
                  "line %lld has no %s: give source TAB target, source ||| target, or the "
                  "targets by --target",
                  input->lines, input->mark ? input->mark : "TAB");
    return TEXT_ERROR;
}

TextResult input_next_pair(Input *input, const Bundle *bundle, IdLines *source, IdLines *target,
                           bool *left_out, Error *error)
{
    IdLines *lines[SIDES] = {source, target};
    const char *line[SIDES];
    size_t length[SIDES], cut[SIDES];
    bool both;
    TextResult result = input_next_columns(input, line, length, &both, error);
    for (int side = 0; result == TEXT_LINE && side < SIDES; side++)
        if (!bundle_encode(bundle, (CorpusSide)side, lines[side], line[side], length[side],
                           &cut[side], error) ||
            !input_warn_line(input, lines[side], side == TARGET ? "target" : NULL, error))
            return TEXT_ERROR;
    if (result != TEXT_LINE) return result;
    *left_out = !both || cut[SOURCE] || cut[TARGET];
    if (!both)
        command_say(input->news, "line %lld has no %s: left out", input->lines,
                    input->mark ? input->mark : "TAB");
    else if (*left_out)
        command_say(input->news,
                    "line %lld has %zu tokens on the %s side, and the model takes %d: left out",
                    input->lines, cut[SOURCE] ? cut[SOURCE] : cut[TARGET],
                    cut[SOURCE] ? "source" : "target", bundle->max_length - 1);
    return TEXT_LINE;
}

bool input_next_gold(Input *input, Links *links, bool *left_out, int sources, int targets,
                     Error *error)
{
    const char *line;
    size_t length;
    char where[300];
    TextReader *gold = &input->gold;
    if (!partner_next(gold, &line, &length, "sources", error)) return false;
    snprintf(where, sizeof where, "%.250s:%zu", gold->name, gold->line);
    *left_out = !links_read(links, line, where, sources, targets, error);
    if (*left_out && gold->line > 1) command_say(stderr, "%s: left out", error->text);
    if (!*left_out) input->gold_links += links->count;
    return !*left_out || gold->line > 1;
}

bool input_end_pairs(Input *input, Error *error)
{
    if (!partner_end(&input->target, "sources", error) ||
        !partner_end(&input->gold, "sources", error))
        return false;
    return !input->gold.line || input->gold_links ||
           error_set(error, "'%s' has no links: a line is such as \"0-0 1-2\"",
                     input->gold.name);
}
