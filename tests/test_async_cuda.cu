/* Started runs on a GPU: their order with streams of the user, pauses and launches included, and what a task that fails
 * leaves. Skipped without a GPU. */
#include <ballast/task.h>

/* ---- a tree whose tasks take a while, in small queues, so that the run pauses and grows ---- */

typedef struct tree_node {
    uint32_t depth, fails;
} tree_node;
typedef struct tree_shared {
    unsigned long long *tasks;
    uint32_t *least; /* in sum: of what all tasks saw in `before` */
    float *floats;   /* sum, least, most */
    const uint32_t *before;
    uint32_t workers;
    uint32_t *wrong;
} tree_shared;
typedef struct tree_local {
    unsigned long long tasks;
    uint32_t worker, begun;
} tree_local;

static BL_TASK void tree_begin(const tree_shared *, tree_local *local, uint32_t worker) {
    local->worker = worker;
    local->begun = 1;
}

static BL_TASK void tree_run(bl_task *t, const tree_node *n, uint32_t index, const tree_shared *s, tree_local *local) {
    if (!local->begun || local->worker != t->worker || t->worker >= s->workers)
        bl_fetch_add32_relaxed(s->wrong, 1);
    local->tasks++;
    bl_fetch_min32_relaxed(s->least, bl_load32_relaxed(s->before));
    bl_fetch_add_float_relaxed(s->floats, 1.0f);
    bl_fetch_min_float_relaxed(s->floats + 1, (float)n->depth);
    bl_fetch_max_float_relaxed(s->floats + 2, (float)n->depth);
    bl_spend(2000);
    if (n->fails && n->depth == 3 && index == 1)
        bl_fail(t, 42, n);
    tree_node next = {n->depth - 1, n->fails};
    if (n->depth)
        bl_spawn_n(t, &next, 3);
}

static BL_TASK void tree_merge(const tree_shared *s, const tree_local *local) {
    bl_fetch_add64_relaxed((uint64_t *)s->tasks, local->tasks);
}

#define BL_PROGRAM tree
#define BL_PAYLOAD tree_node
#define BL_SHARED tree_shared
#define BL_LOCAL tree_local
#define BL_BEGIN tree_begin
#define BL_RUN tree_run
#define BL_MERGE tree_merge
#define BL_LANE_TASKS 1
#include <ballast/program.h>

#include "check.h"
#include <stdlib.h>

enum { DEPTH = 12, TASKS = 797161 }; /* (3^13 - 1) / 2 */

/* Until the host says so; a second at most. */
static __global__ void wait_and_set(uint32_t *word, const volatile uint32_t *told) {
    long long begun = clock64();
    while (!*told && clock64() - begun < 2000000000)
        ;
    *word = 1;
}

static __global__ void copy_number(const unsigned long long *from, unsigned long long *to) { *to = *from; }

typedef struct memory {
    unsigned long long *tasks, *seen;
    uint32_t *words; /* before, least, wrong */
    float *floats;
} memory;

static bl_context *open_cuda(bl_config config) {
    bl_context *c = NULL;
    config.device = "cuda";
    config.capacity = 2;       /* pauses */
    config.stall_seconds = 30; /* a hold in the way of the run itself */
    config.private_entries = 8;
    CHECK_SAME(bl_open(&c, &config), BL_OK);
    return c;
}

static void *alloc(bl_context *c, size_t bytes) {
    void *memory = NULL;
    CHECK_SAME(bl_alloc(c, &memory, bytes), BL_OK);
    CHECK_SAME(bl_zero(c, memory, bytes), BL_OK);
    return memory;
}

static memory make_memory(bl_context *c) {
    memory m = {(unsigned long long *)alloc(c, 8), (unsigned long long *)alloc(c, 8), (uint32_t *)alloc(c, 12),
                (float *)alloc(c, 12)};
    const uint32_t words[3] = {0, UINT32_MAX, 0};
    const float floats[3] = {0, 1e30f, -1e30f};
    CHECK_SAME(bl_copy_in(c, m.words, words, sizeof words), BL_OK);
    CHECK_SAME(bl_copy_in(c, m.floats, floats, sizeof floats), BL_OK);
    return m;
}

static tree_shared shared_of(bl_context *c, const memory *m) {
    tree_shared s = {m->tasks, m->words + 1, m->floats, m->words, 0, m->words + 2};
    CHECK_SAME(bl_workers(c, tree_cuda(), &s.workers), BL_OK);
    return s;
}

