/* Why a run stops: bits of its stop word, and what a task did wrong. */
#ifndef BL_PARTS_STOP_H
#define BL_PARTS_STOP_H

#include "run.h"

/* Reasons in a run's stop word: the host's, and those of workers. */
enum {
    BL__STOP_GROW = 1,
    BL__STOP_FAILED = 4,
    BL__STOP_TOO_MANY = 8,
    BL__STOP_DONE = 16,
    BL__STOP_RECORDS = 32,
    BL__STOP_MISUSE = 64,
    BL__STOP_MEMORY = 128,
    BL__STOP_HOST = 1 << 24, /* in a byte of its own, which the host of a GPU can write without the others; ... */
    BL__STOP_STALL = 1 << 25 /* ... so is this one: do not wait for the end of a wave */
};

/* What a task did wrong, with a number that explains it; src/run/misuse.c puts it into words. */
typedef enum bl__misuse {
    BL__SPAWNED_TOO_MANY = 1, /* entries */
    BL__FORKED_TOO_WIDE,      /* children */
    BL__FORKED_NONE,
    BL__ENDED_TWICE,
    BL__ENDED_NOT_AT_ALL,
    BL__NO_RESULTS,     /* 0: returned, 1: forked, by a program without BL_RESULT */
    BL__SPAWNED_OTHER,  /* bytes of what was spawned */
    BL__RETURNED_OTHER, /* bytes of what was returned */
    BL__SPLIT_OUTSIDE,  /* the middle */
    BL__FAILED_OTHER,   /* bytes of what bl_fail was given */
    /* BL_CHECKED: */
    BL__SUM_TOO_LARGE,
    BL__MISPLACED /* 0: a payload, 1: a result */
} bl__misuse;

/* The run ends with BL_EMISUSE. Of several reports the host gets one, with the largest number of its kind. */
BL_COLD_FN void bl__stop_for_misuse(bl__control *c, bl__misuse what, uint32_t number) {
    bl_far_max64_relaxed(&c->misuse, (uint64_t)what << 32 | number);
    bl_fetch_or32_relaxed(&c->stop, BL__STOP_MISUSE);
}

#endif
