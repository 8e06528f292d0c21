/* Timelines, as `ballast report` reads them. */
#include "fuzz.h"

#include "report.h"

#include <stdlib.h>
#include <string.h>

static void check(const timeline *t) {
    double shares = 0;
    FUZZ_CHECK(t->workers > 0 && t->rows > 0 && t->rows <= TIMELINE_ROWS && t->milliseconds > 0);
    for (unsigned i = 0; i < TIMELINE_KINDS; i++)
        shares += t->share[i];
    FUZZ_CHECK(shares > 0.999 && shares < 1.001);
    for (unsigned i = 0; i < t->rows; i++)
        for (unsigned j = 0; j < TIMELINE_COLUMNS; j++)
            FUZZ_CHECK(t->cells[i][j] <= TIMELINE_KINDS);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    timeline t;
    bench_error error = {""};
    char *made = NULL;
    size_t length = 0;
    if (timeline_read(&t, fuzz_file("fuzz.trace.json", data, size), &error) != 0) {
        fuzz_check_line(error.text);
        return 0;
    }
    check(&t);
    report r = {.timelines = &t, .timeline_count = 1};
    FILE *out = open_memstream(&made, &length);
    FUZZ_CHECK(out != NULL);
    timeline_script(out, &t, report_until(&r, &t), 0);
    report_timelines(&r, out);
    FUZZ_CHECK(fclose(out) == 0 && strstr(made, "<script") == NULL);
    free(made);
    timeline_free(&t);
    return 0;
}
