/* engine.c -- the model of a page: its weights, and changes of them; see web.h. */
#include "base/block.h"
#include "library/web/web.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inference/intervention.h"
#include "inference/snapshot.h"

Web web;

void *EXPORT(web_memory)(size_t bytes)
{
    return malloc(bytes);
}

void EXPORT(web_release)(void *memory)
{
    free(memory);
}

const char *EXPORT(web_error)(void)
{
    return web.error.text;
}

bool EXPORT(web_words)(const char *words)
{
    vocabulary_free(&web.vocabulary);
    const void *const model[SIDES] = {NULL, words};
    return vocabulary_copy(&web.vocabulary, model, (size_t[SIDES]){0, strlen(words)},
                           &web.error) &&
           vocabulary_load(&web.vocabulary, &web.error);
}

bool web_options(const OptionGroup *group, const char *lines)
{
    char name[40], value[40];
    for (int end; sscanf(lines, "%39s %39s%n", name, value, &end) == 2; lines += end)
        if (!options_set(group, 1, name, value, &web.error)) return false;
    return true;
}

bool EXPORT(web_model)(const char *options)
{
    ModelConfig config = {.vocab = tokenizer_vocab_size(web.vocabulary.tokenizer[TARGET])};
    const OptionGroup group = {"Model", NULL, model_options, model_option_count, &config};
    if (!web_options(&group, options)) return false;
    free(web.kept);
    web.kept = NULL;
    transformer_free(&web.model);
    return transformer_create(&web.model, &config, &web.error);
}

/* The numbers of a row as library/web/pack.c writes them. Returns the byte after them. */
static const unsigned char *take_row(real *w, size_t count, const unsigned char *bytes)
{
    float scale;
    memcpy(&scale, bytes, sizeof scale);
    bytes += sizeof scale;
    for (size_t i = 0; i < count; i++) {
        const unsigned char *four = bytes + i / 4 * 9, *low = four + i % 4 * 2;
        w[i] =
            scale * (real)((low[0] | low[1] << 8 | (four[8] >> i % 4 * 2 & 3) << 16) - 131072);
    }
    return bytes + (count + 3) / 4 * 9;
}

bool EXPORT(web_weights)(const unsigned char *bytes, size_t size)
{
    const Params *params = &web.model.params;
    const unsigned char *end = bytes + size;
    for (int t = 0; t < params->count; t++) {
        const Tensor *tensor = &params->tensor[t];
        size_t row = tensor->shape[1] > 1 ? (size_t)tensor->shape[1] : tensor->count;
        real *to = web.model.block + tensor->offset;
        if ((size_t)(end - bytes) < tensor->count / row * (sizeof(float) + (row + 3) / 4 * 9))
            return error_set(&web.error, "the weights end before %s", tensor->name);
        for (size_t at = 0; at < tensor->count; at += row)
            bytes = take_row(to + at, row, bytes);
    }
    return true;
}

/* ---- changes ---- */

/* Splits at spaces. */
static bool split(StringList *list, const char *text)
{
    char item[40];
    for (int end; sscanf(text, "%39s%n", item, &end) == 1; text += end)
        if (!strings_add(list, item, &web.error)) return false;
    return true;
}

bool EXPORT(web_change)(const char *ablate, const char *intervene)
{
    size_t bytes = web.model.params.size * sizeof(real);
    Intervention change = {0};
    if (web.kept) {
        memcpy(web.model.block, web.kept, bytes);
        transformer_use(&web.model, web.model.block);
        free(web.kept);
        web.kept = NULL;
    }
    if (!*ablate && !*intervene) return true;
    web.kept = block_allocate(bytes);
    if (!web.kept) return error_memory(&web.error, "for a changed model");
    memcpy(web.kept, web.model.block, bytes);
    bool good = split(&change.ablate, ablate) && split(&change.intervene, intervene) &&
                intervention_parse(&change, &web.error) &&
                intervention_apply(&change, &web.model, &web.error);
    strings_free(&change.ablate);
    strings_free(&change.intervene);
    return good;
}

const real *EXPORT(web_projections)(int kind, int layer, int head)
{
    static real out[3 * 512 * 512], row[MAX_D_MODEL];
    const Weights *w = &web.model.weights;
    const LayerWeights *l = kind == ATTENTION_ENCODER ? &w->encoder[layer] : &w->decoder[layer];
    const AttentionWeights *a = kind == ATTENTION_CROSS ? &l->cross : &l->self;
    const Linear *const linear[] = {&a->q, &a->k, &a->v};
    int D = web.model.config.d_model, dh = D / web.model.config.heads, n = 3 * dh;
    for (int r = 0; r < n && (r + 1) * D <= (int)(sizeof out / sizeof *out); r++)
        memcpy(out + r * D, matrix_row(row, &linear[r / dh]->W, head * dh + r % dh, D),
               (size_t)D * sizeof *out);
    return out;
}
