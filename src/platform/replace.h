/* Files that appear whole or not at all. The library writes its checkpoints so, and apps/common/app_output.c what the
 * tool was asked to write.
 *
 * A file is written without a name, where the file system can do that, so that a process that is killed leaves nothing
 * behind. Elsewhere it is written under a name beside the one asked for that nobody can guess, exclusively, so that
 * nothing that lies there is followed or overwritten. At the end it takes its place at once. Of two writers of one file
 * the last to end wins, and neither notices the other.
 *
 * Functions that return int return 0, or the errno that says why not. */
#ifndef BALLAST_REPLACE_H
#define BALLAST_REPLACE_H

#include <stdbool.h>
#include <stdio.h>

enum { BL__PATH = 4096 };

typedef struct bl__replace {
    FILE *file;            /* to write to */
    bool named;            /* lies at `name`; else it has none yet */
    char target[BL__PATH]; /* the file asked for, symbolic links followed */
    char name[BL__PATH];   /* beside it; does not change once bl__replace_plan has returned */
} bl__replace;

/* Makes no file: code that cleans up after signals can learn the name first. */
int bl__replace_plan(bl__replace *r, const char *path);
int bl__replace_open(bl__replace *r);
/* Either ends it. `durable`: on the disk before it takes its place, so that a crash of the machine leaves the old
 * file or the new one. */
int bl__replace_commit(bl__replace *r, bool durable);
void bl__replace_drop(bl__replace *r);

#endif
