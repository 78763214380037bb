/* page.h -- the attention of one translation as a page for a browser.
 *
 * The data of the page, beside words and names:
 *
 *     {"heads": H, "size": dh, "scale": 1/√dh,
 *      "sides": {"source": {"text": […], "mark": […], "word": […], "joined": […]},
 *                "target": …, "read": …},
 *      "best": {"layer": l, "head": h},            of encoder-decoder attention
 *      "kinds": [{"name": "cross", "rows": "target", "columns": "source", "causal": false, …,
 *                 "layers": [[{"weights": [[…]…], "q": [[…]…], "k": [[…]…]}, …H], …L]}, …]}
 *
 * Weights have four decimals, queries and keys five digits. A page of more than PAGE_VECTORS
 * numbers of queries and keys goes without them, and without the view that needs them. */
#ifndef EXPLAIN_PAGE_H
#define EXPLAIN_PAGE_H

#include "explain/picture.h"

enum { PAGE_VECTORS = 4000000, PAGE_WEIGHTS = 20000000 };

/* As picture_attention; what is chosen is what the page shows first. */
bool page_attention(const char *path, const Transformer *model, const Vocabulary *vocabulary,
                    const char *name, const SentencePair *pair, const Choice *choice,
                    const PictureConfig *config, Error *error);

#endif
