/* Files that appear whole or not at all: as the library writes them, and as on a file system without O_TMPFILE. */
#include "check.h"
#include "platform/replace.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

/* The same code again, for such a file system: opening a folder for writing fails. */
#undef O_TMPFILE
#define O_TMPFILE O_DIRECTORY
#define bl__replace_plan named_plan
#define bl__replace_open named_open
#define bl__replace_commit named_commit
#define bl__replace_drop named_drop
int named_plan(bl__replace *r, const char *path);
int named_open(bl__replace *r);
int named_commit(bl__replace *r, bool durable);
void named_drop(bl__replace *r);
#include "../src/platform/replace.c"
#undef bl__replace_plan
#undef bl__replace_open
#undef bl__replace_commit
#undef bl__replace_drop

typedef struct way {
    int (*plan)(bl__replace *r, const char *path);
    int (*open)(bl__replace *r);
    int (*commit)(bl__replace *r, bool durable);
    void (*drop)(bl__replace *r);
} way;
static const way WAYS[] = {{bl__replace_plan, bl__replace_open, bl__replace_commit, bl__replace_drop},
                           {named_plan, named_open, named_commit, named_drop}};

static char folder[] = "/tmp/ballast_replace_XXXXXX";

static const char *in_folder(const char *name) {
    static char paths[4][400];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static bool holds(const char *path, const char *text) {
    char found[64] = "";
    FILE *in = fopen(path, "r");
    size_t bytes = in ? fread(found, 1, sizeof found - 1, in) : 0;
    if (in)
        fclose(in);
    return bytes == strlen(text) && strcmp(found, text) == 0;
}

static unsigned files(void) {
    unsigned count = 0;
    DIR *open = opendir(folder);
    for (struct dirent *entry; open && (entry = readdir(open));)
        count += entry->d_name[0] != '.';
    if (open)
        closedir(open);
    return count;
}

static void begin(const way *w, bl__replace *r, const char *path, const char *text) {
    if (CHECK_SAME(w->plan(r, path), 0) && CHECK_SAME(w->open(r), 0))
        fputs(text, r->file);
    else
        exit(check_end());
}

/* Two writers of one file, which may exist: the last to finish wins, and the mode stays. */
static void test_two_writers(const way *w) {
    bl__replace a, b;
    struct stat there;
    const char *path = in_folder("file");
    begin(w, &a, path, "a");
    begin(w, &b, path, "b");
    CHECK(strcmp(a.name, b.name) != 0);
    CHECK(access(path, F_OK) != 0);
    CHECK_SAME(w->commit(&b, true), 0);
    CHECK(holds(path, "b"));
    CHECK(chmod(path, 0640) == 0);
    CHECK_SAME(w->commit(&a, false), 0);
    CHECK(holds(path, "a"));
    CHECK(chmod(path, 0604) == 0);
    begin(w, &a, path, "c");
    CHECK_SAME(w->commit(&a, false), 0);
    CHECK(holds(path, "c"));
    CHECK(stat(path, &there) == 0 && (there.st_mode & 07777) == 0604);
    CHECK_SAME(files(), 1);
    begin(w, &a, path, "d");
    w->drop(&a);
    CHECK(holds(path, "c"));
    CHECK_SAME(files(), 1);
    CHECK(remove(path) == 0);
}

static void test_links(const way *w) {
    bl__replace r;
    const char *path = in_folder("file"), *link = in_folder("link"), *round = in_folder("round");
    struct stat there;
    CHECK(symlink("file", link) == 0 && symlink("round", round) == 0);
    for (int i = 0; i < 2; i++) {
        begin(w, &r, link, i ? "old" : "new");
        CHECK_SAME(w->commit(&r, false), 0);
        CHECK(holds(path, i ? "old" : "new"));
        CHECK(lstat(link, &there) == 0 && S_ISLNK(there.st_mode));
    }
    CHECK_SAME(w->plan(&r, round), ELOOP);
    CHECK_SAME(w->plan(&r, folder), EISDIR);
    CHECK(w->plan(&r, in_folder("no/where")) != 0 || w->open(&r) == ENOENT);
    CHECK(remove(round) == 0 && remove(link) == 0 && remove(path) == 0);
}

static void test_names(const way *w) {
    bl__replace r;
    char name[251] = "", longest[5000];
    memset(name, 'n', sizeof name - 1);
    memset(longest, 'n', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    begin(w, &r, in_folder(name), "x");
    CHECK_SAME(w->commit(&r, false), 0);
    CHECK(holds(in_folder(name), "x"));
    CHECK_SAME(w->plan(&r, longest), ENAMETOOLONG);
    /* A file that already has the temporary name is left alone, whatever it is. */
    CHECK_SAME(w->plan(&r, in_folder(name)), 0);
    CHECK(symlink(in_folder(name), r.name) == 0);
    int why = w->open(&r);
    if (why == 0) {
        fputs("y", r.file);
        why = w->commit(&r, false);
    }
    CHECK_SAME(why, EEXIST);
    CHECK(holds(in_folder(name), "x"));
    unlink(r.name);
    CHECK(remove(in_folder(name)) == 0);
}

int main(void) {
    check_limit(60);
    if (!mkdtemp(folder))
        return 1;
    for (unsigned i = 0; i < sizeof WAYS / sizeof WAYS[0]; i++) {
        check_at(i ? "with names" : "as here");
        test_two_writers(WAYS + i);
        test_links(WAYS + i);
        test_names(WAYS + i);
        CHECK_SAME(files(), 0);
    }
    CHECK(rmdir(folder) == 0);
    return check_end();
}
