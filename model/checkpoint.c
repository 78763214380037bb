/* checkpoint.c -- a model or a training in one file; see checkpoint.h. */
#include "model/checkpoint.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define VERSION "1"

enum {
    BLOCKS = 4,
    NAME_SIZE = sizeof((Tensor *)0)->name + 16,  // a tensor's name with a prefix
    TOKENIZER_LIMIT = 256 << 20
};

/* ---- saving ---- */

/* The tensors of a file being made. */
typedef struct Draft {
    SafeTensor *tensor;
    char (*name)[NAME_SIZE];
    PreparedRows *prepared;  // of the int8 tensors
    int count;
} Draft;

static SafeTensor *add(Draft *draft, const char *prefix, const Tensor *from, const char *suffix,
                       Dtype dtype, int dimensions, const void *data)
{
    char *name = draft->name[draft->count];
    snprintf(name, NAME_SIZE, "%s%s%s", prefix, from->name, suffix);
    SafeTensor *to = &draft->tensor[draft->count++];
    *to = (SafeTensor){.name = name, .dtype = dtype, .dimensions = dimensions, .data = data};
    for (int k = 0; k < dimensions; k++) to->shape[k] = from->shape[k];
    return to;
}

/* Of a packed matrix, which is never double. */
static void unpack(void *to, const SafeTensor *tensor)
{
    matrix_copy_rows(to, MATRIX_PACKED, tensor->data, (int)tensor->shape[0],
                     (int)tensor->shape[1]);
}

#ifdef REAL_IS_DOUBLE
static void to_floats(void *to, const SafeTensor *tensor)
{
    size_t columns = tensor->dimensions == 2 ? (size_t)tensor->shape[1] : 1;
    for (size_t i = 0; i < (size_t)tensor->shape[0] * columns; i++)
        ((float *)to)[i] = (float)((const real *)tensor->data)[i];
}
#else
static void (*const to_floats)(void *, const SafeTensor *) = NULL;
#endif

static void to_int8_rows(void *to, const SafeTensor *tensor)
{
    const PreparedRows *from = tensor->data;
    for (int64_t r = 0; r < tensor->shape[0]; r++)
        int8_get((int8_t *)to + r * tensor->shape[1], from->matrix->W.int8,
                 from->first + (int)r);
}

/* All tensors of a block except the prepared ones. */
static void add_block(Draft *draft, const Params *params, const char *prefix, const real *block,
                      const Prepared *prepared)
{
    for (int i = 0; block && i < params->count; i++) {
        const Tensor *from = &params->tensor[i];
        if (prepared && prepared_rows(prepared, from).matrix) continue;
        add(draft, prefix, from, "", DTYPE_F32, from->dimensions, block + from->offset)
            ->convert = from->layout == MATRIX_PACKED ? unpack : to_floats;
    }
}

/* The scales of all int8 tensors, and then the integers: so all F32 begin at multiples of
 * four. */
static void add_int8(Draft *draft, const Params *params, const Prepared *prepared)
{
    for (int i = 0; i < params->count; i++) {
        PreparedRows *at = &draft->prepared[i];
        *at = prepared_rows(prepared, &params->tensor[i]);
        if (at->matrix)
            add(draft, "", &params->tensor[i], CHECKPOINT_SCALE, DTYPE_F32, 1,
                at->matrix->W.int8->scale + at->first);
    }
    for (int i = 0; i < params->count; i++)
        if (draft->prepared[i].matrix)
            add(draft, "", &params->tensor[i], CHECKPOINT_INT8, DTYPE_I8, 2,
                &draft->prepared[i])
                ->convert = to_int8_rows;
}

static void add_tokenizer(Draft *draft, const char *name, const void *bytes, size_t size)
{
    if (!bytes) return;
    draft->tensor[draft->count++] = (SafeTensor){.name = name,
                                                 .dtype = DTYPE_U8,
                                                 .dimensions = 1,
                                                 .shape = {(int64_t)size},
                                                 .data = bytes};
}

static bool make_draft(Draft *draft, const Checkpoint *c)
{
    size_t tensors = (size_t)c->params->count, most = tensors * (BLOCKS + 1) + 2;
    draft->tensor = calloc(most, sizeof *draft->tensor);
    draft->name = calloc(most, sizeof *draft->name);
    draft->prepared = calloc(tensors, sizeof *draft->prepared);
    if (!draft->tensor || !draft->name || !draft->prepared) return false;
    add_block(draft, c->params, "", c->weights, c->prepared);
    add_block(draft, c->params, CHECKPOINT_AVERAGE, c->average, NULL);
    add_block(draft, c->params, CHECKPOINT_ADAM_M, c->adam_m, NULL);
    add_block(draft, c->params, CHECKPOINT_ADAM_V, c->adam_v, NULL);
    if (c->prepared) add_int8(draft, c->params, c->prepared);
    // last, so that all F32 begin at multiples of four
    add_tokenizer(draft, "tokenizer", c->tokenizer, c->tokenizer_size);
    add_tokenizer(draft, "tokenizer.source", c->source_tokenizer, c->source_tokenizer_size);
    return true;
}

