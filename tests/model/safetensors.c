/* safetensors.c -- a file is read as it was written; and damaged files: cut at every byte,
 * every bit flipped, wrong about every size. The reader gives an error or the right numbers. */
#include <sys/stat.h>
#include <zlib.h>

#include "base/file.h"
#include "model/safetensors.h"
#include "tests/fixtures/temporary-file.h"
#include "tests/fixtures/test.h"

static Error error;
static const float matrix[2][3] = {{1, -2, 3.5f}, {0, 1e-30f, 7}};
static const int32_t ids[2] = {-1, 1 << 30};
static const SafeTensor tensors[] = {
    {.name = "w.weight", .dtype = DTYPE_F32, .dimensions = 2, .shape = {2, 3}, .data = matrix},
    {.name = "empty", .dtype = DTYPE_F32, .dimensions = 2, .shape = {5, 0}, .data = matrix},
    {.name = "ids", .dtype = DTYPE_I32, .dimensions = 1, .shape = {2}, .data = ids},
    {.name = "one", .dtype = DTYPE_U8, .dimensions = 0, .data = "z"},
};
static const SafeMetadata metadata[] = {{"format", "pt"},
                                        {"config", "{\"a\": \"\xC3\xBC\\n\"}"}};
enum { TENSORS = 4, METADATA = 2 };

static void write_good(void)
{
    if (!safetensors_write(path, tensors, TENSORS, metadata, METADATA, &error))
        fail_msg("%s", error.text);
}

/* Reads all of it and closes it. */
static bool holds_right(SafeFile *file, Error *why)
{
    static const size_t bytes[TENSORS] = {sizeof matrix, 0, sizeof ids, 1};
    unsigned char data[sizeof matrix];
    bool good = true;
    for (int i = 0; i < TENSORS; i++) {
        const SafeTensor *found = safetensors_find(file, tensors[i].name);
        good = found && found->dtype == tensors[i].dtype && found->bytes == bytes[i] &&
               found->dimensions == tensors[i].dimensions;
        if (!good) error_set(why, "not there as it was");
        good = good && safetensors_read(file, found, data, why);
        if (!good) break;
        assert_memory_equal(found->shape, tensors[i].shape, sizeof found->shape);
        assert_memory_equal(data, tensors[i].data, bytes[i]);
    }
    for (int i = 0; good && i < METADATA; i++)
        assert_string_equal(safetensors_metadata(file, metadata[i].key), metadata[i].text);
    safetensors_close(file);
    return good;
}

/* Opens what is at the path and reads all of it: false with an error, or true, and then it must
 * be what write_good has written. The same from memory, with the same error. */
static bool reads_right(void)
{
    SafeFile file;
    Error other = {""};
    size_t size;
    char *read = file_read(path, 1 << 20, &size, &error), *bytes = malloc(size + !size);
    assert_non_null(read);
    memcpy(bytes, read, size);  // none too many, for AddressSanitizer to see
    free(read);
    strcpy(error.text, "");
    bool good = safetensors_open(&file, path, NULL, 0, &error) && holds_right(&file, &error);
    bool same =
        safetensors_open(&file, path, bytes, size, &other) && holds_right(&file, &other);
    free(bytes);
    assert_int_equal(good, same);
    assert_string_equal(error.text, other.text);
    assert_int_equal(!good, error.text[0] != '\0');
    return good;
}

TEST(what_is_written_is_read)
{
    write_good();
    assert_true(reads_right());

    size_t size;
    char *bytes = file_read(path, 1 << 20, &size, &error);
    uint64_t length;
    memcpy(&length, bytes, 8);
    assert_int_equal(length % 8, 0);
    assert_int_equal(size, 8 + length + sizeof matrix + sizeof ids + 1);
    assert_memory_equal(bytes + 8 + length, matrix, sizeof matrix);
    free(bytes);

    SafeFile file;
    assert_true(safetensors_open(&file, path, NULL, 0, &error));
    assert_int_equal(file.count, TENSORS);
    assert_null(safetensors_find(&file, "absent"));
    assert_null(safetensors_metadata(&file, "absent"));
    safetensors_close(&file);
}

