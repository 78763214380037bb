/* dictionary.c -- pairs of words that translate each other; see dictionary.h. */
#include "data/dictionary.h"

#include "base/hash.h"

#include <unicode/ubrk.h>
#include <unicode/uchar.h>

enum { COUNTERS = 1 << 22, CHARACTERS = 3 };

/* The word text[begin..end), of one of ICU's types. */
static Word word_at(const char *text, size_t begin, size_t end, bool first, int type)
{
    Word word = {.begin = begin, .end = end, .first = first, .hash = HASH_START};
    int characters = 0;
    UChar32 c;
    for (size_t at = begin; at < end;) {
        U8_NEXT(text, at, end, c);
        word.name |= u_isdigit(c) || (!characters && !first && u_isUUppercase(c));
        characters++;
        word.hash = hash_word(word.hash, (uint64_t)u_tolower(c));
    }
    if (characters < CHARACTERS && type < UBRK_WORD_KANA) word.hash = 0;
    return word;
}

bool dictionary_words(const Dictionary *d, Word *word, int *count, const char *text,
                      size_t length, Error *error)
{
    UErrorCode status = U_ZERO_ERROR;
    UText from = UTEXT_INITIALIZER;
    UBreakIterator *words = ubrk_clone(d->words, &status);
    utext_openUTF8(&from, text, (int64_t)length, &status);
    ubrk_setUText(words, &from, &status);
    int n = 0;
    for (int begin = 0, end; U_SUCCESS(status) && n < MOST_WORDS; begin = end) {
        if ((end = ubrk_next(words)) == UBRK_DONE) break;
        int type = ubrk_getRuleStatus(words);
        if (type >= UBRK_WORD_NUMBER)
            word[n] = word_at(text, (size_t)begin, (size_t)end, n == 0, type), n++;
    }
    ubrk_close(words);
    utext_close(&from);
    *count = n;
    return U_SUCCESS(status) || error_set(error, "cannot find words: %s", u_errorName(status));
}

/* Of a word if the other is 0. */
static uint16_t *counter(const Dictionary *d, uint64_t source, uint64_t target)
{
    return &d->count[hash_word(hash_word(HASH_START, source), target) >> 24 & (COUNTERS - 1)];
}

bool dictionary_count(Dictionary *d, const CorpusText *text, Error *error)
{
    Word word[SIDES][MOST_WORDS + 1];
    int count[SIDES];
    UErrorCode status = U_ZERO_ERROR;
    d->count = calloc(COUNTERS, sizeof *d->count);
    d->words = ubrk_open(UBRK_WORD, "en", NULL, 0, &status);  // the same in each language
    if (!d->count || U_FAILURE(status)) return error_memory(error, "for pairs of words");
    for (size_t pair = 0; pair < text->pairs; pair += 1 + text->pairs / DICTIONARY_PAIRS) {
        d->sentences++;
        for (int side = 0; side < SIDES; side++) {
            CorpusSentence line = corpus_sentence(text, (CorpusSide)side, pair);
            if (!dictionary_words(d, word[side], &count[side], line.text, line.length, error))
                return false;
            word[side][count[side]].hash = 0;  // with this one, words are counted alone
        }
        for (int i = 0; i <= count[SOURCE]; i++)
            for (int j = 0; j <= count[TARGET]; j++) {
                uint64_t s = word[SOURCE][i].hash, t = word[TARGET][j].hash;
                uint16_t *c = counter(d, s, t);
                if ((s || i == count[SOURCE]) && (t || j == count[TARGET]))
                    *c = (uint16_t)(*c + (*c < UINT16_MAX));
            }
    }
    return true;
}

void dictionary_free(Dictionary *d)
{
    free(d->count);
    ubrk_close(d->words);
    *d = (Dictionary){0};
}

double dictionary_dice(const Dictionary *d, const Word *source, const Word *target)
{
    if (!source->hash || !target->hash) return 0;
    int s = *counter(d, source->hash, 0), t = *counter(d, 0, target->hash);
    int c = *counter(d, source->hash, target->hash), least = s < t ? s : t;
    int frequent = d->sentences / 50 + 3;
    if (c > least) c = least;  // others share the counter
    if ((s > frequent && !source->name) || (t > frequent && !target->name)) return 0;
    return c < 3 ? 0 : 2.0 * c / (s + t);
}
