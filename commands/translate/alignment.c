/* alignment.c -- aligns given translations; see alignment.h. */
#include "commands/translate/alignment.h"

#include "base/file.h"

#include <math.h>
#include <stdlib.h>

/* All ways to read attention as an alignment. At each step: every layer's heads, their mean and their
 * norm; then the mean and the norm of all layers. */
typedef struct AlignWays {
    AlignError *counts;  // [2 a_step]
    int layers, heads;   // heads: with mean and norm
    int a_step;
    long long pairs;      // that were compared
    int best, best_head;  // the lowest alignment error rate: of all; of single heads
} AlignWays;

typedef struct LinePair {
    IdLines source, target;  // one line each
    bool too_long;
} LinePair;

/* ---- comparing ---- */

static AlignBy way(const AlignWays *ways, int k)
{
    int layer = k % ways->a_step / ways->heads, head = k % ways->a_step % ways->heads;
    AlignBy by = {layer, head, k < ways->a_step ? STEP_WRITES : STEP_READS,
                  align_error(&ways->counts[k])};
    if (layer == ways->layers)
        by.layer = ALIGN_LAYERS, by.head = head ? ALIGN_NORM : ALIGN_MEAN;
    else if (head >= ways->heads - 2)
        by.head = head == ways->heads - 2 ? ALIGN_MEAN : ALIGN_NORM;
    return by;
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

static SavedAlignment find_best(AlignWays *ways)
{
    AlignBy none = {.aer = INFINITY};
    SavedAlignment found = {true, none, none};
    for (int k = 0; k < 2 * ways->a_step; k++) {
        AlignBy by = way(ways, k);
        if (by.aer < found.best.aer) found.best = by, ways->best = k;
        if (by.head >= 0 && by.aer < found.best_head.aer)
            found.best_head = by, ways->best_head = k;
    }
    return found;
}

static void print_step(FILE *out, const AlignWays *ways, AlignStep step)
{
    static const char *const titles[] = {[STEP_WRITES] = "at the step that writes the word",
                                         [STEP_READS] = "at the step that has read the word"};
    const AlignError *counts = ways->counts + (int)step * ways->a_step;
    fprintf(out, "\n%s\n         ", titles[step]);
    for (int h = 0; h < ways->heads - 2; h++) fprintf(out, " head %-4d", h + 1);
    fputs("   mean      norm\n", out);
    for (int l = 0; l < ways->layers; l++) {
        fprintf(out, "layer %-2d ", l + 1);
        for (int h = 0; h < ways->heads; h++)
            fprintf(out, "  %.4f%s", align_error(counts++), h + 1 < ways->heads ? "  " : "\n");
    }
    fprintf(out, "all      %*s  %.4f    %.4f\n", 10 * (ways->heads - 2), "",
            align_error(&counts[0]), align_error(&counts[1]));
}

static void print_best(FILE *out, const AlignWays *ways, const char *what, int k)
{
    char layer[16], name[16];
    AlignBy by = way(ways, k);
    fprintf(out, "%-10s %s%s, %s%s, the step that %s: AER %.4f, precision %.4f, recall %.4f\n",
            what, by.layer >= 0 ? "layer " : "all layers",
            by.layer >= 0 ? align_layer_name(layer, by.layer) : "", by.head >= 0 ? "head " : "",
            align_head_name(name, by.head), by.step == STEP_READS ? "reads" : "writes", by.aer,
            align_precision(&ways->counts[k]), align_recall(&ways->counts[k]));
}

static void print_table(FILE *out, const AlignWays *ways)
{
    fprintf(out, "Alignment error rate of %lld pairs with %lld sure links\n", ways->pairs,
            ways->counts[0].sure);
    print_step(out, ways, STEP_WRITES);
    print_step(out, ways, STEP_READS);
    fputc('\n', out);
    print_best(out, ways, "best", ways->best);
    print_best(out, ways, "best head", ways->best_head);
}

/* ---- the run ---- */

static bool read_gold(const Alignment *a, Links *gold, const LinePair *pair, Error *error)
{
    const char *line;
    size_t length;
    char where[300];
    if (!pairs_line(a->gold, &line, &length, error)) return false;
    snprintf(where, sizeof where, "%.250s:%zu", a->gold->name, a->gold->line);
    return links_read(gold, line, where, pair->source.words, pair->target.words, error);
}

static bool align_one(Alignment *a, LinePair *pair, AlignWays *ways, Error *error)
{
    const Bundle *bundle = a->bundle;
    Links gold = {0};
    a->aligner->links.count = 0;
    bool good = !a->gold || read_gold(a, &gold, pair, error);
    if (good && !pair->too_long) {
        Snapshot *snapshot =
            snapshot_open(&bundle->model, pair->source.ids.id, pair->source.start[1],
                          pair->target.ids.id, pair->target.start[1], error);
        good = snapshot &&
               (!a->table || table_add(a->table, snapshot, &bundle->vocabulary, a->choice,
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

static bool align_all(Alignment *a, LinePair *pair, AlignWays *ways,
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
            !align_one(a, pair, ways, error))
            return false;
    }
    return result != TEXT_ERROR && (*stop || (pairs_end(&a->pairs, a->pairs.target, error) &&
                                              pairs_end(&a->pairs, a->gold, error)));
}

bool alignment_run(Alignment *a, const volatile sig_atomic_t *stop, Error *error)
{
    const ModelConfig *model = &a->bundle->model.config;
    AlignWays ways = {.layers = model->decoder_layers, .heads = model->heads + 2};
    ways.a_step = ways.layers * ways.heads + 2;
    ways.counts = calloc((size_t)2 * (size_t)ways.a_step, sizeof *ways.counts);
    if (!ways.counts) return error_set(error, "not enough memory to align");
    LinePair pair = {.source.find_words = true, .target.find_words = true};
    bool good = align_all(a, &pair, &ways, stop, error);
    if (good && a->gold) {
        a->best = find_best(&ways);
        print_table(a->out, &ways);
    }
    good = good && stream_flush(a->out, "the alignments", error);
    idlines_free(&pair.source);
    idlines_free(&pair.target);
    free(ways.counts);
    return good;
}
