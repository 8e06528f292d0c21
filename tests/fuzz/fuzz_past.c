/* Rows of an earlier run, as `ballast bench` reads them to resume. */
#include "fuzz.h"

#include "harness/past.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char head[] = "# suite x: y\n# date now\n# command x\ndevice,queue,repeat,seconds,check\n";
    FILE *file = fopen(fuzz_file("rows.csv", data, size), "r");
    bench_past rows;
    FUZZ_CHECK(file != NULL);
    const char *differs = bench_past_read(&rows, file, head);
    if (differs == NULL) {
        FUZZ_CHECK(rows.key_columns == 2 && rows.end >= 0 && (size_t)rows.end <= size);
        for (uint32_t i = 0; i < rows.count; i++) {
            (void)bench_past_value(&rows, i, 3);
            (void)bench_past_match(&rows, i, "cpu,broker");
        }
        (void)bench_past_wrong(&rows);
    } else
        fuzz_check_line(differs);
    bench_past_free(&rows);
    fclose(file);
    return 0;
}
