#include "options.h"

#include "../apps/common/parse.h"
#include "output.h"

#include <assert.h>
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- the table ---- */

static bool is_flag(const app_option *row) { return row->value == NULL || row->value[0] == '\0'; }

static const char *initial(const app_option *row) { return row->initial ? row->initial : ""; }

void options_add(options *set, const app_option *rows) {
    for (; rows && rows->name; rows++) {
        assert(set->count < OPTIONS_MAX);
        set->row[set->count] = rows;
        set->typed[set->count] = NULL;
        set->count++;
    }
}

bool options_is(const char *word) { return word[0] == '-' && word[1] != '\0'; }

/* The number of the row whose name is `word` up to its '=', or -1. */
static int find(const options *set, const char *word) {
    size_t length = strcspn(word, "=");
    for (unsigned i = 0; i < set->count; i++)
        if (strlen(set->row[i]->name) == length && memcmp(set->row[i]->name, word, length) == 0)
            return (int)i;
    return -1;
}

int options_parse(options *set, int argc, char **argv, const char *accepted, const char **word) {
    *word = NULL;
    for (int at = 0; at < argc;) {
        if (options_is(argv[at])) {
            int status = options_take(set, argv, &at);
            if (status)
                return status;
            continue;
        }
        if (*word)
            return wrong_use("%.64s: unexpected after %.64s (accepted: %s)", argv[at], *word, accepted);
        *word = argv[at++];
    }
    return 0;
}

bool options_given(const options *set, const char *name) {
    int i = find(set, name);
    return i >= 0 && set->typed[i];
}

const char *options_text(const options *set, const char *name) {
    int i = find(set, name);
    assert(i >= 0);
    return set->typed[i] ? set->typed[i] : initial(set->row[i]);
}

void options_values(const options *set, const app_option *rows, const char **values) {
    for (unsigned i = 0; rows && rows[i].name; i++)
        values[i] = options_text(set, rows[i].name);
}

/* ---- unknown options ---- */

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

/* Edit distance: insertions, deletions and replacements that turn the first `n` letters of `a` into `b`. */
static size_t distance(const char *a, size_t n, const char *b) {
    enum { LONGEST = 64 };
    size_t row[LONGEST + 1], m = strlen(b);
    if (n > LONGEST || m > LONGEST)
        return SIZE_MAX;
    for (size_t j = 0; j <= m; j++)
        row[j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            size_t above = row[j];
            row[j] = least(least(above, row[j - 1]) + 1, diagonal + (a[i - 1] != b[j - 1]));
            diagonal = above;
        }
    }
    return row[m];
}

/* The row whose name is nearest to `word`, or NULL if none is a plausible match. */
static const app_option *nearest(const options *set, const char *word) {
    size_t length = strcspn(word, "="), letters = length - strspn(word, "-");
    size_t best = letters / 2 + 1; /* up to half of the letters wrong counts as a typo */
    const app_option *row = NULL;
    for (unsigned i = 0; i < set->count; i++) {
        size_t apart = distance(word, length, set->row[i]->name);
        if (apart < best) {
            best = apart;
            row = set->row[i];
        }
    }
    return row;
}

static int unknown_option(const options *set, const char *word) {
    name_list accepted = {0};
    for (unsigned i = 0; i < set->count; i++)
        name_list_add(&accepted, set->row[i]->name);
    const app_option *near = nearest(set, word);
    int length = (int)least(strcspn(word, "="), 64);
    return wrong_use("%.*s: unknown option of %s%s%s (accepted: %s)", length, word, set->command,
                     near ? ", nearest is " : "", near ? near->name : "", accepted.text);
}

/* ---- parsing ---- */

/* Negative numbers are values; another option in place of a value means that the value is missing. */
static bool can_be_value(const options *set, const char *word) {
    return word && word[0] != '\0' && strncmp(word, "--", 2) != 0 && find(set, word) < 0;
}

