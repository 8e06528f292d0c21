#!/bin/sh
# Nothing decides by the name of a device, a scheduler or a queue, or takes it apart: bl_device_traits,
# bl_scheduler_traits and the flags of a queue tell what it is. names.sh SOURCE looks for comparisons with these names,
# which it reads from the sources. A test may check what a name is, and the verdicts of bench are about the papers'
# queues.
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
finish
