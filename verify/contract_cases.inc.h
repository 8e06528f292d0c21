/* Template: the contract of the queues (include/ballast/queues/contract.h) as test cases for one queue, BL_QUEUE,
 * written only with the platform's operations, so that the same source tests it with threads, on the simulated machine
 * and on a GPU. The build includes it for every queue (queue.inc.h).
 *
 *     void NAME_contract(contract_client *c, contract_case what, uint32_t rank)
 *
 * runs one case as thread `rank`. The cases up to CONTRACT_AUDIT are for one thread; c->threads threads run TRAFFIC,
 * TOKENS and TICKETS after SET_UP, followed by AUDIT. c->report keeps the first failure; the caller that started the
 * threads prints it.
 *
 * An item's words are computed from its value, so that a torn or stale item is detected. Memory is poisoned beforehand,
 * and followed by a guard.
 *
 * Without BL_QUEUE this file provides what the cases of all queues share, and the cases of the pool of handles.
 */
#ifndef BALLAST_VERIFY_CONTRACT_ONCE
#define BALLAST_VERIFY_CONTRACT_ONCE

#include "client.h"

#include <ballast/parts/pool.h>
#include <ballast/parts/random.h>
#include <ballast/queues/contract.h>

/* One thread of a case. */
typedef struct contract_thread {
    contract_client *c;
    uint32_t rank, random;
    uint32_t next, end; /* the values it has still to push */
    uint32_t model;     /* a deque's owner: values in its model */
    uint32_t burst, giving, consumes;
    uint32_t tries, popped;
    uint64_t since;
} contract_thread;

/* Here and below, what is called from many places is not inlined: the copies took most of the compile time. */
BL_CALLED_FN void contract_failed(contract_client *c, uint32_t line, uint32_t rank, uint32_t got, uint32_t wanted) {
    if (bl_fetch_add32_relaxed(&c->report.failures, 1) == 0) {
        c->report.line = line;
        c->report.rank = rank;
        c->report.got = got;
        c->report.wanted = wanted;
    }
}
BL_FN bool contract_check(contract_client *c, bool right, uint32_t line, uint32_t rank, uint32_t got, uint32_t wanted) {
    if (!right)
        contract_failed(c, line, rank, got, wanted);
    return right;
}
BL_FN bool contract_equal(contract_client *c, uint32_t line, uint32_t rank, uint32_t got, uint32_t wanted) {
    return contract_check(c, got == wanted, line, rank, got, wanted);
}
#define CONTRACT_SAME(c, rank, got, wanted) contract_equal((c), __LINE__, (rank), (uint32_t)(got), (uint32_t)(wanted))
#define CONTRACT_TRUE(c, rank, right, got) contract_check((c), (right), __LINE__, (rank), (uint32_t)(got), 0)

BL_FN uint32_t contract_word(uint32_t value, uint32_t i) {
    return i == 0 ? value : (value ^ (i * 0x9e3779b9u)) * 0x85ebca6bu;
}
BL_CALLED_FN void contract_item(uint32_t *item, uint32_t value, uint32_t words) {
    for (uint32_t i = 0; i < words; i++)
        item[i] = contract_word(value, i);
}
BL_CALLED_FN bool contract_whole(const uint32_t *item, uint32_t words) {
    for (uint32_t i = 1; i < words; i++)
        if (item[i] != contract_word(item[0], i))
            return false;
    return true;
}

BL_CALLED_FN void contract_guard(contract_client *c) {
    const uint32_t *guard = (const uint32_t *)(c->memory + c->bytes);
    for (uint32_t i = 0; i < CONTRACT_GUARD; i++)
        CONTRACT_SAME(c, i, guard[i], CONTRACT_POISON);
}

/* ---- threads ---- */

BL_FN contract_thread contract_begin(contract_client *c, uint32_t rank) {
    contract_thread t;
    t.c = c;
    t.rank = rank;
    t.random = (c->seed * 2654435761u + rank * 2246822519u) | 1u;
    t.next = rank < c->producers ? rank * c->items : 0;
    t.end = rank < c->producers ? t.next + c->items : 0;
    t.model = t.burst = t.giving = t.tries = t.popped = 0;
    t.consumes = rank >= c->threads - c->consumers ? 1u : 0u;
    t.since = bl_clock();
    return t;
}

/* Call after every step. A thread gives up, and all others with it, if neither it nor any consumer has made progress
 * for `patience` ticks. */
BL_CALLED_FN void contract_step(contract_thread *t, bool moved) {
    contract_client *c = t->c;
    uint32_t popped = bl_load32_relaxed(&c->popped);
    if (moved || popped != t->popped) {
        t->popped = popped;
        t->tries = 0;
        t->since = bl_clock();
    }
    if (moved)
        return;
    bl_backoff(t->tries++);
    if (bl_clock() - t->since <= c->patience)
        return;
    CONTRACT_TRUE(c, t->rank, false, popped); /* there is no progress any more */
    bl_store32_relaxed(&c->abandoned, 1);
}

BL_CALLED_FN void contract_meet(contract_thread *t) {
    contract_client *c = t->c;
    if (!c->meets)
        return;
    bl_fetch_add32_relaxed(&c->arrived, 1);
    while (bl_load32_relaxed(&c->arrived) < c->threads && !bl_load32_relaxed(&c->abandoned))
        contract_step(t, false);
    t->tries = 0;
}

