/* tokenizer.c -- every type learns, encodes and decodes, with any text, any damage and all
 * threads. */
#include "base/packed.h"
#include "base/utf8.h"
#include "data/text.h"
#include "tests/fixtures/learned-tokenizer.h"
#include "tests/fixtures/small-model.h"
#include "tests/fixtures/test.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

static Error error;

/* A larger corpus: TEXT from its first words on, from its second words on, and so on. */
static const char *rest_at(const void *context, size_t i, size_t *length)
{
    (void)context;
    const char *text = TEXT[i % TEXTS];
    for (size_t skip = i / TEXTS % 9; skip > 0 && strchr(text, ' '); skip--)
        text = strchr(text, ' ') + 1;
    *length = strlen(text);
    return text;
}
static const Lines MANY = {1500, rest_at, NULL};

/* Around every test: what the library prints is collected, and must be nothing. */
static int kept_stdout, kept_stderr, printed;

FIXTURE(collect_begin)
{
    fflush(NULL);
    printed = memfd_create("printed", 0);
    kept_stdout = dup(1), kept_stderr = dup(2);
    dup2(printed, 1), dup2(printed, 2);
    return 0;
}

FIXTURE(collect_end)
{
    fflush(NULL);
    dup2(kept_stdout, 1), dup2(kept_stderr, 2);
    close(kept_stdout), close(kept_stderr);
    char text[4096];
    ssize_t count = pread(printed, text, sizeof text, 0);
    close(printed);
    if (count > 0) fprintf(stderr, "printed:\n%.*s\n", (int)count, text);
    return count == 0 ? 0 : -1;
}

/* ---- text to ids and back ---- */

static void assert_decodes(const Tokenizer *tokenizer, const char *text, const char *wanted)
{
    Ids ids = encode(tokenizer, text);
    char *back;
    assert_true(tokenizer_decode(tokenizer, &back, ids.id, ids.count, &error));
    assert_string_equal(back, wanted);
    free(back);
    free(ids.id);
}

/* The labels of a text's tokens, with "·" between them. */
static void assert_labels(const Tokenizer *tokenizer, const char *text, const char *wanted)
{
    Ids ids = encode(tokenizer, text);
    char labels[1024] = "";
    for (size_t i = 0; i < ids.count; i++)
        strcat(strcat(labels, i ? "·" : ""), tokenizer_label(tokenizer, ids.id[i]));
    assert_string_equal(labels, wanted);
    free(ids.id);
}

static void assert_layout(const Tokenizer *tokenizer, bool words_only)
{
    int V = tokenizer_vocab_size(tokenizer);
    assert_string_equal(tokenizer_piece(tokenizer, ID_END), "</s>");
    assert_string_equal(tokenizer_piece(tokenizer, ID_UNKNOWN), "<unk>");
    assert_string_equal(tokenizer_piece(tokenizer, V - 1), "<pad>");
    for (int id = 2; id < V - 1 && words_only; id++)
        assert_true(tokenizer_begins_word(tokenizer, id) &&
                    tokenizer_label(tokenizer, id) == tokenizer_piece(tokenizer, id) + 3);
    bool dots = false;
    for (int id = 0; id < V; id++)
        dots |= !strncmp(tokenizer_shown(tokenizer, id), "·", strlen("·"));
    assert_true(dots == (tokenizer_type(tokenizer) < TOKENIZER_WORD));
    const int32_t silent[] = {ID_END, V - 1, ID_END}, outside[] = {V}, negative[] = {-1};
    char *text;
    assert_true(tokenizer_decode(tokenizer, &text, silent, 3, &error));
    assert_string_equal(text, "");
    free(text);
    assert_false(tokenizer_decode(tokenizer, &text, outside, 1, &error));
    assert_false(tokenizer_decode(tokenizer, &text, negative, 1, &error));
}

TEST(round_trip)
{
    for (int type = 0; type < TOKENIZER_TYPES; type++) {
        if (type == TOKENIZER_WORD) continue;
        for (int bytes = 0; bytes < 2; bytes++) {
            TokenizerSettings settings = {.type = (TokenizerType)type,
                                          .byte_fallback = bytes,
                                          .vocab_size = bytes ? 420 : 160,
                                          .coverage = 1};
            Tokenizer *tokenizer = learn(MANY, settings);
            assert_true(tokenizer_vocab_size(tokenizer) <= settings.vocab_size);
            assert_layout(tokenizer, false);
            for (int i = 0; i < TEXTS; i++) assert_decodes(tokenizer, TEXT[i], TEXT[i]);
            assert_decodes(tokenizer, "  jane   aime\tla musique ? ", "jane aime la musique ?");
            assert_decodes(tokenizer, "", "");
            const char *unseen = "jane ☃☃ 猫 paul";
            assert_decodes(tokenizer, unseen, bytes ? unseen : "jane ⁇ ⁇ paul");
            tokenizer_free(tokenizer);
        }
    }
}

