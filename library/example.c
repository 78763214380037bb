/* example.c -- a program that uses the library. It translates its arguments, and prints for
 * each token of the first translation the source token with the largest attention weight.
 *
 *     cc example.c -o example $(pkg-config --cflags --libs qkv)
 *     ./example model.safetensors "jane visits africa in september" */
#include <qkv.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    if (argc < 3) return fputs("usage: example MODEL TEXT...\n", stderr), 2;
    const char *const *texts = (const char *const *)argv + 2;
    QkvError error = {"not enough memory"};
    QkvModel *model = qkv_model_load(argv[1], QKV_FLOAT, &error);
    QkvTranslator *translator = model ? qkv_translator_new(model, 0, &error) : NULL;
    QkvTranslations *out =
        translator ? qkv_translate(translator, texts, NULL, argc - 2, &error) : NULL;
    for (int s = 0; out && s < out->count; s++) puts(out->sentence[s].hypothesis[0].text);

    QkvAttention *seen =
        out ? qkv_attention(model, texts[0], out->sentence[0].hypothesis, &error) : NULL;
    float *row = seen ? malloc(sizeof *row * seen->targets * seen->sources) : NULL,
          *weights = row;
    bool good = row && qkv_attention_weights(weights, seen, QKV_CROSS, seen->decoder_layers - 1,
                                             QKV_MEAN, &error);
    for (int t = 0; good && t < seen->targets; t++, row += seen->sources) {
        int most = 0;
        for (int s = 1; s < seen->sources; s++) most = row[s] > row[most] ? s : most;
        printf("%s\t%s\t%.2f\n", seen->target[t], seen->source[most], row[most]);
    }
    if (!good) fprintf(stderr, "example: %s\n", error.text);
    free(weights);
    qkv_attention_free(seen);
    qkv_translations_free(out);
    qkv_translator_free(translator);
    qkv_model_free(model);
    return !good;
}
