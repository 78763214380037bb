/* safetensors-writing.c -- named tensors to one file: the format is in safetensors.h. */
#include "model/safetensors-checksum.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"

static size_t bytes_of(const SafeTensor *tensor)
{
    size_t bytes = dtype_size(tensor->dtype);
    for (int i = 0; i < tensor->dimensions; i++) bytes *= (size_t)tensor->shape[i];
    return bytes;
}

/* A tensor's bytes in row-major order: where they lie, or in room. */
static const void *bytes_in_order(const SafeTensor *tensor, void *room)
{
    if (!tensor->rows) return tensor->data;
    tensor->rows(room, tensor);
    return room;
}

static void put_tensor(JsonWriter *json, const SafeTensor *tensor, size_t begin)
{
    json_open(json, tensor->name);
    json_put_text(json, "dtype", dtype_name(tensor->dtype));
    json_open_array(json, "shape");
    for (int i = 0; i < tensor->dimensions; i++) json_put_integer(json, NULL, tensor->shape[i]);
    json_close_array(json);
    json_open_array(json, "data_offsets");
    json_put_integer(json, NULL, (int64_t)begin);
    json_put_integer(json, NULL, (int64_t)(begin + bytes_of(tensor)));
    json_close_array(json);
    json_close(json);
}

static void put_header(JsonWriter *json, const SafeTensor *tensors, int count,
                       const SafeMetadata *metadata, int metadata_count, void *room)
{
    json_open(json, NULL);
    json_open(json, "__metadata__");
    json_put_text(json, CRC_HEADER, CRC_UNKNOWN);
    for (int i = 0; i < metadata_count; i++)
        json_put_text(json, metadata[i].key, metadata[i].text);
    for (int i = 0; i < count; i++) {
        char key[sizeof CRC_PREFIX + NAME_LIMIT], crc[CRC_DIGITS + 1];
        snprintf(key, sizeof key, CRC_PREFIX "%s", tensors[i].name);
        const void *bytes = bytes_in_order(&tensors[i], room);
        json_put_text(json, key, crc_text(crc, bytes, bytes_of(&tensors[i])));
    }
    json_close(json);
    size_t begin = 0;
    for (int i = 0; i < count; i++) {
        put_tensor(json, &tensors[i], begin);
        begin += bytes_of(&tensors[i]);
    }
    json_close(json);
}

/* The eight bytes of length, the JSON text and its padding. free() it; NULL if memory is short. */
static char *make_header(size_t *size, const SafeTensor *tensors, int count,
                         const SafeMetadata *metadata, int metadata_count, void *room)
{
    char *bytes = NULL;
    uint64_t length = 0;
    FILE *out = open_memstream(&bytes, size);
    if (!out) return NULL;
    fwrite(&length, 1, LENGTH_BYTES, out);
    put_header(&(JsonWriter){.out = out}, tensors, count, metadata, metadata_count, room);
    while (ftell(out) % 8) fputc(' ', out);
    if (fclose(out)) {
        free(bytes);
        return NULL;
    }
    length = *size - LENGTH_BYTES;
    memcpy(bytes, &length, LENGTH_BYTES);

    // The header's own checksum is its first member, so the first such text is the right one.
    char crc[CRC_DIGITS + 1];
    char *place = strstr(bytes + LENGTH_BYTES, CRC_UNKNOWN);
    memcpy(place, crc_text(crc, bytes, *size), CRC_DIGITS);
    return bytes;
}

/* room: for the largest tensor that is put in order */
static bool write_all(const char *path, const SafeTensor *tensors, int count,
                      const SafeMetadata *metadata, int metadata_count, void *room,
                      Error *error)
{
    size_t size;
    char *header = make_header(&size, tensors, count, metadata, metadata_count, room);
    if (!header) return error_set(error, "not enough memory to write '%s'", path);
    if (size > SAFETENSORS_HEADER_LIMIT) {
        free(header);
        return error_set(error, "cannot write '%s': its header would be %zu bytes long", path,
                         size);
    }
    AtomicFile file;
    bool good = file_begin(&file, path, error) && file_write(&file, header, size, error);
    free(header);
    for (int i = 0; good && i < count; i++)
        good =
            file_write(&file, bytes_in_order(&tensors[i], room), bytes_of(&tensors[i]), error);
    return good && file_commit(&file, error);
}

bool safetensors_write(const char *path, const SafeTensor *tensors, int count,
                       const SafeMetadata *metadata, int metadata_count, Error *error)
{
    size_t largest = 0;
    for (int i = 0; i < count; i++) {
        assert(strlen(tensors[i].name) <= NAME_LIMIT && strcmp(tensors[i].name, "header") &&
               tensors[i].dimensions <= SAFETENSORS_DIMENSIONS);
        if (tensors[i].rows && bytes_of(&tensors[i]) > largest) largest = bytes_of(&tensors[i]);
    }
    void *room = largest ? malloc(largest) : NULL;
    bool good = room || !largest
                    ? write_all(path, tensors, count, metadata, metadata_count, room, error)
                    : error_set(error, "not enough memory to write '%s'", path);
    free(room);
    return good;
}
