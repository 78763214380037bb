/* typography.h -- characters as the model knows them, and the case of letters.
 *
 * All functions take valid UTF-8, one piece of text at a time (what lies between two spans,
 * data/spans.h), and take time in proportion to its length. *out is malloc'ed and ends in NUL;
 * false means that memory is short.
 *
 * Letters change case as in ICU's root locale, that is without regard to a language. What a
 * round trip through capitals loses:
 *
 *   German   STRASSE becomes strasse, not straße (but STRAßE counts as capitals: straße)
 *   Turkish  I becomes i, not ı, unless `dotless`; İ becomes i
 *   Dutch    IJSLAND becomes ijsland; capitalised it is Ijsland, not IJsland
 *   Greek    capitals keep no accents that were not there; a final Σ becomes ς */
#pragma once

#include "base/error.h"

/* Whether the model knows a character: its training text had it. NULL: all are known. */
typedef bool Known(const void *context, unsigned character);

/* *out (=) the text in normal form C without soft hyphens, zero-width spaces, word joiners and
 * byte order marks, nor other invisible characters that are not known. A quotation mark, dash,
 * ellipsis, space, ligature, full-width or presentation form that is not known becomes the
 * nearest that is. U+200C and U+200D (joiners) stay only after an emoji, or a letter of a script in
 * which they change something (not Latin, Greek, Cyrillic, Armenian, Georgian); what has no near
 * character stays. */
bool text_cleaned(char **out, const char *text, size_t length, Known *known,
                  const void *context, Error *error);

/* Whether all characters are known; white space and joiners always are. */
bool text_is_known(const char *text, size_t length, Known *known, const void *context);

/* The bytes of the first character as people see it: a letter with its marks, an emoji with all
 * that changes it, at most 32 code points. length > 0. */
size_t text_cluster(const char *text, size_t length);

typedef enum { CASE_SENTENCE, CASE_UPPER, CASE_TITLE, CASE_HEADLINE } LetterCase;

/* The case of a sentence, from which the spans are removed.
 *
 *   CASE_UPPER     two letters or more, none of them lower case, in two words or of four letters;
 *                  or three words and more in capitals, one of them of five letters, and one other
 *                  for three of them at most: not "USA, UK and EU"
 *   CASE_TITLE     each word begins with a capital, and three or more of them have small letters
 *                  after it, or nothing: "I Saw Le Louvre", not "Die Katze und der Hund" or
 *                  "Is Tom OK?". What follows a hyphen or apostrophe is no word of its own.
 *   CASE_HEADLINE  the same of four words and more, but English ones like "of" and "the" are small:
 *                  "A Man in a Red Shirt", not "Ein Mann in Rot"
 *
 * "5pm" and "2nd" count for neither.
 *
 * A sentence of names is CASE_TITLE as well ("Guten Morgen, Frau Weber"): text_lowered then
 * keeps the capitals, and if it changes nothing, the sentence is as usual. */
LetterCase text_case(const char *text, size_t length);

/* Whether a word that begins with a capital ("Mary", "I") should keep it. */
typedef bool Capitalised(const void *context, const char *word, size_t length);

/* *out (=) text of this case as in a sentence: "Do you know Mary?". But for CASE_UPPER, words with
 * other capitals than the first stay ("NATO"). The first letter stays if the text `begins` the
 * sentence. capitalised: which other words do; it is asked for both parts of "D'ANNA", but not
 * for one or two letters after an apostrophe (DON'T). NULL: none. dotless: I becomes ı, as in Turkish. */
bool text_lowered(char **out, const char *text, size_t length, LetterCase from, bool begins,
                  bool dotless, Capitalised *capitalised, const void *context, Error *error);

/* *out (=) text in capitals, or with a capital at the beginning of each word, or as it is. language:
 * "tr" and "az" have İ of i, "el" no accents in capitals; "" if it is not known. */
bool text_in_case(char **out, const char *text, size_t length, LetterCase to,
                  const char *language, Error *error);