/* The example of checkpoints/README.md, byte by byte. */
TEST(the_documented_example_is_true)
{
    static const float w[4] = {1, -2, 0.5f, 0};
    static const SafeMetadata example_metadata[] = {
        {"format", "qkv"}, {"version", "1"}, {"config", "{\"d\":2}"}};
    static const SafeTensor example[] = {
        {.name = "w", .dtype = DTYPE_F32, .dimensions = 2, .shape = {2, 2}, .data = w},
        {.name = "tokenizer", .dtype = DTYPE_U8, .dimensions = 1, .shape = {3}, .data = "abc"}};
    static const char expected[] =
        "\x08\x01\0\0\0\0\0\0"
        "{\"__metadata__\":{\"crc32.header\":\"ee1bb15f\",\"format\":\"qkv\",\"version\":\"1\","
        "\"config\":\"{\\\"d\\\":2}\",\"crc32.w\":\"d477b0b2\",\"crc32.tokenizer\":"
        "\"352441c2\"},"
        "\"w\":{\"dtype\":\"F32\",\"shape\":[2,2],\"data_offsets\":[0,16]},"
        "\"tokenizer\":{\"dtype\":\"U8\",\"shape\":[3],\"data_offsets\":[16,19]}}  "
        "\0\0\x80\x3f\0\0\0\xc0\0\0\0\x3f\0\0\0\0abc";
    size_t size;
    assert_true(safetensors_write(path, example, 2, example_metadata, 3, &error));
    char *bytes = file_read(path, 1000, &size, &error);
    assert_int_equal(size, sizeof expected - 1);
    assert_memory_equal(bytes, expected, size);
    free(bytes);
}

TEST(no_truncation_is_taken_for_a_file)
{
    size_t size;
    write_good();
    char *bytes = file_read(path, 1 << 20, &size, &error);
    for (size_t length = 0; length < size; length++) {
        FILE *file = fopen(path, "wb");
        fwrite(bytes, 1, length, file);
        fclose(file);
        assert_false(reads_right());
    }
    bytes = realloc(bytes, size + 1);
    bytes[size] = 0;
    assert_true(file_replace(path, bytes, size + 1, &error));
    assert_false(reads_right());
    assert_non_null(strstr(error.text, "1 bytes follow its last tensor"));
    free(bytes);
}

/* Every bit of every byte. Only damage to the words "crc32.header" themselves can pass, since
 * then there is no such checksum, and then the data are right. */
TEST(no_flipped_bit_gives_wrong_data)
{
    size_t size;
    int passed = 0;
    write_good();
    char *bytes = file_read(path, 1 << 20, &size, &error);
    FILE *file = fopen(path, "r+b");
    setvbuf(file, NULL, _IONBF, 0);
    for (size_t i = 0; i < size; i++)
        for (int bit = 0; bit < 8; bit++) {
            fseek(file, (long)i, SEEK_SET);
            fputc((unsigned char)(bytes[i] ^ 1 << bit), file);
            bool right = reads_right();
            const char *name = strstr(bytes + 8, "crc32.header");
            assert_true(!right || (bytes + i >= name && bytes + i < name + 12));
            passed += right;
            fseek(file, (long)i, SEEK_SET);
            fputc(bytes[i], file);
        }
    fclose(file);
    free(bytes);
    assert_true(passed < 12 * 8);
    assert_true(reads_right());
}

/* A file of this header, padded, and `data` zeros as data. */
static void write_raw(const char *header, size_t data)
{
    char bytes[2048] = {0};
    uint64_t length = (strlen(header) + 7) / 8 * 8;
    memset(bytes + 8, ' ', length);
    memcpy(bytes, &length, 8);
    memcpy(bytes + 8, header, strlen(header));
    assert_true(file_replace(path, bytes, 8 + length + data, &error));
}

#define F32(shape, from, to)                                                                   \
    "{\"dtype\":\"F32\",\"shape\":" shape ",\"data_offsets\":[" from "," to "]}"

