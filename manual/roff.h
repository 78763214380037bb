/* roff.h -- the option table as the OPTIONS of a man page, in roff. The texts come from the
 * functions that print the help, so the page cannot differ from it.
 *
 *     .SS Training
 *     .TP
 *     \fB\-\-schedule\fR \fBinverse\-sqrt\fR|\fBcosine\fR|\fBlinear\fR|\fBconstant\fR
 *     the learning rate after warm-up; cosine and linear reach 0 at \fB\-\-max\-updates\fR
 *     (default inverse-sqrt)
 *
 * Requests and escapes are those that groff and mandoc have in common (groff_man(7), man(7) and
 * mandoc_char(7)); the output is ASCII, so that no preprocessor has to guess an encoding. */
#pragma once

#include "base/options.h"

#include <stdio.h>

/* Writes the groups with their titles; the current values are the defaults. False: out of
 * memory. */
bool manual_options(FILE *out, const OptionGroup *groups, int count);

/* UTF-8 text as lines of roff that show it as it is, with the names of options in bold. Hyphens
 * in text that is meant to be copied (a path, a setting, a number) are written as minus signs
 * (\-), which survive copying. */
void manual_text(FILE *out, const char *text);