bool checkpoint_save(const Checkpoint *c, const char *path, Error *error)
{
    assert(c->params && c->weights && c->config && c->tokenizer);
    SafeMetadata metadata[] = {{"format", "qkv"},
                               {"version", VERSION},
                               {"config", c->config},
                               {"progress", c->progress}};
    int count = c->progress ? 4 : 3;
    Draft draft = {0};
    bool good = make_draft(&draft, c)
                    ? safetensors_write(path, draft.tensor, draft.count, metadata, count, error)
                    : error_set(error, "not enough memory to write '%s'", path);
    free(draft.tensor);
    free(draft.name);
    free(draft.prepared);
    return good;
}

/* ---- loading ---- */

static bool read_tokenizer(CheckpointFile *c, const char *name, unsigned char **bytes,
                           size_t *size, Error *error)
{
    const SafeTensor *tensor = safetensors_find(&c->file, name);
    if (!tensor || tensor->dtype != DTYPE_U8 || !tensor->bytes ||
        tensor->bytes > TOKENIZER_LIMIT)
        return error_set(error, "'%s' has no tokenizer: a tensor '%s' of dtype U8",
                         c->file.path, name);
    *size = (size_t)tensor->bytes;
    *bytes = malloc(*size);
    if (!*bytes)
        return error_set(error, "not enough memory for the tokenizer of '%s'", c->file.path);
    return safetensors_read(&c->file, tensor, *bytes, error);
}

static bool read_metadata(CheckpointFile *c, Error *error)
{
    const char *format = safetensors_metadata(&c->file, "format");
    const char *version = safetensors_metadata(&c->file, "version");
    c->config = safetensors_metadata(&c->file, "config");
    c->progress = safetensors_metadata(&c->file, "progress");
    if (!format || strcmp(format, "qkv") || !version || !c->config)
        return error_set(error,
                         "'%s' is a safetensors file, but no checkpoint of this program: "
                         "its metadata lack format \"qkv\", a version or a config",
                         c->file.path);
    if (strcmp(version, VERSION))
        return error_set(error,
                         "'%s' has version '%.*s' of the format, and this program knows "
                         "version " VERSION ": use the program that wrote it",
                         c->file.path, (int)strspn(version, "0123456789."), version);
    return true;
}

static bool read_rest(CheckpointFile *c, Error *error)
{
    static const char *const SOURCE = "tokenizer.source";
    if (read_metadata(c, error) &&
        read_tokenizer(c, "tokenizer", &c->tokenizer, &c->tokenizer_size, error) &&
        (!safetensors_find(&c->file, SOURCE) ||
         read_tokenizer(c, SOURCE, &c->source_tokenizer, &c->source_tokenizer_size, error)))
        return true;
    checkpoint_close(c);
    return false;
}

bool checkpoint_open(CheckpointFile *c, const char *path, Error *error)
{
    *c = (CheckpointFile){0};
    return safetensors_open(&c->file, path, error) && read_rest(c, error);
}

bool checkpoint_open_bytes(CheckpointFile *c, const void *bytes, size_t length,
                           const char *name, Error *error)
{
    *c = (CheckpointFile){0};
    return safetensors_open_bytes(&c->file, bytes, length, name, error) && read_rest(c, error);
}

void checkpoint_close(CheckpointFile *c)
{
    free(c->tokenizer);
    free(c->source_tokenizer);
    safetensors_close(&c->file);
    *c = (CheckpointFile){.file.fd = -1};
}

bool checkpoint_has(const CheckpointFile *c, const char *prefix)
{
    for (int i = 0; i < c->file.count; i++)
        if (!strncmp(c->file.tensor[i].name, prefix, strlen(prefix))) return true;
    return false;
}

/* "F32 [512,256]" */
static void write_shape(char *text, size_t size, Dtype dtype, const int64_t *shape,
                        int dimensions)
{
    size_t used = (size_t)snprintf(text, size, "%s [", dtypes[dtype].name);
    for (int i = 0; i < dimensions; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%lld", i ? "," : "",
                                 (long long)shape[i]);
    snprintf(text + used, size - used, "]");
}

/* "adam.m.model.shared.weight", "model.shared.weight.int8" */
static const SafeTensor *find(const CheckpointFile *c, const char *prefix, const Tensor *tensor,
                              const char *suffix)
{
    char name[NAME_SIZE];
    snprintf(name, NAME_SIZE, "%s%s%s", prefix, tensor->name, suffix);
    return safetensors_find(&c->file, name);
}

