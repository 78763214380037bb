/* interface.h -- what the server says: LibreTranslate's interface (github.com/LibreTranslate/LibreTranslate),
 * and attention.
 *
 *   POST /translate          {q, source, target, format, alternatives} → {translatedText, alternatives,
 *                            detectedLanguage}; q and the answers are texts or arrays of texts.
 *                            Ours: details: true adds what is doubtful; prefix: how it must begin
 *   POST /detect             {q} → [{language, confidence}]
 *   GET  /languages          [{code, name, targets}]
 *   GET  /frontend/settings, /health
 *   POST /attention          {q, source, target, format, sentence, …}: json, svg, png or html of a
 *                            sentence and its translation, with the options of explain/choice.h
 *   GET  /                   a page
 *
 * An error is {"error": "…"} with status 400, 403, 404, 405, 413, 429, 500 or 503. */
#pragma once

#include "commands/serve/server.h"

typedef struct Interface Interface;

/* Reads the API keys, if there is a file of them. */
Interface *interface_open(const ServeSettings *settings, Service *service, Error *error);
void interface_close(Interface *interface);

/* Answers a request, at once or on a thread of the service. */
void interface_answer(Exchange *exchange, void *interface);
