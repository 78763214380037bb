/* augment.c -- what each kind of change makes of a pair, how often, and the same on any threads. */
#include "data/augment.h"

#include "data/batches.h"
#include "tests/fixtures/test.h"

enum {
    SYLLABLES = 12,
    NOUNS = 144,
    NAMES = 6,
    PAIRS = 1200,
    LONGEST = 120,
    BATCH = 2000,
    EPOCHS = 10
};

static const char *const NAME[NAMES] = {"Anna", "B12", "Marie", "4711", "Zoë", "x86_64"};

static const char *const SYLLABLE[SYLLABLES] = {"ba", "lo", "mi", "ne", "pu", "ra",
                                                "so", "ti", "ke", "gu", "fo", "he"};
static char noun[NOUNS][SIDES][16];

static Error error;
static CorpusText text;
static Corpus corpus;
static Vocabulary vocabulary;
static Augment augment;
static Batches batches;
static int count;

static void add(const char *source, const char *target)
{
    const char *const line[SIDES] = {source, target};
    const size_t length[SIDES] = {strlen(source), strlen(target)};
    assert_true(corpus_add(&text, line, length, (CorpusLine){0, 0}, &error));
}

/* A third of the pairs has a name. */
static void add_pairs(void)
{
    for (int i = 0; i < NOUNS; i++) {
        const char *a = SYLLABLE[i / SYLLABLES], *b = SYLLABLE[i % SYLLABLES];
        snprintf(noun[i][SOURCE], sizeof *noun[i], "%s%sden", a, b);
        snprintf(noun[i][TARGET], sizeof *noun[i], "%s%séau", b, a);
    }
    for (uint32_t i = 0; i < PAIRS; i++) {
        Rng rng = rng_stream(3, RNG_TEST, i);
        uint32_t one = rng_below(&rng, NOUNS),
                 two = (one + 1 + rng_below(&rng, NOUNS - 1)) % NOUNS;
        const char *name = NAME[rng_below(&rng, NAMES)];
        char line[SIDES][200];
        for (int side = 0; side < SIDES; side++)
            if (i % 3)
                snprintf(line[side], sizeof *line,
                         side ? "Un %s est vers ce %s." : "A %s is by it, a %s.",
                         noun[one][side], noun[two][side]);
            else
                snprintf(line[side], sizeof *line,
                         side ? "Avec %s il y a %s !" : "With %s is a %s!", name,
                         noun[one][side]);
        add(line[SOURCE], line[TARGET]);
    }
}

static StringList *tags;

static void make(bool placeholders)
{
    TokenizerSettings settings = {
        .type = TOKENIZER_CHAR, .vocab_size = 300, .placeholders = placeholders, .tags = tags};
    CorpusReport report = {0};
    assert_true(vocabulary_learn(&vocabulary, &text, &settings, true, &error));
    assert_true(vocabulary_load(&vocabulary, &error));
    const Tokenizer *const tokenizer[] = {vocabulary.tokenizer[0], vocabulary.tokenizer[1]};
    assert_true(
        corpus_encode(&corpus, &text, &report, tokenizer, NULL, LONGEST - 1, true, &error));
    assert_true(batches_init(&batches, &corpus, 1, BATCH, &error));
    augment = (Augment){
        .share = 1, .seed = 1, .max_length = LONGEST, .text = &text, .vocabulary = &vocabulary};
    assert_true(augment_prepare(&augment, &error));
}

static void clear(void)
{
    augment_free(&augment);
    batches_free(&batches);
    corpus_free(&corpus);
    corpus_text_free(&text);
    vocabulary_free(&vocabulary);
}

static void update(Augment *a, uint64_t epoch, size_t u)
{
    assert_true(batches_update(&batches, &count, epoch, u, &error));
    assert_true(augment_update(a, batches.pair, &count, epoch, &error));
}

/* The text of a side of a pair of the update. Up to 8 are valid at a time. */
static char *decoded(const PairIds *pair, int side)
{
    static char *ring[8];
    static int next;
    char **to = &ring[next++ % 8];
    free(*to);
    assert_true(tokenizer_decode(vocabulary.tokenizer[side], to, pair->id[side],
                                 (size_t)pair->length[side], &error));
    return *to;
}

