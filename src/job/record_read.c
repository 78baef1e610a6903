/* The record from JSON. What a later version wrote is kept by the server (a merge patch does not mention it) and
   ignored here; what makes no sense is an error, never a guess. */
#include "job/record.h"

/* One bad field makes the whole record unreadable: to guess could repeat or lose a restart. */
struct record_reader {
	struct arena *a;
	const char *bad; /* the first field that made no sense */
	size_t room;     /* for levels of single replicas */
};

static void bad(struct record_reader *in, const char *key)
{
	if (!in->bad)
		in->bad = key;
}

static int64_t get_int(struct record_reader *in, yyjson_val *obj, const char *key, int64_t least, int64_t most,
                       int64_t absent)
{
	yyjson_val *v = json_get(obj, key);
	int64_t n;

	if (!v || yyjson_is_null(v))
		return absent;
	if (!json_int(v, &n) || n < least || n > most) {
		bad(in, key);
		return absent;
	}
	return n;
}

static int32_t get_count(struct record_reader *in, yyjson_val *obj, const char *key)
{
	return (int32_t)get_int(in, obj, key, 0, INT32_MAX, 0);
}

static msec get_time(struct record_reader *in, yyjson_val *obj, const char *key)
{
	yyjson_val *v = json_get(obj, key);
	msec t = 0;

	if (v && !yyjson_is_null(v) && !time_parse(json_str(v), &t))
		bad(in, key);
	return t;
}

static struct str get_text(struct record_reader *in, yyjson_val *obj, const char *key)
{
	return arena_str(in->a, json_str(json_get(obj, key)));
}

/* A word that only a later version knows: as if there were none. */
static enum phase get_phase(yyjson_val *obj, const char *key)
{
	enum phase p = phase_parse(json_str(json_get(obj, key)));

	return p == PHASE_OTHER ? PHASE_NONE : p;
}

/* … but an end is an end: the job must not run again. */
static void get_outcome(struct record_reader *in, yyjson_val *obj, struct record *r)
{
	struct str s = json_str(json_get(obj, "outcome"));

	r->outcome = get_phase(obj, "outcome");
	if (r->outcome != PHASE_NONE && !phase_final(r->outcome))
		bad(in, "outcome");
	if (s.n && r->outcome == PHASE_NONE) {
		r->outcome = PHASE_OTHER;
		r->outcome_text = arena_str(in->a, s);
	}
}

static void get_ranges(struct record_reader *in, yyjson_val *obj, const char *key, struct ranges *ret)
{
	if (!ranges_parse(ret, in->a, json_str(json_get(obj, key)), JOB_MAX_REPLICAS))
		bad(in, key);
}

static struct restart_level get_level(struct record_reader *in, yyjson_val *obj)
{
	return (struct restart_level){
		.generation = get_int(in, obj, "generation", 0, INT64_MAX / 4, 0),
		.streak = get_count(in, obj, "streak"),
		.at = get_time(in, obj, "restartedAt"),
		.counted = get_count(in, obj, "limitCount"),
		.barren = get_count(in, obj, "barren"),
	};
}

static void read_causes(struct record_reader *in, yyjson_val *obj, struct record_role *role)
{
	yyjson_obj_iter it = yyjson_obj_iter_with(obj);
	yyjson_val *key;
	enum cause known;
	int64_t n;

	for (size_t i = 0; i < CAUSE_COUNT; i++)
		role->restarts[i] = get_count(in, obj, cause_name((enum cause)i));
	while ((key = yyjson_obj_iter_next(&it)))
		if (!cause_parse(json_str(key), &known) && json_int(yyjson_obj_iter_get_val(key), &n) && n > 0)
			role->other_restarts += (int32_t)MIN(n, (int64_t)(INT32_MAX - role->other_restarts));
}

static enum scope get_scope(yyjson_val *obj, const char *key)
{
	struct str text = json_str(json_get(obj, key));

	for (int s = SCOPE_POD; s <= SCOPE_JOB; s++)
		if (str_eqc(text, scope_name((enum scope)s)))
			return (enum scope)s;
	return SCOPE_POD;
}

