/* Unknown tokens of lines, as they were typed. */
#include "inference/idlines.h"
#include "data/sentencepiece.h"
#include "tests/fixtures/learned-tokenizer.h"

static Error error;

static void assert_typed(const Tokenizer *tokenizer, const char *line, const char *expected)
{
    IdLines ids = {.find_unknown = true};
    char found[100] = "";
    for (int round = 0; round < 2; round++) {
        idlines_clear(&ids);
        for (int s = 0; s < 3; s++)
            assert_true(idlines_add(&ids, tokenizer, 100, line, strlen(line), NULL, &error));
        *found = 0;
        for (int t = 0; t < ids.start[3]; t++) {
            assert_int_equal(ids.unknown[t] != NULL, ids.ids.id[t] == ID_UNKNOWN);
            if (t >= ids.start[2] && ids.unknown[t]) strcat(strcat(found, ids.unknown[t]), "|");
        }
        assert_string_equal(found, expected);
    }
    idlines_free(&ids);
}

/* The text that is copied has a space before it if it begins a word, and no punctuation of the
 * token before it. */
TEST(the_token_as_typed)
{
    TokenizerSettings settings = {.type = TOKENIZER_BPE, .vocab_size = 80, .coverage = 1};
    Tokenizer *tokenizer = learn(sentences_of(TEXT, TEXTS), settings);
    assert_typed(tokenizer, "jane77, 8", "77|8|");
    assert_typed(tokenizer, "jane 猫paul犬", "猫|犬|");
    tokenizer_free(tokenizer);
    settings = (TokenizerSettings){.type = TOKENIZER_WORD, .vocab_size = 1000};
    tokenizer = learn(sentences_of(TEXT, TEXTS), settings);
    assert_typed(tokenizer, "Zoë, Ørsted et", " Zoë| Ørsted| et|");
    assert_typed(tokenizer, "jane,Zoë: 7 l’Zoë", " Zoë| 7| Zoë|");
    assert_typed(tokenizer, "jane (Zoë) \t« paul»!", " Zoë| «| »|");
    assert_typed(tokenizer, "  >Zoë, jane", " >Zoë|");
    assert_typed(tokenizer, "jane l'école.", "");
    tokenizer_free(tokenizer);
    settings.placeholders = true;
    tokenizer = learn(sentences_of(TEXT, TEXTS), settings);
    assert_typed(tokenizer, "Zoë <ph3> 7 8<ph1>9", " Zoë| 7| 8| 9|");
    assert_typed(tokenizer, "<ph3><ph3>Zoë<ph3>", " Zoë|");
    tokenizer_free(tokenizer);
}

TEST_MAIN("idlines", NULL, NULL)
