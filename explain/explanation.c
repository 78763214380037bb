/* explanation.c -- how explanations print numbers; see explanation.h. */
#include "explain/explanation.h"

#include <math.h>
#include <string.h>

enum { A_LINE = 8, MOST_NUMBERS = 64 };

double unit_of(const real *x, int count)
{
    double most = 0;
    for (int k = 0; k < count; k++) most = fmax(most, fabs((double)x[k]));
    return most > 0 && most < 0.1 ? pow(10, floor(log10(most))) : 1;
}

double plain(double x)
{
    return fabs(x) < 5e-5 ? 0 : x;
}

void put_vector(const Explanation *e, const char *name, const char *of, SnapshotRows rows,
                int row)
{
    const real *x = row_of(rows, row);
    double unit = unit_of(x, rows.columns);
    utf8_print(e->out, "  %s of \"%s\"", name, of);
    if (unit != 1) fprintf(e->out, " × %.0e", unit);
    for (int k = 0; k < rows.columns && k < MOST_NUMBERS; k++)
        fprintf(e->out, "%s%8.3f", k % A_LINE ? " " : "\n    ", (double)x[k] / unit);
    fputs(rows.columns > MOST_NUMBERS ? " …\n\n" : "\n\n", e->out);
}

void comparison_text(char text[COMPARISON_TEXT], const ScoreFunction *score, const real *q,
                     const real *k, int dh, int shown, const char *number)
{
    char sum[COMPARISON_TEXT / 2] = "", term[128], x[60], y[60];
    for (int d = 0; d < dh && d < shown; d++) {
        snprintf(x, sizeof x, number, (double)q[d] + 0);
        snprintf(y, sizeof y, number, (double)k[d] + 0);
        snprintf(term, sizeof term, score->term, x, y);
        strcat(strcat(sum, d ? " + " : ""), term);
    }
    if (dh > shown) strcat(sum, " + …");
    snprintf(text, COMPARISON_TEXT, score->whole, sum, sqrt((double)dot_product(q, q, dh)),
             sqrt((double)dot_product(k, k, dh)));
}
