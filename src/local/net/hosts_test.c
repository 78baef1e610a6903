#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "local/net/hosts.h"
#include "local/net/hosts_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOCALHOST "127.0.0.1       localhost\n::1             localhost ip6-localhost ip6-loopback\n"
#define LABELS(...)                                                                                                    \
	.labels = (const struct net_label[]){ __VA_ARGS__ },                                                           \
	.n_labels = ARRAY_LEN(((const struct net_label[]){ __VA_ARGS__ }))
#define SELECTOR(...)                                                                                                  \
	.selector = (const struct net_label[]){ __VA_ARGS__ },                                                         \
	.n_selector = ARRAY_LEN(((const struct net_label[]){ __VA_ARGS__ }))
#define L(k, v)                                                                                                        \
	{                                                                                                              \
		STR_INIT(k), STR_INIT(v)                                                                               \
	}

static void expect_shared(const struct net_host_pod *pods, size_t n, const struct net_host_service *services, size_t m,
                          const char *ns, const char *want)
{
	struct arena a = ARENA_INIT;
	struct buf b = BUF_INIT(HOSTS_MAX);

	hosts_shared(&b, hosts_resolve(&a, pods, n, services, m), str_c(ns), STR(""));
	assert_string_equal(b.p, want);
	buf_release(&b);
	arena_release(&a);
}

static void every_form_of_a_service(void **state)
{
	const struct net_host_pod pods[] = {
		{ .ns = STR("team"),
		  .name = STR("j-worker-0"),
		  .ip = STR("10.201.0.3"),
		  LABELS(L("uid", "1"), L("role", "worker"), L("index", "0")) },
		{ .ns = STR("team"),
		  .name = STR("j-worker-1"),
		  .ip = STR("10.201.0.4"),
		  LABELS(L("uid", "1"), L("role", "worker"), L("index", "1")) },
		{ .ns = STR("team"), .name = STR("waiting"), LABELS(L("uid", "1"), L("role", "worker")) },
	};
	const struct net_host_service services[] = {
		{ .ns = STR("team"), .name = STR("svc"), SELECTOR(L("uid", "1"), L("index", "1")) },
		{ .ns = STR("team"), .name = STR("nobody"), SELECTOR(L("uid", "2")) },
		{ .ns = STR("team"), .name = STR("no-selector") },
		{ .ns = STR("other"), .name = STR("elsewhere"), SELECTOR(L("uid", "1")) },
		{ .ns = STR("team"), .name = STR("all"), SELECTOR(L("role", "worker")) },
	};

	(void)state;
	expect_shared(pods, 3, services, 5, "team",
	              LOCALHOST "10.201.0.3      j-worker-0\n"
	                        "10.201.0.3      all all.team all.team.svc all.team.svc.cluster.local\n"
	                        "10.201.0.4      j-worker-1\n"
	                        "10.201.0.4      svc svc.team svc.team.svc svc.team.svc.cluster.local\n"
	                        "10.201.0.4      all all.team all.team.svc all.team.svc.cluster.local\n");
	/* From another namespace: only with the namespace's name, and no hostnames. */
	expect_shared(pods, 3, services, 1, "other",
	              LOCALHOST "10.201.0.4      svc.team svc.team.svc svc.team.svc.cluster.local\n");
}

static void hostname_and_subdomain(void **state)
{
	const struct net_host_pod pods[] = {
		{ .ns = STR("n"),
		  .name = STR("p"),
		  .ip = STR("10.201.0.3"),
		  .hostname = STR("h"),
		  .subdomain = STR("s") },
	};

	(void)state;
	expect_shared(pods, 1, NULL, 0, "n",
	              LOCALHOST "10.201.0.3      h.s.n.svc.cluster.local h\n"
	                        "10.201.0.3      h.s h.s.n h.s.n.svc h.s.n.svc.cluster.local\n");
}

