/* A lookahead on a device: the moves of the position are the roots of one run. */
#define FOURROW_WITHOUT_PROGRAM
#include "fourrow.h"

#include "common/app.h"
#include "task.h"

#include <string.h>

APP_PROGRAM(fourrow_program, fourrow)

void fourrow_choose(fourrow_outlook *outlook) {
    uint32_t column = 0;
    while (column < FOURROW_COLUMNS - 1 && !outlook->open[column])
        column++;
    outlook->move = column;
    for (; column < FOURROW_COLUMNS; column++)
        if (outlook->open[column] && outlook->values[column] > outlook->values[outlook->move])
            outlook->move = column;
}

void fourrow_spread(const fourrow_board *board, const int32_t *values, fourrow_outlook *outlook) {
    uint64_t possible = fourrow_possible(board);
    uint32_t count = 0;
    for (uint32_t column = 0; column < FOURROW_COLUMNS; column++) {
        outlook->open[column] = (possible & fourrow_column(column)) != 0;
        outlook->values[column] = outlook->open[column] ? values[count++] : 0;
    }
    fourrow_choose(outlook);
}

int fourrow_look(bl_context *context, const fourrow_board *board, uint32_t lookahead, fourrow_totals *totals,
                 fourrow_outlook *outlook, bl_stats *stats) {
    fourrow_node roots[FOURROW_COLUMNS];
    int32_t values[FOURROW_COLUMNS];
    uint32_t count = fourrow_count(fourrow_possible(board));
    fourrow_shared shared = {.totals = totals, .lookahead = lookahead, .roots = count};
    for (uint32_t i = 0; i < count; i++)
        roots[i] = (fourrow_node){.board = *board, .level = 1, .first = i};
    int status = bl_zero(context, totals, sizeof *totals);
    if (status == BL_OK)
        status = bl_run_join(context, fourrow_program(), &shared, roots, count, values, stats);
    if (status == BL_OK)
        status = app_add_memories(context, &outlook->nodes, &totals->nodes);
    if (status == BL_OK)
        fourrow_spread(board, values, outlook);
    return status;
}
