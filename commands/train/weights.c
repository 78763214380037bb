/* weights.c -- weights.png; see weights.h. */
#include "commands/train/weights.h"

#include <stdio.h>
#include <stdlib.h>

#include "plots/png.h"
#include "plots/weightspage.h"
#include "training/distributed.h"

enum { MATRICES = 3 };

/* block [3,count] (=) the three tensors as they were initialised: each number is a function of the
 * seed and its tensor's name, so the others need not be made. */
static void as_initialised(real *block, const Tensor *const *tensor, uint64_t seed)
{
    for (int t = 0; t < MATRICES; t++) {
        Tensor alone = *tensor[t];
        alone.offset = 0, alone.in_panels = false;
        Params params = {.count = 1, .tensor = &alone, .size = alone.count};
        params_initialise(&params, block + (size_t)t * alone.count, seed);
    }
}

/* before, now [3,count]: the three tensors row by row */
static bool draw(const char *path, const Run *run, const Tensor *const *tensor,
                 const real *before, const real *now, double *number, Error *error)
{
    static const char *const names[MATRICES] = {"W_Q", "W_K", "W_V"};
    size_t lines = (size_t)run->metrics.train_count;
    double *x = number, *norm = number + lines;
    for (size_t i = 0; i < lines; i++) {
        const TrainLine *line = &run->metrics.train[i];
        x[i] = (double)line->update;
        norm[i] = line->norm_q, norm[lines + i] = line->norm_k,
        norm[2 * lines + i] = line->norm_v;
    }
    Series norms[MATRICES];
    WeightsColumn columns[MATRICES];
    for (int t = 0; t < MATRICES; t++) {
        norms[t] = (Series){names[t], x, norm + (size_t)t * lines, (int)lines, t, false};
        size_t at = (size_t)t * tensor[0]->count;
        columns[t] = (WeightsColumn){names[t], before + at, now + at, tensor[t]->shape[0],
                                     tensor[t]->shape[1]};
    }
    char title[128], subtitle[160];
    snprintf(title, sizeof title, "Decoder layer %d: what asks the source",
             run_watch_layer(run) + 1);
    snprintf(subtitle, sizeof subtitle,
             "W_Q makes queries of the translation, W_K keys and W_V values of the source; "
             "update %lld",
             run->progress.update);
    Canvas *page;
    if (!weightspage_draw(&page, title, subtitle, columns, MATRICES, norms, MATRICES,
                          THEME_LIGHT, error))
        return false;
    const PngText texts[] = {{"Software", "qkv"}, {"Model", run->settings->run.output}};
    bool good = png_save_canvas(path, page, texts, 2, error);
    canvas_free(page);
    return good;
}

bool weights_draw(const Run *run, Error *error)
{
    if (distributed_rank() > 0) return true;
    const Tensor *tensor[MATRICES];
    run_watch_tensors(tensor, run);
    char *path = run_path(run->settings, "weights.png", error);
    size_t count = MATRICES * tensor[0]->count;
    real *before = malloc(2 * count * sizeof *before), *now = before + count;
    double *number = malloc((4 * (size_t)run->metrics.train_count + 1) * sizeof *number);
    bool good = path && before && number;
    if (path && !good) error_set(error, "not enough memory to draw '%s'", path);
    if (good) {
        as_initialised(before, tensor, run->batches.seed);
        for (int t = 0; t < MATRICES; t++)
            params_rows(now + (size_t)t * tensor[0]->count, tensor[t], run->model.block);
        good = draw(path, run, tensor, before, now, number, error);
    }
    free(path);
    free(before);
    free(number);
    return good;
}
