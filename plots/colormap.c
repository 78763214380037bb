/* colormap.c -- two sequential colour maps, computed so that equal steps look equal.
 *
 * Each map is a smooth path through OKLab (Ottosson 2020, "A perceptual color space for image
 * processing"), a space in which the Euclidean distance of two colours is about how different
 * they look. The path goes through a few colours given as lightness L, chroma C and hue h. Its
 * lightness is monotonic, and it is sampled at equal distances, which makes the map
 * perceptually uniform like viridis and magma (Smith and van der Walt 2015). The light map has
 * viridis's hues, from green over blue to violet; the dark one has magma's.
 *
 *     a = C cos h, b = C sin h
 *     (l, m, s) = (M1 · (L, a, b))³,   linear RGB = M2 · (l, m, s),   sRGB by IEC 61966-2-1 */
#include "plots/colormap.h"

#include <math.h>

enum { KNOTS = 6, SAMPLES = 1024 };

typedef struct Lab {
    double L, a, b;
} Lab;

// clang-format off
static const double knots[2][KNOTS][3] = {  // L, C, h in degrees
    [THEME_LIGHT] = {{0.965, 0.014, 130}, {0.870, 0.080, 165}, {0.730, 0.105, 195},
                     {0.560, 0.115, 240}, {0.410, 0.125, 275}, {0.260, 0.095, 295}},
    [THEME_DARK]  = {{0.245, 0.022, 275}, {0.370, 0.110, 295}, {0.500, 0.160, 335},
                     {0.640, 0.180,  15}, {0.800, 0.135,  60}, {0.965, 0.060,  98}},
};
// clang-format on

static Lab knot(Theme theme, int i)
{
    const double *k = knots[theme][i < 0 ? 0 : i >= KNOTS ? KNOTS - 1 : i];
    double hue = k[2] * 3.14159265358979323846 / 180;
    return (Lab){k[0], k[1] * cos(hue), k[1] * sin(hue)};
}

/* Catmull-Rom spline: the cubic through p1 and p2 with slopes (p2-p0)/2 and (p3-p1)/2. */
static double cubic(double p0, double p1, double p2, double p3, double t)
{
    return p1 +
           0.5 * t *
               (p2 - p0 + t * (2 * p0 - 5 * p1 + 4 * p2 - p3 + t * (3 * (p1 - p2) + p3 - p0)));
}

static Lab path(Theme theme, double t)
{
    int i = (int)(t * (KNOTS - 1));
    if (i > KNOTS - 2) i = KNOTS - 2;
    double u = t * (KNOTS - 1) - i;
    Lab p = knot(theme, i - 1), q = knot(theme, i), r = knot(theme, i + 1),
        s = knot(theme, i + 2);
    return (Lab){cubic(p.L, q.L, r.L, s.L, u), cubic(p.a, q.a, r.a, s.a, u),
                 cubic(p.b, q.b, r.b, s.b, u)};
}

static uint8_t gamma_encode(double linear)
{
    double v = linear <= 0.0031308 ? 12.92 * linear : 1.055 * pow(linear, 1 / 2.4) - 0.055;
    return (uint8_t)lround(255 * fmin(fmax(v, 0), 1));
}

static Color lab_color(Lab c)
{
    double l = pow(c.L + 0.3963377774 * c.a + 0.2158037573 * c.b, 3);
    double m = pow(c.L - 0.1055613458 * c.a - 0.0638541728 * c.b, 3);
    double s = pow(c.L - 0.0894841775 * c.a - 1.2914855480 * c.b, 3);
    return (Color){gamma_encode(+4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
                   gamma_encode(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
                   gamma_encode(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s)};
}

static double distance(Lab p, Lab q)
{
    return sqrt((p.L - q.L) * (p.L - q.L) + (p.a - q.a) * (p.a - q.a) +
                (p.b - q.b) * (p.b - q.b));
}

Colormap colormap_make(Theme theme)
{
    double length[SAMPLES + 1];  // of the path up to each sample
    length[0] = 0;
    for (int i = 1; i <= SAMPLES; i++) {
        double t = (double)i / SAMPLES, before = (double)(i - 1) / SAMPLES;
        length[i] = length[i - 1] + distance(path(theme, t), path(theme, before));
    }
    static const Color invalid[] = {{207, 34, 46}, {255, 92, 92}};
    Colormap map = {.invalid = invalid[theme]};
    int sample = 0;
    for (int i = 0; i < COLORMAP_SIZE; i++) {
        double wanted = length[SAMPLES] * i / (COLORMAP_SIZE - 1);
        while (sample < SAMPLES - 1 && length[sample + 1] < wanted) sample++;
        double within = (wanted - length[sample]) / (length[sample + 1] - length[sample]);
        Lab lab = path(theme, (sample + within) / SAMPLES);
        map.color[i] = lab_color(lab);
        map.grey[i] = lab_color((Lab){lab.L, 0, 0});
    }
    return map;
}

Color colormap_color(const Colormap *map, float value, bool grey)
{
    if (isnan(value)) return map->invalid;
    float clamped = fminf(fmaxf(value, 0), 1);
    return (grey ? map->grey : map->color)[(int)(clamped * (COLORMAP_SIZE - 1) + 0.5f)];
}

static double gamma_decode(uint8_t code)
{
    double v = code / 255.0;
    return v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4);
}

Color colormap_contrast(Color c)
{
    /* With luminance Y the ratios are (Y + 0.05) / 0.05 to black and 1.05 / (Y + 0.05) to
     * white, which are equal at Y = √(0.05 · 1.05) - 0.05 = 0.179. */
    double luminance =
        0.2126 * gamma_decode(c.r) + 0.7152 * gamma_decode(c.g) + 0.0722 * gamma_decode(c.b);
    return luminance > sqrt(0.05 * 1.05) - 0.05 ? (Color){0, 0, 0} : (Color){255, 255, 255};
}
