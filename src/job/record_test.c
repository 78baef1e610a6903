/* The record: what is a change (record.c), and its JSON (record_write.c, record_read.c, record_index.c). */
#include "base/rng.h"
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
		.first_pod = t + 2000,
		.creating_since = t + 3000,
		.level = { 2, 3, t + 4000, 5, 6, 0, 0 },
		.drain = true,
		.restarting = true,
		.suspended = true,
		.begun = true,
		.restarts = 7,
		.last = { t + 5000, CAUSE_OOM_KILLED, STR("worker"), 1, 137, SCOPE_ROLE, STR("Evicted"), STR("node-2"),
		          90000 },
		.earlier = { { t + 4000, CAUSE_DELETED, STR("worker"), 2, -1, SCOPE_POD, STR_NONE, STR_NONE, 0 } },
		.n_earlier = 1,
		.addresses[COMPANION_TENSORBOARD] = STR("http://job-tensorboard-1abc.ns.svc:80"),
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
		.level = { 1, 2, t + 8000, 1, 2, 0, 0 },
		.drain = true,
		.restarts = { [CAUSE_FAILED] = 3, [CAUSE_RESIZED] = 1 },
		.counted_ever = 3,
		.now = { 1, 2, 3, 4, 5, 6, 7 },
	};
	ranges_add(&r->roles[0].completed, a, 2);
	ranges_add(&r->roles[0].failed, a, 3);
	ranges_add(&r->roles[0].seen, a, 4);
	ranges_add(&r->roles[0].ran, a, 1);
	r->roles[0].accepted = true;
	r->roles[0].limit = (struct limit_view){ true, 6, 2, SCOPE_ROLE, 3600 };
	*record_index_make(&r->roles[0], a, 4) = (struct restart_level){ 1, 1, t, 2, 0, 1, 137 };
	*record_index_make(&r->roles[0], a, 1) = (struct restart_level){ 6, 5, t, 2, 3, 4, 1 };
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
	assert_string_equal(back->last.detail.p, "Evicted");
	assert_string_equal(back->last.node.p, "node-2");
	assert_int_equal(back->last.ran, 90000);
	assert_int_equal(back->n_earlier, 1);
	assert_int_equal(back->earlier[0].cause, CAUSE_DELETED);
	assert_int_equal(back->earlier[0].index, 2);
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
	CHANGED(CHANGE_DURABLE, c->roles[0].counted_ever++);
	CHANGED(CHANGE_DURABLE, c->roles[0].restarts[CAUSE_DELETED]++);
	CHANGED(CHANGE_DURABLE, c->roles[0].completed.n = 0);
	CHANGED(CHANGE_DURABLE, c->roles[0].failed.n = 0);
	CHANGED(CHANGE_DURABLE, c->roles[0].n_indexes = 0);
	CHANGED(CHANGE_DURABLE, c->roles[0].indexes[0].index++);
	CHANGED(CHANGE_DURABLE, c->roles[0].indexes[0].level.generation++);
	CHANGED(CHANGE_DURABLE, c->roles[1].drain = true);
	/* Were it durable, a status that is refused would hold up the pods that are still to be made. */
	CHANGED(CHANGE_OBSERVED, c->roles[0].accepted = !c->roles[0].accepted);
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
	CHANGED(CHANGE_OBSERVED, c->first_pod++);
	CHANGED(CHANGE_OBSERVED, c->creating_since++);
	CHANGED(CHANGE_OBSERVED, c->restarting = false);
	CHANGED(CHANGE_OBSERVED, c->begun = false);
	CHANGED(CHANGE_OBSERVED, c->last.at++);
	CHANGED(CHANGE_OBSERVED, c->addresses[COMPANION_TENSORBOARD] = STR_NONE);
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
		{ "{\"version\":1,\"generation\":-1}", "generation is not valid" },
		{ "{\"version\":1,\"generation\":\"x\"}", "generation is not valid" },
		{ "{\"version\":1,\"outcome\":\"Running\"}", "outcome is not valid" },
		{ "{\"version\":1,\"startTime\":\"yesterday\"}", "startTime is not valid" },
		{ "{\"version\":1,\"restarts\":99999999999}", "restarts is not valid" },
		{ "{\"version\":1,\"history\":[{\"phase\":\"\"}]}", "history is not valid" },
		{ "{\"version\":1,\"roles\":{\"w\":{\"completed\":\"5-1\"}}}", "completed is not valid" },
		{ "{\"version\":1,\"roles\":{\"w\":{\"indexes\":{\"x\":{}}}}}", "byIndex is not valid" },
		{ "{\"version\":1,\"roles\":{\"w\":{\"indexes\":{\"-1\":{}}}}}", "byIndex is not valid" },
		{ "{\"version\":1,\"roles\":{\"w\":{\"indexes\":{\"100000\":{}}}}}", "byIndex is not valid" },
		{ "{\"version\":1,\"roles\":{\"w\":{\"byIndex\":{\"generation\":{\"x\":\"0\"}}}}}",
		  "byIndex is not valid" },
		{ "{\"version\":1,\"roles\":{\"w\":{\"byIndex\":{\"generation\":{\"-1\":\"0\"}}}}}",
		  "byIndex is not valid" },
		{ "{\"version\":1,\"roles\":{\"w\":{\"byIndex\":{\"streak\":{\"1\":\"0-100000\"}}}}}",
		  "byIndex is not valid" },
		{ "{\"version\":1,\"roles\":{\"w\":{\"byIndex\":{\"restartedAt\":{\"1\":\"0\"}}}}}",
		  "byIndex is not valid" },
		{ "{\"version\":1,\"roles\":{\"w\":{\"byIndex\":{\"counted\":[1]}}}}", "byIndex is not valid" },
		{ "{\"version\":1,\"roles\":{\"w\":{\"pods\":{\"active\":-1}}}}", "active is not valid" },
		/* the first one is told */
		{ "{\"version\":1,\"generation\":-1,\"streak\":-1}", "generation is not valid" },
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
	assert_true(a.used < 64 << 20);
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
	/* A few bytes that name many replicas: more than there are, and more than one job can have had. */
	too_many("{\"version\":1,\"roles\":{\"w\":{\"byIndex\":{\"generation\":{", "\"#\":\"0-99999\"", 100, "}}}}}",
	         "byIndex");
	too_many("{\"version\":1,\"roles\":{", "\"r#\":{\"byIndex\":{\"generation\":{\"1\":\"0-99999\"}}}",
	         JOB_MAX_ROLES, "}}", "byIndex");
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

