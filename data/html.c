/* html.c -- the texts of an HTML document; see html.h.
 *
 *   Gumbo's tree → units: texts, inline tags and what is kept, by their bytes → sorted
 *   → blocks: units with nothing between them → texts → translations → the document again */
#include "data/html.h"

#include "base/grow.h"
#include "base/textstream.h"
#include "base/utf8.h"
#include "data/words.h"

#include <gumbo.h>
#include <setjmp.h>
#include <strings.h>
#include <time.h>

/* ---- elements ---- */

static const char inline_names[] =
    "a abbr acronym b bdi bdo big cite code data del dfn em "
    "font i img ins kbd label mark nobr q rb rp rt rtc ruby s samp small "
    "span strike strong sub sup time tt u var wbr";
static const char kept_names[] =
    "code iframe kbd math noembed noframes plaintext pre rp rt rtc samp script style svg "
    "template textarea var xmp";

/* ---- parsing ---- */

/* What Gumbo allocates for a document. It has no limits of its own: the elements of a malformed document can be
 * far more than its tags, and each tag takes time in proportion to the elements around it. A document of short
 * tags takes 80 bytes and 0.7 µs for each of its bytes. */
typedef struct Memory {
    struct Piece {
        struct Piece *before;
        max_align_t bytes[];
    } * last;
    size_t left;     // bytes
    unsigned taken;  // pieces
    double end;      // of the time, in seconds of this thread
    jmp_buf over;
} Memory;

static double thread_seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void *take(void *memory, size_t size)
{
    Memory *m = memory;
    bool late = ++m->taken % 64 == 0 && thread_seconds() > m->end;
    struct Piece *piece = late || size > m->left ? NULL : malloc(sizeof *piece + size);
    if (!piece) longjmp(m->over, 1);
    piece->before = m->last, m->last = piece;
    m->left -= size;
    return piece->bytes;
}

/* All pieces are freed at the end: gumbo_destroy_output takes stack in proportion to the depth. */
static void leave(void *memory, void *piece)
{
    (void)memory, (void)piece;
}

static void free_all(Memory *m)
{
    for (struct Piece *before; m->last; m->last = before)
        before = m->last->before, free(m->last);
}

/* The tree of a document, whose memory is m's; NULL: it takes too much. */
static const GumboNode *parse(Memory *m, const char *html, size_t length)
{
    GumboOptions options = kGumboDefaultOptions;
    options.max_errors = 0;
    options.allocator = take, options.deallocator = leave, options.userdata = m;
    *m = (Memory){.left = (1 << 24) + 200 * length,
                  .end = thread_seconds() + 0.5 + 4e-6 * (double)length};
    return setjmp(m->over) ? NULL : gumbo_parse_with_options(&options, html, length)->root;
}

/* Whether elements are nested HTML_DEPTH deep at most, below one that is `depth` deep. */
static bool is_shallow(const GumboNode *node, int depth)
{
    bool good = depth <= HTML_DEPTH;
    if (node->type == GUMBO_NODE_ELEMENT)
        for (unsigned i = 0; good && i < node->v.element.children.length; i++)
            good = is_shallow(node->v.element.children.data[i], depth + 1);
    return good;
}

/* ---- texts ---- */

static bool is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f';
}

/* Writes a decoded text. A run of white space is one space. */
static void put_text(FILE *out, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (text[i] == '&') fputs("&amp;", out);
        else if (text[i] == '<') fputs("&lt;", out);
        else if (text[i] == '>') fputs("&gt;", out);
        else if (!is_space(text[i])) putc(text[i], out);
        else if (i == 0 || !is_space(text[i - 1])) putc(' ', out);
}

static bool is_text(const GumboNode *node)
{
    return node->type == GUMBO_NODE_TEXT || node->type == GUMBO_NODE_WHITESPACE;
}

/* Writes the texts in an element. */
static void put_nodes(FILE *out, const GumboNode *node)
{
    if (is_text(node)) put_text(out, node->v.text.text, strlen(node->v.text.text));
    else if (node->type == GUMBO_NODE_ELEMENT)
        for (unsigned i = 0; i < node->v.element.children.length; i++)
            put_nodes(out, node->v.element.children.data[i]);
}

