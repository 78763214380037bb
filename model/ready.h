/* ready.h -- a network that only translates: its matrices made ready for products, once.
 *
 *     if (!transformer_ready(&model, MATRIX_INT8, error)) return false;      model.ready
 *
 * Every matrix of weights goes into the form of matrix.h, and the memory that it lay in goes back
 * to the system. What is left in model.block: biases, norms, learned positions, and with floats the
 * embeddings, whose rows are looked up. A network that is ready translates, scores and shows its
 * attention; it can no longer be trained or saved by its block, nor can it get other weights
 * (transformer_use). */
#ifndef MODEL_READY_H
#define MODEL_READY_H

#include "model/checkpoint.h"
#include "model/transformer.h"

typedef struct Ready {
    Arena arena;
    int count;
    Matrix *matrix;  // [count]
    size_t *offset;  // [count] where in the block each one lay
} Ready;

void ready_free(Ready *ready);

/* Which rows of which matrix a tensor's are; {NULL} if it is in none, or ready is NULL. */
typedef struct MatrixRows {
    const Matrix *matrix;
    int first;
} MatrixRows;
MatrixRows ready_rows(const Ready *ready, const Tensor *tensor);

/* false: not enough memory; the model is as it was. Floats stay as they are where they lie in
 * panels already (gemm_in_panels), or where a build's own products would be slower than OpenBLAS's
 * (gemm_packs). */
bool transformer_ready(Transformer *model, MatrixKind kind, Error *error);

/* Fills a network with what a file holds, whose matrices are rounded: they go straight into their
 * form, and take no memory in the block. false: the file does not fit, or not enough memory. */
bool transformer_read_rounded(Transformer *model, const CheckpointFile *file, Error *error);

#endif
