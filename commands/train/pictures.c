/* pictures.c -- the pictures that a run leaves in its folder; see pictures.h. */
#include "commands/train/pictures.h"

#include "explain/picture.h"
#include "plots/curves.h"
#include "plots/png.h"
#include "plots/weightspage.h"
#include "training/distributed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MATRICES = 3 };

/* Saves a page as NAME in the run's folder, and frees it. */
static bool save_page(Canvas *page, const Run *run, const char *name, const PngText *texts,
                      int count, Error *error)
{
    char path[PATH_MAX];
    bool good = run_path(path, run->settings, name, error) &&
                png_save_canvas(path, page, texts, count, error);
    canvas_free(page);
    return good;
}

bool pictures_loss(const Run *run, Error *error)
{
    if (distributed_rank() > 0) return true;
    const Metrics *metrics = &run->metrics;
    int T = metrics_column(NULL, metrics, METRICS_TRAIN, "loss");
    int V = metrics_column(NULL, metrics, METRICS_VALID, "loss");
    double *number = malloc((3 * metrics->count + 1) * sizeof *number);
    if (!number) return error_set(error, "not enough memory to draw the loss");
    double *tx = number, *loss = tx + T, *rate = loss + T;
    double *vx = rate + T, *valid = vx + V, *bleu = valid + V;
    metrics_column(tx, metrics, METRICS_TRAIN, "update");
    metrics_column(loss, metrics, METRICS_TRAIN, "loss");
    metrics_column(rate, metrics, METRICS_TRAIN, "learning_rate");
    metrics_column(vx, metrics, METRICS_VALID, "update");
    metrics_column(valid, metrics, METRICS_VALID, "loss");
    metrics_column(bleu, metrics, METRICS_VALID, "bleu");
    const Series losses[] = {{"training, with dropout", tx, loss, T, 0, false},
                             {"validation", vx, valid, V, 1, true}};
    const Series bleus[] = {{NULL, vx, bleu, V, 2, true}};
    const Series rates[] = {{NULL, tx, rate, T, 3, false}};
    const CurvePanel panels[] = {
        {"Loss", NULL, "nats a token", losses, 2, true},
        {"BLEU of the validation sentences", NULL, "BLEU", bleus, 1, false},
        {"Learning rate", "update", NULL, rates, 1, false}};
    Canvas *page;
    bool good = curves_draw(&page, "Training", run->settings->run.output, panels, 3,
                            THEME_LIGHT, NULL, error) &&
                save_page(page, run, "loss.png", NULL, 0, error);
    free(number);
    return good;
}

/* Draws the first validation sentence of at most PICTURE_WORDS tokens, or the shortest if all
 * are longer. An untrained model may translate without end: only the beginning is drawn. */
bool pictures_attention(const Run *run, const Validation *v, Error *error)
{
    if (!v->translated) return true;
    const Corpus *corpus = &run->valid;
    const size_t *start = corpus->start[SOURCE];
    int s = 0, length = (int)start[1];
    for (int i = 1; i < v->translated && length > PICTURE_WORDS; i++) {
        int other = (int)(start[i + 1] - start[i]);
        if (other < length) s = i, length = other;
    }
    const Hypothesis *best = v->ids.sentence[s].hypothesis;
    int words = best->length < PICTURE_WORDS ? best->length : PICTURE_WORDS;
    int word[PICTURE_WORDS];
    memcpy(word, best->id, (size_t)words * sizeof *word);
    word[words - 1] = ID_END;
    char path[PATH_MAX];
    Snapshot *snapshot =
        snapshot_open(&run->model, corpus->id[SOURCE] + start[s], length, word, words, error);
    const PictureInput input = {.snapshot = snapshot,
                                .vocabulary = &run->vocabulary,
                                .model_name = run->settings->run.output,
                                .choice = &choice_default,
                                .config = picture_default};
    bool good = snapshot && run_path(path, run->settings, "attention.png", error) &&
                picture_save(path, NULL, &input, error);
    snapshot_close(snapshot);
    return good;
}

/* The page of weights.png. before, now [3,count]: the three tensors; number [4,lines] is filled
 * with the update of each line of metrics and three gradient norms. */
static bool draw_weights(Canvas **page, const Run *run, const Tensor *const *tensor,
                         const real *before, const real *now, double *number, Error *error)
{
    static const char *const names[MATRICES] = {"W_Q", "W_K", "W_V"};
    static const char *const keys[] = {"gradient_norm_q", "gradient_norm_k", "gradient_norm_v"};
    size_t count = tensor[0]->count;
    int lines = metrics_column(number, &run->metrics, METRICS_TRAIN, "update");
    Series norms[MATRICES];
    WeightsColumn columns[MATRICES];
    for (size_t t = 0; t < MATRICES; t++) {
        double *norm = number + (t + 1) * (size_t)lines;
        metrics_column(norm, &run->metrics, METRICS_TRAIN, keys[t]);
        norms[t] = (Series){names[t], number, norm, lines, (int)t, false};
        columns[t] = (WeightsColumn){names[t], before + t * count, now + t * count,
                                     tensor[t]->shape[0], tensor[t]->shape[1]};
    }
    char title[128], subtitle[160];
    snprintf(title, sizeof title, "Decoder layer %d: encoder-decoder attention",
             run_watched_layer(run) + 1);
    snprintf(subtitle, sizeof subtitle,
             "W_Q makes queries of the translation, W_K keys and W_V values of the source; "
             "update %lld",
             run->progress.update);
    const WeightsPage all = {title, subtitle, columns, norms, MATRICES};
    return weightspage_draw(page, &all, THEME_LIGHT, error);
}

bool pictures_weights(const Run *run, Error *error)
{
    if (distributed_rank() > 0) return true;
    const Tensor *tensor[MATRICES];
    run_watched_tensors(tensor, run);
    size_t count = tensor[0]->count;
    real *before = malloc(2 * MATRICES * count * sizeof *before);
    real *now = before ? before + MATRICES * count : NULL;
    double *number = malloc((4 * run->metrics.count + 1) * sizeof *number);
    bool good = before && number;
    if (!good) error_set(error, "not enough memory to draw weights.png");
    for (size_t t = 0; good && t < MATRICES; t++) {
        params_initial_rows(before + t * count, tensor[t], run->batches.seed);
        params_rows(now + t * count, tensor[t], run->model.block);
    }
    const PngText texts[] = {{"Software", "qkv"}, {"Model", run->settings->run.output}};
    Canvas *page;
    good = good && draw_weights(&page, run, tensor, before, now, number, error) &&
           save_page(page, run, "weights.png", texts, 2, error);
    free(before);
    free(number);
    return good;
}
