/* What a run exchanges with the world outside its workers while it goes on.
 *
 * A SOURCE puts entries into the run's inlet, a ring of slots in memory that both sides reach: plain memory on a CPU,
 * pinned memory of the host for a GPU. It is the only one that writes there; if it has several threads, they take turns
 * among themselves. Workers take entries out, each in its own time. The word in front of a slot says whose it is; `at`
 * is the slot's position, which only grows:
 *
 *     at               free: the source may write the entry, and then at + 1
 *     at + 1           an entry: a worker may take it, and then stores at + the ring's size
 *     at + BL__SHUT    the end: nothing will come. The source keeps one slot free for it
 *
 * So a worker knows all from a look at one word. Which entries are taken is counted in control->taken, in the workers'
 * memory: no read-modify-write leaves the device. Every entry that is put in is run, or given back when the run ends
 * early (config.left).
 *
 * When workers look
 *   - A worker that runs dry: its own queue, other workers, and then the inlet.
 *   - A worker that has work. On a CPU the source knocks (BL__KNOCK in the stop word, which every thread reads between
 *     two tasks), and wakes sleepers. On a GPU one worker reads the word in the host's memory every BL_LOOK_TICKS: any
 *     that is between two batches, or idle, when it is time; in a run of several nodes the porter (loop/porter.inc.h).
 *     One for each multiprocessor would read it no sooner: all that read the same line of the host's memory wait for
 *     each other, 100 microseconds and more.
 *     Such a worker runs what it took next. It takes nothing if it holds more than it would keep to itself, or its
 *     queue holds run->outside.most entries: what comes in cannot crowd out what is there, and so the ring fills and
 *     the source has to wait.
 *
 * What a run does with an open inlet
 *   end       only if the inlet is shut and empty, too. A worker leaves idle before it takes (termination.h), so an
 *             entry is always in the ring, or with a worker that is not idle.
 *   pause     workers leave the ring as it is, and the source may fill it meanwhile. The host adds control->taken to
 *             run->outside.taken, from where the next launch counts. So growth and checkpoints need not know of it.
 *   cancel    and other early ends: the host gives back what is in the ring, after all workers have stopped.
 *   stall     workers that wait for an inlet that is empty and not shut are no stall.
 *   sleep     threads sleep as long as nothing comes, the lookout too if nobody is at work, here or in another node of
 *             the same process.
 *
 * A SINK takes something out: the results of submitted roots. A worker writes the result to run->results[number], and
 * announces the number. On a CPU it calls the host (bl__answer). Elsewhere it stores number + 1 into a ring in pinned
 * memory, at a position that workers draw from control->answered; the host reads it and stores 0. The host has given
 * out no more numbers than that ring has places, so workers never wait and never look.
 *
 * Nodes that share a run (src/cluster/local.c) are source and sink for each other. What a node gives is the host's from
 * then on. Workers tell the host when some of them are out of work, and when all are and nothing is left. The inlet
 * stays open until the nodes agree that the run is over.
 *   CPU   while another node is out of work, the host sets BL__HUNGRY in the stop word. A worker that sees it gives the
 *         older half of its private stack. Workers call the host: bl__node_gives, bl__node_low, bl__node_dry.
 *   GPU   neither reaches the other's memory at a reasonable price, except for a few lines and two rings in pinned
 *         memory, of which each is written by one side: inlet, outlet, and bl__notes.
 *
 *             host: wish ------------> the porter: how far it may fill the outlet (control->limit)
 *             host  <----------------- outlet: what the porter steals for that from other workers
 *             host  <----------------- low: the porter answers a question, if more than a quarter are out of work
 *             host  <----------------- dry: the porter, when all are idle and all queues empty
 *
 *         A slot of the outlet is at + 1 once position `at` is filled. It needs no word for free: the host wishes for
 *         no more than the ring has room for. What was wished for may come late, when nobody wants it any more. `dry`
 *         says how many entries had been taken from the inlet and given to the outlet when the node had nothing. If
 *         these are all that the host has put in and taken out, the node still has nothing: it can get something only
 *         from there.
 *
 * What an entry carries says where its results go: to a root, which has the same number at every node, or to a record,
 * which only the node that made it knows. So an entry that comes from another node carries BL__AWAY with a number, by
 * which the host knows that node and that record. The worker that takes the entry makes a record in its place, whose
 * children are the entry's tasks and whose parent is BL__AWAY with that number. Whoever returns the last of them gives
 * their results to the host (bl__node_returns), as it does with the result of a root, and the host sends them home.
 * There they wait at the host. An entry without tasks in the inlet says so, one for all of them. The worker that takes
 * it asks for the next result (bl__node_collects), puts it where it belongs, and continues if it was the last. If the
 * run is stopped for a checkpoint, results are not left where they are: workers that stop collect them, and run the
 * joins that follow, but no more tasks.
 *
 * On a GPU the porter does all of that. It makes the records of entries that come in. The worker that returns the last
 * child of one leaves it to the porter, in a list: control->finished has the first record, and each record's slot the
 * next. The porter puts the results into a ring of parcels, in pinned memory. Another ring has those that come home. A
 * slot there belongs to the side that fills it if it has the position, and to the other if it has the position + 1.
 * Results of roots are announced as those of submitted ones. `dry` counts parcels with entries.
 *
 * Order pairs
 *   O1 (the source's at + 1, release) with O2 (a worker that takes, acquire): the entry is in its slot. A mere look is
 *      relaxed, and so is the end, which workers see only when all before it has been taken.
 *   O3 (a worker's at + size, release) with O4 (the source's look, acquire): the worker has its copy before the slot is
 *      written again.
 *   O5 (number + 1, release) with O6 (the host's look, acquire): the result is written before it is announced.
 *   O7 (the knock, acq_rel) with O8 (its removal, acquire): a worker that takes the knock away sees the entry that it
 *      was for.
 *   O9 (wish, release) with O10 (the second look there, acquire): the host has its copy before a slot of the outlet is
 *      written again.
 *   O13 (a slot of the outlet, release) with O14 (the host, acquire): the entry is in its slot.
 *   O15 (dry, release) with O16 (the host, acquire): all that was given is in the outlet. Taken and given are read with
 *      acquire, so that the idle word is read again after them.
 *   O17 (a record in the porter's list, release) with O18 (the porter takes it off, acquire): its results are there.
 *      Those below it come with it, because each compare-and-swap continues what the one before released.
 *   O19 (a parcel's slot is cleared, release) with O20 (the side that fills it, acquire): it has been read.
 *   O21 (the slot is filled, release) with O22 (the side that empties it, acquire): the parcel is in it.
 *   Between ring and sleepers: S1 and S2 of idle.h.
 */