TEST(lies_are_refused)
{
    static const struct {
        const char *header;
        size_t data;
        const char *error;
    } cases[] = {
        {"{\"a\":" F32("[1]", "0", "4") "}", 4, NULL},
        {"{}", 0, NULL},
        {"{\"b\":" F32("[1]", "4", "8") ",\"a\":" F32("[1]", "0", "4") "}", 8, NULL},
        {"{\"a\":" F32("[1]", "0", "4") "}", 3, "outside of the file"},
        {"{\"a\":" F32("[1]", "0", "4") "}", 5, "1 bytes follow"},
        {"{\"a\":" F32("[2]", "0", "4") "}", 4, "another number of bytes"},
        {"{\"a\":" F32("[1]", "4", "8") "}", 8, "does not follow"},
        {"{\"a\":" F32("[1]", "0", "4") ",\"b\":" F32("[1]", "0", "4") "}", 4, "overlaps"},
        {"{\"a\":" F32("[2]", "0", "8") ",\"b\":" F32("[1]", "4", "8") "}", 8, "overlaps"},
        {"{\"a\":" F32("[1]", "0", "4") ",\"b\":" F32("[1]", "8", "12") "}", 12,
         "does not follow"},
        {"{\"a\":" F32("[1]", "0", "4") ",\"a\":" F32("[1]", "0", "4") "}", 4, "duplicate"},
        {"{\"a\":" F32("[1]", "4", "0") "}", 4, "outside of the file"},
        {"{\"a\":" F32("[1]", "-4", "0") "}", 4, "outside of the file"},
        {"{\"a\":" F32("[1]", "0", "9223372036854775807") "}", 4, "outside of the file"},
        {"{\"a\":" F32("[1]", "0", "9223372036854775808") "}", 4, "header:1:"},
        {"{\"a\":" F32("[1]", "0", "4.0") "}", 4, "outside of the file"},
        {"{\"a\":" F32("[9223372036854775807]", "0", "4") "}", 4, "another number of bytes"},
        {"{\"a\":" F32("[4611686018427387905]", "0", "4") "}", 4, "another number of bytes"},
        {"{\"a\":" F32("[4294967296,4294967296]", "0", "0") "}", 0, "another number of bytes"},
        {"{\"a\":" F32("[4294967296,4294967296,0]", "0", "0") "}", 0,
         "another number of bytes"},
        {"{\"a\":" F32("[-1]", "0", "4") "}", 4, "no whole number"},
        {"{\"a\":" F32("[1.0]", "0", "4") "}", 4, "no whole number"},
        {"{\"a\":" F32("[1,1,1,1,1,1,1,1,1]", "0", "4") "}", 4, "no shape"},
        {"{\"a\":" F32("1", "0", "4") "}", 4, "no shape"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0]}}", 4,
         "outside of the file"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1]}}", 4, "outside of the file"},
        {"{\"a\":{\"shape\":[1],\"data_offsets\":[0,4]}}", 4, "has no dtype"},
        {"{\"a\":{\"dtype\":3,\"shape\":[1],\"data_offsets\":[0,4]}}", 4, "has no dtype"},
        {"{\"a\":3}", 0, "has no dtype"},
        {"{\"\":" F32("[1]", "0", "4") "}", 4, "without a readable name"},
        {"{\"a\\u001b[7m\":" F32("[1]", "0", "4") "}", 4, "without a readable name"},
        {"{\"__metadata__\":[]}", 0, "no map of texts"},
        {"{\"__metadata__\":{\"a\":1}}", 0, "no map of texts"},
        {"{\"__metadata__\":{\"crc32.header\":\"12345678\"}}", 0, "checksum of its header"},
        {"{\"__metadata__\":{\"crc32.header\":\"\"}}", 0, "checksum of its header"},
        {"{\"__metadata__\":{\"crc32.header\":\"1234567\\\"\"}}", 0, "checksum of its header"},
        {"{\"a\":" F32("[1]", "0", "4"), 4, "header:1:"},
        {"{} {}", 0, "header:1:"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        SafeFile file;
        error.text[0] = '\0';
        write_raw(cases[i].header, cases[i].data);
        bool good = safetensors_open(&file, path, NULL, 0, &error);
        if (good) safetensors_close(&file);
        if (good == !!cases[i].error || (!good && !strstr(error.text, cases[i].error)))
            fail_msg("%s gave: %s", cases[i].header, error.text);
        assert_null(strchr(error.text, '\x1B'));
    }
}

