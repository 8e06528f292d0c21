/* The tasks of pieces.h.
 *
 * The lanes of a block copy a batch of particles to shared memory, find out where each belongs, and write them in the
 * order of their new places: a GPU writes neighbours together. Particles that are finished stay in shared memory until
 * all levels have been split, and are moved once. A thread moves them with every split, between the buffer and its
 * scratch memory, which stays in its cache.
 *
 * Order pairs: P1 (arrival of a chunk, release) with itself (acquire, by the last): the last one sees the counts and
 * the particles of the others, including those of other lanes before bl_sync. All else that a task reads was written
 * before it was spawned, or before a bl_sync of its own.
 */
#ifndef BALLAST_OCTREE_PIECES_RUN_H
#define BALLAST_OCTREE_PIECES_RUN_H

#include "pieces.h"

#include <ballast/task.h>

#if BL_WARP == 1
#define OCTREE_ALONE 16384u /* particles that a thread finishes at once */
#else
#define OCTREE_ALONE 1024u /* the same, so that tests have octants that are too large */
#endif
#define OCTREE_STEPS 7u /* a window has about so many times as many as are finished at once, or less */
#define OCTREE_MOST_SPAWNED (OCTREE_STEPS + OCTREE_STEPS / 2 + 1) /* cells of a window that are too large */

/* ---- cells ---- */

/* Moves bits 0, 1, 2 to bits 0, 3, 6. */
static BL_TASK uint32_t octree_spread(uint32_t bits) { return (bits & 1) | (bits & 2) << 2 | (bits & 4) << 4; }

/* Where particles belong in a grid: its planes are whole numbers after scaling. That is by a power of two, so it is
 * exact, and a particle on a plane gets the upper side. */
typedef struct octree_scale {
    float factor;
    uint32_t mask;
} octree_scale;

static BL_TASK octree_scale octree_scale_of(uint32_t depth, uint32_t levels) {
    const octree_scale scale = {(float)(1u << (depth + levels)), (1u << levels) - 1};
    return scale;
}

static BL_TASK uint32_t octree_cell_of(const octree_particle *p, octree_scale scale) {
    return octree_spread((uint32_t)(int32_t)(p->x * scale.factor) & scale.mask) |
           octree_spread((uint32_t)(int32_t)(p->y * scale.factor) & scale.mask) << 1 |
           octree_spread((uint32_t)(int32_t)(p->z * scale.factor) & scale.mask) << 2;
}

/* A conditional instead of an index, because a GPU keeps no array of pointers in registers. */
static BL_TASK octree_particle *octree_particles(const octree_pieces_shared *s, uint32_t side) {
    return side ? s->tree.buffer[1] : s->tree.buffer[0];
}

static BL_TASK bool octree_is_split(const octree_pieces_shared *s, uint32_t count, uint32_t depth) {
    return count > s->tree.threshold && depth < s->tree.max_depth;
}

/* ---- nodes ---- */

static BL_TASK void octree_add_leaf(const octree_pieces_shared *s, const octree_grid *g, uint32_t level,
                                    uint32_t octant, uint32_t first, uint32_t count) {
    const octree_node leaf = {g->path << 3 * level | octant, g->depth + level, g->first + first, count, g->side};
    s->tree.leaf[leaf.first] = leaf;
}

static BL_TASK void octree_keep_inner(const octree_pieces_shared *s, const octree_grid *g, uint32_t level,
                                      uint32_t octant, uint32_t first, uint32_t count) {
    const octree_node node = {g->path << 3 * level | octant, g->depth + level, g->first + first, count, 0};
    if (s->tree.inner)
        s->tree.inner[bl_fetch_add32_relaxed(&s->tree.totals->inner, 1)] = node;
}

/* Of the octants that contain the cell and are smaller than the grid, the largest one that is a leaf: so many levels
 * below the grid. 0 if all are split. `start`: where cells begin. */
static BL_TASK uint32_t octree_leaf_level(const octree_pieces_shared *s, const octree_grid *g, const uint32_t *start,
                                          uint32_t cell) {
    for (uint32_t level = 1; level <= g->levels; level++) {
        const uint32_t below = 3 * (g->levels - level), octant = cell >> below;
        const uint32_t count = start[(octant + 1) << below] - start[octant << below];
        if (!octree_is_split(s, count, g->depth + level))
            return level;
    }
    return 0;
}

/* The leaf of that level that contains the cell, which is not empty. The leaf's first cell that is not empty writes it:
 * returns whether this is that cell. */
static BL_TASK bool octree_add_leaf_of_cell(const octree_pieces_shared *s, const octree_grid *g, const uint32_t *start,
                                            uint32_t cell, uint32_t level) {
    const uint32_t below = 3 * (g->levels - level), octant = cell >> below, first = start[octant << below];
    if (start[cell] != first)
        return false;
    octree_add_leaf(s, g, level, octant, first, start[(octant + 1) << below] - first);
    return true;
}

/* How many octants are split of those that begin with the cell and are larger; keeps them. */
static BL_TASK uint32_t octree_add_inner(const octree_pieces_shared *s, const octree_grid *g, const uint32_t *start,
                                         uint32_t cell) {
    uint32_t split = 0;
    for (uint32_t level = g->levels; level-- > 0;) {
        const uint32_t cells = octree_cells(g->levels - level);
        if (cell % cells != 0)
            break;
        const uint32_t count = start[cell + cells] - start[cell];
        if (octree_is_split(s, count, g->depth + level)) {
            octree_keep_inner(s, g, level, cell / cells, start[cell], count);
            split++;
        }
    }
    return split;
}

/* What a task has found. */
typedef struct octree_found {
    uint32_t leaves, split, depth, placed;
} octree_found;

