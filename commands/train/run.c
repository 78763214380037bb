/* run.c -- a training run and its folder; see run.h. */
#include "commands/train/run.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"
#include "commands/train/console.h"
#include "inference/bundle.h"
#include "inference/scoring.h"
#include "kernels/bf16.h"
#include "kernels/kind.h"
#include "model/checkpoint.h"
#include "training/distributed.h"

enum { MOST_HELD_OUT = 500 };

/* ---- text and vocabulary ---- */

static bool hold_out(Run *run, Error *error)
{
    const Settings *settings = run->settings;
    size_t count = (size_t)settings->data.valid_split, tenth = run->report.kept / 10;
    if (!count) count = tenth < MOST_HELD_OUT ? tenth : MOST_HELD_OUT;
    if (!count)
        return error_set(error,
                         "a corpus of %zu pairs is too small to hold some out for "
                         "validation: give --valid-source and --valid-target",
                         run->report.kept);
    run->valid_report = (CorpusReport){.read = count, .kept = count};
    return corpus_split(&run->valid_text, &run->text, &run->report, count,
                        settings->training.seed, error);
}

static bool read_text(Run *run, Error *error)
{
    const Settings *s = run->settings;
    if (!corpus_read(&run->text, &run->report, &s->train, error) ||
        !run_check_text(run, false, error) ||
        !(s->valid.count
              ? corpus_read(&run->valid_text, &run->valid_report, &s->valid, error) &&
                    run_check_text(run, true, error)
              : hold_out(run, error)))
        return false;
    return corpus_repeat(&run->text, &run->report, &s->train, error);
}

/* Adds to an error that begins with the name of last.safetensors, as it is damaged, what there is to do.
 * Returns false. */
static bool advise_anew(const Run *run, Error *error)
{
    const Error why = *error;
    if (*why.text != '\'') return false;
    return error_set(error,
                     "%s: without a copy of it the run cannot go on; a new one with another "
                     "--output can begin with its best model (--init %s)",
                     why.text, run->best);
}

/* Takes the vocabulary of a checkpoint: that of the run in the folder, if its configuration
 * agrees, or --init's. */
static bool take_vocabulary(Run *run, const char *path, Error *error)
{
    CheckpointFile file;
    if (!bundle_open(&file, path, error)) return run->resumed && advise_anew(run, error);
    bool good = (!run->resumed || settings_agree(run->settings, file.config, path, error)) &&
                vocabulary_copy(&run->vocabulary, (const void *const *)file.tokenizer,
                                file.tokenizer_size, error);
    checkpoint_close(&file);
    return good;
}

/* Adds tokens of the new text, without that of `replay`, to the vocabulary of --init's model. */
static bool extend_vocabulary(Run *run, Error *error)
{
    const Settings *s = run->settings;
    const CorpusText *text = &run->text;
    Vocabulary *v = &run->vocabulary;
    int most = s->fine_tuning.extend_vocabulary;
    bool joint = vocabulary_is_joint(v), good = true;
    if (!most) return true;
    console_stage("extending the vocabulary …");
    CorpusText own = {0};
    for (size_t pair = 0; good && pair < text->pairs; pair++)
        good =
            s->train.file[text->line[pair].file].replay || corpus_copy(&own, text, pair, error);
    const Sentences sides[SIDES] = {corpus_sentences(&own, SOURCE),
                                    corpus_sentences(&own, TARGET)};
    for (int side = joint ? TARGET : SOURCE; good && side < SIDES; side++)
        good = tokenizer_extend(&v->model[side], &v->size[side], &run->extension[side],
                                joint ? sides : sides + side, joint ? SIDES : 1, most, error) ||
               error_prefix(error, "%s", s->init_file);
    corpus_text_free(&own);
    return good;
}

/* The vocabulary of the run in the folder; else of --init's model; else of `tokenizer-model`;
 * else a new one. */