static struct record *read_text(const char *text, struct arena *a)
{
	yyjson_doc *doc = yyjson_read(text, strlen(text), 0);
	struct err e = ERR_INIT;
	struct record *r = record_read(yyjson_doc_get_root(doc), a, &e);

	if (!r)
		fail_msg("%s", err_msg(&e));
	yyjson_doc_free(doc);
	return r;
}

static struct str written(const struct record *r, struct arena *a)
{
	yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
	struct buf b = BUF_INIT(8 << 20);
	struct str text;

	json_write(record_write(r, doc), &b);
	assert_false(b.overflow);
	text = arena_str(a, buf_str(&b));
	buf_release(&b);
	yyjson_mut_doc_free(doc);
	return text;
}

/* Ten thousand replicas that were lost three times, together or one by one. */
static void many_restarts_stay_short(void **state)
{
	msec now = 1800000000000;

	(void)state;
	for (int apart = 0; apart < 2; apart++) {
		struct arena a = ARENA_INIT;
		struct record *r = arena_new(&a, struct record), *back;

		r->version = RECORD_VERSION;
		r->n_roles = 1;
		r->roles = arena_array(&a, struct record_role, 1);
		r->roles[0] = (struct record_role){ .name = STR("worker"), .count = 10000 };
		for (int32_t i = 0; i < 10000; i++)
			*record_index_make(&r->roles[0], &a, i) =
				(struct restart_level){ 3, 3, now + (apart ? SECONDS(i * 7919 % 600) : 0), 3, 0, 0, 0 };
		assert_true(written(r, &a).n < 64 << 10);
		back = through_json(r, &a);
		assert_int_equal(back->roles[0].n_indexes, 10000);
		for (int32_t i = 0; i < 10000; i++) {
			const struct restart_level *was = record_index_level(&r->roles[0], i),
						   *is = record_index_level(&back->roles[0], i);

			assert_int_equal(is->generation, 3);
			assert_int_equal(is->streak, 3);
			assert_int_equal(is->counted, 3);
			/* Not earlier, and not much later. */
			assert_true(is->at >= was->at && is->at < was->at + SECONDS(apart ? 10 : 1));
		}
		arena_release(&a);
	}
}

