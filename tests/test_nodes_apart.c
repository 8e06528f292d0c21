/* One run over the CPU and the simulated machine, which stands for a GPU: it has warps and a memory of its own, and
 * exchanges entries with others through rings. */
#include "nodes_check.h"

const bl_program *wood_sim(void);
const bl_program *twig_sim(void);

int main(int argc, char **argv) {
    check_limit(300 * CHECK_SLOWER);
    const bl_program *const woods[] = {wood_cpu(), wood_sim()}, *const twigs[] = {twig_cpu(), twig_sim()};
    bl_program *wood = bl_program_join(woods, 2), *twig = bl_program_join(twigs, 2);
    if (argc > 1 && !strcmp(argv[1], "measure")) {
        measure_chains(wood, "cpu+sim", 5000, 3, 0);
        return check_end();
    }
    const char *const devices[] = {"cpu+sim", "sim+cpu", "sim+sim", "cpu+sim+cpu", "sim+cpu+sim+sim"};
    check_refused("cpu+sim", twig, NULL);
    check_memories("sim+cpu");
    for (uint32_t i = 0; i < sizeof devices / sizeof devices[0]; i++) {
        check_woods(wood, (bl_config){.device = devices[i]}, 30);
        check_woods(wood, (bl_config){.device = devices[i], .capacity = 2, .private_entries = 1}, 8);
        check_woods(wood, (bl_config){.device = devices[i], .private_entries = BL_NONE, .caller_waits = 1}, 8);
        for (uint32_t n = 1; n <= 10000; n *= 100)
            check_loop(wood, devices[i], n);
        check_all_work(wood, devices[i], 200, 20);
        for (uint32_t how = 0; how < 3; how++)
            for (uint32_t roots = 1; roots <= 100; roots *= 10)
                check_early_end(wood, devices[i], how, roots);
    }
    bl_program_free(wood);
    bl_program_free(twig);
    return check_end();
}
