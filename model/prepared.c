/* prepared.c -- the matrices of a network that only translates; see prepared.h. */
#include "model/prepared.h"

#include <stdlib.h>

void prepared_free(Prepared *prepared)
{
    arena_free(&prepared->arena);
    free(prepared->matrix);
    *prepared = (Prepared){0};
}

PreparedRows prepared_rows(const Prepared *prepared, const Tensor *tensor)
{
    for (int i = 0; i < prepared->count; i++) {
        const PreparedMatrix *m = &prepared->matrix[i];
        size_t size = (size_t)m->rows * (size_t)m->columns, from = tensor->offset - m->offset;
        if (tensor->offset >= m->offset && from < size)
            return (PreparedRows){m, (int)(from / (size_t)m->columns)};
    }
    return (PreparedRows){NULL, 0};
}
