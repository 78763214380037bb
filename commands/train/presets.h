/* presets.h -- the presets of ./train: values of its options for a size of corpus. */
#pragma once

#include "base/options.h"

#include <stdio.h>

enum { PRESET_TOY, PRESET_TINY, PRESET_SMALL, PRESET_BASE, PRESETS, PRESET_AUTO = PRESETS };

/* In the order of the help, then "auto"; NULL after the last. */
extern const char *const preset_names[];
extern const char *const preset_purposes[];

bool preset_apply(const OptionGroup *groups, int count, int preset, Error *error);

/* The table of the presets' values, a line for each option. */
void presets_print(FILE *out);
