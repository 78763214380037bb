/* The way back: what backward kept of each head are the gradients of the loss, by central
 * differences; the update is that of Adam; and what is printed are these numbers. */
#include "model/checkpoint.h"
#include "model/embedding.h"
#include "tests/fixtures/temporary-file.h"

#include "tests/fixtures/explained.h"
#include "training/progress.h"

static const char config_text[] =
    "{\"training\": {\"learning_rate\": 0.002, \"warmup\": 8, \"schedule\": \"inverse-sqrt\", "
    "\"label_smoothing\": 0.1, \"clip_norm\": 0.5, \"weight_decay\": 0.25, \"beta1\": 0.8, "
    "\"beta2\": 0.95, \"epsilon\": 1e-6, \"dropout\": 0.3, \"accumulators\": 4}}";
static const double SMOOTHING = 0.1;

static Snapshot *snapshot;
static Update update;

/* Saves the model, with Adam's moments after `updates`, if not 0. */
static void save(real *m, real *v, long long updates)
{
    Progress progress = progress_start();
    progress.update = updates;
    char *text = progress_to_json(&progress);
    const Checkpoint checkpoint = {.params = &model.params,
                                   .weights = model.block,
                                   .block = (CheckpointBlock[]){{CHECKPOINT_ADAM_M, NULL, m},
                                                                {CHECKPOINT_ADAM_V, NULL, v},
                                                                {0}},
                                   .config = config_text,
                                   .progress = text,
                                   .tokenizer[TARGET] = vocabulary.model[TARGET],
                                   .tokenizer_size[TARGET] = vocabulary.size[TARGET]};
    if (!checkpoint_save(&checkpoint, path, &error)) fail_msg("%s", error.text);
    free(text);
}

FIXTURE(setup)
{
    if (path_make(state)) return -1;
    explained_setup();
    if (model.sinusoids) position_table(model.sinusoids, 30, D);  // as that of the file
    save(NULL, NULL, 0);
    snapshot = snapshot_open(&model, source, N, target, M, &error);
    if (!update_open(&update, path, snapshot, &error)) fail_msg("%s", error.text);
    return 0;
}

FIXTURE(teardown)
{
    update_close(&update);
    snapshot_close(snapshot);
    explained_teardown();
    return path_remove(state);
}

/* The loss that training minimises: a mean over the target. */
static double loss_now(void)
{
    Loss loss = {0};
    Snapshot *pass = snapshot_open(&model, source, N, target, M, &error);
    transformer_loss(&loss, &pass->activations, &model, SMOOTHING);
    snapshot_close(pass);
    return loss.objective / M;
}

/* dL/dx by central differences, of a number of the model */
static double difference(real *x)
{
    real old = *x, step = (real)2e-3;
    *x = old + step;
    double above = loss_now();
    *x = old - step;
    double below = loss_now();
    *x = old;
    return (above - below) / (2 * (double)step);
}

static void is_near(double kept, double measured, const char *what)
{
    if (!(fabs(kept - measured) < 1.5e-3 + 0.04 * fabs(measured)))
        fail_msg("%s: %g kept, %g measured", what, kept, measured);
}

static AttentionWeights *weights_of(Weights *w, AttentionKind kind, int layer)
{
    return kind == ATTENTION_ENCODER   ? &w->encoder[layer].self
           : kind == ATTENTION_DECODER ? &w->decoder[layer].self
                                       : &w->decoder[layer].cross;
}

/* The sum of a column: the gradient of its bias. */
static double column(SnapshotRows rows, int k)
{
    double sum = 0;
    for (int i = 0; i < rows.rows; i++) sum += (double)rows.at[i * rows.stride + k];
    return sum;
}

static double dot(SnapshotRows x, int i, SnapshotRows y, int j)
{
    double sum = 0;
    for (int k = 0; k < x.columns; k++)
        sum += (double)x.at[i * x.stride + k] * (double)y.at[j * y.stride + k];
    return sum;
}

/* The biases of queries, keys and values: each bias is added to all rows of a vector. */
TEST(vectors_are_derivatives)
{
    for (int kind = ATTENTION_ENCODER; kind <= ATTENTION_CROSS; kind++)
        for (int head = 0; head < HEADS; head++) {
            const int layer = head % 2, k = (5 * head + kind) % DH, at = head * DH + k;
            HeadVectors d =
                snapshot_gradients(update.snapshot[0], (AttentionKind)kind, layer, head).x;
            AttentionWeights *w = weights_of(&model.weights, (AttentionKind)kind, layer);
            is_near(column(d.Q, k), difference(&w->q.b[at]), "dq");
            is_near(column(d.K, k), difference(&w->k.b[at]), "dk");
            is_near(column(d.V, k), difference(&w->v.b[at]), "dv");
        }
}

