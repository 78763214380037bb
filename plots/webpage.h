/* webpage.h -- a page for a browser that needs nothing else: no network, no other file.
 *
 * The page is plots/page/: its HTML with the style sheet and the scripts inside, which the Makefile
 * puts together and makes bytes of. What is drawn is one JSON text in
 *
 *     <script type="application/json" id="data">{"model":"…",…}</script>
 *
 * in which <, >, & and the line separators of Unicode stand as \u003c, …: so no text in it can end
 * the element or begin another, whatever the corpus had. A policy in the page's head forbids every
 * address. */
#ifndef PLOTS_WEBPAGE_H
#define PLOTS_WEBPAGE_H

#include "base/error.h"

#include <stddef.h>

/* Writes the page with this JSON, all of it or nothing. */
bool webpage_save(const char *path, const char *json, size_t length, Error *error);

#endif
