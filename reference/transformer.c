/* transformer.c -- the transformer of "Attention Is All You Need" (Vaswani et al. 2017, arXiv
 * 1706.03762) in one file: the network, its derivatives, training and translating.
 * `make reference` builds build/reference/transformer:
 *
 *   transformer train OUT.safetensors                  learn data/toy, from English to French
 *   transformer translate MODEL.safetensors TEXT...    one translation a line
 *   transformer draw MODEL.safetensors OUT.png TEXT    which word looked at which
 *   transformer gradients MODEL.safetensors PAIRS.tsv OUT.safetensors      loss and gradients
 *
 * All of it is written out: libraries only multiply matrices, write PNG files, and read gzip.
 * The rest of this repository computes the same numbers faster; tests/reference.sh compares them.
 *
 *   1  matrices          three products, from which everything else is made
 *   2  parameters        W_Q, W_K, W_V and all the others, in one table
 *   3  layers            each with its backward pass below it
 *   4  the network       encoder, decoder, loss
 *   5  the optimiser     clipping, learning rate, Adam
 *   6  files             safetensors and JSON
 *   7  words             text to ids and back, the corpus
 *   8  commands          train, translate, draw, gradients
 *
 * The letters, in formulas and comments; § is a section of the paper:
 *
 *   N, M   rows: tokens of all source sentences, of all target sentences
 *   D      numbers in a token's vector, the paper's d_model       H    heads
 *   dh     numbers in a head, D/H, the paper's d_k and d_v        F    the paper's d_ff
 *   V      words of the vocabulary                               ⊙    product, number by number
 *   dX     gradient of the loss with respect to X, number by number: so it has X's shape
 *
 * Two rules save most of the bookkeeping. What `zeros` gives is zero, and lives until the pass
 * ends. And a backward pass *adds* to the gradients of its inputs, so what is used twice (by a
 * residual connection, the embedding, the encoder's output) gets the sum. */
#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tgmath.h>  // sqrt, exp, … of float and double

#include <cblas.h>
#include <png.h>
#include <zlib.h>

#ifdef REAL_IS_DOUBLE  // for checks with finite differences, which need the digits
typedef double real;
#define gemm cblas_dgemm
#else
typedef float real;
#define gemm cblas_sgemm
#endif

#define fail(...) (fprintf(stderr, "transformer: " __VA_ARGS__), fputs("\n", stderr), exit(1))

/* ==== 1. matrices ========================================================================= */

/* Row by row. A part of a matrix is one, too: `stride` numbers lie from one row to the next. */
typedef struct Matrix {
    real *at;
    int rows, columns, stride;
} Matrix;

static real *row(Matrix X, int i)
{
    return X.at + (size_t)i * (size_t)X.stride;
}

static Matrix part(Matrix X, int first, int rows, int column, int columns)
{
    return (Matrix){row(X, first) + column, rows, columns, X.stride};
}

/* Memory, zero at first, from a chain of large blocks: what lives as long as the program, and
 * what lives until the pass ends. */
typedef struct Block {
    struct Block *next;
    size_t size, used;
    char *bytes;
} Block;
static Block *lasting, *passing;

static void *take(Block **chain, size_t count, size_t size)
{
    size_t bytes = (count * size + 63) / 64 * 64, most = 1 << 24;
    while (*chain && (*chain)->size - (*chain)->used < bytes) chain = &(*chain)->next;
    if (!*chain) {
        Block *block = *chain = calloc(1, sizeof *block);
        if (block) block->bytes = malloc(block->size = bytes > most ? bytes : most);
        if (!block || !block->bytes) fail("not enough memory");
    }
    (*chain)->used += bytes;
    return memset((*chain)->bytes + (*chain)->used - bytes, 0, bytes);
}

static void pass_end(void)
{
    for (Block *block = passing; block; block = block->next) block->used = 0;
}

static Matrix zeros(int rows, int columns)
{
    real *at = take(&passing, (size_t)rows * (size_t)columns, sizeof(real));
    return (Matrix){at, rows, columns, columns};
}

static Matrix zeros_like(Matrix X)
{
    return zeros(X.rows, X.columns);
}

/* C += s A Bᵀ                                              A [n,k]   B [m,k]   C [n,m]
 *     for (i < n) for (j < m) for (l < k) C[i][j] += s * A[i][l] * B[j][l]; */
static void add_nt(Matrix C, real s, Matrix A, Matrix B)
{
    assert(C.rows == A.rows && C.columns == B.rows && A.columns == B.columns);
    gemm(CblasRowMajor, CblasNoTrans, CblasTrans, C.rows, C.columns, A.columns, s, A.at,
         A.stride, B.at, B.stride, 1, C.at, C.stride);
}

/* C += s A B                                               A [n,k]   B [k,m]   C [n,m]
 *     for (i < n) for (j < m) for (l < k) C[i][j] += s * A[i][l] * B[l][j]; */
static void add_nn(Matrix C, real s, Matrix A, Matrix B)
{
    assert(C.rows == A.rows && C.columns == B.columns && A.columns == B.rows);
    gemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, C.rows, C.columns, A.columns, s, A.at,
         A.stride, B.at, B.stride, 1, C.at, C.stride);
}

/* C += s Aᵀ B                                              A [k,n]   B [k,m]   C [n,m]
 *     for (i < n) for (j < m) for (l < k) C[i][j] += s * A[l][i] * B[l][j]; */
static void add_tn(Matrix C, real s, Matrix A, Matrix B)
{
    assert(C.rows == A.columns && C.columns == B.columns && A.rows == B.rows);
    gemm(CblasRowMajor, CblasTrans, CblasNoTrans, C.rows, C.columns, A.rows, s, A.at, A.stride,
         B.at, B.stride, 1, C.at, C.stride);
}

/* A random number from 0 to 1, without 1: splitmix64 (Steele et al. 2014). */
static double uniform(uint64_t *state)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
    z = (z ^ z >> 27) * 0x94D049BB133111EB;
    return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

/* ==== 2. parameters ======================================================================= */

/* Y = X Wᵀ + b, and the gradients. */
typedef struct Linear {
    Matrix W, dW;  // [out,in]
    Matrix b, db;  // [1,out]
} Linear;

/* y = g ⊙ x̂ + b, and the gradients. */
typedef struct Norm {
    Matrix g, dg;  // [1,D]
    Matrix b, db;  // [1,D]
} Norm;

typedef struct Attention {
    Linear q, k, v;  // W_Q, W_K, W_V: [D,D], of which each head has dh rows
    Linear out;      // W_O: [D,D]
    int heads;
} Attention;

typedef struct Layer {
    Attention self;
    Norm self_norm;
    Attention cross;  // to the encoder's output; in the decoder, as its norm
    Norm cross_norm;
    Linear fc1, fc2;  // [F,D] [D,F]
    Norm final_norm;
} Layer;

enum { MAX_LAYERS = 64 };

/* A line of the table: a matrix or a vector. */
typedef struct Parameter {
    char name[80], shape[24];  // "model.encoder.layers.0.self_attn.q_proj.weight" "[128,128]"
    size_t count;
    real *x, *d, *m, *v;  // [count] value, gradient, Adam's two means
} Parameter;