/* Whether a thread that does both should push now: in bursts, so that a queue is sometimes deep and sometimes empty. */
BL_FN bool contract_gives(contract_thread *t) {
    if (t->next == t->end || !t->consumes)
        return t->next < t->end;
    if (t->burst == 0) {
        uint32_t random = bl__random32(&t->random);
        t->giving = random >> 7 & 1;
        t->burst = 1 + (random >> 8) % (2 * t->c->capacity);
    }
    t->burst--;
    return t->giving;
}

BL_FN bool contract_over(contract_thread *t) {
    contract_client *c = t->c;
    if (bl_load32_relaxed(&c->abandoned))
        return true;
    return t->next == t->end && (!t->consumes || bl_load32_relaxed(&c->popped) >= c->producers * c->items);
}

/* Records a value that came out of the queue. */
BL_CALLED_FN void contract_note(contract_thread *t, const uint32_t *item, bool in_order) {
    contract_client *c = t->c;
    uint32_t value = item[0];
    if (!CONTRACT_TRUE(c, t->rank, value < c->producers * c->items, value))
        return;
    CONTRACT_TRUE(c, t->rank, contract_whole(item, c->words), value);
    CONTRACT_SAME(c, t->rank, bl_fetch_add32_relaxed(c->seen + value, 1), 0);
    if (c->last && in_order) {
        uint32_t *last = c->last + t->rank * c->producers + value / c->items;
        CONTRACT_TRUE(c, t->rank, value >= *last, value);
        *last = value + 1;
    }
    bl_fetch_add32_relaxed(&c->popped, 1);
}

/* ---- the pool of handles (parts/pool.h), under every queue that carries them ----
 *
 * c->memory is the pool's, c->capacity handles of c->words words; `behind` are `items` slots through which handles pass
 * from thread to thread; seen[handle] is 1 while a thread holds it. */

BL_FN bl__pool contract_pool(const contract_client *c) {
    bl__pool pool;
    bl__pool_bind(&pool, c->memory, c->capacity, c->threads, c->words);
    return pool;
}

BL_FN void contract_pool_set_up(contract_client *c) {
    bl__pool pool = contract_pool(c);
    for (uint32_t rank = 3; rank-- > 0;)
        bl__pool_init(&pool, c->threads, 0, rank, 3);
}

/* A handle from the pool, or with `passed` from another thread. */
BL_FN void contract_pool_got(contract_thread *t, const bl__pool *pool, uint32_t handle, bool passed) {
    contract_client *c = t->c;
    if (!CONTRACT_TRUE(c, t->rank, handle < c->capacity, handle))
        return;
    uint32_t *entry = bl__pool_entry(pool, handle), item[CONTRACT_WORDS];
    if (passed) {
        bl_data_read(item, entry, c->words);
        CONTRACT_SAME(c, t->rank, item[0], handle);
        CONTRACT_TRUE(c, t->rank, contract_whole(item, c->words), handle);
    } else {
        CONTRACT_SAME(c, t->rank, bl_exchange32_acquire(c->seen + handle, 1), 0);
        contract_item(item, handle, c->words);
        bl_data_write(entry, item, c->words);
    }
}

/* Ranks take turns at taking more than they give, so that handles move through the chunks and not only through a
 * worker's own list. */
BL_FN void contract_pool_traffic(contract_client *c, uint32_t rank) {
    contract_thread t = contract_begin(c, rank);
    bl__pool pool = contract_pool(c);
    contract_meet(&t);
    for (uint32_t i = 0; i < c->items * 50; i++) {
        bool takes = (bl__random32(&t.random) & 7) != 0;
        takes = ((rank ^ i / 256) & 1) != 0 ? takes : !takes;
        uint32_t handle = takes ? bl__pool_take(&pool, rank) : BL__POOL_NONE;
        if (handle != BL__POOL_NONE)
            contract_pool_got(&t, &pool, handle, false);
        handle = bl_exchange32_acq_rel(c->behind + bl__random32(&t.random) % c->items, handle);
        if (handle == BL__POOL_NONE)
            continue;
        contract_pool_got(&t, &pool, handle, true);
        bl_store32_relaxed(c->seen + handle, 0);
        bl__pool_give(&pool, rank, handle);
    }
}

/* Whole chunks only, where the contention is. Few atomics, so that a schedule makes progress while a thread is between
 * two of them. */
BL_FN void contract_chunk_traffic(contract_client *c, uint32_t rank) {
    contract_thread t = contract_begin(c, rank);
    bl__pool pool = contract_pool(c);
    contract_meet(&t);
    for (uint32_t i = 0; i < c->items; i++) {
        uint32_t first = bl__pool_pop_chunk(&pool), handle = first, n = 0;
        if (first == BL__POOL_NONE || !CONTRACT_TRUE(c, rank, first < c->capacity, first))
            continue;
        CONTRACT_SAME(c, rank, bl_exchange32_acquire(c->seen + first, 1), 0);
        for (; n <= BL__POOL_CHUNK && handle < c->capacity; n++)
            handle = pool.next[handle];
        CONTRACT_SAME(c, rank, n, BL__POOL_CHUNK);
        CONTRACT_SAME(c, rank, handle, BL__POOL_NONE);
        bl_store32_relaxed(c->seen + first, 0);
        bl__pool_push_chunk(&pool, first);
    }
}

