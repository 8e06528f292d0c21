/* Example 15, settings: the same run with different ones, and what each costs. It counts the nodes of a binary tree. */
#include <ballast/task.h>

#include <math.h>
#include <stdio.h>

typedef struct node {
    uint32_t depth;
} node;
typedef struct counter {
    uint64_t *nodes;
} counter;
typedef struct found { /* by one worker */
    uint64_t nodes;
} found;

static BL_TASK void node_run(bl_task *t, const node *p, uint32_t index, const counter *shared, found *local) {
    (void)index, (void)shared;
    local->nodes++;
    node child = {p->depth - 1};
    if (p->depth > 0)
        bl_spawn_n(t, &child, 2);
}
static BL_TASK void node_merge(const counter *shared, const found *local) {
    bl_merge_add64(shared->nodes, local->nodes);
}

#define BL_PROGRAM tree
#define BL_PAYLOAD node
#define BL_SHARED counter
#define BL_LOCAL found
#define BL_RUN node_run
#define BL_MERGE node_merge
#include <ballast/program.h>

enum { DEPTH = 18, SETTINGS = 6 };

/* What is not mentioned is 0, and 0 means the default. */
static const bl_config settings[SETTINGS] = {
    {.device = "cpu"},
    {.device = "cpu", .workers = 1},
    {.device = "cpu", .bind = 1},
    {.device = "cpu", .private_entries = BL_NONE},
    {.device = "cpu", .scheduler = "central:broker", .capacity = 1 << 16},
    {.device = "cpu", .stall_seconds = INFINITY},
};

int main(void) {
    uint32_t right = 0;
    for (int i = 0; i < SETTINGS; i++) {
        uint64_t nodes = 0;
        char line[512];
        bl_context *context = NULL;
        bl_stats stats = {0};
        int status = bl_open(&context, &settings[i]);
        if (status == BL_OK)
            status = bl_run(context, tree_cpu(), &(counter){&nodes}, &(node){DEPTH}, 1, &stats);
        bl_stats_text(line, sizeof line, &stats);
        printf("%s\n", status == BL_OK ? line : bl_error_detail(context));
        right += nodes == (2u << DEPTH) - 1;
        bl_close(context);
    }
    printf("%u of %d settings agree\n", (unsigned)right, SETTINGS);
    return right != SETTINGS;
}
