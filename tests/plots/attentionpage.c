/* Heat maps and pages of them: every cell is where the plan says, in the colour of its number;
 * maps do not overlap; and any size gives a picture or an error. */
#include "plots/attentionpage.h"
#include "tests/fixtures/pixel.h"
#include "tests/fixtures/test.h"

static void assert_color(Color got, Color want)
{
    if (memcmp(&got, &want, sizeof got) != 0)
        fail_msg("#%02x%02x%02x instead of #%02x%02x%02x", got.r, got.g, got.b, want.r, want.g,
                 want.b);
}

/* The corners of a cell, which its number does not cover, and the gap beside it. */
static void assert_cell(const Canvas *page, const HeatMapPlan *plan, int i, int j, Color want)
{
    int x = plan->x + plan->left + j * plan->cell, y = plan->y + plan->top + i * plan->cell;
    int last = plan->cell - plan->gap - 1;
    assert_color(canvas_pixel(page, x, y), want);
    assert_color(canvas_pixel(page, x + last, y), want);
    assert_color(canvas_pixel(page, x, y + last), want);
    assert_color(canvas_pixel(page, x + last, y + last), want);
    if (plan->gap > 0) assert_color(canvas_pixel(page, x + last + 1, y), palette.page);
}

/* Of a map with more than 100 columns, some cells of some rows: of each row others. */
static void assert_map(const Canvas *page, const HeatMapPlan *plan, const HeatMap *map)
{
    int step = 1 + map->columns / 100;
    assert_true(plan->x + plan->width <= page->width);
    assert_true(plan->y + plan->height <= page->height);
    assert_true(plan->label_size >= 9);
    for (int i = 0; i < map->rows; i += step) {
        for (int j = i / step % step; j < map->columns; j += step) {
            float value = map->weight[i * map->columns + j];
            bool special = map->column_special && map->column_special[j];
            bool unseen = map->causal && j > i && value == 0;
            Color want = unseen ? palette.neutral : colormap_color(THEME_LIGHT, value, special);
            assert_cell(page, plan, i, j, want);
        }
    }
}

/* The pixels of a rectangle in another colour than `plain`. */
static int count_inked(const Canvas *page, int x, int y, int width, int height, Color plain)
{
    int inked = 0;
    for (int k = 0; k < width * height; k++) {
        Color c = canvas_pixel(page, x + k % width, y + k / width);
        inked += memcmp(&c, &plain, sizeof c) != 0;
    }
    return inked;
}

/* Those of a cell in another colour than that of its weight. */
static int cell_inked(const Canvas *page, const HeatMapPlan *plan, const HeatMap *map, int i,
                      int j)
{
    int side = plan->cell - plan->gap;
    return count_inked(page, plan->x + plan->left + j * plan->cell,
                       plan->y + plan->top + i * plan->cell, side, side,
                       colormap_color(THEME_LIGHT, map->weight[i * map->columns + j], false));
}

/* Rows that sum to 1, different everywhere; above the diagonal 0 if causal. For free(). */
static float *make_weights(int rows, int columns, bool causal)
{
    float *weight = calloc((size_t)rows * (size_t)columns, sizeof *weight);
    assert_non_null(weight);
    for (int i = 0; i < rows; i++) {
        float sum = 0;
        int end = causal && i + 1 < columns ? i + 1 : columns;
        for (int j = 0; j < end; j++)
            sum += weight[i * columns + j] =
                expf(-0.7f * fabsf((float)(i - j)) + 0.1f * (j % 3));
        for (int j = 0; j < end; j++) weight[i * columns + j] /= sum;
    }
    return weight;
}

static const char *const words[] = {
    "the",
    "<unk>",
    "\xE6\x97\xA5\xE6\x9C\xAC\xE8\xAA\x9E",              // Japanese
    "\xD8\xA7\xD9\x84\xD8\xB3\xD9\x84\xD8\xA7\xD9\x85",  // Arabic
    "e\xCC\x81\xCC\xA3\xCC\x82",
    "\xE0\xA4\xA8\xE0\xA4\xAE\xE0\xA4\xB8\xE0\xA5\x8D\xE0\xA4\xA4",
    "bad\xFF\xC3",
    "\xED\xA0\x80",
    "",
    "a\nb\tc\x01",
    "\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x9A\x80",
    "\xE2\x80\xAEright to left",
    "Donaudampfschifffahrtsgesellschaftskapit\xC3\xA4n",
    "</s>",
    "\xF4\x8F\xBF\xBF",
    "\xCC\x81",
    "%s%n",
    "<",
};
enum { WORDS = sizeof words / sizeof words[0] };

static const char **make_labels(int count)
{
    const char **labels = malloc((size_t)count * sizeof *labels);
    assert_non_null(labels);
    for (int i = 0; i < count; i++) labels[i] = words[i % WORDS];
    return labels;
}

static Canvas *draw_page(PagePlan *plan, const AttentionPage *page)
{
    Error error = {0};
    Canvas *canvas;
    if (!attentionpage_draw(&canvas, plan, page, &error)) fail_msg("%s", error.text);
    return canvas;
}