/* How many of the characters are unknown to a model of these settings. */
static int unknown_of(const char *const *text, size_t count, TokenizerSettings settings,
                      const char *characters)
{
    Tokenizer *tokenizer = learn(sentences_of(text, count), settings);
    Ids ids = encode(tokenizer, characters);
    int unknown = 0;
    for (size_t i = 0; i < ids.count; i++) unknown += ids.id[i] == ID_UNKNOWN;
    free(ids.id);
    tokenizer_free(tokenizer);
    return unknown;
}

/* By default no character is lost that the text has twice, unless these are more than a quarter
 * of the vocabulary. */
TEST(frequent_characters)
{
    enum { LINES = 3000 };
    const char *text[LINES + 3];
    for (int i = 0; i < LINES; i++) text[i] = TEXT[i % TEXTS];
    text[LINES] = text[LINES + 1] = "jane 7", text[LINES + 2] = "jane 8";
    for (int type = TOKENIZER_UNIGRAM; type <= TOKENIZER_BPE; type++) {
        TokenizerSettings settings = {.type = (TokenizerType)type, .vocab_size = 220};
        assert_int_equal(unknown_of(text, LINES + 3, settings, "a 7 q x"), 0);
        assert_int_equal(unknown_of(text, LINES + 3, settings, "a 8 a"), 1);
        settings.vocab_size = 120;  // a quarter is less than the characters
        assert_int_equal(unknown_of(text, LINES + 3, settings, "a 7 a"), 1);
        settings.coverage = 0.9995;
        settings.vocab_size = 220;
        assert_int_equal(unknown_of(text, LINES + 3, settings, "a 7 a"), 1);
    }
}

TEST(words)
{
    TokenizerSettings settings = {.type = TOKENIZER_WORD, .vocab_size = 1000};
    Tokenizer *tokenizer = learn(sentences_of(TEXT, TEXTS), settings);
    assert_layout(tokenizer, true);
    static const char *const LABELS[][2] = {
        {"jane visite l'école.", "jane·visite·l'·école·."},
        {"jane visite l’école .", "jane·visite·l'·école·."},
        {"paul n'aime pas la musique ?", "paul·n'·aime·pas·la·musique·?"},
        {"does jane like music?", "does·jane·like·music·?"},
        {"it is 3.5, (or 10:30)!", "it·is·3.5·,·(·<unk>·10:30·)·!"},
        {"www.example.org: more!", "www.example.org·:·more·!"},
        {"jane\xc2\xa0?", "jane·?"},
    };
    for (size_t i = 0; i < sizeof LABELS / sizeof *LABELS; i++)
        assert_labels(tokenizer, LABELS[i][0], LABELS[i][1]);
    /* French is decoded exactly; English except for the space before ? and !. */
    static const int SAME[] = {0, 1, 2, 3, 4, 7};
    for (int i = 0; i < 6; i++) assert_decodes(tokenizer, TEXT[SAME[i]], TEXT[SAME[i]]);
    static const char *const DECODED[][2] = {
        {"l’école", "l'école"},
        {"does jane like music?", "does jane like music ?"},
        {"the school is (almost) open...", "the school is (almost) open..."},
        {"e\xcc\x81t\xc3\xa9 l'\xc3\xa9te\xcc\x81", "été l'été"},
        {"zebra visite jane", "⁇ visite jane"},
        {"jane visite zebra l'école", "jane visite ⁇ l'école"},
    };
    for (size_t i = 0; i < sizeof DECODED / sizeof *DECODED; i++)
        assert_decodes(tokenizer, DECODED[i][0], DECODED[i][1]);

    /* The vocabulary is the words of the text: none is unknown, and there are no others. */
    for (int i = 0; i < TEXTS; i++) {
        Ids ids = encode(tokenizer, TEXT[i]);
        for (size_t k = 0; k < ids.count; k++) assert_int_not_equal(ids.id[k], ID_UNKNOWN);
        free(ids.id);
    }
    assert_int_equal(tokenizer_vocab_size(tokenizer), 65 + 3);
    tokenizer_free(tokenizer);

    settings.normalization = NORMALIZATION_IDENTITY;
    tokenizer = learn(sentences_of(TEXT, TEXTS), settings);
    assert_decodes(tokenizer, "jane visite l'école.", "jane visite l'école.");
    tokenizer_free(tokenizer);
}

