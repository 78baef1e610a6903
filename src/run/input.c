/* dljob run: what is to run. */
#include "client/report.h"
#include "client/uid.h"
#include "run/internal.h"

enum { POD_TEXT_MAX = 16 << 20 };

void run_input_read_end(struct run_input *in)
{
	kind_job_free(in->kj);
	in->kj = NULL;
}

void run_input_release(struct run_input *in)
{
	run_input_read_end(in);
	yyjson_doc_free(in->doc);
	in->doc = NULL;
}

/* Of a pod; 30 unless its template says otherwise, as in Kubernetes. */
static int64_t grace_of(const struct role *role)
{
	yyjson_val *val = json_at(role->template, "spec", "terminationGracePeriodSeconds", NULL);

	return yyjson_is_int(val) ? yyjson_get_sint(val) : 30;
}

void run_take_job(struct run *r)
{
	struct run_input *in = &r->input;
	const struct job *job = kind_job(in->kj);

	for (size_t i = 0; i < job->n_roles; i++) {
		*vec_push(&r->cli->arena, &in->roles) = arena_str(&r->cli->arena, job->roles[i].name);
		*vec_push(&r->cli->arena, &in->counts) = job->roles[i].count;
		in->grace = MAX(in->grace, grace_of(&job->roles[i]));
	}
	in->name = json_str(json_at(in->job, "metadata", "name", NULL));
	in->ns = json_str(json_at(in->job, "metadata", "namespace", NULL));
	if (str_empty(in->ns))
		in->ns = STR("default");
}

static bool take_job(struct run *r, const char *file, const struct manifest *m, const struct manifest_object *o,
                     struct cli_report *report)
{
	struct run_input *in = &r->input;
	struct err e = ERR_INIT;

	if (in->doc) {
		report_line(report, REPORT_ERROR, file, yaml_where(m->yaml, o->doc, o->prefix), STR_NONE,
		            arena_printf(&r->cli->arena, "a second job, after the one in %s: run them one by one",
		                         in->file));
		return true;
	}
	in->doc = edits_apply(&r->options->edits, o->root, &e);
	if (!in->doc) {
		r->cli->status = cli_fail(r->cli, CLI_INVALID, "%s", err_msg(&e));
		err_release(&e);
		return false;
	}
	in->job = yyjson_doc_get_root(in->doc);
	in->kind = o->kind;
	in->file = file;
	in->kj = kind_read(r->kinds, o->kind, in->job, uid_any, &e);
	if (!in->kj) {
		report_kind(report, o->kind, str_c(err_msg(&e)));
		err_release(&e);
		return true;
	}
	kind_check_fields(in->kj, cli_unknown_fields(r->cli));
	report_job(report, file, m, o, &kind_job(in->kj)->problems);
	run_take_job(r);
	return true;
}

static void take_other(struct run *r, yyjson_val *root)
{
	struct buf text = BUF_INIT(POD_TEXT_MAX);

	json_write_val(root, &text);
	*vec_push(&r->cli->arena, &r->input.others) = arena_str(&r->cli->arena, buf_str(&text));
	buf_release(&text);
}

static bool read_file(struct run *r, const char *file, struct cli_report *report)
{
	struct manifest_object o;
	struct manifest m;
	bool ok = true;

	if (!report_open(report, file, r->kinds, &r->cli->arena, &m))
		return true;
	while (ok && manifest_next(&m, &o)) {
		switch (o.class) {
		case OBJECT_JOB:
			ok = take_job(r, file, &m, &o, report);
			break;
		case OBJECT_FOREIGN:
			take_other(r, o.root);
			report_config(report, file, &m, &o);
			break;
		case OBJECT_WRONG:
			report_object(report, file, &m, &o);
			break;
		}
	}
	if (!m.jobs && !r->input.without.n)
		r->input.without = manifest_without_job(&m);
	yaml_close(m.yaml);
	return ok;
}

bool run_read(struct run *r, int n, char **files)
{
	struct cli_report report = report_to(stderr);

	report.edits = &r->options->edits;
	report.unknown = cli_unknown_fields(r->cli);
	for (int i = 0; i < n; i++)
		if (!read_file(r, files[i], &report))
			return false;
	if (report.errors) {
		r->cli->status = CLI_INVALID;
		return false;
	}
	if (!r->input.doc) {
		r->cli->status = cli_fail(r->cli, CLI_INVALID, "there is no job in %s%s: %.*s", files[0],
		                          n > 1 ? " and the others" : "", STR_F(r->input.without));
		return false;
	}
	return true;
}
