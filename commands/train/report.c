/* report.c -- what ./train says of a run; see report.h. */
#include "commands/train/report.h"

#include "base/clock.h"
#include "base/textstream.h"
#include "commands/command.h"
#include "commands/train/console.h"
#include "scores/tokenization.h"
#include "training/distributed.h"

#include <sys/resource.h>
#include <unistd.h>

/* ---- the lines ---- */

/* A line is printed as "17" or, if there are several files, "data/a.en:17". */
static void print_skipped(const CorpusFiles *files, const char *why,
                          const CorpusSkipped *skipped)
{
    if (!skipped->count) return;
    bool one = files->count == 1;
    const char *plural = skipped->count > 1 ? "s" : "";
    TextStream stream;
    FILE *out = textstream_open(&stream);
    for (size_t i = 0; out && i < skipped->count && i < CORPUS_FIRST; i++) {
        CorpusLine where = skipped->first[i];
        fprintf(out, "%s%s%s%" PRIu64, i ? ", " : "", one ? "" : files->file[where.file].source,
                one ? "" : ":", (uint64_t)where.line);
    }
    char *lines = textstream_close(&stream);
    console_say("  skipped     %zu pair%s: %s (line%s %s%s)", skipped->count, plural, why,
                plural, lines ? lines : "", skipped->count > CORPUS_FIRST ? ", …" : "");
    free(lines);
}

/* The per cent of the tokens of a side that are unknown; </s> is not counted: it is always known. */
static double unknown_percent(const CorpusReport *r, int side)
{
    size_t all = r->tokens[side] - r->kept;
    return all ? 100.0 * (double)r->unknown[side] / (double)all : 0;
}

static void print_corpus(const char *name, const CorpusReport *r, const CorpusFiles *files)
{
    char read[64] = "";
    if (r->kept != r->read) snprintf(read, sizeof read, " of %zu that were read", r->read);
    console_say("%-13s %zu pairs%s, %zu source + %zu target tokens", name, r->kept, read,
                r->tokens[SOURCE], r->tokens[TARGET]);
    if (*r->columns) console_say("  columns     %s (--columns names others)", r->columns);
    if (r->replaced)
        console_say("  invalid     %zu line%s with invalid UTF-8, where U+FFFD was read",
                    r->replaced, r->replaced == 1 ? "" : "s");
    if (r->held_out) console_say("  held out    %zu pairs to validate with", r->held_out);
    if (r->common)
        console_say("  left out    %zu pairs whose source sentence is held out", r->common);
    if (r->repeated)
        console_say("  again       %zu of them are copies (--weight)", r->repeated);
    static const char *const WHY[SKIP_REASONS] = {
        "the source line is empty", "the target line is empty", "both lines are empty",
        "longer than --max-length", "the unit lacks text in one of the two languages"};
    for (int i = 0; i < SKIP_REASONS; i++) print_skipped(files, WHY[i], &r->skipped[i]);
    console_say("  unknown     %.2f %% of the source tokens, %.2f %% of the target tokens",
                unknown_percent(r, SOURCE), unknown_percent(r, TARGET));
}

/* Whether `extend-vocabulary` could add tokens. */
static bool can_extend(const Run *run)
{
    TokenizerType type = tokenizer_type(run->vocabulary.tokenizer[TARGET]);
    return run->settings->fine_tuning.init && !run->resumed &&
           (type == TOKENIZER_BPE || type == TOKENIZER_UNIGRAM);
}

static void print_characters(const CharacterCheck *check, const char *side, const char *more)
{
    if (check->lost)
        console_say("  lost        %s: the vocabulary has no token for them%s%s", check->lost,
                    side, more);
    if (check->changed) console_say("  normalised  %s%s", check->changed, side);
}

static void print_vocabulary(const Run *run)
{
    const Vocabulary *v = &run->vocabulary;
    const char *type[SIDES];
    int size[SIDES];
    for (int side = 0; side < SIDES; side++) {
        type[side] = tokenizer_type_names[tokenizer_type(v->tokenizer[side])];
        size[side] = tokenizer_vocab_size(v->tokenizer[side]);
    }
    if (vocabulary_is_joint(v))
        console_say("vocabulary    %d tokens (%s)", size[TARGET], type[TARGET]);
    else
        console_say("vocabulary    %d source tokens (%s), %d target tokens (%s)", size[SOURCE],
                    type[SOURCE], size[TARGET], type[TARGET]);
}

