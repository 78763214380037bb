/* marian.c -- folders in the format of Hugging Face's MarianMT; see marian.h. */
#include "inference/marian.h"

#include "base/file.h"
#include "base/json.h"
#include "data/sentencepiece.h"

#include <libgen.h>
#include <malloc.h>
#include <unistd.h>

/* Other programs leave <pad> in the softmax. With this bias it is never the answer, and the
 * bias is a number in float16, too. */
#define PAD_BIAS (-10000)

/* By Activation: transformers' names of the functions in activation.h. */
static const char *const ACTIVATIONS[] = {"relu", "gelu", "swish"};

static const char *const FILES[] = {"config.json",
                                    "generation_config.json",
                                    "tokenizer_config.json",
                                    "vocab.json",
                                    "source.spm",
                                    "target.spm",
                                    "model.safetensors"};
enum { CONFIG, GENERATION, TOKENIZER, VOCAB, SOURCE_SPM, TARGET_SPM, WEIGHTS, FILE_COUNT };

/* path (=) one of the files in a folder */
static const char *file_in(char path[PATH_MAX], const char *folder, int file)
{
    snprintf(path, PATH_MAX, "%s/%s", folder, FILES[file]);
    return path;
}

/* ---- reading ---- */

enum { MAX_JSON = 1 << 26, MAX_TOKENS = 1 << 24, MAX_LENGTH = 8192 };

typedef struct Folder {
    const char *name;
    json_t *config, *vocab;
    int V, pad;
    const char **piece;  // [V] by our ids
} Folder;

/* A file's object, for json_decref. NULL: error */
static json_t *read_json(const char *folder, int file, Error *error)
{
    char path[PATH_MAX];
    size_t length;
    char *text = file_read(file_in(path, folder, file), MAX_JSON, &length, error);
    json_t *json = text ? json_parse(text, length, path, error) : NULL;
    free(text);
    if (!json || json_is_object(json)) return json;
    json_decref(json);
    return error_set(error, "'%s' is no JSON object", path), NULL;
}

static bool wrong_key(const Folder *f, const char *key, const char *what, Error *error)
{
    return error_set(error, "'%s/%s': %s %s", f->name, FILES[CONFIG], key, what);
}

static bool get_size(int *value, const Folder *f, const char *key, int least, Error *error)
{
    const json_t *json = json_object_get(f->config, key);
    json_int_t number = json_integer_value(json);
    *value = (int)number;
    return (json_is_integer(json) && number >= least && number <= MAX_TOKENS) ||
           error_set(error, "'%s/%s': %s must be a whole number from %d to %d", f->name,
                     FILES[CONFIG], key, least, MAX_TOKENS);
}

static bool get_flag(const Folder *f, const char *key, bool by_default)
{
    const json_t *json = json_object_get(f->config, key);
    return json && !json_is_null(json) ? json_is_true(json) : by_default;
}

/* What the network of MarianMT leaves open, and this program's does not. */
static bool check_config(const Folder *f, Error *error)
{
    static const char *const off[] = {"normalize_before", "normalize_embedding",
                                      "add_final_layer_norm"};
    static const char *const same[][2] = {
        {"encoder_attention_heads", "decoder_attention_heads"},
        {"encoder_ffn_dim", "decoder_ffn_dim"}};
    const char *type = json_string_value(json_object_get(f->config, "model_type"));
    if (!type || strcmp(type, "marian"))
        return wrong_key(f, "model_type", "is not 'marian'", error);
    for (int i = 0; i < 3; i++)
        if (get_flag(f, off[i], false))
            return wrong_key(f, off[i], "true is not supported", error);
    static const char *const on[] = {"static_position_embeddings", "scale_embedding"};
    for (int i = 0; i < 2; i++)
        if (!get_flag(f, on[i], i == 0))
            return wrong_key(f, on[i], "false is not supported", error);
    for (int i = 0; i < 2; i++)
        if (!json_equal(json_object_get(f->config, same[i][0]),
                        json_object_get(f->config, same[i][1])))
            return wrong_key(f, same[i][0], "is not that of the decoder", error);
    return true;
}