typedef struct Bytes {
    const unsigned char *at, *end;
} Bytes;

typedef struct Model {
    const char *path, *header;  // of its file
    Bytes data;
    int D, H, F, V, encoder_layers, decoder_layers;
    int longest;         // sentence, in tokens
    bool output_bias;    // is learned, or stays zero
    Matrix E, dE;        // [V,D] one embedding for source, target and output (§3.4)
    Matrix bias, dbias;  // [1,V] of the output
    Layer encoder[MAX_LAYERS], decoder[MAX_LAYERS];
    Parameter table[2 + 42 * MAX_LAYERS];
    int parameters;    // lines of the table
    char prefix[48];   // of the names in it
    uint64_t random;   // for the first values
    Matrix positions;  // [longest,D]
    char **token;      // [V] its text
    bool words;        // tokens are words; else they can be parts of words
    Bytes tokenizer;   // the SentencePiece model that has the tokens
} Model;

/* A new line of the table, and its matrices, uniform in mean ± spread. rows: 0 of a vector */
static void parameter(Model *m, Matrix *W, Matrix *dW, const char *module, const char *kind,
                      int rows, int columns, double mean, double spread)
{
    Parameter *p = &m->table[m->parameters++];
    snprintf(p->name, sizeof p->name, "%s%s%s", m->prefix, module, kind);
    if (rows) snprintf(p->shape, sizeof p->shape, "[%d,%d]", rows, columns);
    else snprintf(p->shape, sizeof p->shape, "[%d]", columns), rows = 1;
    p->count = (size_t)rows * (size_t)columns;
    p->x = take(&lasting, 4 * p->count, sizeof(real));
    p->d = p->x + p->count, p->m = p->d + p->count, p->v = p->m + p->count;
    for (size_t i = 0; i < p->count; i++)
        p->x[i] = (real)(mean + spread * (2 * uniform(&m->random) - 1));
    *W = (Matrix){p->x, rows, columns, columns};
    *dW = (Matrix){p->d, rows, columns, columns};
}

/* Weights begin in ±√(6 / (in + out)): Glorot and Bengio 2010. */
static void linear(Model *m, Linear *w, const char *name, int D_out, int D_in, int out)
{
    parameter(m, &w->W, &w->dW, name, ".weight", D_out, D_in, 0, sqrt(6.0 / (D_in + out)));
    parameter(m, &w->b, &w->db, name, ".bias", 0, D_out, 0, 0);
}

static void norm(Model *m, Norm *w, const char *name)
{
    parameter(m, &w->g, &w->dg, name, ".weight", 0, m->D, 1, 0);
    parameter(m, &w->b, &w->db, name, ".bias", 0, m->D, 0, 0);
}

/* W_Q, W_K and W_V begin as one matrix [3D,D] would. */
static void layer(Model *m, Layer *w, const char *stack, int l, bool decoder)
{
    int D = m->D, F = m->F;
    snprintf(m->prefix, sizeof m->prefix, "model.%s.layers.%d.", stack, l);
    w->self.heads = w->cross.heads = m->H;
    linear(m, &w->self.q, "self_attn.q_proj", D, D, 3 * D);
    linear(m, &w->self.k, "self_attn.k_proj", D, D, 3 * D);
    linear(m, &w->self.v, "self_attn.v_proj", D, D, 3 * D);
    linear(m, &w->self.out, "self_attn.out_proj", D, D, D);
    norm(m, &w->self_norm, "self_attn_layer_norm");
    if (decoder) {
        linear(m, &w->cross.q, "encoder_attn.q_proj", D, D, 3 * D);
        linear(m, &w->cross.k, "encoder_attn.k_proj", D, D, 3 * D);
        linear(m, &w->cross.v, "encoder_attn.v_proj", D, D, 3 * D);
        linear(m, &w->cross.out, "encoder_attn.out_proj", D, D, D);
        norm(m, &w->cross_norm, "encoder_attn_layer_norm");
    }
    linear(m, &w->fc1, "fc1", F, D, F);
    linear(m, &w->fc2, "fc2", D, F, D);
    norm(m, &w->final_norm, "final_layer_norm");
}

/* Every parameter, under the name that Hugging Face gives it in a MarianMT model. Embeddings
 * have deviation 1/√D: times √D their numbers are as large as those of the positions. */
static void network(Model *m)
{
    parameter(m, &m->E, &m->dE, "model.shared", ".weight", m->V, m->D, 0, sqrt(3.0 / m->D));
    parameter(m, &m->bias, &m->dbias, "final_logits_bias", "", 1, m->V, 0, 0);
    memset(row(m->E, m->V - 1), 0, (size_t)m->D * sizeof(real));  // <pad>
    for (int l = 0; l < m->encoder_layers; l++) layer(m, &m->encoder[l], "encoder", l, false);
    for (int l = 0; l < m->decoder_layers; l++) layer(m, &m->decoder[l], "decoder", l, true);
}

/* ==== 3. layers =========================================================================== */

/* Sentences one after the other, without padding:
 *
 *     row     0  1  2  3 | 4  5 | 6  7  8
 *     token   a  b  c  . | d  . | e  f  .       "." is </s>, the end
 *     start   0            4      6          9
 * All layers but attention treat each row by itself. */
typedef struct Packed {
    int sentences;
    int *start, *id;  // [sentences+1] [start[sentences]]
} Packed;

static int length(Packed p, int s)
{
    return p.start[s + 1] - p.start[s];
}

/* ---- linear map ----
 *
 *     Y = X Wᵀ + b                                                     X [N,in]   Y [N,out] */
static Matrix linear_forward(Matrix X, Linear w)
{
    Matrix Y = zeros(X.rows, w.W.rows);
    for (int n = 0; n < Y.rows; n++)
        for (int j = 0; j < Y.columns; j++) row(Y, n)[j] = w.b.at[j];
    add_nt(Y, 1, X, w.W);
    return Y;
}

/* dX, w.dW, w.db (+=)   dY: the gradient of Y */
static void linear_backward(Matrix dX, Matrix dY, Matrix X, Linear w)
{
    // dX += dY W          dW += dYᵀ X          db += Σ_rows dY
    add_nn(dX, 1, dY, w.W);
    add_tn(w.dW, 1, dY, X);
    for (int n = 0; n < dY.rows; n++)
        for (int j = 0; j < dY.columns; j++) w.db.at[j] += row(dY, n)[j];
}

/* ---- dropout (§5.4) ----
 *
 *     y = x ⊙ mask,     mask = 0 with probability p, otherwise 1 / (1 - p)
 *
 * Replaces X by y and returns the mask. Without `random` there is no dropout, and no mask. */
static const double DROPOUT = 0.1;

static Matrix dropout_forward(Matrix X, uint64_t *random)
{
    if (!random) return (Matrix){0};
    Matrix mask = zeros_like(X);
    for (int i = 0; i < X.rows * X.columns; i++) {
        mask.at[i] = uniform(random) < DROPOUT ? 0 : (real)(1 / (1 - DROPOUT));
        X.at[i] *= mask.at[i];
    }
    return mask;
}