TEST(lowercase_and_large_vocabularies)
{
    for (int type = 0; type < TOKENIZER_TYPES; type++) {
        TokenizerSettings settings = {
            .type = (TokenizerType)type, .vocab_size = 30000, .lowercase = true};
        Tokenizer *tokenizer = learn(sentences_of(TEXT, 2), settings);
        assert_decodes(tokenizer, "Jane visite L'ÉCOLE.", "jane visite l'école.");
        assert_in_range(tokenizer_vocab_size(tokenizer), 10, 250);
        assert_decodes(tokenizer, TEXT[1], TEXT[1]);
        tokenizer_free(tokenizer);
    }
}

/* A number keeps its value, a word its letters and its non-joiner; what nobody sees goes. */
TEST(normalization_of_text)
{
    static const char *const SAMPLE[][2] = {
        {"10⁵ km², x₁ 50 ㎡ ②③", NULL},
        {"3½ ⅓", NULL},
        {"می\u200cروم", NULL},  // with a non-joiner
        {"so\u00adft zero\u200bwidth \ufeffmark word\u2060joiner",
         "soft zerowidth mark wordjoiner"},
        {"e\u0301 ﬁn ＡＢＣ Ⅲ  a", "é fin ABC III a"},
        {"20\u200f%\u200e \u202bשלום\u202c", "20% שלום"},
        {"น้ำ ນ້ຳ ໜ້າ ໝາ", NULL},  // Thai, and Lao
        {"ㅋㅋㅋ 단어ㅠ", NULL},
        {"l´homme 3˚ chou\u2011fleur", NULL},
    };
    enum { SAMPLES = sizeof SAMPLE / sizeof *SAMPLE };
    const char *text[SAMPLES];
    for (int i = 0; i < SAMPLES; i++) text[i] = SAMPLE[i][0];
    for (int type = 0; type < TOKENIZER_TYPES; type++)
        for (int lowercase = 0; lowercase <= (type == TOKENIZER_WORD); lowercase++) {
            TokenizerSettings settings = {.type = (TokenizerType)type,
                                          .vocab_size = 120,
                                          .coverage = 1,
                                          .normalization = NORMALIZATION_TEXT,
                                          .lowercase = lowercase};
            Tokenizer *tokenizer = learn(sentences_of(text, SAMPLES), settings);
            for (int i = 0; i < SAMPLES; i++) {
                const char *wanted = SAMPLE[i][1] ? SAMPLE[i][1] : SAMPLE[i][0];
                assert_decodes(tokenizer, SAMPLE[i][0],
                               lowercase && i == 4 ? "é fin abc iii a" : wanted);
            }
            tokenizer_free(tokenizer);
        }
}

TEST(normal_form)
{
    static const char *const SAMPLE[][2] = {
        {" le  chat ", "le chat"}, {"ｌｅ ﬁn", "le fin"}, {"le ☃", NULL}, {"", ""}};
    const char *text[] = {"le chat fin"};
    Tokenizer *tokenizer = learn(sentences_of(text, 1),
                                 (TokenizerSettings){.type = TOKENIZER_CHAR, .vocab_size = 40});
    for (size_t i = 0; i < sizeof SAMPLE / sizeof *SAMPLE; i++) {
        char *normal;
        assert_true(tokenizer_normal_form(tokenizer, &normal, SAMPLE[i][0],
                                          strlen(SAMPLE[i][0]), &error));
        if (SAMPLE[i][1]) assert_string_equal(normal, SAMPLE[i][1]);
        else assert_null(normal);
        free(normal);
    }
    tokenizer_free(tokenizer);
}

/* ---- placeholders ---- */

/* Text with tags, from which a model learns pieces like "<p" and "h1>". */
static const char *tag_at(const void *context, size_t i, size_t *length)
{
    static const char *const TAG[] = {"<p>jane</p>", "<h1>paul</h1>", "<p> <h1> ph1> h3 <ph>",
                                      "ph photo graph, <p 1> x<p h1>"};
    (void)context;
    const char *text = i % 2 ? TAG[i / 2 % 4] : TEXT[i / 2 % TEXTS];
    *length = strlen(text);
    return text;
}

/* How often a text's tokens have each placeholder: "00100000". */
static const char *placeholders_of(const Tokenizer *tokenizer, const char *text)
{
    static char counts[PLACEHOLDERS + 1];
    Ids ids = encode(tokenizer, text);
    memset(counts, '0', PLACEHOLDERS);
    for (size_t i = 0; i < ids.count; i++) {
        int which = ids.id[i] - tokenizer_placeholder(tokenizer);
        if (which >= 0 && which < PLACEHOLDERS) counts[which]++;
    }
    free(ids.id);
    return counts;
}

