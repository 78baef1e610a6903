/* Objects that a cluster skipped, as the cache takes them: unknown, never gone. */
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
};

static void changed(void *cookie, struct cached_job *job)
{
	struct fixture *f = cookie;

	(void)job;
	f->changes++;
}

static void drop(void *cookie, struct cached_job *job)
{
	(void)cookie;
	cached_job_free(job);
}

static void job_event(struct fixture *f, enum cluster_event_type type, const char *rv)
{
	yyjson_doc *doc = json_parse(STR("{\"spec\":{}}"), NULL);
	struct job_object o = { .meta = { .ns = STR("ns"), .name = STR("one"), .uid = STR("j"), .rv = str_c(rv) },
		                .kind = STR("K"),
		                .root = yyjson_doc_get_root(doc) };
	struct cluster_event ev = { .type = type, .resource = RES_JOB, .object = { .resource = RES_JOB, .job = &o } };

	cache_event(&f->cache, &ev);
	yyjson_doc_free(doc);
}

/* With a job. */
static int setup(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));

	f->cache.changed = changed;
	f->cache.drop_job = drop;
	f->cache.cookie = f;
	job_event(f, EVENT_PUT, "1");
	f->changes = 0;
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

static void list(struct fixture *f, enum cluster_event_type type, enum resource r)
{
	struct cluster_event ev = { .type = type, .resource = r, .kind = r == RES_JOB ? STR("K") : STR_NONE };

	cache_event(&f->cache, &ev);
}

static struct pod a_pod(const char *name, const char *uid, const char *rv)
{
	return (struct pod){ .meta = { .ns = STR("ns"),
		                       .name = str_c(name),
		                       .uid = str_c(uid),
		                       .rv = str_c(rv),
		                       .owner_uid = STR("j") },
		             .job_uid = STR("j"),
		             .role = STR("worker"),
		             .phase = POD_RUNNING };
}

static void put_pod(struct fixture *f, const struct pod *pod)
{
	struct cluster_event ev = { .type = EVENT_PUT,
		                    .resource = RES_POD,
		                    .object = { .resource = RES_POD, .pod = pod } };

	cache_event(&f->cache, &ev);
}

static void put_service(struct fixture *f, enum cluster_event_type type)
{
	struct service s = { .meta = { .ns = STR("ns"), .name = STR("s"), .uid = STR("u"), .rv = STR("5") },
		             .job_uid = STR("j") };
	struct cluster_event ev = { .type = type,
		                    .resource = RES_SERVICE,
		                    .object = { .resource = RES_SERVICE, .service = &s } };

	cache_event(&f->cache, &ev);
}

static void leave_out(struct fixture *f, enum resource r, const char *name, const char *uid, const char *rv,
                      const char *owner, bool gone)
{
	struct cluster_event ev = {
		.type = EVENT_SKIPPED,
		.resource = r,
		.kind = r == RES_JOB ? STR("K") : STR_NONE,
		.skipped = { .meta = { .ns = STR("ns"),
		                       .name = str_c(name),
		                       .uid = str_c(uid),
		                       .rv = str_c(rv),
		                       .owner_uid = str_c(owner) },
		             .job_uid = STR("j"),
		             .gone = gone,
		             .large = true },
	};

	cache_event(&f->cache, &ev);
}

static struct cached_child *pod_of(struct fixture *f, const char *name)
{
	return cache_child(&f->cache, RES_POD, STR("ns"), str_c(name));
}

static bool is_unsure(struct fixture *f, const char *name)
{
	assert_non_null(pod_of(f, name));
	assert_false(pod_of(f, name)->pod->gone);
	return pod_of(f, name)->versions.unsure;
}

/* A pod that we know, in a list: it is there; a version that we know tells nothing new. */
static void test_known_in_a_list(void **state)
{
	struct fixture *f = *state;
	struct pod p = a_pod("a", "u", "5"), q = a_pod("b", "v", "6");

	/* Both are being deleted: a list without them would be their end. */
	p.meta.deleted = q.meta.deleted = 1000;
	put_pod(f, &p);
	put_pod(f, &q);
	list(f, EVENT_SYNC, RES_POD);
	leave_out(f, RES_POD, "a", "u", "5", "j", false);
	list(f, EVENT_SYNCED, RES_POD);
	assert_false(is_unsure(f, "a"));
	assert_true(pod_of(f, "b")->pod->gone);
	list(f, EVENT_SYNC, RES_POD);
	leave_out(f, RES_POD, "a", "u", "7", "j", false);
	list(f, EVENT_SYNCED, RES_POD);
	assert_true(is_unsure(f, "a"));
	/* It has shrunk. */
	p.meta.rv = STR("8");
	put_pod(f, &p);
	assert_false(is_unsure(f, "a"));
}

