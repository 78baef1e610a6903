/* A Kubernetes pod as what to run here. */
#include "local/pod/from.h"

#include "base/json.h"
#include "object/quantity.h"

#include <stdarg.h>

static const char *const config_error = "CreateContainerConfigError";

static PRINTF_LIKE(3, 0) bool refuse(struct from *f, bool retry, const char *fmt, va_list args)
{
	char text[1024];

	vsnprintf(text, sizeof(text), fmt, args);
	f->why->reason = config_error;
	f->why->retry = retry;
	return err_set(f->e, ERR_INVALID, "%s", text);
}

bool from_invalid(struct from *f, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	refuse(f, false, fmt, args);
	va_end(args);
	return false;
}

bool from_missing(struct from *f, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	refuse(f, true, fmt, args);
	va_end(args);
	return false;
}

bool from_at(struct from *f, const char *fmt, ...)
{
	char text[512];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	return err_wrap(f->e, "%s", text);
}

static bool has_zero(struct str s)
{
	return s.n && memchr(s.p, 0, s.n);
}

bool from_strs(struct from *f, pod_strs *ret, yyjson_val *v, const char *field)
{
	size_t i, max;
	yyjson_val *item;

	if (!v || yyjson_is_null(v))
		return true;
	if (!yyjson_is_arr(v))
		return from_invalid(f, "%s: is %s, not a list of strings", field, json_type_name(v));
	yyjson_arr_foreach(v, i, max, item)
	{
		if (!yyjson_is_str(item) || has_zero(json_str(item)))
			return from_invalid(f, "%s[%zu]: is %s, not a string", field, i, json_type_name(item));
		*vec_push(f->a, ret) = arena_str(f->a, json_str(item));
	}
	return true;
}

bool from_int(struct from *f, int64_t *ret, yyjson_val *object, const char *field, int64_t least, int64_t most)
{
	yyjson_val *v = json_get(object, field);
	int64_t n;

	if (!v || yyjson_is_null(v))
		return true;
	if (!json_int(v, &n) || n < least || n > most)
		return from_invalid(f, "%s: must be a whole number from %lld to %lld", field, (long long)least,
		                    (long long)most);
	*ret = n;
	return true;
}

bool from_seconds(struct from *f, int64_t *ret, yyjson_val *object, const char *field, int64_t least)
{
	int64_t seconds = -1;

	if (!from_int(f, &seconds, object, field, least, INT32_MAX))
		return false;
	if (seconds >= 0)
		*ret = SECONDS(seconds);
	return true;
}

bool from_quantity(struct from *f, int64_t *ret_milli, yyjson_val *object, const char *field)
{
	yyjson_val *v = json_get(object, field);

	if (!v || yyjson_is_null(v) || quantity_read(v, ret_milli))
		return true;
	return from_invalid(f, "%s: is not a quantity", field);
}

bool from_is_inside(struct str path)
{
	struct str part;

	if (path.n == 0 || *path.p == '/' || has_zero(path))
		return false;
	while (str_next(&path, '/', &part))
		if (str_eqc(part, "..") || str_eqc(part, ".") || str_empty(part))
			return false;
	return true;
}

bool from_point(struct from *f, struct str path, struct str *ret)
{
	while (path.n && path.p[path.n - 1] == '/')
		path.n--;
	while (path.n && *path.p == '/')
		path = str_sub(path, 1, path.n);
	if (!from_is_inside(path))
		return false;
	*ret = arena_printf(f->a, "/%.*s", STR_F(path));
	return true;
}

static bool from_resources(struct from *f, struct pod_container *c, yyjson_val *container)
{
	yyjson_val *limits = json_at(container, "resources", "limits", NULL);
	yyjson_val *requests = json_at(container, "resources", "requests", NULL);
	int64_t memory = 0;

	if (!from_quantity(f, &c->cpu_milli, limits, "cpu") || !from_quantity(f, &memory, limits, "memory"))
		return from_at(f, "resources.limits");
	c->memory = (memory + 999) / 1000;
	c->cpu_request = c->cpu_milli;
	if (!from_quantity(f, &c->cpu_request, requests, "cpu"))
		return from_at(f, "resources.requests");
	return true;
}