static void print_fine_tuning(const Run *run)
{
    const FineTuning *f = &run->settings->fine_tuning;
    const CorpusFile *file = run->settings->train.file;
    size_t replayed = 0;
    for (size_t i = 0; i < run->corpus.pairs; i++)
        replayed += file[run->corpus.line[i].file].replay != NULL;
    if (f->init && !run->resumed)
        console_say("begins with   weights and vocabulary of %s", f->init);
    if (replayed) console_say("replayed      %zu pairs of the text of %s", replayed, f->init);
    const TokenizerExtension *source = &run->extension[SOURCE],
                             *target = &run->extension[TARGET];
    double before = (double)(source->before + target->before),
           after = (double)(source->after + target->after);
    if (before > 0)
        console_say("extended      by %d tokens, %d of them characters: the new text has %.1f "
                    "%% %s tokens",
                    source->pieces + target->pieces, source->characters + target->characters,
                    100 * fabs(1 - after / before), after > before ? "more" : "fewer");
    for (int i = 0; i < f->teacher.count; i++)
        console_say("teacher       %s", f->teacher.item[i]);
    for (int i = 0; i < f->freeze.count; i++)
        console_say("frozen        %s%s", f->freeze.item[i],
                    strstr(f->freeze.item[i], "embeddings") &&
                            run->model.config.tying != TYING_NONE
                        ? "; the target's embedding is also the output layer"
                        : "");
}

static void print_warnings(Run *run)
{
    run_warn_of_text(run);
    if (run->check.untagged)
        console_warn(
            "%zu of %zu sentences of the validation begin with no tag that the model learns",
            run->check.untagged, run->valid.pairs);
    const TrainingConfig *training = &run->settings->training;
    const char *init = run->settings->fine_tuning.init;
    long long last = run_last_update(run);
    if (last && last < training->warmup)
        console_warn("the run ends after update %lld, within the warm-up of %d: the learning "
                     "rate does not reach %g; try --warmup %lld or a longer run",
                     last, training->warmup, training->learning_rate, last / 10 + 1);
    double tokens_each = (double)(run->report.tokens[SOURCE] + run->report.tokens[TARGET]) /
                         (double)params_trained(&run->model.params);
    int D = run->model.config.d_model;  // of the presets: tiny 128, small 256, base 512
    if (tokens_each < 0.05 && !run->settings->automatic && !init)
        console_warn("the corpus has %.3f tokens a parameter: a smaller model (%s--d-model, "
                     "--vocab-size) is likely to translate better",
                     tokens_each, D > 128 ? "--preset tiny, or " : "");
    if (run->seen * 50 > run->valid.pairs)
        console_warn("%zu of %zu source sentences of the validation are in the training text "
                     "too: the scores are too optimistic",
                     run->seen, run->valid.pairs);
    if (run->held_out_anew && !run->resumed)
        console_warn(
            "if %s was trained on this text, it knows the pairs that are held out now, "
            "and the scores are too optimistic: give --seed and --valid-split as then, "
            "or a validation text",
            init);
    for (int side = 0; side < SIDES; side++) {
        double unknown = unknown_percent(&run->report, side);
        if (unknown > (init ? 2 : 5))
            console_warn("%.1f %% of the %s tokens are unknown, and are lost: %s keeps them",
                         unknown, side == SOURCE ? "source" : "target",
                         can_extend(run)
                             ? "--extend-vocabulary, or a model with --byte-fallback,"
                         : init ? "a model that was trained with --byte-fallback"
                                : "a larger --vocab-size, --tokenizer bpe, or --byte-fallback");
    }
    const Gradients *g = &run->trainer->gradients;
    int threads = workers_count(run->workers), at_work = at_most(threads, g->end - g->first);
    if (at_work < threads)
        console_warn("only %d of %d threads can work at a time: --accumulators %d lets all "
                     "work, and takes %.0f MB for each one more",
                     at_work, threads, threads * distributed.ranks,
                     (double)(run->model.params.size * sizeof(real)) / 1e6);
    if (tokens_each > 200 && !run->settings->automatic)
        console_warn("the corpus has %.0f tokens a parameter: a larger model (%s) can learn "
                     "more from it",
                     tokens_each,
                     D < 256   ? "--preset small or base"
                     : D < 512 ? "--preset base"
                               : "--d-model, --ffn");
}

