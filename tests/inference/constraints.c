/* What may come next, against the definitions, and what searches give where something is forbidden or
 * made dearer. */
#include "inference/constraints.h"
#include "tests/fixtures/forty-lines.h"
#include "tests/fixtures/test.h"

/* ---- the scores of one row ---- */

/* Whether written and c have the n-gram that c completes twice. */
static bool comes_again(const int *written, int count, int c, int n)
{
    for (int begin = 0; begin + n <= count; begin++) {
        bool same = written[begin + n - 1] == c;
        for (int i = 0; i < n - 1; i++)
            same &= written[begin + i] == written[count - n + 1 + i];
        if (same) return true;
    }
    return false;
}

TEST(against_the_definitions)
{
    enum { C = 6, ROUNDS = 3000 };
    Rng rng = rng_stream(1, RNG_TEST, 0);
    int forbidden = 0, dearer = 0, ended = 0;
    for (int round = 0; round < ROUNDS; round++) {
        int written[12], count = (int)rng_below(&rng, 12);
        for (int i = 0; i < count; i++) written[i] = 2 + (int)rng_below(&rng, C - 2);
        SearchConfig config = {.no_repeat_ngram = (int)rng_below(&rng, 4),
                               .repetition_penalty = 1 + 0.5 * rng_below(&rng, 2),
                               .min_length = (int)rng_below(&rng, 14),
                               .unknown = rng_below(&rng, 2)};
        real before[C], z[C];
        for (int c = 0; c < C; c++) before[c] = z[c] = (real)rng_normal(&rng);
        double normaliser = search_normaliser(z, C);
        constraints_apply(z, C, normaliser, written, count + 1, &(SearchTask){0}, &config);
        bool all = true;
        for (int c = 1; c < C; c++) {
            bool never = (c == ID_UNKNOWN && !config.unknown) ||
                         (config.no_repeat_ngram &&
                          comes_again(written, count, c, config.no_repeat_ngram));
            double expected = before[c] - normaliser;
            for (int i = 0; i < count; i++)
                if (written[i] == c) {
                    expected *= config.repetition_penalty, dearer++;
                    break;
                }
            if (never) assert_true(z[c] == -INFINITY);
            else assert_true(fabs(z[c] - normaliser - expected) < 1e-5);
            forbidden += never;
            all &= never;
        }
        if (count < config.min_length && !all) assert_true(z[ID_END] == -INFINITY);
        else assert_true(z[ID_END] == before[ID_END]);
        ended += count < config.min_length && all;
    }
    print_message("%d forbidden, %d dearer, %d ended\n", forbidden, dearer, ended);
    assert_true(forbidden > ROUNDS && dearer > ROUNDS && ended > 20);
}

/* ---- searches ---- */

/* A sentence may have as many <unk> as its source, or as many as it likes. */
TEST(as_many_unknown_as_the_source)
{
    real bias = model.weights.logits_bias[ID_UNKNOWN];
    model.weights.logits_bias[ID_UNKNOWN] += 6;
    for (int which = 0; which < 2; which++) {
        SearchConfig config = search_default;
        Translations out;
        int all = 0, anywhere = 0;
        config.beam = which ? 3 : 1;
        for (int way_of = 0; way_of < 3; way_of++) {
            config.copy_unknown = way_of == 1;
            config.unknown = way_of == 2;
            run(&out, &config, NULL);
            for (int s = 0; s < S; s++) {
                const Hypothesis *best = out.sentence[s].hypothesis;
                int written = 0, read = 0;
                for (int t = 0; t < best->length; t++) written += best->id[t] == ID_UNKNOWN;
                for (int t = source.start[s]; t < source.start[s + 1]; t++)
                    read += source.id[t] == ID_UNKNOWN;
                if (way_of < 2) assert_in_range(written, 0, way_of ? read : 0);
                if (way_of == 1) all += written;
                if (way_of == 2) anywhere += written;
            }
            translations_free(&out);
        }
        print_message("%d where the source has some, %d anywhere\n", all, anywhere);
        assert_true(all > 0 && anywhere > all);
    }
    model.weights.logits_bias[ID_UNKNOWN] = bias;
}

