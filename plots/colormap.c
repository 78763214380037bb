/* colormap.c -- two sequential colour maps in which equal steps look equal.
 *
 * Each has knots at equal distances, with straight lines in between. They were taken from a smooth
 * path through OKLab (Ottosson 2020, "A perceptual color space for image processing"), a space in
 * which the Euclidean distance of two colours is about how different they look; its lightness is
 * monotonic. So the maps are perceptually uniform like viridis and magma (Smith and van der Walt
 * 2015). The light map has viridis's hues, from green over blue to violet; the dark one has
 * magma's. */
#include "plots/colormap.h"

enum { KNOTS = 33 };

// clang-format off
/* 0xRRGGBB */
static const uint32_t knots[2][KNOTS] = {
    [THEME_LIGHT] = {
        0xf0f5ec, 0xe1f3e3, 0xd1f1db, 0xc0eed3, 0xb0eacc, 0x9fe4c6, 0x8fdfc3, 0x7fd8c1,
        0x6fd2c0, 0x5fcbbf, 0x51c4bd, 0x44bcbc, 0x39b4bb, 0x30acba, 0x29a4b9, 0x249cb8,
        0x2193b7, 0x208bb5, 0x2082b3, 0x237ab0, 0x2771ac, 0x2c68a8, 0x315fa3, 0x35579e,
        0x374e98, 0x394591, 0x383d89, 0x37357f, 0x342f75, 0x32286b, 0x2f2260, 0x2c1c56,
        0x29164c},
    [THEME_DARK] = {
        0x1d202b, 0x232338, 0x282646, 0x2f2954, 0x362c62, 0x402f6e, 0x4c3177, 0x59337d,
        0x673482, 0x763484, 0x843486, 0x913687, 0x9f3886, 0xac3b83, 0xb83e7e, 0xc44178,
        0xd04572, 0xdb4b6d, 0xe45368, 0xeb5d64, 0xf06960, 0xf4755d, 0xf7815a, 0xf98d58,
        0xfa9858, 0xfca55c, 0xfeb165, 0xffbd73, 0xffc883, 0xffd493, 0xffdfa5, 0xffeab6,
        0xfef5c7},
};
// clang-format on

/* The luminance of sRGB, and the code of a grey of this luminance (IEC 61966-2-1). */
static double linear(int code)
{
    double v = code / 255.0;
    return v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4);
}

static double luminance(Color c)
{
    return 0.2126 * linear(c.r) + 0.7152 * linear(c.g) + 0.0722 * linear(c.b);
}

/* A channel, `shift` bits from the right, at t between two knots. */
static uint8_t between(uint32_t low, uint32_t high, int shift, double t)
{
    return (uint8_t)lround((1 - t) * (low >> shift & 255) + t * (high >> shift & 255));
}

Color colormap_color(Theme theme, float value, bool grey)
{
    static const Color invalid[] = {{207, 34, 46}, {255, 92, 92}};
    if (isnan(value)) return invalid[theme];
    int step = (int)(fminf(fmaxf(value, 0), 1) * (COLORMAP_SIZE - 1) + 0.5f);
    double at = (double)step * (KNOTS - 1) / (COLORMAP_SIZE - 1), t = at - (int)at;
    const uint32_t *knot = &knots[theme][(int)at], *next = knot + (t > 0);
    const Color color = {between(*knot, *next, 16, t), between(*knot, *next, 8, t),
                         between(*knot, *next, 0, t)};
    if (!grey) return color;
    double y = luminance(color);
    double code = y <= 0.0031308 ? 12.92 * y : 1.055 * pow(y, 1 / 2.4) - 0.055;
    uint8_t level = (uint8_t)lround(255 * code);
    return (Color){level, level, level};
}

Color colormap_contrast(Color background)
{
    /* With luminance Y the ratios are (Y + 0.05) / 0.05 to black and 1.05 / (Y + 0.05) to
     * white, which are equal at Y = √(0.05 · 1.05) - 0.05 = 0.179. */
    return luminance(background) > sqrt(0.05 * 1.05) - 0.05 ? (Color){0, 0, 0}
                                                            : (Color){255, 255, 255};
}
