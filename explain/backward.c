/* backward.c -- the way back through a head, step by step; see backward.h.
 *
 * Every gradient is one that the backward pass of training computed (explain/update.h). The
 * sums and products beside them are of these numbers and those of the forward pass. The steps
 * have the numbers of the equations in model/attention.c. */
#include "explain/backward.h"

#include <math.h>
#include <stdlib.h>

enum { SHOWN_GRADIENTS = 6, ANSWERS = 5, JACOBIAN = 3, PROJECTIONS = 3 };

typedef struct Walk {
    const Explanation *e;
    const Update *u;
    FILE *out;
    HeadVectors x, d;         // of the pass, and their gradients
    const real *P, *dP, *dS;  // the word's rows
    int keys;                 // that the word sees
} Walk;

/* The power of ten of the largest of `count` numbers, so that they print with few digits. */
static double unit_of(const real *x, int count)
{
    double most = 0;
    for (int k = 0; k < count; k++) most = fmax(most, fabs((double)x[k]));
    return most > 0 && isfinite(most) ? pow(10, floor(log10(most))) : 1;
}

/* x for 4 decimals, without a minus before zeros */
static double plain(double x)
{
    return fabs(x) < 5e-5 ? 0 : x;
}

static const real *map_row(AttentionMap map, int row)
{
    return map.at + (size_t)row * (size_t)map.width;
}

static void put_gradient(const Walk *w, const char *name, const char *of, SnapshotRows rows,
                         int row)
{
    const real *x = row_of(rows, row);
    int count = rows.columns < SHOWN_GRADIENTS ? rows.columns : SHOWN_GRADIENTS;
    double unit = unit_of(x, rows.columns);
    fprintf(w->out, "  %s of ", name);
    put_label(w->e, "", of, LABEL);
    for (int k = 0; k < count; k++) fprintf(w->out, " %7.3f", (double)x[k] / unit);
    fprintf(w->out, "%s × %.0e\n", count < rows.columns ? " …" : "", unit);
}

/* ---- the loss ---- */

/* p [C] (=) the probabilities of row `row` of the decoder's output */
static void probabilities(double *p, real *z, const Walk *w, int row)
{
    const ModelConfig *c = w->e->config;
    const real *X = w->u->snapshot[0]->pass.output + (size_t)row * (size_t)c->d_model;
    double most = -INFINITY, sum = 0;
    logits_forward(z, X, &w->u->before, 1, c->vocab, c->d_model);
    for (int k = 0; k < c->vocab - 1; k++) most = fmax(most, (double)z[k]);
    for (int k = 0; k < c->vocab - 1; k++) sum += p[k] = exp((double)z[k] - most);
    for (int k = 0; k < c->vocab - 1; k++) p[k] /= sum;
}

static void put_answer(const Walk *w, const double *p, int row, int id, bool right)
{
    const Snapshot *s = w->u->snapshot[0];
    int C = w->e->config->vocab - 1, m = s->target.rows;
    double smoothing = w->u->config.label_smoothing;
    double q = smoothing / C + (right ? 1 - smoothing : 0);
    put_label(w->e, "  ",
              tokenizer_label(labels_tokenizer(w->e->vocabulary, TOKENS_TARGET), id), LABEL);
    fprintf(w->out, " %9.5f %9.5f %10.5f %12.6f%s\n", p[id], q, p[id] - q,
            (double)loss_logit_gradient(&s->pass.loss, row, id, m, C), right ? "  right" : "");
}

/* The right token, and the most probable others. */
static void put_answers(const Walk *w, double *p, real *z, int row)
{
    int C = w->e->config->vocab - 1, right = w->u->snapshot[0]->target.id[row];
    probabilities(p, z, w, row);
    fprintf(w->out, "  %-*s %9s %9s %10s %12s\n", LABEL, "token", "p", "q", "p - q",
            "dL/dlogit");
    put_answer(w, p, row, right, true);
    for (int k = 1; k < ANSWERS && k < C; k++) {
        int most = -1;
        p[right] = -1;
        for (int c = 0; c < C; c++)
            if (p[c] >= 0 && (most < 0 || p[c] > p[most])) most = c;
        if (most < 0) break;
        put_answer(w, p, row, most, false);
        p[most] = -1;
    }
    fputc('\n', w->out);
}

