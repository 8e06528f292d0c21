// COMPILE: -O1
/* Checkpoint and resume: on every scheduler, with and without joins, stopped and resumed repeatedly until the sums
 * equal those of an uninterrupted run. Also files that are truncated, changed or of another problem, and a process that
 * is killed. test_checkpoint_sim.c runs the same tests on the simulated machine. */
#define _POSIX_C_SOURCE 200809L /* nanosleep, mkdtemp, kill */

#include "check.h"
#include "run/checkpoint.h"
#include "config.h"
#include "target.h"

#include "join_trees.h"

#include <ballast/ballast.h>
#include <dirent.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

/* ---- tasks that request the end ---- */

static bl_context *to_cancel;
static uint32_t tasks_run, cancel_after; /* 0: never */

static void pause_seconds(double seconds) {
    struct timespec t = {(time_t)seconds, (long)(1e9 * (seconds - (double)(time_t)seconds))};
    nanosleep(&t, NULL);
}

/* Afterwards tasks are so slow that the run cannot finish before it is stopped. */
BL_FN void count_task(void) {
    uint32_t after = cancel_after;
    if (!after || bl_fetch_add32_relaxed(&tasks_run, 1) + 1 < after)
        return;
    bl_cancel(to_cancel);
#ifndef BL_TARGET_SIM
    pause_seconds(5e-4);
#endif
}

static BL_TASK void counted_word_run(bl_task *t, const word_node *node, uint32_t index, const bl_nothing *shared,
                                     bl_nothing *local) {
    if (t->lane == 0)
        count_task();
    word_run(t, node, index, shared, local);
}

#define BL_PROGRAM counted_words
#define BL_PAYLOAD word_node
#define BL_RUN counted_word_run
#define BL_RESULT word
#define BL_JOIN word_join
#define BL_JOIN_WIDTH JOINS_WIDTH
#define BL_LANE_TASKS 1
#include <ballast/program.h>

/* Every index of a loop adds its square to one of 64 sums; every seventh spawns another loop. */
enum { SUMS = 64 };
typedef struct sums_shared {
    uint64_t *sums;
    uint32_t factor, unused;
} sums_shared;
typedef struct sums_node {
    uint32_t begin, depth;
} sums_node;

static BL_TASK void sums_run(bl_task *t, const sums_node *node, uint32_t index, const sums_shared *shared,
                             bl_nothing *local) {
    (void)local;
    if (t->lane)
        return;
    count_task();
    uint64_t n = node->begin + index;
    sums_node below = {node->begin + index, node->depth - 1};
    bl_fetch_add64_relaxed(&shared->sums[n % SUMS], n * n * shared->factor);
    if (node->depth && n % 7 == 0)
        bl_spawn_n(t, &below, 9);
}

static uint64_t sums_expect(sums_node node, uint32_t count, uint64_t *sums) {
    uint64_t tasks = count;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t n = node.begin + i;
        sums[n % SUMS] += n * n * 3;
        if (node.depth && n % 7 == 0)
            tasks += sums_expect((sums_node){node.begin + i, node.depth - 1}, 9, sums);
    }
    return tasks;
}

#define BL_PROGRAM sums
#define BL_PAYLOAD sums_node
#define BL_SHARED sums_shared
#define BL_RUN sums_run
#define BL_MAX_SPAWN 1
#define BL_LANE_TASKS 1
#include <ballast/program.h>

#define WORDS PROGRAM(counted_words)
#define LOOP PROGRAM(sums)
#ifdef BL_TARGET_SIM
enum { DEPTH = 8, ROOTS = 12, LENGTH = 20000, SHORT = 20000 };
#else
enum { DEPTH = 7, ROOTS = 12, LENGTH = 3000, SHORT = 100 };
#endif

/* ---- opening, with one or two files ---- */

static char folder[64], file[80], other_file[96];

static bl_context *open_with(bl_config config) {
    to_cancel = config_open(DEVICE, config);
    tasks_run = 0;
    return to_cancel;
}

static int run_words(bl_context *c, bl_stats *stats, bool compare) {
    word_node nodes[ROOTS];
    word results[ROOTS];
    uint64_t tasks = 0;
    memset(results, 0, sizeof results);
    for (uint32_t i = 0; i < ROOTS; i++)
        nodes[i] = (word_node){i * 7919u + 3, DEPTH, 0};
    int status = bl_run_join(c, WORDS, NULL, nodes, ROOTS, results, stats);
    for (uint32_t i = 0; i < ROOTS && status == BL_OK && compare; i++) {
        word expected = word_expect(nodes[i], 0);
        CHECK(results[i].text == expected.text && results[i].tasks == expected.tasks);
        tasks += expected.tasks;
    }
    if (status == BL_OK && compare)
        CHECK_SAME(stats->tasks, tasks);
    return status;
}

