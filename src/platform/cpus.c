/* Which cores a process may use: its affinity mask, its control groups, and a count per core of the workers that are
 * bound to it. */
#include "cpus.h"

#include <ballast/platform/platform.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_CPUS = 8192, LINE = 4096, PATH = 2 * LINE };

typedef union cpu_mask { /* larger than cpu_set_t, which ends at 1024 */
    cpu_set_t set;
    unsigned char bits[MOST_CPUS / 8];
} cpu_mask;

static bool read_mask(cpu_mask *mask) {
    memset(mask, 0, sizeof *mask);
    return sched_getaffinity(0, sizeof *mask, &mask->set) == 0 && CPU_COUNT_S(sizeof *mask, &mask->set) > 0;
}

/* ---- control groups ---- */

static bool read_line(const char *root, const char *folder, const char *name, char line[LINE]) {
    char path[PATH];
    int length = snprintf(path, sizeof path, "%s%s/%s", root, folder, name);
    FILE *file = length > 0 && length < PATH ? fopen(path, "r") : NULL;
    bool read = file && fgets(line, LINE, file);
    if (file)
        fclose(file);
    return read;
}

/* A whole number of CPUs; a quota that is no positive number ("max", -1) is none. */
static uint32_t cpus_of(double quota, double period) {
    if (!(quota > 0) || !(period > 0) || quota / period >= MOST_CPUS)
        return UINT32_MAX;
    uint32_t whole = (uint32_t)(quota / period);
    return whole + (whole * period < quota);
}

static uint32_t quota_of_folder(const char *root, const char *folder, bool version_2) {
    char quota[LINE], period[LINE];
    if (version_2) {
        double values[2] = {0, 0};
        bool given = read_line(root, folder, "cpu.max", quota) && sscanf(quota, "%lf %lf", values, values + 1) == 2;
        return given ? cpus_of(values[0], values[1]) : UINT32_MAX;
    }
    if (!read_line(root, folder, "cpu.cfs_quota_us", quota) || !read_line(root, folder, "cpu.cfs_period_us", period))
        return UINT32_MAX;
    return cpus_of(atof(quota), atof(period));
}

/* The least of a group and all above it, up to where the hierarchy is mounted. `folder` is shortened on the way. */
static uint32_t quota_upwards(const char *root, char *folder, size_t mount_length, bool version_2) {
    uint32_t least = UINT32_MAX;
    for (;;) {
        uint32_t here = quota_of_folder(root, folder, version_2);
        least = here < least ? here : least;
        char *slash = strrchr(folder, '/');
        if (!slash || (size_t)(slash - folder) < mount_length)
            return least;
        *slash = 0;
    }
}

/* Whether a list like "cpu,cpuacct" has that word. */
static bool has_word(const char *list, const char *word) {
    size_t length = strlen(word);
    for (const char *at = list; (at = strstr(at, word)); at += length)
        if ((at == list || at[-1] == ',') && (at[length] == ',' || at[length] == 0))
            return true;
    return false;
}

/* Which group this process is in, from a line "number:controllers:path" of proc/self/cgroup; version 2 names no
 * controllers. */
static bool find_group(const char *root, bool version_2, char group[LINE]) {
    char path[PATH], line[LINE];
    snprintf(path, sizeof path, "%.4000s/proc/self/cgroup", root);
    FILE *file = fopen(path, "r");
    bool found = false;
    while (file && !found && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = 0;
        char *controllers = strchr(line, ':'), *name = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!name)
            continue;
        *name++ = 0;
        found = version_2 ? controllers[1] == 0 : has_word(controllers + 1, "cpu");
        if (found)
            snprintf(group, LINE, "%s", strcmp(name, "/") ? name : "");
    }
    if (file)
        fclose(file);
    return found;
}

/* From a line of proc/self/mountinfo: "id parent device TOP PLACE options - type source OPTIONS". TOP is the group
 * that is mounted at PLACE; in a container it is often the container's own, and the group's path may be told from
 * there or from the machine's top. */
