#include "local/store/patch.h"

#include "local/store/answer.h"
#include "local/store/json_patch.h"
#include "local/store/strategic.h"
#include "local/store/update.h"

static bool refuse_patch_type(struct store_call *c)
{
	return answer_refusal(c, HTTP_UNSUPPORTED, "UnsupportedMediaType",
	                      "the body of the request was in an unknown format - accepted media types include: "
	                      "application/json-patch+json, application/merge-patch+json");
}

static yyjson_mut_val *merge(struct store_call *c, yyjson_mut_doc *doc, yyjson_val *root, yyjson_val *patch)
{
	if (!yyjson_is_obj(patch)) {
		answer_refusal(c, HTTP_BAD_REQUEST, "BadRequest", "the patch must be an object, found %s",
		               json_type_name(patch));
		return NULL;
	}
	return yyjson_merge_patch(doc, root, patch);
}

static yyjson_mut_val *apply(struct store_call *c, yyjson_mut_doc *doc, yyjson_val *root, yyjson_val *patch)
{
	switch (c->r->patch) {
	case STORE_PATCH_MERGE:
		return merge(c, doc, root, patch);
	case STORE_PATCH_JSON:
		return json_patch(c, doc, root, patch);
	case STORE_PATCH_STRATEGIC:
		return strategic_merge(c, doc, root, patch);
	}
	BUG("no type of patches");
}

/* Read again: what patches make of small parts can be too large or too deep. */
static yyjson_val *read_result(struct store_call *c, yyjson_mut_val *made)
{
	struct buf b = BUF_INIT(2 * STORE_BODY_MAX);
	struct err e = ERR_INIT;
	yyjson_doc *doc = NULL;

	json_write(made, &b);
	if (!b.overflow)
		doc = store_parse(c->s, buf_str(&b), &e);
	if (!doc && b.overflow)
		answer_refusal(c, HTTP_TOO_LARGE, "RequestEntityTooLarge", "Request entity too large: limit is %d",
		               STORE_BODY_MAX);
	else if (!doc)
		answer_undecodable(c, "%s", err_msg(&e));
	err_release(&e);
	buf_release(&b);
	return yyjson_doc_get_root(doc);
}

static bool judge(struct store_call *c, yyjson_val *before, yyjson_val *after)
{
	struct str why = STR_NONE;

	return !c->r->judge || c->r->judge(c->r->judge_cookie, before, after, &why) ||
	       answer_undecodable(c, "%.*s", STR_F(why));
}

bool store_verb_patch(struct store_call *c)
{
	struct err e = ERR_INIT;
	yyjson_doc *patch = store_parse(c->s, c->r->body, &e);
	yyjson_val *before, *wish;
	yyjson_mut_val *made;
	struct db_row old;

	if (!patch) {
		answer_refusal(c, HTTP_BAD_REQUEST, "BadRequest", "error decoding patch: %s", err_msg(&e));
		err_release(&e);
		return false;
	}
	if (c->r->patch == STORE_PATCH_STRATEGIC && c->type->pub.custom)
		return refuse_patch_type(c);
	if (!db_get(c->s->db, c->type->resource, c->type->pub.namespaced ? c->r->ns : STR_NONE, c->r->name, &old,
	            &c->s->arena))
		return answer_not_found(c, c->r->name);
	before = store_tree(c->s, answer_in_version(c->s, c->type, old.text));
	made = apply(c, store_mut(c->s), before, yyjson_doc_get_root(patch));
	wish = made ? read_result(c, made) : NULL;
	return wish && judge(c, before, wish) && update_object(c, &old, before, wish);
}
