/* The limits of a GPU, for comparison with the other rows. Nothing is scheduled here.
 *
 *     ceilings_gpu [--repeats N] [--csv]
 *
 * Device time for a fixed amount of work, with as many lanes as can be resident; every result is verified.
 *
 *     faa      fetch-and-add on one word, whose results are used. "lanes": one per lane, which the compiler cannot
 *              combine; "lanes by literal 1": it combines those of a warp into one; "one lane per warp". The rate is
 *              in tickets
 *     copy     device memory, read and written once; the rate counts both, in bytes
 *     launch   empty kernels one after another in a stream
 *     sha1     hashes of UTS nodes, a chain per lane */
#include "peers_cuda.h"

#include "queues/atomics.h"
#include "peers/ceilings.h"

enum { BLOCK = 256, LAUNCHES = 1000, CHAIN = 1024, CHECKED = 512, TICKETS = 1 << 24, COPIED = 1 << 30 };

typedef struct bench_gpu {
    peers_request request;
    peers_clock clock;
} bench_gpu;

/* ---- measuring ---- */

/* Verifies the first run. */
template <class Clear, class Work, class Right>
static void measure(const bench_gpu *g, const char *load, const char *method, double amount, const char *unit,
                    Clear clear, Work work, Right right) {
    bench_times times = {{0}, 0};
    for (uint32_t i = 0; i <= g->request.repeats; i++) {
        clear();
        double seconds = peers_seconds(g->clock, work);
        if (i == 0 && !right())
            peers_fail(method, "wrong result");
        if (i > 0)
            bench_add(&times, seconds);
    }
    bench_spread s = bench_sum_up(&times);
    if (g->request.csv)
        peers_csv_rows(load, method, &times, 0, (uint64_t)amount);
    else
        printf("%-8s %-20s %10.4f %10.4f %10.4f %12.3f %s\n", load, method, 1e3 * s.median, 1e3 * s.least, 1e3 * s.most,
               1e-9 * amount / s.median, unit);
    fflush(stdout);
}

template <class Kernel> static uint32_t resident_lanes(Kernel kernel) {
    int device = 0, processors = 0, blocks = 0;
    peers_must(cudaGetDevice(&device), "the device");
    peers_must(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device), "the device");
    peers_must(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, BLOCK, 0), "the device");
    return (uint32_t)(processors * blocks * BLOCK);
}

static __device__ uint32_t lane_number(void) { return blockIdx.x * blockDim.x + threadIdx.x; }

/* ---- fetch-and-add ---- */

/* Each caller writes the sum of the squares of its tickets to w.out, as the loops of atomics.h do. */
static __global__ void __launch_bounds__(BLOCK) faa_lanes(bench_words w) { bench_faa(&w, lane_number()); }

static __global__ void __launch_bounds__(BLOCK) faa_literal(bench_words w) {
    uint64_t out = 0;
    for (uint32_t i = 0; i < w.times; i++) {
        uint64_t ticket = atomicAdd(w.shared, 1u);
        out += ticket * ticket;
    }
    w.out[lane_number()] = out;
}

static __global__ void __launch_bounds__(BLOCK) faa_warps(bench_words w) {
    if (threadIdx.x % 32 == 0)
        bench_faa(&w, lane_number() / 32);
}

static bool tickets_right(const bench_words *w, uint32_t callers) {
    uint64_t *out = peers_host_memory<uint64_t>(callers), sum = 0, right = 0;
    uint32_t last = 0;
    peers_download(out, w->out, callers);
    peers_download(&last, w->shared, 1);
    for (uint32_t i = 0; i < callers; i++)
        sum += out[i];
    for (uint64_t i = 0; i < (uint64_t)callers * w->times; i++)
        right += i * i;
    free(out);
    return last == callers * w->times && sum == right;
}

/* One lane in `per` calls. */
template <class Kernel> static void measure_faa(const bench_gpu *g, const char *method, Kernel kernel, uint32_t per) {
    uint32_t lanes = resident_lanes(kernel), callers = lanes / per;
    bench_words w = {peers_device_memory<uint32_t>(1), NULL, peers_device_memory<uint64_t>(callers),
                     TICKETS / callers + 1};
    measure(
        g, "faa", method, (double)callers * w.times, "G/s",
        [=] { peers_must(cudaMemset(w.shared, 0, sizeof *w.shared), "clearing"); },
        [=](cudaStream_t stream) { kernel<<<lanes / BLOCK, BLOCK, 0, stream>>>(w); },
        [=] { return tickets_right(&w, callers); });
    cudaFree(w.shared);
    cudaFree(w.out);
}

/* ---- copy ---- */

