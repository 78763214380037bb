/* memory.c -- how much memory a run will take; see memory.h. */
#include "commands/train/memory.h"

#include "explain/picture.h"
#include "plots/canvas.h"

#include <malloc.h>
#include <stdio.h>

/* The canvas of loss.png, which goes again. Measured. */
enum { CANVAS = 4000000, UPDATES = 100 };

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

/* Draws a word, since fonts and the libraries that draw stay once used, and what they take depends on
 * the machine. Whether that is possible is for the pictures to say. */
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

/* Of the largest micro-batch in the first updates of the epoch, on all threads. */
static bool activations(size_t *bytes, Run *run, Error *error)
{
    uint64_t epoch = (uint64_t)run->progress.epoch;
    size_t updates;
    *bytes = 0;
    if (!batches_updates(&run->batches, &updates, epoch, error)) return false;
    for (size_t u = 0; u < updates && u < UPDATES; u++) {
        Packed source, target;
        size_t these;
        if (!batches_update(&run->batches, &source, &target, epoch, u, error) ||
            !trainer_activations(run->trainer, &these, &source, &target, error))
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
    if (!activations(&active, run, error) ||
        !validation_memory(validation, &translating, &run->model, run->workers, error))
        return false;
    if (now == 0)  // no /proc: what is known
        now = (double)trainer_memory(run->trainer) +
              4.0 * (double)(run->report.tokens[SOURCE] + run->report.tokens[TARGET]);
    m->before = status("VmHWM: %lf");
    double lasting = now + (double)active, more = (double)translating;
    if (run->settings->training.average > 1) {  // the mean, and, to make it, a sum in double
        more += block;
        if (more < 3 * block) more = 3 * block;
    }
    if (translating && more < picture_memory(&run->model.config))
        more = picture_memory(&run->model.config);
    m->training = lasting + CANVAS;
    m->validating = lasting + (more > CANVAS ? more : CANVAS);
    return true;
}
