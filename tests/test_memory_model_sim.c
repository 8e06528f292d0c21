/* The model checker of the simulated machine: litmus tests have exactly the outcomes that verify/explorer/views.c
 * claims, the reduction loses none of them, spins end, races and deadlocks are found, and schedules replay. Small
 * clients of queues are clean, and mistakes planted by mutants are found. */
#include "check.h"

#include "ballast/platform/platform.h"
#include "ballast/queues/abp.h"
#include "ballast/queues/blocking.h"
#include "ballast/queues/chase_lev.h"
#include "ballast/queues/steal_half.h"
#include "ballast/queues/tz.h"
#include "explorer/explorer.h"

#include <stdlib.h>
#include <time.h>

#ifndef BL_TARGET_SIM
#error "compile this test with -DBL_TARGET_SIM"
#endif

/* ---- litmus tests: the values read, or those in memory at the end, as digits ---- */

enum { END = 99 }; /* the host, which acts as a thread after an execution */

typedef struct litmus {
    uint32_t x, y, z, data;
    _Alignas(16) uint64_t wide[2];
    uint32_t r[4];
    void (*body)(struct litmus *l, uint32_t thread);
    uint32_t digits;
    uint64_t seen[4]; /* outcomes, in base 4 */
} litmus;

static void litmus_before(void *arg) {
    litmus *l = arg;
    l->x = l->y = l->z = l->data = 0;
    memset(l->wide, 0, sizeof l->wide);
    memset(l->r, 0, sizeof l->r);
}

static void litmus_body(void *arg, uint32_t thread, uint32_t lane) {
    litmus *l = arg;
    (void)lane;
    l->body(l, thread);
}

static const char *litmus_after(void *arg) {
    litmus *l = arg;
    uint32_t outcome = 0;
    l->body(l, END);
    for (uint32_t i = 0; i < l->digits; i++)
        outcome = outcome * 4 + (l->r[i] & 3);
    l->seen[outcome / 64] |= UINT64_C(1) << outcome % 64;
    return NULL;
}

static void outcomes_text(const litmus *l, char *text) {
    *text = 0;
    for (uint32_t outcome = 0; outcome < 256; outcome++) {
        if (!(l->seen[outcome / 64] >> outcome % 64 & 1))
            continue;
        if (*text)
            strcat(text, " ");
        for (uint32_t i = l->digits; i-- > 0;)
            sprintf(text + strlen(text), "%u", outcome >> 2 * i & 3);
    }
}

/* The same outcomes with reduction, without it, and with a preemption bound that is never reached. */
static void expect(const char *name, uint32_t threads, void (*body)(litmus *l, uint32_t thread), uint32_t digits,
                   const char *outcomes) {
    static const bl_explore_options ways[] = {{0}, {.exhaustive = true}, {.preemptions = 50}};
    for (int i = 0; i < 3; i++) {
        litmus l = {.body = body, .digits = digits};
        bl_explore_options o = ways[i];
        bl_explore_result result;
        char text[2048];
        o.before = litmus_before;
        o.after = litmus_after;
        check_at("%s, way %d", name, i);
        CHECK(bl_explore(threads, litmus_body, &l, &o, &result) && result.complete);
        outcomes_text(&l, text);
        if (!CHECK(!strcmp(text, outcomes)))
            printf("    %s instead of %s %s\n", text, outcomes, result.failure);
    }
    check_at("%s", "");
}
#define EXPECT(threads, body, digits, outcomes) expect(#body, threads, body, digits, outcomes)

#define NOTHING ((void)0)

/* Message passing: y signals that x was written. */
#define MP(name, store, before_store, load, after_load)                                                                \
    static void name(litmus *l, uint32_t thread) {                                                                     \
        if (thread == 0) {                                                                                             \
            bl_store32_relaxed(&l->x, 1);                                                                              \
            before_store;                                                                                              \
            bl_store32_##store(&l->y, 1);                                                                              \
        } else if (thread == 1) {                                                                                      \
            l->r[0] = bl_load32_##load(&l->y);                                                                         \
            after_load;                                                                                                \
            l->r[1] = bl_load32_relaxed(&l->x);                                                                        \
        }                                                                                                              \
    }
MP(mp_relaxed, relaxed, NOTHING, relaxed, NOTHING)
MP(mp_ordered, release, NOTHING, acquire, NOTHING)
MP(mp_seq_cst, seq_cst, NOTHING, seq_cst, NOTHING)
MP(mp_no_acquire, release, NOTHING, relaxed, NOTHING)
MP(mp_no_release, relaxed, NOTHING, acquire, NOTHING)
MP(mp_fences, relaxed, bl_fence_release(), relaxed, bl_fence_acquire())
MP(mp_fence_acquire, relaxed, bl_fence_release(), acquire, NOTHING)
MP(mp_release_fence, release, NOTHING, relaxed, bl_fence_acquire())
MP(mp_sc_fences, relaxed, bl_fence_seq_cst(), relaxed, bl_fence_seq_cst())
MP(mp_one_fence, relaxed, bl_fence_release(), relaxed, NOTHING)
MP(mp_other_fence, relaxed, NOTHING, relaxed, bl_fence_acquire())

static void test_message_passing(void) {
    EXPECT(2, mp_relaxed, 2, "00 01 10 11");
    EXPECT(2, mp_ordered, 2, "00 01 11");
    EXPECT(2, mp_seq_cst, 2, "00 01 11");
    EXPECT(2, mp_no_acquire, 2, "00 01 10 11");
    EXPECT(2, mp_no_release, 2, "00 01 10 11");
    EXPECT(2, mp_fences, 2, "00 01 11");
    EXPECT(2, mp_fence_acquire, 2, "00 01 11");
    EXPECT(2, mp_release_fence, 2, "00 01 11");
    EXPECT(2, mp_sc_fences, 2, "00 01 11");
    EXPECT(2, mp_one_fence, 2, "00 01 10 11");
    EXPECT(2, mp_other_fence, 2, "00 01 10 11");
}

/* Store buffering: each thread writes one word and reads the other's. */
#define SB(name, store0, between0, load0, store1, between1, load1)                                                     \
    static void name(litmus *l, uint32_t thread) {                                                                     \
        if (thread == 0) {                                                                                             \
            (void)bl_##store0(&l->x, 1);                                                                               \
            between0;                                                                                                  \
            l->r[0] = bl_##load0(&l->y);                                                                               \
        } else if (thread == 1) {                                                                                      \
            (void)bl_##store1(&l->y, 1);                                                                               \
            between1;                                                                                                  \
            l->r[1] = bl_##load1(&l->x);                                                                               \
        }                                                                                                              \
    }
#define SB_TWICE(name, store, between, load) SB(name, store, between, load, store, between, load)
SB_TWICE(sb_relaxed, store32_relaxed, NOTHING, load32_relaxed)
SB_TWICE(sb_ordered, store32_release, NOTHING, load32_acquire)
SB_TWICE(sb_seq_cst, store32_seq_cst, NOTHING, load32_seq_cst)
SB_TWICE(sb_fences, store32_relaxed, bl_fence_seq_cst(), load32_relaxed)
SB_TWICE(sb_weak_load, store32_seq_cst, NOTHING, load32_acquire)
SB_TWICE(sb_weak_store, store32_release, NOTHING, load32_seq_cst)
SB_TWICE(sb_exchange, exchange32_acq_rel, NOTHING, load32_acquire) /* a read-modify-write is not a full fence */
SB(sb_one_fence, store32_relaxed, bl_fence_seq_cst(), load32_relaxed, store32_relaxed, NOTHING, load32_relaxed)
SB(sb_mixed, store32_seq_cst, NOTHING, load32_seq_cst, store32_relaxed, bl_fence_seq_cst(), load32_relaxed)
SB(sb_add, fetch_add32_seq_cst, NOTHING, load32_seq_cst, store32_seq_cst, NOTHING, load32_seq_cst)

static void test_store_buffering(void) {
    EXPECT(2, sb_relaxed, 2, "00 01 10 11");
    EXPECT(2, sb_ordered, 2, "00 01 10 11");
    EXPECT(2, sb_seq_cst, 2, "01 10 11");
    EXPECT(2, sb_fences, 2, "01 10 11");
    EXPECT(2, sb_weak_load, 2, "00 01 10 11");
    EXPECT(2, sb_weak_store, 2, "00 01 10 11");
    EXPECT(2, sb_exchange, 2, "00 01 10 11");
    EXPECT(2, sb_one_fence, 2, "00 01 10 11");
    EXPECT(2, sb_mixed, 2, "01 10 11");
    EXPECT(2, sb_add, 2, "01 10 11");
}

