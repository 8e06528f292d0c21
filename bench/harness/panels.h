/* What the files about panels share: panels.c makes them from rows, questions.c answers what verdicts and the page ask. */
#ifndef BALLAST_BENCH_PANELS_H
#define BALLAST_BENCH_PANELS_H

#include "rows.h"

/* Whether a list like "a,b" has the name, or with `prefixes` one that the name begins with. */
bool bench_listed(const char *list, const char *name, bool prefixes);

/* Sorts marks by x and fills what a panel knows of itself: places, by_name, full. 0; 1: no memory. */
int bench_panel_index(bench_panel *panel);
void bench_panel_unindex(bench_panel *panel);

#endif
