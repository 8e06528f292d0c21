/* Four in a row on the host: the board and its values against a board of characters, games and files as people write
 * them, the table, and the sequential search against plain alpha-beta and known scores. */
#define FOURROW_WITHOUT_PROGRAM
#include "check.h"

#include "fourrow/fourrow.h"
#include "fourrow/task.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>

static uint64_t random_state = 1;

static uint32_t random32(void) { return check_random32(&random_state); }

/* ---- the same game on a board of characters ---- */

typedef struct plain {
    char cell[FOURROW_COLUMNS][FOURROW_ROWS]; /* 0, 'X' or 'O' */
    uint32_t stones;
} plain;

static char plain_at(const plain *p, int column, int row) {
    bool inside = column >= 0 && column < FOURROW_COLUMNS && row >= 0 && row < FOURROW_ROWS;
    return inside ? p->cell[column][row] : 0;
}

static int plain_height(const plain *p, uint32_t column) {
    int row = 0;
    while (row < FOURROW_ROWS && p->cell[column][row])
        row++;
    return row;
}

static char plain_turn(const plain *p) { return p->stones % 2 ? 'O' : 'X'; }

static const int directions[4][2] = {{0, 1}, {1, 0}, {1, 1}, {1, -1}};

/* Maximal runs of player `who` with exactly `length` stones. */
static int plain_runs(const plain *p, char who, int length) {
    int runs = 0;
    for (int column = 0; column < FOURROW_COLUMNS; column++)
        for (int row = 0; row < FOURROW_ROWS; row++)
            for (int d = 0; d < 4; d++) {
                int dx = directions[d][0], dy = directions[d][1], n = 0;
                if (plain_at(p, column, row) != who || plain_at(p, column - dx, row - dy) == who)
                    continue;
                while (plain_at(p, column + n * dx, row + n * dy) == who)
                    n++;
                runs += n == length;
            }
    return runs;
}

static bool plain_won(const plain *p, char who) {
    int runs = 0;
    for (int length = 4; length <= 7; length++)
        runs += plain_runs(p, who, length);
    return runs > 0;
}

static int plain_value(const plain *p, char who) {
    char other = who == 'X' ? 'O' : 'X';
    if (plain_won(p, who))
        return FOURROW_WIN;
    if (p->stones == FOURROW_CELLS)
        return 0;
    return FOURROW_TWO * (plain_runs(p, who, 2) - plain_runs(p, other, 2)) +
           FOURROW_THREE * (plain_runs(p, who, 3) - plain_runs(p, other, 3));
}

static uint64_t plain_threats(plain *p, char who) {
    uint64_t cells = 0;
    for (uint32_t column = 0; column < FOURROW_COLUMNS; column++)
        for (uint32_t row = 0; row < FOURROW_ROWS; row++) {
            if (p->cell[column][row])
                continue;
            p->cell[column][row] = who;
            if (plain_won(p, who))
                cells |= UINT64_C(1) << (7 * column + row);
            p->cell[column][row] = 0;
        }
    return cells;
}

/* A move is sound if the opponent cannot win with the next move. */
static uint64_t plain_sound(plain *p) {
    char who = plain_turn(p), other = who == 'X' ? 'O' : 'X';
    uint64_t sound = 0;
    for (uint32_t column = 0; column < FOURROW_COLUMNS; column++) {
        int row = plain_height(p, column);
        if (row == FOURROW_ROWS)
            continue;
        p->cell[column][row] = who;
        uint64_t threats = plain_threats(p, other), next = 0;
        for (uint32_t i = 0; i < FOURROW_COLUMNS; i++)
            if (plain_height(p, i) < FOURROW_ROWS)
                next |= UINT64_C(1) << (7 * i + (uint32_t)plain_height(p, i));
        p->cell[column][row] = 0;
        if ((threats & next) == 0)
            sound |= UINT64_C(1) << (7 * column + (uint32_t)row);
    }
    return sound;
}

/* ---- the board ---- */