/* At rest: every handle is in one list, in one chunk or in one slot. */
BL_FN void contract_pool_audit(contract_client *c) {
    bl__pool pool = contract_pool(c);
    uint32_t count = 0;
    for (uint32_t w = 0; w < c->threads; w++) {
        const uint32_t *local = (const uint32_t *)(pool.locals + (size_t)w * BL_LINE);
        uint32_t handle = local[0], n = 0;
        for (; n < local[1] && handle < c->capacity; n++, handle = pool.next[handle])
            c->seen[handle]++;
        CONTRACT_SAME(c, w, n, local[1]);
        count += n;
    }
    for (uint32_t first; count <= c->capacity && (first = bl__pool_pop_chunk(&pool)) != BL__POOL_NONE;)
        for (uint32_t handle = first; handle < c->capacity && count <= c->capacity; handle = pool.next[handle], count++)
            c->seen[handle]++;
    for (uint32_t i = 0; c->behind && i < c->items; i++)
        count += c->behind[i] != BL__POOL_NONE ? 1u : 0u;
    CONTRACT_SAME(c, 0, count, c->capacity);
    for (uint32_t i = 0; i < c->capacity; i++)
        CONTRACT_SAME(c, i, c->seen[i], 1);
    contract_guard(c);
}

/* TRAFFIC: single handles; TOKENS: whole chunks. */
BL_FN void contract_pool_case(contract_client *c, contract_case what, uint32_t rank) {
    if (what == CONTRACT_SET_UP)
        contract_pool_set_up(c);
    else if (what == CONTRACT_TRAFFIC)
        contract_pool_traffic(c, rank);
    else if (what == CONTRACT_TOKENS)
        contract_chunk_traffic(c, rank);
    else if (what == CONTRACT_AUDIT)
        contract_pool_audit(c);
}

#endif

#ifdef BL_QUEUE

#define BL_QUEUE_(x) BL_CAT(BL_QUEUE, _##x)
#define CONTRACT_(x) BL_CAT(BL_QUEUE, _contract_##x)
#define CONTRACT_DEQUE (BL_QUEUE_(KIND) == BL_QUEUE_KIND_DEQUE)
#define CONTRACT_HAS(flag) ((BL_QUEUE_(FLAGS) & (flag)) != 0)

/* The operations, compiled once for all cases. */
#define CONTRACT_CALL(x) BL_CAT(BL_QUEUE, _contract_calls_##x)
BL_CALLED_FN void CONTRACT_CALL(init)(BL_QUEUE *q, uint32_t start, uint32_t rank, uint32_t size) {
    BL_QUEUE_(init)(q, start, rank, size);
}
BL_CALLED_FN bl_outcome CONTRACT_CALL(push)(BL_QUEUE *q, const uint32_t *item) { return BL_QUEUE_(push)(q, item); }
BL_CALLED_FN bl_outcome CONTRACT_CALL(pop)(BL_QUEUE *q, uint32_t *item) { return BL_QUEUE_(pop)(q, item); }
BL_CALLED_FN bl_outcome CONTRACT_CALL(steal)(BL_QUEUE *q, uint32_t *item) { return BL_QUEUE_(steal)(q, item); }
BL_CALLED_FN uint32_t CONTRACT_CALL(push_n)(BL_QUEUE *q, const uint32_t *items, uint32_t n) {
    return BL_QUEUE_(push_n)(q, items, n);
}
BL_CALLED_FN uint32_t CONTRACT_CALL(pop_n)(BL_QUEUE *q, uint32_t *items, uint32_t n) {
    return BL_QUEUE_(pop_n)(q, items, n);
}
BL_CALLED_FN uint32_t CONTRACT_CALL(steal_n)(BL_QUEUE *q, uint32_t *items, uint32_t n) {
    return BL_QUEUE_(steal_n)(q, items, n);
}
BL_CALLED_FN uint32_t CONTRACT_CALL(size)(const BL_QUEUE *q) { return BL_QUEUE_(size)(q); }

BL_FN BL_QUEUE CONTRACT_(queue)(const contract_client *c, uint32_t rank) {
    BL_QUEUE q;
    bl_shape shape = {c->capacity, c->words, c->threads};
    BL_QUEUE_(bind)(&q, c->memory, shape, rank);
    return q;
}

BL_CALLED_FN BL_QUEUE CONTRACT_(fresh)(contract_client *c) {
    BL_QUEUE q = CONTRACT_(queue)(c, 0);
    for (uint32_t rank = 3; rank-- > 0;) /* as if by three threads, in any order */
        CONTRACT_CALL(init)(&q, c->start, rank, 3);
    return q;
}

#if BL_QUEUE_(KIND) == BL_QUEUE_KIND_CEILING

/* Every thread pushes `items`; there are as many slots as pushes, so their contents show whether a ticket was handed
 * out twice. */
BL_FN void BL_QUEUE_(contract)(contract_client *c, contract_case what, uint32_t rank) {
    BL_QUEUE q = CONTRACT_(queue)(c, rank);
    uint32_t item[CONTRACT_WORDS];
    if (what == CONTRACT_SET_UP)
        CONTRACT_(fresh)(c);
    for (uint32_t i = 0; what == CONTRACT_TICKETS && i < c->items; i++) {
        contract_item(item, rank * c->items + i, c->words);
        CONTRACT_SAME(c, rank, CONTRACT_CALL(push)(&q, item), BL_QUEUE_DONE);
    }
    if (what != CONTRACT_AUDIT)
        return;
    CONTRACT_SAME(c, 0, CONTRACT_CALL(size)(&q), c->capacity);
    for (uint32_t i = 0; i < c->capacity; i++) {
        CONTRACT_SAME(c, 0, CONTRACT_CALL(pop)(&q, item), BL_QUEUE_DONE);
        CONTRACT_TRUE(c, 0, item[0] < c->capacity && contract_whole(item, c->words), item[0]);
        if (item[0] < c->capacity)
            CONTRACT_SAME(c, 0, c->seen[item[0]]++, 0);
    }
    contract_guard(c);
}