/* As an application does: allocate, fill, run, fetch the result. */
static int run_loop(bl_context *c, uint32_t factor, uint32_t length, uint32_t extra, bl_stats *stats) {
    uint64_t found[SUMS], expected[SUMS] = {0};
    void *memory = NULL, *more = NULL;
    sums_node root = {5, 2};
    CHECK_SAME(bl_alloc(c, &more, extra), BL_OK);
    CHECK_SAME(bl_alloc(c, &memory, sizeof found), BL_OK);
    CHECK_SAME(bl_zero(c, memory, sizeof found), BL_OK);
    sums_shared shared = {memory, factor, 0};
    int status = bl_run_range(c, LOOP, &shared, &root, length, stats);
    CHECK_SAME(bl_copy_out(c, found, memory, sizeof found), BL_OK);
    if (status == BL_OK && factor == 3) {
        CHECK_SAME(stats->tasks, sums_expect(root, length, expected));
        CHECK(memcmp(found, expected, sizeof found) == 0);
    }
    bl_free(c, more);
    bl_free(c, memory);
    return status;
}

static int run_one(bl_context *c, bool joins, bl_stats *stats) {
    return joins ? run_words(c, stats, true) : run_loop(c, 3, LENGTH, 40, stats);
}

/* ---- every scheduler stops, and another resumes ---- */

static void stop_and_resume(uint32_t from, bool joins) {
    uint32_t parts = 0;
    uint64_t tasks = 0;
    for (int status = BL_ECANCEL; status != BL_OK && parts < 500; parts++) {
        bl_config config = {.scheduler = scheduler_at(from + parts) ? scheduler_at(from + parts) : scheduler_at(parts),
                            .workers = 1 + (from + parts) % 3,
                            .capacity = parts % 2 ? 0 : 2,
                            .checkpoint = file,
                            .resume = parts ? file : NULL};
        bl_stats stats;
        memset(&stats, 0, sizeof stats);
        check_at("%s, part %u of a run started with %s, %s", config.scheduler, parts, scheduler_at(from),
                 joins ? "joins" : "a loop");
        bl_context *c = open_with(config);
        cancel_after = parts < 2 ? 100 + 37 * (from % 7) : 0;
        status = run_one(c, joins, &stats);
        if (!CHECK(status == BL_OK || status == BL_ECANCEL))
            printf("    %s: %s\n", bl_status_name(status), bl_error_detail(c));
        CHECK(stats.tasks >= tasks);
        tasks = stats.tasks;
        bl_close(c);
        if (status != BL_OK && status != BL_ECANCEL)
            break;
    }
    CHECK(parts > 1); /* it was stopped at least once */
    remove(file);
}

static void test_schedulers(void) {
    for (uint32_t i = 0; scheduler_at(i); i += CHECK_SLOWER)
        stop_and_resume(i, i / CHECK_SLOWER % 2);
    cancel_after = 0;
}

/* ---- periodic checkpoints, and a second run ---- */

/* Tasks are slow, and none cancels this context. */
static bl_context *open_slow(bl_config config) {
    bl_context *c = open_with(config);
    open_with((bl_config){.workers = 1});
    cancel_after = 1;
    return c;
}
static void close_slow(bl_context *c) {
    cancel_after = 0;
    bl_close(to_cancel);
    bl_close(c);
}

static void test_often(void) {
    const char *schedulers[] = {"auto", "central:broker", "static:split"};
    for (unsigned i = 0; i < 3; i++) {
        bl_stats stats;
        struct stat there;
        check_at("checkpoints all the time, %s", schedulers[i]);
        remove(file);
        bl_context *c =
            open_slow((bl_config){.scheduler = schedulers[i], .checkpoint = file, .checkpoint_seconds = 1e-6});
        CHECK_SAME(run_loop(c, 3, SHORT, 40, &stats), BL_OK);
        CHECK(stats.pauses + stats.launches > 2);
        CHECK(stat(file, &there) == 0);
        close_slow(c);
    }
    remove(file);
}

