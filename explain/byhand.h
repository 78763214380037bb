/* byhand.h -- attention by hand: the reader's own small queries, keys and values, and every step
 * of Vaswani et al. 2017, §3.2.1, with them. They come from a text file:
 *
 *     # a comment ends with its line
 *     score = scaled-dot       a score function (model/scorefunction.h)
 *     scale = 2                what the comparison is multiplied by, if not by the function's own
 *     mask = causal            query i sees keys 1 to i; or a block `mask` of 0 and 1
 *
 *     query                    the name of a block; below it a row a line: numbers, and before
 *       jane     1  0          them a label, if you like
 *     key
 *       visits   0  1
 *       africa   1  1
 *     value
 *       visits   3  4
 *       africa   5  6
 *
 * Where the block query, key or value is missing, it is the projection W_Q x, W_K x or W_V x of
 * each row of the block x; or x itself where that matrix is missing, too. */
#pragma once

#include <stdio.h>

#include "model/attention.h"
#include "plots/canvas.h"

enum { BYHAND_MOST = 256 };  // rows of a block, and numbers in a row

typedef enum {
    BYHAND_QUERY,
    BYHAND_KEY,
    BYHAND_VALUE,
    BYHAND_X,
    BYHAND_W_Q,
    BYHAND_W_K,
    BYHAND_W_V,
    BYHAND_MASK,
    BYHAND_BLOCKS
} ByHandBlock;

typedef struct NamedRows {
    int rows, columns;  // 0, 0: missing
    real *at;           // [rows,columns]
    char *label[BYHAND_MOST];
} NamedRows;

typedef struct ByHand {
    NamedRows block[BYHAND_BLOCKS];
    Score score;
    real scale;  // NaN in the file: the function's own
    bool causal;
    real *C, *P, *O;  // [n,m] comparisons   [n,m] attention weights   [n,dv] outputs
} ByHand;

/* Reads the file and computes. For byhand_free, also after an error, which names the line. */
bool byhand_read(ByHand *b, const char *path, Error *error);
void byhand_free(ByHand *b);

/* Whether the mask lets this query see this key. */
bool byhand_sees(const ByHand *b, int query, int key);

/* Prints the steps for one query, its label or its number from 1 (NULL: the first), and the
 * weights and outputs of all. */
bool byhand_print(FILE *out, const ByHand *b, const char *word, Error *error);

/* Draws the attention weights. format: a CanvasFormat */
bool byhand_draw(const char *path, int format, const ByHand *b, const char *title, Theme theme,
                 int scale, Error *error);
