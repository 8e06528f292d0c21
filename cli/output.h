/* The tool's output: JSON, human-readable numbers, and one-line messages. */
#ifndef BALLAST_CLI_OUTPUT_H
#define BALLAST_CLI_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { STATUS_OK = 0, STATUS_FAILED = 1, STATUS_WRONG_USE = 2 }; /* exit statuses of the tool */

/* Prints one line "ballast: ..." on standard error, whatever the arguments contain. The first two return the exit
 * status. */
int wrong_use(const char *format, ...) __attribute__((format(printf, 1, 2)));
int run_failed(const char *format, ...) __attribute__((format(printf, 1, 2)));
void note(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* From now on the last of these lines goes here, without the "ballast: " before it, instead of to standard error; NULL:
 * no longer. */
void keep_messages(char *text, size_t size);

/* Flushes standard output. Returns 0 if everything was written, or 1 after a line on standard error. */
int finish_output(void);

/* "a, b, c" for messages that list accepted names. Initialise to zero. */
typedef struct name_list {
    size_t length;
    char text[3072];
} name_list;

void name_list_add(name_list *list, const char *name);

/* ---- human-readable numbers: three or four digits and a unit ---- */

typedef struct human {
    char text[32];
} human;

human human_count(double count);     /* "4.13 M" */
human human_bytes(uint64_t bytes);   /* "1.5 MB" */
human human_seconds(double seconds); /* "620.3 us" */

double seconds_now(void); /* on a clock that never goes back */

/* A line "name   value" of a summary. */
void print_row(FILE *out, const char *name, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* ---- JSON, on one line ---- */

typedef struct json_writer {
    FILE *out;
    bool comma; /* a value was written at this level, so the next one needs a comma */
} json_writer;

/* `key` is the member's name, or NULL for an array element or the outermost value. */
void json_start(json_writer *json, const char *key, char bracket); /* '{' or '[' */
void json_end(json_writer *json, char bracket);                    /* '}' or ']' */
void json_string(json_writer *json, const char *key, const char *text);
void json_whole(json_writer *json, const char *key, uint64_t number);
void json_real(json_writer *json, const char *key, double number); /* null if JSON cannot represent it */
void json_bool(json_writer *json, const char *key, bool value);
void json_null(json_writer *json, const char *key);

#endif