/* Replaces the gradient of y by that of x. */
static void dropout_backward(Matrix dX, Matrix mask)
{
    for (int i = 0; mask.at && i < dX.rows * dX.columns; i++) dX.at[i] *= mask.at[i];
}

/* ---- embedding and positions (§3.4, §3.5) ----
 *
 *     x = √D E[id] + P[position of the token in its sentence]
 *
 *     P[p,k] = sin(p / 10000^(2k/D))     P[p,D/2+k] = cos(p / 10000^(2k/D))     k < D/2
 *
 * Sines and cosines are not interleaved as in the paper but apart, as in MarianMT. */
static Matrix sinusoids(int longest, int D)
{
    Matrix P = {take(&lasting, (size_t)longest * (size_t)D, sizeof(real)), longest, D, D};
    int half = (D + 1) / 2;
    for (int p = 0; p < longest; p++)
        for (int k = 0; k < D; k++) {
            double angle = p / pow(10000, 2.0 * (k % half) / D);
            row(P, p)[k] = (real)(k < half ? sin(angle) : cos(angle));
        }
    return P;
}

static Matrix embedding_forward(Packed tokens, Matrix E, Matrix P)
{
    Matrix X = zeros(tokens.start[tokens.sentences], E.columns);
    real scale = sqrt((real)E.columns);
    for (int s = 0; s < tokens.sentences; s++)
        for (int n = tokens.start[s]; n < tokens.start[s + 1]; n++) {
            const real *e = row(E, tokens.id[n]), *p = row(P, n - tokens.start[s]);
            for (int k = 0; k < E.columns; k++) row(X, n)[k] = scale * e[k] + p[k];
        }
    return X;
}

/* dE (+=) the gradient of E, but nothing to its last row, <pad>   dX: that of X */
static void embedding_backward(Matrix dE, Matrix dX, Packed tokens)
{
    // dE[id] += √D dx
    real scale = sqrt((real)dE.columns);
    for (int n = 0; n < dX.rows; n++)
        for (int k = 0; k < dE.columns && tokens.id[n] != dE.rows - 1; k++)
            row(dE, tokens.id[n])[k] += scale * row(dX, n)[k];
}

/* ---- softmax ----
 *
 *     p_j = e^(z_j) / Σ_k e^(z_k)
 *
 * Replaces z by p. Returns ln Σ e^(z_k). Subtracting the largest z keeps e^z from overflowing
 * and changes nothing. */
static double softmax_forward(real *z, int n)
{
    real largest = z[0], sum = 0;
    for (int j = 1; j < n; j++) largest = z[j] > largest ? z[j] : largest;
    for (int j = 0; j < n; j++) sum += z[j] = exp(z[j] - largest);
    for (int j = 0; j < n; j++) z[j] /= sum;
    return (double)largest + log((double)sum);
}

/* d: the gradient of p, which is replaced by that of z   p: as softmax_forward made it */
static void softmax_backward(real *d, const real *p, int n)
{
    // ∂p_j/∂z_k = p_j ([j = k] - p_k), so dz_k = p_k (dp_k - Σ_j p_j dp_j)
    real sum = 0;
    for (int j = 0; j < n; j++) sum += p[j] * d[j];
    for (int k = 0; k < n; k++) d[k] = p[k] * (d[k] - sum);
}

/* ---- scaled dot-product attention (§3.2.1): one head of one sentence ----
 *
 *     (1)  S = Q Kᵀ / √dh         how well query i matches key j        Q [n,dh]   K [m,dh]
 *     (2)  P = softmax(S)         row by row: the attention weights     S, P [n,m]
 *     (3)  O = P V                the values, mixed by the weights      V [m,dh]   O [n,dh]
 *
 * causal: query i sees only the keys 0 .. i. Its other weights are zero. */
static void head_forward(Matrix O, Matrix P, Matrix Q, Matrix K, Matrix V, bool causal)
{
    // (1)
    add_nt(P, 1 / sqrt((real)Q.columns), Q, K);
    // (2)
    for (int i = 0; i < P.rows; i++) {
        int seen = causal ? i + 1 : P.columns;
        softmax_forward(row(P, i), seen);
        for (int j = seen; j < P.columns; j++) row(P, i)[j] = 0;
    }
    // (3)
    add_nn(O, 1, P, V);
}

/* dQ, dK, dV (+=)   dO: the gradient of O */
static void head_backward(Matrix dQ, Matrix dK, Matrix dV, Matrix dO, Matrix P, Matrix Q,
                          Matrix K, Matrix V)
{
    real scale = 1 / sqrt((real)Q.columns);
    Matrix dS = zeros_like(P);
    // (3) dV += Pᵀ dO          dP = dO Vᵀ
    add_tn(dV, 1, P, dO);
    add_nt(dS, 1, dO, V);
    // (2) dS from dP; where a weight is zero, the gradient of its score is, too
    for (int i = 0; i < P.rows; i++) softmax_backward(row(dS, i), row(P, i), P.columns);
    // (1) dQ += dS K / √dh          dK += dSᵀ Q / √dh
    add_nn(dQ, scale, dS, K);
    add_tn(dK, scale, dS, Q);
}

/* ---- multi-head attention (§3.2.2), for all of its three uses (§3.2.3) ----
 *
 *     (1)  Q = Xq W_Qᵀ + b_Q          K = Xkv W_Kᵀ + b_K          V = Xkv W_Vᵀ + b_V
 *     (2)  O = attention, sentence by sentence, each head on its dh columns of Q, K, V and O
 *     (3)  Y = O W_Oᵀ + b_O
 *
 *     self-attention              Xq = Xkv: the source, or the target (causal)
 *     encoder-decoder attention   Xq: the target, Xkv: the encoder's output */
typedef struct AttentionPass {
    Packed queries, keys;
    Matrix Xq, Q, O;   // [N,D]
    Matrix Xkv, K, V;  // [M,D]
    Matrix *P;         // [sentences · heads], each [n,m]
} AttentionPass;

/* Part i of X, of the sentences' rows: of sentence i / heads the columns of head i % heads. */
static Matrix head(Matrix X, Packed rows, int i, int heads)
{
    int s = i / heads, dh = X.columns / heads;
    return part(X, rows.start[s], length(rows, s), i % heads * dh, dh);
}

static Matrix attention_forward(AttentionPass *a, Matrix Xq, Matrix Xkv, const Attention *w,
                                Packed queries, Packed keys, bool causal)
{
    int H = w->heads, parts = H * queries.sentences;
    *a = (AttentionPass){.queries = queries, .keys = keys, .Xq = Xq, .Xkv = Xkv};
    // (1)
    a->Q = linear_forward(Xq, w->q);
    a->K = linear_forward(Xkv, w->k);
    a->V = linear_forward(Xkv, w->v);
    // (2)
    a->O = zeros_like(a->Q);
    a->P = take(&passing, (size_t)parts, sizeof *a->P);
    for (int i = 0; i < parts; i++) {
        Matrix Q = head(a->Q, queries, i, H), K = head(a->K, keys, i, H);
        a->P[i] = zeros(Q.rows, K.rows);
        head_forward(head(a->O, queries, i, H), a->P[i], Q, K, head(a->V, keys, i, H), causal);
    }
    // (3)
    return linear_forward(a->O, w->out);
}

