#include "operator/metrics.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

static const struct meta job = { .name = STR_INIT("secret-name"), .ns = STR_INIT("team"), .created = 1000 };

static struct buf written(const struct metrics *m)
{
	struct metrics_now now = { .leads = 1, .lease = STR("dl-operator"), .events_dropped = 3 };
	struct buf out = BUF_INIT(1 << 20);

	now.process.cpu_seconds = 1.25;
	metrics_write(m, &now, &out);
	assert_false(out.overflow);
	return out;
}

static void has(const struct buf *out, const char *line)
{
	if (!strstr(out->p, line))
		fail_msg("no '%s' in:\n%s", line, out->p);
}

static void test_passes(void **state)
{
	struct metrics *m = metrics_new();
	struct observer_sight s = { .type = SIGHT_PASS, .kind = STR("TfJob.mlkube.io"), .job = &job, .took = 7 };
	struct buf out;

	(void)state;
	metrics_see(m, &s);
	s.later = true;
	metrics_see(m, &s);
	s.failed = true;
	s.took = 70000;
	metrics_see(m, &s);
	out = written(m);
	has(&out, "\ncontroller_runtime_reconcile_total{controller=\"TfJob.mlkube.io\",result=\"success\"} 1\n");
	has(&out, ",result=\"requeue_after\"} 1\n");
	has(&out, ",result=\"error\"} 1\n");
	has(&out, "\ncontroller_runtime_reconcile_errors_total{controller=\"TfJob.mlkube.io\"} 1\n");
	has(&out, "_time_seconds_bucket{controller=\"TfJob.mlkube.io\",le=\"0.005\"} 0\n");
	has(&out, "_time_seconds_bucket{controller=\"TfJob.mlkube.io\",le=\"0.01\"} 2\n");
	has(&out, "_time_seconds_bucket{controller=\"TfJob.mlkube.io\",le=\"30\"} 2\n");
	has(&out, "_time_seconds_bucket{controller=\"TfJob.mlkube.io\",le=\"+Inf\"} 3\n");
	has(&out, "_time_seconds_sum{controller=\"TfJob.mlkube.io\"} 70.014\n");
	assert_null(strstr(out.p, "secret-name"));
	buf_release(&out);
	metrics_free(m);
}

static void test_requests(void **state)
{
	struct metrics *m = metrics_new();
	struct observer_sight s = {
		.type = SIGHT_ANSWER, .kind = STR("K.g"), .job = &job, .verb = VERB_CREATE, .code = 201
	};
	struct buf out;

	(void)state;
	metrics_see(m, &s);
	metrics_see(m, &s);
	s.code = 0;
	metrics_see(m, &s);
	metrics_call(m, VERB_PATCH, 200, 3);
	s.verb = VERB_PATCH_STATUS;
	s.code = 200;
	metrics_see(m, &s);
	metrics_feed(m, false, 200, 4);
	metrics_feed(m, true, 410, 5);
	metrics_feed(m, true, 410, 5);
	out = written(m);
	has(&out, "\nrest_client_requests_total{code=\"200\",method=\"LIST\"} 1\n");
	has(&out, "\nrest_client_requests_total{code=\"410\",method=\"WATCH\"} 2\n");
	has(&out, "\nrest_client_request_duration_seconds_count{verb=\"WATCH\"} 2\n");
	has(&out, "\nrest_client_requests_total{code=\"201\",method=\"POST\"} 2\n");
	has(&out, "\nrest_client_requests_total{code=\"<error>\",method=\"POST\"} 1\n");
	has(&out, "\nrest_client_requests_total{code=\"200\",method=\"PATCH\"} 2\n");
	has(&out, "\nrest_client_request_duration_seconds_count{verb=\"PATCH-STATUS\"} 1\n");
	buf_release(&out);
	metrics_free(m);
}

