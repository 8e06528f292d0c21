/* Replaces octree's kernels if there is nvcc but no GPU: compiling them takes longer than the rest of the demo. */
#include <ballast/ballast.h>

const bl_program *octree_cuda(void);
const bl_program *octree_cuda(void) { return NULL; }
const bl_program *octree_pieces_cuda(void);
const bl_program *octree_pieces_cuda(void) { return NULL; }
const bl_program *octree_waves_cuda(void);
const bl_program *octree_waves_cuda(void) { return NULL; }
