/* The host side of the octree application: number parsing, generators, file readers, the sequential twin. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L /* mkdtemp */
#endif

#include "../apps/octree/points.h"
#include "../apps/octree/twin.h"
#include "../apps/common/parse.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static unsigned passed, failed;

static bool check_at(bool good, const char *file, int line, const char *format, ...) {
    if (good) {
        passed++;
        return true;
    }
    failed++;
    va_list arguments;
    va_start(arguments, format);
    printf("%s:%d: ", file, line);
    vprintf(format, arguments);
    printf("\n");
    va_end(arguments);
    return false;
}
#define CHECK(condition) check_at((condition), __FILE__, __LINE__, "%s", #condition)
#define CHECK_TEXT(condition, ...) check_at((condition), __FILE__, __LINE__, __VA_ARGS__)

/* ---- number parsing ---- */

static void test_parse_size(void) {
    static const struct {
        const char *text;
        uint64_t value;
    } good[] = {{"0", 0},
                {"500k", 500000},
                {"5.12M", 5120000},
                {"1.5k", 1500},
                {"0.000001M", 1},
                {"2G", 2000000000},
                {"007", 7},
                {"3.0", 3},
                {"1.230000k", 1230},
                {"18446744073709551615", UINT64_MAX},
                {"18446744073.709551615G", UINT64_MAX}};
    static const char *bad[] = {"",
                                "-1",
                                "+1",
                                " 1",
                                "1 ",
                                "k",
                                "1kk",
                                "1K",
                                "1m",
                                "1T",
                                "1.",
                                ".5",
                                "0.5",
                                "1.2.3",
                                "1e3",
                                "0x10",
                                "abc",
                                "nan",
                                "inf",
                                "1.2345k",
                                "1k5",
                                "18446744073709551616",
                                "18446744073.709551616G",
                                "18446744073709551615k"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        uint64_t value = 99;
        CHECK_TEXT(parse_size(good[i].text, &value) && value == good[i].value, "parse_size(\"%s\")", good[i].text);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        uint64_t value = 99;
        CHECK_TEXT(!parse_size(bad[i], &value) && value == 99, "parse_size(\"%s\") is accepted", bad[i]);
    }
}

static void test_parse_others(void) {
    uint32_t number = 99;
    double real = 99;
    CHECK(parse_u32("4294967295", &number) && number == UINT32_MAX);
    number = 99;
    CHECK(!parse_u32("4294967296", &number) && !parse_u32("-1", &number) && !parse_u32("1k", &number) &&
          !parse_u32("", &number) && number == 99);
    CHECK(parse_double("0.85", &real) && real == 0.85);
    CHECK(parse_double("1e-9", &real) && real == 1e-9);
    CHECK(parse_double(".5", &real) && real == 0.5);
    real = 99;
    CHECK(!parse_double("-1", &real) && !parse_double("nan", &real) && !parse_double("inf", &real) &&
          !parse_double("1e999", &real) && !parse_double("0x10", &real) && !parse_double("1.5x", &real) &&
          !parse_double("", &real) && !parse_double(".", &real) && !parse_double(" 1", &real) && real == 99);
}

/* ---- generators ---- */

static const char *const kind_names[] = {"uniform", "tube", "sphere", "plummer"};

static bool in_unit_cube(const points *p) {
    for (uint32_t i = 0; i < p->count; i++) {
        const octree_particle *at = &p->at[i];
        bool inside = at->x >= 0 && at->x < 1 && at->y >= 0 && at->y < 1 && at->z >= 0 && at->z < 1;
        if (!inside || at->id != i)
            return false;
    }
    return true;
}

static void test_generator(const char *name) {
    points first, again, fewer, other;
    points_kind kind = POINTS_UNIFORM;
    CHECK(points_kind_find(name, &kind));
    if (!CHECK(points_make(&first, kind, 200000, 1) && points_make(&again, kind, 200000, 1) &&
               points_make(&fewer, kind, 1000, 1) && points_make(&other, kind, 200000, 2)))
        return;
    CHECK_TEXT(in_unit_cube(&first), "%s leaves the cube", name);
    CHECK_TEXT(memcmp(first.at, again.at, sizeof *first.at * first.count) == 0, "%s is not deterministic", name);
    CHECK_TEXT(memcmp(first.at, fewer.at, sizeof *first.at * fewer.count) == 0, "%s depends on the count", name);
    CHECK_TEXT(memcmp(first.at, other.at, sizeof *first.at * first.count) != 0, "%s ignores the seed", name);
    points_free(&first);
    points_free(&again);
    points_free(&fewer);
    points_free(&other);
}

