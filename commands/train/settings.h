/* settings.h -- the options of ./train and its presets. */
#ifndef COMMANDS_TRAIN_SETTINGS_H
#define COMMANDS_TRAIN_SETTINGS_H

#include "base/options.h"
#include "data/corpus.h"
#include "data/tokenizer.h"
#include "model/config.h"
#include "training/config.h"

typedef enum { VOCABULARY_JOINT, VOCABULARY_SEPARATE } VocabularyChoice;

typedef struct DataConfig {
    CorpusFiles train, valid;
    int valid_split;    // pairs held out of the training text if no validation files are given
    int bleu_tokenize;  // a Tokenization, of the validation's BLEU
    int vocabulary;     // a VocabularyChoice
    int tokenizer;      // a TokenizerType
    StringList tokenizer_model;                // files of models to use instead of learning
    int vocab_size;                            // of each vocabulary
    int source_vocab_size, target_vocab_size;  // of separate ones; 0: vocab_size
    double coverage;    // share of characters that get a piece; 0: by type
    int normalization;  // an index into the option's choices
    bool fold_case, byte_fallback;
} DataConfig;

typedef struct RunConfig {
    char *preset, *config, *output, *watch;
    int threads;      // 0: all processors
    int watch_layer;  // of the decoder, from 1; 0: the last
    bool dry_run, quiet, short_help, help, version;
} RunConfig;

enum { SETTINGS_GROUPS = 4 };

typedef struct Settings {
    RunConfig run;
    DataConfig data;
    ModelConfig model;
    TrainingConfig training;
    OptionGroup groups[SETTINGS_GROUPS];  // of the four above, in this order
    char changed[256];                    // " --learning-rate --dropout": set by settings_agree
} Settings;

/* Sets the defaults. groups point into settings, which must not be moved. */
void settings_defaults(Settings *settings);

/* Applies defaults, preset, --config and command line, in this order. Without a corpus: the toy
 * corpus, preset toy. The default preset for a corpus is tiny, the default output
 * checkpoints/<preset>. False: wrong usage (exit status 2), or a config file that cannot be
 * read. */
bool settings_read(Settings *settings, int argc, char *const *argv, Error *error);

void settings_free(Settings *settings);

/* In the order of the help; the name after the last one is NULL. */
typedef struct Preset {
    const char *name, *what, *settings;
} Preset;
extern const Preset settings_presets[];

/* The help, with presets; or brief, the common options and two examples. free() it. */
char *settings_help(bool brief);

/* Whether a run with this configuration can be resumed with these settings: model and tokenizer
 * must be equal. If not, the error names the option that differs. If the number of
 * accumulators is 0 or 1, sets it to that of the run, or to trainer_first_accumulators if the
 * run has none. settings->changed (=) the options of training that differ. */
bool settings_agree(Settings *settings, const char *config, const char *path, Error *error);

/* The settings to learn the vocabulary of a side, or the joint one (TARGET). */
TokenizerSettings settings_tokenizer(const Settings *settings, CorpusSide side);

#endif