/* Streams that hold what is in them until the whole run is over, and a run that waits for one. */
static void test_streams(uint32_t held) {
    bl_config config{};
    config.workers = 64; /* few, so that each has more than its stack holds; thousands may get by without a pause */
    bl_context *c = open_cuda(config);
    memory m = make_memory(c);
    tree_shared s = shared_of(c, &m);
    tree_node root = {DEPTH, 0};
    bl_stats stats;
    cudaStream_t before, after[64];
    unsigned long long seen = 0, *all[64];
    uint32_t words[3];
    float floats[3];
    check_at("%u held streams", held);
    CHECK_SAME(cudaStreamCreateWithFlags(&before, cudaStreamNonBlocking), cudaSuccess);
    for (uint32_t i = 0; i < held; i++) {
        CHECK_SAME(cudaStreamCreateWithFlags(after + i, cudaStreamNonBlocking), cudaSuccess);
        all[i] = (unsigned long long *)alloc(c, 8);
    }
    volatile uint32_t *told;
    CHECK_SAME(cudaMallocHost((void **)&told, sizeof *told), cudaSuccess);
    *told = 0;
    wait_and_set<<<1, 1, 0, before>>>(m.words, told);
    CHECK_SAME(bl_start_after(c, before), BL_OK);
    CHECK_SAME(bl_start(c, tree_cuda(), &s, &root, 1), BL_OK);
    for (uint32_t i = 0; i < held; i++) {
        CHECK_SAME(bl_hold_stream(c, after[i]), BL_OK);
        copy_number<<<1, 1, 0, after[i]>>>(m.tasks, all[i]);
    }
    CHECK_SAME(cudaStreamQuery(after[0]), cudaErrorNotReady);
    *told = 1;
    CHECK_SAME(bl_wait(c, &stats), BL_OK);
    CHECK_SAME(stats.tasks, TASKS);
    CHECK(stats.pauses > 0); /* or the test shows little */
    for (uint32_t i = 0; i < held; i++) {
        CHECK_SAME(cudaStreamSynchronize(after[i]), cudaSuccess);
        CHECK_SAME(bl_copy_out(c, &seen, all[i], sizeof seen), BL_OK);
        CHECK_SAME(seen, TASKS); /* it has waited for the last task of the last launch */
    }
    CHECK_SAME(bl_copy_out(c, words, m.words, sizeof words), BL_OK);
    CHECK_SAME(bl_copy_out(c, floats, m.floats, sizeof floats), BL_OK);
    CHECK_SAME(words[1], 1); /* no task began before the other stream was done */
    CHECK_SAME(words[2], 0);
    CHECK(floats[0] == (float)TASKS && floats[1] == 0 && floats[2] == DEPTH);
    check_at("a stream held while nothing is under way");
    CHECK_SAME(bl_hold_stream(c, after[0]), BL_OK);
    CHECK_SAME(cudaStreamSynchronize(after[0]), cudaSuccess);
    for (uint32_t i = 0; i < held; i++)
        cudaStreamDestroy(after[i]);
    cudaStreamDestroy(before);
    cudaFreeHost((void *)told);
    CHECK_SAME(bl_close(c), BL_OK);
}

/* Copies and a run in the order in which they were started, and a close that waits. */
static void test_order(void) {
    bl_context *c = open_cuda(bl_config{});
    memory m = make_memory(c);
    tree_shared s = shared_of(c, &m);
    tree_node root = {DEPTH, 0};
    const unsigned long long ten = 10;
    unsigned long long out = 0;
    check_at("copies and a run");
    CHECK_SAME(bl_start_copy_in(c, m.tasks, &ten, sizeof ten), BL_OK);
    CHECK_SAME(bl_start(c, tree_cuda(), &s, &root, 1), BL_OK);
    CHECK_SAME(bl_start(c, tree_cuda(), &s, &root, 1), BL_EBUSY);
    CHECK_SAME(bl_start_copy_out(c, &out, m.tasks, sizeof out), BL_OK);
    CHECK_SAME(bl_close(c), BL_OK);
    CHECK_SAME(out, TASKS + 10);
}

static void count_left(void *arg, const void *payload, uint32_t begin, uint32_t end) {
    *(uint64_t *)arg += ((const tree_node *)payload)->fails == 1 ? end - begin : UINT64_MAX / 2;
}

