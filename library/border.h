/* border.h -- what every call from outside crosses; no caller sees it. */
#ifndef LIBRARY_BORDER_H
#define LIBRARY_BORDER_H

#include <locale.h>

#include "inference/bundle.h"
#include "library/qkv.h"

struct QkvModel {
    Bundle bundle;
};

/* Numbers are read and written with a decimal point, whatever the caller's locale: this thread is
 * in the locale "C" from border_enter to border_leave. */
locale_t border_enter(void);
void border_leave(locale_t before);

/* The sentence, to the caller, if he wants it. Always NULL. */
void *border_refuse(QkvError *to, const Error *error);

/* A text as ids, </s> behind it. *cut (=) how many tokens it has, if that is too many, else 0. In
 * errors it is "WHAT NUMBER". */
bool border_encode(const Bundle *bundle, IdLines *lines, CorpusSide side, const char *text,
                   const char *what, int number, size_t *cut, Error *error);

#endif
