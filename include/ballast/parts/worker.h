/* A worker as its scheduler sees it. Each lane of the worker's leading warp has one, in registers; counters count in
 * all of them alike. */
#ifndef BL_PARTS_WORKER_H
#define BL_PARTS_WORKER_H

#include "entry.h"
#include "random.h"
#include "run.h"
#include "stop.h"
#include "trace.h"

/* Whether a paper's name was asked for, so that every task is an entry. Only a scheduler that has such a name has the
 * code for it. */
#define BL__ONE_PER_NODE(run) (BL__PAPER && (run)->one_per_node)

typedef struct bl__worker {
    const bl__run *run;
    bl__stack *stack;
    uint32_t *spare; /* free join records */
    bl__tally *tally;
    uint32_t id;          /* of the worker, or of the group that a static scheduler runs */
    uint32_t lane;        /* in the leading warp */
    uint32_t words;       /* per entry: run->words, but a constant where the compiler can see it */
    uint32_t batch;       /* tasks run at once: the warp's lanes for lane tasks, else 1 */
    uint32_t holds;       /* GPU: tasks that the stack has, fewer than a batch, while the worker fetches more; else 0 */
    uint32_t stop, shown; /* lane 0: the stop word and the queue's size when it last looked */
    uint32_t begun;       /* GPU: when the last batch began, ... */
    uint32_t looked;      /* ... and when it last asked whether to look at the host's memory */
    uint32_t random;
    uint32_t piece, piece_run; /* BL_RANGE_RUN: indices to take at once, and how many were */
    uint64_t piece_begun;      /* when the last piece was taken; 0: what came since was not work */
    uint64_t tasks;
    uint32_t peak;
    uint32_t calm; /* CPU: entries that it has held before and that are not too many: no need to look at them again */
    /* What one scheduler alone reads and writes. */
    struct {
        uint32_t victim, primed; /* where to look next; range: whether work was seen there */
        uint32_t seen, size;     /* the others: lane by lane whom an idle worker has seen, and how much it showed */
        uint32_t turn;           /* CPU: how far to look */
    } of_steal;
    struct {
        uint32_t task, task_end, entry; /* the tasks still to fetch, and the entry they lie in */
        uint32_t number;                /* of the wave, in this launch; ... */
        uint32_t tasks, entries;        /* ... and what is in it */
        uint32_t seat;                  /* its number in its block; 0 if it is alone there, or waves do not stay */
        uint32_t place;                 /* whose turn it is: bl__place_of where workers share a block, else its id */
    } of_waves;
    struct {               /* lane 0 */
        uint32_t drawn;    /* tasks that it has drawn and not begun to fetch, ... */
        uint64_t drawn_at; /* ... and the first of them */
    } of_list;
    struct {                  /* lane 0 */
        uint32_t recovered;   /* stolen slots that it has used again */
        uint32_t asked;       /* indices that it has asked for and not looked at, ... */
        uint64_t seen, found; /* ... what it took its range to be, and what it was */
    } of_range;
    uint32_t wary, doubt; /* CPU: tasks still to be run with care, and in all (runtime/loop/recurse.inc.h), ... */
    uint64_t wary_since;  /* ... and when that began */
    bool woken;           /* CPU: it was out of work, or has joined late, and is about to wake the next */
    bool collects;        /* CPU: results have come home from another node, and it is about to see to them */
} bl__worker;

/* Lane tasks in waves: the place of a worker if blocks take turns, so that a few tasks are on all multiprocessors. The
 * last block may be a small one. */
BL_FN uint32_t bl__place_of(const bl__run *run, uint32_t id) {
    const uint32_t seat = id % run->block_workers, in_last = run->workers - (run->blocks - 1) * run->block_workers;
    return seat * run->blocks + id / run->block_workers - (seat > in_last ? seat - in_last : 0);
}

BL_FN bl__worker bl__worker_start(const bl__run *run, bl__stack *stack, uint32_t id, uint32_t lane, uint32_t slot,
                                  uint32_t batch, uint32_t words) {
    bl__worker w;
    w.run = run;
    w.stack = stack;
    w.spare = bl__stack_spare(stack, words);
    w.tally = run->tally + slot;
    w.id = id;
    w.lane = lane;
    w.words = words;
    w.batch = batch;
    w.stop = 0;
    w.holds = 0;
    w.begun = w.looked = 0;
    w.shown = 1;
    w.random = (uint32_t)(run->seed * 2654435761u + id * 2246822519u) | 1u;
    w.piece = 1;
    w.piece_run = 0;
    w.piece_begun = 0;
    w.tasks = 0;
    w.peak = w.calm = 0;
    w.of_steal.victim = run->queue_count ? (id + 1) % run->queue_count : 0;
    w.of_steal.primed = w.of_steal.seen = w.of_steal.size = w.of_steal.turn = 0;
    w.of_waves.task = w.of_waves.task_end = w.of_waves.entry = w.of_waves.number = 0;
    const bool shares_block = batch > 1 && run->stays;
    w.of_waves.seat = shares_block ? id % run->block_workers : 0;
    w.of_waves.place = shares_block ? bl__place_of(run, id) : id;
    w.of_waves.tasks = run->slice_tasks;
    w.of_waves.entries = run->in_entries;
    w.of_list.drawn = 0;
    w.of_list.drawn_at = 0;
    w.of_range.recovered = w.of_range.asked = 0;
    w.of_range.seen = w.of_range.found = 0;
    w.wary = w.doubt = 0;
    w.wary_since = 0;
    w.woken = w.collects = false;
    return w;
}

