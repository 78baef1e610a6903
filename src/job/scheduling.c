/* schedulingPolicy: how a gang scheduler shall take the job. */
#include "base/json.h"
#include "job/read.h"
#include "object/quantity.h"

enum { NAME_MAX_BYTES = 253 };

/* Names of Kubernetes' objects: DNS labels with dots between. */
static bool good_name(struct str s)
{
	struct str part = STR_NONE;

	if (!s.n || s.n > NAME_MAX_BYTES)
		return false;
	while (str_next(&s, '.', &part))
		if (!str_is_dns_label(part, false))
			return false;
	return true;
}

static bool read_name(const struct decode *d, yyjson_val *val, struct str *ret, const struct decode_spot *s)
{
	if (!yyjson_is_str(val) || !good_name(json_str(val))) {
		problem_error(d->p, spot_path(d, s),
		              "must be the name of an object: lower case letters, digits, '-' and '.'");
		return false;
	}
	*ret = json_str(val);
	return true;
}

static bool read_queue(const struct decode *d, yyjson_val *val, void *base, const struct decode_spot *s)
{
	return read_name(d, val, &((struct policy *)base)->scheduling.queue, s);
}

static bool read_priority_class(const struct decode *d, yyjson_val *val, void *base, const struct decode_spot *s)
{
	return read_name(d, val, &((struct policy *)base)->scheduling.priority_class, s);
}

static bool read_resources(const struct decode *d, yyjson_val *val, void *base, const struct decode_spot *s)
{
	struct policy *policy = base;
	size_t errors = d->p->errors;
	yyjson_obj_iter it;
	yyjson_val *key;
	int64_t milli;

	if (!yyjson_is_obj(val)) {
		problem_error(d->p, spot_path(d, s),
		              "must be a list of resources such as {cpu: 4, memory: 8Gi}, found %s",
		              json_type_name(val));
		return false;
	}
	yyjson_obj_iter_init(val, &it);
	while ((key = yyjson_obj_iter_next(&it))) {
		struct decode_spot here = { s, json_str(key) };

		if (!here.name.n || !quantity_read(yyjson_obj_iter_get_val(key), &milli))
			problem_error(d->p, spot_path(d, &here), "must be a quantity such as 500m, 4 or 8Gi");
	}
	policy->scheduling.min_resources = val;
	return d->p->errors == errors;
}

#define AT(member) .offset = offsetof(struct policy, scheduling.member)
static const struct decode_field fields[] = {
	{ "minAvailable", FIELD_INT32, AT(min_available), .min = 1, .max = JOB_MAX_REPLICAS },
	{ "queue", FIELD_READ, .read = read_queue },
	{ "priorityClass", FIELD_READ, .read = read_priority_class },
	{ "minResources", FIELD_READ, .read = read_resources },
	{ "scheduleTimeoutSeconds", FIELD_INT32, AT(timeout), .min = 1, .max = INT32_MAX },
};
const struct decode_table scheduling_table = TABLE_OF(fields);

void scheduling_check(const struct job *job, struct policy_place at, struct problems *p)
{
	int64_t total = 0;

	for (size_t i = 0; i < job->n_roles; i++)
		total += job->roles[i].aux ? 0 : job->roles[i].count;
	/* A job without replicas is told so elsewhere. */
	if (total && job->scheduling.min_available > total)
		problem_error(p, place_path(at, STR("schedulingPolicy.minAvailable"), p->arena),
		              "must be at most %lld, the number of replicas, found %d", (long long)total,
		              job->scheduling.min_available);
}
