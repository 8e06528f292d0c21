/* Wait-free queue of Yang and Mellor-Crummey, on a ring.
 *
 * Yang and Mellor-Crummey 2016, "A wait-free queue as fast as fetch-and-add". An infinite array: a push takes an index
 * by fetch-and-add on the tail and puts its value there by one compare-and-swap, a pop takes an index of the head and
 * the value there. A pop that comes first shuts the cell, and both take another index. A thread that fails
 * BL_WFQ_PATIENCE times asks for help: a push is given the cells that pops find open, by each thread for the next in a
 * circle; every successful pop works on the pending pop of another thread. Here the array is a ring of segments that
 * are used again, and the words of a cell tell the laps apart: parts/wfq_cells.h.
 *
 *     tail, head, limit, waste: apart from each other    then a line per thread, bl_wfq_handle
 *     cells[ring], owners[ring]: 64 bits each    cleared[ring / BL_WFQ_SEGMENT]: 32 bits each, the lap for which a
 *                                                segment is known to be open
 *
 *     | taken taken shut | item  item  lent item | open  open  open  open ... | taken taken ...
 *       limit - ring       ^ head                  ^ tail                       ^ limit: the next segment to be
 *                                                                               recycled
 *
 * Anyone may call anything; each thread must bind with a number of its own, below shape.threads. Values are any 32
 * bits. Memory: 4 KiB, a line per thread and 16 bytes a cell (and 4 a segment); ring = capacity + 4 threads + 2
 * BL_WFQ_SEGMENT + 8, rounded up to a power of two. Capacity 2^20 with 270,336 threads: 97 MiB.
 *
 * Bound, with n threads: every index that is used lies below the limit, so nobody ever waits for a cell, or has a
 * ticket and no cell for it.
 *   - The tail passes an index i only where i < limit - 2n - 4 was seen (bl_wfq_fits). A thread compares with what it
 *     saw last of the tail, so each can have one ticket beyond: tail < limit - n - 3.
 *   - A pop takes a ticket only when it last saw head < tail, so each can have one from the tail on; helpers look no
 *     further than the tail, and at most push the head one past it: head <= tail + n + 1.
 *   - At rest all cells behind both ends can be recycled: limit > min(head, tail) + ring - BL_WFQ_SEGMENT. Between head
 *     and tail up to n + 1 cells hold no item (lent to a push that ended elsewhere, or shut by a helper that came
 *     late). So a push finds room if fewer than `capacity` are in.
 *
 * Wait-free: every operation ends after a bounded number of its own steps, as in the paper; a push may end with FULL.
 * What bounded memory costs is that FULL can come early: an item stays in its cell as long as the pop that has its
 * ticket, or for which it is held, does nothing. Then the limit cannot pass it, and when the pushes have used up the
 * ring they are refused until that pop continues; pops are not. No other thread that stops, in a push, in helping, in
 * recycling or in a pop at another cell, keeps a cell.
 *
 * Linearization: push when the tail passes the index at which it ends (T1); pop when both ends have passed the index of
 * its item, or when somebody found the queue empty beyond it, if that is earlier; EMPTY when the tail is read, in
 * bl_wfq_ahead (it is not beyond the head) or in bl_wfq_look (it is not beyond a cell that is shut, while every cell
 * before is either taken, shut or behind the head).
 *
 * Order pairs
 *   C1 (cell, release) with C2 (acquire): what an item's handle stands for; the owner and the request of a cell that is
 *     lent, the owner of one that is held. Relaxed compare-and-swaps on a cell carry on the release sequence of what
 *     they replace.
 *   S1, L1, T1, H1 (cleared, limit, tail, head, release) with S2, L2, T2, H2 (acquire): a cell is opened for its lap
 *     before somebody gets an index in it. A thread that clears has read that, a thread that moves the limit knows it
 *     by S, a thread that moves the tail by L, a thread that moves the head by T, and a thread that gets the index by
 *     H. A pop that read an older lap would take its cell for one that is long used, and leave an item there.
 *   E1 (head, acquire) with H1: the tail is read after the head, and is at least what the last pop knew: EMPTY.
 *   R1 (push request, release) with R2 (acquire): the value, and what it stands for; back: the cell in which it was
 *     settled.
 *   Q1 (pop request, release) with Q2 (acquire): pop_from, and the state of the cell that is tried or in which it was
 *     settled.
 *   The value of a request needs no order of its own: a thread that could put a later value into a lent cell would
 *   have seen that it is an item by now.
 *
 * Differences from the paper: a ring of segments instead of a list, and no pointers; laps in the words instead of
 * announcing segments to a cleaner that looks at all threads, twice: a thread that stops keeps no segment but in the
 * case above. A cell is one word on the fast path and opens again with the pop; the paper's val and enq are its states
 * (bottom is open, top is shut), and one word says which thread owns it for enq or for deq. A lent cell names the
 * request, so that no later one of the same thread can end there when the cell is given up. A pop looks at the ends
 * before it takes a ticket, and a push at the limit; a push that finds itself behind the head moves the tail there.
 * FULL withdraws a request. waste counts the tickets that came to nothing, for the size.
 */
