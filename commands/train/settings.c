/* settings.c -- the options of ./train; see settings.h. */
#include "commands/train/settings.h"

#include "base/file.h"
#include "data/text.h"
#include "inference/bundle.h"
#include "inference/marian.h"
#include "model/checkpoint.h"
#include "scores/tokenization.h"
#include "training/distributed.h"
#include "training/trainer.h"

#include <libgen.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const VOCABULARIES[] = {"joint", "separate", NULL};
static const char *const PART_NAMES[] = {"encoder", "decoder", "embeddings", NULL};

// clang-format off
#define FIELD(name) offsetof(RunConfig, name)
static const Option run_options[] = {
    {"preset", OPTION_CHOICE, FIELD(preset), 0, 0, preset_names, "NAME",
     "defaults for the options below, listed at the end; auto: chosen from the text, or toy for "
     "the built-in corpus", OPTION_COMMON},
    {"config", OPTION_TEXT, FIELD(config), 0, 0, NULL, "FILE",
     "read options from a config.json of another run; files that are named take the place of its files",
     0},
    {"output", OPTION_TEXT, FIELD(output), 0, 0, NULL, "DIR",
     "folder of the run; default: checkpoints/<preset>. A run that is in it is resumed",
     OPTION_COMMON},
    {"threads", OPTION_INT, FIELD(threads), 0, 1024, NULL, NULL,
     "number of threads; 0: one for each processor. The result has the same bits for any number",
     OPTION_COMMON},
    {"time", OPTION_TEXT, FIELD(time), 0, 0, NULL, "TIME",
     "make the best model that this machine can in a time: 90s, 30m, 2h; a resumed run keeps the "
     "updates that it began with", OPTION_COMMON},
    {"watch", OPTION_TEXT, FIELD(watch), 0, 0, NULL, "TEXT",
     "record the attention of a sentence, or of SENTENCE ||| TRANSLATION, as an animation, "
     "watch.png; default: a sentence of the toy corpus, if that is used", 0},
    {"dry-run", OPTION_FLAG, FIELD(dry_run), 0, 0, NULL, NULL,
     "report on corpus, model, memory and time, and exit", OPTION_COMMON},
    {"force", OPTION_FLAG, FIELD(force), 0, 0, NULL, NULL,
     "train although the sides of the corpus do not seem to go together", OPTION_EXPERT},
    {"quiet", OPTION_FLAG, FIELD(quiet), 0, 0, NULL, NULL, "print errors only",
     OPTION_COMMON | OPTION_LETTER},
    {"h", OPTION_FLAG, FIELD(short_help), 0, 0, NULL, NULL, "print the most used options", 0},
    {"help", OPTION_FLAG, FIELD(help), 0, 0, NULL, NULL, "print all options", OPTION_COMMON},
    {"version", OPTION_FLAG, FIELD(version), 0, 0, NULL, NULL, "print the version", OPTION_LETTER},
};
#undef FIELD
#define FIELD(name) offsetof(DataConfig, name)
static const Option data_options[] = {
    {"train-source", OPTION_LIST, FIELD(train.source), 0, 0, NULL, "FILE",
     "source sentences, one per line, plain text or .gz", OPTION_COMMON},
    {"train-target", OPTION_LIST, FIELD(train.target), 0, 0, NULL, "FILE",
     "their translations, line by line", OPTION_COMMON},
    {"train-tsv", OPTION_LIST, FIELD(train.tsv), 0, 0, NULL, "FILE",
     "source and target in one file: separated by a TAB, CSV, or a TMX", 0},
    {"columns", OPTION_TEXT, FIELD(columns), 0, 0, NULL, "S,T",
     "with --train-tsv or --valid-tsv: the columns of source and target, or languages of a TMX, such "
     "as en,fr; default: 1,2", 0},
    {"valid-source", OPTION_LIST, FIELD(valid.source), 0, 0, NULL, "FILE",
     "source sentences for validation", OPTION_COMMON},
    {"valid-target", OPTION_LIST, FIELD(valid.target), 0, 0, NULL, "FILE",
     "their translations", OPTION_COMMON},
    {"valid-tsv", OPTION_LIST, FIELD(valid.tsv), 0, 0, NULL, "FILE",
     "source and target in one file: separated by a TAB, CSV, or a TMX", 0},
    {"valid-split", OPTION_INT, FIELD(valid_split), 0, 1000000, NULL, NULL,
     "without validation files: hold out N training pairs; 0: a tenth, at most 500", 0},
    {"weight", OPTION_LIST, FIELD(weight), 0, 0, NULL, "N",
     "take each pair of the first corpus N times; give it again for the second, …, corpora in two files "
     "before tables; default: 1", 0},
    {"tag", OPTION_TEXT, FIELD(tag), 0, 0, NULL, "PATTERN",
     "a first word of a source sentence that matches this, with * and ?, is a tag, such as the language "
     "to translate to: one token; default: >>*<<", 0},
    {"invalid", OPTION_CHOICE, FIELD(invalid), 0, 0, text_invalid_names, NULL,
     "a line that is not valid UTF-8: stop, or replace each invalid byte by U+FFFD", 0},
    {"bleu-tokenize", OPTION_CHOICE, FIELD(bleu_tokenize), 0, 0, tokenization_names, NULL,
     "tokenization of the validation's BLEU, as sacrebleu names it; char for languages without "
     "spaces", 0},
    {"tokenizer", OPTION_CHOICE, FIELD(learn.type), 0, 0, tokenizer_type_names, NULL,
     "type of the SentencePiece tokenizer, learned from the training text", OPTION_COMMON},
    {"vocabulary", OPTION_CHOICE, FIELD(vocabulary), 0, 0, VOCABULARIES, NULL,
     "one vocabulary for both languages, or one for each", 0},
    {"vocab-size", OPTION_INT, FIELD(learn.vocab_size), 8, 1000000, NULL, NULL,
     "maximum size of the vocabulary, or of each of two", 0},
    {"tokenizer-model", OPTION_LIST, FIELD(tokenizer_model), 0, 0, NULL, "FILE",
     "use this SentencePiece model instead of learning one; give it twice, source and target, for "
     "separate vocabularies", 0},
    {"character-coverage", OPTION_REAL, FIELD(learn.coverage), 0, 1, NULL, NULL,
     "share of the text's characters that get a token, 0.98 to 1; 0: 1 for word and char, else "
     "0.9995 or more, so that all characters do that occur 5 times", OPTION_EXPERT},
    {"normalization", OPTION_CHOICE, FIELD(learn.normalization), 0, 0, tokenizer_normalizations, NULL,
     "Unicode normalization before tokenization; _cf folds case; text: nmt_nfkc, but what would "
     "change a number or a letter stays, and what is invisible goes", OPTION_EXPERT},
    {"fold-case", OPTION_FLAG, FIELD(learn.lowercase), 0, 0, NULL, NULL,
     "fold the case of source and target: the normalization with _cf", OPTION_COMMON},
    {"byte-fallback", OPTION_FLAG, FIELD(learn.byte_fallback), 0, 0, NULL, NULL,
     "encode characters without a token as bytes (unigram and bpe)", 0},
    {.name = "lowercase", .help = "false", .flags = OPTION_REMOVED},
    {.name = "source-vocab-size", .help = "0", .flags = OPTION_REMOVED},
    {.name = "target-vocab-size", .help = "0", .flags = OPTION_REMOVED},
    {.name = "subword-dropout", .help = "0", .flags = OPTION_REMOVED},
    {.name = "subword-alpha", .help = "0", .flags = OPTION_REMOVED},
};
#undef FIELD
#define FIELD(name) offsetof(FineTuning, name)
static const Option fine_tuning_options[] = {
    {"init", OPTION_TEXT, FIELD(init), 0, 0, NULL, "MODEL",
     "begin from the weights, the vocabulary and the shape of a model: a file, or the folder of "
     "another run", 0},
    {"replay", OPTION_FLAG, FIELD(replay), 0, 0, NULL, NULL,
     "with --init FOLDER: learn also from the text that this run was trained on", 0},
    {"extend-vocabulary", OPTION_INT, FIELD(extend_vocabulary), 0, 1000000, NULL, "N",
     "with --init: add up to N subwords of the new text that the vocabulary lacks (bpe and unigram), "
     "first the characters", 0},
    {"freeze", OPTION_LIST, FIELD(freeze), 0, 0, NULL, "PART",
     "do not change encoder, decoder (with the output layer) or embeddings; with --tying all the "
     "embedding of source and target is also the output layer", 0},
    {"teacher", OPTION_LIST, FIELD(teacher), 0, 0, NULL, "MODEL",
     "learn also what a model with the same vocabulary would say to each word (knowledge "
     "distillation); several are averaged", 0},
};
#undef FIELD

