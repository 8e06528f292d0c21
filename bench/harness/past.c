#include "past.h"

#include <stdlib.h>
#include <string.h>

static char *read_all(FILE *file, long *size) {
    if (fseek(file, 0, SEEK_END) != 0 || (*size = ftell(file)) < 0 || fseek(file, 0, SEEK_SET) != 0)
        return NULL;
    char *text = malloc((size_t)*size + 1);
    if (text && fread(text, 1, (size_t)*size, file) != (size_t)*size) {
        free(text);
        return NULL;
    }
    if (text)
        text[*size] = '\0';
    return text;
}

static bool begins(const char *line, const char *word) { return strncmp(line, word, strlen(word)) == 0; }
static bool may_differ(const char *line) { return begins(line, "# date ") || begins(line, "# command "); }
static size_t line_length(const char *line) { return strcspn(line, "\n"); }

/* "# version ballast ..." differs in the version; a line without # holds the column names. */
static const char *what_differs(const char *expected) {
    static const char *const WORDS[] = {"suite", "rows", "points", "version", "system", "device", "column"};
    for (size_t i = 0; i < sizeof WORDS / sizeof WORDS[0]; i++)
        if (begins(expected, "# ") && begins(expected + 2, WORDS[i]))
            return WORDS[i];
    return "column";
}

/* Line by line until the head ends; then *at is where the rows begin. */
static const char *compare_head(const char *text, const char *head, const char **at) {
    while (*head) {
        size_t length = line_length(text), expected = line_length(head);
        bool same = length == expected && memcmp(text, head, length) == 0;
        if (text[length] == '\0')
            return "head";
        if (!same && !(may_differ(head) && may_differ(text)))
            return what_differs(head);
        text += length + 1;
        head += expected + 1;
    }
    *at = text;
    return NULL;
}

/* The number of cells to the left of `repeat` in the line of names, the last of the head. */
static unsigned key_columns(const char *head) {
    const char *names = head;
    unsigned count = 0;
    for (const char *line = head; *line; line += line_length(line) + 1)
        names = line;
    for (; !begins(names, "repeat,") && *names; names += strcspn(names, ",\n"), names += *names != '\0')
        count++;
    return count;
}

static bool find_rows(bench_past *rows, size_t first) {
    uint32_t lines = 0;
    for (const char *c = rows->text + first; *c; c++)
        lines += *c == '\n';
    rows->row = malloc(sizeof *rows->row * (lines + 1));
    if (!rows->row)
        return false;
    char *line = rows->text + first, *end;
    for (; (end = strchr(line, '\n')); line = end + 1) {
        *end = '\0';
        if (*line != '#' && *line)
            rows->row[rows->count++] = line;
    }
    rows->end = line - rows->text;
    return true;
}

const char *bench_past_read(bench_past *rows, FILE *file, const char *head) {
    long size = 0;
    const char *first = NULL;
    memset(rows, 0, sizeof *rows);
    rows->text = read_all(file, &size);
    if (!rows->text)
        return "content";
    const char *differs = compare_head(rows->text, head, &first);
    if (differs)
        return differs;
    rows->key_columns = key_columns(head);
    return find_rows(rows, (size_t)(first - rows->text)) ? NULL : "size";
}

void bench_past_free(bench_past *rows) {
    free(rows->text);
    free(rows->row);
    memset(rows, 0, sizeof *rows);
}

bool bench_past_wrong(const bench_past *rows) {
    for (uint32_t i = 0; i < rows->count; i++)
        if (strstr(rows->row[i], ",WRONG"))
            return true;
    return false;
}

static const char *cell(const char *row, unsigned column) {
    for (; column > 0 && *row; column--) {
        row += strcspn(row, ",");
        row += *row == ',';
    }
    return row;
}

double bench_past_value(const bench_past *rows, uint32_t i, unsigned column) {
    return strtod(cell(rows->row[i], column), NULL);
}

bool bench_past_match(const bench_past *rows, uint32_t i, const char *key) {
    const char *row = rows->row[i], *end = cell(row, rows->key_columns);
    size_t length = (size_t)(end - row);
    return length == strlen(key) + 1 && memcmp(row, key, length - 1) == 0;
}
