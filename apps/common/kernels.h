/* Which schedulers a program of this tree has on a GPU, where each is a kernel that takes a second to compile: all that
 * it names; or, if the build knows no GPU that could run them (BL_FOR_A_GPU in CMakeLists.txt), the default one and
 * what the program needs else, for its own group.
 *
 *     #define BL_SCHEDULERS APP_SCHEDULERS(names, needs) */
#ifndef BALLAST_APP_KERNELS_H
#define BALLAST_APP_KERNELS_H

#ifdef BL_FOR_A_GPU
#define APP_ALL_KERNELS 1
#define APP_SCHEDULERS(names, needs) (names)
#else
#define APP_ALL_KERNELS 0
#define APP_SCHEDULERS(names, needs) ((needs) | BL_SCHEDULERS_OWN_GROUP)
#endif

#endif
