/* html.c -- the texts of an HTML document, and the document with their translations. */
#include "tests/fixtures/test.h"

#include "data/html.h"

static Error error;

/* The texts of a document, joined by bars; then the document, with its blocks replaced by those of
 * `translation`, which are also joined by bars (NULL: by their own texts). */
static void assert_html(const char *html, const char *texts, const char *translation,
                        const char *expected)
{
    HtmlDocument d;
    char found[2000] = "", own[2000] = "", *rest = own;
    const char *text[50];
    if (!html_open(&d, html, strlen(html), &error)) fail_msg("%s", error.text);
    assert_true(d.count < 50);
    for (int i = 0; i < d.count; i++)
        sprintf(found + strlen(found), "%s%s", i ? "|" : "", d.block[i].text);
    assert_string_equal(found, texts);
    strcpy(own, translation ? translation : texts);
    for (int i = 0; i < d.count; i++) text[i] = strsep(&rest, "|");
    char *out = html_join(&d, text);
    assert_non_null(out);
    assert_string_equal(out, expected);
    free(out);
    html_close(&d);
}

TEST(blocks_and_what_stands_between_them)
{
    const char *page =
        "<!DOCTYPE html>\n<html lang=en><head><title>A &amp; B</title>"
        "<style>p > b { color: red }</style></head>\n<body class='x'><!-- note -->"
        "<h1>One</h1>\n<ul><li>Two<li>Three</ul><script>if (a<b) c('<p>x</p>')</script>"
        "<p>  Four\n  five. <br>Six</p>123<pre>code &lt;</pre></body></html>\n";
    assert_html(page, "A &amp; B|One|Two|Three|Four five.|Six",
                "C &amp; D|Un|Deux|Trois|Quatre cinq.|Six",
                "<!DOCTYPE html>\n<html lang=en><head><title>C &amp; D</title>"
                "<style>p > b { color: red }</style></head>\n<body class='x'><!-- note -->"
                "<h1>Un</h1>\n<ul><li>Deux<li>Trois</ul><script>if (a<b) c('<p>x</p>')</script>"
                "<p>  Quatre cinq. <br>Six</p>123<pre>code &lt;</pre></body></html>\n");
    assert_html("", "", "", "");
    assert_html("no tags, &eacute;t&eacute;", "no tags, été", NULL, "no tags, été");
    assert_html("<p>{one</p><p>{two}</p>", "{one", "{un", "<p>{un</p><p>{two}</p>");
}

TEST(inline_tags)
{
    const char *html = "<p>the <b class=\"x\">red</b> <i>car</i></p>";
    assert_html(html, "the <t1>red</t1> <t2>car</t2>", "la <t2>voiture</t2> <t1>rouge</t1>",
                "<p>la <i>voiture</i> <b class=\"x\">rouge</b></p>");
    /* lost, or not nested: in the order of the document */
    assert_html(html, "the <t1>red</t1> <t2>car</t2>", "la <t1>voiture",
                "<p>la <b class=\"x\">voiture</b><i></i></p>");
    assert_html(html, "the <t1>red</t1> <t2>car</t2>",
                "la <t2>voiture <t1>rouge</t2>, ici</t1>",
                "<p>la <b class=\"x\">voiture </b>rouge<i>, ici</i></p>");
    assert_html("<p><em>All of it</em></p>", "All of it", "Tout", "<p><em>Tout</em></p>");
    assert_html(
        "<p>The <nobr>red car</nobr> of <my-name x=1>Jane</my-name> in <label>May</label></p>",
        "The <t1>red car</t1> of <t2>Jane</t2> in <t3>May</t3>", NULL,
        "<p>The <nobr>red car</nobr> of <my-name x=1>Jane</my-name> in <label>May</label></p>");
    assert_html("<p>to <ruby>東京<rt>Tōkyō</rt></ruby> now</p>", "to <t1>東京{q2}</t1> now",
                NULL, "<p>to <ruby>東京<rt>Tōkyō</rt></ruby> now</p>");
    assert_html("a<img alt='x > y' src=a.png>b<!-- c -->d", "a<t1/>b<t2/>d", "D<t2/>B<t1/>A",
                "D<!-- c -->B<img alt='x > y' src=a.png>A");
}

