/* Random calls: whoever watches sees what whoever lists sees, whatever happens; and no body breaks anything. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/random_json.h"
#include "local/store/testing.h"

enum { NAMES = 12, MIRRORS = 6, CALLS = 4000 };

/* What one who watches knows. */
struct mirror {
	struct fixture *f;
	const char *labels, *fields;
	struct store_watch *watch;
	uint64_t known[NAMES]; /* versions; 0: not there */
	uint64_t rv;
};

struct world {
	struct fixture *f;
	struct rng rng;
	struct mirror mirrors[MIRRORS];
	const char *uids[8]; /* of objects that were there once */
};

static size_t place_of(struct str name)
{
	int64_t n;

	assert_true(str_int(str_sub(name, 1, name.n), &n) && n >= 0 && n < NAMES);
	return (size_t)n;
}

static void note(void *cookie, const struct store_event *ev)
{
	struct mirror *m = cookie;
	yyjson_doc *doc CLEANUP(json_docp) = json_parse(ev->object, NULL);
	uint64_t *known = &m->known[place_of(json_str(json_at(yyjson_doc_get_root(doc), "metadata", "name", NULL)))];

	assert_true(m->rv == 0 || ev->rv > m->rv);
	assert_true(!*known == (ev->change == STORE_ADDED));
	*known = ev->change == STORE_DELETED ? 0 : ev->rv;
	/* What there is at the beginning comes in the order of names. */
	m->rv = m->watch ? ev->rv : 0;
}

static void read_list(struct fixture *f, const struct mirror *m, uint64_t ret[static NAMES])
{
	yyjson_val *one, *items;
	size_t i, max;

	assert_int_equal(list(f, "pods", m->labels, m->fields), 200);
	memset(ret, 0, NAMES * sizeof(*ret));
	items = json_get(yyjson_doc_get_root(f->doc), "items");
	yyjson_arr_foreach(items, i, max, one)
	{
		yyjson_val *meta = json_get(one, "metadata");
		int64_t rv = 0;

		assert_true(str_int(json_str(json_get(meta, "resourceVersion")), &rv));
		ret[place_of(json_str(json_get(meta, "name")))] = (uint64_t)rv;
	}
}

static void check_mirror(struct mirror *m)
{
	uint64_t listed[NAMES];

	read_list(m->f, m, listed);
	assert_memory_equal(m->known, listed, sizeof(listed));
}

static void start(struct mirror *m, uint64_t from)
{
	struct store_watch_config c = { .type = type_named(m->f, "pods"),
		                        .label_selector = str_c(m->labels),
		                        .field_selector = str_c(m->fields),
		                        .from = from,
		                        .event = note,
		                        .cookie = m };

	m->rv = 0;
	m->watch = store_watch_new(m->f->store, &c, NULL);
	assert_non_null(m->watch);
}

/* Lists, lets others change something, and watches from the list's version; or begins from nothing. */
static void begin_anew(struct world *w, struct mirror *m, void (*meanwhile)(struct world *w))
{
	uint64_t from;

	store_watch_free(m->watch);
	m->watch = NULL;
	memset(m->known, 0, sizeof(m->known));
	if (rng_one_in(&w->rng, 2)) {
		start(m, 0);
		return;
	}
	read_list(w->f, m, m->known);
	from = w->f->answer.rv;
	for (int i = 0; i < 5; i++)
		meanwhile(w);
	start(m, from);
}

static const char *random_labels(struct world *w)
{
	static const char *const all[] = { "{}", "{\"x\":\"1\"}", "{\"x\":\"2\"}", "{\"y\":\"1\"}",
		                           "{\"x\":\"1\",\"y\":\"1\"}" };

	return all[rng_below(&w->rng, ARRAY_LEN(all))];
}

