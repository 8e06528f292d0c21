#include "points.h"

#include "../common/parse.h"
#include "../common/source.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- generators ----
 *
 * Random number `draw` of particle `id` depends only on (seed, id, draw): a 64-bit mixer over a counter, as in
 * SplitMix64 (Steele, Lea, Flood 2014; mixer "variant 13" by Stafford). Shapes use square roots rather than sines,
 * because every C library rounds square roots the same way. */

typedef struct draws {
    uint64_t state;
} draws;

static uint64_t mix(uint64_t bits) {
    bits = (bits ^ bits >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    bits = (bits ^ bits >> 27) * UINT64_C(0x94d049bb133111eb);
    return bits ^ bits >> 31;
}

static const uint64_t golden = UINT64_C(0x9e3779b97f4a7c15);

static draws draws_of(uint64_t seed, uint32_t id) { return (draws){mix(mix(seed + golden) + golden * (id + 1u))}; }

static uint64_t draw(draws *d) { return mix(d->state += golden); }
static float draw_float(draws *d) { return (float)(draw(d) >> 40) * 0x1p-24f; }   /* [0, 1) */
static double draw_double(draws *d) { return (double)(draw(d) >> 11) * 0x1p-53; } /* [0, 1) */

/* A point of the unit disc except its centre, uniform in area; returns its squared distance from the centre. */
static double draw_disc(draws *d, double *a, double *b) {
    double square;
    do {
        *a = 2 * draw_double(d) - 1;
        *b = 2 * draw_double(d) - 1;
        square = *a * *a + *b * *b;
    } while (square >= 1 || square == 0);
    return square;
}

/* A direction in space (Marsaglia 1972). */
static void draw_direction(draws *d, double direction[3]) {
    double a, b, square = draw_disc(d, &a, &b), side = 2 * sqrt(1 - square);
    direction[0] = a * side;
    direction[1] = b * side;
    direction[2] = 1 - 2 * square;
}

/* Converts to [0, 1): rounding to float may turn a double below 1 into 1. */
static float unit_float(double value) {
    float rounded = (float)value;
    return rounded < 0 ? 0 : rounded < 1 ? rounded : 0x1.fffffep-1f;
}

static void make_uniform(draws *d, octree_particle *p) {
    p->x = draw_float(d);
    p->y = draw_float(d);
    p->z = draw_float(d);
}

static void make_tube(draws *d, octree_particle *p) {
    const double inner = 0.08, outer = 0.1;
    double a, b, square = draw_disc(d, &a, &b);
    double radius = sqrt(inner * inner + draw_double(d) * (outer * outer - inner * inner));
    double scale = radius / sqrt(square);
    p->x = unit_float(0.5 + a * scale);
    p->y = unit_float(0.5 + b * scale);
    p->z = draw_float(d);
}

static void make_sphere(draws *d, octree_particle *p) {
    double direction[3];
    draw_direction(d, direction);
    p->x = unit_float(0.5 + 0.5 * direction[0]);
    p->y = unit_float(0.5 + 0.5 * direction[1]);
    p->z = unit_float(0.5 + 0.5 * direction[2]);
}

static bool in_cube(const double at[3]) {
    for (int axis = 0; axis < 3; axis++)
        if (!(at[axis] >= 0 && at[axis] < 1)) /* also false for NaN */
            return false;
    return true;
}

/* The mass within radius r is r^3 / (r^2 + scale^2)^(3/2), solved for r. About one draw in fourteen is rejected. */
static void make_plummer(draws *d, octree_particle *p) {
    const double scale = 0.1;
    double at[3];
    do {
        double root = cbrt(draw_double(d));
        double radius = scale * root / sqrt(1 - root * root);
        draw_direction(d, at);
        for (int axis = 0; axis < 3; axis++)
            at[axis] = 0.5 + radius * at[axis];
    } while (!in_cube(at));
    p->x = unit_float(at[0]);
    p->y = unit_float(at[1]);
    p->z = unit_float(at[2]);
}

static const struct {
    const char *name;
    void (*make)(draws *d, octree_particle *p);
} kinds[] = {
    [POINTS_UNIFORM] = {"uniform", make_uniform},
    [POINTS_TUBE] = {"tube", make_tube},
    [POINTS_SPHERE] = {"sphere", make_sphere},
    [POINTS_PLUMMER] = {"plummer", make_plummer},
};

bool points_kind_find(const char *name, points_kind *kind) {
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcmp(name, kinds[i].name) == 0) {
            *kind = (points_kind)i;
            return true;
        }
    return false;
}

