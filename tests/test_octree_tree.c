/* The octree as a tree on the host: it is the same on every device and scheduler, and box queries agree with a scan of
 * all particles. */
#include "check.h"

#include "octree/host_tree.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>

static const char *const kind_names[] = {"uniform", "tube", "sphere", "plummer"};

enum { MOST = 20000 };
static uint32_t ids[MOST], seen[MOST];

/* ---- the query against a scan of all particles ---- */

static bool lies_in(const octree_particle *p, const octree_box *box) {
    const float at[3] = {p->x, p->y, p->z};
    bool in = true;
    for (int axis = 0; axis < 3; axis++)
        in = in && at[axis] >= box->low[axis] && at[axis] < box->high[axis];
    return in;
}

/* Each id occurs once, and the count is right. Returns the count. */
static uint32_t check_box(const octree *tree, const points *p, const octree_box *box) {
    static uint32_t turn;
    uint32_t expected = 0, wrong = 0, found = octree_in_box(tree, box, ids, MOST);
    turn++;
    for (uint32_t i = 0; i < p->count; i++)
        expected += lies_in(&p->at[i], box);
    CHECK_SAME(found, expected);
    for (uint32_t i = 0; i < found && i < MOST; i++) {
        bool good = ids[i] < p->count && seen[ids[i]] != turn && lies_in(&p->at[ids[i]], box);
        wrong += !good;
        if (good)
            seen[ids[i]] = turn;
    }
    CHECK_SAME(wrong, 0);
    return found;
}

static octree_box box_of(float x0, float y0, float z0, float x1, float y1, float z1) {
    return (octree_box){{x0, y0, z0}, {x1, y1, z1}};
}

static float random_float(void) { return (float)(rand() % 4096) / 4096.0f; }

/* Some boxes have planes of the tree as sides, some have particles as corners, some are arbitrary. */
static octree_box random_box(const points *p, int i) {
    octree_box box;
    for (int axis = 0; axis < 3; axis++) {
        float a = random_float(), b = random_float();
        if (i % 3 == 1) {
            a = floorf(8 * a) / 8;
            b = floorf(8 * b) / 8;
        }
        if (i % 3 == 2 && p->count > 0) {
            const octree_particle *low = &p->at[rand() % (int)p->count], *high = &p->at[rand() % (int)p->count];
            const float from[3] = {low->x, low->y, low->z}, to[3] = {high->x, high->y, high->z};
            a = from[axis];
            b = to[axis];
        }
        box.low[axis] = fminf(a, b);
        box.high[axis] = fmaxf(a, b);
    }
    return box;
}

static void check_edges(const octree *tree, const points *p) {
    const octree_box whole = box_of(0, 0, 0, 1, 1, 1), empty = box_of(0.5f, 0.5f, 0.5f, 0.5f, 0.5f, 0.5f),
                     flat = box_of(0, 0.25f, 0, 1, 0.25f, 1), turned = box_of(1, 1, 1, 0, 0, 0),
                     above = box_of(1, 0, 0, 2, 1, 1), below = box_of(-1, -1, -1, 0, 1, 1),
                     huge = box_of(-FLT_MAX, -INFINITY, -1, FLT_MAX, INFINITY, 2), nothing = box_of(NAN, 0, 0, 1, 1, 1),
                     upper = box_of(0, 0, 0, 1, NAN, 1);
    CHECK_SAME(check_box(tree, p, &whole), p->count);
    CHECK_SAME(check_box(tree, p, &huge), p->count);
    CHECK_SAME(check_box(tree, p, &empty), 0);
    CHECK_SAME(check_box(tree, p, &flat), 0);
    CHECK_SAME(check_box(tree, p, &turned), 0);
    CHECK_SAME(check_box(tree, p, &above), 0);
    CHECK_SAME(check_box(tree, p, &below), 0);
    CHECK_SAME(check_box(tree, p, &nothing), 0);
    CHECK_SAME(check_box(tree, p, &upper), 0);
}

/* A particle on the lower bound is inside, one on the upper bound is not. */
static void check_bounds(const octree *tree, const points *p) {
    for (uint32_t i = 0; i < p->count; i += p->count / 40 + 1) {
        const octree_particle *at = &p->at[i];
        octree_box just = box_of(at->x, at->y, at->z, nextafterf(at->x, 2), nextafterf(at->y, 2), nextafterf(at->z, 2));
        CHECK(check_box(tree, p, &just) >= 1);
        just = box_of(0, 0, 0, at->x, 1, 1);
        check_box(tree, p, &just);
    }
}

static void check_room(const octree *tree, const points *p) {
    const octree_box whole = box_of(0, 0, 0, 1, 1, 1);
    ids[0] = ids[1] = UINT32_MAX;
    CHECK_SAME(octree_in_box(tree, &whole, ids, 1), p->count);
    CHECK_SAME(ids[1], UINT32_MAX);
    CHECK_SAME(octree_in_box(tree, &whole, NULL, 0), p->count);
    if (p->count > 0)
        CHECK_SAME(ids[0], tree->particle[0].id);
}

