/* The protocol between nodes on a simulated network: every schedule of small clusters, and random schedules of larger
 * ones.
 *
 * test_cluster [--deep] [--runs N] [--seed N] [--first-error]
 *   --deep         explores larger clusters and five million random schedules; minutes
 *   --runs N       random schedules
 *   --seed N       prints the steps of one random schedule
 *   --first-error  stops at the first error and prints only what it is */
#include "check.h"

#include "../verify/cluster/all_schedules.h"
#include "../verify/cluster/random_schedule.h"
#include "../verify/cluster/trees.h"
#include <stdlib.h>

static bool first_error;

/* ---- every schedule ---- */

typedef struct small {
    const char *tree; /* see trees.h */
    uint32_t nodes;
    bool results, early, lazy, kills, deep;
} small;

static const small smalls[] = {
    {"", 2, false, false, false, true, false},
    {"", 3, false, false, false, false, false},
    {"a0", 2, true, true, false, true, false},
    {"a0(bc)", 2, false, false, false, false, false},
    {"a0(bc)", 2, true, false, false, false, false},
    {"a0(bc)", 2, true, true, true, true, false},
    {"a0(bc(d')e)", 2, true, true, false, false, false},
    {"a0(bc'(de))f1", 2, true, true, false, false, false},
    {"a0(b(cd)e(fg))", 2, false, true, true, false, false},
    {"a0", 3, true, false, false, false, false},
    {"a2", 3, true, true, false, false, false},
    {"a0(bc)", 3, false, false, false, false, false},
    {"a1(bc')", 3, true, false, false, false, false},
    {"a0", 3, true, false, false, true, false},
    {"a0(bc)", 3, true, false, false, false, false},
    {"a2(bcd)", 3, false, false, false, false, false},
    {"a0(bc)", 3, false, true, true, false, false},
    {"a0(b(cd)e(fg'))", 2, true, true, false, true, false},
    {"", 4, false, false, false, false, false},
    {"a0(bc)", 3, true, true, false, true, true},
    {"a0(b(cd')e)f1", 3, true, true, false, false, true},
    {"a1(b(cd)e(fg))", 3, false, true, true, false, true},
    {"a2(bcdef)", 3, true, false, false, false, true},
    {"a0(b(cd)e)f2(gh')", 3, true, true, false, false, true},
    {"a0(b(c(de)f)g(h(ij)k'))", 2, true, true, true, true, true},
    {"a0", 4, true, false, false, false, true},
    {"a3(bc)", 4, true, true, false, false, true},
};

static void test_small(const small *s, uint64_t strong, uint64_t states_max) {
    static tree_memory memory;
    world_tree t;
    world_options o = {s->nodes, 1000, 1, s->early, s->lazy, strong};
    check_at("%u nodes, \"%s\"%s%s%s%s%s", s->nodes, s->tree, s->results ? ", results" : "", s->early ? ", early" : "",
             s->lazy ? ", lazy" : "", strong ? ", one takes all" : "", s->kills ? ", a node killed" : "");
    if (!CHECK(tree_read(&memory, s->tree, s->results, &t)))
        return;
    cluster_explored e = cluster_explore(&o, &t, s->kills, states_max, first_error ? NULL : stdout);
    if (first_error && (e.wrong || !e.complete)) {
        printf("%s (%s)\n", e.wrong ? e.wrong : "far more states than there should be", check_doing);
        exit(1);
    }
    CHECK(!e.wrong);
    CHECK(e.complete);
    if (!first_error)
        printf("%-60s %9llu states %10llu steps %9.3g schedules, longest %u, %llu messages when done\n", check_doing,
               (unsigned long long)e.states, (unsigned long long)e.steps, e.schedules, e.depth,
               (unsigned long long)e.messages);
}

/* ---- random schedules ---- */

static void test_random(uint64_t first, uint64_t runs) {
    uint64_t steps = 0, messages[BL__CLUSTER_KINDS] = {0}, entries = 0, killed = 0, moved = 0;
    double idle = 0;
    for (uint64_t seed = first; seed < first + runs; seed++) {
        check_at("--seed %llu", (unsigned long long)seed);
        cluster_schedule c = cluster_random(seed, NULL);
        if (c.wrong) {
            printf("%s (%u nodes, %u entries, --seed %llu)\n", c.wrong, c.nodes, c.entries, (unsigned long long)seed);
            if (first_error)
                exit(1);
        }
        if (!CHECK(!c.wrong))
            return;
        steps += c.steps;
        entries += c.entries;
        killed += c.killed != 0;
        moved += c.sums.entries;
        if (!c.killed && (double)c.sums.idle / (double)c.allowed > idle)
            idle = (double)c.sums.idle / (double)c.allowed;
        for (uint32_t k = 0; k < BL__CLUSTER_KINDS; k++)
            messages[k] += c.sums.messages[k];
    }
    if (first_error)
        return;
    printf("%llu random schedules, %llu with killed nodes: %llu steps, %llu entries, %llu moves\n",
           (unsigned long long)runs, (unsigned long long)killed, (unsigned long long)steps, (unsigned long long)entries,
           (unsigned long long)moved);
    printf("messages:");
    for (uint32_t k = 0; k < BL__CLUSTER_KINDS; k++)
        printf(" %s %llu", world_kinds[k], (unsigned long long)messages[k]);
    printf("; at most %.2f of those allowed when done\n", idle);
    CHECK(runs < 1000 || (messages[BL__CLUSTER_ALARM] && messages[BL__CLUSTER_NAME] && moved && killed < runs / 2));
}

