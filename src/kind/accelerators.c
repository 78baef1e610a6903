#include "base/yaml.h"
#include "job/decode.h"
#include "kind/accelerator_file.h"
#include "kind/path.h"

struct accelerator_reader {
	struct yaml_file *yaml;
	struct str file;
	struct accelerators *ret;
	struct err *e;
};

/* A key of an object; case does not matter, as it did not to the operators that came before. */
struct accelerator_key {
	const char *name;
	bool (*read)(struct accelerator_reader *r, struct str path, yyjson_val *val, void *base, size_t at);
	size_t at;
	bool required;
};

static bool refuse(struct accelerator_reader *r, struct str path, const char *what)
{
	struct yaml_pos at = yaml_where(r->yaml, 0, path);

	return err_set(r->e, ERR_INVALID, "%.*s:%zu:%zu: %.*s%s%s", STR_F(r->file), at.line, at.column, STR_F(path),
	               path.n ? ": " : "", what);
}

static const struct accelerator_key *find_key(const struct accelerator_key *keys, size_t n, struct str name)
{
	for (size_t i = 0; i < n; i++)
		if (str_eq_nocase(name, str_c(keys[i].name)))
			return &keys[i];
	return NULL;
}

static bool unknown_key(struct accelerator_reader *r, struct str path, struct str name,
                        const struct accelerator_key *keys, size_t n)
{
	struct arena *a = &r->ret->arena;
	struct str *all = arena_array(a, struct str, n);
	struct str what;

	for (size_t i = 0; i < n; i++)
		all[i] = str_c(keys[i].name);
	what = arena_printf(a, "unknown key \"%.*s\"%.*s", STR_F(text_shown(name, a)),
	                    STR_F(text_hint(name, "there are", all, n, a)));
	return refuse(r, path, what.p);
}

static bool read_object(struct accelerator_reader *r, struct str path, yyjson_val *val,
                        const struct accelerator_key *keys, size_t n, void *base)
{
	struct arena *a = &r->ret->arena;
	yyjson_obj_iter it = yyjson_obj_iter_with(val);
	unsigned seen = 0;
	yyjson_val *k;

	ASSERT(n <= sizeof(seen) * 8);
	if (!yyjson_is_obj(val))
		return refuse(r, path, arena_printf(a, "must be an object, found %s", json_type_name(val)).p);
	while ((k = yyjson_obj_iter_next(&it))) {
		struct str below = path_key(a, path, json_str(k));
		const struct accelerator_key *key = find_key(keys, n, json_str(k));
		yyjson_val *v = yyjson_obj_iter_get_val(k);

		if (!key)
			return unknown_key(r, below, json_str(k), keys, n);
		if (yyjson_is_null(v))
			continue;
		if (seen & 1U << (key - keys))
			return refuse(r, below, arena_printf(a, "there is another %s", key->name).p);
		seen |= 1U << (key - keys);
		if (!key->read(r, below, v, base, key->at))
			return false;
	}
	for (size_t i = 0; i < n; i++)
		if (keys[i].required && !(seen & 1U << i))
			return refuse(r, path, arena_printf(a, "%s is missing", keys[i].name).p);
	return true;
}

/* --- texts --- */

static bool read_text(struct accelerator_reader *r, struct str path, yyjson_val *val, void *base, size_t at)
{
	if (!yyjson_is_str(val))
		return refuse(r, path,
		              arena_printf(&r->ret->arena, "must be a string, found %s: put it in quotes",
		                           json_type_name(val))
		                      .p);
	*(struct str *)(void *)((char *)base + at) = arena_str(&r->ret->arena, json_str(val));
	return true;
}

static bool is_label_text(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
	       c == '.';
}

/* As nvidia.com/gpu or cpu. */
static bool is_resource(struct str s)
{
	size_t slashes = 0;

	for (size_t i = 0; i < s.n; i++) {
		slashes += s.p[i] == '/';
		if (!is_label_text(s.p[i]) && s.p[i] != '/')
			return false;
	}
	return s.n > 0 && s.n < 256 && slashes < 2 && s.p[0] != '/' && s.p[s.n - 1] != '/';
}

static bool is_variable(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!is_label_text(s.p[i]))
			return false;
	return s.n > 0 && !(s.p[0] >= '0' && s.p[0] <= '9');
}

/* Absolute, and as the API server takes it. */
static bool is_path(struct str s)
{
	struct str rest = s, part;

	while (str_next(&rest, '/', &part))
		if (str_eqc(part, ".."))
			return false;
	return s.n > 0 && s.n < 4096 && s.p[0] == '/' && !memchr(s.p, ':', s.n) && !memchr(s.p, 0, s.n);
}

