/* Names of the children, and what can be wrong with them, told before anything is made. */
#include "kind/companion.h"
#include "kind/path.h"
#include "kind/size.h"

/* Linux takes at most this for one "NAME=value" with its zero. */
enum { VARIABLE_MAX = 128 << 10, LABEL_MAX = 63, DOMAIN_MAX = 253, NAME_MAX_TEXT = 1024 };

static void companion_names(struct kind_job *kj, const struct companion *c, struct kind_names *ret)
{
	struct arena a = ARENA_INIT;

	buf_clear(&kj->pod_name);
	buf_put(&kj->pod_name, kind_companion_name(kj, c, &a));
	arena_release(&a);
	*ret = (struct kind_names){ buf_str(&kj->pod_name), buf_str(&kj->pod_name) };
}

bool kind_names(struct kind_job *kj, size_t role, int32_t index, struct kind_names *ret, struct err *e)
{
	lua_State *L = kj->kinds->sb.L;
	bool service, ok;

	ASSERT(role < kj->job->n_roles);
	*ret = (struct kind_names){ STR_NONE, STR_NONE };
	if (kj->file->kind.foreign)
		return err_set(e, ERR_INVALID, "what pods of a %.*s are called is not known here",
		               STR_F(kj->file->kind.id));
	if (kj->job->roles[role].companion) {
		companion_names(kj, kj->job->roles[role].companion, ret);
		return true;
	}
	service = kj->job->roles[role].service;
	if (!kind_call(kj, FN_NAMES, kind_push_call(kj, FN_NAMES, role, index), 2, e))
		return false;
	ok = lua_type(L, -2) == LUA_TSTRING && (!service || lua_type(L, -1) == LUA_TSTRING) &&
	     lua_rawlen(L, -2) < NAME_MAX_TEXT && (!service || lua_rawlen(L, -1) < NAME_MAX_TEXT);
	buf_clear(&kj->pod_name);
	buf_clear(&kj->service_name);
	if (ok)
		buf_put(&kj->pod_name, (struct str){ lua_tostring(L, -2), lua_rawlen(L, -2) });
	if (ok && service)
		buf_put(&kj->service_name, (struct str){ lua_tostring(L, -1), lua_rawlen(L, -1) });
	lua_pop(L, 2);
	*ret = (struct kind_names){ buf_str(&kj->pod_name), buf_str(&kj->service_name) };
	return ok || kind_refuse(kj, e, "names", "must return the names of the pod and of its service");
}

/* --- names --- */

static void set_job_name(struct kind_job *kj, struct str name)
{
	lua_State *L = kj->kinds->sb.L;

	lua_rawgeti(L, LUA_REGISTRYINDEX, kj->ref);
	value_push_str(&kj->kinds->sb, name);
	lua_setfield(L, -2, "name");
	lua_pop(L, 1);
}

/* The longest beginning of the job's name with which both names would be short enough; 0: none. */
static size_t fitting(struct kind_job *kj, size_t role, int32_t index)
{
	size_t n = MIN(kj->job->name.n, (size_t)JOB_NAME_KEPT);
	struct kind_names names;

	for (; n > 0; n--) {
		set_job_name(kj, str_sub(kj->job->name, 0, n));
		if (!kind_names(kj, role, index, &names, NULL) ||
		    (names.pod.n <= JOB_NAME_KEPT && names.service.n <= JOB_NAME_KEPT))
			break;
	}
	set_job_name(kj, kj->job->name);
	return n;
}

/* Where the kind makes the name: for a job whose own name is ok. */
static struct str namer(struct kind_job *kj, size_t role)
{
	if (kj->job->roles[role].companion || !str_is_dns_label(kj->job->name, false))
		return STR("");
	return arena_printf(&kj->arena, ": see `names`, %.*s:%d", STR_F(kj->file->kind.file),
	                    kind_line(kj->kinds, kj->file, FN_NAMES, STR_NONE));
}

