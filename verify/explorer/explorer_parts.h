/* Internals of an exploration, whose files form layers:
 *
 *     explore.c                       all executions, one after another
 *     views.c, reduce.c               memory, and which decisions need not be tried
 *     turns.c                         which fiber runs next
 *     readable.c, order.c             which stores a fiber may read
 *     listing.c, sites.c, arena.c, failure.c
 *
 * See explorer.h for its use. Nothing is allocated between executions; a generation number invalidates
 * locations and plain words. */
#ifndef BALLAST_EXPLORER_PARTS_H
#define BALLAST_EXPLORER_PARTS_H

#include "explorer.h"
#include "platform/fiber.h"
#include "sim/exploring.h"

enum { BL__LOCATIONS = 1024, BL__WIDTH = BL_EXPLORE_FIBERS + BL__LOCATIONS, BL__GRANULES = 4096, BL__SITES = 4096 };

#define BL__NO_NODE UINT32_MAX
#define BL__NOBODY UINT32_MAX /* in place of a fiber */

/* ---- memory ---- */

/* A store. Stamps count the stores to a location, from 0 for its initial value. The view is what an acquire reader
 * learns: a clock for each fiber, then a stamp for each location. */
typedef struct bl__message {
    uint64_t value;
    uint32_t previous; /* number of the previous message, 0: none */
    uint32_t view;     /* where it begins in the arena */
    uint16_t width;    /* its length, 0: it carries nothing */
    uint16_t stamp;
    uint16_t event; /* 0: before the execution */
    uint8_t fiber;
    uint16_t clock; /* of the fiber */
    /* For order.c: clocks of what happened before the accesses that precede it in eco, and before those that read
     * it. */
    uint16_t eco[BL_EXPLORE_FIBERS], eco_read[BL_EXPLORE_FIBERS];
} bl__message;

/* The last steps that concern an object, for the search. */
typedef struct bl__object {
    uint16_t write, read[BL_EXPLORE_FIBERS];
} bl__object;

typedef struct bl__location {
    void *p;
    uint32_t newest; /* number of a message */
    uint16_t index;  /* in views */
    uint16_t bits;
    bl__object stores;
} bl__location;

typedef struct bl__data {
    uint16_t writer, written, read[BL_EXPLORE_FIBERS]; /* clocks, 0: never */
    uint32_t write_site, read_site[BL_EXPLORE_FIBERS];
} bl__data;

/* Eight bytes of the program's memory: one word, two, or none so far; 0 means none. */
typedef struct bl__granule {
    uintptr_t key;
    uint32_t generation;
    uint16_t location[2], data[2];
} bl__granule;

typedef struct bl__stale {
    uint64_t key;
    uint32_t generation, count;
} bl__stale;

/* ---- fibers ---- */

typedef enum bl__step_kind {
    BL__STEP_LOAD,
    BL__STEP_STORE, /* or read-modify-write: reads the newest */
    BL__STEP_CAS,   /* one or the other, depending on the outcome */
    BL__STEP_WAIT,
    BL__STEP_YIELD,
    BL__STEP_MEET
} bl__step_kind;

/* The next step of a fiber. */
typedef struct bl__step {
    uint8_t kind;
    uint32_t site;
    uint64_t seen;       /* WAIT */
    bl__location *at[2]; /* 128 bits are two locations */
} bl__step;

/* The effect of a step. */
typedef struct bl__effect {
    bool wrote, tried; /* tried: would have written in another order of steps */
    bool exact;        /* could not have read an older store */
    uint16_t from[2];  /* the events of the stores that it read */
} bl__effect;

/* An operation in the order of seq_cst operations. */
typedef enum bl__ordered_kind {
    BL__ORDERED_ACCESS,
    BL__ORDERED_FENCE,
    BL__ORDERED_HEAVY,
    BL__ORDERED_LIGHT,
    BL__ORDERED_NONE
} bl__ordered_kind;

typedef struct bl__ordered {
    uint8_t kind, fiber;
    bool writes;
    uint16_t clock, stamp;
    uint16_t next;    /* the clock when its fiber reached another location, 0: not yet */
    uint32_t pending; /* an earlier one for which that is so */
    const bl__location *at;
    uint32_t view; /* of a fence, in the arena */
    uint16_t width;
    uint16_t known[BL_EXPLORE_FIBERS]; /* what happened before it, as clocks */
} bl__ordered;

typedef struct bl__lately {
    uint16_t at, known[BL_EXPLORE_FIBERS];
} bl__lately;

