B=build-gpu/ballast
pick() { python3 -c "
import json,sys
for l in sys.stdin:
  try: o=json.loads(l)
  except Exception: print(l.strip()); continue
  print('$1',o['app'],o['scheduler'],o['group'],o['workers'],'ms %.3f'%(1e3*o['seconds']),'min %.3f'%(1e3*min(o['seconds_all'])),'peak',o['peak_tasks'],'steals',o['steals'],o['steal_attempts'],'bal %.3f'%o['balance'],o['checked'],o['result'].get('digest',o['result'].get('nodes')))
"; }
( cmake -S . -B build-gpu -DBALLAST_TESTS=OFF -DCMAKE_BUILD_TYPE=Release && cmake --build build-gpu -j8 ) > /tmp/build.log 2>&1 || grep -E 'error|Error' /tmp/build.log | head -20
for a in 4 6; do ( cmake -S . -B b$a -DBALLAST_TESTS=OFF -DCMAKE_CUDA_FLAGS=-DOCTREE_AHEAD=$a; cmake --build b$a -j6 ) > /tmp/b$a.log 2>&1 & done; wait; rm -rf b8; ln -s build-gpu b8
for a in 4 6 8; do for g in 256 384 512; do for d in uniform tube; do
 timeout 60 b$a/ballast run octree --device cuda --distribution $d --scheduler steal:abp --group block:$g --repeat 7 --json 2>&1 | pick "A$a $d"; done;
 timeout 60 b$a/ballast run octree --device cuda --max-depth 1 --scheduler steal:abp --group block:$g --repeat 5 --json 2>&1| pick "A$a root"; done; done
for s in abp static static:split steal:chase_lev; do timeout 60 b6/ballast run octree --device cuda --distribution tube --scheduler $s --group block:512 --repeat 7 --json 2>&1 | pick tube; done
for t in T1 T3 T1L T3L T1XL; do timeout 60 $B run uts --tree $t --device cuda --repeat 5 --json 2>&1 | pick $t; done
for v in "--steal half" "--victims round-robin" "--private 16" "--private 200"; do for t in T1 T3; do timeout 60 $B run uts --tree $t $v --device cuda --repeat 5 --json 2>&1 | pick "$t $v"; done; done
for t in T1L T3L; do for s in steal:abp steal:blocking steal:tz; do timeout 60 $B run uts --tree $t --scheduler $s --device cuda --repeat 3 --json 2>&1 | pick "$t"; done; done
