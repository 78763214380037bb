/* memory.c -- an estimate of the memory that a run takes; see memory.h. */
#include "commands/train/memory.h"

#include "explain/picture.h"
#include "plots/canvas.h"

#include <malloc.h>
#include <math.h>
#include <stdio.h>

enum {
    CANVAS = 4000000,  // bytes of the canvas of loss.png, freed after drawing; measured
    UPDATES = 100      // of the first epoch that are searched for the largest micro-batch
};

void memory_setup(void)
{
    mallopt(M_MMAP_THRESHOLD, 1 << 20);
}

/* A line of /proc/self/status, in bytes; 0 if there is none. */
static double status(const char *format)
{
    FILE *file = fopen("/proc/self/status", "r");
    char line[256];
    double kilobytes = 0;
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, format, &kilobytes) == 1) break;
    if (file) fclose(file);
    return 1024 * kilobytes;
}

/* Draws a word: fonts and the drawing libraries stay in memory once they are used, and their size
 * depends on the machine. An error is ignored here; drawing a picture will report it. */
static void load_fonts(void)
{
    Canvas *canvas;
    Error error;
    if (!canvas_new(&canvas, THEME_LIGHT, &error)) return;
    if (canvas_reserve(canvas, 64, 64, &error))
        for (int bold = 0; bold < 2; bold++)
            canvas_text(canvas, "loss", 0, 0, &(TextStyle){.size = 13, .bold = bold});
    canvas_free(canvas);
}

/* *bytes (=) the activations of the largest micro-batch in the first updates, on all threads. */
static bool find_activations(size_t *bytes, Run *run, Error *error)
{
    uint64_t epoch = (uint64_t)run->progress.epoch;
    size_t updates;
    *bytes = 0;
    if (!batches_updates(&run->batches, &updates, epoch, error)) return false;
    for (size_t u = 0; u < updates && u < UPDATES; u++) {
        Packed source, target;
        size_t these;
        if (!batches_update(&run->batches, &source, &target, epoch, u, error) ||
            !passes_activations(&run->trainer->passes, &these, &source, &target, error))
            return false;
        if (these > *bytes) *bytes = these;
    }
    return true;
}

bool memory_estimate(Memory *m, Run *run, Validation *validation, Error *error)
{
    size_t active, translating;
    load_fonts();
    double now = status("VmRSS: %lf"), block = (double)(run->model.params.size * sizeof(real));
    if (!find_activations(&active, run, error) ||
        !validation_memory(validation, &translating, error))
        return false;
    if (now == 0)  // no /proc: the sum of what is known
        now = (double)trainer_memory(run->trainer) +
              4.0 * (double)(run->report.tokens[SOURCE] + run->report.tokens[TARGET]);
    m->before = status("VmHWM: %lf");
    double lasting = now + (double)active, more = (double)translating;
    if (run->settings->training.average > 1)  // the mean, and a sum in double while it is made
        more = fmax(more + block, 3 * block);
    if (translating) more = fmax(more, picture_memory(&run->model.config));
    m->training = lasting + CANVAS;
    m->validating = lasting + fmax(more, CANVAS);
    return true;
}