/* ---- units ---- */

static void add(HtmlDocument *d, int kind, int number, const char *begin, size_t length)
{
    if (!length || begin < d->html || begin + length > d->html + d->length) return;
    d->failed = d->failed || !GROW(d->unit, d->unit_size, (size_t)d->units + 1);
    if (d->failed) return;
    size_t from = (size_t)(begin - d->html);
    d->unit[d->units++] = (HtmlUnit){from, from + length, kind, .number = number};
}

/* What follows a tag that begins at `at`: its end, or `end`. */
static const char *skip_tag(const char *at, const char *end)
{
    for (char quote = 0; at < end; at++)
        if (quote) quote = *at == quote ? 0 : quote;
        else if (*at == '>') return at + 1;
        else if (at[-1] == '=' && (*at == '"' || *at == '\'')) quote = *at;
    return end;
}

/* The bytes of a text, without tags among them that HTML's rules ignore. */
static void add_text(HtmlDocument *d, const char *begin, size_t length)
{
    const char *end = begin + length;
    for (const char *at = begin; at < end;) {
        bool tag = *at == '<' && at + 1 < end &&
                   (isalpha((unsigned char)at[1]) || strchr("/!?", at[1]));
        if (tag) add(d, UNIT_TEXT, 0, begin, (size_t)(at - begin));
        at = tag ? skip_tag(at + 1, end) : at + 1;
        if (tag) begin = at;
    }
    add(d, UNIT_TEXT, 0, begin, (size_t)(end - begin));
}

/* Whether a list of names has an element's. */
static bool is_listed(const char *list, const GumboElement *e)
{
    const char *name = gumbo_normalized_tagname(e->tag);
    return words_listed(list, name, strlen(name));
}

/* Whether an element says that its text is translated or not; else `before`. */
static bool is_kept(const GumboElement *e, bool before)
{
    const GumboAttribute *translate = gumbo_get_attribute(&e->attributes, "translate"),
                         *class = gumbo_get_attribute(&e->attributes, "class");
    if (is_listed(kept_names, e) || e->tag_namespace != GUMBO_NAMESPACE_HTML) return true;
    if (translate && !strcasecmp(translate->value, "no")) return true;
    if (class && words_listed(class->value, "notranslate", strlen("notranslate"))) return true;
    return before &&
           !(translate && (!*translate->value || !strcasecmp(translate->value, "yes")));
}

/* Whether it is a link whose text is an address, a #tag or a @name: these are not translated. A domain is an
 * address where the link has it, too. */
static bool is_address(const GumboNode *node)
{
    const GumboAttribute *link = gumbo_get_attribute(&node->v.element.attributes, "href");
    TextStream stream;
    if (node->v.element.tag != GUMBO_TAG_A || !textstream_open(&stream)) return false;
    put_nodes(stream.out, node);
    char *text = textstream_close(&stream);
    bool address = text && *text && !strchr(text, ' ') &&
                   (*text == '#' || strchr(text, '@') || strstr(text, "://") ||
                    !strncmp(text, "www.", 4) ||
                    (strchr(text, '.') && link && strcasestr(link->value, text)));
    free(text);
    return address;
}

/* The kind of unit of a short <sup> or <sub>: the 2 of H<sub>2</sub>O or m<sup>2</sup> is kept, the number or sign
 * of a note, <sup><a href="#n1">1</a></sup>, and the nd of 2<sup>nd</sup> stand alone. Others open, as any tag. */
