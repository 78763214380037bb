/* temporary.c -- files and folders for a moment; see temporary.h. */
#include "base/temporary.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What mkstemp and mkdtemp fill in. */
static void pattern(char path[TEMPORARY_SIZE])
{
    const char *folder = getenv("TMPDIR"), *name = "/qkv-XXXXXX";
    if (!folder || !*folder || strlen(folder) + strlen(name) >= TEMPORARY_SIZE)
        folder = P_tmpdir;
    snprintf(path, TEMPORARY_SIZE, "%s%s", folder, name);
}

bool temporary_folder(char path[TEMPORARY_SIZE], Error *error)
{
    pattern(path);
    return mkdtemp(path) ||
           error_set(error, "cannot make a temporary folder: %s", strerror(errno));
}

int temporary_file(char path[TEMPORARY_SIZE], Error *error)
{
    pattern(path);
    int fd = mkstemp(path);
    if (fd < 0) error_set(error, "cannot make a temporary file: %s", strerror(errno));
    return fd;
}
