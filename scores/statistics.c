/* statistics.c -- BLEU, chrF2, chrF2++ and TER at once; see statistics.h. */
#include "scores/statistics.h"

const char *const statistics_names[SCORES] = {"bleu", "chrf2", "chrf2pp", "ter"};

Statistics statistics_none(const Bleu *settings)
{
    bool lowercase = settings->lowercase;
    return (Statistics){.bleu = {.tokenization = settings->tokenization,
                                 .split = settings->split,
                                 .context = settings->context,
                                 .lowercase = lowercase,
                                 .effective_order = settings->effective_order},
                        .chrf = {.lowercase = lowercase},
                        .chrfpp = {.lowercase = lowercase, .word_order = CHRF_WORD_ORDER}};
}

bool statistics_add(Statistics *statistics, const char *hypothesis,
                    const char *const *reference, int references, Error *error)
{
    return bleu_add(&statistics->bleu, hypothesis, reference, references, error) &&
           chrf_add(&statistics->chrf, hypothesis, reference, references, error) &&
           chrf_add(&statistics->chrfpp, hypothesis, reference, references, error) &&
           ter_add(&statistics->ter, hypothesis, reference, references, error);
}

void statistics_join(Statistics *statistics, const Statistics *part)
{
    bleu_join(&statistics->bleu, &part->bleu);
    chrf_join(&statistics->chrf, &part->chrf);
    chrf_join(&statistics->chrfpp, &part->chrfpp);
    ter_join(&statistics->ter, &part->ter);
}

void statistics_scores(double score[SCORES], const Statistics *statistics)
{
    score[0] = bleu_score(&statistics->bleu).score;
    score[1] = chrf_score(&statistics->chrf);
    score[2] = chrf_score(&statistics->chrfpp);
    score[3] = ter_score(&statistics->ter);
}