/* Chi-square over 4096 cells with 4095 degrees of freedom: mean 4095, standard deviation 90.5. */
static void test_uniform_is_even(void) {
    enum { COUNT = 1 << 20 };
    static uint32_t cell[4096];
    points p;
    if (!CHECK(points_make(&p, POINTS_UNIFORM, COUNT, 1)))
        return;
    for (uint32_t i = 0; i < p.count; i++)
        cell[octree_key(&p.at[i]) >> 48]++;
    double chi = 0, expected = COUNT / 4096.0;
    for (size_t i = 0; i < 4096; i++)
        chi += (cell[i] - expected) * (cell[i] - expected) / expected;
    CHECK_TEXT(fabs(chi - 4095) < 5 * 90.5, "chi-square %g", chi);
    points_free(&p);
}

static void test_tube(void) {
    points p;
    double least = 1, most = 0, squares = 0, height = 0, side = 0;
    if (!CHECK(points_make(&p, POINTS_TUBE, 200000, 1)))
        return;
    for (uint32_t i = 0; i < p.count; i++) {
        double x = (double)p.at[i].x - 0.5, y = (double)p.at[i].y - 0.5, radius = sqrt(x * x + y * y);
        least = fmin(least, radius);
        most = fmax(most, radius);
        squares += radius * radius / p.count;
        height += (double)p.at[i].z / p.count;
        side += x / p.count;
    }
    CHECK_TEXT(least > 0.08 - 1e-7 && least < 0.0801, "smallest radius %g", least);
    CHECK_TEXT(most < 0.1 + 1e-7 && most > 0.0999, "largest radius %g", most);
    CHECK_TEXT(fabs(squares - 0.0082) < 1e-5, "not uniform in area: mean squared radius %g", squares);
    CHECK_TEXT(fabs(height - 0.5) < 0.005 && fabs(side) < 0.001, "mean z %g, mean x %g", height, side + 0.5);
    points_free(&p);
}

static void test_sphere(void) {
    points p;
    double worst = 0, middle[3] = {0};
    if (!CHECK(points_make(&p, POINTS_SPHERE, 200000, 1)))
        return;
    for (uint32_t i = 0; i < p.count; i++) {
        double x = (double)p.at[i].x - 0.5, y = (double)p.at[i].y - 0.5, z = (double)p.at[i].z - 0.5;
        worst = fmax(worst, fabs(sqrt(x * x + y * y + z * z) - 0.5));
        middle[0] += x / p.count;
        middle[1] += y / p.count;
        middle[2] += z * z / p.count;
    }
    CHECK_TEXT(worst < 2e-7, "%g off the sphere", worst);
    CHECK(fabs(middle[0]) < 0.005 && fabs(middle[1]) < 0.005 && fabs(middle[2] - 0.25 / 3) < 0.002);
    points_free(&p);
}

/* The scale radius contains 2^-1.5 of the whole cluster, of which about 6 % are cut off. */
static void test_plummer(void) {
    points p;
    uint32_t core = 0;
    if (!CHECK(points_make(&p, POINTS_PLUMMER, 200000, 1)))
        return;
    for (uint32_t i = 0; i < p.count; i++) {
        double x = (double)p.at[i].x - 0.5, y = (double)p.at[i].y - 0.5, z = (double)p.at[i].z - 0.5;
        core += x * x + y * y + z * z < 0.01;
    }
    double share = (double)core / p.count;
    CHECK_TEXT(share > 0.36 && share < 0.38, "%g of the particles in the core", share);
    points_free(&p);
}

static void test_no_particles(void) {
    points p;
    octree_tree tree;
    CHECK(points_make(&p, POINTS_UNIFORM, 0, 1) && p.count == 0 && p.at != NULL);
    CHECK(octree_twin(&tree, p.at, 0, 20, 20) && tree.leaves == 0 && tree.tasks == 0 && tree.placed == 0);
    octree_tree_free(&tree);
    points_free(&p);
    points_kind kind;
    CHECK(!points_kind_find("cone", &kind) && !points_kind_find("", &kind));
}

