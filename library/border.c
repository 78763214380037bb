/* border.c -- what every call from outside crosses; see border.h. */
#include "library/border.h"

#include <string.h>

#include "data/text.h"

_Static_assert(sizeof(QkvError) == sizeof(Error), "a sentence goes from one into the other");

locale_t border_enter(void)
{
    return uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0));
}

void border_leave(locale_t before)
{
    locale_t ours = uselocale(before);
    if (ours != LC_GLOBAL_LOCALE) freelocale(ours);
}

void *border_refuse(QkvError *to, const Error *error)
{
    if (to) memcpy(to->text, error->text, sizeof to->text);
    return NULL;
}

bool border_encode(const Bundle *bundle, IdLines *lines, CorpusSide side, const char *text,
                   const char *what, int number, size_t *cut, Error *error)
{
    size_t length = text ? strlen(text) : 0;
    if (!text) return error_set(error, "%s %d is NULL", what, number);
    if (!text_is_utf8(text, length, NULL))
        return error_set(error, "%s %d is not valid UTF-8", what, number);
    bool good = (side == SOURCE ? bundle_encode : bundle_encode_target)(bundle, lines, text,
                                                                        length, cut, error);
    return good || error_prefix(error, "%s %d", what, number);
}
