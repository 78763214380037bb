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
 * A sentence is done when no prefix is left, or none can still get among the n best. Let g <= 0 be
 * ln p of a live prefix and L the limit. Every further token adds ln p <= 0, and the hypothesis
 * will have at most L tokens, so for α >= 0
 *
 *     score = ln p / length^α <= g / length^α <= g / L^α
 *
 * (the second step since g <= 0: a larger divisor brings it nearer to 0). Once the n-th best
 * hypothesis scores no less than the best live prefix's g / L^α, going on changes nothing.
 *
 * The candidates are never sorted as a whole: a block of logits whose largest cannot get in is
 * passed over. Ties go to the prefix that ranked higher, then to the lower id. */
#include "inference/beam.h"

#include <math.h>
#include <string.h>

void beam_layout(BeamSearch *beam, Arena *arena, const Transformer *model, const Packed *source,
                 const SearchConfig *config)
{
    int S = source->sentences, K = config->beam, longest = 0, capacity = 0;
    size_t rows = (size_t)S * (size_t)K;
    beam->config = config;
    beam->source = source;
    beam->sentence = ARENA_TAKE(arena, BeamSentence, (size_t)S);
    Candidate *candidate = ARENA_TAKE(arena, Candidate, rows);
    Ended *ended = ARENA_TAKE(arena, Ended, rows);
    beam->live = ARENA_TAKE(arena, Prefix, rows);
    beam->next = ARENA_TAKE(arena, Prefix, rows);
    beam->live_log = ARENA_TAKE(arena, double, rows);
    beam->next_log = ARENA_TAKE(arena, double, rows);
    beam->logits = logits_layout(arena, (int)rows, model->config.vocab);
    for (int s = 0; s < S; s++) {
        int limit =
            search_limit(config, &model->config, source->start[s + 1] - source->start[s]);
        if (beam->sentence)
            beam->sentence[s] = (BeamSentence){
                .limit = limit, .candidate = candidate + s * K, .ended = ended + s * K};
        if (limit > longest) longest = limit;
        capacity += limit * K;
    }
    cache_layout(&beam->cache, arena, model, source, (int)rows, longest, capacity);
}

/* Puts a candidate where it belongs; the last one leaves if there is no room for it. */
static void keep(BeamSentence *sentence, int room, Candidate candidate)
{
    int i = sentence->candidates < room ? sentence->candidates++ : room - 1;
    for (; i > 0 && sentence->candidate[i - 1].log_probability < candidate.log_probability; i--)
        sentence->candidate[i] = sentence->candidate[i - 1];
    sentence->candidate[i] = candidate;
}

/* Keeps those of one prefix's tokens that get among the best.   z [C] */
static void consider(BeamSentence *sentence, int room, const real *z, int C, int row,
                     double log_probability, double normaliser)
{
    enum { BLOCK = 64 };
    double least =
        sentence->candidates < room ? -INFINITY : sentence->candidate[room - 1].log_probability;
    for (int first = 0; first < C; first += BLOCK) {
        int end = C - first < BLOCK ? C : first + BLOCK;
        real largest = z[first];
#pragma omp simd reduction(max : largest)
        for (int c = first; c < end; c++) largest = z[c] > largest ? z[c] : largest;
        if (!(log_probability + (largest - normaliser) > least)) continue;
        for (int c = first; c < end; c++) {
            double candidate = log_probability + (z[c] - normaliser);
            if (!(candidate > least)) continue;
            keep(sentence, room, (Candidate){candidate, row, c});
            if (sentence->candidates == room)
                least = sentence->candidate[room - 1].log_probability;
        }
    }
}

/* (1) and (2). */
static bool find_candidates(BeamSearch *beam, const Transformer *model, const real *X)
{
    int V = model->config.vocab, D = model->config.d_model;
    for (int s = 0; s < beam->source->sentences; s++) beam->sentence[s].candidates = 0;
    for (int r = 0; r < beam->rows; r++) {
        real *z = logits_row(beam->logits, r, X, &model->weights, beam->rows, V, D);
        double normaliser = search_normaliser(z, V - 1);
        if (!isfinite(normaliser)) return false;

        BeamSentence *sentence = &beam->sentence[beam->live[r].sentence];
        if (!beam->config->unknown) z[ID_UNKNOWN] = -INFINITY;
        int C = beam->cache.step < sentence->limit ? V - 1 : ID_END + 1;
        consider(sentence, beam->config->beam - sentence->count, z, C, r, beam->live_log[r],
                 normaliser);
    }
    return true;
}

/* Puts a hypothesis where it belongs. */
static void end(BeamSentence *sentence, Ended ended)
{
    int i = sentence->count++;
    for (; i > 0 && sentence->ended[i - 1].score < ended.score; i--)
        sentence->ended[i] = sentence->ended[i - 1];
    sentence->ended[i] = ended;
}

/* (3) for one sentence: its prefixes of the next step go to next[*rows] and on. */
static void extend(BeamSearch *beam, BeamSentence *sentence, int first_node, int *rows)
{
    const SearchConfig *config = beam->config;
    int first = *rows, length = beam->cache.step;
    for (int i = 0; i < sentence->candidates; i++) {
        Candidate c = sentence->candidate[i];
        if (c.token == ID_END) {
            end(sentence, (Ended){search_score(config, c.log_probability, length),
                                  c.log_probability, first_node + c.row, length});
        } else {
            beam->next[*rows] =
                (Prefix){beam->live[c.row].sentence, first_node + c.row, c.token};
            beam->next_log[(*rows)++] = c.log_probability;
        }
    }
    if (*rows == first || sentence->count < config->n_best) return;
    double bound = search_score(config, beam->next_log[first], sentence->limit);
    if (sentence->ended[config->n_best - 1].score >= bound) *rows = first;
}

static void report(Translation *found, const BeamSearch *beam, const BeamSentence *sentence)
{
    int n_best = beam->config->n_best;
    found->count = sentence->count < n_best ? sentence->count : n_best;
    for (int i = 0; i < found->count; i++) {
        const Ended *ended = &sentence->ended[i];
        Hypothesis *hypothesis = &found->hypothesis[i];
        int length = cache_tokens(hypothesis->id, &beam->cache, ended->node);
        hypothesis->id[length] = ID_END;
        hypothesis->length = ended->length;
        hypothesis->score = ended->score;
        hypothesis->log_probability = ended->log_probability;
    }
}

bool beam_search(Translation *const *found, BeamSearch *beam, const Transformer *model)
{
    int S = beam->source->sentences;
    for (int s = 0; s < S; s++) {
        beam->live[s] = (Prefix){s, NO_NODE, model->config.vocab - 1};
        beam->live_log[s] = 0;
        beam->sentence[s].count = 0;
    }
    cache_encode(&beam->cache, model);
    for (beam->rows = S; beam->rows;) {
        const real *X = cache_step(&beam->cache, model, beam->live, beam->rows);
        if (!find_candidates(beam, model, X)) return false;

        int rows = 0, first_node = beam->cache.nodes - beam->rows;
        for (int s = 0; s < S; s++) extend(beam, &beam->sentence[s], first_node, &rows);
        Prefix *prefix = beam->live;
        double *log_probability = beam->live_log;
        beam->live = beam->next, beam->live_log = beam->next_log;
        beam->next = prefix, beam->next_log = log_probability;
        beam->rows = rows;
    }
    for (int s = 0; s < S; s++) {
        if (!beam->sentence[s].count) return false;
        report(found[s], beam, &beam->sentence[s]);
    }
    return true;
}
