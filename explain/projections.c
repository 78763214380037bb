/* projections.c -- what W_Q, W_K and W_V do to frequent words; see projections.h. */
#include "explain/projections.h"

#include "inference/snapshot.h"

enum { CANDIDATES = 256, WORDS = PROJECTION_WORDS, CELLS = WORDS * WORDS };

static int first_pairs(const Corpus *corpus)
{
    return corpus->pairs < PROJECTION_PAIRS ? (int)corpus->pairs : PROJECTION_PAIRS;
}

static int place_of(int id, const int *list, int count)
{
    for (int i = 0; i < count; i++)
        if (list[i] == id) return i;
    return -1;
}

/* ---- the words ---- */

/* The first words of one side, and the pairs that contain them. */
typedef struct Candidates {
    int count, id[CANDIDATES], pairs[CANDIDATES];
    bool in[CANDIDATES][PROJECTION_PAIRS];
} Candidates;

static void find_candidates(Candidates *words, const Corpus *corpus, CorpusSide side,
                            const Tokenizer *tokenizer)
{
    *words = (Candidates){.count = 0};
    for (int p = 0; p < first_pairs(corpus); p++)
        for (size_t t = corpus->start[side][p]; t < corpus->start[side][p + 1]; t++) {
            int id = corpus->id[side][t], i = place_of(id, words->id, words->count);
            unsigned char first = (unsigned char)tokenizer_label(tokenizer, id)[0];
            if (id <= ID_UNKNOWN || (first < 128 && !isalnum(first))) continue;
            if (i < 0 && words->count < CANDIDATES) words->id[i = words->count++] = id;
            if (i < 0 || words->in[i][p]) continue;
            words->in[i][p] = true;
            words->pairs[i]++;
        }
}

/* Takes the best remaining pair of words again and again: the number n of sentence pairs with
 * both, times the square of Dice's coefficient, 2 n / (those with one + those with the
 * other). */
void projections_words(FrequentWords *words, const Corpus *corpus, const Vocabulary *vocabulary)
{
    static Candidates side[SIDES];
    for (int s = 0; s < SIDES; s++)
        find_candidates(&side[s], corpus, s, vocabulary->tokenizer[s]);
    Candidates *from = &side[SOURCE], *to = &side[TARGET];
    for (words->count = 0; words->count < WORDS; words->count++) {
        double most = 0;
        int best[SIDES] = {0, 0};
        for (int j = 0; j < from->count; j++)
            for (int i = 0; i < to->count; i++) {
                int n = 0, a = from->pairs[j], b = to->pairs[i];
                if ((a < b ? a : b) <= most) continue;  // n is no larger, dice no more than 1
                for (int p = 0; p < PROJECTION_PAIRS; p++) n += from->in[j][p] & to->in[i][p];
                double dice = 2.0 * n / (a + b);
                if (n * dice * dice > most)
                    most = n * dice * dice, best[SOURCE] = j, best[TARGET] = i;
            }
        if (most == 0) return;
        for (int s = 0; s < SIDES; s++) {
            words->id[s][words->count] = side[s].id[best[s]];
            side[s].pairs[best[s]] = 0;
        }
    }
}

/* ---- the maps ---- */

/* Sums over the sentence pairs; the vectors have D numbers for each word. */
typedef struct Sums {
    real *Q, *K, *V;  // [WORDS,D]
    double queries[WORDS], keys[WORDS], weights[CELLS], meetings[CELLS];
} Sums;

/* sums (+=) one sentence pair */
static void add_pair(Sums *sums, const Snapshot *snapshot, const FrequentWords *words,
                     int layer)
{
    HeadVectors v = snapshot_vectors(snapshot, ATTENTION_CROSS, layer, 0);  // the others follow
    int n = words->count, D = snapshot->model->config.d_model;
    for (int y = 0; y < snapshot->source.rows; y++) {
        int j = place_of(snapshot->source.id[y], words->id[SOURCE], n);
        if (j < 0) continue;
        sums->keys[j]++;
        for (int d = 0; d < D; d++) sums->K[j * D + d] += v.K.at[y * v.K.stride + d];
        for (int d = 0; d < D; d++) sums->V[j * D + d] += v.V.at[y * v.V.stride + d];
    }
    for (int x = 0; x < snapshot->target.rows; x++) {
        int i = place_of(snapshot->target.id[x], words->id[TARGET], n);
        if (i < 0) continue;
        sums->queries[i]++;
        for (int d = 0; d < D; d++) sums->Q[i * D + d] += v.Q.at[x * v.Q.stride + d];
        for (int y = 0; y < snapshot->source.rows; y++) {
            int j = place_of(snapshot->source.id[y], words->id[SOURCE], n);
            for (int h = 0; j >= 0 && h < snapshot->model->config.heads; h++) {
                SnapshotRows map = snapshot_map(snapshot, ATTENTION_CROSS, layer, h);
                sums->weights[i * n + j] += (double)map.at[x * map.stride + y];
                sums->meetings[i * n + j]++;
            }
        }
    }
}

