/* microbatch.c -- an update's sentences, divided into micro-batches by the LPT rule (longest
 * processing time first); see microbatch.h. */
#include "training/microbatch.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

static int micro_batches(const Packed *source, const Packed *target, int tokens, int multiple)
{
    long long total = (long long)source->rows + target->rows;
    long long count = (total + tokens - 1) / tokens;
    if (count > multiple) count = (count + multiple - 1) / multiple * multiple;
    return count < 1 ? 1 : count > source->sentences ? source->sentences : (int)count;
}

static int longer_first(const void *a, const void *b)
{
    const PlannedSentence *one = a, *other = b;
    if (one->tokens != other->tokens) return one->tokens > other->tokens ? -1 : 1;
    return one->number < other->number ? -1 : 1;
}

static int smallest(const MicroBatchPart *part, int count)
{
    int least = 0;
    for (int k = 1; k < count; k++)
        if (part[k].tokens < part[least].tokens) least = k;
    return least;
}

bool microbatch_plan(MicroBatchPlan *plan, const Packed *source, const Packed *target,
                     int tokens, int multiple, Error *error)
{
    int S = source->sentences, count = micro_batches(source, target, tokens, multiple);
    if (!GROW(plan->part, plan->part_size, (size_t)count) ||
        !GROW(plan->sentence, plan->sentence_size, (size_t)S) ||
        !GROW(plan->planned, plan->planned_size, (size_t)S))
        return error_memory(error, "for %d micro-batches", count);
    MicroBatchPart *part = plan->part;
    PlannedSentence *planned = plan->planned;
    for (int s = 0; s < S; s++)
        planned[s] =
            (PlannedSentence){s, packed_length(source, s) + packed_length(target, s), 0};
    qsort(planned, (size_t)S, sizeof *planned, longer_first);

    plan->count = count;
    memset(part, 0, (size_t)count * sizeof *part);
    for (int s = 0; s < S; s++) {
        int k = planned[s].part = smallest(part, count);
        part[k].tokens += planned[s].tokens;
        part[k].count++;
    }
    int *next = plan->sentence;
    for (int k = 0; k < count; next += part[k].count, part[k++].count = 0)
        part[k].sentence = next;
    for (int s = 0; s < S; s++) {
        MicroBatchPart *p = &part[planned[s].part];
        p->sentence[p->count++] = planned[s].number;
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

/* packed (=) `copies` copies of the sentences of `part`. */
static bool gather(Packed *packed, MicroBatch *b, int side, const Packed *all,
                   const MicroBatchPart *part, int copies, Error *error)
{
    int sentences = copies * part->count, rows = 0;
    for (int i = 0; i < part->count; i++)
        rows += copies * packed_length(all, part->sentence[i]);
    if (!GROW(b->id[side], b->id_size[side], (size_t)rows) ||
        !GROW(b->start[side], b->start_size[side], (size_t)sentences + 1))
        return error_memory(error, "for a micro-batch");
    int *id = b->id[side], *start = b->start[side];
    start[0] = 0;
    for (int i = 0; i < sentences; i++) {
        int s = part->sentence[i % part->count], length = packed_length(all, s);
        memcpy(id + start[i], all->id + all->start[s], (size_t)length * sizeof *id);
        start[i + 1] = start[i] + length;
    }
    *packed = (Packed){sentences, rows, id, start};
    return true;
}

bool microbatch_pack(MicroBatch *b, const Packed *source, const Packed *target,
                     const MicroBatchPart *part, const Dropout *dropout, Error *error)
{
    int copies = dropout && dropout->r_drop > 0 ? 2 : 1;
    b->dropout = dropout ? *dropout : (Dropout){0};
    b->dropout.sentence = part->sentence;
    if (copies == 2) b->dropout.copy = part->count;
    return gather(&b->source, b, 0, source, part, copies, error) &&
           gather(&b->target, b, 1, target, part, copies, error);
}

static void layout(MicroBatch *b, Arena *arena, const Transformer *model, Keep keep)
{
    const Dropout *dropout = keep == KEEP_FOR_BACKWARD ? &b->dropout : NULL;
    transformer_layout(&b->activations, arena, model, &b->source, &b->target, dropout, keep);
    if (b->teacher)
        b->soft =
            ARENA_TAKE(arena, SoftTarget, (size_t)b->target.rows * (size_t)b->teacher->each);
    if (!b->guide) return;
    Attention *a = b->guided =
        &b->activations.decoder.layer[model->config.decoder_layers - 1].cross;
    a->guide = ARENA_TAKE(arena, real, a->numbers / (size_t)model->config.heads);
}

size_t microbatch_bytes(MicroBatch *b, const Transformer *model, Keep keep)
{
    Arena measure = {0};
    layout(b, &measure, model, keep);
    return measure.used;
}

/* Sets the soft targets; with R-Drop those of the first copies. */
static void teach(MicroBatch *b, const Teacher *t)
{
    size_t each = (size_t)t->each;
    for (int s = 0; s < (b->dropout.copy ? b->dropout.copy : b->target.sentences); s++)
        memcpy(b->soft + (size_t)b->target.start[s] * each,
               t->soft + t->start[t->pair[b->dropout.sentence[s]]] * each,
               (size_t)packed_length(&b->target, s) * each * sizeof *t->soft);
    b->activations.soft = (SoftTargets){b->soft, t->each, t->weight};
}

bool microbatch_layout(MicroBatch *b, const Transformer *model, Keep keep, Error *error)
{
    size_t bytes = microbatch_bytes(b, model, keep);
    if (!arena_fit(&b->arena, bytes))
        return error_memory(error,
                            "for %.1f MB of activations: a smaller model, "
                            "`micro-tokens` or `max-length` needs less",
                            (double)bytes / 1e6);
    layout(b, &b->arena, model, keep);
    if (b->teacher) teach(b, b->teacher);
    return true;
}

void microbatch_free(MicroBatch *b)
{
    arena_free(&b->arena);
    for (int side = 0; side < 2; side++) free(b->start[side]), free(b->id[side]);
    *b = (MicroBatch){0};
}
