/* file.c -- files that are replaced in one instant, and folders; see file.h. */
#include "base/file.h"

#include <fcntl.h>
#include <libgen.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/grow.h"

volatile sig_atomic_t file_stop;

bool file_is(int fd, const char *path)
{
    struct stat open_one, named;
    return !fstat(fd, &open_one) && !stat(path, &named) && open_one.st_ino == named.st_ino &&
           open_one.st_dev == named.st_dev;
}

/* Removes the temporary file; the old file stays. */
static void abandon(AtomicFile *file)
{
    if (file->temporary && file_is(file->fd, file->temporary)) unlink(file->temporary);
    if (file->fd >= 0) close(file->fd);
    free(file->temporary);
    free(file->path);
    *file = (AtomicFile){.fd = -1};
}

/* Sets the error, abandons the file, returns false. */
static bool fail(AtomicFile *file, const char *doing, Error *error)
{
    int reason = errno;
    error_set(error, "cannot %s '%s': %s", doing, file->path ? file->path : "a file",
              strerror(reason));
    abandon(file);
    return false;
}

#define TEMPORARY ".tmp-"

char *file_temporary(const char *path, int *fd)
{
    for (unsigned digits = (unsigned)getpid();; digits++) {
        char *name;
        if (getentropy(&digits, sizeof digits)) {}
        if (asprintf(&name, "%s" TEMPORARY "%08x", path, digits) < 0) return NULL;
        if (fd) *fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd ? *fd >= 0 : !mkdir(name, 0777)) return name;
        free(name);
        if (errno != EEXIST) return NULL;
    }
}

bool file_is_temporary(const char *name, const char *path)
{
    size_t length = strlen(path), mark = strlen(TEMPORARY);
    return !strncmp(name, path, length) && !strncmp(name + length, TEMPORARY, mark) &&
           strspn(name + length + mark, "0123456789abcdef") == 8 && !name[length + mark + 8];
}

/* All signals wait until ppoll, which lets them in: none comes between the test and the waiting. */
bool file_wait(int fd, short event)
{
    struct pollfd one = {.fd = fd, .events = event};
    sigset_t all, before;
    bool reads = event == POLLIN;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (!(reads && file_stop) && ppoll(&one, 1, NULL, &before) < 0 && errno == EINTR) {}
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return !(reads && file_stop);
}

bool file_begin(AtomicFile *file, const char *path, Error *error)
{
    *file = (AtomicFile){.fd = -1};
    bool replaces;
    if (!file_exists(&replaces, path, error)) return false;
    file->path = realpath(path, NULL);
    if (!file->path) file->path = strdup(path);
    if (!file->path) return fail(file, "write", error);

    if (!strcmp(path, "-")) {
        file->fd = dup(STDOUT_FILENO);
        return file->fd >= 0 || fail(file, "write", error);
    }
    struct stat old;
    if (replaces && stat(file->path, &old)) return fail(file, "write", error);
    if (replaces && !S_ISREG(old.st_mode)) {
        file->fd = open(file->path, O_WRONLY | O_CLOEXEC | O_NONBLOCK);
        if (file->fd >= 0) return !fcntl(file->fd, F_SETFL, 0) || fail(file, "write", error);
        bool pipe = S_ISFIFO(old.st_mode) && errno == ENXIO;
        fail(file, "write", error);
        return pipe &&
               error_set(error, "cannot write '%s': it is a pipe that nobody reads, not a file",
                         path);
    }
    file->temporary = file_temporary(file->path, &file->fd);
    if (!file->temporary) return fail(file, "write", error);
    if (replaces && fchmod(file->fd, old.st_mode & 07777)) return fail(file, "write", error);
    return true;
}

bool file_write(AtomicFile *file, const void *bytes, size_t length, Error *error)
{
    const char *next = bytes;
    while (length) {
        ssize_t written = write(file->fd, next, length);
        if (written < 0 && (errno == EINTR || errno == EAGAIN) && file_wait(file->fd, POLLOUT))
            continue;
        if (written < 0) return fail(file, "write", error);
        next += written;
        length -= (size_t)written;
    }
    return true;
}

/* Some file systems cannot fsync a folder and return EINVAL; that counts as success. */
static bool sync_folder_of(const char *path)
{
    char *copy = strdup(path);
    if (!copy) return false;
    int fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    free(copy);
    if (fd < 0) return false;
    bool synced = !fsync(fd) || errno == EINVAL;
    int reason = errno;
    close(fd);
    errno = reason;
    return synced;
}

bool file_commit(AtomicFile *file, Error *error)
{
    if (file->temporary) {
        if (fsync(file->fd)) return fail(file, "write", error);
        errno = ENOENT;  // the folder was moved
        if (!file_is(file->fd, file->temporary) || rename(file->temporary, file->path))
            return fail(file, "replace", error);
        free(file->temporary);
        file->temporary = NULL;
        if (!sync_folder_of(file->path)) return fail(file, "sync the folder of", error);
    }
    int fd = file->fd;
    file->fd = -1;
    if (close(fd)) return fail(file, "write", error);
    abandon(file);
    return true;
}

bool file_replace(const char *path, const void *bytes, size_t length, Error *error)
{
    AtomicFile file;
    return file_begin(&file, path, error) && file_write(&file, bytes, length, error) &&
           file_commit(&file, error);
}

int file_open(const char *path, int flags, Error *error)
{
    struct stat found = {0};
    int fd = open(path, flags | O_CLOEXEC | O_NONBLOCK, 0666), reason = errno;
    if (fd >= 0 && !fstat(fd, &found) && S_ISREG(found.st_mode)) return fd;
    error_set(error, "cannot %s '%s': %s", flags & O_WRONLY ? "write" : "read", path,
              S_ISDIR(found.st_mode)       ? "it is a folder, not a file"
              : fd >= 0 || reason == ENXIO ? "it is a device or a pipe, not a file"
                                           : strerror(reason));
    if (fd >= 0) close(fd), reason = EINVAL;
    errno = reason;
    return -1;
}

