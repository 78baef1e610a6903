/* dljob local status, dljob local kubeconfig */
#include "run/local.h"

#include <unistd.h>

enum exit_code local_status(struct local *l)
{
	struct local_holder h;
	struct err e = ERR_INIT;
	enum exit_code status;

	if (!local_look(l->folder, LOOK_ONLY, &h, &e)) {
		status = cli_fail(l->cli, CLI_FAILED, "%s", err_msg(&e));
		err_release(&e);
		return status;
	}
	local_holder_release(&h);
	if (!h.pid) {
		printf("the cluster on this machine is down; `dljob local up` starts it (files: %s)\n", l->folder);
		return CLI_FAILED;
	}
	if (!h.port) {
		printf("the cluster on this machine is starting or stopping: pid %d\n", (int)h.pid);
		return CLI_FAILED;
	}
	printf("the cluster on this machine is up: https://127.0.0.1:%d, pid %d\n", h.port, (int)h.pid);
	printf("  kubectl:  export KUBECONFIG=%s/kubeconfig\n", l->folder);
	printf("  jobs:     dljob list --local\n");
	printf("  its log:  %s/log\n", l->folder);
	return CLI_OK;
}

enum exit_code local_kubeconfig(struct local *l)
{
	const char *path = arena_printf(&l->cli->arena, "%s/kubeconfig", l->folder).p;

	if (access(path, R_OK))
		return cli_fail(l->cli, CLI_FAILED, "there is no %s yet: `dljob local up` creates it", path);
	puts(path);
	return CLI_OK;
}
