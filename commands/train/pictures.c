/* pictures.c -- the pictures that a run leaves in its folder; see pictures.h. */
#include "commands/train/pictures.h"

#include "commands/command.h"
#include "explain/picture.h"
#include "plots/curves.h"
#include "plots/png.h"
#include "training/distributed.h"

#include <stdlib.h>
#include <string.h>

typedef struct Picture {
    Draw *draw;
    const void *of;
    const Run *run;
    char path[PATH_MAX];
} Picture;

static bool draw_picture(const void *context, Error *error)
{
    const Picture *picture = context;
    return picture->draw(picture->of, picture->run, picture->path, error);
}

bool pictures_draw(Draw *draw, const char *name, const void *of, const Run *run, Error *error)
{
    Picture picture = {.draw = draw, .of = of, .run = run};
    run_path(picture.path, run, name);
    return distributed_rank() > 0 || command_draw(draw_picture, &picture, name, error);
}

bool pictures_loss(const void *unused, const Run *run, const char *path, Error *error)
{
    (void)unused;
    const Metrics *metrics = &run->metrics;
    int T = metrics_column(NULL, metrics, METRICS_TRAIN, "loss");
    int V = metrics_column(NULL, metrics, METRICS_VALID, "loss");
    double *number = malloc((3 * metrics->count + 1) * sizeof *number);
    if (!number) return error_memory(error, "to draw the loss");
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
    Chart charts[3];
    bool good = curves_draw(&page, "Training", run->settings->run.output, panels, 3,
                            THEME_LIGHT, charts, error) &&
                png_save_canvas(path, page, NULL, 0, error);
    canvas_free(page);
    free(number);
    return good;
}

/* Of the first validation sentence of at most PICTURE_WORDS tokens, or of the shortest if all
 * are longer. An untrained model may translate without end: only the beginning is drawn. */
Snapshot *pictures_snapshot(const Run *run, const Validation *v, Error *error)
{
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
    return snapshot_open(&run->model, corpus->id[SOURCE] + start[s], length, word, words,
                         error);
}

bool pictures_attention(const void *snapshot, const Run *run, const char *path, Error *error)
{
    const PictureInput input = {.snapshot = snapshot,
                                .vocabulary = &run->vocabulary,
                                .model_name = run->settings->run.output,
                                .choice = &choice_default,
                                .config = picture_default};
    return picture_save(path, NULL, &input, error);
}
