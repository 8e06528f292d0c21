#!/bin/sh
# What the installed headers add to a user's file: headers.sh SOURCE BUILD [NVCC [LIBBALLAST_MPI FLAG...]]. The flags
# are those that a file needs to include MPI's own header.
#
# - program.h and every NAME.inc.h are templates: a program or another header defines their macros, then includes them.
#   Programs of every kind compile, and together they include every template.
# - Every other header compiles as the first line of a file, as C11 and as C++17, with every available compiler.
# - All names begin with bl_ or BL_: macros, and declarations outside functions. A program may use the queues' bare
#   names for its own purposes.
# - The shared library exports what tests/exports.txt lists, the functions that the headers declare with BL_API;
#   libballast_mpi exports those of ballast/mpi.h.
# shellcheck disable=SC2016,SC2086 # a small script for `sh -c`; flags are lists of words
set -u

if [ $# -lt 2 ]; then
    echo "usage: headers.sh SOURCE BUILD [NVCC [LIBBALLAST_MPI FLAG...]]" >&2
    exit 2
fi
source=$1
build=$2
nvcc=${3:-}
library_mpi=${4:-}
mpi=
if [ $# -gt 4 ]; then
    shift 4
    mpi=$*
fi
# shellcheck source=tests/harness.sh
. "$(dirname "$0")/harness.sh"
LC_ALL=C
export LC_ALL

# As installed: in one folder.
include=$tmp/include
mkdir "$include" && cp -R "$source/include/ballast" "$include/" && cp -R "$build/include/ballast" "$include/" || exit 1
[ -z "$library_mpi" ] || cp -R "$source/mpi/include/ballast" "$include/" || exit 1
headers=$(cd "$include" && find ballast -name '*.h' | sort)
warnings="-Wall -Wextra -Wpedantic -Wconversion -Wno-sign-conversion -Werror -I$include $mpi"

compilers= # each compiler once, even if it has several names
for compiler in "${CC:-cc}" gcc clang; do
    path=$(command -v "$compiler") || continue
    path=$(readlink -f "$path")
    case " $compilers " in
    *" $path "*) ;;
    *) compilers="${compilers:+$compilers }$path" ;;
    esac
done

# FILE: as C11 and as C++17, by different compilers where there are several.
check_alone() {
    check "$1, C11, ${compilers%% *}" "${compilers%% *}" -std=c11 $warnings -fsyntax-only -x c "$tmp/$1"
    check "$1, C++17, ${compilers##* }" "${compilers##* }" -std=c++17 $warnings -fsyntax-only -x c++ "$tmp/$1"
}

# FILE: as C11 and as C++17, by every compiler.
check_both() {
    for compiler in $compilers; do
        check "$1, C11, $compiler" "$compiler" -std=c11 $warnings -fsyntax-only -x c "$tmp/$1"
        check "$1, C++17, $compiler" "$compiler" -std=c++17 $warnings -fsyntax-only -x c++ "$tmp/$1"
    done
}

# ---- headers, one by one ----

is_template() { case $1 in ballast/program.h | *.inc.h) true ;; *) false ;; esac; }

alones=
for header in $headers; do
    is_template "$header" && continue
    alone=$(echo "$header" | tr / _)
    printf '#include <%s>\nint alone;\n' "$header" >"$tmp/$alone"
    case $header in
    ballast/platform/cuda.h) ;; # for nvcc, through platform.h: see below
    *)
        check_alone "$alone"
        alones="$alones $alone"
        ;;
    esac
done
printf '#define BL_TARGET_SIM 1\n#include <ballast/platform/platform.h>\nint alone;\n' >"$tmp/platform_sim"
check_both platform_sim

# ---- templates, as they are meant to be used ----