/* A side of the corpus. */
static char *original(size_t number, int side)
{
    PairIds pair = corpus_pair(&corpus, number);
    return decoded(&pair, side);
}

/* list (=) the numbers of the placeholders of a text, in their order. */
static int placeholders_of(int *list, const char *line)
{
    int found = 0;
    for (const char *at = line; (at = strstr(at, "<ph")); at++) {
        assert_in_range(at[3], '1', '8');
        assert_int_equal(at[4], '>');
        list[found++] = at[3];
    }
    for (int i = 0; i < found; i++)
        for (int j = i + 1; j < found; j++)
            if (list[j] < list[i]) {
                int swap = list[i];
                list[i] = list[j], list[j] = swap;
            }
    return found;
}

/* Placeholders, or those with a space between them alone, are numbered in their order. */
static void check_order(const char *line, bool all)
{
    for (const char *at = strstr(line, "<ph"), *next; at && (next = strstr(at + 1, "<ph"));
         at = next)
        if (all || next == at + strlen("<ph1> "))
            assert_int_equal(next[3] - '1', (at[3] - '0') % 8);
}

/* The word of the original that the placeholder has taken the place of. */
static void replaced(char word[100], const char *before, const char *after)
{
    size_t begin = (size_t)(strstr(after, "<ph") - after), rest = strlen(after) - begin - 5;
    snprintf(word, 100, "%.*s", (int)(strlen(before) - begin - rest), before + begin);
}

/* A text without its placeholders and the spaces before them. */
static char *without(const char *line)
{
    static char rest[1000];
    char *to = rest;
    for (const char *at = line; *at;)
        if (!strncmp(at, " <ph", 4)) at += 6;
        else *to++ = *at++;
    *to = 0;
    return rest;
}

static int added;  // pairs where placeholders stand after words

static void check_placeholders(const PairIds *pair, size_t number)
{
    int list[SIDES][8], found = 0;
    char word[SIDES][100];
    for (int side = 0; side < SIDES; side++) {
        found = placeholders_of(list[side], decoded(pair, side));
        check_order(decoded(pair, side), side == SOURCE);
        replaced(word[side], original(number, side), decoded(pair, side));
    }
    assert_int_equal(found, placeholders_of(list[SOURCE], decoded(pair, SOURCE)));
    assert_in_range(found, 1, 3);
    assert_memory_equal(list[SOURCE], list[TARGET], (size_t)found * sizeof(int));
    for (int i = 1; i < found; i++) assert_int_not_equal(list[SOURCE][i], list[SOURCE][i - 1]);
    if (!strcmp(without(decoded(pair, SOURCE)), original(number, SOURCE))) {
        assert_string_equal(without(decoded(pair, TARGET)), original(number, TARGET));
        added++;
        return;
    }
    if (found > 1) return;
    bool same = false;
    for (int i = 0; i < NAMES; i++)
        same |= !strcmp(word[SOURCE], NAME[i]) && !strcmp(word[TARGET], NAME[i]);
    for (int i = 0; i < NOUNS; i++)
        same |=
            !strcmp(word[SOURCE], noun[i][SOURCE]) && !strcmp(word[TARGET], noun[i][TARGET]);
    if (!same) fail_msg("'%s' and '%s'", word[SOURCE], word[TARGET]);
    // names come before words
    if (number % 3 == 0) assert_null(strstr(word[SOURCE], "den"));
}

/* One error: a character less, with the space after the first, or two in another order. */
static void check_noise(const PairIds *pair, size_t number)
{
    PairIds was = corpus_pair(&corpus, number);
    const int *a = was.id[SOURCE], *b = pair->id[SOURCE];
    int n = was.length[SOURCE], m = pair->length[SOURCE], same = 0;
    assert_int_equal(pair->number, number);
    assert_ptr_equal(pair->id[TARGET], was.id[TARGET]);
    assert_in_range(n - m, 0, 2);
    while (same < n && same < m && a[same] == b[same]) same++;
    if (same == n) return;  // two equal letters
    int gone = n == m ? 2 : n - m, come = n == m ? 2 : 0;
    assert_memory_equal(a + same + gone, b + same + come,
                        (size_t)(n - same - gone) * sizeof *a);
}