#ifndef BL_QUEUES_WFQ_H
#define BL_QUEUES_WFQ_H

#include "../parts/wfq_cells.h"
#include "contract.h"

#define bl_wfq_TEXT "wait-free queue by fetch-and-add and helping (Yang, Mellor-Crummey 2016)"
#define bl_wfq_KIND BL_QUEUE_KIND_FIFO
#define bl_wfq_FLAGS                                                                                                   \
    (BL_QUEUE_LINEARIZABLE | BL_QUEUE_EXACT_EMPTY | BL_QUEUE_STATIC_MEMORY | BL_QUEUE_FAIR | BL_QUEUE_ALL_PARADIGMS |  \
     BL_QUEUE_MULTI_QUEUE | BL_QUEUE_ORDERS_MEMORY)
#define bl_wfq_PROGRESS "wait-free"
#define bl_wfq_BY_HANDLE 1
#define bl_wfq_PER_THREAD 1
#define bl_wfq_LEAST 1u
#define bl_wfq_MOST_THREADS (1u << 27)
#define bl_wfq_DEVICES "cpu cuda sim"

#ifndef BL_WFQ_PATIENCE
#define BL_WFQ_PATIENCE 10u /* tickets that may fail, besides the first, before help is asked for */
#endif
#ifndef BL_WFQ_SPIN
#define BL_WFQ_SPIN 16u /* looks at a cell whose push is on its way, before the cell is shut */
#endif

typedef struct bl_wfq {
    uint64_t *tail, *head, *limit, *waste;
    bl_wfq_handle *handles, *own;
    uint64_t *cells, *owners;
    uint32_t *cleared;
    uint32_t mask, log, threads, thread, words;
} bl_wfq;

BL_HOST_FN uint32_t bl_wfq_ring(bl_shape shape) {
    uint32_t ring = shape.capacity + 4 * shape.threads + 2 * BL_WFQ_SEGMENT + 7;
    for (uint32_t shift = 1; shift < 32; shift *= 2)
        ring |= ring >> shift;
    return ring + 1;
}

BL_HOST_FN size_t bl_wfq_bytes(bl_shape shape) {
    size_t ring = bl_wfq_ring(shape);
    return 4 * BL_APART + shape.threads * sizeof(bl_wfq_handle) + 16 * ring + 4 * (ring / BL_WFQ_SEGMENT);
}

BL_FN void bl_wfq_bind(bl_wfq *q, void *memory, bl_shape shape, uint32_t thread) {
    uint32_t ring = bl_wfq_ring(shape);
    q->tail = (uint64_t *)bl__queue_apart(memory, 0);
    q->head = (uint64_t *)bl__queue_apart(memory, 1);
    q->limit = (uint64_t *)bl__queue_apart(memory, 2);
    q->waste = (uint64_t *)bl__queue_apart(memory, 3);
    q->handles = (bl_wfq_handle *)bl__queue_apart(memory, 4);
    q->own = q->handles + thread;
    q->cells = (uint64_t *)(q->handles + shape.threads);
    q->owners = q->cells + ring;
    q->cleared = (uint32_t *)(q->owners + ring);
    q->mask = ring - 1;
    q->log = bl_lowest_bit(ring);
    q->threads = shape.threads;
    q->thread = thread;
    q->words = 1;
}

