/* dljob rerun: a job that has ended once more. */
#include "cli/commands.h"
#include "client/create.h"
#include "client/edit.h"
#include "client/report.h"
#include "client/view.h"
#include "client/waiting.h"
#include "logs/logs.h"
#include "term/plain.h"

enum { TRIES = 100, NUMBER_DIGITS = 3 };

struct rerunning {
	struct cli_session session;
	struct job_edits edits;
	bool replace, wait, logs;
	bool warned; /* of what is doubtful in it, whatever name it gets */
};

static void drop_words(yyjson_mut_val *annotations, const struct end_word *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		yyjson_mut_obj_remove_keyn(annotations, words[i].annotation.p, words[i].annotation.n);
}

/* What the server, kubectl and whoever ended the job put there; a new one must not begin with it. */
static void drop_traces(yyjson_mut_val *annotations, const struct kind *kind)
{
	const struct end_word *common;
	size_t n = external_common(&common);

	yyjson_mut_obj_remove_key(annotations, "kubectl.kubernetes.io/last-applied-configuration");
	drop_words(annotations, common, n);
	drop_words(annotations, kind->end_words, kind->n_end_words);
}

/* The job as its user wrote it, under another name. */
static yyjson_doc *fresh(const struct kind *kind, yyjson_val *root, struct str name)
{
	static const char *const kept[] = { "labels", "annotations" };
	CLEANUP(json_mut_docp) yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
	yyjson_mut_val *job = yyjson_mut_obj(doc), *meta = yyjson_mut_obj(doc), *v;
	yyjson_val *old = json_get(root, "metadata");

	yyjson_mut_doc_set_root(doc, job);
	yyjson_mut_obj_add(job, yyjson_mut_str(doc, "apiVersion"),
	                   yyjson_val_mut_copy(doc, json_get(root, "apiVersion")));
	yyjson_mut_obj_add(job, yyjson_mut_str(doc, "kind"), yyjson_val_mut_copy(doc, json_get(root, "kind")));
	yyjson_mut_obj_add(job, yyjson_mut_str(doc, "metadata"), meta);
	json_mut_put(doc, meta, STR("name"), json_mut_str(doc, name));
	json_mut_put(doc, meta, STR("namespace"), json_mut_str(doc, json_str(json_get(old, "namespace"))));
	for (size_t i = 0; i < ARRAY_LEN(kept); i++) {
		if (!yyjson_is_obj(json_get(old, kept[i])))
			continue;
		v = yyjson_val_mut_copy(doc, json_get(old, kept[i]));
		if (i == 1)
			drop_traces(v, kind);
		yyjson_mut_obj_add(meta, yyjson_mut_str(doc, kept[i]), v);
	}
	yyjson_mut_obj_add(job, yyjson_mut_str(doc, "spec"), yyjson_val_mut_copy(doc, json_get(root, "spec")));
	return yyjson_mut_doc_imut_copy(doc, NULL);
}

/* demo and demo-2 without the number, and the number; 1 if there is none. */
static struct str base_name(struct str name, int64_t *number)
{
	size_t i = name.n;

	*number = 1;
	while (i > 0 && name.p[i - 1] >= '0' && name.p[i - 1] <= '9')
		i--;
	if (i < 2 || i == name.n || name.n - i > NUMBER_DIGITS || name.p[i - 1] != '-' ||
	    !str_int(str_sub(name, i, name.n), number))
		return name;
	return str_sub(name, 0, i - 1);
}

static void warn_once(struct rerunning *u, struct cli_report *r, const struct problems *p)
{
	for (size_t i = 0; i < p->list.n && !u->warned; i++)
		if (p->list.v[i].severity != PROBLEM_ERROR && !report_edit(r, &u->session.cli->arena, &p->list.v[i]))
			cli_fail(u->session.cli, CLI_OK, "warning: %.*s: %.*s", STR_F(p->list.v[i].path),
			         STR_F(p->list.v[i].message));
	u->warned = true;
}

