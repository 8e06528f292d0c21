#!/bin/sh
# Golden tests of the command line: cli.sh TOOL. Every call must terminate. A wrong call prints exactly one line on
# standard error and nothing on standard output, and exits with the documented status.
set -u

if [ $# -ne 1 ]; then
    echo "usage: cli.sh TOOL" >&2
    exit 2
fi
tool=$1
# shellcheck source=tests/harness.sh
. "$(dirname "$0")/../harness.sh"

# ---- helpers ----

call() {
    status=0
    timeout 60 "$tool" "$@" >"$tmp/out" 2>"$tmp/err" </dev/null || status=$?
}

lines() {
    wc -l <"$1" | tr -d ' '
}

# The value of a member of the JSON object in the last output: a number, or a string without its quotes.
member() {
    sed -n "s/.*\"$1\": *\"\{0,1\}\([^\",}]*\).*/\1/p" "$tmp/out"
}

refuses() { # NAME STATUS WORDS ARGUMENTS...
    name=$1
    expected=$2
    words=$3
    shift 3
    call "$@"
    if [ "$status" -ne "$expected" ]; then
        not_ok "$name" "expected status $expected"
    elif [ -s "$tmp/out" ]; then
        not_ok "$name" "expected nothing on standard output"
    elif [ "$(lines "$tmp/err")" -ne 1 ]; then
        not_ok "$name" "expected one line on standard error"
    elif ! grep -qF -e "$words" "$tmp/err"; then
        not_ok "$name" "expected the line to say: $words"
    else
        ok "$name"
    fi
}

# The call must succeed without a note. Reports only failures, since the caller also checks the output.
succeeds() { # NAME ARGUMENTS...
    name=$1
    shift
    call "$@"
    if [ "$status" -ne 0 ]; then
        not_ok "$name" "expected status 0"
    elif [ -s "$tmp/err" ]; then
        not_ok "$name" "expected nothing on standard error"
    elif [ ! -s "$tmp/out" ]; then
        not_ok "$name" "expected a result"
    else
        return 0
    fi
    return 1
}

says() { # NAME PATTERN ARGUMENTS...
    pattern=$2
    name=$1
    shift 2
    succeeds "$name" "$@" || return 0
    if grep -q -e "$pattern" "$tmp/out"; then
        ok "$name"
    else
        not_ok "$name" "expected output like $pattern"
    fi
}

notes() { # NAME WORDS ARGUMENTS...
    name=$1
    words=$2
    shift 2
    call "$@"
    if [ "$status" -ne 0 ] || [ ! -s "$tmp/out" ]; then
        not_ok "$name" "expected status 0 and a result"
    elif [ "$(lines "$tmp/err")" -ne 1 ] || ! grep -qF -e "$words" "$tmp/err"; then
        not_ok "$name" "expected one line on standard error: $words"
    else
        ok "$name"
    fi
}

# One line, of which the end of this script sees whether it is JSON: a Python for each would take most of the time.
is_json() {
    [ "$(lines "$tmp/out")" -eq 1 ] || return 1
    echo "$name" >>"$tmp/json.names"
    cat "$tmp/out" >>"$tmp/json.lines"
}

all_json() { # the names of those that are not
    python3 - "$tmp/json.names" "$tmp/json.lines" <<'END'
import json, sys
names, lines = (open(path).readlines() for path in sys.argv[1:])
assert len(names) == len(lines)
for name, line in zip(names, lines):
    try:
        json.loads(line)
    except ValueError as error:
        print(name.strip(), error, sep=": ")
END
}

json() { # NAME "MEMBER=VALUE ..." ARGUMENTS...
    name=$1
    members=$2
    shift 2
    succeeds "$name" "$@" || return 0
    if ! is_json; then
        not_ok "$name" "expected one line of JSON"
        return 0
    fi
    for pair in $members; do
        if [ "$(member "${pair%%=*}")" != "${pair#*=}" ]; then
            not_ok "$name" "expected $pair"
            return 0
        fi
    done
    ok "$name"
}

schedulers() { # APP DEVICE: complete names, one per line
    timeout 60 "$tool" list schedulers --app "$1" --device "$2" --json 2>/dev/null | sed 's/"aliases".*//' |
        tr '{' '\n' |
        sed -n 's/^"name": *"\([^"]*\)".*/\1/p'
}

# ---- help and version ----

says "--help" "^usage: ballast" --help
says "list --help" "^usage: ballast list" list --help
says "run --help" "^usage: ballast run APP" run --help
says "verify --help" "^usage: ballast verify \[QUEUE...\]" verify --help
says "run octree --help" "--max-depth N" run octree --help
says "run uts --help" "--tree" run uts --help
says "run fib --help" "--n N" run fib --help
says "run pagerank --help" "--graph FILE" run pagerank --help
says "run fourrow --help" "--position MOVES" run fourrow --help
says "play --help" "^usage: ballast play" play --help
says "run nqueens --help" "--n N" run nqueens --help
says "run transform --help" "--pattern regular|half|third" run transform --help
says "--version" "^ballast [0-9][0-9.]*$" --version

# ---- list ----

says "list" "^devices" list
says "list apps" "^  octree " list apps
says "list queues" "EMPTY" list queues
says "list schedulers" "^  steal:" list schedulers
says "list devices" "^  cpu " list devices
json "list --json" "" list --json
for section in apps queues schedulers devices; do
    says "list --json has $section" "\"$section\": \[{" list --json
    says "list $section --json" "^{\"$section\": \[{" list "$section" --json
done
says "list schedulers --json has aliases" '"aliases": \[{"name": "[a-z]*", "scheduler": "' list schedulers --json
says "list schedulers that fit" "^  steal:" list schedulers --app=uts --device=cpu
refuses "list of nothing known" 2 "accepted: apps, queues, schedulers, devices" list nothing
refuses "list of two things" 2 "queues: unexpected after apps" list apps queues
refuses "list, unknown app" 2 "--app nothing: unknown app (accepted: " list --app nothing
refuses "list, unknown device" 2 "--device abacus: unknown device (accepted: auto, cpu, cuda, cuda:N, sim)" \
    list --device abacus
refuses "list, unknown option" 2 "--jsom: unknown option of list, nearest is --json" list --jsom
says "list queues of a device" "^  broker " list queues --device cpu
json "list queues of a device, JSON" "" list queues --device cpu --json
refuses "list, filtering devices" 2 "--device: filters only schedulers and queues" list devices --device cpu
refuses "list, filtering what cannot be" 2 "--app: filters only schedulers" list queues --app uts

# ---- bench ----

says "bench lists the suites" "^  kerbl-pairs " bench
says "bench --help" "^usage: ballast bench" bench --help
refuses "unknown suite" 2 "nothing: unknown suite (accepted: " bench nothing
refuses "two suites" 2 "kerbl-faa: unexpected after kerbl-pairs" bench kerbl-pairs kerbl-faa
refuses "bench, unknown queue" 2 "--queues nothing: unknown queue (accepted: none, faa" \
    bench kerbl-pairs --queues tz,nothing
refuses "bench, unknown device" 2 "--device abacus: unknown device" bench kerbl-pairs --device abacus
refuses "bench on sim" 2 "--device sim: bench has no code for it (accepted: auto, cpu, cuda, cuda:N)" \
    bench kerbl-pairs --device sim
refuses "bench, no such GPU" 2 "--device cuda:999: no usable GPU here" bench kerbl-pairs --device cuda:999
refuses "bench, queues where there are none" 2 "--queues: scale does not test queues (accepted: none)" \
    bench scale --queues tz
refuses "bench, --force without --out" 2 "--force: there is nothing to overwrite without --out" bench scale --force
refuses "bench, options without a suite" 2 "--quick: needs a SUITE (accepted: ballast bench SUITE --quick" bench --quick
refuses "bench, --repeats 0" 2 "--repeats 0: out of range (accepted: 1 to 101" bench kerbl-pairs --repeats 0
refuses "bench, unknown option" 2 "--qick: unknown option of bench, nearest is --quick" bench kerbl-pairs --qick
refuses "bench, a folder that cannot be made" 1 "--out $tmp/no/where: cannot be created: " \
    bench kerbl-faa --out "$tmp/no/where"
: >"$tmp/file"
refuses "bench, a file for a folder" 1 "$tmp/file/kerbl-faa.csv: cannot be written: " bench kerbl-faa --out "$tmp/file"
for suite in $(timeout 60 "$tool" bench | sed -n 's/^  \(kerbl-[a-z]*\|deques\) .*/\1/p'); do
    queues="--queues tz,abp"
    [ "$suite" = kerbl-faa ] && queues= # measures accesses to a word
    says "bench $suite" "^faa " bench "$suite" --quick --repeats 1 $queues --device cpu --out "$tmp/rows"
    if grep -q '^# column ' "$tmp/rows/$suite.csv" && grep -q '^cpu,faa,' "$tmp/rows/$suite.csv" &&
        ! grep -q 'WRONG$\|,WRONG,' "$tmp/rows/$suite.csv"; then
        ok "bench $suite wrote its rows"
    else
        not_ok "bench $suite wrote its rows" "expected columns explained, rows, and none of them wrong"
    fi
done
call bench kerbl-faa --quick --repeats 1 --device cpu --out "$tmp/rows"
if [ "$status" -eq 0 ] && grep -q '^faa ' "$tmp/out" && grep -q "resuming after [0-9]* existing rows" "$tmp/err" &&
    [ "$(grep -v '^#' "$tmp/rows/kerbl-faa.csv" | cut -d, -f1-4 | sort | uniq -d | wc -l)" -eq 0 ]; then
    ok "bench measures nothing twice"
else
    not_ok "bench measures nothing twice" "expected every row once"
fi
sed 's/^# version .*/# version ballast 0.0/' "$tmp/rows/kerbl-faa.csv" >"$tmp/other" &&
    cp "$tmp/other" "$tmp/rows/kerbl-faa.csv"
refuses "bench, rows of another version" 2 \
    "kerbl-faa.csv: already exists, with a different version (accepted: another --out, or --force" bench kerbl-faa \
    --quick --device cpu --out "$tmp/rows"
refuses "bench, a case where there are none" 2 "--case one: kerbl-faa has only one case (accepted: none)" \
    bench kerbl-faa --case one
refuses "bench, a heading before the cases, no such tables" 2 "--case one: latency has no such tables" \
    bench latency --case one --device cpu
says "bench --case" "^50k " bench cederman2008 --case fig5 --quick --repeats 1 --device cpu --out "$tmp/rows"
cp "$tmp/rows/cederman2008.csv" "$tmp/before.csv"
for force in "" --force; do
    refuses "bench --case $force, no such tables" 2 "--case fig9: cederman2008 has no such tables (accepted: fig2" \
        bench cederman2008 --case fig9 --quick --device cpu --out "$tmp/rows" $force
    if cmp -s "$tmp/before.csv" "$tmp/rows/cederman2008.csv"; then
        ok "bench --case $force, no such tables, costs no rows"
    else
        not_ok "bench --case $force, no such tables, costs no rows" "expected the file as it was"
    fi
done
if [ -c /dev/full ]; then
    mkdir "$tmp/full" && ln -s /dev/full "$tmp/full/scale.csv"
    call bench scale --case fib --device cpu --out "$tmp/full" --force # takes minutes unless it stops at the first row
    if [ "$status" -eq 1 ] && grep -q "scale.csv: cannot be written: No space left" "$tmp/err"; then
        ok "bench onto a full disk"
    else
        not_ok "bench onto a full disk" "expected status 1 and one line"
    fi
fi
says "bench gems35" "^7 " bench gems35 --case fig35.9 --quick --repeats 1 --device cpu --out "$tmp/rows"
says "bench toss2012" "^5000 " bench toss2012 --case fig3 --quick --repeats 1 --device cpu --out "$tmp/rows"
says "bench peers" "Ballast\\|left out: not found next to" \
    bench peers --case nqueens_peers --quick --repeats 1 --device cpu --out "$tmp/rows"
says "bench greedy" "medians of schedulers that balance" \
    bench greedy --case coarse --quick --repeats 1 --device cpu --out "$tmp/rows"
says "bench cluster" "^1024, 10 us " bench cluster --case geometric --quick --repeats 1 --device cpu --out "$tmp/rows"
says "bench latency" "^fib --n 20 " bench latency --case fib --quick --repeats 1 --device cpu --out "$tmp/rows"
says "bench scale" "^25 " bench scale --case fib --quick --repeats 1 --device cpu --out "$tmp/rows"
if [ -n "${BALLAST_DATA:-}" ]; then
    says "bench kerbl2018" "^8 " bench kerbl2018 --case own-gnutella --quick --repeats 1 --device cpu --out "$tmp/rows"
fi
data=${BALLAST_DATA:-}
export BALLAST_DATA=
says "bench without its data" "p2p-Gnutella31: left out: BALLAST_DATA is not set" bench kerbl2018 --quick --device cpu
BALLAST_DATA=$tmp
says "bench whose data is elsewhere" "left out: BALLAST_DATA has no graphs/web-NotreDame" \
    bench kerbl2018 --quick --device cpu
says "bench scale without its graph" "left out: BALLAST_DATA has no graphs/p2p" \
    bench scale --quick --case fib --repeats 1 --device cpu
BALLAST_DATA=$data
# With stacks of 1 GB and an address space of 3 GB no third thread can start, not even for root, whom ulimit -u does not
# limit. A sanitized tool needs more address space.
scarce() { # NAME WORDS ARGUMENTS...
    name=$1
    words=$2
    shift 2
    status=0
    (
        ulimit -s 1000000 && ulimit -v 3000000 || exit 77
        "$tool" --version >/dev/null 2>&1 || exit 77
        exec timeout 60 "$tool" "$@"
    ) >"$tmp/out" 2>"$tmp/err" </dev/null || status=$?
    if [ "$status" -eq 77 ]; then
        echo "skipped: $name: no such limits here"
    elif [ "$status" -ne 1 ] || [ "$(lines "$tmp/err")" -ne 1 ] || ! grep -qF -e "$words" "$tmp/err"; then
        not_ok "$name" "expected status 1 and one line: $words"
    else
        ok "$name"
    fi
}
scarce "bench, threads that cannot be started" "threads could be started: " \
    bench kerbl-faa --quick --repeats 1 --device cpu
scarce "run, threads that cannot be started" "workers 16: cannot start that many threads" \
    run fib --device cpu --workers 16
if grep -q '^[^#].*,WRONG' "$tmp"/rows/*.csv; then
    not_ok "bench has no wrong rows" "expected none"
else
    ok "bench has no wrong rows"
fi
says "bench --force" "^faa " bench kerbl-faa --quick --repeats 1 --device cpu --out "$tmp/rows" --force

# If standard output is closed, no other file may get its number, or tables would end up in the rows.
status=0
timeout 60 "$tool" bench kerbl-faa --quick --repeats 1 --device cpu --out "$tmp/closed" >&- 2>"$tmp/err" || status=$?
cp "$tmp/closed/kerbl-faa.csv" "$tmp/out"
if [ "$status" -eq 1 ] && grep -q "standard output: cannot be written" "$tmp/err" &&
    ! grep -v '^#' "$tmp/out" | grep -qv '^[^,]*,[^,]*,[^,]*,'; then
    ok "bench with standard output closed"
else
    not_ok "bench with standard output closed" "expected nothing but rows in the file, and one line"
fi
for closed in '>&-' '<&-' '2>&-' '<&- 2>&-'; do
    status=0
    eval "timeout 60 \"\$tool\" run fib --n 10 --device cpu --trace \"\$tmp/closed.json\" >\"\$tmp/out\" 2>\"\$tmp/err\" $closed" || status=$?
    expected=0
    [ "$closed" = '>&-' ] && expected=1
    if [ "$status" -eq $expected ] && [ "$(grep -c traceEvents "$tmp/closed.json")" -eq 1 ] &&
        [ "$(tail -c 3 "$tmp/closed.json")" = ']}' ]; then
        ok "run with $closed"
    else
        not_ok "run with $closed" "expected status $expected and a timeline without anything else"
    fi
done

# ---- stop and resume ----

says "several nodes, JSON" '"device": "cpu+cpu".*"workers": 2,.*"status": "complete".*"nodes": 4130071' \
    run uts --tree T1 --device cpu+cpu --workers 1 --json
says "several nodes" "^checked *known" run nqueens --n 8 --device cpu+cpu+cpu --workers 2
says "several nodes, sums" "^checked *known" run fib --n 27 --device cpu+cpu --workers 1
says "several nodes, joins" "^checked *known" run fourrow --lookahead 5 --device cpu+cpu+cpu --workers 2
refuses "several nodes, unknown" 2 "--device cpu+abacus: no usable device here" run uts --device cpu+abacus
refuses "several nodes, checkpoint" 1 "uts: stopped by --time-limit after " \
    run uts --tree T1 --device cpu+cpu --workers 1 --time-limit 0.02 --checkpoint "$tmp/nodes"
says "several nodes, resumed by three" "^checked *known" run uts --tree T1 --device cpu+cpu+cpu --resume "$tmp/nodes"
says "several nodes, resumed by one" "^checked *known" run uts --tree T1 --device cpu --resume "$tmp/nodes"
refuses "several memories, checkpoint" 1 "uts: stopped by --time-limit after " \
    run uts --tree T1 --device cpu+sim --workers 1 --time-limit 0.02 --checkpoint "$tmp/nodes"
says "several memories, resumed by one" "^checked *known" run uts --tree T1 --device cpu --resume "$tmp/nodes"
refuses "several memories, joins, checkpoint" 1 "fourrow: stopped by --time-limit after " \
    run fourrow --lookahead 7 --device cpu --workers 1 --time-limit 0.02 --checkpoint "$tmp/nodes"
says "joins, resumed by several memories" "^checked *known" \
    run fourrow --lookahead 7 --device sim+cpu --resume "$tmp/nodes"
says "nodes with a memory each" '"nodes": \[{"device": "cpu", .*{"device": "sim", "workers": 4, .*"nodes": 63914' \
    run uts --tree mini_T1_d7 --device cpu+sim --workers 1 --json
says "all devices" "^checked *known" run nqueens --n 7 --device all
refuses "nodes with a memory each, one memory needed" 2 "--device cpu+sim: octree: its tasks build one tree" \
    run octree --particles 1k --device cpu+sim
says "nodes with a memory each, sums" "^value *2584" run fib --n 18 --device cpu+sim
says "nodes with a memory each, joins" "^checked *known" run fourrow --lookahead 3 --device sim+cpu
refuses "several nodes elsewhere" 2 "--device cpu+cpu: unknown device" list --device cpu+cpu

refuses "time limit of nothing" 2 "--time-limit 0: not a time" run fib --time-limit 0
refuses "checkpoints of nothing" 2 "--checkpoint-every: no checkpoint is written" run fib --checkpoint-every 3
refuses "checkpoint of repeats" 2 "--repeat 3: an interrupted run is not a measurement" \
    run fib --checkpoint "$tmp/check" --repeat 3
refuses "checkpoint that cannot be written" 1 "--checkpoint /nowhere/file: cannot be written" \
    run fib --checkpoint /nowhere/file
refuses "checkpoint in place of a device" 1 "--checkpoint /dev/null: cannot be written: not a regular file" \
    run fib --device cpu --checkpoint /dev/null
refuses "resume without a file" 1 "--resume /nowhere/file: No such file" run fib --device cpu --resume /nowhere/file
refuses "resume from something else" 1 "is no checkpoint of this version" run fib --device cpu --resume "$0"
call run uts --tree T1 --device cpu --workers 2 --time-limit 0.05 --checkpoint "$tmp/check" --json
if [ "$status" -eq 1 ] && [ "$(member status)" = time-limit ] && ! grep -q result "$tmp/out" &&
    [ "$(lines "$tmp/err")" -eq 1 ] &&
    grep -q "uts: stopped by --time-limit after .* tasks; to resume: --resume $tmp/check" "$tmp/err"; then
    ok "time limit"
else
    not_ok "time limit" "expected status 1, time-limit, no result and one line"
fi
refuses "resume of another problem" 1 "a checkpoint of another problem" \
    run uts --tree T3 --device cpu --resume "$tmp/check"
refuses "resume with another seed" 1 "a checkpoint of another problem" \
    run uts --tree T1 --seed 2 --device cpu --resume "$tmp/check"
refuses "a timeline in parts" 2 "--trace $tmp/t: tracing needs an uninterrupted run" \
    run uts --tree T1 --trace "$tmp/t" --resume "$tmp/check"
call run transform --elements 1k --device cpu --scheduler static:split --time-limit 9
if grep -q "static:split can stop only between waves" "$tmp/err"; then
    ok "a loop cannot stop, and says so"
else
    not_ok "a loop cannot stop, and says so" "expected a note"
fi
head -c 500 "$tmp/check" >"$tmp/cut"
refuses "resume from half a file" 1 "is damaged" run uts --tree T1 --device cpu --resume "$tmp/cut"
json "resume, with another scheduler" "status=complete tasks=4130070 nodes=4130071 checked=known" \
    run uts --tree T1 --device cpu --scheduler steal:blocking --resume "$tmp/check" --json
timeout -s TERM 0.5 "$tool" run uts --tree T1XL --device cpu --json >"$tmp/out" 2>"$tmp/err" </dev/null && status=0 ||
    status=$?
if [ "$(member status)" = cancelled ] && grep -q "^ballast: uts: cancelled after" "$tmp/err"; then
    ok "a signal cancels"
else
    not_ok "a signal cancels" "expected cancelled"
fi

# A checkpoint depends on the contents of input files, not on their names.
resumes() { # OPTION FILE OTHER ARGUMENTS...: stops a run that reads FILE; OTHER is as long but differs
    option=$1
    same=$2
    other=$3
    shift 3
    call "$@" $option "$same" --device cpu --time-limit 1e-6 --checkpoint "$tmp/inputs"
    cp "$same" "$tmp/moved-${same##*/}"
    says "resume with the same data, $2" "^checked" "$@" $option "$tmp/moved-${same##*/}" \
        --device cpu --resume "$tmp/inputs"
    cp "$other" "$same"
    refuses "resume with other data, $2" 1 "a checkpoint of another problem" "$@" $option "$same" \
        --device cpu --resume "$tmp/inputs"
    refuses "resume with other data and no check, $2" 1 "a checkpoint of another problem" "$@" $option "$same" \
        --device cpu --no-check --resume "$tmp/inputs"
}
printf '0 1\n1 2\n2 0\n0 3\n3 1\n' >"$tmp/one.txt"
printf '0 1\n1 2\n2 0\n0 3\n3 2\n' >"$tmp/two.txt"
resumes --graph "$tmp/one.txt" "$tmp/two.txt" run pagerank
seq 1 300 | sed 's/\(.*\)/\1 0.\1 1.5/' >"$tmp/one.xyz"
sed '7s/ 1.5/ 2.5/' "$tmp/one.xyz" >"$tmp/two.xyz"
resumes --input "$tmp/one.xyz" "$tmp/two.xyz" run octree
printf '2252576253462244111563365343671351441\n' >"$tmp/one.games"
printf '5554224333234511764415115\n' >"$tmp/two.games"
resumes --input "$tmp/one.games" "$tmp/two.games" run fourrow --solve

