/* exercises.c -- the derivatives of reference/transformer.c, compared with finite differences.
 *
 *   numeric    (8 (L(x+h) - L(x-h)) - (L(x+2h) - L(x-2h))) / 12h         h = 1e-4, in double
 *   error      |derivative - numeric| / max(1e-3, largest of the tensor)            < 1e-6
 *
 * L weighs the numbers of the output by fixed random numbers. As a test it checks the file's own
 * functions and then the whole network; scripts/exercise compiles it with a reader's file as
 * REFERENCE, and gives the number of an exercise of docs/exercises.md. */
#ifndef REFERENCE
#define REFERENCE "reference/transformer.c"
#endif
#define REAL_IS_DOUBLE
#define main transformer_main
#include REFERENCE
#undef main

enum { MOST = 16 };
static const double STEP = 1e-4, LIMIT = 1e-6;

static uint64_t state = 7;
static const char *now;  // the case that is checked
static bool wrong;
static long numbers;
static double worst;

static double number(void)  // from -1 to 1
{
    return 2 * uniform(&state) - 1;
}

static Matrix numbers_of(int rows, int columns)
{
    Matrix X = zeros(rows, columns);
    for (int i = 0; i < rows * columns; i++) X.at[i] = number();
    return X;
}

static double weigh(Matrix Y)
{
    uint64_t weights = 99;
    double sum = 0;
    for (int i = 0; i < Y.rows * Y.columns; i++) sum += Y.at[i] * (2 * uniform(&weights) - 1);
    return sum;
}

/* The gradient of weigh(Y). */
static Matrix weights(int rows, int columns)
{
    uint64_t weights = 99;
    Matrix R = zeros(rows, columns);
    for (int i = 0; i < rows * columns; i++) R.at[i] = 2 * uniform(&weights) - 1;
    return R;
}

/* A gradient to be added to: what was there before, or 0. */
static Matrix before(Matrix X, bool filled)
{
    Matrix d = zeros_like(X);
    for (int i = 0; filled && i < X.rows * X.columns; i++) d.at[i] = 0.25 * (i % 4 + 1);
    return d;
}

/* Whether a number is as it should be. Reports the first one that is not. */
static void same(const char *name, int i, int columns, double is, double wanted, double scale)
{
    double error = fabs(is - wanted) / fmax(1e-3, scale);
    numbers++;
    if (error > worst) worst = error;
    if (wrong || error < LIMIT) return;
    wrong = true;
    printf("%s: %s[%d]", now, name, i / columns);
    if (columns > 1) printf("[%d]", i % columns);
    printf(" is %.9g, should be %.9g\n", is, wanted);
}

/* Compares d, the gradient of loss() with respect to X, which was filled before or not. */
static void check(const char *name, Matrix X, Matrix d, bool filled, double (*loss)(void))
{
    int count = X.rows * X.columns;
    double slope[1 << 10], largest = 0;
    assert(count <= 1 << 10);
    for (int i = 0; i < count; i++) {
        double L[5], x = X.at[i];
        for (int k = 0; k < 5; k++) X.at[i] = x + (k - 2) * STEP, L[k] = loss();
        X.at[i] = x;
        slope[i] = (8 * (L[3] - L[1]) - (L[4] - L[0])) / (12 * STEP);
        largest = fmax(largest, fabs(slope[i]));
    }
    Matrix was = before(X, filled);
    for (int i = 0; i < count; i++)
        same(name, i, X.columns, d.at[i], was.at[i] + slope[i], largest);
}

/* ---- 1 ---- */

static Matrix A[MOST], dA[MOST];  // what the losses depend on, and the gradients
static Linear map;

static double linear_loss(void)
{
    return weigh(linear_forward(A[0], map));
}

