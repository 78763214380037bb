/* toy.c -- the toy corpus: the committed files are what the generator writes, whole, distinct,
 * aligned, and free of the forms that English and French forbid. */
#include "tests/fixtures/test.h"

#include <regex.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

enum { TRAIN, VALID, TEST, SETS };
enum { EN, FR, SIDES };
enum { MAX_LINES = 30000, MAX_TOKENS = 400000 };

typedef struct Lines {
    char **line;
    int count;
} Lines;

static const char *const names[SETS][SIDES] = {
    {"train.en.gz", "train.fr.gz"}, {"valid.en", "valid.fr"}, {"test.en", "test.fr"}};
static const int sizes[SETS] = {20000, 500, 500};
static Lines corpus[SETS][SIDES], alignments;

static Lines lines_read(const char *directory, const char *name)
{
    char path[512], text[1024];
    snprintf(path, sizeof(path), "%s/%s", directory, name);
    gzFile file = gzopen(path, "rb");
    if (!file) fail_msg("cannot read '%s'", path);
    Lines lines = {malloc(MAX_LINES * sizeof(char *)), 0};
    while (lines.count < MAX_LINES && gzgets(file, text, sizeof(text))) {
        size_t length = strlen(text);
        assert_true(length > 1 && text[length - 1] == '\n');
        text[length - 1] = '\0';
        lines.line[lines.count++] = strdup(text);
    }
    gzclose(file);
    return lines;
}

static void lines_free(Lines *lines)
{
    for (int i = 0; i < lines->count; i++) free(lines->line[i]);
    free(lines->line);
}

static int load(void **state)
{
    (void)state;
    for (int set = 0; set < SETS; set++)
        for (int s = 0; s < SIDES; s++) corpus[set][s] = lines_read("data/toy", names[set][s]);
    alignments = lines_read("data/toy", "test.align");
    return 0;
}

static int unload(void **state)
{
    (void)state;
    for (int set = 0; set < SETS; set++)
        for (int s = 0; s < SIDES; s++) lines_free(&corpus[set][s]);
    lines_free(&alignments);
    return 0;
}

static void assert_same(const Lines *committed, const char *directory, const char *name)
{
    Lines again = lines_read(directory, name);
    assert_int_equal(again.count, committed->count);
    for (int i = 0; i < again.count; i++)
        assert_string_equal(again.line[i], committed->line[i]);
    lines_free(&again);
    char path[512];
    snprintf(path, sizeof(path), "%s/%s", directory, name);
    assert_int_equal(remove(path), 0);
}

static void generator_gives_the_committed_files(void **state)
{
    (void)state;
    const char *build = getenv("BUILD") ? getenv("BUILD") : "build";
    char directory[256], command[1024];
    snprintf(directory, sizeof(directory), "%s/toy-XXXXXX", build);
    assert_non_null(mkdtemp(directory));
    snprintf(command, sizeof(command), "'%s/data/toy/generate' '%s'", build, directory);
    assert_int_equal(system(command), 0);
    for (int set = 0; set < SETS; set++)
        for (int s = 0; s < SIDES; s++) assert_same(&corpus[set][s], directory, names[set][s]);
    assert_same(&alignments, directory, "test.align");
    assert_int_equal(rmdir(directory), 0);
}

