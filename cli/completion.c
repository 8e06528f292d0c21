/* Completion of the command line in bash and zsh. */
#include "output.h"
#include "tool.h"

#include <string.h>

/* `name` of every row, after a space each. */
static void put_names(const app_option *row) {
    for (; row && row->name; row++)
        printf(" %s", row->name);
}

static bool takes_folder(const command *c) { return !c->word_at && strncmp(c->usage, "DIR", 3) == 0; }
static bool takes_several(const command *c) { return strstr(c->usage, "...") != NULL; }

/* ---- bash ---- */

static void bash_words(const command *c) {
    const char *text, *word;
    for (unsigned i = 0; c->word_at && (word = c->word_at(i, &text)); i++)
        printf(" %s", word);
}

/* How the values of these options are completed: cases of "COMMAND WORD OPTION". NULL: any word, or none. */
static void bash_values(const char *command, const char *word, const app_option *row) {
    static const char *const KINDS[] = {NULL, "free", "words", "list", "files", "folders"};
    for (; row && row->name; row++) {
        value_kind kind = value_kind_of(row);
        if (kind == VALUE_NONE)
            continue;
        if (word)
            printf("    '%s %s %s') kind=%s", command, word, row->name, KINDS[kind]);
        else
            printf("    '%s '*' %s') kind=%s", command, row->name, KINDS[kind]);
        if (kind == VALUE_WORDS || kind == VALUE_LIST) {
            fputs(" words='", stdout);
            const char *value;
            for (unsigned i = 0; (value = value_word(row, i)) != NULL; i++)
                printf("%s%s", i ? " " : "", value);
            putchar('\'');
        }
        puts(" ;;");
    }
}

static void bash_command(const command *c) {
    printf("    %s)\n        options='", c->name);
    put_names(c->options);
    fputs("' words='", stdout);
    bash_words(c);
    printf("'%s%s ;;\n", takes_several(c) ? " several=1" : "", takes_folder(c) ? " operand=folders" : "");
}

/* The options that a word of the command adds. */
static void bash_word_options(const command *c) {
    const char *text, *word;
    for (unsigned i = 0; c->options_of && (word = c->word_at(i, &text)); i++) {
        printf("        '%s %s') options+='", c->name, word);
        put_names(c->options_of(word));
        puts("' ;;");
    }
}

static void bash_commands(const tool *t) {
    for (unsigned i = 0; t->commands[i]; i++)
        printf(" %s", t->commands[i]->name);
}

int print_bash_completion(const tool *t) {
    puts("# Completion of ballast for bash, printed by `ballast --completion bash`.\n"
         "# shellcheck shell=bash\n"
         "_ballast() {\n"
         "    local line=${COMP_LINE:0:COMP_POINT} typed command chosen='' options='' words='' several='' operand=''\n"
         "    # Not COMP_WORDS, which cuts words at = and : in steal:abp.\n"
         "    read -ra typed <<<\"$line\"\n"
         "    [[ $line == *[[:space:]] ]] && typed+=('')\n"
         "    local last=$((${#typed[@]} - 1)) word\n"
         "    local cur=${typed[last]} option=${typed[last - 1]} value=${typed[last]} before='' kind=''\n"
         "    command=${typed[1]}\n"
         "    if ((last == 1)); then\n"
         "        command=''\n"
         "    fi\n"
         "    case $command in");
    fputs("    '' | -*)\n        options='", stdout);
    put_names(t->options);
    fputs("' words='", stdout);
    bash_commands(t);
    puts("' ;;");
    for (unsigned i = 0; t->commands[i]; i++)
        bash_command(t->commands[i]);
    puts("    *) return ;;\n"
         "    esac\n"
         "    for word in \"${typed[@]:2:last-2}\"; do\n"
         "        [[ \" $words \" == *\" $word \"* ]] || continue\n"
         "        case \"$command $word\" in");
    for (unsigned i = 0; t->commands[i]; i++)
        bash_word_options(t->commands[i]);
    puts("        esac\n"
         "        chosen=$word\n"
         "        words=\" $words \"\n"
         "        words=${words/\" $word \"/ }\n"
         "        [[ $several ]] || words='' operand=none\n"
         "    done\n"
         "    if [[ $cur == --*=* ]]; then\n"
         "        option=${cur%%=*} value=${cur#*=} before=${cur%%=*}=\n"
         "    fi\n"
         "    case \"$command $chosen $option\" in");
    for (unsigned i = 0; t->commands[i]; i++) {
        const command *c = t->commands[i];
        const char *text, *word;
        bash_values(c->name, NULL, c->options);
        for (unsigned k = 0; c->options_of && (word = c->word_at(k, &text)); k++)
            bash_values(c->name, word, c->options_of(word));
    }
    for (const app_option *row = t->options; row->name; row++) /* it stands where a command would */
        if (value_kind_of(row) != VALUE_NONE) {
            const app_option only[] = {*row, {NULL, NULL, NULL, NULL}};
            bash_values(row->name, NULL, only);
            bash_values("", NULL, only);
        }
    puts("    esac\n"
         "    if [[ $kind == list && $value == *,* ]]; then\n"
         "        before+=${value%,*}, value=${value##*,}\n"
         "    fi\n"
         "    if [[ ! $kind ]]; then\n"
         "        kind=${operand:-words} value=$cur before=''\n"
         "        if [[ $cur == -* || $kind == none || ($kind == words && ! $words) ]]; then\n"
         "            kind=words words=$options\n"
         "        fi\n"
         "    fi\n"
         "    case $kind in\n"
         "    free) COMPREPLY=() ;;\n"
         "    files | folders)\n"
         "        local action=file\n"
         "        [[ $kind == folders ]] && action=directory\n"
         "        mapfile -t COMPREPLY < <(compgen -A \"$action\" -P \"$before\" -- \"$value\")\n"
         "        compopt -o filenames 2>/dev/null ;;\n"
         "    *) mapfile -t COMPREPLY < <(compgen -W \"$words\" -P \"$before\" -- \"$value\") ;;\n"
         "    esac\n"
         "    # What lies before the last = or : is a word of its own where these separate words.\n"
         "    local breaks=${COMP_WORDBREAKS//[^=:]/} keep=''\n"
         "    [[ $breaks ]] && keep=${cur%\"${cur##*[\"$breaks\"]}\"}\n"
         "    COMPREPLY=(\"${COMPREPLY[@]#\"$keep\"}\")\n"
         "}\n"
         "complete -F _ballast ballast");
    return STATUS_OK;
}

