/* segments.h -- a text cut into sentences to translate, and what comes back as it is.
 *
 * Kept are line breaks (LF, CR, VT, FF, U+0085, U+2028, U+2029), what lays a line out at its beginning
 * and end (white space, bullets, numbering, the marks of headings, quotations and tables), TABs, bars
 * and four spaces between cells, white space and the numbers of notes ([1]) after sentences, tags that end a line in HTML
 * (<br>, </li>), leaders (.....) before a number, \n as two characters, what has no letter, and
 * blocks of code in Markdown (``` or ~~~). */
#pragma once

#include "base/error.h"

typedef struct Segment {
    size_t begin, end;  // bytes of the text
    bool kept;          // comes back byte for byte; else it is a sentence
    bool continues;     // a sentence on the same line as the sentence before it, with at most
                        // white space and notes between
} Segment;

typedef struct Segments {
    Segment *segment;  // [count], on the heap: in order, none empty, together the whole text
    int count;
    size_t size;                 // allocated
    struct SegmentTools *tools;  // of ICU, for the next text in the same language
} Segments;

/* A block of code in Markdown, or the header (front matter) between two lines --- that a text begins with. */
typedef struct Fence {
    int count, lines;  // characters of the line that began it, 0: it has ended; lines so far
    char mark;         // `, ~ or -
    bool quoted;       // after >
} Fence;

/* Whether the next line of a text is of a block: from one that begins with ``` (or more) or ~~~ and at most
 * the name of a language and its attributes, "```js {1,3}", not "```So said he", to the next such line, or
 * the end of its quotation or of the text. The first line of a header is a key: "title: …". Begin with {0}. */
bool fence_next(Fence *fence, const char *line, size_t length);

/* segments (=) those of valid UTF-8, of at most INT_MAX bytes. The language, such as "en" or "en_GB",
 * chooses the abbreviations after which no sentence ends ("Mr."); NULL if it is not known. *segments
 * begins zeroed; what it has allocated is used again. After a failure nothing is to be freed. */
bool segments_find(Segments *segments, const char *text, size_t length, const char *language,
                   Error *error);

void segments_free(Segments *segments);  // allowed on zeroed segments

/* The handler is called where ICU gets no memory, in any thread, and must end the program: ICU hangs or
 * crashes (72.1). Call this before anything else uses ICU. */
void segments_on_no_memory(void (*handler)(void));