static void same_position(const fourrow_board *b, plain *p) {
    char last = p->stones % 2 ? 'X' : 'O', turn = plain_turn(p);
    uint64_t mask = 0, mine = 0, possible = 0;
    for (uint32_t column = 0; column < FOURROW_COLUMNS; column++) {
        int height = plain_height(p, column);
        for (uint32_t row = 0; row < (uint32_t)height; row++) {
            mask |= UINT64_C(1) << (7 * column + row);
            mine |= (uint64_t)(p->cell[column][row] == turn) << (7 * column + row);
        }
        if (height < FOURROW_ROWS)
            possible |= UINT64_C(1) << (7 * column + (uint32_t)height);
    }
    CHECK(b->mask == mask && b->mine == mine);
    CHECK_SAME(fourrow_possible(b), possible);
    CHECK_SAME(fourrow_count(b->mask), p->stones);
    CHECK_SAME(fourrow_is_won(b), plain_won(p, last));
    CHECK_SAME(fourrow_is_full(b), p->stones == FOURROW_CELLS);
    CHECK_SAME(fourrow_value(b), plain_value(p, last));
    CHECK_SAME(fourrow_threats(b->mine, b->mask), plain_threats(p, turn));
    CHECK_SAME(fourrow_can_win(b), (plain_threats(p, turn) & possible) != 0);
    if (!fourrow_is_won(b) && !fourrow_can_win(b))
        CHECK_SAME(fourrow_sound(b), plain_sound(p));
}

static void play_random(void) {
    plain p;
    fourrow_board b = {0, 0};
    memset(&p, 0, sizeof p);
    same_position(&b, &p);
    while (!fourrow_is_won(&b) && !fourrow_is_full(&b)) {
        uint32_t n = random32() % fourrow_count(fourrow_possible(&b)), column = fourrow_nth(&b, n);
        for (uint32_t i = 0, open = 0; i <= column; i++) /* it is the nth open one */
            if (plain_height(&p, i) < FOURROW_ROWS)
                CHECK(open++ <= n && (i < column || open == n + 1));
        p.cell[column][plain_height(&p, column)] = plain_turn(&p);
        p.stones++;
        b = fourrow_drop(&b, column);
        same_position(&b, &p);
    }
}

static fourrow_game game_of(const char *moves) {
    fourrow_game game;
    fourrow_complaint complaint;
    if (!CHECK(fourrow_game_read(&game, moves, strlen(moves), &complaint)))
        printf("    %s: %s\n", moves, complaint.text);
    return game;
}

/* Counted by hand, as values for the side that moved last. */
static void test_values(void) {
    static const struct {
        const char *moves;
        int32_t value;
    } cases[] = {
        {"", 0},
        {"4", 0},
        {"14", 0},
        {"112", 1},           /* X: the pair 1-2 of the lowest row; O is alone */
        {"1122", 0},          /* O has the pair in the second row, X the one below it */
        {"1212", 0},          /* columns: X X and O O; rows: X O, X O */
        {"415263", 0},        /* X: 4 5 6, O: 1 2 3, both three in the lowest row */
        {"41526", 3},         /* X: three of 4 5 6, worth 4; O: two of 1 2 */
        {"1726", 0},          /* both have a pair */
        {"4142434", 1000000}, /* a column of four */
        {"1525354", 1000000}, /* the lowest row */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        check_at("value of %s", cases[i].moves);
        fourrow_game game = game_of(cases[i].moves);
        CHECK(fourrow_value(&game.board) == cases[i].value);
    }
}

static void test_board(void) {
    check_at("random games");
    for (int i = 0; i < 300; i++)
        play_random();
    fourrow_board b = {0, 0};
    CHECK(fourrow_count(FOURROW_ALL) == FOURROW_CELLS && fourrow_count(FOURROW_BOTTOM) == FOURROW_COLUMNS);
    CHECK(fourrow_mirror_cells(fourrow_column(1)) == fourrow_column(5));
    b = fourrow_drop(&b, 6);
    fourrow_board mirrored = fourrow_canonical(&b), left = {0, 1};
    left = fourrow_canonical(&left);
    CHECK(mirrored.mask == left.mask && mirrored.mine == left.mine);
}

/* ---- games ---- */

static void test_games(void) {
    static const struct {
        const char *moves, *complaint; /* the beginning of the message; NULL: accepted */
        bool over;
    } cases[] = {
        {"", NULL, false},
        {"4453", NULL, false},
        {"4142434", NULL, true},
        {"41424344", "character 8 comes after the end of the game (accepted: the first 7)", true},
        {"440", "character 3, '0', is not a column (accepted: 1 to 7)", false},
        {"8", "character 1, '8', ", false},
        {"1 2", "character 2, ' ', ", false},
        {"1\n", "character 2 is not a column", false},
        {"\303\244", "character 1 is not a column", false},
        {"1111111", "character 7: column 1 is full (accepted: ", false},
        {"225344533673453576212645522737771141641166", NULL, true}, /* drawn */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fourrow_game game;
        fourrow_complaint complaint = {""};
        check_at("game %s", cases[i].moves);
        bool read = fourrow_game_read(&game, cases[i].moves, strlen(cases[i].moves), &complaint);
        const char *expected = cases[i].complaint ? cases[i].complaint : "";
        CHECK(read == !cases[i].complaint && fourrow_game_over(&game) == cases[i].over);
        if (!CHECK(!strncmp(complaint.text, expected, strlen(expected)) && !strchr(complaint.text, '\n')))
            printf("    %s\n", complaint.text);
    }
}

