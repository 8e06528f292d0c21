/* Example 4, a queue inside a kernel: every thread pops numbers from a Broker Queue and pushes the new ones it finds,
 * so all blocks share work that is discovered as they go. You need only the header.
 *
 *     nvcc -O2 -arch=native 04_queue_in_a_kernel.cu -o 04_queue_in_a_kernel
 *
 * The work: how many numbers below LIMIT can be reached from 1 by n -> 2n and n -> 3n + 1? */
#include <ballast/queues/broker.h>

#include <cstdio>
#include <vector>

static const uint32_t LIMIT = 1u << 22;

/* Pushes a number that no thread has reached yet. `open` counts the numbers that are queued or being processed. */
static __device__ void reach(bl_broker *q, uint32_t *reached, uint32_t *open, uint32_t n) {
    if (n >= LIMIT || (bl_fetch_or32_relaxed(reached + n / 32, 1u << n % 32) >> n % 32 & 1))
        return;
    bl_fetch_add32_relaxed(open, 1);
    bl_broker_push(q, &n); /* never FULL: each number is pushed once, and there is room for all */
}

static __global__ void set_up(void *memory, bl_shape shape, uint32_t *reached, uint32_t *open) {
    bl_broker q;
    bl_broker_bind(&q, memory, shape, 0);
    bl_broker_init(&q, 0, threadIdx.x, blockDim.x);
    __syncthreads();
    if (threadIdx.x == 0)
        reach(&q, reached, open, 1);
}

/* An empty queue does not end the search, since another thread may still push. The search ends when no number is
 * open. */
static __global__ void search(void *memory, bl_shape shape, uint32_t *reached, uint32_t *open) {
    bl_broker q;
    bl_broker_bind(&q, memory, shape, blockIdx.x * blockDim.x + threadIdx.x);
    for (uint32_t tries = 0, n; bl_load32_relaxed(open);) {
        if (bl_broker_pop(&q, &n) != BL_QUEUE_DONE) {
            bl_backoff(tries++);
            continue;
        }
        reach(&q, reached, open, 2 * n);
        reach(&q, reached, open, 3 * n + 1);
        bl_fetch_add32_relaxed(open, 0u - 1);
        tries = 0;
    }
}

/* The same on one CPU thread. */
static uint32_t expected(void) {
    std::vector<bool> reached(LIMIT);
    std::vector<uint32_t> stack(1, 1);
    uint32_t count = 1;
    reached[1] = true;
    while (!stack.empty()) {
        uint32_t n = stack.back(), next[] = {2 * n, 3 * n + 1};
        stack.pop_back();
        for (uint32_t m : next)
            if (m < LIMIT && !reached[m]) {
                reached[m] = true;
                stack.push_back(m);
                count++;
            }
    }
    return count;
}

int main() {
    int device = 0, blocks = 0;
    cudaDeviceProp properties;
    if (cudaGetDevice(&device) != cudaSuccess || cudaGetDeviceProperties(&properties, device) != cudaSuccess) {
        printf("no CUDA device\n");
        return 77;
    }
    /* Threads wait for each other inside the queue, so all blocks must be resident at the same time. */
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, search, 256, 0);
    blocks *= properties.multiProcessorCount;

    bl_shape shape = {LIMIT, 1, (uint32_t)blocks * 256};
    bl_fit fit = BL_SHAPE_FIT(bl_broker, &shape);
    if (fit > BL_FIT_ROUNDED) {
        printf("no such queue: %s\n", bl_fit_text(fit));
        return 1;
    }
    void *memory;
    uint32_t *words; /* a bit per number, then `open` */
    if (cudaMalloc(&memory, bl_broker_bytes(shape)) != cudaSuccess || cudaMalloc(&words, LIMIT / 8 + 4) != cudaSuccess)
        return 1;
    cudaMemset(words, 0, LIMIT / 8 + 4);
    set_up<<<1, 1024>>>(memory, shape, words, words + LIMIT / 32);
    search<<<blocks, 256>>>(memory, shape, words, words + LIMIT / 32);

    std::vector<uint32_t> reached(LIMIT / 32);
    if (cudaMemcpy(reached.data(), words, LIMIT / 8, cudaMemcpyDeviceToHost) != cudaSuccess) {
        printf("%s\n", cudaGetErrorString(cudaGetLastError()));
        return 1;
    }
    uint32_t count = 0;
    for (uint32_t word : reached)
        for (; word; word &= word - 1)
            count++;
    printf("%u numbers reached by %d threads on %s\n", count, blocks * 256, properties.name);
    cudaFree(memory);
    cudaFree(words);
    return count == expected() ? 0 : 1;
}
