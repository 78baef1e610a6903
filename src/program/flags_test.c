#include "program/flags.h"

#include "base/str.h"
#include "term/duration.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

enum { WORDS_MAX = 24 };

/* LINE's words, parsed; *TEXT holds them. */
static bool parse(struct operator_flags *f, char *text, size_t size, const char *line, struct err *e)
{
	char *argv[WORDS_MAX], *save = NULL;
	int argc = 0;

	snprintf(text, size, "%s", line);
	for (char *w = strtok_r(text, " ", &save); w && argc < WORDS_MAX; w = strtok_r(NULL, " ", &save))
		argv[argc++] = w;
	operator_flags_init(f);
	return operator_flags_parse(f, argc, argv, e);
}

static void good(struct operator_flags *f, char *text, size_t size, const char *line)
{
	struct err e = ERR_INIT;

	if (!parse(f, text, size, line, &e))
		fail_msg("%s: %s", line, err_msg(&e));
	err_release(&e);
}

static void test_both_forms_of_every_flag(void **state)
{
	static const char *const lines[] = {
		"--namespace=a --leader-elect --v=3",
		"-namespace a -leader_elect=true -v 3",
		"--namespace a --leader-elect=T --v 3",
		"-namespace=a --leader_elect -v=3",
	};
	struct operator_flags f;
	char text[256];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
		good(&f, text, sizeof(text), lines[i]);
		assert_string_equal(f.ns, "a");
		assert_true(f.leader_elect);
		assert_int_equal(f.verbosity, 3);
		assert_int_equal(f.n_operands, 0);
		operator_flags_release(&f);
	}
}

static void test_values(void **state)
{
	struct operator_flags f;
	char text[512];

	(void)state;
	good(&f, text, sizeof(text),
	     "--kinds-dir a --kinds-dir=b --kube-api-qps 12.5 --kube-api-burst=30 --concurrency 7 "
	     "--install-crds=false --force-delete-after=0 --creating-duration-period 1m30s "
	     "--gang-scheduler-name=scheduler-plugins-scheduler --max-pod-size=2Mi --max-job-size 4Gi install-crds");
	assert_int_equal(f.max_pod_size, 2 << 20);
	assert_int_equal(f.max_job_size, (uint64_t)4 << 30);
	assert_string_equal(f.gang_scheduler, "scheduler-plugins-scheduler");
	assert_int_equal(f.kinds_dirs.n, 2);
	assert_string_equal(f.kinds_dirs.v[1], "b");
	assert_true(f.qps > 12.49 && f.qps < 12.51);
	assert_int_equal(f.burst, 30);
	assert_int_equal(f.concurrency, 7);
	assert_false(f.install_crds);
	assert_int_equal(f.force_delete_after, 0);
	assert_int_equal(f.creating_duration, 90000);
	assert_int_equal(f.n_operands, 1);
	operator_flags_release(&f);
}

static void test_usual_values(void **state)
{
	struct operator_flags f;
	char text[16];

	(void)state;
	good(&f, text, sizeof(text), "");
	assert_int_equal(f.lease_duration, 15000);
	assert_int_equal(f.renew_deadline, 10000);
	assert_int_equal(f.retry_period, 2000);
	assert_int_equal(f.concurrency, 32);
	assert_true(f.install_crds && f.json_log && !f.adopt_crds && !f.cleanup_on_exit && !f.leader_elect);
	assert_int_equal(f.force_delete_after, MINUTES(5));
	assert_int_equal(f.node_grace, SECONDS(40));
	assert_int_equal(f.max_pod_size, 1 << 20);
	assert_int_equal(f.max_job_size, 256 << 20);
	operator_flags_release(&f);
}

