/* dljob submit: jobs of files to a cluster, with changes, after a check of everything. */
#include "base/yaml.h"
#include "cli/commands.h"
#include "client/create.h"
#include "client/edit.h"
#include "client/manifest.h"
#include "client/report.h"
#include "client/waiting.h"
#include "logs/logs.h"
#include "object/labels.h"
#include "term/plain.h"

#include <unistd.h>

enum { TEXT_MAX = 64 << 20 };

struct submitting {
	struct cli_session session;
	struct job_edits edits;
	struct cli_report report;
	bool dry_run, wait, logs;
	bool here; /* to the cluster on this machine */
	VEC(struct job_creation) list;
	VEC(struct job_found) created;
	size_t jobs;
	bool broken;     /* a kind's own code failed */
	bool discovered; /* the cluster was asked which kinds it serves */
};

/* Where it goes. False: -n says something else. */
static bool choose_namespace(struct submitting *u, yyjson_val *root, struct job_creation *c)
{
	struct cli_session *s = &u->session;
	struct str ns = json_str(json_at(root, "metadata", "namespace", NULL));

	if (ns.n && s->flags.ns && !str_eqc(ns, s->flags.ns)) {
		s->cli->status = cli_fail(s->cli, CLI_INVALID, "%.*s is in namespace %.*s, not in %s", STR_F(c->name),
		                          STR_F(ns), s->flags.ns);
		return false;
	}
	c->ns = ns.n ? ns : s->remote.ns;
	return true;
}

/* Checks one job after all changes to it. */
static void check_job(struct submitting *u, const char *file, const struct manifest *m, const struct manifest_object *o,
                      yyjson_val *root)
{
	struct err e = ERR_INIT;
	struct kind_job *kj = kind_read(u->session.kinds, o->kind, root, STR_NONE, &e);

	if (kj) {
		kind_check_fields(kj, cli_unknown_fields(u->session.cli));
		report_job(&u->report, file, m, o, &kind_job(kj)->problems);
		kind_job_free(kj);
		return;
	}
	u->broken = true;
	report_kind(&u->report, o->kind, str_c(err_msg(&e)));
	err_release(&e);
}

static void annotate(yyjson_mut_doc *doc, yyjson_mut_val *annotations, const char *key, const char *value)
{
	if (value && *value && str_is_utf8(str_c(value)) && !yyjson_mut_obj_get(annotations, key))
		json_mut_put(doc, annotations, str_c(key), json_mut_str(doc, str_c(value)));
}

/* On this machine the caller's programs are there, and one cluster serves several of his projects: each job is told
   whose it is. Elsewhere that would mean nothing. */
static yyjson_doc *with_caller(yyjson_doc *job)
{
	CLEANUP(json_mut_docp) yyjson_mut_doc *doc = yyjson_doc_mut_copy(job, NULL);
	yyjson_mut_val *meta = yyjson_mut_obj_get(yyjson_mut_doc_get_root(doc), "metadata"), *annotations;
	char *cwd = getcwd(NULL, 0);

	annotations = yyjson_mut_obj_get(meta, "annotations");
	if (yyjson_mut_is_obj(meta) && (!annotations || yyjson_mut_is_null(annotations))) {
		yyjson_mut_obj_remove_key(meta, "annotations");
		annotations = yyjson_mut_obj_add_obj(doc, meta, "annotations");
	}
	if (yyjson_mut_is_obj(annotations)) {
		annotate(doc, annotations, ANNOTATION_FOLDER, cwd);
		annotate(doc, annotations, ANNOTATION_PATH, getenv("PATH"));
	}
	free(cwd);
	yyjson_doc_free(job);
	return yyjson_mut_doc_imut_copy(doc, NULL);
}

