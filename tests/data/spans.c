/* spans.c -- what of a sentence is kept: tables of sentences in which ⟦…⟧ marks the spans and ⟪…⟫
 * those that may stand outside; the user's expressions and terms; limits. */
#include "data/spans.h"
#include "base/utf8.h"
#include "tests/fixtures/temporary-file.h"

#include <pthread.h>
#include <time.h>

static SpanRules *builtin;
static Spans found;
static Error error;

static bool latin(const void *context, unsigned character)
{
    return character < (context ? *(const unsigned *)context : 0x100) || character == 0x2019;
}

/* The text of a row, without its marks. */
static char *without_marks(const char *row)
{
    char *text = strdup(row), *to = text;
    for (const char *s = row; *s;) {
        bool mark = !strncmp(s, "⟦", 3) || !strncmp(s, "⟧", 3) || !strncmp(s, "⟪", 3) ||
                    !strncmp(s, "⟫", 3);
        if (mark) s += 3;
        else *to++ = *s++;
    }
    *to = 0;
    return text;
}

/* The text with marks around the spans that were found, and their replacements after "=". */
static char *with_marks(const char *text)
{
    char *row = calloc(1, 8 * strlen(text) + 64), *to = row;
    size_t at = 0;
    for (int i = 0; i < found.count; i++) {
        const Span *s = &found.span[i];
        assert_true(s->begin >= at && s->begin < s->end && s->end <= strlen(text));
        to += sprintf(to, "%.*s%s%.*s%s%.*s%s", (int)(s->begin - at), text + at,
                      s->outer ? "⟪" : "⟦", (int)(s->end - s->begin), text + s->begin,
                      s->replacement ? "=" : "", (int)s->length,
                      s->replacement ? s->replacement : "", s->outer ? "⟫" : "⟧");
        at = s->end;
    }
    strcpy(to, text + at);
    return row;
}

static void check(const SpanRules *rules, Known *known, const char *row)
{
    char *text = without_marks(row);
    if (!spans_find(&found, rules, text, strlen(text), known, NULL, &error))
        fail_msg("%s: %s", row, error.text);
    char *got = with_marks(text);
    assert_string_equal(got, row);
    free(got);
    free(text);
}

#define CHECK_ALL(rules, known, ...)                                                           \
    do {                                                                                       \
        static const char *const ROW[] = {__VA_ARGS__};                                        \
        for (size_t i = 0; i < sizeof ROW / sizeof *ROW; i++) check(rules, known, ROW[i]);     \
    } while (0)

FIXTURE(setup)
{
    return path_make(state) || !(builtin = spanrules_open(NULL, 0, NULL, &error)) ? -1 : 0;
}

FIXTURE(teardown)
{
    spanrules_free(builtin);
    spans_free(&found);
    return path_remove(state);
}

TEST(nothing)
{
    CHECK_ALL(builtin, NULL, "", " ", "I am tired.", "Well ... yes!",
              "“Quoted” – it’s 5 o’clock", "end.Start of it",
              "e.g. this, i.e. that, a.m., p.m.", "Washington D.C., U.S.A.", "a < b and c > d",
              "x<y && y>z", "a <- b", "i <3 you", "AT&T; R&D & more", "(a) [b] [[]] [[",
              "`quoted' and `quoted'", "` `", "at 5pm", "the 21st, 22nd, 3rd and 100th",
              "le 21e siècle, la 20ème", "de 20ste eeuw", "7", "non-US, T-shirt",
              "either/or, he/she, km/h, I/O", "a: b, a:b", "# one", "a.c is no file",
              "Photo.Jpg", "Wait.Zip it", "Mr.Doc", "end.it now", "c:drive", "© ™ ® 2 *",
              "Ph.D. and M.D.", "http:// and www.", "a@b", "one % 5");
}