static void check_name(struct kind_job *kj, size_t role, const char *what, struct str name, bool letter_first)
{
	struct problems *p = &kj->job->problems;
	int32_t index = kj->job->roles[role].count - 1;
	size_t n;

	if (str_is_dns_label(name, letter_first))
		return;
	name = arena_str(&kj->arena, name);
	if (name.n > JOB_NAME_KEPT) {
		n = fitting(kj, role, index);
		if (n == 0)
			problem_error(
				p, kj->job->roles[role].path,
				"the %s would be named \"%.*s\", which has %zu characters; at most %d are allowed",
				what, STR_F(name), name.n, JOB_NAME_KEPT);
		else
			problem_error(p, STR("metadata.name"),
			              "the %s would be named \"%.*s\", which has %zu characters; at most %d are "
			              "allowed: shorten the job's name by %zu",
			              what, STR_F(name), name.n, JOB_NAME_KEPT, kj->job->name.n - n);
	} else if (letter_first && str_is_dns_label(name, false)) {
		problem_error(p, STR("metadata.name"),
		              "the %s would be named \"%.*s\", but its name must begin with a letter", what,
		              STR_F(name));
	} else {
		problem_error(p, STR("metadata.name"),
		              "the %s would be named \"%.*s\", which is not a DNS label (lower case letters, digits "
		              "and '-')%.*s",
		              what, STR_F(name), STR_F(namer(kj, role)));
	}
}

static bool check_names(struct kind_job *kj, size_t role, struct err *e)
{
	const struct role *r = &kj->job->roles[role];
	size_t errors = kj->job->problems.errors;
	struct kind_names names;
	struct str service;

	if (r->count <= 0)
		return true;
	if (!kind_names(kj, role, r->count - 1, &names, e))
		return false;
	service = arena_str(&kj->arena, names.service);
	check_name(kj, role, "pod", names.pod, false);
	if (r->service && kj->job->problems.errors == errors)
		check_name(kj, role, "service", service, true);
	return true;
}

/* --- variables and labels --- */

static bool is_label_value(struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];
		bool alnum = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');

		if (!alnum && (i == 0 || i + 1 == s.n || (c != '-' && c != '_' && c != '.')))
			return false;
	}
	return s.n <= LABEL_MAX;
}

/* [domain/]name */
static bool is_label_key(struct str s)
{
	struct str rest = s, domain = STR_NONE, part;

	if (memchr(str_text(s), '/', s.n) && (!str_next(&rest, '/', &domain) || !domain.n || domain.n > DOMAIN_MAX))
		return false;
	while (str_next(&domain, '.', &part))
		if (!str_is_dns_label(part, false))
			return false;
	return rest.n && is_label_value(rest);
}

/* What is wrong with what WHAT gives and is the kind's. A job that has started went on with it. */
static bool refuse_says(struct kind_job *kj, const struct role *role, const char *what, struct str text, struct err *e)
{
	if (!kj->started)
		return kind_refuse(kj, e, what, "%.*s", STR_F(text));
	problems_add(&kj->job->problems, PROBLEM_SPARED, role->path, "`%s` in %.*s %.*s", what,
	             STR_F(kj->file->kind.file), STR_F(text));
	return true;
}

static bool check_labels(struct kind_job *kj, const struct role *role, const struct pairs *labels, struct err *e)
{
	for (size_t i = 0; i < labels->list.n; i++) {
		struct str value = pair_text(&labels->list.v[i]), key = labels->list.v[i].name;

		if (!is_label_value(value))
			problem_error(
				&kj->job->problems, role->path,
				"the label %.*s of its pods would be \"%.*s\", which is not a label value (at most "
				"%d letters, digits, '-', '_' and '.')",
				STR_F(key), (int)MIN(value.n, (size_t)100), value.p, LABEL_MAX);
		if (!is_label_key(key) &&
		    !refuse_says(kj, role, "pod",
		                 arena_printf(&kj->arena,
		                              "gives the label `%.*s`, which is not the name of a label (at most %d "
		                              "letters, digits, '-', '_' and '.', perhaps behind a domain and '/')",
		                              (int)MIN(key.n, (size_t)100), key.p, LABEL_MAX),
		                 e))
			return false;
	}
	return true;
}

/* Has one of the first N that name? */
static bool has_name(const struct pairs *env, size_t n, struct str name)
{
	for (size_t i = 0; i < n; i++)
		if (str_eq(env->list.v[i].name, name))
			return true;
	return false;
}

static bool check_sizes(struct kind_job *kj, const struct role *role, const char *what, const struct pairs *env,
                        struct err *e)
{
	struct problems *p = &kj->job->problems;

	for (size_t i = 0; i < env->list.n; i++) {
		const struct pair *v = &env->list.v[i];
		size_t size = v->name.n + pair_size(v) + 2;

		if (size > VARIABLE_MAX)
			problem_error(
				p, role->path,
				"the variable %.*s would have %zu bytes; Linux takes at most %d, so use fewer replicas",
				STR_F(v->name), size, VARIABLE_MAX);
		if (has_name(env, i, v->name) &&
		    !refuse_says(kj, role, what,
		                 arena_printf(&kj->arena, "gives the variable %.*s twice", STR_F(v->name)), e))
			return false;
	}
	return true;
}

