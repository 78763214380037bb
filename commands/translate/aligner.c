/* aligner.c -- links of words without a model; see alignment.h. */
#include "commands/translate/alignment.h"

#include "base/file.h"
#include "base/grow.h"
#include "base/json.h"
#include "commands/command.h"
#include "data/words.h"
#include "training/guide.h"

/* MOST: words of a sentence. Of the test set of data/toy after its training text, AER is 0.118 after 2
 * rounds, 0.103 after 5, 0.102 after 8; without LEAST, the share that a link needs, it is 0.104. */
enum { ROUNDS = 5, MOST = 1000 };
static const real LEAST = (real)0.3;

/* One side of all pairs. */
typedef struct Text {
    json_t *number;  // of each word
    Ids id;          // of the words, and 0 after the last of a sentence
    size_t *end;     // [pairs] of each sentence
    size_t size;
} Text;

typedef struct Aligner {
    Input *input;
    const Request *request;
    Text text[SIDES];
    size_t pairs;
    Guide guide[2];  // forward, backward
    /* of a pair */
    int link[2][MOST];         // of the two directions
    bool joined[MOST][MOST];   // target, source
    bool linked[SIDES][MOST];  // the words that have a link
    Links links, gold;
} Aligner;

static bool add_word(Text *text, const char *word, size_t length, Error *error)
{
    char *copy = strndup(word, length);
    json_t *known = copy ? json_object_get(text->number, copy) : NULL;
    json_int_t id =
        known ? json_integer_value(known) : (json_int_t)json_object_size(text->number) + 1;
    bool good = copy && (known || !json_object_set_new(text->number, copy, json_integer(id))) &&
                ids_push(&text->id, NULL, (int32_t)id, 0);
    free(copy);
    return good || error_memory(error, "for the words of a text");
}

/* Adds a sentence; of one that is too long nothing. */
static bool add_sentence(Text *text, size_t pair, const char *line, size_t length,
                         bool characters, bool *too_long, Error *error)
{
    int words, *word = words_number(&words, line, length, characters, error);
    bool good = word;
    *too_long = good && words >= MOST;
    if (!GROW(text->end, text->size, pair + 1)) good = error_memory(error, "for a text");
    for (size_t at = 0, end; good && !*too_long && at < length; at = end) {
        for (end = at; end < length && !words_blank(line[end]) && word[end] == word[at];) end++;
        if (end > at) good = add_word(text, line + at, end - at, error);
        else end++;  // a blank
    }
    if (good && !ids_push(&text->id, NULL, ID_END, 0)) good = error_memory(error, "for a text");
    if (good) text->end[pair] = text->id.count;
    free(word);
    return good;
}

static bool read_pairs(Aligner *a, Error *error)
{
    const char *line[SIDES];
    size_t length[SIDES];
    TextResult result;
    for (int side = 0; side < SIDES; side++) {
        a->text[side].number = json_object();
        if (!a->text[side].number) return error_memory(error, "for a text");
    }
    while ((result = input_next_columns(a->input, line, length, NULL, error)) == TEXT_LINE) {
        bool too_long[SIDES];
        for (int side = 0; side < SIDES; side++)
            if (!add_sentence(&a->text[side], a->pairs, line[side], length[side],
                              a->request->align_unit == ALIGN_CHARACTERS, &too_long[side],
                              error))
                return false;
        if (too_long[SOURCE] || too_long[TARGET])
            command_say(a->input->news, "line %lld has %d words or more: without links",
                        a->input->lines, MOST);
        a->pairs++;
    }
    return result != TEXT_ERROR && partner_end(&a->input->target, "sources", error);
}

/* direction 1: the other way round */
static PairIds pair_of(const Aligner *a, size_t p, int direction)
{
    PairIds pair = {.number = p};
    for (int side = 0; side < SIDES; side++) {
        const Text *text = &a->text[side ^ direction];
        size_t start = p ? text->end[p - 1] : 0;
        pair.id[side] = text->id.id + start;
        pair.length[side] = (int)(text->end[p] - start);
    }
    return pair;
}

static bool estimate(Aligner *a, int direction, Error *error)
{
    Guide *guide = &a->guide[direction];
    int targets = (int)json_object_size(a->text[TARGET ^ direction].number) + 1;
    int sources = (int)json_object_size(a->text[SOURCE ^ direction].number) + 1;
    if (!guide_create(guide, sources, targets, MOST, GUIDE_CELLS, error)) return false;
    for (int round = 0; round < ROUNDS; round++) {
        for (size_t p = 0; p < a->pairs && !file_stop; p++) {
            PairIds pair = pair_of(a, p, direction);
            guide_count(guide, &pair);
        }
        if (!guide_end_round(guide, round == ROUNDS - 1, error)) return false;
    }
    return true;
}

