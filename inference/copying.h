/* copying.h -- what a translation takes from the source as it is: unknown words, copied to where the
 * model writes <unk>, and spans such as URLs and numbers, for models without placeholders.
 *
 * A vocabulary of whole words lacks most names and many numbers; one of subwords lacks rare
 * characters. The model reads them as <unk>, and if its training text had such words, it has
 * learned to write <unk> for them. The search allows as many <unk> as the source has
 * (SearchConfig.copy_unknown). Each <unk> of the translation is then replaced by the unknown
 * source word that receives the most attention at that position. Each source word is used once:
 * the pair with the largest attention is taken first, then the next largest, and so on (after
 * Luong et al. 2015, arXiv 1410.8206, §3, who use alignments in training).
 *
 * Copying is on by default: a copied name is right more often than one that is left out or
 * replaced by another name. */
#pragma once

#include "inference/bundle.h"
#include "inference/search.h"
#include "inference/snapshot.h"

/* Of a translation of line s. */
static inline LazySnapshot copying_snapshot(const Transformer *model, const IdLines *lines,
                                            int s, const Hypothesis *translation)
{
    int first = lines->start[s];
    LazySnapshot lazy = {.model = model,
                         .source = lines->ids.id + first,
                         .source_length = lines->start[s + 1] - first,
                         .target = translation->id,
                         .target_length = translation->length,
                         .each = translation->each};
    if (lines->find_unknown) lazy.unknown[SOURCE] = (const char *const *)lines->unknown + first;
    return lazy;
}

/* The attention that all this uses, as word alignment does: the shares [m,n] of all layers' norms (align.h),
 * for free(); NULL on error. */
float *copying_shares(LazySnapshot *lazy, Error *error);

/* copied [m] (=) the word for each <unk> of a translation that has none yet, as tokenizer_decode_replaced
 * takes them. The words belong to the lines. lazy: copying_snapshot; it is taken only if there is a word
 * to copy. */
bool copying_choose(const char **copied, LazySnapshot *lazy, Error *error);

/* A part of the source that its translation must have as it is. */
typedef struct CopySpan {
    char *text;  // what the translation has: the same, or the translation of a term
    int first,
        end;     // its tokens in the source are first .. end-1; none: a mark. Two that are a
                 // pair, <b> and </b>, enclose what is aligned with the tokens between them;
                 // another one is put after the word that is aligned with the token before it,
    bool ahead;  // or before the word that is aligned with the token `first`;
    bool close;  // without a space between mark and word
    bool missing;  // set by copying_spans
} CopySpan;

/* A mark, and its partner: what they enclose is to be in capitals, without them. A noncharacter. */
#define COPYING_CAPITALS "\uFDD0"

/* Finds spans in a text, not as parts of longer words or numbers. */
typedef struct SpanFinder {
    CopySpan **span;  // [count] by their texts
    int *taken;       // [count] of the spans with this text, at the first of them
    int count;
} SpanFinder;

/* Sets span[].missing. */
bool spanfinder_open(SpanFinder *finder, CopySpan *span, int count, Error *error);
void spanfinder_close(SpanFinder *finder);  // allowed on {0}, and after an error

/* The longest span that is still missing and stands at `at` in the text, which is missing no more; NULL: there
 * is none. An occurrence serves one span. Time: the logarithm of count for each byte. */
const CopySpan *spanfinder_take(SpanFinder *finder, const char *text, const char *at);

/* *text (=) a translation's text, for free() even if this fails, with `copied` of copying_choose. A
 * span that it lacks replaces the word with the largest share on the span's tokens (align.h), and
 * what is aligned with them beside it: other words only if the span has a space. Without such a
 * word, it follows that of the token before it. The first `forced` tokens stay, and it follows
 * them; none if all are. An occurrence of a span's text, which must not be empty, serves one span.
 * span[].missing (=) whether it still is. shown [m], zeroed (=) `copied` and the spans, from which
 * the text is decoded; free each. lazy: as for copying_choose; taken only if a span is lacking. */
bool copying_spans(char **text, CopySpan *span, int count, const Tokenizer *tokenizer,
                   const char *const *copied, int forced, char **shown, LazySnapshot *lazy,
                   Error *error);