TEST(softmax_follows)
{
    const Snapshot *s = update.snapshot[0];
    for (int kind = ATTENTION_ENCODER; kind <= ATTENTION_CROSS; kind++)
        for (int head = 0; head < HEADS; head++) {
            AttentionKind k = (AttentionKind)kind;
            SnapshotRows P = snapshot_map(s, k, 1, head),
                         dP = snapshot_gradients(s, k, 1, head).P,
                         dS = snapshot_gradients(s, k, 1, head).S;
            HeadVectors x = snapshot_vectors(s, k, 1, head),
                        d = snapshot_gradients(s, k, 1, head).x;
            for (int i = 0; i < P.rows; i++) {
                double sum = 0;
                int seen = k == ATTENTION_DECODER ? i + 1 : P.columns;
                for (int j = 0; j < seen; j++) {
                    double p = (double)P.at[i * P.stride + j],
                           dp = (double)dP.at[i * P.stride + j];
                    sum += p * dp;
                    assert_true(fabs(dp - dot(d.O, i, x.V, j)) < 1e-5 + 1e-4 * fabs(dp));
                }
                for (int j = 0; j < seen; j++) {
                    double p = (double)P.at[i * P.stride + j],
                           dp = (double)dP.at[i * P.stride + j];
                    double ds = (double)dS.at[i * P.stride + j];
                    assert_true(fabs(ds - p * (dp - sum)) < 1e-6 + 1e-4 * fabs(ds));
                }
            }
        }
}

TEST(logits_are_derivatives)
{
    for (int c = 0; c < V - 1; c += 5) {
        double sum = 0;
        for (int r = 0; r < M; r++)
            sum += (double)loss_logit_gradient(&update.snapshot[0]->activations.loss, r, c, M,
                                               V - 1);
        is_near(sum, difference(&model.weights.logits_bias[c]), "dlogit");
    }
}

/* Every weight after the update, from Adam's equations. */
static void update_follows(const Update *u, const real *m0, const real *v0, double rate)
{
    const TrainingConfig *c = &u->config;
    const Params *params = &model.params;
    double squares = 0, number = (double)u->number, farthest = 0;
    for (size_t i = 0; i < params->size; i++)
        squares += (double)u->gradient[i] * (double)u->gradient[i];
    assert_true(fabs(sqrt(squares) - u->stats.gradient_norm) < 1e-4 * sqrt(squares));
    assert_true(sqrt(squares) > c->clip_norm);
    assert_true(fabs(schedule_rate(c, u->number) - rate) < 1e-12);
    for (int t = 0; t < params->count; t++) {
        const Tensor *tensor = &params->tensor[t];
        bool decays =
            tensor->init != INIT_ZERO && tensor->init != INIT_ONE && tensor->init != INIT_SCORE;
        for (size_t i = tensor->offset; i < tensor->offset + tensor->count; i++) {
            double g = (double)u->gradient[i] * c->clip_norm / sqrt(squares);
            double m = 0.8 * (m0 ? (double)m0[i] : 0) + 0.2 * g;
            double v = 0.95 * (v0 ? (double)v0[i] : 0) + 0.05 * g * g;
            double w = (double)model.block[i] * (decays ? 1 - rate * 0.25 : 1);
            if (fabs(g) < 1e-5) continue;  // its rounding decides the first step
            w -= rate * (m / (1 - pow(0.8, number))) /
                 (sqrt(v / (1 - pow(0.95, number))) + 1e-6);
            farthest = fmax(farthest, fabs(w - (double)u->model.block[i]));
        }
    }
    if (!(farthest < 1e-5)) fail_msg("%g away", farthest);
}

TEST(first_update)
{
    assert_false(update.moments);
    assert_int_equal(update.number, 1);
    update_follows(&update, NULL, NULL, 0.002 / 8);
    Snapshot *after = snapshot_open(&update.model, source, N, target, M, &error);
    SnapshotRows one = snapshot_map(after, ATTENTION_CROSS, 1, 2),
                 two = snapshot_map(update.snapshot[1], ATTENTION_CROSS, 1, 2);
    assert_memory_equal(one.at, two.at, (size_t)(M * one.stride) * sizeof *one.at);
    assert_true(fabs(update.loss[0].objective / M - loss_now()) < 1e-6);
    snapshot_close(after);
}