static bool take_object(struct submitting *u, const char *file, const struct manifest *m,
                        const struct manifest_object *o)
{
	struct cli_session *s = &u->session;
	struct job_creation c = { .kind = o->class == OBJECT_JOB ? o->kind : NULL };
	struct job_edits none = { 0 };
	struct err e = ERR_INIT;
	yyjson_val *root;

	if (c.kind)
		c.resource = remote_kind(c.kind);
	else if (!create_foreign(o->root, &c.resource)) {
		report_object(&u->report, file, m, o);
		return true;
	}
	c.doc = edits_apply(c.kind ? &u->edits : &none, o->root, &e);
	if (!c.doc) {
		s->cli->status = cli_fail(s->cli, CLI_INVALID, "%s", err_msg(&e));
		err_release(&e);
		return false;
	}
	if (c.kind && u->here)
		c.doc = with_caller(c.doc);
	root = yyjson_doc_get_root(c.doc);
	c.name = json_str(json_at(root, "metadata", "name", NULL));
	c.what = c.kind ? kind_title(s->kinds, c.kind) : json_str(json_get(root, "kind"));
	u->jobs += c.kind != NULL;
	*vec_push(&s->cli->arena, &u->list) = c;
	if (c.kind)
		check_job(u, file, m, o, root);
	else
		report_config(&u->report, file, m, o);
	return choose_namespace(u, root, &u->list.v[u->list.n - 1]);
}

/* Is it a job after all, of a kind that only the cluster knows? A dry run asks nobody. False: asking failed. */
static bool look_at_cluster(struct submitting *u, struct manifest_object *o)
{
	struct str version = json_str(json_get(o->root, "apiVersion")), name = json_str(json_get(o->root, "kind"));
	struct kube_resource known;

	if (o->class == OBJECT_JOB || u->dry_run || !version.n || !name.n || create_foreign(o->root, &known))
		return true;
	if (!u->discovered && !session_discover(&u->session))
		return false;
	u->discovered = true;
	o->kind = kinds_find(u->session.kinds, version, name);
	return true;
}

/* Nothing of it can be checked: that takes the kind's Lua. */
static void report_unread_kind(struct submitting *u, const char *file, const struct manifest *m,
                               struct manifest_object *o)
{
	o->class = OBJECT_WRONG;
	o->field = STR("kind");
	o->message = arena_printf(m->arena, "this cluster serves %.*s, but its Lua is not here: --kinds-dir DIR",
	                          STR_F(o->kind->kind));
	report_object(&u->report, file, m, o);
}

static bool read_file(struct submitting *u, const char *file)
{
	struct manifest_object o;
	struct manifest m;
	size_t before = u->jobs;
	bool ok = true;

	if (!report_open(&u->report, file, u->session.kinds, &u->session.cli->arena, &m))
		return true;
	while (ok && manifest_next(&m, &o)) {
		ok = look_at_cluster(u, &o);
		if (ok && o.kind && o.kind->foreign)
			report_unread_kind(u, file, &m, &o);
		else if (ok && o.class == OBJECT_WRONG)
			report_object(&u->report, file, &m, &o);
		else if (ok)
			ok = take_object(u, file, &m, &o);
	}
	if (ok && u->jobs == before && !u->report.errors) {
		u->session.cli->status = cli_fail(u->session.cli, CLI_INVALID, "there is no job in %s: %.*s", file,
		                                  STR_F(manifest_without_job(&m)));
		ok = false;
	}
	yaml_close(m.yaml);
	return ok;
}

static void print_dry(const struct submitting *u)
{
	struct buf text = BUF_INIT(TEXT_MAX);

	for (size_t i = 0; i < u->list.n; i++) {
		buf_put(&text, i ? STR("---\n") : STR(""));
		yaml_write(yyjson_doc_get_root(u->list.v[i].doc), &text);
	}
	fwrite(buf_str(&text).p, 1, text.n, stdout);
	buf_release(&text);
}

/* What the jobs need comes first. */
static enum exit_code send_all(struct submitting *u)
{
	struct cli_session *s = &u->session;
	enum exit_code status = CLI_OK;

	for (int jobs = 0; jobs < 2; jobs++) {
		for (size_t i = 0; i < u->list.n; i++) {
			const struct job_creation *c = &u->list.v[i];
			struct job_found found = { 0 };

			if ((c->kind != NULL) != jobs)
				continue;
			switch (create_object(s, c, jobs ? &found : NULL)) {
			case CREATE_DONE:
				plain_printf(stdout, "%.*s/%.*s created\n", STR_F(c->what),
				             STR_F(jobs ? found.name : c->name));
				if (jobs)
					*vec_push(&s->cli->arena, &u->created) = found;
				break;
			case CREATE_EXISTS:
				if (!jobs) {
					plain_printf(stdout, "%.*s/%.*s already exists and is left unchanged\n",
					             STR_F(c->what), STR_F(c->name));
					break;
				}
				status = cli_fail(s->cli, CLI_FAILED,
				                  "%.*s/%.*s already exists: 'dljob rerun %.*s' runs it again, "
				                  "--name or --suffix give this one another name",
				                  STR_F(c->what), STR_F(c->name), STR_F(c->name));
				break;
			case CREATE_FAILED:
				return s->cli->status;
			}
		}
	}
	fflush(stdout);
	return status;
}