/* ---- files ---- */

#include "files.h"

/* Reads the named file and removes it. */
static int read_back(points *p, const char *name, app_error *error) {
    error->text[0] = '\0';
    int status = points_read(p, path_of(name), error);
    remove(path_of(name));
    return status;
}

/* The five points of every good file below, and their expected positions: the box is 4 x 2 x 1, so the cube has side
 * 4. */
#define POINTS 5
static const float input[POINTS][3] = {{-1, 10, 5}, {3, 12, 6}, {0, 11, 5.5f}, {1, 11, 5.5f}, {1.5f, 10.25f, 5.125f}};

static bool lands_right(const points *p) {
    static const float centre[3] = {1, 11, 5.5f};
    if (p->count != POINTS || !in_unit_cube(p))
        return false;
    for (uint32_t i = 0; i < POINTS; i++) {
        const float at[3] = {p->at[i].x, p->at[i].y, p->at[i].z};
        for (int axis = 0; axis < 3; axis++)
            if (fabsf(at[axis] - (0.5f + (input[i][axis] - centre[axis]) / 4)) > 0.001f)
                return false;
    }
    return p->at[3].x == 0.5f && p->at[3].y == 0.5f && p->at[3].z == 0.5f && p->at[0].x > 0;
}

static void expect_points(const char *name, const void *bytes, size_t count, int line) {
    points p;
    app_error error;
    write_file(name, bytes, count);
    int status = read_back(&p, name, &error);
    check_at(status == 0 && lands_right(&p), __FILE__, line, "%s: status %d %s", name, status, error.text);
    points_free(&p);
}
#define EXPECT_POINTS(name, bytes, count) expect_points((name), (bytes), (count), __LINE__)

/* Expects one line that names the file and contains `words`. */
static void expect_error(const char *name, const void *bytes, size_t count, int exit_status, const char *words,
                         int line) {
    points p;
    app_error error;
    write_file(name, bytes, count);
    int status = read_back(&p, name, &error);
    bool named = strstr(error.text, name) && strstr(error.text, words) && !strchr(error.text, '\n');
    check_at(status == exit_status && named && p.at == NULL, __FILE__, line, "%s: status %d, \"%s\"", name, status,
             error.text);
    points_free(&p);
}
#define EXPECT_ERROR(name, text, words) expect_error((name), (text), sizeof(text) - 1, 1, (words), __LINE__)

/* A file under construction. */
typedef struct bytes {
    unsigned char at[4096];
    size_t count;
} bytes;

static void put_text(bytes *b, const char *text) {
    memcpy(b->at + b->count, text, strlen(text));
    b->count += strlen(text);
}

static void put_number(bytes *b, uint64_t value, uint32_t size, bool big) {
    for (uint32_t i = 0; i < size; i++)
        b->at[b->count++] = (unsigned char)(value >> 8 * (big ? size - 1 - i : i));
}

static void put_float(bytes *b, float value, bool big) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    put_number(b, bits, 4, big);
}

static void put_double(bytes *b, double value, bool big) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    put_number(b, bits, 8, big);
}

static bytes make_f32le(void) {
    bytes b = {.count = 0};
    for (int i = 0; i < POINTS; i++)
        for (int axis = 0; axis < 3; axis++)
            put_float(&b, input[i][axis], false);
    return b;
}

static bytes make_xyz(void) {
    bytes b = {.count = 0};
    put_text(&b, "# five points, and a first word that is longer than any number: "
                 "################################################################\n\n");
    put_text(&b, "-1 10 5\n");
    put_text(&b, "  3\t12 6.0 extra columns #1 \xc3\xa9\r\n");
    put_text(&b, "   \n");
    put_text(&b, "0 1.1e1 5.5\n# another comment\n1 11 5.5\n");
    put_text(&b, "1.5 10.25 5.125"); /* no newline at the end */
    return b;
}

/* Vertices in the middle: a scalar and a list element before them, other properties in between, faces after them. */
static const char ply_elements[] = "comment made by a test, with more words than a line may have\n"
                                   "obj_info none\n"
                                   "element camera 2\n"
                                   "property uchar lens\n"
                                   "property list ushort int16 marks\n"
                                   "element nothing 1000000000000000\n"
                                   "element vertex 5\n"
                                   "property uint8 red\n"
                                   "property double x\n"
                                   "property float32 z\n"
                                   "property list uchar float weights\n"
                                   "property float y\n"
                                   "element face 1\n"
                                   "property list uchar int vertex_indices\n"
                                   "property float x\n"
                                   "end_header\n";

