/* The text of --explain, parsed: every step follows from the numbers printed before it, and the
 * table and the map are the network's. */
#include "tests/fixtures/explained.h"

/* The scale of this head's scores. */
static double scale_of(Choice choice)
{
    const Weights *w = &model.weights;
    int l = choice.layer;
    const AttentionWeights *learned = choice.kind == ATTENTION_ENCODER   ? &w->encoder[l].self
                                      : choice.kind == ATTENTION_DECODER ? &w->decoder[l].self
                                                                         : &w->decoder[l].cross;
    const double scales[] = {1 / sqrt(DH), 1, 1.0 / DH, 0, 1};
    return variant->score == SCORE_COSINE ? (double)learned->scale[choice.head]
                                          : scales[variant->score];
}

FIXTURE(setup)
{
    explained_setup();
    return 0;
}

FIXTURE(teardown)
{
    explained_teardown();
    return 0;
}

static char *explain_pair(Choice choice, const char *word)
{
    Snapshot *snapshot = snapshot_open(&model, source, N, target, M, &error);
    char *text = explained(snapshot, choice, word, NULL);
    snapshot_close(snapshot);
    return text;
}

typedef struct Row {
    char key[32];
    double dot, z, e, share;
} Row;

/* The table of step 6; returns the number of its keys. */
static int read_table(Row *row, double *sum, const char *text)
{
    const char *line = behind(text, "  weight\n");
    int j = 0;
    for (; sscanf(line, "  sum %lf", sum) != 1; j++, line = strchr(line, '\n') + 1) {
        assert_true(j < M);
        assert_int_equal(sscanf(line, " %31s %lf %lf %lf %lf", row[j].key, &row[j].dot,
                                &row[j].z, &row[j].e, &row[j].share),
                         5);
    }
    return j;
}

static void softmax_follows(const Row *row, int keys, double sum, double scale)
{
    double largest = -INFINITY, total = 0;
    for (int j = 0; j < keys; j++) largest = fmax(largest, row[j].z);
    for (int j = 0; j < keys; j++) {
        assert_true(fabs(row[j].z - row[j].dot * scale) < 6e-4 + 6e-4 * scale);
        assert_true(fabs(row[j].e - exp(row[j].z - largest)) <
                    1.1e-3 * fmin(1, exp(row[j].z - largest + 1)) + 6e-5);
        total += row[j].e;
    }
    assert_true(fabs(total - sum) < 1e-3);
    for (int j = 0; j < keys; j++) assert_true(fabs(row[j].share - row[j].e / sum) < 2e-4);
}

/* The numbers of q and k give what is compared, and that is the key's in the table. */
static void product_follows(const char *text, const Row *row, int keys)
{
    double q[DH], k[DH], sum = 0, slack = 1e-3;
    char key[32], name[40];
    read_numbers(q, strchr(behind(text, "  query of \""), '\n'), DH);
    const char *found = behind(text, "  key of \"");
    assert_int_equal(sscanf(found, "%31[^\"]", key), 1);
    read_numbers(k, strchr(found, '\n'), DH);
    double qq = 0, kk = 0, distance = 0;
    for (int i = 0; i < DH; i++) {
        sum += q[i] * k[i], slack += 5e-4 * (fabs(q[i]) + fabs(k[i]));
        qq += q[i] * q[i], kk += k[i] * k[i], distance += fabs(q[i] - k[i]);
    }
    const char *end = ") + … = ";
    snprintf(name, sizeof name, "\n  %s ", key);
    text = behind(behind(text, "\n4. "), name);
    if (variant->score == SCORE_COSINE) {
        double lengths[2];
        assert_int_equal(sscanf(behind(text, "…) / ("), "%lf × %lf", &lengths[0], &lengths[1]),
                         2);
        assert_true(fabs(lengths[0] - sqrt(qq)) < 1e-2 && fabs(lengths[1] - sqrt(kk)) < 1e-2);
        sum /= sqrt(qq * kk), slack = 1e-2, end = "=";
        text = strchr(behind(text, "…) / ("), ')');
    }
    if (variant->score == SCORE_LAPLACE) sum = -distance, slack = 2e-2, end = "…) = ";
    double printed = strtod(behind(text, end), NULL);
    assert_true(fabs(printed - sum) < slack);
    int most = 0;
    for (int j = 1; j < keys; j++)
        if (row[j].share > row[most].share) most = j;
    assert_string_equal(row[most].key, key);
    assert_true(fabs(row[most].dot - printed) < 1e-9);
}

