/* idlines.c -- lines of text as token ids; see idlines.h. */
#include "inference/idlines.h"

#include "base/grow.h"
#include "base/utf8.h"
#include "data/words.h"

/* ---- words ---- */

/* word [tokens] (=) the word of each of the last line's first tokens */
static bool find_words(IdLines *lines, int *word, int tokens, const char *text, size_t length,
                       Error *error)
{
    int *own = NULL;
    if (!lines->word_at &&
        !(own = words_number(&lines->words, text, length, lines->characters, error)))
        return false;
    const int *word_at = own ? own : lines->word_at;
    for (int i = 0; i < tokens; i++) {
        size_t at = (size_t)lines->begin.id[i];
        while (at < length && words_blank(text[at])) at++;
        word[i] = length ? word_at[at < length ? at : length - 1] : 0;
    }
    word[tokens] = length ? word_at[length - 1] + 1 : 0;  // of </s>
    free(own);
    return true;
}

/* Decodes the tokens up to each token; the token is part of the word of the whole text in which that
 * text ends. The end of that text may differ: the bytes of a character that is not complete become
 * U+FFFD, and a space before a mark may go or stay with the next token. Such a token is part of the
 * word that goes on, or begins, where they differ. A token of blanks only, as "▁" before a
 * placeholder, is part of the next one's word. */
bool words_of_ids(int *word, int *words, const Tokenizer *tokenizer, const int *id, int tokens,
                  const char *const *replacement, bool characters, Error *error)
{
    char *all = NULL, *part;
    *words = 0;
    if (tokens == 0) return true;
    if (!tokenizer_decode_replaced(tokenizer, &all, id, (size_t)tokens, replacement, error))
        return false;
    size_t length = strlen(all);
    int *word_at = words_number(words, all, length, characters, error);
    bool good = word_at;
    for (size_t i = 0, from = 0, blanks = 0; i < (size_t)tokens && good; i++) {
        good = tokenizer_decode_replaced(tokenizer, &part, id, i + 1, replacement, error);
        if (!good) break;
        size_t end = 0, last;
        while (part[end] && part[end] == all[end]) end++;
        while (words_blank(all[from])) from++;
        last = end;
        bool blank = from >= end && !part[end];
        if (part[end] || blank) {
            while (words_blank(all[last])) last++;
            last += last < length;
        }
        word[i] = last ? word_at[last - 1] : 0;
        if (i && replacement && replacement[i] && !*replacement[i]) word[i] = word[i - 1];
        else blanks += blank;
        for (; blanks && !blank; blanks--) word[i - blanks] = word[i];
        from = end;
        free(part);
    }
    free(word_at);
    free(all);
    return good;
}

/* ---- unknown tokens ---- */

/* Whether text begins with the last character of the token at `row`. The word type adds a space
 * behind punctuation, which begins where that begins. */
static bool is_end_of(const char *text, int bytes, const IdLines *lines, size_t row,
                      const Tokenizer *tokenizer)
{
    const char *label = tokenizer_label(tokenizer, lines->ids.id[row]);
    int length = (int)strlen(label);
    return (length >= bytes && !memcmp(label + length - bytes, text, (size_t)bytes)) ||
           (label[length - 1] == '\'' && !strncmp(text, "’", 3));
}

/* Fills row `row` for an unknown token, bytes begin .. end-1 of the text. */
static bool add_unknown(IdLines *lines, const Tokenizer *tokenizer, size_t row,
                        const char *text, size_t length, size_t begin, size_t end)
{
    unsigned c;
    size_t first = lines->count ? (size_t)lines->start[lines->count] : 0;  // row of the line
    bool words = tokenizer_type(tokenizer) == TOKENIZER_WORD, is_word = words || begin == 0;
    int bytes = words && row > first && begin < end ? utf8_next(text + begin, &c) : 0;
    if (bytes && is_end_of(text + begin, bytes, lines, row - 1, tokenizer))
        begin += (size_t)bytes;
    for (; begin < end && words_blank(text[begin]); begin++) is_word = true;
    while (end > begin && words_blank(text[end - 1])) end--;
    if (begin == end && end < length) end += (size_t)utf8_next(text + end, &c);
    size_t size = end - begin + 2;
    char *copy = lines->unknown[row] = malloc(size);
    if (copy)
        snprintf(copy, size, "%s%.*s", is_word ? " " : "", (int)(end - begin), text + begin);
    for (char *at = copy; at && *at; at++)
        if ((unsigned char)*at < ' ') *at = ' ';
    return copy;
}

/* Finds the unknown tokens among the last line's, rows first .. ids.count-1. */
static bool find_unknown(IdLines *lines, const Tokenizer *tokenizer, size_t first,
                         const char *text, size_t length, Error *error)
{
    const Ids *begin = &lines->begin;
    size_t count = lines->ids.count;
    for (; lines->unknown_rows <= count; lines->unknown_rows++)
        lines->unknown[lines->unknown_rows] = NULL;
    for (size_t t = first; t < count; t++) {
        if (lines->ids.id[t] != ID_UNKNOWN) continue;
        size_t next = t - first + 1, from = (size_t)begin->id[t - first];
        size_t to = next < begin->count ? (size_t)begin->id[next] : length;
        if (to < length && t + 1 < count && tokenizer_type(tokenizer) == TOKENIZER_WORD &&
            ispunct((unsigned char)text[to]) && text[to] != '\'' &&
            *tokenizer_label(tokenizer, lines->ids.id[t + 1]) != text[to])
            to++;  // the word goes on to the space that begins there; but not man's
        if (!add_unknown(lines, tokenizer, t, text, length, from, to))
            return error_memory(error, "for an unknown word");
    }
    return true;
}

/* ---- lines ---- */

bool idlines_add(IdLines *lines, const Tokenizer *tokenizer, int max_length, const char *text,
                 size_t length, size_t *cut, Error *error)
{
    size_t first = lines->ids.count, most = (size_t)max_length - 1, whole = length;
    lines->begin.count = 0;
    length = tokenizer_length(text, length);
    if (!tokenizer_encode_begins(tokenizer, &lines->ids, &lines->begin, text, length, error))
        return false;
    size_t count = lines->begin.count, kept = count > most ? most : count;
    size_t end = lines->ids.count = first + kept;
    if (cut) *cut = count > most ? count : length < whole ? most + 1 : 0;
    if (end >= INT_MAX) return error_set(error, "too much text at once");
    if (!GROW(lines->ids.id, lines->ids.size, end + 1) ||
        !GROW(lines->start, lines->start_size, (size_t)lines->count + 2) ||
        (lines->find_words && !GROW(lines->word, lines->word_size, end + 1)) ||
        (lines->find_unknown && !GROW(lines->unknown, lines->unknown_size, end + 1)))
        return error_memory(error, "for %d lines", lines->count);
    if ((lines->find_words &&
         !find_words(lines, lines->word + first, (int)kept, text, length, error)) ||
        (lines->find_unknown && !find_unknown(lines, tokenizer, first, text, length, error)))
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
    while (lines->unknown_rows) free(lines->unknown[--lines->unknown_rows]);
}

void idlines_free(IdLines *lines)
{
    idlines_clear(lines);
    free(lines->ids.id);
    free(lines->begin.id);
    free(lines->start);
    free(lines->word);
    free(lines->unknown);
    *lines = (IdLines){0};
}