typedef struct bl__explored {
    bl__fiber *stack;
    bl__step step;
    bool finished, meeting;
    bool fenced; /* released is not empty */
    bool stale;  /* it has read an old store since it last yielded */
    uint32_t own_writes, mark;
    uint16_t clock[BL_EXPLORE_FIBERS]; /* the last step of each fiber on which this one depends */
    uint16_t view[BL__WIDTH];          /* the oldest store that it may still read, per location; clocks of the others */
    uint16_t acquired[BL__WIDTH];      /* what an acquire fence would add */
    uint16_t released[BL__WIDTH];      /* what a relaxed store carries, from the last release fence */
    bl__lately lately[2];              /* at the last access, and at the last one to a different location */
    uint32_t pending;                  /* the last seq_cst access not yet followed by an access to another location */
} bl__explored;

typedef struct bl__meeting {
    uint32_t arrived, generation;
    uint32_t value[2][BL__SIM_WARP];
} bl__meeting;

/* ---- the search ---- */

/* A decision: which fiber runs next (count is 0), or which of count stores a load returns. */
typedef struct bl__node {
    uint16_t count, chosen;
    uint16_t current; /* the fiber that ran before */
    uint16_t chosen_floor;
    uint32_t enabled, ready, todo, done, asleep; /* sets of fibers */
    uint16_t floor[BL_EXPLORE_FIBERS];
} bl__node;

typedef struct bl__event {
    uint32_t node; /* where it was decided */
    uint16_t fiber;
    bool tried;
    uint16_t clock[BL_EXPLORE_FIBERS];
} bl__event;

typedef struct bl__decision {
    uint16_t fiber, behind; /* behind: how many newer stores there were than the one it read */
} bl__decision;

typedef struct bl__row {
    uint32_t site;
    uint16_t fiber, behind;
    uint8_t order;
    bool reads, writes, failed;
    uint64_t read, written;
    const void *p;
} bl__row;

typedef enum bl__end { BL__RUNS, BL__DONE, BL__PRUNED, BL__CUT, BL__FAILED } bl__end;

struct bl__explorer {
    bl__explored fibers[BL_EXPLORE_FIBERS];
    uint32_t count, lanes, self, started, unfinished;
    uint32_t last; /* the fiber that made the last step */
    bl_sim_body body;
    void *arg;
    bl_explore_options options;
    bl_explore_result *result;
    bl__end end;
    bl__fiber host;
    uint64_t ticks;
    bl__meeting blocks[BL_EXPLORE_FIBERS], warps[BL_EXPLORE_FIBERS];

    /* search */
    bool reduced; /* by the races between steps; otherwise everything is tried */
    uint32_t max_steps, steps, preemptions, node, nodes, depth, asleep;
    uint32_t insisted, writes_then;    /* turns given to fibers that yielded, since this number of writes */
    uint16_t floor[BL_EXPLORE_FIBERS]; /* of sleeping fibers: stores that their load need not try again */
    uint16_t least;                    /* the floor of the current step */
    bl__node *stack;
    bl__event *events;
    bl__decision *decisions;
    const bl__decision *line; /* if set: the line to replay */
    uint32_t line_count;

    /* memory */
    uint32_t generation, location_count, data_count, message_count, writes;
    bl__location locations[BL__LOCATIONS];
    bl__data data[BL__LOCATIONS];
    bl__granule granules[BL__GRANULES];
    bl__message *messages;
    uint32_t message_capacity;
    uint16_t *arena;
    uint32_t arena_used, arena_capacity;
    bl__stale *stale;
    uint32_t stale_mask;

    /* the order of seq_cst operations */
    bl__ordered *ordered;
    uint64_t *before; /* for each of them, the set of its predecessors */
    uint32_t ordered_count, order_fences, order_capacity, order_stride;

    /* sites, and the table */
    uint64_t site_seen[BL__SITES / 64];
    bl__row *rows;
    uint32_t row_count, row_capacity;
};

static inline uint32_t bl__bit(uint32_t fiber) { return 1u << fiber; }

static inline uint32_t bl__lowest(uint32_t set) {
    uint32_t i = 0;
    while (!(set >> i & 1))
        i++;
    return i;
}

static inline bool bl__acquires(bl__sim_order o) { return o == BL__SIM_ACQUIRE || o >= BL__SIM_ACQ_REL; }
static inline bool bl__is_sc(bl__sim_order o) { return o == BL__SIM_SEQ_CST; }

