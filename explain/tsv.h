/* tsv.h -- attention as a table for other programs: ./translate --attention-tsv FILE.
 *
 *   sentence kind   layer head row row_token column column_token weight
 *   1        cross  1     1    1   jane      1      jane         0.919166
 *
 * separated by tabs, with this line above them. All numbers count from 1. head is "mean" if that was
 * chosen. Of decoder self-attention only what a row may see is there. */
#ifndef EXPLAIN_TSV_H
#define EXPLAIN_TSV_H

#include "explain/choice.h"
#include "inference/bundle.h"

#include <stdio.h>

typedef struct AttentionTable {
    FILE *out;
    const char *path;
} AttentionTable;

/* path belongs to the caller. */
bool table_open(AttentionTable *table, const char *path, Error *error);

/* One sentence pair's kinds, layers and heads, as far as they were chosen. */
bool table_add(AttentionTable *table, const Snapshot *snapshot, const Vocabulary *vocabulary,
               const ModelConfig *model, const Choice *choice, long long sentence,
               const int *source, const int *target, Error *error);

/* False if not all could be written. Fine on {0}. */
bool table_close(AttentionTable *table, Error *error);

#endif
