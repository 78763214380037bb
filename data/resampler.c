/* resampler.c -- every epoch cuts the training text anew; see resampler.h. */
#include "data/resampler.h"

#include "base/grow.h"
#include "base/packed.h"

#include <stdlib.h>
#include <string.h>

static bool no_memory(Error *error)
{
    return error_set(error, "not enough memory to cut the corpus at random");
}

static bool read_side(Resampler *r, const CorpusText *text, CorpusSide side,
                      const Tokenizer *tokenizer, Error *error)
{
    size_t pairs = r->usual->pairs;
    r->start[side] = malloc((pairs + 1) * sizeof *r->start[side]);
    r->corpus.start[side] = malloc((pairs + 1) * sizeof *r->corpus.start[side]);
    if (!r->start[side] || !r->corpus.start[side]) return no_memory(error);
    for (size_t pair = 0; pair < pairs; pair++) {
        size_t length, size;
        const char *line = corpus_sentence(text, side, pair, &length);
        char *normalized;
        r->start[side][pair] = r->units[side].count;
        if (!tokenizer_normalize(tokenizer, &normalized, &size, line, length, error))
            return false;
        bool good = subwords_add(r->subwords[side], &r->units[side], normalized, size, error);
        free(normalized);
        if (!good) return false;
    }
    r->start[side][pairs] = r->units[side].count;
    return true;
}

bool resampler_create(Resampler *r, const Corpus *usual, const CorpusText *text,
                      const Tokenizer *const tokenizer[SIDES], Subwords *const subwords[SIDES],
                      int max_length, uint64_t seed, Error *error)
{
    *r = (Resampler){.usual = usual, .seed = seed, .max_length = max_length};
    r->corpus.pairs = usual->pairs;
    for (int side = 0; side < SIDES; side++) {
        r->corpus.vocab_size[side] = usual->vocab_size[side];
        r->subwords[side] = subwords[side];
    }
    for (int side = 0; side < SIDES; side++) {
        if (read_side(r, text, (CorpusSide)side, tokenizer[side], error)) continue;
        resampler_free(r);
        return false;
    }
    for (int side = 0; side < SIDES; side++) subwords_close(subwords[side]);
    return true;
}

void resampler_free(Resampler *r)
{
    for (int side = 0; side < SIDES; side++) {
        free(r->units[side].unit);
        free(r->start[side]);
    }
    corpus_free(&r->corpus);
    *r = (Resampler){0};
}

static bool draw(Resampler *r, CorpusSide side, size_t pair, Ids *ids, Error *error)
{
    const size_t *start = r->start[side], *usual = r->usual->start[side];
    size_t first = ids->count;
    uint64_t index = r->epoch << 33 | (uint64_t)pair << 1 | (uint64_t)side;
    Rng rng = rng_stream(r->seed, RNG_SUBWORD, index);
    if (!subwords_draw(r->subwords[side], ids, r->units[side].unit + start[pair],
                       start[pair + 1] - start[pair], &rng, error))
        return false;
    if (ids->count - first <= (size_t)r->max_length) {
        if (!GROW(ids->id, ids->size, ids->count + 1)) return no_memory(error);
        ids->id[ids->count++] = ID_END;
        return true;
    }
    size_t count = usual[pair + 1] - usual[pair];
    if (!GROW(ids->id, ids->size, first + count)) return no_memory(error);
    memcpy(ids->id + first, r->usual->id[side] + usual[pair], count * sizeof *ids->id);
    ids->count = first + count;
    return true;
}

bool resampler_epoch(Resampler *r, uint64_t epoch, Error *error)
{
    r->epoch = epoch;
    for (int side = 0; side < SIDES; side++) {
        Ids ids = {.id = r->corpus.id[side], .size = r->size[side]};
        size_t *start = r->corpus.start[side];
        bool good = true;
        for (size_t pair = 0; good && pair < r->corpus.pairs; pair++) {
            start[pair] = ids.count;
            good = draw(r, (CorpusSide)side, pair, &ids, error);
        }
        start[r->corpus.pairs] = ids.count;
        r->corpus.id[side] = ids.id;
        r->size[side] = ids.size;
        if (!good) return false;
    }
    return true;
}
