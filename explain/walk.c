/* walk.c -- where the walk begins, and the numbers on its way; see walk.h. */
#include "explain/walk.h"

#include <stdlib.h>
#include <string.h>

/* ---- the numbers ---- */

/* q·k of the row that is followed, summed in double. */
static double dot(const Walk *w, int column)
{
    const real *q = w->v.Q.at + (size_t)w->word * (size_t)w->v.Q.stride;
    const real *k = w->v.K.at + (size_t)column * (size_t)w->v.K.stride;
    double sum = 0;
    for (int i = 0; i < w->v.Q.columns; i++) sum += (double)q[i] * (double)k[i];
    return sum;
}

double walk_share(const Walk *w, int row, int column)
{
    return (double)w->map.at[(size_t)row * (size_t)w->map.width + (size_t)column];
}

int walk_seen(const Walk *w, int row)
{
    return w->kind == ATTENTION_DECODER ? row + 1 : w->map.columns;
}

int walk_strongest(const Walk *w, int row)
{
    int most = 0;
    for (int j = 1; j < walk_seen(w, row); j++)
        if (walk_share(w, row, j) > walk_share(w, row, most)) most = j;
    return most;
}

bool walk_is_end(const char *label)
{
    return !strcmp(label, "</s>");
}

/* ---- where the walk begins ---- */

/* Among the heads that are allowed, the one whose rows look most sharply at what is not </s>. */
static void choose_head(Walk *w, const Choice *choice)
{
    double best = -1;
    for (int l = 0; l < snapshot_layers(w->snapshot, w->kind); l++)
        for (int h = 0; h < snapshot_heads(w->snapshot); h++) {
            if ((choice->layer >= 0 && choice->layer != l) ||
                (choice->head >= 0 && choice->head != h))
                continue;
            AttentionMap map = snapshot_map(w->snapshot, w->kind, l, h);
            double sum = 0;
            for (int i = 0; i < map.rows; i++) {
                real most = 0;
                for (int j = 0; j < map.columns; j++)
                    if (!walk_is_end(w->column[j]) && map.at[i * map.width + j] > most)
                        most = map.at[i * map.width + j];
                sum += (double)most;
            }
            if (sum > best) best = sum, w->layer = l, w->head = h;
        }
}

/* The word that is named; or the first that looks at another place than its own. */
static bool choose_word(Walk *w, const char *word, Error *error)
{
    int rows = w->map.rows;
    for (int i = 0; i < rows && word; i++)
        if (!strcmp(w->row[i], word)) return w->word = i, true;
    if (word) {
        char *end;
        long place = strtol(word, &end, 10);
        if (end == word || *end || place < 1 || place > rows)
            return error_set(
                error,
                "--word: '%s' is neither one of the %d tokens \"%s\" … \"%s\" nor a "
                "place from 1 to %d",
                word, rows, w->row[0], w->row[rows - 1], rows);
        return w->word = (int)place - 1, true;
    }
    w->word = 0;
    for (int i = 0; i < rows; i++) {
        int j = walk_strongest(w, i);
        if (walk_is_end(w->row[i]) || walk_is_end(w->column[j]) || i == j) continue;
        w->word = i;
        break;
    }
    return true;
}

static void name_rows(Walk *w)
{
    int pad = w->model->config.vocab - 1;
    int rows = w->kind == ATTENTION_ENCODER ? w->n : w->m,
        columns = w->kind == ATTENTION_DECODER ? w->m : w->n;
    for (int i = 0; i < rows; i++)
        w->row[i] = w->kind == ATTENTION_ENCODER ? tokenizer_label(w->read, w->source[i])
                                                 : tokenizer_label(w->written, w->target[i]);
    for (int j = 0; j < columns; j++)
        w->column[j] = w->kind == ATTENTION_DECODER
                           ? tokenizer_label(w->written, j ? w->target[j - 1] : pad)
                           : tokenizer_label(w->read, w->source[j]);
}

bool walk_begin(Walk *w, const Choice *choice, const char *word, Error *error)
{
    size_t most = (size_t)(w->n > w->m ? w->n : w->m);
    w->row = malloc(most * sizeof *w->row);
    w->column = malloc(most * sizeof *w->column);
    w->dot = malloc(most * sizeof *w->dot);
    if (!w->row || !w->column || !w->dot)
        return error_set(error, "not enough memory to explain the attention");
    name_rows(w);
    choose_head(w, choice);
    w->map = snapshot_map(w->snapshot, w->kind, w->layer, w->head);
    w->v = snapshot_vectors(w->snapshot, w->kind, w->layer, w->head);
    if (!choose_word(w, word, error)) return false;
    w->most = walk_strongest(w, w->word);
    for (int j = 0; j < w->map.columns; j++) w->dot[j] = dot(w, j);
    return true;
}

void walk_end(Walk *w)
{
    free(w->row);
    free(w->column);
    free(w->dot);
}
