/* headreport.c -- --head-report: tables of what the heads do; see headreport.h. */
#include "commands/translate/headreport.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/columns.h"
#include "base/file.h"
#include "base/json.h"
#include "base/utf8.h"
#include "commands/command.h"

enum { TYPICAL = 3, WORDS_WIDTH = 22, LINE_WIDTH = 95, INDENT = 7 };

/* found [TYPICAL] (=) the pairs of the largest mean weight in head k; returns their number. */
static int find_typical(const HeadPair *found[TYPICAL], Heads *heads, AttentionKind kind, int k,
                        int least)
{
    int n = 0;
    heads_sort(heads, kind, k);
    for (int i = 0; i < heads->pairs[kind] && n < TYPICAL; i++)
        if (heads->pair[kind][i]->count >= least) found[n++] = heads->pair[kind][i];
    return n;
}

static void print_name(const Heads *heads, AttentionKind kind, int k)
{
    if (k == heads->count[kind]) printf("uniform");
    else printf("%2d.%-4d", k / heads->heads + 1, k % heads->heads + 1);
}

static void print_kind(Heads *heads, AttentionKind kind, int least)
{
    const Head *head = heads->head[kind];
    bool aligned = !isnan(align_error(&head->aligned));
    const char *end = kind == ATTENTION_DECODER ? "<pad>" : "</s>";
    printf("\n%s\nhead   ", choice_kind_titles[kind]);
    for (int m = 0; m < HEAD_MEASURES; m++)
        printf("%10s", m == HEAD_END ? end : head_measures[m]);
    puts(aligned ? "       AER" : "");
    for (int k = 0; k <= heads->count[kind]; k++, head++) {
        print_name(heads, kind, k);
        for (int m = 0; m < HEAD_MEASURES; m++)
            if (head->rows[m]) printf("%10.3f", head_mean(head, (HeadMeasure)m));
            else printf("%10s", "-");
        if (aligned && k < heads->count[kind]) printf("%10.3f", align_error(&head->aligned));
        else if (aligned) printf("%10s", "-");
        putchar('\n');
    }
    printf("\ntypical pairs, query → key, that met %d times or more; where the first met\n",
           least);
    for (int k = 0; k < heads->count[kind]; k++) {
        const HeadPair *found[TYPICAL];
        int n = find_typical(found, heads, kind, k, least);
        print_name(heads, kind, k);
        for (int i = 0; i < n; i++) {
            columns_put(stdout, found[i]->words, WORDS_WIDTH, false);
            printf(" %.2f%s", found[i]->weight[k] / (double)found[i]->count,
                   i + 1 < n ? "  " : "\n");
        }
        if (n) columns_wrap(stdout, found[0]->example, INDENT, INDENT, LINE_WIDTH);
        else puts("none");
    }
}

static void print_json(Heads *heads, AttentionKind kind, int k, int least)
{
    const Head *head = &heads->head[kind][k];
    const HeadPair *found[TYPICAL];
    int n = find_typical(found, heads, kind, k, least);
    JsonWriter json = {.out = stdout};
    json_open(&json, NULL);
    json_put_text(&json, "kind", attention_kind_names[kind]);
    json_put_integer(&json, "layer", k / heads->heads + 1);
    json_put_integer(&json, "head", k % heads->heads + 1);
    for (int m = 0; m < HEAD_MEASURES; m++)
        json_put_real(&json, head_measures[m], head_mean(head, (HeadMeasure)m));
    json_put_real(&json, "aer", align_error(&head->aligned));
    json_open_array(&json, "pairs");
    for (int i = 0; i < n; i++) {
        json_open(&json, NULL);
        json_put_text(&json, "words", found[i]->words);
        json_put_real(&json, "weight", found[i]->weight[k] / (double)found[i]->count);
        json_put_integer(&json, "count", found[i]->count);
        json_put_text(&json, "example", found[i]->example);
        json_close(&json);
    }
    json_close_array(&json);
    json_close(&json);
    putchar('\n');
}

/* ---- from one word to another ---- */

typedef struct Rank {
    double weight;
    char name[80];
} Rank;

static int compare(const void *a, const void *b)
{
    double p = ((const Rank *)a)->weight, q = ((const Rank *)b)->weight;
    return p > q ? -1 : p < q;
}

static bool print_ranks(const Heads *heads, const char *from, const char *to, Error *error)
{
    int H = heads->heads, n = 0, total = heads->count[0] + heads->count[1] + heads->count[2];
    const HeadPair *pair;
    Rank *rank = calloc((size_t)total, sizeof *rank);
    if (!rank) return error_set(error, "not enough memory to rank %d heads", total);
    for (int kind = 0; kind < HEAD_KINDS; kind++)
        if ((pair = heads_find(heads, (AttentionKind)kind, from, to)))
            for (int k = 0; k < heads->count[kind]; k++, n++) {
                rank[n].weight = pair->weight[k] / (double)pair->count;
                snprintf(rank[n].name, sizeof rank[n].name, "%-7s layer %d head %d  ×%lld",
                         attention_kind_names[kind], k / H + 1, k % H + 1, pair->count);
            }
    qsort(rank, (size_t)n, sizeof *rank, compare);
    for (int i = 0; i < n; i++) printf("%.4f  %s\n", rank[i].weight, rank[i].name);
    free(rank);
    return n || error_set(error, "'%s' and '%s' are in no sentence pair together", from, to);
}

/* ---- the report ---- */

typedef struct Drawing {
    const char *path;
    const Heads *heads;
    const PictureConfig *config;
} Drawing;

static bool draw(const void *context, Error *error)
{
    const Drawing *d = context;
    return heads_draw(d->path, d->heads, d->config, error);
}

bool headreport_print(Heads *heads, const Request *r, FILE *news, Error *error)
{
    if (!heads->sentences) return error_set(error, "there is no sentence to report on");
    if (r->from && !print_ranks(heads, r->from, r->to, error)) return false;
    if (!r->from && !r->json) printf("%lld sentence pairs\n", heads->sentences);
    for (int kind = 0; kind < HEAD_KINDS && !r->from; kind++)
        if (!r->json) print_kind(heads, (AttentionKind)kind, r->pair_count);
        else
            for (int k = 0; k < heads->count[kind]; k++)
                print_json(heads, (AttentionKind)kind, k, r->pair_count);
    for (int i = 0; i < r->attention.count; i++) {
        const Drawing d = {r->attention.item[i], heads, &r->picture};
        if (!command_draw(draw, &d, d.path, error)) return false;
        if (news) utf8_print(news, "%s: drew %s\n", command_name(), d.path);
    }
    return stream_flush(stdout, "the report", error);
}
