#!/bin/sh
# Runs that the ranks of an MPI job share, on this machine: mpi.sh TEST_RANKS TOOL. Skipped where there is no mpirun
# that works.
# shellcheck disable=SC2016,SC2086 # small scripts for `sh -c`; flags are lists of words
set -u

if [ $# -ne 2 ]; then
    echo "usage: mpi.sh TEST_RANKS TOOL" >&2
    exit 2
fi
test_ranks=$1
tool=$2
# shellcheck source=tests/harness.sh
. "$(dirname "$0")/../harness.sh"

# Open MPI: more ranks than cores, and as root, as in a container. Other implementations know neither.
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
if ! timeout 30 mpirun -n 2 true >/dev/null 2>&1; then
    echo "skipped: no mpirun that works"
    exit 77
fi

# ---- jobs that mostly wait: several at the same time ----

jobs=0
# NAME COMMAND...: in the background, with a folder $here of its own, and one for the files of mpirun: it removes the
# folder that all mpiruns have in common when it ends, while another one may begin.
start() {
    jobs=$((jobs + 1))
    here=$tmp/job$jobs
    mkdir -p "$here" "$tmp/mpirun$jobs"
    echo "$1" >"$here/name"
    shift
    (
        TMPDIR=$tmp/mpirun$jobs
        export TMPDIR
        "$@" >"$here/out" 2>&1 </dev/null
        echo $? >"$here/status"
    ) &
}
# Waits for all of them and reports.
collect() {
    wait
    while [ $jobs -gt 0 ]; do
        here=$tmp/job$jobs
        cp "$here/out" "$tmp/out" && : >"$tmp/err"
        status=$(cat "$here/status")
        if [ "$status" -eq 0 ]; then
            ok "$(cat "$here/name")"
        else
            not_ok "$(cat "$here/name")" "expected to succeed"
        fi
        rm -r "$here"
        jobs=$((jobs - 1))
    done
}

for ranks in 1 4; do
    start "$ranks ranks: trees, results, loops, early ends, mismatches" timeout 200 mpirun -n $ranks "$test_ranks"
done
collect
for ranks in 2 3; do
    start "$ranks ranks: trees, results, loops, early ends, mismatches" timeout 200 mpirun -n $ranks "$test_ranks"
done
collect

# ---- the tool: rank 0 prints ----

# NAME WORDS COMMAND...: it succeeds and prints WORDS, once.
says() {
    says_name=$1
    words=$2
    shift 2
    check "$says_name" sh -c \
        'words=$1 && shift && timeout 100 "$@" >"$0" && cat "$0" && test "$(grep -cF -e "$words" "$0")" -eq 1' \
        "$tmp/printed" "$words" "$@"
}
# NAME WORDS COMMAND...: it fails, prints nothing, and the tool says WORDS in one line. In the background.
refuses() {
    refuses_name=$1
    words=$2
    shift 2
    start "$refuses_name" fails_with "$words" "$@"
}
fails_with() {
    words=$1
    shift
    timeout 100 "$@" >"$here/printed" 2>"$here/said" && return 1
    cat "$here/printed" "$here/said"
    test ! -s "$here/printed" && test "$(grep -c "^ballast: " "$here/said")" -eq 1 && grep -qF -e "$words" "$here/said"
}

refuses "a program that needs memory of one device" "octree: its tasks build one tree" mpirun -n 2 "$tool" run octree
refuses "wrong usage, said once" "--tree: 'nope'" mpirun -n 4 "$tool" run uts --tree nope
refuses "wrong usage of one rank" "(rank 1)" mpirun -n 1 "$tool" run uts --tree T1 : -n 1 "$tool" run uts --tree nope
refuses "different programs" "rank 1: nqueens" mpirun -n 1 "$tool" run uts --tree T1 : -n 1 "$tool" run nqueens
refuses "different options" "Rank 1: time_limit 3, but rank 0 has 0" mpirun -n 1 "$tool" run uts --tree T1 : \
    -n 1 "$tool" run uts --tree T1 --time-limit 3
refuses "a GPU that a rank does not have" "--device cuda:99: not here (accepted: " \
    mpirun -n 1 "$tool" run fib --device cpu : -n 1 "$tool" run fib --device cuda:99
refuses "a time limit ends all" "stopped by --time-limit" mpirun -n 3 "$tool" \
    run uts --tree T1XXL --workers 1 --time-limit 0.3
refuses "a checkpoint that is not there" "$tmp/none: No such file" mpirun -n 2 "$tool" \
    run fib --workers 1 --resume "$tmp/none"
refuses "a checkpoint that cannot be written" "$tmp/none/file" mpirun -n 2 "$tool" run fib --workers 1 \
    --checkpoint "$tmp/none/file"
mkdir "$tmp/bin" "$tmp/bin/broken" && cp "$tool" "$tmp/bin/ballast" && cp "$tool" "$tmp/bin/broken/ballast"
refuses "a tool without the module" "built without MPI" mpirun -n 2 "$tmp/bin/ballast" run uts --tree T1
: >"$tmp/bin/broken/ballast_ranks.so"
start "a module that cannot be loaded" sh -c \
    '! mpirun -n 2 "$1" run uts --tree T1 2>"$2" && grep -q "rank 1 of 2: MPI cannot be loaded" "$2"' \
    sh "$tmp/bin/broken/ballast" "$tmp/said"
collect

says "uts on 2 ranks" "nodes         4130071" mpirun -n 2 "$tool" run uts --tree T1 --workers 1
says "uts on 4 ranks, a row for each" '"rank": 3, "device": "cpu", "workers": 2' mpirun -n 4 "$tool" \
    run uts --tree T3 --workers 2 --json
says "nqueens on 3 ranks, repeated" "solutions     14200" mpirun -n 3 "$tool" run nqueens --n 12 --workers 1 --repeat 3
says "fib on 4 ranks" "value         832040" mpirun -n 4 "$tool" run fib --n 30 --workers 1
says "fourrow on 3 ranks" "nodes         960792" mpirun -n 3 "$tool" run fourrow --workers 1
says "fourrow solved on 2 ranks" "score         10" mpirun -n 2 "$tool" run fourrow --solve \
    --position 6637437663362571457336 --workers 1
says "a tree that is a root" "leaves        1" mpirun -n 2 "$tool" run uts -t 1 -a 3 -d 2 -b 1 -r 2 --workers 1
says "one rank is no job" '"workers": 1, ' mpirun -n 1 "$tool" run uts --tree mini_T1_d5 --workers 1 --json
check "one rank has no rows" sh -c '! grep -q ranks "$1"' sh "$tmp/printed"
says "help" "usage: ballast run uts" mpirun -n 2 "$tool" run uts --help
says "without the module and mpirun" "nodes         4130071" "$tmp/bin/ballast" run uts --tree T1 --workers 1
check "MPI is not loaded without mpirun" sh -c 'LD_DEBUG=libs "$1" run uts --tree T0 2>&1 | { ! grep -q libmpi; }' \
    sh "$tool"

# ---- checkpoints: stopped on some ranks, resumed on others, and without mpirun ----

# RANKS WORDS APP...: stopped after 0.05 s, and on from there, in one process and on two ranks.
stop_and_resume() {
    ranks=$1
    words=$2
    shift 2
    timeout 100 mpirun -n "$ranks" "$tool" run "$@" --workers 1 --time-limit 0.05 --checkpoint "$here/file" \
        --checkpoint-every 0.02 2>&1
    ls "$here"
    test -s "$here/file" || return 1
    "$tool" run "$@" --device cpu --resume "$here/file" | grep -F -e "$words" &&
        timeout 100 mpirun -n 2 "$tool" run "$@" --workers 1 --resume "$here/file" | grep -F -e "$words"
}
start "fib, stopped on 4 ranks" stop_and_resume 4 "value         24157817" fib --n 37
start "nqueens, stopped on 3 ranks" stop_and_resume 3 "solutions     365596" nqueens --n 14
collect
start "fourrow, stopped on 2 ranks" stop_and_resume 2 "nodes         6634026" fourrow --lookahead 8
start "uts, stopped on 4 ranks" stop_and_resume 4 "leaves        3305118" uts --tree T1
collect
from_one() {
    "$tool" run fib --n 37 --device cpu+cpu --time-limit 0.005 --checkpoint "$here/file" 2>&1
    timeout 100 mpirun -n 3 "$tool" run fib --n 37 --workers 1 --resume "$here/file" | grep -F "value         24157817"
}
start "stopped on cpu+cpu, resumed on 3 ranks" from_one
collect

# ---- ranks with devices of their own; the simulated machine stands for a GPU ----

apart() {
    timeout 100 mpirun -n 1 "$tool" run "$@" --device cpu --workers 1 : -n 1 "$tool" run "$@" \
        --device cpu+sim --workers 1
}
start "ranks with other devices" \
    eval 'apart uts --tree mini_T1_d7 | grep -A99 "^ranks *2 with cpu, cpu+sim" | grep "^nodes *63914"'
start "ranks with other devices, joins" eval 'apart fourrow --lookahead 4 | grep "^checked *known"'

# ---- signals, and a killed rank ----

# PROCESS...: whether one of them runs. One that nobody has waited for is no longer there.
any_runs() {
    for process in "$@"; do
        case $(ps -o stat= -p "$process") in
        "" | Z*) ;;
        *) return 0 ;;
        esac
    done
    return 1
}
# RANKS: starts a long run of the tool, $job, and waits until it has written a checkpoint.
# $all: its processes, $last: one.
start_long() {
    mkdir "$here/files"
    timeout 60 mpirun -n "$1" "$tool" run uts --tree T1XXL --workers 1 --checkpoint "$here/files/file" \
        --checkpoint-every 0.1 >"$here/printed" 2>"$here/said" &
    job=$!
    i=0
    while [ ! -s "$here/files/file" ] && [ $i -lt 300 ]; do
        sleep 0.1
        i=$((i + 1))
    done
    mpirun=$(ps -o pid= --ppid $job | tr -d ' ')
    all=$(ps -o pid= --ppid "$mpirun" | tr '\n' ' ')
    last=$(echo $all | tr ' ' '\n' | tail -n 1)
    echo "ranks: $all"
    [ "$(echo $all | wc -w)" -eq "$1" ]
}
# It has failed without output, and its checkpoint, the only file there, is good.
ended_well() {
    wait $job && return 1
    cat "$here/said" && ls -A "$here/files"
    test ! -s "$here/printed" && test "$(ls -A "$here/files")" = file || return 1
    timeout 100 "$tool" run uts --tree T1XXL --device cpu --time-limit 0.1 --resume "$here/files/file" 2>&1 |
        grep "stopped by --time-limit"
}

