/* explain.c -- the attention of one head step by step; see explain.h.
 *
 * Every number is read from the forward pass (inference/snapshot.h) or is one operation away
 * from such numbers: q·k is summed here, in double, from the pass's q and k, and the softmax
 * columns are computed from these sums. The weights are the pass's own. */
#include "explain/explain.h"

#include "explain/explanation.h"
#include "explain/maps.h"
#include "plots/blocks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN = 3, MIXED = 5 };

/* ---- numbers ---- */

/* Summed in double. */
static double dot(const real *x, const real *y, int count)
{
    double sum = 0;
    for (int k = 0; k < count; k++) sum += (double)x[k] * (double)y[k];
    return sum;
}

static int largest_weight(const Explanation *e, int row)
{
    int most = 0;
    for (int j = 1; j < keys_of(e, row); j++)
        if (weight_of(e, row, j) > weight_of(e, row, most)) most = j;
    return most;
}

static bool is_end(const char *label)
{
    return !strcmp(label, "</s>");
}

/* ---- which head and which word ---- */

static bool begin(Explanation *e, const Choice *choice, const char *word, Error *error)
{
    TokenSide row = labels_rows(e->kind), column = labels_columns(e->kind);
    int rows = labels_tokens(e->snapshot, row), columns = labels_tokens(e->snapshot, column);
    e->row = malloc(((size_t)rows + (size_t)columns) * sizeof *e->row);
    e->compared = malloc((size_t)columns * sizeof *e->compared);
    if (!e->row || !e->compared) return error_memory(error, "to explain the attention");
    e->column = e->row + rows;
    for (int i = 0; i < rows; i++) e->row[i] = label(e, row, i);
    for (int j = 0; j < columns; j++) e->column[j] = label(e, column, j);
    e->word = -1;
    if (word && !labels_find(&e->word, e->row, rows, word, error)) return false;
    maps_follow(&e->layer, &e->head, &e->word, e->snapshot, choice);
    e->map = snapshot_map(e->snapshot, e->kind, e->layer, e->head);
    e->v = snapshot_vectors(e->snapshot, e->kind, e->layer, e->head);
    e->most = largest_weight(e, e->word);
    const real *q = row_of(e->v.Q, e->word);
    int dh = e->v.Q.columns;
    for (int j = 0; j < columns; j++) {
        const real *k = row_of(e->v.K, j);
        e->compared[j] =
            e->score->product ? dot(q, k, dh) : (double)e->score->compare(q, k, dh);
    }
    return true;
}

/* ---- the steps ---- */

static void introduction(const Explanation *e)
{
    const ModelConfig *c = e->config;
    say(e,
        "This explains %sattention with the numbers of this model. It follows "
        "one word, \"%s\", through one head. %s, layer %d, head %d.",
        e->config->attention_score == SCORE_SCALED_DOT ? "scaled dot-product " : "",
        e->row[e->word], choice_kind_titles[e->kind], e->layer + 1, e->head + 1);
    say(e,
        "The model has %d encoder and %d decoder layers with %d head%s each. Its vectors have "
        "%d numbers. The options --word, --head, --layer and --attention-kind choose another "
        "word or head.",
        c->encoder_layers, c->decoder_layers, c->heads, c->heads == 1 ? "" : "s", c->d_model);
}

static void put_token(const Explanation *e, TokenSide side, int place)
{
    put_label(e, "  ", label(e, side, place), LABEL);
    fprintf(e->out, " %6d", labels_id(e->snapshot, side, place));
}

static void step_tokens(const Explanation *e)
{
    bool both = e->kind != ATTENTION_ENCODER;
    int n = labels_tokens(e->snapshot, TOKENS_SOURCE),
        m = both ? labels_tokens(e->snapshot, TOKENS_TARGET) : 0;
    step(
        e, "1. Text becomes token ids",
        "The text is split into tokens. Each token has a number, its id. A sentence ends in "
        "</s>.%s",
        both
            ? " The decoder generates one token at a time. It starts from <pad>; after that it "
              "reads the token that it generated last."
            : "");
    fprintf(e->out, "     source            id%s\n",
            both ? "  read              id  to write          id" : "");
    for (int i = 0; i < n || i < m; i++) {
        fprintf(e->out, "%3d", i + 1);
        if (i < n) put_token(e, TOKENS_SOURCE, i);
        else fprintf(e->out, "%*s", LABEL + 9, "");
        if (i < m) put_token(e, TOKENS_READ, i), put_token(e, TOKENS_TARGET, i);
        fputc('\n', e->out);
    }
    fputc('\n', e->out);
}

