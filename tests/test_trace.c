/* Timelines: on every scheduler and device available, with ample room and with next to none, the spans add up to the
 * counters of the run, and the spans of a worker cover the time from the start of the first run to the end of the last
 * without gap or overlap. */
#include "check.h"
#include "config.h"

#include "common/app.h"
#include <ballast/parts/trace.h>
#include <ballast/task.h>
#include <stdlib.h>

enum { OPTIONS = 16 };

/* ---- invariants of every trace ---- */

typedef struct sums {
    uint64_t tasks, steals, attempts, launches;
} sums;

static void add_stats(sums *to, const bl_stats *stats) {
    to->tasks += stats->tasks;
    to->steals += stats->steals;
    to->attempts += stats->steal_attempts;
    to->launches += stats->launches;
}

static sums add_spans(const bl_span *spans, size_t count) {
    sums all = {0, 0, 0, 0};
    for (size_t i = 0; i < count; i++) {
        all.tasks += spans[i].tasks;
        all.steals += spans[i].steals;
        all.attempts += spans[i].steal_attempts;
        if (spans[i].launch >= all.launches)
            all.launches = spans[i].launch + 1;
    }
    return all;
}

static bool is_whole(const bl_span *s) { return s->parts == 1; }

static void check_span(const bl_span *s) {
    CHECK(s->begin <= s->end);
    CHECK(s->kind >= BL_SPAN_TASKS && s->kind <= BL_SPAN_PAUSE && s->parts >= 1);
    if (is_whole(s))
        CHECK((s->tasks > 0) == (s->kind == BL_SPAN_TASKS));
    if (is_whole(s) && s->kind != BL_SPAN_SEARCH)
        CHECK_SAME(s->steals, 0);
    if (s->kind == BL_SPAN_PAUSE)
        CHECK_SAME(s->steal_attempts, 0);
}

/* From 0 to the end, and the end is the same for all. */
static uint32_t check_order(const bl_span *spans, size_t count) {
    uint32_t workers = 0;
    uint64_t end = count ? spans[count - 1].end : 0;
    for (size_t i = 0; i < count; i++) {
        const bl_span *s = &spans[i], *before = i && s[-1].worker == s->worker ? s - 1 : NULL;
        check_span(s);
        CHECK_SAME(s->begin, before ? before->end : 0);
        CHECK(!before || before->launch < s->launch || (before->launch == s->launch && before->kind != s->kind));
        if (!before)
            CHECK_SAME(s->worker, workers++);
        if (i + 1 == count || s[1].worker != s->worker)
            CHECK_SAME(s->end, end);
    }
    return workers;
}

static void check_trace(const bl_context *c, const sums *expected, uint32_t workers) {
    size_t count;
    const bl_span *spans = bl_trace(c, &count);
    sums all = add_spans(spans, count);
    CHECK_SAME(all.tasks, expected->tasks);
    CHECK_SAME(all.steals, expected->steals);
    CHECK_SAME(all.attempts, expected->attempts);
    if (expected->tasks) {
        CHECK_SAME(all.launches, expected->launches);
        CHECK_SAME(check_order(spans, count), workers);
    }
}

/* No more than requested, except for a few between two checks of the room, and the spans that fill the gaps around a
 * launch. */
static void check_room(const bl_context *c, uint32_t room, uint32_t workers, uint64_t launches, uint64_t runs) {
    size_t count;
    bl_trace(c, &count);
    if (room)
        CHECK(count <= workers * (runs * (room + 10) + 2 * launches));
}

/* ---- the applications ---- */

typedef struct problem {
    const app *app;
    void *data;
    const char *text;
} problem;

/* `settings`: pairs of option and value, terminated by NULL. */
static problem open_problem(const char *name, const char *const *settings) {
    problem p = {.app = app_find(name), .text = name};
    const char *values[OPTIONS];
    app_error error = {""};
    if (!CHECK(p.app != NULL))
        exit(check_end());
    for (int i = 0; p.app->options[i].name && i < OPTIONS; i++) {
        values[i] = p.app->options[i].initial;
        for (const char *const *s = settings; *s; s += 2)
            values[i] = strcmp(p.app->options[i].name, s[0]) ? values[i] : s[1];
    }
    if (!CHECK_SAME(p.app->open(&p.data, values, 1, &error), 0))
        exit(check_end());
    return p;
}

static bool gpu_distributes(const char *device, const char *scheduler) {
    return bl_device_traits(device) & BL_DEVICE_GPU && bl_scheduler_traits(scheduler) & BL_TRAIT_GROUP_PER_TASK;
}

/* A row is a worker; if the GPU itself distributes the groups of a wave, a row is a multiprocessor. */
static uint32_t rows_of(const bl_context *c, const bl_stats *stats) {
    bl_device_info info;
    if (!gpu_distributes(bl_device_id(c), stats->scheduler))
        return stats->workers;
    for (uint32_t i = 0; bl_device_info_at(i, &info); i++)
        if (!strcmp(info.id, bl_device_id(c)) && info.workers < stats->workers)
            return info.workers;
    return stats->workers;
}

