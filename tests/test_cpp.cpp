// COMPILE: -O1
/* C++: programs as structs, and exceptions that leave a task. */
#include <ballast/cpp.h>

#include <stdexcept>
#include <stdlib.h>
#include <string>

#include "check.h"

static bl_context *open_cpu(uint32_t workers) {
    bl_context *c = nullptr;
    bl_config config{};
    config.device = "cpu";
    config.workers = workers;
    CHECK_SAME(bl_open(&c, &config), BL_OK);
    return c;
}

/* ---- programs as structs ---- */

struct node {
    uint32_t depth, number;
};
struct totals {
    uint64_t *tasks;
    uint32_t throw_at;
};
struct mine {
    uint64_t tasks, begun;
};

struct walk : bl_defaults {
    using payload = node;
    using shared = totals;
    using local = mine;
    static constexpr uint32_t max_spawn = 2;
    static constexpr const char *name = "walk";
    static void begin(const totals *, mine *local, uint32_t) { local->begun = 1; }
    static void run(bl_task *t, const node *p, uint32_t, const totals *s, mine *local) {
        if (p->number == s->throw_at)
            throw std::runtime_error("node " + std::to_string(p->number));
        local->tasks += local->begun;
        for (uint32_t i = 0; i < 2 && p->depth; i++) {
            node next{p->depth - 1, 2 * p->number + i};
            bl_spawn(t, &next);
        }
    }
    static void merge(const totals *s, const mine *local) { bl_fetch_add64_relaxed(s->tasks, local->tasks); }
};

struct add_up : bl_defaults {
    using payload = node;
    using result = double;
    static constexpr bool pieces = true;
    static void run(bl_task *t, const node *p, uint32_t begin, uint32_t end, const bl_nothing *, bl_nothing *) {
        double sum = 0;
        for (uint32_t i = begin; i < end; i++)
            sum += i;
        if (p->depth && begin <= p->number && p->number < end)
            throw std::runtime_error("index " + std::to_string(p->number));
        bl_return(t, &sum);
    }
    static void reduce(double *into, const double *next) { *into += *next; }
};

struct count_pieces : bl_defaults {
    using payload = bl_nothing;
    using shared = totals;
    static constexpr bool pieces = true;
    static constexpr uint32_t max_spawn = 0;
    static void run(bl_task *, const bl_nothing *, uint32_t begin, uint32_t end, const totals *s, bl_nothing *) {
        bl_fetch_add64_relaxed(s->tasks, end - begin);
    }
};

enum where { NOWHERE, BEFORE_FORK, AFTER_FORK, IN_LEAF, IN_JOIN };
struct places {
    uint32_t where, number;
};

struct odd { /* no std::exception */
    int number;
};

struct fork_and_join : bl_defaults {
    using payload = node;
    using shared = places;
    using result = uint64_t;
    static constexpr const char *name = "fork_and_join";
    static void run(bl_task *t, const node *p, uint32_t index, const places *s, bl_nothing *) {
        node own = bl_is_root(t) ? *p : node{p->depth - 1, 2 * p->number + index};
        uint64_t one = 1;
        if (own.number == s->number && s->where == BEFORE_FORK)
            throw std::logic_error("before a fork");
        if (own.depth == 0 && s->where == IN_LEAF && own.number % 64 == 21)
            throw odd{3};
        if (own.depth == 0)
            bl_return(t, &one);
        else
            bl_fork(t, &own, &own, 2);
        if (own.number == s->number && s->where == AFTER_FORK)
            throw std::logic_error("after a fork");
    }
    static void join(bl_task *t, const node *p, const uint64_t *results, uint32_t count, const places *s,
                     bl_nothing *) {
        uint64_t sum = 0;
        for (uint32_t i = 0; i < count; i++)
            sum += results[i];
        if (p->number == s->number && s->where == IN_JOIN)
            throw std::logic_error("in a join");
        bl_return(t, &sum);
    }
};

/* The leaves of a tree, in order: neighbours are combined only with each other. */
struct span_of_leaves {
    uint32_t first, last, gaps; /* where neighbours are not next to each other */
};
struct collect : bl_defaults {
    using payload = node;
    using result = span_of_leaves;
    static void run(bl_task *t, const node *p, uint32_t index, const bl_nothing *, bl_nothing *) {
        node own = bl_is_root(t) ? *p : node{p->depth - 1, 2 * p->number + index};
        span_of_leaves leaf{own.number, own.number, 0};
        if (own.depth)
            bl_fork(t, &own, &own, 2);
        else
            bl_return(t, &leaf);
    }
    static void reduce(span_of_leaves *into, const span_of_leaves *next) {
        into->gaps += next->gaps + (into->last + 1 != next->first);
        into->last = next->last;
    }
};