# Sends signals to a run, faster than it can stop. Resets SIGINT, which shells make background jobs ignore.
signals() { # SIGNALS. Sets status.
    rm -f "$tmp/signalled"
    env --default-signal=INT "$tool" run uts --tree T1XL --device cpu --checkpoint "$tmp/signalled" >"$tmp/out" \
        2>"$tmp/err" </dev/null &
    sleep 0.3
    for signal in $1; do
        kill -$signal $!
    done
    status=0
    wait $! || status=$?
} 2>/dev/null
if env --default-signal=INT true 2>/dev/null; then
    signals "TERM INT"
    if [ "$status" -eq 1 ] && grep -q "uts: cancelled after" "$tmp/err" && [ -s "$tmp/signalled" ]; then
        ok "two signals, and a whole checkpoint"
    else
        not_ok "two signals, and a whole checkpoint" "expected the first to be honoured"
    fi
    # Signals of one kind that arrive together count as one, so it takes many to deliver three.
    for try in 1 2 3 4 5; do
        signals "$(yes TERM INT | head -1000)"
        [ "$status" -gt 128 ] && break
    done
    if [ "$status" -gt 128 ]; then
        ok "a third signal kills"
    else
        not_ok "a third signal kills" "expected the process to be killed"
    fi
else
    echo "skipped: env does not know --default-signal"
