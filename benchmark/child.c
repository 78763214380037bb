/* child.c -- fork, and the result in shared memory; see child.h. */
#include "benchmark/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct Answer {
    Error error;
    bool good;
    _Alignas(16) unsigned char result[];
} Answer;

static int wait_for(pid_t child)
{
    int status = 0;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR) return -1;
    return status;
}

/* The parent maps `answer` too. _exit does not flush the parent's streams a second time. */
static void be_child(Answer *answer, pid_t parent, ChildWork work, const void *context)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    answer->good = work(context, answer->result, &answer->error);
    _exit(0);
}

bool child_run(ChildWork work, const void *context, void *result, size_t size, Error *error)
{
    pid_t parent = getpid();
    Answer *answer = mmap(NULL, sizeof *answer + size, PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (answer == MAP_FAILED) return error_memory(error, "for a result");
    pid_t child = fork();
    if (child == 0) be_child(answer, parent, work, context);
    int status = child > 0 ? wait_for(child) : -1;
    bool good = status == 0 && answer->good;
    if (child < 0) error_set(error, "cannot start a process: %s", strerror(errno));
    else if (WIFSIGNALED(status))
        error_set(error, "a measurement ended by signal %d%s", WTERMSIG(status),
                  WTERMSIG(status) == SIGKILL ? ", as it does when memory runs out" : "");
    else if (status != 0) error_set(error, "a measurement ended without a result");
    else if (!good) error_set(error, "%s", answer->error.text);
    memcpy(result, answer->result, size);
    munmap(answer, sizeof *answer + size);
    return good;
}

pid_t child_start(int *stream, char *const *argv, Error *error)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        error_set(error, "cannot make a socket: %s", strerror(errno));
        return -1;
    }
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDIN_FILENO);
        dup2(ends[1], STDOUT_FILENO);
        dup2(open("/dev/null", O_RDWR), STDERR_FILENO);
        execvp(argv[0], argv);
        _exit(127);
    }
    close(ends[1]);
    *stream = ends[0];
    if (child > 0) return child;
    error_set(error, "cannot start %s: %s", argv[0], strerror(errno));
    close(ends[0]);
    return -1;
}

bool child_wait(pid_t child)
{
    return wait_for(child) == 0;
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

void child_temporary(char *path, size_t size)
{
    const char *folder = getenv("TMPDIR");
    snprintf(path, size, "%s/qkv-XXXXXX", folder ? folder : P_tmpdir);
}
