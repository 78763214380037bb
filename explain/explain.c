/* explain.c -- the attention of one head step by step; see explain.h.
 *
 * Every number is read from the forward pass (inference/snapshot.h) or is one operation away
 * from such numbers: q·k is summed here, in double, from the pass's q and k, and the softmax
 * columns are computed from these sums. The weights are the pass's own. The products with W_O, W_2
 * and the output matrix are computed again. */
#include "explain/explain.h"

#include "base/best.h"
#include "explain/explanation.h"
#include "explain/picture.h"
#include "plots/blocks.h"

enum { NUMBERS = 3, TERMS = 2 };  // of each vector of step 2; of a sum of products
enum { ANSWERS = 5 };             // probabilities of words

static bool is_end(const char *label)
{
    return !strcmp(label, "</s>");
}

/* ---- which head and which word ---- */

static bool begin(Explanation *e, const Choice *choice, const char *word, Error *error)
{
    const Labels *row = &e->labels[labels_rows(e->kind)],
                 *column = &e->labels[labels_columns(e->kind)];
    if (!labels_make(e->labels, e->snapshot, e->vocabulary, LABELS_TOKENS, error)) return false;
    e->row = (const char *const *)row->text;
    e->column = (const char *const *)column->text;
    e->word = e->key = -1;
    if (word && !labels_find(&e->word, e->row, row->count, word, error)) {
        Error other;
        bool key = e->kind == ATTENTION_CROSS &&
                   labels_find(&e->key, e->column, column->count, word, &other);
        if (!key && e->word < 0 && e->key >= 0) *error = other;
        if (!key) return false;
        e->word = -1;
    }
    Choice best = *choice;
    bool any = best.layer < 0 && best.head == CHOICE_NONE;
    if (best.head == CHOICE_BEST ||
        (any && e->kind == ATTENTION_CROSS && best.known_layer >= 0)) {
        PictureBest found;
        const PictureInput input = {.snapshot = e->snapshot,
                                    .vocabulary = e->vocabulary,
                                    .choice = choice,
                                    .words = true};
        if (!picture_best(&found, &input, e->kind, error)) return false;
        best.layer = found.layer, best.head = found.head;
    }
    maps_follow(&e->layer, &e->head, &e->word, e->snapshot, &best);
    if (!map_head(&e->map, e->snapshot, e->kind, e->layer, e->head, error)) return false;
    for (int i = 0; e->key >= 0 && i < row->count; i++)
        if (!i || weight_of(e, i, e->key) > weight_of(e, e->word, e->key)) e->word = i;
    e->v = snapshot_vectors(e->snapshot, e->kind, e->layer, e->head);
    e->keys = e->causal ? e->word + 1 : column->count;
    e->most = largest_weight(e, e->word);
    return true;
}

/* ---- the steps ---- */

static void introduction(Explanation *e)
{
    const ModelConfig *c = e->config;
    columns_wrap(e->out, e->labels[TOKENS_SOURCE].sentence, 4, 4, LINE);
    fputs("    →\n", e->out);
    columns_wrap(e->out, e->labels[TOKENS_TARGET].sentence, 4, 4, LINE);
    fputc('\n', e->out);
    say(e,
        "This explains %sattention with the numbers of this model. It follows "
        "one word, \"%s\", through one head. %s, layer %d, head %d.",
        c->attention_score == SCORE_SCALED_DOT ? "scaled dot-product " : "", e->row[e->word],
        choice_kind_titles[e->kind], e->layer + 1, e->head + 1);
    if (e->key >= 0)
        say(e,
            "\"%s\" is a word of the source sentence: it has a key here, and no query. The "
            "word of the translation whose query gives it the largest weight is \"%s\".",
            e->column[e->key], e->row[e->word]);
    say(e,
        "The model has %d encoder and %d decoder layers with %d head%s each. Its vectors have "
        "%d numbers. The options --word, --head, --layer and --attention-kind choose another "
        "word or head.",
        c->encoder_layers, c->decoder_layers, c->heads, c->heads == 1 ? "" : "s", c->d_model);
}

static void put_token(const Explanation *e, TokenSide side, int place)
{
    const Tokens tokens = tokens_of(e->snapshot, e->vocabulary, side);
    put_label(e, "  ", e->labels[side].text[place], LABEL);
    fprintf(e->out, " %6d", tokens_id(&tokens, place));
}

