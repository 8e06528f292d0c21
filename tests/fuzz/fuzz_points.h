/* Shared by the harnesses of particle files; the file name determines the format. */
#ifndef BALLAST_TESTS_FUZZ_POINTS_H
#define BALLAST_TESTS_FUZZ_POINTS_H

#include "fuzz.h"

#include "octree/points.h"

static inline int fuzz_points(const char *name, const uint8_t *data, size_t size) {
    points p;
    app_error error = {""};
    if (points_read(&p, fuzz_file(name, data, size), &error) != 0) {
        fuzz_check_line(error.text);
        return 0;
    }
    FUZZ_CHECK(p.count > 0);
    for (uint32_t i = 0; i < p.count; i++) {
        const octree_particle *at = &p.at[i];
        FUZZ_CHECK(at->x >= 0 && at->x < 1 && at->y >= 0 && at->y < 1 && at->z >= 0 && at->z < 1 && at->id == i);
    }
    points_free(&p);
    return 0;
}

#endif
