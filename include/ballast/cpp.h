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
 *     result            tasks return a result or fork; then also one of
 *     join                  a function like BL_JOIN
 *     reduce                one like BL_REDUCE: results are combined in the order of the indices; with `pieces` those
 *                           of a loop, for bl_run_reduce
 *     sum = true            results are uint64_t and add up */
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
    static constexpr bool pieces = false, sum = false;
    static constexpr const char *name = "a program in C++"; /* in error messages, and in checkpoints */
    /* void begin(const shared *, local *, uint32_t worker), void merge(const shared *, const local *) */
    template <class bl_shared, class bl_local> static void begin(const bl_shared *, bl_local *, uint32_t) {}
    template <class bl_shared, class bl_local> static void merge(const bl_shared *, const bl_local *) {}
};

/* Each of these includes the worker loop. */
#define BL__CPP_CLASS bl__class_of_tasks
#define BL_RUN bl__type::run
#define BL_MAX_SPAWN bl__type::max_spawn
#include "runtime/cpp_class.inc.h"

#define BL__CPP_CLASS bl__class_of_pieces
#define BL_RANGE_RUN bl__type::run
#define BL_MAX_SPAWN bl__type::max_spawn
#include "runtime/cpp_class.inc.h"

#define BL__CPP_CLASS bl__class_of_joins
#define BL_RUN bl__type::run
#define BL_RESULT bl__result
#define BL_JOIN bl__type::join
#define BL_MAX_SPAWN bl__type::max_spawn
#include "runtime/cpp_class.inc.h"

#define BL__CPP_CLASS bl__class_of_sums
#define BL_RUN bl__type::run
#define BL_RESULT bl__result
#define BL_SUM 1
#define BL_MAX_SPAWN bl__type::max_spawn
#include "runtime/cpp_class.inc.h"

#define BL__CPP_CLASS bl__class_of_reductions
#define BL_RUN bl__type::run
#define BL_RESULT bl__result
#define BL_REDUCE bl__type::reduce
#define BL_MAX_SPAWN bl__type::max_spawn
#include "runtime/cpp_class.inc.h"

#define BL__CPP_CLASS bl__class_of_reduced_pieces
#define BL_RANGE_RUN bl__type::run
#define BL_RESULT bl__result
#define BL_REDUCE bl__type::reduce
#include "runtime/cpp_class.inc.h"

/* Whether the struct has a member `reduce`, a function that is not overloaded. */
template <class bl__type> struct bl__reduces {
    template <class bl__other> static std::true_type test(decltype(&bl__other::reduce));
    template <class> static std::false_type test(...);
    static constexpr bool value = decltype(test<bl__type>(nullptr))::value;
};

template <class bl_type> const bl_program *bl_program_of() {
    constexpr bool joins = !std::is_void<typename bl_type::result>::value;
    constexpr bool reduces = bl__reduces<bl_type>::value;
    static_assert(joins || !(reduces || bl_type::sum), "a program with `reduce` or `sum` needs `result`, a type");
    static_assert(!(reduces && bl_type::sum), "give `reduce` or `sum`, not both");
    static_assert(!(joins && bl_type::pieces) || reduces, "a program with `pieces` and `result` needs `reduce`");
    if constexpr (joins && bl_type::pieces)
        return &bl__class_of_reduced_pieces<bl_type>::bl__of_cpp_program;
    else if constexpr (reduces)
        return &bl__class_of_reductions<bl_type>::bl__of_cpp_program;
    else if constexpr (bl_type::sum)
        return &bl__class_of_sums<bl_type>::bl__of_cpp_program;
    else if constexpr (joins)
        return &bl__class_of_joins<bl_type>::bl__of_cpp_program;
    else if constexpr (bl_type::pieces)
        return &bl__class_of_pieces<bl_type>::bl__of_cpp_program;
    else
        return &bl__class_of_tasks<bl_type>::bl__of_cpp_program;
}

#endif
#endif
