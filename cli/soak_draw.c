/* What ballast soak runs next. Every plan has its own random numbers, so that it does not depend on timing. */
#include "soak.h"

#include <ballast/parts/random.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- random numbers ---- */

static uint32_t below(uint64_t *state, uint32_t bound) {
    return (uint32_t)((bl__splitmix64(state) >> 32) * bound >> 32);
}

static bool one_in(uint64_t *state, uint32_t n) { return below(state, n) == 0; }

static double fraction(uint64_t *state) { return (double)(bl__splitmix64(state) >> 11) * 0x1p-53; }

/* Every order of magnitude is equally likely. */
static double between(uint64_t *state, double from, double to) { return from * pow(to / from, fraction(state)); }

/* ---- words ---- */

void soak_words_add(soak_words *words, const char *format, ...) {
    size_t room = sizeof words->text - words->used;
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(words->text + words->used, room, format, arguments);
    va_end(arguments);
    if (length < 0 || (size_t)length >= room || words->count == SOAK_WORDS)
        abort(); /* a sample of an app is longer than any command line should be */
    words->word[words->count++] = words->text + words->used;
    words->word[words->count] = NULL;
    words->used += (size_t)length + 1;
}

/* Words lie in the struct itself. */
static void copy_words(soak_words *to, const soak_words *from) {
    for (unsigned i = 0; i < from->count; i++)
        soak_words_add(to, "%s", from->word[i]);
}

/* ---- problems ---- */

/* How far into a range a device should go: a GPU all the way; the simulated machine runs about a million tasks/s. */
static double reach(const bl_device_info *device) {
    uint32_t traits = bl_device_traits(device->id);
    return traits & BL_DEVICE_GPU ? 1 : traits & BL_DEVICE_SIMULATED ? 0.6 : 0.85;
}

static unsigned parts(const char *text, char separator) {
    unsigned count = 1;
    for (; *text; text++)
        count += *text == separator;
    return count;
}

static void add_part(soak_words *words, const char *text, char separator, unsigned i) {
    const char separators[] = {separator, '\0'};
    while (i--)
        text += strcspn(text, separators) + 1;
    soak_words_add(words, "%.*s", (int)strcspn(text, separators), text);
}

/* Returns how far into its range the value is; 0: it has none. */
static double draw_value(uint64_t *state, double far, const char *value, soak_words *words) {
    const char *dots = strstr(value, "..");
    if (dots) {
        double from = atof(value), to = atof(dots + 2);
        far *= sqrt(fraction(state)); /* rather a large one: there is more to interrupt */
        soak_words_add(words, "%.0f", floor(from * pow((to + 0.9) / from, far)));
        return far;
    }
    if (strchr(value, '<')) {
        far *= fraction(state);
        add_part(words, value, '<', (unsigned)(far * parts(value, '<')));
        return far;
    }
    add_part(words, value, '|', below(state, parts(value, '|')));
    return 0;
}

static void draw_problem(uint64_t *state, const bl_device_info *device, const char *folder, soak_plan *plan,
                         soak_words *words) {
    unsigned apps = 0, samples = 0;
    while (app_at(apps))
        apps++;
    plan->app = below(state, apps);
    while (app_at(plan->app)->samples[samples].options)
        samples++;
    plan->sample = &app_at(plan->app)->samples[below(state, samples)];
    const char *at = plan->sample->options;
    soak_words_add(words, "%s", app_at(plan->app)->name);
    while (*at) {
        char word[256];
        int length = (int)strcspn(at, " ");
        snprintf(word, sizeof word, "%.*s", length, at);
        at += length + (at[length] == ' ');
        if (strcmp(word, "GRAPH") == 0) {
            plan->graph = bl__splitmix64(state) | 1;
            soak_words_add(words, "%s/graph.txt", folder);
        } else {
            plan->far = fmax(plan->far, draw_value(state, reach(device), word, words));
        }
    }
    soak_words_add(words, "--seed");
    soak_words_add(words, "%u", below(state, 1000000));
}

bool soak_write_graph(const char *file, uint64_t seed, const bl_device_info *device) {
    uint32_t nodes = (uint32_t)between(&seed, 2, pow(1e5, reach(device)));
    uint32_t edges = (uint32_t)(nodes * between(&seed, 0.5, 20)) + 1;
    FILE *out = fopen(file, "w");
    if (!out)
        return false;
    for (uint32_t i = 0; i < edges; i++) { /* some nodes have many edges, most have few */
        uint32_t from = (uint32_t)(nodes * pow(fraction(&seed), 3)), to = below(&seed, nodes);
        fprintf(out, "%u %u\n", from, to);
    }
    bool written = !ferror(out);
    return fclose(out) == 0 && written;
}

/* ---- how to run it ---- */

/* One of the schedulers that there is code for on the device, by any of its names. */
static const char *draw_scheduler(uint64_t *state, const soak_plan *plan, const bl_device_info *device) {
    const bl_program *whole = plan->sample->program ? plan->sample->program() : app_at(plan->app)->program();
    const bl_program *program = bl_program_part(whole, device_target(device->id));
    const char *fit[256], *alias, *name;
    unsigned count = 0;
    for (uint32_t i = 0; (name = bl_scheduler_name(i)) != NULL && count < 200; i++)
        if (bl_program_has(program, name) && !bl_device_lacks(device, name))
            fit[count++] = name;
    for (uint32_t i = 0; (alias = bl_alias_name(i, &name)) != NULL && count < 256; i++)
        if (bl_program_has(program, name) && !bl_device_lacks(device, name))
            fit[count++] = alias;
    return count == 0 || one_in(state, 5) ? "auto" : fit[below(state, count)];
}

