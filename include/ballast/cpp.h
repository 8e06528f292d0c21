/* C++17: a typed program as a struct with a member `run`, instead of macros. CPU only.
 *
 *     struct count : bl_defaults {
 *         using payload = node;
 *         using shared = totals;
 *         static constexpr uint32_t max_spawn = 2;
 *         static void run(bl_task *t, const node *p, uint32_t index, const totals *s, bl_nothing *local);
 *     };
 *     bl_run(context, bl_program_of<count>(), &shared, &root, 1, nullptr);
 *
 * The members below are named like the macros of program.h, in small letters; bl_defaults has those that need not be
 * given. All functions are static, and the compiler inlines run as it does in C.
 *
 *     pieces = true     run gets begin and end in place of an index, like BL_RANGE_RUN
 *     result            also a join; with `pieces` a reduce instead, for bl_run_reduce */
#ifndef BL_CPP_H
#define BL_CPP_H

#include "platform/platform.h"

#if defined(__cplusplus) && BL_WARP == 1
#include "runtime/program_needs.h"
#include <type_traits>

struct bl_defaults {
    using shared = bl_nothing;
    using local = bl_nothing;
    using result = void; /* none */
    static constexpr uint32_t max_spawn = 1, grain = 0, join_width = 8;
    static constexpr bool pieces = false;
    static constexpr const char *name = "a program in C++"; /* in error messages, and in checkpoints */
    /* void begin(const shared *, local *, uint32_t worker), void merge(const shared *, const local *) */
    template <class bl_shared, class bl_local> static void begin(const bl_shared *, bl_local *, uint32_t) {}
    template <class bl_shared, class bl_local> static void merge(const bl_shared *, const bl_local *) {}
};

#define BL__NAME_OF_PROGRAM bl__type::name
#define BL__CLASS(name)                                                                                                \
    template <class bl__type> struct name {                                                                            \
        using bl__payload = typename bl__type::payload;                                                                \
        using bl__shared = typename bl__type::shared;                                                                  \
        using bl__local = typename bl__type::local;                                                                    \
        using bl__result = typename bl__type::result;                                                                  \
        static void bl__begin(const bl__shared *shared, bl__local *local, uint32_t worker) {                           \
            bl__type::begin(shared, local, worker);                                                                    \
        }                                                                                                              \
        static void bl__merge(const bl__shared *shared, const bl__local *local) { bl__type::merge(shared, local); }

/* Each of these includes the worker loop, whose functions become members. */
BL__CLASS(bl__class_of_tasks)
#define BL_PROGRAM of_cpp
#define BL_PAYLOAD bl__payload
#define BL_SHARED bl__shared
#define BL__SHARED_BYTES (std::is_same<bl__shared, bl_nothing>::value ? 0 : sizeof(bl__shared))
#define BL_LOCAL bl__local
#define BL_RUN bl__type::run
#define BL_BEGIN bl__begin
#define BL_MERGE bl__merge
#define BL_MAX_SPAWN bl__type::max_spawn
#define BL_LANE_TASKS 1
#include "program.h"
}
;

BL__CLASS(bl__class_of_pieces)
#define BL_PROGRAM of_cpp
#define BL_PAYLOAD bl__payload
#define BL_SHARED bl__shared
#define BL__SHARED_BYTES (std::is_same<bl__shared, bl_nothing>::value ? 0 : sizeof(bl__shared))
#define BL_LOCAL bl__local
#define BL_RANGE_RUN bl__type::run
#define BL_GRAIN bl__type::grain
#define BL_BEGIN bl__begin
#define BL_MERGE bl__merge
#define BL_MAX_SPAWN bl__type::max_spawn
#define BL_LANE_TASKS 1
#include "program.h"
}
;

BL__CLASS(bl__class_of_reductions)
#define BL_PROGRAM of_cpp
#define BL_PAYLOAD bl__payload
#define BL_SHARED bl__shared
#define BL__SHARED_BYTES (std::is_same<bl__shared, bl_nothing>::value ? 0 : sizeof(bl__shared))
#define BL_LOCAL bl__local
#define BL_RESULT bl__result
#define BL_RANGE_RUN bl__type::run
#define BL_REDUCE bl__type::reduce
#define BL_GRAIN bl__type::grain
#define BL_BEGIN bl__begin
#define BL_MERGE bl__merge
#define BL_LANE_TASKS 1
#include "program.h"
}
;

BL__CLASS(bl__class_of_joins)
#define BL_PROGRAM of_cpp
#define BL_PAYLOAD bl__payload
#define BL_SHARED bl__shared
#define BL__SHARED_BYTES (std::is_same<bl__shared, bl_nothing>::value ? 0 : sizeof(bl__shared))
#define BL_LOCAL bl__local
#define BL_RESULT bl__result
#define BL_RUN bl__type::run
#define BL_JOIN bl__type::join
#define BL_JOIN_WIDTH bl__type::join_width
#define BL_BEGIN bl__begin
#define BL_MERGE bl__merge
#define BL_MAX_SPAWN bl__type::max_spawn
#define BL_LANE_TASKS 1
#include "program.h"
}
;
#undef BL__CLASS
#undef BL__NAME_OF_PROGRAM

template <class bl_type> const bl_program *bl_program_of() {
    if constexpr (!std::is_void<typename bl_type::result>::value && bl_type::pieces)
        return &bl__class_of_reductions<bl_type>::bl__of_cpp_program;
    else if constexpr (!std::is_void<typename bl_type::result>::value)
        return &bl__class_of_joins<bl_type>::bl__of_cpp_program;
    else if constexpr (bl_type::pieces)
        return &bl__class_of_pieces<bl_type>::bl__of_cpp_program;
    else
        return &bl__class_of_tasks<bl_type>::bl__of_cpp_program;
}

#endif
#endif
