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

finish