static bool step_loss(const Walk *w, Error *error)
{
    const Update *u = w->u;
    const Explanation *e = w->e;
    int C = e->config->vocab - 1, m = u->snapshot[0]->target.rows;
    int row = e->kind == ATTENTION_ENCODER ? 0 : e->word;
    double *p = malloc((size_t)C * sizeof *p), smoothing = u->config.label_smoothing;
    real *z = malloc((size_t)C * sizeof *z);
    if (p && z) {
        say(e, "The loss, and the gradient of the logits");
        say(e,
            "For each of the %d tokens of the translation above, the decoder has a logit for "
            "each of %d tokens. The softmax of the logits are probabilities p. The loss L is "
            "the mean over the tokens of the cross-entropy -Σ q ln p, as in training: q is "
            "%.5f for the right token and %.2g for each other (label smoothing %g). "
            "L = %.5f. The gradient of a logit is (p - q) / %d. An update lowers "
            "a logit if p is above q. For \"%s\"%s:",
            m, C, 1 - smoothing + smoothing / C, smoothing / C, smoothing,
            u->loss[0].objective / m, m, label(e, TOKENS_TARGET, row),
            row == e->word && e->kind != ATTENTION_ENCODER ? "" : ", the first of them");
        put_answers(w, p, z, row);
    }
    bool good = p && z;
    free(p);
    free(z);
    return good || error_set(error, "not enough memory to explain the gradients");
}

/* ---- the head ---- */

static void step_output(const Walk *w)
{
    say(w->e, "(5) dO = dY W_O: back to the head's output");
    say(w->e,
        "dY is the gradient of what this layer's attention adds. It has come back through all "
        "layers above. W_O takes it to the head's output O. dO is %d by %d, a row for each "
        "query:",
        w->d.O.rows, w->d.O.columns);
    put_gradient(w, "dO", w->e->row[w->e->word], w->d.O, w->e->word);
    fputc('\n', w->out);
}

static void step_values_back(const Walk *w)
{
    say(w->e, "(4) dV = Pᵀ dO and dP = dO Vᵀ: back to the values and the weights");
    say(w->e,
        "In O = P V a value is multiplied by the attention weights P, so its gradient is the "
        "sum over all queries of weight times do, a row of dO. A weight is multiplied by a "
        "value v, so its "
        "gradient is the dot product do·v; step (3) lists them. dV is %d by %d, dP %d by %d.",
        w->d.V.rows, w->d.V.columns, w->d.O.rows, w->d.V.rows);
    put_gradient(w, "dv", w->e->column[w->e->most], w->d.V, w->e->most);
    fputc('\n', w->out);
}

/* The keys with the largest weights, at most JACOBIAN. Returns their number. */
static int largest_keys(int *key, const Walk *w)
{
    int count = 0;
    for (; count < JACOBIAN && count < w->keys; count++) {
        int most = -1;
        for (int j = 0; j < w->keys; j++) {
            bool taken = false;
            for (int k = 0; k < count; k++) taken = taken || key[k] == j;
            if (!taken && (most < 0 || w->P[j] > w->P[most])) most = j;
        }
        key[count] = most;
    }
    return count;
}

static void put_jacobian(const Walk *w)
{
    int key[JACOBIAN], count = largest_keys(key, w);
    fprintf(w->out, "  %-*s", LABEL, "");
    for (int b = 0; b < count; b++) put_label(w->e, "  S of ", w->e->column[key[b]], LABEL);
    fputc('\n', w->out);
    for (int a = 0; a < count; a++) {
        put_label(w->e, "  P of ", w->e->column[key[a]], LABEL);
        for (int b = 0; b < count; b++) {
            double P = (double)w->P[key[a]], other = (double)w->P[key[b]];
            fprintf(w->out, "%s%*.5f", b ? "  " : "", b ? LABEL + 5 : 8,
                    P * ((a == b) - other));
        }
        fputc('\n', w->out);
    }
    fputc('\n', w->out);
}

