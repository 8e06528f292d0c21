/* The exact solver's tasks without a runtime: all forked children run here, one after another in random order. At
 * random, the table loses everything, and children come back idle, as if the answer that they saw had been overwritten
 * since; joins must then ask again. */
#define FOURROW_WITHOUT_PROGRAM
#include "check.h"

#include <ballast/task.h>

#undef bl_fork
#undef bl_return
#define bl_fork(t, forked, child, count) ((void)(t), keep_fork((forked), (child), (count)))
#define bl_return(t, result) ((void)(t), keep_result(*(result)))

#include "fourrow/question.h"

/* What the last task or join did. */
static struct {
    uint32_t calls, count; /* count 0: returned */
    fourrow_question forked, child;
    int32_t result;
} done;

static void keep_fork(const fourrow_question *forked, const fourrow_question *child, uint32_t count) {
    done.calls++;
    done.forked = *forked;
    done.child = *child;
    done.count = count;
}

static void keep_result(int32_t result) {
    done.calls++;
    done.count = 0;
    done.result = result;
}

#include "fourrow/fourrow.h"
#include "fourrow/solve.h"

#include <stdlib.h>

static uint64_t random_state = 3;

static uint32_t random32(void) { return check_random32(&random_state); }

typedef struct machine {
    fourrow_solve_shared shared;
    fourrow_local local;
    uint32_t forget; /* one task in this many finds an empty table; 0: none */
    uint32_t idlers; /* one child in this many comes back idle; 0: only those with a reason */
    uint64_t idle, tasks;
} machine;

static void maybe_forget(machine *m) {
    if (m->forget && random32() % m->forget == 0)
        memset(m->shared.table.words, 0, sizeof(uint64_t) << m->shared.table.bits);
}

/* Checks what the children left in the table about the board above them. */
static void check_entry(const machine *m, const fourrow_board *b) {
    fourrow_bounds known = {-22, 22};
    int32_t score = 0;
    fourrow_recall(&m->shared.table, fourrow_key(b), &known);
    CHECK(fourrow_twin_score(b, &score) && known.lower <= score && score <= known.upper);
}

static int32_t run(machine *m, const fourrow_question *q, uint32_t index) {
    bl_task task;
    if (q->kind == FOURROW_ASK_BELOW && m->idlers && random32() % m->idlers == 0)
        return FOURROW_IDLE;
    memset(&task, 0, sizeof task);
    memset(&done, 0, sizeof done);
    maybe_forget(m);
    m->tasks++;
    fourrow_solve_run(&task, q, index, &m->shared, &m->local);
    while (CHECK(done.calls == 1 && done.count <= FOURROW_COLUMNS) && done.count > 0) {
        const fourrow_question forked = done.forked, child = done.child;
        const uint32_t count = done.count, first = random32() % count;
        int32_t results[FOURROW_COLUMNS];
        for (uint32_t i = 0; i < count; i++)
            results[(first + i) % count] = run(m, &child, (first + i) % count);
        for (uint32_t i = 0; i < count; i++)
            m->idle += results[i] == FOURROW_IDLE;
        if (random32() % 64 == 0)
            check_entry(m, &child.board);
        maybe_forget(m);
        memset(&done, 0, sizeof done);
        fourrow_solve_join(&task, &forked, results, count, &m->shared, &m->local);
    }
    return done.result;
}

/* Random moves; starts again when the game is over or nearly decided, since such positions need no search. */
static fourrow_board random_position(uint32_t stones, int32_t *score) {
    fourrow_game game = {.stones = 0};
    for (;;) {
        if (fourrow_game_over(&game))
            game = (fourrow_game){.stones = 0};
        if (game.stones == stones && CHECK(fourrow_twin_score(&game.board, score)) && abs(*score) <= 4)
            return game.board;
        if (game.stones == stones)
            game = (fourrow_game){.stones = 0};
        fourrow_game_play(&game, (char)('1' + random32() % FOURROW_COLUMNS));
    }
}

static void test_orders(uint32_t bits, uint32_t forget, uint32_t idlers) {
    machine m = {.shared = {.table = {.bits = bits}}, .forget = forget, .idlers = idlers};
    m.shared.table.words = calloc((size_t)1 << bits, sizeof(uint64_t));
    if (!CHECK(m.shared.table.words != NULL))
        return;
    for (int i = 0; i < 30 / CHECK_SLOWER; i++) {
        uint32_t stones = 24 + random32() % 8;
        int32_t score = 0;
        fourrow_question q = {.board = random_position(stones, &score), .kind = FOURROW_SCORE};
        m.shared.split = stones + random32() % 13;
        check_at("table of 2^%u, one in %u forgets, one in %u idle, position %d", bits, forget, idlers, i);
        CHECK(run(&m, &q, 0) == score);
    }
    check_at("table of 2^%u, one in %u forgets, one in %u idle", bits, forget, idlers);
    CHECK(m.idle > 0 && m.tasks > 0 && m.local.nodes > 0);
    free(m.shared.table.words);
}

int main(void) {
    check_limit(120);
    test_orders(14, 0, 0);
    test_orders(14, 50, 0);
    test_orders(14, 0, 5);
    test_orders(14, 10, 3);
    test_orders(1, 0, 10);
    return check_end();
}
