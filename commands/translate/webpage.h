/* webpage.h -- ./translate --page: a page for browsers that translates with a model by itself.
 *
 * The page is build/page/own.html (make page), or share/qkv/own.html of an installed program, in which the
 * marks @data@ and @model@ become an attention map to begin with and the model:
 *
 *     options      lines "name value" of the network's options
 *     source       the source's tokenizer, if it is not that of the target: gzip, base64
 *     vocabulary   the target's
 *     weights      for each tensor of the table (model/params.h) a byte: 8, then its rows as a float s and s q,
 *                  q in int8 (kernels/int8.h); or 32, and floats: gzip, base64
 *     languages    their codes */
#pragma once

#include "inference/bundle.h"

/* The model as it was trained (BUNDLE_ROWS): it is quantised here. name: of the model, in the page. news: where
 * it says that the languages are not known; or NULL */
bool webpage_save(const char *path, const Bundle *bundle, const char *name, FILE *news,
                  Error *error);
