/* dljob help, dljob version */
#include "cli/cli.h"

enum exit_code cmd_help(struct cli *cli, int argc, char **argv)
{
	const struct command *c;
	char help[] = "--help";
	char *args[] = { help, NULL };
	int n = cli_parse(cli, NULL, 0, argc, argv);

	if (n < 0)
		return cli->status;
	if (n > 1)
		return cli_usage(cli, "one command at a time");
	if (n == 0) {
		commands_help(stdout);
		return CLI_WELL;
	}
	c = command_find(str_c(argv[0]));
	if (!c)
		return cli_usage(cli, "unknown command '%s'", argv[0]);
	cli->command = c;
	return c->run(cli, 1, args);
}

enum exit_code cmd_version(struct cli *cli, int argc, char **argv)
{
	int n = argc ? cli_parse(cli, NULL, 0, argc, argv) : 0;

	if (n < 0)
		return cli->status;
	if (n > 0)
		return cli_usage(cli, "takes no arguments");
	puts("dljob " DL_VERSION);
	return CLI_WELL;
}
