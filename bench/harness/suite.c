/* Shared by all suites: devices, the file of rows, tables, the interrupt. */
#define _POSIX_C_SOURCE 200809L

#include "suite.h"

#include "bench/commit.h"
#include "past.h"

#include <ballast/ballast.h>
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

struct bench {
    const bench_suite *suite;
    const bench_request *request;
    FILE *rows;         /* NULL: only the screen */
    int why;            /* errno of the first row that could not be written */
    bench_past earlier; /* rows that existed when the file was opened */
    bool wrong, terminal, progress_shown;
    bool asking;          /* only collect the names of the tables */
    unsigned done, total; /* points of the current table */
    double begun;         /* start of the current table */
    char cases[400];      /* names of the tables, "a,b" */
    bench_device devices[BENCH_DEVICES_MAX];
    unsigned device_count;
    char line[1024]; /* the current line of the table, until it ends */
    size_t length;
    int width;
};

/* ---- the interrupt ---- */

static volatile sig_atomic_t interrupted;

/* A second signal ends the program at once: the handler has been removed. */
static void on_interrupt(int signal) { interrupted = signal; }

static void catch_interrupt(void) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_interrupt;
    action.sa_flags = SA_RESETHAND;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

bool bench_stopped(void) { return interrupted != 0; }

/* ---- what suites ask ---- */

bool bench_quick(const bench *b) { return b->request->quick; }
uint32_t bench_repeats(const bench *b) { return b->request->repeats ? b->request->repeats : b->request->quick ? 3 : 5; }
double bench_limit(const bench *b) { return b->request->quick ? 0.2 : 2; }
void bench_wrong(bench *b) { b->wrong = true; }

static bool listed(const char *names, const char *name) {
    size_t length = strlen(name);
    for (const char *at = names; *at; at += strcspn(at, ","), at += *at == ',')
        if (strcspn(at, ",") == length && memcmp(at, name, length) == 0)
            return true;
    return false;
}

bool bench_wants(bench *b, const char *name) {
    size_t length = strlen(b->cases);
    if (!listed(b->cases, name))
        snprintf(b->cases + length, sizeof b->cases - length, "%s%s", length ? "," : "", name);
    return !b->asking && (b->request->only[0] == '\0' || strcmp(b->request->only, name) == 0);
}

bool bench_chosen(const bench *b, const bench_contender *queue) {
    return b->request->queues[0] == '\0' || queue->kind == BL_QUEUE_KIND_CEILING ||
           listed(b->request->queues, queue->name);
}

/* ---- rows ---- */

static void write_line(FILE *file, const char *before, const char *format, va_list arguments) {
    char text[1024];
    vsnprintf(text, sizeof text, format, arguments);
    for (char *c = text; *c; c++)
        if ((unsigned char)*c < 0x20)
            *c = ' ';
    fprintf(file, "%s%s\n", before, text);
    fflush(file);
}

void bench_row(bench *b, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    if (b->rows)
        write_line(b->rows, "", format, arguments);
    if (b->rows && ferror(b->rows) && !b->why) {
        b->why = errno;
        interrupted = SIGTERM; /* further measurements would be lost */
    }
    va_end(arguments);
}

uint32_t bench_earlier(const bench *b, const char *key, const char *column, bench_times *values) {
    unsigned at = 0;
    uint32_t count = 0;
    while (b->suite->columns[at].name && strcmp(b->suite->columns[at].name, column) != 0)
        at++;
    for (uint32_t i = 0; i < b->earlier.count; i++)
        if (bench_past_match(&b->earlier, i, key)) {
            bench_add(values, bench_past_value(&b->earlier, i, at));
            count++;
        }
    return count;
}

bool bench_earlier_any(const bench *b, const char *beginning) {
    for (uint32_t i = 0; i < b->earlier.count; i++)
        if (strncmp(b->earlier.row[i], beginning, strlen(beginning)) == 0)
            return true;
    return false;
}

void bench_remark(bench *b, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    if (b->rows)
        write_line(b->rows, "# ", format, arguments);
    va_end(arguments);
}

