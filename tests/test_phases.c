/* The ranges that a profiler sees. This program is its own profiler: NVTX calls the functions that it puts into a
 * table, and they write "(name" where a range begins and ")" where it ends. Skipped if the library was built without
 * NVTX. */
#include "check.h"

#ifndef BL_HAVE_NVTX
int main(void) { return CHECK_SKIPPED; }
#else
#include "task_functions.h"
#include <ballast/ballast.h>
#include <nvtx3/nvToolsExt.h>

static char seen[1 << 16];
static size_t length;

static void append(const char *text) {
    int more = snprintf(seen + length, sizeof seen - length, "%s", text);
    length += (size_t)more < sizeof seen - length ? (size_t)more : 0;
}

static nvtxDomainHandle_t create(const char *name) {
    static int domain;
    append(name);
    return (nvtxDomainHandle_t)(void *)&domain;
}
static int push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *range) {
    append("(");
    append(range->message.ascii);
    return domain ? 0 : -1;
}
static int pop(nvtxDomainHandle_t domain) {
    append(")");
    return domain ? 0 : -1;
}

static int attach(NvtxGetExportTableFunc_t export_table) {
    const NvtxExportTableCallbacks *callbacks = export_table(NVTX_ETID_CALLBACKS);
    NvtxFunctionTable table = NULL;
    unsigned int size = 0;
    if (!callbacks || !callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size))
        return 0;
    *table[NVTX_CBID_CORE2_DomainCreateA] = (NvtxFunctionPointer)create;
    *table[NVTX_CBID_CORE2_DomainRangePushEx] = (NvtxFunctionPointer)push;
    *table[NVTX_CBID_CORE2_DomainRangePop] = (NvtxFunctionPointer)pop;
    return 1;
}

static unsigned count(const char *what) {
    unsigned n = 0;
    for (const char *at = seen; (at = strstr(at, what)); at++)
        n++;
    return n;
}

/* A run is one range, and its phases follow each other within it. */
static void check_nesting(void) {
    int depth = 0, deepest = 0, ends = 0;
    for (const char *at = seen; *at; at++) {
        depth += (*at == '(') - (*at == ')');
        deepest = depth > deepest ? depth : deepest;
        ends += depth == 0 && *at == ')';
        CHECK(depth >= 0);
    }
    CHECK_SAME(depth, 0);
    CHECK_SAME(deepest, 2);
    CHECK_SAME(ends, 1);
}

static bl_stats phases_of(const bl_config *config, bl_task_function function, int expected) {
    bl_program *program = bl_program_from_function(function, 4, 0, 1);
    bl_context *c = NULL;
    bl_stats stats = {.tasks = 0};
    uint32_t root = 1 << 12;
    CHECK_SAME(bl_open(&c, config), BL_OK);
    seen[length = 0] = 0;
    CHECK_SAME(bl_run(c, program, NULL, &root, 1, &stats), expected);
    CHECK(!strncmp(seen, "(run ", 5) && strstr(seen, " on cpu(set up)(launch)"));
    CHECK_SAME(count("(launch)"), stats.launches);
    check_nesting();
    bl_close(c);
    bl_program_free(program);
    return stats;
}

int main(void) {
    check_limit(60 * CHECK_SLOWER);
    InitializeInjectionNvtx2_fnptr = attach; /* NVTX, here and in the library, calls it before anything else */
    bl_context *c = NULL;
    check_at("a domain");
    CHECK_SAME(bl_open(&c, &(bl_config){.device = "cpu"}), BL_OK);
    CHECK(!strcmp(seen, "ballast"));
    bl_close(c);
    check_at("a run that need not pause");
    phases_of(&(bl_config){.device = "cpu", .workers = 2}, halve, BL_OK);
    CHECK(strstr(seen, " on cpu(set up)(launch)(collect))"));
    check_at("a run whose queue grows");
    bl_config small = {.device = "cpu", .scheduler = "central:tz", .workers = 2, .capacity = 2};
    small.private_entries = BL_NONE;
    bl_stats stats = phases_of(&small, halve, BL_OK);
    CHECK(stats.pauses > 0);
    CHECK_SAME(count("(launch)(pause)(launch)"), stats.pauses);
    check_at("a run in waves");
    stats = phases_of(&(bl_config){.device = "cpu", .scheduler = "static", .workers = 2}, halve, BL_OK);
    CHECK(stats.launches > 5);
    check_at("a run that fails");
    phases_of(&(bl_config){.device = "cpu", .workers = 2}, fail_now, BL_ETASK);
    return check_end();
}
#endif
