/* heads.c -- what each attention head does, over many sentence pairs; see heads.h. */
#include "explain/heads.h"

#include <math.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const head_measures[HEAD_MEASURES] = {"entropy", "of_max", "diagonal", "previous",
                                                  "next",    "end",    "same"};

bool heads_create(Heads *heads, const ModelConfig *config, Error *error)
{
    bool good = (heads->table = calloc(HEAD_KINDS, sizeof *heads->table)) != NULL;
    heads->heads = config->heads;
    for (int k = 0; good && k < HEAD_KINDS; k++) {
        int layers = k == ATTENTION_ENCODER ? config->encoder_layers : config->decoder_layers;
        heads->count[k] = layers * config->heads;
        heads->head[k] = calloc((size_t)heads->count[k] + 1, sizeof *heads->head[k]);
        heads->pair[k] = calloc(HEAD_PAIRS, sizeof(HeadPair *));
        good = heads->head[k] && heads->pair[k] && hcreate_r(HEAD_PAIRS, &heads->table[k]);
    }
    return good || error_set(error, "not enough memory to report on heads");
}

void heads_free(Heads *heads)
{
    for (int k = 0; k < HEAD_KINDS; k++) {
        for (int i = 0; i < heads->pairs[k]; i++)
            free(heads->pair[k][i]->example), free(heads->pair[k][i]);
        free(heads->pair[k]);
        free(heads->head[k]);
        if (heads->table) hdestroy_r(&heads->table[k]);
    }
    free(heads->table);
    *heads = (Heads){0};
}

/* ---- measures ---- */