/* Warns for each variable of the user's that is also derived. */
static void check_user_env(struct kind_job *kj, const struct role *role, const struct pairs *env, const char *key,
                           bool init)
{
	yyjson_val *list = json_get(json_get(role->template, "spec"), key), *c, *v;
	struct str path = arena_printf(&kj->arena, "%.*s.template.spec.%s", STR_F(role->path), key);
	yyjson_arr_iter it = yyjson_arr_iter_with(list), vars;
	size_t at = 0;

	while ((c = yyjson_arr_iter_next(&it))) {
		while (at < role->n_containers && role->containers[at].init != init)
			at++;
		if (at >= role->n_containers || !kind_wants_env(role, &role->containers[at++]))
			continue;
		vars = yyjson_arr_iter_with(json_get(c, "env"));
		while ((v = yyjson_arr_iter_next(&vars))) {
			struct str name = json_str(json_get(v, "name"));

			if (has_name(env, env->list.n, name))
				problem_warning(
					&kj->job->problems,
					path_index(&kj->arena,
				                   arena_printf(&kj->arena, "%.*s.env",
				                                STR_F(path_index(&kj->arena, path, it.idx - 1))),
				                   vars.idx - 1),
					"sets %.*s, so the derived value is left out", STR_F(name));
		}
	}
}

/* A text too long for the kind's code is the job's mistake, not the kind's: it has too many replicas. False: something
   else was wrong. */
static bool check_long_text(struct kind_job *kj, const struct role *role, struct err *e)
{
	if (!kj->kinds->sb.long_text)
		return false;
	problem_error(&kj->job->problems, role->path,
	              "a variable would have more than %zu bytes; Linux takes at most %d, so use fewer replicas",
	              kj->kinds->sb.limits.text, VARIABLE_MAX);
	err_release(e);
	return true;
}

static bool check_variables(struct kind_job *kj, size_t role, struct pod_sizes *sizes, struct err *e)
{
	const struct role *r = &kj->job->roles[role];
	struct pairs own;
	struct pod_say say;

	if (r->count <= 0)
		return true;
	if (kj->accelerators)
		accelerators_check(kj->accelerators, json_get(r->template, "spec"),
		                   arena_printf(&kj->arena, "%.*s.template.spec", STR_F(r->path)), &kj->job->problems);
	for (size_t i = 0; i < r->n_containers; i++) {
		if (!kind_container_env(kj, role, &r->containers[i], &own, e))
			return false;
		if (!check_sizes(kj, r, "container", &own, e))
			return false;
	}
	if (!pod_say_begin(&say, kj, role, r->count - 1, 0, e))
		return check_long_text(kj, r, e);
	if (!check_sizes(kj, r, "pod", &say.env, e) || !check_labels(kj, r, &say.labels, e)) {
		pod_say_end(kj);
		return false;
	}
	pod_sizes_add(sizes, kj, role, &say.env);
	check_user_env(kj, r, &say.env, "initContainers", true);
	check_user_env(kj, r, &say.env, "containers", false);
	pod_say_end(kj);
	return true;
}

/* What once() made can be large, and a job that runs needs it no more: it is made again for the pods. */
static void forget_once(struct kind_job *kj)
{
	lua_State *L = kj->kinds->sb.L;

	lua_rawgeti(L, LUA_REGISTRYINDEX, kj->ref);
	lua_pushnil(L);
	lua_setfield(L, -2, "once");
	lua_pop(L, 1);
	kj->once = false;
}

bool kind_check_children(struct kind_job *kj, struct err *e)
{
	struct pod_sizes sizes = { 0 };
	bool ok = true;

	for (size_t i = 0; ok && i < kj->job->n_roles; i++)
		ok = check_names(kj, i, e);
	/* With wrong counts or roles the variables are not worth looking at. */
	for (size_t i = 0; ok && kj->job->problems.errors == 0 && i < kj->job->n_roles; i++)
		ok = check_variables(kj, i, &sizes, e);
	if (ok && kj->job->problems.errors == 0)
		pod_sizes_check(&sizes, kj);
	if (ok && kj->job->problems.errors == 0)
		ok = kind_check_doubles(kj, e);
	forget_once(kj);
	return ok;
}
