/* Tests of pod.c and pods.c. */
#include "logs/pods.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#define POD(labels, status)                                                                                            \
	"{\"metadata\": {\"name\": \"demo-worker-1\", \"namespace\": \"ml\", \"uid\": \"u1\", \"labels\": {" labels    \
	"}}, \"status\": {" status "}}"
#define WORKER "\"" LABEL_ROLE "\": \"worker\", \"" LABEL_INDEX "\": \"1\", \"" LABEL_GENERATION "\": \"2\""

static void told_pod(void *cookie, const struct log_pod *p)
{
	buf_printf(cookie, "%.*s/%.*s(%.*s) generation %d:", STR_F(p->ns), STR_F(p->name), STR_F(p->uid),
	           (int)p->generation);
}

static void told_container(void *cookie, const struct log_pod *p, const struct log_container *c)
{
	buf_printf(cookie, " %.*s-%d/%.*s%s%s %d", STR_F(p->role), p->index, STR_F(c->name), c->running ? " runs" : "",
	           c->ended ? " ended" : "", (int)c->restarts);
}

/* What is told of POD if ROLE and INDEX are wanted. */
static void assert_told(const char *pod, const char *role, int32_t index, const char *want)
{
	struct buf told = BUF_INIT(4096);
	struct log_pods p = { .role = role, .index = index, .events = { told_pod, told_container, NULL, NULL, &told } };
	yyjson_doc *doc = json_parse(str_c(pod), NULL);

	log_pods_take(&p, yyjson_doc_get_root(doc));
	assert_string_equal(told.n ? buf_str(&told).p : "", want);
	yyjson_doc_free(doc);
	buf_release(&told);
}

static void containers_are_told_in_order(void **state)
{
	(void)state;
	assert_told(POD(WORKER, "\"containerStatuses\": [{\"name\": \"main\", \"restartCount\": 3, "
	                        "\"state\": {\"running\": {}}}, {\"name\": \"side\", \"state\": {\"waiting\": {}}}], "
	                        "\"initContainerStatuses\": [{\"name\": \"fetch\", \"state\": {\"terminated\": {}}}]"),
	            NULL, -1,
	            "ml/demo-worker-1(u1) generation 2: worker-1/fetch ended 0 worker-1/main runs 3 worker-1/side 0");
	/* One that nothing is known of yet is there all the same. */
	assert_told(POD(WORKER, ""), NULL, -1, "ml/demo-worker-1(u1) generation 2:");
}

static void only_what_is_wanted_is_told(void **state)
{
	(void)state;
	assert_told(POD(WORKER, ""), "Worker", 1, "ml/demo-worker-1(u1) generation 2:");
	assert_told(POD(WORKER, ""), "ps", -1, "");
	assert_told(POD(WORKER, ""), NULL, 0, "");
}

static void what_is_no_replica_is_left_out(void **state)
{
	(void)state;
	assert_told(POD("", ""), NULL, -1, "");
	assert_told(POD("\"" LABEL_INDEX "\": \"-1\"", ""), NULL, -1, "");
	assert_told(POD("\"" LABEL_INDEX "\": \"4294967296\"", ""), NULL, -1, "");
	assert_told(POD("\"" LABEL_INDEX "\": \"x\"", ""), NULL, -1, "");
}

static void a_title_names_the_replica(void **state)
{
	struct log_pod p = { .name = STR_INIT("demo-worker-1"), .role = STR_INIT("worker"), .index = 1 };
	struct arena a = ARENA_INIT;

	(void)state;
	assert_string_equal(log_pod_title(&p, STR_NONE, &a).p, "worker-1");
	assert_string_equal(log_pod_title(&p, STR("side"), &a).p, "worker-1/side");
	p.role = STR_NONE;
	assert_string_equal(log_pod_title(&p, STR_NONE, &a).p, "demo-worker-1");
	arena_release(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(containers_are_told_in_order),
		cmocka_unit_test(only_what_is_wanted_is_told),
		cmocka_unit_test(what_is_no_replica_is_left_out),
		cmocka_unit_test(a_title_names_the_replica),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