static int script_kind(const GumboNode *node, const char *html)
{
    const GumboElement *e = &node->v.element;
    const char *at = e->original_tag.data;
    int deep = 0;
    if (e->tag != GUMBO_TAG_SUP && e->tag != GUMBO_TAG_SUB) return UNIT_OPEN;
    for (; deep < 3 && node->type == GUMBO_NODE_ELEMENT && node->v.element.children.length == 1;
         deep++)
        node = node->v.element.children.data[0];
    const char *text = is_text(node) ? node->v.text.text : "";
    if (!*text || strlen(text) > 4) return UNIT_OPEN;
    if (deep == 1 && at > html && isalpha((unsigned char)at[-1]) &&
        (at < html + 3 || !isalpha((unsigned char)at[-2]) || !isalpha((unsigned char)at[-3])))
        return UNIT_KEPT;
    bool ordinal = at > html && isdigit((unsigned char)at[-1]);
    return strchr(text, ' ') || (isalpha((unsigned char)*text) && !ordinal) ? UNIT_OPEN
                                                                            : UNIT_ALONE;
}

/* Whether an element is part of a line, as is one whose name is not HTML's: <my-name>. */
static bool is_inline(const GumboElement *e)
{
    GumboStringPiece name = e->original_tag;
    gumbo_tag_from_original_text(&name);
    return is_listed(inline_names, e) ||
           (e->tag == GUMBO_TAG_UNKNOWN && memchr(name.data, '-', name.length));
}

static void walk(HtmlDocument *d, const GumboNode *node, bool kept)
{
    const GumboStringPiece *text = &node->v.text.original_text;
    if (is_text(node) && !kept) add_text(d, text->data, text->length);
    if (node->type == GUMBO_NODE_COMMENT)
        add(d, UNIT_ALONE, ++d->elements, text->data, text->length);
    if (node->type != GUMBO_NODE_ELEMENT) return;
    const GumboElement *e = &node->v.element;
    const GumboStringPiece *open = &e->original_tag, *close = &e->original_end_tag;
    int script = script_kind(node, d->html);
    bool in_line = is_inline(e),
         keep = is_kept(e, kept) || is_address(node) || script == UNIT_KEPT;
    int number = in_line ? ++d->elements : 0;
    if (in_line && (keep || script == UNIT_ALONE) && !kept && open->length && close->length &&
        close->data > open->data) {
        add(d, keep ? UNIT_KEPT : UNIT_ALONE, number, open->data,
            (size_t)(close->data - open->data) + close->length);
        return;
    }
    bool empty = e->tag == GUMBO_TAG_IMG || e->tag == GUMBO_TAG_WBR;
    if (in_line && !keep)
        add(d, empty ? UNIT_ALONE : UNIT_OPEN, number, open->data, open->length);
    for (unsigned i = 0; i < e->children.length; i++) walk(d, e->children.data[i], keep);
    if (in_line && !keep && !empty) add(d, UNIT_CLOSE, number, close->data, close->length);
}

static int compare_units(const void *a, const void *b)
{
    const HtmlUnit *x = a, *y = b;
    int order = (x->begin > y->begin) - (x->begin < y->begin);
    return order ? order : (x->end > y->end) - (x->end < y->end);
}

/* Of units that share bytes, as the copies of an element that was not closed in order, the first stays. */
static bool sort_units(HtmlDocument *d)
{
    int count = 0;
    size_t end = 0;
    if (d->units) qsort(d->unit, (size_t)d->units, sizeof *d->unit, compare_units);
    for (int i = 0; i < d->units; i++)
        if (d->unit[i].begin >= end) end = d->unit[i].end, d->unit[count++] = d->unit[i];
    d->units = count;
    d->place = calloc(2 * (size_t)d->elements + 2, sizeof *d->place);
    for (int i = 0; d->place && i < count; i++)
        d->place[2 * d->unit[i].number + (d->unit[i].kind == UNIT_CLOSE)] = i;
    return d->place;
}

/* ---- blocks ---- */

static bool is_blank(const HtmlDocument *d, const HtmlUnit *u)
{
    for (size_t i = u->begin; i < u->end; i++)
        if (!is_space(d->html[i])) return false;
    return true;
}

/* What stands in a block's text before and after the number of a unit, by its kind. */
static const char *unit_prefix(const HtmlDocument *d, int kind)
{
    static const char *const prefix[] = {"", "<t", "</t", "<t"};
    return kind == UNIT_KEPT ? d->quote : prefix[kind];
}

static const char *const unit_suffix[] = {"", ">", ">", "/>", "}"};

