/* The manual page, in the macros of man(7). */
#include "output.h"
#include "tool.h"

#include <string.h>

/* The day this file was compiled, or that of SOURCE_DATE_EPOCH: "2026-01-31". */
static const char *today(void) {
    static const char MONTHS[] = "JanFebMarAprMayJunJulAugSepOctNovDec", day[] = __DATE__; /* "Jan 31 2026" */
    static char text[24];
    unsigned month = 1;
    while (month < 12 && strncmp(MONTHS + 3 * (month - 1), day, 3) != 0)
        month++;
    snprintf(text, sizeof text, "%.4s-%02u-%c%c", day + 7, month, day[4] == ' ' ? '0' : day[4], day[5]);
    return text;
}

/* Text as it is: a backslash, a minus and a dot at the start of a line mean something else to roff. */
static void put(const char *text) {
    for (const char *at = text; *at; at++) {
        bool starts = at == text || at[-1] == '\n';
        if (starts && (*at == '.' || *at == '\''))
            fputs("\\&", stdout);
        if (*at == '\\')
            fputs("\\e", stdout);
        else if (*at == '-')
            fputs("\\-", stdout);
        else
            putchar(*at);
    }
}

static void section(const char *name) { printf(".SH %s\n", name); }

static void item(const char *name, const char *value, const char *text, const char *initial) {
    fputs(".TP\n\\fB", stdout);
    put(name);
    fputs("\\fR", stdout);
    if (value && value[0]) {
        fputs(" \\fI", stdout);
        put(value);
        fputs("\\fR", stdout);
    }
    putchar('\n');
    put(text);
    if (initial && initial[0]) {
        fputs(" (default ", stdout);
        put(initial);
        putchar(')');
    }
    putchar('\n');
}

static void rows(const app_option *row) {
    for (; row && row->name; row++)
        item(row->name, row->value, row->text, row->initial);
}

static void words(const command *c) {
    const char *name, *text = NULL;
    for (unsigned i = 0; c->words && (name = c->word_at(i, &text)); i++)
        item(name, NULL, text, NULL);
}

/* Options of words, under a heading each. */
static void options_of_words(const command *c) {
    const char *name, *text = NULL;
    for (unsigned i = 0; c->options_of && (name = c->word_at(i, &text)); i++) {
        printf(".SS ballast %s %s [options]\n", c->name, name);
        put(text);
        putchar('\n');
        rows(c->options_of(name));
    }
}

int print_manual(const tool *t) {
    printf(".TH BALLAST 1 %s \"ballast %s\" \"User Commands\"\n", today(), bl_version());
    section("NAME");
    printf("ballast \\- %s\n", t->text);
    section("SYNOPSIS");
    puts(".B ballast\n.I COMMAND\n[\\fIoptions\\fR]");
    section("DESCRIPTION");
    puts("Ballast balances irregular work: problems that split into tasks of unpredictable cost,\n"
         "which spawn more tasks as they run.\n"
         "The tool runs applications, verifies and measures queues, and writes reports.");
    section("OPTIONS");
    rows(t->options);
    section("COMMANDS");
    for (unsigned i = 0; t->commands[i]; i++) {
        const command *c = t->commands[i];
        printf(".SS ballast %s %s\n", c->name, c->usage);
        put(c->about);
        putchar('\n');
        words(c);
        rows(c->options);
        options_of_words(c);
    }
    section("EXIT STATUS");
    rows(t->statuses);
    section("ENVIRONMENT");
    rows(t->environment);
    section("NOTES");
    put("An option and its value may be one word, --device=cpu, or two, --device cpu.\n");
    return STATUS_OK;
}
