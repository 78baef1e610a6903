#include "local/api/openapi.h"

#include "local/api/crd.h"
#include "local/api/discovery.h"

static void put_raw(struct buf *b, const char *text)
{
	buf_put(b, str_c(text));
}

void openapi_index(struct buf *b, const struct store *s)
{
	const struct store_type *t;
	const char *comma = "";

	put_raw(b, "{\"paths\":{");
	for (size_t i = 0; (t = store_type_at(s, i)); i++) {
		if (!discovery_is_first(s, t))
			continue;
		buf_printf(b, "%s\"", comma);
		discovery_path(b, t);
		put_raw(b, "\":{\"serverRelativeURL\":\"/openapi/v3/");
		discovery_path(b, t);
		put_raw(b, "\"}");
		comma = ",";
	}
	put_raw(b, "}}");
}

static void put_gvk(struct buf *b, const struct store_type *t)
{
	put_raw(b, "{\"group\":");
	buf_json_str(b, t->group);
	put_raw(b, ",\"kind\":");
	buf_json_str(b, t->kind);
	put_raw(b, ",\"version\":");
	buf_json_str(b, t->version);
	buf_putc(b, '}');
}

static void put_operation(struct buf *b, const char *method, const char *action, const struct store_type *t)
{
	buf_printf(b, "\"%s\":{\"parameters\":[", method);
	put_raw(b, "{\"name\":\"dryRun\",\"in\":\"query\",\"schema\":{\"type\":\"string\"}},"
	           "{\"name\":\"fieldManager\",\"in\":\"query\",\"schema\":{\"type\":\"string\"}},"
	           "{\"name\":\"fieldValidation\",\"in\":\"query\",\"schema\":{\"type\":\"string\"}}],"
	           "\"responses\":{\"200\":{\"description\":\"OK\"}},");
	buf_printf(b, "\"x-kubernetes-action\":\"%s\",\"x-kubernetes-group-version-kind\":", action);
	put_gvk(b, t);
	buf_putc(b, '}');
}

static void put_paths(struct buf *b, const struct store_type *t)
{
	const char *in = t->namespaced ? "namespaces/{namespace}/" : "";

	put_raw(b, "\"/");
	discovery_path(b, t);
	buf_printf(b, "/%s%.*s\":{", in, STR_F(t->plural));
	put_operation(b, "post", "post", t);
	put_raw(b, "},\"/");
	discovery_path(b, t);
	buf_printf(b, "/%s%.*s/{name}\":{", in, STR_F(t->plural));
	put_operation(b, "put", "put", t);
	buf_putc(b, ',');
	put_operation(b, "patch", "patch", t);
	buf_putc(b, '}');
}

/* The CRD's own, with the type's name in it; any object where there is none. */
static void put_schema(struct buf *b, struct store *s, const struct store_type *t)
{
	yyjson_doc *doc CLEANUP(json_docp) = NULL;
	yyjson_val *schema = NULL, *key, *val;
	size_t i, max;

	if (t->custom)
		schema = json_at(crd_version(s, t, &doc), "schema", "openAPIV3Schema", NULL);
	buf_printf(b, "\"%.*s%s%.*s.%.*s\":{\"x-kubernetes-group-version-kind\":[", STR_F(t->group),
	           t->group.n ? "." : "", STR_F(t->version), STR_F(t->kind));
	put_gvk(b, t);
	buf_putc(b, ']');
	if (!schema)
		put_raw(b, ",\"type\":\"object\",\"x-kubernetes-preserve-unknown-fields\":true");
	yyjson_obj_foreach(schema, i, max, key, val)
	{
		buf_putc(b, ',');
		buf_json_str(b, json_str(key));
		buf_putc(b, ':');
		json_write_val(val, b);
	}
	buf_putc(b, '}');
}

void openapi_group(struct buf *b, struct store *s, struct str group, struct str version)
{
	const struct store_type *t;
	const char *comma = "";

	put_raw(b, "{\"openapi\":\"3.0.0\",\"info\":{\"title\":\"dljob local\",\"version\":\"v1\"},\"paths\":{");
	for (size_t i = 0; (t = store_type_at(s, i)); i++) {
		if (!str_eq(t->group, group) || !str_eq(t->version, version))
			continue;
		put_raw(b, comma);
		put_paths(b, t);
		comma = ",";
	}
	put_raw(b, "},\"components\":{\"schemas\":{");
	comma = "";
	for (size_t i = 0; (t = store_type_at(s, i)); i++) {
		if (!str_eq(t->group, group) || !str_eq(t->version, version))
			continue;
		put_raw(b, comma);
		put_schema(b, s, t);
		comma = ",";
	}
	put_raw(b, "}}}");
}

void openapi_v2(struct buf *b)
{
	/* swagger: "2.0", info: {title: "dljob local", version: "v1"}, paths: {} */
	buf_put(b, STR("\x0a\x03"
	               "2.0"
	               "\x12\x11\x0a\x0b"
	               "dljob local"
	               "\x12\x02"
	               "v1"
	               "\x42\x00"));
}
