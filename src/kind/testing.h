/* What the tests of src/kind share: load, read, look at what came out as text. */
#ifndef KIND_TESTING_H
#define KIND_TESTING_H

/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/yaml.h"
#include "kind/kind.h"

static const struct kind_limits small_limits = {
	.instructions = 2000000,
	.memory = (size_t)8 << 20,
	.churn = (size_t)64 << 20,
	.text = (size_t)1 << 20,
	.time = NEVER / 2, /* tests do not depend on how fast the machine is */
	.clock = &clock_thread,
};

struct fixture {
	struct kinds *kinds;
	struct yaml_file *file;
	struct kind_job *job;
	struct buf text;
	yyjson_doc *doc;
	struct err e;
};

#define FIXTURE_INIT                                                                                                   \
	{                                                                                                              \
		.text = BUF_INIT(64 << 20), .e = ERR_INIT                                                              \
	}

static inline void fixture_clear(struct fixture *f)
{
	kind_job_free(f->job);
	yaml_close(f->file);
	yyjson_doc_free(f->doc);
	f->job = NULL;
	f->file = NULL;
	f->doc = NULL;
	err_release(&f->e);
}

static inline void fixture_release(struct fixture *f)
{
	fixture_clear(f);
	kinds_free(f->kinds);
	f->kinds = NULL;
	buf_release(&f->text);
}

static inline void fixture_builtin(struct fixture *f)
{
	f->kinds = kinds_new(NULL);
	if (!kinds_load_builtin(f->kinds, &f->e))
		fail_msg("%s", err_msg(&f->e));
}

/* One kind from Lua's text, with small limits. */
static inline void fixture_lua(struct fixture *f, const char *lua)
{
	f->kinds = kinds_new(&small_limits);
	if (!kinds_load_text(f->kinds, STR("test.lua"), str_c(lua), &f->e))
		fail_msg("%s", err_msg(&f->e));
}

/* Reads the manifest; the error is in f->e. */
static inline bool fixture_try(struct fixture *f, const char *yaml)
{
	const struct kind *kind;
	yyjson_val *root;

	fixture_clear(f);
	f->file = yaml_parse(STR("job.yaml"), str_c(yaml), &f->e);
	if (!f->file)
		fail_msg("%s", err_msg(&f->e));
	root = yaml_root(f->file, 0);
	kind = kinds_find(f->kinds, json_str(json_get(root, "apiVersion")), json_str(json_get(root, "kind")));
	if (!kind)
		fail_msg("no such kind");
	f->job = kind_read(f->kinds, kind, root, STR("0b5f5a30-uid"), &f->e);
	return f->job != NULL;
}

static inline const struct job *fixture_read(struct fixture *f, const char *yaml)
{
	if (!fixture_try(f, yaml))
		fail_msg("%s", err_msg(&f->e));
	return kind_job(f->job);
}

/* All problems, one a line: "error path: message". */
static inline const char *fixture_problems(struct fixture *f)
{
	const struct problems *p = &kind_job(f->job)->problems;

	buf_clear(&f->text);
	buf_put(&f->text, STR(""));
	for (size_t i = 0; i < p->list.n; i++)
		buf_printf(&f->text, "%s %.*s: %.*s\n", p->list.v[i].severity == PROBLEM_ERROR ? "error" : "warning",
		           STR_F(p->list.v[i].path), STR_F(p->list.v[i].message));
	return f->text.p ? f->text.p : "";
}

/* Reads YAML and compares its problems. */
static inline void expect_problems(struct fixture *f, const char *yaml, const char *problems)
{
	fixture_read(f, yaml);
	assert_string_equal(fixture_problems(f), problems);
}

static inline yyjson_val *fixture_parse(struct fixture *f)
{
	yyjson_doc_free(f->doc);
	f->doc = json_parse(buf_str(&f->text), &f->e);
	if (!f->doc)
		fail_msg("%s in %s", err_msg(&f->e), f->text.p);
	return yyjson_doc_get_root(f->doc);
}

static inline yyjson_val *fixture_pod(struct fixture *f, size_t role, int32_t index)
{
	buf_clear(&f->text);
	if (!kind_pod(f->job, role, index, 7, 2, &f->text, &f->e))
		fail_msg("%s", err_msg(&f->e));
	return fixture_parse(f);
}

static inline yyjson_val *fixture_service(struct fixture *f, size_t role, int32_t index)
{
	buf_clear(&f->text);
	if (!kind_service(f->job, role, index, &f->text, &f->e))
		fail_msg("%s", err_msg(&f->e));
	return fixture_parse(f);
}

/* VAL as compact JSON equals TEXT. */
static inline void expect_json(yyjson_val *val, const char *text)
{
	struct buf b = BUF_INIT(1 << 20);

	if (val)
		json_write_val(val, &b);
	else
		buf_put(&b, STR("(nothing)"));
	assert_string_equal(b.p, text);
	buf_release(&b);
}

/* The value of a variable of a container; NULL if it is not set. */
static inline const char *env_of(yyjson_val *pod, const char *list, size_t container, const char *name)
{
	yyjson_val *c = yyjson_arr_get(json_at(pod, "spec", list, NULL), container), *v;
	yyjson_arr_iter it = yyjson_arr_iter_with(json_get(c, "env"));

	while ((v = yyjson_arr_iter_next(&it)))
		if (str_eqc(json_str(json_get(v, "name")), name))
			return yyjson_get_str(json_get(v, "value"));
	return NULL;
}

#endif
