/* dljob: finds the command, runs it, and notices if its output could not be written. */
#include "cli/commands.h"

static const char *nearest_command(struct str name)
{
	const char *nearest = NULL;
	unsigned least = 3;

	for (const struct cli_command *c = commands; c->name; c++) {
		unsigned d = str_distance(name, str_c(c->name), 2);

		if (c->summary && d < least) {
			least = d;
			nearest = c->name;
		}
	}
	return nearest;
}

/* Words of other tools. */
static const struct {
	const char *word, *hint;
} others[] = {
	{ "stop",
	  "'suspend' stops a job until 'resume', 'delete' removes it; 'local down' stops this machine's cluster" },
	{ "kill", "'delete' ends a job and removes it" },
	{ "cancel", "'delete' ends a job and removes it" },
	{ "rm", "'delete' ends a job and removes it" },
	{ "ps", "'list' shows all jobs, 'get NAME' the replicas of one" },
	{ "ls", "'list' shows all jobs" },
	{ "status", "'get NAME' shows one job, 'list' all, 'local status' this machine's cluster" },
	{ "describe", "'get NAME' shows one job with its replicas and events" },
	{ "show", "'get NAME' shows one job" },
	{ "start", "'submit FILE' starts a job on a cluster, 'run' on this machine" },
	{ "create", "'submit FILE' creates a job" },
	{ "apply", "'submit FILE' creates a job; a change to one is kubectl's" },
};

static enum exit_code unknown_command(struct cli *cli, const char *name)
{
	const char *nearest = nearest_command(str_c(name));

	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		if (!strcmp(name, others[i].word))
			return cli_usage(cli, "unknown command '%s': %s", name, others[i].hint);
	if (nearest)
		return cli_usage(cli, "unknown command '%s'; did you mean '%s'?", name, nearest);
	return cli_usage(cli, "unknown command '%s'", name);
}

/* The command is the first argument that is no option; --kinds-dir may stand before it. */
static enum exit_code run_command(struct cli *cli, int argc, char **argv)
{
	int i = 1;

	for (; i < argc && argv[i][0] == '-'; i++) {
		struct str arg = str_c(argv[i]);

		if (str_eqc(arg, "--help") || str_eqc(arg, "-h")) {
			commands_help(cli, stdout);
			return CLI_OK;
		} else if (str_eqc(arg, "--version")) {
			return cmd_version(cli, 0, NULL);
		} else if (str_has_prefix(arg, STR("--kinds-dir="))) {
			opt_list_add(&cli->kinds_dirs, argv[i] + strlen("--kinds-dir="));
		} else if (str_eqc(arg, "--kinds-dir") && i + 1 < argc) {
			opt_list_add(&cli->kinds_dirs, argv[++i]);
		} else {
			return cli_usage(cli, "unknown option %s before the command", argv[i]);
		}
	}
	if (i == argc) {
		commands_help(cli, stderr);
		return CLI_INVALID;
	}
	cli->command = command_find(str_c(argv[i]));
	if (!cli->command)
		return unknown_command(cli, argv[i]);
	return cli->command->run(cli, argc - i - 1, argv + i + 1);
}

/* kubectl finds its plugins by their name: kubectl-dljob is a link to us. */
static const char *program_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return strcmp(slash ? slash + 1 : path, "kubectl-dljob") ? "dljob" : "kubectl dljob";
}

int main(int argc, char **argv)
{
	struct cli cli = { .program = program_name(argc > 0 ? argv[0] : ""), .arena = ARENA_INIT };
	enum exit_code status = run_command(&cli, argc, argv);

	if (!cli_output_end() && status == CLI_OK)
		status = CLI_FAILED;
	opt_list_release(&cli.kinds_dirs);
	arena_release(&cli.arena);
	return (int)status;
}
