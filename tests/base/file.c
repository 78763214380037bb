/* file.c -- a replaced file is always the whole old file or the whole new one: after kill -9,
 * on a full disk, and with two writers; no other file is touched. Also reading files and making folders. */
#include "tests/fixtures/test.h"
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/rng.h"
#include "tests/fixtures/temporary.h"

static char folder[TEMPORARY_SIZE], path[TEMPORARY_SIZE + 8];
static Error error;

/* The number of temporary files of `path`. */
static int temporaries(void)
{
    char pattern[TEMPORARY_SIZE + 32];
    glob_t found;
    snprintf(pattern, sizeof pattern, "%s.tmp-[0-9a-f]*", path);
    int count = glob(pattern, 0, NULL, &found) ? 0 : (int)found.gl_pathc;
    globfree(&found);
    return count;
}

FIXTURE(make)
{
    if (!temporary_folder(folder, NULL)) return -1;
    snprintf(path, sizeof path, "%s/file", folder);
    return 0;
}

FIXTURE(sweep)
{
    char command[TEMPORARY_SIZE + 16];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

static void holds(const char *expected)
{
    size_t length;
    char *text = file_read(path, 1000, &length, &error);
    assert_non_null(text);
    assert_int_equal(length, strlen(expected));
    assert_string_equal(text, expected);
    free(text);
}

TEST(a_file_is_replaced)
{
    assert_true(file_replace(path, "old", 3, &error));
    holds("old");
    assert_int_equal(chmod(path, 0640), 0);
    AtomicFile file;
    assert_true(file_begin(&file, path, &error));
    assert_int_equal(temporaries(), 1);
    assert_true(file_write(&file, "ne", 2, &error));
    holds("old");
    assert_true(file_write(&file, "w", 1, &error));
    assert_true(file_commit(&file, &error));
    holds("new");
    struct stat found;
    assert_int_equal(stat(path, &found), 0);
    assert_int_equal(found.st_mode & 0777, 0640);
    assert_int_equal(temporaries(), 0);
}

TEST(a_new_file_has_the_permissions_of_umask)
{
    struct stat found;
    mode_t before = umask(027);
    unlink(path);
    assert_true(file_replace(path, "x", 1, &error));
    umask(before);
    assert_int_equal(stat(path, &found), 0);
    assert_int_equal(found.st_mode & 0777, 0640);
}

TEST(two_writers_do_not_meet)
{
    AtomicFile one, two;
    assert_true(file_begin(&one, path, &error));
    assert_true(file_begin(&two, path, &error));
    assert_int_equal(temporaries(), 2);
    assert_true(file_write(&one, "one", 3, &error) && file_write(&two, "second", 6, &error));
    assert_true(file_commit(&two, &error));
    holds("second");
    assert_true(file_commit(&one, &error));
    holds("one");
    assert_int_equal(temporaries(), 0);
}

TEST(a_link_is_followed_and_a_pipe_is_written)
{
    char link[TEMPORARY_SIZE + 8];
    struct stat found;
    snprintf(link, sizeof link, "%s/link", folder);
    assert_int_equal(symlink("file", link), 0);
    assert_true(file_replace(link, "through", 7, &error));
    holds("through");
    assert_int_equal(lstat(link, &found), 0);
    assert_true(S_ISLNK(found.st_mode));

    char pipe_path[TEMPORARY_SIZE + 8], text[8] = {0};
    snprintf(pipe_path, sizeof pipe_path, "%s/pipe", folder);
    assert_int_equal(mkfifo(pipe_path, 0600), 0);
    int reader = open(pipe_path, O_RDONLY | O_NONBLOCK);
    assert_true(file_replace(pipe_path, "text", 4, &error));
    assert_int_equal(read(reader, text, sizeof text), 4);
    assert_string_equal(text, "text");
    close(reader);
    assert_false(file_replace(pipe_path, "text", 4, &error));
    assert_non_null(strstr(error.text, "it is a pipe that nobody reads"));
    assert_null(file_append(pipe_path, &error));
    assert_non_null(strstr(error.text, "it is a device or a pipe, not a file"));
}

TEST(a_link_to_a_file_that_is_missing)
{
    char link[TEMPORARY_SIZE + 8];
    bool exists;
    struct stat found;
    snprintf(link, sizeof link, "%s/gone", folder);
    assert_int_equal(symlink("nowhere/file", link), 0);
    assert_false(file_exists(&exists, link, &error));
    assert_non_null(strstr(error.text, "it is a link to a file that is missing"));
    assert_false(file_replace(link, "x", 1, &error));
    assert_int_equal(lstat(link, &found), 0);
    assert_true(S_ISLNK(found.st_mode));
    assert_true(file_exists(&exists, folder, &error) && exists);
    assert_true(file_exists(&exists, "/no/such/file", &error) && !exists);
}

TEST(a_full_disk_leaves_the_old_file)
{
    assert_true(file_replace(path, "old", 3, &error));
    struct rlimit before, tight;
    getrlimit(RLIMIT_FSIZE, &before);
    tight = (struct rlimit){100, before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &tight);
    signal(SIGXFSZ, SIG_IGN);
    static const char bytes[1000];
    bool good = file_replace(path, bytes, sizeof bytes, &error);
    setrlimit(RLIMIT_FSIZE, &before);
    assert_false(good);
    assert_int_equal(strncmp(error.text, "cannot write '", 14), 0);
    assert_non_null(strstr(error.text, "File too large"));
    holds("old");
    assert_int_equal(temporaries(), 0);
}

/* A child replaces the file in a loop, each time by LENGTH copies of one letter, and is killed
 * after a random time. The file must then hold LENGTH equal letters. */
TEST(killed_at_any_instant_the_file_is_whole)
{
    enum { KILLS = 30, LENGTH = 300000, PART = 1000 };
    Rng rng = rng_stream(9, RNG_TEST, 0);
    int during = 0;
    for (int i = 0; i < KILLS; i++) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            char part[PART];
            for (int k = 0;; k++) {
                AtomicFile file;
                memset(part, 'a' + k % 26, sizeof part);
                if (!file_begin(&file, path, &error)) _exit(1);
                for (int n = 0; n < LENGTH; n += PART)
                    if (!file_write(&file, part, PART, &error)) _exit(1);
                if (!file_commit(&file, &error)) _exit(1);
            }
        }
        struct stat first = {0}, now = {0};
        stat(path, &first);
        do {  // wait until the child has replaced the file once
            usleep(200);
            stat(path, &now);
        } while (now.st_ino == first.st_ino && now.st_mtim.tv_nsec == first.st_mtim.tv_nsec &&
                 waitpid(child, NULL, WNOHANG) == 0);
        usleep(rng_below(&rng, 10000));
        kill(child, SIGKILL);
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);

        during += temporaries() > during;  // each stays
        size_t length;
        char *bytes = file_read(path, LENGTH, &length, &error);
        assert_non_null(bytes);
        assert_int_equal(length, LENGTH);
        for (int n = 0; n < LENGTH; n++) assert_true(bytes[n] == bytes[0]);
        free(bytes);
    }
    assert_true(during > 0);  // at least one kill came during a write
}

