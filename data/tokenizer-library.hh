/* tokenizer-library.hh -- what data/tokenizer*.cc share: SentencePiece's exceptions and messages,
 * and copies of bytes. */
#pragma once

extern "C" {
#include "base/error.h"
#include "data/tokenizer.h"
}

#include <cctype>
#include <cstdlib>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string>

/* Returns the result of work(). An exception sets the error and returns false. */
template <class Work> inline bool guarded(Error *error, Work work)
{
    try {
        return work();
    } catch (const std::bad_alloc &) {
        return error_set(error, "out of memory in SentencePiece");
    } catch (const std::exception &e) {
        return error_set(error, "SentencePiece failed: %s", e.what());
    } catch (...) {
        return error_set(error, "SentencePiece failed");
    }
}

/* *to [*size] (=) a malloc'ed copy. */
inline bool copy_bytes(unsigned char **to, size_t *size, const std::string &bytes)
{
    *to = (unsigned char *)malloc(*size = bytes.size());
    if (!*to) throw std::bad_alloc();
    return memcpy(*to, bytes.data(), bytes.size());
}

/* The library's message without the source line that it puts before it. */
inline std::string reason(const std::string &message)
{
    size_t bracket = message.rfind("] ");
    std::string text = bracket == std::string::npos ? message : message.substr(bracket + 2);
    while (!text.empty() && isspace((unsigned char)text.back())) text.pop_back();
    return text.empty() ? message : text;
}