static bool make_vocabulary(Run *run, Error *error)
{
    Settings *s = run->settings;
    if (!file_exists(&run->resumed, run->best, error) ||  // for its error: a link to nothing
        !file_exists(&run->resumed, run->last, error))
        return false;
    if (run->resumed) return take_vocabulary(run, run->last, error);
    const CorpusReport *report = &run->report;
    double copies = (double)run->check.train.pairs[CHECK_COPIES] / (double)report->read,
           again = (double)report->repeated / (double)report->kept;
    if (!auto_choose(s, &run->text, (1 - copies) * (1 - again), error)) return false;
    s->training.accumulators = trainer_first_accumulators(s->training.accumulators);
    if (s->fine_tuning.init)
        return take_vocabulary(run, s->init_file, error) && extend_vocabulary(run, error);
    bool joint = s->data.vocabulary == VOCABULARY_JOINT;
    if (s->data.tokenizer_model.count) {
        char *const *item = s->data.tokenizer_model.item;
        const char *const path[SIDES] = {joint ? NULL : item[0], item[joint ? 0 : 1]};
        return vocabulary_read(&run->vocabulary, path, error);
    }
    StringList tags = {0};
    size_t times[CORPUS_MAX_TAGS];
    bool good = corpus_tags(&tags, times, &run->text, &s->train, settings_tag(s), error);
    TokenizerSettings settings = s->data.learn;
    settings.placeholders = s->training.augment > 0;
    settings.tags = &tags;
    char number[NUMBER_TEXT];
    console_stage("learning %s tokens (%s) …",
                  number_text(number, settings.vocab_size * (joint ? 1 : 2)),
                  tokenizer_type_names[settings.type]);
    good = good && vocabulary_learn(&run->vocabulary, &run->text, &settings, joint, error);
    strings_free(&tags);
    return good;
}

static bool share_tokenizer(Run *run, CorpusSide side, Error *error)
{
    Vocabulary *v = &run->vocabulary;
    if (!distributed_share(&v->size[side], sizeof v->size[side], error)) return false;
    if (v->size[side] == 0) return true;
    if (distributed.rank > 0) v->model[side] = malloc(v->size[side]);
    bool good = v->model[side] || error_memory(error, "for the tokenizer");
    return distributed_agree(good, error) &&
           distributed_share(v->model[side], v->size[side], error);
}

/* Copies rank 0's tokenizers, number of accumulators, share of changed pairs, size of the text and shape of
 * the model, which may be that of --init, to all ranks; and all options of training, if they are automatic. */
static bool share_vocabulary(Run *run, Error *error)
{
    Settings *s = run->settings;
    TrainingConfig *training = &s->training;
    return distributed_share(&run->resumed, sizeof run->resumed, error) &&
           distributed_share(&s->words, sizeof s->words, error) &&
           distributed_share(&s->pairs, sizeof s->pairs, error) &&
           distributed_share(&s->model, sizeof s->model, error) &&
           distributed_share(&training->accumulators, sizeof training->accumulators, error) &&
           distributed_share(&training->augment, sizeof training->augment, error) &&
           (!s->automatic || distributed_share(training, sizeof *training, error)) &&
           share_tokenizer(run, SOURCE, error) && share_tokenizer(run, TARGET, error) &&
           (vocabulary_load(&run->vocabulary, error) ||
            error_prefix(error, "%s",
                         run->resumed          ? run->last
                         : s->fine_tuning.init ? s->init_file
                                               : "the vocabulary"));
}

/* A hash of token ids and vocabulary that a double holds. */
static double fingerprint(const Run *run, const Corpus *corpus)
{
    uint64_t hash = HASH_START;
    for (int side = 0; side < SIDES; side++) {
        for (size_t i = 0; i < corpus->start[side][corpus->pairs]; i++)
            hash = hash_word(hash, (uint32_t)corpus->id[side][i]);
        hash = hash_bytes(hash, run->vocabulary.model[side], run->vocabulary.size[side]);
    }
    return (double)(hash >> 11);
}

