nvcc -arch=sm_90 -std=c++17 -Iinclude -Ibuild-gpu/include -Isrc -Ibuild-gpu/tests -Itests tests/test_queues_cuda.cu -Lbuild-gpu -lballast -Xlinker -rpath=$PWD/build-gpu -o /tmp/q 2>&1 | grep -E 'error' | head
ls build-gpu/libballast* 2>&1 | head
( time timeout 120 /tmp/q ) 2>&1 | tail -12