/* ---- files ---- */

static int read_text(const char *text, fourrow_lines *lines, app_error *error) {
    char name[] = "/tmp/fourrow_XXXXXX";
    int file = mkstemp(name);
    CHECK(file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text) && close(file) == 0);
    int status = fourrow_lines_read(lines, name, error);
    unlink(name);
    return status;
}

static void test_files(void) {
    static const char *const wrong[][2] = {
        {"", ": holds no positions"},
        {"# nothing\n\n", ": holds no positions"},
        {"44\n48 1\n", ": line 2: character 2, '8', "},
        {"44 22\n", ": line 1: \"22\" is not a score (accepted: -21 to 21"},
        {"44 -22\n", ": line 1: \"-22\" is not a score"},
        {"44 one\n", ": line 1: \"one\" is not a score"},
        {"44 1 2\n", ": line 1: \"2\" is one word too many"},
        {"\n4142434 1\n", ": line 2: the game is over"},
        {"\001\n", ": line 1: byte 0x01"},
    };
    fourrow_lines lines;
    app_error error = {""};
    check_at("a file");
    CHECK(read_text("# moves score\n4453 -2\n\n  12\t3\r\n7", &lines, &error) == 0 && lines.count == 3);
    if (lines.count == 3) {
        CHECK(lines.at[0].number == 2 && lines.at[0].has_score && lines.at[0].score == -2);
        CHECK(lines.at[1].number == 4 && lines.at[1].has_score && lines.at[1].score == 3);
        CHECK(lines.at[2].number == 5 && !lines.at[2].has_score && fourrow_count(lines.at[2].board.mask) == 1);
    }
    free(lines.at);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        check_at("a file with %s", wrong[i][0]);
        if (!CHECK(read_text(wrong[i][0], &lines, &error) == 1 && strstr(error.text, wrong[i][1]) && !lines.at))
            printf("    %s\n", error.text);
    }
    CHECK(fourrow_lines_read(&lines, "/nowhere/at/all", &error) == 1 && strstr(error.text, "/nowhere/at/all: "));
}

/* ---- lookahead ---- */

static FILE *open_data(const char *name) {
    const char *folder = getenv("BALLAST_DATA");
    char path[4096];
    snprintf(path, sizeof path, "%s/connect4/%s", folder ? folder : "", name);
    FILE *file = folder ? fopen(path, "r") : NULL;
    if (!file)
        printf("skipped: BALLAST_DATA has no connect4/%s\n", name);
    return file;
}

static void test_known_nodes(void) {
    FILE *file = open_data("perft_7x6.tsv");
    char line[256];
    uint64_t nodes = 0;
    check_at("known nodes");
    CHECK_SAME(fourrow_known_nodes(7), 960792);
    CHECK_SAME(fourrow_known_nodes(13), 0);
    while (file && fgets(line, sizeof line, file)) {
        unsigned plies;
        uint64_t sequences;
        if (sscanf(line, "%u %" SCNu64, &plies, &sequences) != 2)
            continue;
        nodes += sequences;
        CHECK_SAME(fourrow_known_nodes(plies), nodes);
    }
    if (file)
        fclose(file);
}

/* Minimax again, on the board of characters: the value of a move to the side that made it. */
static int plain_minimax(plain *p, uint32_t left, uint64_t *nodes) {
    char last = p->stones % 2 ? 'X' : 'O';
    int best = -FOURROW_WIN - 1;
    ++*nodes;
    if (left == 0 || plain_won(p, last) || p->stones == FOURROW_CELLS)
        return plain_value(p, last);
    for (uint32_t column = 0; column < FOURROW_COLUMNS; column++) {
        int row = plain_height(p, column);
        if (row == FOURROW_ROWS)
            continue;
        p->cell[column][row] = plain_turn(p);
        p->stones++;
        int value = plain_minimax(p, left - 1, nodes);
        p->stones--;
        p->cell[column][row] = 0;
        best = value > best ? value : best;
    }
    return -best;
}

