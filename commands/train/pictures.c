/* pictures.c -- the pictures that a run leaves in its folder; see pictures.h. */
#include "commands/train/pictures.h"

#include "commands/command.h"
#include "explain/picture.h"
#include "inference/snapshot.h"
#include "plots/curves.h"
#include "plots/png.h"

typedef struct Picture {
    Draw *draw;
    const Run *run;
    char path[PATH_MAX];
} Picture;

static bool draw_picture(const void *context, Error *error)
{
    const Picture *picture = context;
    return picture->draw(picture->run, picture->path, error);
}

bool pictures_draw(Draw *draw, const char *name, Run *run, Error *error)
{
    Picture picture = {.draw = draw, .run = run};
    run_file(picture.path, run, name);
    if (!run->missing) run->missing = command_share(sizeof *run->missing);
    return run_hold(run, error) && command_draw(draw_picture, &picture, name, error);
}

/* ---- loss.png ---- */

/* The first of the best values; -1: there are none. */
static int best_of(const double *y, int count, bool least)
{
    int best = -1;
    for (int i = 0; i < count; i++)
        if (isfinite(y[i]) && (best < 0 || (least ? y[i] < y[best] : y[i] > y[best]))) best = i;
    return best;
}

/* Loss; BLEU, or chrF if --best is that; learning rate. The best validation by --best has a mark. */
static bool draw_loss(const Run *run, const char *path, Error *error)
{
    const Metrics *metrics = &run->metrics;
    int criterion = run->settings->training.best;
    bool chrf = criterion == BEST_CHRF, by_loss = criterion == BEST_LOSS;
    double *number = malloc((3 * metrics->count + 1) * sizeof *number), *tx = number;
    if (!number) return error_memory(error, "to draw the loss");
    int T = metrics_column(tx, metrics, METRICS_TRAIN, "update");
    double *loss = tx + T, *rate = loss + T, *vx = rate + T;
    int V = metrics_column(vx, metrics, METRICS_VALID, "update");
    double *valid = vx + V, *score = valid + V;
    metrics_column(loss, metrics, METRICS_TRAIN, "loss");
    metrics_column(rate, metrics, METRICS_TRAIN, "learning_rate");
    metrics_column(valid, metrics, METRICS_VALID, "loss");
    metrics_column(score, metrics, METRICS_VALID, chrf ? "chrf" : "bleu");
    const double *judged = by_loss ? valid : score;
    int best = best_of(judged, V, by_loss), marked = best >= 0;
    char label[64] = "";
    if (marked) snprintf(label, sizeof label, "the best, after update %.0f", vx[best]);
    const Series mark = {label, vx + best * marked, judged + best * marked, marked, 4, true};
    const Series losses[] = {mark,  // the first is on top
                             {"training, with dropout", tx, loss, T, 0, false},
                             {"validation", vx, valid, V, 1, true}};
    const Series scores[] = {mark, {by_loss ? NULL : "validation", vx, score, V, 2, true}};
    const Series rates[] = {{NULL, tx, rate, T, 3, false}};
    Chart charts[] = {
        {"Loss", NULL, "nats a token, logarithmic", losses + !by_loss, 2 + by_loss,
         .up.log = true},
        {chrf ? "chrF of the validation sentences" : "BLEU of the validation sentences", NULL,
         chrf ? "chrF" : "BLEU", scores + by_loss, 2 - by_loss, .up.most = 100},
        {"Learning rate", "update", NULL, rates, 1, .up.log = false}};
    Canvas *page;
    bool good = curves_draw(&page, "Training", run->settings->run.output, charts, 3, error) &&
                png_save_canvas(path, page, NULL, error);
    canvas_free(page);
    free(number);
    return good;
}

/* ---- attention.png ---- */

enum { PICTURE_WORDS = 40 };

static Snapshot *snapshot;  // to draw, or NULL; its model may have other weights by then

static bool draw_attention(const Run *run, const char *path, Error *error)
{
    Choice choice = choice_default;
    choice.known_layer = run->profile.aligning_layer - 1;
    choice.known_head = run->profile.aligning_head - 1;
    const PictureInput input = {.snapshot = snapshot,
                                .vocabulary = &run->vocabulary,
                                .model_name = run->settings->run.output,
                                .choice = &choice,
                                .words = true,
                                .missing = run->missing};
    return picture_save(path, NULL, &input, error);
}

/* Of the first validation sentence of at most PICTURE_WORDS tokens, or of the shortest if all
 * are longer. An untrained model may translate without end: only the beginning is drawn. */
bool pictures_attention(Run *run, Error *error)
{
    const Validation *v = &run->validation;
    if (!v->translations) return true;
    PairIds pair = corpus_pair(&run->valid, 0);
    for (int i = 1; i < v->translations && pair.length[SOURCE] > PICTURE_WORDS; i++) {
        PairIds other = corpus_pair(&run->valid, (size_t)i);
        if (other.length[SOURCE] < pair.length[SOURCE]) pair = other;
    }
    const Hypothesis *best = v->ids.sentence[pair.number].hypothesis;
    int word[PICTURE_WORDS], words = at_most(best->length, PICTURE_WORDS);
    memcpy(word, best->id, (size_t)words * sizeof *word);
    word[words - 1] = ID_END;
    snapshot_close(snapshot);
    snapshot =
        snapshot_open(&run->model, pair.id[SOURCE], pair.length[SOURCE], word, words, error);
    return snapshot;
}

/* ---- both, in one process, since each has to load fonts ---- */

static bool draw_validation(const Run *run, const char *path, Error *error)
{
    char attention[PATH_MAX];
    Error first;
    bool loss = draw_loss(run, path, &first);
    bool good =
        !snapshot || draw_attention(run, run_file(attention, run, "attention.png"), error);
    if (!loss) *error = first;
    return loss && good;
}

bool pictures_validation(Run *run, Error *error)
{
    bool good = pictures_draw(draw_validation, "loss.png", run, error);
    snapshot_close(snapshot), snapshot = NULL;
    return good;
}
