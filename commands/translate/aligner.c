/* aligner.c -- aligns words by the attention of a model; see aligner.h. */
#include "commands/translate/aligner.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"

bool aligner_guided(bool *guided, const char *options, const char *model, Error *error)
{
    json_t *all = json_parse(options, strlen(options), model, error),
           *training = json_object_get(all, "training");
    *guided = json_number_value(json_object_get(training, "guide_alignment")) > 0;
    json_decref(all);
    return all;
}

bool aligner_choose(AlignBy *by, bool guided, const Choice *choice, int layers, Error *error)
{
    *by = guided ? (AlignBy){layers - 1, 0} : (AlignBy){ALIGN_LAYERS, ALIGN_NORM};
    if (choice->head == CHOICE_BEST && !guided)
        return error_set(error,
                         "no head was trained to align (`guide-alignment`): name one, or "
                         "leave out `head`");
    if (choice->layer >= 0) by->layer = choice->layer;
    if (choice->head >= 0) by->head = choice->head;
    if (choice->head == CHOICE_MEAN) by->head = ALIGN_MEAN;
    if (by->head >= 0 && by->layer == ALIGN_LAYERS) by->layer = layers - 1;
    return true;
}

bool aligner_link(Links *links, AlignBy by, const Snapshot *snapshot, const int *source_word,
                  const int *target_word, Error *error)
{
    int n = snapshot->source.rows, m = snapshot->target.rows;
    links->count = 0;
    if (m < 2 || n < 2) return true;
    float *share = malloc((size_t)(m - 1) * (size_t)n * sizeof *share);
    bool good = (share || error_memory(error, "to align %d words", m)) &&
                align_shares(share, snapshot, by.layer, by.head, error) &&
                align_links(links, share, m - 1, n - 1, target_word, source_word, error);
    free(share);
    return good;
}

void links_print(FILE *out, const Links *links)
{
    for (int k = 0; k < links->count; k++)
        fprintf(out, "%s%d-%d", k ? " " : "", links->link[k].source, links->link[k].target);
}
