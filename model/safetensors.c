/* safetensors.c -- named tensors to and from one file, or from memory: the format is in
 * safetensors.h. */
#include "model/safetensors.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/file.h"
#include "base/textstream.h"

#define CRC_PREFIX  "crc32."
#define CRC_HEADER  "crc32.header"
#define CRC_UNKNOWN "00000000"
enum { CRC_DIGITS = 8, NAME_LIMIT = 255, LENGTH_BYTES = 8 };

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the format is little-endian, and numbers are written as they lie in memory"
#endif

const DtypeInfo dtypes[] = {
    [DTYPE_BOOL] = {"BOOL", 1}, [DTYPE_U8] = {"U8", 1},     [DTYPE_I8] = {"I8", 1},
    [DTYPE_I16] = {"I16", 2},   [DTYPE_F16] = {"F16", 2},   [DTYPE_BF16] = {"BF16", 2},
    [DTYPE_I32] = {"I32", 4},   [DTYPE_F32] = {"F32", 4},   [DTYPE_I64] = {"I64", 8},
    [DTYPE_F64] = {"F64", 8},   [DTYPE_UNKNOWN] = {"?", 0},
};

/* text (=) a CRC-32 in hex. */
static const char *crc_text(char text[CRC_DIGITS + 1], unsigned long crc)
{
    snprintf(text, CRC_DIGITS + 1, "%08lx", crc & 0xFFFFFFFFul);
    return text;
}

/* ---- writing ---- */

static size_t bytes_of(const SafeTensor *tensor)
{
    size_t bytes = dtypes[tensor->dtype].size;
    for (int i = 0; i < tensor->dimensions; i++) bytes *= (size_t)tensor->shape[i];
    return bytes;
}

static void put_integers(JsonWriter *json, const char *key, const int64_t *value, int count)
{
    json_open_array(json, key);
    for (int i = 0; i < count; i++) json_put_integer(json, NULL, value[i]);
    json_close(json);
}

static void put_header(JsonWriter *json, const SafeTensor *tensors, int count,
                       const SafeMetadata *metadata, int metadata_count)
{
    int64_t begin = 0, end;
    json_open(json, NULL);
    json_open(json, "__metadata__");
    json_put_text(json, CRC_HEADER, CRC_UNKNOWN);
    for (int i = 0; i < metadata_count; i++)
        if (metadata[i].text) json_put_text(json, metadata[i].key, metadata[i].text);
    for (int i = 0; i < count; i++) {
        char key[sizeof CRC_PREFIX + NAME_LIMIT], crc[CRC_DIGITS + 1];
        snprintf(key, sizeof key, CRC_PREFIX "%s", tensors[i].name);
        json_put_text(json, key,
                      crc_text(crc, crc32_z(0, tensors[i].data, bytes_of(&tensors[i]))));
    }
    json_close(json);
    for (const SafeTensor *t = tensors; t < tensors + count; t++, begin = end) {
        end = begin + (int64_t)bytes_of(t);
        json_open(json, t->name);
        json_put_text(json, "dtype", dtypes[t->dtype].name);
        put_integers(json, "shape", t->shape, t->dimensions);
        put_integers(json, "data_offsets", (const int64_t[]){begin, end}, 2);
        json_close(json);
    }
    json_close(json);
}

/* The eight bytes of length, the JSON text and its padding. free() it; NULL if memory is
 * short. */
static char *make_header(size_t *size, const SafeTensor *tensors, int count,
                         const SafeMetadata *metadata, int metadata_count)
{
    char crc[CRC_DIGITS + 1];
    uint64_t length = 0;
    TextStream stream;
    FILE *out = textstream_open(&stream);
    if (!out) return NULL;
    fwrite(&length, 1, LENGTH_BYTES, out);
    put_header(&(JsonWriter){.out = out}, tensors, count, metadata, metadata_count);
    fprintf(out, "%*s", (int)(-ftell(out) & 7), "");
    char *bytes = textstream_close(&stream);
    if (!bytes) return NULL;
    *size = stream.length;
    length = *size - LENGTH_BYTES;
    memcpy(bytes, &length, LENGTH_BYTES);
    // The header's own checksum is its first member, so the first such text is the right one.
    char *place = strstr(bytes + LENGTH_BYTES, CRC_UNKNOWN);
    memcpy(place, crc_text(crc, crc32_z(0, (unsigned char *)bytes, *size)), CRC_DIGITS);
    return bytes;
}

