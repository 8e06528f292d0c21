pick() { python3 -c "
import json,sys
for l in sys.stdin:
  try: o=json.loads(l)
  except Exception: print(l.strip()); continue
  print('$1',o['app'],o['scheduler'],o['group'],o['workers'],'ms %.3f'%(1e3*o['seconds']),'min %.3f'%(1e3*min(o['seconds_all'])),'peak',o['peak_tasks'],'steals',o['steals'],o['steal_attempts'],'bal %.3f'%o['balance'],o['checked'])
"; }
for a in 4 6 8 10; do ( cmake -S . -B k$a -DBALLAST_TESTS=OFF -DCMAKE_CUDA_FLAGS=-DBL_BK=$a; cmake --build k$a -j4 ) > /tmp/k$a.log 2>&1 & done; wait
for a in 4 6 8 10; do for t in T1 T3 T1L T3L; do timeout 60 k$a/ballast run uts --tree $t --device cuda --repeat 5 --json 2>&1 | pick "BK$a $t"; done;
for d in uniform tube; do timeout 60 k$a/ballast run octree --device cuda --distribution $d --scheduler steal:abp --repeat 7 --json 2>&1 | pick "BK$a $d"; done; done
for w in 528 1056 2112; do for t in T1 T3 T1L T3L T1XL; do timeout 60 k6/ballast run uts --tree $t --workers $w --device cuda --repeat 5 --json 2>&1 | pick "W $t"; done; done
