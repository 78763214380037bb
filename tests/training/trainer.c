/* trainer.c -- an update gives the same bits for any number of threads and after a resume, and
 * stops with an error if a gradient is not finite. */
#include "tests/fixtures/small-training.h"
#include "tests/fixtures/test.h"

/* The norms of the tensors make up the norm of the gradient, and <pad> is never trained. */
TEST(test_norms_of_tensors_and_weights_of_pad)
{
    TrainingConfig c = config();
    Result result;
    double squares = 0;
    train(&result, &c, 2, 1, UPDATES, NULL);
    for (int t = 0; t < result.model.params.count; t++) {
        squares += result.norm[t] * result.norm[t];
        assert_true(result.norm[t] > 0 || !result.model.params.tensor[t].trained);
    }
    assert_true(fabs(sqrt(squares) / result.last.gradient_norm - 1) < 1e-12);

    const real *pad = result.model.weights.target_embedding.at + (V - 1) * SHAPE.d_model;
    for (int k = 0; k < SHAPE.d_model; k++) assert_true(pad[k] == 0);
    assert_true(result.model.weights.logits_bias[V - 1] == 0);
    assert_true(result.model.weights.logits_bias[5] != 0);
    free_result(&result);
}

static void check_threads(const TrainingConfig *c)
{
    Result one;
    train(&one, c, 1, 1, UPDATES, NULL);
    for (int threads = 2; threads <= 6; threads++) {
        Result many;
        train(&many, c, threads, 1, UPDATES, NULL);
        assert_same_bits(&one, &many);
        free_result(&many);
    }
    free_result(&one);
}

TEST(test_threads_change_no_bit)
{
    TrainingConfig c = config();
    check_threads(&c);
    c.r_drop = 2;
    check_threads(&c);
    c.optimizer = OPTIMIZER_MUON;
    check_threads(&c);
}

TEST(test_a_resume_changes_no_bit)
{
    TrainingConfig c = config();
    for (c.optimizer = OPTIMIZER_ADAM; c.optimizer <= OPTIMIZER_MUON; c.optimizer++) {
        c.r_drop = 5 * c.optimizer;
        Result whole, first, second;
        train(&whole, &c, 2, 1, UPDATES, NULL);
        train(&first, &c, 2, 1, 2, NULL);
        train(&second, &c, 3, 3, UPDATES, &first);
        assert_same_bits(&whole, &second);
        free_result(&whole);
        free_result(&first);
        free_result(&second);
    }
}

/* The moving average equals its formula, computed in double from the weights after each update.
 * The weights do not depend on its decay. */
TEST(test_moving_average)
{
    TrainingConfig c = config();
    Result after[UPDATES], without;
    c.ema = 0.3;  // (1+u) / (10+u) is larger from update 3 on
    for (int u = 0; u < UPDATES; u++) train(&after[u], &c, 2, 1, u + 1, NULL);
    Transformer *model = &after[0].model;
    size_t size = model->params.size;
    double *ema = malloc(size * sizeof *ema);
    real *first = malloc(size * sizeof *first);
    params_initialise(&model->params, first, 7);
    double moved = 0;
    for (size_t t = 0; t < (size_t)model->params.count; t++) {
        const Tensor *tensor = &model->params.tensor[t];
        for (size_t i = tensor->offset; i < tensor->offset + tensor->count; i++) {
            ema[i] = (double)first[i];
            for (int u = 1; u <= UPDATES; u++) {
                double decay = fmin(0.3, (1.0 + u) / (10.0 + u));
                ema[i] = decay * ema[i] + (1 - decay) * (double)after[u - 1].model.block[i];
            }
            double is = (double)after[UPDATES - 1].ema[i];
            assert_true(fabs(is - ema[i]) < 1e-6);
            moved = fmax(moved, fabs(is - (double)after[UPDATES - 1].model.block[i]));
        }
    }
    assert_true(moved > 1e-3);
    c.ema = 0.99;
    train(&without, &c, 1, 1, UPDATES, NULL);
    assert_memory_equal(without.model.block, after[UPDATES - 1].model.block,
                        size * sizeof(real));
    for (int u = 0; u < UPDATES; u++) free_result(&after[u]);
    free_result(&without);
    free(ema);
    free(first);
}

/* Frozen tensors keep the bits of weights, moments and average; the others have the gradient that
 * they have without freezing, and it alone makes up the norm. */
