/* Fibers, see fiber.h. The object lies at the top of its own stack, so one mapping is all that a fiber needs. */
#include "fiber.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__has_feature)
#define BL__HAS_FEATURE(x) __has_feature(x)
#else
#define BL__HAS_FEATURE(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || BL__HAS_FEATURE(address_sanitizer)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#define BL__FIBER_ASAN 1
#endif
#if defined(__SANITIZE_THREAD__) || BL__HAS_FEATURE(thread_sanitizer)
#include <sanitizer/tsan_interface.h>
#define BL__FIBER_TSAN 1
#endif

#if defined(BL__FIBER_ASAN) || defined(BL__FIBER_TSAN)
#define BL__FIBER_STACK ((size_t)256 << 10) /* instrumented frames are several times as large */
#else
#define BL__FIBER_STACK ((size_t)64 << 10)
#endif

/* ---- the sanitizers ---- */

/* ThreadSanitizer keeps a stack of calls for each fiber, on which those of abandoned lives pile up; to make a new one
 * takes longer than most lives. */
#define RESTARTS_PER_LIFE 500u

static void leaving(bl__fiber *from, bl__fiber *to, int for_good) {
    to->came_from = from;
#if defined(BL__FIBER_ASAN)
    __sanitizer_start_switch_fiber(for_good ? NULL : &from->fake_stack, to->stack, to->stack_bytes);
#endif
#if defined(BL__FIBER_TSAN)
    __tsan_switch_to_fiber(to->tsan, 0); /* 0: what one fiber did happened before what the next one does */
#endif
    (void)for_good;
}

static void arrived(bl__fiber *self) {
#if defined(BL__FIBER_ASAN)
    const void *stack;
    size_t bytes;
    __sanitizer_finish_switch_fiber(self->fake_stack, &stack, &bytes);
    self->came_from->stack = (void *)(uintptr_t)stack; /* the only way to learn it of an adopted thread */
    self->came_from->stack_bytes = bytes;
#endif
    (void)self;
}

/* An abandoned fiber leaves its frames behind. */
static void forget_frames(bl__fiber *f) {
    f->fake_stack = NULL;
#if defined(BL__FIBER_ASAN)
    __asan_unpoison_memory_region(f->stack, f->stack_bytes);
#endif
}

static void begin_life(bl__fiber *f) {
    f->restarts = 0;
    forget_frames(f);
#if defined(BL__FIBER_TSAN)
    f->tsan = __tsan_create_fiber(0);
#endif
}

static void end_life(bl__fiber *f) {
#if defined(BL__FIBER_TSAN)
    __tsan_destroy_fiber(f->tsan);
#endif
    (void)f;
}

/* ---- the switch ---- */

#if BL__FIBER_ASM

/* Pushes what a call preserves, leaves the stack pointer in *save, and continues from the stack pointer next. */
void bl__fiber_jump(void **save, void *next);
void bl__fiber_start(void);
void bl__fiber_main(bl__fiber *self);

