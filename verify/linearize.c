/* Wing and Gong, "Testing and Verifying Concurrent Objects" (1993); Lowe, "Testing for linearizability" (2017).
 *
 * The idea: apply one operation after another to a sequential queue, always one that no remaining operation must
 * precede and that the queue answers as recorded; backtrack when none fits. Dead states are remembered, so the search
 * leaves at once when another order of the same operations leads to one. A state is the set of operations done, a mask,
 * and the contents.
 *
 *   contents   [ first+1 .. last | items[head] .. items[tail-1] ]     oldest on the left
 *               filled at start    pushed, each as the number of its push
 *
 * The mask determines which initial items are left, so the memo keeps only items[head..tail); it compares them in full,
 * so no hash collision decides a verdict.
 *
 * Choices that need no alternative, so that the search is usually only over orders of pushes:
 *   - EMPTY or FULL where it fits: it changes nothing.
 *   - a take that fits, unless a FULL is still to come: until its item goes, nothing can be EMPTY and no other take
 *     can get past that item at this end, and a queue with one item less accepts all pushes that it accepted before.
 *   - among pushes of items that are never taken, the first to return: the items are alike, so in an order that begins
 *     with another the two can be swapped.
 * fifo_order derives before the search what FIFO order implies: items leave in the order in which they came.
 *
 * Limits: LIN_GAVE_UP when there are more dead states than the memo may hold, or no memory for them, more than LIN_OPS
 * operations, and for records that cannot be judged: a value pushed twice, or a return before its call. If FULL is not
 * claimed to be exact, the capacity is no bound. */
#include "linearize.h"

#include <ballast/queues/contract.h>
#include <stdlib.h>
#include <string.h>

enum { MEMO_FIRST = 1 << 10, MEMO_MOST = 1 << 20 }; /* slots, of 80 bytes each */
/* initial values begin at 1, so STAYS is not one of them */
enum { NONE = 0xff, STAYS = LIN_OPS, VALUES = 2 * LIN_OPS };

static const uint64_t NO_ITEM = UINT64_MAX;

typedef enum lin_act { IGNORED, ADD, TAKE_OLDEST, TAKE_NEWEST, SEE_EMPTY, SEE_FULL, IMPOSSIBLE } lin_act;

typedef struct memo_slot {
    uint64_t done;
    uint32_t hash, stamp; /* in use if the stamp is that of this history */
    uint8_t items[LIN_OPS];
} memo_slot;

struct lin_search {
    /* The operations of the history that count, sorted by return, so that the first one left is the most urgent. */
    uint32_t count;
    uint8_t number[LIN_OPS]; /* index in the caller's history */
    uint8_t act[LIN_OPS];
    uint64_t item[LIN_OPS];   /* added or taken: the number of its push, STAYS, or LIN_OPS + an initial value */
    uint8_t taker[LIN_OPS];   /* of a push: the operation that took its item, or NONE */
    uint8_t earlier[LIN_OPS]; /* how many operations had returned when it was called: the first ones */
    uint64_t before[LIN_OPS]; /* the operations that must precede it */
    uint64_t fulls;           /* the SEE_FULL */
    uint64_t capacity;        /* UINT64_MAX: no bound */

    /* The state. */
    uint64_t done, first, last;
    uint8_t items[LIN_OPS];
    uint32_t head, tail;

    /* The path to it: per level what is still to be tried, whether to remember it, and which operation was chosen. */
    uint64_t untried[LIN_OPS + 1];
    bool branches[LIN_OPS + 1];
    uint8_t chosen[LIN_OPS];
    uint32_t depth;

    /* For lin_print: why there is no order, and the longest prefix of one. */
    const char *why;
    uint8_t culprit, longest[LIN_OPS];
    uint32_t longest_count;

    uint8_t pushes[VALUES]; /* by their values, open addressing */

    memo_slot *memo;
    uint32_t slots, used, stamp;
};

static uint64_t bit(uint32_t i) { return (uint64_t)1 << i; }
static uint64_t first_bits(uint32_t n) { return n < 64 ? bit(n) - 1 : UINT64_MAX; }
static uint32_t lowest(uint64_t mask) { return (uint32_t)__builtin_ctzll(mask); }