static struct record *with_workers(struct arena *a, int32_t n)
{
	struct record *r = arena_new(a, struct record);

	r->version = RECORD_VERSION;
	r->n_roles = 1;
	r->roles = arena_array(a, struct record_role, 1);
	r->roles[0] = (struct record_role){ .name = STR("worker"), .count = n };
	return r;
}

static struct restart_level some_level(struct rng *rng, msec t)
{
	int32_t n = 1 + (int32_t)rng_below(rng, 8);

	return (struct restart_level){ n, n, t + SECONDS(rng_below(rng, 86400)), n, (int32_t)rng_below(rng, 3), 0, 0 };
}

/* … or three times each, in their own order, some of them with quiet hours between: no two neighbours are alike. */
static void many_restarts_that_differ_stay_short(void **state)
{
	struct arena a = ARENA_INIT;
	struct record *r = with_workers(&a, 10000), *back;
	struct rng rng = rng_seed(11);
	struct str text;

	(void)state;
	for (int32_t i = 0; i < 10000; i++) {
		int32_t counted = 1 + (int32_t)rng_below(&rng, 3), streak = 1 + (int32_t)rng_below(&rng, 3);

		*record_index_make(&r->roles[0], &a, i) =
			(struct restart_level){ 3,
			                        streak,
			                        1800000000000 + SECONDS(rng_below(&rng, 86400)),
			                        counted,
			                        (int32_t)rng_below(&rng, 2),
			                        0,
			                        0 };
	}
	text = written(r, &a);
	assert_true(text.n < 64 << 10);
	back = through_json(r, &a);
	assert_int_equal(back->roles[0].n_indexes, 10000);
	for (int32_t i = 0; i < 10000; i++) {
		const struct restart_level *was = record_index_level(&r->roles[0], i),
					   *is = record_index_level(&back->roles[0], i);

		assert_int_equal(is->generation, 3);
		assert_int_equal(is->streak, was->streak);
		assert_int_equal(is->counted, was->counted);
		assert_int_equal(is->barren, was->barren);
		assert_true(is->at >= was->at && is->at < was->at + MINUTES(60));
	}
	/* What was read is written in the same words. */
	assert_true(str_eq(written(back, &a), text));
	arena_release(&a);
}

