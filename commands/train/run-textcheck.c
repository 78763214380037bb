/* run-textcheck.c -- what ./train says of a corpus that is not what it should be; see run.h. */
#include "commands/train/run.h"

#include "base/file.h"
#include "base/grow.h"
#include "base/textstream.h"
#include "base/utf8.h"
#include "commands/train/console.h"
#include "data/text.h"
#include "scores/tokenization.h"

enum { FEW = 20 };    // pairs, too few to say that they are all the same
enum { HALF = 100 };  // pairs at least, to compare two halves of a file

/* column (=) the two columns of a table with TABs that look like text, with a space or beyond ASCII and
 * no digit at the beginning, by the first line that has two; *columns (=) all columns of the last line
 * that was read, 0 if the file is a pipe or has one side. false: there is none, or these were read. */
static bool find_columns(int column[SIDES], int *columns, const CorpusFile *file)
{
    enum { LINES = 100 };
    *columns = 0;
    TextReader reader;
    const char *line;
    size_t length;
    int texts = 0;
    bool good =
        !file->target && !file_is_pipe(file->source) && text_open(&reader, file->source, NULL);
    if (!good) return false;
    for (int n = 0; good && texts != 2 && n < LINES; n++) {
        good = text_next(&reader, &line, &length, NULL) == TEXT_LINE;
        texts = 0;
        for (int c = 1; good; c++) {
            *columns = c;
            size_t cell = strcspn(line, "\t"), at = 0;
            while (at < cell && line[at] != ' ' && (unsigned char)line[at] < 0x80) at++;
            bool is_text =
                at < cell && strncmp(line, "http", 4) != 0 && !isdigit((unsigned char)*line);
            if (is_text && ++texts <= SIDES) column[texts - 1] = c;
            if (!line[cell]) break;
            line += cell + 1;
        }
    }
    text_close(&reader);
    return texts == 2 && memcmp(column, file->column, sizeof file->column) != 0;
}

/* Whether a side of a file is a text: not numbers, addresses, or the same in nearly all lines. Numbers
 * may be translated into words: where there is no other column, they are one. Where both sides are the
 * same, it is so only if other columns look like text. */
static bool check_side(const CorpusCheck *check, size_t pairs, CorpusSide side,
                       const CorpusFiles *files, const CorpusFile *file, Error *error)
{
    size_t most = pairs < FEW ? pairs : pairs * 19 / 20;
    bool label = check->pairs[CHECK_NUMBERED + side] * 20 > pairs * 19,
         same = check->often[side] > most, both = same && check->often[!side] > most;
    char where[32] = "", what[80] = "a number or an address";
    char advice[80] = "is it the right file?";
    int column[SIDES], columns;
    size_t table = check->pairs[CHECK_TABLE + side];
    if (file->target && table * 2 > pairs)
        return error_set(error,
                         "%s is a table, with a TAB or \",\" in %zu of %zu lines: give it "
                         "alone, as --train-tsv or --valid-tsv (--force trains on it as it is)",
                         side ? file->target : file->source, table, pairs);
    if (!label && !same) return true;
    bool found = find_columns(column, &columns, file);
    if (!found && (label ? file->target || columns == SIDES : both)) return true;
    if (!label) snprintf(what, sizeof what, "'%s'", check->sentence[side]);
    if (!file->target) {
        snprintf(where, sizeof where, "column %d of ", file->column[side]);
        snprintf(advice, sizeof advice,
                 files->count > 1 ? "make a table of the right columns"
                                  : "pick the columns (--columns)");
    }
    if (found)
        snprintf(advice, sizeof advice,
                 files->count > 1 ? "make a table of the right columns, such as cut -f %d,%d"
                                  : "pick the columns, such as --columns %d,%d",
                 column[SOURCE], column[TARGET]);
    return error_set(error,
                     "%s%s is %s in nearly all lines, which is no text to learn from: %s "
                     "(--force trains on it as it is)",
                     where, side && file->target ? file->target : file->source, what, advice);
}

