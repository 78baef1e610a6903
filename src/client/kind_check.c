#include "client/kind_check.h"

#include "client/report.h"
#include "client/uid.h"
#include "client/write.h"
#include "term/plain.h"

#include <dirent.h>

enum { TEXT_MAX = 64 << 20 };

struct trial {
	struct cli *cli;
	struct kinds *kinds;
	const struct kind *kind;
	struct cli_report report;
	size_t jobs, pods, services, statuses;
};

/* --- One job --- */

static bool blame(struct trial *t, struct err *e)
{
	report_kind(&t->report, t->kind, str_c(err_msg(e)));
	err_release(e);
	return false;
}

/* The first replica and the last one: what depends on the index shows there. */
static bool try_role(struct trial *t, struct kind_job *kj, size_t role)
{
	const struct role *r = &kind_job(kj)->roles[role];
	struct buf text = BUF_INIT(TEXT_MAX);
	struct err e = ERR_INIT;
	bool ok = true;

	for (int i = 0; i < MIN(r->count, 2) && ok; i++) {
		int32_t index = i ? r->count - 1 : 0;

		buf_clear(&text);
		ok = kind_pod(kj, role, index, 1, i, &text, &e);
		t->pods += ok;
		if (!ok || !r->service)
			continue;
		buf_clear(&text);
		ok = kind_service(kj, role, index, &text, &e);
		t->services += ok;
	}
	buf_release(&text);
	return ok || blame(t, &e);
}

static struct role_counts counts_in(enum phase p, int32_t n)
{
	if (p == PHASE_RUNNING)
		return (struct role_counts){ .active = n, .ready = n };
	if (p == PHASE_RESTARTING)
		return (struct role_counts){ .restarting = n };
	if (p == PHASE_SUCCEEDED)
		return (struct role_counts){ .succeeded = n };
	if (phase_final(p))
		return (struct role_counts){ .failed = n };
	return (struct role_counts){ .pending = n };
}

/* As a job in that phase would have it. */
static struct record make_record(struct arena *a, const struct job *job, enum phase p)
{
	msec now = clock_now(&clock_wall);
	struct record r = { .version = RECORD_VERSION,
		            .phase = p,
		            .outcome = phase_final(p) ? p : PHASE_NONE,
		            .why = phase_final(p) ? STR("Checked") : STR_NONE,
		            .reason = STR("is only tried"),
		            .start = p == PHASE_INVALID ? 0 : now,
		            .running = p >= PHASE_RUNNING ? now : 0,
		            .end = phase_final(p) ? now : 0,
		            .history = { { p, now, 0 } },
		            .n_history = 1,
		            .roles = arena_array(a, struct record_role, job->n_roles) };

	for (size_t i = 0; i < job->n_roles; i++)
		if (!job->roles[i].companion)
			r.roles[r.n_roles++] = (struct record_role){ .name = job->roles[i].name,
				                                     .count = job->roles[i].count,
				                                     .now = counts_in(p, job->roles[i].count) };
	return r;
}

/* An older operator may have left just that. */
static bool try_adopt(struct trial *t, struct kind_job *kj, yyjson_mut_val *status, struct err *e)
{
	yyjson_doc *doc = yyjson_mut_val_imut_copy(status, NULL);

	kind_adopt(kj, yyjson_doc_get_root(doc), &t->cli->arena, e);
	yyjson_doc_free(doc);
	return !e->code;
}

static bool try_status(struct trial *t, struct kind_job *kj, enum phase p)
{
	CLEANUP(json_mut_docp) yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
	struct record r = make_record(&t->cli->arena, kind_job(kj), p);
	struct err e = ERR_INIT;
	yyjson_mut_val *status = kind_status(kj, &r, doc, &e);

	if (status && try_adopt(t, kj, status, &e)) {
		t->statuses++;
		return true;
	}
	report_kind(&t->report, t->kind,
	            arena_printf(&t->cli->arena, "%s, for a job that is %s", err_msg(&e), phase_name(p)));
	err_release(&e);
	return false;
}

/* A job whose spec could not be read has a status as well. */
static void try_without_spec(struct trial *t, yyjson_val *root)
{
	CLEANUP(json_mut_docp) yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
	yyjson_mut_val *bare = yyjson_val_mut_copy(doc, root);
	yyjson_doc *copy;
	struct err e = ERR_INIT;
	struct kind_job *kj;

	yyjson_mut_obj_remove_key(bare, "spec");
	copy = yyjson_mut_val_imut_copy(bare, NULL);
	kj = kind_read(t->kinds, t->kind, yyjson_doc_get_root(copy), STR_NONE, &e);
	if (kj)
		try_status(t, kj, PHASE_INVALID);
	else
		blame(t, &e);
	kind_job_free(kj);
	yyjson_doc_free(copy);
}

