#include "mpi_job.h"

#include "output.h"
#include "ranks_module.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TEXT = 1024 };

static uint32_t rank, ranks = 1;
static const ranks_module *module; /* NULL: MPI is not initialised */
static bl_link link_of_tool;       /* for what the tool itself has to tell */
static char said[TEXT];            /* by a rank that does not print */

/* ---- as whom mpirun has started this process ---- */

static bool read_number(const char *variable, uint32_t *number) {
    const char *text = getenv(variable);
    char *end;
    if (!text || !*text)
        return false;
    const unsigned long value = strtoul(text, &end, 10);
    *number = (uint32_t)value;
    return *end == '\0' && value <= UINT32_MAX;
}

void ranks_find(void) {
    static const char *const names[][2] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"}, /* Open MPI's mpirun */
                                           {"PMI_RANK", "PMI_SIZE"},                         /* MPICH, Slurm: pmi2 */
                                           {"PMIX_RANK", "SLURM_NTASKS"}};                   /* Slurm: pmix */
    for (int i = 0; i < 3; i++) {
        uint32_t number, of;
        if (read_number(names[i][0], &number) && read_number(names[i][1], &of) && number < of) {
            rank = number;
            ranks = of;
            break;
        }
    }
    if (rank == 0)
        return;
    if (!freopen("/dev/null", "w", stdout))
        fclose(stdout);
    keep_messages(said, sizeof said);
}

bool ranks_are_several(void) { return ranks > 1; }
bool ranks_is_first(void) { return rank == 0; }

/* ---- the module ---- */

/* Next to the tool, where the build puts it, or where it is installed. False: in neither place. */
static bool find_module(char *path, size_t size) {
    char folder[PATH_MAX / 2];
    const ssize_t length = readlink("/proc/self/exe", folder, sizeof folder - 1);
    if (length <= 0)
        return false;
    folder[length] = '\0';
    *strrchr(folder, '/') = '\0';
    snprintf(path, size, "%s/" RANKS_MODULE, folder);
    if (access(path, F_OK) == 0)
        return true;
    snprintf(path, size, "%s/" RANKS_MODULE_INSTALLED "/" RANKS_MODULE, folder);
    return access(path, F_OK) == 0;
}

/* Ranks that cannot tell the others print by themselves. */
static int cannot_load(const char *why) {
    keep_messages(NULL, 0);
    return run_failed("rank %u of %u: MPI cannot be loaded: %s", (unsigned)rank, (unsigned)ranks, why);
}

int ranks_start(void) {
    char path[PATH_MAX];
    if (ranks == 1)
        return STATUS_OK;
    if (!find_module(path, sizeof path))
        return run_failed("run: started as %u processes by mpirun, but this tool was built without MPI (accepted: "
                          "without mpirun)",
                          (unsigned)ranks);
    void *file = dlopen(path, RTLD_NOW | RTLD_GLOBAL); /* global, because Open MPI loads parts that need the whole */
    if (!file)
        return cannot_load(dlerror());
    const ranks_module *found = dlsym(file, "ballast_ranks_module");
    if (!found || found->bytes != RANKS_MODULE_BYTES)
        return cannot_load(RANKS_MODULE " belongs to another version");
    found->start();
    module = found;
    link_of_tool = module->link();
    if (link_of_tool.wrong)
        return cannot_load(link_of_tool.wrong);
    return STATUS_OK;
}

void ranks_end(void) {
    if (!module)
        return;
    ranks_agree(STATUS_OK, NULL); /* here ranks wait asleep, in MPI they would spin */
    link_of_tool.close(link_of_tool.arg);
    module->end();
    module = NULL;
}

/* ---- together ---- */

typedef struct opinion {
    int status;
    char said[TEXT], what[TEXT];
} opinion;

static int judge(const opinion *all) {
    for (uint32_t i = 0; i < ranks; i++)
        if (all[i].status) {
            if (i && rank == 0)
                note("%s (rank %u)", all[i].said, (unsigned)i);
            return all[i].status;
        }
    for (uint32_t i = 1; i < ranks; i++)
        if (strcmp(all[i].what, all[0].what))
            return wrong_use("rank %u: %.400s, but rank 0 has %.400s (accepted: the same on all ranks)", (unsigned)i,
                             all[i].what, all[0].what);
    return STATUS_OK;
}

int ranks_agree(int status, const char *what) {
    if (!module)
        return status;
    opinion mine = {.status = status}, *all = calloc(ranks, sizeof *all);
    memcpy(mine.said, said, sizeof said);
    snprintf(mine.what, sizeof mine.what, "%s", what ? what : "");
    if (!all)
        return run_failed("run: %s", bl_status_text(BL_ENOMEM));
    link_of_tool.gather(link_of_tool.arg, &mine, sizeof mine, all);
    status = judge(all);
    free(all);
    return status;
}

int ranks_open(bl_context **context, const bl_config *config) {
    if (!module)
        return bl_open(context, config);
    const bl_link link = module->link();
    return bl_open_linked(context, config, &link);
}

int ranks_collect(const void *mine, size_t bytes, void (*add)(void *arg, const void *other), void *arg) {
    if (!module)
        return STATUS_OK;
    char *all = malloc(bytes * ranks);
    if (!all)
        return run_failed("run: %s", bl_status_text(BL_ENOMEM));
    link_of_tool.gather(link_of_tool.arg, mine, bytes, all);
    for (uint32_t i = 1; i < ranks && rank == 0; i++)
        add(arg, all + i * bytes);
    free(all);
    return STATUS_OK;
}