BL_FN uint64_t bl_wfq_lap(const bl_wfq *q, uint64_t i) { return i >> q->log; }
BL_FN uint64_t *bl_wfq_cell(const bl_wfq *q, uint64_t i) { return q->cells + bl_wfq_place(i, q->mask); }
BL_FN uint64_t *bl_wfq_owner(const bl_wfq *q, uint64_t i) { return q->owners + bl_wfq_place(i, q->mask); }
BL_FN uint64_t bl_wfq_open(const bl_wfq *q, uint64_t i) { return bl_wfq_word(bl_wfq_lap(q, i), BL_WFQ_OPEN, 0); }
/* The bump that keeps latecomers out. */
BL_FN uint64_t bl_wfq_reopened(const bl_wfq *q, uint64_t i) {
    return bl_wfq_word(bl_bump(bl_wfq_lap(q, i)), BL_WFQ_OPEN, 0);
}
BL_FN uint32_t bl_wfq_next(const bl_wfq *q, uint32_t thread) { return thread + 1 < q->threads ? thread + 1 : 0; }

/* `start` counts laps, so that it is the laps that wrap around. */
BL_FN void bl_wfq_init(bl_wfq *q, uint32_t start, uint32_t rank, uint32_t size) {
    uint64_t begin = (uint64_t)start << q->log, end = begin + q->mask + 1;
    for (uint64_t i = rank; i <= q->mask; i += size) {
        bl_store64_relaxed(q->cells + i, bl_wfq_word(start, BL_WFQ_OPEN, 0));
        bl_store64_relaxed(q->owners + i, bl_wfq_word((uint64_t)start - 1, BL_WFQ_POPS, BL_WFQ_NOBODY));
    }
    for (uint32_t i = rank; i <= q->mask / BL_WFQ_SEGMENT; i += size)
        bl_store32_relaxed(q->cleared + i, start);
    for (uint32_t i = rank; i < q->threads; i += size) {
        bl_wfq_handle h = {0, 0, 0, 0, {0}, begin, begin, end, 0, bl_wfq_next(q, i), bl_wfq_next(q, i), {0}};
        q->handles[i] = h;
    }
    if (rank == 0) {
        bl_store64_relaxed(q->tail, begin);
        bl_store64_relaxed(q->head, begin);
        bl_store64_relaxed(q->limit, end);
        bl_store64_relaxed(q->waste, 0);
    }
}

/* ---- the ends ---- */

/* Indices that the tail passed without a push, less those that the head passed without a pop: what tail - head is
 * off by. */
BL_FN void bl_wfq_wasted(bl_wfq *q, uint64_t indices) {
    if (indices)
        bl_fetch_add64_relaxed(q->waste, indices);
}

BL_FN void bl_wfq_advance(bl_wfq *q, uint64_t *end, uint64_t to) {
    uint64_t from = bl_load64_relaxed(end);
    while (from < to)
        if (bl_cas64_release(end, &from, to)) { /* T1, H1 */
            bl_wfq_wasted(q, end == q->tail ? to - from : from - to);
            return;
        }
}

/* Whether the tail may go past index i: see "Bound". */
BL_FN bool bl_wfq_fits(const bl_wfq *q, uint64_t i) {
    uint64_t needed = i + 2 * (uint64_t)q->threads + 4;
    if (needed >= q->own->limit)
        q->own->limit = bl_load64_acquire(q->limit); /* L2 */
    return needed < q->own->limit;
}

/* Whether there may be something to pop; if not, the queue was empty when the tail was read. */
BL_FN bool bl_wfq_ahead(bl_wfq *q) {
    bl_wfq_handle *own = q->own;
    if (own->head >= own->tail) {
        own->head = bl_load64_acquire(q->head); /* E1 */
        own->tail = bl_load64_acquire(q->tail); /* T2 */
    }
    return own->head < own->tail;
}

BL_FN uint64_t bl_wfq_push_ticket(bl_wfq *q) {
    uint64_t i = bl_fetch_add64_acq_rel(q->tail, 1); /* T1, T2 */
    q->own->tail = i + 1;
    return i;
}
BL_FN uint64_t bl_wfq_pop_ticket(bl_wfq *q) {
    uint64_t i = bl_fetch_add64_acq_rel(q->head, 1); /* H1, H2 */
    q->own->head = i + 1;
    return i;
}

/* ---- a cell ---- */

/* Makes `thread` the owner of cell i, if it has none yet. Returns the owner; nobody, when the time for it is over. */
BL_FN uint32_t bl_wfq_propose(bl_wfq *q, uint64_t i, uint32_t kind, uint32_t thread) {
    uint64_t mine = bl_wfq_word(bl_wfq_lap(q, i), kind, thread), owner = bl_load64_relaxed(bl_wfq_owner(q, i));
    while ((int32_t)(bl_wfq_upper(mine) - bl_wfq_upper(owner)) > 0)
        if (bl_cas64_relaxed(bl_wfq_owner(q, i), &owner, mine))
            return thread;
    return bl_wfq_upper(owner) == bl_wfq_upper(mine) ? (uint32_t)owner : BL_WFQ_NOBODY;
}

