/* textcheck.h -- what ./train says of a corpus that is not what it should be. */
#pragma once

#include "commands/train/settings.h"
#include "data/corpuscheck.h"
#include "data/vocabulary.h"

/* What a vocabulary does to characters: lines that name the most frequent ones and how often they
 * are in the text; NULL: none. */
typedef struct CharacterCheck {
    char *lost;       // that have no token
    char *changed;    // beyond ASCII, that its normalisation replaces by others, or drops
    size_t controls;  // how often there are U+0080 to U+009F
    size_t twice;     // and Ã©, UTF-8 that was encoded twice
} CharacterCheck;

typedef struct TextCheck {
    CorpusCheck train, valid;  // valid: of files; {0} for pairs held out
    bool swapped;              // corpus_swapped, of validation files
    char *tags;                // of a new run: ">>fra<< (48), >>deu<< (48)"; NULL: none
    size_t untagged;           // validation sentences without a tag that the model learns,
                               // if nine of ten training sentences have one
    CharacterCheck
        characters[SIDES];  // with a joint vocabulary the source's alone, of both sides
} TextCheck;

/* check (=) that of a text, each of its files by itself. Fails, but for `force`, if it is not one to
 * train on or to validate with: its sides have slipped or are unrelated, or the same in the training
 * text, or one of them is no text. */
bool textcheck(CorpusCheck *check, const CorpusText *text, const CorpusFiles *files,
               const Settings *settings, Error *error);

/* Checks the characters and, if the run is new, the tags (data/tokenizer.h). Fails, but for `force`,
 * if the vocabulary has no token for a tag; and if `tag` is given and there is none. */
bool textcheck_vocabulary(TextCheck *check, const CorpusText *text, const CorpusText *valid,
                          const Vocabulary *vocabulary, bool is_new, const Settings *settings,
                          Error *error);

/* Says what is strange in texts of so many pairs, but did not fail. */
void textcheck_report(const TextCheck *check, size_t pairs, size_t valid_pairs,
                      const Settings *settings);

void textcheck_free(TextCheck *check);
