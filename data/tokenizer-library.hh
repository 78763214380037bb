/* tokenizer-library.hh -- what every call into SentencePiece needs; only for data/tokenizer*.cc. */
#ifndef DATA_TOKENIZER_LIBRARY_HH
#define DATA_TOKENIZER_LIBRARY_HH

extern "C" {
#include "base/error.h"
}

#include <cctype>
#include <new>
#include <stdexcept>
#include <string>

/* Runs work(), which says true or false, and turns what it throws into a sentence. */
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

/* What a status says, without the source line that the library puts before it. */
inline std::string reason(const std::string &message)
{
    size_t bracket = message.rfind("] ");
    std::string text = bracket == std::string::npos ? message : message.substr(bracket + 2);
    while (!text.empty() && isspace((unsigned char)text.back())) text.pop_back();
    return text.empty() ? message : text;
}

#endif
