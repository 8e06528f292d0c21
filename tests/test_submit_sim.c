// COMPILE: -O0
/* A run on the simulated machine that is open to submissions by threads of the host: the contract on every scheduler
 * with queues and several seeds. One worker looks at the inlet, as one of each multiprocessor does on a GPU. */
#include "submit_check.h"

static submit_setup setup_with(bl_config config) {
    config.device = "sim";
    return (submit_setup){config, trees_sim(), calls_sim(), sums_sim(), 2};
}

int main(void) {
    const char *name;
    check_limit(120 * CHECK_SLOWER);
    for (uint32_t seed = 1; seed <= 3; seed++) {
        const bool small = seed % 2 == 0;
        check_at("seed %u%s", seed, small ? ", small queues" : "");
        submit_setup s = setup_with(
            (bl_config){.seed = seed, .workers = seed, .capacity = small ? 2 : 0, .private_entries = small ? 1 : 0});
        submit_contract(&s);
    }
    check_at("blocks");
    submit_setup blocks = setup_with((bl_config){.group = "block:16"});
    check_trees(&blocks, 4);
    for (uint32_t i = 0; (name = bl_scheduler_name(i)); i++)
        if (!(bl_scheduler_traits(name) & BL_TRAIT_WAVES)) {
            check_at("%s", name);
            submit_setup s = setup_with((bl_config){.scheduler = name});
            check_trees(&s, 4);
            check_answers(&s, false, 12, 4, false);
        }
    return check_end();
}
