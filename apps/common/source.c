#include "source.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

bool source_fail(source *s, const char *format, ...) {
    if (s->failed)
        return false;
    s->failed = true;
    s->at = s->filled = 0; /* makes source_more return false from now on */
    int used = snprintf(s->error->text, sizeof s->error->text, "%.300s: ", s->path);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(s->error->text + used, sizeof s->error->text - (size_t)used, format, arguments);
    va_end(arguments);
    return false;
}

#ifdef BL_HAVE_ZLIB
static bool open_zipped(source *s) {
    s->zipped = gzopen(s->path, "rb");
    return s->zipped != NULL || source_fail(s, "cannot be opened: %s", errno ? strerror(errno) : "out of memory");
}

static void fill_zipped(source *s) {
    int got = gzread(s->zipped, s->buffer, sizeof s->buffer), code = Z_OK;
    s->filled = got > 0 ? (size_t)got : 0;
    const char *text = gzerror(s->zipped, &code);
    if (code == Z_ERRNO)
        source_fail(s, "cannot be read: %s", strerror(errno));
    else if (code == Z_BUF_ERROR)
        source_fail(s, "is truncated: the gzip data end too early");
    else if (got < 0)
        source_fail(s, "is damaged: %s", text);
    else if (got > 0 && gzdirect(s->zipped))
        source_fail(s, "is not gzip data, though its name ends in .gz");
}

static void close_zipped(source *s) {
    if (s->zipped)
        gzclose(s->zipped);
}
static bool is_zipped(const source *s) { return s->zipped != NULL; }
#else
static bool open_zipped(source *s) {
    return source_fail(s, "is compressed, and this build has no zlib; decompress it first");
}
static void fill_zipped(source *s) { s->filled = 0; }
static void close_zipped(source *s) { (void)s; }
static bool is_zipped(const source *s) {
    (void)s;
    return false;
}
#endif

static bool open_plain(source *s) {
    s->plain = fopen(s->path, "rb");
    return s->plain != NULL || source_fail(s, "cannot be opened: %s", strerror(errno));
}

static void fill_plain(source *s) {
    s->filled = fread(s->buffer, 1, sizeof s->buffer, s->plain);
    if (ferror(s->plain))
        source_fail(s, "cannot be read: %s", strerror(errno));
}

bool source_open(source *s, const char *path, bool zipped, app_error *error) {
    memset(s, 0, offsetof(source, buffer));
    s->path = path;
    s->error = error;
    s->line = 1;
    errno = 0;
    return zipped ? open_zipped(s) : open_plain(s);
}

void source_close(source *s) {
    close_zipped(s);
    if (s->plain)
        fclose(s->plain);
}

bool source_more(source *s) {
    if (s->at < s->filled)
        return true;
    s->at = s->filled = 0;
    if (s->failed)
        return false;
    if (is_zipped(s))
        fill_zipped(s);
    else
        fill_plain(s);
    if (s->failed)
        s->filled = 0;
    return s->filled > 0;
}

size_t source_bytes(source *s, unsigned char *to, size_t bytes) {
    size_t done = 0;
    while (done < bytes && source_more(s)) {
        size_t part = s->filled - s->at < bytes - done ? s->filled - s->at : bytes - done;
        memcpy(to + done, s->buffer + s->at, part);
        s->at += part;
        done += part;
    }
    return done;
}

/* ---- text: characters, words, lines ---- */

int text_next(source *s) {
    if (!source_more(s))
        return SOURCE_END;
    int c = s->buffer[s->at++];
    if (c == '\r') {
        c = '\n';
        if (source_more(s) && s->buffer[s->at] == '\n')
            s->at++;
    }
    s->line += c == '\n';
    return c;
}

int text_peek(source *s) { return source_more(s) ? s->buffer[s->at] : SOURCE_END; }

static bool is_line_end(int c) { return c == '\n' || c == '\r' || c == SOURCE_END; }
static bool is_blank(int c) { return c == ' ' || c == '\t'; }

static bool fail_binary(source *s, int c) {
    return source_fail(s, "line %" PRIu64 ": byte 0x%02x: binary data where text is expected", s->line, (unsigned)c);
}

bool text_skip_line(source *s) {
    for (int c = text_peek(s); !is_line_end(c); c = text_peek(s)) {
        if (c < ' ' && !is_blank(c))
            return fail_binary(s, c);
        s->at++;
    }
    text_next(s);
    return !s->failed;
}

void text_skip_blanks(source *s) {
    while (is_blank(text_peek(s)))
        s->at++;
}

bool text_word(source *s, char word[SOURCE_WORD]) {
    size_t length = 0;
    text_skip_blanks(s);
    for (int c = text_peek(s); !is_line_end(c) && !is_blank(c); c = text_peek(s)) {
        if (c <= ' ' || c > '~')
            return fail_binary(s, c);
        if (length == SOURCE_WORD - 1)
            return source_fail(s, "line %" PRIu64 ": a word of more than %d characters", s->line, SOURCE_WORD - 1);
        word[length++] = (char)c;
        s->at++;
    }
    word[length] = '\0';
    return !s->failed;
}

bool text_at_line_end(source *s) { return is_line_end(text_peek(s)); }

bool text_number(source *s, const char *word, double *value) {
    char *end;
    *value = strtod(word, &end);
    return (end != word && *end == '\0') || source_fail(s, "line %" PRIu64 ": \"%s\" is not a number", s->line, word);
}
