/* outputs.c -- fuzzes what ./translate shows of a translation, with vocabularies of any pieces:
 * words, subwords, phrases, bytes, user-defined symbols, or all of them at once. Three bytes come
 * first:
 *
 *     the vocabulary    3: its type; 4 byte fallback; 8 the space comes after a word;
 *                       16 spaces stay as they are, 32 none is put before a text;
 *                       64: a PDF instead of an SVG, 128 one more layer of the encoder
 *     the network       1: two layers instead of one; 6: heads; 8 the translation is given;
 *                       240: its variant (tests/fixtures/variants.h)
 *     what is shown     1 JSON, 2 attention, 4 an explanation, 8 links, 16 a report on heads,
 *                       32 n-best; 192: a PNG, an SVG, a page, or an exported folder
 *
 * then the pieces, one a line, each after the number of its type (PieceType), the line to translate,
 * and the given translation, with 0x1E between them. */
#include <math.h>

#include "tests/fixtures/small-model.h"

#include "tests/fixtures/fuzz-model.h"

#include "base/rng.h"
#include "commands/translate/neighbours.h"
#include "commands/translate/view.h"
#include "explain/page.h"
#include "inference/marian.h"
#include "inference/translator.h"
#include "model/quantised.h"
#include "tests/fixtures/variants.h"

static Workers *worker;

/* A SentencePiece model with these pieces after </s> and <unk>. */
static const SmallModel *model_of(char *pieces, unsigned flags)
{
    static SmallModel model;
    const unsigned char trainer[] = {0xC0, 1, !!(flags & 8)};  // 24, treat_whitespace_as_suffix
    unsigned char normaliser[] = "\x0a\x08identity\x18\0\x20\0\x28\1";  // 1, 3, 4 and 5
    float score = 0;
    small_model_begin(&model, (TokenizerType)(flags & 3), flags & 4);
    for (char *piece; (piece = strsep(&pieces, "\n"));)
        if (*piece) small_model_piece(&model, piece + 1, score -= 1, (PieceType)(*piece - '0'));
    normaliser[11] = !(flags & 32), normaliser[13] = !(flags & 16);
    small_model_put(&model, 2, trainer, sizeof trainer);
    small_model_put(&model, 3, normaliser, sizeof normaliser - 1);
    return &model;
}

/* A network with random weights, large enough that its attention is sharp. */
static bool make_network(Bundle *bundle, unsigned flags, const Variant *variant, int more)
{
    int layers = 1 + (flags & 1), heads = 1 + (flags >> 1 & 3);
    int V = tokenizer_vocab_size(bundle->vocabulary.tokenizer[TARGET]);
    const ModelConfig plain = {NETWORK(V, 8 * heads, heads, 16, layers + more, layers, 12)};
    ModelConfig config = variant_config(plain, variant);
    config.source_vocab = variant->more_source ? V : 0;
    Transformer *model = &bundle->model;
    assert(transformer_create(model, &config, &error));
    Rng rng = rng_stream(1, RNG_TEST, 0);
    for (size_t i = 0; i < model->params.size; i++) model->block[i] = (real)rng_normal(&rng);
    for (int d = 0; d < config.d_model; d++)
        model->weights.target_embedding.at[(V - 1) * config.d_model + d] = 0;
    bundle->config = strdup(fuzz_model()->config);
    bundle->max_length = config.max_length;
    return bundle->config;
}

/* Draws what the last two bits of `what` say. */
static void draw(const Bundle *bundle, const IdLines *source, const Hypothesis *best,
                 unsigned what, bool pdf)
{
    const char *const name[] = {"out.png", pdf ? "out.pdf" : "out.svg", "out.html"};
    char path[TEMPORARY_SIZE + 32];
    const Snapshot *snapshot = snapshot_open(&bundle->model, source->ids.id, source->start[1],
                                             best->id, best->length, &error);
    const PictureInput input = {.snapshot = snapshot,
                                .vocabulary = &bundle->vocabulary,
                                .model_name = "it",
                                .choice = &choice_default,
                                .words = what & 1};
    assert(snapshot);
    fuzz_path(path, name[what >> 6]);
    accepted((what >> 6 == 2 ? page_save(path, &input, &error)
                             : picture_save(path, NULL, &input, &error)));
    snapshot_close((Snapshot *)(uintptr_t)snapshot);
}

