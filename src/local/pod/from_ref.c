/* What a pod can refer to: its own fields and resources, ConfigMaps and Secrets. */
#include "local/pod/from.h"

#include "base/json.h"
#include "object/quantity.h"

enum { VALUE_MAX = 2 << 20 };

static const char *const source_names[] = { "ConfigMap", "Secret" };

/* metadata.labels['key'] */
static bool from_subscript(yyjson_val *map, struct str path, struct str front, struct str *ret)
{
	struct str key;

	if (!str_has_prefix(path, front) || !str_has_suffix(path, STR("']")) || path.n < front.n + 2)
		return false;
	key = str_sub(path, front.n, path.n - front.n - 2);
	*ret = json_str(json_get_str(map, key));
	return true;
}

/* All of them: key="value", with Go's quotes. */
static struct str all_of(struct from *f, yyjson_val *map)
{
	struct buf out = BUF_INIT(VALUE_MAX);
	size_t i, max;
	yyjson_val *key, *v;
	struct str text;

	yyjson_obj_foreach(map, i, max, key, v)
	{
		buf_printf(&out, "%s%.*s=", i ? "\n" : "", STR_F(json_str(key)));
		buf_json_str(&out, json_str(v));
	}
	text = arena_str(f->a, buf_str(&out));
	buf_release(&out);
	return text;
}

bool from_field(struct from *f, struct str path, struct str *ret)
{
	yyjson_val *meta = json_get(f->pod, "metadata");
	struct str node = json_str(json_at(f->pod, "spec", "nodeName", NULL));
	struct str account = json_str(json_at(f->pod, "spec", "serviceAccountName", NULL));
	const struct {
		const char *path;
		struct str value;
	} plain[] = {
		{ "metadata.name", f->spec->name },
		{ "metadata.namespace", f->spec->ns },
		{ "metadata.uid", f->spec->uid },
		{ "spec.nodeName", node.n ? node : f->o->node },
		{ "spec.serviceAccountName", account.n ? account : STR("default") },
		{ "status.podIP", f->o->pod_ip },
		{ "status.podIPs", f->o->pod_ip },
		{ "status.hostIP", f->o->host_ip },
		{ "status.hostIPs", f->o->host_ip },
	};

	for (size_t i = 0; i < ARRAY_LEN(plain); i++)
		if (str_eqc(path, plain[i].path)) {
			*ret = plain[i].value;
			return true;
		}
	if (from_subscript(json_get(meta, "labels"), path, STR("metadata.labels['"), ret) ||
	    from_subscript(json_get(meta, "annotations"), path, STR("metadata.annotations['"), ret)) {
		*ret = arena_str(f->a, *ret);
		return true;
	}
	if (str_eqc(path, "metadata.labels") || str_eqc(path, "metadata.annotations")) {
		*ret = all_of(f, json_get_str(meta, str_sub(path, strlen("metadata."), path.n)));
		return true;
	}
	return from_invalid(f, "fieldRef.fieldPath: %.*s is not known", STR_F(path));
}

static yyjson_val *container_named(struct from *f, struct str name)
{
	static const char *const lists[] = { "containers", "initContainers" };
	size_t i, max;
	yyjson_val *item;

	for (size_t k = 0; k < ARRAY_LEN(lists); k++)
		yyjson_arr_foreach(json_at(f->pod, "spec", lists[k], NULL), i, max, item)
		{
			if (str_eq(json_str(json_get(item, "name")), name))
				return item;
		}
	return NULL;
}

bool from_resource(struct from *f, yyjson_val *container, yyjson_val *ref, struct str *ret)
{
	struct str resource = json_str(json_get(ref, "resource")), name = json_str(json_get(ref, "containerName"));
	struct str which = STR_NONE, what = resource;
	int64_t amount = -1, divisor = 1000;
	yyjson_val *resources;

	if (name.n)
		container = container_named(f, name);
	if (!container)
		return from_invalid(f, "resourceFieldRef.containerName: there is no container %.*s", STR_F(name));
	if (!str_next(&what, '.', &which) || !(str_eqc(which, "limits") || str_eqc(which, "requests")))
		return from_invalid(f, "resourceFieldRef.resource: %.*s is not known", STR_F(resource));
	what = str_sub(resource, which.n + 1, resource.n);
	resources = json_get(container, "resources");
	if (!from_quantity(f, &divisor, ref, "divisor"))
		return from_at(f, "resourceFieldRef");
	for (int i = 0; i < 2 && amount < 0; i++) {
		yyjson_val *v = json_get_str(json_get_str(resources, i ? STR("limits") : which), what);

		if (v && !quantity_read(v, &amount))
			return from_invalid(f, "resources: %.*s is not a quantity", STR_F(what));
	}
	/* Without a limit: what the machine has. */
	if (amount < 0 && str_eqc(which, "limits") && str_eqc(what, "cpu"))
		amount = f->o->cpu_milli;
	if (amount < 0 && str_eqc(which, "limits") && str_eqc(what, "memory"))
		amount = f->o->memory > INT64_MAX / 1000 ? INT64_MAX : f->o->memory * 1000;
	amount = MAX(amount, (int64_t)0);
	divisor = MAX(divisor, (int64_t)1);
	amount = amount / divisor + (amount % divisor != 0);
	*ret = arena_printf(f->a, "%lld", (long long)amount);
	return true;
}

bool from_object(struct from *f, enum from_source source, struct str name, bool optional, yyjson_val **ret)
{
	yyjson_val *(*get)(void *, struct str) = source == FROM_SECRET ? f->o->secret : f->o->config_map;

	*ret = get && name.n ? get(f->o->cookie, name) : NULL;
	if (*ret || optional)
		return true;
	return from_missing(f, "%s %.*s is not there", source_names[source], STR_F(name));
}

static bool decode(struct from *f, struct str text, struct str key, struct str *ret)
{
	struct buf out = BUF_INIT(VALUE_MAX);
	bool ok = buf_base64(&out, text) && !out.overflow;

	if (ok)
		*ret = arena_str(f->a, buf_str(&out));
	buf_release(&out);
	return ok || from_invalid(f, "key %.*s: is not base64", STR_F(key));
}

bool from_value(struct from *f, enum from_source source, yyjson_val *object, struct str key, bool *ret_found,
                struct str *ret)
{
	bool secret = source == FROM_SECRET;
	yyjson_val *plain = json_get_str(json_get(object, secret ? "stringData" : "data"), key);
	yyjson_val *coded = json_get_str(json_get(object, secret ? "data" : "binaryData"), key);

	*ret_found = plain || coded;
	if (plain)
		*ret = json_str(plain);
	else if (coded)
		return decode(f, json_str(coded), key, ret);
	return true;
}

/* Those that are both in the plain and in the coded part come once. */
struct str from_key(enum from_source source, yyjson_val *object, size_t i)
{
	const char *parts[] = { source == FROM_SECRET ? "stringData" : "data",
		                source == FROM_SECRET ? "data" : "binaryData" };
	yyjson_val *first = json_get(object, parts[0]), *key, *v;
	size_t k, max, n = 0;

	for (size_t p = 0; p < ARRAY_LEN(parts); p++)
		yyjson_obj_foreach(json_get(object, parts[p]), k, max, key, v)
		{
			if (p == 1 && json_get_str(first, json_str(key)))
				continue;
			if (n++ == i)
				return json_str(key);
		}
	return STR_NONE;
}
