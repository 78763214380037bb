/* beam.c -- beam search and its n-best list.
 *
 * The search of a sentence starts with one live prefix, and ends `beam` + 1 hypotheses (one if
 * `beam` is 1), of which at most `beam` live at a time. With places for as many only, a first
 * hypothesis that ends too early would cost the search a place too many. A step
 *
 *     (1)  runs every live prefix through the decoder, and gives each token c the candidate
 *          ln p(prefix) + ln p(c | prefix, x);
 *     (2)  keeps the best candidates of all prefixes, one for each free place;
 *     (3)  makes candidates that end in </s> finished hypotheses, and closes their places. The
 *          other candidates are the live prefixes of the next step.
 *
 * With a beam of 1 this is greedy search. With `alternatives` N, the first step that is not
 * forced keeps the N best candidates, and each of them starts a search of its own with one
 * result.
 *
 * A search ends when it has no live prefix, or when no live prefix can still get among the n
 * best. Let g <= 0 be ln p of a live prefix, and L the limit. Each further token adds ln p <=
 * 0, the hypothesis will have at most L tokens, and α >= 0 (search.h), so
 *
 *     score = ln p / length^α <= g / length^α <= g / L^α
 *
 * (the second step holds because g <= 0: a larger divisor brings it nearer to 0). If the n-th
 * best finished hypothesis scores at least the best live prefix's g / L^α, more steps change
 * nothing: early stopping keeps the best. Constraints only remove hypotheses (constraints.h),
 * so the bound holds with them.
 *
 * The candidates are never sorted as a whole: a block of logits is skipped if its largest
 * cannot be kept. Of equal candidates, the one whose prefix ranked higher is kept, then the one
 * with the lower id. */
#include "inference/beam.h"

#include <math.h>

/* How many hypotheses of a search end. */
static int most_finished(const SearchConfig *config)
{
    return config->beam > 1 ? config->beam + 1 : 1;
}

void beam_layout(BeamSearch *search, Arena *arena, const SearchBatch *batch)
{
    const SearchConfig *config = batch->config;
    int K = config->beam, ends = most_finished(config);
    search->batch = batch;
    search->searches = config->alternatives > 1 ? config->alternatives : 1;
    search->n_best = search->searches > 1 ? 1 : config->n_best;
    int places = K > search->searches ? K : search->searches;
    int beams = batch->source.sentences * search->searches;
    size_t rows = (size_t)batch->source.sentences * (size_t)search_rows(config);
    search->beam = ARENA_TAKE(arena, Beam, (size_t)beams);
    BeamCandidate *candidate = ARENA_TAKE(arena, BeamCandidate, (size_t)beams * (size_t)places);
    Finished *finished = ARENA_TAKE(arena, Finished, (size_t)beams * (size_t)ends);
    search->live = ARENA_TAKE(arena, Prefix, rows);
    search->next = ARENA_TAKE(arena, Prefix, rows);
    for (int b = 0; search->beam && b < beams; b++)
        search->beam[b] = (Beam){.candidate = candidate + (size_t)b * (size_t)places,
                                 .finished = finished + (size_t)b * (size_t)ends};
    search->token = ARENA_TAKE(arena, Best, (size_t)places);
    predictor_layout(&search->predictor, arena, batch);
}

/* Inserts a candidate by rank. If all places are taken, the last candidate is dropped. */
static void keep(Beam *beam, int places, BeamCandidate candidate)
{
    int i = beam->candidates < places ? beam->candidates++ : places - 1;
    for (; i > 0 && beam->candidate[i - 1].log_probability < candidate.log_probability; i--)
        beam->candidate[i] = beam->candidate[i - 1];
    beam->candidate[i] = candidate;
}

/* The log-probability that a new candidate must exceed. */
static double least_kept(const Beam *beam, int places)
{
    return beam->candidates < places ? -INFINITY : beam->candidate[places - 1].log_probability;
}

/* Whether the searches of a sentence part at this step: the first that is not forced. */
static bool is_fork(const BeamSearch *search, int sentence)
{
    return search->searches > 1 &&
           search->predictor.cache->step == search->batch->task[sentence].prefix_length + 1;
}

