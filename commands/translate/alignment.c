/* alignment.c -- given translations aligned; see alignment.h. */
#include "commands/translate/alignment.h"

#include "base/file.h"

#include <math.h>
#include <stdlib.h>

/* All ways to read attention as an alignment: at each step those of each layer, its heads, their
 * mean and norm, and the mean and norm of all layers. */
typedef struct AlignWays {
    AlignError *counts;  // [2 a_step]
    int layers, heads;   // heads: with mean and norm
    int a_step;
    long long pairs;  // that were compared
} AlignWays;

typedef struct LinePair {
    IdLines source, target;  // one line each
    bool too_long;
} LinePair;

static bool read_gold(const Alignment *a, Links *right, const LinePair *pair, Error *error)
{
    const char *line;
    size_t length;
    char where[300];
    if (!pairs_line(a->gold, &line, &length, error)) return false;
    snprintf(where, sizeof where, "%.250s:%zu", a->gold->name, a->gold->line);
    return links_read(right, line, where, pair->source.words, pair->target.words, error);
}

/* ---- comparing ---- */

static AlignBy way(const AlignWays *ways, int k)
{
    AlignStep step = k < ways->a_step ? STEP_WRITES : STEP_READS;
    int layer = k % ways->a_step / ways->heads, head = k % ways->a_step % ways->heads;
    if (layer == ways->layers)
        return (AlignBy){ALIGN_LAYERS, head ? ALIGN_NORM : ALIGN_MEAN, step};
    return (AlignBy){layer,
                     head == ways->heads - 2   ? ALIGN_MEAN
                     : head == ways->heads - 1 ? ALIGN_NORM
                                               : head,
                     step};
}

static bool compare_all(Alignment *a, AlignWays *ways, const Snapshot *snapshot,
                        const LinePair *pair, const Links *gold, Error *error)
{
    ways->pairs++;
    for (int k = 0; k < 2 * ways->a_step; k++) {
        a->aligner->by = way(ways, k);
        if (!aligner_link(a->aligner, snapshot, pair->source.word, pair->target.word, error))
            return false;
        align_compare(&ways->counts[k], &a->aligner->links, gold);
    }
    return true;
}

static void find_best(Alignment *a, const AlignWays *ways)
{
    a->best_aer = a->best_head_aer = INFINITY;
    for (int k = 0; k < 2 * ways->a_step; k++) {
        AlignBy by = way(ways, k);
        double aer = align_error(&ways->counts[k]);
        if (aer < a->best_aer) a->best = by, a->best_aer = aer;
        if (by.head >= 0 && aer < a->best_head_aer) a->best_head = by, a->best_head_aer = aer;
    }
}

static void print_step(const Alignment *a, const AlignWays *ways, AlignStep step)
{
    static const char *const titles[] = {[STEP_WRITES] = "at the step that writes the word",
                                         [STEP_READS] = "at the step that has read the word"};
    int first = (int)step * ways->a_step;
    fprintf(a->out, "\n%s\n         ", titles[step]);
    for (int h = 0; h < ways->heads - 2; h++) fprintf(a->out, " head %-4d", h + 1);
    fputs("   mean      norm\n", a->out);
    for (int l = 0; l < ways->layers; l++) {
        fprintf(a->out, "layer %-2d ", l + 1);
        for (int h = 0; h < ways->heads; h++)
            fprintf(a->out, "  %.4f%s", align_error(&ways->counts[first + l * ways->heads + h]),
                    h + 1 < ways->heads ? "  " : "\n");
    }
    fprintf(a->out, "all      %*s  %.4f    %.4f\n", 10 * (ways->heads - 2), "",
            align_error(&ways->counts[first + ways->layers * ways->heads]),
            align_error(&ways->counts[first + ways->layers * ways->heads + 1]));
}

