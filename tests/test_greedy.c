/* The suite greedy: its bound, computed by hand, its loads, and that every way to create tasks runs each task once. */
#include "check.h"

#include "../bench/greedy/greedy_run.h"

#include <math.h>
#include <stdlib.h>

static bool near(double a, double b) { return fabs(a - b) < 1e-12; }

/* Sixteen tasks of 1 to 16 ms. */
static void check_bound(void) {
    uint32_t took[16];
    for (uint32_t i = 0; i < 16; i++)
        took[i] = (i + 1) * 1000000;
    greedy_limits plain = greedy_limits_of(&(greedy_setting){GREEDY_SINGLY, 2, 1, false}, took, 16);
    CHECK(near(plain.share, 0.068) && near(plain.path, 0.016) && near(plain.bound, 1.1 * 0.084 + 0.002));
    greedy_limits one = greedy_limits_of(&(greedy_setting){GREEDY_PIECES, 2, 1, false}, took, 16);
    CHECK(near(one.path, 0.016)); /* a sixteenth */
    greedy_limits two = greedy_limits_of(&(greedy_setting){GREEDY_PIECES, 1, 1, false}, took, 16);
    CHECK(near(two.path, 0.031)); /* an eighth: the last two */
    greedy_limits gpu = greedy_limits_of(&(greedy_setting){GREEDY_RANGE, 4, 1, true}, took, 16);
    CHECK(near(gpu.share, 0.034) && near(gpu.path, 0.016) && near(gpu.bound, 1.1 * 0.066 + 50e-6));
    greedy_limits lanes = greedy_limits_of(&(greedy_setting){GREEDY_RANGE, 4, 8, true}, took, 16);
    CHECK(near(lanes.share, 0.031 / 4) && near(lanes.path, 0.016)); /* two batches, each with one of the two longest */
    greedy_limits waits = greedy_limits_of(&(greedy_setting){GREEDY_TREE, 4, 8, true}, took, 16);
    CHECK(near(waits.path, 0.032));
}

static void check_loads(void) {
    greedy_load a, b;
    for (unsigned i = 0; greedy_load_name(i); i++) {
        uint32_t least = UINT32_MAX, most = 0;
        check_at("%s", greedy_load_name(i));
        if (!CHECK(greedy_load_make(&a, greedy_load_name(i), 64, 1000)) ||
            !CHECK(greedy_load_make(&b, greedy_load_name(i), 64, 1000)))
            return;
        CHECK(a.count == b.count && memcmp(a.length, b.length, a.count * sizeof *a.length) == 0);
        for (uint32_t k = 0; k < a.count; k++) {
            least = a.length[k] < least ? a.length[k] : least;
            most = a.length[k] > most ? a.length[k] : most;
        }
        CHECK(least >= 1000 && most <= 24000 && (i == 0 || most > 10 * least));
        greedy_load_free(&a);
        greedy_load_free(&b);
    }
    check_at("%s", "");
    CHECK(!greedy_load_make(&a, "nothing", 8, 1000));
}

/* On every scheduler, with tasks that take no time. */
static void check_runs(void) {
    static uint32_t nothing[1500];
    greedy_load load = {1500, nothing};
    const char *name;
    for (uint32_t i = 0; (name = bl_scheduler_name(i)); i++) {
        bl_context *context;
        bl_config config = {.device = "cpu", .workers = 3};
        config.scheduler = name;
        if (!CHECK_SAME(bl_open(&context, &config), BL_OK))
            return;
        for (int shape = 0; shape < GREEDY_SHAPES; shape++) {
            greedy_result r;
            check_at("%s, %s", name, greedy_shape_names[shape]);
            greedy_run(context, (greedy_shape)shape, false, &load, &r);
            CHECK_SAME(r.status, BL_OK);
            CHECK(r.right && r.stats.tasks >= load.count && r.stats.workers == 3);
        }
        bl_close(context);
    }
}

int main(void) {
    check_limit(120);
    CHECK(greedy_shape_find("tree") == GREEDY_TREE && greedy_shape_find("nothing") < 0);
    check_bound();
    check_loads();
    check_runs();
    return check_end();
}