bool safetensors_write(const char *path, const SafeTensor *tensors, int count,
                       const SafeMetadata *metadata, int metadata_count, Error *error)
{
    AtomicFile file;
    size_t size = 0;
    for (int i = 0; i < count; i++)
        assert(strlen(tensors[i].name) <= NAME_LIMIT && strcmp(tensors[i].name, "header") &&
               tensors[i].dimensions <= SAFETENSORS_DIMENSIONS);
    char *header = make_header(&size, tensors, count, metadata, metadata_count);
    bool good =
        header ? size <= SAFETENSORS_HEADER_LIMIT ||
                     error_set(error, "cannot write '%s': its header would be %zu bytes long",
                               path, size)
               : error_memory(error, "to write '%s'", path);
    good = good && file_begin(&file, path, error) && file_write(&file, header, size, error);
    for (int i = 0; good && i < count; i++)
        good = file_write(&file, tensors[i].data, bytes_of(&tensors[i]), error);
    free(header);
    return good && file_commit(&file, error);
}

/* ---- reading: the bytes ---- */

static bool read_at(const SafeFile *file, uint64_t offset, void *data, size_t length,
                    Error *error)
{
    char *next = data;
    if (file->bytes) {
        memcpy(data, file->bytes + offset, length);
        return true;
    }
    while (length) {
        ssize_t got = pread(file->fd, next, length, (off_t)offset);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0)
            return error_set(error, "cannot read '%s': %s", file->path, strerror(errno));
        if (!got) return error_set(error, "'%s' ends too early: it is cut off", file->path);
        next += got;
        offset += (uint64_t)got;
        length -= (size_t)got;
    }
    return true;
}

/* Says why these first bytes begin no safetensors file. Names files that are often downloaded
 * by mistake. */
static bool not_safetensors(const SafeFile *file, const char *bytes, Error *error)
{
    static const struct {
        const char *begin, *what;
    } others[] = {
        {"<", "an HTML page, so perhaps a link's page was saved instead of the file"},
        {"version https://git-lfs",
         "a Git LFS pointer, so fetch the file itself (git lfs pull)"},
        {"PK\x03\x04", "a zip archive, which is PyTorch's format"},
        {"\x1F\x8B", "gzip, so unpack it first"},
        {"{", "JSON, without the eight bytes of length before it"},
    };
    bytes += strspn(bytes, " \t\r\n");
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (!strncmp(bytes, others[i].begin, strlen(others[i].begin)))
            return error_set(error, "'%s' is not a safetensors file: it begins like %s",
                             file->path, others[i].what);
    return error_set(error,
                     "'%s' is not a safetensors file: it does not begin with the length "
                     "of a header and the header",
                     file->path);
}

/* *bytes (=) bytes 0 .. 8+n-1 of all `size` and a NUL, to be freed in any case; file->start, size
 * and header. */
static bool read_header(SafeFile *file, char **bytes, uint64_t size, Error *error)
{
    char begin[33] = "";
    uint64_t length = 0;
    size_t known = size < sizeof begin ? (size_t)size : sizeof begin - 1;
    if (!size) return error_set(error, "'%s' is empty", file->path);
    if (!read_at(file, 0, begin, known, error)) return false;
    if (size >= LENGTH_BYTES) memcpy(&length, begin, LENGTH_BYTES);
    if (size < LENGTH_BYTES + 2 || length < 2 || length > SAFETENSORS_HEADER_LIMIT ||
        begin[LENGTH_BYTES] != '{')
        return not_safetensors(file, begin, error);
    if (length > size - LENGTH_BYTES)
        return error_set(error, "'%s' is cut off: its header of %llu bytes is not all there",
                         file->path, (unsigned long long)length);
    file->start = LENGTH_BYTES + length;
    file->size = size - file->start;
    *bytes = calloc(1, file->start + 1);
    if (!*bytes) return error_memory(error, "for the header of '%s'", file->path);
    if (!read_at(file, 0, *bytes, file->start, error)) return false;
    file->header = json_parse(*bytes + LENGTH_BYTES, length, "header", error);
    return file->header || error_prefix(error, "'%s' is damaged", file->path);
}