static BL_TASK void octree_add_found(const octree_pieces_shared *s, const octree_found *found) {
    octree_totals *totals = s->tree.totals;
    if (found->split)
        bl_fetch_add32_relaxed(&totals->split, found->split);
    if (found->placed == 0)
        return;
    bl_fetch_add32_relaxed(&totals->leaves, found->leaves);
    bl_fetch_max32_relaxed(&totals->depth, found->depth);
    bl_fetch_add32_relaxed(&totals->placed, found->placed);
}

/* ---- regions ---- */

static BL_TASK octree_region *octree_region_at(const octree_pieces_shared *s, uint32_t number) {
    return (octree_region *)(void *)(s->pool + number);
}

static BL_TASK uint32_t *octree_starts(octree_region *r) { return (uint32_t *)(void *)(r + 1); }

/* For each cell, where the particles of a chunk begin in it. */
static BL_TASK uint32_t *octree_chunk_starts(octree_region *r, uint32_t chunk) {
    const uint32_t levels = r->grid.levels;
    return octree_starts(r) + 2 * octree_start_pairs(levels) + (size_t)chunk * octree_cells(levels);
}

static BL_TASK uint32_t octree_chunk(const octree_region *r, uint32_t chunk) {
    return octree_part(r->count, r->chunks, chunk);
}

/* The particles of the region, before they are moved to their cells and after. */
static BL_TASK octree_particle *octree_source(const octree_pieces_shared *s, const octree_region *r) {
    return octree_particles(s, 1 - r->grid.side) + r->grid.first;
}
static BL_TASK octree_particle *octree_target(const octree_pieces_shared *s, const octree_region *r) {
    return octree_particles(s, r->grid.side) + r->grid.first;
}

/* A cell as a region of its own, in the pool: its number there. The counts of its cells are not zero yet. */
static BL_TASK uint32_t octree_new_region(const octree_pieces_shared *s, const octree_grid *g, uint32_t cell,
                                          uint32_t first, uint32_t count) {
    const uint32_t depth = g->depth + g->levels, levels = octree_levels(count, depth, &s->tree);
    const octree_region below =
        octree_region_of(g->path << 3 * g->levels | cell, depth, levels, g->first + first, count, g->side, s);
    const uint32_t number = bl_fetch_add32_relaxed((uint32_t *)(void *)s->pool, octree_region_pairs(&below));
    *octree_region_at(s, number) = below;
    return number;
}

/* Particles that are finished at once. */
static BL_TASK uint32_t octree_batch(const bl_task *t, const octree_pieces_shared *s);

/* How many windows there are. They have up to one and a half times as many particles as they should. */
static BL_TASK uint32_t octree_windows(const bl_task *t, const octree_pieces_shared *s, uint32_t particles) {
    const uint32_t most = OCTREE_STEPS * octree_batch(t, s);
    return octree_parts(particles, s->chunk < most ? s->chunk : most);
}

/* By one lane. */
static BL_TASK void octree_spawn_stage(bl_task *t, uint32_t stage, uint32_t region, uint32_t count) {
    const octree_piece next = {stage, region};
    bl_spawn_n(t, &next, count);
}

static BL_TASK void octree_spawn_finish(bl_task *t, const octree_pieces_shared *s, const octree_piece *p,
                                        uint32_t particles) {
    octree_spawn_stage(t, OCTREE_FINISH, p->region, octree_windows(t, s, particles));
}

#ifndef BL_TARGET_CUDA
/* ---- by a single lane ---- */

/* Its scratch memory. */
typedef struct octree_alone {
    octree_particle held[OCTREE_ALONE];
    uint16_t of[OCTREE_ALONE]; /* the cells of particles */
} octree_alone;

#define OCTREE_PER_LINE 4u /* particles in a line of a cache */
#define OCTREE_AHEAD 8u    /* cells: so many later, what is fetched now is written */
#define OCTREE_GROUP 256u  /* particles whose cells are found in a loop of its own, which compilers vectorise */

static BL_TASK void octree_find_cells(const octree_particle *from, uint32_t count, octree_scale scale, uint16_t *cell) {
    for (uint32_t i = 0; i < count; i++)
        cell[i] = (uint16_t)octree_cell_of(from + i, scale);
}

static BL_TASK void octree_count_cells(const octree_particle *from, uint32_t count, octree_scale scale,
                                       uint32_t *size) {
    uint16_t cell[OCTREE_GROUP];
    for (uint32_t base = 0; base < count; base += OCTREE_GROUP) {
        const uint32_t group = count - base < OCTREE_GROUP ? count - base : OCTREE_GROUP;
        octree_find_cells(from + base, group, scale, cell);
        for (uint32_t i = 0; i < group; i++)
            size[cell[i]]++;
    }
}

/* The counts of cells become where they begin. */
static BL_TASK void octree_add_up_alone(uint32_t *start, uint32_t cells) {
    uint32_t sum = 0;
    for (uint32_t i = 0; i <= cells; i++) {
        const uint32_t count = i < cells ? start[i] : 0;
        start[i] = sum;
        sum += count;
    }
}

/* Puts particles in the order of their cells, and finds where cells begin: cells + 1 words and one to work with. */
static BL_TASK void octree_sort(const octree_particle *from, octree_particle *to, uint32_t count, const octree_grid *g,
                                uint16_t *of, uint32_t *start) {
    const uint32_t cells = octree_cells(g->levels);
    uint32_t *next = start + 1; /* at the end the next of a cell is the first of the one after */
    memset(start, 0, sizeof *start * (cells + 2));
    octree_find_cells(from, count, octree_scale_of(g->depth, g->levels), of);
    for (uint32_t i = 0; i < count; i++)
        next[of[i]]++;
    octree_add_up_alone(next, cells);
    for (uint32_t i = 0; i < count; i++)
        to[next[of[i]]++] = from[i];
}

