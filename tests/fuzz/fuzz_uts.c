/* Options of a UTS tree: a line for each, in their order. */
#include "fuzz.h"

#include "uts/tree.h"

#include <math.h>
#include <stdlib.h>

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
        for (uint32_t depth = 1; depth < 20; depth++) /* the same children by rule and by table */
            FUZZ_CHECK(uts_rule(&tree, depth, 1u << depth) <= 100);
        (void)uts_root_children(&tree);
        uts_table_free(&table);
    }
    free(text);
    return 0;
}
