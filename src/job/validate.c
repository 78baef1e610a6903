/* What can only be judged when the whole job is read. */
#include "job/read.h"

const struct role *job_role(const struct job *job, struct str name)
{
	for (size_t i = 0; i < job->n_roles; i++)
		if (str_eq(job->roles[i].name, name))
			return &job->roles[i];
	return NULL;
}

size_t role_index(const struct job *job, struct str name)
{
	size_t i = 0;

	while (i < job->n_roles && !str_eq_nocase(job->roles[i].name, name) &&
	       !str_eq_nocase(job->roles[i].title, name))
		i++;
	return i;
}

struct str *role_titles(const struct job *job, struct arena *a)
{
	struct str *ret = arena_array(a, struct str, job->n_roles);

	for (size_t i = 0; i < job->n_roles; i++)
		ret[i] = text_shown(job->roles[i].title, a);
	return ret;
}

bool chief_find(struct job *job, struct str name, struct policy_place at, struct problems *p)
{
	struct arena *a = p->arena;
	struct str path = place_path(at, STR("complete"), a);
	size_t i = role_index(job, name);

	if (i == job->n_roles) {
		problem_error(p, path, "the chief's role \"%.*s\" does not exist%.*s", STR_F(text_shown(name, a)),
		              STR_F(text_hint(name, "the roles are", role_titles(job, a), job->n_roles, a)));
	} else if (job->roles[i].aux) {
		problem_error(p, path, "role \"%.*s\" does not take part in the job's end, so it cannot be the chief",
		              STR_F(name));
	} else if (job->chief_index >= job->roles[i].count) {
		problem_error(p, path, "the chief's index %d does not exist: role \"%.*s\" has %d replicas",
		              job->chief_index, STR_F(name), job->roles[i].count);
	} else {
		job->chief_role = i;
		return true;
	}
	job->complete = JOB_END_ALL;
	job->chief_index = 0;
	return false;
}

/* A DNS subdomain (labels with dots between) that fits a label's value. */
static bool good_job_name(struct str name)
{
	struct str rest = name, part = STR_NONE;

	if (!name.n || name.n > JOB_NAME_KEPT)
		return false;
	while (str_next(&rest, '.', &part))
		if (!str_is_dns_label(part, false))
			return false;
	return true;
}

static void check_role_name(const struct job *job, size_t i, const struct role_doc *doc, struct problems *p)
{
	const struct role *role = &job->roles[i];
	struct str path = role->companion ? role->path : place_path(doc->at, STR("name"), p->arena);
	struct str shown = text_shown(role->title, p->arena);

	if (!role->name.n) {
		problem_error(p, path, "a role needs a name");
		return;
	}
	if (!str_is_dns_label(role->name, false))
		problem_error(p, path, "must be a DNS label (letters, digits, '-', at most 63), found \"%.*s\"",
		              STR_F(shown));
	for (size_t k = 0; k < i; k++) {
		if (!str_eq_nocase(job->roles[k].name, role->name))
			continue;
		problem_error(p, path, "role \"%.*s\" already exists, as \"%.*s\" at %.*s", STR_F(shown),
		              STR_F(text_shown(job->roles[k].title, p->arena)), STR_F(job->roles[k].path));
		return;
	}
}

static void check_size(const struct role *role, const struct role_doc *doc, struct problems *p)
{
	bool has_min = doc->said & HAS_MIN, has_max = doc->said & HAS_MAX, has_count = doc->said & HAS_COUNT;
	struct str min = place_path(doc->at, STR("min"), p->arena), max = place_path(doc->at, STR("max"), p->arena);

	if (has_min && has_max && role->min > role->max)
		problem_error(p, min, "%d is more than the maximum %d", role->min, role->max);
	else if (has_count && has_min && role->count < role->min)
		problem_error(p, min, "%d is more than the number of replicas, %d", role->min, role->count);
	else if (has_count && has_max && role->count > role->max)
		problem_error(p, max, "%d is less than the number of replicas, %d", role->max, role->count);
}

void job_validate(struct job *job, const struct role_doc *docs, struct problems *p)
{
	int64_t total = 0, counting = 0;
	bool known = true;

	if (!good_job_name(job->name))
		problem_error(p, STR("metadata.name"),
		              "must be lower case letters, digits, '-' and '.', at most %d characters, found \"%.*s\"",
		              JOB_NAME_KEPT, STR_F(text_shown(job->name, p->arena)));
	for (size_t i = 0; i < job->n_roles; i++) {
		const struct role *role = &job->roles[i];

		check_role_name(job, i, &docs[i], p);
		check_size(role, &docs[i], p);
		known = known && (docs[i].said & HAS_COUNT);
		total += role->count;
		counting += role->aux ? 0 : role->count;
	}
	if (!job->n_roles)
		problem_error(p, STR("spec"), "has no roles; a job needs at least one");
	else if (known && !counting)
		problem_error(p, STR("spec"), "has no replicas; a job needs at least one");
	if (total > JOB_MAX_REPLICAS)
		problem_error(p, STR("spec"), "has %lld replicas in all; at most %d are allowed", (long long)total,
		              JOB_MAX_REPLICAS);
}
