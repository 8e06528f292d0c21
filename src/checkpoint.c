/* Checkpoints: what is left of a run, and the memory of its context, in a file; ballast.h tells what for.
 *
 *     head        sizes, statistics so far, and what tells a run from others
 *     sizes       of the pieces of memory, 8 bytes each
 *     contents    entries, join records, results of roots, the pieces of memory
 *     checksum    of all before it, 8 bytes
 *
 * Numbers are as this machine has them. */
#include "internal.h"
#include "replace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { CHUNK = 1 << 22 };

typedef struct head {
    char magic[32];
    uint64_t problem, first_problem, tasks, steals, steal_attempts, blocks;
    double seconds;
    uint32_t pauses, launches, run, words, entries, record_bytes, record_capacity, result_bytes, roots, unused;
} head;
static const char MAGIC[32] = "ballast " BL_VERSION " checkpoint\n";

/* ---- numbers for contents ---- */

static uint64_t mix(uint64_t sum, uint64_t word) {
    sum = (sum ^ word) * 0x9e3779b97f4a7c15u;
    return sum ^ sum >> 29;
}

static uint64_t mix_bytes(uint64_t sum, const void *from, size_t bytes) {
    const unsigned char *at = from;
    uint64_t word;
    for (; bytes >= sizeof word; at += sizeof word, bytes -= sizeof word) {
        memcpy(&word, at, sizeof word);
        sum = mix(sum, word);
    }
    word = 0;
    if (bytes)
        memcpy(&word, at, bytes);
    return mix(sum, word + bytes);
}

/* A word that points into memory of the user becomes the number of the piece and the place there. */
static uint64_t without_address(const bl_context *c, uint64_t word) {
    for (uint64_t end = 0; end < 2; end++) /* a place in one piece rather than the end of another */
        for (size_t i = 0; i < c->block_count; i++) {
            uint64_t offset = word - (uint64_t)(uintptr_t)c->blocks[i].memory;
            if (offset < c->blocks[i].bytes + end)
                return mix(i + 1, offset);
        }
    return word;
}

uint64_t bl__problem(const bl_context *c, const bl_program *program, const void *shared, const void *roots,
                     uint32_t count, uint32_t range) {
    uint64_t sum = mix_bytes(mix(c->problem + count, range), program->name, strlen(program->name)), word;
    sum = mix_bytes(sum, c->config.problem, strlen(c->config.problem));
    const unsigned char *at = shared;
    size_t left = program->shared_bytes;
    for (; left >= sizeof word; at += sizeof word, left -= sizeof word) {
        memcpy(&word, at, sizeof word);
        sum = mix(sum, without_address(c, word));
    }
    if (left)
        sum = mix_bytes(sum, at, left);
    return program->payload_bytes ? mix_bytes(sum, roots, (size_t)count * program->payload_bytes) : sum;
}

void bl__stats_add(bl_stats *to, const bl_stats *before) {
    to->tasks += before->tasks;
    to->seconds += before->seconds;
    to->steals += before->steals;
    to->steal_attempts += before->steal_attempts;
    to->pauses += before->pauses;
    to->launches += before->launches;
}

/* ---- the file, piece by piece: written, read to be checked, or read into memory ---- */

typedef enum direction { WRITE, CHECK, READ } direction;
typedef struct stream {
    bl_context *c;
    FILE *file;
    direction direction;
    unsigned char *chunk;
    uint64_t sum;
    int status; /* BL_EFILE: errno says why, 0: it ends too early */
} stream;

static void pass_chunk(stream *s, void *memory, bool on_device, size_t bytes) {
    void *place = on_device ? s->chunk : memory;
    if (s->direction == WRITE && on_device)
        s->status = bl_copy_out(s->c, place, memory, bytes);
    errno = 0;
    if (s->status == BL_OK &&
        (s->direction == WRITE ? fwrite(place, 1, bytes, s->file) : fread(place, 1, bytes, s->file)) != bytes)
        s->status = BL_EFILE;
    if (s->status == BL_OK)
        s->sum = mix_bytes(s->sum, place, bytes);
    if (s->status == BL_OK && s->direction == READ && on_device)
        s->status = bl_copy_in(s->c, memory, place, bytes);
}