/* settings of each type, with bytes, in lower case, without normalisation; false: no more */
static bool placeholder_settings(TokenizerSettings *settings, int i)
{
    *settings = (TokenizerSettings){.type = (TokenizerType)(i % TOKENIZER_TYPES),
                                    .vocab_size = 400,
                                    .coverage = 1,
                                    .placeholders = true};
    settings->byte_fallback = i / TOKENIZER_TYPES == 1 && settings->type < TOKENIZER_WORD;
    settings->lowercase = i / TOKENIZER_TYPES == 2;
    if (i / TOKENIZER_TYPES == 3 || (settings->type == TOKENIZER_WORD && !settings->lowercase))
        settings->normalization = NORMALIZATION_IDENTITY;
    return i < 4 * TOKENIZER_TYPES;
}

TEST(placeholders)
{
    /* A text, its placeholders, what it is decoded to; by the type word, if that differs. */
    static const char *const CASE[][4] = {
        {"<ph3>", "00100000", "<ph3>"},
        {"jane <ph1>, paul", "10000000", "jane <ph1>, paul"},
        {"jane<ph1>paul", "10000000", "jane<ph1>paul", "jane <ph1> paul"},
        {"a  <ph8>  <ph8>", "00000002", "a <ph8> <ph8>"},
        {"<ph2><ph4>.", "01010000", "<ph2><ph4>.", "<ph2> <ph4>."},
        {"l'<ph5> (<ph6>)", "00001100", "l'<ph5> (<ph6>)"},
        {"<<ph7>>", "00000010", NULL},
        {"<ph<ph1>1>ph1>", "10000000", NULL},
        {"</ph1>ph2><ph9><ph 3><PH", "00000000", NULL},
        {"é<ph1>\xcc\x81<ph2>\xe2\x80\x8b<ph3>☃<ph4>", "11110000", NULL},
    };
    TokenizerSettings settings;
    for (int i = 0; placeholder_settings(&settings, i); i++) {
        Tokenizer *tokenizer = learn((Lines){2000, tag_at, NULL}, settings);
        bool words = settings.type == TOKENIZER_WORD;
        int first = tokenizer_placeholder(tokenizer);
        assert_int_equal(first, 2);
        for (int id = 0; id < PLACEHOLDERS; id++) {
            char name[] = "<ph0>";
            name[3] += (char)(id + 1);
            assert_string_equal(tokenizer_label(tokenizer, first + id), name);
        }
        for (size_t c = 0; c < sizeof CASE / sizeof *CASE; c++) {
            const char *wanted = words && CASE[c][3] ? CASE[c][3] : CASE[c][2];
            assert_string_equal(placeholders_of(tokenizer, CASE[c][0]), CASE[c][1]);
            if (wanted) assert_decodes(tokenizer, CASE[c][0], wanted);
        }
        tokenizer_free(tokenizer);
    }
}

/* Each token begins where it is, or at the space before it. */
TEST(begins_of_placeholders)
{
    static const char text[] = "jane <ph3> paul <ph4><ph4>jane<ph3>";
    static const int AT[] = {0,  5,  11, 16,
                             21, 26, 30};  // jane <ph3> paul <ph4> <ph4> jane <ph3>
    TokenizerSettings settings;
    for (int i = 0; i < TOKENIZER_TYPES && placeholder_settings(&settings, i); i++) {
        Tokenizer *tokenizer = learn(MANY, settings);
        Ids ids = {0}, begin = {0};
        int next = 0;
        assert_true(
            tokenizer_encode_begins(tokenizer, &ids, &begin, text, strlen(text), &error));
        for (size_t k = 0; k < ids.count; k++) {
            int at = begin.id[k] + (text[begin.id[k]] == ' ');
            if (next < 7 && at == AT[next]) next++;
            bool here = !strncmp(text + at, "<ph", 3);
            bool is = !strncmp(tokenizer_label(tokenizer, ids.id[k]), "<ph", 3);
            if (strcmp(tokenizer_label(tokenizer, ids.id[k]), "▁")) assert_int_equal(here, is);
        }
        assert_int_equal(next, 7);
        free(ids.id), free(begin.id);
        tokenizer_free(tokenizer);
    }
}

/* Also where the parts of a long text meet. */
TEST(placeholders_in_long_texts)
{
    TokenizerSettings settings;
    for (int i = 0; i < TOKENIZER_TYPES && placeholder_settings(&settings, i); i++) {
        Tokenizer *tokenizer = learn(MANY, settings);
        for (int before = 4085; before < 4100; before++) {
            char text[4200];
            memset(text, 'a', sizeof text);
            strcpy(text + before, "<ph5>aa <ph6>");
            const char *found = placeholders_of(tokenizer, text);
            if (strcmp(found, "00001100"))
                fail_msg("%s: %s at %d", tokenizer_type_names[i], found, before);
        }
        tokenizer_free(tokenizer);
    }
}

