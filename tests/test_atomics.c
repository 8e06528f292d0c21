/* The atomics that tasks use, and loops that are too long for 32 bits. */
#include "check.h"
#include "config.h"
#include "internal.h"
#include "target.h"

#include <ballast/task.h>
#include <math.h>
#include <stdlib.h>

/* ---- atomics: what all tasks together make of a few words ---- */

typedef struct words {
    float float_sum, float_least, float_most;
    uint32_t least32, and32, or32, xor32;
    double double_sum, double_least, double_most;
    uint64_t least64, and64, or64, xor64;
    uint64_t old_sum; /* of what the exchanges found */
    float float_last;
    double double_last;
} words;
typedef struct words_at {
    words *w;
} words_at;

static BL_TASK void mix_run(bl_task *t, const bl_nothing *payload, uint32_t i, const words_at *s, bl_nothing *local) {
    (void)payload, (void)local;
    words *w = s->w;
    float x = (float)i - 300.25f;
    double y = 1000.5 - (double)i;
    if (t->lane)
        return;
    bl_fetch_add_float_relaxed(&w->float_sum, 0.5f);
    bl_fetch_min_float_relaxed(&w->float_least, x);
    bl_fetch_max_float_relaxed(&w->float_most, x);
    bl_fetch_add_double_relaxed(&w->double_sum, 0.25);
    bl_fetch_min_double_relaxed(&w->double_least, y);
    bl_fetch_max_double_relaxed(&w->double_most, y);
    bl_fetch_min32_relaxed(&w->least32, 5000 - i);
    bl_fetch_min64_relaxed(&w->least64, (1ull << 40) - i);
    bl_fetch_and32_relaxed(&w->and32, ~(1u << i % 32));
    bl_fetch_and64_relaxed(&w->and64, ~(1ull << i % 64));
    bl_fetch_or32_relaxed(&w->or32, 1u << i % 32);
    bl_fetch_or64_relaxed(&w->or64, 1ull << i % 64);
    bl_fetch_xor32_relaxed(&w->xor32, i);
    bl_fetch_xor64_relaxed(&w->xor64, (uint64_t)i << 32);
    uint64_t found = (uint64_t)bl_exchange_float_relaxed(&w->float_last, (float)i);
    found += (uint64_t)bl_exchange_double_relaxed(&w->double_last, (double)i);
    bl_fetch_add64_relaxed(&w->old_sum, found);
}

#define BL_PROGRAM mix
#define BL_PAYLOAD bl_nothing
#define BL_SHARED words_at
#define BL_RUN mix_run
#define BL_MAX_SPAWN 0
#include <ballast/program.h>

static void test_words(void) {
    enum { COUNT = 600 };
    for (uint32_t workers = 1; workers <= 4; workers++) {
        words w = {.float_least = 1e30f,
                   .float_most = -1e30f,
                   .double_least = 1e300,
                   .double_most = -1e300,
                   .least32 = UINT32_MAX,
                   .least64 = UINT64_MAX,
                   .and32 = UINT32_MAX,
                   .and64 = UINT64_MAX};
        uint32_t xor = 0, sum = 0;
        bl_context *c;
        check_at("words, %u workers", workers);
        for (uint32_t i = 0; i < COUNT; i++) {
            xor ^= i;
            sum += i;
        }
        CHECK_SAME(bl_open(&c, &(bl_config){.device = DEVICE, .workers = workers}), BL_OK);
        CHECK_SAME(bl_run_range(c, PROGRAM(mix), &(words_at){&w}, &(bl_nothing){0}, COUNT, NULL), BL_OK);
        CHECK(w.float_sum == 300 && w.double_sum == 150);
        CHECK(w.float_least == -300.25f && w.float_most == 298.75f);
        CHECK(w.double_least == 401.5 && w.double_most == 1000.5);
        CHECK_SAME(w.least32, 4401);
        CHECK_SAME(w.least64, (1ull << 40) - 599);
        CHECK(w.and32 == 0 && w.and64 == 0 && w.or32 == UINT32_MAX && w.or64 == UINT64_MAX);
        CHECK_SAME(w.xor32, xor);
        CHECK_SAME(w.xor64, (uint64_t) xor << 32);
        CHECK_SAME(w.old_sum + (uint64_t)w.float_last + (uint64_t)w.double_last, 2 * sum); /* each was found once */
        CHECK_SAME(bl_close(c), BL_OK);
    }
    check_at("what they return, and NaN");
    float f = 2;
    double d = 2;
    CHECK(bl_fetch_add_float_relaxed(&f, 1) == 2 && bl_fetch_min_float_relaxed(&f, 5) == 3 && f == 3);
    CHECK(bl_fetch_max_float_relaxed(&f, NAN) == 3 && f == 3 && bl_fetch_min_float_relaxed(&f, -1) == 3 && f == -1);
    CHECK(bl_fetch_max_double_relaxed(&d, 7) == 2 && bl_fetch_max_double_relaxed(&d, 6) == 7 && d == 7);
    CHECK(bl_exchange_double_relaxed(&d, -2) == 7 && d == -2 && bl_fetch_add_double_relaxed(&d, 2) == -2 && d == 0);
}

