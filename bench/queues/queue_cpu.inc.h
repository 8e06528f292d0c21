/* Template: the contender BL_QUEUE on the CPU, and its description. The build includes it once per queue. */
#include "contender.h"

#include "queue_loop.inc.h"

static size_t LOOP(bytes)(bl_shape shape, uint32_t group) {
#ifdef BENCH_MANY
    return BL_QUEUE_(bytes)(shape, group);
#else
    return (void)group, BL_QUEUE_(bytes)(shape);
#endif
}

static void LOOP(init_cpu)(const bench_job *j, uint32_t rank, uint32_t size) { LOOP(init)(j, rank, size); }
static void LOOP(fill_cpu)(const bench_job *j, uint32_t rank, uint32_t size) { LOOP(fill)(j, rank, size); }

/* Threads take long to start, so they run until a common end time. */
static void LOOP(ten_cpu)(const bench_job *j, uint32_t rank, uint32_t size) {
    (void)size;
    BL_QUEUE q;
    LOOP(bind)(&q, j, rank);
    uint32_t first = bench_first(j, rank), value = first, rounds = 0;
    uint64_t out = 0;
    do {
        out += LOOP(ten)(&q, value);
        value += BENCH_PAIRS;
        if (value - first >= j->stride)
            value = first;
        rounds++;
    } while (rounds % BENCH_ROUNDS != 0 || bl_time() < j->until);
    j->out[rank] = out;
    j->pushes[rank] = j->pops[rank] = rounds * BENCH_PAIRS;
}

static void LOOP(mixed_cpu)(const bench_job *j, uint32_t rank, uint32_t size) { (void)size, LOOP(mixed)(j, rank); }
static void LOOP(owner_cpu)(const bench_job *j, uint32_t rank, uint32_t size) {
    (void)size;
    if (rank == 0)
        LOOP(owner)(j, rank);
    else
        LOOP(thief)(j, rank);
}
static void LOOP(drain_cpu)(const bench_job *j, uint32_t rank, uint32_t size) { (void)size, LOOP(drain)(j, rank); }

#ifdef BENCH_MANY /* the description of one of them */
#define BENCH_FACT(x) BL_CAT(BENCH_MANY, _##x)
#else
#define BENCH_FACT(x) BL_QUEUE_(x)
#endif
#define BENCH_CUDA BL_CAT(bench_cuda_, BL_QUEUE)
#ifdef BL_HAVE_CUDA
extern const bench_cuda_code BENCH_CUDA;
#endif

extern const bench_contender BL_CAT(bench_cpu_, BL_QUEUE);
const bench_contender BL_CAT(bench_cpu_, BL_QUEUE) = {
    .name = BL_QUEUE_NAME(BL_QUEUE),
    .text = BENCH_FACT(TEXT),
    .progress = BENCH_FACT(PROGRESS),
    .devices = BENCH_FACT(DEVICES),
    .kind = BENCH_FACT(KIND),
    .flags = BENCH_FACT(FLAGS),
    .by_handle = BENCH_FACT(BY_HANDLE),
#ifdef BENCH_MANY
    .many = 1,
#endif
    .least = BENCH_FACT(LEAST),
    .most_threads = BENCH_FACT(MOST_THREADS),
    .bytes = LOOP(bytes),
    .cpu = {LOOP(init_cpu), LOOP(fill_cpu), LOOP(ten_cpu), LOOP(mixed_cpu), LOOP(owner_cpu), LOOP(drain_cpu)},
#ifdef BL_HAVE_CUDA
    .cuda = &BENCH_CUDA,
#endif
};

#undef BENCH_CUDA
#undef BENCH_FACT
#undef LOOP
#undef BL_QUEUE_
