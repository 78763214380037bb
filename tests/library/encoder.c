/* encoder.c -- the page's tokenizer (library/web/tokenizer.c) gives the tokens of SentencePiece and their places,
 * and tokens become its texts: with models of each type, on lines of the toy and on lines that nobody writes.
 *
 *     encoder MODEL FILE...     the same with the tokenizer of a model, on lines of text */
#include "base/rng.h"
#include "base/utf8.h"
#include "data/text.h"
#include "data/vocabulary.h"
#include "inference/bundle.h"
#include "tests/fixtures/sentencepiece-model.h"
#include "tests/fixtures/test.h"

/* Those of the page, by other names. */
Tokenizer *web_load(const void *model, size_t size, Error *error);
void web_free(Tokenizer *tokenizer);
bool web_encode_begins(const Tokenizer *t, Ids *ids, Ids *begin, const char *text,
                       size_t length, Error *error);

static Error error;

typedef struct Both {
    Tokenizer *own, *web;
    void *library;
} Both;

/* Whether tokens become the text that the library makes of them. */
static bool same_text(const Both *b, const int *id, size_t count)
{
    char *own, *other = sentencepiece_decode(b->library, id, count);
    assert_true(tokenizer_decode(b->own, &own, id, count, &error));
    bool equal = !strcmp(own, other);
    if (!equal) fprintf(stderr, "own '%s'\n  library '%s'\n", own, other);
    free(own), free(other);
    return equal;
}

/* Whether both have the same tokens for a line, and these its text. */
static bool same(const Both *b, const char *line, size_t length)
{
    Ids own = {0}, web = {0}, own_at = {0}, web_at = {0};
    assert_true(tokenizer_encode_begins(b->own, &own, &own_at, line, length, &error));
    assert_true(web_encode_begins(b->web, &web, &web_at, line, length, &error));
    bool equal = own.count == web.count &&
                 (!own.count || (!memcmp(own.id, web.id, own.count * sizeof *own.id) &&
                                 !memcmp(own_at.id, web_at.id, own.count * sizeof *own.id)));
    if (!equal) {
        fprintf(stderr, "'%.*s'\n", (int)length, line);
        for (size_t i = 0; i < own.count || i < web.count; i++)
            fprintf(stderr, "  %s@%d %s@%d\n",
                    i < own.count ? tokenizer_piece(b->own, own.id[i]) : "",
                    i < own.count ? own_at.id[i] : -1,
                    i < web.count ? tokenizer_piece(b->web, web.id[i]) : "",
                    i < web.count ? web_at.id[i] : -1);
    }
    equal &= same_text(b, own.id, own.count);
    free(own.id), free(web.id), free(own_at.id), free(web_at.id);
    return equal;
}

static Both both(const void *model, size_t size)
{
    Both b = {tokenizer_load(model, size, &error), web_load(model, size, &error),
              sentencepiece_load(model, size)};
    if (!b.own || !b.web) fail_msg("%s", error.text);
    return b;
}

static void both_free(Both *b)
{
    tokenizer_free(b->own), web_free(b->web), sentencepiece_free(b->library);
}

/* Compares the lines of a file; returns how many there are. */
static size_t compare(const Both *b, const char *path, int *different)
{
    TextReader reader;
    const char *line;
    size_t length;
    assert_true(text_open(&reader, path, &error));
    while (text_next(&reader, &line, &length, &error) == TEXT_LINE)
        if (length < 4000) *different += *different < 10 && !same(b, line, length);
    size_t lines = reader.line;
    text_close(&reader);
    return lines;
}

static const char *const lines[] = {
    "the red car sees a zebra, and JANE visits l'Afrique en septembre.",
    "  two  spaces\tand a tab ",
    "",
    " ",
    "▁",
    "<ph1> <ph2>x<ph1>",
    "ﬁne ①② ½ ㎏ ＡＢＣ … “quotes” ‘x’",
    "été\xcc\x81 e\xcc\x81 Å",
    "犬が水を飲む。 한국어 ไทย",
    "👍 ok👍👍 🇫🇷",
    ("a\xc2\xad"
     "b zero\xe2\x80\x8bwidth\xe2\x80\x8dj"),
    "http://a.org/b?c=1&d 1,000.50 10:30",
    "<s> </s> <unk> <pad> <0x41>",
    "¿Qué? ¡Sí! «oui»",
    "x\x01y\x02",
    "Straße ŒUVRE İstanbul"};

static const char *sentence(size_t i, size_t *length)
{
    static const char *const words[] = {"the",    "red",    "car", "jane", "sees",    "l'été",
                                        "visits", "africa", "12",  "犬",   "voiture", "rouge"};
    static char text[200];
    Rng rng = rng_stream(7, RNG_INIT, i);
    text[0] = 0;
    for (int w = 0; w < 8; w++)
        strcat(strcat(text, words[rng_below(&rng, 12)]), w % 3 ? " " : ", ");
    *length = strlen(text);
    return text;
}

