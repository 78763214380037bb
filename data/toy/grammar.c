/* grammar.c -- reads lexicon.txt and grammar.txt. */
#include "data/toy/grammar.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ITEM = 64, MAX_COLUMNS = 16 };

typedef struct Reader {
    Grammar *grammar;
    const char *path;
    int line;
    char *item[MAX_ITEM];  // the words of a declaration, an entry or a step
    int words;
    bool declaration, rules;
    int table, column[MAX_COLUMNS], columns;  // table 0: rules
    char *paradigm[MAX_COLUMNS];
} Reader;

_Noreturn static void complain(const Reader *r, const char *what, const char *word)
{
    die("%s:%d: %s '%s'", r->path, r->line, what, word);
}

/* Counts one more element of an array; its index. */
static int take(Reader *r, int *count, size_t limit)
{
    if ((size_t)*count == limit) complain(r, "no space for", r->item[0]);
    return (*count)++;
}
#define TAKE(r, array, count) (&(array)[take(r, &(count), sizeof(array) / sizeof(*(array)))])

static char *joined(const char *a, const char *b)
{
    char *text = malloc(strlen(a) + strlen(b) + 1);
    if (!text) die("there is not enough memory");
    return strcat(strcpy(text, a), b);
}

/* A symbol that something refers to; a later declaration may make it known. */
static Symbol *symbol(Reader *r, const char *name)
{
    uint32_t before = r->grammar->names.count, s = text_number(&r->grammar->names, name);
    if (s >= MAX_SYMBOLS) complain(r, "no space for", name);
    Symbol *found = &r->grammar->symbol[s];
    if (s == before) found->group.bits[s / 64] = 1ull << s % 64;
    return found;
}

static int declare(Reader *r, const char *name)
{
    Symbol *s = symbol(r, name);
    s->known = true;
    return (int)(s - r->grammar->symbol);
}

static void set_add(Set *set, const Set *more)
{
    for (size_t i = 0; i < MAX_SYMBOLS / 64; i++) set->bits[i] |= more->bits[i];
}

// ---- the lexicon --------------------------------------------------------------------------

/* Sets a form and the feature that the entry has it. A colon and what follows are left out. */
static void form_add(Reader *r, Node *entry, int column, const char *text, const char *ending)
{
    int form = r->column[column];
    entry->form[form] = joined(text, ending);
    entry->form[form][strcspn(entry->form[form], ":")] = '\0';
    set_add(&entry->features, &r->grammar->symbol[form].group);
}

/* The forms of an entry; returns the number of words read. */
static int forms_read(Reader *r, Node *entry)
{
    int word = 0;
    for (int c = 0; c < r->columns && word < r->words; word++) {
        char *text = r->item[word], *stem = strstr(text, "-er");
        if (stem && c > 0) {
            *stem = '\0';
            for (int e = 0; c < r->columns; e++) form_add(r, entry, c++, text, r->paradigm[e]);
        } else if (*text == '+') form_add(r, entry, c++, r->item[0], text + 1);
        else if (strcmp(text, "-") == 0) c++;
        else form_add(r, entry, c++, text, "");
    }
    return word;
}

static void entry_read(Reader *r)
{
    Grammar *g = r->grammar;
    Node *entry = TAKE(r, g->entry, g->entries);
    Symbol *table = &g->symbol[r->table];
    int word = forms_read(r, entry);
    if (table->size++ == 0) table->table = entry;
    if (r->columns) {
        Symbol *key = &g->symbol[declare(r, r->item[*r->item[0] == '-'])];
        key->entry = entry;
        set_add(&entry->features, &key->group);
        set_add(&table->group, &key->group);
    }
    for (; word < r->words; word++) {
        char *value = strchr(r->item[word], '=');
        if (value) {
            *value++ = '\0';
            entry->slot[symbol(r, r->item[word]) - g->symbol] = symbol(r, value)->entry;
        } else set_add(&entry->features, &symbol(r, r->item[word])->group);
    }
}

