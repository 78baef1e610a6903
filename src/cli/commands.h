/* The table of commands, and the commands. */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include "client/cli.h"

/* All commands; the last one has no name. */
extern const struct cli_command commands[];
const struct cli_command *command_find(struct str name);
void commands_help(const struct cli *cli, FILE *to);
/* The command's options, to CLI's `describe`. */
void command_describe(struct cli *cli, const struct cli_command *c);
/* man.c: the manual page of dljob. */
void man_dljob(FILE *to);

enum exit_code cmd_complete(struct cli *cli, int argc, char **argv);
enum exit_code cmd_completion(struct cli *cli, int argc, char **argv);
enum exit_code cmd_cp(struct cli *cli, int argc, char **argv);
enum exit_code cmd_crds(struct cli *cli, int argc, char **argv);
enum exit_code cmd_exec(struct cli *cli, int argc, char **argv);
enum exit_code cmd_get(struct cli *cli, int argc, char **argv);
enum exit_code cmd_help(struct cli *cli, int argc, char **argv);
enum exit_code cmd_init(struct cli *cli, int argc, char **argv);
enum exit_code cmd_list(struct cli *cli, int argc, char **argv);
enum exit_code cmd_kinds(struct cli *cli, int argc, char **argv);
enum exit_code cmd_pod(struct cli *cli, int argc, char **argv);
enum exit_code cmd_port_forward(struct cli *cli, int argc, char **argv);
enum exit_code cmd_render(struct cli *cli, int argc, char **argv);
enum exit_code cmd_delete(struct cli *cli, int argc, char **argv);
enum exit_code cmd_local(struct cli *cli, int argc, char **argv);
enum exit_code cmd_logs(struct cli *cli, int argc, char **argv);
enum exit_code cmd_rerun(struct cli *cli, int argc, char **argv);
enum exit_code cmd_resume(struct cli *cli, int argc, char **argv);
enum exit_code cmd_scale(struct cli *cli, int argc, char **argv);
enum exit_code cmd_submit(struct cli *cli, int argc, char **argv);
enum exit_code cmd_suspend(struct cli *cli, int argc, char **argv);
enum exit_code cmd_top(struct cli *cli, int argc, char **argv);
enum exit_code cmd_wait(struct cli *cli, int argc, char **argv);
enum exit_code cmd_run(struct cli *cli, int argc, char **argv);
enum exit_code cmd_validate(struct cli *cli, int argc, char **argv);
enum exit_code cmd_version(struct cli *cli, int argc, char **argv);

#endif