static void learned(TokenizerSettings settings)
{
    unsigned char *model;
    size_t size;
    CorpusText corpus = {0};
    for (size_t i = 0; i < 3000; i++) {
        size_t length[SIDES] = {0};
        const char *line[SIDES] = {sentence(i, &length[SOURCE]), ""};
        assert_true(corpus_add(&corpus, line, length, (CorpusLine){0}, &error));
    }
    Sentences sentences = corpus_sentences(&corpus, SOURCE);
    if (!tokenizer_train(&model, &size, &sentences, 1, &settings, &error))
        fail_msg("%s", error.text);
    corpus_text_free(&corpus);
    Both b = both(model, size);
    int different = 0;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        different += !same(&b, lines[i], strlen(lines[i]));
    Rng rng = rng_stream(1, RNG_INIT, 1);
    for (int i = 0; i < 2000; i++) {  // pieces of the lines, in any order
        char text[400] = "";
        for (int k = 0; k < 6; k++) {
            const char *from = lines[rng_below(&rng, sizeof lines / sizeof *lines)];
            size_t at = 0, all = strlen(from);
            while (at < all && rng_below(&rng, 4)) at++;
            size_t end = at + rng_below(&rng, 12) < all ? at + rng_below(&rng, 12) : all;
            strncat(text, from + at, end > at ? end - at : 0);
        }
        if (utf8_is_valid(text, strlen(text), NULL))
            different += different < 10 && !same(&b, text, strlen(text));
    }
    for (int i = 0; i < 2000;
         i++) {  // any pieces but </s>, half of them bytes if there are any
        int id[10], bytes = tokenizer_first_byte(b.own);
        uint32_t pieces = (uint32_t)tokenizer_vocab_size(b.own) - 2;
        for (int k = 0; k < 10; k++) {
            id[k] = bytes && rng_below(&rng, 2) ? bytes + (int)rng_below(&rng, 256)
                                                : 1 + (int)rng_below(&rng, pieces);
            if (bytes && id[k] == bytes + 1)
                id[k] = ID_UNKNOWN;  // a space, not a control character
        }
        different += different < 10 && !same_text(&b, id, 10);
    }
    assert_int_equal(different, 0);
    both_free(&b), free(model);
}

TEST(unigram)
{
    learned((TokenizerSettings){
        .type = TOKENIZER_UNIGRAM, .vocab_size = 120, .placeholders = true});
}
TEST(bpe)
{
    learned((TokenizerSettings){.type = TOKENIZER_BPE,
                                .vocab_size = 120,
                                .placeholders = true,
                                .normalization = NORMALIZATION_TEXT});
}
TEST(bytes)
{
    learned(
        (TokenizerSettings){.type = TOKENIZER_BPE, .vocab_size = 400, .byte_fallback = true});
}
TEST(unigram_bytes)
{
    learned((TokenizerSettings){.type = TOKENIZER_UNIGRAM,
                                .vocab_size = 400,
                                .byte_fallback = true,
                                .lowercase = true});
}
TEST(words)
{
    learned((TokenizerSettings){.type = TOKENIZER_WORD, .vocab_size = 40, .lowercase = true});
}
TEST(words_with_placeholders)
{
    learned(
        (TokenizerSettings){.type = TOKENIZER_WORD, .vocab_size = 60, .placeholders = true});
}
TEST(characters)
{
    learned((TokenizerSettings){.type = TOKENIZER_CHAR, .vocab_size = 60});
}

TEST(the_toy)
{
    Bundle bundle;
    int different = 0;
    if (!bundle_load(&bundle, "data/toy/model.safetensors", BUNDLE_ROWS, NULL, &error))
        fail_msg("%s", error.text);
    Both b = both(bundle.vocabulary.model[TARGET], bundle.vocabulary.size[TARGET]);
    for (int side = 0; side < 2; side++)
        assert_int_equal(
            compare(&b, side ? "data/toy/test.fr" : "data/toy/test.en", &different), 500);
    assert_int_equal(different, 0);
    both_free(&b);
    bundle_free(&bundle);
}

int main(int argc, char **argv)
{
    if (argc < 3) return run_all_tests("encoder", NULL, NULL);
    Bundle bundle;
    if (!bundle_load(&bundle, argv[1], BUNDLE_ROWS, NULL, &error)) return puts(error.text), 1;
    Both b = both(bundle.vocabulary.model[TARGET], bundle.vocabulary.size[TARGET]);
    for (int i = 2, different = 0; i < argc; i++, different = 0) {
        size_t count = compare(&b, argv[i], &different);
        printf("%s: %zu lines, %d%s differ\n", argv[i], count, different,
               different == 10 ? " and more" : "");
    }
    return 0;
}
