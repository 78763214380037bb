/* folder.c -- the folder of a run; see folder.h. */
#include "commands/train/folder.h"

#include "base/file.h"
#include "commands/train/console.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LONGEST_NAME = 64 };  // of a file in the folder

const char *folder_file(char path[PATH_MAX], const RunFolder *folder, const char *name)
{
    snprintf(path, PATH_MAX, "%s/%s", folder->path, name);
    return path;
}

bool folder_scan(const RunFolder *folder, bool tidy)
{
    static const char *const files[] = {
        "last.safetensors", "best.safetensors", "config.json", "metrics.jsonl", "loss.png",
        "attention.png",    "weights.tsv",      "weights.png", "watch.jsonl",   "watch.png"};
    bool any = false;
    DIR *stream = opendir(folder->path);
    for (struct dirent *entry; stream && (entry = readdir(stream));) {
        const char *name = entry->d_name;
        for (size_t i = 0; tidy && i < sizeof files / sizeof *files; i++)
            if (file_is_temporary(name, files[i])) unlinkat(dirfd(stream), name, 0);
        any |= strcmp(name, ".") && strcmp(name, "..");
    }
    if (stream) closedir(stream);
    return any;
}

bool folder_lock(RunFolder *folder, bool ours, bool dry_run, Error *error)
{
    char lock[PATH_MAX], last[PATH_MAX], best[PATH_MAX];
    struct stat found;
    if (folder->lock) return true;
    if (strlen(folder->path) + LONGEST_NAME >= PATH_MAX)
        return error_set(error, "'%.100s…' is too long a path", folder->path);
    bool begun = ours || !lstat(folder_file(last, folder, "last.safetensors"), &found);
    if (!begun && !lstat(folder_file(best, folder, "best.safetensors"), &found))
        return error_set(error,
                         "'%s' is there and last.safetensors is not: a new training needs "
                         "another --output, and can begin with this model (--init %s)",
                         best, best);
    folder_file(lock, folder, ".lock");
    if (!begun && lstat(lock, &found) && folder_scan(folder, false))
        return error_set(error,
                         "'%s' has files that are not of a training: give --output an empty "
                         "folder, or one that is not there",
                         folder->path);
    bool there;
    if (dry_run) return true;
    if (!file_exists(&there, lock, error)) return false;
    folder->lock = file_append(lock, error);
    if (!folder->lock) return errno == ENOENT;
    struct flock all = {.l_type = F_WRLCK};
    if (!fcntl(fileno(folder->lock), F_SETLK, &all)) return true;
    if (errno == EACCES || errno == EAGAIN)
        return error_set(error,
                         "another training runs in '%s': wait until it has ended, or give "
                         "another --output",
                         folder->path);
    error_set(error, "cannot lock '%s': %s; a second training there would not be noticed", lock,
              strerror(errno));
    console_error("warning: ", error, "");
    return true;
}

void folder_unlock(RunFolder *folder)
{
    if (folder->lock) fclose(folder->lock);
    folder->lock = NULL;
}

bool folder_hold(RunFolder *folder, Error *error)
{
    char path[PATH_MAX];
    struct stat locked;
    if (!folder->lock) return false;
    int fd = fileno(folder->lock);
    if (!fstat(fd, &locked) && !locked.st_nlink) return folder_unlock(folder), false;
    if (file_is(fd, folder_file(path, folder, ".lock"))) return true;
    return error_set(error, "the folder '%s' was moved: nothing is saved until it is back",
                     folder->path);
}
