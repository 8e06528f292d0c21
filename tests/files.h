/* Input files for tests of readers, in a folder that the test creates with mkdtemp. Include after defining CHECK. */
#ifndef BALLAST_TESTS_FILES_H
#define BALLAST_TESTS_FILES_H

#include <stdio.h>
#include <string.h>
#ifdef BL_HAVE_ZLIB
#include <zlib.h>
#endif

static char folder[] = "/tmp/ballast_test_XXXXXX";

static const char *path_of(const char *name) {
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

/* Compressed if the name ends in .gz. */
static void write_file(const char *name, const void *bytes, size_t count) {
    const char *path = path_of(name);
    size_t length = strlen(path);
#ifdef BL_HAVE_ZLIB
    if (length > 3 && strcmp(path + length - 3, ".gz") == 0) {
        gzFile file = gzopen(path, "wb");
        CHECK(file && (count == 0 || gzwrite(file, bytes, (unsigned)count) == (int)count) && gzclose(file) == Z_OK);
        return;
    }
#endif
    (void)length;
    FILE *file = fopen(path, "wb");
    CHECK(file && fwrite(bytes, 1, count, file) == count && fclose(file) == 0);
}

#endif
