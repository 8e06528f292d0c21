/* ballast list queues: what each queue claims, next to Table 1 of Kerbl et al. 2018. docs/queues.md explains the
 * differences. */
#include "list_queues.h"

#include <string.h>

typedef struct queue_column {
    uint32_t flag;
    const char *name, *json;
} queue_column;

static const queue_column COLUMNS[] = {
    {BL_QUEUE_LINEARIZABLE, "linear", "linearizable"},
    {BL_QUEUE_EXACT_EMPTY, "EMPTY", "exact_empty"},
    {BL_QUEUE_EXACT_FULL, "FULL", "exact_full"},
    {BL_QUEUE_BOUNDED, "bounded", "bounded"},
    {BL_QUEUE_STATIC_MEMORY, "static", "static_memory"},
    {BL_QUEUE_BATCHED, "batched", "batched"},
    {BL_QUEUE_FAIR, "fair", "fair"},
    {BL_QUEUE_ALL_PARADIGMS, "lanes", "all_paradigms"},
    {BL_QUEUE_MULTI_QUEUE, "multi", "multi_queue"},
    {BL_QUEUE_ORDERS_MEMORY, "orders", "orders_memory"},
};
enum { COLUMN_COUNT = sizeof COLUMNS / sizeof COLUMNS[0] };

/* The rows of the paper's table as columns, with our flag for each; 0: measured, see ballast bench kerbl-pairs. */
static const queue_column TABLE1[] = {
    {0, "scalable", "highly_scalable"},
    {BL_QUEUE_FAIR, "fair", "fair_ordering"},
    {BL_QUEUE_LINEARIZABLE, "linearizable", "linearizability"},
    {0, "footprint", "low_resource_footprint"},
    {BL_QUEUE_STATIC_MEMORY, "static", "static_memory_only"},
    {BL_QUEUE_ALL_PARADIGMS, "paradigms", "all_execution_paradigms"},
    {BL_QUEUE_MULTI_QUEUE, "multi", "multi_queue_support"},
    {BL_QUEUE_BATCHED, "dequeue-n", "multi_element_dequeue"},
};
enum { TABLE1_COUNT = sizeof TABLE1 / sizeof TABLE1[0] };

/* As printed in the paper: y yes, p partially, - no. */
static const struct {
    const char *name, *paper, *marks;
} printed[] = {
    {"ms", "MSQ", "--yy-yy-"},    {"baskets", "BAQ", "--yy-yy-"},  {"shann", "SHCQ", "---y-yy-"},
    {"tz", "TZQ", "--yy-yy-"},    {"gottlieb", "GQ", "y--yyyy-"},  {"cbq", "CBQ", "yyyy----"},
    {"htq", "HTQ", "y--y-yy-"},   {"lcrq", "LCRQ", "ypy--yy-"},    {"sfq", "SFQ", "yyyyy---"},
    {"nsfq", "NSFQ", "--yyyyy-"}, {"two_lock", "2MQ", "--yyyyyy"}, {"wfq", "WFQ", "ypy--yy-"},
    {"broker", "BQ", "yyyyyyyy"},
};
enum { PRINTED = sizeof printed / sizeof printed[0] };

static int find_printed(const char *name) {
    for (int i = 0; i < PRINTED; i++)
        if (!strcmp(name, printed[i].name))
            return i;
    return -1;
}

static const char *mark_text(char mark) { return mark == 'y' ? "yes" : mark == 'p' ? "part" : "no"; }

/* "yes" if both agree, otherwise "paper/ours". */
static void print_cell(const bl_queue_info *q, char mark, const queue_column *column) {
    const char *paper = mark_text(mark), *ours = q->flags & column->flag ? "yes" : "no";
    char text[16];
    bool same = !column->flag || !strcmp(paper, ours);
    snprintf(text, sizeof text, "%s%s%s", paper, same ? "" : "/", same ? "" : ours);
    printf("  %-*s", (int)strlen(column->name) > 7 ? (int)strlen(column->name) : 7, text);
}