static void put_embeddings(const Explanation *e, TokenSide side)
{
    const Transformer *model = e->snapshot->model;
    const Weights *w = &model->weights;
    bool source = side == TOKENS_SOURCE;
    int D = e->config->d_model;
    real row[MAX_D_MODEL];
    const Matrix *E = source ? &w->source_embedding : &w->target_embedding;
    const real *P = source ? model->source_positions : model->target_positions;
    SnapshotRows X = snapshot_embedded(e->snapshot, source);
    for (int i = 0; i < X.rows; i++) {
        const real *x[] = {matrix_row(row, E, labels_id(e->snapshot, side, i), D),
                           P ? P + i * D : NULL, row_of(X, i)};
        put_label(e, "  ", label(e, side, i), LABEL);
        for (int k = 0; k < 3 * SHOWN; k++)
            fprintf(e->out, "%s %5.2f",
                    k == SHOWN       ? "  +"
                    : k == 2 * SHOWN ? "  ="
                                     : "",
                    x[k / SHOWN] ? (k < SHOWN ? config_embedding_scale(e->config) : 1) *
                                       (double)x[k / SHOWN][k % SHOWN]
                                 : 0);
        fputc('\n', e->out);
    }
}

static void step_embeddings(const Explanation *e)
{
    int D = e->config->d_model;
    Positions positions = e->config->positions;
    bool scaled = e->config->embedding_scale == EMBEDDING_SCALE_SQRT;
    char scale[32] = "1";
    if (scaled) snprintf(scale, sizeof scale, "√%d = %.3f", D, sqrt(D));
    step(e, "2. Token ids become vectors: embedding and position",
         "The embedding is a table with one row of %d learned numbers for each token. The row "
         "is multiplied by %s. %s These are the first %d numbers of each vector:",
         D, scale,
         positions == POSITIONS_SINUSOIDAL
             ? "The positional encoding is added: sines and cosines of the token's position."
         : positions == POSITIONS_LEARNED
             ? "The positional embedding is added: a learned vector for each position."
             : "This model adds no positional encoding.",
         SHOWN);
    fprintf(e->out, "  %-*s embedding × %s%-*d    position             vector\n", LABEL,
            "token", scaled ? "√" : "", scaled ? 5 : 6, scaled ? D : 1);
    if (e->kind != ATTENTION_DECODER) put_embeddings(e, TOKENS_SOURCE);
    if (e->kind == ATTENTION_CROSS) fputs("  … and those that the decoder reads:\n", e->out);
    if (e->kind != ATTENTION_ENCODER) put_embeddings(e, TOKENS_READ);
    fputc('\n', e->out);
}

/* Which vectors are the input of this layer's attention. */
static void say_input(const Explanation *e)
{
    const char *word = e->row[e->word];
    int layers = e->config->encoder_layers;
    if (e->kind == ATTENTION_ENCODER)
        say(e, "Encoder layer %d reads %s", e->layer + 1,
            e->layer ? "the output of the layer below. Each vector already holds information "
                       "about the words around it."
                     : "these vectors.");
    else if (e->kind == ATTENTION_DECODER)
        say(e,
            "The decoder is about to generate \"%s\". At this position it has read \"%s\". It "
            "attends to this and the earlier positions; the causal mask hides the later "
            "ones.%s",
            word, e->column[e->word],
            e->layer ? " Its input is the output of the layers below." : "");
    else
        say(e,
            "The source has passed through all %d encoder layer%s: each vector holds "
            "information about the words around it. The decoder is about to generate \"%s\". "
            "Its query comes from the decoder, the keys and values from the encoder's output.",
            layers, layers == 1 ? "" : "s", word);
}

static void step_projections(const Explanation *e)
{
    int dh = e->v.Q.columns;
    const char *word = e->row[e->word], *found = e->column[e->most];
    say(e, "3. Vectors become queries, keys and values");
    say_input(e);
    say(e,
        "Head %d has three learned projection matrices of %d rows and %d columns. They project "
        "a vector x to three vectors of %d numbers:",
        e->head + 1, dh, e->v.Xq.columns, dh);
    fputs("    query   q = W_Q x + b_Q    what this position looks for\n"
          "    key     k = W_K x + b_K    what the query is compared with\n"
          "    value   v = W_V x + b_V    what is passed on\n\n",
          e->out);
    static const char *const others[] = {
        "", "In this model W_Q and W_K are one matrix, and so b_Q and b_K.",
        "In this model W_K and W_V are one matrix, and so b_K and b_V.",
        ("This model was trained without projections: these matrices are the identity, and the "
         "biases are 0. Query, key and value are the head's part of x itself.")};
    if (e->config->projections) say(e, "%s", others[e->config->projections]);
    put_vector(e, "query", word, e->v.Q, e->word);
    put_vector(e, "key", found, e->v.K, e->most);
    put_vector(e, "value", found, e->v.V, e->most);
}