/* What the charts and manuals of the operators before pass. */
static void test_old_command_lines(void **state)
{
	static const struct {
		const char *line;
		size_t idle;
	} t[] = {
		{ "-alsologtostderr -v=1 -controller_config_file=/etc/config/controller_config_file.yaml", 1 },
		{ "-controller-config-file=/etc/config/c.yaml -alsologtostderr -v=1 -json-log-format=false", 1 },
		{ "-chaos-level -1 -gc-interval=10m -version=false", 2 },
		{ "--master=http://127.0.0.1:8080 --thread-num=1000 --resync-period=10s --namespace= "
		  "--creating-restart-period=0s --enable-creating-failed --v=4 --logtostderr=true",
		  3 },
		{ "--leader-elect --leader-elect-lease-duration=15s --leader-elect-renew-deadline=5s "
		  "--leader-elect-retry-period=3s --leader-elect-resource-lock=endpoints",
		  1 },
		{ "-stderrthreshold=INFO -log_dir=/tmp -vmodule a=1 -log_backtrace_at=x:1 -log_dir /var/log", 4 },
		{ "--run-in-cluster --kubeconfig=/etc/k", 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		struct operator_flags f;
		char text[512];

		good(&f, text, sizeof(text), t[i].line);
		assert_int_equal(f.n_operands, 0);
		assert_int_equal(f.idle.n, t[i].idle);
		assert_int_equal(f.controller_config != NULL, i < 2);
		for (size_t k = 0; k < f.idle.n; k++)
			assert_true(strlen(operator_flag_idle_reason(f.idle.v[k])) > 0);
		operator_flags_release(&f);
	}
}

static void test_what_is_wrong(void **state)
{
	static const struct {
		const char *line, *says;
	} t[] = {
		{ "--nonsense", "unknown flag --nonsense" },
		{ "--leader-elct", "did you mean --leader-elect?" },
		{ "--concurency=3", "did you mean --concurrency?" },
		{ "--namespace", "--namespace wants a value" },
		{ "--max-pod-size=big", "--max-pod-size wants a size such as 2Mi or 1Gi, not 'big'" },
		{ "--max-job-size=0", "wants a size" },
		{ "--concurrency=many", "--concurrency wants a number, not 'many'" },
		{ "--concurrency=0", "--concurrency is between 1 and 1024" },
		{ "--concurrency=99999999999", "wants a number" },
		{ "--kube-api-qps=5x", "wants a number" },
		{ "--kube-api-qps=.", "wants a number" },
		{ "--force-delete-after=5", "wants a time such as 30s or 5m, not '5'" },
		{ "--leader-elect=maybe", "--leader-elect is true or false, not 'maybe'" },
		{ "--leader-elect --cleanup-on-exit", "exclude each other" },
		{ "--install-crds=false --cleanup-on-exit", "nothing to clean" },
		{ "--leader-elect --leader-elect-renew-deadline=20s", "longer than the renew deadline" },
		{ "--leader-elect --leader-elect-resource-name=", "needs a namespace, a name" },
		{ "---v=1", "unknown flag ---v" },
		{ "--=1", "unknown flag --" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		struct operator_flags f;
		struct err e = ERR_INIT;
		char text[256];

		if (parse(&f, text, sizeof(text), t[i].line, &e))
			fail_msg("%s: taken", t[i].line);
		if (!strstr(err_msg(&e), t[i].says))
			fail_msg("%s: %s", t[i].line, err_msg(&e));
		assert_null(strchr(err_msg(&e), '\n'));
		err_release(&e);
		operator_flags_release(&f);
	}
}

static void test_help_is_given_whatever_else_is_wrong(void **state)
{
	struct operator_flags f;
	char text[256];

	(void)state;
	good(&f, text, sizeof(text), "--concurrency=0 -h");
	assert_true(f.help);
	operator_flags_release(&f);
}

static void test_durations(void **state)
{
	static const struct {
		const char *text;
		msec is; /* -1: none */
	} t[] = {
		{ "0", 0 },
		{ "0s", 0 },
		{ "15s", 15000 },
		{ "1m30s", 90000 },
		{ "1.5h", 5400000 },
		{ "500ms", 500 },
		{ "1500us", 2 },
		{ "3000000ns", 3 },
		{ "2µs", 0 },
		{ "1h1m1s", 3661000 },
		{ "", -1 },
		{ "15", -1 },
		{ "s", -1 },
		{ "-1s", -1 },
		{ "1d", -1 },
		{ "1s ", -1 },
		{ "1..5s", -1 },
		{ ".s", -1 },
		{ "9999999999999h", -1 },
		{ ".5s", 500 },
		{ "99999999999999999999s", -1 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		msec got = -1;
		bool ok = duration_parse(str_c(t[i].text), &got);

		if (ok != (t[i].is >= 0) || (ok && got != t[i].is))
			fail_msg("'%s': %d %lld", t[i].text, (int)ok, (long long)got);
	}
}

/* A request ends before the lease does; with a limit a second none waits for longer than it may take. */
static void test_requests_fit_the_lease(void **state)
{
	struct operator_flags f;

	(void)state;
	operator_flags_init(&f);
	assert_int_equal(operator_flags_timeout(&f), SECONDS(30));
	assert_int_equal(operator_flags_requests(&f), 48);
	f.leader_elect = true;
	f.lease_duration = SECONDS(15);
	f.renew_deadline = SECONDS(10);
	assert_int_equal(operator_flags_timeout(&f), 4500);
	f.qps = 4;
	assert_int_equal(operator_flags_requests(&f), 9);
	f.qps = 0.01;
	assert_int_equal(operator_flags_requests(&f), 1);
	f.qps = 1000;
	assert_int_equal(operator_flags_requests(&f), 48);
	operator_flags_release(&f);
}

static void test_help_names_every_flag(void **state)
{
	char text[8192] = "";
	FILE *f = fmemopen(text, sizeof(text) - 1, "w");

	(void)state;
	operator_flags_help(f);
	fclose(f);
	assert_non_null(strstr(text, "--leader-elect-renew-deadline=TIME"));
	assert_non_null(strstr(text, "--thread-num"));
	assert_non_null(strstr(text, "Examples:"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_both_forms_of_every_flag),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_usual_values),
		cmocka_unit_test(test_old_command_lines),
		cmocka_unit_test(test_what_is_wrong),
		cmocka_unit_test(test_help_is_given_whatever_else_is_wrong),
		cmocka_unit_test(test_durations),
		cmocka_unit_test(test_requests_fit_the_lease),
		cmocka_unit_test(test_help_names_every_flag),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
