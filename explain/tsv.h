/* tsv.h -- attention weights as a table for other programs: ./translate --attention-tsv FILE.
 *
 *   sentence kind   layer head row row_token column column_token weight
 *   1        cross  1     1    1   jane      1      jane         0.919166
 *
 * The columns are separated by tabs; the first line names them. All numbers count from 1. head
 * is "mean" if the mean of a layer's heads was chosen. For decoder self-attention, only the
 * columns that the causal mask allows are written. */
#pragma once

#include "data/vocabulary.h"
#include "explain/choice.h"

#include <stdio.h>

typedef struct AttentionTable {
    FILE *out;
    const char *path;
} AttentionTable;

/* Creates the file ("-" is standard output) and writes the first line. path must stay valid until table_close. */
bool table_open(AttentionTable *table, const char *path, Error *error);

/* Adds the chosen kinds, layers and heads of one sentence pair. sentence: its number, from
 * 1. */
bool table_add(AttentionTable *table, const Snapshot *snapshot, const Vocabulary *vocabulary,
               const Choice *choice, long long sentence, Error *error);

/* False if not all could be written. Does nothing for {0}. */
bool table_close(AttentionTable *table, Error *error);