TEST(next_update)
{
    size_t size = model.params.size;
    real *m = calloc(size, sizeof *m), *v = calloc(size, sizeof *v);
    for (size_t i = 0; i < size; i++) {
        m[i] = (real)(1e-3 * sin((double)i));
        v[i] = (real)(1e-6 * (1 + sin(3.0 * (double)i)));
    }
    save(m, v, 49);
    Update next;
    assert_true(update_open(&next, path, snapshot, &error));
    assert_true(next.moments);
    assert_int_equal(next.number, 50);
    update_follows(&next, m, v, 0.002 * sqrt(8 / 50.0));
    update_close(&next);
    save(NULL, NULL, 0);
    free(m);
    free(v);
}

/* A vector as it is printed: its name, a unit, and its numbers below. */
static void check_vector(const char *text, const char *name, SnapshotRows rows, int row)
{
    const char *unit = strstr(behind(text, name), "\" × "),
               *line = strchr(behind(text, name), '\n');
    double scale = unit && unit < line ? strtod(unit + strlen("\" × "), NULL) : 1, x[DH];
    read_numbers(x, line, rows.columns);
    for (int k = 0; k < rows.columns; k++)
        assert_true(fabs(x[k] * scale - (double)rows.at[row * rows.stride + k]) < 6e-4 * scale);
}

/* The vectors, the table of step (3), and that of the row after the update. */
static void check_tables(const char *text, AttentionKind kind, int layer, int head, int row)
{
    const Snapshot *s = update.snapshot[0];
    SnapshotRows P = snapshot_map(s, kind, layer, head),
                 dP = snapshot_gradients(s, kind, layer, head).P,
                 dS = snapshot_gradients(s, kind, layer, head).S,
                 after = snapshot_map(update.snapshot[1], kind, layer, head);
    const char *line = behind(text, "  dP - Σ        dS\n");
    double unit[4], x[6];
    assert_int_equal(
        sscanf(line, " × %lf × %lf × %lf × %lf", unit, unit + 1, unit + 2, unit + 3), 4);
    for (int j = 0; j < (kind == ATTENTION_DECODER ? row + 1 : P.columns); j++) {
        int at = row * P.stride + j;
        line = strchr(line, '\n') + 1;
        assert_int_equal(
            sscanf(line, " %*s %lf %lf %lf %lf %lf %lf", x, x + 1, x + 2, x + 3, x + 4, x + 5),
            6);
        assert_true(fabs(x[0] - (double)P.at[at]) < 6e-5);
        assert_true(fabs(x[2] * unit[0] - (double)dP.at[at]) < 6e-5 * unit[0]);
        assert_true(fabs(x[5] * unit[3] - (double)dS.at[at]) < 6e-5 * unit[3]);
    }
    HeadVectors d = snapshot_gradients(s, kind, layer, head).x;
    check_vector(text, "  do of \"", d.O, row);
    check_vector(text, "  dq of \"", d.Q, row);
    line = behind(text, "before      after      change");
    for (int j = 0; j < (kind == ATTENTION_DECODER ? row + 1 : P.columns); j++) {
        line = strchr(line, '\n') + 1;
        assert_int_equal(sscanf(line, " %*s %lf %lf", x, x + 1), 2);
        assert_true(fabs(x[0] - (double)P.at[row * P.stride + j]) < 6e-6);
        assert_true(fabs(x[1] - (double)after.at[row * P.stride + j]) < 6e-6);
    }
}

TEST(what_is_printed)
{
    for (int kind = ATTENTION_ENCODER; kind <= ATTENTION_CROSS; kind++) {
        Choice choice = {.kind = (AttentionKind)kind, .layer = 1, .head = kind};
        char *text = explained(snapshot, choice, "5", &update);
        check_tables(text, (AttentionKind)kind, 1, kind, 4);
        double p, q, difference_, dz;
        assert_int_equal(sscanf(behind(text, "dL/dlogit\n"), " %*s %lf %lf %lf %lf", &p, &q,
                                &difference_, &dz),
                         4);
        int right = target[kind == ATTENTION_ENCODER ? 0 : 4];
        real z[V];
        double sum = 0;
        matrix_multiply(
            z, update.snapshot[0]->activations.output + (kind == ATTENTION_ENCODER ? 0 : 4) * D,
            &model.weights.output, model.weights.logits_bias, 1, V - 1, D);
        for (int c = 0; c < V - 1; c++) sum += exp((double)(z[c] - z[right]));
        assert_true(fabs(p - 1 / sum) < 2e-5);
        assert_true(fabs(q - (0.9 + 0.1 / (V - 1))) < 1e-5);
        assert_true(fabs(dz * M - (p - q)) < 2e-5);
        for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
            assert_true(columns_width(line) <= 80);
        free(text);
    }
}

FOR_EACH_VARIANT(setup, teardown)
