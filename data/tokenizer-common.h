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

/* Whether an id is that of one of <ph1> … <ph8>. */
bool tokenizer_is_placeholder(const Tokenizer *tokenizer, int32_t id);

/* Appends a piece of a text, of its bytes place .. end-1, and where it begins, unless `begin` is NULL. An unknown
 * one is a token for each of its words. last: the piece before it, or ID_END; the type word's space after a
 * placeholder, which has the placeholder's place, begins where that ends. false: not enough memory. */
bool tokenizer_push(Ids *ids, Ids *begin, const Tokenizer *tokenizer, int32_t last, int32_t id,
                    const char *text, size_t place, size_t end);
