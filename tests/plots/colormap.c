/* Colour maps, checked with other formulas: equal steps look equal, text has contrast, greys
 * are as light as the colours. */
#include "plots/colormap.h"
#include "tests/fixtures/test.h"

static double linear(uint8_t code)
{
    double v = code / 255.0;
    return v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4);
}

static double luminance(Color c)
{
    return 0.2126 * linear(c.r) + 0.7152 * linear(c.g) + 0.0722 * linear(c.b);
}

/* CIELAB, another space than the one the maps are computed in. D65. */
static void lab(Color c, double out[3])
{
    double r = linear(c.r), g = linear(c.g), b = linear(c.b), f[3];
    double xyz[3] = {(0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505,
                     0.2126 * r + 0.7152 * g + 0.0722 * b,
                     (0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.089};
    for (int i = 0; i < 3; i++)
        f[i] = xyz[i] > 216.0 / 24389 ? cbrt(xyz[i]) : (24389.0 / 27 * xyz[i] + 16) / 116;
    out[0] = 116 * f[1] - 16, out[1] = 500 * (f[0] - f[1]), out[2] = 200 * (f[1] - f[2]);
}

TEST(test_colormaps)
{
    for (Theme theme = THEME_LIGHT; theme <= THEME_DARK; theme++) {
        Color color[COLORMAP_SIZE];
        for (int i = 0; i < COLORMAP_SIZE; i++)
            color[i] = colormap_color(theme, (float)i / 255, false);
        double least = INFINITY, most = 0, before = luminance(color[0]);
        for (int i = 16; i < COLORMAP_SIZE; i += 16) {
            double now = luminance(color[i]), p[3], q[3];
            assert_true(theme == THEME_LIGHT ? now < before : now > before);  // also in grey
            before = now;
            lab(color[i - 16], p);
            lab(color[i], q);
            double step = hypot(hypot(p[0] - q[0], p[1] - q[1]), p[2] - q[2]);
            least = fmin(least, step);
            most = fmax(most, step);
        }
        if (most > 2.2 * least) fail_msg("steps from %g to %g", least, most);
        for (int i = 0; i < COLORMAP_SIZE; i++) {
            double y = luminance(color[i]), ink = luminance(colormap_contrast(color[i]));
            double contrast = (fmax(y, ink) + 0.05) / (fmin(y, ink) + 0.05);
            assert_true(contrast >= 4.5);  // WCAG 2.1, level AA
            Color grey = colormap_color(theme, i / 255.0f, true);
            assert_true(abs(grey.r - grey.g) <= 1 && abs(grey.g - grey.b) <= 1);
            double p[3], q[3];
            lab(grey, p);
            lab(color[i], q);
            assert_true(fabs(p[0] - q[0]) < 6);  // of 100: as light, in another space's measure
        }
        Color invalid = colormap_color(theme, NAN, false),
              most_of_all = colormap_color(theme, INFINITY, false);
        for (int i = 0; i < COLORMAP_SIZE; i++)
            assert_memory_not_equal(&invalid, &color[i], sizeof invalid);
        assert_memory_equal(&most_of_all, &color[255], sizeof most_of_all);
    }
}

TEST_MAIN("colormap", NULL, NULL)
