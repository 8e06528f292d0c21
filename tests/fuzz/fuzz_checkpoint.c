/* Checkpoints, as config.resume reads them. If the first byte is even, the rest is the file. If it is odd, the fields
 * that identify the run and the checksum are corrected, so that everything else gets tested.
 *
 * The program is a tree with joins whose tasks end soon whatever their payloads: a run may resume the file, or reject
 * it with one line and leave all memory unchanged. */
#include "fuzz.h"

#include "run/checkpoint.h"

#include <ballast/task.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROOTS = 2, MEMORY = 16, FILE_MOST = 1 << 16 };

typedef struct fork_node {
    uint32_t depth, unused;
} fork_node;

static BL_TASK void fork_run(bl_task *t, const fork_node *parent, uint32_t index, const bl_nothing *shared,
                             bl_nothing *local) {
    (void)shared, (void)local;
    fork_node node = {parent->depth % 4, parent->unused + index};
    if (node.depth == 0) {
        uint64_t leaf = 1;
        bl_return(t, &leaf);
        return;
    }
    fork_node child = {node.depth - 1, node.unused};
    bl_fork(t, &node, &child, 2);
}

static BL_TASK void fork_join(bl_task *t, const fork_node *node, const uint64_t *results, uint32_t count,
                              const bl_nothing *shared, bl_nothing *local) {
    uint64_t all = 0;
    (void)node, (void)shared, (void)local;
    for (uint32_t i = 0; i < count; i++)
        all += results[i];
    bl_return(t, &all);
}

#define BL_PROGRAM fork_tree
#define BL_PAYLOAD fork_node
#define BL_RUN fork_run
#define BL_RESULT uint64_t
#define BL_JOIN fork_join
#define BL_JOIN_WIDTH 2
#define BL_MAX_SPAWN 1
#include <ballast/program.h>

static const unsigned char BEFORE[MEMORY] = "as it was";

/* Runs with a file to resume or to write. Returns the detail if it rejects the file. */
static int run(bl_config config, char *detail, size_t size) {
    static const fork_node roots[ROOTS] = {{3, 0}, {2, 0}};
    uint64_t results[ROOTS] = {7, 7};
    unsigned char after[MEMORY];
    bl_context *c;
    void *memory;
    config.device = "cpu";
    config.workers = 1;
    config.capacity = 2;
    FUZZ_CHECK(bl_open(&c, &config) == BL_OK);
    FUZZ_CHECK(bl_alloc(c, &memory, MEMORY) == BL_OK && bl_copy_in(c, memory, BEFORE, MEMORY) == BL_OK);
    int status = bl_run_join(c, fork_tree_cpu(), NULL, roots, ROOTS, results, NULL);
    FUZZ_CHECK(bl_copy_out(c, after, memory, MEMORY) == BL_OK);
    if (status == BL_EFILE)
        FUZZ_CHECK(memcmp(after, BEFORE, MEMORY) == 0 && results[0] == 7 && results[1] == 7);
    snprintf(detail, size, "%s", bl_error_detail(c));
    bl_free(c, memory);
    bl_close(c);
    return status;
}

/* The head of a valid checkpoint. */
static bl__checkpoint_head right_head(void) {
    static bl__checkpoint_head head;
    char path[128], detail[512];
    if (head.run)
        return head;
    snprintf(path, sizeof path, "%s", fuzz_file("checkpoint", (const uint8_t *)"", 0));
    FUZZ_CHECK(run((bl_config){.checkpoint = path, .time_limit = 1e-9}, detail, sizeof detail) == BL_ETIME);
    FILE *file = fopen(path, "rb");
    FUZZ_CHECK(file && fread(&head, sizeof head, 1, file) == 1);
    fclose(file);
    return head;
}

/* Sets the last eight bytes to the checksum of the others. */
static void put_right(unsigned char *bytes, size_t count) {
    bl__checkpoint_head right = right_head(), *head = (bl__checkpoint_head *)(void *)bytes;
    bl__checksum sum = {0};
    memcpy(head->magic, right.magic, sizeof right.magic);
    head->problem = right.problem;
    head->first_problem = right.first_problem;
    bl__checksum_add(&sum, bytes, count - sizeof(uint64_t));
    uint64_t end = bl__checksum_end(&sum);
    memcpy(bytes + count - sizeof end, &end, sizeof end);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static _Alignas(bl__checkpoint_head) unsigned char bytes[FILE_MOST];
    char path[128], detail[512] = "";
    if (size == 0 || size > FILE_MOST)
        return 0;
    memcpy(bytes, data + 1, size - 1);
    if (data[0] % 2 && size - 1 >= sizeof(bl__checkpoint_head) + sizeof(uint64_t))
        put_right(bytes, size - 1);
    snprintf(path, sizeof path, "%s", fuzz_file("checkpoint", bytes, size - 1));
    int status = run((bl_config){.resume = path, .time_limit = 0.02}, detail, sizeof detail);
    FUZZ_CHECK(status == BL_OK || status == BL_ETIME || status == BL_EFILE);
    if (status == BL_EFILE)
        fuzz_check_line(detail);
    return 0;
}
