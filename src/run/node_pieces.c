#include "node_pieces.h"

#include "cluster/homes.h"
#include "cluster/local.h"
#include "job.h"

#include <ballast/parts/entry.h>
#include <ballast/parts/outside.h>
#include <ballast/parts/record.h>
#include <stdlib.h>
#include <string.h>

/* ---- a piece ---- */

typedef struct contents {
    unsigned char *records;
    bl__home *homes;
    uint32_t *entries, *numbers;
    unsigned char *results;
} contents;

static uint32_t words_of(const bl_program *p) { return BL__ENTRY_HEAD + p->carried_bytes / 4; }

static size_t aligned(size_t bytes) { return (bytes + 15) / 16 * 16; }

static uint64_t size_of(const bl__piece *piece, const bl_program *p) {
    return aligned(sizeof *piece) + aligned((size_t)piece->records * p->record_bytes) +
           piece->homes * sizeof(bl__home) + 4u * ((uint64_t)piece->entries * words_of(p) + piece->records) +
           (uint64_t)piece->results * p->result_bytes;
}

static contents contents_of(const bl__piece *piece, const bl_program *p) {
    unsigned char *at = (unsigned char *)(uintptr_t)piece + aligned(sizeof *piece);
    contents in = {.records = at};
    in.homes = (bl__home *)(void *)(at += aligned((size_t)piece->records * p->record_bytes));
    in.entries = (uint32_t *)(void *)(at += piece->homes * sizeof(bl__home));
    in.numbers = in.entries + (size_t)piece->entries * words_of(p);
    in.results = (unsigned char *)(in.numbers + piece->records);
    return in;
}

/* The entries of the inlet, which stay there: `to` may be NULL. */
static uint32_t copy_inlet(const bl__job *j, uint32_t *to) {
    const bl__outside *ring = &j->c->inlet.ring;
    const uint32_t words = j->run.words;
    uint32_t count = 0;
    for (uint32_t at = ring->taken; bl__inlet_has(ring, at); at++) {
        const uint32_t *entry = bl__inlet_slot(ring, at) + 1;
        if (entry[0] == entry[1]) /* it says that results have come home, and they have been collected */
            continue;
        if (to)
            memcpy(to + (size_t)count * words, entry, 4u * (size_t)words);
        count++;
    }
    return count;
}

/* The records of a job, in memory of the host. */
typedef struct record_list {
    const unsigned char *at;
    unsigned char *copy; /* to be freed */
    uint32_t count;
    size_t bytes; /* of one */
} record_list;

static bool find_records(const bl__job *j, record_list *list) {
    *list = (record_list){j->records.memory, NULL, j->run.record_capacity, j->run.record_bytes};
    if (j->c->ops->host_memory)
        return true;
    list->at = list->copy = malloc(list->count * list->bytes + 1);
    return list->copy && bl__copy_out(j->c, list->copy, j->records.memory, list->count * list->bytes) == BL_OK;
}

static bool is_in_use(const record_list *list, uint32_t i) {
    bl__record r;
    memcpy(&r, list->at + i * list->bytes, sizeof r);
    return bl__record_out(r.state) != 0;
}

static uint32_t count_records(const record_list *list) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < list->count; i++)
        count += is_in_use(list, i);
    return count;
}

static void copy_records(const record_list *list, const contents *to) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < list->count; i++)
        if (is_in_use(list, i)) {
            memcpy(to->records + count * list->bytes, list->at + i * list->bytes, list->bytes);
            to->numbers[count++] = i;
        }
}

/* False: its entries cannot be copied. */
static bool fill_piece(const bl__job *j, bl__piece *piece, uint32_t flat, const bl__homes *homes,
                       const record_list *list) {
    const bl_program *p = j->plan.program;
    const contents to = contents_of(piece, p);
    if (piece->records)
        copy_records(list, &to);
    if (piece->homes)
        memcpy(to.homes, homes->list, piece->homes * sizeof *homes->list);
    copy_inlet(j, to.entries + (size_t)flat * j->run.words);
    if (piece->results && p->result_bytes)
        memcpy(to.results, j->run.results, (size_t)piece->results * p->result_bytes);
    return !flat || bl__copy_out(j->c, to.entries, j->flat.memory, 4u * (size_t)flat * j->run.words) == BL_OK;
}

