/* spans.h -- the parts of a sentence that a translation must keep as they are.
 *
 *   marked        [[Lake Constance]]: the translation has it without the brackets
 *   user's        what the user's regular expressions match, and terms with their translation
 *   addresses     https://a.org/b?c  www.a.org  a.org  info@a.org  @user  @user@a.org  #tag  <https://a.org>
 *                 <info@a.org>; marks at an edge: "@user A man runs", "A man runs #a #b"
 *   files         report.pdf  src/main.c  C:\dir\x.txt  /usr/bin/env  ~/.profile
 *   code          `x = 1`  max_size  main()  $x^2 + y^2$
 *   placeholders  {…} {{x.y}} {% if %} <%= x %> ${X} $(x) #{x} %{x}  %s %1$d %-5.2f %%
 *                 %@ %(name)s %<name>s %name% %1 $name $1 :name  \n \t \" as two characters
 *   markup        <tag a="b"> </tag> <br/> <0> <!-- --> <?xml ?> &amp; &#39;; of subtitles {\i1} <v Tom>;
 *                 [ and ](a.md) or ][b] of links; [b] [/b] [url=…] of BBCode; == heading ==;
 *                 notes: [1]  [2, 5]  [[1]](a.md)  <sup>2</sup>
 *   numbers       of two digits and more, or one with a sign, point or unit, with what joins them:
 *                 283.82  .5  -5  5 °C  1e-5  1,000  10:30  2024-01-31 10:30  3/4  -10%  $25  v1.2
 *                 12h30; telephone numbers, #1, § 1, IBANs, cards and coordinates with their blanks
 *   codes         F-16  C++  H2O  UTF-8  x86_64  3D  1e10  0xFF  fe80::1
 *   emoji         also flags, keycaps, families, :smile:  :-)
 *   unknown       characters that the model does not know, with the letters beside them
 *
 * Spans that touch, or have only such characters as / : - between them, are one; a span takes
 * in the brackets and quotation marks around it.
 *
 * No spans: one digit alone, ordinals (21st), "5pm", "1990s", "under-18", "e.g.", "end.Start",
 * "a < b". A file has an extension of a list, since "end.start" may be two
 * sentences; it is not recognised after or in letters of scripts without case. */
#pragma once

#include "data/typography.h"

typedef struct Span {
    size_t begin, end;  // bytes of the text, at the boundaries of characters
    bool mark;          // a tag, emoji or symbol: no word of the sentence
    bool outer;  // a mark at the text's beginning or end, where only white space and other
                 // marks are. Tags, links and emphasis are not if some of them are inside
    const char
        *replacement;  // [length] of [[…]] or a term: what the translation has; else NULL
    size_t length;     // the replacement is part of the text or of the rules
    LetterCase
        written;  // the case of a term in the text; CASE_TITLE: its first letter is a capital
} Span;

typedef struct Spans {
    Span *span;  // sorted, none empty, no two overlap: the earliest wins, then the longest
    int count;
    size_t size;  // allocated
} Spans;

/* Regular expressions and terms. Threads may share it. */
typedef struct SpanRules SpanRules;

/* regex [count]: the user's, in ICU's syntax, which must outlive the rules. terms: a file with a
 * term and its translation in each line, separated by a TAB; or NULL. A term is found as whole
 * words; its small letters are found as capitals, too, which the translation gets then. */
SpanRules *spanrules_open(char *const *regex, int count, const char *terms, Error *error);
void spanrules_free(SpanRules *rules);

/* spans (=) those of a text, which is valid UTF-8. Takes time in proportion to its length, but a
 * user's expression may need more: then the error names it. */
bool spans_find(Spans *spans, const SpanRules *rules, const char *text, size_t length,
                Known *known, const void *context, Error *error);
void spans_free(Spans *spans);  // allowed on a zeroed one

/* Adds a span behind the others, wherever it stands in the text. */
bool spans_add(Spans *spans, Span span, Error *error);

/* What the translation of `text` has of a span, for free(); NULL if memory is short. */
char *span_text(const Span *span, const char *text);
