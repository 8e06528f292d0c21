#!/bin/sh
# The documentation as pages: site.sh SOURCE. Every link leads somewhere, and every public function is in the reference.
# shellcheck disable=SC2016,SC2317 # small scripts for `sh -c`; functions that `check` calls
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

# The guide says that its code is that of the examples.
quotes() {
    python3 - "$source" "$1" <<'END'
import glob, re, sys
files = [open(name, encoding="utf-8").read() for name in glob.glob(sys.argv[1] + "/examples/**/*.*", recursive=True)]
blocks = re.findall(r"^```c(?:pp)?\n(.*?)^```$", open(sys.argv[2], encoding="utf-8").read(), flags=re.M | re.S)
missing = [block for block in blocks if not any(block in text for text in files)]
sys.exit("not in examples/:\n" + "\n".join(missing) if missing or not blocks else 0)
END
}
for page in guide tuning debugging; do
    check "$page.md: its code is in examples/" quotes "$source/docs/$page.md"
done
sed 's/bl_submit_end(context);/bl_submit_end(c);/' "$source/docs/guide.md" >"$tmp/other.md"
not_quotes() { ! quotes "$1"; }
check "code that is not is noticed" not_quotes "$tmp/other.md"

# A link that leads nowhere is noticed.
mkdir "$tmp/tree"
cp -R "$source/docs" "$source/examples" "$source/include" "$source/scripts" "$source/README.md" \
    "$source/CONTRIBUTING.md" "$source/LICENSE" "$tmp/tree"
echo '[nowhere](guide.md#no-such-heading)' >>"$tmp/tree/docs/trace.md"
check "a wrong link is refused" sh -c \
    '"$1/scripts/site" "$2" 2>&1 | grep -qF "trace.html: guide.html#no-such-heading leads nowhere"' \
    sh "$tmp/tree" "$tmp/other"
finish