void report_begin(Run *run)
{
    char ranks[32] = "";
    const Settings *settings = run->settings;
    const ModelConfig *m = &run->model.config;
    double block = (double)(run->model.params.size * sizeof(real));
    if (distributed.ranks > 1) snprintf(ranks, sizeof ranks, "%d ranks of ", distributed.ranks);
    if (settings->run.preset == PRESET_AUTO && !settings->automatic)
        console_say("preset        toy (default for the built-in corpus)");
    print_corpus("training", &run->report, &settings->train);
    if (run->check.tags) console_say("  tags        %s", run->check.tags);
    bool joint = vocabulary_is_joint(&run->vocabulary);
    const char *more = can_extend(run) && !settings->fine_tuning.extend_vocabulary
                           ? "; --extend-vocabulary N adds them"
                           : "";
    print_characters(&run->check.characters[SOURCE], joint ? "" : ", in the source", more);
    print_characters(&run->check.characters[TARGET], ", in the target", more);
    print_corpus("validation", &run->valid_report,
                 settings->valid.count ? &settings->valid : &settings->train);
    print_vocabulary(run);
    console_say("model         %.2f million parameters: %d + %d layers, width %d, %d heads, "
                "feed-forward %d",
                (double)params_trained(&run->model.params) / 1e6, m->encoder_layers,
                m->decoder_layers, m->d_model, m->heads, m->ffn);
    if (settings->automatic && !run->resumed) auto_report(settings, &run->report);
    print_fine_tuning(run);
    if (run->augment.share > 0)
        console_say("augmented     %g %% of the pairs of an epoch are changed%s",
                    100 * run->augment.share,
                    run->augment.rules ? ""
                                       : ", without placeholders: the vocabulary has none");
    console_say("disk          %.1f MB to resume from, %.1f MB to translate with",
                (run->trainer->optimizer.ema ? 4 : 3) * block / 1e6, block / 1e6);
    if (settings->training.ema > 0)
        console_say("validated     the moving average of the weights, decay %g",
                    settings->training.ema);
    if (settings->training.valid_epochs != run->valid_epochs && run->valid_epochs > 1)
        console_say("validates     every %d epochs, to spend at most a fifth of the work on it "
                    "(--valid-epochs changes that)",
                    run->valid_epochs);
    print_warnings(run);
    console_say("run           %s%d thread%s, into %s", ranks, workers_count(run->workers),
                workers_count(run->workers) > 1 ? "s" : "", settings->run.output);
}

/* ---- the time and memory of --dry-run ---- */

/* *each (=) the seconds of a validation, per update. Its translations are as long as the
 * references are on average, which those of an untrained model are not. */
static bool time_validation(double *each, Run *run, size_t in_epoch, Error *error)
{
    const TrainingConfig *c = &run->settings->training;
    const CorpusReport *report = &run->valid_report;
    int epochs = run->valid_epochs;
    double begin = clock_seconds();
    run->validation.search.max_tokens = (int)(report->tokens[TARGET] / report->kept) + 1;
    if (!run_validate(run, error)) return false;
    *each = clock_seconds() - begin;
    *each *= fmax(c->valid_every ? 1.0 / c->valid_every : 0,
                  epochs ? 1.0 / (epochs * (double)in_epoch) : 0);
    return true;
}