/* ---- zsh ---- */

/* Text within single quotes of a specification for _arguments, of which these characters are part. */
static void zsh_put(const char *text, const char *special) {
    for (; *text; text++) {
        if (*text == '\'')
            fputs("'\\'", stdout);
        else if (strchr(special, *text))
            putchar('\\');
        putchar(*text == '\n' ? ' ' : *text);
    }
}

static void zsh_value(const app_option *row) {
    value_kind kind = value_kind_of(row);
    if (kind == VALUE_NONE)
        return;
    putchar(':');
    zsh_put(row->value, ":");
    putchar(':');
    if (kind == VALUE_FILE)
        fputs("_files", stdout);
    else if (kind == VALUE_FOLDER)
        fputs("_files -/", stdout);
    else if (kind == VALUE_FREE)
        putchar(' ');
    if (kind != VALUE_WORDS && kind != VALUE_LIST)
        return;
    fputs(kind == VALUE_LIST ? "_values -s , word" : "(", stdout);
    const char *word;
    for (unsigned i = 0; (word = value_word(row, i)) != NULL; i++) {
        fputs(i || kind == VALUE_LIST ? " " : "", stdout);
        zsh_put(word, ":");
    }
    fputs(kind == VALUE_LIST ? "" : ")", stdout);
}

static void zsh_options(const app_option *row) {
    for (; row && row->name; row++) {
        bool flag = value_kind_of(row) == VALUE_NONE, is_long = strncmp(row->name, "--", 2) == 0;
        printf("            '%s%s[", row->name, !flag && is_long ? "=" : "");
        zsh_put(row->text, "[]\\");
        putchar(']');
        zsh_value(row);
        puts("'");
    }
}

/* The words of a command, each with its line: ((word\:"line" ...)). */
static void zsh_words(const command *c) {
    const char *text = NULL, *word;
    if (takes_folder(c))
        puts("            '1:DIR:_files -/'");
    if (!c->word_at)
        return;
    printf("            '%s:word:((", takes_several(c) ? "*" : "1");
    for (unsigned i = 0; (word = c->word_at(i, &text)) != NULL; i++) {
        printf("%s%s", i ? " " : "", word);
        if (text) {
            fputs("\\:\"", stdout);
            zsh_put(text, ":\"\\`$");
            putchar('"');
        }
        text = NULL;
    }
    puts("))'");
}

static void zsh_command(const command *c) {
    const char *text, *word;
    printf("    %s)\n        specs=(\n", c->name);
    zsh_options(c->options);
    zsh_words(c);
    puts("        )");
    if (c->options_of) {
        puts("        for word in ${words[2,CURRENT-1]}; do\n            case $word in");
        for (unsigned i = 0; (word = c->word_at(i, &text)) != NULL; i++) {
            printf("            %s) specs+=(\n", word);
            zsh_options(c->options_of(word));
            puts("            ) ;;");
        }
        puts("            esac\n        done");
    }
    puts("        ;;");
}

int print_zsh_completion(const tool *t) {
    puts("#compdef ballast\n"
         "# Completion of ballast for zsh, printed by `ballast --completion zsh`.\n"
         "_ballast() {\n"
         "    local word\n"
         "    local -a specs\n"
         "    if ((CURRENT == 2)) || [[ $words[2] == -* ]]; then\n"
         "        specs=(");
    zsh_options(t->options);
    fputs("            '1:command:((", stdout);
    for (unsigned i = 0; t->commands[i]; i++) {
        printf("%s%s\\:\"", i ? " " : "", t->commands[i]->name);
        zsh_put(t->commands[i]->text, ":\"\\`$");
        putchar('"');
    }
    puts("))'\n"
         "        )\n"
         "        _arguments $specs\n"
         "        return\n"
         "    fi\n"
         "    shift words\n"
         "    ((CURRENT--))\n"
         "    case $words[1] in");
    for (unsigned i = 0; t->commands[i]; i++)
        zsh_command(t->commands[i]);
    puts("    *) return 1 ;;\n"
         "    esac\n"
         "    _arguments $specs\n"
         "}\n"
         "# Loaded by compinit, this file is the function; sourced, it only defines and registers it.\n"
         "if [[ $funcstack[1] == _ballast ]]; then\n"
         "    _ballast \"$@\"\n"
         "else\n"
         "    compdef _ballast ballast\n"
         "fi");
    return STATUS_OK;
}
