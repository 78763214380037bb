/* alignment.c -- aligns given translations; see alignment.h. */
#include "commands/translate/alignment.h"

#include "base/file.h"
#include "commands/command.h"

#include <math.h>
#include <stdlib.h>

/* All ways to read attention as an alignment: every layer's heads, their mean and their norm; then
 * the mean and the norm of all layers. */
typedef struct AlignWays {
    AlignError *counts;  // [count]
    int layers, heads;   // heads: with mean and norm
    int count;
    long long pairs;  // that were compared
} AlignWays;

typedef struct Alignment {
    const Pairs *pairs;
    View *view;
    TextReader *gold;        // or NULL
    IdLines source, target;  // of the pair, with the words of its tokens
    AlignWays ways;
} Alignment;

/* ---- comparing ---- */

static AlignBy way(const AlignWays *ways, int k)
{
    int layer = k / ways->heads, head = k % ways->heads;
    AlignBy by = {layer, head};
    if (layer == ways->layers)
        by.layer = ALIGN_LAYERS, by.head = head ? ALIGN_NORM : ALIGN_MEAN;
    else if (head >= ways->heads - 2)
        by.head = head == ways->heads - 2 ? ALIGN_MEAN : ALIGN_NORM;
    return by;
}

static bool link_pair(Alignment *a, const Snapshot *snapshot, Error *error)
{
    return aligner_link(&a->view->aligner, snapshot, a->source.word, a->target.word, error);
}

static bool compare_all(Alignment *a, const Snapshot *snapshot, const Links *gold, Error *error)
{
    a->ways.pairs++;
    for (int k = 0; k < a->ways.count; k++) {
        a->view->aligner.by = way(&a->ways, k);
        if (!link_pair(a, snapshot, error)) return false;
        align_compare(&a->ways.counts[k], &a->view->aligner.links, gold);
    }
    return true;
}

/* The way of the lowest alignment error rate: of all, or of single heads. */
static int find_best(const AlignWays *ways, bool single)
{
    int best = 0;
    double least = INFINITY;
    for (int k = 0; k < ways->count; k++) {
        double aer = align_error(&ways->counts[k]);
        if (aer < least && (!single || way(ways, k).head >= 0)) least = aer, best = k;
    }
    return best;
}

static void print_ways(const AlignWays *ways)
{
    const AlignError *counts = ways->counts;
    printf("\n         ");
    for (int h = 0; h < ways->heads - 2; h++) printf(" head %-4d", h + 1);
    puts("   mean      norm");
    for (int l = 0; l < ways->layers; l++) {
        printf("layer %-2d ", l + 1);
        for (int h = 0; h < ways->heads; h++)
            printf("  %.4f%s", align_error(counts++), h + 1 < ways->heads ? "  " : "\n");
    }
    printf("all      %*s  %.4f    %.4f\n", 10 * (ways->heads - 2), "", align_error(&counts[0]),
           align_error(&counts[1]));
}

static void print_best(const AlignWays *ways, const char *what, int k)
{
    char layer[16], name[16];
    AlignBy by = way(ways, k);
    printf("%-10s %s%s, %s%s: AER %.4f, precision %.4f, recall %.4f\n", what,
           by.layer >= 0 ? "layer " : "all layers",
           by.layer >= 0 ? align_name(layer, by.layer) : "", by.head >= 0 ? "head " : "",
           align_name(name, by.head), align_error(&ways->counts[k]),
           align_precision(&ways->counts[k]), align_recall(&ways->counts[k]));
}

/* ---- the run ---- */

/* A line without possible links is an error if it is the first; after it, *snapshot becomes NULL. */
static bool read_gold(const Alignment *a, Links *gold, const Snapshot **snapshot, Error *error)
{
    const char *line;
    size_t length;
    char where[300];
    if (!partner_next(a->gold, &line, &length, "sources", error)) return false;
    snprintf(where, sizeof where, "%.250s:%zu", a->gold->name, a->gold->line);
    bool good = links_read(gold, line, where, a->source.words, a->target.words, error);
    if (good || a->gold->line == 1) return good;
    fprintf(stderr, "%s: %s: left out\n", command_name(), error->text);
    *snapshot = NULL;
    return true;
}

/* Adds the pair to the report of heads, compares it with gold links, or aligns it. snapshot: of the
 * pair; NULL if it is left out */
static bool align_one(Alignment *a, const Snapshot *snapshot, Error *error)
{
    Links gold = {0}, *links = &a->view->aligner.links;
    links->count = 0;
    bool good = !a->gold || read_gold(a, &gold, &snapshot, error);
    bool heads = a->view->request->head_report;
    if (good && snapshot)
        good = heads
                   ? heads_add(&a->view->heads, snapshot, &a->pairs->bundle->vocabulary, error)
               : a->gold ? compare_all(a, snapshot, &gold, error)
                         : link_pair(a, snapshot, error);
    if (good && !a->gold && !heads) {
        links_print(stdout, links);
        putchar('\n');
        if (!input_ready(a->pairs->input)) fflush(stdout);
    }
    links_free(&gold);
    return good;
}

static bool align_all(Alignment *a, Error *error)
{
    const Pairs *p = a->pairs;
    const IdLines *source = &a->source, *target = &a->target;
    TextResult result = TEXT_END;
    const char *line;
    size_t length;
    while (!*p->stop && (result = input_next(p->input, &line, &length, error)) == TEXT_LINE) {
        bool left_out;
        idlines_clear(&a->source);
        idlines_clear(&a->target);
        if (!pairs_add(p, &a->source, &a->target, &left_out, line, length, error)) return false;
        Snapshot *snapshot =
            left_out ? NULL
                     : snapshot_open(&p->bundle->model, source->ids.id, source->start[1],
                                     target->ids.id, target->start[1], error);
        bool good = (snapshot || left_out) && align_one(a, snapshot, error);
        snapshot_close(snapshot);
        if (!good) return false;
    }
    return result != TEXT_ERROR &&
           (*p->stop || (partner_end(p->target, p->input->lines, "sources", error) &&
                         partner_end(a->gold, p->input->lines, "sources", error)));
}

static bool report(const Alignment *a, Error *error)
{
    const AlignWays *ways = &a->ways;
    printf("Alignment error rate of %lld pairs with %lld sure links\n", ways->pairs,
           ways->counts[0].sure);
    print_ways(ways);
    putchar('\n');
    print_best(ways, "best", find_best(ways, false));
    print_best(ways, "best head", find_best(ways, true));
    return stream_flush(stdout, "the alignments", error);
}

bool alignment_run(const Pairs *pairs, View *view, Error *error)
{
    const ModelConfig *model = &pairs->bundle->model.config;
    const char *path = view->request->gold;
    TextReader gold = {.descriptor = -1};
    Alignment a = {.pairs = pairs,
                   .view = view,
                   .gold = path ? &gold : NULL,
                   .source = {.find_words = true, .find_unknown = true},
                   .target = {.find_words = true, .find_unknown = true},
                   .ways = {.layers = model->decoder_layers, .heads = model->heads + 2}};
    a.ways.count = a.ways.layers * a.ways.heads + 2;
    a.ways.counts = calloc((size_t)a.ways.count, sizeof *a.ways.counts);
    bool good = (a.ways.counts || error_memory(error, "to align")) &&
                (!path || text_open(&gold, path, error)) && align_all(&a, error) &&
                (path ? report(&a, error) : stream_flush(stdout, "the alignments", error));
    text_close(&gold);
    idlines_free(&a.source);
    idlines_free(&a.target);
    free(a.ways.counts);
    return good;
}
