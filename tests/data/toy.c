/* toy.c -- the generator writes the committed corpus byte for byte; its sentences are distinct
 * and aligned, contain no wrong form, and show elision, contraction, negation and agreement. */
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
enum { MAX_LINES = 30000 };

typedef struct Lines {
    char **line;
    int count;
} Lines;

static const char *const names[SETS][SIDES] = {
    {"train.en.gz", "train.fr.gz"}, {"valid.en", "valid.fr"}, {"test.en", "test.fr"}};
static const int sizes[SETS] = {20000, 500, 500};
static Lines corpus[SETS][SIDES], alignments;  // as committed

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

FIXTURE(load)
{
    for (int set = 0; set < SETS; set++)
        for (int s = 0; s < SIDES; s++) {
            corpus[set][s] = lines_read("data/toy", names[set][s]);
            assert_int_equal(corpus[set][s].count, sizes[set]);
        }
    alignments = lines_read("data/toy", "test.align");
    return 0;
}

TEST(generator_gives_the_committed_files)
{
    const char *build = getenv("BUILD") ? getenv("BUILD") : "build";
    char directory[256], command[2048];
    snprintf(directory, sizeof(directory), "%s/toy-XXXXXX", build);
    assert_non_null(mkdtemp(directory));
    snprintf(
        command, sizeof(command),
        "'%s/data/toy/generate' '%s' && for f in data/toy/*.en data/toy/*.fr "
        "data/toy/*.align data/toy/*.gz; do zcmp \"$f\" \"%s/${f##*/}\" || exit 1; done && "
        "rm -r '%s'",
        build, directory, directory, directory);
    assert_int_equal(system(command), 0);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* So no sentence of the validation or test set is in the training set. */
TEST(no_sentence_comes_twice)
{
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

static int word_count(const char *line)
{
    int count = 1;
    for (; *line; line++) count += *line == ' ';
    return count;
}

/* Pairs in range, sorted, none twice; and every word of either side is in one. */
TEST(alignments_are_whole)
{
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
        for (int w = 0; w < n || w < m; w++)
            if ((w < n && !en_seen[w]) || (w < m && !fr_seen[w]))
                fail_msg("word %d of '%s'", w, corpus[TEST][EN].line[i]);
    }
}

/* A line that matches, or NULL. */
static const char *match_of(const char *pattern, int set, int side)
{
    regex_t regex;
    assert_int_equal(regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB), 0);
    const char *match = NULL;
    for (int i = 0; i < sizes[set] && !match; i++)
        if (regexec(&regex, corpus[set][side].line[i], 0, NULL, 0) == 0)
            match = corpus[set][side].line[i];
    regfree(&regex);
    return match;
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
    {FR, "(rouges?|bleue?s?|verte?s?|noire?s?|blancs?|blanches?|jaunes?) "
         "(maison|voiture|chat|chien|robe|manteau|chapeau)s?( |$)"},
    {FR, "(mange|boit|achète|vend|lit|porte) pas (un|une|des|du) "},
    {FR, "(^| )(un|le|ce) (maison|robe|clé) "}, {FR, "(^| )(une|la|cette|ma) (livre|chat) "},
    {FR, "(^| )(je|il|elle) (ne |n')?[a-zéè]+(ons|ez)( |$)"},
    {FR, "(^| )(ils|elles) (ne )?(est|a|va|visite|mange|lit|boit|aime)( |$)"},
    {FR, "(^| )en (le|la|les|canada|paris)( |$)"}, {FR, "(^| )(va|vont) (la|le|l'|les) "},
    {FR, "(^| )(jane|anna|emma|clara|elle) (n'est pas|est) (allé|heureux|fatigué|vieux)( |$)"},
    {FR, "(mange|boit|achète|lit|porte) jamais (un|une|des|du) "},
    {FR, "(^| )(vieil|bel|nouvel) [bcdfgjklmnpqrstv]"},
    {FR, " (vieil|bel|nouvel|cet)( \\?|$)"}, {FR, "(als|eaus|xs|ss)( |$)"},
};

static const char *const phenomena[] = {
    "(^| )n'", "(^| )j'", "(^| )qu'", "(^| )d'", "(^| )l'h", " parce qu", "(vieil|nouvel|bel) ",
    "(^| )au ", "(^| )aux ", "(^| )du ", "(^| )de la ", "états-unis", "(^| )(cet|cette|ces) ",
    "(^| )de (beaux|belles|vieux|vieilles|bons|bonnes|nouveaux|nouvelles|petits|petites) ",
    "(voitures?|chemises?|chaussures) (rouge|blanche|noire|verte|bleue)s?",
    "(ne |n').* pas( |$)", " jamais ", " (toujours|souvent) ", " pas d(e |')", "il y a ",
    "il n'y a pas ", " (mais|et) (il|elle|ils|elles|je|nous|vous) (ne )?(l'|le |la |les )",
    " (me|m'|nous|vous) ?(ai|av|vo|ve|éc|co)", " (est|pas|sont) allée?s?( |$)",
    " (l'|les )(a|ai|avez|avons|ont)( pas)? [a-zé]+e?s( |$)",
    " l'(a|ai|avez|avons|ont)( pas)? [a-zé]+e$", " ne (peut|peux|pouvez|pouvons|peuvent) pas ",
    "(^| )(ils|elles) (ne )?sont (pas )?[a-zé]+s( |$)",
    " (doit|dois|devez|devons|doivent) ", " (visite|ach|ver|ir)[a-zè]*r(ai|ez|a|ons|ont) ",
    "^est-ce qu", "^où est-ce", "^quand ", "^pourquoi ", "^qu'est-ce ", " et elle ", " mais elles ",
};
// clang-format on

TEST(forbidden_forms_never_occur)
{
    for (size_t f = 0; f < sizeof(forbidden) / sizeof(*forbidden); f++)
        for (int set = 0; set < SETS; set++) {
            const char *match = match_of(forbidden[f].pattern, set, forbidden[f].side);
            if (match) fail_msg("'%s' matches %s", match, forbidden[f].pattern);
        }
}

TEST(the_test_set_shows_every_phenomenon)
{
    for (size_t p = 0; p < sizeof(phenomena) / sizeof(*phenomena); p++)
        if (!match_of(phenomena[p], TEST, FR)) fail_msg("no %s", phenomena[p]);
}

TEST_MAIN("toy", load, NULL)
