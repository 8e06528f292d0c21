/* Template: the contract of the ranges (include/ballast/queues/range_contract.h) as test cases for one range, BL_RANGE,
 * written only with the platform's operations, so that the same source tests it with threads and on the simulated
 * machine. The build includes it for every range (tests/each_range.h in the build folder).
 *
 *     void NAME_case(ranges_client *c, ranges_what what, uint32_t rank)
 *
 * runs one case as thread `rank`. ALONE and WALK are for one thread. After SET_UP come TRAFFIC, in which rank 0, the
 * owner, sets, pops and extends at random while the others steal, or DRAIN, in which every thread takes until it gets
 * EMPTY: after the first EMPTY no thread may get anything; then AUDIT. c->report keeps the first failure. Every index
 * is taken as often as it was offered, and the data behind it is what the owner wrote before.
 */
#ifndef BALLAST_TESTS_RANGES_ONCE
#define BALLAST_TESTS_RANGES_ONCE

#include <ballast/generated/queues.h>
#include <ballast/parts/random.h>

#define RANGES_MOST 64u  /* indices in use: base .. base + RANGES_MOST - 1 */
#define RANGES_BEHIND 3u /* words that an index stands for */

typedef enum ranges_what {
    RANGES_ALONE,
    RANGES_WALK,
    RANGES_SET_UP,
    RANGES_TRAFFIC,
    RANGES_DRAIN,
    RANGES_AUDIT
} ranges_what;

typedef struct ranges_report {
    uint32_t failures, line, got, wanted, rank;
} ranges_report;

typedef struct ranges_client {
    ranges_report report;
    unsigned char *memory;
    uint32_t base, seed, threads;
    uint32_t span;  /* indices that the owner uses, at most RANGES_MOST */
    uint32_t steps; /* of the owner, or of WALK */
    uint32_t same;  /* the owner sets the same interval repeatedly, and does not extend it */
    uint64_t patience;
    uint32_t offered[RANGES_MOST], taken[RANGES_MOST]; /* how often */
    uint32_t behind[RANGES_MOST][RANGES_BEHIND];
    uint32_t over, emptied;
} ranges_client;

BL_FN bool ranges_equal(ranges_client *c, uint32_t line, uint32_t rank, uint32_t got, uint32_t wanted) {
    if (got != wanted && bl_fetch_add32_relaxed(&c->report.failures, 1) == 0) {
        c->report.line = line;
        c->report.rank = rank;
        c->report.got = got;
        c->report.wanted = wanted;
    }
    return got == wanted;
}
#define RANGES_SAME(c, rank, got, wanted) ranges_equal((c), __LINE__, (rank), (uint32_t)(got), (uint32_t)(wanted))

/* Owner: index base + i will be in the range. Its data count how many times that has happened. Atomic only for the
 * check whether it is back. */
BL_FN void ranges_offer(ranges_client *c, uint32_t i) {
    uint32_t words[RANGES_BEHIND], round = c->offered[i] + 1;
    for (uint32_t k = 0; k < RANGES_BEHIND; k++)
        words[k] = round * 31 + k;
    bl_data_write(c->behind[i], words, RANGES_BEHIND);
    c->offered[i] = round;
}

/* Owner: index base + i was taken as often as it was offered, and the threads that took it are done with it. */
BL_FN bool ranges_back(ranges_client *c, uint32_t i) { return bl_load32_acquire(c->taken + i) == c->offered[i]; }

/* A thread got [from, to). */
BL_FN void ranges_got(ranges_client *c, uint32_t rank, uint32_t from, uint32_t to) {
    if (!RANGES_SAME(c, rank, from - c->base < c->span && to - from - 1 < c->span - (from - c->base), 1))
        return;
    for (uint32_t i = from - c->base; i < to - c->base; i++) {
        uint32_t words[RANGES_BEHIND], round = bl_load32_relaxed(c->taken + i) + 1;
        bl_data_read(words, c->behind[i], RANGES_BEHIND);
        for (uint32_t k = 0; k < RANGES_BEHIND; k++)
            RANGES_SAME(c, rank, words[k], round * 31 + k);
        bl_fetch_add32_release(c->taken + i, 1);
    }
}

BL_FN void ranges_audit(ranges_client *c) {
    for (uint32_t i = 0; i < RANGES_MOST; i++)
        RANGES_SAME(c, i, c->taken[i], c->offered[i]);
}