static uint32_t quota_of_mount(const char *root, char *line) {
    char top[LINE], place[LINE], type[16], options[LINE], group[LINE], folder[PATH];
    char *behind = strstr(line, " - ");
    if (!behind || sscanf(line, "%*s %*s %*s %4095s %4095s", top, place) != 2 ||
        sscanf(behind, " - %15s %*s %4095s", type, options) != 2)
        return UINT32_MAX;
    bool version_2 = !strcmp(type, "cgroup2");
    if (!version_2 && (strcmp(type, "cgroup") || !has_word(options, "cpu")))
        return UINT32_MAX;
    if (!find_group(root, version_2, group))
        return UINT32_MAX;
    size_t length = strcmp(top, "/") ? strlen(top) : 0;
    bool below = !strncmp(group, top, length) && (group[length] == 0 || group[length] == '/');
    snprintf(folder, sizeof folder, "%s%s", place, below ? group + length : "");
    return quota_upwards(root, folder, strlen(place), version_2);
}

uint32_t bl__cpus_quota(const char *root) {
    char path[PATH], line[LINE];
    uint32_t least = UINT32_MAX;
    snprintf(path, sizeof path, "%.4000s/proc/self/mountinfo", root);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file)) {
        uint32_t here = quota_of_mount(root, line);
        least = here < least ? here : least;
    }
    if (file)
        fclose(file);
    return least;
}

uint32_t bl__cpus_usable(void) {
    cpu_mask mask;
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    uint32_t count = read_mask(&mask) ? (uint32_t)CPU_COUNT_S(sizeof mask, &mask.set)
                     : online > 0     ? (uint32_t)online
                                      : 1;
    uint32_t quota = bl__cpus_quota("");
    return quota < count ? quota : count;
}

uint32_t bl__cpus_default(void) {
    const char *text = getenv("BALLAST_WORKERS");
    const uint32_t cores = bl__cpus_usable();
    if (!text || !*text)
        return cores;
    const size_t digits = strspn(text, "0123456789");
    if (text[digits] != '\0')
        return 0;
    const unsigned long most = digits < 10 ? strtoul(text, NULL, 10) : UINT32_MAX;
    return most < cores ? (uint32_t)most : cores;
}

/* ---- bound workers ---- */

/* How many are bound to each core, by all contexts. Words rather than a lock, which a fork might find taken. */
static uint32_t bound[MOST_CPUS];

/* Whether a core is not the first of the units that share a physical one; they are told as "0,4" or "0-1". */
static bool is_sibling(int cpu) {
    char folder[128], line[LINE];
    snprintf(folder, sizeof folder, "/sys/devices/system/cpu/cpu%d/topology", cpu);
    return read_line("", folder, "thread_siblings_list", line) && atoi(line) != cpu;
}

int bl__cpus_take(void) {
    cpu_mask mask;
    if (!read_mask(&mask))
        return -1;
    for (;;) {
        int best = -1;
        uint32_t least = UINT32_MAX;
        for (int cpu = 0; cpu < MOST_CPUS; cpu++) {
            uint32_t rank = 2 * bl_load32_relaxed(bound + cpu);
            if (!CPU_ISSET_S(cpu, sizeof mask, &mask.set) || rank >= least)
                continue;
            rank += is_sibling(cpu);
            if (rank < least) {
                least = rank;
                best = cpu;
            }
        }
        uint32_t seen = least / 2;
        if (bl_cas32_relaxed(bound + best, &seen, seen + 1))
            return best;
    }
}

void bl__cpus_give_back(int cpu) {
    if (cpu >= 0)
        bl_fetch_add32_relaxed(bound + cpu, UINT32_MAX);
}

void bl__cpus_stay_on(int cpu) {
    cpu_mask mask;
    memset(&mask, 0, sizeof mask);
    if (cpu < 0)
        return;
    CPU_SET_S(cpu, sizeof mask, &mask.set);
    pthread_setaffinity_np(pthread_self(), sizeof mask, &mask.set);
}
