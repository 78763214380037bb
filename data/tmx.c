/* tmx.c -- reads TMX; see tmx.h. */
#include "data/tmx.h"

#include "base/grow.h"

#include <expat.h>
#include <strings.h>

enum { LANGUAGES = 64, LANGUAGE_NAME = 36 };

typedef struct Variant {
    char language[LANGUAGE_NAME];
    char *text;
    size_t size, used;  // of the text, in bytes
} Variant;

struct Tmx {
    TextReader *reader;
    TextResult read;   // by it last; TEXT_END: the parser knows that no more follows
    const char *line;  // to parse next, or NULL
    size_t length;
    XML_Parser parser;
    bool suspended;              // the parser, at the end of a unit
    char header[LANGUAGE_NAME];  // the srclang, until its place is known
    char language[LANGUAGES][LANGUAGE_NAME];
    int languages;
    const int *column;  // [2] of source and target, from 1
    bool known, whole;  // languages: there are some; they differ in their regions only
    char wanted[2][LANGUAGE_NAME];  // those of source and target; "" if not yet known
    Variant variant[LANGUAGES];     // of the unit
    int variants;
    Variant *current;  // or NULL
    int depth;
    int segment;         // depth of <seg>; 0: outside
    int code;            // depth of an inline element whose content is not text; 0: outside
    const char *failed;  // why; or NULL
};

/* A name without the prefix of its namespace. */
static const char *local_name(const char *name)
{
    const char *colon = strchr(name, ':');
    return colon ? colon + 1 : name;
}

static const char *value_of(const char **attribute, const char *name)
{
    for (; attribute[0]; attribute += 2)
        if (!strcasecmp(local_name(attribute[0]), name)) return attribute[1];
    return "";
}

/* language (=) "en-US" for en_US; "" for what is none. */
static void take_language(char language[LANGUAGE_NAME], const char *from)
{
    int length = snprintf(language, LANGUAGE_NAME, "%s", from);
    if (length >= LANGUAGE_NAME) *language = 0;
    for (char *s = language; *s; s++) {
        if (*s == '_') *s = '-';
        if (!isalnum((unsigned char)*s) && *s != '-') *language = 0;
    }
}

/* Whether a language is another one, or that of a region: en-US is in en. */
static bool is_in(const char *language, const char *other)
{
    size_t length = strlen(other);
    return length && !strncasecmp(language, other, length) && strchr("-", language[length]);
}

/* The first unit with two languages decides whether regions count. */
static void compare_languages(Tmx *t)
{
    t->whole = true;
    for (int i = 1; i < t->variants; i++) {
        char base[LANGUAGE_NAME];
        strcpy(base, t->variant[0].language);
        t->known |= strcasecmp(base, t->variant[i].language) != 0;
        base[strcspn(base, "-")] = 0;
        t->whole &= is_in(t->variant[i].language, base);
    }
}

/* Adds a language to those of the file, unless it is there; in front if it is the header's. */
static void add_language(Tmx *t, const char *language)
{
    char name[LANGUAGE_NAME];
    strcpy(name, language);
    if (!t->whole) name[strcspn(name, "-")] = 0;
    for (int n = 0; n < t->languages; n++)
        if (!strcasecmp(t->language[n], name)) return;
    if (t->languages == LANGUAGES) return;
    bool source = is_in(name, t->header) || is_in(t->header, name);
    if (source) memmove(t->language[1], t->language[0], (size_t)t->languages * LANGUAGE_NAME);
    strcpy(t->language[source ? 0 : t->languages], name);
    if (source) *t->header = 0;
    t->languages++;
}

static void number_languages(Tmx *t)
{
    if (!t->known) compare_languages(t);
    for (int i = 0; t->known && i < t->variants; i++) add_language(t, t->variant[i].language);
    if (t->known) *t->header = 0;
    for (int side = 0; side < 2; side++)
        if (!*t->wanted[side] && t->column[side] <= t->languages)
            strcpy(t->wanted[side], t->language[t->column[side] - 1]);
}

