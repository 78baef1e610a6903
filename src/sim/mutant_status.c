/* Defects in what the operator writes into a job's status. */
#include "sim/mutant.h"
#include "sim/sim.h"

static void set_null(yyjson_mut_doc *doc, yyjson_mut_val *obj, const char *key)
{
	yyjson_mut_obj_remove_key(obj, key);
	yyjson_mut_obj_add_null(doc, obj, key);
}

static void add_one(yyjson_mut_doc *doc, yyjson_mut_val *obj, const char *key)
{
	int64_t n = yyjson_mut_get_sint(yyjson_mut_obj_get(obj, key));

	yyjson_mut_obj_remove_key(obj, key);
	yyjson_mut_obj_add_int(doc, obj, key, n + 1);
}

static void put_word(yyjson_mut_doc *doc, yyjson_mut_val *obj, const char *key, const char *word)
{
	yyjson_mut_obj_remove_key(obj, key);
	yyjson_mut_obj_add_str(doc, obj, key, word);
}

/* At all levels but that of single replicas. */
static void forget_limit_count(yyjson_mut_doc *doc, yyjson_mut_val *level, const struct restart_level *now)
{
	if (!now->counted)
		return;
	yyjson_mut_obj_remove_key(level, "limitCount");
	yyjson_mut_obj_add_int(doc, level, "limitCount", 0);
}

static void spoil_role(enum sim_mutant m, yyjson_mut_doc *doc, yyjson_mut_val *role, const struct record_role *now)
{
	bool counts = yyjson_mut_is_int(yyjson_mut_obj_get(role, "counted"));
	yyjson_mut_val *causes = yyjson_mut_obj_get(role, "restarts");

	if (m == MUTANT_REWIND && now && now->level.generation)
		set_null(doc, role, "generation");
	if (m == MUTANT_UNCOUNTED && counts) {
		yyjson_mut_obj_remove_key(role, "counted");
		yyjson_mut_obj_remove_key(role, "restarts");
	}
	if (m == MUTANT_DOUBLE && counts && causes) {
		add_one(doc, role, "counted");
		for (size_t i = 0; i < CAUSE_DISRUPTED; i++)
			if (yyjson_mut_obj_get(causes, cause_name((enum cause)i))) {
				add_one(doc, causes, cause_name((enum cause)i));
				break;
			}
	}
	if (m == MUTANT_STICKY && now && yyjson_mut_is_int(yyjson_mut_obj_get(role, "count")) &&
	    yyjson_mut_get_sint(yyjson_mut_obj_get(role, "count")) < now->count)
		yyjson_mut_obj_remove_key(role, "byIndex");
	if (m == MUTANT_MERCIFUL && now)
		forget_limit_count(doc, role, &now->level);
	if (m == MUTANT_LOWERED && now && now->counted_ever && !counts) {
		set_null(doc, role, "counted");
		set_null(doc, role, "restarts");
	}
}

static bool has_text(yyjson_mut_val *obj, const char *key, const char *words)
{
	const char *text = yyjson_mut_get_str(yyjson_mut_obj_get(obj, key));

	return text && strstr(text, words);
}

/* KNOWN: its end is. */
static void spoil_ends(enum sim_mutant m, yyjson_mut_doc *doc, yyjson_mut_val *rec, const struct record *now,
                       bool known)
{
	const char *outcome = yyjson_mut_get_str(yyjson_mut_obj_get(rec, "outcome"));
	bool ends = outcome && !(now && now->outcome);

	if (m == MUTANT_HOPELESS && has_text(rec, "reason", "refused, retrying") && !outcome) {
		put_word(doc, rec, "outcome", "Failed");
		put_word(doc, rec, "why", "Refused");
	}
	if (ends && m == MUTANT_GENEROUS && !known && strcmp(outcome, "Failed") == 0)
		put_word(doc, rec, "outcome", "Succeeded");
	if (ends && m == MUTANT_GRUDGER && strcmp(outcome, "Succeeded") == 0)
		put_word(doc, rec, "outcome", "Failed");
	if (m == MUTANT_IMPATIENT && has_text(rec, "phase", "Terminating") && !(now && now->outcome))
		put_word(doc, rec, "phase", outcome ? outcome : "Suspended");
}

void mutant_status(struct sim *s, struct sim_request *r)
{
	enum sim_mutant m = (enum sim_mutant)s->opt.mutant;
	yyjson_doc *body = yyjson_read_opts((char *)(uintptr_t)r->r.body.p, r->r.body.n, 0, sim_alc(s), NULL);
	yyjson_mut_doc *doc = yyjson_doc_mut_copy(body, sim_alc(s));
	yyjson_mut_val *root = yyjson_mut_doc_get_root(doc), *rec, *roles, *key;
	struct sim_job *job =
		map_get(&s->jobs_by_name, arena_printf(s->arena, "%.*s/%.*s", STR_F(r->r.kind), STR_F(r->r.name)));
	const struct record *now = job ? job->now->record : NULL;
	struct buf out = BUF_INIT(1 << 20);
	yyjson_mut_obj_iter it;

	rec = yyjson_mut_obj_get(yyjson_mut_obj_get(root, "status"), "dlOperator");
	if (!rec)
		return;
	roles = yyjson_mut_obj_get(rec, "roles");
	if (m == MUTANT_LAZARUS && now && now->outcome) {
		yyjson_mut_obj_remove_key(rec, "outcome");
		yyjson_mut_obj_add_str(doc, rec, "outcome", now->outcome == PHASE_FAILED ? "Succeeded" : "Failed");
	}
	if (m == MUTANT_REWIND && now && now->level.generation)
		set_null(doc, rec, "generation");
	if (m == MUTANT_MERCIFUL && now)
		forget_limit_count(doc, rec, &now->level);
	spoil_ends(m, doc, rec, now, job && job->wish.script != SCRIPT_WILD);
	yyjson_mut_obj_iter_init(roles, &it);
	while (roles && (key = yyjson_mut_obj_iter_next(&it)))
		spoil_role(m, doc, yyjson_mut_obj_iter_get_val(key),
		           now ? record_role_of(now, json_mut_text(key)) : NULL);
	json_write(root, &out);
	r->r.body = arena_str(s->arena, buf_str(&out));
	buf_release(&out);
}
