/* No two replicas may have one name: the second could never be made, and would be asked for again and again. Only the
   kind's code can give names twice, and only calling it for every replica shows that. */
#include "base/map.h"
#include "kind/internal.h"

/* A microsecond for each replica, and a job that runs is read again and again: it gets a warning, if it is among these.
   A name that is given twice is a refusal when it is used. */
enum { STARTED_MOST = 1000 };

struct named {
	size_t role;
	int32_t index;
	struct str name;
};

struct seen {
	struct map names; /* named */
	bool told;        /* one of its sort is enough */
};

static bool report_double(struct kind_job *kj, const char *what, const struct named *a, const struct named *b,
                          struct err *e)
{
	const struct role *first = &kj->job->roles[a->role], *second = &kj->job->roles[b->role];
	struct str text =
		arena_printf(&kj->arena,
	                     "gives the %ss of %.*s-%d and %.*s-%d one name, \"%.*s\": every "
	                     "replica must have its own",
	                     what, STR_F(first->name), a->index, STR_F(second->name), b->index, STR_F(a->name));

	if (!kj->started)
		return kind_refuse(kj, e, "names", "%.*s", STR_F(text));
	problems_add(&kj->job->problems, PROBLEM_SPARED, second->path, "`names` in %.*s %.*s",
	             STR_F(kj->file->kind.file), STR_F(text));
	return true;
}

static bool look_at_name(struct kind_job *kj, struct seen *seen, struct arena *a, const char *what, struct named n,
                         struct err *e)
{
	struct named *mine, *other;

	if (seen->told)
		return true;
	mine = arena_new(a, struct named);
	*mine = n;
	mine->name = arena_str(a, n.name);
	other = map_put(&seen->names, mine->name, mine);
	seen->told = other;
	return !other || report_double(kj, what, other, mine, e);
}

/* What fails for a replica that nobody has asked for yet does not hold up those that run. */
static void spare(struct kind_job *kj, const struct role *r, int32_t *left, struct err *e)
{
	problems_add(&kj->job->problems, PROBLEM_SPARED, r->path, "%s", err_msg(e));
	err_release(e);
	*left = 0;
}

static bool look_at_role(struct kind_job *kj, size_t role, struct seen *pods, struct seen *services, int32_t *left,
                         struct arena *a, struct err *e)
{
	const struct role *r = &kj->job->roles[role];
	struct kind_names names;

	for (int32_t i = 0; i < r->count && *left && !(pods->told && services->told); i++, --*left) {
		if (!kind_names(kj, role, i, &names, e)) {
			if (kj->started)
				spare(kj, r, left, e);
			return kj->started;
		}
		if (!look_at_name(kj, pods, a, "pod", (struct named){ role, i, names.pod }, e))
			return false;
		if (r->service &&
		    !look_at_name(kj, services, a, "service", (struct named){ role, i, names.service }, e))
			return false;
	}
	return true;
}

bool kind_check_doubles(struct kind_job *kj, struct err *e)
{
	struct seen pods = { MAP_INIT, false }, services = { MAP_INIT, false };
	int32_t left = kj->started ? STARTED_MOST : INT32_MAX;
	struct arena a = ARENA_INIT;
	bool ok = true;

	for (size_t i = 0; ok && i < kj->job->n_roles; i++)
		ok = look_at_role(kj, i, &pods, &services, &left, &a, e);
	map_release(&pods.names);
	map_release(&services.names);
	arena_release(&a);
	return ok;
}
