/* canvas.c -- a canvas on cairo (pixels, SVG, PDF) and Pango (text). No other file uses these
 * libraries.
 *
 * The pixels are cairo's RGB24: one native 32-bit word each, 0xXXRRGGBB. Pango chooses a font
 * for every script, joins Arabic letters, stacks combining marks, orders right-to-left words,
 * and draws a box with the code point of a character that no font has. */
#include "plots/canvas.h"
#include "base/file.h"
#include "base/textstream.h"
#include "base/utf8.h"

#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <dlfcn.h>
#include <pango/pangocairo.h>

enum { FAMILY = 100, FAMILIES = FAMILY + 40 };
enum { LONGEST_LINE = 2000 };
#define ISOLATES "\u2066\u2067\u2068\u2069"  // they order a text of several directions

// clang-format off
const Palette palette = {
    .page    = {255, 255, 255}, .ink     = { 31,  35,  40}, .muted   = {110, 118, 129},
    .rule    = {225, 228, 232}, .neutral = {247, 248, 249},
    .series  = {{ 31, 95, 168}, {217, 108,  16}, { 18, 135, 110},
                {139, 74, 184}, {190,  48,  92}, { 92, 100, 112}},
};
// clang-format on

/* ---- the libraries, which are loaded with the first picture: they bring 30 others, and would take most
 * of the time in which a program starts ---- */

// clang-format off
#define FUNCTIONS(F) \
    F(cairo_arc) F(cairo_create) F(cairo_destroy) F(cairo_fill) \
    F(cairo_font_options_create) F(cairo_font_options_destroy) \
    F(cairo_font_options_set_antialias) F(cairo_font_options_set_hint_metrics) \
    F(cairo_font_options_set_hint_style) F(cairo_get_source) F(cairo_get_target) \
    F(cairo_image_surface_create) F(cairo_image_surface_get_data) \
    F(cairo_image_surface_get_stride) F(cairo_line_to) F(cairo_move_to) F(cairo_new_path) \
    F(cairo_paint) F(cairo_pattern_set_filter) F(cairo_pdf_surface_create_for_stream) \
    F(cairo_pdf_surface_set_metadata) F(cairo_rectangle) F(cairo_restore) F(cairo_rotate) \
    F(cairo_save) F(cairo_scale) F(cairo_set_line_cap) F(cairo_set_line_join) \
    F(cairo_set_line_width) F(cairo_set_source_rgb) F(cairo_set_source_surface) \
    F(cairo_status) F(cairo_status_to_string) F(cairo_stroke) F(cairo_surface_destroy) \
    F(cairo_surface_finish) F(cairo_surface_flush) F(cairo_surface_status) \
    F(cairo_svg_surface_create_for_stream) F(cairo_svg_surface_set_document_unit) \
    F(cairo_translate) F(g_object_unref) F(pango_cairo_context_set_font_options) \
    F(pango_cairo_font_map_new) F(pango_cairo_show_layout) F(pango_context_list_families) \
    F(pango_context_load_font) F(pango_font_description_free) \
    F(pango_font_description_from_string) F(pango_font_description_new) \
    F(pango_font_description_set_absolute_size) F(pango_font_description_set_family) \
    F(pango_font_description_set_weight) F(pango_font_family_get_name) \
    F(pango_font_map_create_context) F(pango_layout_get_baseline) \
    F(pango_layout_get_extents) F(pango_layout_get_iter) \
    F(pango_layout_get_unknown_glyphs_count) F(pango_layout_iter_free) \
    F(pango_layout_iter_get_run_readonly) F(pango_layout_iter_next_run) F(pango_layout_new) \
    F(pango_layout_set_ellipsize) F(pango_layout_set_font_description) \
    F(pango_layout_set_single_paragraph_mode) F(pango_layout_set_text) \
    F(pango_layout_set_width) F(pango_layout_set_wrap) F(pango_units_to_double)
// clang-format on

/* lib.cairo_fill is cairo_fill, and so on. */
#define MEMBER(f) __typeof__(f) *f;
static struct {
    FUNCTIONS(MEMBER)
} lib;

static bool load(Error *error)
{
#define FIND(f) (lib.f = (__typeof__(lib.f))dlsym(library, #f)) &&
    void *library = dlopen("libpangocairo-1.0.so.0", RTLD_NOW | RTLD_LOCAL);
    return (library && FUNCTIONS(FIND) true) ||
           error_set(error,
                     "cannot load Pango, which draws text in pictures: %s; install "
                     "libpangocairo-1.0-0",
                     dlerror());
}

/* ---- the page ---- */

