// COMPILE: -O1
/* One run over the CPU and the simulated machine, which stands for a GPU: it has warps and a memory of its own, and
 * exchanges entries with others through rings. */
#include "nodes_check.h"

#include "cluster/local.h"
#include "run/job.h"
#include <ballast/parts/outside.h>

/* ---- what the host makes of the notes: here the test is the GPU ---- */

/* Messages that node 1 has sent: with the first ones it asks for work, because it is dry. */
static uint64_t sent_after(bl_context *node, bl_context *c, uint32_t taken, uint32_t given) {
    bl_store64_host_release(&node->inlet.outlet.notes->dry, (uint64_t)given << 32 | taken);
    (void)bl__node_serves(node);
    return bl__local_traffic(c->cluster, 1)->messages;
}

static void give_one(bl_context *node, uint32_t at, const uint32_t *entry) {
    uint32_t *slot = bl__outlet_slot(&node->inlet.ring, &node->inlet.outlet, at);
    memcpy(slot + 1, entry, 16);
    bl_store32_host_release(slot, at + 1);
}

static void check_dry(void) {
    const uint32_t entries[3][4] = {{0, 1, 7, 7}, {0, 2, 8, 8}, {3, 4, 9, 9}};
    bl_context *c = NULL;
    check_at("dry");
    CHECK_SAME(bl_open(&c, &(bl_config){.device = "cpu+sim"}), BL_OK);
    bl_context *node = bl__local_node(c->cluster, 1);
    CHECK_SAME(bl__local_start(c->cluster, wood_cpu(), 0, false, c), BL_OK);
    CHECK_SAME(bl__local_traffic(c->cluster, 1)->messages, 0);
    bl__inlet_put(node, entries[0], sizeof entries[0] / sizeof entries[0][0], 3);
    CHECK_SAME(sent_after(node, c, 0, 0), 0); /* there are entries that have not been taken, ... */
    CHECK_SAME(sent_after(node, c, 2, 0), 0);
    CHECK_SAME(sent_after(node, c, 3, 1), 0); /* ... or one that was given and is not there yet */
    give_one(node, 0, entries[0]);
    CHECK_SAME(sent_after(node, c, 3, 0), 0); /* it has been given since */
    CHECK_SAME(node->inlet.tickets, 3);
    CHECK_SAME(sent_after(node, c, 3, 1), 0); /* nobody wants it: it goes back */
    CHECK_SAME(node->inlet.tickets, 4);
    CHECK(!memcmp(bl__inlet_slot(&node->inlet.ring, 3) + 1, entries[0], sizeof entries[0]));
    CHECK(sent_after(node, c, 4, 1) > 0);
    CHECK_SAME(bl_close(c), BL_OK);
}

/* For threads that are out of work a few entries, and as many as the outlet has room for when a GPU asks, too. */
static void check_wish_for_threads(void) {
    bl_context *c = NULL;
    check_at("wish for threads");
    CHECK_SAME(bl_open(&c, &(bl_config){.device = "cpu+sim+sim"}), BL_OK);
    bl_context *node = bl__local_node(c->cluster, 1), *other = bl__local_node(c->cluster, 2);
    CHECK_SAME(bl__local_start(c->cluster, wood_cpu(), 0, false, c), BL_OK);
    bl__control control = {.idle = (uint64_t)1 << 32 | 1};
    const bl__run run = {.control = &control, .outside = bl__local_node(c->cluster, 0)->inlet.ring};
    const uint64_t *wish = &node->inlet.outlet.notes->wish;
    const uint32_t room = node->inlet.outlet.mask + 1;
    bl__node_dry(&run, control.idle);
    const uint32_t few = (uint32_t)bl_load64_host(wish);
    CHECK(few > 0 && few < room);
    CHECK_SAME((uint32_t)bl_load64_host(&other->inlet.outlet.notes->wish), few);
    (void)sent_after(other, c, 0, 0);
    CHECK_SAME((uint32_t)bl_load64_host(wish), room);
    CHECK_SAME(bl_close(c), BL_OK);
}

/* As much as the outlet has room for, as soon as a GPU wants something. */
static void check_wish(void) {
    const uint32_t entry[4] = {0, 1, 7, 7};
    bl_context *c = NULL;
    check_at("wish");
    CHECK_SAME(bl_open(&c, &(bl_config){.device = "sim+sim"}), BL_OK);
    bl_context *node = bl__local_node(c->cluster, 0), *other = bl__local_node(c->cluster, 1);
    CHECK_SAME(bl__local_start(c->cluster, wood_cpu(), 0, false, c), BL_OK);
    const uint64_t *wish = &node->inlet.outlet.notes->wish;
    const uint32_t room = node->inlet.outlet.mask + 1;
    CHECK_SAME((uint32_t)bl_load64_host(wish), 0);
    (void)sent_after(other, c, 0, 0);
    CHECK_SAME((uint32_t)bl_load64_host(wish), room);
    give_one(node, 0, entry);
    CHECK(bl__node_serves(node));
    CHECK_SAME(other->inlet.tickets, 1); /* it got the entry */
    CHECK_SAME((uint32_t)bl_load64_host(wish), room + 1);
    for (uint32_t i = 1; i <= room; i++)
        give_one(node, i, entry);
    CHECK(bl__node_serves(node)); /* nobody wants these, and so no more */
    CHECK_SAME(other->inlet.tickets, 1);
    CHECK_SAME((uint32_t)bl_load64_host(wish), room + 1);
    CHECK_SAME(bl_close(c), BL_OK);
}