static void date_now(char *text, size_t size) {
    time_t now = time(NULL);
    struct tm utc;
    if (!gmtime_r(&now, &utc) || strftime(text, size, "%Y-%m-%d %H:%M:%S UTC", &utc) == 0)
        text[0] = '\0';
}

/* The machine with the device, even if only a GPU is measured. */
static void describe_processor(bench *b) {
    bench_device cpu;
    if (!bench_open_cpu(&cpu))
        return;
    bench_remark(b, "processor %s, %u cores, %s", cpu.name, (unsigned)cpu.processors, cpu.about);
    cpu.close(&cpu);
}

static void write_head(bench *b) {
    char date[40];
    struct utsname system;
    date_now(date, sizeof date);
    bench_remark(b, "suite %s: %s", b->suite->name, b->suite->text);
    bench_remark(b, "rows version %u", b->suite->version);
    bench_remark(b, "points %s", b->request->quick ? "of --quick" : "all");
    bench_remark(b, "command %s", b->request->command);
    bench_remark(b, "date %s", date);
    bench_remark(b, "version ballast %s, commit %s", bl_version(), BENCH_COMMIT);
    if (uname(&system) == 0)
        bench_remark(b, "system %s %s, %s", system.sysname, system.release, system.machine);
    describe_processor(b);
    for (unsigned i = 0; i < b->device_count; i++) {
        const bench_device *d = &b->devices[i];
        bench_remark(b, "device %s: %s, %u %s, %s", d->id, d->name, (unsigned)d->processors,
                     d->warp > 1 ? "multiprocessors" : "cores", d->about);
    }
    for (const bench_column *c = b->suite->columns; c->name; c++)
        bench_remark(b, "column %s: %s", c->name, c->meaning);
    for (const bench_column *c = b->suite->columns; c->name; c++)
        fprintf(b->rows, "%s%s", c == b->suite->columns ? "" : ",", c->name);
    fputc('\n', b->rows);
    fflush(b->rows);
}

/* ---- the screen ---- */

static void clear_progress(bench *b) {
    if (b->progress_shown)
        fputs("\r\033[K", stderr);
    b->progress_shown = false;
}

void bench_pace(bench *b, unsigned done, unsigned total) {
    if (done == 0)
        b->begun = bench_now();
    b->done = done;
    b->total = total;
}

static void show_time_left(const bench *b) {
    if (b->done == 0 || b->done >= b->total)
        return;
    double left = (bench_now() - b->begun) / b->done * (b->total - b->done);
    fprintf(stderr, left > 90 ? "; this table: about %.0f min left" : "; this table: about %.0f s left",
            left > 90 ? left / 60 : left);
}

void bench_progress(bench *b, const char *format, ...) {
    if (!b->terminal)
        return;
    va_list arguments;
    clear_progress(b);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    show_time_left(b);
    fflush(stderr);
    b->progress_shown = true;
}

void bench_table(bench *b, const char *format, ...) {
    va_list arguments;
    if (b->asking)
        return;
    clear_progress(b);
    putchar('\n');
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    putchar('\n');
    fflush(stdout);
}

static void append(bench *b, const char *format, va_list arguments) {
    size_t room = sizeof b->line - b->length;
    int length = vsnprintf(b->line + b->length, room, format, arguments);
    if (length > 0)
        b->length += (size_t)length < room ? (size_t)length : room - 1;
}

static void append_text(bench *b, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    append(b, format, arguments);
    va_end(arguments);
}

void bench_line(bench *b, const char *name) {
    b->length = 0;
    append_text(b, "%-14s", name);
}

void bench_cell(bench *b, const char *format, ...) {
    char text[48];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    append_text(b, " %*s", b->width, text);
}

void bench_line_end(bench *b, const char *format, ...) {
    va_list arguments;
    append_text(b, "  ");
    va_start(arguments, format);
    append(b, format, arguments);
    va_end(arguments);
    while (b->length > 0 && b->line[b->length - 1] == ' ')
        b->line[--b->length] = '\0';
    if (b->asking)
        return;
    clear_progress(b);
    puts(b->line);
    fflush(stdout);
}

void bench_head(bench *b, const char *name, const char *const *labels, unsigned count, int width) {
    b->width = width;
    bench_line(b, name);
    for (unsigned i = 0; i < count; i++)
        bench_cell(b, "%s", labels[i]);
    bench_line_end(b, "%s", "");
}