static void step_softmax_back(const Walk *w)
{
    double sum = 0, total = 0, unit = unit_of(w->dP, w->keys), fine = unit_of(w->dS, w->keys);
    for (int j = 0; j < w->keys; j++) sum += (double)w->P[j] * (double)w->dP[j];
    say(w->e, "(3) dS = P ⊙ (dP - Σ P dP): back through the softmax");
    say(w->e,
        "The weights of a row sum to 1: if one score S grows, its weight grows and all others "
        "shrink. The derivatives are ∂P_j/∂S_k = P_j ([j = k] - P_k), the Jacobian of the "
        "softmax. Its part for the largest weights of this row:");
    put_jacobian(w);
    say(w->e,
        "dP times the Jacobian is dS: from each dP the sum of all P dP is subtracted, and the "
        "rest is multiplied by P. The dS of a row sum to 0. An update that follows this row "
        "alone would raise the scores whose dS is negative.");
    fprintf(w->out, "  %-*s %9s %10s %10s  %10s %10s\n", LABEL, "key", "P", "dP", "P dP",
            "dP - Σ", "dS");
    fprintf(w->out, "  %-*s %9s %6s%.0e %6s%.0e %6s%.0e %6s%.0e\n", LABEL, "", "", "× ", unit,
            "× ", unit, "× ", unit, "× ", fine);
    for (int j = 0; j < w->keys; j++) {
        double P = (double)w->P[j], dP = (double)w->dP[j], dS = (double)w->dS[j];
        total += dS;
        put_label(w->e, "  ", w->e->column[j], LABEL);
        fprintf(w->out, " %9.4f %10.4f %10.4f %10.4f %10.4f\n", P, plain(dP / unit),
                plain(P * dP / unit), plain((dP - sum) / unit), plain(dS / fine));
    }
    fprintf(w->out, "  %-*s %10.4f %10s %10.4f %10s %10.4f\n\n", LABEL, "sum Σ", 1.0, "",
            plain(sum / unit), "", plain(total / fine));
}

static void step_scores_back(const Walk *w)
{
    static const char *const formula[] = {
        [SCORE_COSINE] = "(2) dq = t Σ dS (k/‖k‖ - cos q/‖q‖) / ‖q‖, and dk likewise",
        [SCORE_LAPLACE] = "(2) dq = -Σ dS sign(q - k) and dk = Σ dS sign(q - k)"};
    const ScoreFunction *score = &score_functions[w->e->config->attention_score];
    const char *special = score->product ? NULL : formula[w->e->config->attention_score];
    say(w->e, "%s",
        special ? special : "(2) dQ = scale · dS K and dK = scale · dSᵀ Q: back to both sides");
    say(w->e,
        "A score is %s, with a scale of %.4f. A query's gradient is a sum over the keys, a "
        "key's a sum over all queries.",
        score->formula, w->x.scale);
    put_gradient(w, "dq", w->e->row[w->e->word], w->d.Q, w->e->word);
    put_gradient(w, "dk", w->e->column[w->e->most], w->d.K, w->e->most);
    fputc('\n', w->out);
}

/* ---- the weights ---- */

static const Linear *projection(const Walk *w, const Weights *weights, int which)
{
    const Explanation *e = w->e;
    const AttentionWeights *a = e->kind == ATTENTION_ENCODER ? &weights->encoder[e->layer].self
                                : e->kind == ATTENTION_DECODER
                                    ? &weights->decoder[e->layer].self
                                    : &weights->decoder[e->layer].cross;
    return which == 0 ? &a->q : which == 1 ? &a->k : &a->v;
}

/* The number in row r and column c of W_Q, W_K or W_V in these weights. */
static double entry(const Walk *w, const Weights *weights, int which, int r, int c)
{
    real row[MAX_D_MODEL];
    return (double)matrix_row(row, &projection(w, weights, which)->W, r,
                              w->e->config->d_model)[c];
}

/* One number of W_Q, W_K or W_V. */
typedef struct Entry {
    int row, column;
} Entry;

