#!/bin/sh
# Runs that the ranks of an MPI job share, on this machine: run.sh TEST_RANKS TOOL. Skipped where there is no mpirun that
# works.
# shellcheck disable=SC2016,SC2086 # small scripts for `sh -c`; flags are lists of words
set -u

if [ $# -ne 2 ]; then
    echo "usage: run.sh TEST_RANKS TOOL" >&2
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

for ranks in 1 2 3 4; do
    check "$ranks ranks: trees, loops, early ends, mismatches" timeout 200 mpirun -n $ranks "$test_ranks"
done

# ---- a killed rank ----

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

# The others end within 10 s, and nothing is left behind.
kill_one() {
    timeout 60 mpirun -n 4 "$test_ranks" endless >"$tmp/victim" 2>"$tmp/said" &
    job=$!
    i=0
    while [ ! -s "$tmp/victim" ] && [ $i -lt 300 ]; do
        sleep 0.1
        i=$((i + 1))
    done
    sleep 0.3 # in the middle of the run
    victim=$(cat "$tmp/victim")
    all=$(ps -o pid= --ppid "$(ps -o ppid= -p "$victim" | tr -d ' ')" | tr '\n' ' ')
    echo "rank $victim of $all"
    [ "$(echo $all | wc -w)" -eq 4 ] || return 1
    kill -9 "$victim" || return 1
    i=0
    while any_runs $all $job && [ $i -lt 100 ]; do
        sleep 0.1
        i=$((i + 1))
    done
    echo "after $i tenths of a second"
    any_runs $all $job && return 1
    wait $job && return 1 # it has failed
    return 0
}
check "a killed rank: the others end within 10 s" kill_one

# ---- the tool: rank 0 prints ----

# NAME WORDS COMMAND...: it succeeds and prints WORDS, once.
says() {
    says_name=$1
    words=$2
    shift 2
    check "$says_name" sh -c 'words=$1 && shift && timeout 100 "$@" >"$0" && cat "$0" && test "$(grep -cF -e "$words" "$0")" -eq 1' \
        "$tmp/printed" "$words" "$@"
}
# NAME WORDS COMMAND...: it fails, prints nothing, and the tool says WORDS in one line.
refuses() {
    refuses_name=$1
    words=$2
    shift 2
    check "$refuses_name" sh -c 'words=$1 && shift
        timeout 100 "$@" >"$0" 2>"$0.said" && exit 1
        cat "$0" "$0.said"
        test ! -s "$0" && test "$(grep -c "^ballast: " "$0.said")" -eq 1 && grep -qF -e "$words" "$0.said"' \
        "$tmp/printed" "$words" "$@"
}

says "uts on 2 ranks" "nodes         4130071" mpirun -n 2 "$tool" run uts --tree T1 --workers 1
says "uts on 4 ranks, a row for each" '"rank": 3, "workers": 2' mpirun -n 4 "$tool" run uts --tree T3 --workers 2 --json
says "nqueens on 3 ranks, repeated" "solutions     14200" mpirun -n 3 "$tool" run nqueens --n 12 --workers 1 --repeat 3
says "fib on 4 ranks" "value         832040" mpirun -n 4 "$tool" run fib --n 30 --workers 1
says "fourrow on 3 ranks" "nodes         960792" mpirun -n 3 "$tool" run fourrow --workers 1
says "fourrow solved on 2 ranks" "score         10" mpirun -n 2 "$tool" run fourrow --solve \
    --position 6637437663362571457336 --workers 1
says "a tree that is a root" "leaves        1" mpirun -n 2 "$tool" run uts -t 1 -a 3 -d 2 -b 1 -r 2 --workers 1
says "one rank is no job" '"workers": 1, ' mpirun -n 1 "$tool" run uts --tree mini_T1_d5 --workers 1 --json
check "one rank has no rows" sh -c '! grep -q ranks "$1"' sh "$tmp/printed"
says "help" "usage: ballast run uts" mpirun -n 2 "$tool" run uts --help
refuses "a program that needs memory of one device" "octree: its tasks build one tree" mpirun -n 2 "$tool" run octree
refuses "wrong usage, said once" "--tree: 'nope'" mpirun -n 4 "$tool" run uts --tree nope
refuses "wrong usage of one rank" "(rank 1)" mpirun -n 1 "$tool" run uts --tree T1 : -n 1 "$tool" run uts --tree nope
refuses "different programs" "rank 1: nqueens" mpirun -n 1 "$tool" run uts --tree T1 : -n 1 "$tool" run nqueens
refuses "different options" "Rank 1: time_limit 3, but rank 0 has 0" mpirun -n 1 "$tool" run uts --tree T1 : \
    -n 1 "$tool" run uts --tree T1 --time-limit 3
refuses "a device that cannot" "--device sim: only CPUs" mpirun -n 2 "$tool" run uts --device sim
refuses "a time limit ends all" "stopped by --time-limit" mpirun -n 3 "$tool" run uts --tree T1XXL --workers 1 --time-limit 0.3

mkdir "$tmp/bin" && cp "$tool" "$tmp/bin/ballast"
refuses "a tool without the module" "built without MPI" mpirun -n 2 "$tmp/bin/ballast" run uts --tree T1
says "... runs without mpirun" "nodes         4130071" "$tmp/bin/ballast" run uts --tree T1 --workers 1
: >"$tmp/bin/ballast_ranks.so"
check "a module that cannot be loaded" sh -c '! mpirun -n 2 "$1" run uts --tree T1 2>"$2" && grep -q "rank 1 of 2: MPI cannot be loaded" "$2"' \
    sh "$tmp/bin/ballast" "$tmp/said"
check "MPI is not loaded without mpirun" sh -c 'LD_DEBUG=libs "$1" run uts --tree T0 2>&1 | { ! grep -q libmpi; }' sh "$tool"

# A signal to mpirun: it passes SIGTERM on, and ends what does not end by itself.
signal_all() {
    timeout 60 mpirun -n 2 "$tool" run uts --tree T1XXL --workers 1 >"$tmp/printed" 2>"$tmp/said" &
    job=$!
    sleep 2
    kill -TERM "$(ps -o pid= --ppid $job | tr -d ' ')"
    wait $job && return 1
    cat "$tmp/said"
    test ! -s "$tmp/printed"
}
check "a signal to mpirun ends all" signal_all

# A signal to one rank: all of them stop cleanly, and rank 0 says so.
signal_one() {
    timeout 60 mpirun -n 3 "$tool" run uts --tree T1XXL --workers 1 >"$tmp/printed" 2>"$tmp/said" &
    job=$!
    sleep 2
    kill -TERM "$(ps -o pid= --ppid "$(ps -o pid= --ppid $job | tr -d ' ')" | tail -n 1 | tr -d ' ')"
    wait $job && return 1
    cat "$tmp/said"
    test ! -s "$tmp/printed" && test "$(grep -c "^ballast: uts: cancelled after" "$tmp/said")" -eq 1
}
check "a signal to one rank ends all" signal_one

# ---- the header ----

for language in c c++; do
    check "<ballast/mpi.h> alone, $language" sh -c 'echo "#include <ballast/mpi.h>
int alone;" | mpicc -x "$1" -fsyntax-only -Wall -Wextra -I"$2/mpi/include" -I"$2/include" -' sh $language "$(dirname "$0")/../.."
done
finish
