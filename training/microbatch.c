/* microbatch.c -- what a thread runs the network over at a time; see microbatch.h. */
#include "training/microbatch.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

static int rows_of(const Packed *all, const int *sentence, int count)
{
    int rows = 0;
    for (int i = 0; i < count; i++) rows += packed_length(all, sentence[i]);
    return rows;
}

/* The sentences, `copies` times one after the other. */
static bool gather(Packed *packed, MicroBatch *b, int side, const Packed *all,
                   const int *sentence, int count, int copies, Error *error)
{
    int rows = copies * rows_of(all, sentence, count);
    if (!GROW(b->id[side], b->id_room[side], (size_t)rows) ||
        !GROW(b->start[side], b->start_room[side], (size_t)(copies * count) + 1))
        return error_set(error, "not enough memory for a micro-batch");
    int *id = b->id[side], *start = b->start[side];
    start[0] = 0;
    for (int i = 0; i < copies * count; i++) {
        int s = sentence[i % count], length = packed_length(all, s);
        memcpy(id + start[i], all->id + all->start[s], (size_t)length * sizeof *id);
        start[i + 1] = start[i] + length;
    }
    *packed = (Packed){copies * count, rows, id, start};
    return true;
}

bool microbatch_pack(MicroBatch *b, const Packed *source, const Packed *target, const Cut *cut,
                     int k, const Dropout *dropout, Error *error)
{
    const int *sentence = cut_sentence(cut, k);
    int count = cut_sentences(cut, k), copies = dropout && dropout->r_drop > 0 ? 2 : 1;
    b->dropout = dropout ? *dropout : (Dropout){0};
    b->dropout.sentence = sentence;
    if (copies == 2) b->dropout.copy = count;
    return gather(&b->source, b, 0, source, sentence, count, copies, error) &&
           gather(&b->target, b, 1, target, sentence, count, copies, error);
}

static void layout(MicroBatch *b, Arena *arena, const Transformer *model, PassKind kind)
{
    const Dropout *dropout = kind == PASS_TRAIN ? &b->dropout : NULL;
    transformer_layout(&b->pass, arena, model, &b->source, &b->target, dropout, kind);
}

size_t microbatch_bytes(MicroBatch *b, const Transformer *model, PassKind kind)
{
    Arena measure = {0};
    layout(b, &measure, model, kind);
    return measure.used;
}

bool microbatch_layout(MicroBatch *b, const Transformer *model, PassKind kind, Error *error)
{
    size_t bytes = microbatch_bytes(b, model, kind);
    if (!arena_fit(&b->arena, bytes))
        return error_set(error,
                         "not enough memory for %.1f MB of activations: a smaller model, "
                         "--micro-tokens or --max-length needs less",
                         (double)bytes / 1e6);
    layout(b, &b->arena, model, kind);
    return true;
}

void microbatch_free(MicroBatch *b)
{
    arena_free(&b->arena);
    for (int side = 0; side < 2; side++) free(b->start[side]), free(b->id[side]);
    *b = (MicroBatch){0};
}
