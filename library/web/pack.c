/* pack.c -- a model for the page: its options, its vocabulary and its weights as three files.
 *
 *   pack MODEL.safetensors FOLDER
 *
 *   options.txt      lines "name value" of the model's options
 *   vocabulary.bin the tokenizer, as SentencePiece's library saves it
 *   weights.bin    two bytes: the layer and the head that align words best, counted from 1, or 0; for
 *                  each tensor of the table (model/params.h) a byte, 18, and row by row: float s,
 *                  s = max |w| / 131071, then its numbers w as u = round(w/s) + 131072, four in 9 bytes:
 *                  the low 16 bits of each, little-endian, then 2 high bits of each, the first's lowest
 *
 * 16 bits would change attention weights by 0.0001. */

#include "explain/choice.h"
#include "inference/bundle.h"

static void put_row(FILE *out, const real *w, size_t count)
{
    float most = 0;
    for (size_t i = 0; i < count; i++) most = fmaxf(most, fabsf(w[i]));
    float scale = most > 0 ? most / 131071 : 1;
    fwrite(&scale, sizeof scale, 1, out);
    for (size_t i = 0; i < count; i += 4) {
        unsigned high = 0;
        for (size_t j = 0; j < 4; j++) {
            long number = lrintf(i + j < count ? w[i + j] / scale : 0) + 131072;
            fputc((int)(number & 255), out);
            fputc((int)(number >> 8 & 255), out);
            high |= (unsigned)(number >> 16) << 2 * j;
        }
        fputc((int)high, out);
    }
}

static FILE *file_in(const char *folder, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return fopen(path, "wb");
}

int main(int argc, char **argv)
{
    Error error;
    Bundle bundle;
    if (argc != 3 || !bundle_load(&bundle, argv[1], BUNDLE_ROWS, NULL, &error))
        return fprintf(stderr, "pack: %s\n", argc == 3 ? error.text : "MODEL FOLDER"), 1;
    FILE *options = file_in(argv[2], "options.txt"),
         *vocabulary = file_in(argv[2], "vocabulary.bin"),
         *weights = file_in(argv[2], "weights.bin");
    if (!options || !vocabulary || !weights) return perror(argv[2]), 1;
    const Transformer *model = &bundle.model;
    config_print(options, &model->config);
    fwrite(bundle.vocabulary.model[TARGET], 1, bundle.vocabulary.size[TARGET], vocabulary);
    Choice choice = choice_default;
    choice_know(&choice, &bundle);
    fputc(choice.known_layer + 1, weights), fputc(choice.known_head + 1, weights);
    for (const Tensor *t = model->params.tensor; t < model->params.tensor + model->params.count;
         t++) {
        size_t row = t->shape[1] > 1 ? (size_t)t->shape[1] : t->count;
        fputc(18, weights);
        for (size_t at = 0; at < t->count; at += row)
            put_row(weights, model->block + t->offset + at, row);
    }
    bundle_free(&bundle);
    return fclose(options) | fclose(vocabulary) | fclose(weights);
}
