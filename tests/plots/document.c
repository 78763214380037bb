/* Canvases written as SVG and PDF: vectors with texts, the same bytes each time, and a file that
 * is replaced as a whole or not at all. */
#include "base/file.h"
#include "plots/attentionpage.h"
#include "tests/fixtures/temporary-file.h"
#include "tests/fixtures/test.h"

static Error error;

enum { ROWS = 3, COLUMNS = 5 };

/* A page of one map of ROWS x COLUMNS cells, for canvas_free; where (=) its place, or NULL. */
static Canvas *draw(HeatMapPlan *where, CanvasFormat format)
{
    static const float weight[ROWS * COLUMNS] = {1, 0.5f, 0.25f};
    static const char *const rows[] = {"un", "deux", "trois"}, *const columns[] = {
                                                                   "one", "two", "three",
                                                                   "four", "</s>"};
    const HeatMap map = {weight, ROWS, COLUMNS, rows, columns, "map", "note", .causal = false};
    const HeatMapSection section = {.title = "Cross-attention", .large = &map};
    const AttentionPage page = {
        .title = "title", .sections = &section, .count = 1, .format = format};
    Canvas *canvas;
    PagePlan plan;
    if (!attentionpage_draw(&canvas, &plan, &page, &error)) fail_msg("%s", error.text);
    if (where) *where = plan.section[0].large;
    return canvas;
}

/* The file of such a page, for free(). */
static char *save(CanvasFormat format, size_t *length)
{
    Canvas *canvas = draw(NULL, format);
    if (!canvas_save_document(path, canvas, "a < b\xFF & \"c\"", &error))
        fail_msg("%s", error.text);
    canvas_free(canvas);
    char *bytes = file_read(path, 1 << 24, length, &error);
    assert_non_null(bytes);
    return bytes;
}

TEST(test_svg)
{
    size_t length;
    char *svg = save(CANVAS_SVG, &length);
    assert_int_equal(strncmp(svg, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>", 38), 0);
    assert_non_null(
        strstr(svg, "<title>a &lt; b\xEF\xBF\xBD &amp; &quot;c&quot;</title>\n</svg>\n"));
    assert_int_equal(strcmp(svg + length - 7, "</svg>\n"), 0);
    assert_null(strstr(svg, "<image"));  // no pixels
    HeatMapPlan at;
    canvas_free(draw(&at, CANVAS_PNG));
    for (int i = 0; i < ROWS * COLUMNS; i++) {
        char cell[64];
        int x = at.x + at.left + i % COLUMNS * at.cell,
            y = at.y + at.top + i / COLUMNS * at.cell;
        snprintf(cell, sizeof cell, "M %d %d L %d %d ", x, y, x + at.cell - at.gap, y);
        if (!strstr(svg, cell)) fail_msg("no cell %d: %s", i, cell);
    }
    free(svg);
}

/* Small cells are pixels, but for those of a figure alone. */
TEST(test_small_cells)
{
    static const float weight[900] = {1};
    for (int figure = 0; figure < 2; figure++) {
        const HeatMap map = {weight, 30, 30, .label_size = 8 * (float)figure};
        Canvas *canvas;
        if (!canvas_new(&canvas, &error)) fail_msg("%s", error.text);
        canvas->format = CANVAS_SVG;
        HeatMapPlan plan = heatmap_plan(canvas, &map, 4);
        assert_true(canvas_reserve(canvas, plan.width, plan.height, &error));
        heatmap_paint(canvas, &plan, &map, 0, 1);
        assert_true(canvas_save_document(path, canvas, "small", &error));
        canvas_free(canvas);
        char *svg = file_read(path, 1 << 24, NULL, &error);
        int paths = 0;
        for (const char *at = svg; (at = strstr(at, "<path ")); at++) paths++;
        assert_int_equal(!strstr(svg, "<image "), figure);
        assert_int_equal(paths, 900 * figure);
        free(svg);
    }
}

TEST(test_pdf)
{
    size_t length;
    char *pdf = save(CANVAS_PDF, &length);
    assert_int_equal(strncmp(pdf, "%PDF-1.", 7), 0);
    assert_int_equal(strcmp(pdf + length - 6, "%%EOF\n"), 0);
    free(pdf);
}

/* Only characters that no font has are reported, each once, and the packages that have them. */
TEST(test_missing_glyphs)
{
    MissingGlyphs missing = {0};
    Canvas *canvas;
    assert_true(canvas_new(&canvas, &error));
    canvas->missing = &missing;
    TextStyle style = canvas_style(14, false, 0);
    canvas_measure(canvas, "word", style);
    assert_string_equal(missing.characters, "");
    canvas_measure(canvas, "a\xCD\xB8z", style);                // U+0378 is not assigned
    canvas_measure(canvas, "\xF0\xBF\xBF\xBD\xCD\xB8", style);  // nor is U+3FFFD
    assert_string_equal(missing.characters, "\xCD\xB8 \xF0\xBF\xBF\xBD ");
    canvas_free(canvas);
}

/* No date and nothing else that changes: PDF would have the second of its creation. */
TEST(test_same_bytes)
{
    size_t first, second;
    char *a = save(CANVAS_PDF, &first);
    usleep(1100000);
    char *b = save(CANVAS_PDF, &second);
    assert_int_equal(first, second);
    assert_memory_equal(a, b, first);
    free(a), free(b);
}

/* A file that cannot be written is an error, and nothing is left. */
TEST(test_failure)
{
    Canvas *canvas = draw(NULL, CANVAS_PDF);
    assert_false(canvas_save_document("no/such/folder/a.pdf", canvas, "title", &error));
    assert_non_null(strstr(error.text, "no/such/folder/a.pdf"));
    canvas_free(canvas);
    canvas_free(draw(NULL, CANVAS_SVG));  // dropped without being saved
}

TEST_MAIN("document", path_make, path_remove)
