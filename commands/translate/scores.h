/* scores.h -- scores of translations against files of references, line by line: BLEU, chrF2, chrF2++
 * and TER, of one system or of several, and whether these differ by more than chance. */
#pragma once

#include "commands/translate/request.h"
#include "data/text.h"
#include "data/vocabulary.h"
#include "data/words.h"
#include "scores/significance.h"

/* What made the translations. */
typedef struct System {
    const char *name;  // of its file; NULL: this program
    Statistics total;
    Statistics *segment;  // [segments], if they are kept
    size_t size;          // allocated
    bool differs;         // in a line from the first system
} System;

/* The sum of the translations whose source begins with a tag, such as ">>fra<<". */
typedef struct TagScores {
    char *tag;
    int lines;
    Statistics total;
    Spacing spacing;  // of the references
} TagScores;

typedef struct Scores {
    const Request *request;
    Statistics none;             // of no line
    const Tokenizer *tokenizer;  // of the model; NULL without one
    Vocabulary vocabulary;       // of --bleu-model, or {0}
    System *system;              // [systems]
    TextReader *reference;       // [references], and then the files of hypotheses
    int systems, references, files;
    TagScores *tag;   // [tags]
    size_t tag_size;  // allocated
    int tags;
    int segments;         // kept: lines, or documents
    bool in_document;     // the next line belongs to the last of these
    Error failure;        // why a translation was not scored: none after it is
    Spacing spacing;      // of the references
    bool text;            // one of these is not blank
    size_t given, other;  // references; of these, with words that the model writes otherwise
} Scores;

/* Opens the references that the request names. tokenizer: that of the model, for spm; NULL without
 * one. Close it, even if this fails. */
bool scores_open(Scores *scores, const Request *request, const Tokenizer *tokenizer,
                 Error *error);
void scores_close(Scores *scores);  // does nothing for {0}

/* Adds a translation by each system of the next line of the references, unless a text is longer than
 * CODEPOINTS_LIMIT: that is said on standard error. tag: of the source, its first tag_length bytes; a
 * length of 0: it has none. Returns false after a failure, which scores_end reports. */
bool scores_add(Scores *scores, const char *const *hypothesis, const char *tag,
                size_t tag_length);

/* Adds all lines of the files of translations. */
bool scores_add_files(Scores *scores, Error *error);

/* Prints four lines of text a system and one for each tag, or one JSON object. Fails if there are
 * more references. */
bool scores_end(Scores *scores, FILE *out, bool json, Error *error);
