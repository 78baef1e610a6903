/* dljob run: what is to run, and whether it can. */
#include "cli/report.h"
#include "cli/run.h"
#include "local/pod/pod.h"

#include <unistd.h>

enum { POD_TEXT_MAX = 16 << 20 };

void run_input_release(struct run_input *in)
{
	yyjson_doc_free(in->doc);
	in->doc = NULL;
}

static bool take_job(struct run *r, const char *file, const struct manifest *m, const struct manifest_object *o,
                     struct report *report)
{
	struct run_input *in = &r->input;
	struct err e = ERR_INIT;
	struct kind_job *kj;
	struct str name;

	if (in->doc) {
		report_line(report, REPORT_ERROR, file, yaml_where(m->yaml, o->doc, o->prefix), STR_NONE,
		            arena_printf(&r->cli->arena, "a second job: %s has one already; run them one by one",
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
	kj = kind_read(r->kinds, o->kind, in->job, STR_NONE, &e);
	if (!kj) {
		report_line(report, REPORT_ERROR, file, yaml_where(m->yaml, o->doc, o->prefix), STR_NONE,
		            arena_str(&r->cli->arena, str_c(err_msg(&e))));
		err_release(&e);
		return true;
	}
	report_job(report, file, m, o, &kind_job(kj)->problems);
	for (size_t i = 0; i < kind_job(kj)->n_roles; i++)
		*vec_push(&r->cli->arena, &in->roles) = arena_str(&r->cli->arena, kind_job(kj)->roles[i].name);
	name = json_str(json_at(in->job, "metadata", "name", NULL));
	in->name = name;
	in->ns = json_str(json_at(in->job, "metadata", "namespace", NULL));
	if (str_empty(in->ns))
		in->ns = STR("default");
	kind_job_free(kj);
	return true;
}

static void take_other(struct run *r, yyjson_val *root)
{
	struct buf text = BUF_INIT(POD_TEXT_MAX);

	json_write_val(root, &text);
	*vec_push(&r->cli->arena, &r->input.others) = arena_str(&r->cli->arena, buf_str(&text));
	buf_release(&text);
}

static bool read_file(struct run *r, const char *file, struct report *report)
{
	struct err e = ERR_INIT;
	struct manifest m = { .yaml = yaml_read(file, &e), .kinds = r->kinds, .arena = &r->cli->arena };
	struct manifest_object o;
	bool well = true;

	if (!m.yaml) {
		report_unreadable(report, file, str_c(err_msg(&e)));
		err_release(&e);
		return true;
	}
	while (well && manifest_next(&m, &o)) {
		switch (o.class) {
		case OBJECT_JOB:
			well = take_job(r, file, &m, &o, report);
			break;
		case OBJECT_FOREIGN:
			take_other(r, o.root);
			break;
		case OBJECT_WRONG:
			report_object(report, file, &m, &o);
			break;
		}
	}
	yaml_close(m.yaml);
	return well;
}

bool run_read(struct run *r, int n, char **files)
{
	struct report report = report_to(stderr);

	for (int i = 0; i < n; i++)
		if (!read_file(r, files[i], &report))
			return false;
	if (report.errors) {
		r->cli->status = CLI_INVALID;
		return false;
	}
	if (!r->input.doc) {
		r->cli->status = cli_fail(r->cli, CLI_INVALID, "there is no job in %s%s", files[0],
		                          n > 1 ? " and the others" : "");
		return false;
	}
	return true;
}

struct given {
	const struct run *run;
	const struct runner_tree *volumes, *rootfs;
	size_t n_volumes, n_rootfs;
	struct arena *arena;
	struct given_docs {
		VEC(yyjson_doc *) v;
	} * docs; /* that were parsed on the way */
};

static const char *given_volume(void *cookie, struct str name)
{
	const struct given *g = cookie;

	for (size_t i = 0; i < g->n_volumes; i++)
		if (str_eq(g->volumes[i].name, name))
			return g->volumes[i].dir;
	return NULL;
}

/* What stands beside the job is all that there will be. */
static yyjson_val *given_object(const struct given *g, const char *kind, struct str name)
{
	const struct run_input *in = &g->run->input;

	for (size_t i = 0; i < in->others.n; i++) {
		yyjson_doc *doc = json_parse(in->others.v[i], NULL);
		yyjson_val *root = yyjson_doc_get_root(doc);

		if (str_eqc(json_str(json_get(root, "kind")), kind) &&
		    str_eq(json_str(json_at(root, "metadata", "name", NULL)), name)) {
			*vec_push(g->arena, &g->docs->v) = doc;
			return root;
		}
		yyjson_doc_free(doc);
	}
	return NULL;
}

static yyjson_val *given_config_map(void *cookie, struct str name)
{
	return given_object(cookie, "ConfigMap", name);
}

static yyjson_val *given_secret(void *cookie, struct str name)
{
	return given_object(cookie, "Secret", name);
}

static bool given_image(void *cookie, struct str image, struct pod_image *ret)
{
	const struct given *g = cookie;

	for (size_t i = 0; i < g->n_rootfs; i++)
		if (str_eq(g->rootfs[i].name, image))
			return pod_image_read(ret, g->rootfs[i].dir, g->arena, NULL);
	return false;
}

static bool check_role(struct run *r, struct kind_job *kj, size_t role, struct given *g)
{
	struct pod_from_options o = { .config_map = given_config_map,
		                      .secret = given_secret,
		                      .volume = given_volume,
		                      .image = given_image,
		                      .cookie = g,
		                      .cwd = STR("/"),
		                      .cpu_milli = r->machine.amount.cpu,
		                      .memory = r->machine.amount.memory };
	struct buf text = BUF_INIT(POD_TEXT_MAX);
	struct err e = ERR_INIT;
	struct pod_spec spec;
	struct pod_refusal why = { 0 };
	yyjson_doc *doc;
	bool well = true;

	if (!kind_job(kj)->roles[role].count)
		return true;
	if (!kind_pod(kj, role, 0, 0, 0, &text, &e)) {
		r->cli->status = cli_fail(r->cli, CLI_INVALID, "%s", err_msg(&e));
		well = false;
	} else {
		doc = json_parse(buf_str(&text), NULL);
		if (!pod_from(&spec, yyjson_doc_get_root(doc), &o, g->arena, &why, &e)) {
			r->cli->status = cli_fail(r->cli, CLI_INVALID, "%s: %.*s: %s", r->input.file,
			                          STR_F(kind_job(kj)->roles[role].path), err_msg(&e));
			well = false;
		}
		yyjson_doc_free(doc);
	}
	err_release(&e);
	buf_release(&text);
	return well;
}

bool run_check(struct run *r)
{
	struct given_docs docs = { 0 };
	struct given g = { .run = r, .arena = &r->cli->arena, .docs = &docs };
	struct err e = ERR_INIT;
	struct kind_job *kj;
	struct runner_tree *volumes, *rootfs;
	bool well = true;

	if (!run_trees(r->cli, &r->options->volumes, "--volume", &volumes) ||
	    !run_trees(r->cli, &r->options->rootfs, "--rootfs", &rootfs))
		return false;
	g.volumes = volumes;
	g.n_volumes = r->options->volumes.n;
	g.rootfs = rootfs;
	g.n_rootfs = r->options->rootfs.n;
	kj = kind_read(r->kinds, r->input.kind, r->input.job, STR("00000000-0000-4000-8000-000000000000"), &e);
	ASSERT(kj);
	for (size_t i = 0; well && i < kind_job(kj)->n_roles; i++)
		well = check_role(r, kj, i, &g);
	for (size_t i = 0; i < docs.v.n; i++)
		yyjson_doc_free(docs.v.v[i]);
	kind_job_free(kj);
	return well;
}

bool run_trees(struct cli *cli, const struct opt_list *list, const char *option, struct runner_tree **ret)
{
	struct runner_tree *t = arena_array(&cli->arena, struct runner_tree, list->n);

	for (size_t i = 0; i < list->n; i++) {
		const char *eq = strrchr(list->v[i], '=');
		char *full;

		if (!eq || eq == list->v[i] || !eq[1]) {
			cli->status = cli_usage(cli, "%s wants NAME=DIR, not '%s'", option, list->v[i]);
			return false;
		}
		full = realpath(eq + 1, NULL);
		if (!full || access(full, X_OK)) {
			cli->status =
				cli_fail(cli, CLI_INVALID, "%s %s: there is no such directory", option, list->v[i]);
			free(full);
			return false;
		}
		t[i].name = (struct str){ list->v[i], (size_t)(eq - list->v[i]) };
		t[i].dir = arena_str(&cli->arena, str_c(full)).p;
		free(full);
	}
	*ret = t;
	return true;
}

const char *const *run_env(struct cli *cli)
{
	static const char *const names[] = { "PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "TZ", "TMPDIR" };
	const char **env = arena_array(&cli->arena, const char *, ARRAY_LEN(names) + 1);
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		const char *value = getenv(names[i]);

		if (value)
			env[n++] = arena_printf(&cli->arena, "%s=%s", names[i], value).p;
	}
	return env;
}