#if defined(__aarch64__)
/* The frame, in words from sp: x19-x28, x29, x30, d8-d15. A new fiber starts with itself in x19. */
enum { FRAME_WORDS = 20, FRAME_SELF = 0, FRAME_RETURN = 11 };
__asm__(".text\n.p2align 4\n"
        ".globl bl__fiber_jump\n.hidden bl__fiber_jump\n.type bl__fiber_jump, %function\n"
        "bl__fiber_jump:\n"
        "    hint #34\n" /* bti c */
        "    sub sp, sp, #160\n"
        "    stp x19, x20, [sp, #0]\n    stp x21, x22, [sp, #16]\n    stp x23, x24, [sp, #32]\n"
        "    stp x25, x26, [sp, #48]\n    stp x27, x28, [sp, #64]\n    stp x29, x30, [sp, #80]\n"
        "    stp d8, d9, [sp, #96]\n    stp d10, d11, [sp, #112]\n"
        "    stp d12, d13, [sp, #128]\n    stp d14, d15, [sp, #144]\n"
        "    mov x2, sp\n    str x2, [x0]\n    mov sp, x1\n"
        "    ldp x19, x20, [sp, #0]\n    ldp x21, x22, [sp, #16]\n    ldp x23, x24, [sp, #32]\n"
        "    ldp x25, x26, [sp, #48]\n    ldp x27, x28, [sp, #64]\n    ldp x29, x30, [sp, #80]\n"
        "    ldp d8, d9, [sp, #96]\n    ldp d10, d11, [sp, #112]\n"
        "    ldp d12, d13, [sp, #128]\n    ldp d14, d15, [sp, #144]\n"
        "    add sp, sp, #160\n    ret\n"
        ".size bl__fiber_jump, .-bl__fiber_jump\n"
        ".globl bl__fiber_start\n.hidden bl__fiber_start\n.type bl__fiber_start, %function\n"
        "bl__fiber_start:\n    .cfi_startproc\n    .cfi_undefined x30\n" /* unwinding ends here */
        "    mov x0, x19\n    bl bl__fiber_main\n    brk #1\n    .cfi_endproc\n"
        ".size bl__fiber_start, .-bl__fiber_start\n");
#else
/* The frame, in words from rsp: r15, r14, r13, r12, rbx, rbp, return address. A new fiber starts with itself in rbx. */
enum { FRAME_WORDS = 7, FRAME_SELF = 4, FRAME_RETURN = 6 };
__asm__(".text\n.p2align 4\n"
        ".globl bl__fiber_jump\n.hidden bl__fiber_jump\n.type bl__fiber_jump, @function\n"
        "bl__fiber_jump:\n"
        "    pushq %rbp\n    pushq %rbx\n    pushq %r12\n    pushq %r13\n    pushq %r14\n    pushq %r15\n"
        "    movq %rsp, (%rdi)\n    movq %rsi, %rsp\n"
        "    popq %r15\n    popq %r14\n    popq %r13\n    popq %r12\n    popq %rbx\n    popq %rbp\n"
        "    ret\n"
        ".size bl__fiber_jump, .-bl__fiber_jump\n"
        ".globl bl__fiber_start\n.hidden bl__fiber_start\n.type bl__fiber_start, @function\n"
        "bl__fiber_start:\n    .cfi_startproc\n    .cfi_undefined rip\n" /* unwinding ends here */
        "    movq %rbx, %rdi\n    call bl__fiber_main\n    ud2\n    .cfi_endproc\n"
        ".size bl__fiber_start, .-bl__fiber_start\n");
#endif

static void jump(bl__fiber *from, bl__fiber *to) { bl__fiber_jump(&from->sp, to->sp); }

#else

void bl__fiber_main(bl__fiber *self);

static void jump(bl__fiber *from, bl__fiber *to) { swapcontext(&from->context, &to->context); }

/* makecontext passes ints only. */
static void start(unsigned high, unsigned low) {
    bl__fiber_main((bl__fiber *)(((uintptr_t)high << 16 << 16) | (uintptr_t)low));
}

#endif

/* Called by bl__fiber_start, which the compiler does not see. */
__attribute__((used, visibility("hidden"))) void bl__fiber_main(bl__fiber *self) {
    arrived(self);
    bl__fiber *to = self->entry(self->arg);
    leaving(self, to, 1);
    jump(self, to);
}

static void prepare(bl__fiber *f) {
#if BL__FIBER_ASM
    uintptr_t *frame = (uintptr_t *)f - FRAME_WORDS; /* above it the stack is empty, and aligned as f is */
    for (int i = 0; i < FRAME_WORDS; i++)
        frame[i] = 0;
    frame[FRAME_SELF] = (uintptr_t)f;
    frame[FRAME_RETURN] = (uintptr_t)bl__fiber_start;
    f->sp = frame;
#else
    getcontext(&f->context);
    f->context.uc_stack.ss_sp = f->stack;
    f->context.uc_stack.ss_size = f->stack_bytes;
    f->context.uc_link = NULL;
    uintptr_t self = (uintptr_t)f;
    makecontext(&f->context, (void (*)(void))start, 2, (unsigned)(self >> 16 >> 16), (unsigned)self);
#endif
}