static __global__ void fill(uint4 *memory, size_t count) {
    for (size_t i = lane_number(); i < count; i += (size_t)gridDim.x * blockDim.x) {
        uint32_t x = (uint32_t)i * 2654435761u;
        memory[i] = make_uint4(x, x ^ 1, x ^ 2, x ^ 3);
    }
}

static __global__ void copy(const uint4 *from, uint4 *to, size_t count) {
    for (size_t i = lane_number(); i < count; i += (size_t)gridDim.x * blockDim.x)
        to[i] = from[i];
}

static __global__ void compare(const uint4 *a, const uint4 *b, size_t count, uint32_t *differ) {
    for (size_t i = lane_number(); i < count; i += (size_t)gridDim.x * blockDim.x)
        if (a[i].x != b[i].x || a[i].y != b[i].y || a[i].z != b[i].z || a[i].w != b[i].w)
            *differ = 1;
}

static bool copy_right(const uint4 *from, const uint4 *to, size_t count, uint32_t blocks) {
    uint32_t differ = 0, *seen = peers_upload(&differ, 1);
    compare<<<blocks, BLOCK>>>(from, to, count, seen);
    peers_download(&differ, seen, 1);
    cudaFree(seen);
    return differ == 0;
}

static void measure_copies(const bench_gpu *g) {
    size_t count = COPIED / sizeof(uint4);
    uint32_t blocks = resident_lanes(copy) / BLOCK;
    uint4 *from = peers_device_memory<uint4>(count), *to = peers_device_memory<uint4>(count);
    fill<<<blocks, BLOCK>>>(from, count);
    auto clear = [=] { peers_must(cudaMemset(to, 0, COPIED), "clearing"); };
    auto right = [=] { return copy_right(from, to, count, blocks); };
    measure(
        g, "copy", "cudaMemcpy", 2.0 * COPIED, "GB/s", clear,
        [=](cudaStream_t stream) {
            peers_must(cudaMemcpyAsync(to, from, COPIED, cudaMemcpyDeviceToDevice, stream), "copying");
        },
        right);
    measure(
        g, "copy", "kernel", 2.0 * COPIED, "GB/s", clear,
        [=](cudaStream_t stream) { copy<<<blocks, BLOCK, 0, stream>>>(from, to, count); }, right);
    cudaFree(from);
    cudaFree(to);
}

/* ---- launches ---- */

static __global__ void nothing(void) {}

static void measure_launches(const bench_gpu *g) {
    measure(
        g, "launch", "empty kernels", LAUNCHES, "G/s", [] {},
        [](cudaStream_t stream) {
            for (int i = 0; i < LAUNCHES; i++)
                nothing<<<1, 32, 0, stream>>>();
        },
        [] { return true; });
}

/* ---- SHA-1 ---- */

static __global__ void __launch_bounds__(BLOCK) hash(uint32_t *ends) {
    ends[lane_number()] = ceilings_chain(lane_number(), CHAIN);
}

/* Verifies the first and last chains on the CPU. */
static bool chains_right(const uint32_t *ends, uint32_t lanes) {
    uint32_t *host = peers_host_memory<uint32_t>(lanes);
    bool good = true;
    peers_download(host, ends, lanes);
    for (uint32_t i = 0; i < CHECKED && good; i++)
        good = host[i] == ceilings_twin(i, CHAIN) && host[lanes - 1 - i] == ceilings_twin(lanes - 1 - i, CHAIN);
    free(host);
    return good;
}

static void measure_hashes(const bench_gpu *g) {
    uint32_t lanes = resident_lanes(hash), *ends = peers_device_memory<uint32_t>(lanes);
    measure(
        g, "sha1", "chains", (double)lanes * CHAIN, "G/s",
        [=] { peers_must(cudaMemset(ends, 0, lanes * sizeof *ends), "clearing"); },
        [=](cudaStream_t stream) { hash<<<lanes / BLOCK, BLOCK, 0, stream>>>(ends); },
        [=] { return chains_right(ends, lanes); });
    cudaFree(ends);
}

int main(int argc, char **argv) {
    bench_gpu g;
    g.request = {11, false};
    for (int i = 1; i < argc; i++)
        if (!peers_option(&g.request, argc, argv, &i))
            return peers_usage("");
    peers_need_gpu();
    g.clock = peers_clock_open();
    if (g.request.csv)
        peers_csv_head();
    else
        printf("milliseconds, medians of %u\n%-8s %-20s %10s %10s %10s %12s\n", g.request.repeats, "what", "how",
               "median", "least", "most", "rate");
    measure_faa(&g, "lanes", faa_lanes, 1);
    measure_faa(&g, "lanes by literal 1", faa_literal, 1);
    measure_faa(&g, "one lane per warp", faa_warps, 32);
    measure_copies(&g);
    measure_launches(&g);
    measure_hashes(&g);
    peers_clock_close(&g.clock);
    return 0;
}