lin_search *lin_open(void) {
    lin_search *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->slots = MEMO_FIRST;
    s->memo = calloc(s->slots, sizeof *s->memo);
    if (!s->memo) {
        free(s);
        return NULL;
    }
    return s;
}

void lin_close(lin_search *s) {
    if (s)
        free(s->memo);
    free(s);
}

/* ---- the memo: open addressing; a new stamp empties it ---- */

static void memo_clear(lin_search *s) {
    s->used = 0;
    if (++s->stamp)
        return;
    memset(s->memo, 0, s->slots * sizeof *s->memo); /* stamps start again, and 0 is that of an unused slot */
    s->stamp = 1;
}

static uint32_t memo_hash(const lin_search *s) {
    uint64_t hash = s->done * 0x9e3779b97f4a7c15u;
    for (uint32_t i = s->head; i < s->tail; i++)
        hash = (hash ^ (hash >> 29) ^ s->items[i]) * 0xbf58476d1ce4e5b9u;
    return (uint32_t)(hash >> 32);
}

/* The mask determines how many items there are, so only their order has to be compared. */
static bool memo_holds(const lin_search *s, const memo_slot *slot, uint32_t hash) {
    return slot->hash == hash && slot->done == s->done && !memcmp(slot->items, s->items + s->head, s->tail - s->head);
}

static bool memo_has(const lin_search *s) {
    if (!s->used)
        return false;
    uint32_t hash = memo_hash(s);
    for (uint32_t at = hash; s->memo[at & (s->slots - 1)].stamp == s->stamp; at++)
        if (memo_holds(s, &s->memo[at & (s->slots - 1)], hash))
            return true;
    return false;
}

static memo_slot *memo_free_slot(memo_slot *memo, uint32_t slots, uint32_t stamp, uint32_t hash) {
    uint32_t at = hash & (slots - 1);
    while (memo[at].stamp == stamp)
        at = (at + 1) & (slots - 1);
    return &memo[at];
}

static bool memo_grow(lin_search *s) {
    uint32_t slots = s->slots * 2;
    memo_slot *larger = slots <= MEMO_MOST ? calloc(slots, sizeof *larger) : NULL;
    if (!larger)
        return false;
    for (uint32_t i = 0; i < s->slots; i++)
        if (s->memo[i].stamp == s->stamp)
            *memo_free_slot(larger, slots, s->stamp, s->memo[i].hash) = s->memo[i];
    free(s->memo);
    s->memo = larger;
    s->slots = slots;
    return true;
}

static bool memo_add(lin_search *s) {
    if (s->used >= s->slots / 4 * 3 && !memo_grow(s))
        return false;
    uint32_t hash = memo_hash(s);
    memo_slot *slot = memo_free_slot(s->memo, s->slots, s->stamp, hash);
    slot->done = s->done;
    slot->hash = hash;
    slot->stamp = s->stamp;
    memcpy(slot->items, s->items + s->head, s->tail - s->head);
    s->used++;
    return true;
}

/* ---- the history ---- */

static lin_act act_of(const lin_op *op, const lin_spec *spec) {
    bool push = op->kind == LIN_PUSH;
    switch (op->outcome) {
    case BL_QUEUE_DONE:
        return push ? ADD : spec->deque && op->kind == LIN_POP ? TAKE_NEWEST : TAKE_OLDEST;
    case BL_QUEUE_EMPTY:
        return push ? IMPOSSIBLE : spec->empty ? SEE_EMPTY : IGNORED;
    case BL_QUEUE_FULL:
        return !push ? IMPOSSIBLE : spec->full ? SEE_FULL : IGNORED;
    case BL_QUEUE_RETRY:
        return IGNORED;
    default:
        return IMPOSSIBLE;
    }
}

static bool takes(uint32_t act) { return act == TAKE_OLDEST || act == TAKE_NEWEST; }

static lin_verdict refuse(lin_search *s, uint32_t number, const char *why) {
    s->culprit = (uint8_t)number;
    s->why = why;
    return LIN_NO;
}

