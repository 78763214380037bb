/* checkpoint.c -- a model or a training in one file; see checkpoint.h. */
#include "model/checkpoint.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/workers.h"

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

/* ---- loading: the numbers ---- */

/* A tensor is read in pieces, by any thread each. A piece is some rows, or of a tensor that is
 * int8 some rows and their scales: parts 0 and 1. */
typedef struct Part {
    const SafeTensor *stored;  // NULL: there is none
    unsigned long crc;
    size_t wrong;   // the place in the tensor of a number that is refused, or NONE
    double number;  // which
} Part;

typedef struct Piece {
    const Tensor *tensor;
    int first, rows, columns;
    Part part[2];
} Piece;

typedef struct Reading {
    const CheckpointFile *file;
    const Prepared *prepared;  // or NULL
    real *block, least;        // least: the least number allowed
    Piece *piece;              // [pieces], in the order of the table
    int pieces;
    size_t size;            // bytes that a piece takes in memory
    unsigned char *buffer;  // [threads][size]
    atomic_int next;
    atomic_flag failed;  // the error is set
    Error *error;
} Reading;

/* Rows are whole panels; a thread is worth starting for a megabyte or two. */
enum { PIECE_NUMBERS = 1 << 16, PIECE_ROWS = 32, THREAD_NUMBERS = 1 << 18 };
static const size_t NONE = SIZE_MAX;

static bool is_right(real x, real least)
{
    return x >= least && x <= FLT_MAX;
}

/* numbers [count] (=) those of a part `from` on. If real is double, the floats in the front half
 * are moved to their places, the last one first. */
static bool read_floats(const CheckpointFile *c, Part *part, real *numbers, size_t from,
                        size_t count, real least, Error *error)
{
    int wrong = 0;
    if (!safetensors_read_part(&c->file, part->stored, from * sizeof(float),
                               count * sizeof(float), numbers, &part->crc, error))
        return false;
#ifdef REAL_IS_DOUBLE
    for (size_t i = count; i-- > 0;) {
        float number;
        memcpy(&number, (const char *)numbers + i * sizeof number, sizeof number);
        numbers[i] = number;
    }
#endif
#pragma omp simd reduction(| : wrong)
    for (size_t i = 0; i < count; i++) wrong |= !is_right(numbers[i], least);
    for (size_t i = 0; wrong && part->wrong == NONE; i++)
        if (!is_right(numbers[i], least)) part->wrong = from + i, part->number = numbers[i];
    return true;
}

/* Into rows `to` .. of a matrix. */
static bool read_int8(const CheckpointFile *c, Piece *piece, const Int8Matrix *matrix, int to,
                      void *buffer, Error *error)
{
    Part *part = piece->part;
    size_t columns = (size_t)piece->columns, first = (size_t)piece->first;
    size_t rows = (size_t)piece->rows;
    real *scale = buffer;
    int8_t *q = (int8_t *)(scale + rows), *least;
    if (!read_floats(c, &part[1], scale, first, rows, 0, error) ||
        !safetensors_read_part(&c->file, part[0].stored, first * columns, rows * columns, q,
                               &part[0].crc, error))
        return false;
    if ((least = memchr(q, -128, rows * columns)))
        part[0].wrong = first * columns + (size_t)(least - q), part[0].number = *least;
    for (size_t r = 0; r < rows; r++, q += columns)
        int8_put(matrix, to + (int)r, q, (float)scale[r]);
    return true;
}

static bool read_piece(const Reading *r, Piece *piece, void *buffer, Error *error)
{
    const Tensor *tensor = piece->tensor;
    size_t columns = (size_t)piece->columns, from = (size_t)piece->first * columns;
    real *block = r->block + tensor->offset;
    Matrix to = {tensor->layout, block, NULL};
    PreparedRows prepared = {0};
    if (r->prepared) prepared = prepared_rows(r->prepared, tensor);
    if (prepared.matrix) to = prepared.matrix->W;
    int first = prepared.first + piece->first;
    if (piece->part[1].stored) return read_int8(r->file, piece, to.int8, first, buffer, error);
    bool stays = prepared.matrix ? prepared.matrix->looked_up : to.layout == MATRIX_ROWS;
    real *numbers = stays ? block + from : buffer;
    if (!read_floats(r->file, piece->part, numbers, from, (size_t)piece->rows * columns,
                     r->least, error))
        return false;
    if (to.at != block || !stays) matrix_set(&to, first, numbers, piece->rows, piece->columns);
    return true;
}

static void read_pieces(void *context, int worker)
{
    Reading *r = context;
    Error error;
    for (int i; (i = atomic_fetch_add(&r->next, 1)) < r->pieces;)
        if (!read_piece(r, &r->piece[i], r->buffer + (size_t)worker * r->size, &error)) {
            if (!atomic_flag_test_and_set(&r->failed) && r->error) *r->error = error;
            return;
        }
}

