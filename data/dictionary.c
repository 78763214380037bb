/* dictionary.c -- pairs of words that translate each other; see dictionary.h. */
#include "data/dictionary.h"

#include "base/hash.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <unicode/uchar.h>

enum { COUNTERS = 1 << 22, LETTERS = 3, MOST_WORDS = 64 };  // of a word, of a sentence

bool word_next(Word *word, const char *text, size_t length)
{
    int letters = 0;
    bool other = false;
    unsigned code;
    *word = (Word){.begin = length, .end = word->end, .first = word->end == 0};
    uint64_t hash = HASH_START;
    for (size_t at = word->end, bytes; at < length; at += bytes) {
        bytes = (size_t)utf8_decode(text + at, length - at, &code);
        UChar32 c = (UChar32)code;
        bool letter = u_hasBinaryProperty(c, UCHAR_ALPHABETIC), begun = word->begin < length;
        if (begun && u_isUWhiteSpace(c)) break;
        if (!begun && !letter && !u_isdigit(c)) continue;
        if (!begun) word->begin = at, word->name = !word->first && u_isUUppercase(c);
        letters += letter, other |= !letter;
        hash = hash_word(hash, (uint64_t)u_tolower(c));
        if (!letter && !u_isdigit(c)) continue;  // punctuation, perhaps after the word
        word->end = at + bytes;
        word->name |= !letter;
        word->hash = other || letters < LETTERS ? 0 : hash;
    }
    return word->begin < length;
}

/* Of a word if the other is 0, and of the pairs of sentences if both are. */
static uint16_t *counter(const Dictionary *d, uint64_t source, uint64_t target)
{
    return &d->count[hash_word(hash_word(HASH_START, source), target) >> 24 & (COUNTERS - 1)];
}

bool dictionary_count(Dictionary *d, const CorpusText *text, Error *error)
{
    uint64_t hash[SIDES][MOST_WORDS + 1];
    int count[SIDES];
    d->count = calloc(COUNTERS, sizeof *d->count);
    if (!d->count) return error_memory(error, "for pairs of words");
    for (size_t pair = 0; pair < text->pairs; pair += 1 + text->pairs / DICTIONARY_PAIRS) {
        for (int side = 0; side < SIDES; side++) {
            size_t length;
            const char *line = corpus_sentence(text, (CorpusSide)side, pair, &length);
            count[side] = 0;
            for (Word word = {0}; count[side] < MOST_WORDS && word_next(&word, line, length);)
                if (word.hash) hash[side][count[side]++] = word.hash;
            hash[side][count[side]++] = 0;
        }
        for (int i = 0; i < count[SOURCE]; i++)
            for (int j = 0; j < count[TARGET]; j++) {
                uint16_t *c = counter(d, hash[SOURCE][i], hash[TARGET][j]);
                *c = (uint16_t)(*c + (*c < UINT16_MAX));
            }
    }
    return true;
}

void dictionary_free(Dictionary *d)
{
    free(d->count);
    *d = (Dictionary){0};
}

double dictionary_dice(const Dictionary *d, const Word *source, const Word *target)
{
    if (!source->hash || !target->hash) return 0;
    int s = *counter(d, source->hash, 0), t = *counter(d, 0, target->hash);
    int c = *counter(d, source->hash, target->hash), least = s < t ? s : t;
    int frequent = *counter(d, 0, 0) / 50 + 3;
    if (c > least) c = least;  // others share the counter
    if ((s > frequent && !source->name) || (t > frequent && !target->name)) return 0;
    return c < 3 ? 0 : 2.0 * c / (s + t);
}
