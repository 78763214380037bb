/* headreport.h -- --head-report: what was added to `heads` as a table or JSON, or the heads ranked
 * by the weight from one word to another; and the pictures of --attention. */
#pragma once

#include "commands/translate/request.h"
#include "explain/heads.h"

bool headreport_print(Heads *heads, const Request *request, FILE *news, Error *error);
