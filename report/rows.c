#include "rows.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int bench_refuse(bench_error *error, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
    return 1;
}

/* ---- the file ---- */

static char *read_stream(FILE *file, size_t *length) {
    size_t room = 1 << 16;
    char *text = malloc(room);
    for (*length = 0; text;) {
        *length += fread(text + *length, 1, room - 1 - *length, file);
        text[*length] = '\0';
        if (*length < room - 1)
            return text;
        char *more = realloc(text, room *= 2);
        if (!more)
            free(text);
        text = more;
    }
    return NULL;
}

FILE *bench_open_file(const char *path, bench_error *error) {
    struct stat there;
    int descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    bool known = descriptor >= 0 && fstat(descriptor, &there) == 0, regular = known && S_ISREG(there.st_mode);
    FILE *file = regular ? fdopen(descriptor, "r") : NULL;
    if (file)
        return file;
    bench_refuse(error, "%.300s: cannot be read: %s", path, known && !regular ? "not a regular file" : strerror(errno));
    if (descriptor >= 0)
        close(descriptor);
    return NULL;
}

static int read_text(bench_rows *rows, size_t *length, bench_error *error) {
    FILE *file = bench_open_file(rows->path, error);
    if (!file)
        return 1;
    rows->text = read_stream(file, length);
    int broken = ferror(file) ? errno : 0;
    fclose(file);
    if (!rows->text)
        return bench_refuse(error, "out of memory");
    if (broken)
        return bench_refuse(error, "%.300s: cannot be read: %s", rows->path, strerror(broken));
    return 0;
}

/* ---- lines ---- */

static const char *again(const bench_rows *rows) { return rows->suite->name; }

static int add_remark(bench_rows *rows, char *text, bench_error *error) {
    char **more = realloc(rows->remarks, (rows->remark_count + 1) * sizeof *more);
    if (!more)
        return bench_refuse(error, "out of memory");
    rows->remarks = more;
    rows->remarks[rows->remark_count++] = text;
    return 0;
}

static int check_head(const bench_rows *rows, char *head, unsigned line, bench_error *error) {
    const bench_column *c = rows->suite->columns;
    for (char *at = head;; at += strcspn(at, ",") + 1, c++) {
        size_t length = strcspn(at, ",");
        if (!c->name || strlen(c->name) != length || memcmp(c->name, at, length) != 0)
            return bench_refuse(
                error,
                "%.300s:%u: column %.*s does not match this version of the suite: rows of another version "
                "(accepted: new rows, by ballast bench %s --out DIR --force)",
                rows->path, line, (int)(length < 40 ? length : 40), at, again(rows));
        if (at[length] == '\0')
            break;
    }
    if (c[1].name)
        return bench_refuse(
            error,
            "%.300s:%u: column %s is missing: rows of another version (accepted: new rows, by ballast bench "
            "%s --out DIR --force)",
            rows->path, line, c[1].name, again(rows));
    return 0;
}

static int add_row(bench_rows *rows, char *text, unsigned line, bench_error *error) {
    if ((rows->count & (rows->count - 1)) == 0) { /* room doubles */
        size_t room = rows->count ? 2 * (size_t)rows->count : 1;
        char **cells = realloc(rows->cells, room * rows->columns * sizeof *cells);
        rows->cells = cells ? cells : rows->cells;
        unsigned *lines = realloc(rows->lines, room * sizeof *lines);
        rows->lines = lines ? lines : rows->lines;
        if (!cells || !lines)
            return bench_refuse(error, "out of memory");
    }
    unsigned found = 0;
    for (char *at = text, *next; at; at = next, found++) {
        if ((next = strchr(at, ',')))
            *next++ = '\0';
        if (found < rows->columns)
            rows->cells[(size_t)rows->count * rows->columns + found] = at;
    }
    if (found != rows->columns)
        return bench_refuse(
            error, "%.300s:%u: %u cells in a row of %u columns (accepted: the rows as ballast bench %s wrote them)",
            rows->path, line, found, rows->columns, again(rows));
    rows->lines[rows->count++] = line;
    return 0;
}

