/* idlines.c -- lines of text as token ids; see idlines.h. */
#include "inference/idlines.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/grow.h"
#include "data/words.h"

/* Appends the unknown token at `row`, bytes begin .. end-1 of the line's text. */
static bool add_unknown(IdLines *lines, const Tokenizer *tokenizer, int row, const char *text,
                        size_t begin, size_t end)
{
    bool word = begin == 0 || tokenizer_type(tokenizer) == TOKENIZER_WORD;
    for (; begin < end && (text[begin] == ' ' || text[begin] == '\t'); begin++) word = true;
    while (end > begin && (text[end - 1] == ' ' || text[end - 1] == '\t')) end--;
    size_t size = end - begin + 2;
    if (!GROW(lines->unknown, lines->unknown_size, (size_t)lines->unknowns + 1)) return false;
    char *copy = malloc(size);
    if (!copy) return false;
    snprintf(copy, size, "%s%.*s", word ? " " : "", (int)(end - begin), text + begin);
    lines->unknown[lines->unknowns++] = (Unknown){row, copy};
    return true;
}

/* Appends the unknown tokens among the last line's, rows first .. ids.count-1. */
static bool find_unknown(IdLines *lines, const Tokenizer *tokenizer, size_t first,
                         const char *text, size_t length, Error *error)
{
    size_t count = lines->ids.count, t = first;
    while (t < count && lines->ids.id[t] != ID_UNKNOWN) t++;
    if (t == count) return true;
    Ids begin = {0};
    bool good = tokenizer_begins(tokenizer, &begin, text, length, error);
    for (; good && t < count; t++) {
        if (lines->ids.id[t] != ID_UNKNOWN) continue;
        size_t next = t - first + 1, from = (size_t)begin.id[t - first];
        size_t to = next < begin.count ? (size_t)begin.id[next] : length;
        good = add_unknown(lines, tokenizer, (int)t, text, from, to) ||
               error_set(error, "not enough memory for an unknown word");
    }
    free(begin.id);
    return good;
}

/* Grows all lists for a line that ends at row `rows`. */
static bool reserve(IdLines *lines, size_t rows)
{
    return GROW(lines->ids.id, lines->ids.size, rows) &&
           GROW(lines->start, lines->start_size, (size_t)lines->count + 2) &&
           (!lines->find_words || GROW(lines->word, lines->word_size, rows));
}

bool idlines_add(IdLines *lines, const Tokenizer *tokenizer, int max_length, const char *text,
                 size_t length, size_t *cut, Error *error)
{
    size_t first = lines->ids.count, most = (size_t)max_length - 1;
    if (!tokenizer_encode(tokenizer, &lines->ids, text, length, error)) return false;
    size_t tokens = lines->ids.count - first, kept = tokens > most ? most : tokens;
    size_t end = lines->ids.count = first + kept;
    if (cut) *cut = tokens > most ? tokens : 0;
    if (end >= INT_MAX) return error_set(error, "too much text at once");
    if (!reserve(lines, end + 1))
        return error_set(error, "not enough memory for %d lines", lines->count);
    if (lines->find_words) {
        lines->word[end] = -1;  // of </s>
        if (!words_of_text(lines->word + first, &lines->words, tokenizer, text, length,
                           (int)kept, error))
            return false;
    }
    if (lines->find_unknown && !find_unknown(lines, tokenizer, first, text, length, error))
        return false;
    lines->ids.id[lines->ids.count++] = ID_END;
    lines->start[0] = 0;
    lines->start[++lines->count] = (int)lines->ids.count;
    return true;
}

Packed idlines_packed(const IdLines *lines)
{
    return (Packed){lines->count, lines->start[lines->count], lines->ids.id, lines->start};
}

void idlines_clear(IdLines *lines)
{
    lines->ids.count = 0;
    lines->count = 0;
    while (lines->unknowns) free(lines->unknown[--lines->unknowns].text);
}

void idlines_free(IdLines *lines)
{
    idlines_clear(lines);
    free(lines->ids.id);
    free(lines->start);
    free(lines->word);
    free(lines->unknown);
    *lines = (IdLines){0};
}
