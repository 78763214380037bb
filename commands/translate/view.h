/* view.h -- what is shown of a translation: on standard output its text, JSON, links, its weights
 * or how a head computed them; in files its attention as a picture or a page. The formats are in
 * docs/translate.md.
 *
 * The answer to an empty line is empty: text "", score and log_probability 0, no tokens. */
#pragma once

#include "base/json.h"
#include "commands/translate/alignment.h"
#include "commands/translate/request.h"
#include "explain/heads.h"
#include "inference/passage.h"

typedef struct View {
    /* the caller sets */
    const Request *request;
    const Bundle *bundle;  // loaded from the request's first model
    FILE *news;            // or NULL
    const json_t *id;      // of the text in the input, an integer or a text; or NULL
    /* set by view_open */
    Choice choice;           // with the head that is known to align best
    AlignBy by;              // with --align
    Heads heads;             // with --head-report
    int warned;              // texts whose translation is probably wrong
    MissingGlyphs *missing;  // in the pictures; command_share; NULL: fonts are not checked
    /* the text that is shown */
    const Passages *passages;
    const Passage *passage;
} View;

bool view_open(View *view, Error *error);

/* False if not all could be written. Does nothing for {0}. */
bool view_close(View *view, Error *error);

/* Shows the translations of text p, whose line is set; translation [count]: those of
 * its sentences. With --align the lines have their words (IdLines.find_words). *text (=) the best
 * translation, to be freed, also after an error. */
bool view_answer(View *view, char **text, const Passages *passages, int p,
                 const Translation *translation, Error *error);

/* "tokens" and "log_probabilities" of a translation, into the object that is open. */
void view_put_tokens(JsonWriter *json, const Bundle *bundle, const int *id, const double *each,
                     int count);
