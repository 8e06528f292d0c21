/* The octree compared with a sort on a GPU, in one run, interleaved.
 *
 *     octree_gpu [--repeats N] [--csv] [PARTICLES[:DISTRIBUTION] ...]      500k 1M 5M 15M 500k:tube 15M:tube ...
 *
 * Octrees can also be built by sorting: a particle's Morton key is the path of its octant, and sorting by it brings the
 * particles of each octant together. The peer is the core of that method: 30-bit keys (ten levels) and
 * cub::DeviceRadixSort of keys and indices, and with "move" also the particles in that order, as our tree has them. It
 * builds no nodes and finds no leaves, so it is a lower bound for such an octree; ours builds them, up to 20 levels
 * deep.
 *
 * Device time for the same particles, excluding allocation. Our tree is compared with the sequential twin's; the peer's
 * keys must be sorted, and its indices must be the matching permutation. */
#include "peers_cuda.h"

extern "C" {
#include "octree/points.h"
#include "common/parse.h"
}

#include <cub/device/device_radix_sort.cuh>

enum { BLOCK = 256, LEVELS = 10, KEY_BITS = 3 * LEVELS };

/* ---- keys ---- */

/* Inserts two zeros after each of ten bits. */
static __host__ __device__ uint32_t spread_bits(uint32_t x) {
    x = (x | x << 16) & 0x030000ffu;
    x = (x | x << 8) & 0x0300f00fu;
    x = (x | x << 4) & 0x030c30c3u;
    return (x | x << 2) & 0x09249249u;
}

/* Coordinates lie in [0, 1). The bits are in the order of our paths: x lowest. */
static __host__ __device__ uint32_t key_of(const octree_particle *p) {
    const float side = 1u << LEVELS;
    return spread_bits((uint32_t)(p->x * side)) | spread_bits((uint32_t)(p->y * side)) << 1 |
           spread_bits((uint32_t)(p->z * side)) << 2;
}

static __global__ void make_keys(const octree_particle *particles, uint32_t *keys, uint32_t *ids, uint32_t count) {
    uint32_t i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < count) {
        octree_particle p = particles[i];
        keys[i] = key_of(&p);
        ids[i] = i;
    }
}

static __global__ void move(const octree_particle *particles, const uint32_t *ids, octree_particle *moved,
                            uint32_t count) {
    uint32_t i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < count)
        moved[i] = particles[ids[i]];
}

/* ---- the peer ---- */

typedef struct sorter {
    points input;
    octree_particle *particles, *moved; /* on the device, like all that follows */
    uint32_t *keys[2], *ids[2];
    uint32_t *sorted_keys, *sorted_ids; /* of the last run */
    void *room;
    size_t room_bytes;
    peers_clock clock;
} sorter;

/* Without `room`, determines how much it needs. */
static cudaError_t sort(sorter *s, void *room, cudaStream_t stream) {
    cub::DoubleBuffer<uint32_t> keys(s->keys[0], s->keys[1]), ids(s->ids[0], s->ids[1]);
    cudaError_t error =
        cub::DeviceRadixSort::SortPairs(room, s->room_bytes, keys, ids, (int)s->input.count, 0, KEY_BITS, stream);
    s->sorted_keys = keys.Current();
    s->sorted_ids = ids.Current();
    return error;
}

static void sorter_open(sorter *s, uint32_t count, points_kind kind) {
    memset(s, 0, sizeof *s);
    if (!points_make(&s->input, kind, count, 1)) /* the same as the application's */
        peers_fail("host", "out of memory");
    s->particles = peers_upload(s->input.at, count);
    s->moved = peers_device_memory<octree_particle>(count);
    for (int i = 0; i < 2; i++) {
        s->keys[i] = peers_device_memory<uint32_t>(count);
        s->ids[i] = peers_device_memory<uint32_t>(count);
    }
    peers_must(sort(s, NULL, 0), "CUB");
    s->room = peers_device_memory<char>(s->room_bytes);
    s->clock = peers_clock_open();
}

static double sorter_run(sorter *s, bool moves) {
    uint32_t count = s->input.count, blocks = (count + BLOCK - 1) / BLOCK;
    return peers_seconds(s->clock, [=](cudaStream_t stream) {
        make_keys<<<blocks, BLOCK, 0, stream>>>(s->particles, s->keys[0], s->ids[0], count);
        peers_must(sort(s, s->room, stream), "CUB");
        if (moves)
            move<<<blocks, BLOCK, 0, stream>>>(s->particles, s->sorted_ids, s->moved, count);
    });
}

static bool is_sorted(const sorter *s, const uint32_t *keys, const uint32_t *ids) {
    uint32_t count = s->input.count;
    bool *seen = peers_host_memory<bool>(count), good = true;
    memset(seen, 0, count * sizeof *seen);
    for (uint32_t i = 0; i < count && good; i++) {
        good = ids[i] < count && !seen[ids[i]] && keys[i] == key_of(&s->input.at[ids[i]]) &&
               (i == 0 || keys[i - 1] <= keys[i]);
        if (good)
            seen[ids[i]] = true;
    }
    free(seen);
    return good;
}

