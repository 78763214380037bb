/* labels.c -- tokens to the text that is shown; see labels.h. */
#include "explain/labels.h"

#include "data/typography.h"
#include "inference/idlines.h"

Tokens tokens_of(const Snapshot *snapshot, const Vocabulary *vocabulary, TokenSide side)
{
    const Packed *sentence = side == TOKENS_SOURCE ? &snapshot->source : &snapshot->target;
    int language = side == TOKENS_SOURCE ? SOURCE : TARGET;
    return (Tokens){vocabulary->tokenizer[language], sentence->id, snapshot->unknown[language],
                    sentence->rows, side == TOKENS_READ};
}

int tokens_id(const Tokens *tokens, int place)
{
    if (place >= tokens->pad) return tokens->id[place - tokens->pad];
    return tokenizer_vocab_size(tokens->tokenizer) - 1;
}

/* How many labels from the first on are together this text in capitals, as "grand", "·da" and
 * "ughter" are GRANDDAUGHTER; 0: none are. */
static int labels_of(const char *const *label, int count, const char *capitals)
{
    const size_t dot = strlen("·");
    for (int n = 0; n < count; n++) {
        bool inside = !strncmp(label[n], "·", dot);
        char *part;
        if (n && isalnum((unsigned char)label[n][0])) return 0;  // the next word
        if (!text_in_case(&part, label[n] + inside * dot, strlen(label[n] + inside * dot),
                          CASE_UPPER, "", NULL))
            return 0;
        size_t length = strlen(part);
        bool same = length && !strncmp(capitals, part, length);
        free(part);
        if (!same) return 0;
        if (!*(capitals += length)) return n + 1;
    }
    return 0;
}

/* *found and *last (=) the first and last place of a word, *labels (=) how many it takes there. In
 * capitals, if given: in any case, and several labels. Returns how often it is there. */
static int places_of(int *found, int *last, int *labels, const char *const *label, int count,
                     const char *word, const char *capitals)
{
    int times = 0, n;
    for (int i = count - 1; i >= 0; i--)
        if ((n = capitals ? labels_of(label + i, count - i, capitals)
                          : !strcmp(label[i], word)))
            *found = i, *labels = n, *last = times++ ? *last : i;
    return times;
}

bool labels_find(int *found, const char *const *label, int count, const char *word,
                 Error *error)
{
    char *end, *capitals = NULL, parts[200] = "";
    int last = 0, labels = 0,
        times = places_of(found, &last, &labels, label, count, word, NULL);
    long place = strtol(word, &end, 10);
    if (!times && end != word && !*end && place >= 1 && place <= count)
        return *found = (int)place - 1, true;
    if (!times) {
        if (!text_in_case(&capitals, word, strlen(word), CASE_UPPER, "", error)) return false;
        times = places_of(found, &last, &labels, label, count, word, capitals);
        free(capitals);
    }
    if (times > 1)
        return error_set(error,
                         "`word` '%s' is there %d times, first at position %d and last at %d: "
                         "give the position",
                         word, times, *found + 1, last + 1);
    for (int k = 0; k < labels && strlen(parts) < 100; k++)
        snprintf(parts + strlen(parts), 100, k ? " %s" : "%s", label[*found + k]);
    if (labels > 1)
        return error_set(error, "`word` '%s' is the tokens %d to %d (%s): give one of them",
                         word, *found + 1, *found + labels, parts);
    if (times) return true;
    *found = -1;
    return error_set(error,
                     "`word` '%s' is neither one of the %d tokens \"%s\" … \"%s\" nor a "
                     "position from 1 to %d",
                     word, count, label[0], label[count - 1], count);
}

static bool is_special(const Tokens *tokens, int place)
{
    int id = tokens_id(tokens, place);
    return id == ID_END || id == tokenizer_vocab_size(tokens->tokenizer) - 1;
}

/* Whether the token at a place is a further byte of a character in UTF-8, 0x80 to 0xBF. */
static bool continues(const Tokens *tokens, int place)
{
    return tokenizer_byte(tokens->tokenizer, tokens_id(tokens, place)) >> 6 == 2 &&
           tokenizer_byte(tokens->tokenizer, tokens_id(tokens, place - 1)) >= 0x80;
}