/* Tells the processor where particles will be written. */
static BL_TASK void octree_expect(const octree_particle *to, uint32_t count) {
    for (uint32_t i = 0; i < count; i += OCTREE_PER_LINE)
        bl_prefetch_write(to + i);
}

/* Many particles are first put in order in the scratch memory, a batch at a time, so that each cell gets its part of
 * the batch in one piece, and its place can be fetched in time. Written one by one, most would wait for memory. */
static BL_TASK void octree_move_cells(octree_alone *own, const octree_particle *from, octree_particle *to,
                                      uint32_t count, const octree_grid *g, uint32_t *next) {
    const uint32_t cells = octree_cells(g->levels);
    uint32_t start[OCTREE_CELLS + 2];
    for (uint32_t base = 0; base < count; base += OCTREE_ALONE) {
        const uint32_t batch = count - base < OCTREE_ALONE ? count - base : OCTREE_ALONE;
        octree_sort(from + base, own->held, batch, g, own->of, start);
        for (uint32_t i = 0; i < cells; i++) {
            const uint32_t part = start[i + 1] - start[i], later = i + OCTREE_AHEAD;
            if (later < cells)
                octree_expect(to + next[later], start[later + 1] - start[later]);
            memcpy(to + next[i], own->held + start[i], sizeof *to * part);
            next[i] += part;
        }
    }
}

/* True if the cell is in a leaf. */
static BL_TASK bool octree_find_leaf(const octree_pieces_shared *s, const octree_grid *g, const uint32_t *start,
                                     uint32_t cell, octree_found *found) {
    const uint32_t level = octree_leaf_level(s, g, start, cell);
    if (level == 0)
        return false;
    found->leaves += octree_add_leaf_of_cell(s, g, start, cell, level);
    found->depth = g->depth + level > found->depth ? g->depth + level : found->depth;
    found->placed += start[cell + 1] - start[cell];
    return true;
}

/* The subtrees of a cell. Its particles, of which there are no more than OCTREE_ALONE, lie in the buffer in which they
 * will stay. A split moves those of an octant from there to the scratch memory, or back, to the same places; leaves are
 * in the buffer in the end. So only one buffer has to come from memory. */
typedef struct octree_growing {
    const octree_pieces_shared *s;
    octree_alone *own;
    octree_particle *buffer; /* its particles */
    uint32_t first;          /* the number of the first of them */
    octree_found found;
} octree_growing;

static BL_TASK octree_particle *octree_in_buffer(const octree_growing *w, const octree_grid *g) {
    return w->buffer + (g->first - w->first);
}
static BL_TASK octree_particle *octree_in_scratch(const octree_growing *w, const octree_grid *g) {
    return w->own->held + (g->first - w->first);
}

static void octree_grow(octree_growing *w, const octree_grid *g, uint32_t cell, uint32_t first, uint32_t count,
                        bool held);

/* By one level: many octants of a tree are small, and have eight leaves or less. They are in the buffer afterwards. */
static BL_TASK void octree_grow_small(octree_growing *w, const octree_grid *g, uint32_t count, bool held) {
    octree_particle *buffer = octree_in_buffer(w, g), *scratch = octree_in_scratch(w, g);
    const octree_particle *from = held ? scratch : buffer;
    octree_particle *to = held ? buffer : scratch;
    uint16_t *of = w->own->of;
    uint32_t size[8] = {0, 0, 0, 0, 0, 0, 0, 0}, next[8];
    octree_find_cells(from, count, octree_scale_of(g->depth, 1), of);
    for (uint32_t i = 0; i < count; i++)
        size[of[i]]++;
    for (uint32_t i = 0, sum = 0; i < 8; sum += size[i++])
        next[i] = sum;
    for (uint32_t i = 0; i < count; i++)
        to[next[of[i]]++] = from[i];
    if (!held)
        memcpy(buffer, scratch, sizeof *buffer * count);
    octree_keep_inner(w->s, g, 0, 0, 0, count);
    w->found.split++;
    for (uint32_t i = 0; i < 8; i++) {
        const uint32_t begin = next[i] - size[i];
        if (octree_is_split(w->s, size[i], g->depth + 1)) {
            octree_grow(w, g, i, begin, size[i], false);
        } else if (size[i]) {
            octree_add_leaf(w->s, g, 1, i, begin, size[i]);
            w->found.leaves++;
            w->found.placed += size[i];
            w->found.depth = g->depth + 1 > w->found.depth ? g->depth + 1 : w->found.depth;
        }
    }
}

/* By several levels. Not inlined, so that the stack has its array only where it is needed. */
BL_CALLED_FN void octree_grow_large(octree_growing *w, const octree_grid *g, uint32_t count, bool held) {
    octree_particle *buffer = octree_in_buffer(w, g), *scratch = octree_in_scratch(w, g);
    uint32_t start[OCTREE_CELLS + 2];
    octree_sort(held ? scratch : buffer, held ? buffer : scratch, count, g, w->own->of, start);
    for (uint32_t i = 0; i < octree_cells(g->levels); i++) {
        const uint32_t first = start[i], size = start[i + 1] - first;
        w->found.split += octree_add_inner(w->s, g, start, i);
        if (size == 0)
            continue;
        if (!octree_find_leaf(w->s, g, start, i, &w->found))
            octree_grow(w, g, i, first, size, !held);
        else if (!held)
            memcpy(buffer + first, scratch + first, sizeof *buffer * size);
    }
}

