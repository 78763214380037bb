/* page.h -- the attention of one translation as a self-contained page for a browser: it needs no
 * network and no other file.
 *
 * The page is plots/page/: HTML with the style sheet and the scripts inserted. The Makefile
 * joins them and compiles them in. The data are one JSON text in
 *
 *     <script type="application/json" id="data">{"model":"…",…}</script>
 *
 * in which <, >, & and Unicode's line separators are written as \u003c, …, so that no text of
 * the corpus can end the element or begin another. A content security policy in the page's head
 * forbids all network access.
 *
 * The data of the page, beside words and names:
 *
 *     {"heads": H, "size": dh, "comparison": "q·k", "score": "q·k/√d_k",
 *      "sides": {"source": {"text": […], "special": […], "unknown": […], "word": […], "joined": […]},
 *                "target": …, "read": …},
 *      "best": {"layer": l, "head": h},            of cross-attention; head -1: none aligns
 *      "kinds": [{"name": "cross", "rows": "target", "columns": "source", "causal": false, "high": 1, …,
 *                 "layers": [[{"weights": [[…]…], "scale": 1/√dh, "q": [[…]…], "k": [[…]…],
 *                              "v": [[…]…]}, …H], …L]}, …]}
 *
 * With input->gradients "backward" is true, and each head also has "do", "dq", "dk", "dv", "dP"
 * and "dS", the gradients of its output, …, weights and scores.
 *
 * Weights have four decimals, queries, keys and values five digits. If there are more than
 * PAGE_VECTORS numbers of them, the page leaves them out, and the view that needs them. */
#pragma once

#include "base/jsonwriter.h"
#include "explain/picture.h"

enum { PAGE_VECTORS = 4000000, PAGE_WEIGHTS = 20000000 };

/* Writes a page with all kinds, layers and heads; it opens with those that input->choice
 * names. The file is replaced as a whole or not at all. */
bool page_save(const char *path, const PictureInput *input, Error *error);

/* Writes it to a stream; html [length]: another page, which has @data@ in the place of the data, or
 * NULL. */
bool page_write(FILE *out, const void *html, size_t length, const PictureInput *input,
                Error *error);

/* Writes the data alone. vectors: with queries, keys and values. */
bool page_data(JsonWriter *json, const PictureInput *input, bool vectors, Error *error);

/* ---- the parts of a page, for other data than a model's (explain/byhand.c) ---- */

/* Writes what is before the data; returns what is after it, of *length bytes.   html [*length]: as in
 * page_write */
const char *page_begin(FILE *out, const void *html, size_t *length);

/* Parts of the data: "colors", and a head, without queries, keys and values if x is NULL, without
 * gradients if d is. */
void page_put_colors(JsonWriter *json);
void page_put_head(JsonWriter *json, SnapshotRows weights, const HeadVectors *x,
                   const HeadGradients *d);

/* decimals: rounded to 4 decimals, else to 5 digits */
void page_put_matrix(JsonWriter *json, const char *key, SnapshotRows rows, bool decimals);
