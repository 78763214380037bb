/* chrf.c -- chrF: Popović 2015 (W15-3049); chrF++: Popović 2017 (W17-4770).
 *
 *   P_n   = correct n-grams / n-grams of the hypotheses,   R_n = … / n-grams of the references
 *   P, R  = their averages over the orders
 *   chrFβ = 100 · (1 + β²) · P · R / (β² · P + R),   β = 2 (Popović 2016, W16-2341)
 *
 * n-grams of 1 to 6 characters without white space; for chrF++ also of 1 to 2 words. All counts
 * are summed over the corpus first. The averages leave out an order if one side has no n-gram
 * of it ("eff:yes"). If a reference has no n-gram of an order, those of its hypothesis are not
 * counted. Both rules are sacrebleu's, and the scores agree with it; Popović's own script takes
 * a tiny number for an empty order instead.
 *
 * White space separates words. In a word of two characters or more, the last character becomes
 * a word of its own if it is ASCII punctuation; otherwise the first one does, if it is. "(so)"
 * becomes "(so" and ")". */
#include "scores/statistics.h"

#include "scores/ngrams.h"

enum { BETA = 2 };

static bool is_punctuation(uint32_t c)
{
    return c < 0x80 && ispunct((int)c);
}

/* Puts a space where punctuation is split from a word. */
static bool split_words(Codepoints *text, Error *error)
{
    uint32_t *at = codepoints_reserve(2 * text->length, error);
    if (!at) return false;
    int n = 0, end;
    for (int i = 0; i < text->length; i = end + 1) {
        for (end = i; end < text->length && !codepoints_is_space(text->at[end]);) end++;
        bool split_last = end - i > 1 && is_punctuation(text->at[end - 1]);
        bool split_first = end - i > 1 && !split_last && is_punctuation(text->at[i]);
        for (int c = i; c < end; c++) {
            if ((split_last && c == end - 1) || (split_first && c == i + 1)) at[n++] = ' ';
            at[n++] = text->at[c];
        }
        if (end < text->length) at[n++] = ' ';
    }
    codepoints_free(text);
    *text = (Codepoints){at, n};
    return true;
}

static void remove_spaces(Codepoints *text)
{
    int n = 0;
    for (int i = 0; i < text->length; i++)
        if (!codepoints_is_space(text->at[i])) text->at[n++] = text->at[i];
    text->length = n;
}

/* Adds the n-grams of 1 to `order` symbols of a translation and reference r to the counts from `first`
 * on. */
static bool count(Chrf *chrf, int first, int order, const Comparison *all, int r, Error *error)
{
    Codepoints pair[] = {all->text[0], all->text[r]};
    if (!ngrams_count_correct(chrf->correct + first, &(Comparison){pair, 1}, order, error))
        return false;
    for (int n = 1; n <= order; n++) {
        long long in_reference = ngrams_in(pair[1].length, n);
        chrf->reference[first + n - 1] += in_reference;
        if (in_reference > 0) chrf->hypothesis[first + n - 1] += ngrams_in(pair[0].length, n);
    }
    return true;
}

bool chrf_add(Chrf *chrf, const char *hypothesis, const char *const *reference, int references,
              Error *error)
{
    assert(chrf->word_order >= 0 && chrf->word_order <= CHRF_WORD_ORDER);
    const Chrf none = {.word_order = chrf->word_order, .lowercase = chrf->lowercase};
    Comparison letters, words = {0};
    Chrf best = none;
    double highest = -1;
    bool good = comparison_read(&letters, hypothesis, reference, references, none.lowercase,
                                NULL, NULL, error) &&
                (!none.word_order || comparison_read(&words, hypothesis, reference, references,
                                                     none.lowercase, NULL, NULL, error));
    for (int i = 0; good && i <= references; i++) {
        remove_spaces(&letters.text[i]);
        good = !words.text || split_words(&words.text[i], error);
    }
    good = good && (!words.text || ngrams_number_words(&words, error));
    for (int r = 1; good && r <= references; r++) {
        Chrf one = none;
        good = count(&one, 0, CHRF_CHAR_ORDER, &letters, r, error) &&
               (!words.text || count(&one, CHRF_CHAR_ORDER, none.word_order, &words, r, error));
        double score = chrf_score(&one);
        if (score > highest) highest = score, best = one;
    }
    comparison_free(&letters);
    comparison_free(&words);
    best.references = references;
    if (good) chrf_join(chrf, &best);
    return good;
}

void chrf_join(Chrf *chrf, const Chrf *part)
{
    for (int n = 0; n < CHRF_ORDERS; n++) {
        chrf->correct[n] += part->correct[n];
        chrf->hypothesis[n] += part->hypothesis[n];
        chrf->reference[n] += part->reference[n];
    }
    chrf->references = references_join(chrf->references, part->references);
}

double chrf_score(const Chrf *chrf)
{
    double precision = 0, recall = 0;
    int orders = 0;
    for (int n = 0; n < CHRF_CHAR_ORDER + chrf->word_order; n++) {
        if (chrf->hypothesis[n] == 0 || chrf->reference[n] == 0) continue;
        precision += (double)chrf->correct[n] / (double)chrf->hypothesis[n];
        recall += (double)chrf->correct[n] / (double)chrf->reference[n];
        orders++;
    }
    if (precision + recall == 0) return 0;
    precision /= orders;
    recall /= orders;
    double beta2 = BETA * BETA;
    return 100 * (1 + beta2) * precision * recall / (beta2 * precision + recall);
}

void chrf_format(const Chrf *chrf, char *text, size_t size)
{
    char references[32];
    references_format(chrf->references, references, sizeof references);
    snprintf(text, size,
             "chrF%d%.*s|%s|case:%s|eff:yes|nc:%d|nw:%d|space:no|version:" SCORE_VERSION
             " = %.2f",
             BETA, chrf->word_order, "++", references, chrf->lowercase ? "lc" : "mixed",
             CHRF_CHAR_ORDER, chrf->word_order, chrf_score(chrf));
}
