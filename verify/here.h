/* Shared by the targets whose threads run in the host's memory: the table of queues, memory, and the types of the code
 * in its rows. */
#ifndef BALLAST_VERIFY_HERE_H
#define BALLAST_VERIFY_HERE_H

#include "verify.h"

#include "contract_cases.inc.h"
#include <ballast/generated/queues.h>
#include <stdlib.h>
#include <string.h>

typedef void (*contract_function)(contract_client *c, contract_case what, uint32_t rank);
typedef void (*history_function)(history_batch *b, bool set_up, uint32_t cell, uint32_t rank);

#define HERE_ROW(name) BL_CAT(BL_CAT(verify_, BL_TARGET), _##name)
#define X(name) extern const verify_queue HERE_ROW(name);
BL_QUEUES(X)
#undef X
#define X(name) &HERE_ROW(name),
static const verify_queue *const queues[] = {BL_QUEUES(X) NULL};
#undef X

static void *here_alloc(size_t bytes) { return aligned_alloc(BL_LINE, (bytes + BL_LINE) / BL_LINE * BL_LINE); }
static void here_fill(void *memory, int byte, size_t bytes) { memset(memory, byte, bytes); }
static void here_copy(void *to, const void *from, size_t bytes) { memcpy(to, from, bytes); }

static void pool_thread(contract_client *c, contract_case what, uint32_t rank) { contract_pool_case(c, what, rank); }

#endif
