/* alignment.h -- aligns words by the attention of a model: ./translate --align.
 *
 * Given translations: one line of links for each pair, or with gold links a table: the alignment
 * error rate of each layer and head, of the mean of a layer's heads and of their norms. On a
 * signal (file_stop) it ends after the current pair and succeeds. A pair with a side longer than
 * the model takes gives an empty line and is not compared. */
#pragma once

#include "base/jsonwriter.h"
#include "commands/translate/input.h"
#include "explain/choice.h"
#include "explain/heads.h"
#include "inference/align.h"

/* Which attention is used as an alignment. */
typedef struct AlignBy {
    int layer, head;  // from 0; or ALIGN_LAYERS; or ALIGN_MEAN, ALIGN_NORM
} AlignBy;

/* by (=) the layer and heads of the choice; best of it is the known head, which training guided or found,
 * or an error. Without a choice the known head if training guided it; else the norms of all heads of
 * all layers, which align better than a single head. */
bool alignment_choose(AlignBy *by, bool guided, const Choice *choice, int layers, Error *error);

/* links (=) those of the snapshot's pair, of its words, tokens or characters. source_word [n+1],
 * target_word [m+1]: the word or the first character of each token, as in IdLines. */
bool alignment_link(Links *links, AlignUnit unit, AlignBy by, const Snapshot *snapshot,
                    const int *source_word, const int *target_word, Error *error);

/* "0-0 1-1 2-3", without a newline. */
void links_print(FILE *out, const Links *links);

/* The members "unit", "alignment", as above, and "links", with scores, of the object that is open. */
void links_put(JsonWriter *json, int unit, const Links *links);

/* Aligns the pairs of the input, in the unit and the format of the request. heads: adds the pairs to
 * this report instead; or NULL. */
bool alignment_run(Input *input, const Bundle *bundle, AlignBy by, const Request *request,
                   Heads *heads, Error *error);

/* The same without a model (aligner.c): both directions are estimated on the pairs of the input themselves
 * (training/guide.h), and then joined. The more pairs there are, the better: some thousands at least. With
 * gold links only the alignment error rate of the pairs that have some is printed. */
bool aligner_run(Input *input, const Request *request, Error *error);
