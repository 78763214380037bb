/* bleu.c -- BLEU: Papineni, Roukos, Ward and Zhu 2002 (ACL P02-1040).
 *
 *   p_n   = correct n-grams / n-grams, both summed over the corpus (clipped counts: ngrams.h)
 *   bp    = 1 if h >= r, else exp(1 - r/h),   h, r = words of all hypotheses, all references
 *   BLEU  = 100 · bp · exp(1/4 Σ_n log p_n),  n = 1 .. 4
 *
 * Smoothing ("exp"): the first order without a correct n-gram gets p_n = 1 / (2 · total), the
 * second 1 / (4 · total), and so on, as in mteval-v13a.pl; it is method 3 of Chen and Cherry
 * 2014 (W14-3346). The score is 0 if no word is correct, and if the corpus has no n-gram of
 * some order (every hypothesis shorter than 4 words): the order is always 4 ("eff:no").
 *
 * Tokenization, smoothing and case are those of sacrebleu (Post 2018, arXiv 1804.08771), and
 * the scores agree with it. Identical texts get exactly 100, because the logarithms are of
 * fractions. */
#include "scores/bleu.h"

#include "scores/ngrams.h"

#include <math.h>
#include <stdio.h>

bool bleu_add(Bleu *bleu, const char *hypothesis, const char *reference, Error *error)
{
    Codepoints text[2], *h = &text[0], *r = &text[1];
    bool good = codepoints_read_pair(text, hypothesis, reference, bleu->lowercase, error) &&
                tokenization_apply(h, bleu->tokenization, error) &&
                tokenization_apply(r, bleu->tokenization, error) &&
                ngrams_number_words(h, r, error) &&
                ngrams_count_correct(bleu->correct, h, r, BLEU_ORDER, error);
    if (good) {
        for (int n = 1; n <= BLEU_ORDER; n++) bleu->total[n - 1] += ngrams_in(h->length, n);
        bleu->hypothesis_length += h->length;
        bleu->reference_length += r->length;
    }
    codepoints_free(h);
    codepoints_free(r);
    return good;
}

BleuScore bleu_score(const Bleu *bleu)
{
    BleuScore result = {.brevity_penalty = 1};
    double h = (double)bleu->hypothesis_length, r = (double)bleu->reference_length;
    if (h < r) result.brevity_penalty = h > 0 ? exp(1 - r / h) : 0;
    if (bleu->correct[0] == 0) return result;

    double log_sum = 0, smoothing = 1;
    for (int n = 0; n < BLEU_ORDER; n++) {
        if (bleu->total[n] == 0) return result;
        double correct = (double)bleu->correct[n];
        if (bleu->correct[n] == 0) correct = 1 / (smoothing *= 2);
        double precision = correct / (double)bleu->total[n];
        result.precisions[n] = 100 * precision;
        log_sum += log(precision);
    }
    result.score = 100 * result.brevity_penalty * exp(log_sum / BLEU_ORDER);
    return result;
}

void bleu_signature(const Bleu *bleu, char *text, size_t size)
{
    snprintf(text, size, "nrefs:1|case:%s|eff:no|tok:%s|smooth:exp|version:" SCORE_VERSION,
             bleu->lowercase ? "lc" : "mixed", tokenization_names[bleu->tokenization]);
}

void bleu_format(const Bleu *bleu, char *text, size_t size)
{
    char signature[128];
    bleu_signature(bleu, signature, sizeof signature);
    BleuScore s = bleu_score(bleu);
    double ratio = bleu->reference_length
                       ? (double)bleu->hypothesis_length / (double)bleu->reference_length
                       : 0;
    snprintf(text, size,
             "BLEU|%s = %.2f %.1f/%.1f/%.1f/%.1f (BP = %.3f ratio = %.3f hyp_len = %lld "
             "ref_len = %lld)",
             signature, s.score, s.precisions[0], s.precisions[1], s.precisions[2],
             s.precisions[3], s.brevity_penalty, ratio, bleu->hypothesis_length,
             bleu->reference_length);
}