/* Builds the whole subtree of a cell. `held`: its particles are in the scratch memory, and not in the buffer. */
static void octree_grow(octree_growing *w, const octree_grid *g, uint32_t cell, uint32_t first, uint32_t count,
                        bool held) {
    const uint32_t depth = g->depth + g->levels, levels = octree_levels(count, depth, &w->s->tree);
    const octree_grid below = {g->path << 3 * g->levels | cell, depth, levels, g->first + first, g->side};
    if (levels == 1)
        octree_grow_small(w, &below, count, held);
    else
        octree_grow_large(w, &below, count, held);
}

static BL_TASK void octree_count_alone(bl_task *t, const octree_piece *p, uint32_t chunk,
                                       const octree_pieces_shared *s) {
    octree_region *r = octree_region_at(s, p->region);
    const octree_scale scale = octree_scale_of(r->grid.depth, r->grid.levels);
    const uint32_t cells = octree_cells(r->grid.levels), begin = octree_chunk(r, chunk);
    const uint32_t count = octree_chunk(r, chunk + 1) - begin;
    const octree_particle *from = octree_source(s, r) + begin;
    uint32_t size[OCTREE_CELLS], *start = octree_starts(r);
    octree_found found = {0, 0, 0, 0};
    memset(size, 0, sizeof *size * cells);
    octree_count_cells(from, count, scale, size);
    for (uint32_t i = 0; i < cells; i++) {
        const uint32_t before = size[i] ? bl_fetch_add32_relaxed(start + i, size[i]) : 0;
        if (r->chunks > 1)
            octree_chunk_starts(r, chunk)[i] = before;
    }
    if (!bl_arrive(&r->uncounted)) /* P1 */
        return;
    octree_add_up_alone(start, cells);
    for (uint32_t cell = 0; cell < cells; cell++)
        found.split += octree_add_inner(s, &r->grid, start, cell);
    octree_add_found(s, &found);
    if (r->chunks > 1) {
        octree_spawn_stage(t, OCTREE_MOVE, p->region, r->chunks);
        return;
    }
    memcpy(size, start, sizeof *size * cells);
    octree_move_cells((octree_alone *)t->scratch, from, octree_target(s, r), count, &r->grid, size);
    octree_spawn_finish(t, s, p, r->count);
}

static BL_TASK void octree_move_alone(bl_task *t, const octree_piece *p, uint32_t chunk,
                                      const octree_pieces_shared *s) {
    octree_region *r = octree_region_at(s, p->region);
    const uint32_t begin = octree_chunk(r, chunk);
    uint32_t next[OCTREE_CELLS];
    for (uint32_t i = 0; i < octree_cells(r->grid.levels); i++)
        next[i] = octree_starts(r)[i] + octree_chunk_starts(r, chunk)[i];
    octree_move_cells((octree_alone *)t->scratch, octree_source(s, r) + begin, octree_target(s, r),
                      octree_chunk(r, chunk + 1) - begin, &r->grid, next);
    if (bl_arrive(&r->unmoved)) /* P1 */
        octree_spawn_finish(t, s, p, r->count);
}

static BL_TASK void octree_finish_alone(bl_task *t, const octree_piece *p, uint32_t window,
                                        const octree_pieces_shared *s) {
    octree_region *r = octree_region_at(s, p->region);
    const uint32_t cells = octree_cells(r->grid.levels), windows = octree_windows(t, s, r->count);
    const uint32_t begin = octree_part(r->count, windows, window), end = octree_part(r->count, windows, window + 1);
    const uint32_t *start = octree_starts(r);
    octree_growing w = {s, (octree_alone *)t->scratch, NULL, 0, {0, 0, 0, 0}};
    uint32_t cell = 0;
    while (start[cell] < begin)
        cell++;
    for (; cell < cells && start[cell] < end; cell++) {
        const uint32_t count = start[cell + 1] - start[cell];
        if (count == 0 || octree_find_leaf(s, &r->grid, start, cell, &w.found))
            continue;
        if (count > octree_batch(t, s)) {
            const uint32_t number = octree_new_region(s, &r->grid, cell, start[cell], count);
            octree_region *below = octree_region_at(s, number);
            memset(octree_starts(below), 0, 8 * octree_start_pairs(below->grid.levels));
            octree_spawn_stage(t, OCTREE_COUNT, number, below->chunks);
        } else {
            w.buffer = octree_target(s, r) + start[cell];
            w.first = r->grid.first + start[cell];
            octree_grow(&w, &r->grid, cell, start[cell], count, false);
        }
    }
    octree_add_found(s, &w.found);
}
#endif

#if BL_WARP > 1
/* ---- by the lanes of a block ---- */

#if BL_WARP == 32
#define OCTREE_HELD 8u /* particles of a lane in a batch */
#else
#define OCTREE_HELD 32u /* so that eight lanes hold enough, and tests have octants that are too large */
#endif
#define OCTREE_SLOTS 256u                   /* octants that are split at the same time, ... */
#define OCTREE_CHILDREN 2048u               /* ... and their children, of one level or several */
#define OCTREE_MOST_WARPS (1024u / BL_WARP) /* in a block */
#define OCTREE_DONE 0xffffu                 /* instead of a slot: the particle is in a leaf */

/* An octant that is to be split; `first` is counted as in the grid of the region. */
typedef struct octree_slot {
    uint64_t path;
    uint32_t first;
    uint32_t unused;
} octree_slot;

