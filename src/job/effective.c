/* Three documents (the user's, the kind's own fields, the kind's defaults) on two levels (job, role)
   become one policy: of each thing, what the nearest one says. */
#include "job/decode.h"

#define PART(member) offsetof(struct policy, member), sizeof(((struct policy *)0)->member)

/* What a bit in `said` stands for. A thing of several parts has several rows, the name in the first. */
static const struct thing {
	unsigned said;
	const char *key;
	size_t offset, size;
} things[] = {
	{ SAID_RESTART_POLICY, "restart.policy", PART(restart.policy) },
	{ SAID_SCOPE, "restart.scope", PART(restart.scope) },
	{ SAID_LIMIT, "restart.limit", PART(restart.limit) },
	{ SAID_WINDOW, "restart.window", PART(restart.window) },
	{ SAID_LIMIT_BY_ROLE, NULL, PART(restart.limit_by_role) },
	{ SAID_BACKOFF_INITIAL, "restart.backoff.initialSeconds", PART(restart.backoff_initial) },
	{ SAID_BACKOFF_MAX, "restart.backoff.maxSeconds", PART(restart.backoff_max) },
	{ SAID_EXIT_CODES, "restart.exitCodes", PART(restart.codes) },
	{ SAID_COMPLETE, "complete", PART(complete) },
	{ SAID_COMPLETE, NULL, PART(role_complete) },
	{ SAID_COMPLETE, NULL, PART(chief_role) },
	{ SAID_COMPLETE, NULL, PART(chief_index) },
	{ SAID_COMPLETE, NULL, PART(at) },
	{ SAID_FAIL, "fail", PART(fail) },
	{ SAID_FAIL, NULL, PART(role_fail) },
	{ SAID_TIME_LIMIT, "timeLimit", PART(time_limit) },
	{ SAID_ACTIVE_DEADLINE, "activeDeadlineSeconds", PART(active_deadline) },
	{ SAID_TTL, "ttlSecondsAfterFinished", PART(ttl) },
	{ SAID_CLEAN, "cleanPods", PART(clean) },
	{ SAID_SUSPEND, "suspend", PART(suspend) },
};

/* Only these a role takes over from its job. */
enum {
	SAID_FOR_ROLES = SAID_RESTART_POLICY | SAID_SCOPE | SAID_LIMIT | SAID_WINDOW | SAID_LIMIT_BY_ROLE |
	                 SAID_BACKOFF_INITIAL | SAID_BACKOFF_MAX | SAID_EXIT_CODES | SAID_OOM_PERMANENT,
};

static const struct policy nothing_said = {
	.restart = { .policy = RESTART_NEVER,
	             .scope = SCOPE_POD,
	             .limit = -1,
	             .window = 3600,
	             .backoff_initial = 10,
	             .backoff_max = 300 },
	.complete = JOB_END_ALL,
	.fail = JOB_END_ANY,
	.role_complete = END_ALL,
	.role_fail = END_ANY,
	.time_limit = -1,
	.active_deadline = -1,
	.ttl = -1,
	.clean = CLEAN_RUNNING,
};

static bool is_job_layer(enum policy_layer l)
{
	return l == LAYER_USER_JOB || l == LAYER_OWN_JOB || l == LAYER_DEFAULT_JOB;
}

static unsigned said_in(const struct policy_layers *layers, enum policy_layer l)
{
	/* For a role; for the job's own policy there are job layers only, with nothing to hide. */
	if (is_job_layer(l) && layers->v[LAYER_USER_ROLE])
		return layers->v[l]->said & SAID_FOR_ROLES;
	return layers->v[l] ? layers->v[l]->said : 0;
}

/* The nearest layer that says any of BITS; LAYER_COUNT if none does. */
static enum policy_layer nearest(const struct policy_layers *layers, unsigned bits)
{
	enum policy_layer l = 0;

	while (l < LAYER_COUNT && !(said_in(layers, l) & bits))
		l++;
	return l;
}

static struct policy resolve(const struct policy_layers *layers)
{
	struct policy ret = nothing_said;

	for (size_t i = 0; i < ARRAY_LEN(things); i++) {
		enum policy_layer l = nearest(layers, things[i].said);

		if (l < LAYER_COUNT) {
			memcpy((char *)&ret + things[i].offset, (const char *)layers->v[l] + things[i].offset,
			       things[i].size);
			ret.said |= things[i].said;
		}
	}
	return ret;
}

