/* webpage.h -- ./translate --page: a page for browsers that translates with a model by itself.
 *
 * The page is build/page/own.html (make page), or share/qkv/own.html of an installed program, in which the
 * marks @data@ and @model@ become an attention map to begin with and the model:
 *
 *     options      lines "name value" of the network's options
 *     source       the source's tokenizer, if it is not that of the target: gzip, base64
 *     vocabulary   the target's
 *     weights      two bytes: the layer and the head that align words best, counted from 1, or 0; then for each
 *                  tensor of the table (model/params.h) a byte, the bits of its numbers: gzip, base64
 *                    8    row by row: float s, then q in int8; a number is s q (kernels/int8.h)
 *                    18   row by row: float s = max |w| / 131071, then u = round(w/s) + 131072, four in 9
 *                         bytes: the low 16 bits of each, little-endian, then 2 high bits of each, the first's
 *                         lowest. 16 bits would change attention weights by 0.0001
 *                    32   floats
 *     languages    their codes */
#pragma once

#include "inference/bundle.h"

/* The model as it was trained (BUNDLE_ROWS): it is quantised here. name: of the model, in the page. news: where
 * it says that the languages are not known; or NULL */
bool webpage_save(const char *path, const Bundle *bundle, const char *name, FILE *news,
                  Error *error);

/* The elements but for the languages. bits: of the weights, 8 or 18; with 8 vectors have 32 */
bool webpage_put_model(FILE *out, const Bundle *bundle, int bits, Error *error);