/* A light fence and a heavy one keep what two full fences keep; two light ones keep nothing. Three threads in a ring of
 * light, heavy, light may all miss each other: a membarrier reaches one thread before the other. */
SB(sb_light_heavy, store32_relaxed, bl_fence_light(), load32_relaxed, store32_relaxed, bl_fence_heavy(), load32_relaxed)
SB_TWICE(sb_light, store32_relaxed, bl_fence_light(), load32_relaxed)
SB_TWICE(sb_heavy, store32_relaxed, bl_fence_heavy(), load32_relaxed)
SB(sb_light_fence, store32_relaxed, bl_fence_light(), load32_relaxed, store32_relaxed, bl_fence_seq_cst(),
   load32_relaxed)
SB(sb_only_heavy, store32_relaxed, NOTHING, load32_relaxed, store32_relaxed, bl_fence_heavy(), load32_relaxed)
SB(sb_heavy_fence, store32_relaxed, bl_fence_seq_cst(), load32_relaxed, store32_relaxed, bl_fence_heavy(),
   load32_relaxed)

MP(mp_light_heavy, relaxed, bl_fence_light(), relaxed, bl_fence_heavy())
MP(mp_heavy_light, relaxed, bl_fence_heavy(), relaxed, bl_fence_light())
MP(mp_light, relaxed, bl_fence_light(), relaxed, bl_fence_light())
MP(mp_light_acquire, relaxed, bl_fence_light(), acquire, NOTHING)
MP(mp_only_heavy, relaxed, NOTHING, relaxed, bl_fence_heavy())

#define RING(name, fence0, fence1, fence2)                                                                             \
    static void name(litmus *l, uint32_t thread) {                                                                     \
        if (thread == 0) {                                                                                             \
            bl_store32_relaxed(&l->x, 1);                                                                              \
            fence0;                                                                                                    \
            l->r[0] = bl_load32_relaxed(&l->y);                                                                        \
        } else if (thread == 1) {                                                                                      \
            bl_store32_relaxed(&l->y, 1);                                                                              \
            fence1;                                                                                                    \
            l->r[1] = bl_load32_relaxed(&l->z);                                                                        \
        } else if (thread == 2) {                                                                                      \
            bl_store32_relaxed(&l->z, 1);                                                                              \
            fence2;                                                                                                    \
            l->r[2] = bl_load32_relaxed(&l->x);                                                                        \
        }                                                                                                              \
    }
RING(ring_light_heavy_light, bl_fence_light(), bl_fence_heavy(), bl_fence_light())
RING(ring_light_heavy_fence, bl_fence_light(), bl_fence_heavy(), bl_fence_seq_cst())
RING(ring_light_heavy_heavy, bl_fence_light(), bl_fence_heavy(), bl_fence_heavy())

static void test_asymmetric(void) {
    EXPECT(2, sb_light_heavy, 2, "01 10 11");
    EXPECT(2, sb_light, 2, "00 01 10 11");
    EXPECT(2, sb_heavy, 2, "01 10 11");
    EXPECT(2, sb_light_fence, 2, "00 01 10 11");
    EXPECT(2, sb_only_heavy, 2, "00 01 10 11");
    EXPECT(2, sb_heavy_fence, 2, "01 10 11");
    EXPECT(2, mp_light_heavy, 2, "00 01 11");
    EXPECT(2, mp_heavy_light, 2, "00 01 11");
    EXPECT(2, mp_light, 2, "00 01 10 11");
    EXPECT(2, mp_light_acquire, 2, "00 01 10 11");
    EXPECT(2, mp_only_heavy, 2, "00 01 10 11");
    EXPECT(3, ring_light_heavy_light, 3, "000 001 010 011 100 101 110 111");
    EXPECT(3, ring_light_heavy_fence, 3, "000 001 010 011 100 101 110 111");
    EXPECT(3, ring_light_heavy_heavy, 3, "001 010 011 100 101 110 111");
}

/* Independent reads of independent writes: do two readers agree on which came first? */
#define IRIW(name, store, load, between)                                                                               \
    static void name(litmus *l, uint32_t thread) {                                                                     \
        if (thread == 0) {                                                                                             \
            bl_store32_##store(&l->x, 1);                                                                              \
        } else if (thread == 1) {                                                                                      \
            bl_store32_##store(&l->y, 1);                                                                              \
        } else if (thread == 2) {                                                                                      \
            l->r[0] = bl_load32_##load(&l->x);                                                                         \
            between;                                                                                                   \
            l->r[1] = bl_load32_##load(&l->y);                                                                         \
        } else if (thread == 3) {                                                                                      \
            l->r[2] = bl_load32_##load(&l->y);                                                                         \
            between;                                                                                                   \
            l->r[3] = bl_load32_##load(&l->x);                                                                         \
        }                                                                                                              \
    }
IRIW(iriw_ordered, release, acquire, NOTHING)
IRIW(iriw_seq_cst, seq_cst, seq_cst, NOTHING)
IRIW(iriw_sc_loads, release, seq_cst, NOTHING)
IRIW(iriw_fences, relaxed, relaxed, bl_fence_seq_cst())

static const char all_of_four[] = "0000 0001 0010 0011 0100 0101 0110 0111 1000 1001 1010 1011 1100 1101 1110 1111";
static const char iriw_agreed[] = "0000 0001 0010 0011 0100 0101 0110 0111 1000 1001 1011 1100 1101 1110 1111";

static void test_iriw(void) {
    EXPECT(4, iriw_ordered, 4, all_of_four);
    EXPECT(4, iriw_seq_cst, 4, iriw_agreed);
    EXPECT(4, iriw_sc_loads, 4, all_of_four);
    EXPECT(4, iriw_fences, 4, iriw_agreed);
}

/* Where C11, C++20 and RC11 differ, the weakest rule holds. Thread 0 is a deque's owner, which lowers x and reads y.
 * Threads 1 and 2 are thieves: one changes y, the other (or the same one) reads the change and then reads x. All
 * outcomes except 010, in which the owner misses a change known to a thief that misses the lowering of x. */
#define THIEVES(name, swap, look)                                                                                      \
    static void name(litmus *l, uint32_t thread) {                                                                     \
        uint32_t old = 0;                                                                                              \
        if (thread == 0) {                                                                                             \
            bl_store32_seq_cst(&l->x, 1);                                                                              \
            l->r[0] = bl_load32_seq_cst(&l->y);                                                                        \
        } else if (thread == 1) {                                                                                      \
            (void)bl_cas32_##swap(&l->y, &old, 1);                                                                     \
        } else if (thread == 2) {                                                                                      \
            l->r[1] = bl_load32_##look(&l->y);                                                                         \
            l->r[2] = bl_load32_seq_cst(&l->x);                                                                        \
        }                                                                                                              \
    }
THIEVES(thieves, seq_cst, seq_cst)
THIEVES(thieves_weak_swap, acq_rel, seq_cst) /* right in C++20 */
THIEVES(thieves_weak_look, seq_cst, acquire) /* right in C11 */
SB(sb_swap, store32_seq_cst, NOTHING, load32_seq_cst, exchange32_acq_rel, NOTHING, load32_seq_cst)
/* Happens-before alone does not order seq_cst operations: in 130 the addition reads y after x was stored, thread 2
 * overwrites what was added, and still misses x (Z6.U of Lahav et al. 2017; C11 forbids it). */