/* Allocates memory for zero particles too, so that NULL always means out of memory. */
static bool points_alloc(points *p, uint32_t count) {
    p->count = count;
    p->at = calloc(count ? count : 1, sizeof *p->at);
    return p->at != NULL;
}

bool points_make(points *made, points_kind kind, uint32_t count, uint64_t seed) {
    if (!points_alloc(made, count))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        draws d = draws_of(seed, i);
        kinds[kind].make(&d, &made->at[i]);
        made->at[i].id = i;
    }
    return true;
}

void points_free(points *p) {
    free(p->at);
    *p = (points){0};
}

/* ---- points as they are read ---- */

/* Doubles: for points far from the origin a float is precise enough only after the normalisation. */
typedef struct cloud {
    double (*at)[3];
    size_t count, room;
} cloud;

static bool cloud_grow(source *s, cloud *c) {
    size_t room = c->room ? c->room * 2 : 1024;
    double(*at)[3] = room <= SIZE_MAX / sizeof *at ? realloc(c->at, sizeof *at * room) : NULL;
    if (!at)
        return source_fail(s, "out of memory after %zu particles", c->count);
    c->at = at;
    c->room = room;
    return true;
}

static bool cloud_add(source *s, cloud *c, const double at[3]) {
    for (int axis = 0; axis < 3; axis++)
        if (!isfinite(at[axis]))
            return source_fail(s, "particle %zu (counted from 0): %c is NaN or infinite; coordinates must be finite",
                               c->count, "xyz"[axis]);
    if (c->count == POINTS_MAX)
        return source_fail(s, "more than the %" PRIu32 " particles that are accepted", POINTS_MAX);
    if (c->count == c->room && !cloud_grow(s, c))
        return false;
    memcpy(c->at[c->count++], at, sizeof c->at[0]);
    return true;
}

/* ---- .f32le ---- */

static uint64_t little_endian(const unsigned char *bytes, uint32_t count) {
    uint64_t value = 0;
    for (uint32_t i = 0; i < count; i++)
        value |= (uint64_t)bytes[i] << 8 * i;
    return value;
}

static uint64_t big_endian(const unsigned char *bytes, uint32_t count) {
    uint64_t value = 0;
    for (uint32_t i = 0; i < count; i++)
        value = value << 8 | bytes[i];
    return value;
}

static float float_of_bits(uint64_t bits) {
    uint32_t low = (uint32_t)bits;
    float value;
    memcpy(&value, &low, sizeof value);
    return value;
}