static void test_failure(void) {
    bl_config config{};
    uint64_t left = 0, error = 0;
    config.left = count_left;
    config.left_arg = &left;
    bl_context *c = open_cuda(config);
    memory m = make_memory(c);
    tree_shared s = shared_of(c, &m);
    tree_node root = {DEPTH, 1};
    bl_stats stats;
    cudaStream_t after;
    check_at("a task that fails");
    CHECK_SAME(cudaStreamCreate(&after), cudaSuccess);
    CHECK_SAME(bl_start(c, tree_cuda(), &s, &root, 1), BL_OK);
    CHECK_SAME(bl_hold_stream(c, after), BL_OK);
    CHECK_SAME(bl_wait(c, &stats), BL_ETASK);
    CHECK_SAME(cudaStreamSynchronize(after), cudaSuccess); /* it is not held for ever */
    const tree_node *failed = (const tree_node *)bl_failure(c, &error);
    CHECK(failed && failed->depth == 3 && failed->fails == 1);
    CHECK_SAME(error, 42);
    CHECK(stats.left > 0);
    CHECK_SAME(stats.left, left);
    check_at("the next run");
    root.fails = 0;
    CHECK_SAME(bl_run(c, tree_cuda(), &s, &root, 1, &stats), BL_OK);
    CHECK_SAME(stats.tasks, TASKS);
    CHECK_SAME(stats.left, 0);
    cudaStreamDestroy(after);
    CHECK_SAME(bl_close(c), BL_OK);
}

/* On the stream of the user bl_zero comes before what is put there next, at any address. */
static void test_zero(void) {
    enum { WORDS = 16 };
    uint32_t words[WORDS];
    unsigned long long seen = 1, *result;
    cudaStream_t mine;
    check_at("bl_zero on the user's stream");
    CHECK_SAME(cudaStreamCreate(&mine), cudaSuccess);
    bl_config config{};
    config.stream = mine;
    bl_context *c = open_cuda(config);
    uint32_t *device = (uint32_t *)alloc(c, sizeof words);
    result = (unsigned long long *)alloc(c, sizeof *result);
    memset(words, 255, sizeof words);
    CHECK_SAME(bl_copy_in(c, device, words, sizeof words), BL_OK);
    CHECK_SAME(bl_zero(c, device + 4, 16), BL_OK);
    copy_number<<<1, 1, 0, mine>>>((const unsigned long long *)(const void *)(device + 4), result);
    CHECK_SAME(cudaStreamSynchronize(mine), cudaSuccess);
    CHECK_SAME(bl_copy_out(c, &seen, result, sizeof seen), BL_OK);
    CHECK_SAME(seen, 0);
    CHECK_SAME(bl_zero(c, device + 9, 16), BL_OK); /* no multiple of 16 bytes */
    CHECK_SAME(bl_copy_out(c, words, device, sizeof words), BL_OK);
    for (uint32_t i = 0; i < WORDS; i++)
        CHECK_SAME(words[i], (i >= 4 && i < 8) || (i >= 9 && i < 13) ? 0 : UINT32_MAX);
    CHECK_SAME(bl_close(c), BL_OK);
    cudaStreamDestroy(mine);
}

static void test_wrong_streams(void) {
    cudaStream_t mine, other = NULL;
    int devices = 0;
    check_at("wrong streams");
    CHECK_SAME(cudaStreamCreate(&mine), cudaSuccess);
    bl_config config{};
    config.stream = mine;
    bl_context *c = open_cuda(config);
    CHECK_SAME(bl_hold_stream(c, mine), BL_EINVAL);
    CHECK(strstr(bl_error_detail(NULL), "config.stream") != NULL);
    CHECK_SAME(bl_start_after(c, mine), BL_EINVAL);
    CHECK_SAME(bl_hold_stream(c, NULL), BL_EINVAL);
    CHECK(strstr(bl_error_detail(NULL), "NULL") != NULL);
    CHECK_SAME(cudaGetDeviceCount(&devices), cudaSuccess);
    if (devices > 1) {
        CHECK_SAME(cudaSetDevice(1), cudaSuccess);
        CHECK_SAME(cudaStreamCreate(&other), cudaSuccess);
        CHECK_SAME(bl_hold_stream(c, other), BL_EINVAL);
        CHECK(strstr(bl_error_detail(NULL), "device") != NULL);
        CHECK_SAME(bl_start_after(c, other), BL_EINVAL);
        cudaStreamDestroy(other);
        CHECK_SAME(cudaSetDevice(0), cudaSuccess);
    }
    CHECK_SAME(bl_close(c), BL_OK);
    cudaStreamDestroy(mine);
}

