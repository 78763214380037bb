/* hostile-words.h -- a random network over words that would like to be markup, and a pair of
 * sentences of them, for the tests of what is drawn of attention. */
#ifndef TESTS_HOSTILE_WORDS_H
#define TESTS_HOSTILE_WORDS_H

#include <unistd.h>

#include "base/temporary.h"
#include "program/picture.h"
#include "tests/random-model.h"
#include "tests/small-model.h"

static const char *const PIECE[] = {
    "\u2581</script>",
    "\u2581<script>alert(1)</script>",
    "<!--",
    "&lt;",
    "\"'\\",
    "\u2028\u2029",
    "\u2581<img src=x onerror=alert(1)>",
    "\u2581\u65E5\u672C",
    "]]>",
    "@data@",
    "\u2581word",
    "s",
};
enum { PIECES = sizeof PIECE / sizeof *PIECE, V = PIECES + 3, LONGEST = 40 };

static char folder[TEMPORARY_SIZE];  // for files
static Transformer model;
static Vocabulary vocabulary;

static const int source[] = {2, 3, 4, 5, 6, 7, 9, 12, 13, 1, ID_END};
static const int target[] = {8, 3, 13, 10, 11, 2, ID_END};
enum { N = sizeof source / sizeof *source, M = sizeof target / sizeof *target };
static const SentencePair pair = {source, target, N, M, false};

static bool hostile_setup(void)
{
    static SmallModel small;
    Error error;
    if (!temporary_folder(folder, NULL)) return false;
    small_model_begin(&small, PIECES_BPE, false);
    for (int i = 0; i < PIECES; i++)
        small_model_piece(&small, PIECE[i], (float)-i, PIECE_NORMAL);
    const void *const bytes[SIDES] = {NULL, small.bytes};
    const size_t size[SIDES] = {0, small.size};
    if (!vocabulary_copy(&vocabulary, bytes, size, &error) ||
        !vocabulary_load(&vocabulary, &error))
        return false;
    model = random_model(V, LONGEST, 5);
    return tokenizer_vocab_size(vocabulary.tokenizer[TARGET]) == V;
}

/* 0 if the folder is empty and everything is gone. */
static int hostile_teardown(void)
{
    transformer_free(&model);
    vocabulary_free(&vocabulary);
    return rmdir(folder);
}

#endif
