/* small-model.h -- SentencePiece models made by hand, piece by piece, for tests.
 *
 *     SmallModel model = {0};
 *     small_model_begin(&model, PIECES_BPE, false);
 *     small_model_piece(&model, "ab", -1, PIECE_NORMAL);
 *     Tokenizer *tokenizer = tokenizer_load(model.bytes, model.size, &error); */
#ifndef TESTS_SMALL_MODEL_H
#define TESTS_SMALL_MODEL_H

#include "data/sentencepiece.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef struct SmallModel {
    unsigned char bytes[1 << 16];
    size_t size;
} SmallModel;

/* A field of bytes: its key, its length, it. */
static inline void small_model_put(SmallModel *model, int field, const void *bytes,
                                   size_t count)
{
    unsigned char *to = model->bytes + model->size;
    *to++ = (unsigned char)(field << 3 | 2);
    for (size_t left = count;; left >>= 7) {
        *to++ = (unsigned char)((left & 0x7f) | (left > 0x7f ? 0x80 : 0));
        if (left <= 0x7f) break;
    }
    memcpy(to, bytes, count);
    model->size = (size_t)(to - model->bytes) + count;
}

static inline void small_model_piece(SmallModel *model, const char *text, float score,
                                     PieceType type)
{
    SmallModel piece = {.size = 0};
    small_model_put(&piece, 1, text, strlen(text));
    unsigned char *to = piece.bytes + piece.size;
    *to++ = 2 << 3 | 5;
    memcpy(to, &score, 4), to += 4;
    *to++ = 3 << 3 | 0;
    *to++ = (unsigned char)type;
    small_model_put(model, 1, piece.bytes, (size_t)(to - piece.bytes));
}

/* A model of a kind, with </s> and <unk>, and the 256 bytes if it falls back on them. */
static inline void small_model_begin(SmallModel *model, PiecesKind kind, bool byte_fallback)
{
    model->size = 0;
    unsigned char spec[] = {3 << 3, (unsigned char)kind, 0x98, 0x02, byte_fallback};  // 3, 35
    small_model_put(model, 2, spec, sizeof spec);
    small_model_piece(model, "</s>", 0, PIECE_CONTROL);
    small_model_piece(model, "<unk>", 0, PIECE_UNKNOWN);
    for (int b = 0; b < 256 && byte_fallback; b++) {
        char text[8];
        snprintf(text, sizeof text, "<0x%02X>", b);
        small_model_piece(model, text, 0, PIECE_BYTE);
    }
}

#endif
