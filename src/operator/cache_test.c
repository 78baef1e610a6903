#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/json.h"
#include "operator/cache.h"

struct fixture {
	struct cache cache;
	int changes;
	struct str last; /* the key of the job that changed last */
	uint64_t sent;   /* the request that is answered */
};

static void changed(void *cookie, struct cached_job *job)
{
	struct fixture *f = cookie;

	f->changes++;
	f->last = job->key;
}

static void drop(void *cookie, struct cached_job *job)
{
	(void)cookie;
	cached_job_free(job);
}

static int setup(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));

	f->cache.changed = changed;
	f->cache.drop_job = drop;
	f->cache.cookie = f;
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	cache_release(&f->cache);
	free(f);
	return 0;
}

static struct meta meta(const char *name, const char *uid, const char *rv)
{
	return (struct meta){ .ns = STR("ns"), .name = str_c(name), .uid = str_c(uid), .rv = str_c(rv) };
}

static struct pod a_pod(const char *name, const char *uid, const char *rv, const char *job)
{
	return (struct pod){
		.meta = meta(name, uid, rv), .job_uid = str_c(job), .role = STR("worker"), .phase = POD_RUNNING
	};
}

static void pod_event(struct fixture *f, enum cluster_event_type type, const struct pod *pod)
{
	struct cluster_event ev = { .type = type, .resource = RES_POD, .object = { .resource = RES_POD, .pod = pod } };

	cache_event(&f->cache, &ev);
}

static void pod_answer(struct fixture *f, const struct pod *pod)
{
	struct object o = { .resource = RES_POD, .pod = pod };

	cache_answer(&f->cache, &o, f->sent);
}

static void job_event(struct fixture *f, enum cluster_event_type type, const char *kind, const char *name,
                      const char *uid, const char *rv)
{
	yyjson_doc *doc = json_parse(STR("{\"spec\":{}}"), NULL);
	struct job_object o = { .meta = meta(name, uid, rv), .kind = str_c(kind), .root = yyjson_doc_get_root(doc) };
	struct cluster_event ev = { .type = type, .resource = RES_JOB, .object = { .resource = RES_JOB, .job = &o } };

	cache_event(&f->cache, &ev);
	yyjson_doc_free(doc);
}

/* A job whose document the event leaves to whoever keeps it: what is left of it. */
static yyjson_doc *job_event_with_doc(struct fixture *f, const char *rv, yyjson_doc *doc)
{
	struct job_object o = {
		.meta = meta("one", "j", rv), .kind = STR("K"), .root = yyjson_doc_get_root(doc), .doc = &doc
	};
	struct cluster_event ev = { .resource = RES_JOB, .object = { .resource = RES_JOB, .job = &o } };

	ev.type = EVENT_PUT;
	cache_event(&f->cache, &ev);
	return doc;
}

static void test_a_tree_is_taken(void **state)
{
	struct fixture *f = *state;
	yyjson_doc *doc[4];
	struct cached_job *job;

	for (int i = 0; i < 4; i++)
		doc[i] = json_parse(STR("{\"spec\":{}}"), NULL);
	/* What is kept as text needs no tree. */
	assert_ptr_equal(job_event_with_doc(f, "1", doc[0]), doc[0]);
	job = cache_job(&f->cache, STR("K"), STR("ns"), STR("one"));
	assert_string_equal(job->text.p, "{\"spec\":{}}");
	str_free(job->text);
	job->text = STR_NONE;
	job->doc = doc[0];
	assert_null(job_event_with_doc(f, "2", doc[1]));
	assert_ptr_equal(job->doc, doc[1]);
	/* What is older is not kept, and one that cannot be had is copied. */
	assert_ptr_equal(job_event_with_doc(f, "1", doc[2]), doc[2]);
	assert_ptr_equal(job->doc, doc[1]);
	job_event(f, EVENT_PUT, "K", "one", "j", "3");
	assert_true(job->doc && job->doc != doc[1]);
	assert_null(job_event_with_doc(f, "4", doc[3]));
	assert_ptr_equal(job->doc, doc[3]);
	yyjson_doc_free(doc[2]);
}