/* The push request that our peer wants help with at cell i, or 0. The peer stays the same until it has got that
 * help. */
BL_FN uint64_t bl_wfq_peer_request(bl_wfq *q, uint64_t i) {
    bl_wfq_handle *own = q->own;
    uint64_t request = bl_load64_relaxed(&q->handles[own->push_peer].push);
    if (own->helped && own->helped != request) {
        own->push_peer = bl_wfq_next(q, own->push_peer);
        request = bl_load64_relaxed(&q->handles[own->push_peer].push);
    }
    own->helped = bl_wfq_is_pending(request) && bl_wfq_index(request) <= i && bl_wfq_fits(q, i) ? request : 0;
    return own->helped;
}

/* An open cell i, which the pops have reached: lent to the request of our peer or of whom else owns it, or shut. */
BL_FN void bl_wfq_offer(bl_wfq *q, uint64_t i) {
    bl_wfq_handle *own = q->own;
    uint64_t lap = bl_wfq_lap(q, i), word = bl_wfq_open(q, i), now = bl_wfq_word(lap, BL_WFQ_SHUT, 0);
    uint64_t wish = bl_wfq_peer_request(q, i), owner = bl_load64_relaxed(bl_wfq_owner(q, i));
    uint32_t thread = wish ? bl_wfq_propose(q, i, BL_WFQ_PUSHES, own->push_peer) : BL_WFQ_NOBODY;
    if (!wish && bl_wfq_is(owner, lap, BL_WFQ_PUSHES))
        thread = (uint32_t)owner;
    if (thread != BL_WFQ_NOBODY) {
        uint64_t request = bl_load64_relaxed(&q->handles[thread].push);
        if (bl_wfq_is_pending(request) && bl_wfq_index(request) <= i)
            now = bl_wfq_word(lap, BL_WFQ_LENT, (uint32_t)bl_wfq_index(request));
    }
    bool given = bl_cas64_release(bl_wfq_cell(q, i), &word, now); /* C1 */
    if (!wish || (given && thread == own->push_peer)) {
        own->helped = 0;
        own->push_peer = bl_wfq_next(q, own->push_peer);
    }
}

/* Cell i is lent to a push request: it becomes an item if the request is, or now can be, settled here. Else that
 * will never be, and it is shut. */
BL_FN void bl_wfq_settle_push(bl_wfq *q, uint64_t i, uint64_t word) {
    uint64_t lap = bl_wfq_lap(q, i), owner = bl_load64_relaxed(bl_wfq_owner(q, i)), here = bl_wfq_settled(i);
    if (!bl_wfq_is(owner, lap, BL_WFQ_PUSHES))
        return;
    bl_wfq_handle *h = q->handles + (uint32_t)owner;
    uint64_t request = bl_load64_acquire(&h->push), now = bl_wfq_word(lap, BL_WFQ_SHUT, 0); /* R2 */
    uint32_t value = bl_load32_relaxed(&h->value);
    if (bl_wfq_is_pending(request) && (uint32_t)bl_wfq_index(request) == (uint32_t)word &&
        bl_cas64_release(&h->push, &request, here)) /* R1 */
        request = here;
    if (request == here) {
        bl_wfq_advance(q, q->tail, i + 1);
        now = bl_wfq_word(lap, BL_WFQ_ITEM, value);
    }
    bl_cas64_release(bl_wfq_cell(q, i), &word, now); /* C1 */
}

typedef enum bl_wfq_sight { BL_WFQ_SEES_ITEM, BL_WFQ_SEES_END, BL_WFQ_SEES_NOTHING } bl_wfq_sight;

/* Makes sure that no push comes to cell i any more, and says what there is: an item (*seen), which may be gone the
 * next moment; the end of the queue; or nothing, for good. */
