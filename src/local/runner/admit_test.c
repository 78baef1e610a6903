/* Who may start, and with which GPUs. */
#include "local/runner/testing.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "object/labels.h"

#define CPU(n) ",\"resources\":{\"requests\":{\"cpu\":" n "}}"
#define GPU(n) ",\"resources\":{\"limits\":{\"nvidia.com/gpu\":" n "}}"

static bool is(struct lab *l, const char *name, const char *phase)
{
	return lab_said(l, name, "status.phase", phase);
}

static bool a_runs(struct lab *l)
{
	return is(l, "a", "Running");
}

static bool a_failed(struct lab *l)
{
	return is(l, "a", "Failed");
}

static bool b_waits(struct lab *l)
{
	return lab_said(l, "b", "status.conditions.0.reason", "Unschedulable");
}

static bool b_succeeded(struct lab *l)
{
	return is(l, "b", "Succeeded");
}

static void waits_its_turn(struct lab *l)
{
	lab_pod(l, "a", lab_wait_for(l, "go"), CPU("3"), "");
	lab_until(l, a_runs);
	lab_pod(l, "b", "true", CPU("2"), "");
	lab_until(l, b_waits);
	CHECK(is(l, "b", "Pending"));
	CHECK(lab_said(l, "b", "status.conditions.0.type", "PodScheduled"));
	CHECK(lab_said(l, "b", "status.conditions.0.status", "False"));
	CHECK(lab_said(l, "b", "status.conditions.0.message", "waiting for 2 cores, 1 core free"));
	CHECK(lab_event(l, "b", "FailedScheduling"));
	lab_touch(l, "go");
	lab_until(l, b_succeeded);
}

static void never_fits(struct lab *l)
{
	lab_pod(l, "a", "true", CPU("5"), "");
	lab_until(l, a_failed);
	CHECK(lab_said(l, "a", "status.reason", "NeverFits"));
	CHECK(lab_said(l, "a", "status.message", "requests 5 cores, this machine has 4 cores"));
	CHECK(lab_event(l, "a", "NeverFits"));
}

/* --- Jobs --- */

static void define(struct lab *l, const char *api_version, const char *kind_name)
{
	const struct kind *k = kinds_find(l->kinds, str_c(api_version), str_c(kind_name));
	yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
	struct buf b = BUF_INIT(1 << 20);
	struct err e = ERR_INIT;
	struct store_answer a;

	CHECK(k);
	json_write(kind_crd(l->kinds, k, doc, &e), &b);
	store_call(l->store,
	           &(struct store_request){ .verb = STORE_CREATE,
	                                    .type = store_type(l->store, STR("apiextensions.k8s.io"), STR("v1"),
	                                                       STR("customresourcedefinitions")),
	                                    .body = buf_str(&b) },
	           &a);
	CHECK(a.code == 201);
	store_answer_release(&a);
	buf_release(&b);
	yyjson_mut_doc_free(doc);
}

/* Two workers with one GPU each. */
static void job(struct lab *l, const char *name)
{
	CHECK(lab_create(
		      l, "tfjobs",
		      "{\"apiVersion\":\"mlkube.io/"
		      "v1beta1\",\"kind\":\"TfJob\",\"metadata\":{\"name\":\"%s\"},\"spec\":{"
		      "\"replicaSpecs\":[{\"replicas\":2,\"tfReplicaType\":\"WORKER\",\"template\":{\"spec\":{"
		      "\"containers\":[{\"name\":\"tensorflow\",\"image\":\"x\",\"command\":[\"true\"],\"resources\":{"
		      "\"limits\":{\"nvidia.com/gpu\":1}}}]}}}]}}",
		      name) == 201);
}

static void pod_of(struct lab *l, const char *job_name, const char *name, const char *script, const char *extra)
{
	struct str uid = lab_get(l, "tfjobs", job_name, "metadata.uid");
	struct buf b = BUF_INIT(1 << 16);

	buf_json_str(&b, str_c(script));
	CHECK(lab_create(l, "pods",
	                 "{\"metadata\":{\"name\":\"%s\",\"ownerReferences\":[{\"apiVersion\":\"mlkube.io/v1beta1\","
	                 "\"kind\":\"TfJob\",\"name\":\"%s\",\"uid\":\"%.*s\",\"controller\":true}]},\"spec\":{"
	                 "\"restartPolicy\":\"Never\",\"containers\":[{\"name\":\"main\",\"image\":\"x\",\"command\":["
	                 "\"/bin/sh\",\"-ec\",%s]%s}]}}",
	                 name, job_name, STR_F(uid), b.p, extra) == 201);
	buf_release(&b);
}