/* One token as it is in the vocabulary, but for a byte that is a character, such as <0x21>; several
 * decoded together, as a single byte of a longer character is not valid text. */
static char *text_of(const Tokens *tokens, int first, int count, Error *error)
{
    char *text = NULL;
    const char *const *unknown = tokens->unknown;
    int at = first - tokens->pad;  // -1: <pad>, which is alone
    int byte = tokenizer_byte(tokens->tokenizer, tokens_id(tokens, first));
    if (count > 1 || (byte > ' ' && byte < 0x7F) || (unknown && at >= 0 && unknown[at]))
        tokenizer_decode_replaced(tokens->tokenizer, &text, tokens->id + at, (size_t)count,
                                  unknown ? unknown + at : NULL, error);
    else if (!(text = strdup(tokenizer_shown(tokens->tokenizer, tokens_id(tokens, first)))))
        error_memory(error, "for the words of a picture");
    return text;
}

/* each [tokens->count] ln p, or NULL */
static bool make_side(Labels *labels, const Tokens *tokens, const double *each, LabelsUnit unit,
                      Error *error)
{
    const Tokenizer *tokenizer = tokens->tokenizer;
    bool words = unit == LABELS_WORDS && tokenizer_type(tokenizer) != TOKENIZER_WORD;
    int count = tokens->count, all;
    size_t n = (size_t)count;
    *labels = (Labels){.text = calloc(n, sizeof *labels->text),
                       .special = calloc(2 * n, sizeof *labels->special),
                       .probability = calloc(n, sizeof *labels->probability),
                       .word = calloc(n, sizeof *labels->word)};
    if (!labels->text || !labels->special || !labels->probability || !labels->word)
        return error_memory(error, "for the words of a picture");
    labels->unknown = labels->special + n;
    if (!tokens->pad && !tokenizer_decode_replaced(tokenizer, &labels->sentence, tokens->id, n,
                                                   tokens->unknown, error))
        return false;
    bool good = !words || words_of_ids(labels->word + tokens->pad, &all, tokenizer, tokens->id,
                                       count - 1, tokens->unknown, false, error);
    for (int first = 0, end = 0; good && first < count; first = end) {
        int k = labels->count;
        double log_probability = 0;
        bool joins;
        do {
            int word = labels->word[end];
            labels->word[end] = k;
            labels->unknown[k] |= tokens_id(tokens, end) == ID_UNKNOWN;
            labels->special[k] |= is_special(tokens, end);
            log_probability += each ? each[end] : NAN;
            if (++end == count) break;
            joins = words ? labels->word[end] == word && !labels->special[k] &&
                                !is_special(tokens, end)
                          : unit == LABELS_CHARACTERS && continues(tokens, end);
        } while (joins);
        labels->probability[k] = (float)exp(log_probability);
        labels->text[k] = text_of(tokens, first, end - first, error);
        good = labels->text[labels->count++];
    }
    return good;
}

bool labels_make(Labels labels[TOKEN_SIDES], const Snapshot *snapshot,
                 const Vocabulary *vocabulary, LabelsUnit unit, Error *error)
{
    bool good = true;
    memset(labels, 0, TOKEN_SIDES * sizeof *labels);
    for (TokenSide side = TOKENS_SOURCE; good && side < TOKEN_SIDES; side++) {
        const Tokens tokens = tokens_of(snapshot, vocabulary, side);
        good = make_side(&labels[side], &tokens, side == TOKENS_TARGET ? snapshot->each : NULL,
                         unit, error);
    }
    return good;
}

void labels_free(Labels labels[TOKEN_SIDES])
{
    for (int side = 0; side < TOKEN_SIDES; side++) {
        for (int i = 0; i < labels[side].count; i++) free(labels[side].text[i]);
        free(labels[side].sentence);
        free(labels[side].text);
        free(labels[side].special);
        free(labels[side].probability);
        free(labels[side].word);
    }
}
