/* What a task did wrong, in words. */
#include "job.h"

#include <ballast/task.h>
#include <stdlib.h>
#include <string.h>

static void say_too_wide(bl__job *j, uint32_t children) {
    const bl_program *p = j->plan.program;
    if (children > BL__MOST_CHILDREN)
        bl__detail(j->c, "%s: a fork of %u children (accepted: up to %u)", p->name, (unsigned)children,
                   (unsigned)BL__MOST_CHILDREN);
    else
        bl__detail(j->c, "%s: a fork of %u children, but BL_JOIN_WIDTH is %u%s", p->name, (unsigned)children,
                   (unsigned)p->join_width,
                   !j->c->ops->workers_allocate
                       ? ""
                       : ", and neither a checkpoint nor a GPU holds the results of a wider one");
}

int bl__say_failure(bl__job *j, const bl__control *after) {
    const bl_program *p = j->plan.program;
    bl_context *c = j->c;
    const size_t bytes = p->payload_bytes + BL__FAILURE_TEXT;
    void *memory = NULL;
    if (posix_memalign(&memory, BL_LINE, bytes))
        return bl__no_memory(c, "the payload of a task that failed");
    char *payload = memory;
    int status = bl__copy_out(c, payload, j->run.failure, bytes);
    c->failed = true;
    c->error = after->error;
    c->failed_payload = payload;
    if (after->failed == 2)
        bl__detail(c, "%s: a task threw: %s", p->name, payload + p->payload_bytes);
    else
        bl__detail(c, "%s: a task failed with error %llu", p->name, (unsigned long long)c->error);
    return status == BL_OK ? BL_ETASK : status;
}

int bl__say_misuse(bl__job *j, uint64_t misuse) {
    const bl_program *p = j->plan.program;
    const unsigned number = (unsigned)(uint32_t)misuse;
    bl_context *c = j->c;
    switch ((bl__misuse)(misuse >> 32)) {
    case BL__SPAWNED_TOO_MANY:
        bl__detail(c, "%s: a task spawned %u entries, but BL_MAX_SPAWN is %u", p->name, number, (unsigned)p->max_spawn);
        break;
    case BL__FORKED_TOO_WIDE:
        say_too_wide(j, number);
        break;
    case BL__FORKED_NONE:
        bl__detail(c, "%s: a fork of no children", p->name);
        break;
    case BL__ENDED_TWICE:
        bl__detail(c, "%s: a task or join called bl_return or bl_fork more than once", p->name);
        break;
    case BL__ENDED_NOT_AT_ALL:
        bl__detail(c, "%s: a task or join called neither bl_return nor bl_fork", p->name);
        break;
    case BL__NO_RESULTS:
        bl__detail(c, "%s: a task called %s, but the program has no BL_RESULT", p->name,
                   number ? "bl_fork" : "bl_return");
        break;
    case BL__SPAWNED_OTHER:
        if (p->loop_at) {
            bl__detail(c, "%s: the body of a reduction spawned or forked, and can only return", p->name);
            break;
        }
        bl__detail(c, "%s: a task spawned or forked a payload of %u bytes, but BL_PAYLOAD has %u", p->name, number,
                   (unsigned)p->payload_bytes);
        break;
    case BL__RETURNED_OTHER:
        bl__detail(c, "%s: a task returned %u bytes, but BL_RESULT has %u", p->name, number, (unsigned)p->result_bytes);
        break;
    case BL__SPLIT_OUTSIDE:
        bl__detail(c, "%s: BL_SPLIT returned %u, which is not inside of the range", p->name, number);
        break;
    case BL__FAILED_OTHER:
        bl__detail(c, "%s: bl_fail was given a payload of %u bytes, but BL_PAYLOAD has %u", p->name, number,
                   (unsigned)(p->loop_at ? p->loop_at : p->payload_bytes));
        break;
    case BL__SUM_TOO_LARGE:
        bl__detail(c, "%s: a sum of results reached 2^48", p->name);
        break;
    case BL__MISPLACED:
        bl__detail(c, "%s: a task passed a %s at an address that is no multiple of 4", p->name,
                   number ? "result" : "payload");
        break;
    }
    return BL_EMISUSE;
}