static void list(struct fixture *f, enum cluster_event_type type, enum resource r, const char *kind)
{
	struct cluster_event ev = { .type = type, .resource = r, .kind = str_c(kind) };

	cache_event(&f->cache, &ev);
}

static const struct pod *pod_of(struct fixture *f, const char *name)
{
	struct cached_child *p = cache_child(&f->cache, RES_POD, STR("ns"), str_c(name));

	return p ? p->pod : NULL;
}

static void rv_is(struct fixture *f, const char *name, const char *rv)
{
	assert_non_null(pod_of(f, name));
	assert_true(str_eqc(pod_of(f, name)->meta.rv, rv));
}

static void test_children_by_job(void **state)
{
	struct fixture *f = *state;
	struct pod a = a_pod("a", "u1", "1", "j1"), b = a_pod("b", "u2", "2", "j1"), c = a_pod("c", "u3", "3", "j2");

	/* Children may come before their job. */
	pod_event(f, EVENT_PUT, &a);
	assert_int_equal(f->changes, 0);
	job_event(f, EVENT_PUT, "K", "one", "j1", "10");
	assert_int_equal(f->changes, 1);
	pod_event(f, EVENT_PUT, &b);
	pod_event(f, EVENT_PUT, &c);
	assert_int_equal(f->changes, 2);
	assert_true(str_eqc(f->last, "K ns/one"));
	assert_int_equal(cache_children(&f->cache, STR("j1"))->n[RES_POD], 2);
	assert_int_equal(cache_children(&f->cache, STR("j2"))->n[RES_POD], 1);
	/* A label that was changed moves it; both jobs are told. */
	b.job_uid = STR("j2");
	b.meta.rv = STR("4");
	pod_event(f, EVENT_PUT, &b);
	assert_int_equal(f->changes, 3);
	assert_int_equal(cache_children(&f->cache, STR("j1"))->n[RES_POD], 1);
	assert_int_equal(cache_children(&f->cache, STR("j2"))->n[RES_POD], 2);
	/* The same once more changes nothing. */
	pod_event(f, EVENT_PUT, &a);
	assert_int_equal(f->changes, 3);
}

static void test_own_write_is_not_overwritten(void **state)
{
	struct fixture *f = *state;
	struct pod p1 = a_pod("a", "u", "8", "j"), p2 = a_pod("a", "u", "9", "j"), p3 = a_pod("a", "u", "10", "j"),
		   p4 = a_pod("a", "u", "111", "j");

	pod_event(f, EVENT_PUT, &p1);
	pod_answer(f, &p3);
	rv_is(f, "a", "10");
	/* Older, and known to be. */
	pod_event(f, EVENT_PUT, &p1);
	rv_is(f, "a", "10");
	/* Older, though never seen. */
	pod_event(f, EVENT_PUT, &p2);
	rv_is(f, "a", "10");
	pod_event(f, EVENT_PUT, &p3);
	pod_event(f, EVENT_PUT, &p4);
	rv_is(f, "a", "111");
	/* What the watch repeats, and an answer that comes late. */
	pod_event(f, EVENT_PUT, &p2);
	pod_event(f, EVENT_PUT, &p3);
	pod_answer(f, &p3);
	rv_is(f, "a", "111");
}

/* No server that we support has such: what is shown last is taken, and nobody is shut out. */
static void test_versions_that_are_no_numbers(void **state)
{
	struct fixture *f = *state;
	struct pod p1 = a_pod("a", "u", "x", "j"), p2 = a_pod("a", "u", "0a", "j");

	pod_answer(f, &p1);
	rv_is(f, "a", "x");
	pod_event(f, EVENT_PUT, &p2);
	rv_is(f, "a", "0a");
}

static void test_earlier_pod_of_that_name(void **state)
{
	struct fixture *f = *state;
	struct pod new = a_pod("a", "new", "20", "j2"), old = a_pod("a", "old", "15", "j1");

	pod_answer(f, &new);
	pod_event(f, EVENT_PUT, &old);
	rv_is(f, "a", "20");
	assert_null(cache_children(&f->cache, STR("j1")));
}

