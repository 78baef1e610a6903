/* How much etcd would have to keep. What tells each replica where all the others are grows with their square: a job
   that looks harmless can fill the store of the whole cluster, or have pods that it refuses one by one for ever. */
#include "kind/size.h"

enum {
	POD_FRAME = 1024,    /* metadata, owner, our labels and what the server adds */
	VARIABLE_FRAME = 16, /* around a name and its value */
	WARN_AT = 4,         /* a quarter of what is taken is worth a word */
	TEMPLATE_MAX = 64 << 20,
};

const struct kind_sizes kind_sizes_default = { .pod = 1 << 20, .job = 256 << 20 };

void kinds_set_sizes(struct kinds *k, const struct kind_sizes *sizes)
{
	k->sizes = *sizes;
}

static bool user_has(yyjson_val *env, struct str name)
{
	yyjson_arr_iter it = yyjson_arr_iter_with(env);
	yyjson_val *v;

	while ((v = yyjson_arr_iter_next(&it)))
		if (str_eq(json_str(json_get(v, "name")), name))
			return true;
	return false;
}

/* Of the variables that are put in; those that the user has set are left out. */
static size_t derived(const struct pairs *vars, yyjson_val *user_env)
{
	size_t n = 0;

	for (size_t i = 0; i < vars->list.n; i++)
		if (!user_has(user_env, vars->list.v[i].name))
			n += vars->list.v[i].name.n + pair_size(&vars->list.v[i]) + VARIABLE_FRAME;
	return n;
}

static size_t derived_of(const struct role *role, const char *key, bool init, const struct pairs *vars)
{
	yyjson_arr_iter it = yyjson_arr_iter_with(json_get(json_get(role->template, "spec"), key));
	size_t at = 0, n = 0;
	yyjson_val *c;

	while ((c = yyjson_arr_iter_next(&it))) {
		while (at < role->n_containers && role->containers[at].init != init)
			at++;
		if (at < role->n_containers && kind_wants_env(role, &role->containers[at++]))
			n += derived(vars, json_get(c, "env"));
	}
	return n;
}

static size_t template_size(const struct role *role)
{
	struct buf b = BUF_INIT(TEMPLATE_MAX);
	size_t n;

	json_write_val(role->template, &b);
	n = b.n;
	buf_release(&b);
	return n;
}

void pod_sizes_add(struct pod_sizes *s, const struct kind_job *kj, size_t role, const struct pairs *vars)
{
	const struct role *r = &kj->job->roles[role];
	size_t variables = derived_of(r, "initContainers", true, vars) + derived_of(r, "containers", false, vars);
	size_t size = POD_FRAME + template_size(r) + variables;

	s->pods += r->count;
	s->all += (uint64_t)size * (uint64_t)r->count;
	if (size <= s->largest)
		return;
	s->largest = size;
	s->variables = variables;
	s->role = role;
}

static struct str shown(struct arena *a, uint64_t bytes)
{
	if (bytes < 1 << 20)
		return arena_printf(a, "%.1f KiB", (double)bytes / 1024);
	return arena_printf(a, "%.1f MiB", (double)bytes / (1 << 20));
}

void pod_sizes_check(const struct pod_sizes *s, struct kind_job *kj)
{
	const struct kind_sizes *most = &kj->kinds->sizes;
	enum severity severity = kj->started ? PROBLEM_SPARED : PROBLEM_ERROR;
	struct problems *p = &kj->job->problems;
	struct arena *a = &kj->arena;
	struct str path = s->pods ? kj->job->roles[s->role].path : STR_NONE;

	if (s->largest > most->pod)
		problems_add(
			p, severity, path,
			"each of its pods has %.*s, %.*s of it in variables that list all replicas; at most %.*s is "
			"allowed: use fewer replicas or fewer containers (or raise dl-operator --max-pod-size, if "
			"etcd accepts more)",
			STR_F(shown(a, s->largest)), STR_F(shown(a, s->variables)), STR_F(shown(a, most->pod)));
	if (s->all > most->job)
		problems_add(
			p, severity, STR("spec"),
			"its %lld pods have %.*s in all, up to %.*s each; at most %.*s is allowed: use fewer replicas "
			"(or raise dl-operator --max-job-size, if etcd has room)",
			(long long)s->pods, STR_F(shown(a, s->all)), STR_F(shown(a, s->largest)),
			STR_F(shown(a, most->job)));
	else if (s->all >= most->job / WARN_AT)
		problem_warning(p, STR("spec"),
		                "its %lld pods have %.*s in all, which etcd has to store; at most %.*s is allowed",
		                (long long)s->pods, STR_F(shown(a, s->all)), STR_F(shown(a, most->job)));
}
