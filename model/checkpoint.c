/* checkpoint.c -- a model or a training in one file; see checkpoint.h. */
#include "model/checkpoint.h"

#include <float.h>

#include "base/workers.h"

#define VERSION "1"

enum {
    BLOCKS = 4,
    NAME_SIZE = sizeof((Tensor *)0)->name + 16,  // a tensor's name with a prefix
    BYTES_LIMIT = 256 << 20                      // of a tokenizer or a shortlist
};

/* of the source and of the target */
static const char *const TOKENIZER[2] = {"tokenizer.source", "tokenizer"};

/* The prepared matrix that has a tensor's rows, from `first` on; or NULL. */
static const PreparedMatrix *prepared_of(int *first, const Prepared *prepared,
                                         const Tensor *tensor)
{
    for (int i = 0; prepared && i < prepared->count; i++) {
        const PreparedMatrix *m = &prepared->matrix[i];
        size_t size = (size_t)m->rows * (size_t)m->columns, from = tensor->offset - m->offset;
        *first = (int)(from / (size_t)m->columns);
        if (tensor->offset >= m->offset && from < size) return m;
    }
    return NULL;
}

/* ---- saving ---- */

/* The tensors of a file being made. */
typedef struct Draft {
    SafeTensor *tensor;
    char (*name)[NAME_SIZE];
    int8_t *q;  // of the int8 tensors, row by row
    int count;
} Draft;

static void add(Draft *draft, const char *prefix, const Tensor *from, const char *suffix,
                Dtype dtype, int dimensions, const void *data)
{
    char *name = draft->name[draft->count];
    snprintf(name, NAME_SIZE, "%s%s%s", prefix, from->name, suffix);
    SafeTensor *to = &draft->tensor[draft->count++];
    *to = (SafeTensor){.name = name, .dtype = dtype, .dimensions = dimensions, .data = data};
    for (int k = 0; k < dimensions; k++) to->shape[k] = from->shape[k];
}

/* All tensors of a block except the prepared ones. */
static void add_block(Draft *draft, const Params *params, const char *prefix, const real *block,
                      const Prepared *prepared)
{
    for (int i = 0; block && i < params->count; i++) {
        const Tensor *from = &params->tensor[i];
        if (!prepared_of(&(int){0}, prepared, from))
            add(draft, prefix, from, "", DTYPE_F32, from->dimensions, block + from->offset);
    }
}

/* The scales of all int8 tensors, and then the integers: so all F32 begin at multiples of
 * four. */
static void add_int8(Draft *draft, const Params *params, const Prepared *prepared)
{
    int8_t *q = draft->q;
    for (int scale = 1; scale >= 0; scale--)
        for (int i = 0; i < params->count; i++) {
            int first;
            const Tensor *from = &params->tensor[i];
            const PreparedMatrix *matrix = prepared_of(&first, prepared, from);
            if (!matrix) continue;
            const Int8Matrix *int8 = matrix->W.int8;
            if (scale)
                add(draft, "", from, CHECKPOINT_SCALE, DTYPE_F32, 1, int8->scale + first);
            else add(draft, "", from, CHECKPOINT_INT8, DTYPE_I8, 2, q);
            for (int r = 0; !scale && r < from->shape[0]; r++, q += from->shape[1])
                int8_get(q, int8, first + r);
        }
}

/* A tensor of one dimension, unless data is NULL. */
static void add_bytes(Draft *draft, const char *name, Dtype dtype, const void *data,
                      size_t count)
{
    if (data)
        draft->tensor[draft->count++] = (SafeTensor){.name = name,
                                                     .dtype = dtype,
                                                     .dimensions = 1,
                                                     .shape = {(int64_t)count},
                                                     .data = data};
}

static bool make_draft(Draft *draft, const Checkpoint *c)
{
    size_t most = (size_t)c->params->count * (BLOCKS + 1) + 3;
    draft->tensor = calloc(most, sizeof *draft->tensor);
    draft->name = calloc(most, sizeof *draft->name);
    draft->q = c->prepared ? malloc(c->params->size) : NULL;
    if (!draft->tensor || !draft->name || (c->prepared && !draft->q)) return false;
    add_block(draft, c->params, "", c->weights, c->prepared);
    for (const CheckpointBlock *block = c->block; block && block->at; block++)
        add_block(draft, c->params, block->prefix, block->at, NULL);
    if (c->prepared) add_int8(draft, c->params, c->prepared);
    // last, so that all F32 begin at multiples of four
    add_bytes(draft, "shortlist", DTYPE_I16, c->shortlist, c->shortlist_count);
    for (int i = 1; i >= 0; i--)
        add_bytes(draft, TOKENIZER[i], DTYPE_U8, c->tokenizer[i], c->tokenizer_size[i]);
    return true;
}

