/* Text by words and lines, as read by all text readers. */
#include "fuzz.h"

#include "common/source.h"

#include <string.h>

/* Counts every line, and sees every byte once. */
static uint64_t count_lines(const uint8_t *data, size_t size) {
    uint64_t lines = 1;
    for (size_t i = 0; i < size; i++)
        lines += data[i] == '\r' || (data[i] == '\n' && (i == 0 || data[i - 1] != '\r'));
    return lines;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    source s;
    app_error error = {""};
    char word[SOURCE_WORD];
    double value;
    FUZZ_CHECK(source_open(&s, fuzz_file("text", data, size), false, &error));
    while (source_more(&s)) {
        if (text_at_line_end(&s))
            text_next(&s);
        else if (text_word(&s, word) && word[0] != '\0') {
            FUZZ_CHECK(strlen(word) < SOURCE_WORD);
            if (word[0] == '#')
                text_skip_line(&s);
            else if (word[0] == '=')
                text_number(&s, word + 1, &value);
        }
    }
    FUZZ_CHECK(s.failed || s.line == count_lines(data, size));
    if (s.failed)
        fuzz_check_line(error.text);
    source_close(&s);
    return 0;
}
