/* Checkpoints: what is left of a run, and the memory of its context, in a file; ballast.h tells what for,
 * checkpoint.h how it looks. */
#include "checkpoint.h"
#include "platform/replace.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHUNK = 1 << 22 };

typedef bl__checkpoint_head head;
static const char MAGIC[32] = "ballast " BL_VERSION " checkpoint 2\n";

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

/* Each word changes the sum one to one, so that no change of a single word goes unnoticed. */
void bl__checksum_add(bl__checksum *s, const void *from, size_t bytes) {
    const unsigned char *at = from;
    size_t have = s->bytes % sizeof s->word;
    uint64_t word;
    s->bytes += bytes;
    if (have) {
        size_t n = sizeof s->word - have < bytes ? sizeof s->word - have : bytes;
        memcpy(s->word + have, at, n);
        if (have + n < sizeof s->word)
            return;
        memcpy(&word, s->word, sizeof word);
        s->sum = mix(s->sum, word);
        at += n;
        bytes -= n;
    }
    for (; bytes >= sizeof word; at += sizeof word, bytes -= sizeof word) {
        memcpy(&word, at, sizeof word);
        s->sum = mix(s->sum, word);
    }
    memcpy(s->word, at, bytes);
}

uint64_t bl__checksum_end(const bl__checksum *s) {
    uint64_t word = 0;
    memcpy(&word, s->word, s->bytes % sizeof word);
    return mix(mix(s->sum, word), s->bytes);
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
    sum = mix_bytes(sum, c->config.checkpoint_tag, strlen(c->config.checkpoint_tag));
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

/* ---- the file, piece by piece, to and from memory of the device or the host ---- */

typedef enum direction { WRITE, READ } direction;
typedef struct stream {
    bl_context *c;
    FILE *file;
    direction direction;
    unsigned char *chunk;
    bl__checksum sum; /* of what is written */
    bool adds_up;     /* memories of several devices: the first one gets what is read, and the others have theirs */
    int status;       /* BL_EFILE: errno says why, 0: it ends too early */
} stream;

static void pass_chunk(stream *s, void *memory, bool on_device, size_t bytes) {
    void *place = on_device ? s->chunk : memory;
    if (s->direction == WRITE && on_device)
        s->status = bl__copy_out(s->c, place, memory, bytes);
    errno = 0;
    if (s->status == BL_OK &&
        (s->direction == WRITE ? fwrite(place, 1, bytes, s->file) : fread(place, 1, bytes, s->file)) != bytes)
        s->status = BL_EFILE;
    if (s->status == BL_OK && s->direction == WRITE)
        bl__checksum_add(&s->sum, place, bytes);
    if (s->status == BL_OK && s->direction == READ && on_device)
        s->status =
            s->adds_up ? s->c->ops->copy_in(s->c, memory, place, bytes) : bl__copy_in(s->c, memory, place, bytes);
}

static void pass(stream *s, void *memory, bool on_device, uint64_t bytes) {
    for (uint64_t done = 0; done < bytes && s->status == BL_OK; done += CHUNK) {
        size_t n = bytes - done < CHUNK ? (size_t)(bytes - done) : CHUNK;
        pass_chunk(s, (unsigned char *)memory + done, on_device, n);
    }
}

/* What the user sees of it: results of roots, and memory. */
static void pass_memory(stream *s, const bl__rest *rest, void *results, bool on_device) {
    pass(s, results, on_device, (uint64_t)rest->result_bytes * rest->roots);
    for (size_t i = 0; i < s->c->block_count; i++) {
        void *other = rest->memory ? rest->memory[i] : NULL;
        s->adds_up = s->c->blocks[i].combine != NULL;
        pass(s, other ? other : s->c->blocks[i].memory, !other, s->c->blocks[i].bytes);
    }
}

static uint64_t entry_bytes(const bl__rest *rest) { return 4u * (uint64_t)rest->words * rest->entries; }
static uint64_t record_bytes(const bl__rest *rest) { return (uint64_t)rest->record_bytes * rest->record_capacity; }

static stream open_stream(bl_context *c, FILE *file, direction direction) {
    stream s = {.c = c, .file = file, .direction = direction, .chunk = malloc(CHUNK)};
    if (!s.chunk)
        s.status = bl__no_memory(c, "a checkpoint");
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
    for (size_t i = 0; i < c->block_count; i++) {
        uint64_t bytes = c->blocks[i].bytes;
        pass(&s, &bytes, false, sizeof bytes);
    }
    pass(&s, (void *)rest->flat, !rest->here, entry_bytes(rest));
    pass(&s, (void *)rest->records, !rest->here, record_bytes(rest));
    pass_memory(&s, rest, (void *)rest->results, !rest->here);
    uint64_t sum = bl__checksum_end(&s.sum);
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
static const char DAMAGED[] = "is damaged: cut off or changed";

/* Before anything in it is believed: all of it against its last eight bytes. */
static int check_sum(bl_context *c, FILE *file, uint64_t bytes, const head *h) {
    bl__checksum sum = {0};
    stream s = open_stream(c, file, READ);
    uint64_t expected = 0, left = bytes < sizeof expected ? 0 : bytes - sizeof expected;
    while (left && s.status == BL_OK) {
        size_t n = left < CHUNK ? (size_t)left : CHUNK;
        pass(&s, s.chunk, false, n);
        if (s.status == BL_OK)
            bl__checksum_add(&sum, s.chunk, n);
        left -= n;
    }
    pass(&s, &expected, false, sizeof expected);
    free(s.chunk);
    if (s.status != BL_OK && s.status != BL_EFILE)
        return s.status;
    if (memcmp(h->magic, MAGIC, sizeof MAGIC) != 0)
        return refuse(c, "is no checkpoint of this version");
    return s.status == BL_OK && expected == bl__checksum_end(&sum) ? BL_OK : refuse(c, DAMAGED);
}

/* Which run it is of. That of a later one is looked at again when that one begins. */
static int check_run(bl_context *c, const bl__rest *is, const head *h) {
    if (h->first_problem != is->first_problem)
        return refuse(c, OTHER_PROBLEM);
    if (h->run < is->run || (c->resume_run && h->run != c->resume_run))
        return refuse(c, "is of another run than the one to resume");
    if (h->run == is->run &&
        (h->words != is->words || h->record_bytes != is->record_bytes || h->result_bytes != is->result_bytes ||
         h->roots != is->roots || h->problem != is->problem || h->blocks != c->block_count))
        return refuse(c, OTHER_PROBLEM);
    return BL_OK;
}

/* As many records as a run makes: the queue of free ones relies on it. */
static bool records_possible(const head *h) {
    uint32_t n = h->record_capacity;
    return h->result_bytes ? n > 1 && n <= 1u << 30 && (n & (n - 1)) == 0 : n == 0;
}

/* Sizes: they say how long the file is. */
static int check_sizes(bl_context *c, const bl__rest *rest, const head *h, FILE *file, uint64_t bytes) {
    uint64_t needed =
        sizeof *h + entry_bytes(rest) + record_bytes(rest) + (uint64_t)rest->result_bytes * rest->roots + sizeof needed;
    for (size_t i = 0; i < c->block_count; i++) {
        uint64_t had = 0;
        needed += sizeof had + c->blocks[i].bytes;
        if (fread(&had, sizeof had, 1, file) == 1 && had != c->blocks[i].bytes) {
            bl__detail(c, "resume %.200s: memory block %zu had %llu bytes there and has %zu now", c->config.resume,
                       i + 1, (unsigned long long)had, c->blocks[i].bytes);
            return BL_EFILE;
        }
    }
    if (needed != bytes || !records_possible(h) || h->entries == 0 || h->unused || !(h->seconds >= 0) ||
        !isfinite(h->seconds))
        return refuse(c, "cannot be left of a run: its sizes are impossible");
    return BL_OK;
}

/* Entries and records stay in memory of the host: what was checked is what is used. */
static int read_rest(bl_context *c, bl__resume *resume) {
    const bl__rest *rest = &resume->rest;
    resume->flat = malloc(entry_bytes(rest));
    resume->records = malloc(record_bytes(rest) + 1);
    if (!resume->flat || !resume->records)
        return bl__no_memory(c, "the checkpoint");
    if (fread(resume->flat, 1, entry_bytes(rest), resume->file) != entry_bytes(rest) ||
        fread(resume->records, 1, record_bytes(rest), resume->file) != record_bytes(rest))
        return refuse(c, "cannot be read");
    return bl__rest_check(c, rest, resume->flat, resume->records);
}

/* A pipe would wait for somebody to write to it. */
static FILE *open_file(bl_context *c, uint64_t *bytes) {
    struct stat there;
    int file = open(c->config.resume, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    FILE *opened = NULL;
    if (file < 0 || fstat(file, &there) != 0)
        refuse(c, strerror(errno));
    else if (!S_ISREG(there.st_mode))
        refuse(c, "not a regular file");
    else if (!(opened = fdopen(file, "rb")))
        refuse(c, strerror(errno));
    if (file >= 0 && !opened)
        close(file);
    *bytes = opened ? (uint64_t)there.st_size : 0;
    return opened;
}

/* The head into resume->rest. */
static int read_head(bl_context *c, const bl__rest *is, bl__resume *resume, uint64_t bytes) {
    head h;
    memset(&h, 0, sizeof h);
    size_t got = fread(&h, 1, sizeof h, resume->file);
    rewind(resume->file);
    int status = check_sum(c, resume->file, bytes, &h);
    if (status == BL_OK && got < sizeof h)
        status = refuse(c, DAMAGED);
    if (status == BL_OK)
        status = check_run(c, is, &h);
    if (status != BL_OK)
        return status;
    c->resume_run = h.run;
    resume->rest = *is;
    resume->rest.run = h.run;
    resume->rest.entries = h.entries;
    resume->rest.record_capacity = h.record_capacity;
    resume->rest.stats = (bl_stats){.tasks = h.tasks,
                                    .seconds = h.seconds,
                                    .steals = h.steals,
                                    .steal_attempts = h.steal_attempts,
                                    .pauses = h.pauses,
                                    .launches = h.launches};
    if (h.run != is->run)
        return BL_OK;
    fseek(resume->file, sizeof h, SEEK_SET);
    status = check_sizes(c, &resume->rest, &h, resume->file, bytes);
    return status == BL_OK ? read_rest(c, resume) : status;
}

int bl__resume_open(bl_context *c, const bl__rest *is, bl__resume *resume) {
    uint64_t bytes;
    resume->file = open_file(c, &bytes);
    if (!resume->file)
        return BL_EFILE;
    int status = read_head(c, is, resume, bytes);
    if (status != BL_OK || resume->rest.run != is->run)
        bl__resume_close(resume);
    return status;
}

int bl__resume_load(bl_context *c, bl__resume *resume, void *flat, void *records, void *results, bool on_device) {
    stream s = open_stream(c, resume->file, READ);
    if (s.status == BL_OK)
        s.status = bl__copy_in(c, flat, resume->flat, entry_bytes(&resume->rest));
    if (s.status == BL_OK)
        s.status = bl__copy_in(c, records, resume->records, record_bytes(&resume->rest));
    pass_memory(&s, &resume->rest, results, on_device);
    free(s.chunk);
    return s.status == BL_EFILE ? refuse(c, "cannot be read") : s.status;
}

void bl__resume_close(bl__resume *resume) {
    if (resume->file)
        fclose(resume->file);
    free(resume->flat);
    free(resume->records);
    memset(resume, 0, sizeof *resume);
}
