#include "host_tree.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- collecting ---- */

/* Octants of one depth share no particle, and each octant that is split holds more than `threshold`. */
uint64_t octree_inner_most(uint32_t particles, uint32_t threshold, uint32_t max_depth) {
    uint64_t most = 0, octants = 1, full = particles / ((uint64_t)threshold + 1);
    for (uint32_t depth = 0; depth < max_depth; depth++, octants *= 8)
        most += octants < full ? octants : full;
    return most;
}

static uint64_t begin_of(const octree_node *node) { return node->path << 3 * (OCTREE_MAX_DEPTH - node->depth); }

/* By first particle; octants that begin at the same particle are sorted larger first. */
static int in_order(const void *a, const void *b) {
    const octree_node *x = a, *y = b;
    uint64_t begin_x = begin_of(x), begin_y = begin_of(y);
    return begin_x != begin_y ? (begin_x > begin_y) - (begin_x < begin_y)
                              : (x->depth > y->depth) - (x->depth < y->depth);
}

/* Backwards: after[d] is the nearest node seen so far that is no deeper than d. */
static void link_nodes(octree *tree) {
    uint32_t after[OCTREE_MAX_DEPTH + 1];
    for (uint32_t depth = 0; depth <= OCTREE_MAX_DEPTH; depth++)
        after[depth] = tree->nodes;
    for (uint32_t i = tree->nodes; i-- > 0;) {
        octree_node *node = &tree->node[i];
        node->next = after[node->depth];
        for (uint32_t depth = node->depth; depth <= OCTREE_MAX_DEPTH; depth++)
            after[depth] = i;
    }
}