TEST(addresses)
{
    CHECK_ALL(
        builtin, NULL, "See ⟦https://www.example.org/help?id=42&x=y⟧ for more.",
        "⟦(http://a.org)⟧, ⟦\"https://a.org/\"⟧, ⟦ftp://a.org/x⟧!", "It is ⟦https://a.org/x.a⟧",
        "See ⟦https://example.org/wiki/C_(language)⟧.", "(see ⟦https://example.org/C_(x)⟧)",
        "⟦www.example.org/a_(b)⟧; ⟦www.a.org⟧?", "Buy it at ⟦example.com⟧.",
        "⟦Booking.com⟧ is down", "⟦news.example.co.uk/today⟧ has it", "⟦example.org:8080/x⟧",
        "Is it ⟦example.org⟧: yes", "Write to ⟦info@example.org⟧.",
        "⟦First.Last+tag@mail.example.co.uk⟧, hello", "请看⟦https://a.org/x⟧。谢谢",
        "邮箱⟦info@example.org⟧谢谢", "«⟦https://a.org⟧»", "⟦https://münchen.example/straße⟧",
        "⟦https://a.org/?d[]=1&x[0]=2⟧, ⟦https://a.org/{id}/x⟧", "[see ⟦https://a.org⟧]",
        "⟦zeitung.de⟧, ⟦bbc.co.uk⟧", "⟦jürgen@straße.de⟧", "⟦@user⟧ likes ⟦#news2day⟧",
        "⟦svn+ssh://host/x⟧", "⟦git@example.org⟧:x", "See ⟦<https://a.org/x>⟧, ⟦<me@a.org>⟧.",
        "⟦@jane@a.example⟧ likes ⟦#日本.#été#mer⟧",
        "⟪@bob @jane@a.example⟫ A man runs ⟪#summer #pool⟫", "⟦@bob⟧ is here, not ⟦#there⟧",
        "⟦#1⟧ ⟦(#12)⟧ ⟦§ 5a⟧, ⟦§§ 3–5⟧ # 1", "⟪§ 1⟫ A man runs.", "&#1 x#1",
        "اقرأ ⟦https://a.org/b⟧، ثم", "【⟦https://a.org/b⟧】へ",
        "\u2067⟦https://a.org/b⟧\u2069 כן", "⟦https://a.org/b⟧\u200Bです",
        "⟦https://a.org/⟧を読む", "在⟦https://a.org⟧购买", "⟦https://a.org/b⟧에서 산다",
        "⟦https://a.org/東京⟧ ⟦https://a.org/がん⟧", "⟦@jane⟧さん ⟦@田中さん⟧");
}

TEST(files)
{
    CHECK_ALL(builtin, NULL, "Open ⟦report.pdf⟧.", "⟦C:\\dir\\x.txt⟧", "Run ⟦/usr/bin/env⟧ now",
              "Read ⟦README.md⟧, ⟦LICENSE.TXT⟧ and ⟦docs/index.html⟧",
              "⟦archive.tar.gz⟧ is in ⟦~/Downloads/⟧", "⟦data_2024-01-31.log⟧",
              "⟦./run.sh⟧ ⟦../x⟧", "⟦src/main.c⟧ includes ⟦main.h⟧", "⟦(photo.JPG)⟧",
              "Written with ⟦Node.js⟧.", "⟦dir\\sub\\x.csv⟧: new", "‘⟦a-b.png⟧’",
              "in ⟦$HOME/bin⟧ or ⟦${X}/y.conf⟧");
}

TEST(placeholders)
{
    CHECK_ALL(builtin, NULL, "Hello ⟦{name}⟧, you have ⟦%d⟧ messages.",
              "⟦%s⟧ ⟦%1$s⟧ ⟦%-5.2f⟧ ⟦%@⟧", "⟦%%⟧ ⟦%ld⟧ ⟦%08x⟧ ⟦%.3g⟧ ⟦%*d⟧",
              "⟦{0}⟧ ⟦{}⟧ ⟦{0:N2}⟧ ⟦{a.b[0]}⟧", "⟦{{x.y}}⟧'s ⟦{{ user }}⟧",
              "⟦${X}⟧ ⟦#{x}⟧ ⟦${{ secrets.X }}⟧", "⟦{% if x %}⟧yes⟦{% endif %}⟧",
              "⟦%(name)s⟧ has ⟦%(n)d⟧", "⟦%1⟧ of ⟦%2⟧, ⟦%L1⟧", "⟦%d%%⟧ done", "⟦%s⟧ago",
              "⟦100%⟧ sure, ⟦50%⟧ discount", "run ⟦`x = 1`⟧ or ⟦``y``⟧", "⟦`a`⟧ ⟦`b`⟧",
              "Open ⟦'%s'⟧ ⟦({n})⟧, ⟦[{a}/{b}]⟧, ⟦({a})(\"{b}\")⟧ (see ⟦{x}⟧)", "⟦`x[[1]]`⟧",
              "⟦%{count}⟧ of ⟦%total%⟧ for ⟦%<name>s⟧", "⟦$user⟧ owes ⟦$1⟧",
              "⟦{n, plural, one {# cat} other {# cats}}⟧", "⟦{ name }⟧ and ⟦{x|upper}⟧",
              "⟦{a}{b}⟧, ⟦{a}/{b}⟧ or ⟦%dx%d⟧; ⟦{a}⟧ / ⟦{b}⟧, ⟦$5–$10⟧",
              "⟦%s:%d⟧: ⟦<b>⟧⟦%d⟧⟦</b>⟧ it", "⟦$(x.y)⟧ ⟦<%= x %>⟧ ⟦{n}%⟧ of ⟦{n}%s⟧",
              "A ⟦''⟧red⟦''⟧ car", "⟪'''⟫It's it⟪'''⟫", "It is ⟦``⟧red⟦''⟧ and ⟦``b``⟧",
              "Hello ⟦:name⟧, ⟪:wave:⟫", "One.⟦\\n⟧Two ⟦\\\"⟧three⟦\\\"⟧", "⟦\\emph{x}⟧",
              "⟦\\$7⟧, ⟦\\$1,500⟧ ⟦\\&⟧ ⟦8\\%⟧ of ⟦my\\_item⟧", "⟦%s⟧が⟦%d⟧個と⟦$x⟧円",
              "⟦:x1⟧です", "⟦$größe⟧");
}

