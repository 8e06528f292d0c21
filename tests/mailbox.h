/* A link that is made of mailboxes: each rank is a thread with a context of its own. Messages take their time, a
 * different one between any two ranks, so what is rare on a real network happens here: runs are halted while entries
 * are under way, and names arrive after the end. */
#ifndef BALLAST_TESTS_MAILBOX_H
#define BALLAST_TESTS_MAILBOX_H

#include <ballast/link.h>
#include <ballast/task.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { RANKS_MAX = 8 };

typedef struct letter {
    struct letter *next;
    uint64_t due; /* on bl_clock */
    size_t bytes;
    unsigned char text[];
} letter;

typedef struct world {
    pthread_mutex_t lock;
    pthread_cond_t gathered;
    uint32_t ranks, random;
    uint64_t longest;                                                 /* delay, ns */
    letter *first[RANKS_MAX][RANKS_MAX], *last[RANKS_MAX][RANKS_MAX]; /* to, from */
    uint32_t came, rounds;                                            /* of the gather under way */
    size_t bytes;
    unsigned char *all[2];
    uint32_t closed;
} world;

typedef struct member {
    world *w;
    uint32_t rank;
} member;

static inline void send_letter(void *arg, uint32_t to, const void *message, size_t bytes) {
    member *m = arg;
    world *w = m->w;
    letter *l = malloc(sizeof *l + bytes);
    memcpy(l->text, message, bytes);
    l->bytes = bytes;
    l->next = NULL;
    pthread_mutex_lock(&w->lock);
    w->random = (w->random * 1664525u + 1013904223u) ^ to;
    l->due = bl_clock() + (w->longest ? (w->random >> 8) % w->longest : 0);
    if (w->last[to][m->rank])
        w->last[to][m->rank]->next = l;
    else
        w->first[to][m->rank] = l;
    w->last[to][m->rank] = l;
    pthread_mutex_unlock(&w->lock);
}

/* The oldest of each sender is the only one that may arrive: so the order between two ranks is kept. */
static inline size_t receive_letter(void *arg, uint32_t *from, void *message, size_t room) {
    member *m = arg;
    world *w = m->w;
    size_t bytes = 0;
    pthread_mutex_lock(&w->lock);
    const uint64_t now = bl_clock();
    for (uint32_t i = 0; i < w->ranks && !bytes; i++) {
        letter *l = w->first[m->rank][i];
        if (!l || l->due > now || l->bytes > room)
            continue;
        w->first[m->rank][i] = l->next;
        if (!l->next)
            w->last[m->rank][i] = NULL;
        *from = i;
        bytes = l->bytes;
        memcpy(message, l->text, bytes);
        free(l);
    }
    pthread_mutex_unlock(&w->lock);
    return bytes;
}

/* Two buffers: a rank is at most one round ahead of another that has not copied its answers yet. */
static inline void gather(void *arg, const void *mine, size_t bytes, void *all) {
    member *m = arg;
    world *w = m->w;
    pthread_mutex_lock(&w->lock);
    const uint32_t round = w->rounds;
    unsigned char **buffer = &w->all[round % 2];
    if (w->came == 0) {
        *buffer = realloc(*buffer, bytes * w->ranks);
        w->bytes = bytes;
    }
    if (w->bytes != bytes)
        abort(); /* ranks are in different collective calls */
    memcpy(*buffer + m->rank * bytes, mine, bytes);
    if (++w->came == w->ranks) {
        w->came = 0;
        w->rounds++;
        pthread_cond_broadcast(&w->gathered);
    }
    while (round == w->rounds)
        pthread_cond_wait(&w->gathered, &w->lock);
    memcpy(all, *buffer, bytes * w->ranks);
    pthread_mutex_unlock(&w->lock);
}

static inline void close_member(void *arg) {
    world *w = ((member *)arg)->w;
    pthread_mutex_lock(&w->lock);
    w->closed++;
    pthread_mutex_unlock(&w->lock);
}

static inline bl_link link_of(member *m) {
    return (bl_link){.arg = m,
                     .rank = m->rank,
                     .ranks = m->w->ranks,
                     .send = send_letter,
                     .receive = receive_letter,
                     .gather = gather,
                     .close = close_member};
}

static inline uint32_t letters_under_way(world *w) {
    uint32_t count = 0;
    pthread_mutex_lock(&w->lock);
    for (uint32_t to = 0; to < w->ranks; to++)
        for (uint32_t from = 0; from < w->ranks; from++)
            for (letter *l = w->first[to][from]; l; l = l->next)
                count++;
    pthread_mutex_unlock(&w->lock);
    return count;
}

static inline void world_begin(world *w) {
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->gathered, NULL);
}

static inline void world_end(world *w) {
    for (uint32_t to = 0; to < w->ranks; to++)
        for (uint32_t from = 0; from < w->ranks; from++)
            for (letter *l = w->first[to][from], *next; l; l = next) {
                next = l->next;
                free(l);
            }
    free(w->all[0]);
    free(w->all[1]);
    pthread_cond_destroy(&w->gathered);
    pthread_mutex_destroy(&w->lock);
}

#endif
