/* passage.h -- texts as people paste them, and the sentences in them that the model translates;
 * answer.h has the way back.
 *
 *     text       "- Write to {name}.  It is LATE!\n"
 *     sentences  "Write to <ph1>."  "It is LATE!"      begin .. end; what is between them is kept
 *     ids        one line of IdLines for each sentence
 *
 * A sentence is what segments.h finds, or several of these on one line, if the model was trained on
 * such lines (PassageConfig.split). Tags and emoji in it are left out, and put back beside the word
 * that is aligned with their neighbour. Its other protected spans (spans.h) become placeholders if the
 * vocabulary has any; the search then puts each into the translation exactly once
 * (TranslatorInput.placeholder). Otherwise they stay as they are, and the words that are aligned
 * with a span that is lost are replaced by it (copying.h). A sentence in capitals or in title case
 * is translated in lower case and given back in its own, and so is a word in capitals that the model
 * knows in lower case alone; a short one that it does not know is a span. If the training text had no
 * capitals, all is read in lower case. A tag (data/tokenizer.h) that a text begins with is that of each of
 * its sentences. */
#pragma once

#include "data/segments.h"
#include "data/spans.h"
#include "data/typography.h"
#include "inference/copying.h"
#include "inference/known.h"

typedef enum { SPLIT_AUTO, SPLIT_ALWAYS, SPLIT_NEVER } Split;

typedef struct PassageConfig {
    int split;     // a Split
    bool wrapped;  // a line break inside a paragraph is a space; nothing between 好 and 的
    StringList protect;      // regular expressions
    char *terms;             // a file; or NULL
    double min_score;        // below it a translation is doubtful; 0: as the checkpoint says
    const SpanRules *rules;  // of `protect` and `terms`; NULL: passages_open compiles them
} PassageConfig;

extern const Option passage_options[];
extern const int passage_option_count;

typedef struct Sentence {
    size_t begin, end;   // bytes of the text
    LetterCase written;  // the case it is given back in
    bool follows;        // the sentence before it is on the same line
    bool shouted;        // it has marks around words in capitals (COPYING_CAPITALS)
    int span, spans;     // what is kept: Passages.span[span ..], these and after them
    int marks;           // so many tags and emoji, which the model does not read
    int cut;             // tokens before the sentence was cut; 0: it was not
} Sentence;

typedef struct Passage {
    char *text;
    size_t length,
        tag;        // the bytes of the tag that it begins with, and those after it up to a word
    char *typed;    // the text before its lines were joined, and the byte there of each byte
    size_t *place;  // [length + 1] of the text; NULL if none were
    int first, count;    // its sentences; none if nothing is to translate
    long long line;      // its number, for the caller
    StringList unknown;  // words and characters that the model does not know
} Passage;

typedef struct Passages {
    /* the caller may set, after passages_open */
    bool whole;  // a text is one sentence, and its translation is given
    bool plain;  // no spans, no other case; true of a model that translates numbers
    bool kept;   // the next text has nothing to translate
    const IdLines
        *begun;  // of each sentence's translation, its beginning, or all that is given, with
                 // the unknown words; or NULL
    /* set by passages_open */
    bool numbers;  // the model translates them (TextProfile.numbers): a line is read as it is
    const Bundle *bundle;
    const PassageConfig *config;
    KnownText known;  // by the tokenizer of the source
    int placeholder;  // the vocabulary's first, for TranslatorInput; 0: there are none
    const SpanRules *rules;
    SpanRules *own;     // the same, unless the configuration has them
    Segments segments;  // of the last text
    int *word,
        *character;   // the word of each of its bytes; its character, or NULL if not needed
    const int *unit;  // what its tokens count: one of these two
    Spans found;      // of the last sentence
    /* the texts so far */
    IdLines lines;       // the sentences
    Sentence *sentence;  // [lines.count]
    CopySpan *span;      // one of no tokens is a mark, or was cut
    Passage *passage;    // [count]
    int count, spans;
    size_t sentence_size, span_size, passage_size;  // allocated
} Passages;

/* Compiles the rules. The bundle and the configuration must outlive the passages. */
bool passages_open(Passages *passages, const Bundle *bundle, const PassageConfig *config,
                   Error *error);

/* Fails if the text begins with no tag, but nearly all lines of the training text did. */
bool passages_add(Passages *passages, const char *text, size_t length, Error *error);
void passages_clear(Passages *passages);  // keeps the rules and the memory
void passages_free(Passages *passages);   // does nothing for {0}

/* Adds the unknown words of lines first .. end-1, without the punctuation around them. The list then
 * has each of its words once. */
bool unknown_words(StringList *words, const IdLines *lines, int first, int end, Error *error);

/* The place of a byte in the text as it was added. */
static inline size_t passage_place(const Passage *passage, size_t byte)
{
    return passage->place ? passage->place[byte] : byte;
}

/* The span that a placeholder of a sentence or of its translation stands for; NULL if `id` is none.
 * seen: {0}, and the same for all of its tokens in their order. */
const CopySpan *passages_span(const Passages *passages, const Sentence *sentence, int id,
                              int seen[PLACEHOLDERS]);
