/* The roles of the litmus tests (litmus.h), with the platform's operations. Included for each target. */
#ifndef BALLAST_LITMUS_ROLES_H
#define BALLAST_LITMUS_ROLES_H

#include "litmus.h"

#include <ballast/platform/platform.h>

/* x and y are initially 0. */
BL_FN void litmus_mp(litmus_kind kind, uint32_t role, uint32_t *x, uint32_t *y, uint32_t *load) {
    const uint32_t one = 1;
    if (role == 0) {
        if (kind == LITMUS_MP_DATA || kind == LITMUS_MP_HEAVY)
            bl_data_write(x, &one, 1);
        else
            bl_store32_relaxed(x, 1);
        if (kind == LITMUS_MP_RELAXED)
            bl_store32_relaxed(y, 1);
        else if (kind == LITMUS_MP_HEAVY)
            bl_store32_release_light(y, 1, false);
        else
            bl_store32_release(y, 1);
        return;
    }
    load[0] = kind == LITMUS_MP_RELAXED ? bl_load32_relaxed(y) : bl_load32_acquire(y);
    load[1] = 1;
    if (kind == LITMUS_MP_HEAVY && load[0])
        (void)bl_fence_heavy();
    if (kind != LITMUS_MP_DATA && kind != LITMUS_MP_HEAVY)
        load[1] = bl_load32_relaxed(x);
    else if (load[0]) /* otherwise the read would race */
        bl_data_read(&load[1], x, 1);
}

BL_FN void litmus_sb(litmus_kind kind, uint32_t role, uint32_t *mine, uint32_t *other, uint32_t *load) {
    if (kind == LITMUS_SB) {
        bl_store32_seq_cst(mine, 1);
        load[0] = bl_load32_seq_cst(other);
    } else if (kind == LITMUS_SB_FENCE) {
        bl_store32_relaxed(mine, 1);
        bl_fence_seq_cst();
        load[0] = bl_load32_relaxed(other);
    } else if (kind == LITMUS_SB_FIRST) { /* an owner that lowers its end, and a thief that draws a range */
        uint32_t none = 0;
        if (role == 0)
            bl_store32_first_seq_cst(mine, 1);
        else
            (void)bl_cas32_first_seq_cst(mine, &none, 1);
        load[0] = bl_load32_seq_cst(other);
    } else if (kind == LITMUS_SB_HEAVY) {
        bl_store32_relaxed(mine, 1);
        if (role == 0)
            bl_fence_light();
        else
            (void)bl_fence_heavy(); /* the outcome shows if it failed */
        load[0] = bl_load32_relaxed(other);
    } else {
        bl_store32_relaxed(mine, 1);
        load[0] = bl_load32_relaxed(other);
    }
}

BL_FN void litmus_lb(litmus_kind kind, uint32_t *first, uint32_t *then, uint32_t *load) {
    if (kind == LITMUS_LB) {
        load[0] = bl_load32_acquire(first);
        bl_store32_release(then, 1);
    } else {
        load[0] = bl_load32_relaxed(first);
        bl_store32_relaxed(then, 1);
    }
}

BL_FN void litmus_iriw(litmus_kind kind, uint32_t role, uint32_t *x, uint32_t *y, uint32_t *load) {
    uint32_t *first = role & 1 ? y : x, *then = role & 1 ? x : y;
    bool strong = kind == LITMUS_IRIW;
    if (role < 2) {
        if (strong)
            bl_store32_seq_cst(first, 1);
        else
            bl_store32_release(first, 1);
        return;
    }
    load[0] = strong ? bl_load32_seq_cst(first) : bl_load32_acquire(first);
    load[1] = strong ? bl_load32_seq_cst(then) : bl_load32_acquire(then);
}

BL_FN void litmus_writes(litmus_kind kind, uint32_t *first, uint32_t *then) {
    if (kind == LITMUS_WRITES) {
        bl_store32_seq_cst(first, 1);
        bl_store32_seq_cst(then, 2);
    } else {
        bl_store32_relaxed(first, 1);
        bl_store32_relaxed(then, 2);
    }
}

BL_FN void litmus_coherence(uint32_t role, uint32_t *x, uint32_t *load) {
    if (role == 0) {
        bl_store32_relaxed(x, 1);
        return;
    }
    load[0] = bl_load32_relaxed(x);
    load[1] = bl_load32_relaxed(x);
}

BL_FN void litmus_role(litmus_kind kind, uint32_t role, uint32_t *x, uint32_t *y, uint32_t *load) {
    uint32_t *mine = role & 1 ? y : x, *other = role & 1 ? x : y;
    if (kind <= LITMUS_MP_RELAXED)
        litmus_mp(kind, role, x, y, load);
    else if (kind <= LITMUS_SB_RELAXED)
        litmus_sb(kind, role, mine, other, load);
    else if (kind <= LITMUS_LB_RELAXED)
        litmus_lb(kind, mine, other, load);
    else if (kind <= LITMUS_IRIW_ACQUIRE)
        litmus_iriw(kind, role, x, y, load);
    else if (kind <= LITMUS_WRITES_RELAXED)
        litmus_writes(kind, mine, other);
    else
        litmus_coherence(role, x, load);
}

/* Whether the outcome is the one of interest. x, y: final values. */
BL_HOST_FN bool litmus_is_odd(litmus_kind kind, const litmus_seen *s, uint32_t x, uint32_t y) {
    if (kind <= LITMUS_MP_RELAXED || kind == LITMUS_COHERENCE)
        return s->load[1][0] == 1 && s->load[1][1] == 0;
    if (kind <= LITMUS_SB_RELAXED)
        return s->load[0][0] == 0 && s->load[1][0] == 0;
    if (kind <= LITMUS_LB_RELAXED)
        return s->load[0][0] == 1 && s->load[1][0] == 1;
    if (kind <= LITMUS_IRIW_ACQUIRE)
        return s->load[2][0] == 1 && s->load[2][1] == 0 && s->load[3][0] == 1 && s->load[3][1] == 0;
    return x == 1 && y == 1;
}

#endif