/* Without the setting there are none, and the text is as any other. */
TEST(no_placeholders)
{
    for (int type = 0; type < TOKENIZER_TYPES; type++) {
        TokenizerSettings settings = {.type = (TokenizerType)type, .vocab_size = 160};
        Tokenizer *tokenizer = learn(MANY, settings);
        assert_int_equal(tokenizer_placeholder(tokenizer), 0);
        Ids ids = encode(tokenizer, "<ph1>");
        assert_true(ids.count > 1 || ids.id[0] == ID_UNKNOWN);
        free(ids.id);
        tokenizer_free(tokenizer);
    }
}

/* Placeholders that the library cannot find, or that are not in order, are none. */
TEST(placeholders_of_other_models)
{
    static const struct {
        TokenizerType type;
        PieceType piece;
        int first, step, found;
        const char *before;
    } CASE[] = {
        {TOKENIZER_BPE, PIECE_USER_DEFINED, 1, 1, 3, ""},
        {TOKENIZER_WORD, PIECE_USER_DEFINED, 1, 1, 3, "▁"},
        {TOKENIZER_BPE, PIECE_USER_DEFINED, 1, 1, 0, "▁"},
        {TOKENIZER_WORD, PIECE_USER_DEFINED, 1, 1, 0, ""},
        {TOKENIZER_BPE, PIECE_NORMAL, 1, 1, 0, ""},
        {TOKENIZER_BPE, PIECE_USER_DEFINED, 8, -1, 0, ""},
        {TOKENIZER_BPE, PIECE_USER_DEFINED, 2, 1, 0, ""},
    };
    for (size_t c = 0; c < sizeof CASE / sizeof *CASE; c++) {
        static SmallModel model;
        small_model_begin(&model, CASE[c].type, false);
        small_model_piece(&model, "▁a", -1, PIECE_NORMAL);
        for (int i = 0, n = CASE[c].first; i < PLACEHOLDERS; i++, n += CASE[c].step) {
            char text[16];
            snprintf(text, sizeof text, "%s<ph%d>", CASE[c].before, n);
            small_model_piece(&model, text, 0, CASE[c].piece);
        }
        Tokenizer *tokenizer = tokenizer_load(model.bytes, model.size, &error);
        if (!tokenizer) fail_msg("%s", error.text);
        assert_int_equal(tokenizer_placeholder(tokenizer), CASE[c].found);
        tokenizer_free(tokenizer);
    }
}

/* Decodes a text with `with` in the place of each token whose label is `label`. */
static void assert_replaced(const Tokenizer *tokenizer, const char *text, const char *label,
                            const char *with, const char *wanted)
{
    Ids ids = encode(tokenizer, text);
    const char **replacement = calloc(ids.count + 1, sizeof *replacement);
    char *back;
    for (size_t i = 0; i < ids.count; i++)
        if (!strcmp(tokenizer_label(tokenizer, ids.id[i]), label)) replacement[i] = with;
    assert_true(
        tokenizer_decode_replaced(tokenizer, &back, ids.id, ids.count, replacement, &error));
    assert_string_equal(back, wanted);
    free(back), free(replacement), free(ids.id);
}

/* Replacements come back byte for byte; spaces around them are the model's. */
TEST(replaced_tokens)
{
    static const char *const TEXTS_OF_SPANS[] = {"https://example.org/a?b=1,2",
                                                 "{name}",
                                                 "</s>",
                                                 "<unk>",
                                                 "<0x41>",
                                                 "a\tb  c",
                                                 "\xe2\x96\x81x\xe2\x96\x81",
                                                 "<ph2>",
                                                 "<pad>",
                                                 "\x01",
                                                 "10 , 5 . 3",
                                                 "' . '",
                                                 "\xf0\x9f\x98\x80",
                                                 "é\xcc\x81",
                                                 "¶ ⁇",
                                                 "."};
    TokenizerSettings settings;
    for (int i = 0; placeholder_settings(&settings, i); i++) {
        Tokenizer *tokenizer = learn((Lines){2000, tag_at, NULL}, settings);
        for (size_t t = 0; t < sizeof TEXTS_OF_SPANS / sizeof *TEXTS_OF_SPANS; t++) {
            const char *span = TEXTS_OF_SPANS[t];
            char wanted[200];
            snprintf(wanted, sizeof wanted, "jane %s, paul", span);
            assert_replaced(tokenizer, "jane <ph4>, paul", "<ph4>", span, wanted);
            snprintf(wanted, sizeof wanted, "%s %s", span, span);
            assert_replaced(tokenizer, "<ph4>  <ph4>", "<ph4>", span, wanted);
        }
        assert_replaced(tokenizer, "<ph4>", "<ph4>", " x ", " x ");
        const int32_t both[] = {tokenizer_placeholder(tokenizer),
                                tokenizer_placeholder(tokenizer) + 1};
        const char *numbers[] = {"2024", "10:30"};
        char *text;
        assert_true(tokenizer_decode_replaced(tokenizer, &text, both, 2, numbers, &error));
        assert_string_equal(text, "2024 10:30");
        free(text);
        tokenizer_free(tokenizer);
    }
}

