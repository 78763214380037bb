/* webpage.h -- a self-contained page for a browser: it needs no network and no other file.
 *
 * The page is plots/page/: HTML with the style sheet and the scripts inserted. The Makefile
 * joins them and compiles them in. The data are one JSON text in
 *
 *     <script type="application/json" id="data">{"model":"…",…}</script>
 *
 * in which <, >, & and Unicode's line separators are written as \u003c, …, so that no text of
 * the corpus can end the element or begin another. A content security policy in the page's head
 * forbids all network access. */
#ifndef PLOTS_WEBPAGE_H
#define PLOTS_WEBPAGE_H

#include "base/error.h"

/* Writes the page with this JSON. The file is replaced as a whole or not at all. */
bool webpage_save(const char *path, const char *json, Error *error);

#endif
