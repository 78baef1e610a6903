/* dljob exec: a command in a replica that runs. */
#include "cli/commands.h"
#include "client/exec.h"
#include "client/replica.h"

#include <unistd.h>

enum { OWN_OPTS = 3 };

struct executing {
	struct cli_session session;
	bool in, tty;
	const char *container;
	const char *const *command;
	size_t n;
};

static enum exit_code run_in(struct executing *x, const char *job, const char *replica)
{
	struct cli_session *s = &x->session;
	struct replica_pod pod;
	struct job_found found;
	int status = CLI_FAILED;
	bool ok;

	if (!job_find(&s->remote, s->kinds, job, &found))
		return s->cli->status;
	ok = replica_find(s, &found, replica, &pod);
	if (ok) {
		struct exec_call c = { .ns = found.ns,
			               .pod = pod.pod,
			               .container = x->container ? str_c(x->container) : pod.container,
			               .command = x->command,
			               .n_command = x->n,
			               .in = x->in ? STDIN_FILENO : -1,
			               .out = STDOUT_FILENO,
			               .err = x->tty ? -1 : STDERR_FILENO,
			               .tty = x->tty };

		ok = exec_run(&s->remote, &c, &status);
	}
	job_found_release(&found);
	return ok ? (enum exit_code)status : s->cli->status;
}

static bool check(struct executing *x)
{
	static const char *const shell[] = { "sh" };
	bool terminal = isatty(STDIN_FILENO);

	if (!x->n && !terminal) {
		x->session.cli->status = cli_usage(x->session.cli, "which command? It stands behind --: -- nvidia-smi");
		return false;
	}
	if (!x->n) {
		x->command = shell;
		x->n = 1;
		x->tty = true;
	}
	if (x->tty && !terminal) {
		x->session.cli->status = cli_usage(
			x->session.cli, "standard input is no terminal, so that there is none for -t; -i sends it");
		return false;
	}
	x->in |= x->tty;
	return true;
}

enum exit_code cmd_exec(struct cli *cli, int argc, char **argv)
{
	struct executing x = { .session = { .cli = cli } };
	struct opt opts[OWN_OPTS + REMOTE_OPTS] = {
		{ 'i', "stdin", NULL, "send standard input to the command", .flag = &x.in },
		{ 't', "tty", NULL, "give the command this terminal", .flag = &x.tty },
		{ 'c', "container", "NAME", "the container, if the pod has several", .text = &x.container },
	};
	int n, before = cli_dashes(argc, argv);
	enum exit_code status;

	remote_opts(opts + OWN_OPTS, &x.session.flags);
	n = cli_parse(cli, opts, ARRAY_LEN(opts), before, argv);
	if (n < 0)
		return cli->status;
	if (before < argc) {
		x.command = (const char *const *)argv + before + 1;
		x.n = (size_t)(argc - before) - 1;
	}
	if (n > 2)
		return cli_usage(cli, "'%s': a command stands behind --", argv[2]);
	if (n < 2)
		return cli_usage(cli, n ? "which replica of %s? They are called worker-0, worker-1 …" : "which job?",
		                 n ? argv[0] : "");
	if (!check(&x))
		return cli->status;
	/* The command's output may be a document: nothing of ours beside it where it is no terminal. */
	status = session_find(&x.session, !x.tty) ? run_in(&x, argv[0], argv[1]) : cli->status;
	session_end(&x.session);
	return status;
}
