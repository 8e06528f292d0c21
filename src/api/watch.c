/* The watch over the workers of a run: whether they make progress, and where each one is. */
#include "cluster/local.h"
#include "internal.h"

#include <ballast/parts/gate.h>

void bl__watch_start(bl__watch *watch) {
    watch->tasks = UINT64_MAX;
    watch->since = watch->reported = bl__now();
}

bool bl__watch_halts(const bl_context *c) {
    return c->pausable && (bl_load32_host(&c->cancelled) || bl_load32_host(&c->halted));
}

double bl__watch_next(const bl_context *c, double most) {
    double left = c->pausable ? c->pause_at - bl__now() : most;
    return left < 1e-4 ? 1e-4 : left < most ? left : most;
}

/* That worker i has run. A thread's may be missing some for an instant, between two tasks. */
static uint64_t tasks_of(const bl__tally *tally, uint32_t i, const bl__run *threads) {
    const uint32_t open = threads ? bl_load32_relaxed(&bl__stack_of(threads, i)->open) : 0;
    return bl_load64_host(&tally[i].beat) + bl_load64_host(&tally[i].tasks) + (open ? open - 1 : 0);
}

bl__seen bl__watch_look(bl_context *c, bl__watch *watch, const bl__tally *tally, uint32_t count,
                        const bl__run *threads) {
    uint64_t tasks = 0;
    for (uint32_t i = 0; i < count; i++)
        tasks += tasks_of(tally, i, threads);
    double now = bl__now();
    if (tasks != watch->tasks) {
        watch->tasks = tasks;
        watch->since = now;
        bl_store64_host(&c->progressed, c->of_parts + tasks);
    }
    if (c->config.progress && now - watch->reported >= 0.1) {
        watch->reported = now;
        c->config.progress(c->config.progress_arg, bl__local_progress(c));
    }
    if (c->open && bl__inlet_waits(c, tally, count))
        watch->since = now;
    if (now - watch->since > c->config.stall_seconds)
        return BL__NO_PROGRESS;
    if (!c->pausable || (now < c->pause_at && !bl__watch_halts(c)))
        return BL__ALL_WELL;
    c->pausable = false;
    return BL__TO_PAUSE;
}

void bl__watch_report(bl_context *c, const char *why, const bl__tally *tally, uint32_t count, const bl__run *threads) {
    static const char *const names[] = {"not started", "in a task", "searching", "idle", "ended"};
    enum { SHOWN = 16 };
    uint32_t at[BL__AT_END + 1] = {0};
    bl__detail_clear(c);
    bl__detail(c, "%s; workers", why);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t standing = bl_load32_host(&tally[i].standing);
        at[standing <= BL__AT_END ? standing : BL__AT_END]++;
    }
    for (int standing = 0; standing <= BL__AT_END; standing++)
        if (at[standing])
            bl__detail(c, " %s: %u", names[standing], at[standing]);
    for (uint32_t i = 0, shown = 0; i < count && shown < SHOWN;
         i++) { /* those that hold it up, or else the first ones */
        uint32_t standing = bl_load32_host(&tally[i].standing);
        if (count > SHOWN && at[BL__AT_WORK] && standing != BL__AT_WORK)
            continue;
        shown++;
        bl__detail(c, "\nworker %u: %s, %llu tasks", i, names[standing <= BL__AT_END ? standing : BL__AT_END],
                   (unsigned long long)tasks_of(tally, i, threads));
    }
}