static void declaration_read(Reader *r)
{
    Grammar *g = r->grammar;
    const char *what = r->item[0];
    if (r->words < 2) complain(r, "no name after", what);
    int s = declare(r, r->item[1]);
    Symbol *named = &g->symbol[s];
    if (!strcmp(what, "slots") || !strcmp(what, "forms")) {
        for (int w = 1; w < r->words; w++)
            g->symbol[declare(r, r->item[w])].slot = *what == 's';
        if (g->names.count > MAX_NAMED) complain(r, "no space for", what);
    } else if (!strcmp(what, "paradigm")) {
        for (int w = 2; w < r->words && w < MAX_COLUMNS; w++)
            r->paradigm[w - 2] = joined(r->item[w], "");
    } else if (!strcmp(what, "table")) {
        r->table = s;
        r->columns = r->words - 2;
        for (int w = 2; w < r->words; w++) r->column[w - 2] = declare(r, r->item[w]);
    } else {
        memset(&named->group, 0, sizeof(Set));
        for (int w = 2; w < r->words; w++)
            set_add(&named->group, &g->symbol[declare(r, r->item[w])].group);
        for (int w = 2; w < r->words && *what == 'f'; w++)
            symbol(r, r->item[w])->excluded = named->group;
    }
}

/* Begins a rule, which is a construction before the line "rules:". */
static void rule_begin(Reader *r, char *name)
{
    Grammar *g = r->grammar;
    name[strlen(name) - 1] = '\0';
    r->table = 0;
    r->rules |= !strcmp(name, "rules");
    TAKE(r, g->step, g->steps)->last = true;
    g->symbol[declare(r, name)].rule = g->steps;
    if (!r->rules) *TAKE(r, g->construction, g->constructions) = g->steps;
}

// ---- the rules ----------------------------------------------------------------------------

#define MARKS "&=^@+~|,(?/{"

/* "2*subject.noun.boy": up to the next mark, which is returned. */
static char *term_read(Reader *r, Term *term, char *text)
{
    char *end = text + strcspn(text, MARKS ")"),
         *star = memchr(text, '*', (size_t)(end - text));
    if (star) {
        term->weight = atoi(text);
        text = star + 1;
    }
    char mark = *end;
    *end = '\0';
    for (char *name, *rest = text; (name = strtok_r(rest, ".", &rest));) {
        const Symbol *s = symbol(r, name);
        int number = (int)(s - r->grammar->symbol);
        if (!s->slot || term->mark == '@') term->symbol = number;
        else if (term->slots < MAX_PATH) term->slot[term->slots++] = number;
        else complain(r, "too long:", name);
    }
    *end = mark;
    return end;
}

/* The terms of a word; an empty one, which is the node itself, only at the start. */
static void terms_read(Reader *r, Op *op, char *text)
{
    Grammar *g = r->grammar;
    op->term = &g->term[g->terms];
    for (char mark = '\0'; *text || op->terms == 0; mark = *text ? *text++ : '\0') {
        if (op->terms && strchr(MARKS ")", *text) && mark != '{') continue;
        Term *term = TAKE(r, g->term, g->terms);
        *term = (Term){.mark = mark, .symbol = -1, .weight = 1};
        op->terms++;
        if (mark == '{' || *text == '"') {
            char *from = text + (mark != '{'), *end = strchr(from, mark == '{' ? '}' : '"');
            if (!end) complain(r, "does not end:", text);
            *end = '\0';
            term->text = joined(from, "");
            text = end + 1;
        } else text = term_read(r, term, text);
    }
}

