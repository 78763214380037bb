/* child.c -- fork, a pipe, and the child's answer: {bool good; Error; result}; see child.h. */
#include "benchmark/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct Answer {
    Error error;
    bool good;
} Answer;

static bool write_all(int fd, const void *bytes, size_t length)
{
    for (size_t done = 0; done < length;) {
        ssize_t n = write(fd, (const char *)bytes + done, length - done);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        done += (size_t)n;
    }
    return true;
}

static bool read_all(int fd, void *bytes, size_t length)
{
    for (size_t done = 0; done < length;) {
        ssize_t n = read(fd, (char *)bytes + done, length - done);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        done += (size_t)n;
    }
    return true;
}

/* The child never returns: what the parent had opened is not flushed twice. */
static void be_child(int fd, pid_t parent, ChildWork work, const void *context, void *result,
                     size_t size)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // nobody waits for the answer of an orphan
    if (getppid() != parent) _exit(1);
    Answer answer = {0};
    answer.good = work(context, result, &answer.error);
    bool told = write_all(fd, &answer, sizeof answer) && write_all(fd, result, size);
    _exit(told ? 0 : 1);
}

bool child_run(ChildWork work, const void *context, void *result, size_t size, Error *error)
{
    int ends[2];
    pid_t parent = getpid();
    memset(result, 0, size);
    if (pipe(ends) != 0) return error_set(error, "cannot make a pipe: %s", strerror(errno));
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        be_child(ends[1], parent, work, context, result, size);
    }
    int failure = errno;
    close(ends[1]);
    Answer answer;
    bool good = child > 0 && read_all(ends[0], &answer, sizeof answer) &&
                read_all(ends[0], result, size);
    close(ends[0]);
    if (child < 0) return error_set(error, "cannot start a process: %s", strerror(failure));
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    if (!good && WIFSIGNALED(status))
        return error_set(error, "a measurement ended by signal %d%s", WTERMSIG(status),
                         WTERMSIG(status) == SIGKILL ? ", as it does when memory runs out"
                                                     : "");
    if (!good) return error_set(error, "a measurement ended without a result");
    return answer.good || error_set(error, "%s", answer.error.text);
}

/* ---- other programs ---- */

static void close_both(const int ends[2])
{
    close(ends[0]);
    close(ends[1]);
}

pid_t child_start(int *input, int *output, char *const *argv, Error *error)
{
    int in[2] = {-1, -1}, out[2];
    if (pipe2(out, O_CLOEXEC) != 0) {
        error_set(error, "cannot make a pipe: %s", strerror(errno));
        return -1;
    }
    if (input && pipe2(in, O_CLOEXEC) != 0) {
        error_set(error, "cannot make a pipe: %s", strerror(errno));
        close_both(out);
        return -1;
    }
    pid_t child = fork();
    if (child == 0) {
        int nowhere = open("/dev/null", O_RDWR);
        dup2(input ? in[0] : nowhere, STDIN_FILENO);
        dup2(out[1], STDOUT_FILENO);
        dup2(nowhere, STDERR_FILENO);
        execvp(argv[0], argv);
        _exit(127);
    }
    if (child < 0) {
        error_set(error, "cannot start %s: %s", argv[0], strerror(errno));
        if (input) close_both(in);
        close_both(out);
        return -1;
    }
    close(out[1]);
    *output = out[0];
    if (!input) return child;
    close(in[0]);
    *input = in[1];
    return child;
}

bool child_wait(pid_t child)
{
    int status = 0;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR) return false;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* ---- memory ---- */

double memory_most(void)
{
    FILE *status = fopen("/proc/self/status", "r");
    char line[256];
    double kilobytes = 0;
    while (status && fgets(line, sizeof line, status))
        if (sscanf(line, "VmHWM: %lf kB", &kilobytes) == 1) break;
    if (status) fclose(status);
    return 1024 * kilobytes;
}

/* Linux: 5 sets the high water mark to what is resident now (man 5 proc). */
void memory_reset(void)
{
    FILE *marks = fopen("/proc/self/clear_refs", "w");
    if (!marks) return;
    fputs("5\n", marks);
    fclose(marks);
}