static void through_weaker(litmus *l, uint32_t thread) {
    if (thread == 0) {
        bl_store32_seq_cst(&l->x, 1);
        bl_store32_release(&l->y, 1);
    } else if (thread == 1) {
        l->r[0] = bl_fetch_add32_seq_cst(&l->y, 1);
        l->r[1] = bl_load32_relaxed(&l->y);
    } else if (thread == 2) {
        bl_store32_seq_cst(&l->y, 3);
        l->r[2] = bl_load32_seq_cst(&l->x);
    }
}
/* But with program order around it, to other locations, it does. */
#define AROUND(name, passed)                                                                                           \
    static void name(litmus *l, uint32_t thread) {                                                                     \
        if (thread == 0) {                                                                                             \
            bl_store32_seq_cst(&l->x, 1);                                                                              \
            bl_store32_release(&l->passed, 2);                                                                         \
        } else if (thread == 1) {                                                                                      \
            l->r[0] = bl_load32_acquire(&l->passed);                                                                   \
            l->r[1] = bl_load32_seq_cst(&l->z);                                                                        \
        } else if (thread == 2) {                                                                                      \
            bl_store32_seq_cst(&l->z, 1);                                                                              \
            l->r[2] = bl_load32_seq_cst(&l->x) != 0;                                                                   \
        }                                                                                                              \
    }
AROUND(around, y)
AROUND(around_one_word, x)
static void relaxed_between(litmus *l, uint32_t thread) {
    if (thread == 0) {
        bl_store32_seq_cst(&l->x, 1);
        bl_store32_relaxed(&l->y, 1);
    } else if (thread == 1) {
        l->r[0] = bl_load32_relaxed(&l->y);
        l->r[1] = bl_load32_seq_cst(&l->x);
    }
}

static void test_weakest_rule(void) {
    EXPECT(3, thieves, 3, "000 001 011 100 101 110 111");
    EXPECT(3, thieves_weak_swap, 3, "000 001 010 011 100 101 110 111");
    EXPECT(3, thieves_weak_look, 3, "000 001 010 011 100 101 110 111");
    EXPECT(2, sb_swap, 2, "00 01 10 11");
    EXPECT(3, through_weaker, 3, "010 011 030 031 120 121 130 131 300 301 310 311");
    EXPECT(3, around, 3, "000 001 010 011 201 210 211");
    EXPECT(3, around_one_word, 3, "000 001 010 011 100 101 110 111 200 201 210 211");
    EXPECT(2, relaxed_between, 2, "00 01 10 11");
}

/* Blind spots: C11 allows 11 in both with relaxed accesses. */
static void load_buffering(litmus *l, uint32_t thread) {
    if (thread < 2) {
        l->r[thread] = bl_load32_relaxed(thread ? &l->y : &l->x);
        bl_store32_relaxed(thread ? &l->x : &l->y, 1);
    }
}
static void two_plus_two_writes(litmus *l, uint32_t thread) {
    if (thread < 2) {
        bl_store32_relaxed(thread ? &l->y : &l->x, 1);
        bl_store32_relaxed(thread ? &l->x : &l->y, 2);
    } else {
        l->r[0] = l->x;
        l->r[1] = l->y;
    }
}

/* Coherence: all threads agree on one order of the stores to a word. */
static void corr(litmus *l, uint32_t thread) {
    if (thread == 0) {
        bl_store32_relaxed(&l->x, 1);
        bl_store32_relaxed(&l->x, 2);
    } else if (thread == 1) {
        l->r[0] = bl_load32_relaxed(&l->x);
        l->r[1] = bl_load32_relaxed(&l->x);
    }
}
static void coww(litmus *l, uint32_t thread) {
    if (thread == 0) {
        bl_store32_relaxed(&l->x, 1);
        bl_store32_relaxed(&l->x, 2);
    } else {
        l->r[0] = l->x;
    }
}
static void corw(litmus *l, uint32_t thread) {
    if (thread == 0) {
        l->r[0] = bl_load32_relaxed(&l->x);
        bl_store32_relaxed(&l->x, 1);
    } else if (thread == 1) {
        bl_store32_relaxed(&l->x, 2);
    } else {
        l->r[1] = l->x;
    }
}
static void cowr(litmus *l, uint32_t thread) {
    if (thread == 0) {
        bl_store32_relaxed(&l->x, 1);
        l->r[0] = bl_load32_relaxed(&l->x);
    } else if (thread == 1) {
        bl_store32_relaxed(&l->x, 2);
    } else {
        l->r[1] = l->x;
    }
}
/* Two readers of one word see its stores in the same order. */
static void corr_twice(litmus *l, uint32_t thread) {
    if (thread < 2) {
        bl_store32_relaxed(&l->x, 1 + thread);
    } else if (thread < 4) {
        l->r[2 * thread - 4] = bl_load32_relaxed(&l->x);
        l->r[2 * thread - 3] = bl_load32_relaxed(&l->x);
    }
}

static void test_coherence(void) {
    EXPECT(2, load_buffering, 2, "00 01 10");
    EXPECT(2, two_plus_two_writes, 2, "12 21 22");
    EXPECT(2, corr, 2, "00 01 02 11 12 22");
    EXPECT(1, coww, 1, "2");
    EXPECT(2, corw, 2, "01 02 21");
    EXPECT(2, cowr, 2, "11 12 22");
    EXPECT(4, corr_twice, 4,
           "0000 0001 0002 0011 0012 0021 0022 0100 0101 0102 0111 0112 0121 0122 0200 0201 0202 0211 0212 0221 0222 "
           "1100 1101 1102 1111 1112 1121 1122 1200 1201 1202 1211 1212 1222 2100 2101 2102 2111 2121 2122 2200 2201 "
           "2202 2211 2212 2221 2222");
}

/* Release sequences: y is published, then changed by other means; does a thread that reads the change see x? */
#define RELEASE_SEQUENCE(name, own, foreign)                                                                           \
    static void name(litmus *l, uint32_t thread) {                                                                     \
        if (thread == 0) {                                                                                             \
            bl_store32_relaxed(&l->x, 1);                                                                              \
            bl_store32_release(&l->y, 1);                                                                              \
            own;                                                                                                       \
        } else if (thread == 1) {                                                                                      \
            l->r[0] = bl_load32_acquire(&l->y);                                                                        \
            l->r[1] = bl_load32_relaxed(&l->x);                                                                        \
        } else if (thread == 2) {                                                                                      \
            foreign;                                                                                                   \
        }                                                                                                              \
    }
RELEASE_SEQUENCE(rs_add, NOTHING, bl_fetch_add32_relaxed(&l->y, 2))
RELEASE_SEQUENCE(rs_foreign_store, NOTHING, bl_store32_relaxed(&l->y, 2))
RELEASE_SEQUENCE(rs_own_store, bl_store32_relaxed(&l->y, 2), NOTHING)
RELEASE_SEQUENCE(rs_own_add, bl_fetch_add32_relaxed(&l->y, 1), NOTHING)
RELEASE_SEQUENCE(rs_add_add, bl_fetch_add32_relaxed(&l->y, 1), bl_fetch_add32_relaxed(&l->y, 1))

static void test_release_sequences(void) {
    EXPECT(3, rs_add, 2, "00 01 11 20 21 31"); /* 3: the sum of both; 2 alone came before the release */
    EXPECT(3, rs_foreign_store, 2, "00 01 11 20 21");
    EXPECT(2, rs_own_store, 2, "00 01 11 20 21");
    EXPECT(2, rs_own_add, 2, "00 01 11 21");
    EXPECT(3, rs_add_add, 2, "00 01 10 11 21 31");
}

/* Causality over a third thread. */
#define WRC(name, load, store)                                                                                         \
    static void name(litmus *l, uint32_t thread) {                                                                     \
        if (thread == 0) {                                                                                             \
            bl_store32_relaxed(&l->x, 1);                                                                              \
        } else if (thread == 1) {                                                                                      \
            l->r[0] = bl_load32_##load(&l->x);                                                                         \
            bl_store32_##store(&l->y, 1);                                                                              \
        } else if (thread == 2) {                                                                                      \
            l->r[1] = bl_load32_##load(&l->y);                                                                         \
            l->r[2] = bl_load32_relaxed(&l->x);                                                                        \
        }                                                                                                              \
    }
WRC(wrc_relaxed, relaxed, relaxed)
WRC(wrc_ordered, acquire, release)

#define ISA2(name, load, store)                                                                                        \
    static void name(litmus *l, uint32_t thread) {                                                                     \
        if (thread == 0) {                                                                                             \
            bl_store32_relaxed(&l->x, 1);                                                                              \
            bl_store32_release(&l->y, 1);                                                                              \
        } else if (thread == 1) {                                                                                      \
            l->r[0] = bl_load32_##load(&l->y);                                                                         \
            bl_store32_##store(&l->z, 1);                                                                              \
        } else if (thread == 2) {                                                                                      \
            l->r[1] = bl_load32_acquire(&l->z);                                                                        \
            l->r[2] = bl_load32_relaxed(&l->x);                                                                        \
        }                                                                                                              \
    }