fi

# ---- report ----

says "report --help" "^usage: ballast report DIR" report --help
refuses "report without DIR" 2 "DIR missing (accepted: ballast report DIR" report
refuses "report, two folders" 2 "two: unexpected after one (accepted: one DIR)" report one two
refuses "report, unknown option" 2 "--ot: unknown option of report, nearest is --out" report "$tmp/rows" --ot x
refuses "report, no such folder" 1 "$tmp/nowhere: cannot be read: No such file" report "$tmp/nowhere"
mkdir "$tmp/none"
: >"$tmp/none/others.csv"
refuses "report, no results" \
    1 "$tmp/none: contains no results (accepted: a folder that ballast bench SUITE --out DIR wrote)" report "$tmp/none"

spoils() { # NAME WORDS SED-COMMANDS: a damaged file of rows
    mkdir -p "$tmp/spoilt"
    sed "$3" "$tmp/rows/kerbl-faa.csv" >"$tmp/spoilt/kerbl-faa.csv"
    refuses "report, $1" 1 "$2" report "$tmp/spoilt"
    if ! grep -q "^ballast: $tmp/spoilt/kerbl-faa.csv:" "$tmp/err"; then
        not_ok "report, $1" "expected the line to begin with the file"
    fi
}
spoils "a column of another name" \
    ": column turns does not match this version of the suite: rows of another version (accepted: new rows, by ballast bench kerbl-faa" \
    's/^device,access,threads/device,access,turns/'
spoils "a column less" ": column check is missing: rows of another version" '/^[^#]/s/,[a-z]*$//'
spoils "a column more" ": column more does not match this version" '/^[^#]/s/$/,more/'
spoils "another version of the rows" ": rows of version 99, but this is version 1 of the suite (accepted: new rows" \
    's/^# rows version .*/# rows version 99/'
spoils "no version" ": rows of version unknown, but this is" '/^# rows version/d'
spoils "the rows of another suite" ": its header does not say \"suite kerbl-faa\"" \
    's/^# suite kerbl-faa/# suite kerbl-far/'
spoils "a cell less" ": 8 cells in a row of 9 columns" '/^cpu,faa,1,1,/s/,[a-zA-Z]*$//'
spoils "no rows" ": contains no rows" '/^cpu/d;/^# cpu/d'
sed '/^cpu/d' "$tmp/rows/kerbl-faa.csv" >"$tmp/spoilt/kerbl-faa.csv"
refuses "report, nothing but a remark" 1 "$tmp/spoilt: contains no results" report "$tmp/spoilt"
spoils "an empty file" ": empty (accepted: new rows" d
spoils "not a number" ": relative much: not a number" '/^cpu,faa,1,1,/s/,[^,]*,\([^,]*\),\([a-z]*\)$/,much,\1,\2/'
for number in 1e308 1e-308 -1e101; do
    spoils "a number like $number" ": relative $number: cannot be drawn (accepted: 0, and from 1e-100 to 1e100)" \
        "/^cpu,faa,1,1,/s/,[^,]*,\\([^,]*\\),\\([a-z]*\\)\$/,$number,\\1,\\2/"
done
spoils "an x that is too large" ": threads 1e308: cannot be drawn" 's/^cpu,faa,1,1,/cpu,faa,1e308,1,/'
spoils "a row twice" ": repeat 1 was in line " '/^cpu,faa,1,1,/p'
head -c -5 "$tmp/rows/kerbl-faa.csv" >"$tmp/spoilt/kerbl-faa.csv"
refuses "report, a half-written file" \
    1 "$tmp/spoilt/kerbl-faa.csv: its last line is incomplete (accepted: whole lines; ballast bench" \
    report "$tmp/spoilt"
rm "$tmp/spoilt/kerbl-faa.csv"
sed 's/^# suite kerbl-faa/# suite tomorrow/' "$tmp/rows/kerbl-faa.csv" >"$tmp/spoilt/tomorrow.csv"
refuses "report, a suite of another version" \
    1 "$tmp/spoilt/tomorrow.csv: rows of suite tomorrow, which this version does not have" report "$tmp/spoilt"
rm "$tmp/spoilt/tomorrow.csv"
mkfifo "$tmp/spoilt/kerbl-faa.csv"
refuses "report, a pipe for rows" 1 "$tmp/spoilt/kerbl-faa.csv: cannot be read: not a regular file" report "$tmp/spoilt"
rm "$tmp/spoilt/kerbl-faa.csv"
mkfifo "$tmp/spoilt/others.csv"
refuses "report, an unrelated pipe" 1 "$tmp/spoilt: contains no results" report "$tmp/spoilt"
mkfifo "$tmp/spoilt/fib.trace.json"
refuses "report, a pipe for a trace" 1 "$tmp/spoilt/fib.trace.json: cannot be read: not a regular file" \
    report "$tmp/spoilt"

rm -r "$tmp/spoilt"

succeeds "a run with a trace" run fib --n 18 --scheduler abp --device cpu --trace "$tmp/fib.trace.json"
traces() { # NAME WORDS SED-COMMANDS: a damaged trace
    mkdir -p "$tmp/traces"
    sed "$3" "$tmp/fib.trace.json" >"$tmp/traces/fib.trace.json"
    refuses "report, $1" 1 "$tmp/traces/fib.trace.json: $2" report "$tmp/traces"
}
traces "half of a trace" "incomplete, its end is missing (accepted: the whole file" '$d'
traces "not a trace" "not a trace (accepted: a file that ballast run APP --trace wrote)" '1s/traceEvents/events/'
traces "a trace of nothing" "contains no spans" '/"ph": "X"/d'
for change in 's/"tid": [0-9]*/"tid": 1e99/' 's/"tid": [0-9]*/"tid": 16777215/' 's/"tid": [0-9]*/"tid": -1/' \
    's/"dur": [0-9.]*/"dur": inf/' 's/"dur": [0-9.]*/"dur": nan/' 's/"ts": [0-9.]*/"ts": 1e400/'; do
    sed "/\"ph\": \"X\"/$change" "$tmp/fib.trace.json" >"$tmp/traces/fib.trace.json"
    refuses "report, a trace, $change" 1 ": invalid span" report "$tmp/traces"
