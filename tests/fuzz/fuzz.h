/* Fuzzing: one harness per reader, fuzz_NAME.c, with initial inputs in corpus/NAME. The build discovers both.
 *
 * A harness passes the bytes to its reader and checks the outcome: a result that keeps the reader's promises, or one
 * line that says why the input is rejected. driver.c runs it over the corpus and mutations of it, with any compiler;
 * `make fuzz` links libFuzzer instead if clang has it. */
#ifndef BALLAST_TESTS_FUZZ_H
#define BALLAST_TESTS_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size); /* the harness; returns 0 */

/* Aborts if a promise is broken. */
#define FUZZ_CHECK(x) ((x) ? (void)0 : fuzz_broken(__FILE__, __LINE__, #x))
void fuzz_broken(const char *file, int line, const char *what) __attribute__((noreturn));

/* Checks the message of a reader that rejected its input: it exists and is one line. */
void fuzz_check_line(const char *text);

/* Writes the bytes to a file of this name, in a temporary folder of this process, removed at exit. The path is valid
 * until the next call. */
const char *fuzz_file(const char *name, const uint8_t *data, size_t size);
const char *fuzz_folder(void);

/* A copy of the bytes, terminated by '\0', for readers of strings; cut at the first '\0'. The caller frees it. */
char *fuzz_text(const uint8_t *data, size_t size);

/* The next line of such a copy without its line end, NULL after the last; advances *text. */
char *fuzz_next_line(char **text);

#endif