/* Whoever's hostname would lead to another gets a file of its own, in which it comes first. */
static void hostnames_that_meet(void **state)
{
	const struct net_alias alias[] = { { STR_INIT("1.2.3.4"), STR_INIT("db") },
		                           { STR_INIT("1.2.3.4\n"), STR_INIT("forged") } };
	const struct net_host_pod pods[] = {
		{ .ns = STR("n"), .name = STR("a"), .ip = STR("10.201.0.3"), .hostname = STR("same") },
		{ .ns = STR("n"), .name = STR("b"), .ip = STR("10.201.0.4"), .hostname = STR("same") },
		{ .ns = STR("m"), .name = STR("c"), .ip = STR("10.201.0.5"), .hostname = STR("same") },
		{ .ns = STR("n"), .name = STR("svc"), .ip = STR("10.201.0.6") },
		{ .ns = STR("n"), .name = STR("own"), .ip = STR("10.201.0.7"), LABELS(L("x", "1")) },
		{ .ns = STR("n"), .name = STR("d"), .ip = STR("10.201.0.8"), .aliases = alias, .n_aliases = 2 },
	};
	const struct net_host_service services[] = {
		{ .ns = STR("n"), .name = STR("svc"), SELECTOR(L("x", "1")) },
		{ .ns = STR("n"), .name = STR("own"), SELECTOR(L("x", "1")) },
	};
	const bool alone[] = { false, true, false, true, false, true };
	struct arena a = ARENA_INIT;
	struct buf b = BUF_INIT(HOSTS_MAX);
	struct hosts *h = hosts_resolve(&a, pods, ARRAY_LEN(pods), services, ARRAY_LEN(services));

	(void)state;
	assert_int_equal(h->n, ARRAY_LEN(pods));
	for (size_t i = 0; i < h->n; i++)
		assert_int_equal(h->pods[i].alone, alone[i]);
	hosts_alone(&b, &h->pods[1], STR("rest\n"));
	assert_string_equal(b.p, "10.201.0.4      same\nrest\n");
	buf_clear(&b);
	hosts_alone(&b, &h->pods[5], STR("rest\n"));
	assert_string_equal(b.p, "10.201.0.8      d\n1.2.3.4         db\nrest\n");
	buf_clear(&b);
	hosts_shared(&b, h, STR("n"), STR(""));
	assert_string_equal(b.p, LOCALHOST "10.201.0.3      same\n"
	                                   "10.201.0.7      svc svc.n svc.n.svc svc.n.svc.cluster.local\n"
	                                   "10.201.0.7      own own.n own.n.svc own.n.svc.cluster.local\n"
	                                   "10.201.0.8      d\n");
	buf_release(&b);
	arena_release(&a);
}

static void nothing_can_be_forged(void **state)
{
	const struct net_host_pod pods[] = {
		{ .ns = STR("n"), .name = STR("a\n6.6.6.6 bank"), .ip = STR("10.201.0.3") },
		{ .ns = STR("n"), .name = STR("b"), .ip = STR("10.201.0.4"), .hostname = STR("x y") },
		{ .ns = STR("n"), .name = STR("c"), .ip = STR("6.6.6.6 bank\n") },
		{ .ns = STR("n"), .name = STR("d"), .ip = STR("10.201.0.5"), .subdomain = STR("#") },
		{ .ns = STR("n\n"), .name = STR("e"), .ip = STR("10.201.0.6") },
		{ .ns = STR("n"), .name = STR("f"), .ip = STR("10.201.0.7"), LABELS(L("x", "1")) },
	};
	const struct net_host_service services[] = {
		{ .ns = STR("n"), .name = STR("s\n6.6.6.6 bank"), SELECTOR(L("x", "1")) },
		{ .ns = STR("n"), .name = STR(""), SELECTOR(L("x", "1")) },
	};

	(void)state;
	expect_shared(pods, ARRAY_LEN(pods), services, 2, "n", LOCALHOST "10.201.0.7      f\n");
}

static void the_machines_own(void **state)
{
	const struct str text =
		STR("# comment\n127.0.0.1 localhost localhost.localdomain\n127.0.1.1\tbox box.lan # me\n"
	            "::1 localhost ip6-localhost\nff02::1 ip6-allnodes\n192.168.1.9 nas nas.lan\r\n"
	            "junk here\n10.0.0.1\nfd00::9 six\n10.0.0.2 bad;name good");
	struct buf b = BUF_INIT(HOSTS_MAX);

	(void)state;
	hosts_machine(&b, text, STR("10.201.0.2"));
	assert_string_equal(b.p, "10.201.0.2      box box.lan\n192.168.1.9     nas nas.lan\nfd00::9         six\n"
	                         "10.0.0.2        good\n");
	buf_clear(&b);
	hosts_machine(&b, text, STR(""));
	assert_string_equal(b.p, "192.168.1.9     nas nas.lan\nfd00::9         six\n10.0.0.2        good\n");
	buf_release(&b);
}

