/* Ordered operations and bumps of the source that no client has reached: they have no mutants, and must not be
 * forgotten. */
#include "prove.h"

#include <ctype.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>

enum { LINE = 400, NEAR = 3 }; /* an operation that spans several lines is reported at the last of them */

/* Where the next operation begins in the text, or NULL. */
static const char *next_operation(const char *text) {
    static const char *const orders[] = {"_acquire(", "_release(", "_acq_rel(", "_seq_cst(", "se_light("};
    enum { ORDERS = sizeof orders / sizeof orders[0] };
    for (const char *at = strstr(text, "bl_"); at; at = strstr(at + 3, "bl_")) {
        const char *end = at;
        if (!strncmp(at, "bl_bump(", 8) || !strncmp(at, "bl_fence_light(", 15) || !strncmp(at, "bl_fence_heavy(", 15))
            return at;
        while (isalnum((unsigned char)*end) || *end == '_')
            end++;
        for (uint32_t i = 0; i < ORDERS && *end == '('; i++)
            if (end - at > 8 && !strncmp(end - 8, orders[i], 9))
                return at;
    }
    return NULL;
}

/* FOLDER/FILE: the same file may be included by different paths. */
static const char *short_name(const char *file) {
    const char *at = file + strlen(file);
    for (uint32_t slashes = 0; at > file; at--)
        if (at[-1] == '/' && ++slashes == 2)
            break;
    return at;
}

static bool is_met(const char *file, uint32_t line) {
    for (uint32_t i = 1, n = bl_site_count(); i <= n; i++) {
        bl_site s = bl_site_get(i);
        bl_mutant ignored[BL_MUTANTS];
        if (s.line >= line && s.line < line + NEAR && !strcmp(short_name(s.file), short_name(file)) &&
            bl_site_mutants(i, ignored))
            return true;
    }
    return false;
}

static void look_into(const char *path, prove_found found, void *arg) {
    char line[LINE];
    FILE *f = fopen(path, "r");
    for (uint32_t number = 1; f && fgets(line, sizeof line, f); number++) {
        char *comment = strstr(line, "/*");
        bool is_comment = line[0] == ' ' && line[1] == '*';
        if (comment)
            *comment = 0;
        if (!is_comment && strncmp(line, "#define", 7) != 0 && next_operation(line) && !is_met(path, number))
            found(arg, path, number);
    }
    if (f)
        fclose(f);
}

void prove_unmet(prove_found found, void *arg) {
    static const char *const folders[] = {"/parts/*.h",        "/queues/*.h", "/schedulers/*.h",     "/runtime/*.h",
                                          "/runtime/loop/*.h", "/task.h",     "/../../apps/*/task.h"};
    for (uint32_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        char pattern[512];
        glob_t files;
        snprintf(pattern, sizeof pattern, "%s%s", PROVE_INCLUDE, folders[i]);
        if (glob(pattern, 0, NULL, &files))
            continue;
        for (size_t k = 0; k < files.gl_pathc; k++)
            look_into(files.gl_pathv[k], found, arg);
        globfree(&files);
    }
}