static void show(Bundle *bundle, Passages *passages, IdLines *given, unsigned flags,
                 unsigned what, bool pdf)
{
    static char *model[] = {FUZZ_MODEL}, *text[] = {"a", "b"};
    Request request = {.model = {model, 1},
                       .texts = {text, 2},
                       .search = search_copying,
                       .json = what & 1,
                       .show = what & 2,
                       .explain = what & 4,
                       .head_report = what & 16,
                       .pair_count = 1,
                       .choice = choice_default,
                       .align = what & 8};
    View view = {.request = &request, .bundle = bundle};
    Ensemble ensemble = ensemble_of(&bundle->model);
    const IdLines *source = &passages->lines;
    TranslatorInput input = {
        .source = idlines_packed(source), .placeholder = passages->placeholder, .line = 1};
    Translations out = {0};
    double each[16] = {0};
    Hypothesis hypothesis = {given->ids.id, (int)given->ids.count, -1, -1, each};
    const Translation pair = {&hypothesis, 1, 16}, *found = &pair;
    char *best = NULL;
    request.search.n_best = what & 32 ? 3 : 1;
    passages->begun = flags & 8 ? given : NULL;
    assert(view_open(&view, &error));
    if (!passages->begun && source->count &&
        accepted(
            translator_run(&out, &ensemble, &input, &request.search, worker, NULL, &error)))
        found = out.sentence;
    if (passages->begun || !source->count || out.sentences) {
        accepted(view_answer(&view, &best, passages, 0, found, &error));
        if (found->count && what >> 6 < 3 && source->count == 1)
            draw(bundle, source, found->hypothesis, what, pdf);
    }
    accepted(view_close(&view, &error));
    translations_free(&out);
    free(best);
}

/* Exports the model as a folder of MarianMT, and reads that. */
static void export(Bundle *bundle)
{
    static const char *const files[] = {"config.json",
                                        "vocab.json",
                                        "source.spm",
                                        "target.spm",
                                        "model.safetensors",
                                        "generation_config.json",
                                        "tokenizer_config.json",
                                        ""};
    char folder[TEMPORARY_SIZE + 32], path[TEMPORARY_SIZE + 64];
    Bundle again;
    if (!accepted(marian_export(&bundle->model, &bundle->vocabulary,
                                fuzz_path(folder, "exported"), &error)))
        return;
    if (accepted(bundle_load(&again, folder, BUNDLE_FLOAT, NULL, &error))) bundle_free(&again);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        remove(path);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 3) return 0;
    if (!worker) {
        assert(worker = workers_start(1, &error));
        assert(stdout = fopen("/dev/null", "w"));
    }
    unsigned vocabulary = data[0], flags = data[1], what = data[2];
    char *part[3];
    size_t length[3];
    data += 3, size -= 3;
    for (int i = 0; i < 3; i++) part[i] = fuzz_part(&length[i], &data, &size);
    const SmallModel *model = model_of(part[0], vocabulary);
    Variant variant = variants[(flags >> 4) % VARIANTS];
    bool two = variant.more_source;  // vocabularies, which are equal
    Bundle bundle = {0};
    static const PassageConfig config;
    Passages passages = {0};
    IdLines given = {.find_words = true, .find_unknown = true};
    const void *bytes[SIDES] = {two ? model->bytes : NULL, model->bytes};
    const size_t sizes[SIDES] = {two ? model->size : 0, model->size};
    if (accepted(vocabulary_copy(&bundle.vocabulary, bytes, sizes, &error) &&
                 vocabulary_load(&bundle.vocabulary, &error))) {
        assert(make_network(&bundle, flags, &variant, vocabulary >> 7));
        if (what >> 6 == 3) export(&bundle);
        assert(transformer_prepare(&bundle.model, false, &error));
        assert(passages_open(&passages, &bundle, &config, &error));
        passages.lines.find_words = true;
        passages.whole = passages.plain = flags & 8;
        if (accepted(passages_add(&passages, part[1], length[1], &error) &&
                     bundle_encode(&bundle, TARGET, &given, part[2], length[2], NULL, &error)))
            show(&bundle, &passages, &given, flags, what, vocabulary & 64);
        const char *first =
            tokenizer_label(bundle.vocabulary.tokenizer[TARGET], ID_UNKNOWN + 1);
        accepted(neighbours_print(&bundle, first, NULL, &error));
    }
    passages_free(&passages);
    idlines_free(&given);
    bundle_free(&bundle);
    for (int i = 0; i < 3; i++) free(part[i]);
    return 0;
}
