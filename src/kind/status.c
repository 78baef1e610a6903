/* The record in the kind's own words, and what an operator of before left, taken over. */
#include "kind/internal.h"
#include "kind/table.h"

static void set_text(struct sandbox *sb, const char *key, struct str s)
{
	value_push_str(sb, s);
	lua_setfield(sb->L, -2, key);
}

/* Nothing is nil. */
static void set_str(struct sandbox *sb, const char *key, struct str s)
{
	if (s.n)
		set_text(sb, key, s);
}

static void set_int(struct sandbox *sb, const char *key, int64_t n)
{
	lua_pushinteger(sb->L, n);
	lua_setfield(sb->L, -2, key);
}

static void set_time(struct sandbox *sb, const char *key, msec t)
{
	char text[TIME_TEXT];

	if (t)
		set_str(sb, key, str_c(time_format(t, text)));
}

static struct str phase_text(enum phase p)
{
	return p == PHASE_NONE ? STR_NONE : str_c(phase_name(p));
}

/* --- what status() is told --- */

static void push_history(struct sandbox *sb, const struct record *r)
{
	lua_newtable(sb->L);
	for (size_t i = 0; i < r->n_history; i++) {
		lua_newtable(sb->L);
		set_str(sb, "phase", phase_text(r->history[i].phase));
		set_time(sb, "entered", r->history[i].entered);
		set_time(sb, "left", r->history[i].left);
		lua_rawseti(sb->L, -2, (lua_Integer)i + 1);
	}
}

static void push_role(struct sandbox *sb, const struct job *job, const struct record_role *r)
{
	const struct role *role = job_role(job, r->name);

	lua_newtable(sb->L);
	set_text(sb, "name", r->name);
	set_text(sb, "title", role ? role->title : r->name);
	lua_pushboolean(sb->L, role && role->aux);
	lua_setfield(sb->L, -2, "aux");
	set_int(sb, "count", role ? role->count : MAX(r->count, 0));
	set_int(sb, "pending", r->now.pending);
	set_int(sb, "scheduled", r->now.scheduled);
	set_int(sb, "active", r->now.active);
	set_int(sb, "succeeded", r->now.succeeded);
	set_int(sb, "failed", r->now.failed);
	set_int(sb, "restarting", r->now.restarting);
	set_int(sb, "ready", r->now.ready);
	set_int(sb, "restarts", record_role_restarts(r));
}

/* In the order of the job; roles that the job has no more come last. */
static void push_roles(struct sandbox *sb, const struct job *job, const struct record *r)
{
	lua_Integer n = 0;

	lua_newtable(sb->L);
	value_mark_list(sb);
	for (size_t i = 0; i < job->n_roles; i++) {
		const struct record_role *rr = record_role_of(r, job->roles[i].name);

		if (job->roles[i].companion)
			continue;
		push_role(sb, job, rr ? rr : &(struct record_role){ .name = job->roles[i].name });
		lua_rawseti(sb->L, -2, ++n);
	}
	for (size_t i = 0; i < r->n_roles; i++) {
		/* One without any replica, such as a companion's, has nothing to show. */
		if (job_role(job, r->roles[i].name) || r->roles[i].count == 0)
			continue;
		push_role(sb, job, &r->roles[i]);
		lua_rawseti(sb->L, -2, ++n);
	}
}

/* The role whose restart waits for old pods to go. */
static struct str draining(const struct record *r)
{
	for (size_t i = 0; i < r->n_roles; i++)
		if (r->roles[i].drain)
			return r->roles[i].name;
	return r->drain ? r->last.role : STR_NONE;
}

static void push_status(struct sandbox *sb, const struct job *job, const struct record *r)
{
	lua_newtable(sb->L);
	set_str(sb, "phase", phase_text(r->phase));
	set_str(sb, "outcome", phase_text(r->outcome));
	set_str(sb, "why", r->why);
	set_str(sb, "reason", r->reason);
	set_time(sb, "start", r->start);
	set_time(sb, "running", r->running);
	set_time(sb, "ended", r->end);
	set_int(sb, "restarts", r->restarts);
	set_str(sb, "draining", draining(r));
	push_history(sb, r);
	lua_setfield(sb->L, -2, "history");
	push_roles(sb, job, r);
	lua_setfield(sb->L, -2, "roles");
}

/* --- conditions --- */

/* The kind's condition of this type, or NULL. */
static yyjson_mut_val *condition_of(yyjson_mut_val *list, const char *type)
{
	yyjson_mut_arr_iter it = yyjson_mut_arr_iter_with(list);
	yyjson_mut_val *c;

	while ((c = yyjson_mut_arr_iter_next(&it))) {
		if (str_eqc(json_mut_text(yyjson_mut_obj_get(c, "type")), type))
			return c;
	}
	return NULL;
}

static bool is_ending(enum condition c)
{
	return c == CONDITION_COMPLETE || c == CONDITION_FAILED || c == CONDITION_SUCCESS_CRITERIA_MET ||
	       c == CONDITION_FAILURE_TARGET;
}

static yyjson_mut_val *make_condition(const struct record *r, enum condition c, yyjson_mut_val *kinds,
                                      yyjson_mut_doc *doc)
{
	const struct condition_state *s = &r->conditions[c];
	yyjson_mut_val *obj = yyjson_mut_obj(doc), *reason = kinds ? yyjson_mut_obj_get(kinds, "reason") : NULL;
	bool tells = c == CONDITION_RUNNING || s->status;
	struct str word = is_ending(c) && s->status && r->why.n ? r->why : str_c(phase_name(r->phase));
	char time[TIME_TEXT];

	json_mut_put(doc, obj, STR("type"), yyjson_mut_str(doc, condition_name(c)));
	json_mut_put(doc, obj, STR("status"), yyjson_mut_str(doc, s->status ? "True" : "False"));
	json_mut_put(doc, obj, STR("reason"), reason ? yyjson_mut_val_mut_copy(doc, reason) : json_mut_str(doc, word));
	/* What it waits for, or what is wrong with it, is why it does not run. */
	json_mut_put(doc, obj, STR("message"), json_mut_str(doc, tells ? r->reason : STR("")));
	json_mut_put(doc, obj, STR("lastTransitionTime"), json_mut_str(doc, str_c(time_format(s->since, time))));
	return obj;
}

