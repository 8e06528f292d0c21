/* Shared by the comparisons with other libraries: methods that do the same work, run in turn, timed, verified and shown
 * in one table.
 *
 * A program states its contest and calls peers_main:
 *
 *     NAME [--repeats N] [--threads N] [--csv] [LOAD ...]
 *
 * Every method runs once to start threads and touch memory, and then `repeats` times, alternating with the other
 * methods, so that disturbances hit all of them. A row that has used up its time is not repeated further. If other
 * programs use the cores too, compare the fastest runs and the least CPU time. */
#ifndef BALLAST_BENCH_PEERS_H
#define BALLAST_BENCH_PEERS_H

#include "common/app.h"

enum { PEERS_ONE, PEERS_ALL, PEERS_TEAMS }; /* one thread, or all */
enum { PEERS_ON_ONE = 1 << PEERS_ONE, PEERS_ON_ALL = 1 << PEERS_ALL };
enum { PEERS_METHODS_MAX = 16, PEERS_LOADS_MAX = 8, PEERS_PROMISES_MAX = 10 };

typedef struct peers_run {
    const struct peers_method *method;
    void *work;
    int team;
    uint32_t threads;
    uint64_t peak_bytes; /* filled in by methods that know it */
    double done;         /* 1; by methods that run for a given time: how much of the load that was */
} peers_run;

typedef struct peers_method {
    const char *name;
    unsigned teams;                      /* PEERS_ON_... */
    int (*run)(peers_run *run);          /* returns a bl_status; NULL: not found when this was built */
    bool (*right)(const peers_run *run); /* verifies the result, excluded from timing */
} peers_method;

/* A ratio of medians, time `above` over time `below`, which must be at most or at least `bound`; 0: only shown. */
typedef struct peers_promise {
    const char *what;
    int above[2], below[2]; /* method, team */
    double bound;
    bool at_most;
    bool per_thread; /* the bound is per thread: multiplied by their number, or divided if `at_most` */
} peers_promise;

/* The first method is the sequential one. Names end with NULL. */
typedef struct peers_contest {
    const char *program, *load; /* its name, and the word for a load */
    const char *const *loads;   /* the defaults */
    peers_method methods[PEERS_METHODS_MAX];
    peers_promise promises[PEERS_PROMISES_MAX];
    int bound;      /* a method that limits the others: a table shows their rates as shares of its; 0: there is none */
    unsigned spins; /* methods, as bits, that are left out where threads share processors */

    uint32_t (*threads)(const char *name); /* of the team of all for this load, 0: as given; may be NULL */

    /* Creates the load `name`, for teams of these numbers of threads; NULL after a line by peers_complain. */
    void *(*open)(const char *name, const uint32_t threads[PEERS_TEAMS]);
    void (*close)(void *work);
    uint64_t (*tasks)(const void *work);
    void (*reset)(void *work);          /* before each run, excluded from timing; may be NULL */
    int (*start)(const peers_run *run); /* around each run, excluded from timing; both may be NULL */
    void (*stop)(const peers_run *run);
} peers_contest;

int peers_main(const peers_contest *contest, int argc, char **argv); /* exit status */
int peers_complain(const char *who, const char *what);               /* returns 1 */

/* For `start` and `stop`: Lace's threads look for work all the time, so they exist only while the method of that name
 * runs. */
#ifdef BENCH_LACE
int peers_lace_start(const peers_run *run);
void peers_lace_stop(const peers_run *run);
#else
#define peers_lace_start NULL
#define peers_lace_stop NULL
#endif

/* ---- threads for methods that have none ---- */

typedef struct peers_crew peers_crew;

/* The threads wait until peers_crew_run releases them; it returns when all have done their part. NULL: out of memory or
 * threads. */
peers_crew *peers_crew_start(uint32_t threads, void (*work)(void *argument, uint32_t rank), void *argument);
void peers_crew_run(peers_crew *crew);
void peers_crew_stop(peers_crew *crew); /* after a run, or NULL */

/* ---- an application of ours as one of the methods ---- */

typedef struct peers_app {
    const app *app;
    void *problem[PEERS_TEAMS];
    bl_context *context[PEERS_TEAMS];
} peers_app;

/* Returns 0, or 1 after a line; it can be closed in either case. */
int peers_app_open(peers_app *ours, const char *name, const char *option, const char *value,
                   const uint32_t threads[PEERS_TEAMS]);
int peers_app_run(const peers_app *ours, peers_run *run);
bool peers_app_right(const peers_app *ours, const peers_run *run);
void peers_app_close(peers_app *ours);

#endif
