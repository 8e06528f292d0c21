/* For tests that cover all schedulers. */
#ifndef BALLAST_TESTS_CONFIG_H
#define BALLAST_TESTS_CONFIG_H

#include "check.h"

#include <ballast/ballast.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Full names first, then the papers' names. NULL past the end. */
static inline const char *scheduler_at(uint32_t i) {
    uint32_t n = 0;
    while (bl_scheduler_name(n))
        n++;
    return i < n ? bl_scheduler_name(i) : bl_alias_name(i - n, NULL);
}

/* One launch per wave of tasks. */
static inline bool is_static(const char *scheduler) { return bl_scheduler_traits(scheduler) & BL_TRAIT_WAVES; }

/* The config without the fields that its scheduler would reject. */
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

/* A context on that device, with such a config. Without the device the test is skipped. */
static inline bl_context *config_open(const char *device, bl_config config) {
    bl_context *c = NULL;
    config.device = device;
    config = config_for(config);
    int status = bl_open(&c, &config);
    if (status == BL_ENODEVICE) {
        printf("skipped: no %s\n", device);
        exit(CHECK_SKIPPED);
    }
    if (!CHECK_SAME(status, BL_OK))
        exit(check_end());
    return c;
}

#endif