/* Ours for every kind, then the kind's own of other types: one for each type. */
static yyjson_mut_val *make_conditions(const struct record *r, yyjson_mut_val *kinds, yyjson_mut_doc *doc)
{
	yyjson_mut_val *list = yyjson_mut_arr(doc), *c;
	yyjson_mut_arr_iter it = yyjson_mut_arr_iter_with(kinds);

	for (int i = 0; i < CONDITION_COUNT; i++)
		if (r->conditions[i].set)
			yyjson_mut_arr_append(list, make_condition(r, i, condition_of(kinds, condition_name(i)), doc));
	while ((c = yyjson_mut_arr_iter_next(&it))) {
		yyjson_mut_val *type = yyjson_mut_obj_get(c, "type");
		bool ours = false;

		for (int i = 0; i < CONDITION_COUNT; i++)
			ours = ours || (yyjson_mut_is_str(type) && yyjson_mut_equals_str(type, condition_name(i)));
		if (!ours)
			yyjson_mut_arr_append(list, yyjson_mut_val_mut_copy(doc, c));
	}
	return list;
}

yyjson_mut_val *kind_status(struct kind_job *kj, const struct record *r, yyjson_mut_doc *doc, struct err *e)
{
	struct sandbox *sb = &kj->kinds->sb;
	yyjson_mut_val *own, *kinds, *record;
	int nargs = kind_push_call(kj, FN_STATUS, SIZE_MAX, 0);

	push_status(sb, kj->job, r);
	if (!kind_call(kj, FN_STATUS, nargs + 1, 1, e))
		return NULL;
	if (lua_type(sb->L, -1) != LUA_TTABLE) {
		kind_refuse(kj, e, "status", "must return a table, it returned a %s", luaL_typename(sb->L, -1));
		own = NULL;
	} else {
		own = value_json(sb, -1, doc, "status", e);
		if (!own)
			kind_blame(kj, e, "status");
	}
	lua_pop(sb->L, 1);
	if (!own)
		return NULL;
	if (!yyjson_mut_is_obj(own))
		own = yyjson_mut_obj(doc);
	kinds = yyjson_mut_obj_remove_key(own, "conditions");
	json_mut_put(doc, own, STR("conditions"), make_conditions(r, yyjson_mut_is_arr(kinds) ? kinds : NULL, doc));
	yyjson_mut_obj_remove_key(own, "dlOperator");
	record = record_write(r, doc);
	foreign_note_roles(kj->job, record, doc);
	json_mut_put(doc, own, STR("dlOperator"), record);
	return own;
}

/* --- what was there before us --- */

static const struct table_key adopt_keys[] = {
	{ "phase", LUA_TSTRING, false },
	{ "reason", LUA_TSTRING, false },
	{ "restarts", LUA_TTABLE, false },
};

static struct record *read_adopted(struct kind_job *kj, struct arena *a, struct err *e)
{
	struct sandbox *sb = &kj->kinds->sb;
	struct str name = value_field_str(sb->L, -1, "phase");
	enum phase phase = phase_parse(name);
	yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
	yyjson_mut_val *restarts = NULL;
	struct record *ret = NULL;
	bool ok = true;

	if (name.n && !phase_final(phase))
		ok = kind_refuse(kj, e, "adopt", "returned the phase \"%.*s\", which is not final", STR_F(name));
	if (ok && table_get(sb->L, "restarts") != LUA_TNIL) {
		restarts = value_json(sb, -1, doc, "adopt", e);
		ok = restarts != NULL;
		lua_pop(sb->L, 1);
	} else if (ok) {
		lua_pop(sb->L, 1);
	}
	if (ok) {
		yyjson_doc *copy = restarts ? yyjson_mut_val_imut_copy(restarts, NULL) : NULL;

		ret = record_adopt(a, phase, arena_str(a, value_field_str(sb->L, -1, "reason")),
		                   yyjson_doc_get_root(copy));
		yyjson_doc_free(copy);
	}
	yyjson_mut_doc_free(doc);
	return ret;
}

struct record *kind_adopt(struct kind_job *kj, yyjson_val *status, struct arena *a, struct err *e)
{
	struct sandbox *sb = &kj->kinds->sb;
	struct record *ret = NULL;
	int nargs;

	if (!yyjson_is_obj(status) || kj->file->fns[FN_ADOPT] == LUA_NOREF)
		return NULL;
	nargs = kind_push_call(kj, FN_ADOPT, SIZE_MAX, 0);
	value_push(sb, status);
	if (!kind_call(kj, FN_ADOPT, nargs + 1, 1, e))
		return NULL;
	if (lua_type(sb->L, -1) == LUA_TTABLE) {
		if (table_check(sb->L, adopt_keys, ARRAY_LEN(adopt_keys), 0, STR("adopt"), e))
			ret = read_adopted(kj, a, e);
		else
			kind_blame(kj, e, "adopt");
	} else if (lua_type(sb->L, -1) != LUA_TNIL) {
		kind_refuse(kj, e, "adopt", "must return a table or nothing");
	}
	lua_pop(sb->L, 1);
	return ret;
}
