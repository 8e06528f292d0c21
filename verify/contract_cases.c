/* The host's side of contract_cases.inc.h: memory, the cases and their sizes, and messages about failures. */
#include "verify.h"

#include <ballast/parts/pool.h>
#include <string.h>

/* After this many failures of a queue its crowds are skipped, since each may wait for its full patience. */
enum { ENOUGH = 4 };

static const char *const case_names[] = {"smoke", "boundaries", "order",  "walk",   "set-up",
                                         "audit", "traffic",    "tokens", "visits", "tickets"};

contract_run contract_open(const verify_target *target, const verify_queue *queue) {
    contract_run r = {.target = target, .queue = queue};
    r.layout = target->layout[0];
    return r;
}

contract_client contract_shape(const contract_run *r, uint32_t capacity, uint32_t words, uint32_t start, uint32_t seed,
                               uint32_t items) {
    contract_client c = {.capacity = capacity, .words = words, .start = start, .seed = seed, .items = items};
    c.threads = 1;
    c.batch = 1;
    c.meets = r->target->meets;
    c.behind_words = CONTRACT_WORDS;
    c.patience = r->target->patience;
    return c;
}

static const char *name_of(const contract_run *r) { return r->queue ? r->queue->name : "pool"; }
static bool is_deque(const contract_run *r) { return r->queue->kind == BL_QUEUE_KIND_DEQUE; }
static bool waits(const contract_run *r) { return r->queue->kind == BL_QUEUE_KIND_WAITING; }

/* Among the lanes of a warp, a waiting lane may hold up the one it waits for. */
bool contract_fits(const contract_run *r) {
    return !waits(r) || (r->queue->flags & BL_QUEUE_ALL_PARADIGMS) || r->layout.stride != 1;
}

/* ---- failures ---- */

/* One failure of a case, printed in the form of the tests' CHECK. */
static void say(contract_run *r, const contract_client *c, contract_case what, const char *trouble) {
    char text[VERIFY_TEXT];
    const contract_report *f = &c->report;
    if (trouble)
        snprintf(text, sizeof text, "%s %s: %s", name_of(r), case_names[what], trouble);
    else
        snprintf(text, sizeof text, "%s %s: rank %u: got %u (0x%x), wanted %u; %u failures", name_of(r),
                 case_names[what], f->rank, f->got, f->got, f->wanted, f->failures);
    if (r->out) {
        fprintf(r->out, "contract_cases.inc.h:%u: failed: %s\n", f->line, text);
        fprintf(r->out, "    capacity %u, words %u, start %u, seed %u, %u threads, %u producers, %u consumers, ",
                c->capacity, c->words, c->start, c->seed, c->threads, c->producers, c->consumers);
        fprintf(r->out, "%u items, batch %u\n", c->items, c->batch);
    }
    if (r->failures++ == 0)
        snprintf(r->first, sizeof r->first, "%s (contract_cases.inc.h:%u, %s)", text, f->line, r->layout.text);
}

/* ---- one case ---- */

static size_t bytes_of(const contract_run *r, const contract_client *c) {
    bl_shape shape = {c->capacity, c->words, c->threads};
    return r->queue->bytes(shape);
}

static uint32_t *words_of(const contract_run *r, uint64_t count, int byte) {
    size_t bytes = 4 * (size_t)(count ? count : 1);
    void *memory = r->target->alloc(bytes);
    if (memory)
        r->target->fill(memory, byte, bytes);
    return memory;
}

static void take_memory(const contract_run *r, contract_client *c, uint64_t bytes, uint32_t values) {
    uint64_t words = (bytes + 3) / 4;
    c->bytes = 4 * words;
    c->memory = (unsigned char *)words_of(r, words + CONTRACT_GUARD, 0xa5);
    c->seen = words_of(r, values, 0);
}

static void give_memory(const contract_run *r, const contract_client *c) {
    r->target->release(c->memory);
    r->target->release(c->seen);
    r->target->release(c->behind);
    r->target->release(c->last);
}

/* One launch; afterwards c holds the result. */
static bool run_there(const contract_run *r, contract_client *there, contract_client *c, contract_case what) {
    verify_code code = r->queue ? r->queue->contract : r->target->pool;
    bool ended = r->target->run(code, there, what, c, &r->layout);
    if (!r->target->trouble())
        r->target->copy(c, there, sizeof *c);
    return ended;
}

/* Set-up, the case and the audit, on a copy of the client that the target can access. */
static bool run_all(const contract_run *r, contract_client *there, contract_client *c, contract_case what) {
    bool alone = what < CONTRACT_SET_UP;
    r->target->copy(there, c, sizeof *c);
    if (!alone && !run_there(r, there, c, CONTRACT_SET_UP))
        return false;
    if (!run_there(r, there, c, what))
        return false;
    /* After a failure an audit would only count the loss again. */
    return alone || c->report.failures || run_there(r, there, c, CONTRACT_AUDIT);
}