#ifndef BL_PARTS_OUTSIDE_H
#define BL_PARTS_OUTSIDE_H

#include "record.h"
#include "worker.h"

#define BL__SHUT (1u << 31)

/* In the worker loop: workers take what comes from outside themselves. A GPU's has code for this only if the program
 * wants it (BL_OPEN): it takes registers, and time even when it is not used. */
#if BL_WARP == 1
#define BL__IS_OPEN(run) ((run)->outside.slots != NULL)
#else
#define BL__IS_OPEN(run) (BL__OPENS & BL__OPEN && (run)->outside.slots && !(run)->outlet.slots)
#endif
/* ... The run is shared with other nodes, and workers are not threads: a porter does it for all (loop/porter.inc.h). On
 * a GPU such runs have a kernel of their own. */
#ifdef BL_TARGET_CUDA
#define BL__HAS_PORTER(run) ((void)(run), (BL__OPENS & BL__SHARED) != 0)
#else
#define BL__HAS_PORTER(run) (BL__OPENS & BL__SHARED && (run)->outlet.slots)
#endif

BL_HOST_FN uint32_t *bl__inlet_slot(const bl__outside *o, uint32_t at) {
    return o->slots + (size_t)(at & o->mask) * o->stride;
}

/* ---- the host: one thread at a time ---- */