static void check_queries(const octree *tree, const points *p) {
    check_edges(tree, p);
    check_bounds(tree, p);
    check_room(tree, p);
    for (int i = 0; i < 60 / CHECK_SLOWER; i++) {
        octree_box box = random_box(p, i);
        check_box(tree, p, &box);
    }
}

/* ---- trees ---- */

static bool same_tree(const octree *a, const octree *b) {
    return a->nodes == b->nodes && a->leaves == b->leaves && a->particles == b->particles && a->depth == b->depth &&
           memcmp(a->node, b->node, sizeof *a->node * a->nodes) == 0 &&
           memcmp(a->particle, b->particle, sizeof *a->particle * a->particles) == 0;
}

static void build(octree *tree, const points *p, bl_config config, uint32_t threshold, uint32_t max_depth) {
    bl_context *context = NULL;
    bl_stats stats = {0};
    CHECK_SAME(bl_open(&context, &config), BL_OK);
    CHECK_SAME(octree_build(tree, context, p, threshold, max_depth, &stats), BL_OK);
    if (config.scheduler) /* otherwise tasks are pieces */
        CHECK_SAME(stats.tasks, tree->nodes - tree->leaves);
    CHECK_SAME(tree->particles, p->count);
    CHECK(octree_is_sound(tree));
    bl_close(context);
}

/* Every device must build the first tree again. */
static void check_everywhere(const octree *tree, const points *p, uint32_t threshold, uint32_t max_depth) {
    const bl_config configs[] = {{.device = "cpu", .workers = 3, .scheduler = "abp"},
                                 {.device = "cpu", .workers = 2, .scheduler = "blocking", .capacity = 2},
                                 {.device = "cpu", .workers = 2, .scheduler = "static"},
                                 {.device = "cpu", .workers = 3},
                                 {.device = "sim", .seed = 7},
                                 {.device = "sim", .seed = 8, .scheduler = "steal:steal_many"},
                                 {.device = "sim", .group = "lane"},
                                 {.device = "sim", .seed = 9, .group = "block:8"}, /* few particles are too many */
                                 {.device = "cuda"},
                                 {.device = "cuda", .scheduler = "static"}};
    for (size_t i = 0; i < sizeof configs / sizeof configs[0]; i++) {
        octree other;
        bl_context *context = NULL;
        if ((p->count > 2000 && bl_device_traits(configs[i].device) & BL_DEVICE_SIMULATED) ||
            bl_open(&context, &configs[i]) != BL_OK)
            continue; /* no GPU here */
        bl_close(context);
        build(&other, p, configs[i], threshold, max_depth);
        CHECK(same_tree(tree, &other));
        octree_free(&other);
    }
}

static void check_tree(const points *p, uint32_t threshold, uint32_t max_depth, const char *name) {
    octree tree;
    check_at("%u particles %s, threshold %u, depth %u", (unsigned)p->count, name, (unsigned)threshold,
             (unsigned)max_depth);
    build(&tree, p, (bl_config){.device = "cpu", .workers = 1}, threshold, max_depth);
    check_queries(&tree, p);
    check_everywhere(&tree, p, threshold, max_depth);
    octree_free(&tree);
}

static void test_kinds(void) {
    for (uint32_t kind = 0; kind < 4; kind++) {
        points p;
        if (!CHECK(points_make(&p, (points_kind)kind, MOST / CHECK_SLOWER, 1)))
            return;
        check_tree(&p, 20, 20, kind_names[kind]);
        p.count = 1500;
        check_tree(&p, 1, 20, kind_names[kind]);
        check_tree(&p, 5, 3, kind_names[kind]);
        p.count = 30;
        check_tree(&p, 20, 0, kind_names[kind]);
        p.count = 1;
        check_tree(&p, 20, 20, kind_names[kind]);
        p.count = 0;
        check_tree(&p, 20, 20, kind_names[kind]);
        points_free(&p);
    }
}

/* Particles on the planes of the tree, two at each point. */
static void test_lattice(void) {
    enum { SIDE = 8 };
    static octree_particle at[2 * SIDE * SIDE * SIDE];
    for (uint32_t i = 0; i < sizeof at / sizeof at[0]; i++) {
        uint32_t cell = i / 2;
        at[i] = (octree_particle){.x = (float)(cell % SIDE) / SIDE,
                                  .y = (float)(cell / SIDE % SIDE) / SIDE,
                                  .z = (float)(cell / SIDE / SIDE) / SIDE,
                                  .id = i};
    }
    const points p = {at, sizeof at / sizeof at[0]};
    check_tree(&p, 1, 4, "on a lattice"); /* pairs cannot be separated: leaves of two, at depth 4 */
    check_tree(&p, 2, 20, "on a lattice");
}

