/* What all parts of the page share: text and numbers for people. */
#include "report.h"

#include <math.h>
#include <string.h>

void report_text(FILE *page, const char *text) {
    for (const char *c = text; *c; c++)
        switch (*c) {
        case '<':
            fputs("&lt;", page);
            break;
        case '>':
            fputs("&gt;", page);
            break;
        case '&':
            fputs("&amp;", page);
            break;
        case '"':
            fputs("&quot;", page);
            break;
        default:
            fputc((unsigned char)*c < 0x20 ? ' ' : *c, page);
        }
}

void report_anchor(FILE *page, const report_experiment *e, const report_figure *f) {
    fprintf(page, "%s-%s", e->rows.suite->name, f->figure->name);
}

const char *report_agreement(bench_agreement agreement) {
    static const char *const names[] = {"not applicable here", "holds", "holds in part", "does not hold"};
    return names[agreement];
}

const char *report_class(bench_agreement agreement) {
    static const char *const names[] = {"unknown", "yes", "partly", "no"};
    return names[agreement];
}

report_word report_say(const bench_figure *figure, const char *word) {
    report_word said;
    for (unsigned i = 0; figure->says && figure->says[i][0]; i++) {
        const char *from = figure->says[i][0];
        size_t length = strcspn(from, "*");
        if (strncmp(from, word, length) != 0 || (from[length] == '\0' && word[length] != '\0'))
            continue;
        snprintf(said.text, sizeof said.text, "%s%s", figure->says[i][1], word + length);
        return said;
    }
    snprintf(said.text, sizeof said.text, "%s", word);
    return said;
}

void report_panel_name(FILE *page, const bench_panel *panel) {
    for (const char *at = panel->name; *at;) {
        char word[128];
        const char *comma = strstr(at, ", ");
        snprintf(word, sizeof word, "%.*s", comma ? (int)(comma - at) : (int)strlen(at), at);
        report_text(page, report_say(panel->figure, word).text);
        at = comma ? comma + 2 : at + strlen(at);
        fputs(*at ? ", " : "", page);
    }
}

const char *report_series(const bench_figure *figure) { return figure->series_text ? figure->series_text : "method"; }

const char *report_unit(const bench_figure *figure) {
    static const char *const units[][2] = {{"milliseconds", "ms"}, {"microseconds", "µs"}, {"seconds", "s"}};
    for (unsigned i = 0; i < sizeof units / sizeof units[0]; i++)
        if (strcmp(figure->y_text, units[i][0]) == 0)
            return units[i][1];
    return figure->y_text;
}

report_word report_label(const bench_panel *panel, const bench_mark *mark) {
    report_word label;
    if (panel->words)
        return report_say(panel->figure, mark->label);
    if (mark->x == floor(mark->x))
        snprintf(label.text, sizeof label.text, "%s", report_number(mark->x).text);
    else
        snprintf(label.text, sizeof label.text, "%.3g", mark->x);
    return label;
}

/* A comma before every three digits from the end: long numbers without it are counted, not read. */
static bench_number grouped(double value) {
    bench_number plain, number;
    snprintf(plain.text, sizeof plain.text, "%.0f", fabs(value));
    size_t at = 0, digits = strlen(plain.text);
    if (value < 0)
        number.text[at++] = '-';
    for (size_t i = 0; i < digits && at + 2 < sizeof number.text; i++) {
        if (i > 0 && (digits - i) % 3 == 0)
            number.text[at++] = ',';
        number.text[at++] = plain.text[i];
    }
    number.text[at] = '\0';
    return number;
}

bench_number report_number(double value) {
    bench_number number;
    if (fabs(value) >= 1e4 && fabs(value) < 1e15)
        return grouped(value);
    if (value != floor(value) || fabs(value) >= 1e15)
        return bench_digits(value);
    snprintf(number.text, sizeof number.text, "%.0f", value);
    return number;
}
