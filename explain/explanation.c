/* explanation.c -- the steps of one query through one head; see explanation.h. */
#include "explain/explanation.h"

#include "plots/blocks.h"

enum { A_LINE = 8, MOST_NUMBERS = 64, BAR = 24 };

/* q·k of the row that is followed and a key, or what else is compared. */
static double compared(const Explanation *e, int key)
{
    const real *q = snapshot_row(e->v.Q, e->word), *k = snapshot_row(e->v.K, key);
    int dh = e->v.Q.columns;
    double sum = 0;
    if (!e->score->product) return (double)e->score->compare(q, k, dh);
    for (int d = 0; d < dh; d++) sum += (double)q[d] * (double)k[d];
    return sum;
}

double explanation_score(const Explanation *e, int key)
{
    bool hidden = (e->causal && key > e->word) ||
                  (e->mask.rows && snapshot_row(e->mask, e->word)[key] == 0);
    return hidden ? -INFINITY : e->v.scale * compared(e, key);
}

/* ---- text ---- */

double unit_of(const real *x, int count)
{
    double most = 0;
    for (int k = 0; k < count; k++) most = fmax(most, fabs((double)x[k]));
    return most > 0 && most < 0.1 ? pow(10, floor(log10(most))) : 1;
}

/* text (=) the number in at most 9 characters; never "-0.000". */
static const char *number_text(char text[32], double x)
{
    if (fabs(x) < 0.0005) x = 0;
    snprintf(text, 32, fabs(x) < 1000 ? "%.3f" : fabs(x) < 1e6 ? "%.6g" : "%.2e", x);
    return text;
}

void put_number(const Explanation *e, double x)
{
    char text[32];
    fprintf(e->out, " %8s", number_text(text, x));
}

void put_row(const Explanation *e, const char *before, const char *name, const real *x,
             int count)
{
    put_label(e, before, name, LABEL);
    for (int k = 0; k < count && k < SHOWN; k++) put_number(e, (double)x[k]);
    fputs(count > SHOWN ? " …\n" : "\n", e->out);
}

void put_vector(const Explanation *e, const char *name, const char *of, SnapshotRows rows,
                int row)
{
    const real *x = snapshot_row(rows, row);
    double unit = unit_of(x, rows.columns);
    utf8_print(e->out, "  %s of \"%s\"", name, of);
    if (unit != 1) fprintf(e->out, " × %.0e", unit);
    for (int k = 0; k < rows.columns && k < MOST_NUMBERS; k++)
        fprintf(e->out, "%s%8.3f", k % A_LINE ? " " : "\n    ", (double)x[k] / unit);
    fputs(rows.columns > MOST_NUMBERS ? " …\n\n" : "\n\n", e->out);
}

/* ---- the steps ---- */

/* Writes how the query is compared with key j, with the first terms: "(1)(2) + (3)(4) + … = 14". */
static void put_comparison(const Explanation *e, int j)
{
    enum { TEXT = 1200 };
    const char *number = e->config ? "%.3f" : "%g";
    int terms = e->config ? 2 : 4;
    const real *q = snapshot_row(e->v.Q, e->word), *k = snapshot_row(e->v.K, j);
    int dh = e->v.Q.columns;
    char sum[TEXT / 2] = "", text[TEXT], term[128], x[60], y[60];
    for (int d = 0; d < dh && d < terms; d++) {
        snprintf(x, sizeof x, number, (double)q[d] + 0);
        snprintf(y, sizeof y, number, (double)k[d] + 0);
        snprintf(term, sizeof term, e->score->term, x, y);
        strcat(strcat(sum, d ? " + " : ""), term);
    }
    if (dh > terms) strcat(sum, " + …");
    snprintf(text, sizeof text, e->score->whole, sum, sqrt((double)dot_product(q, q, dh)),
             sqrt((double)dot_product(k, k, dh)));
    strcat(strcat(text, " = "), number_text(x, compared(e, j)));
    put_label(e, "  ", e->column[j], LABEL);
    columns_wrap(e->out, text, 1, LABEL + 3, LINE);
}

void explanation_compare(Explanation *e)
{
    step(e, "The query is compared with each key: %s", e->score->comparison);
    say(e, "%s The query of \"%s\" with each key:", e->score->meaning, e->row[e->word]);
    for (int j = 0; j < e->keys; j++) put_comparison(e, j);
    fputc('\n', e->out);
}

