/* dljob top: what the replicas of a job use. */
#include "cli/commands.h"
#include "client/top.h"

enum { OWN_OPTS = 1 };

enum exit_code cmd_top(struct cli *cli, int argc, char **argv)
{
	struct cli_session s = { .cli = cli };
	struct job_found found;
	bool gpus = false;
	struct opt opts[OWN_OPTS + REMOTE_OPTS] = {
		{ 0, "gpus", NULL, "also show GPUs, by nvidia-smi in each replica", .flag = &gpus },
	};
	enum exit_code status;
	int n;

	remote_opts(opts + OWN_OPTS, &s.flags);
	n = cli_parse(cli, opts, ARRAY_LEN(opts), argc, argv);
	if (n < 0)
		return cli->status;
	if (n != 1)
		return cli_usage(cli, n ? "one job at a time" : "which job?");
	status = session_find(&s, false) ? CLI_OK : cli->status;
	if (status == CLI_OK && job_find(&s.remote, s.kinds, argv[0], &found)) {
		status = top_print(&s, &found, gpus);
		job_found_release(&found);
	} else {
		status = cli->status;
	}
	session_end(&s);
	return status;
}