#endif

#define RANGE_(x) BL_CAT(BL_RANGE, _##x)

BL_FN BL_RANGE RANGE_(at)(const ranges_client *c) {
    BL_RANGE q;
    RANGE_(bind)(&q, c->memory);
    return q;
}

BL_FN BL_RANGE RANGE_(fresh)(const ranges_client *c) {
    BL_RANGE q = RANGE_(at)(c);
    for (uint32_t rank = 3; rank-- > 0;) /* as if by three threads, in any order */
        RANGE_(init)(&q, rank, 3);
    return q;
}

/* ---- one thread ---- */

BL_FN void RANGE_(must_pop)(ranges_client *c, BL_RANGE *q, uint32_t n, uint32_t from, uint32_t to) {
    uint32_t begin = ~0u, end = 0;
    RANGES_SAME(c, n, RANGE_(pop)(q, n, &begin, &end), BL_QUEUE_DONE);
    RANGES_SAME(c, n, begin, from);
    RANGES_SAME(c, n, end, to);
}
BL_FN void RANGE_(must_steal)(ranges_client *c, BL_RANGE *q, uint32_t least, uint32_t from, uint32_t to) {
    uint32_t begin = ~0u, end = 0;
    RANGES_SAME(c, least, RANGE_(steal)(q, least, &begin, &end), BL_QUEUE_DONE);
    RANGES_SAME(c, least, begin, from);
    RANGES_SAME(c, least, end, to);
}
BL_FN void RANGE_(must_be_empty)(ranges_client *c, BL_RANGE *q) {
    uint32_t from, to;
    for (uint32_t i = 0; i < 2; i++) {
        RANGES_SAME(c, i, RANGE_(size)(q), 0);
        RANGES_SAME(c, i, RANGE_(pop)(q, 1 + i, &from, &to), BL_QUEUE_EMPTY);
        RANGES_SAME(c, i, RANGE_(steal)(q, i, &from, &to), BL_QUEUE_EMPTY);
    }
}

/* The widest range: 0 .. 2^32 - 2. */
BL_FN void RANGE_(widest)(ranges_client *c, BL_RANGE *q) {
    RANGE_(set)(q, 0, UINT32_MAX);
    RANGES_SAME(c, 0, RANGE_(size)(q), UINT32_MAX);
    RANGE_(must_steal)(c, q, UINT32_MAX, UINT32_MAX / 2, UINT32_MAX);
    RANGE_(must_pop)(c, q, UINT32_MAX, 0, UINT32_MAX / 2);
    RANGE_(must_be_empty)(c, q);
    RANGE_(set)(q, 0, UINT32_MAX);
    RANGE_(must_pop)(c, q, UINT32_MAX, 0, UINT32_MAX);
    RANGE_(must_be_empty)(c, q);
    RANGES_SAME(c, 0, RANGE_(extend)(q, UINT32_MAX), BL_QUEUE_DONE);
    RANGES_SAME(c, 0, RANGE_(size)(q), UINT32_MAX);
    uint32_t left = UINT32_MAX;
    for (uint32_t steals = 0; left && steals < 40; steals++, left /= 2)
        RANGE_(must_steal)(c, q, 1, left / 2, left);
    RANGE_(must_be_empty)(c, q);
}

#if RANGE_(AHEAD)
/* Pops if the range is as expected; otherwise only reports what it is. */
BL_FN void RANGE_(asked)(ranges_client *c, BL_RANGE *q) {
    uint32_t b = c->base;
    uint64_t seen = RANGE_(ends)(b, b + 10);
    RANGE_(set)(q, b, b + 10);
    RANGES_SAME(c, 0, RANGE_(ask)(q, RANGE_(ends)(b, b + 9), 3) == seen, 1);
    RANGES_SAME(c, 0, RANGE_(size)(q), 10);
    RANGES_SAME(c, 0, RANGE_(ask)(q, seen, 3) == seen, 1);
    RANGES_SAME(c, 0, RANGE_(begin)(q), b + 3);
    RANGES_SAME(c, 0, RANGE_(size)(q), 7);
    seen = RANGE_(ends)(b, b); /* an empty range is not asked for anything */
    RANGES_SAME(c, 0, RANGE_(ask)(q, seen, 1) == seen, 1);
    seen = RANGE_(ends)(b + 3, b + 10);
    RANGES_SAME(c, 0, RANGE_(ask)(q, seen, 100) == seen, 1);
    RANGE_(must_be_empty)(c, q);
}
#endif