/* ---- loops in parts ---- */

typedef struct hits {
    uint32_t *of; /* per index */
    uint32_t *spawned;
} hits;

static BL_TASK void hit_run(bl_task *t, const uint32_t *child, uint32_t index, const hits *h, bl_nothing *local) {
    (void)local;
    uint32_t next = 1;
    if (t->lane)
        return;
    if (*child) {
        bl_fetch_add32_relaxed(h->spawned, 1);
        return;
    }
    bl_fetch_add32_relaxed(h->of + bl_index(t, index), 1);
    if (index % 10 == 0)
        bl_spawn(t, &next);
}

#define BL_PROGRAM hit
#define BL_PAYLOAD uint32_t
#define BL_SHARED hits
#define BL_RUN hit_run
#include <ballast/program.h>

/* With small parts, so that it does not take long. */
static void test_parts(void) {
    enum { COUNT = 1050, PART = 100 };
    const char *scheduler;
    for (uint32_t i = 0; (scheduler = bl_scheduler_name(i)); i++) {
        uint32_t of[COUNT] = {0}, spawned = 0, once = 0, root = 0;
        hits h = {of, &spawned};
        bl_context *c;
        bl_stats stats;
        check_at("%s, a loop in parts", scheduler);
        CHECK_SAME(bl_open(&c, &(bl_config){.device = DEVICE, .scheduler = scheduler, .workers = 3}), BL_OK);
        c->most_indices = PART;
        CHECK_SAME(bl_run_range(c, PROGRAM(hit), &h, &root, COUNT, &stats), BL_OK);
        for (uint32_t k = 0; k < COUNT; k++)
            once += of[k] == 1;
        CHECK_SAME(once, COUNT);
        CHECK_SAME(spawned, COUNT / 10);
        CHECK_SAME(stats.tasks, COUNT + COUNT / 10);
        CHECK_SAME(stats.left, 0);
        CHECK(stats.launches >= COUNT / PART && stats.workers == 3);
        CHECK_SAME(bl_progress(c), stats.tasks);
        check_at("%s, a loop in parts, cancelled", scheduler);
        bl_cancel(c);
        CHECK_SAME(bl_run_range(c, PROGRAM(hit), &h, &root, COUNT, &stats), BL_ECANCEL);
        CHECK_SAME(stats.tasks + stats.left, COUNT);
        CHECK_SAME(bl_close(c), BL_OK);
    }
}

#ifndef BL_TARGET_SIM
/* Two workers on the same words, for long enough that they meet. */
enum { OFTEN = 1000000 / CHECK_SLOWER };
typedef struct contended {
    float sum, last;
    double most, double_last;
    uint64_t found, here;
} contended;