/* Checks by a hash that every rank has the same token ids, the same training options
 * and the same kernels. Paths may differ. Collective. */
static bool same_everywhere(const Run *run, Error *error)
{
    uint64_t mine = (uint64_t)run->progress.corpus, first;
    char *settings = options_to_json(run->settings->groups + 3, 1, false);
    if (settings) mine = hash_bytes(mine, settings, strlen(settings));
    free(settings);
    mine = hash_word(mine, run->settings->run.dry_run);
    mine = hash_word(mine, run->settings->frozen);
    mine = hash_bytes(mine, run->progress.kernels, strlen(run->progress.kernels));
    first = mine;
    if (!distributed_share(&first, sizeof first, error)) return false;
    if (first != mine)
        error_set(error, "its training text, its options or its kind of processor (QKV_KERNEL) "
                         "are not those of rank 0");
    return distributed_agree(first == mine, error);
}

/* ---- from the corpus to the trainer ---- */

bool run_read(Run *run, Settings *settings, Error *error)
{
    *run = (Run){.settings = settings,
                 .begun = clock_seconds(),
                 .progress = progress_start(),
                 .saved.update = -1};
    console_stage("reading %s …", settings->train.file[0].source);
    run_file(run->last, run, "last.safetensors");
    run_file(run->best, run, "best.safetensors");
    bool first = distributed.rank == 0;
    bool good =
        kind_check(error) && (!first || run_lock(run, error)) && read_text(run, error) &&
        (!first ||
         (textprofile_read(&run->profile, &run->text, settings->train.file[0].source, error) &&
          make_vocabulary(run, error)));
    int threads = settings->run.threads ? settings->run.threads : workers_processors();
    good = good && (run->workers = workers_start(threads, error));
    const Tokenizer *const *tokenizer = (const Tokenizer *const *)run->vocabulary.tokenizer;
    good = distributed_agree(good, error) && share_vocabulary(run, error);
    if (first)
        good = good &&
               textprofile_characters(&run->profile, &run->text, tokenizer[SOURCE], error) &&
               run_check_vocabulary(run, error);
    console_stage("encoding …");
    int max_length = settings->model.max_length - 1;  // without </s>
    good = good &&
           corpus_encode(&run->corpus, &run->text, &run->report, tokenizer, run->workers,
                         max_length, settings->training.augment > 0, error) &&
           textprofile_count(&run->profile, &run->corpus, tokenizer[SOURCE], error) &&
           corpus_encode(&run->valid, &run->valid_text, &run->valid_report, tokenizer,
                         run->workers, max_length, true, error) &&
           corpus_overlap(&run->seen, &run->valid, &run->corpus, error);
    if (good && !run->resumed)
        good = auto_lengthen(settings, &run->report, &run->valid_report, 0, error);
    if (good) run->progress.corpus = fingerprint(run, &run->corpus);
    if (good) run->progress.valid = fingerprint(run, &run->valid);
    bool pairs = settings->training.precision == PRECISION_BF16 && bf16_pairs();
    char kernels[KIND_NAME];
    kind_describe(kernels);
    snprintf(run->progress.kernels, KERNELS_NAME, "%s%s", kernels,
             !pairs           ? ""
             : kind_has_amx() ? "-amx"
                              : "-bf16");
    return distributed_agree(good, error) && same_everywhere(run, error);
}

/* Reads the progress. The run must have this training text; if its order has changed, a new
 * epoch begins. */
