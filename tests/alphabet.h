/* alphabet.h -- a checkpoint of random numbers that reads and writes the letters a to l and spaces, and
 * texts for it. */
#ifndef TESTS_ALPHABET_H
#define TESTS_ALPHABET_H

#include "model/checkpoint.h"
#include "tests/random-model.h"
#include "tests/small-model.h"

enum { ALPHABET_LONGEST = 40 };  // tokens that the model takes, </s> included

static inline bool alphabet_save(const char *path, Error *error)
{
    static SmallModel letters;
    small_model_begin(&letters, PIECES_CHAR, false);
    small_model_piece(&letters, "\xe2\x96\x81", -1, PIECE_NORMAL);
    for (char c = 'a'; c <= 'l'; c++)
        small_model_piece(&letters, (char[]){c, '\0'}, -2, PIECE_NORMAL);
    Transformer model = random_model(16, ALPHABET_LONGEST, 3);
    model.weights.logits_bias[ID_END] += 1;
    const OptionGroup group = {"", "model", model_options, model_option_count, &model.config};
    char *config = options_to_json(&group, 1);
    const Checkpoint checkpoint = {.params = &model.params,
                                   .weights = model.block,
                                   .config = config,
                                   .tokenizer = letters.bytes,
                                   .tokenizer_size = letters.size};
    bool good = checkpoint_save(&checkpoint, path, error);
    free(config);
    transformer_free(&model);
    return good;
}

/* A text of 1 .. size-2 characters. */
static inline void alphabet_text(char *text, int size, Rng *rng)
{
    int length = 1 + (int)rng_below(rng, (uint32_t)size - 2);
    for (int i = 0; i < length; i++)
        text[i] = i % 6 == 5 ? ' ' : (char)('a' + rng_below(rng, 12));
    text[length] = '\0';
}

#endif
