# Shared by the test scripts, which source it. $tmp: a folder that is removed when the script ends.
# shellcheck shell=sh
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM
passed=0
failed=0
status= # of the last command, which wrote to $tmp/out and $tmp/err

ok() { # NAME
    passed=$((passed + 1))
    echo "ok $1"
}

not_ok() { # NAME REASON: also shows the first and last lines of the last command's output
    failed=$((failed + 1))
    echo "not ok $1"
    echo "  $2${status:+; status $status}"
    for file in ${status:+"$tmp/out" "$tmp/err"}; do
        if [ -s "$file" ]; then
            grep -v '^In file included\|^  *from' "$file" >"$tmp/shown"
            { head -n 10 && tail -n 10; } <"$tmp/shown" | cut -c 1-400 | sed "s/^/  std${file##*/}: /"
        fi
    done
}

check() { # NAME COMMAND...: it must succeed. Its output stays in $tmp/out.
    name=$1
    shift
    status=0
    "$@" >"$tmp/out" 2>&1 </dev/null || status=$?
    if [ "$status" -eq 0 ]; then
        ok "$name"
    else
        not_ok "$name" "expected to succeed: $(echo "$*" | cut -c 1-300)"
    fi
    return "$status"
}

finish() {
    echo "$passed passed, $failed failed"
    [ "$failed" -eq 0 ]
    exit
}
