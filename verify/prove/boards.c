/* How blocks share an entry with several tasks: the library's own code (parts/board.h).
 *
 * Workers post entries on one board, as often as it is free, and all of them take tasks from it. An entry is plain
 * data, so whoever reads one too early, or writes one while another is copying it, races. Every task is taken once;
 * those that nobody takes are the last ones of the entry that is on the board. And workers that take until they see
 * nothing, and go idle, have left nothing when all of them are. */
#include "prove.h"

#include <ballast/parts/board.h>
#include <ballast/runtime/termination.h>

#include <stdio.h>
#include <string.h>

enum { WORKERS = 3, POSTS = 2, TASKS = 3, ENTRIES = WORKERS * POSTS, WORDS = 2 };

typedef struct protocol {
    uint32_t workers, posters, posts, tasks, takes; /* takes = 0: until there is nothing */
    bl__run run;
    bl__control control;
    uint32_t entry[BL__BOARDS * WORDS];
    bool posted[ENTRIES];
    uint32_t taken[ENTRIES * TASKS];
} protocol;

/* Entry number n has the tasks from n * TASKS on. */
static void post(protocol *p, uint32_t number) {
    const uint32_t begin = number * TASKS, entry[WORDS] = {begin, begin + p->tasks};
    if (!bl__board_is_free(&p->run, 0) || !bl__board_reserve(&p->run, 0, p->tasks))
        return;
    bl_data_write(bl__board_entry(&p->run, 0, WORDS), entry, WORDS);
    p->posted[number] = true;
    bl__board_post(&p->run, 0, p->tasks);
}

static void take(protocol *p) {
    uint32_t entry[WORDS];
    const uint32_t left = bl__board_shows(&p->run, 0) ? bl__board_take(&p->run, 0) : 0;
    if (left == 0)
        return;
    bl_data_read(entry, bl__board_entry(&p->run, 0, WORDS), WORDS);
    bl__board_copied(&p->run, 0);
    if (left > entry[1] - entry[0])
        bl_explore_fail("a task that the entry does not have");
    bl_fetch_add32_relaxed(&p->taken[entry[1] - left], 1);
}

static void body(void *arg, uint32_t worker, uint32_t lane) {
    protocol *p = arg;
    (void)lane;
    for (uint32_t i = 0; i < p->posts && worker < p->posters; i++) {
        post(p, worker * POSTS + i);
        take(p);
    }
    for (uint32_t i = 0; i < p->takes; i++)
        take(p);
    if (p->takes)
        return;
    while (bl__board_shows(&p->run, 0))
        take(p);
    bl__idle_enter(&p->control);
    if (bl__idle_all(bl__idle_read(&p->control), p->workers) && bl__board_shows(&p->run, 0))
        bl_explore_fail("all are idle, and there is a task");
}

static void before(void *arg) {
    protocol *p = arg;
    memset(&p->control, 0, sizeof p->control);
    memset(p->posted, 0, sizeof p->posted);
    memset(p->taken, 0, sizeof p->taken);
    p->run = (bl__run){.control = &p->control, .workers = p->workers, .boards = p->entry};
}

static const char *after(void *arg) {
    const protocol *p = arg;
    const int32_t posted = (int32_t)p->control.posted[0];
    const uint32_t left = posted > 0 ? (uint32_t)posted : 0;
    if (p->control.uncopied[0] != left)
        return "the board is not free, or is free too early";
    for (uint32_t n = 0; n < ENTRIES; n++)
        for (uint32_t i = 0; i < p->tasks; i++) {
            const uint32_t task = n * TASKS + i;
            const bool is_left = left && p->entry[0] == n * TASKS && i >= p->tasks - left;
            if (p->taken[task] != (p->posted[n] && !is_left))
                return p->taken[task] > 1 ? "a task was taken twice" : "a task was lost, or is none";
        }
    return NULL;
}

static const struct {
    uint32_t workers, posters, posts, tasks, takes;
} clients[] = {{2, 1, 1, 1, 1}, {2, 1, 1, 2, 1}, {2, 1, 2, 1, 1}, {2, 1, 2, 2, 1}, {2, 2, 1, 1, 1},
               {2, 2, 1, 2, 1}, {2, 2, 2, 1, 1}, {3, 1, 1, 2, 1}, {3, 1, 2, 1, 1}, {3, 2, 1, 1, 1},
               {2, 1, 2, 3, 2}, {3, 2, 2, 2, 1}, {2, 1, 1, 2, 0}, {2, 2, 1, 1, 0}, {3, 1, 1, 1, 0}};

static uint32_t count(void) { return sizeof clients / sizeof clients[0]; }

static void text(uint32_t client, char text[PROVE_TEXT]) {
    snprintf(text, PROVE_TEXT, "boards %u workers %u posters %u posts %u tasks %u takes", clients[client].workers,
             clients[client].posters, clients[client].posts, clients[client].tasks, clients[client].takes);
}

static bool explore(uint32_t client, const prove_limits *limits, bl_explore_result *result) {
    static protocol p;
    bl_explore_options o = prove_explore_options(limits, before, after);
    p.workers = clients[client].workers;
    p.posters = clients[client].posters;
    p.posts = clients[client].posts;
    p.tasks = clients[client].tasks;
    p.takes = clients[client].takes;
    return bl_explore(p.workers, body, &p, &o, result);
}

const prove_family prove_boards = {"boards", count, text, explore};