/* Checks that the metadata are texts, and verifies "crc32.header", if it is there. Zeroes its digits
 * in `bytes`. */
static bool check_metadata(const SafeFile *file, char *bytes, size_t size, Error *error)
{
    json_t *metadata = json_object_get(file->header, "__metadata__"), *value;
    const char *key, *stored = safetensors_metadata(file, CRC_HEADER);
    bool texts = !metadata || json_is_object(metadata);
    json_object_foreach(metadata, key, value) texts = texts && json_is_string(value);
    if (!texts)
        return error_set(error, "'%s' is damaged: its __metadata__ is no map of texts",
                         file->path);
    char member[sizeof CRC_HEADER + CRC_DIGITS + 8], crc[CRC_DIGITS + 1];
    if (!stored) return true;
    snprintf(member, sizeof member, "\"" CRC_HEADER "\":\"%.8s\"", stored);
    char *place = memmem(bytes, size, member, strlen(member));
    if (place) memcpy(place + strlen(member) - CRC_DIGITS - 1, CRC_UNKNOWN, CRC_DIGITS);
    if (place && strlen(stored) == CRC_DIGITS &&
        !strcmp(stored, crc_text(crc, crc32_z(0, (unsigned char *)bytes, size))))
        return true;
    return error_set(error,
                     "'%s' is damaged: the checksum of its header is wrong (a tool that "
                     "rewrites such a file must leave out the old " CRC_HEADER ")",
                     file->path);
}

/* ---- reading: the header ---- */

static bool wrong(const SafeFile *file, const char *name, const char *what, Error *error)
{
    return error_set(error, "'%s' is damaged: tensor '%s' %s", file->path, name, what);
}

/* The shape, and that its product is the number of bytes: every factor is checked before it is
 * multiplied, so that nothing wraps around. */
static bool read_shape(const SafeFile *file, SafeTensor *tensor, const json_t *shape,
                       Error *error)
{
    if (!json_is_array(shape) || json_array_size(shape) > SAFETENSORS_DIMENSIONS)
        return wrong(file, tensor->name, "has no shape of 0 to 8 sizes", error);
    tensor->dimensions = (int)json_array_size(shape);
    uint64_t bytes = dtypes[tensor->dtype].size;
    bool too_large = false;
    for (int i = 0; i < tensor->dimensions; i++) {
        const json_t *size = json_array_get(shape, (size_t)i);
        tensor->shape[i] = json_integer_value(size);
        if (!json_is_integer(size) || tensor->shape[i] < 0)
            return wrong(file, tensor->name, "has a size that is no whole number", error);
        too_large |= __builtin_mul_overflow(bytes, (uint64_t)tensor->shape[i], &bytes);
    }
    if (tensor->dtype == DTYPE_UNKNOWN || (!too_large && bytes == tensor->bytes)) return true;
    return wrong(file, tensor->name, "has another number of bytes than its shape says", error);
}

static bool read_tensor(const SafeFile *file, SafeTensor *tensor, const char *name,
                        json_t *value, Error *error)
{
    json_int_t from, to;
    bool plain = *name && strlen(name) <= NAME_LIMIT;
    for (const char *s = name; *s; s++) plain &= (unsigned char)*s >= 0x20 && *s != 0x7F;
    if (!plain)
        return error_set(error, "'%s' is damaged: it has a tensor without a readable name",
                         file->path);
    *tensor = (SafeTensor){.name = name};
    const char *dtype = json_string_value(json_object_get(value, "dtype"));
    if (!dtype) return wrong(file, tensor->name, "has no dtype", error);
    while (tensor->dtype < DTYPE_UNKNOWN && strcmp(dtypes[tensor->dtype].name, dtype))
        tensor->dtype++;

    if (json_unpack(value, "{s:[I,I!]}", "data_offsets", &from, &to) || from < 0 || to < from ||
        (uint64_t)to > file->size)
        return wrong(file, tensor->name, "lies outside of the file, which may be cut off",
                     error);
    tensor->begin = (uint64_t)from;
    tensor->bytes = (uint64_t)(to - from);
    return read_shape(file, tensor, json_object_get(value, "shape"), error);
}

