/* What a checkpoint looks like as a file, for checkpoint.c and for tests that make wrong ones.
 *
 *     head        sizes, statistics so far, and what tells a run from others
 *     sizes       of the pieces of memory, 8 bytes each
 *     contents    entries, join records, results of roots, the pieces of memory
 *     checksum    of all before it, 8 bytes
 *
 * Numbers are as this machine has them. */
#ifndef BALLAST_CHECKPOINT_H
#define BALLAST_CHECKPOINT_H

#include "internal.h"

typedef struct bl__checkpoint_head {
    char magic[32];
    uint64_t problem, first_problem, tasks, steals, steal_attempts, blocks;
    double seconds;
    uint32_t pauses, launches, run, words, entries, record_bytes, record_capacity, result_bytes, roots, unused;
} bl__checkpoint_head;

/* Bytes of a file as they come, in pieces of any size. Starts zeroed. */
typedef struct bl__checksum {
    uint64_t sum, bytes;
    unsigned char word[8]; /* the last ones, until there are eight */
} bl__checksum;

void bl__checksum_add(bl__checksum *s, const void *from, size_t bytes);
uint64_t bl__checksum_end(const bl__checksum *s);

#endif