static const int numbers[] = { 4, 6, 7 };

static void with_gpus(struct lab *l)
{
	lab_leave(l);
	l->config.gpus = numbers;
	l->config.machine.gpus = 3;
	lab_start(l);
}

static bool a_succeeded(struct lab *l)
{
	return is(l, "a", "Succeeded");
}

static bool nothing_more(struct lab *l)
{
	return is(l, "a1", "Succeeded") && b_waits(l);
}

/* The second one waits, though one of its two pods would fit; and while the first is not finished, though both of its
   pods have ended: it may want to start them again. */
static void jobs_as_a_whole(struct lab *l)
{
	with_gpus(l);
	define(l, "mlkube.io/v1beta1", "TfJob");
	job(l, "one");
	job(l, "two");
	pod_of(l, "one", "a", lab_wait_for(l, "go"), GPU("1"));
	lab_until(l, a_runs);
	pod_of(l, "two", "b", "true", GPU("1"));
	lab_until(l, b_waits);
	CHECK(lab_said(l, "b", "status.conditions.0.message", "waiting for 2 GPUs, 1 GPU free"));
	pod_of(l, "one", "a1", "true", GPU("1"));
	lab_touch(l, "go");
	lab_until(l, a_succeeded);
	lab_until(l, nothing_more);
	CHECK(is(l, "b", "Pending"));
	/* A place is kept for pods that are gone, too. */
	CHECK(lab_delete(l, "pods", "a", NULL) == 200 && lab_delete(l, "pods", "a1", NULL) == 200);
	pod_of(l, "one", "a", "true", GPU("1"));
	lab_until(l, a_succeeded);
	CHECK(is(l, "b", "Pending"));
	CHECK(lab_patch(l, "tfjobs", "one", true, "{\"status\":{\"dlOperator\":{\"phase\":\"Succeeded\"}}}") == 200);
	lab_until(l, b_succeeded);
}

static void job_is_deleted(struct lab *l)
{
	with_gpus(l);
	define(l, "mlkube.io/v1beta1", "TfJob");
	job(l, "one");
	job(l, "two");
	pod_of(l, "one", "a", "true", GPU("1"));
	lab_until(l, a_succeeded);
	pod_of(l, "two", "b", "true", GPU("1"));
	lab_until(l, b_waits);
	CHECK(lab_delete(l, "tfjobs", "one", NULL) == 200);
	lab_until(l, b_succeeded);
}

/* More than a round takes, so that the last ones have no address yet when the first ones could start. */
enum { PEERS = 40 };

static bool peer_ended(struct lab *l, int i)
{
	return is(l, lab_fmt(l, "p%d", i), "Succeeded") || is(l, lab_fmt(l, "p%d", i), "Failed");
}

static bool peers_ended(struct lab *l)
{
	for (int i = 0; i < PEERS - 1; i++)
		if (!peer_ended(l, i))
			return false;
	return true;
}

static bool last_ended(struct lab *l)
{
	return peer_ended(l, PEERS - 1);
}

static void names_before_the_first_starts(struct lab *l)
{
	define(l, "mlkube.io/v1beta1", "TfJob");
	CHECK(lab_create(l, "tfjobs",
	                 "{\"apiVersion\":\"mlkube.io/v1beta1\",\"kind\":\"TfJob\",\"metadata\":{\"name\":\"one\"},"
	                 "\"spec\":{\"replicaSpecs\":[{\"replicas\":%d,\"tfReplicaType\":\"WORKER\",\"template\":{"
	                 "\"spec\":{\"containers\":[{\"name\":\"tensorflow\",\"image\":\"x\",\"command\":[\"true\"]}]}}"
	                 "}]}}",
	                 PEERS) == 201);
	for (int i = 0; i < PEERS - 1; i++)
		pod_of(l, "one", lab_fmt(l, "p%d", i), lab_fmt(l, "grep -qw p%d /etc/hosts", PEERS - 1), "");
	/* Its name goes with it: it stays until the others have looked. */
	pod_of(l, "one", lab_fmt(l, "p%d", PEERS - 1), lab_wait_for(l, "go"), "");
	lab_until(l, peers_ended);
	lab_touch(l, "go");
	lab_until(l, last_ended);
	for (int i = 0; i < PEERS; i++)
		CHECK(is(l, lab_fmt(l, "p%d", i), "Succeeded"));
}

