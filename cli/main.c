/* ballast: the command line of the library. This file only dispatches; each command has its own file. */
#include "options.h"
#include "output.h"

#include <fcntl.h>
#include <string.h>

typedef struct command {
    const char *name;
    const char *text;
    int (*function)(int argc, char **argv);
} command;

static const command COMMANDS[] = {
    {"list", "list the apps, queues, schedulers and devices", command_list},
    {"run", "solve one problem, verify the result, print a summary", command_run},
    {"bench", "run an experiment: rows to the screen and to a file", command_bench},
    {"play", "play four in a row against the computer", command_play},
    {"report", "write one HTML page with plots of those rows", command_report},
    {"verify", "test that queues keep their claims, on this machine and device", command_verify},
};
enum { COMMAND_COUNT = sizeof COMMANDS / sizeof COMMANDS[0] };

static int help(void) {
    puts("ballast: dynamic load balancing on CPUs and GPUs\n\nusage: ballast COMMAND [options]\n\ncommands");
    for (int i = 0; i < COMMAND_COUNT; i++)
        printf("  %-6s  %s\n", COMMANDS[i].name, COMMANDS[i].text);
    puts("\nballast COMMAND --help lists the options of a command, ballast --version prints the version.\n"
         "Exit status: 0 success; 1 the run failed, or its result failed verification; 2 invalid usage.");
    return STATUS_OK;
}

static int wrong_command(const char *problem) {
    name_list accepted = {0};
    for (int i = 0; i < COMMAND_COUNT; i++)
        name_list_add(&accepted, COMMANDS[i].name);
    return wrong_use("%.80s (accepted: %s, --help, --version)", problem, accepted.text);
}

static int dispatch(int argc, char **argv) {
    if (argc < 2)
        return wrong_command("command missing");
    if (strcmp(argv[1], "--help") == 0)
        return help();
    if (strcmp(argv[1], "--version") == 0) {
        printf("ballast %s\n", bl_version());
        return STATUS_OK;
    }
    for (int i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(argv[1], COMMANDS[i].name) == 0)
            return COMMANDS[i].function(argc - 2, argv + 2);
    char problem[80];
    snprintf(problem, sizeof problem, "%.48s: unknown %s", argv[1], options_is(argv[1]) ? "option" : "command");
    return wrong_command(problem);
}

/* If a standard stream is closed, the next file that is opened gets its number, and printed text would end up in that
 * file. So occupy these numbers with descriptors that reject the access: reading or writing still fails, as before. */
static bool take_standard_streams(void) {
    for (int i = 0; i <= 2; i++)
        if (fcntl(i, F_GETFD) < 0 && open("/dev/null", i == 0 ? O_WRONLY : O_RDONLY) != i)
            return false;
    return true;
}

int main(int argc, char **argv) {
    if (!take_standard_streams())
        return STATUS_FAILED;
    int status = dispatch(argc, argv);
    int output = finish_output();
    return status ? status : output;
}