/* Shares times values, column by column, are the last line. */
static void mix_follows(const char *text, const Row *row, int keys)
{
    enum { SHOWN = 5 };
    double sum[SHOWN] = {0}, slack[SHOWN] = {0}, v[SHOWN];
    const char *line = behind(text, "7. The weighted sum");
    for (int j = 0; j < keys; j++) {
        line = behind(line, " × ");
        read_numbers(v, line + strcspn(line, " "), SHOWN);
        for (int k = 0; k < SHOWN; k++) {
            sum[k] += row[j].share * v[k];
            slack[k] += 5e-5 * fabs(v[k]) + 6e-4;
        }
    }
    read_numbers(v, behind(line, "="), SHOWN);
    for (int k = 0; k < SHOWN; k++) assert_true(fabs(sum[k] - v[k]) < slack[k]);
}

/* The first numbers printed after `name` are those of x. */
static const char *shows(const char *text, const char *name, const real *x)
{
    double shown[5];
    text = behind(text, name);
    read_numbers(shown, text, 5);
    for (int k = 0; k < 5; k++)
        assert_true(fabs(shown[k] - (double)x[k]) < 6e-4 + 1e-5 * fabs(shown[k]));
    return text;
}

/* Step 3 shows the weights and the input of the query, and the last steps have come to the
 * network's own output, logits and probabilities. */
static void input_and_output_are_the_networks(const char *text, Choice choice)
{
    Snapshot *snapshot = snapshot_open(&model, source, N, target, M, &error);
    HeadVectors v = snapshot_vectors(snapshot, choice.kind, choice.layer, choice.head);
    bool encoder = choice.kind == ATTENTION_ENCODER;
    const LayerWeights *layer =
        (encoder ? model.weights.encoder : model.weights.decoder) + choice.layer;
    const Linear *q = choice.kind == ATTENTION_CROSS ? &layer->cross.q : &layer->self.q;
    char word[32], name[32];
    real copy[D];
    double z, p, sum = 0;
    int row = 0, first = choice.head * DH, id = -1;
    assert_int_equal(model.config.d_model, D);
    assert_int_equal(sscanf(behind(text, "  query of \""), "%31[^\"]", word), 1);
    while (strcmp(word, tokenizer_label(vocabulary.tokenizer[TARGET],
                                        encoder ? source[row] : target[row])))
        row++;
    snprintf(name, sizeof name, "W_Q, row %d", first + 1);
    text = shows(text, name, matrix_row(copy, &q->W, first, D));
    text = shows(text, "\n  x  ", v.Xq.at + row * v.Xq.stride);
    read_numbers(&z, strchr(behind(text, "q_1 = "), '=') + 1, 1);
    assert_true(fabs(z - (double)v.Q.at[row * v.Q.stride]) < 6e-4);
    const real *y =
        (encoder ? snapshot->activations.encoded : snapshot->activations.output) + row * D;
    if (!encoder) {
        text = shows(behind(text, "From the last layer"), "\n  y  ", y);
        assert_int_equal(sscanf(behind(text, "probability\n"), "%31s %lf %lf", word, &z, &p),
                         3);
        for (int i = 0; i < V - 1; i++) {
            double logit = (double)model.weights.logits_bias[i];
            const real *e = matrix_row(copy, &model.weights.output, i, D);
            for (int k = 0; k < D; k++) logit += (double)y[k] * (double)e[k];
            sum += exp(logit - z);
            if (!strcmp(word, tokenizer_label(vocabulary.tokenizer[TARGET], i))) id = i;
            if (id == i) assert_true(fabs(logit - z) < 1e-3);
        }
        assert_true(id >= 0 && fabs(1 / sum - p) < 1e-3);
    } else if (choice.layer + 1 == model.config.encoder_layers)
        shows(behind(text, "norm(x + f)"), "norm(x + f)", y);
    snapshot_close(snapshot);
}

static void is_token(const char *label, int id)
{
    assert_string_equal(label, tokenizer_label(vocabulary.tokenizer[TARGET], id));
}

