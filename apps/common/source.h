/* Input files: a buffered source of bytes, plain or gzip, read as characters, words and lines. */
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
    uint64_t line; /* line number of the text read so far, from 1 */
    size_t at, filled;
    unsigned char buffer[65536];
} source;

#define SOURCE_END (-1)
#define SOURCE_WORD 64 /* the longest word, including its terminator */

bool source_open(source *s, const char *path, bool zipped, app_error *error);
void source_close(source *s); /* also after a failed open */

/* Returns false, for use in `return source_fail(...)`. Keeps the first message, since the first failure causes the
 * later ones. */
bool source_fail(source *s, const char *format, ...);

/* True if there is another byte; false at the end and after a failure. */
bool source_more(source *s);

/* Copies up to `bytes`; fewer at the end of the data. */
size_t source_bytes(source *s, unsigned char *to, size_t bytes);

/* ---- text ---- */

/* The next character, SOURCE_END at the end. text_next consumes it, and converts every kind of line end to '
 * '. */
int text_next(source *s);
int text_peek(source *s);
bool text_at_line_end(source *s); /* or at the end of the file */

void text_skip_blanks(source *s);

/* Skips the rest of the line. Words may be in any encoding, but control characters mean that the file is not text. */
bool text_skip_line(source *s);

/* The next word on this line, "" at its end. */
bool text_word(source *s, char word[SOURCE_WORD]);

/* A word as a number; infinities and NaN are numbers here. */
bool text_number(source *s, const char *word, double *value);

#endif