static bool read_name(struct accelerator_reader *r, struct str path, yyjson_val *val, void *base, size_t at)
{
	if (!read_text(r, path, val, base, at))
		return false;
	return str_is_dns_label(json_str(val), false) ||
	       refuse(r, path, "must be a DNS label (lower case letters, digits, '-', at most 63)");
}

static bool read_path(struct accelerator_reader *r, struct str path, yyjson_val *val, void *base, size_t at)
{
	if (!read_text(r, path, val, base, at))
		return false;
	return is_path(json_str(val)) || refuse(r, path, "must be a path that begins with '/', without \"..\" and ':'");
}

static bool read_variable_name(struct accelerator_reader *r, struct str path, yyjson_val *val, void *base, size_t at)
{
	if (!read_text(r, path, val, base, at))
		return false;
	return is_variable(json_str(val)) ||
	       refuse(r, path, "must be letters, digits, '_', '-' and '.', and not begin with a digit");
}

static bool read_resource(struct accelerator_reader *r, struct str path, yyjson_val *val, void *base, size_t at)
{
	if (!read_text(r, path, val, base, at))
		return false;
	return is_resource(json_str(val)) || refuse(r, path, "must be a resource name such as nvidia.com/gpu");
}

/* --- lists --- */

static bool check_list(struct accelerator_reader *r, struct str path, yyjson_val *val)
{
	if (!yyjson_is_arr(val))
		return refuse(r, path, arena_printf(&r->ret->arena, "must be a list, found %s", json_type_name(val)).p);
	if (yyjson_arr_size(val) > ACCELERATORS_MAX)
		return refuse(r, path, arena_printf(&r->ret->arena, "has more than %d entries", ACCELERATORS_MAX).p);
	return true;
}

static const struct accelerator_key volume_keys[] = {
	{ "name", read_name, offsetof(struct accelerator_volume, name), true },
	{ "mountPath", read_path, offsetof(struct accelerator_volume, mount_path), true },
	{ "hostPath", read_path, offsetof(struct accelerator_volume, host_path), true },
};

/* One volume's name is one folder of the node in the whole file, since a pod can ask for several resources. */
static bool is_free(struct accelerator_reader *r, const struct accelerator *own, struct str path,
                    const struct accelerator_volume *v)
{
	for (size_t i = 0; i < own->volumes.n; i++)
		if (str_eq(own->volumes.v[i].name, v->name))
			return refuse(r, path, "there is another volume of this name");
	for (size_t k = 0; k < r->ret->list.n; k++)
		for (size_t i = 0; i < r->ret->list.v[k].volumes.n; i++) {
			const struct accelerator_volume *other = &r->ret->list.v[k].volumes.v[i];

			if (str_eq(other->name, v->name) && !str_eq(other->host_path, v->host_path))
				return refuse(r, path,
				              "another resource has a volume of this name with another hostPath");
		}
	return true;
}

static bool read_volumes(struct accelerator_reader *r, struct str path, yyjson_val *val, void *base, size_t at)
{
	struct accelerator *own = base;
	yyjson_arr_iter it = yyjson_arr_iter_with(val);
	yyjson_val *one;

	(void)at;
	if (!check_list(r, path, val))
		return false;
	while ((one = yyjson_arr_iter_next(&it))) {
		struct accelerator_volume v = { 0 };
		struct str below = path_index(&r->ret->arena, path, it.idx - 1);

		if (!read_object(r, below, one, volume_keys, ARRAY_LEN(volume_keys), &v) || !is_free(r, own, below, &v))
			return false;
		*vec_push(&r->ret->arena, &own->volumes) = v;
	}
	return true;
}

static const struct accelerator_key variable_keys[] = {
	{ "name", read_variable_name, offsetof(struct accelerator_variable, name), true },
	{ "value", read_text, offsetof(struct accelerator_variable, value), false },
};

static bool read_variables(struct accelerator_reader *r, struct str path, yyjson_val *val, void *base, size_t at)
{
	struct accelerator *own = base;
	yyjson_arr_iter it = yyjson_arr_iter_with(val);
	yyjson_val *one;

	(void)at;
	if (!check_list(r, path, val))
		return false;
	while ((one = yyjson_arr_iter_next(&it))) {
		struct accelerator_variable v = { 0 };
		struct str below = path_index(&r->ret->arena, path, it.idx - 1);

		if (!read_object(r, below, one, variable_keys, ARRAY_LEN(variable_keys), &v))
			return false;
		for (size_t i = 0; i < own->variables.n; i++)
			if (str_eq(own->variables.v[i].name, v.name))
				return refuse(r, below, "there is another variable of this name");
		*vec_push(&r->ret->arena, &own->variables) = v;
	}
	return true;
}

/* --- the file --- */

static const struct accelerator_key accelerator_keys[] = {
	{ "volumes", read_volumes, 0, false },
	{ "envVars", read_variables, 0, false },
	{ "resource", read_resource, offsetof(struct accelerator, resource), false },
};

