/* What the host and the threads of a target share: the clients of contract_cases.inc.h and of history.inc.h. Plain
 * data, the same on every target. */
#ifndef BALLAST_VERIFY_CLIENT_H
#define BALLAST_VERIFY_CLIENT_H

#include "linearize.h"

/* ---- contract_cases.inc.h ---- */

#define CONTRACT_POISON 0xa5a5a5a5u
#define CONTRACT_GUARD 32u /* words behind the queue's own */
#define CONTRACT_WORDS 8u  /* per item at most */
#define CONTRACT_DEEP 64u  /* the largest capacity of the cases for one thread */

typedef enum contract_case {
    CONTRACT_SMOKE,      /* one item in and out */
    CONTRACT_BOUNDARIES, /* to FULL and to EMPTY, and batches that fit in part */
    CONTRACT_ORDER,      /* first in, first out; deques: last out for the owner, first for thieves */
    CONTRACT_WALK,       /* `items` random operations against a model */
    CONTRACT_SET_UP,
    CONTRACT_AUDIT,   /* every value was seen once and the queue is empty */
    CONTRACT_TRAFFIC, /* producers and consumers, or owner and thieves: exactly once, and in order */
    CONTRACT_TOKENS,  /* a queue that never runs empty or full must never say so */
    CONTRACT_VISITS,  /* a few batches each, and no second try: nobody may wait for one who has left */
    CONTRACT_TICKETS  /* the ceiling, which is no queue: no slot is given out twice */
} contract_case;

typedef struct contract_report {
    uint32_t failures, line, got, wanted, rank;
} contract_report;

typedef struct contract_client {
    contract_report report;
    unsigned char *memory; /* `bytes` for the queue and CONTRACT_GUARD words */
    uint64_t bytes;
    uint32_t capacity, words, start, seed;
    uint32_t threads;
    uint32_t producers; /* ranks below it push; deques: 1 */
    uint32_t consumers; /* ranks from threads - consumers on pop: a thread may do both; deques: all */
    uint32_t items;     /* per producer; steps of WALK; rounds of TOKENS */
    uint32_t batch;     /* push_n and pop_n of up to so many; 1: push and pop */
    uint32_t visits;    /* VISITS: operations per thread; the audit then drains what is left */
    uint32_t meets;     /* threads wait for each other at the start */
    uint64_t patience;  /* ticks without progress after which a thread gives up */
    uint32_t *seen;     /* per value: how often it was popped */
    uint32_t *behind;   /* what a handle stands for, behind_words per value; for deques the owner's model */
    uint32_t
        behind_words; /* no constant: a copy that the compiler makes itself is one that ThreadSanitizer does not see */
    uint32_t *last;   /* per thread and producer: the value to come, at least; may be NULL */
    uint32_t arrived, popped, abandoned;
} contract_client;

/* ---- history.inc.h ---- */

enum { HISTORY_THREADS = 4, HISTORY_SCRIPT = 24 }; /* the most threads of a history, and operations of all of them */

typedef enum history_style { HISTORY_MIXED, HISTORY_SPLIT, HISTORY_PUSH_POP, HISTORY_POP_PUSH } history_style;

/* A history but for its schedule. All of it follows from the seed. */
typedef struct history_shape {
    uint32_t seed, threads, capacity, words, start;
    uint32_t filled;     /* values 1 .. filled are in it at the start */
    uint32_t operations; /* per thread */
    uint32_t style;      /* history_style: who pushes and who pops when; deques: the owner */
    uint32_t counted;    /* times are numbers from a counter; else bl_time() */
} history_shape;

/* One history and the words through which its threads meet. */
typedef struct history_cell {
    history_shape shape;
    uint32_t arrived; /* read at every look at the clock, and not written by then */
    uint32_t unused[22];
    uint64_t counter; /* the clock that counts */
    uint32_t left, drained, refused, stuck;
    uint32_t unused2[26];
} history_cell;

/* Many of them, each with its own queue. */
typedef struct history_batch {
    unsigned char *memory; /* the queue of cell i begins at i * bytes */
    uint64_t bytes;
    history_cell *cells;
    lin_op *ops; /* of cell i from i * LIN_OPS on: thread after thread, then what was drained */
    uint32_t count, threads, meets, abandoned;
    uint64_t patience; /* ticks after which a thread no longer waits for the others */
} history_batch;

#endif
