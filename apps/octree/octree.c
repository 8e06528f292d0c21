/* The application `octree` except its task function: options, memory, runs, the check and the digest. */
#include "octree.h"

#include "../common/app.h"
#include "../common/app_output.h"
#include "../common/parse.h"
#include "points.h"
#include "pieces.h"
#include "host_tree.h"
#include "twin.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(octree_particle) == 16 && sizeof(octree_octant) == 24 && sizeof(octree_node) == 24,
               "the sizes that device code relies on");

#define TWIN_MAX UINT32_C(100000000) /* the most particles that are checked without --check */

typedef enum octree_tasks { BY_SCHEDULER, OCTANTS, PIECES } octree_tasks;

typedef struct octree_problem {
    points particles;
    octree_tasks wanted; /* what a task is: an octant (task.h) or a piece of the work (pieces.h) */
    uint32_t threshold, max_depth;
    bool keep;    /* keep the whole tree, not only its leaves */
    char *output; /* NULL: no file requested */

    bl_context *context; /* between load and unload, else NULL */
    octree_shared device;
    const bl_program *program; /* as loaded: octants, or pieces of two kinds */
    octree_pieces_shared by_pieces;

    bool solved; /* the last run succeeded; its result follows */
    octree_totals totals;
    octree_node *leaf; /* `leaves` of them, sorted by path */
    uint32_t leaves;
    uint64_t split, digest; /* octants that were split */

    bool has_tree;
    octree tree;

    bool has_twin;
    octree_tree twin;
} octree_problem;

/* ---- options ---- */

enum { PARTICLES, DISTRIBUTION, THRESHOLD, MAX_DEPTH, TASKS, INPUT, OUTPUT };

static const app_option octree_options[] = {
    [PARTICLES] = {"--particles", "N", "", "how many particles to generate; default: 500k"},
    [DISTRIBUTION] = {"--distribution", "uniform|tube|sphere|plummer", "", "their distribution; default: uniform"},
    [THRESHOLD] = {"--threshold", "N", "20", "an octant with more particles is split"},
    [MAX_DEPTH] = {"--max-depth", "N", "20", "octants at this depth are not split, 0 to 20"},
    [TASKS] = {"--tasks", "octants|pieces", "",
               "what a task is: one octant, as in the papers, or a piece of the work; default: docs/octree.md"},
    [INPUT] = {"--input", "FILE", "", "read the particles instead: .xyz (text), .f32le (raw), .ply; each also .gz"},
    [OUTPUT] = {"--output", "FILE", "", "write the tree: a line per node, then one per particle; docs/octree.md"},
    {NULL, NULL, NULL, NULL},
};

static int read_size(const char *const *values, int option, uint32_t most, uint32_t *value, app_error *error) {
    uint64_t size;
    if (!parse_size(values[option], &size) || size > most)
        return app_wrong(error, 2,
                         "%s: \"%.100s\" is invalid; accepted: a whole number from 0 to %" PRIu32 ", also with k, M, G",
                         octree_options[option].name, values[option], most);
    *value = (uint32_t)size;
    return 0;
}

static int read_max_depth(const char *text, uint32_t *value, app_error *error) {
    if (!parse_u32(text, value) || *value > OCTREE_MAX_DEPTH)
        return app_wrong(error, 2, "--max-depth: \"%.100s\" is invalid; accepted: a whole number from 0 to %d", text,
                         OCTREE_MAX_DEPTH);
    return 0;
}

static int make_particles(octree_problem *p, points_kind kind, uint32_t count, uint64_t seed, app_error *error) {
    if (!points_make(&p->particles, kind, count, seed))
        return app_wrong(error, 1, "--particles: out of memory for %" PRIu32 " particles", count);
    return 0;
}