void bl__fiber_switch(bl__fiber *from, bl__fiber *to) {
    leaving(from, to, 0);
    jump(from, to);
    arrived(from);
}

void bl__fiber_adopt(bl__fiber *self) {
    self->stack = self->fake_stack = NULL;
    self->stack_bytes = 0;
#if defined(BL__FIBER_TSAN)
    self->tsan = __tsan_get_current_fiber();
#endif
}

/* ---- stacks ---- */

/* One pool for all OS threads: it is asked once per fiber and run, and a thread that ends leaves nothing behind. */
static pthread_mutex_t pool_lock = PTHREAD_MUTEX_INITIALIZER;
static bl__fiber *pool;

static size_t round_up(size_t n, size_t to) { return (n + to - 1) / to * to; }
static size_t page_bytes(void) { return (size_t)sysconf(_SC_PAGESIZE); }
static size_t top_bytes(void) { return round_up(sizeof(bl__fiber), 64); }

/* Mappings begin at a page, so equal frames of all stacks would share a few sets of the cache. Each stack begins
 * elsewhere within a page. */
static size_t next_shift(void) {
    static _Atomic unsigned stacks;
    const unsigned line = 64, lines_apart = 11, lines = 64; /* 11 has no factor in common with 64 */
    return (size_t)(atomic_fetch_add(&stacks, 1) * lines_apart % lines * line);
}

static bl__fiber *map_stack(size_t bytes) {
    size_t shift = next_shift(), page = page_bytes(), total = round_up(bytes + top_bytes() + shift, page) + page;
    char *base = (char *)mmap(NULL, total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == (char *)MAP_FAILED)
        return NULL;
    if (mprotect(base, page, PROT_NONE) != 0) {
        munmap(base, total);
        return NULL;
    }
    bl__fiber *f = (bl__fiber *)(void *)(base + total - top_bytes() - shift);
    f->stack = base + page;
    f->stack_bytes = total - page - top_bytes() - shift;
    f->mapped_bytes = total;
    return f;
}

static void unmap_stack(bl__fiber *f) {
    munmap((char *)f->stack - page_bytes(), f->mapped_bytes);
}

static bl__fiber *take_from_pool(size_t bytes) {
    pthread_mutex_lock(&pool_lock);
    bl__fiber **link = &pool;
    while (*link && (*link)->stack_bytes < bytes)
        link = &(*link)->next;
    bl__fiber *f = *link;
    if (f)
        *link = f->next;
    pthread_mutex_unlock(&pool_lock);
    return f;
}

bl__fiber *bl__fiber_create(size_t stack_bytes, bl__fiber_entry entry, void *arg) {
    size_t bytes = stack_bytes ? stack_bytes : BL__FIBER_STACK;
    bl__fiber *f = take_from_pool(bytes);
    if (!f && !(f = map_stack(bytes)))
        return NULL;
    f->entry = entry;
    f->arg = arg;
    begin_life(f);
    prepare(f);
    return f;
}

void bl__fiber_restart(bl__fiber *f) {
    if (++f->restarts % RESTARTS_PER_LIFE == 0) {
        end_life(f);
        begin_life(f);
    }
    forget_frames(f);
    prepare(f);
}

void bl__fiber_destroy(bl__fiber *f) {
    end_life(f);
    pthread_mutex_lock(&pool_lock);
    f->next = pool;
    pool = f;
    pthread_mutex_unlock(&pool_lock);
}

void bl__fiber_trim(void) {
    pthread_mutex_lock(&pool_lock);
    bl__fiber *f = pool;
    pool = NULL;
    pthread_mutex_unlock(&pool_lock);
    while (f) {
        bl__fiber *next = f->next;
        unmap_stack(f);
        f = next;
    }
}