TEST(markup)
{
    CHECK_ALL(
        builtin, NULL, "Click ⟦<b>⟧here⟦</b>⟧ to log in.", "a ⟦<br/>⟧ b ⟦<br />⟧ c ⟦<hr>⟧ d",
        "x ⟦<a href=\"a b\" target=_blank title='c'>⟧y⟦</a>⟧ z", "a ⟦<input disabled>⟧ b",
        "a ⟦<!-- b -->⟧ c ⟦<?xml version=\"1.0\"?>⟧ d ⟦<!DOCTYPE html>⟧ e", "a ⟦<x:y-z>⟧ b",
        "5 ⟦<6>⟧ 7", "⟪<0>⟫two cats⟪</0>⟫", "⟪{\\i1}⟫So it is.⟪{\\i0}⟫", "⟪<v Tom>⟫Yes.",
        "⟪<00:00:02.000>⟫Yes", "Tom ⟦&amp;⟧ Mary ⟦&#39;⟧ ⟦&#x27;⟧ ⟦&eacute;⟧t", "a ⟦<ph1>⟧ b",
        "⟪<p>⟫Hello world⟪</p>⟫", "⟪<b>⟫⟪<i>⟫ Hello ⟪</i>⟫⟪</b>⟫", "⟦<b>⟧Hello⟦</b>⟧ world",
        "Hello ⟦<b>⟧world⟦</b>⟧", "⟪😀⟫ ⟦<b>⟧Hello⟦</b>⟧ you", "⟦<p>⟧Hello⟦<br>⟧world⟦</p>⟧ ⟪😀⟫",
        "⟪<br/>⟫ Hello", "⟪<br/>⟫⟪<br/>⟫", "“⟦<b>⟧Hello” she said");
    CHECK_ALL(
        builtin, NULL, "See ⟦[⟧the park⟦](https://a.org/b_(c) \"d\")⟧ now.",
        "⟦[⟧A dog⟦](a.md)⟧ runs⟦[^2]⟧ in ⟦[⟧it⟦](<b c.md>)⟧.", "⟪![⟫A dog⟪](a.png)⟫",
        "a [b] (c)", "⟦[b]⟧A⟦[/b]⟧ b ⟪[*]⟫", "⟪[url=https://a.org]⟫A dog⟪[/url]⟫",
        "⟦[⟧code⟦](a.md)⟧ it", "⟪==⟫ A dog ⟪==⟫", "a ⟦==⟧ b=c, d = e", "see ⟦[⟧it⟦](#b)⟧ ⟪[1]⟫",
        "So it is.⟪[[1]](https://a.org/b_(c))⟫", "It⟦[1](a.md)⟧ is", "It⟦[2, 5–7]⟧ is ⟪[1,2]⟫",
        "⟦[⟧A dog⟦][b c]⟧ and ⟦[⟧it⟦][]⟧, [x] [y]", "See ⟦[⟧⟦![⟧A dog⟦](a.png)⟧⟦](b.md)⟧ now");
    CHECK_ALL(builtin, NULL, "A man⟦<sup>[a]</sup>⟧ on it⟦<sup><a href=\"#n\">2</a></sup>⟧.",
              "⟦25⟧ ⟦m<sup>2</sup>⟧ of ⟦H<sub>2</sub>O⟧ or ⟦H{q3}O⟧", "See ⟦<b>⟧⟦1⟧⟦</b>⟧ now",
              "a ⟦<sup>⟧long one⟦</sup>⟧ b", "⟪<v.loud Tom>⟫Yes.",
              "⟪<lang en>⟫Yes⟪</lang>⟫ ⟪<c.a.b>⟫");
}