/* The entry with the largest gradient among the head's rows; *norm (=) that of all of them. */
static Entry largest_entry(double *norm, const Walk *w, int which)
{
    int D = w->e->config->d_model, dh = w->x.Q.columns;
    double squares = 0, most = -1;
    Entry best = {w->e->head * dh, 0};
    real copy[MAX_D_MODEL];
    for (int r = best.row, end = r + dh; r < end; r++) {
        const real *row = matrix_row(copy, &projection(w, &w->u->dw, which)->W, r, D);
        for (int c = 0; c < D; c++) {
            squares += (double)row[c] * (double)row[c];
            if (fabs((double)row[c]) > most) most = fabs((double)row[c]), best = (Entry){r, c};
        }
    }
    *norm = sqrt(squares);
    return best;
}

static void step_projections_back(const Walk *w, Entry *best)
{
    static const char name[] = "QKV";
    int dh = w->x.Q.columns, first = w->e->head * dh, D = w->e->config->d_model;
    say(w->e, "(1) dW_Q = dQᵀ Xq, dW_K = dKᵀ Xkv, dW_V = dVᵀ Xkv: back to the weights");
    say(w->e,
        "X are the layer's inputs, one row for each word. Rows %d to %d of W_Q, W_K and W_V "
        "belong to this head, %d by %d each. The norm is the root of the sum of squares. The "
        "last columns are the first numbers of row %d.",
        first + 1, first + dh, dh, D, first + 1);
    for (int which = 0; which < PROJECTIONS; which++) {
        double norm;
        best[which] = largest_entry(&norm, w, which);
        fprintf(w->out, "  dW_%c   norm %10.3e  ", name[which], norm);
        for (int c = 0; c < 4 && c < D; c++)
            fprintf(w->out, " %10.2e", entry(w, &w->u->dw, which, first, c));
        fputs(" …\n", w->out);
    }
    fprintf(w->out, "  all %zu parameters: norm %.3e\n\n", params_trained(&w->u->model.params),
            w->u->stats.gradient_norm);
}

static void put_entries(const Walk *w, const char *name, const double *x, const char *format)
{
    put_label(w->e, "  ", name, 32);
    for (int which = 0; which < PROJECTIONS; which++) fprintf(w->out, format, x[which]);
    fputc('\n', w->out);
}

static void say_update(const Walk *w)
{
    const Update *u = w->u;
    const TrainingConfig *c = &u->config;
    double norm = u->stats.gradient_norm;
    say(w->e, "Adam: from the gradient to the new weights");
    if (u->moments)
        say(w->e,
            "The file has the moments m and v of Adam, so this is update %lld of its training.",
            u->number);
    else
        say(w->e,
            "The file has no moments of Adam, so this is Adam's first update, from m = v = 0. "
            "Every weight with a gradient moves by about the learning rate. (The "
            "last.safetensors of a run has moments.)");
    say(w->e,
        "m is a running mean of the gradients, v of their squares; m̂ and v̂ correct for their "
        "start at 0. The number of the update is u = %lld. β₁ = %g, β₂ = %g, ε = %g. The "
        "learning rate is %.4g, %s. %s The "
        "entries (row, column) are those with the largest gradients:",
        u->number, c->beta1, c->beta2, c->epsilon, u->stats.learning_rate,
        u->ended ? "that of the schedule's first update, as the schedule has come to 0"
                 : "as the training's schedule has it",
        c->clip_norm > 0 && norm > c->clip_norm
            ? "The norm of the gradient is above the training's limit, so g is scaled down to "
              "it."
            : "The gradient needs no clipping.");
}