BL_FN bool bl__inlet_is_free(const bl__outside *o, uint32_t at) {
    return bl_load32_host_acquire(bl__inlet_slot(o, at)) == at; /* O4 */
}
BL_FN bool bl__inlet_has(const bl__outside *o, uint32_t at) { return bl_load32_host(bl__inlet_slot(o, at)) == at + 1; }
/* What is in the slot is an entry. */
BL_FN void bl__inlet_fill(const bl__outside *o, uint32_t at) {
    bl_store32_host_release(bl__inlet_slot(o, at), at + 1); /* O1 */
}
BL_FN void bl__inlet_shut(const bl__outside *o, uint32_t at) { bl_store32_host(bl__inlet_slot(o, at), at + BL__SHUT); }
BL_FN bool bl__answer_is_there(const bl__outside *o) {
    return bl_load32_host(o->answers + (o->answered & o->answers_mask)) != 0;
}
/* The next number that workers have announced, more by one; 0: none yet. */
BL_FN uint32_t bl__answer_take(bl__outside *o) {
    uint32_t *place = o->answers + (o->answered & o->answers_mask), number = bl_load32_host_acquire(place); /* O6 */
    if (number) {
        bl_store32_host(place, 0);
        o->answered++;
    }
    return number;
}

BL_HOST_FN uint32_t *bl__parcel_slot(const bl__parcels *p, uint32_t at) {
    return p->slots + (size_t)(at & p->mask) * p->stride;
}
/* By the side that fills the ring, and by the one that empties it. */
BL_FN bool bl__parcel_has_room(const bl__parcels *p, uint32_t at) {
    return bl_load32_host_acquire(bl__parcel_slot(p, at)) == at; /* O20 */
}
BL_FN void bl__parcel_fill(const bl__parcels *p, uint32_t at) {
    bl_store32_host_release(bl__parcel_slot(p, at), at + 1); /* O21 */
}
BL_FN bool bl__parcel_is_there(const bl__parcels *p, uint32_t at) {
    return bl_load32_host_acquire(bl__parcel_slot(p, at)) == at + 1; /* O22 */
}
BL_FN void bl__parcel_clear(const bl__parcels *p, uint32_t at) {
    bl_store32_host_release(bl__parcel_slot(p, at), at + p->mask + 1); /* O19 */
}

BL_HOST_FN uint32_t *bl__outlet_slot(const bl__outside *o, const bl__outlet *x, uint32_t at) {
    return x->slots + (size_t)(at & x->mask) * o->stride;
}
/* The entry at that position; NULL: not yet. */
BL_FN const uint32_t *bl__outlet_look(const bl__outside *o, const bl__outlet *x, uint32_t at) {
    const uint32_t *slot = bl__outlet_slot(o, x, at);
    return bl_load32_host_acquire(slot) == at + 1 ? slot + 1 : NULL; /* O14 */
}
/* The porter may fill the outlet up to that position; `question`: another number than before asks when they are low. */
BL_FN void bl__wish(const bl__outlet *x, uint32_t limit, uint32_t question) {
    bl_store64_host_release(&x->notes->wish, (uint64_t)question << 32 | limit); /* O9 */
}

/* ---- workers ---- */

BL_FN uint32_t bl__inlet_next(const bl__run *run) {
    return run->outside.taken + bl_load32_relaxed(&run->control->taken);
}
/* The word of the next slot, less its position: 1, if there is an entry; BL__SHUT at the end. */
BL_FN uint32_t bl__inlet_look(const bl__run *run) {
    const uint32_t at = bl__inlet_next(run);
    return bl_load32_host(bl__inlet_slot(&run->outside, at)) - at;
}

/* All lanes: up to `most` entries onto the stack, a warp's lanes one each. How many; 0 also if another worker was
 * faster. */
