/* Ranges for Nsight, by NVTX: the runs of a context on the thread that does them, and in each run its phases. A domain
 * is NULL unless a profiler is attached, so that otherwise all this costs is a test of that. */
#ifdef BL_HAVE_NVTX
#include "job.h"

#include <nvtx3/nvToolsExt.h>
#include <stdio.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static nvtxDomainHandle_t domain;

static void make_domain(void) { domain = nvtxDomainCreateA("ballast"); }

void *bl__profiler(void) {
    pthread_once(&once, make_domain);
    return domain;
}

static void begin(bl_context *c, const char *name) {
    nvtxEventAttributes_t range = {0};
    range.version = NVTX_VERSION;
    range.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    range.messageType = NVTX_MESSAGE_TYPE_ASCII;
    range.message.ascii = name;
    nvtxDomainRangePushEx(c->profiler, &range);
}

void bl__phase_show(bl__job *j, const char *name) {
    if (!j->phase) {
        char run[128];
        snprintf(run, sizeof run, "run %.60s on %.60s", j->plan.program ? j->plan.program->name : "", j->c->id);
        begin(j->c, run);
    } else {
        nvtxDomainRangePop(j->c->profiler); /* the phase before */
    }
    if (name)
        begin(j->c, name);
    else
        nvtxDomainRangePop(j->c->profiler); /* the run */
    j->phase = name;
}
#else
typedef int bl__no_phases; /* ISO C wants something here */
#endif
