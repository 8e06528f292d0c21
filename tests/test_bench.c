/* The harness for benchmarks that run applications: verified rows for every point and repeat; an interrupted file is
 * resumed. */
#define _POSIX_C_SOURCE 200809L

#include "check.h"

#include "../bench/harness/app_grid.h"

#include <stdlib.h>
#include <unistd.h>

enum { REPEATS = 2, POINTS = 3, SERIES = 2, ROWS = REPEATS * POINTS * SERIES, KEY_CELLS = 13, TEXT = 1 << 16 };

static double fastest[SERIES]; /* as measured by the suite */

static void tables(app_bench *s) {
    app_table t = {.name = "tiny", .title = "a few particles", .app = "octree", .options = "--particles 3k"};
    app_medians medians;
    t.axis = "workers";
    app_add_series(&t, "stealing", "abp");
    app_add_series(&t, "waves", "static:split");
    app_add_series(&t, "unknown", "central:nothing");
    for (uint32_t workers = 1; workers <= POINTS; workers++)
        app_add_point(&t, workers, "%u", (unsigned)workers)->workers = workers;
    app_table_run(s, &t, &medians);
    for (unsigned i = 0; i < SERIES; i++) {
        int best = app_best(&t, &medians, i);
        fastest[i] = best < 0 ? 0 : medians.seconds[i][best];
    }
    CHECK(app_best(&t, &medians, SERIES) < 0);
}

static void missing(app_bench *s) {
    app_table t = {.name = "missing", .title = "no such application", .app = "nothing", .options = "", .axis = "x"};
    app_add_series(&t, "any", "auto");
    app_add_point(&t, 1, "1");
    app_table_run(s, &t, NULL);
    t.app = "octree";
    t.options = "--particles none";
    app_table_run(s, &t, NULL);
}

static void run(bench *b, bench_device *d) {
    app_bench_run(b, d, tables);
    app_bench_run(b, d, missing);
}

static const bench_suite SUITE = {.name = "tiny", .text = "for the test", .columns = app_grid_columns, .run = run};

static char folder[] = "/tmp/ballast_bench_XXXXXX", path[64];

static int run_suite(const char *only, bench_error *error) {
    bench_request request = {.command = "test", .out = folder, .device = "cpu", .queues = "", .repeats = REPEATS};
    request.only = only;
    request.quick = true;
    error->text[0] = '\0';
    return bench_run(&SUITE, &request, error);
}

static size_t read_file(char *text) {
    FILE *file = fopen(path, "r");
    size_t length = file ? fread(text, 1, TEXT - 1, file) : 0;
    if (file)
        fclose(file);
    text[length] = '\0';
    return length;
}

static void write_file(const char *text, size_t length) {
    FILE *file = fopen(path, "w");
    if (CHECK(file != NULL)) {
        fwrite(text, 1, length, file);
        fclose(file);
    }
}

typedef struct keys {
    unsigned count, checked;
    char key[2 * ROWS][200];
} keys;

static int by_text(const void *a, const void *b) { return strcmp(a, b); }

/* The cells up to and including `repeat` of all rows, sorted. */
static void read_keys(keys *k) {
    static char text[TEXT];
    read_file(text);
    memset(k, 0, sizeof *k);
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        size_t length = 0;
        if (strncmp(line, "cpu,", 4) != 0 || k->count == 2 * ROWS)
            continue;
        for (int cells = 0; cells < KEY_CELLS; cells++)
            length += strcspn(line + length, ",") + 1;
        snprintf(k->key[k->count++], sizeof k->key[0], "%.*s", (int)length, line);
        k->checked += strcmp(line + strlen(line) - 5, ",twin") == 0;
    }
    qsort(k->key, k->count, sizeof k->key[0], by_text);
}

static void check_rows(void) {
    keys k;
    read_keys(&k);
    CHECK_SAME(k.count, ROWS);
    CHECK_SAME(k.checked, ROWS);
    for (unsigned i = 1; i < k.count; i++)
        CHECK(strcmp(k.key[i - 1], k.key[i]) != 0);
}

static void check_remarks(void) {
    static char text[TEXT];
    read_file(text);
    CHECK(strstr(text, "# cpu: tiny, unknown (central:nothing): left out: no code for this scheduler") != NULL);
    CHECK(strstr(text, "left out: the application is not in this build") != NULL);
    CHECK(strstr(text, "# cpu: missing, any, x 1: --particles: ") != NULL);
}

/* The file is cut within a row, at the end of one, and within the first row. */
static void check_continued(void) {
    static char text[TEXT], before[TEXT];
    bench_error error;
    size_t length = read_file(text);
    const char *rows = strstr(text, "\ncpu,");
    CHECK(rows != NULL);
    size_t first = rows ? (size_t)(rows - text) + 1 : 0;
    size_t cuts[] = {first + 5, first, first + (length - first) / 2, length - 30};
    for (size_t i = 0; i < sizeof cuts / sizeof cuts[0]; i++) {
        check_at("cut after %zu of %zu bytes", cuts[i], length);
        write_file(text, cuts[i]);
        CHECK_SAME(run_suite("", &error), 0);
        check_rows();
    }
    size_t size = read_file(before);
    check_at("nothing to do");
    fastest[0] = 0;
    CHECK_SAME(run_suite("", &error), 0);
    check_rows();
    CHECK(fastest[0] > 0);
    read_file(text);
    CHECK(memcmp(text, before, size) == 0);
    check_at("%s", "");
}

/* Rows of another version, or of a wrong result. */
static void check_refused(void) {
    static char text[TEXT];
    bench_error error;
    size_t length = read_file(text);
    char *version = strstr(text, "# version ballast ");
    if (!CHECK(version && length + 20 < sizeof text))
        return;
    length += (size_t)snprintf(text + length, 20, "cpu,tiny,WRONG\n");
    write_file(text, length);
    CHECK_SAME(run_suite("", &error), 1);
    CHECK(strstr(error.text, "see WRONG") != NULL);
    version[strlen("# version ballast ")] = '?';
    write_file(text, length);
    CHECK_SAME(run_suite("", &error), 2);
    CHECK(strstr(error.text, "already exists, with a different version (accepted: another --out, or --force") != NULL);
    write_file(text, 100);
    CHECK_SAME(run_suite("", &error), 2);
}

static void check_case(void) {
    bench_error error;
    remove(path);
    CHECK_SAME(run_suite("nothing", &error), 2);
    CHECK(strstr(error.text, "--case nothing: tiny has no such tables (accepted: tiny,missing)") != NULL);
    remove(path);
    CHECK_SAME(run_suite("tiny", &error), 0);
    check_rows();
}

int main(void) {
    bench_error error;
    check_limit(60);
    if (!CHECK(mkdtemp(folder) != NULL))
        return check_end();
    snprintf(path, sizeof path, "%s/tiny.csv", folder);
    CHECK_SAME(run_suite("", &error), 0);
    CHECK(error.text[0] == '\0' && fastest[0] > 0 && fastest[1] > 0);
    check_rows();
    check_remarks();
    check_continued();
    check_refused();
    check_case();
    remove(path);
    rmdir(folder);
    return check_end();
}