/* A replica that completed before is not made again: the others do not wait for it for ever. */
static void not_all_come(struct lab *l)
{
	with_gpus(l);
	define(l, "mlkube.io/v1beta1", "TfJob");
	job(l, "one");
	pod_of(l, "one", "a", "true", "");
	lab_until(l, a_succeeded);
}

/* To give its place to others is what a suspension is for. */
static void job_is_suspended(struct lab *l)
{
	with_gpus(l);
	define(l, "mlkube.io/v1beta1", "TfJob");
	job(l, "one");
	job(l, "two");
	pod_of(l, "one", "a", lab_wait_for(l, "go"), GPU("1"));
	lab_until(l, a_runs);
	pod_of(l, "two", "b", "true", GPU("1"));
	lab_until(l, b_waits);
	CHECK(lab_patch(l, "tfjobs", "one", true, "{\"status\":{\"dlOperator\":{\"phase\":\"Suspended\"}}}") == 200);
	CHECK(lab_delete(l, "pods", "a", "{\"gracePeriodSeconds\":1}") == 200);
	lab_until(l, b_succeeded);
}

/* While it restarts it may have no pods at all, and we may be killed just then. */
static void job_between_two_generations(struct lab *l)
{
	with_gpus(l);
	define(l, "mlkube.io/v1beta1", "TfJob");
	job(l, "one");
	job(l, "two");
	CHECK(lab_patch(l, "tfjobs", "one", true, "{\"status\":{\"dlOperator\":{\"phase\":\"Restarting\"}}}") == 200);
	lab_leave(l);
	lab_start(l);
	pod_of(l, "two", "b", "true", GPU("1"));
	lab_until(l, b_waits);
	pod_of(l, "one", "a", "true", GPU("1"));
	lab_until(l, a_succeeded);
	CHECK(is(l, "b", "Pending"));
}

static bool c_waits(struct lab *l)
{
	return lab_said(l, "c", "status.conditions.0.reason", "Unschedulable");
}

static bool board_has_a_place(struct lab *l)
{
	return lab_get(l, "pods", "board", "spec.nodeName").n > 0;
}

/* It is there while its job waits; that is no place for the job, also after we were killed. */
static void board_of_a_job_that_waits(struct lab *l)
{
	with_gpus(l);
	define(l, "mlkube.io/v1beta1", "TfJob");
	job(l, "one");
	job(l, "two");
	pod_of(l, "one", "a", lab_wait_for(l, "go"), GPU("1"));
	lab_until(l, a_runs);
	CHECK(lab_create(l, "pods",
	                 "{\"metadata\":{\"name\":\"board\",\"annotations\":{\"" LABEL_DOMAIN "tensorboard"
	                 "\":\"/logs\"},"
	                 "\"ownerReferences\":[{\"apiVersion\":\"mlkube.io/v1beta1\",\"kind\":\"TfJob\",\"name\":"
	                 "\"two\",\"uid\":\"%.*s\",\"controller\":true}]},\"spec\":{\"restartPolicy\":\"Never\","
	                 "\"containers\":[{\"name\":\"main\",\"image\":\"x\",\"command\":[\"tensorboard\"]}]}}",
	                 STR_F(lab_get(l, "tfjobs", "two", "metadata.uid"))) == 201);
	lab_until(l, board_has_a_place);
	pod_of(l, "two", "b", "true", GPU("1"));
	lab_until(l, b_waits);
	lab_leave(l);
	lab_start(l);
	pod_of(l, "two", "c", "true", GPU("1"));
	lab_until(l, c_waits);
	CHECK(is(l, "b", "Pending"));
}

static bool both_run(struct lab *l)
{
	return is(l, "a", "Running") && is(l, "b", "Running");
}

static bool c_succeeded(struct lab *l)
{
	return is(l, "c", "Succeeded");
}