/* Before there were windows the limit saw all restarts of the role, and nobody noted that a pod was taken. */
static void read_what_is_new(struct record_reader *in, yyjson_val *obj, struct record_role *role)
{
	yyjson_val *limit = json_get(obj, "limit");

	role->limit =
		(struct limit_view){ yyjson_is_obj(limit), get_count(in, limit, "of"), get_count(in, limit, "counted"),
		                     get_scope(limit, "by"), get_count(in, limit, "window") };
	role->accepted = yyjson_is_true(json_get(obj, "accepted")) || role->seen.n || role->ran.n ||
	                 role->completed.n || role->failed.n;
	if (!json_get(obj, "limitCount")) {
		role->level.counted = role->counted_ever;
		/* Where this was noted, restarts tell nothing: those of the whole job are in each of its roles. */
		role->accepted |= record_role_restarts(role) > 0;
	}
}

static void read_role(struct record_reader *in, struct str name, yyjson_val *obj, struct record_role *role)
{
	yyjson_val *pods = json_get(obj, "pods");

	role->name = arena_str(in->a, name);
	role->count = (int32_t)get_int(in, obj, "count", 0, JOB_MAX_REPLICAS, -1);
	role->level = get_level(in, obj);
	role->drain = yyjson_is_true(json_get(obj, "drain"));
	read_causes(in, json_get(obj, "restarts"), role);
	role->counted_ever = get_count(in, obj, "counted");
	get_ranges(in, obj, "completed", &role->completed);
	get_ranges(in, obj, "failed", &role->failed);
	get_ranges(in, obj, "seen", &role->seen);
	get_ranges(in, obj, "ran", &role->ran);
	if (!record_index_read(role, json_get(obj, "byIndex"), json_get(obj, "indexes"), &in->room, in->a))
		bad(in, "byIndex");
	read_what_is_new(in, obj, role);
	for (size_t i = 0; i < ROLE_COUNTS; i++)
		*counts_at(&role->now, i) = get_count(in, pods, counts_name(i));
}

static void read_roles(struct record_reader *in, yyjson_val *obj, struct record *r)
{
	size_t n = yyjson_obj_size(obj);
	yyjson_obj_iter it = yyjson_obj_iter_with(obj);
	yyjson_val *key;

	if (n > JOB_MAX_ROLES) {
		bad(in, "roles");
		return;
	}
	r->roles = arena_array(in->a, struct record_role, n);
	while ((key = yyjson_obj_iter_next(&it)))
		read_role(in, json_str(key), yyjson_obj_iter_get_val(key), &r->roles[r->n_roles++]);
}

static void read_note(struct record_reader *in, yyjson_val *obj, struct restart_note *last)
{
	last->at = get_time(in, obj, "time");
	last->role = get_text(in, obj, "role");
	last->index = get_count(in, obj, "index");
	last->exit_code = (int32_t)get_int(in, obj, "exitCode", 0, INT32_MAX, -1);
	last->detail = get_text(in, obj, "detail");
	last->node = get_text(in, obj, "node");
	last->ran = SECONDS(get_count(in, obj, "ranSeconds"));
	last->scope = get_scope(obj, "scope");
	/* Of a cause that only a later version knows there is nothing to tell. */
	if (!cause_parse(json_str(json_get(obj, "cause")), &last->cause))
		*last = (struct restart_note){ .exit_code = -1 };
}

/* The first of them is the last restart, unless an earlier version wrote that one: it leaves the list as it was. */
static void read_notes(struct record_reader *in, yyjson_val *list, struct record *r)
{
	yyjson_arr_iter it = yyjson_arr_iter_with(list);
	yyjson_val *one;

	while ((one = yyjson_arr_iter_next(&it)) && r->n_earlier < ARRAY_LEN(r->earlier)) {
		struct restart_note *note = &r->earlier[r->n_earlier];
		bool first = yyjson_arr_get_first(list) == one;

		read_note(in, one, note);
		if (note->at && !(first && note->at == r->last.at))
			r->n_earlier++;
	}
}

/* Does it stand in the phase of an end that only a later version knows? */
static bool is_outcome(const struct record *r, yyjson_val *obj)
{
	return r->outcome == PHASE_OTHER && str_eq(json_str(json_get(obj, "phase")), r->outcome_text);
}