static void step_compare(const Explanation *e)
{
    char text[COMPARISON_TEXT], line[COMPARISON_TEXT + 80], title[64];
    const char *name = e->score->comparison;
    snprintf(title, sizeof title, "4. The query is compared with each key: %s", name);
    step(e, title, "%s For \"%s\" and \"%s\":", e->score->meaning, e->row[e->word],
         e->column[e->most]);
    comparison_text(text, e->score, row_of(e->v.Q, e->word), row_of(e->v.K, e->most),
                    e->v.Q.columns, 2, "%.3f");
    snprintf(line, sizeof line, "%s = %s = %.3f", name, text, e->compared[e->most]);
    columns_wrap(e->out, line, 4, 4, LINE);
    fputc('\n', e->out);
}

/* The largest weight, if the softmax were of scale · q·k. */
static double largest_at(const Explanation *e, double scale)
{
    double sum = 0;
    for (int j = 0; j < keys_of(e, e->word); j++)
        sum += exp(scale * (e->compared[j] - e->compared[e->most]));
    return 1 / sum;
}

static void step_scale(const Explanation *e)
{
    int dh = e->v.Q.columns;
    const char *most = e->column[e->most];
    double root = sqrt(dh), weight = weight_of(e, e->word, e->most);
    if (e->config->attention_score == SCORE_SCALED_DOT) {
        step(e, "5. Scaling by 1/√d_k",
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
                 e->score->learned ? ", a number that this head has learned" : "");
    if (e->v.scale != 1 || e->score->product)
        snprintf(otherwise, sizeof otherwise, "; %s, it would get %.4f",
                 e->score->product ? "divided by √d_k, as in the Transformer" : "without it",
                 largest_at(e, e->score->product ? 1 / root : 1));
    step(e, *factor ? "5. Scaling" : "5. No scaling",
         "The score is %s%s. \"%s\" gets a weight of %.4f%s.", e->score->formula, factor, most,
         weight, otherwise);
}

static void step_softmax(const Explanation *e)
{
    double largest = e->v.scale * e->compared[e->most], sum = 0;
    step(
        e, "6. Softmax: scores become attention weights",
        "The softmax raises e to the power of each score and divides by the sum. The attention "
        "weights are positive and sum to 1. (The largest score is subtracted first. This does "
        "not change the weights and prevents overflow.)");
    char score[64];
    snprintf(score, sizeof score, "z = %s", e->score->formula);
    int z_wide = e->score->product ? 10 : columns_width(score);
    put_label(e, "  ", "key", LABEL + 1);
    columns_put(e->out, e->score->comparison, e->score->product ? 7 : 9, true);
    fputs(e->score->product ? "  " : " ", e->out);
    columns_put(e->out, score, e->score->product ? 12 : z_wide, true);
    fprintf(e->out, " %10s %10s\n", "e^(z-max)", "weight");
    for (int j = 0; j < keys_of(e, e->word); j++) {
        double z = e->v.scale * e->compared[j], p = weight_of(e, e->word, j);
        sum += exp(z - largest);
        put_label(e, "  ", e->column[j], LABEL);
        fprintf(e->out, " %9.3f %*.3f %10.4f %10.4f", e->compared[j], z_wide, z,
                exp(z - largest), p);
        blocks_bar(e->out, p, 17);
        fputc('\n', e->out);
    }
    fprintf(e->out, "  %-*s %9s %*s %10.4f %10.4f\n\n", LABEL, "sum", "", z_wide, "", sum, 1.0);
}

static void step_values(const Explanation *e)
{
    int dh = e->v.V.columns, shown = dh < MIXED ? dh : MIXED;
    const char *end = shown < dh ? " …\n" : "\n";
    step(e, "7. The weighted sum of the values",
         "Each value is multiplied by its attention weight. The sum is the head's output for "
         "\"%s\". The first %d of %d numbers:",
         e->row[e->word], shown, dh);
    for (int j = 0; j <= keys_of(e, e->word); j++) {
        bool last = j == keys_of(e, e->word);
        const real *x = last ? row_of(e->v.O, e->word) : row_of(e->v.V, j);
        if (last) fprintf(e->out, "  =%*s", 11 + LABEL, "");
        else {
            fprintf(e->out, "  %s%8.4f × ", j ? "+" : " ", weight_of(e, e->word, j));
            put_label(e, "", e->column[j], LABEL);
        }
        for (int k = 0; k < shown; k++) fprintf(e->out, " %8.3f", (double)x[k]);
        fputs(end, e->out);
    }
    fputc('\n', e->out);
    say(e,
        "Every head computes this with its own matrices. The outputs of the heads are "
        "concatenated to %d × %d = %d numbers and multiplied by the output projection W_O. The "
        "result is added to the residual stream.",
        e->config->heads, dh, e->config->d_model);
}

/* rows: the number of words whose largest weight is on </s>. */
static void say_ends(const Explanation *e, int rows)
{
    double length[2] = {0, 0};
    int count[2] = {0, 0};
    for (int j = 0; j < e->map.columns; j++) {
        const real *v = row_of(e->v.V, j);
        bool end = is_end(e->column[j]);
        length[end] += sqrt(dot(v, v, e->v.V.columns));
        count[end]++;
    }
    say(e,
        "%d word%s attend%s most to </s>. This is normal: weights must sum to 1, so a head "
        "that finds nothing relevant attends to </s>. The value vector of </s> has length "
        "%.1f; those of the other tokens have length %.1f on average.",
        rows, rows == 1 ? "" : "s", rows == 1 ? "s" : "", length[1] / count[1],
        length[0] / fmax(count[0], 1));
}

static void step_table(const Explanation *e)
{
    int ends = 0;
    say(e, "8. The same for every word");
    fprintf(e->out, "  %-*s | %-*s | weight\n  ", LABEL, "query", LABEL + 4,
            "most attended key");
    for (int i = 0; i < 2 * LABEL + 20; i++)
        fputc(i == LABEL + 1 || i == 2 * LABEL + 8 ? '+' : '-', e->out);
    fputc('\n', e->out);
    for (int i = 0; i < e->map.rows; i++) {
        int j = largest_weight(e, i);
        ends += is_end(e->column[j]) && !is_end(e->row[i]);
        put_label(e, "  ", e->row[i], LABEL);
        put_label(e, " | ", e->column[j], LABEL + 4);
        fprintf(e->out, " | %6.4f", weight_of(e, i, j));
        blocks_bar(e->out, weight_of(e, i, j), 24);
        fputc('\n', e->out);
    }
    fputc('\n', e->out);
    if (ends) say_ends(e, ends);
}

static bool step_map(const Explanation *e, Error *error)
{
    float *weight = malloc((size_t)e->map.rows * (size_t)e->map.columns * sizeof *weight);
    if (!weight) return error_memory(error, "to explain the attention");
    snapshot_weights(weight, e->snapshot, e->kind, e->layer, e->head);
    HeatMap map = {.weight = weight,
                   .rows = e->map.rows,
                   .columns = e->map.columns,
                   .row_labels = e->row,
                   .column_labels = e->column};
    say(e, "9. All attention weights: rows are queries, columns are keys, rows sum to 1");
    blocks_print(e->out, &map, e->kind == ATTENTION_DECODER, blocks_color(e->out));
    free(weight);
    return true;
}

/* ---- all of it ---- */

static bool put_sentence(const Explanation *e, CorpusSide side, const char *after, Error *error)
{
    char *text = labels_sentence(e->snapshot, e->vocabulary, side, error);
    if (!text) return false;
    columns_wrap(e->out, text, 4, 4, LINE);
    fputs(after, e->out);
    free(text);
    return true;
}

bool explain_print(FILE *out, const Snapshot *snapshot, const Vocabulary *vocabulary,
                   const Choice *choice, const char *word, const Update *update, Error *error)
{
    if (choice->head == CHOICE_MEAN || choice->head == CHOICE_MAX)
        return error_set(error,
                         "one head is explained, with its queries and keys: `head` must be a "
                         "number or best");
    static void (*const steps[])(const Explanation *) = {
        introduction, step_tokens,  step_embeddings, step_projections, step_compare,
        step_scale,   step_softmax, step_values,     step_table};
    const ModelConfig *config = &snapshot->model->config;
    Explanation e = {.out = out,
                     .snapshot = snapshot,
                     .config = config,
                     .score = &score_functions[config->attention_score],
                     .vocabulary = vocabulary,
                     .kind = choice->kind};
    bool good = begin(&e, choice, word, error) && put_sentence(&e, SOURCE, "    →\n", error) &&
                put_sentence(&e, TARGET, "\n", error);
    for (size_t k = 0; good && k < sizeof steps / sizeof *steps; k++) steps[k](&e);
    good = good && step_map(&e, error);
    if (good && update) backward_print(&e, update);
    free(e.row);
    free(e.compared);
    return good;
}
