/* dljob logs: what the replicas of a job have written, in one stream, or kept in files. */
#include "cli/commands.h"
#include "logs/archive.h"
#include "logs/archive_show.h"
#include "logs/logs.h"
#include "term/bytes.h"
#include "term/duration.h"

struct logging {
	struct cli_session session;
	struct logs_options o;
	struct logline_options print;
	const char *output, *color, *since;
	bool timestamps;
	/* Archives. */
	const char *archive, *from, *max_bytes, *max_age;
	bool all, all_namespaces;
	struct archive_options keep;
};

enum { OPTS = 16 };

static bool check_show(struct logging *l)
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
		cli->status = cli_usage(cli, "--previous and --follow exclude each other");
	else if (l->from && (l->o.previous || l->o.follow))
		cli->status = cli_usage(cli, "--from reads an archive; --%s is for a live cluster",
		                        l->o.follow ? "follow" : "previous");
	else if (l->all || l->all_namespaces || l->max_bytes || l->max_age)
		cli->status = cli_usage(cli, "--all, --all-namespaces, --max-bytes and --max-age are for --archive");
	else {
		l->o.since = since / 1000;
		l->print.json = !strcmp(l->output, "json");
		l->print.timestamps = l->timestamps;
		l->o.print = &l->print;
		return true;
	}
	return false;
}

static bool read_bytes(struct cli *cli, const char *text, uint64_t *ret)
{
	if (bytes_parse(text, ret))
		return true;
	cli->status = cli_usage(cli, "--max-bytes wants a size such as 500M or 10Gi, not '%s'", text);
	return false;
}

static bool check_keep(struct logging *l, int n)
{
	struct cli *cli = l->session.cli;
	bool all = l->all || l->all_namespaces;

	if (l->from || l->o.previous || l->since || l->o.tail >= 0 || l->timestamps || l->color ||
	    strcmp(l->output, "text") != 0)
		cli->status = cli_usage(cli, "--archive writes whole logs with timestamps; options that select or "
		                             "format lines do not apply");
	else if (all && n)
		cli->status = cli_usage(cli, "a job or --all, not both");
	else if (!all && n != 1)
		cli->status = cli_usage(cli, n ? "one job at a time, or --all"
		                               : "which job? --all: all jobs of the namespace");
	else if (l->max_age && !duration_parse(str_c(l->max_age), &l->keep.limits.age))
		cli->status = cli_usage(cli, "--max-age wants a time such as 24h or 720h, not '%s'", l->max_age);
	else if (read_bytes(cli, l->max_bytes ? l->max_bytes : "10Gi", &l->keep.limits.bytes)) {
		l->keep.dir = l->archive;
		l->keep.follow = l->o.follow;
		l->keep.all_namespaces = l->all_namespaces;
		l->keep.role = l->o.role;
		l->keep.index = l->o.index;
		l->keep.container = l->o.container && strcmp(l->o.container, "*") != 0 ? l->o.container : NULL;
		return true;
	}
	return false;
}

static enum exit_code show_logs(struct logging *l, const char *name)
{
	struct cli_session *s = &l->session;
	struct job_found found;
	enum exit_code status;

	if (l->from) {
		s->kinds = cli_kinds(s->cli);
		return s->kinds ? archive_show(s->cli, s->kinds, l->from, s->flags.ns, name, &l->o) : s->cli->status;
	}
	if (!session_find(s, l->print.json))
		return s->cli->status;
	if (!name)
		return archive_logs(s, NULL, &l->keep);
	if (!job_find(&s->remote, s->kinds, name, &found))
		return s->cli->status;
	status = l->archive ? archive_logs(s, &found, &l->keep) : logs_follow(s, &found, &l->o);
	job_found_release(&found);
	return status;
}

enum exit_code cmd_logs(struct cli *cli, int argc, char **argv)
{
	struct logging l = { .session = { .cli = cli }, .o = { .index = -1, .tail = -1 }, .output = "text" };
	struct opt opts[OPTS + REMOTE_OPTS] = {
		{ 'f', "follow", NULL, "follow until the job has ended, across restarts", .flag = &l.o.follow },
		{ 0, "role", "ROLE", "only the replicas of this role", .text = &l.o.role },
		{ 0, "index", "N", "only the replicas with this index", .number = &l.o.index },
		{ 'c', "container", "NAME", "this container, not those that count; '*': all", .text = &l.o.container },
		{ 0, "tail", "N", "only the last N lines of each replica", .number = &l.o.tail },
		{ 0, "since", "TIME", "only lines newer than this: 30s, 5m, 2h", .text = &l.since },
		{ 0, "timestamps", NULL, "print each line's timestamp", .flag = &l.timestamps },
		{ 'p', "previous", NULL, "the logs of the previous containers", .flag = &l.o.previous },
		{ 'o', "output", "text|json", "json: an object per line", .text = &l.output },
		{ 0, "color", "auto|always|never", "colour the replicas' names", .text = &l.color },
		{ 0, "archive", "DIR", "write the logs to files in DIR, show nothing", .text = &l.archive },
		{ 0, "all", NULL, "with --archive: all jobs of the namespace", .flag = &l.all },
		{ 'A', "all-namespaces", NULL, "with --archive: all jobs", .flag = &l.all_namespaces },
		{ 0, "max-bytes", "SIZE", "the archive's limit: deletes the oldest jobs (10Gi; 0: none)",
		  .text = &l.max_bytes },
		{ 0, "max-age", "TIME", "delete jobs from the archive that wrote nothing for this long",
		  .text = &l.max_age },
		{ 0, "from", "DIR", "show logs that --archive wrote to DIR, without a cluster", .text = &l.from },
	};
	enum exit_code status;
	int n;

	remote_opts(opts + OPTS, &l.session.flags);
	n = cli_parse(cli, opts, ARRAY_LEN(opts), argc, argv);
	if (n < 0)
		return cli->status;
	if (!l.archive && n != 1)
		return cli_usage(cli, n ? "one job at a time" : "which job?");
	if (!(l.archive ? check_keep(&l, n) : check_show(&l)))
		return cli->status;
	status = show_logs(&l, n ? argv[0] : NULL);
	session_end(&l.session);
	return status;
}
