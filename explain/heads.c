/* heads.c -- what each attention head does, over many sentence pairs; see heads.h. */
#include "explain/heads.h"

#include <strings.h>

#include "base/best.h"
#include "base/columns.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/utf8.h"

enum { HASH = 17 };

/* A word of a row and one of a column. Its key is the kind's number, a hash of the words, which may
 * be long, and the beginning of "de → the". */
typedef struct HeadPair {
    AttentionKind kind;
    char key[HASH + 120];
    char *example;  // the first sentence pair with both
    long long count;
    double weight[];  // of each head of the kind, summed
} HeadPair;

static const char *const names[] = {"entropy", "of_max", "diagonal", "previous",
                                    "next",    "end",    "same"};

bool heads_create(Heads *heads, const ModelConfig *config, Error *error)
{
    int H = config->heads, L = config->decoder_layers;
    const int layers[HEAD_KINDS] = {config->encoder_layers, L, L};
    Head *head = calloc((size_t)((layers[0] + 2 * L) * H + HEAD_KINDS), sizeof *head);
    heads->kind[0] = head;
    heads->pair = calloc(HEAD_PAIRS, sizeof(HeadPair *));
    if (!head || !heads->pair || !hcreate_r(2 * HEAD_PAIRS, &heads->table))
        return error_memory(error, "to report on heads");
    for (int kind = 0; kind < HEAD_KINDS; heads->kind[++kind] = head)
        for (int k = 0; k <= layers[kind] * H; k++)
            *head++ = (Head){.kind = (AttentionKind)kind,
                             .layer = k < layers[kind] * H ? k / H : 0,
                             .number = k < layers[kind] * H ? k % H : -1};
    return true;
}

void heads_free(Heads *heads)
{
    for (int i = 0; i < heads->pairs; i++) {
        free(heads->pair[i]->example);
        free(heads->pair[i]);
    }
    free(heads->pair);
    free(heads->kind[0]);
    hdestroy_r(&heads->table);
}

/* ---- measures ---- */

/* Adds one map of words to head->kind. equal: the map of equal weights, 0 where there is no key. */
static void measure(Head *head, const Map *map, const Map *equal, const Labels *rows,
                    const Labels *columns)
{
    bool cross = head->kind == ATTENTION_CROSS;
    for (int i = 0; i < map->rows; i++) {
        if (rows->special[i]) continue;
        double part[HEAD_MEASURES] = {0};
        bool has[HEAD_MEASURES] = {true, true};
        const char *own = cross ? rows->text[i] : columns->text[i];
        int keys = 0;
        for (int j = 0; j < map->columns; j++) {
            if (equal->at[i * map->columns + j] <= 0) continue;
            double p = (double)map->at[i * map->columns + j];
            bool end = columns->special[j];
            const bool is[HEAD_MEASURES] = {
                [HEAD_DIAGONAL] = j == i && !end,
                [HEAD_PREVIOUS] = j == i - 1 && !end,
                [HEAD_NEXT] = j == i + 1 && !end && head->kind != ATTENTION_DECODER,
                [HEAD_END] = end,
                [HEAD_SAME] = !end && (cross || j != i) && !strcmp(columns->text[j], own)};
            for (int k = HEAD_DIAGONAL; k < HEAD_MEASURES; k++)
                if (is[k]) part[k] += p, has[k] = true;
            if (p > 0) part[HEAD_ENTROPY] -= p * log2(p);
            keys++;
        }
        if (keys < 2) continue;
        part[HEAD_OF_MAX] = part[HEAD_ENTROPY] / log2(keys);
        for (int k = 0; k < HEAD_MEASURES; k++)
            if (has[k]) head->sum[k] += part[k], head->rows[k]++;
    }
}

/* NaN if the measure applies to no row. */
static double mean(const Head *head, int m)
{
    return head->rows[m] ? fmax(head->sum[m] / (double)head->rows[m], 0) : (double)NAN;
}

/* ---- a sentence pair ---- */

/* The pair of two words; new if there is an example and no lack of memory. NULL: it is not known. */
static HeadPair *find_pair(Heads *heads, AttentionKind kind, const char *from, const char *to,
                           const char *example)
{
    size_t count = (size_t)(heads->kind[kind + 1] - heads->kind[kind]), whole;
    char key[sizeof(HeadPair){0}.key];
    ENTRY *found;
    HeadPair *pair;
    uint64_t hash = hash_bytes(HASH_START, from, strlen(from) + 1);
    snprintf(key, sizeof key, "%d%016" PRIx64 "%s → %s", (int)kind,
             hash_bytes(hash, to, strlen(to)), from, to);
    if (!utf8_is_valid(key, strlen(key), &whole)) key[whole] = 0;
    if (hsearch_r((ENTRY){key, NULL}, FIND, &found, &heads->table)) return found->data;
    if (!example || !(pair = calloc(1, sizeof *pair + count * sizeof *pair->weight)))
        return NULL;
    heads->pair[heads->pairs++] = pair;
    pair->kind = kind;
    strcpy(pair->key, key);
    hsearch_r((ENTRY){pair->key, pair}, ENTER, &found, &heads->table);
    return (pair->example = strdup(example)) ? pair : NULL;
}

