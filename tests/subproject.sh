#!/bin/sh
# Ballast as part of another project: subproject.sh SOURCE [NVCC]. Two projects, one with add_subdirectory and one with
# FetchContent, link the static and the shared library. They use names that Ballast uses for its own programs, and get
# neither its programs nor its compiler flags.
# shellcheck disable=SC2016 # small scripts for `sh -c`
set -u

if [ $# -lt 1 ]; then
    echo "usage: subproject.sh SOURCE [NVCC]" >&2
    exit 2
fi
source=$(cd "$1" && pwd)
cuda=$([ -n "${2:-}" ] && echo ON || echo OFF)
# shellcheck source=tests/harness.sh
. "$(dirname "$0")/harness.sh"

# NAME HEAD CUDA: a project that gets Ballast by the lines HEAD, with CUDA or not, and has a target `ballast`
write_project() {
    mkdir "$tmp/$1"
    cat >"$tmp/$1/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.22)
project(user LANGUAGES C)
set(BALLAST_QUEUES chase_lev CACHE STRING "")
set(BALLAST_CUDA $3 CACHE BOOL "")
$2
add_executable(ballast main.c)
target_link_libraries(ballast PRIVATE ballast::static)
add_executable(test_apps main.c)
target_link_libraries(test_apps PRIVATE ballast::shared)
foreach(variable CMAKE_C_FLAGS CMAKE_C_STANDARD CMAKE_POSITION_INDEPENDENT_CODE CMAKE_RUNTIME_OUTPUT_DIRECTORY)
    if(NOT "\${\${variable}}" STREQUAL "")
        message(SEND_ERROR "\${variable} is \${\${variable}}")
    endif()
endforeach()
if(NOT DEFINED ballast_CUDA)
    message(SEND_ERROR "ballast_CUDA is not set")
endif()
END
    # A warning that is an error in Ballast, and what _GNU_SOURCE would declare.
    cat >"$tmp/$1/main.c" <<'END'
#include <ballast/ballast.h>
#include <stdio.h>
#ifdef _GNU_SOURCE
#error "a definition of Ballast's"
#endif
static void fibonacci(bl_task *task, const void *n, uint32_t index, const void *shared) {
    uint32_t child = *(const uint32_t *)n - 1 - index;
    char narrow = child;
    (void)shared, (void)narrow;
    if (child > 1)
        bl_task_spawn(task, &child, 2);
}
int main(void) {
    bl_context *context;
    bl_stats stats;
    bl_config config = {.device = "cpu"};
    uint32_t root = 20;
    bl_program *program = bl_program_from_function(fibonacci, sizeof(uint32_t), 0, 1);
    if (bl_open(&context, &config) || bl_run(context, program, NULL, &root, 1, &stats))
        return 1;
    printf("%llu calls\n", (unsigned long long)stats.tasks);
    bl_close(context);
    bl_program_free(program);
    return 0;
}
END
}

# NAME
configure_project() {
    # It compiles faster as Debug, and for one GPU.
    check "$1: configure" cmake -S "$tmp/$1" -B "$tmp/$1/build" -DCMAKE_BUILD_TYPE=Debug \
        -DCMAKE_CUDA_ARCHITECTURES=90 || return
    check "$1: its build type" grep -q '^CMAKE_BUILD_TYPE:.*=Debug$' "$tmp/$1/build/CMakeCache.txt"
    check "$1: neither tool nor tests" sh -c \
        'cmake --build "$1" --target help >"$1/targets"; ! grep -E "ballast_(tool|demo|apps|bench|prove)|test_runtime" "$1/targets"' \
        sh "$tmp/$1/build"
}

# NAME: also builds it, and runs both programs
use_project() {
    configure_project "$1" || return
    check "$1: build" cmake --build "$tmp/$1/build" -j 2 || return
    check "$1: the program with the static library" sh -c '"$1" | grep -qx "13529 calls"' sh "$tmp/$1/build/ballast"
    check "$1: the program with the shared library" sh -c '"$1" | grep -qx "13529 calls"' sh "$tmp/$1/build/test_apps"
    check "$1: installs nothing of Ballast" sh -c \
        'cmake --install "$1" --prefix "$1/prefix" && test -z "$(find "$1/prefix" -type f 2>/dev/null)"' \
        sh "$tmp/$1/build"
}

write_project subdirectory "add_subdirectory(\"$source\" ballast_build)" "$cuda"
use_project subdirectory
check "a project without a build type: configure" cmake -S "$tmp/subdirectory" -B "$tmp/subdirectory/plain" \
    -DCMAKE_EXPORT_COMPILE_COMMANDS=ON
check "it keeps none" grep -q '^CMAKE_BUILD_TYPE:.*=$' "$tmp/subdirectory/plain/CMakeCache.txt"
check "the library is optimized where the project has no build type" grep -q '"command": .* -O3 .*/errors\.c' \
    "$tmp/subdirectory/plain/compile_commands.json"
check "the project's own file has none of the library's flags" sh -c \
    '! grep "\"command\": .*main\.c" "$1" | grep -e " -O3" -e -Wconversion -e -fPIC' \
    sh "$tmp/subdirectory/plain/compile_commands.json"

write_project fetch "include(FetchContent)
FetchContent_Declare(ballast SOURCE_DIR \"$source\")
FetchContent_MakeAvailable(ballast)" OFF
configure_project fetch # the rest is as above

# With its install rules on, the project installs the library, too.
check "install rules: configure" cmake -S "$tmp/subdirectory" -B "$tmp/subdirectory/build" -DBALLAST_INSTALL_RULES=ON
check "install rules: build" cmake --build "$tmp/subdirectory/build" -j 2
check "install rules: install" cmake --install "$tmp/subdirectory/build" --prefix "$tmp/prefix"
check "install rules: the package is there" sh -c \
    'test -n "$(find "$1" -name ballast-config-version.cmake)" -a -n "$(find "$1" -name libballast.so)"' \
    sh "$tmp/prefix"

finish