static bool read_progress(Run *run, const char *text, Error *error)
{
    Progress *p = &run->progress, mine = *p;
    const TrainingConfig *now = &run->settings->training, *was = &run->settings->before;
    if (!text)
        return error_set(error,
                         "'%s' has no progress in it: it is a model, not "
                         "a training that can go on",
                         run->last);
    if (!progress_from_json(p, text, run->last, error)) return false;
    bool seed = now->seed != was->seed, unknown = run->unverified = isnan(p->corpus);
    bool other = !unknown && p->corpus != mine.corpus;
    bool fewer = now->best != BEST_LOSS && now->valid_translations != was->valid_translations;
    if (other || (!isnan(p->valid) && p->valid != mine.valid) ||
        (isfinite(p->best.loss) && fewer))
        return error_set(
            error,
            "the run in '%s' has another %s text%s: start a new one with another --output, "
            "which can begin with this model (--init %s)",
            run->last, other ? "training" : "validation",
            other && seed && run->report.held_out ? " (--seed holds out other pairs)"
            : !other && fewer                     ? " (--valid-translations is another)"
                                                  : "",
            run->settings->run.output);
    if (strcmp(p->kernels, mine.kernels)) strcpy(run->moved, p->kernels);
    run->saved = *p;
    strcpy(p->kernels, mine.kernels);
    p->corpus = mine.corpus, p->valid = mine.valid;
    size_t in_epoch = batches_updates(&run->batches, (uint64_t)p->epoch);
    run->reordered = seed                                        ? "--seed"
                     : now->batch_tokens != was->batch_tokens    ? "--batch-tokens"
                     : p->update_in_epoch >= (long long)in_epoch ? "a shorter text"
                                                                 : NULL;
    if (run->reordered && p->update_in_epoch) p->epoch++, p->update_in_epoch = 0;
    return true;
}

static bool read_last(Run *run, Error *error)
{
    CheckpointFile last;
    if (!checkpoint_open(&last, run->last, NULL, 0, error)) return false;
    const Params *params = &run->model.params;
    bool known = read_progress(run, last.progress, error), good = known;
    good = good &&
           checkpoint_read(&last, params, CHECKPOINT_WEIGHTS, NULL, run->model.block, error);
    for (const CheckpointBlock *b = run->trainer->optimizer.block; good && b->at; b++) {
        const char *prefix = checkpoint_has(&last, b->prefix) ? b->prefix : b->other;
        good = checkpoint_read(&last, params, prefix, NULL, b->at, error);
    }
    checkpoint_close(&last);
    return good || (known && advise_anew(run, error));
}

bool run_read_weights(real *block, const Params *params, const char *path, Error *error)
{
    CheckpointFile file;
    if (!bundle_open(&file, path, error)) return false;
    bool good = checkpoint_read(&file, params, CHECKPOINT_WEIGHTS, NULL, block, error);
    checkpoint_close(&file);
    return good;
}

/* The table of --init's model, which lacks the tokens that the run has added. */
static bool init_table(Params *params, const Run *run, Error *error)
{
    ModelConfig config = run->settings->model;
    config.vocab -= run->extension[TARGET].pieces;
    config.source_vocab -= run->extension[SOURCE].pieces;
    return params_table(params, &config, error);
}

/* to (=) from, with a row before the last one for each new token: the mean of its parts' rows. */
static void extend_rows(real *to, const real *from, size_t old, size_t width,
                        const TokenizerExtension *extension)
{
    const int32_t *part = extension->parts.id;
    memcpy(to, from, (old - 1) * width * sizeof *to);
    to += (old - 1) * width;
    for (int t = 0; t < extension->pieces; t++, part++, to += width) {
        int parts = 0;
        memset(to, 0, width * sizeof *to);
        for (; *part != ID_END; part++, parts++)
            for (size_t j = 0; j < width; j++) to[j] += from[(size_t)*part * width + j];
        for (size_t j = 0; j < width && parts; j++) to[j] /= (real)parts;
    }
    memcpy(to, from + (old - 1) * width, width * sizeof *to);
}

