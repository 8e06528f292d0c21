#!/bin/sh
# Nothing decides by the name of a device or of a scheduler: bl_device_traits and bl_scheduler_traits tell what it is.
# names.sh SOURCE looks for comparisons with these names, which it reads from the sources.
set -u

if [ $# -ne 1 ]; then
    echo "usage: names.sh SOURCE" >&2
    exit 2
fi
cd "$1" || exit 2
# shellcheck source=tests/harness.sh
. tests/harness.sh

devices=$(sed -n 's/.*\.target = "\([a-z]*\)".*/\1/p' src/device/* | sort -u)
schedulers=$(sed -n 's/.*BL_SCHEDULER_PROPERTIES \([a-z_]*\):.*/\1/p' include/ballast/schedulers/*.inc.h | sort -u)
check "devices found" test "$(echo "$devices" | wc -l)" -ge 3
check "schedulers found" test "$(echo "$schedulers" | wc -l)" -ge 5

# A call of strcmp and the like with such a name, alone or with what follows its colon, among its arguments, which may
# be calls themselves.
names=$(printf '%s\n%s\n' "$devices" "$schedulers" | paste -s -d '|')
compares() {
    grep -rnE "(strn?cmp|strn?casecmp|strstr|memcmp) *\(([^()]|\([^()]*\))*\"($names)[\":]" --include='*.[ch]' \
        --include='*.cu' --include='*.cpp' "$@"
}
nothing_compares() {
    compares "$@" >"$tmp/found"
    cat "$tmp/found"
    test ! -s "$tmp/found"
}

# The pattern finds what it should, and nothing else.
mkdir "$tmp/some" "$tmp/none"
cat >"$tmp/some/some.c" <<'C'
if (!strcmp(name, "cpu"))
if (strncmp(bl_device_target(context), "cuda", 4) == 0)
if (strcmp("steal:abp", name))
C
cat >"$tmp/none/none.c" <<'C'
if (strcmp(type, "cgroup") || !has_word(options, "cpu"))
bl_device_find("cpu", &info), strcmp(name, "auto");
C
check "comparisons are found" test "$(compares "$tmp/some" | wc -l)" -eq 3
check "others are not" nothing_compares "$tmp/none"

for folder in apps bench cli demo include report src verify; do
    check "$folder: compares no names" nothing_compares "$folder"
done
finish