static void op_read(Reader *r, char *text, bool test)
{
    static const char *const words[] = {"done", "fail", "again"};
    Op *op = TAKE(r, r->grammar->op, r->grammar->ops);
    *op = (Op){.kind = DRAW, .negated = *text == '!'};
    if (test && strchr(text, '%')) {
        op->kind = CHANCE;
        op->percent = atoi(text);
        return;
    }
    for (int w = 0; w < 3; w++)
        if (!strcmp(text, words[w])) {
            op->kind = DONE + w;
            return;
        }
    if (test) op->kind = strchr(text, '&') ? SHARE : strchr(text, '=') ? SAME : HAS;
    else if (strchr(text, '^')) op->kind = SAY;
    else if (strstr(text, "=@")) op->kind = CREATE;
    else if (strpbrk(text, "@(")) op->kind = CALL;
    else if (strchr(text, '=')) op->kind = ASSIGN;
    else if (strpbrk(text, "+~")) op->kind = CHANGE;
    terms_read(r, op, text + op->negated);
}

static void step_read(Reader *r)
{
    Grammar *g = r->grammar;
    Step *step = TAKE(r, g->step, g->steps);
    int first = g->ops, word = 0, tests = 0;
    for (int w = 0; w < r->words; w++) {
        char *end = r->item[w] + strlen(r->item[w]) - 1;
        if (*end == ':') {
            *end = '\0';
            tests = w + 1;
        }
    }
    *step = (Step){.op = &g->op[first], .otherwise = !strcmp(r->item[0], "else")};
    for (word = step->otherwise; word < r->words; word++) {
        op_read(r, r->item[word], word < tests);
        if (word < tests) step->tests = g->ops - first;
    }
    step->ops = g->ops - first;
}

// ---- the files ----------------------------------------------------------------------------

static void item_end(Reader *r)
{
    if (r->words && r->declaration) declaration_read(r);
    else if (r->words && r->table) entry_read(r);
    else if (r->words) step_read(r);
    for (int w = 0; w < r->words; w++) free(r->item[w]);
    r->words = 0;
}

/* A semicolon or a line that is not indented deeper ends an item. */
static void line_read(Reader *r, char *line)
{
    line[strcspn(line, "#\n")] = '\0';
    size_t indent = strspn(line, " ");
    if (!line[indent]) return;
    if (indent < 8) {
        item_end(r);
        r->declaration = indent == 0;
    }
    for (char *word, *rest = line, *end; (word = strtok_r(rest, " ", &rest));) {
        if ((end = strchr(word, ';'))) *end = '\0';
        if (r->declaration && !r->words && word[strlen(word) - 1] == ':') {
            rule_begin(r, word);
            r->declaration = false;
            continue;
        }
        char *last = r->words ? r->item[r->words - 1] : "";
        if (*last && strchr("|,", last[strlen(last) - 1])) {  // the word goes on here
            r->item[r->words - 1] = joined(last, word);
            free(last);
        } else r->item[take(r, &r->words, MAX_ITEM)] = joined(word, "");
        if (end) item_end(r);
    }
}

static void file_read(Reader *r, const char *path)
{
    FILE *file = fopen(path, "r");
    char *line = NULL;
    size_t size = 0;
    if (!file) die("cannot read '%s': %s", path, strerror(errno));
    r->path = path;
    for (r->line = 1; getline(&line, &size, file) > 0; r->line++) line_read(r, line);
    item_end(r);
    free(line);
    fclose(file);
}

void grammar_read(Grammar *g, const char *lexicon, const char *rules)
{
    static const char *const known_names[KNOWN] = {"self",    "up",     "wanted",   "word",
                                                   "next",    "result", "default",  "sandhi",
                                                   "english", "french", "question", "jane"};
    static Reader r;
    r.grammar = g;
    for (int s = 0; s < KNOWN; s++) symbol(&r, known_names[s])->slot = s <= WANTED;
    file_read(&r, lexicon);
    file_read(&r, rules);
    TAKE(&r, g->step, g->steps)->last = true;
    for (uint32_t s = WORD; s < g->names.count; s++)
        if (!g->symbol[s].known) die("'%s' is not declared", g->names.text[s]);
}