TEST(reading_has_a_limit)
{
    assert_true(file_replace(path, "12345", 5, &error));
    char *text = file_read(path, 5, NULL, &error);
    assert_string_equal(text, "12345");
    free(text);
    assert_null(file_read(path, 4, NULL, &error));
    assert_non_null(strstr(error.text, "is larger than the 4 bytes"));
    assert_null(file_read_input("/dev/zero", 1 << 20, NULL, &error));
    assert_non_null(strstr(error.text, "is larger than"));
    assert_null(file_read("/dev/zero", 1 << 20, NULL, &error));
    assert_non_null(strstr(error.text, "it is a device or a pipe, not a file"));
    assert_null(file_read("/no/such/file", 4, NULL, &error));
    assert_string_equal(error.text, "cannot read '/no/such/file': No such file or directory");
    assert_null(file_read(folder, 4, NULL, &error));
    assert_non_null(strstr(error.text, "it is a folder, not a file"));
    assert_false(file_replace("/no/such/file", "x", 1, &error));
    assert_string_equal(error.text, "cannot write '/no/such/file': No such file or directory");
}

TEST(a_temporary_name_is_new_and_known)
{
    int fd;
    struct stat found;
    char *file = file_temporary(path, &fd), *other = file_temporary(path, NULL);
    assert_true(file && other && fd >= 0 && !fstat(fd, &found) && S_ISREG(found.st_mode));
    assert_true(!stat(other, &found) && S_ISDIR(found.st_mode));
    assert_string_not_equal(file, other);
    assert_true(file_is_temporary(file, path) && file_is_temporary(other, path));
    assert_false(file_is_temporary(path, path) || file_is_temporary(file, folder));
    for (char *digit = strrchr(file, '-'); *++digit;) {
        char kept = *digit;
        *digit = 'g';
        assert_false(file_is_temporary(file, path));
        *digit = kept;
    }
    unlink(file);
    file[strlen(file) - 1] = 0;
    assert_false(file_is_temporary(file, path));
    assert_false(rmdir(other));
    close(fd);
    free(file), free(other);
    assert_null(file_temporary("/no/such/file", &fd));
    assert_null(file_temporary("/no/such/file", NULL));
}

TEST(a_text_that_is_missing_replaces_nothing)
{
    assert_true(file_replace_text(path, strdup("text"), &error));
    holds("text");
    assert_false(file_replace_text(path, NULL, &error));
    assert_non_null(strstr(error.text, "not enough memory to write '"));
    holds("text");
}

TEST(folders_are_made)
{
    char deep[TEMPORARY_SIZE + 32];
    struct stat found;
    snprintf(deep, sizeof deep, "%s/a//b/c/", folder);
    assert_true(folder_make(deep, &error));
    assert_true(folder_make(deep, &error));
    assert_int_equal(stat(deep, &found), 0);
    assert_true(S_ISDIR(found.st_mode));
    snprintf(deep, sizeof deep, "%s/sub", path);
    assert_true(file_replace(path, "x", 1, &error));
    assert_false(folder_make(deep, &error));
    assert_non_null(strstr(error.text, "is there and is no folder"));
    assert_false(folder_make("/proc/no/such", &error));
    assert_non_null(strstr(error.text, "cannot make the folder '/proc/no/such'"));
    assert_false(folder_make("", &error));
}

TEST_MAIN("file", make, sweep)