static int read_tasks(const char *text, octree_tasks *tasks, app_error *error) {
    static const char *const names[] = {[BY_SCHEDULER] = "", [OCTANTS] = "octants", [PIECES] = "pieces"};
    for (*tasks = BY_SCHEDULER; *tasks <= PIECES; (*tasks)++)
        if (strcmp(text, names[*tasks]) == 0)
            return 0;
    return app_wrong(error, 2, "--tasks: \"%.100s\" is unknown; accepted: octants, pieces", text);
}

/* Reads which particles to generate, unless they come from a file. */
static int read_making(const char *const *values, uint32_t *count, points_kind *kind, app_error *error) {
    for (int option = PARTICLES; option <= DISTRIBUTION; option++)
        if (values[option][0] != '\0' && values[INPUT][0] != '\0')
            return app_wrong(error, 2, "%s: contradicts --input (accepted: one of the two)",
                             octree_options[option].name);
    if (values[DISTRIBUTION][0] != '\0' && !points_kind_find(values[DISTRIBUTION], kind))
        return app_wrong(error, 2, "--distribution: \"%.100s\" is unknown; accepted: " POINTS_KINDS,
                         values[DISTRIBUTION]);
    return values[PARTICLES][0] != '\0' ? read_size(values, PARTICLES, POINTS_MAX, count, error) : 0;
}

static int read_options(octree_problem *p, const char *const *values, uint64_t seed, app_error *error) {
    uint32_t count = 500000;
    points_kind kind = POINTS_UNIFORM;
    int status = read_making(values, &count, &kind, error);
    if (status == 0)
        status = read_size(values, THRESHOLD, UINT32_MAX, &p->threshold, error);
    if (status == 0 && p->threshold == 0)
        status = app_wrong(error, 2, "--threshold: 0 would split every octant; accepted: 1 or more");
    if (status == 0)
        status = read_max_depth(values[MAX_DEPTH], &p->max_depth, error);
    if (status == 0)
        status = read_tasks(values[TASKS], &p->wanted, error);
    if (status != 0)
        return status;
    if (values[OUTPUT][0] != '\0') {
        p->keep = true;
        p->output = strdup(values[OUTPUT]);
        if (!p->output)
            return app_wrong(error, 1, "octree: out of memory");
        if (app_output_check("--output", p->output, error))
            return 1;
    }
    if (values[INPUT][0] != '\0')
        return points_read(&p->particles, values[INPUT], error);
    return make_particles(p, kind, count, seed, error);
}

static void octree_close(void *problem) {
    octree_problem *p = problem;
    if (!p)
        return;
    octree_tree_free(&p->twin);
    octree_free(&p->tree);
    points_free(&p->particles);
    free(p->leaf);
    free(p->output);
    free(p);
}

static int octree_open(void **problem, const char *const *values, uint64_t seed, app_error *error) {
    octree_problem *p = calloc(1, sizeof *p);
    *problem = NULL;
    if (!p)
        return app_wrong(error, 1, "octree: out of memory");
    int status = read_options(p, values, seed, error);
    if (status != 0)
        octree_close(p);
    else
        *problem = p;
    return status;
}

static uint64_t octree_data_digest(const void *problem) {
    const points *particles = &((const octree_problem *)problem)->particles;
    return app_digest(0, particles->at, particles->count * sizeof *particles->at);
}

/* ---- device ---- */

APP_PROGRAM(octree_program, octree)
APP_PROGRAM(octree_pieces_program, octree_pieces)
APP_PROGRAM(octree_waves_program, octree_waves)

enum { BUFFER0, BUFFER1, LEAF, TOTALS, POOL, INNER, ARRAYS };

static void octree_unload(void *problem, bl_context *context) {
    octree_problem *p = problem;
    if (!p->context)
        return;
    bl_free(context, p->device.buffer[0]);
    bl_free(context, p->device.buffer[1]);
    bl_free(context, p->device.leaf);
    bl_free(context, p->device.totals);
    if (p->device.inner)
        bl_free(context, p->device.inner);
    if (p->by_pieces.pool)
        bl_free(context, p->by_pieces.pool);
    p->device = (octree_shared){0};
    p->by_pieces = (octree_pieces_shared){.chunk = 0};
    p->context = NULL;
}

