/* Example 6, fork and join: merge sort. A task sorts a piece of the array. A long piece forks its halves, and the join
 * merges them once both have returned. A task returns how many pairs of its piece were out of order. */
#include <ballast/task.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct piece { /* [from, from + length) */
    uint32_t from, length;
} piece;
typedef struct arrays {
    uint32_t *values, *room;
} arrays;

enum { SHORT = 512 };

/* Index 0 is the first half of the parent's piece, 1 the second. */
static BL_TASK piece half_of(const piece *p, uint32_t index) {
    piece first = {p->from, p->length / 2}, second = {p->from + p->length / 2, p->length - p->length / 2};
    return index ? second : first;
}

static BL_TASK uint64_t insert_in_order(uint32_t *values, uint32_t count) {
    uint64_t swaps = 0;
    for (uint32_t i = 1; i < count; i++)
        for (uint32_t k = i; k > 0 && values[k - 1] > values[k]; k--, swaps++) {
            uint32_t larger = values[k - 1];
            values[k - 1] = values[k];
            values[k] = larger;
        }
    return swaps;
}

static BL_TASK void sort_run(bl_task *t, const piece *parent, uint32_t index, const arrays *a, bl_nothing *local) {
    piece mine = bl_is_root(t) ? *parent : half_of(parent, index);
    (void)local;
    if (mine.length > SHORT) {
        bl_fork(t, &mine, &mine, 2);
    } else {
        uint64_t swaps = insert_in_order(a->values + mine.from, mine.length);
        bl_return(t, &swaps);
    }
}

static BL_TASK void sort_join(bl_task *t, const piece *p, const uint64_t *swaps, uint32_t count, const arrays *a,
                              bl_nothing *local) {
    uint32_t *to = a->room + p->from, *left = a->values + p->from, *right = left + p->length / 2;
    uint32_t *middle = right, *end = left + p->length;
    uint64_t all = swaps[0] + swaps[1];
    (void)count, (void)local;
    while (left < middle || right < end) {
        bool take_left = right == end || (left < middle && *left <= *right);
        all += take_left ? 0 : (uint64_t)(middle - left);
        *to++ = take_left ? *left++ : *right++;
    }
    memcpy(a->values + p->from, a->room + p->from, p->length * sizeof *to);
    bl_return(t, &all);
}

#define BL_PROGRAM sort
#define BL_PAYLOAD piece
#define BL_SHARED arrays
#define BL_RESULT uint64_t
#define BL_RUN sort_run
#define BL_JOIN sort_join
#define BL_JOIN_WIDTH 2
#include <ballast/program.h>

int main(void) {
    enum { COUNT = 1 << 20 };
    arrays a = {malloc(COUNT * sizeof(uint32_t)), malloc(COUNT * sizeof(uint32_t))};
    uint64_t swaps = 0, wrong = 0;
    bl_context *context = NULL;
    bl_stats stats = {0};
    int status = a.values && a.room ? bl_open(&context, &(bl_config){.device = "cpu"}) : BL_ENOMEM;
    for (uint32_t i = 0; i < COUNT && status == BL_OK; i++)
        a.values[i] = i * 2654435761u >> 12; /* scattered, the same every time */
    if (status == BL_OK)
        status = bl_run_join(context, sort_cpu(), &a, &(piece){0, COUNT}, 1, &swaps, &stats);
    bl_close(context);
    for (uint32_t i = 1; i < COUNT && status == BL_OK; i++)
        wrong += a.values[i - 1] > a.values[i];
    printf("%d values, %llu swaps, %llu out of order; %llu tasks: %s\n", COUNT, (unsigned long long)swaps,
           (unsigned long long)wrong, (unsigned long long)stats.tasks, bl_status_text(status));
    free(a.values);
    free(a.room);
    return status != BL_OK || wrong;
}
