/* tmx.h -- the translation units of a TMX file (Translation Memory eXchange 1.4b), read by Expat.
 *
 * The languages (xml:lang) are numbered from 1: first the header's srclang, if the first unit with two
 * languages has it, then the others in the order in which the file names them. The regions of a
 * language count as one, such as en, en-US and EN_GB, unless the languages of that unit differ in
 * nothing else. Of a <seg> its text is taken, and that of <hi>; the codes of other inline elements are
 * left out; a line break, or a code of one (type lb), becomes a space; blanks at the ends go. */
#pragma once

#include "data/text.h"

typedef struct Tmx Tmx;

/* line: the first one, which the reader has returned. The languages of source and target: column,
 * their numbers; or if it is not NULL languages, their names, "en,fr". NULL without memory. */
Tmx *tmx_open(TextReader *reader, const char *line, size_t length, const int column[2],
              const char *languages);

/* The next unit, valid until the next call. A side that it does not have is blank. Fails where the
 * XML is not well-formed or ends too early, or is not of TMX. */
TextResult tmx_next(Tmx *tmx, const char *field[2], size_t length[2], Error *error);

/* text (=) "source en, target fr", and for other than two languages ", of en, de, fr" */
enum { TMX_DESCRIPTION = 200 };
void tmx_describe(char text[TMX_DESCRIPTION], const Tmx *tmx);

void tmx_close(Tmx *tmx);  // or NULL
