/* ballast: the command line of the library. This file only dispatches; each command has its own file. */
#include "output.h"
#include "tool.h"

#include <fcntl.h>
#include <string.h>

static const char *const SHELLS[] = {"bash", "zsh", NULL};

static const app_option TOOL_OPTIONS[] = {
    {"--help", NULL, "", "print this help"},
    {"--version", NULL, "", "print the version"},
    {"--manual", NULL, "", "print the manual page, for man -l"},
    {"--completion", "bash|zsh", "", "print the completion for this shell"},
    {NULL, NULL, NULL, NULL},
};
static const app_option ENVIRONMENT[] = {
    {"BALLAST_WORKERS", "N", "", "use at most N workers on the CPU, unless --workers is given"},
    {"BALLAST_LOG", "1", "", "print one line per run on standard error: device, scheduler, tasks, times, steals"},
    {NULL, NULL, NULL, NULL},
};
static const app_option STATUSES[] = {
    {"0", NULL, "", "success"},
    {"1", NULL, "", "the run failed, or its result failed verification"},
    {"2", NULL, "", "wrong usage"},
    {NULL, NULL, NULL, NULL},
};
static const command *const COMMANDS[] = {
    &list_command, &run_command, &bench_command, &play_command, &report_command, &soak_command, &verify_command, NULL,
};
static const tool TOOL = {
    .text = "dynamic load balancing on CPUs and GPUs",
    .options = TOOL_OPTIONS,
    .environment = ENVIRONMENT,
    .statuses = STATUSES,
    .commands = COMMANDS,
};

static int wrong_command(const char *problem) {
    name_list accepted = {0};
    for (int i = 0; COMMANDS[i]; i++)
        name_list_add(&accepted, COMMANDS[i]->name);
    for (int i = 0; TOOL_OPTIONS[i].name; i++)
        name_list_add(&accepted, TOOL_OPTIONS[i].name);
    return wrong_use("%.80s (accepted: %s)", problem, accepted.text);
}

static int print_version(void) {
    printf("ballast %s\n", bl_version());
    return STATUS_OK;
}

/* An option in place of a command. */
static int own_option(int argc, char **argv) {
    options set = {.command = "ballast"};
    int at = 0, shell = -1;
    options_add(&set, TOOL_OPTIONS);
    int status = options_take(&set, argv, &at);
    if (status)
        return status;
    if (at < argc)
        return wrong_use("%.64s: unexpected after %.64s (accepted: nothing)", argv[at], argv[0]);
    if (options_given(&set, "--help"))
        return tool_help(&TOOL);
    if (options_given(&set, "--version"))
        return print_version();
    if (options_given(&set, "--manual"))
        return print_manual(&TOOL);
    status = option_choice(&set, "--completion", SHELLS, &shell);
    if (status)
        return status;
    return shell == 0 ? print_bash_completion(&TOOL) : print_zsh_completion(&TOOL);
}

static int dispatch(int argc, char **argv) {
    if (argc < 2)
        return wrong_command("command missing");
    if (options_is(argv[1]))
        return own_option(argc - 1, argv + 1);
    for (int i = 0; COMMANDS[i]; i++)
        if (strcmp(argv[1], COMMANDS[i]->name) == 0)
            return COMMANDS[i]->run(argc - 2, argv + 2);
    char problem[80];
    snprintf(problem, sizeof problem, "%.48s: unknown command", argv[1]);
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
