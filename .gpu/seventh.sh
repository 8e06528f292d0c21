pick() { python3 -c "
import json,sys
for l in sys.stdin:
  try: o=json.loads(l)
  except Exception: print(l.strip()); continue
  print('$1',o['scheduler'],o['group'],o['workers'],'ms %.3f'%(1e3*o['seconds']),'min %.3f'%(1e3*min(o['seconds_all'])),'max %.3f'%(1e3*max(o['seconds_all'])),'G/s %.2f'%(o['tasks_per_second']/1e9),'peak',o['peak_tasks'],'MB %.1f'%(o['peak_bytes']/1e6),'steals',o['steals'],'bal %.3f'%o['balance'],o['checked'])
"; }
( cmake -S . -B build-gpu -DCMAKE_BUILD_TYPE=Release && cmake --build build-gpu -j16 ) > /tmp/build.log 2>&1 || grep -E 'error|Error' /tmp/build.log | head -20
B=build-gpu/ballast
( timeout 100 build-gpu/test_queues_cuda | tail -6; timeout 60 build-gpu/test_faults | tail -3 ) 2>&1
( time build-gpu/ballast_demo 2>/dev/null ) 2>&1
for t in T1 T3 T1L T3L; do timeout 60 $B run uts --tree $t --device cuda --repeat 11 --json 2>&1 | pick $t; done
for t in T1XL T1XXL; do timeout 60 $B run uts --tree $t --device cuda --repeat 7 --json 2>&1 | pick $t; done
timeout 60 $B run uts --tree T3 --workers 528 --device cuda --repeat 11 --json 2>&1 | pick T3
for s in steal:abp steal:blocking steal:tz; do for t in T1L T3L; do timeout 60 $B run uts --tree $t --scheduler $s --device cuda --repeat 3 --json 2>&1 | pick $t; done; done
for d in uniform tube; do timeout 60 $B run octree --device cuda --distribution $d --scheduler steal:abp --repeat 21 --json 2>&1 | pick "octree $d"; done
timeout 60 $B run octree --device cuda --max-depth 1 --scheduler steal:abp --repeat 21 --json 2>&1 | pick "octree root"
for n in 1M 5M 15M; do timeout 60 $B run octree --device cuda --particles $n --repeat 5 --json 2>&1 | pick "octree $n"; done
cmake --install build-gpu --prefix /tmp/p >/dev/null && cmake -S examples -B /tmp/e -DCMAKE_PREFIX_PATH=/tmp/p >/dev/null && cmake --build /tmp/e -j8 2>&1 | grep -E 'error|Built' ; /tmp/e/01_cpu; /tmp/e/02_one_source cuda 14; /tmp/e/02_one_source cpu 12
build-gpu/uts_peers --repeats 3 T1 T3 2>&1 | tail -40