TEST(what_is_kept)
{
    assert_html("<p>Run <code>make <i>x</i></code> now</p>", "Run {q1} now", "Lancez {q1}",
                "<p>Lancez <code>make <i>x</i></code></p>");
    assert_html("<p>the 2<sup>nd</sup> and the 31<sup>st</sup> cat</p>",
                "the 2<t1/> and the 31<t2/> cat", "cat 31<t2/>, 2<t1/>",
                "<p>cat 31<sup>st</sup>, 2<sup>nd</sup></p>");
    assert_html("<p>H<sub>2</sub>O in man<sup>2</sup></p>", "H{q1}O in man<t2/>",
                "man<t2/>: H{q1}O", "<p>man<sup>2</sup>: H<sub>2</sub>O</p>");
    assert_html(
        "<p>A <b>cat</b><sup class=n><a href=#n>[4]</a></sup> by the <sup>old</sup></p>",
        "A <t1>cat</t1><t2/> by the <t3>old</t3>", NULL,
        "<p>A <b>cat</b><sup class=n><a href=#n>[4]</a></sup> by the <sup>old</sup></p>");
    assert_html("<p>Run <kbd>A</kbd> now</p>", "Run {q1} now", "Lancez maintenant",
                "<p>Lancez maintenant <kbd>A</kbd></p>");
    assert_html(
        "<div translate=no>a <p translate=yes>b</p> c</div><p class='a notranslate'>d</p>", "b",
        "B",
        "<div translate=no>a <p translate=yes>B</p> c</div><p class='a notranslate'>d</p>");
    assert_html("<p>{q1} and <code>x</code></p>", "{q1} and {qq1}", "{qq1} et {q1}",
                "<p><code>x</code> et {q1}</p>");
    assert_html("<p>see <a href='/t/cat'>#<span>cat</span></a> and <a "
                "href=x><i>http://</i>a.org</a></p>",
                "see {q1} and {q2}", "voir {q1} et {q2}",
                "<p>voir <a href='/t/cat'>#<span>cat</span></a> et <a "
                "href=x><i>http://</i>a.org</a></p>");
    assert_html(
        "<p>ask <a href='mailto:Jane@ex.org'>jane@ex.org</a>, see <a href='https://ex.org/'>"
        "ex.org</a> <a href='/about.html'>about</a></p>",
        "ask {q1}, see {q2} <t3>about</t3>", NULL,
        "<p>ask <a href='mailto:Jane@ex.org'>jane@ex.org</a>, see <a href='https://ex.org/'>"
        "ex.org</a> <a href='/about.html'>about</a></p>");
    assert_html(
        "<p translate=NO>a</p><p class='donotranslateme'>b</p><div class='x\nnotranslate'>c"
        "<p translate=Yes>d</p></div>",
        "b|d", "B|D",
        "<p translate=NO>a</p><p class='donotranslateme'>B</p><div class='x\nnotranslate'>c"
        "<p translate=Yes>D</p></div>");
    assert_html("<textarea>a b</textarea><svg><text>c</text></svg>x", "x", "y",
                "<textarea>a b</textarea><svg><text>c</text></svg>y");
}

TEST(text_stays_text)
{
    assert_html("<p>5 < 6 &lt;b&gt; &#60;i&#62; &amp;lt;</p>",
                "5 &lt; 6 &lt;b&gt; &lt;i&gt; &amp;lt;", NULL,
                "<p>5 &lt; 6 &lt;b&gt; &lt;i&gt; &amp;lt;</p>");
    assert_html(
        "<p>word</p>", "word", "<script>x</script> & <t7> {q9} &copy; </t1>",
        "<p>&lt;script&gt;x&lt;/script&gt; &amp; &lt;t7&gt; {q9} &amp;copy; &lt;/t1&gt;</p>");
    assert_html("<p>a <b>b</b></p>", "a <t1>b</t1>", "<t1>x</t1><t1>y</t1>",
                "<p><b>x</b>&lt;t1&gt;y&lt;/t1&gt;</p>");
}

TEST(malformed)
{
    assert_html("<b>mis<i>nested</b> text</i> and </u>stray",
                "<t1>mis<t2>nested</t2> text</t3> and|stray", "A <t2>B|C",
                "A <b>B<i></b></i> </u>C");
    assert_html("<table>foo<tr><td>bar</table>", "foo|bar", "F|B", "<table>F<tr><td>B</table>");
    assert_html("<p>open <b>tag <a href=", "open <t1>tag", NULL, "<p>open <b>tag <a href=");
    assert_html("</p>a<p", "a", "b", "</p>b<p");
}

static void assert_refused(const char *before, const char *part, int times)
{
    HtmlDocument d;
    size_t first = strlen(before), length = strlen(part);
    char *html = malloc(first + (size_t)times * length + 1);
    strcpy(html, before);
    for (int i = 0; i < times; i++) strcpy(html + first + (size_t)i * length, part);
    assert_false(html_open(&d, html, strlen(html), &error));
    assert_string_equal(error.text,
                        "elements of the HTML are nested more than 1000 deep, or too "
                        "many are not closed");
    html_close(&d);
    free(html);
}

TEST(depth)
{
    assert_refused("", "<div>", 1100);
    assert_refused("", "<div></x1>", 1100);
    assert_refused("", "<div title='</div>'>", 1100);
    assert_refused("", "<div><!--</div>-->", 1100);
    assert_refused("<svg>", "<link>", 1100);

    /* each paragraph opens the elements again that the one before left open */
    char before[14 * 900 + 1] = "<p>";
    for (int i = 0; i < 900; i++) sprintf(strchr(before, 0), "<b id=b%d>", i);
    assert_refused(before, "<p>a", 1000);
}

TEST(breadth)
{
    HtmlDocument d;
    char html[17 * 2000 + 1];
    for (int i = 0; i < 2000; i++) strcpy(html + 5 * i, "<br>a");
    assert_true(html_open(&d, html, strlen(html), &error));
    assert_int_equal(d.count, 2000);
    html_close(&d);
    strcpy(html, "<svg>");
    for (int i = 0; i < 1500; i++) strcat(html + 16 * i, "<path d='M0 0'/>");
    strcat(html, "</svg>a");
    assert_true(html_open(&d, html, strlen(html), &error));
    assert_int_equal(d.count, 1);
    html_close(&d);
}

TEST_MAIN("html", NULL, NULL)