static void test_records(void **state)
{
	struct metrics *m = metrics_new();
	struct record_digest before = { .phase = PHASE_CREATING }, after = { .phase = PHASE_RUNNING, .running = 4500 };
	struct record record = { .last = { .at = 9000, .cause = CAUSE_OOM_KILLED, .ran = 1500 },
		                 .earlier = { { .at = 8000, .cause = CAUSE_OOM_KILLED, .ran = 3000 },
		                              { .at = 4000, .cause = CAUSE_OOM_KILLED, .ran = 90000 } },
		                 .n_earlier = 2 };
	struct observer_sight s = { .type = SIGHT_RECORD,
		                    .kind = STR("K.g"),
		                    .job = &job,
		                    .before = &before,
		                    .after = &after,
		                    .record = &record };
	struct buf out;

	(void)state;
	/* The third was told before. */
	before.restarted = 4000;
	after.restarted = 9000;
	after.restarts[CAUSE_OOM_KILLED] = 2;
	metrics_see(m, &s);
	before = after;
	after.outcome = PHASE_SUCCEEDED;
	metrics_see(m, &s);
	before = after;
	metrics_see(m, &s);
	out = written(m);
	has(&out, "\ndl_operator_restarts_total{kind=\"K.g\",cause=\"OOMKilled\"} 2\n");
	has(&out, "\ndl_operator_restarted_run_seconds_total{kind=\"K.g\",cause=\"OOMKilled\"} 4.500\n");
	has(&out, "\ndl_operator_jobs_ended_total{kind=\"K.g\",phase=\"Succeeded\"} 1\n");
	has(&out, "\ndl_operator_job_start_seconds_bucket{kind=\"K.g\",le=\"2\"} 0\n");
	has(&out, "\ndl_operator_job_start_seconds_bucket{kind=\"K.g\",le=\"5\"} 1\n");
	has(&out, "\ndl_operator_job_start_seconds_count{kind=\"K.g\"} 1\n");
	has(&out, "\nleader_election_master_status{name=\"dl-operator\"} 1\n");
	has(&out, "\ndl_operator_events_dropped_total 3\n");
	has(&out, "\nprocess_cpu_seconds_total 1.25\n");
	buf_release(&out);
	metrics_free(m);
}

/* The sample's name without what a histogram appends. */
static struct str family_of(struct str line, struct str family)
{
	static const char *const suffixes[] = { "_bucket", "_sum", "_count" };
	size_t n = strcspn(line.p, "{ ");
	struct str name = str_sub(line, 0, n);

	for (size_t i = 0; i < ARRAY_LEN(suffixes); i++)
		if (name.n == family.n + strlen(suffixes[i]) && str_has_suffix(name, str_c(suffixes[i])))
			return str_sub(name, 0, family.n);
	return name;
}

/* Every sample follows the HELP and TYPE of its family, no family comes twice, no sample comes twice,
   counters are called _total. */
static void test_the_format(void **state)
{
	struct metrics *m = metrics_new();
	struct observer_sight s = { .type = SIGHT_PASS, .kind = STR("K.g"), .job = &job };
	struct str rest, line, family = STR_NONE;
	struct map names = MAP_INIT, samples = MAP_INIT;
	struct buf out;

	(void)state;
	metrics_see(m, &s);
	metrics_call(m, VERB_GET, 200, 1);
	out = written(m);
	assert_int_equal(out.p[out.n - 1], '\n');
	rest = str_sub(buf_str(&out), 0, out.n - 1);
	while (str_next(&rest, '\n', &line)) {
		if (str_has_prefix(line, STR("# HELP "))) {
			family = str_sub(line, 7, strcspn(line.p + 7, " "));
			assert_null(map_put(&names, family, m));
			assert_int_equal(line.p[line.n - 1], '.');
			assert_true(str_next(&rest, '\n', &line));
			assert_true(str_has_prefix(line, STR("# TYPE ")));
			assert_true(str_eq(str_sub(line, 7, family.n), family));
			assert_int_equal(str_has_suffix(line, STR(" counter")), str_has_suffix(family, STR("_total")));
			continue;
		}
		if (!str_eq(family_of(line, family), family))
			fail_msg("'%.*s' is not of %.*s", STR_F(line), STR_F(family));
		line.n = (size_t)((const char *)memrchr(line.p, ' ', line.n) - line.p);
		assert_null(map_put(&samples, line, m));
	}
	map_release(&names);
	map_release(&samples);
	buf_release(&out);
	metrics_free(m);
}

/* However many kinds and codes there are, memory is bounded. */
static void test_bounds(void **state)
{
	struct metrics *m = metrics_new();
	struct buf out;

	(void)state;
	for (int i = 0; i < 1000; i++) {
		char kind[16];
		struct observer_sight s = { .type = SIGHT_PASS, .job = &job, .took = i };

		snprintf(kind, sizeof(kind), "K%d.g", i);
		s.kind = str_c(kind);
		metrics_see(m, &s);
		metrics_call(m, VERB_GET, i, NEVER / 2000);
	}
	out = written(m);
	has(&out, "controller=\"K0.g\"");
	assert_null(strstr(out.p, "controller=\"K999.g\""));
	buf_release(&out);
	metrics_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_passes),     cmocka_unit_test(test_requests), cmocka_unit_test(test_records),
		cmocka_unit_test(test_the_format), cmocka_unit_test(test_bounds),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
