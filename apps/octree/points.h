/* Particles in the unit cube: generated, or read from a file and normalised. */
#ifndef BALLAST_OCTREE_POINTS_H
#define BALLAST_OCTREE_POINTS_H

#include "../common/app.h"
#include "octree.h"

#define POINTS_MAX UINT32_C(0x80000000) /* most particles; positions and ids have 32 bits */

/* uniform   the whole cube
 * tube      the shell between the radii 0.08 and 0.1 about the line x = y = 0.5, z over the whole cube
 * sphere    the surface of the ball of radius 0.5 about the centre
 * plummer   Plummer's star cluster of scale 0.1 about the centre, cut at the cube */
typedef enum points_kind { POINTS_UNIFORM, POINTS_TUBE, POINTS_SPHERE, POINTS_PLUMMER } points_kind;
#define POINTS_KINDS "uniform, tube, sphere, plummer"

typedef struct points {
    octree_particle *at; /* at[i].id is i; every coordinate lies in [0, 1) */
    uint32_t count;
} points;

bool points_kind_find(const char *name, points_kind *kind);

/* The same arguments give the same points, and particle i does not depend on `count`. False when out of memory. */
bool points_make(points *made, points_kind kind, uint32_t count, uint64_t seed);

/* The file extension selects the format: .xyz (text), .f32le (raw little-endian float triples) or .ply, each also with
 * .gz. The bounding box is extended to a cube around its centre, slightly enlarged, and scaled to the unit cube.
 * Returns 0, or fills error and returns an exit status: 1 for a bad file, 2 for an unknown extension. Memory grows with
 * the data read, not with what a header claims. */
int points_read(points *read, const char *path, app_error *error);

void points_free(points *p);

#endif
