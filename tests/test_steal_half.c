/* What steal_half guarantees beyond the queue contract: a thief gets half of the items, rounded up, or as many as it
 * asked for, whatever the owner pushed and popped before; the next thief gets half of the rest. */
#include "check.h"

#include <ballast/queues/steal_half.h>

enum { CAPACITY = 64 };
static _Alignas(BL_LINE) unsigned char memory[2 * BL_LINE + 4 * CAPACITY];
static uint32_t items[CAPACITY];

static uint32_t half(uint32_t n) { return n - n / 2; }

/* Leaves `count` items in the deque, after popping `more` others. */
static bl_steal_half filled(uint32_t start, uint32_t count, uint32_t more) {
    bl_steal_half q;
    bl_steal_half_bind(&q, memory, (bl_shape){CAPACITY, 1, 1}, 0);
    bl_steal_half_init(&q, start, 0, 1);
    for (uint32_t i = 0; i < CAPACITY; i++)
        items[i] = i;
    CHECK_SAME(bl_steal_half_push_n(&q, items, count + more), count + more);
    if (more) {
        CHECK_SAME(bl_steal_half_steal_n(&q, items, 2), count + more > 2 ? 2 : 1); /* makes the owner cut its range */
        CHECK_SAME(bl_steal_half_push_n(&q, items, 2), 2);
        CHECK_SAME(bl_steal_half_pop_n(&q, items, bl_steal_half_size(&q) - count),
                   more + 2 - (count + more > 2 ? 2 : 1));
    }
    return q;
}

static void one_thief(uint32_t start, uint32_t count, uint32_t more, uint32_t wanted) {
    check_at("start %u, %u items, %u popped before, %u wanted", start, count, more, wanted);
    bl_steal_half q = filled(start, count, more);
    uint32_t expected = wanted < half(count) ? wanted : half(count);
    CHECK_SAME(bl_steal_half_steal_n(&q, items, wanted), expected);
    CHECK_SAME(bl_steal_half_size(&q), count - expected);
}

static void all_thieves(uint32_t start, uint32_t count, uint32_t more) {
    check_at("start %u, %u items, %u popped before, thief after thief", start, count, more);
    bl_steal_half q = filled(start, count, more);
    for (; count; count /= 2)
        CHECK_SAME(bl_steal_half_steal_n(&q, items, CAPACITY), half(count));
    CHECK_SAME(bl_steal_half_steal_n(&q, items, CAPACITY), 0);
}

int main(void) {
    static const uint32_t starts[] = {0, UINT32_MAX - 20, (UINT32_C(1) << 27) - 1, (UINT32_C(1) << 31) - 5};
    for (uint32_t s = 0; s < 4; s++)
        for (uint32_t count = 1; count <= CAPACITY; count++)
            for (uint32_t more = 0; more + count <= CAPACITY - 2; more = 2 * more + 1) {
                for (uint32_t wanted = 1; wanted <= CAPACITY; wanted += wanted < 4 ? 1 : wanted / 2)
                    one_thief(starts[s], count, more, wanted);
                all_thieves(starts[s], count, more);
            }
    return check_end();
}
