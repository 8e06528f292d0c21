/* The command line: one word per line. */
#include "fuzz.h"

#include "options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const app_option rows[] = {
    {"--workers", "N", "", "a whole number"},      {"--time-limit", "S", "", "seconds"},
    {"--device", "D", "auto", "a device"},         {"--scheduler", "S", "auto", "a scheduler"},
    {"--steal", "one|half", "", "one of a few"},   {"--json", NULL, "", "a flag"},
    {"-t", "TYPE", "", "an option of one letter"}, {NULL, NULL, NULL, NULL},
};

static void check_values(const options *set) {
    static const char *const ways[] = {"one", "half", NULL};
    const char *device = "auto", *scheduler = "auto", *values[8];
    uint64_t workers = 1;
    double limit = 1;
    int way = 0;
    if (option_whole(set, "--workers", 1, 1000, &workers) == 0)
        FUZZ_CHECK(workers >= 1 && workers <= 1000);
    if (option_seconds(set, "--time-limit", &limit) == 0)
        FUZZ_CHECK(limit > 0 && limit <= 1e9);
    if (option_choice(set, "--steal", ways, &way) == 0)
        FUZZ_CHECK(way == 0 || way == 1);
    if (option_device(set, &device) == 0)
        FUZZ_CHECK(device_target(device) != NULL);
    if (option_scheduler(set, &scheduler) == 0)
        FUZZ_CHECK(bl_scheduler_traits(scheduler) != 0);
    options_values(set, rows, values);
    for (int i = 0; rows[i].name; i++)
        FUZZ_CHECK(values[i] != NULL);
}

/* Messages go to standard error through stdio, which this redirects; sanitizer reports do not. */
static void hide_messages(void) {
    static FILE *nowhere;
    if (!nowhere)
        nowhere = fopen("/dev/null", "w");
    FUZZ_CHECK(nowhere != NULL);
    stderr = nowhere;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    enum { WORDS = 64 };
    char *text = fuzz_text(data, size), *at = text, *words[WORDS + 1];
    int count = 0;
    while (count < WORDS && (words[count] = fuzz_next_line(&at)))
        count++;
    words[count] = NULL;
    options set = {.command = "fuzz"};
    const char *word;
    FILE *standard = stderr;
    hide_messages();
    options_add(&set, rows);
    int status = options_parse(&set, count, words, "one word", &word);
    FUZZ_CHECK(status == 0 || status == 2);
    if (status == 0)
        check_values(&set);
    stderr = standard;
    free(text);
    return 0;
}