/* Otherwise it is a leaf, and there are no tasks. */
static bool root_is_split(const octree_problem *p) { return p->particles.count > p->threshold && p->max_depth > 0; }

/* A run may be resumed with other devices and workers, so with pieces of other sizes. */
static const char *octree_unfit(const void *problem, const bl_context *context) {
    static const char text[] =
        "--tasks pieces: such a run cannot be stopped and resumed (accepted: --tasks octants, or "
        "neither a time limit nor a checkpoint)";
    const octree_problem *p = problem;
    return p->wanted == PIECES && bl_stops(context) ? text : NULL;
}

static bool wants_pieces(const octree_problem *p, const bl_context *context) {
    return p->wanted == PIECES || (p->wanted == BY_SCHEDULER && bl_chooses(context) && !bl_stops(context));
}

static uint32_t chunk_for(uint32_t particles, uint32_t workers) {
    const uint64_t chunk = particles / ((uint64_t)OCTREE_CHUNKS_PER_WORKER * workers) + 1;
    return chunk < OCTREE_LEAST_CHUNK  ? OCTREE_LEAST_CHUNK
           : chunk > OCTREE_MOST_CHUNK ? OCTREE_MOST_CHUNK
                                       : (uint32_t)chunk;
}

static bool has_pieces(const octree_problem *p) { return p->program != octree_program(); }

/* With many particles for each worker, the program whose default is stealing, if that fits, too. */
static int plan_pieces(octree_problem *p, bl_context *context, uint32_t *workers) {
    uint32_t thieves;
    p->program = octree_waves_program();
    int status = bl_workers(context, p->program, workers);
    if (status != BL_OK || !bl_chooses(context) || p->particles.count / *workers < OCTREE_FOR_STEALING)
        return status;
    status = bl_workers(context, octree_pieces_program(), &thieves);
    if (status != BL_OK)
        return status == BL_ENOMEM ? status : BL_OK;
    p->program = octree_pieces_program();
    *workers = thieves;
    return BL_OK;
}

/* Everything but memory. By default tasks are pieces where these fit: a small GPU has too little shared memory. */
static int plan(octree_problem *p, bl_context *context) {
    uint32_t workers = 1;
    p->device = (octree_shared){.particles = p->particles.count, .threshold = p->threshold, .max_depth = p->max_depth};
    p->program = octree_program();
    if (octree_unfit(p, context))
        return BL_EINVAL;
    if (!octree_program() || !octree_waves_program() || !octree_pieces_program())
        return BL_ENOMEM;
    if (!root_is_split(p) || !wants_pieces(p, context))
        return BL_OK;
    int status = plan_pieces(p, context, &workers);
    if (status == BL_OK)
        p->by_pieces = (octree_pieces_shared){.tree = p->device, .chunk = chunk_for(p->particles.count, workers)};
    if (status == BL_OK || status == BL_ENOMEM || p->wanted == PIECES)
        return status;
    p->program = octree_program();
    return BL_OK;
}