/* A list can be older than the answer to a request that was sent after it. */
static void test_old_list(void **state)
{
	struct fixture *f = *state;
	struct pod p = a_pod("a", "u", "20", "j");

	pod_answer(f, &p);
	list(f, EVENT_SYNC, RES_POD, "");
	p.meta.rv = STR("15");
	pod_event(f, EVENT_PUT, &p);
	list(f, EVENT_SYNCED, RES_POD, "");
	rv_is(f, "a", "20");
	p.meta.rv = STR("21");
	pod_answer(f, &p);
	rv_is(f, "a", "21");
	list(f, EVENT_SYNC, RES_POD, "");
	p.meta.rv = STR("22");
	pod_event(f, EVENT_PUT, &p);
	list(f, EVENT_SYNCED, RES_POD, "");
	rv_is(f, "a", "22");
}

static void test_gone(void **state)
{
	struct fixture *f = *state;
	struct pod p = a_pod("a", "u", "1", "j"), last = p, again = a_pod("a", "v", "9", "j");

	job_event(f, EVENT_PUT, "K", "one", "j", "10");
	pod_event(f, EVENT_PUT, &p);
	last.meta.rv = STR("2");
	last.meta.deleted = 5000;
	last.phase = POD_FAILED;
	pod_event(f, EVENT_GONE, &last);
	/* Its last state stays … */
	assert_true(pod_of(f, "a")->gone);
	assert_int_equal(pod_of(f, "a")->phase, POD_FAILED);
	assert_int_equal(cache_children(&f->cache, STR("j"))->n[RES_POD], 1);
	/* … nothing brings it back … */
	pod_event(f, EVENT_PUT, &p);
	pod_answer(f, &p);
	assert_true(pod_of(f, "a")->gone);
	/* … but one who asked after its end … */
	f->cache.sent = f->sent = 1;
	pod_answer(f, &p);
	assert_false(pod_of(f, "a")->gone);
	pod_event(f, EVENT_GONE, &last);
	assert_true(pod_of(f, "a")->gone);
	/* … until the next pod of that replica … */
	pod_event(f, EVENT_PUT, &again);
	assert_false(pod_of(f, "a")->gone);
	assert_int_equal(cache_children(&f->cache, STR("j"))->n[RES_POD], 1);
	pod_event(f, EVENT_GONE, &last);
	assert_false(pod_of(f, "a")->gone);
	/* … or the end of its job. */
	again.meta.deleted = 7000;
	pod_event(f, EVENT_GONE, &again);
	assert_non_null(pod_of(f, "a"));
	job_event(f, EVENT_GONE, "K", "one", "j", "11");
	assert_null(pod_of(f, "a"));
	assert_null(cache_children(&f->cache, STR("j")));
}

static void test_gone_without_deletion_is_doubted(void **state)
{
	struct fixture *f = *state;
	struct pod p = a_pod("a", "u", "1", "j");
	struct cached_child *c;

	job_event(f, EVENT_PUT, "K", "one", "j", "10");
	pod_event(f, EVENT_PUT, &p);
	pod_event(f, EVENT_GONE, &p);
	c = cache_child(&f->cache, RES_POD, STR("ns"), STR("a"));
	assert_true(c->versions.unsure);
	assert_false(c->pod->gone);
	/* The answer to what was sent before tells nothing: the create, say, when it was still ok. */
	pod_answer(f, &p);
	assert_true(c->versions.unsure);
	/* A GET finds it without our label, which is put back. */
	f->cache.sent = f->sent = 1;
	p.meta.rv = STR("3");
	pod_answer(f, &p);
	assert_false(c->versions.unsure);
	pod_event(f, EVENT_GONE, &p);
	assert_true(c->versions.unsure);
	cache_missing(&f->cache, RES_POD, STR("ns"), STR("a"), STR("other"));
	assert_false(c->pod->gone);
	cache_missing(&f->cache, RES_POD, STR("ns"), STR("a"), STR("u"));
	assert_true(c->pod->gone);
}

