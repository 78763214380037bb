/* c.h -- the headers of C, in one place, as c.h of PostgreSQL. It comes with error.h and real.h. A file
 * includes besides only what few files need (signals, time, atomics), POSIX and libraries. */
#pragma once

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#ifndef __cplusplus  // whose own ones cannot stand in extern "C"
#include <math.h>
#include <stdlib.h>
#endif