static void check_joined(const AugmentItem *item)
{
    assert_in_range(item->pairs, 2, 3);
    for (int side = 0; side < SIDES; side++) {
        char wanted[1000] = "";
        int tokens = 1;
        PairIds *pair = batches.pair + item->first;
        for (int i = 0; i < item->pairs; i++) {
            if (i) strcat(wanted, " ");
            strcat(wanted, original(pair[i].number, side));
            tokens += pair[i].length[side] - 1;
        }
        assert_string_equal(decoded(&item->result, side), wanted);
        assert_int_equal(item->result.length[side], tokens);
    }
}

static void check_no_stop(const PairIds *pair, size_t number)
{
    for (int side = 0; side < SIDES; side++) {
        char *before = original(number, side), *after = decoded(pair, side);
        size_t length = strlen(after);
        assert_memory_equal(before, after, length);
        assert_true(!strcmp(before + length, ".") || !strcmp(before + length, "!") ||
                    !strcmp(before + length, " !"));
    }
}

static void check_item(const AugmentItem *item)
{
    const PairIds *result = &item->result;
    PairIds was = batches.pair[item->first];
    assert_true(item->kind == AUGMENT_JOIN || item->pairs == 1);
    if (item->kind != AUGMENT_NOISE && item->kind != AUGMENT_KINDS)
        assert_true(result->number == PAIR_CHANGED);
    for (int side = 0; side < SIDES; side++) {
        assert_in_range(result->length[side], 2, LONGEST);
        assert_int_equal(result->id[side][result->length[side] - 1], ID_END);
    }
    switch (item->kind) {
    case AUGMENT_JOIN: check_joined(item); break;
    case AUGMENT_PLACEHOLDERS: check_placeholders(result, was.number); break;
    case AUGMENT_NO_STOP: check_no_stop(result, was.number); break;
    case AUGMENT_NOISE: check_noise(result, was.number); break;
    case AUGMENT_KINDS: assert_memory_equal(result, &was, sizeof was);
    }
}

/* kinds [AUGMENT_KINDS+1] (+=) the pairs of an epoch that are changed so. */
static void check_epoch(int *kinds, uint64_t epoch)
{
    for (size_t u = 0; u < batches_updates(&batches, epoch); u++) {
        update(&augment, epoch, u);
        int items = count, first = 0, pairs;
        assert_true(batches_update(&batches, &pairs, epoch, u, &error));
        for (int i = 0; i < items; i++) {
            const AugmentItem *item = &augment.item[i];
            assert_int_equal(item->first, first);
            check_item(item);
            first += item->pairs;
            kinds[item->kind] += item->pairs;
        }
        assert_int_equal(first, pairs);  // each pair is in one of them
    }
}

TEST(each_kind)
{
    int kinds[AUGMENT_KINDS + 1] = {0};
    add_pairs();
    make(true);
    for (uint64_t epoch = 0; epoch < EPOCHS; epoch++) check_epoch(kinds, epoch);
    for (int k = 0; k < AUGMENT_KINDS; k++) assert_true(kinds[k] > EPOCHS * PAIRS / 50);
    assert_true(kinds[AUGMENT_KINDS] < EPOCHS * PAIRS / 500);
    assert_in_range(added, kinds[AUGMENT_PLACEHOLDERS] * 0.6,
                    kinds[AUGMENT_PLACEHOLDERS] * 0.73);
    clear();
}

TEST(shares)
{
    static const double SHARE[] = {0.1, 0.5};
    add_pairs();
    make(true);
    for (int s = 0; s < 2; s++) {
        int kinds[AUGMENT_KINDS + 1] = {0};
        augment.share = SHARE[s];
        for (uint64_t epoch = 0; epoch < EPOCHS; epoch++) check_epoch(kinds, epoch);
        double joined = kinds[AUGMENT_JOIN] / 2.5 * 1.5;  // those that are joined to others
        double changed = PAIRS * EPOCHS - kinds[AUGMENT_KINDS];
        double drawn = (changed - joined) / (PAIRS * EPOCHS - joined);
        assert_true(fabs(drawn - SHARE[s]) < 0.02);
    }
    clear();
}

