/* backward.c -- the way back through a head, step by step; see backward.h.
 *
 * The gradients are those of the backward pass of training (explain/update.h), the other numbers
 * those of its forward pass, or one operation away from such numbers. The steps have the numbers
 * of the equations in model/attention.c. */
#include "explain/backward.h"

#include <math.h>

enum { NUMBERS = 6, ANSWERS = 5, PROJECTIONS = 3 };

typedef struct Walk {
    const Explanation *e;
    const Update *u;
    FILE *out;
    HeadVectors x, d;                 // of the pass before the update, and their gradients
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

static void put_gradient(const Walk *w, const char *name, const char *of, SnapshotRows rows,
                         int row)
{
    const real *x = row_of(rows, row);
    double unit = unit_of(x, rows.columns);
    fprintf(w->out, "  %s of ", name);
    put_label(w->e, "", of, LABEL);
    for (int k = 0; k < NUMBERS && k < rows.columns; k++)
        fprintf(w->out, " %7.3f", plain((double)x[k] / unit));
    fprintf(w->out, "%s × %.0e\n", rows.columns > NUMBERS ? " …" : "", unit);
}

/* The right token, and the most probable others: those whose logits have the largest gradients,
 * as all have the same q. */
static void step_loss(const Walk *w)
{
    const Explanation *e = w->e;
    const Snapshot *s = w->u->snapshot[0];
    int C = e->config->vocab - 1, m = s->target.rows,
        row = e->kind == ATTENTION_ENCODER ? 0 : e->word;
    int right = s->target.id[row], id = right;
    double smoothing = w->u->config.label_smoothing, rest = smoothing / C;
    say(e, "The loss, and the gradient of the logits");
    say(e,
        "The decoder has %d logits for each of the %d tokens of the translation above; their "
        "softmax "
        "is p. The loss L is the mean of the cross-entropies -Σ q ln p, as in training: q is "
        "%.5f "
        "for the right token and %.2g for each other (label smoothing %g). L = %.5f. The "
        "gradient of "
        "a logit is (p - q) / %d: an update lowers it if p is above q. For \"%s\"%s:",
        C, m, 1 - smoothing + rest, rest, smoothing, w->u->loss[0].objective / m, m,
        label(e, TOKENS_TARGET, row),
        e->kind == ATTENTION_ENCODER ? ", the first of them" : "");
    fprintf(w->out, "  %-*s %9s %9s %10s %12s\n", LABEL, "token", "p", "q", "p - q",
            "dL/dlogit");
    double last = INFINITY;
    for (int k = 0; k < ANSWERS && id >= 0; k++) {
        double dz = (double)loss_logit_gradient(&s->pass.loss, row, id, m, C), best = -INFINITY;
        double q = rest + (k ? 0 : 1 - smoothing);
        put_label(e, "  ", tokenizer_label(labels_tokenizer(e->vocabulary, TOKENS_TARGET), id),
                  LABEL);
        fprintf(w->out, " %9.5f %9.5f %10.5f %12.6f\n", m * dz + q, q, m * dz, dz);
        if (k) last = dz;
        id = -1;
        for (int c = 0; c < C; c++) {
            double other = (double)loss_logit_gradient(&s->pass.loss, row, c, m, C);
            if (c != right && other < last && other > best) best = other, id = c;
        }
    }
    fputc('\n', w->out);
}

static void step_values(const Walk *w)
{
    const Explanation *e = w->e;
    say(e, "(5) dO = dY W_O: back to the head's output");
    say(e,
        "dY is the gradient of what this layer's attention adds; it has come back through all "
        "layers "
        "above. dO has a row do for each of %d queries:",
        w->d.O.rows);
    put_gradient(w, "do", e->row[e->word], w->d.O, e->word);
    fputc('\n', w->out);
    say(e, "(4) dV = Pᵀ dO and dP = dO Vᵀ: back to the values and the weights");
    say(e, "The output is the sum of weights times values. So the gradient dv of a value is "
           "the sum over "
           "all queries of weight times do, and that of a weight is the dot product of do and "
           "the value.");
    put_gradient(w, "dv", e->column[e->most], w->d.V, e->most);
    fputc('\n', w->out);
}

static void step_softmax(const Walk *w)
{
    const Explanation *e = w->e;
    int keys = keys_of(e, e->word);
    double sum = 0, unit = unit_of(w->dP, keys), fine = unit_of(w->dS, keys),
           Pa = (double)w->P[e->most];
    for (int j = 0; j < keys; j++) sum += (double)w->P[j] * (double)w->dP[j];
    say(e, "(3) dS = P ⊙ (dP - Σ P dP): back through the softmax");
    say(e,
        "If a score S grows, its weight P grows and all others shrink: ∂P_j/∂S_k = P_j ([j = "
        "k] - P_k), "
        "the softmax's Jacobian. Column J is its row for j = \"%s\". dP times the whole "
        "Jacobian is dS. "
        "Where dS is negative, an update by this row alone raises the score. The dS sum to 0.",
        e->column[e->most]);
    fprintf(w->out, "  %-*s %9s %9s %9s %9s %9s %9s\n", LABEL, "key", "P", "J", "dP", "P dP",
            "dP - Σ", "dS");
    fprintf(w->out, "  %-*s %19s", LABEL, "", "");
    for (int k = 0; k < 4; k++) fprintf(w->out, "   × %.0e", k < 3 ? unit : fine);
    fputc('\n', w->out);
    for (int j = 0; j < keys; j++) {
        double P = (double)w->P[j], dP = (double)w->dP[j], J = Pa * ((j == e->most) - P);
        put_label(e, "  ", e->column[j], LABEL);
        fprintf(w->out, " %9.4f %9.4f %9.4f %9.4f %9.4f %9.4f\n", P, plain(J), plain(dP / unit),
                plain(P * dP / unit), plain((dP - sum) / unit), plain((double)w->dS[j] / fine));
    }
    fprintf(w->out, "  %-*s %10.4f %9s %9s %9.4f\n\n", LABEL, "sum Σ", 1.0, "", "",
            plain(sum / unit));
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
    put_gradient(w, "dq", e->row[e->word], w->d.Q, e->word);
    put_gradient(w, "dk", e->column[e->most], w->d.K, e->most);
    fputc('\n', w->out);
}

/* One number of W_Q, W_K or W_V, and its row in each block of weights. */
typedef struct Entry {
    int which, row, column;
} Entry;

static const real *weight_row(real copy[MAX_D_MODEL], const Walk *w, const Weights *weights,
                              Entry at)
{
    const Explanation *e = w->e;
    const LayerWeights *layer =
        (e->kind == ATTENTION_ENCODER ? weights->encoder : weights->decoder) + e->layer;
    const AttentionWeights *a = e->kind == ATTENTION_CROSS ? &layer->cross : &layer->self;
    return matrix_row(copy,
                      &(at.which == 0   ? &a->q
                        : at.which == 1 ? &a->k
                                        : &a->v)
                           ->W,
                      at.row, e->config->d_model);
}

static double number_at(const Walk *w, const Weights *weights, Entry at)
{
    real copy[MAX_D_MODEL];
    return (double)weight_row(copy, w, weights, at)[at.column];
}

/* best [PROJECTIONS] (=) the entries of the head with the largest gradients */
static void step_projections(const Walk *w, Entry *best)
{
    int dh = w->x.Q.columns, first = w->e->head * dh, D = w->e->config->d_model;
    say(w->e, "(1) dW_Q = dQᵀ Xq, dW_K = dKᵀ Xkv, dW_V = dVᵀ Xkv: back to the weights");
    say(w->e,
        "X are the layer's inputs. This head has rows %d to %d of W_Q, W_K and W_V, %d columns "
        "each. "
        "The norm (root of the sum of squares) of their gradients, and the first numbers of "
        "row %d:",
        first + 1, first + dh, D, first + 1);
    for (int i = 0; i < PROJECTIONS; i++) {
        real copy[MAX_D_MODEL];
        double squares = 0, most = -1;
        for (Entry at = {i, first, 0}; at.row < first + dh; at.row++) {
            const real *g = weight_row(copy, w, &w->u->dw, at);
            for (at.column = 0; at.column < D; at.column++) {
                double x = fabs((double)g[at.column]);
                squares += x * x;
                if (x > most) most = x, best[i] = at;
            }
        }
        fprintf(w->out, "  dW_%c   norm %10.3e  ", "QKV"[i], sqrt(squares));
        for (int c = 0; c < 4; c++)
            fprintf(w->out, " %10.2e", number_at(w, &w->u->dw, (Entry){i, first, c}));
        fputs(" …\n", w->out);
    }
    fprintf(w->out, "  All %zu parameters of the model have a gradient of norm %.3e.\n\n",
            params_trained(&w->u->model.params), w->u->stats.gradient_norm);
}

static void step_adam(const Walk *w, const Entry *at)
{
    const Update *u = w->u;
    const TrainingConfig *c = &u->config;
    double norm = u->stats.gradient_norm, rate = u->stats.learning_rate,
           number = (double)u->number;
    bool clipped = c->clip_norm > 0 && norm > c->clip_norm;
    say(w->e, "Adam: from the gradient to the new weights");
    say(w->e,
        "This is update u = %lld of the training: %s. m is a running mean of the gradients, v "
        "of their "
        "squares; m̂ and v̂ correct for their start at 0. β₁ = %g, β₂ = %g, ε = %g, weight decay "
        "%g. The "
        "learning rate is %.4g%s. %s The entries W(row,column) are those with the largest "
        "gradients:",
        u->number,
        u->moments
            ? "the file has Adam's moments m and v"
            : "the file has no moments, so Adam begins with m = v = 0 (the last.safetensors of "
              "a run has them)",
        c->beta1, c->beta2, c->epsilon, c->weight_decay, rate,
        u->ended ? ", that of the first update, as the schedule has come to 0" : "",
        clipped ? "The norm is above the limit of the training, so g is clipped to it." : "");
    fprintf(w->out, "  %-32s", "");
    double g[PROJECTIONS], m[PROJECTIONS], v[PROJECTIONS], mh[PROJECTIONS], vh[PROJECTIONS],
        step[PROJECTIONS], before[PROJECTIONS], after[PROJECTIONS];
    for (int i = 0; i < PROJECTIONS; i++) {
        char name[32];
        g[i] = (clipped ? c->clip_norm / norm : 1) * number_at(w, &u->dw, at[i]);
        m[i] = number_at(w, &u->m, at[i]), mh[i] = m[i] / (1 - pow(c->beta1, number));
        v[i] = number_at(w, &u->v, at[i]), vh[i] = v[i] / (1 - pow(c->beta2, number));
        step[i] = -rate * mh[i] / (sqrt(vh[i]) + c->epsilon);
        before[i] = number_at(w, &u->before, at[i]),
        after[i] = number_at(w, &u->model.weights, at[i]);
        snprintf(name, sizeof name, "W_%c(%d,%d)", "QKV"[i], at[i].row + 1, at[i].column + 1);
        fprintf(w->out, " %14s", name);
    }
    const struct {
        const char *name, *format;
        const double *x;
    } lines[] = {{"g", " %14.4e", g},
                 {"m = β₁ m + (1 - β₁) g", " %14.4e", m},
                 {"v = β₂ v + (1 - β₂) g²", " %14.4e", v},
                 {"m̂ = m / (1 - β₁ᵘ)", " %14.4e", mh},
                 {"v̂ = v / (1 - β₂ᵘ)", " %14.4e", vh},
                 {"step = -rate m̂ / (√v̂ + ε)", " %14.4e", step},
                 {"weight before", " %14.8f", before},
                 {"weight after", " %14.8f", after}};
    for (size_t l = 0; l < sizeof lines / sizeof *lines; l++) {
        put_label(w->e, "\n  ", lines[l].name, 32);
        for (int i = 0; i < PROJECTIONS; i++) fprintf(w->out, lines[l].format, lines[l].x[i]);
    }
    fputs("\n\n", w->out);
}

static void step_after(const Walk *w)
{
    const Explanation *e = w->e;
    say(e, "The same attention row after this update of all parameters");
    fprintf(w->out, "  %-*s %10s %10s %11s\n", LABEL, "key", "before", "after", "change");
    for (int j = 0; j < keys_of(e, e->word); j++) {
        double before = (double)w->P[j], after = (double)w->after[j];
        put_label(e, "  ", e->column[j], LABEL);
        fprintf(w->out, " %10.5f %10.5f %+11.5f\n", before, after, after - before);
    }
    const Loss *loss = w->u->loss;
    fprintf(w->out, "\nThe loss L was %.5f before and is %.5f after.\n",
            loss[0].objective / (double)loss[0].tokens,
            loss[1].objective / (double)loss[1].tokens);
}

void backward_print(const Explanation *e, const Update *u)
{
    const Snapshot *s = u->snapshot[0];
    Walk w = {.e = e, .u = u, .out = e->out};
    Entry best[PROJECTIONS];
    w.x = snapshot_vectors(s, e->kind, e->layer, e->head);
    const HeadGradients d = snapshot_gradients(s, e->kind, e->layer, e->head);
    w.P = word_row(&w, snapshot_map(s, e->kind, e->layer, e->head));
    w.d = d.x, w.dP = word_row(&w, d.P), w.dS = word_row(&w, d.S);
    w.after = word_row(&w, snapshot_map(u->snapshot[1], e->kind, e->layer, e->head));
    fputc('\n', e->out);
    say(e, "The way back: from the loss to the weights");
    say(e, "How would the loss L change if a number x grew a little? That is its gradient, "
           "dL/dx, written "
           "dx. The numbers are those of a backward pass of training, without dropout. The "
           "steps have the "
           "numbers of the equations in model/attention.c, which training walks from (5) down "
           "to (1).");
    step_loss(&w);
    step_values(&w);
    step_softmax(&w);
    step_scores(&w);
    step_projections(&w, best);
    step_adam(&w, best);
    step_after(&w);
}
