/* The applications through app.h, on every scheduler and every device available: results are verified against known
 * answers or the sequential twin, and the printed text is the same everywhere. */
#include "check.h"
#include "config.h"

#include "common/app.h"
#include "fib/fib.h"
#include "nqueens/counts.h"
#include <stdlib.h>

enum { OPTIONS = 16 };

typedef struct problem {
    const app *app;
    void *data;
    char *printed; /* the first result */
    char text[128];
} problem;

/* `settings`: pairs of option and value, terminated by NULL. */
static problem open_problem(const char *name, const char *const *settings) {
    problem p = {.app = app_find(name)};
    const char *values[OPTIONS];
    app_error error = {""};
    if (!CHECK(p.app != NULL))
        exit(check_end());
    size_t used = (size_t)snprintf(p.text, sizeof p.text, "%s", name);
    for (int i = 0; p.app->options[i].name && i < OPTIONS; i++)
        values[i] = p.app->options[i].initial;
    for (; *settings; settings += 2) {
        bool known = false;
        for (int i = 0; p.app->options[i].name; i++)
            if (!strcmp(p.app->options[i].name, settings[0])) {
                values[i] = settings[1];
                known = true;
            }
        CHECK(known);
        used += (size_t)snprintf(p.text + used, sizeof p.text - used, " %s %s", settings[0], settings[1]);
    }
    check_at("%s", p.text);
    if (!CHECK_SAME(p.app->open(&p.data, values, 1, &error), 0)) {
        printf("    %s\n", error.text);
        exit(check_end());
    }
    return p;
}

static void close_problem(problem *p) {
    p->app->close(p->data);
    free(p->printed);
}

/* Removes the number that follows `name` from the text. */
static void leave_out(char *text, const char *name) {
    char *number = strstr(text, name);
    if (!CHECK(number != NULL))
        return;
    number += strlen(name);
    size_t digits = strspn(number, "0123456789");
    memmove(number, number + digits, strlen(number + digits) + 1);
}

/* The printed text must not depend on the device or scheduler. */
static void same_print(problem *p) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        exit(check_end());
    p->app->print(p->data, out, true);
    fclose(out);
    if (strstr(p->text, "--solve"))
        leave_out(text, "\"nodes\": "); /* the order of the tasks decides which positions need no search */
    if (!p->printed) {
        p->printed = text;
        return;
    }
    if (!CHECK(!strcmp(text, p->printed)))
        printf("    %s\n    %s\n", text, p->printed);
    free(text);
}

static void run_on(problem *p, bl_config config, int times) {
    bl_context *c = NULL;
    bl_stats stats;
    app_error error = {""};
    const char *how = "";
    check_at("%s on %s %s, %u workers, capacity %u, seed %u", p->text, config.device, config.scheduler, config.workers,
             config.capacity, (unsigned)config.seed);
    if (!CHECK_SAME(bl_open(&c, &config), BL_OK))
        return;
    CHECK(bl_program_part(p->app->program(), bl_device_target(c)) != NULL);
    if (CHECK_SAME(p->app->load(p->data, c), BL_OK)) {
        for (int i = 0; i < times; i++) {
            if (!CHECK_SAME(p->app->run(p->data, c, &stats), BL_OK)) {
                printf("    %s\n", bl_error_detail(c));
                break;
            }
            if (!CHECK(p->app->check(p->data, &stats, true, &how, &error)))
                printf("    %s\n", error.text);
            CHECK(!strcmp(how, "twin") || !strcmp(how, "known"));
            same_print(p);
        }
        p->app->unload(p->data, c);
    }
    bl_close(c);
}

/* ThreadSanitizer keeps memory for every thread and fiber ever created, so use fewer under it. */
#define SPARING (CHECK_SLOWER >= 12)

/* Every scheduler and every name of the papers, with default memory and with as little as possible. Takes only every
 * `every`-th name; the next problem takes others. */
