/* screening.c -- see screening.h. */
#include "inference/screening.h"

#include "kernels/vecexp.h"

bool screening_open(Screening *s, const Transformer *model, Error *error)
{
    int V = model->config.vocab, D = model->config.d_model;
    real *w = NULL, *rounded = NULL;
    *s = (Screening){.output = &model->weights.output, .bias = model->weights.logits_bias};
    for (int pass = 0; pass < 2; pass++) {
        s->rows = int8_take(&s->arena, V, D);
        w = ARENA_TAKE(&s->arena, real, (size_t)D);
        rounded = ARENA_TAKE(&s->arena, real, (size_t)D);
        if (pass == 0 && !arena_reserve(&s->arena, error)) return false;
    }
    for (int c = 0; c < V - 1; c++) {
        double wrong = 0, norm = 0;
        matrix_row(w, s->output, c, D);
        int8_quantise(s->rows, c, w, 1);
        int8_dequantise(rounded, s->rows, c);
        for (int k = 0; k < D; k++) {
            double off = (double)w[k] - (double)rounded[k];
            wrong += off * off, norm += (double)rounded[k] * (double)rounded[k];
        }
        s->error = fmax(s->error, sqrt(wrong)), s->norm = fmax(s->norm, sqrt(norm));
        s->most_bias = fmax(s->most_bias, fabs((double)s->bias[c]));
    }
    return true;
}

void screening_close(Screening *s)
{
    arena_free(&s->arena);
    *s = (Screening){0};
}

double screening_bound(const Screening *s, const real *x)
{
    int n = s->rows->columns;
    double squares = 0, most = 0;
    for (int k = 0; k < n; k++) {
        squares += (double)x[k] * (double)x[k];
        most = fmax(most, fabs((double)x[k]));
    }
    double norm = sqrt(squares), sums = 2e-7 * n * (norm * (s->norm + s->error) + s->most_bias);
    return norm * s->error + sqrt(n) * most / 254 * s->norm + sums;
}

int screening_best(const Screening *s, const real *z, const real *x)
{
    int C = s->rows->rows - 1;
    real logit[MATRIX_PANEL], most = vec_maximum(z, C), largest = -INFINITY;
    real least = (real)((double)most - 2 * screening_bound(s, x));
    int best = -1;
    for (int first = 0; first < C && most > -INFINITY; first += MATRIX_PANEL) {
        int count = at_most(C - first, MATRIX_PANEL);
        if (vec_maximum(z + first, count) < least) continue;
        matrix_multiply_panel(logit, x, s->output, s->bias, first, count, s->rows->columns);
        for (int c = 0; c < count; c++)
            if (z[first + c] >= least && logit[c] > largest)
                largest = logit[c], best = first + c;
    }
    return best;
}
