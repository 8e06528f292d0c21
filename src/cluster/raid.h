/* Taking work for another node from workers that are in long tasks, so that they cannot come and give it: out of their
 * queues, off their private stacks (parts/gate.h), and what has come from other nodes and none of them has taken. Any
 * thread of the process may do it, one at a time, while nothing is put into the inlet. */
#ifndef BALLAST_CLUSTER_RAID_H
#define BALLAST_CLUSTER_RAID_H

#include <ballast/parts/run.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct bl__raider {
    uint32_t *marks; /* the task that each worker was in when it last looked, ... */
    uint32_t room;   /* ... for so many workers */
    uint64_t looked; /* when; on bl_clock */
    bool knows;      /* workers had already been asked to give, so whoever has not moved since is in a long task */
    void *stack;     /* for what comes out of queues */
    size_t bytes;
} bl__raider;

void bl__raider_end(bl__raider *r);
/* Workers are told now, or have given something: it has to look anew at what they do then. */
void bl__raider_forget(bl__raider *r);

/* Entries, one in each row of a table. */
typedef struct bl__rows {
    uint32_t *first;
    uint32_t stride; /* words */
    uint32_t most;   /* entries that have room */
} bl__rows;

typedef struct bl__loot {
    uint32_t count;      /* entries, ... */
    uint32_t from_inlet; /* ... the first of which had come from other nodes */
    uint32_t without;    /* entries without tasks, which are for workers: the caller puts them back into the inlet */
    bool still;          /* all workers were in the same task the last time */
} bl__loot;

/* Up to half of what those workers have that were in the same task the last time; a single entry as a whole. Up to half
 * of what is in the inlet, too, if all of them were. `join_at`: the word of an entry that says where its results go; 0:
 * the program has none. */
bl__loot bl__raid(bl__raider *r, const bl__run *run, uint32_t join_at, const bl__rows *rows);

/* Divides the longest of `count` entries until there are `wanted`, or none has more than one task; how many there are
 * then. */
uint32_t bl__raid_divide(const bl__rows *rows, uint32_t count, uint32_t wanted);

#endif
