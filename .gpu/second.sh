cmake -S . -B build-gpu -DBALLAST_TESTS=OFF -DCMAKE_BUILD_TYPE=Release > /tmp/cmake.log 2>&1 || tail -20 /tmp/cmake.log
cmake --build build-gpu -j16 > /tmp/build.log 2>&1 || grep -E 'error|Error' /tmp/build.log | head -20
B=build-gpu/ballast
pick() { python3 -c "
import json,sys
for l in sys.stdin:
  try: o=json.loads(l)
  except Exception: print(l.strip()); continue
  print('$1',o['app'],o['scheduler'],o['group'],o['workers'],'tasks',o['tasks'],'ms %.3f'%(1e3*o['seconds']),'min %.3f'%(1e3*min(o['seconds_all'])),'peak',o['peak_tasks'],'MB %.1f'%(o['peak_bytes']/1e6),'steals',o['steals'],o['steal_attempts'],'bal %.3f'%o['balance'],o['checked'],o['result'].get('digest',o['result'].get('nodes')))
"; }
for a in 4 8 12 16; do
  ( cmake -S . -B b$a -DBALLAST_TESTS=OFF -DCMAKE_CUDA_FLAGS=-DOCTREE_AHEAD=$a; cmake --build b$a -j4 ) > /tmp/b$a.log 2>&1 &
done; wait
for a in 4 8 12 16; do for g in 128 256 512; do for d in uniform tube; do
 timeout 60 b$a/ballast run octree --device cuda --distribution $d --scheduler steal:abp --group block:$g --repeat 9 --json 2>&1 | pick "A$a $d"; done;
 timeout 60 b$a/ballast run octree --device cuda --max-depth 1 --scheduler steal:abp --group block:$g --repeat 9 --json 2>&1| pick "A$a root"; done; done
S=$($B list schedulers --app uts --device cuda --json | python3 -c "import json,sys; print(' '.join(x['name'] for x in json.load(sys.stdin)['schedulers']))")
for s in $S blocking lockfree abp; do for t in T1 T3; do timeout 100 $B run uts --tree $t --device cuda --scheduler $s --json 2>&1 | pick $t; done; done
for s in $S blocking lockfree abp; do timeout 100 $B run uts --tree T1 --capacity 2 --device cuda --scheduler $s --json 2>&1 | pick cap2; timeout 100 $B run octree --capacity 2 --device cuda --scheduler $s --json 2>&1| pick cap2; done
