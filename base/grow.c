/* grow.c -- blocks that grow by half; see grow.h. */
#include "base/grow.h"

/* The pointer is copied bytewise, as it may be of any type. */
bool grow(void **block, size_t *capacity, size_t wanted, size_t size)
{
    if (wanted <= *capacity) return true;
    size_t more = *capacity + *capacity / 2 < wanted ? wanted : *capacity + *capacity / 2;
    if (more < 16) more = 16;
    void *old;
    memcpy(&old, (const void *)block, sizeof old);
    void *grown = more > SIZE_MAX / size ? NULL : realloc(old, more * size);
    if (!grown) return false;
    memcpy((void *)block, &grown, sizeof grown);
    *capacity = more;
    return true;
}
