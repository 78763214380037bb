/* choices.h -- the best allowed tokens of every live hypothesis of a batch.
 *
 * With one model, and constraints that need no logits but those of </s> and <unk>, the logits of
 * a whole row are never in memory. Those of some classes are computed for all rows, added to the
 * rows' normalisers, and searched, while they are in the second-level cache. So a step reads the
 * output matrix once. */
#pragma once

#include "base/best.h"
#include "inference/predictor.h"

/* The best tokens of a row with their logits, as best_add keeps them; or the one that is forced. */
typedef struct Choice {
    Best *token;  // [count]
    int count;
    Normaliser sum;
    double normaliser;  // ln p(token) = z - normaliser; 0 if not computed
} Choice;

typedef struct Choices {
    Predictor predictor;
    int most;        // tokens of a choice
    real *piece;     // [rows,NORMALISED] logits; NULL: the predictor has those of whole rows
    Choice *choice;  // [rows]
} Choices;

/* Takes the buffers for a batch, or measures them (arena.h). most: tokens of a choice; 0 if
 * choices_fill is not called */
void choices_layout(Choices *choices, Arena *arena, const SearchBatch *batch, int most);

/* Fills in the choice of every row, after predictor_step. normalised: needs the normalisers
 * false: a score is not finite */
bool choices_fill(Choices *choices, const Prefix *prefix, bool normalised);
