#include "data/toy/sentence.h"

#include <assert.h>
#include <string.h>

/* Adds the words of a text, each with the same link. */
static void words_add(Words *words, const char *text, Link link)
{
    while (*text) {
        size_t length = strcspn(text, " ");
        assert(words->count < MAX_WORDS && length > 0 && length < WORD_BYTES);
        Word *word = &words->word[words->count++];
        memcpy(word->text, text, length);
        word->text[length] = '\0';
        word->link = link;
        text += length + (text[length] == ' ');
    }
}

Link sentence_english(Sentence *sentence, const char *words)
{
    int first = sentence->en.count;
    words_add(&sentence->en, words, 0);
    Link link = 0;
    for (int w = first; w < sentence->en.count; w++) link |= BIT(w);
    return link;
}

void sentence_french(Sentence *sentence, const char *pieces, Link link)
{
    words_add(&sentence->fr, pieces, link);
}

void sentence_expression(Sentence *sentence, const Expression *expression, Link link)
{
    int first_en = 0, first_fr = sentence->fr.count;
    while (!(link & BIT(first_en))) first_en++;
    words_add(&sentence->fr, expression->fr, 0);
    for (const char *pair = expression->links; *pair; pair += 2) {
        int fr = first_fr + (pair[1] - '0');
        assert(fr < sentence->fr.count);
        sentence->fr.word[fr].link |= BIT(first_en + (pair[0] - '0'));
    }
}

bool starts_with_vowel(const char *french)
{
    static const char *const vowels[] = {"a", "e", "i", "o", "u", "y",
                                         "h", "â", "é", "è", "ê", "œ"};
    for (size_t v = 0; v < sizeof(vowels) / sizeof(*vowels); v++)
        if (strncmp(french, vowels[v], strlen(vowels[v])) == 0) return true;
    return false;
}

static bool is(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

/* Removes word w + 1, whose link word w takes over. */
static void words_join(Words *words, int w)
{
    words->word[w].link |= words->word[w + 1].link;
    words->count--;
    memmove(&words->word[w + 1], &words->word[w + 2],
            (size_t)(words->count - w - 1) * sizeof(Word));
}

static void elide(Words *words)
{
    static const char *const pieces[] = {"le", "la", "je", "ne", "de", "que", "me", "ce"};
    for (int w = 0; w + 1 < words->count; w++)
        for (size_t p = 0; p < sizeof(pieces) / sizeof(*pieces); p++)
            if (is(words->word[w].text, pieces[p]) &&
                starts_with_vowel(words->word[w + 1].text)) {
                words->word[w].text[strlen(pieces[p]) - 1] = '\'';
                break;
            }
}

static void contract(Words *words)
{
    static const char *const table[][3] = {
        {"de", "le", "du"}, {"de", "les", "des"}, {"à", "le", "au"}, {"à", "les", "aux"}};
    for (int w = 0; w + 1 < words->count; w++)
        for (size_t t = 0; t < sizeof(table) / sizeof(*table); t++)
            if (is(words->word[w].text, table[t][0]) &&
                is(words->word[w + 1].text, table[t][1])) {
                strcpy(words->word[w].text, table[t][2]);
                words_join(words, w);
                break;
            }
}

/* A piece that ends in an apostrophe and the one after it are one word. */
static void attach(Words *words)
{
    for (int w = 0; w + 1 < words->count;) {
        char *text = words->word[w].text, *next = words->word[w + 1].text;
        size_t length = strlen(text);
        if (text[length - 1] != '\'') {
            w++;
            continue;
        }
        assert(length + strlen(next) < WORD_BYTES);
        memcpy(text + length, next, strlen(next) + 1);
        words_join(words, w);
    }
}

void sentence_finish(Sentence *sentence, bool question)
{
    Words *en = &sentence->en;
    for (int w = 0; w + 1 < en->count; w++)
        if (is(en->word[w].text, "a") && strchr("aeiou", en->word[w + 1].text[0]))
            strcpy(en->word[w].text, "an");

    elide(&sentence->fr);
    contract(&sentence->fr);
    attach(&sentence->fr);

    if (question) {
        strcat(en->word[en->count - 1].text, "?");
        sentence_french(sentence, "?", BIT(en->count - 1));
    }
}