// clang-format on
#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

void settings_defaults(Settings *s)
{
    *s = (Settings){.run = {.preset = PRESET_AUTO},
                    .data.learn = {.type = TOKENIZER_BPE, .vocab_size = 10000},
                    .model = {.d_model = 128,
                              .heads = 4,
                              .ffn = 256,
                              .encoder_layers = 4,
                              .decoder_layers = 4,
                              .max_length = 256,
                              .attention_score = SCORE_SCALED_DOT,
                              .output_bias = true},
                    .training = training_defaults()};
    const OptionGroup groups[] = {
        {"The run", NULL, run_options, COUNT(run_options), &s->run},
        {"The corpus", "data", data_options, COUNT(data_options), &s->data},
        {"The model", "model", model_options, model_option_count, &s->model},
        {"Training", "training", training_options, training_option_count, &s->training},
        {"Fine-tuning and distillation", "fine_tuning", fine_tuning_options,
         COUNT(fine_tuning_options), &s->fine_tuning}};
    memcpy(s->groups, groups, sizeof groups);
}

void settings_documented(Settings *s)
{
    settings_defaults(s);
    preset_apply(s, PRESET_TINY, NULL);
}

static bool toy_corpus(DataConfig *data, Error *error)
{
    StringList *const list[] = {&data->train.source, &data->train.target, &data->valid.source,
                                &data->valid.target};
    static const char *const name[] = {"train.en.gz", "train.fr.gz", "valid.en", "valid.fr"};
    char path[PATH_MAX];
    bool valid = data->valid.source.count + data->valid.tsv.count == 0;
    for (int i = 0; i < (valid ? COUNT(name) : 2); i++) {
        if (!file_of_toy(path, sizeof path, name[i]))
            return error_set(error,
                             "the toy corpus (%s) is neither in data/toy, of this folder or of "
                             "the program's, nor in ../share/qkv/toy of the program's: name a "
                             "corpus with --train-source and --train-target",
                             name[i]);
        if (!strings_add(list[i], path, error)) return false;
    }
    return true;
}

