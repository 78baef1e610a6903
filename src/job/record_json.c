/* The record as JSON, and back. What a later version wrote is kept by the server (a merge patch does
   not mention it) and ignored here; what makes no sense is an error, never a guess. */
#include "job/record.h"

static yyjson_mut_val *put(yyjson_mut_doc *doc, yyjson_mut_val *obj, const char *key, yyjson_mut_val *val)
{
	yyjson_mut_obj_add(obj, yyjson_mut_str(doc, key), val ? val : yyjson_mut_null(doc));
	return val;
}

static void put_text(yyjson_mut_doc *doc, yyjson_mut_val *obj, const char *key, struct str s)
{
	put(doc, obj, key, s.n ? json_mut_str(doc, s) : NULL);
}

static void put_int(yyjson_mut_doc *doc, yyjson_mut_val *obj, const char *key, int64_t v)
{
	put(doc, obj, key, v ? yyjson_mut_sint(doc, v) : NULL);
}

static void put_flag(yyjson_mut_doc *doc, yyjson_mut_val *obj, const char *key, bool v)
{
	put(doc, obj, key, v ? yyjson_mut_true(doc) : NULL);
}

static void put_time(yyjson_mut_doc *doc, yyjson_mut_val *obj, const char *key, msec t)
{
	char text[TIME_TEXT];

	put(doc, obj, key, t ? yyjson_mut_strcpy(doc, time_format(t, text)) : NULL);
}

static void put_ranges(yyjson_mut_doc *doc, yyjson_mut_val *obj, const char *key, const struct ranges *r)
{
	struct arena a = ARENA_INIT;

	put_text(doc, obj, key, ranges_format(r, &a));
	arena_release(&a);
}

static void put_level(yyjson_mut_doc *doc, yyjson_mut_val *obj, const struct level *l)
{
	put_int(doc, obj, "generation", l->generation);
	put_int(doc, obj, "streak", l->streak);
	put_time(doc, obj, "restartedAt", l->at);
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

static yyjson_mut_val *write_indexes(yyjson_mut_doc *doc, const struct record_role *role)
{
	yyjson_mut_val *obj = yyjson_mut_obj(doc);

	for (size_t i = 0; i < role->n_indexes; i++) {
		yyjson_mut_val *one = yyjson_mut_obj(doc);
		char key[16];

		put_level(doc, one, &role->indexes[i].level);
		snprintf(key, sizeof(key), "%d", role->indexes[i].index);
		yyjson_mut_obj_add(obj, yyjson_mut_strcpy(doc, key), one);
	}
	return obj;
}

static yyjson_mut_val *write_role(yyjson_mut_doc *doc, const struct record_role *role)
{
	yyjson_mut_val *obj = yyjson_mut_obj(doc);

	put(doc, obj, "count", role->count >= 0 ? yyjson_mut_int(doc, role->count) : NULL);
	put_level(doc, obj, &role->level);
	put_flag(doc, obj, "drain", role->drain);
	put(doc, obj, "restarts", write_causes(doc, role->restarts));
	put_int(doc, obj, "counted", role->counted);
	put_ranges(doc, obj, "completed", &role->completed);
	put_ranges(doc, obj, "failed", &role->failed);
	put_ranges(doc, obj, "seen", &role->seen);
	put_ranges(doc, obj, "ran", &role->ran);
	put(doc, obj, "indexes", write_indexes(doc, role));
	put(doc, obj, "pods", write_counts(doc, role->now));
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
		put_text(doc, obj, "role", last->role);
		yyjson_mut_obj_add_int(doc, obj, "index", last->index);
	}
	if (last->exit_code >= 0)
		yyjson_mut_obj_add_int(doc, obj, "exitCode", last->exit_code);
	return obj;
}

