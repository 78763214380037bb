/* backward.c -- the way back through a head, step by step; see explanation.h. The gradients are
 * those of the backward pass of training; the steps have the numbers of the equations in
 * model/attention.c. */
#include "explain/explanation.h"

#include "base/best.h"

enum { ANSWERS = 5, PROJECTIONS = 3 };

static double plain(double x)  // without a minus before four zeros
{
    return fabs(x) < 5e-5 ? 0 : x;
}

#define section(e, title, ...) (say(e, "%s", title), say(e, __VA_ARGS__))

/* The weights of the row that is followed. */
static const real *weights_in(const Explanation *e, const Snapshot *snapshot)
{
    return snapshot_row(snapshot_map(snapshot, e->kind, e->layer, e->head), e->word);
}

/* The right token, and the others with the largest gradients, which are the most probable. */
static void step_loss(const Explanation *e, const Update *u)
{
    const Snapshot *s = u->snapshot[0];
    int C = e->config->vocab - 1, m = s->target.rows;
    int row = e->kind == ATTENTION_ENCODER ? 0 : e->word, right = s->target.id[row];
    double smoothing = u->config.label_smoothing, rest = smoothing / C;
    Best best[ANSWERS] = {{right, 0}};
    int count = 0;
    for (int c = 0; c < C; c++)
        if (c != right)
            best_add(best + 1, &count, ANSWERS - 1, c,
                     (double)loss_logit_gradient(&s->activations.loss, row, c, m, C));
    section(
        e, "The loss, and the gradient of the logits",
        "The decoder has %d logits for each of the %d tokens of the translation above; their "
        "softmax is p. The loss L is the mean of the cross-entropies -Σ q ln p, as in "
        "training: q is %.5f for the right token and %.2g for each other (label smoothing "
        "%g). L = %.5f. The gradient of a logit is (p - q) / %d: where p is above q, L would "
        "fall if this logit alone fell. For \"%s\"%s:",
        C, m, 1 - smoothing + rest, rest, smoothing, u->loss[0].objective / m, m,
        e->labels[TOKENS_TARGET].text[row],
        e->kind == ATTENTION_ENCODER ? ", the first token" : "");
    fprintf(e->out, "  token %16s %9s %10s %12s\n", "p", "q", "p - q", "dL/dlogit");
    for (int k = 0; k <= count; k++) {
        int id = best[k].id;
        double dz = (double)loss_logit_gradient(&s->activations.loss, row, id, m, C);
        double q = rest + (k ? 0 : 1 - smoothing);
        put_label(e, "  ",
                  k ? tokenizer_shown(e->vocabulary->tokenizer[TARGET], id)
                    : e->labels[TOKENS_TARGET].text[row],
                  LABEL);
        fprintf(e->out, " %8.5f %9.5f %10.5f %12.6f\n", m * dz + q, q, m * dz, dz);
    }
    fputc('\n', e->out);
}

static void step_values(const Explanation *e, const HeadGradients *d)
{
    section(
        e, "(5) dO = dY W_O, and (4) dV = Pᵀ dO, dP = dO Vᵀ: back to the values and weights",
        "dY is the gradient of what this layer's attention adds; it has come back through all "
        "layers above. A row do of dO is the gradient of the head's output for one query. "
        "That output is the sum of weights times values. So the gradient dv of a value is the "
        "sum over all queries of weight times do, and dP of a weight is the dot product of do "
        "and the value.");
    put_vector(e, "do", e->row[e->word], d->x.O, e->word);
    put_vector(e, "dv", e->column[e->most], d->x.V, e->most);
}

