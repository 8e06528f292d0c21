( cmake -S . -B build-gpu && cmake --build build-gpu -j16 --target test_queues_cuda ballast ballast_demo test_faults ) 2>&1 | grep -E ' error'
( time timeout 100 build-gpu/test_queues_cuda ) 2>&1 | tail -8
build-gpu/test_faults | tail -1
build-gpu/ballast_demo 2>/dev/null | grep -E 'blocking|method|octree|steal:abp|fastest'
for t in T1 T3; do timeout 20 build-gpu/ballast run uts --tree $t --scheduler central:blocking --device cuda --json | cut -c1-330; done
