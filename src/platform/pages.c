/* By default many systems, Ubuntu among them, give large pages only where a program asks for them. */
#include "platform/pages.h"

#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

void bl__prefer_large_pages(void *memory, size_t bytes) {
#ifdef MADV_HUGEPAGE
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const uintptr_t begin = ((uintptr_t)memory + page - 1) / page * page,
                    end = ((uintptr_t)memory + bytes) / page * page;
    if (bytes >= BL__LARGE_MEMORY)
        (void)madvise((void *)begin, end - begin, MADV_HUGEPAGE);
#else
    (void)memory, (void)bytes;
#endif
}
