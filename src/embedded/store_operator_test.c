/* The operator itself on the store of this machine: the same code as on a real cluster, nothing between. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/json.h"
#include "base/log.h"
#include "local/store/store_cluster.h"
#include "operator/operator.h"

struct world {
	msec now;
	struct clock clock;
	struct store *store;
	struct kinds *kinds;
	struct cluster *cluster;
	struct operator_loop *op;
	struct store_kind served[32];
	struct arena arena;
	int wakes;
	struct store_answer answer;
	yyjson_doc *doc;
};

static const char manifest[] =
	"{\"apiVersion\":\"mpba.fbk.eu/v1\",\"kind\":\"MXJob\",\"metadata\":{\"name\":\"lin\"},\"spec\":["
	"{\"replicas\":1,\"replicaType\":\"SCHEDULER\",\"template\":{\"spec\":{\"containers\":[{\"name\":\"mxnet\","
	"\"image\":\"x\"}]}}},"
	"{\"replicas\":1,\"replicaType\":\"SERVER\",\"template\":{\"spec\":{\"containers\":[{\"name\":\"mxnet\","
	"\"image\":\"x\"}]}}},"
	"{\"replicas\":2,\"replicaType\":\"WORKER\",\"template\":{\"spec\":{\"containers\":[{\"name\":\"mxnet\","
	"\"image\":\"x\"}]}}}]}";

static msec now(void *cookie)
{
	return ((struct world *)cookie)->now;
}

static void wake(void *cookie)
{
	((struct world *)cookie)->wakes++;
}

static void drop_answer(struct world *w)
{
	store_answer_release(&w->answer);
	yyjson_doc_free(w->doc);
	w->doc = NULL;
}

static yyjson_val *ask(struct world *w, int code, struct store_request r)
{
	drop_answer(w);
	store_call(w->store, &r, &w->answer);
	if (w->answer.code != code)
		fail_msg("%d: %s", w->answer.code, w->answer.body.p);
	w->doc = json_parse(buf_str(&w->answer.body), NULL);
	return yyjson_doc_get_root(w->doc);
}

static const struct store_type *builtin(struct world *w, const char *plural)
{
	return store_type(w->store, STR_NONE, STR("v1"), str_c(plural));
}

static const struct store_type *mxjobs(struct world *w)
{
	return store_type(w->store, STR("mpba.fbk.eu"), STR("v1"), STR("mxjobs"));
}

/* Everybody does what there is to do, until nothing happens any more. */
static void run(struct world *w)
{
	for (int i = 0; i < 100; i++) {
		uint64_t before = store_version(w->store);

		operator_step(w->op);
		store_step(w->store);
		w->now += 500;
		if (i > 5 && store_version(w->store) == before && operator_stats(w->op).in_flight == 0)
			return;
	}
	fail_msg("it does not come to rest");
}

static void install(struct world *w, const struct kind *kind)
{
	yyjson_mut_doc *doc CLEANUP(json_mut_docp) = yyjson_mut_doc_new(NULL);
	const struct store_type *crds =
		store_type(w->store, STR("apiextensions.k8s.io"), STR("v1"), STR("customresourcedefinitions"));
	struct buf b = BUF_INIT(1 << 20);

	json_write(kind_crd(w->kinds, kind, doc, NULL), &b);
	ask(w, 201, (struct store_request){ .verb = STORE_CREATE, .type = crds, .body = buf_str(&b) });
	buf_release(&b);
}

static int setup(void **state)
{
	struct world *w = xcalloc(1, sizeof(*w));
	struct operator_config config = operator_config_default;
	struct err e = ERR_INIT;
	size_t n;

	log_setup(LOG_TEXT, LOG_ERROR, &clock_wall);
	w->now = SECONDS(1800000000);
	w->clock = (struct clock){ now, w };
	w->store = store_open(&(struct store_config){ .clock = &w->clock, .seed = 1 }, &e);
	assert_non_null(w->store);
	w->kinds = kinds_new(NULL);
	assert_true(kinds_load_builtin(w->kinds, &e));
	w->cluster = store_cluster_new(
		&(struct store_cluster_config){ .store = w->store, .nodes = true, .wake = wake, .cookie = w }, &e);
	assert_non_null(w->cluster);
	n = kinds_count(w->kinds);
	assert_in_range(n, 1, ARRAY_LEN(w->served));
	for (size_t i = 0; i < n; i++) {
		const struct kind *k = kinds_at(w->kinds, i);

		w->served[i] = (struct store_kind){ k->id, k->group, k->version, k->plural };
	}
	/* Without a crd there is nothing to watch. */
	assert_false(store_cluster_set_kinds(w->cluster, w->served, n, &e));
	err_release(&e);
	for (size_t i = 0; i < n; i++)
		install(w, kinds_at(w->kinds, i));
	assert_true(store_cluster_set_kinds(w->cluster, w->served, n, &e));
	config.plan = plan_config_default;
	w->op = operator_new(w->cluster, w->kinds, &w->clock, &config);
	operator_step(w->op);
	assert_true(operator_ready(w->op));
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	drop_answer(w);
	operator_free(w->op);
	store_cluster_free(w->cluster);
	store_close(w->store);
	kinds_free(w->kinds);
	arena_release(&w->arena);
	free(w);
	return 0;
}

