/* beam.c -- beam search.
 *
 * A sentence starts with one prefix, and room for `beam`. A step
 *
 *     (1)  runs every live prefix through the decoder, and gives each token c the candidate
 *          ln p(prefix) + ln p(c | prefix, x);
 *     (2)  takes the best candidates that there is room for, over all prefixes of the sentence;
 *     (3)  those that end in </s> are hypotheses, and their places are closed for good: the others
 *          are the live prefixes of the next step. With one place this is greedy search.
 *
 * With --alternatives N the first step that is not forced has room for N, and each of the N best
 * becomes the one prefix of a search of its own, with a beam of its own and one result.
 *
 * A search is done when no prefix is left, or none can still get among the n best. Let g <= 0 be
 * ln p of a live prefix and L the limit. Every further token adds ln p <= 0, the hypothesis will
 * have at most L tokens, and the length penalty lp grows with the length (search.h: α >= 0), so
 *
 *     score = ln p / lp(length) <= g / lp(length) <= g / lp(L)
 *
 * (the second step since g <= 0: a larger divisor brings it nearer to 0). Once the n-th best
 * hypothesis scores no less than the best live prefix's g / lp(L), going on changes nothing: early
 * stopping keeps the best. Constraints only take hypotheses away, or add to what ln p lacks
 * (constraints.h), so the bound holds with them.
 *
 * The candidates are never sorted as a whole: a block of logits whose largest cannot get in is
 * passed over. Ties go to the prefix that ranked higher, then to the lower id. */
#include "inference/beam.h"

#include <math.h>

#include "inference/constraints.h"

static int most(int a, int b)
{
    return a > b ? a : b;
}

void beam_layout(BeamSearch *search, Arena *arena, const Ensemble *ensemble,
                 const Packed *source, const SearchTask *task, const SearchConfig *config)
{
    int S = source->sentences, K = config->beam;
    search->config = config;
    search->source = source;
    search->task = task;
    search->searches = most(config->alternatives, 1);
    int room = most(K, search->searches), beams = S * search->searches;
    size_t rows = (size_t)S * (size_t)search_rows(config);
    search->beam = ARENA_TAKE(arena, Beam, (size_t)beams);
    Candidate *candidate = ARENA_TAKE(arena, Candidate, (size_t)beams * (size_t)room);
    Ended *ended = ARENA_TAKE(arena, Ended, (size_t)beams * (size_t)K);
    search->live = ARENA_TAKE(arena, Prefix, rows);
    search->next = ARENA_TAKE(arena, Prefix, rows);
    search->live_log = ARENA_TAKE(arena, double, rows);
    search->next_log = ARENA_TAKE(arena, double, rows);
    search->live_of = ARENA_TAKE(arena, int, rows);
    search->next_of = ARENA_TAKE(arena, int, rows);
    for (int b = 0; search->beam && b < beams; b++)
        search->beam[b] = (Beam){.candidate = candidate + (size_t)b * (size_t)room,
                                 .ended = ended + (size_t)b * (size_t)K};
    predictor_layout(&search->predictor, arena, ensemble, source, task, search_rows(config));
}

/* Puts a candidate where it belongs; the last one leaves if there is no room for it. */
static void keep(Beam *beam, int room, Candidate candidate)
{
    int i = beam->candidates < room ? beam->candidates++ : room - 1;
    for (; i > 0 && beam->candidate[i - 1].log_probability < candidate.log_probability; i--)
        beam->candidate[i] = beam->candidate[i - 1];
    beam->candidate[i] = candidate;
}

/* Keeps those of one prefix's tokens that get among the best.   z [C] */
static void consider(Beam *beam, int room, const real *z, int C, int row,
                     double log_probability, double normaliser)
{
    enum { BLOCK = 64 };
    double least =
        beam->candidates < room ? -INFINITY : beam->candidate[room - 1].log_probability;
    for (int first = 0; first < C; first += BLOCK) {
        int end = C - first < BLOCK ? C : first + BLOCK;
        real largest = z[first];
#pragma omp simd reduction(max : largest) simdlen(16)
        for (int c = first; c < end; c++) largest = z[c] > largest ? z[c] : largest;
        if (!(log_probability + (largest - normaliser) > least)) continue;
        for (int c = first; c < end; c++) {
            double candidate = log_probability + (z[c] - normaliser);
            if (!(candidate > least)) continue;
            keep(beam, room, (Candidate){candidate, row, c});
            if (beam->candidates == room) least = beam->candidate[room - 1].log_probability;
        }
    }
}

/* Whether this step is the one where alternatives part: the first that is not forced. */
static bool is_fork(const BeamSearch *search, int sentence)
{
    return search->searches > 1 &&
           predictor_tree(&search->predictor)->step == search->task[sentence].prefix_length + 1;
}

