/* The store of free join records that all workers share: a Broker Queue of numbers, moved in chunks, so that it is
 * seldom touched. It holds every number there is and so is never full; when it is empty the run pauses and the host
 * makes more.
 */
#ifndef BL_RUNTIME_JOINS_H
#define BL_RUNTIME_JOINS_H

#include "../parts/record.h"
#include "../queues/broker.h"

BL_FN bl_broker bl__free_records(const bl__run *run) {
    bl_broker q;
    bl_shape shape = {run->record_capacity, 1, run->workers};
    bl_broker_bind(&q, run->free_records, shape, 0);
    return q;
}

BL_FN void bl__records_give(bl_broker *q, const uint32_t *numbers, uint32_t n) {
    for (uint32_t done = 0; done < n;)
        done += bl_broker_push_n(q, numbers + done, n - done);
}

/* ---- between the spare list and the store: called by all lanes of a warp, which move a number each, because one lane
 * would wait for memory once per number ---- */

#if BL_WARP == 1
/* As many as there are, so that at least `needed` are in the spare list. False if there are not so many. */
BL_FN bool bl__spare_refill(const bl__run *run, uint32_t lane, uint32_t *spare, uint32_t needed, uint32_t chunk) {
    (void)lane;
    bl_broker q = bl__free_records(run);
    while (spare[0] < needed) {
        uint32_t got = bl_broker_pop_n(&q, spare + 1 + spare[0], chunk);
        if (!got)
            return false;
        spare[0] += got;
    }
    return true;
}

/* What is more than `most` goes back. */
BL_FN void bl__spare_trim(const bl__run *run, uint32_t lane, uint32_t *spare, uint32_t most) {
    (void)lane;
    bl_broker q = bl__free_records(run);
    while (spare[0] > most) {
        uint32_t n = spare[0] - most < BL__SPARE_CHUNK ? spare[0] - most : BL__SPARE_CHUNK;
        spare[0] -= n;
        bl__records_give(&q, spare + 1 + spare[0], n);
    }
}

#else

/* Up to BL_WARP numbers from the store; how many there were. Lane 0 draws the positions for all. */
BL_FN uint32_t bl__records_pop(bl_broker *q, uint32_t lane, uint32_t *numbers, uint32_t n) {
    uint32_t first = 0;
    n = bl_warp_broadcast32(lane ? 0 : bl_broker_draw_pops(q, n, &first), 0);
    first = bl_warp_broadcast32(first, 0);
    if (lane < n)
        bl_broker_get_at(q, first + lane, numbers + lane);
    return n;
}
/* The same into the store, which has room for all numbers that there are. */
BL_FN void bl__records_push(bl_broker *q, uint32_t lane, const uint32_t *numbers, uint32_t n) {
    for (uint32_t done = 0, drawn, first = 0; done < n; done += drawn) {
        drawn = bl_warp_broadcast32(lane ? 0 : bl_broker_draw_pushes(q, n - done, &first), 0);
        first = bl_warp_broadcast32(first, 0);
        if (lane - done < drawn)
            bl_broker_put_at(q, first + lane - done, numbers + lane);
    }
}

BL_FN bool bl__spare_refill(const bl__run *run, uint32_t lane, uint32_t *spare, uint32_t needed, uint32_t chunk) {
    bl_broker q = bl__free_records(run);
    uint32_t have = spare[0], got = 1;
    bl_warp_sync();
    while (have < needed && got) {
        got = bl__records_pop(&q, lane, spare + 1 + have, chunk);
        have += got;
    }
    if (lane == 0)
        spare[0] = have;
    bl_warp_sync();
    return have >= needed;
}

BL_FN void bl__spare_trim(const bl__run *run, uint32_t lane, uint32_t *spare, uint32_t most) {
    bl_broker q = bl__free_records(run);
    uint32_t have = spare[0];
    bl_warp_sync();
    while (have > most) {
        const uint32_t n = have - most < BL_WARP ? have - most : BL_WARP;
        have -= n;
        bl__records_push(&q, lane, spare + 1 + have, n);
    }
    bl_warp_sync();
    if (lane == 0)
        spare[0] = have;
    bl_warp_sync();
}