/* A thousand replicas, each with its service: every pod once and in time that grows with their number. */
static void a_thousand(void **state)
{
	enum { N = 1000 };
	struct arena a = ARENA_INIT;
	struct net_host_pod *pods = arena_array(&a, struct net_host_pod, N);
	struct net_host_service *services = arena_array(&a, struct net_host_service, N);
	struct buf b = BUF_INIT(HOSTS_MAX);
	size_t lines = 0;

	(void)state;
	for (int i = 0; i < N; i++) {
		struct net_label *l = arena_array(&a, struct net_label, 3);

		l[0] = (struct net_label){ STR("uid"), STR("8a3f0c1e") };
		l[1] = (struct net_label){ STR("role"), STR("worker") };
		l[2] = (struct net_label){ STR("index"), arena_printf(&a, "%d", i) };
		pods[i] = (struct net_host_pod){ .ns = STR("default"),
			                         .name = arena_printf(&a, "job-worker-%d", i),
			                         .ip = arena_printf(&a, "10.201.%d.%d", i / 250, i % 250 + 3),
			                         .labels = l,
			                         .n_labels = 3 };
		services[i] = (struct net_host_service){ pods[i].ns, pods[i].name, l, 3 };
	}
	hosts_shared(&b, hosts_resolve(&a, pods, N, services, N), STR("default"), STR(""));
	for (size_t i = 0; i < b.n; i++)
		lines += b.p[i] == '\n';
	/* The service of the same name leads to the pod: no second line. */
	assert_int_equal(lines, N + 2);
	assert_non_null(strstr(b.p, "10.201.3.252    job-worker-999 job-worker-999.default "));
	/* Cut at a line where there is no room. */
	buf_release(&b);
	b = (struct buf)BUF_INIT(1000);
	hosts_shared(&b, hosts_resolve(&a, pods, N, services, N), STR("default"), STR(""));
	assert_true(b.n > 500 && b.n <= 1000);
	assert_int_equal(b.p[b.n - 1], '\n');
	buf_release(&b);
	arena_release(&a);
}

static void expect_file(int fd, const char *want)
{
	char got[256];
	ssize_t n = pread(fd, got, sizeof(got) - 1, 0);

	assert_true(n >= 0);
	got[n] = 0;
	assert_string_equal(got, want);
}

static void file_changes_in_place(void **state)
{
	static const char *const steps[] = { "one\n", "one\ntwo\n", "one\nTWO\nthree\n", "zwei\n", "", "again\n" };
	struct err e = ERR_INIT;
	char folder[] = "/tmp/dl-hosts-XXXXXX", path[64];
	struct stat st;
	bool changed;
	mode_t mask;
	int fd;

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/hosts", folder);
	mask = umask(077);
	assert_true(hosts_file_write(path, STR("first\n"), &changed, &e));
	umask(mask);
	assert_true(changed);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0644);
	/* Who has it open, as a bind mount has, sees each change. */
	fd = open(path, O_RDONLY);
	assert_true(fd >= 0);
	for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
		assert_true(hosts_file_write(path, str_c(steps[i]), &changed, &e));
		assert_true(changed);
		expect_file(fd, steps[i]);
		assert_true(hosts_file_write(path, str_c(steps[i]), &changed, &e));
		assert_false(changed);
	}
	close(fd);
	/* A link to somebody's file is not followed. */
	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink("/etc/hosts", path), 0);
	assert_false(hosts_file_write(path, STR("x"), &changed, &e));
	assert_non_null(strstr(err_msg(&e), path));
	err_release(&e);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(folder), 0);
}

#define MARKER "# What is above is kept up to date; below are the pod's own lines.\n"

static void own_lines_stay(void **state)
{
	/* What the file was, what we say, what it is then. */
	static const struct {
		const char *was, *text, *is;
	} cases[] = {
		{ NULL, "a\nb\n", "a\nb\n" MARKER },
		{ "", "a\n", "a\n" MARKER },
		{ "a\n" MARKER, "a\nb\n", "a\nb\n" MARKER },
		{ "a\nb\n" MARKER "x\ny", "a\n", "a\n" MARKER "x\ny" },
		{ "a\n" MARKER "x\n", "a\nb\nc\nd\n", "a\nb\nc\nd\n" MARKER "x\n" },
		/* Written anew by the pod. */
		{ "x\n", "a\n", "a\n" MARKER "x\n" },
		/* Of a time when pods could not write to it. */
		{ "a\nold\n", "a\nb\n", "a\nb\n" MARKER },
	};
	struct err e = ERR_INIT;
	char folder[] = "/tmp/dl-hosts-XXXXXX", path[64];

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/hosts", folder);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		int fd;

		if (cases[i].was)
			assert_true(hosts_file_write(path, str_c(cases[i].was), NULL, &e));
		assert_true(hosts_file_write_own(path, str_c(cases[i].text), &e));
		fd = open(path, O_RDONLY);
		assert_true(fd >= 0);
		expect_file(fd, cases[i].is);
		close(fd);
		assert_int_equal(unlink(path), 0);
	}
	/* Nobody waits for what the pod has made of it. */
	assert_int_equal(mkdir(path, 0700), 0);
	assert_true(hosts_file_write_own(path, STR("a\n"), &e));
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_form_of_a_service), cmocka_unit_test(hostname_and_subdomain),
		cmocka_unit_test(hostnames_that_meet),     cmocka_unit_test(nothing_can_be_forged),
		cmocka_unit_test(the_machines_own),        cmocka_unit_test(a_thousand),
		cmocka_unit_test(file_changes_in_place),   cmocka_unit_test(own_lines_stay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