static void sets_have_their_sizes(void **state)
{
    (void)state;
    for (int set = 0; set < SETS; set++)
        for (int s = 0; s < SIDES; s++) assert_int_equal(corpus[set][s].count, sizes[set]);
    assert_int_equal(alignments.count, sizes[TEST]);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void no_sentence_comes_twice(void **state)
{
    (void)state;
    for (int s = 0; s < SIDES; s++) {
        char **all = malloc(MAX_LINES * sizeof(char *));
        int count = 0;
        for (int set = 0; set < SETS; set++)
            for (int i = 0; i < sizes[set]; i++) all[count++] = corpus[set][s].line[i];
        qsort(all, (size_t)count, sizeof(char *), by_text);
        for (int i = 1; i < count; i++) assert_string_not_equal(all[i - 1], all[i]);
        free(all);
    }
}

static void jane_is_in_the_test_set(void **state)
{
    (void)state;
    bool found = false;
    for (int i = 0; i < sizes[TEST]; i++)
        if (strcmp(corpus[TEST][EN].line[i], "jane visits africa in september") == 0) {
            found = true;
            assert_string_equal(corpus[TEST][FR].line[i], "jane visite l'afrique en septembre");
            assert_string_equal(alignments.line[i], "0-0 1-1 2-2 3-3 4-4");
        }
    assert_true(found);
}

static int word_count(const char *line)
{
    int count = 1;
    for (; *line; line++) count += *line == ' ';
    return count;
}

static void sentences_are_neither_short_nor_long(void **state)
{
    (void)state;
    for (int set = 0; set < SETS; set++)
        for (int i = 0; i < sizes[set]; i++)
            assert_in_range(word_count(corpus[set][EN].line[i]), 3, 14);
}

/* Pairs in range, sorted, none twice; and every word of either side is in one. */
static void alignments_are_whole(void **state)
{
    (void)state;
    for (int i = 0; i < sizes[TEST]; i++) {
        int n = word_count(corpus[TEST][EN].line[i]), m = word_count(corpus[TEST][FR].line[i]);
        bool en_seen[64] = {false}, fr_seen[64] = {false};
        int last = -1, used = 0, en, fr;
        const char *text = alignments.line[i];
        while (sscanf(text, "%d-%d%n", &en, &fr, &used) == 2) {
            assert_in_range(en, 0, n - 1);
            assert_in_range(fr, 0, m - 1);
            assert_true(en * 64 + fr > last);
            last = en * 64 + fr;
            en_seen[en] = fr_seen[fr] = true;
            text += used;
            if (*text == ' ') text++;
        }
        assert_int_equal(*text, '\0');
        for (int w = 0; w < n; w++)
            if (!en_seen[w]) fail_msg("word %d of '%s'", w, corpus[TEST][EN].line[i]);
        for (int w = 0; w < m; w++)
            if (!fr_seen[w]) fail_msg("word %d of '%s'", w, corpus[TEST][FR].line[i]);
    }
}

/* All words of a set, sorted. */
static char **words_of(int set, int side, int *count)
{
    char **words = malloc(MAX_TOKENS * sizeof(char *));
    *count = 0;
    for (int i = 0; i < sizes[set]; i++) {
        char *copy = strdup(corpus[set][side].line[i]);
        for (char *word = strtok(copy, " "); word; word = strtok(NULL, " "))
            words[(*count)++] = strdup(word);
        free(copy);
    }
    qsort(words, (size_t)*count, sizeof(char *), by_text);
    return words;
}

static int occurrences(char **words, int count, const char *word)
{
    char **hit = bsearch(&word, words, (size_t)count, sizeof(char *), by_text);
    if (!hit) return 0;
    char **first = hit, **last = hit;
    while (first > words && strcmp(first[-1], word) == 0) first--;
    while (last + 1 < words + count && strcmp(last[1], word) == 0) last++;
    return (int)(last - first) + 1;
}

static void every_word_is_common(void **state)
{
    (void)state;
    for (int s = 0; s < SIDES; s++) {
        int trained, distinct = 0;
        char **known = words_of(TRAIN, s, &trained);
        for (int i = 0; i < trained; i++)
            distinct += i == 0 || strcmp(known[i - 1], known[i]) != 0;
        assert_in_range(distinct, 250, 450);
        for (int set = VALID; set < SETS; set++) {
            int count;
            char **words = words_of(set, s, &count);
            for (int i = 0; i < count; i++) {
                if (occurrences(known, trained, words[i]) < 30)
                    fail_msg("'%s' is rare", words[i]);
                free(words[i]);
            }
            free(words);
        }
        for (int i = 0; i < trained; i++) free(known[i]);
        free(known);
    }
}

/* How many lines match; *example is one of them. */
static int matches(const char *pattern, int set, int side, const char **example)
{
    regex_t regex;
    assert_int_equal(regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB), 0);
    int count = 0;
    for (int i = 0; i < sizes[set]; i++)
        if (regexec(&regex, corpus[set][side].line[i], 0, NULL, 0) == 0) {
            *example = corpus[set][side].line[i];
            count++;
        }
    regfree(&regex);
    return count;
}

