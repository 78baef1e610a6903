#include "base/json.h"
#include "job/decode.h"

/* Seconds: 68 years, so that milliseconds since the epoch plus any of them stay far from overflow. */
enum { SECONDS_MAX = INT32_MAX, LIMIT_MAX = 1000000, BACKOFF_MAX = 1000000 };

_Static_assert(offsetof(struct policy, said) == 0, "decode_object() sets the bits through a pointer to the structure");

static bool read_codes(const struct decode *d, yyjson_val *val, void *base, const struct decode_spot *s)
{
	struct policy *policy = base;
	struct str path = spot_path(d, s);

	/* Lua cannot tell an empty list from an empty object. */
	if (d->by_kind && yyjson_is_obj(val) && yyjson_obj_size(val) == 0)
		return true;
	if (!code_set_read(&policy->restart.codes, val, path, d->p))
		return false;
	if (!d->by_kind && code_set_empty(&policy->restart.codes)) {
		problem_error(d->p, path, "is empty; leave it out, or set restart.policy: Never");
		return false;
	}
	return true;
}

struct chief {
	unsigned said;
	struct str role;
	int32_t index;
};

static const struct decode_field chief_fields[] = {
	{ .name = "role", .type = FIELD_STR, .offset = offsetof(struct chief, role) },
	{ .name = "index", .type = FIELD_INT32, .offset = offsetof(struct chief, index), .max = INT32_MAX },
};
static const struct decode_table chief_table = TABLE_OF(chief_fields);

static bool read_job_complete(const struct decode *d, yyjson_val *val, void *base, const struct decode_spot *s)
{
	struct policy *policy = base;
	struct chief chief = { 0 };
	size_t errors = d->p->errors;
	unsigned end;

	if (yyjson_is_str(val)) {
		if (!decode_enum(d, val, &job_end_names, &end, s))
			return false;
		policy->complete = (enum job_end)end;
		return true;
	}
	if (!yyjson_is_obj(val)) {
		problem_error(d->p, spot_path(d, s), "must be Any, All or a chief {role, index}, found %s",
		              json_type_name(val));
		return false;
	}
	decode_object(d, &chief_table, val, &chief, s);
	if (d->p->errors > errors)
		return false;
	if (!chief.role.n) {
		problem_error(d->p, spot_path(d, s), "a chief needs the name of a role: {role, index}");
		return false;
	}
	policy->complete = JOB_END_CHIEF;
	policy->chief_role = chief.role;
	policy->chief_index = chief.index;
	return true;
}

#define AT(member) .offset = offsetof(struct policy, member)
#define TIME_FROM(least) .type = FIELD_INT64, .min = (least), .max = SECONDS_MAX

static const struct decode_field backoff_fields[] = {
	{ "initialSeconds", FIELD_INT32, AT(restart.backoff_initial), .said = SAID_BACKOFF_INITIAL,
	  .max = BACKOFF_MAX },
	{ "maxSeconds", FIELD_INT32, AT(restart.backoff_max), .said = SAID_BACKOFF_MAX, .max = BACKOFF_MAX },
};
static const struct decode_table backoff_table = TABLE_OF(backoff_fields);

static const struct decode_field restart_fields[] = {
	{ "policy", FIELD_ENUM, AT(restart.policy), .said = SAID_RESTART_POLICY, .names = &restart_policy_names },
	{ "scope", FIELD_ENUM, AT(restart.scope), .said = SAID_SCOPE, .names = &scope_names },
	{ "limit", FIELD_INT32, AT(restart.limit), .said = SAID_LIMIT, .min = -1, .max = LIMIT_MAX },
	{ "window", FIELD_INT32, AT(restart.window), .said = SAID_WINDOW, .max = SECONDS_MAX },
	{ "backoff", FIELD_TABLE, .table = &backoff_table },
	{ "exitCodes", FIELD_READ, .said = SAID_EXIT_CODES, .read = read_codes },
	{ "oomPermanent", FIELD_BOOL, FIELD_OF_KINDS, AT(restart.oom_permanent), .said = SAID_OOM_PERMANENT },
	{ "limitByRole", FIELD_BOOL, FIELD_OF_KINDS, AT(restart.limit_by_role), .said = SAID_LIMIT_BY_ROLE },
};
static const struct decode_table restart_table = TABLE_OF(restart_fields);

static const struct decode_field role_fields[] = {
	{ "restart", FIELD_TABLE, .table = &restart_table },
	{ "complete", FIELD_ENUM, AT(role_complete), .said = SAID_COMPLETE, .names = &role_end_names },
	{ "fail", FIELD_ENUM, AT(role_fail), .said = SAID_FAIL, .names = &role_end_names },
};

static const struct decode_field job_fields[] = {
	{ "restart", FIELD_TABLE, .table = &restart_table },
	{ "complete", FIELD_READ, .said = SAID_COMPLETE, .read = read_job_complete },
	{ "fail", FIELD_ENUM, AT(fail), .said = SAID_FAIL, .names = &job_end_names },
	{ "timeLimit", TIME_FROM(1), AT(time_limit), .said = SAID_TIME_LIMIT },
	{ "activeDeadlineSeconds", TIME_FROM(1), AT(active_deadline), .said = SAID_ACTIVE_DEADLINE },
	{ "ttlSecondsAfterFinished", TIME_FROM(0), AT(ttl), .said = SAID_TTL },
	{ "cleanPods", FIELD_ENUM, AT(clean), .said = SAID_CLEAN, .names = &clean_names },
	{ "suspend", FIELD_BOOL, AT(suspend), .said = SAID_SUSPEND },
	{ "doNotDisrupt", FIELD_BOOL, FIELD_OF_USERS, AT(do_not_disrupt) },
	{ "runningDeadlineSeconds", .who = FIELD_OF_USERS, TIME_FROM(1), AT(running_deadline) },
	{ "startAfter", FIELD_VAL, FIELD_OF_USERS, AT(start_after) },
	{ "schedulingPolicy", FIELD_TABLE, FIELD_OF_USERS, .table = &scheduling_table },
	{ "tensorboard", FIELD_READ, .read = companion_read },
	{ "roles", FIELD_VAL, FIELD_OF_USERS, AT(roles) },
};

const struct decode_table policy_tables[] = {
	[POLICY_JOB] = TABLE_OF(job_fields),
	[POLICY_ROLE] = TABLE_OF(role_fields),
};

void policy_read(struct policy *ret, yyjson_val *doc, struct policy_place at, enum policy_level level,
                 enum policy_source source, struct problems *p)
{
	struct decode d = { p, at, source != POLICY_USER, source == POLICY_DEFAULT };

	*ret = (struct policy){ .at = at,
		                .running_deadline = -1,
		                .scheduling = { .min_available = -1, .timeout = -1 } };
	if (doc && !yyjson_is_null(doc))
		decode_object(&d, &policy_tables[level], doc, ret, NULL);
}
