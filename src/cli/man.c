/* The manual page of dljob: all commands with their options, from the table of commands. */
#include "cli/commands.h"
#include "term/roff.h"

static void put_opts(void *cookie, const struct opt *opts, size_t n)
{
	roff_opts(cookie, opts, n);
}

static void put_command(struct cli *cli, const struct cli_command *c, FILE *to)
{
	struct str title =
		arena_printf(&cli->arena, "dljob %s [options]%s%s", c->name, *c->operands ? " " : "", c->operands);

	roff_subsection(to, title.p);
	roff_text(to, c->help);
	command_describe(cli, c);
	roff_example(to, c->example);
}

void man_dljob(FILE *to)
{
	struct cli other = { .program = "dljob", .describe = put_opts, .describe_cookie = to };

	roff_begin(to, "dljob", 1, "run and manage deep-learning training jobs");
	roff_section(to, "SYNOPSIS");
	fputs("\\fBdljob\\fR \\fICOMMAND\\fR [options] [arguments]\n.br\n", to);
	fputs("\\fBkubectl dljob\\fR \\fICOMMAND\\fR [options] [arguments]\n", to);
	roff_section(to, "DESCRIPTION");
	roff_text(to, "Runs and manages training jobs of several kinds (see 'dljob kinds'): on this machine,\n"
	              "or on a Kubernetes cluster with dl-operator. Commands that talk to a cluster use the\n"
	              "one that kubectl would use; with --local, or if there is no kubeconfig, the one on this "
	              "machine.\n");
	roff_section(to, "COMMANDS");
	for (const struct cli_command *c = commands; c->name; c++)
		if (c->summary)
			put_command(&other, c, to);
	roff_section(to, "EXIT STATUS");
	roff_text(to, "0 success, 1 failed, 2 invalid input or wrong usage, 124 timed out, 130 interrupted.\n");
	roff_section(to, "ENVIRONMENT");
	roff_item(to, "KUBECONFIG", NULL, "the kubeconfig files, separated by colons");
	roff_item(to, "DLJOB_HOME", NULL,
	          "the folder of the cluster on this machine; default: $XDG_STATE_HOME/dljob or ~/.local/state/dljob");
	roff_item(to, "DL_OPERATOR_KINDS", NULL, "folders with more kinds (*.lua), separated by colons");
	roff_item(to, "NO_COLOR", NULL, "if set, no colours are used");
	roff_section(to, "SEE ALSO");
	roff_text(to, "kubectl(1), dl-operator(8)\n");
	opt_list_release(&other.kinds_dirs);
	arena_release(&other.arena);
}