/* Letters that somebody else has written. */
static void letters_that_make_no_sense(void **state)
{
	static const struct {
		const char *part;
		bool good;
	} table[] = {
		{ "{\"letters\":{\"A\":\"1\"},\"from\":7,\"each\":\"A-A\"}", true },
		{ "{\"letters\":{\"A\":\"1\"},\"from\":0,\"each\":\"\"}", true },
		{ "{\"letters\":{\"A\":\"1\"},\"from\":0,\"each\":\"AB\"}", false },
		{ "{\"letters\":{\"A\":1},\"from\":0,\"each\":\"A\"}", false },
		{ "{\"letters\":{\"A\":\"-1\"},\"from\":0,\"each\":\"A\"}", false },
		{ "{\"letters\":[],\"from\":0,\"each\":\"A\"}", false },
		{ "{\"each\":\"A\",\"from\":0}", false },
		{ "{\"letters\":{\"A\":\"1\"},\"each\":\"A\"}", false },
		{ "{\"letters\":{\"A\":\"1\"},\"from\":-1,\"each\":\"A\"}", false },
		{ "{\"letters\":{\"A\":\"1\"},\"from\":99999,\"each\":\"A\"}", true },
		{ "{\"letters\":{\"A\":\"1\"},\"from\":99999,\"each\":\"AA\"}", false },
		{ "{\"letters\":{\"A\":\"1\"},\"from\":\"0\",\"each\":\"A\"}", false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct arena a = ARENA_INIT;
		struct str text = arena_printf(
			&a, "{\"version\":1,\"roles\":{\"w\":{\"byIndex\":{\"generation\":%s}}}}", table[i].part);
		struct err e = ERR_INIT;
		yyjson_doc *doc = json_parse(text, NULL);
		struct record *r = record_read(yyjson_doc_get_root(doc), &a, &e);

		assert_int_equal(r != NULL, table[i].good);
		if (i == 0) {
			assert_int_equal(record_index_level(&r->roles[0], 7)->generation, 1);
			assert_null(record_index_level(&r->roles[0], 8));
			assert_int_equal(record_index_level(&r->roles[0], 9)->generation, 1);
		}
		err_release(&e);
		yyjson_doc_free(doc);
		arena_release(&a);
	}
}

/* Racks of sixteen that were lost now and then, and three hundred replicas that failed by themselves. */
static void replicas_that_differ_somewhat(void **state)
{
	struct arena a = ARENA_INIT;
	struct record *r = with_workers(&a, 10000);
	struct rng rng = rng_seed(7);

	(void)state;
	for (int32_t rack = 0; rack < 10000 / 16; rack++) {
		struct restart_level l = some_level(&rng, 1800000000000);

		for (int32_t i = 0; i < 16; i++)
			*record_index_make(&r->roles[0], &a, rack * 16 + i) = l;
	}
	for (int n = 0; n < 300; n++)
		*record_index_make(&r->roles[0], &a, (int32_t)rng_below(&rng, 10000)) = some_level(&rng, 1800000000000);
	assert_in_range(written(r, &a).n, 16 << 10, 64 << 10);
	arena_release(&a);
}

/* Each of them has a history of its own: nothing of that is in common, and it must be remembered all the same. What
   only back-offs need is more than half. */
static void replicas_that_all_differ(void **state)
{
	struct arena a = ARENA_INIT;
	struct record *r = with_workers(&a, 10000), *back;
	struct rng rng = rng_seed(7);
	size_t whole;

	(void)state;
	for (int32_t i = 0; i < 10000; i++)
		*record_index_make(&r->roles[0], &a, i) = some_level(&rng, 1800000000000);
	whole = written(r, &a).n;
	assert_in_range(whole, 40 << 10, 64 << 10);
	record_shorten(r);
	assert_in_range(written(r, &a).n, 16 << 10, whole / 2);
	back = through_json(r, &a);
	for (int32_t i = 0; i < 10000; i++) {
		assert_int_equal(record_index_level(&back->roles[0], i)->generation,
		                 record_index_level(&r->roles[0], i)->generation);
		assert_int_equal(record_index_level(&back->roles[0], i)->counted,
		                 record_index_level(&r->roles[0], i)->counted);
		assert_int_equal(record_index_level(&back->roles[0], i)->at, 0);
	}
	/* Ten times as many: an etcd takes 1.5 MB. */
	r = with_workers(&a, 100000);
	for (int32_t i = 0; i < 100000; i++)
		*record_index_make(&r->roles[0], &a, i) = some_level(&rng, 1800000000000);
	assert_true(written(r, &a).n < 3 << 19);
	arena_release(&a);
}

/* What an older operator wrote; after a roll-back both stand there, and the larger holds. */
static void levels_of_older_operators(void **state)
{
	struct arena a = ARENA_INIT;
	struct record *r =
		read_text("{\"version\":1,\"roles\":{\"w\":{\"counted\":4,\"indexes\":{\"3\":{\"generation\":2,"
	                  "\"streak\":1,\"restartedAt\":\"2026-11-15T12:00:00Z\"},\"5\":{\"generation\":7}},"
	                  "\"byIndex\":{\"generation\":{\"4\":\"3,8\",\"1\":\"5\"},\"counted\":{\"2\":\"3\"}}}}}",
	                  &a);
	const struct record_role *w = &r->roles[0];

	(void)state;
	assert_int_equal(w->n_indexes, 3);
	assert_int_equal(record_index_level(w, 3)->generation, 4);
	assert_int_equal(record_index_level(w, 3)->streak, 1);
	assert_int_equal(record_index_level(w, 3)->counted, 2);
	assert_int_equal(record_index_level(w, 5)->generation, 7);
	assert_int_equal(record_index_level(w, 8)->generation, 4);
	/* Before there were windows the limit saw all restarts. */
	assert_int_equal(w->level.counted, 4);
	assert_int_equal(r->level.counted, 4);
	assert_non_null(strstr(written(r, &a).p, "\"indexes\":null"));
	assert_non_null(strstr(written(r, &a).p, "\"generation\":{\"4\":\"3,8\",\"7\":\"5\"}"));
	r = read_text("{\"version\":1,\"limitCount\":0,\"roles\":{\"w\":{\"counted\":4,\"limitCount\":0}}}", &a);
	assert_int_equal(r->level.counted, 0);
	assert_int_equal(r->roles[0].level.counted, 0);
	arena_release(&a);
}

/* Whose pods were taken is known of older records by what they tell of them. */
static void accepted_before_it_was_noted(void **state)
{
	static const struct {
		const char *role;
		bool accepted;
	} table[] = {
		{ "{}", false },
		{ "{\"accepted\":true}", true },
		{ "{\"seen\":\"0\"}", true },
		{ "{\"completed\":\"0\"}", true },
		{ "{\"restarts\":{\"Failed\":1}}", true },
		/* One that notes it: the restart was the whole job's, and another role's pod failed. */
		{ "{\"limitCount\":0,\"restarts\":{\"Failed\":1}}", false },
	};
	struct arena a = ARENA_INIT;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct str text = arena_printf(&a, "{\"version\":1,\"roles\":{\"w\":%s}}", table[i].role);

		assert_int_equal(read_text(text.p, &a)->roles[0].accepted, table[i].accepted);
	}
	arena_release(&a);
}