/* A page of one large map; where (=) its place. */
static Canvas *draw_alone(HeatMapPlan *where, const HeatMap *map)
{
    HeatMapSection section = {.large = map};
    PagePlan plan;
    Canvas *canvas = draw_page(&plan, &(AttentionPage){.sections = &section, .count = 1});
    *where = plan.section[0].large;
    return canvas;
}

TEST(test_known_matrix)
{
    static const float weight[] = {0, 0.25f, 0.5f, 0.75f, 1, NAN, -3, 7};
    static const char *const rows[] = {"a", "</s>"}, *const columns[] = {"x", "y", "z", "</s>"};
    HeatMap map = {weight, 2, 4, rows, columns, "title", "note", .causal = false};
    HeatMapPlan plan;
    Canvas *page = draw_alone(&plan, &map);
    static const float want[] = {0, 64.f / 255, 128.f / 255, 191.f / 255, 1, NAN, 0, 1};
    assert_map(page, &plan, &map);
    for (int k = 0; k < 8; k++)
        assert_cell(page, &plan, k / 4, k % 4, colormap_color(THEME_LIGHT, want[k], false));
    canvas_free(page);
}

/* Numbers of rows stand between the labels and the cells; a row without one has nothing there. */
TEST(test_numbers_of_rows)
{
    static const float weight[] = {0, 0, 0}, numbers[] = {0.94f, NAN, 0.03f};
    static const char *const labels[] = {"a", "b", "</s>"};
    HeatMap map = {.weight = weight, .rows = 3, .columns = 1, .row_labels = labels};
    HeatMapPlan without, plan;
    canvas_free(draw_alone(&without, &map));
    map.row_numbers = numbers;
    Canvas *page = draw_alone(&plan, &map);
    assert_true(plan.number_width > 10);
    assert_int_equal(plan.left, without.left + plan.number_width);
    Color paper = palette.page;
    for (int i = 0; i < 3; i++) {
        int inked =
            count_inked(page, plan.x + plan.left - plan.number_width,
                        plan.y + plan.top + i * plan.cell, plan.number_width, plan.cell, paper);
        assert_true(i == 1 ? inked == 0 : inked > 10);
    }
    canvas_free(page);
}

/* Large cells show their numbers, small ones are plain. */
TEST(test_numbers_in_cells)
{
    for (int size = 3; size <= 60; size += 57) {
        float *weight = make_weights(size, size, false);
        HeatMap map = {.weight = weight, .rows = size, .columns = size};
        HeatMapPlan plan;
        Canvas *page = draw_alone(&plan, &map);
        int inked = cell_inked(page, &plan, &map, 0, 0);
        assert_int_equal(plan.number_size > 0, size == 3);
        assert_true(size == 3 ? inked > 20 : inked == 0);
        canvas_free(page);
        free(weight);
    }
}

/* A weight that would be shown as 0.00 has no number. */
TEST(test_zeros_are_blank)
{
    static const float weight[] = {0.0049f, 0.0051f, 0, 0.98f};
    HeatMap map = {.weight = weight, .rows = 2, .columns = 2};
    HeatMapPlan plan;
    Canvas *page = draw_alone(&plan, &map);
    for (int i = 0; i < 4; i++)
        assert_int_equal(cell_inked(page, &plan, &map, i / 2, i % 2) > 0, i % 2);
    canvas_free(page);
}

/* The last figure of the scale is "1", or "≥ 0.6": larger weights have the last colour, too. */
TEST(test_scale)
{
    static const float weight[] = {0.5f, 0.9f};
    HeatMap map = {.weight = weight, .rows = 1, .columns = 2};
    HeatMapSection section = {.large = &map};
    for (int cut = 0; cut < 2; cut++) {
        AttentionPage page = {.sections = &section, .count = 1, .high = cut ? 0.6f : 1};
        PagePlan plan;
        Canvas *canvas = draw_page(&plan, &page);
        int end = plan.width - 36;
        assert_int_equal(count_inked(canvas, end - 40, 66, 18, 12, palette.page) > 0, cut);
        canvas_free(canvas);
    }
}

/* A title that is too long goes on in further lines: the page is higher, not wider. A single map
 * takes most of the page's width. */
TEST(test_long_title)
{
    enum { N = 6 };
    float *weight = make_weights(N, N, false);
    HeatMap map = {.weight = weight, .rows = N, .columns = N};
    HeatMapSection section = {.large = &map};
    char title[400] = "";
    for (int i = 0; i < 40; i++) strcat(title, "a word ");
    PagePlan once, wrapped;
    canvas_free(draw_page(
        &once, &(AttentionPage){.title = "a word", .sections = &section, .count = 1}));
    canvas_free(draw_page(&wrapped,
                          &(AttentionPage){.title = title, .sections = &section, .count = 1}));
    assert_int_equal(once.width, wrapped.width);
    assert_true(wrapped.height > once.height + 100);
    assert_true(N * once.section[0].large.cell > 0.75 * once.width);
    free(weight);
}

