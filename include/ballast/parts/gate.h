/* The gate of a thread's private stack: while the owner runs a task, thieves can take what it has not begun.
 *
 *     open    written by the owner: not 0 while it is in the user's code and touches nothing of the stack but the slots
 *             above top. Then it is 1 more than the number of tasks that it has run since it last wrote tally->beat
 *     gate    BL__INSIDE while a thief is at the stack; BL__VISITED after that, until the owner has seen it; BL__ALONE
 *             throughout, or not
 *
 * A thief takes the gate and then looks whether the stack is open; the owner shuts the stack and then looks at the
 * gate. So at least one of them sees the other: either the thief finds the stack shut and leaves, or the owner waits
 * until the thief is gone. A thief inside has the stack to itself, up to the top that it read.
 *
 * This is Dekker's rule, and it needs a full fence between store and load on both sides. The owner passes here with
 * every task, a thief when it has been out of work for a while: so the thief pays for both (bl_fence_heavy), and the
 * owner's fence (bl_fence_light) costs nothing. Where the system has no heavy fence BL__ALONE is set: then every owner
 * takes the slow path, where there is an ordinary fence.
 *
 * Order pairs
 *   G1 (open and top, release) with G2 (acquire): entries are in their slots before a thief reads them. The owner's
 *     side is light too: the heavy fence G5 follows.
 *   G3 (gate, release) with G4 (acquire): what a thief took off the stack is gone before the owner, or the next thief,
 *     looks.
 *   An owner that finds the gate at 0 needs no order: nobody has been inside.
 */
#ifndef BL_PARTS_GATE_H
#define BL_PARTS_GATE_H

#include "entry.h"
#include "run.h"

enum { BL__INSIDE = 1, BL__VISITED = 2, BL__ALONE = 4 };

/* ---- the owner ---- */

/* mark: not 0. alone: run->fences_alone. */
BL_HOT_FN void bl__gate_open(bl__stack *s, uint32_t mark, bool alone) {
    bl_store32_release_light(&s->open, mark, alone); /* G1 */
}

/* A thief is inside, or has been, or might not have been seen. True: it was there. */
BL_CALLED_FN bool bl__gate_wait(bl__stack *s) {
    bl_fence_seq_cst();
    uint32_t tries = 0, now = bl_load32_acquire(&s->gate); /* G4 */
    while (now & BL__INSIDE) {
        bl_wait_change32(&s->gate, now, &tries);
        now = bl_load32_acquire(&s->gate); /* G4 */
    }
    if (!(now & BL__VISITED))
        return false;
    /* The stack is shut: a thief that takes the gate now finds nothing, and leaves a visit to be seen next time. */
    bl_cas32_relaxed(&s->gate, &now, now & ~(uint32_t)BL__VISITED);
    return true;
}

/* True: a thief has been there since the last time. */
BL_HOT_FN bool bl__gate_shut(bl__stack *s) {
    bl_poke32(&s->open, 0);
    bl_fence_light();
    return BL_RARELY(bl_peek32(&s->gate)) && bl__gate_wait(s);
}

/* ---- thieves ---- */

BL_FN bl__stack *bl__stack_of(const bl__run *run, uint32_t worker) {
    return (bl__stack *)(void *)(run->memory + (size_t)worker * run->worker_memory + run->scratch_bytes);
}

/* Also by a thief that found the stack shut: the owner may be waiting for it. */
BL_FN void bl__gate_leave(bl__stack *s) {
    bl_store32_release(&s->gate, (bl_load32_relaxed(&s->gate) & BL__ALONE) | BL__VISITED); /* G3 */
}

/* True: inside, with the stack up to *top. */
BL_FN bool bl__gate_enter(bl__stack *s, uint32_t *top) {
    uint32_t gate = bl_load32_relaxed(&s->gate);
    if (gate & BL__INSIDE || !bl_cas32_acquire(&s->gate, &gate, gate | BL__INSIDE)) /* G4 */
        return false;
    bool fenced = true;
    if (gate & BL__ALONE)
        bl_fence_seq_cst();
    else
        fenced = bl_fence_heavy();
    if (fenced && bl_load32_acquire(&s->open)) {  /* G2 */
        *top = bl_load32_acquire(&s->top);        /* G2 */
        if (gate & BL__ALONE || bl_fence_heavy()) /* G5 */
            return true;
    }
    bl__gate_leave(s);
    return false;
}

/* ---- before the workers start ---- */

BL_HOST_FN void bl__stack_open(bl__stack *s, const bl__run *run) {
    s->bottom = s->top = 0;
    s->mask = run->stack_capacity - 1;
    s->gate = run->fences_alone ? BL__ALONE : 0;
    s->open = 0;
}

#endif
