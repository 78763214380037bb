/* tokenizer-unknown.c -- words that a tokenizer does not know; see tokenizer-unknown.h. */
#include "data/tokenizer-unknown.h"

#include "base/grow.h"
#include "base/packed.h"

/* Whether a character is punctuation that the type word splits off. */
static bool is_mark(const char *c)
{
    static const char *const quotes[] = {"«", "»", "“", "”"};
    for (int i = 0; i < 4; i++)
        if (!strncmp(c, quotes[i], strlen(quotes[i]))) return true;
    return *c && strchr(".,:;?!()\"", *c);
}

static bool add(Ids *ids, Ids *begin, size_t at)
{
    if (!GROW(ids->id, ids->size, ids->count + 1) ||
        (begin && !GROW(begin->id, begin->size, begin->count + 1)))
        return false;
    ids->id[ids->count++] = ID_UNKNOWN;
    if (begin) begin->id[begin->count++] = (int32_t)at;
    return true;
}

bool unknown_push(Ids *ids, Ids *begin, const char *text, size_t place, size_t end, bool joined)
{
    bool word = joined, blank = false;  // since the last word
    size_t first = place;               // blank
    if (!joined && !add(ids, begin, place)) return false;
    for (size_t at = place; at < end; at++) {
        const bool continues = (text[at] & 0xC0) == 0x80;
        if (text[at] == ' ' || text[at] == '\t') {
            if (!blank) first = at;
            blank = true;
        } else if (!continues && !is_mark(text + at)) {
            if (word && blank && !add(ids, begin, first)) return false;
            word = true, blank = false;
        }
    }
    return true;
}
