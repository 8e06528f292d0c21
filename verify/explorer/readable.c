/* Which stores a fiber may read, and so which fibers can make a step. */
#include "explorer_parts.h"

bool bl__readable(bl__explorer *x, const bl__explored *f, const bl__location *at, const bl__message *m,
                  bl__sim_order order) {
    return m->stamp == bl__newest(x, at)->stamp || bl__order_allows(x, f, at, m, bl__acquires(order), bl__is_sc(order));
}

bl__message *bl__readable_changed(bl__explorer *x, const bl__explored *f) {
    const bl__location *at = f->step.at[0];
    bl__message *found = NULL;
    for (uint32_t i = at->newest; i && x->messages[i].stamp >= f->view[at->index]; i = x->messages[i].previous)
        if (x->messages[i].value != f->step.seen && bl__readable(x, f, at, &x->messages[i], BL__SIM_RELAXED))
            found = &x->messages[i];
    return found;
}

bool bl__readable_enabled(bl__explorer *x, const bl__explored *f) {
    if (f->step.kind == BL__STEP_WAIT)
        return bl__readable_changed(x, f) != NULL;
    if (f->step.kind == BL__STEP_YIELD)
        return f->stale || x->writes - f->own_writes != f->mark;
    return !f->meeting;
}
