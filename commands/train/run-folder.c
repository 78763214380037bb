/* run-folder.c -- the folder of a run, into which one process writes at a time; see run.h.
 *
 * Its file .lock is empty, and locked while a process writes into the folder. It is made first, and
 * so it tells the folder of a run from others. The system removes the lock when the process ends; its
 * children, which may outlive it for a moment, have no part in a lock of fcntl. */
#include "commands/train/run.h"

#include "base/file.h"
#include "commands/train/console.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LONGEST_NAME = 64 };  // of a file in the folder

const char *run_file(char path[PATH_MAX], const Run *run, const char *name)
{
    snprintf(path, PATH_MAX, "%s/%s", run->settings->run.output, name);
    return path;
}

/* Whether the folder has files. With `tidy`, removes the temporary ones of a run that was killed. */
static bool scan(const Run *run, bool tidy)
{
    static const char *const files[] = {
        "last.safetensors", "best.safetensors", "config.json", "metrics.jsonl", "loss.png",
        "attention.png",    "weights.tsv",      "weights.png", "watch.jsonl",   "watch.png"};
    bool any = false;
    DIR *stream = opendir(run->settings->run.output);
    for (struct dirent *entry; stream && (entry = readdir(stream));) {
        const char *name = entry->d_name;
        for (size_t i = 0; tidy && i < sizeof files / sizeof *files; i++)
            if (file_is_temporary(name, files[i])) unlinkat(dirfd(stream), name, 0);
        any |= strcmp(name, ".") && strcmp(name, "..");
    }
    if (stream) closedir(stream);
    return any;
}

/* Whether metrics.jsonl is still the file that this run has opened. */
static bool has_metrics(const Run *run)
{
    return run->metrics.file && file_is(fileno(run->metrics.file), run->metrics.path);
}

bool run_lock(Run *run, Error *error)
{
    const char *folder = run->settings->run.output;
    char lock[PATH_MAX];
    struct stat found;
    if (run->lock) return true;
    if (strlen(folder) + LONGEST_NAME >= PATH_MAX)
        return error_set(error, "'%.100s…' is too long a path", folder);
    bool begun = has_metrics(run) || !lstat(run->last, &found);
    if (!begun && !lstat(run->best, &found))
        return error_set(error,
                         "'%s' is there and last.safetensors is not: a new training needs "
                         "another --output, and can begin with this model (--init %s)",
                         run->best, run->best);
    run_file(lock, run, ".lock");
    if (!begun && lstat(lock, &found) && scan(run, false))
        return error_set(error,
                         "'%s' has files that are not of a training: give --output an empty "
                         "folder, or one that is not there",
                         folder);
    bool there;
    if (run->settings->run.dry_run) return true;
    if (!file_exists(&there, lock, error)) return false;
    run->lock = file_append(lock, error);
    if (!run->lock) return errno == ENOENT && folder_possible(folder, error);
    struct flock all = {.l_type = F_WRLCK};
    if (!fcntl(fileno(run->lock), F_SETLK, &all)) return true;
    if (errno == EACCES || errno == EAGAIN)
        return error_set(error,
                         "another training runs in '%s': wait until it has ended, or give "
                         "another --output",
                         folder);
    error_set(error, "cannot lock '%s': %s; a second training there would not be noticed", lock,
              strerror(errno));
    console_error("warning: ", error, "");
    return true;
}

void run_unlock(Run *run)
{
    if (run->lock) fclose(run->lock);
    run->lock = NULL;
}

bool run_begin(Run *run, Error *error)
{
    Metrics *m = &run->metrics;  // opened already if run_hold makes the folder again
    bool is_new = !run->lock && !has_metrics(run), exists = false;
    if (!folder_make(run->settings->run.output, error) || !run_lock(run, error) ||
        (is_new && !file_exists(&exists, run->last, error)))
        return false;
    if (exists)
        return error_set(error, "another training has just made '%s': give another --output",
                         run->last);
    char path[PATH_MAX];
    if (run->lock) scan(run, true);
    if ((is_new || !run->complete) &&
        !file_replace_text(run_file(path, run, "config.json"),
                           options_to_json(run->settings->groups, SETTINGS_GROUPS, false),
                           error))
        return false;
    if (m->path) return metrics_write(m, error);
    if (!metrics_open(m, run_file(path, run, "metrics.jsonl"), run->progress.update,
                      run->progress.validated, error))
        return false;
    if (m->left_out)
        console_warn("%s has lines that are not of a training (%zu): left out", m->path,
                     m->left_out);
    run->progress.seconds = m->seconds;
    return true;
}

bool run_hold(Run *run, Error *error)
{
    const char *folder = run->settings->run.output;
    char path[PATH_MAX];
    struct stat locked;
    bool removed = !run->lock || (!fstat(fileno(run->lock), &locked) && !locked.st_nlink);
    if (!removed && !file_is(fileno(run->lock), run_file(path, run, ".lock")))
        return error_set(error, "the folder '%s' was moved: nothing is saved until it is back",
                         folder);
    if (removed) {
        run_unlock(run);
        if (!run_begin(run, error)) return run_unlock(run), false;
        run->saved.update = -1;
        error_set(error, "'%s' or its .lock was removed: it is made again", folder);
    } else if (run->metrics.file && !has_metrics(run)) {
        if (metrics_write(&run->metrics, error))
            error_set(error, "'%s' was removed or replaced: it is made again",
                      run->metrics.path);
    } else return true;
    console_error("warning: ", error, "");
    return true;
}

bool run_replace_text(Run *run, const char *path, char *text, Error *error)
{
    if (run_hold(run, error)) return file_replace_text(path, text, error);
    free(text);
    return true;
}
