/* Schedules as one line, and executions as a table with a column for each fiber.
 *
 * A line is a list of FIBER, FIBER*STEPS, or FIBER/BEHIND: a step that reads a store with BEHIND newer ones. */
#include "explorer_parts.h"

#include <stdlib.h>
#include <string.h>

/* ---- lines ---- */

void bl__line_print(const bl__decision *d, uint32_t count, char *text, size_t bytes) {
    size_t used = 0;
    text[0] = 0;
    for (uint32_t i = 0, run; i < count && used + 24 < bytes; i += run) {
        const char *space = i ? " " : "";
        for (run = 1; !d[i].behind && i + run < count && d[i + run].fiber == d[i].fiber && !d[i + run].behind;)
            run++;
        if (d[i].behind)
            used += (size_t)snprintf(text + used, bytes - used, "%s%u/%u", space, d[i].fiber, d[i].behind);
        else if (run > 1)
            used += (size_t)snprintf(text + used, bytes - used, "%s%u*%u", space, d[i].fiber, run);
        else
            used += (size_t)snprintf(text + used, bytes - used, "%s%u", space, d[i].fiber);
    }
}

/* A number and the text after it. */
static bool number(const char **at, uint32_t *n) {
    char *end;
    unsigned long value = strtoul(*at, &end, 10);
    if (end == *at || value > UINT16_MAX)
        return false;
    *n = (uint32_t)value;
    *at = end;
    return true;
}

uint32_t bl__line_parse(const char *text, bl__decision *d, uint32_t capacity) {
    uint32_t count = 0;
    for (text += strspn(text, " "); *text; text += strspn(text, " ")) {
        uint32_t fiber, run = 1, behind = 0;
        if (!number(&text, &fiber))
            return UINT32_MAX;
        bool repeats = *text == '*', old = *text == '/';
        text += repeats || old;
        if ((repeats && !number(&text, &run)) || (old && !number(&text, &behind)))
            return UINT32_MAX;
        for (; run && count < capacity; run--)
            d[count++] = (bl__decision){(uint16_t)fiber, (uint16_t)behind};
    }
    return count;
}

/* ---- tables ---- */

/* The name of a location, or a number in order of first use. */
void bl__location_text(const bl__explorer *x, const void *p, char *text, size_t bytes) {
    snprintf(text, bytes, "?");
    for (uint32_t i = 0; i < x->options.name_count; i++) {
        const bl_explore_name *n = &x->options.names[i];
        uintptr_t offset = (uintptr_t)p - (uintptr_t)n->at;
        if (offset >= n->bytes)
            continue;
        if (n->bytes <= 8)
            snprintf(text, bytes, "%s", n->text);
        else
            snprintf(text, bytes, "%s+%u", n->text, (unsigned)offset);
        return;
    }
    for (uint32_t i = 1; i <= x->location_count; i++)
        if (x->locations[i].p == p) {
            snprintf(text, bytes, "#%u", i);
            return;
        }
    for (uint32_t i = 0; i < BL__GRANULES; i++)
        if (x->granules[i].generation == x->generation && x->granules[i].key == (uintptr_t)p >> 3)
            snprintf(text, bytes, "data %u", x->granules[i].data[((uintptr_t)p >> 2) & 1]);
}

void bl__table_row(bl__explorer *x, bl__row row) {
    if (x->row_count < x->row_capacity)
        x->rows[x->row_count++] = row;
}

static void value_text(uint64_t v, char *text, size_t bytes) {
    snprintf(text, bytes, v < 100000 ? "%llu" : "0x%llx", (unsigned long long)v);
}

/* FILE:LINE operation order place: what it read, -> what it wrote. */
static void row_text(const bl__explorer *x, const bl__row *r, char *text, size_t bytes) {
    static const char *const orders[] = {"", " acquire", " release", " acq_rel", " seq_cst"};
    bl_site s = bl_site_get(r->site);
    char where[64], place[64] = "", read[32] = "", written[32] = "", old[32] = "";
    bl__site_text(r->site, where, sizeof where);
    if (r->p)
        bl__location_text(x, r->p, place, sizeof place);
    if (r->reads)
        value_text(r->read, read, sizeof read);
    if (r->writes)
        value_text(r->written, written, sizeof written);
    if (r->behind)
        snprintf(old, sizeof old, " (%u newer)", r->behind);
    snprintf(text, bytes, "%s %s%s%s%s%s%s%s%s%s%s", where, bl__op_text(s.op), r->failed ? " fails" : "",
             orders[r->order], r->p ? " " : "", place, r->reads ? " = " : "", read, old, r->writes ? " <- " : "",
             written);
}

static void cell(FILE *to, const char *text, int wide) { fprintf(to, "| %-*s ", wide, text); }

void bl__table_print(const bl__explorer *x, FILE *to) {
    char text[256];
    int wide[BL_EXPLORE_FIBERS];
    for (uint32_t i = 0; i < x->count; i++)
        wide[i] = 8;
    for (uint32_t i = 0; i < x->row_count; i++) {
        row_text(x, &x->rows[i], text, sizeof text);
        int length = (int)strlen(text), *column = &wide[x->rows[i].fiber];
        *column = length > *column ? length : *column;
    }
    fprintf(to, "     ");
    for (uint32_t i = 0; i < x->count; i++) {
        snprintf(text, sizeof text, x->lanes > 1 ? "thread %u.%u" : "thread %u", i / x->lanes, i % x->lanes);
        cell(to, text, wide[i]);
    }
    for (uint32_t i = 0; i < x->row_count; i++) {
        fprintf(to, "\n%4u ", i + 1);
        row_text(x, &x->rows[i], text, sizeof text);
        for (uint32_t k = 0; k <= x->rows[i].fiber; k++)
            cell(to, k == x->rows[i].fiber ? text : "", wide[k]);
    }
    fprintf(to, "\n");
    if (x->end == BL__FAILED)
        fprintf(to, "wrong: %s\n", x->result->failure);
}