done
traces "a trace of no time at all" "contains no spans" \
    '/"ph": "X"/s/"ts": [0-9.]*/"ts": 0/;/"ph": "X"/s/"dur": [0-9.]*/"dur": 1e-320/'
sed 's/"name": "task"/"name": "dream"/' "$tmp/fib.trace.json" >"$tmp/traces/fib.trace.json"
refuses "report, a span of another version" 1 ": invalid span" report "$tmp/traces"

mkdir "$tmp/path"
name="report without gnuplot"
status=0
PATH=$tmp/path "$tool" report "$tmp/rows" >"$tmp/out" 2>"$tmp/err" || status=$?
if [ "$status" -eq 1 ] && [ "$(lines "$tmp/err")" -eq 1 ] &&
    grep -q "^ballast: gnuplot: not found; .*apt-get install gnuplot-nox" "$tmp/err" &&
    [ ! -e "$tmp/rows/report.html" ]; then
    ok "$name"
else
    not_ok "$name" "expected one line that says what to install, status 1, and no page"
fi

if command -v gnuplot >/dev/null 2>&1; then
    says "report" "^$tmp/rows/report.html: [0-9]* experiments, 0 timelines$" report "$tmp/rows"
    cp "$tmp/rows/report.html" "$tmp/page"
    refuses "report, a page that is there" \
        2 "$tmp/rows/report.html: already exists (accepted: another --out, or --force to overwrite it)" \
        report "$tmp/rows"
    if cmp -s "$tmp/rows/report.html" "$tmp/page"; then
        ok "report leaves the page that is there"
    else
        not_ok "report leaves the page that is there" "expected the same page"
    fi
    says "report --force" "report.html: [0-9]* experiments, 0 timelines$" report "$tmp/rows" --force
    cp "$tmp/fib.trace.json" "$tmp/traces/fib.trace.json"
    says "report of traces alone" "report.html: 0 experiments, 1 timeline$" report "$tmp/traces"
    says "report --out" "^$tmp/own.html: [0-9]* experiments, 0 timelines$" report "$tmp/rows" --out "$tmp/own.html"
    refuses "report, --out in no folder" 1 "--out $tmp/no/page.html: cannot be written: No such file" \
        report "$tmp/rows" --out "$tmp/no/page.html"
    refuses "report, --out is a folder" 1 "--out $tmp/none: cannot be written: Is a directory" report "$tmp/rows" \
        --out "$tmp/none"
    if [ -e /dev/full ]; then
        refuses "report, a full disk" 1 "--out /dev/full: cannot be written: No space left" report "$tmp/rows" \
            --out /dev/full
    fi
else
    echo "skipped: pages need gnuplot"
fi

# ---- output files ----

f=$tmp/files
mkdir "$f"
printf '0 1\n1 0\n' >"$f/graph.txt"
writes() { # OPTION PATH [--force]: a call that writes a file there
    case $1 in
    --trace) call run fib --n 10 --device cpu --trace "$2" ;;
    --output) call run pagerank --graph "$f/graph.txt" --device cpu --output "$2" ;;
    --out) call report "$tmp/rows" --out "$2" ${3:-} ;;
    --checkpoint) call run uts --tree T1 --device cpu --workers 2 --time-limit 0.05 --checkpoint "$2" ;;
    esac
    case $1 in
    --checkpoint) [ "$status" -eq 1 ] ;;
    *) [ "$status" -eq 0 ] ;;
    esac
}
options="--trace --output --checkpoint"
if command -v gnuplot >/dev/null 2>&1; then
    options="$options --out"
fi
for option in $options; do
    rm -f "$f/link" "$f/file"
    ln -s file "$f/link"
    if writes $option "$f/link" && [ -L "$f/link" ] && [ -s "$f/file" ]; then
        ok "$option through a link to nothing yet"
    else
        not_ok "$option through a link to nothing yet" "expected the link, and what it leads to"
    fi
    echo old >"$f/file"
    chmod 600 "$f/file"
    force=
    [ $option = --out ] && force=--force
    if writes $option "$f/link" $force && [ -L "$f/link" ] && [ "$(stat -c %a "$f/file")" = 600 ] &&
        [ "$(head -c 3 "$f/file")" != old ]; then
        ok "$option through a link keeps the mode of its file"
    else
        not_ok "$option through a link keeps the mode of its file" "expected a new file with mode 600"
    fi
    [ $option = --checkpoint ] && continue
    # Not /dev/stdout itself: a bug here must not damage the machine.
    rm -f "$f/stdout"
    ln -s /proc/self/fd/1 "$f/stdout"
    if writes $option "$f/stdout" && [ -L "$f/stdout" ] && [ "$(lines "$tmp/out")" -gt 1 ]; then
        ok "$option to standard output that is a file"
    else
        not_ok "$option to standard output that is a file" "expected all of it there, and the link as it was"
    fi
    rm -f "$f/pipe"
    mkfifo "$f/pipe"
    timeout 60 cat "$f/pipe" >"$f/read" &
    if writes $option "$f/pipe" && wait $! && [ -p "$f/pipe" ] && [ -s "$f/read" ]; then
        ok "$option to a pipe"
    else
        not_ok "$option to a pipe" "expected all of it there, and the pipe as it was"
    fi
done

# A file with a predictable temporary name must not be touched, and two writers must not disturb each other.
echo mine >"$f/mine"
ln -s mine "$f/check.part"
writes --checkpoint "$f/check"
if [ -L "$f/check.part" ] && [ "$(cat "$f/mine")" = mine ] && [ -s "$f/check" ]; then
    ok "a checkpoint follows no link of another name"
else
    not_ok "a checkpoint follows no link of another name" "expected mine as it was"
fi
both=0
for i in 1 2 3; do
    timeout 60 "$tool" run uts -t 1 -a 3 -d 9 -b 4 -r 19 --workers 1 --device cpu --checkpoint "$f/shared" \
        --checkpoint-every 0.002 >"$tmp/first" 2>&1 &
    call run uts -t 1 -a 3 -d 9 -b 4 -r 19 --workers 1 --device cpu --checkpoint "$f/shared" --checkpoint-every 0.002
    wait $! && [ "$status" -eq 0 ] && both=$((both + 1))
done
cp "$tmp/first" "$tmp/out"
if [ $both -eq 3 ]; then
    ok "two write one checkpoint"
else
    not_ok "two write one checkpoint" "expected both to succeed each time, not $both times of 3"
fi
says "what two wrote is whole" "^checked  *[kt]" run uts -t 1 -a 3 -d 9 -b 4 -r 19 --device cpu --resume "$f/shared"

# A writer killed at any moment leaves a whole file or none. (This needs a file system with O_TMPFILE.)
mkdir "$tmp/killed"
left=
for delay in 0.1 0.15 0.2 0.25 0.3 0.4; do
    rm -f "$tmp/killed/check"
    timeout -s KILL $delay "$tool" run octree --particles 2M --device cpu --time-limit 1e-6 \
        --checkpoint "$tmp/killed/check" >"$tmp/out" 2>&1
    left=$left$(find "$tmp/killed" -type f ! -name check)
done
if [ -z "$left" ]; then
    ok "killed, and nothing left behind"
else
    not_ok "killed, and nothing left behind" "expected no other file than check, not $left"
fi

# ---- wrong words ----

refuses "no command" 2 "command missing (accepted: list, run"
refuses "unknown command" 2 "jump: unknown command (accepted: list, run" jump
refuses "unknown option before a command" 2 "--jump: unknown option" --jump
refuses "no app" 2 "APP missing (accepted: " run
refuses "unknown app" 2 "nothing: unknown app (accepted: " run nothing
refuses "app over two lines" 2 "unknown app (accepted: " run "no
thing"
refuses "two apps" 2 "octree: unexpected after uts" run uts octree
refuses "an app's option before the app" 2 "--tree: unknown option of run before APP" run --tree T0 uts
refuses "unknown option" 2 "--worker: unknown option of run, nearest is --workers (accepted: --device, " \
    run uts --worker 2
refuses "option of another app" 2 "--particles: unknown option of run" run uts --particles 5
export BALLAST_WORKERS=two
refuses "BALLAST_WORKERS" 2 "ballast: BALLAST_WORKERS two: not a number of workers (accepted: 1 or more)" \
    run uts --tree T0 --device cpu
unset BALLAST_WORKERS
refuses "value missing at the end" 2 "--workers: value missing (accepted: --workers N" run uts --workers
refuses "value missing before an option" 2 "--workers: value missing" run uts --workers --json
refuses "value missing after =" 2 "--workers: value missing" run uts --workers=
refuses "empty value" 2 "--scheduler: value missing" run uts --scheduler ""
refuses "value missing of an app's option" 2 "--tree: value missing" run uts --tree
refuses "option given twice" 2 "--seed: given twice" run uts --seed 1 --seed=2
refuses "value for a flag" 2 "--json=yes: takes no value" run uts --json=yes
refuses "check and no check" 2 "--check: contradicts --no-check" run uts --check --no-check

# ---- wrong names ----

refuses "unknown scheduler" 2 "unknown scheduler nothing (accepted: auto, " run uts --scheduler nothing
refuses "unknown policy" 2 "unknown policy nothing (accepted: " run uts --scheduler nothing:abp
refuses "policy without its queue" 2 "--scheduler steal: this policy needs a queue (accepted: steal:" \
    run uts --scheduler steal
refuses "unknown queue" 2 "unknown queue nothing (accepted: steal:" run uts --scheduler steal:nothing
refuses "policy and queue that do not fit" 2 "policy static does not support queue abp (accepted: static" run uts \
    --scheduler static:abp
