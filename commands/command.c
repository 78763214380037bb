/* command.c -- what the programs share; see command.h. */
#include "commands/command.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/utf8.h"
#include "data/segments.h"
#include "data/tokenizer.h"
#include "explain/page.h"
#include "inference/bundle.h"

const char *command_name(void)
{
    return program_invocation_short_name;
}

/* A program that is none of these is an installed qkv-…, or another one that uses the library. */
const char *command_prefix(void)
{
    static const char *const built[] = {"train", "translate", "serve"};
    for (int i = 0; i < 3; i++)
        if (!strcmp(command_name(), built[i])) return "./";
    return "qkv-";
}

void command_say(FILE *news, const char *format, ...)
{
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    if (news && vasprintf(&text, format, arguments) >= 0)
        utf8_print(news, "%s: %s\n", command_name(), text);
    va_end(arguments);
    free(text);
}

/* A program whose stack can grow no more is killed. So it grows now, while there is space. */
enum { STACK = 1 << 20, LEAST_STACK = 2048 << 10, FILES = 12 };  // 8 are opened

static __attribute__((noinline)) void grow_stack(void)
{
    *(volatile char *)__builtin_alloca(STACK) = 0;
}

static void end(const char *why)
{
    fprintf(stderr, "%s: %s\n", command_name(), why);
    _exit(1);
}

static void end_without_memory(void)
{
    end("not enough memory for SentencePiece");
}

