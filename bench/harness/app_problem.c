#include "app_problem.h"

#include "data.h"

#include <stdlib.h>
#include <string.h>

enum { VALUES_MAX = 32, VALUE_SIZE = 512 };

typedef struct app_values {
    const char *value[VALUES_MAX];
    char text[VALUES_MAX][VALUE_SIZE];
} app_values;

static bool set_value(app_values *values, unsigned i, const char *text, app_error *error) {
    values->value[i] = values->text[i];
    return bench_data_path(values->text[i], VALUE_SIZE, text, strlen(text), error->text);
}

static bool set_option(app_values *values, const app *chosen, const char *name, const char *text, app_error *error) {
    for (unsigned i = 0; chosen->options[i].name && i < VALUES_MAX; i++)
        if (strcmp(chosen->options[i].name, name) == 0)
            return set_value(values, i, text ? text : "yes", error);
    snprintf(error->text, sizeof error->text, "%s: not an option of %s in this build", name, chosen->name);
    return false;
}

static bool read_options(app_values *values, const app *chosen, const char *options, app_error *error) {
    char text[APP_OPTIONS_SIZE];
    for (unsigned i = 0; chosen->options[i].name && i < VALUES_MAX; i++)
        values->value[i] = chosen->options[i].initial;
    snprintf(text, sizeof text, "%s", options);
    for (char *name = strtok(text, " "); name; name = strtok(NULL, " "))
        if (!set_option(values, chosen, name, strtok(NULL, " "), error))
            return false;
    return true;
}

static void close_one(app_problem *p) {
    if (p->problem)
        p->app->close(p->problem);
    memset(p, 0, sizeof *p);
}

static app_problem *place_for(app_problems *all, const app *chosen, const char *options) {
    app_problem *oldest = &all->kept[0];
    for (unsigned i = 0; i < APP_PROBLEMS; i++) {
        app_problem *p = &all->kept[i];
        if (p->problem && p->app == chosen && strcmp(p->options, options) == 0)
            return p;
        if (p->used < oldest->used)
            oldest = p;
    }
    close_one(oldest);
    return oldest;
}

void *app_problem_get(app_problems *all, const app *chosen, const char *options, app_error *error) {
    enum { SEED = 1 };
    app_problem *p = place_for(all, chosen, options);
    app_values *values = p->problem ? NULL : malloc(sizeof *values);
    p->used = ++all->uses;
    if (p->problem)
        return p->problem;
    p->app = chosen;
    snprintf(p->options, sizeof p->options, "%s", options);
    if (!values || !read_options(values, chosen, options, error) ||
        chosen->open(&p->problem, values->value, SEED, error) != 0)
        p->problem = NULL;
    free(values);
    return p->problem;
}

void app_problems_close(app_problems *all) {
    for (unsigned i = 0; i < APP_PROBLEMS; i++)
        close_one(&all->kept[i]);
}