static void check_frozen(unsigned parts, int optimizer)
{
    TrainingConfig c = config();
    c.optimizer = optimizer;
    c.weight_decay = 0.1;
    c.clip_norm = 0.01;
    SmallTraining free_one, l;
    begin_training(&free_one, &SHAPE, &c, 2);
    begin_training(&l, &SHAPE, &c, 3);
    Params *params = &l.model.params;
    size_t bytes = params->size * sizeof(real), count = 0;
    Optimizer *o = &l.trainer->optimizer;
    assert_true(make_update(&free_one, 1) && make_update(&l, 1));  // there are moments now
    memcpy(o->ema, l.model.block, bytes);
    params_freeze(params, parts);
    assert_true(make_update(&free_one, 2));
    real *block = copy_of(l.model.block, bytes), *m = copy_of(o->m, bytes),
         *v = copy_of(o->v, bytes), *ema = copy_of(o->ema, bytes);
    double squares = 0;
    for (int u = 2; u <= UPDATES; u++) {
        assert_true(make_update(&l, u));
        for (int t = 0; u == 2 && t < params->count; t++) {
            const Tensor *tensor = &params->tensor[t];
            double norm = gradient_norm(&l, tensor);
            assert_true(norm == gradient_norm(&free_one, tensor) || optimizer);
            if (!tensor->frozen) squares += norm * norm;
        }
        if (u == 2 && !optimizer) assert_near(sqrt(squares), l.stats.gradient_norm, 1e-12);
        if (u == 2) assert_true(l.stats.gradient_norm < free_one.stats.gradient_norm);
    }
    for (int t = 0; t < params->count; t++) {
        const Tensor *tensor = &params->tensor[t];
        size_t at = tensor->offset, length = tensor->count * sizeof(real);
        bool same = !memcmp(block + at, l.model.block + at, length) &&
                    !memcmp(m + at, o->m + at, length) && !memcmp(v + at, o->v + at, length) &&
                    !memcmp(ema + at, o->ema + at, length);
        assert_int_equal(same, tensor->frozen);
        if (tensor->frozen) count += tensor->count;
        bool layer = !strncmp(tensor->name, "model.encoder.layers", 20);
        if (layer) assert_int_equal(tensor->frozen, (parts & PART_ENCODER) != 0);
        if (strstr(tensor->name, "shared"))
            assert_int_equal(same, (parts & PART_EMBEDDINGS) != 0);
        if (strstr(tensor->name, "encoder_attn"))
            assert_int_equal(same, (parts & PART_DECODER) != 0);
    }
    assert_true(count > 0);
    free(block), free(m), free(v), free(ema);
    end_training(&free_one);
    end_training(&l);
}

TEST(test_frozen_tensors_keep_their_bits)
{
    for (unsigned parts = 1; parts < PART_ALL; parts++) check_frozen(parts, (int)parts % 2);
}

/* Shared projections stay equal to the last bit and count once in the norm; those that are not
 * there stay the identity; everything else learns. Threads change no bit. */
static void check_projections(int projections, int optimizer)
{
    const ModelConfig shape = {NETWORK(V, 21, 3, 40, 2, 2, 16), .projections = projections};
    TrainingConfig c = config();
    c.optimizer = optimizer;
    c.weight_decay = 0.1;
    c.clip_norm = 0.01;
    SmallTraining l, other;
    begin_training(&l, &shape, &c, 1);
    begin_training(&other, &shape, &c, 3);
    const Params *params = &l.model.params;
    size_t bytes = params->size * sizeof(real);
    const Optimizer *o = &l.trainer->optimizer;
    const real *blocks[] = {l.model.block, o->m, o->v, o->ema};
    real *first = copy_of(l.model.block, bytes);
    memcpy(o->ema, first, bytes);
    double squares = 0;
    int copies = 0, fixed = 0;
    for (int u = 1; u <= UPDATES; u++)
        assert_true(make_update(&l, u) && make_update(&other, u));
    for (const Tensor *t = params->tensor; t < params->tensor + params->count; t++) {
        double norm = gradient_norm(&l, t);
        size_t length = t->count * sizeof(real);
        bool same = !memcmp(first + t->offset, l.model.block + t->offset, length);
        if (!t->copy && !t->frozen) squares += norm * norm;
        for (int b = 0; t->copy && b < 4; b++)
            assert_memory_equal(blocks[b] + t->offset, blocks[b] + t[-1].offset, length);
        copies += t->copy, fixed += t->frozen;
        assert_int_equal(same, t->frozen || !strcmp(t->name, "final_logits_bias"));
        for (size_t i = 0; t->frozen && i < t->count; i++)
            assert_true(first[t->offset + i] == (t->dimensions == 2 && i % 22 == 0));
    }
    if (!optimizer) assert_near(sqrt(squares), l.stats.gradient_norm, 1e-12);
    assert_memory_equal(l.model.block, other.model.block, bytes);
    assert_int_equal(copies, projections == PROJECTIONS_NONE ? 0 : 6 * 2);
    assert_int_equal(fixed, projections == PROJECTIONS_NONE ? 6 * 6 : 0);
    free(first);
    end_training(&l);
    end_training(&other);
}

