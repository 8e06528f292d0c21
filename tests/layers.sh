#!/bin/sh
# The files of a folder form layers: if a file uses another, that one does not use it, directly or through others.
# layers.sh SOURCE BUILD reads from the object files what each file defines and uses. It covers what was built:
# everything, after `make test`.
set -u

if [ $# -ne 2 ]; then
    echo "usage: layers.sh SOURCE BUILD" >&2
    exit 2
fi
source=$1
build=$2
# shellcheck source=tests/harness.sh
. "$(dirname "$0")/harness.sh"

# "FILE KIND SYMBOL" for every global symbol. CMake puts the object of FOLDER/FILE into FOLDER/FILE.o, with
# CMakeFiles/TARGET.dir/ somewhere before it. Objects of files that are gone may still lie there.
(cd "$build" && find . -name '*.o' -exec nm -gA {} +) 2>"$tmp/err" |
    sed -n 's|^\./||; s|CMakeFiles/[^/]*\.dir/||; s|\.o:[0-9a-f ]*\([A-Za-z]\) | \1 |p' |
    awk -v root="$source/" '
        !($1 in there) { there[$1] = (getline line < (root $1)) >= 0; close(root $1) }
        there[$1]' >"$tmp/symbols"

# "USER DEFINER SYMBOL" within each folder. Weak symbols, of templates in C++, belong to all files.
awk '
    { folder = $1; sub(/[^\/]*$/, "", folder) }
    $2 == "U" { uses[$1 " " $3] = folder }
    $2 ~ /[BCDRST]/ { definers[folder, $3] = definers[folder, $3] " " $1 }
    END {
        for (use in uses) {
            split(use, part, " ")
            for (i = split(definers[uses[use], part[2]], files, " "); i; i--)
                if (files[i] != part[1]) print part[1], files[i], part[2]
        }
    }' "$tmp/symbols" | sort >"$tmp/uses"

# FOLDER: fails with the uses between the files of its cycles, which tsort names.
layered() {
    grep "^$1/[^/]* " "$tmp/uses" >"$tmp/folder"
    cut -d ' ' -f 1,2 "$tmp/folder" >"$tmp/pairs"
    tsort "$tmp/pairs" 2>"$tmp/loops" >/dev/null && return
    awk 'NR == FNR { loop[$2] = 1; next } $1 in loop && $2 in loop { print $1 " uses " $3 " of " $2 }' \
        "$tmp/loops" "$tmp/folder"
    return 1
}

# shellcheck disable=SC2013 # no folder has a space in its name
for folder in $(cut -d ' ' -f 1 "$tmp/symbols" | sed 's|/[^/]*$||' | sort -u); do
    check "$folder: its files form layers" layered "$folder"
done
for folder in src/run src/api report cli bench/harness verify/explorer; do
    check "$folder: looked at" grep -q "^$folder/" "$tmp/uses"
done
finish
