/* For the tests of src/job: jobs from JSON with single quotes, answers as text. */
#ifndef JOB_TESTING_H
#define JOB_TESTING_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/buf.h"
#include "base/json.h"
#include "job/policy.h"

/* Everything that one case needs; released at once. */
struct bench {
	struct arena a;
	yyjson_doc *docs[64];
	size_t n_docs;
};

#define BENCH_INIT                                                                                                     \
	{                                                                                                              \
		.a = ARENA_INIT                                                                                        \
	}

static inline void bench_release(struct bench *b)
{
	for (size_t i = 0; i < b->n_docs; i++)
		yyjson_doc_free(b->docs[i]);
	arena_release(&b->a);
	b->n_docs = 0;
}

/* The JSON in TEXT, with ' for ". NULL gives NULL. */
static inline yyjson_val *parse(struct bench *b, const char *text)
{
	struct err e = ERR_INIT;
	struct str copy;

	if (!text)
		return NULL;
	copy = arena_str(&b->a, str_c(text));
	for (size_t i = 0; i < copy.n; i++)
		if (copy.p[i] == '\'')
			((char *)(uintptr_t)copy.p)[i] = '"';
	assert_true(b->n_docs < ARRAY_LEN(b->docs));
	b->docs[b->n_docs] = json_parse(copy, &e);
	if (!b->docs[b->n_docs])
		fail_msg("%s in %.*s", err_msg(&e), STR_F(copy));
	return yyjson_doc_get_root(b->docs[b->n_docs++]);
}

static inline struct job *read_val(struct bench *b, yyjson_val *doc, yyjson_val *policy, yyjson_val *annotations)
{
	struct job_identity id = { .ns = STR("ns"), .name = STR("job"), .uid = STR("uid") };

	return job_read(&b->a, &id, doc, policy, STR("spec.policy"), annotations);
}

static inline struct job *read_job(struct bench *b, const char *doc, const char *policy)
{
	return read_val(b, parse(b, doc), parse(b, policy), NULL);
}

/* One line for each problem: "path: message", warnings with "warning " in front. */
static inline const char *problems_text(struct bench *b, const struct problems *p)
{
	struct str all = arena_str(&b->a, STR(""));

	for (size_t i = 0; i < p->list.n; i++) {
		const struct problem *one = &p->list.v[i];

		all = arena_printf(&b->a, "%.*s%s%s%.*s: %.*s", STR_F(all), all.n ? "\n" : "",
		                   one->severity != PROBLEM_ERROR ? "warning " : "", STR_F(one->path),
		                   STR_F(one->message));
	}
	return all.p;
}

/* "OnFailure Pod limit 6 backoff 10/300 codes 128-255 oom; complete All fail Any" */
static inline const char *role_text(struct bench *b, const struct role *role)
{
	const struct restart *r = &role->restart;
	struct str codes = code_set_format(&r->codes, &b->a);

	return arena_printf(&b->a, "%s %s limit %d backoff %d/%d%s%.*s%s; complete %s fail %s",
	                    restart_policy_name(r->policy), scope_name(r->scope), r->limit, r->backoff_initial,
	                    r->backoff_max, codes.n ? " codes " : "", STR_F(codes), r->oom_permanent ? " oom" : "",
	                    role_end_name(role->complete), role_end_name(role->fail))
	        .p;
}

#define TEMPLATE "{'spec':{'containers':[{'name':'main','image':'i'}]}}"
/* A role of the document, without the braces' end, so that more can be said. */
#define ROLE(name, count) "{'name':'" name "','path':'spec.r." name "','count':" #count ",'template':" TEMPLATE

#endif