static void run_all(problem *p, const char *target, uint32_t workers, int times, uint32_t every, uint32_t turn) {
    const char *scheduler;
    uint32_t names = 0;
    while (bl_scheduler_name(names))
        names++;
    for (uint32_t i = turn % every; (scheduler = i < names ? bl_scheduler_name(i) : bl_alias_name(i - names, NULL));
         i += every) {
        /* on a GPU a program has only the schedulers in BL_SCHEDULERS, and a build with few queues lacks some names */
        if (!bl_program_has(bl_program_part(p->app->program(), target), scheduler))
            continue;
        for (uint32_t capacity = SPARING ? 2 : 0; capacity <= 2; capacity += 2) {
            bl_config config = {
                .device = target, .scheduler = scheduler, .workers = workers, .capacity = capacity, .seed = i + 1};
            if (!SPARING)
                run_on(p, config_for(config), times);
            config.private_entries = i % 2 ? BL_NONE : 2;
            config.victims = i % 2 ? BL_VICTIMS_ROUND_ROBIN : BL_VICTIMS_RANDOM;
            config.steal = BL_STEAL_HALF;
            run_on(p, config_for(config), 1);
        }
    }
}

static void run_everywhere(const char *name, const char *const *settings, bool small) {
    static uint32_t turn;
    problem p = open_problem(name, settings);
    for (uint32_t i = 0; bl_scheduler_name(i); i++) /* the others may leave some out */
        CHECK(bl_program_has(bl_program_part(p.app->program(), "cpu"), bl_scheduler_name(i)));
#ifdef APPS_ON_CUDA
    (void)small;
    if (strstr(p.text, "--solve") || strstr(p.text, "--tasks pieces")) /* only one scheduler fits, or few */
        run_on(&p, (bl_config){.device = "cuda", .scheduler = "auto"}, 1);
    else /* each run takes tens of milliseconds, mostly to allocate and free memory */
        run_all(&p, "cuda", 0, 1, 16, turn++);
#else
    run_all(&p, "cpu", 3, 2, 3, turn); /* three problems of an application cover all schedulers */
    if (small && !SPARING)
        run_all(&p, "sim", 0, 1, 2, turn);
    turn++;
#endif
    close_problem(&p);
}

static void test_octree(void) {
    static const char *const kinds[] = {"uniform", "tube", "sphere", "plummer"};
    for (int i = 0; i < 4; i++) {
        run_everywhere("octree", (const char *[]){"--particles", "20k", "--distribution", kinds[i], NULL}, false);
        run_everywhere("octree",
                       (const char *[]){"--particles", "300", "--distribution", kinds[i], "--threshold", "4", NULL},
                       true);
    }
    run_everywhere("octree", (const char *[]){"--particles", "0", NULL}, true);
    run_everywhere("octree", (const char *[]){"--particles", "1", NULL}, true);
    run_everywhere("octree", (const char *[]){"--particles", "21", NULL}, true);
    run_everywhere("octree", (const char *[]){"--particles", "2k", "--threshold", "1", "--max-depth", "6", NULL},
                   false);
    run_everywhere("octree", (const char *[]){"--particles", "100", "--max-depth", "0", NULL}, true);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        run_everywhere("octree",
                       (const char *[]){"--particles", "60k", "--distribution", kinds[i], "--tasks", "pieces", NULL},
                       false);
    run_everywhere("octree", (const char *[]){"--particles", "3k", "--tasks", "pieces", NULL}, true);
    run_everywhere(
        "octree",
        (const char *[]){"--particles", "2k", "--threshold", "1", "--max-depth", "6", "--tasks", "pieces", NULL}, true);
    run_everywhere("octree",
                   (const char *[]){"--particles", "5k", "--distribution", "plummer", "--max-depth", "4", "--tasks",
                                    "pieces", NULL},
                   true);
}