/* Insertion sort: histories are ordered by thread or by time, and are short. */
static lin_verdict sort_by_return(lin_search *s, const lin_op *ops, uint32_t count, const lin_spec *spec) {
    s->count = 0;
    s->fulls = 0;
    for (uint32_t n = 0; n < count; n++) {
        lin_act act = act_of(&ops[n], spec);
        if (ops[n].returned < ops[n].called)
            return LIN_GAVE_UP;
        if (act == IMPOSSIBLE)
            return refuse(s, n, "an answer that no queue gives");
        if (act == IGNORED)
            continue;
        uint32_t at = s->count++;
        for (; at && ops[s->number[at - 1]].returned > ops[n].returned; at--)
            s->number[at] = s->number[at - 1];
        s->number[at] = (uint8_t)n;
    }
    for (uint32_t i = 0; i < s->count; i++) {
        s->act[i] = (uint8_t)act_of(&ops[s->number[i]], spec);
        s->fulls |= s->act[i] == SEE_FULL ? bit(i) : 0;
    }
    return LIN_YES;
}

static void order_of_time(lin_search *s, const lin_op *ops) {
    for (uint32_t i = 0; i < s->count; i++) {
        uint32_t n = i;
        while (n && ops[s->number[n - 1]].returned >= ops[s->number[i]].called)
            n--;
        s->earlier[i] = (uint8_t)n;
        s->before[i] = first_bits(n);
    }
}

/* The slot of the push of a value, or where it would be. */
static uint8_t *push_of(lin_search *s, const lin_op *ops, uint32_t value) {
    uint32_t at = value * 0x9e3779b9u >> 25; /* VALUES is 2^7 */
    while (s->pushes[at] != NONE && ops[s->number[s->pushes[at]]].value != value)
        at = (at + 1) % VALUES;
    return &s->pushes[at];
}

static bool filled_in(const lin_spec *spec, uint32_t value) { return value && value <= spec->filled; }

static lin_verdict name_pushed(lin_search *s, const lin_op *ops, const lin_spec *spec) {
    memset(s->pushes, NONE, sizeof s->pushes);
    memset(s->taker, NONE, sizeof s->taker);
    for (uint32_t i = 0; i < s->count; i++) {
        if (s->act[i] != ADD)
            continue;
        uint32_t value = ops[s->number[i]].value;
        uint8_t *place = push_of(s, ops, value);
        if (*place != NONE || filled_in(spec, value))
            return LIN_GAVE_UP; /* pushed twice */
        *place = (uint8_t)i;
        s->item[i] = i;
    }
    return LIN_YES;
}

static bool taken_before(const lin_search *s, uint32_t i) {
    if (s->item[i] < LIN_OPS)
        return s->taker[s->item[i]] != NONE;
    for (uint32_t j = 0; j < i; j++)
        if (takes(s->act[j]) && s->item[j] == s->item[i])
            return true;
    return false;
}

static lin_verdict name_taken(lin_search *s, const lin_op *ops, const lin_spec *spec) {
    for (uint32_t i = 0; i < s->count; i++) {
        if (!takes(s->act[i]))
            continue;
        uint32_t number = s->number[i], value = ops[number].value;
        uint32_t push = filled_in(spec, value) ? NONE : *push_of(s, ops, value);
        if (push == NONE && !filled_in(spec, value))
            return refuse(s, number, "a value that was never pushed");
        s->item[i] = push == NONE ? LIN_OPS + (uint64_t)value : push;
        if (taken_before(s, i))
            return refuse(s, number, "a value that was taken before");
        if (push != NONE)
            s->taker[push] = (uint8_t)i;
    }
    return LIN_YES;
}

static void start(lin_search *s, const lin_spec *spec) {
    s->capacity = spec->full ? spec->capacity : UINT64_MAX;
    s->done = s->first = 0;
    s->last = spec->filled;
    s->head = s->tail = s->depth = 0;
    s->longest_count = 0;
    memo_clear(s);
}

static lin_verdict load(lin_search *s, const lin_op *ops, uint32_t count, const lin_spec *spec) {
    s->why = NULL;
    if (count > LIN_OPS)
        return LIN_GAVE_UP;
    lin_verdict verdict = sort_by_return(s, ops, count, spec);
    if (verdict == LIN_YES)
        verdict = name_pushed(s, ops, spec);
    if (verdict == LIN_YES)
        verdict = name_taken(s, ops, spec);
    if (verdict != LIN_YES)
        return verdict;
    order_of_time(s, ops);
    start(s, spec);
    return LIN_YES;
}

