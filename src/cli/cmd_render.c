/* dljob render: the pods and services that jobs would be given. */
#include "cli/commands.h"
#include "client/render.h"
#include "client/report.h"
#include "client/uid.h"
#include "kind/accelerators.h"
#include "term/plain.h"

struct render {
	struct cli *cli;
	struct kinds *kinds;
	struct object_list out;
	struct cli_report report;
	bool env;
	const char *uid, *ns;
	struct replica_selection selection;
	size_t jobs;
	enum exit_code status;
};

/* A copy of the object with a namespace: an API server would have put one there. */
static yyjson_doc *with_namespace(yyjson_val *root, const char *ns)
{
	CLEANUP(json_mut_docp) yyjson_mut_doc *copy = yyjson_mut_doc_new(NULL);
	yyjson_mut_val *object = yyjson_val_mut_copy(copy, root);
	yyjson_mut_val *meta = yyjson_mut_obj_get(object, "metadata");

	yyjson_mut_doc_set_root(copy, object);
	if (yyjson_mut_is_obj(meta)) {
		yyjson_mut_obj_remove_key(meta, "namespace");
		yyjson_mut_obj_add_str(copy, meta, "namespace", ns);
	}
	return yyjson_mut_doc_imut_copy(copy, NULL);
}

static void fail(struct render *r, enum exit_code status, struct err *e)
{
	r->status = cli_fail(r->cli, status, "%s", err_msg(e));
	err_release(e);
}

static void render_valid(struct render *r, struct kind_job *kj)
{
	struct err e = ERR_INIT;

	if (!selection_check(&r->selection, kind_job(kj), &e))
		fail(r, CLI_INVALID, &e);
	else if (r->env ? !render_env(kj, &r->selection, &e) : !render_objects(kj, &r->selection, &r->out, &e))
		fail(r, CLI_FAILED, &e);
}

static void render_job(struct render *r, const char *file, const struct manifest *m, const struct manifest_object *o)
{
	struct str ns = json_str(json_at(o->root, "metadata", "namespace", NULL));
	struct str name = json_str(json_at(o->root, "metadata", "name", NULL));
	CLEANUP(json_docp) yyjson_doc *doc = NULL;
	struct kind_job *kj;
	struct err e = ERR_INIT;
	struct str uid;

	r->jobs++;
	if (r->ns && !str_empty(ns) && !str_eqc(ns, r->ns)) {
		r->status = cli_fail(r->cli, CLI_INVALID, "%.*s is in namespace %.*s, not in %s", STR_F(name),
		                     STR_F(ns), r->ns);
		return;
	}
	if (str_empty(ns)) {
		ns = str_c(r->ns ? r->ns : "default");
		doc = with_namespace(o->root, ns.p);
	}
	uid = r->uid ? str_c(r->uid) : uid_derive(&r->cli->arena, ns, name);
	kj = kind_read(r->kinds, o->kind, doc ? yyjson_doc_get_root(doc) : o->root, uid, &e);
	if (!kj) {
		fail(r, CLI_FAILED, &e);
		return;
	}
	kind_check_fields(kj, cli_unknown_fields(r->cli));
	report_job(&r->report, file, m, o, &kind_job(kj)->problems);
	if (kind_job(kj)->problems.errors)
		r->status = CLI_INVALID;
	else
		render_valid(r, kj);
	kind_job_free(kj);
}

static void render_file(struct render *r, const char *file)
{
	struct manifest_object o;
	struct manifest m;

	if (!report_open(&r->report, file, r->kinds, &r->cli->arena, &m)) {
		r->status = CLI_INVALID;
		return;
	}
	while (r->status == CLI_OK && manifest_next(&m, &o)) {
		if (o.class == OBJECT_JOB) {
			render_job(r, file, &m, &o);
			continue;
		}
		report_object(&r->report, file, &m, &o);
		if (o.class == OBJECT_WRONG)
			r->status = CLI_INVALID;
	}
	if (r->status == CLI_OK && r->jobs == 0)
		r->status = cli_fail(r->cli, CLI_INVALID, "there is no job in %s: %.*s", file,
		                     STR_F(manifest_without_job(&m)));
	yaml_close(m.yaml);
}

/* The file of dl-operator's flag of the same name, to try it. */
static bool load_accelerators(struct render *r, const char *path, struct accelerators **ret)
{
	struct err e = ERR_INIT;
	const char *key, *why;

	*ret = accelerators_load(path, &e);
	if (!*ret) {
		fail(r, CLI_INVALID, &e);
		return false;
	}
	for (size_t i = 0; accelerators_idle(*ret, i, &key, &why); i++)
		plain_printf(stderr, "%s: note: %s has no effect: %s\n", path, key, why);
	kinds_set_accelerators(r->kinds, *ret);
	return true;
}

enum exit_code cmd_render(struct cli *cli, int argc, char **argv)
{
	struct render r = { .cli = cli, .selection = { .index = -1 } };
	const char *output = "yaml", *role = NULL, *config = NULL;
	struct opt opts[7 + SIZE_OPTS] = {
		{ 'o', "output", "yaml|json", "YAML documents (default), or one List", .text = &output },
		{ 'n', "namespace", "NS", "of jobs that name none (default)", .text = &r.ns },
		{ 0, "uid", "UID", "the job's UID", .text = &r.uid },
		{ 0, "role", "ROLE", "only the replicas of this role", .text = &role },
		{ 0, "index", "N", "only the replicas with this index", .number = &r.selection.index },
		{ 0, "controller-config-file", "FILE", "add accelerators as dl-operator does", .text = &config },
		{ 0, "env", NULL, "print only the containers' variables, as a table", .flag = &r.env },
	};
	CLEANUP(accelerators_freep) struct accelerators *accelerators = NULL;
	CLEANUP(kinds_freep) struct kinds *kinds = NULL;
	int n;

	cli_size_opts(cli, opts + 7);
	n = cli_parse(cli, opts, ARRAY_LEN(opts), argc, argv);
	if (n < 0 || !cli_format(cli, output, &r.out.format))
		return cli->status;
	if (n == 0)
		return cli_usage(cli, "which FILE?");
	kinds = r.kinds = cli_kinds(cli);
	if (!kinds)
		return cli->status;
	if (config && !load_accelerators(&r, config, &accelerators))
		return r.status;
	r.selection.role = str_c(role);
	r.report = report_to(stderr);
	for (int i = 0; i < n && r.status == CLI_OK; i++) {
		r.jobs = 0;
		render_file(&r, argv[i]);
	}
	if (!r.env)
		objects_end(&r.out, r.status == CLI_OK);
	return r.status;
}
