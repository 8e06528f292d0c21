/* The programs of bushes.h. */
#include "bushes.h"

#define BL_PROGRAM bush
#define BL_PAYLOAD twig
#define BL_SHARED garden_of
#define BL_RUN bush_run
#define BL_RESULT uint64_t
#define BL_JOIN bush_join
#define BL_JOIN_WIDTH 4
#include <ballast/program.h>

#define BL_PROGRAM bush_sum
#define BL_PAYLOAD twig
#define BL_SHARED garden_of
#define BL_RUN bush_run
#define BL_RESULT uint64_t
#define BL_SUM 1
#include <ballast/program.h>

static BL_TASK void add_terms(bl_task *t, const uint32_t *from, uint32_t begin, uint32_t end, const bl_nothing *shared,
                              bl_nothing *local) {
    double sum = 0;
    (void)shared, (void)local;
    for (uint32_t i = begin; i < end; i++)
        sum += term(*from + i);
    bl_return(t, &sum);
}
static BL_TASK void add_two(double *into, const double *next) { *into += *next; }
#define BL_PROGRAM terms
#define BL_PAYLOAD uint32_t
#define BL_RESULT double
#define BL_RANGE_RUN add_terms
#define BL_REDUCE add_two
#include <ballast/program.h>