TEST(numbers)
{
    CHECK_ALL(
        builtin, NULL, "It has ⟦283.82⟧ or ⟦1,000⟧ at ⟦10:30⟧.",
        "⟦2024-01-31⟧ is ⟦3/4⟧ of ⟦10%⟧", "In ⟦1999⟧. Then 5 cats.", "⟦30⟧km, ⟦1080⟧p, ⟦1990⟧s",
        "⟦€ 4⟧, ⟦R$ 2.500,00⟧ or ⟦$ 30.5⟧; ⟦20⟧ € 5 times", "⟦-10⟧ to ⟦+25⟧ and ⟦±20⟧",
        "⟦−10 °C⟧, ⟦25°C⟧, ⟦77°F⟧, ⟦90°⟧", "⟦$25⟧, ⟦€10⟧, ⟦10€⟧, ⟦US$25⟧, ⟦-$25⟧",
        "⟦$5⟧ or ⟦7€⟧, ⟦5%⟧, ⟦9°⟧, ⟦1_000_000⟧", "⟦10\u00a0%⟧ ⟦5.5‰⟧ ⟦50%%⟧",
        "⟦1 000 000⟧ and ⟦1\u00a0000⟧ and ⟦10\u202f000,50\u00a0€⟧",
        "⟦1'000⟧ ⟦1’000⟧ ⟦10.000,50⟧", "⟦10-20⟧ ⟦10–20⟧ ⟦10⟧ - ⟦20⟧", "⟦v1.2.3⟧ of ⟦1.10⟧",
        "⟦192.168.0.1:8080⟧", "⟦(10)⟧ ⟦[10]⟧ ⟦[10.5]⟧ ⟦#10⟧ No.⟦10⟧", "He said \"⟦3.5⟧.\"",
        "⟦10⟧... ⟦20⟧, ⟦30⟧; ⟦40⟧: ⟦50⟧?", "⟦2024-01-31T10:30:00Z⟧ ⟦2024-01-31T10:30+02:00⟧",
        "à ⟦12h30⟧ ou 9h", "Call ⟦+33 1 23 45 67 89⟧ now", "⟦+44 (0)7700 900123⟧ 5 times",
        "⟦+1 (555) 123-4567⟧, ⟦(555) 123-4567⟧ or ⟦030 1234567-89⟧", "⟦+10⟧ ⟦20⟧ ⟦30⟧",
        "⟦DE89 3704 0044 0532 0130 00⟧, ⟦GB82 WEST 1234 5698 7654 32⟧", "⟦4111 1111 1111 1111⟧",
        "⟦1999⟧ ⟦2000⟧, ⟦05⟧ ⟦20⟧, ⟦05/03/2024⟧ ⟦20⟧",
        "at ⟦2024-01-31 10:30⟧ and ⟦3/5/24, 9:15–10:30⟧ or ⟦31.1.2024⟧, ⟦20⟧",
        "Sent ⟦2024/01/31 10:30:00 +0100⟧.", "at ⟦48.8566, -2.3522⟧; ⟦48.85⟧, ⟦2.35⟧",
        "⟦١٢٣٤⟧ و⟦٢٥٪⟧", "⟦۱۴۰۰⟧ ⟦１２３⟧ ⟦१२,३४५⟧", "在⟦2024⟧年1月⟦31⟧日",
        "⟦-5 °C⟧ or ⟦+3⟧, ⟦(±1)⟧, ⟦5⟧ %, x-1 +a",
        "⟦1e-5⟧ ⟦2.5E+10⟧ ⟦2.0.1a1⟧ ⟦v1.0-rc.1⟧ ⟦3.0-beta.2⟧", "⟦24/7⟧ ⟦9/11⟧ ⟦3:16⟧",
        "⟦2000⟧'s", "ch. ⟦12⟧-a", "ב-⟦1990⟧, ⟦-12⟧", "كوفيد-⟦19⟧", "気温⟦-12⟧度",
        "⟦１，２３４．５⟧円 ⟦0３－１２⟧", "⟦5％⟧と⟦9℃⟧",
        "p < ⟦.001⟧, r=⟦-.25⟧ (⟦.5⟧ kg), ⟦$.75⟧; end.5 men, ...5, No. .x",
        "⟦3×4⟧ m, ⟦1920 × 1080⟧, ⟦2,5 x 10 x 4⟧ cm; 3 x a man, ⟦10⟧x ⟦20⟧",
        "⟦2+2=4⟧, ⟦7 − 5 = 2⟧, ⟦1⁄2⟧ or 2 + two; ⟦10^6⟧, ⟦10^-3⟧ and ⟦6.02 × 10²³⟧",
        "⟦€20k⟧, ⟦1.5K⟧, ⟦20k⟧ and ⟦$5m⟧, ⟦£3.2bn⟧, ⟦$10M⟧-a-year; ⟦20⟧m, ⟦20⟧kg, ⟦$5⟧men",
        "Call ⟦(0)1 23 45 67 89⟧ or ⟦+49 (0)30 123456-0⟧.",
        "at ⟦48°51'24\"N⟧ ⟦2° 21′ 7.5″ E⟧ or ⟦48° 51.4' N⟧; ⟦5'10\"⟧ tall, ⟦6’2”⟧, ⟦90°⟧ 5 "
        "North",
        "⟦1½⟧, ⟦12 ¾⟧ or ⟦1 1/2⟧ cups, ⟦3 1⁄4⟧, ⟦1½–2⟧, ⟦2-2½⟧; ½ of 3, 5 ⟦1/2/2024⟧, ⟦10⟧ "
        "⟦11/12/13⟧",
        "CHF ⟦25.-⟧, ⟦5,–⟧ Euro or ⟦3.-⟧, ⟦₹ 500/-⟧; ⟦20⟧-, ⟦10⟧.—Well, 5, - ⟦1990⟧,—so",
        "⟦1.5M⟧ men, ⟦2.5B⟧; ⟦1.5⟧m, ⟦1.5⟧Mm",
        "Art. ⟦5(2)⟧, s. ⟦12a(3)(b)(iv)⟧, ⟦12(3):45–67⟧; f(2), 5 (2), ⟦10⟧(ten), 2(s)x");
}

