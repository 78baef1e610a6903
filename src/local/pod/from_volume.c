/* Volumes, and where containers mount them. */
#include "local/pod/from.h"

#include "base/json.h"

enum { FILES_MODE = 0644 };

static bool add_file(struct from *f, struct pod_volume *v, struct str path, struct str data, int64_t mode)
{
	if (!from_is_inside(path))
		return from_invalid(f, "path %.*s: must be relative and stay inside the volume", STR_F(path));
	*vec_push(f->a, &v->files) = (struct pod_file){ arena_str(f->a, path), data, (unsigned)mode };
	return true;
}

static bool add_items(struct from *f, struct pod_volume *v, enum from_source source, yyjson_val *object,
                      yyjson_val *ref, int64_t mode)
{
	bool optional = yyjson_is_true(json_get(ref, "optional")), found;
	size_t i, max;
	yyjson_val *item;

	yyjson_arr_foreach(json_get(ref, "items"), i, max, item)
	{
		struct str key = json_str(json_get(item, "key")), data = STR_NONE;
		int64_t own = mode;

		if (!from_int(f, &own, item, "mode", 0, 0777) || !from_value(f, source, object, key, &found, &data))
			return from_at(f, "items[%zu]", i);
		if (!found && !optional)
			return from_missing(f, "items[%zu]: there is no key %.*s", i, STR_F(key));
		if (found && !add_file(f, v, json_str(json_get(item, "path")), data, own))
			return from_at(f, "items[%zu]", i);
	}
	return true;
}

static bool add_object(struct from *f, struct pod_volume *v, enum from_source source, yyjson_val *ref, int64_t mode)
{
	yyjson_val *object, *name = json_get(ref, "secretName");
	struct str key, data = STR_NONE;
	bool found;

	if (!name)
		name = json_get(ref, "name");
	if (!from_int(f, &mode, ref, "defaultMode", 0, 0777) ||
	    !from_object(f, source, json_str(name), yyjson_is_true(json_get(ref, "optional")), &object))
		return false;
	if (yyjson_arr_size(json_get(ref, "items")))
		return add_items(f, v, source, object, ref, mode);
	for (size_t i = 0; (key = from_key(source, object, i)).n; i++)
		if (!from_value(f, source, object, key, &found, &data) || !add_file(f, v, key, data, mode))
			return false;
	return true;
}

static bool add_downward(struct from *f, struct pod_volume *v, yyjson_val *ref, int64_t mode)
{
	size_t i, max;
	yyjson_val *item;

	if (!from_int(f, &mode, ref, "defaultMode", 0, 0777))
		return false;
	yyjson_arr_foreach(json_get(ref, "items"), i, max, item)
	{
		yyjson_val *field = json_get(item, "fieldRef"), *resource = json_get(item, "resourceFieldRef");
		struct str data = STR_NONE;
		int64_t own = mode;

		if (!from_int(f, &own, item, "mode", 0, 0777) ||
		    !(field ? from_field(f, json_str(json_get(field, "fieldPath")), &data)
		            : from_resource(f, NULL, resource, &data)) ||
		    !add_file(f, v, json_str(json_get(item, "path")), data, own))
			return from_at(f, "items[%zu]", i);
	}
	return true;
}

static bool add_projected(struct from *f, struct pod_volume *v, yyjson_val *ref)
{
	int64_t mode = FILES_MODE;
	size_t i, max;
	yyjson_val *item;

	if (!from_int(f, &mode, ref, "defaultMode", 0, 0777))
		return false;
	yyjson_arr_foreach(json_get(ref, "sources"), i, max, item)
	{
		yyjson_val *map = json_get(item, "configMap"), *secret = json_get(item, "secret");
		yyjson_val *down = json_get(item, "downwardAPI");
		bool ok;

		if (map)
			ok = add_object(f, v, FROM_CONFIG_MAP, map, mode);
		else if (secret)
			ok = add_object(f, v, FROM_SECRET, secret, mode);
		else if (down)
			ok = add_downward(f, v, down, mode);
		else
			ok = from_invalid(f, "only configMap, secret and downwardAPI are supported on this machine");
		if (!ok)
			return from_at(f, "sources[%zu]", i);
	}
	return true;
}

static bool from_host_path(struct from *f, struct pod_volume *v, yyjson_val *ref)
{
	static const struct {
		const char *name;
		enum pod_host_kind kind;
	} types[] = {
		{ "", POD_HOST_ANY },
		{ "Directory", POD_HOST_DIR },
		{ "DirectoryOrCreate", POD_HOST_DIR_CREATE },
		{ "File", POD_HOST_FILE },
		{ "FileOrCreate", POD_HOST_FILE_CREATE },
		{ "Socket", POD_HOST_FILE },
		{ "CharDevice", POD_HOST_FILE },
		{ "BlockDevice", POD_HOST_FILE },
	};
	struct str type = json_str(json_get(ref, "type"));

	v->kind = POD_VOLUME_HOST;
	v->path = arena_str(f->a, json_str(json_get(ref, "path")));
	if (v->path.n == 0 || *v->path.p != '/')
		return from_invalid(f, "path: must be absolute");
	for (size_t i = 0; i < ARRAY_LEN(types); i++)
		if (str_eqc(type, types[i].name)) {
			v->host = types[i].kind;
			return true;
		}
	return from_invalid(f, "type: %.*s is not known", STR_F(type));
}

static bool from_empty_dir(struct from *f, struct pod_volume *v, yyjson_val *ref)
{
	int64_t size = 0;

	if (!from_quantity(f, &size, ref, "sizeLimit"))
		return false;
	v->kind = str_eqc(json_str(json_get(ref, "medium")), "Memory") ? POD_VOLUME_MEMORY : POD_VOLUME_OWN;
	v->size = size / 1000;
	return true;
}

