/* A folder that stands for an image: a plain tree, or `rootfs` with OCI's config.json beside it. */
#include "local/pod/pod.h"

#include "base/file.h"
#include "base/json.h"

#include <errno.h>
#include <sys/stat.h>

static bool strs(pod_strs *ret, yyjson_val *list, const char *field, struct arena *a, struct err *e)
{
	size_t i, max;
	yyjson_val *item;

	if (list && !yyjson_is_null(list) && !yyjson_is_arr(list))
		return err_set(e, ERR_INVALID, "%s: is %s, not a list", field, json_type_name(list));
	yyjson_arr_foreach(list, i, max, item)
	{
		if (!yyjson_is_str(item))
			return err_set(e, ERR_INVALID, "%s[%zu]: is %s, not a string", field, i, json_type_name(item));
		*vec_push(a, ret) = arena_str(a, json_str(item));
	}
	return true;
}

static bool envs(pod_envs *ret, yyjson_val *list, const char *field, struct arena *a, struct err *e)
{
	pod_strs all = { 0 };

	if (!strs(&all, list, field, a, e))
		return false;
	for (size_t i = 0; i < all.n; i++) {
		const char *equals = memchr(all.v[i].p, '=', all.v[i].n);
		size_t n = equals ? (size_t)(equals - all.v[i].p) : 0;

		if (!n)
			return err_set(e, ERR_INVALID, "%s[%zu]: is not NAME=value", field, i);
		*vec_push(a, ret) = (struct pod_env){ str_sub(all.v[i], 0, n), str_sub(all.v[i], n + 1, all.v[i].n) };
	}
	return true;
}

/* As images have it ("config"), or as runtimes do ("process", which has the whole command). */
static bool read_config(struct pod_image *ret, yyjson_val *root, struct arena *a, struct err *e)
{
	yyjson_val *config = json_get(root, "config"), *process = json_get(root, "process");

	if (config) {
		ret->cwd = arena_str(a, json_str(json_get(config, "WorkingDir")));
		return strs(&ret->entrypoint, json_get(config, "Entrypoint"), "config.Entrypoint", a, e) &&
		       strs(&ret->cmd, json_get(config, "Cmd"), "config.Cmd", a, e) &&
		       envs(&ret->env, json_get(config, "Env"), "config.Env", a, e);
	}
	if (!process)
		return err_set(e, ERR_INVALID, "neither an image's configuration nor a bundle's");
	ret->cwd = arena_str(a, json_str(json_get(process, "cwd")));
	return strs(&ret->cmd, json_get(process, "args"), "process.args", a, e) &&
	       envs(&ret->env, json_get(process, "env"), "process.env", a, e);
}

bool pod_image_read(struct pod_image *ret, const char *dir, struct arena *a, struct err *e)
{
	struct str tree = arena_printf(a, "%s/rootfs", dir), text;
	const char *path = arena_printf(a, "%s/config.json", dir).p;
	CLEANUP(json_docp) yyjson_doc *doc = NULL;
	struct stat st;

	memset(ret, 0, sizeof(*ret));
	if (stat(dir, &st) != 0 || !S_ISDIR(st.st_mode))
		return err_set(e, ERR_IO, "%s: %s", dir, strerror(errno ? errno : ENOTDIR));
	ret->dir = arena_str(a, str_c(dir));
	if (stat(tree.p, &st) != 0 || !S_ISDIR(st.st_mode))
		return true;
	ret->dir = tree;
	switch (file_read(&text, path, a, e)) {
	case FILE_MISSING:
		return true;
	case FILE_FAILED:
		return false;
	case FILE_READ:
		break;
	}
	doc = json_parse(text, e);
	return (doc && read_config(ret, yyjson_doc_get_root(doc), a, e)) || err_wrap(e, "%s", path);
}
