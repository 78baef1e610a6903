/* dljob help, dljob version */
#include "cli/commands.h"

enum exit_code cmd_help(struct cli *cli, int argc, char **argv)
{
	bool man = false;
	const struct opt opts[] = { { 0, "man", NULL, "print the whole manual page, for man", .flag = &man } };
	const struct cli_command *c;
	char help[] = "--help";
	char *args[] = { help, NULL };
	int n = cli_parse(cli, opts, ARRAY_LEN(opts), argc, argv);

	if (n < 0)
		return cli->status;
	if (man && n == 0) {
		man_dljob(stdout);
		return CLI_OK;
	}
	if (n > 1)
		return cli_usage(cli, "one command at a time");
	if (n == 0) {
		commands_help(cli, stdout);
		return CLI_OK;
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
	return CLI_OK;
}
