/* dljob delete: jobs by name, by file, or all of them. */
#include "cli/commands.h"
#include "client/create.h"
#include "client/manifest.h"
#include "client/report.h"
#include "term/plain.h"

struct deleting {
	struct cli_session session;
	bool all, no_wait;
	struct opt_list files;
};

static enum exit_code delete_named(struct deleting *d, const char *name)
{
	struct cli_session *s = &d->session;
	struct job_found found;
	enum exit_code status;

	if (!job_find(&s->remote, s->kinds, name, &found))
		return s->cli->status;
	status = job_delete(s, &found, !d->no_wait);
	job_found_release(&found);
	return status;
}

/* The job that a manifest is of, in its own namespace. */
static enum exit_code delete_object(struct deleting *d, const struct manifest_object *o)
{
	struct cli_session *s = &d->session;
	struct str name = json_str(json_at(o->root, "metadata", "name", NULL));
	struct str ns = json_str(json_at(o->root, "metadata", "namespace", NULL)), before = s->remote.ns;
	struct str text = arena_printf(&s->remote.arena, "%.*s/%.*s", STR_F(o->kind->id), STR_F(name));
	enum exit_code status;

	if (ns.n && s->flags.ns && !str_eqc(ns, s->flags.ns))
		return cli_fail(s->cli, CLI_INVALID, "%.*s is in namespace %.*s, not in %s", STR_F(name), STR_F(ns),
		                s->flags.ns);
	if (ns.n)
		s->remote.ns = arena_str(&s->remote.arena, ns);
	status = delete_named(d, text.p);
	s->remote.ns = before;
	return status;
}

static enum exit_code delete_file(struct deleting *d, const char *file)
{
	struct cli_session *s = &d->session;
	struct cli_report r = report_to(stderr);
	struct manifest_object o;
	struct manifest m;
	enum exit_code status = CLI_OK, one;

	if (!report_open(&r, file, s->kinds, &s->cli->arena, &m))
		return CLI_INVALID;
	while (manifest_next(&m, &o)) {
		if (o.class == OBJECT_WRONG)
			report_object(&r, file, &m, &o);
		one = o.class == OBJECT_JOB ? delete_object(d, &o) : o.class == OBJECT_WRONG ? CLI_INVALID : CLI_OK;
		status = MAX(status, one);
	}
	if (!m.jobs && status == CLI_OK)
		status = cli_fail(s->cli, CLI_INVALID, "there is no job in %s: %.*s", file,
		                  STR_F(manifest_without_job(&m)));
	yaml_close(m.yaml);
	return status;
}

/* KINDS: which ones; all if there are none. */
static enum exit_code delete_all(struct deleting *d, int n, char **names)
{
	struct cli_session *s = &d->session;
	const bool *wanted = kinds_choose(s->cli, s->kinds, n, names);
	struct job_list jobs;
	enum exit_code status = CLI_OK;

	if (!wanted)
		return s->cli->status;
	if (!jobs_list(&s->remote, s->kinds, &(struct job_query){ .kinds = wanted, .ns = s->remote.ns }, &jobs)) {
		job_list_release(&jobs);
		return s->cli->status;
	}
	/* First all of them, then the waiting: they go together. */
	for (int wait = 0; wait < 2 - d->no_wait; wait++) {
		for (size_t i = 0; i < jobs.jobs.n && status == CLI_OK; i++) {
			struct job_found f = { .job = jobs.jobs.v[i], .ns = s->remote.ns };

			f.name = json_str(json_at(f.job.root, "metadata", "name", NULL));
			status = job_delete(s, &f, wait);
		}
	}
	if (!jobs.jobs.n)
		plain_printf(stdout, "no jobs in namespace %.*s\n", STR_F(s->remote.ns));
	job_list_release(&jobs);
	return status;
}

static enum exit_code delete_jobs(struct deleting *d, int n, char **names)
{
	enum exit_code status = CLI_OK, one;

	if (!session_find(&d->session, false))
		return d->session.cli->status;
	if (d->all)
		return delete_all(d, n, names);
	for (int i = 0; i < n && status < CLI_TIMED_OUT; i++) {
		one = delete_named(d, names[i]);
		status = MAX(status, one);
	}
	for (size_t i = 0; i < d->files.n && status < CLI_TIMED_OUT; i++) {
		one = delete_file(d, d->files.v[i]);
		status = MAX(status, one);
	}
	return status;
}

enum exit_code cmd_delete(struct cli *cli, int argc, char **argv)
{
	struct deleting d = { .session = { .cli = cli } };
	struct opt opts[3 + REMOTE_OPTS] = {
		{ 'f', "filename", "FILE", "also the jobs in this file; repeatable", .list = &d.files },
		{ 0, "all", NULL, "all jobs of the namespace, or those of the named kinds", .flag = &d.all },
		{ 0, "no-wait", NULL, "do not wait until they are gone", .flag = &d.no_wait },
	};
	enum exit_code status;
	int n;

	remote_opts(opts + 3, &d.session.flags);
	n = cli_parse(cli, opts, ARRAY_LEN(opts), argc, argv);
	if (n < 0)
		status = cli->status;
	else if (n == 0 && !d.files.n && !d.all)
		status = cli_usage(cli, "which job? --all deletes all jobs of the namespace");
	else if (d.all && d.files.n)
		status = cli_usage(cli, "--all and -f exclude each other");
	else
		status = delete_jobs(&d, n, argv);
	session_end(&d.session);
	opt_list_release(&d.files);
	return status;
}