static void test_list_sweeps(void **state)
{
	struct fixture *f = *state;
	struct pod a = a_pod("a", "u1", "1", "j"), b = a_pod("b", "u2", "2", "j"), c = a_pod("c", "u3", "3", "j"),
		   stray = a_pod("s", "u4", "4", "nobody"), d = a_pod("d", "u5", "5", "j");

	job_event(f, EVENT_PUT, "K", "one", "j", "10");
	pod_event(f, EVENT_PUT, &a);
	pod_event(f, EVENT_PUT, &b);
	pod_event(f, EVENT_PUT, &stray);
	b.meta.deleted = 1000;
	b.meta.rv = STR("6");
	pod_event(f, EVENT_PUT, &b);
	pod_event(f, EVENT_PUT, &d);
	pod_answer(f, &c);
	f->changes = 0;
	list(f, EVENT_SYNC, RES_POD, "");
	pod_event(f, EVENT_PUT, &a);
	assert_false(pod_of(f, "b")->gone);
	list(f, EVENT_SYNCED, RES_POD, "");
	assert_false(pod_of(f, "a")->gone);
	assert_true(pod_of(f, "b")->gone);
	assert_null(pod_of(f, "s"));
	/* Ours may be newer than the list, or it lost our label: a GET must tell. */
	assert_false(pod_of(f, "c")->gone);
	assert_true(cache_child(&f->cache, RES_POD, STR("ns"), STR("c"))->versions.unsure);
	assert_false(pod_of(f, "d")->gone);
	assert_true(cache_child(&f->cache, RES_POD, STR("ns"), STR("d"))->versions.unsure);
	assert_int_equal(f->changes, 3);
}

static void test_jobs(void **state)
{
	struct fixture *f = *state;

	job_event(f, EVENT_PUT, "K", "one", "j1", "1");
	job_event(f, EVENT_PUT, "L", "one", "j2", "2");
	job_event(f, EVENT_PUT, "K", "one", "j1", "1");
	assert_int_equal(f->changes, 2);
	/* The same name, another job. */
	job_event(f, EVENT_PUT, "K", "one", "j3", "3");
	assert_true(str_eqc(cache_job(&f->cache, STR("K"), STR("ns"), STR("one"))->meta.uid, "j3"));
	job_event(f, EVENT_PUT, "K", "one", "j1", "1");
	assert_true(str_eqc(cache_job(&f->cache, STR("K"), STR("ns"), STR("one"))->meta.uid, "j3"));
	/* … also if we never saw the earlier one before. */
	job_event(f, EVENT_PUT, "K", "one", "j0", "2");
	assert_true(str_eqc(cache_job(&f->cache, STR("K"), STR("ns"), STR("one"))->meta.uid, "j3"));
	/* A list of one kind leaves the others alone. */
	list(f, EVENT_SYNC, RES_JOB, "K");
	list(f, EVENT_SYNCED, RES_JOB, "K");
	assert_null(cache_job(&f->cache, STR("K"), STR("ns"), STR("one")));
	assert_non_null(cache_job(&f->cache, STR("L"), STR("ns"), STR("one")));
}

/* Two kinds are listed at the same time: what the one shows does not depend on when the other begins. */
static void test_lists_that_overlap(void **state)
{
	struct fixture *f = *state;

	list(f, EVENT_SYNC, RES_JOB, "K");
	job_event(f, EVENT_PUT, "K", "one", "j1", "1");
	list(f, EVENT_SYNC, RES_JOB, "L");
	job_event(f, EVENT_PUT, "L", "two", "j2", "2");
	list(f, EVENT_SYNCED, RES_JOB, "L");
	list(f, EVENT_SYNCED, RES_JOB, "K");
	assert_non_null(cache_job(&f->cache, STR("K"), STR("ns"), STR("one")));
	assert_non_null(cache_job(&f->cache, STR("L"), STR("ns"), STR("two")));
	/* A list of all kinds sweeps them all. */
	list(f, EVENT_SYNC, RES_JOB, "");
	job_event(f, EVENT_PUT, "L", "two", "j2", "2");
	list(f, EVENT_SYNCED, RES_JOB, "");
	assert_null(cache_job(&f->cache, STR("K"), STR("ns"), STR("one")));
	assert_non_null(cache_job(&f->cache, STR("L"), STR("ns"), STR("two")));
}

