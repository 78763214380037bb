/* words.c -- words between blanks, and those of scripts without blanks. */
#include "tests/fixtures/test.h"

#include "data/words.h"

#include <stdlib.h>
#include <string.h>

static Error error;

/* The words of a text, "a|b" joined by bars. */
static void assert_words(const char *text, const char *words)
{
    int count, *word = words_number(&count, text, strlen(text), false, &error);
    char joined[200] = "";
    if (!word) fail_msg("%s", error.text);
    for (size_t i = 0; i < strlen(text); i++) {
        if (i && word[i] != word[i - 1]) strcat(joined, "|");
        if (!words_blank(text[i])) strncat(joined, text + i, 1);
    }
    assert_string_equal(joined, words);
    assert_int_equal(count, *text ? word[strlen(text) - 1] + 1 : 0);
    free(word);
}

TEST(test_characters)
{
    static const int wanted[] = {0, 1, 1, 1, 2, 2, 2, 2, 3, 3};
    int count;
    int *word = words_number(&count, "a\xE6\x97\xA5\xE6\x9C\xAC b ", 10, true, &error);
    assert_non_null(word);
    assert_int_equal(count, 4);
    for (int i = 0; i < 10; i++) assert_int_equal(word[i], wanted[i]);
    free(word);
}

TEST(test_words)
{
    assert_words("", "");
    assert_words("does it work?", "does|it|work?");
    assert_words("l'été à  Paris ", "l'été|à|Paris");
    assert_words("👍 ok👍", "👍|ok👍");
    assert_words("한국어 문장.", "한국어|문장.");
    assert_words("犬が水を飲む。", "犬|が|水|を|飲む|。");
    assert_words("我 like 茶", "我|like|茶");
    assert_words("ฉันกินข้าว", "ฉัน|กิน|ข้าว");
}

TEST(test_numbers)
{
    assert_true(words_say("Quatre chats et 7 souris", 4, "fr"));
    assert_true(words_say("Quatre chats et 7 souris", 7, "fr"));
    assert_false(words_say("Quatre chats et 7 souris", 5, "fr"));
    assert_true(words_say("Пяти кошек", 5, "ru") && words_say("خمس قطط", 5, "ar"));
    assert_true(words_say("五匹の猫", 5, "ja") && words_say("٥", 5, "ar"));
    assert_false(words_say("五匹の猫", 6, "ja"));
    assert_false(words_say("15 gatos entre 2030 y 53", 3, "es"));
    assert_false(words_say("It has been found in the beginning of 1999", 9, "en"));
}

TEST(test_spaceless)
{
    assert_true(words_spaceless(0x8A9E) && words_spaceless(0x3002));  // 語 。
    assert_false(words_spaceless(0xE01));  // a Thai letter, which may end a sentence
    assert_true(words_unspaced(0xE01));
}

TEST(test_right_to_left)
{
    assert_true(words_right_to_left("7 שלום abc"));
    assert_true(words_right_to_left("ذهبت"));
    assert_false(words_right_to_left("été ذهبت"));
    assert_false(words_right_to_left("2023."));
    assert_false(words_right_to_left(""));
}

TEST(spacing)
{
    static const struct {
        const char *text;
        bool unspaced;
    } SAMPLE[] = {{"请在 Windows 10 中打开 PDF 文件。", true},
                  {"今日はいい天気ですね。", true},
                  {"ฉันไปตลาด เพื่อซื้อผัก", true},
                  {"ကျွန်တော် ထမင်း ဝယ်တယ်။", true},
                  {"ང་ཁྲོམ་ལ་འགྲོ་གི་ཡོད།", true},
                  {"我 去 市场 买 菜 。", false},  // segmented
                  {"저는 책을 삽니다.", false},
                  {"저는책을삽니다.", false},
                  {"SaveOpenCancel", false},
                  {"The word 漢字 is Japanese", false},
                  {"2026!", false},
                  {"", false}};
    for (size_t i = 0; i < sizeof SAMPLE / sizeof *SAMPLE; i++) {
        Spacing spacing = {0};
        spacing_add(&spacing, SAMPLE[i].text, strlen(SAMPLE[i].text));
        assert_int_equal(spacing_is_unspaced(&spacing), SAMPLE[i].unspaced);
        assert_int_equal(spacing_is_chinese(&spacing), i == 0);
    }
}

TEST_MAIN("words", NULL, NULL)