static int by_place(const void *a, const void *b)
{
    const SafeTensor *x = a, *y = b;
    if (x->begin != y->begin) return x->begin < y->begin ? -1 : 1;
    return (x->bytes > y->bytes) - (x->bytes < y->bytes);  // empty ones first
}

/* The format allows neither gaps nor overlaps, and no bytes after the last tensor. */
static bool check_places(const SafeFile *file, Error *error)
{
    uint64_t end = 0;
    for (int i = 0; i < file->count; i++) {
        const SafeTensor *tensor = &file->tensor[i];
        if (tensor->begin < end)
            return wrong(file, tensor->name, "overlaps the one before it", error);
        if (tensor->begin > end)
            return wrong(file, tensor->name, "does not follow the one before it", error);
        end += tensor->bytes;
    }
    if (end == file->size) return true;
    return error_set(error, "'%s' is damaged: %llu bytes follow its last tensor", file->path,
                     (unsigned long long)(file->size - end));
}

static bool read_tensors(SafeFile *file, Error *error)
{
    json_t *value;
    const char *name;
    file->tensor = calloc(json_object_size(file->header) + 1, sizeof *file->tensor);
    if (!file->tensor) return error_memory(error, "for the header of '%s'", file->path);
    json_object_foreach(file->header, name, value)
    {
        if (!strcmp(name, "__metadata__")) continue;
        if (!read_tensor(file, &file->tensor[file->count++], name, value, error)) return false;
    }
    qsort(file->tensor, (size_t)file->count, sizeof *file->tensor, by_place);
    return check_places(file, error);
}

bool safetensors_open(SafeFile *file, const char *name, const void *bytes, size_t size,
                      Error *error)
{
    char *header = NULL;
    struct stat found = {.st_size = (off_t)size};
    *file = (SafeFile){.fd = -1, .bytes = bytes};
    if (!(file->path = strdup(name))) return error_memory(error, "to read '%s'", name);
    bool good = bytes || (file->fd = file_open(name, O_RDONLY, error)) >= 0;
    if (good && !bytes && fstat(file->fd, &found))
        good = error_set(error, "cannot read '%s': %s", name, strerror(errno));
    good = good && read_header(file, &header, (uint64_t)found.st_size, error) &&
           check_metadata(file, header, file->start, error) && read_tensors(file, error);
    free(header);
    if (!good) safetensors_close(file);
    return good;
}

void safetensors_close(SafeFile *file)
{
    if (file->fd >= 0) close(file->fd);
    json_decref(file->header);
    free(file->tensor);
    free(file->path);
    *file = (SafeFile){.fd = -1};
}

/* ---- reading: the contents ---- */

const SafeTensor *safetensors_find(const SafeFile *file, const char *name)
{
    for (int i = 0; i < file->count; i++)
        if (!strcmp(file->tensor[i].name, name)) return &file->tensor[i];
    return NULL;
}

const char *safetensors_metadata(const SafeFile *file, const char *key)
{
    return json_string_value(
        json_object_get(json_object_get(file->header, "__metadata__"), key));
}

bool safetensors_read_part(const SafeFile *file, const SafeTensor *tensor, uint64_t from,
                           size_t length, void *data, unsigned long *crc, Error *error)
{
    assert(from <= tensor->bytes && length <= tensor->bytes - from);
    if (!read_at(file, file->start + tensor->begin + from, data, length, error)) return false;
    *crc = crc32_z(*crc, data, length);
    return true;
}

bool safetensors_verify(const SafeFile *file, const SafeTensor *tensor, unsigned long crc,
                        Error *error)
{
    char key[sizeof CRC_PREFIX + NAME_LIMIT], text[CRC_DIGITS + 1];
    snprintf(key, sizeof key, CRC_PREFIX "%s", tensor->name);
    const char *stored = safetensors_metadata(file, key);
    if (!stored || !strcmp(stored, crc_text(text, crc))) return true;
    return wrong(file, tensor->name, "has a wrong checksum", error);
}

bool safetensors_read(const SafeFile *file, const SafeTensor *tensor, void *data, Error *error)
{
    unsigned long crc = 0;
    return safetensors_read_part(file, tensor, 0, tensor->bytes, data, &crc, error) &&
           safetensors_verify(file, tensor, crc, error);
}