static bytes make_ply_binary(bool big) {
    bytes b = {.count = 0};
    put_text(&b, big ? "ply\nformat binary_big_endian 1.0\n" : "ply\nformat binary_little_endian 1.0\n");
    put_text(&b, ply_elements);
    for (uint32_t camera = 0; camera < 2; camera++) {
        put_number(&b, 7, 1, big);
        put_number(&b, camera * 2, 2, big);
        for (uint32_t i = 0; i < camera * 2; i++)
            put_number(&b, 0xfffe, 2, big);
    }
    for (uint32_t i = 0; i < POINTS; i++) {
        put_number(&b, 200, 1, big);
        put_double(&b, (double)input[i][0], big);
        put_float(&b, input[i][2], big);
        put_number(&b, i, 1, big);
        for (uint32_t k = 0; k < i; k++)
            put_float(&b, NAN, big); /* only coordinates must be finite */
        put_float(&b, input[i][1], big);
    }
    return b;
}

static bytes make_ply_ascii(void) {
    bytes b = {.count = 0};
    put_text(&b, "ply\r\nformat ascii 1.0\n");
    put_text(&b, ply_elements);
    put_text(&b, "7 0\n7 2 -2 -2\n");
    put_text(&b, "200 -1 5 0 10\n200 3 6 1 0.5 12\n\n200 0 5.5 2 nan 0 11\n200 1 5.5 0 11\n200 1.5 5.125 0 10.25\n");
    put_text(&b, "3 0 1 2 0\n");
    return b;
}

static void test_good_files(void) {
    bytes raw = make_f32le(), text = make_xyz(), ascii = make_ply_ascii();
    bytes little = make_ply_binary(false), big = make_ply_binary(true);
    EXPECT_POINTS("points.f32le", raw.at, raw.count);
    EXPECT_POINTS("points.xyz.f32le", raw.at, raw.count);
    EXPECT_POINTS("points.xyz", text.at, text.count);
    EXPECT_POINTS("points.ply", ascii.at, ascii.count);
    EXPECT_POINTS("points.ply", little.at, little.count);
    EXPECT_POINTS("points.ply", big.at, big.count);
#ifdef BL_HAVE_ZLIB
    EXPECT_POINTS("points.f32le.gz", raw.at, raw.count);
    EXPECT_POINTS("points.xyz.gz", text.at, text.count);
    EXPECT_POINTS("points.ply.gz", ascii.at, ascii.count);
    EXPECT_POINTS("points.ply.gz", little.at, little.count);
    EXPECT_POINTS("points.ply.gz", big.at, big.count);
#endif
    static const char mac[] = "-1 10 5\r3 12 6\r0 11 5.5\r1 11 5.5\r1.5 10.25 5.125\r";
    EXPECT_POINTS("mac.xyz", mac, sizeof mac - 1);
}

static void test_bad_names(void) {
    points p;
    app_error error;
    CHECK(points_read(&p, path_of("missing.xyz"), &error) == 1 && strstr(error.text, "missing.xyz"));
    CHECK(points_read(&p, path_of("missing.ply.gz"), &error) == 1 && strstr(error.text, "missing.ply.gz"));
    CHECK(points_read(&p, "points.csv", &error) == 2 && strstr(error.text, ".f32le"));
    CHECK(points_read(&p, "gz", &error) == 2 && points_read(&p, ".gz", &error) == 2);
    CHECK(mkdir(path_of("folder.xyz"), 0700) == 0);
    CHECK(read_back(&p, "folder.xyz", &error) == 1 && strstr(error.text, "folder.xyz"));
}

