#include "job/record.h"

static const char *const phase_names[PHASE_COUNT] = {
	[PHASE_NONE] = "",
	[PHASE_INVALID] = "Invalid",
	[PHASE_PENDING] = "Pending",
	[PHASE_CREATING] = "Creating",
	[PHASE_RUNNING] = "Running",
	[PHASE_RESTARTING] = "Restarting",
	[PHASE_SUSPENDED] = "Suspended",
	[PHASE_TERMINATING] = "Terminating",
	[PHASE_SUCCEEDED] = "Succeeded",
	[PHASE_FAILED] = "Failed",
	[PHASE_TIMED_OUT] = "TimedOut",
	[PHASE_PREEMPTED] = "Preempted",
	[PHASE_NODE_FAILED] = "NodeFailed",
	[PHASE_OTHER] = "Other",
};

static const char *const cause_names[CAUSE_COUNT] = {
	[CAUSE_FAILED] = "Failed",       [CAUSE_OOM_KILLED] = "OOMKilled",
	[CAUSE_NODE_FAIL] = "NodeFail",  [CAUSE_CREATE_FAILED] = "CreateFailed",
	[CAUSE_DISRUPTED] = "Disrupted", [CAUSE_DELETED] = "Deleted",
	[CAUSE_RESIZED] = "Resized",     [CAUSE_SUSPENDED] = "Suspended",
};

static const char *const condition_names[CONDITION_COUNT] = {
	[CONDITION_RUNNING] = "Running",
	[CONDITION_SUSPENDED] = "Suspended",
	[CONDITION_COMPLETE] = "Complete",
	[CONDITION_FAILED] = "Failed",
	[CONDITION_SUCCESS_CRITERIA_MET] = "SuccessCriteriaMet",
	[CONDITION_FAILURE_TARGET] = "FailureTarget",
};

const char *phase_name(enum phase p)
{
	return phase_names[p];
}

enum phase phase_parse(struct str s)
{
	for (size_t i = 1; i < PHASE_COUNT; i++)
		if (str_eqc(s, phase_names[i]))
			return (enum phase)i;
	return PHASE_NONE;
}

const char *cause_name(enum cause c)
{
	return cause_names[c];
}

bool cause_parse(struct str s, enum cause *ret)
{
	for (size_t i = 0; i < CAUSE_COUNT; i++) {
		if (str_eqc(s, cause_names[i])) {
			*ret = (enum cause)i;
			return true;
		}
	}
	return false;
}

const char *condition_name(enum condition c)
{
	return condition_names[c];
}

static const struct {
	const char *key;
	size_t offset;
} count_fields[] = {
	{ "pending", offsetof(struct role_counts, pending) },
	{ "scheduled", offsetof(struct role_counts, scheduled) },
	{ "active", offsetof(struct role_counts, active) },
	{ "succeeded", offsetof(struct role_counts, succeeded) },
	{ "failed", offsetof(struct role_counts, failed) },
	{ "restarting", offsetof(struct role_counts, restarting) },
	{ "ready", offsetof(struct role_counts, ready) },
};

int32_t *counts_at(struct role_counts *c, size_t i)
{
	return (int32_t *)(void *)((char *)c + count_fields[i].offset);
}

const char *counts_name(size_t i)
{
	return count_fields[i].key;
}

static void copy_role(struct record_role *role, struct arena *a)
{
	role->completed = ranges_copy(&role->completed, a);
	role->failed = ranges_copy(&role->failed, a);
	role->seen = ranges_copy(&role->seen, a);
	role->ran = ranges_copy(&role->ran, a);
	role->cap_indexes = role->n_indexes;
	if (role->n_indexes) {
		struct index_level *v = arena_raw(a, role->n_indexes * sizeof(*v));

		memcpy(v, role->indexes, role->n_indexes * sizeof(*v));
		role->indexes = v;
	}
}

struct record *record_copy(const struct record *r, struct arena *a)
{
	struct record *c = arena_raw(a, sizeof(*c));

	*c = *r;
	c->roles = arena_raw(a, r->n_roles * sizeof(*r->roles));
	for (size_t i = 0; i < r->n_roles; i++) {
		c->roles[i] = r->roles[i];
		copy_role(&c->roles[i], a);
	}
	return c;
}

struct record_role *record_role_of(const struct record *r, struct str name)
{
	for (size_t i = 0; i < r->n_roles; i++)
		if (str_eq(r->roles[i].name, name))
			return &r->roles[i];
	return NULL;
}

