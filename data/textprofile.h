/* textprofile.h -- what the source side of a training text was like: what a model has learned to
 * read. Checkpoints hold it as JSON (checkpoints/README.md). */
#pragma once

#include "data/corpus.h"

enum { PROFILE_LENGTHS = 4 };

typedef struct TextProfile {
    bool known;                   // false: of a checkpoint that has none
    char *language;               // "en", as the file's name says; or NULL
    int length[PROFILE_LENGTHS];  // tokens that 50, 90, 95 and 99 % of the lines have at most
    /* Shares of the lines: with several sentences, in capitals, in title case, … */
    double sentences, upper, title;
    double
        numbers;  // without letters, or whose first span (data/spans.h), such as a number, is
                  // none of the translation's: "25 may 2014" becomes "2014-05-25"
    double tags;  // that begin with a tag (data/tokenizer.h)
    double doubtful;  // 2 % of the validation's translations have a lower log p / length, or
                      // fewer where that is above ln 0.8; 0: unknown
    /* Not of the text, but of what was learned from it, counted from 1: the head of cross-attention
     * that aligns words best (commands/train/run.h). 0: unknown. */
    int aligning_layer, aligning_head;
    /* That it has, sorted. A mark (textprofile_is_mark) is left out if there is less than one for
     * a hundred of ", ' and -. */
    char *characters;
} TextProfile;

/* language (=) "fr" of "data/train.fr.gz"; "" of a name that says none */
void textprofile_language(char language[3], const char *path);

/* Reads the source text, whose first file is `path`, before it is encoded. Shares are of at most
 * 20,000 lines, spread evenly. Free it even if this fails. */
bool textprofile_read(TextProfile *profile, const CorpusText *text, const char *path,
                      Error *error);
void textprofile_free(TextProfile *profile);  // allowed on {0}

/* Sets the characters of the source text; those of the tokenizer's tags do not count. */
bool textprofile_characters(TextProfile *profile, const CorpusText *text,
                            const Tokenizer *tokenizer, Error *error);

/* Sets the lengths, and the share of tags. */
bool textprofile_count(TextProfile *profile, const Corpus *corpus, const Tokenizer *tokenizer,
                       Error *error);

/* Whether the text had a character: a Known (data/typography.h), whose context is a profile. */
bool textprofile_has(const void *profile, unsigned character);

/* Whether it is a quotation mark, apostrophe or dash beyond ASCII. */
bool textprofile_is_mark(unsigned character);

/* For free(); NULL if memory is short, or the profile is not known. */
char *textprofile_to_json(const TextProfile *profile);

/* text NULL: not known. `source` is its name in errors. */
bool textprofile_from_json(TextProfile *profile, const char *text, const char *source,
                           Error *error);