/* failure.c. failed: the execution ends as soon as the fiber stops; wrong: here. */
void bl__explore_failed(bl__explorer *x, const char *format, ...) __attribute__((format(printf, 2, 3)));
void bl__explore_wrong(bl__explorer *x, const char *format, ...) __attribute__((format(printf, 2, 3), noreturn));

/* arena.c: the position of n words, or of a copy of a view. */
uint32_t bl__arena_take(bl__explorer *x, uint32_t n);
uint32_t bl__arena_keep(bl__explorer *x, const uint16_t *view, uint32_t n);

/* turns.c. next: decides, and returns the stack of the fiber that runs next, or of the host. point: announces the
 * fiber's step and returns when it is its turn. pick: chooses one of count. */
bl__fiber *bl__explore_next(bl__explorer *x);
void bl__explore_point(bl__explorer *x);
uint32_t bl__explore_pick(bl__explorer *x, uint32_t count);

/* reduce.c: records that the step was made. */
void bl__explore_did(bl__explorer *x, const bl__effect *effect);

/* views.c */
bool bl__views_open(bl__explorer *x);
void bl__views_close(bl__explorer *x);
void bl__views_reset(bl__explorer *x);
void bl__views_meet(bl__explorer *x, uint32_t first, uint32_t count);
uint64_t bl__views_load(bl__explorer *x, bl__sim_site *site, const void *p, unsigned bits);
void bl__views_store(bl__explorer *x, bl__sim_site *site, void *p, unsigned bits, uint64_t v);
uint64_t bl__views_rmw(bl__explorer *x, bl__sim_site *site, bl__sim_op op, void *p, unsigned bits, uint64_t v);
bool bl__views_cas(bl__explorer *x, bl__sim_site *site, void *p, unsigned bits, uint64_t *expected, uint64_t v);
bool bl__views_cas128(bl__explorer *x, bl__sim_site *site, void *p, void *expected, const void *v);
void bl__views_fence(bl__explorer *x, bl__sim_site *site);
void bl__views_wait(bl__explorer *x, bl__sim_site *site, const void *p, unsigned bits, uint64_t seen);
void bl__views_yield(bl__explorer *x, bl__sim_site *site);
void bl__views_data(bl__explorer *x, bl__sim_site *site, const void *p, uint32_t words);
uint32_t bl__views_bump(bl__explorer *x, bl__sim_site *site);

static inline const bl__message *bl__newest(const bl__explorer *x, const bl__location *at) {
    return &x->messages[at->newest];
}

/* order.c. allows: whether the fiber may read m, which is not the newest. The others record what the running fiber
 * did. */
bool bl__order_open(bl__explorer *x);
void bl__order_close(bl__explorer *x);
void bl__order_reset(bl__explorer *x);
bool bl__order_allows(bl__explorer *x, const bl__explored *f, const bl__location *at, const bl__message *m,
                      bool acquires, bool sc);
void bl__order_read(bl__explorer *x, const bl__location *at, bl__message *m, bool sc);
void bl__order_wrote(bl__explorer *x, const bl__location *at, bl__message *m, bool sc);
void bl__order_fence(bl__explorer *x, bl__ordered_kind kind);
/* before the meeting, and again once the fiber knows what the others did */
void bl__order_meet(bl__explorer *x, uint32_t fiber);

/* readable.c. changed: the oldest store that f may read with another value than the one for which it waits. enabled:
 * whether f can make its step. */
bool bl__readable(bl__explorer *x, const bl__explored *f, const bl__location *at, const bl__message *m,
                  bl__sim_order order);
bl__message *bl__readable_changed(bl__explorer *x, const bl__explored *f);
bool bl__readable_enabled(bl__explorer *x, const bl__explored *f);

/* sites.c */
uint32_t bl__site_id(bl__explorer *x, bl__sim_site *site);
void bl__site_text(uint32_t site, char *text, size_t bytes); /* FILE:LINE */
const char *bl__op_text(uint8_t op);

/* listing.c */
void bl__line_print(const bl__decision *decisions, uint32_t count, char *text, size_t bytes);
uint32_t bl__line_parse(const char *text, bl__decision *decisions, uint32_t capacity); /* UINT32_MAX: not a schedule */
void bl__table_row(bl__explorer *x, bl__row row);
void bl__table_print(const bl__explorer *x, FILE *to);
void bl__location_text(const bl__explorer *x, const void *p, char *text, size_t bytes);

#endif
