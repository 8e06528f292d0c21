#include "data.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char DATA[] = "$BALLAST_DATA/";

bool bench_data_path(char *path, size_t size, const char *word, size_t length, char why[BENCH_WHY_SIZE]) {
    const char *folder = getenv("BALLAST_DATA");
    size_t skip = strlen(DATA);
    int rest = (int)(length - skip);
    if (length < skip || strncmp(word, DATA, skip) != 0) {
        snprintf(path, size, "%.*s", (int)length, word);
        return true;
    }
    if (!folder || !*folder) {
        snprintf(why, BENCH_WHY_SIZE, "BALLAST_DATA is not set: %.*s is missing (README)", rest, word + skip);
        return false;
    }
    int written = snprintf(path, size, "%s/%.*s", folder, rest, word + skip);
    if (written < 0 || (size_t)written >= size || access(path, R_OK) != 0) {
        snprintf(why, BENCH_WHY_SIZE, "BALLAST_DATA has no %.*s that can be read (README)", rest, word + skip);
        return false;
    }
    return true;
}

bool bench_data_there(const char *words, char why[BENCH_WHY_SIZE]) {
    char path[1024];
    for (size_t length; *words; words += length + (words[length] == ' ')) {
        length = strcspn(words, " ");
        if (!bench_data_path(path, sizeof path, words, length, why))
            return false;
    }
    return true;
}
