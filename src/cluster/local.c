/* The driver of the protocol for the nodes of one process, which are guarded by one lock. Whoever has an event to tell,
 * which is a worker in most cases, takes the lock and delivers letters until there are none, so that no thread is
 * needed for it, and nothing is in flight between these nodes while the lock is free.
 *
 *     a worker's stack --(bl__node_gives)--> outlet of its node --(letter)--> inlet of another --> a worker there
 *
 * The outlet has what the node shows. What nobody has asked for when the node's own workers run out of work goes back
 * to them, through their inlet. An inlet has room for all that can come: a node asks only if its inlet is empty, has
 * one question open at a time, and left its name with each neighbour once. One more entry says that results have come
 * home (homes.h).
 *
 * The workers of a GPU cannot take the lock. One of them, the porter, puts entries into a ring and notes beside it
 * (parts/outside.h), and the thread that waits for the GPU looks there all the time: bl__node_serves.
 *
 * With GPUs or other processes, outlets are kept filled from the moment at which somebody asks until the node is short
 * of work itself, so that the next one to ask need not wait: a GPU does in microseconds what takes threads much longer,
 * and an answer from another process takes as long as many tasks.
 *
 * Other processes are at the end of a line (ranks.c). A letter to a node of theirs leaves at once, with its entries or
 * results behind it. One that has come is delivered when somebody listens: bl__local_hear. Letters have a largest size,
 * so results of many children go home in several. */
#include "cluster/local.h"

#include "cluster/homes.h"
#include "cluster/process_line.h"
#include "cluster/protocol.h"
#include "cluster/raid.h"
#include "run/job.h"

#include <ballast/parts/entry.h>
#include <ballast/parts/outside.h>
#include <ballast/parts/record.h>
#include <ballast/runtime/termination.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST = 64,                                               /* entries of a letter, and of an outlet: a power of two */
    FEW = 8,                                                 /* of a GPU's outlet, as long as only threads ask */
    LETTERS = 8 * BL__LOCAL_NODES_MAX * BL__LOCAL_NODES_MAX, /* more than all nodes can have open */
    PIECES = 8,              /* that long entries are divided into, if they are all that a raid has brought */
    LISTENS = 128,           /* tasks after which a worker may listen to other processes */
    HALT = BL__CLUSTER_KINDS /* a letter between drivers: a node of the sender has ended early */
};

static const double PATIENCE = 20e-6; /* seconds from one time that a GPU is low to the next, ... */
static const double LISTEN = 5e-6;    /* ... and from one time that its thread listens to other processes to the next */
static const uint64_t BUSY_LISTEN = 30000, IDLE_LISTEN = 3000; /* ns: the same for workers of a CPU, ... */
static const uint64_t STILL_LISTEN = 200000; /* ... which can be relied on as long as one did so recently */
/* ns, and a part of the time without work: from one question to the next, of a node that has run nothing since. */
static const uint64_t LEAST_PAUSE = 500000, LACKING_SHARE = 16;

typedef struct letter {
    uint32_t from, to;
    bl__cluster_message message;
    bl__parcel *parcel; /* RESULTS; between processes NULL, and a copy follows */
} letter;

typedef struct bl__node {
    bl__cluster *cluster;
    bl_context *c;
    bl__cluster_node protocol;
    uint32_t *outlet;   /* entries, the oldest first, and behind each the node where its results go */
    uint32_t shown;     /* so many */
    uint64_t found;     /* dry, last: the epoch of the idle word, and which launch */
    uint64_t ran;       /* tasks, when the node last was low; a GPU's: the epoch of its idle word */
    uint64_t received;  /* entries, then */
    uint64_t refused;   /* a CPU's: when it last was low and got nothing, ... */
    uint64_t lacking;   /* ... since when that is so; 0: it is not; ... */
    uint64_t repeated;  /* ... and when it last asked, though it had run nothing since */
    uint64_t was_short; /* bl__node_short: when last */
    bool over;          /* its run, since the last meeting: in other processes, too */
    bool ends;          /* the protocol has ended, and its workers have yet to be told */
    bool rests;         /* a CPU's: it has been dry, and got nothing since */
    bl__homes homes;
    bl__raider raider; /* a CPU's */
    bl_traffic traffic;
    double asked;      /* when it first did, since it got entries; 0: not yet */
    double asked_away; /* when its last question to another process left */
    bool stocks;       /* with GPUs or other processes: the outlet is kept filled */
    /* A GPU's: */
    uint32_t stock; /* entries that its outlet is to have */
    uint32_t collected,
        limit;         /* positions in its outlet: from where nothing has been taken yet, and as far as it may go */
    uint32_t question; /* that its workers answer when they are low, ... */
    double low_at;     /* ... and when they last were */
    double listened;   /* its thread: when last */
    uint64_t dry;      /* what they last said about it */
    uint32_t fetched, brought; /* results that have come from its workers, and that were brought to them */
    uint64_t held_up;          /* the position for which results wait, more by 1; 0: none do. Read without the lock */
} bl__node;

struct bl__cluster {
    pthread_mutex_t lock;
    uint32_t count, runs;
    bool has_gpus;        /* among its nodes here, ... */
    bool with_gpus;       /* ... and everywhere */
    uint32_t words;       /* per entry, ... */
    uint32_t stride;      /* ... and from one to the next, in an outlet and in a letter */
    uint32_t results;     /* of one parcel, at most */
    bl__line *line;       /* to other processes; NULL: there are none */
    uint32_t lowest, all; /* the number of the first node here, and how many there are everywhere */
    bool halted;          /* a node has ended early, ... */
    int status;           /* ... with this; BL_OK: one of another process ... */
    uint32_t halted_by;   /* ... and this was it */
    bool keeps;           /* there may be a checkpoint then: results still go home */
    bool begun;           /* the workers of a node */
    pthread_cond_t met;   /* that, or of nodes that have stopped, for a checkpoint or with other processes: */
    uint32_t present, meeting, meetings;
    bool goes_on;            /* as the last meeting has decided */
    uint32_t first, waiting; /* letters */
    letter letters[LETTERS];
    bl__node nodes[BL__LOCAL_NODES_MAX];
};

