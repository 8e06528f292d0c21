/* How a GPU's workers announce results (parts/outside.h): plain data in the results, then a number in a ring that the
 * host empties. It hands the numbers it has taken out again, so that results are written twice: no result may be
 * missing, read too early, or overwritten before it was read. */
#include "prove.h"

#include <ballast/parts/outside.h>

#include <stdio.h>
#include <string.h>

enum { WORKERS = 2, NUMBERS = 2, LAPS = 2 };

typedef struct protocol {
    uint32_t workers, laps;
    bl__run run;
    bl__outside host; /* its own copy, with its own position */
    bl__control control;
    uint32_t answers[NUMBERS], results[NUMBERS];
    uint32_t given[NUMBERS]; /* how often a number has been handed out */
    uint32_t seen;
} protocol;

static void await(const uint32_t *word, uint32_t wanted) {
    for (uint32_t seen, tries = 0; (seen = bl_load32_acquire(word)) != wanted;)
        bl_wait_change32(word, seen, &tries);
}

static void take_all(protocol *p) {
    bl__outside *o = &p->host;
    for (uint32_t left = p->workers * p->laps, tries = 0; left; left--) {
        uint32_t number, result, *place = o->answers + (o->answered & o->answers_mask);
        while (!(number = bl__answer_take(o)))
            bl_wait_change32(place, 0, &tries);
        if (--number >= p->workers)
            bl_explore_fail("a number that was not announced");
        bl_data_read(&result, &p->results[number], 1);
        if (result != 100 * p->given[number] + number)
            bl_explore_fail("the result of another lap");
        p->seen++;
        bl_store32_release(&p->given[number], p->given[number] + 1);
    }
}

static void body(void *arg, uint32_t actor, uint32_t lane) {
    protocol *p = arg;
    (void)lane;
    if (actor == p->workers) {
        take_all(p);
        return;
    }
    for (uint32_t lap = 1; lap <= p->laps; lap++) {
        const uint32_t result = 100 * lap + actor;
        await(&p->given[actor], lap);
        bl_data_write(&p->results[actor], &result, 1);
        bl__answer(&p->run, actor);
    }
}

static void before(void *arg) {
    protocol *p = arg;
    memset(&p->control, 0, sizeof p->control);
    memset(p->answers, 0, sizeof p->answers);
    memset(p->results, 0, sizeof p->results);
    p->seen = 0;
    for (uint32_t i = 0; i < NUMBERS; i++)
        p->given[i] = 1;
    p->host = (bl__outside){.answers = p->answers, .answers_mask = NUMBERS - 1, .answered = UINT32_MAX};
    p->run = (bl__run){.control = &p->control, .outside = p->host};
}

static const char *after(void *arg) {
    const protocol *p = arg;
    return p->seen != p->workers * p->laps ? "an answer is lost" : NULL;
}

static uint32_t count(void) { return WORKERS * LAPS; }

static void text(uint32_t i, char text[PROVE_TEXT]) {
    snprintf(text, PROVE_TEXT, "answers %u workers %u laps", i / LAPS + 1, i % LAPS + 1);
}

static bool explore(uint32_t i, const prove_limits *limits, bl_explore_result *result) {
    static protocol p;
    bl_explore_options o = prove_explore_options(limits, before, after);
    p.workers = i / LAPS + 1;
    p.laps = i % LAPS + 1;
    return bl_explore(p.workers + 1, body, &p, &o, result);
}

const prove_family prove_answers = {"answers", count, text, explore};