static bool repeats(const Hypothesis *h, int n)
{
    for (int i = 0; i + n < h->length; i++)
        for (int j = 0; j < i; j++)
            if (!memcmp(h->id + i, h->id + j, (size_t)n * sizeof *h->id)) return true;
    return false;
}

TEST(no_ngram_comes_twice)
{
    for (int which = 0; which < 3; which++)
        for (int n = 1; n <= 3; n++) {
            SearchConfig config = way(which);
            int would = 0;
            for (int ban = 0; ban < 2; ban++) {
                Translations out;
                config.no_repeat_ngram = ban ? n : 0;
                run(&out, &config, NULL);
                for (int s = 0; s < S; s++)
                    for (int i = 0; i < out.sentence[s].count; i++) {
                        bool again = repeats(&out.sentence[s].hypothesis[i], n);
                        if (ban) assert_false(again);
                        would += again;
                    }
                translations_free(&out);
            }
            assert_true(would > 0);
        }
}

TEST(as_long_as_asked)
{
    for (int which = 0; which < 3; which++) {
        SearchConfig config = way(which);
        Translations out;
        config.min_length = 12;
        config.max_tokens = 20;
        run(&out, &config, NULL);
        for (int s = 0; s < S; s++)
            for (int i = 0; i < out.sentence[s].count; i++)
                assert_in_range(out.sentence[s].hypothesis[i].length, 13, 20);
        translations_free(&out);
    }
}

/* The same samples for a line, whatever is beside it. */
TEST(samples_belong_to_their_line)
{
    SearchConfig config = search_default;
    config.sample = true;
    config.n_best = 3;
    Translations all, some;
    run(&all, &config, NULL);
    config.batch_rows = 5;
    int different = 0;
    for (int s = 0; s + 2 <= S; s += 3) {
        int start[3];
        for (int i = 0; i < 3; i++) start[i] = source.start[s + i] - source.start[s];
        TranslatorInput input = {.source = {2, start[2], source.id + source.start[s], start},
                                 .line = 1 + (uint64_t)s};
        assert_true(translator_run(&some, &alone, &input, &config, workers, NULL, &error));
        for (int i = 0; i < 2; i++)
            for (int n = 0; n < 3; n++) {
                const Hypothesis *a = &all.sentence[s + i].hypothesis[n];
                const Hypothesis *b = &some.sentence[i].hypothesis[n];
                assert_true(same_ids(a, b));
                different += n && !same_ids(a, &a[-1]);
            }
        translations_free(&some);
    }
    assert_true(different > S / 3);  // samples of a line differ from each other
    translations_free(&all);
    config.batch_rows = 128;
    config.seed = 2;
    run(&some, &config, NULL);
    check_scores(&some);  // and their log p is the model's
    translations_free(&some);
}

/* Scores that nobody asks for change no token. */
TEST(without_scores)
{
    for (int which = 0; which < 3; which++) {
        Translations with, without;
        SearchConfig config = way(which);
        run(&with, &config, NULL);
        config.no_scores = true;
        run(&without, &config, NULL);
        for (int s = 0; s < S; s++) {
            const Hypothesis *a = with.sentence[s].hypothesis,
                             *b = without.sentence[s].hypothesis;
            assert_true(same_ids(a, b));
        }
        translations_free(&with);
        translations_free(&without);
    }
}

TEST(refusals)
{
    SearchConfig config = search_default;
    config.sample = true, config.alternatives = 2;
    refuse(config, NULL, "`alternatives`");
    config = search_default, config.alternatives = 2, config.n_best = 2;
    refuse(config, NULL, "`n-best`");
    config = search_default, config.min_length = 9, config.max_tokens = 9;
    refuse(config, NULL, "`min-length` 9");
}

int main(void)
{
    return run_all_tests("constraints", setup, teardown);
}