static int by_id(const void *a, const void *b) {
    const octree_particle *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

/* The order that a run gives to the particles of a leaf may depend on its tasks. */
static void put_in_order(octree_particle *particle, uint32_t count) {
    for (uint32_t i = 1; i < count; i++)
        if (particle[i - 1].id > particle[i].id) {
            qsort(particle, count, sizeof *particle, by_id);
            return;
        }
}

/* Collects the particles of the leaves in buffer[side]; `buffer` has room for all of that side. */
static int collect_side(octree *tree, bl_context *context, const octree_shared *device, const octree_node *leaf,
                        uint32_t side, octree_particle *buffer) {
    int status = bl_copy_out(context, buffer, device->buffer[side], sizeof *buffer * tree->particles);
    for (uint32_t i = 0; i < tree->leaves && status == BL_OK; i++)
        if (leaf[i].next == side) {
            memcpy(&tree->particle[leaf[i].first], &buffer[leaf[i].first], sizeof *buffer * leaf[i].count);
            put_in_order(&tree->particle[leaf[i].first], leaf[i].count);
        }
    return status;
}

static int collect_particles(octree *tree, bl_context *context, const octree_shared *device, const octree_node *leaf) {
    octree_particle *buffer = malloc(sizeof *buffer * ((size_t)tree->particles + 1));
    int status = buffer ? BL_OK : BL_ENOMEM;
    for (uint32_t side = 0; side < 2 && status == BL_OK && tree->particles > 0; side++)
        status = collect_side(tree, context, device, leaf, side, buffer);
    free(buffer);
    return status;
}

static int collect_nodes(octree *tree, bl_context *context, const octree_shared *device, const octree_node *leaf) {
    const uint32_t inner = tree->nodes - tree->leaves;
    int status = inner > 0 ? bl_copy_out(context, tree->node, device->inner, sizeof *leaf * inner) : BL_OK;
    if (tree->leaves > 0)
        memcpy(tree->node + inner, leaf, sizeof *leaf * tree->leaves);
    if (status != BL_OK)
        return status;
    qsort(tree->node, tree->nodes, sizeof *tree->node, in_order);
    link_nodes(tree);
    return BL_OK;
}

int octree_collect(octree *tree, bl_context *context, const octree_shared *device, const octree_node *leaf,
                   const octree_totals *totals) {
    *tree = (octree){.nodes = totals->inner + totals->leaves,
                     .leaves = totals->leaves,
                     .particles = device->particles,
                     .depth = totals->depth};
    tree->node = malloc(sizeof *tree->node * ((size_t)tree->nodes + 1));
    tree->particle = malloc(sizeof *tree->particle * ((size_t)tree->particles + 1));
    int status = tree->node && tree->particle ? collect_nodes(tree, context, device, leaf) : BL_ENOMEM;
    if (status == BL_OK)
        status = collect_particles(tree, context, device, leaf);
    if (status != BL_OK)
        octree_free(tree);
    return status;
}

void octree_free(octree *tree) {
    free(tree->node);
    free(tree->particle);
    *tree = (octree){0};
}

static bool is_sound_below(const octree *tree, uint32_t i) {
    const octree_node *node = &tree->node[i];
    uint64_t first = node->first;
    if (octree_is_leaf(tree, i))
        return node->count > 0;
    for (uint32_t at = i + 1; at < node->next; at = tree->node[at].next) {
        const octree_node *child = &tree->node[at];
        if (child->depth != node->depth + 1 || child->path >> 3 != node->path || child->first != first)
            return false;
        first += child->count;
    }
    return first == (uint64_t)node->first + node->count;
}

bool octree_is_sound(const octree *tree) {
    if (tree->nodes == 0)
        return tree->particles == 0;
    const octree_node *root = &tree->node[0];
    bool sound = root->path == 0 && root->depth == 0 && root->first == 0 && root->count == tree->particles &&
                 root->next == tree->nodes;
    for (uint32_t i = 0; i < tree->nodes && sound; i++)
        sound = is_sound_below(tree, i);
    return sound;
}

/* ---- the query ---- */

float octree_cube(const octree_node *node, float low[3]) {
    const float side = 1.0f / (float)(UINT32_C(1) << node->depth);
    for (uint32_t axis = 0; axis < 3; axis++) {
        uint32_t at = 0;
        for (uint32_t level = node->depth; level-- > 0;)
            at = at << 1 | (uint32_t)(node->path >> (3 * level + axis) & 1);
        low[axis] = (float)at * side;
    }
    return side;
}

typedef enum octree_overlap { OCTREE_APART, OCTREE_PARTLY, OCTREE_INSIDE } octree_overlap;

/* A NaN yields PARTLY all the way down, where no particle passes the test. */
static octree_overlap overlap(const octree_node *node, const octree_box *box) {
    float low[3], side = octree_cube(node, low);
    bool inside = true;
    for (int axis = 0; axis < 3; axis++) {
        if (low[axis] + side <= box->low[axis] || low[axis] >= box->high[axis])
            return OCTREE_APART;
        inside = inside && low[axis] >= box->low[axis] && low[axis] + side <= box->high[axis];
    }
    return inside ? OCTREE_INSIDE : OCTREE_PARTLY;
}

static bool is_in_box(const octree_particle *p, const octree_box *box) {
    return p->x >= box->low[0] && p->x < box->high[0] && p->y >= box->low[1] && p->y < box->high[1] &&
           p->z >= box->low[2] && p->z < box->high[2];
}

uint32_t octree_in_box(const octree *tree, const octree_box *box, uint32_t *id, uint32_t room) {
    uint32_t found = 0;
    for (uint32_t i = 0; i < tree->nodes;) {
        const octree_node *node = &tree->node[i];
        const octree_overlap how = overlap(node, box);
        if (how == OCTREE_PARTLY && !octree_is_leaf(tree, i)) {
            i++;
            continue;
        }
        const octree_particle *particle = &tree->particle[node->first];
        for (uint32_t k = 0; k < node->count && how != OCTREE_APART; k++)
            if (how == OCTREE_INSIDE || is_in_box(&particle[k], box)) {
                if (found < room)
                    id[found] = particle[k].id;
                found++;
            }
        i = node->next;
    }
    return found;
}

/* ---- the file ---- */

static void write_node(const octree_node *node, bool leaf, FILE *out) {
    float low[3], side = octree_cube(node, low);
    fputs("node r", out);
    for (uint32_t level = node->depth; level-- > 0;)
        fputc('0' + (int)(node->path >> 3 * level & 7), out);
    fprintf(out, " %" PRIu32 " %.9g %.9g %.9g %.9g %" PRIu32 " %" PRIu32 " %s\n", node->depth, (double)low[0],
            (double)low[1], (double)low[2], (double)side, node->first, node->count, leaf ? "leaf" : "inner");
}

void octree_write(const octree *tree, FILE *out) {
    fprintf(out,
            "# ballast octree 1: %" PRIu32 " particles, %" PRIu32 " nodes, %" PRIu32 " leaves, depth %" PRIu32 "\n",
            tree->particles, tree->nodes, tree->leaves, tree->depth);
    fputs("# node PATH DEPTH X Y Z SIDE FIRST COUNT leaf|inner\n", out);
    for (uint32_t i = 0; i < tree->nodes; i++)
        write_node(&tree->node[i], octree_is_leaf(tree, i), out);
    fputs("# particle ID X Y Z, in the order that FIRST counts\n", out);
    for (uint32_t i = 0; i < tree->particles; i++) {
        const octree_particle *p = &tree->particle[i];
        fprintf(out, "particle %" PRIu32 " %.9g %.9g %.9g\n", p->id, (double)p->x, (double)p->y, (double)p->z);
    }
}