static void be_low(bl_context *node, uint32_t question) {
    nanosleep(&(struct timespec){0, 1000000}, NULL); /* it is not listened to more often */
    bl_store64_host(&node->inlet.outlet.notes->low, (uint64_t)question << 32);
    (void)bl__node_serves(node);
}

/* What was given and nobody wants goes back, but not into an inlet that has something: that would overflow. */
static void check_low(void) {
    const uint32_t entry[4] = {0, 1, 7, 7};
    bl_context *c = NULL;
    check_at("low");
    CHECK_SAME(bl_open(&c, &(bl_config){.device = "cpu+sim"}), BL_OK);
    bl_context *node = bl__local_node(c->cluster, 1);
    CHECK_SAME(bl__local_start(c->cluster, wood_cpu(), 0, false, c), BL_OK);
    bl__inlet_put(node, entry, 0, 1);
    give_one(node, 0, entry);
    be_low(node, 1);
    CHECK_SAME(node->inlet.tickets, 1);
    bl_store32_host_release(bl__inlet_slot(&node->inlet.ring, 0), node->inlet.ring.mask + 1); /* it is taken */
    be_low(node, 2);
    CHECK_SAME(node->inlet.tickets, 2);
    CHECK_SAME(bl_close(c), BL_OK);
}

static uint32_t workers_on(const bl_program *program, const char *device) {
    bl_context *c = NULL;
    uint32_t workers = 0;
    CHECK_SAME(bl_open(&c, &(bl_config){.device = device, .workers = 3}), BL_OK);
    CHECK_SAME(bl_workers(c, program, &workers), BL_OK);
    CHECK_SAME(bl_close(c), BL_OK);
    return workers;
}

/* Numbers of workers are smaller than this at every node. A porter has one, too. */
static void check_numbers(const bl_program *wood) {
    check_at("numbers of workers");
    CHECK_SAME(workers_on(wood, "cpu"), 3);
    CHECK_SAME(workers_on(wood, "sim"), 3);
    CHECK_SAME(workers_on(wood, "cpu+cpu"), 3);
    CHECK_SAME(workers_on(wood, "sim+sim"), 4);
    CHECK(workers_on(wood, "cpu+sim") > 3); /* the simulated machine has its default there */
}

int main(int argc, char **argv) {
    check_limit(300 * CHECK_SLOWER);
    const bl_program *const woods[] = {wood_cpu(), wood_sim()}, *const twigs[] = {twig_cpu(), twig_sim()};
    const bl_program *const branches[] = {branch_cpu(), branch_sim()}, *const stems[] = {stem_cpu(), stem_sim()};
    const bl_program *const barks[] = {bark_cpu(), bark_sim()};
    bl_program *wood = bl_program_join(woods, 2);
    const shoots programs = {bl_program_join(twigs, 2),
                             {bl_program_join(branches, 2), bl_program_join(stems, 2)},
                             bl_program_join(barks, 2)};
    if (argc > 1 && !strcmp(argv[1], "measure")) {
        measure_chains(wood, "cpu+sim", 5000, 3, 0);
        return check_end();
    }
    const char *const devices[] = {"cpu+sim", "sim+cpu", "sim+sim", "cpu+sim+cpu", "sim+cpu+sim+sim"};
    check_refused("cpu+sim", NULL);
    check_memories("sim+cpu");
    check_dry();
    check_wish();
    check_wish_for_threads();
    check_low();
    check_numbers(wood);
    for (uint32_t i = 0; i < sizeof devices / sizeof devices[0]; i++) {
        check_woods(wood, (bl_config){.device = devices[i]}, 12);
        check_resumed_memory(wood, devices[i]);
        check_woods(wood, (bl_config){.device = devices[i], .capacity = 2, .private_entries = 1}, 5);
        check_woods(wood, (bl_config){.device = devices[i], .private_entries = BL_NONE, .caller_waits = 1}, 5);
        for (uint32_t n = 1; n <= 10000; n *= 100)
            check_loop(wood, devices[i], n);
        check_all_work(wood, devices[i], 200, 20);
        check_cancelled(wood, devices[i], 100000, 10 / CHECK_SLOWER + 1);
        for (uint32_t how = 0; how < 3; how++)
            for (uint32_t roots = 1; roots <= 100; roots *= 10)
                check_early_end(wood, devices[i], how, roots);
        check_all_results(&programs, devices[i], 12, 200, 50000, 9);
    }
    bl_program_free(wood);
    bl_program_free(programs.twig);
    bl_program_free(programs.branches[0]);
    bl_program_free(programs.branches[1]);
    bl_program_free(programs.bark);
    return check_end();
}
