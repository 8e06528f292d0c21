// COMPILE: -O1
/* One run over processes of which some have the simulated machine, which stands for a GPU, or several devices. */
#include "ranks_check.h"

#include <unistd.h>

static const char *const devices[][RANKS_MAX] = {
    {"cpu", "sim"}, {"sim", "cpu"}, {"sim", "sim", "sim"}, {"cpu+sim", "cpu"}, {"cpu", "sim+cpu", "cpu+cpu", "sim"}};

/* What is written with one of these is resumed with another: nodes of one process, and processes. */
static const char *const others[][RANKS_MAX] = {{"cpu+sim"}, {"sim+cpu"},        {"cpu", "sim"}, {"sim+sim"},
                                                {"cpu"},     {"sim", "cpu+sim"}, {"sim"},        {"cpu+cpu", "cpu"}};

int main(void) {
    char file[] = "/tmp/ballast_journey_XXXXXX";
    check_limit(300 * CHECK_SLOWER);
    close(mkstemp(file));
    remove(file);
    const bl_program *const woods[] = {wood_cpu(), wood_sim()}, *const twigs[] = {twig_cpu(), twig_sim()};
    const bl_program *const branches[] = {branch_cpu(), branch_sim()}, *const stems[] = {stem_cpu(), stem_sim()};
    bl_program *wood = bl_program_join(woods, 2);
    const shoots programs = {
        bl_program_join(twigs, 2), {bl_program_join(branches, 2), bl_program_join(stems, 2)}, NULL};
    for (uint32_t i = 0; i < sizeof devices / sizeof devices[0]; i++) {
        check_ranks_woods(wood, devices[i], (bl_config){.workers = 2}, 12);
        check_ranks_woods(wood, devices[i], (bl_config){.workers = 1, .capacity = 2, .private_entries = 1}, 6);
        check_ranks_results(&programs, devices[i], (bl_config){.workers = 2}, 12, 200);
        check_ranks_results(&programs, devices[i], (bl_config){.workers = 1, .capacity = 2, .private_entries = 1}, 6,
                            200);
        check_ranks_all_work(programs.branches[0], devices[i], 50000, 9);
        check_ranks_width(programs.branches[0], devices[i]);
        check_ranks_ends(wood, &programs, devices[i], 18);
    }
    const journey way = {
        .devices = others, .count = 8, .file = file, .seconds = 0.002, .every = 0.002, .deepest = 7, .ticks = 20000};
    check_journeys(&way, wood, &programs, 6);
    bl_program_free(wood);
    bl_program_free(programs.twig);
    bl_program_free(programs.branches[0]);
    bl_program_free(programs.branches[1]);
    return check_end();
}
