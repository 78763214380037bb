/* idlines.h -- lines of text as token ids, packed, with what else is known of their tokens.
 *
 *     IdLines lines = {.find_words = true};
 *     for each line: idlines_add(&lines, tokenizer, max_length, text, length, &cut, error)
 *     Packed sentences = idlines_packed(&lines);
 *     idlines_free(&lines); */
#pragma once

#include "base/packed.h"
#include "data/tokenizer.h"

/* Start with {0}, or with one of the two flags set. Words (data/words.h) are
 * counted from 0. They are those of the text as it is given, whatever the tokenizer does to it:
 * "work?" is one word, whether it is one token or two. */
typedef struct IdLines {
    Ids ids;
    int *start;  // [count+1]
    int count;
    size_t start_size;
    Ids begin;  // of each token of the last line, before it was cut: its first byte in the text

    bool find_words;     // fill the next two:
    bool characters;     // each character is a word; that of </s> is the one after the last
    int *word;           // [start[count]] which word of its line each token belongs to
    int words;           // number of words in the last line
    const int *word_at;  // the caller's word of each byte of the next line; NULL: as below
    size_t word_size;

    bool find_unknown;  // fill the next one:
    char **unknown;  // [start[count]] an <unk> as typed, with a space before it if it begins a
                     // word, and in place of control characters; what a placeholder stands for;
                     // NULL for other tokens
    size_t unknown_size, unknown_rows;
} IdLines;

/* Appends a line and </s>. A line of more than max_length - 1 tokens is cut to that length.
 * *cut (=) the number of tokens before the cut, or 0 if the line was not cut. Pass NULL if not
 * needed. Of a line of more than TOKENIZER_MAX_TEXT bytes only those are read: it counts as cut, and
 * has max_length tokens or more. */
bool idlines_add(IdLines *lines, const Tokenizer *tokenizer, int max_length, const char *text,
                 size_t length, size_t *cut, Error *error);

/* All lines as sentences. Valid until the next idlines_add. */
Packed idlines_packed(const IdLines *lines);
void idlines_clear(IdLines *lines);  // keeps the memory
void idlines_free(IdLines *lines);

/* The words, or characters, of the text that tokenizer_decode_replaced returns: word [tokens] (=)
 * that in which each token ends; a space alone has that of the next token. *words (=) their number. */
bool words_of_ids(int *word, int *words, const Tokenizer *tokenizer, const int *id, int tokens,
                  const char *const *replacement, bool characters, Error *error);
