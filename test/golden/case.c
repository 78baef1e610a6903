/* One case: its manifest is read, and what must come of it is looked at. */
#include "golden.h"

static const char *const case_keys[] = { "about",    "manifest", "manifestFile", "same",     "uid",     "oldStatus",
	                                 "problems", "warnings", "pods",         "services", "history", NULL };

/* "path: message" begins with, or contains, what is written: the path must be whole. */
static bool is_meant(struct str want, struct str line)
{
	struct str path = STR_NONE, rest = want;

	str_next(&rest, ':', &path);
	if (!str_has_prefix(line, path) || (line.n > path.n && line.p[path.n] != ':'))
		return false;
	rest = str_trim(rest);
	return rest.n == 0 || memmem(line.p + path.n, line.n - path.n, rest.p, rest.n);
}

/* Every problem is written down, and everything that is written down is a problem. */
static void expect_problems(struct golden *g, struct str path, const struct problems *p, enum severity severity,
                            yyjson_val *want)
{
	bool *met = arena_array(&g->a, bool, yyjson_arr_size(want) + 1);

	for (size_t i = 0; i < p->list.n; i++) {
		const struct problem *pr = &p->list.v[i];
		struct str line = arena_printf(&g->a, "%.*s: %.*s", STR_F(pr->path), STR_F(pr->message));
		bool found = false;

		if (pr->severity != severity)
			continue;
		for (size_t w = 0; w < yyjson_arr_size(want) && !found; w++) {
			found = !met[w] && is_meant(json_str(yyjson_arr_get(want, w)), line);
			met[w] = met[w] || found;
		}
		if (!found)
			differ(g, path, "unexpected: %.*s", STR_F(line));
	}
	for (size_t w = 0; w < yyjson_arr_size(want); w++)
		if (!met[w])
			differ(g, item_path(g, path, w), "not found: %.*s", STR_F(json_str(yyjson_arr_get(want, w))));
}

static void expect_read(struct golden *g, struct kind_job *kj, yyjson_val *object, yyjson_val *root)
{
	const struct job *job = kind_job(kj);

	expect_problems(g, STR("problems"), &job->problems, PROBLEM_ERROR, json_get(root, "problems"));
	expect_problems(g, STR("warnings"), &job->problems, PROBLEM_WARNING, json_get(root, "warnings"));
	if (!job->problems.errors)
		expect_children(g, kj, object, json_get(root, "pods"), json_get(root, "services"));
	else if (json_get(root, "pods") || json_get(root, "services"))
		differ(g, STR("pods"), "an invalid job has no children");
}

static void run_manifest(struct golden *g, struct str path, yyjson_val *manifest, yyjson_val *root, bool history)
{
	struct str version = json_str(json_get(manifest, "apiVersion")), name = json_str(json_get(manifest, "kind"));
	const struct kind *kind = kinds_find(g->kinds, version, name);
	struct err e = ERR_INIT;
	yyjson_mut_doc *object;
	yyjson_doc *read;
	struct kind_job *kj;

	if (!kind) {
		differ(g, path, "no kind %.*s of %.*s", STR_F(name), STR_F(version));
		return;
	}
	object = store_object(manifest, json_str(json_get(root, "uid")));
	read = yyjson_mut_doc_imut_copy(object, NULL);
	kj = kind_read(g->kinds, kind, yyjson_doc_get_root(read), STR_NONE, &e);
	if (kj) {
		expect_read(g, kj, yyjson_doc_get_root(read), root);
		kind_job_free(kj);
	} else {
		differ(g, path, "cannot be read: %s", err_msg(&e));
	}
	err_release(&e);
	if (kj && history && json_get(root, "history"))
		expect_history(g, kind, object, json_get(root, "oldStatus"), json_get(root, "history"));
	yyjson_doc_free(read);
	yyjson_mut_doc_free(object);
}

static void run_manifest_file(struct golden *g, yyjson_val *root)
{
	struct str path = STR("manifestFile");
	struct str file = arena_printf(&g->a, "%s/%.*s", g->root, STR_F(json_str(json_get(root, "manifestFile"))));
	struct err e = ERR_INIT;
	struct yaml_file *y = yaml_read(file.p, &e);

	if (!y)
		differ(g, path, "%s", err_msg(&e));
	else if (yaml_count(y) != 1)
		differ(g, path, "has %zu documents", yaml_count(y));
	else
		run_manifest(g, path, yaml_root(y, 0), root, true);
	yaml_close(y);
	err_release(&e);
}

static bool is_complete(struct golden *g, yyjson_val *root)
{
	if (!keys_known(g, STR_NONE, root, case_keys))
		return false;
	if (!json_get(root, "manifest") == !json_get(root, "manifestFile"))
		differ(g, STR_NONE, "a case has either manifest or manifestFile");
	if (!json_str(json_get(root, "uid")).n)
		differ(g, STR_NONE, "a case has a uid");
	if (!yyjson_arr_size(json_get(root, "problems")) && !yyjson_arr_size(json_get(root, "pods")) &&
	    !yyjson_arr_size(json_get(root, "history")))
		differ(g, STR_NONE, "a case expects something: problems, pods or history");
	return g->differences == 0;
}

static void run_case(struct golden *g, yyjson_val *root)
{
	yyjson_val *same = json_get(root, "same");

	if (!is_complete(g, root))
		return;
	if (json_get(root, "manifestFile"))
		run_manifest_file(g, root);
	else
		run_manifest(g, STR("manifest"), json_get(root, "manifest"), root, true);
	for (size_t i = 0; i < yyjson_arr_size(same); i++) {
		g->of = arena_printf(&g->a, " of same[%zu]", i);
		run_manifest(g, item_path(g, STR("same"), i), yyjson_arr_get(same, i), root, false);
	}
}

size_t golden_run(const char *root, struct str file, struct str text, struct buf *out)
{
	struct golden g = {
		.kinds = kinds_new(&kind_limits_default), .root = root, .file = file, .out = BUF_INIT(4 << 20)
	};
	struct str dir = arena_printf(&g.a, "%s/kinds", root);
	struct err e = ERR_INIT;

	if (!kinds_load_dir(g.kinds, dir.p, &e)) {
		differ(&g, STR_NONE, "%s", err_msg(&e));
	} else {
		g.yaml = yaml_parse(file, text, &e);
		if (!g.yaml)
			differ(&g, STR_NONE, "%s", err_msg(&e));
		else if (yaml_count(g.yaml) != 1)
			differ(&g, STR_NONE, "a case is one document, this file has %zu", yaml_count(g.yaml));
		else
			run_case(&g, yaml_root(g.yaml, 0));
	}
	buf_put(out, buf_str(&g.out));
	buf_release(&g.out);
	err_release(&e);
	yaml_close(g.yaml);
	kinds_free(g.kinds);
	arena_release(&g.a);
	return g.differences;
}
