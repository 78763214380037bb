/* page.c -- the page with its data; see page.h. */
#include "explain/page.h"

#include "base/file.h"
#include "base/textstream.h"

#include <stdlib.h>
#include <string.h>

/* Within a function, clang-tidy would take minutes for it. */
static const unsigned char template[] = {
#include "plots/page.inc"
};

const char *page_begin(FILE *out, const void *html, size_t *length)
{
    static const char marker[] = "@data@";
    const char *all = html ? html : (const char *)template;
    if (!html) *length = sizeof template;
    const char *data = memmem(all, *length, marker, strlen(marker));
    fwrite(all, 1, (size_t)(data - all), out);
    data += strlen(marker);
    *length -= (size_t)(data - all);
    return data;
}

bool page_write(FILE *out, const void *html, size_t length, const PictureInput *input,
                Error *error)
{
    const Snapshot *snapshot = input->snapshot;
    const ModelConfig *config = &snapshot->model->config;
    double weights = 0, vectors = 0;  // how many numbers
    JsonWriter json = {.out = out, .html = true};
    for (AttentionKind kind = ATTENTION_ENCODER; kind <= ATTENTION_CROSS; kind++) {
        SnapshotRows map = snapshot_map(snapshot, kind, 0, 0);
        double layers = snapshot_layers(snapshot, kind), rows = map.rows, columns = map.columns;
        weights += layers * config->heads * rows * columns;
        vectors += layers * (rows + 2 * columns) * config->d_model;
    }
    if (input->gradients) vectors = 2 * vectors + 2 * weights;
    if (weights > PAGE_WEIGHTS)
        return error_set(error,
                         "the attention of %d and %d tokens is %.0f numbers, too many for a "
                         "page: give `attention` the name of a .png file",
                         snapshot->source.rows, snapshot->target.rows, weights);
    const char *end = page_begin(out, html, &length);
    if (!page_data(&json, input, vectors <= PAGE_VECTORS, error)) return false;
    fwrite(end, 1, length, out);
    return true;
}

bool page_save(const char *path, const PictureInput *input, Error *error)
{
    TextStream stream;
    bool good = !textstream_open(&stream) || page_write(stream.out, NULL, 0, input, error);
    char *text = textstream_close(&stream);
    if (good) return file_replace_text(path, text, error);
    free(text);
    return false;
}
