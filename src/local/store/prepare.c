#include "local/store/prepare.h"

#include "local/store/answer.h"
#include "local/store/meta.h"
#include "object/config_data.h"

static struct str object_name(yyjson_mut_doc *doc)
{
	return json_mut_text(yyjson_mut_obj_get(meta_of(doc), "name"));
}

static bool check_containers(struct store_call *c, yyjson_mut_doc *doc, yyjson_mut_val *list)
{
	yyjson_mut_val *one;
	size_t i, max;

	if (!yyjson_mut_is_arr(list) || !yyjson_mut_arr_size(list))
		return answer_invalid(c, object_name(doc), "spec.containers", "Required value");
	yyjson_mut_arr_foreach(list, i, max, one)
	{
		struct str text = json_mut_text(yyjson_mut_obj_get(one, "name"));

		if (!str_is_dns_label(text, false))
			return answer_invalid(c, object_name(doc), "spec.containers.name",
			                      "Invalid value: \"%.*s\": must be a DNS label",
			                      STR_F(str_sub(text, 0, 256)));
	}
	return true;
}

bool prepare_pod(struct store_call *c, yyjson_val *before, yyjson_mut_doc *doc)
{
	yyjson_mut_val *root = yyjson_mut_doc_get_root(doc), *spec = yyjson_mut_obj_get(root, "spec");

	if (!check_containers(c, doc, yyjson_mut_obj_get(spec, "containers")))
		return false;
	if (!before)
		meta_put_str(doc, meta_put_obj(doc, root, "status"), "phase", STR("Pending"));
	return true;
}

bool prepare_namespace(struct store_call *c, yyjson_val *before, yyjson_mut_doc *doc)
{
	yyjson_mut_val *root = yyjson_mut_doc_get_root(doc);

	(void)c;
	meta_put_str(doc, meta_put_obj(doc, meta_of(doc), "labels"), "kubernetes.io/metadata.name", object_name(doc));
	if (!before)
		meta_put_str(doc, meta_put_obj(doc, root, "status"), "phase", STR("Active"));
	return true;
}

static bool check_strings(struct store_call *c, yyjson_mut_doc *doc)
{
	struct config_fault f;

	return !config_faults(store_frozen(c->s, doc), &c->s->arena, &f, 1) ||
	       answer_undecodable(c, "%.*s: %.*s", STR_F(f.path), STR_F(f.message));
}

bool prepare_config_map(struct store_call *c, yyjson_val *before, yyjson_mut_doc *doc)
{
	(void)before;
	return check_strings(c, doc);
}

/* stringData is only ever written: it comes out as data, in base64. */
bool prepare_secret(struct store_call *c, yyjson_val *before, yyjson_mut_doc *doc)
{
	yyjson_mut_val *root = yyjson_mut_doc_get_root(doc), *plain = yyjson_mut_obj_get(root, "stringData"), *key,
		       *one;
	size_t i, max;

	(void)before;
	if (!check_strings(c, doc))
		return false;
	yyjson_mut_obj_foreach(plain, i, max, key, one)
	{
		struct buf b = BUF_INIT(2 * STORE_BODY_MAX);

		buf_base64_encode(&b, json_mut_text(one));
		json_mut_put(doc, meta_put_obj(doc, root, "data"), json_mut_text(key), json_mut_str(doc, buf_str(&b)));
		buf_release(&b);
	}
	yyjson_mut_obj_remove_key(root, "stringData");
	if (!yyjson_mut_obj_get(root, "type"))
		meta_put_str(doc, root, "type", STR("Opaque"));
	return true;
}