static bool by_codes(enum restart_policy p)
{
	return p == RESTART_EXIT_CODE || p == RESTART_ON_NODE_FAIL_WITH_EXIT_CODE;
}

static bool on_node_fail(enum restart_policy p)
{
	return p == RESTART_ALWAYS || p == RESTART_ON_NODE_FAIL || p == RESTART_ON_NODE_FAIL_WITH_EXIT_CODE;
}

static void settle_codes(struct restart *r, const struct policy_layers *layers)
{
	enum policy_layer policy = nearest(layers, SAID_RESTART_POLICY), codes = nearest(layers, SAID_EXIT_CODES),
			  oom = nearest(layers, SAID_OOM_PERMANENT);

	if (codes == LAYER_COUNT && by_codes(r->policy)) {
		r->codes = (struct code_set){ { 0, 0, UINT64_MAX, UINT64_MAX } };
		r->oom_permanent = true;
		return;
	}
	/* Whoever lists codes decides about OOMKilled too: only what stands with the list or nearer holds. */
	r->oom_permanent = oom <= codes && oom < LAYER_COUNT && layers->v[oom]->restart.oom_permanent;
	/* Two of one level fit, or policy_conflicts() has said so; deriving changes nothing then. */
	if (!code_set_empty(&r->codes) && codes < policy)
		r->policy = on_node_fail(r->policy) ? RESTART_ON_NODE_FAIL_WITH_EXIT_CODE : RESTART_EXIT_CODE;
}

static void settle_backoff(struct restart *r, unsigned said)
{
	/* Of two that do not fit together the one that was said counts. */
	if (r->backoff_initial > r->backoff_max) {
		if (said & SAID_BACKOFF_MAX)
			r->backoff_initial = r->backoff_max;
		else
			r->backoff_max = r->backoff_initial;
	}
}

static void warn_role(const struct role *role, const struct policy_layers *layers, struct problems *p)
{
	const struct restart *r = &role->restart;
	enum policy_layer limit = nearest(layers, SAID_LIMIT), policy = nearest(layers, SAID_RESTART_POLICY);

	/* Said for the whole job it may be meant for the other roles. */
	if (limit <= LAYER_OWN_ROLE && r->policy == RESTART_NEVER && r->limit != 0)
		problem_warning(p, place_path(layers->v[limit]->at, STR("restart.limit"), p->arena),
		                "has no effect: the restart policy of role \"%.*s\" is Never", STR_F(role->name));
	if (!by_codes(r->policy) || !code_set_empty(&r->codes))
		return;
	ASSERT(policy < LAYER_COUNT);
	problem_warning(p, place_path(layers->v[policy]->at, STR("restart.policy"), p->arena),
	                "%s without any exit code%s", restart_policy_name(r->policy),
	                r->policy == RESTART_EXIT_CODE ? " never restarts" : " restarts after node failures only");
}

struct restart policy_settle_restart(const struct policy_layers *layers)
{
	struct policy all = resolve(layers);

	settle_codes(&all.restart, layers);
	settle_backoff(&all.restart, all.said);
	return all.restart;
}

void policy_settle_role(struct role *role, const struct policy_layers *layers, struct problems *p)
{
	struct policy all = resolve(layers);

	role->restart = policy_settle_restart(layers);
	role->complete = all.role_complete;
	role->fail = all.role_fail;
	warn_role(role, layers, p);
}

struct str policy_settle_job(struct job *job, const struct policy *user, const struct policy *own,
                             const struct policy *by_default, struct policy_place *ret_at)
{
	struct policy_layers layers = {
		{ [LAYER_USER_JOB] = user, [LAYER_OWN_JOB] = own, [LAYER_DEFAULT_JOB] = by_default }
	};
	struct policy all = resolve(&layers);

	job->complete = all.complete;
	job->fail = all.fail;
	job->chief_index = all.chief_index;
	job->clean = all.clean;
	job->time_limit = all.time_limit;
	job->active_deadline = all.active_deadline;
	job->ttl = all.ttl;
	job->suspend = all.suspend;
	job->scheduling = user->scheduling;
	job->do_not_disrupt = user->do_not_disrupt;
	job->running_deadline = user->running_deadline;
	*ret_at = all.at;
	return all.chief_role;
}

