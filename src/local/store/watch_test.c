#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "local/store/testing.h"

/* What a watch has said: "+a ~a -a ". */
struct seen {
	struct fixture *f;
	struct buf text;
	uint64_t rv;
	const char *last; /* object */
	struct store_watch **end;
};

static void note(void *cookie, const struct store_event *ev)
{
	static const char marks[] = { [STORE_ADDED] = '+', [STORE_MODIFIED] = '~', [STORE_DELETED] = '-' };
	struct seen *s = cookie;
	yyjson_doc *doc CLEANUP(json_docp) = json_parse(ev->object, NULL);
	yyjson_val *meta = json_get(yyjson_doc_get_root(doc), "metadata");
	int64_t rv;

	assert_non_null(doc);
	assert_true(str_int(json_str(json_get(meta, "resourceVersion")), &rv));
	assert_true((uint64_t)rv == ev->rv);
	buf_putc(&s->text, marks[ev->change]);
	buf_put(&s->text, json_str(json_get(meta, "name")));
	buf_putc(&s->text, ' ');
	s->rv = ev->rv;
	s->last = arena_str(&s->f->arena, ev->object).p;
	if (s->end) {
		store_watch_free(*s->end);
		s->end = NULL;
	}
}

#define SEEN(f)                                                                                                        \
	{                                                                                                              \
		.f = (f), .text = BUF_INIT(1 << 20)                                                                    \
	}
#define assert_seen(s, expected)                                                                                       \
	do {                                                                                                           \
		assert_string_equal(buf_str(&(s)->text).p, (expected));                                                \
		buf_clear(&(s)->text);                                                                                 \
	} while (0)

static struct store_watch *watch(struct fixture *f, struct seen *s, const char *plural, struct store_watch_config c,
                                 struct err *e)
{
	c.type = type_named(f, plural);
	c.event = note;
	c.cookie = s;
	return store_watch_new(f->store, &c, e);
}

static void make(struct fixture *f, const char *name, const char *label)
{
	assert_int_equal(create(f, "configmaps",
	                        fmt(f, "{\"metadata\":{\"name\":\"%s\",\"labels\":{\"x\":\"%s\"}}}", name, label)),
	                 201);
}

static void label(struct fixture *f, const char *name, const char *label)
{
	assert_int_equal(
		merge_patch(f, "configmaps", name, fmt(f, "{\"metadata\":{\"labels\":{\"x\":\"%s\"}}}", label)), 200);
}

static void a_watch_begins_with_what_there_is(void **state)
{
	struct fixture *f = *state;
	struct seen s = SEEN(f);
	struct store_watch *w;

	make(f, "a", "1");
	make(f, "b", "1");
	w = watch(f, &s, "configmaps", (struct store_watch_config){ 0 }, NULL);
	assert_non_null(w);
	assert_seen(&s, "+a +b ");
	make(f, "c", "1");
	label(f, "a", "2");
	assert_int_equal(delete_one(f, "configmaps", "b", NULL), 200);
	assert_seen(&s, "+c ~a -b ");
	assert_true(s.rv == store_version(f->store));
	/* Nothing of others, nothing that was refused or not done. */
	assert_int_equal(create(f, "secrets", "{\"metadata\":{\"name\":\"s\"}}"), 201);
	assert_int_equal(create(f, "configmaps", "{\"metadata\":{\"name\":\"a\"}}"), 409);
	label(f, "a", "2");
	assert_seen(&s, "");
	store_watch_free(w);
	make(f, "d", "1");
	assert_seen(&s, "");
	buf_release(&s.text);
}

static void a_watch_goes_on_from_a_version(void **state)
{
	struct fixture *f = *state;
	struct seen s = SEEN(f);
	struct store_watch *w;
	uint64_t from;

	make(f, "a", "1");
	from = store_version(f->store);
	label(f, "a", "2");
	make(f, "b", "1");
	assert_int_equal(delete_one(f, "configmaps", "a", NULL), 200);
	w = watch(f, &s, "configmaps", (struct store_watch_config){ .from = from }, NULL);
	assert_seen(&s, "~a +b -a ");
	store_watch_free(w);
	w = watch(f, &s, "configmaps", (struct store_watch_config){ .from = store_version(f->store) }, NULL);
	assert_seen(&s, "");
	make(f, "c", "1");
	assert_seen(&s, "+c ");
	store_watch_free(w);
	buf_release(&s.text);
}