bool canvas_new(Canvas **canvas, Error *error)
{
    *canvas = NULL;
    if (!load(error)) return false;
    Canvas *new = *canvas = calloc(1, sizeof *new);
    if (!new) return error_memory(error, "for a picture");
    PangoFontMap *fonts = lib.pango_cairo_font_map_new();
    new->pango = lib.pango_font_map_create_context(fonts);
    lib.g_object_unref(fonts);
    cairo_font_options_t *options = lib.cairo_font_options_create();
    lib.cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY);
    lib.cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_SLIGHT);
    lib.cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
    lib.pango_cairo_context_set_font_options(new->pango, options);
    lib.cairo_font_options_destroy(options);
    // without any font Pango draws every letter as a box in the wrong place
    PangoFontDescription *any = lib.pango_font_description_from_string("Sans 12");
    PangoFont *font = lib.pango_context_load_font(new->pango, any);
    lib.pango_font_description_free(any);
    bool found = font;
    if (found) lib.g_object_unref(font);
    return found ||
           error_set(error,
                     "no font is installed, so no picture can be drawn: install one that "
                     "fontconfig finds, such as DejaVu Sans");
}

bool canvas_set_font(Canvas *canvas, const char *family, Error *error)
{
    PangoFontFamily **families;
    int count;
    canvas->font = family;
    bool found = !family;
    lib.pango_context_list_families(canvas->pango, &families, &count);
    for (int i = 0; i < count && !found; i++)
        found = !strcasecmp(lib.pango_font_family_get_name(families[i]), family);
    g_free(families);
    return found || error_set(error,
                              "no font of the family '%s' is installed: fc-list : family lists "
                              "those that are",
                              family);
}

bool canvas_fits(int width, int height)
{
    return width <= CANVAS_MAX_SIDE && height <= CANVAS_MAX_SIDE &&
           (long)width * height <= CANVAS_MAX_PIXELS;
}

static cairo_status_t write_document(void *stream, const unsigned char *bytes, unsigned length)
{
    return fwrite(bytes, 1, length, stream) == length ? CAIRO_STATUS_SUCCESS
                                                      : CAIRO_STATUS_WRITE_ERROR;
}

bool canvas_reserve(Canvas *canvas, int width, int height, Error *error)
{
    assert(!canvas->cairo && canvas_fits(width, height));
    canvas->width = width;
    canvas->height = height;
    double unit = canvas->format == CANVAS_PDF ? 0.75 : 1;  // PDF counts in points, 72 an inch
    cairo_surface_t *surface = NULL;
    FILE *out = canvas->format != CANVAS_PNG ? textstream_open(&canvas->document) : NULL;
    if (canvas->format == CANVAS_PNG)
        surface = lib.cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height);
    else if (out && canvas->format == CANVAS_PDF)
        surface = lib.cairo_pdf_surface_create_for_stream(write_document, out, unit * width,
                                                          unit * height);
    else if (out) {
        surface = lib.cairo_svg_surface_create_for_stream(write_document, out, width, height);
        lib.cairo_svg_surface_set_document_unit(surface, CAIRO_SVG_UNIT_PX);
    }
    canvas->cairo = lib.cairo_create(surface);
    lib.cairo_surface_destroy(surface);
    if (lib.cairo_status(canvas->cairo) != CAIRO_STATUS_SUCCESS)
        return error_memory(error, "for a picture of %d x %d pixels", width, height);
    lib.cairo_scale(canvas->cairo, unit, unit);
    canvas_rectangle(canvas, 0, 0, width, height, palette.page);
    return true;
}

void canvas_free(Canvas *canvas)
{
    if (!canvas) return;
    lib.cairo_destroy(canvas->cairo);
    free(textstream_close(&canvas->document));
    lib.g_object_unref(canvas->pango);
    free(canvas);
}

bool canvas_check(const Canvas *canvas, Error *error)
{
    if (canvas->failed) return error_memory(error, "for the words of a picture");
    cairo_status_t status = lib.cairo_status(canvas->cairo);
    if (status == CAIRO_STATUS_SUCCESS) return true;
    return error_set(error, "the picture could not be drawn: %s",
                     lib.cairo_status_to_string(status));
}

