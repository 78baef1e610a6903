/* dljob run: one job on this machine, from its start to its end. */
#include "cli/commands.h"
#include "run/run.h"

enum exit_code cmd_run(struct cli *cli, int argc, char **argv)
{
	struct run_options o = { 0 };
	struct opt opts[10 + SIZE_OPTS] = {
		{ 0, "env", "NAME=VALUE", "a variable for all containers; NAME alone passes its value on",
		  .list = &o.edits.env },
		{ 0, "set", "PATH=VALUE", "change the manifest: spec.policy.restart.limit=3", .list = &o.edits.set },
		{ 0, "volume", "NAME=DIR", "DIR stands for the volume or claim NAME", .list = &o.volumes },
		{ 0, "rootfs", "IMAGE=DIR", "containers of IMAGE run in the tree DIR", .list = &o.rootfs },
		{ 0, "timeout", "TIME", "stop the job after TIME (90s, 2h): exit status 124", .text = &o.timeout },
		{ 0, "kill", "ROLE/INDEX@SECONDS", "kill a replica so long after its start, to see the job survive",
		  .list = &o.kills },
		{ 0, "keep", NULL, "keep the pods' folders and logs, and say where", .flag = &o.keep },
		{ 0, "host-network", NULL, "no networks of their own: all replicas share the machine's",
		  .flag = &o.host_network },
		{ 0, "color", "WHEN", "auto, always or never", .text = &o.color },
		{ 'q', "quiet", NULL, "only the replicas' output, and what went wrong", .flag = &o.quiet },
	};
	enum exit_code status;
	int n;

	cli_size_opts(cli, opts + 10);
	n = cli_parse(cli, opts, ARRAY_LEN(opts), argc, argv);
	if (n < 0)
		status = cli->status;
	else if (n == 0)
		status = cli_usage(cli, "which FILE?");
	else
		status = run_job(cli, &o, n, argv);
	edits_release(&o.edits);
	opt_list_release(&o.volumes);
	opt_list_release(&o.rootfs);
	opt_list_release(&o.kills);
	return status;
}
