/* Certificates that change while the client runs, against openssl's own server. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "http/testing_tls.h"
#include "kube/kube.h"

#include <sys/stat.h>
#include <unistd.h>

static const char *const plain[] = { "-cert", "address.pem", "-key", "address.key", NULL };
/* Knows whom it speaks to. */
static const char *const strict[] = { "-cert",  "address.pem", "-key", "address.key",          "-CAfile",
	                              "ca.pem", "-Verify",     "1",    "-verify_return_error", NULL };

static struct {
	char url[64];
	int changes, problems;
	char problem[256];
	int code, answers;
} seen;

static void on_wake(void *cookie)
{
	(void)cookie;
}

static void on_told(void *cookie, const char *problem)
{
	(void)cookie;
	*(problem ? &seen.problems : &seen.changes) += 1;
	snprintf(seen.problem, sizeof(seen.problem), "%s", problem ? problem : "");
}

static void on_answer(void *cookie, const struct outcome *o, yyjson_val *answer)
{
	(void)cookie;
	(void)answer;
	seen.code = o->code;
	seen.answers++;
	testing_enough();
}

/* Whole at once, as the kubelet replaces what it mounts. */
static void put(const char *path, struct str text)
{
	FILE *f = fopen("new", "w");

	assert_non_null(f);
	assert_int_equal(fwrite(text.p, 1, text.n, f), text.n);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(rename("new", path), 0);
}

static struct kube_config config(const char *const *server)
{
	struct kube_config c = { 0 };

	memset(&seen, 0, sizeof(seen));
	snprintf(seen.url, sizeof(seen.url), "https://127.0.0.1:%d", testing_serve_tls(server));
	c.server = (struct http_server){ .url = str_c(seen.url), .proxy = STR("-") };
	return c;
}

static struct kube *start(const struct kube_config *c)
{
	static const struct kube_options o = {
		.connections = 1, .request_timeout = SECONDS(50), .wake = on_wake, .certs = on_told
	};
	struct err e = ERR_INIT;
	struct kube *k = kube_new(testing_loop, c, &o, &e);

	assert_non_null(k);
	return k;
}

static int ask(struct kube *k)
{
	int before = seen.answers;

	kube_raw(k, &(struct kube_raw){ .method = HTTP_GET, .path = STR("/"), .done = on_answer });
	while (seen.answers == before)
		testing_wait(1);
	return seen.code;
}

static void again(void *cookie)
{
	(void)cookie;
	testing_enough();
}

/* Whoever asks again and again is answered in the end: a minute is the limit of each wait. */
static void ask_until(struct kube *k, bool (*enough)(void))
{
	struct loop_timer *pause = loop_timer_new(testing_loop, again, NULL);

	for (int tries = 0; tries < 300; tries++) {
		ask(k);
		if (enough())
			break;
		loop_timer_set(pause, 200);
		testing_wait(1);
	}
	loop_timer_free(pause);
	assert_true(enough());
}

static bool answered_ok(void)
{
	return seen.code == 200;
}

static bool told_a_problem(void)
{
	return seen.problems > 0;
}

static void test_authority_is_replaced(void **state)
{
	struct kube_config c = config(plain);
	struct kube *k;

	(void)state;
	c.server.ca = testing_pem("other", "pem");
	c.ca_file = STR("ca.crt");
	put("ca.crt", c.server.ca);
	k = start(&c);
	assert_int_equal(ask(k), 0);
	assert_int_equal(seen.changes, 0);
	put("ca.crt", testing_pem("ca", "pem"));
	ask_until(k, answered_ok);
	assert_int_equal(seen.changes, 1);
	assert_int_equal(seen.problems, 0);
	kube_free(k);
}

/* What was read at the start of the program may be old when a client is made. */
static void test_is_read_at_once(void **state)
{
	struct kube_config c = config(plain);
	struct kube *k;

	(void)state;
	c.server.ca = testing_pem("other", "pem");
	c.ca_file = STR("ca.crt");
	put("ca.crt", testing_pem("ca", "pem"));
	k = start(&c);
	ask_until(k, answered_ok);
	assert_int_equal(seen.changes, 1);
	kube_free(k);
}

static void test_client_certificate_is_replaced(void **state)
{
	struct kube_config c = config(strict);
	struct kube *k;

	(void)state;
	c.server.ca = testing_pem("ca", "pem");
	c.server.cert = testing_pem("stranger", "pem");
	c.server.key = testing_pem("stranger", "key");
	c.cert_file = STR("tls.crt");
	c.key_file = STR("tls.key");
	put("tls.crt", c.server.cert);
	put("tls.key", c.server.key);
	k = start(&c);
	assert_int_equal(ask(k), 0);
	/* One after the other; between the two they do not fit. */
	put("tls.crt", testing_pem("client", "pem"));
	assert_int_equal(ask(k), 0);
	put("tls.key", testing_pem("client", "key"));
	ask_until(k, answered_ok);
	assert_true(seen.changes >= 1);
	kube_free(k);
}

/* Half of a file, or none, changes nothing. */
static void test_broken_files(void **state)
{
	static const struct str broken[] = { STR_INIT(""), STR_INIT("-----BEGIN CERTIFICATE-----\nMIIB"),
		                             STR_INIT("hello") };
	struct kube_config c = config(plain);
	struct kube *k;

	(void)state;
	c.server.ca = testing_pem("ca", "pem");
	c.ca_file = STR("ca.crt");
	for (size_t i = 0; i < ARRAY_LEN(broken); i++) {
		seen.problems = 0;
		put("ca.crt", broken[i]);
		k = start(&c);
		ask_until(k, told_a_problem);
		assert_string_equal(seen.problem, "ca.crt has no PEM data");
		assert_int_equal(ask(k), 200);
		kube_free(k);
	}
	seen.problems = 0;
	assert_int_equal(unlink("ca.crt"), 0);
	k = start(&c);
	ask_until(k, told_a_problem);
	assert_string_equal(seen.problem, "ca.crt does not exist");
	assert_int_equal(ask(k), 200);
	assert_int_equal(seen.changes, 0);
	kube_free(k);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, testing_setup, testing_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_authority_is_replaced),
		TEST(test_is_read_at_once),
		TEST(test_client_certificate_is_replaced),
		TEST(test_broken_files),
	};

	return cmocka_run_group_tests(tests, testing_certificates, testing_remove_certificates);
}
