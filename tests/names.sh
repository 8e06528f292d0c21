#!/bin/sh
# Nothing decides by the name of a device, a scheduler or a queue, or takes it apart: bl_device_traits,
# bl_scheduler_traits and the flags of a queue tell what it is. names.sh SOURCE looks for comparisons with these names,
# which it reads from the sources. A test may check what a name is, and the verdicts of bench are about the papers'
# queues. It also finds lines over 120 columns, in sources and documents: clang-format leaves comments as they stand.
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
queues=$(sed -n 's/^#define bl_\([a-z_0-9]*\)_KIND BL_QUEUE_KIND_.*/\1/p' include/ballast/queues/*.h | sort -u)
check "devices found" test "$(echo "$devices" | wc -l)" -ge 3
check "schedulers found" test "$(echo "$schedulers" | wc -l)" -ge 5
check "queues found" test "$(echo "$queues" | wc -l)" -ge 10

alternatives() { printf '%s\n' "$@" | paste -s -d '|'; }
search() { grep -rnE --include='*.[ch]' --include='*.cu' --include='*.cpp' "$@"; }
own=$(alternatives "$devices" "$schedulers")
all=$(alternatives "$devices" "$schedulers" "$queues")
arguments='([^()]|\([^()]*\))*' # which may be calls themselves

# Calls of strcmp and the like with such a name, alone or with what follows its colon, or with that of a known target.
compares() {
    search "(strn?cmp|strn?casecmp|strstr|memcmp) *\($arguments(\"($names)[\":]|(_ops|verify_($own))\.(name|target))" \
        "$@"
}
# Searches for what separates the halves of a name, or the names of a list. The owners of names may do so: they know a
# scheduler's queue, which devices a list names, and which half of a name is wrong.
splits() {
    search "(strr?chr|strcspn|strpbrk) *\([^;]*(scheduler|device|target|wanted)[^;]*, *['\"][+:]['\"]" "$@" |
        grep -vE '^(src/api/(context|schedulers)|cli/options)\.c:'
}
decides() { { compares "$@"; splits "$@"; } | grep -v 'CHECK('; }
nothing_decides() {
    decides "$@" >"$tmp/found"
    cat "$tmp/found"
    test ! -s "$tmp/found"
}

# The patterns find what they should, and nothing else.
names=$all
mkdir "$tmp/some" "$tmp/none"
cat >"$tmp/some/some.c" <<'C'
if (!strcmp(name, "cpu"))
if (strncmp(bl_device_target(context), "cuda", 4) == 0)
if (strcmp("steal:abp", name))
if (strcmp(h->target, verify_sim.name) == 0)
if (!strcmp(device, bl__cuda_ops.target))
return strstr(scheduler, "lcrq") || strstr(scheduler, "wfq");
const char *queue = strchr(scheduler, ':');
bool several = strchr(options_text(set, "--device"), '+') != NULL;
C
cat >"$tmp/none/none.c" <<'C'
if (strcmp(type, "cgroup") || !has_word(options, "cpu"))
bl_device_find("cpu", &info), strcmp(name, "auto");
char *colon = strchr(line, ':');
CHECK(!strcmp(bl_device_id(c), "cpu"));
if (strcmp(c->ops->target, program->target))
C
check "decisions by name are found" test "$(decides "$tmp/some" | wc -l)" -eq 8
check "others are not" nothing_decides "$tmp/none"

for folder in apps bench cli demo examples include mpi report src tests verify; do
    [ "$folder" = bench ] && names=$own || names=$all
    check "$folder: decides by no names" nothing_decides "$folder"
done

# Prints file:line of every line over 120 columns; a character of UTF-8 is one column. These may be longer: flags that
# tests/CMakeLists.txt reads from a test, and the text of an #error, which has to be one literal; in a document rows of
# a table, code and what commands print, and a word that cannot be broken, like an address.
wide_lines() {
    find "$@" '(' -name '*.[ch]' -o -name '*.cu' -o -name '*.cpp' -o -name '*.md' ')' | sort | LC_ALL=C xargs awk '
        FNR == 1 { fenced = error = 0 }
        FILENAME ~ /\.md$/ { if (/^ *```/) fenced = !fenced; exempt = fenced || /^\|/ || /^    / || /^ *[^ ]*$/ }
        FILENAME !~ /\.md$/ { exempt = error || /^\/\/ (LINK|COMPILE): /; error = /^ *# *error / }
        exempt || length($0) <= 120 { next }
        { text = $0; gsub(/[\200-\277]/, "", text) }
        length(text) > 120 { print FILENAME ":" FNR ": " length(text) " columns" }'
}
no_wide_lines() {
    wide_lines "$@" >"$tmp/found"
    cat "$tmp/found"
    test ! -s "$tmp/found"
}

mkdir "$tmp/wide" "$tmp/fits"
half=$(printf 'µ%058d .' 0) # 61 columns
for name in wide.c wide.inc.h wide.cu wide.cpp wide.md; do
    printf '%s\n%s\n' "${half%.}${half%.}" "${half%.}$half" >"$tmp/wide/$name"
done
printf '%s\n' "// LINK: $half$half" '#error \' "    \"$half$half\"" "${half%.}${half%.}" >"$tmp/fits/fits.c"
printf '%s\n' "| $half$half" "    $half$half" '```' "$half$half" '```' "  $(printf '%0130d' 0)" \
    "${half%.}${half%.}" >"$tmp/fits/fits.md"
check "wide lines are found" test "$(wide_lines "$tmp/wide" | grep -c ':2: 121 columns$')" -eq 5
check "only they" test "$(wide_lines "$tmp/wide" | wc -l)" -eq 5
check "others are not" no_wide_lines "$tmp/fits"

for folder in CONTRIBUTING.md README.md apps bench cli demo docs examples include mpi report src tests verify; do
    check "$folder: no line over 120 columns" no_wide_lines "$folder"
done
finish