static enum exit_code see_end(struct submitting *u, enum exit_code status)
{
	for (size_t i = 0; i < u->created.n && status < CLI_TIMED_OUT; i++) {
		enum exit_code one = CLI_OK;

		if (u->logs)
			one = logs_follow(&u->session, &u->created.v[i],
			                  &(struct logs_options){ .follow = true, .index = -1, .tail = -1 });
		if (one == CLI_OK && (u->logs || u->wait))
			one = job_wait(&u->session, &u->created.v[i], WAIT_FINISHED);
		status = MAX(status, one);
		/* Whoever ends what shows a job may believe that he has ended the job. */
		if (one == CLI_INTERRUPTED)
			cli_fail(u->session.cli, one,
			         "%.*s keeps running; 'dljob logs -f %.*s' shows it, 'dljob delete %.*s' ends it",
			         STR_F(u->created.v[i].name), STR_F(u->created.v[i].name), STR_F(u->created.v[i].name));
	}
	return status;
}

static enum exit_code submit_files(struct submitting *u, int n, char **files)
{
	struct cli *cli = u->session.cli;

	/* A dry run asks nobody. */
	u->session.kinds = u->dry_run ? cli_kinds(cli) : NULL;
	if (u->dry_run ? !u->session.kinds : !session_begin(&u->session, false))
		return cli->status;
	u->here = !u->dry_run && remote_is_here(&u->session.remote);
	u->report = report_to(stderr);
	u->report.edits = &u->edits;
	u->report.unknown = cli_unknown_fields(cli);
	for (int i = 0; i < n; i++)
		if (!read_file(u, files[i]))
			return cli->status;
	if (u->broken)
		return CLI_FAILED;
	if (u->report.errors)
		return cli_fail(cli, CLI_INVALID, "nothing was sent: there %s",
		                u->report.errors == 1 ? "is an error" : "are errors");
	if (u->edits.name && u->jobs > 1)
		return cli_usage(cli, "--name is for one job; there are %zu. --suffix is for all", u->jobs);
	if (u->dry_run) {
		print_dry(u);
		return CLI_OK;
	}
	return see_end(u, send_all(u));
}

enum exit_code cmd_submit(struct cli *cli, int argc, char **argv)
{
	struct submitting u = { .session = { .cli = cli } };
	struct opt opts[7 + REMOTE_OPTS + SIZE_OPTS] = {
		{ 0, "set", "PATH=VALUE", "change a field: spec.replicaSpecs[0].replicas=3", .list = &u.edits.set },
		{ 'e', "env", "NAME=VALUE", "set a variable in all containers; NAME alone passes on yours",
		  .list = &u.edits.env },
		{ 0, "name", "NAME", "instead of the job's own", .text = &u.edits.name },
		{ 0, "suffix", "TEXT", "name the job NAME-TEXT: the same job again", .text = &u.edits.suffix },
		{ 0, "dry-run", NULL, "print what would be created, create nothing", .flag = &u.dry_run },
		{ 0, "wait", NULL, "wait until they have ended; the exit status is theirs", .flag = &u.wait },
		{ 0, "logs", NULL, "show the logs until they have ended; implies --wait", .flag = &u.logs },
	};
	enum exit_code status;
	int n;

	remote_opts(opts + 7, &u.session.flags);
	cli_size_opts(cli, opts + 7 + REMOTE_OPTS);
	n = cli_parse(cli, opts, ARRAY_LEN(opts), argc, argv);
	if (n < 0)
		status = cli->status;
	else if (n == 0)
		status = cli_usage(cli, "which FILE? - is standard input");
	else
		status = submit_files(&u, n, argv);
	for (size_t i = 0; i < u.list.n; i++)
		creation_release(&u.list.v[i]);
	for (size_t i = 0; i < u.created.n; i++)
		job_found_release(&u.created.v[i]);
	edits_release(&u.edits);
	session_end(&u.session);
	return status;
}
