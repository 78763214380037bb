/* qkv-inside.h -- what the objects of qkv.h are made of, for the programs of this project. */
#pragma once

#include "inference/passage.h"
#include "library/qkv.h"

const Bundle *inside_model(const QkvModel *model);

/* Sets what a translator does to texts and how it searches, in place of what qkv_translator_set has set. The
 * configuration of texts must outlive it. */
void inside_configure(QkvTranslator *translator, const PassageConfig *texts,
                      const SearchConfig *search);

/* qkv_attention of a text that is translated so. */
QkvAttention *inside_attention_of(const QkvModel *model, const PassageConfig *texts,
                                  const char *text, const QkvHypothesis *translation,
                                  QkvError *error);

/* Its `each` is that of the translation, and must not be read without it. */
const Snapshot *inside_attention(const QkvAttention *attention);