TEST(replaced_words)
{
    TokenizerSettings settings = {.type = TOKENIZER_WORD, .vocab_size = 1000};
    Tokenizer *tokenizer = learn(sentences_of(TEXT, TEXTS), settings);
    assert_replaced(tokenizer, "jane visite l'école.", "jane", "it", "it visite l'école.");
    assert_replaced(tokenizer, "jane visite l'école.", "visite", "5 .", "jane 5 . l'école.");
    assert_replaced(tokenizer, "jane visite l'école.", "visite", "", "jane l'école.");
    assert_replaced(tokenizer, "jane visite l'école.", "école", "x", "jane visite l'x.");
    assert_replaced(tokenizer, "jane zebra.", "<unk>", " zebra", "jane zebra.");
    assert_replaced(tokenizer, "jane zebra.", "<unk>", "zebra", "jane zebra.");
    assert_replaced(tokenizer, "jane zebra.", "<unk>", "", "jane.");
    tokenizer_free(tokenizer);
}

/* A model that writes the byte 1 writes a space, and not a replacement. */
TEST(replacements_are_not_the_models)
{
    static SmallModel model;
    const char *replacement[] = {NULL, "x", NULL};
    char *text;
    small_model_begin(&model, TOKENIZER_BPE, true);
    small_model_piece(&model, "▁a", -1, PIECE_NORMAL);
    Tokenizer *tokenizer = tokenizer_load(model.bytes, model.size, &error);
    const int32_t a = tokenizer_vocab_size(tokenizer) - 2, id[] = {2 + 1, a, 2 + 1};
    assert_true(tokenizer_decode_replaced(tokenizer, &text, id, 3, replacement, &error));
    assert_string_equal(text, "x");
    free(text);
    tokenizer_free(tokenizer);
}

static void *decode_all(void *tokenizer)
{
    for (int i = 0; i < 100 * TEXTS; i++)
        assert_decodes(tokenizer, TEXT[i % TEXTS], TEXT[i % TEXTS]);
    return NULL;
}

TEST(threads)
{
    TokenizerSettings settings = {.type = TOKENIZER_UNIGRAM, .vocab_size = 90};
    Tokenizer *tokenizer = learn(sentences_of(TEXT, TEXTS), settings);
    pthread_t thread[4];
    for (int i = 0; i < 4; i++) pthread_create(&thread[i], NULL, decode_all, tokenizer);
    for (int i = 0; i < 4; i++) pthread_join(thread[i], NULL);
    tokenizer_free(tokenizer);
}

/* Any bytes can be encoded, and any ids are decoded to text. */
TEST(any_bytes)
{
    Rng rng = rng_stream(5, RNG_TEST, 0);
    for (int type = 0; type < TOKENIZER_TYPES; type++) {
        TokenizerSettings settings = {.type = (TokenizerType)type,
                                      .vocab_size = 340,
                                      .byte_fallback = type < TOKENIZER_WORD};
        Tokenizer *tokenizer = learn(sentences_of(TEXT, TEXTS), settings);
        for (int round = 0; round < 300; round++) {
            char bytes[64], *text;
            size_t length = rng_below(&rng, sizeof bytes);
            for (size_t i = 0; i < length; i++) bytes[i] = (char)rng_word(&rng);
            Ids ids = {0};
            assert_true(tokenizer_encode(tokenizer, &ids, bytes, length, &error));
            for (size_t i = 0; i < ids.count; i += 3)
                ids.id[i] = (int32_t)rng_below(&rng, (uint32_t)tokenizer_vocab_size(tokenizer));
            assert_true(tokenizer_decode(tokenizer, &text, ids.id, ids.count, &error));
            assert_true(utf8_is_valid(text, strlen(text), NULL));
            assert_null(strpbrk(text, "\n\r"));
            free(text);
            free(ids.id);
        }
        tokenizer_free(tokenizer);
    }
}

/* ---- learning ---- */