/* dXq, dXkv (+=), which may be the same   gradients of w (+=)   dY: the gradient of Y */
static void attention_backward(Matrix dXq, Matrix dXkv, Matrix dY, const AttentionPass *a,
                               const Attention *w)
{
    int H = w->heads;
    Packed q = a->queries, k = a->keys;
    Matrix dQ = zeros_like(a->Q), dK = zeros_like(a->K), dV = zeros_like(a->V),
           dO = zeros_like(a->O);
    // (3)
    linear_backward(dO, dY, a->O, w->out);
    // (2)
    for (int i = 0; i < H * q.sentences; i++)
        head_backward(head(dQ, q, i, H), head(dK, k, i, H), head(dV, k, i, H),
                      head(dO, q, i, H), a->P[i], head(a->Q, q, i, H), head(a->K, k, i, H),
                      head(a->V, k, i, H));
    // (1)
    linear_backward(dXq, dQ, a->Xq, w->q);
    linear_backward(dXkv, dK, a->Xkv, w->k);
    linear_backward(dXkv, dV, a->Xkv, w->v);
}

/* ---- add & norm (§3.1, §5.4): residual connection, dropout, layer normalisation ----
 *
 *     (1)  x = X + dropout(F)                      F: what a sublayer made of X
 *     (2)  x̂ = (x - mean) · rstd,     rstd = 1 / √(variance + 1e-5)
 *     (3)  y = g ⊙ x̂ + b                           Ba et al. 2016 (arXiv 1607.06450)
 *
 * Mean and variance are those of the row: avg(x) and avg((x - mean)²). */
typedef struct NormPass {
    Matrix mask;    // of dropout [N,D]
    Matrix normal;  // x̂ [N,D]
    Matrix rstd;    // [N,1]
} NormPass;

static Matrix addnorm_forward(NormPass *a, Matrix X, Matrix F, Norm w, uint64_t *random)
{
    int D = X.columns;
    Matrix Y = zeros_like(X);
    *a = (NormPass){dropout_forward(F, random), zeros_like(X), zeros(X.rows, 1)};
    for (int n = 0; n < X.rows; n++) {
        real *x = row(a->normal, n), sum = 0, squares = 0;
        // (1)
        for (int k = 0; k < D; k++) sum += x[k] = row(X, n)[k] + row(F, n)[k];
        // (2)
        for (int k = 0; k < D; k++) x[k] -= sum / (real)D;
        for (int k = 0; k < D; k++) squares += x[k] * x[k];
        real rstd = a->rstd.at[n] = 1 / sqrt(squares / (real)D + (real)1e-5);
        for (int k = 0; k < D; k++) x[k] *= rstd;
        // (3)
        for (int k = 0; k < D; k++) row(Y, n)[k] = w.g.at[k] * x[k] + w.b.at[k];
    }
    return Y;
}

/* dX, dF (+=), dF zero before   w.dg, w.db (+=)   dY: the gradient of Y */
static void addnorm_backward(Matrix dX, Matrix dF, Matrix dY, const NormPass *a, Norm w)
{
    int D = dY.columns;
    for (int n = 0; n < dY.rows; n++) {
        const real *dy = row(dY, n), *x = row(a->normal, n);
        real sum_u = 0, sum_ux = 0;
        // (3) u = dy ⊙ g, the gradient of x̂          dg += dy ⊙ x̂          db += dy
        for (int k = 0; k < D; k++) {
            sum_u += dy[k] * w.g.at[k];
            sum_ux += dy[k] * w.g.at[k] * x[k];
            w.dg.at[k] += dy[k] * x[k];
            w.db.at[k] += dy[k];
        }
        // (2) dx = rstd · (u - avg(u) - x̂ · avg(u ⊙ x̂)): y stays the same if x is shifted or
        //     stretched, so dx has no component along 1, and none along x̂
        // (1) dX += dx          dF = dx, through dropout
        for (int k = 0; k < D; k++) {
            real u = dy[k] * w.g.at[k];
            real dx = a->rstd.at[n] * (u - sum_u / (real)D - x[k] * sum_ux / (real)D);
            row(dX, n)[k] += dx;
            row(dF, n)[k] += dx;
        }
    }
    dropout_backward(dF, a->mask);
}

/* ---- feed-forward network (§3.3, eq. 2) ----
 *
 *     (1)  A = X W₁ᵀ + b₁                                                          [N,F]
 *     (2)  R = max(0, A)
 *     (3)  Y = R W₂ᵀ + b₂                                                          [N,D] */
typedef struct FeedforwardPass {
    Matrix X, R;
} FeedforwardPass;

static Matrix feedforward_forward(FeedforwardPass *a, Matrix X, Linear fc1, Linear fc2)
{
    // (1)
    *a = (FeedforwardPass){X, linear_forward(X, fc1)};
    // (2)
    for (int i = 0; i < a->R.rows * a->R.columns; i++)
        if (a->R.at[i] < 0) a->R.at[i] = 0;
    // (3)
    return linear_forward(a->R, fc2);
}

/* dX (+=)   gradients of fc1 and fc2 (+=)   dY: the gradient of Y */
static void feedforward_backward(Matrix dX, Matrix dY, const FeedforwardPass *a, Linear fc1,
                                 Linear fc2)
{
    Matrix dA = zeros_like(a->R);
    // (3)
    linear_backward(dA, dY, a->R, fc2);
    // (2) dA = dR where A is positive, else 0
    for (int i = 0; i < dA.rows * dA.columns; i++)
        if (a->R.at[i] <= 0) dA.at[i] = 0;
    // (1)
    linear_backward(dX, dA, a->X, fc1);
}

/* ---- label-smoothed cross-entropy (§5.4) ----
 *
 *     p = softmax(z)          q_c = (1-ε) [c = target] + ε/C          for each of C classes
 *     loss = -Σ_c q_c ln p_c
 *          = ln Σ_c e^(z_c) - (1-ε) z_target - ε/C Σ_c z_c           as ln p_c = z_c - ln Σ e^z
 *
 * Replaces Z [N,C] by P. Returns the sum over the rows. */
static const double SMOOTHING = 0.1;

static double crossentropy_forward(Matrix Z, const int *target)
{
    double loss = 0;
    for (int n = 0; n < Z.rows; n++) {
        real *z = row(Z, n);
        loss -= (1 - SMOOTHING) * z[target[n]];
        for (int c = 0; c < Z.columns; c++) loss -= SMOOTHING / Z.columns * z[c];
        loss += softmax_forward(z, Z.columns);
    }
    return loss;
}

/* dZ (+=) the gradient of scale · loss   P: as forward made it */
static void crossentropy_backward(Matrix dZ, Matrix P, const int *target, real scale)
{
    // dz = scale · (p - q)
    real even = (real)(SMOOTHING / P.columns);
    for (int n = 0; n < P.rows; n++) {
        for (int c = 0; c < P.columns; c++) row(dZ, n)[c] += scale * (row(P, n)[c] - even);
        row(dZ, n)[target[n]] -= scale * (real)(1 - SMOOTHING);
    }
}

