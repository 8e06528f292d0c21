/* Example 7, tasks that depend on each other: the edit distance of two texts, by tiles. A tile needs the one above it
 * and the one to its left. Each tile counts the tiles it still waits for; the task that brings the count to zero spawns
 * it. There is no barrier and no fixed order. */
#include <ballast/task.h>

#include <stdio.h>
#include <stdlib.h>

enum { LENGTH = 4096, TILE = 64, TILES = LENGTH / TILE, SIDE = LENGTH + 1 };

typedef struct tile {
    uint32_t row, column;
} tile;
typedef struct table {
    const unsigned char *down, *across;
    uint16_t *cost;  /* SIDE x SIDE */
    uint32_t *unmet; /* per tile */
} table;

static BL_TASK uint16_t least(uint16_t a, uint16_t b) { return a < b ? a : b; }

static BL_TASK void fill(const table *g, uint32_t row, uint32_t column, uint32_t side) {
    for (uint32_t i = row; i < row + side; i++)
        for (uint32_t k = column; k < column + side; k++) {
            const uint16_t *above = g->cost + (size_t)i * SIDE + k;
            uint16_t *here = g->cost + (size_t)(i + 1) * SIDE + k + 1;
            uint16_t change = (uint16_t)(above[0] + (g->down[i] != g->across[k]));
            *here = least(change, (uint16_t)(least(above[1], here[-1]) + 1));
        }
}

static BL_TASK void meet(bl_task *t, const table *g, uint32_t row, uint32_t column) {
    tile next = {row, column};
    if (row < TILES && column < TILES && bl_arrive(g->unmet + row * TILES + column))
        bl_spawn(t, &next);
}

static BL_TASK void tile_run(bl_task *t, const tile *p, uint32_t index, const table *g, bl_nothing *local) {
    (void)index, (void)local;
    fill(g, p->row * TILE, p->column * TILE, TILE);
    meet(t, g, p->row + 1, p->column);
    meet(t, g, p->row, p->column + 1);
}

#define BL_PROGRAM graph
#define BL_PAYLOAD tile
#define BL_SHARED table
#define BL_RUN tile_run
#define BL_MAX_SPAWN 2
#include <ballast/program.h>

static void prepare(table *g, unsigned char *down, unsigned char *across) {
    uint32_t random = 1;
    for (uint32_t i = 0; i < LENGTH; i++) {
        random = random * 1664525u + 1013904223u;
        down[i] = "ACGT"[random >> 30];
        across[(i + 17) % LENGTH] =
            random >> 24 & 15 ? down[i] : 'A'; /* the same text, rotated and with some letters changed */
    }
    for (uint32_t i = 0; i < SIDE; i++)
        g->cost[i] = g->cost[(size_t)i * SIDE] = (uint16_t)i;
    for (uint32_t i = 0; i < TILES * TILES; i++)
        g->unmet[i] = (i >= TILES) + (i % TILES > 0);
}

int main(void) {
    static unsigned char down[LENGTH], across[LENGTH];
    table g = {down, across, malloc(sizeof(uint16_t) * SIDE * SIDE), malloc(sizeof(uint32_t) * TILES * TILES)};
    bl_context *context = NULL;
    bl_stats stats = {0};
    uint16_t distance = 0, expected = 0;
    int status = g.cost && g.unmet ? bl_open(&context, &(bl_config){.device = "cpu"}) : BL_ENOMEM;
    if (status == BL_OK) {
        prepare(&g, down, across);
        status = bl_run(context, graph_cpu(), &g, &(tile){0, 0}, 1, &stats);
        distance = g.cost[(size_t)SIDE * SIDE - 1];
        fill(&g, 0, 0, LENGTH); /* once more, row by row */
        expected = g.cost[(size_t)SIDE * SIDE - 1];
    }
    bl_close(context);
    printf("distance %u, row by row %u; %llu tiles: %s\n", distance, expected, (unsigned long long)stats.tasks,
           bl_status_text(status));
    free(g.cost);
    free(g.unmet);
    return status != BL_OK || distance != expected || stats.tasks != TILES * TILES;
}
