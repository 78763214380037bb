/* completion.c -- the option table as completion for three shells; see completion.h.
 *
 * Sources: the manuals of bash (Programmable Completion), zsh (zshcompsys, _arguments and
 * compdef) and fish (complete). */
#include "manual/completion.h"

#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 92 };

static const char SAFE[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";

/* ---- the option table ---- */

typedef enum { OFFER_NONE, OFFER_CHOICES, OFFER_FILES, OFFER_FOLDERS } Offer;

static bool takes_value(const Option *option)
{
    return option->kind != OPTION_FLAG;
}

static Offer offer_of(const Option *option)
{
    const char *argument = option->argument ? option->argument : "";
    if (option->choices) return OFFER_CHOICES;
    if (!strncmp(argument, "FILE", 4) || !strncmp(argument, "OUT", 3)) return OFFER_FILES;
    return strcmp(argument, "DIR") ? OFFER_NONE : OFFER_FOLDERS;
}

/* Whether the help shows --no-NAME: for a flag that is on by default. */
static bool shows_no(const OptionGroup *group, const Option *option)
{
    const void *field = (const char *)group->values + option->offset;
    return option->kind == OPTION_FLAG && *(const bool *)field;
}

static bool next(OptionPlace *place, const CompletedProgram *program)
{
    bool found = options_next(place, program->groups, program->count);
    assert(!found || strspn(place->option->name, SAFE) == strlen(place->option->name));
    return found;
}

static void write_choices(FILE *out, const Option *option)
{
    for (int i = 0; option->choices[i]; i++) {
        assert(strspn(option->choices[i], SAFE) == strlen(option->choices[i]));
        fprintf(out, "%s%s", i ? " " : "", option->choices[i]);
    }
}

/* "qkv_train": the name in shell functions. */
static void write_function(FILE *out, const CompletedProgram *program)
{
    for (const char *s = program->name; *s; s++) fputc(*s == '-' ? '_' : *s, out);
}

/* ---- text in quotes ---- */

/* Text for single quotes, escaped for the shell, with a backslash before each character of
 * `marked`. */
static void write_quoted(FILE *out, Shell shell, const char *text, size_t length,
                         const char *marked)
{
    for (const char *s = text; s < text + length; s++) {
        if (*s == '\'') fputs(shell == SHELL_FISH ? "\\'" : "'\\''", out);
        else fprintf(out, "%s%c", strchr(marked, *s) ? "\\" : "", *s);
    }
}

/* ---- bash ---- */

/* The names, wrapped; taken_back: the --no-NAMEs that the help does not show. */
static void bash_names(FILE *out, const CompletedProgram *program, bool taken_back)
{
    int column = WIDTH;
    for (OptionPlace p = {0}; next(&p, program);) {
        if (option_letter(p.option) && !taken_back)
            column += fprintf(out, " -%c", option_letter(p.option));
        for (int no = 0; no < 2 && p.option->name[1]; no++) {
            bool has = !no || option_can_take_back(p.option);
            bool shown = !no || shows_no(p.group, p.option);
            int length = (int)strlen(p.option->name) + (no ? 6 : 3);
            if (!has || shown == taken_back) continue;
            if (column + length > WIDTH) {
                fputs("\n       ", out);
                column = 7;
            }
            fprintf(out, " --%s%s", no ? "no-" : "", p.option->name);
            column += length;
        }
    }
}

static bool bash_write(FILE *out, const CompletedProgram *program)
{
    fprintf(out, "# bash completion of %s, made from the table of its options.\n_",
            program->name);
    write_function(out, program);
    fputs("()\n{\n"
          "    local IFS=$' \\t\\n' word=${COMP_WORDS[COMP_CWORD]}\n"
          "    local option=${COMP_WORDS[COMP_CWORD - 1]} equals='' before='' i\n"
          "    local -a offer\n"
          "    COMPREPLY=()\n"
          "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
          "        [[ ${COMP_WORDS[i]} == -- ]] && return\n"
          "    done\n"
          "    # --name=value is three words, but one where COMP_WORDBREAKS has no =.\n"
          "    if [[ $word == = ]]; then\n"
          "        equals=1 word=\n"
          "    elif [[ $option == = && $COMP_CWORD -gt 2 ]]; then\n"
          "        equals=1 option=${COMP_WORDS[COMP_CWORD - 2]}\n"
          "    elif [[ $word == --*=* ]]; then\n"
          "        equals=1 option=${word%%=*} before=${word%%=*}= word=${word#*=}\n"
          "    fi\n"
          "    case $option in\n",
          out);
    for (OptionPlace p = {0}; next(&p, program);) {
        if (!takes_value(p.option)) continue;
        fprintf(out, "    --%s) ", p.option->name);
        switch (offer_of(p.option)) {
        case OFFER_NONE: fputs("return ;;\n", out); break;
        case OFFER_FILES: fputs("offer=(-f) ;;\n", out); break;
        case OFFER_FOLDERS: fputs("offer=(-d) ;;\n", out); break;
        case OFFER_CHOICES:
            fputs("offer=(-W '", out);
            write_choices(out, p.option);
            fputs("') ;;\n", out);
            break;
        }
    }
    fputs("    *)\n"
          "        [[ $equals ]] && return\n"
          "        offer=(-W '",
          out);
    bash_names(out, program, false);
    fputs("')\n"
          "        [[ $word == --no* ]] && offer[1]+='",
          out);
    bash_names(out, program, true);
    fputs("'\n"
          "        ;;\n"
          "    esac\n"
          "    [[ ${offer[0]} == -W ]] || compopt -o filenames 2>/dev/null\n"
          "    mapfile -t COMPREPLY < <(compgen \"${offer[@]}\" -- \"$word\")\n"
          "    [[ $before ]] && COMPREPLY=(\"${COMPREPLY[@]/#/$before}\")\n"
          "    return 0\n"
          "}\n"
          "complete -F _",
          out);
    write_function(out, program);
    fprintf(out,
            " %s\n"
            "[[ ${BASH_SOURCE[0]} == */completions/* ]] || complete -F _",
            program->name);
    write_function(out, program);
    fprintf(out, " ./%s\n", program->built);
    return true;
}

/* ---- zsh ---- */

/* '*--beam=[hypotheses kept at every step]:N (1 to 64; default 4):', one _arguments spec. */
static bool zsh_option(FILE *out, const OptionPlace *p)
{
    const Option *option = p->option;
    char *usage = option_usage(p->group, option), *meaning = option_meaning(p->group, option);
    bool good = usage && meaning;
    if (good) {
        const char *help = option->help ? option->help : "", *value = strchr(usage, ' ');
        const char *range = meaning + strlen(help), *what = value ? value + 1 : "";
        if (option->kind == OPTION_CHOICE && !option->argument) what = option->name;
        fprintf(out, "        '%s--%s%s[", option->kind == OPTION_LIST ? "*" : "", option->name,
                takes_value(option) ? "=" : "");
        write_quoted(out, SHELL_ZSH, help, (size_t)option_brief(option), "[]\\");
        fputc(']', out);
        if (takes_value(option)) {
            fputc(':', out);
            write_quoted(out, SHELL_ZSH, what, strlen(what), ":\\");
            write_quoted(out, SHELL_ZSH, range, strlen(range), ":\\");
            fputc(':', out);
            switch (offer_of(option)) {
            case OFFER_NONE: fputc(' ', out); break;
            case OFFER_FILES: fputs("_files", out); break;
            case OFFER_FOLDERS: fputs("_files -/", out); break;
            case OFFER_CHOICES:
                fputc('(', out);
                write_choices(out, option);
                fputc(')', out);
                break;
            }
        }
        fputs("'\n", out);
    }
    free(usage);
    free(meaning);
    return good;
}

static void zsh_letter(FILE *out, const Option *option)
{
    if (!option_letter(option)) return;
    fprintf(out, "        '-%c[", option_letter(option));
    write_quoted(out, SHELL_ZSH, option->help, (size_t)option_brief(option), "[]\\");
    fputs("]'\n", out);
}

static void zsh_no(FILE *out, const Option *option)
{
    fprintf(out, "        '--no-%s[negate --%s]'\n", option->name, option->name);
}

static bool zsh_write(FILE *out, const CompletedProgram *program)
{
    bool good = true;
    fprintf(out,
            "#compdef %s\n"
            "# zsh completion of %s, made from the table of its options.\n_",
            program->name, program->name);
    write_function(out, program);
    fputs("()\n{\n    local -a specs=(\n", out);
    for (OptionPlace p = {0}; good && next(&p, program);) {
        zsh_letter(out, p.option);
        good = !p.option->name[1] || zsh_option(out, &p);
        if (shows_no(p.group, p.option)) zsh_no(out, p.option);
    }
    if (program->arguments) fprintf(out, "        '*:%s: '\n", program->arguments);
    fputs("    )\n    [[ $PREFIX == --no* ]] && specs+=(\n", out);
    for (OptionPlace p = {0}; next(&p, program);)
        if (option_can_take_back(p.option) && !shows_no(p.group, p.option))
            zsh_no(out, p.option);
    fputs("    )\n"
          "    _arguments -S : $specs\n"
          "}\n"
          "if [[ $funcstack[1] == _",
          out);
    fprintf(out, "%s ]]; then\n    _", program->name);
    write_function(out, program);
    fputs(" \"$@\"\nelse\n    compdef _", out);
    write_function(out, program);
    fprintf(out, " %s -P '*/%s'\nfi\n", program->name, program->built);
    return good;
}

/* ---- fish ---- */

static void fish_option(FILE *out, const Option *option)
{
    fputs("complete $who", out);
    if (option_letter(option)) fprintf(out, " -s %c", option_letter(option));
    if (option->name[1]) fprintf(out, " -l %s", option->name);
    if (takes_value(option)) {
        switch (offer_of(option)) {
        case OFFER_NONE: fputs(" -x", out); break;
        case OFFER_FILES: fputs(" -r -F", out); break;
        case OFFER_FOLDERS: fputs(" -x -a $folders", out); break;
        case OFFER_CHOICES:
            fputs(" -x -a '", out);
            write_choices(out, option);
            fputc('\'', out);
            break;
        }
    }
    fputs(" -d '", out);
    const char *help = option->help ? option->help : "";
    write_quoted(out, SHELL_FISH, help, (size_t)option_brief(option), "\\");
    fputs("'\n", out);
}

static bool fish_write(FILE *out, const CompletedProgram *program)
{
    fprintf(out,
            "# fish completion of %s, made from the table of its options.\n"
            "set -l who -c %s\n"
            "string match -q '*/vendor_completions.d/*' (status filename)\n"
            "or set -a who -p '*/%s'\n"
            "set -l folders '(__fish_complete_directories "
            "(commandline -ct | string replace -r -- \"^--[^=]*=\" \"\"))'\n"
            "set -l no 'string match -q -- \"--no*\" (commandline -ct)'\n"
            "complete $who -f\n",
            program->name, program->name, program->built);
    for (OptionPlace p = {0}; next(&p, program);) {
        fish_option(out, p.option);
        if (!option_can_take_back(p.option)) continue;
        fprintf(out, "complete $who%s -l no-%s -d 'negate --%s'\n",
                shows_no(p.group, p.option) ? "" : " -n $no", p.option->name, p.option->name);
    }
    return true;
}

bool completion_write(FILE *out, Shell shell, const CompletedProgram *program)
{
    switch (shell) {
    case SHELL_BASH: return bash_write(out, program);
    case SHELL_ZSH: return zsh_write(out, program);
    case SHELL_FISH: return fish_write(out, program);
    }
    return false;
}
