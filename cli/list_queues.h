/* The queues' section of ballast list. */
#ifndef BALLAST_CLI_LIST_QUEUES_H
#define BALLAST_CLI_LIST_QUEUES_H

#include "options.h"
#include "output.h"

void queues_text(void);
void queues_json(json_writer *json);

#endif