static bool from_command(struct from *f, struct pod_container *c, yyjson_val *container, const struct pod_image *image,
                         pod_envs *env)
{
	pod_strs command = { 0 }, args = { 0 };
	const pod_strs *parts[2] = { &command, &args };

	if (!from_strs(f, &command, json_get(container, "command"), "command") ||
	    !from_strs(f, &args, json_get(container, "args"), "args"))
		return false;
	/* A command of its own puts aside both of the image's. */
	if (image && command.n == 0) {
		command = image->entrypoint;
		if (args.n == 0)
			args = image->cmd;
	}
	for (size_t i = 0; i < ARRAY_LEN(parts); i++)
		for (size_t k = 0; k < parts[i]->n; k++)
			*vec_push(f->a, &c->command) = pod_expand(f->a, parts[i]->v[k], from_env_lookup, env);
	if (image ? c->command.n == 0 : command.n == 0)
		return from_invalid(
			f,
			"command: is missing. Images are not pulled on this machine, so the image's own command is "
			"unknown: set command, or give the image's files with --rootfs %.*s=DIR",
			STR_F(c->image));
	return true;
}

static bool from_termination(struct from *f, struct pod_container *c, yyjson_val *container)
{
	struct str path = json_str(json_get(container, "terminationMessagePath"));

	c->termination_path = path.n ? arena_str(f->a, path) : STR("/dev/termination-log");
	c->termination_logs =
		str_eqc(json_str(json_get(container, "terminationMessagePolicy")), "FallbackToLogsOnError");
	if (*c->termination_path.p != '/')
		return from_invalid(f, "terminationMessagePath: must be absolute");
	if (!from_point(f, c->termination_path, &c->termination_path))
		return from_invalid(f, "terminationMessagePath: must be a path below /, without '..'");
	return true;
}

/* What every container has, then the image's, then the container's own. */
static void all_env(struct from *f, struct pod_container *c, const struct pod_image *image, const pod_envs *own)
{
	from_env_set(f->a, &c->env, STR("PYTHONUNBUFFERED"), STR("1"));
	from_env_set(f->a, &c->env, STR("HOSTNAME"), f->spec->hostname.n ? f->spec->hostname : f->spec->name);
	for (size_t i = 0; f->o->env && f->o->env[i]; i++) {
		struct str rest = str_c(f->o->env[i]), name;

		if (str_next(&rest, '=', &name))
			from_env_set(f->a, &c->env, name, str_c(f->o->env[i] + MIN(name.n + 1, strlen(f->o->env[i]))));
	}
	if (f->o->path.n && !image)
		from_env_set(f->a, &c->env, STR("PATH"), f->o->path);
	for (size_t i = 0; image && i < image->env.n; i++)
		from_env_set(f->a, &c->env, image->env.v[i].name, image->env.v[i].value);
	for (size_t i = 0; i < own->n; i++)
		from_env_set(f->a, &c->env, own->v[i].name, own->v[i].value);
}

