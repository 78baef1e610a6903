/* The record: what is a change (record.c), and its JSON (record_json.c). */
#include "job/record.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>


/* Every field set to something. */
static struct record *full(struct arena *a)
{
	struct record *r = arena_new(a, struct record);
	msec t = 1700000000000;

	*r = (struct record){
		.version = RECORD_VERSION,
		.observed_generation = 4,
		.phase = PHASE_TERMINATING,
		.outcome = PHASE_FAILED,
		.why = STR("RestartLimit"),
		.reason = STR("worker-1 \"failed\""),
		.start = t,
		.running = t + 1000,
		.end = t + 2000,
		.creating_since = t + 3000,
		.level = { 2, 3, t + 4000 },
		.drain = true,
		.restarting = true,
		.suspended = true,
		.restarts = 7,
		.last = { t + 5000, CAUSE_OOM_KILLED, STR("worker"), 1, 137, SCOPE_ROLE },
		.tensorboard = STR("http://job-tensorboard-1abc.ns.svc:80"),
		.history = { { PHASE_PENDING, t, t + 1000 }, { PHASE_TERMINATING, t + 1000, 0 } },
		.n_history = 2,
		.conditions = { [CONDITION_RUNNING] = { true, false, t + 6000 },
		                [CONDITION_FAILED] = { true, true, t + 7000 } },
		.n_roles = 2,
	};
	r->roles = arena_array(a, struct record_role, 2);
	r->roles[0] = (struct record_role){
		.name = STR("worker"),
		.count = 5,
		.level = { 1, 2, t + 8000 },
		.drain = true,
		.restarts = { [CAUSE_FAILED] = 3, [CAUSE_RESIZED] = 1 },
		.counted = 3,
		.now = { 1, 2, 3, 4, 5, 6, 7 },
	};
	ranges_add(&r->roles[0].completed, a, 2);
	ranges_add(&r->roles[0].failed, a, 3);
	ranges_add(&r->roles[0].seen, a, 4);
	ranges_add(&r->roles[0].ran, a, 1);
	*record_index_make(&r->roles[0], a, 4) = (struct level){ 1, 1, t };
	*record_index_make(&r->roles[0], a, 1) = (struct level){ 6, 5, t };
	r->roles[1] = (struct record_role){ .name = STR("ps"), .count = -1 };
	return r;
}

static struct record *through_json(const struct record *r, struct arena *a)
{
	yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
	struct err e = ERR_INIT;
	struct record *back;
	yyjson_doc *read;

	yyjson_mut_doc_set_root(doc, record_write(r, doc));
	read = yyjson_mut_doc_imut_copy(doc, NULL);
	back = record_read(yyjson_doc_get_root(read), a, &e);
	assert_non_null(back);
	yyjson_doc_free(read);
	yyjson_mut_doc_free(doc);
	return back;
}

static void every_field_survives(void **state)
{
	struct arena a = ARENA_INIT;
	struct record *r = full(&a), *back = through_json(r, &a), *empty;

	(void)state;
	assert_int_equal(record_compare(r, back), CHANGE_NONE);
	assert_int_equal(back->last.cause, CAUSE_OOM_KILLED);
	assert_int_equal(back->last.exit_code, 137);
	assert_int_equal(back->last.scope, SCOPE_ROLE);
	assert_int_equal(back->roles[0].indexes[0].index, 1);
	assert_int_equal(back->roles[1].count, -1);
	empty = arena_new(&a, struct record);
	empty->version = RECORD_VERSION;
	assert_int_equal(record_compare(empty, through_json(empty, &a)), CHANGE_NONE);
	arena_release(&a);
}