/* Whether the pairs of a file are ones to learn from. */
static bool check_file(const CorpusCheck *check, size_t pairs, const CorpusFiles *files,
                       const CorpusFile *file, Error *error)
{
    unsigned long long line = check->from.line;
    for (int side = 0; side < SIDES; side++)
        if (!check_side(check, pairs, (CorpusSide)side, files, file, error)) return false;
    if (check->slipped)
        return error_set(error,
                         "from about line %llu of %s on, the sentences go together with the "
                         "translations %d line%s %s: a line is missing or too much in one of "
                         "the two sides there (--force trains on them as they are)",
                         line, file->source, abs(check->slipped),
                         abs(check->slipped) > 1 ? "s" : "",
                         check->slipped < 0 ? "before" : "after");
    return !check->unrelated ||
           error_set(error,
                     "from about line %llu of %s on, the lengths of the sentences have nothing "
                     "to do with those of the translations: these are of another text, in "
                     "another order, or many lines away (--force trains on them as they are)",
                     line, file->source);
}

bool run_check_text(Run *run, bool valid, Error *error)
{
    const Settings *settings = run->settings;
    const CorpusFiles *files = valid ? &settings->valid : &settings->train;
    const CorpusText *text = valid ? &run->valid_text : &run->text;
    CorpusCheck *all = valid ? &run->check.valid : &run->check.train;
    bool force = settings->run.force;
    CorpusText first = corpus_part(text, 0), part;
    Spacing spacing = corpus_spacing(text, TARGET);
    *all = (CorpusCheck){.unspaced = spacing_is_unspaced(&spacing)};
    for (size_t from = 0; from < text->pairs; from += part.pairs) {
        part = corpus_part(text, from);
        CorpusCheck check = corpus_check(&part, settings_tag(settings));
        int file = part.line->file;
        all->spreadsheet |= check.spreadsheet;
        if (!force && !check_file(&check, part.pairs, files, &files->file[file], error))
            return false;
        for (int k = 0; k < CHECKS; k++) {
            if (!all->pairs[k]) all->first[k] = check.first[k];
            all->pairs[k] += check.pairs[k];
        }
        for (int side = 0; side < SIDES; side++)
            if (check.often[side] > all->often[side]) {
                all->often[side] = check.often[side];
                memcpy(all->sentence[side], check.sentence[side], sizeof *check.sentence);
            }
        CorpusSentence line = corpus_sentence(&part, SOURCE, 0);
        if (corpus_tag(line.text, line.length, settings_tag(settings))) continue;
        if (from && corpus_swapped(&part, &first) == SIDES) all->swapped = file;
        CorpusText half = part, other = corpus_part(text, from + part.pairs / 2);
        half.pairs /= 2;
        if (half.pairs >= HALF && corpus_swapped(&other, &half) == SIDES)
            all->turned = file + 1;
    }
    if (valid) run->check.swapped = corpus_swapped(text, &run->text);
    return force || valid || all->pairs[CHECK_SAME] < text->pairs ||
           error_set(error,
                     "source and target are the same text in all %zu pairs of %s: "
                     "give its translations as the target (--force trains on it)",
                     text->pairs, files->file[0].source);
}

/* ---- tags ---- */

