/* protobuf.c -- protocol buffer messages, field by field; see protobuf.h. */
#include "data/protobuf.h"

#include "base/grow.h"

#include <stdlib.h>
#include <string.h>

static bool take_varint(Bytes *from, uint64_t *value)
{
    *value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
        if (from->count == 0) return false;
        unsigned char byte = *from->at;
        from->at++, from->count--;
        *value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) return true;
    }
    return false;
}

static bool take_bytes(Bytes *from, Bytes *taken, uint64_t count)
{
    if (count > from->count) return false;
    *taken = (Bytes){from->at, (size_t)count};
    from->at += count, from->count -= (size_t)count;
    return true;
}

bool protobuf_field(Bytes *from, Field *field)
{
    uint64_t tag, length;
    Bytes passed;
    *field = (Field){0};
    if (!take_varint(from, &tag) || tag > UINT32_MAX || tag >> 3 == 0) return false;
    field->number = (uint32_t)(tag >> 3);
    switch (tag & 7) {
    case 0: return take_varint(from, &field->value);
    case 1: return take_bytes(from, &passed, 8);
    case 2: return take_varint(from, &length) && take_bytes(from, &field->bytes, length);
    case 5: return take_bytes(from, &passed, 4) && memcpy(&field->real, passed.at, 4);
    default: return false;
    }
}

void protobuf_put_fields(Message *message, const void *bytes, size_t count)
{
    message->failed |= !GROW(message->bytes, message->size, message->count + count);
    if (message->failed || !count) return;
    memcpy(message->bytes + message->count, bytes, count);
    message->count += count;
}

static void put(Message *message, uint64_t value)
{
    for (; value > 0x7f; value >>= 7)
        protobuf_put_fields(message, &(unsigned char){value | 0x80}, 1);
    protobuf_put_fields(message, &(unsigned char){value}, 1);
}

void protobuf_put_varint(Message *message, uint32_t number, uint64_t value)
{
    put(message, (uint64_t)number << 3);
    put(message, value);
}

void protobuf_put_bytes(Message *message, uint32_t number, const void *bytes, size_t count)
{
    put(message, (uint64_t)number << 3 | 2);
    put(message, count);
    protobuf_put_fields(message, bytes, count);
}

void protobuf_put_message(Message *message, uint32_t number, Message *field)
{
    protobuf_put_bytes(message, number, field->bytes, field->count);
    message->failed |= field->failed;
    free(field->bytes);
}
