/* Linearizability of a recorded history: is there an order of its operations that a sequential queue could have
 * produced, in which no operation comes before one that had returned when it was called? The search is Wing and Gong's
 * with Lowe's memo of (operations done, contents).
 *
 * A lost race (BL_QUEUE_RETRY) had no effect and is ignored. EMPTY and FULL count only if the queue claims that they
 * are exact. */
#ifndef BALLAST_VERIFY_LINEARIZE_H
#define BALLAST_VERIFY_LINEARIZE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum lin_kind { LIN_PUSH, LIN_POP, LIN_STEAL } lin_kind;

typedef struct lin_op {
    uint64_t called, returned; /* by one clock; events at the same tick are concurrent */
    uint32_t thread, value;    /* value: pushed, or popped if outcome is BL_QUEUE_DONE; each is pushed once */
    uint32_t kind;             /* lin_kind */
    uint32_t outcome;          /* bl_outcome */
} lin_op;

typedef struct lin_spec {
    bool deque;        /* push and pop at one end, steal at the other; otherwise first in, first out */
    uint32_t capacity; /* FULL means this many items */
    bool empty, full;  /* whether EMPTY, FULL are claimed to be exact */
    uint32_t filled;   /* items 1 .. filled are in the queue at the start, oldest first */
} lin_spec;

enum { LIN_OPS = 64 }; /* the most operations of one history */

typedef enum lin_verdict { LIN_YES, LIN_NO, LIN_GAVE_UP } lin_verdict;

typedef struct lin_search lin_search; /* memory of the search, kept between histories */
lin_search *lin_open(void);           /* NULL: out of memory */
void lin_close(lin_search *search);

/* order, if not NULL, receives the numbers of the operations in an order that explains them (count of them, after
 * LIN_YES). */
lin_verdict linearize(lin_search *search, const lin_op *ops, uint32_t count, const lin_spec *spec, uint32_t *order);

/* Prints the history as a table, a line per operation in the order of their calls, with bars that show which operations
 * overlap. */
void lin_print(FILE *to, const lin_op *ops, uint32_t count, const lin_spec *spec);

#ifdef __cplusplus
}
#endif
#endif
