/* The record as JSON, and back. What a later version wrote is kept by the server (a merge patch does
   not mention it) and ignored here; what makes no sense is an error, never a guess. */
#include "job/record.h"

static yyjson_mut_val *put_value(yyjson_mut_doc *doc, yyjson_mut_val *obj, const char *key, yyjson_mut_val *val)
{
	yyjson_mut_obj_add(obj, yyjson_mut_str(doc, key), val ? val : yyjson_mut_null(doc));
	return val;
}

static void put_string(yyjson_mut_doc *doc, yyjson_mut_val *obj, const char *key, struct str s)
{
	put_value(doc, obj, key, s.n ? json_mut_str(doc, s) : NULL);
}

static void put_int(yyjson_mut_doc *doc, yyjson_mut_val *obj, const char *key, int64_t v)
{
	put_value(doc, obj, key, v ? yyjson_mut_sint(doc, v) : NULL);
}

static void put_flag(yyjson_mut_doc *doc, yyjson_mut_val *obj, const char *key, bool v)
{
	put_value(doc, obj, key, v ? yyjson_mut_true(doc) : NULL);
}

static void put_time(yyjson_mut_doc *doc, yyjson_mut_val *obj, const char *key, msec t)
{
	char text[TIME_TEXT];

	put_value(doc, obj, key, t ? yyjson_mut_strcpy(doc, time_format(t, text)) : NULL);
}

static void put_ranges(yyjson_mut_doc *doc, yyjson_mut_val *obj, const char *key, const struct ranges *r)
{
	struct arena a = ARENA_INIT;

	put_string(doc, obj, key, ranges_format(r, &a));
	arena_release(&a);
}

static void put_level(yyjson_mut_doc *doc, yyjson_mut_val *obj, const struct level *l)
{
	put_int(doc, obj, "generation", l->generation);
	put_int(doc, obj, "streak", l->streak);
	put_time(doc, obj, "restartedAt", l->at);
	/* 0 too: where there is none, an operator wrote that knew no windows. */
	put_value(doc, obj, "limitCount", yyjson_mut_int(doc, l->counted));
	put_int(doc, obj, "barren", l->barren);
}

static const struct {
	const char *key;
	size_t offset;
} count_fields[] = {
	{ "pending", offsetof(struct counts, pending) }, { "scheduled", offsetof(struct counts, scheduled) },
	{ "active", offsetof(struct counts, active) },   { "succeeded", offsetof(struct counts, succeeded) },
	{ "failed", offsetof(struct counts, failed) },   { "restarting", offsetof(struct counts, restarting) },
	{ "ready", offsetof(struct counts, ready) },
};

static int32_t *count_at(struct counts *c, size_t i)
{
	return (int32_t *)(void *)((char *)c + count_fields[i].offset);
}

/* Objects whose keys are names and not fields: only what is there is written, the rest goes. */
static yyjson_mut_val *write_counts(yyjson_mut_doc *doc, struct counts c)
{
	yyjson_mut_val *obj = yyjson_mut_obj(doc);

	for (size_t i = 0; i < ARRAY_LEN(count_fields); i++)
		if (*count_at(&c, i))
			yyjson_mut_obj_add_int(doc, obj, count_fields[i].key, *count_at(&c, i));
	return obj;
}

static yyjson_mut_val *write_causes(yyjson_mut_doc *doc, const int32_t *restarts)
{
	yyjson_mut_val *obj = yyjson_mut_obj(doc);

	for (size_t i = 0; i < CAUSE_COUNT; i++)
		if (restarts[i])
			yyjson_mut_obj_add_int(doc, obj, cause_name((enum cause)i), restarts[i]);
	return obj;
}