/* ---- what can be decided before the search ---- */

/* Initial items leave oldest first, and all of them before any that was pushed: `pushed` says whether one of those was
 * taken. */
static bool filled_leave_in_order(const lin_search *s, bool pushed) {
    uint64_t taken = 0, youngest = 0;
    for (uint32_t i = 0; i < s->count; i++)
        if (takes(s->act[i]) && s->item[i] >= LIN_OPS) {
            taken++;
            youngest = s->item[i] - LIN_OPS > youngest ? s->item[i] - LIN_OPS : youngest;
        }
    return youngest == taken && (!pushed || taken == s->last);
}

/* First in, first out: the order of two pushes implies the order of their takes, and vice versa; and items that were
 * taken came before those that stay. */
static bool fifo_order(lin_search *s) {
    uint64_t takers[LIN_OPS + 1], pushers[LIN_OPS + 1]; /* of what the first n push, of what they take */
    takers[0] = pushers[0] = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        bool pushed = s->act[i] == ADD && s->taker[i] != NONE, taken = takes(s->act[i]) && s->item[i] < LIN_OPS;
        takers[i + 1] = takers[i] | (pushed ? bit(s->taker[i]) : 0);
        pushers[i + 1] = pushers[i] | (taken ? bit((uint32_t)s->item[i]) : 0);
    }
    for (uint32_t i = 0; i < s->count; i++)
        if (s->act[i] == ADD && s->taker[i] == NONE) {
            s->before[i] |= pushers[s->count];
        } else if (s->act[i] == ADD) {
            s->before[i] |= pushers[s->earlier[s->taker[i]]];
            s->before[s->taker[i]] |= takers[s->earlier[i]];
        }
    return filled_leave_in_order(s, pushers[s->count] != 0);
}

static void push_before_take(lin_search *s) {
    for (uint32_t i = 0; i < s->count; i++)
        if (s->act[i] == ADD && s->taker[i] != NONE)
            s->before[s->taker[i]] |= bit(i);
}

/* Items that are never taken are alike. */
static void merge_untaken(lin_search *s) {
    for (uint32_t i = 0; i < s->count; i++)
        if (s->act[i] == ADD && s->taker[i] == NONE)
            s->item[i] = STAYS;
}

/* Whether some order respects `before`, whatever the queue would answer. */
static bool has_order(const lin_search *s) {
    uint64_t all = first_bits(s->count), placed = 0, last = all;
    while (placed != last) {
        last = placed;
        for (uint64_t left = all & ~placed; left; left &= left - 1)
            if (!(s->before[lowest(left)] & ~placed))
                placed |= bit(lowest(left));
    }
    return placed == all;
}

/* ---- the queue: what fits, applying and undoing it ---- */

static uint64_t held(const lin_search *s) { return s->last - s->first + (s->tail - s->head); }

static uint64_t oldest(const lin_search *s) {
    return s->first < s->last ? LIN_OPS + s->first + 1 : s->head < s->tail ? s->items[s->head] : NO_ITEM;
}
static uint64_t newest(const lin_search *s) {
    return s->head < s->tail ? s->items[s->tail - 1] : s->first < s->last ? LIN_OPS + s->last : NO_ITEM;
}

static bool fits(const lin_search *s, uint32_t i) {
    switch (s->act[i]) {
    case ADD:
        return held(s) < s->capacity;
    case TAKE_OLDEST:
        return oldest(s) == s->item[i];
    case TAKE_NEWEST:
        return newest(s) == s->item[i];
    case SEE_EMPTY:
        return !held(s);
    default:
        return held(s) >= s->capacity;
    }
}

static void apply(lin_search *s, uint32_t i) {
    bool pushed = s->item[i] < LIN_OPS;
    s->done |= bit(i);
    if (s->act[i] == ADD)
        s->items[s->tail++] = (uint8_t)s->item[i];
    else if (s->act[i] == TAKE_OLDEST)
        pushed ? (void)s->head++ : (void)s->first++;
    else if (s->act[i] == TAKE_NEWEST)
        pushed ? (void)s->tail-- : (void)s->last--;
}

