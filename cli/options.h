/* The command line of one command: a table of options, their values as typed, and checks of those values.
 *
 * Rows are those of apps (app.h), so that an app's options and the tool's own go through the same code. A row whose
 * `value` is NULL or "" is a flag. Functions that return int return 0, or 2 after one line on standard error. */
#ifndef BALLAST_CLI_OPTIONS_H
#define BALLAST_CLI_OPTIONS_H

#include "../apps/common/app.h"

#define OPTIONS_MAX 64

typedef struct options {
    const char *command; /* "run", for messages */
    unsigned count;
    const app_option *row[OPTIONS_MAX];
    const char *typed[OPTIONS_MAX]; /* NULL until given */
} options;

void options_add(options *set, const app_option *rows); /* rows end with a NULL name */
bool options_is(const char *word);                      /* begins like an option */

/* Takes the option at argv[*at], and its value if it has one: `--name value` or `--name=value`. Moves *at past them. */
int options_take(options *set, char **argv, int *at);

/* All words of a command that takes options and at most one other word: *word, NULL if there is none. `accepted`
 * is printed when there are two. */
int options_parse(options *set, int argc, char **argv, const char *accepted, const char **word);

bool options_given(const options *set, const char *name);
const char *options_text(const options *set, const char *name); /* as typed, else the default; never NULL */
/* The values of rows that were added, in their order: "1" for a flag that was given. */
void options_values(const options *set, const app_option *rows, const char **values);
void options_help(const app_option *rows); /* to standard output */

/* ---- checked values; what was not given and has no default leaves *value alone ---- */

int option_whole(const options *set, const char *name, uint64_t from, uint64_t to, uint64_t *value);
int option_seconds(const options *set, const char *name, double *value);
int option_choice(const options *set, const char *name, const char *const *choices, int *index); /* NULL ends choices */
int option_device(const options *set, const char **device);                                      /* of --device */
int option_scheduler(const options *set, const char **scheduler);                                /* of --scheduler */

#define DEVICES_ACCEPTED "auto, cpu, cuda, cuda:N, sim"

const char *device_target(const char *device); /* "cpu", "cuda" or "sim" for a device that option_device let pass */
/* NULL after a line that begins with `where` ("--app ", "") and lists the apps; a NULL name is a missing one. */
const app *known_app(const char *where, const char *name);
const char *queue_kind(int kind);            /* "fifo" and so on for BL_QUEUE_KIND_FIFO and so on */
int unknown_scheduler(const char *name);     /* 2 after a line that says which half of POLICY:QUEUE is wrong */
const char *without_alias(const char *name); /* the complete name for one of the papers' names, else the name itself */

/* ---- the commands: argv[0] is the first word after the command; they return the exit status ---- */

int command_list(int argc, char **argv);
int command_run(int argc, char **argv);
int command_bench(int argc, char **argv);
int command_play(int argc, char **argv);
int command_report(int argc, char **argv);
int command_verify(int argc, char **argv);
int verify_litmus(bool cuda, double seconds, bool wants_json); /* verify --litmus */

#endif