/* It is held for less time than it takes to sleep and to wake, so a thread that waits for it spins first. */
static void make_lock(pthread_mutex_t *lock) {
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
#ifdef __GLIBC__
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_ADAPTIVE_NP);
#endif
    pthread_mutex_init(lock, &kind);
    pthread_mutexattr_destroy(&kind);
}

bl__cluster *bl__local_open(bl_context *const *contexts, uint32_t count) {
    bl__cluster *cluster = calloc(1, sizeof *cluster);
    if (!cluster)
        return NULL;
    make_lock(&cluster->lock);
    pthread_cond_init(&cluster->met, NULL);
    cluster->count = cluster->all = count;
    for (uint32_t i = 0; i < count; i++) {
        cluster->nodes[i] = (bl__node){.cluster = cluster, .c = contexts[i]};
        cluster->has_gpus = cluster->has_gpus || !contexts[i]->ops->knock;
    }
    cluster->with_gpus = cluster->has_gpus;
    return cluster;
}

void bl__local_join(bl__cluster *cluster, bl__line *line) { cluster->line = line; }

uint32_t bl__local_count(const bl__cluster *cluster) { return cluster->count; }

void bl__local_number(bl__cluster *cluster, bool gpus) {
    const bl__line *line = cluster->line;
    cluster->lowest = line->firsts[line->link.rank];
    cluster->all = line->firsts[line->link.ranks];
    cluster->with_gpus = gpus;
}

bl__line *bl__local_line(const bl__cluster *cluster) { return cluster ? cluster->line : NULL; }
void bl__local_lock(bl__cluster *cluster) { pthread_mutex_lock(&cluster->lock); }
void bl__local_unlock(bl__cluster *cluster) { pthread_mutex_unlock(&cluster->lock); }
void bl__local_rest(bl__cluster *cluster, const struct timespec *until) {
    pthread_cond_timedwait(&cluster->line->stirs, &cluster->lock, until);
}

bool bl__local_waits(const bl__cluster *cluster) {
    for (uint32_t i = 0; i < cluster->count; i++)
        if (cluster->nodes[i].protocol.dry || cluster->nodes[i].protocol.asking)
            return true;
    return false;
}

bl_context *bl__local_node(const bl__cluster *cluster, uint32_t i) {
    return i < cluster->count ? cluster->nodes[i].c : NULL;
}

bool bl__local_listens(const bl__cluster *cluster) {
    return !bl__local_waits(cluster) && bl_clock() - cluster->line->by_worker < STILL_LISTEN;
}

static void end_node(bl__node *n) {
    free(n->outlet);
    bl__homes_end(&n->homes);
    bl__raider_end(&n->raider);
}

void bl__local_close(bl__cluster *cluster) {
    for (uint32_t i = 0; i < cluster->count; i++)
        end_node(&cluster->nodes[i]);
    pthread_cond_destroy(&cluster->met);
    pthread_mutex_destroy(&cluster->lock);
    free(cluster);
}

/* Entries: answers to names and to a question, what came back from the own outlet, of a GPU also what is left there,
 * and the one for results. */
static uint32_t inlet_size(const bl__cluster *cluster) {
    uint32_t dimensions = 0;
    while (1u << dimensions < cluster->all)
        dimensions++;
    return (dimensions + 3) * MOST + 1;
}

static size_t entries_size(const bl__cluster *cluster, uint32_t entries) {
    return 4u * (size_t)cluster->stride * entries;
}

/* Of the largest letter: so many entries, or at least one result. */
static size_t line_room(const bl__cluster *cluster, const bl_program *program) {
    const size_t entries = entries_size(cluster, MOST);
    const size_t parcel = program->result_bytes ? sizeof(bl__parcel) + program->result_bytes : 0;
    return sizeof(letter) + (entries > parcel ? entries : parcel);
}

static int start_line(bl__cluster *cluster, const bl_program *program, bl_context *told) {
    bl__line *line = cluster->line;
    free(line->sending);
    free(line->arrived);
    line->room = line_room(cluster, program);
    line->sending = malloc(line->room);
    line->arrived = malloc(line->room);
    if (program->result_bytes)
        cluster->results = (uint32_t)((line->room - sizeof(letter) - sizeof(bl__parcel)) / program->result_bytes);
    line->sent = line->received = 0;
    return line->sending && line->arrived ? BL_OK : bl__no_memory(told, "what processes exchange");
}

static bool is_gpu(const bl__node *n) { return n->c->inlet.outlet.slots != NULL; }

static void begin_exchange(bl__node *n) {
    n->asked = n->low_at = 0;
    n->stock = FEW;
    n->collected = n->limit = 0;
    n->fetched = n->brought = 0;
    bl_store64_host(&n->held_up, 0);
    n->stocks = false;
    n->question = 1;
    n->dry = UINT64_MAX;
    if (is_gpu(n))
        bl__wish(&n->c->inlet.outlet, 0, n->question);
}