/* Two traced runs add up; runs after bl_trace_stop are not included. */
static void trace_runs(const problem *p, bl_context *c, uint32_t room) {
    bl_stats stats;
    sums expected = {0, 0, 0, 0};
    CHECK_SAME(bl_trace_start(c, room), BL_OK);
    for (uint32_t runs = 1; runs <= 2; runs++) {
        CHECK_SAME(p->app->run(p->data, c, &stats), BL_OK);
        add_stats(&expected, &stats);
        check_trace(c, &expected, rows_of(c, &stats));
        check_room(c, room, rows_of(c, &stats), expected.launches, runs);
    }
    bl_trace_stop(c);
    uint32_t rows = rows_of(c, &stats);
    CHECK_SAME(p->app->run(p->data, c, &stats), BL_OK);
    check_trace(c, &expected, rows);
}

static void trace_with(const problem *p, bl_config config) {
    static const uint32_t rooms[] = {0, 2, 3, 24};
    bl_context *c = NULL;
    config = config_for(config);
    if (gpu_distributes(config.device, config.scheduler))
        config.workers = 0; /* decided by the GPU */
    if (!CHECK_SAME(bl_open(&c, &config), BL_OK))
        return;
    if (CHECK_SAME(p->app->load(p->data, c), BL_OK)) {
        for (int i = 0; i < 4; i++) {
            check_at("%s on %s %s, private %u, room %u", p->text, config.device, config.scheduler,
                     config.private_entries, rooms[i]);
            trace_runs(p, c, rooms[i]);
        }
        p->app->unload(p->data, c);
    }
    bl_close(c);
}

/* Each with its default memory, and with so little that it must pause. */
static void trace_schedulers(const problem *p, const char *target) {
    const char *scheduler;
    for (uint32_t i = 0; (scheduler = bl_scheduler_name(i)); i++) {
        if (!bl_program_has(bl_program_part(p->app->program(), target), scheduler))
            continue;
        bl_config config = {.device = target, .scheduler = scheduler, .workers = 3, .seed = i + 1};
        trace_with(p, config);
        config.capacity = 2;
        config.private_entries = BL_NONE;
        trace_with(p, config);
    }
}

static void trace_app(const char *name, const char *const *settings) {
    problem p = open_problem(name, settings);
    trace_schedulers(&p, "cpu");
    if (CHECK_SLOWER < 12) /* ThreadSanitizer keeps memory for every fiber ever created */
        trace_schedulers(&p, "sim");
    if (bl_device_find("cuda", &(bl_device_info){.workers = 0}))
        trace_schedulers(&p, "cuda");
    p.app->close(p.data);
}

/* ---- what a timeline shows ---- */

/* Spins for a while; a root with children spawns them first. */
static void slow_task(bl_task *task, const void *payload, uint32_t index, const void *shared) {
    uint32_t children = *(const uint32_t *)payload, none = 0;
    (void)index, (void)shared;
    for (uint32_t i = 0; i < children; i++)
        bl_task_spawn(task, &none, 1);
    bl_spend(1000000);
}

static void failing_task(bl_task *task, const void *payload, uint32_t index, const void *shared) {
    (void)index, (void)shared;
    bl_task_fail(task, 0, payload);
}

static uint64_t time_of(const bl_context *c, bl_span_kind kind, uint32_t worker) {
    size_t count;
    uint64_t sum = 0;
    const bl_span *spans = bl_trace(c, &count);
    for (size_t i = 0; i < count; i++)
        sum += spans[i].kind == kind && spans[i].worker == worker ? spans[i].end - spans[i].begin : 0;
    return sum;
}

static bl_context *open_cpu(const char *scheduler, uint32_t workers) {
    bl_context *c = NULL;
    bl_config config = {.device = "cpu", .scheduler = scheduler, .workers = workers};
    check_at("%s, %u workers", scheduler, workers);
    if (!CHECK_SAME(bl_open(&c, &config), BL_OK))
        exit(check_end());
    return c;
}