/* GPU: the tasks of a batch have ended. w->stop was read before them. */
BL_FN void bl__worker_notes_pace(bl__worker *w) {
    const uint32_t took = bl_clock32() - w->begun;
    if (took >= BL_LONG_TICKS)
        w->stop |= took >= 4 * BL_LONG_TICKS ? BL__COARSE | BL__SLOW : BL__COARSE;
}
/* Before the next one: what is left of that. Short tasks may lie between long ones: in a tree those that only fork. */
BL_FN uint32_t bl__worker_recalls_pace(const bl__worker *w) {
    return ((w->stop & BL__COARSE) << 6 | (w->stop & BL__LATELY) >> 1) & BL__LATELY;
}

/* CPU: what changes while a worker goes from task to task without its scheduler. */
BL_HOT_FN void bl__worker_agree(bl__worker *to, const bl__worker *from, bool pieces, bool recurses) {
    to->tasks = from->tasks;
    if (recurses) {
        to->wary = from->wary;
        to->doubt = from->doubt;
        to->wary_since = from->wary_since;
    }
    if (pieces) {
        to->piece = from->piece;
        to->piece_run = from->piece_run;
        to->piece_begun = from->piece_begun;
    }
}

/* CPU: extra entries back onto the stack, as many as leave room for the next spawns. */
BL_FN void bl__take_extras(bl__worker *w) {
    bl__stack *s = w->stack;
    uint32_t used = bl__stack_count(s) + w->run->outbox, room = w->run->stack_capacity;
    w->peak = w->peak > bl__stack_count(s) + s->extras ? w->peak : bl__stack_count(s) + s->extras;
    for (; used < room && s->extras; used++) {
        bl__words_copy(bl__stack_slot(s, w->words, s->top), s->extra.entries + (size_t)--s->extras * w->words,
                       w->words);
        bl__stack_move_top(s, s->top + 1);
    }
}

/* Lane 0 of a worker: something is wrong, and it need not look to know that it must stop. */
BL_FN void bl__worker_report(bl__worker *w, bl__misuse what, uint32_t number) {
    bl__stop_for_misuse(w->run->control, what, number);
    w->stop |= BL__STOP_MISUSE;
}

/* Block workers, between two tasks: what lanes spawned past the limit was written nowhere. */
BL_FN void bl__close_outbox(bl__worker *w, uint32_t max_spawn) {
    bl__stack *s = w->stack;
    if (w->lane == 0 && (int32_t)(s->top - s->limit) > 0) {
        bl__worker_report(w, BL__SPAWNED_TOO_MANY, max_spawn + (s->top - s->limit));
        s->top = s->limit;
    }
    bl_warp_sync();
}

/* A try to steal that brought `got` entries. Counted in memory: few registers, and nobody waits for it. */
BL_FN void bl__worker_tried(const bl__worker *w, uint32_t got) {
    if (w->lane)
        return;
    bl_far_add64_relaxed(&w->tally->attempts, 1);
    if (got)
        bl_far_add64_relaxed(&w->tally->steals, got);
}

/* Somebody to look at, of all that have a queue. Near first: of four turns two go to those that share a cache, one to
 * those of the node, and one to all, so that whoever has work is found. */
BL_FN uint32_t bl__random_victim(bl__worker *w) {
    const uint32_t random = bl__random32(&w->random);
#if BL_WARP == 1
    if (BL_RARELY(w->run->near != NULL)) {
        const bl__near *near = w->run->near + w->id;
        const uint32_t turn = w->of_steal.turn++ % 4, level = turn < 2 ? 0 : 1;
        if (turn < 3)
            return w->run->order[near->first[level] + random % near->count[level]];
    }
#endif
    return random % w->run->queue_count;
}

/* ---- its timeline; only where run->trace is ---- */

BL_FN bl__trace *bl__worker_trace(const bl__worker *w) { return w->run->trace + (w->tally - w->run->tally); }

BL_FN void bl__worker_turns(const bl__worker *w, bl__standing to) {
    bl__trace_turn(bl__worker_trace(w), w->tally, (uint32_t)to, w->run->launch);
}

BL_FN void bl__worker_makes_room(const bl__worker *w) {
    if (w->run->trace && w->lane == 0)
        bl__trace_thin(bl__worker_trace(w));
}

/* By a scheduler that is about to look at others' queues. Timelines show it only if the worker has nothing to run. */
BL_FN void bl__worker_looks(const bl__worker *w) {
    if (w->run->trace && w->lane == 0 && w->holds == 0)
        bl__worker_trace(w)->looked = bl_time();
}

BL_FN uint32_t bl__max(uint32_t a, uint32_t b) { return a > b ? a : b; }
BL_FN uint32_t bl__min(uint32_t a, uint32_t b) { return a < b ? a : b; }

#endif