static void check_linear(int rows, int in, int out, bool filled)
{
    A[0] = numbers_of(rows, in), dA[0] = before(A[0], filled);
    map = (Linear){.W = numbers_of(out, in), .b = numbers_of(1, out)};
    map.dW = before(map.W, filled), map.db = before(map.b, filled);
    linear_backward(dA[0], weights(rows, out), A[0], map);
    check("dX", A[0], dA[0], filled, linear_loss);
    check("dW", map.W, map.dW, filled, linear_loss);
    check("db", map.b, map.db, filled, linear_loss);
}

static void exercise_1(void)
{
    now = "one row, one output", check_linear(1, 2, 1, false);
    now = "3 rows, 4 inputs, 2 outputs", check_linear(3, 4, 2, false);
    now = "gradients that are not 0 before (add to them)", check_linear(3, 4, 2, true);
}

/* ---- 2 ---- */

static double softmax_loss(void)
{
    Matrix P = zeros_like(A[0]);
    memcpy(P.at, A[0].at, (size_t)P.columns * sizeof(real));
    softmax_forward(P.at, P.columns);
    return weigh(P);
}

static void check_softmax(int n, int unseen)
{
    Matrix P = zeros(1, n + unseen), d = weights(1, n + unseen);
    A[0] = numbers_of(1, n);
    memcpy(P.at, A[0].at, (size_t)n * sizeof(real));
    softmax_forward(P.at, n);
    softmax_backward(d.at, P.at, n + unseen);
    check("dz", A[0], part(d, 0, 1, 0, n), false, softmax_loss);
    for (int i = n; i < n + unseen; i++) same("dz", i, n + unseen, d.at[i], 0, 1);
}

static void exercise_2(void)
{
    now = "2 scores", check_softmax(2, 0);
    now = "5 scores", check_softmax(5, 0);
    now = "3 scores, and 2 that are not seen, whose weight is 0", check_softmax(3, 2);
}

/* ---- 3 ---- */

static bool causal;

static double head_loss(void)
{
    Matrix O = zeros_like(A[0]);
    head_forward(O, zeros(A[0].rows, A[1].rows), A[0], A[1], A[2], causal);
    return weigh(O);
}

static void check_head(int n, int m, int dh, bool filled)
{
    static const char *const name[] = {"dQ", "dK", "dV"};
    Matrix P = zeros(n, m);
    for (int i = 0; i < 3; i++)
        A[i] = numbers_of(i == 0 ? n : m, dh), dA[i] = before(A[i], filled);
    head_forward(zeros(n, dh), P, A[0], A[1], A[2], causal);
    head_backward(dA[0], dA[1], dA[2], weights(n, dh), P, A[0], A[1], A[2]);
    for (int i = 2; i >= 0; i--) check(name[i], A[i], dA[i], filled, head_loss);
}

static void exercise_3(void)
{
    now = "1 query, 2 keys, heads of width 1", check_head(1, 2, 1, false);
    now = "3 queries, 4 keys, heads of width 2", check_head(3, 4, 2, false);
    causal = true;
    now = "causal, 3 queries and keys", check_head(3, 3, 2, false);
    now = "gradients that are not 0 before (add to them)", check_head(3, 3, 2, true);
}

/* ---- 4 ---- */

static Norm gains;
static uint64_t *dropout, seed;

static double addnorm_loss(void)
{
    NormPass a;
    Matrix F = zeros_like(A[1]);
    memcpy(F.at, A[1].at, (size_t)(F.rows * F.columns) * sizeof(real));
    if (dropout) *dropout = 5;
    return weigh(addnorm_forward(&a, A[0], F, gains, dropout));
}

static void check_addnorm(int rows, int D, bool filled)
{
    NormPass a;
    A[0] = numbers_of(rows, D), A[1] = numbers_of(rows, D);
    dA[0] = before(A[0], filled), dA[1] = zeros(rows, D);
    gains = (Norm){.g = numbers_of(1, D), .b = numbers_of(1, D)};
    gains.dg = before(gains.g, filled), gains.db = before(gains.b, filled);
    for (int k = 0; k < D && !filled; k++) gains.g.at[k] = 1;
    Matrix F = zeros(rows, D);
    memcpy(F.at, A[1].at, (size_t)(rows * D) * sizeof(real));
    if (dropout) *dropout = 5;
    addnorm_forward(&a, A[0], F, gains, dropout);
    addnorm_backward(dA[0], dA[1], weights(rows, D), &a, gains);
    check("db", gains.b, gains.db, filled, addnorm_loss);
    check("dg", gains.g, gains.dg, filled, addnorm_loss);
    check("dX", A[0], dA[0], filled, addnorm_loss);
    check("dF", A[1], dA[1], false, addnorm_loss);
}