BL_FN void RANGE_(alone)(ranges_client *c) {
    BL_RANGE q = RANGE_(fresh)(c);
    uint32_t b = c->base, from, to;
    RANGE_(must_be_empty)(c, &q);
    for (uint32_t round = 0; round < 3; round++) {
        RANGE_(set)(&q, b, b + 10);
        RANGES_SAME(c, round, RANGE_(size)(&q), 10);
        RANGES_SAME(c, round, RANGE_(begin)(&q), b);
        RANGE_(must_pop)(c, &q, 3, b, b + 3);
        RANGES_SAME(c, round, RANGE_(steal)(&q, 8, &from, &to), BL_QUEUE_EMPTY); /* seven are left */
        RANGE_(must_steal)(c, &q, 7, b + 6, b + 10);
        RANGES_SAME(c, round, RANGE_(extend)(&q, 2), BL_QUEUE_DONE);
        RANGES_SAME(c, round, RANGE_(begin)(&q), b + 1);
        RANGES_SAME(c, round, RANGE_(size)(&q), 5);
        RANGE_(must_steal)(c, &q, 0, b + 3, b + 6);
        RANGE_(must_pop)(c, &q, 1, b + 1, b + 2);
        RANGE_(must_steal)(c, &q, 1, b + 2, b + 3); /* the last one */
        RANGE_(must_be_empty)(c, &q);
        RANGES_SAME(c, round, RANGE_(extend)(&q, 1), BL_QUEUE_DONE); /* extends an empty range */
        RANGE_(must_pop)(c, &q, 100, b + 1, b + 2);
        RANGE_(must_be_empty)(c, &q);
        RANGE_(set)(&q, b + 5, b + 5);
        RANGE_(must_be_empty)(c, &q);
        RANGE_(set)(&q, 2, 5);
        RANGES_SAME(c, round, RANGE_(extend)(&q, 3), BL_QUEUE_FULL);
        RANGES_SAME(c, round, RANGE_(size)(&q), 3);
        RANGES_SAME(c, round, RANGE_(extend)(&q, 2), BL_QUEUE_DONE);
        RANGE_(must_pop)(c, &q, 9, 0, 5);
        RANGE_(must_be_empty)(c, &q);
    }
#if RANGE_(AHEAD)
    RANGE_(asked)(c, &q);
#endif
    RANGE_(widest)(c, &q);
}

/* Random operations against two numbers. */
BL_FN void RANGE_(walk)(ranges_client *c) {
    BL_RANGE q = RANGE_(fresh)(c);
    uint32_t random = c->seed | 1u, begin = 0, end = 0, from, to;
    for (uint32_t i = 0; i < c->steps; i++) {
        uint32_t r = bl__random32(&random), left = end - begin, n = 1 + (r >> 8) % 7;
        if (r % 4 == 0 && left) {
            RANGE_(must_pop)(c, &q, n, begin, begin + (n < left ? n : left));
            begin += n < left ? n : left;
        } else if (r % 4 == 1 && left >= n) {
            RANGE_(must_steal)(c, &q, n, begin + left / 2, end);
            end = begin + left / 2;
        } else if (r % 4 == 1) {
            RANGES_SAME(c, i, RANGE_(steal)(&q, n, &from, &to), BL_QUEUE_EMPTY);
        } else if (left) {
            RANGES_SAME(c, i, RANGE_(extend)(&q, n), begin < n ? BL_QUEUE_FULL : BL_QUEUE_DONE);
            begin -= begin < n ? 0 : n;
        } else {
            begin = c->base + (r >> 11) % 16;
            end = begin + (r >> 16) % 64;
            RANGE_(set)(&q, begin, end);
        }
        RANGES_SAME(c, i, RANGE_(size)(&q), end - begin);
        RANGES_SAME(c, i, RANGE_(begin)(&q), begin);
    }
}

/* ---- owner and thieves ---- */

/* The next interval, if all of it is back: an index that a thief still uses cannot be offered. */
BL_FN bool RANGE_(offer)(ranges_client *c, BL_RANGE *q, uint32_t random) {
    uint32_t i = c->same ? 0 : random % c->span, end = c->same ? c->span : i + 1 + (random >> 8) % (c->span - i);
    for (uint32_t k = i; k < end; k++)
        if (!ranges_back(c, k))
            return false;
    for (uint32_t k = i; k < end; k++)
        ranges_offer(c, k);
    RANGE_(set)(q, c->base + i, c->base + end);
    return true;
}