static void step_tokens(Explanation *e)
{
    bool both = e->kind != ATTENTION_ENCODER;
    int n = e->labels[TOKENS_SOURCE].count, m = both ? e->labels[TOKENS_TARGET].count : 0;
    step(e, "Text becomes token ids");
    say(e,
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
    static const char *const before[] = {"", "  +", "  ="};
    const Weights *w = &e->snapshot->model->weights;
    bool source = side == TOKENS_SOURCE;
    int D = e->config->d_model;
    real row[MAX_D_MODEL];
    const Matrix *E = source ? &w->source_embedding : &w->target_embedding;
    const real *P = source ? w->source_positions : w->target_positions;
    const Tokens tokens = tokens_of(e->snapshot, e->vocabulary, side);
    SnapshotRows X = snapshot_embedded(e->snapshot, source);
    for (int i = 0; i < X.rows; i++) {
        const real *x[] = {matrix_row(row, E, tokens_id(&tokens, i), D), P ? P + i * D : NULL,
                           snapshot_row(X, i)};
        put_label(e, "  ", e->labels[side].text[i], LABEL);
        for (int k = 0; k < 3; k++) {
            fputs(before[k], e->out);
            for (int d = 0; d < NUMBERS; d++)
                fprintf(e->out, " %5.2f", x[k] ? (k ? 1 : sqrt(D)) * (double)x[k][d] : 0);
        }
        fputc('\n', e->out);
    }
}

static void step_embeddings(Explanation *e)
{
    int D = e->config->d_model;
    Positions positions = e->config->positions;
    step(e, "Token ids become vectors: embedding and position");
    say(e,
        "The embedding is a table with one row of %d learned numbers for each token. The row "
        "is multiplied by √%d = %.3f. %s These are the first %d numbers of each vector:",
        D, D, sqrt(D),
        positions == POSITIONS_SINUSOIDAL
            ? "The positional encoding is added: sines and cosines of the token's position."
        : positions == POSITIONS_LEARNED
            ? "The positional embedding is added: a learned vector for each position."
            : "This model adds no positional encoding.",
        NUMBERS);
    fprintf(e->out, "  %-*s embedding × %s%-*d    position             vector\n", LABEL,
            "token", "√", 5, D);
    if (e->kind != ATTENTION_DECODER) put_embeddings(e, TOKENS_SOURCE);
    if (e->kind == ATTENTION_CROSS) fputs("  … and those that the decoder reads:\n", e->out);
    if (e->kind != ATTENTION_ENCODER) put_embeddings(e, TOKENS_READ);
    fputc('\n', e->out);
}

static void say_input(Explanation *e)
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

/* The first number of the query: a row of W_Q times x, plus a bias. */
static void put_product(Explanation *e)
{
    const Linear *q = &attention_weights(&e->snapshot->model->weights, e->kind, e->layer)->q;
    int D = e->config->d_model, first = e->head * e->v.Q.columns;
    const real *x = snapshot_row(e->v.Xq, e->word);
    char name[32];
    real copy[MAX_D_MODEL];
    const real *row = matrix_row(copy, &q->W, first, D);
    say(e,
        "The first number of the query of \"%s\" is the product of this head's first row of "
        "W_Q and x, plus the first number of b_Q:",
        e->row[e->word]);
    snprintf(name, sizeof name, "W_Q, row %d", first + 1);
    put_row(e, "  ", name, row, D);
    put_row(e, "  ", "x", x, D);
    fputs("    q_1 = ", e->out);
    for (int d = 0; d < D && d < TERMS; d++)
        fprintf(e->out, "(%.3f)(%.3f) + ", (double)row[d] + 0, (double)x[d] + 0);
    fprintf(e->out, "%s%.3f = %.3f\n\n", D > TERMS ? "… + " : "", (double)q->b[first] + 0,
            (double)snapshot_row(e->v.Q, e->word)[0] + 0);
}

static void step_projections(Explanation *e)
{
    int dh = e->v.Q.columns;
    const char *word = e->row[e->word], *found = e->column[e->most];
    step(e, "Vectors become queries, keys and values");
    say_input(e);
    say(e,
        "Head %d has three learned projection matrices of %d rows and %d columns: its %d rows "
        "of the layer's W_Q, W_K and W_V. They project a vector x to three vectors of %d "
        "numbers:",
        e->head + 1, dh, e->v.Xq.columns, dh, dh);
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
    put_product(e);
    put_vector(e, "query", word, e->v.Q, e->word);
    put_vector(e, "key", found, e->v.K, e->most);
    put_vector(e, "value", found, e->v.V, e->most);
}

/* ---- from the outputs of the heads to the next layer or to the probability ---- */

/* f (=) W h + b, which is written as `name`, and with it add & norm.   x: what the sublayer reads,
 * in post-norm what f is added to, too   next: what the next sublayer reads */
static void put_sublayer(const Explanation *e, const char *name, const Linear *linear,
                         const real *h, int width, const real *x, const real *next)
{
    int D = e->config->d_model;
    real f[MAX_D_MODEL];
    matrix_multiply(f, h, &linear->W, linear->b, 1, D, width);
    put_row(e, "  ", name, f, D);
    if (e->config->norm != NORM_PRE) {
        put_row(e, "  ", "x", x, D);
        for (int d = 0; d < D; d++) f[d] += x[d];
        put_row(e, "  ", "x + f", f, D);
    }
    put_row(e, "  ", "norm(x + f)", next, D);
    fputc('\n', e->out);
}

static void step_output(Explanation *e, const real *next)
{
    int D = e->config->d_model, H = e->config->heads;
    HeadVectors v = snapshot_vectors(e->snapshot, e->kind, e->layer, 0);
    const real *o = snapshot_row(v.O, e->word);  // of all heads
    step(e, "W_O, the residual connection and the norm");
    say(e,
        "The other heads have matrices of their own. The outputs of all heads are "
        "concatenated to %d × %d = %d numbers o. The output projection mixes them: "
        "f = W_O o + b_O. The residual connection adds f to x, the layer's %s. The norm "
        "gives the sum a mean of 0 and a variance of 1, then a learned scale and shift. "
        "The first numbers:",
        H, D / H, D, e->config->norm == NORM_PRE ? "input before its norm" : "input");
    put_row(e, "  ", "o", o, D);
    const AttentionWeights *w =
        attention_weights(&e->snapshot->model->weights, e->kind, e->layer);
    put_sublayer(e, "W_O o + b_O", &w->out, o, D, snapshot_row(v.Xq, e->word), next);
}

static void step_feedforward(Explanation *e, const FeedforwardSaved *ffn, const Linear *fc2,
                             const real *next)
{
    static const char *const names[] = {"max(0, a)", "GELU(a)", "Swish(a)"};
    int D = e->config->d_model, F = e->config->ffn, alive = 0;
    const real *y = ffn->X + e->word * D, *h = ffn->H + e->word * F;
    for (int k = 0; k < F; k++) alive += h[k] > 0;
    step(e, "The feed-forward network");
    say(e,
        "%sIt reads the normalised vector y of this position alone: a = W_1 y + b_1 has %d "
        "numbers, %d of them above 0. h = %s, and f = W_2 h + b_2. Add & norm follow "
        "again:",
        e->kind == ATTENTION_DECODER
            ? "Attention to the source comes first (--attention-kind cross explains it), "
              "with a norm of its own. "
            : "",
        F, alive, names[e->config->activation]);
    put_row(e, "  ", "y", y, D);
    put_row(e, "  ", "h", h, F);
    put_sublayer(e, "W_2 h + b_2", fc2, h, F, y, next);
}

/* The tokens with the largest logits, and the one that the translation has. */
static bool step_probabilities(Explanation *e, const real *y, Error *error)
{
    const Weights *w = &e->snapshot->model->weights;
    int D = e->config->d_model, C = e->config->vocab - 1, count = 0,
        right = e->snapshot->target.id[e->word];
    Best best[ANSWERS] = {0};
    double sum = 0;
    real *z = malloc(((size_t)C + 1) * sizeof *z);
    if (!z) return error_memory(error, "to explain the attention");
    matrix_multiply(z, y, &w->output, w->logits_bias, 1, C + 1, D);
    for (int id = 0; id < C; id++) best_add(best, &count, ANSWERS, id, (double)z[id]);
    for (int id = 0; id < C; id++) sum += exp((double)z[id] - best[0].value);
    step(e, "From the last layer to the probability of a word");
    say(e,
        "%sThe last layer gives y. The logit of a token is the product of y and the token's "
        "row of the output matrix%s, plus a bias. The softmax over all %d tokens gives "
        "probabilities:",
        e->layer + 1 < e->config->decoder_layers ? "The layers above do the same. " : "",
        e->config->tying == TYING_NONE ? "" : ", which is the table of embeddings", C);
    put_row(e, "  ", "y", y, D);
    fprintf(e->out, "\n  %-*s %9s %12s\n", LABEL, "token", "logit", "probability");
    for (int k = 0, seen = 0; k <= count; k++) {
        int id = k < count ? best[k].id : right;
        double p = exp((double)z[id] - best[0].value) / sum;
        if (k == count && seen) break;
        seen += id == right;
        put_label(e, "  ",
                  id == right ? e->row[e->word]
                              : tokenizer_shown(e->vocabulary->tokenizer[TARGET], id),
                  LABEL);
        put_number(e, (double)z[id]);
        fprintf(e->out, " %12.4f", p);
        blocks_bar(e->out, p, 24);
        fputc('\n', e->out);
    }
    fputc('\n', e->out);
    free(z);
    return true;
}

/* False only if memory runs out. */
static bool steps_onward(Explanation *e, Error *error)
{
    bool encoder = e->kind == ATTENTION_ENCODER;
    const Activations *a = &e->snapshot->activations;
    const Weights *w = &e->snapshot->model->weights;
    const Stack *stack = encoder ? &a->encoder : &a->decoder;
    const StackLayer *layer = &stack->layer[e->layer];
    bool last = e->layer + 1 == stack->layers;
    size_t at = (size_t)e->word * (size_t)e->config->d_model;  // of the row
    const real *mixed = e->kind == ATTENTION_DECODER ? layer->cross.Xq : layer->ffn.X,
               *output = encoder ? a->encoded : a->output;
    step_output(e, mixed + at);
    step_feedforward(e, &layer->ffn, &(encoder ? w->encoder : w->decoder)[e->layer].ffn.fc2,
                     (last ? output : layer[1].self.Xq) + at);
    if (!encoder) return step_probabilities(e, a->output + at, error);
    say(e, last ? "This is the encoder's output. The keys and values of cross-attention are "
                  "made of it, in every layer of the decoder."
                : "The next layer of the encoder reads the result.");
    return true;
}

/* ---- all words ---- */

/* rows: the number of words whose largest weight is on </s>. */
static void say_ends(const Explanation *e, int rows)
{
    double length[2] = {0, 0};
    int count[2] = {0, 0};
    for (int j = 0; j < e->map.columns; j++) {
        const real *v = snapshot_row(e->v.V, j);
        bool end = is_end(e->column[j]);
        length[end] += sqrt((double)dot_product(v, v, e->v.V.columns));
        count[end]++;
    }
    say(e,
        "%d word%s attend%s most to </s>. This is normal: weights must sum to 1, so a head "
        "that finds nothing relevant attends to </s>. The value vector of </s> has length "
        "%.1f; those of the other tokens have length %.1f on average.",
        rows, rows == 1 ? "" : "s", rows == 1 ? "s" : "", length[1] / count[1],
        length[0] / fmax(count[0], 1));
}

static void step_table(Explanation *e)
{
    int ends = 0;
    step(e, "The same for every word");
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

/* ---- all of it ---- */

bool explain_print(FILE *out, const Snapshot *snapshot, const Vocabulary *vocabulary,
                   const Choice *choice, const char *word, const Update *update, Error *error)
{
    if (choice->head < 0 && choice->head != CHOICE_NONE && choice->head != CHOICE_BEST)
        return error_set(error,
                         "one head is explained, with its queries and keys: `head` must be a "
                         "number or best");
    static void (*const steps[])(Explanation *) = {
        introduction,        step_tokens,       step_embeddings,     step_projections,
        explanation_compare, explanation_scale, explanation_softmax, explanation_values};
    const ModelConfig *config = &snapshot->model->config;
    Explanation e = {.out = out,
                     .snapshot = snapshot,
                     .config = config,
                     .score = &score_functions[config->attention_score],
                     .vocabulary = vocabulary,
                     .kind = choice->kind,
                     .causal = choice->kind == ATTENTION_DECODER};
    bool good = begin(&e, choice, word, error);
    for (size_t k = 0; good && k < sizeof steps / sizeof *steps; k++) steps[k](&e);
    good = good && steps_onward(&e, error);
    if (good) step_table(&e), explanation_map(&e);
    if (good && update) backward_print(&e, update);
    labels_free(e.labels);
    map_free(&e.map);
    return good;
}