static void random_create(struct world *w, const char *name)
{
	struct fixture *f = w->f;
	const char *uid = w->uids[rng_below(&w->rng, ARRAY_LEN(w->uids))], *owners = "";

	if (uid && rng_one_in(&w->rng, 3))
		owners = fmt(
			f,
			",\"ownerReferences\":[{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"name\":\"x\",\"uid\":\"%s\"}]",
			uid);
	if (create(f, "pods",
	           fmt(f,
	               "{\"metadata\":{\"name\":\"%s\",\"labels\":%s%s%s},\"spec\":{\"containers\":[{\"name\":\"c\"}]}"
	               "}",
	               name, random_labels(w), owners, rng_one_in(&w->rng, 4) ? ",\"finalizers\":[\"a\"]" : "")) == 201)
		w->uids[rng_below(&w->rng, ARRAY_LEN(w->uids))] = fmt(f, "%s", said(f, "metadata.uid"));
}

static void random_patch(struct world *w, const char *name)
{
	static const char *const patches[] = { "{\"spec\":{\"nodeName\":\"n\"}}",
		                               "{\"spec\":{\"nodeName\":null}}",
		                               "{\"metadata\":{\"finalizers\":null}}",
		                               "{\"metadata\":{\"labels\":null}}",
		                               "{\"metadata\":{\"annotations\":{\"a\":\"b\"}}}",
		                               "{\"spec\":{\"x\":1}}" };
	struct fixture *f = w->f;

	if (rng_one_in(&w->rng, 2))
		merge_patch(f, "pods", name, patches[rng_below(&w->rng, ARRAY_LEN(patches))]);
	else
		merge_patch(f, "pods", name, fmt(f, "{\"metadata\":{\"labels\":%s}}", random_labels(w)));
}

static void random_call(struct world *w)
{
	struct fixture *f = w->f;
	const char *name = fmt(f, "p%d", (int)rng_below(&w->rng, NAMES));

	switch (rng_below(&w->rng, 8)) {
	case 0:
	case 1:
	case 2:
		random_create(w, name);
		break;
	case 3:
	case 4:
		random_patch(w, name);
		break;
	case 5:
		delete_one(f, "pods", name, rng_one_in(&w->rng, 2) ? "{\"gracePeriodSeconds\":0}" : NULL);
		break;
	case 6:
		store_step(f->store);
		break;
	default:
		if (rng_one_in(&w->rng, 10))
			ask(f, (struct store_request){ .verb = STORE_DELETE_ALL,
			                               .type = type_named(f, "pods"),
			                               .label_selector = STR("x=1") });
		break;
	}
	f->now += (msec)rng_below(&w->rng, 2000);
}

/* After store_step() has nothing to do, nobody waits for an owner that is gone. */
static void check_owners(struct world *w)
{
	struct fixture *f = w->f;
	yyjson_val *items, *one, *other;
	size_t i, max, k, most;

	settle(f);
	assert_int_equal(list(f, "pods", NULL, NULL), 200);
	items = json_get(yyjson_doc_get_root(f->doc), "items");
	yyjson_arr_foreach(items, i, max, one)
	{
		yyjson_val *owner = yyjson_arr_get(json_at(one, "metadata", "ownerReferences", NULL), 0);
		bool found = !owner || json_at(one, "metadata", "deletionTimestamp", NULL);

		yyjson_arr_foreach(items, k, most, other)
		{
			found = found || str_eq(json_str(json_get(owner, "uid")),
			                        json_str(json_at(other, "metadata", "uid", NULL)));
		}
		assert_true(found);
	}
}

static void watches_see_what_lists_see(void **state)
{
	struct world w = { .f = *state, .rng = rng_seed(42) };
	static const char *const selectors[MIRRORS][2] = {
		{ NULL, NULL },
		{ "x=1", NULL },
		{ "x!=1", NULL },
		{ NULL, "spec.nodeName=n" },
		{ "!y", "spec.nodeName=" },
		{ "x in (1,2),y", NULL },
	};

	for (size_t i = 0; i < MIRRORS; i++) {
		w.mirrors[i] = (struct mirror){ .f = w.f, .labels = selectors[i][0], .fields = selectors[i][1] };
		start(&w.mirrors[i], 0);
	}
	for (int n = 0; n < CALLS; n++) {
		random_call(&w);
		if (n % 20 == 0)
			begin_anew(&w, &w.mirrors[rng_below(&w.rng, MIRRORS)], random_call);
		if (n % 5 == 0)
			for (size_t i = 0; i < MIRRORS; i++)
				check_mirror(&w.mirrors[i]);
		if (n % 50 == 0)
			check_owners(&w);
	}
	for (size_t i = 0; i < MIRRORS; i++)
		store_watch_free(w.mirrors[i].watch);
}