static void same_outlook(const char *moves, uint32_t lookahead) {
    fourrow_game game = game_of(moves);
    fourrow_outlook outlook;
    uint64_t nodes = 0;
    int best = -FOURROW_WIN - 1;
    uint32_t move = 0;
    check_at("lookahead %u from %s", lookahead, moves);
    fourrow_twin(&game.board, lookahead, &outlook);
    for (uint32_t column = 0; column < FOURROW_COLUMNS; column++) {
        plain p;
        memset(&p, 0, sizeof p);
        for (const char *c = moves; *c; c++, p.stones++)
            p.cell[*c - '1'][plain_height(&p, (uint32_t)(*c - '1'))] = plain_turn(&p);
        int row = plain_height(&p, column);
        if (!CHECK(outlook.open[column] == (row < FOURROW_ROWS)) || row == FOURROW_ROWS)
            continue;
        p.cell[column][row] = plain_turn(&p);
        p.stones++;
        int value = plain_minimax(&p, lookahead - 1, &nodes);
        CHECK_SAME(outlook.values[column], value);
        if (value > best) {
            best = value;
            move = column;
        }
    }
    CHECK_SAME(outlook.move, move);
    CHECK_SAME(outlook.nodes, nodes);
}

static void test_lookahead(void) {
    fourrow_outlook outlook;
    fourrow_board empty = {0, 0};
    for (uint32_t n = 1; n <= 7; n++) {
        check_at("twin, lookahead %u", n);
        fourrow_twin(&empty, n, &outlook);
        CHECK_SAME(outlook.nodes, fourrow_known_nodes(n));
    }
    same_outlook("", 4);
    same_outlook("4453", 4);
    same_outlook("444444", 4);
    same_outlook("415263", 2); /* both sides can win at once */
    same_outlook("4151", 3);
    same_outlook("22534453367345357621264552273777114164", 4); /* to the last cell */
}

/* ---- the table ---- */

static fourrow_table table_of(uint32_t bits) {
    fourrow_table table = {calloc((size_t)1 << bits, sizeof(uint64_t)), bits, 0};
    if (!table.words)
        exit(check_end());
    return table;
}

static const fourrow_bounds nothing_known = {-22, 22};

/* Bounds that only this key has. */
static fourrow_bounds bounds_of(uint64_t key) {
    fourrow_bounds bounds = {(int32_t)(key % 20) - 21, (int32_t)(key / 20 % 20) + 2};
    return bounds;
}

static bool same_bounds(fourrow_bounds a, fourrow_bounds b) { return a.lower == b.lower && a.upper == b.upper; }

static void test_table(void) {
    fourrow_table table = table_of(1);
    fourrow_board empty = {0, 0}, full = {0, FOURROW_ALL};
    check_at("table");
    CHECK(fourrow_key(&empty) == 1 && fourrow_key(&full) >> 49 == 0);
    for (int i = 0; i < 10000; i++) {
        uint64_t key = 1 + random32() % 50;
        fourrow_bounds found = nothing_known;
        fourrow_recall(&table, key, &found);
        CHECK(same_bounds(found, nothing_known) || same_bounds(found, bounds_of(key)));
        fourrow_store(&table, key, random32() % 43, bounds_of(key));
        found = nothing_known;
        fourrow_recall(&table, key, &found);
        CHECK(same_bounds(found, bounds_of(key)));
    }
    fourrow_bounds narrow = {-1, 0};
    fourrow_store(&table, 1, 42, nothing_known);
    fourrow_recall(&table, 1, &narrow);
    CHECK(narrow.lower == -1 && narrow.upper == 0);
    free(table.words);
}

typedef struct hammer {
    const fourrow_table *table;
    uint64_t seed, wrong, found;
} hammer;

/* Threads overwrite each other's entries in four words: a lookup is right or finds nothing. */
static void *hammer_table(void *argument) {
    hammer *h = argument;
    uint64_t state = h->seed;
    for (int i = 0; i < 200000 / CHECK_SLOWER; i++) {
        uint64_t random = check_random(&state), key = 1 + (random >> 40) % 12;
        fourrow_bounds found = nothing_known;
        if (random >> 60 & 1)
            fourrow_store(h->table, key, (uint32_t)(random >> 50 & 31), bounds_of(key));
        fourrow_recall(h->table, key, &found);
        h->found += !same_bounds(found, nothing_known);
        h->wrong += !same_bounds(found, nothing_known) && !same_bounds(found, bounds_of(key));
    }
    return NULL;
}

