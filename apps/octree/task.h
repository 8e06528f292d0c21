/* The octree's task: splits one octant (Cederman and Tsigas 2008, section 5).
 *
 * The particles of the octant are regrouped by child octant from one buffer into the other, in two passes: count, then
 * move. With many lanes, every warp handles a run of consecutive particles. The ballots of the three comparisons give
 * each lane its rank among the particles of the same octant, so a warp writes at most eight contiguous pieces. A child
 * with too many particles becomes a task, any other a leaf.
 */
#include "octree.h"

#include "common/kernels.h"
#include <ballast/task.h>

#define OCTREE_WARPS (BL_WARP > 1 ? 1024 / BL_WARP : 1) /* the most warps in a block */
#ifndef OCTREE_AHEAD
#define OCTREE_AHEAD 6 /* loads in flight per lane: one block alone must hide the latency of the whole root */
#endif

typedef struct octree_scratch {
    uint32_t count[OCTREE_WARPS][8];
} octree_scratch;

typedef struct octree_middle {
    float x, y, z;
} octree_middle;

static BL_TASK octree_middle octree_middle_of(const octree_octant *o) {
    float half = 1.0f / (float)(2u << o->depth);
    octree_middle m = {(float)(2 * o->x + 1) * half, (float)(2 * o->y + 1) * half, (float)(2 * o->z + 1) * half};
    return m;
}

static BL_TASK uint32_t octree_side(const octree_particle *p, const octree_middle *m) {
    return (p->x >= m->x ? 1u : 0u) | (p->y >= m->y ? 2u : 0u) | (p->z >= m->z ? 4u : 0u);
}

/* Interleaves the bits of the coordinates, x lowest. */
static BL_TASK uint64_t octree_path(uint32_t x, uint32_t y, uint32_t z, uint32_t depth) {
    uint64_t path = 0;
    for (uint32_t i = 0; i < depth; i++)
        path |= (uint64_t)((x >> i & 1) | (y >> i & 1) << 1 | (z >> i & 1) << 2) << 3 * i;
    return path;
}

static BL_TASK octree_octant octree_child(const octree_octant *o, uint32_t side, uint32_t first, uint32_t count) {
    octree_octant child = {
        first, count, o->depth + 1, 2 * o->x + (side & 1), 2 * o->y + (side >> 1 & 1), 2 * o->z + (side >> 2)};
    return child;
}

static BL_TASK bool octree_splits(const octree_octant *o, const octree_shared *s) {
    return o->count > s->threshold && o->depth < s->max_depth;
}

static BL_TASK void octree_write_leaf(const octree_shared *s, const octree_octant *o) {
    octree_node leaf = {octree_path(o->x, o->y, o->z, o->depth), o->depth, o->first, o->count, o->depth & 1};
    s->leaf[o->first] = leaf;
}

static BL_TASK void octree_keep(const octree_shared *s, const octree_octant *o) {
    octree_node node = {octree_path(o->x, o->y, o->z, o->depth), o->depth, o->first, o->count, 0};
    s->inner[bl_fetch_add32_relaxed(&s->totals->inner, 1)] = node;
}

/* Fire and forget: the results of these additions are not used. */
static BL_TASK void octree_count_leaves(const octree_shared *s, uint32_t leaves, uint32_t placed, uint32_t depth) {
    bl_fetch_add32_relaxed(&s->totals->leaves, leaves);
    bl_fetch_max32_relaxed(&s->totals->depth, depth);
    bl_fetch_add32_relaxed(&s->totals->placed, placed);
}

/* The particles of octants at this depth. A conditional instead of an index, because a GPU keeps no array of pointers
 * in registers. */
static BL_TASK octree_particle *octree_buffer(const octree_shared *s, uint32_t depth) {
    return depth & 1 ? s->buffer[1] : s->buffer[0];
}

/* Splits an octant with one lane. */
static BL_TASK void octree_split_alone(bl_task *t, const octree_octant *o, const octree_shared *s) {
    const octree_particle *from = octree_buffer(s, o->depth) + o->first;
    octree_particle *to = octree_buffer(s, o->depth + 1) + o->first;
    octree_middle middle = octree_middle_of(o);
    uint32_t count[8] = {0, 0, 0, 0, 0, 0, 0, 0}, next[8];
    for (uint32_t i = 0; i < o->count; i++)
        count[octree_side(from + i, &middle)]++;
    for (uint32_t side = 0, sum = 0; side < 8; sum += count[side++])
        next[side] = sum;
    for (uint32_t i = 0; i < o->count; i++)
        to[next[octree_side(from + i, &middle)]++] = from[i];
    uint32_t leaves = 0, placed = 0;
    for (uint32_t side = 0; side < 8; side++) {
        octree_octant child = octree_child(o, side, o->first + next[side] - count[side], count[side]);
        if (octree_splits(&child, s)) {
            bl_spawn(t, &child);
        } else if (child.count) {
            octree_write_leaf(s, &child);
            placed += child.count;
            leaves++;
        }
    }
    if (leaves)
        octree_count_leaves(s, leaves, placed, o->depth + 1);
}

