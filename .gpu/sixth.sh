pick() { python3 -c "
import json,sys
for l in sys.stdin:
  try: o=json.loads(l)
  except Exception: print(l.strip()); continue
  print('$1',o['app'],o['scheduler'],o['group'],o['workers'],'ms %.3f'%(1e3*o['seconds']),'min %.3f'%(1e3*min(o['seconds_all'])),'peak',o['peak_tasks'],'steals',o['steals'],'bal %.3f'%o['balance'],o['checked'],o['result'].get('digest',o['result'].get('nodes')))
"; }
( cmake -S . -B build-gpu -DCMAKE_BUILD_TYPE=Release && time cmake --build build-gpu -j16 ) > /tmp/build.log 2>&1 || grep -E 'error|Error' /tmp/build.log | head -20
grep real /tmp/build.log
B=build-gpu/ballast
( time timeout 200 ctest --test-dir build-gpu -j6 --output-on-failure -E 'cli|examples' ) 2>&1 | tail -45
for t in memcheck racecheck synccheck; do
 timeout 60 compute-sanitizer --tool $t $B run octree --device cuda --particles 3000 --json 2>&1 | grep -E 'SUMMARY|Error|hazard|checked' | cut -c1-200 | head -6
 timeout 60 compute-sanitizer --tool $t $B run uts --tree mini_T1_d5 --device cuda --json 2>&1 | grep -E 'SUMMARY|Error|hazard|checked' | cut -c1-200 | head -6
done
timeout 60 compute-sanitizer --tool memcheck $B run octree --device cuda --particles 3000 --scheduler abp --capacity 2 --json 2>&1 | grep -E 'SUMMARY|Error' | head -3
timeout 60 compute-sanitizer --tool memcheck $B run uts --tree mini_T1_d5 --device cuda --scheduler central:tz --capacity 2 --json 2>&1 | grep -E 'SUMMARY|Error' | head -3
timeout 60 $B run octree --device cuda --workers 99999 --json 2>&1 | cut -c1-200
for s in $($B list schedulers --app uts --device cuda --json | python3 -c "import json,sys; print(' '.join(x['name'] for x in json.load(sys.stdin)['schedulers']))"); do for t in T1 T3; do timeout 60 $B run uts --tree $t --device cuda --scheduler $s --json 2>&1 | pick $t; done; done
