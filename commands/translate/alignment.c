/* alignment.c -- aligns words; see alignment.h. */
#include "commands/translate/alignment.h"

#include "base/file.h"
#include "base/textstream.h"

/* ---- one pair ---- */

bool alignment_choose(AlignBy *by, bool guided, const Choice *choice, int layers, Error *error)
{
    bool known = choice->known_layer >= 0, best = choice->head == CHOICE_BEST;
    *by = known && (guided || best) ? (AlignBy){choice->known_layer, choice->known_head}
                                    : (AlignBy){ALIGN_LAYERS, ALIGN_NORM};
    if (best && !known)
        return error_set(error,
                         "the model does not record which head aligns best, as models that are "
                         "trained now do: name one, or leave out `head`");
    if (choice->head <= CHOICE_MAX)
        return error_set(error, "`align` takes one head or the mean, not `head` %s",
                         choice_head_name(choice->head));
    if (choice->layer >= 0) by->layer = choice->layer;
    if (choice->head >= 0) by->head = choice->head;
    if (choice->head == CHOICE_MEAN) by->head = ALIGN_MEAN;
    if (by->head >= 0 && by->layer == ALIGN_LAYERS) by->layer = layers - 1;
    return true;
}

bool alignment_link(Links *links, AlignUnit unit, AlignBy by, const Snapshot *snapshot,
                    const int *source_word, const int *target_word, Error *error)
{
    int n = snapshot->source.rows - 1, m = snapshot->target.rows - 1, most = m > n ? m : n;
    links->count = 0;
    if (m < 1 || n < 1) return true;
    float *share = align_shares(snapshot, by.layer, by.head, error);
    if (!share) return false;
    int *token = malloc(((size_t)most + 1) * sizeof *token);
    for (int t = 0; token && t <= most; t++) token[t] = t;
    bool words = unit == ALIGN_WORDS;
    bool good =
        (token || error_memory(error, "to align %d words", m)) &&
        align_links(links, share, m, n, words ? target_word : token,
                    words ? source_word : token, error) &&
        (unit != ALIGN_CHARACTERS || links_spread(links, source_word, target_word, error));
    free(token);
    free(share);
    return good;
}

void links_print(FILE *out, const Links *links)
{
    for (int k = 0; k < links->count; k++)
        fprintf(out, "%s%d-%d", k ? " " : "", links->link[k].source, links->link[k].target);
}

void links_put(JsonWriter *json, int unit, const Links *links)
{
    TextStream stream;
    FILE *out = textstream_open(&stream);
    if (out) links_print(out, links);
    char *text = textstream_close(&stream);
    json_put_text(json, "unit", align_unit_names[unit]);
    json_put_text(json, "alignment", text);
    free(text);
    json_open_array(json, "links");
    for (int k = 0; k < links->count; k++) {
        const Link *link = &links->link[k];
        json_open(json, NULL);
        json_put_integer(json, "source", link->source);
        json_put_integer(json, "target", link->target);
        json_put_digits(json, "score", link->score, 4);
        json_close(json);
    }
    json_close(json);
}

/* ---- given translations ---- */

/* A way to read attention as an alignment, and what it found. */
typedef struct AlignWay {
    AlignBy by;
    AlignError counts;
} AlignWay;

typedef struct Alignment {
    Input *input;
    const Bundle *bundle;
    const Request *request;
    AlignBy by;
    Heads *heads;            // or NULL
    IdLines source, target;  // of the pair, with the words of its tokens
    Links links, gold;       // of the pair
    AlignWay *way;  // [ways] each layer's heads, mean and norm; all layers' mean and norm
    int ways;
    long long compared;  // pairs
} Alignment;

static bool link_pair(Alignment *a, AlignBy by, const Snapshot *snapshot, Error *error)
{
    return alignment_link(&a->links, (AlignUnit)a->request->align_unit, by, snapshot,
                          a->source.word, a->target.word, error);
}

/* Prints a row for each layer and one for all layers, which have no heads. */
static void print_table(const Alignment *a, int heads)
{
    printf("\n         ");
    for (int h = 0; h < heads; h++) printf(" head %-4d", h + 1);
    puts("   mean      norm");
    for (const AlignWay *way = a->way; way < a->way + a->ways; way++) {
        if (way->by.head == 0) printf("layer %-2d ", way->by.layer + 1);
        if (way->by.layer == ALIGN_LAYERS && way->by.head == ALIGN_MEAN)
            printf("all      %*s", 10 * heads, "");
        printf("  %.4f%s", align_error(&way->counts), way->by.head == ALIGN_NORM ? "\n" : "  ");
    }
    putchar('\n');
}