typedef struct octree_pieces_scratch {
    octree_particle held[OCTREE_BATCH]; /* by number; lane i copied i, i + lanes, ... */
    uint16_t order[OCTREE_BATCH];       /* their numbers, by their places */
    octree_region region;               /* a copy */
    uint32_t start[OCTREE_CELLS + 1]; /* where its cells begin; of a chunk: particles of a cell, where the next goes */
    uint32_t batch[OCTREE_CELLS + 1]; /* of a batch: particles of a cell, where they begin in `order` */
    uint32_t shift[OCTREE_CELLS];     /* from there to where they go */
    uint32_t warp_sum[OCTREE_MOST_WARPS];
    uint32_t last; /* this chunk is the last to arrive; the number of the next region */
    octree_found found;
    /* Of a finishing task: */
    uint32_t begin, end; /* of the cells that are finished now, counted from the region's first particle */
    uint32_t large;      /* a cell that is too large, or OCTREE_CELLS */
    uint32_t slots[2];   /* of this round and of the next, ... */
    uint32_t active[2];  /* ... and the particles in them */
    octree_slot slot[2][OCTREE_SLOTS];
    uint16_t slot_of_cell[OCTREE_CELLS];
    uint32_t child[OCTREE_CHILDREN + 1]; /* particles of a child, then where they begin among all */
    uint32_t goal[OCTREE_CHILDREN];      /* where its particles go, and its slot << 16 */
} octree_pieces_scratch;

/* The sum of the numbers of the lanes before this one. */
static BL_TASK uint32_t octree_prefix(const bl_task *t, octree_pieces_scratch *scratch, uint32_t mine) {
    uint32_t before = bl_warp_prefix_add(mine);
    if (bl_warp_lane() == BL_WARP - 1)
        scratch->warp_sum[t->lane / BL_WARP] = before + mine;
    bl_sync(t);
    for (uint32_t w = 0; w < t->lane / BL_WARP; w++)
        before += scratch->warp_sum[w];
    return before;
}

/* `count` numbers become the sums of those before them, and one more the sum of all. */
static BL_TASK void octree_add_up(const bl_task *t, octree_pieces_scratch *scratch, uint32_t *number, uint32_t count) {
    const uint32_t share = (count + t->lanes - 1) / t->lanes, begin = t->lane * share;
    uint32_t mine = 0;
    for (uint32_t i = begin; i < begin + share && i < count; i++)
        mine += number[i];
    uint32_t before = octree_prefix(t, scratch, mine);
    for (uint32_t i = begin; i < begin + share && i < count; i++) {
        const uint32_t now = number[i];
        number[i] = before;
        before += now;
        if (i + 1 == count)
            number[count] = before;
    }
    bl_sync(t);
}

/* Copies the region to shared memory, where all lanes look at it again and again. */
static BL_TASK octree_region *octree_open(const bl_task *t, const octree_pieces_shared *s, const octree_piece *p,
                                          octree_pieces_scratch *scratch) {
    octree_region *r = octree_region_at(s, p->region);
    bl_word *to = (bl_word *)(void *)&scratch->region;
    for (uint32_t i = t->lane; i < sizeof *r / 4; i += t->lanes)
        to[i] = bl_load32_relaxed((uint32_t *)(void *)r + i); /* others may change two of them */
    if (t->lane == 0) {
        scratch->found.leaves = scratch->found.split = 0;
        scratch->found.depth = scratch->found.placed = 0;
    }
    bl_sync(t);
    return r;
}

/* Particles that the lanes hold in a batch. */
static BL_TASK uint32_t octree_most_held(const bl_task *t) {
    return OCTREE_HELD * t->lanes < OCTREE_BATCH ? OCTREE_HELD * t->lanes : OCTREE_BATCH;
}

/* Copies particles to shared memory. */
static BL_TASK void octree_hold(const bl_task *t, octree_pieces_scratch *scratch, const octree_particle *from,
                                uint32_t count) {
    for (uint32_t i = t->lane; i < count; i += t->lanes)
        bl_copy16_begin(scratch->held + i, from + i);
    bl_copy16_wait();
}

/* Counts the particles of each cell in scratch->start. */
static BL_TASK void octree_count_chunk(const bl_task *t, octree_pieces_scratch *scratch, const octree_particle *from,
                                       uint32_t count) {
    const octree_scale scale = octree_scale_of(scratch->region.grid.depth, scratch->region.grid.levels);
    const uint32_t batch = octree_most_held(t);
    for (uint32_t i = t->lane; i < octree_cells(scratch->region.grid.levels); i += t->lanes)
        scratch->start[i] = 0;
    bl_sync(t);
    for (uint32_t base = 0; base < count; base += batch) {
        const uint32_t size = count - base < batch ? count - base : batch;
        octree_hold(t, scratch, from + base, size);
        for (uint32_t i = t->lane; i < size; i += t->lanes)
            bl_lane_add32(scratch->start + octree_cell_of(scratch->held + i, scale), 1);
    }
    bl_sync(t);
}