BL_FN bl_wfq_sight bl_wfq_look(bl_wfq *q, uint64_t i, uint64_t *seen) {
    uint64_t open = bl_wfq_open(q, i), word;
    while (bl_wfq_same_lap(word = bl_load64_acquire(bl_wfq_cell(q, i)), open)) { /* C2 */
        switch (bl_wfq_state(word)) {
        case BL_WFQ_OPEN:
            bl_wfq_offer(q, i);
            break;
        case BL_WFQ_LENT:
            bl_wfq_settle_push(q, i, word);
            break;
        case BL_WFQ_ITEM:
            *seen = word;
            return BL_WFQ_SEES_ITEM;
        case BL_WFQ_SHUT:
            return bl_load64_relaxed(q->tail) <= i ? BL_WFQ_SEES_END : BL_WFQ_SEES_NOTHING;
        default: /* held */
            return BL_WFQ_SEES_NOTHING;
        }
    }
    return BL_WFQ_SEES_NOTHING;
}

/* ---- recycling ---- */

/* Opens cell i, behind both ends, for the next lap. False while an item is in it, for a pop that is on its way. */
BL_FN bool bl_wfq_clear_cell(bl_wfq *q, uint64_t i) {
    uint64_t open = bl_wfq_open(q, i), word = bl_load64_relaxed(bl_wfq_cell(q, i));
    if (!bl_wfq_same_lap(word, open))
        return true;
    if (bl_wfq_look(q, i, &word) == BL_WFQ_SEES_ITEM)
        return false;
    word = bl_load64_relaxed(bl_wfq_cell(q, i));
    if (bl_wfq_same_lap(word, open) && bl_wfq_state(word) == BL_WFQ_HELD)
        return false;
    if (bl_wfq_same_lap(word, open))
        bl_cas64_relaxed(bl_wfq_cell(q, i), &word, bl_wfq_reopened(q, i));
    return true;
}

BL_FN bool bl_wfq_clear(bl_wfq *q, uint64_t first) {
    uint32_t *cleared = q->cleared + ((uint32_t)first & q->mask) / BL_WFQ_SEGMENT,
             lap = (uint32_t)bl_wfq_lap(q, first) + 1;
    if (bl_load32_acquire(cleared) == lap) /* S2 */
        return true;
    for (uint32_t k = 0; k < BL_WFQ_SEGMENT; k++)
        if (!bl_wfq_clear_cell(q, first + k))
            return false;
    bl_store32_release(cleared, lap); /* S1 */
    return true;
}

/* The oldest segment goes to the other end. False if it cannot yet. */
BL_FN bool bl_wfq_recycle(bl_wfq *q) {
    uint64_t limit = bl_load64_relaxed(q->limit), first = limit - q->mask - 1;
    uint64_t head = bl_load64_acquire(q->head), tail = bl_load64_relaxed(q->tail); /* H2 */
    if (first + BL_WFQ_SEGMENT > (head < tail ? head : tail) || !bl_wfq_clear(q, first))
        return false;
    bl_cas64_release(q->limit, &limit, limit + BL_WFQ_SEGMENT); /* L1 */
    return true;
}

/* By the pop that has the last ticket of a segment: the segment before that one, which others need not look at then,
 * and the oldest. */
BL_FN void bl_wfq_tidy(bl_wfq *q, uint64_t ticket) {
    if (ticket % BL_WFQ_SEGMENT != BL_WFQ_SEGMENT - 1)
        return;
    uint64_t first = ticket + 1 - 2 * BL_WFQ_SEGMENT, oldest = bl_load64_relaxed(q->limit) - q->mask - 1;
    if ((int64_t)(first - oldest) > 0 && first + BL_WFQ_SEGMENT <= q->own->tail)
        bl_wfq_clear(q, first);
    for (uint32_t k = 0; k < 2 && bl_wfq_recycle(q); k++)
        ;
}

/* Whether a push may take a ticket. */
BL_FN bool bl_wfq_room(bl_wfq *q) {
    while (!bl_wfq_fits(q, q->own->tail))
        if (!bl_wfq_recycle(q))
            return bl_wfq_fits(q, q->own->tail);
    return true;
}

/* ---- push ---- */

BL_FN bool bl_wfq_push_at(bl_wfq *q, uint64_t i, uint32_t value) {
    uint64_t word = bl_wfq_open(q, i);
    if (bl_cas64_release(bl_wfq_cell(q, i), &word, bl_wfq_word(bl_wfq_lap(q, i), BL_WFQ_ITEM, value))) /* C1 */
        return true;
    uint64_t head = bl_load64_relaxed(q->head);
    if (head > q->own->tail && bl_wfq_fits(q, head)) { /* up to there the cells are the pops' */
        bl_wfq_advance(q, q->tail, head);
        q->own->tail = head;
    }
    return false;
}

