#!/bin/sh
# What the compiler says about wrong programs: misuse.sh INCLUDE GENERATED [NVCC]. Every available compiler must reject
# each snippet with the given words, as C, as C++ and with nvcc, and with few other messages: in C++ an impossible call
# is an error in itself.
# shellcheck disable=SC2086 # flags are lists of words
set -u

if [ $# -lt 2 ]; then
    echo "usage: misuse.sh INCLUDE GENERATED [NVCC]" >&2
    exit 2
fi
include="-I$1 -I$2"
nvcc=${3:-}
quick= # what compiles is not run
[ -n "$nvcc" ] && "$nvcc" --help | grep -q Ofast-compile && quick=--Ofast-compile=max
# shellcheck source=tests/harness.sh
. "$(dirname "$0")/harness.sh"

# NAME WORDS FILE MOST COMMAND...: the command must fail, print WORDS, and report at most MOST errors.
refused() {
    name=$1 words=$2 file=$3 most=$4
    shift 4
    status=0
    "$@" "$file" >"$tmp/out" 2>&1 || status=$?
    errors=$(grep -c 'error: ' "$tmp/out")
    if [ "$status" -eq 0 ]; then
        not_ok "$name" "it compiles"
    elif grep -qF -e "$words" "$tmp/out" && [ "$errors" -le "$most" ]; then
        ok "$name"
    else
        not_ok "$name" "$errors errors, expected at most $most, and: $words"
    fi
}

# NAME WORDS MOST: the snippet is on standard input; without WORDS it must compile.
snippet() {
    cat >"$tmp/$1.c"
    cp "$tmp/$1.c" "$tmp/$1.cpp"
    cp "$tmp/$1.c" "$tmp/$1.cu"
    for compiler in gcc clang g++ clang++ nvcc; do
        command="$compiler"
        case $compiler in
        gcc | clang) file=$tmp/$1.c most=$3 flags="-std=c11 -fsyntax-only" ;;
        g++ | clang++) file=$tmp/$1.cpp most=$(($3 + 3)) flags="-std=c++17 -fsyntax-only" ;;
        nvcc) file=$tmp/$1.cu most=$(($3 + 3)) flags="-std=c++17 -arch=sm_90 $quick -c -o $tmp/out.o" command=$nvcc ;;
        esac
        if ! command -v "${command:-none}" >/dev/null 2>&1; then
            continue
        fi
        if [ -z "$2" ]; then
            check "$1, $compiler" "$command" $flags $include "$file"
        else
            refused "$1, $compiler" "$2" "$file" "$most" "$command" $flags $include
        fi
    done
}

# The parts that most snippets have in common.
head='#include <ballast/task.h>
typedef struct load { uint32_t n; } load;
static BL_TASK void run(bl_task *t, const load *p, uint32_t index, const bl_nothing *s, bl_nothing *l) {
    (void)t, (void)p, (void)index, (void)s, (void)l;
}
static BL_TASK void join(bl_task *t, const load *p, const uint32_t *r, uint32_t count, const bl_nothing *s, bl_nothing *l) {
    (void)t, (void)p, (void)r, (void)count, (void)s, (void)l;
}
#define BL_PROGRAM wrong'
tail='#include <ballast/program.h>'

snippet right "" 0 <<END
$head
#define BL_PAYLOAD load
#define BL_RUN run
#define BL_RESULT uint32_t
#define BL_JOIN join
$tail
END

snippet no_join "a program with BL_RESULT needs BL_JOIN" 1 <<END
$head
#define BL_PAYLOAD load
#define BL_RUN run
#define BL_RESULT uint32_t
$tail
END

snippet no_result "a program with BL_JOIN, BL_REDUCE or BL_SUM needs BL_RESULT" 1 <<END
$head
#define BL_PAYLOAD load
#define BL_RUN run
#define BL_JOIN join
$tail
END

snippet join_and_sum "define BL_JOIN or BL_SUM, not both" 1 <<END
$head
#define BL_PAYLOAD load
#define BL_RUN run
#define BL_RESULT uint64_t
#define BL_JOIN join
#define BL_SUM 1
$tail
END

snippet join_and_reduce "define BL_REDUCE, BL_JOIN or BL_SUM, only one of them" 1 <<END
$head
#define BL_PAYLOAD load
#define BL_RUN run
#define BL_RESULT uint32_t
#define BL_JOIN join
#define BL_REDUCE join
$tail
END

snippet wrong_reduce "BL_REDUCE must be void (BL_RESULT *into, const BL_RESULT *next)" 1 <<END
$head
#define BL_PAYLOAD load
#define BL_RUN run
#define BL_RESULT uint32_t
#define BL_REDUCE join
$tail
END

snippet no_task "before ballast/program.h define BL_PROGRAM" 1 <<END
$head
#define BL_PAYLOAD load
$tail
END

snippet small_sum "with BL_SUM the type of BL_RESULT must be uint64_t" 1 <<END
$head
#define BL_PAYLOAD load
#define BL_RUN run
#define BL_RESULT uint32_t
#define BL_SUM 1
$tail
END

snippet six_bytes "the size of BL_PAYLOAD must be a multiple of 4" 1 <<END
#include <ballast/task.h>
typedef struct six { uint16_t a, b, c; } six;
static BL_TASK void run(bl_task *t, const six *p, uint32_t index, const bl_nothing *s, bl_nothing *l) {
    (void)t, (void)p, (void)index, (void)s, (void)l;
}
#define BL_PROGRAM wrong
#define BL_PAYLOAD six
#define BL_RUN run
$tail
END

