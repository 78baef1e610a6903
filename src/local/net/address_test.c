#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "local/net/address.h"

#include <dirent.h>
#include <unistd.h>

static uint32_t ip(const char *text)
{
	uint32_t v;

	assert_true(ip_parse(str_c(text), &v));
	return v;
}

static void parses_strictly(void **state)
{
	static const char *const bad[] = { "",         "1.2.3",    "1.2.3.4.5", "1.2.3.256", "01.2.3.4",
		                           "1.2.3.-4", "1..3.4",   " 1.2.3.4",  "1.2.3.4 ",  "a.b.c.d",
		                           "1.2.3.4.", "+1.2.3.4", "1.2.3.0x1" };
	char text[IP_TEXT];
	uint32_t v;

	(void)state;
	assert_int_equal(ip("10.201.0.7"), 10 << 24 | 201 << 16 | 7);
	assert_int_equal(ip("255.255.255.255"), UINT32_MAX);
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		assert_false(ip_parse(str_c(bad[i]), &v));
	ip_text(text, UINT32_MAX);
	assert_string_equal(text, "255.255.255.255");
}

static void subnet_avoids_routes(void **state)
{
	struct subnet_route r[] = { { 0, 0 }, { ip("192.168.0.0"), 16 }, { 0, 0 } };
	uint32_t got;

	(void)state;
	/* The default route and what lies elsewhere do not matter. */
	assert_true(subnet_choose(&got, r, 2, 0));
	assert_int_equal(got, ip("10.201.0.0"));
	assert_true(subnet_choose(&got, r, 2, 1));
	assert_int_equal(got, ip("10.201.16.0"));
	/* One address inside is enough. */
	r[2] = (struct subnet_route){ ip("10.201.15.255"), 32 };
	assert_true(subnet_choose(&got, r, 3, 0));
	assert_int_equal(got, ip("10.201.16.0"));
	/* A wider route takes all that it covers. */
	r[2] = (struct subnet_route){ ip("10.200.0.0"), 14 };
	assert_true(subnet_choose(&got, r, 3, 0));
	assert_int_equal(got, ip("10.204.0.0"));
	/* A company that uses all of 10/8: there is nothing. */
	r[2] = (struct subnet_route){ ip("10.0.0.0"), 8 };
	assert_false(subnet_choose(&got, r, 3, 0));
	assert_false(subnet_choose(&got, r, 2, 54 * 16));
	assert_true(subnet_choose(&got, r, 2, 54 * 16 - 1));
	assert_int_equal(got, ip("10.254.240.0"));
}

struct policy_place {
	char folder[64];
};

static int setup(void **state)
{
	static struct policy_place p;

	snprintf(p.folder, sizeof(p.folder), "/tmp/dl-address-XXXXXX");
	*state = &p;
	return mkdtemp(p.folder) ? 0 : -1;
}

static int teardown(void **state)
{
	struct policy_place *p = *state;
	DIR *d = opendir(p->folder);
	const struct dirent *entry;

	while (d && (entry = readdir(d)) != NULL) {
		if (entry->d_name[0] != '.')
			unlinkat(dirfd(d), entry->d_name, 0);
	}
	if (d)
		closedir(d);
	return rmdir(p->folder);
}

static void takes_keeps_and_drops(void **state)
{
	struct policy_place *p = *state;
	struct err e = ERR_INIT;
	struct addresses *a = xcalloc(1, sizeof(*a));
	const struct net_address *one, *two;
	uint32_t first;

	assert_true(address_load(a, p->folder, ip("10.201.16.0"), &e));
	one = address_take(a, STR("u1"), STR("default"), STR("w-0"), &e);
	two = address_take(a, STR("u2"), STR("default"), STR("w-1"), &e);
	assert_non_null(one);
	assert_non_null(two);
	assert_int_equal(one->ip, ip("10.201.16.3"));
	assert_int_equal(two->ip, ip("10.201.16.4"));
	assert_ptr_equal(address_take(a, STR("u1"), STR("default"), STR("w-0"), &e), one);
	assert_true(str_eqc(two->name, "w-1"));
	assert_true(str_eqc(two->ns, "default"));
	/* The next process finds them, as they were. */
	address_release(a);
	assert_true(address_load(a, p->folder, ip("10.201.16.0"), &e));
	one = address_of(a, STR("u1"));
	assert_non_null(one);
	assert_int_equal(one->ip, ip("10.201.16.3"));
	first = one->ip;
	/* A freed address is not given again at once. */
	assert_true(address_drop(a, STR("u1"), &e));
	assert_null(address_of(a, STR("u1")));
	assert_true(address_drop(a, STR("u1"), &e));
	one = address_take(a, STR("u3"), STR("default"), STR("w-2"), &e);
	assert_int_not_equal(one->ip, first);
	/* What stands outside of the subnet, or says nothing, goes. */
	address_release(a);
	assert_true(address_load(a, p->folder, ip("10.202.0.0"), &e));
	assert_int_equal(a->used, 0);
	address_release(a);
	assert_true(address_load(a, p->folder, ip("10.201.16.0"), &e));
	assert_int_equal(a->used, 0);
	address_release(a);
	free(a);
}

static void hostile_folder(void **state)
{
	static const char *const links[][2] = {
		{ "10.201.0.7", "u7/default/a" }, { "10.201.0.8", "u7/default/twice" }, { "10.201.0.9", "nothing" },
		{ "10.201.0.2", "u2/n/machine" }, { "10.201.15.255", "u3/n/last" },     { "name", "u4/n/a" },
	};
	struct policy_place *p = *state;
	struct err e = ERR_INIT;
	struct addresses *a = xcalloc(1, sizeof(*a));
	char path[128];

	for (size_t i = 0; i < ARRAY_LEN(links); i++) {
		snprintf(path, sizeof(path), "%s/%s", p->folder, links[i][0]);
		assert_int_equal(symlink(links[i][1], path), 0);
	}
	assert_true(address_load(a, p->folder, ip("10.201.0.0"), &e));
	assert_int_equal(a->used, 1);
	assert_non_null(address_of(a, STR("u7")));
	assert_null(address_take(a, STR(""), STR("n"), STR("a"), &e));
	assert_int_equal(e.code, ERR_INVALID);
	err_release(&e);
	address_release(a);
	assert_false(address_load(a, "/nowhere/at/all", 0, &e));
	err_release(&e);
	free(a);
}

static void all_of_them(void **state)
{
	struct policy_place *p = *state;
	struct err e = ERR_INIT;
	struct addresses *a = xcalloc(1, sizeof(*a));
	char uid[16];

	assert_true(SUBNET_PODS >= 4000);
	assert_true(address_load(a, p->folder, ip("10.201.0.0"), &e));
	for (int i = 0; i < SUBNET_PODS; i++) {
		snprintf(uid, sizeof(uid), "u%d", i);
		assert_non_null(address_take(a, str_c(uid), STR("n"), STR("p"), &e));
	}
	assert_null(address_take(a, STR("one more"), STR("n"), STR("p"), &e));
	assert_int_equal(e.code, ERR_LIMIT);
	err_release(&e);
	assert_true(address_drop(a, STR("u100"), &e));
	assert_int_equal(address_take(a, STR("one more"), STR("n"), STR("p"), &e)->ip, ip("10.201.0.103"));
	address_release(a);
	free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parses_strictly),
		cmocka_unit_test(subnet_avoids_routes),
		cmocka_unit_test_setup_teardown(takes_keeps_and_drops, setup, teardown),
		cmocka_unit_test_setup_teardown(hostile_folder, setup, teardown),
		cmocka_unit_test_setup_teardown(all_of_them, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