static int split(bench_rows *rows, bench_error *error) {
    unsigned line = 0;
    bool head = false, explained = false; /* explained: a remark after the columns says why there is no row */
    int status = 0;
    for (char *at = rows->text, *end; *at && status == 0; at = end + 1) {
        line++;
        end = strchr(at, '\n'); /* the last line has one: it was checked */
        *end = '\0';
        if (*at == '#')
            status = add_remark(rows, at + 1 + (at[1] == ' '), error), explained = head;
        else if (!head)
            status = check_head(rows, at, line, error), head = true;
        else
            status = add_row(rows, at, line, error);
    }
    if (status == 0 && rows->count == 0 && !explained)
        return bench_refuse(error,
                            "%.300s: contains no rows (accepted: new rows, by ballast bench %s --out DIR --force)",
                            rows->path, again(rows));
    return status;
}

const char *bench_rows_said(const bench_rows *rows, const char *word) {
    size_t length = strlen(word);
    for (unsigned i = 0; i < rows->remark_count; i++)
        if (strncmp(rows->remarks[i], word, length) == 0 && rows->remarks[i][length] == ' ')
            return rows->remarks[i] + length + 1;
    return NULL;
}

/* The head names the suite and the version of its rows; both precede the columns. */
static int check_said(const bench_rows *rows, bench_error *error) {
    const char *suite = bench_rows_said(rows, "suite"), *version = bench_rows_said(rows, "rows version");
    size_t length = strlen(rows->suite->name);
    if (!suite || strncmp(suite, rows->suite->name, length) != 0 || suite[length] != ':')
        return bench_refuse(
            error, "%.300s: its header does not say \"suite %s\" (accepted: a file that ballast bench %s wrote)",
            rows->path, rows->suite->name, again(rows));
    if (!version || strtoul(version, NULL, 10) != rows->suite->version)
        return bench_refuse(
            error,
            "%.300s: rows of version %.20s, but this is version %u of the suite (accepted: new rows, by ballast "
            "bench %s --out DIR --force)",
            rows->path, version ? version : "unknown", rows->suite->version, again(rows));
    return 0;
}

static int read_rows(bench_rows *rows, bench_error *error) {
    size_t length = 0;
    int status = read_text(rows, &length, error);
    if (status)
        return status;
    if (strlen(rows->text) != length)
        return bench_refuse(error, "%.300s: not a text file (accepted: a file that ballast bench %s wrote)", rows->path,
                            again(rows));
    if (length == 0)
        return bench_refuse(error, "%.300s: empty (accepted: new rows, by ballast bench %s --out DIR --force)",
                            rows->path, again(rows));
    if (rows->text[length - 1] != '\n')
        return bench_refuse(error,
                            "%.300s: its last line is incomplete (accepted: whole lines; ballast bench %s --out DIR "
                            "resumes the run)",
                            rows->path, again(rows));
    return split(rows, error);
}

int bench_rows_read(const bench_suite *suite, const char *path, bench_rows *rows, bench_error *error) {
    memset(rows, 0, sizeof *rows);
    rows->suite = suite;
    while (suite->columns[rows->columns].name)
        rows->columns++;
    rows->path = strdup(path);
    int status = rows->path ? read_rows(rows, error) : bench_refuse(error, "out of memory");
    if (status == 0)
        status = check_said(rows, error);
    if (status)
        bench_rows_free(rows);
    return status;
}

void bench_rows_free(bench_rows *rows) {
    free(rows->path);
    free(rows->text);
    free(rows->remarks);
    free(rows->cells);
    free(rows->lines);
    memset(rows, 0, sizeof *rows);
}

const char *bench_rows_cell(const bench_rows *rows, unsigned row, int column) {
    return column < 0 ? "" : rows->cells[(size_t)row * rows->columns + (unsigned)column];
}

int bench_rows_column(const bench_rows *rows, const char *name, size_t length) {
    for (unsigned i = 0; i < rows->columns; i++)
        if (strlen(rows->suite->columns[i].name) == length && memcmp(rows->suite->columns[i].name, name, length) == 0)
            return (int)i;
    return -1;
}