ISA2(isa2_ordered, acquire, release)
ISA2(isa2_relaxed, relaxed, release)

static void test_causality(void) {
    EXPECT(3, wrc_relaxed, 3, "000 001 010 011 100 101 110 111");
    EXPECT(3, wrc_ordered, 3, "000 001 010 011 100 101 111");
    EXPECT(3, isa2_ordered, 3, "000 001 010 011 100 101 111");
    EXPECT(3, isa2_relaxed, 3, "000 001 010 011 100 101 110 111");
}

/* Read-modify-writes are one step; a failed compare-and-swap may have read an old value. */
static void two_adds(litmus *l, uint32_t thread) {
    if (thread < 2)
        l->r[thread] = bl_fetch_add32_relaxed(&l->x, 1);
    else
        l->r[2] = l->x;
}
static void two_swaps(litmus *l, uint32_t thread) {
    uint32_t expected = 0;
    if (thread < 2)
        l->r[thread] = bl_cas32_relaxed(&l->x, &expected, 1 + thread) ? 3 : expected;
}
static void failed_swap(litmus *l, uint32_t thread) {
    uint32_t expected = 3;
    if (thread == 0) {
        bl_store32_relaxed(&l->x, 1);
        bl_store32_release(&l->y, 1);
    } else if (thread == 1) {
        l->r[0] = bl_load32_relaxed(&l->y);
        (void)bl_cas32_relaxed(&l->x, &expected, 2);
        l->r[1] = expected;
    }
}
#if BL_HAS_CAS128
static void wide_swap(litmus *l, uint32_t thread) {
    bl_u128 expected = 0;
    if (thread == 0) {
        (void)bl_cas128_acq_rel((bl_u128 *)(void *)l->wide, &expected, (bl_u128)1 << 64 | 1);
    } else if (thread == 1) {
        l->r[0] = (uint32_t)bl_load64_acquire(l->wide + 1);
        l->r[1] = (uint32_t)bl_load64_relaxed(l->wide);
    }
}
static void wide_swap_and_halves(litmus *l, uint32_t thread) {
    bl_u128 expected = 0;
    if (thread == 0) {
        l->r[0] = bl_cas128_acq_rel((bl_u128 *)(void *)l->wide, &expected, (bl_u128)1 << 64 | 1);
    } else if (thread == 1) {
        bl_store64_relaxed(l->wide + 1, 2);
    } else {
        l->r[1] = (uint32_t)l->wide[0];
        l->r[2] = (uint32_t)l->wide[1];
    }
}
#endif

static void test_updates(void) {
    EXPECT(2, two_adds, 3, "012 102");
    EXPECT(2, two_swaps, 2, "23 31");
    EXPECT(2, failed_swap, 2, "00 01 10 11");
#if BL_HAS_CAS128
    EXPECT(2, wide_swap, 2, "00 01 11");
    EXPECT(2, wide_swap_and_halves, 3, "002 112");
#endif
}

/* ---- plain data, waiting, lanes ---- */

static bl_explore_result explore(uint32_t threads, void (*body)(litmus *l, uint32_t thread), bl_explore_options o) {
    litmus l = {.body = body};
    bl_explore_result result;
    o.before = litmus_before;
    o.after = litmus_after;
    bl_explore(threads, litmus_body, &l, &o, &result);
    return result;
}

static bool finds(uint32_t threads, void (*body)(litmus *l, uint32_t thread), const char *failure) {
    bl_explore_result result = explore(threads, body, (bl_explore_options){0});
    bool found = result.failed && strstr(result.failure, failure);
    if (!found)
        printf("    %s\n", result.failed ? result.failure : "nothing found");
    return found;
}

static bool is_clean(uint32_t threads, void (*body)(litmus *l, uint32_t thread)) {
    bl_explore_result result = explore(threads, body, (bl_explore_options){0});
    if (result.failed)
        printf("    %s\n", result.failure);
    return !result.failed && result.complete;
}

static void put(litmus *l, uint32_t value) { bl_data_write(&l->data, &value, 1); }
static void get(litmus *l, uint32_t *to) { bl_data_read(to, &l->data, 1); }

#define GUARDED(name, store, load)                                                                                     \
    static void name(litmus *l, uint32_t thread) {                                                                     \
        if (thread == 0) {                                                                                             \
            put(l, 1);                                                                                                 \
            bl_store32_##store(&l->x, 1);                                                                              \
        } else if (thread == 1 && bl_load32_##load(&l->x)) {                                                           \
            get(l, l->r);                                                                                              \
            if (l->r[0] != 1)                                                                                          \
                bl_explore_fail("old data");                                                                           \
        }                                                                                                              \
    }
GUARDED(data_ordered, release, acquire)
GUARDED(data_no_acquire, release, relaxed)
GUARDED(data_no_release, relaxed, acquire)

static void data_read_by_two(litmus *l, uint32_t thread) {
    if (thread < 2)
        get(l, &l->r[thread]);
}
static void data_written_later(litmus *l, uint32_t thread) {
    if (thread == 0)
        get(l, l->r);
    else if (thread == 1)
        put(l, 1);
}
/* The order of seq_cst fences alone does not synchronize. */
static void data_behind_fences(litmus *l, uint32_t thread) {
    if (thread == 0) {
        put(l, 1);
        bl_fence_seq_cst();
    } else if (thread == 1) {
        bl_fence_seq_cst();
        get(l, l->r);
    }
}
/* Dekker: a thread that raised its flag and does not see the other's may enter. */
#define DEKKER(name, fence)                                                                                            \
    static void name(litmus *l, uint32_t thread) {                                                                     \
        if (thread >= 2)                                                                                               \
            return;                                                                                                    \
        bl_store32_relaxed(thread ? &l->y : &l->x, 1);                                                                 \
        fence;                                                                                                         \
        if (!bl_load32_relaxed(thread ? &l->x : &l->y))                                                                \
            put(l, thread);                                                                                            \
    }
enum { DEKKER_LINE = __LINE__ + 1 };
DEKKER(dekker, bl_fence_seq_cst())
DEKKER(dekker_without, NOTHING)
DEKKER(dekker_weak, (bl_fence_release(), bl_fence_acquire()))

/* A biased lock: the owner announces that it is in and checks the gate; a thief closes the gate and checks whether the
 * owner is in. The word by which the owner announces that it has left carries its own order. */
#define BIASED(name, light, heavy)                                                                                     \
    static void name(litmus *l, uint32_t thread) {                                                                     \
        for (uint32_t i = 0; thread == 0 && i < 2; i++) {                                                              \
            bl_store32_relaxed(&l->x, 1);                                                                              \
            light;                                                                                                     \
            if (!bl_load32_acquire(&l->y))                                                                             \
                put(l, 1);                                                                                             \
            bl_store32_release(&l->x, 0);                                                                              \
        }                                                                                                              \
        if (thread == 1) {                                                                                             \
            bl_store32_relaxed(&l->y, 1);                                                                              \
            heavy;                                                                                                     \
            if (!bl_load32_acquire(&l->x)) {                                                                           \
                put(l, 2);                                                                                             \
                bl_store32_release(&l->y, 0);                                                                          \
            }                                                                                                          \
        }                                                                                                              \
    }
enum { BIASED_LINE = __LINE__ + 1 };
BIASED(biased, bl_fence_light(), bl_fence_heavy())
BIASED(biased_fence, bl_fence_light(), bl_fence_seq_cst())
BIASED(biased_without, bl_fence_light(), NOTHING)
BIASED(biased_no_light, NOTHING, bl_fence_heavy())

static void two_sizes(litmus *l, uint32_t thread) {
    if (thread == 0)
        bl_store64_relaxed(l->wide, 1);
    else if (thread == 1)
        l->r[0] = bl_load32_relaxed((const uint32_t *)(const void *)l->wide);
}

