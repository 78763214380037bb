/* internal.h -- what the library's functions share; not installed. */
#pragma once

#include <locale.h>

#include "inference/bundle.h"
#include "library/qkv.h"

struct QkvModel {
    Bundle bundle;
};

/* Every library function that reads or writes numbers calls library_enter first and
 * library_leave, with its result, last. Between the two the thread's locale is "C", so that
 * numbers have a decimal point. */
locale_t library_enter(void);
void library_leave(locale_t before);

/* Copies the error to the caller's QkvError, unless that is NULL. Returns NULL. */
void *library_fail(QkvError *to, const Error *error);

/* Whether the caller passed `argument`; else the error is "WHAT is NULL". */
bool library_given(const void *argument, const char *what, Error *error);

/* Appends a text as ids (bundle_encode). Errors begin with `what` and `number`,
 * as in "text 3". */
bool library_encode(const Bundle *bundle, IdLines *lines, CorpusSide side, const char *text,
                    const char *what, int number, size_t *cut, Error *error);
