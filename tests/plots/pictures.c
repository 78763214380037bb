/* Pictures of attention: every kind and size gives a PNG that libpng reads, with texts
 * that say what it shows; and a page of known numbers looks like the golden picture.
 *
 * The golden picture (tests/fixtures/golden/page-light.png) has one pixel for
 * each 8 x 8 pixels of the page. The page has no text, as fonts differ between machines while
 * colours and places do not. GOLDEN_PICTURES=write writes it again. */
#include "base/file.h"
#include "explain/maps.h"
#include "plots/attentionpage.h"
#include "plots/png.h"
#include "tests/fixtures/markup-model.h"
#include "tests/fixtures/pixel.h"
#include "tests/fixtures/png-reader.h"
#include "tests/fixtures/test.h"

static Error error;

/* The picture of the input, as it is in its file; its rgb is for free(). */
static PngPicture draw(const PictureInput *input)
{
    if (!picture_save(path, NULL, input, &error)) fail_msg("%s", error.text);
    return read_png(path);
}

/* The picture's texts have all these lines. */
static void assert_texts(const PictureInput *input, const char *const *lines, int count)
{
    PngPicture picture = draw(input);
    for (int i = 0; i < count; i++)
        if (!strstr(picture.texts, lines[i]))
            fail_msg("no '%s' in\n%s", lines[i], picture.texts);
    free(picture.rgb);
}

/* Every choice and way of drawing gives a picture. */
TEST(test_every_way)
{
    static const int heads[] = {CHOICE_NONE, CHOICE_MEAN, CHOICE_BEST, 2};
    for (int way = 0; way < 4 * 4 * 3; way += 5) {
        Choice choice = choice_default;
        choice.kind = (AttentionKind)(way % 3);
        choice.head = heads[way / 12];
        choice.layer = way % 4 < 2 ? CHOICE_NONE : 1;
        choice.all_kinds = way % 15 == 0;
        PictureInput input = hostile_input(&choice);
        input.words = way % 2;
        PngPicture read = draw(&input);
        assert_true(read.width > 300 && read.height > 200);
        assert_int_equal(read.density, 3780);
        const Color page = palette.page;
        assert_memory_equal(read.rgb, &page, 3);
        free(read.rgb);
    }
}

TEST(test_texts)
{
    static const char *const plain[] = {"Software: qkv\n",
                                        "Model: some/model\n",
                                        "Source: </script> <script>alert(1)</script><!--&lt;",
                                        "Translation: <img src=x onerror=alert(1)>",
                                        "Attention: Cross-attention\n",
                                        "Head: mean of 3 heads\n"};
    static const char *const one[] = {"Layer: 3\n", "Head: head 2\n"};
    static const char *const all[] = {
        "Attention: Cross-attention, Encoder self-attention, Decoder "
        "self-attention (causal)\n",
        "Head: mean of 3 heads\n"};
    Choice choice = choice_default;
    const PictureInput input = hostile_input(&choice);
    assert_texts(&input, plain, 6);
    choice.layer = 2;
    choice.head = 1;
    assert_texts(&input, one, 2);
    choice = choice_default;
    choice.all_kinds = true;
    assert_texts(&input, all, 2);
}

/* The typed text of an <unk> is in the picture's texts; of a map without it, one label differs. */
TEST(test_unknown)
{
    static const char *const typed_source[] = {
        "Source: </script> <script>alert(1)</script><!--&lt;", " Africa\n"};
    const char *typed[N] = {[9] = " Africa"};
    const PictureInput input = hostile_input(&choice_default);
    snapshot->unknown[SOURCE] = typed;
    assert_texts(&input, typed_source, 2);
    snapshot->unknown[SOURCE] = NULL;
}

/* Sentences of one word, of </s> alone, and of as many tokens as the model takes. */
TEST(test_lengths)
{
    static const int end[] = {ID_END}, one[] = {4, ID_END};
    int many[LONGEST];
    for (int i = 0; i < LONGEST - 1; i++) many[i] = 2 + i % PIECES;
    many[LONGEST - 1] = ID_END;
    Choice choice = choice_default;
    choice.all_kinds = true;
    const struct {
        const int *source, *target;
        int n, m;
    } pairs[] = {{one, one, 2, 2},
                 {end, end, 1, 1},
                 {many, one, LONGEST, 2},
                 {many, many, LONGEST, LONGEST}};
    for (int i = 0; i < 4; i++) {
        PictureInput input = hostile_input(&choice);
        Snapshot *own = snapshot_open(&model, pairs[i].source, pairs[i].n, pairs[i].target,
                                      pairs[i].m, &error);
        input.snapshot = own;
        input.given = i % 2;
        free(draw(&input).rgb);
        snapshot_close(own);
    }
}

