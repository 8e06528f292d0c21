/* Numbers as users type them. Every function parses the whole text, or returns false and leaves *value alone: no signs,
 * no blanks, nothing after the number, no overflow. */
#ifndef BALLAST_PARSE_H
#define BALLAST_PARSE_H

#include <stdbool.h>
#include <stdint.h>

/* Whole numbers in digits. */
bool parse_u32(const char *text, uint32_t *value);
bool parse_u64(const char *text, uint64_t *value);

/* A whole number, optionally with the suffix k, M or G (powers of ten) and then a fraction: 500k, 5.12M. 1.2345k is not
 * whole. */
bool parse_size(const char *text, uint64_t *value);

/* Finite and not negative: 0.85, 1e-9. */
bool parse_double(const char *text, double *value);

#endif