TEST(codes)
{
    CHECK_ALL(
        builtin, NULL, "⟦COVID-19⟧, the ⟦F-16⟧", "Gate ⟦B12⟧, flight ⟦LH1234⟧, ⟦H2O⟧.",
        "⟦UTF-8⟧ and ⟦ISO-8859-1⟧", "⟦x86_64⟧, ⟦B2B⟧, ⟦3D⟧, ⟦MP3⟧-player, ⟦4K⟧, ⟦IPv6⟧",
        "⟦DE02120300000000202051⟧", "⟦AB-1234-X⟧ or ⟦user42⟧", "⟦0xFF⟧ is not ⟦1e10⟧",
        "⟦9b2f0c1e-77aa-4d0b-8c3d-0f1e2d3c4b5a⟧", "⟦00:1a:2b:3c:4d:5e⟧ ⟦fe80::1⟧",
        "⟦UTC+2⟧ or ⟦GMT-05:30⟧, ⟦fe80::1/64⟧, London ⟦SW1A 2AA⟧, Ringstraße ⟦7b⟧, ⟦M1 1AE⟧",
        "⟦C++⟧ or ⟦C++17⟧, ⟦C#⟧, not C", "⟦get_user_name⟧, ⟦MAX_LEN⟧, ⟦main()⟧ and ⟦a.sort()⟧",
        "a_ b, ___, _it_, person(s), f ()",
        "So ⟦$x^2 + y^2 = 1$⟧, ⟦$$a = b$$⟧: ⟦$5⟧ and ⟦$6⟧, ⟦5$⟧ and ⟦6$⟧");
}

TEST(emoji)
{
    CHECK_ALL(builtin, NULL, "I love you ⟪😀⟫",
              "I ⟦❤️⟧ you and ⟦👩‍👩‍👧‍👦⟧ too",
              "⟪👍🏽⟫, ⟦😀😀⟧!", "from ⟦🇫🇷⟧ to ⟦🇩🇪⟧.",
              "Press ⟦1️⃣⟧ or ⟦#️⃣⟧.",
              "⟪🏴󠁧󠁢󠁥󠁮󠁧󠁿⟫ wins", "a ⟦☕⟧ please",
              "Yes ⟦:+1::skin-tone-3:⟧ and ⟦:-)⟧ no ⟪:(⟫", "⟪:smile:⟫ so it is ⟪<3⟫",
              "a:b: std::x::y (b :c)", "one ;x :Dx");
}