/* ---- joining the directions ---- */

/* Which directions link target i to source j: 1 forward, 2 backward. */
static int found_by(const Aligner *a, int i, int j)
{
    return (a->link[0][i] == j) + 2 * (a->link[1][j] == i);
}

static void join(Aligner *a, int i, int j)
{
    a->joined[i][j] = a->linked[TARGET][i] = a->linked[SOURCE][j] = true;
}

/* Adds the links of either direction that touch one, to words of which one has none yet. */
static bool grow_links(Aligner *a, int m, int n)
{
    bool grown = false;
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
            for (int near = 0; near < 9 && a->joined[i][j]; near++) {
                int k = i + near / 3 - 1, l = j + near % 3 - 1;
                if (k < 0 || l < 0 || k >= m || l >= n || a->joined[k][l]) continue;
                if ((a->linked[SOURCE][l] && a->linked[TARGET][k]) || !found_by(a, k, l))
                    continue;
                join(a, k, l);
                grown = true;
            }
    return grown;
}

static bool link_pair(Aligner *a, size_t p, Error *error)
{
    AlignJoin by = (AlignJoin)a->request->align_join;
    PairIds pair = pair_of(a, p, 0), turned = pair_of(a, p, 1);
    int n = pair.length[SOURCE] - 1, m = pair.length[TARGET] - 1;
    guide_link(a->link[0], &a->guide[0], &pair, LEAST);
    guide_link(a->link[1], &a->guide[1], &turned, LEAST);
    memset(a->joined, 0, (size_t)m * sizeof *a->joined);
    memset(a->linked, 0, sizeof a->linked);
    a->links.count = 0;
    int needed = by == JOIN_FORWARD ? 1 : by == JOIN_BACKWARD ? 2 : 3;
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
            if ((found_by(a, i, j) & needed) == needed) join(a, i, j);
    while (by == JOIN_GROWN && grow_links(a, m, n)) {}
    for (int direction = 1; by == JOIN_GROWN && direction <= 2; direction++)
        for (int i = 0; i < m; i++)
            for (int j = 0; j < n; j++)
                if (found_by(a, i, j) & direction && !a->linked[SOURCE][j] &&
                    !a->linked[TARGET][i])
                    join(a, i, j);
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++)
            if (a->joined[i][j] && !links_add(&a->links, (Link){j, i, false, 1}, error))
                return false;
    return true;
}

static bool print_all(Aligner *a, Error *error)
{
    AlignError counts = {0};
    bool compares = a->request->gold, left_out;
    for (size_t p = 0; p < a->pairs && !file_stop; p++) {
        PairIds pair = pair_of(a, p, 0);
        if (!link_pair(a, p, error)) return false;
        if (!compares) {
            links_print(stdout, &a->links);
            putchar('\n');
        } else if (!input_next_gold(a->input, &a->gold, &left_out, pair.length[SOURCE] - 1,
                                    pair.length[TARGET] - 1, error))
            return false;
        else if (!left_out && a->gold.count) align_compare(&counts, &a->links, &a->gold);
    }
    if (compares && !file_stop && !input_end_pairs(a->input, error)) return false;
    if (compares && !counts.links && !counts.sure)
        return error_set(error, "there is no pair to compare with `gold` links");
    if (compares)
        printf("AER %.4f, precision %.4f, recall %.4f\n", align_error(&counts),
               align_precision(&counts), align_recall(&counts));
    return stream_flush(stdout, "the alignments", error);
}

bool aligner_run(Input *input, const Request *request, Error *error)
{
    Aligner *a = calloc(1, sizeof *a);
    if (!a) return error_memory(error, "to align words");
    a->input = input, a->request = request;
    bool good = read_pairs(a, error) && estimate(a, 0, error) && estimate(a, 1, error) &&
                print_all(a, error);
    for (int d = 0; d < 2; d++) {
        guide_free(&a->guide[d]);
        json_decref(a->text[d].number);
        free(a->text[d].id.id);
        free(a->text[d].end);
    }
    links_free(&a->links);
    links_free(&a->gold);
    free(a);
    return good;
}
