#include "replace.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- names ---- */

static size_t folder_length(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

/* Links of the last part of a path only: the system follows those before it. */
static int follow_links(char path[BL__PATH]) {
    enum { MOST = 40 };
    char link[BL__PATH];
    for (int i = 0; i < MOST; i++) {
        ssize_t length = readlink(path, link, sizeof link - 1);
        if (length < 0)
            return errno == EINVAL || errno == ENOENT ? 0 : errno; /* no link, or nothing there yet */
        size_t folder = link[0] == '/' ? 0 : folder_length(path);
        if (folder + (size_t)length >= BL__PATH)
            return ENAMETOOLONG;
        memcpy(path + folder, link, (size_t)length);
        path[folder + (size_t)length] = '\0';
    }
    return ELOOP;
}

/* Links below /proc lead to files that may have no name any more: those cannot be replaced. Another process may
 * replace the target between the two looks, so they are taken more than once before they count as different. */
static int check_target(const char *path, const char *target) {
    enum { LOOKS = 100 };
    struct stat asked, found;
    for (int i = 0; i < LOOKS; i++) {
        if (stat(path, &asked) != 0)
            return 0;
        if (S_ISDIR(asked.st_mode))
            return EISDIR;
        bool same = lstat(target, &found) == 0 && found.st_dev == asked.st_dev && found.st_ino == asked.st_ino;
        if (same || !strcmp(path, target))
            return 0;
    }
    return ENOENT;
}

int bl__replace_plan(bl__replace *r, const char *path) {
    enum { KEPT = 200 }; /* of the file's name, so that the other one is not too long where this is not */
    uint64_t number;
    r->file = NULL;
    r->named = false;
    if (strlen(path) >= sizeof r->target)
        return ENAMETOOLONG;
    memcpy(r->target, path, strlen(path) + 1);
    int why = follow_links(r->target);
    if (why == 0)
        why = check_target(path, r->target);
    if (why)
        return why;
    if (getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number)
        return errno;
    size_t folder = folder_length(r->target);
    int length = snprintf(r->name, sizeof r->name, "%.*s%.*s.%016" PRIx64, (int)folder, r->target, KEPT,
                          r->target + folder, number);
    return length > 0 && (size_t)length < sizeof r->name ? 0 : ENAMETOOLONG;
}

/* ---- files ---- */

static void proc_path(int file, char path[32]) { snprintf(path, 32, "/proc/self/fd/%d", file); }

/* -1 where there are no files without a name, or no way to give them one later. */
static int open_nameless(const bl__replace *r, mode_t mode) {
    char folder[BL__PATH + 1], path[32];
    size_t length = folder_length(r->target);
    memcpy(folder, r->target, length);
    memcpy(folder + length, ".", 2);
    int file = open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, mode);
    if (file < 0)
        return -1;
    proc_path(file, path);
    if (access(path, F_OK) == 0)
        return file;
    close(file);
    return -1;
}

/* Owner and mode of the file that will be replaced, as far as this process may set them. */
static void take_rights(int file, const struct stat *old) {
    if (fchown(file, old->st_uid, old->st_gid) != 0 && fchown(file, (uid_t)-1, old->st_gid) != 0)
        errno = 0; /* another user's file becomes ours */
    (void)fchmod(file, old->st_mode & 0777);
}

int bl__replace_open(bl__replace *r) {
    struct stat old;
    bool there = stat(r->target, &old) == 0;
    mode_t mode = there ? 0600 : 0666;
    int file = open_nameless(r, mode);
    r->named = file < 0;
    if (r->named)
        file = open(r->name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    if (file < 0)
        return errno;
    if (there)
        take_rights(file, &old);
    r->file = fdopen(file, "wb");
    if (r->file)
        return 0;
    int why = errno;
    close(file);
    if (r->named)
        unlink(r->name);
    return why;
}

/* A link cannot replace a file, but a name can: where there is a file, the new one is given the other name first.
 * Only a process that is killed at this very moment leaves that behind. */
static int give_name(bl__replace *r) {
    char path[32];
    proc_path(fileno(r->file), path);
    if (linkat(AT_FDCWD, path, AT_FDCWD, r->target, AT_SYMLINK_FOLLOW) == 0)
        return 0;
    if (errno != EEXIST || linkat(AT_FDCWD, path, AT_FDCWD, r->name, AT_SYMLINK_FOLLOW) != 0)
        return errno;
    r->named = true;
    return 0;
}

/* A full disk may show only when the last of the buffer is written, and a remote one only when the file is closed. */
int bl__replace_commit(bl__replace *r, bool durable) {
    errno = 0;
    bool written = !ferror(r->file) && fflush(r->file) == 0 && (!durable || fsync(fileno(r->file)) == 0);
    int why = written ? 0 : errno ? errno : EIO;
    if (written && !r->named)
        why = give_name(r);
    if (fclose(r->file) != 0 && why == 0)
        why = errno;
    if (why == 0 && r->named && rename(r->name, r->target) != 0)
        why = errno;
    if (why && r->named)
        unlink(r->name);
    return why;
}

void bl__replace_drop(bl__replace *r) {
    fclose(r->file);
    if (r->named)
        unlink(r->name);
}
