/* byhand-steps.c -- attention by hand: prints the steps and draws the weights; see byhand.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/columns.h"
#include "explain/byhand.h"
#include "plots/attentionpage.h"
#include "plots/blocks.h"
#include "plots/png.h"

enum { LINE = 79, LABEL = 13, TERMS = 4, SHOWN = 5 };

/* No "-0.000". */
static double shown(real x)
{
    return fabs((double)x) < 0.0005 ? 0 : (double)x;
}

static void put_numbers(FILE *out, const real *x, int count)
{
    for (int k = 0; k < count && k < SHOWN; k++)
        fprintf(out, fabs((double)x[k]) < 1000 ? " %8.3f" : " %8.6g", shown(x[k]));
    fputs(count > SHOWN ? " …\n" : "\n", out);
}

static void put_rows(FILE *out, const char *name, const NamedRows *rows, const real *at)
{
    fprintf(out, "  %s\n", name);
    for (int i = 0; i < rows->rows; i++) {
        fputs("    ", out);
        columns_put(out, rows->label[i], LABEL, false);
        put_numbers(out, at + i * rows->columns, rows->columns);
    }
    fputc('\n', out);
}

static void step_vectors(FILE *out, const ByHand *b)
{
    static const char *const of[] = {"queries Q", "keys K", "values V"};
    static const char *const product[] = {"q = W_Q x", "k = W_K x", "v = W_V x"};
    const NamedRows *x = &b->block[BYHAND_X];
    columns_say(out, LINE, "1. Queries, keys and values");
    if (x->rows) put_rows(out, "x", x, x->at);
    for (int which = BYHAND_QUERY; which <= BYHAND_VALUE; which++) {
        char name[64];
        const NamedRows *rows = &b->block[which], *W = &b->block[BYHAND_W_Q + which];
        snprintf(name, sizeof name, "%s%s%s", of[which], W->rows ? ": " : "",
                 W->rows ? product[which] : "");
        put_rows(out, name, rows, rows->at);
    }
}

/* "(1)(0.5) + (2)(1)" */
static void put_comparison(FILE *out, const ByHand *b, const real *q, const real *k, int dh)
{
    bool laplace = b->score == SCORE_LAPLACE;
    if (laplace || b->score == SCORE_COSINE) fputs(laplace ? "-(" : "(", out);
    for (int d = 0; d < dh && d < TERMS; d++)
        fprintf(out, laplace ? "%s|%g - %g|" : "%s(%g)(%g)", d ? " + " : "", (double)q[d] + 0,
                (double)k[d] + 0);
    fputs(dh > TERMS ? " + …" : "", out);
    if (laplace) fputc(')', out);
    if (b->score == SCORE_COSINE)
        fprintf(out, ") / (%.3f × %.3f)", sqrt((double)dot_product(q, q, dh)),
                sqrt((double)dot_product(k, k, dh)));
}

static void step_compare(FILE *out, const ByHand *b, int i)
{
    const NamedRows *query = &b->block[BYHAND_QUERY], *key = &b->block[BYHAND_KEY];
    const ScoreFunction *score = &score_functions[b->score];
    int dh = query->columns;
    columns_say(out, LINE, "2. The query \"%s\" is compared with each key: %s", query->label[i],
                score->comparison);
    for (int j = 0; j < key->rows; j++) {
        fputs("    ", out);
        columns_put(out, key->label[j], LABEL, false);
        fputc(' ', out);
        put_comparison(out, b, query->at + i * dh, key->at + j * dh, dh);
        fprintf(out, " = %.3f\n", shown(b->C[i * key->rows + j]));
    }
    fputc('\n', out);
}

