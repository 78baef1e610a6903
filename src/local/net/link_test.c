#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "local/net/address.h"
#include "local/net/link.h"
#include "local/net/nat.h"
#include "local/net/ns.h"
#include "local/net/route.h"

#include <errno.h>
#include <sched.h>
#include <unistd.h>

/* Everything here happens in network namespaces of the test's own. */
static int enter(void **state)
{
	struct nl nl = NL_INIT;
	struct nl_msg m = { .n = 0 };
	struct err e = ERR_INIT;

	(void)state;
	if (unshare(CLONE_NEWNET) < 0 && unshare(CLONE_NEWUSER | CLONE_NEWNET) < 0) {
		print_message("skipped: no network namespace: %s\n", strerror(errno));
		return 1;
	}
	assert_true(nl_open(&nl, NETLINK_ROUTE, &e));
	link_veth(&m, &(struct link_end){ "a", 7, NULL, -1 }, &(struct link_end){ "b", 8, NULL, -1 }, 1500);
	link_delete(&m, "a");
	if (!nl_talk(&nl, &m, NULL, &e)) {
		print_message("skipped: no pairs of links: %s\n", err_msg(&e));
		err_release(&e);
		nl_close(&nl);
		return 1;
	}
	nl_close(&nl);
	return 0;
}

static bool available;

#define NEEDS_NETWORK()                                                                                                \
	do {                                                                                                           \
		(void)state;                                                                                           \
		if (!available)                                                                                        \
			skip();                                                                                        \
	} while (0)

static void pair_into_a_namespace(void **state)
{
	struct err e = ERR_INIT;
	struct nl nl = NL_INIT;
	struct nl_msg m = { .n = 0 };
	struct link_seen seen;
	uint8_t near[LINK_MAC], far[LINK_MAC];
	int ns, code;

	NEEDS_NETWORK();
	ns = ns_new(NULL, NULL, &e);
	assert_true(ns >= 0);
	assert_true(nl_open(&nl, NETLINK_ROUTE, &e));
	link_mac(near, 1, 1);
	link_mac(far, 1, 2);
	assert_memory_not_equal(near, far, LINK_MAC);
	link_veth(&m, &(struct link_end){ "v0", 1007, near, -1 }, &(struct link_end){ "eth0", 2, far, ns }, 1400);
	link_mark(&m, "v0", "dl-operator: a test");
	assert_true(nl_talk(&nl, &m, &code, &e));
	assert_int_equal(code, 0);
	assert_true(link_find(&nl, "v0", &seen, &e));
	assert_int_equal(seen.index, 1007);
	assert_string_equal(seen.mark, "dl-operator: a test");
	assert_true(link_find(&nl, "eth0", &seen, &e));
	assert_int_equal(seen.index, 0);
	/* Twice: the kernel's own reason comes back, and the conversation goes on. */
	m.n = 0;
	link_veth(&m, &(struct link_end){ "v0", 0, near, -1 }, &(struct link_end){ "v1", 0, far, -1 }, 1400);
	link_up(&m, 1007);
	assert_false(nl_talk(&nl, &m, &code, &e));
	assert_int_equal(code, EEXIST);
	err_release(&e);
	/* The other end goes with its namespace; the kernel takes its time for that, so ask for it. */
	m.n = 0;
	link_delete(&m, "v0");
	assert_true(nl_talk(&nl, &m, &code, &e));
	m.n = 0;
	link_delete(&m, "v0");
	assert_false(nl_talk(&nl, &m, &code, &e));
	assert_int_equal(code, ENODEV);
	err_release(&e);
	close(ns);
	nl_close(&nl);
}

