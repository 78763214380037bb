/* walk.h -- one way through a network's attention: a head, a word in it, and the numbers there. */
#ifndef EXPLAIN_WALK_H
#define EXPLAIN_WALK_H

#include "data/vocabulary.h"
#include "explain/choice.h"

#include <stdio.h>

/* What the walk is about. Rows ask (queries), columns are asked (keys). */
typedef struct Walk {
    FILE *out;
    const Transformer *model;
    const Tokenizer *read, *written;
    const Snapshot *snapshot;
    const int *source, *target;  // [n] [m]
    int n, m;
    AttentionKind kind;
    int layer, head;
    HeadVectors v;
    AttentionMap map;
    const char **row, **column;  // labels: [map.rows] [map.columns]
    int word, most;              // the row that is followed, and the column it looks at most
    double *dot;                 // [map.columns] q·k of that row
} Walk;

/* With out .. kind set and the rest zero: finds head and word, and fills in the rest. word: as a
 * token is called, or its place from 1; NULL: the first that looks at another place than its own. A
 * head that is not chosen is the one whose rows look most sharply at what is not </s>. */
bool walk_begin(Walk *walk, const Choice *choice, const char *word, Error *error);
void walk_end(Walk *walk);

double walk_share(const Walk *walk, int row, int column);  // the pass's probability
int walk_seen(const Walk *walk, int row);                  // how many keys a row may see
int walk_strongest(const Walk *walk, int row);             // the column it looks at most
bool walk_is_end(const char *label);

#endif