// clang-format off
#define VOWEL "(a|e|i|o|u|y|h|é|è|ê|â|œ)"
static const struct { int side; const char *pattern; } forbidden[] = {
    {EN, "[A-Z]|  |^ | $|[.,!]"}, {FR, "[A-Z]|É|  |^ | $|[.,!]"},
    {EN, " \\?|\\?."}, {FR, "[^ ]\\?|\\?."},
    {EN, "(^| )a [aeiou]"}, {EN, "(^| )an [^aeiou]"}, {EN, "n't|'( |$)"},
    {EN, "(^| )(does|did|do|will|cannot|must) (not )?(visits|reads|eats|likes|buys|goes|has)"},
    {EN, "(^| )(they|we|you|i) (is|has|does|likes|eats|goes)( |$)"},
    {EN, "^(he|she|it) (do|have|go|are|am|like|eat)( |$)"},
    {FR, "(^| |')(le|la|je|ne|de|que|me|ce) " VOWEL}, {FR, "' "},
    {FR, "(^| )de les? "}, {FR, "(^| )à les? "}, {FR, "(^| )si ils?( |$)"},
    {FR, "(^| )(ma|sa|ta) " VOWEL}, {FR, "est-ce que (il|elle)"},
    {FR, "(^| )(beau|vieux|nouveau) (ami|homme|arbre|oiseau|hôtel|étudiant|œuf)( |$)"},
    {FR, "(^| )(un|une|le|la|les|ma|ta|sa|cette|ce|ces) (le|la|les|un|une|des|du) "},
    {FR, "(rouges?|bleue?s?|verte?s?|noire?s?|blancs?|blanches?|jaunes?) "
         "(maison|voiture|chat|chien|robe|manteau|chapeau)s?( |$)"},
    {FR, "(mange|boit|achète|vend|lit|porte) pas (un|une|des|du) "},
    {FR, "(^| )(un|le|ce|cet) (maison|voiture|robe|fille|femme|lettre|chanson|clé)( |$)"},
    {FR, "(^| )(une|la|cette|ma|sa) (livre|chat|chien|garçon|manteau|chapeau|musée)( |$)"},
    {FR, "(^| )(je|il|elle) (ne |n')?[a-zéè]+(ons|ez)( |$)"},
    {FR, "(^| )(ils|elles) (ne )?(est|a|va|visite|mange|lit|boit|aime)( |$)"},
    {FR, "(^| )(en (le|la|les|canada|japon|paris)|au (italie|france|paris)|à (france|canada))( |$)"},
    {FR, "(^| )(habit[a-z]+|va|vont|vais) (la|le|l'|les) "},
};

