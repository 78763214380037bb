/* bleu.c -- BLEU: Papineni, Roukos, Ward and Zhu 2002 (ACL P02-1040).
 *
 *   p_n   = correct n-grams / n-grams, both summed over the corpus (clipped counts: ngrams.h)
 *   bp    = 1 if h >= r, else exp(1 - r/h),   h, r = words of all hypotheses, all references
 *   BLEU  = 100 · bp · exp(1/4 Σ_n log p_n),  n = 1 .. 4
 *
 * Of several references of a sentence, r counts the one whose length is nearest to that of the
 * hypothesis.
 *
 * Smoothing ("exp"): the first order without a correct n-gram gets p_n = 1 / (2 · total), the
 * second 1 / (4 · total), and so on, as in mteval-v13a.pl; it is method 3 of Chen and Cherry
 * 2014 (W14-3346). The score is 0 if no word is correct, and if the corpus has no n-gram of
 * some order (every hypothesis shorter than 4 words): the order is 4 ("eff:no"), unless the caller
 * asks for the highest order that there is, as scores of single sentences need ("eff:yes").
 *
 * Tokenization, smoothing and case are those of sacrebleu (Post 2018, arXiv 1804.08771), and
 * the scores agree with it. Identical texts get exactly 100, because the logarithms are of
 * fractions. */
#include "scores/statistics.h"

#include "scores/ngrams.h"

/* The length next to that of the hypothesis; of two as near, the shorter one. */
static int nearest_length(const Comparison *c)
{
    int nearest = c->text[1].length, length = c->text->length;
    for (int i = 2; i <= c->references; i++) {
        int other = c->text[i].length;
        int closer = abs(nearest - length) - abs(other - length);
        if (closer > 0 || (closer == 0 && other < nearest)) nearest = other;
    }
    return nearest;
}

bool bleu_add(Bleu *bleu, const char *hypothesis, const char *const *reference, int references,
              Error *error)
{
    Comparison s;
    bool good = comparison_read(&s, hypothesis, reference, references, bleu->lowercase,
                                bleu->split ? bleu->split : tokenization_split,
                                bleu->split ? bleu->context : &bleu->tokenization, error) &&
                ngrams_number_words(&s, error) &&
                ngrams_count_correct(bleu->correct, &s, BLEU_ORDER, error);
    if (good) {
        int length = s.text->length;
        for (int n = 1; n <= BLEU_ORDER; n++) bleu->total[n - 1] += ngrams_in(length, n);
        bleu->hypothesis_length += length;
        bleu->reference_length += nearest_length(&s);
        bleu->references = references_join(bleu->references, references);
    }
    comparison_free(&s);
    return good;
}

void bleu_join(Bleu *bleu, const Bleu *part)
{
    for (int n = 0; n < BLEU_ORDER; n++) {
        bleu->correct[n] += part->correct[n];
        bleu->total[n] += part->total[n];
    }
    bleu->hypothesis_length += part->hypothesis_length;
    bleu->reference_length += part->reference_length;
    bleu->references = references_join(bleu->references, part->references);
}

BleuScore bleu_score(const Bleu *bleu)
{
    BleuScore result = {.brevity_penalty = 1};
    double h = (double)bleu->hypothesis_length, r = (double)bleu->reference_length;
    if (h < r) result.brevity_penalty = h > 0 ? exp(1 - r / h) : 0;
    if (bleu->correct[0] == 0) return result;

    double log_sum = 0, smoothing = 1;
    int order = BLEU_ORDER;
    if (bleu->effective_order)
        while (bleu->total[order - 1] == 0) order--;
    for (int n = 0; n < order; n++) {
        if (bleu->total[n] == 0) return result;
        double correct = (double)bleu->correct[n];
        if (bleu->correct[n] == 0) correct = 1 / (smoothing *= 2);
        double precision = correct / (double)bleu->total[n];
        result.precisions[n] = 100 * precision;
        log_sum += log(precision);
    }
    result.score = 100 * result.brevity_penalty * exp(log_sum / order);
    return result;
}

void bleu_signature(const Bleu *bleu, char *text, size_t size)
{
    char references[32], tokens[64];
    tokenization_signature(bleu->tokenization, tokens, sizeof tokens);
    references_format(bleu->references, references, sizeof references);
    snprintf(text, size, "%s|case:%s|eff:%s|tok:%s|smooth:exp|version:" SCORE_VERSION,
             references, bleu->lowercase ? "lc" : "mixed", bleu->effective_order ? "yes" : "no",
             tokens);
}

void bleu_format(const Bleu *bleu, char *text, size_t size)
{
    char signature[192];
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
