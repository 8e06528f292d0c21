/* Stands in for octree's kernels where there is nvcc but no GPU to run them: they take nvcc longer than the rest of
 * the demo. */
#include <ballast/ballast.h>

const bl_program *octree_cuda(void);
const bl_program *octree_cuda(void) { return NULL; }