/* *map (=) the map of words of a head, or of equal weights. */
static bool make_map(Map *map, const Snapshot *snapshot, const Head *head, const Labels *rows,
                     const Labels *columns, Error *error)
{
    if (!map_head(map, snapshot, head->kind, head->layer, head->number, error)) return false;
    for (int i = 0, m = map->columns; head->number < 0 && i < map->rows; i++)
        for (int j = 0, keys = head->kind == ATTENTION_DECODER ? i + 1 : m; j < m; j++)
            map->at[i * m + j] = j < keys ? 1 / (float)keys : 0;
    map_join(map, rows->word, columns->word);
    return true;
}

static bool add_kind(Heads *heads, const Snapshot *snapshot, AttentionKind kind,
                     const Labels *rows, const Labels *columns, const char *example,
                     Error *error)
{
    Head *first = heads->kind[kind], *last = heads->kind[kind + 1] - 1;
    size_t cells = (size_t)rows->count * (size_t)columns->count;
    Map equal = {0}, map;
    HeadPair **pair = calloc(cells, sizeof(HeadPair *));
    bool good = make_map(&equal, snapshot, last, rows, columns, error) &&
                (pair || error_memory(error, "for pairs of words"));
    for (size_t c = 0; good && c < cells; c++) {
        int i = (int)c / columns->count, j = (int)c % columns->count;
        if (rows->special[i] || columns->special[j] || equal.at[c] <= 0) continue;
        bool full = heads->pairs == HEAD_PAIRS;
        pair[c] =
            find_pair(heads, kind, rows->text[i], columns->text[j], full ? NULL : example);
        good = pair[c] || full || error_memory(error, "for pairs of words");
        if (pair[c]) pair[c]->count++;
    }
    for (Head *head = first; good && head <= last; head++) {
        good = make_map(&map, snapshot, head, rows, columns, error);
        if (good) measure(head, &map, &equal, rows, columns);
        for (size_t c = 0; good && c < cells; c++)
            if (pair[c]) pair[c]->weight[head - first] += (double)map.at[c];
        map_free(&map);
    }
    free(pair);
    map_free(&equal);
    return good;
}

bool heads_add(Heads *heads, const Snapshot *snapshot, const Vocabulary *vocabulary,
               Error *error)
{
    Labels labels[TOKEN_SIDES];
    char *both = NULL;
    bool good = labels_make(labels, snapshot, vocabulary, LABELS_WORDS, error);
    if (good && asprintf(&both, "%s → %s", labels[TOKENS_SOURCE].sentence,
                         labels[TOKENS_TARGET].sentence) < 0)
        both = NULL, good = error_memory(error, "for pairs of words");
    for (AttentionKind k = ATTENTION_ENCODER; good && k <= ATTENTION_CROSS; k++)
        good = add_kind(heads, snapshot, k, &labels[labels_rows(k)], &labels[labels_columns(k)],
                        both, error);
    heads->sentences += good;
    labels_free(labels);
    free(both);
    return good;
}

/* ---- the report ---- */

enum { TYPICAL = 3, WORDS_WIDTH = 22, LINE_WIDTH = 95, INDENT = 7 };

static double pair_mean(const Heads *heads, const HeadPair *pair, const Head *head)
{
    return pair->weight[head - heads->kind[head->kind]] / (double)pair->count;
}

static int by_key(const void *a, const void *b)
{
    return strcmp((*(HeadPair *const *)a)->key + HASH, (*(HeadPair *const *)b)->key + HASH);
}

/* best [TYPICAL] (=) the pairs of the largest mean weight in a head; returns their number. */
static int find_typical(Best *best, const Heads *heads, const Head *head, int least)
{
    int count = 0;
    for (int i = 0; i < heads->pairs; i++) {
        const HeadPair *pair = heads->pair[i];
        if (pair->kind == head->kind && pair->count >= least)
            best_add(best, &count, TYPICAL, i, pair_mean(heads, pair, head));
    }
    return count;
}

static void print_name(FILE *out, const Head *head)
{
    if (head->number < 0) fprintf(out, "uniform");
    else fprintf(out, "%2d.%-4d", head->layer + 1, head->number + 1);
}

