set -x
cmake -S . -B build-gpu -DCMAKE_BUILD_TYPE=Release > /tmp/cmake.log 2>&1 || tail -20 /tmp/cmake.log
time cmake --build build-gpu -j16 > /tmp/build.log 2>&1 || grep -E 'error|Error' /tmp/build.log | head -20
B=build-gpu/ballast
$B list devices
for t in T0 T1 T3 T1L T1XL T3L; do timeout 60 $B run uts --tree $t --device cuda --repeat 3 --json; done
for d in uniform tube; do for s in auto steal:abp abp static blocking lockfree; do timeout 60 $B run octree --device cuda --distribution $d --scheduler $s --repeat 5 --json; done; done
cuobjdump -res-usage build-gpu/ballast 2>/dev/null | grep -A1 -E 'uts_kernel|octree_kernel' | grep -E 'Function|REG' | paste - - | sed 's/Fatbin.*//' | head -30
