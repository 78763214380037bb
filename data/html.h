/* html.h -- the texts of an HTML document, and the document with their translations.
 *
 *     <p class="a">Read <b>this</b> &amp; run <code>make</code>.</p>
 *                  Read <t1>this</t1> &amp; run {q2}.                  the text of a block
 *
 * A block is what stands between two tags that are not inline. In its text, inline tags and comments
 * are <tN>, </tN> and <tN/>, which data/spans.h takes for markup; what must not be translated (code,
 * kbd, samp, var, the 2 of H<sub>2</sub>O, translate="no", class="notranslate", links whose text is an address, #tag or @name) is {qN}, a placeholder; <, > and & are &lt;,
 * &gt; and &amp;, so that text stays text. Other character references are decoded.
 *
 * All bytes outside the blocks come back as they were: attributes, comments, scripts, styles, pre and
 * textarea, blocks without a letter, and all of what HTML's rules ignore. The parser is Gumbo
 * (github.com/google/gumbo-parser), which follows HTML's rules for malformed documents and says which
 * bytes each tag came from. */
#pragma once

#include "base/error.h"

typedef struct HtmlUnit {
    size_t begin, end;  // bytes of the document
    enum { UNIT_TEXT, UNIT_OPEN, UNIT_CLOSE, UNIT_ALONE, UNIT_KEPT } kind;
    int number;                     // of its element, N
    bool used;                      // in the translation
    const struct HtmlUnit *around;  // the tag that was opened before it there
} HtmlUnit;

typedef struct HtmlBlock {
    size_t begin, end;  // bytes of the document that its translation replaces
    int first, last;    // its units: unit[first] .. unit[last]
    char *text;
} HtmlBlock;

typedef struct HtmlDocument {
    const char *html;  // [length], the caller's
    size_t length;
    HtmlUnit *unit;    // [units] in the order of the document
    HtmlBlock *block;  // [count]
    int *
        place;  // [2·elements+2] element N's unit is unit[place[2N]], its end tag unit[place[2N+1]]
    int units, count, elements;
    size_t unit_size, block_size;  // allocated
    bool failed;                   // memory was short for a unit
    char quote[32];                // what begins a placeholder: "{q", or more q
} HtmlDocument;

/* Finds the blocks of valid UTF-8. The bytes must outlive the document. Elements may be nested
 * HTML_DEPTH deep. Close it even if this fails. */
enum { HTML_DEPTH = 1000 };
bool html_open(HtmlDocument *document, const char *html, size_t length, Error *error);
void html_close(HtmlDocument *document);

/* The document with translation[count] in place of its blocks, for free(); NULL if memory is short.
 * No tag is lost: inline tags that the translation has lost, or that would overlap, are put back in
 * the order of the document. */
char *html_join(const HtmlDocument *document, const char *const *translation);
