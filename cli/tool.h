/* The tool and its commands as data: --help, the manual page and the completions all print these. */
#ifndef BALLAST_CLI_TOOL_H
#define BALLAST_CLI_TOOL_H

#include "options.h"

typedef struct command {
    const char *name;
    const char *text;  /* one line about it */
    const char *usage; /* what follows its name: "[SUITE] [options]"; "..." if the words may be several */
    const char *about; /* one paragraph, in lines for a terminal */
    const app_option *options;
    /* The words it accepts: word i and a line about it, which may be NULL; NULL past the end. A NULL function: none, or
     * a folder if the usage begins with DIR. */
    const char *(*word_at)(unsigned i, const char **text);
    const char *words;                                 /* their heading in --help; NULL: not listed there */
    const app_option *(*options_of)(const char *word); /* options that a word adds; NULL function: none */
    int (*run)(int argc, char **argv); /* argv[0] is the first word after the command; the exit status */
} command;

extern const command list_command, run_command, bench_command, play_command, report_command, soak_command,
    verify_command;

typedef struct tool {
    const char *text;
    const app_option *options;
    const app_option *environment;  /* variables, and the values that they take */
    const app_option *statuses;     /* exit statuses */
    const command *const *commands; /* NULL ends them */
} tool;

/* All of them print to standard output and return STATUS_OK. */
int tool_help(const tool *t);
int command_help(const command *c);
int print_manual(const tool *t); /* for man */
int print_bash_completion(const tool *t);
int print_zsh_completion(const tool *t);

/* ---- the value of an option, as its row describes it ---- */

typedef enum value_kind {
    VALUE_NONE,  /* a flag */
    VALUE_FREE,  /* a number or a name that only its reader knows */
    VALUE_WORDS, /* one of value_word */
    VALUE_LIST,  /* some of them, between commas */
    VALUE_FILE,
    VALUE_FOLDER
} value_kind;

value_kind value_kind_of(const app_option *row);
/* Word i, or NULL past the end; valid until the next call. */
const char *value_word(const app_option *row, unsigned i);

#endif
