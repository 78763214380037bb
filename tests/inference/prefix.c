/* Translations whose beginning is forced, and the alternatives to a beginning. */
#include "tests/fixtures/forty-lines.h"
#include "tests/fixtures/test.h"

TEST(a_forced_beginning)
{
    int id[3 * S], start[S + 1];
    for (int s = 0; s <= S; s++) start[s] = 3 * s;
    Rng rng = rng_stream(5, RNG_TEST, 0);
    for (int i = 0; i < 3 * S; i++) id[i] = 1 + (int)rng_below(&rng, V - 2);
    Packed own = {S, 3 * S, id, start}, one = {1, 2, id, (int[]){0, 2}};
    for (int which = 0; which < 3; which++) {
        SearchConfig config = way(which);
        Translations out;
        run(&out, &config, &own);
        for (int s = 0; s < S; s++)
            for (int i = 0; i < out.sentence[s].count; i++) {
                assert_true(out.sentence[s].hypothesis[i].length >= 4);
                assert_memory_equal(out.sentence[s].hypothesis[i].id, id + 3 * s,
                                    3 * sizeof *id);
            }
        if (which < 2) check_scores(&out);
        translations_free(&out);
        run(&out, &config, &one);
        for (int s = 0; s < S; s++)
            assert_memory_equal(out.sentence[s].hypothesis->id, id, 2 * sizeof *id);
        translations_free(&out);
    }
}

/* A translation that is forced to begin as it begins anyhow is the same one. */
TEST(its_own_beginning_changes_nothing)
{
    SearchConfig config = way(0);
    Translations free_run, forced;
    run(&free_run, &config, NULL);
    int id[MOST_LENGTH * S], start[S + 1] = {0};
    for (int s = 0; s < S; s++) {
        const Hypothesis *best = free_run.sentence[s].hypothesis;
        int half = best->length / 2;
        memcpy(id + start[s], best->id, (size_t)half * sizeof *id);
        start[s + 1] = start[s] + half;
    }
    Packed prefix = {S, start[S], id, start};
    run(&forced, &config, &prefix);
    int ended = 0;
    for (int s = 0; s < S; s++) {
        const Hypothesis *a = free_run.sentence[s].hypothesis,
                         *b = forced.sentence[s].hypothesis;
        int n = packed_length(&source, s);
        if (a->length == search_limit(&config, &model.config, n, 0))
            continue;  // it has more room
        assert_true(same_ids(a, b));
        assert_true(fabs(a->log_probability - b->log_probability) < 1e-3);
        ended++;
    }
    print_message("%d of %d ended\n", ended, S);
    assert_in_range(ended, 10, S);
    translations_free(&free_run);
    translations_free(&forced);
}

/* Each alternative is what a search finds that is forced to begin with its first token; and those
 * are the most probable first tokens. */
TEST(alternatives_are_forced_searches)
{
    enum { N = 5 };
    int compared = 0;
    Packed before = {1, 1, (int[]){7}, (int[]){0, 1}};
    for (int beam = 1; beam <= 3; beam += 2)
        for (int with = 0; with < 2; with++) {
            SearchConfig config = search_default, single = search_default;
            Translations out, forced;
            config.beam = single.beam = beam;
            config.alternatives = N;
            run(&out, &config, with ? &before : NULL);
            for (int s = 0; s < S; s++) assert_int_equal(out.sentence[s].count, N);
            for (int i = 0; i < N; i++) {
                int id[2 * S], start[S + 1] = {0};
                for (int s = 0; s < S; s++) {
                    int *to = id + start[s];
                    if (with) *to++ = 7;
                    int first = out.sentence[s].hypothesis[i].id[with];
                    if (first != ID_END) *to++ = first;
                    start[s + 1] = (int)(to - id);
                }
                Packed prefix = {S, start[S], id, start};
                run(&forced, &single, &prefix);
                for (int s = 0; s < S; s++) {
                    const Hypothesis *a = &out.sentence[s].hypothesis[i];
                    const Hypothesis *b = forced.sentence[s].hypothesis;
                    for (int j = 0; j < i; j++)
                        assert_true(a->id[with] != out.sentence[s].hypothesis[j].id[with]);
                    if (i) assert_true(a->score <= a[-1].score);
                    int n = packed_length(&source, s);
                    int most = search_limit(&config, &model.config, n, with);
                    if (a->id[with] == ID_END || a->length >= most || b->length >= most)
                        continue;  // the forced one has room for more
                    compared++;
                    assert_true(same_ids(a, b));
                }
                translations_free(&forced);
            }
            translations_free(&out);
        }
    print_message("%d compared\n", compared);
    assert_true(compared > 100);
}

/* More is asked for than there is. */
TEST(fewer_alternatives_than_asked_for)
{
    Transformer small = random_model(6, 8, 3);
    Ensemble one = ensemble_of(&small);
    TranslatorInput input = {.source = {1, 2, (int[]){2, 0}, (int[]){0, 2}}};
    SearchConfig config = search_default;
    Translations out;
    config.alternatives = 60;
    assert_true(translator_run(&out, &one, &input, &config, workers, NULL, &error));
    assert_int_equal(out.sentence[0].count, 4);  // </s> and three pieces
    translations_free(&out);
    transformer_free(&small);
}

TEST(refused_beginnings)
{
    SearchConfig config = search_default;
    int id[MOST_LENGTH];
    for (int t = 0; t < MOST_LENGTH; t++) id[t] = 3;
    Packed prefix = {1, MOST_LENGTH, id, (int[]){0, MOST_LENGTH}};
    refuse(config, &prefix, "beginning has 48 tokens, and a translation may have 48");
    prefix = (Packed){2, 2, id, (int[]){0, 1, 2}};
    refuse(config, &prefix, "40 sentences, but 2 forced beginnings");
    id[1] = V - 1;
    prefix = (Packed){1, 2, id, (int[]){0, 2}};
    refuse(config, &prefix, "token 2 of the forced beginning of sentence 1 is 59");
    id[1] = ID_END;
    refuse(config, &prefix, "token 2 of the forced beginning of sentence 1 is 0");
}

int main(void)
{
    return run_all_tests("prefix", setup, teardown);
}