static bool check_vocabulary(const Settings *s, Error *error)
{
    const DataConfig *d = &s->data;
    bool separate = d->vocabulary == VOCABULARY_SEPARATE;
    int models = d->tokenizer_model.count;
    if (separate && s->model.tying == TYING_ALL)
        return error_set(error,
                         "--vocabulary separate has no embedding that both languages could "
                         "share, as --tying all does: give --tying decoder or none with it");
    if (separate && s->training.both_directions > 0)
        return error_set(error,
                         "--vocabulary separate has no tokens that both languages could share, "
                         "as --both-directions learns them: leave one out");
    if (models && models != (separate ? 2 : 1))
        return error_set(error,
                         "--tokenizer-model names %d files: it takes one for --vocabulary "
                         "joint, and two, source and target, for separate",
                         models);
    ModelConfig model = s->model;
    model.vocab = models ? 8 : d->learn.vocab_size;
    model.source_vocab = separate ? model.vocab : 0;
    return config_check(&model, error);
}

/* s->train or s->valid (=) what the options name: the pairs of files, then those with columns. */
static bool list_files(Settings *s, bool valid, Error *error)
{
    const DataConfig *data = &s->data;
    const CorpusNames *names = valid ? &data->valid : &data->train;
    const char *name = valid ? "valid" : "train";
    CorpusFiles *files = valid ? &s->valid : &s->train;
    int pairs = names->source.count, count = pairs + names->tsv.count;
    if (pairs != names->target.count)
        return error_set(error,
                         "--%s-source names %d files but --%s-target %d: they go in pairs",
                         name, pairs, name, names->target.count);
    *files = (CorpusFiles){calloc((size_t)count + 1, sizeof *files->file), count};
    if (!files->file) return error_memory(error, "for the names of files");
    int end = 0, column[SIDES] = {1, 2};
    const char *columns = data->columns;
    bool languages = columns && isalpha((unsigned char)*columns);
    if (languages)
        sscanf(columns, "%*1[A-Za-z]%*34[A-Za-z0-9_-],%*1[A-Za-z]%*34[A-Za-z0-9_-]%n", &end);
    else if (columns) sscanf(columns, "%5d,%5d%n", &column[0], &column[1], &end);
    if (columns &&
        (!end || columns[end] || column[0] < 1 || column[1] < 1 || column[0] == column[1]))
        return error_set(
            error,
            "--columns takes the numbers of two columns, such as 2,4, or two languages "
            "of a TMX, such as en,fr, not '%s'",
            columns);
    for (int i = 0; i < count; i++)
        files->file[i] = (CorpusFile){.source = i < pairs ? names->source.item[i]
                                                          : names->tsv.item[i - pairs],
                                      .target = i < pairs ? names->target.item[i] : NULL,
                                      .invalid = data->invalid,
                                      .column = {column[SOURCE], column[TARGET]},
                                      .languages = languages ? columns : NULL};
    for (int i = 0; i < data->weight.count && !valid; i++) {
        int times, length = 0;
        const char *weight = data->weight.item[i];
        if (i >= count || sscanf(weight, "%4d%n", &times, &length) != 1 || weight[length] ||
            times < 1)
            return error_set(error,
                             "--weight takes a number from 1 to 9999 for each corpus: '%s' is "
                             "number %d of %d",
                             weight, i + 1, count);
        files->file[i].times = times;
    }
    return true;
}

