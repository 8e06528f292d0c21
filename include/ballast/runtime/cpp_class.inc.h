/* Template: a class with the worker loop of a program that is a struct, its functions and tables as static members. See
 * cpp.h, which defines BL__CPP_CLASS (its name) and what distinguishes one kind of program from another. */
template <class bl__type> struct BL__CPP_CLASS {
    using bl__payload = typename bl__type::payload;
    using bl__shared = typename bl__type::shared;
    using bl__local = typename bl__type::local;
    using bl__result = typename bl__type::result;
    static void bl__begin(const bl__shared *shared, bl__local *local, uint32_t worker) {
        bl__type::begin(shared, local, worker);
    }
    static void bl__merge(const bl__shared *shared, const bl__local *local) { bl__type::merge(shared, local); }

#define BL_PROGRAM of_cpp
#define BL__NAME_OF_PROGRAM bl__type::name
#define BL_PAYLOAD bl__payload
#define BL_SHARED bl__shared
#define BL__SHARED_BYTES (std::is_same<bl__shared, bl_nothing>::value ? 0 : sizeof(bl__shared))
#define BL_LOCAL bl__local
#define BL_BEGIN bl__begin
#define BL_MERGE bl__merge
#define BL_GRAIN bl__type::grain
#define BL_JOIN_WIDTH bl__type::join_width
#define BL_LANE_TASKS 1
#include "../program.h"
#undef BL__NAME_OF_PROGRAM
};
#undef BL__CPP_CLASS
