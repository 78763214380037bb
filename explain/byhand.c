/* byhand.c -- attention by hand: reads a file, computes, prints and draws; see byhand.h. */
#include "explain/byhand.h"

#include "base/file.h"
#include "base/textstream.h"
#include "data/text.h"
#include "explain/page.h"

/* ---- the file ---- */

static const char *const masks[] = {"none", "causal", NULL};
// clang-format off
static const Option settings[BYHAND_SETTINGS] = {
    {.name = "score", .kind = OPTION_CHOICE, .offset = offsetof(ByHand, score), .choices = score_names},
    {.name = "scale", .kind = OPTION_REAL, .offset = offsetof(ByHand, scale), .least = -1e6, .most = 1e6},
    {.name = "mask", .kind = OPTION_CHOICE, .offset = offsetof(ByHand, causal), .choices = masks},
    {.name = "heads", .kind = OPTION_INT, .offset = offsetof(ByHand, heads), .least = 1, .most = BYHAND_HEADS},
};
// clang-format on
static const Option number = {.kind = OPTION_REAL, .least = -1e6, .most = 1e6};

/* Whether a word was meant as a number, such as 0,5 or −1. The first one may be a label: 1st or -. */
static bool meant_as_number(const char *word, bool first)
{
    if (first) return strpbrk(word, "0123456789") && !word[strspn(word, "0123456789+-.,/−")];
    return strspn(word, "0123456789+-.") || !strncmp(word, "−", strlen("−"));
}

/* *count (=) the words before the first number: those of a label. Joins them to word[0]. */
static bool join_label(int *count, char *const *word, int words, Error *error)
{
    char *end;
    for (int k = *count = 0; k < words && (strtod(word[k], &end), *end); *count = ++k) {
        if (meant_as_number(word[k], !k))
            return error_set(error, "'%s' is no number: write 0.5 or -1, or quote the label",
                             word[k]);
        if (k) word[k - 1][strlen(word[k - 1])] = ' ';
    }
    return true;
}

/* A row of numbers, perhaps after a label. label: if it is quoted, else NULL */
static bool read_row(LabelledRows *to, const char *label, char *const *word, int words,
                     Error *error)
{
    int first = 0;
    if (!label && !join_label(&first, word, words, error)) return false;
    int count = words - first;
    if (first) label = word[0];
    if (!to || !count)
        return error_set(
            error,
            "a block begins with query, key, value, x, W_Q, W_K, W_V, mask or gradient, "
            "not with %s",
            label ? label : word[0]);
    if (to->rows == BYHAND_MOST || count > BYHAND_MOST)
        return error_set(error, "a block has at most %d rows and as many columns", BYHAND_MOST);
    if (to->rows && count != to->columns)
        return error_set(error,
                         "this row has %d numbers, and the one before %d; a label that is a "
                         "number stands in quotes",
                         count, to->columns);
    char *text = to->text[to->rows];
    snprintf(text, BYHAND_LABEL, "%d", to->rows + 1);
    if (label && !utf8_fit(text, BYHAND_LABEL, label))
        return error_set(error, "a label has at most %d bytes", BYHAND_LABEL - 1);
    for (int k = 0; k < count; k++) {
        double x;
        const char *what = label || k ? "a row" : "without a label in quotes, a row";
        if (!option_store(&number, &x, what, word[first + k], error)) return false;
        to->at[to->rows][k] = (real)x;
    }
    to->label[to->rows++] = text;
    to->columns = count;
    return true;
}