BL_FN uint32_t bl__inlet_take(bl__worker *w, uint32_t most) {
    const bl__run *run = w->run;
    const bl__outside *o = &run->outside;
    uint32_t taken = bl_warp_broadcast32(w->lane == 0 ? bl_load32_relaxed(&run->control->taken) : 0, 0), swapped = 0;
    const uint32_t at = o->taken + taken + w->lane;
    uint32_t *slot = bl__inlet_slot(o, at);
    const uint32_t there = bl_warp_ballot(w->lane < most && bl_load32_host_acquire(slot) == at + 1); /* O2 */
    const uint32_t n = ~there ? bl_lowest_bit(~there) : BL_WARP;
    if (n == 0)
        return 0;
    if (w->lane == 0)
        swapped = bl_cas32_relaxed(&run->control->taken, &taken, taken + n);
    if (!bl_warp_broadcast32(swapped, 0))
        return 0;
    if (w->lane < n) {
        bl_data_read(bl__stack_slot(w->stack, w->words, w->stack->top + w->lane), slot + 1, w->words);
        bl_store32_host_release(slot, at + o->mask + 1); /* O3 */
    }
    bl_warp_sync();
    if (w->lane == 0)
        bl__stack_move_top(w->stack, w->stack->top + n);
    bl_warp_sync();
    return n;
}

#if BL_WARP == 1

/* By the source: there is something in the inlet. */
BL_FN void bl__inlet_knock(const bl__run *run) { bl_fetch_or32_acq_rel(&run->control->stop, BL__KNOCK); /* O7 */ }

/* By the host: no other node is out of work any more. */
BL_FN void bl__inlet_unwanted(const bl__run *run) {
    uint32_t stop = bl_load32_host(&run->control->stop);
    while (stop & BL__HUNGRY && !bl_cas32_relaxed(&run->control->stop, &stop, stop & ~BL__HUNGRY))
        ;
}

/* True: nobody will knock again for what is in the inlet now. */
BL_FN bool bl__inlet_hush(const bl__run *run) {
    uint32_t stop = bl_load32_host(&run->control->stop);
    return stop & BL__KNOCK && bl_cas32_acquire(&run->control->stop, &stop, stop & ~BL__KNOCK); /* O8 */
}

/* One entry; and knocks for the next. */
BL_FN uint32_t bl__inlet_fetch(bl__worker *w) {
    const bool hushed = bl__inlet_hush(w->run);
    const uint32_t got = bl__inlet_take(w, 1);
    if ((hushed || got) && bl__inlet_look(w->run) == 1)
        bl__inlet_knock(w->run);
    return got;
}

/* For a worker that is out of work. */
BL_FN bool bl__inlet_shows(bl__worker *w, bool idle) { return (void)idle, bl__inlet_look(w->run) == 1; }
BL_FN bool bl__inlet_over(const bl__run *run) { return bl__inlet_look(run) == BL__SHUT; }

/* Called by the worker that has returned the result of a root: of a submitted one, or in a run of several nodes. */
BL_API void bl__answer(const bl__run *run, uint32_t number);

/* Where run->outside.node. The n oldest entries of the caller's private stack, as far as there is room for them. */
BL_API void bl__node_gives(const bl__run *run, bl__stack *stack, uint32_t n);
/* The caller is out of work, or soon will be. */
BL_API void bl__node_low(const bl__run *run);
/* The same, by a worker that should give something and has nothing to spare; it may be said after every task. */
BL_API void bl__node_short(const bl__run *run);
/* By a worker that is about to sleep, as all others are: whether it should only nap, and say bl__node_low again, so
 * that somebody looks after another node. */
BL_API bool bl__node_watches(const bl__run *run);
/* Where run->outside.listens, again and again: hears what other processes have sent. `idle`: the worker has nothing
 * else to do. */
BL_API void bl__node_listens(const bl__run *run, bool idle);
/* All workers are idle, and all queues were found empty after `idle` was read (termination.h). May be repeated. */
BL_API void bl__node_dry(const bl__run *run, uint64_t idle);

