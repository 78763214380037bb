/* encoded.c -- the encoder, slice by slice; see encoded.h.
 *
 * A batch may have some thousand tokens, and their activations do not fit into a cache. The
 * encoder therefore runs over one slice of the sentences at a time, in memory for the largest
 * slice. Only the keys and values of the decoder's layers are kept. In Kt each sentence's keys
 * are transposed and padded with zeros for the product of attention. */
#include "inference/encoded.h"

#include <string.h>

#include "base/profile.h"
#include "model/embedding.h"
#include "model/linear.h"

enum { SLICE_ROWS = 320 };  // tokens; a longer sentence is a slice of its own (docs/speed.md)

/* Some sentences, and the buffers of the encoder for them. */
typedef struct Slice {
    Packed source;
    int first;  // the first sentence
    real *X;    // [N,D]
    real *KV;   // [N,2D] of one layer
    Scratch scratch;
} Slice;

/* The number of sentences in the slice that begins with `first`. */
static int slice_sentences(const Packed *source, int first)
{
    int end = first + 1;
    while (end < source->sentences &&
           source->start[end + 1] - source->start[first] <= SLICE_ROWS)
        end++;
    return end - first;
}

static void slice_layout(Slice *slice, Stack *encoder, Arena *arena, const ModelConfig *config,
                         const Packed *source, int first)
{
    int S = slice_sentences(source, first), N = source->start[first + S] - source->start[first];
    size_t count = (size_t)N * (size_t)config->d_model;
    // stack_layout reads the lengths, also while measuring: then from the whole source
    int *start = ARENA_TAKE(arena, int, (size_t)S + 1);
    *slice = (Slice){.first = first};
    slice->source = start ? packed_slice(start, source, first, first + S)
                          : (Packed){S, N, NULL, source->start + first};
    slice->X = ARENA_TAKE(arena, real, count);
    slice->KV = ARENA_TAKE(arena, real, 2 * count);
    stack_layout(encoder, arena, config, &slice->source, NULL, NULL, PASS_SCORE);
    scratch_layout(&slice->scratch, arena, config, N, false);
}

void encoded_layout(Encoded *encoded, Arena *arena, const Transformer *model,
                    const Packed *source)
{
    const ModelConfig *config = &model->config;
    size_t D = (size_t)config->d_model, width = 0, most = 0;
    *encoded = (Encoded){.source = source};
    encoded->keys = ARENA_TAKE(arena, size_t, (size_t)source->sentences + 1);
    for (int s = 0; s < source->sentences; s++) {
        if (encoded->keys) encoded->keys[s] = width * D;
        width += (size_t)attention_width(packed_length(source, s));
    }
    if (encoded->keys) encoded->keys[source->sentences] = width * D;
    for (int l = 0; l < config->decoder_layers; l++) {
        encoded->layer[l].Kt = ARENA_TAKE(arena, real, width * D);
        encoded->layer[l].V = ARENA_TAKE(arena, real, (size_t)source->rows * D);
    }
    for (int s = 0; s < source->sentences; s += slice_sentences(source, s)) {
        Arena measure = {0};
        Slice slice;
        slice_layout(&slice, &encoded->encoder, &measure, config, source, s);
        if (measure.used > most) most = measure.used;
    }
    encoded->slice_memory =
        (Arena){.base = ARENA_TAKE(arena, unsigned char, most), .size = most};
}

/* Copies the slice's KV [N,2D] to the keys and values of a layer. */
static void keep(EncodedLayer *layer, const Encoded *encoded, const Slice *slice, int D)
{
    size_t d = (size_t)D, row = (size_t)encoded->source->start[slice->first];
    for (int s = 0; s < slice->source.sentences; s++) {
        Rows keys = {slice->KV + (size_t)slice->source.start[s] * 2 * d, 2 * D};
        attention_transpose(layer->Kt + encoded->keys[slice->first + s], keys,
                            packed_length(&slice->source, s), D);
    }
    for (size_t n = 0; n < (size_t)slice->source.rows; n++)
        memcpy(layer->V + (row + n) * d, slice->KV + n * 2 * d + d, d * sizeof *layer->V);
}

void encoded_compute(Encoded *encoded, const Transformer *model)
{
    const ModelConfig *config = &model->config;
    const Weights *w = &model->weights;
    int D = config->d_model;
    ProfilePart part = profile_enter(PROFILE_ENCODER);
    for (int s = 0; s < encoded->source->sentences; s += slice_sentences(encoded->source, s)) {
        Arena memory = encoded->slice_memory;
        Slice slice;
        slice_layout(&slice, &encoded->encoder, &memory, config, encoded->source, s);
        embedding_forward(slice.X, &slice.source, false, 0, &w->source_embedding,
                          model->source_positions, NULL, D);
        const real *X =
            stack_forward(&encoded->encoder, slice.X, NULL, w, config, &slice.scratch, NULL);
        for (int l = 0; l < config->decoder_layers; l++) {
            const Linear *kv = &w->decoder[l].cross.k;  // of both
            linear_forward(slice.KV, X, kv, kv->b, slice.source.rows, 2 * D, D);
            keep(&encoded->layer[l], encoded, &slice, D);
        }
    }
    profile_leave(part);
}