static void test_listed(void **state)
{
	struct fixture *f = *state;

	assert_false(cache_listed(&f->cache, RES_POD, STR("")));
	list(f, EVENT_SYNC, RES_POD, "");
	assert_false(cache_listed(&f->cache, RES_POD, STR("")));
	list(f, EVENT_SYNCED, RES_POD, "");
	assert_true(cache_listed(&f->cache, RES_POD, STR("")));
	assert_false(cache_listed(&f->cache, RES_SERVICE, STR("")));
	/* Each kind by itself, or all at once. */
	list(f, EVENT_SYNCED, RES_JOB, "K");
	assert_true(cache_listed(&f->cache, RES_JOB, STR("K")));
	assert_false(cache_listed(&f->cache, RES_JOB, STR("L")));
	list(f, EVENT_SYNC, RES_JOB, "K");
	assert_true(cache_listed(&f->cache, RES_JOB, STR("K")));
	list(f, EVENT_SYNCED, RES_JOB, "");
	assert_true(cache_listed(&f->cache, RES_JOB, STR("L")));
}

static void test_services(void **state)
{
	struct fixture *f = *state;
	struct service s = { .meta = meta("s", "u", "1"), .job_uid = STR("j") }, next = s;
	struct cluster_event ev = { .type = EVENT_PUT,
		                    .resource = RES_SERVICE,
		                    .object = { .resource = RES_SERVICE, .service = &s } };

	job_event(f, EVENT_PUT, "K", "one", "j", "10");
	cache_event(&f->cache, &ev);
	assert_int_equal(cache_children(&f->cache, STR("j"))->n[RES_SERVICE], 1);
	/* Our own delete is believed; what else denies a service is not, at first. */
	ev.type = EVENT_GONE;
	cache_event(&f->cache, &ev);
	assert_true(cache_child(&f->cache, RES_SERVICE, STR("ns"), STR("s"))->versions.unsure);
	cache_deleting(&f->cache, RES_SERVICE, STR("ns"), STR("s"), STR("u"), 1000, false);
	cache_event(&f->cache, &ev);
	assert_null(cache_child(&f->cache, RES_SERVICE, STR("ns"), STR("s")));
	ev.type = EVENT_PUT;
	cache_event(&f->cache, &ev);
	assert_null(cache_child(&f->cache, RES_SERVICE, STR("ns"), STR("s")));
	next.meta.uid = STR("v");
	ev.object.service = &next;
	cache_event(&f->cache, &ev);
	assert_non_null(cache_child(&f->cache, RES_SERVICE, STR("ns"), STR("s")));
}

static void test_deleting(void **state)
{
	struct fixture *f = *state;
	struct pod p = a_pod("a", "u", "1", "j");

	pod_event(f, EVENT_PUT, &p);
	cache_deleting(&f->cache, RES_POD, STR("ns"), STR("a"), STR("other"), 1000, false);
	assert_int_equal(pod_of(f, "a")->meta.deleted, 0);
	cache_deleting(&f->cache, RES_POD, STR("ns"), STR("a"), STR("u"), 1000, false);
	assert_int_equal(pod_of(f, "a")->meta.deleted - SECONDS(pod_of(f, "a")->meta.grace), 1000);
	cache_deleting(&f->cache, RES_POD, STR("ns"), STR("a"), STR("u"), 9000, true);
	assert_int_equal(pod_of(f, "a")->meta.grace, 0);
}

static void node_event(struct fixture *f, enum cluster_event_type type, const char *name, bool ready, bool taint)
{
	struct node n = { .name = str_c(name), .ready = ready, .out_of_service = taint };
	struct cluster_event ev = { .type = type,
		                    .resource = RES_NODE,
		                    .object = { .resource = RES_NODE, .node = &n } };

	cache_event(&f->cache, &ev);
}