BL_FN void RANGE_(lengthen)(ranges_client *c, BL_RANGE *q, uint32_t n) {
    uint32_t begin = RANGE_(begin)(q) - c->base, k = 0;
    while (k < n && k < begin && ranges_back(c, begin - 1 - k))
        k++;
    for (uint32_t i = 0; i < k; i++)
        ranges_offer(c, begin - 1 - i);
    RANGES_SAME(c, 0, RANGE_(extend)(q, k), BL_QUEUE_DONE);
}

BL_FN void RANGE_(own)(ranges_client *c) {
    BL_RANGE q = RANGE_(at)(c);
    uint32_t random = (c->seed * 2654435761u) | 1u, tries = 0, from, to;
    uint64_t since = bl_clock();
    for (uint32_t i = 0;;) { /* at the end, until it gets EMPTY */
        uint32_t r = bl__random32(&random), n = 1 + (r >> 8) % 4;
        if (r % 4 == 0 && !c->same && i < c->steps) {
            RANGE_(lengthen)(c, &q, n);
        } else if (RANGE_(pop)(&q, n, &from, &to) == BL_QUEUE_DONE) {
            ranges_got(c, 0, from, to);
        } else if (i >= c->steps) {
            break;
        } else if (!RANGE_(offer)(c, &q, r >> 4)) {
            bl_backoff(tries++);
            if (!RANGES_SAME(c, 0, bl_clock() - since > c->patience, 0)) /* a taken index never comes back */
                break;
            continue;
        }
        i++;
        tries = 0;
        since = bl_clock();
    }
    bl_store32_relaxed(&c->over, 1);
}

BL_FN void RANGE_(rob)(ranges_client *c, uint32_t rank) {
    BL_RANGE q = RANGE_(at)(c);
    uint32_t random = (c->seed * 2654435761u + rank * 2246822519u) | 1u, tries = 0, from, to;
    while (!bl_load32_relaxed(&c->over)) {
        bl_outcome outcome = RANGE_(steal)(&q, bl__random32(&random) % 4, &from, &to);
        if (outcome == BL_QUEUE_DONE) {
            ranges_got(c, rank, from, to);
            tries = 0;
            continue;
        }
        RANGES_SAME(c, rank, outcome == BL_QUEUE_EMPTY || outcome == BL_QUEUE_RETRY, 1);
        bl_backoff(tries++);
    }
}

/* Nothing is added any more, so after one EMPTY every further call must return it. */
BL_FN void RANGE_(drain)(ranges_client *c, uint32_t rank) {
    BL_RANGE q = RANGE_(at)(c);
    uint32_t tries = 0, from, to;
    for (;;) {
        uint32_t emptied = bl_load32_acquire(&c->emptied);
        bl_outcome outcome = rank ? RANGE_(steal)(&q, 1, &from, &to) : RANGE_(pop)(&q, 2, &from, &to);
        if (outcome == BL_QUEUE_DONE) {
            RANGES_SAME(c, rank, emptied, 0);
            ranges_got(c, rank, from, to);
        } else if (outcome == BL_QUEUE_EMPTY) {
            bl_store32_release(&c->emptied, 1);
            break;
        } else {
            bl_backoff(tries++);
        }
    }
}

BL_FN void RANGE_(case)(ranges_client *c, ranges_what what, uint32_t rank) {
    if (what == RANGES_ALONE) {
        RANGE_(alone)(c);
    } else if (what == RANGES_WALK) {
        RANGE_(walk)(c);
    } else if (what == RANGES_SET_UP) {
        BL_RANGE q = RANGE_(fresh)(c);
        RANGE_(set)(&q, c->base, c->base);
        if (c->same)
            RANGE_(offer)(c, &q, 0);
    } else if (what == RANGES_DRAIN) {
        RANGE_(drain)(c, rank);
    } else if (what == RANGES_TRAFFIC) {
        if (rank)
            RANGE_(rob)(c, rank);
        else
            RANGE_(own)(c);
    } else {
        BL_RANGE q = RANGE_(at)(c);
        RANGES_SAME(c, 0, RANGE_(size)(&q), 0);
        ranges_audit(c);
    }
}

#undef RANGE_
