#include "client/write_check.h"

#include "client/report.h"
#include "client/uid.h"

/* Is a field of the path called as a role? */
static bool names_role(const struct role_list *roles, struct str path)
{
	struct str rest = path, step;

	while (str_next(&rest, '.', &step)) {
		struct str name = STR_NONE;

		str_next(&step, '[', &name);
		for (size_t i = 0; i < roles->all.n; i++)
			if (str_eq_nocase(roles->all.v[i].name, name))
				return true;
	}
	return false;
}

/* Has the kind written a field that it does not have, not written one that it must have, or one of another type? Where
   the roles were asked for, fields with their names, and what is missing, may be the asker's. */
static bool is_kinds_fault(const struct write_options *o, const struct role_list *roles, const struct problem *p)
{
	static const char *const types[] = { ", found a ", ", found an ", ", found null" };
	bool missing = str_has_prefix(p->message, STR("is missing"));
	bool ret = missing || str_has_prefix(p->message, STR("unknown field"));

	for (size_t i = 0; i < ARRAY_LEN(types); i++)
		ret = ret || strstr(p->message.p, types[i]);
	if (o->roles && (missing || names_role(roles, p->path)))
		return false;
	return ret && p->severity == PROBLEM_ERROR && !str_has_prefix(p->path, STR("metadata."));
}

/* The job as its kind reads it; NULL: that was said. */
static struct kind_job *read_written(struct cli *cli, struct kinds *kinds, const struct kind *kind, yyjson_val *job)
{
	struct err e = ERR_INIT;
	struct kind_job *kj = kind_read(kinds, kind, job, uid_any, &e);

	if (kj)
		kind_check_fields(kj, cli_unknown_fields(cli));
	else
		cli->status = cli_fail(cli, CLI_FAILED, "%s", err_msg(&e));
	err_release(&e);
	return kj;
}

static bool has_problem(const struct kind_job *kj, const struct problem *p)
{
	const struct problems *all = &kind_job(kj)->problems;

	for (size_t i = 0; i < all->list.n; i++)
		if (str_eq(all->list.v[i].path, p->path) && str_eq(all->list.v[i].message, p->message))
			return true;
	return false;
}

/* What a kind has written wrong, and no edit has mended, is no mistake of whoever runs a command. */
static bool check_written(struct writing *w, const struct kind_job *plain, const struct kind_job *job)
{
	const struct problems *p = &kind_job(plain)->problems;
	struct cli_report r = report_to(stderr);
	struct err e = ERR_INIT;

	for (size_t i = 0; i < p->list.n; i++)
		if (is_kinds_fault(w->options, &w->roles, &p->list.v[i]) && has_problem(job, &p->list.v[i])) {
			kind_blame_write(w->kinds, w->kind, &p->list.v[i], &e);
			report_kind(&r, w->kind, str_c(err_msg(&e)));
		}
	if (r.errors)
		w->cli->status = CLI_FAILED;
	err_release(&e);
	return !r.errors;
}

static yyjson_doc *edited(struct cli *cli, const struct job_edits *edits, yyjson_val *job)
{
	struct err e = ERR_INIT;
	yyjson_doc *doc = edits_apply(edits, job, &e);

	if (!doc)
		cli->status = cli_fail(cli, CLI_INVALID, "%s", err_msg(&e));
	err_release(&e);
	return doc;
}

/* Problems are those of options: there is no file that they could stand in. */
static bool check_options_used(struct cli *cli, const struct job_edits *edits, const struct kind_job *kj)
{
	const struct problems *p = &kind_job(kj)->problems;
	struct cli_report r = report_to(stderr);
	bool ok = p->errors == 0;

	r.edits = edits;
	for (size_t i = 0; i < p->list.n; i++) {
		bool error = p->list.v[i].severity == PROBLEM_ERROR;

		if ((error || ok) && !report_edit(&r, &cli->arena, &p->list.v[i]))
			cli_fail(cli, CLI_INVALID, "%s%.*s: %.*s", error ? "" : "warning: ", STR_F(p->list.v[i].path),
			         STR_F(p->list.v[i].message));
	}
	if (!ok)
		cli->status = CLI_INVALID;
	return ok;
}

struct kind_job *write_check(struct writing *w, const struct job_edits *edits, yyjson_doc **doc)
{
	struct kind_job *plain = read_written(w->cli, w->kinds, w->kind, yyjson_doc_get_root(*doc)), *kj = plain;
	yyjson_doc *before = *doc;
	bool ok;

	if (plain && edits_any(edits)) {
		*doc = edited(w->cli, edits, yyjson_doc_get_root(before));
		kj = *doc ? read_written(w->cli, w->kinds, w->kind, yyjson_doc_get_root(*doc)) : NULL;
	}
	ok = kj && check_written(w, plain, kj) && check_options_used(w->cli, edits, kj);
	if (plain != kj)
		kind_job_free(plain);
	if (before != *doc)
		yyjson_doc_free(before);
	if (ok)
		return kj;
	kind_job_free(kj);
	return NULL;
}