/* Tasks number the octants that they keep, and pairs of words in the pool, with 32 bits. */
static int octree_load(void *problem, bl_context *context) {
    octree_problem *p = problem;
    int status = plan(p, context);
    if (status != BL_OK)
        return status;
    const size_t count = p->particles.count;
    const uint64_t pool = has_pieces(p) ? octree_pool_most(&p->by_pieces) : 0;
    const uint64_t inner = octree_inner_most(p->particles.count, p->threshold, p->max_depth);
    void *memory[ARRAYS] = {NULL};
    const size_t bytes[ARRAYS] = {[BUFFER0] = count * sizeof(octree_particle),
                                  [BUFFER1] = count * sizeof(octree_particle),
                                  [LEAF] = count * sizeof(octree_node),
                                  [TOTALS] = sizeof(octree_totals),
                                  [POOL] = (size_t)pool * sizeof *p->by_pieces.pool,
                                  [INNER] = (size_t)inner * sizeof(octree_node)};
    const int arrays = p->keep ? ARRAYS : INNER;
    if ((p->keep && inner + count > UINT32_MAX) || pool > UINT32_MAX)
        return BL_ENOMEM;
    for (int i = 0; i < arrays && status == BL_OK; i++)
        if (i != POOL || pool)
            status = bl_alloc(context, &memory[i], bytes[i]);
    for (int i = 0; i < arrays && status != BL_OK; i++)
        if (memory[i])
            bl_free(context, memory[i]);
    if (status != BL_OK)
        return status;
    p->device.buffer[0] = memory[BUFFER0];
    p->device.buffer[1] = memory[BUFFER1];
    p->device.leaf = memory[LEAF];
    p->device.inner = memory[INNER];
    p->device.totals = memory[TOTALS];
    p->by_pieces.tree = p->device;
    p->by_pieces.pool = memory[POOL];
    p->context = context;
    return BL_OK;
}

/* ---- leaves ---- */

/* FNV-1a, 64 bits, over the low `bytes` bytes of value, lowest first. */
static uint64_t fnv(uint64_t hash, uint64_t value, int bytes) {
    for (int i = 0; i < bytes; i++)
        hash = (hash ^ (value >> 8 * i & 255)) * UINT64_C(0x100000001b3);
    return hash;
}

static uint64_t digest_of(const octree_node *leaf, uint32_t count) {
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (uint32_t i = 0; i < count; i++) {
        hash = fnv(hash, leaf[i].path, 8);
        hash = fnv(hash, leaf[i].depth, 4);
        hash = fnv(hash, leaf[i].count, 4);
    }
    return hash;
}

/* ---- a run ---- */

/* A root that is not split is a leaf, and no task ever sees it. */
static int place_root(const octree_problem *p, bl_context *context) {
    const octree_node leaf = {.count = p->particles.count};
    const octree_totals totals = {.leaves = 1, .placed = p->particles.count};
    int status = bl_copy_in(context, p->device.leaf, &leaf, sizeof leaf);
    return status != BL_OK ? status : bl_copy_in(context, p->device.totals, &totals, sizeof totals);
}

/* Writes the first region, whose cells are empty yet. */
static int set_up_pool(const octree_problem *p, bl_context *context) {
    uint64_t *pool = p->by_pieces.pool, *region = pool + OCTREE_FIRST_REGION;
    const octree_region first = octree_first_region(&p->by_pieces);
    const uint32_t used[2] = {OCTREE_FIRST_REGION + octree_region_pairs(&first), 0};
    int status = bl_copy_in(context, pool, used, sizeof used);
    if (status == BL_OK)
        status = bl_copy_in(context, region, &first, sizeof first);
    if (status == BL_OK)
        status = bl_zero(context, region + OCTREE_REGION_PAIRS, sizeof *pool * octree_start_pairs(first.grid.levels));
    return status;
}

static int set_up(const octree_problem *p, bl_context *context) {
    const size_t bytes = p->particles.count * sizeof(octree_particle);
    int status = bl_zero(context, p->device.totals, sizeof(octree_totals));
    if (status == BL_OK)
        status = bl_zero(context, p->device.leaf, p->particles.count * sizeof(octree_node));
    if (status == BL_OK && bytes > 0)
        status = bl_copy_in(context, p->device.buffer[0], p->particles.at, bytes);
    if (status == BL_OK && p->particles.count > 0 && !root_is_split(p))
        status = place_root(p, context);
    if (status == BL_OK && has_pieces(p))
        status = set_up_pool(p, context);
    return status;
}

