/* tmx.h -- the translation units of a TMX file (Translation Memory eXchange 1.4b), read by Expat.
 *
 * The languages (xml:lang) are numbered in the order in which the file names them first, from 1. Of a
 * <seg> its text is taken, and that of <hi>; the codes of other inline elements are left out, and a
 * line break becomes a space. */
#pragma once

#include "data/text.h"

typedef struct Tmx Tmx;

/* line: the first one, which the reader has returned. column: the languages of source and target.
 * NULL without memory. */
Tmx *tmx_open(TextReader *reader, const char *line, size_t length, const int column[2]);

/* The next unit, valid until the next call. A side that it does not have is blank. Fails where the
 * XML is not well-formed or ends too early, or is not of TMX. */
TextResult tmx_next(Tmx *tmx, const char *field[2], size_t length[2], Error *error);

void tmx_close(Tmx *tmx);  // or NULL
