/* The values that an option accepts, as the option tables name them: "FILE", "one|half". */
#include "tool.h"

#include <ctype.h>
#include <string.h>

/* Part i of a list, or NULL. Parts with capitals, like cuda:N, are not literal and are left out. */
static const char *part(const char *list, const char *separators, unsigned i) {
    static char word[64];
    for (const char *at = list; *at;) {
        at += strspn(at, separators);
        size_t length = strcspn(at, separators);
        bool literal = length > 0 && length < sizeof word;
        for (size_t k = 0; k < length; k++)
            literal = literal && !isupper((unsigned char)at[k]);
        if (literal && i-- == 0) {
            memcpy(word, at, length);
            word[length] = '\0';
            return word;
        }
        at += length;
    }
    return NULL;
}

static const char *scheduler_word(unsigned i) {
    const char *scheduler = NULL;
    if (i-- == 0)
        return "auto";
    for (uint32_t k = 0; (scheduler = bl_scheduler_name(k)) != NULL; k++)
        if (i-- == 0)
            return scheduler;
    return bl_alias_name(i, &scheduler);
}

static const char *queue_word(unsigned i) {
    static bl_queue_info info;
    return bl_queue_info_at(i, &info) ? info.name : NULL;
}

static const char *app_word(unsigned i) { return app_at(i) ? app_at(i)->name : NULL; }

static bool is(const char *a, const char *b) { return strcmp(a, b) == 0; }

value_kind value_kind_of(const app_option *row) {
    if (!row->value || !row->value[0])
        return VALUE_NONE;
    if (is(row->value, "FILE"))
        return VALUE_FILE;
    if (is(row->value, "DIR"))
        return VALUE_FOLDER;
    if (is(row->value, "QUEUE,..."))
        return VALUE_LIST;
    return value_word(row, 0) ? VALUE_WORDS : VALUE_FREE;
}

const char *value_word(const app_option *row, unsigned i) {
    if (is(row->name, "--device"))
        return part(DEVICES_ACCEPTED, ", ", i);
    if (is(row->value, "SCHEDULER"))
        return scheduler_word(i);
    if (is(row->value, "APP"))
        return app_word(i);
    if (is(row->value, "QUEUE,..."))
        return queue_word(i);
    return strchr(row->value, '|') ? part(row->value, "|", i) : NULL;
}
