/* decoding.c -- passes over the sentences, alternating with bursts of sgemm; see decoding.h. */
#include "benchmark/decoding.h"

#include "base/clock.h"
#include "benchmark/child.h"
#include "data/batches.h"
#include "inference/translator.h"
#include "model/quantised.h"

enum { SEED = 1, MOST_SINGLE = 301 };
static const real NEVER = -100;  // nats

/* Operations of the matrix products that searching one sentence of `source` tokens needs, when
 * each step but the first, which has one, has `beam` prefixes and there are `target` steps. */
static double decoding_flops(const ModelConfig *c, int source, int target, int beam)
{
    double n = source, D = c->d_model, F = c->ffn, V = c->vocab;
    double rows = 1 + (target - 1.0) * beam;
    double keys = 1 + beam * (target * (target + 1) / 2.0 - 1);  // Σ over rows of the keys seen
    double encoder = n * (4 * D * D + 2 * D * F) + 2 * n * n * D;
    double memory = n * 2 * D * D;  // keys and values of the source, once a layer
    double decoder = memory + rows * (6 * D * D + 2 * D * F + 2 * n * D) + 2 * keys * D;
    return 2 * (c->encoder_layers * encoder + c->decoder_layers * decoder + rows * D * (V - 1));
}

typedef struct Bench {
    Transformer model;
    Workers *workers;
    Peak *peak;
    Batches batches;
    Packed source;
    SearchConfig search;
    Screening screening;  // as ./translate screens
    double flops;         // of a pass
} Bench;

static bool bench_create(Bench *bench, const DecodingCase *plan, Error *error)
{
    const Corpus *corpus = plan->corpus;
    size_t count = corpus->pairs < DECODED_SENTENCES ? corpus->pairs : DECODED_SENTENCES;
    Packed target;
    *bench = (Bench){.search = search_default};
    bench->search.beam = plan->beam;
    bench->search.max_tokens = OUTPUT_TOKENS;
    bench->search.no_scores = true;  // as ./translate asks for none to print text
    if (!transformer_create(&bench->model, &plan->model, error) ||
        !(bench->workers = workers_start(plan->threads, error)) ||
        !batches_init(&bench->batches, corpus, SEED, 1, error) ||
        !batches_packed(&bench->batches, &bench->source, &target, 0, count, error))
        return false;
    params_initialise(&bench->model.params, bench->model.block, SEED);
    bench->model.weights.logits_bias[ID_END] = NEVER;
    if (!transformer_prepare(&bench->model, plan->int8, error) ||
        (!plan->int8 && !screening_open(&bench->screening, &bench->model, error)))
        return false;
    for (int s = 0; s < bench->source.sentences; s++)
        bench->flops += decoding_flops(&plan->model, packed_length(&bench->source, s),
                                       OUTPUT_TOKENS, plan->beam);
    return true;
}

static void bench_free(Bench *bench)
{
    batches_free(&bench->batches);
    peak_free(bench->peak);
    workers_stop(bench->workers);
    screening_close(&bench->screening);
    transformer_free(&bench->model);
}

/* Translates all of source; *seconds (=) how long that took. */
static bool translate(double *seconds, const Bench *bench, const Packed *source, Error *error)
{
    Translations out;
    Ensemble alone = ensemble_of(&bench->model);
    if (bench->screening.rows) alone.screening = &bench->screening;
    TranslatorInput input = {.source = *source};
    double begin = clock_seconds();
    if (!translator_run(&out, &alone, &input, &bench->search, bench->workers, NULL, error))
        return false;
    *seconds = clock_seconds() - begin;
    bool good = true;
    for (int s = 0; s < out.sentences && good; s++)
        good = out.sentence[s].hypothesis[0].length == OUTPUT_TOKENS;
    translations_free(&out);
    return good || error_set(error, "a translation has not the %d tokens that it should",
                             OUTPUT_TOKENS);
}

/* One sentence at a time. */
static bool measure_single(DecodingResult *result, const Bench *bench, double most,
                           Error *error)
{
    static double seconds[MOST_SINGLE];
    double begin = clock_seconds();
    int count = 0;
    do {
        int s = count % bench->source.sentences, start[2];
        Packed one = packed_slice(start, &bench->source, s, s + 1);
        if (!translate(&seconds[count++], bench, &one, error)) return false;
    } while (count < MOST_SINGLE && clock_seconds() - begin < most);
    result->single = rate_median(seconds, count);
    return true;
}

static bool measure(DecodingResult *result, Bench *bench, const DecodingCase *plan,
                    Error *error)
{
    static RateMeter meter;
    double seconds;
    memory_reset();
    if (!translate(&seconds, bench, &bench->source, error)) return false;  // warms up
    result->memory = memory_most();  // before the sgemm measurement allocates its own
    if (plan->threads == 1 && !measure_single(result, bench, plan->seconds / 2, error))
        return false;
    if (!(bench->peak = peak_create(bench->workers, error))) return false;
    rate_begin(&meter, bench->peak, plan->int8 ? ARITHMETIC_INT8 : ARITHMETIC_FLOAT, seconds);
    do {
        if (!translate(&seconds, bench, &bench->source, error)) return false;
        rate_add(&meter, bench->flops, seconds);
    } while (meter.seconds < plan->seconds && meter.pieces < MOST_PIECES);
    result->rate = rate_end(&meter);
    result->sentences = bench->source.sentences;
    result->sentences_per_second =
        (double)result->sentences * result->rate.pieces / result->rate.seconds;
    result->tokens_per_second = OUTPUT_TOKENS * result->sentences_per_second;
    return true;
}

bool decoding_work(const void *plan, void *result, Error *error)
{
    Bench bench;
    bool good = bench_create(&bench, plan, error) && measure(result, &bench, plan, error);
    bench_free(&bench);
    return good;
}
