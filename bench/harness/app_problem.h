/* Problems of applications, keyed by their options, kept while they are likely to be needed again, since their
 * sequential twins take long. */
#ifndef BALLAST_BENCH_APP_PROBLEM_H
#define BALLAST_BENCH_APP_PROBLEM_H

#include "common/app.h"

#include "app_grid.h"

typedef struct app_problem {
    const app *app;
    char options[APP_OPTIONS_SIZE]; /* "--particles 500k --distribution tube" */
    void *problem;
    unsigned used; /* time of the last use, counted in uses */
} app_problem;

enum { APP_PROBLEMS = 2 };
typedef struct app_problems {
    app_problem kept[APP_PROBLEMS];
    unsigned uses;
} app_problems;

/* NULL, and a line in error, if it cannot be opened. Kept until APP_PROBLEMS others have been requested. */
void *app_problem_get(app_problems *all, const app *chosen, const char *options, app_error *error);
void app_problems_close(app_problems *all);

#endif
