/* The exact solver as tasks: random positions against plain alpha-beta, with every split depth, tables that forget
 * nearly everything, and more workers than cores, so that questions are answered while other tasks still work on
 * them. */
#define FOURROW_WITHOUT_PROGRAM
#include "check.h"

#include "fourrow/solver.h"

#include <stdlib.h>

enum { POSITIONS = 24 };

static uint64_t random_state = 7;

static uint32_t random32(void) { return check_random32(&random_state); }

/* Plays random moves until there are `stones` stones, whether or not the game is then over; starts again if it ends
 * earlier. */
static fourrow_board random_position(uint32_t stones) {
    fourrow_game game = {.stones = 0};
    while (game.stones < stones) {
        if (fourrow_game_over(&game))
            game = (fourrow_game){.stones = 0};
        fourrow_game_play(&game, (char)('1' + random32() % FOURROW_COLUMNS));
    }
    return game.board;
}

typedef struct sample {
    fourrow_board boards[POSITIONS];
    int32_t scores[POSITIONS];
} sample;

static sample make_sample(uint32_t from) {
    sample s;
    for (uint32_t i = 0; i < POSITIONS; i++) {
        s.boards[i] = random_position(from + random32() % 4);
        if (!CHECK(fourrow_twin_score(&s.boards[i], &s.scores[i])))
            exit(check_end());
    }
    return s;
}

static void solve(const sample *s, bl_config config, uint32_t bits, uint32_t split) {
    bl_context *context = NULL;
    fourrow_solver solver;
    bl_stats stats;
    int32_t scores[POSITIONS];
    uint64_t nodes = 0;
    check_at("%s %s, %u workers, table of 2^%u, split below %u", config.device, config.scheduler, config.workers, bits,
             split);
    if (!CHECK_SAME(bl_open(&context, &config), BL_OK))
        return;
    if (CHECK_SAME(fourrow_solver_load(&solver, context, 18), BL_OK)) {
        solver.shared.table.bits = bits; /* only a part of the allocation */
        solver.shared.split = split;
        CHECK_SAME(fourrow_solver_run(&solver, context, s->boards, POSITIONS, scores, &nodes, &stats), BL_OK);
        CHECK(memcmp(scores, s->scores, sizeof scores) == 0 && nodes > 0);
        fourrow_solver_unload(&solver, context);
        CHECK(!solver.shared.table.words && !solver.shared.nodes);
    }
    bl_close(context);
}

/* `split` follows the number of stones of the sample, so that the upper plies of each are split: a line of play begins
 * at the root. */
static void test_device(const char *device, uint32_t stones, int rounds) {
    static const char *const schedulers[] = {"auto", "steal:abp", "central:broker", "static:wave"};
    const int count = bl_device_traits(device) & BL_DEVICE_GPU ? 1 : 4; /* the solver offers no others on a GPU */
    for (int i = 0; i < rounds; i++) {
        sample s = make_sample(stones);
        bl_config config = {.device = device, .scheduler = schedulers[i % count], .seed = (uint64_t)i + 1};
        config.workers = bl_device_traits(device) & BL_DEVICE_CPU ? 1 + (uint32_t)i % 6 : 0;
        solve(&s, config, 1 + random32() % 4, stones + 1 + random32() % 12);
        solve(&s, config, 16, stones + random32() % 16);
    }
}

static void test_nothing(void) {
    bl_context *context = NULL;
    fourrow_solver solver;
    fourrow_board none = {0, 0};
    int32_t score = 0;
    uint64_t nodes = 1;
    check_at("no positions");
    if (!CHECK_SAME(bl_open(&context, &(bl_config){.device = "cpu"}), BL_OK))
        return;
    if (CHECK_SAME(fourrow_solver_load(&solver, context, 18), BL_OK)) {
        CHECK_SAME(fourrow_solver_run(&solver, context, &none, 0, &score, &nodes, NULL), BL_OK);
        CHECK_SAME(nodes, 0);
        fourrow_solver_unload(&solver, context);
    }
    bl_close(context);
}

int main(void) {
    check_limit(120);
    test_nothing();
    test_device("cpu", 24, 24 / CHECK_SLOWER);
    if (CHECK_SLOWER < 12)
        test_device("sim", 30, 8);
    if (bl_device_find("cuda", &(bl_device_info){.workers = 0}))
        test_device("cuda", 24, 4);
    return check_end();
}