TEST(test_formats)
{
    assert_int_equal(picture_format("a/b.png", &error), CANVAS_PNG);
    assert_int_equal(picture_format("b.c.SVG", &error), CANVAS_SVG);
    assert_int_equal(picture_format("b.pdf", &error), CANVAS_PDF);
    assert_int_equal(picture_format("b.html", &error), PICTURE_HTML);
    assert_int_equal(picture_format(".svg", &error), -1);
    assert_int_equal(picture_format("png", &error), -1);
    assert_int_equal(picture_format("b.gif", &error), -1);
    assert_non_null(strstr(error.text, ".png, .svg, .pdf or .html file, not 'b.gif'"));
}

/* A snapshot of n and m random tokens. */
static Snapshot *random_snapshot(Rng *rng, int n, int m)
{
    int from[LONGEST], to[LONGEST];
    for (int i = 0; i < LONGEST; i++) {
        from[i] = 2 + (int)rng_below(rng, PIECES);
        to[i] = 2 + (int)rng_below(rng, PIECES);
    }
    from[n - 1] = to[m - 1] = ID_END;
    Snapshot *own = snapshot_open(&model, from, n, to, m, &error);
    assert_non_null(own);
    return own;
}

/* Pixels in the colour of the frame around the best head. */
static int frame_pixels(const PictureInput *input)
{
    const Color frame = palette.series[1];
    PngPicture picture = draw(input);
    int count = 0;
    for (int i = 0; i < picture.width * picture.height; i++)
        count += !memcmp(picture.rgb + 3 * i, &frame, 3);
    free(picture.rgb);
    return count;
}

/* The large map is of the same layer in every sentence. No head of an untrained model is marked
 * as the best, unless gold links have shown that it is. */
TEST(test_same_layer_and_no_mark)
{
    Rng rng = rng_stream(7, RNG_TEST, 0);
    Choice choice = choice_default;
    PictureInput input = hostile_input(&choice);
    for (int i = 0; i < 4; i++) {
        Snapshot *own = random_snapshot(&rng, 2 + 3 * i, 12 - 3 * i);
        input.snapshot = own;
        choice.known_layer = choice.known_head = CHOICE_NONE;
        assert_texts(&input, (const char *const[]){"Layer: 3\n", "The large map is of layer 3"},
                     2);
        assert_int_equal(frame_pixels(&input), 0);
        choice.known_layer = 1, choice.known_head = 2;
        assert_texts(&input, (const char *const[]){"Layer: 2\n"}, 1);
        assert_true(frame_pixels(&input) > 100);
        snapshot_close(own);
    }
}

/* The number of glyphs in an SVG of a pair of so many tokens. */
static int glyphs(int n, int m)
{
    char name[TEMPORARY_SIZE + 32];
    Rng rng = rng_stream(8, RNG_TEST, 0);
    Choice choice = choice_default;
    PictureInput input = hostile_input(&choice);
    Snapshot *own = random_snapshot(&rng, n, m);
    input.snapshot = own;
    snprintf(name, sizeof name, "%s/picture.svg", folder);
    if (!picture_save(name, NULL, &input, &error)) fail_msg("%s", error.text);
    char *svg = file_read(name, 1 << 26, NULL, &error);
    assert_non_null(svg);
    int count = 0;
    for (const char *at = svg; (at = strstr(at, "<use ")); at++) count++;
    free(svg);
    snapshot_close(own);
    unlink(name);
    return count;
}

/* Small maps have labels up to 12 words a side. */
TEST(test_small_labels)
{
    assert_true(glyphs(12, 12) > glyphs(13, 12) + 100);
    assert_true(glyphs(12, 12) > glyphs(12, 13) + 100);
}

/* The caption speaks of the words' rows only. */
TEST(test_captions)
{
    char share[64], entropy[64];
    const PictureInput input = hostile_input(&choice_default);
    Map map;
    assert_true(map_head(&map, snapshot, ATTENTION_CROSS, 2, -1, &error));
    double sum = 0;
    for (int i = 0; i < M - 1; i++) sum += map.at[i * N + N - 1];
    snprintf(share, sizeof share, "words give it %.0f %%", 100 * sum / (M - 1));
    snprintf(entropy, sizeof entropy, "Entropy: entropy %.2f bits", map_entropy(&map));
    assert_texts(&input, (const char *const[]){share, entropy}, 2);
    map_free(&map);
}

