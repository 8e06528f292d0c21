/* The host's side of ranges.inc.h, the same for threads and the simulated machine. Before including it, a test defines
 *
 *     ranges_entry                            what runs a case of a range
 *     ranges_launch(entry, client, what)      runs a case with client->threads threads; false if they did not come back
 *     RANGES_PATIENCE                         ticks
 */
#ifndef BALLAST_TESTS_RANGES_HOST_H
#define BALLAST_TESTS_RANGES_HOST_H

typedef struct ranges_range {
    const char *name;
    ranges_entry entry;
    size_t (*bytes)(void);
} ranges_range;

static const ranges_range ranges[] = {
#define X(name) {BL_QUEUE_NAME(name), name##_case, name##_bytes},
    BL_RANGES(X)
#undef X
};
enum { RANGES = sizeof ranges / sizeof ranges[0] };

/* Where the indices lie: small ones, those around 2^31, and the last valid ones. */
static const uint32_t ranges_bases[] = {1, 0x7fffffe0u, UINT32_MAX - RANGES_MOST - 16};

static ranges_client ranges_shape(uint32_t threads, uint32_t span, uint32_t steps, uint32_t same, uint32_t base,
                                  uint32_t seed) {
    ranges_client c;
    memset(&c, 0, sizeof c);
    c.threads = threads;
    c.span = span;
    c.steps = steps;
    c.same = same;
    c.base = base;
    c.seed = seed;
    c.patience = RANGES_PATIENCE;
    return c;
}

/* False if something was wrong. */
static bool ranges_run(const ranges_range *r, ranges_client c, ranges_what what) {
    static const char *const names[] = {"alone", "walk", "set-up", "traffic", "drain", "audit"};
    c.memory = aligned_alloc(BL_LINE, r->bytes());
    if (!c.memory)
        abort();
    memset(c.memory, 0xa5, r->bytes());
    check_at("%s %s, %u threads, base %u, seed %u", r->name, names[what], c.threads, c.base, c.seed);
    bool came_back = true;
    if (what > RANGES_SET_UP)
        r->entry(&c, RANGES_SET_UP, 0);
    if (c.threads == 1)
        r->entry(&c, what, 0);
    else
        came_back = ranges_launch(r->entry, &c, what);
    if (came_back && what > RANGES_SET_UP)
        r->entry(&c, RANGES_AUDIT, 0);
    free(c.memory);
    if (came_back && c.report.failures == 0)
        return check_passed++, true;
    check_failed++;
    printf("ranges.inc.h:%u: failed: %s: rank %u: got %u (0x%x), wanted %u; %u failures%s\n", c.report.line,
           check_doing, c.report.rank, c.report.got, c.report.got, c.report.wanted, c.report.failures,
           came_back ? "" : "; the threads did not come back");
    return false;
}

static void ranges_all_alone(const ranges_range *r, uint32_t steps) {
    for (uint32_t i = 0; i < 3; i++) {
        ranges_run(r, ranges_shape(1, RANGES_MOST, 0, 0, ranges_bases[i], 1), RANGES_ALONE);
        for (uint32_t seed = 1; seed <= 5; seed++)
            ranges_run(r, ranges_shape(1, RANGES_MOST, steps, 0, ranges_bases[i], seed), RANGES_WALK);
    }
}

#endif