/* The second run of a context is stopped: resuming repeats the first one. */
static void test_second_run(void) {
    bl_stats stats;
    check_at("the second run");
    bl_config config = {.checkpoint = file};
    bl_context *c = open_with(config);
    cancel_after = 0;
    CHECK_SAME(run_words(c, &stats, true), BL_OK);
    cancel_after = 200;
    tasks_run = 0;
    CHECK_SAME(run_loop(c, 3, LENGTH, 40, &stats), BL_ECANCEL);
    bl_close(c);
    cancel_after = 0;
    config.resume = file;
    c = open_with(config);
    CHECK_SAME(run_loop(c, 3, LENGTH, 40, &stats), BL_EFILE); /* differs from the first run */
    bl_close(c);
    config.time_limit = 1e-6; /* repeated runs do not count towards the time limit */
    c = open_with(config);
    CHECK_SAME(run_words(c, &stats, true), BL_OK);
    CHECK_SAME(run_loop(c, 3, LENGTH, 40, &stats), BL_ETIME);
    bl_close(c);
    config.time_limit = 0;
    c = open_with(config);
    CHECK_SAME(run_words(c, &stats, true), BL_OK);
    CHECK_SAME(run_loop(c, 3, LENGTH, 40, &stats), BL_OK);
    remove(file);
    CHECK_SAME(run_words(c, &stats, true), BL_OK); /* the third run is new and needs no file */
    bl_close(c);
    bl_cancel(NULL);
}

/* ---- time limit, cancel ---- */

static void test_time_limit(void) {
    bl_stats stats;
    check_at("time limit");
    bl_context *c = open_with((bl_config){.time_limit = 0.02});
    int status = BL_OK, runs = 0;
    while (status == BL_OK && runs++ < 100000)
        status = run_words(c, &stats, false);
    CHECK_SAME(status, BL_ETIME);
    CHECK_SAME(run_words(c, &stats, false), BL_ETIME); /* it is spent */
    CHECK_SAME(stats.tasks, 0);
    bl_close(c);
    CHECK_SAME(bl_open(&c, &(bl_config){.time_limit = -1}), BL_EINVAL);
    CHECK_SAME(bl_open(&c, &(bl_config){.checkpoint_seconds = -1}), BL_EINVAL);
}

static void *cancel_soon(void *context) {
    pause_seconds(0.02);
    bl_cancel(context);
    return NULL;
}

static void test_cancel(void) {
    bl_stats stats;
    pthread_t thread;
    check_at("cancel");
    bl_context *c = open_with((bl_config){.workers = 2});
    int status = BL_OK;
    CHECK_SAME(pthread_create(&thread, NULL, cancel_soon, c), 0);
    while (status == BL_OK)
        status = run_words(c, &stats, false);
    CHECK_SAME(status, BL_ECANCEL);
    CHECK_SAME(pthread_join(thread, NULL), 0);
    CHECK_SAME(run_loop(c, 3, LENGTH, 40, &stats), BL_ECANCEL); /* for good */
    CHECK_SAME(stats.tasks, 0);
    bl_close(c);
}

/* ---- files ---- */

static size_t read_file(const char *path, unsigned char *to, size_t most) {
    FILE *in = fopen(path, "rb");
    size_t bytes = in ? fread(to, 1, most, in) : 0;
    if (in)
        fclose(in);
    return bytes;
}
static void write_file(const char *path, const unsigned char *from, size_t bytes) {
    FILE *out = fopen(path, "wb");
    CHECK(out && fwrite(from, 1, bytes, out) == bytes);
    if (out)
        CHECK(fclose(out) == 0);
}

static void write_byte(const char *path, size_t at, int byte) {
    FILE *out = fopen(path, "r+b");
    CHECK(out && fseek(out, (long)at, SEEK_SET) == 0 && fputc(byte, out) == byte);
    if (out)
        CHECK(fclose(out) == 0);
}

/* The detail contains `words`, and memory is unchanged: otherwise the loop's check of the sums would fail. */
static void refuses(const char *path, uint32_t factor, uint32_t length, uint32_t extra, const char *words) {
    bl_stats stats;
    bl_context *c = open_with((bl_config){.resume = path});
    CHECK_SAME(run_loop(c, factor, length, extra, &stats), BL_EFILE);
    if (!CHECK(strstr(bl_error_detail(c), words) != NULL))
        printf("    %s\n", bl_error_detail(c));
    bl_close(c);
}

