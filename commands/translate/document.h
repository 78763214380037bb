/* document.h -- ./translate --html: HTML documents with their texts translated (data/html.h). */
#pragma once

#include "commands/translate/input.h"

/* Prints each text of the input, or the whole of standard input, with its blocks translated. */
bool document_run(Input *input, const Models *models, Workers *workers, const Request *request,
                  Error *error);
