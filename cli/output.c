#include "output.h"

#include <ballast/platform/platform.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

/* ---- messages ---- */

static char *kept; /* NULL: messages are printed */
static size_t kept_size;

void keep_messages(char *text, size_t size) {
    kept = text;
    kept_size = size;
}

/* Names from the command line may contain line breaks or escape sequences, but a message must be one line. */
static void say(const char *format, va_list arguments) {
    char line[4096];
    int length = vsnprintf(line, sizeof line, format, arguments);
    if (length < 0)
        line[0] = '\0';
    for (char *c = line; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            *c = ' ';
    if (kept)
        snprintf(kept, kept_size, "%s", line);
    else
        fprintf(stderr, "ballast: %s\n", line);
}

int wrong_use(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    say(format, arguments);
    va_end(arguments);
    return STATUS_WRONG_USE;
}

int run_failed(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    say(format, arguments);
    va_end(arguments);
    return STATUS_FAILED;
}

void note(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    say(format, arguments);
    va_end(arguments);
}

int finish_output(void) {
    if (fflush(stdout) == 0 && !ferror(stdout))
        return STATUS_OK;
    return run_failed("standard output: cannot be written");
}

void name_list_add(name_list *list, const char *name) {
    size_t room = sizeof list->text - list->length;
    int length = snprintf(list->text + list->length, room, "%s%s", list->length ? ", " : "", name);
    if (length > 0)
        list->length += (size_t)length < room ? (size_t)length : room - 1;
}

/* ---- human-readable numbers ---- */

human human_count(double count) {
    static const char *const prefix[] = {"", " k", " M", " G", " T", " P"};
    size_t i = 0;
    /* from 999.95 on, four digits would round up to the next prefix */
    while (count >= 999.95 && i + 1 < sizeof prefix / sizeof prefix[0]) {
        count /= 1000;
        i++;
    }
    human result;
    snprintf(result.text, sizeof result.text, "%.4g%s", count, prefix[i]);
    return result;
}

human human_bytes(uint64_t bytes) {
    human result = human_count((double)bytes);
    size_t length = strlen(result.text);
    bool scaled = strchr(result.text, ' ') != NULL;
    snprintf(result.text + length, sizeof result.text - length, scaled ? "B" : " B");
    return result;
}

human human_seconds(double seconds) {
    static const char *const unit[] = {"s", "ms", "us", "ns"};
    size_t i = 0;
    while (seconds > 0 && seconds < 0.99995 && i + 1 < sizeof unit / sizeof unit[0]) {
        seconds *= 1000;
        i++;
    }
    human result;
    snprintf(result.text, sizeof result.text, seconds < 1000 ? "%.4g %s" : "%.0f %s", seconds, unit[i]);
    return result;
}

double seconds_now(void) { return 1e-9 * (double)bl_clock(); }

void print_row(FILE *out, const char *name, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fprintf(out, "%-12s  ", name);
    vfprintf(out, format, arguments);
    fputc('\n', out);
    va_end(arguments);
}

/* ---- JSON ---- */

static void quote(FILE *out, const char *text) {
    fputc('"', out);
    for (const char *c = text; *c; c++) {
        if (*c == '"' || *c == '\\')
            fprintf(out, "\\%c", *c);
        else if ((unsigned char)*c < 0x20)
            fprintf(out, "\\u%04x", (unsigned)*c);
        else
            fputc(*c, out);
    }
    fputc('"', out);
}

/* Writes what precedes a value: a comma unless it is the first, and its key. */
static void lead_in(json_writer *json, const char *key) {
    if (json->comma)
        fputs(", ", json->out);
    json->comma = true;
    if (key) {
        quote(json->out, key);
        fputs(": ", json->out);
    }
}

void json_start(json_writer *json, const char *key, char bracket) {
    lead_in(json, key);
    fputc(bracket, json->out);
    json->comma = false;
}

void json_end(json_writer *json, char bracket) {
    fputc(bracket, json->out);
    json->comma = true;
}

void json_string(json_writer *json, const char *key, const char *text) {
    lead_in(json, key);
    quote(json->out, text);
}

void json_whole(json_writer *json, const char *key, uint64_t number) {
    lead_in(json, key);
    fprintf(json->out, "%" PRIu64, number);
}

void json_real(json_writer *json, const char *key, double number) {
    if (!isfinite(number)) {
        json_null(json, key);
        return;
    }
    lead_in(json, key);
    fprintf(json->out, "%.9g", number);
}

void json_bool(json_writer *json, const char *key, bool value) {
    lead_in(json, key);
    fputs(value ? "true" : "false", json->out);
}

void json_null(json_writer *json, const char *key) {
    lead_in(json, key);
    fputs("null", json->out);
}