/* Moves a chunk; scratch->start says where the next particle of each cell goes. */
static BL_TASK void octree_move_chunk(const bl_task *t, octree_pieces_scratch *scratch, const octree_particle *from,
                                      uint32_t count, octree_particle *to) {
    const octree_scale scale = octree_scale_of(scratch->region.grid.depth, scratch->region.grid.levels);
    const uint32_t batch = octree_most_held(t), cells = octree_cells(scratch->region.grid.levels);
    for (uint32_t base = 0; base < count; base += batch) {
        const uint32_t size = count - base < batch ? count - base : batch;
        uint32_t at[OCTREE_HELD]; /* rank in the cell, and cell << 16 */
        octree_hold(t, scratch, from + base, size);
        for (uint32_t i = t->lane; i < cells; i += t->lanes)
            scratch->batch[i] = 0;
        bl_sync(t);
        BL_UNROLL for (uint32_t k = 0; k < OCTREE_HELD; k++) {
            const uint32_t i = k * t->lanes + t->lane;
            if (i < size) {
                const uint32_t cell = octree_cell_of(scratch->held + i, scale);
                at[k] = bl_lane_add32(scratch->batch + cell, 1) | cell << 16;
            }
        }
        bl_sync(t);
        octree_add_up(t, scratch, scratch->batch, cells);
        BL_UNROLL for (uint32_t k = 0; k < OCTREE_HELD; k++) {
            const uint32_t i = k * t->lanes + t->lane;
            if (i < size)
                scratch->order[scratch->batch[at[k] >> 16] + (at[k] & 0xffff)] = (uint16_t)i;
        }
        for (uint32_t i = t->lane; i < cells; i += t->lanes) {
            scratch->shift[i] = scratch->start[i] - scratch->batch[i];
            scratch->start[i] += scratch->batch[i + 1] - scratch->batch[i];
        }
        bl_sync(t);
        BL_OVERLAP for (uint32_t i = t->lane; i < size; i += t->lanes) {
            const octree_particle p = scratch->held[scratch->order[i]];
            to[scratch->shift[octree_cell_of(&p, scale)] + i] = p;
        }
        bl_sync(t);
    }
}

/* All lanes learn whether this chunk is the last to arrive. */
static BL_TASK bool octree_arrive(const bl_task *t, octree_pieces_scratch *scratch, uint32_t *unmet) {
    bl_sync(t);
    if (t->lane == 0)
        scratch->last = bl_arrive(unmet); /* P1 */
    bl_sync(t);
    return scratch->last;
}

static BL_TASK void octree_count(bl_task *t, const octree_piece *p, uint32_t chunk, const octree_pieces_shared *s) {
    octree_pieces_scratch *scratch = (octree_pieces_scratch *)t->scratch;
    octree_region *shared = octree_open(t, s, p, scratch), *r = &scratch->region;
    const uint32_t cells = octree_cells(r->grid.levels), begin = octree_chunk(r, chunk);
    const uint32_t count = octree_chunk(r, chunk + 1) - begin;
    const octree_particle *from = octree_source(s, r) + begin;
    uint32_t *start = octree_starts(shared);
    octree_count_chunk(t, scratch, from, count);
    if (r->chunks > 1) {
        uint32_t *chunk_start = octree_chunk_starts(shared, chunk);
        for (uint32_t i = t->lane; i < cells; i += t->lanes) {
            const uint32_t size = scratch->start[i];
            chunk_start[i] = size ? bl_fetch_add32_relaxed(start + i, size) : 0;
        }
        if (!octree_arrive(t, scratch, &shared->uncounted))
            return;
        for (uint32_t i = t->lane; i < cells; i += t->lanes)
            scratch->start[i] = bl_load32_relaxed(start + i);
        bl_sync(t);
    }
    octree_add_up(t, scratch, scratch->start, cells);
    for (uint32_t i = t->lane; i <= cells; i += t->lanes) {
        const uint32_t split = i < cells ? octree_add_inner(s, &r->grid, scratch->start, i) : 0;
        start[i] = scratch->start[i];
        if (split)
            bl_lane_add32(&scratch->found.split, split);
    }
    bl_sync(t);
    if (r->chunks == 1)
        octree_move_chunk(t, scratch, from, count, octree_target(s, r));
    if (t->lane == 0) {
        octree_add_found(s, &scratch->found);
        if (r->chunks == 1)
            octree_spawn_finish(t, s, p, r->count);
        else
            octree_spawn_stage(t, OCTREE_MOVE, p->region, r->chunks);
    }
}

static BL_TASK void octree_move(bl_task *t, const octree_piece *p, uint32_t chunk, const octree_pieces_shared *s) {
    octree_pieces_scratch *scratch = (octree_pieces_scratch *)t->scratch;
    octree_region *shared = octree_open(t, s, p, scratch), *r = &scratch->region;
    const uint32_t *start = octree_starts(shared), *chunk_start = octree_chunk_starts(shared, chunk);
    const uint32_t begin = octree_chunk(r, chunk);
    for (uint32_t i = t->lane; i < octree_cells(r->grid.levels); i += t->lanes)
        scratch->start[i] = start[i] + chunk_start[i];
    bl_sync(t);
    octree_move_chunk(t, scratch, octree_source(s, r) + begin, octree_chunk(r, chunk + 1) - begin, octree_target(s, r));
    if (octree_arrive(t, scratch, &shared->unmoved) && t->lane == 0)
        octree_spawn_finish(t, s, p, r->count);
}

/* ---- finishing ---- */

static BL_TASK void octree_note_leaf(octree_pieces_scratch *scratch, uint32_t depth, bool is_new) {
    if (is_new)
        bl_lane_add32(&scratch->found.leaves, 1);
    bl_fetch_max32_relaxed(&scratch->found.depth, depth);
}

static BL_TASK uint32_t octree_take_slot(octree_pieces_scratch *scratch, uint32_t round, uint64_t path, uint32_t first,
                                         uint32_t count) {
    const uint32_t slot = bl_lane_add32(&scratch->slots[round], 1);
    scratch->slot[round][slot].path = path;
    scratch->slot[round][slot].first = first;
    bl_lane_add32(&scratch->active[round], count);
    return slot;
}

/* Whether the cells that are finished at once, from `begin` on, include this one. If so, they include those before. */
static BL_TASK bool octree_includes(const uint32_t *start, uint32_t cell, uint32_t begin, uint32_t window_end,
                                    uint32_t batch) {
    return start[cell] < window_end && start[cell + 1] - begin <= batch;
}

/* Decides which cells are finished now, from scratch->begin up to scratch->end. Those in a leaf are, and the others
 * get a slot. If the first one is too large, it is the only one. */
