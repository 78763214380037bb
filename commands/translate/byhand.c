/* byhand.c -- ./translate --by-hand; see explain/byhand.h. */
#include "explain/byhand.h"
#include "base/file.h"
#include "base/utf8.h"
#include "commands/command.h"
#include "commands/translate/request.h"

typedef struct Drawing {
    const Request *request;
    const ByHand *b;
    const char *path;
} Drawing;

static bool draw(const void *context, Error *error)
{
    const Drawing *d = context;
    const PictureConfig *config = &d->request->picture;
    return byhand_draw(d->path, picture_format(d->path, error), d->b, d->request->by_hand,
                       (Theme)config->theme, config->scale, error);
}

bool request_by_hand(const Request *r, Error *error)
{
    static ByHand b;
    bool good = byhand_read(&b, r->by_hand, error) &&
                byhand_print(stdout, &b, r->word, error) &&
                stream_flush(stdout, "the steps", error);
    for (int i = 0; good && i < r->attention.count; i++) {
        Drawing d = {r, &b, r->attention.item[i]};
        good = command_draw(draw, &d, d.path, error);
        if (good && !r->quiet) utf8_print(stderr, "%s: drew %s\n", command_name(), d.path);
    }
    byhand_free(&b);
    return good;
}