static void test_table_threads(void) {
    enum { THREADS = 4 };
    fourrow_table table = table_of(2);
    pthread_t threads[THREADS];
    hammer hammers[THREADS];
    check_at("table with threads");
    for (uint64_t i = 0; i < THREADS; i++) {
        hammers[i] = (hammer){&table, i + 1, 0, 0};
        if (!CHECK(pthread_create(&threads[i], NULL, hammer_table, &hammers[i]) == 0))
            exit(check_end());
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        CHECK(hammers[i].wrong == 0 && hammers[i].found > 0);
    }
    free(table.words);
}

/* ---- the search ---- */

static int32_t score_of(fourrow_search *search, const fourrow_board *b) {
    fourrow_bounds bounds = fourrow_before(b);
    while (bounds.lower < bounds.upper) {
        int32_t bound = fourrow_probe(bounds);
        CHECK(bound > bounds.lower && bound <= bounds.upper);
        int32_t value = fourrow_at_least(search, b, fourrow_count(b->mask), bound);
        CHECK(value >= bounds.lower && value <= bounds.upper);
        if (value >= bound)
            bounds.lower = value;
        else
            bounds.upper = value;
    }
    return bounds.lower;
}

/* A game of `stones` random moves without a winner. */
static bool random_position(fourrow_board *b, uint32_t stones) {
    *b = (fourrow_board){0, 0};
    for (uint32_t i = 0; i < stones; i++) {
        *b = fourrow_drop(b, fourrow_nth(b, random32() % fourrow_count(fourrow_possible(b))));
        if (fourrow_is_won(b))
            return false;
    }
    return true;
}

/* Every possible question, with tables from tiny to ample. */
static void test_search(void) {
    for (int i = 0; i < 2000 / CHECK_SLOWER; i++) {
        fourrow_table table = table_of(1 + random32() % 12);
        fourrow_search search = {.table = &table};
        fourrow_board b;
        int32_t score;
        check_at("search, position %d", i);
        if (random_position(&b, 26 + random32() % 16) && CHECK(fourrow_twin_score(&b, &score))) {
            CHECK(score_of(&search, &b) == score);
            for (int32_t bound = -21; bound <= 21 && !fourrow_can_win(&b); bound++) {
                int32_t value = fourrow_at_least(&search, &b, fourrow_count(b.mask), bound);
                CHECK((value >= bound) == (score >= bound) && (value >= bound ? value <= score : value >= score));
            }
        }
        free(table.words);
    }
}

static void test_ends(void) {
    fourrow_game won = game_of("4142434"), last = game_of("22534453367345357621264552273777114164116");
    fourrow_bounds bounds = fourrow_before(&won.board);
    check_at("ends");
    CHECK(bounds.lower == -18 && bounds.upper == -18); /* the winner has played 4 stones */
    fourrow_game win = game_of("414243");
    bounds = fourrow_before(&win.board);
    CHECK(bounds.lower == 18 && bounds.upper == 18);
    bounds = fourrow_before(&last.board);
    CHECK(bounds.lower <= 0 && bounds.upper >= 0);
    last = game_of("225344533673453576212645522737771141641166");
    bounds = fourrow_before(&last.board);
    CHECK(bounds.lower == 0 && bounds.upper == 0);
}

static void test_known_scores(const char *name) {
    FILE *file = open_data(name);
    char path[4096];
    fourrow_lines lines;
    app_error error = {""};
    if (!file)
        return;
    fclose(file);
    snprintf(path, sizeof path, "%s/connect4/%s", getenv("BALLAST_DATA"), name);
    check_at("%s", name);
    if (!CHECK(fourrow_lines_read(&lines, path, &error) == 0 && lines.count == 1000))
        return;
    fourrow_table table = table_of(18);
    fourrow_search search = {.table = &table};
    for (uint32_t i = 0; i < lines.count; i += CHECK_SLOWER) {
        check_at("%s, line %" PRIu32, name, lines.at[i].number);
        CHECK(lines.at[i].has_score && score_of(&search, &lines.at[i].board) == lines.at[i].score);
    }
    free(table.words);
    free(lines.at);
}

int main(void) {
    check_limit(120);
    test_board();
    test_values();
    test_games();
    test_files();
    test_known_nodes();
    test_lookahead();
    test_table();
    test_table_threads();
    test_ends();
    test_search();
    test_known_scores("Test_L3_R1");
    test_known_scores("Test_L2_R1");
    return check_end();
}
