/* Template: what schedulers with a queue per worker have in common: feeding one's own queue, and taking from the
 * others'.
 *
 * The lanes of a warp check one victim each, in turn after the worker's own number or at random. A thief takes one
 * entry, or half of what the victim shows.
 */
#include "../parts/board.h"
#include "transfer.inc.h"

/* Whether workers that are idle are known, and have nothing to take. There are so many only where a worker is a
 * warp. */
#define BL__KNOWS_IDLERS (BL_WARP > 1 && BL__EMPTY_WHEN_IDLE && w->batch > 1 && w->run->random_victims)

/* A warp can take several entries with one operation of the queue. */
#define BL__CLAIMS (BL_WARP > 1 && BL_QUEUE_(CLAIMS))

#if BL_WARP > 1
#define BL__CHOICE 4u /* victims that a lane chooses from */

/* Lane by lane one of four workers that are not idle. In a narrow tree most are, and 32 at random would miss those that
 * have work; but with many more to choose from all idle warps would come to the same few victims. */
BL_FN bool BL__NAME(choose_busy)(bl__worker *w, uint32_t *victim) {
    const uint32_t workers = w->run->queue_count, group = BL__CHOICE * BL_WARP;
    const uint32_t from = bl__random32(&w->random) % ((workers + group - 1) / group);
    const uint32_t part = (w->lane + (w->random >> 16)) % BL_WARP, turn = (w->random >> 24) % BL__CHOICE;
    const uint32_t first = from * group + BL__CHOICE * part;
    const uint32_t idlers = bl_load32_relaxed(w->run->idlers + first / 32) >> first % 32;
    uint32_t busy = ~idlers & ((1u << bl__min(workers - bl__min(first, workers), BL__CHOICE)) - 1);
    if (w->id / BL__CHOICE == first / BL__CHOICE)
        busy &= ~(1u << w->id % BL__CHOICE);
    if (busy == 0)
        return false;
    *victim = first + (bl_lowest_bit(busy >> turn | busy << (BL__CHOICE - turn)) + turn) % BL__CHOICE;
    return true;
}
#endif

/* Lane by lane a victim, or none. */
BL_FN bool BL__NAME(choose)(bl__worker *w, uint32_t *victim) {
    const uint32_t workers = w->run->queue_count;
#if BL_WARP > 1
    if (BL__KNOWS_IDLERS)
        return BL__NAME(choose_busy)(w, victim);
#endif
    const uint32_t from = w->run->random_victims ? bl__random_victim(w) : w->of_steal.victim;
    w->of_steal.victim = (from + BL_WARP) % workers;
    *victim = (from + w->lane) % workers;
    return *victim != w->id && w->lane < workers;
}

/* The same, and how much it shows. */
BL_FN uint32_t BL__NAME(look)(bl__worker *w, uint32_t *victim) {
    if (!BL__NAME(choose)(w, victim))
        return 0;
    BL_QUEUE q = BL__NAME(queue)(w, *victim);
    return BL_QUEUE_(size)(&q);
}

#if !BL__CLAIMS
#define BL__FEW_ENTRIES 4u /* that a thief takes from a queue that has few */

/* By one lane: one entry, or half of those shown. */
BL_FN uint32_t BL__NAME(take_from)(bl__worker *w, BL_QUEUE *q, uint32_t size) {
    uint32_t want = w->run->steal_half ? (size + 1) / 2 : 1;
    uint32_t got = 0;
    want = bl__min(want, w->run->stack_capacity - w->run->outbox); /* the next tasks must still have room to spawn */
#if BL_QUEUE_(BY_HANDLE)
    while (got < want && BL__NAME(take)(w, q, true) == BL_QUEUE_DONE)
        got++;
#else
    bl__stack *s = w->stack;
    got = BL_QUEUE_(steal_n)(q, bl__stack_slot(s, w->words, s->top), bl__min(want, bl__stack_in_line(s)));
    bl__stack_move_top(s, s->top + got);
#endif
    return got;
}

/* Where there are many, or where tasks take long, a warp takes what its lanes need: they run at the same time, so
 * an empty lane saves nothing. Else it takes a few entries, because many look for work. */