static void begin_variant(Tmx *t, const char **attribute)
{
    Variant *v = &t->variant[t->variants];
    if (t->variants == LANGUAGES) return;
    v->used = 0;
    take_language(v->language, value_of(attribute, "lang"));  // xml:lang; lang until TMX 1.1
    if (*v->language) t->current = v, t->variants++;
}

static void on_text(void *context, const char *bytes, int count)
{
    Tmx *t = context;
    Variant *v = t->current;
    if (!t->segment || t->code || !v || t->failed) return;
    if (!GROW(v->text, v->size, v->used + (size_t)count + 1)) {
        t->failed = "there is not enough memory for the unit";
        XML_StopParser(t->parser, XML_FALSE);
        return;
    }
    for (int i = 0; i < count; i++)
        v->text[v->used++] = strchr("\t\n\r", bytes[i]) ? ' ' : bytes[i];
}

static void on_start(void *context, const char *name, const char **attribute)
{
    Tmx *t = context;
    name = local_name(name);
    if (!t->depth++ && strcmp(name, "tmx")) {
        t->failed =
            "it is XML, but no TMX: convert it to one, or to text with a TAB between source "
            "and target";
        XML_StopParser(t->parser, XML_FALSE);
    } else if (t->segment) {
        if (!strcmp(value_of(attribute, "type"), "lb")) on_text(t, " ", 1);
        if (!t->code && strcmp(name, "hi")) t->code = t->depth;
    } else if (!strcmp(name, "header")) {
        take_language(t->header, value_of(attribute, "srclang"));
    } else if (!strcmp(name, "tu")) {
        t->variants = 0;
    } else if (!strcmp(name, "tuv")) {
        begin_variant(t, attribute);
    } else if (!strcmp(name, "seg")) {
        t->segment = t->depth;
    }
}

static void on_end(void *context, const char *name)
{
    Tmx *t = context;
    int depth = t->depth--;
    name = local_name(name);
    if (t->code == depth) t->code = 0;
    if (t->segment == depth) t->segment = 0;
    if (!strcmp(name, "tuv")) t->current = NULL;
    if (!strcmp(name, "tu")) XML_StopParser(t->parser, XML_TRUE);
}

/* A reference to what is in another file, such as the DTD, which is not read. */
static void on_other_file(void *context, const char *entity, int is_parameter)
{
    Tmx *t = context;
    (void)entity;
    if (is_parameter || !t->segment || t->code) return;
    t->failed = "an entity that this file does not define: write the character itself";
    XML_StopParser(t->parser, XML_FALSE);
}

static int on_external(XML_Parser parser, const char *entity, const char *base,
                       const char *file, const char *name)
{
    (void)base, (void)file, (void)name;
    return on_other_file(XML_GetUserData(parser), entity, false), XML_STATUS_OK;
}

Tmx *tmx_open(TextReader *reader, const char *line, size_t length, const int column[2],
              const char *languages)
{
    Tmx *t = calloc(1, sizeof *t);
    if (!t) return NULL;
    size_t blanks = strspn(line, " \t");  // which may not stand before <?xml
    t->reader = reader, t->line = line + blanks, t->length = length - blanks;
    t->column = column;
    t->parser = XML_ParserCreate("UTF-8");
    for (int side = 0; languages && side < 2; side++) {
        char name[2 * LANGUAGE_NAME];
        snprintf(name, sizeof name, "%s", side ? strchr(languages, ',') + 1 : languages);
        name[strcspn(name, ",")] = 0;
        take_language(t->wanted[side], name);
    }
    if (!t->parser) return free(t), NULL;
    XML_SetUserData(t->parser, t);
    XML_SetElementHandler(t->parser, on_start, on_end);
    XML_SetCharacterDataHandler(t->parser, on_text);
    XML_SetSkippedEntityHandler(t->parser, on_other_file);
    XML_SetExternalEntityRefHandler(t->parser, on_external);
    return t;
}

