/* textprofile.c -- what a text was like, and the same again from JSON. */
#include "data/textprofile.h"

#include "tests/fixtures/learned-tokenizer.h"
#include "tests/fixtures/test.h"

static Error error;

static Tokenizer *with_tags(void)
{
    const StringList tags = {.item = (char *[]){"<fr>", "<de>"}, .count = 2};
    return learn(sentences_of(TEXT, TEXTS),
                 (TokenizerSettings){.type = TOKENIZER_CHAR, .vocab_size = 60, .tags = &tags});
}

/* Lines and their translation; encoded, a word is a token. */
static void profile_of(TextProfile *profile, const char *const *line, size_t lines,
                       const char *path)
{
    CorpusText text = {0};
    for (size_t i = 0; i < lines; i++) {
        const char *const pair[SIDES] = {line[i], "x 25"};
        const size_t length[SIDES] = {strlen(line[i]), 4};
        assert_true(corpus_add(&text, pair, length, (CorpusLine){0, 0}, &error));
    }
    Tokenizer *tokenizer = with_tags();
    assert_true(textprofile_read(profile, &text, path, &error));
    assert_true(textprofile_characters(profile, &text, tokenizer, &error));
    tokenizer_free(tokenizer);
    corpus_text_free(&text);
}

static void again(TextProfile *back, const TextProfile *profile)
{
    char *json = textprofile_to_json(profile);
    assert_true(textprofile_from_json(back, json, "test", &error));
    char *other = textprofile_to_json(back);
    assert_string_equal(json, other);
    free(json), free(other);
}

TEST(what_a_text_was_like)
{
    static const char *const LINE[] = {
        "The cat sleeps. The dog does not.",
        "It is 7 o'clock.",
        "WHERE ARE YOU GOING?",
        "The Very Best Of Everything",
        "É日\xf0\x9f\x98\x80",
        "A \"quoted\" \\ word.",
        "<fr> nothing here",
        "Just one sentence.",
    };
    TextProfile profile, back;
    profile_of(&profile, LINE, 8, "data.d/train.en.gz");
    assert_true(profile.known);
    assert_string_equal(profile.language, "en");
    assert_true(profile.sentences == 0.125 && profile.upper == 0.125 && profile.title == 0.125);
    assert_true(profile.doubtful == 0 && profile.numbers == 0);
    profile.doubtful = -1.25;
    for (int q = 0; q < PROFILE_LENGTHS; q++) profile.length[q] = 3 * q;
    again(&back, &profile);
    assert_true(back.known && back.doubtful == -1.25 && back.sentences == 0.125);
    assert_string_equal(back.language, "en");
    assert_memory_equal(back.length, profile.length, sizeof back.length);
    assert_string_equal(back.characters, profile.characters);
    assert_memory_equal(back.characters, " \"'.7?AB", 8);
    static const unsigned HAS[] = {'T', 0xc9, 0x65e5, 0x1f600, '"', '\\', ' ', '7'},
                          LACKS[] = {'Z', 0xe9, 0x65e4, 0x1f601, 0, 0x10ffff, '<'};
    for (size_t i = 0; i < 8; i++) assert_true(textprofile_has(&back, HAS[i]));
    for (size_t i = 0; i < 7; i++) assert_false(textprofile_has(&back, LACKS[i]));
    textprofile_free(&profile), textprofile_free(&back);
}

TEST(numbers_that_the_translation_has_not)
{
    static const char *const LINE[] = {"25 days",         "26 days", "on 25.",  "37",
                                       "<b>red</b> cats", "2 days",  "a@b.org", "25 of 26"};
    TextProfile profile;
    profile_of(&profile, LINE, 8, "train.en");
    assert_true(profile.numbers == 3. / 8);
    textprofile_free(&profile);
}

