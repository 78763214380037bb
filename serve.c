/* serve.c -- ./serve: a translator that other programs ask over HTTP.
 *
 *   read the options, load the models and start the threads that translate (commands/serve/service.h)
 *   listen (server.h); answer as LibreTranslate does, and with pictures and a page (interface.h)
 *   SIGHUP: load the models again, and open the log again. SIGTERM, SIGINT: answer what was begun, and end */
#include <signal.h>

#include "base/file.h"
#include "base/options.h"
#include "commands/command.h"
#include "commands/serve/interface.h"

static bool print_help(bool brief, Error *error)
{
    static ServeSettings defaults;
    if (!serve_defaults(&defaults, error)) return false;
    command_print_options(
        defaults.groups, SERVE_GROUPS, brief,
        "[OPTION]...\n"
        "Translates for other programs: LibreTranslate's interface, and a page.",
        "  %1$sserve --model en-fr=checkpoints/mine\n"
        "  curl http://127.0.0.1:5000/translate -d source=en -d target=fr -d q='Good "
        "morning.'\n");
    options_free(defaults.groups, SERVE_GROUPS);
    return stream_flush(stdout, "the help", error);
}

/* Waits for signals until one says to end. */
static void wait_for_signals(const sigset_t *signals, Service *service, Server *server,
                             FILE *news)
{
    for (int number = 0; number != SIGINT && number != SIGTERM;) {
        Error error;
        if (sigwait(signals, &number)) return;
        if (number != SIGHUP) continue;
        if (!server_reopen_log(server, &error))
            command_say(stderr, "goes on with the old log: %s", error.text);
        if (service_reload(service, &error)) command_say(news, "loaded the models again");
        else command_say(stderr, "goes on with the old models: %s", error.text);
    }
}

static bool serve(const ServeSettings *settings, Error *error)
{
    FILE *news = settings->quiet ? NULL : stderr;
    sigset_t signals, ending;
    int port;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT), sigaddset(&signals, SIGTERM), sigaddset(&signals, SIGHUP);
    ending = signals;
    sigdelset(&ending, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);  // before any thread starts
    signal(SIGPIPE, SIG_IGN);
    Service *service = service_start(settings, error);
    pthread_sigmask(SIG_UNBLOCK, &ending, NULL);  // the file of keys may be a pipe
    Interface *interface = service ? interface_open(settings, service, error) : NULL;
    pthread_sigmask(SIG_BLOCK, &ending, NULL);
    Server *server =
        interface ? server_start(settings, interface_answer, interface, &port, error) : NULL;
    if (server) {
        bool six = strchr(settings->address, ':');
        printf("http://%s%s%s:%d/\n", six ? "[" : "", settings->address, six ? "]" : "", port);
        fflush(stdout);
        wait_for_signals(&signals, service, server, news);
        server_quiesce(server);
    }
    if (service) service_stop(service);  // which answers what the server still waits for
    if (server) server_stop(server);
    interface_close(interface);
    service_free(service);
    return server;
}

int main(int argc, char **argv)
{
    static ServeSettings settings;
    Error error;
    command_start();
    int status = 0;
    bool good = serve_read(&settings, argc, argv, &error);
    if (!good) status = 2;
    else if (settings.help || settings.short_help) good = print_help(!settings.help, &error);
    else if (settings.version)
        good = puts("qkv " QKV_VERSION) >= 0 && stream_flush(stdout, "the version", &error);
    else good = serve(&settings, &error);
    if (!good) {
        options_name_in_error(settings.groups, SERVE_GROUPS, &error);
        command_say(stderr, "%s", error.text);
        if (!status) status = 1;
    }
    options_free(settings.groups, SERVE_GROUPS);
    return status;
}
