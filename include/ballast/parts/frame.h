/* Frames: what a thread keeps of a fork whose children it runs itself, by recursion (runtime/loop/recurse.inc.h).
 *
 * Frames lie in an array on the C stack of their thread, oldest first, and no other thread ever touches them. Of the
 * children of a frame
 *
 *     0 .. next-2     have returned; their results are in the frame
 *     next-1          is in progress: in the frames above, or a call
 *     next .. end-1   have not begun
 *
 * `next` and the results are up to date whenever the thread is not in this frame. `end` is 0 once the frame has been
 * handed over: then its record (parts/record.h) has all of that, and the child in progress returns to the record as any
 * child does. The frames that have been handed over are the oldest ones, so a record's parent is a record, too.
 */
#ifndef BL_PARTS_FRAME_H
#define BL_PARTS_FRAME_H

#include "../export.h"
#include <stddef.h>
#include <stdint.h>

typedef struct bl__frame {
    uint32_t next, end;
    unsigned char *wide; /* more children than BL_JOIN_WIDTH: memory for their results */
    uint32_t record;     /* handed over: its number */
} bl__frame;

/* Bytes between here and the end of the calling thread's stack; 0: not known. */
BL_API size_t bl__stack_left(void);

#endif
