#include "local/store/create.h"

#include "local/store/answer.h"
#include "local/store/check.h"
#include "local/store/meta.h"
#include "local/store/object.h"
#include "local/store/types.h"

/* Is the namespace there, and does it take new objects? */
static bool check_namespace(struct store_call *c)
{
	struct db_row row;

	if (!c->type->pub.namespaced)
		return true;
	if (!db_get(c->s->db, RES_NAMESPACES, STR_NONE, c->r->ns, &row, &c->s->arena)) {
		struct store_call of = *c;

		of.type = type_of_resource(c->s, RES_NAMESPACES);
		return answer_not_found(&of, c->r->ns);
	}
	if (row.deleting)
		return answer_refusal(
			c, HTTP_FORBIDDEN, "Forbidden",
			"%.*s is forbidden: unable to create new content in namespace %.*s because it is being "
			"terminated",
			STR_F(c->type->resource), STR_F(c->r->ns));
	return true;
}

static bool exists(struct store_call *c, struct str name)
{
	struct db_row row;

	return db_get(c->s->db, c->type->resource, c->type->pub.namespaced ? c->r->ns : STR_NONE, name, &row,
	              &c->s->arena);
}

/* Empty: refused. */
static struct str choose_name(struct store_call *c, yyjson_val *meta)
{
	enum { TRIES = 8 };
	struct str name = json_str(json_get(meta, "name")), base = json_str(json_get(meta, "generateName"));
	bool generate = str_empty(name) && base.n;
	const char *problem;

	for (int i = 0; generate && i < TRIES && (i == 0 || exists(c, name)); i++)
		name = meta_generated_name(c->s, base);
	if (str_empty(name)) {
		answer_invalid(c, name, "metadata.name", "Required value: name or generateName is required");
		return STR_NONE;
	}
	problem = name_problem(c->type->rules->names, name);
	if (problem) {
		answer_invalid(c, name, "metadata.name", "Invalid value: \"%.*s\": %s", STR_F(str_sub(name, 0, 256)),
		               problem);
		return STR_NONE;
	}
	return name;
}

static bool check_new(struct store_call *c, yyjson_val *root)
{
	yyjson_val *meta = json_get(root, "metadata");
	struct str ns = json_str(json_get(meta, "namespace")), want = c->type->pub.namespaced ? c->r->ns : STR_NONE;

	if (!store_check_object(c, root))
		return false;
	if (ns.n && !str_eq(ns, want))
		return answer_refusal(
			c, HTTP_BAD_REQUEST, "BadRequest",
			"the namespace of the provided object does not match the namespace sent on the request");
	if (c->r->verb == STORE_UPDATE && !str_eq(json_str(json_get(meta, "name")), c->r->name))
		return answer_refusal(c, HTTP_BAD_REQUEST, "BadRequest",
		                      "the name of the object (%.*s) does not match the name on the URL (%.*s)",
		                      STR_F(str_sub(json_str(json_get(meta, "name")), 0, 256)),
		                      STR_F(str_sub(c->r->name, 0, 256)));
	if (json_str(json_get(meta, "resourceVersion")).n)
		return answer_refusal(c, HTTP_BAD_REQUEST, "BadRequest",
		                      "resourceVersion should not be set on objects to be created");
	if (c->type->terminating)
		return answer_refusal(c, HTTP_NOT_ALLOWED, "MethodNotAllowed",
		                      "create not allowed while custom resource definition is terminating");
	return check_namespace(c);
}

/* What only the store writes. */
static void fill_meta(struct store_call *c, yyjson_mut_doc *doc, struct str name)
{
	static const char *const not_yours[] = { "deletionTimestamp", "deletionGracePeriodSeconds", "generation",
		                                 "managedFields", "selfLink" };
	yyjson_mut_val *root = yyjson_mut_doc_get_root(doc), *meta = meta_of(doc);

	for (size_t i = 0; i < ARRAY_LEN(not_yours); i++)
		yyjson_mut_obj_remove_key(meta, not_yours[i]);
	meta_put_str(doc, meta, "name", name);
	if (c->type->pub.namespaced)
		meta_put_str(doc, meta, "namespace", c->r->ns);
	else
		yyjson_mut_obj_remove_key(meta, "namespace");
	meta_put_str(doc, meta, "uid", meta_new_uid(c->s));
	meta_put_time(doc, meta, "creationTimestamp", store_now(c->s));
	if (c->type->rules->generation)
		meta_put_int(doc, meta, "generation", 1);
	meta_put_str(doc, root, "apiVersion", answer_api_version(c->type, &c->s->arena));
	meta_put_str(doc, root, "kind", c->type->pub.kind);
	if (c->type->pub.status && !c->type->rules->keeps_status)
		yyjson_mut_obj_remove_key(root, "status");
}

bool store_verb_create(struct store_call *c)
{
	struct err e = ERR_INIT;
	yyjson_doc *body = store_parse(c->s, c->r->body, &e);
	yyjson_val *root = yyjson_doc_get_root(body);
	yyjson_mut_doc *doc;
	struct str name, text;

	if (!body) {
		answer_undecodable(c, "%s", err_msg(&e));
		err_release(&e);
		return false;
	}
	if (!check_new(c, root))
		return false;
	name = choose_name(c, json_get(root, "metadata"));
	if (!name.n)
		return false;
	doc = store_mut(c->s);
	yyjson_mut_doc_set_root(doc, yyjson_val_mut_copy(doc, root));
	fill_meta(c, doc, name);
	if (c->type->rules->prepare && !c->type->rules->prepare(c, NULL, doc))
		return false;
	if (exists(c, name))
		return answer_exists(c, name);
	text = object_put(c, NULL, NULL, doc);
	return text.n && answer_object(c, HTTP_CREATED, text, c->s->version);
}
