#!/bin/sh
# The demo fits on one screen, every row is verified, and the commands that it suggests exist.
#
#     demo.sh DEMO BALLAST
set -eu
demo=$1 ballast=$2
source=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=tests/harness.sh
. "$(dirname "$0")/harness.sh"
screen=$tmp/screen

fail() { # REASON
    not_ok "demo" "$*"
    cat "$screen"
    finish
}

# As `make demo` starts it: with a path relative to the tree.
run() { # LOCALE ARGUMENT...
    (cd "$(dirname "$demo")/.." && locale=$1 && shift &&
        LC_ALL=$locale "$(basename "$(dirname "$demo")")/${demo##*/}" "$@")
}

run C --particles 20k >"$screen" || fail "exit status $?"
[ "$(wc -l <"$screen")" -le 40 ] || fail "more than 40 lines"
! LC_ALL=C grep -q '[^ -~]' "$screen" || fail "not ASCII, though the locale is C"
! sed "s|$(basename "$(dirname "$demo")")/|build/|" "$screen" | grep -q '.\{101\}' || fail "more than 100 columns"
for method in static blocking lockfree abp Ballast; do
    rows=$(grep -c "^  $method " "$screen") || true
    checked=$(grep -c "^  $method .* ms #* *checked$" "$screen") || true
    if [ "$rows" -lt 2 ] || [ "$rows" -ne "$checked" ]; then
        fail "$method: $checked of $rows rows are checked"
    fi
done

commands=$(sed -n 's|^  [^ ]*/ballast \(.*[^ ]\)   *.*|\1|p' "$screen")
[ "$(echo "$commands" | wc -l)" -ge 3 ] || fail "fewer than 3 commands to try"
echo "$commands" | while read -r command; do
    # shellcheck disable=SC2086 # words
    "$ballast" $command --help >/dev/null || fail "ballast $command: not accepted"
done
grep -o '^  \(examples\|docs\)/[^ ]*' "$screen" | while read -r file; do
    [ -e "$source/$file" ] || fail "$file does not exist"
done

run C --wrong use >"$screen" 2>&1 && fail "accepts what it does not know"
run C --device nowhere >"$screen" 2>&1 && fail "accepts a device that is not there"
run C.UTF-8 --particles 1k --device cpu >"$screen" || fail "exit status $?"
ok "demo"
finish