/* The weights of --init's model, and rows for the tokens that the run has added. */
static bool read_init(Run *run, Error *error)
{
    Params own;
    real *block = run->model.block, *read = NULL;
    const Params *params = &run->model.params;
    if (!init_table(&own, run, error)) return false;
    bool good = ((read = malloc(own.size * sizeof *read)) || error_memory(error, "to begin")) &&
                run_read_weights(read, &own, run->settings->init_file, error);
    for (int i = 0; good && i < own.count; i++) {
        const Tensor *to = &params->tensor[i], *from = &own.tensor[i];
        CorpusSide side =
            strstr(to->name, "encoder.embed_tokens") && run->extension[SOURCE].pieces ? SOURCE
                                                                                      : TARGET;
        const TokenizerExtension *extension = &run->extension[side];
        if (to->count == from->count)
            memcpy(block + to->offset, read + from->offset, to->count * sizeof *block);
        else {
            size_t width = (to->count - from->count) / (size_t)extension->pieces;
            extend_rows(block + to->offset, read + from->offset, from->count / width, width,
                        extension);
        }
    }
    free(read);
    params_free(&own);
    return good;
}

/* Rank 0 initialises the weights, or reads those of the run in the folder or of --init's model;
 * all ranks get them. */
static bool start_or_go_on(Run *run, Error *error)
{
    Transformer *model = &run->model;
    bool first = distributed.rank == 0, good = true;
    real *ema = run->trainer->optimizer.ema;
    if (first && run->resumed) {
        good = read_last(run, error);
    } else if (first) {
        if (run->settings->fine_tuning.init) good = read_init(run, error);
        else params_initialise(&model->params, model->block, run->batches.seed);
        if (ema) memcpy(ema, model->block, model->params.size * sizeof *ema);
    }
    return distributed_agree(good, error) &&
           distributed_share(&run->progress, sizeof run->progress, error) &&
           distributed_share(model->block, model->params.size * sizeof(real), error) &&
           optimizer_send(&run->trainer->optimizer, distributed_scatter, error);
}

/* Whether the model of --init has the weights that its configuration claims: before there is
 * memory for them. run->held_out_anew (=) whether its training held out other pairs than this one. */
static bool init_fits(Run *run, Error *error)
{
    CheckpointFile file;
    Params params;
    Progress before;
    if (distributed.rank > 0 || !run->settings->fine_tuning.init) return true;
    if (!init_table(&params, run, error)) return false;
    bool opened = bundle_open(&file, run->settings->init_file, error);
    bool good = opened && checkpoint_fits(&file, &params, CHECKPOINT_WEIGHTS, false, error);
    run->held_out_anew = good && run->report.held_out && file.progress &&
                         progress_from_json(&before, file.progress, "", NULL) &&
                         before.valid != run->progress.valid;
    if (opened) checkpoint_close(&file);
    params_free(&params);
    return good;
}

/* What the models of `teacher` say to each token of the training text: rank 0 asks them. */
static bool ask_teachers(Run *run, Error *error)
{
    const StringList *paths = &run->settings->fine_tuning.teacher;
    const Corpus *corpus = &run->corpus;
    Supervision *teacher = &run->supervision;
    static Models models;
    Batches all = {0};  // of the corpus in its order
    Packed source, target;
    if (!paths->count) return true;
    size_t rows = corpus->start[TARGET][corpus->pairs], row = 0;
    teacher->each = paths->count * SOFT_TARGETS;
    teacher->start = corpus->start[TARGET];
    size_t bytes = rows * (size_t)teacher->each * sizeof *teacher->soft;
    double *each = malloc(rows * sizeof *each);
    teacher->soft = malloc(bytes);
    bool good = (each && teacher->soft) || error_memory(error, "for teachers");
    if (good && distributed.rank == 0) {
        console_stage("asking the teachers …");
        good = models_load(&models, paths, BUNDLE_FLOAT, NULL, error) &&
               (vocabulary_equal(&models.bundle->vocabulary, &run->vocabulary) ||
                error_set(error,
                          "'%s' has another vocabulary: a model and its teachers need "
                          "the same text and options for it, or one `tokenizer-model`",
                          paths->item[0])) &&
               batches_init(&all, corpus, 0, (int)run->batches.batch_tokens, error);
        all.in_order = true;
        for (size_t u = 0; good && u < batches_updates(&all, 0); u++) {
            good =
                batches_packed(&all, &source, &target, all.first[u], all.first[u + 1], error) &&
                scoring_run(each, teacher->soft + row * (size_t)teacher->each, &models.ensemble,
                            &source, &target, run->workers, NULL, error);
            row += (size_t)target.rows;
        }
        models_free(&models);
        batches_free(&all);
    }
    free(each);
    return distributed_agree(good, error) && distributed_share(teacher->soft, bytes, error);
}