/* The configuration as this program writes it. */
static bool read_config(CheckpointFile *c, const Folder *f, Error *error)
{
    ModelConfig m = {.output_bias = true};
    const char *name = json_string_value(json_object_get(f->config, "activation_function"));
    if (!get_size(&m.d_model, f, "d_model", 2, error) ||
        !get_size(&m.heads, f, "encoder_attention_heads", 1, error) ||
        !get_size(&m.ffn, f, "encoder_ffn_dim", 1, error) ||
        !get_size(&m.encoder_layers, f, "encoder_layers", 1, error) ||
        !get_size(&m.decoder_layers, f, "decoder_layers", 1, error) ||
        !get_size(&m.max_length, f, "max_position_embeddings", 2, error))
        return false;
    char next[2][64];
    snprintf(next[0], sizeof next[0], "model.encoder.layers.%d.", m.encoder_layers);
    snprintf(next[1], sizeof next[1], "model.decoder.layers.%d.", m.decoder_layers);
    for (int i = 0; i < 2; i++)
        if (checkpoint_has(c, next[i]))
            return wrong_key(f, i ? "decoder_layers" : "encoder_layers",
                             "is less than model.safetensors has", error);
    m.max_length = at_most(m.max_length, MAX_LENGTH);
    if (name && !strcmp(name, "silu")) name = "swish";
    while (m.activation < 3 && name && strcmp(name, ACTIVATIONS[m.activation])) m.activation++;
    if (!name || m.activation == 3)
        return wrong_key(f, "activation_function", "is not relu, gelu, swish or silu", error);
    if (!get_flag(f, "share_encoder_decoder_embeddings", true)) m.tying = TYING_DECODER;
    if (!get_flag(f, "tie_word_embeddings", true)) m.tying = TYING_NONE;
    const OptionGroup group = {NULL, "model", model_options, model_option_count, &m};
    c->config = c->own_config = options_to_json(&group, 1, false);
    return c->config || error_memory(error, "for the configuration");
}

/* c->row and f->piece (=) </s>, <unk>, all others in their order, <pad>; the decoder begins with
 * its own row in place of <pad>'s. */
static bool order_tokens(CheckpointFile *c, Folder *f, Error *error)
{
    int end, start, unknown = -1, next = ID_UNKNOWN + 1;
    const char *piece;
    json_t *value;
    if (!get_size(&f->V, f, "vocab_size", 4, error) ||
        !get_size(&f->pad, f, "pad_token_id", 0, error) ||
        !get_size(&end, f, "eos_token_id", 0, error) ||
        !get_size(&start, f, "decoder_start_token_id", 0, error))
        return false;
    bool sized = json_object_size(f->vocab) == (size_t)f->V;
    if (!sized || start >= f->V)
        return wrong_key(f, sized ? "decoder_start_token_id" : "vocab_size",
                         "does not fit vocab.json", error);
    const char **by_id = calloc((size_t)f->V, sizeof *by_id);
    f->piece = calloc((size_t)f->V, sizeof *f->piece);
    c->row = calloc((size_t)f->V, sizeof *c->row);
    bool good = (by_id && f->piece && c->row) || error_memory(error, "for %d tokens", f->V);
    json_object_foreach(f->vocab, piece, value)
    {
        json_int_t id = json_integer_value(value);
        if (!good) break;
        if (!json_is_integer(value) || id < 0 || id >= f->V || by_id[id] || !*piece)
            good = error_set(error, "'%s/%s': the id of '%s' is not one of its own, 0 to %d",
                             f->name, FILES[VOCAB], piece, f->V - 1);
        else by_id[id] = piece;
        if (good && !strcmp(piece, "<unk>")) unknown = (int)id;
    }
    if (good && (end >= f->V || f->pad >= f->V || strcmp(by_id[end], "</s>") ||
                 strcmp(by_id[f->pad], "<pad>") || unknown < 0))
        good = error_set(error, "'%s/%s' has not </s>, <unk> and <pad> where %s says", f->name,
                         FILES[VOCAB], FILES[CONFIG]);
    for (int id = 0; good && id < f->V; id++) {
        int to = id == end       ? ID_END
                 : id == unknown ? ID_UNKNOWN
                 : id == f->pad  ? f->V - 1
                                 : next++;
        f->piece[to] = by_id[id];
        c->row[to] = id == f->pad ? start : id;
    }
    free(by_id);
    return good;
}