static void step_adam(const Walk *w, const Entry *at)
{
    enum { G, M, V, M_HAT, V_HAT, STEP, DECAY, BEFORE, AFTER, LINES };
    const Update *u = w->u;
    const TrainingConfig *c = &u->config;
    double x[LINES][PROJECTIONS], norm = u->stats.gradient_norm, rate = u->stats.learning_rate;
    double clip = c->clip_norm > 0 && norm > c->clip_norm ? c->clip_norm / norm : 1;
    say_update(w);
    fprintf(w->out, "  %-32s", "");
    for (int i = 0; i < PROJECTIONS; i++) {
        int r = at[i].row, k = at[i].column;
        char name[32];
        x[G][i] = clip * entry(w, &u->dw, i, r, k);
        x[M][i] = entry(w, &u->m, i, r, k);
        x[V][i] = entry(w, &u->v, i, r, k);
        x[M_HAT][i] = x[M][i] / (1 - pow(c->beta1, (double)u->number));
        x[V_HAT][i] = x[V][i] / (1 - pow(c->beta2, (double)u->number));
        x[STEP][i] = -rate * x[M_HAT][i] / (sqrt(x[V_HAT][i]) + c->epsilon);
        x[BEFORE][i] = entry(w, &u->before, i, r, k);
        x[DECAY][i] = -rate * c->weight_decay * x[BEFORE][i];
        x[AFTER][i] = entry(w, &u->model.weights, i, r, k);
        snprintf(name, sizeof name, "W_%c(%d,%d)", "QKV"[i], r + 1, k + 1);
        fprintf(w->out, " %14s", name);
    }
    fputc('\n', w->out);
    put_entries(w, "g", x[G], " %14.4e");
    put_entries(w, "m = β₁ m + (1 - β₁) g", x[M], " %14.4e");
    put_entries(w, "v = β₂ v + (1 - β₂) g²", x[V], " %14.4e");
    put_entries(w, "m̂ = m / (1 - β₁ᵘ)", x[M_HAT], " %14.4e");
    put_entries(w, "v̂ = v / (1 - β₂ᵘ)", x[V_HAT], " %14.4e");
    put_entries(w, "step = -rate m̂ / (√v̂ + ε)", x[STEP], " %14.4e");
    if (c->weight_decay > 0) put_entries(w, "weight decay", x[DECAY], " %14.4e");
    put_entries(w, "weight before", x[BEFORE], " %14.8f");
    put_entries(w, "weight after", x[AFTER], " %14.8f");
    fputc('\n', w->out);
}

static void step_after(const Walk *w)
{
    const Explanation *e = w->e;
    const Update *u = w->u;
    const real *after =
        map_row(snapshot_map(u->snapshot[1], e->kind, e->layer, e->head), e->word);
    double m = (double)u->loss[0].tokens;
    say(e, "The same attention row after this update of all parameters");
    fprintf(w->out, "  %-*s %10s %10s %11s\n", LABEL, "key", "before", "after", "change");
    for (int j = 0; j < w->keys; j++) {
        put_label(e, "  ", e->column[j], LABEL);
        fprintf(w->out, " %10.5f %10.5f %+11.5f", (double)w->P[j], (double)after[j],
                (double)after[j] - (double)w->P[j]);
        put_bar(w->out, (double)after[j], 24);
        fputc('\n', w->out);
    }
    fputc('\n', w->out);
    say(e, "The loss L was %.5f before and is %.5f after.", u->loss[0].objective / m,
        u->loss[1].objective / m);
}

bool backward_print(const Explanation *e, const Update *u, Error *error)
{
    const Snapshot *s = u->snapshot[0];
    Walk w = {.e = e, .u = u, .out = e->out, .keys = keys_of(e, e->word)};
    Entry best[PROJECTIONS];
    w.x = snapshot_vectors(s, e->kind, e->layer, e->head);
    w.d = snapshot_gradients(s, e->kind, e->layer, e->head);
    w.P = map_row(snapshot_map(s, e->kind, e->layer, e->head), e->word);
    w.dP = map_row(snapshot_gradient_map(s, e->kind, e->layer, e->head, false), e->word);
    w.dS = map_row(snapshot_gradient_map(s, e->kind, e->layer, e->head, true), e->word);
    fputc('\n', e->out);
    say(e, "The way back: from the loss to the weights");
    say(e,
        "How would the loss L change if a number x grew a little? That is its gradient, dL/dx; "
        "it is written dx here. The numbers are those of a backward pass of training, without "
        "dropout. The steps have the numbers of the equations in model/attention.c, which "
        "training walks from (5) down to (1).");
    if (!step_loss(&w, error)) return false;
    step_output(&w);
    step_values_back(&w);
    step_softmax_back(&w);
    step_scores_back(&w);
    step_projections_back(&w, best);
    step_adam(&w, best);
    step_after(&w);
    return true;
}