static void test_known_in_a_watch(void **state)
{
	struct fixture *f = *state;
	struct pod p = a_pod("a", "u", "5");
	struct object o = { .resource = RES_POD, .pod = &p };

	put_pod(f, &p);
	f->changes = 0;
	/* Late. */
	leave_out(f, RES_POD, "a", "u", "4", "j", false);
	assert_false(is_unsure(f, "a"));
	assert_int_equal(f->changes, 0);
	leave_out(f, RES_POD, "a", "u", "7", "j", false);
	assert_true(is_unsure(f, "a"));
	assert_int_equal(f->changes, 1);
	/* A GET tells, and what it told the watch cannot contradict. */
	p.meta.rv = STR("7");
	cache_answer(&f->cache, &o, 1);
	assert_false(is_unsure(f, "a"));
	assert_true(pod_of(f, "a")->versions.ahead);
	leave_out(f, RES_POD, "a", "u", "7", "j", false);
	assert_false(is_unsure(f, "a"));
	assert_false(pod_of(f, "a")->versions.ahead);
	/* Its end: the GET says 404. */
	leave_out(f, RES_POD, "a", "u", "9", "j", true);
	assert_true(is_unsure(f, "a"));
	cache_missing(&f->cache, RES_POD, STR("ns"), STR("a"), STR("u"));
	assert_true(pod_of(f, "a")->pod->gone);
	/* What is said of it later is old. */
	leave_out(f, RES_POD, "a", "u", "8", "j", false);
	assert_true(pod_of(f, "a")->pod->gone);
}

/* One that we never had: a GET must tell, if it is our job's. A stranger's is nobody's. */
static void test_unknown(void **state)
{
	struct fixture *f = *state;
	struct pod p = a_pod("a", "u", "5");

	list(f, EVENT_SYNC, RES_POD);
	leave_out(f, RES_POD, "a", "u", "5", "j", false);
	leave_out(f, RES_POD, "stranger", "v", "6", "somebody", false);
	list(f, EVENT_SYNCED, RES_POD);
	assert_null(pod_of(f, "stranger"));
	assert_true(is_unsure(f, "a"));
	assert_int_equal(f->changes, 1);
	/* The plan must not see it: it is nobody's until it was read. */
	assert_int_equal(pod_of(f, "a")->pod->meta.owner_uid.n, 0);
	put_pod(f, &p);
	assert_false(is_unsure(f, "a"));
	assert_true(str_eqc(pod_of(f, "a")->pod->role, "worker"));
	/* One that nobody ever saw has ended: it does not come back. */
	leave_out(f, RES_POD, "b", "w", "9", "j", true);
	assert_null(pod_of(f, "b"));
	p = a_pod("b", "w", "8");
	put_pod(f, &p);
	assert_null(pod_of(f, "b"));
}

/* Another one stands under the name of ours. */
static void test_same_name(void **state)
{
	struct fixture *f = *state;
	struct pod p = a_pod("a", "u", "5");

	put_pod(f, &p);
	/* A late event of an earlier one. */
	leave_out(f, RES_POD, "a", "t", "4", "j", false);
	assert_false(is_unsure(f, "a"));
	list(f, EVENT_SYNC, RES_POD);
	leave_out(f, RES_POD, "a", "v", "8", "j", false);
	list(f, EVENT_SYNCED, RES_POD);
	assert_true(is_unsure(f, "a"));
	/* Ours is known to be gone: the new one takes its place. */
	cache_missing(&f->cache, RES_POD, STR("ns"), STR("a"), STR("u"));
	leave_out(f, RES_POD, "a", "v", "8", "j", false);
	assert_true(is_unsure(f, "a"));
	assert_true(str_eqc(pod_of(f, "a")->pod->meta.uid, "v"));
	put_pod(f, &p);
	assert_true(str_eqc(pod_of(f, "a")->pod->meta.uid, "v"));
}

