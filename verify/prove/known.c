/* Reads known.txt. */
#include "queue_client.h"

#include <stdio.h>
#include <string.h>

enum { KNOWN = 64, LINE = 512 };

static struct {
    bool apart;
    char queue[32], text[64], reason[LINE];
} known[KNOWN];
static uint32_t count;

bool prove_read_known(const char *file) {
    char line[LINE];
    FILE *f = fopen(file, "r");
    while (f && count < KNOWN && fgets(line, sizeof line, f)) {
        char *colon = strstr(line, ": ");
        line[strcspn(line, "\n")] = 0;
        if (line[0] == '#' || !colon)
            continue;
        *colon = 0;
        known[count].text[0] = 0;
        known[count].apart = sscanf(line, "apart %31s", known[count].queue) == 1;
        if (!known[count].apart && sscanf(line, "known %31s %63[^\n]", known[count].queue, known[count].text) != 2)
            continue;
        snprintf(known[count++].reason, LINE, "%s", colon + 2);
    }
    if (f)
        fclose(f);
    return f != NULL;
}

bool prove_is_apart(uint32_t queue) {
    for (uint32_t i = 0; i < count; i++)
        if (known[i].apart && !strcmp(known[i].queue, prove_queues[queue].name))
            return true;
    return false;
}

const char *prove_is_known(uint32_t queue, const char *failure) {
    for (uint32_t i = 0; i < count; i++)
        if (!known[i].apart && !strcmp(known[i].queue, prove_queues[queue].name) && strstr(failure, known[i].text))
            return known[i].reason;
    return NULL;
}