refuses "unknown device" 2 "--device abacus: unknown device (accepted: auto, cpu, cuda, cuda:N, sim)" \
    run uts --device abacus
refuses "device number that is none" 2 "--device cuda:x: unknown device" run uts --device cuda:x
refuses "GPU that is not there" \
    2 "--device cuda:999: no usable GPU here (accepted: auto, cpu, cuda, cuda:N, sim, several that share" run uts \
    --device cuda:999
if ! timeout 60 "$tool" list devices | grep -q "^  cuda:"; then
    refuses "no GPU at all" \
        2 "--device cuda: no usable GPU here (accepted: auto, cpu, cuda, cuda:N, sim, several that share" \
        run uts --device cuda
fi
refuses "unknown group" 2 "--group grid: unknown group (accepted: lane, warp, block:LANES" run uts --group grid
refuses "group without lanes" 2 "--group block:0: unknown group" run uts --group block:0
refuses "group that the device does not have" 2 "--group warp: " run uts --tree T0 --device cpu --group warp
refuses "unknown victims" 2 "--victims all: unknown (accepted: round-robin, random)" run uts --victims all
refuses "unknown steal" 2 "--steal all: unknown (accepted: one, half)" run uts --steal all
refuses "unknown tree" 2 "--tree" run uts --tree nothing
refuses "unknown distribution" 2 "--distribution" run octree --distribution nothing

# ---- wrong numbers ----

for option in --workers --repeat --capacity --private --pop --seed; do
    refuses "$option negative" 2 "$option -1: not a whole number (accepted: " run uts "$option" -1
    refuses "$option not a number" 2 "$option many: not a whole number (accepted: " run uts "$option" many
    refuses "$option not whole" 2 "$option 1.5: not a whole number (accepted: " run uts "$option" 1.5
    refuses "$option too large" 2 "$option 99999999999999999999: out of range (accepted: " run uts "$option" \
        99999999999999999999
done
for option in --workers --repeat --capacity; do
    refuses "$option 0" 2 "$option 0: out of range (accepted: 1 to " run uts "$option" 0
done
refuses "--repeat out of range" 2 "--repeat 1001: out of range (accepted: 1 to 1000" run uts --repeat 1001
refuses "--workers out of range" 2 "--workers 5G: out of range" run uts --workers 5G
for value in -1 0 nan inf soon; do
    refuses "--stall $value" 2 "--stall $value: not a time" run uts --stall "$value"
done
for option in --particles --threshold --max-depth; do
    for value in -1 many 1.5 99999999999999999999; do
        refuses "octree $option $value" 2 "$option" run octree "$option" "$value"
    done
done
for value in -1 many 1.5 0 19 99999999999999999999; do
    refuses "nqueens --n $value" 2 "--n: \"$value\" is invalid; accepted: a whole number from 1 to 18" \
        run nqueens --n "$value"
done
for value in -1 many 1.5 0 6 99999999999999999999; do
    refuses "transform --chunk $value" 2 "--chunk: \"$value\" is invalid; accepted: a multiple of 4" \
        run transform --chunk "$value"
done
refuses "transform --pattern" 2 "--pattern: \"all\" is invalid; accepted: regular, half or third" \
    run transform --pattern all
refuses "transform --elements" 2 "--elements: \"many\" is invalid; accepted: a whole number" \
    run transform --elements many
refuses "--pop for tasks one by one" 2 "--pop 2: uts takes its tasks one by one" run uts --tree T0 --device cpu --pop 2
for value in -1 many 1.5 61 99999999999999999999; do
    refuses "fib --n $value" 2 "--n: \"$value\" is invalid; accepted: a whole number from 0 to 60" run fib --n "$value"
done
refuses "octree --threshold 0" 2 "--threshold" run octree --particles 100 --threshold 0
printf '0 0 0\n1 1 1\n' >"$tmp/two.xyz"
for option in "--particles 5" "--distribution tube"; do
    refuses "octree $option with --input" 2 "${option% *}: contradicts --input (accepted: one of the two)" \
        run octree $option --input "$tmp/two.xyz"
done
refuses "octree --tasks" 2 '--tasks: "leaves" is unknown; accepted: octants, pieces' run octree --tasks leaves
refuses "octree, pieces that may be stopped" 2 "--tasks pieces: such a run cannot be stopped and resumed" \
    run octree --particles 1k --tasks pieces --time-limit 60 --device cpu
refuses "octree --max-depth out of range" 2 "--max-depth" run octree --max-depth 99
for option in -t -a -d -b -q -m -r; do
    refuses "uts $option not a number" 2 "$option" run uts "$option" many
    refuses "uts $option negative" 2 "$option" run uts "$option" -1
done
refuses "uts -t out of range" 2 "-t" run uts -t 9
for option in -a -d; do
    refuses "uts $option of a binomial tree" 2 "$option: a binomial tree does not use it (accepted with -t 1, -t 2)" \
        run uts -t 0 -b 9 $option 1
done
for option in -q -m; do
    refuses "uts $option of a geometric tree" 2 "$option: a geometric tree does not use it (accepted with -t 0, -t 2)" \
        run uts --tree T1 $option 0
done
refuses "uts -q above 1" 2 "-q" run uts -t 0 -b 2 -q 1.5 -m 2 -r 1

# ---- files: bad contents exit with 1; an unsupported kind of file is wrong usage and exits with 2 ----

input() { # NAME STATUS FILE WORDS
    refuses "input: $1" "$2" "$4" run octree --input "$tmp/$3"
}

: >"$tmp/empty.xyz"
: >"$tmp/empty.f32le"
: >"$tmp/empty.ply"
: >"$tmp/empty.xyz.gz"
mkdir "$tmp/folder.xyz"
printf '0 0 0\n1 1\n' >"$tmp/cut.xyz"
printf '0123456789' >"$tmp/cut.f32le"
printf 'ply\nformat ascii 1.0\nelement vertex 5\nproperty float x\nproperty float y\nproperty float z\nend_header\n1 2 3\n' \
    >"$tmp/cut.ply"
printf '\037\213\010\000\000\000' >"$tmp/cut.xyz.gz"
printf '\177ELF\001\002\000\000\377\376\n\000\001' >"$tmp/binary.xyz"
printf '\177ELF\001\002\000\000\377\376\n\000\001' >"$tmp/binary.ply"
printf '\377\376\000\001binary' >"$tmp/binary.xyz.gz"
printf '0 0 0\nnan 1 1\n' >"$tmp/nan.xyz"
printf '0 0 0\n1 inf 1\n' >"$tmp/inf.xyz"
printf '\000\000\000\000\000\000\300\177\000\000\000\000' >"$tmp/nan.f32le"
printf '1 2 3\n' >"$tmp/points.doc"
input "missing file" 1 missing.xyz "missing.xyz: "
input "missing .ply" 1 missing.ply "missing.ply: "
input "folder" 1 folder.xyz "folder.xyz: "
input "unknown kind" 2 points.doc "points.doc: "
for file in empty.xyz empty.f32le empty.ply empty.xyz.gz cut.xyz cut.f32le cut.ply cut.xyz.gz binary.xyz binary.ply \
    binary.xyz.gz nan.xyz inf.xyz nan.f32le; do
    input "$file" 1 "$file" "$file: "
done

printf '0 1\n1 2\n2 0\n# a comment\n2 3\n3 3\n' >"$tmp/small.txt"
printf '%%%%MatrixMarket matrix coordinate pattern general\n3 3 2\n1 2\n2 1\n' >"$tmp/small.mtx"
graph() { # FILE WORDS: is rejected, and nothing is written
    refuses "graph: $1" 1 "$1: $2" run pagerank --graph "$tmp/$1" --output "$tmp/scores.out"
    if [ -n "$(find "$tmp" -name 'scores.out*')" ]; then
        not_ok "graph: $1 leaves no output" "expected no file"
    fi
}
: >"$tmp/empty.txt"
printf '0 1\n1 two\n' >"$tmp/word.txt"
printf '0 1\n-1 2\n' >"$tmp/negative.txt"
printf '0 1\n1 99999999999\n' >"$tmp/huge.txt"
printf '0 1\n1 2' >"$tmp/cut.txt"
printf '\037\213\010\000\000\000' >"$tmp/cut.snap.gz"
printf '%%%%MatrixMarket matrix array real general\n3 3\n' >"$tmp/array.mtx"
printf '%%%%MatrixMarket matrix coordinate pattern general\n3 3 2\n1 2\n' >"$tmp/few.mtx"
printf '%%%%MatrixMarket matrix coordinate pattern general\n3 3 1\n1 2\n2 1\n' >"$tmp/many.mtx"
printf '%%%%MatrixMarket matrix coordinate pattern general\n3 3 1\n1 4\n' >"$tmp/range.mtx"
graph missing.txt "cannot be opened"
graph empty.txt "is empty"
graph word.txt 'line 2: "two" is not a node number'
graph negative.txt 'line 2: "-1" is not a node number'
graph huge.txt 'line 2: "99999999999" is not a node number'
graph cut.txt "line 2: the end of the line is missing"
graph cut.snap.gz ""
graph array.mtx "line 1: expected"
graph few.mtx "line 4: the file ends after 1 entries; line 2 declares 2"
graph many.mtx "line 4: more than the 1 entries"
graph range.mtx 'line 3: "4" is not a column of this matrix'
refuses "pagerank without a graph" 2 "--graph: FILE missing" run pagerank
refuses "pagerank, two lengths" 2 "--tolerance: contradicts --iterations" run pagerank --graph "$tmp/small.txt" \
    --iterations 8 --tolerance 1e-9
for pair in --iterations=0 --iterations=1.5 --iterations=-1 --tolerance=0 --tolerance=1e-20 --tolerance=nan \
    --damping=0 --damping=1.1 --damping=-1 --block=0 --block=5000; do
    refuses "pagerank $pair" 2 "${pair%%=*}: " run pagerank --graph "$tmp/small.txt" "$pair"
done
refuses "pagerank, a tolerance that may never come" 2 "--tolerance: " run pagerank --graph "$tmp/small.txt" \
    --tolerance 1e-9 --damping 1