static void sorter_check(const sorter *s, bool moves) {
    uint32_t count = s->input.count;
    uint32_t *keys = peers_host_memory<uint32_t>(count), *ids = peers_host_memory<uint32_t>(count);
    octree_particle *moved = peers_host_memory<octree_particle>(count);
    peers_download(keys, s->sorted_keys, count);
    peers_download(ids, s->sorted_ids, count);
    peers_download(moved, s->moved, count);
    if (!is_sorted(s, keys, ids))
        peers_fail("CUB", "wrong result");
    for (uint32_t i = 0; moves && i < count; i++)
        if (memcmp(&moved[i], &s->input.at[ids[i]], sizeof *moved) != 0)
            peers_fail("CUB", "a particle is not where it belongs");
    free(keys);
    free(ids);
    free(moved);
}

static void sorter_close(sorter *s) {
    void *all[] = {s->particles, s->moved, s->keys[0], s->keys[1], s->ids[0], s->ids[1], s->room};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        cudaFree(all[i]);
    peers_clock_close(&s->clock);
    points_free(&s->input);
}

/* ---- all methods ---- */

enum { SORT, MOVE, SORTS };
enum { DEFAULT, ABP, OURS };
static const char *const SORT_NAMES[SORTS] = {"CUB sort", "CUB sort and move"};
static const char *const OUR_NAMES[OURS] = {"Ballast", "steal:abp"};
static const char *const SCHEDULERS[OURS] = {NULL, "steal:abp"};

typedef struct contest {
    sorter s;
    bench_times sorts[SORTS];
    peers_ours ours[OURS];
} contest;

static void run_round(contest *c, bool keep) {
    for (int i = 0; i < SORTS; i++) {
        double seconds = sorter_run(&c->s, i == MOVE);
        if (keep)
            bench_add(&c->sorts[i], seconds);
        else
            sorter_check(&c->s, i == MOVE);
    }
    for (int i = 0; i < OURS; i++)
        peers_ours_run(&c->ours[i], keep);
}

static void print_row(const char *method, const bench_times *times, uint32_t particles, double best) {
    bench_spread s = bench_sum_up(times);
    printf("  %-20s %9.3f %9.3f %9.3f %14.1f %10.2f\n", method, 1e3 * s.median, 1e3 * s.least, 1e3 * s.most,
           1e-6 * particles / s.median, s.median / best);
}

static void print_table(const contest *c, const char *load) {
    double best = bench_sum_up(&c->sorts[MOVE]).median;
    printf("octree, %s particles; milliseconds, medians of %u\n  %-20s %9s %9s %9s %14s %10s\n", load,
           c->sorts[SORT].count, "method", "median", "least", "most", "M particles/s", "/ sort, move");
    for (int i = 0; i < SORTS; i++)
        print_row(SORT_NAMES[i], &c->sorts[i], c->s.input.count, best);
    for (int i = 0; i < OURS; i++)
        print_row(OUR_NAMES[i], &c->ours[i].times, c->s.input.count, best);
    fflush(stdout);
}

static void print_rows(const contest *c, const char *load) {
    for (int i = 0; i < SORTS; i++)
        peers_csv_rows(load, SORT_NAMES[i], &c->sorts[i], 0, 0);
    for (int i = 0; i < OURS; i++)
        peers_csv_rows(load, OUR_NAMES[i], &c->ours[i].times, c->ours[i].peak_bytes, c->ours[i].tasks);
}

typedef struct particles {
    char count[32];
    const char *distribution;
    uint64_t number;
    points_kind kind;
} particles;

/* "500k", or "500k:tube". */
static bool read_load(const char *load, particles *p) {
    const char *colon = strchr(load, ':');
    const size_t digits = colon ? (size_t)(colon - load) : strlen(load);
    p->distribution = colon ? colon + 1 : "uniform";
    if (digits >= sizeof p->count)
        return false;
    memcpy(p->count, load, digits);
    p->count[digits] = 0;
    return parse_size(p->count, &p->number) && p->number >= 1 && p->number <= 1u << 30 &&
           points_kind_find(p->distribution, &p->kind);
}

static void compare(const peers_request *r, const char *load) {
    static contest c;
    particles p;
    read_load(load, &p);
    const char *const options[] = {"--particles", p.count, "--distribution", p.distribution, NULL};
    memset(&c, 0, sizeof c);
    sorter_open(&c.s, (uint32_t)p.number, p.kind);
    for (int i = 0; i < OURS; i++)
        peers_ours_open(&c.ours[i], "octree", options, SCHEDULERS[i], NULL);
    for (uint32_t i = 0; i <= r->repeats; i++)
        run_round(&c, i > 0);
    (r->csv ? print_rows : print_table)(&c, load);
    for (int i = 0; i < OURS; i++)
        peers_ours_close(&c.ours[i]);
    sorter_close(&c.s);
}

int main(int argc, char **argv) {
    enum { MOST = 16 };
    static const char *loads[MOST] = {"500k",        "1M",           "5M",       "15M",        "500k:tube",
                                      "500k:sphere", "500k:plummer", "15M:tube", "15M:sphere", "15M:plummer"};
    uint32_t given = 0, count = 10;
    peers_request r = {11, false};
    for (int i = 1; i < argc; i++) {
        particles p;
        if (argv[i][0] != '-' && given < MOST && read_load(argv[i], &p))
            loads[given++] = argv[i];
        else if (!peers_option(&r, argc, argv, &i))
            return peers_usage(" [PARTICLES[:DISTRIBUTION] ...]");
    }
    peers_need_gpu();
    if (r.csv)
        peers_csv_head();
    count = given ? given : count;
    for (uint32_t i = 0; i < count; i++)
        compare(&r, loads[i]);
    return 0;
}
