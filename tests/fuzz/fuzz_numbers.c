/* Numbers as users type them. */
#include "fuzz.h"

#include "common/parse.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is_digits(const char *text) { return *text && text[strspn(text, "0123456789")] == '\0'; }

/* Digits alone must agree with the C library; a suffix must not lose precision. */
static void check_size(const char *text) {
    uint64_t whole = 7, size = 7;
    bool is_whole = parse_u64(text, &whole), is_size = parse_size(text, &size);
    FUZZ_CHECK((is_whole || whole == 7) && (is_size || size == 7));
    FUZZ_CHECK(!is_whole || (is_size && whole == size));
    errno = 0;
    unsigned long long expected = strtoull(text, NULL, 10);
    FUZZ_CHECK(is_whole == (is_digits(text) && errno == 0));
    FUZZ_CHECK(!is_whole || whole == expected);
    long double scale = 1;
    char *end;
    long double real = strtold(text, &end);
    if (is_size && *end)
        scale = *end == 'k' ? 1e3L : *end == 'M' ? 1e6L : 1e9L;
    FUZZ_CHECK(!is_size || fabsl(real * scale - (long double)size) <= 1e-9L * (long double)size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = fuzz_text(data, size);
    uint32_t number = 7;
    double real = 7;
    check_size(text);
    FUZZ_CHECK(parse_u32(text, &number) || number == 7);
    FUZZ_CHECK(parse_double(text, &real) ? isfinite(real) && real >= 0 : real == 7);
    free(text);
    return 0;
}
