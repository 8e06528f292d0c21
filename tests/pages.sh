#!/bin/sh
# The manual page and the completions: pages.sh TOOL BUILD. Every option of --help is in all three; the page has no
# mistakes; bash and, if it is here, zsh really complete.
# shellcheck disable=SC2016,SC2317 # small scripts for other shells; functions that `check` calls
set -u

if [ $# -ne 2 ]; then
    echo "usage: pages.sh TOOL BUILD" >&2
    exit 2
fi
tool=$1
build=$2
if ! command -v bash >/dev/null 2>&1; then
    echo "skipped: no bash"
    exit 77
fi
# shellcheck source=tests/harness.sh
. "$(dirname "$0")/harness.sh"

check "--manual" sh -c '"$1" --manual >"$2/ballast.1"' sh "$tool" "$tmp"
check "--completion bash" sh -c '"$1" --completion bash >"$2/ballast.bash"' sh "$tool" "$tmp"
mkdir "$tmp/functions"
check "--completion zsh" sh -c '"$1" --completion zsh >"$2/functions/_ballast"' sh "$tool" "$tmp"
check "--completion of another shell is refused" sh -c '"$1" --completion fish; test $? -eq 2' sh "$tool"
check "--completion without a shell is refused" sh -c '"$1" --completion; test $? -eq 2' sh "$tool"

# ---- the page ----

man_text() { # the page as text, one long line per paragraph; minus signs as in ASCII
    groff -man -Tascii -P-cbou -rLL=2000n "$tmp/ballast.1"
}
if command -v groff >/dev/null 2>&1; then
    check "groff: no warnings" sh -c 'test -z "$(groff -man -ww -z -Tutf8 "$1" 2>&1)"' sh "$tmp/ballast.1"
    man_text >"$tmp/page"
else
    sed 's/\\-/-/g; s/\\f[BIR]//g' "$tmp/ballast.1" >"$tmp/page"
fi
if command -v man >/dev/null 2>&1; then
    check "man: no warnings" sh -c 'test -z "$(man --warnings -l "$1" 2>&1 >/dev/null)"' sh "$tmp/ballast.1"
fi
if command -v mandoc >/dev/null 2>&1; then
    check "mandoc: no warnings" mandoc -T lint -W warning "$tmp/ballast.1"
fi

# ---- every option of every --help ----

complete_in_bash() { # LINE: what may follow, a line each
    bash --norc --noprofile -c '. "$1"; COMP_LINE=$2 COMP_POINT=${#2} COMP_TYPE=9
        mapfile -t COMP_WORDS <<<"${2// /$'"'\\n'"'}"; COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
        _ballast ballast "" ""; printf "%s\n" "${COMPREPLY[@]}"' bash "$tmp/ballast.bash" "$1"
}

options_of() { # WORDS...: names and texts of its --help, "NAME VALUE  TEXT"
    "$tool" "$@" --help | sed -n 's/^  \(-[^ ].*\)/\1/p'
}

all_there() { # WORDS...
    options_of "$@" >"$tmp/options"
    test -s "$tmp/options" || return 1
    while read -r option rest; do
        text=$(echo "${rest#*  }" | tr -s ' ' | sed 's/^ //')
        grep -qxE -e " *$option( .*)?" "$tmp/page" || { echo "page: no $option"; return 1; }
        tr -s ' ' <"$tmp/page" | grep -qF -e "$text" || { echo "page: $option without $text"; return 1; }
        complete_in_bash "ballast${*:+ $*} $option" | grep -qx -e "$option" || { echo "bash: no $option"; return 1; }
        grep -qF -e "'${option}[" -e "'${option}=[" "$tmp/functions/_ballast" || { echo "zsh: no $option"; return 1; }
    done <"$tmp/options"
}

commands=$("$tool" --help | sed -n '/^commands/,/^$/s/^  \([a-z]*\) .*/\1/p')
apps=$("$tool" run --help | sed -n '/^apps/,/^$/s/^  \([a-z]*\) .*/\1/p')
check "commands found" test "$(echo "$commands" | wc -l)" -ge 6
check "apps found" test "$(echo "$apps" | wc -l)" -ge 7
check "options of ballast" all_there
for command in $commands; do
    check "options of $command" all_there "$command"
    check "bash: $command" sh -c 'echo "$1" | grep -qx "$2"' sh "$(complete_in_bash "ballast ")" "$command"
done
for app in $apps; do
    check "options of run $app" all_there run "$app"
done

# ---- bash ----

completes() { # LINE WORDS: exactly these, in any order
    found=$(complete_in_bash "$1" | sort | paste -s -d ' ')
    status=
    if [ "$found" = "$2" ]; then ok "bash: $1"; else not_ok "bash: $1" "expected $2, found $found"; fi
}

check "bash: the function is registered" bash --norc -c '. "$1" && complete -p ballast | grep -q _ballast' \
    bash "$tmp/ballast.bash"
completes "ballast re" "report"
completes "ballast run fi" "fib"
completes "ballast run --device cp" "cpu"
completes "ballast run --device=c" "cpu cuda"
completes "ballast run --device cpu f" "fib fourrow"
completes "ballast run --scheduler steal:ab" "abp"
completes "ballast run --scheduler=steal:ab" "abp"
completes "ballast run --scheduler aut" "auto"
completes "ballast run fib --n" "--n --no-check"
completes "ballast run --n" "--no-check"
completes "ballast run fib --n " ""
completes "ballast run octree --distribution t" "tube"
completes "ballast verify broker bl" "blocking"
completes "ballast verify shann sha" ""
completes "ballast bench --queues broker,blo" "broker,blocking"
completes "ballast list apps --j" "--json"
completes "ballast play --side " "first second"
completes "ballast report $tmp/func" "$tmp/functions"
completes "ballast run fib --trace $tmp/ballast." "$tmp/ballast.1 $tmp/ballast.bash"
completes "ballast run fib --trace=$tmp/ballast.b" "$tmp/ballast.bash"
completes "ballast --completion " "bash zsh"
completes "ballast nothing " ""
if command -v shellcheck >/dev/null 2>&1; then
    check "shellcheck" shellcheck "$tmp/ballast.bash"
fi

# ---- zsh: a terminal of its own, the file as compinit loads it ----

complete_in_zsh() { # LINE: what it becomes with a tab
    cat >"$tmp/terminal.zsh" <<'ZSH'
zmodload zsh/zpty || exit 3
zpty inner zsh -f -i
zpty -w inner "PROMPT=; module_path=($module_path); fpath=($1 $fpath); autoload -U compinit && compinit -u -D"
zpty -w inner 'show() { print -r "LINE<$BUFFER>" }; zle -N show; bindkey "^T" show; print RE""ADY'
zpty -r -m inner line '*READY*'
zpty -w -n inner "$2"$'\t\C-t'
zpty -r -m inner line '*LINE<*>*'
print -r -- "${${line##*LINE<}%%>*}"
zpty -d inner
ZSH
    TERM=vt100 timeout 30 zsh -f "$tmp/terminal.zsh" "$tmp/functions" "$1"
}
zsh_completes() { # LINE RESULT
    found=$(complete_in_zsh "$1")
    status=
    if [ "${found% }" = "$2" ]; then ok "zsh: $1"; else not_ok "zsh: $1" "expected $2, found $found"; fi
}
if command -v zsh >/dev/null 2>&1; then
    check "zsh reads it" zsh -f -n "$tmp/functions/_ballast"
    zsh_completes "ballast rep" "ballast report"
    zsh_completes "ballast run oct" "ballast run octree"
    zsh_completes "ballast run octree --distribution=tu" "ballast run octree --distribution=tube"
    zsh_completes "ballast run --scheduler steal:ab" "ballast run --scheduler steal:abp"
    zsh_completes "ballast run pagerank --damp" "ballast run pagerank --damping="
    zsh_completes "ballast run fib --checkpoint-" "ballast run fib --checkpoint-every="
fi

# ---- as they are installed ----

check "install" cmake --install "$build" --prefix "$tmp/root" --component ballast_tool
check "the page is installed" sh -c 'zcat -f "$1"/share/man/man1/ballast.1* | cmp - "$2"' sh "$tmp/root" \
    "$tmp/ballast.1"
check "bash finds the completion" cmp "$tmp/root/share/bash-completion/completions/ballast" "$tmp/ballast.bash"
check "zsh finds the completion" cmp "$tmp/root/share/zsh/site-functions/_ballast" "$tmp/functions/_ballast"
finish
