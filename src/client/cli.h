/* What the commands of dljob share: options, kinds, messages, exit codes. */
#ifndef CLIENT_CLI_H
#define CLIENT_CLI_H

#include "base/arena.h"
#include "kind/kind.h"
#include "term/opts.h"

enum exit_code {
	CLI_OK = 0,
	CLI_FAILED = 1,
	CLI_INVALID = 2, /* the input is wrong, or the command is used wrongly */
	CLI_TIMED_OUT = 124,
	CLI_INTERRUPTED = 130,
};

struct cli {
	const struct cli_command *command;
	const char *program; /* how it was called: dljob, or kubectl dljob */
	/* Set: cli_parse() hands it the command's options instead of taking any, and says CLI_OK. For completion and
	   manual pages, which are made of the same tables. */
	void (*describe)(void *cookie, const struct opt *opts, size_t n);
	void *describe_cookie;
	struct opt_list kinds_dirs;    /* --kinds-dir */
	const char *validate;          /* --validate; NULL: strict */
	const char *max_pod, *max_job; /* --max-pod-size, --max-job-size; NULL: as dl-operator has them */
	struct arena arena;
	enum exit_code status; /* why cli_parse() or cli_kinds() gave nothing */
};

struct cli_command {
	const char *name;
	const char *operands; /* FILE… */
	const char *summary;  /* one line; NULL: not for people, so not in the list */
	const char *help;     /* more, for --help */
	const char *example;
	enum exit_code (*run)(struct cli *cli, int argc, char **argv);
};

void command_help(const struct cli *cli, const struct opt *opts, size_t n, FILE *to);

/* Where the first -- stands, behind which a command begins that is not ours; ARGC: there is none. */
int cli_dashes(int argc, char **argv);

/* opts_parse() with the options that every command has. -1: help was asked for and given, or the use
   is wrong and that was said; return cli->status. */
int cli_parse(struct cli *cli, const struct opt *opts, size_t n, int argc, char **argv);
enum { SIZE_OPTS = 3 };
/* --validate, and --max-pod-size and --max-job-size for an operator which has them: of commands that check jobs. */
void cli_size_opts(struct cli *cli, struct opt ret[static SIZE_OPTS]);
/* What --validate says, which cli_kinds() has looked at. */
enum unknown_fields cli_unknown_fields(const struct cli *cli);
/* The compiled-in kinds and those of --kinds-dir and DL_OPERATOR_KINDS. NULL: return cli->status. */
struct kinds *cli_kinds(struct cli *cli);
/* The same for a process that goes on without: nothing is said. */
struct kinds *cli_kinds_try(struct cli *cli, struct err *e);
/* The folders that kinds come from, added to RET; the texts live as long as the cli. */
void cli_kinds_dirs(struct cli *cli, struct opt_list *ret);

/* One line on standard error that names the command. The first returns CLI_INVALID and points to --help. */
enum exit_code cli_usage(struct cli *cli, const char *fmt, ...) PRINTF_LIKE(2, 3);
enum exit_code cli_fail(struct cli *cli, enum exit_code status, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* -o: how objects are written. */
enum output_format { FORMAT_YAML, FORMAT_JSON };
/* False, with the usage error said, if TEXT is neither yaml nor json. */
bool cli_format(struct cli *cli, const char *text, enum output_format *ret);

/* Has whoever read standard output left: head, less? Seen at once, and not only when something is written. */
bool cli_output_unread(void);
/* Has writing to standard output failed, or would it? Worth asking after each large piece: it also keeps the reason. */
bool cli_output_broken(void);
/* Closes standard output. False, with the reason said, if something could not be written. */
bool cli_output_end(void);

#endif
