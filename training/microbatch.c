/* microbatch.c -- what a thread runs the network over at a time; see microbatch.h. */
#include "training/microbatch.h"

#include <stdlib.h>
#include <string.h>

static long long tokens_until(const Packed *source, const Packed *target, int sentence)
{
    return (long long)source->start[sentence] + target->start[sentence];
}

int microbatch_most(const Packed *source, const Packed *target, int tokens, int together)
{
    int S = source->sentences;
    long long total = tokens_until(source, target, S), wanted = (total + tokens - 1) / tokens;
    if (wanted > together) wanted = (wanted + together - 1) / together * together;
    return wanted < 1 ? 1 : wanted > S ? S : (int)wanted;
}

int microbatch_cut(int *first, const Packed *source, const Packed *target, int most)
{
    int S = source->sentences, count = 0;
    long long total = tokens_until(source, target, S);
    for (int k = 0, s = 0; k < most && s < S; k++) {
        long long end = total * (k + 1) / most;
        first[count++] = s++;
        while (s < S && tokens_until(source, target, s + 1) <= end) s++;
    }
    first[count] = S;
    return count;
}

/* The same sentences once more behind themselves, in a block of their own. */
static bool twice(MicroBatch *b, Packed *packed, int side, Error *error)
{
    int S = packed->sentences, rows = packed->rows, *start = b->start[side];
    size_t wanted = 2 * (size_t)rows;
    if (wanted > b->rows_room[side]) {
        int *id = realloc(b->id[side], wanted * sizeof *id);
        if (!id) return error_set(error, "not enough memory for a micro-batch");
        b->id[side] = id;
        b->rows_room[side] = wanted;
    }
    for (int copy = 0; copy < 2; copy++)
        memcpy(b->id[side] + copy * rows, packed->id, (size_t)rows * sizeof *packed->id);
    for (int s = 1; s <= S; s++) start[S + s] = rows + start[s];
    *packed = (Packed){2 * S, 2 * rows, b->id[side], start};
    return true;
}

bool microbatch_pack(MicroBatch *b, const Packed *source, const Packed *target, int first,
                     int end, const Dropout *dropout, Error *error)
{
    bool doubled = dropout && dropout->r_drop > 0;
    size_t sentences = (size_t)(end - first) * (doubled ? 2 : 1);
    if (sentences > b->room) {
        for (int side = 0; side < 2; side++) {
            int *start = realloc(b->start[side], (sentences + 1) * sizeof *start);
            if (!start) return error_set(error, "not enough memory for a micro-batch");
            b->start[side] = start;
        }
        b->room = sentences;
    }
    b->source = packed_slice(b->start[0], source, first, end);
    b->target = packed_slice(b->start[1], target, first, end);
    b->dropout = dropout ? *dropout : (Dropout){0};
    b->dropout.first_sentence = (uint32_t)first;
    if (!doubled) return true;
    b->dropout.copy = end - first;
    return twice(b, &b->source, 0, error) && twice(b, &b->target, 1, error);
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
        return error_set(error, "not enough memory for %.1f MB of activations: a smaller model, "
                         "--micro-tokens or --max-length needs less", (double)bytes / 1e6);
    layout(b, &b->arena, model, kind);
    return true;
}

void microbatch_free(MicroBatch *b)
{
    arena_free(&b->arena);
    for (int side = 0; side < 2; side++) free(b->start[side]), free(b->id[side]);
    *b = (MicroBatch){0};
}