static void test_nodes(void **state)
{
	struct fixture *f = *state;
	struct pod p = a_pod("a", "u", "1", "j");
	const struct node *n;

	job_event(f, EVENT_PUT, "K", "one", "j", "10");
	pod_event(f, EVENT_PUT, &p);
	node_event(f, EVENT_PUT, "n1", true, false);
	node_event(f, EVENT_PUT, "n2", false, false);
	node_event(f, EVENT_PUT, "n3", false, true);
	assert_int_equal(cache_fleet(&f->cache)->total, 2);
	assert_int_equal(cache_fleet(&f->cache)->not_ready, 1);
	f->changes = 0;
	/* A heartbeat is no change. */
	node_event(f, EVENT_PUT, "n1", true, false);
	assert_int_equal(f->changes, 0);
	node_event(f, EVENT_PUT, "n1", false, false);
	assert_int_equal(f->changes, 1);
	/* Gone from the watch means not known; only a GET makes it gone. */
	node_event(f, EVENT_GONE, "n1", false, false);
	assert_null(map_get(cache_fleet(&f->cache)->nodes, STR("n1")));
	cache_node_missing(&f->cache, STR("n1"));
	n = map_get(cache_fleet(&f->cache)->nodes, STR("n1"));
	assert_true(n->gone);
	assert_int_equal(cache_fleet(&f->cache)->total, 1);
	/* A list does not forget it; the node itself does. */
	list(f, EVENT_SYNC, RES_NODE, "");
	list(f, EVENT_SYNCED, RES_NODE, "");
	assert_int_equal(cache_fleet(&f->cache)->nodes->n, 1);
	node_event(f, EVENT_PUT, "n1", true, false);
	assert_int_equal(cache_fleet(&f->cache)->total, 1);
	assert_int_equal(f->cache.nodes_missed, 0);
}

/* A node is not ready since we have seen it so, whatever its clock or the server's says. */
static void test_nodes_have_our_clock(void **state)
{
	struct fixture *f = *state;
	const struct node *n;

	f->cache.now = 1000;
	node_event(f, EVENT_PUT, "n1", true, false);
	n = map_get(&f->cache.nodes, STR("n1"));
	assert_int_equal(n->since, 0);
	f->cache.now = 2000;
	node_event(f, EVENT_PUT, "n1", false, false);
	assert_int_equal(n->since, 2000);
	/* Whatever else changes of it, and whoever lists it anew. */
	f->cache.now = 3000;
	node_event(f, EVENT_PUT, "n1", false, true);
	list(f, EVENT_SYNC, RES_NODE, "");
	node_event(f, EVENT_PUT, "n1", false, false);
	list(f, EVENT_SYNCED, RES_NODE, "");
	assert_int_equal(n->since, 2000);
	node_event(f, EVENT_PUT, "n1", true, false);
	node_event(f, EVENT_PUT, "n1", false, false);
	assert_int_equal(n->since, 3000);
}