int options_take(options *set, char **argv, int *at) {
    const char *word = argv[*at], *equals = strchr(word, '=');
    int i = find(set, word);
    if (i < 0)
        return unknown_option(set, word);
    const app_option *row = set->row[i];
    if (set->typed[i])
        return wrong_use("%s: given twice (accepted: once)", row->name);
    ++*at;
    if (is_flag(row)) {
        set->typed[i] = "1";
        return equals ? wrong_use("%s: takes no value (accepted: %s alone)", word, row->name) : 0;
    }
    if (equals ? equals[1] == '\0' : !can_be_value(set, argv[*at]))
        return wrong_use("%s: value missing (accepted: %s %s: %s)", row->name, row->name, row->value, row->text);
    set->typed[i] = equals ? equals + 1 : argv[*at];
    *at += equals == NULL;
    return 0;
}

static int help_width(const app_option *row) {
    return (int)(strlen(row->name) + (is_flag(row) ? 0 : 1 + strlen(row->value)));
}

void options_help(const app_option *rows) {
    int width = 0;
    for (const app_option *row = rows; row && row->name; row++)
        width = help_width(row) > width ? help_width(row) : width;
    for (const app_option *row = rows; row && row->name; row++) {
        int pad = width - help_width(row);
        printf("  %s%s%s%*s  %s", row->name, is_flag(row) ? "" : " ", is_flag(row) ? "" : row->value, pad, "",
               row->text);
        if (initial(row)[0])
            printf(" (default %s)", initial(row));
        putchar('\n');
    }
}

/* ---- checked values ---- */

int option_whole(const options *set, const char *name, uint64_t from, uint64_t to, uint64_t *value) {
    const char *text = options_text(set, name);
    if (text[0] == '\0')
        return 0;
    uint64_t number = 0;
    bool parsed = parse_size(text, &number);
    if (parsed && number >= from && number <= to) {
        *value = number;
        return 0;
    }
    bool digits = strspn(text, "0123456789") == strlen(text); /* then only its size can be wrong */
    return wrong_use("%s %.64s: %s (accepted: %" PRIu64 " to %" PRIu64 "; k, M, G allowed)", name, text,
                     parsed || digits ? "out of range" : "not a whole number", from, to);
}

int option_seconds(const options *set, const char *name, double *value) {
    const char *text = options_text(set, name);
    if (text[0] == '\0')
        return 0;
    double number = 0;
    if (parse_double(text, &number) && number > 0 && number <= 1e9) {
        *value = number;
        return 0;
    }
    return wrong_use("%s %.64s: not a time (accepted: seconds above 0, up to 1e9)", name, text);
}

int option_choice(const options *set, const char *name, const char *const *choices, int *index) {
    const char *text = options_text(set, name);
    if (text[0] == '\0')
        return 0;
    name_list accepted = {0};
    for (int i = 0; choices[i]; i++) {
        name_list_add(&accepted, choices[i]);
        if (strcmp(text, choices[i]) == 0) {
            *index = i;
            return 0;
        }
    }
    return wrong_use("%s %.64s: unknown (accepted: %s)", name, text, accepted.text);
}

/* ---- names of devices and apps ---- */

int option_device(const options *set, const char **device) {
    const char *text = options_text(set, "--device");
    if (text[0] == '\0')
        return 0;
    uint32_t traits = bl_device_traits(text); /* whether it is here is seen when it is opened */
    if (!traits || traits & BL_DEVICE_SEVERAL)
        return wrong_use("--device %.64s: unknown device (accepted: " DEVICES_ACCEPTED ")", text);
    *device = text;
    return 0;
}

const char *device_target(const char *device) {
    static char target[sizeof((bl_device_info *)NULL)->id];
    bl_device_info info;
    if (strcmp(device, "auto") == 0 && bl_device_find(device, &info))
        device = info.id;
    snprintf(target, sizeof target, "%.*s", (int)strcspn(device, ":"), device);
    return target;
}