static void test_uts(void) {
    static const char *const mini[] = {"T0", "mini_T1_d3", "mini_T1_d5", "mini_T3_b1", "mini_T3_b8", "mini_T3_b100"};
    for (int i = 0; i < 6; i++)
        run_everywhere("uts", (const char *[]){"--tree", mini[i], NULL}, i < 2 || i == 3);
    run_everywhere("uts", (const char *[]){"--tree", "mini_T1_d7", NULL}, false);
    static const char *const shapes[] = {"0", "1", "2", "3"};
    for (int i = 0; i < 4; i++) {
        run_everywhere("uts", (const char *[]){"-t", "1", "-a", shapes[i], "-d", "4", "-b", "3", "-r", "7", NULL},
                       false);
        run_everywhere("uts", (const char *[]){"-t", "1", "-a", shapes[i], "-d", "3", "-b", "2", "-r", "1", NULL},
                       true);
    }
    run_everywhere("uts", (const char *[]){"-t", "0", "-b", "30", "-q", "0.2", "-m", "4", "-r", "3", NULL}, true);
    run_everywhere("uts", (const char *[]){"-t", "0", "-b", "500", "-q", "0.3", "-m", "3", "-r", "5", NULL}, false);
    run_everywhere(
        "uts", (const char *[]){"-t", "2", "-a", "0", "-d", "6", "-b", "4", "-q", "0.2", "-m", "4", "-r", "1", NULL},
        false);
    run_everywhere(
        "uts", (const char *[]){"-t", "2", "-a", "3", "-d", "4", "-b", "2", "-q", "0.2", "-m", "3", "-r", "2", NULL},
        true);
}

static void test_nqueens(void) {
    for (uint32_t n = 1; n <= 11; n++) {
        check_at("the twin of %u queens", n);
        CHECK_SAME(nqueens_twin(n).solutions, nqueens_known(n).solutions);
        CHECK_SAME(nqueens_twin(n).nodes, nqueens_known(n).nodes);
    }
    run_everywhere("nqueens", (const char *[]){"--n", "1", NULL}, true);
    run_everywhere("nqueens", (const char *[]){"--n", "3", NULL}, true); /* no solution */
    run_everywhere("nqueens", (const char *[]){"--n", "6", NULL}, true);
    run_everywhere("nqueens", (const char *[]){"--n", "9", NULL}, false);
}

static void test_fib(void) {
    for (uint32_t n = 0; n <= 20; n++) {
        check_at("the twin of fib %u", n);
        CHECK_SAME(fib_twin(n), fib_known(n));
    }
    CHECK_SAME(fib_known(60), 1548008755920);
    static const char *const small[] = {"0", "1", "2", "3", "8"};
    for (int i = 0; i < 5; i++)
        run_everywhere("fib", (const char *[]){"--n", small[i], NULL}, true);
    run_everywhere("fib", (const char *[]){"--n", "16", NULL}, false);
}

/* A graph file. Each node links to the next and to a distant one, except every fourth if `dangling`. If `heavy`, most
 * also link to and from node 0, whose list then exceeds one task. A third as many nodes follow that no node links
 * to. */
static const char *write_graph(uint32_t nodes, bool dangling, bool heavy) {
    static char path[] = "/tmp/ballast_apps_XXXXXX";
    strcpy(path + sizeof path - 7, "XXXXXX");
    int file = mkstemp(path);
    FILE *out = file < 0 ? NULL : fdopen(file, "w");
    if (!CHECK(out != NULL))
        exit(check_end());
    for (uint32_t v = 0; v < nodes; v++) {
        if (heavy && v % 5)
            fprintf(out, "%u 0\n0 %u\n", 3 * v, 3 * v);
        if (!dangling || v % 4)
            fprintf(out, "%u %u\n%u %u\n", 3 * v, 3 * ((v + 1) % nodes), 3 * v, 3 * (v * 7 % nodes));
    }
    for (uint32_t v = nodes; v < nodes + nodes / 3; v++)
        fprintf(out, "%u %u\n", 3 * v, 3 * (v * 5 % nodes));
    CHECK(fclose(out) == 0);
    return path;
}

static void test_pagerank(void) {
    static const struct {
        uint32_t nodes;
        bool dangling, heavy, small;
        const char *option, *value, *block, *edges;
    } runs[] = {
        {1, false, false, true, "--iterations", "3", "64", ""},
        {9, false, false, true, "--iterations", "8", "1", "64"},
        {40, true, false, true, "--iterations", "2", "1", "64"},
        {90, true, true, true, "--iterations", "4", "8", "100"},
        {600, true, true, true, "--iterations", "9", "16", "64"}, /* the list of node 0 is in several units */
        {300, true, true, false, "--iterations", "8", "1", ""},
        {3000, true, true, false, "--iterations", "8", "64", "3072"},
        {2000, true, false, false, "--iterations", "19", "16", "64"},
        {500, false, true, false, "--tolerance", "1e-9", "32", ""},
    };
    for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++) {
        const char *path = write_graph(runs[i].nodes, runs[i].dangling, runs[i].heavy);
        run_everywhere("pagerank",
                       (const char *[]){"--graph", path, runs[i].option, runs[i].value, "--block", runs[i].block,
                                        "--edges", runs[i].edges, NULL},
                       runs[i].small);
        remove(path);
    }
}

