// COMPILE: -O1
/* One run over the CPU and a GPU, two GPUs, a GPU named twice, and processes of which one has a GPU. Skipped without a
 * GPU. `test_nodes_cuda measure [DEVICE]` shows what goes through the rings. */
#include "ranks_check.h"

#include <unistd.h>

#ifdef BL_HAVE_CUDA

/* What is written with one of these is resumed with another: nodes of one process, and processes. */
static const char *const others[][RANKS_MAX] = {
    {"cpu+cuda:0"}, {"cuda:0+cpu"},        {"cpu", "cuda:0"}, {"cuda:0+cuda:0"},
    {"cpu"},        {"cuda:0", "cpu+cpu"}, {"cuda:0"},        {"cpu+cuda:0", "cpu"}};

/* Entries through the ring, and how long a node waits for them: short tasks, and tasks of about 1 and 10 us. */
static void measure(const bl_program *wood, const char *device) {
    measure_chains(wood, device, 200000000, 3, 0);
    measure_chains(wood, device, 20000000, 3, 2000);
    measure_chains(wood, device, 2000000, 3, 20000);
}

int main(int argc, char **argv) {
    bl_device_info info;
    if (!bl_device_find("cuda", &info))
        return CHECK_SKIPPED;
    const bool two = bl_device_find("cuda:1", &info);
    check_limit(300);
    const bl_program *const woods[] = {wood_cpu(), wood_cuda()}, *const twigs[] = {twig_cpu(), twig_cuda()};
    const bl_program *const branches[] = {branch_cpu(), branch_cuda()}, *const stems[] = {stem_cpu(), stem_cuda()};
    const bl_program *const barks[] = {bark_cpu(), bark_cuda()};
    const bl_program *const lonelies[] = {lonely_cpu(), lonely_cuda()};
    bl_program *wood = bl_program_join(woods, 2);
    const shoots programs = {bl_program_join(twigs, 2),
                             {bl_program_join(branches, 2), bl_program_join(stems, 2)},
                             bl_program_join(barks, 2)};
    bl_program *lonely = bl_program_join(lonelies, 2);
    if (argc > 1 && !strcmp(argv[1], "measure")) {
        measure(wood, argc > 2 ? argv[2] : "cpu+cuda:0");
        return check_end();
    }
    const char *const devices[] = {"cpu+cuda:0", "cuda:0+cpu", "cuda:0+cuda:0", "cpu+cuda:0+cuda:0", "cuda:0+cuda:1"};
    const char *const ranks[][RANKS_MAX] = {{"cpu", "cuda:0"}, {"cuda:0", "cpu"}, {"cpu+cuda:0", "cpu", "cpu"}};
    check_refused("cpu+cuda:0", lonely);
    check_memories("cpu+cuda:0");
    for (uint32_t i = 0; i < (two ? 5 : 4); i++) {
        check_woods(wood, (bl_config){.device = devices[i]}, 60);
        check_resumed_memory(wood, devices[i]);
        check_woods(wood, (bl_config){.device = devices[i], .capacity = 2, .private_entries = 1}, 20);
        for (uint32_t n = 1; n <= 1000000; n *= 1000)
            check_loop(wood, devices[i], n);
        check_all_work(wood, devices[i], 20000, 100000);
        check_cancelled(wood, devices[i], 1500000000, 10); /* takes longer than until the cancel */
        for (uint32_t how = 0; how < 3; how++)
            for (uint32_t roots = 1; roots <= 10000; roots *= 100)
                check_early_end(wood, devices[i], how, roots);
        check_all_results(&programs, devices[i], 210, 20000, 20000, 14);
    }
    for (uint32_t i = 0; i < sizeof ranks / sizeof ranks[0]; i++) {
        check_ranks_woods(wood, ranks[i], (bl_config){.capacity = i}, 30);
        check_ranks_results(&programs, ranks[i], (bl_config){.capacity = i}, 63, 20000);
        check_ranks_all_work(programs.branches[0], ranks[i], 20000, 14);
        check_ranks_ends(wood, &programs, ranks[i], 18);
    }
    char file[] = "/tmp/ballast_journey_XXXXXX";
    close(mkstemp(file));
    remove(file);
    const journey way = {
        .devices = others, .count = 8, .file = file, .seconds = 0.0002, .every = 0.004, .deepest = 8, .ticks = 20000};
    check_journeys(&way, wood, &programs, 14);
    bl_program_free(wood);
    bl_program_free(programs.twig);
    bl_program_free(programs.branches[0]);
    bl_program_free(programs.branches[1]);
    bl_program_free(programs.bark);
    bl_program_free(lonely);
    return check_end();
}

#else

int main(void) { return CHECK_SKIPPED; }

#endif