/* The number of files that are standard input. */
static int dash_count(const Settings *s)
{
    int count = s->run.config && !strcmp(s->run.config, "-");
    for (OptionPlace p = {0}; options_next(&p, s->groups, SETTINGS_GROUPS);) {
        const void *field = (const char *)p.group->values + p.option->offset;
        const StringList *list = p.option->kind == OPTION_LIST ? field : &(StringList){0};
        for (int i = 0; i < list->count; i++) count += !strcmp(list->item[i], "-");
    }
    return count;
}

/* s->frozen (=) the parts that --freeze names. */
static bool find_frozen(Settings *s, Error *error)
{
    static const Option part = {.kind = OPTION_CHOICE, .choices = PART_NAMES};
    const StringList *list = &s->fine_tuning.freeze;
    s->frozen = 0;
    for (int i = 0; i < list->count; i++)
        for (const char *at = list->item[i]; *at; at += *at == ',') {
            char name[32];
            int length = (int)strcspn(at, ","), p;
            snprintf(name, sizeof name, "%.*s", length, at);
            if (!option_store(&part, &p, "--freeze", name, error)) return false;
            s->frozen |= 1u << p;
            at += length;
        }
    return s->frozen != PART_ALL ||
           error_set(error, "--freeze encoder,decoder,embeddings leaves nothing to train: "
                            "leave one of them out");
}

/* s->seconds (=) what --time gives. */
static bool read_time(Settings *s, Error *error)
{
    static const double UNIT[] = {['s'] = 1, ['m'] = 60, ['h'] = 3600};
    const char *text = s->run.time;
    char *end;
    if (!text) return true;
    double number = strtod(text, &end);
    unsigned char unit = (unsigned char)*end;
    s->seconds = *end && !end[1] && unit <= 's' ? number * UNIT[unit] : 0;
    return (s->automatic && s->seconds >= 1 && s->seconds <= 1e7) ||
           error_set(
               error,
               s->automatic
                   ? "--time takes a number with its unit, such as 90s, 30m or 2h, not '%s'"
                   : "--time %s goes with --preset auto and a corpus of your own alone",
               text);
}

static bool check(const Settings *s, Error *error)
{
    const TrainingConfig *t = &s->training;
    if (dash_count(s) > 1)
        return error_set(error, "only one of the files can be -, standard input");
    if (t->best != BEST_LOSS && !t->valid_translations)
        return error_set(error, "--best bleu and --best chrf are of translations: give a "
                                "--valid-translations of at least 1");
    if (t->accumulators == 1)
        return error_set(error, "--accumulators takes 0, or a number from 2 on, not 1");
    if (t->r_drop > 0 && t->dropout == 0 && t->attention_dropout == 0 &&
        t->activation_dropout == 0)
        return error_set(error, "--r-drop compares two passes with different dropout, but "
                                "there is no dropout: give a --dropout above 0");
    return check_vocabulary(s, error);
}

/* Forgets the files of a corpus that `config` names, if the command line names any. */
static void forget_files(Settings *s, CorpusNames *names, const char *source, const char *tsv)
{
    const Given *g = &s->given;
    if (!options_find_text(s->groups, SETTINGS_GROUPS, g->argc, g->argv, source) &&
        !options_find_text(s->groups, SETTINGS_GROUPS, g->argc, g->argv, tsv))
        return;
    strings_free(&names->source), strings_free(&names->target), strings_free(&names->tsv);
    if (names == &s->data.train) strings_free(&s->data.weight);
}