TEST(test_shared_projections_stay_equal)
{
    for (int kind = PROJECTIONS_QK_SHARED; kind <= PROJECTIONS_NONE; kind++) {
        check_projections(kind, OPTIMIZER_ADAM);
        check_projections(kind, OPTIMIZER_MUON);
    }
}

/* The gradient depends on the micro-batches and on the number of accumulators only by rounding:
 * dropout is a function of the sentence. */
TEST(test_micro_batches_and_accumulators_change_only_rounding)
{
    static const struct {
        int micro_tokens, accumulators;
    } cases[] = {{30, 4}, {100000, 4}, {20, 4}, {20, 1}};
    TrainingConfig c = config();
    Result first, other;
    enum { CASES = sizeof cases / sizeof *cases };
    for (int i = 0; i < 2 * CASES; i++) {  // then with R-Drop
        c.micro_tokens = cases[i % CASES].micro_tokens;
        c.accumulators = cases[i % CASES].accumulators;
        c.r_drop = i < CASES ? 0 : 5;
        if (i == CASES) free_result(&first);
        train(i % CASES ? &other : &first, &c, 2, 1, 1, NULL);
        if (i % CASES == 0) continue;
        for (int t = 0; t < first.model.params.count; t++)
            assert_true(fabs(other.norm[t] - first.norm[t]) <= 1e-5 * first.last.gradient_norm);
        assert_near(other.last.gradient_norm, first.last.gradient_norm, 1e-5);
        assert_near(other.last.loss.nll, first.last.loss.nll, 1e-5);
        assert_near(other.last.loss.objective, first.last.loss.objective, 1e-5);
        free_result(&other);
    }
    free_result(&first);
}

/* Without dropout both copies are the same, so an update equals one without R-Drop. With
 * dropout the divergence adds to the objective but not to nll. */
TEST(test_r_drop_without_dropout)
{
    TrainingConfig c = config(), still = config();
    Result plain, twice, apart, weightless;
    still.dropout = still.attention_dropout = still.activation_dropout = 0;
    train(&plain, &still, 1, 1, 1, NULL);
    still.r_drop = 5;
    train(&twice, &still, 1, 1, 1, NULL);
    assert_near(plain.last.loss.nll, twice.last.loss.nll, 1e-5);
    assert_near(plain.last.loss.objective, twice.last.loss.objective, 1e-5);
    assert_near(plain.last.gradient_norm, twice.last.gradient_norm, 1e-4);
    assert_int_equal(plain.last.loss.tokens, twice.last.loss.tokens);
    assert_int_equal(plain.last.tokens, twice.last.tokens);
    assert_true(2 * plain.last.flops == twice.last.flops);
    c.r_drop = 1e-9;
    train(&weightless, &c, 1, 1, 1, NULL);
    c.r_drop = 5;
    train(&apart, &c, 1, 1, 1, NULL);
    assert_true(apart.last.loss.nll == weightless.last.loss.nll);
    assert_true(apart.last.loss.objective > weightless.last.loss.objective + 0.1);
    Result *all[] = {&plain, &twice, &apart, &weightless};
    for (int i = 0; i < 4; i++) free_result(all[i]);
}

TEST(test_not_finite_stops_and_names_the_tensor)
{
    TrainingConfig c = config();
    SmallTraining l;
    begin_training(&l, &SHAPE, &c, 2);
    l.model.weights.encoder[1].ffn.fc2.W.at[3] = NAN;
    real first = l.model.block[0];
    assert_false(make_update(&l, 12));
    assert_non_null(strstr(l.error.text, "update 12"));
    assert_non_null(strstr(l.error.text, "model."));
    assert_non_null(strstr(l.error.text,
                           "a `learning-rate` below 0.01, a `warmup` above 3 or a "
                           "`clip-norm` below 1"));
    assert_true(l.model.block[0] == first);
    end_training(&l);
}

TEST_MAIN("trainer", NULL, NULL)
