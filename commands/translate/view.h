/* view.h -- what is shown of a translation: on standard output its text or the explanation of
 * one head; in files its attention as a picture or a page.
 *
 *   text      one line
 *   n-best    1 ||| der alte Mann ||| -0.5312        line number, text, score; one line each
 *   aligned   … ||| 0-0 1-1 2-2                      after either
 *   JSON      {"line":1,"unknown":[],"text":"der alte Mann","score":-0.53,
 *              "log_probability":-2.12,"tokens":["▁der","▁alte","▁Mann","</s>"]}
 *             "unknown": the words of the source that are not in the vocabulary;
 *             with "alignment":"0-0 1-1 2-2" if --align is given, and with "n_best":[…] if
 *             there are several translations: each is an object with the members from "text" on;
 *             with "attention":[{"kind":"cross","layer":1,"head":1,"rows":["▁der",…],
 *             "columns":["▁the",…],"weights":[[0.91,…],…]},…] if --show is given: the chosen
 *             kind, layer and head, by default all heads of cross-attention. Layers and heads
 *             count from 1; "head" is "mean" for the mean of a layer
 *
 * The answer to an empty line is empty: text "", score and log_probability 0, no tokens. */
#pragma once

#include "base/json.h"
#include "commands/translate/aligner.h"
#include "commands/translate/request.h"
#include "explain/heads.h"
#include "inference/passage.h"

typedef struct View {
    /* the caller sets */
    const Request *request;
    const Bundle *bundle;  // loaded from the request's first model
    FILE *news;            // or NULL
    /* set by view_open */
    Choice choice;           // for links and explanations: --head best is resolved
    Choice drawn;            // for maps: --head best is kept; its known layer and head are set
    AlignBy by;              // with --align
    Heads heads;             // with --head-report
    int warned;              // texts whose translation is probably wrong
    MissingGlyphs *missing;  // in the pictures; command_share; NULL: fonts are not checked
} View;

bool view_open(View *view, Error *error);

/* False if not all could be written. Does nothing for {0}. */
bool view_close(View *view, Error *error);

/* Shows the translations of text p, which is line `number` of the input; translation [count]: those of
 * its sentences. With --align the lines have their words (IdLines.find_words). *text (=) the best
 * translation, to be freed, also after an error. */
bool view_answer(View *view, char **text, const Passages *passages, int p,
                 const Translation *translation, long long number, Error *error);

/* "tokens" and "log_probabilities" of a translation, into the object that is open. */
void view_put_tokens(JsonWriter *json, const Bundle *bundle, const int *id, const double *each,
                     int count);
