/* view.h -- what is shown of a translation besides its text: its attention as a picture, a page
 * or a table, the alignment of its words, and the explanation of one head. */
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
    /* set by view_open */
    Choice choice;    // for tables, links and explanations: --head best is resolved
    Choice drawn;     // for pictures: --head best is kept; its known layer and head are set
    Aligner aligner;  // with --align
    AttentionTable table;  // with --attention-tsv
} View;

bool view_open(View *view, Error *error);

/* False if not all could be written. Does nothing for {0}. */
bool view_close(View *view, Error *error);

/* Whether view_align must be called, and so lines need the words of their tokens
 * (IdLines.find_words). */
bool view_needs_words(const View *view);

/* Adds the attention of a translation of line `number` of the input to the table. *links (=)
 * its alignment, "0-0 1-1", to be freed; NULL without --align. source_word [n-1] the words of
 * the source's tokens. */
bool view_align(View *view, char **links, LazySnapshot *lazy, const int *source_word,
                long long number, Error *error);

/* Draws the attention of the best translation of line `number`, and explains it, if the options
 * request it. */
bool view_show(View *view, LazySnapshot *lazy, long long number, Error *error);

#endif