static void pass(stream *s, void *memory, bool on_device, uint64_t bytes) {
    for (uint64_t done = 0; done < bytes && s->status == BL_OK; done += CHUNK) {
        size_t n = bytes - done < CHUNK ? (size_t)(bytes - done) : CHUNK;
        pass_chunk(s, memory ? (unsigned char *)memory + done : s->chunk, on_device && memory, n);
    }
}

/* Everything behind the head. To be checked, contents go nowhere. */
static void pass_contents(stream *s, const bl__rest *rest, void *flat, void *records, void *results) {
    const bl_context *c = s->c;
    bool check = s->direction == CHECK;
    for (size_t i = 0; i < c->block_count; i++) {
        uint64_t bytes = c->blocks[i].bytes;
        pass(s, &bytes, false, sizeof bytes);
        if (bytes != c->blocks[i].bytes && s->status == BL_OK) {
            bl__detail(s->c, "resume %.200s: piece %zu of memory had %llu bytes there and has %zu now",
                       c->config.resume, i + 1, (unsigned long long)bytes, c->blocks[i].bytes);
            s->status = BL_EINVAL;
        }
    }
    pass(s, flat, true, 4u * (uint64_t)rest->words * rest->entries);
    pass(s, records, true, (uint64_t)rest->record_bytes * rest->record_capacity);
    pass(s, results, true, (uint64_t)rest->result_bytes * rest->roots);
    for (size_t i = 0; i < c->block_count; i++)
        pass(s, check ? NULL : c->blocks[i].memory, true, c->blocks[i].bytes);
}

static stream open_stream(bl_context *c, FILE *file, direction direction) {
    stream s = {c, file, direction, malloc(CHUNK), 1, BL_OK};
    if (!s.chunk)
        s.status = BL_ENOMEM;
    return s;
}

/* ---- writing ---- */

static head head_of(const bl_context *c, const bl__rest *rest) {
    head h = {.problem = rest->problem,
              .first_problem = rest->first_problem,
              .tasks = rest->stats.tasks,
              .steals = rest->stats.steals,
              .steal_attempts = rest->stats.steal_attempts,
              .blocks = c->block_count,
              .seconds = rest->stats.seconds,
              .pauses = rest->stats.pauses,
              .launches = rest->stats.launches,
              .run = rest->run,
              .words = rest->words,
              .entries = rest->entries,
              .record_bytes = rest->record_bytes,
              .record_capacity = rest->record_capacity,
              .result_bytes = rest->result_bytes,
              .roots = rest->roots};
    memcpy(h.magic, MAGIC, sizeof MAGIC);
    return h;
}

static int write_file(bl_context *c, const bl__rest *rest, FILE *file) {
    stream s = open_stream(c, file, WRITE);
    head h = head_of(c, rest);
    pass(&s, &h, false, sizeof h);
    pass_contents(&s, rest, (void *)rest->flat, (void *)rest->records, (void *)rest->results);
    uint64_t sum = s.sum;
    pass(&s, &sum, false, sizeof sum);
    free(s.chunk);
    return s.status;
}

static int cannot_write(bl_context *c, const char *why) {
    bl__detail(c, "checkpoint %.200s: cannot be written: %s", c->config.checkpoint, why);
    return BL_EFILE;
}

static int open_new(bl_context *c, bl__replace *r) {
    int why = bl__replace_plan(r, c->config.checkpoint);
    if (why == 0)
        why = bl__replace_open(r);
    return why ? cannot_write(c, strerror(why)) : BL_OK;
}

/* By trying. The file takes the place of what has its name, so that must be a file, or nothing. */
int bl__checkpoint_check(bl_context *c) {
    struct stat there;
    bl__replace r;
    if (stat(c->config.checkpoint, &there) == 0 && !S_ISREG(there.st_mode))
        return cannot_write(c, "not a regular file");
    int status = open_new(c, &r);
    if (status == BL_OK)
        bl__replace_drop(&r);
    return status;
}