static void stop_loop(void) {
    bl_stats stats;
    cancel_after = 150;
    bl_context *c = open_with((bl_config){.checkpoint = file, .workers = 2});
    CHECK_SAME(run_loop(c, 3, LENGTH, 40, &stats), BL_ECANCEL);
    bl_close(c);
    cancel_after = 0;
}

static void test_files(void) {
    static unsigned char good[1 << 20];
    const size_t step = CHECK_SLOWER > 1 ? 13 : 1; /* bits */
    stop_loop();
    size_t bytes = read_file(file, good, sizeof good);
    CHECK(bytes > 200 && bytes < sizeof good);
    for (size_t cut = 0; cut < bytes; cut += cut < 300 ? 1 : 97) {
        check_at("cut to %zu of %zu bytes", cut, bytes);
        write_file(other_file, good, cut);
        refuses(other_file, 3, LENGTH, 40, "");
    }
    write_file(other_file, good, bytes);
    for (size_t bit = 0; bit < 8 * bytes; bit += step) {
        check_at("bit %zu of byte %zu of %zu changed", bit % 8, bit / 8, bytes);
        write_byte(other_file, bit / 8, good[bit / 8] ^ 1 << bit % 8);
        refuses(other_file, 3, LENGTH, 40,
                bit / 8 < sizeof(((bl__checkpoint_head *)0)->magic) ? "this version" : "damaged");
        write_byte(other_file, bit / 8, good[bit / 8]);
    }
    check_at("a byte too many");
    write_file(other_file, good, bytes + 1);
    refuses(other_file, 3, LENGTH, 40, "damaged");
    check_at("other problems");
    bl_context *other = open_with((bl_config){.resume = file, .checkpoint_tag = "another"});
    CHECK_SAME(run_loop(other, 3, LENGTH, 40, &(bl_stats){0}), BL_EFILE);
    CHECK(strstr(bl_error_detail(other), "another problem") != NULL);
    bl_close(other);
    refuses(file, 4, LENGTH, 40, "another problem");
    refuses(file, 3, LENGTH + 1, 40, "another problem");
    refuses(file, 3, LENGTH, 41, "memory block 1 had 40 bytes there and has 41 now");
    refuses("/nowhere/file", 3, LENGTH, 40, "No such file");
    refuses(folder, 3, LENGTH, 40, "resume");
    check_at("what cannot be written");
    bl_stats stats;
    const char *wrong[] = {folder, "/nowhere/file"};
    for (unsigned i = 0; i < 2; i++) {
        bl_context *c = open_with((bl_config){.checkpoint = wrong[i], .workers = 2});
        cancel_after = 150;
        CHECK_SAME(run_loop(c, 3, LENGTH, 40, &stats), BL_EFILE);
        CHECK(strstr(bl_error_detail(c), "cannot be written") != NULL);
        cancel_after = 0;
        bl_close(c);
    }
    check_at("the file as it was");
    bl_context *c = open_with((bl_config){.resume = file});
    CHECK_SAME(run_loop(c, 3, LENGTH, 40, &stats), BL_OK);
    bl_close(c);
    remove(file);
    remove(other_file);
}

/* ---- files with a correct checksum and wrong numbers ---- */

typedef struct crafted {
    unsigned char *bytes;
    size_t count;
} crafted;

static bl__checkpoint_head *head_of(const crafted *f) { return (bl__checkpoint_head *)(void *)f->bytes; }
static uint32_t *entry_of(const crafted *f, uint32_t i) {
    const bl__checkpoint_head *h = head_of(f);
    return (uint32_t *)(void *)(f->bytes + sizeof *h + 8 * h->blocks) + (size_t)i * h->words;
}
static uint32_t *join_of(const crafted *f, uint32_t i) {
    return entry_of(f, i) + BL__ENTRY_HEAD + sizeof(word_node) / 4;
}
static bl__record *record_of(const crafted *f, uint32_t i) {
    const bl__checkpoint_head *h = head_of(f);
    return (bl__record *)(void *)((unsigned char *)entry_of(f, h->entries) + (size_t)i * h->record_bytes);
}
typedef enum which { FREE, IN_USE, BELOW_A_ROOT, BELOW_A_RECORD } which;