/* A setting, the name of a block, a row, or nothing. */
static bool read_line(ByHand *b, char *line, Error *error)
{
    enum { WORDS = BYHAND_MOST + BYHAND_LABEL };  // numbers, and those of a label
    char *word[WORDS] = {""}, *rest, *label = NULL;
    int words = 0, block = 0, setting = 0;
    line += strspn(line, " \t");
    if (*line == '"') {
        label = line + 1;
        if (!(line = strchr(label, '"'))) return error_set(error, "the quote is not closed");
        *line++ = 0;
    }
    line[strcspn(line, "#")] = 0;
    char *equals = label ? NULL : strchr(line, '=');
    if (equals) *equals = ' ';
    for (char *w = strtok_r(line, " \t", &rest); w; w = strtok_r(NULL, " \t", &rest))
        if (words < WORDS) word[words++] = w;
    if (label) return read_row(b->reading, label, word, words, error);
    while (setting < BYHAND_SETTINGS && strcmp(settings[setting].name, word[0])) setting++;
    while (block < BYHAND_BLOCKS && strcmp(b->block[block].name, word[0])) block++;
    bool set = words == 2 && setting < BYHAND_SETTINGS;
    if (set && equals && b->set[setting])
        return error_set(error, "there is already a setting %s", word[0]);
    if (set && equals) {
        b->set[setting] = true;
        return option_store(&settings[setting], b, word[0], word[1], error);
    }
    if (set || equals)
        return error_set(error, "a setting is score = NAME, scale = NUMBER, mask = causal or "
                                "heads = NUMBER");
    if (!words) return true;
    if (words > 1 || block == BYHAND_BLOCKS)
        return read_row(b->reading, NULL, word, words, error);
    b->reading = &b->block[block];
    if (b->reading->line) return error_set(error, "there is already a block %s", word[0]);
    b->reading->line = b->line;
    return true;
}

/* ---- the computation ---- */

/* Whether a block has the rows or columns that it needs, if it is there. */
static bool fits(ByHand *b, const LabelledRows *x, int has, int needs, const char *of,
                 Error *error)
{
    if (!x->rows || has == needs) return true;
    b->line = x->line;
    return error_set(error, "%s has %d %s, not %d", x->name, needs, of, has);
}

/* A block that is missing (=) its projection W x of each row x, or x. */
static bool project(ByHand *b, LabelledRows *to, const LabelledRows *W, Error *error)
{
    const LabelledRows *x = &b->x;
    if (to->rows && !W->rows) return true;
    b->line = W->rows ? W->line : b->line;
    if (to->rows || !x->rows)
        return error_set(error,
                         to->rows ? "%s and %s are both given: give one of them"
                                  : "%s is missing, and so is x to compute it from",
                         to->name, W->name);
    if (!fits(b, W, W->columns, x->columns, "columns, as x has", error)) return false;
    memcpy(to->label, x->label, sizeof x->label);
    to->line = W->rows ? W->line : x->line;
    to->rows = x->rows;
    to->columns = W->rows ? W->rows : x->columns;
    for (int i = 0; i < to->rows; i++)
        for (int k = 0; k < to->columns; k++)
            to->at[i][k] = W->rows ? dot_product(W->at[k], x->at[i], x->columns) : x->at[i][k];
    return true;
}

/* The part of the columns that a head has: of `heads`, or 1 for all. */
static SnapshotRows rows_of(const LabelledRows *x, int head, int heads)
{
    int columns = x->columns / heads;
    return (SnapshotRows){x->at[0] + head * columns, x->rows, columns, BYHAND_MOST};
}

static SnapshotRows part_of(const ByHand *b, const LabelledRows *x)
{
    return rows_of(x, b->steps.head, b->heads);
}

static void follow(ByHand *b, int head)
{
    Explanation *e = &b->steps;
    int n = b->query.rows, m = b->key.rows;
    e->head = head;
    e->map = (Map){b->P[head], n, m};
    e->v = (HeadVectors){.Q = part_of(b, &b->query),
                         .K = part_of(b, &b->key),
                         .V = part_of(b, &b->value),
                         .O = part_of(b, &b->output),
                         .scale = b->scale};
    b->d = (HeadGradients){.x = {.Q = part_of(b, &b->dQ),
                                 .K = part_of(b, &b->dK),
                                 .V = part_of(b, &b->dV),
                                 .O = part_of(b, &b->gradient)},
                           .P = {b->dP[head], n, m, m},
                           .S = {b->dS[head], n, m, m}};
}

/* The scores of query i, its weights and its output. False: no key is seen, or the mask has other
 * numbers. */