/* False if something was wrong. `memory`: there was enough of it. */
static bool run_case(contract_run *r, contract_client *c, contract_case what, bool memory) {
    const verify_target *t = r->target;
    contract_client *there = memory ? t->alloc(sizeof *c) : NULL;
    if (r->doing)
        snprintf(r->doing, VERIFY_TEXT, "%s %s, capacity %u, %u threads, seed %u", name_of(r), case_names[what],
                 c->capacity, c->threads, c->seed);
    r->cases++;
    bool ended = there && run_all(r, there, c, what);
    const char *trouble = t->trouble() ? t->trouble() : !there ? "out of memory" : !ended ? "never ends" : NULL;
    bool right = !trouble && !c->report.failures;
    if (!right)
        say(r, c, what, trouble);
    if (!t->trouble()) { /* otherwise a thread may still be using it */
        t->release(there);
        give_memory(r, c);
    }
    return right;
}

/* ---- one thread ---- */

static void all_cases(contract_run *r, contract_client c) {
    for (int what = CONTRACT_SMOKE; what <= CONTRACT_WALK && !r->target->trouble(); what++) {
        contract_client fresh = c;
        take_memory(r, &fresh, bytes_of(r, &c), 0);
        run_case(r, &fresh, (contract_case)what, fresh.memory && fresh.seen);
    }
}

void contract_alone(contract_run *r, uint32_t steps) {
    static const uint32_t capacities[] = {1, 2, 4, CONTRACT_DEEP}, words[] = {1, 3, CONTRACT_WORDS};
    /* Counters that wrap in the middle of the case, at 2^32 and where a signed difference would. */
    static const uint32_t starts[] = {0, UINT32_MAX - 2, UINT32_MAX, UINT32_MAX - 63, (UINT32_C(1) << 31) - 3};
    for (uint32_t i = 0; i < 4; i++)
        for (uint32_t k = 0; k < (r->queue->by_handle ? 1u : 3u); k++)
            for (uint32_t s = 0; s < 5 && capacities[i] >= r->queue->least; s++)
                all_cases(r, contract_shape(r, capacities[i], words[k], starts[s], i * 16 + k * 5 + s + 1, steps));
}

/* ---- many threads ---- */

bool contract_crowd(contract_run *r, contract_client c, uint32_t producers, uint32_t consumers) {
    if (r->failures >= ENOUGH || r->target->trouble())
        return false;
    while (waits(r) && producers == c.threads && c.capacity < c.threads)
        c.capacity *= 2; /* all may push before any of them pops */
    c.producers = is_deque(r) ? 1 : producers;
    c.consumers = is_deque(r) ? c.threads : consumers;
    if (is_deque(r))
        c.items *= producers;
    uint32_t values = c.producers * c.items;
    take_memory(r, &c, bytes_of(r, &c), values);
    c.behind = words_of(r, (uint64_t)values * (r->queue->by_handle ? c.behind_words : 1), 0xa5);
    c.last = words_of(r, (uint64_t)c.threads * c.producers, 0);
    r->operations += 2 * (uint64_t)values;
    return run_case(r, &c, CONTRACT_TRAFFIC, c.memory && c.seen && c.behind && c.last);
}

bool contract_tokens(contract_run *r, contract_client c) {
    if (waits(r) || is_deque(r)) /* the former never return EMPTY or FULL, the latter have one owner */
        return true;
    if (r->failures >= ENOUGH || r->target->trouble())
        return false;
    while (c.capacity < c.threads)
        c.capacity *= 2;
    take_memory(r, &c, bytes_of(r, &c), c.threads);
    r->operations += 2 * (uint64_t)c.threads * c.items;
    return run_case(r, &c, CONTRACT_TOKENS, c.memory && c.seen);
}

bool contract_visits(contract_run *r, contract_client c) {
    if (waits(r) || is_deque(r)) /* the former wait for work, the latter have one owner */
        return true;
    if (r->failures >= ENOUGH || r->target->trouble())
        return false;
    c.visits = c.items;
    c.items *= c.batch;
    c.producers = c.threads;
    take_memory(r, &c, bytes_of(r, &c), c.threads * c.items);
    r->operations += (uint64_t)c.threads * c.visits;
    return run_case(r, &c, CONTRACT_VISITS, c.memory && c.seen);
}

/* c.capacity, the slots, must be a power of two. */
bool contract_tickets(contract_run *r, contract_client c) {
    while (c.capacity < c.threads * c.items)
        c.capacity *= 2;
    c.items = c.capacity / c.threads;
    c.capacity = c.items * c.threads; /* equal when the number of threads is a power of two */
    take_memory(r, &c, bytes_of(r, &c), c.capacity);
    return run_case(r, &c, CONTRACT_TICKETS, c.memory && c.seen);
}

bool contract_run_pool(contract_run *r, contract_client c, uint32_t handles, contract_case what) {
    c.capacity = handles;
    c.words = 3;
    take_memory(r, &c, bl__pool_bytes(handles, c.threads, c.words), handles);
    if (what == CONTRACT_TRAFFIC)
        c.behind = words_of(r, c.items, 0xff);
    return run_case(r, &c, what, c.memory && c.seen && (what != CONTRACT_TRAFFIC || c.behind));
}
