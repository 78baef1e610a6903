#include "local/api/crd.h"

yyjson_val *crd_version(struct store *s, const struct store_type *t, yyjson_doc **doc)
{
	const struct store_type *crds =
		store_type(s, STR("apiextensions.k8s.io"), STR("v1"), STR("customresourcedefinitions"));
	struct arena a = ARENA_INIT;
	struct store_request r = { .verb = STORE_GET,
		                   .type = crds,
		                   .name = arena_printf(&a, "%.*s.%.*s", STR_F(t->plural), STR_F(t->group)) };
	struct store_answer answer = { 0 };
	yyjson_val *versions, *v, *found = NULL;
	size_t i, max;

	*doc = NULL;
	store_call(s, &r, &answer);
	if (answer.code == HTTP_OK)
		*doc = yyjson_read(answer.body.p, answer.body.n, 0);
	store_answer_release(&answer);
	arena_release(&a);
	versions = json_at(yyjson_doc_get_root(*doc), "spec", "versions", NULL);
	yyjson_arr_foreach(versions, i, max, v)
	{
		if (str_eq(json_str(json_get(v, "name")), t->version))
			found = v;
	}
	return found;
}
