/* The timeline of a worker, kept by its lane 0 while it runs (bl_trace_start): marks, each with what the worker began
 * to do, when, and what it had counted by then. What happened in between is the difference of two marks, so a mark can
 * be left out and all sums stay right.
 *
 * A mark is made when a worker runs out of work, steals, goes idle or ends; never per task. Room is bounded: when it is
 * used up, marks that follow each other closely become one.
 *
 * The groups of a wave end alone and may share their counters with others; there each launch has a place of its own,
 * widened by atomics.
 *
 * Everything lies in memory and is small when inlined, because what it keeps in registers would be paid for when nobody
 * traces.
 */
#ifndef BL_PARTS_TRACE_H
#define BL_PARTS_TRACE_H

#include "run.h"

typedef struct bl__mark {
    uint64_t at;                      /* bl_time */
    uint64_t tasks, steals, attempts; /* so far, in this launch and those before */
    uint32_t kind;                    /* bl__standing */
    uint32_t launch;
    uint32_t parts; /* marks that it is made of */
    uint32_t pad;
} bl__mark;

typedef struct bl__wave_mark {
    uint64_t begin; /* inverted, so that the earliest is the largest and 0 is none */
    uint64_t end, tasks;
} bl__wave_mark;

/* One for each tally, on a line of its own. */
typedef struct bl__trace {
    bl__mark *marks;      /* room + BL__TRACE_SLACK */
    bl__wave_mark *waves; /* room */
    uint32_t room, count;
    uint32_t kind; /* of the last mark */
    uint32_t pad0;
    uint64_t looked; /* when it began to look at others' queues; 0: not since the last mark */
    unsigned char pad[BL_LINE - 40];
} bl__trace;

#define BL__TRACE_SLACK 8u /* marks between two looks at the room */

/* Tries to steal and what they brought are part of the search that begins with a mark. */
BL_FN void bl__trace_write(bl__trace *t, const bl__tally *tally, uint32_t kind, uint32_t launch, uint64_t at) {
    if (t->count == t->room + BL__TRACE_SLACK)
        t->count--;
    bl__mark *mark = t->marks + t->count++;
    bool searches = kind == BL__AT_SEARCH;
    mark->at = at;
    mark->tasks = bl_load64_relaxed(&tally->tasks) + bl_load64_host(&tally->beat);
    mark->steals = searches ? mark[-1].steals : bl_load64_relaxed(&tally->steals);
    mark->attempts = searches ? mark[-1].attempts : bl_load64_relaxed(&tally->attempts);
    mark->kind = t->kind = kind;
    mark->launch = launch;
    mark->parts = 1;
}

/* From now on the worker does `kind`. What an idle worker tried in vain is part of its being idle; what one tried
 * before it went idle is not. */
BL_FN void bl__trace_turn(bl__trace *t, const bl__tally *tally, uint32_t kind, uint32_t launch) {
    uint64_t looked = t->looked;
    t->looked = 0;
    const bool goes_idle = kind == BL__AT_IDLE && t->kind == BL__AT_WORK;
    if (looked && (goes_idle || (kind == BL__AT_WORK && t->kind != BL__AT_SEARCH)))
        bl__trace_write(t, tally, BL__AT_SEARCH, launch, looked);
    if (t->kind != kind)
        bl__trace_write(t, tally, kind, launch, kind == BL__AT_SEARCH && looked ? looked : bl_time());
}

/* Room for more. What follows within a share of the time becomes one, called by what came last; at most half of the
 * room is then in use. */
BL_FN void bl__trace_thin(bl__trace *t) {
    bl__mark *m = t->marks;
    if (t->count <= t->room)
        return;
    uint64_t share = (m[t->count - 1].at - m[0].at) / (t->room / 2);
    uint32_t kept = 0;
    BL_ROLLED
    for (uint32_t i = 1; i < t->count; i++) {
        if (m[i].at - m[kept].at > share) {
            m[++kept] = m[i];
            continue;
        }
        if (m[i].kind != BL__AT_END)
            m[kept].kind = m[i].kind;
        m[kept].launch = m[i].launch;
        m[kept].parts += m[i].parts;
    }
    t->count = kept + 1;
}

BL_FN bl__wave_mark *bl__trace_wave(bl__trace *t, uint32_t launch) {
    return t->waves + (launch < t->room ? launch : t->room - 1);
}

BL_FN void bl__trace_wave_begins(bl__trace *t, uint32_t launch) {
    bl__wave_mark *wave = bl__trace_wave(t, launch);
    if (!bl_load64_relaxed(&wave->begin)) /* else somebody was earlier */
        bl_far_max64_relaxed(&wave->begin, ~bl_time());
}

BL_FN void bl__trace_wave_ends(bl__trace *t, uint32_t launch, uint64_t tasks) {
    bl__wave_mark *wave = bl__trace_wave(t, launch);
    bl_far_max64_relaxed(&wave->end, bl_time());
    bl_far_add64_relaxed(&wave->tasks, tasks);
}

/* The same where waves follow each other in one launch: the worker has run so many tasks in all of them. It ends the
 * last one twice, before it waits for others and when it leaves. */
BL_FN void bl__trace_stays(bl__trace *t, uint32_t launch, bl__standing standing, uint32_t number, uint64_t tasks) {
    if (standing != BL__AT_END) {
        t->kind = BL__AT_WORK;
        t->looked = number ? t->looked : 0;
        bl__trace_wave_begins(t, launch);
    } else if (t->kind == BL__AT_WORK) {
        t->kind = BL__AT_END;
        bl__trace_wave_ends(t, launch, tasks - t->looked);
        t->looked = tasks;
    }
}

#endif
