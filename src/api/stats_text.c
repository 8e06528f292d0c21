/* Statistics as one line of text. */
#include "internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

int bl_stats_text_sized(char *text, size_t size, const bl_stats *stats, size_t stats_bytes) {
    bl_stats s;
    memset(&s, 0, sizeof s);
    if (stats)
        memcpy(&s, stats, stats_bytes < sizeof s ? stats_bytes : sizeof s);
    const char *scheduler = s.scheduler[0] ? s.scheduler : "-", *group = s.group[0] ? s.group : "-";
    return snprintf(text, size,
                    "scheduler=%.31s group=%.15s workers=%" PRIu32 " tasks=%" PRIu64
                    " seconds=%.9f wall_seconds=%.9f steals=%" PRIu64 " steal_attempts=%" PRIu64
                    " balance=%.3f launches=%" PRIu32 " pauses=%" PRIu32 " peak_entries=%" PRIu64
                    " peak_bytes=%" PRIu64,
                    scheduler, group, s.workers, s.tasks, s.seconds, s.wall_seconds, s.steals, s.steal_attempts,
                    s.balance, s.launches, s.pauses, s.peak_entries, s.peak_bytes);
}
