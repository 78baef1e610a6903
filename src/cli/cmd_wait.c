/* dljob wait: until a job is what is wanted of it. */
#include "cli/commands.h"
#include "client/waiting.h"
#include "term/duration.h"

static enum exit_code wait_one(struct cli_session *s, const char *name, enum wait_for what)
{
	struct job_found found;
	enum exit_code status;

	if (!job_find(&s->remote, s->kinds, name, &found))
		return s->cli->status;
	status = job_wait(s, &found, what);
	job_found_release(&found);
	return status;
}

/* In turn: who is last waits for all the same. The worst counts, and a time that is over is over for all. */
static enum exit_code wait_all(struct cli_session *s, int n, char **names, enum wait_for what)
{
	enum exit_code worst = CLI_OK, status;

	for (int i = 0; i < n; i++) {
		status = wait_one(s, names[i], what);
		worst = MAX(worst, status);
		if (status == CLI_TIMED_OUT || status == CLI_INTERRUPTED)
			break;
	}
	return worst;
}

enum exit_code cmd_wait(struct cli *cli, int argc, char **argv)
{
	struct cli_session s = { .cli = cli };
	const char *what_text = "finished", *timeout_text = NULL;
	enum wait_for what;
	msec timeout = 0;
	struct opt opts[2 + REMOTE_OPTS] = {
		{ 0, "for", "finished|succeeded|running|deleted", "what to wait for (finished)", .text = &what_text },
		{ 0, "timeout", "TIME", "wait at most this long: 30s, 5m, 2h", .text = &timeout_text },
	};
	enum exit_code status;
	int n;

	remote_opts(opts + 2, &s.flags);
	n = cli_parse(cli, opts, ARRAY_LEN(opts), argc, argv);
	if (n < 0)
		return cli->status;
	if (n == 0)
		return cli_usage(cli, "which job?");
	if (!wait_for_read(what_text, &what))
		return cli_usage(cli, "--for is finished, succeeded, running or deleted, not '%s'", what_text);
	if (timeout_text && !duration_parse(str_c(timeout_text), &timeout))
		return cli_usage(cli, "--timeout wants a time such as 30s, 5m or 2h, not '%s'", timeout_text);
	status = session_find(&s, false) ? CLI_OK : cli->status;
	if (status == CLI_OK) {
		if (timeout_text)
			s.remote.deadline = loop_now(s.remote.loop) + timeout;
		status = wait_all(&s, n, argv, what);
	}
	session_end(&s);
	return status;
}