BL_FN uint32_t BL__NAME(rob)(bl__worker *w, uint32_t victim, uint32_t size) {
    BL_QUEUE q = BL__NAME(queue)(w, victim);
    uint32_t got = 0;
#if BL_WARP > 1
    if (w->batch > 1 && !BL__ONE_PER_NODE(w->run) && !w->run->steal_half) {
        const bool fill = size >= 2 * w->batch || bl_warp_any(w->lane == 0 && w->stop & BL__PACE);
        const uint32_t most = fill ? w->batch : bl__min((size + 1) / 2, BL__FEW_ENTRIES);
#if BL__DRAWS
        return BL__NAME(draw_batch)(w, &q, most);
#else
        if (w->lane == 0)
            got = BL__NAME(take_batch)(w, &q, true, most);
        bl_warp_sync();
        return bl_warp_broadcast32(got, 0);
#endif
    }
#endif
    if (w->lane == 0)
        got = BL__NAME(take_from)(w, &q, size);
    bl_warp_sync();
    return bl_warp_broadcast32(got, 0);
}
#endif

#if BL_WARP == 1
/* Whoever steals from a deque needs nothing of its own; other queues, and pools of entries, know their threads. */
#define BL__ROBS (BL_QUEUE_(KIND) == BL_QUEUE_KIND_DEQUE && !BL_QUEUE_(BY_HANDLE))
BL_FN uint32_t BL__NAME(rob_half)(bl__worker *w, uint32_t victim, uint32_t most) {
    BL_QUEUE q = BL__NAME(queue)(w, victim);
    const uint32_t want = bl__min((BL_QUEUE_(size)(&q) + 1) / 2, bl__min(most, w->stack->mask + 1));
    uint32_t got = 0;
    while (got < want && BL__NAME(take)(w, &q, true) == BL_QUEUE_DONE)
        got++;
    return got;
}
#endif

#if BL__CLAIMS
/* ---- a warp takes what its lanes need in one go, or gives it, and copies it together ---- */

/* The n entries from `first` on, to the top of the stack, which is not moved yet. Others may be taking them. */
BL_FN void BL__NAME(copy_entries)(bl__worker *w, const BL_QUEUE *q, uint32_t first, uint32_t n) {
    bl__stack *s = w->stack;
    BL_ROLLED
    for (uint32_t i = w->lane; i < n * w->words; i += BL_WARP)
        bl__stack_slot(s, w->words, s->top + i / w->words)[i % w->words] =
            bl_load32_relaxed(BL_QUEUE_(slot)(q, first + i / w->words) + i % w->words);
}

/* Lane by lane the tasks of an entry; how many of these entries make up a batch, with what the worker holds. */
BL_FN uint32_t BL__NAME(enough)(bl__worker *w, uint32_t tasks, uint32_t entries) {
    const uint32_t before = w->holds + bl_warp_prefix_add_small(bl__min(tasks, w->batch));
    return bl_popcount(bl_warp_ballot(w->lane < entries && (w->run->steal_half || before < w->batch)));
}
BL_FN uint32_t BL__NAME(tasks_at)(const BL_QUEUE *q, uint32_t position) {
    const uint32_t *entry = BL_QUEUE_(slot)(q, position);
    return bl_load32_relaxed(entry + 1) - bl_load32_relaxed(entry);
}

/* Of n entries those that there may be a use and room for; a batch always fits. */
BL_FN uint32_t BL__NAME(at_most)(bl__worker *w, uint32_t n) {
    if ((w->batch == 1 && !w->run->steal_half) || BL__ONE_PER_NODE(w->run))
        return bl__min(n, 1);
    n = bl__min(n, BL_WARP);
    return w->batch > 1 ? n : bl__min(n, w->run->stack_capacity - w->run->outbox);
}

BL_FN uint32_t BL__NAME(keep_entries)(bl__worker *w, uint32_t n) {
    bl_warp_sync();
    if (w->lane == 0)
        bl__stack_move_top(w->stack, w->stack->top + n);
    bl_warp_sync();
    return n;
}

/* Where there are many, or where tasks take long, a thief takes what its lanes need: they run at the same time, so an
 * empty lane saves nothing. Else it takes half at most, because many look for work. All are copied before it is known
 * how many are enough: that saves a round trip to memory. */