/* The same on any number of threads and in any order; other in another epoch and by another seed. */
TEST(determinism)
{
    enum { THREADS = 3 };
    add_pairs();
    make(true);
    Augment other[THREADS + 1];
    for (int k = 0; k <= THREADS; k++) {
        other[k] = augment;
        other[k].item = NULL, other[k].id = NULL, other[k].item_size = other[k].id_size = 0;
        if (k < THREADS) assert_non_null(other[k].workers = workers_start(k + 1, &error));
    }
    other[THREADS].seed = 2;
    int same = 0, all = 0;
    for (size_t u = 0; u < batches_updates(&batches, 4); u++) {
        update(&augment, 4, u);
        int wanted = count;
        for (int k = 0; k <= THREADS; k++) {
            update(&other[k], 9, batches_updates(&batches, 9) - 1 - u % 3);
            update(&other[k], 4, u);
            if (k < THREADS) assert_int_equal(count, wanted);
            for (int i = 0; i < wanted && i < count; i++) {
                const PairIds *a = &augment.item[i].result, *b = &other[k].item[i].result;
                bool equal = a->length[0] == b->length[0] &&
                             !memcmp(a->id[0], b->id[0], (size_t)a->length[0] * sizeof(int)) &&
                             a->length[1] == b->length[1] &&
                             !memcmp(a->id[1], b->id[1], (size_t)a->length[1] * sizeof(int));
                if (k < THREADS) assert_true(equal);
                else same += equal, all++;
            }
        }
    }
    assert_true(same < all / 4);
    for (int k = 0; k <= THREADS; k++) {
        free(other[k].item), free(other[k].id);
        if (k < THREADS) workers_stop(other[k].workers);
    }
    clear();
}

TEST(without_placeholders)
{
    int kinds[AUGMENT_KINDS + 1] = {0};
    add_pairs();
    make(false);
    check_epoch(kinds, 0);
    assert_int_equal(kinds[AUGMENT_PLACEHOLDERS], 0);
    assert_true(kinds[AUGMENT_KINDS] < PAIRS / 100);
    clear();
}

/* A changed source begins with its tag, which is nowhere else in it; what is joined has the same. */
TEST(tagged)
{
    int kinds[AUGMENT_KINDS + 1] = {0};
    const Tokenizer *tokenizer;
    for (int i = 0; i < 200; i++)
        add(i % 2 ? ">>no<< I see 42 of them." : ">>yes<< I see 17 of them.", "J'en vois 42.");
    tags = &(StringList){.item = (char *[]){">>no<<", ">>yes<<"}, .count = 2};
    make(true);
    tags = NULL;
    tokenizer = vocabulary.tokenizer[SOURCE];
    update(&augment, 0, 0);
    assert_true(batches_update(&batches, &count, 0, 0, &error));
    for (const AugmentItem *item = augment.item; item->first < count; item++) {
        const PairIds *result = &item->result;
        int32_t tag = batches.pair[item->first].id[SOURCE][0];
        kinds[item->kind]++;
        if (item->first + item->pairs == count) break;
        if (item->kind == AUGMENT_KINDS) continue;
        assert_true(tokenizer_is_tag(tokenizer, tag));
        assert_int_equal(result->id[SOURCE][0], tag);
        for (int t = 1; t < result->length[SOURCE]; t++)
            assert_false(tokenizer_is_tag(tokenizer, result->id[SOURCE][t]));
        assert_null(strstr(decoded(result, SOURCE), tag == 10 ? "17" : "42"));
    }
    for (int k = 0; k < AUGMENT_KINDS; k++) assert_true(kinds[k]);
    clear();
}

/* About half of the pairs without a tag are turned, by the number of the update. */
TEST(turned)
{
    int turned[2] = {0};
    for (int i = 0; i < 400; i++) add(i % 4 ? "A cat." : ">>no<< A cat.", "Un chat.");
    tags = &(StringList){.item = (char *[]){">>no<<"}, .count = 1};
    make(false);
    tags = NULL;
    PairIds *again = calloc(400, sizeof *again), *pair = again;
    for (uint64_t u = 1; u <= 3; u++) {
        assert_true(batches_update(&batches, &count, 0, 0, &error));
        memcpy(again, batches.pair, (size_t)count * sizeof *again);
        augment_turn(&augment, batches.pair, count, u);
        augment_turn(&augment, again, count, u < 3 ? u : 4);
        if (u < 3) assert_memory_equal(again, batches.pair, (size_t)count * sizeof *again);
        else assert_memory_not_equal(again, batches.pair, (size_t)count * sizeof *again);
    }
    for (pair = batches.pair; pair < batches.pair + count; pair++) {
        bool french = !strcmp(decoded(pair, SOURCE), "Un chat.");
        assert_int_equal(pair->number == PAIR_CHANGED, french);
        assert_string_equal(decoded(pair, TARGET), french ? "A cat." : "Un chat.");
        turned[french]++;
    }
    assert_in_range(turned[true], count / 4, count / 2);  // of three quarters
    free(again);
    clear();
}