/* The first record of that kind, starting at `i`. */
static uint32_t record_where(const crafted *f, which kind, uint32_t i) {
    for (; i < head_of(f)->record_capacity; i++) {
        const bl__record *r = record_of(f, i);
        bool used = bl__record_out(r->state) != 0, root = r->parent & BL__ROOT;
        if (kind == FREE ? !used : used && (kind == IN_USE || root == (kind == BELOW_A_ROOT)))
            break;
    }
    return i;
}
/* The first entry whose result goes to a record. */
static uint32_t child_entry(const crafted *f) {
    uint32_t i = 0;
    while (i < head_of(f)->entries && *join_of(f, i) & BL__ROOT)
        i++;
    return i;
}

typedef enum wrong {
    NOTHING_WRONG,
    EMPTY_ENTRY,
    REVERSED_ENTRY,
    JOIN_FAR,
    JOIN_FREE,
    JOIN_PAST_ITS_CHILDREN,
    ROOT_FAR,
    ROOT_TWICE,
    PARENT_FAR,
    PARENT_ITSELF,
    SLOT_FAR,
    CHILDREN_TOO_MANY,
    CHILDREN_MORE_THAN_THERE_ARE,
    RECORDS_513,
    RECORDS_511,
    RECORDS_MANY,
    RECORDS_NONE,
    NO_ENTRIES,
    ENTRIES_MANY,
    RUN_NONE,
    SECONDS_NAN,
    SECONDS_ENDLESS,
    SECONDS_BELOW_0,
    UNUSED,
    WRONGS
} wrong;

/* `f` has room for one more record. */
static void spoil(crafted *f, wrong how) {
    bl__checkpoint_head *h = head_of(f);
    uint32_t used = record_where(f, IN_USE, 0), root = record_where(f, BELOW_A_ROOT, 0), child = child_entry(f);
    bl__record *r = record_of(f, used);
    unsigned char *records_end = (unsigned char *)record_of(f, h->record_capacity);
    size_t behind = (size_t)(f->bytes + f->count - records_end);
    switch (how) {
    case EMPTY_ENTRY:
        entry_of(f, 0)[0] = entry_of(f, 0)[1];
        break;
    case REVERSED_ENTRY:
        entry_of(f, 0)[0] = entry_of(f, 0)[1] + 5;
        break;
    case JOIN_FAR:
        *join_of(f, child) = 1000000;
        break;
    case JOIN_FREE:
        *join_of(f, child) = record_where(f, FREE, 0);
        break;
    case JOIN_PAST_ITS_CHILDREN:
        entry_of(f, child)[1] = 1000000;
        break;
    case ROOT_FAR:
        record_of(f, root)->parent = BL__ROOT | 1000000;
        break;
    case ROOT_TWICE:
        record_of(f, record_where(f, BELOW_A_ROOT, root + 1))->parent = record_of(f, root)->parent;
        break;
    case PARENT_FAR:
        r->parent = 1000000;
        break;
    case PARENT_ITSELF:
        r->parent = used;
        break;
    case SLOT_FAR:
        record_of(f, record_where(f, BELOW_A_RECORD, 0))->slot = 1000000;
        break;
    case CHILDREN_TOO_MANY:
        *bl__record_count(r) = 1000000;
        break;
    case CHILDREN_MORE_THAN_THERE_ARE:
        r->state += BL__ONE_CHILD, *bl__record_count(r) = JOINS_WIDTH;
        break;
    case RECORDS_513:
        memmove(records_end + h->record_bytes, records_end, behind);
        memset(records_end, 0, h->record_bytes);
        f->count += h->record_bytes;
        h->record_capacity++;
        break;
    case RECORDS_511:
        memmove(records_end - h->record_bytes, records_end, behind);
        f->count -= h->record_bytes;
        h->record_capacity--;
        break;
    case RECORDS_MANY:
        h->record_capacity = 1u << 30;
        break;
    case RECORDS_NONE:
        h->record_capacity = 0;
        break;
    case NO_ENTRIES:
        h->entries = 0;
        break;
    case ENTRIES_MANY:
        h->entries = UINT32_MAX;
        break;
    case RUN_NONE:
        h->run = 0;
        break;
    case SECONDS_NAN:
        h->seconds = NAN;
        break;
    case SECONDS_ENDLESS:
        h->seconds = INFINITY;
        break;
    case SECONDS_BELOW_0:
        h->seconds = -1;
        break;
    case UNUSED:
        h->unused = 1;
        break;
    case NOTHING_WRONG:
    case WRONGS:
        break;
    }
}