bl__piece *bl__piece_make(bl__job *j, bool complete) {
    const bl_program *p = j->plan.program;
    uint32_t node;
    const bl__homes *homes = bl__local_homes(j->c, &node);
    const uint32_t flat = complete ? 0 : j->entries;
    record_list list = {.copy = NULL};
    const bool found = complete || !p->result_bytes || find_records(j, &list);
    bl__piece head = {.entries = flat + copy_inlet(j, NULL), .homes = homes->used};
    head.records = found ? count_records(&list) : 0;
    head.results = node == 0 ? j->roots : 0;
    head.bytes = size_of(&head, p);
    bl__piece *piece = found ? malloc(head.bytes) : NULL;
    if (piece) {
        *piece = head;
        if (!fill_piece(j, piece, flat, homes, &list)) {
            free(piece);
            piece = NULL;
        }
    }
    free(list.copy);
    return piece;
}

/* ---- a whole ---- */

#define NONE UINT32_MAX

typedef struct merging {
    const bl_program *p;
    const bl__piece *const *pieces;
    uint32_t count, records;
    contents *in;     /* by node */
    uint32_t *first;  /* the first record of each node among all */
    uint32_t *node;   /* of a record */
    uint32_t *target; /* of a record: the one that it stands for, or itself; NONE: not known yet */
    uint32_t *path;
    bl__whole *whole;
    bool fits; /* no piece speaks of something that another one does not have */
} merging;

static bl__record *record_at(const merging *m, uint32_t i) {
    return (bl__record *)(void *)(m->whole->records + (size_t)i * m->p->record_bytes);
}

/* A record by the number that it had at its node. Numbers ascend. */
static uint32_t find_record(merging *m, uint32_t node, uint32_t number) {
    if (node < m->count) {
        const uint32_t *numbers = m->in[node].numbers;
        uint32_t low = 0, high = m->pieces[node]->records;
        while (low < high) {
            const uint32_t middle = low + (high - low) / 2;
            if (numbers[middle] == number)
                return m->first[node] + middle;
            if (numbers[middle] < number)
                low = middle + 1;
            else
                high = middle;
        }
    }
    m->fits = false;
    return 0;
}

static bl__home home_of(merging *m, uint32_t node, uint32_t join) {
    const uint32_t at = join & ~BL__AWAY;
    if (at < m->pieces[node]->homes)
        return m->in[node].homes[at];
    m->fits = false;
    return (bl__home){0, 0, 0, 0};
}

/* The record i stands for children of another one: what has returned to it belongs there. */
static void fold(merging *m, uint32_t i, uint32_t target) {
    bl__record *from = record_at(m, i), *to = record_at(m, target);
    const bl__home home = home_of(m, m->node[i], from->parent);
    const uint32_t returned = home.count - bl__record_out(from->state);
    to->state -= returned * BL__ONE_CHILD;
    if (m->p->results_at == 0)
        to->state += from->state & BL__SUM_MASK;
    else if (home.begin + home.count <= m->p->join_width)
        memcpy((unsigned char *)to + m->p->results_at + (size_t)home.begin * m->p->result_bytes,
               (unsigned char *)from + m->p->results_at + (size_t)home.begin * m->p->result_bytes,
               (size_t)home.count * m->p->result_bytes);
    else
        m->fits = false;
    from->state = 0;
}

/* Those above a record are folded before it: of what has not returned they hold nothing that counts. */
static void find_target(merging *m, uint32_t i) {
    uint32_t depth = 0;
    while (m->target[i] == NONE && m->fits) {
        const bl__record *r = record_at(m, i);
        if (!bl__is_away(r->parent)) {
            m->target[i] = i;
            break;
        }
        if (depth == m->records) { /* no record is above itself */
            m->fits = false;
            return;
        }
        m->path[depth++] = i;
        const bl__home home = home_of(m, m->node[i], r->parent);
        i = find_record(m, home.node, home.join);
    }
    const uint32_t target = m->target[i];
    while (depth && m->fits) {
        i = m->path[--depth];
        fold(m, i, target);
        m->target[i] = target;
    }
}