struct count_leaves : bl_defaults {
    using payload = node;
    using result = uint64_t;
    static constexpr bool sum = true;
    static void run(bl_task *t, const node *p, uint32_t, const bl_nothing *, bl_nothing *) {
        node child{p->depth - 1, 0};
        uint64_t one = 1;
        if (p->depth)
            bl_fork(t, p, &child, 3);
        else
            bl_return(t, &one);
    }
};

static void test_structs() {
    for (uint32_t workers = 1; workers <= 3; workers++) {
        uint64_t tasks = 0, pieces = 0, leaves = 0;
        totals s{&tasks, 0}, in_pieces{&pieces, 0};
        node root{12, 1};
        places nowhere{NOWHERE, 0};
        bl_stats stats;
        check_at("structs, %u workers", workers);
        bl_context *c = open_cpu(workers);
        CHECK_SAME(bl_run(c, bl_program_of<walk>(), &s, &root, 1, &stats), BL_OK);
        CHECK(tasks == 8191 && stats.tasks == 8191);
        CHECK_SAME(bl_run_range(c, bl_program_of<count_pieces>(), &in_pieces, nullptr, 100000, nullptr), BL_OK);
        CHECK_SAME(pieces, 100000);
        double sum = 0;
        node quiet{0, 0}, loud{1, 77777};
        CHECK_SAME(bl_run_reduce(c, bl_program_of<add_up>(), nullptr, &quiet, 100000, &sum, nullptr), BL_OK);
        CHECK(sum == 4999950000.0);
        CHECK_SAME(bl_run_reduce(c, bl_program_of<add_up>(), nullptr, &loud, 100000, &sum, nullptr), BL_ETASK);
        CHECK(strstr(bl_error_detail(c), "index 77777"));
        const node *failed = static_cast<const node *>(bl_failure(c, nullptr));
        CHECK(failed && failed->number == 77777);
        CHECK_SAME(bl_run_join(c, bl_program_of<fork_and_join>(), &nowhere, &root, 1, &leaves, &stats), BL_OK);
        CHECK_SAME(leaves, 4096);
        CHECK_SAME(stats.tasks, 8191);
        span_of_leaves all{};
        CHECK_SAME(bl_run_join(c, bl_program_of<collect>(), nullptr, &root, 1, &all, nullptr), BL_OK);
        CHECK(all.first == 4096 && all.last == 8191 && all.gaps == 0);
        node wide{7, 0};
        CHECK_SAME(bl_run_join(c, bl_program_of<count_leaves>(), nullptr, &wide, 1, &leaves, nullptr), BL_OK);
        CHECK_SAME(leaves, 2187);
        CHECK_SAME(bl_run(c, bl_program_of<walk>(), nullptr, &root, 1, nullptr), BL_EINVAL); /* shared data is wanted */
        CHECK_SAME(bl_close(c), BL_OK);
    }
}

/* ---- exceptions ---- */

static void test_throws() {
    for (uint32_t workers = 1; workers <= 3; workers++)
        for (uint32_t at = 1; at < 8191; at = at * 3 + 1) {
            uint64_t tasks = 0;
            totals s{&tasks, at};
            node root{12, 1};
            bl_stats stats;
            check_at("node %u throws, %u workers", at, workers);
            bl_context *c = open_cpu(workers);
            CHECK_SAME(bl_run(c, bl_program_of<walk>(), &s, &root, 1, &stats), BL_ETASK);
            std::string says = "walk: a task threw: node " + std::to_string(at);
            CHECK(says == bl_error_detail(c));
            const node *thrower = static_cast<const node *>(bl_failure(c, nullptr));
            CHECK(thrower && thrower->number == at);
            s.throw_at = 0;
            tasks = 0;
            CHECK_SAME(bl_run(c, bl_program_of<walk>(), &s, &root, 1, nullptr), BL_OK); /* the context can run again */
            CHECK_SAME(tasks, 8191);
            CHECK_SAME(bl_close(c), BL_OK);
        }
}

