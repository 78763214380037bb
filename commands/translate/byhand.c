/* byhand.c -- ./translate --by-hand; see byhand.h. */
#include "commands/translate/byhand.h"

#include "base/file.h"
#include "base/utf8.h"
#include "commands/command.h"
#include "explain/byhand.h"

static ByHand b;

typedef struct Drawing {
    const Request *request;
    const char *path;
} Drawing;

static bool draw(const void *context, Error *error)
{
    const Drawing *d = context;
    return byhand_draw(d->path, &b, d->request->by_hand, &d->request->picture, error);
}

bool request_by_hand(const Request *r, Error *error)
{
    if (!byhand_read(&b, r->by_hand, error) || !byhand_print(stdout, &b, r->word, error) ||
        !stream_flush(stdout, "the steps", error))
        return false;
    for (int i = 0; i < r->attention.count; i++) {
        const Drawing d = {r, r->attention.item[i]};
        if (!command_draw(draw, &d, d.path, error)) return false;
        if (!r->quiet) utf8_print(stderr, "%s: drew %s\n", command_name(), d.path);
    }
    return true;
}
