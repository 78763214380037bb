/* drawing.h -- the attention of a sentence for an answer of the server. */
#pragma once

#include "commands/serve/server.h"

/* bytes (=) the attention of a sentence of a translated text as json, svg, png, pdf or html, or the
 * server's page around it (format "page"). The request has the options of explain/choice.h, and the
 * number of the sentence, from 1. For free(); NULL on error. */
char *drawing_make(size_t *length, const char *format, const json_t *request, const char *name,
                   const QkvModel *model, const PassageConfig *texts, const char *text,
                   const QkvTranslation *translation, Error *error);

/* The type of a format; NULL: there is no such format. */
const char *drawing_type(const char *format);
