/* startAfter: {worker: [ps]}: pods of a role are made when the replicas of others are up. */
#include "base/json.h"
#include "job/read.h"

_Static_assert(JOB_MAX_ROLES <= 64, "a set of roles is 64 bits");

/* The role that is meant, or n_roles, with a problem. */
static size_t find_role(const struct job *job, struct str name, struct str path, struct problems *p)
{
	struct arena *a = p->arena;
	size_t i = role_index(job, name);

	if (i == job->n_roles) {
		problem_error(p, path, "there is no role \"%.*s\"%.*s", STR_F(text_shown(name, a)),
		              STR_F(text_hint(name, "the roles are", role_titles(job, a), job->n_roles, a)));
	} else if (job->roles[i].aux) {
		problem_error(p, path, "role \"%.*s\" does not count: nothing waits for it, and it waits for nothing",
		              STR_F(name));
		i = job->n_roles;
	}
	return i;
}

static void read_list(struct job *job, size_t role, yyjson_val *list, struct str path, struct problems *p)
{
	size_t i, max;
	yyjson_val *one;

	if (!yyjson_is_arr(list)) {
		problem_error(p, path, "must be a list of roles such as [ps], found %s", json_type_name(list));
		return;
	}
	yyjson_arr_foreach(list, i, max, one)
	{
		struct str here = arena_printf(p->arena, "%.*s[%zu]", STR_F(path), i);
		size_t other;

		if (!yyjson_is_str(one)) {
			problem_error(p, here, "must be the name of a role, found %s", json_type_name(one));
			continue;
		}
		other = find_role(job, json_str(one), here, p);
		if (other == role)
			problem_error(p, here, "a role cannot start after itself");
		else if (other < job->n_roles)
			job->roles[role].after |= UINT64_C(1) << other;
	}
}

/* All roles that I waits for, be it through others. */
static uint64_t closure(const struct job *job, size_t i)
{
	uint64_t all = job->roles[i].after, before = 0;

	while (all != before) {
		before = all;
		for (size_t k = 0; k < job->n_roles && k < 64; k++)
			if (before >> k & 1)
				all |= job->roles[k].after;
	}
	return all;
}

static void check_circles(struct job *job, struct str path, struct problems *p)
{
	for (size_t i = 0; i < job->n_roles && i < 64; i++) {
		if (!(closure(job, i) >> i & 1))
			continue;
		problem_error(p, path, "role \"%.*s\" would wait for itself: a circle", STR_F(job->roles[i].title));
		return;
	}
}

static bool is_gang(const struct scheduling *s)
{
	return s->min_available >= 0 || s->queue.n || s->priority_class.n || s->min_resources || s->timeout >= 0;
}

void start_after_read(struct job *job, yyjson_val *doc, struct policy_place at, struct problems *p)
{
	struct str path = place_path(at, STR("startAfter"), p->arena);
	size_t errors = p->errors;
	yyjson_obj_iter iter;
	yyjson_val *key;

	if (!doc)
		return;
	if (!yyjson_is_obj(doc)) {
		problem_error(p, path, "must be an object such as {worker: [ps]}, found %s", json_type_name(doc));
		return;
	}
	yyjson_obj_iter_init(doc, &iter);
	while ((key = yyjson_obj_iter_next(&iter))) {
		struct str name = text_shown(json_str(key), p->arena);
		struct str here = arena_printf(p->arena, "%.*s.%.*s", STR_F(path), STR_F(name));
		size_t role = find_role(job, json_str(key), here, p);

		if (role < job->n_roles)
			read_list(job, role, yyjson_obj_iter_get_val(key), here, p);
	}
	if (p->errors == errors)
		check_circles(job, path, p);
	if (is_gang(&job->scheduling))
		problem_error(p, path,
		              "cannot be set together with schedulingPolicy: the pods of a gang start all at once");
}