static void test_bad_text(void) {
    EXPECT_ERROR("empty.xyz", "", "is empty");
    EXPECT_ERROR("comments.xyz", "# nothing\n\n", "holds no particles");
    EXPECT_ERROR("short.xyz", "1 2 3\n4 5\n", "line 2: 2 of the three");
    EXPECT_ERROR("words.xyz", "1 2 3\n\n4 5 six\n", "line 3: \"six\" is not a number");
    EXPECT_ERROR("joined.xyz", "1 2 3,4\n", "line 1: \"3,4\"");
    EXPECT_ERROR("binary.xyz", "1 2 3\n\x01\x02\xff\xfe", "line 2: byte 0x01");
    EXPECT_ERROR("high.xyz", "1 2 \xff\n", "line 1: byte 0xff");
    EXPECT_ERROR("zero.xyz", "1 2 3 a\0b\n", "line 1: byte 0x00");
    EXPECT_ERROR("nan.xyz", "1 2 3\n4 nan 6\n", "particle 1 (counted from 0): y is NaN");
    EXPECT_ERROR("huge.xyz", "1 2 1e999\n", "particle 0 (counted from 0): z is NaN or infinite");
    EXPECT_ERROR("long.xyz", "1 2 1111111111111111111111111111111111111111111111111111111111111111111111111\n",
                 "line 1: a word of more than");
}

static void test_bad_raw(void) {
    bytes raw = make_f32le();
    EXPECT_ERROR("empty.f32le", "", "is empty");
    for (size_t cut = 1; cut < raw.count; cut++)
        if (cut % 12 != 0)
            expect_error("cut.f32le", raw.at, cut, 1, "multiple of 12", __LINE__);
    EXPECT_ERROR("nan.f32le", "\0\0\0\0\0\0\0\0\0\0\xc0\x7f", "particle 0 (counted from 0): z");
    EXPECT_ERROR("infinite.f32le", "\0\0\0\0\0\0\x80\xff\0\0\0\0", "particle 0 (counted from 0): y");
}

#define PLY_HEAD "ply\nformat ascii 1.0\n"
#define PLY_XYZ "property float x\nproperty float y\nproperty float z\n"

static void test_bad_ply(void) {
    EXPECT_ERROR("empty.ply", "", "is empty");
    EXPECT_ERROR("other.ply", "plx\n", "line 1 of the PLY header: expected \"ply\"");
    EXPECT_ERROR("format.ply", "ply\nformat ascii 2.0\n", "line 2 of the PLY header");
    EXPECT_ERROR("formats.ply", "ply\nelement vertex 1\n" PLY_XYZ "end_header\n1 2 3\n", "no format line");
    EXPECT_ERROR("word.ply", PLY_HEAD "hello\n", "line 3 of the PLY header");
    EXPECT_ERROR("count.ply", PLY_HEAD "element vertex -1\n", "line 3 of the PLY header");
    EXPECT_ERROR("type.ply", PLY_HEAD "element vertex 1\nproperty half x\n", "line 4 of the PLY header");
    EXPECT_ERROR("early.ply", PLY_HEAD "property float x\n", "line 3 of the PLY header");
    EXPECT_ERROR("vertex.ply", PLY_HEAD "element face 1\n" PLY_XYZ "end_header\n1 2 3\n", "no element \"vertex\"");
    EXPECT_ERROR("axis.ply",
                 PLY_HEAD "element vertex 1\nproperty float x\nproperty float y\nproperty int z\nend_header\n",
                 "float or double properties x, y, z");
    EXPECT_ERROR("none.ply", PLY_HEAD "element vertex 0\n" PLY_XYZ "end_header\n", "holds no particles");
    EXPECT_ERROR("nan.ply", PLY_HEAD "element vertex 2\n" PLY_XYZ "end_header\n1 2 3\n4 5 inf\n", "particle 1");
    EXPECT_ERROR("text.ply", PLY_HEAD "element vertex 1\n" PLY_XYZ "end_header\n1 2 b\n", "line 8: \"b\"");
    EXPECT_ERROR("list.ply", PLY_HEAD "element vertex 1\nproperty list int int l\n" PLY_XYZ "end_header\n-1 2 3 4\n",
                 "length -1");
    EXPECT_ERROR("endless.ply", PLY_HEAD "element vertex 1000000000000000\n" PLY_XYZ "end_header\n1 2 3\n",
                 "1000000000000000 vertices");
    EXPECT_ERROR("claim.ply", PLY_HEAD "element vertex 2147483648\n" PLY_XYZ "end_header\n1 2 3\n",
                 "ends in item 1 of the 2147483648");
    EXPECT_ERROR("before.ply",
                 PLY_HEAD "element camera 1000000000000000\nproperty int a\nelement vertex 1\n" PLY_XYZ
                          "end_header\n1\n",
                 "ends in item 1 of the 1000000000000000");
}

