/* explanation.h -- one head and one word, and how their numbers are printed: what the parts of
 * --explain share (explain.c, backward.c), and --by-hand. */
#pragma once

#include "base/columns.h"
#include "base/utf8.h"
#include "explain/labels.h"
#include "explain/update.h"

#include <stdio.h>

enum { LINE = 79, LABEL = 13, COMPARISON_TEXT = 1200 };

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
    const Update *update;        // only on the way back, as the gradients
    HeadGradients d;
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

/* A paragraph, and a step: its title and a paragraph. */
#define say(e, ...)         columns_say((e)->out, LINE, __VA_ARGS__)
#define step(e, title, ...) (say(e, "%s", title), say(e, __VA_ARGS__))

static inline void put_label(const Explanation *e, const char *before, const char *text,
                             int width)
{
    fputs(before, e->out);
    columns_put(e->out, text, width, false);
}

/* A power of ten, so that numbers divided by it print with few zeros; 1 for large numbers. */
double unit_of(const real *x, int count);
double plain(double x);  // without a minus before four zeros

/* Writes a row of `rows`: the query, key, … or gradient of a token. */
void put_vector(const Explanation *e, const char *name, const char *of, SnapshotRows rows,
                int row);

/* text (=) how q and k [dh] are compared, with the first terms: "(1)(2) + (3)(4) + …".
 * number: of a term, for printf */
void comparison_text(char text[COMPARISON_TEXT], const ScoreFunction *score, const real *q,
                     const real *k, int dh, int shown, const char *number);

/* The way back: the gradients of the head and the word of e, the update, and the new row. */
void backward_print(const Explanation *e, const Update *update);
