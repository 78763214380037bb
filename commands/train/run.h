/* run.h -- a training run and its folder: what it is made of, how it is saved and taken up again.
 *
 *   last.safetensors    everything: the run goes on from here
 *   best.safetensors    the weights that were best in a validation so far (candidate.h); they
 *                       alone
 *   update-N.safetensors  weights as of the last validations, if asked for (candidate.h)
 *   config.json         every option's value
 *   metrics.jsonl       training/metrics.h
 *   loss.png            the curves of it
 *   attention.png       the attention of one validation sentence, as of the best model
 *   weights.png         W_Q, W_K and W_V of one layer, before and after (weights.h)
 *   watch.jsonl, watch.png  a sentence watched while the model learns (watch.h)
 *
 * With several ranks (training/distributed.h) every rank reads the corpus; the folder is rank 0's
 * alone, which hands on what it finds there: tokenizer, weights, moments, progress. run_read,
 * run_prepare and run_save_last are collective and agree on their success; the others are for
 * rank 0 and do nothing elsewhere. */
#ifndef COMMANDS_TRAIN_RUN_H
#define COMMANDS_TRAIN_RUN_H

#include "commands/train/settings.h"
#include "data/batches.h"
#include "data/corpus.h"
#include "data/vocabulary.h"
#include "training/metrics.h"
#include "training/progress.h"
#include "training/trainer.h"

typedef struct Run {
    Settings *settings;
    char *last, *best;            // paths
    CorpusText text, valid_text;  // text is empty once it is ids
    Corpus corpus, valid;
    CorpusReport report, valid_report;
    size_t seen;  // pairs of valid whose source sentence is in the corpus, too
    Vocabulary vocabulary;
    Transformer model;
    Workers *workers;
    Trainer *trainer;
    Batches batches;
    Progress progress;
    Metrics metrics;
    bool resumed;
} Run;

/* Reads the corpus, learns the tokenizer (or takes that of the run which is in the folder). Ranks
 * with other settings or another corpus than rank 0's are an error. */
bool run_read(Run *run, Settings *settings, Error *error);

/* Creates model and trainer: fresh, or as last.safetensors has them. */
bool run_prepare(Run *run, Error *error);

/* Makes the folder and writes config.json; opens metrics.jsonl. */
bool run_begin(Run *run, Error *error);

/* Between this and what has failed on one rank alone must be an agree. */
bool run_save_last(Run *run, Error *error);

/* The model's weights alone, to translate with. */
bool run_save_model(Run *run, const char *path, Error *error);

/* The file that a CorpusLine of a text means: of its sources, or of both sides. */
const char *run_file(const StringList *source, const StringList *tsv, int file);

/* "DIR/name" in the folder of a run; free() it. */
char *run_path(const Settings *settings, const char *name, Error *error);

/* The decoder layer that is watched, from 0; and its W_Q, W_K and W_V of encoder-decoder attention. */
int run_watch_layer(const Run *run);
void run_watch_tensors(const Tensor *tensor[3], const Run *run);

/* loss.png from the metrics so far. */
bool run_draw_loss(const Run *run, Error *error);

void run_free(Run *run);

#endif