static const char *const phenomena[] = {
    "(voitures?|robes?|chemises?|chaussures) (rouge|blanche|noire|verte|bleue|jaune)s?",
    "(belle|vieille|nouvelle|petite|grande)s? ", "(vieil|nouvel|bel) ",
    "(^| )de (beaux|belles|vieux|vieilles|bons|bonnes|nouveaux|nouvelles|petits|petites) ",
    "(^| )l'(afrique|italie)", "(^| )n'", "(^| )j'", "(^| )qu'", "(^| )d'", "(^| )l'h",
    "(^| )au ", "(^| )aux ", "(^| )du ", "(^| )de la ", "(ne |n').* pas( |$)", " jamais ",
    " pas d(e |')", " (mais|et) (il|elle|ils|elles|je|nous|vous) (ne )?(l'|le |la |les )",
    " (me|nous|vous|lui|leur) ",
    " (vue?s?|achetée?s?|écrite?s?|chantée?s?|trouvée?s?) (est|n'est|sont|ne sont) ",
    "^est-ce qu", "^où est-ce", "^quand ", "^pourquoi ", "^qu'est-ce ", "^combien ", "^qui ",
    "^où (est|sont) ", "(^| )en (afrique|italie|chine|france)", "(^| )au (canada|japon)",
    "états-unis", " à (paris|londres|rome)", " (viens|venez|vient|venons|viennent) ",
    " en (janvier|avril|août|septembre)", " (tous les|toutes les) ", " (demain|prochaine)( |$)",
    " (hier|dernière)( |$)", " aujourd'hui", "(^| )(ma|mon|mes|son|sa|ses|leurs?) ",
    "(^| )(cet|cette|ces) ", "il y a ", "il n'y a pas ", "(c'est|ce n'est) ", "ce sont ",
    " plus .* qu", " (a|ai|avons|avez|ont) (faim|soif)", " [a-z]+ qui ", " parce qu",
    " (sait|pense|savent|pensent) qu", " (veut|veux|veulent|voulez) ", " (peut|peuvent) ",
    " (doit|doivent) ", " est allé ", " est allée ", " sont (allé|resté)s ", " sont (allé|resté)es ", "^(ne |n')?(lisez|ouvrez|fermez|mangez|chantez|portez|donnez) ",
};
// clang-format on

static void forbidden_forms_never_occur(void **state)
{
    (void)state;
    for (size_t f = 0; f < sizeof(forbidden) / sizeof(*forbidden); f++)
        for (int set = 0; set < SETS; set++) {
            const char *example = "";
            if (matches(forbidden[f].pattern, set, forbidden[f].side, &example))
                fail_msg("'%s' matches %s", example, forbidden[f].pattern);
        }
}

static void the_test_set_shows_every_phenomenon(void **state)
{
    (void)state;
    for (size_t p = 0; p < sizeof(phenomena) / sizeof(*phenomena); p++) {
        const char *example = "";
        if (matches(phenomena[p], TEST, FR, &example) == 0) fail_msg("no %s", phenomena[p]);
    }
}

static void characters_are_composed(void **state)
{
    (void)state;
    for (int set = 0; set < SETS; set++)
        for (int i = 0; i < sizes[set]; i++)
            for (const char *c = corpus[set][FR].line[i]; *c; c++) {
                unsigned char byte = (unsigned char)*c;  // à to œ, and no combining accent
                assert_true(byte < 0x80 || byte == 0xC3 || byte == 0xC5 ||
                            (byte & 0xC0) == 0x80);
            }
}

static void question_marks_agree(void **state)
{
    (void)state;
    for (int set = 0; set < SETS; set++)
        for (int i = 0; i < sizes[set]; i++)
            assert_int_equal(strchr(corpus[set][EN].line[i], '?') != NULL,
                             strchr(corpus[set][FR].line[i], '?') != NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(generator_gives_the_committed_files),
        cmocka_unit_test(sets_have_their_sizes),
        cmocka_unit_test(no_sentence_comes_twice),
        cmocka_unit_test(jane_is_in_the_test_set),
        cmocka_unit_test(sentences_are_neither_short_nor_long),
        cmocka_unit_test(alignments_are_whole),
        cmocka_unit_test(every_word_is_common),
        cmocka_unit_test(forbidden_forms_never_occur),
        cmocka_unit_test(the_test_set_shows_every_phenomenon),
        cmocka_unit_test(characters_are_composed),
        cmocka_unit_test(question_marks_agree),
    };
    return cmocka_run_group_tests(tests, load, unload);
}