TEST(other_files_are_recognised)
{
    static const BytesCase cases[] = {
        {BYTES(""), "is empty"},
        {BYTES("x"), "does not begin with the length"},
        {BYTES("\n <!DOCTYPE html><html>"), "begins like an HTML page"},
        {BYTES("<html>"), "begins like an HTML page"},
        {BYTES("version https://git-lfs.github.com/spec/v1\noid sha256:0\n"),
         "Git LFS pointer"},
        {BYTES("PK\x03\x04\0\0\0\0\0\0\0\0"), "PyTorch's format"},
        {BYTES("\x1F\x8B\x08\0\0\0\0\0\0\0\0"), "gzip"},
        {BYTES("{\"a\": 1}        "), "JSON, without"},
        {BYTES("\0\0\0\0\0\0\0\0{}"), "does not begin with the length"},
        {BYTES("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF{}"), "does not begin with the length"},
        {BYTES("\0\0\0\0\0\0\0\x80{}"), "does not begin with the length"},
        {BYTES("\0\0\0\x01\0\0\0\0{}"), "is not all there"},
        {BYTES("\x03\0\0\0\0\0\0\0{}"), "is not all there"},
    };
    SafeFile file;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_true(file_replace(path, cases[i].bytes, cases[i].count, &error));
        assert_false(safetensors_open(&file, path, NULL, 0, &error));
        if (!strstr(error.text, cases[i].wanted)) fail_msg("case %zu: %s", i, error.text);
    }
    assert_false(safetensors_open(&file, folder, NULL, 0, &error));
    assert_non_null(strstr(error.text, "it is a folder, not a file"));
    assert_false(safetensors_open(&file, "/no/such", NULL, 0, &error));
    assert_string_equal(error.text, "cannot read '/no/such': No such file or directory");
    unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_false(
        safetensors_open(&file, path, NULL, 0, &error));  // and does not wait for a writer
    assert_non_null(strstr(error.text, "a device or a pipe"));
    unlink(path);
}

/* Of a part of every length, and of the rest after it: those of zlib. */
TEST(checksums_are_those_of_zlib)
{
    enum { SIZE = 700 };
    unsigned char bytes[SIZE], read[SIZE];
    SafeTensor tensor = {.name = "t", .dtype = DTYPE_U8, .dimensions = 1, .shape = {SIZE}};
    SafeFile file;
    for (int i = 0; i < SIZE; i++) bytes[i] = (unsigned char)(i * i * 37 >> 3);
    tensor.data = bytes;
    assert_true(safetensors_write(path, &tensor, 1, metadata, METADATA, &error));
    assert_true(safetensors_open(&file, path, NULL, 0, &error));
    const SafeTensor *t = safetensors_find(&file, "t");
    unsigned long all = crc32(0, bytes, SIZE);
    for (size_t n = 0; n <= SIZE; n++) {
        unsigned long crc = 0;
        assert_true(safetensors_read_part(&file, t, 0, n, read, &crc, &error));
        assert_int_equal(crc, crc32(0, bytes, (unsigned)n));
        assert_true(safetensors_read_part(&file, t, n, SIZE - n, read + n, &crc, &error));
        assert_int_equal(crc, all);
        assert_memory_equal(read, bytes, SIZE);
    }
    assert_true(safetensors_verify(&file, t, all, &error));
    assert_false(safetensors_verify(&file, t, all ^ 1, &error));
    safetensors_close(&file);
}

TEST(an_unknown_dtype_is_listed)
{
    SafeFile file;
    write_raw("{\"a\":{\"dtype\":\"F4\",\"shape\":[8],\"data_offsets\":[0,4]}}", 4);
    assert_true(safetensors_open(&file, path, NULL, 0, &error));
    const SafeTensor *tensor = safetensors_find(&file, "a");
    assert_int_equal(tensor->dtype, DTYPE_UNKNOWN);
    assert_int_equal(tensor->bytes, 4);
    safetensors_close(&file);
}

TEST_MAIN("safetensors", path_make, path_remove)