static bool attend(ByHand *b, int i)
{
    Explanation *e = &b->steps;
    int m = b->key.rows, dv = e->v.V.columns;
    real *output = b->output.at[i] + e->head * dv;
    double z[BYHAND_MOST], largest = -INFINITY, sum = 0;
    e->word = i;
    for (int j = 0; j < m; j++) {
        real sees = b->mask.at[i][j];
        if (b->mask.rows && sees != 0 && sees != 1) return false;
        z[j] = explanation_score(e, j);
        largest = fmax(largest, z[j]);
    }
    for (int j = 0; j < m; j++) sum += exp(z[j] - largest);
    memset(output, 0, (size_t)dv * sizeof *output);
    for (int j = 0; j < m; j++) {
        double p = exp(z[j] - largest) / sum;
        b->P[e->head][i * m + j] = (real)p;
        for (int d = 0; d < dv; d++) output[d] += (real)p * snapshot_row(e->v.V, j)[d];
    }
    e->most = largest_weight(e, i);
    return !isinf(largest);
}

static bool compute(ByHand *b, Error *error)
{
    for (int k = 0; k < 3; k++)
        if (!project(b, &b->block[k], &b->block[k + 4], error)) return false;
    int n = b->query.rows, m = b->key.rows, d = b->query.columns, dv = b->value.columns;
    int left = (b->heads - d % b->heads) % b->heads,
        v_left = (b->heads - dv % b->heads) % b->heads;
    if (!fits(b, &b->query, d, d + left, "columns, a multiple of the heads", error) ||
        !fits(b, &b->value, dv, dv + v_left, "columns, a multiple of the heads", error) ||
        !fits(b, &b->key, b->key.columns, d, "columns, as query has", error) ||
        !fits(b, &b->value, b->value.rows, m, "rows, one for each key", error) ||
        !fits(b, &b->mask, b->mask.rows, n, "rows, one for each query", error) ||
        !fits(b, &b->mask, b->mask.columns, m, "columns, one for each key", error) ||
        !fits(b, &b->gradient, b->gradient.rows, n, "rows, one for each query", error) ||
        !fits(b, &b->gradient, b->gradient.columns, dv, "columns, as value has", error))
        return false;
    if (isnan(b->scale))
        b->scale = (double)score_scale(&score_functions[b->score], d / b->heads);
    memcpy(b->output.label, b->query.label, sizeof b->query.label);
    b->output.rows = n, b->output.columns = dv;
    b->steps = (Explanation){.score = &score_functions[b->score],
                             .causal = b->causal,
                             .row = b->query.label,
                             .column = b->key.label,
                             .keys = m,
                             .mask = rows_of(&b->mask, 0, 1)};
    b->line = b->mask.line;
    for (int h = 0; h < b->heads; h++) {
        follow(b, h);
        for (int i = 0; i < n; i++)
            if (!attend(b, i))
                return error_set(error, "row %d of the mask needs only 0 and 1, and a 1",
                                 i + 1);
    }
    return true;
}

bool byhand_read(ByHand *b, const char *path, Error *error)
{
    static const char *const names[] = {"query", "key", "value", "x",       "W_Q",
                                        "W_K",   "W_V", "mask",  "gradient"};
    TextReader text;
    TextResult result = TEXT_END;
    const char *line;
    size_t length;
    bool good = true;
    memset(b, 0, sizeof *b);
    b->path = path;
    b->scale = (double)NAN, b->line = 1, b->heads = 1;
    for (int k = 0; k < BYHAND_BLOCKS; k++) b->block[k].name = names[k];
    if (!text_open(&text, path, error)) return false;
    text.strict = true;
    while (good && (result = text_next(&text, &line, &length, error)) == TEXT_LINE) {
        char *copy = strndup(line, length);
        b->line = text.line;
        good = copy ? read_line(b, copy, error) : error_memory(error, "to read a line");
        free(copy);
    }
    good = good && result == TEXT_END && compute(b, error);
    if (!good && result != TEXT_ERROR) error_prefix(error, "%s:%zu", text.name, b->line);
    text_close(&text);
    return good;
}

/* ---- the steps ---- */

static void put_rows(const Explanation *e, const char *name, const char *const *label,
                     SnapshotRows rows)
{
    fprintf(e->out, "  %s\n", name);
    for (int i = 0; i < rows.rows; i++)
        put_row(e, "    ", label[i], snapshot_row(rows, i), rows.columns);
    fputc('\n', e->out);
}

static void put_block(const Explanation *e, const char *name, const LabelledRows *x)
{
    put_rows(e, name, x->label, rows_of(x, 0, 1));
}