/* Settings and texts that cannot work, and a part of the error. */
TEST(bad_settings)
{
    static const char *const BLANK[] = {"", "   ", "\t"};
    static const char *const GONE[] = {"\xe2\x80\x8b", "\xef\xbb\xbf \x01", "\xc2\xa0"};
    static const char *const RESERVED[] = {"\xe2\x96\x85", "a\xe2\x96\x85"};
    char *longest = malloc(5001);
    memset(longest, 'a', 5000), longest[5000] = 0;
    const char *const LONG[] = {longest};
#define BPE  .type = TOKENIZER_BPE
#define WORD .type = TOKENIZER_WORD, .normalization = NORMALIZATION_IDENTITY
#define CHAR .type = TOKENIZER_CHAR
    const struct {
        const char *const *text;
        size_t count;
        TokenizerSettings settings;
        const char *wanted;
    } CASE[] = {
        {TEXT, TEXTS, {.vocab_size = 20}, "vocabulary size of 44 or more"},
        {TEXT, TEXTS, {BPE, .vocab_size = 20}, "vocabulary size of 44 or more"},
        {TEXT, TEXTS, {.vocab_size = 270, .byte_fallback = true}, "vocabulary size of 300 or"},
        {TEXT, TEXTS, {.vocab_size = 200, .byte_fallback = true}, "it takes 260 or more"},
        {TEXT, TEXTS, {WORD, .vocab_size = 2}, "it takes 4 or more"},
        {TEXT, TEXTS, {WORD, .vocab_size = 9, .placeholders = true}, "it takes 12 or more"},
        {TEXT, TEXTS, {.vocab_size = 20, .placeholders = true}, "size of 52 or more"},
        {BLANK, 3, {CHAR, .vocab_size = 99, .placeholders = true}, "no text to learn"},
        {TEXT, TEXTS, {.vocab_size = -5}, "it takes 4 or more"},
        {TEXT, TEXTS, {.vocab_size = 99, .coverage = 0.5}, "0.98 to 1, not 0.5"},
        {TEXT, 0, {.vocab_size = 99}, "no text to learn"},
        {BLANK, 3, {.vocab_size = 99}, "no text to learn"},
        {BLANK, 3, {BPE, .vocab_size = 99}, "no text to learn"},
        {BLANK, 3, {WORD, .vocab_size = 99}, "no text to learn"},
        {BLANK, 3, {CHAR, .vocab_size = 99}, "no text to learn"},
        {GONE, 3, {.vocab_size = 99}, "normalisation removes"},
        {GONE, 3, {BPE, .vocab_size = 99}, "normalisation removes"},
        {GONE, 3, {.type = TOKENIZER_WORD, .vocab_size = 99}, "normalisation removes"},
        {GONE, 3, {CHAR, .vocab_size = 99}, "normalisation removes"},
        {RESERVED, 2, {.vocab_size = 99}, "no text to learn"},
        {LONG, 1, {.vocab_size = 99}, "no text to learn"},
    };
    for (size_t i = 0; i < sizeof CASE / sizeof *CASE; i++) {
        CorpusText text = text_of(sentences_of(CASE[i].text, CASE[i].count));
        Sentences sentences = corpus_sentences(&text, SOURCE);
        unsigned char *model = NULL;
        size_t size = 0;
        assert_false(tokenizer_train(&model, &size, &sentences, 1, &CASE[i].settings, &error));
        corpus_text_free(&text);
        if (!strstr(error.text, CASE[i].wanted)) fail_msg("case %zu: %s", i, error.text);
        assert_null(strchr(error.text, '\n'));
    }
    free(longest);
    assert_string_equal(tokenizer_type_names[TOKENIZER_CHAR], "char");
}

/* A model has the same bytes whatever the process has in its heap and its descriptors. */
TEST(learning_is_deterministic)
{
    for (int type = 0; type < TOKENIZER_TYPES; type++) {
        TokenizerSettings settings = {.type = (TokenizerType)type, .vocab_size = 200};
        size_t first_size, second_size;
        unsigned char *first = learn_model(&first_size, MANY, settings), *second;
        void *holes[2000];
        int spare = dup(0);
        for (int i = 0; i < 2000; i++) holes[i] = malloc(16 + (size_t)(i * 37 % 400));
        for (int i = 0; i < 2000; i += 2) free(holes[i]);
        second = learn_model(&second_size, MANY, settings);
        for (int i = 1; i < 2000; i += 2) free(holes[i]);
        close(spare);
        assert_int_equal(first_size, second_size);
        assert_memory_equal(first, second, first_size);
        free(first), free(second);
    }
}

/* ---- models that cannot be trusted ---- */

/* A model that is loaded must work. */
static bool loads(const void *model, size_t size, Error *why)
{
    Tokenizer *tokenizer = tokenizer_load(model, size, why);
    if (!tokenizer) return false;
    Ids ids = {0};
    for (int i = 0; i < TEXTS; i++)
        tokenizer_encode(tokenizer, &ids, TEXT[i], strlen(TEXT[i]), why);
    char *text;
    if (tokenizer_decode(tokenizer, &text, ids.id, ids.count, why)) {
        assert_true(utf8_is_valid(text, strlen(text), NULL));
        free(text);
    }
    free(ids.id);
    tokenizer_free(tokenizer);
    return true;
}