static void test_data(void) {
    CHECK(is_clean(2, data_ordered));
    CHECK(finds(2, data_no_acquire, "race on"));
    CHECK(finds(2, data_no_release, "race on"));
    CHECK(is_clean(2, data_read_by_two));
    CHECK(finds(2, data_written_later, "race on"));
    CHECK(finds(2, data_behind_fences, "race on"));
    CHECK(is_clean(2, dekker));
    CHECK(finds(2, dekker_without, "race on"));
    CHECK(finds(2, dekker_weak, "race on"));
    CHECK(is_clean(2, biased));
    CHECK(finds(2, biased_fence, "race on"));
    CHECK(finds(2, biased_without, "race on"));
    CHECK(finds(2, biased_no_light, "race on"));
    CHECK(finds(2, two_sizes, "two sizes"));
}

static void wait_for(const uint32_t *p) {
    uint32_t tries = 0;
    while (!bl_load32_acquire(p))
        bl_wait_change32(p, 0, &tries);
}
static void waits(litmus *l, uint32_t thread) {
    if (thread == 0) {
        put(l, 1);
        bl_store32_release(&l->x, 1);
    } else if (thread <= 2) {
        wait_for(&l->x);
        get(l, &l->r[thread]);
    }
}
static void yields(litmus *l, uint32_t thread) {
    if (thread == 0) {
        put(l, 1);
        bl_store32_release(&l->x, 1);
    } else if (thread <= 2) {
        for (uint32_t tries = 0; !bl_load32_acquire(&l->x); tries++)
            bl_backoff(tries);
        get(l, &l->r[thread]);
    }
}
static void spin_lock(litmus *l, uint32_t thread) {
    uint32_t tries = 0, value;
    if (thread >= 3)
        return;
    for (uint32_t open = 0; !bl_cas32_acquire(&l->x, &open, 1); open = 0)
        bl_wait_change32(&l->x, 1, &tries);
    get(l, &value);
    put(l, value + 1);
    bl_store32_release(&l->x, 0);
}
static void wait_for_ever(litmus *l, uint32_t thread) {
    if (thread < 2)
        wait_for(thread ? &l->x : &l->y);
}
static void yield_for_ever(litmus *l, uint32_t thread) {
    if (thread == 0)
        bl_store32_relaxed(&l->x, 1);
    else if (thread == 1)
        for (uint32_t tries = 0; !bl_load32_relaxed(&l->y); tries++)
            bl_backoff(tries);
}
static void yield_a_while(litmus *l, uint32_t thread) {
    if (thread == 0)
        bl_store32_relaxed(&l->x, 1);
    else if (thread <= 2)
        for (uint32_t tries = 0; !bl_load32_relaxed(&l->y) && tries < 64; tries++)
            bl_backoff(tries);
}
/* The sleeper checks, then sleeps until y changes; the thread that stores x then reads whether a thread sleeps. Without
 * the fence both may miss. */
#define SLEEPER(name, fence)                                                                                           \
    static void name(litmus *l, uint32_t thread) {                                                                     \
        uint32_t tries = 0;                                                                                            \
        if (thread == 0) {                                                                                             \
            bl_store32_relaxed(&l->z, 1);                                                                              \
            fence;                                                                                                     \
            while (!bl_load32_relaxed(&l->x) && !bl_load32_relaxed(&l->y))                                             \
                bl_wait_change32(&l->y, 0, &tries);                                                                    \
        } else if (thread == 1) {                                                                                      \
            bl_store32_relaxed(&l->x, 1);                                                                              \
            fence;                                                                                                     \
            if (bl_load32_relaxed(&l->z))                                                                              \
                bl_store32_relaxed(&l->y, 1);                                                                          \
        }                                                                                                              \
    }
SLEEPER(sleeper, bl_fence_seq_cst())
SLEEPER(sleeper_lost, NOTHING)

static void test_waiting(void) {
    CHECK(is_clean(3, waits));
    CHECK(is_clean(3, yields));
    CHECK(is_clean(3, spin_lock));
    CHECK(finds(2, wait_for_ever, "no thread can run"));
    CHECK(finds(2, yield_for_ever, "no thread can run"));
    CHECK(is_clean(3, yield_a_while));
    CHECK(is_clean(2, sleeper));
    CHECK(finds(2, sleeper_lost, "no thread can run"));
}

static void lanes_meet(void *arg, uint32_t block, uint32_t lane) {
    litmus *l = arg;
    uint32_t sum = bl_warp_prefix_add(lane + 1), value;
    if (block == 0 && lane == 0)
        put(l, 7);
    bl_block_sync();
    if (block == 0)
        get(l, &value);
    if (sum != lane * (lane + 1) / 2 || (block == 0 && value != 7) || bl_warp_lane() != lane)
        bl_explore_fail("lane %u of %u", lane, block);
    bl_fetch_add32_relaxed(&l->x, 1);
}

static void test_lanes(void) {
    litmus l = {.body = waits};
    bl_explore_result result;
    CHECK(bl_explore(2, lanes_meet, &l, &(bl_explore_options){.lanes = 2, .before = litmus_before}, &result));
    CHECK(result.complete && result.executions > 1 && l.x == 4);
}

/* ---- options, replays, mutants ---- */

static void test_replay(void) {
    litmus l = {.body = data_no_acquire};
    char *text = NULL;
    size_t bytes = 0;
    FILE *to = open_memstream(&text, &bytes);
    const bl_explore_name names[] = {{&l.x, 4, "flag"}, {&l.data, 4, "payload"}};
    bl_explore_options o = {.before = litmus_before, .names = names, .name_count = 2, .table = to};
    bl_explore_result found, again;
    CHECK(!bl_explore(2, litmus_body, &l, &o, &found) && strstr(found.failure, "race on payload"));
    fclose(to);
    CHECK(text && strstr(text, "thread 1") && strstr(text, "flag") && strstr(text, "wrong: race"));
    free(text);
    o.table = NULL;
    o.replay = found.schedule;
    CHECK(!bl_explore(2, litmus_body, &l, &o, &again) && !strcmp(found.failure, again.failure));
    CHECK(!strcmp(found.schedule, again.schedule) && again.executions == 1);
    o.replay = "1*9";
    CHECK(!bl_explore(2, litmus_body, &l, &o, &again) && strstr(again.failure, "does not fit"));
    o.replay = "0 x";
    CHECK(!bl_explore(2, litmus_body, &l, &o, &again) && strstr(again.failure, "not a schedule"));
}

static void test_replay_of_old(void) {
    litmus l = {.body = mp_relaxed, .digits = 2};
    bl_explore_options o = {.before = litmus_before, .after = litmus_after, .replay = "0*2 1 1/1"};
    bl_explore_result result;
    CHECK(bl_explore(2, litmus_body, &l, &o, &result) && l.r[0] == 1 && l.r[1] == 0);
    CHECK(!strcmp(result.schedule, o.replay));
}

static void test_bounds(void) {
    bl_explore_result all = explore(4, iriw_ordered, (bl_explore_options){0});
    bl_explore_result few = explore(4, iriw_ordered, (bl_explore_options){.max_executions = 5});
    CHECK(all.complete && all.executions >= 16 && !few.complete && few.executions == 5 && !few.failed);
    bl_explore_result cut = explore(3, spin_lock, (bl_explore_options){.max_steps = 5});
    CHECK(!cut.complete && cut.cut > 0 && !cut.failed);
    litmus l = {.body = sb_relaxed, .digits = 2};
    bl_explore_options o = {.before = litmus_before, .after = litmus_after, .sequential = true};
    CHECK(bl_explore(2, litmus_body, &l, &o, &all) && all.complete && l.seen[0] == 0x32); /* 01 10 11 */
    CHECK(!bl_explore(17, litmus_body, &l, &o, &all) && !bl_explore(0, litmus_body, &l, &o, &all));
}

static bl_moment returned, called[2];
static void moments(litmus *l, uint32_t thread) {
    if (thread == 0) {
        bl_store32_release(&l->x, 1);
        bl_explore_now(&returned); /* after the store: only a thread that reads y knows of it */
        bl_store32_release(&l->y, 1);
    } else if (thread <= 2) {
        uint32_t seen = bl_load32_acquire(thread == 1 ? &l->x : &l->y);
        bl_explore_now(&called[thread - 1]);
        if (seen && bl_happened_before(&returned, &called[thread - 1]) != (thread == 2))
            bl_explore_fail("thread %u", thread);
    }
}

static void bumps(litmus *l, uint32_t thread) {
    if (thread == 0)
        bl_store32_relaxed(&l->x, bl_bump(bl_load32_relaxed(&l->x)));
    else if (thread == END)
        l->r[0] = l->x;
}