/* ==== 4. the network (§3.1, figure 1) ===================================================== */

/* A layer of the encoder, without (2), or of the decoder:
 *
 *     (1)  A = norm(X + attention(X, X))                     causal in the decoder
 *     (2)  B = norm(A + attention(A, encoded))
 *     (3)  Y = norm(B + feedforward(B)) */
typedef struct LayerPass {
    AttentionPass self, cross;
    FeedforwardPass feedforward;
    NormPass self_norm, cross_norm, final_norm;
} LayerPass;

/* rows: the sentences of X   source: those of encoded; NULL in the encoder */
static Matrix layer_forward(LayerPass *a, Matrix X, Matrix encoded, const Layer *w, Packed rows,
                            const Packed *source, uint64_t *random)
{
    // (1)
    Matrix F = attention_forward(&a->self, X, X, &w->self, rows, rows, source);
    X = addnorm_forward(&a->self_norm, X, F, w->self_norm, random);
    // (2)
    if (source) {
        F = attention_forward(&a->cross, X, encoded, &w->cross, rows, *source, false);
        X = addnorm_forward(&a->cross_norm, X, F, w->cross_norm, random);
    }
    // (3)
    F = feedforward_forward(&a->feedforward, X, w->fc1, w->fc2);
    return addnorm_forward(&a->final_norm, X, F, w->final_norm, random);
}

/* Returns the gradient of X.   dencoded (+=), none in the encoder   dY: the gradient of Y */
static Matrix layer_backward(Matrix dencoded, Matrix dY, const LayerPass *a, const Layer *w)
{
    // (3)
    Matrix dX = zeros_like(dY), dF = zeros_like(dY);
    addnorm_backward(dX, dF, dY, &a->final_norm, w->final_norm);
    feedforward_backward(dX, dF, &a->feedforward, w->fc1, w->fc2);
    // (2)
    if (dencoded.at) {
        dY = dX, dX = zeros_like(dY), dF = zeros_like(dY);
        addnorm_backward(dX, dF, dY, &a->cross_norm, w->cross_norm);
        attention_backward(dX, dencoded, dF, &a->cross, &w->cross);
    }
    // (1)
    dY = dX, dX = zeros_like(dY), dF = zeros_like(dY);
    addnorm_backward(dX, dF, dY, &a->self_norm, w->self_norm);
    attention_backward(dX, dX, dF, &a->self, &w->self);
    return dX;
}

/* The whole network:
 *
 *     (1)  X = dropout(embedding(source))          Z = dropout(embedding(<pad> target))
 *     (2)  encoded = the encoder's layers on X
 *     (3)  output = the decoder's layers on Z
 *     (4)  logits = output Eᵀ + bias              whose softmax is the next token's probability
 *
 * The decoder reads what it is to say, one place late: the row that is to say token t has seen
 * the tokens before t. <pad> begins a sentence and is never said: there are V-1 classes. */
typedef struct Pass {
    Packed source, target, shifted;
    Matrix X_mask, Z_mask;  // of dropout
    LayerPass encoder[MAX_LAYERS], decoder[MAX_LAYERS];
    Matrix X, output, logits;  // [N,D] [M,D] [M,V-1]
} Pass;

/* <pad>, then the target without its </s>. */
static Packed shift(Packed target, int pad)
{
    Packed shifted = target;
    shifted.id = take(&passing, (size_t)target.start[target.sentences], sizeof(int));
    for (int s = 0; s < target.sentences; s++)
        for (int n = target.start[s]; n < target.start[s + 1]; n++)
            shifted.id[n] = n == target.start[s] ? pad : target.id[n - 1];
    return shifted;
}

/* The output layer multiplies by E without the row of <pad>. */
static Linear output_layer(const Model *m)
{
    int C = m->V - 1;
    Linear w = {.W = part(m->E, 0, C, 0, m->D), .dW = part(m->dE, 0, C, 0, m->D)};
    w.b = part(m->bias, 0, 1, 0, C);
    w.db = m->output_bias ? part(m->dbias, 0, 1, 0, C) : zeros(1, C);
    return w;
}

/* A pass until the logits.   random: of dropout; NULL without */
static Pass *network_forward(const Model *m, Packed source, Packed target, uint64_t *random)
{
    Pass *a = take(&passing, 1, sizeof *a);
    a->source = source, a->target = target, a->shifted = shift(target, m->V - 1);
    // (1)
    Matrix X = a->X = embedding_forward(source, m->E, m->positions);
    Matrix Z = embedding_forward(a->shifted, m->E, m->positions);
    a->X_mask = dropout_forward(X, random);
    a->Z_mask = dropout_forward(Z, random);
    // (2)
    for (int l = 0; l < m->encoder_layers; l++)
        X = layer_forward(&a->encoder[l], X, X, &m->encoder[l], source, NULL, random);
    // (3)
    for (int l = 0; l < m->decoder_layers; l++)
        Z = layer_forward(&a->decoder[l], Z, X, &m->decoder[l], target, &source, random);
    // (4)
    a->output = Z;
    a->logits = linear_forward(Z, output_layer(m));
    return a;
}

/* The rest of a pass: returns the mean loss of a token, and sets all gradients. */
static double network_backward(Model *m, const Pass *a)
{
    for (Parameter *p = m->table; p < m->table + m->parameters; p++)
        memset(p->d, 0, p->count * sizeof *p->d);
    Matrix dX = zeros_like(a->X), dZ = zeros_like(a->output), dlogits = zeros_like(a->logits);
    // (4)
    double loss = crossentropy_forward(a->logits, a->target.id);
    crossentropy_backward(dlogits, a->logits, a->target.id, 1 / (real)a->logits.rows);
    linear_backward(dZ, dlogits, a->output, output_layer(m));
    // (3) each layer adds to dX, the gradient of what the encoder made
    for (int l = m->decoder_layers - 1; l >= 0; l--)
        dZ = layer_backward(dX, dZ, &a->decoder[l], &m->decoder[l]);
    // (2)
    for (int l = m->encoder_layers - 1; l >= 0; l--)
        dX = layer_backward((Matrix){0}, dX, &a->encoder[l], &m->encoder[l]);
    // (1)
    dropout_backward(dZ, a->Z_mask);
    dropout_backward(dX, a->X_mask);
    embedding_backward(m->dE, dZ, a->shifted);
    embedding_backward(m->dE, dX, a->source);
    return loss / a->logits.rows;
}

/* ==== 5. the optimiser (§5.3, which has ε = 1e-9 and another learning rate) =============== */

static const double BETA1 = 0.9, BETA2 = 0.98, EPSILON = 1e-8, CLIP = 1, PEAK = 0.003;
enum { WARMUP = 200, UPDATES = 800, BATCH = 1600 };  // BATCH: tokens of an update, both sides

/* The learning rate of update u = 1, 2, …: a linear warm-up, then half a cosine down to 0
 * (Loshchilov and Hutter 2017).
 *     PEAK · u / WARMUP    PEAK · (1 + cos(π x)) / 2,  x = (u - WARMUP) / (UPDATES - WARMUP) */
