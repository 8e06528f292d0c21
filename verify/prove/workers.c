/* Each process takes the next job from a counter in shared memory, and leaves its number where the parent finds it. */
#include "workers.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { WORKERS = 64, NO_JOB = 0 };

typedef struct shared {
    atomic_uint next, done;
    atomic_uint job[WORKERS]; /* the current job of each worker, from 1 */
} shared;

void *workers_share(size_t bytes) {
    void *at = mmap(NULL, bytes ? bytes : 1, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

static void live(const workers_plan *plan, shared *s, uint32_t self) {
    for (;;) {
        uint32_t job = atomic_fetch_add(&s->next, 1);
        if (job >= plan->jobs)
            _exit(0);
        atomic_store(&s->job[self], job + 1);
        plan->work(plan->arg, job);
        fflush(stdout);
        atomic_store(&s->job[self], NO_JOB);
        atomic_fetch_add(&s->done, 1);
    }
}

static pid_t begin(const workers_plan *plan, shared *s, uint32_t self) {
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0)
        live(plan, s, self);
    return pid;
}

/* Whether the worker has ended for good. */
static bool look_after(const workers_plan *plan, shared *s, pid_t *pid, uint32_t self) {
    int status;
    if (waitpid(*pid, &status, WNOHANG) != *pid)
        return false;
    uint32_t job = atomic_exchange(&s->job[self], NO_JOB);
    if (job != NO_JOB) {
        plan->crashed(plan->arg, job - 1);
        atomic_fetch_add(&s->done, 1);
    }
    if (atomic_load(&s->next) >= plan->jobs)
        return true;
    *pid = begin(plan, s, self);
    return *pid < 0;
}

bool workers_run(const workers_plan *plan) {
    shared *s = workers_share(sizeof *s);
    pid_t pid[WORKERS];
    uint32_t count = plan->workers < WORKERS ? plan->workers : WORKERS, left = 0;
    bool gone[WORKERS] = {false};
    if (!s)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        pid[i] = begin(plan, s, i);
        gone[i] = pid[i] < 0;
        left += !gone[i];
    }
    while (left) {
        for (uint32_t i = 0; i < count; i++)
            if (!gone[i] && look_after(plan, s, &pid[i], i)) {
                gone[i] = true;
                left--;
            }
        plan->progress(plan->arg, atomic_load(&s->done));
        nanosleep(&(struct timespec){0, 20000000}, NULL);
    }
    bool all = atomic_load(&s->done) == plan->jobs;
    munmap(s, sizeof *s);
    return all;
}
