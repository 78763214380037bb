/* explain.c -- the walk from words to attention; see explain.h.
 *
 * Every number is read from the pass (inference/snapshot.h) or is one operation away from numbers that
 * were: q·k is summed here, in double, from the q and k that the pass computed, and the softmax
 * that stands beside the pass's probabilities is of these sums. */
#include "explain/explain.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

#include "explain/walk.h"
#include "plots/blocks.h"
#include "plots/columns.h"

enum { LINE = 79, LABEL = 13, SHOWN = 3, MIXED = 5, A_LINE = 8, MOST_NUMBERS = 64 };

/* ---- writing ---- */

static void say(const Walk *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(const Walk *w, const char *format, ...)
{
    char text[4096];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    columns_wrap(w->out, text, 0, LINE);
    fputc('\n', w->out);
}

static void heading(const Walk *w, int number, const char *text)
{
    fprintf(w->out, "%d. %s\n\n", number, text);
}

static void numbers(const Walk *w, const char *name, const char *of, SnapshotRows rows, int row)
{
    int count = rows.columns < MOST_NUMBERS ? rows.columns : MOST_NUMBERS;
    const real *x = rows.at + (size_t)row * (size_t)rows.stride;
    fprintf(w->out, "  %s of \"%s\"", name, of);
    for (int k = 0; k < count; k++)
        fprintf(w->out, "%s%8.3f", k % A_LINE ? " " : "\n    ", (double)x[k]);
    fputs(count < rows.columns ? " …\n\n" : "\n\n", w->out);
}

/* ---- the steps ---- */

static double length_of_value(const Walk *w, int column)
{
    const real *v = w->v.V.at + (size_t)column * (size_t)w->v.V.stride;
    double sum = 0;
    for (int k = 0; k < w->v.V.columns; k++) sum += (double)v[k] * (double)v[k];
    return sqrt(sum);
}

static const char *scene(const Walk *w)
{
    switch (w->kind) {
    case ATTENTION_ENCODER: return "where the source looks at itself";
    case ATTENTION_DECODER:
        return "where the translation looks at what is already written of it";
    case ATTENTION_CROSS: break;
    }
    return "where the translation looks at the source";
}

static void introduction(const Walk *w)
{
    const ModelConfig *c = &w->model->config;
    say(w,
        "This is the walk from words to attention with the numbers of this model. It "
        "follows one word, \"%s\", through one head: head %d of %s layer %d, %s.",
        w->row[w->word], w->head + 1, w->kind == ATTENTION_ENCODER ? "encoder" : "decoder",
        w->layer + 1, scene(w));
    say(w,
        "The model has %d encoder and %d decoder layers with %d head%s each, and works with "
        "vectors of %d numbers. --word, --head, --layer and --attention-kind lead elsewhere.",
        c->encoder_layers, c->decoder_layers, c->heads, c->heads == 1 ? "" : "s", c->d_model);
}

static void token(const Walk *w, const Tokenizer *tokenizer, int id)
{
    fputs("  ", w->out);
    columns_put(w->out, tokenizer_label(tokenizer, id), LABEL, false);
    fprintf(w->out, " %6d", id);
}

static void step_tokens(const Walk *w)
{
    bool both = w->kind != ATTENTION_ENCODER;
    int rows = both && w->m > w->n ? w->m : w->n, pad = w->model->config.vocab - 1;
    heading(w, 1, "Words become numbers");
    say(w,
        "Text is cut into tokens, and every token is known by a number, its id. A sentence "
        "ends in </s>.%s",
        both ? " The decoder writes one token at a time. It starts from <pad>, and then reads "
               "what it has written so far: its last word is read when the next one is written."
             : "");
    fprintf(w->out, "     source            id%s\n",
            both ? "  read              id  to write          id" : "");
    for (int i = 0; i < rows; i++) {
        fprintf(w->out, "%3d", i + 1);
        if (i < w->n) token(w, w->read, w->source[i]);
        else if (both) fprintf(w->out, "%*s", LABEL + 9, "");
        if (both && i < w->m) {
            token(w, w->written, i ? w->target[i - 1] : pad);
            token(w, w->written, w->target[i]);
        }
        fputc('\n', w->out);
    }
    fputc('\n', w->out);
}

static void three(const Walk *w, const real *x, double scale, const char *before)
{
    fputs(before, w->out);
    for (int k = 0; k < SHOWN; k++) fprintf(w->out, " %5.2f", x ? scale * (double)x[k] : 0);
}

static void vectors_of(const Walk *w, bool source)
{
    const Weights *weights = &w->model->weights;
    int D = w->model->config.d_model, rows = source ? w->n : w->m;
    SnapshotRows X = snapshot_embedded(w->snapshot, source);
    const real *E = source ? weights->source_embedding : weights->target_embedding;
    const real *P = source ? w->model->source_positions : w->model->target_positions;
    for (int i = 0; i < rows; i++) {
        size_t id = (size_t)(source ? w->source[i]
                             : i    ? w->target[i - 1]
                                    : w->model->config.vocab - 1);
        fputs("  ", w->out);
        columns_put(w->out, tokenizer_label(source ? w->read : w->written, (int)id), LABEL,
                    false);
        three(w, E + id * (size_t)D, sqrt(D), "");
        three(w, P ? P + i * D : NULL, 1, "  +");
        three(w, X.at + i * X.stride, 1, "  =");
        fputc('\n', w->out);
    }
}

static void step_vectors(const Walk *w)
{
    const ModelConfig *c = &w->model->config;
    const char *position = c->positions == POSITIONS_SINUSOIDAL
                               ? "sines and cosines of its place"
                           : c->positions == POSITIONS_LEARNED ? "a learned vector of its place"
                                                               : "nothing, in this model";
    heading(w, 2, "Numbers become vectors");
    say(w,
        "The embedding is a table with one row of %d learned numbers for each token. The "
        "row is multiplied by √%d = %.3f, and the position is added: %s. Here are the first %d "
        "numbers of each.",
        c->d_model, c->d_model, sqrt(c->d_model), position, SHOWN);
    fprintf(w->out, "  %-*s embedding × √%-5d    position             vector\n", LABEL, "token",
            c->d_model);
    if (w->kind != ATTENTION_DECODER) vectors_of(w, true);
    if (w->kind == ATTENTION_CROSS) fputs("  … and what the decoder reads:\n", w->out);
    if (w->kind != ATTENTION_ENCODER) vectors_of(w, false);
    fputc('\n', w->out);
}

/* Where the vectors come from that this layer makes q, k and v of. */
static void what_is_read(const Walk *w)
{
    const char *word = w->row[w->word];
    int layers = w->model->config.encoder_layers;
    if (w->kind == ATTENTION_ENCODER && w->layer == 0)
        say(w, "The first layer of the encoder reads these vectors as they are.");
    else if (w->kind == ATTENTION_ENCODER)
        say(w,
            "Encoder layer %d reads what the layer%s below made of them: in every vector "
            "there is already something of the words around it.",
            w->layer + 1, w->layer == 1 ? "" : "s");
    else if (w->kind == ATTENTION_DECODER)
        say(w,
            "\"%s\" is being written: the place where it will stand has read \"%s\", and "
            "asks what stands to the left, itself included. It cannot look to the right, where "
            "nothing is written yet.%s",
            word, w->column[w->word],
            w->layer ? " The vectors have been through the layers below." : "");
    else
        say(w,
            "The source has been through all %d encoder layer%s: in every vector there is "
            "something of the words around it. In the decoder, the place where \"%s\" is going "
            "to be written has read the words to the left of it, and now asks the source.",
            layers, layers == 1 ? "" : "s", word);
}

static void step_projections(const Walk *w)
{
    int dh = w->v.Q.columns;
    const char *word = w->row[w->word], *found = w->column[w->most];
    heading(w, 3, "Vectors become queries, keys and values");
    what_is_read(w);
    say(w,
        "Head %d has three learned matrices, each of %d rows of %d numbers. They turn a "
        "vector x into three short ones of %d numbers:",
        w->head + 1, dh, w->v.Xq.columns, dh);
    fputs("    query   q = W_Q x + b_Q    what a word looks for\n"
          "    key     k = W_K x + b_K    what a word is found by\n"
          "    value   v = W_V x + b_V    what a word gives to those who find it\n\n",
          w->out);
    numbers(w, "query", word, w->v.Q, w->word);
    numbers(w, "key", found, w->v.K, w->most);
    numbers(w, "value", found, w->v.V, w->most);
}

static void step_dot(const Walk *w)
{
    const real *q = w->v.Q.at + (size_t)w->word * (size_t)w->v.Q.stride;
    const real *k = w->v.K.at + (size_t)w->most * (size_t)w->v.K.stride;
    heading(w, 4, "How well does a key answer the query? The dot product");
    say(w,
        "Number by number, query times key, and all of it added up. The more the two point "
        "the same way, the larger the sum. \"%s\" and \"%s\":",
        w->row[w->word], w->column[w->most]);
    fputs("    q·k =", w->out);
    for (int i = 0; i < 2; i++) fprintf(w->out, " (%.3f)(%.3f) +", (double)q[i], (double)k[i]);
    fprintf(w->out, " … = %.3f\n\n", w->dot[w->most]);
}

/* z_j's softmax over the keys that the word sees, at the column it looks at most. */
static double sharpest(const Walk *w, double scale)
{
    double sum = 0;
    for (int j = 0; j < walk_seen(w, w->word); j++)
        sum += exp(scale * (w->dot[j] - w->dot[w->most]));
    return 1 / sum;
}

static void bar(FILE *out, double p, int width)
{
    static const char *const eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    int parts = (int)lround(p * width * 8);
    if (parts) fputc(' ', out);
    for (int i = 0; i < parts / 8; i++) fputs("█", out);
    fputs(eighths[parts % 8], out);
}

static void step_softmax(const Walk *w)
{
    int dh = w->v.Q.columns, keys = walk_seen(w, w->word);
    double largest = w->v.scale * w->dot[w->most], sum = 0;
    heading(w, 5, "Divided by √d_k");
    say(w,
        "A sum of %d independent products spreads about √%d = %.3f times as wide as one of "
        "them. Divided by that, scores stay in the range where softmax can still tell more "
        "from less, however long the vectors are. Undivided, \"%s\" would get %.4f of the "
        "attention; divided, it gets %.4f.",
        dh, dh, sqrt(dh), w->column[w->most], sharpest(w, 1), walk_share(w, w->word, w->most));
    heading(w, 6, "Softmax: scores become shares");
    say(w,
        "e to the power of every score, divided by the sum of them all: positive shares "
        "that add up to 1. (The largest score is taken off first. That changes no share, and "
        "keeps e^z from growing out of bounds.)");
    fprintf(w->out, "  %-*s %9s %10s %10s %10s\n", LABEL, "key", "q·k ", "z = ÷ √d_k",
            "e^(z-max)", "share");
    for (int j = 0; j < keys; j++) {
        double z = w->v.scale * w->dot[j], p = walk_share(w, w->word, j);
        sum += exp(z - largest);
        fputs("  ", w->out);
        columns_put(w->out, w->column[j], LABEL, false);
        fprintf(w->out, " %9.3f %10.3f %10.4f %10.4f", w->dot[j], z, exp(z - largest), p);
        bar(w->out, p, 17);
        fputc('\n', w->out);
    }
    fprintf(w->out, "  %-*s %9s %10s %10.4f %10.4f\n\n", LABEL, "sum", "", "", sum, 1.0);
}

static void step_values(const Walk *w)
{
    int dh = w->v.V.columns, shown = dh < MIXED ? dh : MIXED;
    heading(w, 7, "The values, mixed by their shares");
    say(w,
        "Every word's value, times its share, added up: that is what \"%s\" takes with it "
        "from here. The first %d of %d numbers:",
        w->row[w->word], shown, dh);
    for (int j = 0; j < walk_seen(w, w->word); j++) {
        const real *v = w->v.V.at + (size_t)j * (size_t)w->v.V.stride;
        fprintf(w->out, "  %s%8.4f × ", j ? "+" : " ", walk_share(w, w->word, j));
        columns_put(w->out, w->column[j], LABEL, false);
        for (int k = 0; k < shown; k++) fprintf(w->out, " %8.3f", (double)v[k]);
        fputs(shown < dh ? " …\n" : "\n", w->out);
    }
    const real *o = w->v.O.at + (size_t)w->word * (size_t)w->v.O.stride;
    fprintf(w->out, "  =%*s", 11 + LABEL, "");
    for (int k = 0; k < shown; k++) fprintf(w->out, " %8.3f", (double)o[k]);
    fputs(shown < dh ? " …\n\n" : "\n\n", w->out);
    say(w,
        "The other heads do the same with matrices of their own. Their results are laid "
        "side by side, %d × %d = %d numbers, mixed once more by a matrix W_O, and added to the "
        "vector that asked.",
        w->model->config.heads, dh, w->model->config.d_model);
}

/* ---- all rows ---- */

static void about_ends(const Walk *w, int rows)
{
    double end = 0, others = 0;
    int ends = 0;
    for (int j = 0; j < w->map.columns; j++) {
        if (walk_is_end(w->column[j])) end += length_of_value(w, j), ends++;
        else others += length_of_value(w, j);
    }
    char number[16] = "One";
    if (rows > 1) snprintf(number, sizeof number, "%d", rows);
    say(w,
        "%s of them look%s most at </s>. That is no error: shares must add up to 1, and a "
        "head that has nothing to find needs a place to leave them. The value of </s> is a "
        "vector %.1f long; those of the other tokens are %.1f long on average.",
        number, rows == 1 ? "s" : "", end / ends, others / fmax(w->map.columns - ends, 1));
}

static void step_table(const Walk *w)
{
    int ends = 0;
    heading(w, 8, "The same for every word");
    fprintf(w->out, "  %-*s | %-*s | probability\n  ", LABEL, "q asks", LABEL,
            "k, most looked at");
    for (int i = 0; i < LABEL + 1; i++) fputc('-', w->out);
    fputc('+', w->out);
    for (int i = 0; i < LABEL + 6; i++) fputc('-', w->out);
    fputs("+------------\n", w->out);
    for (int i = 0; i < w->map.rows; i++) {
        int j = walk_strongest(w, i);
        ends += walk_is_end(w->column[j]) && !walk_is_end(w->row[i]);
        fputs("  ", w->out);
        columns_put(w->out, w->row[i], LABEL, false);
        fputs(" | ", w->out);
        columns_put(w->out, w->column[j], LABEL + 4, false);
        fprintf(w->out, " | %6.4f", walk_share(w, i, j));
        bar(w->out, walk_share(w, i, j), 24);
        fputc('\n', w->out);
    }
    fputc('\n', w->out);
    if (ends) about_ends(w, ends);
}

static bool step_map(const Walk *w, Error *error)
{
    size_t count = (size_t)w->map.rows * (size_t)w->map.columns;
    float *weight = malloc(count * sizeof *weight);
    if (!weight) return error_set(error, "not enough memory to explain the attention");
    snapshot_head(weight, w->snapshot, w->kind, w->layer, w->head);
    HeatMap map = {.weight = weight,
                   .rows = w->map.rows,
                   .columns = w->map.columns,
                   .row_labels = w->row,
                   .column_labels = w->column};
    heading(w, 9, "All of it: rows ask, columns are asked, every row adds up to 1");
    blocks_print(w->out, &map, w->kind == ATTENTION_DECODER, blocks_color(w->out));
    free(weight);
    return true;
}

static bool walk(Walk *w, const Choice *choice, const char *word, Error *error)
{
    char *from = NULL, *to = NULL;
    bool good = tokenizer_decode(w->read, &from, w->source, (size_t)w->n, error) &&
                tokenizer_decode(w->written, &to, w->target, (size_t)w->m, error) &&
                walk_begin(w, choice, word, error);
    if (good) {
        columns_wrap(w->out, from, 4, LINE);
        fputs("    →\n", w->out);
        columns_wrap(w->out, to, 4, LINE);
        fputc('\n', w->out);
        introduction(w);
        step_tokens(w);
        step_vectors(w);
        step_projections(w);
        step_dot(w);
        step_softmax(w);
        step_values(w);
        step_table(w);
        good = step_map(w, error);
    }
    free(from);
    free(to);
    return good;
}

bool explain_print(FILE *out, const Transformer *model, const Vocabulary *vocabulary,
                   const Choice *choice, const char *word, const int *source, int source_length,
                   const int *target, int target_length, Error *error)
{
    if (choice->head == CHOICE_MEAN || choice->head == CHOICE_MAX)
        return error_set(
            error, "--explain follows one head, which has a query and keys: give --head a "
                   "number, or best");
    Snapshot *snapshot =
        snapshot_open(model, source, source_length, target, target_length, error);
    if (!snapshot) return false;
    Walk w = {.out = out,
              .model = model,
              .read = vocabulary->tokenizer[SOURCE],
              .written = vocabulary->tokenizer[TARGET],
              .snapshot = snapshot,
              .source = source,
              .target = target,
              .n = source_length,
              .m = target_length,
              .kind = choice->kind};
    bool good = walk(&w, choice, word, error);
    walk_end(&w);
    snapshot_close(snapshot);
    return good;
}
