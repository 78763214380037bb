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
                     "line %lld has no TAB: give source TAB target, or the targets by --target",
                     p->input->lines);
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
                "%d: left out\n",
                command_name(), p->input->lines, cut ? cut : other_cut,
                cut ? "source" : "target", p->bundle->max_length - 1);
    return true;
}
