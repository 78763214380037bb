/* copying.c -- spans in place of the words that are aligned with them: with shares by hand, and in the
 * toy model's translations. */
#include "inference/copying.c"
#include "inference/translator.h"
#include "tests/fixtures/small-model.h"
#include "tests/fixtures/test.h"

static Error error;

/* ---- shares by hand ---- */

static const char *const PIECES[] = {"▁le", "▁prix", "▁est", "▁2", "8",  ",",  ".",
                                     "▁$",  "▁a",    "b",    "(",  "猫", "犬", "▁"};
enum { PIECE_COUNT = sizeof PIECES / sizeof *PIECES, MOST = 12 };

/* A translation of these pieces, "le prix est 2 8 , 8 .", where each is aligned with the source token
 * `aligned` of 6: "0 0 1 2 2 2 2 4"; the 6th is </s>. */
static void assert_spans(const char *pieces, const char *aligned, CopySpan *span, int count,
                         const char *wanted, int wanted_missing)
{
    enum { N = 6 };
    static SmallModel model;
    float share[MOST * N] = {0};
    char *replacement[MOST] = {NULL};
    char *text, copy[200], *rest = copy;
    int id[MOST], m = 0;
    bool missing;
    small_model_begin(&model, TOKENIZER_UNIGRAM, false);
    for (int i = 0; i < PIECE_COUNT; i++)
        small_model_piece(&model, PIECES[i], -1, PIECE_NORMAL);
    Tokenizer *tokenizer = tokenizer_load(model.bytes, model.size, &error);
    if (!tokenizer) fail_msg("%s", error.text);
    strcpy(copy, pieces);
    for (char *word; (word = strtok_r(rest, " ", &rest)); m++) {
        int i = 0;
        while (i < PIECE_COUNT && strcmp(word, PIECES[i])) i++;
        assert_true(i < PIECE_COUNT);
        id[m] = 2 + i;
        for (int j = 0; j < N; j++) share[m * N + j] = 0.05f;
        share[m * N + aligned[2 * m] - '0'] += 0.5f + 0.01f * (float)m;
        share[m * N + N - 1] = 0.9f;  // </s> does not count
    }
    id[m++] = ID_END;
    SpanText st = {.tokenizer = tokenizer,
                   .id = id,
                   .share = share,
                   .replacement = replacement,
                   .m = m,
                   .n = N};
    assert_true(align_sources(&st, &error));
    assert_true(decode_spans(&text, &missing, &st, span, count, &error));
    for (int i = 0; i < count; i++)
        if (span[i].missing && !is_mark(&span[i])) assert_true(put_span(&st, &span[i], &error));
    assert_true(put_marks(&st, span, count, &error));
    free(text);
    assert_true(decode_spans(&text, &missing, &st, span, count, &error));
    assert_string_equal(text, wanted);
    assert_int_equal(missing, wanted_missing > 0);
    int named = 0;
    for (int i = 0; i < count; i++) named += span[i].missing;
    assert_int_equal(named, wanted_missing);
    for (int t = 0; t < m; t++) free(replacement[t]);
    free(st.source), free(st.target);
    free(text);
    tokenizer_free(tokenizer);
}

