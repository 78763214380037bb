/* beginnings.c -- see beginnings.h. */
#include "inference/beginnings.h"

#include "base/textstream.h"

/* *marked (=) a text with placeholders for the spans of a sentence, and without its marks. */
static bool mark_spans(char **marked, const Passages *p, const Sentence *s, const char *text,
                       size_t length, Error *error)
{
    TextStream stream;
    SpanFinder finder = {0};
    CopySpan *span = p->span + s->span;
    int seen[PLACEHOLDERS] = {0};
    bool good =
        textstream_open(&stream) && spanfinder_open(&finder, span, s->spans + s->marks, error);
    for (size_t at = 0; good && at < length;) {
        const CopySpan *found = spanfinder_take(&finder, text, text + at);
        int i = found ? (int)(found - span) : 0, k = i % PLACEHOLDERS;
        size_t bytes = found ? strlen(found->text) : 1;
        bool is_mark = found && i >= s->spans;
        if (p->placeholder && found && !is_mark && seen[k] == i / PLACEHOLDERS)
            fprintf(stream.out, "<ph%d>", k + 1), seen[k]++;
        else if (!is_mark) fwrite(text + at, 1, bytes, stream.out);
        else if (at && text[at - 1] == ' ' && at + bytes < length &&
                 strchr(".,;:!?", text[at + bytes]))
            fseek(stream.out, -1, SEEK_CUR);  // "it [1]." is "it."
        at += bytes;
    }
    spanfinder_close(&finder);
    *marked = textstream_close(&stream);
    return (*marked && good) || error_memory(error, "for a forced beginning");
}

/* Adds the line of a sentence. whole: text [length] is all of its translation */
static bool add(IdLines *lines, const Passages *p, const Sentence *s, const char *text,
                size_t length, bool whole, const char *name, Error *error)
{
    size_t cut;
    char *marked, *lowered = NULL;  // as the model writes what is given back in another case
    bool lowers = s->written != CASE_SENTENCE && (p->placeholder || !s->spans);
    bool good = mark_spans(&marked, p, s, text, length, error) &&
                (!lowers || text_lowered(&lowered, marked, strlen(marked), s->written, true,
                                         false, NULL, NULL, error));
    if (lowered) free(marked), marked = lowered;
    good = good &&
           bundle_encode(p->bundle, TARGET, lines, marked, strlen(marked), &cut, error) &&
           (!cut || error_set(error, "%s has %zu tokens, and the model takes %d", name, cut,
                              p->bundle->max_length - 1));
    free(marked);
    if (good && !whole) lines->ids.count--, lines->start[lines->count]--;
    return good;
}

static bool begins_with(const char *text, size_t length, const char *begin, size_t bytes)
{
    return length >= bytes && !memcmp(text, begin, bytes);
}

/* What is kept around a sentence is left out, as its translation has it in any case. */
bool beginnings_add(Beginnings *b, Passages *p, const char *text, const char *name,
                    Error *error)
{
    const Passage *passage = &p->passage[p->count - 1];
    const Sentence *s = &p->sentence[passage->first], *end = s + passage->count;
    Segments *found = &b->segments;
    char language[3];
    int sentences = 0, next = 0, i = 0;
    bundle_language(language, p->bundle, TARGET);
    p->begun = &b->lines, b->lines.find_unknown = true;
    if (s == end) return true;
    const char *own = passage->text + passage->tag;
    size_t length = strlen(text), kept = s->begin - passage->tag;
    if (begins_with(text, length, own, kept)) text += kept, length -= kept;
    if (!segments_find(found, text, length, language, error)) return false;
    for (int k = 0; k < found->count; k++)
        if (!found->segment[k].kept) found->segment[sentences++] = found->segment[k];
    while (i < p->segments.count && p->segments.segment[i].end <= s->begin) i++;
    for (; s < end; s++) {
        int first = next;
        own = passage->text + s->begin;
        for (; i < p->segments.count && p->segments.segment[i].begin < s->end; i++) {
            const Segment *segment = &p->segments.segment[i];
            next += !segment->kept;
            if (segment->end <= s->begin) first = next;  // it is not translated
            else if (segment->begin < s->begin) own = passage->text + segment->begin;
        }
        bool whole = next < sentences && s + 1 < end;
        size_t from = !first ? 0 : first < sentences ? found->segment[first].begin : length;
        size_t to = whole && next > first ? found->segment[next - 1].end : length;
        kept = (size_t)(passage->text + s->begin - own);
        if (begins_with(text + from, to - from, own, kept)) from += kept;
        kept = p->segments.segment[i - 1].end - s->end;
        if (kept && to - from >= kept &&
            !memcmp(text + to - kept, passage->text + s->end, kept))
            to -= kept, whole = true;
        if (!add(&b->lines, p, s, text + from, to - from, whole, name, error)) return false;
    }
    return true;
}

void beginnings_free(Beginnings *b)
{
    idlines_free(&b->lines);
    segments_free(&b->segments);
}
