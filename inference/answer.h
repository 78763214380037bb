/* answer.h -- the translation of a text, from those of its sentences (passage.h).
 *
 *     text        "- Write to {name}.  It is LATE!"
 *     sentences   "Écrivez à <ph1>."  "Il est TARD !"
 *     rendered    "Écrivez à {name}."  "Il est TARD !"       words copied, spans put back, case restored
 *     joined      "- Écrivez à {name}.  Il est TARD !"
 *
 * It also says what is probably wrong: tokens that were cut, a translation that the limit of its
 * length has ended, spans that are missing, source tokens that no attention reaches, a score that
 * is lower than those of nearly all validation sentences. */
#pragma once

#include "inference/passage.h"
#include "inference/search.h"
#include "inference/snapshot.h"

/* A translation of one sentence. */
typedef struct SentenceAnswer {
    const Hypothesis *hypothesis;
    char *text;
    size_t begin;           // where it begins in the text of all
    const char **replaced;  // [length] the text of each <unk> and placeholder; NULL: none
    char **shown;           // [length] the same with marks and copied spans, as in text
    LazySnapshot lazy;
    StringList missing;  // spans that are not in the text
    bool limit;          // it was ended by the limit of its length
    bool doubtful;       // its score is too low
    double coverage;  // share of the source's tokens that some target token attends to; NaN if
                      // not computed
} SentenceAnswer;

/* A translation of a text. */
typedef struct TextAnswer {
    SentenceAnswer *sentence;  // [count]
    int count;
    char *text;
    double score, log_probability;  // of all tokens
} TextAnswer;

/* a (=) the h-th best translation of text `number`, 0 the best. translation [count]: those of its
 * sentences; of one with fewer the last is taken. coverage: compute it, which takes a snapshot of
 * each sentence. Free the answer even if this fails. */
bool answer_create(TextAnswer *a, const Passages *p, int number, const Translation *translation,
                   int h, const SearchConfig *config, bool coverage, Error *error);
void answer_free(TextAnswer *a);