static void routes_are_seen(void **state)
{
	CLEANUP(arena_release) struct arena a = ARENA_INIT;
	struct err e = ERR_INIT;
	struct nl nl = NL_INIT;
	struct nl_msg m = { .n = 0 };
	struct route_list list;
	uint8_t mac[LINK_MAC];
	bool found = false;
	int code;

	NEEDS_NETWORK();
	link_mac(mac, 2, 1);
	assert_true(nl_open(&nl, NETLINK_ROUTE, &e));
	link_up(&m, LINK_LO);
	link_veth(&m, &(struct link_end){ "v2", 12, NULL, -1 }, &(struct link_end){ "v3", 13, NULL, -1 }, 1400);
	link_address(&m, 12, 0x0ac90001, 32);
	link_neighbour(&m, 12, 0x0ac90002, mac);
	link_route(&m, 12, 0x0ac91000, 20, 0x0ac90002, 0x0ac90001);
	assert_true(nl_talk(&nl, &m, &code, &e));
	assert_true(route_list(&nl, &list, &a, &e));
	for (size_t i = 0; i < list.routes.n; i++)
		found = found || (list.routes.v[i].dst == 0x0ac91000 && list.routes.v[i].prefix == 20);
	assert_true(found);
	assert_int_equal(list.mtu, 1400);
	m.n = 0;
	link_route(&m, 12, 0x0ac91000, 20, 0x0ac90002, 0);
	assert_false(nl_talk(&nl, &m, &code, &e));
	assert_int_equal(code, EEXIST);
	err_release(&e);
	m.n = 0;
	link_delete(&m, "v2");
	assert_true(nl_talk(&nl, &m, &code, &e));
	nl_close(&nl);
}

static void nat_comes_and_goes(void **state)
{
	struct err e = ERR_INIT;

	NEEDS_NETWORK();
	assert_true(nat_remove("dlj-test", &e));
	if (!nat_add("dlj-test", 0x0ac90000, 20, &e)) {
		print_message("skipped: %s\n", err_msg(&e));
		err_release(&e);
		skip();
	}
	assert_true(nat_add("dlj-test", 0x0ac91000, 20, &e));
	assert_true(nat_remove("dlj-test", &e));
	assert_true(nat_remove("dlj-test", &e));
}

static bool count_links(void *cookie, struct err *e)
{
	struct link_seen *seen = cookie;
	struct nl nl = NL_INIT;
	bool ok = nl_open(&nl, NETLINK_ROUTE, e) && link_find(&nl, "lo", seen, e);

	nl_close(&nl);
	return ok && ns_sysctl("net/ipv4/ip_unprivileged_port_start", "0", e);
}

static bool refuse(void *cookie, struct err *e)
{
	(void)cookie;
	return err_set(e, ERR_IO, "no");
}

static void namespaces_without_a_process(void **state)
{
	struct err e = ERR_INIT;
	struct link_seen seen;
	char value[8] = "";
	FILE *f;
	int ns;

	NEEDS_NETWORK();
	ns = ns_new(count_links, &seen, &e);
	assert_true(ns >= 0);
	assert_int_equal(seen.index, LINK_LO);
	assert_true(ns_inside(ns, count_links, &seen, &e));
	/* We ourselves stayed where we were. */
	f = fopen("/proc/sys/net/ipv4/ip_unprivileged_port_start", "r");
	assert_non_null(f);
	assert_non_null(fgets(value, sizeof(value), f));
	fclose(f);
	assert_string_equal(value, "1024\n");
	assert_false(ns_inside(ns, refuse, NULL, &e));
	assert_string_equal(err_msg(&e), "no");
	err_release(&e);
	assert_int_equal(ns_new(refuse, NULL, &e), -1);
	err_release(&e);
	assert_false(ns_sysctl("net/there/is/none", "0", &e));
	err_release(&e);
	close(ns);
	assert_false(ns_inside(0, NULL, NULL, &e));
	err_release(&e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pair_into_a_namespace),
		cmocka_unit_test(routes_are_seen),
		cmocka_unit_test(nat_comes_and_goes),
		cmocka_unit_test(namespaces_without_a_process),
	};

	available = enter(NULL) == 0;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