/* ---- what a network of one run cannot show ---- */

static void test_alone(void) {
    bl__cluster_node n;
    bl__cluster_orders out;
    check_at("one node");
    bl__cluster_begin(&n, 0, 1, 1, 10, 1);
    bl__cluster_shows(&n, 5, &out);
    CHECK_SAME(out.count, 0);
    bl__cluster_low(&n, &out);
    CHECK_SAME(out.count, 0);
    bl__cluster_dry(&n, &out);
    CHECK(out.count == 1 && out.list[0].verb == BL__CLUSTER_END && !out.list[0].on);
    bl__cluster_dry(&n, &out);
    CHECK_SAME(out.count, 0);
}

static void test_other_run(void) {
    bl__cluster_node n;
    bl__cluster_orders out;
    bl__cluster_message m = {BL__CLUSTER_NAME, 1, 0, 0, {0}};
    check_at("a name left in an earlier run");
    bl__cluster_begin(&n, 0, 2, 2, 10, 1);
    bl__cluster_shows(&n, 4, &out);
    bl__cluster_receive(&n, 1, &m, &out);
    CHECK_SAME(out.count, 0);
    m.run = 2;
    bl__cluster_receive(&n, 1, &m, &out);
    CHECK(out.count == 1 && out.list[0].message.kind == BL__CLUSTER_ENTRIES && out.list[0].message.count == 2);
}

static void test_dry(void) {
    bl__cluster_node n;
    bl__cluster_orders out;
    bl__cluster_message m = {BL__CLUSTER_ASK, 1, 0, 0, {0}};
    check_at("a node that has used up what it showed");
    bl__cluster_begin(&n, 0, 2, 1, 10, 1);
    bl__cluster_shows(&n, 4, &out);
    bl__cluster_dry(&n, &out);
    bl__cluster_receive(&n, 1, &m, &out);
    CHECK(out.count == 1 && out.list[0].message.kind == BL__CLUSTER_REFUSE);
}

/* Every other node is asked, and about equally often. */
static void test_victims(void) {
    bl__cluster_node n;
    bl__cluster_orders out;
    bl__cluster_message refuse = {BL__CLUSTER_REFUSE, 1, 0, 0, {0}};
    uint32_t asked[7] = {0}, rounds = 7000;
    check_at("victims");
    bl__cluster_begin(&n, 3, 7, 1, 10, 12345);
    for (uint32_t i = 0; i < rounds; i++) {
        bl__cluster_shows(&n, 1, &out);
        bl__cluster_ran(&n);
        bl__cluster_low(&n, &out);
        if (!CHECK(out.count == 1 && out.list[0].message.kind == BL__CLUSTER_ASK && out.list[0].node < 7))
            return;
        asked[out.list[0].node]++;
        bl__cluster_receive(&n, out.list[0].node, &refuse, &out);
    }
    for (uint32_t i = 0; i < 7; i++)
        CHECK(i == 3 ? !asked[i] : asked[i] > rounds / 6 * 9 / 10 && asked[i] < rounds / 6 * 11 / 10);
}

/* Two seeds that differ in their last bit select different victims. */
static void test_seeds(void) {
    bl__cluster_node a, b;
    bl__cluster_orders from_a, from_b;
    uint32_t different = 0;
    check_at("seeds");
    for (uint32_t number = 0; number < 100; number++) {
        bl__cluster_begin(&a, number, 100, 1, 10, 2);
        bl__cluster_begin(&b, number, 100, 1, 10, 3);
        bl__cluster_dry(&a, &from_a);
        bl__cluster_dry(&b, &from_b);
        different += from_a.list[0].node != from_b.list[0].node;
    }
    CHECK(different > 80);
}

int main(int argc, char **argv) {
    uint64_t runs = 150000, first = 1, states_max = 1000000;
    bool deep = false;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--deep")) {
            deep = true;
            runs = 5000000;
            states_max = 10000000;
        } else if (!strcmp(argv[i], "--runs") && i + 1 < argc)
            runs = strtoull(argv[++i], NULL, 10);
        else if (!strcmp(argv[i], "--seed") && i + 1 < argc) {
            cluster_schedule c = cluster_random(strtoull(argv[++i], NULL, 10), stdout);
            printf("%u nodes, %u entries: %s\n", c.nodes, c.entries, c.wrong ? c.wrong : "right");
            return c.wrong != NULL;
        } else if (!strcmp(argv[i], "--first-error"))
            first_error = true, states_max = 200000;
        else {
            fprintf(stderr, "usage: test_cluster [--deep] [--runs N] [--seed N] [--first-error]\n");
            return 2;
        }
    }
    check_limit(deep ? 7200 : 500);
    test_alone();
    test_other_run();
    test_dry();
    test_victims();
    test_seeds();
    for (uint32_t i = 0; i < sizeof smalls / sizeof *smalls; i++)
        if (deep || !smalls[i].deep)
            for (uint64_t strong = 0; strong <= (smalls[i].nodes == 2 ? 2 : 0); strong += 2) /* node 1 is */
                test_small(&smalls[i], strong, states_max);
    test_random(first, runs);
    return check_end();
}