static void test_transform(void) {
    static const char *const patterns[] = {"regular", "half", "third"};
    for (int i = 0; i < 3; i++) {
        const char *pattern = patterns[i];
        run_everywhere("transform",
                       (const char *[]){"--elements", "100003", "--pattern", pattern, "--chunk", "36", NULL}, false);
        run_everywhere("transform", (const char *[]){"--elements", "1201", "--pattern", pattern, "--chunk", "64", NULL},
                       true);
        run_everywhere("transform", (const char *[]){"--elements", "1", "--pattern", pattern, NULL}, true);
    }
    run_everywhere("transform", (const char *[]){"--elements", "0", NULL}, true);
}

static void test_fourrow(void) {
    run_everywhere("fourrow", (const char *[]){"--lookahead", "1", NULL}, true);
    run_everywhere("fourrow", (const char *[]){"--lookahead", "3", NULL}, true);
    run_everywhere("fourrow", (const char *[]){"--lookahead", "5", NULL}, false);
    run_everywhere("fourrow", (const char *[]){"--position", "44444425", "--lookahead", "3", NULL}, true);
    run_everywhere("fourrow", (const char *[]){"--position", "415263", "--lookahead", "3", NULL}, true);
    run_everywhere("fourrow", (const char *[]){"--position", "22534453367345357621264552273777114164116", NULL}, true);
    run_everywhere("fourrow", (const char *[]){"--position", "2252576253462244111563365343", "--solve", "1", NULL},
                   true);
    run_everywhere("fourrow", (const char *[]){"--position", "22534453367345357621264", "--solve", "1", NULL}, false);
}

/* ---- stopped and resumed repeatedly, each time on another device or scheduler ---- */

#ifdef APPS_ON_CUDA
static const char *const PART_DEVICES[] = {"cuda", "cuda", "cpu"};
#define SIZED(few, many) many
#else
static const char *const PART_DEVICES[] = {"cpu", "cpu", "sim"};
#define SIZED(few, many) few
#endif
static const char *const PART_SCHEDULERS[] = {"auto", "central:broker", "range:packed_range", "steal:abp",
                                              "static:split"};

/* An application with separate memory for each device cannot change the device. */
static int run_part(problem *p, uint32_t part, bool moves, double limit, const char *file) {
    bl_config config = {.device = PART_DEVICES[moves ? part % 3 : 0],
                        .scheduler = PART_SCHEDULERS[part % 5],
                        .time_limit = limit,
                        .checkpoint = file,
                        .resume = part ? file : NULL};
    bl_context *c = NULL;
    bl_stats stats;
    app_error error = {""};
    const char *how;
    if (!bl_program_has(bl_program_part(p->app->program(), config.device), config.scheduler))
        config.scheduler = "auto";
    check_at("%s, part %u on %s %s", p->text, part, config.device, config.scheduler);
    if (!CHECK_SAME(bl_open(&c, &config), BL_OK) || !CHECK_SAME(p->app->load(p->data, c), BL_OK))
        exit(check_end());
    int status = p->app->run(p->data, c, &stats);
    if (!CHECK(status == BL_OK || status == BL_ETIME))
        printf("    %s: %s\n", bl_status_name(status), bl_error_detail(c));
    if (status == BL_OK) {
        CHECK(p->app->check(p->data, &stats, true, &how, &error));
        same_print(p);
    }
    p->app->unload(p->data, c);
    bl_close(c);
    return status;
}

static uint32_t run_in_parts(const char *name, const char *const *settings, bool moves) {
    char file[] = "/tmp/ballast_parts_XXXXXX";
    problem p = open_problem(name, settings);
    uint32_t part = 0;
    int made = mkstemp(file), status = BL_ETIME;
    CHECK(made >= 0 && close(made) == 0);
    run_on(&p, (bl_config){.device = PART_DEVICES[0], .scheduler = "auto"}, 1);
    for (double limit = 3e-4; status == BL_ETIME && part < 80; part++, limit *= 1.2)
        status = run_part(&p, part, moves, limit, file);
    CHECK_SAME(status, BL_OK);
    remove(file);
    close_problem(&p);
    return part;
}