# FILE FIRST BODY: writes a program `mine` whose payload is a number.
program() {
    cat >"$tmp/$1" <<END
$2
#include <ballast/task.h>
$3
#define BL_PROGRAM mine
#define BL_PAYLOAD uint32_t
#include <ballast/program.h>
END
}
arguments='uint32_t index, const bl_nothing *shared, bl_nothing *local'
spawns="static BL_TASK void run(bl_task *t, const uint32_t *n, $arguments) {
    uint32_t less = *n - 1;
    (void)shared, (void)local;
    if (less < *n && index == 0)
        bl_spawn(t, &less);
}
#define BL_RUN run"
forks="static BL_TASK void run(bl_task *t, const uint32_t *n, $arguments) {
    uint32_t less = *n - 1;
    uint64_t one = 1;
    (void)shared, (void)local;
    if (less == 0 || index)
        bl_return(t, &one);
    else
        bl_fork(t, n, &less, 2);
}
#define BL_RUN run
#define BL_RESULT uint64_t"
joins="$forks
static BL_TASK void join(bl_task *t, const uint32_t *n, const uint64_t *results, uint32_t count, const bl_nothing *shared,
                         bl_nothing *local) {
    uint64_t sum = results[0] + results[count - 1];
    (void)n, (void)shared, (void)local;
    bl_return(t, &sum);
}
#define BL_JOIN join"
pieces="static BL_TASK void run(bl_task *t, const uint32_t *n, uint32_t begin, uint32_t end, const bl_nothing *shared,
                        bl_nothing *local) {
    (void)t, (void)n, (void)begin, (void)end, (void)shared, (void)local;
}
#define BL_RANGE_RUN run"
sim='#define BL_TARGET_SIM 1'
program spawns '' "$spawns"
program spawns_sim "$sim" "$spawns
#define BL_LANE_TASKS 1"
program by_block_sim "$sim" "$spawns"
program joins '' "$joins"
program sums '' "$forks
#define BL_SUM 1"
program pieces '' "$pieces"
program reduced '' "$pieces
static BL_TASK void add(uint64_t *into, const uint64_t *next) { *into += *next; }
#define BL_RESULT uint64_t
#define BL_REDUCE add"
# What the library does between launches.
cat >"$tmp/manage" <<'END'
#include <ballast/generated/queues.h>
#include <ballast/parts/pool.h>
#include <ballast/parts/region.h>
#include <ballast/parts/run.h>
#include <ballast/generated/managed.inc.h>
END
uses="spawns spawns_sim by_block_sim joins sums pieces reduced manage"
for use in $uses; do
    check_both $use
done
# The schedulers, as the library compiles them for CPUs and for the simulated machine.
inside="-I$source/src -I$build"
for target in policies policies_sim; do
    printf '#include "policies/policies.h"\n#include "schedulers/all.inc.h"\n' >"$tmp/$target"
done
sed -i "1i $sim" "$tmp/policies_sim"
for compiler in $compilers; do
    for target in policies policies_sim; do
        check "$target, C11, $compiler" "$compiler" -std=c11 $warnings $inside -fsyntax-only -x c "$tmp/$target"
    done
done

# For GPUs: with nvcc, if available; any compiler can tell which headers it includes.
program spawns.cu '' "$spawns
#define BL_LANE_TASKS 1"
[ -n "$nvcc" ] && check "a program for GPUs, nvcc" "$nvcc" -std=c++17 -arch=sm_90 -I"$include" -ptx "$tmp/spawns.cu" \
    -o "$tmp/spawns.ptx"

set -- $compilers
cc=$1
for use in $alones $uses policies; do
    "$cc" -std=c11 -I"$include" $mpi $inside -M -x c "$tmp/$use"
done >"$tmp/included"
"$cc" -std=c++17 -I"$include" -M -x c++ "$tmp/ballast_cpp.h" >>"$tmp/included"
"$cc" -std=c++17 -D__CUDACC__ -I"$include" -M -x c++ "$tmp/spawns.cu" >>"$tmp/included"
sed -i 's|[^/ ]*/\.\./||g' "$tmp/included"
for header in $headers; do
    check "$header: nothing here uses this template" grep -q "$include/$header" "$tmp/included"
done

# ---- names ----