static bool check_tags(Run *run, Error *error)
{
    enum { NAMED = 6 };
    StringList tags = {0};
    size_t times[CORPUS_MAX_TAGS] = {0}, tagged = 0;
    const Settings *settings = run->settings;
    const CorpusText *text = &run->text, *valid = &run->valid_text;
    const Tokenizer *tokenizer = run->vocabulary.tokenizer[SOURCE];
    const char *pattern = settings_tag(settings);
    bool good = corpus_tags(&tags, times, text, &settings->train, pattern, error);
    TextStream stream;
    FILE *out = good && tags.count ? textstream_open(&stream) : NULL;
    for (int i = 0; good && i < tags.count; i++) {
        const char *tag = tags.item[i];
        tagged += times[i];
        if (out && i < NAMED) fprintf(out, "%s%s (%zu)", i ? ", " : "", tag, times[i]);
        good = settings->run.force || tokenizer_tag(tokenizer, tag, strlen(tag)) ||
               error_set(error,
                         "the training text has the tag '%s', for which the vocabulary has no "
                         "token: give one of its own (./translate --list-vocabulary), or train "
                         "a new model (--force trains on it as it is)",
                         tag);
    }
    if (out && tags.count > NAMED) fprintf(out, " and %d others", tags.count - NAMED);
    run->check.tags = out ? textstream_close(&stream) : NULL;
    for (size_t i = 0; i < valid->pairs && tagged * 10 >= text->pairs * 9; i++) {
        CorpusSentence line = corpus_sentence(valid, SOURCE, i);
        run->check.untagged += !tokenizer_tag(tokenizer, line.text, line.length);
    }
    if (good && settings->data.tag && !tags.count)
        good = error_set(error, "no source sentence begins with a word that matches --tag '%s'",
                         pattern);
    strings_free(&tags);
    return good;
}

/* ---- characters ---- */

/* The number of Ã or Ð with U+0080 to U+00BF after it, and of â€. */
static size_t count_twice(const CorpusText *text, CorpusSide side)
{
    static const char *const TWICE[] = {"\xc3\x83\xc2", "\xc3\x90\xc2", "â€"};
    size_t count = 0;
    for (int i = 0; i < 3; i++) {
        const char *at = text->bytes[side], *end = at + text->start[side][text->pairs];
        size_t length = strlen(TWICE[i]);
        while ((at = memmem(at, (size_t)(end - at), TWICE[i], length))) count++, at += length;
    }
    return count;
}

/* A character of the text, and what it becomes: "" if it is dropped, NULL if it is lost. */
typedef struct Character {
    unsigned code, times;
    char *text;
} Character;

/* c->text (=) what the tokenizer makes of the character between two others, which it knows; the
 * character itself if it becomes a part of one of these. */
static bool becomes(Character *c, const Tokenizer *tokenizer, const char *known, Error *error)
{
    char own[5], text[16], *whole;
    size_t length = strlen(known);
    utf8_encode(own, c->code);
    snprintf(text, sizeof text, "%s%s%s", known, own, known);
    c->text = NULL;
    bool good = tokenizer_normal_form(tokenizer, &whole, text, strlen(text), error);
    if (good && !whole)  // an accent may make another letter of the one before it
        good = tokenizer_normal_form(tokenizer, &whole, own, strlen(own), error);
    if (good && whole) {
        size_t all = strlen(whole);
        bool between = all >= 2 * length && !strncmp(whole, known, length) &&
                       !strcmp(whole + all - length, known);
        c->text = between ? strndup(whole + length, all - 2 * length) : strdup(own);
        good = c->text || error_memory(error, "to check characters");
    }
    free(whole);
    return good;
}

static int by_times(const void *a, const void *b)
{
    const Character *x = a, *y = b;
    return (x->times < y->times) - (x->times > y->times);
}

/* The line for characters that are lost, or for those that are changed. NULL: there are none, or
 * memory is short. */
static char *name_characters(const Character *character, size_t count, bool lost)
{
    enum { NAMED = 6 };
    TextStream stream;
    size_t kinds = 0;
    for (size_t i = 0; i < count; i++) kinds += !character[i].text == lost;
    FILE *out = kinds ? textstream_open(&stream) : NULL;
    for (size_t i = 0, n = 0; out && i < count && n < NAMED; i++) {
        const Character *c = &character[i];
        char own[5];
        if (!c->text != lost) continue;
        utf8_encode(own, c->code);
        fprintf(out, "%s%s U+%04X", n++ ? ", " : "", own, c->code);
        if (!lost)
            fprintf(out, " → %s",
                    !*c->text              ? "nothing"
                    : strcmp(c->text, " ") ? c->text
                                           : "a space");
        fprintf(out, " (%u)", c->times);
    }
    if (out && kinds > NAMED) fprintf(out, " and %zu others", kinds - NAMED);
    return out ? textstream_close(&stream) : NULL;
}

