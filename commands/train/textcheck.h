/* textcheck.h -- what ./train says of a corpus that is not what it should be. */
#pragma once

#include "commands/train/settings.h"
#include "data/corpuscheck.h"
#include "data/vocabulary.h"

/* check (=) that of a text, each of its files by itself. Fails, but for `force`, if it is not one to
 * train on or to validate with: its sides have slipped or are unrelated, or the same in the training
 * text, or one of them is no text. */
bool textcheck(CorpusCheck *check, const CorpusText *text, const CorpusFiles *files,
               const Settings *settings, Error *error);

/* Says what else is strange in it, and quotation marks of spreadsheets in the validation text. swapped:
 * this does not look like it. */
void textcheck_report(const CorpusCheck *check, size_t pairs, const CorpusCheck *valid,
                      size_t valid_pairs, bool swapped, const Settings *settings);

/* The tags of a training text (data/tokenizer.h). */
typedef struct TagCheck {
    char *names;      // ">>fra<< (48), >>deu<< (48)"; NULL: it has none
    size_t untagged;  // sentences of the validation without a tag that the model learns, if
                      // nine of ten training sentences have one
} TagCheck;

/* Fails, but for `force`, if the vocabulary has no token for one of them; and if `tag` is given and
 * there is none. Free the names even then. */
bool textcheck_tags(TagCheck *check, const CorpusText *text, const CorpusText *valid,
                    const Tokenizer *tokenizer, const Settings *settings, Error *error);

/* What a vocabulary does to characters: lines that name the most frequent ones and how often they
 * are in the text; NULL: none. */
typedef struct CharacterCheck {
    char *lost;       // that have no token
    char *changed;    // beyond ASCII, that its normalisation replaces by others, or drops
    size_t controls;  // how often there are U+0080 to U+009F
    size_t twice;     // and Ã©, UTF-8 that was encoded twice
} CharacterCheck;

/* Warns of characters that were read in a wrong encoding, if so many pairs have many of them. */
void textcheck_encoding(const CharacterCheck *check, size_t pairs);

/* Checks one side of the text, or with SIDES both as one. With the type word there is nothing to
 * check. Free the strings even if this fails. */
bool textcheck_characters(CharacterCheck *check, const CorpusText *text,
                          const Vocabulary *vocabulary, CorpusSide side, Error *error);