bool checkpoint_save(const Checkpoint *c, const char *path, Error *error)
{
    assert(sizeof(real) == sizeof(float));  // NOLINT: the gradient checks have another build
    assert(c->params && c->weights && (!c->config || c->tokenizer[1]));
    const SafeMetadata metadata[] = {{"format", c->config ? "qkv" : "pt"},
                                     {"version", c->config ? VERSION : NULL},
                                     {"config", c->config},
                                     {"progress", c->progress},
                                     {"text", c->text}};
    Draft draft = {0};
    bool good = make_draft(&draft, c)
                    ? safetensors_write(path, draft.tensor, draft.count, metadata, 5, error)
                    : error_memory(error, "to write '%s'", path);
    free(draft.tensor);
    free(draft.name);
    free(draft.q);
    return good;
}

/* ---- loading ---- */

/* Returns the numbers of a tensor, for free(), and *count of them; NULL if it is missing and may be, or
 * if not *good, which an error makes false. */
static void *read_numbers(bool *good, size_t *count, const CheckpointFile *c, const char *name,
                          Dtype dtype, bool may_miss, Error *error)
{
    const SafeTensor *tensor = safetensors_find(&c->file, name);
    void *numbers = NULL;
    if (!*good || (!tensor && may_miss)) return NULL;
    if (!tensor || tensor->dtype != dtype || !tensor->bytes || tensor->bytes > BYTES_LIMIT)
        *good = error_set(error, "'%s' has no %.*s: a tensor '%s' of dtype %s", c->file.path,
                          (int)strcspn(name, "."), name, name, dtypes[dtype].name);
    else if (!(numbers = malloc(tensor->bytes)))
        *good = error_memory(error, "for the %s of '%s'", name, c->file.path);
    else *good = safetensors_read(&c->file, tensor, numbers, error);
    if (*good) *count = (size_t)tensor->bytes / dtypes[dtype].size;
    return numbers;
}

static bool read_metadata(CheckpointFile *c, Error *error)
{
    const char *format = safetensors_metadata(&c->file, "format");
    const char *version = safetensors_metadata(&c->file, "version");
    c->config = safetensors_metadata(&c->file, "config");
    c->progress = safetensors_metadata(&c->file, "progress");
    c->text = safetensors_metadata(&c->file, "text");
    if (!format || strcmp(format, "qkv") || !version || !c->config)
        return error_set(error,
                         "'%s' is a safetensors file, but no checkpoint of this program: "
                         "its metadata lack format \"qkv\", a version or a config; of a "
                         "MarianMT model, name the folder",
                         c->file.path);
    if (strcmp(version, VERSION))
        return error_set(error,
                         "'%s' has version '%.*s' of the format, and this program knows "
                         "version " VERSION ": use the program that wrote it",
                         c->file.path, (int)strspn(version, "0123456789."), version);
    return true;
}

bool checkpoint_open(CheckpointFile *c, const char *name, const void *bytes, size_t length,
                     Error *error)
{
    *c = (CheckpointFile){0};
    if (!safetensors_open(&c->file, name, bytes, length, error)) return false;
    bool good = read_metadata(c, error);
    for (int i = 1; i >= 0; i--)
        c->tokenizer[i] = read_numbers(&good, &c->tokenizer_size[i], c, TOKENIZER[i], DTYPE_U8,
                                       i == 0, error);
    c->shortlist =
        read_numbers(&good, &c->shortlist_count, c, "shortlist", DTYPE_I16, true, error);
    if (good) return true;
    checkpoint_close(c);
    return false;
}