/* (1) and (2) for one row. */
static bool find_candidates(BeamSearch *search, int r)
{
    const SearchConfig *config = search->config;
    const SearchTask *task = &search->task[search->live[r].sentence];
    Beam *beam = &search->beam[search->live_of[r]];
    double normaliser, before = search->live_log[r];
    int C = search->predictor.ensemble->model[0]->config.vocab - 1;
    int step = predictor_tree(&search->predictor)->step;
    int room = config->beam - beam->count, forced = constraints_forced(task, step);

    real *z = predictor_row(&search->predictor, r, &normaliser);
    if (!isfinite(normaliser)) return false;
    if (forced != NOTHING_FORCED) {
        double log_probability = before + ((double)z[forced] - normaliser);
        if (beam->candidates < room ||
            beam->candidate[room - 1].log_probability < log_probability)
            keep(beam, room, (Candidate){log_probability, r, forced});
        return true;
    }
    const int *written =
        constraints_look_back(task, config) ? predictor_written(&search->predictor, r) : NULL;
    constraints_apply(z, C, normaliser, written, step, task, config);
    if (is_fork(search, search->live[r].sentence)) room = search->searches;
    consider(beam, room, z, C, r, before, normaliser);
    return true;
}

/* Puts a hypothesis where it belongs. */
static void end(Beam *beam, Ended ended)
{
    int i = beam->count++;
    for (; i > 0 && beam->ended[i - 1].score < ended.score; i--)
        beam->ended[i] = beam->ended[i - 1];
    beam->ended[i] = ended;
}

/* A candidate becomes a hypothesis of a search, or a prefix of its next step. */
static void take(BeamSearch *search, int which, const Candidate *c, int first_node, int *rows)
{
    int length = predictor_tree(&search->predictor)->step;
    if (c->token == ID_END) {
        end(&search->beam[which],
            (Ended){search_score(search->config, c->log_probability, length),
                    c->log_probability, first_node + c->row, length});
        return;
    }
    search->next[*rows] =
        (Prefix){search->live[c->row].sentence, first_node + c->row, c->token};
    search->next_of[*rows] = which;
    search->next_log[(*rows)++] = c->log_probability;
}

/* (3) for one search: its prefixes of the next step go to next[*rows] and on. */
static void extend(BeamSearch *search, int which, int first_node, int *rows)
{
    const SearchConfig *config = search->config;
    Beam *beam = &search->beam[which];
    int first = *rows, sentence = which / search->searches;
    bool fork = is_fork(search, sentence);
    for (int i = 0; i < beam->candidates; i++)
        take(search, fork ? which + i : which, &beam->candidate[i], first_node, rows);
    int n_best = search->searches > 1 ? 1 : config->n_best;
    if (fork || *rows == first || beam->count < n_best) return;
    double bound = search_score(config, search->next_log[first], search->task[sentence].limit);
    if (beam->ended[n_best - 1].score >= bound) *rows = first;
}

static void report(Translation *found, const BeamSearch *search, const Ended *ended)
{
    int place = found->count++;
    Hypothesis last = found->hypothesis[place];
    last.length = ended->length;
    last.score = ended->score;
    last.log_probability = ended->log_probability;
    int length = cache_tokens(last.id, predictor_tree(&search->predictor), ended->node);
    last.id[length] = ID_END;
    for (; place > 0 && found->hypothesis[place - 1].score < last.score; place--)
        found->hypothesis[place] = found->hypothesis[place - 1];
    found->hypothesis[place] = last;
}

/* The best of each of a sentence's searches, best first. */
static bool report_sentence(Translation *found, const BeamSearch *search, int sentence)
{
    int n_best = search->searches > 1 ? 1 : search->config->n_best;
    found->count = 0;
    for (int i = 0; i < search->searches; i++) {
        const Beam *beam = &search->beam[sentence * search->searches + i];
        for (int e = 0; e < beam->count && e < n_best; e++)
            report(found, search, &beam->ended[e]);
    }
    return found->count > 0;
}

/* One step of all searches. false: not finite. */
static bool advance(BeamSearch *search)
{
    int rows = 0, beams = search->source->sentences * search->searches;
    predictor_step(&search->predictor, search->live, search->rows);
    int first_node = predictor_tree(&search->predictor)->nodes - search->rows;
    for (int b = 0; b < beams; b++) search->beam[b].candidates = 0;
    for (int r = 0; r < search->rows; r++)
        if (!find_candidates(search, r)) return false;
    for (int b = 0; b < beams; b++) extend(search, b, first_node, &rows);

    Prefix *prefix = search->live;
    double *log_probability = search->live_log;
    int *of = search->live_of;
    search->live = search->next, search->next = prefix;
    search->live_log = search->next_log, search->next_log = log_probability;
    search->live_of = search->next_of, search->next_of = of;
    search->rows = rows;
    return true;
}

bool beam_search(Translation *const *found, BeamSearch *search)
{
    int S = search->source->sentences,
        pad = search->predictor.ensemble->model[0]->config.vocab - 1;
    for (int b = 0; b < S * search->searches; b++) search->beam[b].count = 0;
    for (int s = 0; s < S; s++) {
        search->live[s] = (Prefix){s, NO_NODE, pad};
        search->live_log[s] = 0;
        search->live_of[s] = s * search->searches;
    }
    predictor_encode(&search->predictor);
    for (search->rows = S; search->rows;)
        if (!advance(search)) return false;
    for (int s = 0; s < S; s++)
        if (!report_sentence(found[s], search, s)) return false;
    return true;
}