static bool read_accelerators(struct accelerator_reader *r, struct str path, yyjson_val *val, void *base, size_t at)
{
	struct arena *a = &r->ret->arena;
	yyjson_obj_iter it = yyjson_obj_iter_with(val);
	yyjson_val *k;

	(void)base;
	(void)at;
	if (!yyjson_is_obj(val))
		return refuse(r, path,
		              arena_printf(a, "must be an object of resource names, found %s", json_type_name(val)).p);
	if (yyjson_obj_size(val) > ACCELERATORS_MAX)
		return refuse(r, path, arena_printf(a, "has more than %d entries", ACCELERATORS_MAX).p);
	while ((k = yyjson_obj_iter_next(&it))) {
		struct accelerator one = { .name = arena_str(a, json_str(k)) };
		struct str below = path_key(a, path, one.name);
		yyjson_val *v = yyjson_obj_iter_get_val(k);

		if (!is_resource(one.name))
			return refuse(r, below, "is not a resource name such as nvidia.com/gpu");
		if (!yyjson_is_null(v) &&
		    !read_object(r, below, v, accelerator_keys, ARRAY_LEN(accelerator_keys), &one))
			return false;
		*vec_push(a, &r->ret->list) = one;
	}
	return true;
}

enum { IDLE_SERVER, IDLE_MX_IMAGE, IDLE_TF_IMAGE };

static const char *const idle_reasons[] = {
	[IDLE_SERVER] = "a parameter server without a template has a program of its own",
	[IDLE_MX_IMAGE] = "it never had an effect; containers name their images",
	[IDLE_TF_IMAGE] = "set tfImage in the job instead",
};

static bool read_idle(struct accelerator_reader *r, struct str path, yyjson_val *val, void *base, size_t at)
{
	(void)val;
	(void)base;
	*vec_push(&r->ret->arena, &r->ret->idle) = (struct accelerator_idle){ path.p, idle_reasons[at] };
	return true;
}

static const struct accelerator_key file_keys[] = {
	{ "accelerators", read_accelerators, 0, false },
	{ "grpcServerFilePath", read_idle, IDLE_SERVER, false },
	{ "mxImage", read_idle, IDLE_MX_IMAGE, false },
	{ "tfImage", read_idle, IDLE_TF_IMAGE, false },
};

/* A name stands for another, which stands for itself. */
static bool check_names(struct accelerator_reader *r)
{
	for (size_t i = 0; i < r->ret->list.n; i++)
		for (size_t k = 0; k < r->ret->list.n; k++) {
			const struct accelerator *one = &r->ret->list.v[i], *other = &r->ret->list.v[k];

			if (one->resource.n && str_eq(one->resource, other->name) && other->resource.n)
				return refuse(r, path_key(&r->ret->arena, STR("accelerators"), one->name),
				              i == k ? "is replaced by itself"
				                     : "is replaced by a name that is itself replaced");
		}
	return true;
}

static bool read_file(struct accelerator_reader *r)
{
	if (yaml_count(r->yaml) > 1)
		return err_set(r->e, ERR_INVALID, "%.*s: has more than one document", STR_F(r->file));
	if (yaml_count(r->yaml) == 0)
		return true;
	return read_object(r, STR_NONE, yaml_root(r->yaml, 0), file_keys, ARRAY_LEN(file_keys), NULL) && check_names(r);
}

/* Takes YAML. */
static struct accelerators *read_yaml(struct str file, struct yaml_file *yaml, struct err *e)
{
	struct accelerators *ret;
	struct accelerator_reader r;

	if (!yaml)
		return NULL;
	ret = xcalloc(1, sizeof(*ret));
	r = (struct accelerator_reader){ yaml, file, ret, e };
	if (!read_file(&r)) {
		accelerators_free(ret);
		ret = NULL;
	}
	yaml_close(yaml);
	return ret;
}

struct accelerators *accelerators_parse(struct str file, struct str text, struct err *e)
{
	return read_yaml(file, yaml_parse(file, text, e), e);
}

struct accelerators *accelerators_load(const char *path, struct err *e)
{
	return read_yaml(str_c(path), yaml_read(path, e), e);
}

void accelerators_free(struct accelerators *a)
{
	if (!a)
		return;
	arena_release(&a->arena);
	free(a);
}

void accelerators_freep(struct accelerators **a)
{
	accelerators_free(*a);
}

size_t accelerators_count(const struct accelerators *a)
{
	return a->list.n;
}

bool accelerators_idle(const struct accelerators *a, size_t i, const char **key, const char **why)
{
	if (i >= a->idle.n)
		return false;
	*key = a->idle.v[i].key;
	*why = a->idle.v[i].why;
	return true;
}