/* An item taken at the old end is still in front of head; at the new end a later push may have overwritten it. */
static void undo(lin_search *s, uint32_t i) {
    bool pushed = s->item[i] < LIN_OPS;
    s->done &= ~bit(i);
    if (s->act[i] == ADD)
        s->tail--;
    else if (s->act[i] == TAKE_OLDEST)
        pushed ? (void)s->head-- : (void)s->first--;
    else if (s->act[i] == TAKE_NEWEST && pushed)
        s->items[s->tail++] = (uint8_t)s->item[i];
    else if (s->act[i] == TAKE_NEWEST)
        s->last++;
}

/* ---- the search ---- */

/* Whether i, which fits, can be next without loss: see the head of this file. */
static bool settles(const lin_search *s, uint32_t i) {
    return s->act[i] != ADD && (!takes(s->act[i]) || !(s->fulls & ~s->done));
}

static bool stays(const lin_search *s, uint32_t i) { return s->act[i] == ADD && s->item[i] == STAYS; }

/* The operations that may be next: only one if that settles it. */
static uint64_t candidates(const lin_search *s) {
    uint64_t all = first_bits(s->count), found = 0;
    bool one_stays = false;
    for (uint64_t left = all & ~s->done; left; left &= left - 1) {
        uint32_t i = lowest(left);
        if ((s->before[i] & ~s->done) || !fits(s, i) || (one_stays && stays(s, i)))
            continue;
        one_stays |= stays(s, i);
        if (settles(s, i))
            return bit(i);
        found |= bit(i);
    }
    return found;
}

static void keep_longest(lin_search *s) {
    if (s->depth <= s->longest_count)
        return;
    s->longest_count = s->depth;
    memcpy(s->longest, s->chosen, s->depth);
}

/* Enters a state: what can be tried from it. A state with only one way on is not remembered, since that way leads to
 * one that is. */
static void enter(lin_search *s) {
    uint64_t next = candidates(s);
    bool branches = (next & (next - 1)) != 0;
    if (branches && memo_has(s))
        next = branches = 0;
    if (!next)
        keep_longest(s);
    s->untried[s->depth] = next;
    s->branches[s->depth] = branches;
}

static lin_verdict explore(lin_search *s) {
    while (s->depth < s->count) {
        enter(s);
        while (!s->untried[s->depth]) {
            if (s->branches[s->depth] && !memo_add(s))
                return LIN_GAVE_UP;
            if (!s->depth)
                return LIN_NO;
            undo(s, s->chosen[--s->depth]);
        }
        uint32_t i = lowest(s->untried[s->depth]);
        s->untried[s->depth] &= ~bit(i);
        s->chosen[s->depth++] = (uint8_t)i;
        apply(s, i);
    }
    return LIN_YES;
}

/* An operation that does not count goes before the first that must follow it; whatever must precede it precedes that
 * one too. */
static void place_ignored(const lin_op *ops, uint32_t number, uint32_t *order, uint32_t placed) {
    uint32_t at = 0;
    while (at < placed && ops[order[at]].called <= ops[number].returned)
        at++;
    memmove(order + at + 1, order + at, (placed - at) * sizeof *order);
    order[at] = number;
}

static void give_order(const lin_search *s, const lin_op *ops, uint32_t count, const lin_spec *spec, uint32_t *order) {
    uint32_t placed = s->count;
    for (uint32_t i = 0; i < placed; i++)
        order[i] = s->number[s->chosen[i]];
    for (uint32_t n = 0; n < count; n++)
        if (act_of(&ops[n], spec) == IGNORED)
            place_ignored(ops, n, order, placed++);
}

lin_verdict linearize(lin_search *s, const lin_op *ops, uint32_t count, const lin_spec *spec, uint32_t *order) {
    lin_verdict verdict = load(s, ops, count, spec);
    if (verdict != LIN_YES)
        return verdict;
    if (!spec->deque && !fifo_order(s))
        return LIN_NO;
    push_before_take(s);
    merge_untaken(s);
    if (!has_order(s))
        return LIN_NO;
    verdict = explore(s);
    if (verdict == LIN_YES && order)
        give_order(s, ops, count, spec, order);
    return verdict;
}

/* ---- the table ---- */

