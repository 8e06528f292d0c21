#include "numbering.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static int compare(const bench_key *a, const bench_key *b) {
    if (a->group != b->group)
        return a->group < b->group ? -1 : 1;
    if (a->x < b->x || a->x > b->x)
        return a->x < b->x ? -1 : 1;
    return strcmp(a->text, b->text);
}

/* Of equal keys, the one that occurs first comes first. */
static int in_order(const void *left, const void *right) {
    const bench_key *a = left, *b = right;
    int order = compare(a, b);
    return order ? order : (a->at > b->at) - (a->at < b->at);
}

unsigned bench_number_keys(bench_key *keys, unsigned count, unsigned *number) {
    for (unsigned i = 0; i < count; i++)
        keys[i].at = i;
    qsort(keys, count, sizeof *keys, in_order);
    for (unsigned i = 0, first = 0; i < count; i++) {
        if (compare(&keys[first], &keys[i]) != 0)
            first = i;
        number[keys[i].at] = keys[first].at;
    }
    unsigned next = 0;
    for (unsigned i = 0; i < count; i++)
        number[i] = number[i] == i ? next++ : number[number[i]];
    return next;
}
