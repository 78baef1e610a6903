/* What the commands of dljob share: the table of commands, options, messages, exit codes. */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include "base/arena.h"
#include "cli/opts.h"
#include "kind/kind.h"

enum exit_code {
	CLI_WELL = 0,
	CLI_FAILED = 1,
	CLI_INVALID = 2, /* the input is wrong, or the command is used wrongly */
	CLI_TIMED_OUT = 124,
	CLI_INTERRUPTED = 130,
};

struct cli {
	const struct command *command;
	const char *program; /* how it was called: dljob, or kubectl dljob */
	/* Set: cli_parse() hands it the command's options instead of taking any, and says CLI_WELL. For completion and
	   manual pages, which are made of the same tables. */
	void (*describe)(void *cookie, const struct opt *opts, size_t n);
	void *describe_cookie;
	struct opt_list kinds_dirs; /* --kinds-dir */
	struct arena arena;
	enum exit_code status; /* why cli_parse() or cli_kinds() gave nothing */
};

struct command {
	const char *name;
	const char *operands; /* FILE… */
	const char *summary;  /* one line; NULL: not for people, so not in the list */
	const char *help;     /* more, for --help */
	const char *example;
	enum exit_code (*run)(struct cli *cli, int argc, char **argv);
};

/* All commands; the last one has no name. */
extern const struct command commands[];
const struct command *command_find(struct str name);
void command_help(const struct cli *cli, const struct opt *opts, size_t n, FILE *to);
void commands_help(const struct cli *cli, FILE *to);
/* The command's options, to CLI's `describe`. */
void command_describe(struct cli *cli, const struct command *c);

/* opts_parse() with the options that every command has. -1: help was asked for and given, or the use
   is wrong and that was said; return cli->status. */
int cli_parse(struct cli *cli, const struct opt *opts, size_t n, int argc, char **argv);
/* The compiled-in kinds and those of --kinds-dir and DL_OPERATOR_KINDS. NULL: return cli->status. */
struct kinds *cli_kinds(struct cli *cli);

/* One line on standard error that names the command. The first returns CLI_INVALID and points to --help. */
enum exit_code cli_usage(struct cli *cli, const char *fmt, ...) PRINTF_LIKE(2, 3);
enum exit_code cli_fail(struct cli *cli, enum exit_code status, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* -o: how objects are written. */
enum format { FORMAT_YAML, FORMAT_JSON };
/* False, with the usage error said, if TEXT is neither yaml nor json. */
bool cli_format(struct cli *cli, const char *text, enum format *ret);

/* Has writing to standard output failed? Worth asking after each large piece: it also keeps the reason. */
bool cli_output_broken(void);
/* Closes standard output. False, with the reason said, if something could not be written. */
bool cli_output_end(void);

enum exit_code cmd_complete(struct cli *cli, int argc, char **argv);
enum exit_code cmd_completion(struct cli *cli, int argc, char **argv);
enum exit_code cmd_crds(struct cli *cli, int argc, char **argv);
enum exit_code cmd_get(struct cli *cli, int argc, char **argv);
enum exit_code cmd_help(struct cli *cli, int argc, char **argv);
enum exit_code cmd_list(struct cli *cli, int argc, char **argv);
enum exit_code cmd_kinds(struct cli *cli, int argc, char **argv);
enum exit_code cmd_pod(struct cli *cli, int argc, char **argv);
enum exit_code cmd_render(struct cli *cli, int argc, char **argv);
enum exit_code cmd_delete(struct cli *cli, int argc, char **argv);
enum exit_code cmd_local(struct cli *cli, int argc, char **argv);
enum exit_code cmd_logs(struct cli *cli, int argc, char **argv);
enum exit_code cmd_rerun(struct cli *cli, int argc, char **argv);
enum exit_code cmd_resume(struct cli *cli, int argc, char **argv);
enum exit_code cmd_scale(struct cli *cli, int argc, char **argv);
enum exit_code cmd_submit(struct cli *cli, int argc, char **argv);
enum exit_code cmd_suspend(struct cli *cli, int argc, char **argv);
enum exit_code cmd_wait(struct cli *cli, int argc, char **argv);
enum exit_code cmd_run(struct cli *cli, int argc, char **argv);
enum exit_code cmd_validate(struct cli *cli, int argc, char **argv);
enum exit_code cmd_version(struct cli *cli, int argc, char **argv);

#endif
