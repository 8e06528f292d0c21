/* Fuzzing: one harness per reader, fuzz_NAME.c, with inputs to start from in corpus/NAME. The build finds both.
 *
 * A harness gives the bytes to its reader and checks what comes back: a result that keeps what the reader promises,
 * or one line that says why not. driver.c runs it over the corpus and mutates by itself, with any compiler; `make
 * fuzz` links libFuzzer instead where clang has it. */
#ifndef BALLAST_TESTS_FUZZ_H
#define BALLAST_TESTS_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size); /* the harness; returns 0 */

/* Ends the process where a promise is broken. */
#define FUZZ_CHECK(x) ((x) ? (void)0 : fuzz_broken(__FILE__, __LINE__, #x))
void fuzz_broken(const char *file, int line, const char *what) __attribute__((noreturn));

/* A message of a reader that refused: there is one, and it is one line. */
void fuzz_check_line(const char *text);

/* The bytes as a file of this name, in a folder that is this process's own and goes away with it. The path is good
 * until the next call. */
const char *fuzz_file(const char *name, const uint8_t *data, size_t size);
const char *fuzz_folder(void);

/* A copy of the bytes that ends with '\0', for readers of strings; it is cut at the first '\0'. To be freed. */
char *fuzz_text(const uint8_t *data, size_t size);

/* The next line of such a copy without its end, NULL behind the last; moves *text. */
char *fuzz_next_line(char **text);

#endif
