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

#include <assert.h>
#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <math.h>
#include <pango/pangocairo.h>
#include <stdlib.h>
#include <string.h>

enum { FAMILY = 100, FAMILIES = FAMILY + 40 };
enum { LONGEST_LINE = 2000 };

// clang-format off
const Palette palette = {
    .page    = {255, 255, 255}, .ink     = { 31,  35,  40}, .muted   = {110, 118, 129},
    .rule    = {225, 228, 232}, .neutral = {247, 248, 249},
    .series  = {{ 31, 95, 168}, {217, 108,  16}, { 18, 135, 110},
                {139, 74, 184}, {190,  48,  92}, { 92, 100, 112}},
};
// clang-format on

/* ---- the page ---- */

bool canvas_new(Canvas **canvas, Error *error)
{
    Canvas *new = *canvas = calloc(1, sizeof *new);
    if (!new) return error_memory(error, "for a picture");
    PangoFontMap *fonts = pango_cairo_font_map_new();
    new->pango = pango_font_map_create_context(fonts);
    g_object_unref(fonts);
    cairo_font_options_t *options = cairo_font_options_create();
    cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY);
    cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_SLIGHT);
    cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
    pango_cairo_context_set_font_options(new->pango, options);
    cairo_font_options_destroy(options);
    // without any font Pango draws every letter as a box in the wrong place
    PangoFontDescription *any = pango_font_description_from_string("Sans 12");
    PangoFont *font = pango_context_load_font(new->pango, any);
    pango_font_description_free(any);
    bool found = font;
    g_clear_object(&font);
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
    pango_context_list_families(canvas->pango, &families, &count);
    for (int i = 0; i < count && !found; i++)
        found = !strcasecmp(pango_font_family_get_name(families[i]), family);
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
        surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height);
    else if (out && canvas->format == CANVAS_PDF)
        surface = cairo_pdf_surface_create_for_stream(write_document, out, unit * width,
                                                      unit * height);
    else if (out) {
        surface = cairo_svg_surface_create_for_stream(write_document, out, width, height);
        cairo_svg_surface_set_document_unit(surface, CAIRO_SVG_UNIT_PX);
    }
    canvas->cairo = cairo_create(surface);
    cairo_surface_destroy(surface);
    if (cairo_status(canvas->cairo) != CAIRO_STATUS_SUCCESS)
        return error_memory(error, "for a picture of %d x %d pixels", width, height);
    cairo_scale(canvas->cairo, unit, unit);
    canvas_rectangle(canvas, 0, 0, width, height, palette.page);
    return true;
}

void canvas_free(Canvas *canvas)
{
    if (!canvas) return;
    cairo_destroy(canvas->cairo);
    free(textstream_close(&canvas->document));
    g_object_unref(canvas->pango);
    free(canvas);
}

bool canvas_check(const Canvas *canvas, Error *error)
{
    if (canvas->failed) return error_memory(error, "for the words of a picture");
    cairo_status_t status = cairo_status(canvas->cairo);
    if (status == CAIRO_STATUS_SUCCESS) return true;
    return error_set(error, "the picture could not be drawn: %s",
                     cairo_status_to_string(status));
}

/* The title comes before the end of a PDF, and before the final tag of an SVG. */
bool canvas_save_document(const char *path, Canvas *canvas, const char *title, Error *error)
{
    static const char end[] = "</svg>\n";
    if (!canvas_check(canvas, error)) return false;
    TextStream *document = &canvas->document;
    cairo_surface_t *surface = cairo_get_target(canvas->cairo);
    char *clean = utf8_clean(title, 0, false);
    if (clean && canvas->format == CANVAS_PDF) {
        cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_TITLE, clean);
        cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_CREATE_DATE, "");
    }
    cairo_surface_finish(surface);
    if (clean && canvas->format == CANVAS_SVG) {
        gchar *escaped = g_markup_escape_text(clean, -1);
        fseek(document->out, -(long)strlen(end), SEEK_END);
        fprintf(document->out, "<title>%s</title>\n%s", escaped, end);
        g_free(escaped);
    }
    char *bytes = textstream_close(document);
    bool good = clean && bytes && !cairo_surface_status(surface)
                    ? file_replace(path, bytes, document->length, error)
                    : error_memory(error, "for a picture");
    *document = (TextStream){0};
    free(clean);
    free(bytes);
    return good;
}

void canvas_row(const Canvas *canvas, int y, uint8_t *rgb)
{
    cairo_surface_t *surface = cairo_get_target(canvas->cairo);
    cairo_surface_flush(surface);
    const unsigned char *data = cairo_image_surface_get_data(surface);
    size_t stride = (size_t)cairo_image_surface_get_stride(surface);
    const uint32_t *word = (const uint32_t *)(const void *)(data + (size_t)y * stride);
    for (int x = 0; x < canvas->width; x++)
        for (int c = 0; c < 3; c++) *rgb++ = (uint8_t)(word[x] >> (16 - 8 * c));
}

/* ---- shapes ---- */

static void set_color(Canvas *canvas, Color color)
{
    cairo_set_source_rgb(canvas->cairo, color.r / 255.0, color.g / 255.0, color.b / 255.0);
}

