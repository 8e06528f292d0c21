/* For tests that cover all schedulers: the config without the fields that its scheduler would reject. */
#ifndef BALLAST_TESTS_CONFIG_H
#define BALLAST_TESTS_CONFIG_H

#include <ballast/ballast.h>
#include <string.h>

static inline bl_config config_for(bl_config config) {
    uint32_t uses = bl_scheduler_uses(config.scheduler ? config.scheduler : "auto");
    if (!(uses & BL_USES_VICTIMS))
        config.victims = BL_VICTIMS_DEFAULT;
    if (!(uses & (config.steal == BL_STEAL_ONE ? BL_USES_STEAL_ONE : BL_USES_STEAL_HALF)))
        config.steal = BL_STEAL_DEFAULT;
    if (!(uses & BL_USES_DONE_TEST))
        config.done_test = BL_DONE_TEST_DEFAULT;
    return config;
}

#endif