/* A body in which something is of the wrong type, somewhere. */
static void random_body(struct rng *r, struct buf *out)
{
	static const char *const places[] = {
		"",
		"metadata",
		"metadata.name",
		"metadata.labels",
		"metadata.annotations",
		"metadata.finalizers",
		"metadata.ownerReferences",
		"metadata.uid",
		"metadata.resourceVersion",
		"spec",
		"spec.containers",
		"spec.names",
		"spec.versions",
		"status",
		"status.conditions",
		"data",
		"stringData",
		"kind",
		"metadata.deletionGracePeriodSeconds",
		"spec.nodeName",
		"spec.volumes",
		"$patch",
		"spec.group",
		"spec.terminationGracePeriodSeconds",
		"gracePeriodSeconds",
		"preconditions",
		"propagationPolicy",
	};
	yyjson_mut_doc *doc CLEANUP(json_mut_docp) = yyjson_mut_doc_new(NULL);
	yyjson_doc *base CLEANUP(json_docp) =
		json_parse(STR("{\"metadata\":{\"name\":\"p0\"},\"spec\":{\"containers\":[{\"name\":\"c\"}]}}"), NULL);
	yyjson_mut_val *root = yyjson_val_mut_copy(doc, yyjson_doc_get_root(base));

	for (uint64_t n = rng_below(r, 4); n; n--) {
		struct str rest = str_c(places[rng_below(r, ARRAY_LEN(places))]), key, last = STR_NONE;
		yyjson_mut_val *at = root;

		while (str_next(&rest, '.', &key)) {
			if (last.n && yyjson_mut_is_obj(at))
				at = yyjson_mut_obj_getn(at, last.p, last.n);
			last = key;
		}
		if (!last.n)
			root = random_tree(r, doc, 3, true);
		else if (yyjson_mut_is_obj(at))
			json_mut_put(doc, at, last, random_tree(r, doc, 3, true));
	}
	json_write(root, out);
}

static void no_body_breaks_anything(void **state)
{
	struct fixture *f = *state;
	static const char *const plurals[] = { "pods",       "configmaps", "secrets", "services",
		                               "namespaces", "nodes",      "events",  "customresourcedefinitions",
		                               "widgets" };
	struct rng rng = rng_seed(1);
	struct buf body = BUF_INIT(1 << 20);

	assert_int_equal(create(f, "customresourcedefinitions", widget_crd(f, NULL)), 201);
	for (int i = 0; i < 6000; i++) {
		const struct store_type *t = type_named(f, plurals[rng_below(&rng, ARRAY_LEN(plurals))]);
		struct store_request r = { .verb = (enum store_verb)(STORE_CREATE + rng_below(&rng, 4)),
			                   .type = t,
			                   .ns = STR("ml"),
			                   .name = STR("p0"),
			                   .patch = (enum store_patch)rng_below(&rng, 3),
			                   .status = t->status && rng_one_in(&rng, 4) };

		buf_clear(&body);
		random_body(&rng, &body);
		r.body = buf_str(&body);
		if (r.verb == STORE_PATCH && r.patch == STORE_PATCH_JSON && rng_one_in(&rng, 2))
			r.body = STR("[{\"op\":\"copy\",\"from\":\"/metadata\",\"path\":\"/spec\"}]");
		if (ask(f, r) >= 500)
			fail_msg("%s: %s", body.p, f->answer.body.p);
		store_step(f->store);
	}
	for (size_t i = 0; i < ARRAY_LEN(plurals); i++)
		assert_int_equal(list(f, plurals[i], NULL, NULL), 200);
	buf_release(&body);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		STORE_TEST(watches_see_what_lists_see),
		STORE_TEST(no_body_breaks_anything),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