static bool apply_given(Settings *s, Error *error)
{
    const Given *given = &s->given;
    if (given->text && !options_from_json(s->groups, SETTINGS_GROUPS, given->text,
                                          given->config, false, error))
        return false;
    forget_files(s, &s->data.train, "train-source", "train-tsv");
    forget_files(s, &s->data.valid, "valid-source", "valid-tsv");
    return options_parse(s->groups, SETTINGS_GROUPS, given->argc, given->argv, NULL, error);
}

static void take_network(Settings *to, const Settings *from)
{
    to->data.vocabulary = from->data.vocabulary;
    to->data.learn = from->data.learn;
    to->model = from->model;
}

static void take_choices(Settings *to, const Settings *from)
{
    take_network(to, from);
    to->data.bleu_tokenize = from->data.bleu_tokenize;
    to->training = from->training;
}

/* Whether an option that is no text and no list differs in two structs. */
static bool differs(const Option *o, const void *a, const void *b)
{
    static const size_t size[] = {[OPTION_FLAG] = sizeof(bool),
                                  [OPTION_INT] = sizeof(int),
                                  [OPTION_UINT64] = sizeof(uint64_t),
                                  [OPTION_REAL] = sizeof(double),
                                  [OPTION_CHOICE] = sizeof(int)};
    return memcmp((const char *)a + o->offset, (const char *)b + o->offset, size[o->kind]);
}

/* The first option that differs of those that define tokenizer (group 1, from the field at
 * `first` on) and model (group 2): a flag, an integer or a choice; a real number only if `first`
 * is not 0, as its default depends on the version. NULL if there is none. */
static const Option *difference(const Settings *a, const Settings *b, size_t first)
{
    for (int group = 1; group <= 2; group++)
        for (OptionPlace p = {0}; options_next(&p, &a->groups[group], 1);) {
            const Option *o = p.option;
            if ((group > 1 || o->offset >= first) && (o->kind != OPTION_REAL || first) &&
                differs(o, a->groups[group].values, b->groups[group].values))
                return o;
        }
    return NULL;
}

/* Takes shape and vocabulary of --init's model, which no given option may contradict. Without
 * learned positions the model has no longest sentence. */
static bool take_shape(Settings *s, Settings *model, Error *error)
{
    take_network(s, model);
    if (!apply_given(s, error)) return false;
    if (s->model.positions != POSITIONS_LEARNED) model->model.max_length = s->model.max_length;
    const Option *o = difference(s, model, offsetof(DataConfig, vocabulary));
    if (!o && !s->data.tokenizer_model.count) return true;
    return error_set(error, "--%s contradicts '%s', which has another one: leave it out",
                     o ? o->name : "tokenizer-model", s->init_file);
}

/* With --init: takes the shape of its model, or of the run that is in the output folder. */
static bool take_model(Settings *s, Error *error)
{
    char *path = s->init_file;
    CheckpointFile file;
    Settings model;
    if (!s->fine_tuning.init) return true;
    snprintf(path, PATH_MAX, "%s/last.safetensors", s->run.output);
    if ((access(path, F_OK) && !bundle_find(path, PATH_MAX, s->fine_tuning.init, error)) ||
        !bundle_open(&file, path, error))
        return false;
    settings_defaults(&model);
    bool good = checkpoint_has_int8(&file, NULL)
                    ? error_set(error,
                                "'%s' is quantised to int8, which cannot be trained: "
                                "give --init the model that it was made from",
                                path)
                    : options_from_json(model.groups, SETTINGS_GROUPS, file.config, path, false,
                                        error) &&
                          take_shape(s, &model, error);
    settings_free(&model);
    checkpoint_close(&file);
    return good;
}

/* Whether two texts, or NULL, are the same. */
static bool same_text(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : a == b;
}

/* Whether two are the same columns of the same files. */
static bool same_file(const CorpusFile *a, const CorpusFile *b)
{
    return same_text(a->source, b->source) && same_text(a->target, b->target) &&
           same_text(a->languages, b->languages) &&
           (a->target || !memcmp(a->column, b->column, sizeof a->column));
}

