/* peer.c -- a Python process and a socket; see peer.h. */
#include "benchmark/peer.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "benchmark/child.h"

static const char SCRIPT[] = "benchmark/peer.py";

static bool can_import(const char *python)
{
    char *argv[] = {(char *)(size_t)python, "-c", "import torch", NULL};
    int stream;
    pid_t child = child_start(&stream, argv, NULL);
    if (child < 0) return false;
    bool good = child_wait(child);
    close(stream);
    return good;
}

const char *peer_python(void)
{
    static const char *const candidates[] = {"python3", "/usr/bin/python3", NULL};
    for (int i = 0; candidates[i]; i++)
        if (can_import(candidates[i])) return candidates[i];
    return NULL;
}

/* ---- the ids ---- */

static void put(FILE *file, const int *numbers, int count)
{
    fwrite(numbers, sizeof *numbers, (size_t)count, file);
}

static bool write_batches(int fd, Batches *batches, int updates, Error *error)
{
    FILE *file = fdopen(fd, "wb");
    if (!file) {
        close(fd);
        return error_set(error, "cannot write a temporary file: %s", strerror(errno));
    }
    put(file, &updates, 1);
    bool good = true;
    for (int u = 0; u < updates && good; u++) {
        int pairs, rows[SIDES] = {0, 0};
        good = batches_update(batches, &pairs, 0, (size_t)u, error);
        if (!good) break;
        const PairIds *pair = batches->pair, *end = pair + pairs;
        for (const PairIds *p = pair; p < end; p++)
            for (int side = 0; side < SIDES; side++) rows[side] += p->length[side];
        put(file, (int[]){pairs, rows[SOURCE], rows[TARGET]}, 3);
        for (int side = 0; side < SIDES; side++) {
            int start = 0;
            put(file, &start, 1);
            for (const PairIds *p = pair; p < end; p++)
                start += p->length[side], put(file, &start, 1);
        }
        for (int side = 0; side < SIDES; side++)
            for (const PairIds *p = pair; p < end; p++) put(file, p->id[side], p->length[side]);
    }
    bool written = !ferror(file);
    if (fclose(file) != 0) written = false;
    if (good && !written) return error_set(error, "cannot write a temporary file");
    return good;
}

/* ---- the process ---- */

static bool launch(Peer *peer, const char *python, const char *path, const ModelConfig *model,
                   const TrainingConfig *training, int threads, Error *error)
{
    char config[256];
    snprintf(config, sizeof config,
             "{\"vocab\":%d,\"d_model\":%d,\"heads\":%d,\"ffn\":%d,\"encoder_layers\":%d,"
             "\"decoder_layers\":%d,\"dropout\":%g,\"label_smoothing\":%g,\"clip_norm\":%g,"
             "\"threads\":%d}",
             model->vocab, model->d_model, model->heads, model->ffn, model->encoder_layers,
             model->decoder_layers, training->dropout, training->label_smoothing,
             training->clip_norm, threads);
    char *argv[] = {(char *)(size_t)python, (char *)(size_t)SCRIPT, (char *)(size_t)path,
                    config, NULL};
    int stream;
    pid_t process = child_start(&stream, argv, error);
    if (process < 0) return false;
    peer->process = process;
    peer->stream = fdopen(stream, "r");
    char ready[16];
    if (peer->stream && fgets(ready, sizeof ready, peer->stream)) return true;
    return error_set(error, "%s did not start: run it by hand to see why", SCRIPT);
}

bool peer_start(Peer *peer, const char *python, const ModelConfig *model,
                const TrainingConfig *training, int threads, Batches *batches, int updates,
                Error *error)
{
    char path[4096];
    child_temporary(path, sizeof path);
    *peer = (Peer){0};
    int fd = mkstemp(path);
    if (fd < 0) return error_set(error, "cannot make a temporary file");
    signal(SIGPIPE, SIG_IGN);  // a peer that ended is an error of peer_update
    bool good = write_batches(fd, batches, updates, error) &&
                launch(peer, python, path, model, training, threads, error);
    unlink(path);  // the peer has read it when it is ready
    return good;
}

bool peer_update(Peer *peer, double *seconds, double *tokens, double *places, Error *error)
{
    char line[256];
    if (dprintf(fileno(peer->stream), "go\n") > 0 && fgets(line, sizeof line, peer->stream) &&
        sscanf(line, "%lf %lf %lf", seconds, tokens, places) == 3 && *seconds > 0)
        return true;
    return error_set(error, "%s stopped: run it by hand to see why", SCRIPT);
}

void peer_stop(Peer *peer)
{
    if (peer->stream) fclose(peer->stream);
    if (peer->process) child_wait(peer->process);
    *peer = (Peer){0};
}