static void print_table1(void) {
    printf("\nTable 1 of Kerbl et al. 2018; after a slash, our value where it differs (docs/queues.md explains why)\n"
           "  %-12s  %-5s",
           "name", "paper");
    for (int c = 0; c < TABLE1_COUNT; c++)
        printf("  %-7s", TABLE1[c].name);
    putchar('\n');
    bl_queue_info q;
    for (uint32_t i = 0; bl_queue_info_at(i, &q); i++) {
        int at = find_printed(q.name);
        if (at < 0)
            continue;
        printf("  %-12s  %-5s", q.name, printed[at].paper);
        for (int c = 0; c < TABLE1_COUNT; c++)
            print_cell(&q, printed[at].marks[c], &TABLE1[c]);
        putchar('\n');
    }
}

static const char *queue_at(uint32_t i) {
    bl_queue_info q;
    return bl_queue_info_at(i, &q) ? q.name : NULL;
}

void missing_text(const bl_device_info *device, const char *(*name_at)(uint32_t i)) {
    for (uint32_t i = 0, missing = 0; name_at(i); i++) {
        const char *lack = bl_device_lacks(device, name_at(i));
        if (lack && missing++ == 0)
            printf("\nnot on %s\n", device->id);
        if (lack)
            printf("  %-20s  %s\n", name_at(i), lack);
    }
}

void missing_json(json_writer *json, const char *key, const bl_device_info *device,
                  const char *(*name_at)(uint32_t i)) {
    if (!device->id[0])
        return;
    json_start(json, key, '[');
    for (uint32_t i = 0; name_at(i); i++) {
        const char *lack = bl_device_lacks(device, name_at(i));
        if (!lack)
            continue;
        json_start(json, NULL, '{');
        json_string(json, "name", name_at(i));
        json_string(json, "reason", lack);
        json_end(json, '}');
    }
    json_end(json, ']');
}

void queues_text(const bl_device_info *device) {
    printf("queues\n  %-13s  %-7s  %-9s  %-7s", "name", "kind", "progress", "carries");
    for (int c = 0; c < COLUMN_COUNT; c++)
        printf("  %s", COLUMNS[c].name);
    printf("  %-12s  by\n", "devices");
    bl_queue_info q;
    for (uint32_t i = 0; bl_queue_info_at(i, &q); i++) {
        if (bl_device_lacks(device, q.name))
            continue;
        printf("  %-13s  %-7s  %-9s  %-7s", q.name, queue_kind(q.kind), q.progress, q.by_handle ? "handles" : "values");
        for (int c = 0; c < COLUMN_COUNT; c++)
            printf("  %-*s", (int)strlen(COLUMNS[c].name), q.flags & COLUMNS[c].flag ? "yes" : "-");
        printf("  %-12s  %s\n", q.devices, q.text);
    }
    missing_text(device, queue_at);
    print_table1();
}

static void table1_json(json_writer *json, const bl_queue_info *q) {
    int at = find_printed(q->name);
    if (at < 0) {
        json_null(json, "kerbl2018");
        return;
    }
    json_start(json, "kerbl2018", '{');
    json_string(json, "name", printed[at].paper);
    for (int c = 0; c < TABLE1_COUNT; c++)
        json_string(json, TABLE1[c].json, mark_text(printed[at].marks[c]));
    json_end(json, '}');
}

static void queue_json(json_writer *json, const bl_queue_info *q) {
    json_start(json, NULL, '{');
    json_string(json, "name", q->name);
    json_string(json, "text", q->text);
    json_string(json, "kind", queue_kind(q->kind));
    json_string(json, "progress", q->progress);
    for (int c = 0; c < COLUMN_COUNT; c++)
        json_bool(json, COLUMNS[c].json, (q->flags & COLUMNS[c].flag) != 0);
    json_bool(json, "by_handle", q->by_handle != 0);
    json_whole(json, "least_capacity", q->least);
    json_string(json, "devices", q->devices);
    table1_json(json, q);
    json_end(json, '}');
}

void queues_json(json_writer *json, const bl_device_info *device) {
    json_start(json, "queues", '[');
    bl_queue_info q;
    for (uint32_t i = 0; bl_queue_info_at(i, &q); i++)
        if (!bl_device_lacks(device, q.name))
            queue_json(json, &q);
    json_end(json, ']');
    missing_json(json, "missing_queues", device, queue_at);
}