# The others end within 10 s, and nothing is left behind.
kill_one() {
    start_long 4 && kill -9 "$last" || return 1
    i=0
    while any_runs $all $job && [ $i -lt 100 ]; do
        sleep 0.1
        i=$((i + 1))
    done
    echo "after $i tenths of a second"
    any_runs $all $job && return 1
    ended_well
}
start "a killed rank: the others end within 10 s, and the last checkpoint is good" kill_one

# A signal to mpirun: it passes SIGTERM on, and ends what does not end by itself.
signal_all() { start_long 2 && kill -TERM "$mpirun" && ended_well; }
start "a signal to mpirun ends all" signal_all

# A signal to one rank: all of them stop cleanly, and rank 0 says so.
signal_one() {
    start_long 3 && kill -TERM "$last" && ended_well &&
        test "$(grep -c "^ballast: uts: cancelled after" "$here/said")" -eq 1 &&
        grep -q "to resume: --resume" "$here/said"
}
start "a signal to one rank ends all" signal_one
collect

# ---- the header ----

for language in c c++; do
    check "<ballast/mpi.h> alone, $language" sh -c 'echo "#include <ballast/mpi.h>
int alone;" | mpicc -x "$1" -fsyntax-only -Wall -Wextra -I"$2/mpi/include" -I"$2/include" -' sh $language \
    "$(dirname "$0")/../.."
done
finish
