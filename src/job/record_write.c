/* The record as JSON. Every field is there, so that a merge patch removes what says nothing any more. */
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

static void put_level(yyjson_mut_doc *doc, yyjson_mut_val *obj, const struct restart_level *l)
{
	put_int(doc, obj, "generation", l->generation);
	put_int(doc, obj, "streak", l->streak);
	put_time(doc, obj, "restartedAt", l->at);
	/* 0 too: where there is none, an operator wrote that knew no windows. */
	put_value(doc, obj, "limitCount", yyjson_mut_int(doc, l->counted));
	put_int(doc, obj, "barren", l->barren);
}

/* Objects whose keys are names and not fields: only what is there is written, the rest goes. */
static yyjson_mut_val *write_counts(yyjson_mut_doc *doc, struct role_counts c)
{
	yyjson_mut_val *obj = yyjson_mut_obj(doc);

	for (size_t i = 0; i < ROLE_COUNTS; i++)
		if (*counts_at(&c, i))
			yyjson_mut_obj_add_int(doc, obj, counts_name(i), *counts_at(&c, i));
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

static yyjson_mut_val *write_note(yyjson_mut_doc *doc, const struct restart_note *last)
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
	if (last->node.n)
		put_string(doc, obj, "node", last->node);
	if (last->ran >= SECONDS(1))
		yyjson_mut_obj_add_int(doc, obj, "ranSeconds", last->ran / SECONDS(1));
	return obj;
}

/* The last one among them. */
static yyjson_mut_val *write_notes(yyjson_mut_doc *doc, const struct record *r)
{
	yyjson_mut_val *list = r->n_earlier ? yyjson_mut_arr(doc) : NULL;

	for (size_t i = 0; list && record_restart(r, i); i++)
		yyjson_mut_arr_append(list, write_note(doc, record_restart(r, i)));
	return list;
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
	put_time(doc, obj, "firstPodTime", r->first_pod);
	put_time(doc, obj, "creatingSince", r->creating_since);
	put_level(doc, obj, &r->level);
	put_flag(doc, obj, "drain", r->drain);
	put_flag(doc, obj, "restarting", r->restarting);
	put_flag(doc, obj, "suspended", r->suspended);
	put_flag(doc, obj, "begun", r->begun);
	put_value(doc, obj, "lastRestart", write_note(doc, &r->last));
	put_value(doc, obj, "restartHistory", write_notes(doc, r));
	for (enum companion_id i = 0; i < COMPANION_COUNT; i++)
		put_string(doc, obj, companion_type(i)->name, r->addresses[i]);
	put_value(doc, obj, "history", write_history(doc, r));
	put_value(doc, obj, "conditions", write_conditions(doc, r));
	roles = put_value(doc, obj, "roles", yyjson_mut_obj(doc));
	for (size_t i = 0; i < r->n_roles; i++)
		json_mut_put(doc, roles, r->roles[i].name, write_role(doc, &r->roles[i]));
	return obj;
}