static void step_softmax(FILE *out, const ByHand *b, int i)
{
    const NamedRows *key = &b->block[BYHAND_KEY];
    const real *C = b->C + i * key->rows, *P = b->P + i * key->rows;
    double largest = -INFINITY, sum = 0;
    for (int j = 0; j < key->rows; j++)
        if (byhand_sees(b, i, j)) largest = fmax(largest, (double)(b->scale * C[j]));
    columns_say(out, LINE,
                "3. The comparison times %.3f is the score z (here z = %s). The softmax makes "
                "weights of the scores: e to the power of each, divided by their sum. (The "
                "largest score is subtracted first, which changes no weight.)",
                (double)b->scale, score_functions[b->score].formula);
    fprintf(out, "    %-*s %9s %10s %9s\n", LABEL, "key", "z", "e^(z-max)", "weight");
    for (int j = 0; j < key->rows; j++) {
        double z = (double)(b->scale * C[j]);
        fputs("    ", out);
        columns_put(out, key->label[j], LABEL, false);
        if (!byhand_sees(b, i, j)) {
            fprintf(out, "        -∞ %10.4f %9.4f masked\n", 0.0, 0.0);
            continue;
        }
        sum += exp(z - largest);
        fprintf(out, " %9.3f %10.4f %9.4f", shown((real)z), exp(z - largest), (double)P[j]);
        blocks_bar(out, (double)P[j], 30);
        fputc('\n', out);
    }
    fprintf(out, "    %-*s %9s %10.4f %9.4f\n\n", LABEL, "sum", "", sum, 1.0);
}

static void step_values(FILE *out, const ByHand *b, int i)
{
    const NamedRows *value = &b->block[BYHAND_VALUE];
    int dv = value->columns;
    columns_say(out, LINE, "4. The output is the sum of the values, each times its weight");
    for (int j = 0; j < value->rows; j++) {
        fprintf(out, "  %s%8.4f × ", j ? "+" : " ", (double)b->P[i * value->rows + j]);
        columns_put(out, value->label[j], LABEL, false);
        put_numbers(out, value->at + j * dv, dv);
    }
    fprintf(out, "  =%*s", LABEL + 11, "");
    put_numbers(out, b->O + i * dv, dv);
    fputc('\n', out);
}

/* weight [n,m] (=) the attention weights, for free(). */
static HeatMap map_of(const ByHand *b, float **weight)
{
    const NamedRows *query = &b->block[BYHAND_QUERY], *key = &b->block[BYHAND_KEY];
    size_t count = (size_t)query->rows * (size_t)key->rows;
    *weight = malloc(count * sizeof **weight);
    for (size_t i = 0; *weight && i < count; i++) (*weight)[i] = (float)b->P[i];
    return (HeatMap){.weight = *weight,
                     .rows = query->rows,
                     .columns = key->rows,
                     .row_labels = (const char *const *)query->label,
                     .column_labels = (const char *const *)key->label};
}

bool byhand_print(FILE *out, const ByHand *b, const char *word, Error *error)
{
    const NamedRows *query = &b->block[BYHAND_QUERY];
    int i = 0;
    while (word && i < query->rows && strcmp(query->label[i], word)) i++;
    char *end = "";
    if (i == query->rows) i = (int)strtol(word, &end, 10) - 1;
    if (*end || i < 0 || i >= query->rows)
        return error_set(error, "`word` '%s' is neither a query nor a number from 1 to %d",
                         word, query->rows);
    float *weight;
    HeatMap map = map_of(b, &weight);
    if (!weight) return error_set(error, "not enough memory");
    NamedRows outputs = *query;
    outputs.columns = b->block[BYHAND_VALUE].columns;
    step_vectors(out, b);
    step_compare(out, b, i);
    step_softmax(out, b, i);
    step_values(out, b, i);
    columns_say(out, LINE, "5. The same for every query: attention weights and outputs");
    blocks_print(out, &map, b->causal, blocks_color(out));
    fputc('\n', out);
    put_rows(out, "outputs", &outputs, b->O);
    free(weight);
    return true;
}

bool byhand_draw(const char *path, int format, const ByHand *b, const char *title, Theme theme,
                 int scale, Error *error)
{
    float *weight;
    HeatMap map = map_of(b, &weight);
    if (!weight) return error_set(error, "not enough memory for a picture");
    HeatMapSection section = {
        .caption = "A row is a query, a column a key.", .large = &map, .causal = b->causal};
    AttentionPage page = {.title = title,
                          .sections = &section,
                          .count = 1,
                          .theme = theme,
                          .scale = scale,
                          .format = (CanvasFormat)format};
    Canvas *canvas;
    const PngText text = {"Software", "qkv"};
    bool good = attentionpage_draw(&canvas, &page, NULL, error);
    if (good && format == CANVAS_PNG) good = png_save_canvas(path, canvas, &text, 1, error);
    else if (good) good = canvas_save_document(path, canvas, title, error);
    canvas_free(canvas);
    free(weight);
    return good;
}
