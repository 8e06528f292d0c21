#include "parse.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* value = 10 * value + digit, unless that overflows. */
static bool append_digit(uint64_t *value, unsigned digit) {
    if (*value > (UINT64_MAX - digit) / 10)
        return false;
    *value = *value * 10 + digit;
    return true;
}

/* Reads at least one digit and advances *text past the last. */
static bool read_digits(const char **text, uint64_t *value) {
    if (!is_digit(**text))
        return false;
    for (; is_digit(**text); ++*text)
        if (!append_digit(value, (unsigned)(**text - '0')))
            return false;
    return true;
}

bool parse_u64(const char *text, uint64_t *value) {
    uint64_t number = 0;
    if (!read_digits(&text, &number) || *text != '\0')
        return false;
    *value = number;
    return true;
}

bool parse_u32(const char *text, uint32_t *value) {
    uint64_t number;
    if (!parse_u64(text, &number) || number > UINT32_MAX)
        return false;
    *value = (uint32_t)number;
    return true;
}

/* The power of ten of a suffix, or -1 if it is unknown. */
static int suffix_power(const char *suffix) {
    if (*suffix == '\0')
        return 0;
    if (suffix[1] != '\0')
        return -1;
    return *suffix == 'k' ? 3 : *suffix == 'M' ? 6 : *suffix == 'G' ? 9 : -1;
}

/* In integers, since 5.12M must be exactly 5120000: the digits after the point use up the suffix's zeros. */
bool parse_size(const char *text, uint64_t *value) {
    uint64_t number = 0;
    if (!read_digits(&text, &number))
        return false;
    const char *fraction = *text == '.' ? ++text : NULL;
    if (fraction && !is_digit(*fraction))
        return false;
    while (is_digit(*text))
        text++;
    int power = suffix_power(text);
    if (power < 0)
        return false;
    for (; fraction && is_digit(*fraction); fraction++) {
        if (power == 0 && *fraction != '0')
            return false;
        if (power > 0 && !append_digit(&number, (unsigned)(*fraction - '0')))
            return false;
        power -= power > 0;
    }
    for (; power > 0; power--)
        if (!append_digit(&number, 0))
            return false;
    *value = number;
    return true;
}

/* strtod would also accept blanks, signs, hexadecimal, "inf" and "nan". */
bool parse_double(const char *text, double *value) {
    if (!is_digit(*text) && *text != '.')
        return false;
    if (text[strspn(text, "0123456789.eE+-")] != '\0')
        return false;
    char *end;
    double number = strtod(text, &end);
    if (end == text || *end != '\0' || !isfinite(number))
        return false;
    *value = number;
    return true;
}