/* The place of small map i. */
static HeatMapPlan small_map(const SectionPlan *at, int i, int heads)
{
    HeatMapPlan map = at->small;
    map.x += i % heads * at->across;
    map.y += i / heads * at->down;
    return map;
}

static void assert_apart(const HeatMapPlan *a, const HeatMapPlan *b)
{
    int ax = a->x + a->left, ay = a->y + a->top, bx = b->x + b->left, by = b->y + b->top;
    int aw = a->width - a->left - a->overhang, bw = b->width - b->left - b->overhang;
    int ah = a->height - a->top, bh = b->height - b->top;
    assert_true(ax + aw <= bx || bx + bw <= ax || ay + ah <= by || by + bh <= ay);
}

/* Three sections of layers x heads maps, the first with a large one. */
static void check_page(int rows, int columns, int layers, int heads)
{
    int maps = layers * heads;
    float *weight[3] = {make_weights(rows, columns, false),
                        make_weights(columns, columns, false), make_weights(rows, rows, true)};
    const char **target = make_labels(rows), **source = make_labels(columns);
    bool *special = calloc((size_t)columns, sizeof *special);
    HeatMap *all = calloc(3 * (size_t)maps, sizeof *all);
    assert_true(special && all);
    special[columns - 1] = true;
    HeatMap large = {weight[0], rows, columns, target,  source,
                     "mean",    "%s", NULL,    special, .causal = false};
    HeatMapSection sections[3] = {
        {.title = "Encoder-decoder attention", .caption = "rows, columns", .large = &large},
        {.title = "Encoder self-attention"},
        {.title = "Decoder self-attention"}};
    for (int s = 0; s < 3; s++) {
        for (int i = 0; i < maps; i++)
            all[s * maps + i] = (HeatMap){.weight = weight[s],
                                          .rows = s == 1 ? columns : rows,
                                          .columns = s == 2 ? rows : columns,
                                          .note = "0.4 bits",
                                          .column_special = s < 2 ? special : NULL,
                                          .outlined = i == maps - 1,
                                          .causal = s == 2};
        sections[s].maps = all + s * maps;
        sections[s].layers = layers;
        sections[s].heads = heads;
    }
    PagePlan plan;
    Canvas *page = draw_page(
        &plan, &(AttentionPage){
                   .title = "title", .subtitle = words[2], .sections = sections, .count = 3});
    assert_int_equal(plan.width, page->width);
    assert_int_equal(plan.height, page->height);
    assert_map(page, &plan.section[0].large, &large);
    for (int s = 0; s < 3; s++)
        for (int i = 0; i < maps; i++) {
            HeatMapPlan map = small_map(&plan.section[s], i, heads),
                        left = small_map(&plan.section[s], i - 1, heads),
                        above = small_map(&plan.section[s], i - heads, heads);
            assert_map(page, &map, &sections[s].maps[i]);
            if (i % heads > 0) assert_apart(&left, &map);
            if (i >= heads) assert_apart(&above, &map);
            if (s == 0) assert_apart(&plan.section[0].large, &map);
            if (s > 0) assert_true(map.y > plan.section[s - 1].bottom);
        }
    canvas_free(page);
    for (int s = 0; s < 3; s++) free(weight[s]);
    free(all), free(special), free(target), free(source);
}

TEST(test_pages)
{
    check_page(6, 5, 2, 4);
    check_page(1, 200, 1, 1);
    check_page(200, 1, 1, 1);
    check_page(200, 180, 2, 2);
}

/* With too many words for all labels the cells shrink; it is not an error. */
TEST(test_small_cells)
{
    enum { N = 1400 };
    float *weight = make_weights(N, N, false);
    const char **labels = make_labels(N);
    HeatMap large = {weight, N, N, labels, labels, .causal = false};
    HeatMapPlan plan;
    Canvas *page = draw_alone(&plan, &large);
    assert_true(plan.cell >= 1 && plan.cell < 10);
    assert_true(plan.label_step > 1);
    assert_map(page, &plan, &large);
    canvas_free(page);
    free(labels);
    free(weight);
}

/* If the maps do not fit into a picture, the error says what to choose. */
TEST(test_too_much)
{
    enum { LAYERS = 40, HEADS = 40, N = 500 };
    float *weight = make_weights(N, N, false);
    static HeatMap maps[LAYERS * HEADS];
    for (int i = 0; i < LAYERS * HEADS; i++)
        maps[i] = (HeatMap){.weight = weight, .rows = N, .columns = N};
    HeatMapSection section = {.maps = maps, .layers = LAYERS, .heads = HEADS};
    const AttentionPage page = {.sections = &section, .count = 1};
    Error error = {0};
    Canvas *canvas;
    PagePlan plan;
    assert_false(attentionpage_draw(&canvas, &plan, &page, &error));
    canvas_free(canvas);
    assert_non_null(strstr(error.text, "choose fewer layers or heads"));
    free(weight);
}

TEST_MAIN("attentionpage", NULL, NULL)