static void what_is_too_old_is_said(void **state)
{
	struct fixture *f = *state;
	struct seen s = SEEN(f);
	struct err e = ERR_INIT;
	uint64_t from;

	make(f, "a", "1");
	from = store_version(f->store);
	for (int i = 0; i < 4096; i++)
		label(f, "a", fmt(f, "v%d", i));
	store_watch_free(watch(f, &s, "configmaps", (struct store_watch_config){ .from = from }, NULL));
	assert_true(s.rv == store_version(f->store));
	label(f, "a", "x");
	assert_null(watch(f, &s, "configmaps", (struct store_watch_config){ .from = from }, &e));
	assert_int_equal(e.code, ERR_LIMIT);
	err_release(&e);
	/* Of another database. */
	assert_null(watch(f, &s, "configmaps", (struct store_watch_config){ .from = store_version(f->store) + 1 }, &e));
	assert_int_equal(e.code, ERR_LIMIT);
	err_release(&e);
	buf_release(&s.text);
}

/* The history is bounded in bytes, too. */
static void large_objects_shorten_the_history(void **state)
{
	struct fixture *f = *state;
	struct seen s = SEEN(f);
	struct err e = ERR_INIT;
	struct buf b = BUF_INIT(4 << 20);
	uint64_t from = store_version(f->store);

	for (int i = 0; i < 20; i++) {
		buf_clear(&b);
		buf_printf(&b, "{\"metadata\":{\"name\":\"c%d\"},\"data\":{\"a\":\"", i);
		for (int k = 0; k < 1 << 20; k++)
			buf_putc(&b, 'x');
		buf_put(&b, STR("\"}}"));
		assert_int_equal(create(f, "configmaps", b.p), 201);
	}
	assert_null(watch(f, &s, "configmaps", (struct store_watch_config){ .from = from }, &e));
	assert_int_equal(e.code, ERR_LIMIT);
	store_watch_free(
		watch(f, &s, "configmaps", (struct store_watch_config){ .from = store_version(f->store) - 2 }, NULL));
	assert_seen(&s, "+c18 +c19 ");
	err_release(&e);
	buf_release(&b);
	buf_release(&s.text);
}

static void selectors_turn_changes_into_comings_and_goings(void **state)
{
	struct fixture *f = *state;
	struct seen s = SEEN(f), again = SEEN(f);
	uint64_t from = store_version(f->store);
	struct store_watch *w =
		watch(f, &s, "configmaps", (struct store_watch_config){ .label_selector = STR("x=1") }, NULL);

	make(f, "a", "2");
	assert_seen(&s, "");
	label(f, "a", "1");
	assert_seen(&s, "+a ");
	assert_int_equal(merge_patch(f, "configmaps", "a", "{\"data\":{\"k\":\"v\"}}"), 200);
	assert_seen(&s, "~a ");
	/* The last state that matched, at the version of the change. */
	label(f, "a", "2");
	assert_seen(&s, "-a ");
	assert_non_null(strstr(s.last, "\"x\":\"1\""));
	assert_true(s.rv == store_version(f->store));
	label(f, "a", "3");
	assert_int_equal(delete_one(f, "configmaps", "a", NULL), 200);
	make(f, "b", "1");
	assert_int_equal(delete_one(f, "configmaps", "b", NULL), 200);
	assert_seen(&s, "+b -b ");
	store_watch_free(w);
	/* The same from the history. */
	w = watch(f, &again, "configmaps",
	          (struct store_watch_config){ .label_selector = STR("x=1"), .from = from, .ns = STR("ml") }, NULL);
	assert_seen(&again, "+a ~a -a +b -b ");
	store_watch_free(w);
	buf_release(&s.text);
	buf_release(&again.text);
}

