/* For a test that is compiled for the CPU and, by a file NAME_sim.c that includes it, for the simulated machine. */
#ifndef BALLAST_TESTS_TARGET_H
#define BALLAST_TESTS_TARGET_H

#ifdef BL_TARGET_SIM
#define DEVICE "sim"
#define PROGRAM(name) name##_sim()
#else
#define DEVICE "cpu"
#define PROGRAM(name) name##_cpu()
#endif

#endif
