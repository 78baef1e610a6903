/* Kinds that a cluster serves and nobody here has the Lua of: by discovery, which everybody may read; CRDs may
   be listed by few. Their category says that they are ours. */
#include "client/jobs.h"

static const char category[] = "dljobs";

static bool has_category(yyjson_val *resource)
{
	yyjson_arr_iter it = yyjson_arr_iter_with(json_get(resource, "categories"));
	yyjson_val *one;

	while ((one = yyjson_arr_iter_next(&it)))
		if (str_eqc(json_str(one), category))
			return true;
	return false;
}

/* Kubernetes' own groups have no dot, or end so. */
static bool may_be_ours(struct str group)
{
	return memchr(str_text(group), '.', group.n) && !str_has_suffix(group, STR(".k8s.io"));
}

static void add_resource(struct remote *r, struct kinds *kinds, struct str group, struct str version,
                         yyjson_val *resource)
{
	yyjson_arr_iter it = yyjson_arr_iter_with(json_get(resource, "shortNames"));
	VEC(struct str) shorts = { 0 };
	struct kind k = { .group = group,
		          .version = version,
		          .kind = json_str(json_get(resource, "kind")),
		          .plural = json_str(json_get(resource, "name")),
		          .singular = json_str(json_get(resource, "singularName")) };
	yyjson_val *one;

	while ((one = yyjson_arr_iter_next(&it)))
		*vec_push(&r->arena, &shorts) = json_str(one);
	k.short_names = shorts.v;
	k.n_short_names = shorts.n;
	/* They come to stand in paths. */
	if (str_is_dns_label(k.plural, true) && str_is_dns_label(version, true) && k.kind.n)
		kinds_add_foreign(kinds, &k);
}

static void add_group(struct remote *r, struct kinds *kinds, struct str group_version, yyjson_val *resources)
{
	yyjson_arr_iter it = yyjson_arr_iter_with(resources);
	struct str version = group_version, group;
	yyjson_val *one;

	if (!str_next(&version, '/', &group))
		return;
	while ((one = yyjson_arr_iter_next(&it)))
		if (has_category(one) && yyjson_is_true(json_get(one, "namespaced")))
			add_resource(r, kinds, group, version, one);
}

/* The path of each group that may have some. */
static size_t groups_to_ask(struct remote *r, yyjson_val *groups, struct remote_call **ret)
{
	struct remote_call *calls = arena_array(&r->arena, struct remote_call, yyjson_arr_size(groups));
	yyjson_arr_iter it = yyjson_arr_iter_with(groups);
	yyjson_val *group;
	size_t n = 0;

	while ((group = yyjson_arr_iter_next(&it))) {
		struct str name = json_str(json_get(group, "name"));
		struct str version = json_str(json_at(group, "preferredVersion", "groupVersion", NULL));

		if (may_be_ours(name) && version.n > name.n + 1 && str_has_prefix(version, name))
			calls[n++].path = arena_printf(&r->arena, "/apis/%.*s", STR_F(version));
	}
	*ret = calls;
	return n;
}

bool session_discover(struct cli_session *s)
{
	struct remote *r = &s->remote;
	struct kinds *kinds = s->kinds;
	struct remote_call groups = { .path = STR("/apis") }, *calls;
	bool ok = remote_do(r, &groups, 1);
	size_t n;

	if (!ok)
		return false;
	/* Who does not answer is not asked again; what it may refuse, its jobs say better. */
	if (groups.code == 0) {
		r->cli->status = remote_refused(r, "list the kinds", 0, groups.message);
		return false;
	}
	n = remote_ok(&groups) ? groups_to_ask(r, json_get(groups.root, "groups"), &calls) : 0;
	remote_call_release(&groups);
	if (!n)
		return true;
	ok = remote_do(r, calls, n);
	for (size_t i = 0; i < n; i++) {
		if (ok && remote_ok(&calls[i]))
			add_group(r, kinds, str_sub(calls[i].path, strlen("/apis/"), calls[i].path.n),
			          json_get(calls[i].root, "resources"));
		remote_call_release(&calls[i]);
	}
	return ok;
}

bool session_find(struct cli_session *s, bool silent)
{
	return session_begin(s, silent) && session_discover(s);
}