/* A ticket of a pending push: the cell is lent to the own request, as a helper would do. */
BL_FN void bl_wfq_push_lent(bl_wfq *q, uint64_t i, uint64_t from) {
    uint64_t word = bl_wfq_open(q, i), lent = bl_wfq_word(bl_wfq_lap(q, i), BL_WFQ_LENT, (uint32_t)from);
    if (bl_wfq_propose(q, i, BL_WFQ_PUSHES, q->thread) != q->thread)
        return;
    if (bl_cas64_release(bl_wfq_cell(q, i), &word, lent) || word == lent) /* C1 */
        bl_wfq_settle_push(q, i, lent);
}

BL_FN void bl_wfq_push_asks(bl_wfq *q, uint64_t from, uint32_t value) {
    bl_store32_relaxed(&q->own->value, value);
    bl_store64_release(&q->own->push, bl_wfq_pending(from)); /* R1 */
}

/* The end of the own request: where it was settled the item must be in its cell before we go. False if it was not,
 * and is withdrawn. */
BL_FN bool bl_wfq_push_ends(bl_wfq *q, uint64_t from) {
    uint64_t request = bl_wfq_pending(from);
    if (bl_cas64_acquire(&q->own->push, &request, bl_wfq_settled(UINT64_MAX))) /* R2 */
        return false;
    uint64_t i = bl_wfq_index(request), lent = bl_wfq_word(bl_wfq_lap(q, i), BL_WFQ_LENT, (uint32_t)from);
    if (bl_load64_acquire(bl_wfq_cell(q, i)) == lent) /* C2 */
        bl_wfq_settle_push(q, i, lent);
    return true;
}

BL_FN bl_outcome bl_wfq_push(bl_wfq *q, const uint32_t *item) {
    uint32_t tickets = 0;
    uint64_t from = 0;
    bool done = false, asked = false;
    while (!done && bl_wfq_room(q)) {
        uint64_t i = bl_wfq_push_ticket(q);
        tickets++;
        if (asked) {
            bl_wfq_push_lent(q, i, from);
            done = !bl_wfq_is_pending(bl_load64_relaxed(&q->own->push));
        } else {
            done = bl_wfq_push_at(q, i, *item);
            asked = !done && tickets > BL_WFQ_PATIENCE;
            if (asked)
                bl_wfq_push_asks(q, from = i, *item);
        }
    }
    if (asked)
        done = bl_wfq_push_ends(q, from);
    bl_wfq_wasted(q, tickets - (done ? 1u : 0u));
    return done ? BL_QUEUE_DONE : BL_QUEUE_FULL;
}

/* ---- pop ---- */

/* Cell i, which the pending pop of `thread` is trying: true if it ends there, with the item or because it is shut. */
BL_FN bool bl_wfq_settle_pop(bl_wfq *q, uint64_t i, uint32_t thread) {
    uint64_t lap = bl_wfq_lap(q, i), word = bl_load64_acquire(bl_wfq_cell(q, i)); /* C2 */
    uint64_t held = bl_wfq_word(lap, BL_WFQ_HELD, (uint32_t)word);
    if (bl_wfq_is(word, lap, BL_WFQ_SHUT))
        return true;
    if (bl_wfq_is(word, lap, BL_WFQ_ITEM) && bl_wfq_propose(q, i, BL_WFQ_POPS, thread) != BL_WFQ_NOBODY &&
        bl_cas64_release(bl_wfq_cell(q, i), &word, held)) /* C1 */
        word = held;
    return bl_wfq_is(word, lap, BL_WFQ_HELD) &&
           bl_load64_relaxed(bl_wfq_owner(q, i)) == bl_wfq_word(lap, BL_WFQ_POPS, thread);
}

/* The pending pop of `thread`, if it has one. All helpers look at the same cells in the same order and try the
 * same one at a time. */
