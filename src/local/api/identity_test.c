#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "local/api/identity.h"
#include "local/api/keep.h"

#include <sys/stat.h>
#include <unistd.h>

#define NOW SECONDS(1800000000)
#define YEAR (365 * 24 * SECONDS(3600))

struct world {
	char folder[64];
	struct arena arena;
	struct err err;
};

static int setup(void **state)
{
	struct world *w = xcalloc(1, sizeof(*w));

	snprintf(w->folder, sizeof(w->folder), "/tmp/dl-identity.XXXXXX");
	assert_non_null(mkdtemp(w->folder));
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	static const char *const names[] = { "tls.pem", "token", "port", "ca.pem", "kubeconfig", "x" };
	struct world *w = *state;
	char path[128];

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		snprintf(path, sizeof(path), "%s/%s", w->folder, names[i]);
		unlink(path);
	}
	/* Nothing else was left behind. */
	assert_int_equal(rmdir(w->folder), 0);
	arena_release(&w->arena);
	err_release(&w->err);
	free(w);
	return 0;
}

static struct tls_name load(struct world *w, msec now)
{
	struct tls_name id;

	if (!identity_load(&id, w->folder, now, &w->arena, &w->err))
		fail_msg("%s", err_msg(&w->err));
	return id;
}

static const char *path_of(struct world *w, const char *name)
{
	return arena_printf(&w->arena, "%s/%s", w->folder, name).p;
}

static struct str text_of(struct world *w, const char *name)
{
	struct str text;

	assert_int_equal(file_read(&text, path_of(w, name), &w->arena, NULL), FILE_READ);
	return text;
}

static mode_t mode_of(struct world *w, const char *name)
{
	struct stat st;

	assert_int_equal(stat(path_of(w, name), &st), 0);
	return st.st_mode & 07777;
}

static void stays_the_same(void **state)
{
	struct world *w = *state;
	struct tls_name a = load(w, NOW), b = load(w, NOW + YEAR);

	assert_true(str_eq(a.token, b.token));
	assert_true(str_eq(a.tls.key, b.tls.key));
	assert_true(str_eq(a.tls.cert, b.tls.cert));
	assert_true(str_eq(a.tls.ca, b.tls.ca));
	assert_int_equal(a.token.n, 64);
}

static void only_the_owner_reads_it(void **state)
{
	static const mode_t masks[] = { 0, 022, 0777 };
	struct world *w = *state;

	for (size_t i = 0; i < ARRAY_LEN(masks); i++) {
		mode_t before = umask(masks[i]);
		struct tls_name id = load(w, NOW);

		assert_true(identity_publish(&id, w->folder, 1234, NULL));
		umask(before);
		assert_int_equal(mode_of(w, "tls.pem"), 0600);
		assert_int_equal(mode_of(w, "token"), 0600);
		assert_int_equal(mode_of(w, "kubeconfig"), 0600);
		unlink(path_of(w, "tls.pem"));
		unlink(path_of(w, "token"));
	}
}

static void the_kubeconfig_holds_what_is_needed(void **state)
{
	struct world *w = *state;
	struct tls_name id = load(w, NOW);
	struct str text;

	assert_true(identity_publish(&id, w->folder, 4321, NULL));
	text = text_of(w, "kubeconfig");
	assert_non_null(memmem(text.p, text.n, id.token.p, id.token.n));
	assert_non_null(strstr(text.p, "server: https://127.0.0.1:4321\n"));
	assert_non_null(strstr(text.p, "current-context: dljob-local\n"));
	assert_null(strstr(text.p, "PRIVATE"));
	assert_int_equal(load(w, NOW).port, 4321);
	assert_true(str_eq(text_of(w, "ca.pem"), id.tls.ca));
}

static void old_certificates_are_made_anew(void **state)
{
	struct world *w = *state;
	struct tls_name a = load(w, NOW), b = load(w, NOW + 10 * YEAR);

	assert_false(str_eq(a.tls.cert, b.tls.cert));
	/* The clock went back behind their beginning. */
	a = load(w, NOW - YEAR);
	assert_false(str_eq(a.tls.cert, b.tls.cert));
	assert_true(str_eq(a.token, b.token));
}