int device_number(const char *device) {
    const char *colon = strchr(device, ':');
    return colon ? atoi(colon + 1) : 0;
}

const app *known_app(const char *where, const char *name) {
    const app *found = name ? app_find(name) : NULL;
    if (found)
        return found;
    name_list accepted = {0};
    for (unsigned i = 0; app_at(i); i++)
        name_list_add(&accepted, app_at(i)->name);
    if (name)
        wrong_use("%s%.64s: unknown app (accepted: %s)", where, name, accepted.text);
    else
        wrong_use("%sAPP missing (accepted: %s)", where, accepted.text);
    return NULL;
}

/* ---- names of schedulers ---- */

static size_t policy_length(const char *scheduler) { return strcspn(scheduler, ":"); }

static bool same_policy(const char *a, const char *b) {
    return policy_length(a) == policy_length(b) && memcmp(a, b, policy_length(a)) == 0;
}

static bool is_policy(const char *name) {
    for (uint32_t i = 0; bl_scheduler_name(i); i++)
        if (same_policy(bl_scheduler_name(i), name))
            return true;
    return false;
}

const char *queue_kind(int kind) {
    static const char *const KINDS[] = {"fifo", "deque", "waiting", "ceiling", "range"};
    return KINDS[kind];
}

static bool is_queue(const char *name) {
    bl_queue_info info;
    for (uint32_t i = 0; bl_queue_info_at(i, &info); i++)
        if (strcmp(info.name, name) == 0)
            return true;
    return false;
}

/* Every scheduler has traits, whichever of its names is given. */
static bool is_scheduler(const char *name) { return bl_scheduler_traits(name) != 0; }

static void list_schedulers(name_list *list) {
    name_list_add(list, "auto");
    for (uint32_t i = 0; bl_scheduler_name(i); i++)
        name_list_add(list, bl_scheduler_name(i));
    const char *scheduler, *alias;
    for (uint32_t i = 0; (alias = bl_alias_name(i, &scheduler)) != NULL; i++)
        name_list_add(list, alias);
}

static void list_policies(name_list *list) {
    for (uint32_t i = 0; bl_scheduler_name(i); i++) {
        const char *name = bl_scheduler_name(i);
        uint32_t first = 0;
        while (!same_policy(bl_scheduler_name(first), name))
            first++;
        char policy[32];
        snprintf(policy, sizeof policy, "%.*s", (int)policy_length(name), name);
        if (first == i)
            name_list_add(list, policy);
    }
}

static void list_same_policy(name_list *list, const char *name) {
    for (uint32_t i = 0; bl_scheduler_name(i); i++)
        if (same_policy(bl_scheduler_name(i), name))
            name_list_add(list, bl_scheduler_name(i));
}

int unknown_scheduler(const char *name) {
    name_list accepted = {0};
    const char *colon = strchr(name, ':');
    const char *queue = colon ? colon + 1 : "";
    int length = (int)(policy_length(name) < 64 ? policy_length(name) : 64);
    if (!is_policy(name)) {
        if (colon)
            list_policies(&accepted);
        else
            list_schedulers(&accepted);
        return wrong_use("--scheduler %.64s: unknown %s %.*s (accepted: %s)", name, colon ? "policy" : "scheduler",
                         length, name, accepted.text);
    }
    list_same_policy(&accepted, name);
    if (!colon)
        return wrong_use("--scheduler %.64s: this policy needs a queue (accepted: %s)", name, accepted.text);
    if (is_queue(queue))
        return wrong_use("--scheduler %.64s: policy %.*s does not support queue %.64s (accepted: %s)", name, length,
                         name, queue, accepted.text);
    return wrong_use("--scheduler %.64s: unknown queue %.64s (accepted: %s)", name, queue, accepted.text);
}

int option_scheduler(const options *set, const char **scheduler) {
    *scheduler = options_text(set, "--scheduler");
    return is_scheduler(*scheduler) ? 0 : unknown_scheduler(*scheduler);
}
