/* options.h -- one table of options is the parser, the range check, the help text and the saved
 * configuration, so that they cannot drift apart.
 *
 * A line of the table names a field of a plain struct:
 *
 *     static const Option training_options[] = {
 *         {.name = "learning-rate", .kind = OPTION_REAL, .offset = offsetof(Training, rate),
 *          .least = 1e-8, .most = 1, .help = "the peak of the schedule"}, ...
 *
 * It is --learning-rate on the command line, learning-rate in a preset and
 * "learning_rate" in config.json. Values come from four sources, applied in this order; a later
 * one overrides:
 *
 *     1. the defaults    the struct as it was initialised
 *     2. the preset      options_set, one by one
 *     3. config.json     options_from_json
 *     4. command line    options_parse
 *
 * 2 and 3 are named on the command line; options_find_text finds them before anything is set.
 *
 * Spelling: -l, --name value, --name=value, --flag, --no-flag, and --no-name to unset a text or a
 * list. `--` ends the options; a lone `-` is an argument. Names are not abbreviated: a new
 * option could change the meaning of an abbreviation.
 *
 * The functions here return false on wrong usage (exit status 2), or if memory is short.
 * Numbers have a decimal point: no main sets LC_NUMERIC. */
#pragma once

#include "base/error.h"

/* What --version prints, and qkv.pc. */
#define QKV_VERSION "1.0"

typedef enum {
    OPTION_FLAG,    // bool
    OPTION_INT,     // int
    OPTION_UINT64,  // uint64_t, at most 2^63 - 1, which is where JSON's integers end
    OPTION_REAL,    // double, finite
    OPTION_TEXT,    // char *, an owned copy, not empty; NULL: unset
    OPTION_LIST,    // StringList: every mention adds an item
    OPTION_CHOICE   // int (or an enum): the index in choices
} OptionKind;

typedef struct StringList {
    char **item;  // [count], owned
    int count;
} StringList;

enum {
    OPTION_EXPERT = 1,  // in the last section of the help
    OPTION_COMMON = 2,  // in the short help
    OPTION_LETTER = 4,  // of a flag: its first letter is a short form, -q for --quiet
    /* Of an earlier version: only options_from_json knows it; its value must be what `help` says
     * in JSON, unless that is NULL, and is not stored. */
    OPTION_REMOVED = 8
};

typedef struct Option {
    const char *name;  // "learning-rate"; of one letter, "h": it is -h
    OptionKind kind;
    size_t offset;               // of the field in the group's values
    double least, most;          // of a number, both included; no limit if both are 0
    const char *const *choices;  // of OPTION_CHOICE, ended by NULL
    const char *argument;        // "FILE" in the help; NULL: N, X, TEXT or the choices
    const char *help;            // a phrase; range and default are added to it. One that begins
                                 // "with --explain or --by-hand: " is a rule, too: one of
                                 // these flags, texts or lists must be set
    unsigned flags;              // OPTION_EXPERT, …, or 0
} Option;

typedef struct OptionGroup {
    const char *title;      // above its options in the help
    const char *key;        // its object in config.json; NULL: not part of it
    const Option *options;  // [count]
    int count;
    void *values;  // the struct that the offsets are in
} OptionGroup;

/* Reads a command line into the values; skips argv[0], the program. Arguments that are not
 * options are added to `positional`, or are errors if that is NULL. A list that is mentioned
 * loses the items of earlier sources. */
bool options_parse(const OptionGroup *groups, int count, int argc, char *const *argv,
                   StringList *positional, Error *error);

/* The text of an option's last mention on the command line, "true" or "false" for a flag; NULL
 * if it is not mentioned, or unset. Sets and checks nothing. */
const char *options_find_text(const OptionGroup *groups, int count, int argc, char *const *argv,
                              const char *name);

/* Sets one option with the checks of the command line: a flag to "true" or "false", a list to
 * this one item. Errors name it in back quotes. */
bool options_set(const OptionGroup *groups, int count, const char *name, const char *text,
                 Error *error);

/* Sets the field of one line of a table; `label` is its name in errors ("--heads",
 * "model.heads"). Adds the text to a list. A NULL text unsets a text and empties a list. */
bool option_store(const Option *option, void *values, const char *label, const char *text,
                  Error *error);

/* The range of a number in words, "1e-08 to 1" or "0 up"; false if it has no limit. */
enum { RANGE_TEXT = 80 };
bool option_range(char text[RANGE_TEXT], const Option *option);

/* Walks through the options in the order of the help: group by group, then those for experts.
 *
 *     for (OptionPlace p = {0}; options_next(&p, groups, count);) … p.option … */
typedef struct OptionPlace {
    const OptionGroup *group;
    const Option *option;
    const char *title;  // of the section
    bool begins;        // whether the option is the first of its section
    int pass, g, i;     // private
} OptionPlace;
bool options_next(OptionPlace *place, const OptionGroup *groups, int count);

/* The help of all groups, with the current values as defaults: call it before setting anything.
 * Brief: only the common options. For free(); NULL if memory is short. */
char *options_help(const OptionGroup *groups, int count, bool brief);

/* The two columns of a line of the help: "--heads N", and "attention heads (1 to 64; default 8)", or
 * of the short help its first phrase. For free(), even if memory is short: false. */
bool option_columns(char **usage, char **meaning, const OptionGroup *group,
                    const Option *option, bool brief);

/* The letter of its short form, or 0; the length of "with --sample: " before its help, or 0. */
char option_letter(const Option *option);
int option_with(const Option *option);

/* The configuration as JSON, {"model":{"d_model":256,...},"training":{...}}, indented, with a
 * newline at its end. The same values give the same text. shared: for a file that is given away,
 * names of files without their folders. For free(); NULL if memory is short. */
char *options_to_json(const OptionGroup *groups, int count, bool shared);

/* Sets what the JSON text mentions. `source` is its name in errors. Unknown options, wrong
 * types and numbers out of range are errors; so are objects of no group, unless `partly` (a
 * program that wants only "model" from a checkpoint). */
bool options_from_json(const OptionGroup *groups, int count, const char *text,
                       const char *source, bool partly, Error *error);

/* Rewrites the names in back quotes of an error (error.h) for the command line: `max-length`
 * becomes --max-length if a table has that option, and max-length if none has. `no-NAME` and
 * `name value` are known, too. */
void options_name_in_error(const OptionGroup *groups, int count, Error *error);

/* Frees the texts and lists among the values. */
void options_free(const OptionGroup *groups, int count);

bool strings_add(StringList *list, const char *text, Error *error);  // adds a copy
void strings_free(StringList *list);
