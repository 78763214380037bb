/* file.h -- files that are whole or not there, and folders to put them in.
 *
 * An AtomicFile replaces a file in one instant. It is written under "PATH.tmp", in the same folder
 * and so on the same disk, and then
 *
 *     fsync(file)     the bytes are on the disk before the name points at them
 *     rename          POSIX: at every instant PATH is the old file or the new one
 *     fsync(folder)   the new name is on the disk too
 *
 * so neither kill -9 nor a power cut leaves half a file. The temporary name is always the same:
 * what a killed process leaves behind, the next one overwrites. A lock on it (flock) keeps two
 * processes from writing one file at a time. A symbolic link is followed. What is no regular file
 * (a pipe, /dev/stdout) cannot be replaced and is written directly. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include "base/error.h"

#include <stddef.h>
#include <stdio.h>

typedef struct AtomicFile {
    int fd;
    char *path;       // what will be replaced, for the errors too
    char *temporary;  // NULL: written directly
} AtomicFile;

/* Each returns false with a sentence that names the path. After a false from any of them nothing
 * is left to close or to remove. */
bool file_begin(AtomicFile *file, const char *path, Error *error);
bool file_write(AtomicFile *file, const void *bytes, size_t length, Error *error);
bool file_commit(AtomicFile *file, Error *error);

/* Gives up: removes the temporary file, the old one stays. Allowed after an error, too. */
void file_abandon(AtomicFile *file);

/* The three in one, for what is in memory. */
bool file_replace(const char *path, const void *bytes, size_t length, Error *error);

/* Reads a whole file of at most `limit` bytes; a NUL is added behind it. free() it. NULL on error.
 * `length` may be NULL. */
char *file_read(const char *path, size_t limit, size_t *length, Error *error);

/* Whether all that was written to a stream has got out; if not, "cannot write WHAT: …". */
bool stream_flush(FILE *out, const char *what, Error *error);

/* Makes a folder and those above it, where they are missing. */
bool folder_make(const char *path, Error *error);

#endif