static void what_is_damaged_is_made_anew(void **state)
{
	struct world *w = *state;
	struct tls_name a = load(w, NOW), b;
	struct arena *m = &w->arena;
	struct str half = arena_str(m, str_sub(a.tls.cert, 0, a.tls.cert.n / 2));
	struct tls_identity other;
	struct str bad[4];

	assert_true(tls_make(&other, NOW, m, NULL));
	bad[0] = STR("");
	bad[1] = arena_printf(m, "%s%s", a.tls.key.p, half.p);
	bad[2] = tls_text(&(struct tls_identity){ other.key, a.tls.cert, a.tls.ca }, m);
	bad[3] = tls_text(&(struct tls_identity){ a.tls.key, a.tls.cert, other.ca }, m);
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct tls_identity t;

		assert_false(tls_read(&t, bad[i], NOW, m, &w->err));
		assert_true(keep_write(w->folder, "tls.pem", bad[i], NULL));
		assert_true(keep_write(w->folder, "token", STR("short\n"), NULL));
		assert_true(keep_write(w->folder, "port", STR("70000\n"), NULL));
		b = load(w, NOW);
		assert_true(tls_read(&t, text_of(w, "tls.pem"), NOW, m, NULL));
		assert_true(str_eq(t.cert, b.tls.cert));
		assert_int_equal(b.token.n, 64);
		assert_int_equal(b.port, 0);
	}
}

static void a_token_that_others_could_read_is_replaced(void **state)
{
	struct world *w = *state;
	struct tls_name a = load(w, NOW), b;

	assert_int_equal(chmod(path_of(w, "token"), 0640), 0);
	b = load(w, NOW);
	assert_false(str_eq(a.token, b.token));
	assert_int_equal(mode_of(w, "token"), 0600);
	/* A link is not followed. */
	assert_int_equal(rename(path_of(w, "token"), path_of(w, "x")), 0);
	assert_int_equal(symlink("x", path_of(w, "token")), 0);
	a = load(w, NOW);
	assert_false(str_eq(a.token, b.token));
	assert_true(str_eq(str_trim(text_of(w, "x")), b.token));
}

static void a_folder_that_others_may_write_to_is_refused(void **state)
{
	struct world *w = *state;
	struct tls_name id;

	assert_int_equal(chmod(w->folder, 0777), 0);
	assert_false(identity_load(&id, w->folder, NOW, &w->arena, &w->err));
	assert_non_null(strstr(err_msg(&w->err), "others may write"));
	assert_int_equal(chmod(w->folder, 0755), 0);
	assert_true(identity_load(&id, w->folder, NOW, &w->arena, NULL));
	assert_false(identity_load(&id, "/dev/null", NOW, &w->arena, &w->err));
	assert_false(identity_load(&id, "/nowhere/x", NOW, &w->arena, &w->err));
}

static void only_the_token_admits(void **state)
{
	struct tls_name id = { .token = STR("0123456789abcdef") };

	(void)state;
	assert_true(identity_admits(&id, STR("Bearer 0123456789abcdef")));
	assert_true(identity_admits(&id, STR("bearer  0123456789abcdef ")));
	assert_false(identity_admits(&id, STR("")));
	assert_false(identity_admits(&id, STR("Bearer")));
	assert_false(identity_admits(&id, STR("Bearer ")));
	assert_false(identity_admits(&id, STR("Bearer 0123456789abcde")));
	assert_false(identity_admits(&id, STR("Bearer 0123456789abcdee")));
	assert_false(identity_admits(&id, STR("Bearer 0123456789abcdeff")));
	assert_false(identity_admits(&id, STR("Basic 0123456789abcdef")));
	assert_false(identity_admits(&id, STR("0123456789abcdef")));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(stays_the_same),
		TEST(only_the_owner_reads_it),
		TEST(the_kubeconfig_holds_what_is_needed),
		TEST(old_certificates_are_made_anew),
		TEST(what_is_damaged_is_made_anew),
		TEST(a_token_that_others_could_read_is_replaced),
		TEST(a_folder_that_others_may_write_to_is_refused),
		cmocka_unit_test(only_the_token_admits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