refuses "pagerank, output in no folder" 1 "--output $tmp/no/where: cannot be written" \
    run pagerank --graph "$tmp/small.txt" --device cpu --output "$tmp/no/where"

# ---- calls that must work ----

says "summary" "^checked  *known$" run uts --tree T0 --device cpu
says "summary lines up the app's result" "^nodes         6$" run uts --tree T0 --device cpu
says "JSON object" \
    '^{"app": "uts", "device": "cpu", "device_name": ".*", "scheduler": "[^"]*", "workers": [0-9]*, "group": "[^"]*", "status": "complete", "tasks": [0-9]*, "seconds": [^ ]*, "seconds_all": \[[^]]*\], "wall_seconds": [^ ]*, "tasks_per_second": [^ ]*, "peak_tasks": [0-9]*, "paper_tasks": [0-9]*, "peak_bytes": [0-9]*, "steals": [0-9]*, "steal_attempts": [0-9]*, "balance": [^ ]*, "result": {"nodes": 6, "leaves": 5, "depth": 1}, "checked": "known", "version": "[^"]*"}$' \
    run uts --tree T0 --device cpu --json
json "tree by its parameters" "nodes=16000 leaves=12839 depth=6" run uts -t 1 -a 3 -d 6 -b 4 -r 19 --device cpu \
    --json
json "nqueens" "tasks=856188 solutions=14200 checked=known" run nqueens --device cpu --json
json "nqueens, one queen" "tasks=1 solutions=1 checked=known" run nqueens --n 1 --device cpu --json
says "nqueens, summary" "^solutions     92$" run nqueens --n 8 --device cpu
json "fib" "tasks=2692537 value=832040 checked=known" run fib --device cpu --json
json "fib of nothing" "tasks=1 value=0 checked=known" run fib --n 0 --device cpu --json
says "fib, summary" "^value         55$" run fib --n 10 --device cpu
json "no particles" "particles=0 leaves=0 placed=0" run octree --particles 0 --device cpu --json
json "one particle" "particles=1 leaves=1 placed=1" run octree --particles 1 --device cpu --json
json "--no-check" "checked=no" run uts --tree T0 --no-check --device cpu --json
json "octree, a task per octant" "tasks=9 nodes=73 leaves=64 checked=twin" \
    run octree --particles 300 --tasks octants --device cpu --json
json "octree, pieces" "tasks=2 nodes=73 leaves=64 scheduler=list:faa checked=twin" \
    run octree --particles 300 --tasks pieces --scheduler list:faa --device cpu --json
json "octree, pieces by lanes" "checked=twin" \
    run octree --particles 3k --tasks pieces --group lane --device sim --json
json "--check" "checked=twin" run octree --particles 2k --check --device cpu --json
json "more workers than cores" "workers=64 checked=twin" run octree --particles 20k --workers 64 --device cpu --json
json "bound workers" "workers=2 checked=twin" run octree --particles 20k --workers 2 --bind --device cpu --json
refuses "--bind where there are no cores" 2 "--bind: only workers on the CPU can be bound to cores" \
    run uts --tree mini_T1_d3 --bind --device sim
if command -v taskset >/dev/null 2>&1; then
    # Only the last core that this process may use.
    core=$(taskset -cp $$ | sed 's/.*[ ,-]//')
    for bind in "" --bind; do
        status=0
        # shellcheck disable=SC2086 # an option or none
        taskset -c "$core" timeout 60 "$tool" run fib --n 12 --device cpu $bind --json >"$tmp/out" 2>"$tmp/err" ||
            status=$?
        if [ "$status" -eq 0 ] && [ "$(member workers)" = 1 ]; then
            ok "as many workers as the affinity mask has cores $bind"
        else
            not_ok "as many workers as the affinity mask has cores $bind" "expected one worker"
        fi
    done
fi
json "one worker" "workers=1 checked=twin" run octree --particles 20k --workers 1 --device cpu --json
json "options before the app" "app=uts checked=known" run --json --device cpu uts --tree T0
json "device auto" "app=uts checked=known" run uts --tree T0 --json
says "--repeat 3" '"seconds_all": \[[^],]*, [^],]*, [^],]*\]' run uts --tree T0 --repeat 3 --device cpu --json
says "--repeat in the summary" "^seconds .* (median of 3, " run uts --tree T0 --repeat=3 --device cpu

i=0
while [ $i -lt 100 ]; do
    echo "0.5 -2 7e3"
    i=$((i + 1))
done >"$tmp/equal.xyz"
json "all particles equal" "particles=100 leaves=1 depth=20 placed=100 checked=twin" \
    run octree --input "$tmp/equal.xyz" --device cpu --json
json "all particles equal, --max-depth 5" "leaves=1 depth=5" run octree --input "$tmp/equal.xyz" \
    --max-depth 5 --device cpu --json

# ---- timelines ----

# The counters of a run equal those in its trace, both the stated totals and the sums over all spans.
sum() { # FILE MEMBER
    grep '"ph": "X"' "$1" | sed -n "s/.*\"$2\": \([0-9]*\).*/\1/p" | awk '{n += $1} END {printf "%d", n}'
}

traces() { # NAME ARGUMENTS...
    name=$1
    shift
    rm -f "$tmp/trace.json"
    succeeds "$name" run "$@" --trace "$tmp/trace.json" --json || return 0
    for counter in tasks steals; do
        expected=$(member $counter)
        if [ "$(sed -n "1s/.*\"$counter\": \([0-9]*\).*/\1/p" "$tmp/trace.json")" != "$expected" ] ||
            [ "$(sum "$tmp/trace.json" $counter)" != "$expected" ]; then
            not_ok "$name" "expected $expected $counter in the trace"
            return 0
        fi
    done
    if command -v python3 >/dev/null 2>&1 && ! python3 -m json.tool "$tmp/trace.json" >/dev/null 2>&1; then
        not_ok "$name" "expected a trace that is JSON"
        return 0
    fi
    ok "$name"
}

for device in cpu sim; do
    for scheduler in auto static abp blocking; do
        traces "--trace, $device, $scheduler" octree --particles 2000 --workers 4 --device $device \
            --scheduler $scheduler
    done
done
traces "--trace --repeat 3" uts --tree mini_T1_d7 --repeat 3 --device cpu
if grep -q '"name": "task", "ph": "X", "ts": [0-9.]*, "dur": [0-9.]*, "pid": 1, "tid": [0-9]*, "args": {"launch": 0, "tasks": ' \
    "$tmp/trace.json" && grep -q '"thread_name".*"worker 0"' "$tmp/trace.json"; then
    ok "--trace has workers and what they did"
else
    not_ok "--trace has workers and what they did" "expected a span with tasks"
fi
coloured() { # NAME COLOUR: whether all spans of that name have this colour
    ! grep "{\"name\": \"$1\", \"ph\": \"X\"" "$tmp/fib.trace.json" | grep -v "}, \"cname\": \"$2\"},\{0,1\}$" |
        grep -q .
}
if grep -q '"name": "task"' "$tmp/fib.trace.json" && coloured task thread_state_running &&
    coloured search thread_state_iowait &&
    coloured steal thread_state_iowait && coloured idle thread_state_sleeping; then
    ok "--trace: work, search and idleness have their colours"
else
    not_ok "--trace: work, search and idleness have their colours" \
        "expected a cname that chrome://tracing knows in every span"
fi
traces "--trace of several runs" pagerank --graph "$tmp/small.txt" --iterations 17 --device cpu
traces "--trace of nothing" octree --particles 0 --device cpu
traces "--trace of pauses" octree --particles 2000 --capacity 2 --private 0 --device cpu
refuses "--trace into no folder" 1 "--trace $tmp/no/trace.json: cannot be written: No such file" \
    run uts --tree T0 --device cpu --trace "$tmp/no/trace.json"
refuses "--trace without a name" 2 "--trace: value missing (accepted: --trace FILE: " run uts --tree T0 --trace ""
rm -f "$tmp/trace.json"
refuses "--trace of a rejected run" 1 "$tmp/no/file.xyz" run octree --input "$tmp/no/file.xyz" \
    --device cpu --trace "$tmp/trace.json"
if [ -e "$tmp/trace.json" ]; then
    not_ok "--trace of a rejected run leaves no file" "expected no file"
else
    ok "--trace of a rejected run leaves no file"
fi

# ---- files that an app writes ----

json "octree --output" "particles=2000 checked=twin" run octree --particles 2000 --output "$tmp/tree.txt" \
    --device cpu --json
nodes=$(member nodes)
leaves=$(member leaves)
if [ "$(grep -c '^node r[0-7]* ' "$tmp/tree.txt")" -eq "$nodes" ] &&
    [ "$(grep -c ' leaf$' "$tmp/tree.txt")" -eq "$leaves" ] &&
    [ "$(grep -c '^particle ' "$tmp/tree.txt")" -eq 2000 ] &&
    [ "$(awk '$1 == "node" && $NF == "leaf" {n += $9} END {print n}' "$tmp/tree.txt")" -eq 2000 ] &&
    grep '^node ' "$tmp/tree.txt" | cut -d ' ' -f 2 | LC_ALL=C sort -c &&
    grep -q '^node r 0 0 0 0 1 0 2000 inner$' "$tmp/tree.txt"; then
    ok "octree --output has every node, leaf and particle"
else
    not_ok "octree --output has every node, leaf and particle" \
        "expected $nodes nodes, $leaves leaves, 2000 particles, by path"
fi
for device in cpu sim; do
    for scheduler in auto static abp blocking; do
        json "octree --output, $device, $scheduler" "checked=twin" \
            run octree --particles 2000 --output "$tmp/other.txt" --device $device --scheduler $scheduler --json
        if ! cmp "$tmp/tree.txt" "$tmp/other.txt"; then
            not_ok "octree --output, $device, $scheduler: the same tree" "expected the same file"
        fi
    done
done
json "octree --output without check" "checked=no" run octree --particles 20 --no-check --output "$tmp/other.txt" \
    --device cpu --json
if [ "$(grep -v '^#' "$tmp/other.txt" | head -n 1)" = "node r 0 0 0 0 1 0 20 leaf" ]; then
    ok "octree --output of a single leaf"