/* What the changes did is told of them; the rest as `validate` tells it, without a file to point to. */
static enum exit_code refuse_job(struct rerunning *u, struct cli_report *r, struct str name, const struct problems *p)
{
	struct arena *a = &u->session.cli->arena;
	struct problems rest = { .arena = a, .errors = p->errors };

	for (size_t i = 0; i < p->list.n; i++) {
		const struct problem *one = &p->list.v[i];

		if (one->severity != PROBLEM_ERROR)
			continue;
		if (report_edit(r, a, one))
			rest.errors--;
		else
			*vec_push(a, &rest.list) = *one;
	}
	if (!rest.list.n)
		return CLI_INVALID;
	return cli_fail(u->session.cli, CLI_INVALID, "%.*s would be invalid: %.*s", STR_F(name),
	                STR_F(problems_line(&rest, a)));
}

static bool check_job(struct rerunning *u, const struct job_creation *c)
{
	struct cli_session *s = &u->session;
	struct cli_report r = report_to(stderr);
	struct err e = ERR_INIT;
	struct kind_job *kj = kind_read(s->kinds, c->kind, yyjson_doc_get_root(c->doc), STR_NONE, &e);
	bool ok;

	r.edits = &u->edits;
	if (kj)
		kind_check_fields(kj, cli_unknown_fields(s->cli));
	ok = kj && !kind_job(kj)->problems.errors;

	if (!kj)
		s->cli->status = cli_fail(s->cli, CLI_FAILED, "%s", err_msg(&e));
	else if (!ok)
		s->cli->status = refuse_job(u, &r, c->name, &kind_job(kj)->problems);
	else
		warn_once(u, &r, &kind_job(kj)->problems);
	kind_job_free(kj);
	err_release(&e);
	return ok;
}

static bool prepare_job(struct rerunning *u, const struct job_found *old, struct str name, struct job_creation *ret)
{
	struct cli_session *s = &u->session;
	CLEANUP(json_docp) yyjson_doc *doc = fresh(old->job.kind, old->job.root, name);
	struct err e = ERR_INIT;

	*ret = (struct job_creation){ .kind = old->job.kind,
		                      .resource = remote_kind(old->job.kind),
		                      .what = kind_title(s->kinds, old->job.kind),
		                      .ns = old->ns,
		                      .name = name };
	ret->doc = edits_apply(&u->edits, yyjson_doc_get_root(doc), &e);
	if (!ret->doc)
		s->cli->status = cli_fail(s->cli, CLI_INVALID, "%s", err_msg(&e));
	err_release(&e);
	return ret->doc && check_job(u, ret);
}

static enum create_result create_as(struct rerunning *u, const struct job_found *old, struct str name,
                                    struct job_found *ret)
{
	struct job_creation c;
	enum create_result result = prepare_job(u, old, name, &c) ? create_object(&u->session, &c, ret) : CREATE_FAILED;

	creation_release(&c);
	return result;
}

/* Nothing is deleted for a new one that would not be taken. */
static enum exit_code make_room(struct rerunning *u, const struct job_found *old)
{
	struct job_creation c;
	bool ok = prepare_job(u, old, old->name, &c);

	creation_release(&c);
	return ok ? job_delete(&u->session, old, true) : u->session.cli->status;
}

/* NAME-2, NAME-3 …: the first that is free. */
static enum create_result create_next(struct rerunning *u, const struct job_found *old, struct job_found *ret)
{
	enum create_result result = CREATE_EXISTS;
	int64_t number;
	struct str base = base_name(old->name, &number);

	for (int i = 0; i < TRIES && result == CREATE_EXISTS; i++)
		result = create_as(
			u, old, arena_printf(&u->session.remote.arena, "%.*s-%lld", STR_F(base), (long long)++number),
			ret);
	return result;
}

/* NAME empty: all that were tried. */
static enum exit_code exists(struct cli_session *s, const struct job_found *old, struct str name)
{
	int64_t number;
	struct str base = base_name(old->name, &number);

