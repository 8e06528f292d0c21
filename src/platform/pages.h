/* Large pages for large memory. */
#ifndef BALLAST_PAGES_H
#define BALLAST_PAGES_H

#include <stddef.h>

#define BL__LARGE_MEMORY ((size_t)4 << 20) /* bytes: less would hardly fill a large page */

/* Asks the system for large pages where the memory has not been touched yet. Less of it then has to be looked up in
 * page tables, and first touches are fewer. Only a wish: without it everything works the same. */
void bl__prefer_large_pages(void *memory, size_t bytes);

#endif