static void test_equal(void) {
    octree_particle at[50];
    for (uint32_t i = 0; i < 50; i++)
        at[i] = (octree_particle){.x = 0.3f, .y = 0.6f, .z = 0x1.fffffep-1f, .id = i};
    const points p = {at, 50};
    check_tree(&p, 20, 20, "in one place");
}

/* Most particles in a small octant, far down: regions below regions, of which most cells are empty. */
static void test_cluster(void) {
    enum { MANY = MOST, FEW = 1900 };
    static octree_particle at[MANY];
    points p;
    if (!CHECK(points_make(&p, POINTS_UNIFORM, MANY, 3)))
        return;
    for (uint32_t i = 0; i < MANY; i++) {
        const float side = i % 8 ? 0x1p-12f : 1;
        at[i] = (octree_particle){.x = p.at[i].x * side, .y = p.at[i].y * side, .z = p.at[i].z * side, .id = i};
    }
    points_free(&p);
    check_tree(&(points){at, MANY}, 20, 20, "in a corner");
    check_tree(&(points){at, MANY}, 20, 11, "in a corner");
    check_tree(&(points){at, FEW}, 1, 20, "in a corner");
    check_tree(&(points){at, FEW}, 1000, 20, "in a corner");
}

/* As many octants that are too large for a small block as one task may find, and one that begins with each. */
static void test_large_cells(void) {
    enum { CELLS = 9, EACH = 270 };
    static octree_particle at[CELLS * EACH];
    points p;
    octree tree, other;
    if (!CHECK(points_make(&p, POINTS_UNIFORM, CELLS * EACH, 5)))
        return;
    for (uint32_t i = 0; i < CELLS * EACH; i++) {
        const uint32_t cell = i % CELLS;
        at[i] = (octree_particle){.x = (float)(cell % 3) / 4 + p.at[i].x / 16,
                                  .y = (float)(cell / 3) / 4 + p.at[i].y / 16,
                                  .z = p.at[i].z / 16,
                                  .id = i};
    }
    points_free(&p);
    p = (points){at, CELLS * EACH};
    check_at("nine large cells");
    build(&tree, &p, (bl_config){.device = "cpu", .workers = 1}, 20, 20);
    build(&other, &p, (bl_config){.device = "sim", .group = "block:8"}, 20, 20);
    CHECK(same_tree(&tree, &other));
    octree_free(&other);
    build(&other, &p, (bl_config){.device = "sim", .group = "block:512"}, 20, 20);
    CHECK(same_tree(&tree, &other));
    octree_free(&other);
    octree_free(&tree);
}

static void test_refused(void) {
    octree_particle at[1] = {{.x = 1, .y = 0, .z = 0}};
    const points p = {at, 1};
    octree tree;
    bl_context *context = NULL;
    check_at("rejected input");
    CHECK_SAME(bl_open(&context, &(bl_config){.device = "cpu", .workers = 1}), BL_OK);
    CHECK_SAME(octree_build(&tree, context, &p, 20, 20, NULL), BL_EINVAL);
    at[0].x = NAN;
    CHECK_SAME(octree_build(&tree, context, &p, 20, 20, NULL), BL_EINVAL);
    at[0].x = -0x1p-30f;
    CHECK_SAME(octree_build(&tree, context, &p, 20, 20, NULL), BL_EINVAL);
    at[0].x = 0;
    CHECK_SAME(octree_build(&tree, context, &p, 0, 20, NULL), BL_EINVAL);
    CHECK_SAME(octree_build(&tree, context, &p, 20, OCTREE_MAX_DEPTH + 1, NULL), BL_EINVAL);
    CHECK(tree.node == NULL && tree.particle == NULL);
    CHECK_SAME(octree_build(&tree, context, &p, 20, 20, NULL), BL_OK);
    octree_free(&tree);
    bl_close(context);
}

/* No run splits more octants than there is room for; a chain of identical particles splits exactly that many. */
static void test_room(void) {
    check_at("room for inner nodes");
    CHECK_SAME(octree_inner_most(0, 20, 20), 0);
    CHECK_SAME(octree_inner_most(20, 20, 20), 0);
    CHECK_SAME(octree_inner_most(21, 20, 20), 20);
    CHECK_SAME(octree_inner_most(50, 20, 3), 1 + 2 + 2);
    CHECK_SAME(octree_inner_most(1000, 1, 4), 1 + 8 + 64 + 500);
}

int main(void) {
    check_limit(120);
    srand(1);
    test_kinds();
    test_lattice();
    test_equal();
    test_cluster();
    test_large_cells();
    test_refused();
    test_room();
    return check_end();
}
