/* byhand.h -- attention by hand: the reader's own small queries, keys and values, and every step
 * of Vaswani et al. 2017, §3.2.1, with them. docs/by-hand.md describes the file they are in. */
#pragma once

#include "explain/explanation.h"
#include "explain/picture.h"

enum { BYHAND_BLOCKS = 9, BYHAND_MOST = 256, BYHAND_LABEL = 64, BYHAND_HEADS = 8 };
enum { BYHAND_SETTINGS = 4 };

typedef struct LabelledRows {
    const char *name;
    size_t line;        // of the file; 0: missing
    int rows, columns;  // at most BYHAND_MOST
    real at[BYHAND_MOST][BYHAND_MOST];
    const char *label[BYHAND_MOST];
    char text[BYHAND_MOST][BYHAND_LABEL];  // of the labels that the file has
} LabelledRows;

/* Some megabytes; not to be copied. n queries, m keys. A row of query, key or value has the numbers of all
 * heads side by side. */
typedef struct ByHand {
    const char *path;
    union {
        LabelledRows block[BYHAND_BLOCKS];
        struct {
            LabelledRows query, key, value, x, W_Q, W_K, W_V, mask, gradient;
        };
    };
    int score;  // a Score
    double scale;
    int causal, heads;
    bool set[BYHAND_SETTINGS];      // those that the file has
    LabelledRows output, *reading;  // reading: the block that the file's next row belongs to
    size_t line;                    // of the file that an error names
    Explanation steps;              // of one head
    HeadGradients d;                // of the same; known if `backward`
    real P[BYHAND_HEADS][BYHAND_MOST * BYHAND_MOST];  // [n,m] attention weights
    bool backward;
    real dP[BYHAND_HEADS][BYHAND_MOST * BYHAND_MOST],
        dS[BYHAND_HEADS][BYHAND_MOST * BYHAND_MOST];
    union {
        LabelledRows back[3];
        struct {
            LabelledRows dQ, dK, dV;
        };
    };
    real dW[BYHAND_MOST][BYHAND_MOST];
} ByHand;

/* b (=) what the file says, and what is computed from it. */
bool byhand_read(ByHand *b, const char *path, Error *error);

/* Prints the steps of each head for one query, its label or its number from 1 (NULL: the first), and the
 * weights and outputs of all. */
bool byhand_print(FILE *out, ByHand *b, const char *word, Error *error);

/* Prints the way back: the gradients of the values, weights, scores, queries and keys, and of W_Q, W_K
 * and W_V, for the gradient of the outputs that the file gives; without one it is 1 everywhere. */
void byhand_backward(FILE *out, ByHand *b);

/* Draws the weights in the format of the path; a page has the queries, keys and values too, and after
 * byhand_backward the gradients. missing (+=) characters that no font has; or NULL */
bool byhand_draw(const char *path, ByHand *b, MissingGlyphs *missing, Error *error);