/* The title comes before the end of a PDF, and before the final tag of an SVG. */
bool canvas_save_document(const char *path, Canvas *canvas, const char *title, Error *error)
{
    static const char end[] = "</svg>\n";
    if (!canvas_check(canvas, error)) return false;
    TextStream *document = &canvas->document;
    cairo_surface_t *surface = lib.cairo_get_target(canvas->cairo);
    char *clean = utf8_clean(title, 0, ISOLATES);
    if (clean && canvas->format == CANVAS_PDF) {
        lib.cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_TITLE, clean);
        lib.cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_CREATE_DATE, "");
    }
    lib.cairo_surface_finish(surface);
    if (clean && canvas->format == CANVAS_SVG) {
        gchar *escaped = g_markup_escape_text(clean, -1);
        fseek(document->out, -(long)strlen(end), SEEK_END);
        fprintf(document->out, "<title>%s</title>\n%s", escaped, end);
        g_free(escaped);
    }
    char *bytes = textstream_close(document);
    bool good = clean && bytes && !lib.cairo_surface_status(surface)
                    ? file_replace(path, bytes, document->length, error)
                    : error_memory(error, "for a picture");
    *document = (TextStream){0};
    free(clean);
    free(bytes);
    return good;
}

void canvas_row(const Canvas *canvas, int y, uint8_t *rgb)
{
    cairo_surface_t *surface = lib.cairo_get_target(canvas->cairo);
    lib.cairo_surface_flush(surface);
    const unsigned char *data = lib.cairo_image_surface_get_data(surface);
    size_t stride = (size_t)lib.cairo_image_surface_get_stride(surface);
    const uint32_t *word = (const uint32_t *)(const void *)(data + (size_t)y * stride);
    for (int x = 0; x < canvas->width; x++)
        for (int c = 0; c < 3; c++) *rgb++ = (uint8_t)(word[x] >> (16 - 8 * c));
}

/* ---- shapes ---- */

static void set_color(Canvas *canvas, Color color)
{
    lib.cairo_set_source_rgb(canvas->cairo, color.r / 255.0, color.g / 255.0, color.b / 255.0);
}

void canvas_rectangle(Canvas *canvas, double x, double y, double width, double height,
                      Color color)
{
    set_color(canvas, color);
    lib.cairo_rectangle(canvas->cairo, x, y, width, height);
    lib.cairo_fill(canvas->cairo);
}

void canvas_begin_pixels(Canvas *canvas, int x, int y, int width, int height)
{
    if (canvas->format == CANVAS_PNG) return;
    cairo_surface_t *pixels = lib.cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height);
    canvas->page = canvas->cairo;
    lib.cairo_set_source_surface(canvas->page, pixels, x, y);
    lib.cairo_pattern_set_filter(lib.cairo_get_source(canvas->page), CAIRO_FILTER_NEAREST);
    canvas->cairo = lib.cairo_create(pixels);
    lib.cairo_surface_destroy(pixels);
    lib.cairo_translate(canvas->cairo, -x, -y);
}

void canvas_end_pixels(Canvas *canvas)
{
    if (!canvas->page) return;
    lib.cairo_destroy(canvas->cairo);
    canvas->cairo = canvas->page;
    canvas->page = NULL;
    lib.cairo_paint(canvas->cairo);
}

void canvas_disc(Canvas *canvas, double x, double y, double radius, Color color)
{
    set_color(canvas, color);
    lib.cairo_arc(canvas->cairo, x, y, radius, 0, 2 * G_PI);
    lib.cairo_fill(canvas->cairo);
}

void canvas_line_to(Canvas *canvas, double x, double y)
{
    lib.cairo_line_to(canvas->cairo, x, y);
}

void canvas_stroke(Canvas *canvas, double thickness, Color color)
{
    set_color(canvas, color);
    lib.cairo_set_line_width(canvas->cairo, thickness);
    lib.cairo_set_line_cap(canvas->cairo, CAIRO_LINE_CAP_ROUND);
    lib.cairo_set_line_join(canvas->cairo, CAIRO_LINE_JOIN_ROUND);
    lib.cairo_stroke(canvas->cairo);
}

/* ---- text ---- */

TextStyle canvas_style(double size, bool bold, double max_width)
{
    return (TextStyle){.size = size,
                       .bold = bold,
                       .color = bold ? palette.ink : palette.muted,
                       .max_width = max_width};
}

/* Pango's glyph of a character that no font has is its code point and a flag. */
static void report_missing(MissingGlyphs *missing, PangoLayout *layout)
{
    char *list = missing->characters;
    PangoLayoutIter *at = lib.pango_layout_get_iter(layout);
    do {
        const PangoLayoutRun *run = lib.pango_layout_iter_get_run_readonly(at);
        for (int g = 0; run && g < run->glyphs->num_glyphs; g++) {
            PangoGlyph glyph = run->glyphs->glyphs[g].glyph;
            char text[8] = "";
            if (!(glyph & PANGO_GLYPH_UNKNOWN_FLAG) || glyph == PANGO_GLYPH_INVALID_INPUT)
                continue;
            gunichar code = glyph & ~PANGO_GLYPH_UNKNOWN_FLAG;
            bool cjk = (code >= 0x2E80 && code <= 0xD7FF) ||
                       (code >= 0xFF00 && code <= 0xFFEF) ||
                       (code >= 0x20000 && code <= 0x3FFFF);
            bool emoji = code >= 0x1F000 && code <= 0x1FAFF;
            missing->cjk |= cjk, missing->emoji |= emoji, missing->other |= !cjk && !emoji;
            g_unichar_to_utf8(code, text);
            if (strstr(list, text) || strstr(list, "…")) continue;
            bool full = strlen(list) + 2 * sizeof text >= sizeof missing->characters;
            strcat(strcat(list, full ? "…" : text), " ");
        }
    } while (lib.pango_layout_iter_next_run(at));
    lib.pango_layout_iter_free(at);
}