static void begin_head(ByHand *b, int head)
{
    follow(b, head);
    if (b->heads > 1)
        say(&b->steps, "Head %d of %d, with its part of each query, key and value.", head + 1,
            b->heads);
}

bool byhand_print(FILE *out, ByHand *b, const char *word, Error *error)
{
    Explanation *e = &b->steps;
    int i = 0;
    if (word && !labels_find(&i, b->query.label, b->query.rows, word, error)) return false;
    e->out = out;
    step(e, "Queries, keys and values");
    if (b->x.rows) put_block(e, "x", &b->x);
    put_block(e, b->W_Q.rows ? "queries Q: q = W_Q x" : "queries Q", &b->query);
    put_block(e, b->W_K.rows ? "keys K: k = W_K x" : "keys K", &b->key);
    put_block(e, b->W_V.rows ? "values V: v = W_V x" : "values V", &b->value);
    for (int h = 0; h < b->heads; h++) {
        begin_head(b, h);
        attend(b, i);
        explanation_compare(e);
        explanation_scale(e);
        explanation_softmax(e);
        explanation_values(e);
        explanation_map(e);
        fputc('\n', out);
        put_rows(e, "outputs", e->row, e->v.O);
    }
    if (b->heads == 1) return true;
    step(e, "Concatenation: the outputs of all heads, side by side");
    put_block(e, "outputs", &b->output);
    return true;
}

/* ---- the way back ---- */

/* dV, dP, dS, dQ and dK (=) of the head that is followed. */
static void go_back(ByHand *b)
{
    const HeadVectors *v = &b->steps.v;
    SnapshotRows dO = b->d.x.O;
    int n = dO.rows, m = v->K.rows, dh = v->Q.columns, dv = dO.columns, head = b->steps.head,
        at = head * dh;
    real *P = b->P[head], *dP = b->dP[head], *dS = b->dS[head];
    small_gemm(SET, b->dV.at[0] + head * dv, BYHAND_MOST, (Strided){P, 1, (size_t)m}, dO.at,
               BYHAND_MOST, m, dv, n, 1);
    for (int i = 0; i < n; i++, P += m, dP += m, dS += m) {
        double mean = 0;
        for (int j = 0; j < m; j++) {
            dP[j] = dot_product(snapshot_row(dO, i), snapshot_row(v->V, j), dv);
            mean += (double)P[j] * (double)dP[j];
        }
        for (int j = 0; j < m; j++) dS[j] = (real)((double)P[j] * ((double)dP[j] - mean));
    }
    scores_backward(SET, (Rows){b->dQ.at[0] + at, BYHAND_MOST},
                    (Rows){b->dK.at[0] + at, BYHAND_MOST}, NULL, (Rows){b->dS[head], m},
                    b->steps.score, (Rows){b->query.at[0] + at, BYHAND_MOST},
                    (Rows){b->key.at[0] + at, BYHAND_MOST}, (real)b->scale, n, m, dh);
}