#elif BL_QUEUE_(KIND) == BL_QUEUE_KIND_WAITING

/* A push waits for room and a pop for an item, so no thread may call where it would wait for ever. Either each thread
 * pops as often as it pushes, and the capacity is at least the number of threads, or producers and consumers move the
 * same number of items. */
BL_CALLED_FN void CONTRACT_(push)(contract_client *c, BL_QUEUE *q, uint32_t value) {
    uint32_t item[CONTRACT_WORDS];
    contract_item(item, value, c->words);
    CONTRACT_SAME(c, value, CONTRACT_CALL(push)(q, item), BL_QUEUE_DONE);
}
BL_CALLED_FN uint32_t CONTRACT_(pop)(contract_client *c, BL_QUEUE *q) {
    uint32_t item[CONTRACT_WORDS] = {~0u};
    CONTRACT_SAME(c, 0, CONTRACT_CALL(pop)(q, item), BL_QUEUE_DONE);
    CONTRACT_TRUE(c, 0, contract_whole(item, c->words), item[0]);
    return item[0];
}

BL_FN void CONTRACT_(alone)(contract_client *c) {
    BL_QUEUE q = CONTRACT_(fresh)(c);
    uint32_t in = 0, out = 0, random = c->seed | 1u;
    for (uint32_t i = 0; i < 8 * c->capacity || in > out; i++) {
        bool push = in == out || (in - out < c->capacity && i < 8 * c->capacity && bl__random32(&random) & 1);
        if (push)
            CONTRACT_(push)(c, &q, in++);
        else
            CONTRACT_SAME(c, out, CONTRACT_(pop)(c, &q), out), out++;
        CONTRACT_SAME(c, i, CONTRACT_CALL(size)(&q), in - out);
    }
}

BL_FN void CONTRACT_(traffic)(contract_client *c, uint32_t rank) {
    BL_QUEUE q = CONTRACT_(queue)(c, rank);
    contract_thread t = contract_begin(c, rank);
    contract_meet(&t);
    uint32_t share = c->consumers ? c->producers * c->items / c->consumers : 0;
    share += rank + 1 == c->threads ? c->producers * c->items - share * c->consumers : 0;
    for (uint32_t popped = 0; t.next < t.end || (t.consumes && popped < share);) {
        if (t.next < t.end)
            CONTRACT_(push)(c, &q, t.next++);
        if (t.consumes && popped < share) {
            uint32_t item[CONTRACT_WORDS] = {~0u};
            CONTRACT_SAME(c, rank, CONTRACT_CALL(pop)(&q, item), BL_QUEUE_DONE);
            contract_note(&t, item, true);
            popped++;
        }
    }
}

BL_FN void CONTRACT_(audit)(contract_client *c) {
    BL_QUEUE q = CONTRACT_(queue)(c, 0);
    CONTRACT_SAME(c, 0, CONTRACT_CALL(size)(&q), 0);
    for (uint32_t i = 0; i < c->producers * c->items; i++)
        CONTRACT_SAME(c, i, c->seen[i], 1);
}

BL_FN void BL_QUEUE_(contract)(contract_client *c, contract_case what, uint32_t rank) {
    if (what <= CONTRACT_WALK)
        CONTRACT_(alone)(c);
    else if (what == CONTRACT_SET_UP)
        CONTRACT_(fresh)(c);
    else if (what == CONTRACT_TRAFFIC)
        CONTRACT_(traffic)(c, rank);
    else if (what == CONTRACT_AUDIT)
        CONTRACT_(audit)(c);
    if (what <= CONTRACT_AUDIT)
        contract_guard(c);
}

#else

/* ---- one thread ---- */

BL_CALLED_FN void CONTRACT_(must_push)(contract_client *c, BL_QUEUE *q, uint32_t value) {
    uint32_t item[CONTRACT_WORDS];
    contract_item(item, value, c->words);
    CONTRACT_SAME(c, value, CONTRACT_CALL(push)(q, item), BL_QUEUE_DONE);
}

BL_CALLED_FN void CONTRACT_(must_take)(contract_client *c, BL_QUEUE *q, bool steal, uint32_t value) {
    uint32_t item[CONTRACT_WORDS] = {~0u};
    CONTRACT_SAME(c, value, steal ? CONTRACT_CALL(steal)(q, item) : CONTRACT_CALL(pop)(q, item), BL_QUEUE_DONE);
    CONTRACT_SAME(c, value, item[0], value);
    CONTRACT_TRUE(c, value, contract_whole(item, c->words), item[0]);
}

/* Twice, because the first call may have moved something. */
BL_CALLED_FN void CONTRACT_(must_be_empty)(contract_client *c, BL_QUEUE *q) {
    uint32_t item[CONTRACT_WORDS];
    for (uint32_t i = 0; i < 2; i++) {
        CONTRACT_SAME(c, i, CONTRACT_CALL(size)(q), 0);
        CONTRACT_SAME(c, i, CONTRACT_CALL(pop)(q, item), BL_QUEUE_EMPTY);
        CONTRACT_SAME(c, i, CONTRACT_CALL(steal)(q, item), BL_QUEUE_EMPTY);
        CONTRACT_SAME(c, i, CONTRACT_CALL(pop_n)(q, item, 1), 0);
    }
}