FILE *file_append(const char *path, Error *error)
{
    int fd = file_open(path, O_WRONLY | O_APPEND | O_CREAT, error);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "a");
    if (fd >= 0 && !file) close(fd), error_memory(error, "to write '%s'", path);
    return file;
}

/* Reads and closes the descriptor, in growing steps: a pipe has no size and that of a file may change. */
static char *read_all(int fd, const char *path, size_t limit, size_t *length, Error *error)
{
    enum { STEP = 1 << 16 };
    char *bytes = NULL;
    size_t size = 0, used = 0;
    ssize_t got = -1;
    while (fd >= 0 && used <= limit && GROW(bytes, size, used + STEP)) {
        got = read(fd, bytes + used, size - used - 1);
        if (got > 0) used += (size_t)got;
        else if (got == 0 || !((errno == EINTR || errno == EAGAIN) && file_wait(fd, POLLIN)))
            break;
    }
    int reason = errno;
    if (fd >= 0) close(fd);
    if (used <= limit && got == 0) {
        bytes[used] = '\0';
        if (length) *length = used;
        return bytes;
    }
    if (used > limit)
        error_set(error, "'%s' is larger than the %zu bytes that such a file may have", path,
                  limit);
    else error_set(error, "cannot read '%s': %s", path, strerror(reason));
    free(bytes);
    return NULL;
}

char *file_read(const char *path, size_t limit, size_t *length, Error *error)
{
    int fd = file_open(path, O_RDONLY, error);
    return fd < 0 ? NULL : read_all(fd, path, limit, length, error);
}

char *file_read_input(const char *path, size_t limit, size_t *length, Error *error)
{
    int fd = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC) : dup(STDIN_FILENO);
    return read_all(fd, path, limit, length, error);
}

bool file_exists(bool *exists, const char *path, Error *error)
{
    struct stat found;
    *exists = !stat(path, &found);
    int reason = errno;
    if (*exists || (reason == ENOENT && lstat(path, &found))) return true;
    return error_set(error, "cannot open '%s': %s", path,
                     reason == ENOENT ? "it is a link to a file that is missing; is a disk not "
                                        "mounted?"
                                      : strerror(reason));
}

bool file_is_pipe(const char *path)
{
    struct stat about;
    return !strcmp(path, "-") || !strncmp(path, "/dev/fd/", 8) ||
           !strncmp(path, "/proc/self/fd/", 14) ||
           (!stat(path, &about) && (S_ISFIFO(about.st_mode) || S_ISCHR(about.st_mode)));
}

char *file_read_or_empty(const char *path, size_t limit, size_t *length, Error *error)
{
    bool exists;
    if (!file_exists(&exists, path, error)) return NULL;
    if (exists) return file_read(path, limit, length, error);
    if (length) *length = 0;
    char *empty = strdup("");
    if (!empty) error_set(error, "cannot read '%s': %s", path, strerror(errno));
    return empty;
}

bool stream_flush(FILE *out, const char *what, Error *error)
{
    return (fflush(out) == 0 && !ferror(out)) ||
           error_set(error, "cannot write %s: %s", what, strerror(errno));
}

bool file_replace_text(const char *path, char *text, Error *error)
{
    bool good = text ? file_replace(path, text, strlen(text), error)
                     : error_memory(error, "to write '%s'", path);
    free(text);
    return good;
}

bool folder_make(const char *path, Error *error)
{
    if (!*path) return error_set(error, "cannot make a folder without a name");
    char *part = strdup(path);
    if (!part) return error_memory(error, "for the name of a folder");
    bool made = true;
    for (size_t i = 1; made && path[i - 1]; i++) {
        if (path[i] && path[i] != '/') continue;
        struct stat found = {0};
        part[i] = '\0';
        int reason = mkdir(part, 0777) ? errno : 0;
        if (reason && stat(part, &found))
            made = error_set(error, "cannot make the folder '%s': %s", path, strerror(reason));
        else if (reason && !S_ISDIR(found.st_mode))
            made =
                error_set(error, "cannot make the folder '%s': '%s' is there and is no folder",
                          path, part);
        part[i] = path[i];
    }
    free(part);
    return made;
}

bool folder_possible(const char *path, Error *error)
{
    bool exists;
    if (!file_exists(&exists, path, error)) return false;
    char *part = strdup(path);
    if (!part) return error_memory(error, "for the name of a folder");
    while (access(part, F_OK)) {
        char *slash = strrchr(part, '/');
        if (slash) slash[slash == part] = '\0';
        else strcpy(part, ".");
    }
    bool good =
        !access(part, W_OK) || error_set(error, "cannot make the folder '%s' in '%s': %s", path,
                                         part, strerror(errno));
    free(part);
    return good;
}

bool file_of_program(char *path, size_t size, int up, const char *name)
{
    char program[4096];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    for (; up >= 0; up--)
        while (length > 0 && program[--length] != '/') {}
    if (length >= 0) snprintf(path, size, "%.*s/%s", (int)length, program, name);
    return length >= 0 && access(path, R_OK) == 0;
}

bool file_of_toy(char *path, size_t size, const char *name)
{
    char built[256], installed[256];
    snprintf(built, sizeof built, "data/toy/%s", name);
    snprintf(installed, sizeof installed, "share/qkv/toy/%s", name);
    snprintf(path, size, "%s", built);
    return access(path, R_OK) == 0 || file_of_program(path, size, 0, built) ||
           file_of_program(path, size, 1, installed);
}
