/* microbatch.c -- an update's sentences, divided into micro-batches by the LPT rule (longest
 * processing time first); see microbatch.h. */
#include "training/microbatch.h"

#include "base/grow.h"

static int tokens_of(const PairIds *pair)
{
    return pair->length[0] + pair->length[1];
}

static int micro_batches(const PairIds *pair, int pairs, int tokens, int multiple)
{
    long long total = 0;
    for (int s = 0; s < pairs; s++) total += tokens_of(&pair[s]);
    long long count = (total + tokens - 1) / tokens;
    if (count > multiple) count = (count + multiple - 1) / multiple * multiple;
    return count < 1 ? 1 : count > pairs ? pairs : (int)count;
}

/* By micro-batch; in it the longest first. */
static int in_order(const void *a, const void *b)
{
    const PlannedSentence *one = a, *other = b;
    if (one->part != other->part) return one->part - other->part;
    if (one->tokens != other->tokens) return one->tokens > other->tokens ? -1 : 1;
    return one->number < other->number ? -1 : 1;
}

bool microbatch_plan(MicroBatchPlan *plan, const PairIds *pair, int S, int tokens, int multiple,
                     Error *error)
{
    int count = micro_batches(pair, S, tokens, multiple);
    if (!GROW(plan->part, plan->part_size, (size_t)count) ||
        !GROW(plan->sentence, plan->sentence_size, (size_t)S) ||
        !GROW(plan->planned, plan->planned_size, (size_t)S))
        return error_memory(error, "for %d micro-batches", count);
    MicroBatchPart *part = plan->part;
    PlannedSentence *planned = plan->planned;
    for (int s = 0; s < S; s++) planned[s] = (PlannedSentence){s, tokens_of(&pair[s]), 0};
    qsort(planned, (size_t)S, sizeof *planned, in_order);

    plan->count = count;
    memset(part, 0, (size_t)count * sizeof *part);
    for (int s = 0; s < S; s++) {
        int least = 0;
        for (int k = 1; k < count; k++)
            if (part[k].tokens < part[least].tokens) least = k;
        planned[s].part = least;
        part[least].tokens += planned[s].tokens;
    }
    qsort(planned, (size_t)S, sizeof *planned, in_order);
    for (int s = 0; s < S; s++) {
        MicroBatchPart *p = &part[planned[s].part];
        if (!p->count++) p->sentence = plan->sentence + s;
        plan->sentence[s] = planned[s].number;
    }
    return true;
}

void microbatch_plan_free(MicroBatchPlan *plan)
{
    free(plan->part);
    free(plan->sentence);
    free(plan->planned);
    *plan = (MicroBatchPlan){0};
}

/* packed (=) `copies` copies of one side of the sentences of the part. */
static bool gather(Packed *packed, MicroBatch *b, int side, int copies, Error *error)
{
    const MicroBatchPart *part = b->part;
    int sentences = copies * part->count, rows = 0;
    for (int i = 0; i < part->count; i++)
        rows += copies * b->pair[part->sentence[i]].length[side];
    if (!GROW(b->id[side], b->id_size[side], (size_t)rows) ||
        !GROW(b->start[side], b->start_size[side], (size_t)sentences + 1))
        return error_memory(error, "for a micro-batch");
    int *id = b->id[side], *start = b->start[side];
    start[0] = 0;
    for (int i = 0; i < sentences; i++) {
        const PairIds *pair = &b->pair[part->sentence[i % part->count]];
        memcpy(id + start[i], pair->id[side], (size_t)pair->length[side] * sizeof *id);
        start[i + 1] = start[i] + pair->length[side];
    }
    *packed = (Packed){sentences, rows, id, start};
    return true;
}

bool microbatch_pack(MicroBatch *b, const PairIds *pair, const MicroBatchPart *part,
                     const Dropout *dropout, Error *error)
{
    int copies = dropout && dropout->r_drop > 0 ? 2 : 1;
    b->pair = pair;
    b->part = part;
    b->training = dropout;
    b->dropout = dropout ? *dropout : (Dropout){0};
    b->dropout.sentence = part->sentence;
    if (copies == 2) b->dropout.copy = part->count;
    return gather(&b->source, b, 0, copies, error) && gather(&b->target, b, 1, copies, error);
}

static void layout(MicroBatch *b, Arena *arena, const Transformer *model,
                   const Supervision *more)
{
    transformer_layout(&b->activations, arena, model, &b->source, &b->target,
                       b->training ? &b->dropout : NULL,
                       b->training ? KEEP_FOR_BACKWARD : KEEP_OUTPUT);
    if (more && more->soft)
        b->soft = ARENA_TAKE(arena, SoftTarget, (size_t)b->target.rows * (size_t)more->each);
    if (!more || !more->guide) return;
    Attention *a = b->guided =
        &b->activations.decoder.layer[model->config.decoder_layers - 1].cross;
    a->guide = ARENA_TAKE(arena, real, a->numbers / (size_t)model->config.heads);
}

bool microbatch_layout(MicroBatch *b, const Transformer *model, const Supervision *more,
                       Error *error)
{
    Arena measure = {0};
    layout(b, &measure, model, more);
    if (!arena_fit(&b->arena, measure.used))
        return error_memory(error,
                            "for %.1f MB of activations: a smaller model, "
                            "`micro-tokens` or `max-length` needs less",
                            (double)measure.used / 1e6);
    layout(b, &b->arena, model, more);
    return true;
}

void microbatch_supervise(MicroBatch *b, const Supervision *more, real guide, double teacher)
{
    if (more->guide) guide_fill(b->guided, more->guide, guide);
    if (!more->soft) return;
    size_t each = (size_t)more->each;
    for (int s = 0; s < b->target.sentences; s++) {
        const PairIds *pair = &b->pair[b->part->sentence[s % b->part->count]];
        SoftTarget *soft = b->soft + (size_t)b->target.start[s] * each;
        size_t count = (size_t)pair->length[1] * each;
        if (pair->number != PAIR_CHANGED)
            memcpy(soft, more->soft + more->start[pair->number] * each, count * sizeof *soft);
        for (size_t i = 0; pair->number == PAIR_CHANGED && i < count; i++)
            soft[i] = (SoftTarget){pair->id[1][i / each], (real)1 / (real)each};
    }
    b->activations.soft = (SoftTargets){b->soft, more->each, teacher};
}

void microbatch_free(MicroBatch *b)
{
    arena_free(&b->arena);
    for (int side = 0; side < 2; side++) free(b->start[side]), free(b->id[side]);
    *b = (MicroBatch){0};
}