BL_FN void CONTRACT_(smoke)(contract_client *c) {
    BL_QUEUE q = CONTRACT_(fresh)(c);
    CONTRACT_(must_be_empty)(c, &q);
    for (uint32_t value = 1; value < 4 * c->capacity; value += 2) {
        CONTRACT_(must_push)(c, &q, value);
        CONTRACT_SAME(c, value, CONTRACT_CALL(size)(&q), 1);
        CONTRACT_(must_take)(c, &q, false, value);
        CONTRACT_SAME(c, value, CONTRACT_CALL(size)(&q), 0);
        CONTRACT_(must_push)(c, &q, value + 1);
        CONTRACT_(must_take)(c, &q, true, value + 1);
        CONTRACT_(must_be_empty)(c, &q);
    }
}

BL_CALLED_FN void CONTRACT_(fill)(contract_client *c, BL_QUEUE *q) {
    uint32_t item[CONTRACT_WORDS];
    for (uint32_t value = 0; value < c->capacity; value++) {
        CONTRACT_SAME(c, value, CONTRACT_CALL(size)(q), value);
        CONTRACT_(must_push)(c, q, value);
    }
    contract_item(item, c->capacity, c->words);
    for (uint32_t i = 0; i < 2; i++) {
        CONTRACT_SAME(c, i, CONTRACT_CALL(size)(q), c->capacity);
        if (!CONTRACT_HAS(BL_QUEUE_BOUNDED))
            break;
        CONTRACT_SAME(c, i, CONTRACT_CALL(push)(q, item), BL_QUEUE_FULL);
        CONTRACT_SAME(c, i, CONTRACT_CALL(push_n)(q, item, 1), 0);
    }
}

BL_FN void CONTRACT_(batches)(contract_client *c, BL_QUEUE *q) {
    uint32_t items[(CONTRACT_DEEP + 1) * CONTRACT_WORDS], n = c->capacity;
    for (uint32_t i = 0; i <= n; i++)
        contract_item(items + i * c->words, 100 + i, c->words);
    uint32_t more = CONTRACT_HAS(BL_QUEUE_BOUNDED) ? n : n - 1; /* one too many, if the capacity is exact */
    CONTRACT_SAME(c, 0, CONTRACT_CALL(push_n)(q, items, 1), 1);
    CONTRACT_SAME(c, 0, CONTRACT_CALL(push_n)(q, items + c->words, more), n - 1);
    CONTRACT_SAME(c, 0, CONTRACT_CALL(size)(q), n);
    for (uint32_t i = 0; i < n * c->words; i++)
        items[i] = ~0u;
    CONTRACT_SAME(c, 0, CONTRACT_CALL(pop_n)(q, items, n - 1), n - 1);
    CONTRACT_SAME(c, 0, CONTRACT_CALL(size)(q), 1);
    CONTRACT_SAME(c, 0, CONTRACT_CALL(pop_n)(q, items + (n - 1) * c->words, 2), 1);
    for (uint32_t i = 0; i < n; i++) {
        CONTRACT_SAME(c, i, items[i * c->words], 100 + (CONTRACT_DEQUE ? n - 1 - i : i));
        CONTRACT_TRUE(c, i, contract_whole(items + i * c->words, c->words), items[i * c->words]);
    }
    CONTRACT_(must_be_empty)(c, q);
}

/* Fills the memory to the end, where more than `capacity` may fit: FULL occurs, and what went in comes out. */
BL_FN void CONTRACT_(overfill)(contract_client *c) {
    BL_QUEUE q = CONTRACT_(fresh)(c);
    uint32_t item[CONTRACT_WORDS], pushed = 0, most = (uint32_t)(c->bytes / 4);
    for (uint32_t round = 0; round < 3; round++) {
        for (pushed = 0; pushed <= most; pushed++) {
            contract_item(item, pushed, c->words);
            if (CONTRACT_CALL(push)(&q, item) != BL_QUEUE_DONE)
                break;
        }
        CONTRACT_TRUE(c, round, pushed >= c->capacity && pushed <= most, pushed);
        CONTRACT_SAME(c, round, CONTRACT_CALL(size)(&q), pushed);
        for (uint32_t value = 0; value < pushed; value++)
            CONTRACT_(must_take)(c, &q, false, CONTRACT_DEQUE ? pushed - 1 - value : value);
        CONTRACT_(must_be_empty)(c, &q);
    }
}

BL_FN void CONTRACT_(boundaries)(contract_client *c) {
    BL_QUEUE q = CONTRACT_(fresh)(c);
    for (uint32_t round = 0; round < 3; round++) {
        CONTRACT_(fill)(c, &q);
        for (uint32_t i = 0; i < c->capacity; i++) {
            CONTRACT_SAME(c, i, CONTRACT_CALL(size)(&q), c->capacity - i);
            CONTRACT_(must_take)(c, &q, false, CONTRACT_DEQUE ? c->capacity - 1 - i : i);
        }
        CONTRACT_(must_be_empty)(c, &q);
        CONTRACT_(fill)(c, &q);
        for (uint32_t i = 0; i < c->capacity; i++)
            CONTRACT_(must_take)(c, &q, true, i);
        CONTRACT_(must_be_empty)(c, &q);
        CONTRACT_(batches)(c, &q);
    }
    CONTRACT_(overfill)(c);
}