static yyjson_mut_val *write_history(yyjson_mut_doc *doc, const struct record *r)
{
	yyjson_mut_val *list = yyjson_mut_arr(doc);

	for (size_t i = 0; i < r->n_history; i++) {
		yyjson_mut_val *one = yyjson_mut_arr_add_obj(doc, list);

		yyjson_mut_obj_add_str(doc, one, "phase", phase_name(r->history[i].phase));
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

	put(doc, obj, "version", yyjson_mut_int(doc, r->version));
	put_int(doc, obj, "observedGeneration", r->observed_generation);
	put_text(doc, obj, "phase", str_c(phase_name(r->phase)));
	put_text(doc, obj, "reason", r->reason);
	put(doc, obj, "pods", write_pods(doc, r));
	put(doc, obj, "restarts", yyjson_mut_int(doc, r->restarts));
	put_text(doc, obj, "outcome", str_c(phase_name(r->outcome)));
	put_text(doc, obj, "why", r->why);
	put_time(doc, obj, "startTime", r->start);
	put_time(doc, obj, "runningTime", r->running);
	put_time(doc, obj, "endTime", r->end);
	put_time(doc, obj, "creatingSince", r->creating_since);
	put_level(doc, obj, &r->level);
	put_flag(doc, obj, "drain", r->drain);
	put_flag(doc, obj, "restarting", r->restarting);
	put_flag(doc, obj, "suspended", r->suspended);
	put(doc, obj, "lastRestart", write_last(doc, &r->last));
	put_text(doc, obj, "tensorboard", r->tensorboard);
	put(doc, obj, "history", write_history(doc, r));
	put(doc, obj, "conditions", write_conditions(doc, r));
	roles = put(doc, obj, "roles", yyjson_mut_obj(doc));
	for (size_t i = 0; i < r->n_roles; i++)
		json_mut_put(doc, roles, r->roles[i].name, write_role(doc, &r->roles[i]));
	return obj;
}

/* Reading. One bad field makes the whole record unreadable: to guess could repeat or lose a restart. */
struct reader {
	struct arena *a;
	const char *bad; /* the first field that made no sense */
};

static void bad(struct reader *in, const char *key)
{
	if (!in->bad)
		in->bad = key;
}

static int64_t get_int(struct reader *in, yyjson_val *obj, const char *key, int64_t least, int64_t most, int64_t absent)
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

static int32_t get_count(struct reader *in, yyjson_val *obj, const char *key)
{
	return (int32_t)get_int(in, obj, key, 0, INT32_MAX, 0);
}

static msec get_time(struct reader *in, yyjson_val *obj, const char *key)
{
	yyjson_val *v = json_get(obj, key);
	msec t = 0;

	if (v && !yyjson_is_null(v) && !time_parse(json_str(v), &t))
		bad(in, key);
	return t;
}

static struct str get_text(struct reader *in, yyjson_val *obj, const char *key)
{
	return arena_str(in->a, json_str(json_get(obj, key)));
}

static enum phase get_phase(struct reader *in, yyjson_val *obj, const char *key)
{
	struct str s = json_str(json_get(obj, key));
	enum phase p = phase_parse(s);

	if (s.n && p == PHASE_NONE)
		bad(in, key);
	return p;
}

static void get_ranges(struct reader *in, yyjson_val *obj, const char *key, struct ranges *ret)
{
	if (!ranges_parse(ret, in->a, json_str(json_get(obj, key)), JOB_MAX_REPLICAS))
		bad(in, key);
}

static struct level get_level(struct reader *in, yyjson_val *obj)
{
	return (struct level){
		.generation = get_int(in, obj, "generation", 0, INT64_MAX / 4, 0),
		.streak = get_count(in, obj, "streak"),
		.at = get_time(in, obj, "restartedAt"),
	};
}

static void read_causes(struct reader *in, yyjson_val *obj, int32_t *restarts)
{
	for (size_t i = 0; i < CAUSE_COUNT; i++)
		restarts[i] = get_count(in, obj, cause_name((enum cause)i));
}

static void read_indexes(struct reader *in, yyjson_val *obj, struct record_role *role)
{
	yyjson_obj_iter it = yyjson_obj_iter_with(obj);
	yyjson_val *key;

	while ((key = yyjson_obj_iter_next(&it))) {
		int64_t index;

		if (!str_int(json_str(key), &index) || index < 0 || index >= JOB_MAX_REPLICAS) {
			bad(in, "indexes");
			return;
		}
		*record_index_make(role, in->a, (int32_t)index) = get_level(in, yyjson_obj_iter_get_val(key));
	}
}

static void read_role(struct reader *in, struct str name, yyjson_val *obj, struct record_role *role)
{
	yyjson_val *pods = json_get(obj, "pods");

	role->name = arena_str(in->a, name);
	role->count = (int32_t)get_int(in, obj, "count", 0, JOB_MAX_REPLICAS, -1);
	role->level = get_level(in, obj);
	role->drain = yyjson_is_true(json_get(obj, "drain"));
	read_causes(in, json_get(obj, "restarts"), role->restarts);
	role->counted = get_count(in, obj, "counted");
	get_ranges(in, obj, "completed", &role->completed);
	get_ranges(in, obj, "failed", &role->failed);
	get_ranges(in, obj, "seen", &role->seen);
	get_ranges(in, obj, "ran", &role->ran);
	read_indexes(in, json_get(obj, "indexes"), role);
	for (size_t i = 0; i < ARRAY_LEN(count_fields); i++)
		*count_at(&role->now, i) = get_count(in, pods, count_fields[i].key);
}

static void read_roles(struct reader *in, yyjson_val *obj, struct record *r)
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

static void read_last(struct reader *in, yyjson_val *obj, struct last_restart *last)
{
	struct str scope = json_str(json_get(obj, "scope"));

	last->at = get_time(in, obj, "time");
	last->role = get_text(in, obj, "role");
	last->index = get_count(in, obj, "index");
	last->exit_code = (int32_t)get_int(in, obj, "exitCode", 0, INT32_MAX, -1);
	if (!yyjson_is_obj(obj))
		return;
	if (!cause_parse(json_str(json_get(obj, "cause")), &last->cause))
		bad(in, "lastRestart");
	for (int s = SCOPE_POD; s <= SCOPE_JOB; s++)
		if (str_eqc(scope, scope_name((enum scope)s)))
			last->scope = (enum scope)s;
}

static void read_history(struct reader *in, yyjson_val *list, struct record *r)
{
	yyjson_arr_iter it = yyjson_arr_iter_with(list);
	yyjson_val *one;

	while ((one = yyjson_arr_iter_next(&it))) {
		enum phase p = get_phase(in, one, "phase");

		if (r->n_history == PHASE_COUNT || p == PHASE_NONE) {
			bad(in, "history");
			return;
		}
		r->history[r->n_history++] =
			(struct phase_span){ p, get_time(in, one, "entered"), get_time(in, one, "left") };
	}
}

static void read_conditions(struct reader *in, yyjson_val *obj, struct record *r)
{
	for (size_t i = 0; i < CONDITION_COUNT; i++) {
		yyjson_val *one = json_get(obj, condition_name((enum condition)i));

		if (one)
			r->conditions[i] = (struct condition_state){ true, yyjson_is_true(json_get(one, "status")),
				                                     get_time(in, one, "since") };
	}
}

static void read_fields(struct reader *in, yyjson_val *val, struct record *r)
{
	r->observed_generation = get_int(in, val, "observedGeneration", 0, INT64_MAX, 0);
	r->phase = get_phase(in, val, "phase");
	r->reason = get_text(in, val, "reason");
	r->restarts = get_count(in, val, "restarts");
	r->outcome = get_phase(in, val, "outcome");
	if (r->outcome != PHASE_NONE && !phase_final(r->outcome))
		bad(in, "outcome");
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
	r->tensorboard = get_text(in, val, "tensorboard");
	read_history(in, json_get(val, "history"), r);
	read_conditions(in, json_get(val, "conditions"), r);
	read_roles(in, json_get(val, "roles"), r);
}

struct record *record_read(yyjson_val *val, struct arena *a, struct err *e)
{
	struct reader in = { a, NULL };
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
		err_set(e, ERR_INVALID, "status.dlOperator: %s makes no sense", in.bad);
		return NULL;
	}
	return r;
}
