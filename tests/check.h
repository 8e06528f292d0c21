/* Shared by all test programs: CHECK counts and reports where it failed, check_end prints the totals and returns the
 * exit status, and check_limit ends a test that hangs, even if its caller sets no limit. check_now is a clock,
 * and check_random32 and check_below give the same numbers on every machine.
 *
 * CHECK is for one thread: other threads and lanes report through memory, and the thread that joins them checks. */
#ifndef BALLAST_TESTS_CHECK_H
#define BALLAST_TESTS_CHECK_H

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer)
#define CHECK_SLOWER 4
#elif __has_feature(thread_sanitizer)
#define CHECK_SLOWER 12
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define CHECK_SLOWER 4
#elif defined(__SANITIZE_THREAD__)
#define CHECK_SLOWER 12
#endif
#ifndef CHECK_SLOWER
#define CHECK_SLOWER 1 /* factor by which a test should reduce its work under this sanitizer */
#endif

enum { CHECK_SKIPPED = 77 };

static unsigned long check_passed, check_failed;
static char check_doing[256]; /* for check_limit, and printed before every failure */

/* `check_at("%s on %s", ...)` sets what is being tested. */
#define check_at(...) ((void)snprintf(check_doing, sizeof check_doing, __VA_ARGS__))

#define CHECK(x) check_that((x) ? 1 : 0, __FILE__, __LINE__, #x)
/* Compares two numbers, and prints both if they differ. */
#define CHECK_SAME(a, b) check_same((unsigned long long)(a), (unsigned long long)(b), __FILE__, __LINE__, #a " == " #b)

/* Several threads may check. */
static inline void check_count(unsigned long *number) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    ++*number;
    pthread_mutex_unlock(&lock);
}

static inline void check_print(const char *file, int line, const char *what) {
    const char *slash = strrchr(file, '/');
    check_count(&check_failed);
    printf("%s:%d: failed: %s%s%s", slash ? slash + 1 : file, line, what, *check_doing ? ": " : "", check_doing);
}

static inline int check_pass(void) { return check_count(&check_passed), 1; }

static inline int check_that(int right, const char *file, int line, const char *what) {
    if (right)
        return check_pass();
    check_print(file, line, what);
    printf("\n");
    return 0;
}

static inline int check_same(unsigned long long a, unsigned long long b, const char *file, int line, const char *what) {
    if (a == b)
        return check_pass();
    check_print(file, line, what);
    printf(": %llu, %llu\n", a, b);
    return 0;
}

static inline int check_end(void) {
    printf("%lu passed, %lu failed\n", check_passed, check_failed);
    return check_failed ? 1 : 0;
}

/* Seconds, on a clock that never goes back. */
static inline double check_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Knuth's linear congruential generator, of which only the upper bits are random. Any state will do. */
static inline uint64_t check_random(uint64_t *state) {
    return *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
}
static inline uint32_t check_random32(uint64_t *state) { return (uint32_t)(check_random(state) >> 32); }
static inline uint32_t check_below(uint64_t *state, uint32_t n) { return (uint32_t)((check_random(state) >> 33) % n); }

/* Calls only async-signal-safe functions. */
static inline void check_too_long(int signal_number) {
    static const char text[] = "hangs, or takes too long: ";
    (void)signal_number;
    if (write(1, text, sizeof text - 1) < 0 || write(1, check_doing, strlen(check_doing)) < 0 || write(1, "\n", 1) < 0)
        _exit(3);
    _exit(3);
}

static inline void check_limit(unsigned seconds) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = check_too_long;
    sigaction(SIGALRM, &action, NULL);
    setvbuf(stdout, NULL, _IOLBF, 0); /* what was printed before a hang must be visible */
    alarm(seconds);
}

#endif
