/* Specs and states through JSON and back, and the status that Kubernetes would show. */
#include "local/pod/pod.h"

#include "base/json.h"
#include "object/labels.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

static const char state_text[] =
	"{\"life\":\"stopping\",\"pid\":7,\"pid_start\":8,\"boot\":\"b\",\"own_pids\":true,\"cgroup\":\"c\","
	"\"started\":1000,"
	"\"reason\":\"r\",\"message\":\"m\",\"failed\":true,\"containers\":[{\"name\":\"a\",\"image\":\"i\",\"init\":"
	"true,"
	"\"restarts\":2,\"ready\":true,\"ready_since\":5,\"started\":true,\"now\":{\"run\":\"running\",\"started\":3},"
	"\"last\":{\"run\":\"terminated\",\"reason\":\"Error\",\"exit_code\":-1,\"finished\":2},\"pid\":9,\"log_"
	"dropped\":4,"
	"\"log_problem\":\"l\",\"problem\":\"p\",\"problems\":1}],\"notes\":[\"n\",\"o\"]}";

static void test_state_json(void **state)
{
	struct arena a = ARENA_INIT;
	struct pod_state s;
	struct buf out = BUF_INIT(65536);

	(void)state;
	assert_true(pod_state_parse(&s, str_c(state_text), &a, NULL));
	assert_int_equal(s.life, POD_STOPPING);
	assert_int_equal(s.containers.v[0].last.exit_code, -1);
	pod_state_write(&s, &out);
	assert_string_equal(out.p, state_text);
	buf_release(&out);
	arena_release(&a);
}

/* What another one wrote, or a half of it. */
static void test_hostile_state(void **state)
{
	static const char *const bad[] = { "",
		                           "[]",
		                           "{\"life\":1}",
		                           "{\"life\":\"nope\"}",
		                           "{\"pid\":\"7\"}",
		                           "{\"pid\":1.5}",
		                           "{\"containers\":{}}",
		                           "{\"containers\":[1]}",
		                           "{\"notes\":[1]}",
		                           "{\"containers\":[{\"now\":[]}]}",
		                           "{\"own_pids\":0}",
		                           "{\"boot\":7}" };
	struct arena a = ARENA_INIT;
	struct err e = ERR_INIT;
	struct pod_state s;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		assert_false(pod_state_parse(&s, str_c(bad[i]), &a, &e));
	assert_true(pod_state_parse(&s, STR("{\"newer\":{\"than\":1}}"), &a, &e));
	/* Every cut of a good one is bad. */
	for (size_t i = 0; i + 1 < sizeof(state_text); i++)
		assert_false(pod_state_parse(&s, (struct str){ state_text, i }, &a, &e));
	err_release(&e);
	arena_release(&a);
}

struct world {
	struct pod_container containers[3];
	struct pod_container_state states[3];
	struct pod_spec spec;
	struct pod_state state;
	yyjson_mut_doc *doc;
	struct buf out;
	yyjson_doc *read;
};

/* An init container, and two others. */
static void begin(struct world *w)
{
	static const char *const names[] = { "init", "a", "b" };

	memset(w, 0, sizeof(*w));
	w->out = (struct buf)BUF_INIT(65536);
	w->spec = (struct pod_spec){ .name = STR("p"), .uid = STR("u"), .restart = POD_RESTART_NEVER };
	w->state = (struct pod_state){ .started = SECONDS(1700000000) };
	for (size_t i = 0; i < 3; i++) {
		w->containers[i] =
			(struct pod_container){ .name = str_c(names[i]), .image = STR("img"), .init = i == 0 };
		w->states[i] = (struct pod_container_state){ .name = str_c(names[i]),
			                                     .init = i == 0,
			                                     .now = { .reason = STR("PodInitializing") } };
	}
	w->spec.containers.v = w->containers;
	w->state.containers.v = w->states;
	w->spec.containers.n = w->state.containers.n = 3;
}

static yyjson_val *status(struct world *w, bool with_state)
{
	struct pod_status_options o = { .pod_ip = STR("10.0.0.2"), .host_ip = STR("10.0.0.1") };

	yyjson_doc_free(w->read);
	w->doc = yyjson_mut_doc_new(NULL);
	buf_clear(&w->out);
	json_write(pod_status(w->doc, &w->spec, with_state ? &w->state : NULL, &o), &w->out);
	yyjson_mut_doc_free(w->doc);
	w->read = json_parse(buf_str(&w->out), NULL);
	assert_non_null(w->read);
	return yyjson_doc_get_root(w->read);
}

static void end(struct world *w)
{
	yyjson_doc_free(w->read);
	buf_release(&w->out);
}

static void exits(struct world *w, size_t i, int64_t code)
{
	w->states[i].now = (struct pod_container_run){ .run = POD_RUN_TERMINATED,
		                                       .exit_code = code,
		                                       .reason = code ? STR("Error") : STR("Completed"),
		                                       .started = SECONDS(1700000001),
		                                       .finished = SECONDS(1700000002) };
	w->states[i].ready = i == 0 && code == 0;
}

static void starts(struct world *w, size_t i)
{
	w->states[i].now = (struct pod_container_run){ .run = POD_RUN_RUNNING, .started = SECONDS(1700000003) };
	w->states[i].ready = w->states[i].started = true;
	w->states[i].ready_since = SECONDS(1700000004);
}

static void assert_phase(struct world *w, const char *want)
{
	assert_string_equal(json_str(json_get(status(w, true), "phase")).p, want);
}