	if (name.n)
		return cli_fail(s->cli, CLI_FAILED, "%.*s exists already", STR_F(name));
	return cli_fail(s->cli, CLI_FAILED, "%.*s-%lld to %.*s-%lld already exist: choose a name with --name",
	                STR_F(base), (long long)number + 1, STR_F(base), (long long)number + TRIES);
}

static enum exit_code create_again(struct rerunning *u, const struct job_found *old, const char *name)
{
	struct cli_session *s = &u->session;
	struct job_found fresh_one = { 0 };
	enum exit_code status = CLI_OK;
	enum create_result result;

	if (u->replace)
		status = make_room(u, old);
	if (status != CLI_OK)
		return status;
	if (u->replace)
		result = create_as(u, old, old->name, &fresh_one);
	else
		result = name ? create_as(u, old, str_c(name), &fresh_one) : create_next(u, old, &fresh_one);
	switch (result) {
	case CREATE_FAILED:
		return s->cli->status;
	case CREATE_EXISTS:
		return exists(s, old, u->replace ? old->name : str_c(name));
	case CREATE_DONE:
		break;
	}
	plain_printf(stdout, "%.*s/%.*s created\n", STR_F(kind_title(s->kinds, old->job.kind)), STR_F(fresh_one.name));
	fflush(stdout);
	if (u->logs)
		status = logs_follow(s, &fresh_one, &(struct logs_options){ .follow = true, .index = -1, .tail = -1 });
	if (status == CLI_OK && (u->logs || u->wait))
		status = job_wait(s, &fresh_one, WAIT_FINISHED);
	job_found_release(&fresh_one);
	return status;
}

static enum exit_code rerun_job(struct rerunning *u, const char *name, const char *new_name, bool force)
{
	struct cli_session *s = &u->session;
	struct job_found old;
	struct job_view v;
	enum exit_code status;

	if (!session_find(s, false) || !job_find(&s->remote, s->kinds, name, &old))
		return s->cli->status;
	v = job_view(old.job.root);
	if (!phase_final(v.phase) && !force)
		status = cli_fail(s->cli, CLI_FAILED, "%.*s has not ended (%.*s): with --force %s", STR_F(v.name),
		                  STR_F(v.state),
		                  u->replace ? "it is stopped and replaced" : "a second one runs beside it");
	else
		status = create_again(u, &old, new_name);
	job_found_release(&old);
	return status;
}

enum exit_code cmd_rerun(struct cli *cli, int argc, char **argv)
{
	struct rerunning u = { .session = { .cli = cli } };
	const char *name = NULL;
	bool force = false;
	struct opt opts[7 + REMOTE_OPTS + SIZE_OPTS] = {
		{ 0, "name", "NAME", "of the new job (NAME-2, NAME-3 …)", .text = &name },
		{ 0, "replace", NULL, "delete the old job and reuse its name", .flag = &u.replace },
		{ 0, "force", NULL, "even if the job has not ended", .flag = &force },
		{ 0, "set", "PATH=VALUE", "change a field: spec.replicaSpecs[0].replicas=3", .list = &u.edits.set },
		{ 'e', "env", "NAME=VALUE", "set a variable in all containers; NAME alone passes on yours",
		  .list = &u.edits.env },
		{ 0, "wait", NULL, "wait until it has ended; the exit status is the job's", .flag = &u.wait },
		{ 0, "logs", NULL, "show the logs until it has ended; implies --wait", .flag = &u.logs },
	};
	enum exit_code status;
	int n;

	remote_opts(opts + 7, &u.session.flags);
	cli_size_opts(cli, opts + 7 + REMOTE_OPTS);
	n = cli_parse(cli, opts, ARRAY_LEN(opts), argc, argv);
	if (n < 0)
		status = cli->status;
	else if (n != 1)
		status = cli_usage(cli, n ? "one job at a time" : "which job?");
	else if (name && u.replace)
		status = cli_usage(cli, "--name and --replace exclude each other");
	else
		status = rerun_job(&u, argv[0], name, force);
	edits_release(&u.edits);
	session_end(&u.session);
	return status;
}