static void step_softmax(const Explanation *e, const Update *u, const HeadGradients *d)
{
    int keys = e->keys;
    const real *P = weights_in(e, u->snapshot[0]), *dP = snapshot_row(d->P, e->word),
               *dS = snapshot_row(d->S, e->word);
    double sum = 0, unit = unit_of(dP, keys), fine = unit_of(dS, keys);
    for (int j = 0; j < keys; j++) sum += (double)P[j] * (double)dP[j];
    section(
        e, "(3) dS = P ⊙ (dP - Σ P dP): back through the softmax",
        "If a score S grows, its weight P grows and all others shrink: the softmax's Jacobian "
        "is ∂P_j/∂S_k = P_j ([j = k] - P_k). Column J is its row for j = \"%s\". dP times the "
        "whole Jacobian is dS. Where dS is negative, L would fall if this score alone rose; an "
        "update changes all scores at once. The dS sum to 0.",
        e->column[e->most]);
    fprintf(e->out, "  key %19s %9s %9s %9s %9s %9s\n", "P", "J", "dP", "P dP", "dP - Σ", "dS");
    fprintf(e->out, "%41s%.0e   × %.0e   × %.0e   × %.0e\n", "× ", unit, unit, unit, fine);
    for (int j = 0; j < keys; j++) {
        double p = (double)P[j], dp = (double)dP[j];
        put_label(e, "  ", e->column[j], LABEL);
        fprintf(e->out, " %9.4f %9.4f %9.4f %9.4f %9.4f %9.4f\n", p,
                plain((double)P[e->most] * ((j == e->most) - p)), plain(dp / unit),
                plain(p * dp / unit), plain((dp - sum) / unit), plain((double)dS[j] / fine));
    }
    fprintf(e->out, "  sum Σ %17.4f %29.4f\n\n", 1.0, plain(sum / unit));
}

static void step_scores(const Explanation *e, const HeadGradients *d)
{
    section(
        e,
        e->score->product ? "(2) dQ = scale · dS K and dK = scale · dSᵀ Q: back to queries "
                            "and keys"
                          : "(2) dQ and dK from dS: back to queries and keys",
        "A score is %s, here with a scale of %.4f. %sdq is a sum over the keys, dk one over "
        "all queries.",
        e->score->formula, d->x.scale,
        e->score->product ? "" : "Its derivatives are in model/scorefunction.c. ");
    put_vector(e, "dq", e->row[e->word], d->x.Q, e->word);
    put_vector(e, "dk", e->column[e->most], d->x.K, e->most);
}

/* A number of W_Q, W_K or W_V. */
typedef struct Entry {
    int which, row, column;
} Entry;

static double number_at(const Explanation *e, const Weights *weights, Entry at)
{
    real copy[MAX_D_MODEL];
    const AttentionWeights *a = attention_weights(weights, e->kind, e->layer);
    const Linear *const linear[] = {&a->q, &a->k, &a->v};
    return (double)matrix_row(copy, &linear[at.which]->W, at.row,
                              e->config->d_model)[at.column];
}

/* best [PROJECTIONS] (=) the entries of the head with the largest gradients */
static void step_projections(const Explanation *e, const Update *u, Entry *best)
{
    int dh = e->v.Q.columns, first = e->head * dh, D = e->config->d_model;
    section(
        e, "(1) dW_Q = dQᵀ Xq, dW_K = dKᵀ Xkv, dW_V = dVᵀ Xkv: back to the weights",
        "X are the layer's inputs. This head has rows %d to %d of W_Q, W_K and W_V, %d "
        "columns each. The norm (the root of the sum of squares) of their gradients is below, "
        "with the first numbers of row %d. All %zu parameters have a gradient of norm %.3e.",
        first + 1, first + dh, D, first + 1, params_trained(&u->model.params),
        u->stats.gradient_norm);
    for (int i = 0; i < PROJECTIONS; i++) {
        double squares = 0, most = -1;
        for (Entry at = {i, first, 0}; at.row < first + dh; at.row++)
            for (at.column = 0; at.column < D; at.column++) {
                double x = fabs(number_at(e, &u->dw, at));
                squares += x * x;
                if (x > most) most = x, best[i] = at;
            }
        fprintf(e->out, "  dW_%c   norm %10.3e  ", "QKV"[i], sqrt(squares));
        for (int c = 0; c < 4; c++)
            fprintf(e->out, " %10.2e", number_at(e, &u->dw, (Entry){i, first, c}));
        fputs(" …\n", e->out);
    }
    fputc('\n', e->out);
}