/* Of one side, or of both if they are joint. With the type word there is nothing to check. */
static bool check_characters(Run *run, CorpusSide side, Error *error)
{
    CharacterCheck *check = &run->check.characters[side];
    const Tokenizer *tokenizer = run->vocabulary.tokenizer[side];
    CorpusSide last = vocabulary_is_joint(&run->vocabulary) ? TARGET : side;
    unsigned *times = calloc(CORPUS_CODES, sizeof *times), most = ' ' + 1;
    Character *character = NULL;
    size_t capacity = 0, strange = 0;
    if (tokenizer_type(tokenizer) == TOKENIZER_WORD) return free(times), true;
    if (!times) return error_memory(error, "to check characters");
    for (CorpusSide s = side; s <= last; s++) {
        corpus_characters(times, &run->text, s, tokenizer);
        check->twice += count_twice(&run->text, s);
    }
    for (int c = 0x80; c < 0xa0; c++) check->controls += times[c];
    char known[5], own[5], *alone = NULL;
    bool good = true;
    // a part of a letter, such as an accent, may be frequent, but unknown on its own
    for (unsigned c = ' ' + 1; good && c < CORPUS_CODES; c++) {
        if (times[c] <= times[most]) continue;
        utf8_encode(own, c);
        good = tokenizer_normal_form(tokenizer, &alone, own, strlen(own), error);
        if (good && alone) most = c;
        free(alone);
    }
    utf8_encode(known, most);
    for (unsigned c = ' ' + 1; good && c < CORPUS_CODES; c++) {
        Character next = {.code = c, .times = times[c]};
        if (!times[c] || c == most) continue;
        good = (GROW(character, capacity, strange + 1) ||
                error_memory(error, "to check characters")) &&
               becomes(&next, tokenizer, known, error);
        utf8_encode(own, c);
        if (!good || (next.text && (c < 0x80 || !strcmp(next.text, own)))) free(next.text);
        else character[strange++] = next;
    }
    if (good && strange) {
        qsort(character, strange, sizeof *character, by_times);
        check->lost = name_characters(character, strange, true);
        check->changed = name_characters(character, strange, false);
    }
    while (strange) free(character[--strange].text);
    free(character);
    free(times);
    return good;
}

bool run_check_vocabulary(Run *run, Error *error)
{
    return (run->resumed || check_tags(run, error)) && check_characters(run, SOURCE, error) &&
           (vocabulary_is_joint(&run->vocabulary) || check_characters(run, TARGET, error));
}

/* ---- the report ---- */

