/* command.h -- what the two programs are called here: ./train and ./translate as make builds them,
 * qkv-train and qkv-translate once they are installed, and in what the library says. */
#ifndef COMMANDS_COMMAND_H
#define COMMANDS_COMMAND_H

/* This program as it was called, without its folder: before its errors, and in its usage. */
const char *command_name(void);

/* What a person types to call them. */
const char *command_train(void);
const char *command_translate(void);

#endif
