/* run.h -- a training run and its folder: what it consists of, how it is saved and resumed.
 *
 *   last.safetensors      weights, Adam's moments and progress: the run resumes from here
 *   best.safetensors      the weights of the best validation so far (run-validation.c)
 *   config.json           the value of every option
 *   metrics.jsonl         training/metrics.h
 *   loss.png, attention.png                 pictures.h
 *   weights.tsv, weights.png                weights.c
 *   watch.jsonl, watch.png                  watch.c
 *   .lock                                   run-folder.c
 *
 * With several ranks (training/distributed.h) every rank reads the corpus. Only rank 0 uses the
 * folder; it sends what it reads there (tokenizer, weights, moments, progress) to the others.
 * run_read, run_prepare, run_fit_time, run_time_updates and run_update are collective: they succeed
 * or fail on all ranks. Those of the folder are for rank 0. */
#pragma once

#include "commands/train/settings.h"
#include "data/augment.h"
#include "data/batches.h"
#include "data/corpus.h"
#include "data/corpuscheck.h"
#include "data/textprofile.h"
#include "data/vocabulary.h"
#include "inference/translator.h"
#include "plots/canvas.h"
#include "training/metrics.h"
#include "training/progress.h"
#include "training/trainer.h"

/* The work done since the last line of metrics. */
typedef struct Throughput {
    double flops, seconds;
    long long tokens;
} Throughput;

/* What a vocabulary does to characters: lines that name the most frequent ones and how often they
 * are in the text; NULL: none. */
typedef struct CharacterCheck {
    char *lost;       // that have no token
    char *changed;    // beyond ASCII, that its normalisation replaces by others, or drops
    size_t controls;  // how often there are U+0080 to U+009F
    size_t twice;     // and Ã©, UTF-8 that was encoded twice
} CharacterCheck;

typedef struct TextCheck {
    CorpusCheck train, valid;  // valid: of files; {0} for pairs held out
    bool swapped;              // corpus_swapped, of validation files
    char *tags;                // of a new run: ">>fra<< (48), >>deu<< (48)"; NULL: none
    size_t untagged;           // validation sentences without a tag that the model learns,
                               // if nine of ten training sentences have one
    CharacterCheck characters[SIDES];  // with a joint vocabulary the first alone, of both
} TextCheck;

/* What the links of words teach (run-wordlinks.c). */
typedef struct WordLinks {
    int *link;            // [target tokens of the pairs] guide_link; NULL: not learned yet
    int pairs;            // of the validation text, the first ones
    uint16_t *shortlist;  // [shortlist_count]; NULL of a vocabulary too large for it
    size_t shortlist_count;
} WordLinks;

typedef struct Validation {
    Batches batches;
    int translations;     // how many pairs, from the first, are translated
    SearchConfig search;  // greedy
    /* results of the last run_validate */
    Quality quality;    // NaN: no BLEU and chrF, as nothing was translated
    int exact;          // translations that are equal to their reference
    double doubtful;    // data/textprofile.h; 0 if nothing is translated
    char **hypothesis;  // [translations]
    bool *is_exact;     // [translations]
    Translations ids;
} Validation;

typedef struct Run {
    Settings *settings;
    char last[PATH_MAX], best[PATH_MAX];
    FILE *lock;                   // ".lock", locked until the process ends; NULL: not now
    CorpusText text, valid_text;  // text is freed once it is encoded, unless it is augmented
    TextProfile profile;          // of text, on rank 0
    Corpus corpus, valid;
    CorpusReport report, valid_report;
    TextCheck check;
    size_t seen;         // pairs of valid whose source sentence is also in the corpus
    bool held_out_anew;  // pairs are, and not those that --init's model was validated with
    Vocabulary vocabulary;
    TokenizerExtension extension[SIDES];  // of --init's model; on rank 0 of a new run
    Transformer model;
    Workers *workers;
    Trainer *trainer;
    Batches batches;
    Augment augment;
    WordLinks links;          // {0} until run_find_head
    Guide guide;              // the links, if supervision has them
    Supervision supervision;  // of the trainer
    Validation validation;
    Progress progress;
    Throughput throughput;
    double loss;  // of this process's last update, in nats a token
    Metrics metrics;
    MissingGlyphs *missing;  // in the pictures; command_share; or NULL
    Progress saved;          // of last.safetensors
    double begun;            // clock_seconds
    bool resumed;
    bool complete;             // resumed, and only pictures are left to draw
    bool unverified;           // resumed, but the checkpoint does not record its training text
    char moved[KERNELS_NAME];  // resumed with other kernels than these; "": with the same
    const char *reordered;     // resumed in a new epoch: what has changed the order; or NULL
    int valid_epochs;          // from one validation to the next; 0: only by --valid-every
} Run;

