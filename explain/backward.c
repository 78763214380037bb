/* backward.c -- the way back through a head, step by step; see backward.h. The gradients are
 * those of the backward pass of training; the steps have the numbers of the equations in
 * model/attention.c. */
#include "explain/backward.h"

#include <math.h>

enum { NUMBERS = 6, ANSWERS = 5, PROJECTIONS = 3 };

typedef struct Walk {
    const Explanation *e;
    const Update *u;
    FILE *out;
    HeadVectors x, d;                 // before the update, and their gradients
    const real *P, *dP, *dS, *after;  // the word's row: weights, their gradients, new weights
} Walk;

/* The power of ten of the largest number, so that all print with few digits. */
static double unit_of(const real *x, int count)
{
    double most = 0;
    for (int k = 0; k < count; k++) most = fmax(most, fabs((double)x[k]));
    return most > 0 && isfinite(most) ? pow(10, floor(log10(most))) : 1;
}

/* x without a minus before four zeros */
static double plain(double x)
{
    return fabs(x) < 5e-5 ? 0 : x;
}

static const real *word_row(const Walk *w, AttentionMap map)
{
    return map.at + (size_t)w->e->word * (size_t)map.width;
}

static void put_gradient(const Walk *w, const char *name, const char *of, const real *x)
{
    int dh = w->x.Q.columns;
    double unit = unit_of(x, dh);
    put_label(w->e, name, of, LABEL);
    for (int k = 0; k < NUMBERS && k < dh; k++)
        fprintf(w->out, " %7.3f", plain((double)x[k] / unit));
    fprintf(w->out, "%s × %.0e\n", dh > NUMBERS ? " …" : "", unit);
}

/* The right token, and the others with the largest gradients, which are the most probable. */
static void step_loss(const Walk *w)
{
    const Explanation *e = w->e;
    const Snapshot *s = w->u->snapshot[0];
    int C = e->config->vocab - 1, m = s->target.rows;
    int row = e->kind == ATTENTION_ENCODER ? 0 : e->word, right = s->target.id[row];
    double smoothing = w->u->config.label_smoothing, rest = smoothing / C, last = INFINITY;
    say(e, "The loss, and the gradient of the logits");
    say(e,
        "The decoder has %d logits for each of the %d tokens of the translation above; their "
        "softmax is p. The loss L is the mean of the cross-entropies -Σ q ln p, as in "
        "training: "
        "q is %.5f for the right token and %.2g for each other (label smoothing %g). L = %.5f. "
        "The gradient of a logit is (p - q) / %d: an update lowers it if p is above q. For "
        "\"%s\"%s:",
        C, m, 1 - smoothing + rest, rest, smoothing, w->u->loss[0].objective / m, m,
        label(e, TOKENS_TARGET, row), e->kind == ATTENTION_ENCODER ? ", the first token" : "");
    fprintf(w->out, "  token %16s %9s %10s %12s\n", "p", "q", "p - q", "dL/dlogit");
    for (int k = 0, id = right; k < ANSWERS && id >= 0; k++) {
        double dz = (double)loss_logit_gradient(&s->pass.loss, row, id, m, C), best = -INFINITY;
        double q = rest + (k ? 0 : 1 - smoothing);
        put_label(e, "  ", tokenizer_label(e->vocabulary->tokenizer[TARGET], id), LABEL);
        fprintf(w->out, " %8.5f %9.5f %10.5f %12.6f\n", m * dz + q, q, m * dz, dz);
        if (k) last = dz;
        id = -1;
        for (int c = 0; c < C; c++) {
            double other = (double)loss_logit_gradient(&s->pass.loss, row, c, m, C);
            if (c != right && other < last && other > best) best = other, id = c;
        }
    }
    fputc('\n', w->out);
}

static void step_vectors(const Walk *w)
{
    const Explanation *e = w->e;
    say(e, "(5) dO = dY W_O, and (4) dV = Pᵀ dO, dP = dO Vᵀ: back to the values and weights");
    say(e,
        "dY is the gradient of what this layer's attention adds; it has come back through all "
        "layers above. A row do of dO is the gradient of the head's output for one query. That "
        "output is the sum of weights times values. So the gradient dv of a value is the sum "
        "over all queries of weight times do, and dP of a weight is the dot product of do and "
        "the value.");
    put_gradient(w, "  do of ", e->row[e->word], row_of(w->d.O, e->word));
    put_gradient(w, "  dv of ", e->column[e->most], row_of(w->d.V, e->most));
    fputc('\n', w->out);
}