/* One worker, seven tasks of a millisecond in two waves: it works that long, and pauses in between. */
static void test_times(void) {
    bl_program *program = bl_program_from_function(slow_task, sizeof(uint32_t), 0, 6);
    uint32_t root = 6;
    bl_context *c = open_cpu("static:split", 1);
    CHECK_SAME(bl_trace_start(c, 0), BL_OK);
    CHECK_SAME(bl_run(c, program, NULL, &root, 1, NULL), BL_OK);
    size_t count;
    const bl_span *spans = bl_trace(c, &count);
    CHECK(time_of(c, BL_SPAN_TASKS, 0) >= 7000000);
    if (CHECK_SAME(count, 3)) {
        CHECK(spans[0].kind == BL_SPAN_TASKS && spans[0].tasks == 1 && spans[0].launch == 0);
        CHECK(spans[1].kind == BL_SPAN_PAUSE && spans[1].tasks == 0);
        CHECK(spans[2].kind == BL_SPAN_TASKS && spans[2].tasks == 6 && spans[2].launch == 1);
    }
    bl_close(c);
    c = open_cpu("static:split", 3); /* two of the three wait while the root runs */
    CHECK_SAME(bl_trace_start(c, 0), BL_OK);
    CHECK_SAME(bl_run(c, program, NULL, &root, 1, NULL), BL_OK);
    uint64_t idle[3], most = 0;
    for (uint32_t i = 0; i < 3; i++) {
        idle[i] = time_of(c, BL_SPAN_IDLE, i);
        most = idle[i] > most ? idle[i] : most;
        CHECK(time_of(c, BL_SPAN_TASKS, i) >= 2000000);
    }
    CHECK(most > 500000);
    bl_close(c);
    bl_program_free(program);
}

/* A failed run, a run of no tasks, and a restart. */
static void test_what_counts(void) {
    bl_program *program = bl_program_from_function(slow_task, sizeof(uint32_t), 0, 6),
               *fails = bl_program_from_function(failing_task, 4, 0, 1);
    uint32_t root = 3;
    size_t count;
    sums expected = {0, 0, 0, 0};
    bl_stats stats;
    bl_context *c = open_cpu("auto", 2);
    CHECK(bl_trace(c, &count) == NULL && count == 0);
    CHECK_SAME(bl_trace_start(NULL, 0), BL_EINVAL);
    CHECK_SAME(bl_trace_start(c, 0), BL_OK);
    CHECK_SAME(bl_run(c, fails, NULL, &root, 1, NULL), BL_ETASK);
    CHECK_SAME(bl_run(c, program, NULL, &root, 0, NULL), BL_OK);
    check_trace(c, &expected, 2);
    CHECK_SAME(bl_run(c, program, NULL, &root, 1, &stats), BL_OK);
    add_stats(&expected, &stats);
    CHECK_SAME(bl_run(c, fails, NULL, &root, 1, NULL), BL_ETASK);
    CHECK_SAME(expected.tasks, 4);
    check_trace(c, &expected, 2);
    CHECK_SAME(bl_trace_start(c, 0), BL_OK);
    CHECK(bl_trace(c, &count) == NULL && count == 0);
    bl_close(c);
    bl_program_free(program);
    bl_program_free(fails);
}

/* Far more marks than there is room for: those that stay are spread over the whole time, and the counts include all. */
static void test_thinning(uint32_t room) {
    enum { TURNS = 2000, STEP = 1000 };
    check_at("%u turns, room %u", TURNS, room);
    bl__mark *marks = calloc(room + 2 * BL__TRACE_SLACK, sizeof *marks);
    bl__tally tally = {.tasks = 0};
    bl__trace trace = {.marks = marks, .room = room};
    for (uint32_t i = 0; i < TURNS; i++, tally.tasks++) {
        bl__trace_write(&trace, &tally, i % 2 ? BL__AT_IDLE : BL__AT_WORK, 0, (uint64_t)STEP * i);
        bl__trace_thin(&trace);
        CHECK(trace.count <= room && marks[trace.count - 1].kind == trace.kind);
    }
    bl__trace_write(&trace, &tally, BL__AT_END, 0, (uint64_t)STEP * TURNS);
    uint64_t longest = 0, parts = 0;
    for (uint32_t i = 0; i + 1 < trace.count; i++) {
        uint64_t took = marks[i + 1].at - marks[i].at;
        longest = took > longest ? took : longest;
        parts += marks[i].parts;
        CHECK_SAME(marks[i + 1].tasks - marks[i].tasks, marks[i].parts);
    }
    CHECK_SAME(parts, TURNS);
    CHECK(longest <= 3 * (STEP + (uint64_t)STEP * TURNS / (room / 2)));
    /* without a check of the room, the last mark is overwritten */
    for (uint32_t i = 0; i < 2 * BL__TRACE_SLACK + room; i++)
        bl__trace_write(&trace, &tally, i % 2 ? BL__AT_IDLE : BL__AT_WORK, 1, (uint64_t)STEP * (TURNS + i));
    CHECK_SAME(trace.count, room + BL__TRACE_SLACK);
    CHECK_SAME(marks[trace.count - 1].at, (uint64_t)STEP * (TURNS + 2 * BL__TRACE_SLACK + room - 1));
    free(marks);
}

int main(void) {
    check_limit(240);
    test_thinning(2);
    test_thinning(16);
    test_thinning(65);
    test_times();
    test_what_counts();
    trace_app("uts", (const char *[]){"--tree", "mini_T1_d3", NULL});
    trace_app("octree", (const char *[]){"--particles", "300", "--threshold", "4", NULL});
    trace_app("fib", (const char *[]){"--n", "9", NULL});
    return check_end();
}