bench_number bench_digits(double value) {
    bench_number number;
    int decimals = value >= 1000 ? 0 : value >= 100 ? 1 : value >= 10 ? 2 : 3;
    if (value != 0 && fabs(value) < 0.01)
        snprintf(number.text, sizeof number.text, "%.2g", value);
    else if (fabs(value) >= 1e15)
        snprintf(number.text, sizeof number.text, "%.4g", value);
    else
        snprintf(number.text, sizeof number.text, "%.*f", decimals, value);
    return number;
}

/* ---- a run ---- */

static int fail(bench_error *error, int status, const char *format, ...) __attribute__((format(printf, 3, 4)));
static int fail(bench_error *error, int status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
    return status;
}

const bench_suite *bench_suite_find(const char *name) {
    for (unsigned i = 0; bench_suite_at(i); i++)
        if (strcmp(bench_suite_at(i)->name, name) == 0)
            return bench_suite_at(i);
    return NULL;
}

const bench_contender *bench_contender_find(const char *name) {
    for (unsigned i = 0; bench_contender_at(i); i++)
        if (strcmp(bench_contender_at(i)->name, name) == 0)
            return bench_contender_at(i);
    return NULL;
}

static bool has_column(const bench_suite *suite, const char *name) {
    for (const bench_column *c = suite->columns; c->name; c++)
        if (strcmp(c->name, name) == 0)
            return true;
    return false;
}

static int check_queues(const bench_suite *suite, const bench_request *request, bench_error *error) {
    char name[64], known[440] = "";
    if (request->only[0] && !has_column(suite, "case"))
        return fail(error, 2, "--case %.48s: %s has only one case (accepted: none)", request->only, suite->name);
    if (request->queues[0] && !has_column(suite, "queue"))
        return fail(error, 2, "--queues: %s does not test queues (accepted: none)", suite->name);
    for (unsigned i = 0; bench_contender_at(i); i++)
        snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", i ? ", " : "",
                 bench_contender_at(i)->name);
    for (const char *at = request->queues; *at; at += strcspn(at, ","), at += *at == ',') {
        snprintf(name, sizeof name, "%.*s", (int)strcspn(at, ","), at);
        if (!bench_contender_find(name))
            return fail(error, 2, "--queues %.48s: unknown queue (accepted: %s)", name, known);
    }
    return 0;
}

static int open_devices(bench *b, bench_error *error) {
    const char *wanted = b->request->device;
    bool any = strcmp(wanted, "auto") == 0;
    uint32_t kinds = any ? BL_DEVICE_CPU | BL_DEVICE_GPU : bl_device_traits(wanted);
    if (!(kinds & (BL_DEVICE_CPU | BL_DEVICE_GPU)))
        return fail(error, 2, "--device %.48s: bench has no code for it (accepted: auto, cpu, cuda, cuda:N)", wanted);
    if (kinds & BL_DEVICE_CPU && bench_open_cpu(&b->devices[b->device_count]))
        b->device_count++;
    if (kinds & BL_DEVICE_GPU && bench_open_cuda(&b->devices[b->device_count], b->request->gpu))
        b->device_count++;
    if (kinds == BL_DEVICE_GPU && b->device_count == 0)
        return fail(error, 2, "--device %.48s: no usable GPU here (accepted: auto, cpu, cuda, cuda:N)", wanted);
    return 0;
}

/* The head of a new file. The caller frees it; NULL if out of memory. */
static char *make_head(bench *b) {
    char *text = NULL;
    size_t size = 0;
    b->rows = open_memstream(&text, &size);
    if (!b->rows)
        return NULL;
    write_head(b);
    fclose(b->rows);
    b->rows = NULL;
    return text;
}

static int open_new(bench *b, const char *path, const char *head, bench_error *error) {
    b->rows = fopen(path, "w");
    if (!b->rows)
        return fail(error, 1, "%.400s: cannot be written: %s", path, strerror(errno));
    fputs(head, b->rows);
    fflush(b->rows);
    return 0;
}