/* The layout of a text, for g_object_unref, and its logical box; NULL if the text is empty or
 * memory is short. */
static PangoLayout *shape(PangoRectangle *box, Canvas *canvas, const char *text,
                          TextStyle style)
{
    *box = (PangoRectangle){0};
    if (!*text) return NULL;
    char *clean = utf8_clean(text, LONGEST_LINE, ISOLATES);
    canvas->failed |= !clean;
    if (!clean) return NULL;
    PangoFontDescription *font = lib.pango_font_description_new();
    char families[FAMILIES];
    snprintf(families, sizeof families, "%.*s%sNoto Sans, DejaVu Sans, Sans", FAMILY,
             canvas->font ? canvas->font : "", canvas->font ? ", " : "");
    lib.pango_font_description_set_family(font, families);
    lib.pango_font_description_set_absolute_size(font, style.size * PANGO_SCALE);
    if (style.bold) lib.pango_font_description_set_weight(font, PANGO_WEIGHT_BOLD);
    PangoLayout *layout = lib.pango_layout_new(canvas->pango);
    lib.pango_layout_set_font_description(layout, font);
    lib.pango_font_description_free(font);
    lib.pango_layout_set_single_paragraph_mode(layout, TRUE);
    lib.pango_layout_set_text(layout, clean, -1);
    free(clean);
    lib.pango_layout_get_extents(layout, NULL, box);
    if (style.max_width > 0 && box->width > style.max_width * PANGO_SCALE) {
        lib.pango_layout_set_width(layout, (int)(style.max_width * PANGO_SCALE));
        if (style.wrap) lib.pango_layout_set_wrap(layout, PANGO_WRAP_WORD_CHAR);
        else lib.pango_layout_set_ellipsize(layout, PANGO_ELLIPSIZE_END);
        lib.pango_layout_get_extents(layout, NULL, box);
    }
    if (canvas->missing && lib.pango_layout_get_unknown_glyphs_count(layout) > 0)
        report_missing(canvas->missing, layout);
    return layout;
}

double canvas_measure(Canvas *canvas, const char *text, TextStyle style)
{
    PangoRectangle box;
    PangoLayout *layout = shape(&box, canvas, text, style);
    if (layout) lib.g_object_unref(layout);
    return lib.pango_units_to_double(box.width);
}

static void show_text(cairo_t *cairo, PangoLayout *layout, const PangoRectangle *box, double x,
                      double y, TextStyle style)
{
    double left = -lib.pango_units_to_double(box->x), top = 0,
           width = lib.pango_units_to_double(box->width),
           baseline = lib.pango_units_to_double(lib.pango_layout_get_baseline(layout));
    if (style.across != ALIGN_START) left -= width * (style.across == ALIGN_END ? 1 : 0.5);
    if (style.middle) top = 0.36 * style.size - baseline;  // half a digit
    lib.cairo_save(cairo);
    if (style.angle == 0) {  // upright letters are sharp when their baseline is on a pixel
        left = round(x + left);
        top = round(y + top + baseline) - baseline;
    } else {
        lib.cairo_translate(cairo, x, y);
        lib.cairo_rotate(cairo, -style.angle * G_PI / 180);
    }
    lib.cairo_move_to(cairo, left, top);
    lib.pango_cairo_show_layout(cairo, layout);
    lib.cairo_new_path(cairo);
    if (style.underlined) {
        lib.cairo_rectangle(cairo, left + lib.pango_units_to_double(box->x), top + baseline + 2,
                            width, 1);
        lib.cairo_fill(cairo);
    }
    lib.cairo_restore(cairo);
}

double canvas_text(Canvas *canvas, const char *text, double x, double y, TextStyle style)
{
    PangoRectangle box;
    PangoLayout *layout = shape(&box, canvas, text, style);
    if (layout && canvas->cairo) {
        set_color(canvas, style.color);
        show_text(canvas->cairo, layout, &box, x, y, style);
    }
    if (layout) lib.g_object_unref(layout);
    return lib.pango_units_to_double(box.height);
}