static void print_best(const Alignment *a, const char *what, AlignBy by,
                       const AlignError *counts)
{
    char layer[16], name[16];
    fprintf(a->out,
            "%-10s %s%s, %s%s, the step that %s: AER %.4f, precision %.4f, recall %.4f\n", what,
            by.layer >= 0 ? "layer " : "all layers",
            by.layer >= 0 ? align_layer_name(layer, by.layer) : "", by.head >= 0 ? "head " : "",
            align_head_name(name, by.head), by.step == STEP_READS ? "reads" : "writes",
            align_error(counts), align_precision(counts), align_recall(counts));
}

static bool same(AlignBy a, AlignBy b)
{
    return a.layer == b.layer && a.head == b.head && a.step == b.step;
}

static void print_table(const Alignment *a, const AlignWays *ways)
{
    fprintf(a->out, "Alignment error rate of %lld pairs with %lld sure links\n", ways->pairs,
            ways->counts[0].sure);
    print_step(a, ways, STEP_WRITES);
    print_step(a, ways, STEP_READS);
    fputc('\n', a->out);
    for (int k = 0; k < 2 * ways->a_step; k++)
        if (same(way(ways, k), a->best)) print_best(a, "best", a->best, &ways->counts[k]);
    for (int k = 0; k < 2 * ways->a_step; k++)
        if (same(way(ways, k), a->best_head))
            print_best(a, "best head", a->best_head, &ways->counts[k]);
}

/* ---- the run ---- */

static bool align_one(Alignment *a, LinePair *pair, AlignWays *ways, const Choice *choice,
                      Error *error)
{
    const Bundle *bundle = a->aligner->bundle;
    Links gold = {0};
    a->aligner->links.count = 0;
    bool good = !a->gold || read_gold(a, &gold, pair, error);
    if (good && !pair->too_long) {
        Snapshot *snapshot =
            snapshot_open(&bundle->model, pair->source.ids.id, pair->source.start[1],
                          pair->target.ids.id, pair->target.start[1], error);
        good = snapshot &&
               (!a->table || table_add(a->table, snapshot, &bundle->vocabulary, choice,
                                       a->pairs.input->lines, error)) &&
               (a->gold ? compare_all(a, ways, snapshot, pair, &gold, error)
                        : aligner_link(a->aligner, snapshot, pair->source.word,
                                       pair->target.word, error));
        snapshot_close(snapshot);
    }
    if (good && !a->gold) {
        links_print(a->out, &a->aligner->links);
        fputc('\n', a->out);
        if (!input_ready(a->pairs.input)) fflush(a->out);
    }
    links_free(&gold);
    return good;
}

static bool align_all(Alignment *a, LinePair *pair, AlignWays *ways, const Choice *choice,
                      const volatile sig_atomic_t *stop, Error *error)
{
    const char *line;
    size_t length;
    TextResult result = TEXT_END;
    while (!*stop &&
           (result = input_next(a->pairs.input, &line, &length, error)) == TEXT_LINE) {
        idlines_clear(&pair->source);
        idlines_clear(&pair->target);
        if (!pairs_add(&a->pairs, &pair->source, &pair->target, &pair->too_long, line, length,
                       error) ||
            !align_one(a, pair, ways, choice, error))
            return false;
    }
    if (result == TEXT_ERROR) return false;
    return *stop || (pairs_end(&a->pairs, a->pairs.target, error) &&
                     pairs_end(&a->pairs, a->gold, error));
}

bool alignment_run(Alignment *a, const Choice *choice, const volatile sig_atomic_t *stop,
                   Error *error)
{
    const ModelConfig *model = &a->aligner->bundle->model.config;
    AlignWays ways = {.layers = model->decoder_layers, .heads = model->heads + 2};
    ways.a_step = ways.layers * ways.heads + 2;
    LinePair pair = {.source.find_words = true, .target.find_words = true};
    ways.counts = calloc((size_t)2 * (size_t)ways.a_step, sizeof *ways.counts);
    bool good = ways.counts ? align_all(a, &pair, &ways, choice, stop, error)
                            : error_set(error, "not enough memory to align");
    if (good && a->gold) {
        find_best(a, &ways);
        print_table(a, &ways);
    }
    good = good && stream_flush(a->out, "the alignments", error);
    idlines_free(&pair.source);
    idlines_free(&pair.target);
    free(ways.counts);
    return good;
}
