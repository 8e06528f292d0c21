/* The operations of the source that explorations have reached. The same line compiled several times is one site. */
#undef BL_TARGET_SIM
#include "ballast/platform/platform.h"
#include "explorer_parts.h"

#include <pthread.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bl_site sites[BL__SITES]; /* from 1 */
static uint32_t count;

static const char *const op_names[] = {"load",        "store", "add",      "max",  "min",   "and",
                                       "or",          "xor",   "exchange", "cas",  "fence", "fence_light",
                                       "fence_heavy", "wait",  "yield",    "read", "write", "bump"};
static const char *const order_names[] = {"relaxed", "acquire", "release", "acq_rel", "seq_cst"};

static bool is_same(const bl_site *a, const bl__sim_site *b) {
    return a->line == b->line && a->op == b->op && a->order == b->order && a->failed == b->failed &&
           a->bits == b->bits && !strcmp(a->file, b->file);
}

static uint32_t enter(const bl__sim_site *site) {
    for (uint32_t i = 1; i <= count; i++)
        if (is_same(&sites[i], site))
            return i;
    if (count + 1 == BL__SITES)
        return 0; /* without a number, so it has no mutants */
    sites[++count] = (bl_site){site->file, site->line, site->bits, site->op, site->order, site->failed, 0};
    return count;
}

static uint32_t meet_site(bl__explorer *x, bl__sim_site *site) {
    pthread_mutex_lock(&lock);
    uint32_t id = enter(site);
    if (!(x->site_seen[id / 64] >> id % 64 & 1))
        sites[id].explored++;
    pthread_mutex_unlock(&lock);
    x->site_seen[id / 64] |= (uint64_t)1 << id % 64;
    bl_store32_release(&site->id, id);
    return id;
}

uint32_t bl__site_id(bl__explorer *x, bl__sim_site *site) {
    uint32_t id = bl_load32_acquire(&site->id);
    return id && (x->site_seen[id / 64] >> id % 64 & 1) ? id : meet_site(x, site);
}

uint32_t bl_site_count(void) {
    pthread_mutex_lock(&lock);
    uint32_t sum = count;
    pthread_mutex_unlock(&lock);
    return sum;
}

bl_site bl_site_get(uint32_t site) {
    pthread_mutex_lock(&lock);
    bl_site s = site && site <= count ? sites[site] : (bl_site){.file = "?"};
    pthread_mutex_unlock(&lock);
    return s;
}

static const char *without_folders(const char *file) {
    const char *slash = strrchr(file, '/');
    return slash ? slash + 1 : file;
}

void bl__site_text(uint32_t site, char *text, size_t bytes) {
    bl_site s = bl_site_get(site);
    snprintf(text, bytes, "%s:%u", without_folders(s.file), s.line);
}

const char *bl__op_text(uint8_t op) { return op_names[op]; }

/* ---- mutants ---- */

/* One step weaker; returns how many ways there are. */
static uint32_t weaker(const bl_site *s, uint8_t to[2]) {
    bool loads = s->op == BL__SIM_LOAD, stores = s->op == BL__SIM_STORE;
    if (s->op == BL__SIM_LIGHT || s->op == BL__SIM_HEAVY) { /* no fence at all; a fence of the caller alone */
        to[0] = BL__SIM_RELAXED;
        to[1] = BL__SIM_SEQ_CST;
        return s->op == BL__SIM_HEAVY ? 2 : 1;
    }
    switch (s->order) {
    case BL__SIM_SEQ_CST:
        to[0] = loads ? BL__SIM_ACQUIRE : stores ? BL__SIM_RELEASE : BL__SIM_ACQ_REL;
        return 1;
    case BL__SIM_ACQ_REL:
        to[0] = BL__SIM_ACQUIRE;
        to[1] = BL__SIM_RELEASE;
        return 2;
    case BL__SIM_ACQUIRE:
    case BL__SIM_RELEASE:
        to[0] = BL__SIM_RELAXED;
        return 1;
    default:
        return 0;
    }
}

uint32_t bl_site_mutants(uint32_t site, bl_mutant mutants[BL_MUTANTS]) {
    bl_site s = bl_site_get(site);
    uint8_t to[2];
    uint32_t n = 0;
    for (uint32_t i = 0, ways = weaker(&s, to); i < ways; i++)
        mutants[n++] = (bl_mutant){site, to[i], s.failed};
    /* and no fence at all; for other fences that is the one step */
    if (s.op == BL__SIM_FENCE && s.order == BL__SIM_SEQ_CST)
        mutants[n++] = (bl_mutant){site, BL__SIM_RELAXED, s.failed};
    if (s.op == BL__SIM_CAS && s.failed != BL__SIM_RELAXED)
        mutants[n++] = (bl_mutant){site, s.order, BL__SIM_RELAXED};
    if (s.op == BL__SIM_BUMP)
        mutants[n++] = (bl_mutant){site, s.order, s.failed};
    return n;
}

static const char *order_text(const bl_site *s, uint8_t order) {
    bool fence = s->op == BL__SIM_FENCE || s->op == BL__SIM_LIGHT || s->op == BL__SIM_HEAVY;
    return fence && order == BL__SIM_RELAXED ? "none" : order_names[order];
}

void bl_mutant_text(bl_mutant m, char *text, size_t bytes) {
    bl_site s = bl_site_get(m.site);
    char where[128], what[32];
    snprintf(where, sizeof where, "%s:%u", without_folders(s.file), s.line);
    snprintf(what, sizeof what, s.bits ? "%s%u" : "%s", op_names[s.op], s.bits);
    if (!m.site)
        snprintf(text, bytes, "none");
    else if (s.op == BL__SIM_BUMP)
        snprintf(text, bytes, "%s bump > none", where);
    else if (s.op == BL__SIM_LIGHT || s.op == BL__SIM_HEAVY) /* these have one order, and the mutant is another fence */
        snprintf(text, bytes, "%s %s > %s", where, what, order_text(&s, m.order));
    else if (m.failed != s.failed)
        snprintf(text, bytes, "%s %s %s, failed %s > %s", where, what, order_names[s.order], order_names[s.failed],
                 order_names[m.failed]);
    else
        snprintf(text, bytes, "%s %s %s > %s", where, what, order_names[s.order], order_text(&s, m.order));
}

bl_mutant bl_mutant_find(const char *wanted) {
    bl_mutant mutants[BL_MUTANTS];
    char text[256];
    for (uint32_t site = 1, sum = bl_site_count(); site <= sum; site++)
        for (uint32_t i = 0, n = bl_site_mutants(site, mutants); i < n; i++) {
            bl_mutant_text(mutants[i], text, sizeof text);
            if (!strcmp(text, wanted))
                return mutants[i];
        }
    return (bl_mutant){0};
}
