/* sentence.c -- the words of a sentence and of its translation. */
#include "data/toy/grammar.h"

#include <assert.h>
#include <string.h>

/* Adds the words of a text. Digits after a word choose words of the link, counted from 0. */
static void words_add(Words *words, const char *text, Link link)
{
    for (size_t length; *text; text += length + (text[length] == '_')) {
        length = strcspn(text, "_");
        assert(words->count < MAX_WORDS && length < WORD_BYTES);
        char *word = words->text[words->count];
        Link *own = &words->link[words->count++];
        memcpy(word, text, length);
        word[length] = '\0';
        size_t letters = strcspn(word, "0123456789");
        *own = word[letters] ? 0 : link;
        for (char *digit = word + letters; *digit; *digit++ = '\0')
            *own |= (link & -link) << (*digit - '0');
    }
}

Link sentence_english(Sentence *sentence, const char *text)
{
    Words *en = &sentence->en;
    int first = en->count;
    if (*text == '\'') strcat(en->text[first - 1], text);
    else words_add(en, text, 0);
    return (1u << en->count) - (1u << first);
}

void sentence_french(Sentence *sentence, const char *text, Link link)
{
    words_add(&sentence->fr, text, link);
}

static bool starts_with_vowel(const char *french)
{
    static const char *const vowels[] = {"a", "e", "i", "o", "u", "y",
                                         "h", "â", "é", "è", "ê", "œ"};
    for (size_t v = 0; v < sizeof(vowels) / sizeof(*vowels); v++)
        if (strncmp(french, vowels[v], strlen(vowels[v])) == 0) return true;
    return false;
}

/* The text takes the place of word w from `at` on, and of the next word. The links unite. */
static void words_join(Words *words, int w, size_t at, const char *text)
{
    memmove(words->text[w] + at, text, strlen(text) + 1);
    words->link[w] |= words->link[w + 1];
    for (words->count--; ++w < words->count;) {
        strcpy(words->text[w], words->text[w + 1]);
        words->link[w] = words->link[w + 1];
    }
}

void sentence_sandhi(Words *fr, const char *word, const char *next, const char *result)
{
    bool ending = *word == '-';
    size_t length = strlen(word += ending);
    for (int w = 0; w < fr->count; w++) {
        const char *following = w + 1 < fr->count ? fr->text[w + 1] : "";
        size_t letters = strlen(fr->text[w]), at = letters - length;
        if (letters < length || (at > 0 && !ending) || strcmp(fr->text[w] + at, word) != 0)
            continue;
        if (next && strcmp(following, next) == 0) words_join(fr, w, 0, result);
        else if (!next || *next == (starts_with_vowel(following) ? 'V' : 'C'))
            strcpy(fr->text[w] + at, result);
    }
}

void sentence_finish(Sentence *sentence, bool question)
{
    Words *en = &sentence->en, *fr = &sentence->fr;
    for (int w = 0; w + 1 < en->count; w++)
        if (strcmp(en->text[w], "a") == 0 && strchr("aeiou", en->text[w + 1][0]))
            strcpy(en->text[w], "an");
    for (int w = 0; w + 1 < fr->count;) {
        size_t length = strlen(fr->text[w]);
        if (fr->text[w][length - 1] == '\'') words_join(fr, w, length, fr->text[w + 1]);
        else w++;
    }
    if (!question) return;
    strcat(en->text[en->count - 1], "?");
    words_add(fr, "?", 1u << (en->count - 1));
}
