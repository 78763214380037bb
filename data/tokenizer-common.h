/* tokenizer-common.h -- what SentencePiece's tokenizer (tokenizer.cc) and that of the page
 * (library/web/tokenizer.c) share: all but how a text is split into pieces. */
#pragma once

#include "data/sentencepiece.h"
#include "data/tokenizer.h"

/* Theirs begins with this one. */
struct Tokenizer {
    unsigned char *model;  // the bytes that the pieces point into
    Pieces pieces;
    const char *
        *piece;  // [pieces.count] their texts; before each stands "·", for tokenizer_shown
    int vocab_size;
    int placeholder;  // id of <ph1>, or 0
    int first_byte;   // id of <0x00>, or 0
};

/* Sets all of it, which is zeroed. Close it even if this fails. */
bool tokenizer_read(Tokenizer *tokenizer, const void *model, size_t size, Error *error);
void tokenizer_close(Tokenizer *tokenizer);

/* What a text becomes that begins with text [length] by the rules of a normalizer, at first: *to [*count];
 * returns the bytes that it replaces. */
size_t normalizer_first(const Normalizer *rules, const char **to, size_t *count,
                        const char *text, size_t length);

/* Appends an unknown token for each word of text[place .. end-1], of which a tokenizer has made one piece, and
 * where each begins, unless `begin` is NULL. A word begins at the first blank after the last word.
 * false: not enough memory. */
bool unknown_push(Ids *ids, Ids *begin, const char *text, size_t place, size_t end);