/* Where INDEX stands in the sparse list, or would stand. */
static size_t index_place(const struct record_role *role, int32_t index)
{
	size_t lo = 0, hi = role->n_indexes;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (role->indexes[mid].index < index)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

const struct restart_level *record_index_level(const struct record_role *role, int32_t index)
{
	size_t i = index_place(role, index);

	return i < role->n_indexes && role->indexes[i].index == index ? &role->indexes[i].level : NULL;
}

struct restart_level *record_index_make(struct record_role *role, struct arena *a, int32_t index)
{
	size_t i = index_place(role, index);

	if (i < role->n_indexes && role->indexes[i].index == index)
		return &role->indexes[i].level;
	vec_room(a, (void **)&role->indexes, &role->cap_indexes, role->n_indexes, sizeof(*role->indexes));
	memmove(&role->indexes[i + 1], &role->indexes[i], (role->n_indexes - i) * sizeof(*role->indexes));
	role->n_indexes++;
	role->indexes[i] = (struct index_level){ index, { 0 } };
	return &role->indexes[i].level;
}

int64_t record_generation(const struct record *r, const struct role *role, const struct record_role *rr, int32_t index)
{
	const struct restart_level *own = rr->n_indexes ? record_index_level(rr, index) : NULL;
	/* What does not count does not restart with the job either. */
	int64_t job = role->aux ? 0 : r->level.generation;

	return job + rr->level.generation + (own ? own->generation : 0);
}

/* How often the job's generation was raised by an edit or a suspension. A role that came later has seen fewer. */
static int64_t count_edits(const struct record *r)
{
	int64_t most = 0;

	for (size_t i = 0; i < r->n_roles; i++)
		most = MAX(most, (int64_t)r->roles[i].restarts[CAUSE_RESIZED] + r->roles[i].restarts[CAUSE_SUSPENDED]);
	return most;
}

int64_t record_replica_restarts(const struct record *r, const struct role *role, const struct record_role *rr,
                                int32_t index)
{
	const struct restart_level *own = rr->n_indexes ? record_index_level(rr, index) : NULL;
	int64_t others = (own ? own->before : 0) + (role->aux ? 0 : count_edits(r));

	return MAX(record_generation(r, role, rr, index) - others, (int64_t)0);
}

int32_t record_role_restarts(const struct record_role *role)
{
	int64_t n = role->other_restarts;

	for (size_t i = 0; i < CAUSE_RESIZED; i++)
		n += role->restarts[i];
	return (int32_t)MIN(n, (int64_t)INT32_MAX);
}

static bool same_level(const struct restart_level *a, const struct restart_level *b)
{
	return a->generation == b->generation && a->streak == b->streak && a->at == b->at && a->counted == b->counted &&
	       a->barren == b->barren && a->before == b->before && a->exit_code == b->exit_code;
}

static bool same_indexes(const struct record_role *a, const struct record_role *b)
{
	if (a->n_indexes != b->n_indexes)
		return false;
	for (size_t i = 0; i < a->n_indexes; i++)
		if (a->indexes[i].index != b->indexes[i].index ||
		    !same_level(&a->indexes[i].level, &b->indexes[i].level))
			return false;
	return true;
}

static bool same_limit(const struct limit_view *a, const struct limit_view *b)
{
	return a->shown == b->shown && a->of == b->of && a->counted == b->counted && a->by == b->by &&
	       a->window == b->window;
}

static enum change compare_role(const struct record_role *a, const struct record_role *b)
{
	if (!str_eq(a->name, b->name) || a->count != b->count || !same_level(&a->level, &b->level) ||
	    (b->drain && !a->drain) || a->counted_ever != b->counted_ever ||
	    memcmp(a->restarts, b->restarts, sizeof(a->restarts)) != 0 || !ranges_eq(&a->completed, &b->completed) ||
	    !ranges_eq(&a->failed, &b->failed) || !same_indexes(a, b))
		return CHANGE_DURABLE;
	if (a->drain != b->drain || a->accepted != b->accepted || !same_limit(&a->limit, &b->limit) ||
	    !ranges_eq(&a->seen, &b->seen) || !ranges_eq(&a->ran, &b->ran) ||
	    memcmp(&a->now, &b->now, sizeof(a->now)) != 0)
		return CHANGE_OBSERVED;
	return CHANGE_NONE;
}

/* Has anything changed that must not be lost, or that a deletion or creation is based on? */
static bool durable(const struct record *a, const struct record *b)
{
	return a->outcome != b->outcome || !str_eq(a->why, b->why) || !same_level(&a->level, &b->level) ||
	       (b->drain && !a->drain) || a->suspended != b->suspended || a->restarts != b->restarts;
}

static bool observed(const struct record *a, const struct record *b)
{
	if (a->observed_generation != b->observed_generation || a->phase != b->phase || !str_eq(a->reason, b->reason) ||
	    a->start != b->start || a->running != b->running || a->end != b->end || a->first_pod != b->first_pod ||
	    a->creating_since != b->creating_since || a->drain != b->drain || a->restarting != b->restarting ||
	    a->begun != b->begun || a->last.at != b->last.at || a->n_history != b->n_history)
		return true;
	for (size_t i = 0; i < COMPANION_COUNT; i++)
		if (!str_eq(a->addresses[i], b->addresses[i]))
			return true;
	for (size_t i = 0; i < a->n_history; i++)
		if (a->history[i].phase != b->history[i].phase || a->history[i].entered != b->history[i].entered ||
		    a->history[i].left != b->history[i].left)
			return true;
	for (size_t i = 0; i < CONDITION_COUNT; i++)
		if (a->conditions[i].set != b->conditions[i].set ||
		    a->conditions[i].status != b->conditions[i].status ||
		    a->conditions[i].since != b->conditions[i].since)
			return true;
	return false;
}

enum change record_compare(const struct record *before, const struct record *after)
{
	enum change c = CHANGE_NONE;

	if (before->n_roles != after->n_roles || durable(before, after))
		return CHANGE_DURABLE;
	for (size_t i = 0; i < before->n_roles && c != CHANGE_DURABLE; i++)
		c = MAX(c, compare_role(&before->roles[i], &after->roles[i]));
	return c == CHANGE_NONE && observed(before, after) ? CHANGE_OBSERVED : c;
}

void record_note_restart(struct record *r, struct restart_note note)
{
	if (r->last.at) {
		r->n_earlier = MIN(r->n_earlier + 1, ARRAY_LEN(r->earlier));
		memmove(&r->earlier[1], &r->earlier[0], (r->n_earlier - 1) * sizeof(r->earlier[0]));
		r->earlier[0] = r->last;
	}
	r->last = note;
}

const struct restart_note *record_restart(const struct record *r, size_t i)
{
	if (i == 0)
		return r->last.at ? &r->last : NULL;
	return i <= r->n_earlier ? &r->earlier[i - 1] : NULL;
}

void record_shorten(struct record *r)
{
	r->n_earlier = 0;
	for (size_t i = 0; i < r->n_roles; i++) {
		struct record_role *role = &r->roles[i];
		size_t n = 0;

		role->ran.n = 0;
		for (size_t k = 0; k < role->n_indexes; k++) {
			struct restart_level *l = &role->indexes[k].level;

			*l = (struct restart_level){ .generation = l->generation, .counted = l->counted };
			if (l->generation || l->counted)
				role->indexes[n++] = role->indexes[k];
		}
		role->n_indexes = n;
	}
}

struct record *record_adopt(struct arena *a, enum phase final, struct str reason, yyjson_val *restarts)
{
	struct record *r = arena_new(a, struct record);
	yyjson_obj_iter it = yyjson_obj_iter_with(restarts);
	yyjson_val *key;

	r->version = RECORD_VERSION;
	r->outcome = final;
	r->phase = final;
	r->why = final ? STR("Adopted") : STR_NONE;
	r->reason = arena_str(a, reason);
	r->roles = arena_array(a, struct record_role, MIN(yyjson_obj_size(restarts), (size_t)JOB_MAX_ROLES));
	while (r->n_roles < JOB_MAX_ROLES && (key = yyjson_obj_iter_next(&it))) {
		struct record_role *role = &r->roles[r->n_roles];
		int64_t n;

		if (!json_int(yyjson_obj_iter_get_val(key), &n) || n < 0 || n > INT32_MAX)
			continue;
		role->name = arena_str(a, json_str(key));
		role->count = -1;
		role->counted_ever = role->restarts[CAUSE_FAILED] = (int32_t)n;
		role->level.counted = role->counted_ever;
		r->n_roles++;
	}
	return r;
}