static double learning_rate(int u)
{
    double x = (double)(u - WARMUP) / (UPDATES - WARMUP);
    return PEAK * (u < WARMUP ? (double)u / WARMUP : (1 + cos(3.141592653589793 * x)) / 2);
}

/* Adam (Kingma and Ba 2015, algorithm 1): changes the weights w, and m and v, the running means
 * of the gradient and of its square, which are 0 at first.   d [size]: the gradient, to be
 * multiplied by scale   u: as above */
static void adam_update(real *w, real *m, real *v, const real *d, size_t size, double scale,
                        int u, double rate)
{
    // m = β₁ m + (1-β₁) g          v = β₂ v + (1-β₂) g²          g = scale · d
    // w = w - rate · m̂ / (√v̂ + ε),     m̂ = m / (1 - β₁ᵘ),     v̂ = v / (1 - β₂ᵘ)
    real unbias_m = (real)(1 / (1 - pow(BETA1, u))), unbias_v = (real)(1 / (1 - pow(BETA2, u)));
    for (size_t i = 0; i < size; i++) {
        real g = (real)scale * d[i];
        m[i] = (real)BETA1 * m[i] + (real)(1 - BETA1) * g;
        v[i] = (real)BETA2 * v[i] + (real)(1 - BETA2) * g * g;
        w[i] -= (real)rate * unbias_m * m[i] / (sqrt(unbias_v * v[i]) + (real)EPSILON);
    }
}

/* One update of all parameters. Before it, the gradients are clipped by the norm of all of them
 * together (Pascanu et al. 2013, algorithm 1):
 *     g = d · CLIP / ‖d‖   if ‖d‖ > CLIP, else d */
static void update(Model *m, int u)
{
    Parameter *end = m->table + m->parameters;
    double squares = 0, rate = learning_rate(u);
    for (Parameter *p = m->table; p < end; p++)
        for (size_t i = 0; i < p->count; i++) squares += (double)p->d[i] * (double)p->d[i];
    double scale = squares > CLIP * CLIP ? CLIP / sqrt(squares) : 1;
    for (Parameter *p = m->table; p < end; p++)
        adam_update(p->x, p->m, p->v, p->d, p->count, scale, u, rate);
}

/* ==== 6. files ============================================================================ */

/* A safetensors file is the length of a header, in 8 bytes; the header, JSON; and the numbers
 * of all tensors (checkpoints/README.md). Reads it to m->header and m->data. */
static void file_read(Model *m, const char *path)
{
    FILE *in = fopen(path, "rb");
    long end = in && !fseek(in, 0, SEEK_END) ? ftell(in) : -1;
    if (end < 0) fail("cannot read '%s'", path);
    size_t size = (size_t)end, header = 0;
    unsigned char *bytes = take(&lasting, size + 1, 1);
    rewind(in);
    if (fread(bytes, 1, size, in) != size) fail("cannot read '%s'", path);
    fclose(in);
    for (int i = 7; i >= 0 && size >= 8; i--) header = header << 8 | bytes[i];
    if (header == 0 || header > size - 8) fail("'%s' is no safetensors file", path);
    m->path = path;
    m->header = memcpy(take(&lasting, header + 1, 1), bytes + 8, header);
    m->data = (Bytes){bytes + 8 + header, bytes + size};
}

static bool begins(const char *text, const char *with)
{
    return !strncmp(text, with, strlen(with));
}

/* JSON, as far as a header needs it. */
static const char *json_space(const char *p)
{
    return p + strspn(p, " \t\r\n");
}

/* The end of the value at p: skips quoted text, and counts brackets. */
static const char *json_end(const char *p)
{
    int depth = 0;
    do {
        if (*p == '"')
            while (*++p && *p != '"') p += *p == '\\' && p[1];
        if (!*p) fail("a model's header is no JSON");
        depth += (*p == '{' || *p == '[') - (*p == '}' || *p == ']');
        p++;
    } while (depth > 0 || !strchr(",:]} \t\r\n", *p));
    return json_space(p);
}

/* The value of a member of the object at p, or "" if there is none. */
static const char *json_member(const char *p, const char *key)
{
    if (*p != '{') return "";
    for (p = json_space(p + 1); *p == '"'; p = json_space(p + (*p == ','))) {
        bool found = !strncmp(p + 1, key, strlen(key)) && p[1 + strlen(key)] == '"';
        p = json_end(p);
        if (*p != ':') return "";
        p = json_space(p + 1);
        if (found) return p;
        p = json_end(p);
    }
    return "";
}

/* The text of the string at p. Of its escapes a configuration needs few. */
static const char *json_text(const char *p)
{
    char *text = take(&lasting, strlen(p) + 1, 1), *to = text;
    for (p += *p == '"'; *p && *p != '"'; p++) {
        bool escape = *p == '\\' && p[1];
        p += escape;
        *to++ = escape && strchr("nrt", *p) ? ' ' : *p;
    }
    return text;
}

/* The bytes of a tensor of this type and shape, or of any shape if that is "". */
static Bytes file_tensor(const Model *m, const char *name, const char *type, const char *shape)
{
    const char *tensor = json_member(json_space(m->header), name),
               *offsets = json_member(tensor, "data_offsets");
    size_t begin = 0, end = 0;
    if (!begins(json_member(tensor, "dtype"), type) ||
        !begins(json_member(tensor, "shape"), shape))
        fail("'%s' has no tensor %s of type %s and shape %s", m->path, name, type, shape);
    if (sscanf(offsets, "[%zu ,%zu", &begin, &end) != 2 || begin > end ||
        end > (size_t)(m->data.end - m->data.at))
        fail("'%s' is incomplete: it ends before tensor %s", m->path, name);
    return (Bytes){m->data.at + begin, m->data.at + end};
}

/* Writes the weights; with 2 blocks the gradients, and as updated.NAME the weights. The processor
 * must be little-endian. Spaces fill the header up to a size that is large enough. */
static void save(const char *path, const Model *m, const char *metadata, int blocks)
{
    const char *format = ",\"%s%s\":{\"dtype\":\"%s\",\"shape\":%s,\"data_offsets\":[%zu,%zu]}",
               *type = sizeof(real) == sizeof(float) ? "F32" : "F64";
    size_t capacity = 256 * (2 * (size_t)m->parameters + 3), at = 0,
           tokenizer = (size_t)(m->tokenizer.end - m->tokenizer.at);
    char *header = take(&lasting, capacity + 1, 1), *to = header, shape[24];
    FILE *out = fopen(path, "wb");
    if (!out || fseek(out, 8 + (long)capacity, SEEK_SET)) fail("cannot write '%s'", path);
    to += sprintf(to, "{\"__metadata__\":{%s}", metadata);
    for (int i = 0; i < blocks; i++)
        for (const Parameter *p = m->table; p < m->table + m->parameters; p++) {
            size_t end = at + p->count * sizeof(real);
            to += sprintf(to, format, i ? "updated." : "", p->name, type, p->shape, at, end);
            fwrite(blocks == 2 && i == 0 ? p->d : p->x, sizeof(real), p->count, out);
            at = end;
        }
    snprintf(shape, sizeof shape, "[%zu]", tokenizer);
    to += sprintf(to, format, "", "tokenizer", "U8", shape, at, at + tokenizer);
    fwrite(m->tokenizer.at, 1, tokenizer, out);
    sprintf(to, "}%*s", (int)(header + capacity - to - 1), "");
    rewind(out);
    for (int i = 0; i < 8; i++) fputc((int)(capacity >> 8 * i & 255), out);
    fwrite(header, 1, capacity, out);
    if (ferror(out) || fclose(out)) fail("cannot write '%s'", path);
}

