/* The platform: everything that differs between a CPU, a GPU and the simulated machine.
 *
 * One file per target, the same list of operations in each. Compiler builtins and inline assembly occur in this folder
 * and nowhere else; every layer to the right is plain C11 that is also C++17.
 *
 *   BL_FN                  how a function of a shared header is declared: it runs on the target
 *   BL_HOT_FN              the same, for what every task passes through: always inlined, so that a program's constants
 *                          are seen
 *   BL_CALLED_FN           the same, for a large function: called and not inlined, so that a program with many
 *                          schedulers holds it once
 *   BL_COLD_FN             the same, for what hardly ever happens: out of the way of what does
 *   BL_HOST_FN             the same, but the host may call it too (sizes, layouts)
 *   BL_UNROLL              before a loop whose arrays must stay in registers
 *   BL_ROLLED              before one that would take too many if it were unrolled
 *   BL_OVERLAP             before a loop whose reads should be under way at the same time
 *   BL_ASSUME(x)           x is true, and the compiler may rely on it
 *   BL_CAN_SLEEP           1 where an idle worker can be put to sleep by the operating system
 *   BL_PIECE_TICKS         of bl_clock: how long a piece of a loop should take at least
 *   BL_LONG_TICKS          of bl_clock: tasks that take longer are long: others cannot wait until they have ended
 *   BL_WARP                the most lanes that run in lockstep: 1 on a CPU, 32 on a GPU, 8 on the simulated machine
 *
 *   atomics, BITS = 32, 64; the memory order is part of the name and there is no default
 *     bl_loadBITS_{relaxed,acquire,seq_cst}(p)
 *     bl_storeBITS_{relaxed,release,seq_cst}(p, v)
 *     bl_fetch_addBITS_{relaxed,acquire,release,acq_rel,seq_cst}(p, v)      returns the old value;
 *                            there is no subtraction: add the negative
 *     bl_fetch_{min,max,and,xor}BITS_relaxed(p, v), bl_fetch_orBITS_{relaxed,acq_rel}(p, v)
 *                            min and max are unsigned
 *     bl_fetch_{add,min,max}_{float,double}_relaxed(p, v), bl_exchange_{float,double}_relaxed(p, v)
 *                            in floats.h; a NaN changes nothing as a minimum or maximum
 *     bl_far_add64_{relaxed,acquire,release}(p, v), bl_far_max64_relaxed(p, v)
 *                            as bl_fetch_..., but never on a GPU's shared memory. The kernel is smaller: it need not
 *                            check which memory p points to
 *     bl_exchangeBITS_{relaxed,acquire,release,acq_rel}(p, v)
 *     bl_casBITS_{relaxed,acquire,release,acq_rel,seq_cst}(p, &expected, v)
 *                            strong; on failure expected holds what was found, read with acquire (relaxed: relaxed)
 *     bl_{load,store,cas}BITS_first_seq_cst
 *                            seq_cst, but not behind the thread's own earlier seq_cst operations, only before its later
 *                            ones and
 *                            towards other threads: a GPU saves the fence in front of it. The same as seq_cst on a CPU
 *                            (x86-64: only a seq_cst store costs more than a weaker order; ARMv8: ldar, stlr, casal as
 *                            for weaker
 *                            ones) and in the explorer
 *     bl_cas128_acq_rel(p, &expected, v)                            where BL_HAS_CAS128 is 1
 *     bl_fence_{acquire,release,seq_cst}()
 *     bl_fence_light(), bl_fence_heavy()
 *                            a pair for what one thread does often and the others seldom. Of a light fence and a heavy
 *                            one of another
 *                            thread one comes first: atomics before the first are seen by loads after the second. A
 *                            light fence does
 *                            nothing else: it is no fence towards other light ones or ordinary ones, orders nothing by
 *                            itself, and
 *                            does not publish plain data. A heavy fence is a seq_cst fence too;
 *                            false: the system refused it, and it ordered nothing
 *     bl_store32_release_light(p, v, alone)
 *                            a release store for readers that pass a heavy fence between an acquire load of the word
 *                            and what it
 *                            publishes; alone: they have none. Explored as a release store
 *   bl_load32_host, bl_load64_host, bl_store64_host    relaxed, for words that the host reads or writes during a run
 *   bl_loadBITS_host_acquire, bl_storeBITS_host_release    the same, for words that hand something over
 *
 *   shared plain data (ordered by the atomics around it, never racing)
 *     bl_data_read(to, from, words), bl_data_write(to, from, words)
 *     bl_peekBITS(p), bl_poke32(p, v)     relaxed, for what a thread does with each task: words at an offset from a
 *                            pointer that it holds
 *   racing copies (the reader may use what it copied only after a successful compare-and-swap)
 *     bl_race_read(to, from, words), bl_race_write(to, from, words)
 *   bl_bump(x)               x + 1, for a counter or tag that tells one use of a word from the next; a mutant forgets
 *                            it
 *
 *   waiting
 *     bl_wait_changeBITS(p, seen, &tries) one step of a spin: comes back when *p may differ from seen
 *     bl_backoff(tries)                   one step of a spin on nothing in particular
 *     bl_clock()                          ticks that pass while a worker works or waits; each processor may have its
 *                                         own
 *     bl_clock32()                        its low half, sooner
 *     bl_time()                           one clock for all threads of the device; coarser and slower
 *     bl_spend(ticks)                     works for so many ticks of bl_clock, on nothing: for tests and benchmarks
 *
 *   the lanes of a warp (every lane of it must call)
 *     bl_warp_lane(), bl_warp_sync(), bl_warp_ballot(flag), bl_warp_any(flag)
 *     bl_warp_broadcast32(v, lane)        lane may differ from lane to lane
 *     bl_warp_prefix_add(v)               sum over the lanes before this one
 *     bl_warp_prefix_add_small(v)         the same in less code, for what is seldom done
 *     bl_warp_add(v), bl_warp_or(v)       sum, bitwise or over all lanes
 *   the lanes of a warp, as many as call
 *     bl_warp_collect_add64(to, v)        either one lane returns the sum of all and the others 0, or each returns its
 *                                         own v: where not all call, or `to` differs
 *     bl_warp_collect_max64(to, v)        the same with the greatest
 *   bl_block_sync()                       every lane of the block waits for all
 *
 *   bl_copy16_begin(to, from)             copies 16 bytes, aligned to 16, from memory of the device to scratch, while
 *                                         the lane goes on
 *   bl_copy16_wait()                      until the copies that this lane began are there; other lanes must meet it
 *                                         afterwards to see them
 *   bl_add_apart32(a, b)                  a + b; on a GPU by the units that multiply, which most code leaves idle.
 *                                         For kernels whose grid has no third dimension
 *   bl_opaque32(v)                        v, but the compiler does not know: keeps code inside a loop that lanes leave
 *                                         one by one
 *   bl_pair_store(p, a, b), bl_pair_load(p, &a, &b), bl_pair_is(p, a, b)
 *                                         two adjacent words; on a CPU in one access, because a load waits that needs
 *                                         what two stores have just written
 *   bl_processor()                        GPU and sim: which multiprocessor this is, ...
 *   bl_processors()                       ... a number less than this
 *   BL_CROWD                              GPU and sim: so many workers get in each other's way when they look for work
 *   BL_LOOK_TICKS                         GPU and sim: of bl_time: how often a worker looks at the host's memory
 *   BL_SPREAD_TICKS                       GPU and sim: the time in which the work of a run reaches all workers, or
 *                                         never
 *   bl_stack_here()                       CPU: an address at the end of the stack that is in use
 *   bl_stack_take(bytes, alignment)       CPU and sim: memory on the stack, until the function that calls this returns
 *   bl_prefetch_write(p)                  CPU and sim: *p will be written soon; any address is allowed
 *   bl_lane_add32(p, v)                   fetch-and-add on memory that only the lanes of one worker see
 *   bl_product(a, b)                      of two doubles, never fused with a sum, so all devices get the same bits; on
 *                                         a CPU the program needs -ffp-contract=off. The host may call it
 */
