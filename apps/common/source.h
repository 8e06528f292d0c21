/* Input files: a buffered source of bytes, plain or gzip, and text read from it by characters, words and lines. */
#ifndef BALLAST_SOURCE_H
#define BALLAST_SOURCE_H

#include "app.h"

#ifdef BL_HAVE_ZLIB
#include <zlib.h>
#endif

typedef struct source {
    const char *path;
    app_error *error;
    bool failed; /* error is filled */
    FILE *plain;
#ifdef BL_HAVE_ZLIB
    gzFile zipped;
#endif
    uint64_t line; /* of the text read so far, from 1 */
    size_t at, filled;
    unsigned char buffer[65536];
} source;

#define SOURCE_END (-1)
#define SOURCE_WORD 64 /* the longest word and its end */

bool source_open(source *s, const char *path, bool zipped, app_error *error);
void source_close(source *s); /* also after an open that failed */

/* Always false, for `return source_fail(...)`. The first failure is the cause of those after it, so it keeps the
 * message. */
bool source_fail(source *s, const char *format, ...);

/* True when there is a byte to take; false at the end and after a failure. */
bool source_more(source *s);

/* Copies up to `bytes`; fewer at the end of the data. */
size_t source_bytes(source *s, unsigned char *to, size_t bytes);

/* ---- text ---- */

/* The next character, SOURCE_END at the end. text_next takes it, and makes every kind of line end '\n'. */
int text_next(source *s);
int text_peek(source *s);
bool text_at_line_end(source *s); /* or at the end of the file */

void text_skip_blanks(source *s);

/* Drops what is left of the line. Words may be in any encoding, but control characters mean that this is no text. */
bool text_skip_line(source *s);

/* The next word of this line, "" at its end. */
bool text_word(source *s, char word[SOURCE_WORD]);

/* A word as a number; infinities and NaN are numbers here. */
bool text_number(source *s, const char *word, double *value);

#endif