#if BL_WARP > 1
/* The lanes of this warp that hold a particle of octant `side`, given the ballots of the three comparisons. */
static BL_TASK uint32_t octree_mates(uint32_t side, uint32_t valid, uint32_t x, uint32_t y, uint32_t z) {
    return valid & (side & 1 ? x : ~x) & (side & 2 ? y : ~y) & (side & 4 ? z : ~z);
}

/* Passes over the particles [begin, end) of one warp. Lane l (mod 8) keeps the count of octant l or, with `to`, its
 * next position. */
static BL_TASK uint32_t octree_pass(const octree_particle *from, octree_particle *to, uint32_t begin, uint32_t end,
                                    const octree_middle *middle, uint32_t next) {
    uint32_t lane = bl_warp_lane(), below = (1u << lane) - 1;
    for (uint32_t base = begin; base < end; base += OCTREE_AHEAD * BL_WARP) {
        octree_particle p[OCTREE_AHEAD];
        BL_UNROLL for (uint32_t k = 0; k < OCTREE_AHEAD; k++) {
            uint32_t i = base + k * BL_WARP + lane;
            if (i < end)
                p[k] = from[i];
        }
        BL_UNROLL for (uint32_t k = 0; k < OCTREE_AHEAD; k++) {
            if (base + k * BL_WARP >= end)
                continue;
            bool here = base + k * BL_WARP + lane < end;
            uint32_t side = here ? octree_side(p + k, middle) : 0;
            uint32_t valid = bl_warp_ballot(here), x = bl_warp_ballot(side & 1), y = bl_warp_ballot(side & 2),
                     z = bl_warp_ballot(side & 4);
            if (to) {
                uint32_t at = bl_warp_broadcast32(next, side) + bl_popcount(octree_mates(side, valid, x, y, z) & below);
                if (here)
                    to[at] = p[k];
            }
            next += bl_popcount(octree_mates(lane & 7, valid, x, y, z));
        }
    }
    return next;
}

/* Splits an octant with all lanes of a warp or block. Every warp computes all positions from the counts of all warps,
 * so one barrier in between is enough. */
static BL_TASK void octree_split_together(bl_task *t, const octree_octant *o, const octree_shared *s) {
    octree_scratch *scratch = (octree_scratch *)t->scratch;
    const octree_particle *from = octree_buffer(s, o->depth) + o->first;
    octree_particle *to = octree_buffer(s, o->depth + 1) + o->first;
    octree_middle middle = octree_middle_of(o);
    uint32_t lane = bl_warp_lane(), warp = t->lane / BL_WARP, warps = t->lanes / BL_WARP;
    uint32_t share = (o->count + t->lanes - 1) / t->lanes * BL_WARP;
    uint32_t begin = warp * share < o->count ? warp * share : o->count;
    uint32_t end = begin + share < o->count ? begin + share : o->count;

    uint32_t counted = octree_pass(from, NULL, begin, end, &middle, 0);
    if (lane < 8) /* a warp has at least 8 lanes wherever it has more than one */
        scratch->count[warp][lane] = counted;
    bl_sync(t);

    uint32_t total = 0, before = 0;
    for (uint32_t w = 0; w < warps && lane < 8; w++) {
        uint32_t n = scratch->count[w][lane];
        before += w < warp ? n : 0;
        total += n;
    }
    uint32_t start = bl_warp_prefix_add(total);
    octree_pass(from, to, begin, end, &middle, start + before);

    if (warp != 0)
        return;
    octree_octant child = octree_child(o, lane & 7, o->first + start, total);
    bool splits = total && octree_splits(&child, s);
    bool leaf = total && !splits;
    if (splits)
        bl_spawn(t, &child);
    if (leaf)
        octree_write_leaf(s, &child);
    uint32_t leaves = bl_warp_ballot(leaf), mine = leaf ? total : 0;
    uint32_t placed = bl_warp_prefix_add(mine) + mine;
    if (lane == BL_WARP - 1 && leaves)
        octree_count_leaves(s, bl_popcount(leaves), placed, child.depth);
}
#endif

static BL_TASK void octree_run(bl_task *t, const octree_octant *o, uint32_t index, const octree_shared *s,
                               bl_nothing *local) {
    (void)index, (void)local;
    if (s->inner && t->lane == 0)
        octree_keep(s, o);
    if (t->lanes == 1)
        octree_split_alone(t, o, s);
#if BL_WARP > 1
    else
        octree_split_together(t, o, s);
#endif
}

/* The papers' criterion: the work is done when every particle lies in a leaf. */
static BL_TASK bool octree_done(const octree_shared *s) {
    return bl_load32_relaxed(&s->totals->placed) == s->particles;
}

#define BL_PROGRAM octree
#define BL_PAYLOAD octree_octant
#define BL_SHARED octree_shared
#define BL_SCRATCH octree_scratch
#define BL_RUN octree_run
#define BL_DONE_TEST octree_done
#define BL_MAX_SPAWN 8
#define BL_LANES 512
#define BL_SCHEDULERS APP_SCHEDULERS(BL_SCHEDULERS_PAPERS, 0)
#include <ballast/program.h>
