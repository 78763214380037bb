/* prepared.h -- the matrices of a network that only translates: packed or int8, in memory of
 * their own. model/quantised.h makes them. */
#ifndef MODEL_PREPARED_H
#define MODEL_PREPARED_H

#include "model/params.h"

typedef struct PreparedMatrix {
    Matrix W;
    int rows, columns;
    size_t offset;     // in a block, of the tensors that it replaces
    Matrix *original;  // in the network's Weights
} PreparedMatrix;

typedef struct Prepared {
    int count;               // 0: the network is not prepared
    PreparedMatrix *matrix;  // [count]
    Arena arena;             // their numbers
} Prepared;

void prepared_free(Prepared *prepared);

/* A tensor's rows: those of `matrix` from `first` on; NULL if the tensor was not prepared. */
typedef struct PreparedRows {
    const PreparedMatrix *matrix;
    int first;
} PreparedRows;
PreparedRows prepared_rows(const Prepared *prepared, const Tensor *tensor);

#endif