static int run_tasks(const octree_problem *p, bl_context *context, bl_stats *stats) {
    const octree_octant root = {.count = p->particles.count};
    const octree_piece piece = {.stage = OCTREE_COUNT, .region = OCTREE_FIRST_REGION};
    if (!has_pieces(p)) /* without a root too: it fills the statistics of a run of no tasks */
        return bl_run(context, p->program, &p->device, &root, root_is_split(p) ? 1 : 0, stats);
    return bl_run_range(context, p->program, &p->by_pieces, &piece, octree_first_region(&p->by_pieces).chunks, stats);
}

/* A leaf is stored at the number of its first particle, so the leaves come in spatial order, with unused slots in
 * between. */
static int fetch_leaves(octree_problem *p, bl_context *context) {
    uint32_t places = p->particles.count, leaves = 0;
    free(p->leaf);
    p->leaves = 0;
    p->leaf = malloc(sizeof *p->leaf * (places ? places : 1));
    if (!p->leaf)
        return BL_ENOMEM;
    int status = bl_copy_out(context, p->leaf, p->device.leaf, sizeof *p->leaf * places);
    for (uint32_t i = 0; i < places && status == BL_OK; i++)
        if (p->leaf[i].count)
            p->leaf[leaves++] = p->leaf[i];
    p->leaves = leaves;
    return status;
}

static int octree_run(void *problem, bl_context *context, bl_stats *stats) {
    octree_problem *p = problem;
    bl_stats own;
    stats = stats ? stats : &own;
    p->solved = p->has_tree = false;
    octree_free(&p->tree);
    int status = set_up(p, context);
    if (status == BL_OK)
        status = run_tasks(p, context, stats);
    if (status == BL_OK)
        status = bl_copy_out(context, &p->totals, p->device.totals, sizeof p->totals);
    if (status == BL_OK)
        status = fetch_leaves(p, context);
    if (status != BL_OK)
        return status;
    p->split = has_pieces(p) ? p->totals.split : stats->tasks;
    p->digest = digest_of(p->leaf, p->leaves);
    p->solved = true;
    return BL_OK;
}

/* ---- the tree ---- */

/* Call while the problem is loaded. */
static int need_tree(octree_problem *p) {
    int status = BL_OK;
    if (!p->has_tree)
        status = octree_collect(&p->tree, p->context, &p->device, p->leaf, &p->totals);
    p->has_tree = status == BL_OK;
    return status;
}

static bool in_unit_cube(const points *particles) {
    bool in = true;
    for (uint32_t i = 0; i < particles->count && in; i++) {
        const octree_particle *p = &particles->at[i];
        in = p->x >= 0 && p->x < 1 && p->y >= 0 && p->y < 1 && p->z >= 0 && p->z < 1;
    }
    return in;
}

int octree_build(octree *tree, bl_context *context, const points *particles, uint32_t threshold, uint32_t max_depth,
                 bl_stats *stats) {
    octree_problem p = {.particles = *particles, .threshold = threshold, .max_depth = max_depth, .keep = true};
    *tree = (octree){0};
    if (threshold == 0 || max_depth > OCTREE_MAX_DEPTH || !in_unit_cube(particles))
        return BL_EINVAL;
    int status = octree_load(&p, context);
    if (status == BL_OK)
        status = octree_run(&p, context, stats);
    if (status == BL_OK)
        status = need_tree(&p);
    octree_unload(&p, context);
    free(p.leaf);
    *tree = p.tree;
    return status;
}

static int octree_write_file(void *problem, bl_context *context, app_error *error) {
    octree_problem *p = problem;
    app_output output;
    (void)context;
    if (!p->output)
        return 0;
    int status = need_tree(p);
    if (status != BL_OK)
        return app_wrong(error, 1, "--output %.200s: the tree cannot be fetched: %s", p->output,
                         bl_status_text(status));
    if (app_output_open(&output, "--output", p->output, error) != 0)
        return 1;
    octree_write(&p->tree, output.file);
    return app_output_close(&output, error);
}