TEST(languages)
{
    static const char *const CASE[][2] = {{"a/test.fr.gz", "fr"},
                                          {"train.de", "de"},
                                          {"train.txt", ""},
                                          {"train.en/text", ""},
                                          {"/dev/fd/63", ""},
                                          {"-", ""},
                                          {"x.gz", ""},
                                          {"", ""},
                                          {"fr", ""},
                                          {".fr", ""},
                                          {"train.EN", ""}};
    for (size_t i = 0; i < sizeof CASE / sizeof *CASE; i++) {
        TextProfile profile;
        profile_of(&profile, (const char *const[]){"a"}, 1, CASE[i][0]);
        if (*CASE[i][1]) assert_string_equal(profile.language, CASE[i][1]);
        else assert_null(profile.language);
        textprofile_free(&profile);
    }
}

/* All, in order. */
TEST(many_characters)
{
    enum { ALL = 6000 };
    static char line[3 * ALL + 1], back_to_front[3 * ALL + 1];
    for (unsigned i = 0; i < ALL; i++) {
        unsigned c = 0x4e00 + i;
        sprintf(line + 3 * i, "%c%c%c", 0xe0 | c >> 12, 0x80 | (c >> 6 & 63), 0x80 | (c & 63));
        memcpy(back_to_front + 3 * (ALL - 1 - i), line + 3 * i, 3);
    }
    TextProfile profile, back;
    profile_of(&profile, (const char *const[]){back_to_front, back_to_front}, 2, "");
    again(&back, &profile);
    assert_string_equal(back.characters, line);
    textprofile_free(&profile), textprofile_free(&back);
}

TEST(lengths)
{
    size_t start[101] = {0};
    int32_t id[10000] = {0};
    for (size_t i = 0; i < 100; i++) start[i + 1] = start[i] + 100 - i;
    Corpus corpus = {.pairs = 100, .id = {id, id}, .start = {start, start}};
    TextProfile profile = {0};
    Tokenizer *tokenizer = with_tags();
    assert_true(tokenizer_is_tag(tokenizer, 3));
    for (int i = 0; i < 25; i++) id[start[i]] = 2 + i % 2;
    assert_true(textprofile_count(&profile, &corpus, tokenizer, &error));
    static const int WANTED[] = {50, 90, 95, 99};
    assert_memory_equal(profile.length, WANTED, sizeof WANTED);
    assert_float_equal(profile.tags, 0.25, 1e-9);
    tokenizer_free(tokenizer);
}

TEST(json_from_elsewhere)
{
    TextProfile profile;
    assert_true(textprofile_from_json(&profile, NULL, "test", &error));
    assert_false(profile.known);
    static const char *const WRONG[] = {"",
                                        "[]",
                                        "{}",
                                        "{\"source\":{\"characters\":5}}",
                                        "{\"source\":{\"characters\":\"a\"",
                                        "{\"source\":{\"characters\":\"a\",\"upper\":\"b\"}}",
                                        "{\"source\":{\"characters\":\"\xff\"}}"};
    for (size_t i = 0; i < sizeof WRONG / sizeof *WRONG; i++) {
        assert_false(textprofile_from_json(&profile, WRONG[i], "test", &error));
        assert_true(error.text[0]);
        textprofile_free(&profile);
    }
    assert_true(textprofile_from_json(&profile, "{\"source\":{\"characters\":\"ba\"}}", "test",
                                      &error));
    assert_true(profile.known && profile.length[3] == 0 && !profile.language);
    assert_true(textprofile_has(&profile, 'a') && !textprofile_has(&profile, 'c'));
    textprofile_free(&profile);
}

/* Of the lines of a text, some have ’ where the others have '. */
static bool knows_apostrophe(int with, int lines)
{
    const char *line[400];
    for (int i = 0; i < lines; i++) line[i] = i < with ? "It\u2019s" : "It's";
    TextProfile profile;
    profile_of(&profile, line, (size_t)lines, "train.en");
    bool known = textprofile_has(&profile, 0x2019);
    assert_true(textprofile_has(&profile, 's'));
    textprofile_free(&profile);
    return known;
}

TEST(rare_marks_are_not_known)
{
    assert_false(knows_apostrophe(1, 400));
    assert_true(knows_apostrophe(20, 400));
}

TEST_MAIN("textprofile", NULL, NULL)