BL_FN uint32_t BL__NAME(claim)(bl__worker *w, uint32_t victim) {
    BL_QUEUE q = BL__NAME(queue)(w, victim);
    uint64_t word = 0;
    uint32_t n = 0, won = 0;
    if (w->lane == 0) {
        n = BL_QUEUE_(look)(&q, &word);
        if (!(w->stop & BL__PACE) || w->run->steal_half)
            n = (n + 1) / 2;
        n = BL__NAME(at_most)(w, n);
    }
    n = bl_warp_broadcast32(n, 0);
    bl_warp_sync(); /* what lane 0 has acquired, the others may read */
    if (n == 0)
        return 0;
    const uint32_t first = bl_warp_broadcast32((uint32_t)word, 0);
    const uint32_t tasks = w->lane < n ? BL__NAME(tasks_at)(&q, first + w->lane) : 0;
    BL__NAME(copy_entries)(w, &q, first, n);
    n = BL__NAME(enough)(w, tasks, n);
    bl_warp_sync();
    if (w->lane == 0)
        won = BL_QUEUE_(claim)(&q, word, n);
    return bl_warp_broadcast32(won, 0) ? BL__NAME(keep_entries)(w, n) : 0;
}

/* The n oldest of the stack into the own queue; how many went. */
BL_FN uint32_t BL__NAME(put_together)(bl__worker *w, uint32_t n) {
    BL_QUEUE q = BL__NAME(queue)(w, w->id);
    bl__stack *s = w->stack;
    uint32_t bottom = 0, room = w->lane ? 0 : BL_QUEUE_(room)(&q, &bottom);
    n = bl__min(n, bl_warp_broadcast32(room, 0));
    bottom = bl_warp_broadcast32(bottom, 0);
    bl_warp_sync(); /* what lane 0 has acquired, the others may write */
    BL_ROLLED
    for (uint32_t i = w->lane; i < n * w->words; i += BL_WARP)
        bl_store32_relaxed(BL_QUEUE_(slot)(&q, bottom + i / w->words) + i % w->words,
                           bl__stack_slot(s, w->words, s->bottom + i / w->words)[i % w->words]);
    bl_warp_sync();
    if (w->lane == 0) {
        BL_QUEUE_(raise)(&q, bottom + n);
        s->bottom += n;
    }
    return n;
}

BL_FN uint32_t BL__NAME(take_own_together)(bl__worker *w) {
    BL_QUEUE q = BL__NAME(queue)(w, w->id);
    uint32_t n = BL__NAME(at_most)(w, bl_warp_broadcast32(w->lane ? 0 : BL_QUEUE_(size)(&q), 0));
    if (n == 0)
        return 0;
    const uint32_t bottom = bl_warp_broadcast32(w->lane ? 0 : bl_load32_relaxed(q.bottom), 0);
    if (n > 1)
        n = BL__NAME(enough)(w, w->lane < n ? BL__NAME(tasks_at)(&q, bottom - 1 - w->lane) : 0, n);
    n = bl_warp_broadcast32(w->lane ? 0 : BL_QUEUE_(lower)(&q, n), 0);
    BL__NAME(copy_entries)(w, &q, bottom - n, n);
    return BL__NAME(keep_entries)(w, n);
}
#endif

#if BL_WARP > 1
#define BL__LOOKS_AT_BOARDS (w->batch == 1 && w->run->boards)

/* Which boards show something, lane by lane: each worker begins with another one. */
BL_FN uint32_t BL__NAME(board_of)(const bl__worker *w) { return (w->lane + w->id) % BL__BOARDS_SEEN; }
BL_FN bool BL__NAME(sees_board)(const bl__worker *w) {
    return BL__LOOKS_AT_BOARDS && w->lane < BL__BOARDS_SEEN && bl__board_shows(w->run, BL__NAME(board_of)(w));
}

/* A task from a board. `shows`: what sees_board said. */
BL_FN uint32_t BL__NAME(take_posted)(bl__worker *w, bool shows) {
    const bl__run *run = w->run;
    uint32_t left = 0, board = 0;
    for (uint32_t seen = bl_warp_ballot(shows); seen && left == 0; seen &= seen - 1) {
        board = bl_warp_broadcast32(BL__NAME(board_of)(w), bl_lowest_bit(seen));
        left = bl_warp_broadcast32(w->lane ? 0 : bl__board_take(run, board), 0);
        bl__worker_tried(w, left > 0);
    }
    if (left == 0)
        return 0;
    uint32_t *slot = bl__stack_slot(w->stack, w->words, w->stack->top);
    bl_warp_sync(); /* what lane 0 has acquired, the others may read */
    for (uint32_t i = w->lane; i < w->words; i += BL_WARP)
        bl_data_read(slot + i, bl__board_entry(run, board, w->words) + i, 1);
    bl_warp_sync();
    if (w->lane == 0) {
        bl__board_copied(run, board);
        slot[0] = slot[1] - left;
        slot[1] = slot[0] + 1;
        bl__stack_move_top(w->stack, w->stack->top + 1);
    }
    bl_warp_sync();
    return 1;
}
#endif