/* ==== 7. words ============================================================================ */

enum { END, UNKNOWN };        // ids of </s> and <unk>; <pad> is the last
#define SPACE "\xe2\x96\x81"  // ▁: begins a token that has a space before it

/* Reads the tokens of a SentencePiece model. They stand at its beginning, each as the byte 10,
 * the size of the rest, a 10, the size of its text, its text, and more. <pad> comes last. */
static void vocabulary(Model *m)
{
    const unsigned char *at = m->tokenizer.at, *end = m->tokenizer.end;
    m->token = take(&lasting, (size_t)(end - at) / 4 + 1, sizeof *m->token);
    m->words = true;
    for (; end - at > 4 && *at == 10; at += 2 + at[1]) {
        if (at[1] > 127 || at[2] != 10 || at[1] < 2 + at[3] || end - at < 2 + at[1])
            fail("the tokenizer is damaged, or token %d has more than 100 bytes", m->V);
        char *token = memcpy(take(&lasting, at[3] + 1u, 1), at + 4, at[3]);
        if (m->V > UNKNOWN && !begins(token, SPACE)) m->words = false;
        m->token[m->V++] = token;
    }
    m->token[m->V++] = "<pad>";
}

static int token_id(const Model *m, const char *text, size_t size)
{
    char key[256];
    snprintf(key, sizeof key, "%s%.*s", m->words ? SPACE : "", (int)size, text);
    for (int id = 0; id < m->V; id++)
        if (!strcmp(m->token[id], key)) return id;
    if (!m->words)
        fail("'%s' is no token: put spaces between tokens, " SPACE " where a word begins", key);
    fprintf(stderr, "transformer: '%.*s' is an unknown word\n", (int)size, text);
    return UNKNOWN;
}

/* Text to ids, </s> at the end; returns how many. A word ends at a space, after an apostrophe,
 * and before and after a mark: l' école · ? */
static int encode(int *id, const Model *m, const char *text)
{
    int n = 0;
    size_t size;
    for (; *(text += strspn(text, " \t\r\n")); text += size) {
        size = strcspn(text, " \t\r\n");
        size_t mark = m->words ? strcspn(text, "'?!.,;:") : size;
        if (mark < size) size = mark == 0 || text[mark] == '\'' ? mark + 1 : mark;
        if (n + 1 == m->longest) fail("a sentence has more than %d tokens", n);
        id[n++] = token_id(m, text, size);
    }
    id[n++] = END;
    return n;
}

/* Prints the text of a sentence. After an apostrophe a word needs no space. */
static void print(const Model *m, Packed sentence)
{
    bool joined = true;
    for (int i = 0; i < sentence.start[1] && sentence.id[i] != END; i++) {
        const char *token = m->token[sentence.id[i]];
        bool word = begins(token, SPACE);
        printf("%s%s", word && !joined ? " " : "", word ? token + strlen(SPACE) : token);
        joined = m->words && token[strlen(token) - 1] == '\'';
    }
    putchar('\n');
}

/* A text as a sentence by itself; without a text, memory for one. */
static Packed sentence(const Model *m, const char *text)
{
    int *start = take(&lasting, 2, sizeof *start),
        *id = take(&lasting, (size_t)m->longest, sizeof *id);
    if (text) start[1] = encode(id, m, text);
    return (Packed){1, start, id};
}

/* The lines of a file, plain or .gz: all of them, or what is before or after their tab. A
 * sentence has no more tokens than its line has bytes, the end of the line included. */
static Packed read_lines(const char *path, const Model *m, bool after_tab)
{
    Packed p = {0};
    char line[1 << 14];
    size_t lines = 0, bytes = 0;
    gzFile in = gzopen(path, "rb");
    if (!in) fail("cannot read '%s'", path);
    for (; gzgets(in, line, sizeof line); lines++) bytes += strlen(line) + 1;
    p.start = take(&lasting, lines + 1, sizeof *p.start);
    p.id = take(&lasting, bytes + 1, sizeof *p.id);
    gzrewind(in);
    for (int *end = p.start; gzgets(in, line, sizeof line); end++, p.sentences++) {
        char *tab = line + strcspn(line, "\t");
        if (after_tab && !*tab) fail("'%s' has a line without a tab: %s", path, line);
        *tab = 0;
        end[1] = end[0] + encode(p.id + end[0], m, after_tab ? tab + 1 : line);
    }
    gzclose(in);
    return p;
}

/* The sentences with these numbers, until the pass ends. */
static Packed gather(Packed all, const int *number, int count)
{
    Packed p = {count, take(&passing, (size_t)count + 1, sizeof(int)), NULL};
    for (int s = 0; s < count; s++) p.start[s + 1] = p.start[s] + length(all, number[s]);
    p.id = take(&passing, (size_t)p.start[count], sizeof(int));
    for (int s = 0; s < count; s++)
        for (int n = 0; n < length(all, number[s]); n++)
            p.id[p.start[s] + n] = all.id[all.start[number[s]] + n];
    return p;
}

/* ==== 8. commands ========================================================================= */

/* A number of the configuration. */
static int setting(const char *config, const char *name, int most)
{
    int value = atoi(json_member(config, name));
    if (value < 1 || value > most) fail("the model has no %s from 1 to %d", name, most);
    return value;
}

/* A network of the file's shape, with its tokenizer, and its weights or new ones. */
static Model *model_open(const char *path, bool with_weights)
{
    static const char *const usual[] = {
        "norm",  "post", "activation",  "relu",     "positions",       "sinusoidal",
        "tying", "all",  "projections", "separate", "attention_score", "scaled-dot"};
    Model *m = take(&lasting, 1, sizeof *m);
    file_read(m, path);
    const char *metadata = json_member(json_space(m->header), "__metadata__");
    const char *c = json_member(json_text(json_member(metadata, "config")), "model");
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i += 2) {
        const char *value = json_member(c, usual[i]);
        if (*value && !begins(value + 1, usual[i + 1]))
            fail("'%s' is another network: its %s is not %s", path, usual[i], usual[i + 1]);
    }
    m->D = setting(c, "d_model", 8192), m->F = setting(c, "ffn", 1 << 20);
    m->H = setting(c, "heads", m->D), m->longest = setting(c, "max_length", 1 << 16);
    m->encoder_layers = setting(c, "encoder_layers", MAX_LAYERS);
    m->decoder_layers = setting(c, "decoder_layers", MAX_LAYERS);
    m->output_bias = begins(json_member(c, "output_bias"), "true");
    if (m->D % m->H) fail("'%s' has heads that do not divide its width", path);
    m->tokenizer = file_tensor(m, "tokenizer", "\"U8\"", "");
    m->positions = sinusoids(m->longest, m->D);
    vocabulary(m);
    network(m);
    for (Parameter *p = m->table; with_weights && p < m->table + m->parameters; p++) {
        Bytes from = file_tensor(m, p->name, "\"F32\"", p->shape);
        if ((size_t)(from.end - from.at) != p->count * sizeof(float))
            fail("'%s' has too few or too many numbers for %s", path, p->name);
        for (size_t i = 0; i < p->count; i++) {
            float x;
            memcpy(&x, from.at + i * sizeof x, sizeof x);
            p->x[i] = x;
        }
    }
    return m;
}