/* Reading any prefix does no harm; if `all` is set, every prefix is also too short. */
static void cut_everywhere(const char *name, const bytes *whole, bool all) {
    for (size_t cut = 0; cut < whole->count; cut++) {
        points p;
        app_error error;
        write_file(name, whole->at, cut);
        int status = read_back(&p, name, &error);
        bool right = status == 0 ? !all && in_unit_cube(&p) : status == 1 && error.text[0] != '\0' && p.at == NULL;
        CHECK_TEXT(right, "%s cut at byte %zu: status %d %s", name, cut, status, error.text);
        points_free(&p);
    }
}

static void test_cut_files(void) {
    bytes text = make_xyz(), ascii = make_ply_ascii(), little = make_ply_binary(false), big = make_ply_binary(true);
    cut_everywhere("cut.xyz", &text, false);
    cut_everywhere("cut.ply", &ascii, false);
    cut_everywhere("cut.ply", &little, true);
    cut_everywhere("cut.ply", &big, true);
}

/* Changes each byte of a good file to several values: the result is an answer or one line, never a crash. */
static void test_changed_files(void) {
    static const unsigned char values[] = {0, '\n', ' ', '-', '9', 'e', 0x80, 0xff};
    bytes whole[] = {make_xyz(), make_ply_ascii(), make_ply_binary(false)};
    static const char *const names[] = {"changed.xyz", "changed.ply", "changed.ply"};
    for (size_t w = 0; w < sizeof whole / sizeof whole[0]; w++)
        for (size_t i = 0; i < whole[w].count * sizeof values; i++) {
            points p;
            app_error error;
            bytes changed = whole[w];
            changed.at[i / sizeof values] = values[i % sizeof values];
            write_file(names[w], changed.at, changed.count);
            int status = read_back(&p, names[w], &error);
            CHECK(status == 0 ? in_unit_cube(&p) : status == 1 && error.text[0] != '\0' && p.at == NULL);
            points_free(&p);
        }
}

#ifdef BL_HAVE_ZLIB
static size_t slurp(const char *name, unsigned char *to, size_t room) {
    FILE *file = fopen(path_of(name), "rb");
    size_t count = file ? fread(to, 1, room, file) : 0;
    if (file)
        fclose(file);
    return count;
}

/* Writes compressed bytes as they are, bypassing the compression of write_file. */
static void write_raw(const char *name, const unsigned char *from, size_t count) {
    write_file("raw", from, count);
    char raw[256];
    snprintf(raw, sizeof raw, "%s", path_of("raw"));
    CHECK(rename(raw, path_of(name)) == 0);
}

static void test_bad_gz(void) {
    static unsigned char zipped[4096];
    bytes raw = make_f32le();
    points p;
    app_error error;
    EXPECT_ERROR("empty.f32le.gz", "", "is empty");
    write_file("whole.f32le.gz", raw.at, raw.count);
    size_t count = slurp("whole.f32le.gz", zipped, sizeof zipped);
    remove(path_of("whole.f32le.gz"));
    for (size_t cut = 0; cut < count; cut++) {
        write_raw("cut.f32le.gz", zipped, cut);
        int status = read_back(&p, "cut.f32le.gz", &error);
        CHECK_TEXT(status == 1 && error.text[0] != '\0', "gz cut at byte %zu: status %d %s", cut, status, error.text);
        points_free(&p);
    }
    zipped[count - 5] ^= 1; /* the checksum */
    write_raw("sum.f32le.gz", zipped, count);
    CHECK_TEXT(read_back(&p, "sum.f32le.gz", &error) == 1 && strstr(error.text, "damaged"), "%s", error.text);
    write_raw("plain.f32le.gz", raw.at, raw.count);
    CHECK_TEXT(read_back(&p, "plain.f32le.gz", &error) == 1 && strstr(error.text, "not gzip"), "%s", error.text);
}
#else
static void test_bad_gz(void) {
    EXPECT_ERROR("points.f32le.gz", "", "no zlib");
    printf("skipped: gzip files, since this build has no zlib\n");
}
#endif

