#!/bin/sh
# The Debian packages: packages.sh BUILD SOURCE. Makes them, installs them into a clean root, runs the tool there and
# builds a program against what they contain. Skipped without dpkg or the generator.
# shellcheck disable=SC2016 # small scripts for `sh -c`
set -u

if [ $# -ne 2 ]; then
    echo "usage: packages.sh BUILD SOURCE" >&2
    exit 2
fi
build=$1
source=$2
cc=${CC:-cc}
for tool in cpack dpkg dpkg-deb dpkg-shlibdeps gzip; do
    if ! command -v "$tool" >/dev/null 2>&1; then
        echo "skipped: no $tool"
        exit 77
    fi
done
if ! cpack --help | grep -q '^ *DEB '; then
    echo "skipped: this cpack makes no Debian packages"
    exit 77
fi
# shellcheck source=tests/harness.sh
. "$(dirname "$0")/harness.sh"

# ---- making them ----

check "cpack" sh -c 'cd "$1" && cpack -G DEB -D CPACK_CMAKE_GENERATOR=Ninja -B "$2"' sh "$build" "$tmp/made" || finish
version=$(sed -n 's/^project(ballast VERSION \([0-9.]*\) .*/\1/p' "$source/CMakeLists.txt")
architecture=$(dpkg --print-architecture)
packages="libballast0 libballast-dev ballast"
[ -f "$build/ballast_ranks.so" ] && packages="$packages libballast-mpi"
for package in $packages; do
    file=$tmp/made/${package}_${version}_$architecture.deb
    check "$package: its file" test -f "$file" || finish
    cp "$file" "$tmp/$package.deb"
    check "$package: copyright and changelog" sh -c \
        'dpkg-deb -c "$1" >"$1.list" && grep -q "/usr/share/doc/$2/copyright$" "$1.list" && grep -q "/usr/share/doc/$2/changelog.gz$" "$1.list"' \
        sh "$tmp/$package.deb" "$package"
    check "$package: owned by root, not writable for others" sh -c \
        '! dpkg-deb -c "$1" | grep -v "^l" | grep -Ev "^.rw[x-]r-[x-]r-[x-] root/root "' sh "$tmp/$package.deb"
    # Its recommendations about single files are for the distribution; an error is a defect.
    if command -v lintian >/dev/null 2>&1; then
        # Where CUDA or MPI was found is in the files for pkg-config, because programs need it; the distribution has it
        # elsewhere.
        case $package in
        libballast-mpi) found=pkg-config-multi-arch-wrong-dir ;;
        libballast-dev) grep -qs /cuda/ "$build"/package/*.pc && found=pkg-config-bad-directive || found= ;;
        *) found= ;;
        esac
        check "$package: lintian" lintian --fail-on error ${found:+--suppress-tags $found} "$tmp/$package.deb"
    fi
done
check "the library needs libc" sh -c 'dpkg-deb -f "$1" Depends | grep -q libc6' sh "$tmp/libballast0.deb"
check "the headers need the same version of the library" sh -c \
    'dpkg-deb -f "$1" Depends | grep -q "libballast0 (= $2)"' sh "$tmp/libballast-dev.deb" "$version"
check "the library tells ldconfig and dependants" sh -c \
    'dpkg-deb -I "$1" shlibs triggers && dpkg-deb -I "$1" shlibs | grep -q "^libballast 0 libballast0"' \
    sh "$tmp/libballast0.deb"
check "nothing is in two packages" sh -c \
    'for list in "$1"/*.list; do awk "!/^d/ { print \$6 }" "$list"; done | sort | uniq -d | { ! grep .; }' sh "$tmp"

# ---- installing: by dpkg as root; otherwise unpacked only ----

root=$tmp/root
mkdir -p "$root/var/lib/dpkg/info" "$root/var/lib/dpkg/updates"
: >"$root/var/lib/dpkg/status"
if [ "$(id -u)" -eq 0 ]; then
    set --
    for package in $packages; do
        set -- "$@" "$tmp/$package.deb"
    done
    # path-include: some container images tell dpkg to leave manual pages out
    check "dpkg installs them" dpkg --root="$root" --force-depends --path-include='/usr/share/*' -i "$@"
    check "all are installed" sh -c \
        'test "$(dpkg-query --admindir="$1/var/lib/dpkg" -W -f "\${db:Status-Status}\n" | grep -cx installed)" -eq "$2"' \
        sh "$root" "$(echo "$packages" | wc -w)"
else
    for package in $packages; do
        check "$package: unpack" dpkg-deb -x "$tmp/$package.deb" "$root"
    done
fi

check "the tool runs" sh -c '"$1/usr/bin/ballast" run fib --n 20 --device cpu | grep -q 6765' sh "$root"
for page in man/man1/ballast.1.gz bash-completion/completions/ballast zsh/vendor-completions/_ballast; do
    check "the tool's $page" test -s "$root/usr/share/$page"
done
check "the tool knows its version" sh -c '"$1/usr/bin/ballast" --version | grep -qF "$2"' sh "$root" "$version"
libraries=$(dirname "$(find "$root/usr" -name 'libballast.so')")
check "a program: compile" "$cc" -I"$root/usr/include" "$source/examples/01_cpu.c" -o "$tmp/program" \
    -L"$libraries" -lballast -lm
check "a program: run" env LD_LIBRARY_PATH="$libraries" "$tmp/program"
check "cmake finds the package" cmake -S "$source/examples" -B "$tmp/examples" \
    -DCMAKE_PREFIX_PATH="$root/usr" -DEXAMPLES_CUDA=OFF
check "cmake links both libraries" cmake --build "$tmp/examples" --target 05_foreach

if [ "$(id -u)" -eq 0 ]; then
    # shellcheck disable=SC2086 # a list of words
    check "dpkg removes them" dpkg --root="$root" -P $packages
    check "and nothing is left" sh -c 'test -z "$(find "$1/usr" -type f 2>/dev/null)"' sh "$root"
fi

finish