/* For people: {"counted": 2, "of": 6, "by": "Pod", "window": 3600}. */
static yyjson_mut_val *write_limit(yyjson_mut_doc *doc, const struct limit_view *l)
{
	yyjson_mut_val *obj;

	if (!l->shown)
		return NULL;
	obj = yyjson_mut_obj(doc);
	yyjson_mut_obj_add_int(doc, obj, "counted", l->counted);
	yyjson_mut_obj_add_int(doc, obj, "of", l->of);
	yyjson_mut_obj_add_str(doc, obj, "by", scope_name(l->by));
	yyjson_mut_obj_add_int(doc, obj, "window", l->window);
	return obj;
}

static yyjson_mut_val *write_role(yyjson_mut_doc *doc, const struct record_role *role)
{
	yyjson_mut_val *obj = yyjson_mut_obj(doc);

	put_value(doc, obj, "count", role->count >= 0 ? yyjson_mut_int(doc, role->count) : NULL);
	put_level(doc, obj, &role->level);
	put_flag(doc, obj, "drain", role->drain);
	put_value(doc, obj, "restarts", write_causes(doc, role->restarts));
	put_int(doc, obj, "counted", role->counted_ever);
	put_value(doc, obj, "limit", write_limit(doc, &role->limit));
	put_flag(doc, obj, "accepted", role->accepted);
	put_ranges(doc, obj, "completed", &role->completed);
	put_ranges(doc, obj, "failed", &role->failed);
	put_ranges(doc, obj, "seen", &role->seen);
	put_ranges(doc, obj, "ran", &role->ran);
	put_value(doc, obj, "indexes", NULL);
	put_value(doc, obj, "byIndex", record_index_write(role, doc));
	put_value(doc, obj, "pods", write_counts(doc, role->now));
	return obj;
}

static yyjson_mut_val *write_last(yyjson_mut_doc *doc, const struct last_restart *last)
{
	yyjson_mut_val *obj;

	if (!last->at)
		return NULL;
	obj = yyjson_mut_obj(doc);
	put_time(doc, obj, "time", last->at);
	yyjson_mut_obj_add_str(doc, obj, "cause", cause_name(last->cause));
	yyjson_mut_obj_add_str(doc, obj, "scope", scope_name(last->scope));
	if (last->role.n) {
		put_string(doc, obj, "role", last->role);
		yyjson_mut_obj_add_int(doc, obj, "index", last->index);
	}
	if (last->exit_code >= 0)
		yyjson_mut_obj_add_int(doc, obj, "exitCode", last->exit_code);
	if (last->detail.n)
		put_string(doc, obj, "detail", last->detail);
	return obj;
}

static struct str phase_text(const struct record *r, enum phase p)
{
	return p == PHASE_OTHER ? r->outcome_text : str_c(phase_name(p));
}

static yyjson_mut_val *write_history(yyjson_mut_doc *doc, const struct record *r)
{
	yyjson_mut_val *list = yyjson_mut_arr(doc);

	for (size_t i = 0; i < r->n_history; i++) {
		yyjson_mut_val *one = yyjson_mut_arr_add_obj(doc, list);

		put_string(doc, one, "phase", phase_text(r, r->history[i].phase));
		put_time(doc, one, "entered", r->history[i].entered);
		if (r->history[i].left)
			put_time(doc, one, "left", r->history[i].left);
	}
	return list;
}

static yyjson_mut_val *write_conditions(yyjson_mut_doc *doc, const struct record *r)
{
	yyjson_mut_val *obj = yyjson_mut_obj(doc);

	for (size_t i = 0; i < CONDITION_COUNT; i++) {
		yyjson_mut_val *one;

		if (!r->conditions[i].set)
			continue;
		one = yyjson_mut_obj_add_obj(doc, obj, condition_name((enum condition)i));
		yyjson_mut_obj_add_bool(doc, one, "status", r->conditions[i].status);
		put_time(doc, one, "since", r->conditions[i].since);
	}
	return obj;
}

