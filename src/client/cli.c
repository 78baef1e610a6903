#include "client/cli.h"

#include "term/bytes.h"
#include "term/plain.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <unistd.h>

enum { OPTIONS_MAX = 32 };

void command_help(const struct cli *cli, const struct opt *opts, size_t n, FILE *to)
{
	const struct cli_command *c = cli->command;
	const char *rest = strncmp(c->example, "dljob ", 6) ? NULL : c->example + 5;

	fprintf(to, "usage: %s %s [options]%s%s\n\n%s\nOptions:\n", cli->program, c->name, *c->operands ? " " : "",
	        c->operands, c->help);
	opts_help(opts, n, to);
	fprintf(to, "\nExample:\n  %s%s\n", rest ? cli->program : "", rest ? rest : c->example);
}

int cli_dashes(int argc, char **argv)
{
	int at = 0;

	while (at < argc && strcmp(argv[at], "--") != 0)
		at++;
	return at;
}

int cli_parse(struct cli *cli, const struct opt *opts, size_t n, int argc, char **argv)
{
	struct err e = ERR_INIT;
	struct opt all[OPTIONS_MAX];
	bool help = false;
	int operands;

	ASSERT(n + 2 <= OPTIONS_MAX);
	if (n)
		memcpy(all, opts, n * sizeof(all[0]));
	all[n++] = (struct opt){ .name = "kinds-dir",
		                 .value = "DIR",
		                 .help = "also load the *.lua files in DIR; repeatable",
		                 .list = &cli->kinds_dirs };
	all[n++] = (struct opt){ .letter = 'h', .name = "help", .help = "this text", .flag = &help };

	if (cli->describe) {
		cli->describe(cli->describe_cookie, all, n);
		cli->status = CLI_OK;
		return -1;
	}
	operands = opts_parse(all, n, argc, argv, &e);
	if (help) {
		command_help(cli, all, n, stdout);
		cli->status = CLI_OK;
		operands = -1;
	} else if (operands < 0) {
		cli->status = cli_usage(cli, "%s", err_msg(&e));
	}
	err_release(&e);
	return operands;
}

void cli_kinds_dirs(struct cli *cli, struct opt_list *ret)
{
	struct str rest = str_c(getenv("DL_OPERATOR_KINDS")), dir;

	while (str_next(&rest, ':', &dir))
		if (!str_empty(dir))
			opt_list_add(ret, arena_str(&cli->arena, dir).p);
	for (size_t i = 0; i < cli->kinds_dirs.n; i++)
		opt_list_add(ret, cli->kinds_dirs.v[i]);
}

static bool load_all(struct cli *cli, struct kinds *k, struct err *e)
{
	struct opt_list dirs = { 0 };
	bool ok = kinds_load_builtin(k, e);

	cli_kinds_dirs(cli, &dirs);
	for (size_t i = 0; i < dirs.n && ok; i++)
		ok = kinds_load_dir(k, dirs.v[i], e);
	opt_list_release(&dirs);
	return ok;
}

void cli_size_opts(struct cli *cli, struct opt ret[static SIZE_OPTS])
{
	ret[0] = (struct opt){ .name = "max-pod-size",
		               .value = "SIZE",
		               .help = "the largest pod that is valid (1Mi)",
		               .text = &cli->max_pod };
	ret[1] = (struct opt){ .name = "max-job-size",
		               .value = "SIZE",
		               .help = "the most that all pods of a job may have (256Mi)",
		               .text = &cli->max_job };
	ret[2] = (struct opt){ .name = "validate",
		               .value = "strict|warn|ignore",
		               .help = "what to do about unknown fields of pods (strict)",
		               .text = &cli->validate };
}

enum unknown_fields cli_unknown_fields(const struct cli *cli)
{
	enum unknown_fields ret = UNKNOWN_STRICT;

	unknown_fields_parse(str_c(cli->validate), &ret);
	return ret;
}

static bool check_options(struct cli *cli, struct kinds *k, struct err *e)
{
	struct kind_sizes sizes = kind_sizes_default;

	if (cli->validate && !unknown_fields_parse(str_c(cli->validate), &(enum unknown_fields){ 0 }))
		return err_set(e, ERR_INVALID, "--validate is strict, warn or ignore, not '%s'", cli->validate);
	if (cli->max_pod && !bytes_parse(cli->max_pod, &sizes.pod))
		return err_set(e, ERR_INVALID, "--max-pod-size wants a size such as 2Mi, not '%s'", cli->max_pod);
	if (cli->max_job && !bytes_parse(cli->max_job, &sizes.job))
		return err_set(e, ERR_INVALID, "--max-job-size wants a size such as 1Gi, not '%s'", cli->max_job);
	kinds_set_sizes(k, &sizes);
	return true;
}

struct kinds *cli_kinds_try(struct cli *cli, struct err *e)
{
	struct kinds *k = kinds_new(&kind_limits_default);

	if (check_options(cli, k, e) && load_all(cli, k, e))
		return k;
	kinds_free(k);
	return NULL;
}

struct kinds *cli_kinds(struct cli *cli)
{
	struct err e = ERR_INIT;
	struct kinds *k = cli_kinds_try(cli, &e);

	if (!k)
		cli->status = cli_fail(cli, CLI_INVALID, "%s", err_msg(&e));
	err_release(&e);
	return k;
}

static void PRINTF_LIKE(2, 0) print_message(const struct cli *cli, const char *fmt, va_list ap, const char *tail)
{
	fflush(stdout);
	fprintf(stderr, "%s%s%s: ", cli->program, cli->command ? " " : "", cli->command ? cli->command->name : "");
	plain_vprintf(stderr, fmt, ap);
	fputs(tail, stderr);
}

enum exit_code cli_usage(struct cli *cli, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	print_message(cli, fmt, ap, "");
	va_end(ap);
	fprintf(stderr, " (try '%s%s%s --help')\n", cli->program, cli->command ? " " : "",
	        cli->command ? cli->command->name : "");
	return CLI_INVALID;
}

enum exit_code cli_fail(struct cli *cli, enum exit_code status, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	print_message(cli, fmt, ap, "\n");
	va_end(ap);
	return status;
}

bool cli_format(struct cli *cli, const char *text, enum output_format *ret)
{
	if (!strcmp(text, "yaml"))
		*ret = FORMAT_YAML;
	else if (!strcmp(text, "json"))
		*ret = FORMAT_JSON;
	else {
		cli->status = cli_usage(cli, "-o is yaml or json, not '%s'", text);
		return false;
	}
	return true;
}

static int output_errno;

bool cli_output_unread(void)
{
	struct pollfd out = { .fd = STDOUT_FILENO };

	if (!output_errno && poll(&out, 1, 0) == 1 && (out.revents & POLLERR))
		output_errno = EPIPE;
	return output_errno == EPIPE;
}

bool cli_output_broken(void)
{
	if (cli_output_unread())
		return true;
	if (ferror(stdout) && !output_errno)
		output_errno = errno ? errno : EIO;
	return output_errno != 0;
}

bool cli_output_end(void)
{
	errno = 0;
	cli_output_broken();
	if (fclose(stdout) != 0 && !output_errno)
		output_errno = errno;
	/* A reader that has seen enough is no news: head, less. The exit status tells it apart from the whole. */
	if (output_errno && output_errno != EPIPE)
		fprintf(stderr, "dljob: cannot write to standard output: %s\n", strerror(output_errno));
	return output_errno == 0;
}