static void need_limits(void)
{
    struct rlimit limit;
    void *probe = mmap(NULL, STACK, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    bool small = !getrlimit(RLIMIT_STACK, &limit) && limit.rlim_cur < LEAST_STACK;
    int least = 0;  // files, with those that are open
    for (int more = 0; more < FILES; least++) more += fcntl(least, F_GETFD) < 0;
    bool few = !getrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_cur < (rlim_t)least;
    if (small) end("the stack is too small: allow at least 2048 KB (ulimit -s)");
    if (few) end("too few files may be open: allow at least 64 (ulimit -n)");
    if (probe == MAP_FAILED) end("not enough address space: allow more (ulimit -v)");
    munmap(probe, STACK);
    grow_stack();
}

/* A standard stream that does not block is opened anew, for this process only, as others may need
 * it so: stdio loses what cannot be written at once. A terminal always is, as others that use it
 * may ask for it later. */
static void open_blocking(int fd)
{
    char path[32];
    int flags = fcntl(fd, F_GETFL);
    if (lseek(fd, 0, SEEK_CUR) >= 0 || !(flags & O_NONBLOCK || isatty(fd))) return;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    int own = open(path, flags | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);  // waits for nobody
    if (own >= 0) dup2(own, fd), close(own);
    fcntl(fd, F_SETFL, flags & ~O_NONBLOCK);
}

void command_start(void)
{
    need_limits();
    tokenizer_on_no_memory(end_without_memory);
    segments_on_no_memory(end_without_memory);
    for (int fd = 0; fd <= STDERR_FILENO; fd++)  // using it stays an error
        if (fcntl(fd, F_GETFD) < 0) open("/dev/null", fd ? O_RDONLY : O_WRONLY);
        else open_blocking(fd);
    signal(SIGXFSZ, SIG_IGN);
    signal(SIGCHLD, SIG_DFL);  // if it is ignored, waitpid cannot say how a child ended
}

void command_catch(int number, void (*handler)(int))
{
    if (signal(number, handler) == SIG_IGN) signal(number, SIG_IGN);
}

void command_print_options(const OptionGroup *groups, int count, bool brief, const char *usage,
                           const char *examples)
{
    char *options = options_help(groups, count, brief);
    printf("Usage: %s %s\n\n%s", command_name(), usage, options ? options : "");
    if (brief) fputs("\nExamples\n", stdout), printf(examples, command_prefix());
    free(options);
}

bool command_find_model(bool *shipped, const StringList *model, const OptionGroup *groups,
                        int count, int argc, char *const *argv, Error *error)
{
    char file[PATH_MAX + 32];
    bool exists;
    Error none;
    if (model->count == 1 && !file_exists(&exists, model->item[0], error)) return false;
    *shipped = model->count == 1 && !options_find_text(groups, count, argc, argv, "model") &&
               !bundle_find(file, sizeof file, model->item[0], &none) &&
               bundle_find(file, sizeof file, "toy", &none);
    return !*shipped || options_set(groups, count, "model", file, error);
}

/* What the child tells its parent, in memory that both share. */
typedef struct Reply {
    bool drawn;
    Error error;
} Reply;

/* Ends a child that has not computed for so long: fontconfig may wait for itself for ever when
 * memory runs out. */
enum { IDLE_SECONDS = 20 };

static void on_alarm(int number)
{
    static clock_t before;
    clock_t now = clock();
    if (now - before < CLOCKS_PER_SEC / 100) _exit(2);
    before = now;
    signal(number, on_alarm);
    alarm(IDLE_SECONDS);
}

/* Signals to the group are for the parent, with which the child ends. What a library prints
 * before it aborts is dropped, and so is text for standard output that the parent will print. */
static void enter_child(void)
{
    sigset_t all;
    sigfillset(&all);
    sigdelset(&all, SIGALRM);
    signal(SIGALRM, on_alarm);
    alarm(IDLE_SECONDS);
    sigprocmask(SIG_SETMASK, &all, NULL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    int null = open("/dev/null", O_WRONLY);
    dup2(null, STDOUT_FILENO);
    dup2(null, STDERR_FILENO);
}

void *command_share(size_t size)
{
    void *shared = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return shared == MAP_FAILED ? NULL : shared;
}

bool command_draw(bool (*draw)(const void *context, Error *error), const void *context,
                  const char *name, Error *error)
{
#ifdef __SANITIZE_THREAD__ /* which allows no threads in the child of a process with threads */
    return draw(context, error);
#endif
    int status = 0;
    Reply *reply = command_share(sizeof *reply);
    pid_t pid = reply ? fork() : -1;
    if (pid == 0) {
        enter_child();
        reply->drawn = draw(context, &reply->error);
        _exit(0);
    }
    if (pid < 0) error_set(error, "cannot draw %s: %s", name, strerror(errno));
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) {}
    if (pid > 0) *error = reply->error;
    if (WIFEXITED(status) && status)
        error_set(error, "drawing %s was ended by a library: is there enough memory?", name);
    if (WIFSIGNALED(status))
        error_set(error, "drawing %s was ended by signal %d (%s): is there enough memory?",
                  name, WTERMSIG(status), strsignal(WTERMSIG(status)));
    bool good = pid > 0 && reply->drawn;
    if (reply) munmap(reply, sizeof *reply);
    return good;
}

typedef struct Drawing {
    const char *path;
    const PictureInput *input;
} Drawing;

static bool draw_attention(const void *context, Error *error)
{
    const Drawing *d = context;
    return picture_format(d->path, error) == PICTURE_HTML
               ? page_save(d->path, d->input, error)
               : picture_save(d->path, NULL, d->input, error);
}

bool command_draw_attention(const char *path, const PictureInput *input, const char *name,
                            Error *error)
{
    return command_draw(draw_attention, &(Drawing){path, input}, name, error);
}

void command_say_missing(FILE *news, const MissingGlyphs *missing)
{
    if (!missing || !missing->characters[0]) return;
    bool cjk = missing->cjk, emoji = missing->emoji, other = missing->other;
    command_say(news, "no font for %s(boxes in the picture): install %s, such as %s%s%s%s%s",
                missing->characters, cjk + emoji + other > 1 ? "some" : "one",
                cjk ? "fonts-noto-cjk" : "", cjk && (emoji || other) ? ", " : "",
                emoji ? "fonts-noto-color-emoji" : "", emoji && other ? ", " : "",
                other ? "fonts-noto-core" : "");
}

const char *perplexity_text(char text[PERPLEXITY_TEXT], double loss, int decimals)
{
    if (loss > 690) snprintf(text, PERPLEXITY_TEXT, "above 1e+300");
    else snprintf(text, PERPLEXITY_TEXT, loss < 16 ? "%.*f" : "%.*e", decimals, exp(loss));
    return text;
}
