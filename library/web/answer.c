/* answer.c -- what a page shows of a text: its translation and its attention; see web.h. */
#include "library/web/web.h"

#include <stdlib.h>
#include <string.h>

#include "base/block.h"
#include "base/textstream.h"
#include "explain/page.h"
#include "inference/copying.h"
#include "inference/translator.h"

/* Lines of text, and their translations. */
typedef struct Answer {
    IdLines lines;
    Translations found;
} Answer;

static bool read_lines(Answer *answer, const char *text)
{
    answer->lines.find_unknown = true;
    const char *end = text;
    do {
        text = end + (*end == '\n');
        end = text + strcspn(text, "\n");
        if (!idlines_add(&answer->lines, web.vocabulary.tokenizer[SOURCE],
                         web.model.config.max_length, text, (size_t)(end - text), NULL,
                         &web.error))
            return false;
    } while (*end && end[1]);
    return true;
}

static bool translate(Answer *answer, const char *text)
{
    if (!read_lines(answer, text)) return false;
    Ensemble ensemble = ensemble_of(&web.model);
    TranslatorInput input = {.source = idlines_packed(&answer->lines), .line = 1};
    return translator_run(&answer->found, &ensemble, &input, &search_copying,
                          workers_start(1, NULL), NULL, &web.error);
}

static void answer_free(Answer *answer)
{
    translations_free(&answer->found);
    idlines_free(&answer->lines);
}

/* What a hypothesis of line s copies; *copied is to be freed. */
static bool copy(const char ***copied, const Answer *answer, int s, const Hypothesis *best)
{
    LazySnapshot lazy = copying_snapshot(&web.model, &answer->lines, s, best);
    bool good = copying_choose(copied, &answer->lines, s, best, &lazy, &web.error);
    snapshot_close(lazy.taken);
    return good;
}

char *EXPORT(web_translate)(const char *text)
{
    Answer answer = {0};
    TextStream stream;
    FILE *out = textstream_open(&stream);
    bool good = out && translate(&answer, text);
    for (int s = 0; good && s < answer.found.sentences; s++) {
        const Hypothesis *best = answer.found.sentence[s].hypothesis;
        const char **copied = NULL;
        char *line = NULL;
        good = copy(&copied, &answer, s, best) &&
               tokenizer_decode_unknown(web.vocabulary.tokenizer[TARGET], &line, best->id,
                                        (size_t)best->length, copied, &web.error);
        if (good) fprintf(out, "%.7f\t%s\n", best->score, line);
        free(copied);
        free(line);
    }
    answer_free(&answer);
    char *lines = textstream_close(&stream);
    return good ? lines : (free(lines), NULL);
}

/* ---- attention ---- */

/* Goes back through the pass, so that the snapshot has its gradients. */
static bool backward(Snapshot *snapshot)
{
    Weights dw;
    Loss loss = {0};
    real *block = block_zeros(web.model.params.size * sizeof(real), &web.error);
    if (!block) return false;
    params_bind(&dw, block, &web.model.config);
    transformer_backward(&loss, &snapshot->activations, &web.model, &dw, 0.1,
                         1 / (real)snapshot->target.rows);
    free(block);
    return true;
}

static char *data_of(Snapshot *snapshot, bool given)
{
    PictureInput input = {.snapshot = snapshot,
                          .gradients = snapshot,
                          .vocabulary = &web.vocabulary,
                          .model_name = "the model in this page",
                          .choice = &choice_default,
                          .given = given};
    TextStream stream;
    JsonWriter json = {.out = textstream_open(&stream)};
    bool good = json.out && backward(snapshot) && page_data(&json, &input, true, &web.error);
    char *text = textstream_close(&stream);
    return good ? text : (free(text), NULL);
}

/* The attention of line 0 for the target, whose probabilities are `each`, or NULL. */
static char *attention_of(const Answer *answer, const Packed *to, const char *const *unknown,
                          const double *each, bool given)
{
    const Packed from = {1, answer->lines.start[1], answer->lines.ids.id, NULL};
    Snapshot *snapshot = snapshot_open_for(&web.model, &from, to, KEEP_GRADIENTS, &web.error);
    if (!snapshot) return NULL;
    snapshot->unknown[SOURCE] = (const char *const *)answer->lines.unknown;
    snapshot->unknown[TARGET] = unknown;
    snapshot->each = each;
    char *data = data_of(snapshot, given);
    snapshot_close(snapshot);
    return data;
}

char *EXPORT(web_attention)(const char *text, const char *given)
{
    Answer answer = {0};
    IdLines line = {.find_unknown = true};
    const char **copied = NULL;
    char *data = NULL;
    if (*given
            ? idlines_add(&line, web.vocabulary.tokenizer[TARGET], web.model.config.max_length,
                          given, strlen(given), NULL, &web.error) &&
                  read_lines(&answer, text)
            : translate(&answer, text) &&
                  copy(&copied, &answer, 0, answer.found.sentence->hypothesis)) {
        const Hypothesis *best = *given ? NULL : answer.found.sentence->hypothesis;
        const Packed own = {1, best ? best->length : line.start[1],
                            best ? best->id : line.ids.id, NULL};
        data = attention_of(&answer, &own, best ? copied : (const char *const *)line.unknown,
                            best ? best->each : NULL, !best);
    }
    free(copied);
    idlines_free(&line);
    answer_free(&answer);
    return data;
}