else
    not_ok "octree --output of a single leaf" "expected the root to be a leaf"
fi
json "octree --output of nothing" "nodes=0" run octree --particles 0 --output "$tmp/other.txt" --device cpu --json
refuses "--output into no folder" 1 "--output $tmp/no/tree.txt: cannot be written: No such file" \
    run octree --particles 20 --output "$tmp/no/tree.txt" --device cpu
mkdir "$tmp/folder"
refuses "--trace into no folder is known before hours of work" 1 "--trace $tmp/no/trace.json: cannot be written" \
    run uts --tree T1WL --device cpu --trace "$tmp/no/trace.json"
refuses "--output into no folder is known before hours of work" 1 "--output $tmp/no/tree.txt: cannot be written" \
    run octree --particles 500k --repeat 1000 --output "$tmp/no/tree.txt" --device cpu
name="a run killed while writing leaves nothing behind"
"$tool" run octree --particles 1M --no-check --output "$tmp/killed.txt" --device cpu >"$tmp/out" 2>"$tmp/err" &
writer=$!
while kill -0 $writer 2>/dev/null; do
    for file in "$tmp"/killed.txt.*; do # an empty file only tests whether the path is writable
        [ -s "$file" ] && kill -TERM $writer 2>/dev/null
    done
done
status=0
wait $writer || status=$?
if ls "$tmp"/killed.txt.* >/dev/null 2>&1; then
    not_ok "$name" "expected no temporary file"
else
    ok "$name"
fi
refuses "--output to a folder" 1 "--output $tmp/folder: cannot be written: Is a directory" run octree --particles 20 \
    --output "$tmp/folder" --device cpu
if [ -e /dev/full ]; then
    refuses "--output to a full disk" 1 "--output /dev/full: cannot be written: No space left" \
        run octree --particles 20 --output /dev/full --device cpu
fi
if [ -c /dev/null ] && [ -z "$(ls "$tmp" | grep '\.txt\.')" ] && [ -z "$(ls "$tmp/folder")" ]; then
    ok "no temporary file is left"
else
    not_ok "no temporary file is left" "expected none in $(ls "$tmp")"
fi

json "pagerank" "nodes=4 edges=5 iterations=8 checked=twin" run pagerank --graph "$tmp/small.txt" --device cpu --json
says "pagerank, the top" \
    '"top": \[\[3, 0.6257903[0-9]*\], \[2, 0.1496625[0-9]*\], \[1, 0.1234405[0-9]*\], \[0, 0.1011065[0-9]*\]\]}' \
    run pagerank --graph "$tmp/small.txt" --device cpu --json
says "pagerank, the top as text" "^top_1  *3 0.6257903" run pagerank --graph "$tmp/small.txt" --device cpu
json "pagerank, Matrix Market" "nodes=3 edges=2 iterations=3" run pagerank --graph "$tmp/small.mtx" \
    --iterations 3 --device cpu --json
json "pagerank --tolerance" "nodes=4 iterations=24 checked=twin" run pagerank --graph "$tmp/small.txt" \
    --tolerance 1e-4 --device cpu --output "$tmp/scores.txt" --json
if [ "$(cut -d ' ' -f 1 "$tmp/scores.txt" | tr '\n' ' ')" = "0 1 2 3 " ] &&
    ! grep -qv '^[0-9] 0\.[0-9]*$' "$tmp/scores.txt" &&
    [ "$(find "$tmp" -name 'scores.txt*' | wc -l)" -eq 1 ]; then
    ok "pagerank --output"
else
    not_ok "pagerank --output" "expected a line per node, and no other file"
fi

if [ -e /dev/full ]; then
    status=0
    timeout 60 "$tool" list >/dev/full 2>"$tmp/err" || status=$?
    : >"$tmp/out"
    if [ "$status" -eq 1 ] && [ "$(lines "$tmp/err")" -eq 1 ]; then
        ok "output that cannot be written"
    else
        not_ok "output that cannot be written" "expected one line and status 1"
    fi
fi

# ---- every scheduler ----

json "octree to compare with" "checked=twin" run octree --particles 2000 --device cpu --json
digest=$(member digest)
for device in cpu sim; do
    for app in uts octree; do
        if [ -z "$(schedulers $app $device)" ]; then
            status=0
            not_ok "$app has schedulers on $device" \
                "expected some from list schedulers --app $app --device $device --json"
        fi
    done
    for scheduler in $(schedulers uts $device); do
        json "uts T0, $device, $scheduler" "scheduler=$scheduler nodes=6 leaves=5 checked=known" run uts --tree T0 \
            --device $device --scheduler "$scheduler" --json
    done
    for scheduler in $(schedulers octree $device); do
        json "octree, $device, $scheduler" "scheduler=$scheduler digest=$digest checked=twin" \
            run octree --particles 2000 --device $device --scheduler "$scheduler" --json
    done
done
# A stealing policy that a scheduler does not support is rejected; a size that it does not use is ignored with a note.
unused() { # SCHEDULER OPTION [VALUE] USERS
    refuses "$2 with $1" 2 "--${2#--}: $1 does not support it (accepted with $4)" \
        run fib --n 5 --device cpu --scheduler "$1" ${2%% *} $3
}
for scheduler in $(schedulers fib cpu); do
    case $scheduler in
    static:* | list:*)
        notes "--capacity with $scheduler" "--capacity 2: ignored by $scheduler" run fib --n 5 --device cpu \
            --scheduler "$scheduler" --capacity 2
        notes "--private with $scheduler" "--private 2: ignored by $scheduler" run fib --n 5 --device cpu \
            --scheduler "$scheduler" --private 2
        ;;
    esac
    case $scheduler in
    static:* | list:* | central:*)
        unused "$scheduler" --victims random "donate, range, steal"
        unused "$scheduler" "--steal half" half "donate, range, steal"
        ;;
    esac
    case $scheduler in
    static:* | list:* | central:* | range:*) unused "$scheduler" "--steal one" one "donate, steal" ;;
    esac
done
for scheduler in $(schedulers uts cpu); do
    case $scheduler in
    static:* | list:*) ;;
    *)
        json "uts, $scheduler, --capacity 2" "nodes=16000 leaves=12839" run uts -t 1 -a 3 -d 6 -b 4 -r 19 --capacity 2 \
            --device cpu --scheduler "$scheduler" --json
        ;;
    esac
    json "uts, $scheduler, --private 0" "nodes=16000 leaves=12839" run uts -t 1 -a 3 -d 6 -b 4 -r 19 --private 0 \
        --device cpu --scheduler "$scheduler" --json
    json "uts, $scheduler, 16 workers" "nodes=16000 leaves=12839" run uts -t 1 -a 3 -d 6 -b 4 -r 19 --workers 16 \
        --device cpu --scheduler "$scheduler" --json
done
for device in cpu sim; do
    for scheduler in $(schedulers fib $device); do
        json "fib, $device, $scheduler" "scheduler=$scheduler tasks=109 value=34 checked=known" \
            run fib --n 9 --device $device --scheduler "$scheduler" --json
    done
    for scheduler in $(schedulers nqueens $device); do
        json "nqueens, $device, $scheduler" "scheduler=$scheduler tasks=551 solutions=40 checked=known" \
            run nqueens --n 7 --device $device --scheduler "$scheduler" --json
    done
done
for scheduler in $(schedulers octree cpu); do
    capacity="--capacity 2"
    case $scheduler in
    static:* | list:*) capacity= ;;
    esac
    json "octree, $scheduler, $capacity --private 0" "digest=$digest" \
        run octree --particles 2000 $capacity --private 0 --device cpu --scheduler "$scheduler" --json
done
for victims in round-robin random; do
    for steal in one half; do
        json "--victims $victims --steal $steal" "digest=$digest" \
            run octree --particles 2000 --victims $victims --steal $steal --device cpu --json
    done
done

# ---- four in a row ----

drawn=22534453367345357621264552273777114164116 # and one cell left, in column 6
json "fourrow" "move=4 nodes=960792 checked=known" run fourrow --device cpu --json
says "fourrow, the values" '"result": {"move": 4, "values": \[3, 4, 4, 5, 4, 4, 3\], "nodes": 960792}, ' \
    run fourrow --device cpu --json
says "fourrow, a full column" '"move": [1-7], "values": \[[-0-9, ]*, null, [-0-9, ]*\], "nodes": 258}' \
    run fourrow --position 444444 --lookahead 3 --device cpu --json
says "fourrow, a full column as text" "^values  *[-0-9]* [-0-9]* [-0-9]* - [-0-9]* " \
    run fourrow --position 444444 --lookahead 3 --device cpu
says "fourrow, a win" '"move": 4, "values": \[[-0-9]*, [-0-9]*, [-0-9]*, 1000000, ' \
    run fourrow --position 414243 --lookahead 1 --device cpu --json
says "fourrow, a loss" \
    '"move": 1, "values": \[-1000000, -1000000, -1000000, -1000000, -1000000, -1000000, -1000000\]' run fourrow \
    --position 33445 --lookahead 2 --device cpu --json
says "fourrow, the last cell" '"move": 6, "values": \[null, null, null, null, null, 0, null\], "nodes": 1}' \
    run fourrow --position $drawn --device cpu --json
json "fourrow --solve" "score=-1 checked=twin" run fourrow \
    --position 2252576253462244111563365343671351441 --solve --device cpu --json
for group in lane warp block:16; do
    json "fourrow --solve, group $group" "score=-1 checked=twin group=$group" \
        run fourrow --position 2252576253462244111563365343671351441 --solve --device sim --group $group --json
done
json "fourrow --solve, a win at once" "move=4 score=18 checked=no" \
    run fourrow --position 414243 --solve --device cpu --json
json "fourrow --solve --check" "score=4 checked=twin" \
    run fourrow --position 5554224333234511764415115 --solve --check --device cpu --json
refuses "fourrow, no column" 2 "--position: character 3, '8', is not a column (accepted: 1 to 7)" \
    run fourrow --position 448
refuses "fourrow, a column that is full" 2 "--position: character 7: column 1 is full (accepted: " \
    run fourrow --position 1111111
