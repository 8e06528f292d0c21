/* Compressed input: the source that all readers of files share. */
#include "fuzz.h"

#include "common/source.h"

enum { MOST = 1 << 24 }; /* bytes: a small file may expand to very many */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static unsigned char part[5000];
    source s;
    app_error error = {""};
    size_t got = 0, all = 0;
    bool opened = source_open(&s, fuzz_file("data.gz", data, size), true, &error);
    while (opened && all < MOST && (got = source_bytes(&s, part, sizeof part)) > 0)
        all += got;
    FUZZ_CHECK(opened || s.failed);
    if (s.failed)
        fuzz_check_line(error.text);
    source_close(&s);
    return 0;
}