static void step_softmax(const Walk *w)
{
    const Explanation *e = w->e;
    int keys = keys_of(e, e->word);
    double sum = 0, unit = unit_of(w->dP, keys), fine = unit_of(w->dS, keys);
    for (int j = 0; j < keys; j++) sum += (double)w->P[j] * (double)w->dP[j];
    say(e, "(3) dS = P ⊙ (dP - Σ P dP): back through the softmax");
    say(e,
        "If a score S grows, its weight P grows and all others shrink: the softmax's Jacobian "
        "is ∂P_j/∂S_k = P_j ([j = k] - P_k). Column J is its row for j = \"%s\". dP times the "
        "whole Jacobian is dS. Where dS is negative, an update by this row alone raises the "
        "score. The dS sum to 0.",
        e->column[e->most]);
    fprintf(w->out, "  key %19s %9s %9s %9s %9s %9s\n", "P", "J", "dP", "P dP", "dP - Σ", "dS");
    fprintf(w->out, "%41s%.0e   × %.0e   × %.0e   × %.0e\n", "× ", unit, unit, unit, fine);
    for (int j = 0; j < keys; j++) {
        double P = (double)w->P[j], dP = (double)w->dP[j], dS = (double)w->dS[j];
        put_label(e, "  ", e->column[j], LABEL);
        fprintf(w->out, " %9.4f %9.4f %9.4f %9.4f %9.4f %9.4f\n", P,
                plain((double)w->P[e->most] * ((j == e->most) - P)), plain(dP / unit),
                plain(P * dP / unit), plain((dP - sum) / unit), plain(dS / fine));
    }
    fprintf(w->out, "  sum Σ %17.4f %29.4f\n\n", 1.0, plain(sum / unit));
}

static void step_scores(const Walk *w)
{
    const Explanation *e = w->e;
    say(e, "(2) %s: back to queries and keys",
        e->score->product ? "dQ = scale · dS K and dK = scale · dSᵀ Q" : "dQ and dK from dS");
    say(e,
        "A score is %s, here with a scale of %.4f. %sdq is a sum over the keys, dk one over "
        "all "
        "queries.",
        e->score->formula, w->x.scale,
        e->score->product ? "" : "Its derivatives are in model/scorefunction.c. ");
    put_gradient(w, "  dq of ", e->row[e->word], row_of(w->d.Q, e->word));
    put_gradient(w, "  dk of ", e->column[e->most], row_of(w->d.K, e->most));
    fputc('\n', w->out);
}

/* A number of W_Q, W_K or W_V. */
typedef struct Entry {
    int which, row, column;
} Entry;

static double number_at(const Walk *w, const Weights *weights, Entry at)
{
    real copy[MAX_D_MODEL];
    const Explanation *e = w->e;
    const LayerWeights *layer =
        (e->kind == ATTENTION_ENCODER ? weights->encoder : weights->decoder) + e->layer;
    const AttentionWeights *a = e->kind == ATTENTION_CROSS ? &layer->cross : &layer->self;
    const Linear *const linear[] = {&a->q, &a->k, &a->v};
    return (double)matrix_row(copy, &linear[at.which]->W, at.row,
                              e->config->d_model)[at.column];
}

/* best [PROJECTIONS] (=) the entries of the head with the largest gradients */
static void step_projections(const Walk *w, Entry *best)
{
    int dh = w->x.Q.columns, first = w->e->head * dh, D = w->e->config->d_model;
    say(w->e, "(1) dW_Q = dQᵀ Xq, dW_K = dKᵀ Xkv, dW_V = dVᵀ Xkv: back to the weights");
    say(w->e,
        "X are the layer's inputs. This head has rows %d to %d of W_Q, W_K and W_V, %d columns "
        "each. The norm (the root of the sum of squares) of their gradients is below, with the "
        "first numbers of row %d. All %zu parameters have a gradient of norm %.3e.",
        first + 1, first + dh, D, first + 1, params_trained(&w->u->model.params),
        w->u->stats.gradient_norm);
    for (int i = 0; i < PROJECTIONS; i++) {
        double squares = 0, most = -1;
        for (Entry at = {i, first, 0}; at.row < first + dh; at.row++)
            for (at.column = 0; at.column < D; at.column++) {
                double x = fabs(number_at(w, &w->u->dw, at));
                squares += x * x;
                if (x > most) most = x, best[i] = at;
            }
        fprintf(w->out, "  dW_%c   norm %10.3e  ", "QKV"[i], sqrt(squares));
        for (int c = 0; c < 4; c++)
            fprintf(w->out, " %10.2e", number_at(w, &w->u->dw, (Entry){i, first, c}));
        fputs(" …\n", w->out);
    }
    fputc('\n', w->out);
}

