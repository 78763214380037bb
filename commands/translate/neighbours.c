/* neighbours.c -- --neighbours; see neighbours.h. */
#include "commands/translate/neighbours.h"

#include "base/best.h"
#include "base/columns.h"
#include "base/file.h"
#include "commands/command.h"
#include "data/text.h"
#include "inference/snapshot.h"

enum { BEST = 5, CHUNK = 100, NAME_WIDTH = 16, WORD_WIDTH = 9, TEXT_LINES = 100000 };

/* A line of the output: the tokens nearest to the word. */
typedef struct Line {
    Best best[BEST];
    int count;
} Line;

/* stands [V] (+=) the tokens of the first lines of a file. False: it cannot be read. */
static bool mark_tokens(bool *stands, const Tokenizer *tokenizer, const char *path)
{
    TextReader text;
    Ids ids = {0};
    const char *line;
    size_t length;
    Error error;
    if (!text_open(&text, path, &error)) return false;
    for (int n = 0; n < TEXT_LINES && text_next(&text, &line, &length, &error) == TEXT_LINE;
         n++) {
        ids.count = 0;
        tokenizer_encode(tokenizer, &ids, line, length, &error);
        for (size_t k = 0; k < ids.count; k++) stands[ids.id[k]] = true;
    }
    free(ids.id);
    text_close(&text);
    return true;
}

/* stands [V] (=) whether a token stands on this side of the training text, whose files the
 * checkpoint names; all of them if a file is not there. */
static void find_tokens(bool *stands, const Bundle *bundle, CorpusSide side, FILE *news)
{
    static const char *const names[SIDES] = {"train_source", "train_target"};
    const Tokenizer *tokenizer = bundle->vocabulary.tokenizer[side];
    const json_t *files = bundle_option(bundle, "data", names[side]);
    const char *name = NULL;
    char shipped[PATH_MAX];
    bool good = json_array_size(files) > 0;
    for (size_t i = 0; good && i < json_array_size(files); i++) {
        name = json_string_value(json_array_get(files, i));
        bool toy = name && !strncmp(name, "data/toy/", 9) &&
                   file_of_toy(shipped, sizeof shipped, name + 9);
        good = name && mark_tokens(stands, tokenizer, toy ? shipped : name);
    }
    if (!good)
        command_say(news, "the training text (%.200s) is not here: all tokens are compared",
                    name ? name : "none");
    for (int id = 0; !good && id < tokenizer_vocab_size(tokenizer); id++) stands[id] = true;
}

/* Whether a token is text, not a placeholder or a byte. */
static bool is_text(const Tokenizer *tokenizer, int id)
{
    int placeholder = tokenizer_placeholder(tokenizer);
    return tokenizer_byte(tokenizer, id) < 0 &&
           (!placeholder || id < placeholder || id >= placeholder + PLACEHOLDERS);
}

/* line [1+H] (=) by the embeddings, of all text but the word, and by the keys of each head, of
 * what stands there. The word and some tokens form a "sentence": without positions, the
 * queries and keys of the first layer depend on their own token only. */
static bool compare(Line *line, const Bundle *bundle, CorpusSide side, const bool *stands,
                    int end, int word, Error *error)
{
    Transformer plain = bundle->model;
    const ModelConfig *c = &plain.config;
    bool source = side == SOURCE;
    AttentionKind kind = source ? ATTENTION_ENCODER : ATTENTION_DECODER;
    int id[CHUNK + 2] = {word}, none = ID_END, at = !source;  // the decoder's first is <pad>
    plain.weights.source_positions = plain.weights.target_positions = NULL;
    plain.config.max_length = CHUNK + 2;
    for (int first = ID_UNKNOWN + 1, n = 0; first < end; first += n) {
        for (n = 0; n < CHUNK && first + n < end; n++) id[n + 1] = first + n;
        id[n + 1] = ID_END;
        Snapshot *snapshot = source ? snapshot_open(&plain, id, n + 2, &none, 1, error)
                                    : snapshot_open(&plain, &none, 1, id, n + 2, error);
        if (!snapshot) return false;
        SnapshotRows E = snapshot_embedded(snapshot, source);
        for (int k = 0; k <= c->heads; k++) {
            HeadVectors v = {.Q = E, .K = E, .scale = 1};
            if (k > 0) v = snapshot_vectors(snapshot, kind, 0, k - 1);
            int score = k ? c->attention_score : SCORE_COSINE;
            const real *q = v.Q.at + at * v.Q.stride, *key = v.K.at + at * v.K.stride;
            for (int i = 1; i <= n; i++)
                if (is_text(bundle->vocabulary.tokenizer[side], id[i]) &&
                    (k ? stands[id[i]] : id[i] != word))
                    best_add(line[k].best, &line[k].count, BEST, id[i],
                             v.scale * (double)score_functions[score].compare(
                                           q, key + i * v.K.stride, v.Q.columns));
        }
        snapshot_close(snapshot);
    }
    return true;
}

static void print(const Line *line, const Tokenizer *tokenizer, const char *name)
{
    columns_put(stdout, name, NAME_WIDTH, false);
    for (int k = 0; k < line->count; k++) {
        columns_put(stdout, tokenizer_shown(tokenizer, line->best[k].id), WORD_WIDTH, false);
        printf("%6.2f ", line->best[k].value);
    }
    putchar('\n');
}

bool neighbours_print(const Bundle *bundle, const char *word, FILE *news, Error *error)
{
    const ModelConfig *c = &bundle->model.config;
    bool good = true, found = false;
    for (int side = SOURCE; good && side < SIDES; side++) {
        const Tokenizer *tokenizer = bundle->vocabulary.tokenizer[side];
        int end = tokenizer_vocab_size(tokenizer) - 1, id = ID_UNKNOWN + 1;
        while (id < end && strcmp(tokenizer_shown(tokenizer, id), word)) id++;
        for (int i = ID_UNKNOWN + 1; id == end && i < end; i++)
            if (!strcmp(tokenizer_piece(tokenizer, i), word))
                id = i;  // "her" for "·her", "▁her"
        if (id == end) continue;
        found = true;
        Line *line = calloc((size_t)c->heads + 1, sizeof *line);
        bool *stands = calloc((size_t)end + 1, sizeof *stands);
        good = (line && stands) || error_memory(error, "for %d heads", c->heads);
        if (good) find_tokens(stands, bundle, (CorpusSide)side, news);
        good = good && compare(line, bundle, (CorpusSide)side, stands, end, id, error);
        for (int k = side == TARGET && c->tying == TYING_ALL; good && k <= c->heads; k++) {
            char name[NAME_WIDTH + 16];
            if (k && !stands[id]) break;
            if (k) snprintf(name, sizeof name, "%s 1.%d", attention_kind_names[side], k);
            else snprintf(name, sizeof name, "%s cosine", side == SOURCE ? "source" : "target");
            print(&line[k], tokenizer, name);
        }
        free(line);
        free(stands);
    }
    return good &&
           (found ||
            error_set(error, "'%s' is no token of this model: see --list-vocabulary", word)) &&
           stream_flush(stdout, "the neighbours", error);
}
