#!/bin/sh
# Uses an installed Ballast as a new user would: examples.sh BUILD SOURCE [NVCC]. Installs BUILD into a temporary
# folder, moves that folder, and builds the examples and the README's program outside the tree: with the CMake package,
# with pkg-config and only a C compiler, and with the static and the shared library. Needs only the tools that built
# BUILD.
# shellcheck disable=SC2016,SC2046,SC2086 # small scripts for `sh -c`; flags are lists of words
set -u

if [ $# -lt 2 ]; then
    echo "usage: examples.sh BUILD SOURCE [NVCC]" >&2
    exit 2
fi
build=$1
source=$2
nvcc=${3:-}
cc=${CC:-cc}
# shellcheck source=tests/harness.sh
. "$(dirname "$0")/harness.sh"

# ---- helpers ----

# NAME WORDS COMMAND...: the command must succeed within a minute and print WORDS.
check_says() {
    says_name=$1
    words=$2
    shift 2
    status=0
    timeout 60 "$@" >"$tmp/said" 2>&1 </dev/null || status=$?
    check "$says_name" sh -c 'cat "$1"; test "$2" -eq 0 && grep -qF -e "$3" "$1"' sh "$tmp/said" "$status" "$words"
}

area='area 3139.59265'
queens='10 queens on cpu: 724 solutions, 35538 tasks'

# ---- installing ----

check "install" cmake --install "$build" --prefix "$tmp/first" || finish
check "the installed folder can be moved" mv "$tmp/first" "$tmp/prefix" || finish
prefix=$tmp/prefix
check "the tool runs" "$prefix/bin/ballast" --version
check "the static library is there" sh -c 'test -f "$(find "$1" -name libballast.a)"' sh "$prefix"

# ---- the CMake package ----

# Nobody measures them, so they need not be optimised much; but kernels must compile for old GPUs, too.
set -- -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_FLAGS_RELEASE=-O1 -DCMAKE_CXX_FLAGS_RELEASE=-O1
if [ -n "$nvcc" ]; then
    quick=
    "$nvcc" --help | grep -q Ofast-compile && quick=--Ofast-compile=max
    set -- "$@" "-DCMAKE_CUDA_ARCHITECTURES=75;80;90" "-DCMAKE_CUDA_FLAGS=$quick"
fi
check "cmake package: configure" cmake -S "$source/examples" -B "$tmp/static" -DCMAKE_PREFIX_PATH="$prefix" "$@" ||
    finish
check "cmake package: build, static library" cmake --build "$tmp/static" -j 2
check_says "01_cpu" "$area" "$tmp/static/01_cpu"
check_says "02_one_source on the CPU" "$queens" "$tmp/static/02_one_source" cpu 10
check_says "02_one_source on the default device" "724 solutions, 35538 tasks" "$tmp/static/02_one_source" auto 10
check "02_one_source names a missing device" sh -c \
    '"$1" no-such-device; test $? -eq 1' sh "$tmp/static/02_one_source"

check_says "05_foreach" "837799 takes 524 steps; 999999 numbers" "$tmp/static/05_foreach"
check_says "06_fork_join" "1048576 values, 274877252109 swaps, 0 out of order" "$tmp/static/06_fork_join"
check_says "07_task_graph" "4096 tiles" "$tmp/static/07_task_graph"
check_says "08_checkpoint" "10400600 ways, 20801199 tasks in" "$tmp/static/08_checkpoint" "$tmp/rest"
check_says "09_start_and_wait" "148933 primes below 2000000, 78498 below 1000000, 1 run cancelled" \
    "$tmp/static/09_start_and_wait"
check_says "10_ending_early" "sum 40000000 of 40000000, 0 blocks left: a task reported an error" \
    "$tmp/static/10_ending_early"
check_says "11_workers" "5113468 points in 12 discs: success" "$tmp/static/11_workers"
check_says "12_long_loop" "3.327e-10 above a whole number, after 4500000000 steps" "$tmp/static/12_long_loop"
if [ -x "$tmp/static/18_cluster" ]; then
    check_says "18_cluster, one process" "1420015 ways to pay 400, 2855521 tasks in 1 processes: success" \
        "$tmp/static/18_cluster"
    if OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 timeout 30 mpirun -n 2 true >/dev/null 2>&1; then
        check_says "18_cluster, two processes" "1420015 ways to pay 400, 2855521 tasks in 2 processes: success" env \
            OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun -n 2 "$tmp/static/18_cluster"
    fi
fi
check_says "17_same_bits" "sum 15.085873653425724, the same bits with 1, 2 and 3 workers: success" \
    "$tmp/static/17_same_bits"
if [ -x "$tmp/static/13_cpp" ]; then
    check_says "13_cpp" "total 4999950000: success" "$tmp/static/13_cpp"
    check_says "13_cpp, an exception" "adder: a task threw: line 77777: 'many' is no number" "$tmp/static/13_cpp"
fi
check_says "14_server on the CPU" "200 of 200 answers on cpu are right; the first after" "$tmp/static/14_server" \
    cpu 200 200
check_says "14_server on the default device" "200 of 200 answers on" "$tmp/static/14_server" auto 200 200
check_says "15_settings" "6 of 6 settings agree" "$tmp/static/15_settings"
check_says "16_simulated" "5 of 5 seeds show the race, 5 repeat it; with an atomic addition: 1000" \
    "$tmp/static/16_simulated"
check_says "03_queue_alone" "200000 orders, 9900000 paid" "$tmp/static/03_queue_alone"
if [ -x "$tmp/static/04_queue_in_a_kernel" ]; then
    check_says "04_queue_in_a_kernel" "" sh -c '"$1"; test $? -eq 0 -o $? -eq 77' sh "$tmp/static/04_queue_in_a_kernel"
fi

check "cmake package: configure, shared library" cmake -S "$source/examples" -B "$tmp/shared" -DEXAMPLES_SHARED=ON \
    -DEXAMPLES_CUDA=OFF -DCMAKE_PREFIX_PATH="$prefix"
check "cmake package: build, shared library" cmake --build "$tmp/shared" --target 01_cpu
check_says "01_cpu, shared library" "$area" "$tmp/shared/01_cpu"

# ---- GPUs: a queue that older ones cannot run must compile for them ----

if [ -n "$nvcc" ]; then
    cat >"$tmp/lcrq.cu" <<'END'
#include <ballast/queues/lcrq.h>
__global__ void exchange(void *memory, bl_shape shape, uint32_t *items) {
    bl_lcrq q;
    bl_lcrq_bind(&q, memory, shape, threadIdx.x);
    bl_lcrq_push(&q, items + threadIdx.x);
    bl_lcrq_pop(&q, items + threadIdx.x);
}
END
    code=
    for capability in 75 80 90; do
        code="$code -gencode arch=compute_$capability,code=sm_$capability"
    done
    check "compute capability 7.5, 8.0 and 9.0: lcrq" "$nvcc" $quick -std=c++17 $code -I"$prefix/include" \
        -c "$tmp/lcrq.cu" -o "$tmp/gpu.o"
fi

# ---- pkg-config and a C compiler ----

if ! command -v pkg-config >/dev/null 2>&1; then
    echo "skipped: no pkg-config"
    finish
fi
PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name ballast.pc)")
export PKG_CONFIG_PATH
libdir=$(pkg-config --variable=libdir ballast)
flags="-O1 -Wall -Wextra -Werror $(pkg-config --cflags ballast)"

