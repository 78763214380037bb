/* view.h -- what is shown of a translation besides its text: who looked at whom, as a picture, a
 * page or a table; which words are each other's translation; and how it comes about. */
#ifndef COMMANDS_TRANSLATE_VIEW_H
#define COMMANDS_TRANSLATE_VIEW_H

#include "commands/translate/aligner.h"
#include "commands/translate/request.h"
#include "explain/tsv.h"
#include "inference/bundle.h"

typedef struct View {
    /* the caller sets */
    const Request *request;
    const Bundle *bundle;  // loaded from the request's first model
    FILE *out;             // for explanations
    FILE *news;            // or NULL
    /* the rest is its own */
    Choice choice;         // which attention
    Choice drawn;          // the same with --head best as it was said, and what is known of it
    Aligner aligner;       // if there is --align
    AttentionTable table;  // if there is --attention-tsv
} View;

bool view_open(View *view, Error *error);

/* False if not all could be written. Fine on {0}. */
bool view_close(View *view, Error *error);

/* Whether lines need the words of their tokens (IdLines.find_words). */
bool view_needs_words(const View *view);

/* A translation of line s of lines, which is number `number` of the input: its attention into the
 * table, and *links (=) its alignment, "0-0 1-1", to be freed, or NULL if none was asked for. */
bool view_look(View *view, char **links, const IdLines *lines, int s,
               const Hypothesis *translation, long long number, Error *error);

/* The best one drawn and explained, as far as that was asked for. */
bool view_show(View *view, const IdLines *lines, int s, const Hypothesis *best,
               long long number, Error *error);

#endif