static void step_adam(const Walk *w, const Entry *at)
{
    enum { G, M, V, M_HAT, V_HAT, STEP, BEFORE, AFTER, LINES };
    static const char *const names[] = {"g",
                                        "m = β₁ m + (1 - β₁) g",
                                        "v = β₂ v + (1 - β₂) g²",
                                        "m̂ = m / (1 - β₁ᵘ)",
                                        "v̂ = v / (1 - β₂ᵘ)",
                                        "step = -rate m̂ / (√v̂ + ε)",
                                        "weight before",
                                        "weight after"};
    const Update *u = w->u;
    const TrainingConfig *c = &u->config;
    double norm = u->stats.gradient_norm, rate = u->stats.learning_rate, x[LINES][PROJECTIONS];
    double clip = c->clip_norm > 0 && norm > c->clip_norm ? c->clip_norm / norm : 1;
    say(w->e, "Adam: from the gradient to the new weights");
    say(w->e,
        "This is update u = %lld of the training: %s. m is a running mean of the gradients, v "
        "of their squares; m̂ and v̂ correct for their start at 0. β₁ = %g, β₂ = %g, ε = %g, "
        "weight decay %g. The learning rate is %.4g%s. %sThe columns are the weights (row, "
        "column) with the largest gradients:",
        u->number,
        u->moments ? "the file has Adam's moments m and v"
                   : "the file has no moments, so Adam begins with m = v = 0 (the "
                     "last.safetensors of a run has them)",
        c->beta1, c->beta2, c->epsilon, c->weight_decay, rate,
        u->ended ? ", that of the first update, as the schedule has come to 0" : "",
        clip < 1 ? "The norm is above the limit of the training, so g is clipped to it. " : "");
    char name[40];
    fprintf(w->out, "%32s", "");
    for (int i = 0; i < PROJECTIONS; i++) {
        x[G][i] = clip * number_at(w, &u->dw, at[i]);
        x[M][i] = number_at(w, &u->m, at[i]);
        x[V][i] = number_at(w, &u->v, at[i]);
        x[M_HAT][i] = x[M][i] / (1 - pow(c->beta1, (double)u->number));
        x[V_HAT][i] = x[V][i] / (1 - pow(c->beta2, (double)u->number));
        x[STEP][i] = -rate * x[M_HAT][i] / (sqrt(x[V_HAT][i]) + c->epsilon);
        x[BEFORE][i] = number_at(w, &u->before, at[i]);
        x[AFTER][i] = number_at(w, &u->model.weights, at[i]);
        snprintf(name, sizeof name, "W_%c(%d,%d)", "QKV"[i], at[i].row + 1, at[i].column + 1);
        fprintf(w->out, " %13s", name);
    }
    for (int l = 0; l < LINES; l++) {
        put_label(w->e, "\n  ", names[l], 30);
        for (int i = 0; i < PROJECTIONS; i++)
            fprintf(w->out, l < BEFORE ? " %13.3e" : " %13.8f", x[l][i]);
    }
    fputs("\n", w->out);
    fputc('\n', w->out);
}

static void step_after(const Walk *w)
{
    const Explanation *e = w->e;
    const Loss *loss = w->u->loss;
    double m = (double)loss[0].tokens;
    say(e, "The same attention row after this update of all parameters");
    fprintf(w->out, "  key %22s %10s %11s\n", "before", "after", "change");
    for (int j = 0; j < keys_of(e, e->word); j++) {
        put_label(e, "  ", e->column[j], LABEL);
        fprintf(w->out, " %10.5f %10.5f %+11.5f\n", (double)w->P[j], (double)w->after[j],
                plain(10 * ((double)w->after[j] - (double)w->P[j])) / 10);
    }
    fprintf(w->out, "\nThe loss L was %.5f before and is %.5f after.\n", loss[0].objective / m,
            loss[1].objective / m);
}

void backward_print(const Explanation *e, const Update *u)
{
    const HeadGradients d = snapshot_gradients(u->snapshot[0], e->kind, e->layer, e->head);
    Walk w = {.e = e, .u = u, .out = e->out, .d = d.x};
    Entry best[PROJECTIONS];
    w.x = snapshot_vectors(u->snapshot[0], e->kind, e->layer, e->head);
    w.P = word_row(&w, snapshot_map(u->snapshot[0], e->kind, e->layer, e->head));
    w.after = word_row(&w, snapshot_map(u->snapshot[1], e->kind, e->layer, e->head));
    w.dP = word_row(&w, d.P), w.dS = word_row(&w, d.S);
    fputc('\n', w.out);
    say(e, "The way back: from the loss to the weights");
    say(e,
        "How would the loss L change if a number x grew a little? That is its gradient, dL/dx, "
        "written dx. The numbers are those of a backward pass of training, without dropout. "
        "The "
        "steps have the numbers of the equations in model/attention.c, which training walks "
        "from (5) down to (1).");
    step_loss(&w);
    step_vectors(&w);
    step_softmax(&w);
    step_scores(&w);
    step_projections(&w, best);
    step_adam(&w, best);
    step_after(&w);
}
