/* byhand.c -- attention by hand: reads a file and computes; see byhand.h. */
#include "explain/byhand.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/text.h"

static const char *const names[] = {"query", "key", "value", "x", "W_Q", "W_K", "W_V", "mask"};

/* ---- the file ---- */

typedef struct Reading {
    ByHand *b;
    const char *path;
    size_t line;
    NamedRows *block;  // of the rows; NULL before the first
} Reading;

static bool wrong(const Reading *r, Error *error, const char *sentence, const char *about)
{
    return error_set(error, "%s:%zu: %s%s", r->path, r->line, sentence, about);
}

/* Whether text is a number; x (=) it, or NaN where it is not finite or too large. */
static bool is_number(real *x, const char *text)
{
    char *end;
    double number = strtod(text, &end);
    *x = fabs(number) <= 1e6 ? (real)number : (real)NAN;
    return end != text && !*end;
}

static bool number_of(real *x, const char *text)
{
    return is_number(x, text) && !isnan(*x);
}

static int find(const char *const *name, int count, const char *word)
{
    int i = 0;
    while (i < count && strcmp(name[i], word)) i++;
    return i < count ? i : -1;
}

/* NAME = VALUE */
static bool read_setting(Reading *r, const char *name, const char *value, Error *error)
{
    ByHand *b = r->b;
    if (!strcmp(name, "score")) {
        int count = 0;
        while (score_names[count]) count++;
        int score = find(score_names, count, value);
        if (score < 0)
            return wrong(r, error, "a score is scaled-dot, dot, dot-over-d, cosine or laplace",
                         "");
        b->score = (Score)score;
        return true;
    }
    if (!strcmp(name, "scale"))
        return number_of(&b->scale, value) ||
               wrong(r, error, "a scale is a number, not ", value);
    b->causal = !strcmp(name, "mask") && !strcmp(value, "causal");
    return b->causal ||
           wrong(r, error, "a setting is score = NAME, scale = NUMBER or mask = causal", "");
}

/* A row: perhaps a label, and numbers. */
static bool read_row(Reading *r, char *const *word, int words, Error *error)
{
    NamedRows *block = r->block;
    real first;
    int label = !is_number(&first, word[0]), count = words - label;
    if (!block) return wrong(r, error, "a block begins with its name, not with ", word[0]);
    if (count > BYHAND_MOST) return wrong(r, error, "a row has at most 256 numbers", "");
    if (block->rows == BYHAND_MOST) return wrong(r, error, "a block has at most 256 rows", "");
    if (!count)
        return wrong(r, error, "this is neither a row with numbers nor a block: ", word[0]);
    if (block->rows && block->columns != count)
        return wrong(r, error, "this row has another number of numbers than the one before",
                     "");
    if (!block->at) block->at = calloc((size_t)BYHAND_MOST * BYHAND_MOST, sizeof(real));
    char number[16];
    snprintf(number, sizeof number, "%d", block->rows + 1);
    char *name = strdup(label ? word[0] : number);
    if (!block->at || !name) return free(name), wrong(r, error, "not enough memory", "");
    block->label[block->rows] = name;
    real *to = block->at + block->rows++ * count;
    block->columns = count;
    for (int k = 0; k < count; k++)
        if (!number_of(&to[k], word[label + k]))
            return wrong(r, error, "a number from -1000000 to 1000000 is needed, not ",
                         word[label + k]);
    return true;
}

static bool read_line(Reading *r, char *line, Error *error)
{
    char *word[BYHAND_MOST + 2], *rest = line;
    int words = 0;
    line[strcspn(line, "#")] = 0;
    for (char *w; (w = strtok_r(rest, " \t", &rest));) {
        if (words == BYHAND_MOST + 1)
            return wrong(r, error, "a row has at most 256 numbers", "");
        word[words++] = w;
    }
    if (words == 3 && !strcmp(word[1], "=")) return read_setting(r, word[0], word[2], error);
    int block = words == 1 ? find(names, BYHAND_BLOCKS, word[0]) : -1;
    if (block < 0) return !words || read_row(r, word, words, error);
    r->block = &r->b->block[block];
    return !r->block->rows || wrong(r, error, "there is already a block ", word[0]);
}

static bool read_file(ByHand *b, const char *path, Error *error)
{
    TextReader text;
    Reading r = {.b = b, .path = path};
    const char *line;
    size_t length;
    TextResult result;
    bool good = true;
    if (!text_open(&text, path, error)) return false;
    while (good && (result = text_next(&text, &line, &length, error)) == TEXT_LINE) {
        char *copy = strdup(line);
        r.line = text.line;
        good = copy ? read_line(&r, copy, error) : wrong(&r, error, "not enough memory", "");
        free(copy);
    }
    text_close(&text);
    return good && result == TEXT_END;
}

/* ---- the computation ---- */

