/* The hosts files on disk: whose is whose, and what a pod has added to its own. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/file.h"
#include "local/net/net.h"

#include <stdio.h>
#include <unistd.h>

#define ID STR("test cluster")

static struct err problem = ERR_INIT;

static void add_line(const char *path, const char *line)
{
	FILE *f = fopen(path, "ae");

	assert_true(f && fputs(line, f) > 0 && fclose(f) == 0);
}

static bool holds(const char *path, const char *text)
{
	CLEANUP(arena_release) struct arena a = ARENA_INIT;
	struct str got;

	return file_read(&got, path, &a, NULL) == FILE_READ && strstr(got.p, text);
}

static void hosts_files(void **state)
{
	char folder[] = "/tmp/dl-names-XXXXXX";
	const struct net_label label[] = { { STR_INIT("x"), STR_INIT("1") } };
	struct net_host_pod pods[] = {
		{ .ns = STR("one"),
		  .name = STR("a"),
		  .ip = STR("10.201.0.3"),
		  .hostname = STR("same"),
		  .labels = label,
		  .n_labels = 1 },
		{ .ns = STR("one"), .name = STR("b"), .ip = STR("10.201.0.4"), .hostname = STR("same") },
		{ .ns = STR("two"), .name = STR("c") },
		{ .ns = STR("../../etc"), .name = STR("d"), .ip = STR("10.201.0.5") },
		{ .ns = STR("one"), .name = STR("../../etc"), .ip = STR("10.201.0.6") },
	};
	const struct net_host_service service = { STR_INIT("one"), STR_INIT("svc"), label, 1 };
	CLEANUP(arena_release) struct arena a = ARENA_INIT;
	struct net_world w;
	struct net *n;
	struct str first, second;
	bool own;

	(void)state;
	assert_non_null(mkdtemp(folder));
	assert_true(net_enter(&w, folder, NET_HOST, NET_DIES_WITH_US, &problem));
	assert_true(net_open(&n, &w, folder, ID, &problem));
	assert_true(net_hosts_update(n, pods, ARRAY_LEN(pods), &service, 1, &problem));
	first = net_hosts_path(n, STR("one"), STR("a"), &own, &a);
	assert_true(own);
	second = net_hosts_path(n, STR("one"), STR("b"), &own, &a);
	assert_true(own);
	assert_true(!str_eq(first, second));
	assert_true(holds(first.p, "10.201.0.3      svc svc.one svc.one.svc svc.one.svc.cluster.local\n"));
	assert_true(holds(first.p, "10.201.0.3      same\n") && !holds(first.p, "10.201.0.4"));
	assert_true(holds(second.p, "10.201.0.4      same\n"));
	assert_true(holds(net_hosts_path(n, STR("two"), STR("c"), &own, &a).p, "10.201.0.3      svc.one "));
	/* Alone by now, but its file is mounted already. */
	assert_true(net_hosts_update(n, pods + 1, 1, NULL, 0, &problem));
	assert_true(str_eq(net_hosts_path(n, STR("one"), STR("b"), &own, &a), second));
	assert_true(holds(second.p, "10.201.0.4      same\n") && !holds(second.p, "10.201.0.3"));
	/* What the pod adds stays, and is nobody else's. */
	add_line(second.p, "10.9.9.9 mine\n");
	assert_true(net_hosts_update(n, pods, ARRAY_LEN(pods), &service, 1, &problem));
	assert_true(holds(second.p, "10.201.0.3      svc ") && holds(second.p, "own lines.\n10.9.9.9 mine\n"));
	assert_true(!holds(first.p, "mine"));
	net_close(n);
	assert_true(net_clean(folder, ID, &problem));
	assert_int_equal(rmdir(folder), 0);
}

/* Those of before keep their files, and are told of all. */
static void hosts_of_many(void **state)
{
	enum { MANY = 65 };
	char folder[] = "/tmp/dl-names-XXXXXX";
	struct net_host_pod pods[MANY];
	CLEANUP(arena_release) struct arena a = ARENA_INIT;
	struct net_world w;
	struct net *n;
	struct str first;
	bool own;

	for (unsigned i = 0; i < MANY; i++)
		pods[i] = (struct net_host_pod){ .ns = STR("one"),
			                         .name = arena_printf(&a, "p%u", i),
			                         .ip = arena_printf(&a, "10.201.1.%u", i + 3) };
	(void)state;
	assert_non_null(mkdtemp(folder));
	assert_true(net_enter(&w, folder, NET_HOST, NET_DIES_WITH_US, &problem));
	assert_true(net_open(&n, &w, folder, ID, &problem));
	assert_true(net_hosts_update(n, pods, MANY - 1, NULL, 0, &problem));
	first = net_hosts_path(n, STR("one"), STR("p0"), &own, &a);
	assert_true(own && !holds(first.p, " p64\n"));
	assert_true(net_hosts_update(n, pods, MANY, NULL, 0, &problem));
	assert_true(holds(first.p, " p64\n"));
	assert_true(holds(net_hosts_path(n, STR("one"), STR("p64"), &own, &a).p, " p64\n") && !own);
	net_close(n);
	assert_true(net_clean(folder, ID, &problem));
	assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hosts_files),
		cmocka_unit_test(hosts_of_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