/* What the columns show. */
static void columns(void **state)
{
	struct arena a = ARENA_INIT;
	yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
	yyjson_mut_val *v = record_write(full(&a), doc);

	(void)state;
	assert_string_equal(yyjson_mut_get_str(yyjson_mut_obj_get(v, "phase")), "Terminating");
	assert_string_equal(yyjson_mut_get_str(yyjson_mut_obj_get(v, "pods")), "11/5");
	assert_int_equal(yyjson_mut_get_int(yyjson_mut_obj_get(v, "restarts")), 7);
	yyjson_mut_doc_free(doc);
	arena_release(&a);
}

/* Each field alone: is its change noticed, and is it one that must be written first? */
static void changes(void **state)
{
	struct arena a = ARENA_INIT;
	struct record *r = full(&a), *c;

	(void)state;
#define CHANGED(want, ...)                                                                                             \
	do {                                                                                                           \
		c = record_copy(r, &a);                                                                                \
		__VA_ARGS__;                                                                                           \
		assert_int_equal(record_compare(r, c), want);                                                          \
	} while (0)
	CHANGED(CHANGE_NONE, (void)0);
	CHANGED(CHANGE_DURABLE, c->outcome = PHASE_SUCCEEDED);
	CHANGED(CHANGE_DURABLE, c->why = STR("x"));
	CHANGED(CHANGE_DURABLE, c->level.generation++);
	CHANGED(CHANGE_DURABLE, c->level.streak++);
	CHANGED(CHANGE_DURABLE, c->level.at++);
	CHANGED(CHANGE_DURABLE, c->suspended = false);
	CHANGED(CHANGE_DURABLE, c->restarts++);
	CHANGED(CHANGE_DURABLE, c->n_roles--);
	CHANGED(CHANGE_DURABLE, c->roles[0].name = STR("x"));
	CHANGED(CHANGE_DURABLE, c->roles[0].count++);
	CHANGED(CHANGE_DURABLE, c->roles[0].level.generation++);
	CHANGED(CHANGE_DURABLE, c->roles[0].counted++);
	CHANGED(CHANGE_DURABLE, c->roles[0].restarts[CAUSE_DELETED]++);
	CHANGED(CHANGE_DURABLE, c->roles[0].completed.n = 0);
	CHANGED(CHANGE_DURABLE, c->roles[0].failed.n = 0);
	CHANGED(CHANGE_DURABLE, c->roles[0].n_indexes = 0);
	CHANGED(CHANGE_DURABLE, c->roles[0].indexes[0].index++);
	CHANGED(CHANGE_DURABLE, c->roles[0].indexes[0].level.generation++);
	CHANGED(CHANGE_DURABLE, c->roles[1].drain = true);
	CHANGED(CHANGE_OBSERVED, c->roles[0].drain = false);
	CHANGED(CHANGE_OBSERVED, c->drain = false);
	CHANGED(CHANGE_OBSERVED, c->roles[0].seen.n = 0);
	CHANGED(CHANGE_OBSERVED, c->roles[0].ran.n = 0);
	CHANGED(CHANGE_OBSERVED, c->roles[0].now.ready++);
	CHANGED(CHANGE_OBSERVED, c->observed_generation++);
	CHANGED(CHANGE_OBSERVED, c->phase = PHASE_FAILED);
	CHANGED(CHANGE_OBSERVED, c->reason = STR("x"));
	CHANGED(CHANGE_OBSERVED, c->start++);
	CHANGED(CHANGE_OBSERVED, c->running++);
	CHANGED(CHANGE_OBSERVED, c->end++);
	CHANGED(CHANGE_OBSERVED, c->creating_since++);
	CHANGED(CHANGE_OBSERVED, c->restarting = false);
	CHANGED(CHANGE_OBSERVED, c->last.at++);
	CHANGED(CHANGE_OBSERVED, c->tensorboard = STR_NONE);
	CHANGED(CHANGE_OBSERVED, c->n_history--);
	CHANGED(CHANGE_OBSERVED, c->history[0].phase = PHASE_RUNNING);
	CHANGED(CHANGE_OBSERVED, c->history[0].entered++);
	CHANGED(CHANGE_OBSERVED, c->history[1].left++);
	CHANGED(CHANGE_OBSERVED, c->conditions[CONDITION_COMPLETE].set = true);
	CHANGED(CHANGE_OBSERVED, c->conditions[CONDITION_FAILED].status = false);
	CHANGED(CHANGE_OBSERVED, c->conditions[CONDITION_FAILED].since++);
	r->drain = false;
	CHANGED(CHANGE_DURABLE, c->drain = true);
#undef CHANGED
	arena_release(&a);
}

