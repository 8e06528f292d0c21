/* BALLAST_LOG: a line per run on standard error. */
#include "job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool bl__log_wanted(void) {
    const char *text = getenv("BALLAST_LOG");
    return text && text[0] && strcmp(text, "0") != 0;
}

/* One write, so that lines of several threads do not mix. What cannot be written is lost: a log must not fail a run. */
void bl__log_run(const bl_context *c, const bl_program *program, const bl_stats *stats, int status) {
    char statistics[512], line[768];
    bl_stats_text(statistics, sizeof statistics, stats);
    int length = snprintf(line, sizeof line, "ballast: device=%s program=%.100s %s status=%s\n", c->id, program->name,
                          statistics, bl_status_name(status));
    if (write(STDERR_FILENO, line, (size_t)length) < 0)
        return;
}