/* Lists the pieces if there is memory for them; counts them in any case. */
static bool list_pieces(Reading *r, const Params *params, const char *prefix, Error *error)
{
    r->pieces = 0;
    for (int i = 0; i < params->count; i++) {
        const Tensor *tensor = &params->tensor[i];
        bool int8 = r->prepared && checkpoint_has_int8(r->file, tensor);
        int columns = tensor->dimensions == 2 ? tensor->shape[1] : 1, most = tensor->shape[0];
        if (int8 && !prepared_rows(r->prepared, tensor).matrix)
            return error_set(error, "'%s' holds as int8 what is no matrix", r->file->file.path);
        if (PIECE_NUMBERS / columns < most)
            most = (PIECE_NUMBERS / columns + PIECE_ROWS - 1) / PIECE_ROWS * PIECE_ROWS;
        size_t size = (size_t)most * (size_t)(columns + 1) * sizeof(real);
        if (size > r->size) r->size = size;
        Piece piece = {tensor, 0, 0, columns, {{NULL, 0, NONE, 0}, {NULL, 0, NONE, 0}}};
        piece.part[0].stored = find(r->file, prefix, tensor, int8 ? CHECKPOINT_INT8 : "");
        if (int8) piece.part[1].stored = find(r->file, "", tensor, CHECKPOINT_SCALE);
        for (; piece.first < tensor->shape[0]; piece.first += most, r->pieces++) {
            piece.rows = at_most(tensor->shape[0] - piece.first, most);
            if (r->piece) r->piece[r->pieces] = piece;
        }
    }
    return true;
}

/* Verifies part `which` of a tensor, whose pieces end before `end`. */
static bool check(const CheckpointFile *c, const Piece *piece, const Piece *end, int which,
                  Error *error)
{
    const SafeTensor *stored = piece->part[which].stored;
    size_t row = stored ? stored->bytes / (size_t)stored->shape[0] : 0;
    unsigned long crc = 0;
    if (!stored) return true;
    for (const Piece *p = piece; p < end; p++)
        crc = safetensors_join(crc, p->part[which].crc, (size_t)p->rows * row);
    if (!safetensors_verify(&c->file, stored, crc, error)) return false;
    for (; piece < end; piece++) {
        const Part *part = &piece->part[which];
        if (part->wrong == NONE) continue;
        return error_set(error, "'%s': tensor '%s' holds %s at place %zu", c->file.path,
                         stored->name,
                         stored->dtype == DTYPE_I8 ? "-128"
                         : isnan(part->number)     ? "not-a-number"
                         : isinf(part->number)     ? "infinity"
                                                   : "a negative number",
                         part->wrong);
    }
    return true;
}

static bool check_all(const Reading *r, Error *error)
{
    const Piece *piece = r->piece, *last = piece + r->pieces, *end;
    for (; piece < last; piece = end) {
        for (end = piece; end < last && end->tensor == piece->tensor; end++) {}
        for (int which = 0; which < 2; which++)
            if (!check(r->file, piece, end, which, error)) return false;
    }
    return true;
}

static bool read_all(Reading *r, const Params *params, const char *prefix, Error *error)
{
    int threads = at_most(workers_processors(), 1 + (int)(params->size / THREAD_NUMBERS));
    if (!list_pieces(r, params, prefix, error)) return false;
    r->piece = calloc((size_t)r->pieces, sizeof *r->piece);
    r->buffer = malloc((size_t)threads * r->size);
    if (!r->piece || !r->buffer || !list_pieces(r, params, prefix, error))
        return error_set(error, "not enough memory to read '%s'", r->file->file.path);
    Workers *workers = threads > 1 ? workers_start(threads, NULL) : NULL;
    if (workers) workers_run(workers, read_pieces, r);
    else read_pieces(r, 0);  // one thread is enough, or there is none to be had
    workers_stop(workers);
    return !atomic_flag_test_and_set(&r->failed) && check_all(r, error);
}

static bool read_tensors(const CheckpointFile *c, const Params *params, const char *prefix,
                         const Prepared *prepared, real *block, Error *error)
{
    bool squares = !strcmp(prefix, CHECKPOINT_ADAM_V);
    Reading reading = {.file = c,
                       .prepared = prepared,
                       .block = block,
                       .least = squares ? 0 : -FLT_MAX,
                       .failed = ATOMIC_FLAG_INIT,
                       .error = error};
    bool good = checkpoint_fits(c, params, prefix, prepared, error) &&
                read_all(&reading, params, prefix, error);
    free(reading.piece);
    free(reading.buffer);
    return good;
}

bool checkpoint_read(const CheckpointFile *c, const Params *params, const char *prefix,
                     real *block, Error *error)
{
    return read_tensors(c, params, prefix, NULL, block, error);
}

bool checkpoint_read_prepared(const CheckpointFile *c, const Params *params,
                              const Prepared *prepared, real *block, Error *error)
{
    return read_tensors(c, params, CHECKPOINT_WEIGHTS, prepared, block, error);
}
