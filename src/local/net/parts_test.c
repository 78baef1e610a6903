#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "local/net/holder.h"
#include "local/net/idmap.h"
#include "local/net/internal.h"

#include <unistd.h>

static void resolv(void **state)
{
	const struct str text =
		STR("# made by hand\nnameserver 127.0.0.53\nnameserver\t10.0.0.1\nsearch lan\noptions edns0\n"
	            "sortlist x\n");
	struct buf b = BUF_INIT(4096);

	(void)state;
	resolv_text(&b, text, NULL);
	assert_string_equal(b.p, "nameserver\t10.0.0.1\nsearch lan\noptions edns0\n");
	buf_clear(&b);
	resolv_text(&b, text, "10.0.2.3");
	assert_string_equal(b.p, "nameserver 10.0.2.3\nsearch lan\noptions edns0\n");
	buf_release(&b);
}

static void id_maps(void **state)
{
	const struct str text =
		STR("bob:100000:65536\n# 1000:1:1\n1001:200000:10\nbad:x:1\nbad:1\neve:4294967290:100\n");
	struct idmap_line l[IDMAP_LINES];
	struct idmap_range r;

	(void)state;
	r = idmap_given(text, STR("bob"), 1000);
	assert_int_equal(r.first, 100000);
	assert_int_equal(r.count, 65536);
	assert_int_equal(idmap_given(text, STR(""), 1001).first, 200000);
	assert_int_equal(idmap_given(text, STR("bad"), 7).count, 0);
	assert_int_equal(idmap_given(text, STR("eve"), 7).count, 0);
	assert_int_equal(idmap_given(text, STR("nobody"), 7).count, 0);
	/* The caller is itself, everyone else is out of the range. */
	assert_int_equal(idmap_lines(l, 1000, r), 3);
	assert_memory_equal(&l[0], (&(struct idmap_line){ 0, 100000, 1000 }), sizeof(l[0]));
	assert_memory_equal(&l[1], (&(struct idmap_line){ 1000, 1000, 1 }), sizeof(l[0]));
	assert_memory_equal(&l[2], (&(struct idmap_line){ 1001, 101000, 64536 }), sizeof(l[0]));
	assert_int_equal(idmap_lines(l, 1000, (struct idmap_range){ 5, 10 }), 2);
	assert_memory_equal(&l[0], (&(struct idmap_line){ 0, 5, 10 }), sizeof(l[0]));
	assert_int_equal(idmap_lines(l, 1000, (struct idmap_range){ 0, 0 }), 1);
	assert_int_equal(l[0].inside, 1000);
}

static void holder_files_that_lie(void **state)
{
	static const char *const texts[] = { "",         "1 1 0\n", "x y z\n", "-5 3 0\n", "99999999999 1 0\n",
		                             "%d 1 0\n", "%d 0 0\n" };
	char folder[] = "/tmp/dl-holder-XXXXXX", path[64];
	enum net_kind kind;

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/holder", folder);
	assert_int_equal(holder_find(folder, &kind), 0);
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		FILE *f = fopen(path, "w");
		const char *mark = strstr(texts[i], "%d");

		assert_non_null(f);
		/* This very process is no holder, whatever a file says. */
		if (mark)
			fprintf(f, "%d%s", (int)getpid(), mark + 2);
		else
			fputs(texts[i], f);
		fclose(f);
		assert_int_equal(holder_find(folder, &kind), 0);
		assert_true(holder_end(folder, NULL));
	}
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(folder), 0);
}

static void ways_out(void **state)
{
	const struct outside slirp = { "/x/slirp4netns", false, "10.0.2.3" }, pasta = { "/x/pasta", true, NULL };
	const char *argv[OUTSIDE_ARGS];

	(void)state;
	outside_argv(argv, &slirp, "42");
	assert_string_equal(argv[0], "/x/slirp4netns");
	assert_string_equal(argv[3], "--disable-host-loopback");
	assert_string_equal(argv[4], "42");
	assert_string_equal(argv[5], "tap0");
	assert_null(argv[6]);
	outside_argv(argv, &pasta, "42");
	assert_string_equal(argv[13], "42");
	assert_null(argv[14]);
}

/* What apparmor_note() adds to a note if the sysctl's file says SAYS and the program is PROGRAM. */
static struct net_world noted(const char *says, const char *program)
{
	struct net_world w = { .note = "no network" };
	char folder[] = "/tmp/dl-apparmor-XXXXXX", sysctl[64], exe[64];
	FILE *f;

	assert_non_null(mkdtemp(folder));
	snprintf(sysctl, sizeof(sysctl), "%s/sysctl", folder);
	snprintf(exe, sizeof(exe), "%s/exe", folder);
	assert_int_equal(symlink(program, exe), 0);
	if (says) {
		f = fopen(sysctl, "w");
		assert_non_null(f);
		fputs(says, f);
		fclose(f);
	}
	apparmor_note(&w, sysctl, exe);
	(void)unlink(sysctl);
	assert_int_equal(unlink(exe), 0);
	assert_int_equal(rmdir(folder), 0);
	return w;
}

static void apparmor(void **state)
{
	char deep[600];

	(void)state;
	/* Another kernel, or one that lets everybody. */
	assert_string_equal(noted(NULL, "/usr/bin/dljob").note, "no network");
	assert_string_equal(noted("0\n", "/usr/bin/dljob").note, "no network");
	assert_string_equal(noted("1\n", "/home/a b/build/dljob").note,
	                    "no network; AppArmor takes their rights from user namespaces here; until the next boot "
	                    "dljob has them with: echo 'abi <abi/4.0>, \"/home/a b/build/dljob\" flags=(unconfined) "
	                    "{ userns, }' | sudo apparmor_parser -r (for good: docs/local.md, AppArmor)");
	/* A path that would not stay one word in that command, or not one path in that profile. */
	memset(deep, 'a', sizeof(deep));
	deep[0] = '/';
	deep[sizeof(deep) - 1] = 0;
	for (size_t i = 0; i < 4; i++) {
		const char *const odd[] = { "/home/it's/dljob", "/home/*/dljob", "/home/{a,b}/dljob", deep };
		struct net_world w = noted("1\n", odd[i]);

		assert_null(strstr(w.note, "apparmor_parser"));
		assert_non_null(strstr(w.note, "sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0 (for good"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(resolv),   cmocka_unit_test(id_maps),  cmocka_unit_test(holder_files_that_lie),
		cmocka_unit_test(ways_out), cmocka_unit_test(apparmor),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
