#include "topology.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#ifdef BL_HAVE_HWLOC
#include <hwloc.h>
#endif

enum { MOST_CPUS = 8192, LINE = 4096 };
static const bl__place nowhere = {UINT32_MAX, UINT32_MAX};

struct bl__topology {
    uint32_t cpus;
    bool several; /* more than one place */
    bool several_nodes;
    bl__place of[]; /* by the system's number of the core */
};

/* ---- reading ---- */

#ifdef BL_HAVE_HWLOC
static bl__place place_of(hwloc_obj_t pu) {
    bl__place place = {(uint32_t)hwloc_bitmap_first(pu->nodeset), 0};
    for (hwloc_obj_t above = pu; above; above = above->parent)
        if (hwloc_obj_type_is_dcache(above->type))
            place.cache = (uint32_t)above->gp_index; /* the last one that counts is the last level */
    return place;
}

static bl__topology *describe(hwloc_topology_t machine) {
    hwloc_obj_t pu = NULL;
    bl__topology *t = calloc(1, sizeof *t + MOST_CPUS * sizeof *t->of);
    const bl__place *first = NULL;
    if (!t)
        return NULL;
    t->cpus = MOST_CPUS;
    for (uint32_t i = 0; i < MOST_CPUS; i++)
        t->of[i] = nowhere;
    while ((pu = hwloc_get_next_obj_by_type(machine, HWLOC_OBJ_PU, pu))) {
        if (pu->os_index >= MOST_CPUS)
            continue;
        bl__place *place = &t->of[pu->os_index];
        *place = place_of(pu);
        first = first ? first : place;
        t->several_nodes = t->several_nodes || place->node != first->node;
        t->several = t->several || t->several_nodes || place->cache != first->cache;
    }
    return t;
}

/* Without sysfs, as in a bare chroot, hwloc prints a complaint and knows next to nothing. */
static bool machine_is_visible(void) { return access("/sys/devices/system/cpu", R_OK) == 0; }

bl__topology *bl__topology_read(const char *synthetic) {
    hwloc_topology_t machine = NULL;
    bl__topology *t = NULL;
    if ((!synthetic && !machine_is_visible()) || hwloc_topology_init(&machine) != 0)
        return NULL;
#if HWLOC_API_VERSION >= 0x20100
    /* It moves this thread from core to core, and Linux has told all that we ask for. */
    hwloc_topology_set_components(machine, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, "x86");
#endif
    if ((!synthetic || hwloc_topology_set_synthetic(machine, synthetic) == 0) && hwloc_topology_load(machine) == 0)
        t = describe(machine);
    hwloc_topology_destroy(machine);
    return t;
}
#else
bl__topology *bl__topology_read(const char *synthetic) { return (void)synthetic, NULL; }
#endif

void bl__topology_free(bl__topology *t) { free(t); }

static bool read_line(const char *path, char line[LINE]) {
    FILE *file = fopen(path, "r");
    const bool read = file && fgets(line, LINE, file);
    if (file)
        fclose(file);
    return read;
}

/* Linux tells within microseconds, hwloc takes milliseconds, and longer on large machines. False: only hwloc knows. */
static bool is_one_place(void) {
    char nodes[LINE], cpus[LINE], sharing[LINE];
    if (getenv("HWLOC_SYNTHETIC") || getenv("HWLOC_XMLFILE"))
        return false;
    return read_line("/sys/devices/system/node/online", nodes) && !strcmp(nodes, "0\n") &&
           read_line("/sys/devices/system/cpu/online", cpus) &&
           read_line("/sys/devices/system/cpu/cpu0/cache/index3/shared_cpu_list", sharing) && !strcmp(cpus, sharing);
}

/* The machine does not change, so the first caller reads it for all contexts. */
static bl__topology *machine;
static void read_machine(void) {
    if (!is_one_place())
        machine = bl__topology_read(NULL);
}

const bl__topology *bl__topology_machine(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, read_machine);
    return machine && machine->several ? machine : NULL;
}

/* ---- places ---- */

bl__place bl__topology_place(const bl__topology *t, int cpu) {
    return cpu >= 0 && (uint32_t)cpu < t->cpus ? t->of[cpu] : nowhere;
}

typedef struct seat {
    bl__place place;
    uint32_t worker;
} seat;

static int by_place(const void *a, const void *b) {
    const seat *x = a, *y = b;
    if (x->place.node != y->place.node)
        return x->place.node < y->place.node ? -1 : 1;
    if (x->place.cache != y->place.cache)
        return x->place.cache < y->place.cache ? -1 : 1;
    return x->worker < y->worker ? -1 : 1;
}

static bool is_near(const seat *a, const seat *b, uint32_t level) {
    return a->place.node == b->place.node && (level == 1 || a->place.cache == b->place.cache);
}

bool bl__near_make(const bl__place *places, uint32_t n, bl__near *near, uint32_t *order) {
    seat *seats = malloc(n * sizeof *seats);
    bool several = false;
    if (!seats)
        return false;
    for (uint32_t i = 0; i < n; i++)
        seats[i] = (seat){places[i], i};
    qsort(seats, n, sizeof *seats, by_place);
    for (uint32_t i = 0; i < n; i++)
        order[i] = seats[i].worker;
    /* A worker that is alone in its group, or whose place is not known, gets the next larger group. */
    for (uint32_t level = 2; level-- > 0;)
        for (uint32_t first = 0, end; first < n; first = end) {
            for (end = first + 1; end < n && is_near(&seats[first], &seats[end], level);)
                end++;
            const bool known = end - first > 1 && seats[first].place.node != nowhere.node;
            several = several || (known && end - first < n);
            for (uint32_t i = first; i < end; i++) {
                bl__near *of = &near[seats[i].worker];
                of->first[level] = known ? first : level ? 0 : of->first[1];
                of->count[level] = known ? end - first : level ? n : of->count[1];
            }
        }
    free(seats);
    return several;
}

/* ---- memory ---- */

size_t bl__topology_move(const bl__topology *t, bl__place place, void *memory, size_t bytes) {
    enum { AT_ONCE = 64, MOVE = 1 << 1 /* MPOL_MF_MOVE */ };
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const uintptr_t end = ((uintptr_t)memory + bytes) / page * page;
    uintptr_t at = ((uintptr_t)memory + page - 1) / page * page;
    size_t asked = 0;
    if (!t->several_nodes || place.node == nowhere.node)
        return 0;
    while (at < end) {
        void *pages[AT_ONCE];
        int nodes[AT_ONCE], status[AT_ONCE];
        unsigned long n = 0;
        for (; at < end && n < AT_ONCE; at += page, n++) {
            pages[n] = (void *)at;
            nodes[n] = (int)place.node;
        }
        if (syscall(SYS_move_pages, 0, n, pages, nodes, status, MOVE) < 0)
            break; /* not supported, or a node that we may not use */
        asked += n;
    }
    return asked;
}
