/* Options of a UTS tree, one per line, in order. */
#include "fuzz.h"

#include "uts/uts_tree.h"

#include <math.h>
#include <stdlib.h>

/* The table must agree with the rule. */
static void check_row(const uts_tree *tree, const uts_table *table, uint32_t depth) {
    static const uint32_t values[] = {0, 1, 12345678, 0x40000000, 0x7ffffffe, UTS_VALUE_MASK};
    const uts_row *row = &table->rows[depth];
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        uint32_t passed = 0;
        while (passed <= UTS_MOST_CHILDREN && row->thresholds[passed] <= (values[i] ^ row->flip))
            passed++;
        FUZZ_CHECK(passed * row->step == uts_rule(tree, depth, values[i]));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = fuzz_text(data, size), *at = text;
    const char *values[UTS_OPTION_R + 1];
    for (int i = 0; i <= UTS_OPTION_R; i++) {
        const char *line = fuzz_next_line(&at);
        values[i] = line ? line : "";
    }
    uts_tree tree;
    uts_table table;
    app_error error = {""};
    if (uts_tree_parse(&tree, values, &error) != 0) {
        fuzz_check_line(error.text);
    } else {
        FUZZ_CHECK(tree.t < UTS_TYPES && tree.a < UTS_SHAPES && isfinite(tree.b) && isfinite(tree.q));
        FUZZ_CHECK(uts_table_make(&table, &tree) == BL_OK);
        for (uint32_t depth = 1; depth < table.count && depth < 40; depth++)
            check_row(&tree, &table, depth);
        (void)uts_root_children(&tree);
        uts_table_free(&table);
    }
    free(text);
    return 0;
}