static void put_unit(FILE *out, const HtmlDocument *d, const HtmlUnit *u)
{
    const char *text = d->html + u->begin;
    size_t length = u->end - u->begin;
    if (u->kind != UNIT_TEXT)
        fprintf(out, "%s%d%s", unit_prefix(d, u->kind), u->number, unit_suffix[u->kind]);
    else if (!memchr(text, '&', length)) put_text(out, text, length);
    else {
        GumboOptions options = kGumboDefaultOptions;
        options.fragment_context = GUMBO_TAG_TITLE;
        GumboOutput *tree = gumbo_parse_with_options(&options, text, length);
        put_nodes(out, tree->root);
        gumbo_destroy_output(&options, tree);
    }
}

/* Whether a block's text has something to translate: a letter, as which a character beyond ASCII counts,
 * but for the no-break space. */
static bool has_letter(const char *text)
{
    const char *last = strrchr(text, '}');
    for (; *text; text++)
        if (*text == '&' || *text == '<' || (*text == '{' && last && text < last))
            text += strcspn(text + 1, ";>}");
        else if (!strncmp(text, "\xC2\xA0", 2)) text++;
        else if (isalpha((unsigned char)*text) || (*text & 0x80)) return true;
    return false;
}

/* Adds the units first .. last, which stand side by side, without white space and pairs of tags around
 * them. */
static bool add_block(HtmlDocument *d, int first, int last)
{
    while (first < last) {
        const HtmlUnit *a = &d->unit[first], *b = &d->unit[last];
        bool pair = a->kind == UNIT_OPEN && b->kind == UNIT_CLOSE && a->number == b->number;
        if (pair) first++, last--;
        else if (a->kind == UNIT_TEXT && is_blank(d, a)) first++;
        else if (b->kind == UNIT_TEXT && is_blank(d, b)) last--;
        else break;
    }
    HtmlUnit *a = &d->unit[first], *b = &d->unit[last];
    while (a->kind == UNIT_TEXT && a->begin < a->end && is_space(d->html[a->begin])) a->begin++;
    while (b->kind == UNIT_TEXT && b->begin < b->end && is_space(d->html[b->end - 1])) b->end--;
    TextStream stream;
    if (!GROW(d->block, d->block_size, (size_t)d->count + 1) || !textstream_open(&stream))
        return false;
    for (int i = first; i <= last; i++) put_unit(stream.out, d, &d->unit[i]);
    char *text = textstream_close(&stream);
    /* Gumbo makes what is not UTF-8 of &#9999999999; */
    if (text && (!has_letter(text) || !utf8_is_valid(text, strlen(text), NULL)))
        return free(text), true;
    if (text) d->block[d->count++] = (HtmlBlock){a->begin, b->end, first, last, text};
    return text;
}

bool html_open(HtmlDocument *d, const char *html, size_t length, Error *error)
{
    *d = (HtmlDocument){.html = html, .length = length, .quote = "{q"};
    while (memmem(html, length, d->quote, strlen(d->quote)))
        if (strlen(d->quote) + 1 < sizeof d->quote) strcat(d->quote, "q");
        else return error_set(error, "the HTML has '%s' in it", d->quote);
    Memory memory;
    const GumboNode *root = parse(&memory, html, length);
    bool shallow = root && is_shallow(root, 0);
    if (shallow) walk(d, root, false);
    free_all(&memory);
    if (!shallow)
        return error_set(
            error,
            "elements of the HTML are nested more than %d deep, or too many are not closed",
            HTML_DEPTH);
    bool good = sort_units(d) && !d->failed;
    for (int i = 0, first = 0; good && i < d->units; i++)
        if (i + 1 == d->units || d->unit[i].end < d->unit[i + 1].begin)
            good = add_block(d, first, i), first = i + 1;
    return good || error_memory(error, "for HTML");
}

void html_close(HtmlDocument *d)
{
    for (int i = 0; i < d->count; i++) free(d->block[i].text);
    free(d->block);
    free(d->unit);
    free(d->place);
    *d = (HtmlDocument){0};
}

/* ---- the way back ---- */

/* The unit of a block that a translation has at `at`, once, or NULL; *end (=) what follows it, or the
 * first byte. */