void canvas_rectangle(Canvas *canvas, double x, double y, double width, double height,
                      Color color)
{
    set_color(canvas, color);
    cairo_rectangle(canvas->cairo, x, y, width, height);
    cairo_fill(canvas->cairo);
}

void canvas_disc(Canvas *canvas, double x, double y, double radius, Color color)
{
    set_color(canvas, color);
    cairo_arc(canvas->cairo, x, y, radius, 0, 2 * G_PI);
    cairo_fill(canvas->cairo);
}

void canvas_line_to(Canvas *canvas, double x, double y)
{
    cairo_line_to(canvas->cairo, x, y);
}

void canvas_stroke(Canvas *canvas, double thickness, Color color)
{
    set_color(canvas, color);
    cairo_set_line_width(canvas->cairo, thickness);
    cairo_set_line_cap(canvas->cairo, CAIRO_LINE_CAP_ROUND);
    cairo_set_line_join(canvas->cairo, CAIRO_LINE_JOIN_ROUND);
    cairo_stroke(canvas->cairo);
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
    PangoLayoutIter *at = pango_layout_get_iter(layout);
    do {
        const PangoLayoutRun *run = pango_layout_iter_get_run_readonly(at);
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
    } while (pango_layout_iter_next_run(at));
    pango_layout_iter_free(at);
}

/* The layout of a text, for g_object_unref, and its logical box; NULL if the text is empty or
 * memory is short. */
static PangoLayout *shape(PangoRectangle *box, Canvas *canvas, const char *text,
                          TextStyle style)
{
    *box = (PangoRectangle){0};
    if (!*text) return NULL;
    char *clean = utf8_clean(text, LONGEST_LINE, false);
    canvas->failed |= !clean;
    if (!clean) return NULL;
    PangoFontDescription *font = pango_font_description_new();
    char families[FAMILIES];
    snprintf(families, sizeof families, "%.*s%sNoto Sans, DejaVu Sans, Sans", FAMILY,
             canvas->font ? canvas->font : "", canvas->font ? ", " : "");
    pango_font_description_set_family(font, families);
    pango_font_description_set_absolute_size(font, style.size * PANGO_SCALE);
    if (style.bold) pango_font_description_set_weight(font, PANGO_WEIGHT_BOLD);
    PangoLayout *layout = pango_layout_new(canvas->pango);
    pango_layout_set_font_description(layout, font);
    pango_font_description_free(font);
    pango_layout_set_single_paragraph_mode(layout, TRUE);
    pango_layout_set_text(layout, clean, -1);
    free(clean);
    pango_layout_get_extents(layout, NULL, box);
    if (style.max_width > 0 && box->width > style.max_width * PANGO_SCALE) {
        pango_layout_set_width(layout, (int)(style.max_width * PANGO_SCALE));
        if (style.wrap) pango_layout_set_wrap(layout, PANGO_WRAP_WORD_CHAR);
        else pango_layout_set_ellipsize(layout, PANGO_ELLIPSIZE_END);
        pango_layout_get_extents(layout, NULL, box);
    }
    if (canvas->missing && pango_layout_get_unknown_glyphs_count(layout) > 0)
        report_missing(canvas->missing, layout);
    return layout;
}

double canvas_measure(Canvas *canvas, const char *text, TextStyle style)
{
    PangoRectangle box;
    g_clear_object(&(PangoLayout *){shape(&box, canvas, text, style)});
    return pango_units_to_double(box.width);
}

static void show_text(cairo_t *cairo, PangoLayout *layout, const PangoRectangle *box, double x,
                      double y, TextStyle style)
{
    double left = -pango_units_to_double(box->x), top = 0,
           width = pango_units_to_double(box->width),
           baseline = pango_units_to_double(pango_layout_get_baseline(layout));
    if (style.across != ALIGN_START) left -= width * (style.across == ALIGN_END ? 1 : 0.5);
    if (style.middle) top = 0.36 * style.size - baseline;  // half a digit
    cairo_save(cairo);
    if (style.angle == 0) {  // upright letters are sharp when their baseline is on a pixel
        left = round(x + left);
        top = round(y + top + baseline) - baseline;
    } else {
        cairo_translate(cairo, x, y);
        cairo_rotate(cairo, -style.angle * G_PI / 180);
    }
    cairo_move_to(cairo, left, top);
    pango_cairo_show_layout(cairo, layout);
    cairo_new_path(cairo);
    if (style.underlined) {
        cairo_rectangle(cairo, left + pango_units_to_double(box->x), top + baseline + 2, width,
                        1);
        cairo_fill(cairo);
    }
    cairo_restore(cairo);
}

double canvas_text(Canvas *canvas, const char *text, double x, double y, TextStyle style)
{
    PangoRectangle box;
    PangoLayout *layout = shape(&box, canvas, text, style);
    if (layout && canvas->cairo) {
        set_color(canvas, style.color);
        show_text(canvas->cairo, layout, &box, x, y, style);
    }
    g_clear_object(&layout);
    return pango_units_to_double(box.height);
}