/* Its moments are zero. It replaces one that has timed updates. */
static bool create_trainer(Run *run, Error *error)
{
    trainer_free(run->trainer);
    run->trainer = trainer_create(&run->model, &run->settings->training, &run->supervision,
                                  run->workers, error);
    return run->trainer;
}

bool run_prepare(Run *run, Error *error)
{
    Settings *settings = run->settings;
    const TrainingConfig *training = &settings->training;
    const Vocabulary *vocabulary = &run->vocabulary;
    settings->model.precision = training->precision;
    settings->model.vocab = tokenizer_vocab_size(vocabulary->tokenizer[TARGET]);
    settings->model.source_vocab = vocabulary_is_joint(vocabulary)
                                       ? 0
                                       : tokenizer_vocab_size(vocabulary->tokenizer[SOURCE]);
    bool good = distributed_agree(init_fits(run, error), error) &&
                transformer_create(&run->model, &settings->model, error) &&
                create_trainer(run, error) &&
                batches_init(&run->batches, &run->corpus, training->seed,
                             training->batch_tokens, error);
    if (good && training->guide_alignment > 0) {  // the same on every rank
        console_stage("estimating links …");
        run->supervision.guide = &run->guide;
        good = run_learn_guide(&run->guide, run, GUIDE_CELLS, 1, error);
    }
    run->augment = (Augment){.share = training->augment,
                             .seed = training->seed,
                             .max_length = run->model.config.max_length,
                             .text = &run->text,
                             .vocabulary = vocabulary,
                             .workers = run->workers};
    good = good && (training->augment == 0 || augment_prepare(&run->augment, error));
    if (good) params_freeze(&run->model.params, settings->frozen);
    return distributed_agree(good, error) && ask_teachers(run, error) &&
           start_or_go_on(run, error);
}

bool run_update(Run *run, UpdateStats *stats, long long number, size_t u, Error *error)
{
    const TrainingConfig *c = &run->settings->training;
    int pairs;
    uint64_t epoch = (uint64_t)run->progress.epoch;
    if (!batches_update(&run->batches, &pairs, epoch, u, error) ||
        (run->augment.share > 0 &&
         !augment_update(&run->augment, run->batches.pair, &pairs, epoch, error)))
        return false;
    if ((double)number <= c->both_directions * c->max_updates)
        augment_turn(&run->augment, run->batches.pair, pairs, (uint64_t)number);
    return trainer_update(run->trainer, number, run->batches.pair, pairs, stats, error);
}

bool run_time_updates(double *each, Run *run, Error *error)
{
    enum { TIMED = 100 };            // updates at most
    static const double TIMING = 2;  // seconds, after which no further update is timed
    size_t in_epoch = batches_updates(&run->batches, (uint64_t)run->progress.epoch);
    double begin = clock_seconds();
    for (int u = 0, more = 1; more; u++) {
        UpdateStats stats;
        if (!run_update(run, &stats, run->progress.update + 1 + u, (size_t)u % in_epoch, error))
            return false;
        double seconds = clock_seconds() - begin;
        *each = seconds / (u ? u : 1);
        if (u == 0) begin += seconds;
        more = seconds < TIMING && u < TIMED;
        if (!distributed_share(&more, sizeof more, error)) return false;
    }
    return true;
}