/* From both ends alternately. */
BL_FN void CONTRACT_(order)(contract_client *c) {
    BL_QUEUE q = CONTRACT_(fresh)(c);
    for (uint32_t round = 0; round < 5; round++) {
        uint32_t oldest = 0, newest = c->capacity;
        for (uint32_t value = 0; value < c->capacity; value++)
            CONTRACT_(must_push)(c, &q, value);
        for (uint32_t i = 0; oldest < newest; i++) {
            bool steal = (i + round) % 3 == 0;
            CONTRACT_(must_take)(c, &q, steal, CONTRACT_DEQUE && !steal ? --newest : oldest++);
        }
        CONTRACT_(must_be_empty)(c, &q);
    }
}

/* The queue as an array: values oldest .. oldest + count - 1, modulo its length. */
typedef struct CONTRACT_(model) {
    uint32_t values[CONTRACT_DEEP];
    uint32_t oldest, count, next;
    bool stolen; /* after this a deque may report FULL early, until its owner has found it empty */
} CONTRACT_(model);

BL_FN uint32_t CONTRACT_(model_take)(CONTRACT_(model) * m, bool newest) {
    m->count--;
    return m->values[(newest ? m->oldest + m->count : m->oldest++) % CONTRACT_DEEP];
}

BL_FN void CONTRACT_(walk_push)(contract_client *c, BL_QUEUE *q, CONTRACT_(model) * m, uint32_t n) {
    uint32_t items[4 * CONTRACT_WORDS], pushed, room = c->capacity - m->count;
    if (!CONTRACT_HAS(BL_QUEUE_BOUNDED) && n > room)
        n = room; /* there may be room for more */
    if (n == 0)
        return;
    for (uint32_t i = 0; i < n; i++)
        contract_item(items + i * c->words, m->next + i, c->words);
    if (n > 1) {
        pushed = CONTRACT_CALL(push_n)(q, items, n);
    } else {
        bl_outcome outcome = CONTRACT_CALL(push)(q, items);
        CONTRACT_TRUE(c, m->next, outcome == BL_QUEUE_DONE || outcome == BL_QUEUE_FULL, outcome);
        pushed = outcome == BL_QUEUE_DONE ? 1u : 0u;
    }
    if (pushed > room || !m->stolen)
        CONTRACT_SAME(c, m->next, pushed, n < room ? n : room);
    for (uint32_t i = 0; i < pushed && m->count < c->capacity; i++)
        m->values[(m->oldest + m->count++) % CONTRACT_DEEP] = m->next++;
}

BL_FN void CONTRACT_(walk_pop)(contract_client *c, BL_QUEUE *q, CONTRACT_(model) * m, uint32_t n) {
    uint32_t items[4 * CONTRACT_WORDS], popped, there = m->count;
    if (n > 1) {
        popped = CONTRACT_CALL(pop_n)(q, items, n);
    } else {
        bl_outcome outcome = CONTRACT_CALL(pop)(q, items);
        CONTRACT_TRUE(c, m->next, outcome == BL_QUEUE_DONE || outcome == BL_QUEUE_EMPTY, outcome);
        popped = outcome == BL_QUEUE_DONE ? 1u : 0u;
    }
    CONTRACT_SAME(c, m->next, popped, n < there ? n : there);
    m->stolen = m->stolen && popped == n;
    for (uint32_t i = 0; i < popped && m->count; i++) {
        CONTRACT_SAME(c, m->next, items[i * c->words], CONTRACT_(model_take)(m, CONTRACT_DEQUE));
        CONTRACT_TRUE(c, m->next, contract_whole(items + i * c->words, c->words), items[i * c->words]);
    }
}

/* A deque may give a thief any number of items, but at least one if there are any. */
BL_FN void CONTRACT_(walk_steal)(contract_client *c, BL_QUEUE *q, CONTRACT_(model) * m, uint32_t n) {
    uint32_t items[4 * CONTRACT_WORDS], stolen, most = n < m->count ? n : m->count;
    if (n > 1) {
        stolen = CONTRACT_CALL(steal_n)(q, items, n);
        CONTRACT_TRUE(c, m->next, stolen <= most && (stolen == most || (CONTRACT_DEQUE && stolen)), stolen);
    } else {
        bl_outcome outcome = CONTRACT_CALL(steal)(q, items);
        CONTRACT_SAME(c, m->next, outcome, m->count ? BL_QUEUE_DONE : BL_QUEUE_EMPTY);
        stolen = outcome == BL_QUEUE_DONE ? 1u : 0u;
    }
    m->stolen = m->stolen || (CONTRACT_DEQUE && stolen);
    for (uint32_t i = 0; i < stolen && m->count; i++) {
        CONTRACT_SAME(c, m->next, items[i * c->words], CONTRACT_(model_take)(m, false));
        CONTRACT_TRUE(c, m->next, contract_whole(items + i * c->words, c->words), items[i * c->words]);
    }
}

BL_FN void CONTRACT_(walk)(contract_client *c) {
    BL_QUEUE q = CONTRACT_(fresh)(c);
    CONTRACT_(model) m;
    m.oldest = m.count = m.next = 0;
    m.stolen = false;
    uint32_t random = c->seed | 1u, lean = 0; /* favours pushes or pops for a while, to reach both ends */
    for (uint32_t i = 0; i < c->items; i++) {
        uint32_t r = bl__random32(&random), kind = r >> 8 & 7;
        if (i % (4 * c->capacity) == 0)
            lean = r >> 11 & 1;
        if (kind < 3 + 2 * lean)
            CONTRACT_(walk_push)(c, &q, &m, r >> 16 & 1 ? 1 : 1 + (r >> 17) % 4);
        else if (kind == 7)
            CONTRACT_(walk_steal)(c, &q, &m, r >> 16 & 1 ? 1 : 1 + (r >> 17) % 4);
        else
            CONTRACT_(walk_pop)(c, &q, &m, r >> 16 & 1 ? 1 : 1 + (r >> 17) % 4);
        CONTRACT_SAME(c, i, CONTRACT_CALL(size)(&q), m.count);
    }
}

