/* Files of positions in four in a row, and positions as users type them. */
#include "fuzz.h"

#include "fourrow/fourrow.h"

#include <stdlib.h>

static void read_file(const uint8_t *data, size_t size) {
    fourrow_lines lines;
    app_error error = {""};
    if (fourrow_lines_read(&lines, fuzz_file("positions.txt", data, size), &error) != 0) {
        fuzz_check_line(error.text);
        return;
    }
    FUZZ_CHECK(lines.count > 0);
    for (uint32_t i = 0; i < lines.count; i++)
        FUZZ_CHECK(!lines.at[i].has_score || (lines.at[i].score >= -21 && lines.at[i].score <= 21));
    free(lines.at);
}

static void read_moves(const uint8_t *data, size_t size) {
    fourrow_game game;
    fourrow_complaint complaint = {""};
    if (fourrow_game_read(&game, (const char *)data, size, &complaint))
        FUZZ_CHECK(game.stones == size && size <= 42);
    else
        fuzz_check_line(complaint.text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    read_moves(data, size);
    read_file(data, size);
    return 0;
}