/* A warp's spare list lies in shared memory. It begins with what the host has laid out for it, or its predecessor in
 * the last run has left, because thousands of warps at the store at once take longer than a small run. All lanes. */
BL_FN uint32_t *bl__spare_left(const bl__run *run, uint32_t id) {
    return run->spares + (size_t)id * BL__SPARE_WORDS_OF(BL_WARP);
}
BL_FN void bl__spare_load(const bl__run *run, uint32_t id, uint32_t lane, uint32_t *spare) {
    const uint32_t *left = bl__spare_left(run, id);
    const uint32_t n = run->spares_left ? left[0] : 0;
    const uint32_t mine = run->spares_left ? left[1 + lane] : 0; /* read at the same time */
    if (lane == 0)
        spare[0] = spare[BL__SPARE_BEGUN] = n;
    if (lane < n)
        spare[1 + lane] = mine;
    BL_ROLLED
    for (uint32_t i = 1 + lane + BL_WARP; i <= n; i += BL_WARP)
        spare[i] = left[i];
}
/* `over`: nothing is left to do. Otherwise they go to the store, because the host may make a larger one. `used`: the
 * worker has run tasks; else its list is as it was, unless it was short and had to be filled. */
BL_FN void bl__spare_leave(const bl__run *run, uint32_t id, uint32_t lane, uint32_t *spare, bool over, bool used) {
    uint32_t *left = bl__spare_left(run, id);
    if (over && !used && run->spares_left && spare[0] == spare[BL__SPARE_BEGUN])
        return;
    if (!over)
        bl__spare_trim(run, lane, spare, 0);
    BL_ROLLED
    for (uint32_t i = lane, n = spare[0]; i <= n; i += BL_WARP)
        left[i] = spare[i];
}
#endif

/* ---- by the host while no worker runs: `size` threads, each with its rank ---- */

BL_FN void bl__records_init(const bl__run *run, uint32_t rank, uint32_t size) {
    bl_broker q = bl__free_records(run);
    bl_broker_init(&q, 0, rank, size);
}
/* True: the record is free. One that is in use becomes shared: lanes mark none, and threads may resume what they
 * left. */
BL_FN bool bl__record_free_else_share(const bl__run *run, uint32_t number) {
    bl__record *r = bl__record_at(run, number);
    if (bl__record_out(r->state) == 0)
        return true;
    r->state |= BL__SHARED_RECORD;
    return false;
}
/* A thread alone gives many at once, or a small run would take longer to set up than to run. */
BL_FN void bl__records_fill(const bl__run *run, uint32_t rank, uint32_t size) {
    enum { AT_ONCE = BL_WARP == 1 ? 64 : 1 };
    bl_broker q = bl__free_records(run);
    uint32_t kept = 0, numbers[AT_ONCE], n = 0;
#if BL_WARP > 1
    for (uint32_t id = rank; run->spares_left && id < run->workers; id += size) {
        uint32_t *left = bl__spare_left(run, id), free = 0;
        for (uint32_t i = id * BL_WARP; i < (id + 1) * BL_WARP; i++)
            if (bl__record_free_else_share(run, i))
                left[++free] = i;
        left[0] = free;
        while (free < BL_WARP) /* bl__spare_load reads as many */
            left[++free] = 0;
    }
    kept = run->spares_left ? BL_WARP * run->workers : 0;
#endif
    for (uint32_t i = kept + rank; i < run->record_capacity; i += size) {
        if (bl__record_free_else_share(run, i))
            numbers[n++] = i;
        if (n == AT_ONCE) {
            bl__records_give(&q, numbers, n);
            n = 0;
        }
    }
    bl__records_give(&q, numbers, n);
}
BL_FN void bl__records_count(const bl__run *run, uint64_t *total, uint32_t rank) {
    bl_broker q = bl__free_records(run);
    if (rank == 0)
        *total = bl_broker_size(&q);
}

#endif
