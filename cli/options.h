/* The command line of one command: a table of options, their values as typed, and checks of those values.
 *
 * Rows have the type that apps use (app.h), so an app's options and the tool's go through the same code. A row whose
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

/* Reads the option at argv[*at], and its value if it takes one: `--name value` or `--name=value`. Advances *at past
 * them. */
int options_take(options *set, char **argv, int *at);

/* Parses a command that takes options and at most one other word: *word, NULL if there is none. Prints `accepted` if
 * there are two. */
int options_parse(options *set, int argc, char **argv, const char *accepted, const char **word);

bool options_given(const options *set, const char *name);
const char *options_text(const options *set, const char *name); /* as typed, or else the default; never NULL */
/* The values of the added rows, in order: "1" for a flag that was given. */
void options_values(const options *set, const app_option *rows, const char **values);
void options_help(const app_option *rows); /* to standard output */

/* ---- checked values; an option that was not given and has no default leaves *value alone ---- */

int option_whole(const options *set, const char *name, uint64_t from, uint64_t to, uint64_t *value);
int option_seconds(const options *set, const char *name, double *value);
int option_choice(const options *set, const char *name, const char *const *choices, int *index); /* NULL ends choices */
int option_device(const options *set, const char **device);                                      /* of --device */
int option_scheduler(const options *set, const char **scheduler);                                /* of --scheduler */

#define DEVICES_ACCEPTED "auto, cpu, cuda, cuda:N, sim"

const char *device_target(const char *device); /* "cpu", "cuda" or "sim" for a device that option_device accepted */
int device_number(const char *device);         /* N of "cuda:N"; 0 for a name without a number */
/* If the app is unknown, prints a line that begins with `where` ("--app ", "") and lists the apps, and returns NULL. A
 * NULL name means that it is missing. */
const app *known_app(const char *where, const char *name);
const char *queue_kind(int kind);        /* "fifo" and so on for BL_QUEUE_KIND_FIFO and so on */
int unknown_scheduler(const char *name); /* prints which half of POLICY:QUEUE is wrong, and returns 2 */

struct verify_target;
int verify_litmus(const struct verify_target *target, double seconds, bool wants_json); /* verify --litmus */

#endif
