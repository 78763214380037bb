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
    assert_typed(tokenizer, "Zoë, Ørsted et", " Zoë| Ørsted et|");
    assert_typed(tokenizer, "jane,Zoë: 7 l’Zoë", " Zoë| 7| Zoë|");
    assert_typed(tokenizer, "jane (Zoë) \t« paul»!", " Zoë| «| »|");
    assert_typed(tokenizer, "  >Zoë, jane", " >Zoë|");
    assert_typed(tokenizer, "jane l'école.", "");
    tokenizer_free(tokenizer);
}

/* A permutation of the last line alone: </s> stays, and words and unknown tokens go along. */
TEST(a_shuffled_line)
{
    TokenizerSettings settings = {.type = TOKENIZER_BPE, .vocab_size = 80, .coverage = 1};
    Tokenizer *tokenizer = learn(sentences_of(TEXT, TEXTS), settings);
    const char *line = "jane77 visits the 犬 of paul";
    IdLines plain = {.find_words = true, .find_unknown = true}, other = plain, same = plain;
    IdLines *all[] = {&plain, &other, &same};
    for (int k = 0; k < 3; k++)
        for (int s = 0; s < 2; s++)
            assert_true(idlines_add(all[k], tokenizer, 100, line, strlen(line), NULL, &error));
    idlines_shuffle(&other, 3, 2);
    idlines_shuffle(&same, 3, 2);
    int n = plain.start[1], moved = 0, used[100] = {0};
    assert_true(n > 6);
    assert_memory_equal(other.ids.id, plain.ids.id, (size_t)n * sizeof(int));
    assert_memory_equal(other.ids.id, same.ids.id, (size_t)(2 * n) * sizeof(int));
    assert_int_equal(other.ids.id[2 * n - 1], ID_END);
    for (int t = n; t < 2 * n; t++) {
        int from = n;  // where the token came from: the same id, word and text
        for (; from < 2 * n; from++) {
            const char *a = plain.unknown[from], *b = other.unknown[t];
            if (!used[from - n] && plain.ids.id[from] == other.ids.id[t] &&
                plain.word[from] == other.word[t] && (a && b ? !strcmp(a, b) : a == b))
                break;
        }
        assert_true(from < 2 * n);
        used[from - n] = 1;
        moved += from != t;
    }
    assert_true(moved > 2);
    idlines_shuffle(&same, 4, 2);
    assert_memory_not_equal(other.ids.id + n, same.ids.id + n, (size_t)n * sizeof(int));
    for (int k = 0; k < 3; k++) idlines_free(all[k]);
    tokenizer_free(tokenizer);
}

TEST_MAIN("idlines", NULL, NULL)