static void read_history(struct record_reader *in, yyjson_val *list, struct record *r)
{
	yyjson_arr_iter it = yyjson_arr_iter_with(list);
	yyjson_val *one;

	while ((one = yyjson_arr_iter_next(&it))) {
		enum phase p = get_phase(one, "phase");

		if (p == PHASE_NONE && is_outcome(r, one))
			p = PHASE_OTHER;
		if (r->n_history == PHASE_COUNT || !json_str(json_get(one, "phase")).n) {
			bad(in, "history");
			return;
		}
		if (p == PHASE_NONE)
			continue;
		r->history[r->n_history++] =
			(struct phase_span){ p, get_time(in, one, "entered"), get_time(in, one, "left") };
	}
}

static void read_conditions(struct record_reader *in, yyjson_val *obj, struct record *r)
{
	for (size_t i = 0; i < CONDITION_COUNT; i++) {
		yyjson_val *one = json_get(obj, condition_name((enum condition)i));

		if (one)
			r->conditions[i] = (struct condition_state){ true, yyjson_is_true(json_get(one, "status")),
				                                     get_time(in, one, "since") };
	}
}

/* Whoever did not write it down wrote that. */
static bool has_begun(const struct record *r)
{
	for (size_t i = 0; i < r->n_history; i++)
		if (r->history[i].phase == PHASE_RUNNING)
			return true;
	return r->running != 0;
}

static void read_fields(struct record_reader *in, yyjson_val *val, struct record *r)
{
	r->observed_generation = get_int(in, val, "observedGeneration", 0, INT64_MAX, 0);
	r->phase = get_phase(val, "phase");
	r->reason = get_text(in, val, "reason");
	r->restarts = get_count(in, val, "restarts");
	get_outcome(in, val, r);
	if (is_outcome(r, val))
		r->phase = PHASE_OTHER;
	r->why = get_text(in, val, "why");
	r->start = get_time(in, val, "startTime");
	r->running = get_time(in, val, "runningTime");
	r->end = get_time(in, val, "endTime");
	r->first_pod = get_time(in, val, "firstPodTime");
	r->creating_since = get_time(in, val, "creatingSince");
	r->level = get_level(in, val);
	r->drain = yyjson_is_true(json_get(val, "drain"));
	r->restarting = yyjson_is_true(json_get(val, "restarting"));
	r->suspended = yyjson_is_true(json_get(val, "suspended"));
	read_note(in, json_get(val, "lastRestart"), &r->last);
	read_notes(in, json_get(val, "restartHistory"), r);
	for (enum companion_id i = 0; i < COMPANION_COUNT; i++)
		r->addresses[i] = get_text(in, val, companion_type(i)->name);
	read_history(in, json_get(val, "history"), r);
	read_conditions(in, json_get(val, "conditions"), r);
	read_roles(in, json_get(val, "roles"), r);
	r->begun = yyjson_is_true(json_get(val, "begun")) || has_begun(r);
	for (size_t i = 0; i < r->n_roles && !json_get(val, "limitCount"); i++)
		r->level.counted = MAX(r->level.counted, r->roles[i].counted_ever);
}

struct record *record_read(yyjson_val *val, struct arena *a, struct err *e)
{
	struct record_reader in = { a, NULL, RECORD_MAX_INDEXES };
	struct record *r;
	int64_t version;

	if (!val || yyjson_is_null(val))
		return NULL;
	if (!json_int(json_get(val, "version"), &version) || version < 1) {
		err_set(e, ERR_INVALID, "status.dlOperator has no version");
		return NULL;
	}
	if (version > RECORD_VERSION) {
		err_set(e, ERR_INVALID,
		        "status.dlOperator has version %lld, this operator knows %d: a newer one must serve this job",
		        (long long)version, RECORD_VERSION);
		return NULL;
	}
	r = arena_new(a, struct record);
	r->version = (int32_t)version;
	read_fields(&in, val, r);
	if (in.bad) {
		err_set(e, ERR_INVALID, "status.dlOperator: %s is not valid", in.bad);
		return NULL;
	}
	return r;
}
