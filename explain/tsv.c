/* tsv.c -- attention weights as a table; see tsv.h. */
#include "explain/tsv.h"

#include "explain/labels.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool table_open(AttentionTable *table, const char *path, Error *error)
{
    FILE *out = strcmp(path, "-") ? fopen(path, "w") : fdopen(dup(STDOUT_FILENO), "w");
    *table = (AttentionTable){out, path};
    if (!table->out) return error_set(error, "cannot write '%s': %s", path, strerror(errno));
    fputs("sentence\tkind\tlayer\thead\trow\trow_token\tcolumn\tcolumn_token\tweight\n",
          table->out);
    return true;
}

/* What a map of the table is of. */
typedef struct TableMap {
    const Snapshot *snapshot;
    const Vocabulary *vocabulary;
    long long sentence;
    AttentionKind kind;
    int layer, head;  // CHOICE_MEAN: the mean of the layer's heads
} TableMap;

static const char *piece(const TableMap *map, TokenSide side, int place)
{
    return tokenizer_piece(labels_tokenizer(map->vocabulary, side),
                           labels_id(map->snapshot, side, place));
}

/* weight [rows,columns] scratch */
static void write_map(FILE *out, const TableMap *map, float *weight)
{
    TokenSide row = labels_rows(map->kind), column = labels_columns(map->kind);
    int rows = labels_tokens(map->snapshot, row),
        columns = labels_tokens(map->snapshot, column);
    char head[16] = "mean";
    snapshot_weights(weight, map->snapshot, map->kind, map->layer, map->head);
    if (map->head != CHOICE_MEAN) snprintf(head, sizeof head, "%d", map->head + 1);
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < (map->kind == ATTENTION_DECODER ? i + 1 : columns); j++)
            fprintf(out, "%lld\t%s\t%d\t%s\t%d\t%s\t%d\t%s\t%.6f\n", map->sentence,
                    attention_kind_names[map->kind], map->layer + 1, head, i + 1,
                    piece(map, row, i), j + 1, piece(map, column, j),
                    (double)weight[i * columns + j]);
}

/* The chosen maps of a kind. */
static void write_kind(FILE *out, TableMap map, float *weight, const Choice *choice)
{
    for (map.layer = 0; map.layer < snapshot_layers(map.snapshot, map.kind); map.layer++) {
        if (choice->layer >= 0 && choice->layer != map.layer) continue;
        map.head = CHOICE_MEAN;
        if (choice->head == CHOICE_MEAN) write_map(out, &map, weight);
        else
            for (map.head = 0; map.head < map.snapshot->model->config.heads; map.head++)
                if (choice->head < 0 || choice->head == map.head) write_map(out, &map, weight);
    }
}

bool table_add(AttentionTable *table, const Snapshot *snapshot, const Vocabulary *vocabulary,
               const Choice *choice, long long sentence, Error *error)
{
    size_t n = (size_t)snapshot->source.rows, m = (size_t)snapshot->target.rows,
           most = n > m ? n : m;
    float *weight = malloc(most * most * sizeof *weight);
    if (!weight) return error_memory(error, "to write '%s'", table->path);
    for (AttentionKind kind = ATTENTION_ENCODER; kind <= ATTENTION_CROSS; kind++)
        if (choice->all_kinds || choice->kind == kind)
            write_kind(table->out, (TableMap){snapshot, vocabulary, sentence, kind, 0, 0},
                       weight, choice);
    free(weight);
    return !ferror(table->out) ||
           error_set(error, "cannot write '%s': %s", table->path, strerror(errno));
}

bool table_close(AttentionTable *table, Error *error)
{
    if (!table->out) return true;
    bool failed = ferror(table->out);
    failed = fclose(table->out) != 0 || failed;
    if (failed) error_set(error, "cannot write '%s': %s", table->path, strerror(errno));
    *table = (AttentionTable){0};
    return !failed;
}