/* The source's model is left out if it is the target's. */
static bool read_tokenizers(CheckpointFile *c, const Folder *f, Error *error)
{
    char path[PATH_MAX];
    for (int side = SOURCE; side < SIDES; side++) {
        size_t length;
        char *model = file_read(file_in(path, f->name, SOURCE_SPM + side), SENTENCEPIECE_LIMIT,
                                &length, error);
        bool good = model && (tokenizer_adopt(&c->tokenizer[side], &c->tokenizer_size[side],
                                              model, length, f->piece, f->V, error) ||
                              error_prefix(error, "'%s'", path));
        free(model);
        if (!good) return false;
    }
    if (c->tokenizer_size[SOURCE] == c->tokenizer_size[TARGET] &&
        !memcmp(c->tokenizer[SOURCE], c->tokenizer[TARGET], c->tokenizer_size[TARGET])) {
        free(c->tokenizer[SOURCE]);
        c->tokenizer[SOURCE] = NULL;
    }
    return true;
}

bool marian_is_folder(const char *folder)
{
    char path[PATH_MAX];
    if (access(file_in(path, folder, CONFIG), F_OK)) return false;
    json_t *config = read_json(folder, CONFIG, NULL);
    bool is = config ? json_object_get(config, "model_type") != NULL
                     : access(file_in(path, folder, WEIGHTS), F_OK) == 0;
    json_decref(config);
    return is;
}

bool marian_open(CheckpointFile *c, const char *folder, Error *error)
{
    char path[PATH_MAX];
    Folder f = {.name = folder};
    *c = (CheckpointFile){0};
    if (access(file_in(path, folder, WEIGHTS), F_OK))
        return error_set(error,
                         "'%s' has no %s: scripts/import makes a folder that has it from one "
                         "with pytorch_model.bin",
                         folder, FILES[WEIGHTS]);
    if (!safetensors_open(&c->file, path, NULL, 0, error)) return false;
    bool good = (f.config = read_json(folder, CONFIG, error)) && check_config(&f, error) &&
                read_config(c, &f, error) && (f.vocab = read_json(folder, VOCAB, error)) &&
                order_tokens(c, &f, error) && read_tokenizers(c, &f, error);
    free(f.piece);
    json_decref(f.vocab);
    json_decref(f.config);
    malloc_trim(0);  // the weights will not fit into the gaps that vocab.json leaves
    if (!good) checkpoint_close(c);
    return good;
}

/* ---- writing ---- */

/* What MarianMT leaves open, as options of the model: any size, and a choice up to `most`. Of all
 * other options, also of those that are new, it has only the default, which is 0 (config.h). */
static const struct {
    const char *option;
    int most;
} OPEN[] = {
    {"d-model", INT_MAX},
    {"heads", INT_MAX},
    {"ffn", INT_MAX},
    {"encoder-layers", INT_MAX},
    {"decoder-layers", INT_MAX},
    {"max-length", INT_MAX},
    {"activation", ACTIVATION_SWISH},
    {"tying", TYING_NONE},
    {"output-bias", true},
};

static bool check_network(const Transformer *model, Error *error)
{
    if (model->prepared.count)
        return error_set(error, "this model cannot be exported: MarianMT has no weights "
                                "quantised to int8");
    for (const Option *o = model_options; o < model_options + model_option_count; o++) {
        if (o->flags & OPTION_REMOVED) continue;
        const char *field = (const char *)&model->config + o->offset;
        int value = o->kind == OPTION_FLAG ? *field : *(const int *)(const void *)field,
            most = 0;
        for (size_t i = 0; i < sizeof OPEN / sizeof *OPEN; i++)
            if (!strcmp(OPEN[i].option, o->name)) most = OPEN[i].most;
        if (value > most)
            return error_set(error, "this model cannot be exported: MarianMT has no `%s%s%s`",
                             o->name, o->choices ? " " : "",
                             o->choices ? o->choices[value] : "");
    }
    return true;
}

/* The map from pieces to ids, for json_decref. NULL: the languages have different ones. */
static json_t *make_vocab(const Vocabulary *vocabulary, Error *error)
{
    const Tokenizer *source = vocabulary->tokenizer[SOURCE],
                    *target = vocabulary->tokenizer[TARGET];
    int V = tokenizer_vocab_size(target), id = 0;
    json_t *vocab = json_object();
    bool same = tokenizer_vocab_size(source) == V;
    for (; same && id < V; id++) {
        const char *piece = tokenizer_piece(target, id);
        same = !strcmp(piece, tokenizer_piece(source, id)) && !json_object_get(vocab, piece);
        if (same && json_object_set_new(vocab, piece, json_integer(id))) break;
    }
    if (id == V && same) return vocab;
    json_decref(vocab);
    if (same) error_memory(error, "for the vocabulary");
    else
        error_set(error, "this model cannot be exported: MarianMT has one vocabulary, and here "
                         "source and target have their own (`vocabulary separate`), or a "
                         "word is '<pad>'");
    return NULL;
}