static void a_copy_is_apart(void **state)
{
	struct arena a = ARENA_INIT;
	struct record *r = full(&a), *c = record_copy(r, &a);

	(void)state;
	ranges_add(&c->roles[0].completed, &a, 0);
	record_index_make(&c->roles[0], &a, 3)->generation = 9;
	c->roles[1].name = STR("x");
	assert_int_equal(record_compare(r, full(&a)), CHANGE_NONE);
	assert_null(record_role_of(r, STR("x")));
	assert_null(record_index_level(&r->roles[0], 3));
	assert_int_equal(c->roles[0].n_indexes, 3);
	arena_release(&a);
}

static void sum_of_three_generations(void **state)
{
	struct arena a = ARENA_INIT;
	struct record *r = full(&a);
	struct role role = { 0 };

	(void)state;
	assert_int_equal(record_generation(r, &role, &r->roles[0], 0), 2 + 1);
	assert_int_equal(record_generation(r, &role, &r->roles[0], 1), 2 + 1 + 6);
	assert_int_equal(record_generation(r, &role, &r->roles[1], 0), 2);
	assert_int_equal(record_role_restarts(&r->roles[0]), 3);
	role.aux = true;
	assert_int_equal(record_generation(r, &role, &r->roles[0], 1), 1 + 6);
	arena_release(&a);
}

/* To guess could repeat or lose a restart: what makes no sense is an error. */
static void nonsense(void **state)
{
	static const struct {
		const char *json, *message;
	} table[] = {
		{ "{}", "no version" },
		{ "{\"version\":0}", "no version" },
		{ "{\"version\":\"1\"}", "no version" },
		{ "[]", "no version" },
		{ "{\"version\":2}", "has version 2, this operator knows 1" },
		{ "{\"version\":1,\"generation\":-1}", "generation makes no sense" },
		{ "{\"version\":1,\"generation\":\"x\"}", "generation makes no sense" },
		{ "{\"version\":1,\"phase\":\"Happy\"}", "phase makes no sense" },
		{ "{\"version\":1,\"outcome\":\"Running\"}", "outcome makes no sense" },
		{ "{\"version\":1,\"startTime\":\"yesterday\"}", "startTime makes no sense" },
		{ "{\"version\":1,\"restarts\":99999999999}", "restarts makes no sense" },
		{ "{\"version\":1,\"history\":[{\"phase\":\"\"}]}", "history makes no sense" },
		{ "{\"version\":1,\"lastRestart\":{\"cause\":\"Moon\"}}", "lastRestart makes no sense" },
		{ "{\"version\":1,\"roles\":{\"w\":{\"completed\":\"5-1\"}}}", "completed makes no sense" },
		{ "{\"version\":1,\"roles\":{\"w\":{\"indexes\":{\"x\":{}}}}}", "indexes makes no sense" },
		{ "{\"version\":1,\"roles\":{\"w\":{\"indexes\":{\"-1\":{}}}}}", "indexes makes no sense" },
		{ "{\"version\":1,\"roles\":{\"w\":{\"indexes\":{\"100000\":{}}}}}", "indexes makes no sense" },
		{ "{\"version\":1,\"roles\":{\"w\":{\"pods\":{\"active\":-1}}}}", "active makes no sense" },
		/* the first one is told */
		{ "{\"version\":1,\"phase\":\"a\",\"outcome\":\"b\"}", "phase makes no sense" },
	};
	struct arena a = ARENA_INIT;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		yyjson_doc *doc = yyjson_read(table[i].json, strlen(table[i].json), 0);
		struct err e = ERR_INIT;

		assert_null(record_read(yyjson_doc_get_root(doc), &a, &e));
		if (!strstr(err_msg(&e), table[i].message))
			fail_msg("%s: %s", table[i].json, err_msg(&e));
		err_release(&e);
		yyjson_doc_free(doc);
	}
	arena_release(&a);
}