/* The mutant of this file whose description ends like this; line 0: any. */
static bl_mutant own_mutant(int line, const char *rest) {
    char text[128], wanted[128];
    bl_mutant mutants[BL_MUTANTS];
    for (uint32_t i = 1; i <= bl_site_count(); i++)
        for (uint32_t k = 0, n = bl_site_mutants(i, mutants); k < n; k++) {
            bl_mutant_text(mutants[k], text, sizeof text);
            snprintf(wanted, sizeof wanted, "test_memory_model_sim.c:%d %s", line ? line : (int)bl_site_get(i).line,
                     rest);
            if (!strcmp(text, wanted) && bl_mutant_find(text).site == i)
                return mutants[k];
        }
    return (bl_mutant){0};
}

static bool kills(uint32_t threads, void (*body)(litmus *l, uint32_t thread), bl_mutant mutant) {
    return CHECK(mutant.site) && explore(threads, body, (bl_explore_options){.mutant = mutant}).failed;
}

static void test_sites(void) {
    uint32_t before = bl_site_count();
    CHECK(is_clean(3, moments));
    CHECK_SAME(bl_site_count() - before, 3); /* two stores and a load; reading the moment is not a site */
    bl_site last = bl_site_get(bl_site_count());
    CHECK(last.explored > 0 && strstr(last.file, "test_memory_model_sim.c") && bl_site_get(99999).line == 0);
    CHECK(bl_mutant_find("nowhere.h:1 load32 acquire > relaxed").site == 0);
}

static void test_mutants(void) {
    litmus l = {.body = bumps, .digits = 1};
    bl_explore_options o = {.before = litmus_before, .after = litmus_after};
    bl_explore_result result;
    CHECK(bl_explore(1, litmus_body, &l, &o, &result) && l.seen[0] == 2);
    o.mutant = own_mutant(0, "bump > none");
    l.seen[0] = 0;
    CHECK(o.mutant.site && bl_explore(1, litmus_body, &l, &o, &result) && l.seen[0] == 1);

    CHECK(is_clean(2, dekker) && is_clean(3, spin_lock));
    CHECK(kills(2, dekker, own_mutant(DEKKER_LINE, "fence seq_cst > none")));
    CHECK(kills(2, dekker, own_mutant(DEKKER_LINE, "fence seq_cst > acq_rel")));
    CHECK(kills(2, biased, own_mutant(BIASED_LINE, "fence_heavy > seq_cst")));
    CHECK(kills(2, biased, own_mutant(BIASED_LINE, "fence_heavy > none")));
    CHECK(kills(2, biased, own_mutant(BIASED_LINE, "fence_light > none")));
    CHECK(kills(3, spin_lock, own_mutant(0, "cas32 acquire > relaxed")));
    CHECK(!kills(3, spin_lock, own_mutant(0, "cas32 acquire, failed acquire > relaxed")));
}

/* ---- the reduction: random programs have the same outcomes without it ---- */

enum { STEPS = 4, OUTCOMES = 1 << 14 };

typedef struct program {
    uint32_t threads, words, length[3];
    uint8_t op[3][STEPS], word[3][STEPS];
    uint32_t w[3], data[2];
    _Alignas(16) uint64_t wide[2];
    uint64_t hash[3];
    uint64_t *outcomes; /* a set */
    uint32_t count;
} program;

static uint64_t random_state;
static uint32_t below(uint32_t n) { return check_below(&random_state, n); }

static void mix(uint64_t *hash, uint64_t value) {
    *hash = (*hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    *hash ^= *hash >> 29;
}

static void program_before(void *arg) {
    program *p = arg;
    memset(p->w, 0, sizeof p->w);
    memset(p->data, 0, sizeof p->data);
    memset(p->wide, 0, sizeof p->wide);
    memset(p->hash, 0, sizeof p->hash);
}

enum { OPS = 26 };

static void program_step(program *p, uint32_t op, uint32_t word, uint32_t v, uint64_t *hash) {
    uint32_t *x = &p->w[word], found = 0, tries = 0;
#define STEP(number, ...)                                                                                              \
    case number:                                                                                                       \
        __VA_ARGS__;                                                                                                   \
        break;
    switch (op) {
        STEP(0, mix(hash, bl_load32_relaxed(x)))
        STEP(1, mix(hash, bl_load32_acquire(x)))
        STEP(2, mix(hash, bl_load32_seq_cst(x)))
        STEP(3, bl_store32_relaxed(x, v))
        STEP(4, bl_store32_release(x, v))
        STEP(5, bl_store32_seq_cst(x, v))
        STEP(6, mix(hash, bl_fetch_add32_relaxed(x, 1)))
        STEP(7, mix(hash, bl_fetch_add32_acq_rel(x, 1)))
        STEP(8, mix(hash, bl_fetch_add32_seq_cst(x, 1)))
        STEP(9, mix(hash, bl_cas32_acquire(x, &found, v)), mix(hash, found))
        STEP(10, mix(hash, bl_cas32_release(x, &found, v)), mix(hash, found))
        STEP(11, mix(hash, bl_cas32_seq_cst(x, &found, v)), mix(hash, found))
        STEP(12, bl_fence_seq_cst())
        STEP(13, bl_fence_acquire())
        STEP(14, bl_fence_release())
        STEP(15, mix(hash, bl_load64_acquire(&p->wide[word & 1])))
        STEP(16, bl_store64_release(&p->wide[word & 1], v))
#if BL_HAS_CAS128
    case 17: {
        bl_u128 old = 0;
        mix(hash, bl_cas128_acq_rel((bl_u128 *)(void *)p->wide, &old, (bl_u128)v << 64 | v));
        mix(hash, (uint64_t)old), mix(hash, (uint64_t)(old >> 64));
        break;
    }
#endif
        STEP(18, bl_data_read(&found, &p->data[word & 1], 1), mix(hash, found))
        STEP(19, bl_data_write(&p->data[word & 1], &v, 1))
        STEP(24, bl_fence_light())
        STEP(25, bl_fence_heavy())
    case 20: /* one thread's operation depends on another's */
        if (bl_load32_acquire(x))
            bl_store32_relaxed(&p->w[(word + 1) % p->words], v);
        break;
    case 21:
        while (!bl_load32_acquire(x))
            bl_wait_change32(x, 0, &tries);
        break;
    case 22:
        for (; !bl_load32_relaxed(x); tries++)
            bl_backoff(tries);
        break;
    case 23:
        for (; !bl_cas32_acquire(x, &found, v); found = 0)
            bl_wait_change32(x, found, &tries);
        bl_store32_release(x, 0);
        break;
#undef STEP
    default:
        break;
    }
}

static void program_body(void *arg, uint32_t thread, uint32_t lane) {
    program *p = arg;
    (void)lane;
    for (uint32_t i = 0; i < p->length[thread]; i++)
        program_step(p, p->op[thread][i], p->word[thread][i], thread * STEPS + i + 1, &p->hash[thread]);
}

static bool is_in(const uint64_t *set, uint64_t hash, uint32_t *at) {
    for (*at = (uint32_t)(hash >> 32) % OUTCOMES; set[*at] && set[*at] != hash;)
        *at = (*at + 1) % OUTCOMES;
    return set[*at] == hash;
}

static const char *program_after(void *arg) {
    program *p = arg;
    uint64_t hash = 1;
    uint32_t at;
    for (uint32_t i = 0; i < 3; i++)
        mix(&hash, p->hash[i]), mix(&hash, p->w[i]);
    mix(&hash, p->wide[0]), mix(&hash, p->wide[1]);
    hash |= 1;
    if (!is_in(p->outcomes, hash, &at) && ++p->count < OUTCOMES / 2)
        p->outcomes[at] = hash;
    return NULL;
}

/* Some programs use all operations, most use one family. */
static void make_program(program *p, uint64_t seed) {
    static const uint8_t families[][8] = {
        {0, 1, 3, 4, 6, 9, 20, 3},      {2, 5, 8, 11, 2, 5, 3, 1},    {0, 3, 12, 2, 5, 0, 3, 12},
        {15, 16, 17, 3, 0, 15, 16, 17}, {21, 1, 22, 3, 4, 5, 21, 3},  {21, 23, 6, 23, 0, 4, 6, 23},
        {18, 19, 1, 4, 23, 18, 19, 4},  {9, 10, 11, 5, 2, 12, 9, 10}, {0, 3, 24, 25, 0, 3, 24, 12}};
    random_state = seed * 7919 + 1;
    below(2);
    uint32_t family = below(11);
    *p = (program){.threads = 2 + below(2), .words = 1 + below(3)};
    for (uint32_t t = 0; t < p->threads; t++) {
        p->length[t] = p->threads == 2 ? 2 + below(3) : 1 + below(3);
        for (uint32_t i = 0; i < p->length[t]; i++) {
            p->op[t][i] = family < 9 ? families[family][below(8)] : (uint8_t)below(OPS);
            p->word[t][i] = (uint8_t)below(p->words);
        }
    }
}

/* Without reduction, with it, and with a bound that is never reached: the sets are equal, or all are wrong. */
static void compare_ways(uint64_t seed, bool sequential, uint64_t *executions) {
    static uint64_t outcomes[3][OUTCOMES];
    static const bl_explore_options ways[] = {
        {.exhaustive = true, .max_executions = 100000 / CHECK_SLOWER}, {0}, {.preemptions = 99}};
    program p;
    uint32_t at, count = 0;
    bool failed = false, missing = false;
    check_at("program %llu", (unsigned long long)seed);
    make_program(&p, seed);
    for (int i = 0; i < 3; i++) {
        bl_explore_options o = ways[i];
        bl_explore_result result;
        o.before = program_before;
        o.after = program_after;
        o.sequential = sequential;
        p.outcomes = memset(outcomes[i], 0, sizeof outcomes[i]);
        p.count = 0;
        bl_explore(p.threads, program_body, &p, &o, &result);
        executions[i] += result.executions;
        if (!result.failed && !result.complete)
            return; /* too long for a comparison */
        failed = i ? failed : result.failed;
        count = i ? count : p.count;
        missing = missing || failed != result.failed || (!failed && count != p.count);
    }
    for (uint32_t i = 0; i < OUTCOMES && !failed; i++)
        missing = missing || (outcomes[0][i] &&
                              !(is_in(outcomes[1], outcomes[0][i], &at) && is_in(outcomes[2], outcomes[0][i], &at)));
    CHECK(!missing);
}

static void test_reduction(void) {
    uint64_t executions[3] = {0};
    for (uint64_t seed = 0; seed < 1500 / CHECK_SLOWER; seed++) {
        compare_ways(seed, false, executions);
        if (seed % 4 == 0)
            compare_ways(seed, true, executions);
    }
    check_at("%s", "");
    printf("reduction: %llu executions, %llu with it, %llu within a bound\n", (unsigned long long)executions[0],
           (unsigned long long)executions[1], (unsigned long long)executions[2]);
}

/* ---- queues ---- */

enum { ITEMS = 32, PER_THREAD = 8, THREADS = 3 };

typedef union queue_view {
    bl_abp bl_abp;
    bl_chase_lev bl_chase_lev;
    bl_steal_half bl_steal_half;
    bl_tz bl_tz;
    bl_blocking bl_blocking;
} queue_view;

typedef struct queue {
    const char *name;
    void (*bind)(queue_view *v, void *memory, bl_shape shape, uint32_t thread);
    void (*init)(queue_view *v, uint32_t start);
    bl_outcome (*push)(queue_view *v, const uint32_t *item);
    bl_outcome (*pop)(queue_view *v, uint32_t *item), (*steal)(queue_view *v, uint32_t *item);
} queue;

#define QUEUE(q)                                                                                                       \
    static void bind_##q(queue_view *v, void *memory, bl_shape shape, uint32_t thread) {                               \
        q##_bind(&v->q, memory, shape, thread);                                                                        \
    }                                                                                                                  \
    static void init_##q(queue_view *v, uint32_t start) { q##_init(&v->q, start, 0, 1); }                              \
    static bl_outcome push_##q(queue_view *v, const uint32_t *item) { return q##_push(&v->q, item); }                  \
    static bl_outcome pop_##q(queue_view *v, uint32_t *item) { return q##_pop(&v->q, item); }                          \
    static bl_outcome steal_##q(queue_view *v, uint32_t *item) { return q##_steal(&v->q, item); }                      \
    static const queue queue_##q = {BL_QUEUE_NAME(q), bind_##q, init_##q, push_##q, pop_##q, steal_##q};