/* Points that rounding could push out of the cube: all in one place, far from the origin, at the limits of double. */
static void test_normalisation(void) {
    static const char *const files[] = {
        "7 7 7\n7 7 7\n",
        "1e15 1e15 1e15\n1000000000000001 1e15 1e15\n",
        "-1.7976931348623157e308 0 0\n1.7976931348623157e308 1 1\n",
        "0 0 0\n5e-324 0 0\n",
        "0 0 0\n1e-300 1e300 0\n",
    };
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        points p;
        app_error error;
        write_file("ends.xyz", files[i], strlen(files[i]));
        CHECK_TEXT(read_back(&p, "ends.xyz", &error) == 0 && p.count == 2 && in_unit_cube(&p), "file %zu: %s", i,
                   error.text);
        if (i == 0)
            CHECK(p.at[1].x == 0.5f && p.at[1].y == 0.5f && p.at[1].z == 0.5f);
        if (i == 1 || i == 2)
            CHECK(p.at[0].x < 0.001f && p.at[1].x > 0.999f);
        points_free(&p);
    }
}

/* ---- the twin ---- */

static uint64_t leaf_begin(const octree_node *leaf) { return leaf->path << 3 * (OCTREE_MAX_DEPTH - leaf->depth); }

/* The number of particles in a leaf, found by comparing coordinates with its bounds. */
static uint32_t count_inside(const points *p, const octree_node *leaf) {
    double low[3] = {0}, side = 1;
    for (uint32_t level = leaf->depth; level-- > 0;) {
        side /= 2;
        for (int axis = 0; axis < 3; axis++)
            low[axis] += (double)(leaf->path >> (3 * level + (uint32_t)axis) & 1) * side;
    }
    uint32_t inside = 0;
    for (uint32_t i = 0; i < p->count; i++) {
        const double at[3] = {(double)p->at[i].x, (double)p->at[i].y, (double)p->at[i].z};
        bool in = true;
        for (int axis = 0; axis < 3; axis++)
            in = in && at[axis] >= low[axis] && at[axis] < low[axis] + side;
        inside += in;
    }
    return inside;
}

/* Inner nodes are the proper ancestors of leaves; counts those not shared with the previous leaf. */
static uint64_t count_ancestors(const octree_tree *tree) {
    uint64_t nodes = 0;
    for (uint32_t i = 0; i < tree->leaves; i++) {
        uint32_t common = 0;
        if (i > 0)
            while (leaf_begin(&tree->leaf[i]) >> 3 * (OCTREE_MAX_DEPTH - common) ==
                   leaf_begin(&tree->leaf[i - 1]) >> 3 * (OCTREE_MAX_DEPTH - common))
                common++;
        nodes += tree->leaf[i].depth - common;
    }
    return nodes;
}

static void check_tree(const points *p, uint32_t threshold, uint32_t max_depth, const char *name) {
    octree_tree tree;
    if (!CHECK(octree_twin(&tree, p->at, p->count, threshold, max_depth)))
        return;
    bool sorted = true, small = true;
    uint32_t depth = 0, sum = 0;
    for (uint32_t i = 0; i < tree.leaves; i++) {
        const octree_node *leaf = &tree.leaf[i];
        sorted = sorted && (i == 0 || leaf_begin(leaf) > leaf_begin(leaf - 1)) && leaf->first == sum;
        small = small && leaf->count > 0 && (leaf->count <= threshold || leaf->depth == max_depth);
        depth = leaf->depth > depth ? leaf->depth : depth;
        sum += leaf->count;
    }
    CHECK_TEXT(sorted, "%s: leaves out of order", name);
    CHECK_TEXT(small, "%s: an empty leaf, or one that should have been split", name);
    CHECK_TEXT(sum == p->count && tree.placed == p->count, "%s: %u placed", name, (unsigned)tree.placed);
    CHECK_TEXT(depth == tree.depth && depth <= max_depth, "%s: depth %u", name, (unsigned)tree.depth);
    CHECK_TEXT(tree.tasks == count_ancestors(&tree), "%s: %llu tasks", name, (unsigned long long)tree.tasks);
    for (uint32_t i = 0; i < tree.leaves; i += tree.leaves / 50 + 1)
        CHECK_TEXT(count_inside(p, &tree.leaf[i]) == tree.leaf[i].count, "%s: leaf %u", name, (unsigned)i);
    octree_tree_free(&tree);
}

