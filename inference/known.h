/* known.h -- which characters and words a model knows, by its vocabulary and by what its checkpoint says of
 * the training text; and the spans of a sentence that depend on it. */
#pragma once

#include "data/spans.h"
#include "inference/bundle.h"

enum { KNOWN_UNKNOWN = 1000 };  // tokens that <unk> counts as

typedef struct KnownText {
    const Tokenizer *tokenizer;  // of the source
    const TextProfile *profile;
    bool small;             // the training text had no capitals
    unsigned char *answer;  // of each character: 0 not asked yet, 1 known, 2 unknown
} KnownText;

/* The bundle must outlive it. Close it even if this fails. */
bool known_open(KnownText *known, const Bundle *bundle, Error *error);
void known_close(KnownText *known);

/* Whether a character becomes tokens other than <unk>; bytes, and marks like “ and –, only if the
 * training text had them. A capital letter is known if its small one is, which a text in capitals
 * is lowered to. A vocabulary of words knows all that show. A Known; known: a KnownText. */
bool known_character(const void *known, unsigned character);

/* The number of tokens of a word; an <unk> counts as KNOWN_UNKNOWN of them. *last (=) the last of them,
 * unless NULL. */
size_t known_tokens(const KnownText *known, int *last, const char *word, size_t length);

/* *lowered (=) a word of a sentence `written` so, in the case that it usually has. One that begins the
 * sentence keeps its capital, unless the model knows words only without. */
bool known_lower(char **lowered, const KnownText *known, const char *word, LetterCase written,
                 bool begins, Error *error);

/* Adds to the spans of a sentence at `begin`, from which they are removed: abbreviations that the model does
 * not know; and around each run of words in capitals that it knows in lower case alone two marks of no
 * length, COPYING_CAPITALS (copying.h). Without other words, *written (=) CASE_UPPER. */
bool known_capitals(Spans *found, LetterCase *written, const KnownText *known,
                    const char *sentence, size_t length, size_t begin, Error *error);

/* Adds to the spans of a sentence "..." and "…", and "--" at its end, unless the model has fewer tokens for
 * them than they have characters. They are marks. */
bool known_dots(Spans *found, const KnownText *known, const char *sentence, size_t length,
                Error *error);