/* Characters above U+00FF are unknown, but not ’; what typography can replace is known. */
TEST(unknown)
{
    CHECK_ALL(builtin, latin, "⟦東京⟧ is big", "I like ⟦日本⟧ and ⟦東京⟧.", "“It’s” – fine…",
              "⟦Dvořák⟧ wrote it", "a⟦→⟧b, a ⟦→⟧ b", "⟪♪⟫Hello⟪♪⟫",
              "by ⟦Łódź-Bałuty⟧ and ⟦Šárka Dvořák⟧", "⟪★⟫ Hello ⟪★★⟫", "cafe\u0301 is known",
              "⟦x\u0323y⟧ is not", "ﬁne ｏｋ", "soft\u00adhyphen\u200b", "m² ½ are", "⟦x₂y⟧",
              "⟦H₂O⟧, ⟦C₂H₅OH⟧, ⟦Fe₃O₄⟧, ⟦NaHCO₃⟧, ⟦20mm⁻⁴⟧; dog⟦⁴⟧ runs⟪⁴⟫", "⟪😀★⟫",
              "⟦Ελλάδα⟧, ⟦Россия⟧!", "a\u200db c\u00a0d\u2009e", "⟦นี้⟧ and ⟦हिन्दी⟧",
              "Straße naïve", "⟦東京30⟧, ⟦30東⟧", "a ⟦→→⟧⟦<b>⟧see⟦</b>⟧ it");
}

TEST(marks)
{
    static const struct {
        const char *text, *wanted;
    } CASE[] = {
        {"In [[Lake Constance]].", "In ⟦[[Lake Constance]]=Lake Constance⟧."},
        {"[[a]][[ b ]]", "⟦[[a]]=a⟧⟦[[ b ]]= b ⟧"},
        {"[[https://a.org 10]]", "⟦[[https://a.org 10]]=https://a.org 10⟧"},
        {"[[a]", "[[a]"},
        {"[[a[0]]]", "⟦[[a[0]]]=a[0]⟧"},
        {"[[[a]]]", "[⟦[[a]]=a⟧]"},
    };
    for (size_t i = 0; i < sizeof CASE / sizeof *CASE; i++) {
        assert_true(spans_find(&found, builtin, CASE[i].text, strlen(CASE[i].text), NULL, NULL,
                               &error));
        char *got = with_marks(CASE[i].text);
        assert_string_equal(got, CASE[i].wanted);
        free(got);
    }
}

TEST(expressions)
{
    static char *regex[] = {"\\bACME \\w+", "x*", "\\d+ km", "(?i)straße"};
    SpanRules *rules = spanrules_open(regex, 4, NULL, &error);
    assert_non_null(rules);
    CHECK_ALL(rules, NULL, "An ⟦ACME Anvil⟧ and ⟦10 km⟧, ⟦5 km⟧.", "⟦Straße⟧, ⟦STRASSE⟧",
              "a⟦xx⟧b", "See ⟦https://x.org⟧");
    spanrules_free(rules);
}

TEST(wrong_expressions)
{
    static const char *const CASE[][2] = {{"(a", "mismatched paren"},
                                          {"[a", "missing close bracket"},
                                          {"*a", "rule syntax"},
                                          {"a{3,1}", "max lt min"},
                                          {"\\", "bad escape sequence"},
                                          {"\\p{Nonsense}", "property syntax"},
                                          {"(?<=a+)b", "look behind limit"}};
    for (size_t i = 0; i < sizeof CASE / sizeof *CASE; i++) {
        char *regex[] = {"fine", (char *)CASE[i][0]}, wanted[200];
        assert_null(spanrules_open(regex, 2, NULL, &error));
        snprintf(wanted, sizeof wanted, "`protect` cannot use the regular expression '%s': %s",
                 CASE[i][0], CASE[i][1]);
        assert_string_equal(error.text, wanted);
    }
}

/* Expressions that take n² or 2ⁿ steps, or keep a step for each character, end with a sentence. */
TEST(limits)
{
    static char *const CASE[] = {"(a+)+$", "(a|a)*c", "(?:a?){40}a{40}c", "(a|b)*c"};
    size_t length = 100000;
    char *text = malloc(length + 1);
    memset(text, 'a', length);
    text[length - 1] = 'b';
    for (size_t i = 0; i < sizeof CASE / sizeof *CASE; i++) {
        char *regex[] = {CASE[i]};
        SpanRules *rules = spanrules_open(regex, 1, NULL, &error);
        clock_t begin = clock();
        assert_non_null(rules);
        assert_false(spans_find(&found, rules, text, length, NULL, NULL, &error));
        assert_non_null(strstr(error.text, CASE[i]));
        assert_true(strstr(error.text, "time out") || strstr(error.text, "stack overflow"));
        assert_int_equal(found.count, 0);
        assert_true((double)(clock() - begin) / CLOCKS_PER_SEC < 30);
        spanrules_free(rules);
    }
    free(text);
}

