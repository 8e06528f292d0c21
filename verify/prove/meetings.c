/* Where workers meet between two waves: the library's own code (runtime/meeting.h).
 *
 * Each worker writes plain data before it comes, and reads that of all others when it has met them: a worker that goes
 * on too early races, or finds data missing. Each spawns something, and all must come to know how much it was in all;
 * or so much that the word on which they wait cannot tell. Then one of them may be told to leave: all leave after the
 * same meeting, or none. Or one stops for an error and does not come: nobody waits for it for ever. In a crowd they
 * meet in groups first; with records the last one looks at the store before anybody goes on. */
#include "prove.h"

static uint32_t crowd_begins, no_spins;

#define BL__MEETING_CROWD crowd_begins
#define BL__MEETING_GROUP 2u
#define BL__MEETING_SPINS no_spins
#include <ballast/runtime/meeting.h>

#include <stdio.h>
#include <string.h>

enum { WORKERS = 4, MEETINGS = 3, RECORDS = 16 };

typedef struct waves {
    uint32_t workers, meetings;
    bool leaves, stops, records, many;
    bl__control control;
    bl__run run;
    bl__tally tally[WORKERS];
    uint32_t done[MEETINGS][WORKERS];
    uint32_t left[WORKERS]; /* after so many meetings */
    _Alignas(BL_LINE) unsigned char store[BL_APART * 16];
} waves;

/* Those of all workers are enough for a wave without tasks. */
static void give_records(waves *v) {
    bl_broker q = bl__free_records(&v->run);
    const uint32_t numbers[2] = {0, 1};
    bl__records_give(&q, numbers, 2);
}

/* Tasks and entries: different for each, and with `many` more entries than the word on which they wait can count. */
static uint64_t spawned_by(const waves *v, uint32_t worker, uint32_t number) {
    const uint32_t entries = v->many ? 200000 + worker : worker + number;
    return v->records ? 0 : (uint64_t)(2 * entries) << 32 | entries;
}

static void check_next(const waves *v, uint32_t number, uint64_t next) {
    uint64_t expected = v->records && number == 1 ? UINT64_C(1) << 32 : 0;
    for (uint32_t i = 0; i < v->workers; i++)
        expected += spawned_by(v, i, number);
    if (next != expected)
        bl_explore_fail("a worker took something else for the next wave");
}

static void body(void *arg, uint32_t worker, uint32_t lane) {
    waves *v = arg;
    uint32_t number = 0;
    (void)lane;
    bl__stack stack = {.top = 0};
    const bl__worker w = {.run = &v->run, .stack = &stack, .tally = &v->tally[worker], .id = worker};
    bl__verdict verdict = {.stays = 1};
    for (; verdict.stays && number < v->meetings; number++) {
        const uint32_t one = 1;
        if (v->stops && worker == 0 && number == v->meetings - 1) {
            bl_fetch_or32_relaxed(&v->control.stop, BL__STOP_FAILED);
            break;
        }
        bl_data_write(&v->done[number][worker], &one, 1);
        if (v->records && number == 0)
            give_records(v);
        uint64_t spawned = spawned_by(v, worker, number);
        if (v->records && number == 1 && worker == 0) /* a task for which there is no record */
            spawned = UINT64_C(1) << 32;
        if (spawned)
            bl_far_add64_relaxed(&v->control.out[number % 3], spawned);
        bl__notes_spawned(&w, (uint32_t)(spawned >> 32), (uint32_t)spawned);
        bl__come(&w, number, bl__takes_spawned(&stack), v->leaves && worker == 0 && number == 1);
        bl__wait_for_all(&w, number, &verdict);
        if (verdict.meeting != number + 1)
            break;
        if (!verdict.stays && number == 0)
            bl_explore_fail("all leave, and nobody wanted to");
        check_next(v, number, verdict.next);
        prove_all_done(v->done[number], v->workers);
        if (bl__notes_meetings(&w))
            bl__note_meeting(&w, number, verdict.next);
    }
    v->left[worker] = number;
}

static void before(void *arg) {
    waves *v = arg;
    memset(&v->control, 0, sizeof v->control);
    memset(v->tally, 0, sizeof v->tally);
    memset(v->done, 0, sizeof v->done);
    v->run = (bl__run){.control = &v->control,
                       .tally = v->tally,
                       .workers = v->workers,
                       .blocks = v->workers,
                       .block_workers = 1,
                       .lanes = 1,
                       .record_bytes = v->records ? 16 : 0,
                       .record_capacity = RECORDS,
                       .free_records = v->store};
    bl__records_init(&v->run, 0, 1);
}

static const char *after(void *arg) {
    const waves *v = arg;
    const uint32_t expected = v->leaves || (v->records && v->meetings > 2) ? 2 : v->meetings;
    for (uint32_t i = 0; i < v->workers && !v->stops; i++)
        if (v->left[i] != expected)
            return "a worker left too early, or too late";
    if (!v->stops && v->control.meetings != expected)
        return "a meeting was not noted";
    return NULL;
}

static const struct {
    uint32_t workers, meetings, crowd;
    const char *how;
} clients[] = {{2, 2, 8, "go on"}, {2, 3, 8, "go on"},   {3, 2, 8, "go on"},   {2, 2, 0, "go on"},
               {3, 2, 0, "go on"}, {4, 1, 0, "go on"},   {2, 3, 8, "leave"},   {3, 2, 8, "leave"},
               {2, 3, 0, "leave"}, {2, 2, 8, "stop"},    {3, 1, 8, "stop"},    {3, 1, 0, "stop"},
               {2, 2, 8, "many"},  {2, 1, 8, "records"}, {2, 3, 8, "records"}, {3, 1, 0, "records"}};

static uint32_t count(void) { return sizeof clients / sizeof clients[0]; }

static void text(uint32_t client, char text[PROVE_TEXT]) {
    snprintf(text, PROVE_TEXT, "meetings %u workers %u meetings %s%s", clients[client].workers,
             clients[client].meetings, clients[client].crowd ? "" : "crowd ", clients[client].how);
}

static bool explore(uint32_t client, const prove_limits *limits, bl_explore_result *result) {
    static waves v;
    const char *how = clients[client].how;
    bl_explore_options o = prove_explore_options(limits, before, after);
    v.workers = clients[client].workers;
    v.meetings = clients[client].meetings;
    v.leaves = !strcmp(how, "leave");
    v.stops = !strcmp(how, "stop");
    v.records = !strcmp(how, "records");
    v.many = !strcmp(how, "many");
    crowd_begins = clients[client].crowd;
    return bl_explore(v.workers, body, &v, &o, result);
}

const prove_family prove_meetings = {"meetings", count, text, explore};
