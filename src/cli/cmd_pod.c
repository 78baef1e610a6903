/* dljob pod: the parent process of a pod. Not for people: src/local/pod starts it. */
#include "cli/commands.h"
#include "local/pod/pod.h"

enum exit_code cmd_pod(struct cli *cli, int argc, char **argv)
{
	int n = cli_parse(cli, NULL, 0, argc, argv);

	if (n < 0)
		return cli->status;
	if (n != 1 && (n != 2 || strcmp(argv[1], "tied") != 0))
		return cli_usage(cli, "takes one folder");
	return pod_main(argv[0], n == 2) == 0 ? CLI_OK : CLI_FAILED;
}