/* The largest weight, if the softmax were of scale · q·k. */
static double largest_at(const Explanation *e, double scale)
{
    double sum = 0, most = compared(e, e->most);
    for (int j = 0; j < e->keys; j++)
        if (!isinf(explanation_score(e, j))) sum += exp(scale * (compared(e, j) - most));
    return 1 / sum;
}

void explanation_scale(Explanation *e)
{
    int dh = e->v.Q.columns;
    const char *most = e->column[e->most];
    double root = sqrt(dh), weight = weight_of(e, e->word, e->most);
    if (e->score == &score_functions[SCORE_SCALED_DOT] && fabs(e->v.scale * root - 1) < 1e-6) {
        step(e, "Scaling by 1/√d_k");
        say(e,
            "A sum of %d independent products has a standard deviation √%d = %.3f times as "
            "large as one product. So before training, dividing by √d_k keeps the scores in "
            "the range where the softmax has useful gradients, however many numbers the "
            "vectors have. Training may then make scores as large as it needs. Without the "
            "division \"%s\" would get a weight of %.4f; with it, %.4f.",
            dh, dh, root, most, largest_at(e, 1), weight);
        return;
    }
    char factor[160] = "", otherwise[160] = "";
    if (e->v.scale != 1)
        snprintf(factor, sizeof factor, ": %s times %.3f%s", e->score->comparison, e->v.scale,
                 e->score->learned && e->config ? ", a number that this head has learned" : "");
    if (e->v.scale != 1 || e->score->product)
        snprintf(otherwise, sizeof otherwise, "; %s, it would get %.4f",
                 e->score->product ? "divided by √d_k, as in the Transformer" : "without it",
                 largest_at(e, e->score->product ? 1 / root : 1));
    step(e, *factor ? "Scaling" : "No scaling");
    say(e, "The score is %s%s. \"%s\" gets a weight of %.4f%s.", e->score->formula, factor,
        most, weight, otherwise);
}

void explanation_softmax(Explanation *e)
{
    double largest = -INFINITY, sum = 0;
    step(e, "Softmax: scores become attention weights");
    say(e,
        "The softmax raises e to the power of each score and divides by the sum. The attention "
        "weights are positive and sum to 1. (The largest score is subtracted first. This does "
        "not change the weights and prevents overflow.)");
    char text[64];
    snprintf(text, sizeof text, "z = %s", e->score->formula);
    int wide = columns_width(text) > 11 ? columns_width(text) : 11;
    put_label(e, "  ", "key", LABEL);
    columns_put(e->out, e->score->comparison, 10, true);
    fputc(' ', e->out);
    columns_put(e->out, text, wide, true);
    fprintf(e->out, " %10s %10s\n", "e^(z-max)", "weight");
    for (int j = 0; j < e->keys; j++) largest = fmax(largest, explanation_score(e, j));
    for (int j = 0; j < e->keys; j++) {
        double z = explanation_score(e, j), power = exp(z - largest),
               p = weight_of(e, e->word, j);
        bool masked = isinf(z);
        sum += power;
        put_label(e, "  ", e->column[j], LABEL);
        fprintf(e->out, " %9s ", number_text(text, compared(e, j)));
        columns_put(e->out, masked ? "-∞" : number_text(text, z), wide, true);
        fprintf(e->out, " %10.4f %10.4f%s", power, p, masked ? " masked" : "");
        blocks_bar(e->out, p, BAR - wide + 5);
        fputc('\n', e->out);
    }
    fprintf(e->out, "  %-*s %9s %*s %10.4f %10.4f\n\n", LABEL, "sum", "", wide, "", sum, 1.0);
}

void explanation_values(Explanation *e)
{
    int dh = e->v.V.columns;
    step(e, "The weighted sum of the values");
    say(e, "Each value is multiplied by its attention weight. The sum is the %s for \"%s\".",
        e->config ? "head's output" : "output", e->row[e->word]);
    for (int j = 0; j < e->keys; j++) {
        fprintf(e->out, "  %s%8.4f", j ? "+" : " ", weight_of(e, e->word, j));
        put_row(e, " × ", e->column[j], snapshot_row(e->v.V, j), dh);
    }
    put_row(e, "  =           ", "", snapshot_row(e->v.O, e->word), dh);
    fputc('\n', e->out);
}

void explanation_map(Explanation *e)
{
    const HeatMap map = {e->map.at, e->map.rows, e->map.columns,
                         e->row,    e->column,   .causal = e->causal};
    step(e, "All attention weights: rows are queries, columns are keys, rows sum to 1");
    blocks_print(e->out, &map, blocks_colored(e->out));
}