int bl__checkpoint_write(bl_context *c, const bl__rest *rest) {
    bl__replace r;
    int status = open_new(c, &r);
    if (status != BL_OK)
        return status;
    status = write_file(c, rest, r.file);
    int why = errno;
    if (status != BL_OK)
        bl__replace_drop(&r);
    else if ((why = bl__replace_commit(&r, true)))
        status = BL_EFILE;
    return status == BL_EFILE ? cannot_write(c, strerror(why)) : status;
}

/* ---- reading ---- */

static int refuse(bl_context *c, const char *why) {
    if (!c->detail[0])
        bl__detail(c, "resume %.200s: %s", c->config.resume, why);
    return BL_EFILE;
}

static const char OTHER_PROBLEM[] =
    "a checkpoint of another problem (accepted: the one that it was written for, with the options that it had)";

static int check_head(bl_context *c, const bl__rest *is, const head *h) {
    if (h->first_problem != is->first_problem)
        return refuse(c, OTHER_PROBLEM);
    if (h->run != is->run)
        return BL_OK;
    if (h->words != is->words || h->record_bytes != is->record_bytes || h->result_bytes != is->result_bytes ||
        h->roots != is->roots || h->problem != is->problem || h->blocks != c->block_count)
        return refuse(c, OTHER_PROBLEM);
    return BL_OK;
}

static int check_file(bl_context *c, const bl__rest *is, FILE *file, head *h) {
    stream s = open_stream(c, file, CHECK);
    uint64_t sum = 0, expected;
    pass(&s, h, false, sizeof *h);
    if (s.status == BL_EFILE || (s.status == BL_OK && memcmp(h->magic, MAGIC, sizeof MAGIC) != 0))
        s.status = refuse(c, "is no checkpoint of this version");
    if (s.status == BL_OK)
        s.status = check_head(c, is, h);
    if (s.status == BL_OK && h->run == is->run) {
        bl__rest rest = *is;
        rest.entries = h->entries;
        rest.record_capacity = h->record_capacity;
        pass_contents(&s, &rest, NULL, NULL, NULL);
        expected = s.sum;
        pass(&s, &sum, false, sizeof sum);
        if (s.status == BL_EFILE || s.status == BL_EINVAL ||
            (s.status == BL_OK && (sum != expected || getc(file) != EOF)))
            s.status = refuse(c, "is damaged: cut off or changed");
    }
    free(s.chunk);
    return s.status;
}

int bl__resume_open(bl_context *c, const bl__rest *is, bl__resume *resume) {
    head h;
    memset(&h, 0, sizeof h);
    FILE *file = fopen(c->config.resume, "rb");
    if (!file)
        return refuse(c, strerror(errno));
    int status = check_file(c, is, file, &h);
    resume->rest = *is;
    resume->rest.run = c->resume_run = h.run;
    resume->rest.entries = h.entries;
    resume->rest.record_capacity = h.record_capacity;
    memset(&resume->rest.stats, 0, sizeof resume->rest.stats);
    resume->rest.stats.tasks = h.tasks;
    resume->rest.stats.seconds = h.seconds;
    resume->rest.stats.steals = h.steals;
    resume->rest.stats.steal_attempts = h.steal_attempts;
    resume->rest.stats.pauses = h.pauses;
    resume->rest.stats.launches = h.launches;
    if (status == BL_OK && h.run == is->run)
        resume->file = file;
    else
        fclose(file);
    return status;
}

int bl__resume_load(bl_context *c, bl__resume *resume, void *flat, void *records, void *results) {
    head h;
    stream s = open_stream(c, resume->file, READ);
    rewind(resume->file);
    pass(&s, &h, false, sizeof h);
    pass_contents(&s, &resume->rest, flat, records, results);
    free(s.chunk);
    return s.status == BL_EFILE ? refuse(c, "cannot be read") : s.status;
}

void bl__resume_close(bl__resume *resume) {
    if (resume->file)
        fclose(resume->file);
}