bool report_estimate(Run *run, Error *error)
{
    char number[NUMBER_TEXT], time[DURATION_TEXT];
    double each = 0, validating = 0;
    long long last = run_last_update(run), left = last - run->progress.update;
    size_t in_epoch = batches_updates(&run->batches, (uint64_t)run->progress.epoch);
    console_stage("timing some updates and a validation …");
    if (!run_time_updates(&each, run, error) ||
        (distributed.rank == 0 && !time_validation(&validating, run, in_epoch, error)))
        return false;
    double updates = last ? (double)(left > 0 ? left : 0) : (double)in_epoch;
    console_say("updates       %s an epoch; %.2g s each, and %.2g s more for validation",
                number_text(number, (double)in_epoch), each, validating);
    console_say("time          %sabout %s for %s updates, an estimate%s",
                last && run->settings->training.patience ? "at most " : "",
                duration_text(time, updates * (each + validating)),
                number_text(number, updates),
                last ? "" : "; --max-updates and --max-epochs limit a run");
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    console_say("memory        %.0f MB at most, from its start to here",
                (double)usage.ru_maxrss * 1024 / 1e6);
    return true;
}

/* ---- while it trains ---- */

enum { SAMPLES = 3 };

void report_progress(Run *run)
{
    const Progress *p = &run->progress;
    const Throughput *t = &run->throughput;
    char done[NUMBER_TEXT], all[NUMBER_TEXT], rate[NUMBER_TEXT];
    static double first_end;      // of the first update of this process, in seconds
    static long long first = -1;  // its number
    ProgressBar *bar = &console_bar;
    double now = clock_seconds(), limit = (double)run_last_update(run);
    if (first < 0) first = p->update, first_end = now;
    if (!progressbar_begin(bar, now)) return;
    double each = (now - first_end) / (double)(p->update - first);  // NaN in the first update
    if (limit > 0)
        progressbar_share(bar, (double)p->update / limit, each * (limit - (double)p->update),
                          run->settings->training.patience > 0);
    progressbar_add(bar, "update %s%s%s", number_text(done, (double)p->update),
                    limit > 0 ? "/" : "", limit > 0 ? number_text(all, limit) : "");
    progressbar_add(bar, "loss %.3f", p->nll / (double)p->tokens);
    progressbar_add(bar, "epoch %lld", p->epoch + 1);
    progressbar_add(bar, "%s tokens/s", number_text(rate, (double)t->tokens / t->seconds));
    progressbar_add(bar, "lr %.2g", schedule_rate(&run->settings->training, p->update));
    progressbar_add(bar, "%.0f GFLOP/s", t->flops / t->seconds / 1e9);
    progressbar_end(bar);
}

/* After the warm-up: whether the model has learned to write, but not to translate, or not even that. */
static void warn_of_collapse(const Run *run)
{
    const Validation *v = &run->validation;
    enum { FEW = 10 };                 // translations, too few to tell
    static const double LITTLE = 0.7;  // of a uniform guess's loss; token frequencies give less
    const TrainingConfig *training = &run->settings->training;
    char advice[ADVICE_TEXT];
    int same = 1;
    if (run->progress.update <= training->warmup) return;
    while (same < v->translations && !strcmp(v->hypothesis[same], v->hypothesis[0])) same++;
    Error warning;
    double bound = LITTLE * log(run->model.config.vocab);
    bool little = v->quality.loss > bound && run->loss > bound;
    if (!little && (v->translations < FEW || same < v->translations)) return;
    error_set(&warning, "%s after the warm-up; if the next validation says so too, %s",
              little ? "the model has hardly learned anything"
                     : "all translations are the same sentence",
              training_advice(advice, training));
    options_name_in_error(run->settings->groups, SETTINGS_GROUPS, &warning);
    console_warn("%s", warning.text);
}