void checkpoint_close(CheckpointFile *c)
{
    free(c->own_config);
    free(c->row);
    free(c->shortlist);
    for (int i = 0; i < 2; i++) free(c->tokenizer[i]);
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

static bool is_embedding(const Tensor *tensor)
{
    return strstr(tensor->name, "embed_tokens") || !strcmp(tensor->name, "model.shared.weight");
}

/* "adam.m.model.shared.weight", "model.shared.weight.int8" */
static const SafeTensor *find(const CheckpointFile *c, const char *prefix, const Tensor *tensor,
                              const char *suffix)
{
    char name[NAME_SIZE];
    snprintf(name, NAME_SIZE, "%s%s%s", prefix, tensor->name, suffix);
    const SafeTensor *found = safetensors_find(&c->file, name);
    if (found || !c->row || !is_embedding(tensor) || *suffix) return found;
    static const char *const other[] = {"model.shared.weight",
                                        "model.decoder.embed_tokens.weight", "lm_head.weight"};
    for (int i = 0; i < 3 && !found; i++) found = safetensors_find(&c->file, other[i]);
    return found;
}

/* Whether the file has the tensor in its first `dimensions` dimensions. */
static bool fits(const CheckpointFile *c, const Tensor *tensor, const char *prefix,
                 const char *suffix, Dtype dtype, int dimensions, Error *error)
{
    const SafeTensor *found = find(c, prefix, tensor, suffix);
    int64_t wanted[2] = {tensor->shape[0], tensor->shape[1]};
    char is[256], should_be[256];
    bool half = found && (found->dtype == DTYPE_F16 || found->dtype == DTYPE_BF16);
    if (found && (found->dtype == dtype || (c->row && half && dtype == DTYPE_F32)) &&
        found->dimensions == dimensions &&
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

bool checkpoint_fits(const CheckpointFile *c, const Params *params, const char *prefix,
                     bool int8, Error *error)
{
    for (int i = 0; i < params->count; i++) {
        const Tensor *tensor = &params->tensor[i];
        int dimensions = tensor->dimensions;
        if (!(int8 && checkpoint_has_int8(c, tensor)
                  ? fits(c, tensor, "", CHECKPOINT_INT8, DTYPE_I8, dimensions, error) &&
                        fits(c, tensor, "", CHECKPOINT_SCALE, DTYPE_F32, 1, error)
                  : fits(c, tensor, prefix, "", DTYPE_F32, dimensions, error)))
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

/* ---- loading: the numbers ---- */

/* A tensor that is read from its first number to its last, part by part. */
typedef struct Source {
    const CheckpointFile *file;
    const SafeTensor *tensor;
    uint64_t at;        // bytes read so far
    bool jumped;        // they were not all in order: there is no checksum
    unsigned long crc;  // of them
    double least;       // number allowed
    double wrong;       // the first that is not allowed, or 0
    uint64_t place;     // its place
} Source;

typedef struct Reading {
    const CheckpointFile *file;
    const Params *params;
    const char *prefix;
    const Prepared *prepared;  // or NULL
    real *block;
} Reading;

/* A part of a tensor is some panels of rows. A thread is started for each megabyte. */
enum { PART_NUMBERS = 1 << 16, PART_ROWS = 32, THREAD_NUMBERS = 1 << 18 };

static bool next_bytes(Source *from, void *to, size_t count, Error *error)
{
    from->at += count;
    return safetensors_read_part(&from->file->file, from->tensor, from->at - count, count, to,
                                 &from->crc, error);
}

/* A float from the bits of a number with 5 bits of exponent, or with 8. Integers, because the
 * threads of workers.h take subnormal floats for zero. */
static float from_half(uint16_t half, bool bfloat)
{
    uint32_t bits = (uint32_t)half << 16, exponent = half >> 10 & 31, rest = half & 1023;
    float number;
    if (!bfloat && !exponent) return (half & 0x8000 ? -0x1p-24f : 0x1p-24f) * (float)rest;
    if (!bfloat)  // 127 and 15 are the biases of the exponents; 31: infinity, not-a-number
        bits = (bits & 0x80000000) | (exponent == 31 ? 255 : exponent + 127 - 15) << 23 |
               rest << 13;
    memcpy(&number, &bits, sizeof number);
    return number;
}

/* The numbers in the front part of x [count] become reals, the last one first. */
static bool next_floats(Source *from, real *x, size_t count, Error *error)
{
    real least = (real)from->least, most = FLT_MAX;
    Dtype dtype = from->tensor->dtype;
    size_t size = dtypes[dtype].size, first = from->at / size;
    int wrong = 0;
    if (!next_bytes(from, x, count * size, error)) return false;
    for (size_t i = count; size != sizeof(real) && i-- > 0;) {
        float number = 0;
        uint16_t half;
        memcpy(dtype == DTYPE_F32 ? (void *)&number : &half, (const char *)x + i * size, size);
        x[i] = dtype == DTYPE_F32 ? number : from_half(half, dtype == DTYPE_BF16);
    }
#pragma omp simd reduction(| : wrong)
    for (size_t i = 0; i < count; i++) wrong |= !(x[i] >= least && x[i] <= most);
    for (size_t i = 0; wrong && !from->wrong; i++)
        if (!(x[i] >= least && x[i] <= most)) from->wrong = x[i], from->place = first + i;
    return true;
}

/* The same of tokens `first` .. in a file whose tokens have another order; `size` numbers each. */
static bool next_tokens(Source *from, real *x, int first, int count, size_t size, Error *error)
{
    const int32_t *row = from->file->row + first;
    for (int i = 0, run; i < count; i += run) {
        for (run = 1; i + run < count && row[i + run] == row[i] + run; run++) {}
        uint64_t at = (uint64_t)row[i] * size * dtypes[from->tensor->dtype].size;
        from->jumped |= at != from->at;
        from->at = at;
        if (!next_floats(from, x + (size_t)i * size, (size_t)run * size, error)) return false;
    }
    return true;
}

static bool next_int8(Source *from, int8_t *q, size_t count, Error *error)
{
    if (!next_bytes(from, q, count, error)) return false;
    const int8_t *wrong = memchr(q, (uint8_t)-128, count);
    if (wrong && !from->wrong)
        from->wrong = -128, from->place = from->at - count + (size_t)(wrong - q);
    return true;
}

/* Verifies the checksum, and then the numbers. */
static bool finish(const Source *from, Error *error)
{
    const char *what = isnan(from->wrong)                ? "not-a-number"
                       : isinf(from->wrong)              ? "infinity"
                       : from->tensor->dtype == DTYPE_I8 ? "-128"
                                                         : "a negative number";
    if (!from->jumped && !safetensors_verify(&from->file->file, from->tensor, from->crc, error))
        return false;
    return !from->wrong ||
           error_set(error, "'%s': tensor '%s' holds %s at place %llu", from->file->file.path,
                     from->tensor->name, what, (unsigned long long)from->place);
}

static bool read_tensor(void *context, size_t number, int worker, Error *error)
{
    (void)worker;
    const Reading *r = context;
    const Tensor *tensor = &r->params->tensor[number];
    int rows = tensor->shape[0], columns = (int)(tensor->count / (size_t)rows), first = 0;
    int most = PART_NUMBERS / columns / PART_ROWS * PART_ROWS;
    most = at_most(rows, most ? most : PART_ROWS);
    const PreparedMatrix *matrix = prepared_of(&first, r->prepared, tensor);
    bool int8 = r->prepared && checkpoint_has_int8(r->file, tensor);
    if (int8 && !matrix)
        return error_set(error, "'%s' holds as int8 what is no matrix", r->file->file.path);
    Source from = {.file = r->file, .least = -FLT_MAX}, scales = from;
    from.tensor = find(r->file, r->prefix, tensor, int8 ? CHECKPOINT_INT8 : "");
    scales.tensor = find(r->file, r->prefix, tensor, CHECKPOINT_SCALE);
    if (!strcmp(r->prefix, CHECKPOINT_ADAM_V)) from.least = 0;
    scales.least = 0;
    bool is_bias = !strcmp(tensor->name, "final_logits_bias"),
         by_token = r->file->row && (is_bias || tensor->kind == TENSOR_EMBEDDING);
    real *buffer = malloc((size_t)most * ((size_t)columns + 1) * sizeof *buffer);
    bool good = buffer || error_memory(error, "to read '%s'", r->file->file.path);
    for (int row = 0, count; good && row < rows; row += count) {
        count = at_most(rows - row, most);
        size_t numbers = (size_t)count * (size_t)columns;
        real *x = matrix ? buffer : r->block + tensor->offset + (size_t)row * (size_t)columns;
        int8_t *q = (int8_t *)(buffer + count);
        if (int8)
            good = next_floats(&scales, buffer, (size_t)count, error) &&
                   next_int8(&from, q, numbers, error);
        else if (by_token)
            good = next_tokens(&from, x, is_bias ? 0 : row, is_bias ? columns : count,
                               is_bias ? 1 : (size_t)columns, error);
        else good = next_floats(&from, x, numbers, error);
        for (int i = 0; good && int8 && i < count; i++, q += columns)
            int8_put(matrix->W.int8, first + row + i, q, (float)buffer[i]);
        if (good && !int8 && matrix) matrix_set(&matrix->W, first + row, x, count, columns);
    }
    free(buffer);
    return good && finish(&from, error) && (!int8 || finish(&scales, error));
}

bool checkpoint_read(const CheckpointFile *c, const Params *params, const char *prefix,
                     const Prepared *prepared, real *block, Error *error)
{
    Reading r = {c, params, prefix, prepared, block};
    int threads = at_most(workers_processors(), 1 + (int)(params->size / THREAD_NUMBERS));
    if (!checkpoint_fits(c, params, prefix, prepared, error)) return false;
    // NULL: one thread is enough, or there is none to be had
    Workers *workers = threads > 1 ? workers_start(threads, NULL) : NULL;
    bool good = workers_each(workers, (size_t)params->count, read_tensor, &r, error);
    workers_stop(workers);
    return good;
}