bool run_fit_time(Run *run, Error *error)
{
    static const double TRAINING = 0.9;  // of the time; validations and pictures get the rest
    Settings *settings = run->settings;
    double each, fit, r_drop;
    if (settings->seconds == 0 || run->resumed) return true;
    console_stage("timing some updates …");
    do {  // again without R-Drop, if it leaves too few
        r_drop = settings->training.r_drop;
        if (!run_time_updates(&each, run, error)) return false;
        fit = fmax(1, TRAINING * (settings->seconds - (clock_seconds() - run->begun)) / each);
        if (!distributed_share(&fit, sizeof fit, error) ||
            !auto_lengthen(settings, &run->report, &run->valid_report, fit, error))
            return false;
    } while (settings->training.r_drop < r_drop);
    if (!settings->training.max_updates || settings->training.max_updates > fit) {
        console_warn("--max-updates %d takes longer than --time %s: leave one out",
                     settings->training.max_updates, settings->run.time);
        settings->seconds = 0;
    }
    return distributed_agree(create_trainer(run, error), error) && start_or_go_on(run, error);
}

long long run_last_update(Run *run)
{
    const TrainingConfig *c = &run->settings->training;
    const Progress *p = &run->progress;
    if (!c->max_epochs) return c->max_updates;
    size_t in_epoch = batches_updates(&run->batches, (uint64_t)p->epoch);
    long long epochs = c->max_epochs > p->epoch ? c->max_epochs - p->epoch : 0;
    long long all = p->update - p->update_in_epoch + (long long)in_epoch * epochs;
    return c->max_updates && c->max_updates < all ? c->max_updates : all;
}

bool run_save(Run *run, bool whole, Error *error)
{
    const char *path = whole ? run->last : run->best;
    TextProfile profile = run->profile;
    profile.doubtful = run->progress.doubtful;
    if (whole) profile.aligning_layer = profile.aligning_head = 0;  // of the best model alone
    char *config = options_to_json(run->settings->groups, SETTINGS_GROUPS, !whole),
         *progress = progress_to_json(&run->progress), *text = textprofile_to_json(&profile);
    bool good = (config && progress && text) || error_memory(error, "to save '%s'", path);
    const Vocabulary *v = &run->vocabulary;
    Checkpoint checkpoint = {.params = &run->model.params,
                             .weights = run->model.block,
                             .block = whole ? run->trainer->optimizer.block : NULL,
                             .config = config,
                             .progress = progress,
                             .text = text,
                             .tokenizer = {v->model[SOURCE], v->model[TARGET]},
                             .tokenizer_size = {v->size[SOURCE], v->size[TARGET]},
                             .shortlist = whole ? NULL : run->links.shortlist,
                             .shortlist_count = run->links.shortlist_count};
    good = good && run_hold(run, error) && checkpoint_save(&checkpoint, path, error);
    free(config);
    free(progress);
    free(text);
    return good;
}

void run_free(Run *run)
{
    free(run->links.link);
    free(run->links.shortlist);
    run_unlock(run);
    run_free_validation(run);
    trainer_free(run->trainer);
    workers_stop(run->workers);
    transformer_free(&run->model);
    batches_free(&run->batches);
    augment_free(&run->augment);
    textprofile_free(&run->profile);
    for (int side = 0; side < SIDES; side++)
        free(run->check.characters[side].lost), free(run->check.characters[side].changed),
            free(run->extension[side].parts.id);
    free(run->check.tags);
    guide_free(&run->guide);
    free(run->supervision.soft);
    metrics_close(&run->metrics);
    corpus_text_free(&run->text);
    corpus_text_free(&run->valid_text);
    vocabulary_free(&run->vocabulary);
    corpus_free(&run->corpus);
    corpus_free(&run->valid);
}