/* A thing as text, so that two can be compared and shown. */
static struct str field_text(const struct policy *p, enum policy_level level, unsigned bit, struct arena *a)
{
	switch ((enum policy_field)bit) {
	case SAID_RESTART_POLICY:
		return str_c(restart_policy_name(p->restart.policy));
	case SAID_SCOPE:
		return str_c(scope_name(p->restart.scope));
	case SAID_LIMIT:
		return arena_printf(a, "%d", p->restart.limit);
	case SAID_WINDOW:
		return arena_printf(a, "%d", p->restart.window);
	case SAID_BACKOFF_INITIAL:
		return arena_printf(a, "%d", p->restart.backoff_initial);
	case SAID_BACKOFF_MAX:
		return arena_printf(a, "%d", p->restart.backoff_max);
	case SAID_EXIT_CODES:
		return code_set_format(&p->restart.codes, a);
	case SAID_COMPLETE:
		if (level == POLICY_ROLE)
			return str_c(role_end_name(p->role_complete));
		if (p->complete == JOB_END_CHIEF)
			return arena_printf(a, "{role: %.*s, index: %d}", STR_F(text_shown(p->chief_role, a)),
			                    p->chief_index);
		return str_c(job_end_name(p->complete));
	case SAID_FAIL:
		return str_c(level == POLICY_ROLE ? role_end_name(p->role_fail) : job_end_name(p->fail));
	case SAID_TIME_LIMIT:
		return arena_printf(a, "%lld", (long long)p->time_limit);
	case SAID_ACTIVE_DEADLINE:
		return arena_printf(a, "%lld", (long long)p->active_deadline);
	case SAID_TTL:
		return arena_printf(a, "%lld", (long long)p->ttl);
	case SAID_CLEAN:
		return str_c(clean_name(p->clean));
	case SAID_SUSPEND:
		return p->suspend ? STR("true") : STR("false");
	case SAID_LIMIT_BY_ROLE:
	case SAID_OOM_PERMANENT:
		break;
	}
	BUG("policy field %u", bit);
}

/* Codes beside a policy that does not look at them. */
static void check_codes(const struct policy *user, const struct policy *own, struct problems *p)
{
	const struct policy *codes = user->said & SAID_EXIT_CODES ? user : own,
			    *policy = user->said & SAID_RESTART_POLICY ? user : own;

	if (!(codes->said & SAID_EXIT_CODES) || code_set_empty(&codes->restart.codes) ||
	    !(policy->said & SAID_RESTART_POLICY) || by_codes(policy->restart.policy))
		return;
	problem_error(p, place_path(codes->at, STR("restart.exitCodes"), p->arena),
	              "has no effect while %.*s is %s; set that to ExitCode or OnNodeFailWithExitCode, or remove one "
	              "of them",
	              STR_F(place_path(policy->at, STR("restart.policy"), p->arena)),
	              restart_policy_name(policy->restart.policy));
}

static void check_backoff(const struct policy *doc, struct problems *p)
{
	if ((doc->said & SAID_BACKOFF_INITIAL) && (doc->said & SAID_BACKOFF_MAX) &&
	    doc->restart.backoff_initial > doc->restart.backoff_max)
		problem_error(p, place_path(doc->at, STR("restart.backoff"), p->arena),
		              "initialSeconds %d is more than maxSeconds %d", doc->restart.backoff_initial,
		              doc->restart.backoff_max);
}

void policy_conflicts(const struct policy *user, const struct policy *own, enum policy_level level, struct problems *p)
{
	struct arena *a = p->arena;

	for (size_t i = 0; i < ARRAY_LEN(things); i++) {
		const struct thing *t = &things[i];
		struct str one, other;

		if (!t->key || !(user->said & own->said & t->said))
			continue;
		one = field_text(user, level, t->said, a);
		other = field_text(own, level, t->said, a);
		if (!str_eq_nocase(one, other))
			problem_error(p, place_path(user->at, str_c(t->key), a),
			              "is %.*s, but %.*s is %.*s; set only one of them", STR_F(one),
			              STR_F(place_path(own->at, str_c(t->key), a)), STR_F(other));
	}
	check_codes(user, own, p);
	check_backoff(user, p);
	check_backoff(own, p);
}
