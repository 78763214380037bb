/* beam.c -- greedy search, beam search with its n-best list, and sampling.
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
 * With a beam of 1 this is greedy search. With `sample`, a sentence has n_best searches with a beam
 * of 1, whose candidates are drawn (sampling.h).
 *
 * A search ends when it has no live prefix, or when no live prefix can still get among the n
 * best. Let g <= 0 be ln p of a live prefix, and L the limit. Each further token adds ln p <=
 * 0, the hypothesis will have at most L tokens, and α >= 0 (search.h), so
 *
 *     score = ln p / length^α <= g / length^α <= g / L^α
 *
 * (the second step holds because g <= 0: a larger divisor brings it nearer to 0). If the n-th
 * best finished hypothesis scores at least the best live prefix's g / L^α, more steps change
 * nothing: early stopping keeps the best. Constraints only remove hypotheses (choices.h),
 * so the bound holds with them.
 *
 * The largest logit is the most probable token, so a beam of 1 computes no softmax if log p is not
 * needed. The candidates are never sorted as a whole: a block of logits is skipped if its largest
 * cannot be kept. Of equal candidates, the one whose prefix ranked higher is kept, then the one
 * with the lower id. */

#include "inference/choices.h"
#include "inference/search.h"

/* The path to `node`, and one more token. */
typedef struct Candidate {
    double rank;             // of those of a step log_probability, of finished ones the score
    double log_probability;  // NAN if not needed
    int node, token;
} Candidate;

typedef struct Beam {
    int candidates, count;             // in use of the next two
    Candidate candidate[MAX_BEAM];     // of this step, best first
    Candidate finished[MAX_BEAM + 1];  // with </s>, best first
} Beam;

typedef struct BeamSearch {
    const SearchBatch *batch;
    int K;         // the beam
    int searches;  // of each sentence
    int n_best;    // results of each search
    bool scored;   // log p is needed
    Predictor predictor;
    Beam *beam;           // [S searches]
    int rows;             // live prefixes of all searches
    Prefix *live, *next;  // [S search_rows] of this step and of the next one
} BeamSearch;

static void layout(BeamSearch *search, Arena *arena, const SearchBatch *batch)
{
    const SearchConfig *config = batch->config;
    size_t S = (size_t)batch->source.sentences, rows = S * (size_t)search_rows(config);
    search->batch = batch;
    search->K = config->sample ? 1 : config->beam;
    search->searches = config->sample ? config->n_best : 1;
    search->n_best = config->sample ? 1 : config->n_best;
    search->scored = !config->no_scores || search->K > 1;
    search->beam = ARENA_TAKE(arena, Beam, S * (size_t)search->searches);
    search->live = ARENA_TAKE(arena, Prefix, rows);
    search->next = ARENA_TAKE(arena, Prefix, rows);
    predictor_layout(&search->predictor, arena, batch);
}

/* Inserts a candidate into list [*count] by rank, if it is among the first `places`. */
static void keep(Candidate *list, int *count, int places, Candidate new)
{
    int at = *count;
    while (at > 0 && list[at - 1].rank < new.rank) at--;
    if (at == places) return;
    if (*count < places) ++*count;
    for (int i = *count - 1; i > at; i--) list[i] = list[i - 1];
    list[at] = new;
}

/* (1) and (2) for one row, which is `node`. false: not finite */
static bool find_candidates(BeamSearch *search, int r, int node)
{
    const Prefix *prefix = &search->live[r];
    Beam *beam = &search->beam[prefix->search];
    int places = at_most(search->K + (search->K > 1) - beam->count, search->K);
    Best token[MAX_BEAM];
    double normaliser = NAN, least = -INFINITY;
    if (beam->candidates == places)
        least = beam->candidate[places - 1].log_probability - prefix->log_probability;
    int count = choices_find(token, places, least, search->scored ? &normaliser : NULL,
                             &search->predictor, prefix, r);
    for (int i = 0; i < count; i++) {
        double log_probability = prefix->log_probability + (token[i].value - normaliser);
        keep(beam->candidate, &beam->candidates, places,
             (Candidate){log_probability, log_probability, node, token[i].id});
    }
    return count >= 0;
}

/* (3) for one search: its live prefixes of the next step start at next[*rows]. */
static void end_step(BeamSearch *search, int b, int *rows)
{
    const SearchConfig *config = search->batch->config;
    Beam *beam = &search->beam[b];
    int first = *rows, sentence = b / search->searches;
    for (const Candidate *c = beam->candidate; c < beam->candidate + beam->candidates; c++) {
        double ln_p = c->log_probability;
        if (c->token != ID_END) {
            search->next[(*rows)++] = (Prefix){sentence, c->node, c->token, b, ln_p};
            continue;
        }
        double score = search_score(config, ln_p, search->predictor.cache->step);
        keep(beam->finished, &beam->count, MAX_BEAM + 1,
             (Candidate){score, ln_p, c->node, ID_END});
    }
    if (*rows == first || beam->count < search->n_best) return;
    double bound = search_score(config, search->next[first].log_probability,
                                search->batch->task[sentence].limit);
    if (beam->finished[search->n_best - 1].rank >= bound) *rows = first;
}

/* The best of each of a sentence's searches. */
static void report_sentence(const BeamSearch *search, int sentence)
{
    Translation *found = search->batch->task[sentence].found;
    found->count = 0;
    for (int i = 0; i < search->searches; i++) {
        const Beam *beam = &search->beam[sentence * search->searches + i];
        for (int e = 0; e < beam->count && e < search->n_best; e++) {
            const Candidate *finished = &beam->finished[e];
            Hypothesis *to = &found->hypothesis[found->count++];
            to->score = finished->rank, to->log_probability = finished->log_probability;
            to->length = cache_hypothesis(to->id, to->each, search->predictor.cache,
                                          finished->node, finished->log_probability);
        }
    }
}

/* One step of all searches. false: not finite. */
static bool advance(BeamSearch *search, int beams)
{
    int rows = 0;
    int first_node = predictor_step(&search->predictor, search->live, search->rows);
    for (int b = 0; b < beams; b++) search->beam[b].candidates = 0;
    for (int r = 0; r < search->rows; r++)
        if (!find_candidates(search, r, first_node + r)) return false;
    for (int b = 0; b < beams; b++) end_step(search, b, &rows);

    Prefix *prefix = search->live;
    search->live = search->next, search->next = prefix;
    search->rows = rows;
    return true;
}

bool beam_search(const SearchBatch *batch, Arena *arena, Error *error)
{
    BeamSearch search = {0};
    Arena measure = {0};
    layout(&search, &measure, batch);
    if (!arena_fit(arena, measure.used))
        return error_memory(error,
                            "to search with %.1f MB: a smaller `beam` or "
                            "`max-length-ratio`, or fewer `threads`, need less",
                            (double)measure.used / 1e6);
    layout(&search, arena, batch);
    int S = batch->source.sentences, beams = S * search.searches;
    for (int b = 0; b < beams; b++) {
        search.beam[b].count = 0;
        search.live[search.rows++] =
            (Prefix){b / search.searches, NO_NODE, ensemble_tokens(batch->ensemble), b, 0};
    }
    predictor_encode(&search.predictor);
    while (search.rows)
        if (!advance(&search, beams))
            return error_set(error, "the model's scores are not numbers (NaN or infinity): it "
                                    "cannot translate");
    for (int s = 0; s < S; s++) report_sentence(&search, s);
    return true;
}