snippet odd_result "the size of BL_RESULT must be a multiple of 4" 1 <<END
#include <ballast/task.h>
static BL_TASK void run(bl_task *t, const uint32_t *p, uint32_t index, const bl_nothing *s, bl_nothing *l) {
    (void)t, (void)p, (void)index, (void)s, (void)l;
}
static BL_TASK void join(bl_task *t, const uint32_t *p, const uint16_t *r, uint32_t count, const bl_nothing *s, bl_nothing *l) {
    (void)t, (void)p, (void)r, (void)count, (void)s, (void)l;
}
#define BL_PROGRAM wrong
#define BL_PAYLOAD uint32_t
#define BL_RUN run
#define BL_RESULT uint16_t
#define BL_JOIN join
$tail
END

snippet wrong_run "BL_RUN must be void (bl_task *, const BL_PAYLOAD *, uint32_t index" 1 <<END
$head
#define BL_PAYLOAD bl_nothing
#define BL_RUN run
$tail
END

snippet short_run "BL_RUN must be void (bl_task *, const BL_PAYLOAD *, uint32_t index" 1 <<END
$head
static BL_TASK void brief(bl_task *t, const load *p) { (void)t, (void)p; }
#define BL_PAYLOAD load
#define BL_RUN brief
$tail
END

snippet wrong_range_run "BL_RANGE_RUN must be void (bl_task *, const BL_PAYLOAD *, uint32_t begin, uint32_t end" 1 <<END
$head
#define BL_PAYLOAD load
#define BL_RANGE_RUN run
$tail
END

snippet wrong_join "BL_JOIN must be void (bl_task *, const BL_PAYLOAD *forked, const BL_RESULT *results" 1 <<END
$head
#define BL_PAYLOAD load
#define BL_RUN run
#define BL_RESULT uint64_t
#define BL_JOIN join
$tail
END

snippet wrong_merge "BL_MERGE must be void (const BL_SHARED *, const BL_LOCAL *)" 1 <<END
$head
static BL_TASK void merge(const bl_nothing *s, const load *l) { (void)s, (void)l; }
#define BL_PAYLOAD load
#define BL_RUN run
#define BL_MERGE merge
$tail
END

snippet wrong_done_test "BL_DONE_TEST must be bool (const BL_SHARED *)" 1 <<END
$head
static BL_TASK bool done(const load *s) { return s->n == 0; }
#define BL_PAYLOAD load
#define BL_RUN run
#define BL_DONE_TEST done
$tail
END

snippet wrong_split "BL_SPLIT must be uint32_t (BL_PAYLOAD *kept, BL_PAYLOAD *given" 1 <<END
$head
static BL_TASK uint32_t split(load *kept, load *given, uint32_t begin, uint32_t end) {
    (void)kept, (void)given;
    return (begin + end) / 2;
}
#define BL_PAYLOAD load
#define BL_RUN run
#define BL_SPLIT split
$tail
END

snippet missing_run "no_such_run" 2 <<END
$head
#define BL_PAYLOAD load
#define BL_RUN no_such_run
$tail
END

# Sizes that are declared before the task function.
snippet spawn_other "bl_spawn takes a pointer to BL_PAYLOAD" 1 <<END
typedef struct load { unsigned n; } load;
#define BL_PAYLOAD load
#include <ballast/task.h>
static BL_TASK void run(bl_task *t, const load *p, uint32_t index, const bl_nothing *s, bl_nothing *l) {
    (void)p, (void)index, (void)s, (void)l;
    uint64_t other = 0;
    bl_spawn(t, &other);
}
#define BL_PROGRAM wrong
#define BL_RUN run
$tail
END

snippet fork_other "bl_fork takes a pointer to BL_PAYLOAD" 1 <<END
typedef struct load { unsigned n; } load;
#define BL_PAYLOAD load
#define BL_RESULT uint64_t
#include <ballast/task.h>
static BL_TASK void run(bl_task *t, const load *p, uint32_t index, const bl_nothing *s, bl_nothing *l) {
    (void)p, (void)index, (void)s, (void)l;
    uint64_t other = 0;
    bl_fork(t, &other, &other, 2);
}
#define BL_SUM 1
#define BL_PROGRAM wrong
#define BL_RUN run
$tail
END

snippet return_other "bl_return takes a pointer to BL_RESULT" 1 <<END
#define BL_RESULT uint64_t
#include <ballast/task.h>
static BL_TASK void run(bl_task *t, const uint32_t *p, uint32_t index, const bl_nothing *s, bl_nothing *l) {
    (void)p, (void)index, (void)s, (void)l;
    uint32_t value = 0;
    bl_return(t, &value);
}
#define BL_PAYLOAD uint32_t
#define BL_SUM 1
#define BL_PROGRAM wrong
#define BL_RUN run
$tail
END

# Two programs in one file, with payloads of different sizes: the second must not see the first one's size.
snippet two_programs "" 0 <<END
typedef struct load { unsigned n; } load;
#define BL_PAYLOAD load
#include <ballast/task.h>
static BL_TASK void run(bl_task *t, const load *p, uint32_t index, const bl_nothing *s, bl_nothing *l) {
    (void)index, (void)s, (void)l;
    bl_spawn(t, p);
}
#define BL_PROGRAM one
#define BL_RUN run
$tail
static BL_TASK void run2(bl_task *t, const uint64_t *p, uint32_t index, const bl_nothing *s, bl_nothing *l) {
    (void)index, (void)s, (void)l;
    bl_spawn(t, p);
}
#define BL_PROGRAM two
#define BL_PAYLOAD uint64_t
#define BL_RUN run2
$tail
END

finish
