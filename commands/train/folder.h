/* folder.h -- the folder of a run, into which one process writes at a time.
 *
 * Its file .lock is empty, and locked while a process writes into the folder. It is made first, and
 * so it tells the folder of a run from others. The system removes the lock when the process ends; its
 * children, which may outlive it for a moment, have no part in a lock of fcntl. */
#pragma once

#include <limits.h>
#include <stdio.h>

#include "base/error.h"

typedef struct RunFolder {
    const char *path;
    FILE *lock;  // ".lock" in it, locked until the process ends; NULL: not now
} RunFolder;

/* Returns path (=) "FOLDER/name"; folder_lock has checked that it is not too long. */
const char *folder_file(char path[PATH_MAX], const RunFolder *folder, const char *name);

/* Locks the folder, if it exists and is not locked yet; with `dry_run` only checks. Refuses a new
 * run, unless the folder is `ours`, where a best model is, or files without the .lock of a run. */
bool folder_lock(RunFolder *folder, bool ours, bool dry_run, Error *error);
void folder_unlock(RunFolder *folder);

/* Whether the path still names the folder that is locked. False with an error if the folder was
 * moved; without one if it or its .lock was removed, which unlocks it. */
bool folder_hold(RunFolder *folder, Error *error);

/* Whether the folder has files. With `tidy`, removes the temporary ones of a run that was killed. */
bool folder_scan(const RunFolder *folder, bool tidy);
