/* tokenizer-texts.h -- what the tests of the tokenizer share: texts to learn from, and a watch on
 * what the library prints, which is nothing. */
#ifndef TESTS_TOKENIZER_TEXTS_H
#define TESTS_TOKENIZER_TEXTS_H

#include "base/rng.h"
#include "data/tokenizer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const char *const TEXT[] = {
    "jane visite l'école.",
    "jane aime-t-elle la musique ?",
    "paul n'aime pas l'hiver, mais marie l'aime beaucoup.",
    "l'été, les enfants jouent dans le jardin !",
    "aujourd'hui il fait 3.5 degrés à 10:30.",
    "does jane like music?",
    "the school is (almost) always open, isn't it?",
    "paul doesn't like winter, but marie likes it a lot.",
    "in summer the children play in the garden!",
    "see www.example.org for more: it is free.",
};
enum { TEXTS = sizeof TEXT / sizeof *TEXT };

static const char *text_at(const void *context, size_t i, size_t *length)
{
    const char *const *text = context;
    *length = strlen(text[i]);
    return text[i];
}

static inline Sentences sentences_of(const char *const *text, size_t count)
{
    return (Sentences){count, text_at, text};
}

/* A larger corpus of the same words in seeded random order. */
enum { MANY = 1500 };
static char *many[MANY];

static inline int setup(void **state)
{
    (void)state;
    Rng rng = rng_stream(7, RNG_TEST, 0);
    for (int i = 0; i < MANY; i++) {
        char line[512] = "";
        for (uint32_t w = 3 + rng_below(&rng, 6); w > 0; w--) {
            char copy[128];
            strcpy(copy, TEXT[rng_below(&rng, TEXTS)]);
            char *saved, *word = strtok_r(copy, " ", &saved);
            for (uint32_t k = rng_below(&rng, 12); k > 0 && saved && *saved; k--) {
                word = strtok_r(NULL, " ", &saved);
            }
            strcat(strcat(line, *line ? " " : ""), word);
        }
        many[i] = strdup(line);
    }
    return 0;
}

static inline int teardown(void **state)
{
    (void)state;
    for (int i = 0; i < MANY; i++) free(many[i]);
    return 0;
}

/* Around a test: the library prints nothing. What is printed instead is shown afterwards. */
static int kept_stdout, kept_stderr, watched;

static inline int watch_begin(void **state)
{
    (void)state;
    fflush(NULL);
    watched = memfd_create("watched", 0);
    kept_stdout = dup(1), kept_stderr = dup(2);
    dup2(watched, 1), dup2(watched, 2);
    return 0;
}

static inline int watch_end(void **state)
{
    (void)state;
    fflush(NULL);
    dup2(kept_stdout, 1), dup2(kept_stderr, 2);
    close(kept_stdout), close(kept_stderr);
    char text[4096];
    ssize_t printed = pread(watched, text, sizeof text, 0);
    close(watched);
    if (printed > 0) fprintf(stderr, "printed:\n%.*s\n", (int)printed, text);
    return printed == 0 ? 0 : -1;
}

static inline Tokenizer *learn(const Sentences *sentences, const TokenizerSettings *settings)
{
    unsigned char *model;
    size_t size;
    Error error = {{0}};
    if (!tokenizer_train(&model, &size, sentences, settings, &error))
        fail_msg("%s", error.text);
    Tokenizer *tokenizer = tokenizer_load(model, size, &error);
    if (!tokenizer) fail_msg("%s", error.text);
    free(model);
    return tokenizer;
}

static inline Ids encode(const Tokenizer *tokenizer, const char *text)
{
    Ids ids = {0};
    Error error;
    assert_true(tokenizer_encode(tokenizer, &ids, text, strlen(text), &error));
    return ids;
}

#define WATCHED(test) cmocka_unit_test_setup_teardown(test, watch_begin, watch_end)

#endif