static void fields_select_too(void **state)
{
	struct fixture *f = *state;
	struct seen s = SEEN(f);
	struct store_watch *w =
		watch(f, &s, "pods", (struct store_watch_config){ .field_selector = STR("spec.nodeName=n") }, NULL);

	assert_int_equal(create(f, "pods", POD("p")), 201);
	assert_int_equal(merge_patch(f, "pods", "p", "{\"spec\":{\"nodeName\":\"n\"}}"), 200);
	assert_seen(&s, "+p ");
	assert_int_equal(delete_one(f, "pods", "p", NULL), 200);
	assert_seen(&s, "~p ");
	assert_int_equal(delete_one(f, "pods", "p", "{\"gracePeriodSeconds\":0}"), 200);
	assert_seen(&s, "-p ");
	store_watch_free(w);
	buf_release(&s.text);
}

static void a_watch_is_of_one_namespace_or_all(void **state)
{
	struct fixture *f = *state;
	struct seen s = SEEN(f), all = SEEN(f);
	struct store_watch *w = watch(f, &s, "configmaps", (struct store_watch_config){ .ns = STR("default") }, NULL);
	struct store_watch *every = watch(f, &all, "configmaps", (struct store_watch_config){ 0 }, NULL);

	make(f, "a", "1");
	assert_int_equal(ask(f, (struct store_request){ .verb = STORE_CREATE,
	                                                .type = type_named(f, "configmaps"),
	                                                .ns = STR("default"),
	                                                .body = STR("{\"metadata\":{\"name\":\"b\"}}") }),
	                 201);
	assert_seen(&s, "+b ");
	assert_seen(&all, "+a +b ");
	store_watch_free(w);
	store_watch_free(every);
	buf_release(&s.text);
	buf_release(&all.text);
}

static void bad_selectors_are_refused(void **state)
{
	struct fixture *f = *state;
	struct seen s = SEEN(f);
	struct err e = ERR_INIT;

	assert_null(watch(f, &s, "pods", (struct store_watch_config){ .label_selector = STR("((") }, &e));
	assert_int_equal(e.code, ERR_INVALID);
	assert_null(watch(f, &s, "pods", (struct store_watch_config){ .field_selector = STR("x=1") }, &e));
	assert_int_equal(e.code, ERR_INVALID);
	err_release(&e);
}

static void a_watch_may_end_while_it_is_told(void **state)
{
	struct fixture *f = *state;
	struct seen s = SEEN(f), other = SEEN(f);
	struct store_watch *w = watch(f, &s, "configmaps", (struct store_watch_config){ 0 }, NULL);
	struct store_watch *rest = watch(f, &other, "configmaps", (struct store_watch_config){ 0 }, NULL);

	s.end = &w;
	make(f, "a", "1");
	make(f, "b", "1");
	assert_seen(&s, "+a ");
	assert_seen(&other, "+a +b ");
	/* The one that is told first ends the other. */
	w = watch(f, &s, "configmaps", (struct store_watch_config){ .from = store_version(f->store) }, NULL);
	s.end = &rest;
	make(f, "c", "1");
	assert_seen(&s, "+c ");
	assert_seen(&other, "");
	store_watch_free(w);
	buf_release(&s.text);
	buf_release(&other.text);
}

static void children_that_go_are_told(void **state)
{
	struct fixture *f = *state;
	struct seen s = SEEN(f);
	struct store_watch *w;

	make(f, "a", "1");
	assert_int_equal(
		create(f, "configmaps",
	               fmt(f,
	                   "{\"metadata\":{\"name\":\"b\",\"ownerReferences\":[{\"apiVersion\":\"v1\",\"kind\":"
	                   "\"ConfigMap\",\"name\":\"a\",\"uid\":\"%s\"}]}}",
	                   said(f, "metadata.uid"))),
		201);
	w = watch(f, &s, "configmaps", (struct store_watch_config){ .from = store_version(f->store) }, NULL);
	assert_int_equal(delete_one(f, "configmaps", "a", NULL), 200);
	settle(f);
	assert_seen(&s, "-a -b ");
	store_watch_free(w);
	buf_release(&s.text);
}