/* (1) and (2) for one row. false: not finite */
static bool find_candidates(BeamSearch *search, int r)
{
    const Prefix *prefix = &search->live[r];
    Beam *beam = &search->beam[prefix->search];
    const SearchConfig *config = search->batch->config;
    int places = at_most(most_finished(config) - beam->count, config->beam);
    if (is_fork(search, prefix->sentence)) places = search->searches;
    double normaliser, least = least_kept(beam, places) - prefix->log_probability;
    int count =
        choices_find(search->token, places, least, &normaliser, &search->predictor, prefix, r);
    for (int i = 0; i < count; i++) {
        double candidate = prefix->log_probability + (search->token[i].value - normaliser);
        if (!(candidate > least_kept(beam, places))) break;
        keep(beam, places, (BeamCandidate){candidate, r, search->token[i].id});
    }
    return count >= 0;
}

/* Makes a candidate a finished hypothesis of a search, or a live prefix of its next step. */
static void extend(BeamSearch *search, int b, const BeamCandidate *c, int first_node, int *rows)
{
    int node = first_node + c->row, length = search->predictor.cache->step;
    Beam *beam = &search->beam[b];
    if (c->token != ID_END) {
        search->next[(*rows)++] =
            (Prefix){search->live[c->row].sentence, node, c->token, b, c->log_probability};
        return;
    }
    double score = search_score(search->batch->config, c->log_probability, length);
    int i = beam->count++;
    for (; i > 0 && beam->finished[i - 1].score < score; i--)
        beam->finished[i] = beam->finished[i - 1];
    beam->finished[i] = (Finished){score, c->log_probability, node, length};
}

/* (3) for one search: its live prefixes of the next step start at next[*rows]. */
static void end_step(BeamSearch *search, int b, int first_node, int *rows)
{
    const Beam *beam = &search->beam[b];
    int first = *rows, sentence = b / search->searches;
    bool fork = is_fork(search, sentence);
    for (int i = 0; i < beam->candidates; i++)
        extend(search, fork ? b + i : b, &beam->candidate[i], first_node, rows);
    if (fork || *rows == first || beam->count < search->n_best) return;
    double bound = search_score(search->batch->config, search->next[first].log_probability,
                                search->batch->task[sentence].limit);
    if (beam->finished[search->n_best - 1].score >= bound) *rows = first;
}

/* Inserts a result by score. */
static void report(Translation *found, const BeamSearch *search, const Finished *finished)
{
    int place = found->count++;
    Hypothesis last = found->hypothesis[place];
    last.length = cache_hypothesis(last.id, last.each, search->predictor.cache, finished->node,
                                   finished->log_probability);
    last.score = finished->score;
    last.log_probability = finished->log_probability;
    for (; place > 0 && found->hypothesis[place - 1].score < last.score; place--)
        found->hypothesis[place] = found->hypothesis[place - 1];
    found->hypothesis[place] = last;
}

/* The best of each of a sentence's searches, best first. */
static bool report_sentence(const BeamSearch *search, int sentence)
{
    Translation *found = search->batch->found[sentence];
    found->count = 0;
    for (int i = 0; i < search->searches; i++) {
        const Beam *beam = &search->beam[sentence * search->searches + i];
        for (int e = 0; e < beam->count && e < search->n_best; e++)
            report(found, search, &beam->finished[e]);
    }
    return found->count > 0;
}

/* One step of all searches. false: not finite. */
static bool advance(BeamSearch *search)
{
    int rows = 0, beams = search->batch->source.sentences * search->searches;
    int first_node = predictor_step(&search->predictor, search->live, search->rows);
    for (int b = 0; b < beams; b++) search->beam[b].candidates = 0;
    for (int r = 0; r < search->rows; r++)
        if (!find_candidates(search, r)) return false;
    for (int b = 0; b < beams; b++) end_step(search, b, first_node, &rows);

    Prefix *prefix = search->live;
    search->live = search->next, search->next = prefix;
    search->rows = rows;
    return true;
}

bool beam_search(BeamSearch *search)
{
    int S = search->batch->source.sentences, pad = ensemble_tokens(search->batch->ensemble);
    for (int b = 0; b < S * search->searches; b++) search->beam[b].count = 0;
    for (int s = 0; s < S; s++)
        search->live[s] = (Prefix){s, NO_NODE, pad, s * search->searches, 0};
    predictor_encode(&search->predictor);
    for (search->rows = S; search->rows;)
        if (!advance(search)) return false;
    for (int s = 0; s < S; s++)
        if (!report_sentence(search, s)) return false;
    return true;
}
