/* command.h -- what the programs share: their names, ./train, ./translate and ./serve where make builds
 * them, qkv-train, … once installed; and how a perplexity is printed. */
#pragma once

#include "base/options.h"
#include "explain/picture.h"

/* The name that this program was called by, without its folder, for errors and usage. */
const char *command_name(void);

/* "./" or "qkv-": what a user types before train, translate or serve to run them. */
const char *command_prefix(void);

/* Prints "translate: …" as one line, with what is shown of the text (base/utf8.h); news: where to,
 * or NULL. */
void command_say(FILE *news, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Call it first. No file that is opened later becomes a standard stream that is closed; a standard
 * stream that does not block becomes one that does; a limit on the size of files is an error like
 * others; SIGCHLD is not ignored. Too little memory for the stack, or too few files that may be
 * open, end the program now, and too little for SentencePiece later, with a sentence and status 1. */
void command_start(void);

/* Calls the handler on a signal, unless it was ignored when the program was started (nohup). */
void command_catch(int number, void (*handler)(int));

/* Prints the usage and the options, and if brief the examples: a format, whose argument is
 * command_prefix(). */
void command_print_options(const OptionGroup *groups, int count, bool brief, const char *usage,
                           const char *examples);

/* Without --model and without a model in checkpoints/toy, its default: sets it to the toy model that comes
 * with qkv. *shipped (=) whether it did. */
bool command_find_model(bool *shipped, const StringList *model, const OptionGroup *groups,
                        int count, int argc, char *const *argv, Error *error);

/* Memory [size] of zeros that this process shares with those that command_draw starts; NULL if
 * there is none. munmap() it. */
void *command_share(size_t size);

/* Calls draw(context, …) in a child process and waits for it: Pango, fontconfig and GLib end
 * theirs when memory or threads run out. `name` is for the error. */
bool command_draw(bool (*draw)(const void *context, Error *error), const void *context,
                  const char *name, Error *error);

/* Draws a picture or a page of attention, in the format of the path, in such a child. */
bool command_draw_attention(const char *path, const PictureInput *input, const char *name,
                            Error *error);

/* Names the characters that no font has, and packages with fonts that have them; missing: or NULL. */
void command_say_missing(FILE *news, const MissingGlyphs *missing);

enum { PERPLEXITY_TEXT = 32 };

/* text (=) e^loss, "12.30"; "1.23e+18" if it is large, "above 1e+300" if no double holds it. */
const char *perplexity_text(char text[PERPLEXITY_TEXT], double loss, int decimals);