/* All children of a record whose parent is `join` have returned, or the root that `join` says. `results`: of children
 * 0, 1, ... of the record, or their sum; of the root its result. */
BL_API void bl__node_returns(const bl__run *run, uint32_t join, const void *results);
/* By a worker that has taken an entry without tasks: the next results that have come home; NULL: the run is ending. */
BL_API bl__parcel *bl__node_collects(const bl__run *run);
BL_API void bl__node_collected(bl__parcel *parcel);
/* The same worker has to stop before that: another one will. */
BL_API void bl__node_postpones(const bl__run *run);
/* By a worker that stops: a checkpoint may be written, and there are results that a worker must collect before that. */
BL_API bool bl__node_has_results(const bl__run *run);

#else

/* What a porter does next. */
#define BL__PORTER_LEAVES 0u
#define BL__PORTER_LOOKS 1u
#define BL__PORTER_JOINS 2u

/* One lane: whether it is time to look, and this worker does. All read the same word to know, so where there are many
 * each does so now and then; but worker 0 always, which notices the end. */
BL_FN bool bl__look_begins(bl__worker *w) {
    if (w->run->workers >= BL_CROWD && w->id) {
        const uint32_t clock = bl_clock32();
        if (clock - w->looked < BL_LONG_TICKS / 4)
            return false;
        w->looked = clock;
    }
    uint32_t *looked = &w->run->control->looked, last = bl_load32_relaxed(looked);
    const uint32_t now = (uint32_t)bl_time();
    return now - last >= BL_LOOK_TICKS && bl_cas32_relaxed(looked, &last, now);
}

/* More than a quarter of the workers are out of work: what the others hold is for them, and nothing is given away.
 * `word`: the idle word. `idle`: the porter is one of those that it counts. */
BL_FN bool bl__are_short(const bl__run *run, uint64_t word, bool idle) {
    const uint32_t count = bl__idle_count(word);
    return count - (count && idle) > run->workers / 4;
}

/* The porter, one lane: how many entries another node should get now. At first none: entries are few and large then,
 * most workers have yet to find out that there are none for them, and a run that is soon over would only wait for what
 * others took. */
BL_FN uint32_t bl__wished(const bl__worker *w, bool idle) {
    const bl__run *run = w->run;
    const int32_t left = (int32_t)(run->control->limit - run->outlet.given - run->control->given);
    return left <= 0 || bl_clock32() - (uint32_t)w->tally->since < BL_SPREAD_TICKS / 2 ||
                   bl__are_short(run, bl_load64_relaxed(&run->control->idle), idle)
               ? 0
               : (uint32_t)left;
}
/* The porter, one lane: answers the host's question once the node is short of work. */
BL_FN void bl__tell_low(const bl__run *run, uint32_t question, bool idle) {
    bl__control *c = run->control;
    const uint64_t word = bl_load64_relaxed(&c->idle);
    if (bl_load32_relaxed(&c->told) == question || !bl__are_short(run, word, idle))
        return;
    bl_store32_relaxed(&c->told, question);
    bl_store64_host(&run->outlet.notes->low, (uint64_t)question << 32 | word >> 32);
}

/* All lanes. Whether this worker looks, now, and sees something. `idle`: it is the porter, and counts as idle. */
BL_FN bool bl__inlet_shows(bl__worker *w, bool idle) {
    const bl__run *run = w->run;
    uint32_t seen = 0;
    if (w->lane == 0 && bl__look_begins(w)) {
        const uint64_t wish = run->outlet.slots ? bl_load64_host(&run->outlet.notes->wish) : 0;
        seen = bl__inlet_look(run);
        if (seen == BL__SHUT)
            bl_store32_relaxed(&run->control->shut, 1);
        if (run->outlet.slots) {
            if (run->control->limit != (uint32_t)wish)
                run->control->limit = (uint32_t)bl_load64_host_acquire(&run->outlet.notes->wish); /* O10 */
            bl__tell_low(run, (uint32_t)(wish >> 32), idle);
        }
    }
    return bl_warp_broadcast32(seen, 0) == 1;
}

