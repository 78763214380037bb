/* textcheck.c -- checks a corpus; see textcheck.h. */
#include "commands/train/textcheck.h"

#include "commands/train/console.h"

#include "scores/tokenization.h"

#include <stdlib.h>

bool textcheck(const CorpusCheck *check, size_t all, const Settings *settings, Error *error)
{
    const CorpusFile *file = &settings->train.file[check->from.file];
    if (settings->run.force) return true;
    if (check->pairs[CHECK_SAME] == all)
        return error_set(error,
                         "source and target are the same text in all %zu pairs of %s: "
                         "give its translations as the target (--force trains on it)",
                         all, file->source);
    if (check->pairs[CHECK_NUMBERED] * 20 > all * 19)
        return error_set(
            error,
            "the first column of %s is a number, which would be the text to "
            "translate: pick the columns, such as --columns 2,4 (--force trains on "
            "them as they are)",
            file->source);
    if (!check->slipped) return true;
    unsigned long long line = check->from.line;
    return error_set(error,
                     "from about line %llu of %s on, the sentences go together with the "
                     "translations %d line%s %s: a line is missing or too much in one of "
                     "the two sides there (--force trains on them as they are)",
                     line, file->source, abs(check->slipped),
                     abs(check->slipped) > 1 ? "s" : "",
                     check->slipped < 0 ? "before" : "after");
}

/* One line on a kind, if more than one pair in `rare` is of it. */
static void say(const CorpusCheck *check, size_t pairs, const Settings *settings,
                CorpusCheckKind kind, size_t rare, const char *what)
{
    CorpusLine first = check->first[kind];
    if (check->pairs[kind] * rare <= pairs) return;
    console_say("warning       %zu of %zu pairs (the first: line %llu of %s) %s",
                check->pairs[kind], pairs, (unsigned long long)first.line,
                settings->train.file[first.file].source, what);
}

void textcheck_report(const CorpusCheck *check, size_t pairs, bool swapped,
                      const Settings *settings)
{
    static const struct {
        CorpusCheckKind kind;
        size_t rare;
        const char *what;
    } warnings[] = {
        {CHECK_SAME, 20, "have the same text on both sides: the model learns to copy it"},
        {CHECK_QUOTED, 2,
         "are in quotation marks on both sides, as spreadsheets write them: export them "
         "without, or the translations have them, too"},
        {CHECK_ENTITIES, 100,
         "have entities such as &amp;, which the model learns: python3 -c 'import html,sys; "
         "sys.stdout.write(html.unescape(sys.stdin.read()))' <OLD >NEW undoes them"},
        {CHECK_TAGS, 100,
         "have tags such as <b>: the model learns them; sed 's/<[^>]*>//g' removes them"},
        {CHECK_PIECES, 100,
         "have the marks of subwords, ▁ or @@: the tokenizer splits words by itself; sed "
         "'s/@@ //g' joins them again"},
    };
    for (size_t i = 0; i < sizeof warnings / sizeof *warnings; i++)
        say(check, pairs, settings, warnings[i].kind, warnings[i].rare, warnings[i].what);
    if (check->unspaced && settings->data.bleu_tokenize != TOKENIZATION_CHAR)
        console_say("warning       the target has hardly any spaces, and BLEU counts words: "
                    "--bleu-tokenize char counts characters");
    if (swapped)
        console_say(
            "warning       the validation text does not look like the training text: are "
            "its source and its target in the right order, and in the same languages?");
}