/* Somebody who looks at trees, and keeps the first. */
struct looker {
	yyjson_val *root;
	yyjson_doc *kept;
	bool keeps;
};

static void look(void *cookie, const struct store_event *ev)
{
	struct looker *l = cookie;
	struct buf text = BUF_INIT(1 << 20);

	l->root = store_event_root(ev);
	json_write_val(l->root, &text);
	assert_true(str_eq(buf_str(&text), ev->object));
	buf_release(&text);
	if (!l->keeps)
		return;
	l->keeps = false;
	l->kept = store_event_take(ev);
}

static struct store_watch *watch_trees(struct fixture *f, struct looker *l, struct store_watch_config c)
{
	c.type = type_named(f, "configmaps");
	c.event = look;
	c.cookie = l;
	return store_watch_new(f->store, &c, NULL);
}

static void all_watches_see_one_tree(void **state)
{
	struct fixture *f = *state;
	struct looker l[4] = { { .keeps = true }, { .keeps = true } };
	uint64_t from = store_version(f->store);
	struct store_watch *w[4];

	for (size_t i = 0; i < 3; i++)
		w[i] = watch_trees(f, &l[i],
		                   (struct store_watch_config){ .label_selector = i ? STR_NONE : STR("x=1") });
	make(f, "a", "1");
	assert_ptr_equal(l[0].root, l[1].root);
	assert_ptr_equal(l[0].root, l[2].root);
	/* Both that wanted to keep it have one of their own, and nobody has taken it from the third. */
	assert_ptr_not_equal(l[0].kept, l[1].kept);
	assert_true(l[2].root == yyjson_doc_get_root(l[0].kept) || l[2].root == yyjson_doc_get_root(l[1].kept));
	for (size_t i = 0; i < 2; i++) {
		yyjson_val *meta = json_get(yyjson_doc_get_root(l[i].kept), "metadata");

		assert_true(str_eqc(json_str(json_get(meta, "name")), "a"));
		yyjson_doc_free(l[i].kept);
	}
	/* Changes, what stops to match, and ends: look() compares all of them with their texts. */
	assert_int_equal(merge_patch(f, "configmaps", "a", "{\"data\":{\"k\":\"v\"}}"), 200);
	assert_ptr_equal(l[0].root, l[1].root);
	label(f, "a", "2");
	assert_ptr_not_equal(l[0].root, l[1].root);
	assert_ptr_equal(l[1].root, l[2].root);
	assert_int_equal(delete_one(f, "configmaps", "a", NULL), 200);
	assert_ptr_equal(l[1].root, l[2].root);
	make(f, "b", "1");
	/* From the history, and from the database. */
	w[3] = watch_trees(f, &l[3], (struct store_watch_config){ .from = from });
	assert_non_null(l[3].root);
	store_watch_free(w[3]);
	l[3] = (struct looker){ .keeps = true };
	w[3] = watch_trees(f, &l[3], (struct store_watch_config){ 0 });
	yyjson_doc_free(l[3].kept);
	for (size_t i = 0; i < 4; i++)
		store_watch_free(w[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		STORE_TEST(a_watch_begins_with_what_there_is),
		STORE_TEST(a_watch_goes_on_from_a_version),
		STORE_TEST(what_is_too_old_is_said),
		STORE_TEST(large_objects_shorten_the_history),
		STORE_TEST(selectors_turn_changes_into_comings_and_goings),
		STORE_TEST(fields_select_too),
		STORE_TEST(a_watch_is_of_one_namespace_or_all),
		STORE_TEST(bad_selectors_are_refused),
		STORE_TEST(a_watch_may_end_while_it_is_told),
		STORE_TEST(children_that_go_are_told),
		STORE_TEST(all_watches_see_one_tree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
