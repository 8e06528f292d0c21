#!/bin/sh
# The documentation as pages: site.sh SOURCE. Every link leads somewhere, and every public function is in the reference.
# shellcheck disable=SC2016 # small scripts for `sh -c`
set -u

if [ $# -ne 1 ]; then
    echo "usage: site.sh SOURCE" >&2
    exit 2
fi
source=$1
if ! command -v cmark-gfm >/dev/null 2>&1 || ! command -v python3 >/dev/null 2>&1; then
    echo "skipped: no cmark-gfm or no python3"
    exit 77
fi
# shellcheck source=tests/harness.sh
. "$(dirname "$0")/harness.sh"

check "the pages are made, and all links lead somewhere" "$source/scripts/site" "$tmp/site" || finish
while read -r name; do
    case $name in bl__*) continue ;; esac
    grep -qF "id=\"$name\"" "$tmp/site"/reference-*.html || not_ok "reference" "expected $name"
done <"$source/tests/exports.txt"
for name in bl_run bl_config bl_spawn bl_fork bl_return bl_arrive bl_is_root BL_ESTALL bl_outcome; do
    check "reference: $name has a place" sh -c 'grep -qF "id=\"$1\"" "$2"/reference-*.html' sh "$name" "$tmp/site"
done
check "nothing internal" sh -c '! grep -q "id=\"bl__\|id=\"BL__" "$1"/*.html' sh "$tmp/site"
check "nothing from elsewhere" sh -c '! grep -qE "(src|<link[^>]*href)=\"http" "$1"/*.html' sh "$tmp/site"

# A link that leads nowhere is noticed.
mkdir "$tmp/tree"
cp -R "$source/docs" "$source/examples" "$source/include" "$source/scripts" "$source/README.md" \
    "$source/CONTRIBUTING.md" "$source/LICENSE" "$tmp/tree"
echo '[nowhere](guide.md#no-such-heading)' >>"$tmp/tree/docs/trace.md"
check "a wrong link is refused" sh -c '"$1/scripts/site" "$2" 2>&1 | grep -qF "trace.html: guide.html#no-such-heading leads nowhere"' \
    sh "$tmp/tree" "$tmp/other"
finish