static HtmlUnit *find_unit(const HtmlDocument *d, const HtmlBlock *b, const char *at,
                           const char **end)
{
    *end = at + 1;
    for (int kind = UNIT_OPEN; kind <= UNIT_KEPT; kind++) {
        const char *prefix = unit_prefix(d, kind), *suffix = unit_suffix[kind];
        const char *digits = at + strlen(prefix);
        char *rest;
        if (strncmp(at, prefix, strlen(prefix)) || !isdigit((unsigned char)*digits)) continue;
        long number = strtol(digits, &rest, 10);
        if (strncmp(rest, suffix, strlen(suffix))) continue;
        if (number > d->elements) continue;
        int place = d->place[2 * number + (kind == UNIT_CLOSE)];
        HtmlUnit *u = &d->unit[place];
        if (place >= b->first && place <= b->last && (int)u->kind == kind &&
            u->number == number && !u->used)
            return *end = rest + strlen(suffix), u->used = true, u;
    }
    return NULL;
}

static bool is_tag(const HtmlUnit *u)
{
    return u->kind != UNIT_TEXT && u->kind != UNIT_KEPT;
}

/* Whether a translation has all tags of a block, each that closes for the one that was opened last. */
static bool is_nested(const HtmlDocument *d, const HtmlBlock *b, const char *text)
{
    const HtmlUnit *open = NULL;  // the last of them
    bool nested = true;
    for (const char *at = text, *end; *at; at = end) {
        HtmlUnit *u = find_unit(d, b, at, &end);
        if (u && u->kind == UNIT_OPEN) u->around = open, open = u;
        if (u && u->kind == UNIT_CLOSE) {
            nested = nested && open && open->number == u->number;
            if (nested) open = open->around;
        }
    }
    for (HtmlUnit *u = &d->unit[b->first]; u <= &d->unit[b->last]; u->used = false, u++)
        nested = nested && (u->used || !is_tag(u));
    return nested && !open;
}

static void put_bytes(FILE *out, const HtmlDocument *d, size_t begin, size_t end)
{
    fwrite(d->html + begin, 1, end - begin, out);
}

/* Writes a unit, or in place of a tag the next one from *tag on, unless that is NULL. */
static void put_own(FILE *out, const HtmlDocument *d, const HtmlUnit *u, const HtmlUnit **tag)
{
    if (*tag && is_tag(u)) {
        while (!is_tag(*tag)) ++*tag;
        u = (*tag)++;
    }
    put_bytes(out, d, u->begin, u->end);
}

/* Writes a translation with the units that it has, and the others at its end. If its tags are not
 * nested, they come in the order of the document. */
static void put_block(FILE *out, const HtmlDocument *d, const HtmlBlock *b, const char *text)
{
    const HtmlUnit *tag = is_nested(d, b, text) ? NULL : &d->unit[b->first];
    for (const char *at = text, *end; *at; at = end) {
        const HtmlUnit *u = find_unit(d, b, at, &end);
        if (u) put_own(out, d, u, &tag);
        else if (!strncmp(at, "&lt;", 4) || !strncmp(at, "&gt;", 4) || !strncmp(at, "&amp;", 5))
            putc('&', out);
        else put_text(out, at, 1);
    }
    for (HtmlUnit *u = &d->unit[b->first]; u <= &d->unit[b->last]; u->used = false, u++) {
        if (u->used || u->kind == UNIT_TEXT) continue;
        if (u->kind == UNIT_KEPT) putc(' ', out);
        put_own(out, d, u, &tag);
    }
}

char *html_join(const HtmlDocument *d, const char *const *translation)
{
    TextStream stream;
    size_t begin = 0;
    if (!textstream_open(&stream)) return NULL;
    for (int k = 0; k < d->count; k++) {
        const HtmlBlock *b = &d->block[k];
        put_bytes(stream.out, d, begin, b->begin);
        put_block(stream.out, d, b, translation[k]);
        begin = b->end;
    }
    put_bytes(stream.out, d, begin, d->length);
    return textstream_close(&stream);
}