/* No space after a Chinese or Japanese sentence; no kind but joining and noise is possible. */
TEST(without_spaces)
{
    for (int i = 0; i < 20; i++) add("我们走吧。", "行こう");
    make(true);
    update(&augment, 0, 0);
    int joined = 0;
    for (int i = 0; i < count; i++) {
        const AugmentItem *item = &augment.item[i];
        if (item->kind != AUGMENT_JOIN) continue;
        joined++;
        assert_false(strchr(decoded(&item->result, SOURCE), ' '));
        assert_false(strchr(decoded(&item->result, TARGET), ' '));
        assert_int_equal(strlen(decoded(&item->result, TARGET)), 9 * item->pairs);
    }
    assert_true(joined);
    clear();
}

static int words_of(Word *word, const char *line)
{
    int words;
    assert_true(
        dictionary_words(&augment.dictionary, word, &words, line, strlen(line), &error));
    return words;
}

TEST(the_dictionary)
{
    int wrong = 0;
    add_pairs();
    make(true);
    for (int i = 0; i < NOUNS; i++)
        for (int j = 0; j < NOUNS; j++) {
            Word source[MOST_WORDS], target[MOST_WORDS];
            assert_int_equal(words_of(source, noun[i][SOURCE]), 1);
            assert_int_equal(words_of(target, noun[j][TARGET]), 1);
            double dice = dictionary_dice(&augment.dictionary, source, target);
            if (i == j) assert_true(dice > 0.95);
            else wrong += dice >= 0.5;
        }
    assert_true(wrong <= 3);  // pairs of words that share a counter
    clear();
}

/* Also where there are more pairs than a counter can count. */
TEST(once_in_fifty_sentences)
{
    Dictionary dictionary = {0};
    Word source[MOST_WORDS], target[MOST_WORDS];
    int words;
    for (int i = 0; i < 70000; i++) add(i % 52 ? "a" : "house", i % 52 ? "b" : "maison");
    assert_true(dictionary_count(&dictionary, &text, &error));
    assert_true(dictionary_words(&dictionary, source, &words, "house", 5, &error));
    assert_true(dictionary_words(&dictionary, target, &words, "maison", 6, &error));
    assert_true(dictionary_dice(&dictionary, source, target) > 0.95);
    dictionary_free(&dictionary);
    corpus_text_free(&text);
}

TEST(words)
{
    static const char LINE[] = " \"Well, x86_64 -- Émile's (end).\" 私は猫が好き 4";
    static const struct {
        const char *word;
        bool name, counted;
    } WANTED[] = {{"Well", false, true}, {"x86_64", true, true}, {"Émile's", true, true},
                  {"end", false, true},  {"私", false, true},    {"は", false, true},
                  {"猫", false, true},   {"が", false, true},    {"好き", false, true},
                  {"4", true, false}};
    enum { WORDS = sizeof WANTED / sizeof *WANTED };
    Word word[MOST_WORDS];
    add("a", "b");
    make(true);
    assert_int_equal(words_of(word, LINE), WORDS);
    for (size_t i = 0; i < WORDS; i++) {
        assert_int_equal(word[i].end - word[i].begin, strlen(WANTED[i].word));
        assert_memory_equal(LINE + word[i].begin, WANTED[i].word, word[i].end - word[i].begin);
        assert_int_equal(word[i].name, WANTED[i].name);
        assert_int_equal(word[i].first, i == 0);
        assert_int_equal(word[i].hash != 0, WANTED[i].counted);
    }
    clear();
}

TEST_MAIN("augment", NULL, NULL)