static void test_twin_shapes(void) {
    for (uint32_t kind = 0; kind < 4; kind++) {
        points p;
        if (!CHECK(points_make(&p, (points_kind)kind, 20000, 1)))
            return;
        check_tree(&p, 20, 20, kind_names[kind]);
        check_tree(&p, 1, 20, kind_names[kind]);
        check_tree(&p, 0, 6, kind_names[kind]);
        check_tree(&p, 20, 2, kind_names[kind]);
        check_tree(&p, 20000, 20, kind_names[kind]);
        check_tree(&p, 19999, 20, kind_names[kind]);
        check_tree(&p, 20, 0, kind_names[kind]);
        points_free(&p);
    }
}

static void test_twin_equal_particles(void) {
    octree_particle same[100];
    for (uint32_t i = 0; i < 100; i++)
        same[i] = (octree_particle){.x = 0.3f, .y = 0.6f, .z = 0.9f, .id = i};
    octree_tree tree;
    if (!CHECK(octree_twin(&tree, same, 100, 20, 20)))
        return;
    CHECK(tree.leaves == 1 && tree.depth == 20 && tree.tasks == 20 && tree.leaf[0].count == 100);
    octree_tree_free(&tree);
    if (!CHECK(octree_twin(&tree, same, 20, 20, 20)))
        return;
    CHECK(tree.leaves == 1 && tree.depth == 0 && tree.tasks == 0 && tree.leaf[0].path == 0);
    octree_tree_free(&tree);
}

/* One particle per octant, on its lower corner: a point on a plane goes to the upper side. */
static void test_twin_planes(void) {
    octree_particle corner[8];
    for (uint32_t i = 0; i < 8; i++)
        corner[i] = (octree_particle){
            .x = 0.5f * (float)(i & 1), .y = 0.5f * (float)(i >> 1 & 1), .z = 0.5f * (float)(i >> 2 & 1), .id = i};
    octree_tree tree;
    if (!CHECK(octree_twin(&tree, corner, 8, 1, 20)))
        return;
    CHECK(tree.leaves == 8 && tree.tasks == 1 && tree.depth == 1);
    for (uint32_t i = 0; i < tree.leaves; i++)
        CHECK(tree.leaf[i].path == i && tree.leaf[i].count == 1 && tree.leaf[i].first == i);
    octree_tree_free(&tree);
    const octree_particle below = {.x = 0x1.fffffep-2f, .y = 0x1.fffffep-1f, .z = 0};
    CHECK(octree_key(&below) == UINT64_C(023333333333333333333));
}

static void test_galaxy(void) {
    const char *data = getenv("BALLAST_DATA");
    char path[512];
    points p;
    app_error error;
#ifndef BL_HAVE_ZLIB
    data = NULL;
#endif
    snprintf(path, sizeof path, "%s/points/gadget2_galaxy.xyz.f32le.gz", data ? data : "");
    if (!data || access(path, R_OK) != 0) {
        printf("skipped: the galaxy file, since BALLAST_DATA does not lead to it or this build has no zlib\n");
        return;
    }
    int status = points_read(&p, path, &error);
    if (!CHECK_TEXT(status == 0, "%s", error.text))
        return;
    CHECK_TEXT(p.count == 60000 && in_unit_cube(&p), "%u particles", (unsigned)p.count);
    check_tree(&p, 20, 20, "galaxy");
    points_free(&p);
}

int main(void) {
    if (!mkdtemp(folder)) {
        printf("%s: cannot be made\n", folder);
        return 1;
    }
    test_parse_size();
    test_parse_others();
    for (size_t i = 0; i < sizeof kind_names / sizeof kind_names[0]; i++)
        test_generator(kind_names[i]);
    test_uniform_is_even();
    test_tube();
    test_sphere();
    test_plummer();
    test_no_particles();
    test_good_files();
    test_bad_names();
    test_bad_text();
    test_bad_raw();
    test_bad_ply();
    test_bad_gz();
    test_cut_files();
    test_changed_files();
    test_normalisation();
    test_twin_shapes();
    test_twin_equal_particles();
    test_twin_planes();
    test_galaxy();
    rmdir(folder);
    printf("%u passed, %u failed\n", passed, failed);
    return failed > 0;
}
