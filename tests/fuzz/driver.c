/* Runs a harness over the files of its corpus, and then over mutations of them: fuzz_NAME [--runs N] [--seconds S]
 * [--seed S] [--finding FILE] PATH...
 *
 * PATH is an input or a folder of inputs. The same seed makes the same mutations. An input that breaks something, takes
 * longer than PATIENCE or needs more memory than MEMORY is written to FILE (default: fuzz_NAME.finding), and the exit
 * status is 1. Mutation is not guided by coverage; libFuzzer, if available, searches deeper. */
#include "fuzz.h"

#include "platform/clock.h"

#include <ballast/parts/random.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

/* Seconds of CPU time, which do not depend on the load of the machine, and of wall time; bytes; kB. */
enum { PATIENCE = 20, WAITING = 300, SIZE_MOST = 1 << 16, MEMORY = 1 << 20 };

typedef struct input {
    uint8_t *data;
    size_t size;
} input;

static input *corpus;
static size_t corpus_count;
static input current; /* for the finding */
static char finding[256];

/* ---- findings ---- */

static void say(const char *text) {
    if (write(STDERR_FILENO, text, strlen(text)) < 0)
        _exit(1);
}

/* Called from signal handlers and by sanitizers. */
static void keep_finding(void) {
    int file = open(finding, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0 || write(file, current.data, current.size) != (ssize_t)current.size)
        say("cannot write the finding: ");
    else
        say("the input is kept: ");
    say(finding);
    say("\n");
    if (file >= 0)
        close(file);
}

static void on_signal(int number) {
    say(number == SIGALRM || number == SIGPROF ? "the input exceeded its time limit\n" : "a signal ended it\n");
    keep_finding();
    _exit(1);
}

/* Linked-in sanitizers detect faults themselves and report what they found. */
void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

static void catch_findings(void) {
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
    signal(SIGABRT, on_signal);
    signal(SIGALRM, on_signal);
    signal(SIGPROF, on_signal);
    if (__sanitizer_set_death_callback)
        __sanitizer_set_death_callback(keep_finding);
    else
        for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++)
            signal(faults[i], on_signal);
}

static void run(input one) {
    static const struct itimerval limit = {.it_value.tv_sec = PATIENCE};
    struct rusage usage;
    current = one;
    setitimer(ITIMER_PROF, &limit, NULL);
    alarm(WAITING);
    FUZZ_CHECK(LLVMFuzzerTestOneInput(one.data, one.size) == 0);
    if (getrusage(RUSAGE_SELF, &usage) == 0)
        FUZZ_CHECK(usage.ru_maxrss < MEMORY);
}

/* ---- the corpus ---- */

static int cannot(const char *path) {
    fprintf(stderr, "%s: cannot be read\n", path);
    return 1;
}

static int add_file(const char *path) {
    FILE *file = fopen(path, "rb");
    uint8_t *data = malloc(SIZE_MOST);
    input *more = realloc(corpus, (corpus_count + 1) * sizeof *more);
    FUZZ_CHECK(data && more);
    corpus = more;
    if (!file)
        return cannot(path);
    corpus[corpus_count++] = (input){data, fread(data, 1, SIZE_MOST, file)};
    fclose(file);
    return 0;
}

static int is_visible(const struct dirent *entry) { return entry->d_name[0] != '.'; }

/* Sorted by name, so that a seed means the same everywhere. */
static int add_folder(const char *path) {
    struct dirent **names;
    int count = scandir(path, &names, is_visible, alphasort), status = 0;
    if (count < 0)
        return cannot(path);
    for (int i = 0; i < count; i++) {
        char file[4096];
        snprintf(file, sizeof file, "%s/%s", path, names[i]->d_name);
        status = status ? status : add_file(file);
        free(names[i]);
    }
    free(names);
    return status;
}

static int add_path(const char *path) {
    struct stat there;
    if (stat(path, &there) != 0)
        return cannot(path);
    return S_ISDIR(there.st_mode) ? add_folder(path) : add_file(path);
}

/* ---- mutations ---- */

static uint64_t state;

static uint64_t draw(uint64_t below) { return bl__splitmix64(&state) % below; }

/* Replaces `gone` bytes at `at` by `count` others, as far as there is room. */
static void replace(input *to, size_t at, size_t gone, const uint8_t *bytes, size_t count) {
    count = count < SIZE_MOST - (to->size - gone) ? count : SIZE_MOST - (to->size - gone);
    uint8_t part[256];
    count = count < sizeof part ? count : sizeof part; /* may overlap: from the same input */
    if (count)
        memcpy(part, bytes, count);
    memmove(to->data + at + count, to->data + at + gone, to->size - at - gone);
    if (count)
        memcpy(to->data + at, part, count);
    to->size = to->size - gone + count;
}

