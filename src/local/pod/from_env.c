/* Variables: env and envFrom, in the kubelet's order. */
#include "local/pod/from.h"

#include "base/json.h"

void from_env_set(struct arena *a, pod_envs *env, struct str name, struct str value)
{
	for (size_t i = 0; i < env->n; i++)
		if (str_eq(env->v[i].name, name)) {
			env->v[i].value = value;
			return;
		}
	*vec_push(a, env) = (struct pod_env){ name, value };
}

bool from_env_lookup(void *env, struct str name, struct str *ret)
{
	const pod_envs *e = env;

	for (size_t i = 0; i < e->n; i++)
		if (str_eq(e->v[i].name, name)) {
			*ret = e->v[i].value;
			return true;
		}
	return false;
}

static bool is_name(struct str s)
{
	return s.n && !memchr(s.p, '=', s.n) && !memchr(s.p, 0, s.n);
}

static bool put_variable(struct from *f, pod_envs *env, struct str name, struct str value)
{
	if (value.n && memchr(value.p, 0, value.n))
		return from_invalid(f, "%.*s: the value has a zero byte", STR_F(name));
	from_env_set(f->a, env, arena_str(f->a, name), arena_str(f->a, value));
	return true;
}

static bool from_all_keys(struct from *f, enum from_source source, yyjson_val *ref, struct str prefix, pod_envs *env)
{
	yyjson_val *object;
	struct str key, value = STR_NONE;
	bool found;

	if (!from_object(f, source, json_str(json_get(ref, "name")), yyjson_is_true(json_get(ref, "optional")),
	                 &object))
		return false;
	for (size_t i = 0; (key = from_key(source, object, i)).n; i++) {
		struct str name = arena_printf(f->a, "%.*s%.*s", STR_F(prefix), STR_F(key));

		/* What a ConfigMap has in binaryData is for files only. */
		if (source == FROM_CONFIG_MAP && !json_get_str(json_get(object, "data"), key))
			continue;
		if (!from_value(f, source, object, key, &found, &value) ||
		    (is_name(name) && !put_variable(f, env, name, value)))
			return false;
	}
	return true;
}

static bool from_env_from(struct from *f, yyjson_val *item, pod_envs *env)
{
	struct str prefix = json_str(json_get(item, "prefix"));
	yyjson_val *map = json_get(item, "configMapRef"), *secret = json_get(item, "secretRef");

	if (map)
		return from_all_keys(f, FROM_CONFIG_MAP, map, prefix, env) || from_at(f, "configMapRef");
	if (secret)
		return from_all_keys(f, FROM_SECRET, secret, prefix, env) || from_at(f, "secretRef");
	return from_invalid(f, "neither configMapRef nor secretRef");
}

/* *RET_SET false: something optional is missing. */
static bool from_key_ref(struct from *f, enum from_source source, yyjson_val *ref, bool *ret_set, struct str *ret)
{
	struct str name = json_str(json_get(ref, "name")), key = json_str(json_get(ref, "key"));
	bool optional = yyjson_is_true(json_get(ref, "optional"));
	yyjson_val *object;

	if (!from_object(f, source, name, optional, &object) || !from_value(f, source, object, key, ret_set, ret))
		return false;
	if (!*ret_set && !optional)
		return from_missing(f, "there is no key %.*s in %.*s", STR_F(key), STR_F(name));
	return true;
}

static bool from_value_from(struct from *f, yyjson_val *container, yyjson_val *from, bool *ret_set, struct str *ret)
{
	yyjson_val *field = json_get(from, "fieldRef"), *resource = json_get(from, "resourceFieldRef");
	yyjson_val *map = json_get(from, "configMapKeyRef"), *secret = json_get(from, "secretKeyRef");

	*ret_set = true;
	if (field)
		return from_field(f, json_str(json_get(field, "fieldPath")), ret);
	if (resource)
		return from_resource(f, container, resource, ret);
	if (map)
		return from_key_ref(f, FROM_CONFIG_MAP, map, ret_set, ret) || from_at(f, "configMapKeyRef");
	if (secret)
		return from_key_ref(f, FROM_SECRET, secret, ret_set, ret) || from_at(f, "secretKeyRef");
	return from_invalid(f, "none of fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef");
}

static bool from_var(struct from *f, yyjson_val *container, yyjson_val *item, pod_envs *env)
{
	struct str name = json_str(json_get(item, "name")), value = json_str(json_get(item, "value"));
	yyjson_val *from = json_get(item, "valueFrom");
	bool set = true;

	if (!is_name(name))
		return from_invalid(f, "name: is not the name of a variable");
	if (from && !yyjson_is_null(from)) {
		if (!from_value_from(f, container, from, &set, &value))
			return from_at(f, "valueFrom");
	} else {
		value = pod_expand(f->a, value, from_env_lookup, env);
	}
	return !set || put_variable(f, env, name, value);
}

bool from_env(struct from *f, struct pod_container *c, yyjson_val *container, pod_envs *ret)
{
	size_t i, max;
	yyjson_val *item;

	(void)c;
	yyjson_arr_foreach(json_get(container, "envFrom"), i, max, item)
	{
		if (!from_env_from(f, item, ret))
			return from_at(f, "envFrom[%zu]", i);
	}
	yyjson_arr_foreach(json_get(container, "env"), i, max, item)
	{
		if (!from_var(f, container, item, ret))
			return from_at(f, "env[%zu]", i);
	}
	return true;
}