static void exercise_4(void)
{
    dropout = NULL;
    now = "one row, g = 1", check_addnorm(1, 3, false);
    now = "3 rows, g = 1", check_addnorm(3, 4, false);
    now = "other g, and gradients that are not 0 before", check_addnorm(3, 4, true);
    dropout = &seed;
    now = "with dropout of F", check_addnorm(3, 8, true);
}

/* ---- 5 ---- */

static Packed tokens;

static double embedding_loss(void)
{
    return weigh(embedding_forward(tokens, A[0], A[1]));
}

static void check_embedding(int sentences, int *start, int *id, int V, int D, bool filled)
{
    tokens = (Packed){sentences, start, id};
    A[0] = numbers_of(V, D), A[1] = sinusoids(8, D), dA[0] = before(A[0], filled);
    embedding_backward(dA[0], weights(start[sentences], D), tokens);
    check("dE", part(A[0], 0, V - 1, 0, D), dA[0], filled, embedding_loss);
    for (int k = (V - 1) * D; k < V * D; k++)
        same("dE", k, D, dA[0].at[k], before(A[0], filled).at[k], 1);
}

static void exercise_5(void)
{
    now = "one word", check_embedding(1, (int[]){0, 1}, (int[]){1}, 3, 2, false);
    now = "a word that occurs twice",
    check_embedding(2, (int[]){0, 2, 5}, (int[]){2, 0, 1, 2, 0}, 5, 4, false);
    now = "<pad>, the last row of E",
    check_embedding(1, (int[]){0, 2}, (int[]){2, 1}, 3, 2, false);
    now = "a gradient that is not 0 before (add to it)",
    check_embedding(1, (int[]){0, 3}, (int[]){2, 1, 0}, 4, 2, true);
}

/* ---- 6 ---- */

static const int *wanted;
static real scale;

static double crossentropy_loss(void)
{
    Matrix Z = zeros_like(A[0]);
    memcpy(Z.at, A[0].at, (size_t)(Z.rows * Z.columns) * sizeof(real));
    return scale * crossentropy_forward(Z, wanted);
}

static void check_crossentropy(int rows, int C, const int *target, real factor, bool filled)
{
    Matrix P = zeros(rows, C);
    A[0] = numbers_of(rows, C), dA[0] = before(A[0], filled);
    wanted = target, scale = factor;
    memcpy(P.at, A[0].at, (size_t)(rows * C) * sizeof(real));
    crossentropy_forward(P, target);
    crossentropy_backward(dA[0], P, target, factor);
    check("dZ", A[0], dA[0], filled, crossentropy_loss);
}

static void exercise_6(void)
{
    now = "one row of 2 classes, scale 1", check_crossentropy(1, 2, (int[]){1}, 1, false);
    now = "3 rows of 5 classes, scale 0.2",
    check_crossentropy(3, 5, (int[]){1, 4, 0}, 0.2, false);
    now = "a gradient that is not 0 before (add to it)",
    check_crossentropy(2, 3, (int[]){2, 2}, 0.5, true);
}

/* ---- 7: the paper's algorithm 1, as it stands ---- */

