/* Numbers equal keys without comparing every pair: each row of a file may have a new name. */
#ifndef BALLAST_REPORT_NUMBERING_H
#define BALLAST_REPORT_NUMBERING_H

typedef struct bench_key {
    unsigned group;
    double x; /* not NAN */
    const char *text;
    unsigned at; /* set by bench_number_keys */
} bench_key;

/* number[i] becomes the number of keys[i]: keys with equal group, x and text get the same number, counting from 0 in
 * order of first occurrence. Returns how many there are. Sorts the keys. */
unsigned bench_number_keys(bench_key *keys, unsigned count, unsigned *number);

#endif