/* The kind of its source: the first key that is not the name. Empty: it has none, and is an emptyDir. */
static struct str source_of(yyjson_val *volume, yyjson_val **ret)
{
	size_t i, max;
	yyjson_val *key;

	yyjson_obj_foreach(volume, i, max, key, *ret)
	{
		if (!str_eqc(json_str(key), "name") && !yyjson_is_null(*ret))
			return json_str(key);
	}
	return STR_NONE;
}

/* " --volume a=DIR --volume b=DIR": all that need a folder and have none, so that nobody learns of them one by one. */
static struct str wanted_folders(const struct from *f)
{
	static const char *const known[] = { "",       "emptyDir",  "hostPath",   "configMap",
		                             "secret", "projected", "downwardAPI" };
	struct str all = STR_NONE;
	yyjson_val *item, *ref;
	size_t i, max;

	yyjson_arr_foreach(json_at(f->pod, "spec", "volumes", NULL), i, max, item)
	{
		struct str name = json_str(json_get(item, "name")), source = source_of(item, &ref);
		bool ok = f->o->volume && f->o->volume(f->o->cookie, name);

		for (size_t k = 0; k < ARRAY_LEN(known) && !ok; k++)
			ok = str_eqc(source, known[k]);
		if (!ok && str_is_dns_label(name, false))
			all = arena_printf(f->a, "%.*s --volume %.*s=DIR", STR_F(all), STR_F(name));
	}
	return all;
}

static bool from_source(struct from *f, struct pod_volume *v, yyjson_val *volume)
{
	yyjson_val *ref;
	struct str kind = source_of(volume, &ref);
	bool ok;

	if (!kind.n)
		return true;
	v->read_only = !str_eqc(kind, "emptyDir") && !str_eqc(kind, "hostPath");
	if (str_eqc(kind, "emptyDir"))
		ok = from_empty_dir(f, v, ref);
	else if (str_eqc(kind, "hostPath"))
		ok = from_host_path(f, v, ref);
	else if (str_eqc(kind, "configMap"))
		ok = add_object(f, v, FROM_CONFIG_MAP, ref, FILES_MODE);
	else if (str_eqc(kind, "secret"))
		ok = add_object(f, v, FROM_SECRET, ref, FILES_MODE);
	else if (str_eqc(kind, "downwardAPI"))
		ok = add_downward(f, v, ref, FILES_MODE);
	else if (str_eqc(kind, "projected"))
		ok = add_projected(f, v, ref);
	else
		ok = from_invalid(f, "not supported on this machine; give a folder for it:%.*s",
		                  STR_F(wanted_folders(f)));
	return ok || from_at(f, "%.*s", STR_F(kind));
}

bool from_volumes(struct from *f)
{
	size_t i, max;
	yyjson_val *item;

	yyjson_arr_foreach(json_at(f->pod, "spec", "volumes", NULL), i, max, item)
	{
		struct pod_volume *v = vec_push(f->a, &f->spec->volumes);
		const char *given;

		*v = (struct pod_volume){ .name = arena_str(f->a, json_str(json_get(item, "name"))) };
		if (!str_is_dns_label(v->name, false))
			return from_invalid(f, "spec.volumes[%zu].name: must be a DNS label", i);
		given = f->o->volume ? f->o->volume(f->o->cookie, v->name) : NULL;
		if (given) {
			v->kind = POD_VOLUME_HOST;
			v->path = arena_str(f->a, str_c(given));
		} else if (!from_source(f, v, item)) {
			return from_at(f, "spec.volumes[%zu]", i);
		}
	}
	return true;
}

static bool has_volume(const struct pod_spec *s, struct str name)
{
	for (size_t i = 0; i < s->volumes.n; i++)
		if (str_eq(s->volumes.v[i].name, name))
			return true;
	return false;
}

static bool from_mount(struct from *f, struct pod_container *c, yyjson_val *item, pod_envs *env)
{
	struct pod_mount *m = vec_push(f->a, &c->mounts);
	struct str path = json_str(json_get(item, "mountPath")), expr = json_str(json_get(item, "subPathExpr"));

	*m = (struct pod_mount){ .read_only = yyjson_is_true(json_get(item, "readOnly")) };
	m->volume = arena_str(f->a, json_str(json_get(item, "name")));
	m->sub_path = arena_str(f->a, json_str(json_get(item, "subPath")));
	if (expr.n)
		m->sub_path = pod_expand(f->a, expr, from_env_lookup, env);
	if (!has_volume(f->spec, m->volume))
		return from_invalid(f, "name: there is no volume %.*s", STR_F(m->volume));
	if (m->sub_path.n && !from_is_inside(m->sub_path))
		return from_invalid(f, "%s: must be relative and stay inside the volume",
		                    expr.n ? "subPathExpr" : "subPath");
	if (!from_point(f, path, &m->path))
		return from_invalid(f, "mountPath: must be a path below /, without '..'");
	return true;
}

bool from_mounts(struct from *f, struct pod_container *c, yyjson_val *container, pod_envs *env)
{
	size_t i, max;
	yyjson_val *item;

	if (yyjson_arr_size(json_get(container, "volumeMounts")) > POD_MOUNTS_MAX)
		return from_invalid(f, "volumeMounts: more than %d", POD_MOUNTS_MAX);
	yyjson_arr_foreach(json_get(container, "volumeMounts"), i, max, item)
	{
		if (!from_mount(f, c, item, env))
			return from_at(f, "volumeMounts[%zu]", i);
		for (size_t k = 0; k < i; k++)
			if (str_eq(c->mounts.v[k].path, c->mounts.v[i].path))
				return from_invalid(f, "volumeMounts[%zu].mountPath: is there twice", i);
	}
	return true;
}