/* What was seen of a pod's end before anybody asked for its deletion is kept while it is the same pod. */
static void test_ends_that_were_seen(void **state)
{
	struct container c = { .name = STR("main"), .state = CONTAINER_TERMINATED, .finished = 5000 };
	struct fixture *f = *state;
	struct pod p = a_pod("a", "u", "1", "j");
	const struct pod *kept;

	job_event(f, EVENT_PUT, "K", "one", "j", "10");
	p.containers = &c;
	p.n_containers = 1;
	pod_event(f, EVENT_PUT, &p);
	p.meta.rv = STR("2");
	p.meta.deleted = 9000;
	p.phase = POD_SUCCEEDED;
	c.finished = 7000;
	pod_event(f, EVENT_PUT, &p);
	kept = cache_child(&f->cache, RES_POD, p.meta.ns, p.meta.name)->pod;
	assert_int_equal(kept->ended_seen, 5000);
	assert_false(kept->ended);
	/* A container that is about to start again in place has not ended. */
	p = a_pod("a", "x", "2", "j");
	c.comes_back = true;
	p.containers = &c;
	p.n_containers = 1;
	pod_event(f, EVENT_PUT, &p);
	assert_int_equal(cache_child(&f->cache, RES_POD, p.meta.ns, p.meta.name)->pod->ended_seen, 0);
	c.comes_back = false;
	/* A kubelet that stops a pod asks nobody to delete it; the condition goes again where it was not meant. */
	p = a_pod("a", "w", "3", "j");
	p.containers = &c;
	p.n_containers = 1;
	p.phase = POD_SUCCEEDED;
	p.disrupted = true;
	pod_event(f, EVENT_PUT, &p);
	kept = cache_child(&f->cache, RES_POD, p.meta.ns, p.meta.name)->pod;
	assert_false(kept->ended);
	assert_int_equal(kept->ended_seen, 0);
	p.meta.rv = STR("4");
	p.disrupted = false;
	pod_event(f, EVENT_PUT, &p);
	kept = cache_child(&f->cache, RES_POD, p.meta.ns, p.meta.name)->pod;
	assert_true(kept->ended);
	assert_int_equal(kept->ended_seen, 7000);
	/* Another pod of that name begins anew. */
	p = a_pod("a", "v", "5", "j");
	p.phase = POD_FAILED;
	pod_event(f, EVENT_PUT, &p);
	p.meta.rv = STR("6");
	p.meta.deleted = 9000;
	pod_event(f, EVENT_GONE, &p);
	kept = cache_child(&f->cache, RES_POD, p.meta.ns, p.meta.name)->pod;
	assert_true(kept->gone);
	assert_true(kept->ended);
	assert_int_equal(kept->ended_seen, 0);
}

static void test_nodes_missed_are_bounded(void **state)
{
	struct fixture *f = *state;
	char name[32];

	for (int i = 0; i < NODES_MISSED_MAX + 10; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		cache_node_missing(&f->cache, str_c(name));
	}
	assert_true(f->cache.nodes.n <= NODES_MISSED_MAX);
	assert_int_equal(f->cache.nodes_missed, f->cache.nodes.n);
}

/* Since when its containers cannot be created is our own time, and that pod's alone. */
static void test_since_when_it_is_stuck(void **state)
{
	struct fixture *f = *state;
	struct container c = { .name = STR("main"), .reason = STR("ErrImagePull") };
	struct pod pod = a_pod("p", "u1", "1", "j");

	pod.phase = POD_PENDING;
	pod.started = SECONDS(5);
	pod.containers = &c;
	pod.n_containers = 1;
	f->cache.now = SECONDS(1000);
	pod_event(f, EVENT_PUT, &pod);
	f->cache.now = SECONDS(1060);
	pod.meta.rv = STR("2");
	c.reason = STR("ImagePullBackOff");
	pod_event(f, EVENT_PUT, &pod);
	assert_int_equal(cache_child(&f->cache, RES_POD, STR("ns"), STR("p"))->pod->stuck, SECONDS(1000));
	pod.meta.rv = STR("3");
	pod.meta.uid = STR("u2");
	pod_event(f, EVENT_PUT, &pod);
	assert_int_equal(cache_child(&f->cache, RES_POD, STR("ns"), STR("p"))->pod->stuck, SECONDS(1060));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_children_by_job),
		TEST(test_a_tree_is_taken),
		TEST(test_since_when_it_is_stuck),
		TEST(test_own_write_is_not_overwritten),
		TEST(test_versions_that_are_no_numbers),
		TEST(test_old_list),
		TEST(test_earlier_pod_of_that_name),
		TEST(test_gone),
		TEST(test_gone_without_deletion_is_doubted),
		TEST(test_list_sweeps),
		TEST(test_jobs),
		TEST(test_lists_that_overlap),
		TEST(test_listed),
		TEST(test_services),
		TEST(test_deleting),
		TEST(test_nodes),
		TEST(test_nodes_missed_are_bounded),
		TEST(test_nodes_have_our_clock),
		TEST(test_ends_that_were_seen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
