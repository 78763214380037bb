/* parameters.h -- what a request sets, by a table of options. */
#pragma once

#include "base/json.h"
#include "base/options.h"

/* Sets the options of a group that a request has, with `_` for `-`. A form has texts in place of numbers,
 * true and false, as JSON may have, too; null is nothing. */
bool parameters_read(const OptionGroup *group, const json_t *request, Error *error);
