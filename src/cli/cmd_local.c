/* dljob local: up, down, status, kubeconfig, reset. */
#include "cli/commands.h"
#include "client/home.h"
#include "run/local.h"

static const struct {
	const char *name;
	enum exit_code (*run)(struct local *l);
} verbs[] = {
	{ "up", local_up },         { "down", local_down },
	{ "status", local_status }, { "kubeconfig", local_kubeconfig },
	{ "reset", local_reset },
};

static enum exit_code dispatch(struct local *l, const char *verb)
{
	for (size_t i = 0; i < ARRAY_LEN(verbs); i++)
		if (!strcmp(verbs[i].name, verb))
			return verbs[i].run(l);
	return cli_usage(l->cli, "up, down, status, kubeconfig or reset, not '%s'", verb);
}

enum exit_code cmd_local(struct cli *cli, int argc, char **argv)
{
	struct local_options o = { 0 };
	const struct opt opts[] = {
		{ 0, "volume", "NAME=DIR", "up: mount DIR for the volume or PVC NAME", .list = &o.volumes },
		{ 0, "rootfs", "IMAGE=DIR", "up: run containers of IMAGE in the directory tree DIR",
		  .list = &o.rootfs },
		{ 0, "port", "PORT", "up: of the API on 127.0.0.1; default: the last one", .number = &o.port },
		{ 0, "host-network", NULL, "up: pods share the machine's network", .flag = &o.host_network },
		{ 0, "without-gpus", NULL, "up: run pods that request GPUs without any", .flag = &o.without_gpus },
		{ 0, "foreground", NULL, "up: stay in the foreground and log to standard error",
		  .flag = &o.foreground },
		{ 0, "now", NULL, "down, reset: kill pods without a grace period", .flag = &o.now },
		{ 0, "timeout", "TIME", "down, reset: wait at most this long (90s)", .text = &o.timeout },
		{ 0, "yes", NULL, "reset: really", .flag = &o.yes },
	};
	struct local l = { .cli = cli, .options = &o };
	enum exit_code status;
	int n = cli_parse(cli, opts, ARRAY_LEN(opts), argc, argv);

	l.folder = local_home(&cli->arena);
	if (n < 0)
		status = cli->status;
	else if (n != 1)
		status = cli_usage(cli, "up, down, status, kubeconfig or reset?");
	else if (!l.folder)
		status = cli_fail(cli, CLI_FAILED, "HOME is not set: set DLJOB_HOME to a folder");
	else if (!given_read(&l.given, cli, &o.volumes, &o.rootfs))
		status = cli->status;
	else
		status = dispatch(&l, argv[0]);
	opt_list_release(&o.volumes);
	opt_list_release(&o.rootfs);
	return status;
}
