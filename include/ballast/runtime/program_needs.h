/* What program.h needs once, however many programs a file has. */
#ifndef BL_RUNTIME_PROGRAM_NEEDS_H
#define BL_RUNTIME_PROGRAM_NEEDS_H

#include "../ballast.h"

#include <ballast/generated/schedulers.h>
#include "../parts/worker.h"
#include "../parts/blocks.h"
#include "../parts/board.h"
#include "../parts/idle.h"
#include "../parts/outside.h"
#include "../parts/piece.h"
#include "joins.h"
#include "lookout.h"
#include "meeting.h"
#include "policy.h"
#include "program_type.h"
#include "termination.h"
#include "../task.h"
#ifdef BL_TARGET_CUDA
#include <ballast/generated/queues.h>
#include "../parts/pool.h"
#include "../parts/region.h"
#endif
#include <string.h>

#define BL__UP(n, to) (((n) + (to)-1u) / (to) * (to)) /* the next multiple */
#define BL__MAX(a, b) ((a) > (b) ? (a) : (b))
#define BL__MIN(a, b) ((a) < (b) ? (a) : (b))

BL_FN void bl__worker_sync(uint32_t lanes) {
    if (lanes > BL_WARP)
        bl_block_sync();
    else
        bl_warp_sync();
}

#ifndef BL__SINGLES /* the explorer has few entries */
#define BL__SINGLES 16u
#endif
/* Why a thread does not continue with the next entry: others want something, or a thief was there; or its other loop
 * should (loop/thread.inc.h). */
typedef enum bl__break { BL__NO_BREAK, BL__WANTED, BL__UNEXPECTED } bl__break;

/* BL__IS(function, type): whether it is a pointer to such a function. BL__AS: it, or where it is not one in C, where
 * the compiler would only warn, nothing that could be complained about twice. BL__IS_NOTHING(type): whether it is
 * bl_nothing. */
#ifdef __cplusplus
template <class type> struct bl__takes {
    static char test(type);
    static long test(...);
};
#define BL__IS(function, type) (sizeof(bl__takes<type>::test(&(function))) == 1)
#define BL__AS(function, type) (function)
#define BL__IS_NOTHING(type) (sizeof(bl__takes<bl_nothing *>::test((type *)NULL)) == 1)
#else
#define BL__IS(function, type) _Generic(&(function), type : 1, default : 0)
#define BL__AS(function, type) _Generic(&(function), type : &(function), default : (type)0)
#define BL__IS_NOTHING(type) _Generic((type *)NULL, bl_nothing * : 1, default : 0)
#endif

#endif