static double double_of_bits(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static bool read_f32le(source *s, cloud *c) {
    unsigned char bytes[12];
    size_t got;
    while ((got = source_bytes(s, bytes, sizeof bytes)) == sizeof bytes) {
        double at[3];
        for (int axis = 0; axis < 3; axis++)
            at[axis] = (double)float_of_bits(little_endian(bytes + 4 * axis, 4));
        if (!cloud_add(s, c, at))
            return false;
    }
    if (got > 0)
        return source_fail(
            s, "is truncated: %zu bytes after particle %zu; the size must be a multiple of 12 bytes (three floats)",
            got, c->count);
    return !s->failed;
}

/* ---- .xyz ---- */

static bool read_xyz_line(source *s, cloud *c) {
    char word[SOURCE_WORD];
    double at[3];
    text_skip_blanks(s);
    if (text_at_line_end(s) || text_peek(s) == '#')
        return text_skip_line(s);
    for (int axis = 0; axis < 3; axis++) {
        if (!text_word(s, word))
            return false;
        if (word[0] == '\0')
            return source_fail(s, "line %" PRIu64 ": %d of the three numbers \"x y z\"", s->line, axis);
        if (!text_number(s, word, &at[axis]))
            return false;
    }
    return cloud_add(s, c, at) && text_skip_line(s);
}

static bool read_xyz(source *s, cloud *c) {
    while (source_more(s))
        if (!read_xyz_line(s, c))
            return false;
    return !s->failed;
}

/* ---- .ply (Turk 1994) ----
 *
 * A text header lists elements, each with a number of items and typed properties; the items follow in that order.
 * Elements before the vertices are skipped, those after them are not read. */

typedef enum ply_format { PLY_NONE, PLY_ASCII, PLY_LITTLE, PLY_BIG } ply_format;
typedef enum ply_type { PLY_I8, PLY_U8, PLY_I16, PLY_U16, PLY_I32, PLY_U32, PLY_F32, PLY_F64, PLY_TYPES } ply_type;

static const struct {
    const char *name, *other_name;
    uint32_t bytes;
} ply_types[PLY_TYPES] = {
    [PLY_I8] = {"char", "int8", 1},      [PLY_U8] = {"uchar", "uint8", 1},     [PLY_I16] = {"short", "int16", 2},
    [PLY_U16] = {"ushort", "uint16", 2}, [PLY_I32] = {"int", "int32", 4},      [PLY_U32] = {"uint", "uint32", 4},
    [PLY_F32] = {"float", "float32", 4}, [PLY_F64] = {"double", "float64", 8},
};

typedef struct ply_property {
    ply_type type;
    ply_type length; /* of a list: the type of its length; otherwise PLY_TYPES */
    int axis;        /* 0, 1, 2 for x, y, z of a vertex, otherwise -1 */
} ply_property;

#define PLY_ELEMENTS 8 /* up to and including the vertices */
#define PLY_PROPERTIES 256

typedef struct ply_element {
    char name[SOURCE_WORD];
    uint64_t items;
    uint32_t properties;
    ply_property property[PLY_PROPERTIES];
} ply_element;

typedef struct ply {
    ply_format format;
    bool complete; /* another element follows the vertices: the rest is ignored */
    uint32_t elements;
    ply_element element[PLY_ELEMENTS];
} ply;

/* A header line split into words; surplus words, as in comments, are ignored. */
#define PLY_WORDS 5
typedef struct ply_line {
    uint64_t number;
    uint32_t words;
    char word[PLY_WORDS][SOURCE_WORD];
} ply_line;

static bool word_is(const ply_line *line, uint32_t i, const char *text) {
    return i < line->words && strcmp(line->word[i], text) == 0;
}

static bool ply_read_line(source *s, ply_line *line) {
    line->words = 0;
    line->number = s->line;
    if (!source_more(s))
        return source_fail(s, "is truncated: it ends within the PLY header");
    while (line->words < PLY_WORDS) {
        if (!text_word(s, line->word[line->words]))
            return false;
        if (line->word[line->words][0] == '\0')
            break;
        line->words++;
        if (word_is(line, 0, "comment") || word_is(line, 0, "obj_info"))
            break;
    }
    return text_skip_line(s);
}

static bool fail_header(source *s, const ply_line *line, const char *wanted) {
    return source_fail(s, "line %" PRIu64 " of the PLY header: expected %s", line->number, wanted);
}

static bool ply_take_format(source *s, ply *p, const ply_line *line) {
    p->format = word_is(line, 1, "ascii")                  ? PLY_ASCII
                : word_is(line, 1, "binary_little_endian") ? PLY_LITTLE
                : word_is(line, 1, "binary_big_endian")    ? PLY_BIG
                                                           : PLY_NONE;
    if (p->format == PLY_NONE || !word_is(line, 2, "1.0"))
        return fail_header(s, line, "\"format ascii|binary_little_endian|binary_big_endian 1.0\"");
    return true;
}

static bool ply_has_vertices(const ply *p) {
    return p->elements > 0 && strcmp(p->element[p->elements - 1].name, "vertex") == 0;
}

static bool ply_take_element(source *s, ply *p, const ply_line *line) {
    uint64_t items;
    if (line->words != 3 || !parse_u64(line->word[2], &items))
        return fail_header(s, line, "\"element NAME COUNT\"");
    p->complete = p->complete || ply_has_vertices(p);
    if (p->complete)
        return true;
    if (p->elements == PLY_ELEMENTS)
        return fail_header(s, line, "the vertices among the first eight elements");
    ply_element *e = &p->element[p->elements++];
    memcpy(e->name, line->word[1], sizeof e->name);
    e->items = items;
    e->properties = 0;
    if (ply_has_vertices(p) && items > POINTS_MAX)
        return source_fail(s, "claims %" PRIu64 " vertices; at most %" PRIu32 " particles are accepted", items,
                           POINTS_MAX);
    return true;
}

static ply_type ply_type_find(const char *name) {
    ply_type type = PLY_I8;
    while (type < PLY_TYPES && strcmp(name, ply_types[type].name) != 0 && strcmp(name, ply_types[type].other_name) != 0)
        type++;
    return type;
}

static int axis_of(const char *name) {
    return name[0] >= 'x' && name[0] <= 'z' && name[1] == '\0' ? name[0] - 'x' : -1;
}

static bool ply_take_property(source *s, ply *p, const ply_line *line) {
    bool list = word_is(line, 1, "list");
    ply_property property = {.length = PLY_TYPES, .axis = -1};
    if (line->words != (list ? 5 : 3) || p->elements == 0)
        return fail_header(s, line, "\"property TYPE NAME\" or \"property list TYPE TYPE NAME\" after an element");
    property.type = ply_type_find(line->word[list ? 3 : 1]);
    if (list)
        property.length = ply_type_find(line->word[2]);
    if (property.type == PLY_TYPES || (list && property.length >= PLY_F32))
        return fail_header(s, line,
                           "a type: char, uchar, short, ushort, int, uint, float, double (a list's length: no float)");
    if (p->complete)
        return true;
    ply_element *e = &p->element[p->elements - 1];
    if (e->properties == PLY_PROPERTIES)
        return fail_header(s, line, "at most 256 properties");
    if (!list && ply_has_vertices(p) && property.type >= PLY_F32)
        property.axis = axis_of(line->word[2]);
    e->property[e->properties++] = property;
    return true;
}

static bool ply_take_line(source *s, ply *p, const ply_line *line) {
    if (line->words == 0 || word_is(line, 0, "comment") || word_is(line, 0, "obj_info"))
        return true;
    if (word_is(line, 0, "format"))
        return ply_take_format(s, p, line);
    if (word_is(line, 0, "element"))
        return ply_take_element(s, p, line);
    if (word_is(line, 0, "property"))
        return ply_take_property(s, p, line);
    return fail_header(s, line, "format, comment, obj_info, element, property or end_header");
}

static bool ply_check_header(source *s, const ply *p) {
    if (p->format == PLY_NONE)
        return source_fail(s, "the PLY header has no format line");
    if (!p->complete && !ply_has_vertices(p))
        return source_fail(s, "the PLY header has no element \"vertex\"");
    const ply_element *vertex = &p->element[p->elements - 1];
    uint32_t found = 0;
    for (uint32_t i = 0; i < vertex->properties; i++)
        if (vertex->property[i].axis >= 0)
            found |= 1u << vertex->property[i].axis;
    return found == 7 || source_fail(s, "its vertices lack one of the float or double properties x, y, z");
}

static bool ply_read_header(source *s, ply *p) {
    ply_line line;
    p->format = PLY_NONE;
    p->complete = false;
    p->elements = 0;
    if (!ply_read_line(s, &line))
        return false;
    if (!word_is(&line, 0, "ply"))
        return fail_header(s, &line, "\"ply\"");
    while (ply_read_line(s, &line) && !word_is(&line, 0, "end_header"))
        if (!ply_take_line(s, p, &line))
            return false;
    return !s->failed && ply_check_header(s, p);
}

/* The next word, on any line; false at the end of the file. */
static bool ply_read_ascii(source *s, double *value) {
    char word[SOURCE_WORD];
    do {
        if (!source_more(s) || !text_word(s, word))
            return false;
        if (word[0] == '\0')
            text_next(s);
    } while (word[0] == '\0');
    return text_number(s, word, value);
}

static double ply_convert(ply_type type, uint64_t bits) {
    switch (type) {
    case PLY_I8:
        return (double)(int8_t)bits;
    case PLY_I16:
        return (double)(int16_t)bits;
    case PLY_I32:
        return (double)(int32_t)bits;
    case PLY_F32:
        return (double)float_of_bits(bits);
    case PLY_F64:
        return double_of_bits(bits);
    default:
        return (double)bits;
    }
}

static bool ply_read_value(source *s, ply_format format, ply_type type, double *value) {
    if (format == PLY_ASCII)
        return ply_read_ascii(s, value);
    unsigned char bytes[8];
    uint32_t size = ply_types[type].bytes;
    if (source_bytes(s, bytes, size) < size)
        return false;
    *value = ply_convert(type, format == PLY_LITTLE ? little_endian(bytes, size) : big_endian(bytes, size));
    return true;
}

static bool ply_skip_list(source *s, ply_format format, const ply_property *property) {
    double length, ignored;
    if (!ply_read_value(s, format, property->length, &length))
        return false;
    if (!(length >= 0 && length <= UINT32_MAX && length == floor(length)))
        return source_fail(s, "a PLY list has the length %g", length);
    for (uint32_t left = (uint32_t)length; left > 0; left--)
        if (!ply_read_value(s, format, property->type, &ignored))
            return false;
    return true;
}

static bool ply_read_item(source *s, ply_format format, const ply_element *e, double at[3]) {
    for (uint32_t i = 0; i < e->properties; i++) {
        const ply_property *property = &e->property[i];
        double value = 0;
        bool good = property->length < PLY_TYPES ? ply_skip_list(s, format, property)
                                                 : ply_read_value(s, format, property->type, &value);
        if (!good)
            return false;
        if (property->axis >= 0)
            at[property->axis] = value;
    }
    return true;
}

static bool ply_read_element(source *s, ply_format format, const ply_element *e, cloud *vertices) {
    double at[3] = {0};
    if (e->properties == 0) /* such items take no bytes, so the file does not bound how many a header may claim */
        return true;
    for (uint64_t i = 0; i < e->items; i++) {
        if (!ply_read_item(s, format, e, at))
            return source_fail(s,
                               "is truncated: it ends in item %" PRIu64 " of the %" PRIu64 " of the PLY element \"%s\"",
                               i, e->items, e->name);
        if (vertices && !cloud_add(s, vertices, at))
            return false;
    }
    return true;
}

static bool read_ply(source *s, cloud *c) {
    ply p;
    if (!ply_read_header(s, &p))
        return false;
    for (uint32_t i = 0; i < p.elements; i++)
        if (!ply_read_element(s, p.format, &p.element[i], i + 1 == p.elements ? c : NULL))
            return false;
    return true;
}

/* ---- files ---- */

static const struct {
    const char *suffix;
    bool (*read)(source *s, cloud *c);
} formats[] = {{".xyz", read_xyz}, {".f32le", read_f32le}, {".ply", read_ply}};

static bool ends_with(const char *text, size_t length, const char *suffix) {
    size_t n = strlen(suffix);
    return length >= n && memcmp(text + length - n, suffix, n) == 0;
}

/* A cube around the centre of the bounding box. It uses only differences and quotients, so that no compiler can fuse
 * them differently. Halving keeps it finite for any coordinates. */
static bool normalise(const cloud *c, points *read) {
    double centre[3], half = 0;
    for (int axis = 0; axis < 3; axis++) {
        double low = c->at[0][axis], high = low;
        for (size_t i = 1; i < c->count; i++) {
            low = c->at[i][axis] < low ? c->at[i][axis] : low;
            high = c->at[i][axis] > high ? c->at[i][axis] : high;
        }
        centre[axis] = low / 2 + high / 2;
        half = high / 2 - low / 2 > half ? high / 2 - low / 2 : half;
    }
    if (!points_alloc(read, (uint32_t)c->count))
        return false;
    const double enlarged = 2.002; /* sides per half: a margin of a thousandth */
    half = half > 0 ? half : 1;    /* all particles in one point: put it at the centre of the cube */
    for (uint32_t i = 0; i < read->count; i++) {
        const double *at = c->at[i];
        read->at[i].x = unit_float((at[0] - centre[0]) / half / enlarged + 0.5);
        read->at[i].y = unit_float((at[1] - centre[1]) / half / enlarged + 0.5);
        read->at[i].z = unit_float((at[2] - centre[2]) / half / enlarged + 0.5);
        read->at[i].id = i;
    }
    return true;
}

static bool read_file(source *s, bool (*read_format)(source *, cloud *), points *read) {
    cloud c = {0};
    bool good = source_more(s) || source_fail(s, "is empty; expected particles");
    good = good && read_format(s, &c);
    good = good && (c.count > 0 || source_fail(s, "holds no particles"));
    good = good && (normalise(&c, read) || source_fail(s, "out of memory for %zu particles", c.count));
    free(c.at);
    return good;
}

int points_read(points *read, const char *path, app_error *error) {
    size_t length = strlen(path);
    bool zipped = ends_with(path, length, ".gz");
    length -= zipped ? 3 : 0;
    *read = (points){0};
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        if (!ends_with(path, length, formats[i].suffix))
            continue;
        source s;
        bool good = source_open(&s, path, zipped, error) && read_file(&s, formats[i].read, read);
        source_close(&s);
        return good ? 0 : 1;
    }
    snprintf(error->text, sizeof error->text,
             "%.300s: no known kind of file; accepted: .xyz, .f32le, .ply, each also .gz", path);
    return 2;
}