void report_validation(const Run *run, bool best)
{
    const Validation *v = &run->validation;
    static const char *const BEST[] = {[BEST_LOSS] = ", the best loss so far",
                                       [BEST_BLEU] = ", the best BLEU so far",
                                       [BEST_CHRF] = ", the best chrF so far"};
    int words = run->settings->data.bleu_tokenize;
    const char *of = words == TOKENIZATION_13A ? "" : tokenization_names[words];
    double loss = v->quality.loss;
    console_say("validation after update %lld: loss %.4f, perplexity %s%s",
                run->progress.update, loss,
                perplexity_text((char[PERPLEXITY_TEXT]){""}, loss, 2),
                best ? BEST[run->settings->training.best] : "");
    if (v->translations)
        console_say("  %d of %d translations exact (greedy), BLEU%s%s%s %.2f, chrF %.2f%s",
                    v->exact, v->translations, *of ? " (" : "", of, *of ? ")" : "",
                    v->quality.bleu, v->quality.chrf,
                    !v->exact || v->quality.bleu > 0 ? ""
                    : run->settings->training.best == BEST_BLEU
                        ? ": no line has four words, which BLEU counts; use --best chrf"
                        : ": no line has four words, which BLEU counts");
    for (int i = 0, all = at_most(SAMPLES, v->translations); i < all; i++) {
        int s = (int)((long long)i * v->translations / all);
        CorpusSentence source = corpus_sentence(&run->valid_text, SOURCE, (size_t)s);
        console_cut("    ", source.text, source.length);
        console_cut(v->is_exact[s] ? "    ✓ → " : "      → ", v->hypothesis[s],
                    strlen(v->hypothesis[s]));
    }
    warn_of_collapse(run);
}

/* Whether a sentence can stand in a command between apostrophes, and is neither long nor short. */
static bool is_for_command(CorpusSentence s)
{
    bool good = s.length >= 15 && s.length <= 80 && *s.text != '-';
    for (size_t i = 0; good && i < s.length; i++)
        good = (unsigned char)s.text[i] >= ' ' && !strchr("'\x7f", s.text[i]);
    return good;
}

/* The command for the first validation sentence that is_for_command, or SENTENCE. */
static void say_command(const Run *run)
{
    const char *folder = run->settings->run.output;
    char quoted[4 * PATH_MAX], *to = quoted;
    CorpusSentence s = {"SENTENCE", 8}, next;
    for (size_t i = 0; i < run->valid_text.pairs; i++)
        if (is_for_command(next = corpus_sentence(&run->valid_text, SOURCE, i))) {
            s = next;
            break;
        }
    for (; *folder; folder++)  // an apostrophe cannot stand between apostrophes
        to = *folder == '\'' ? stpcpy(to, "'\\''") : mempcpy(to, folder, 1);
    *to = 0;
    const char *mark = strpbrk(quoted, " \t$&*?;()<>|\\\"'`#~[]{}!") ? "'" : "";
    console_say("translate with: %stranslate --model %s%s%s --attention attention.png '%.*s'",
                command_prefix(), mark, quoted, mark, (int)s.length, s.text);
}

void report_end(const Run *run, const char *limit)
{
    static const char *const pictures[] = {"loss.png", "weights.png", "attention.png",
                                           "watch.png"};
    const Progress *p = &run->progress;
    char time[DURATION_TEXT], scores[64] = "";
    if (!isnan(p->best.bleu))
        snprintf(scores, sizeof scores, ", BLEU %.2f, chrF %.2f", p->best.bleu, p->best.chrf);
    if (!limit)
        console_say("stopped after update %lld, and saved in %s: the same command goes on from "
                    "there",
                    p->update, run->last);
    else
        console_say("done: %lld updates in %s (%s); the best validation was after update "
                    "%lld: loss %.4f%s",
                    p->update, duration_text(time, p->seconds), limit, p->best_update,
                    p->best.loss, scores);
    if (limit && p->update && !p->best_update && isfinite(p->best.loss))
        console_warn("nothing was better than the model of --init, which best.safetensors "
                     "holds: try a smaller --learning-rate");
    if (!isfinite(p->best.loss)) return;
    bool model = !access(run->best, F_OK);
    if (!model)
        console_warn("'%s' is missing: it was moved or removed, and with it the best model of "
                     "this run",
                     run->best);
    char names[200] = "", path[PATH_MAX];
    if (model) strcpy(names, "best.safetensors (the model)");
    for (int i = 0; i < 4; i++)
        if (access(run_file(path, run, pictures[i]), F_OK) == 0)
            strcat(strcat(names, *names ? ", " : ""), pictures[i]);
    console_say("written to %s: %s", run->settings->run.output, names);
    command_say_missing(console_bar.out, run->missing);
    say_command(run);
}
