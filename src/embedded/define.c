/* The CRDs of the kinds, put into the store at the start: as they are now, over those of before. */
#include "embedded/internal.h"

#include "base/json.h"

enum { DEFINITION_MAX = 4 << 20 };

static bool define(struct embedded *em, struct kinds *kinds, const struct kind *k, const struct store_type *crds,
                   struct err *e)
{
	yyjson_mut_doc *doc CLEANUP(json_mut_docp) = yyjson_mut_doc_new(NULL);
	yyjson_mut_val *crd = kind_crd(kinds, k, doc, e);
	struct store_request r = { .verb = STORE_CREATE, .type = crds };
	struct store_answer a = { 0 };
	struct buf body = BUF_INIT(DEFINITION_MAX);
	bool ok;

	if (!crd)
		return false;
	json_write(crd, &body);
	r.body = buf_str(&body);
	store_call(em->store, &r, &a);
	if (a.code == HTTP_CONFLICT) {
		r.verb = STORE_PATCH;
		r.patch = STORE_PATCH_MERGE;
		r.name = arena_printf(&em->arena, "%.*s.%.*s", STR_F(k->plural), STR_F(k->group));
		store_answer_release(&a);
		store_call(em->store, &r, &a);
	}
	ok = a.code / 100 == 2;
	if (!ok)
		err_set(e, ERR_INVALID, "the CRD of %.*s is not accepted: %.*s", STR_F(k->id), STR_F(buf_str(&a.body)));
	store_answer_release(&a);
	buf_release(&body);
	return ok;
}

bool embedded_define_kinds(struct embedded *em, struct kinds *kinds, struct err *e)
{
	const struct store_type *crds =
		store_type(em->store, STR("apiextensions.k8s.io"), STR("v1"), STR("customresourcedefinitions"));

	for (size_t i = 0; i < kinds_count(kinds); i++)
		if (!define(em, kinds, kinds_at(kinds, i), crds, e))
			return false;
	return true;
}