/* Another job's pod had that name, perhaps an earlier job's of ours: it is gone, and ours must not be made again. */
static void test_name_of_another_job(void **state)
{
	struct fixture *f = *state;
	struct pod p = a_pod("a", "u", "5");

	p.job_uid = p.meta.owner_uid = STR("earlier");
	put_pod(f, &p);
	f->changes = 0;
	list(f, EVENT_SYNC, RES_POD);
	leave_out(f, RES_POD, "a", "v", "8", "j", false);
	list(f, EVENT_SYNCED, RES_POD);
	assert_true(is_unsure(f, "a"));
	assert_true(str_eqc(pod_of(f, "a")->pod->meta.uid, "v"));
	assert_true(str_eqc(pod_of(f, "a")->pod->job_uid, "j"));
	assert_int_not_equal(f->changes, 0);
}

/* Something in the list has no name: nothing is gone by it, but asked for. */
static void test_nameless(void **state)
{
	struct fixture *f = *state;
	struct pod p = a_pod("a", "u", "5"), orphan = a_pod("o", "v", "6");

	p.meta.deleted = orphan.meta.deleted = 1000;
	orphan.job_uid = STR("other");
	put_pod(f, &p);
	put_pod(f, &orphan);
	put_service(f, EVENT_PUT);
	for (int r = 0; r < RES_GROUP; r++) {
		list(f, EVENT_SYNC, (enum resource)r);
		leave_out(f, (enum resource)r, "", "", "", "", false);
		list(f, EVENT_SYNCED, (enum resource)r);
	}
	assert_true(is_unsure(f, "a"));
	assert_false(is_unsure(f, "o"));
	assert_true(cache_child(&f->cache, RES_SERVICE, STR("ns"), STR("s"))->versions.unsure);
	assert_true(cache_job(&f->cache, STR("K"), STR("ns"), STR("one"))->versions.unsure);
	/* The next list sees everything. */
	list(f, EVENT_SYNC, RES_POD);
	list(f, EVENT_SYNCED, RES_POD);
	assert_null(pod_of(f, "o"));
}

static void test_jobs(void **state)
{
	struct fixture *f = *state;
	struct cached_job *job = cache_job(&f->cache, STR("K"), STR("ns"), STR("one"));

	list(f, EVENT_SYNC, RES_JOB);
	leave_out(f, RES_JOB, "one", "j", "1", "", false);
	leave_out(f, RES_JOB, "two", "k", "2", "", false);
	list(f, EVENT_SYNCED, RES_JOB);
	assert_ptr_equal(cache_job(&f->cache, STR("K"), STR("ns"), STR("one")), job);
	assert_null(cache_job(&f->cache, STR("K"), STR("ns"), STR("two")));
	assert_false(job->versions.unsure);
	leave_out(f, RES_JOB, "one", "j", "3", "", false);
	assert_true(job->versions.unsure);
	job_event(f, EVENT_PUT, "4");
	assert_false(job->versions.unsure);
	leave_out(f, RES_JOB, "one", "j", "5", "", true);
	assert_true(job->versions.unsure);
}

static void test_services_and_nodes(void **state)
{
	struct fixture *f = *state;
	struct node n = { .name = STR("n"), .ready = true };
	struct cluster_event ev = { .type = EVENT_PUT,
		                    .resource = RES_NODE,
		                    .object = { .resource = RES_NODE, .node = &n } };

	leave_out(f, RES_SERVICE, "s", "u", "4", "j", false);
	assert_true(cache_child(&f->cache, RES_SERVICE, STR("ns"), STR("s"))->versions.unsure);
	put_service(f, EVENT_PUT);
	assert_false(cache_child(&f->cache, RES_SERVICE, STR("ns"), STR("s"))->versions.unsure);
	leave_out(f, RES_SERVICE, "s", "u", "6", "j", true);
	assert_true(cache_child(&f->cache, RES_SERVICE, STR("ns"), STR("s"))->versions.unsure);
	cache_event(&f->cache, &ev);
	list(f, EVENT_SYNC, RES_NODE);
	leave_out(f, RES_NODE, "n", "u", "4", "", false);
	list(f, EVENT_SYNCED, RES_NODE);
	assert_non_null(map_get(&f->cache.nodes, STR("n")));
	leave_out(f, RES_NODE, "n", "u", "5", "", true);
	assert_null(map_get(&f->cache.nodes, STR("n")));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_known_in_a_list),     TEST(test_known_in_a_watch),   TEST(test_unknown),
		TEST(test_same_name),           TEST(test_nameless),           TEST(test_jobs),
		TEST(test_name_of_another_job), TEST(test_services_and_nodes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