static void test_forks() {
    static const char *const says[] = {"", "before a fork", "after a fork", "an exception that is not a std::exception",
                                       "in a join"};
    for (uint32_t workers = 1; workers <= 3; workers++)
        for (uint32_t at = BEFORE_FORK; at <= IN_JOIN; at++)
            for (uint32_t number = 1; number < 2048; number = number * 5 + 2) {
                places s{at, number};
                node root{12, 1};
                uint64_t leaves = 0;
                check_at("an exception in a fork, %u, node %u, %u workers", at, number, workers);
                bl_context *c = open_cpu(workers);
                CHECK_SAME(bl_run_join(c, bl_program_of<fork_and_join>(), &s, &root, 1, &leaves, nullptr), BL_ETASK);
                CHECK(strstr(bl_error_detail(c), says[at]) != nullptr);
                s.where = NOWHERE;
                CHECK_SAME(bl_run_join(c, bl_program_of<fork_and_join>(), &s, &root, 1, &leaves, nullptr), BL_OK);
                CHECK_SAME(leaves, 4096);
                CHECK_SAME(bl_close(c), BL_OK);
            }
}

/* ---- plain functions, and a program by macros ---- */

static void throw_text(bl_task *, const void *payload, uint32_t index, const void *) {
    if (index == *static_cast<const uint32_t *>(payload))
        throw std::out_of_range(std::string(1000, 'x'));
}
static void throw_in_body(uint32_t begin, uint32_t end, const void *) {
    if (begin <= 700 && 700 < end)
        throw std::out_of_range("seven hundred");
}
static void throw_in_long_body(uint64_t begin, uint64_t end, const void *) {
    if (begin <= 5000000000 && 5000000000 < end)
        throw std::out_of_range("five thousand million");
}

static void test_functions() {
    bl_program *function = bl_program_from_function(throw_text, 4, 0, 1);
    bl_program *body = bl_program_from_body(throw_in_body, 0);
    bl_program *long_body = bl_program_from_long_body(throw_in_long_body, 0);
    bl_context *c = open_cpu(2);
    uint32_t payload = 33;
    check_at("plain functions that throw");
    CHECK_SAME(bl_run_range(c, function, nullptr, &payload, 1000, nullptr), BL_ETASK);
    CHECK(strstr(bl_error_detail(c), "threw: xxxx") && strlen(bl_error_detail(c)) < 400);
    const uint32_t *thrower = static_cast<const uint32_t *>(bl_failure(c, nullptr));
    CHECK(thrower && *thrower == 33);
    CHECK_SAME(bl_run_range(c, body, nullptr, nullptr, 1000, nullptr), BL_ETASK);
    CHECK(strstr(bl_error_detail(c), "seven hundred") != nullptr);
    CHECK_SAME(bl_run_range(c, long_body, nullptr, nullptr, 6000000000, nullptr), BL_ETASK);
    CHECK(strstr(bl_error_detail(c), "five thousand million") != nullptr);
    payload = 1000;
    CHECK_SAME(bl_run_range(c, function, nullptr, &payload, 1000, nullptr), BL_OK);
    CHECK_SAME(bl_close(c), BL_OK);
    CHECK(bl_program_from_function(nullptr, 4, 0, 1) == nullptr);
    bl_program_free(long_body);
    bl_program_free(body);
    bl_program_free(function);
}

static BL_TASK void macro_run(bl_task *, const uint32_t *p, uint32_t, const bl_nothing *, bl_nothing *) {
    if (*p == 7)
        throw std::runtime_error("seven");
}
#define BL_PROGRAM macro
#define BL_PAYLOAD uint32_t
#define BL_RUN macro_run
#include <ballast/program.h>

static void test_macros() {
    uint32_t roots[3] = {1, 7, 2};
    check_at("a program by macros that throws");
    bl_context *c = open_cpu(2);
    CHECK_SAME(bl_start(c, macro_cpu(), nullptr, roots, 3), BL_OK);
    CHECK_SAME(bl_wait(c, nullptr), BL_ETASK);
    CHECK(strstr(bl_error_detail(c), "macro: a task threw: seven") != nullptr);
    CHECK_SAME(bl_close(c), BL_OK);
}

int main() {
    check_limit(300);
    test_structs();
    test_throws();
    test_forks();
    test_functions();
    test_macros();
    return check_end();
}
