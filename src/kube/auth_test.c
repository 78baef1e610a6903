#include "kube/auth.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <sys/stat.h>
#include <unistd.h>

struct bench {
	struct loop *loop;
	struct kube_config config;
	struct kube_auth *auth;
	int ready;
	struct err told;
	char dir[32], file[64];
};

static void on_ready(void *cookie)
{
	struct bench *b = cookie;

	b->ready++;
	loop_stop(b->loop);
}

static void start(struct bench *b)
{
	b->loop = loop_new();
	b->auth = kube_auth_new(b->loop, &b->config, on_ready, b);
}

static void stop(struct bench *b)
{
	kube_auth_free(b->auth);
	loop_free(b->loop);
}

static enum kube_auth_state header(struct bench *b, struct str *ret)
{
	struct err e = ERR_INIT;
	enum kube_auth_state s = kube_auth_header(b->auth, ret, &e);

	/* Whatever goes wrong, a secret is not in the message. */
	if (e.msg)
		assert_null(strstr(e.msg, "secret"));
	err_release(&e);
	return s;
}

static void scratch(struct bench *b)
{
	snprintf(b->dir, sizeof(b->dir), "/tmp/kube-auth-XXXXXX");
	assert_non_null(mkdtemp(b->dir));
	snprintf(b->file, sizeof(b->file), "%s/token", b->dir);
}

static void write_file(const char *path, const char *text, mode_t mode)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(chmod(path, mode), 0);
}

static void unscratch(struct bench *b)
{
	unlink(b->file);
	rmdir(b->dir);
}

static void fixed_ones(void **state)
{
	struct bench b = { 0 };
	struct str h;

	(void)state;
	start(&b);
	assert_int_equal(header(&b, &h), KUBE_AUTH_HAVE);
	assert_int_equal(h.n, 0);
	stop(&b);
	b.config.token = STR("abc\n");
	start(&b);
	assert_int_equal(header(&b, &h), KUBE_AUTH_HAVE);
	assert_string_equal(h.p, "Bearer abc");
	/* A fixed token that was refused is all there is. */
	kube_auth_refused(b.auth);
	assert_int_equal(header(&b, &h), KUBE_AUTH_HAVE);
	stop(&b);
	b.config.token = STR_NONE;
	b.config.username = STR("user");
	b.config.password = STR("pass:word");
	start(&b);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(header(&b, &h), KUBE_AUTH_HAVE);
		assert_string_equal(h.p, "Basic dXNlcjpwYXNzOndvcmQ=");
	}
	stop(&b);
}

static void a_file_is_read_again_when_refused(void **state)
{
	struct bench b = { 0 };
	struct str h;

	(void)state;
	scratch(&b);
	write_file(b.file, "secret-1\n", 0600);
	b.config.token_file = str_c(b.file);
	start(&b);
	assert_int_equal(header(&b, &h), KUBE_AUTH_HAVE);
	assert_string_equal(h.p, "Bearer secret-1");
	write_file(b.file, "secret-2", 0600);
	assert_int_equal(header(&b, &h), KUBE_AUTH_HAVE);
	assert_string_equal(h.p, "Bearer secret-1");
	kube_auth_refused(b.auth);
	assert_int_equal(header(&b, &h), KUBE_AUTH_HAVE);
	assert_string_equal(h.p, "Bearer secret-2");
	/* It is gone for a moment: the old one is better than none. */
	unlink(b.file);
	kube_auth_refused(b.auth);
	assert_int_equal(header(&b, &h), KUBE_AUTH_HAVE);
	assert_string_equal(h.p, "Bearer secret-2");
	stop(&b);
	unscratch(&b);
}

static void a_file_that_is_not_there_yet(void **state)
{
	struct bench b = { 0 };
	struct str h;

	(void)state;
	scratch(&b);
	b.config.token_file = str_c(b.file);
	start(&b);
	assert_int_equal(header(&b, &h), KUBE_AUTH_FAILED);
	assert_int_equal(header(&b, &h), KUBE_AUTH_FAILED);
	write_file(b.file, "secret", 0600);
	loop_run(b.loop);
	assert_int_equal(b.ready, 1);
	assert_int_equal(header(&b, &h), KUBE_AUTH_HAVE);
	assert_string_equal(h.p, "Bearer secret");
	stop(&b);
	unscratch(&b);
}