/* "3/4": how many replicas run and are ready, or have completed, of how many. */
static yyjson_mut_val *write_pods(yyjson_mut_doc *doc, const struct record *r)
{
	char text[32];
	int64_t good = 0, all = 0;

	for (size_t i = 0; i < r->n_roles; i++) {
		good += r->roles[i].now.ready + r->roles[i].now.succeeded;
		all += MAX(r->roles[i].count, 0);
	}
	snprintf(text, sizeof(text), "%lld/%lld", (long long)good, (long long)all);
	return yyjson_mut_strcpy(doc, text);
}

yyjson_mut_val *record_write(const struct record *r, yyjson_mut_doc *doc)
{
	yyjson_mut_val *obj = yyjson_mut_obj(doc), *roles;

	put_value(doc, obj, "version", yyjson_mut_int(doc, r->version));
	put_int(doc, obj, "observedGeneration", r->observed_generation);
	put_string(doc, obj, "phase", phase_text(r, r->phase));
	put_string(doc, obj, "reason", r->reason);
	put_value(doc, obj, "pods", write_pods(doc, r));
	put_value(doc, obj, "restarts", yyjson_mut_int(doc, r->restarts));
	put_string(doc, obj, "outcome", phase_text(r, r->outcome));
	put_string(doc, obj, "why", r->why);
	put_time(doc, obj, "startTime", r->start);
	put_time(doc, obj, "runningTime", r->running);
	put_time(doc, obj, "endTime", r->end);
	put_time(doc, obj, "creatingSince", r->creating_since);
	put_level(doc, obj, &r->level);
	put_flag(doc, obj, "drain", r->drain);
	put_flag(doc, obj, "restarting", r->restarting);
	put_flag(doc, obj, "suspended", r->suspended);
	put_value(doc, obj, "lastRestart", write_last(doc, &r->last));
	for (enum companion_id i = 0; i < COMPANION_COUNT; i++)
		put_string(doc, obj, companion_type(i)->name, r->addresses[i]);
	put_value(doc, obj, "history", write_history(doc, r));
	put_value(doc, obj, "conditions", write_conditions(doc, r));
	roles = put_value(doc, obj, "roles", yyjson_mut_obj(doc));
	for (size_t i = 0; i < r->n_roles; i++)
		json_mut_put(doc, roles, r->roles[i].name, write_role(doc, &r->roles[i]));
	return obj;
}

/* Reading. One bad field makes the whole record unreadable: to guess could repeat or lose a restart. */
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

static struct level get_level(struct record_reader *in, yyjson_val *obj)
{
	return (struct level){
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
	for (size_t i = 0; i < ARRAY_LEN(count_fields); i++)
		*count_at(&role->now, i) = get_count(in, pods, count_fields[i].key);
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

static void read_last(struct record_reader *in, yyjson_val *obj, struct last_restart *last)
{
	last->at = get_time(in, obj, "time");
	last->role = get_text(in, obj, "role");
	last->index = get_count(in, obj, "index");
	last->exit_code = (int32_t)get_int(in, obj, "exitCode", 0, INT32_MAX, -1);
	last->detail = get_text(in, obj, "detail");
	last->scope = get_scope(obj, "scope");
	/* Of a cause that only a later version knows there is nothing to tell. */
	if (!cause_parse(json_str(json_get(obj, "cause")), &last->cause))
		*last = (struct last_restart){ .exit_code = -1 };
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
	r->creating_since = get_time(in, val, "creatingSince");
	r->level = get_level(in, val);
	r->drain = yyjson_is_true(json_get(val, "drain"));
	r->restarting = yyjson_is_true(json_get(val, "restarting"));
	r->suspended = yyjson_is_true(json_get(val, "suspended"));
	read_last(in, json_get(val, "lastRestart"), &r->last);
	for (enum companion_id i = 0; i < COMPANION_COUNT; i++)
		r->addresses[i] = get_text(in, val, companion_type(i)->name);
	read_history(in, json_get(val, "history"), r);
	read_conditions(in, json_get(val, "conditions"), r);
	read_roles(in, json_get(val, "roles"), r);
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
