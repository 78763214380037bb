/* temporary.h -- files and folders that are there for a moment only: below TMPDIR where that is
 * set, else where the system keeps such (P_tmpdir). Whoever asked for one removes it. */
#ifndef BASE_TEMPORARY_H
#define BASE_TEMPORARY_H

#include "base/error.h"

enum { TEMPORARY_SIZE = 256 };

/* path (=) that of a new, empty folder. */
bool temporary_folder(char path[TEMPORARY_SIZE], Error *error);

/* path (=) that of a new, empty file; returns its descriptor, or -1. */
int temporary_file(char path[TEMPORARY_SIZE], Error *error);

#endif