/* ---- the check ---- */

static bool same_number(const char *what, uint64_t ours, uint64_t expected, app_error *error) {
    if (ours == expected)
        return true;
    return app_wrong(error, false, "octree: %s: %" PRIu64 ", but %" PRIu64 " is right", what, ours, expected);
}

static bool same_leaves(const octree_problem *p, app_error *error) {
    for (uint32_t i = 0; i < p->leaves; i++) {
        const octree_node *ours = &p->leaf[i], *right = &p->twin.leaf[i];
        if (ours->path != right->path || ours->depth != right->depth || ours->count != right->count)
            return app_wrong(error, false,
                             "octree: leaf %" PRIu32 " is 0%" PRIo64 " at depth %" PRIu32 " with %" PRIu32
                             " particles, but 0%" PRIo64 " at depth %" PRIu32 " with %" PRIu32 " is right",
                             i, ours->path, ours->depth, ours->count, right->path, right->depth, right->count);
    }
    return true;
}

/* `seen` has a bit per particle. Compares the coordinates as bits, and looks them up in the input, so that garbage is
 * never used. */
static bool right_particle(const octree_problem *p, const octree_node *leaf, const octree_particle *particle,
                           unsigned char *seen, app_error *error) {
    const uint32_t id = particle->id;
    if (id >= p->particles.count || memcmp(particle, &p->particles.at[id], sizeof *particle) != 0)
        return app_wrong(error, false, "octree: the leaf 0%" PRIo64 " holds a particle that is not in the input",
                         leaf->path);
    if (octree_key(particle) >> 3 * (OCTREE_MAX_DEPTH - leaf->depth) != leaf->path)
        return app_wrong(error, false,
                         "octree: particle %" PRIu32 " is in the leaf 0%" PRIo64 ", where it does not belong", id,
                         leaf->path);
    if (seen[id / 8] >> id % 8 & 1)
        return app_wrong(error, false, "octree: particle %" PRIu32 " is in two places", id);
    seen[id / 8] = (unsigned char)(seen[id / 8] | 1u << id % 8);
    return true;
}

/* Checks the particles of the leaves in buffer[side]; one side at a time, to need memory for only one. */
static bool right_side(const octree_problem *p, uint32_t side, octree_particle *buffer, unsigned char *seen,
                       app_error *error) {
    const uint32_t count = p->particles.count;
    int status = bl_copy_out(p->context, buffer, p->device.buffer[side], sizeof *buffer * count);
    if (status != BL_OK)
        return app_wrong(error, false, "octree: the particles cannot be copied back: %s", bl_status_text(status));
    for (uint32_t i = 0; i < p->leaves; i++) {
        const octree_node *leaf = &p->leaf[i];
        if (leaf->next != side)
            continue;
        if (leaf->first > count || leaf->count > count - leaf->first)
            return app_wrong(error, false, "octree: the leaf 0%" PRIo64 " reaches past the last particle", leaf->path);
        for (uint32_t k = 0; k < leaf->count; k++)
            if (!right_particle(p, leaf, &buffer[leaf->first + k], seen, error))
                return false;
    }
    return true;
}

/* Each particle occurs once and in the right leaf; none is missing, because the counts add up. */
static bool right_particles(const octree_problem *p, app_error *error) {
    if (p->particles.count == 0)
        return true;
    if (!p->context)
        return app_wrong(error, false, "octree: the result must be checked before it is unloaded");
    octree_particle *buffer = malloc(sizeof *buffer * p->particles.count);
    unsigned char *seen = calloc(p->particles.count / 8 + 1, 1);
    bool right = false;
    if (buffer && seen)
        right = right_side(p, 0, buffer, seen, error) && right_side(p, 1, buffer, seen, error);
    else
        app_wrong(error, false, "octree: out of memory for the check");
    free(buffer);
    free(seen);
    return right;
}