/* Whether the file has the tensor in its first `dimensions` dimensions. */
static bool fits(const CheckpointFile *c, const Tensor *tensor, const char *prefix,
                 const char *suffix, Dtype dtype, int dimensions, Error *error)
{
    const SafeTensor *found = find(c, prefix, tensor, suffix);
    int64_t wanted[2] = {tensor->shape[0], tensor->shape[1]};
    char is[256], should_be[256];
    if (found && found->dtype == dtype && found->dimensions == dimensions &&
        !memcmp(found->shape, wanted, (size_t)dimensions * sizeof *wanted))
        return true;
    write_shape(should_be, sizeof should_be, dtype, wanted, dimensions);
    if (!found)
        return error_set(error, "'%s' has no tensor '%s%s%s', which should be %s", c->file.path,
                         prefix, tensor->name, suffix, should_be);
    write_shape(is, sizeof is, found->dtype, found->shape, found->dimensions);
    return error_set(error, "'%s': tensor '%s' is %s, but the configuration makes it %s",
                     c->file.path, found->name, is, should_be);
}

static bool fits_int8(const CheckpointFile *c, const Tensor *tensor, Error *error)
{
    return fits(c, tensor, "", CHECKPOINT_INT8, DTYPE_I8, tensor->dimensions, error) &&
           fits(c, tensor, "", CHECKPOINT_SCALE, DTYPE_F32, 1, error);
}

bool checkpoint_fits(const CheckpointFile *c, const Params *params, const char *prefix,
                     bool int8, Error *error)
{
    for (int i = 0; i < params->count; i++) {
        const Tensor *tensor = &params->tensor[i];
        if (!(int8 && checkpoint_has_int8(c, tensor)
                  ? fits_int8(c, tensor, error)
                  : fits(c, tensor, prefix, "", DTYPE_F32, tensor->dimensions, error)))
            return false;
    }
    return true;
}

bool checkpoint_has_int8(const CheckpointFile *c, const Tensor *tensor)
{
    if (tensor) return find(c, "", tensor, CHECKPOINT_INT8);
    for (int i = 0; i < c->file.count; i++) {
        const char *dot = strrchr(c->file.tensor[i].name, '.');
        if (dot && !strcmp(dot, CHECKPOINT_INT8)) return true;
    }
    return false;
}

/* Reads into the block's own memory. If real is double, the floats in the front half are then
 * moved to their places, the last one first. */
bool checkpoint_read_tensor(const CheckpointFile *c, const Tensor *tensor, const char *prefix,
                            real *numbers, Error *error)
{
    const SafeTensor *found = find(c, prefix, tensor, "");
    if (!safetensors_read(&c->file, found, numbers, error)) return false;
#ifdef REAL_IS_DOUBLE
    for (size_t i = tensor->count; i-- > 0;) {
        float number;
        memcpy(&number, (const char *)numbers + i * sizeof number, sizeof number);
        numbers[i] = number;
    }
#endif
    bool squares = !strcmp(prefix, CHECKPOINT_ADAM_V);
    for (size_t i = 0; i < tensor->count; i++)
        if (!isfinite(numbers[i]) || (squares && numbers[i] < 0))
            return error_set(error, "'%s': tensor '%s' holds %s at place %zu", c->file.path,
                             found->name,
                             isnan(numbers[i])   ? "not-a-number"
                             : isinf(numbers[i]) ? "infinity"
                                                 : "a negative number",
                             i);
    matrix_pack(tensor->layout, numbers, tensor->shape[0], tensor->shape[1]);
    return true;
}

bool checkpoint_read(const CheckpointFile *c, const Params *params, const char *prefix,
                     real *block, Error *error)
{
    if (!checkpoint_fits(c, params, prefix, false, error)) return false;
    for (int i = 0; i < params->count; i++) {
        const Tensor *tensor = &params->tensor[i];
        if (!checkpoint_read_tensor(c, tensor, prefix, block + tensor->offset, error))
            return false;
    }
    return true;
}

bool checkpoint_read_int8(const CheckpointFile *c, const Tensor *tensor, int8_t *q,
                          float *scale, Error *error)
{
    const SafeTensor *scales = find(c, "", tensor, CHECKPOINT_SCALE);
    if (!fits_int8(c, tensor, error) ||
        !safetensors_read(&c->file, find(c, "", tensor, CHECKPOINT_INT8), q, error) ||
        !safetensors_read(&c->file, scales, scale, error))
        return false;
    for (int r = 0; r < tensor->shape[0]; r++)
        if (!(scale[r] >= 0 && scale[r] <= FLT_MAX))
            return error_set(error, "'%s': tensor '%s' holds %g at place %d, which is no scale",
                             c->file.path, scales->name, (double)scale[r], r);
    for (size_t i = 0; i < tensor->count; i++)
        if (q[i] < -127)
            return error_set(error,
                             "'%s': tensor '%s%s' holds -128 at place %zu, where -127 is "
                             "the least",
                             c->file.path, tensor->name, CHECKPOINT_INT8, i);
    return true;
}
