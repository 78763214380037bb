/* segments.h -- a text cut into sentences to translate, and what comes back as it is.
 *
 * A text has lines, which end at LF, CR LF, CR, VT, FF, U+0085, U+2028 or U+2029. Kept are the line
 * breaks, what stands at a line's beginning and end to lay it out (white space, bullets, numbering, the marks of
 * headings, quotations and tables), white space between sentences, and every line or sentence without a
 * letter: numbers, rulers, time codes, emoji. A block of code in Markdown (``` … ```) is kept whole. */
#pragma once

#include "base/error.h"

#include <stddef.h>

typedef struct Segment {
    size_t begin, end;  // bytes of the text
    bool kept;          // comes back byte for byte; else it is a sentence
    bool continues;     // a sentence on the same line as the sentence before it, with at most
                        // white space between
} Segment;

typedef struct Segments {
    Segment *segment;  // [count], on the heap: in order, none empty, together the whole text
    int count;
    size_t size;                 // allocated
    struct SegmentTools *tools;  // of ICU, for the next text in the same language
} Segments;

/* segments (=) those of valid UTF-8. The language, such as "en" or "en_GB", chooses the abbreviations
 * after which no sentence ends ("Mr."); NULL if it is not known. It always splits: a caller joins
 * sentences again for a model that was trained on several in a line. *segments begins
 * zeroed; what it has allocated is used again. Fails, with nothing to free, only if memory is short or ICU's data
 * are missing. */
bool segments_find(Segments *segments, const char *text, size_t length, const char *language,
                   Error *error);

void segments_free(Segments *segments);  // allowed on zeroed segments

/* The handler is called where ICU gets no memory, in any thread, and must end the program: ICU hangs or
 * crashes (72.1). Call this before anything else uses ICU. */
void segments_on_no_memory(void (*handler)(void));