static void try_children(struct trial *t, struct kind_job *kj, yyjson_val *root)
{
	const struct job *job = kind_job(kj);
	bool ok = true;

	for (size_t i = 0; i < job->n_roles && ok; i++)
		ok = try_role(t, kj, i);
	for (enum phase p = PHASE_INVALID; p < PHASE_OTHER && ok; p++)
		ok = try_status(t, kj, p);
	if (ok)
		try_without_spec(t, root);
}

static struct kind_job *read_job(struct trial *t, yyjson_val *root)
{
	struct err e = ERR_INIT;
	struct kind_job *kj = kind_read(t->kinds, t->kind, root, uid_any, &e);

	t->jobs++;
	if (!kj)
		blame(t, &e);
	return kj;
}

/* --- The examples --- */

static void try_file(struct trial *t, const char *file)
{
	struct manifest_object o;
	struct manifest m;

	if (!report_open(&t->report, file, t->kinds, &t->cli->arena, &m))
		return;
	while (manifest_next(&m, &o)) {
		struct kind_job *kj = o.class == OBJECT_JOB ? read_job(t, o.root) : NULL;

		if (!kj)
			continue;
		kind_check_fields(kj, cli_unknown_fields(t->cli));
		report_job(&t->report, file, &m, &o, &kind_job(kj)->problems);
		if (!kind_job(kj)->problems.errors)
			try_children(t, kj, o.root);
		kind_job_free(kj);
	}
	yaml_close(m.yaml);
}

static int is_yaml(const struct dirent *d)
{
	struct str name = str_c(d->d_name);

	return name.p[0] != '.' && (str_has_suffix(name, STR(".yaml")) || str_has_suffix(name, STR(".yml")));
}

/* Whatever lies there and is no YAML was not meant. */
static bool is_readable(const char *file)
{
	struct err e = ERR_INIT;
	struct yaml_file *yaml = yaml_read(file, &e);
	bool ok = yaml;

	yaml_close(yaml);
	err_release(&e);
	return ok;
}

static void try_beside(struct trial *t, const char *file)
{
	const char *slash = strrchr(file, '/'), *path;
	struct str dir = slash ? (struct str){ file, (size_t)(slash - file) + 1 } : STR("");
	struct dirent **list;
	int n = scandir(slash ? arena_str(&t->cli->arena, dir).p : ".", &list, is_yaml, alphasort);

	for (int i = 0; i < n; i++) {
		path = arena_printf(&t->cli->arena, "%.*s%s", STR_F(dir), list[i]->d_name).p;
		if (is_readable(path))
			try_file(t, path);
		free(list[i]);
	}
	if (n >= 0)
		free(list);
}

/* What `dljob run --kind` would run. */
static void try_written(struct trial *t)
{
	static char program[] = "true", *command[] = { program };
	struct write_options o = {
		.replicas = "2", .kind = t->kind->id.p, .image = "example", .n_command = 1, .command = command
	};
	struct job_edits none = { 0 };
	yyjson_doc *doc = write_job(t->cli, t->kinds, &o, &none, NULL);
	struct kind_job *kj = doc ? read_job(t, yyjson_doc_get_root(doc)) : NULL;

	t->report.errors += !doc;
	if (kj)
		try_children(t, kj, yyjson_doc_get_root(doc));
	kind_job_free(kj);
	yyjson_doc_free(doc);
}

static enum exit_code sum_up(struct trial *t, const char *file)
{
	struct str id = t->kind->id;

	if (t->report.errors)
		return CLI_INVALID;
	if (!t->jobs)
		return cli_fail(
			t->cli, CLI_INVALID,
			"%s: there is no example of a %.*s to try it with: name manifests behind it, or put one "
			"beside it",
			file, STR_F(id));
	plain_printf(stdout, "%s: %.*s: %zu job%s, %zu pods, %zu services, %zu statuses: no mistake found\n", file,
	             STR_F(id), t->jobs, t->jobs == 1 ? "" : "s", t->pods, t->services, t->statuses);
	return CLI_OK;
}

enum exit_code kind_check_file(struct cli *cli, const char *file, int n, char **examples)
{
	CLEANUP(kinds_freep) struct kinds *kinds = kinds_new(&kind_limits_default);
	struct trial t = { .cli = cli, .kinds = kinds, .report = report_to(stderr) };
	struct err e = ERR_INIT;

	if (!kinds_load_file(kinds, file, &e)) {
		cli->status = cli_fail(cli, CLI_INVALID, "%s", err_msg(&e));
		err_release(&e);
		return cli->status;
	}
	t.kind = kinds_at(kinds, 0);
	for (int i = 0; i < n; i++)
		try_file(&t, examples[i]);
	if (!n)
		try_beside(&t, file);
	/* What is written is no example: of named files without one it says nothing. */
	if (kind_writes(t.kind) && (!n || t.jobs))
		try_written(&t);
	return sum_up(&t, file);
}