TEST(shares_by_hand)
{
    CopySpan number[] = {{.first = 2, .end = 3, .text = "28.8"}},
             there[] = {{.first = 2, .end = 3, .text = "28,8"}};
    CopySpan none[] = {{.first = 3, .end = 4, .text = "x"}};
    CopySpan two[] = {{.first = 0, .end = 1, .text = "A"},
                      {.first = 2, .end = 3, .text = "28.8"}};
    CopySpan twice[] = {{.first = 0, .end = 1, .text = "7"},
                        {.first = 2, .end = 3, .text = "7"}};
    CopySpan apart[] = {{.first = 1, .end = 2, .text = "http://a.b"}};
    /* The whole number, but not the full stop. */
    assert_spans("▁le ▁prix ▁est ▁2 8 , 8 .", "0 0 1 2 2 2 2 4", number, 1, "le prix est 28.8.",
                 0);
    /* The rest of the word, if a part is aligned with the span. */
    assert_spans("▁le ▁prix ▁est ▁2 8 8 .", "0 0 1 2 1 1 4", number, 1, "le prix est 28.8.", 0);
    assert_spans("▁le ▁prix ▁est ▁a b .", "0 0 1 1 2 4", number, 1, "le prix est 28.8.", 0);
    assert_spans("▁le ( ▁a b .", "0 0 2 2 4", number, 1, "le( 28.8.", 0);
    /* What is there stays. */
    assert_spans("▁le ▁prix ▁est ▁2 8 , 8 .", "0 0 1 2 2 2 2 4", there, 1, "le prix est 28,8.",
                 0);
    /* But it is not there as a part of another number. */
    CopySpan part[] = {{.first = 2, .end = 3, .text = "8"}};
    assert_spans("▁le ▁prix ▁2 8 .", "0 0 2 2 4", part, 1, "le prix 8.", 0);
    /* Nothing is aligned with it: it follows what the token before it is aligned with. */
    assert_spans("▁le ▁prix ▁est ▁2 8", "0 0 1 2 2", none, 1, "le prix est 28 x", 0);
    assert_spans("▁le ▁prix ▁2 8 ▁est", "0 0 2 2 1", none, 1, "le prix 28 x est", 0);
    /* Several; equal ones. */
    assert_spans("▁le ▁prix ▁est ▁2 8", "0 1 1 2 2", two, 2, "A prix est 28.8", 0);
    assert_spans("▁le ▁prix ▁est ▁2 8", "0 1 1 2 2", twice, 2, "7 prix est 7", 0);
    assert_spans("▁le ▁prix ▁est ▁a b", "1 1 1 1 1", twice, 2, "le 7 prix est ab 7", 0);
    /* Numbers become one; words only if the span has several. */
    assert_spans("▁le ▁a ▁2 ▁2", "0 2 2 2", number, 1, "le a 28.8", 0);
    assert_spans("▁le ▁prix ▁est ▁a", "1 3 1 1", apart, 1, "le prix est http://a.b", 0);
    apart->text = "a / b";
    assert_spans("▁le ▁prix ▁est ▁a", "1 3 1 1", apart, 1, "le prix a / b", 0);
    /* Each character is a word in scripts without spaces. */
    assert_spans("▁ 猫 犬 猫 .", "0 0 2 3 4", number, 1, "猫28.8猫.", 0);
}

static CopySpan mark(const char *text, int at, bool ahead)
{
    return (CopySpan){
        .text = (char *)text, .first = at, .end = at, .ahead = ahead, .close = true};
}

TEST(marks_in_pairs)
{
    CopySpan nested[] = {mark("<b>", 1, true), mark("<i>", 1, true), mark("</i>", 2, false),
                         mark("</b>", 3, false), mark("!", 4, false)};
    assert_spans("▁le ▁prix ▁est ▁a", "0 1 2 3", nested, 5, "le <b><i>prix</i> est</b> a!", 0);
    assert_spans("▁le ▁prix ▁est ▁a", "0 2 1 3", nested, 5, "le <b>prix <i>est</i></b> a!", 0);
    assert_spans("▁le ▁est ▁a ▁2", "3 1 0 2", nested, 5, "le! <b><i>est</i> a 2</b>", 0);
    CopySpan forum[] = {mark("[url=x]", 1, true), mark("[/url]", 3, false)};
    assert_spans("▁le ▁prix ▁est ▁a", "0 2 1 3", forum, 2, "le [url=x]prix est[/url] a", 0);
    /* A word that changes places does not make pairs cross. */
    CopySpan beside[] = {mark("[", 0, true), mark("](a.md)", 2, false), mark("**", 2, true),
                         mark("**", 4, false)};
    assert_spans("▁le ▁prix ▁est ▁a", "2 0 3 1", beside, 4, "**le** [prix est a](a.md)", 0);
    assert_spans("▁le ▁prix ▁est ▁a .", "0 1 2 3 4", beside, 4, "[le prix](a.md) **est a**.",
                 0);
    /* Nothing inside; one that is not closed; one that closes itself. */
    CopySpan empty[] = {mark("<u>", 1, true), mark("</u>", 1, true), mark("<br>", 2, false),
                        mark("<p/>", 3, false)};
    assert_spans("▁le ▁prix ▁est", "0 1 2", empty, 4, "le <u></u>prix<br> est<p/>", 0);
}

static bool lacks(CopySpan *span, int count, const char *text)
{
    bool missing;
    assert_true(find_missing(&missing, span, count, text, &error));
    return missing;
}