QUEUE(bl_abp)
QUEUE(bl_chase_lev)
QUEUE(bl_steal_half)
QUEUE(bl_tz)
QUEUE(bl_blocking)

/* Scripts: + push, - pop, s steal. An item stands for plain data, so a missing order shows up as a race. */
typedef struct queue_client {
    const char *script[THREADS];
    uint32_t capacity, start, threads;
    const queue *q;
    queue_view view[THREADS];
    uint32_t payload[ITEMS];
    uint8_t pushed[ITEMS], taken[ITEMS];
    _Alignas(BL_LINE) unsigned char memory[4 * BL_APART];
} queue_client;

static void client_before(void *arg) {
    queue_client *c = arg;
    bl_shape shape = {c->capacity, 1, c->threads};
    memset(c->memory, 0xee, sizeof c->memory);
    memset(c->payload, 0, sizeof c->payload);
    memset(c->pushed, 0, sizeof c->pushed);
    memset(c->taken, 0, sizeof c->taken);
    for (uint32_t i = 0; i < c->threads; i++)
        c->q->bind(&c->view[i], c->memory, shape, i);
    c->q->init(&c->view[0], c->start);
}

static void client_push(queue_client *c, uint32_t thread, uint32_t item) {
    uint32_t payload = item + 100;
    bl_data_write(&c->payload[item], &payload, 1);
    c->pushed[item] = c->q->push(&c->view[thread], &item) == BL_QUEUE_DONE;
}

static void client_take(queue_client *c, uint32_t item) {
    uint32_t payload;
    if (item >= ITEMS || c->taken[item]++)
        bl_explore_fail(item >= ITEMS ? "%x was never pushed" : "%u taken twice", item);
    bl_data_read(&payload, &c->payload[item], 1);
    if (payload != item + 100)
        bl_explore_fail("payload of %u is %u", item, payload);
}

static void client_body(void *arg, uint32_t thread, uint32_t lane) {
    queue_client *c = arg;
    uint32_t next = thread * PER_THREAD, item;
    (void)lane;
    for (const char *at = c->script[thread]; *at; at++)
        if (*at == '+')
            client_push(c, thread, next++);
        else if ((*at == '-' ? c->q->pop : c->q->steal)(&c->view[thread], &item) == BL_QUEUE_DONE)
            client_take(c, item);
}

static const char *client_after(void *arg) {
    queue_client *c = arg;
    uint32_t item;
    while (c->q->pop(&c->view[0], &item) == BL_QUEUE_DONE)
        if (item >= ITEMS || c->taken[item]++)
            return "at the end there is what was taken, or never pushed";
    return memcmp(c->pushed, c->taken, sizeof c->pushed) ? "lost, or taken without a push" : NULL;
}

static bool run_client(const queue *q, queue_client *c, bl_mutant mutant, bl_explore_result *result) {
    bl_explore_options o = {.before = client_before, .after = client_after, .mutant = mutant};
    o.max_executions = 200000;
    c->q = q;
    for (c->threads = 0; c->threads < THREADS && c->script[c->threads];)
        c->threads++;
    return bl_explore(c->threads, client_body, c, &o, result);
}

#define NEAR_END UINT32_C(0xfffffffe)

#define CLIENT(size, first, ...)                                                                                       \
    { .script = {__VA_ARGS__}, .capacity = size, .start = first }
static queue_client deque_clients[] = {
    CLIENT(2, 0, "+-", "s"),     CLIENT(2, NEAR_END, "++-", "s"),   CLIENT(2, NEAR_END, "+-+-", "s"),
    CLIENT(2, 0, "+-+", "ss"),   CLIENT(4, NEAR_END, "++--", "ss"), CLIENT(2, 0, "+-++", "ss"),
    CLIENT(2, 0, "++++", "sss"), CLIENT(2, 0, "++-", "s", "s"),     CLIENT(2, 0, "+-+-", "s", "s"),
    CLIENT(2, 0, "++-", "ss"),
};
static queue_client fifo_clients[] = {
    CLIENT(2, 0, "+", "-"),          CLIENT(2, NEAR_END, "++", "--"), CLIENT(2, 0, "+++", "-"),
    CLIENT(2, NEAR_END, "+-", "+-"), CLIENT(2, 0, "+", "+", "--"),    CLIENT(2, NEAR_END, "++", "-", "-"),
    CLIENT(2, 0, "+-+-", "-+"),
};
enum {
    DEQUE_CLIENTS = sizeof deque_clients / sizeof deque_clients[0],
    FIFO_CLIENTS = sizeof fifo_clients / sizeof fifo_clients[0]
};

