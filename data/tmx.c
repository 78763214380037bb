/* tmx.c -- reads TMX; see tmx.h. */
#include "data/tmx.h"

#include "base/grow.h"

#include <expat.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { LANGUAGES = 64, LANGUAGE_NAME = 36 };

struct Tmx {
    TextReader *reader;
    const char *line;  // to parse next, or NULL
    size_t length;
    XML_Parser parser;
    bool suspended, after_line;  // the parser at the end of a unit; a line break follows
    int column[2];
    char language[LANGUAGES][LANGUAGE_NAME];
    int languages, depth;
    int side;     // of the variant, or -1: it is of another language
    int segment;  // depth of <seg>; 0: outside
    int code;     // depth of an inline element whose content is not text; 0: outside
    char *text[2];
    size_t size[2], used[2];
    const char *failed;  // why; or NULL
};

/* The number of a language, from 1. */
static int number_of(Tmx *t, const char *language)
{
    for (int i = 0; i < t->languages; i++)
        if (!strcasecmp(t->language[i], language)) return i + 1;
    if (t->languages == LANGUAGES || strlen(language) >= LANGUAGE_NAME) return 0;
    strcpy(t->language[t->languages++], language);
    return t->languages;
}

static void begin_variant(Tmx *t, const char **attribute)
{
    int number = 0;
    t->side = -1;
    for (; attribute[0]; attribute += 2)  // `lang` until TMX 1.1
        if (!strcmp(attribute[0], "xml:lang") || !strcmp(attribute[0], "lang"))
            number = number_of(t, attribute[1]);
    for (int side = 0; side < 2; side++)
        if (number == t->column[side] && !t->used[side]) t->side = side;
}

static void on_start(void *context, const char *name, const char **attribute)
{
    Tmx *t = context;
    if (!t->depth++ && strcmp(name, "tmx")) {
        t->failed = "it is XML, but no TMX";
        XML_StopParser(t->parser, XML_FALSE);
    } else if (t->segment) {
        if (!t->code && strcmp(name, "hi")) t->code = t->depth;
    } else if (!strcmp(name, "tu")) {
        t->used[0] = t->used[1] = 0;
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
    if (t->code == depth) t->code = 0;
    if (t->segment == depth) t->segment = 0;
    if (!strcmp(name, "tuv")) t->side = -1;
    if (!strcmp(name, "tu")) XML_StopParser(t->parser, XML_TRUE);
}

static void on_text(void *context, const char *bytes, int count)
{
    Tmx *t = context;
    int side = t->side;
    if (!t->segment || t->code || side < 0 || t->failed) return;
    if (!GROW(t->text[side], t->size[side], t->used[side] + (size_t)count + 1)) {
        t->failed = "there is not enough memory for the unit";
        XML_StopParser(t->parser, XML_FALSE);
        return;
    }
    for (int i = 0; i < count; i++)
        t->text[side][t->used[side]++] = strchr("\t\n\r", bytes[i]) ? ' ' : bytes[i];
}

Tmx *tmx_open(TextReader *reader, const char *line, size_t length, const int column[2])
{
    Tmx *t = calloc(1, sizeof *t);
    if (!t) return NULL;
    *t = (Tmx){reader, line, length, XML_ParserCreate("UTF-8"), .side = -1};
    memcpy(t->column, column, sizeof t->column);
    if (!t->parser) return free(t), NULL;
    XML_SetUserData(t->parser, t);
    XML_SetElementHandler(t->parser, on_start, on_end);
    XML_SetCharacterDataHandler(t->parser, on_text);
    return t;
}

/* Goes on where the parser has stopped, or with the line break, or the next line, or the end. */
static TextResult parse(Tmx *t, enum XML_Status *status, Error *error)
{
    TextResult result = TEXT_LINE;
    if (t->suspended) return *status = XML_ResumeParser(t->parser), result;
    if (!t->line && !t->after_line) result = text_next(t->reader, &t->line, &t->length, error);
    if (result == TEXT_ERROR) return result;
    if (t->after_line) *status = XML_Parse(t->parser, "\n", 1, XML_FALSE);
    else *status = XML_Parse(t->parser, t->line, (int)t->length, result == TEXT_END);
    if (!t->after_line) t->line = NULL, t->length = 0;
    t->after_line = !t->after_line && result == TEXT_LINE;
    return result;
}

TextResult tmx_next(Tmx *t, const char *field[2], size_t length[2], Error *error)
{
    enum XML_Status status;
    do {
        TextResult result = parse(t, &status, error);
        if (result == TEXT_ERROR || (result == TEXT_END && status == XML_STATUS_OK))
            return result;
        if (status == XML_STATUS_ERROR) {
            error_set(error, "%s:%zu: %s", t->reader->name, t->reader->line,
                      t->failed ? t->failed : XML_ErrorString(XML_GetErrorCode(t->parser)));
            return TEXT_ERROR;
        }
        t->suspended = status == XML_STATUS_SUSPENDED;
    } while (!t->suspended);
    for (int side = 0; side < 2; side++) {
        field[side] = t->used[side] ? t->text[side] : "";
        length[side] = t->used[side];
        if (t->used[side]) t->text[side][t->used[side]] = 0;
    }
    return TEXT_LINE;
}

void tmx_close(Tmx *t)
{
    if (!t) return;
    XML_ParserFree(t->parser);
    free(t->text[0]);
    free(t->text[1]);
    free(t);
}
