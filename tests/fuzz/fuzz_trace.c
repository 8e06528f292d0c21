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
    report r;
    bench_error error = {""};
    char *made = NULL;
    size_t length = 0;
    fuzz_file("fuzz.trace.json", data, size);
    if (report_collect(&r, fuzz_folder(), &error) != 0) {
        fuzz_check_line(error.text);
        return 0;
    }
    FUZZ_CHECK(r.timeline_count == 1);
    check(&r.timelines[0]);
    FILE *out = open_memstream(&made, &length);
    FUZZ_CHECK(out != NULL);
    timeline_script(out, &r.timelines[0], report_until(&r, &r.timelines[0]), 0);
    report_timelines(&r, out);
    FUZZ_CHECK(fclose(out) == 0 && strstr(made, "<script") == NULL);
    free(made);
    report_free(&r);
    return 0;
}
