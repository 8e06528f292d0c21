/* The litmus tests on threads of this machine. */
#include "litmus_roles.h"

#include "platform/clock.h"
#include "platform/fence.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

const litmus_test litmus_tests[LITMUS_KINDS] = {
    {"MP", "message passing, release and acquire", 2, true},
    {"MP+data", "the same, and the message is plain data", 2, true},
    {"MP+heavy", "the same, a light release and a heavy fence behind the acquire", 2, true},
    {"MP+relaxed", "message passing, relaxed", 2, false},
    {"SB", "store buffering, seq_cst", 2, true},
    {"SB+fence", "store buffering, relaxed with seq_cst fences", 2, true},
    {"SB+first", "store buffering, a store and a swap, first_seq_cst, before seq_cst loads", 2, true},
    {"SB+heavy", "store buffering, relaxed with a light fence and a heavy one", 2, true},
    {"SB+relaxed", "store buffering, relaxed", 2, false},
    {"LB", "load buffering, acquire and release", 2, true},
    {"LB+relaxed", "load buffering, relaxed", 2, false},
    {"IRIW", "two writers, two readers, seq_cst", 4, true},
    {"IRIW+acquire", "the same, release and acquire", 4, false},
    {"2+2W", "two writers of two words, seq_cst", 2, true},
    {"2+2W+relaxed", "the same, relaxed", 2, false},
    {"CoRR", "one word read twice, relaxed", 2, true},
};
const char *const litmus_places[LITMUS_PLACES] = {"blocks", "warps"};

enum { PAIRS = 2048 };

typedef struct table {
    litmus_kind kind;
    uint32_t roles;
    uint32_t *x, *y;
    litmus_seen *seen;
    uint32_t arrived, round; /* round: threads wait for the next; UINT32_MAX: exit */
} table;

typedef struct member {
    table *t;
    uint32_t role;
} member;

/* All go through the pairs in the same order and at about the same pace. */
static void *live(void *arg) {
    member *m = arg;
    table *t = m->t;
    for (uint32_t round = 1;; round++) {
        uint32_t now;
        for (uint32_t tries = 0; (now = bl_load32_acquire(&t->round)) < round;)
            bl_wait_change32(&t->round, now, &tries);
        if (now == UINT32_MAX)
            return NULL;
        for (uint32_t i = 0; i < PAIRS; i++)
            litmus_role(t->kind, m->role, t->x + i * LITMUS_APART, t->y + i * LITMUS_APART, t->seen[i].load[m->role]);
        bl_fetch_add32_acq_rel(&t->arrived, 1);
    }
}

static void play(table *t, uint32_t round, litmus_count *count) {
    memset(t->x, 0, sizeof *t->x * PAIRS * LITMUS_APART);
    memset(t->y, 0, sizeof *t->y * PAIRS * LITMUS_APART);
    bl_store32_relaxed(&t->arrived, 0);
    bl_store32_release(&t->round, round);
    for (uint32_t now, tries = 0; (now = bl_load32_acquire(&t->arrived)) != t->roles;)
        bl_wait_change32(&t->arrived, now, &tries);
    for (uint32_t i = 0; i < PAIRS; i++)
        count->odd += litmus_is_odd(t->kind, &t->seen[i], t->x[i * LITMUS_APART], t->y[i * LITMUS_APART]);
    count->runs += PAIRS;
}

static bool run(table *t, double seconds, litmus_count *count) {
    pthread_t thread[LITMUS_ROLES];
    member members[LITMUS_ROLES];
    uint32_t started = 0;
    double end = bl__now() + seconds;
    for (; started < t->roles; started++) {
        members[started] = (member){t, started};
        if (pthread_create(&thread[started], NULL, live, &members[started]))
            break;
    }
    bool right = started == t->roles;
    for (uint32_t round = 1; right && (round == 1 || bl__now() < end); round++)
        play(t, round, count);
    bl_store32_release(&t->round, UINT32_MAX);
    for (uint32_t i = 0; i < started; i++)
        pthread_join(thread[i], NULL);
    return right;
}

bool litmus_cpu(litmus_kind kind, double seconds, litmus_count *count) {
    if ((kind == LITMUS_SB_HEAVY || kind == LITMUS_MP_HEAVY) && !bl__can_fence_all_threads())
        return true;
    table t = {.kind = kind, .roles = litmus_tests[kind].roles};
    size_t bytes = sizeof(uint32_t) * PAIRS * LITMUS_APART;
    t.x = malloc(bytes);
    t.y = malloc(bytes);
    t.seen = calloc(PAIRS, sizeof *t.seen);
    bool right = t.x && t.y && t.seen && run(&t, seconds, count);
    free(t.x);
    free(t.y);
    free(t.seen);
    return right;
}

bool litmus_host_step(uint64_t *mine, const uint64_t *other, uint64_t *last) {
    uint64_t seen = bl_load64_host(other);
    bool back = seen < *last;
    *last = seen;
    bl_store64_host(mine, bl_load64_host(mine) + 1);
    return back;
}

void litmus_host_stop(uint64_t *stop) { bl_store64_host(stop, 1); }

#ifndef BL_HAVE_CUDA
static const char no_cuda[] = "built without CUDA";
const char *litmus_cuda(litmus_kind kind, litmus_place place, double seconds, litmus_count *count) {
    (void)kind, (void)place, (void)seconds, (void)count;
    return no_cuda;
}
const char *litmus_cuda_block(double seconds, litmus_count *count) { return (void)seconds, (void)count, no_cuda; }
const char *litmus_cuda_host(double seconds, litmus_count *count) { return (void)seconds, (void)count, no_cuda; }
#endif