static void test_phases(void **state)
{
	struct world w;

	(void)state;
	begin(&w);
	assert_string_equal(json_str(json_get(status(&w, false), "phase")).p, "Pending");
	assert_phase(&w, "Pending");
	exits(&w, 0, 1);
	assert_phase(&w, "Failed");
	w.spec.restart = POD_RESTART_ON_FAILURE;
	assert_phase(&w, "Pending");
	exits(&w, 0, 0);
	assert_phase(&w, "Pending");
	starts(&w, 1);
	assert_phase(&w, "Pending"); /* b waits */
	starts(&w, 2);
	assert_phase(&w, "Running");
	exits(&w, 1, 1);
	exits(&w, 2, 0);
	assert_phase(&w, "Running"); /* until the parent has ended */
	w.state.life = POD_ENDED;
	assert_phase(&w, "Failed");
	exits(&w, 1, 0);
	assert_phase(&w, "Succeeded");
	w.state.failed = true;
	assert_phase(&w, "Failed");
	end(&w);
}

/* "True Reason message" */
static void assert_condition(struct world *w, const char *type, const char *want)
{
	char text[512];
	size_t i, max;
	yyjson_val *c;

	yyjson_arr_foreach(json_get(status(w, true), "conditions"), i, max, c)
	{
		if (!str_eqc(json_str(json_get(c, "type")), type))
			continue;
		snprintf(text, sizeof(text), "%s %s %s", str_text(json_str(json_get(c, "status"))),
		         str_text(json_str(json_get(c, "reason"))), str_text(json_str(json_get(c, "message"))));
		assert_string_equal(text, want);
		return;
	}
	fail_msg("no condition %s", type);
}

static void test_conditions(void **state)
{
	struct world w;

	(void)state;
	begin(&w);
	assert_condition(&w, "Initialized", "False ContainersNotInitialized containers with incomplete status: [init]");
	assert_condition(&w, "Ready", "False ContainersNotReady containers with unready status: [a b]");
	assert_condition(&w, "PodScheduled", "True  ");
	exits(&w, 0, 0);
	starts(&w, 1);
	assert_condition(&w, "Initialized", "True  ");
	assert_condition(&w, "ContainersReady", "False ContainersNotReady containers with unready status: [b]");
	starts(&w, 2);
	assert_condition(&w, "Ready", "True  ");
	exits(&w, 1, 0);
	exits(&w, 2, 0);
	w.state.life = POD_ENDED;
	assert_condition(&w, "Ready", "False PodCompleted ");
	exits(&w, 2, 1);
	assert_condition(&w, "Ready", "False PodFailed containers with unready status: [a b]");
	end(&w);
}

/* Only of a pod that has lost some. */
static void test_log_lost(void **state)
{
	struct world w;

	(void)state;
	begin(&w);
	status(&w, true);
	assert_null(strstr(w.out.p, CONDITION_LOG_LOST));
	w.states[1].log_problem = STR("2 lines of a are lost: f: full");
	assert_condition(&w, CONDITION_LOG_LOST, "True NotWritten 2 lines of a are lost: f: full");
	w.states[2].log_problem = STR("lines of b are lost: g: full");
	assert_condition(&w, CONDITION_LOG_LOST,
	                 "True NotWritten 2 lines of a are lost: f: full; lines of b are lost: g: full");
	end(&w);
}

static void test_containers(void **state)
{
	static const char want[] =
		"{\"name\":\"a\",\"state\":{\"waiting\":{\"reason\":\"CrashLoopBackOff\",\"message\":\"m\"}},"
		"\"lastState\":"
		"{\"terminated\":{\"exitCode\":137,\"signal\":9,\"reason\":\"OOMKilled\",\"startedAt\":\"2023-11-14T22:"
		"13:21Z\","
		"\"finishedAt\":\"2023-11-14T22:13:22Z\",\"containerID\":\"dljob://u/a/"
		"3\"}},\"ready\":false,\"restartCount\":3,"
		"\"image\":\"img\",\"imageID\":\"\",\"containerID\":\"dljob://u/a/3\",\"started\":false}";
	struct world w;
	struct buf out = BUF_INIT(65536);
	yyjson_val *s;

	(void)state;
	begin(&w);
	w.states[1].now.reason = STR("CrashLoopBackOff");
	w.states[1].now.message = STR("m");
	w.states[1].restarts = 3;
	w.states[1].last = (struct pod_container_run){ .run = POD_RUN_TERMINATED,
		                                       .exit_code = 137,
		                                       .signal = 9,
		                                       .reason = STR("OOMKilled"),
		                                       .started = SECONDS(1700000001),
		                                       .finished = SECONDS(1700000002) };
	starts(&w, 2);
	s = status(&w, true);
	json_write_val(yyjson_arr_get(json_get(s, "containerStatuses"), 0), &out);
	assert_string_equal(out.p, want);
	assert_int_equal(yyjson_arr_size(json_get(s, "initContainerStatuses")), 1);
	assert_string_equal(json_str(json_get(s, "podIP")).p, "10.0.0.2");
	assert_string_equal(json_str(json_get(s, "startTime")).p, "2023-11-14T22:13:20Z");
	buf_release(&out);
	end(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_state_json), cmocka_unit_test(test_hostile_state),
		cmocka_unit_test(test_phases),     cmocka_unit_test(test_conditions),
		cmocka_unit_test(test_containers), cmocka_unit_test(test_log_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