int bl__local_start(bl__cluster *cluster, const bl_program *program, uint32_t roots, bool goes_on, bl_context *told) {
    cluster->words = BL__ENTRY_HEAD + program->carried_bytes / 4;
    cluster->stride = cluster->words + 1;
    cluster->results = UINT32_MAX;
    int status = cluster->line ? start_line(cluster, program, told) : BL_OK;
    if (!goes_on && cluster->line)
        memset(&cluster->line->traffic, 0, sizeof cluster->line->traffic);
    cluster->halted = cluster->begun = false;
    cluster->status = BL_OK;
    cluster->halted_by = cluster->waiting = 0;
    cluster->keeps = cluster->nodes[0].c->config.checkpoint[0] != '\0';
    cluster->present = cluster->count;
    cluster->meeting = 0;
    /* Over a line no letter of one run reaches another, and ranks may have begun different numbers of them. */
    if (!cluster->line)
        cluster->runs++;
    for (uint32_t i = 0; i < cluster->count && status == BL_OK; i++) {
        bl__node *n = &cluster->nodes[i];
        free(n->outlet);
        n->outlet = malloc(entries_size(cluster, MOST));
        n->shown = 0;
        n->found = n->ran = n->received = 0;
        n->refused = n->lacking = n->repeated = 0;
        n->over = n->ends = n->rests = false;
        bl__homes_begin(&n->homes, program);
        bl__cluster_begin(&n->protocol, cluster->lowest + i, cluster->all, cluster->runs, MOST,
                          (uint32_t)n->c->config.seed);
        n->protocol.takes_all = !n->c->ops->knock; /* a GPU has more idle workers than others have entries */
        status = n->outlet ? bl__inlet_make(n->c, program, inlet_size(cluster), MOST, roots, n, told)
                           : bl__no_memory(told, "what nodes exchange");
        if (!goes_on)
            memset(&n->traffic, 0, sizeof n->traffic);
        n->c->inlet.ring.listens = cluster->line && cluster->line->link.ranks > 1 ? LISTENS : 0;
        if (status == BL_OK)
            begin_exchange(n);
    }
    return status;
}

bl__cluster *bl__local_of(const bl_context *c) {
    const bl__node *n = c->inlet.ring.node;
    return n ? n->cluster : NULL;
}

bool bl__local_has_gpus(const bl__cluster *cluster) { return cluster->has_gpus; }

bool bl__local_with_gpus(const bl_context *c) {
    const bl__cluster *cluster = bl__local_of(c);
    return cluster && cluster->with_gpus;
}

bool bl__local_keeps(const bl__cluster *cluster) { return cluster->keeps; }

const bl__homes *bl__local_homes(const bl_context *c, uint32_t *number) {
    const bl__node *n = c->inlet.ring.node;
    *number = n->protocol.number;
    return &n->homes;
}

int bl__local_status(const bl__cluster *cluster, uint32_t *node) {
    *node = cluster->halted_by;
    return cluster->status;
}

const bl_traffic *bl__local_traffic(const bl__cluster *cluster, uint32_t i) { return &cluster->nodes[i].traffic; }

uint64_t bl__local_progress(const bl_context *c) {
    uint64_t tasks = bl_load64_host(&c->progressed);
    for (uint32_t i = 1; c->cluster && i < c->cluster->count; i++)
        tasks += bl_load64_host(&c->cluster->nodes[i].c->progressed);
    return tasks;
}

/* ---- with the lock ---- */

/* Of a GPU: its porter fills the outlet again. A wish is never taken back. While results wait for room on their way
 * home there is none: the porter passes them on more slowly than threads return them, and all would wait for it at the
 * end. */
static void renew_wish(bl__node *n) {
    if (n->stocks && !n->homes.first && n->shown < n->stock)
        n->limit = n->collected + n->stock - n->shown;
    bl__wish(&n->c->inlet.outlet, n->limit, n->question);
}

static uint32_t *outlet_row(const bl__node *n, uint32_t i) { return n->outlet + (size_t)i * n->cluster->stride; }

/* Its results go to this node, or stay in it. */
static void show_own(bl__node *n, const uint32_t *entry) {
    uint32_t *row = outlet_row(n, n->shown++);
    bl__words_copy(row, entry, n->cluster->words);
    row[n->cluster->words] = n->protocol.number;
}

static void drop_shown(bl__node *n, uint32_t count) {
    n->shown -= count;
    memmove(n->outlet, outlet_row(n, count), entries_size(n->cluster, n->shown));
    if (is_gpu(n))
        renew_wish(n);
    else if (n->stocks)
        bl__inlet_is_wanted(n->c, true);
}

/* Another node has them. */
static void drop_given(bl__node *n, uint32_t count) {
    n->traffic.entries_sent += count;
    drop_shown(n, count);
}

/* Entries for the workers of a node. False: no memory to know where results go. */
static bool import(bl__node *to, uint32_t *rows, uint32_t count) {
    const size_t words = to->cluster->words, stride = to->cluster->stride;
    bool known = true;
    for (uint32_t *row = rows; row < rows + count * stride; row += stride)
        if (row[words] != to->protocol.number) /* else they are at home */
            known = bl__homes_import(&to->homes, row[words], row) && known;
    bl__inlet_put(to->c, rows, (uint32_t)stride, count);
    return known;
}

/* What nobody has asked for goes back to the node's own workers. */
static bool give_back(bl__node *n) {
    const bool known = import(n, n->outlet, n->shown);
    n->shown = 0;
    if (n->stocks && !is_gpu(n))
        bl__inlet_is_wanted(n->c, n->protocol.wanted);
    n->stocks = false;
    return known;
}

static bool is_here(const bl__cluster *cluster, uint32_t number) { return number - cluster->lowest < cluster->count; }
static bl__node *node_of(bl__cluster *cluster, uint32_t number) { return &cluster->nodes[number - cluster->lowest]; }