/* A later version knows more words: what has ended stays so, word for word, and nobody is left alone. */
static void words_of_a_later_version(void **state)
{
	struct arena a = ARENA_INIT;
	struct record *r = read_text("{\"version\":1,\"phase\":\"Halted\",\"outcome\":\"Halted\",\"why\":\"Moon\","
	                             "\"history\":[{\"phase\":\"Dreaming\"},{\"phase\":\"Halted\","
	                             "\"entered\":\"2026-11-15T12:00:00Z\"}],"
	                             "\"lastRestart\":{\"time\":\"2026-11-15T12:00:00Z\",\"cause\":\"Moon\"}}",
	                             &a);
	struct str text;

	(void)state;
	assert_int_equal(r->outcome, PHASE_OTHER);
	assert_int_equal(r->phase, PHASE_OTHER);
	assert_true(phase_final(r->outcome));
	assert_int_equal(r->n_history, 1);
	assert_int_equal(r->last.at, 0);
	text = written(r, &a);
	assert_non_null(strstr(text.p, "\"phase\":\"Halted\",\"reason\""));
	assert_non_null(strstr(text.p, "\"outcome\":\"Halted\""));
	r = read_text("{\"version\":1,\"phase\":\"Dreaming\"}", &a);
	assert_int_equal(r->phase, PHASE_NONE);
	assert_int_equal(r->outcome, PHASE_NONE);
	/* What it counted is counted on; the server keeps its words. */
	r = read_text("{\"version\":1,\"roles\":{\"w\":{\"restarts\":{\"Failed\":2,\"Resized\":1,\"Moon\":3,"
	              "\"Sun\":2147483647,\"Mars\":\"x\"}}}}",
	              &a);
	assert_int_equal(r->roles[0].other_restarts, INT32_MAX);
	assert_int_equal(record_role_restarts(&r->roles[0]), INT32_MAX);
	r = read_text("{\"version\":1,\"roles\":{\"w\":{\"restarts\":{\"Failed\":2,\"Resized\":1,\"Moon\":3}}}}", &a);
	assert_int_equal(record_role_restarts(&r->roles[0]), 5);
	assert_null(strstr(written(r, &a).p, "Moon"));
	arena_release(&a);
}

/* What only back-offs need goes first. */
static void shortened(void **state)
{
	struct arena a = ARENA_INIT;
	struct record *r = full(&a);

	(void)state;
	*record_index_make(&r->roles[0], &a, 7) = (struct restart_level){ 0, 5, 1000, 0, 2, 0, 0 };
	record_shorten(r);
	/* It has run: that decides how it may end. */
	assert_true(r->begun);
	assert_null(record_index_level(&r->roles[0], 7));
	assert_int_equal(record_index_level(&r->roles[0], 1)->generation, 6);
	assert_int_equal(record_index_level(&r->roles[0], 1)->counted, 2);
	assert_int_equal(record_index_level(&r->roles[0], 1)->at, 0);
	assert_int_equal(ranges_count(&r->roles[0].completed), 1);
	arena_release(&a);
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
		cmocka_unit_test(many_restarts_stay_short),
		cmocka_unit_test(many_restarts_that_differ_stay_short),
		cmocka_unit_test(letters_that_make_no_sense),
		cmocka_unit_test(replicas_that_differ_somewhat),
		cmocka_unit_test(replicas_that_all_differ),
		cmocka_unit_test(levels_of_older_operators),
		cmocka_unit_test(accepted_before_it_was_noted),
		cmocka_unit_test(words_of_a_later_version),
		cmocka_unit_test(shortened),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