static void print_typical(FILE *out, const Heads *heads, const Head *head, int least)
{
    Best best[TYPICAL];
    int count = find_typical(best, heads, head, least);
    print_name(out, head);
    for (int i = 0; i < count; i++) {
        columns_put(out, heads->pair[best[i].id]->key + HASH, WORDS_WIDTH, false);
        fprintf(out, " %.2f%s", best[i].value, i + 1 < count ? "  " : "\n");
    }
    if (count) columns_wrap(out, heads->pair[best[0].id]->example, INDENT, INDENT, LINE_WIDTH);
    else fputs("none\n", out);
}

static void print_kind(FILE *out, const Heads *heads, AttentionKind kind, int least)
{
    const Head *first = heads->kind[kind], *last = heads->kind[kind + 1] - 1;
    fprintf(out, "\n%s\nhead   ", choice_kind_titles[kind]);
    for (int m = 0; m < HEAD_MEASURES; m++)
        fprintf(out, "%10s",
                m != HEAD_END               ? names[m]
                : kind == ATTENTION_DECODER ? "<pad>"
                                            : "</s>");
    for (const Head *head = first; head <= last; head++) {
        fputc('\n', out);
        print_name(out, head);
        for (int m = 0; m < HEAD_MEASURES; m++)
            if (head->rows[m]) fprintf(out, "%10.3f", mean(head, m));
            else fprintf(out, "%10s", "-");
    }
    fprintf(out,
            "\n\ntypical pairs, query → key, that met %d times or more; where the first met\n",
            least);
    for (const Head *head = first; head < last; head++) print_typical(out, heads, head, least);
}

static void print_json(FILE *out, const Heads *heads, const Head *head, int least)
{
    Best best[TYPICAL];
    JsonWriter json = {.out = out, .lines = true};
    json_open(&json, NULL);
    json_put_text(&json, "kind", attention_kind_names[head->kind]);
    json_put_integer(&json, "layer", head->layer + 1);
    json_put_integer(&json, "head", head->number + 1);
    for (int m = 0; m < HEAD_MEASURES; m++) json_put_real(&json, names[m], mean(head, m));
    json_open_array(&json, "pairs");
    for (int i = 0, count = find_typical(best, heads, head, least); i < count; i++) {
        const HeadPair *pair = heads->pair[best[i].id];
        json_open(&json, NULL);
        json_put_text(&json, "words", pair->key + HASH);
        json_put_real(&json, "weight", best[i].value);
        json_put_integer(&json, "count", pair->count);
        json_put_text(&json, "example", pair->example);
        json_close(&json);
    }
    json_close(&json);
    json_close(&json);
}

void heads_print(FILE *out, const Heads *heads, int least, bool json)
{
    qsort(heads->pair, (size_t)heads->pairs, sizeof(HeadPair *), by_key);
    if (!json) fprintf(out, "%lld sentence pairs\n", heads->sentences);
    for (AttentionKind k = ATTENTION_ENCODER; k <= ATTENTION_CROSS; k++)
        if (!json) print_kind(out, heads, k, least);
        else
            for (const Head *head = heads->kind[k]; head->number >= 0; head++)
                print_json(out, heads, head, least);
}

/* The shortest "jane → yesterday." whose words begin with these; NULL: none do. */
static const char *nearest_pair(const Heads *heads, const char *from, const char *to)
{
    const char *nearest = NULL;
    for (int i = 0; i < heads->pairs; i++) {
        const char *words = heads->pair[i]->key + HASH, *arrow = strstr(words, " → ");
        if (arrow && !strncasecmp(words, from, strlen(from)) &&
            !strncasecmp(arrow + strlen(" → "), to, strlen(to)) &&
            (!nearest || strlen(words) < strlen(nearest)))
            nearest = words;
    }
    return nearest;
}

bool heads_rank(FILE *out, Heads *heads, const char *from, const char *to, Error *error)
{
    const Head *all = heads->kind[0];
    int total = (int)(heads->kind[HEAD_KINDS] - all), count = 0;
    const HeadPair *pair[HEAD_KINDS];
    Best *best = calloc((size_t)total, sizeof *best);
    if (!best) return error_memory(error, "to rank %d heads", total);
    for (int k = 0; k < HEAD_KINDS; k++)
        pair[k] = find_pair(heads, (AttentionKind)k, from, to, NULL);
    for (int i = 0; i < total; i++)
        if (pair[all[i].kind] && all[i].number >= 0)
            best_add(best, &count, total, i, pair_mean(heads, pair[all[i].kind], &all[i]));
    for (int i = 0; i < count; i++) {
        const Head *head = &all[best[i].id];
        fprintf(out, "%.4f  %-7s layer %d head %d  ×%lld\n", best[i].value,
                attention_kind_names[head->kind], head->layer + 1, head->number + 1,
                pair[head->kind]->count);
    }
    free(best);
    if (count) return true;
    const char *near = nearest_pair(heads, from, to);
    return error_set(error, "'%s' and '%s' are in no sentence pair together%s%s", from, to,
                     near ? ", but these are: " : "", near ? near : "");
}