void head_measure(Head *head, const Map *map, const Map *uniform, AttentionKind kind,
                  const Labels *rows, const Labels *columns)
{
    bool cross = kind == ATTENTION_CROSS;
    for (int i = 0; i < map->rows; i++) {
        if (rows->special[i]) continue;
        double part[HEAD_MEASURES] = {0};
        bool has[HEAD_MEASURES] = {true, true};
        const char *own = cross ? rows->text[i] : columns->text[i];
        int keys = 0;
        for (int j = 0; j < map->columns; j++) {
            if (uniform->at[i * map->columns + j] <= 0) continue;
            double p = (double)map->at[i * map->columns + j];
            bool end = columns->special[j];
            const bool is[HEAD_MEASURES] = {
                [HEAD_DIAGONAL] = j == i && !end,
                [HEAD_PREVIOUS] = j == i - 1 && !end,
                [HEAD_NEXT] = j == i + 1 && !end && kind != ATTENTION_DECODER,
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

double head_mean(const Head *head, HeadMeasure measure)
{
    long long rows = head->rows[measure];
    return rows ? fmax(head->sum[measure] / (double)rows, 0) : (double)NAN;
}

/* ---- pairs of words ---- */

HeadPair *heads_find(const Heads *heads, AttentionKind kind, const char *from, const char *to)
{
    char words[sizeof(HeadPair){0}.words];
    ENTRY *found;
    snprintf(words, sizeof words, "%s → %s", from, to);
    return hsearch_r((ENTRY){words, NULL}, FIND, &found, &heads->table[kind]) ? found->data
                                                                              : NULL;
}

/* *out (=) the pair, new if it has not occurred; NULL if there are HEAD_PAIRS others. */
static bool meet(Heads *heads, HeadPair **out, AttentionKind kind, const char *from,
                 const char *to, const char *example, Error *error)
{
    ENTRY *found;
    HeadPair *pair = *out = heads_find(heads, kind, from, to);
    if (pair) return ++pair->count;
    if (heads->pairs[kind] == HEAD_PAIRS) return true;
    pair = calloc(1, sizeof *pair + (size_t)heads->count[kind] * sizeof(double));
    if (!pair || !(pair->example = strdup(example)))
        return free(pair), error_set(error, "not enough memory for pairs of words");
    snprintf(pair->words, sizeof pair->words, "%s → %s", from, to);
    pair->count = 1;
    hsearch_r((ENTRY){pair->words, pair}, ENTER, &found, &heads->table[kind]);
    *out = heads->pair[kind][heads->pairs[kind]++] = pair;
    return true;
}

static int compare(const void *a, const void *b, void *head)
{
    const HeadPair *x = *(HeadPair *const *)a, *y = *(HeadPair *const *)b;
    double p = x->weight[*(int *)head] / (double)x->count,
           q = y->weight[*(int *)head] / (double)y->count;
    return p > q ? -1 : p < q ? 1 : strcmp(x->words, y->words);
}

void heads_sort(Heads *heads, AttentionKind kind, int head)
{
    qsort_r(heads->pair[kind], (size_t)heads->pairs[kind], sizeof(HeadPair *), compare, &head);
}

/* ---- a sentence pair ---- */

/* uniform (=) the map of equal weights   pair [rows,columns] (=) */
static bool begin_kind(Heads *heads, Map *uniform, HeadPair **pair, AttentionKind kind,
                       const Labels *rows, const Labels *columns, const char *example,
                       Error *error)
{
    for (int i = 0, m = uniform->columns; i < uniform->rows; i++)
        for (int j = 0, keys = kind == ATTENTION_DECODER ? i + 1 : m; j < m; j++)
            uniform->at[i * m + j] = j < keys ? 1 / (float)keys : 0;
    map_join(uniform, rows->word, columns->word);
    for (int i = 0, m = uniform->columns; i < uniform->rows; i++)
        for (int j = 0; j < m; j++)
            if (!rows->special[i] && !columns->special[j] && uniform->at[i * m + j] > 0 &&
                !meet(heads, &pair[i * m + j], kind, rows->text[i], columns->text[j], example,
                      error))
                return false;
    return true;
}

static bool add_kind(Heads *heads, const Snapshot *snapshot, AttentionKind kind,
                     const Labels *labels, const char *example, Error *error)
{
    const Labels *rows = &labels[labels_rows(kind)], *columns = &labels[labels_columns(kind)];
    Map uniform = {0}, map = {0};
    Head *head = heads->head[kind];
    bool good = map_heads(&uniform, snapshot, kind, 0, &(int){0}, 1, false, error);
    HeadPair **pair = calloc((size_t)uniform.rows * (size_t)uniform.columns + 1, sizeof *pair);
    good = good && (pair || error_set(error, "not enough memory for pairs of words")) &&
           begin_kind(heads, &uniform, pair, kind, rows, columns, example, error);
    for (int k = 0; good && k < heads->count[kind]; k++, head++) {
        good = map_heads(&map, snapshot, kind, k / heads->heads, &(int){k % heads->heads}, 1,
                         false, error);
        if (good) map_join(&map, rows->word, columns->word);
        if (good) head_measure(head, &map, &uniform, kind, rows, columns);
        for (int c = 0; c < map.rows * map.columns; c++)
            if (pair[c]) pair[c]->weight[k] += (double)map.at[c];
        map_free(&map);
    }
    if (good) head_measure(head, &uniform, &uniform, kind, rows, columns);
    free(pair);
    map_free(&uniform);
    return good;
}

bool heads_add(Heads *heads, const Snapshot *snapshot, const Vocabulary *vocabulary,
               Error *error)
{
    Labels labels[TOKEN_SIDES] = {0};
    bool good = true;
    for (int side = 0; good && side < TOKEN_SIDES; side++)
        good = labels_make(&labels[side], snapshot, vocabulary, (TokenSide)side, LABELS_WORDS,
                           error);
    char *source = good ? labels_sentence(snapshot, vocabulary, SOURCE, error) : NULL;
    char *target = source ? labels_sentence(snapshot, vocabulary, TARGET, error) : NULL;
    char *both = NULL;
    if (target && asprintf(&both, "%s → %s", source, target) < 0)
        both = NULL, error_set(error, "not enough memory for pairs of words");
    good = both != NULL;
    for (int k = 0; good && k < HEAD_KINDS; k++)
        good = add_kind(heads, snapshot, (AttentionKind)k, labels, both, error);
    heads->sentences += good;
    for (int side = 0; side < TOKEN_SIDES; side++) labels_free(&labels[side]);
    free(source), free(target), free(both);
    return good;
}

/* ---- the picture ---- */

/* weight [HEAD_MEASURES,columns] (=) shares, and 1 - AER; 0 where a measure does not apply. */
static void fill(float *weight, char (*name)[24], int columns, const Heads *heads)
{
    for (int k = 0; k < HEAD_KINDS; k++)
        for (int i = 0; i <= heads->count[k]; i++, name++, weight++) {
            const Head *head = &heads->head[k][i];
            int layer = i / heads->heads + 1, h = i % heads->heads + 1;
            if (i == heads->count[k]) snprintf(*name, sizeof *name, "uniform");
            else snprintf(*name, sizeof *name, "%s %d.%d", attention_kind_names[k], layer, h);
            for (int m = HEAD_OF_MAX; m < HEAD_MEASURES; m++)
                weight[(m - 1) * columns] = (float)fmax(head_mean(head, (HeadMeasure)m), 0);
            weight[(HEAD_MEASURES - 1) * columns] =
                (float)fmax(1 - align_error(&head->aligned), 0);
        }
}

static bool draw(const char *path, const HeatMap *map, const PictureConfig *config,
                 Error *error)
{
    const HeatMapSection section = {.large = map};
    const AttentionPage page = {
        .title = "What the heads do",
        .subtitle = "Means over the words of the input, by layer and head. No number: below "
                    ".005, or the measure does not apply. </s>: in the decoder <pad>",
        .sections = &section,
        .count = 1,
        .measure = "share"};
    return picture_page(path, page, config, NULL, 0, error);
}

bool heads_draw(const char *path, const Heads *heads, const PictureConfig *config, Error *error)
{
    static const char *const rows[HEAD_MEASURES] = {
        "entropy/max", "diagonal", "previous", "next", "</s>", "same word", "1 - AER"};
    int columns = heads->count[0] + heads->count[1] + heads->count[2] + HEAD_KINDS;
    const char **label = calloc((size_t)columns, sizeof *label);
    char(*name)[24] = calloc((size_t)columns, sizeof *name);
    float *weight = calloc((size_t)columns * HEAD_MEASURES, sizeof *weight);
    bool good =
        (name && label && weight) || error_set(error, "not enough memory to draw heads");
    bool aligned = !isnan(align_error(&heads->head[ATTENTION_CROSS]->aligned));
    if (good) fill(weight, name, columns, heads);
    for (int i = 0; good && i < columns; i++) label[i] = name[i];
    HeatMap map = {weight, HEAD_MEASURES - !aligned, columns, rows, label, .title = NULL};
    good = good && draw(path, &map, config, error);
    free(name), free(label), free(weight);
    return good;
}
