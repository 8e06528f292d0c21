/* Frames: what a thread keeps of a fork whose children it runs itself, by recursion (runtime/loop/recurse.inc.h).
 *
 * A frame lies on the C stack of its thread, and no other thread ever touches it. Of its children
 *
 *     0 .. next-2     have returned; their results are in the frame
 *     next-1          is in progress: a call further up the stack
 *     next .. end-1   have not begun
 *
 * `end` is 0 once the frame has been handed over: then its record (parts/record.h) has all of that, and the child in
 * progress returns to the record as any child does. The frames of a recursion are a chain, oldest first. Those that
 * have been handed over are the oldest ones, so a record's parent is a record, too.
 */
#ifndef BL_PARTS_FRAME_H
#define BL_PARTS_FRAME_H

#include "../export.h"
#include <stddef.h>
#include <stdint.h>

typedef struct bl__frame {
    struct bl__frame *below; /* the frame whose child forked this one */
    uint32_t next, end;
    uint32_t record;     /* handed over: its number */
    uint32_t left;       /* frames that there may be above this one */
    unsigned char *wide; /* more children than BL_JOIN_WIDTH: memory for their results */
} bl__frame;

/* Bytes between here and the end of the calling thread's stack; 0: not known. */
BL_API size_t bl__stack_left(void);

#endif