static json_t *make_config(const ModelConfig *c)
{
    return json_pack(
        "{s:s, s:[s], s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:s, s:b, s:b, s:b,"
        " s:b, s:i, s:s}",
        "model_type", "marian", "architectures", "MarianMTModel", "vocab_size", c->vocab,
        "decoder_vocab_size", c->vocab, "d_model", c->d_model, "encoder_layers",
        c->encoder_layers, "decoder_layers", c->decoder_layers, "num_hidden_layers",
        c->encoder_layers, "encoder_attention_heads", c->heads, "decoder_attention_heads",
        c->heads, "encoder_ffn_dim", c->ffn, "decoder_ffn_dim", c->ffn, "activation_function",
        ACTIVATIONS[c->activation], "scale_embedding", true, "static_position_embeddings", true,
        "share_encoder_decoder_embeddings", c->tying == TYING_ALL, "tie_word_embeddings",
        c->tying != TYING_NONE, "max_position_embeddings", c->max_length, "torch_dtype",
        "float32");
}

static bool write_files(Transformer *model, const Vocabulary *vocabulary, const char *folder,
                        json_t *const json[SOURCE_SPM], Error *error)
{
    char path[PATH_MAX];
    bool good = true;
    for (int i = 0; i < SOURCE_SPM && good; i++) {
        char *text = json[i] ? json_dumps(json[i], JSON_INDENT(2)) : NULL;
        good = file_replace_text(file_in(path, folder, i), text, error);
    }
    for (int side = SOURCE; side < SIDES && good; side++) {
        size_t size;
        const unsigned char *bytes = vocabulary_model(vocabulary, (CorpusSide)side, &size);
        good = file_replace(file_in(path, folder, SOURCE_SPM + side), bytes, size, error);
    }
    model->weights.logits_bias[model->config.vocab - 1] = PAD_BIAS;
    const Checkpoint weights = {.params = &model->params, .weights = model->block};
    return good && checkpoint_save(&weights, file_in(path, folder, WEIGHTS), error);
}

bool marian_export(Transformer *model, const Vocabulary *vocabulary, const char *folder,
                   Error *error)
{
    char name[PATH_MAX - 64], path[PATH_MAX];
    const ModelConfig *c = &model->config;
    int length = (int)strnlen(folder, PATH_MAX), pad = c->vocab - 1;
    while (length > 1 && folder[length - 1] == '/') length--;
    if (snprintf(name, sizeof name, "%.*s", length, folder) >= (int)sizeof name)
        return error_set(error, "the name of the folder to write is too long");
    if (readlink(name, path, 1) > 0 && realpath(name, path) && strlen(path) < sizeof name)
        strcpy(name, path);
    json_t *json[SOURCE_SPM] = {NULL};
    if (!check_network(model, error) || !(json[VOCAB] = make_vocab(vocabulary, error)))
        return false;
    json[CONFIG] = make_config(c);
    json[GENERATION] =  // what both configurations say about searching
        json_pack("{s:i, s:i, s:i, s:i, s:i, s:[[i]], s:i, s:i}", "bos_token_id", ID_END,
                  "eos_token_id", ID_END, "forced_eos_token_id", ID_END, "pad_token_id", pad,
                  "decoder_start_token_id", pad, "bad_words_ids", pad, "max_length",
                  c->max_length, "num_beams", 4);
    json[TOKENIZER] =
        json_pack("{s:s, s:s, s:s, s:s, s:b, s:i}", "tokenizer_class", "MarianTokenizer",
                  "eos_token", "</s>", "unk_token", "<unk>", "pad_token", "<pad>",
                  "separate_vocabs", false, "model_max_length", c->max_length);
    json_object_update(json[CONFIG], json[GENERATION]);
    bool above = folder_make(dirname(strcpy(path, name)), error);
    char *temporary = above ? file_temporary(name, NULL) : NULL;
    bool good = temporary && write_files(model, vocabulary, temporary, json, error);
    if ((above && !temporary) || (good && rename(temporary, name)))
        good = error_set(error, "cannot write the folder '%s': %s", folder,
                         errno == EBUSY ? "it is in use, or a disk: name a new folder in it"
                                        : strerror(errno));
    for (int i = 0; i < FILE_COUNT && temporary && !good; i++)
        remove(file_in(path, temporary, i));
    if (temporary && !good) rmdir(temporary);
    free(temporary);
    for (int i = 0; i < SOURCE_SPM; i++) json_decref(json[i]);
    return good;
}