BL_FN void bl_wfq_help_pop(bl_wfq *q, uint32_t thread) {
    bl_wfq_handle *h = q->handles + thread;
    uint64_t request = bl_load64_acquire(&h->pop), from = bl_load64_relaxed(&h->pop_from); /* Q2 */
    if (!bl_wfq_is_pending(request) || bl_wfq_index(request) < from)
        return;
    uint64_t tried = from, i = from, found = 0, word;
    for (;;) {
        while (!found && request == bl_wfq_pending(tried)) {
            if (bl_wfq_look(q, ++i, &word) != BL_WFQ_SEES_NOTHING)
                found = i;
            else
                request = bl_load64_acquire(&h->pop); /* Q2 */
        }
        if (found && bl_cas64_release(&h->pop, &request, bl_wfq_pending(found))) /* Q1 */
            request = bl_wfq_pending(found);
        if (!bl_wfq_is_pending(request) || bl_load64_relaxed(&h->pop_from) != from)
            return;
        tried = bl_wfq_index(request);
        if (bl_wfq_settle_pop(q, tried, thread)) {
            bl_cas64_release(&h->pop, &request, bl_wfq_settled(tried)); /* Q1 */
            return;
        }
        if (tried >= i) {
            found = 0;
            i = tried;
        }
    }
}

BL_FN void bl_wfq_pop_asks(bl_wfq *q, uint64_t from) {
    bl_store64_relaxed(&q->own->pop_from, from);
    bl_store64_release(&q->own->pop, bl_wfq_pending(from)); /* Q1 */
}

/* The end of the own request, which is settled. False if that was at the end of the queue. */
BL_FN bool bl_wfq_pop_ends(bl_wfq *q, uint32_t *item) {
    uint64_t i = bl_wfq_index(bl_load64_relaxed(&q->own->pop)), word = bl_load64_relaxed(bl_wfq_cell(q, i));
    bool got = bl_wfq_is(word, bl_wfq_lap(q, i), BL_WFQ_HELD); /* for nobody else: it was settled here */
    if (got) {
        *item = (uint32_t)word;
        bl_store64_release(bl_wfq_cell(q, i), bl_wfq_reopened(q, i)); /* C1 */
    }
    bl_wfq_advance(q, q->head, i + 1);
    return got;
}

/* The push of this cell, if there is one, is given a moment. */
BL_FN bl_wfq_sight bl_wfq_await(bl_wfq *q, uint64_t i, uint64_t *seen) {
    for (uint32_t left = BL_WFQ_SPIN; left > 0 && i < q->own->tail; left--) {
        if (bl_load64_relaxed(bl_wfq_cell(q, i)) != bl_wfq_open(q, i))
            break;
        bl_backoff(BL_WFQ_SPIN - left);
    }
    return bl_wfq_look(q, i, seen);
}

BL_FN bl_outcome bl_wfq_pop(bl_wfq *q, uint32_t *item) {
    bl_wfq_handle *own = q->own;
    uint32_t tickets = 0;
    uint64_t i = 0, word = 0;
    bool got = false, end = false;
    while (!got && !(end = end || !bl_wfq_ahead(q)) && tickets <= BL_WFQ_PATIENCE) {
        i = bl_wfq_pop_ticket(q);
        tickets++;
        bl_wfq_sight sight = bl_wfq_await(q, i, &word);
        end = sight == BL_WFQ_SEES_END;
        if (sight == BL_WFQ_SEES_ITEM && bl_cas64_relaxed(bl_wfq_cell(q, i), &word, bl_wfq_reopened(q, i))) {
            *item = (uint32_t)word;
            got = true;
        }
    }
    if (!got && !end)
        bl_wfq_pop_asks(q, i);
    for (uint32_t turn = got ? 1 : 0; turn < 2 && !end; turn++) { /* for itself, if it has asked; then for another */
        bl_wfq_help_pop(q, turn ? own->pop_peer : q->thread);
        got = got || bl_wfq_pop_ends(q, item);
        end = !got;
    }
    if (got)
        own->pop_peer = bl_wfq_next(q, own->pop_peer);
    bl_wfq_wasted(q, (got ? 1u : 0u) - (uint64_t)tickets);
    if (tickets)
        bl_wfq_tidy(q, i);
    return got ? BL_QUEUE_DONE : BL_QUEUE_EMPTY;
}

/* Tail first: a thread that loses its core in between finds too few. */
BL_FN uint32_t bl_wfq_size(const bl_wfq *q) {
    uint64_t tail = bl_load64_acquire(q->tail), head = bl_load64_acquire(q->head);
    int64_t size = (int64_t)(tail - head - bl_load64_relaxed(q->waste));
    return size > 0 ? (uint32_t)size : 0;
}

#define BL_SINGLY bl_wfq
#include "template/singly.inc.h"
#undef BL_SINGLY

#endif