static BL_TASK void octree_sort_out_cells(bl_task *t, const octree_pieces_shared *s, octree_pieces_scratch *scratch,
                                          uint32_t window_end, uint32_t batch) {
    const octree_grid *g = &scratch->region.grid;
    const uint32_t cells = octree_cells(g->levels), begin = scratch->begin, *start = scratch->start;
    for (uint32_t cell = t->lane; cell < cells; cell += t->lanes) {
        const uint32_t first = start[cell], count = start[cell + 1] - first;
        if (first < begin || first >= window_end)
            continue;
        const bool included = octree_includes(start, cell, begin, window_end, batch);
        if (included && (cell + 1 == cells || !octree_includes(start, cell + 1, begin, window_end, batch)))
            scratch->end = start[cell + 1];
        if (count == 0 || !(included || first == begin))
            continue;
        const uint32_t level = octree_leaf_level(s, g, start, cell);
        if (level)
            octree_note_leaf(scratch, g->depth + level, octree_add_leaf_of_cell(s, g, start, cell, level));
        if (!included)
            scratch->large = cell;
        else if (level)
            scratch->slot_of_cell[cell] = OCTREE_DONE;
        else
            scratch->slot_of_cell[cell] =
                (uint16_t)octree_take_slot(scratch, 0, g->path << 3 * g->levels | cell, first, count);
        if (included || level)
            bl_lane_add32(&scratch->found.placed, count);
    }
}

/* By how many levels to split all slots: not into more cells than there are particles. */
static BL_TASK uint32_t octree_levels_at_once(const octree_pieces_shared *s, const octree_pieces_scratch *scratch,
                                              uint32_t depth, uint32_t now) {
    const uint32_t slots = scratch->slots[now], active = scratch->active[now];
    uint32_t levels = 1;
    while (levels < OCTREE_LEVELS && depth + levels < s->tree.max_depth) {
        const uint32_t children = slots * octree_cells(levels + 1);
        if (children > OCTREE_CHILDREN || children > active)
            break;
        levels++;
    }
    return levels;
}

/* The children of all slots, once it is known how many particles each has: leaves, or slots of the next round. */
static BL_TASK void octree_sort_out_children(bl_task *t, const octree_pieces_shared *s, octree_pieces_scratch *scratch,
                                             uint32_t depth, uint32_t levels, uint32_t now) {
    const uint32_t cells = octree_cells(levels);
    for (uint32_t i = t->lane; i < scratch->slots[now] * cells; i += t->lanes) {
        const uint32_t cell = i % cells, *start = scratch->child + (i - cell), count = start[cell + 1] - start[cell];
        const octree_slot slot = scratch->slot[now][i / cells];
        const uint32_t shift = slot.first - start[0]; /* from places among all children to those in the region */
        octree_grid g = {slot.path, depth, levels, 0, 0};
        g.first = scratch->region.grid.first + shift;
        g.side = scratch->region.grid.side;
        const uint32_t split = octree_add_inner(s, &g, start, cell);
        if (split)
            bl_lane_add32(&scratch->found.split, split);
        if (count == 0)
            continue;
        const uint32_t level = octree_leaf_level(s, &g, start, cell), first = start[cell] + shift;
        uint32_t next = OCTREE_DONE;
        if (level)
            octree_note_leaf(scratch, depth + level, octree_add_leaf_of_cell(s, &g, start, cell, level));
        else
            next = octree_take_slot(scratch, 1 - now, slot.path << 3 * levels | cell, first, count);
        scratch->goal[i] = (first - scratch->begin) | next << 16;
    }
}

/* A round: from the slots to their children. at[]: see octree_split_slots. */
static BL_TASK void octree_split_round(bl_task *t, const octree_pieces_shared *s, octree_pieces_scratch *scratch,
                                       uint32_t *at, uint32_t depth, uint32_t levels, uint32_t now) {
    const uint32_t cells = octree_cells(levels);
    const octree_scale scale = octree_scale_of(depth, levels);
    for (uint32_t i = t->lane; i < scratch->slots[now] * cells; i += t->lanes)
        scratch->child[i] = 0;
    if (t->lane == 0)
        scratch->slots[1 - now] = scratch->active[1 - now] = 0;
    bl_sync(t);
    BL_UNROLL for (uint32_t k = 0; k < OCTREE_HELD; k++) {
        if (at[k] >> 16 != OCTREE_DONE) {
            const uint32_t cell = octree_cell_of(scratch->held + k * t->lanes + t->lane, scale);
            const uint32_t child = (at[k] >> 16) * cells + cell;
            at[k] = bl_lane_add32(scratch->child + child, 1) | child << 16;
        }
    }
    bl_sync(t);
    octree_add_up(t, scratch, scratch->child, scratch->slots[now] * cells);
    octree_sort_out_children(t, s, scratch, depth, levels, now);
    bl_sync(t);
    BL_UNROLL for (uint32_t k = 0; k < OCTREE_HELD; k++) {
        if (at[k] >> 16 != OCTREE_DONE)
            at[k] = scratch->goal[at[k] >> 16] + (at[k] & 0xffff);
    }
}