/* Resumes after the last complete row. */
static int open_earlier(bench *b, const char *path, const char *head, bench_error *error) {
    char date[40];
    b->rows = fopen(path, "r+");
    if (!b->rows)
        return fail(error, 1, "%.400s: cannot be written: %s", path, strerror(errno));
    const char *differs = bench_past_read(&b->earlier, b->rows, head);
    if (differs)
        return fail(error, 2,
                    "%.300s: already exists, with a different %s (accepted: another --out, or --force to overwrite it)",
                    path, differs);
    if (fseek(b->rows, b->earlier.end, SEEK_SET) != 0 || ftruncate(fileno(b->rows), b->earlier.end) != 0)
        return fail(error, 1, "%.400s: cannot be resumed: %s", path, strerror(errno));
    b->wrong = bench_past_wrong(&b->earlier);
    date_now(date, sizeof date);
    bench_remark(b, "continued %s by %s", date, b->request->command);
    fprintf(stderr, "%s: resuming after %u existing rows\n", path, (unsigned)b->earlier.count);
    return 0;
}

/* Also creates the folder, but not its parents. */
static int open_rows(bench *b, bench_error *error) {
    const bench_request *request = b->request;
    char path[480];
    if (!request->out)
        return 0;
    if (mkdir(request->out, 0777) != 0 && errno != EEXIST)
        return fail(error, 1, "--out %.200s: cannot be created: %s", request->out, strerror(errno));
    if ((size_t)snprintf(path, sizeof path, "%s/%s.csv", request->out, b->suite->name) >= sizeof path)
        return fail(error, 2, "--out: too long (accepted: up to 400 characters)");
    char *head = make_head(b);
    if (!head)
        return fail(error, 1, "out of memory");
    bool there = !request->force && access(path, F_OK) == 0;
    int status = there ? open_earlier(b, path, head, error) : open_new(b, path, head, error);
    free(head);
    return status;
}

static int close_rows(bench *b, bench_error *error) {
    bool good = !b->rows || !ferror(b->rows);
    if (b->rows && (fclose(b->rows) != 0 || !good))
        return fail(error, 1, "--out %.200s: %s.csv: cannot be written: %s", b->request->out, b->suite->name,
                    strerror(b->why ? b->why : errno));
    return 0;
}

/* Called before a file is touched: an unknown name must not cost the existing rows. */
static int check_case(bench *b, bench_error *error) {
    b->asking = b->request->only[0] != '\0';
    for (unsigned i = 0; i < b->device_count && b->asking; i++)
        b->suite->run(b, &b->devices[i]);
    if (b->asking && !listed(b->cases, b->request->only))
        return fail(error, 2, "--case %.48s: %s has no such tables (accepted: %s)", b->request->only, b->suite->name,
                    b->cases);
    b->asking = false;
    return 0;
}

static int run_open(bench *b, bench_error *error) {
    int status = check_case(b, error);
    if (status == 0)
        status = open_rows(b, error);
    if (status) {
        if (b->rows)
            fclose(b->rows);
        return status;
    }
    catch_interrupt();
    for (unsigned i = 0; i < b->device_count && !bench_stopped(); i++)
        b->suite->run(b, &b->devices[i]);
    clear_progress(b);
    if (bench_stopped())
        bench_remark(b, "interrupted");
    status = close_rows(b, error);
    if (status == 0 && bench_stopped())
        return fail(error, 1, "%s: interrupted; the rows so far are complete%s", b->suite->name,
                    b->request->out ? ", and the same command resumes the run" : "");
    if (status == 0 && b->wrong)
        return fail(error, 1, "%s: a result failed verification: see WRONG", b->suite->name);
    return status;
}

int bench_run(const bench_suite *suite, const bench_request *request, bench_error *error) {
    bench *b = calloc(1, sizeof *b);
    if (!b)
        return fail(error, 1, "out of memory");
    b->suite = suite;
    b->request = request;
    b->terminal = isatty(STDERR_FILENO);
    int status = check_queues(suite, request, error);
    if (status == 0)
        status = open_devices(b, error);
    if (status == 0)
        status = run_open(b, error);
    for (unsigned i = 0; i < b->device_count; i++)
        b->devices[i].close(&b->devices[i]);
    bench_past_free(&b->earlier);
    free(b);
    return status;
}
