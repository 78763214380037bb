/* statistics.h -- BLEU, chrF, chrF++ and TER of a corpus against one or more references a sentence:
 * each by itself, and all at once.
 *
 *     Bleu bleu = {.tokenization = TOKENIZATION_13A};
 *     for each sentence: bleu_add(&bleu, hypothesis, reference, references, &error)
 *     bleu_score(&bleu).score
 *
 * They are the counts of one sentence, or the sums of many, which ..._join adds up: so the scores of
 * resampled corpora (significance.h) need no text. ..._add counts one sentence, UTF-8, and its
 * reference [references], one or more. It fails, counting nothing, if a text is not valid UTF-8 or
 * exceeds CODEPOINTS_LIMIT, or if memory is short. ..._format writes a score with its signature. */
#pragma once

#include "scores/tokenization.h"

/* ---- BLEU ---- */

enum { BLEU_ORDER = 4 };  // n-grams of 1 to 4 words

typedef struct Bleu {
    Tokenization tokenization;
    SplitText *split;     // for TOKENIZATION_SPM
    const void *context;  // of split
    bool lowercase;
    bool effective_order;  // leave out the orders that no hypothesis is long enough for
    int references;        // a sentence: see references_join
    long long correct[BLEU_ORDER];  // n-grams of the hypotheses that are in their references
    long long total[BLEU_ORDER];    // n-grams of the hypotheses
    long long hypothesis_length;    // words
    long long reference_length;     // words; of each sentence's reference of the nearest length
} Bleu;

typedef struct BleuScore {
    double score;                   // 0 to 100; 0 if there are no sentences
    double precisions[BLEU_ORDER];  // 0 to 100, smoothed
    double brevity_penalty;         // 0 to 1
} BleuScore;

bool bleu_add(Bleu *bleu, const char *hypothesis, const char *const *reference, int references,
              Error *error);
void bleu_join(Bleu *bleu, const Bleu *part);
BleuScore bleu_score(const Bleu *bleu);

/* "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:qkv-1.0" */
void bleu_signature(const Bleu *bleu, char *text, size_t size);

/* "BLEU|nrefs:1|… = 60.65 100.0/100.0/100.0/100.0 (BP = 0.607 ratio = 0.667 hyp_len = 4
 * ref_len = 6)", on one line */
void bleu_format(const Bleu *bleu, char *text, size_t size);

/* ---- chrF and chrF++ ---- */

enum {
    CHRF_CHAR_ORDER = 6,  // n-grams of 1 to 6 characters
    CHRF_WORD_ORDER = 2,  // and of no more than 2 words
    CHRF_ORDERS = CHRF_CHAR_ORDER + CHRF_WORD_ORDER
};

/* The first six counts are of characters, the others of words. */
typedef struct Chrf {
    int word_order;  // 0 to CHRF_WORD_ORDER: 0 is chrF, 2 chrF++
    bool lowercase;
    int references;                  // a sentence: see references_join
    long long correct[CHRF_ORDERS];  // n-grams of the hypotheses that are in their references
    long long hypothesis[CHRF_ORDERS];  // n-grams of the hypotheses
    long long reference[CHRF_ORDERS];   // n-grams of the references
} Chrf;

/* Counts the reference that gives the sentence the highest score, of several the first. */
bool chrf_add(Chrf *chrf, const char *hypothesis, const char *const *reference, int references,
              Error *error);
void chrf_join(Chrf *chrf, const Chrf *part);
double chrf_score(const Chrf *chrf);  // 0 to 100; 0 if there are no sentences

/* "chrF2|nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:qkv-1.0 = 47.17", with chrF2++
 * for word order 2 */
void chrf_format(const Chrf *chrf, char *text, size_t size);

/* ---- translation edit rate ---- */

typedef struct Ter {
    int references;           // a sentence: see references_join
    long long edits;          // of each sentence, to the reference that needs the fewest
    double reference_length;  // words; of each sentence the mean of its references
} Ter;

bool ter_add(Ter *ter, const char *hypothesis, const char *const *reference, int references,
             Error *error);  // ignores case
void ter_join(Ter *ter, const Ter *part);

/* Edits per 100 words of the references: 0 is best, and there is no upper limit. 100 if only the
 * references are empty. */
double ter_score(const Ter *ter);

/* "TER|nrefs:1|case:lc|tok:tercom|norm:no|punct:yes|asian:no|version:qkv-1.0 = 51.80" */
void ter_format(const Ter *ter, char *text, size_t size);

/* ---- all of them ---- */

enum { SCORES = 4 };

/* "bleu", "chrf2", "chrf2pp", "ter" */
extern const char *const statistics_names[SCORES];

typedef struct Statistics {
    Bleu bleu;
    Chrf chrf, chrfpp;  // chrfpp.word_order is CHRF_WORD_ORDER
    Ter ter;
} Statistics;

/* Statistics of no segment, with the settings of this Bleu. */
Statistics statistics_none(const Bleu *settings);

bool statistics_add(Statistics *statistics, const char *hypothesis,
                    const char *const *reference, int references, Error *error);
void statistics_join(Statistics *statistics, const Statistics *part);
void statistics_scores(double score[SCORES], const Statistics *statistics);