static void submit(struct world *w)
{
	ask(w, 201,
	    (struct store_request){
		    .verb = STORE_CREATE, .type = mxjobs(w), .ns = STR("default"), .body = str_c(manifest) });
	run(w);
}

static size_t count(struct world *w, const char *plural)
{
	return yyjson_arr_size(json_get(
		ask(w, 200, (struct store_request){ .verb = STORE_LIST, .type = builtin(w, plural) }), "items"));
}

/* As the runner does it. */
static void end_pods(struct world *w, const char *role, const char *status)
{
	struct str selector = arena_printf(&w->arena, LABEL_ROLE "=%s", role);
	yyjson_val *items = json_get(ask(w, 200,
	                                 (struct store_request){ .verb = STORE_LIST,
	                                                         .type = builtin(w, "pods"),
	                                                         .label_selector = selector }),
	                             "items"),
		   *one;
	size_t i, max, n = 0;
	struct str names[16];

	yyjson_arr_foreach(items, i, max, one) names[n++] =
		arena_str(&w->arena, json_str(json_at(one, "metadata", "name", NULL)));
	assert_true(n > 0);
	for (i = 0; i < n; i++)
		ask(w, 200,
		    (struct store_request){ .verb = STORE_PATCH,
		                            .type = builtin(w, "pods"),
		                            .ns = STR("default"),
		                            .name = names[i],
		                            .status = true,
		                            .body = str_c(status) });
	run(w);
}

static struct str job_phase(struct world *w)
{
	yyjson_val *job = ask(w, 200,
	                      (struct store_request){
				      .verb = STORE_GET, .type = mxjobs(w), .ns = STR("default"), .name = STR("lin") });

	return json_str(json_at(job, "status", "dlOperator", "phase", NULL));
}

#define RUNS                                                                                                           \
	"{\"status\":{\"phase\":\"Running\",\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}],"                \
	"\"containerStatuses\":[{\"name\":\"mxnet\",\"state\":{\"running\":{}}}]}}"
#define ENDED(phase, code)                                                                                             \
	"{\"status\":{\"phase\":\"" phase "\",\"containerStatuses\":[{\"name\":\"mxnet\",\"state\":{\"terminated\":"   \
	"{\"exitCode\":" code ",\"finishedAt\":\"2027-01-15T08:00:01Z\"}}}]}}"

static void a_job_runs_to_its_end(void **state)
{
	struct world *w = *state;

	submit(w);
	assert_true(w->wakes > 0);
	assert_int_equal(count(w, "pods"), 4);
	assert_true(count(w, "services") >= 4);
	end_pods(w, "scheduler", RUNS);
	end_pods(w, "server", RUNS);
	end_pods(w, "worker", RUNS);
	assert_true(str_eqc(job_phase(w), "Running"));
	end_pods(w, "scheduler", ENDED("Succeeded", "0"));
	assert_true(str_eqc(job_phase(w), "Succeeded"));
}

static void a_failed_replica_is_made_anew(void **state)
{
	struct world *w = *state;
	yyjson_val *job;
	int64_t restarts = 0;

	submit(w);
	end_pods(w, "worker", RUNS);
	end_pods(w, "worker", ENDED("Failed", "137"));
	w->now += MINUTES(10);
	run(w);
	assert_int_equal(count(w, "pods"), 4);
	job = ask(w, 200,
	          (struct store_request){
			  .verb = STORE_GET, .type = mxjobs(w), .ns = STR("default"), .name = STR("lin") });
	assert_true(json_int(json_at(job, "status", "dlOperator", "restarts", NULL), &restarts));
	assert_true(restarts > 0);
}

static void the_children_go_with_the_job(void **state)
{
	struct world *w = *state;

	submit(w);
	ask(w, 200,
	    (struct store_request){
		    .verb = STORE_DELETE, .type = mxjobs(w), .ns = STR("default"), .name = STR("lin") });
	run(w);
	assert_int_equal(count(w, "pods"), 0);
	assert_int_equal(count(w, "services"), 0);
	assert_int_equal(operator_stats(w->op).jobs, 0);
}

static void a_new_operator_takes_over(void **state)
{
	struct world *w = *state;
	uint64_t version;

	submit(w);
	version = store_version(w->store);
	operator_free(w->op);
	store_cluster_free(w->cluster);
	w->cluster = store_cluster_new(
		&(struct store_cluster_config){ .store = w->store, .nodes = true, .wake = wake, .cookie = w }, NULL);
	assert_true(store_cluster_set_kinds(w->cluster, w->served, kinds_count(w->kinds), NULL));
	w->op = operator_new(w->cluster, w->kinds, &w->clock, &operator_config_default);
	run(w);
	assert_true(operator_ready(w->op));
	assert_int_equal(count(w, "pods"), 4);
	assert_true(store_version(w->store) == version);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_job_runs_to_its_end, setup, teardown),
		cmocka_unit_test_setup_teardown(a_failed_replica_is_made_anew, setup, teardown),
		cmocka_unit_test_setup_teardown(the_children_go_with_the_job, setup, teardown),
		cmocka_unit_test_setup_teardown(a_new_operator_takes_over, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
