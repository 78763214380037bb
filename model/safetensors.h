/* safetensors.h -- named tensors in one file, in the format of Hugging Face's safetensors.
 *
 *   byte 0      8       n, the length of the header: 64 bits, little-endian
 *   byte 8      n       the header, JSON, padded with spaces so that 8 + n is a multiple of 8:
 *                         {"__metadata__": {"key": "text", ...},
 *                          "name": {"dtype": "F32", "shape": [2,3], "data_offsets": [0,24]}, ...}
 *   byte 8 + n          the data: every tensor in row-major order, little-endian, without gaps;
 *                       data_offsets are [begin,end) from here
 *
 * (https://github.com/huggingface/safetensors, "Format".) The format has no checksums, so the
 * writer adds two kinds to the metadata, as 8 hex digits each, and the reader verifies those
 * that it finds:
 *
 *   "crc32.header"   CRC-32 of bytes 0 .. 8+n-1, with its own eight digits as "00000000"
 *   "crc32.NAME"     CRC-32 of the bytes of tensor NAME
 *
 * A file may be hostile: every length, offset and shape is checked before it is used. */
#pragma once

#include "base/error.h"
#include "base/json.h"

typedef enum {
    DTYPE_BOOL,
    DTYPE_U8,
    DTYPE_I8,
    DTYPE_I16,
    DTYPE_F16,
    DTYPE_BF16,
    DTYPE_I32,
    DTYPE_F32,
    DTYPE_I64,
    DTYPE_F64,
    DTYPE_UNKNOWN  // one of a later version of the format
} Dtype;

typedef struct DtypeInfo {
    const char *name;  // "F32"
    size_t size;       // bytes an element; 0 for DTYPE_UNKNOWN
} DtypeInfo;
extern const DtypeInfo dtypes[];  // [Dtype]

enum { SAFETENSORS_DIMENSIONS = 8, SAFETENSORS_HEADER_LIMIT = 16 << 20 };

/* ---- writing ---- */

typedef struct SafeTensor {
    const char *name;
    Dtype dtype;
    int dimensions;  // 0: a single number
    int64_t shape[SAFETENSORS_DIMENSIONS];
    const void *data;  // when writing: the numbers; when reading: NULL
    uint64_t begin;    // when reading: the offset of the data, in bytes from the data's start
    uint64_t bytes;    // when reading: its length
} SafeTensor;

typedef struct SafeMetadata {
    const char *key, *text;  // text NULL: left out
} SafeMetadata;

/* Replaces the file at `path` in one instant (base/file.h). Names must be distinct. */
bool safetensors_write(const char *path, const SafeTensor *tensors, int count,
                       const SafeMetadata *metadata, int metadata_count, Error *error);

/* ---- reading ---- */

typedef struct SafeFile {
    int fd;                      // or -1, if it is in memory:
    const unsigned char *bytes;  // not owned
    char *path;                  // for the errors
    json_t *header;              // owns the names
    uint64_t start;              // of the data in the file
    uint64_t size;               // of the data
    int count;                   // tensors
    SafeTensor *tensor;          // [count], in the order of their data
} SafeFile;

/* Reads and checks the header. Close it only if this succeeded. bytes [length]: a file that is in
 * memory, which must stay until it is closed, and whose name is for the errors; NULL: opens the
 * file of this name. */
bool safetensors_open(SafeFile *file, const char *name, const void *bytes, size_t length,
                      Error *error);
void safetensors_close(SafeFile *file);

const SafeTensor *safetensors_find(const SafeFile *file, const char *name);  // or NULL
const char *safetensors_metadata(const SafeFile *file, const char *key);     // or NULL

/* Reads all of a tensor's bytes into data [tensor->bytes] and verifies their checksum. */
bool safetensors_read(const SafeFile *file, const SafeTensor *tensor, void *data, Error *error);

/* The same part by part: some bytes, whose CRC-32 continues that of the bytes before, at first
 * 0; and whether that of all bytes is right. */
bool safetensors_read_part(const SafeFile *file, const SafeTensor *tensor, uint64_t from,
                           size_t length, void *data, unsigned long *crc, Error *error);
bool safetensors_verify(const SafeFile *file, const SafeTensor *tensor, unsigned long crc,
                        Error *error);