/* The porter, one lane: all are idle and all queues empty, since `idle` was read. */
BL_FN void bl__tell_dry(const bl__run *run, uint64_t idle) {
    bl__control *c = run->control;
    const bl__outlet *x = &run->outlet;
    if (bl_load32_relaxed(&c->finished))
        return;
    const uint32_t taken = run->outside.taken + bl_load32_acquire(&c->taken) + x->home.moved + c->brought;
    const uint32_t given = x->given + bl_load32_acquire(&c->given) + x->away.moved + c->sent;
    const uint64_t all = (uint64_t)given << 32 | taken;
    if (c->dried == ~all || bl_load64_acquire(&c->idle) != idle)
        return;
    c->dried = ~all;
    bl_store64_host_release(&x->notes->dry, all); /* O15 */
}

/* One lane: all children of a record that stands for one of another node have returned, and the porter has to know. One
 * child stays out, so that nobody takes the record for a free one. Nobody else uses its slot. */
BL_FN void bl__leave_to_porter(const bl__run *run, uint32_t number, uint64_t sum) {
    bl__record *r = bl__record_at(run, number);
    uint32_t *head = &run->control->finished, first = bl_load32_relaxed(head);
    bl_store64_relaxed(&r->state, sum | BL__ONE_CHILD);
    do
        bl_store32_relaxed(&r->slot, first);
    while (!bl_cas32_release(head, &first, number + 1)); /* O17 */
}
/* The porter, one lane: the next of them, which is its own from now on; BL__NO_JOIN: there is none. Nobody else takes
 * any, so a record that is first now was not first, gone, and back since. */
BL_FN uint32_t bl__next_finished(const bl__run *run) {
    uint32_t *head = &run->control->finished;
    for (uint32_t first; (first = bl_load32_acquire(head));) { /* O18 */
        const uint32_t number = first - 1;
        if (bl_cas32_relaxed(head, &first, bl_load32_relaxed(&bl__record_at(run, number)->slot)))
            return number;
    }
    return BL__NO_JOIN;
}

/* The porter, all lanes: gives the n oldest entries of its private stack away. There is room for them. */
BL_FN void bl__outlet_put(bl__worker *w, uint32_t n) {
    const bl__run *run = w->run;
    const bl__outlet *x = &run->outlet;
    const uint32_t at = bl_warp_broadcast32(w->lane ? 0 : x->given + run->control->given, 0);
    for (uint32_t i = w->lane; i < n; i += BL_WARP) {
        uint32_t *slot = bl__outlet_slot(&run->outside, x, at + i);
        bl_data_write(slot + 1, bl__stack_slot(w->stack, w->words, w->stack->bottom + i), w->words);
        bl_store32_host_release(slot, at + i + 1); /* O13 */
    }
    bl_warp_sync();
    if (w->lane == 0) {
        w->stack->bottom += n;
        run->control->given += n;
    }
    bl_warp_sync();
}

/* As many as there are lanes with tasks of their own. */
BL_FN uint32_t bl__inlet_fetch(bl__worker *w) {
    const uint32_t room = w->run->stack_capacity - w->run->outbox - bl__stack_count(w->stack);
    return bl__inlet_take(w, bl__min(w->batch, room));
}

BL_FN bool bl__inlet_over(const bl__run *run) { return bl_load32_relaxed(&run->control->shut) != 0; }

/* One lane: the result of a submitted root is where it should be. */
BL_FN void bl__answer(const bl__run *run, uint32_t number) {
    const bl__outside *o = &run->outside;
    const uint32_t at = o->answered + bl_fetch_add32_relaxed(&run->control->answered, 1);
    bl_store32_host_release(o->answers + (at & o->answers_mask), number + 1); /* O5 */
}

#endif
#endif
