/* protobuf.h -- protocol buffer messages, read field by field without trusting them, and
 * written.
 *
 *   message   field …
 *   field     varint (number << 3 | wire type), then
 *             type 0: a varint    1: 8 bytes    2: a varint n and n bytes    5: 4 bytes
 *   varint    7 bits a byte, the low ones first; the high bit says that another byte follows
 *
 * Source: protobuf.dev/programming-guides/encoding. Groups (types 3 and 4) are refused: no
 * message of a SentencePiece model has any. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Bytes {
    const unsigned char *at;
    size_t count;
} Bytes;

typedef struct Field {
    uint32_t number;
    uint64_t value;  // of a varint
    float real;      // of 4 bytes
    Bytes bytes;     // of a string, a byte string or a message; at is NULL for other types
} Field;

/* Reads the next field of a message that is not at its end, and moves `from` past it. */
bool protobuf_field(Bytes *from, Field *field);

/* A message that grows, {0} when empty; free(message.bytes). */
typedef struct Message {
    unsigned char *bytes;
    size_t count, size;  // size: allocated
    bool failed;         // memory was short
} Message;

/* Append a field. A later field replaces an earlier one with the same number, unless the field is
 * repeated. */
void protobuf_put_varint(Message *message, uint32_t number, uint64_t value);
void protobuf_put_bytes(Message *message, uint32_t number, const void *bytes, size_t count);
void protobuf_put_message(Message *message, uint32_t number, Message *field);  // and frees it

/* Appends encoded fields. */
void protobuf_put_fields(Message *message, const void *bytes, size_t count);