/* The warnings of these kinds. */
static void warn_of(const CorpusCheck *check, CorpusCheckKind from, size_t pairs,
                    const CorpusFiles *files)
{
    static const struct {
        size_t rare;  // one pair in so many is not worth a line
        const char *what;
    } warnings[CHECKS] = {
        [CHECK_NUMBERED] = {2,
                            "have a number or an address as the source: is it the right text?"},
        [CHECK_NUMBERED_TARGET] = {2,
                                   "have a number or an address as the translation: is it the "
                                   "right text?"},
        [CHECK_SAME] = {20, "have the same text on both sides: the model learns to copy it"},
        [CHECK_COPIES] = {5, "are copies of earlier ones: of a table, such as paste makes, awk "
                             "'!seen[$0]++' removes them"},
        [CHECK_ENTITIES] = {100, "have entities such as &amp;, which the model learns: python3 "
                                 "-c 'import html,sys; sys.stdout.write(html.unescape("
                                 "sys.stdin.read()))' <OLD >NEW undoes them"},
        [CHECK_TAGS] = {100, "have tags such as <b> or {\\an8}: the model learns them; sed "
                             "'s/<[^>]*>\\|{\\\\[^}]*}//g' removes them"},
        [CHECK_PIECES] = {100, "have the marks of subwords, such as ▁, @@, ￭, ## or Ġ: the "
                               "tokenizer splits words by itself; give the text as it was "
                               "(sed 's/@@ //g' joins words that have @@, sed 's/ //g; "
                               "s/▁/ /g' those with ▁)"},
        [CHECK_TOKENISED] = {2, "are tokenised, with spaces around punctuation, and what is "
                                "translated must be, too: give the text as it was, or as "
                                "sacremoses -l LANGUAGE detokenize <OLD >NEW makes it"},
        [CHECK_QUOTED] = {2, "are in quotation marks, as spreadsheets write them, and the "
                             "translations get them, too: perl -pe "
                             "'s/(^|\\t)\"([^\\t]*)\"(?![^\\t\\r\\n])/$1$2/g; "
                             "s/\"\"/\"/g' <OLD >NEW undoes them"},
    };
    for (int k = (int)from; k < CHECKS; k++) {
        CorpusLine first = check->first[k];
        bool many = check->pairs[k] * warnings[k].rare > pairs,
             spreadsheet = check->spreadsheet || check->pairs[CHECK_DOUBLED] * 100 > pairs;
        if (!many && !(k == CHECK_QUOTED && spreadsheet)) continue;
        console_warn("%zu of %zu pairs (the first: line %llu of %s) %s", check->pairs[k], pairs,
                     (unsigned long long)first.line, files->file[first.file].source,
                     warnings[k].what);
    }
}

/* Characters that were read in a wrong encoding, if so many pairs have many of them. */
static void warn_of_encoding(const CharacterCheck *check, size_t pairs)
{
    if (check->twice * 100 > pairs)
        console_warn("the text has %zu times UTF-8 that was encoded twice, such as Ã© for é: "
                     "perl -CSD -MEncode -pe 's/([^\\0-\\x7f]{2,})/eval{decode(\"UTF-8\","
                     "encode(\"cp1252\",$1,sub{chr shift}),1)}\\/\\/$1/ge' <OLD >NEW undoes it",
                     check->twice);
    else if (check->controls * 100 > pairs)
        console_warn("the text has %zu characters from U+0080 to U+009F, which are controls, "
                     "or WINDOWS-1252 that was read as LATIN1: perl -CSD -MEncode -pe "
                     "'s/([\\x80-\\x9f])/decode(\"cp1252\",$1,sub{\"\"})/ge' <OLD >NEW mends "
                     "these",
                     check->controls);
}

void run_warn_of_text(const Run *run)
{
    enum { SHORT = 10 };  // bytes
    const Settings *settings = run->settings;
    const CorpusCheck *check = &run->check.train;
    size_t pairs = run->report.read;
    warn_of(check, CHECK_SAME, pairs, &settings->train);
    warn_of(&run->check.valid, CHECK_QUOTED, run->valid_report.read, &settings->valid);
    for (int side = 0; side < SIDES; side++)
        if (check->often[side] > FEW && strlen(check->sentence[side]) > SHORT)
            console_warn("%zu of the %s are the same, '%s', which teaches nothing: is it the "
                         "right text?",
                         check->often[side], side == SOURCE ? "sentences" : "translations",
                         check->sentence[side]);
    if (check->swapped)
        console_warn(
            "%s looks as if its source and its target were in another order than those of %s",
            settings->train.file[check->swapped].source, settings->train.file[0].source);
    if (check->turned)
        console_warn(
            "the second half of %s looks as if its source and its target were in another "
            "order than those of the first",
            settings->train.file[check->turned - 1].source);
    if (check->unspaced &&
        tokenization_needs_spaces((Tokenization)settings->data.bleu_tokenize))
        console_warn("the target has hardly any spaces, and BLEU counts words: use "
                     "--bleu-tokenize zh for Chinese, ja-mecab for Japanese, char for others");
    if (run->check.swapped)
        console_warn("the validation text does not look like the training text: are its source "
                     "and its target in the right order, and in the same languages?");
    for (int side = 0; side < SIDES; side++)
        warn_of_encoding(&run->check.characters[side], pairs);
}