/* The table and the map have the weights of the network's map. */
static void all_rows_are_the_networks(const char *text, Choice choice)
{
    Snapshot *snapshot = snapshot_open(&model, source, N, target, M, &error);
    SnapshotRows map = snapshot_map(snapshot, choice.kind, choice.layer, choice.head);
    const char *line = strchr(behind(text, "| weight\n"), '\n') + 1;
    const char *cells = strchr(behind(text, "rows sum to 1\n\n"), '\n') + 1;
    bool encoder = choice.kind == ATTENTION_ENCODER, decoder = choice.kind == ATTENTION_DECODER;
    for (int i = 0; i < map.rows; i++) {
        char q[32], k[32];
        double p;
        const real *weight = map.at + i * map.stride;
        int most = 0, seen = decoder ? i + 1 : map.columns;
        for (int j = 0; j < seen; j++)
            if (weight[j] > weight[most]) most = j;
        assert_int_equal(sscanf(line, " %31s | %31s | %lf", q, k, &p), 3);
        assert_true(fabs(p - (double)weight[most]) < 1e-4);
        is_token(q, encoder ? source[i] : target[i]);
        is_token(k, !decoder ? source[most] : most ? target[most - 1] : V - 1);
        cells += strspn(cells, " ") + strlen(q);
        for (int j = 0; j < seen; j++) {
            double cell;
            if (weight[j] < 0.005f) continue;          // blank
            cells += strcspn(cells, ".0123456789\n");  // the shade before the number
            read_numbers(&cell, cells, 1);
            assert_true(fabs(cell - (double)weight[j]) < 0.0051);
            cells += strspn(cells, ".0123456789");
        }
        assert_int_equal(cells[strcspn(cells, ".0123456789\n")], '\n');
        line = strchr(line, '\n') + 1;
        cells = strchr(cells, '\n') + 1;
    }
    snapshot_close(snapshot);
}

TEST(every_step_follows)
{
    for (int kind = ATTENTION_ENCODER; kind <= ATTENTION_CROSS; kind++)
        for (int layer = 0; layer < (kind == ATTENTION_ENCODER ? 2 : 3); layer++)
            for (int head = 0; head < 3; head++) {
                char place[8];
                snprintf(place, sizeof place, "%d", 1 + (layer + 3 * head + kind) % N);
                Choice choice = {.kind = (AttentionKind)kind, .layer = layer, .head = head};
                char *text = explain_pair(choice, head ? place : NULL);
                assert_non_null(text);
                Row row[M];
                double sum;
                int keys = read_table(row, &sum, text);
                softmax_follows(row, keys, sum, scale_of(choice));
                product_follows(text, row, keys);
                mix_follows(text, row, keys);
                input_and_output_are_the_networks(text, choice);
                all_rows_are_the_networks(text, choice);
                free(text);
            }
}

TEST(lines_fit_a_terminal)
{
    char *text = explain_pair(choice_default, "w9");
    assert_non_null(text);
    assert_non_null(strstr(text, "\"w9\""));
    int headings = 0;
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        assert_true(columns_width(line) <= 80);
        assert_true(!*line || line[strlen(line) - 1] != ' ');
        headings += line[0] >= '1' && line[0] <= '9' && line[strspn(line, "0123456789")] == '.';
    }
    assert_int_equal(headings, 12);
    free(text);
}

TEST(shared_projections_are_said)
{
    static const char *const said[] = {NULL, "W_Q and W_K are one", "W_K and W_V are one",
                                       "without projections"};
    for (int kind = PROJECTIONS_QK_SHARED; kind <= PROJECTIONS_NONE; kind++) {
        model.config.projections = kind;
        char *text = explain_pair(choice_default, NULL);
        assert_non_null(strstr(text, said[kind]));
        free(text);
    }
}

TEST(refusals)
{
    Choice choice = choice_default;
    choice.head = CHOICE_MEAN;
    assert_null(explain_pair(choice, NULL));
    assert_non_null(strstr(error.text, "one head is explained"));
    choice.head = CHOICE_BEST;
    assert_null(explain_pair(choice, "walrus"));
    assert_string_equal(error.text,
                        "`word` 'walrus' is neither one of the 12 tokens \"w3\" … \"</s>\" "
                        "nor a position from 1 to 12");
    assert_null(explain_pair(choice, "13"));
    assert_null(explain_pair(choice, "0"));
}

FOR_EACH_VARIANT(setup, teardown)