/* Locks the folder, if there is one; reads the corpus; learns the tokenizer, or takes that of the
 * run in the folder. Fails if the folder has files but none of a run, or best.safetensors without
 * last.safetensors, or if a rank has other settings or another corpus than rank 0. */
bool run_read(Run *run, Settings *settings, Error *error);

/* Checks the training text, or the validation files, each file by itself. Fails, but for `force`, if it
 * is not one to train on or to validate with: its sides have slipped or are unrelated, or the same in
 * the training text, or one of them is no text. */
bool run_check_text(Run *run, bool valid, Error *error);

/* Checks the characters and, if the run is new, the tags (data/tokenizer.h). Fails, but for `force`,
 * if the vocabulary has no token for a tag; and if `tag` is given and there is none. */
bool run_check_vocabulary(Run *run, Error *error);

/* Says what was strange, but did not fail. */
void run_warn_of_text(const Run *run);

/* Creates model and trainer: initialised, or loaded from last.safetensors. */
bool run_prepare(Run *run, Error *error);

/* With --time, for a new run: sets how many updates it has, by the time that some take. */
bool run_fit_time(Run *run, Error *error);

/* Makes some updates, which count for nothing. *each (=) the seconds of an update, a mean. The first one allocates memory; it does not count
 * unless it alone takes longer than TIMING. */
bool run_time_updates(double *each, Run *run, Error *error);

/* Chooses what is validated, and sets valid_epochs. Collective; call it after the three above. */
bool run_prepare_validation(Run *run, Error *error);
void run_free_validation(Run *run);

/* Validates the model with its current weights: run->validation (=) the results. False with
 * ids.stopped if file_stop was set during the translation; false with an error if the loss is not
 * finite. */
bool run_validate(Run *run, Error *error);

/* Makes update number 1, 2, … from update u of the epoch, as trainer_update does. */
bool run_update(Run *run, UpdateStats *stats, long long number, size_t u, Error *error);

/* The update that the run ends after, as far as that is known yet; 0: no limit. */
long long run_last_update(Run *run);

/* Returns path (=) "FOLDER/name"; run_lock has checked that it is not too long. */
const char *run_file(char path[PATH_MAX], const Run *run, const char *name);

/* Locks the folder, if it exists and is not locked yet; with --dry-run only checks. Refuses a new run
 * where a best model is, or files without the .lock of a run. */
bool run_lock(Run *run, Error *error);
void run_unlock(Run *run);

/* Makes and locks the folder; removes what a killed process left in it; writes config.json, unless
 * the run is complete; opens metrics.jsonl. */
bool run_begin(Run *run, Error *error);

/* Whether the folder is still the one that this run has locked: call it before writing there. It
 * may have been moved, with another one in its place, where nothing may then be written. A folder
 * that is gone is made again, with a warning; so is .lock. */
bool run_hold(Run *run, Error *error);

/* Then replaces a file there by the text, which it frees. Does nothing if the folder was moved: a
 * save that finds it so says it, and the next text has this one in it. */
bool run_replace_text(Run *run, const char *path, char *text, Error *error);

/* Writes the model's weights to best.safetensors; or with `whole` to last.safetensors, with the
 * state of training, which needs optimizer_send to rank 0 first. */
bool run_save(Run *run, bool whole, Error *error);

/* Creates the guide, and lets it learn from every step-th pair. Free it even if this fails. */
bool run_learn_guide(Guide *guide, const Run *run, size_t cells, size_t step, Error *error);

/* Finds the head that aligns words best, for the next run_save: run->profile (=) its layer and head,
 * from 1; 0 if it agrees with less than 2 of 5 links. At first learns the links and the shortlist,
 * from the training text or from a part of it, evenly spread. */
bool run_find_head(Run *run, Error *error);

/* block (=) the weights of a checkpoint with this table. */
bool run_read_weights(real *block, const Params *params, const char *path, Error *error);

void run_free(Run *run);