# Reads preprocessed text with its macros, and prints names without the prefix that the headers below `ours` define or
# declare outside functions. At that level, every word is a name or a keyword of C or stdint.h; in an enum, every word
# is a name.
cat >"$tmp/names.awk" <<'END'
function report(what, name) { if (name !~ /^(bl_|BL_)/ && !(name in known)) print what " " name " (" file ")" }
BEGIN {
    words = "alignas auto bool char class const double enum extern float inline int int32_t int64_t long short signed size_t sizeof static " \
            "static_assert struct template typedef uint16_t uint32_t uint64_t uint8_t uintptr_t union unsigned void volatile mine_cpu mine_sim"
    for (i = split(words, list, " "); i; i--) known[list[i]] = 1
}
/^# [0-9]+ "/ { split($0, parts, "\""); file = parts[2]; mine = index(file, ours) == 1; next }
!mine { next }
/^#define / { name = $2; sub(/\(.*/, "", name); report("macro", name); next }
/^#/ { next }
{
    line = $0
    gsub(/"([^"\\]|\\.)*"/, "\"\"", line)
    gsub(/'([^'\\]|\\.)'/, "0", line)
    gsub(/extern "" *\{/, "extern \"\" <", line) # not a scope; its closing brace is surplus and ignored
    while (match(line, /[A-Za-z_][A-Za-z0-9_]*|[0-9][A-Za-z0-9_.]*|[^ \t]/)) {
        word = substr(line, RSTART, RLENGTH)
        line = substr(line, RSTART + RLENGTH)
        if (word == "{") { if (depth++ == 0) in_enum = enum; }
        else if (word == "}") { if (depth > 0 && --depth == 0) in_enum = enum = 0; }
        else if (word == "(") round++
        else if (word == ")") round--
        else if (word == ";") { if (depth == 0) enum = 0 }
        else if (word ~ /^[A-Za-z]/) {
            if (depth == 0 && word == "enum") enum = 1
            if (depth == 0 && (round == 0 || before == "*(") && before != "class") report("name", word)
            if (depth == 1 && in_enum && round == 0 && (before ~ /[{,]$/)) report("enumerator", word)
        }
        before = word == "*" && before == "(" ? "*(" : word
    }
}
END
cat $(printf "$tmp/%s " $alones) | grep -v '^int alone;' >"$tmp/together" # each header would include most of them
for use in together platform_sim $uses policies policies_sim; do
    "$cc" -std=c11 -I"$include" $mpi $inside -E -dD -x c "$tmp/$use" | awk -v ours="$include/" -f "$tmp/names.awk"
    "$cc" -std=c++17 -I"$include" $mpi $inside -E -dD -x c++ "$tmp/$use" | awk -v ours="$include/" -f "$tmp/names.awk"
done | sort -u >"$tmp/names"
check "names without the prefix" sh -c '! grep . "$1"' sh "$tmp/names"

# Users may use the bare names of queues and their operations.
queues=$(cd "$include/ballast/queues" && for file in *.h; do echo "${file%.h}"; done)
{
    for queue in $queues; do
        printf 'typedef struct %s { int member; } %s_type;\nenum { %s_KIND, %s_FLAGS };\n' "$queue" "$queue" "$queue" \
            "$queue"
        printf 'int %s(void);\nint %s_push(int x);\n' "$queue" "$queue"
    done
    echo 'enum { DONE, EMPTY, FULL, RETRY, FAIR, BOUNDED, PATIENCE, NONE, WFQ_PATIENCE, LCRQ_PATIENCE, TZ_INTERVAL };'
    printf 'int mine_program(void);\nint mine_launch(void);\n'
    for header in $headers; do
        [ "$header" = ballast/platform/cuda.h ] || is_template "$header" || echo "#include <$header>"
    done
    cat "$tmp/spawns"
} >"$tmp/own_names"
check_both own_names

# ---- applications: their tasks must also compile as C++17 ----

for task in "$source"/apps/*/*task.h; do
    printf '#include "%s"\n' "$task" >"$tmp/task.cpp"
    check "apps/${task#"$source"/apps/}, C++17" "$cc" \
        -std=c++17 -D_GNU_SOURCE $warnings -I"$source/apps" -fsyntax-only "$tmp/task.cpp"
done

# ---- the shared libraries ----

exports_of() { nm -D --defined-only "$1" | awk '{ print $3 }' | sort; }
declared_in() { cat "$@" | sed -n 's/^ *BL_API [^(]*\(bl_[a-z0-9_]*\)(.*/\1/p' | sort -u; }
library=$build/libballast.so
exports_of "$library" >"$tmp/exports"
check "what the shared library exports (<) is not tests/exports.txt (>)" diff "$tmp/exports" "$source/tests/exports.txt"
core=$(echo "$headers" | grep -v '^ballast/mpi\.h$')
(cd "$include" && declared_in $core) >"$tmp/declared"
check "what the headers declare with BL_API (<) is not tests/exports.txt (>)" diff "$tmp/declared" \
    "$source/tests/exports.txt"

if [ -n "$library_mpi" ]; then
    exports_of "$library_mpi" >"$tmp/exports_mpi"
    declared_in "$include/ballast/mpi.h" >"$tmp/declared_mpi"
    check "what libballast_mpi exports (<) is not what ballast/mpi.h declares with BL_API (>)" \
        diff "$tmp/exports_mpi" "$tmp/declared_mpi"
fi

# A C++ program that calls the functions that a worker calls.
cat >"$tmp/main.cpp" <<'END'
#include "spawns"
int main() {
    bl_context *context = NULL;
    bl_stats stats;
    uint32_t n = 1000;
    bl_config config = {};
    config.device = "cpu";
    int status = bl_open(&context, &config);
    if (!status)
        status = bl_run(context, mine_cpu(), NULL, &n, 1, &stats);
    bl_close(context);
    return status || stats.tasks != 1001;
}
END
check "a C++ program without exceptions needs no C++ runtime" "$cc" \
    -std=c++17 -fno-exceptions -I"$include" "$tmp/main.cpp" -o "$tmp/main" "$library" "-Wl,-rpath,$build"
check "a C++ program and the shared library" "$cc" -std=c++17 -I"$include" "$tmp/main.cpp" -o "$tmp/main" "$library" \
    -lstdc++ "-Wl,-rpath,$build" &&
    check "a C++ program with the shared library runs" timeout 60 "$tmp/main"

finish
