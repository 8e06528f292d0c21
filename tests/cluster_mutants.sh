#!/bin/sh
# Breaks the protocol between nodes in many ways, one at a time, and expects test_cluster to find each error.
# cluster_mutants.sh SOURCE CC. Each mutant is a name, the text to replace in src/cluster/protocol.c, which must be
# there exactly once, and the new text.
set -u

if [ $# -ne 2 ]; then
    echo "usage: cluster_mutants.sh SOURCE CC" >&2
    exit 2
fi
source=$1
cc=$2
# shellcheck source=tests/harness.sh
. "$(dirname "$0")/harness.sh"

flags="-std=c11 -O1 -D_GNU_SOURCE -I$source/include -I$source/src"
# shellcheck disable=SC2086 # a list of words
for file in "$source"/verify/cluster/*.c "$source"/src/cluster/protocol.c "$source"/tests/test_cluster.c; do
    "$cc" $flags -c "$file" -o "$tmp/$(basename "$file" .c).o" || exit 1
done

# Links the objects, with the right protocol.o or another one, and runs the test until its first error.
run_test() {
    "$cc" "$tmp"/*.o -o "$tmp/broken" && timeout 100 "$tmp/broken" --first-error --runs 10000 >"$tmp/found"
}

check "the protocol itself" run_test

# NAME OLD NEW
mutant() {
    broken="broken: $1"
    # However the text is indented. Nothing is written unless it is there exactly once.
    OLD=$2 NEW=$3 awk '
        BEGIN { RS = "\001"; old = ENVIRON["OLD"]; new = ENVIRON["NEW"] }
        {
            gsub(/\n +/, "\n")
            at = index($0, old)
            if (at && !index(substr($0, at + 1), old))
                printf "%s", substr($0, 1, at - 1) new substr($0, at + length(old))
        }' "$source/src/cluster/protocol.c" >"$tmp/protocol.c"
    # shellcheck disable=SC2086
    if ! test -s "$tmp/protocol.c"; then
        not_ok "$broken" "its text is not in the protocol exactly once"
    elif ! "$cc" $flags -I"$source/src/cluster" -c "$tmp/protocol.c" -o "$tmp/protocol.o"; then
        not_ok "$broken" "does not compile"
    else
        run_test
        found=$?
        check "$broken" test $found -eq 1 && sed -n '$s/^/  /p' "$tmp/found"
    fi
}

nl='
'
# The end.
mutant "only entries are counted" ' && sums[BL__SENT_RESULTS] == sums[BL__RECEIVED_RESULTS]' ''
mutant "only results are counted" 'sums[BL__SENT_ENTRIES] == sums[BL__RECEIVED_ENTRIES] && ' ''
mutant "sums need not be balanced" 'else if (balanced(n->sums))' 'else'
mutant "sums agree once" 'if (same && !n->owes)' 'if (1)'
mutant "a busy node reports" '!n->dry || n->asking' 'n->asking'
mutant "a node reports before its children" ' || n->pending)' ')'
mutant "a node reports while it asks" '!n->dry || n->asking' '!n->dry'
mutant "any report answers a probe" 'n->pending -= m->answers' 'n->pending -= n->pending > 0'
mutant "a probe stops at the first node" 'n->pending = send_to_children(n, BL__CLUSTER_PROBE, out);'"$nl"'break;' \
    'break;'
mutant "a probe is not answered" 'case BL__CLUSTER_PROBE:'"$nl"'n->owes = true;' 'case BL__CLUSTER_PROBE:'
mutant "a change is not reported" 'if (n->owes || (!same && !n->unheard))' 'if (n->owes)'
mutant "a report is not heard" 'send(n, from, BL__CLUSTER_HEARD, 0, 0, out);' ';'
mutant "a report repeats the last one" 'n->sums[i] - n->reported[i]' 'n->sums[i]'
mutant "the end is not passed on" 'case BL__CLUSTER_OVER:'"$nl"'send_to_children(n, BL__CLUSTER_OVER, out);' \
    'case BL__CLUSTER_OVER:'
mutant "received entries are not counted" 'n->sums[BL__RECEIVED_ENTRIES] += m->count;' ''
mutant "received results are not counted" 'n->sums[BL__RECEIVED_RESULTS] += m->count;' ''
mutant "a result does not make a node busy" 'n->sums[BL__RECEIVED_RESULTS] += m->count;'"$nl"'n->dry = false;' \
    'n->sums[BL__RECEIVED_RESULTS] += m->count;'
mutant "entries do not make a node busy" 'n->tries = all_tries(n);'"$nl"'n->dry = false;' 'n->tries = all_tries(n);'
mutant "messages are heard after the end" 'if (n->ended || m->run != n->run)' 'if (m->run != n->run)'
mutant "messages of another run are heard" 'if (n->ended || m->run != n->run)' 'if (n->ended)'
# Work.
mutant "an ask is answered twice" 'give(n, from, all, 1, out);' \
    'give(n, from, all, 1, out), send(n, from, BL__CLUSTER_REFUSE, 0, 0, out);'
mutant "an ask is not answered" 'send(n, from, BL__CLUSTER_REFUSE, 0, 0, out);' ''
mutant "a refused node does nothing" 'n->asking = false;'"$nl"'if (n->dry)' 'n->asking = false;'"$nl"'if (0)'
mutant "a node asks for ever" 'n->tries--;' ''
mutant "a busy node asks without having run anything" ' || !n->ran' ''
mutant "a name is forgotten" 'n->waiting |= 1u << dimension_of(n, from);' '(void)from;'
mutant "a name is served for ever" 'n->waiting &= ~(1u << n->turn);' ''
mutant "a name is left twice" ' && !(n->left >> d & 1)' ''
mutant "a name is left once in a run" 'n->left &= ~(1u << dimension_of(n, from));' ';'
mutant "one lifeline is never used" 'for (uint32_t d = 0; d < BL__CLUSTER_DIMENSIONS; d++)'"$nl"'if (is_neighbour(' \
    'for (uint32_t d = 1; d < BL__CLUSTER_DIMENSIONS; d++)'"$nl"'if (is_neighbour('
mutant "nobody says that entries are wanted" 'if (wanted != n->wanted)' 'if (0)'
mutant "more is given than is shown" 'n->shows - n->shows / 2' 'n->shows + 1'
mutant "all is more than is shown" 'all ? n->shows :' 'all ? n->shows + 1 :'
mutant "a message has too many entries" 'if (count > n->most)' 'if (0)'
mutant "a dry node gives" 'n->dry = true;'"$nl"'n->shows = 0;' 'n->dry = true;'
# A lost node.
mutant "nobody is told of a lost node" 'if (!n->alarmed)' 'if (0)'
mutant "a node that has ended tells nobody" 'if (!n->alarmed)' 'if (!n->alarmed && !n->ended)'
mutant "an alarm ends nothing" 'end(n, m->count, true, out);' ''
mutant "a node that has ended ends again" 'if (!n->ended)'"$nl"'end(' 'end('
finish