/* With --replay: adds to s->train the training files of the run that --init names, as that run read
 * them, and those that it replayed. */
static bool add_replay(Settings *s, int runs, Error *error)
{
    enum { MOST = 100 };
    char name[PATH_MAX], path[PATH_MAX + 16];
    struct stat about;
    const char *init = s->fine_tuning.init;
    if (!s->fine_tuning.replay) return true;
    if (!init || !s->data.valid.source.count + !s->data.valid.tsv.count > 1)
        return error_set(error, "--replay needs --init, the folder of a run, and a "
                                "validation text, since pairs that are held out of its text "
                                "would be known to the model");
    if (marian_is_folder(init))
        return error_set(
            error,
            "--replay reads the text of a run again, and '%s', a folder of MarianMT, "
            "does not name its text: give a text without --replay",
            init);
    if (runs > MOST)
        return error_set(error, "--replay reads the texts of %d runs at most", MOST);
    snprintf(name, sizeof name, "%s", init);
    bool is_file = !stat(init, &about) && S_ISREG(about.st_mode);
    snprintf(path, sizeof path, "%s/config.json", is_file ? dirname(name) : name);
    Settings *old = s->replay = malloc(sizeof *old);
    if (!old) return error_memory(error, "to replay a text");
    settings_defaults(old);
    old->given.text = file_read_input(path, 1 << 20, NULL, error);
    if (!old->given.text ||
        !options_from_json(old->groups, SETTINGS_GROUPS, old->given.text, path, false, error) ||
        !list_files(old, false, error) || !add_replay(old, runs + 1, error))
        return error_prefix(error, "--replay");
    int own = s->train.count, count = own + old->train.count;
    CorpusFile *file = realloc(s->train.file, (size_t)count * sizeof *file);
    if (!file) return error_memory(error, "for the names of files");
    s->train = (CorpusFiles){file, count};
    for (int i = own; i < count; i++) {
        file[i] = old->train.file[i - own];
        if (!file[i].replay) file[i].replay = init;
        const char *target = file[i].target;
        const char *pipe = file_is_pipe(file[i].source)     ? file[i].source
                           : target && file_is_pipe(target) ? target
                                                            : NULL;
        if (pipe)
            return error_set(error,
                             "the text of '%s' was read from a pipe, '%s', which --replay "
                             "cannot read again: give it with the new text, without --replay",
                             file[i].replay, pipe);
        for (int k = 0; k < own; k++)
            if (same_file(&file[k], &file[i]))
                return error_set(error,
                                 "'%s' is also the text of '%s', which --replay reads: leave "
                                 "one out, or give a new text another name",
                                 file[i].source, file[i].replay);
    }
    return true;
}

static bool apply_all(Settings *s, Error *error)
{
    // once to find out whether a corpus is named, which decides the preset
    if (!apply_given(s, error)) return false;
    if (s->run.help || s->run.short_help || s->run.version) return true;

    const CorpusNames *train = &s->data.train;
    bool corpus = train->source.count || train->target.count || train->tsv.count;
    int named = s->run.preset, preset = named;
    bool valid = s->data.valid.source.count || s->data.valid.tsv.count;
    if (!corpus && named != PRESET_TOY && valid)
        return error_set(error,
                         "validation files without a training text: give one with "
                         "--train-source and --train-target, or --preset toy for the toy "
                         "corpus");
    if (preset == PRESET_AUTO) preset = corpus ? PRESET_TINY : PRESET_TOY;
    static const char WATCH[] =
        "jane visits africa in september ||| jane visite l'afrique en septembre";
    bool good = preset_apply(s, preset, error) &&
                (corpus || (options_set(s->groups, SETTINGS_GROUPS, "watch", WATCH, error) &&
                            options_set(s->groups, SETTINGS_GROUPS, "augment", "0", error))) &&
                apply_given(s, error) && (corpus || toy_corpus(&s->data, error));
    if (!good) return false;
    if (s->data.valid_split && s->data.valid.source.count + s->data.valid.tsv.count)
        return error_set(error,
                         "--valid-split holds out training pairs where there are no validation "
                         "files, and here are some: leave it out");
    s->automatic = corpus && named == PRESET_AUTO;
    if (!s->run.output) {
        char path[64];
        snprintf(path, sizeof path, "checkpoints/%s",
                 preset_names[s->automatic ? PRESET_AUTO : preset]);
        if (!options_set(s->groups, SETTINGS_GROUPS, "output", path, error)) return false;
    }
    return find_frozen(s, error) && read_time(s, error) &&
           (distributed.rank > 0 || (take_model(s, error) && check(s, error))) &&
           list_files(s, false, error) && list_files(s, true, error) && add_replay(s, 1, error);
}