static const char *outcome_name(uint32_t outcome) {
    static const char *const names[] = {
        [BL_QUEUE_DONE] = "DONE", [BL_QUEUE_EMPTY] = "EMPTY", [BL_QUEUE_FULL] = "FULL", [BL_QUEUE_RETRY] = "RETRY"};
    return outcome < sizeof names / sizeof *names ? names[outcome] : "?";
}

enum { TEXT = 32, WIDTH = 60 };

static const char *text_of(const lin_op *op, char text[TEXT]) {
    static const char *const verbs[] = {[LIN_PUSH] = "push", [LIN_POP] = "pop", [LIN_STEAL] = "steal"};
    const char *verb = op->kind <= LIN_STEAL ? verbs[op->kind] : "?";
    if (op->kind == LIN_PUSH && op->outcome == BL_QUEUE_DONE)
        snprintf(text, TEXT, "%s %u", verb, (unsigned)op->value);
    else if (op->kind == LIN_PUSH)
        snprintf(text, TEXT, "%s %u -> %s", verb, (unsigned)op->value, outcome_name(op->outcome));
    else if (op->outcome == BL_QUEUE_DONE)
        snprintf(text, TEXT, "%s -> %u", verb, (unsigned)op->value);
    else
        snprintf(text, TEXT, "%s -> %s", verb, outcome_name(op->outcome));
    return text;
}

typedef struct lin_line {
    uint32_t number, from, to; /* columns, both in the bar */
} lin_line;

static void sort_by_call(const lin_op *ops, uint32_t count, lin_line *lines) {
    for (uint32_t n = 0; n < count; n++) {
        uint32_t at = n;
        for (; at && ops[lines[at - 1].number].called > ops[n].called; at--)
            lines[at] = lines[at - 1];
        lines[at].number = n;
    }
}

static bool returns_within(const lin_op *ops, uint32_t count, uint64_t from, uint64_t before) {
    for (uint32_t n = 0; n < count; n++)
        if (ops[n].returned >= from && ops[n].returned < before)
            return true;
    return false;
}

/* A column ends where one operation is called after another has returned in it. So two bars share a column exactly if
 * neither operation precedes the other, however long they took, and there are no more columns than operations. */
static uint32_t lay_out(const lin_op *ops, uint32_t count, lin_line *lines) {
    uint64_t start[LIN_OPS];
    uint32_t columns = 0;
    for (uint32_t n = 0; n < count; n++) {
        uint64_t called = ops[lines[n].number].called;
        if (!columns || returns_within(ops, count, start[columns - 1], called))
            start[columns++] = called;
        lines[n].from = columns - 1;
    }
    for (uint32_t n = 0; n < count; n++) {
        lines[n].to = lines[n].from;
        while (lines[n].to + 1 < columns && start[lines[n].to + 1] <= ops[lines[n].number].returned)
            lines[n].to++;
    }
    return columns;
}

static void print_line(FILE *to, const lin_op *op, const lin_line *line, uint32_t wide, bool counts) {
    char text[TEXT], bar[LIN_OPS + WIDTH];
    uint32_t from = line->from * wide, end = (line->to + 1) * wide;
    memset(bar, ' ', from);
    memset(bar + from, counts ? '-' : '.', end - from);
    bar[from] = counts ? '[' : '(';
    bar[end - 1] = counts ? ']' : ')';
    if (end - from == 1)
        bar[from] = counts ? '|' : ':';
    bar[end] = 0;
    fprintf(to, "  #%-3u %6u  %-24s %s\n", (unsigned)line->number, (unsigned)op->thread, text_of(op, text), bar);
}

static void print_table(FILE *to, const lin_op *ops, uint32_t count, const lin_spec *spec) {
    lin_line lines[LIN_OPS];
    sort_by_call(ops, count, lines);
    uint32_t columns = lay_out(ops, count, lines), wide = columns ? WIDTH / columns : 0;
    wide = wide < 1 ? 1 : wide > 4 ? 4 : wide;
    fprintf(to, "  %-4s %6s  %-24s %s\n", "", "thread", "operation", "time: bars one above the other overlap");
    for (uint32_t n = 0; n < count; n++) {
        const lin_op *op = &ops[lines[n].number];
        print_line(to, op, &lines[n], wide, act_of(op, spec) != IGNORED);
    }
}