static void write_terms(const char *text)
{
    FILE *file = fopen(path, "w");
    assert_true(file && fputs(text, file) >= 0 && !fclose(file));
}

TEST(terms)
{
    static const struct {
        const char *text, *wanted;
    } CASE[] = {
        {"New York and New York City.", "⟦New York=Neu-York⟧ and ⟦New York City=NYC⟧."},
        {"New Yorker, new york", "New Yorker, new york"},
        {"NEW YORK, Bank", "⟦NEW YORK=Neu-York⟧, ⟦Bank=Bank⟧"},
        {"(bank)", "(⟦bank=Bank⟧)"},
        {"banks, a bank-bank", "banks, a ⟦bank=Bank⟧-⟦bank=Bank⟧"},
        {"cafés, café", "cafés, ⟦café=Kaffee⟧"},
        {"我在东京住", "我在⟦东京=Tokio⟧住"},
        {"C++ and C", "⟦C++=C plus plus⟧ and C"},
        {"İPLİK, IŞIK, ΚΉΠΟΣ, ışik", "⟦İPLİK=thread⟧, ⟦IŞIK=light⟧, ⟦ΚΉΠΟΣ=garden⟧, ışik"},
        {"https://bank.org/ is a bank", "⟦https://bank.org/⟧ is a ⟦bank=Bank⟧"},
        {"void it", "⟦void=⟧ it"},
        {"", ""},
    };
    write_terms("bank \t Bank \nNew York\tNeu-York\r\nNew York "
                "City\tNYC\tmore\n东京\tTokio\ncafé\tKaffee\n"
                "C++\tC plus plus\niplik\tthread\nışık\tlight\nκήπος\tgarden\nvoid\t");
    SpanRules *rules = spanrules_open(NULL, 0, path, &error);
    assert_non_null(rules);
    for (size_t i = 0; i < sizeof CASE / sizeof *CASE; i++) {
        assert_true(
            spans_find(&found, rules, CASE[i].text, strlen(CASE[i].text), NULL, NULL, &error));
        char *got = with_marks(CASE[i].text);
        assert_string_equal(got, CASE[i].wanted);
        free(got);
    }
    spanrules_free(rules);
}

/* Of 8,000 terms, which would take many seconds one by one, each is found, small and in capitals. */
TEST(many_terms)
{
    enum { TERMS = 8000, LINE = 24 };
    char *terms = malloc(TERMS * LINE), *text = malloc(TERMS * LINE), *to = terms, *at = text;
    for (int i = 0; i < TERMS; i++) {
        to += sprintf(to, "%c%cot %d\tT\n", 'a' + i % 26, 'a' + i / 26 % 26, i);
        at += sprintf(at, "%c%cOT %d, ", 'A' + i % 26, 'A' + i / 26 % 26, i);
    }
    write_terms(terms);
    SpanRules *rules = spanrules_open(NULL, 0, path, &error);
    assert_non_null(rules);
    clock_t begin = clock();
    assert_true(spans_find(&found, rules, text, (size_t)(at - text), NULL, NULL, &error));
    assert_true((double)(clock() - begin) / CLOCKS_PER_SEC < 2);
    assert_int_equal(found.count, TERMS);
    spanrules_free(rules);
    free(terms);
    free(text);
}

/* The translation of a term gets the case in which the term was found: capitals only from capitals. */
TEST(case_of_terms)
{
    const char *wanted[] = {"grüne Katze", "Grüne Katze", "Grüne Katze",
                            "GRÜNE KATZE", "Neu-York",    "NEU-YORK"};
    const char text[] = "green cat, Green cat, Green Cat, GREEN CAT, New York, NEW YORK";
    write_terms("green cat\tgrüne Katze\nNew York\tNeu-York");
    SpanRules *rules = spanrules_open(NULL, 0, path, &error);
    assert_non_null(rules);
    assert_true(spans_find(&found, rules, text, strlen(text), NULL, NULL, &error));
    assert_int_equal(found.count, 6);
    for (int i = 0; i < 6; i++) {
        char *translation = span_text(&found.span[i], text);
        assert_string_equal(translation, wanted[i]);
        free(translation);
    }
    spanrules_free(rules);
}