bool settings_read(Settings *s, int argc, char *const *argv, Error *error)
{
    settings_defaults(s);
    Given *given = &s->given;
    *given = (Given){.argc = argc, .argv = argv};
    given->config = options_find_text(s->groups, SETTINGS_GROUPS, argc, argv, "config");
    return (!given->config ||
            (given->text = file_read_input(given->config, 1 << 20, NULL, error))) &&
           apply_all(s, error);
}

bool settings_take(Settings *s, const Settings *chosen, Error *error)
{
    Settings given;
    settings_defaults(&given);
    given.given = s->given;
    take_choices(&given, chosen);
    bool good = apply_given(&given, error);
    if (good) take_choices(s, &given);
    options_free(given.groups, SETTINGS_GROUPS);
    return good && (distributed.rank > 0 || check(s, error));
}

void settings_free(Settings *s)
{
    options_free(s->groups, SETTINGS_GROUPS);
    free(s->given.text);
    free(s->train.file);
    free(s->valid.file);
    if (s->replay) settings_free(s->replay);
    free(s->replay);
    settings_defaults(s);
}

const char *settings_tag(const Settings *s)
{
    return s->data.tag ? s->data.tag : ">>*<<";
}

/* Names numbers, flags and choices. */
void settings_changed(char text[CHANGED_TEXT], const Settings *s)
{
    text[0] = 0;
    for (OptionPlace p = {0}; options_next(&p, &s->groups[3], 1);) {
        size_t used = strlen(text);
        if (differs(p.option, &s->training, &s->before))
            snprintf(text + used, CHANGED_TEXT - used, " --%s", p.option->name);
    }
}

/* Whether two paths, or NULL, are of one file. */
static bool same_path(const char *a, const char *b)
{
    char one[PATH_MAX], two[PATH_MAX];
    return same_text(a, b) ||
           (a && b && realpath(a, one) && realpath(b, two) && !strcmp(one, two));
}

/* Whether two lists name other files; one that is gone may have another name now. */
static bool lists_differ(const StringList *now, const StringList *then)
{
    bool other = now->count != then->count;
    for (int i = 0; i < now->count && !other; i++)
        other = !same_path(now->item[i], then->item[i]) && !access(then->item[i], F_OK);
    return other;
}

bool settings_agree(Settings *s, const char *config, const char *path, Error *error)
{
    Settings was;
    settings_defaults(&was);
    was.training.augment = -1;
    bool good = options_from_json(was.groups, SETTINGS_GROUPS, config, path, false, error) &&
                find_frozen(&was, error);
    if (was.training.augment < 0) was.training.augment = s->training.augment = 0;
    if (good && s->automatic) {
        Settings chosen = was;
        chosen.training.seed = s->training.seed;  // it has chosen what is held out
        good = settings_take(s, &chosen, error);
    }
    const StringList *tokenizers = &s->data.tokenizer_model;
    const Option *o = good ? difference(&was, s, 0) : NULL;
    const char *other =
        !same_path(was.fine_tuning.init, s->fine_tuning.init) ? "init"
        : tokenizers->count && lists_differ(tokenizers, &was.data.tokenizer_model)
            ? "tokenizer-model"
        : lists_differ(&s->fine_tuning.teacher, &was.fine_tuning.teacher) ? "teacher"
        : s->fine_tuning.extend_vocabulary != was.fine_tuning.extend_vocabulary
            ? "extend-vocabulary"
        : s->frozen != was.frozen                     ? "freeze"
        : strcmp(settings_tag(s), settings_tag(&was)) ? "tag"
        : o                                           ? o->name
                                                      : NULL;
    if (good && other)
        good = error_set(error,
                         "the run in '%s' was started with another --%s: start a new one with "
                         "another --output, or give the options of its config.json",
                         path, other);
    int *count = &s->training.accumulators, older = was.training.accumulators;
    *count = older <= 1 ? trainer_first_accumulators(*count) : *count ? *count : older;
    if (older <= 1) was.training.accumulators = *count;
    s->before = was.training;
    settings_free(&was);
    return good;
}
