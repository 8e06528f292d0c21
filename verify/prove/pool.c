/* The entry pool (parts/pool.h), with chunks of one handle, so that a few calls move them between workers.
 *
 * A worker's script: t takes a handle, g gives back its newest, o its oldest. The holder of a handle writes its entry,
 * plain data, and reads it before giving it back: a second holder at the same time is a race, and so is a missing order
 * when a chunk passes from one worker to the next. At rest every handle is in the pool exactly once. */
#include "prove.h"

#define BL__POOL_CHUNK 1u
#include <ballast/parts/pool.h>

#include <stdio.h>
#include <string.h>

enum { CALLS = 6, HANDLES = 4, POISON = 0xa5 };

static const char *const scripts[] = {"t",   "tt",   "tg",   "ttg",  "tto",  "tgt",   "tgtg",
                                      "ttt", "ttgg", "ttog", "ttgt", "ttot", "ttggt", "ttogtt"};
enum { SCRIPTS = sizeof scripts / sizeof scripts[0], SHORT = 7, SIZES = 3 };

typedef struct run {
    uint32_t workers, capacity;
    const char *script[PROVE_THREADS];
    bl__pool pool;
    uint32_t taken[HANDLES]; /* the holder, from 1 */
    uint32_t held[PROVE_THREADS][CALLS], count[PROVE_THREADS];
    _Alignas(BL_LINE) unsigned char memory[(1 + PROVE_THREADS) * BL_LINE + 4u * HANDLES * 3];
} run;

static void take(run *r, uint32_t worker) {
    uint32_t handle = bl__pool_take(&r->pool, worker), value = 100 + worker;
    if (handle == BL__POOL_NONE)
        return;
    if (handle >= r->capacity)
        bl_explore_fail("takes handle %u of %u", handle, r->capacity);
    if (r->taken[handle])
        bl_explore_fail("handle %u is handed out twice", handle);
    r->taken[handle] = worker + 1;
    bl_data_write(bl__pool_entry(&r->pool, handle), &value, 1);
    r->held[worker][r->count[worker]++] = handle;
}

static void give(run *r, uint32_t worker, bool oldest) {
    uint32_t n = r->count[worker], at = oldest ? 0 : n - 1, value;
    if (n == 0)
        return;
    uint32_t handle = r->held[worker][at];
    memmove(&r->held[worker][at], &r->held[worker][at + 1], (n - 1 - at) * sizeof(uint32_t));
    r->count[worker]--;
    bl_data_read(&value, bl__pool_entry(&r->pool, handle), 1);
    if (value != 100 + worker)
        bl_explore_fail("the entry of handle %u was changed by another", handle);
    r->taken[handle] = 0;
    bl__pool_give(&r->pool, worker, handle);
}

static void body(void *arg, uint32_t worker, uint32_t lane) {
    run *r = arg;
    (void)lane;
    for (const char *at = r->script[worker]; *at; at++) {
        if (*at == 't')
            take(r, worker);
        else
            give(r, worker, *at == 'o');
    }
}

static void before(void *arg) {
    run *r = arg;
    memset(r->memory, POISON, sizeof r->memory);
    memset(r->taken, 0, sizeof r->taken);
    memset(r->count, 0, sizeof r->count);
    bl__pool_bind(&r->pool, r->memory, r->capacity, r->workers, 1);
    bl__pool_init(&r->pool, r->workers, 0, 0, 1);
}

static const char *after(void *arg) {
    run *r = arg;
    uint32_t sum = 0;
    for (uint32_t worker = 0; worker < r->workers; worker++) {
        sum += r->count[worker];
        for (uint32_t handle; sum <= r->capacity && (handle = bl__pool_take(&r->pool, worker)) != BL__POOL_NONE;
             sum++) {
            if (handle >= r->capacity || r->taken[handle])
                return "at rest: a handle is there twice";
            r->taken[handle] = worker + 1;
        }
    }
    return sum == r->capacity ? NULL : sum < r->capacity ? "at rest: a handle is lost" : "at rest: more than there are";
}

/* Pairs, also with a third worker that takes one. */
static uint32_t count(void) { return SCRIPTS * SHORT * SIZES * 2; }

static void fill(uint32_t i, run *r) {
    r->capacity = 2 + i % SIZES;
    r->workers = 2 + i / SIZES % 2;
    r->script[0] = scripts[i / SIZES / 2 % SCRIPTS];
    r->script[1] = scripts[i / SIZES / 2 / SCRIPTS];
    r->script[2] = r->workers > 2 ? "t" : "";
}

static void text(uint32_t i, char text[PROVE_TEXT]) {
    run r;
    fill(i, &r);
    snprintf(text, PROVE_TEXT, "pool %u %s|%s%s%s", r.capacity, r.script[0], r.script[1], r.workers > 2 ? "|" : "",
             r.script[2]);
}

static bool explore(uint32_t i, const prove_limits *limits, bl_explore_result *result) {
    static run r;
    bl_explore_options o = prove_explore_options(limits, before, after);
    fill(i, &r);
    return bl_explore(r.workers, body, &r, &o, result);
}

const prove_family prove_pool = {"pool", count, text, explore};