static void seal(crafted *f) {
    bl__checksum sum = {0};
    bl__checksum_add(&sum, f->bytes, f->count - sizeof(uint64_t));
    uint64_t end = bl__checksum_end(&sum);
    memcpy(f->bytes + f->count - sizeof end, &end, sizeof end);
}

/* Writes a checkpoint of unfinished joins, at all kinds of stages. Which ones there are depends on when threads run. */
static bool stop_words(void) {
    static unsigned char bytes[1 << 22];
    bl_stats stats;
    for (uint32_t tries = 0; tries < 800; tries++) {
        cancel_after = 20 + tries % 40 * 7;
        bl_context *c = open_with((bl_config){.checkpoint = file, .workers = 2});
        int status = run_words(c, &stats, false);
        bl_close(c);
        crafted f = {bytes, read_file(file, bytes, sizeof bytes)};
        if (status != BL_ECANCEL || f.count < sizeof *head_of(&f))
            continue;
        uint32_t records = head_of(&f)->record_capacity, root = record_where(&f, BELOW_A_ROOT, 0);
        if (child_entry(&f) < head_of(&f)->entries && record_where(&f, BELOW_A_RECORD, 0) < records && root < records &&
            record_where(&f, BELOW_A_ROOT, root + 1) < records)
            return true;
    }
    return false;
}

static void test_crafted(void) {
    static unsigned char good[1 << 22], bytes[1 << 22];
    check_at("a file of joins");
    if (!CHECK(stop_words()))
        return;
    cancel_after = 0;
    size_t count = read_file(file, good, sizeof good - 4096);
    for (wrong how = 0; how < WRONGS; how++) {
        bl_stats stats;
        crafted f = {bytes, count};
        check_at("crafted, way %d", (int)how);
        memcpy(bytes, good, count);
        spoil(&f, how);
        seal(&f);
        write_file(other_file, f.bytes, f.count);
        bl_context *c = open_with((bl_config){.resume = other_file, .workers = 2, .time_limit = 20});
        CHECK_SAME(run_words(c, &stats, false), how == NOTHING_WRONG ? BL_OK : BL_EFILE);
        CHECK((strncmp(bl_error_detail(c), "resume ", 7) == 0) == (how != NOTHING_WRONG));
        CHECK(strchr(bl_error_detail(c), '\n') == NULL);
        bl_close(c);
    }
    remove(file);
    remove(other_file);
}

#ifndef BL_TARGET_SIM
/* ---- a process that is killed ---- */

static void run_until_killed(void) {
    bl_stats stats;
    bl_context *c = open_slow((bl_config){.checkpoint = file, .checkpoint_seconds = 0.002, .workers = 2});
    run_loop(c, 3, LENGTH, 40, &stats);
    _exit(0);
}

/* A kill between the two steps in which a new file replaces an old one leaves the temporary name behind. */
static void remove_other_names(void) {
    char path[400];
    DIR *open = opendir(folder);
    for (struct dirent *entry; open && (entry = readdir(open));)
        if (strncmp(entry->d_name, "file.", 5) == 0) {
            snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
            remove(path);
        }
    if (open)
        closedir(open);
}

static void test_killed(void) {
    bl_stats stats;
    struct stat there;
    for (int i = 0; i < 3; i++) {
        check_at("killed, time %d", i);
        fflush(stdout);
        pid_t child = fork();
        if (child == 0)
            run_until_killed();
        for (int tries = 0; tries < 5000 && stat(file, &there) != 0; tries++)
            pause_seconds(1e-3);
        pause_seconds(0.006 * i);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        bl_context *c = open_with((bl_config){.resume = file});
        CHECK_SAME(run_loop(c, 3, LENGTH, 40, &stats), BL_OK);
        bl_close(c);
        remove(file);
        remove_other_names();
    }
}
#endif

int main(void) {
    check_limit(300);
    /* In memory if possible: each file is flushed to its disk, hundreds of times. */
    snprintf(folder, sizeof folder, "%s/ballast_checkpoint_XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    if (!mkdtemp(folder))
        return 1;
    snprintf(file, sizeof file, "%s/file", folder);
    snprintf(other_file, sizeof other_file, "%s/other", folder);
#ifndef BL_TARGET_SIM
    test_killed(); /* before any threads exist */
#endif
    test_schedulers();
    test_often();
    test_second_run();
    test_time_limit();
    test_cancel();
    test_files();
    test_crafted();
    CHECK(rmdir(folder) == 0);
    return check_end();
}