/* ---- many threads ---- */

BL_FN void CONTRACT_(remember)(contract_thread *t, uint32_t pushed) {
    for (uint32_t i = 0; i < pushed && CONTRACT_DEQUE; i++)
        t->c->behind[t->model++] = t->next + i;
    t->next += pushed;
}

BL_FN bool CONTRACT_(give)(contract_thread *t, BL_QUEUE *q) {
    contract_client *c = t->c;
    uint32_t items[4 * CONTRACT_WORDS], pushed, n = 1 + bl__random32(&t->random) % c->batch;
    n = n < t->end - t->next ? n : t->end - t->next;
    for (uint32_t i = 0; i < n; i++) {
        contract_item(items + i * c->words, t->next + i, c->words);
        if (BL_QUEUE_(BY_HANDLE)) {
            uint32_t behind[CONTRACT_WORDS];
            contract_item(behind, t->next + i, c->behind_words);
            bl_data_write(c->behind + (size_t)(t->next + i) * c->behind_words, behind, c->behind_words);
        }
    }
    if (n > 1) {
        pushed = CONTRACT_CALL(push_n)(q, items, n);
        CONTRACT_TRUE(c, t->rank, pushed <= n, pushed);
    } else {
        bl_outcome outcome = CONTRACT_CALL(push)(q, items);
        CONTRACT_TRUE(c, t->rank, outcome != BL_QUEUE_EMPTY, outcome);
        pushed = outcome == BL_QUEUE_DONE ? 1u : 0u;
    }
    CONTRACT_(remember)(t, pushed);
    return pushed != 0;
}

/* The owner of a deque gets what it pushed last, or nothing because thieves have taken everything from the other
 * end. */
BL_FN void CONTRACT_(recall)(contract_thread *t, const uint32_t *items, uint32_t popped, uint32_t n) {
    contract_client *c = t->c;
    for (uint32_t i = 0; i < popped; i++)
        if (CONTRACT_TRUE(c, t->rank, t->model > 0, items[i * c->words]))
            CONTRACT_SAME(c, t->rank, items[i * c->words], c->behind[--t->model]);
    if (popped < n)
        t->model = 0;
}

BL_FN void CONTRACT_(look_behind)(contract_thread *t, uint32_t handle) {
    contract_client *c = t->c;
    uint32_t behind[CONTRACT_WORDS];
    if (handle >= c->producers * c->items)
        return;
    bl_data_read(behind, c->behind + (size_t)handle * c->behind_words, c->behind_words);
    CONTRACT_SAME(c, t->rank, behind[0], handle);
    CONTRACT_TRUE(c, t->rank, contract_whole(behind, c->behind_words), handle);
}

BL_FN bool CONTRACT_(take)(contract_thread *t, BL_QUEUE *q) {
    contract_client *c = t->c;
    bool owner = CONTRACT_DEQUE && t->rank == 0, thief = CONTRACT_DEQUE && !owner;
    uint32_t items[4 * CONTRACT_WORDS], popped, n = 1 + bl__random32(&t->random) % c->batch;
    bl_outcome outcome = BL_QUEUE_EMPTY;
    if (n > 1) {
        popped = thief ? CONTRACT_CALL(steal_n)(q, items, n) : CONTRACT_CALL(pop_n)(q, items, n);
        CONTRACT_TRUE(c, t->rank, popped <= n, popped);
    } else {
        outcome = thief ? CONTRACT_CALL(steal)(q, items) : CONTRACT_CALL(pop)(q, items);
        CONTRACT_TRUE(c, t->rank, outcome != BL_QUEUE_FULL, outcome);
        popped = outcome == BL_QUEUE_DONE ? 1u : 0u;
    }
    if (owner)
        CONTRACT_(recall)(t, items, popped, outcome == BL_QUEUE_RETRY ? 0 : n);
    for (uint32_t i = 0; i < popped; i++) {
        if (BL_QUEUE_(BY_HANDLE) && CONTRACT_HAS(BL_QUEUE_ORDERS_MEMORY))
            CONTRACT_(look_behind)(t, items[i * c->words]);
        contract_note(t, items + i * c->words, !owner);
    }
    return popped != 0;
}

BL_FN void CONTRACT_(traffic)(contract_client *c, uint32_t rank) {
    BL_QUEUE q = CONTRACT_(queue)(c, rank);
    contract_thread t = contract_begin(c, rank);
    contract_meet(&t);
    while (!contract_over(&t)) {
        bool moved = contract_gives(&t) ? CONTRACT_(give)(&t, &q) : CONTRACT_(take)(&t, &q);
        if (!moved)
            t.burst = 0;
        contract_step(&t, moved);
    }
}

/* As many tokens as threads in a queue of at least that capacity. No thread holds two, so there is always one to pop
 * and room to push: EMPTY and FULL are wrong, unless the queue states that its answers are not linearizable. */