/* Goes on where the parser has stopped, or with the next line and its line break, or the end. */
static TextResult parse(Tmx *t, enum XML_Status *status, Error *error)
{
    if (t->suspended) return *status = XML_ResumeParser(t->parser), t->read;
    t->read = t->line ? TEXT_LINE : text_next(t->reader, &t->line, &t->length, error);
    if (t->read == TEXT_ERROR) return TEXT_ERROR;
    if (t->read == TEXT_LINE)
        ((char *)t->line)[t->length++] = '\n';  // in place of the NUL byte
    *status = XML_Parse(t->parser, t->line, (int)t->length, t->read == TEXT_END);
    t->line = NULL, t->length = 0;
    return t->read;
}

/* The variant of a language that has text, but not `other`; NULL: there is none. Of several the one
 * with the shortest name, so that en comes before en-US. */
static const Variant *find_variant(const Tmx *t, const char *language, const Variant *other)
{
    const Variant *best = NULL;
    for (const Variant *v = t->variant; v < t->variant + t->variants; v++)
        if (v != other && v->used && is_in(v->language, language) &&
            (!best || strlen(v->language) < strlen(best->language)))
            best = v;
    return best;
}

/* The text of a variant, or of none, without the blanks around it. */
static void take_text(const Variant *v, const char **text, size_t *length)
{
    *text = "", *length = 0;
    if (!v) return;
    v->text[v->used] = 0;
    *text = v->text, *length = v->used;
    while (*length && (*text)[*length - 1] == ' ') --*length;
    while (*length && **text == ' ') ++*text, --*length;
}

TextResult tmx_next(Tmx *t, const char *field[2], size_t length[2], Error *error)
{
    enum XML_Status status;
    do {
        TextResult result = parse(t, &status, error);
        if (result == TEXT_ERROR || (result == TEXT_END && status == XML_STATUS_OK))
            return result;
        if (status == XML_STATUS_ERROR) {
            enum XML_Error code = XML_GetErrorCode(t->parser);
            const char *advice =
                t->failed ? ""
                : code == XML_ERROR_INVALID_TOKEN
                    ? ": the file is cut off here, or has a & or < that is no markup, or a "
                      "control character: perl -pe 's/&(?!#?\\w+;)/&amp;/g; "
                      "s/[^\\t\\n\\r -\\xff]//g' <OLD >NEW mends each of these but <"
                : code == XML_ERROR_BAD_CHAR_REF
                    ? ": perl -pe 's/&#(0*([0-8]|1[124-9]|2\\d|3[01])|x0*([0-8bcef]|"
                      "1[\\da-f]));//gi' <OLD >NEW removes those of control characters"
                : code == XML_ERROR_UNDEFINED_ENTITY ? ": write the character itself"
                : code == XML_ERROR_JUNK_AFTER_DOC_ELEMENT
                    ? ": give each TMX as a file of its own"
                : result == TEXT_END ? ": the file is cut off: copy or download it again"
                                     : "";
            error_set(error, "%s:%zu: %s%s", t->reader->name, t->reader->line,
                      t->failed ? t->failed : XML_ErrorString(code), advice);
            return TEXT_ERROR;
        }
        t->suspended = status == XML_STATUS_SUSPENDED;
    } while (!t->suspended);
    number_languages(t);
    const Variant *source = find_variant(t, t->wanted[0], NULL);
    take_text(source, &field[0], &length[0]);
    take_text(find_variant(t, t->wanted[1], source), &field[1], &length[1]);
    return TEXT_LINE;
}

void tmx_describe(char text[TMX_DESCRIPTION], const Tmx *t)
{
    size_t used = (size_t)snprintf(text, TMX_DESCRIPTION, "source %s, target %s",
                                   *t->wanted[0] ? t->wanted[0] : "none",
                                   *t->wanted[1] ? t->wanted[1] : "none");
    for (int n = 0; t->languages != 2 && n < t->languages && used < TMX_DESCRIPTION; n++)
        used += (size_t)snprintf(text + used, TMX_DESCRIPTION - used, "%s %s", n ? "," : ", of",
                                 t->language[n]);
}

void tmx_close(Tmx *t)
{
    if (!t) return;
    XML_ParserFree(t->parser);
    for (int i = 0; i < LANGUAGES; i++) free(t->variant[i].text);
    free(t);
}