static bool from_container(struct from *f, yyjson_val *container, bool init)
{
	struct pod_container *c = vec_push(f->a, &f->spec->containers);
	struct pod_image image = { .dir = STR_NONE };
	struct str cwd = json_str(json_get(container, "workingDir"));
	bool own_files;
	pod_envs env = { 0 };

	*c = (struct pod_container){ .init = init };
	c->name = arena_str(f->a, json_str(json_get(container, "name")));
	c->image = arena_str(f->a, json_str(json_get(container, "image")));
	f->why->container = c->name;
	if (!str_is_dns_label(c->name, false))
		return from_invalid(f, "name: must be a DNS label");
	for (size_t i = 0; i + 1 < f->spec->containers.n; i++)
		if (str_eq(f->spec->containers.v[i].name, c->name))
			return from_invalid(f, "name: %.*s is there twice", STR_F(c->name));
	c->sidecar = init && str_eqc(json_str(json_get(container, "restartPolicy")), "Always");
	own_files = f->o->image && f->o->image(f->o->cookie, c->image, &image);
	if (own_files) {
		c->rootfs = image.dir;
		c->cwd = image.cwd.n ? image.cwd : STR("/");
	} else {
		c->cwd = f->o->cwd.n ? f->o->cwd : STR("/");
	}
	if (cwd.n)
		c->cwd = arena_str(f->a, cwd);
	if (yyjson_arr_size(json_get(container, "volumeDevices")))
		return from_invalid(f, "volumeDevices: block devices are not supported on this machine");
	if (!from_env(f, c, container, &env))
		return false;
	all_env(f, c, own_files ? &image : NULL, &env);
	return from_command(f, c, container, own_files ? &image : NULL, &env) && from_mounts(f, c, container, &env) &&
	       from_probes(f, c, container) && from_termination(f, c, container) && from_resources(f, c, container) &&
	       from_user(f, c, container);
}

static bool from_containers(struct from *f, const char *field, bool init)
{
	yyjson_val *list = json_at(f->pod, "spec", field, NULL), *item;
	size_t i, max;

	yyjson_arr_foreach(list, i, max, item)
	{
		if (!from_container(f, item, init))
			return from_at(f, "spec.%s[%zu]", field, i);
	}
	f->why->container = STR_NONE;
	return true;
}

static bool from_policy(struct from *f, yyjson_val *spec)
{
	static const char *const words[] = { "Always", "OnFailure", "Never" };
	struct str policy = json_str(json_get(spec, "restartPolicy"));
	size_t i = 0;

	if (policy.n)
		for (i = 0; i < ARRAY_LEN(words) && !str_eqc(policy, words[i]); i++)
			;
	if (i == ARRAY_LEN(words))
		return from_invalid(f, "spec.restartPolicy: must be Always, OnFailure or Never");
	f->spec->restart = (enum pod_restart)i;
	f->spec->grace = SECONDS(30);
	return (from_seconds(f, &f->spec->grace, spec, "terminationGracePeriodSeconds", 0) &&
	        from_seconds(f, &f->spec->deadline, spec, "activeDeadlineSeconds", 1)) ||
	       from_at(f, "spec");
}

static void from_names(struct from *f, yyjson_val *spec)
{
	yyjson_val *meta = json_get(f->pod, "metadata");
	struct str hostname = json_str(json_get(spec, "hostname"));

	f->spec->name = arena_str(f->a, json_str(json_get(meta, "name")));
	f->spec->ns = arena_str(f->a, json_str(json_get(meta, "namespace")));
	f->spec->uid = arena_str(f->a, json_str(json_get(meta, "uid")));
	f->spec->pod_ip = f->o->pod_ip;
	/* On the machine's network it has the machine's name. */
	if (!yyjson_is_true(json_get(spec, "hostNetwork")))
		f->spec->hostname = arena_str(f->a, str_sub(hostname.n ? hostname : f->spec->name, 0, 63));
}

bool pod_from(struct pod_spec *ret, yyjson_val *pod, const struct pod_from_options *o, struct arena *a,
              struct pod_refusal *why, struct err *e)
{
	struct from f = { .pod = pod, .o = o, .a = a, .why = why, .e = e, .spec = ret };
	yyjson_val *spec = json_get(pod, "spec");

	memset(ret, 0, sizeof(*ret));
	*why = (struct pod_refusal){ .reason = NULL };
	from_names(&f, spec);
	if (!from_policy(&f, spec) || !from_volumes(&f) || !from_containers(&f, "initContainers", true) ||
	    !from_containers(&f, "containers", false))
		return false;
	if (ret->containers.n == 0 || ret->containers.v[ret->containers.n - 1].init)
		return from_invalid(&f, "spec.containers: is empty");
	from_say_without_effect(&f);
	return true;
}
