/* Programs as the library sees them: one handle for several targets, and callers compiled with other headers or a
 * smaller config. */
#include "check.h"

#include "fib/fib.h"
#include "internal.h"

#include <stdlib.h>
#include <string.h>

const bl_program *fib_cpu(void);
const bl_program *fib_sim(void);
const bl_program *nqueens_cpu(void);

static bl_context *open_on(const char *device) {
    bl_context *c = NULL;
    CHECK_SAME(bl_open(&c, &(bl_config){.device = device, .workers = 2}), BL_OK);
    return c;
}

static void test_join(void) {
    check_at("one handle");
    const bl_program *parts[] = {fib_cpu(), NULL, fib_sim()}, *others[] = {fib_cpu(), nqueens_cpu()}, *none[] = {NULL};
    bl_program *program = bl_program_join(parts, 3);
    static const char *const devices[] = {"cpu", "sim"};
    CHECK(program != NULL);
    for (size_t i = 0; i < 2 && program; i++) {
        bl_context *c = open_on(devices[i]);
        fib_call root = {15};
        uint64_t value = 0;
        CHECK_SAME(bl_run_join(c, program, NULL, &root, 1, &value, NULL), BL_OK);
        CHECK_SAME(value, 610);
        bl_close(c);
    }
    CHECK(program && bl_program_has(program, "steal:abp") && !bl_program_has(program, "steal:nothing"));
    CHECK(!bl_program_join(others, 2) && !bl_program_join(none, 1) && !bl_program_join(NULL, 0));
    CHECK(!bl_program_join((const bl_program *const[]){program}, 1)); /* no handles of handles */
    CHECK(bl_program_part(program, "cpu") == fib_cpu() && bl_program_part(program, "sim") == fib_sim());
    CHECK(!bl_program_part(program, "cuda") && !bl_program_part(program, NULL) && !bl_program_part(NULL, "cpu"));
    CHECK(bl_program_part(fib_cpu(), "cpu") == fib_cpu() && !bl_program_part(fib_cpu(), "sim"));
    bl_program_free(program);
    bl_program_free(NULL);
    /* No part for the device. */
    program = bl_program_join(parts + 2, 1);
    bl_context *c = open_on("cpu");
    fib_call root = {5};
    uint64_t value = 0;
    CHECK_SAME(bl_run_join(c, program, NULL, &root, 1, &value, NULL), BL_ENOCODE);
    CHECK(strstr(bl_error_detail(c), "sim") && strstr(bl_error_detail(c), "cpu"));
    bl_close(c);
    bl_program_free(program);
}

static void test_abi(void) {
    check_at("another ABI");
    bl_context *c = open_on("cpu");
    fib_call root = {5};
    uint64_t value = 0;
    bl_program other = *fib_cpu();
    other.abi++;
    CHECK_SAME(bl_run_join(c, &other, NULL, &root, 1, &value, NULL), BL_ENOCODE);
    CHECK(strstr(bl_error_detail(c), "ABI"));
    other.payload_bytes = other.shared_bytes = 4; /* what is not looked at, since it may mean anything */
    CHECK_SAME(bl_run(c, &other, NULL, NULL, 1, NULL), BL_ENOCODE);
    for (size_t i = 0; i < sizeof other.layout / sizeof(uint32_t); i++) {
        other = *fib_cpu();
        ((uint32_t *)&other.layout)[i] += 8;
        CHECK_SAME(bl_run_join(c, &other, NULL, &root, 1, &value, NULL), BL_ENOCODE);
        CHECK(strstr(bl_error_detail(c), "fib was compiled with other sizes"));
    }
    CHECK_SAME(bl_run_join(c, fib_cpu(), NULL, &root, 1, &value, NULL), BL_OK);
    CHECK_SAME(value, 5);
    bl_close(c);
}

/* A caller compiled when config and statistics were shorter, and one of a later version. */
static void test_sizes(void) {
    check_at("other sizes");
    union {
        bl_config config;
        unsigned char bytes[sizeof(bl_config) + 16];
    } longer;
    struct {
        bl_stats stats;
        unsigned char behind[16];
    } result;
    const size_t shorter = offsetof(bl_stats, balance);
    fib_call root = {10};
    uint64_t value = 0;
    bl_context *c = NULL;
    memset(&longer, 0, sizeof longer);
    longer.config.device = "cpu";
    longer.config.workers = 3;
    memset(longer.bytes + offsetof(bl_config, time_limit), 0xff, sizeof longer - offsetof(bl_config, time_limit));
    CHECK_SAME(bl_open_sized(&c, &longer.config, offsetof(bl_config, time_limit), shorter), BL_OK);
    memset(&result, 0xa5, sizeof result);
    CHECK_SAME(bl_run_join(c, fib_cpu(), NULL, &root, 1, &value, &result.stats), BL_OK);
    CHECK_SAME(value, 55);
    CHECK_SAME(result.stats.tasks, 177);
    CHECK_SAME(((unsigned char *)&result)[shorter], 0xa5);
    bl_close(c);
    memset(longer.bytes + offsetof(bl_config, time_limit), 0, sizeof longer - offsetof(bl_config, time_limit));
    CHECK_SAME(bl_open_sized(&c, &longer.config, sizeof longer, sizeof result), BL_OK);
    CHECK_SAME(bl_run_join(c, fib_cpu(), NULL, &root, 1, &value, &result.stats), BL_OK);
    CHECK_SAME(result.stats.workers, 3);
    CHECK_SAME(result.behind[15], 0); /* fields unknown to this version are zero */
    bl_close(c);
    longer.bytes[sizeof longer - 1] = 1;
    CHECK_SAME(bl_open_sized(&c, &longer.config, sizeof longer, sizeof result), BL_EINVAL);
    CHECK(!c && strstr(bl_error_detail(NULL), "config: "));
}

int main(void) {
    check_limit(60);
    test_join();
    test_abi();
    test_sizes();
    return check_end();
}