BL_FN void CONTRACT_(tokens)(contract_client *c, uint32_t rank) {
    BL_QUEUE q = CONTRACT_(queue)(c, rank);
    contract_thread t = contract_begin(c, rank);
    uint32_t item[CONTRACT_WORDS];
    contract_meet(&t);
    for (uint32_t round = 0; round < c->items && !bl_load32_relaxed(&c->abandoned);) {
        bl_outcome outcome = CONTRACT_CALL(pop)(&q, item);
        CONTRACT_TRUE(c, rank,
                      outcome == BL_QUEUE_DONE || outcome == BL_QUEUE_RETRY || !CONTRACT_HAS(BL_QUEUE_EXACT_EMPTY),
                      outcome);
        if (outcome != BL_QUEUE_DONE) {
            contract_step(&t, false);
            continue;
        }
        if (!CONTRACT_TRUE(c, rank, item[0] < c->threads && contract_whole(item, c->words), item[0]))
            return;
        CONTRACT_SAME(c, rank, bl_exchange32_acquire(c->seen + item[0], 1), 0);
        bl_exchange32_acq_rel(c->seen + item[0], 0);
        while ((outcome = CONTRACT_CALL(push)(&q, item)) != BL_QUEUE_DONE && !bl_load32_relaxed(&c->abandoned)) {
            CONTRACT_TRUE(c, rank, outcome == BL_QUEUE_RETRY || !CONTRACT_HAS(BL_QUEUE_EXACT_FULL), outcome);
            contract_step(&t, false);
        }
        contract_step(&t, true);
        round++;
    }
}

/* A rejected item is not offered again. A pop that relied on it would wait for ever. */
BL_FN void CONTRACT_(visits)(contract_client *c, uint32_t rank) {
    BL_QUEUE q = CONTRACT_(queue)(c, rank);
    contract_thread t = contract_begin(c, rank);
    uint32_t items[4 * CONTRACT_WORDS];
    contract_meet(&t);
    for (uint32_t visit = 0; visit < c->visits; visit++) {
        uint32_t random = bl__random32(&t.random), n = 1 + (random >> 8) % c->batch, done = 0;
        if (random >> 20 & 1) {
            for (uint32_t i = 0; i < n; i++)
                contract_item(items + i * c->words, t.next + i, c->words);
            done = CONTRACT_CALL(push_n)(&q, items, n);
            CONTRACT_TRUE(c, rank, done <= n, done);
            for (uint32_t i = done; i < n; i++)
                bl_fetch_add32_relaxed(c->seen + t.next + i, 1);
            t.next += n;
        } else {
            done = CONTRACT_CALL(pop_n)(&q, items, n);
            for (uint32_t i = 0; CONTRACT_TRUE(c, rank, done <= n, done) && i < done; i++)
                contract_note(&t, items + i * c->words, false);
        }
    }
    for (; t.next < t.end; t.next++)
        bl_fetch_add32_relaxed(c->seen + t.next, 1);
}

BL_FN void CONTRACT_(set_up)(contract_client *c) {
    BL_QUEUE q = CONTRACT_(fresh)(c);
    for (uint32_t i = 0; c->producers == 0 && i < c->threads; i++)
        CONTRACT_(must_push)(c, &q, i);
}

BL_FN void CONTRACT_(audit)(contract_client *c) {
    BL_QUEUE q = CONTRACT_(queue)(c, 0);
    uint32_t item[CONTRACT_WORDS], tokens = c->producers ? 0 : c->threads;
    for (uint32_t left = c->visits ? CONTRACT_CALL(size)(&q) : 0; left > 0; left--)
        if (CONTRACT_SAME(c, left, CONTRACT_CALL(pop)(&q, item), BL_QUEUE_DONE) &&
            CONTRACT_TRUE(c, left, item[0] < c->producers * c->items && contract_whole(item, c->words), item[0]))
            c->seen[item[0]]++;
    CONTRACT_SAME(c, 0, CONTRACT_CALL(size)(&q), tokens);
    for (uint32_t i = 0; i < tokens; i++)
        if (CONTRACT_SAME(c, i, CONTRACT_CALL(pop)(&q, item), BL_QUEUE_DONE) &&
            CONTRACT_TRUE(c, i, item[0] < tokens, item[0]))
            c->seen[item[0]]++;
    for (uint32_t i = 0; i < (tokens ? tokens : c->producers * c->items); i++)
        CONTRACT_SAME(c, i, c->seen[i], 1);
    CONTRACT_(must_be_empty)(c, &q);
}

BL_FN void BL_QUEUE_(contract)(contract_client *c, contract_case what, uint32_t rank) {
    switch (what) {
    case CONTRACT_SMOKE:
        CONTRACT_(smoke)(c);
        break;
    case CONTRACT_BOUNDARIES:
        CONTRACT_(boundaries)(c);
        break;
    case CONTRACT_ORDER:
        CONTRACT_(order)(c);
        break;
    case CONTRACT_WALK:
        CONTRACT_(walk)(c);
        break;
    case CONTRACT_SET_UP:
        CONTRACT_(set_up)(c);
        break;
    case CONTRACT_AUDIT:
        CONTRACT_(audit)(c);
        break;
    case CONTRACT_TRAFFIC:
        CONTRACT_(traffic)(c, rank);
        break;
    case CONTRACT_TOKENS:
        CONTRACT_(tokens)(c, rank);
        break;
    case CONTRACT_VISITS:
        CONTRACT_(visits)(c, rank);
        break;
    default:
        break;
    }
    if (what <= CONTRACT_AUDIT)
        contract_guard(c);
}

#endif

#undef CONTRACT_HAS
#undef CONTRACT_DEQUE
#undef CONTRACT_
#undef BL_QUEUE_

#endif