/* Greedy search: the most probable token, again and again, until that is </s>. Each step runs
 * the whole network on what there is so far, as training does. */
static Packed translate(const Model *m, Packed source)
{
    Packed target = sentence(m, NULL);
    for (int n = 0, best = -1; n < m->longest && best != END; n++) {
        target.start[1] = n + 1;  // with the place of the next token, which no row sees
        const real *z = row(network_forward(m, source, target, NULL)->logits, n);
        best = 0;
        for (int c = 1; c < m->V - 1; c++) best = z[c] > z[best] ? c : best;
        target.id[n] = best;
    }
    return target;
}

static void command_translate(const char *path, char *const *text)
{
    Model *m = model_open(path, true);
    for (; *text; text++, pass_end()) print(m, translate(m, sentence(m, *text)));
}

/* Draws the attention weights of the decoder's last layer, the mean of its heads: row i is
 * token i of the translation, column j token j of the text; the darker, the larger. */
static void command_draw(const char *path, const char *picture, const char *text)
{
    enum { CELL = 40 };
    Model *m = model_open(path, true);
    Packed source = sentence(m, text), target = translate(m, source);
    const Pass *pass = network_forward(m, source, target, NULL);
    const Matrix *P = pass->decoder[m->decoder_layers - 1].cross.P;
    int width = CELL * source.start[1], height = CELL * target.start[1];
    unsigned char *grey = take(&lasting, (size_t)width * (size_t)height, 1);
    for (int i = 0; i < width * height; i++) {
        double weight = 0;
        for (int h = 0; h < m->H; h++)
            weight += row(P[h], i / width / CELL)[i % width / CELL] / m->H;
        grey[i] = (unsigned char)(255 * (1 - weight));
    }
    png_image image = {.version = PNG_IMAGE_VERSION, .format = PNG_FORMAT_GRAY};
    image.width = (png_uint_32)width, image.height = (png_uint_32)height;
    FILE *out = fopen(picture, "wb");
    if (!out || !png_image_write_to_stdio(&image, out, 0, grey, 0, NULL) || fclose(out))
        fail("cannot write '%s'", picture);
    printf("columns, from the left:");
    for (int j = 0; j < source.start[1]; j++) printf(" %s", m->token[source.id[j]]);
    printf("\nrows, from the top:    ");
    for (int i = 0; i < target.start[1]; i++) printf(" %s", m->token[target.id[i]]);
    putchar('\n');
}

/* Writes the gradients of the pairs' mean loss, without dropout; and as updated.NAME the
 * weights after the first update of a training with them. */
static void command_gradients(const char *path, const char *pairs, const char *out)
{
    Model *m = model_open(path, true);
    Packed source = read_lines(pairs, m, false), target = read_lines(pairs, m, true);
    if (source.sentences == 0) fail("'%s' is empty", pairs);
    double loss = network_backward(m, network_forward(m, source, target, NULL));
    update(m, 1);
    char metadata[64];
    snprintf(metadata, sizeof metadata, "\"loss\":\"%.17g\"", loss);
    save(out, m, metadata, 2);
    printf("loss %.9g\n", loss);
}

/* Learns the toy corpus, and says how many sentences of the test set it translates exactly. */
static void command_train(const char *out)
{
    Model *m = model_open("data/toy/model.safetensors", false);
    Packed source = read_lines("data/toy/train.en.gz", m, false),
           target = read_lines("data/toy/train.fr.gz", m, false);
    if (source.sentences != target.sentences) fail("data/toy has more lines on one side");
    uint64_t random = 1;
    double loss = 0;
    for (int u = 1; u <= UPDATES; u++) {
        int pair[BATCH], pairs = 0;
        for (int tokens = 0; tokens < BATCH; pairs++) {
            pair[pairs] = (int)(uniform(&random) * source.sentences);
            tokens += length(source, pair[pairs]) + length(target, pair[pairs]);
        }
        Packed from = gather(source, pair, pairs), to = gather(target, pair, pairs);
        loss += network_backward(m, network_forward(m, from, to, &random));
        update(m, u);
        pass_end();
        if (u % 50 == 0)
            fprintf(stderr, "update %3d of %d: loss %.3f\n", u, UPDATES, loss / 50), loss = 0;
    }
    char metadata[400];
    snprintf(
        metadata, sizeof metadata,
        "\"format\":\"qkv\",\"version\":\"1\",\"config\":\"{\\\"model\\\":{\\\"d_model\\\":%d,"
        "\\\"heads\\\":%d,\\\"ffn\\\":%d,\\\"encoder_layers\\\":%d,\\\"decoder_layers\\\":%d,"
        "\\\"max_length\\\":%d,\\\"output_bias\\\":%s}}\"",
        m->D, m->H, m->F, m->encoder_layers, m->decoder_layers, m->longest,
        m->output_bias ? "true" : "false");
    save(out, m, metadata, 1);
    source = read_lines("data/toy/test.en", m, false);
    target = read_lines("data/toy/test.fr", m, false);
    int exact = 0, all = source.sentences;
    for (int s = 0; s < all; s++, pass_end()) {
        Packed found = translate(m, gather(source, &s, 1)), right = gather(target, &s, 1);
        size_t size = (size_t)right.start[1] * sizeof(int);
        exact += found.start[1] == right.start[1] && !memcmp(found.id, right.id, size);
    }
    printf("%d of %d test sentences are exact: %.1f %%\n", exact, all, 100.0 * exact / all);
}

int main(int count, char **argument)
{
    char *command = count > 1 ? argument[1] : "", **a = argument + 2;
    if (!strcmp(command, "train") && count == 3) command_train(a[0]);
    else if (!strcmp(command, "translate") && count > 3) command_translate(a[0], a + 1);
    else if (!strcmp(command, "draw") && count == 5) command_draw(a[0], a[1], a[2]);
    else if (!strcmp(command, "gradients") && count == 5) command_gradients(a[0], a[1], a[2]);
    else
        fail("usage:\n"
             "  transformer train OUT.safetensors\n"
             "  transformer translate MODEL.safetensors TEXT...\n"
             "  transformer draw MODEL.safetensors OUT.png TEXT\n"
             "  transformer gradients MODEL.safetensors PAIRS.tsv OUT.safetensors");
    return fflush(stdout) ? 1 : 0;
}
