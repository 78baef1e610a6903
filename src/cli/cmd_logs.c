/* dljob logs: what the replicas of a job have written, in one stream. */
#include "cli/duration.h"
#include "cli/logs.h"

struct logging {
	struct session session;
	struct logs_options o;
	struct logline_options print;
	const char *output, *color, *since;
	bool timestamps;
};

static bool check(struct logging *l)
{
	struct cli *cli = l->session.cli;
	msec since = 0;

	if (strcmp(l->output, "text") != 0 && strcmp(l->output, "json") != 0)
		cli->status = cli_usage(cli, "-o is text or json, not '%s'", l->output);
	else if (!logline_options_for(&l->print, l->color, stdout))
		cli->status = cli_usage(cli, "--color is auto, always or never, not '%s'", l->color);
	else if (l->since && (!duration_parse(str_c(l->since), &since) || since < 1000))
		cli->status = cli_usage(cli, "--since wants a time such as 30s, 5m or 2h, not '%s'", l->since);
	else if (l->o.previous && l->o.follow)
		cli->status = cli_usage(cli, "--previous and --follow contradict each other");
	else {
		l->o.since = since / 1000;
		l->print.json = !strcmp(l->output, "json");
		l->print.timestamps = l->timestamps;
		l->o.print = &l->print;
		return true;
	}
	return false;
}

static enum exit_code show(struct logging *l, const char *name)
{
	struct session *s = &l->session;
	struct job_found found;
	enum exit_code status;

	if (!session_begin(s, l->print.json) || !job_find(&s->remote, s->kinds, name, &found))
		return s->cli->status;
	status = logs_follow(s, &found, &l->o);
	job_found_release(&found);
	return status;
}

enum exit_code cmd_logs(struct cli *cli, int argc, char **argv)
{
	struct logging l = { .session = { .cli = cli }, .o = { .index = -1, .tail = -1 }, .output = "text" };
	struct opt opts[10 + REMOTE_OPTS] = {
		{ 'f', "follow", NULL, "go on until the job has ended, restarts included", .flag = &l.o.follow },
		{ 0, "role", "ROLE", "only the replicas of this role", .text = &l.o.role },
		{ 0, "index", "N", "only the replicas with this index", .number = &l.o.index },
		{ 'c', "container", "NAME", "not those that count but this one; '*': all", .text = &l.o.container },
		{ 0, "tail", "N", "only the last N lines of each replica", .number = &l.o.tail },
		{ 0, "since", "TIME", "only what is not older: 30s, 5m, 2h", .text = &l.since },
		{ 0, "timestamps", NULL, "the time in front of each line", .flag = &l.timestamps },
		{ 'p', "previous", NULL, "of the containers' runs before", .flag = &l.o.previous },
		{ 'o', "output", "text|json", "json: an object for each line", .text = &l.output },
		{ 0, "color", "auto|always|never", "of the replicas' names", .text = &l.color },
	};
	enum exit_code status;
	int n;

	remote_opts(opts + 10, &l.session.flags);
	n = cli_parse(cli, opts, ARRAY_LEN(opts), argc, argv);
	if (n < 0)
		return cli->status;
	if (n != 1)
		return cli_usage(cli, n ? "one job at a time" : "which job?");
	if (!check(&l))
		return cli->status;
	status = show(&l, argv[0]);
	session_end(&l.session);
	return status;
}
