/* tsv.c -- attention as a table; see tsv.h. */
#include "explain/tsv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool table_open(AttentionTable *table, const char *path, Error *error)
{
    *table = (AttentionTable){fopen(path, "w"), path};
    if (!table->out) return error_set(error, "cannot write '%s': %s", path, strerror(errno));
    fputs("sentence\tkind\tlayer\thead\trow\trow_token\tcolumn\tcolumn_token\tweight\n",
          table->out);
    return true;
}

/* A page of the table: one map of one sentence. */
typedef struct Page {
    const Vocabulary *vocabulary;
    const int *source, *target;
    long long sentence;
    AttentionKind kind;
    int layer, head;  // CHOICE_MEAN: their mean
    int rows, columns, pad;
} Page;

static const char *row_name(const Page *p, int i)
{
    return p->kind == ATTENTION_ENCODER
               ? tokenizer_piece(p->vocabulary->tokenizer[SOURCE], p->source[i])
               : tokenizer_piece(p->vocabulary->tokenizer[TARGET], p->target[i]);
}

static const char *column_name(const Page *p, int j)
{
    return p->kind == ATTENTION_DECODER
               ? tokenizer_piece(p->vocabulary->tokenizer[TARGET],
                                 j ? p->target[j - 1] : p->pad)
               : tokenizer_piece(p->vocabulary->tokenizer[SOURCE], p->source[j]);
}

static void write_page(FILE *out, const Page *p, const float *weight)
{
    char head[16];
    if (p->head == CHOICE_MEAN) strcpy(head, "mean");
    else snprintf(head, sizeof head, "%d", p->head + 1);
    for (int i = 0; i < p->rows; i++)
        for (int j = 0; j < (p->kind == ATTENTION_DECODER ? i + 1 : p->columns); j++)
            fprintf(out, "%lld\t%s\t%d\t%s\t%d\t%s\t%d\t%s\t%.6f\n", p->sentence,
                    choice_kind_name(p->kind), p->layer + 1, head, i + 1, row_name(p, i), j + 1,
                    column_name(p, j), (double)weight[i * p->columns + j]);
}

static bool add_kind(AttentionTable *table, const Snapshot *snapshot, Page page,
                     const Choice *choice, Error *error)
{
    AttentionMap first = snapshot_map(snapshot, page.kind, 0, 0);
    float *weight = malloc((size_t)first.rows * (size_t)first.columns * sizeof *weight);
    if (!weight) return error_set(error, "not enough memory to write '%s'", table->path);
    page.rows = first.rows;
    page.columns = first.columns;
    for (page.layer = 0; page.layer < snapshot_layers(snapshot, page.kind); page.layer++) {
        if (choice->layer >= 0 && choice->layer != page.layer) continue;
        if (choice->head == CHOICE_MEAN) {
            page.head = CHOICE_MEAN;
            snapshot_mean(weight, snapshot, page.kind, page.layer);
            write_page(table->out, &page, weight);
            continue;
        }
        for (page.head = 0; page.head < snapshot_heads(snapshot); page.head++) {
            if (choice->head >= 0 && choice->head != page.head) continue;
            snapshot_head(weight, snapshot, page.kind, page.layer, page.head);
            write_page(table->out, &page, weight);
        }
    }
    free(weight);
    return !ferror(table->out) ||
           error_set(error, "cannot write '%s': %s", table->path, strerror(errno));
}

bool table_add(AttentionTable *table, const Snapshot *snapshot, const Vocabulary *vocabulary,
               const ModelConfig *model, const Choice *choice, long long sentence,
               const int *source, const int *target, Error *error)
{
    static const AttentionKind kinds[] = {ATTENTION_ENCODER, ATTENTION_DECODER,
                                          ATTENTION_CROSS};
    Page page = {.vocabulary = vocabulary,
                 .source = source,
                 .target = target,
                 .sentence = sentence,
                 .pad = model->vocab - 1};
    bool good = true;
    for (int k = 0; k < 3 && good; k++) {
        if (!choice->all_kinds && choice->kind != kinds[k]) continue;
        page.kind = kinds[k];
        good = add_kind(table, snapshot, page, choice, error);
    }
    return good;
}

bool table_close(AttentionTable *table, Error *error)
{
    if (!table->out) return true;
    bool good = !ferror(table->out);
    good = fclose(table->out) == 0 && good;
    if (!good) error_set(error, "cannot write '%s': %s", table->path, strerror(errno));
    *table = (AttentionTable){0};
    return good;
}
