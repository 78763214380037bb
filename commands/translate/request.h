/* request.h -- the options of ./translate, and which of them can be combined. */
#pragma once

#include "base/options.h"
#include "explain/choice.h"
#include "explain/picture.h"
#include "inference/bundle.h"
#include "inference/passage.h"
#include "inference/search.h"

enum { REQUEST_GROUPS = 4 };

/* What a link of an alignment links: "word", "token", "character", NULL. */
typedef enum { ALIGN_WORDS, ALIGN_TOKENS, ALIGN_CHARACTERS } AlignUnit;
extern const char *const align_unit_names[];

/* How the two directions of aligner.c become one alignment; then NULL:
 *   grow-diag-final-and   the links of both; next to them those of either; then those of words that have
 *                         none (Koehn et al. 2005, IWSLT)
 *   intersection          the links of both
 *   forward, backward     each target word has at most one source word; the other way round */
typedef enum { JOIN_GROWN, JOIN_BOTH, JOIN_FORWARD, JOIN_BACKWARD } AlignJoin;
extern const char *const align_join_names[];

typedef struct Request {
    StringList model, attention, hypothesis, reference;
    char *prefix, *given, *word, *target, *save_int8, *page, *export, *by_hand;
    char *neighbours, *from, *to, *gold, *bleu_model;
    int threads, align_unit, align_join, bleu_tokenize, pair_count, significance, trials;
    int invalid;  // a TextInvalid
    bool align, words, pieces, head_report, int8, list_vocabulary, show, explain, backward,
        score, lowercase, documents, html, json, quiet, short_help, help, version;
    PassageConfig passage;
    SearchConfig search;
    ChoiceConfig choice_words;
    Intervention intervention;
    StringList texts;  // of the command line; none: standard input
    /* derived from these */
    Choice choice;
    bool shipped;  // no model is named or trained: the toy model of data/toy is used
    OptionGroup groups[REQUEST_GROUPS];
} Request;

/* Sets the defaults. The groups point into the request, which must not be moved. */
bool request_defaults(Request *request, Error *error);

/* Sets the defaults, then reads the command line. False: wrong usage (exit status 2). */
bool request_read(Request *request, int argc, char *const *argv, Error *error);
void request_free(Request *request);  // after one of these, or of {0}

/* Loads the models; says on standard error if it is the shipped one. If one is missing, the
 * error says which program makes one. */
bool request_load_models(Models *models, const Request *request, Error *error);