/* Splits all octants, round by round, and then moves their particles, which the lanes hold. */
static BL_TASK void octree_split_slots(bl_task *t, const octree_pieces_shared *s, octree_pieces_scratch *scratch) {
    const octree_region *r = &scratch->region;
    const octree_scale scale = octree_scale_of(r->grid.depth, r->grid.levels);
    const uint32_t count = scratch->end - scratch->begin;
    octree_particle *particles = octree_target(s, r) + scratch->begin;
    uint32_t at[OCTREE_HELD]; /* where a particle goes and slot << 16; in a round: rank in a child and child << 16 */
    octree_hold(t, scratch, particles, count);
    BL_UNROLL for (uint32_t k = 0; k < OCTREE_HELD; k++) {
        const uint32_t i = k * t->lanes + t->lane;
        at[k] = i | (i < count ? scratch->slot_of_cell[octree_cell_of(scratch->held + i, scale)] : OCTREE_DONE) << 16;
    }
    for (uint32_t depth = r->grid.depth + r->grid.levels, now = 0; scratch->slots[now]; now = 1 - now) {
        const uint32_t levels = octree_levels_at_once(s, scratch, depth, now);
        octree_split_round(t, s, scratch, at, depth, levels, now);
        depth += levels;
    }
    BL_UNROLL for (uint32_t k = 0; k < OCTREE_HELD; k++) {
        const uint32_t i = k * t->lanes + t->lane;
        if (i < count)
            scratch->order[at[k] & 0xffff] = (uint16_t)i;
    }
    bl_sync(t);
    BL_OVERLAP for (uint32_t i = t->lane; i < count; i += t->lanes) { particles[i] = scratch->held[scratch->order[i]]; }
}

/* A cell that is too large, unless it is a leaf, is the next region. */
static BL_TASK void octree_spawn_large(bl_task *t, const octree_pieces_shared *s, octree_pieces_scratch *scratch) {
    const uint32_t cell = scratch->large, *start = scratch->start;
    const octree_grid *g = &scratch->region.grid;
    if (cell == OCTREE_CELLS || octree_leaf_level(s, g, start, cell))
        return;
    if (t->lane == 0)
        scratch->last = octree_new_region(s, g, cell, start[cell], start[cell + 1] - start[cell]);
    bl_sync(t);
    octree_region *below = octree_region_at(s, scratch->last);
    for (uint32_t i = t->lane; i < 2 * octree_start_pairs(below->grid.levels); i += t->lanes)
        octree_starts(below)[i] = 0;
    if (t->lane == 0)
        octree_spawn_stage(t, OCTREE_COUNT, scratch->last, below->chunks);
}

/* Finishes as many cells as fit, and returns where the next one begins. */
static BL_TASK uint32_t octree_finish_cells(bl_task *t, const octree_pieces_shared *s, octree_pieces_scratch *scratch,
                                            uint32_t begin, uint32_t window_end) {
    if (t->lane == 0) {
        scratch->begin = scratch->end = begin;
        scratch->slots[0] = scratch->active[0] = 0;
        scratch->large = OCTREE_CELLS;
    }
    bl_sync(t);
    octree_sort_out_cells(t, s, scratch, window_end, octree_batch(t, s));
    bl_sync(t);
    const uint32_t next = scratch->large == OCTREE_CELLS ? scratch->end : scratch->start[scratch->large + 1];
    octree_spawn_large(t, s, scratch);
    if (scratch->slots[0])
        octree_split_slots(t, s, scratch);
    bl_sync(t);
    return next;
}

static BL_TASK void octree_finish(bl_task *t, const octree_piece *p, uint32_t window, const octree_pieces_shared *s) {
    octree_pieces_scratch *scratch = (octree_pieces_scratch *)t->scratch;
    octree_region *shared = octree_open(t, s, p, scratch);
    const uint32_t count = scratch->region.count, cells = octree_cells(scratch->region.grid.levels);
    const uint32_t windows = octree_windows(t, s, count);
    const uint32_t begin = octree_part(count, windows, window), end = octree_part(count, windows, window + 1);
    for (uint32_t i = t->lane; i <= cells; i += t->lanes)
        scratch->start[i] = octree_starts(shared)[i];
    bl_sync(t);
    for (uint32_t i = t->lane; i <= cells; i += t->lanes)
        if (scratch->start[i] >= begin && (i == 0 || scratch->start[i - 1] < begin))
            scratch->last = scratch->start[i]; /* the first cell of this window, or of one after it */
    bl_sync(t);
    for (uint32_t at = scratch->last; at < end;)
        at = octree_finish_cells(t, s, scratch, at, end);
    if (t->lane == 0)
        octree_add_found(s, &scratch->found);
}
#ifndef BL_TARGET_CUDA
BL__ASSERT(sizeof(octree_alone) <= sizeof(octree_pieces_scratch), "a block of one lane has room to work alone");
#endif
#else
typedef octree_alone octree_pieces_scratch;
#endif

/* As many as the lanes hold, and no more than there are slots for. */
static BL_TASK uint32_t octree_batch(const bl_task *t, const octree_pieces_shared *s) {
    if (t->lanes == 1)
        return OCTREE_ALONE;
#if BL_WARP > 1
    const uint32_t held = octree_most_held(t);
    return s->tree.threshold < held / OCTREE_SLOTS ? OCTREE_SLOTS * (s->tree.threshold + 1) : held;
#else
    return (void)s, 0;
#endif
}

static BL_TASK void octree_pieces_run(bl_task *t, const octree_piece *p, uint32_t index, const octree_pieces_shared *s,
                                      bl_nothing *local) {
    (void)local;
#ifndef BL_TARGET_CUDA
    if (t->lanes == 1) {
        if (p->stage == OCTREE_COUNT)
            octree_count_alone(t, p, index, s);
        else if (p->stage == OCTREE_MOVE)
            octree_move_alone(t, p, index, s);
        else
            octree_finish_alone(t, p, index, s);
        return;
    }
#endif
#if BL_WARP > 1
    if (p->stage == OCTREE_COUNT)
        octree_count(t, p, index, s);
    else if (p->stage == OCTREE_MOVE)
        octree_move(t, p, index, s);
    else
        octree_finish(t, p, index, s);
#endif
}

#endif