TEST(damaged_models)
{
    assert_false(loads("", 0, &error));
    assert_false(loads("garbage", 7, &error));
    for (int type = 0; type < TOKENIZER_TYPES; type++) {
        TokenizerSettings settings = {.type = (TokenizerType)type, .vocab_size = 90};
        size_t size;
        unsigned char *model = learn_model(&size, sentences_of(TEXT, TEXTS), settings);
        assert_in_range(count_refused(model, size, 80, loads), 20, 79);
        free(model);
    }
}

/* Whether a model with this normalisation table is accepted. */
static bool accepts_table(const uint32_t *unit, uint32_t units, const char *strings,
                          size_t size)
{
    static unsigned char table[1 << 15];
    static SmallModel spec, model;
    uint32_t bytes = 4 * units;
    memcpy(table, &bytes, 4);
    memcpy(table + 4, unit, bytes);
    memcpy(table + 4 + bytes, strings, size);
    spec.size = 0;
    small_model_put(&spec, 2, table, 4 + bytes + size);
    small_model_begin(&model, TOKENIZER_UNIGRAM, false);
    small_model_piece(&model, "▁a", -1, PIECE_NORMAL);
    small_model_put(&model, 3, spec.bytes, spec.size);
    if (loads(model.bytes, model.size, &error)) return true;
    assert_non_null(strstr(error.text, "normalisation table is broken"));
    return false;
}

TEST(hostile_tables)
{
    enum { LEAF = 1 << 8, WIDE = 1 << 9 };
    uint32_t unit[512] = {0};
    for (uint32_t i = 0; i < 512; i++) unit[i] = 0x1ff & ~i & 0xff;  // no edge anywhere
    /* Unit 0 leads to state 256; its edge 'a' is unit 256 ^ 'a', which leads to state 1. */
    unit[0] = 256u << 10;
    unit[256 ^ 'a'] = (uint32_t)(256 ^ 'a' ^ 1) << 10 | LEAF | 'a';
    unit[1] = 0x80000000u;  // the leaf: string 0
    assert_true(accepts_table(unit, 512, "b", 2));

    char text[258];  // a letter becomes it
    memset(text, 'b', sizeof text), text[256] = 0;
    assert_true(accepts_table(unit, 512, text, 257));
    text[256] = 'b', text[257] = 0;
    assert_false(accepts_table(unit, 512, text, 258));

    assert_false(accepts_table(unit, 300, "b", 2));   // state 256 ends outside
    assert_false(accepts_table(unit, 512, "bc", 2));  // no NUL at the end
    assert_false(accepts_table(unit, 512, "\xff", 2));
    unit[1] = 0x80000000u | 1;  // not the start of a string
    assert_false(accepts_table(unit, 512, "b", 2));
    unit[1] = 0x80000000u | 1000000;
    assert_false(accepts_table(unit, 512, "b", 2));
    unit[1] = 0x80000000u;
    unit[0] = 4000u << 10;  // far outside
    assert_false(accepts_table(unit, 512, "b", 2));
    unit[0] = 256u << 10 | WIDE;
    assert_false(accepts_table(unit, 512, "b", 2));
    unit[0] = 256u << 10;
    unit[256 ^ 'a'] = 'a' << 10 | LEAF | 'a';  // back to state 256: endless matches
    unit[256] = 0x80000000u;
    assert_false(accepts_table(unit, 512, "b", 2));
}

/* The text for unknown words (field 44 of trainer_spec, 2) and a self-test (4) of `size` bytes. */
static bool accepts_length(int field, size_t size)
{
    static char text[1 << 17];
    static SmallModel spec, model;
    spec.size = 0;
    small_model_put(&spec, 44, text, field == 44 ? size : 0);
    small_model_begin(&model, TOKENIZER_UNIGRAM, false);
    small_model_put(&model, 2, spec.bytes, spec.size);
    if (field == 4) small_model_put(&model, 4, text, size);
    return loads(model.bytes, model.size, &error) || !strstr(error.text, "is too long");
}

TEST(hostile_lengths)
{
    assert_true(accepts_length(44, 256) && accepts_length(4, 1 << 16));
    assert_false(accepts_length(44, 257) || accepts_length(4, (1 << 16) + 1));
}

int main(void)
{
    for (size_t i = 0; i < all_tests_count; i++) {
        all_tests[i].setup_func = collect_begin;
        all_tests[i].teardown_func = collect_end;
    }
    return run_all_tests("tokenizer", NULL, NULL);
}
