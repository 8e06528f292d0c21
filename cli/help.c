/* --help of the tool and of its commands. */
#include "output.h"
#include "tool.h"

#include <string.h>

int command_help(const command *c) {
    const char *name, *text = NULL;
    printf("usage: ballast %s %s\n\n%s\n", c->name, c->usage, c->about);
    if (c->words)
        printf("\n%s\n", c->words);
    for (unsigned i = 0; c->words && (name = c->word_at(i, &text)); i++)
        printf("  %-12s  %s\n", name, text);
    puts("\noptions");
    options_help(c->options);
    return STATUS_OK;
}

int tool_help(const tool *t) {
    printf("ballast: %s\n\nusage: ballast COMMAND [options]\n\ncommands; ballast COMMAND --help lists their options\n",
           t->text);
    for (unsigned i = 0; t->commands[i]; i++)
        printf("  %-6s  %s\n", t->commands[i]->name, t->commands[i]->text);
    puts("\noptions");
    options_help(t->options);
    puts("\nenvironment");
    options_help(t->environment);
    puts("\nexit status");
    options_help(t->statuses);
    return STATUS_OK;
}
