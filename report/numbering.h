/* Numbers for what is the same, without comparing everything with everything: rows of a file may have a new name
 * each. */
#ifndef BALLAST_REPORT_NUMBERING_H
#define BALLAST_REPORT_NUMBERING_H

typedef struct bench_key {
    unsigned group;
    double x; /* not NAN */
    const char *text;
    unsigned at; /* set by bench_number_keys */
} bench_key;

/* number[i] becomes the number of keys[i]: keys that are equal in group, x and text have the same, and numbers count
 * up from 0 in the order in which they first occur. Returns how many there are. Sorts the keys. */
unsigned bench_number_keys(bench_key *keys, unsigned count, unsigned *number);

#endif
