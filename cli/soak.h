/* ballast soak: random problems, each solved by children of this process that are stopped, killed and resumed.
 *
 *   soak_draw.c   what to run: problem, scheduler, sizes, and when to stop it; all from the seed and a number
 *   soak_child.c  runs one command line, stops it if that was drawn, and says how it ended
 *   soak.c        one problem from its first command line to its verified answer; adds up
 */
#ifndef BALLAST_CLI_SOAK_H
#define BALLAST_CLI_SOAK_H

#include "options.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { SOAK_STEPS = 5, SOAK_WORDS = 48, SOAK_APPS = 32, SOAK_PATH = 512 };

/* ---- what to run ---- */

typedef enum soak_stop {
    SOAK_WHOLE,  /* not at all */
    SOAK_LIMIT,  /* --time-limit and a checkpoint */
    SOAK_SIGNAL, /* SIGINT or SIGTERM, with or without a checkpoint */
    SOAK_KILL,   /* SIGKILL, with a checkpoint every few milliseconds */
    SOAK_STOPS
} soak_stop;

typedef struct soak_words {
    unsigned count;
    const char *word[SOAK_WORDS + 1]; /* NULL ends them */
    char text[4096];                  /* where the words lie */
    size_t used;
} soak_words;

/* One child: `ballast run` and these words, stopped that way. The options of checkpoints depend on what earlier steps
 * left behind, so soak.c adds them. */
typedef struct soak_step {
    soak_words words;
    soak_stop stop;
    int signal;              /* sent to it after `seconds`; 0: none */
    double seconds;          /* until it is stopped */
    double checkpoint_every; /* 0: only when it is stopped */
    bool writes_checkpoint;
} soak_step;

typedef struct soak_plan {
    unsigned app;
    const app_sample *sample;
    double far;     /* into the range of sizes: 0 to 1 */
    unsigned steps; /* the last one is not stopped */
    soak_step step[SOAK_STEPS];
    uint64_t graph; /* seed of the random graph that a word names; 0: none */
} soak_plan;

void soak_words_add(soak_words *words, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Plan `number` of `seed`, whatever was drawn before. `folder` is where files of the problem lie. */
void soak_draw(uint64_t seed, uint64_t number, const bl_device_info *device, const char *folder, soak_plan *plan);
bool soak_write_graph(const char *file, uint64_t seed, const bl_device_info *device);

/* ---- a child ---- */

typedef enum soak_end {
    SOAK_VERIFIED, /* complete, and compared with a known answer or the twin */
    SOAK_STOPPED,  /* by what was drawn */
    SOAK_FAILED,
    SOAK_ENDED_BY_USER
} soak_end;

typedef struct soak_outcome {
    soak_end end;
    bool known; /* verified: against a known answer, not the twin */
    uint64_t tasks;
    char why[512]; /* failed: one line */
} soak_outcome;

/* From now on SIGINT, SIGTERM and SIGHUP end the child under way (SOAK_ENDED_BY_USER), not this process ... */
void soak_take_signals(void);
/* ... and this tells whether one has arrived, also between children. */
bool soak_was_signalled(void);

/* Runs `tool` with the step's words, with its output in `folder`, and stops it as planned. */
void soak_child(const char *tool, const char *folder, const soak_step *step, soak_outcome *outcome);

/* ---- the whole ---- */

typedef struct soak_request {
    const char *tool; /* the program that runs: this one */
    bl_device_info device;
    double minutes;
    uint64_t seed;
} soak_request;

typedef struct soak_summary {
    uint64_t problems, runs, resumed, known, twin, tasks, stopped[SOAK_STOPS], apps[SOAK_APPS];
    double minutes;
    bool by_user;         /* ended by a signal */
    char why[512];        /* of the failure; empty: there was none */
    char commands[16384]; /* of the problem that failed or was interrupted, a line each */
    char folder[SOAK_PATH];
} soak_summary;

/* Runs until the time is over, a signal arrives or an answer is wrong. Returns 0, or 1 after a line on standard error
 * if it could not even begin. */
int soak(const soak_request *request, soak_summary *summary);

#endif
