/* Target: the simulated machine. The schedule follows from the client's seed. */
#define BL_TARGET_SIM 1
#include "here.h"

#include "sim/machine.h"
#include <stdlib.h>
#include <string.h>

static const verify_layout layouts[] = {
    {"2 threads", 2, 0, 0}, {"3 threads", 3, 0, 0}, {"4 threads", 4, 0, 0}, {NULL, 0, 0, 0}};

enum { CASE_POINTS = 10000000, HISTORY_POINTS = 300000 }; /* scheduling points after which a run counts as endless */

bl_sim_options verify_sim_options;

/* A simulated thread that does not return disappears with its machine. */
static const char *sim_trouble(void) { return NULL; }

typedef struct job {
    verify_code code;
    void *there;
    contract_case what;
    uint32_t cell;
} job;

static void contract_body(void *argument, uint32_t block, uint32_t lane) {
    const job *j = argument;
    (void)lane;
    ((contract_function)j->code)(j->there, j->what, block);
}

static void history_body(void *argument, uint32_t block, uint32_t lane) {
    const job *j = argument;
    (void)lane;
    ((history_function)j->code)(j->there, false, j->cell, block);
}

static bool sim_run(verify_code code, contract_client *there, contract_case what, const contract_client *c,
                    const verify_layout *layout) {
    job j = {.code = code, .there = there, .what = what};
    (void)layout;
    if (what == CONTRACT_SET_UP || what == CONTRACT_AUDIT) { /* outside a run every operation takes effect at once */
        ((contract_function)code)(there, what, 0);
        return true;
    }
    verify_sim_options.seed = c->seed;
    verify_sim_options.max_points = CASE_POINTS;
    return bl_sim_run(verify_threads(c, what), 1, contract_body, &j, &verify_sim_options) == BL_SIM_DONE;
}

static bool sim_record(verify_code code, history_batch *there, bool set_up, const history_batch *b,
                       verify_spread spread) {
    (void)spread;
    for (uint32_t cell = 0; cell < b->count; cell++) {
        job j = {.code = code, .there = there, .cell = cell};
        history_cell *h = there->cells + cell;
        bl_sim_options options = {.seed = h->shape.seed, .max_points = HISTORY_POINTS};
        bl_sim_start_clock();
        if (set_up)
            ((history_function)code)(there, true, cell, 0);
        else if (bl_sim_run(h->shape.threads, 1, history_body, &j, &options) != BL_SIM_DONE)
            h->stuck = 1;
    }
    return true;
}

const verify_target verify_sim = {
    .name = "sim",
    .time = "steps",
    .queue = queues,
    .layout = layouts,
    .pool = (verify_code)pool_thread,
    .patience = 100000, /* scheduling points */
    .steps = 200,
    .items = 16,
    .cells = 64,
    .spreads = 1,
    .clocks = 1, /* each moment has its own step, so only operations that are concurrent appear to be */
    .meets = 0,  /* any starting order is one of the schedules */
    .alloc = here_alloc,
    .release = free,
    .fill = here_fill,
    .copy = here_copy,
    .run = sim_run,
    .record = sim_record,
    .trouble = sim_trouble,
};