static void contend(bl_task *task, const void *payload, uint32_t index, const void *shared) {
    contended *c = *(contended *const *)shared;
    uint64_t found = 0;
    (void)task, (void)index;
    bl_fetch_add64_relaxed(&c->here, 1);
    for (int i = 0; bl_load64_relaxed(&c->here) < 2 && i < 100000; i++)
        bl_backoff(20);
    for (uint32_t i = 0; i < OFTEN; i++) {
        bl_fetch_add_float_relaxed(&c->sum, 1);
        bl_fetch_max_double_relaxed(&c->most, 2.0 * i + *(const uint32_t *)payload);
        found += (uint64_t)bl_exchange_float_relaxed(&c->last, (float)i);
        found += (uint64_t)bl_exchange_double_relaxed(&c->double_last, i);
    }
    bl_fetch_add64_relaxed(&c->found, found);
}

static void test_contended(void) {
    bl_program *program = bl_program_from_function(contend, 4, sizeof(contended *), 1);
    contended words = {.sum = 0}, *shared = &words;
    uint32_t roots[2] = {0, 1};
    bl_context *c;
    check_at("contended words");
    CHECK_SAME(bl_open(&c, &(bl_config){.device = "cpu", .workers = 2}), BL_OK);
    for (int i = 0; i < 5; i++) {
        words = (contended){.sum = 0};
        CHECK_SAME(bl_run(c, program, &shared, roots, 2, NULL), BL_OK);
        CHECK(words.sum == 2 * OFTEN && words.most == 2 * OFTEN - 1);
        CHECK_SAME(words.found + (uint64_t)words.last + (uint64_t)words.double_last, 2 * (uint64_t)OFTEN * (OFTEN - 1));
    }
    CHECK_SAME(bl_close(c), BL_OK);
    bl_program_free(program);
}

typedef struct span {
    uint64_t *count, *sum, *most;
} span;

/* The sum of the indices is taken modulo 2^64. */
static void add_span(uint64_t begin, uint64_t end, const void *shared) {
    const span *s = shared;
    uint64_t n = end - begin, a = n % 2 ? n : n / 2, b = n % 2 ? (begin + end - 1) / 2 : begin + end - 1;
    bl_fetch_add64_relaxed(s->count, n);
    bl_fetch_add64_relaxed(s->sum, a * b);
    bl_fetch_max64_relaxed(s->most, end);
}

static void test_long(void) {
    bl_program *program = bl_program_from_long_body(add_span, sizeof(span));
    static const uint64_t counts[] = {10, UINT32_MAX, 1ull << 32, (1ull << 32) + 1, 10000000019};
    for (uint32_t i = 0; i < 5; i++)
        for (uint32_t async = 0; async < 2; async++) {
            uint64_t count = 0, sum = 0, most = 0, n = counts[i];
            span s = {&count, &sum, &most};
            bl_context *c;
            bl_stats stats;
            check_at("a loop of %llu indices", (unsigned long long)n);
            CHECK_SAME(bl_open(&c, &(bl_config){.device = "cpu", .workers = 2}), BL_OK);
            if (async) {
                CHECK_SAME(bl_start_range(c, program, &s, NULL, n), BL_OK);
                CHECK_SAME(bl_wait(c, &stats), BL_OK);
            } else {
                CHECK_SAME(bl_run_range(c, program, &s, NULL, n, &stats), BL_OK);
            }
            CHECK_SAME(count, n);
            CHECK_SAME(stats.tasks, n);
            CHECK_SAME(most, n);
            CHECK_SAME(stats.launches, n <= UINT32_MAX ? 1 : (n + (1u << 31) - 1) >> 31); /* no parts without need */
            CHECK_SAME(sum, n % 2 ? n * ((n - 1) / 2) : n / 2 * (n - 1));
            CHECK_SAME(bl_close(c), BL_OK);
        }
    bl_program_free(program);
    CHECK(bl_program_from_long_body(NULL, 0) == NULL);
}
#endif

int main(void) {
    check_limit(300);
    test_words();
    test_parts();
#ifndef BL_TARGET_SIM
    test_contended();
    test_long();
#endif
    return check_end();
}
