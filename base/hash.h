/* hash.h -- FNV-1a, 64 bits (Fowler, Noll, Vo 1991), over bytes or over words. */
#pragma once

#include "base/c.h"

static const uint64_t HASH_START = 0xcbf29ce484222325u;

static inline uint64_t hash_word(uint64_t hash, uint64_t word)
{
    return (hash ^ word) * 0x100000001b3u;
}

static inline uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) hash = hash_word(hash, ((const unsigned char *)bytes)[i]);
    return hash;
}