static void step_adam(const Explanation *e, const Update *u, const Entry *at)
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
    const TrainingConfig *c = &u->config;
    double norm = u->stats.gradient_norm, rate = schedule_rate(c, u->number),
           x[LINES][PROJECTIONS];
    double clip = c->clip_norm > 0 && norm > c->clip_norm ? c->clip_norm / norm : 1;
    section(
        e, "Adam: from the gradient to the new weights",
        "This is update u = %lld of the training: %s. m is a running mean of the gradients, v "
        "of their squares; m̂ and v̂ correct for their start at 0. β₁ = %g, β₂ = %g, ε = %g, "
        "weight decay %g. The learning rate is %.4g%s. %sThe columns are the weights (row, "
        "column) with the largest gradients:",
        u->number,
        u->moments ? "the file has Adam's moments m and v"
                   : "the file has none of Adam's moments, so it begins with m = v = 0 (the "
                     "last.safetensors of a run with Adam has them)",
        c->beta1, c->beta2, c->epsilon, c->weight_decay, rate,
        u->ended ? ", that of the first update, as the schedule has come to 0" : "",
        clip < 1 ? "The norm is above the limit of the training, so g is clipped to it. " : "");
    fprintf(e->out, "%32s", "");
    for (int i = 0; i < PROJECTIONS; i++) {
        char name[40];
        x[G][i] = clip * number_at(e, &u->dw, at[i]);
        x[M][i] = number_at(e, &u->m, at[i]);
        x[V][i] = number_at(e, &u->v, at[i]);
        x[M_HAT][i] = x[M][i] / (1 - pow(c->beta1, (double)u->number));
        x[V_HAT][i] = x[V][i] / (1 - pow(c->beta2, (double)u->number));
        x[STEP][i] = -rate * x[M_HAT][i] / (sqrt(x[V_HAT][i]) + c->epsilon);
        x[BEFORE][i] = number_at(e, &u->before, at[i]);
        x[AFTER][i] = number_at(e, &u->model.weights, at[i]);
        snprintf(name, sizeof name, "W_%c(%d,%d)", "QKV"[i], at[i].row + 1, at[i].column + 1);
        fprintf(e->out, " %13s", name);
    }
    for (int l = 0; l < LINES; l++) {
        put_label(e, "\n  ", names[l], 30);
        for (int i = 0; i < PROJECTIONS; i++)
            fprintf(e->out, l < BEFORE ? " %13.3e" : " %13.8f", x[l][i]);
    }
    fputs("\n\n", e->out);
}

static void step_after(const Explanation *e, const Update *u)
{
    double m = (double)u->loss[0].tokens;
    const real *before = weights_in(e, u->snapshot[0]), *after = weights_in(e, u->snapshot[1]);
    say(e, "The same attention row after this update of all parameters");
    fprintf(e->out, "  key %22s %10s %11s\n", "before", "after", "change");
    for (int j = 0; j < e->keys; j++) {
        double p = (double)before[j], new = (double)after[j];
        put_label(e, "  ", e->column[j], LABEL);
        fprintf(e->out, " %10.5f %10.5f %+11.5f\n", p, new, plain(10 * (new - p)) / 10);
    }
    fprintf(e->out, "\nThe loss L was %.5f before and is %.5f after.\n",
            u->loss[0].objective / m, u->loss[1].objective / m);
}

void backward_print(const Explanation *e, const Update *u)
{
    const HeadGradients d = snapshot_gradients(u->snapshot[0], e->kind, e->layer, e->head);
    Entry best[PROJECTIONS];
    fputc('\n', e->out);
    section(e, "The way back: from the loss to the weights",
            "How would the loss L change if a number x grew a little? That is its gradient, "
            "dL/dx, written dx. The numbers are those of a backward pass of training, without "
            "dropout. The steps have the numbers of the equations in model/attention.c, which "
            "training walks from (5) down to (1).");
    step_loss(e, u);
    step_values(e, &d);
    step_softmax(e, u, &d);
    step_scores(e, &d);
    step_projections(e, u, best);
    step_adam(e, u, best);
    step_after(e, u);
}