static void plugin(struct bench *b, const char *script)
{
	scratch(b);
	write_file(b->file, script, 0700);
	b->config.exec.command = str_c(b->file);
	b->config.exec.api_version = STR("client.authentication.k8s.io/v1");
	start(b);
}

static void a_plugin_gives_a_token(void **state)
{
	static const struct str args[] = { STR_INIT("--cluster"), STR_INIT("a b") }, env[] = { STR_INIT("SUFFIX=x;y") };
	struct bench b = { 0 };
	struct str h;

	(void)state;
	b.config.exec.args = args;
	b.config.exec.n_args = 2;
	b.config.exec.env = env;
	b.config.exec.n_env = 1;
	b.config.exec.provide_cluster_info = true;
	b.config.server.url = STR("https://example:6443");
	b.config.server.ca = STR("ca");
	plugin(&b, "#!/bin/sh\n"
	           "case $KUBERNETES_EXEC_INFO in *'\"server\":\"https://example:6443\"'*'\"Y2E=\"'*) ;; *) exit 9 ;; "
	           "esac\n"
	           "echo '{\"apiVersion\":\"client.authentication.k8s.io/v1\",\"kind\":\"ExecCredential\",'\n"
	           "echo '\"status\":{\"token\":\"'\"$1-$2-$SUFFIX\"'\"}}'\n");
	assert_int_equal(header(&b, &h), KUBE_AUTH_WAIT);
	assert_int_equal(header(&b, &h), KUBE_AUTH_WAIT);
	loop_run(b.loop);
	assert_int_equal(header(&b, &h), KUBE_AUTH_HAVE);
	assert_string_equal(h.p, "Bearer --cluster-a b-x;y");
	kube_auth_refused(b.auth);
	assert_int_equal(header(&b, &h), KUBE_AUTH_WAIT);
	loop_run(b.loop);
	assert_int_equal(header(&b, &h), KUBE_AUTH_HAVE);
	stop(&b);
	unscratch(&b);
}

static void a_token_that_has_expired(void **state)
{
	struct bench b = { 0 };
	struct str h;

	(void)state;
	plugin(&b, "#!/bin/sh\n"
	           "echo '{\"status\":{\"token\":\"t\",\"expirationTimestamp\":\"2020-01-01T00:00:00Z\"}}'\n");
	assert_int_equal(header(&b, &h), KUBE_AUTH_WAIT);
	loop_run(b.loop);
	/* Old as soon as it comes: asked for again, not used. */
	assert_int_equal(header(&b, &h), KUBE_AUTH_WAIT);
	stop(&b);
	unscratch(&b);
}

static void plugins_that_fail(void **state)
{
	static const char *const scripts[] = {
		"#!/bin/sh\necho no login >&2\nexit 3\n",
		"#!/bin/sh\necho not json\n",
		"#!/bin/sh\necho '{}'\n",
		"#!/bin/sh\necho '{\"status\":{\"clientCertificateData\":\"x\"}}'\n",
	};
	static const char *const messages[] = { "exit status 3: no login", "its answer", "no status.token",
		                                "not taken" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(scripts); i++) {
		struct bench b = { 0 };
		struct str h;

		plugin(&b, scripts[i]);
		assert_int_equal(header(&b, &h), KUBE_AUTH_WAIT);
		loop_run(b.loop);
		assert_int_equal(b.ready, 1);
		assert_int_equal(kube_auth_header(b.auth, &h, &b.told), KUBE_AUTH_FAILED);
		if (!strstr(b.told.msg, messages[i]))
			fail_msg("%s", b.told.msg);
		/* It is tried again by timer. */
		loop_run(b.loop);
		assert_int_equal(b.ready, 2);
		assert_int_equal(header(&b, &h), KUBE_AUTH_WAIT);
		err_release(&b.told);
		stop(&b);
		unscratch(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fixed_ones),
		cmocka_unit_test(a_file_is_read_again_when_refused),
		cmocka_unit_test(a_file_that_is_not_there_yet),
		cmocka_unit_test(a_plugin_gives_a_token),
		cmocka_unit_test(a_token_that_has_expired),
		cmocka_unit_test(plugins_that_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
