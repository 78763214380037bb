/* copying.h -- unknown words of the source, copied to where the model writes <unk>.
 *
 * A vocabulary of whole words lacks most names and many numbers, one of subwords a rare character;
 * the model reads them as <unk>, and where it has seen that in training it writes <unk> for them. The
 * search lets it, as often as the source has one (SearchConfig.copy_unknown). Each then becomes the
 * unknown word of the source that is attended to most where it is written, as far as it is not taken:
 * they are given out in the order of what is attended most of all (after Luong et al. 2015, arXiv
 * 1410.8206, §3, who align in training for this). Attended: the shares by which words are aligned,
 * those of all layers' norms (inference/align.h).
 *
 * It is the default: a name that is copied is right more often than one that is left out or replaced
 * by the name of somebody else. A source without unknown words is translated as without it. */
#ifndef INFERENCE_COPYING_H
#define INFERENCE_COPYING_H

#include "inference/bundle.h"
#include "inference/search.h"

/* *text (=) the text of a translation of line s, to be freed. */
bool copying_decode(char **text, const Bundle *bundle, const IdLines *lines, int s,
                    const Hypothesis *translation, Error *error);

#endif
