/* The small readers: $(VAR), quantities, /proc/PID/stat, mountinfo, HTTP replies. */
#include "local/pod/cgroup.h"
#include "local/pod/pod.h"
#include "local/pod/probe_net.h"
#include "local/pod/process.h"

#include "base/json.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

static bool lookup(void *cookie, struct str name, struct str *ret)
{
	(void)cookie;
	*ret = str_eqc(name, "A") ? STR("one") : str_eqc(name, "") ? STR("empty") : STR("$(A)");
	return !str_eqc(name, "NONE") && !str_eqc(name, "A(B");
}

/* The cases of Kubernetes' own rules. */
static void test_expand(void **state)
{
	static const char *const cases[][2] = {
		{ "plain", "plain" },
		{ "$(A)", "one" },
		{ "x$(A)y$(A)", "xoney"
		                "one" },
		{ "$(B)", "$(A)" }, /* not twice */
		{ "$(NONE)", "$(NONE)" },
		{ "$$(A)", "$(A)" },
		{ "$$$(A)", "$one" },
		{ "$$$$(A)", "$$(A)" },
		{ "$", "$" },
		{ "$$", "$" },
		{ "$$$", "$$" },
		{ "$A", "$A" },
		{ "$(A", "$(A" },
		{ "$(A(B)", "$(A(B)" },
		{ "$()", "empty" },
		{ "a$", "a$" },
		{ "", "" },
		{ "$(", "$(" },
		{ "$)$(A)", "$)one" },
	};
	struct arena a = ARENA_INIT;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		assert_string_equal(pod_expand(&a, str_c(cases[i][0]), lookup, NULL).p, cases[i][1]);
	arena_release(&a);
}

static void test_stat(void **state)
{
	struct process_stat st;

	(void)state;
	assert_true(
		process_stat_parse(&st, STR("42 (a) b (c)) S 1 42 41 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 987 1 2")));
	assert_int_equal(st.pid, 42);
	assert_int_equal(st.parent, 1);
	assert_int_equal(st.session, 41);
	assert_int_equal(st.start, 987);
	assert_int_equal(st.state, 'S');
	assert_int_equal(st.ticks, 5 + 6);
	assert_int_equal(st.pages, 2);
	assert_false(process_stat_parse(&st, STR("")));
	assert_false(process_stat_parse(&st, STR("42 (sh) S 1 2")));
	assert_false(process_stat_parse(&st, STR("x (sh) S 1 2 3")));
	assert_false(process_lives(0, 0));
}

static void test_mountinfo(void **state)
{
	struct cgroup_mounts m;

	(void)state;
	cgroup_mounts_parse(&m, STR("22 1 0:20 / /proc rw - proc proc rw\n"
	                            "30 22 0:26 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"
	                            "31 22 0:27 / /sys/fs/cgroup/cpu rw shared:1 - cgroup cgroup rw,cpu,cpuacct\n"
	                            "32 22 0:28 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n"
	                            "33 22 0:29 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"
	                            "broken\n\n"));
	assert_int_equal(m.n, 3);
	assert_true(m.v[0].memory && !m.v[0].cpu && !m.v[0].v2);
	assert_true(m.v[1].cpu && !m.v[1].memory);
	assert_string_equal(m.v[1].path, "/sys/fs/cgroup/cpu");
	assert_true(m.v[2].v2);
}

static void test_http(void **state)
{
	struct pod_env headers[] = { { STR_INIT("X-A"), STR_INIT("b") }, { STR_INIT("host"), STR_INIT("me") } };
	struct pod_probe p = { .path = STR("health"), .port = 80 };
	struct buf out = BUF_INIT(4096);

	(void)state;
	assert_int_equal(probe_http_status(STR("HTTP/1.1 200 OK\r\n")), 200);
	assert_int_equal(probe_http_status(STR("HTTP/1.0 503\r\n")), 503);
	assert_int_equal(probe_http_status(STR("HTTP/1.")), 0);
	assert_int_equal(probe_http_status(STR("")), 0);
	assert_int_equal(probe_http_status(STR("HTTP/1.1 2x0 ")), -1);
	assert_int_equal(probe_http_status(STR("HTTP/1.1 -20 ")), -1);
	assert_int_equal(probe_http_status(STR("SSH-2.0-OpenSSH")), -1);
	probe_http_request(&p, STR("10.0.0.1"), &out);
	assert_string_equal(out.p, "GET /health HTTP/1.1\r\nHost: 10.0.0.1:80\r\nUser-Agent: kube-probe/1.32\r\n"
	                           "Accept: */*\r\nConnection: close\r\n\r\n");
	buf_clear(&out);
	p.headers.v = headers;
	p.headers.n = ARRAY_LEN(headers);
	probe_http_request(&p, STR("10.0.0.1"), &out);
	assert_string_equal(out.p, "GET /health HTTP/1.1\r\nX-A: b\r\nhost: me\r\nUser-Agent: kube-probe/1.32\r\n"
	                           "Accept: */*\r\nConnection: close\r\n\r\n");
	buf_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_expand),
		cmocka_unit_test(test_stat),
		cmocka_unit_test(test_mountinfo),
		cmocka_unit_test(test_http),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