refuses "fourrow, moves after a win" \
    2 "--position: character 8 comes after the end of the game (accepted: the first 7)" run fourrow --position 41424344
refuses "fourrow, a game that is won" 2 "--position: the game is over after 7 moves, won" run fourrow --position 4142434
refuses "fourrow, a full board" 2 "--position: the game is over after 42 moves, drawn" run fourrow --position ${drawn}6
for value in 0 43 -1 many; do
    refuses "fourrow --lookahead $value" \
        2 "--lookahead: \"$value\" is invalid; accepted: a whole number from 1 to 42, the cells that are free" \
        run fourrow --lookahead "$value"
done
refuses "fourrow, lookahead past the last cell" 2 "whole number from 1 to 1, the cells" \
    run fourrow --position $drawn --lookahead 2
refuses "fourrow, lookahead and solve" 2 "--lookahead: contradicts --solve" run fourrow --lookahead 3 --solve
refuses "fourrow, input without solve" 2 "--input: needs --solve" run fourrow --input "$tmp/games.txt"
refuses "fourrow, input and position" 2 "--position: contradicts --input" run fourrow --solve --input "$tmp/games.txt" \
    --position 4
printf '# moves score\n5554224333234511764415115 4\n52753311433677442422121 8\n\n2252576253462244111563365343671351441\n' \
    >"$tmp/games.txt"
json "fourrow --input" "positions=3 scored=2 right=2 checked=twin" run fourrow --solve --input "$tmp/games.txt" \
    --device cpu --json
says "fourrow --input, the scores" '"scores": \[4, 8, -1\]}, ' run fourrow --solve --input "$tmp/games.txt" \
    --device cpu --json
printf '5554224333234511764415115 5\n' >"$tmp/games.txt"
refuses "fourrow --input, a wrong score" 1 "line 1 of the input has the score 4, but 5 stands there" \
    run fourrow --solve --input "$tmp/games.txt" --device cpu
json "fourrow --input, unchecked" "scored=1 right=0 checked=no" run fourrow --solve --input "$tmp/games.txt" \
    --no-check --device cpu --json
printf '44\n4x\n' >"$tmp/games.txt"
refuses "fourrow --input, a bad line" 1 "games.txt: line 2: character 2, 'x', is not a column" \
    run fourrow --solve --input "$tmp/games.txt"
refuses "fourrow --input, no file" 1 "$tmp/missing: cannot be opened: " run fourrow --solve --input "$tmp/missing"
for file in Test_L2_R1 Test_L3_R1; do
    if [ -e "${BALLAST_DATA:-/nowhere}/connect4/$file" ]; then
        json "fourrow, $file" "positions=1000 right=1000 checked=known" \
            run fourrow --solve --input "$BALLAST_DATA/connect4/$file" --device cpu --json
    else
        echo "skipped: BALLAST_DATA has no connect4/$file"
    fi
done
for device in cpu sim; do
    for scheduler in $(schedulers fourrow $device); do
        json "fourrow, $device, $scheduler" "scheduler=$scheduler nodes=399 checked=known" \
            run fourrow --lookahead 3 --device $device --scheduler "$scheduler" --json
        json "fourrow --solve, $device, $scheduler" "scheduler=$scheduler score=-1 checked=twin" run fourrow --solve \
            --position 2252576253462244111563365343671351441 --device $device --scheduler "$scheduler" --json
    done
done

# ---- play ----

plays() { # NAME KEYS PATTERN ARGUMENTS...: one key per line; a line of the output must match PATTERN
    name=$1
    pattern=$3
    printf '%s\n' "$2" | sed 's/./&\n/g' >"$tmp/keys"
    shift 3
    status=0
    timeout 60 "$tool" play --device cpu "$@" <"$tmp/keys" >"$tmp/out" 2>"$tmp/err" || status=$?
    if [ "$status" -ne 0 ] || [ -s "$tmp/err" ]; then
        not_ok "$name" "expected status 0 and nothing on standard error"
    elif grep -q "$(printf '\033')" "$tmp/out"; then
        not_ok "$name" "expected no escape codes"
    elif ! grep -q -e "$pattern" "$tmp/out"; then
        not_ok "$name" "expected output like $pattern"
    else
        ok "$name"
    fi
}

plays "play and win" 5436 "^You win: four in a row.$" --lookahead 1
plays "play and lose" 155 "^You lose: the computer has four in a row.$" --lookahead 1 --side second
plays "play and draw" 253125532637444476667 "^A draw: the board is full.$" --lookahead 1
plays "play, a full column" 253125532637444476661q "^Column 1 is full (accepted: " --lookahead 1
plays "play, no such key" 9q '^"9" is not a move (accepted: 1 to 7, u undo, h hint, r resign, q quit).$'
plays "play, to undo" 4uq "^The computer plays [1-35-7].$" --lookahead 3
# 6 rows of the empty board, 5 after each of two moves, 6 again.
if [ "$(grep -c '^ \. \. \. \. \. \. \.$' "$tmp/out")" -eq 22 ]; then
    ok "play, undo"
else
    not_ok "play, undo" "expected the empty board again"
fi
plays "play, nothing to undo" uq "^There is nothing to undo.$"
plays "play, hint" hq "^Hint: 4.$"
plays "play, a hint that wins" 543h "^Hint: [1-7].$" --lookahead 1
plays "play, resign" r "^You resign: the computer wins.$"
plays "play, the end of the input" "" "^Your move "
plays "play second" q "^The computer plays 4.$" --side second
says "play, no input" "^Your move " play --device cpu
refuses "play, unknown side" 2 "--side third: unknown (accepted: first, second)" play --side third
refuses "play, lookahead 0" 2 "--lookahead 0: out of range (accepted: 1 to 42" play --lookahead 0
refuses "play, unknown device" 2 "--device abacus: unknown device" play --device abacus
refuses "play, no such GPU" 2 "--device cuda:999: no usable device here" play --device cuda:999
refuses "play, a word" 2 "chess: unknown word" play chess

# ---- verify ----

verdict() { # QUEUE: its row in the last output without name and kind
    sed -n "s/^$1  *[a-z]*  *//p" "$tmp/out"
}

verifies() { # NAME DEVICE
    succeeds "$1" verify abp blocking tz bwd broker faa --seconds 0.2 --device "$2" || return 0
    for pair in "abp=linearizable but for FULL: shown" "blocking=linearizable" "tz=linearizable" "broker=linearizable" \
        "bwd=not linearizable: shown" "faa=skipped: a ceiling, not a queue"; do
        case "$(verdict "${pair%%=*}")" in
        *"  ${pair#*=}") ;;
        *)
            not_ok "$1" "expected the verdict of $pair"
            return 0
            ;;
        esac
    done
    if ! grep -q "^bwd: not linearizable; " "$tmp/out" || ! grep -q "^No order explains it" "$tmp/out"; then
        not_ok "$1" "expected the history that shows why bwd is not linearizable"
        return 0
    fi
    ok "$1"
}

verifies "verify with threads" cpu
verifies "verify on the simulated machine" sim
again=$(sed -n 's/^bwd: .* replay with: ballast //p' "$tmp/out")
says "verify, a history again" "^No order explains it" ${again:-verify none}
json "verify --json" "queue=blocking kind=fifo status=holds verdict=linearizable undecided=0" \
    verify blocking --seconds 0.05 --device sim --json
says "verify --json shows operations" \
    '"shows": "not linearizable", "device": "sim", "clock": "steps", "seed": [0-9]*, "capacity": [0-9]*, "filled": [0-9]*, "operations": \[{"thread": ' \
    verify bwd --seconds 0.05 --device sim --json
says "verify --litmus" "^threads  MP  .* never  " verify --litmus --device cpu --seconds 0.01
says "verify --litmus --json" \
    '^{"device": "cpu", "litmus": \[{"place": "threads", "test": "MP", "forbidden": true, "seen": 0, ' \
    verify --litmus --device cpu --seconds 0.01 --json
refuses "verify --litmus of a queue" 2 "accepted: without a QUEUE" verify abp --litmus --device cpu
refuses "verify --litmus of sim" 2 "accepted: --device cpu, cuda" verify --litmus --device sim
refuses "verify, unknown queue" 2 "nothing: unknown queue (accepted: abp, " verify nothing
refuses "verify, a queue twice" 2 "abp: given twice" verify abp abp
refuses "verify, unknown device" 2 "--device abacus: unknown device" verify abp --device abacus
refuses "verify, no time" 2 "--seconds 0: not a time" verify abp --seconds 0
refuses "verify, a seed without sim" 2 "accepted: with --device sim" verify abp --device cpu --seed 1
refuses "verify, a seed for all" 2 "accepted: with one QUEUE" verify --device sim --seed 1

# ---- soak; tests/test_soak.c has it fail ----

json "soak" "device=cpu seed=2 status=passed" soak --minutes 0.01 --device cpu --seed 2 --json
says "soak on the simulated machine" "^result  *passed$" soak --minutes 0.005 --device sim
"$tool" soak --minutes 10 --device cpu >"$tmp/out" 2>"$tmp/err" </dev/null &
sleep 0.3
kill -TERM $!
status=0
wait $! || status=$?
if [ "$status" -eq 0 ] && grep -q "^result  *interrupted$" "$tmp/out"; then
    ok "soak, a signal"
else
    not_ok "soak, a signal" "expected a summary of what passed so far"
fi
refuses "soak, no time" 2 "--minutes 0: not a time (accepted: minutes above 0" soak --minutes 0
refuses "soak, a word" 2 "fib: unexpected (accepted: only options)" soak fib
refuses "soak, unknown device" 2 "--device abacus: unknown device" soak --device abacus
TMPDIR=/nowhere
export TMPDIR
refuses "soak without a folder" 1 "/nowhere/ballast-soak-" soak --device cpu
unset TMPDIR

if command -v python3 >/dev/null 2>&1; then
    status=0
    all_json >"$tmp/out" 2>"$tmp/err" || status=$?
    if [ "$status" -eq 0 ] && [ ! -s "$tmp/out" ]; then
        ok "JSON: $(lines "$tmp/json.names") lines"
    else
        not_ok "JSON" "expected every line to be JSON"
    fi
fi

finish