/* x (=) its softmax, of count numbers `stride` apart */
static void softmax(double *x, int count, int stride)
{
    double most = -INFINITY, sum = 0;
    for (int i = 0; i < count; i++) most = fmax(most, x[i * stride]);
    for (int i = 0; i < count; i++) sum += x[i * stride] = exp(x[i * stride] - most);
    for (int i = 0; i < count; i++) x[i * stride] /= sum;
}

/* The score of the mean query of word i and the mean key of word j, the mean of the heads. */
static double mean_score(const Sums *sums, const Transformer *model, int layer, int i, int j)
{
    const ModelConfig *config = &model->config;
    const ScoreFunction *score = &score_functions[config->attention_score];
    int H = config->heads, D = config->d_model, dh = D / H;
    double sum = 0;
    for (int h = 0; h < H; h++)
        sum += (double)(attention_scale(config, &model->weights.decoder[layer].cross, h) *
                        score->compare(sums->Q + i * D + h * dh, sums->K + j * D + h * dh, dh));
    return sum / H;
}

/* The maps from the sums.   O [WORDS,D] W_O v */
static void find_maps(Projections *out, const Sums *sums, const FrequentWords *words,
                      const Transformer *model, int layer, real *O)
{
    real row[MAX_D_MODEL];
    int n = words->count, D = model->config.d_model;
    double *score = out->map[0], *weight = out->map[1], *value = out->map[2];
    for (int i = 0; i < n * D; i++) {  // the means
        sums->Q[i] /= (real)sums->queries[i / D];
        sums->K[i] /= (real)sums->keys[i / D];
        sums->V[i] /= (real)sums->keys[i / D];
    }
    matrix_multiply(O, sums->V, &model->weights.decoder[layer].cross.out.W, NULL, n, D, D);
    for (int i = 0; i < n; i++) {
        const real *e = matrix_row(row, &model->weights.output, words->id[TARGET][i], D);
        for (int j = 0; j < n; j++) {
            int at = i * n + j;
            score[at] = mean_score(sums, model, layer, i, j);
            value[at] = 0;
            for (int d = 0; d < D; d++) value[at] += (double)e[d] * (double)O[j * D + d];
            weight[at] = sums->weights[at] / sums->meetings[at];
        }
        softmax(score + i * n, n, 1);
    }
    for (int j = 0; j < n; j++) softmax(value + j, n, n);
}

bool projections_find(Projections *out, const FrequentWords *words, const Transformer *model,
                      int layer, const Corpus *corpus, Error *error)
{
    size_t count = (size_t)WORDS * (size_t)model->config.d_model;
    real *vectors = calloc(4 * count, sizeof *vectors);
    Sums sums = {.Q = vectors, .K = vectors + count, .V = vectors + 2 * count};
    Loss total = {0};
    bool good = vectors || error_memory(error, "for the projections of frequent words");
    for (int p = 0; good && p < first_pairs(corpus); p++) {
        const size_t *from = corpus->start[SOURCE] + p, *to = corpus->start[TARGET] + p;
        Snapshot *snapshot =
            snapshot_open(model, corpus->id[SOURCE] + from[0], (int)(from[1] - from[0]),
                          corpus->id[TARGET] + to[0], (int)(to[1] - to[0]), error);
        good = snapshot;
        if (good) add_pair(&sums, snapshot, words, layer);
        if (good) transformer_loss(&total, &snapshot->activations, model, 0);
        snapshot_close(snapshot);
    }
    out->loss = total.nll / (double)total.tokens;
    if (good) find_maps(out, &sums, words, model, layer, vectors + 3 * count);
    free(vectors);
    return good;
}
