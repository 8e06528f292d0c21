#include "peers.h"

#include <lace.h>
#include <string.h>

static bool is_lace(const peers_run *run) { return strcmp(run->method->name, "Lace") == 0; }

int peers_lace_start(const peers_run *run) {
    if (is_lace(run))
        lace_start(run->threads, 0);
    return BL_OK;
}

void peers_lace_stop(const peers_run *run) {
    if (is_lace(run))
        lace_stop();
}