TEST(longer_spans_are_found_first)
{
    CopySpan span[] = {{.first = 0, .end = 1, .text = "10"},
                       {.first = 1, .end = 2, .text = "10:30"},
                       {.first = 2, .end = 3, .text = "10"},
                       {.first = 3, .end = 4, .text = "€"}};
    assert_true(lacks(span, 4, "at 10:30 or 10"));
    assert_true(!span[0].missing && !span[1].missing && span[2].missing && span[3].missing);
    assert_false(lacks(span, 4, "10€ 10:30 10"));
    assert_true(lacks(span, 4, "a10 100"));
    for (int i = 0; i < 4; i++) assert_true(span[i].missing);
    assert_false(lacks(span, 0, "a"));
}

/* ---- the toy model ---- */

/* The translation of a text in which the words of `word` are spans of another text: "it" for "it",
 * and so on. */
static char *translate_spans(Bundle *bundle, const char *text, const char *const *word,
                             const char *const *other, int count, int *missing)
{
    IdLines lines = {.find_unknown = true};
    Ids ids = {0}, begin = {0};
    Workers *workers = workers_start(1, &error);
    Ensemble alone = ensemble_of(&bundle->model);
    Translations out;
    CopySpan span[4];
    char *translated;
    assert_true(bundle_encode(bundle, SOURCE, &lines, text, strlen(text), NULL, &error));
    assert_true(tokenizer_encode_begins(bundle->vocabulary.tokenizer[SOURCE], &ids, &begin,
                                        text, strlen(text), &error));
    for (int i = 0; i < count; i++) {
        int from = (int)(strstr(text, word[i]) - text), to = from + (int)strlen(word[i]);
        span[i] = (CopySpan){.first = -1, .end = -1, .text = (char *)other[i]};
        for (int t = 0; t < (int)begin.count; t++) {
            int next = t + 1 < (int)begin.count ? begin.id[t + 1] : (int)strlen(text);
            if (span[i].first < 0 && next > from) span[i].first = t;
            if (begin.id[t] < to) span[i].end = t + 1;
        }
    }
    TranslatorInput input = {.source = idlines_packed(&lines), .line = 1};
    assert_true(translator_run(&out, &alone, &input, &search_copying, workers, NULL, &error));
    const Hypothesis *best = out.sentence->hypothesis;
    LazySnapshot lazy = copying_snapshot(&bundle->model, &lines, 0, best);
    const char **copied = calloc((size_t)best->length, sizeof *copied);
    char **shown = calloc((size_t)best->length, sizeof *shown);
    assert_true(copying_choose(copied, &lazy, &error));
    if (!copying_spans(&translated, span, count, bundle->vocabulary.tokenizer[TARGET], copied,
                       0, shown, &lazy, &error))
        fail_msg("%s", error.text);
    *missing = 0;
    for (int i = 0; i < count; i++) *missing += span[i].missing;
    snapshot_close(lazy.taken);
    for (int t = 0; t < best->length; t++) free(shown[t]);
    free(shown), free(copied), free(ids.id), free(begin.id);
    translations_free(&out);
    idlines_free(&lines);
    workers_stop(workers);
    return translated;
}

TEST(toy_model)
{
    static const struct {
        const char *text, *word[3], *other[3], *wanted;
    } CASE[] = {
        {"jane visits africa in september",
         {NULL},
         {NULL},
         "jane visite l'afrique en septembre"},
        {"jane visits africa in september",
         {"africa"},
         {"https://example.org/?a=1,2"},
         "jane visite l'https://example.org/?a=1,2 en septembre"},
        {"jane visits africa in september",
         {"september", "jane"},
         {"10.2024", "{name}"},
         "{name} visite l'afrique en 10.2024"},
        {"jane visits africa in september",
         {"jane"},
         {"jane"},
         "jane visite l'afrique en septembre"},
        {"zebra visits africa in september",
         {"zebra", "africa"},
         {"zebra", "A  B"},
         "zebra visite A  B en septembre"},
    };
    static Bundle bundle;
    if (!bundle_load(&bundle, "data/toy/model.safetensors", BUNDLE_FLOAT, NULL, &error))
        fail_msg("%s", error.text);
    for (size_t c = 0; c < sizeof CASE / sizeof *CASE; c++) {
        int count = 0, missing;
        while (count < 3 && CASE[c].word[count]) count++;
        char *text = translate_spans(&bundle, CASE[c].text, CASE[c].word, CASE[c].other, count,
                                     &missing);
        assert_string_equal(text, CASE[c].wanted);
        assert_int_equal(missing, 0);
        free(text);
    }
    bundle_free(&bundle);
}

TEST_MAIN("copying", NULL, NULL)