TEST(wrong_terms)
{
    static const char *const CASE[][2] = {{"a\tb\nbank", ":2: "},
                                          {"\tb\n", ":1: "},
                                          {"a\tb\nb\tc\na\td\n", "'a' has two"},
                                          {"a\t\xff\n", "UTF-8"}};
    for (size_t i = 0; i < sizeof CASE / sizeof *CASE; i++) {
        write_terms(CASE[i][0]);
        assert_null(spanrules_open(NULL, 0, path, &error));
        if (!strstr(error.text, CASE[i][1])) fail_msg("%s", error.text);
        assert_null(strstr(error.text, "`invalid`"));  // no option reads such terms
    }
    write_terms("a\tb\n\n");
    SpanRules *rules = spanrules_open(NULL, 0, path, &error);
    assert_non_null(rules);
    spanrules_free(rules);
    assert_null(spanrules_open(NULL, 0, "no-such-file", &error));
    assert_non_null(strstr(error.text, "no-such-file"));
}

/* The time of a line of `size` bytes that repeats a text, in seconds. */
static double seconds_for(const char *repeated, size_t size)
{
    size_t unit = strlen(repeated), length = size / unit * unit;
    char *text = malloc(length);
    for (size_t i = 0; i < length; i += unit) memcpy(text + i, repeated, unit);
    clock_t begin = clock();
    if (!spans_find(&found, builtin, text, length, latin, NULL, &error))
        fail_msg("%s: %s", repeated, error.text);
    for (int i = 0; i < found.count; i++) {
        const Span *s = &found.span[i];
        assert_true(s->begin < s->end && s->end <= length && (!i || s[-1].end <= s->begin));
    }
    free(text);
    return (double)(clock() - begin) / CLOCKS_PER_SEC;
}

/* Eight times the text takes some eight times as long, not 64 times; no stack overflows. */
TEST(linear)
{
    static const char *const CASE[] = {
        "a",     "1",    "1.",    "1-",    "<",         "<a ",       "<a b=",   "{",
        "{{",    "[[",   "`",     "``a`",  "&a",        "%1",        "http://", "http://(",
        "a.",    "a@",   "a@b.",  "+1 ",   "/a",        "../",       "a/b.",    "😀",
        "東",    "ř",    "ř ",    "{a",    "{a}",       "{{a}",      "%a",      "$a",
        "@a",    ":a",   "\\a",   "A1-",   "a:",        "http://a[", "e\u0301", "\u0301\u0323",
        "“",     "<!--", "\"",    "1st",   "#1",        "a_",        "§1",      ":a:",
        ":)",    "$ $a", "[[a](", "<sup>", "+1 1 1 1 ", "1.2345, ",  "#a @b ",  "<%",
        "1-a.1", "([",   "{a}/"};
    for (size_t i = 0; i < sizeof CASE / sizeof *CASE; i++) {
        double few = seconds_for(CASE[i], 1 << 9), many = seconds_for(CASE[i], 1 << 12);
        if (many > 24 * few + 0.02) fail_msg("%s: %.3f s, %.3f s", CASE[i], few, many);
    }
    assert_true(seconds_for("See https://a.org, 10:30. ", 1 << 16) < 2);
    assert_true(seconds_for("東", 1 << 18) < 2);
}

TEST(later_rules)
{
    clock_t begin = clock();
    for (int i = 0; i < 100; i++) {
        SpanRules *rules = spanrules_open(NULL, 0, NULL, NULL);
        assert_non_null(rules);
        spanrules_free(rules);
    }
    assert_true((double)(clock() - begin) / CLOCKS_PER_SEC < 0.5);
}

static void *find_often(void *text)
{
    Spans spans = {0};
    for (int i = 0; i < 300; i++) {
        bool good = spans_find(&spans, builtin, text, strlen(text), latin, NULL, NULL) &&
                    spans.count == 6;
        if (!good) return text;
    }
    spans_free(&spans);
    return NULL;
}

TEST(threads)
{
    pthread_t thread[4];
    char text[] = "Dvořák: <b>10:30</b>, https://a.org, 東";
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, find_often, text), 0);
    for (int i = 0; i < 4; i++) {
        void *result;
        pthread_join(thread[i], &result);
        assert_null(result);
    }
}

TEST_MAIN("spans", setup, teardown)