void byhand_backward(FILE *out, ByHand *b)
{
    static const char *const titles[] = {"dW_Q = dQᵀ X", "dW_K = dKᵀ X", "dW_V = dVᵀ X"};
    Explanation *e = &b->steps;
    LabelledRows *dO = &b->gradient;
    e->out = out;
    for (int i = 0; !dO->line && i < b->query.rows; i++)
        for (int k = 0; k < b->value.columns; k++) dO->at[i][k] = 1;
    dO->rows = b->query.rows, dO->columns = b->value.columns;
    for (int k = 0; k < 3; k++)
        b->back[k].rows = b->block[k].rows, b->back[k].columns = b->block[k].columns;
    b->backward = true;
    for (int h = 0; h < b->heads; h++) {
        begin_head(b, h);
        go_back(b);
        step(e, "Back to the values and the weights: dV = Pᵀ dO, dP = dO Vᵀ");
        put_rows(e, "dO, the gradient of the loss with respect to the outputs", e->row,
                 b->d.x.O);
        put_rows(e, "dV", e->column, b->d.x.V);
        put_rows(e, "dP", e->row, b->d.P);
        step(e, "Back through the softmax: dS = P ⊙ (dP - Σ P dP)");
        say(e, "Each row of dS sums to 0: a softmax ignores what all scores have in common. "
               "Where dS is above 0, the loss would fall if this score alone fell; an update "
               "changes all scores at once.");
        put_rows(e, "dS", e->row, b->d.S);
        if (e->score->product)
            step(e, "Back to queries and keys: dQ = %g · dS K, dK = %g · dSᵀ Q", b->scale,
                 b->scale);
        else step(e, "Back to queries and keys: the derivatives are in model/scorefunction.c");
        put_rows(e, "dQ", e->row, b->d.x.Q);
        put_rows(e, "dK", e->column, b->d.x.K);
    }
    if (!b->W_Q.rows && !b->W_K.rows && !b->W_V.rows) return;
    step(e, "Back to the weights: gradient descent with rate η adds -η times this");
    for (int k = 0; k < 3; k++) {
        const LabelledRows *W = &b->block[k + 4], *d = &b->back[k];
        if (!W->rows || d->rows != b->x.rows) continue;
        small_gemm(SET, b->dW[0], BYHAND_MOST, (Strided){d->at[0], 1, BYHAND_MOST}, b->x.at[0],
                   BYHAND_MOST, W->rows, W->columns, d->rows, 1);
        put_rows(e, titles[k], W->label,
                 (SnapshotRows){b->dW[0], W->rows, W->columns, BYHAND_MOST});
    }
}

/* ---- a picture, and a page ---- */

/* The page's script adds the rest of its data (plots/page/data.js). */
static bool save_page(const char *path, ByHand *b, Error *error)
{
    TextStream stream;
    size_t length;
    JsonWriter json = {.out = textstream_open(&stream), .html = true};
    if (!json.out) return error_memory(error, "for a page");
    const char *end = page_begin(json.out, NULL, &length);
    json_open(&json, NULL);
    json_put_text(&json, "model", b->path);
    json_put_integer(&json, "heads", b->heads);
    json_put_integer(&json, "size", b->query.columns / b->heads);
    json_put_text(&json, "comparison", b->steps.score->comparison);
    json_put_text(&json, "score", b->steps.score->formula);
    json_put_bool(&json, "backward", b->backward);
    json_put_bool(&json, "causal", b->causal);
    json_put_integer(&json, "query", b->steps.word);
    json_put_texts(&json, "queries", (char **)(uintptr_t)b->query.label, b->query.rows);
    json_put_texts(&json, "keys", (char **)(uintptr_t)b->key.label, b->key.rows);
    if (b->mask.rows) page_put_matrix(&json, "mask", rows_of(&b->mask, 0, 1), true);
    page_put_colors(&json);
    json_open_array(&json, "layer");
    for (int h = 0; h < b->heads; h++) {
        int m = b->key.rows;
        follow(b, h);
        page_put_head(&json, (SnapshotRows){b->P[h], b->query.rows, m, m}, &b->steps.v,
                      b->backward ? &b->d : NULL);
    }
    json_close(&json);
    json_close(&json);
    fwrite(end, 1, length, json.out);
    return file_replace_text(path, textstream_close(&stream), error);
}

bool byhand_draw(const char *path, ByHand *b, MissingGlyphs *missing, Error *error)
{
    HeatMap maps[BYHAND_HEADS];
    char title[BYHAND_HEADS][32];
    if (picture_format(path, error) == PICTURE_HTML) return save_page(path, b, error);
    for (int h = 0; h < b->heads; h++) {
        snprintf(title[h], sizeof title[h], "head %d", h + 1);
        maps[h] = (HeatMap){b->P[h],
                            b->query.rows,
                            b->key.rows,
                            b->query.label,
                            b->key.label,
                            b->heads > 1 ? title[h] : NULL,
                            .causal = b->causal};
    }
    const HeatMapSection section = {.caption = "A row is a query, a column a key.",
                                    .maps = maps,
                                    .layers = b->heads > 1,
                                    .heads = b->heads > 1 ? b->heads : 0,
                                    .large = b->heads > 1 ? NULL : maps};
    const AttentionPage page = {
        .title = b->path, .sections = &section, .count = 1, .missing = missing};
    return picture_page(path, page, (const PngText[]){{"Software", "qkv"}, {0}}, error);
}
