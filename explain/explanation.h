/* explanation.h -- one head and one word, and how their numbers are printed: what the parts of
 * --explain share (explain.c, backward.c). */
#pragma once

#include "base/columns.h"
#include "explain/labels.h"
#include "model/scorefunction.h"

#include <stdio.h>

enum { LINE = 79, LABEL = 13 };

/* One head and one word of its map. A row is a query, a column a key. */
typedef struct Explanation {
    FILE *out;
    const Snapshot *snapshot;
    const ModelConfig *config;
    const ScoreFunction *score;
    const Vocabulary *vocabulary;
    AttentionKind kind;
    int layer, head;
    HeadVectors v;
    AttentionMap map;
    const char **row, **column;  // labels: [map.rows] [map.columns]
    int word, most;              // the row that is followed; the column of its largest weight
    double *compared;            // [map.columns] q·k of that row, or what else it compares
} Explanation;

static inline const real *row_of(SnapshotRows rows, int row)
{
    return rows.at + (size_t)row * (size_t)rows.stride;
}

static inline double weight_of(const Explanation *e, int row, int column)
{
    return (double)e->map.at[(size_t)row * (size_t)e->map.width + (size_t)column];
}

/* The number of keys that the causal mask lets a row see. */
static inline int keys_of(const Explanation *e, int row)
{
    return e->kind == ATTENTION_DECODER ? row + 1 : e->map.columns;
}

static inline const char *label(const Explanation *e, TokenSide side, int place)
{
    const char *unknown = labels_unknown(e->snapshot, side, place);
    if (unknown) return unknown + (*unknown == ' ');
    return tokenizer_label(labels_tokenizer(e->vocabulary, side),
                           labels_id(e->snapshot, side, place));
}

#define say(e, ...) columns_say((e)->out, LINE, __VA_ARGS__)

static inline void put_label(const Explanation *e, const char *before, const char *text,
                             int width)
{
    fputs(before, e->out);
    columns_put(e->out, text, width, false);
}
