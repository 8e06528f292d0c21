/* Shared by the host and the threads of a target: the clients of contract_cases.inc.h and history.inc.h. Plain data,
 * the same on every target. */
#ifndef BALLAST_VERIFY_CLIENT_H
#define BALLAST_VERIFY_CLIENT_H

#include "linearize.h"

/* ---- contract_cases.inc.h ---- */

#define CONTRACT_POISON 0xa5a5a5a5u
#define CONTRACT_GUARD 32u /* words after the queue's memory */
#define CONTRACT_WORDS 8u  /* the most words per item */
#define CONTRACT_DEEP 64u  /* the largest capacity of single-threaded cases */

typedef enum contract_case {
    CONTRACT_SMOKE,      /* one item in and out */
    CONTRACT_BOUNDARIES, /* up to FULL and down to EMPTY, and batches that fit only in part */
    CONTRACT_ORDER,      /* first in, first out; deques: the owner pops last in, thieves steal first in */
    CONTRACT_WALK,       /* `items` random operations against a model */
    CONTRACT_SET_UP,
    CONTRACT_AUDIT,   /* every value was seen once, and the queue is empty */
    CONTRACT_TRAFFIC, /* producers and consumers, or owner and thieves: exactly once, and in order */
    CONTRACT_TOKENS,  /* a queue that never runs empty or full must never say so */
    CONTRACT_VISITS,  /* a few batches each, without retries: no thread may wait for one that has left */
    CONTRACT_TICKETS  /* the ceiling, which is not a queue: no slot is handed out twice */
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
    uint32_t producers;    /* ranks below it push; deques: 1 */
    uint32_t consumers;    /* ranks from threads - consumers on pop; a thread may do both; deques: all */
    uint32_t items;        /* per producer; steps of WALK; rounds of TOKENS */
    uint32_t batch;        /* push_n and pop_n of at most this many; 1: push and pop */
    uint32_t visits;       /* VISITS: operations per thread; the audit then drains what is left */
    uint32_t meets;        /* threads wait for each other at the start */
    uint64_t patience;     /* ticks without progress after which a thread gives up */
    uint32_t *seen;        /* per value: how many times it was popped */
    uint32_t *behind;      /* the data a handle stands for, behind_words per value; for deques the owner's model */
    uint32_t behind_words; /* not a constant: ThreadSanitizer does not see a copy that the compiler inlines */
    uint32_t *last;        /* per thread and producer: the lowest value that may come next; may be NULL */
    uint32_t arrived, popped, abandoned;
} contract_client;

/* ---- history.inc.h ---- */

/* the most threads of a history, and operations of all of them together */
enum { HISTORY_THREADS = 4, HISTORY_SCRIPT = 24 };

typedef enum history_style { HISTORY_MIXED, HISTORY_SPLIT, HISTORY_PUSH_POP, HISTORY_POP_PUSH } history_style;

/* A history except its schedule. All of it follows from the seed. */
typedef struct history_shape {
    uint32_t seed, threads, capacity, words, start;
    uint32_t filled;     /* values 1 .. filled are in the queue at the start */
    uint32_t operations; /* per thread */
    uint32_t style;      /* history_style: which threads push and pop when; deques: the owner */
    uint32_t counted;    /* times come from a shared counter; otherwise from bl_time() */
} history_shape;

/* One history, and the words through which its threads synchronise. */
typedef struct history_cell {
    history_shape shape;
    uint32_t arrived; /* read at every look at the clock, when it is no longer written */
    uint32_t unused[22];
    uint64_t counter; /* the counter that serves as a clock */
    uint32_t left, drained, refused, stuck;
    uint32_t unused2[26];
} history_cell;

/* Many cells, each with its own queue. */
typedef struct history_batch {
    unsigned char *memory; /* the queue of cell i begins at i * bytes */
    uint64_t bytes;
    history_cell *cells;
    lin_op *ops; /* cell i's begin at i * LIN_OPS: thread after thread, then the drained items */
    uint32_t count, threads, meets, abandoned;
    uint64_t patience; /* ticks after which a thread no longer waits for the others */
} history_batch;

#endif