static void print_spec(FILE *to, uint32_t count, const lin_spec *spec) {
    fprintf(to, "%s, %u operations", spec->deque ? "deque" : "FIFO queue", (unsigned)count);
    if (spec->full)
        fprintf(to, ", FULL means %u items", (unsigned)spec->capacity);
    if (spec->empty)
        fprintf(to, ", EMPTY means none");
    if (spec->filled)
        fprintf(to, ", 1 .. %u in it at the start", (unsigned)spec->filled);
    fprintf(to, "\n");
}

/* ---- why there is no order ---- */

/* Without what fifo_order implies: the reader should see an operation meet a queue that answers differently. */
static lin_verdict explore_plainly(lin_search *s, const lin_op *ops, uint32_t count, const lin_spec *spec) {
    lin_verdict verdict = load(s, ops, count, spec);
    return verdict == LIN_YES ? explore(s) : verdict;
}

static void print_order(FILE *to, const lin_op *ops, const lin_search *s, const uint8_t *order, uint32_t count) {
    char text[TEXT];
    for (uint32_t i = 0; i < count; i++) {
        uint32_t number = s->number[order[i]];
        fprintf(to, "%s%s (#%u)", i % 6 ? ", " : i ? ",\n    " : "    ", text_of(&ops[number], text), (unsigned)number);
    }
    fprintf(to, count ? "\n" : "    nothing\n");
}

static void print_contents(FILE *to, const lin_op *ops, const lin_search *s) {
    fprintf(to, "  leaves in it, oldest first:");
    if (s->last - s->first > 8)
        fprintf(to, " %u .. %u", (unsigned)s->first + 1, (unsigned)s->last);
    else
        for (uint64_t value = s->first + 1; value <= s->last; value++)
            fprintf(to, " %u", (unsigned)value);
    for (uint32_t i = s->head; i < s->tail; i++)
        fprintf(to, " %u", (unsigned)ops[s->number[s->items[i]]].value);
    fprintf(to, "%s\n", held(s) ? "" : " nothing");
}

/* Those that could be next according to time. */
static void print_stuck(FILE *to, const lin_op *ops, const lin_search *s) {
    char text[TEXT];
    for (uint32_t i = 0; i < s->count; i++)
        if (!(s->done & bit(i)) && !(s->before[i] & ~s->done) && !fits(s, i))
            fprintf(to, "  and cannot be next: %s (#%u)\n", text_of(&ops[s->number[i]], text), (unsigned)s->number[i]);
}

static void print_longest(FILE *to, const lin_op *ops, uint32_t count, const lin_spec *spec, lin_search *s) {
    uint32_t length = s->longest_count;
    load(s, ops, count, spec); /* keeps `longest` */
    fprintf(to, "  The longest start of one that was found:\n");
    print_order(to, ops, s, s->longest, length);
    for (uint32_t i = 0; i < length; i++)
        apply(s, s->longest[i]);
    print_contents(to, ops, s);
    print_stuck(to, ops, s);
}

static void print_verdict(FILE *to, const lin_op *ops, uint32_t count, const lin_spec *spec, lin_search *s) {
    char text[TEXT];
    lin_verdict verdict = linearize(s, ops, count, spec, NULL);
    if (verdict == LIN_YES) {
        fprintf(to, "An order that explains it:\n");
        print_order(to, ops, s, s->chosen, s->count);
        return;
    }
    fprintf(to, verdict == LIN_NO ? "No order explains it.\n" : "Not decided.\n");
    if (s->why)
        fprintf(to, "  %s (#%u): %s\n", text_of(&ops[s->culprit], text), (unsigned)s->culprit, s->why);
    else if (verdict == LIN_NO && explore_plainly(s, ops, count, spec) != LIN_YES)
        print_longest(to, ops, count, spec, s);
}

void lin_print(FILE *to, const lin_op *ops, uint32_t count, const lin_spec *spec) {
    print_spec(to, count, spec);
    if (count > LIN_OPS)
        fprintf(to, "too many to judge; the first %d:\n", LIN_OPS);
    print_table(to, ops, count < LIN_OPS ? count : LIN_OPS, spec);
    lin_search *s = count <= LIN_OPS ? lin_open() : NULL;
    if (s)
        print_verdict(to, ops, count, spec, s);
    lin_close(s);
}