/* Where results go that went to `join` of a node. */
static uint32_t new_join(merging *m, uint32_t node, uint32_t join) {
    if (bl__is_away(join)) {
        const bl__home home = home_of(m, node, join);
        node = home.node;
        join = home.join;
    } else if (join & BL__ROOT) { /* or nobody wants them */
        return join;
    }
    return m->target[find_record(m, node, join)];
}

static void merge_records(merging *m) {
    const size_t bytes = m->p->record_bytes;
    for (uint32_t k = 0, i = 0; k < m->count; k++) {
        memcpy(m->whole->records + i * bytes, m->in[k].records, m->pieces[k]->records * bytes);
        for (uint32_t n = 0; n < m->pieces[k]->records; n++, i++) {
            m->node[i] = k;
            m->target[i] = NONE;
        }
    }
    for (uint32_t i = 0; i < m->records && m->fits; i++)
        find_target(m, i);
    for (uint32_t i = 0; i < m->records && m->fits; i++)
        if (m->target[i] == i)
            record_at(m, i)->parent = new_join(m, m->node[i], record_at(m, i)->parent);
}

static void merge_entries(merging *m) {
    const uint32_t words = words_of(m->p), join_at = BL__ENTRY_HEAD + m->p->payload_bytes / 4;
    uint32_t *to = m->whole->flat;
    for (uint32_t k = 0; k < m->count; k++)
        for (uint32_t i = 0; i < m->pieces[k]->entries && m->fits; i++, to += words) {
            memcpy(to, m->in[k].entries + (size_t)i * words, 4u * (size_t)words);
            if (m->p->result_bytes)
                to[join_at] = new_join(m, k, to[join_at]);
        }
}

/* Sizes of all pieces together, and memory for them. */
static bool prepare(merging *m) {
    bl__whole *w = m->whole;
    uint64_t entries = 0, records = 0;
    m->in = calloc(m->count, sizeof *m->in);
    m->first = calloc(m->count, sizeof *m->first);
    if (!m->in || !m->first)
        return false;
    for (uint32_t k = 0; k < m->count; k++) {
        m->in[k] = contents_of(m->pieces[k], m->p);
        m->first[k] = (uint32_t)records;
        entries += m->pieces[k]->entries;
        records += m->pieces[k]->records;
    }
    if (entries > UINT32_MAX || records > 1u << 30)
        return false;
    m->records = (uint32_t)records;
    w->entries = (uint32_t)entries;
    w->record_capacity = m->p->result_bytes ? bl__power_of_two(records > 2 ? records : 2) : 0;
    w->flat = malloc(4u * (size_t)words_of(m->p) * w->entries + 4);
    w->records = calloc(1, (size_t)w->record_capacity * m->p->record_bytes + 1);
    w->results = malloc((size_t)m->pieces[0]->results * m->p->result_bytes + 1);
    m->node = malloc(4 * (records + 1));
    m->target = malloc(4 * (records + 1));
    m->path = malloc(4 * (records + 1));
    return w->flat && w->records && w->results && m->node && m->target && m->path;
}

int bl__whole_make(bl_context *c, const bl_program *program, const bl__piece *const *pieces, uint32_t count,
                   bl__whole *whole) {
    merging m = {.p = program, .pieces = pieces, .count = count, .whole = whole, .fits = true};
    memset(whole, 0, sizeof *whole);
    int status = prepare(&m) ? BL_OK : bl__no_memory(c, "a checkpoint");
    if (status == BL_OK) {
        merge_records(&m);
        merge_entries(&m);
        memcpy(whole->results, m.in[0].results, (size_t)pieces[0]->results * program->result_bytes);
    }
    if (!m.fits) {
        bl__detail(c, "checkpoint: what the nodes have left does not fit together");
        status = BL_EFILE;
    }
    free(m.in);
    free(m.first);
    free(m.node);
    free(m.target);
    free(m.path);
    if (status != BL_OK)
        bl__whole_free(whole);
    return status;
}

void bl__whole_free(bl__whole *whole) {
    free(whole->flat);
    free(whole->records);
    free(whole->results);
    memset(whole, 0, sizeof *whole);
}
