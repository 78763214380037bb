/* protobuf.c -- protocol buffer messages, field by field; see protobuf.h. */
#include "data/protobuf.h"

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

static bool take_word(Bytes *from, uint64_t *value)
{
    Bytes b;
    if (!take_bytes(from, &b, 4)) return false;
    *value =
        b.at[0] | (uint32_t)b.at[1] << 8 | (uint32_t)b.at[2] << 16 | (uint32_t)b.at[3] << 24;
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
    case 5: return take_word(from, &field->value);
    default: return false;
    }
}