check "pkg-config: compile" "$cc" $flags -c "$source/examples/01_cpu.c" -o "$tmp/01.o"
check "pkg-config: link, static library" "$cc" "$tmp/01.o" -o "$tmp/01_static" $(pkg-config --libs ballast-static) -lm
check_says "01_cpu by pkg-config, static library" "$area" "$tmp/01_static"
check "pkg-config: link, shared library" "$cc" "$tmp/01.o" -o "$tmp/01_shared" $(pkg-config --libs ballast) -lm \
    "-Wl,-rpath,$libdir"
check_says "01_cpu by pkg-config, shared library" "$area" "$tmp/01_shared"

# ---- a queue alone: the headers and a compiler, no library ----

check "a program without its task is told what to define" sh -c \
    'echo "#include <ballast/program.h>" | "$1" -fsyntax-only -I"$2/include" -x c - 2>&1 | grep -q "define BL_PROGRAM"' \
    sh "$cc" "$prefix"

check "03_queue_alone: compile without the library" "$cc" -O1 -Wall -Wextra -Werror -I"$prefix/include" -pthread \
    "$source/examples/03_queue_alone.c" -o "$tmp/alone"
check_says "03_queue_alone by the compiler alone" "200000 orders, 9900000 paid" "$tmp/alone"

# ---- the guide: its blocks of C are parts of the examples above, and its commands work ----

# BLOCK: some example contains it, line by line.
is_in_an_example() {
    for example in "$source"/examples/*.c* "$source"/examples/*/*; do
        awk 'NR == FNR { block = block $0 "\n"; next } { text = text $0 "\n" } END { exit !index(text, block) }' \
            "$1" "$example" && return
    done
    cat "$1"
    return 1
}
mkdir "$tmp/commands"
ln -s "$source/examples" "$tmp/commands/examples"
for page in guide tuning debugging; do
    awk -v name="$tmp/$page-" \
        '/^```(c|cpp)$/ { n++; inside = 1; next } /^```$/ { inside = 0 } inside { print > (name n) }' \
        "$source/docs/$page.md"
    for block in "$tmp/$page"-*; do
        check "docs/$page.md, block ${block##*-}" is_in_an_example "$block"
    done
done
check "the blocks were found" test -f "$tmp/guide-20" -a -f "$tmp/tuning-1" -a -f "$tmp/debugging-2"
if gdb -batch -ex run true 2>/dev/null | grep -q "exited normally"; then
    awk '/^```sh$/ { inside = 1; next } /^```$/ { inside = 0 } inside' "$source/docs/debugging.md" >"$tmp/commands.sh"
    check_says "docs/debugging.md, gdb" '{from = 0.9' sh -c 'cd "$1" && PATH=$2:$PATH sh -e ../commands.sh' sh \
        "$tmp/commands" "$(dirname "$(command -v "$cc")")"
else
    echo "skipped: no gdb that can run a program"
fi

# ---- the program that the README opens with: its first block of C ----

awk '/^```c$/ { inside = 1; next } /^```$/ { if (inside) exit } inside' "$source/README.md" >"$tmp/readme.c"
check "the README's program compiles" "$cc" -std=c11 $flags "$tmp/readme.c" -o "$tmp/readme" \
    $(pkg-config --libs ballast-static)
check_says "the README's program runs" "2692537 calls" "$tmp/readme"

finish