static void put_word(input *to, size_t at) {
    static const char *const words[] = {"0",          "-1",
                                        "1",          "2147483647",
                                        "4294967295", "18446744073709551616",
                                        "1e308",      "1e-320",
                                        "nan",        "-inf",
                                        "0x1p9",      "1e999",
                                        "%n%s",       "999999999999999999.",
                                        "\n",         "\r\n",
                                        " ",          "\t",
                                        ",",          "\"",
                                        "'",          "#",
                                        "\\",         ": ",
                                        "=",          "-",
                                        "\n\n"};
    const char *word = words[draw(sizeof words / sizeof words[0])];
    replace(to, at, draw(2) ? 0 : draw(to->size - at < 8 ? to->size - at + 1 : 8), (const uint8_t *)word, strlen(word));
}

static void put_number(input *to, size_t at) {
    static const uint64_t numbers[] = {0,         1,          UINT8_MAX, INT16_MAX,  UINT16_MAX,
                                       INT32_MAX, UINT32_MAX, INT64_MAX, UINT64_MAX, UINT64_C(0x7ff0000000000000)};
    uint64_t number = numbers[draw(sizeof numbers / sizeof numbers[0])];
    size_t width = (size_t)1 << draw(4);
    width = width < to->size - at ? width : to->size - at;
    memcpy(to->data + at, &number, width);
}

static void put_part(input *to, size_t at) {
    const input *from = draw(2) ? to : &corpus[draw(corpus_count)];
    if (from->size == 0)
        return;
    size_t begin = draw(from->size), count = 1 + draw(from->size - begin);
    replace(to, at, draw(2) ? 0 : draw(to->size - at + 1), from->data + begin, count);
}

static void mutate(input *to) {
    size_t at = draw(to->size + 1);
    bool end = at == to->size;
    switch (draw(8)) {
    case 0:
        if (!end)
            to->data[at] ^= (uint8_t)(1u << draw(8));
        break;
    case 1:
        if (!end)
            to->data[at] = (uint8_t)draw(256);
        break;
    case 2:
        replace(to, at, draw(to->size - at + 1), NULL, 0);
        break;
    case 3:
        replace(to, at, draw(to->size - at < 4 ? to->size - at + 1 : 4), NULL, 0);
        break;
    case 4:
        put_number(to, at);
        break;
    case 5:
    case 6:
        put_word(to, at);
        break;
    default:
        put_part(to, at);
    }
}

static unsigned long fuzz(unsigned long runs, double seconds) {
    unsigned long done = 0;
    double end = bl__now() + seconds;
    input one = {malloc(SIZE_MOST), 0};
    FUZZ_CHECK(one.data != NULL);
    for (; done < runs || (seconds > 0 && bl__now() < end); done++) {
        const input *from = &corpus[draw(corpus_count)];
        one.size = from->size;
        memcpy(one.data, from->data, one.size);
        for (uint64_t left = 1 + draw(6); left > 0; left--)
            mutate(&one);
        run(one);
    }
    free(one.data);
    return done;
}

/* ---- the command line ---- */

int main(int argc, char **argv) {
    const char *slash = strrchr(argv[0], '/'), *name = slash ? slash + 1 : argv[0];
    unsigned long runs = 0;
    double seconds = 0;
    int status = 0;
    snprintf(finding, sizeof finding, "%s.finding", name);
    for (int i = 1; i < argc && status == 0; i++) {
        bool more = i + 1 < argc;
        if (more && strcmp(argv[i], "--runs") == 0)
            runs = strtoul(argv[++i], NULL, 10);
        else if (more && strcmp(argv[i], "--seconds") == 0)
            seconds = strtod(argv[++i], NULL);
        else if (more && strcmp(argv[i], "--seed") == 0)
            state = strtoull(argv[++i], NULL, 10);
        else if (more && strcmp(argv[i], "--finding") == 0)
            snprintf(finding, sizeof finding, "%s", argv[++i]);
        else
            status = add_path(argv[i]);
    }
    if (status == 0 && corpus_count == 0) {
        fprintf(stderr,
                "usage: %s [--runs N] [--seconds S] [--seed S] [--finding FILE] PATH...: inputs, and folders of them\n",
                name);
        status = 1;
    }
    if (status)
        return status;
    catch_findings();
    for (size_t i = 0; i < corpus_count; i++)
        run(corpus[i]);
    unsigned long mutations = fuzz(runs, seconds);
    alarm(0);
    setitimer(ITIMER_PROF, &(struct itimerval){.it_value.tv_sec = 0}, NULL);
    printf("%s: %zu inputs, %lu mutations\n", name, corpus_count, mutations);
    for (size_t i = 0; i < corpus_count; i++)
        free(corpus[i].data);
    free(corpus);
    return 0;
}