/* Of its own queue, or what lies on a board. */
BL_FN uint32_t BL__NAME(take_own_or_posted)(bl__worker *w) {
    uint32_t got;
#if BL_WARP > 1
    const bool posted = BL__NAME(sees_board)(w); /* in the time that the look at its own queue takes */
#endif
#if BL__CLAIMS
    got = BL__NAME(take_own_together)(w);
#else
    BL_QUEUE own = BL__NAME(queue)(w, w->id);
    got = BL__NAME(fill)(w, &own);
#endif
    if (got)
        return got;
    bl__worker_looks(w);
#if BL_WARP > 1
    if (BL__LOOKS_AT_BOARDS && BL__NAME(take_posted)(w, posted))
        return 1;
#endif
    return 0;
}

/* An idle worker that has seen something goes straight there: each look takes a GPU's memory as long as many a task. */
BL_FN uint32_t BL__NAME(fetch)(bl__worker *w) {
    uint32_t victim = w->of_steal.seen, size = w->of_steal.size, show = bl_warp_ballot(size > 0), got = 0;
    w->of_steal.seen = w->of_steal.size = 0; /* constants, so that no register holds them while tasks run */
    if (show && BL__EMPTY_WHEN_IDLE)
        bl__worker_looks(w);
    else
        got = BL__NAME(take_own_or_posted)(w);
    if (got)
        return got;
    if (!show) {
        size = BL__NAME(look)(w, &victim);
        show = bl_warp_ballot(size > 0);
    }
    for (uint32_t tries = 0; show && tries < 4; show &= show - 1, tries++) {
        uint32_t lane = bl_lowest_bit(show);
        uint32_t from = bl_warp_broadcast32(victim, lane);
#if BL__CLAIMS
        got = BL__NAME(claim)(w, from);
#else
        got = BL__NAME(rob)(w, from, bl_warp_broadcast32(size, lane));
#endif
        bl__worker_tried(w, got);
        if (got)
            break;
    }
    return got;
}

/* The n oldest entries into the own queue; how many went. */
BL_FN uint32_t BL__NAME(feed)(bl__worker *w, uint32_t n) {
    BL_QUEUE own = BL__NAME(queue)(w, w->id);
#if BL__CLAIMS
    const uint32_t done = BL__ONE_PER_NODE(w->run) ? BL__NAME(send_oldest)(w, &own, n) : BL__NAME(put_together)(w, n);
#else
    const uint32_t done = BL__NAME(send_oldest)(w, &own, n);
#endif
    if (w->lane == 0) {
        /* With a private stack it was empty, or full, and another look would cost more than it tells. */
        uint32_t size = w->run->private_limit ? done : BL_QUEUE_(size)(&own);
        bl_far_max64_relaxed(&w->tally->queue_peak, size);
        w->peak = bl__max(w->peak, bl__stack_count(w->stack) + size);
    }
    bl_warp_sync();
    return done;
}

BL_FN uint32_t BL__NAME(shown)(bl__worker *w) {
    BL_QUEUE own = BL__NAME(queue)(w, w->id);
    return BL_QUEUE_(size)(&own);
}

BL_FN bool BL__NAME(sees_work)(bl__worker *w) {
#if BL_WARP > 1
    const bool posted = BL__NAME(sees_board)(w);
#endif
    w->of_steal.size = BL__NAME(look)(w, &w->of_steal.seen); /* fetch comes back to these */
    if (bl_warp_any(w->of_steal.size > 0))
        return true;
#if BL_WARP > 1
    if (BL__LOOKS_AT_BOARDS && bl_warp_any(posted))
        return true;
#endif
    return bl_warp_any(w->lane == 0 && BL__NAME(shown)(w) > 0);
}

BL_FN bool BL__NAME(all_empty)(bl__worker *w) {
    uint32_t left = 0;
    BL_OVERLAP
    for (uint32_t i = w->lane; i < w->run->queue_count; i += BL_WARP) {
        BL_QUEUE q = BL__NAME(queue)(w, i);
        left |= BL_QUEUE_(size)(&q);
    }
    return !bl_warp_any(left != 0);
}

#undef BL__KNOWS_IDLERS
#undef BL__LOOKS_AT_BOARDS
#undef BL__FEW_ENTRIES
#undef BL__CLAIMS
#undef BL__DRAWS
