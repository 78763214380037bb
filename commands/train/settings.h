/* settings.h -- the options of ./train; its presets, which are values of them for a size of corpus
 * (settings-presets.c); and --preset auto, what it chooses by itself, from the training text and the
 * processor. docs/results.md has the runs that these choices come from. */
#pragma once

#include "base/options.h"
#include "data/corpusreader.h"
#include "data/tokenizer.h"
#include "model/config.h"
#include "training/config.h"

enum { PRESET_TOY, PRESET_TINY, PRESET_SMALL, PRESET_BASE, PRESETS, PRESET_AUTO = PRESETS };

typedef enum { VOCABULARY_JOINT, VOCABULARY_SEPARATE } VocabularyChoice;

typedef struct CorpusNames {
    StringList source, target, tsv;  // target[i] goes with source[i]
} CorpusNames;

typedef struct DataConfig {
    CorpusNames train, valid;
    char *tag;          // a pattern (fnmatch); NULL: ">>*<<"
    StringList weight;  // how often a pair of each corpus is in the training text
    char *columns;      // of tables, "2,4"; NULL: 1 and 2
    int invalid;        // a TextInvalid
    int valid_split;    // pairs held out of the training text if no validation files are given
    int bleu_tokenize;  // a Tokenization, of the validation's BLEU
    StringList tokenizer_model;  // files of models to use instead of learning
    /* from here on: what to learn */
    int vocabulary;           // a VocabularyChoice
    TokenizerSettings learn;  // each of its tokenizers
} DataConfig;

typedef struct RunConfig {
    char *config, *output, *watch, *time;
    int preset;   // PRESET_…, the index in preset_names
    int threads;  // 0: all processors
    bool dry_run, force, quiet, short_help, help, version;
} RunConfig;

typedef struct FineTuning {
    char *init;             // a model to begin from, or NULL
    bool replay;            // also learn from its training text
    int extend_vocabulary;  // tokens to add at most
    StringList freeze;      // names of parts, also several with commas between them
    StringList teacher;     // models to learn from
} FineTuning;

/* The command line, and the text of --config's file, or NULL. */
typedef struct Given {
    const char *config;
    char *text;
    int argc;
    char *const *argv;
} Given;

enum { SETTINGS_GROUPS = 5 };

typedef struct Settings {
    RunConfig run;
    DataConfig data;
    ModelConfig model;
    TrainingConfig training;
    FineTuning fine_tuning;
    OptionGroup groups[SETTINGS_GROUPS];  // of the five above, in this order
    CorpusFiles train, valid;             // what data.train and data.valid name, and --replay's
    TrainingConfig before;                // of the run that goes on: set by settings_agree
    bool automatic;                       // --preset auto, and a corpus of one's own
    double words, pairs;       // of its training text, without copies: set by auto_choose
    double seconds;            // that --time gives; 0: no limit
    struct Settings *replay;   // of the run whose text --replay reads; or NULL
    unsigned frozen;           // what --freeze names, a sum of PART_… (model/params.h)
    char init_file[PATH_MAX];  // rank 0: the checkpoint of --init, for a new run
    Given given;               // for settings_take
} Settings;

/* Sets the defaults. groups point into settings, which must not be moved. */
void settings_defaults(Settings *settings);

/* Applies defaults, preset, the shape and vocabulary of --init's model, --config and command
 * line, in this order. A run in the output folder that began with --init takes the model's
 * place. Without a corpus: the toy corpus, preset toy; an error with validation files, unless
 * this preset is asked for. With a corpus, the default preset is auto; the
 * default output is checkpoints/<preset>. Only rank 0 reads the model and checks whether options
 * fit each other. False: wrong usage (exit status 2), or a file that cannot be read. */
bool settings_read(Settings *settings, int argc, char *const *argv, Error *error);

/* Sets vocabulary, model and training to what is chosen, but for what is given. Texts and lists,
 * which others point to, stay. */
bool settings_take(Settings *settings, const Settings *chosen, Error *error);

void settings_free(Settings *settings);

/* The pattern of tags: --tag, or the default. */
const char *settings_tag(const Settings *settings);

/* The defaults that help and man page show: those for a corpus of one's own. */
void settings_documented(Settings *settings);

/* text (=) " --learning-rate --dropout": the options of training that are not as before. */
enum { CHANGED_TEXT = 256 };
void settings_changed(char text[CHANGED_TEXT], const Settings *settings);

/* Whether a run with this configuration can be resumed with these settings: model, tokenizer, tags,
 * teachers and what is frozen must be equal. If not, the error names the option that differs.
 * If the number of accumulators is 0, sets it to that of the run, or to
 * trainer_first_accumulators if the run has fewer than two: until version 1.0 threads could share one. A run without `augment`, of an
 * earlier version, goes on with 0. Automatic settings become those of the run, but for what is
 * given. settings->before (=) the options of its training. */
bool settings_agree(Settings *settings, const char *config, const char *path, Error *error);

/* ---- presets ---- */

/* In the order of the help, then "auto"; NULL after the last. */
extern const char *const preset_names[];
extern const char *const preset_purposes[];

bool preset_apply(Settings *settings, int preset, Error *error);

/* The table of the presets' values, a line for each option. */
void presets_print(FILE *out);

/* If the settings are automatic: sets vocabulary, network and how it learns, from the text, but for
 * what is given. share: that of the pairs that are no copies. With --init, vocabulary and network
 * are the model's, and it learns at a third of the rate for a quarter of the updates. */
bool auto_choose(Settings *settings, const CorpusText *text, double share, Error *error);

/* The same for the number of updates: with --time, those that fit; 0: as long as much is gained; no
 * more than `max_epochs` has. Warm-up, moving average, validations, and whether few updates do
 * without R-Drop follow from it. */
bool auto_lengthen(Settings *settings, const CorpusReport *train, const CorpusReport *valid,
                   double fit, Error *error);

/* The work of a validation: the tokens that pass forward through the network, which does not depend on
 * the machine. An update is three passes, as going backward takes twice as long; so is a decoded token,
 * for which greedy search takes 3.1 times as long (300 sentences of Tatoeba, preset tiny, one core). */
double validation_work(const TrainingConfig *training, const CorpusReport *valid);

/* Says what was chosen, each with its reason. */
void auto_report(const Settings *settings, const CorpusReport *train);