static void too_many(const char *head, const char *item, int n, const char *tail, const char *message)
{
	struct buf b = BUF_INIT(1 << 20);
	struct arena a = ARENA_INIT;
	struct err e = ERR_INIT;
	yyjson_doc *doc;

	buf_put(&b, str_c(head));
	for (int i = 0; i < n; i++) {
		buf_put(&b, i ? STR(",") : STR(""));
		for (const char *c = item; *c; c++) {
			if (*c == '#')
				buf_printf(&b, "%d", i);
			else
				buf_putc(&b, *c);
		}
	}
	buf_put(&b, str_c(tail));
	doc = yyjson_read(b.p, b.n, 0);
	assert_non_null(doc);
	assert_null(record_read(yyjson_doc_get_root(doc), &a, &e));
	assert_non_null(strstr(err_msg(&e), message));
	err_release(&e);
	yyjson_doc_free(doc);
	buf_release(&b);
	arena_release(&a);
}

static void nothing_grows_without_bound(void **state)
{
	(void)state;
	too_many("{\"version\":1,\"roles\":{", "\"r#\":{}", JOB_MAX_ROLES + 1, "}}", "roles");
	too_many("{\"version\":1,\"history\":[", "{\"phase\":\"Running\"}", PHASE_COUNT + 1, "]}", "history");
}

/* A later version of the same major adds fields: they are ignored. */
static void unknown_fields_are_ignored(void **state)
{
	static const char text[] = "{\"version\":1,\"new\":{\"a\":1},\"roles\":{\"w\":{\"newer\":2,\"count\":3}},"
				   "\"lastRestart\":{\"cause\":\"Failed\",\"scope\":\"Galaxy\"}}";
	yyjson_doc *doc = yyjson_read(text, strlen(text), 0);
	struct arena a = ARENA_INIT;
	struct err e = ERR_INIT;
	struct record *r = record_read(yyjson_doc_get_root(doc), &a, &e);

	(void)state;
	assert_non_null(r);
	assert_int_equal(r->roles[0].count, 3);
	assert_null(record_read(NULL, &a, &e));
	assert_null(e.msg);
	yyjson_doc_free(doc);
	arena_release(&a);
}

static void names(void **state)
{
	enum cause c;

	(void)state;
	for (int p = PHASE_INVALID; p < PHASE_COUNT; p++)
		assert_int_equal(phase_parse(str_c(phase_name((enum phase)p))), p);
	assert_int_equal(phase_parse(STR("")), PHASE_NONE);
	for (int i = 0; i < CAUSE_COUNT; i++) {
		assert_true(cause_parse(str_c(cause_name((enum cause)i)), &c));
		assert_int_equal(c, i);
	}
	assert_false(cause_parse(STR("x"), &c));
	assert_true(phase_final(PHASE_SUCCEEDED) && phase_final(PHASE_NODE_FAILED) && !phase_final(PHASE_TERMINATING));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_field_survives),
		cmocka_unit_test(columns),
		cmocka_unit_test(changes),
		cmocka_unit_test(a_copy_is_apart),
		cmocka_unit_test(sum_of_three_generations),
		cmocka_unit_test(nonsense),
		cmocka_unit_test(nothing_grows_without_bound),
		cmocka_unit_test(unknown_fields_are_ignored),
		cmocka_unit_test(names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
