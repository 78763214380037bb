/* pairs.c -- reads sentence pairs; see pairs.h. */
#include "commands/translate/pairs.h"

#include "commands/command.h"

/* The target of the line. If it follows a TAB in it, *length becomes the length of the
 * source. */
static bool find_target(const Pairs *p, const char **target, size_t *target_length,
                        const char *line, size_t *length, Error *error)
{
    if (p->target) return partner_next(p->target, target, target_length, "sources", error);
    return text_columns(line, length, target, target_length) ||
           error_set(error,
                     "line %lld has no TAB: %s takes source TAB target, or the targets by "
                     "--target FILE",
                     p->input->lines, p->option);
}

bool pairs_add(const Pairs *p, IdLines *source, IdLines *target, bool *too_long,
               const char *line, size_t length, Error *error)
{
    const char *other;
    size_t other_length, cut, other_cut;
    if (!find_target(p, &other, &other_length, line, &length, error) ||
        !bundle_encode(p->bundle, SOURCE, source, line, length, &cut, error) ||
        !bundle_encode(p->bundle, TARGET, target, other, other_length, &other_cut, error))
        return false;
    input_warn_unknown(p->input, source, NULL);
    input_warn_unknown(p->input, target, "target");
    if (p->shuffle) idlines_shuffle(source, *p->shuffle, (uint64_t)p->input->lines);
    *too_long = cut || other_cut;
    if (*too_long && p->news)
        fprintf(p->news,
                "%s: line %lld has %zu tokens on the %s side, and the model takes "
                "%d: not %s\n",
                command_name(), p->input->lines, cut ? cut : other_cut,
                cut ? "source" : "target", p->bundle->max_length - 1, p->done);
    return true;
}

TextResult pairs_next(const Pairs *p, Pair *pair, Error *error)
{
    const char *line;
    size_t length;
    bool too_long;
    IdLines *source = &pair->source, *target = &pair->target;
    snapshot_close(pair->snapshot);
    pair->snapshot = NULL;
    if (*p->stop) return TEXT_END;
    idlines_clear(source);
    idlines_clear(target);
    source->find_words = source->find_unknown = true;
    target->find_words = target->find_unknown = true;
    TextResult result = input_next(p->input, &line, &length, error);
    if (result == TEXT_END && !*p->stop)
        return partner_end(p->target, p->input->lines, "sources", error) ? result : TEXT_ERROR;
    if (result != TEXT_LINE) return result;
    if (!pairs_add(p, source, target, &too_long, line, length, error)) return TEXT_ERROR;
    if (!too_long)
        pair->snapshot = snapshot_open(&p->bundle->model, source->ids.id, source->start[1],
                                       target->ids.id, target->start[1], error);
    return pair->snapshot || too_long ? TEXT_LINE : TEXT_ERROR;
}

void pair_free(Pair *pair)
{
    snapshot_close(pair->snapshot);
    idlines_free(&pair->source);
    idlines_free(&pair->target);
}