static void gpus_are_given(struct lab *l)
{
	const char *script = lab_fmt(l, "echo \"<$CUDA_VISIBLE_DEVICES>\"; %s", lab_wait_for(l, "go"));

	with_gpus(l);
	lab_pod(l, "a", script, GPU("1"), "");
	lab_pod(l, "b", script, GPU("2") ",\"env\":[{\"name\":\"CUDA_VISIBLE_DEVICES\",\"value\":\"1\"}]", "");
	lab_until(l, both_run);
	CHECK(lab_said(l, "a", "metadata.annotations", "{\"dl-operator.mpba.fbk.eu/gpus\":\"4\"}"));
	CHECK(lab_said(l, "b", "metadata.annotations", "{\"dl-operator.mpba.fbk.eu/gpus\":\"6,7\"}"));
	/* Those who asked for none see none, unless they know better. */
	lab_pod(l, "c", "echo \"<$CUDA_VISIBLE_DEVICES>$NVIDIA_VISIBLE_DEVICES\"", "", "");
	lab_until(l, c_succeeded);
	CHECK(str_eqc(lab_log(l, "c"), "<>void\n"));
	/* Whoever comes after us knows who has which. */
	lab_leave(l);
	lab_start(l);
	lab_pod(l, "d", "true", GPU("1"), "");
	lab_until(l, both_run);
	CHECK(lab_get(l, "pods", "d", "spec.nodeName").n == 0);
	lab_touch(l, "go");
	lab_until(l, b_succeeded);
	lab_until(l, a_succeeded);
	CHECK(str_eqc(lab_log(l, "a"), "<4>\n"));
	CHECK(str_eqc(lab_log(l, "b"), "<7>\n"));
	CHECK(lab_delete(l, "pods", "c", NULL) == 200);
	lab_pod(l, "c", "echo $CUDA_VISIBLE_DEVICES", GPU("3"), "");
	lab_until(l, c_succeeded);
	CHECK(str_eqc(lab_log(l, "c"), "4,6,7\n"));
}

/* Somebody has said where it is to run; that somewhere else has no meaning here. */
static void bound_by_others(struct lab *l)
{
	with_gpus(l);
	lab_pod(l, "c", "echo $CUDA_VISIBLE_DEVICES", GPU("2"), ",\"nodeName\":\"this\"");
	lab_pod(l, "b", "true", "", ",\"nodeName\":\"that\"");
	lab_pod(l, "a", "true", GPU("4"), ",\"nodeName\":\"this\"");
	lab_until(l, c_succeeded);
	CHECK(str_eqc(lab_log(l, "c"), "4,6\n"));
	lab_until(l, a_failed);
	CHECK(lab_said(l, "a", "status.reason", "NeverFits"));
	CHECK(is(l, "b", "Pending"));
}

#define SCENARIO(name)                                                                                                 \
	static void test_##name(void **state)                                                                          \
	{                                                                                                              \
		(void)state;                                                                                           \
		lab_run(name, NET_HOST);                                                                               \
	}
/* Where there are mount namespaces, and so an /etc/hosts of the pods. */
static void test_names_before_the_first_starts(void **state)
{
	(void)state;
	lab_run(names_before_the_first_starts, NET_ROOT);
}

SCENARIO(waits_its_turn)
SCENARIO(never_fits)
SCENARIO(jobs_as_a_whole)
SCENARIO(job_is_deleted)
SCENARIO(not_all_come)
SCENARIO(job_is_suspended)
SCENARIO(job_between_two_generations)
SCENARIO(board_of_a_job_that_waits)
SCENARIO(gpus_are_given)
SCENARIO(bound_by_others)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_waits_its_turn),
		cmocka_unit_test(test_never_fits),
		cmocka_unit_test(test_jobs_as_a_whole),
		cmocka_unit_test(test_job_is_deleted),
		cmocka_unit_test(test_names_before_the_first_starts),
		cmocka_unit_test(test_not_all_come),
		cmocka_unit_test(test_job_is_suspended),
		cmocka_unit_test(test_job_between_two_generations),
		cmocka_unit_test(test_board_of_a_job_that_waits),
		cmocka_unit_test(test_gpus_are_given),
		cmocka_unit_test(test_bound_by_others),
	};
	int status;

	if (lab_is_program(argc, argv, &status))
		return status;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
