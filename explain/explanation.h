/* explanation.h -- one query of one head, step by step: what --explain (explain.c, backward.c)
 * and --by-hand (byhand.c) share, and how their numbers are printed. */
#pragma once

#include "base/columns.h"
#include "base/utf8.h"
#include "explain/labels.h"
#include "explain/maps.h"
#include "explain/update.h"

enum { LINE = 79, LABEL = 13, SHOWN = 5 };  // SHOWN: numbers of a vector in a line

/* A row is a query, a column a key. */
typedef struct Explanation {
    FILE *out;
    int steps;  // printed so far
    const ScoreFunction *score;
    HeadVectors v;  // by hand: without Xq and Xkv
    Map map;
    bool causal;
    const char *const *row, *const *column;  // labels: [map.rows] [map.columns]
    int word, keys;     // the row that is followed; how many columns of it are shown
    int key;            // the column that the reader asked for in its place, or -1
    int most;           // the column of its largest weight
    SnapshotRows mask;  // by hand: 0 where a query does not see a key; or no rows

    /* of a model; by hand NULL and 0 */
    const Snapshot *snapshot;
    const ModelConfig *config;
    const Vocabulary *vocabulary;
    Labels labels[TOKEN_SIDES];  // of tokens
    AttentionKind kind;
    int layer, head;
} Explanation;

static inline double weight_of(const Explanation *e, int row, int column)
{
    return (double)e->map.at[row * e->map.columns + column];
}

static inline int largest_weight(const Explanation *e, int row)  // its column
{
    return row_most(e->map.at + row * e->map.columns, e->map.columns);
}

/* The score of the row that is followed and a key, -∞ where a mask hides the key. */
double explanation_score(const Explanation *e, int key);

/* ---- text ---- */

#define say(e, ...) columns_say((e)->out, LINE, __VA_ARGS__)  // a paragraph
/* The number and the title of a step. */
#define step(e, ...) (fprintf((e)->out, "%d. ", ++(e)->steps), say(e, __VA_ARGS__))

static inline void put_label(const Explanation *e, const char *before, const char *text,
                             int width)
{
    fputs(before, e->out);
    columns_put(e->out, text, width, false);
}

/* A power of ten, so that numbers divided by it print with few zeros; 1 for large numbers. */
double unit_of(const real *x, int count);

/* Writes the number in at least 9 columns. */
void put_number(const Explanation *e, double x);

/* Writes a label, and the first numbers of a vector. */
void put_row(const Explanation *e, const char *before, const char *name, const real *x,
             int count);

/* Writes a row of `rows`: the query, key, … or gradient of a token. */
void put_vector(const Explanation *e, const char *name, const char *of, SnapshotRows rows,
                int row);

/* ---- the steps from queries, keys and values to the output ---- */

void explanation_compare(Explanation *e);
void explanation_scale(Explanation *e);
void explanation_softmax(Explanation *e);
void explanation_values(Explanation *e);
void explanation_map(Explanation *e);  // all weights

/* The way back: the gradients of the head and the word of e, the update, and the new row. */
void backward_print(const Explanation *e, const Update *update);