/* The process of a node: the last whose first node is not behind it. */
static uint32_t process_of(const bl__line *line, uint32_t number) {
    uint32_t low = 0, high = line->link.ranks;
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (line->firsts[middle] <= number)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static void stir(bl__line *line) {
    line->stirred = true;
    pthread_cond_signal(&line->stirs);
}

/* What goes with a letter to another process, behind it: how many bytes. */
static size_t enclose(bl__node *from, const letter *l, void *to) {
    if (l->message.kind == BL__CLUSTER_ENTRIES) {
        const size_t bytes = entries_size(from->cluster, l->message.count);
        memcpy(to, from->outlet, bytes);
        drop_given(from, l->message.count);
        return bytes;
    }
    if (!l->parcel)
        return 0;
    memcpy(to, l->parcel, sizeof *l->parcel + l->parcel->bytes);
    return sizeof *l->parcel + l->parcel->bytes;
}

/* To another process. */
static void post_away(bl__node *from, letter *l) {
    bl__line *line = from->cluster->line;
    const size_t bytes = sizeof *l + enclose(from, l, (letter *)line->sending + 1);
    bl__parcel_free(l->parcel);
    l->parcel = NULL;
    memcpy(line->sending, l, sizeof *l);
    line->link.send(line->link.arg, process_of(line, l->to), line->sending, bytes);
    line->sent++;
    line->traffic.messages++;
    line->traffic.bytes += bytes;
    if (l->message.kind == BL__CLUSTER_ENTRIES)
        line->traffic.entries_sent += l->message.count;
    if (l->message.kind == BL__CLUSTER_ASK)
        from->asked_away = bl__now();
    if (!bl__local_listens(from->cluster))
        stir(line);
}

/* Nothing moves any more. False: no memory to know where results go. */
static bool halt(bl__cluster *cluster) {
    bool known = true;
    cluster->halted = true;
    pthread_cond_broadcast(&cluster->met);
    for (uint32_t i = 0; i < cluster->count; i++) {
        known = give_back(&cluster->nodes[i]) && known;
        bl__inlet_halt(cluster->nodes[i].c);
    }
    return known;
}

static void tell_halt(bl__cluster *cluster) {
    const bl__cluster_message message = {.kind = HALT};
    const bl__line *line = cluster->line;
    for (uint32_t rank = 0; line && rank < line->link.ranks; rank++)
        if (rank != line->link.rank)
            post_away(&cluster->nodes[0], &(letter){cluster->lowest, line->firsts[rank], message, NULL});
}

/* Failures come before what a user or the clock has decided, and that before a checkpoint. */
static int rank_of(int status) {
    return status == BL_OK ? 0 : status == BL__PAUSE ? 1 : status == BL_ECANCEL || status == BL_ETIME ? 2 : 3;
}

bool bl__local_outranks(int status, int other) { return rank_of(status) > rank_of(other); }

/* The run ends early, at this node first; or it has failed here before it could be stopped for another reason. */
static void halt_by(bl__node *n, int status) {
    bl__cluster *cluster = n->cluster;
    if (cluster->halted && !(rank_of(status) == 3 && bl__local_outranks(status, cluster->status)))
        return;
    if (!cluster->halted) {
        status = halt(cluster) ? status : BL_ENOMEM;
        if (!n->over) /* else other processes have left the run */
            tell_halt(cluster);
    }
    cluster->status = status;
    cluster->halted_by = n->protocol.number - cluster->lowest;
}

static void note_entries(bl__node *to, uint32_t count) {
    to->traffic.entries_received += count;
    to->lacking = 0;
    if (to->asked == 0)
        return;
    to->traffic.asks++;
    to->traffic.ask_seconds += bl__now() - to->asked;
    to->asked = 0;
}

static void post(bl__node *from, uint32_t to, const bl__cluster_message *message, bl__parcel **parcel) {
    bl__cluster *cluster = from->cluster;
    letter l = {from->protocol.number, to, *message, NULL};
    if (message->kind == BL__CLUSTER_RESULTS) {
        l.parcel = *parcel;
        *parcel = NULL;
    }
    if (message->kind == BL__CLUSTER_ASK && from->asked == 0)
        from->asked = bl__now();
    from->traffic.messages++;
    if (is_here(cluster, to))
        cluster->letters[(cluster->first + cluster->waiting++) % LETTERS] = l;
    else
        post_away(from, &l);
}

/* The node is busy again. Of other nodes of threads, whose workers are all asleep, one looks after it
 * (bl__node_watches). */
static void stop_resting(bl__node *n) {
    for (uint32_t i = 0; n->rests && i < n->cluster->count; i++)
        if (n->cluster->nodes[i].rests && &n->cluster->nodes[i] != n)
            bl__inlet_rouse(n->cluster->nodes[i].c);
    n->rests = false;
}

static void take_entries(bl__node *n, letter *arrived) {
    const uint32_t count = arrived->message.count;
    bl__node *from = is_here(n->cluster, arrived->from) ? node_of(n->cluster, arrived->from) : NULL;
    const bool known = import(n, from ? from->outlet : (uint32_t *)(void *)(arrived + 1), count);
    note_entries(n, count);
    if (from)
        drop_given(from, count);
    stop_resting(n);
    if (!known)
        halt_by(n, BL_ENOMEM);
}

/* To the workers of a GPU, as far as the ring has room. */
static void bring_parcels(bl__node *n) {
    const bl__parcels *ring = &n->c->inlet.outlet.home;
    for (; n->homes.first && bl__parcel_has_room(ring, n->brought); n->brought++) {
        bl__parcel *parcel = bl__homes_take(&n->homes);
        memcpy(bl__parcel_slot(ring, n->brought) + 1, parcel, sizeof *parcel + parcel->bytes);
        bl__parcel_fill(ring, n->brought);
        bl__parcel_free(parcel);
    }
    bl_store64_host(&n->held_up, n->homes.first ? (uint64_t)n->brought + 1 : 0);
    if (!n->homes.first)
        renew_wish(n);
}

/* The first of them is announced to the workers, and the others when that has been collected. Workers that stop look by
 * themselves. */
static void take_parcel(bl__node *n, bl__parcel **parcel) {
    const bool announced = n->homes.first != NULL || n->cluster->halted;
    bl__homes_put(&n->homes, *parcel);
    *parcel = NULL;
    stop_resting(n);
    if (is_gpu(n))
        bring_parcels(n);
    else if (!announced)
        bl__inlet_put(n->c, NULL, 0, 1);
}

static void is_wanted(bl__node *n, bool wanted) {
    bl__raider_forget(&n->raider);
    if (wanted)
        n->stocks = n->cluster->has_gpus || n->cluster->line;
    if (is_gpu(n))
        renew_wish(n);
    else if (wanted || !n->stocks)
        bl__inlet_is_wanted(n->c, wanted);
}

/* An entry from a GPU is the oldest of one of its workers, and long work for a thread: the fewer wait for one, the
 * sooner the run ends. Another GPU takes all that there are. */
static void receive(bl__node *n, uint32_t from, const bl__cluster_message *m, bl__cluster_orders *orders) {
    if ((m->kind == BL__CLUSTER_ASK || m->kind == BL__CLUSTER_NAME) && m->count && n->stock < MOST) {
        n->stock = MOST;
        if (is_gpu(n))
            renew_wish(n);
    }
    bl__cluster_receive(&n->protocol, from, m, orders);
}

/* `about`: the letter that has arrived; for an event at the node itself, one with what is to be sent. */
static void carry_out(bl__node *n, const bl__cluster_orders *orders, letter *about) {
    for (uint32_t i = 0; i < orders->count; i++) {
        const bl__cluster_order *o = &orders->list[i];
        if (o->verb == BL__CLUSTER_SEND)
            post(n, o->node, &o->message, &about->parcel);
        else if (o->verb == BL__CLUSTER_TAKE_ENTRIES)
            take_entries(n, about);
        else if (o->verb == BL__CLUSTER_TAKE_RESULTS)
            take_parcel(n, &about->parcel);
        else if (o->verb == BL__CLUSTER_WANTED)
            is_wanted(n, o->on);
        else if (o->verb == BL__CLUSTER_END)
            n->ends = true;
    }
}

/* All that follows from an event at a node. `parcel`: to be sent with it, or NULL. */
static void follow_with(bl__node *n, bl__cluster_orders *orders, bl__parcel *parcel) {
    bl__cluster *cluster = n->cluster;
    letter next = {.parcel = parcel};
    carry_out(n, orders, &next);
    bl__parcel_free(next.parcel);
    while (cluster->waiting) {
        next = cluster->letters[cluster->first];
        cluster->first = (cluster->first + 1) % LETTERS;
        cluster->waiting--;
        bl__node *to = node_of(cluster, next.to);
        if (!cluster->halted) {
            receive(to, next.from, &next.message, orders);
            carry_out(to, orders, &next);
        } else if (next.parcel && cluster->keeps) {
            take_parcel(to, &next.parcel);
        }
        bl__parcel_free(next.parcel); /* nobody has taken it */
    }
}

static void follow(bl__node *n, bl__cluster_orders *orders) { follow_with(n, orders, NULL); }

/* Workers of the nodes that have ended, GPUs first: to wake threads takes time. */
static void tell_ends(bl__cluster *cluster) {
    for (uint32_t i = 0; i < 2 * cluster->count; i++) {
        bl__node *n = &cluster->nodes[i % cluster->count];
        if (!n->ends || is_gpu(n) != (i < cluster->count))
            continue;
        n->ends = false;
        bl__inlet_finish(n->c);
    }
}

/* A letter of another process. What was sent before its sender was halted is not lost: it is left. */
static void deliver(bl__cluster *cluster, letter *l) {
    bl__node *to = node_of(cluster, l->to);
    bl__cluster_orders orders;
    if (l->message.kind == BL__CLUSTER_RESULTS && !(l->parcel = bl__parcel_copy(l + 1))) {
        halt_by(to, BL_ENOMEM);
    } else if (l->message.kind == HALT) {
        if (!cluster->halted && !halt(cluster))
            cluster->status = BL_ENOMEM;
    } else if (!cluster->halted) {
        receive(to, l->from, &l->message, &orders);
        carry_out(to, &orders, l);
        orders.count = 0;
        follow(to, &orders);
    } else if (l->message.kind == BL__CLUSTER_ENTRIES) {
        take_entries(to, l);
    } else if (l->parcel && cluster->keeps) {
        take_parcel(to, &l->parcel);
    }
    bl__parcel_free(l->parcel); /* nobody has taken it */
}

static void note_arrival(bl__cluster *cluster, const letter *l) {
    bl__line *line = cluster->line;
    line->received++;
    if (l->message.kind == BL__CLUSTER_ENTRIES)
        line->traffic.entries_received += l->message.count;
    if (l->message.kind == BL__CLUSTER_REFUSE || (l->message.kind == BL__CLUSTER_ENTRIES && l->message.answers)) {
        line->traffic.asks++;
        line->traffic.ask_seconds += bl__now() - node_of(cluster, l->to)->asked_away;
    }
}

bool bl__local_hear(bl__cluster *cluster) {
    bl__line *line = cluster->line;
    bool heard = false;
    uint32_t from;
    while (line->link.receive(line->link.arg, &from, line->arrived, line->room)) {
        note_arrival(cluster, line->arrived);
        deliver(cluster, line->arrived);
        heard = true;
    }
    bl_store64_relaxed(&line->heard, bl_clock());
    tell_ends(cluster);
    return heard;
}

/* Home is another node. False: no memory. */
static bool send_home(bl__node *n, const bl__home *home, const void *results) {
    const bl__cluster_message message = {.kind = BL__CLUSTER_RESULTS, .count = 1};
    bl__parcel *parcel = bl__homes_pack(&n->homes, home, results);
    bl__cluster_orders orders = {.count = 0};
    if (!parcel)
        return false;
    if (n->cluster->halted)
        post(n, home->node, &message, &parcel); /* nobody counts any more */
    else
        bl__cluster_results(&n->protocol, home->node, 1, &orders);
    follow_with(n, &orders, parcel);
    return true;
}

/* As bl__node_returns has them. */
static void send_results(bl__node *n, uint32_t join, const void *results) {
    const bl__home home = bl__homes_leave(&n->homes, join);
    const uint32_t most = n->homes.sums ? home.count : n->cluster->results;
    for (uint32_t done = 0; done < home.count && (!n->cluster->halted || n->cluster->keeps); done += most) {
        bl__home some = home;
        some.begin += done;
        some.count = home.count - done < most ? home.count - done : most;
        if (!send_home(n, &some, results))
            halt_by(n, BL_ENOMEM);
    }
}

static void take_back(bl__node *n) {
    bl__cluster_orders orders;
    bl__cluster_shows(&n->protocol, 0, &orders);
    const bool known = give_back(n);
    follow(n, &orders);
    if (!known)
        halt_by(n, BL_ENOMEM);
}

/* Nothing is in its inlet. */
static bool has_taken_all(const bl_context *c) {
    const uint32_t put = (uint32_t)bl_load64_host(&c->inlet.tickets);
    return put == 0 || !bl__inlet_has(&c->inlet.ring, put - 1);
}

/* Whether there is reason to ask once more: its workers have run something, or have taken what had come and want more.
 * A node whose workers are in long tasks, all but those that have none, asks from time to time: what others hide behind
 * long tasks may have been found. */
static bool may_ask(bl__node *n, uint64_t tasks, uint64_t now) {
    const bool moved = tasks != n->ran || n->traffic.entries_received != n->received;
    n->ran = tasks;
    n->received = n->traffic.entries_received;
    n->lacking = moved || !n->lacking ? now : n->lacking;
    const uint64_t pause = (now - n->lacking) / LACKING_SHARE;
    if (!moved && now - n->repeated < (pause < LEAST_PAUSE ? LEAST_PAUSE : pause))
        return false;
    n->repeated = now;
    return true;
}

/* Where the results of an entry go that has come from another node, and that no worker has taken: there again. */
static void export_again(bl__node *n, uint32_t *row) {
    uint32_t *join = row + n->homes.join_at;
    if (!n->homes.join_at || !bl__is_away(*join))
        return;
    const bl__home home = bl__homes_leave(&n->homes, *join);
    *join = home.join;
    row[n->cluster->words] = home.node;
}

/* Other nodes want what the workers of this one have, and these are in long tasks. If there is nothing, another node
 * may have some: one that is dry, and has left its name here, may know nobody else. */
static void relieve(bl__node *n) {
    const bl__rows rows = {n->outlet, n->cluster->stride, MOST};
    bl__cluster_orders orders;
    if (is_gpu(n) || n->shown || !n->protocol.wanted || n->cluster->halted)
        return;
    const bl__loot loot = bl__inlet_raid(n->c, &n->raider, n->homes.join_at, &rows);
    for (uint32_t i = 0; i < loot.count; i++) {
        outlet_row(n, i)[n->cluster->words] = n->protocol.number;
        if (i < loot.from_inlet)
            export_again(n, outlet_row(n, i));
    }
    if (loot.without)
        bl__inlet_put(n->c, NULL, 0, loot.without);
    if (loot.count) {
        const bool divides = !n->c->inlet.program->splits; /* else the program has to be asked */
        n->shown = divides ? bl__raid_divide(&rows, loot.count, PIECES) : loot.count;
        bl_store64_relaxed(&n->refused, 0);
        bl__cluster_shows(&n->protocol, n->shown, &orders);
        follow(n, &orders);
    } else if (loot.still && n->protocol.waiting && has_taken_all(n->c) && may_ask(n, n->ran, bl_clock())) {
        bl__cluster_ran(&n->protocol);
        bl__cluster_low(&n->protocol, &orders);
        follow(n, &orders);
    }
}

void bl__local_relieve(bl__cluster *cluster) {
    for (uint32_t i = 0; i < cluster->count; i++)
        relieve(&cluster->nodes[i]);
    tell_ends(cluster);
}

static bool inlet_is_empty(const bl__run *run) { return bl__inlet_look(run) != 1; }

static uint64_t tasks_run(const bl__run *run) {
    uint64_t tasks = 0;
    for (uint32_t i = 0; i < run->tallies; i++)
        tasks += bl_load64_host(&run->tally[i].beat) + bl_load64_host(&run->tally[i].tasks);
    return tasks;
}

/* ---- events ---- */

static bl__node *enter_if(const bl__run *run, bool even_if_halted) {
    bl__node *n = run->outside.node;
    pthread_mutex_lock(&n->cluster->lock);
    if (!n->cluster->halted || even_if_halted)
        return n;
    pthread_mutex_unlock(&n->cluster->lock);
    return NULL;
}

/* NULL: nothing moves any more; ... */
static bl__node *enter(const bl__run *run) { return enter_if(run, false); }
/* ... not even results. */
static bl__node *enter_for_results(const bl__run *run) {
    return enter_if(run, ((bl__node *)run->outside.node)->cluster->keeps);
}

static void leave(bl__node *n) {
    tell_ends(n->cluster);
    pthread_mutex_unlock(&n->cluster->lock);
}

void bl__node_gives(const bl__run *run, bl__stack *stack, uint32_t count) {
    bl__node *n = enter(run);
    if (!n)
        return;
    const uint32_t before = n->shown;
    bl__cluster_orders orders;
    for (; count && n->shown < MOST; count--)
        show_own(n, bl__stack_slot(stack, run->words, stack->bottom++));
    if (n->shown > before) {
        bl__raider_forget(&n->raider);
        bl_store64_relaxed(&n->refused, 0);
        bl__cluster_shows(&n->protocol, n->shown, &orders);
        follow(n, &orders);
    }
    if (n->stocks && n->shown == MOST)
        bl__inlet_is_wanted(n->c, false);
    leave(n);
}

/* After it got nothing all workers would say so again and again. */
void bl__node_low(const bl__run *run) {
    bl__node *n = run->outside.node;
    const uint64_t now = bl_clock();
    if (now - bl_load64_relaxed(&n->refused) < BL_LONG_TICKS / 2 || !(n = enter(run)))
        return;
    bl__cluster_orders orders;
    const uint64_t tasks = tasks_run(run);
    const bool empty = inlet_is_empty(run); /* if it got what is shown again and again, it would overflow */
    if (empty && n->shown) {
        take_back(n);
    } else if (empty) {
        if (may_ask(n, tasks, now))
            bl__cluster_ran(&n->protocol);
        bl__cluster_low(&n->protocol, &orders);
        follow(n, &orders);
        if (inlet_is_empty(run))
            bl_store64_relaxed(&n->refused, now);
    }
    bl__local_relieve(n->cluster);
    leave(n);
}

bool bl__node_watches(const bl__run *run) {
    bl__node *n = enter(run);
    bool watches = false;
    if (!n)
        return false;
    for (uint32_t i = 0; !n->cluster->line && i < n->cluster->count; i++) { /* else a thread does that anyway */
        const bl__node *other = &n->cluster->nodes[i];
        watches = watches || (other != n && !is_gpu(other) && !other->protocol.dry);
    }
    leave(n);
    return watches;
}

/* Cheaper than to wake the thread that does nothing else, where tasks are short. */
void bl__node_listens(const bl__run *run, bool idle) {
    const bl__node *n = run->outside.node;
    bl__cluster *cluster = n->cluster;
    bl__line *line = cluster->line;
    const uint64_t now = bl_clock();
    if (now - bl_load64_relaxed(&line->heard) < (idle ? IDLE_LISTEN : BUSY_LISTEN) ||
        pthread_mutex_trylock(&cluster->lock))
        return;
    if (!cluster->halted) { /* else others listen, or nobody does any more */
        line->by_worker = now;
        bl__local_hear(cluster);
    }
    pthread_mutex_unlock(&cluster->lock);
}

/* While others are hungry for long, workers would do nothing else. */
void bl__node_short(const bl__run *run) {
    bl__node *n = run->outside.node;
    const uint64_t now = bl_clock();
    if (now - bl_load64_relaxed(&n->was_short) < BL_LONG_TICKS)
        return;
    bl_store64_relaxed(&n->was_short, now);
    bl__node_low(run);
}

/* Whoever has left idle since `idle` was read has changed the word. So if it is the same, and the inlet is empty, then
 * no worker has anything, and none can get anything before this lock is free. */
void bl__node_dry(const bl__run *run, uint64_t idle) {
    bl__node *n = run->outside.node;
    const uint64_t found = (idle & ~(uint64_t)UINT32_MAX) | (run->launch + 1);
    if (bl_load64_host(&n->found) == found || !(n = enter(run)))
        return;
    bl__cluster_orders orders;
    if (bl__idle_read(run->control) != idle || !inlet_is_empty(run) || n->protocol.dry) {
        leave(n);
        return;
    }
    if (n->shown) {
        take_back(n);
    } else {
        bl_store64_host(&n->found, found);
        n->rests = true;
        bl__cluster_dry(&n->protocol, &orders);
        follow(n, &orders);
    }
    leave(n);
}

/* ---- the same for the workers of a GPU, by the thread that waits for them ---- */

/* True: there was something. */
static bool collect(bl__node *n) {
    const bl__inlet *in = &n->c->inlet;
    const uint32_t before = n->collected;
    bl__cluster_orders orders;
    for (const uint32_t *entry; (entry = bl__outlet_look(&in->ring, &in->outlet, n->collected)); n->collected++)
        show_own(n, entry);
    if (n->collected == before)
        return false;
    bl__cluster_shows(&n->protocol, n->shown, &orders);
    follow(n, &orders);
    return true;
}

/* The same for results: of entries that came from other nodes, and of roots. */
static bool has_results(const bl__node *n) {
    const bl__inlet *in = &n->c->inlet;
    const uint64_t held_up = bl_load64_host(&n->held_up);
    return n->homes.join_at && (bl__parcel_is_there(&in->outlet.away, n->fetched) || bl__answer_is_there(&in->ring) ||
                                (held_up && bl__parcel_has_room(&in->outlet.home, (uint32_t)(held_up - 1))));
}
static void move_results(bl__node *n) {
    bl__inlet *in = &n->c->inlet;
    const bl__parcels *ring = &in->outlet.away;
    for (; bl__parcel_is_there(ring, n->fetched); n->fetched++) {
        const bl__parcel *parcel = (const bl__parcel *)(const void *)(bl__parcel_slot(ring, n->fetched) + 1);
        send_results(n, parcel->join, parcel + 1);
        bl__parcel_clear(ring, n->fetched);
    }
    for (uint32_t number; (number = bl__answer_take(&in->ring));)
        if (n->protocol.number) /* else they are where they belong */
            send_results(n, BL__ROOT | (number - 1), in->results + (size_t)(number - 1) * n->homes.result_bytes);
    bring_parcels(n);
}

/* `epoch`: another one than before, if workers have left idle in the meantime, as they do to run something. */
static void is_low(bl__node *n, uint32_t epoch, double now) {
    bl__cluster_orders orders;
    const bool empty = has_taken_all(n->c);
    if (empty && n->shown) {
        take_back(n);
    } else if (empty) {
        if (epoch != n->ran)
            bl__cluster_ran(&n->protocol);
        n->ran = epoch;
        bl__cluster_low(&n->protocol, &orders);
        follow(n, &orders);
    }
    n->low_at = now;
    n->question++;
    renew_wish(n);
}

/* `dry`: what workers had taken and given, entries and results, when they had nothing left. They have got nothing since
 * if that is all. */
static void is_dry(bl__node *n, uint64_t dry) {
    bl__cluster_orders orders;
    n->dry = dry;
    if ((uint32_t)dry != (uint32_t)n->c->inlet.tickets + n->brought ||
        (uint32_t)(dry >> 32) != n->collected + n->fetched || n->homes.first || n->protocol.dry)
        return;
    if (n->shown) {
        take_back(n);
        return;
    }
    bl__cluster_dry(&n->protocol, &orders);
    follow(n, &orders);
}

bool bl__node_serves(bl_context *c) {
    bl__node *n = c->inlet.ring.node;
    const bl__outlet *x = &c->inlet.outlet;
    const uint64_t dry = bl_load64_host_acquire(&x->notes->dry), low = bl_load64_host(&x->notes->low); /* O16 */
    const double now = low >> 32 == n->question || n->cluster->line ? bl__now() : 0;
    const bool asks = low >> 32 == n->question && now > n->low_at + PATIENCE;
    const bool listens = n->cluster->line && now > n->listened + LISTEN;
    const bool returns = has_results(n);
    if (dry == n->dry && !asks && !returns && !listens && !bl__outlet_look(&c->inlet.ring, x, n->collected))
        return false;
    pthread_mutex_lock(&n->cluster->lock);
    bool stirs = listens && bl__local_hear(n->cluster);
    n->listened = listens ? now : n->listened;
    if (!n->cluster->halted) {
        stirs = collect(n) || stirs;
        if (returns)
            move_results(n);
        if (asks) {
            is_low(n, (uint32_t)low, now);
            bl__local_relieve(n->cluster);
        }
        if (dry != n->dry)
            is_dry(n, dry);
    } else if (n->cluster->keeps && returns) {
        move_results(n);
    }
    leave(n);
    return stirs || asks || returns;
}

/* Its workers have stopped. What they have given is theirs again. */
static void empty_outlet(bl__node *n) {
    const bl__inlet *in = &n->c->inlet;
    for (const uint32_t *entry; (entry = bl__outlet_look(&in->ring, &in->outlet, n->collected)); n->collected++)
        bl__inlet_put(n->c, entry, 0, 1);
}

void bl__local_begins(const bl__outside *ring) {
    const bl__node *n = ring->node;
    if (!n)
        return;
    pthread_mutex_lock(&n->cluster->lock);
    n->cluster->begun = true;
    pthread_cond_broadcast(&n->cluster->met);
    pthread_mutex_unlock(&n->cluster->lock);
}

void bl__local_await_begin(bl__cluster *cluster) {
    pthread_mutex_lock(&cluster->lock);
    while (!cluster->begun && !cluster->halted)
        pthread_cond_wait(&cluster->met, &cluster->lock);
    pthread_mutex_unlock(&cluster->lock);
}

void bl__local_ends(bl_context *c, int status) {
    bl__node *n = c->inlet.ring.node;
    if (!n || status == BL_OK)
        return;
    pthread_mutex_lock(&n->cluster->lock);
    halt_by(n, status);
    if (is_gpu(n))
        empty_outlet(n);
    leave(n);
}

/* ---- stopping for a checkpoint: with the lock ---- */

/* A GPU's porter also has those of records that it has not sent, and those that it has not taken. */
static bool has_to_collect(const bl__node *n) {
    const bl__inlet *in = &n->c->inlet;
    return n->homes.first || (is_gpu(n) && (in->finished || n->brought != in->outlet.home.moved));
}

bool bl__local_has_results(const bl__cluster *cluster) {
    for (uint32_t i = 0; i < cluster->count; i++)
        if (has_to_collect(&cluster->nodes[i]))
            return true;
    return false;
}

/* Everybody is here, so nothing is under way between nodes of this process. The last one to come speaks for all with
 * other processes. After a failure there is no checkpoint. */
static bool decide(bl__cluster *cluster) {
    if (!cluster->line)
        return rank_of(cluster->status) < 3 && bl__local_has_results(cluster);
    pthread_mutex_unlock(&cluster->lock);
    const bool goes_on = cluster->line->settle(cluster->line);
    pthread_mutex_lock(&cluster->lock);
    return goes_on;
}

static bool meet(bl__cluster *cluster) {
    const uint32_t number = cluster->meetings;
    if (++cluster->meeting == cluster->present) {
        cluster->goes_on = decide(cluster);
        cluster->meeting = 0;
        cluster->meetings++;
        pthread_cond_broadcast(&cluster->met);
    }
    while (number == cluster->meetings)
        pthread_cond_wait(&cluster->met, &cluster->lock);
    return cluster->goes_on;
}

bool bl__local_goes_on(bl_context *c, bool over) {
    bl__node *n = c->inlet.ring.node;
    if (!n || !(n->cluster->keeps || n->cluster->line))
        return false;
    pthread_mutex_lock(&n->cluster->lock);
    while (!n->over) {
        n->over = !meet(n->cluster);
        if (!n->over && !over && has_to_collect(n))
            break;
    }
    const bool goes_on = !n->over;
    leave(n);
    return goes_on;
}

void bl__local_misses(bl_context *c, int status) {
    bl__node *n = c->inlet.ring.node;
    pthread_mutex_lock(&n->cluster->lock);
    halt_by(n, status);
    n->over = true;
    n->cluster->present--; /* the caller's own node has yet to come */
    leave(n);
}

/* ---- results ---- */

void bl__node_returns(const bl__run *run, uint32_t join, const void *results) {
    bl__node *n = run->outside.node;
    if (!bl__is_away(join) && n->protocol.number == 0) /* the roots' results are there */
        return;
    if (!enter_for_results(run))
        return;
    send_results(n, join, results);
    leave(n);
}

bool bl__node_has_results(const bl__run *run) {
    bl__node *n = enter_for_results(run);
    if (!n)
        return false;
    const bool has = n->cluster->halted && n->homes.first;
    leave(n);
    return has;
}

bl__parcel *bl__node_collects(const bl__run *run) {
    bl__node *n = enter_for_results(run);
    if (!n)
        return NULL;
    bl__parcel *parcel = bl__homes_take(&n->homes);
    if (n->homes.first && !n->cluster->halted)
        bl__inlet_put(n->c, NULL, 0, 1);
    leave(n);
    return parcel;
}

void bl__node_collected(bl__parcel *parcel) { bl__parcel_free(parcel); }

void bl__node_postpones(const bl__run *run) {
    bl__node *n = enter(run);
    if (!n)
        return;
    bl__inlet_put(n->c, NULL, 0, 1);
    leave(n);
}