/* The most that regions can take was allocated: they took no more. */
static bool right_pool(const octree_problem *p, app_error *error) {
    uint32_t used = 0;
    if (!has_pieces(p))
        return true;
    if (!p->context || bl_copy_out(p->context, &used, p->by_pieces.pool, sizeof used) != BL_OK)
        return app_wrong(error, false, "octree: the pool cannot be read for the check");
    return used <= octree_pool_most(&p->by_pieces) ||
           app_wrong(error, false, "octree: regions took %" PRIu32 " pairs of words, more than they can", used);
}

static bool need_twin(octree_problem *p, app_error *error) {
    if (!p->has_twin)
        p->has_twin = octree_twin(&p->twin, p->particles.at, p->particles.count, p->threshold, p->max_depth);
    return p->has_twin || app_wrong(error, false, "octree: out of memory for the sequential twin");
}

/* If the leaves are right and there are as many inner nodes as tasks, a sound tree is the right tree. */
static bool right_tree(octree_problem *p, app_error *error) {
    if (!p->keep)
        return true;
    if (!p->context || need_tree(p) != BL_OK)
        return app_wrong(error, false, "octree: the tree cannot be fetched for the check");
    return same_number("inner nodes", p->totals.inner, p->twin.tasks, error) &&
           (octree_is_sound(&p->tree) || app_wrong(error, false, "octree: the nodes do not make a tree"));
}

static bool octree_check(void *problem, const bl_stats *stats, bool force, const char **how, app_error *error) {
    octree_problem *p = problem;
    *how = "no";
    if (!p->solved)
        return app_wrong(error, false, "octree: there is no result to check");
    if (!right_pool(p, error) || !same_number("particles placed", p->totals.placed, p->particles.count, error))
        return false;
    if (p->particles.count > TWIN_MAX && !force)
        return true;
    if (!need_twin(p, error))
        return false;
    *how = "twin";
    return same_number("octants split", stats && !has_pieces(p) ? stats->tasks : p->split, p->twin.tasks, error) &&
           same_number("leaves", p->totals.leaves, p->twin.leaves, error) &&
           same_number("leaves in place", p->leaves, p->twin.leaves, error) &&
           same_number("depth", p->totals.depth, p->twin.depth, error) && same_leaves(p, error) &&
           right_particles(p, error) && right_tree(p, error);
}

static void octree_print(const void *problem, FILE *out, bool json) {
    const octree_problem *p = problem;
    const char *format = json ? "\"particles\": %" PRIu32 ", \"leaves\": %" PRIu32 ", \"nodes\": %" PRIu64
                                ", \"depth\": %" PRIu32 ", \"placed\": %" PRIu32 ", \"digest\": \"%016" PRIx64 "\""
                              : "particles %" PRIu32 "\nleaves %" PRIu32 "\nnodes %" PRIu64 "\ndepth %" PRIu32
                                "\nplaced %" PRIu32 "\ndigest %016" PRIx64 "\n";
    fprintf(out, format, p->particles.count, p->totals.leaves, p->split + p->totals.leaves, p->totals.depth,
            p->totals.placed, p->digest);
}

static const app_sample octree_samples[] = {
    {.options =
         "--particles 1..4000000 --distribution uniform|tube|sphere|plummer --threshold 1|4|20|100 --max-depth 1..20"},
    {.options = NULL},
};

const app octree_app = {
    .name = "octree",
    .text = "octree of particles: split octants until each holds few (Cederman, Tsigas 2008)",
    .options = octree_options,
    .open = octree_open,
    .close = octree_close,
    .program = octree_program,
    .load = octree_load,
    .unload = octree_unload,
    .run = octree_run,
    .check = octree_check,
    .print = octree_print,
    .unfit = octree_unfit,
    .one_memory = "its tasks build one tree, in the memory of one device",
    .write = octree_write_file,
    .digest = octree_data_digest,
    .samples = octree_samples,
};