/* ---- golden pictures ---- */

enum { WORDS = 7, ALONG = 6, LAYERS = 2, HEADS = 4, BLOCK = 8 };

/* Each head has another diagonal; rows sum to 1. mirrored: a page that must not pass. */
static Canvas *known_page(bool mirrored)
{
    enum { MAPS = LAYERS * HEADS };
    static float weight[MAPS + 1][WORDS][ALONG];
    static const bool special[ALONG] = {[ALONG - 1] = true};
    static HeatMap maps[MAPS + 1];  // the last is the large one
    for (int m = 0; m <= MAPS; m++) {
        for (int i = 0; i < WORDS; i++) {
            float *row = weight[m][i];
            double sum = 0;
            for (int j = 0; j < ALONG; j++) {
                int from = mirrored ? ALONG - 1 - j : j;
                sum += row[j] = (float)exp(-(0.3 + 0.2 * m) * abs(i - from)) +
                                (m % 3 == 0 && j + 1 == ALONG);
            }
            for (int j = 0; j < ALONG; j++) row[j] /= (float)sum;
        }
        maps[m] = (HeatMap){.weight = weight[m][0],
                            .rows = WORDS,
                            .columns = ALONG,
                            .title = "",
                            .column_special = special,
                            .outlined = m == 5};
    }
    HeatMapSection section = {
        .maps = maps, .layers = LAYERS, .heads = HEADS, .large = &maps[MAPS]};
    Canvas *page;
    PagePlan plan;
    const AttentionPage all = {.sections = &section, .count = 1};
    if (!attentionpage_draw(&page, &plan, &all, &error)) fail_msg("%s", error.text);
    return page;
}

/* A canvas whose pixels are the mean colours of the page's blocks. */
static Canvas *shrink(Canvas *page)
{
    Canvas *small;
    int width = page->width / BLOCK, height = page->height / BLOCK;
    assert_true(canvas_new(&small, &error));
    assert_true(canvas_reserve(small, width, height, &error));
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            int sum[3] = {0};
            for (int k = 0; k < BLOCK * BLOCK; k++) {
                Color c = canvas_pixel(page, x * BLOCK + k % BLOCK, y * BLOCK + k / BLOCK);
                sum[0] += c.r, sum[1] += c.g, sum[2] += c.b;
            }
            for (int n = 0; n < 3; n++) sum[n] /= BLOCK * BLOCK;
            canvas_rectangle(small, x, y, 1, 1,
                             (Color){(uint8_t)sum[0], (uint8_t)sum[1], (uint8_t)sum[2]});
        }
    canvas_free(page);
    return small;
}

/* mean (=) the mean difference of a channel, 0..255; share (=) that of the clearly different
 * blocks. */
static void compare(double *mean, double *share, const Canvas *a, const PngPicture *b)
{
    double sum = 0;
    int apart = 0, pixels = b->width * b->height;
    assert_int_equal(a->width, b->width);
    assert_int_equal(a->height, b->height);
    for (int i = 0; i < pixels; i++) {
        Color c = canvas_pixel(a, i % b->width, i / b->width);
        const uint8_t *want = b->rgb + 3 * i;
        int d[] = {abs(c.r - want[0]), abs(c.g - want[1]), abs(c.b - want[2])};
        sum += d[0] + d[1] + d[2];
        apart += d[0] > 40 || d[1] > 40 || d[2] > 40;
    }
    *mean = sum / (3 * pixels);
    *share = (double)apart / pixels;
}

TEST(test_golden)
{
    static const char name[] = "tests/fixtures/golden/page-light.png";
    double mean, share;
    const char *write = getenv("GOLDEN_PICTURES");
    Canvas *small = shrink(known_page(false));
    if (write && !strcmp(write, "write"))
        assert_true(png_save_canvas(name, small, NULL, &error));
    PngPicture golden = read_png(name);
    compare(&mean, &share, small, &golden);
    if (mean > 2 || share > 0.01) fail_msg("differs by %g, %g of the blocks", mean, share);
    canvas_free(small);

    small = shrink(known_page(true));  // the comparison must be able to fail
    compare(&mean, &share, small, &golden);
    if (mean < 5 || share < 0.05) fail_msg("would pass: %g, %g of the blocks", mean, share);
    canvas_free(small);
    free(golden.rgb);
}

TEST_MAIN("pictures", hostile_setup, hostile_teardown)