/* block (=) its projection of x, or x. */
static bool project(ByHand *b, ByHandBlock which, Error *error)
{
    NamedRows *to = &b->block[which], *W = &b->block[BYHAND_W_Q + (which - BYHAND_QUERY)];
    const NamedRows *x = &b->block[BYHAND_X];
    if (to->rows && W->rows)
        return error_set(error, "%s and %s are both given: give one of them", names[which],
                         names[BYHAND_W_Q + (which - BYHAND_QUERY)]);
    if (to->rows) return true;
    if (!x->rows)
        return error_set(error,
                         "the block %s is missing, and so is x, which it could come from",
                         names[which]);
    if (W->rows && W->columns != x->columns)
        return error_set(error,
                         "the rows of %s have %d numbers and those of x %d: W x needs "
                         "the same",
                         names[BYHAND_W_Q + (which - BYHAND_QUERY)], W->columns, x->columns);
    to->rows = x->rows;
    to->columns = W->rows ? W->rows : x->columns;
    to->at = calloc((size_t)to->rows * (size_t)to->columns, sizeof(real));
    if (!to->at) return error_set(error, "not enough memory");
    for (int i = 0; i < to->rows; i++) {
        to->label[i] = strdup(x->label[i]);
        if (!to->label[i]) return error_set(error, "not enough memory");
        for (int k = 0; k < to->columns; k++) {
            const real *xi = x->at + i * x->columns;
            to->at[i * to->columns + k] =
                W->rows ? dot_product(W->at + k * W->columns, xi, x->columns) : xi[k];
        }
    }
    return true;
}

static bool check_sizes(const ByHand *b, Error *error)
{
    const NamedRows *q = &b->block[BYHAND_QUERY], *k = &b->block[BYHAND_KEY],
                    *v = &b->block[BYHAND_VALUE], *mask = &b->block[BYHAND_MASK];
    if (q->columns != k->columns)
        return error_set(error, "queries have %d numbers and keys %d: they must have as many",
                         q->columns, k->columns);
    if (k->rows != v->rows)
        return error_set(error, "there are %d keys and %d values: each key has one value",
                         k->rows, v->rows);
    if (mask->rows && (mask->rows != q->rows || mask->columns != k->rows))
        return error_set(error,
                         "the mask is %d × %d, and there are %d queries and %d keys: it "
                         "needs a row for each query and a number for each key",
                         mask->rows, mask->columns, q->rows, k->rows);
    for (int i = 0; i < mask->rows; i++) {
        int seen = 0;
        for (int j = 0; j < mask->columns; j++) {
            real x = mask->at[i * mask->columns + j];
            if (x != 0 && x != 1) return error_set(error, "a mask has only 0 and 1");
            seen += x == 1;
        }
        if (!seen)
            return error_set(error, "row %d of the mask is all 0: each query must see a key",
                             i + 1);
    }
    return true;
}

bool byhand_sees(const ByHand *b, int query, int key)
{
    const NamedRows *mask = &b->block[BYHAND_MASK];
    return (!b->causal || key <= query) &&
           (!mask->rows || mask->at[query * mask->columns + key] == 1);
}

/* C (=) the comparisons, P (=) the softmax over the keys that a query sees, O (=) P V */
static bool compute(ByHand *b, Error *error)
{
    const NamedRows *q = &b->block[BYHAND_QUERY], *k = &b->block[BYHAND_KEY],
                    *v = &b->block[BYHAND_VALUE];
    int n = q->rows, m = k->rows, dh = q->columns, dv = v->columns;
    b->C = calloc((size_t)n * (size_t)m, sizeof(real));
    b->P = calloc((size_t)n * (size_t)m, sizeof(real));
    b->O = calloc((size_t)n * (size_t)dv, sizeof(real));
    if (!b->C || !b->P || !b->O) return error_set(error, "not enough memory");
    if (isnan(b->scale)) b->scale = score_functions[b->score].scale(dh);
    scores_forward((Rows){b->C, m}, &score_functions[b->score], (Rows){q->at, dh},
                   (Rows){k->at, dh}, 1, n, m, dh);
    for (int i = 0; i < n; i++) {
        int seen = 0;
        real row[BYHAND_MOST] = {0};
        for (int j = 0; j < m; j++)
            if (byhand_sees(b, i, j)) row[seen++] = b->scale * b->C[i * m + j];
        softmax_row(row, seen);
        for (int j = 0, at = 0; j < m; j++)
            if (byhand_sees(b, i, j)) b->P[i * m + j] = row[at++];
        for (int j = 0; j < m; j++)
            for (int d = 0; d < dv; d++)
                b->O[i * dv + d] += b->P[i * m + j] * v->at[j * dv + d];
    }
    return true;
}

bool byhand_read(ByHand *b, const char *path, Error *error)
{
    *b = (ByHand){.scale = NAN};
    if (!read_file(b, path, error)) return false;
    return (project(b, BYHAND_QUERY, error) && project(b, BYHAND_KEY, error) &&
            project(b, BYHAND_VALUE, error) && check_sizes(b, error) && compute(b, error)) ||
           error_prefix(error, "%s: ", path);
}

void byhand_free(ByHand *b)
{
    for (int i = 0; i < BYHAND_BLOCKS; i++) {
        for (int row = 0; row < BYHAND_MOST; row++) free(b->block[i].label[row]);
        free(b->block[i].at);
    }
    free(b->C);
    free(b->P);
    free(b->O);
}