/* Prints the way of the lowest alignment error rate: of all, or of single heads. */
static void print_best(const Alignment *a, const char *what, bool single)
{
    const AlignWay *best = a->way;
    double least = INFINITY;
    for (const AlignWay *way = a->way; way < a->way + a->ways; way++) {
        double aer = align_error(&way->counts);
        if (aer < least && (!single || way->by.head >= 0)) least = aer, best = way;
    }
    if (best->by.layer >= 0) printf("%-10s layer %d, ", what, best->by.layer + 1);
    else printf("%-10s all layers, ", what);
    if (best->by.head >= 0) printf("head %d", best->by.head + 1);
    else printf(best->by.head == ALIGN_MEAN ? "mean" : "norm");
    printf(": AER %.4f, precision %.4f, recall %.4f\n", align_error(&best->counts),
           align_precision(&best->counts), align_recall(&best->counts));
}

static bool report(const Alignment *a, Error *error)
{
    if (!a->compared) return error_set(error, "there is no pair to compare with `gold` links");
    printf("Alignment error rate of %lld pairs with %lld sure links\n", a->compared,
           a->way->counts.sure);
    print_table(a, a->bundle->model.config.heads);
    print_best(a, "best", false);
    print_best(a, "best head", true);
    return stream_flush(stdout, "the alignments", error);
}

static void print_links(const Alignment *a)
{
    JsonWriter json = {.out = stdout, .lines = true};
    if (!a->request->json) {
        links_print(stdout, &a->links);
        putchar('\n');
        return;
    }
    json_open(&json, NULL);
    json_put_integer(&json, "line", a->input->lines);
    links_put(&json, a->request->align_unit, &a->links);
    json_close(&json);
}

/* Compares what each way finds with the gold links of the pair. */
static bool compare_pair(Alignment *a, const Snapshot *snapshot, Error *error)
{
    bool tokens = a->request->align_unit == ALIGN_TOKENS, left_out;
    int sources = tokens ? a->source.start[1] - 1 : a->source.words,
        targets = tokens ? a->target.start[1] - 1 : a->target.words;
    if (!input_next_gold(a->input, &a->gold, &left_out, sources, targets, error)) return false;
    if (!snapshot || left_out) return true;
    a->compared++;
    for (AlignWay *way = a->way; way < a->way + a->ways; way++) {
        if (!link_pair(a, way->by, snapshot, error)) return false;
        align_compare(&way->counts, &a->links, &a->gold);
    }
    return true;
}

/* Adds the pair to the report of heads, compares it with gold links, or prints its links. snapshot: of
 * the pair; NULL if it is left out */
static bool align_one(Alignment *a, const Snapshot *snapshot, Error *error)
{
    if (a->request->gold) return compare_pair(a, snapshot, error);
    if (a->heads)
        return !snapshot || heads_add(a->heads, snapshot, &a->bundle->vocabulary, error);
    a->links.count = 0;
    if (snapshot && !link_pair(a, a->by, snapshot, error)) return false;
    print_links(a);
    if (!input_ready(a->input)) fflush(stdout);
    return true;
}

static bool align_all(Alignment *a, Error *error)
{
    IdLines *source = &a->source, *target = &a->target;
    TextResult result = TEXT_END;
    bool left_out;
    while (!file_stop && (result = input_next_pair(a->input, a->bundle, source, target,
                                                   &left_out, error)) == TEXT_LINE) {
        Snapshot *snapshot =
            left_out ? NULL
                     : snapshot_open(&a->bundle->model, source->ids.id, source->start[1],
                                     target->ids.id, target->start[1], error);
        bool good = (snapshot || left_out) && align_one(a, snapshot, error);
        snapshot_close(snapshot);
        if (!good) return false;
        idlines_clear(source);
        idlines_clear(target);
    }
    return result != TEXT_ERROR && (file_stop || input_end_pairs(a->input, error));
}

static bool list_ways(Alignment *a, int layers, int heads, Error *error)
{
    a->way = calloc((size_t)((layers + 1) * (heads + 2)), sizeof *a->way);
    if (!a->way) return error_memory(error, "to align");
    for (int l = 0; l <= layers; l++) {
        int layer = l < layers ? l : ALIGN_LAYERS;
        for (int h = 0; l < layers && h < heads; h++)
            a->way[a->ways++].by = (AlignBy){layer, h};
        a->way[a->ways++].by = (AlignBy){layer, ALIGN_MEAN};
        a->way[a->ways++].by = (AlignBy){layer, ALIGN_NORM};
    }
    return true;
}

bool alignment_run(Input *input, const Bundle *bundle, AlignBy by, const Request *request,
                   Heads *heads, Error *error)
{
    const ModelConfig *model = &bundle->model.config;
    const IdLines lines = {.find_words = true,
                           .characters = request->align_unit == ALIGN_CHARACTERS,
                           .find_unknown = true};
    Alignment a = {.input = input,
                   .bundle = bundle,
                   .request = request,
                   .by = by,
                   .heads = heads,
                   .source = lines,
                   .target = lines};
    bool good =
        list_ways(&a, model->decoder_layers, model->heads, error) && align_all(&a, error) &&
        (request->gold ? report(&a, error) : stream_flush(stdout, "the alignments", error));
    links_free(&a.links);
    links_free(&a.gold);
    idlines_free(&a.source);
    idlines_free(&a.target);
    free(a.way);
    return good;
}