#ifndef BL_PLATFORM_PLATFORM_H
#define BL_PLATFORM_PLATFORM_H

#include <stddef.h>
#include <stdint.h>

#define BL_CAT_(a, b) a##b
#define BL_CAT(a, b) BL_CAT_(a, b)

/* The size of a line that two parties should not share: GPUs move 128 bytes, some CPUs fetch two lines of 64. */
#define BL_LINE 128
/* How far apart words should lie that everybody changes all the time. On a GPU neighbouring lines may belong to the
 * same slice of the L2 cache, where atomics queue up for each other: on an H200 three counters 128 bytes apart gave
 * 0.77 G operations a second, 1024 bytes apart 1.24. */
#define BL_APART 1024

#if defined(BL_TARGET_SIM)
#include "sim.h"
#elif defined(__CUDACC__)
#include "cuda.h"
#else
#include "cpu.h"
#endif

#ifndef bl_bump
#define bl_bump(x) ((x) + 1)
#endif

#ifndef bl_peek32
#define bl_peek32(p) bl_load32_relaxed(p)
#define bl_peek64(p) bl_load64_relaxed(p)
#define bl_poke32(p, v) bl_store32_relaxed(p, v)
#endif

#ifndef BL_TARGET_CUDA
BL_HOST_FN double bl_product(double a, double b) { return a * b; }
#endif

#ifndef BL_RARELY
#define BL_RARELY(x) (x)
#endif

#ifndef BL_HAS_FAR
#define bl_far_add64_relaxed(p, v) bl_fetch_add64_relaxed(p, v)
#define bl_far_add64_acquire(p, v) bl_fetch_add64_acquire(p, v)
#define bl_far_add64_release(p, v) bl_fetch_add64_release(p, v)
#define bl_far_max64_relaxed(p, v) bl_fetch_max64_relaxed(p, v)
#endif

#ifndef BL_CAN_SLEEP
#define BL_CAN_SLEEP 0
#endif

#ifdef __cplusplus
#define BL__ASSERT(x, text) static_assert(x, text)
#define BL__ALIGN_OF(type) ((uint32_t)alignof(type))
#else
#define BL__ASSERT(x, text) _Static_assert(x, text)
#define BL__ALIGN_OF(type) ((uint32_t) _Alignof(type))
#endif

#define bl_stack_take(bytes, alignment)                                                                                \
    ((void *)(((uintptr_t)__builtin_alloca((bytes) + (alignment)) + (alignment)-1) & ~((uintptr_t)(alignment)-1)))

/* Payloads of any type are moved as words. */
typedef uint32_t BL_MAY_ALIAS bl_word;

#ifndef BL_HAS_PAIRS
BL_FN void bl_pair_store(uint32_t *p, uint32_t a, uint32_t b) {
    p[0] = a;
    p[1] = b;
}
BL_FN void bl_pair_load(const uint32_t *p, uint32_t *a, uint32_t *b) {
    *a = p[0];
    *b = p[1];
}
BL_FN bool bl_pair_is(const uint32_t *p, uint32_t a, uint32_t b) { return p[0] == a && p[1] == b; }
#endif

#endif
