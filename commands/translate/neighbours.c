/* neighbours.c -- --neighbours; see neighbours.h. */
#include "commands/translate/neighbours.h"

#include <stdlib.h>
#include <string.h>

#include "base/best.h"
#include "base/columns.h"
#include "base/file.h"
#include "inference/snapshot.h"

enum { BEST = 5, CHUNK = 100, NAME_WIDTH = 16, WORD_WIDTH = 9 };

/* A line of the output: the tokens nearest to the word. */
typedef struct Line {
    Best best[BEST];
    int count;
} Line;

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

/* Compares row `at` of Q, the word, with the n rows of K after it: the tokens from `first` on. */
static void line_add(Line *line, Score score, double scale, SnapshotRows Q, SnapshotRows K,
                     int at, int first, int n, int left_out)
{
    const real *q = Q.at + at * Q.stride, *k = K.at + (at + 1) * K.stride;
    for (int id = first; id < first + n; id++, k += K.stride)
        if (id != left_out)
            best_add(line->best, &line->count, BEST, id,
                     scale * (double)score_functions[score].compare(q, k, Q.columns));
}

/* line [1+H] (=) by the embeddings, and by the keys of each head. The word and some tokens form
 * a "sentence": without positions, the queries and keys of the first layer depend on their own
 * token only. */
static bool compare(Line *line, const Bundle *bundle, CorpusSide side, int end, int word,
                    Error *error)
{
    Transformer plain = bundle->model;
    const ModelConfig *c = &plain.config;
    int id[CHUNK + 2] = {word}, none = ID_END,
                   at = side == TARGET;  // the decoder's first is <pad>
    plain.source_positions = plain.target_positions = NULL;
    plain.config.max_length = CHUNK + 2;
    for (int first = ID_UNKNOWN + 1, n = 0; first < end; first += n) {
        for (n = 0; n < CHUNK && first + n < end; n++) id[n + 1] = first + n;
        id[n + 1] = ID_END;
        Snapshot *snapshot = side == SOURCE ? snapshot_open(&plain, id, n + 2, &none, 1, error)
                                            : snapshot_open(&plain, &none, 1, id, n + 2, error);
        if (!snapshot) return false;
        SnapshotRows E = snapshot_embedded(snapshot, side == SOURCE);
        line_add(&line[0], SCORE_COSINE, 1, E, E, at, first, n, word);
        for (int h = 0; h < c->heads; h++) {
            HeadVectors v = snapshot_vectors(
                snapshot, side == SOURCE ? ATTENTION_ENCODER : ATTENTION_DECODER, 0, h);
            line_add(&line[1 + h], (Score)c->attention_score, v.scale, v.Q, v.K, at, first, n,
                     -1);
        }
        snapshot_close(snapshot);
    }
    return true;
}

static void print(const Line *line, const Tokenizer *tokenizer, const char *name)
{
    columns_put(stdout, name, NAME_WIDTH, false);
    for (int k = 0; k < line->count; k++) {
        columns_put(stdout, tokenizer_label(tokenizer, line->best[k].id), WORD_WIDTH, false);
        printf("%6.2f ", line->best[k].value);
    }
    putchar('\n');
}

bool neighbours_print(const Bundle *bundle, const char *word, Error *error)
{
    const ModelConfig *c = &bundle->model.config;
    const char *similar = "";
    bool good = true, found = false;
    for (int side = SOURCE; good && side < SIDES; side++) {
        const Tokenizer *tokenizer = bundle->vocabulary.tokenizer[side];
        int end = tokenizer_vocab_size(tokenizer) - 1, id = find(tokenizer, end, word);
        similar = tokenizer_label(tokenizer, id);
        if (strcmp(similar, word) != 0) continue;
        found = true;
        Line *line = calloc((size_t)c->heads + 1, sizeof *line);
        if (!line) return error_memory(error, "for %d heads", c->heads);
        good = compare(line, bundle, (CorpusSide)side, end, id, error);
        for (int k = side == TARGET && c->tying == TYING_ALL; good && k <= c->heads; k++) {
            char name[NAME_WIDTH + 16];
            if (k) snprintf(name, sizeof name, "%s 1.%d", attention_kind_names[side], k);
            else snprintf(name, sizeof name, "%s cosine", side == SOURCE ? "source" : "target");
            print(&line[k], tokenizer, name);
        }
        free(line);
    }
    return good &&
           (found ||
            error_set(error, "'%s' is no token of this model, but '%s' is", word, similar)) &&
           stream_flush(stdout, "the neighbours", error);
}