static void all_clients(const queue *q, queue_client *clients, uint32_t count) {
    uint64_t executions = 0;
    for (uint32_t i = 0; i < count; i++) {
        bl_explore_result result;
        check_at("%s, client %u", q->name, i);
        if (!CHECK(run_client(q, &clients[i], (bl_mutant){0}, &result) && result.complete))
            printf("    %s: %s\n", result.failed ? result.failure : "cut", result.schedule);
        executions += result.executions;
    }
    printf("%s: %u clients, %llu executions\n", q->name, count, (unsigned long long)executions);
}

static bool is_killed(const queue *q, queue_client *clients, uint32_t count, bl_mutant mutant) {
    bl_explore_result result;
    for (uint32_t i = 0; i < count; i++)
        if (!run_client(q, &clients[i], mutant, &result))
            return true;
    return false;
}

/* How many operations of this kind and order in the queue's header are shown to need it: with the weaker order a client
 * fails. */
static uint32_t found_wrong(const queue *q, queue_client *clients, uint32_t count, bl_site what, uint8_t order) {
    char file[64];
    uint32_t killed = 0;
    snprintf(file, sizeof file, "queues/%s.h", q->name);
    for (uint32_t i = 1; i <= bl_site_count(); i++) {
        bl_site s = bl_site_get(i);
        if (strstr(s.file, file) && s.op == what.op && s.bits == what.bits && s.order == what.order)
            killed += is_killed(q, clients, count, (bl_mutant){i, order, s.failed});
    }
    check_at("%s, %u mutants", q->name, killed);
    return killed;
}

/* Mistakes that stress tests and ThreadSanitizer are known to miss mostly. The mutation gate decides which orders are
 * needed at all; here each mistake must be found in at least one place. */
static void planted_mistakes(void) {
    static const bl_site publish32 = {.op = BL__SIM_STORE, .bits = 32, .order = BL__SIM_RELEASE};
    static const bl_site publish64 = {.op = BL__SIM_STORE, .bits = 64, .order = BL__SIM_RELEASE};
    static const bl_site lower32 = {.op = BL__SIM_STORE, .bits = 32, .order = BL__SIM_SEQ_CST};
    static const bl_site lower64 = {.op = BL__SIM_STORE, .bits = 64, .order = BL__SIM_SEQ_CST};
    static const bl_site look32 = {.op = BL__SIM_LOAD, .bits = 32, .order = BL__SIM_SEQ_CST};
    static const bl_site look64 = {.op = BL__SIM_LOAD, .bits = 64, .order = BL__SIM_SEQ_CST};
    static const bl_site steal64 = {.op = BL__SIM_CAS, .bits = 64, .order = BL__SIM_SEQ_CST};
    static const bl_site swap64 = {.op = BL__SIM_CAS, .bits = 64, .order = BL__SIM_RELEASE};
    static const bl_site get64 = {.op = BL__SIM_LOAD, .bits = 64, .order = BL__SIM_ACQUIRE};
    static const bl_site lock32 = {.op = BL__SIM_CAS, .bits = 32, .order = BL__SIM_ACQUIRE};
    queue_client *d = deque_clients, *f = fifo_clients;
    CHECK(found_wrong(&queue_bl_abp, d, DEQUE_CLIENTS, publish32, BL__SIM_RELAXED) >=
          1); /* the slot is not published */
    CHECK(found_wrong(&queue_bl_abp, d, DEQUE_CLIENTS, publish64, BL__SIM_RELAXED) >= 1); /* head is reset too early */
    CHECK(found_wrong(&queue_bl_abp, d, DEQUE_CLIENTS, lower32, BL__SIM_RELEASE) >= 1); /* store, load: not in order */
    CHECK(found_wrong(&queue_bl_abp, d, DEQUE_CLIENTS, lower32, BL__SIM_RELAXED) >=
          1); /* and the release sequence ends */
    CHECK(found_wrong(&queue_bl_abp, d, DEQUE_CLIENTS, look64, BL__SIM_ACQUIRE) >= 1);
    CHECK(found_wrong(&queue_bl_abp, d, DEQUE_CLIENTS, look32, BL__SIM_ACQUIRE) >= 1);
    CHECK(found_wrong(&queue_bl_abp, d, DEQUE_CLIENTS, look32, BL__SIM_RELAXED) >=
          1); /* the thief does not see the slot */
    CHECK(found_wrong(&queue_bl_chase_lev, d, DEQUE_CLIENTS, publish64, BL__SIM_RELAXED) >= 1);
    CHECK(found_wrong(&queue_bl_chase_lev, d, DEQUE_CLIENTS, lower64, BL__SIM_RELEASE) >= 1);
    CHECK(found_wrong(&queue_bl_chase_lev, d, DEQUE_CLIENTS, look64, BL__SIM_ACQUIRE) >= 2);
    CHECK(found_wrong(&queue_bl_steal_half, d, DEQUE_CLIENTS, look64, BL__SIM_ACQUIRE) >= 2);
    CHECK(found_wrong(&queue_bl_abp, d, DEQUE_CLIENTS, steal64, BL__SIM_ACQ_REL) >=
          1); /* the CAS is not part of the seq_cst order */
    CHECK(found_wrong(&queue_bl_chase_lev, d, DEQUE_CLIENTS, steal64, BL__SIM_ACQ_REL) >= 1);
    CHECK(found_wrong(&queue_bl_steal_half, d, DEQUE_CLIENTS, steal64, BL__SIM_ACQ_REL) >= 1);
    CHECK(found_wrong(&queue_bl_tz, f, FIFO_CLIENTS, swap64, BL__SIM_RELAXED) >= 1);
    CHECK(found_wrong(&queue_bl_tz, f, FIFO_CLIENTS, get64, BL__SIM_RELAXED) >= 1);
    CHECK(found_wrong(&queue_bl_blocking, f, FIFO_CLIENTS, publish32, BL__SIM_RELAXED) >= 1);
    CHECK(found_wrong(&queue_bl_blocking, f, FIFO_CLIENTS, lock32, BL__SIM_RELAXED) >= 1);
    check_at("%s", "");
}

static void test_queues(void) {
    all_clients(&queue_bl_abp, deque_clients, DEQUE_CLIENTS);
    all_clients(&queue_bl_chase_lev, deque_clients, DEQUE_CLIENTS);
    all_clients(&queue_bl_steal_half, deque_clients, DEQUE_CLIENTS);
    all_clients(&queue_bl_tz, fifo_clients, FIFO_CLIENTS);
    all_clients(&queue_bl_blocking, fifo_clients, FIFO_CLIENTS);
    planted_mistakes();
}

/* ---- speed ---- */

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Without reduction, which leaves too few executions to measure. */
static void print_speed(void) {
    static queue_client c = CLIENT(4, 0, "++--", "ss");
    bl_explore_options o = {.before = client_before, .after = client_after, .exhaustive = true};
    bl_explore_result result;
    o.max_executions = 200000 / CHECK_SLOWER;
    c.q = &queue_bl_abp;
    c.threads = 2;
    double begin = seconds();
    CHECK(bl_explore(2, client_body, &c, &o, &result));
    printf("abp ++-- against ss: %.0f executions per second and core\n",
           (double)result.executions / (seconds() - begin));
}

int main(void) {
    check_limit(300);
    test_message_passing();
    test_store_buffering();
    test_asymmetric();
    test_iriw();
    test_weakest_rule();
    test_coherence();
    test_release_sequences();
    test_causality();
    test_updates();
    test_data();
    test_waiting();
    test_lanes();
    test_replay();
    test_replay_of_old();
    test_bounds();
    test_sites();
    test_mutants();
    test_reduction();
    test_queues();
    print_speed();
    return check_end();
}
