/* Forced beginnings of texts as those of their sentences. */
#include "inference/beginnings.h"
#include "tests/fixtures/small-model.h"

static Error error;
static Bundle bundle;

/* A vocabulary of characters and, if `placeholders`, <ph1> to <ph8>. */
static void open_bundle(bool placeholders)
{
    static SmallModel small;
    small_model_begin(&small, TOKENIZER_BPE, false);
    for (int i = 1; placeholders && i <= PLACEHOLDERS; i++) {
        char name[] = "<ph0>";
        name[3] = (char)('0' + i);
        small_model_piece(&small, name, 0, PIECE_USER_DEFINED);
    }
    small_model_piece(&small, "\u2581", -1, PIECE_NORMAL);
    for (char c = '!'; c <= '~'; c++)
        small_model_piece(&small, (char[]){c, '\0'}, -2, PIECE_NORMAL);
    bundle = (Bundle){.max_length = 40};
    assert_true(small_model_vocabulary(&bundle.vocabulary, &small, &error));
}

/* expected: the lines with | after each, and $ before it if it is the whole translation */
static void assert_lines(const char *text, const char *beginning, const char *expected)
{
    static const PassageConfig config = {.split = SPLIT_ALWAYS};
    Passages passages;
    Beginnings beginnings = {0};
    char found[200] = "", *line;
    assert_true(passages_open(&passages, &bundle, &config, &error));
    assert_true(passages_add(&passages, text, strlen(text), &error));
    bool good = beginnings_add(&beginnings, &passages, beginning, "it", &error);
    const IdLines *lines = &beginnings.lines;
    for (int s = 0; good && s < lines->count; s++) {
        const int *id = lines->ids.id + lines->start[s];
        size_t length = (size_t)(lines->start[s + 1] - lines->start[s]);
        bool whole = length && id[length - 1] == ID_END;
        assert_true(tokenizer_decode_replaced(bundle.vocabulary.tokenizer[TARGET], &line, id,
                                              length, NULL, &error));
        strcat(strcat(found, line), whole ? "$|" : "|");
        free(line);
    }
    assert_string_equal(good ? found : error.text, expected);
    beginnings_free(&beginnings);
    passages_free(&passages);
}

TEST(each_sentence_has_its_part)
{
    open_bundle(false);
    assert_lines("A man. A dog.", "", "||");
    assert_lines("A man. A dog.", "Un", "Un||");
    assert_lines("A man. A dog.", "Un homme.", "Un homme.||");
    assert_lines("Is he here? Yes. Thank you.", "Est-il ici ? Ou", "Est-il ici ?$|Ou||");
    assert_lines("- A man.\n- A dog.", "- Un homme.\n- Un", "Un homme.$|Un|");
    assert_lines("A man.", "Un homme. Un autre", "Un homme. Un autre|");
    assert_lines("(1) {a}. A man. A dog. Ok", "(1) {a}. Un homme. Un", "Un homme.$|Un||");
    assert_lines("A man. {a}. A dog.", "Un homme. {a}. Un", "Un homme.$|Un|");
    assert_lines("A man. A dog.", "- Un", "- Un||");
    assert_lines("25 men.", "25", "25|");
    assert_lines("(A man.) (A dog.)", "(Un homme.) (Un", "Un homme.$|Un|");
    assert_lines("A man eats... A dog...", "Un homme... Un", "Un homme$|Un|");
    assert_lines("(A man eats.)", "(Un homme.)", "Un homme.$|");
    assert_lines("A MAN EATS RICE.", "UN HOMME M", "Un homme m|");
    assert_lines("A Man Eats Rice", "Un Homme", "Un homme|");
    assert_lines("7", "Un", "");
    assert_lines("A man. A dog.",
                 "Un homme qui est assis. Un homme qui court dans le parc du quartier",
                 "it has 44 tokens, and the model takes 39");
    vocabulary_free(&bundle.vocabulary);
}

TEST(spans_become_placeholders)
{
    open_bundle(true);
    assert_lines("A man {name} has 25 dogs.", "Un homme {name} a", "Un homme <ph1> a|");
    assert_lines("A man {name} has 25 dogs.", "Avec 25", "Avec <ph2>|");
    assert_lines("It is 10:30. He has 25 dogs.", "Il est 10:30. Il a 25 et 10:30",
                 "Il est <ph1>.$|Il a <ph1> et 10:30|");
    assert_lines("He has 25, she has 25.", "Il a 25 et 25 et 25", "Il a <ph1> et <ph2> et 25|");
    assert_lines("A MAN {Name} EATS.", "UN {Name} H", "Un <ph1> h|");
    assert_lines("A <b>man</b> of 12.", "Un <b>homme</b> d", "Un homme d|");
    assert_lines("A man [1], one dog.", "Un homme [1], un", "Un homme, un|");
    vocabulary_free(&bundle.vocabulary);
}

TEST_MAIN("beginnings", NULL, NULL)