static void check_adam(int updates, double factor)
{
    enum { SIZE = 3 };
    double w[SIZE] = {1, -2, 0.5}, m[SIZE] = {0}, v[SIZE] = {0};
    double W[SIZE] = {1, -2, 0.5}, M[SIZE] = {0}, U[SIZE] = {0};
    for (int t = 1; t <= updates; t++) {
        double d[SIZE], rate = 0.1 / t;
        for (int i = 0; i < SIZE; i++) {
            d[i] = i ? number() : 1e-9;  // the first so small that ε matters
            double g = factor * d[i];
            M[i] = 0.9 * M[i] + 0.1 * g;
            U[i] = 0.98 * U[i] + 0.02 * g * g;
            double mean = M[i] / (1 - pow(0.9, t)), square = U[i] / (1 - pow(0.98, t));
            W[i] -= rate * mean / (sqrt(square) + 1e-8);
        }
        adam_update(w, m, v, d, SIZE, factor, t, rate);
        for (int i = 0; i < SIZE; i++) same("m", i, 1, m[i], M[i], fabs(M[i]));
        for (int i = 0; i < SIZE; i++) same("v", i, 1, v[i], U[i], fabs(U[i]));
        for (int i = 0; i < SIZE; i++) same("w", i, 1, w[i], W[i], fabs(W[i]));
    }
}

static void exercise_7(void)
{
    now = "the first update", check_adam(1, 1);
    now = "5 updates", check_adam(5, 1);
    now = "5 updates of gradients that are clipped to a third", check_adam(5, 1.0 / 3);
}

/* ---- the whole network, with dropout ---- */

static Model *model;
static Packed source, target;

static Pass *forward(void)
{
    seed = 11;
    return network_forward(model, source, target, &seed);
}

static double network_loss(void)
{
    Pass *a = forward();
    return crossentropy_forward(a->logits, target.id) / a->logits.rows;
}

static void check_network(void)
{
    model = take(&lasting, 1, sizeof *model);
    model->D = 6, model->H = 2, model->F = 5, model->V = 9, model->longest = 8;
    model->encoder_layers = model->decoder_layers = 2, model->output_bias = true;
    model->positions = sinusoids(8, 6);
    network(model);
    source = (Packed){2, (int[]){0, 3, 4}, (int[]){5, 2, 0, 0}};
    target = (Packed){2, (int[]){0, 2, 5}, (int[]){3, 0, 7, 3, 0}};
    for (Parameter *p = model->table; p < model->table + model->parameters; p++)
        for (size_t i = 0; i < p->count; i++) p->x[i] += 0.3 * number();
    network_backward(model, forward());
    for (Parameter *p = model->table; p < model->table + model->parameters; p++) {
        int count = (int)p->count;
        if (p == model->table) count -= model->D;  // not the row of <pad>,
        if (p == model->table + 1) count -= 1;     // nor its bias
        now = p->name;
        check("gradient", (Matrix){p->x, 1, count, count}, (Matrix){p->d, 1, count, count},
              false, network_loss);
    }
    double x = (400 - 200) / (double)(UPDATES - WARMUP);
    now = "learning_rate", same("of update", 50, 1, learning_rate(50), 0.003 / 4, 1e-3);
    same("of update", 400, 1, learning_rate(400), 0.0015 * (1 + cos(acos(-1.0) * x)), 1e-3);
}

int main(int count, char **argument)
{
    static const struct {
        const char *name;
        void (*check)(void);
    } exercise[] = {{"linear_backward", exercise_1},    {"softmax_backward", exercise_2},
                    {"head_backward", exercise_3},      {"addnorm_backward", exercise_4},
                    {"embedding_backward", exercise_5}, {"crossentropy_backward", exercise_6},
                    {"adam_update", exercise_7},        {"the whole network", check_network}};
    int only = count > 1 ? atoi(argument[1]) : 0, failed = 0;
    for (int e = 0; e < 8; e++) {
        if (only && e != only - 1) continue;
        numbers = 0, worst = 0, wrong = false;
        exercise[e].check();
        if (only && !wrong) printf("%ld numbers are right, error %.1e\n", numbers, worst);
        else if (!only) printf("%sok %s\n", wrong ? "not " : "", exercise[e].name);
        failed += wrong;
        pass_end();
    }
    return failed != 0;
}
