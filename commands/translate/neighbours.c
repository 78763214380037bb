/* neighbours.c -- --neighbours; see neighbours.h. */
#include "commands/translate/neighbours.h"

#include <math.h>
#include <string.h>

#include "base/columns.h"
#include "base/file.h"
#include "inference/snapshot.h"

enum { BEST = 5, CHUNK = 100, NAME_WIDTH = 16, WORD_WIDTH = 9 };

/* best [BEST]: the tokens of the largest values, the largest first. */
typedef struct Near {
    int id;  // 0: none
    double value;
} Near;

static void best_add(Near *best, int id, double value)
{
    int at = BEST;
    while (at > 0 && (!best[at - 1].id || best[at - 1].value < value)) at--;
    if (at == BEST) return;
    for (int k = BEST - 1; k > at; k--) best[k] = best[k - 1];
    best[at].id = id, best[at].value = value;
}

static void best_print(const Near *best, const Tokenizer *tokenizer, const char *name)
{
    columns_put(stdout, name, NAME_WIDTH, false);
    for (int k = 0; k < BEST && best[k].id; k++) {
        columns_put(stdout, tokenizer_label(tokenizer, best[k].id), WORD_WIDTH, false);
        printf("%6.2f ", best[k].value);
    }
    putchar('\n');
}

static double product(const real *x, const real *y, int n)
{
    double sum = 0;
    for (int d = 0; d < n; d++) sum += (double)x[d] * (double)y[d];
    return sum;
}

/* The token that begins like the word for longest: the word itself, if it is one. */
static int find(const Tokenizer *tokenizer, int end, const char *word)
{
    int best = ID_END;
    size_t most = 0;
    for (int id = ID_UNKNOWN + 1; id < end; id++) {
        const char *label = tokenizer_label(tokenizer, id);
        size_t same = 0;
        if (!strcmp(label, word)) return id;
        while (word[same] && word[same] == label[same]) same++;
        if (same > most) most = same, best = id;
    }
    return best;
}

static void print_nearest(const Bundle *bundle, CorpusSide side, int end, int word)
{
    static real row[2][MAX_D_MODEL];
    const Weights *w = &bundle->model.weights;
    const Matrix *E = side == SOURCE ? &w->source_embedding : &w->target_embedding;
    int D = bundle->model.config.d_model;
    const real *e = matrix_row(row[0], E, word, D);
    Near best[BEST] = {{0}};
    for (int id = ID_UNKNOWN + 1; id < end; id++) {
        const real *f = matrix_row(row[1], E, id, D);
        if (id != word)
            best_add(best, id, product(e, f, D) / sqrt(product(e, e, D) * product(f, f, D)));
    }
    best_print(best, bundle->vocabulary.tokenizer[side],
               side == SOURCE ? "source cosine" : "target cosine");
}

/* The word and some tokens form a "sentence": without positions, the queries and keys of the
 * first layer depend on their own token only. */
static bool print_keys(const Bundle *bundle, CorpusSide side, int end, int word, int head,
                       Error *error)
{
    char name[NAME_WIDTH + 16];
    const ScoreFunction *score = &score_functions[bundle->model.config.attention_score];
    Transformer plain = bundle->model;
    plain.source_positions = plain.target_positions = NULL;
    int limit = plain.config.max_length - 2, chunk = limit < CHUNK ? limit : CHUNK;
    int id[CHUNK + 2] = {word}, none = ID_END,
                   at = side == TARGET;  // the decoder's first is <pad>
    Near best[BEST] = {{0}};
    if (chunk < 1) return error_set(error, "the model's sentences are too short for words");
    for (int first = ID_UNKNOWN + 1; first < end; first += chunk) {
        int n = first + chunk < end ? chunk : end - first;
        for (int i = 0; i < n; i++) id[i + 1] = first + i;
        id[n + 1] = ID_END;
        Snapshot *snapshot = side == SOURCE ? snapshot_open(&plain, id, n + 2, &none, 1, error)
                                            : snapshot_open(&plain, &none, 1, id, n + 2, error);
        if (!snapshot) return false;
        HeadVectors v = snapshot_vectors(
            snapshot, side == SOURCE ? ATTENTION_ENCODER : ATTENTION_DECODER, 0, head);
        for (int i = 0; i < n; i++)
            best_add(best, first + i,
                     v.scale * (double)score->compare(v.Q.at + at * v.Q.stride,
                                                      v.K.at + (at + 1 + i) * v.K.stride,
                                                      v.Q.columns));
        snapshot_close(snapshot);
    }
    snprintf(name, sizeof name, "%s 1.%d", side == SOURCE ? "encoder" : "decoder", head + 1);
    best_print(best, bundle->vocabulary.tokenizer[side], name);
    return true;
}

bool neighbours_print(const Bundle *bundle, const char *word, Error *error)
{
    const char *similar = "";
    bool found = false;
    for (int side = SOURCE; side < SIDES; side++) {
        const Tokenizer *tokenizer = bundle->vocabulary.tokenizer[side];
        int end = tokenizer_vocab_size(tokenizer) - 1, id = find(tokenizer, end, word);
        similar = tokenizer_label(tokenizer, id);
        if (strcmp(similar, word) != 0) continue;
        found = true;
        if (side == SOURCE || bundle->model.config.tying != TYING_ALL)
            print_nearest(bundle, (CorpusSide)side, end, id);
        for (int h = 0; h < bundle->model.config.heads; h++)
            if (!print_keys(bundle, (CorpusSide)side, end, id, h, error)) return false;
    }
    return (found ||
            error_set(error, "'%s' is no token of this model, but '%s' is", word, similar)) &&
           stream_flush(stdout, "the neighbours", error);
}
