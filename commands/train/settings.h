/* settings.h -- all that ./train can be told: its options, its presets, and where they come from. */
#ifndef COMMANDS_TRAIN_SETTINGS_H
#define COMMANDS_TRAIN_SETTINGS_H

#include "base/options.h"
#include "data/corpus.h"
#include "data/tokenizer.h"
#include "model/config.h"
#include "training/config.h"

typedef enum { VOCABULARY_JOINT, VOCABULARY_SEPARATE } VocabularyChoice;

/* The files of a corpus: sources and targets, line by line, or tsv with both. */
typedef struct CorpusNames {
    StringList source, target, tsv;
} CorpusNames;

typedef struct DataConfig {
    CorpusNames train, valid;
    int valid_split;    // pairs held out of the training text if no validation files are given
    int bleu_tokenize;  // a Tokenization, of the validation's BLEU
    int vocabulary;     // a VocabularyChoice
    int tokenizer;      // a TokenizerType
    StringList tokenizer_model;                // files of models to use instead of learning
    int vocab_size;                            // of each vocabulary
    int source_vocab_size, target_vocab_size;  // of separate ones; 0: vocab_size
    double coverage;    // share of characters that get a piece; 0: by type
    int normalization;  // a place in the option's choices
    bool lowercase, byte_fallback;
} DataConfig;

typedef struct RunConfig {
    char *preset, *config, *output, *watch;
    int threads;      // 0: all processors
    int watch_layer;  // of the decoder, from 1; 0: the last
    bool dry_run, quiet, help, version;
} RunConfig;

enum { SETTINGS_GROUPS = 4 };

typedef struct Settings {
    RunConfig run;
    DataConfig data;
    ModelConfig model;
    TrainingConfig training;
    OptionGroup groups[SETTINGS_GROUPS];  // of the four above, in this order
} Settings;

/* The defaults; groups point into settings, which must stay where it is. */
void settings_defaults(Settings *settings);

/* Defaults, preset, --config, command line. Without a corpus it is the toy corpus, preset toy,
 * into checkpoints/toy; with one, preset tiny, into checkpoints/<preset>. A false is wrong use,
 * but for a config file that cannot be read. */
bool settings_read(Settings *settings, int argc, char *const *argv, Error *error);

void settings_free(Settings *settings);

/* The presets in the order of the help; one with a NULL name is behind the last. */
typedef struct Preset {
    const char *name, *what, *settings;
} Preset;
Preset settings_preset(int i);

/* The help, presets included, of the program of this name; free() it. */
char *settings_help(const char *program);

/* What is saved as config.json and in checkpoints; free() it. */
char *settings_to_json(const Settings *settings);

/* Whether a run that was started with this configuration may go on with these settings: model and
 * tokenizer must be the same. If not, the sentence names what differs. */
bool settings_agree(const Settings *settings, const char *config, const char *path,
                    Error *error);

/* Where they are not given (0, or the 1 that a preset gives), as many accumulators as the run with
 * this configuration has; without one (NULL) or if it does not say, what a run begins with. */
bool settings_accumulators(Settings *settings, const char *config, const char *path,
                           Error *error);

/* What a side's vocabulary, or the joint one (TARGET), is learned with. */
TokenizerSettings settings_tokenizer(const Settings *settings, CorpusSide side);

#endif