static void draw_sizes(uint64_t *state, const bl_device_info *device, uint32_t uses, soak_words *words) {
    const bool gpu = bl_device_traits(device->id) & BL_DEVICE_GPU; /* private stacks lie in little memory there */
    if (uses & BL_USES_CAPACITY && one_in(state, 2)) {
        soak_words_add(words, "--capacity");
        soak_words_add(words, "%.0f", floor(between(state, 1, 5000)));
    }
    if (uses & BL_USES_PRIVATE && one_in(state, 2)) {
        soak_words_add(words, "--private");
        soak_words_add(words, "%.0f", floor(between(state, 1, gpu ? 40 : 1000)) - 1);
    }
    if (uses & BL_USES_VICTIMS && one_in(state, 3)) {
        soak_words_add(words, "--victims");
        soak_words_add(words, "%s", one_in(state, 2) ? "random" : "round-robin");
    }
    if (uses & (BL_USES_STEAL_ONE | BL_USES_STEAL_HALF) && one_in(state, 3)) {
        bool half = uses & BL_USES_STEAL_HALF && (one_in(state, 2) || !(uses & BL_USES_STEAL_ONE));
        soak_words_add(words, "--steal");
        soak_words_add(words, "%s", half ? "half" : "one");
    }
}

/* A large problem of a GPU would take a few of its workers many minutes. */
static void draw_workers(uint64_t *state, const bl_device_info *device, double far, soak_words *words) {
    uint32_t traits = bl_device_traits(device->id);
    const double most = traits & BL_DEVICE_GPU ? 5000 : 33;
    const double least = traits & BL_DEVICE_GPU ? pow(most, fmax(far - 0.4, 0)) : 1;
    if (one_in(state, 4))
        return;
    soak_words_add(words, "--workers");
    soak_words_add(words, "%.0f", floor(between(state, least, most)));
    if (!(traits & (BL_DEVICE_GPU | BL_DEVICE_SIMULATED)) && one_in(state, 4))
        soak_words_add(words, "--bind");
}

static void draw_stop(uint64_t *state, const bl_device_info *device, soak_step *step) {
    bool gpu = bl_device_traits(device->id) & BL_DEVICE_GPU;
    step->stop = (soak_stop)(SOAK_LIMIT + below(state, SOAK_STOPS - SOAK_LIMIT));
    step->seconds = between(state, 0.001, 0.1);
    if (step->stop != SOAK_LIMIT && gpu) /* the driver needs that long before the run begins */
        step->seconds += 0.3;
    step->writes_checkpoint = step->stop != SOAK_SIGNAL || !one_in(state, 4);
    if (step->stop == SOAK_SIGNAL)
        step->signal = one_in(state, 2) ? SIGINT : SIGTERM;
    if (step->stop == SOAK_KILL)
        step->signal = SIGKILL;
    if (step->stop == SOAK_KILL || (step->writes_checkpoint && one_in(state, 4)))
        step->checkpoint_every = between(state, 0.002, 0.1);
}

/* A step may run on the CPU, too: checkpoints move between devices. */
static void draw_step(uint64_t *state, const bl_device_info *device, const soak_words *problem, const soak_plan *plan,
                      soak_step *step) {
    bl_device_info cpu;
    bool elsewhere = one_in(state, 4) && !plan->sample->here && bl_device_find("cpu", &cpu);
    const bl_device_info *here = elsewhere ? &cpu : device;
    const char *scheduler = draw_scheduler(state, plan, here);
    soak_words_add(&step->words, "run");
    copy_words(&step->words, problem);
    soak_words_add(&step->words, "--device");
    soak_words_add(&step->words, "%s", here->id);
    soak_words_add(&step->words, "--scheduler");
    soak_words_add(&step->words, "%s", scheduler);
    draw_workers(state, here, plan->far, &step->words);
    draw_sizes(state, here, strcmp(scheduler, "auto") == 0 ? BL_USES_CAPACITY : bl_scheduler_uses(scheduler),
               &step->words);
    soak_words_add(&step->words, "--json");
}

void soak_draw(uint64_t seed, uint64_t number, const bl_device_info *device, const char *folder, soak_plan *plan) {
    uint64_t state = seed;
    state = bl__splitmix64(&state) ^ number;
    bl__splitmix64(&state);
    memset(plan, 0, sizeof *plan);
    soak_words problem = {0};
    draw_problem(&state, device, folder, plan, &problem);
    plan->steps = one_in(&state, 3) ? 1 : 2 + below(&state, SOAK_STEPS - 1);
    for (unsigned i = 0; i < plan->steps; i++) {
        draw_step(&state, device, &problem, plan, &plan->step[i]);
        if (i + 1 < plan->steps)
            draw_stop(&state, device, &plan->step[i]);
    }
}