/* A run is told to stop while the GPU still has other work to do before it. */
static void test_late_begin(int cancels) {
    enum { DEEP = 18 };
    bl_config config{};
    cudaStream_t mine;
    volatile uint32_t *told;
    tree_node root = {DEEP, 0};
    bl_stats stats;
    check_at(cancels ? "cancelled before it begins" : "out of time before it begins");
    CHECK_SAME(cudaStreamCreateWithFlags(&mine, cudaStreamNonBlocking), cudaSuccess);
    CHECK_SAME(cudaMallocHost((void **)&told, sizeof *told), cudaSuccess);
    config.device = "cuda";
    config.stream = mine;
    config.time_limit = cancels ? 0 : 0.01;
    bl_context *c = NULL;
    CHECK_SAME(bl_open(&c, &config), BL_OK);
    memory m = make_memory(c);
    tree_shared s = shared_of(c, &m);
    for (int round = 0; round < 3; round++) { /* the first one allocates, and waits for the stream */
        *told = 0;
        wait_and_set<<<1, 1, 0, mine>>>(m.words, told);
        CHECK_SAME(bl_start(c, tree_cuda(), &s, &root, 1), BL_OK);
        usleep(20000);
        if (cancels)
            bl_cancel(c);
        usleep(20000);
        *told = 1;
        CHECK_SAME(bl_wait(c, &stats), cancels ? BL_ECANCEL : BL_ETIME);
        CHECK(stats.left > 0);
        CHECK_SAME(bl_reset(c), BL_OK);
    }
    CHECK_SAME(bl_close(c), BL_OK);
    cudaFreeHost((void *)told);
    cudaStreamDestroy(mine);
}

/* Runs of several contexts overlap: the sum of their times is more than the time they take together. */
static void test_overlap(void) {
    enum { CONTEXTS = 3 };
    bl_context *c[CONTEXTS];
    tree_node root = {DEPTH, 0};
    bl_stats stats;
    check_at("several contexts");
    for (int i = 0; i < CONTEXTS; i++) {
        bl_config config{};
        config.workers = 64;
        c[i] = open_cuda(config);
    }
    for (int i = 0; i < CONTEXTS; i++) {
        memory m = make_memory(c[i]);
        tree_shared s = shared_of(c[i], &m);
        CHECK_SAME(bl_start(c[i], tree_cuda(), &s, &root, 1), BL_OK);
    }
    for (int i = 0; i < CONTEXTS; i++) {
        CHECK_SAME(bl_wait(c[i], &stats), BL_OK);
        CHECK_SAME(stats.tasks, TASKS);
        CHECK_SAME(bl_close(c[i]), BL_OK);
    }
}

/* Streams are held while the thread of the context sets up its first run, which takes longest. */
static void test_hold_at_once(void) {
    enum { CONTEXTS = 30, HELD = 16, LITTLE = 2, LITTLE_TASKS = 13 };
    cudaStream_t after[HELD];
    check_at("streams held at once");
    for (cudaStream_t &stream : after)
        CHECK_SAME(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
    for (int i = 0; i < CONTEXTS; i++) {
        bl_context *c = open_cuda(bl_config{});
        memory m = make_memory(c);
        tree_shared s = shared_of(c, &m);
        tree_node root = {LITTLE, 0};
        bl_stats stats;
        CHECK_SAME(bl_start(c, tree_cuda(), &s, &root, 1), BL_OK);
        for (cudaStream_t stream : after)
            CHECK_SAME(bl_hold_stream(c, stream), BL_OK);
        CHECK_SAME(bl_wait(c, &stats), BL_OK);
        CHECK_SAME(stats.tasks, LITTLE_TASKS);
        CHECK_SAME(bl_close(c), BL_OK);
    }
    for (cudaStream_t stream : after) {
        CHECK_SAME(cudaStreamSynchronize(stream), cudaSuccess);
        cudaStreamDestroy(stream);
    }
}

int main(void) {
    check_limit(100);
    setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 1); /* so that held streams are in nobody's way */
    setenv("CUDA_MODULE_LOADING", "EAGER", 1);      /* to load a kernel later may wait for all streams */
    bl_device_info info;
    if (!bl_device_find("cuda", &info)) {
        printf("no GPU\n");
        return CHECK_SKIPPED;
    }
    test_order();
    test_failure();
    test_wrong_streams();
    test_zero();
    test_overlap();
    test_late_begin(0);
    test_late_begin(1);
    test_streams(1);
    test_streams(16);
    test_hold_at_once();
    return check_end();
}