#ifndef APPS_ON_CUDA
/* Threads resume join records that GPU lanes left, and must not mistake them for their own. */
static void test_joins_move(void) {
    char file[] = "/tmp/ballast_moves_XXXXXX";
    problem p = open_problem("fib", (const char *[]){"--n", "21", NULL});
    int made = mkstemp(file);
    CHECK(made >= 0 && close(made) == 0);
    for (int tries = 0; tries < (SPARING ? 3 : 12); tries++) {
        bl_config config = {
            .device = "sim", .scheduler = "central:broker", .time_limit = 0.01 * CHECK_SLOWER, .checkpoint = file};
        bl_context *c = NULL;
        bl_stats stats;
        check_at("fib 21 from sim to cpu");
        CHECK_SAME(bl_open(&c, &config), BL_OK);
        int status = p.app->run(p.data, c, &stats);
        CHECK(status == BL_ETIME || status == BL_OK);
        bl_close(c);
        if (status == BL_ETIME)
            run_on(&p,
                   (bl_config){.device = "cpu",
                               .scheduler = "central:broker",
                               .workers = 2,
                               .private_entries = BL_NONE,
                               .resume = file},
                   1);
    }
    remove(file);
    close_problem(&p);
}
#endif

static void test_parts(void) {
    const char *path = write_graph(5000, true, true);
    uint32_t parts = 0;
    parts += run_in_parts(
        "uts", (const char *[]){"-t", "1", "-a", "3", "-d", SIZED("8", "10"), "-b", "4", "-r", "19", NULL}, true);
    parts += run_in_parts("nqueens", (const char *[]){"--n", SIZED("10", "13"), NULL}, true);
    parts += run_in_parts("fib", (const char *[]){"--n", SIZED("22", "30"), NULL}, true);
    parts += run_in_parts("octree", (const char *[]){"--particles", SIZED("60k", "500k"), NULL}, true);
    parts += run_in_parts("fourrow", (const char *[]){"--lookahead", SIZED("6", "8"), NULL}, true);
    parts += run_in_parts("transform", (const char *[]){"--elements", SIZED("2M", "50M"), NULL}, true);
    parts += run_in_parts("pagerank", (const char *[]){"--graph", path, "--iterations", "19", NULL}, false);
    remove(path);
    CHECK(parts > 7); /* one run may finish before the clock is read, but not all */
}

/* Discovered applications, and options that are rejected with a line of text. */
static void test_list(void) {
    check_at("list");
    for (unsigned i = 0; app_at(i); i++)
        CHECK(app_find(app_at(i)->name) == app_at(i) && *app_at(i)->text && app_at(i)->options);
    CHECK(app_at(1000) == NULL && app_find("no such app") == NULL);
    for (unsigned i = 0; app_at(i); i++) {
        const app *a = app_at(i);
        for (int bad = 0; a->options[bad].name; bad++) {
            if (!a->options[bad].value)
                continue; /* a flag has no value that could be wrong */
            const char *values[OPTIONS];
            void *data = NULL;
            app_error error = {""};
            for (int k = 0; a->options[k].name && k < OPTIONS; k++)
                values[k] = a->options[k].initial;
            if (!strcmp(a->options[bad].name, "--output"))
                continue; /* any file name is valid */
            values[bad] = "nonsense";
            check_at("%s %s nonsense", a->name, a->options[bad].name);
            CHECK_SAME(a->open(&data, values, 1, &error), strcmp(a->options[bad].name, "--graph") ? 2 : 1);
            CHECK(data == NULL && *error.text && !strchr(error.text, '\n'));
        }
    }
}

int main(void) {
#ifdef APPS_ON_CUDA
    if (!bl_device_find("cuda", &(bl_device_info){.workers = 0})) {
        printf("skipped: no usable GPU\n");
        return CHECK_SKIPPED;
    }
#endif
    check_limit(300);
    test_list();
    test_octree();
    test_uts();
    test_transform();
    test_nqueens();
    test_fib();
    test_pagerank();
    test_fourrow();
    test_parts();
#ifndef APPS_ON_CUDA
    test_joins_move();
#endif
    return check_end();
}
