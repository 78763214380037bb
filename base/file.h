/* file.h -- files that are replaced in one instant, folders, and reading.
 *
 * An AtomicFile is written under a new name (file_temporary), in the same folder and so on the
 * same disk, and then
 *
 *     fsync(file)     the bytes are on the disk before the name points at them
 *     rename          POSIX: at every instant PATH is the old file or the new one
 *     fsync(folder)   the new name is on the disk too
 *
 * so neither kill -9 nor a power cut leaves half a file. What is there under a temporary name is
 * never opened or followed. If the folder is moved before the rename, that fails: nothing is
 * written into another folder that has its name. A symbolic link at PATH is followed. A pipe or
 * /dev/stdout cannot be replaced and is written directly; so is standard output, "-". */
#pragma once

#include "base/error.h"

#include <signal.h>

typedef struct AtomicFile {
    int fd;
    char *path;       // of the file to replace
    char *temporary;  // NULL: written directly
} AtomicFile;

/* These three close and remove everything if they fail. */
bool file_begin(AtomicFile *file, const char *path, Error *error);
bool file_write(AtomicFile *file, const void *bytes, size_t length, Error *error);
bool file_commit(AtomicFile *file, Error *error);

/* Whether the path names the open file: it may have been moved, removed or replaced. */
bool file_is(int fd, const char *path);

/* Begins, writes and commits. */
bool file_replace(const char *path, const void *bytes, size_t length, Error *error);

/* The same for a text, which it frees. Pass NULL if there was not enough memory to build it: that
 * is reported as an error. */
bool file_replace_text(const char *path, char *text, Error *error);

/* Makes the file, or if `fd` is NULL the folder, that will be renamed to `path`: "PATH.tmp-" and eight
 * random hexadecimal digits, where nothing is yet. Returns its name, for free(); NULL with errno. */
char *file_temporary(const char *path, int *fd);

/* Whether `name` is such a name for `path`. */
bool file_is_temporary(const char *name, const char *path);

/* Opens a regular file, with the flags of open(): a program's own, in a folder of a model or a run.
 * What can be waited for, a pipe or a device, is an error: -1, with errno. */
int file_open(const char *path, int flags, Error *error);
FILE *file_append(const char *path, Error *error);  // to append to it, or to a new one

/* Reads such a file as a whole, of at most `limit` bytes. A NUL byte follows them. For free(); NULL on
 * error. `length` may be NULL. */
char *file_read(const char *path, size_t limit, size_t *length, Error *error);

/* The same of an input that the user names: it may be a pipe, and "-" is standard input. */
char *file_read_input(const char *path, size_t limit, size_t *length, Error *error);

/* The signal that asks the program to end, set by its handler; 0: none. file_wait waits until a
 * descriptor can be read (POLLIN) or written (POLLOUT). When there is such a signal, reading is no
 * longer waited for: false, at once. */
extern volatile sig_atomic_t file_stop;
bool file_wait(int fd, short event);

/* *exists (=) whether there is a file. An error: it cannot be known, or it is a link to a file
 * that is missing. */
bool file_exists(bool *exists, const char *path, Error *error);

/* Whether it is a pipe, a device or standard input, "-", which cannot be read a second time. */
bool file_is_pipe(const char *path);

/* The same as file_read, but a file that does not exist is empty. */
char *file_read_or_empty(const char *path, size_t limit, size_t *length, Error *error);

/* Flushes a stream. False if this or an earlier write failed: "cannot write WHAT: …". */
bool stream_flush(FILE *out, const char *what, Error *error);

/* Makes a folder and the missing ones above it. */
bool folder_make(const char *path, Error *error);

/* Whether folder_make can make it, as far as can be said before. */
bool folder_possible(const char *path, Error *error);

/* path (=) a file in the folder `up` levels above the program's. False if it cannot be read. */
bool file_of_program(char *path, size_t size, int up, const char *name);

/* path (=) a file of data/toy: in the working folder, else in the program's folder, else in
 * ../share/qkv/toy of an installed program. False if none of them can be read. */
bool file_of_toy(char *path, size_t size, const char *name);
