#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "kube/config.h"

#include <fcntl.h>
#include <unistd.h>

/* A machine with no other files and variables than these. */
struct pair {
	const char *name, *text;
};
struct machine {
	const struct pair *files, *env; /* up to one without a name */
};

static const char *fake_env(void *cookie, const char *name)
{
	const struct machine *m = cookie;

	for (const struct pair *p = m->env; p && p->name; p++)
		if (strcmp(p->name, name) == 0)
			return p->text;
	return NULL;
}

static enum file_read fake_read(void *cookie, struct str *ret, const char *path, struct arena *a, struct err *e)
{
	const struct machine *m = cookie;

	for (const struct pair *p = m->files; p && p->name; p++) {
		if (strcmp(p->name, path) != 0)
			continue;
		if (!p->text) {
			err_set(e, ERR_IO, "%s: Permission denied", path);
			return FILE_FAILED;
		}
		*ret = arena_str(a, str_c(p->text));
		return FILE_READ;
	}
	return FILE_MISSING;
}

static struct arena arena;

static struct kube_config_args args_of(const struct machine *m)
{
	return (struct kube_config_args){ .env = fake_env, .read = fake_read, .cookie = (void *)(uintptr_t)m };
}

static struct kube_config load(const struct kube_config_args *args)
{
	struct err e = ERR_INIT;
	struct kube_config c;

	if (!kube_config_load(&c, args, &arena, &e))
		fail_msg("%s", err_msg(&e));
	return c;
}

/* Loads FILES as KUBECONFIG=/k/config. */
static struct kube_config load_files(const struct pair *files)
{
	static const struct pair env[] = { { "KUBECONFIG", "/k/config" }, { 0 } };
	struct machine m = { files, env };
	struct kube_config_args args = args_of(&m);

	return load(&args);
}

static void refuse(const struct kube_config_args *args, const char *want)
{
	struct err e = ERR_INIT;
	struct kube_config c;

	assert_false(kube_config_load(&c, args, &arena, &e));
	assert_string_equal(err_msg(&e), want);
	err_release(&e);
}

static void same(struct str s, const char *want)
{
	assert_string_equal(arena_str(&arena, s).p, want);
}

#define PEM "-----BEGIN X-----\n"
#define PEM_DATA "LS0tLS1CRUdJTiBYLS0tLS0K"
#define HEAD "apiVersion: v1\nkind: Config\ncurrent-context: c\n"
#define CONTEXT "contexts:\n- {name: c, context: {cluster: k, user: u}}\n"
#define CLUSTER "clusters:\n- {name: k, cluster: {server: 'https://h:1'}}\n"

static void test_everything(void **state)
{
	static const struct pair files[] = {
		{ "/k/config", HEAD "contexts:\n- name: c\n  context: {cluster: k, user: u, namespace: team}\n"
		                    "clusters:\n- name: k\n  cluster:\n    server: https://h:6443/base/\n"
		                    "    certificate-authority: ca.pem\n    tls-server-name: other\n"
		                    "    proxy-url: socks5://p:1080\n"
		                    "users:\n- name: u\n  user:\n    client-certificate-data: " PEM_DATA "\n"
		                    "    client-certificate: missing.pem\n    client-key: /abs/key.pem\n"
		                    "    token: secret\n    tokenFile: ../t/token\n" },
		{ "/k/ca.pem", PEM "ca" },
		{ "/abs/key.pem", PEM "key" },
		{ "/k/../t/token", "fresh\n" },
		{ 0 },
	};
	struct kube_config c = load_files(files);

	(void)state;
	same(c.server.url, "https://h:6443/base");
	same(c.server.ca, PEM "ca");
	same(c.server.cert, PEM);
	same(c.server.key, PEM "key");
	same(c.server.tls_server_name, "other");
	same(c.server.proxy, "socks5://p:1080");
	assert_false(c.server.insecure);
	same(c.ns, "team");
	same(c.context, "c");
	same(c.token, "secret");
	same(c.token_file, "/k/../t/token");
	same(c.ca_file, "/k/ca.pem");
	same(c.cert_file, "");
	same(c.key_file, "/abs/key.pem");
}

static void test_insecure_and_password(void **state)
{
	static const struct pair files[] = {
		{ "/k/config",
		  HEAD CONTEXT "clusters:\n- {name: k, cluster: {server: 'h:1', insecure-skip-tls-verify: true}}\n"
		               "users:\n- {name: u, user: {username: me, password: 'a:b'}}\n" },
		{ 0 },
	};
	struct kube_config c = load_files(files);

	(void)state;
	assert_true(c.server.insecure);
	same(c.server.url, "https://h:1");
	same(c.username, "me");
	same(c.password, "a:b");
}

static void test_exec(void **state)
{
	static const struct pair files[] = {
		{ "/k/config", HEAD CONTEXT CLUSTER
		  "users:\n- name: u\n  user:\n    exec:\n"
		  "      apiVersion: client.authentication.k8s.io/v1beta1\n      command: ./bin/login\n"
		  "      args: [get-token, '', --x=y]\n"
		  "      env: [{name: A, value: b=c}, {name: E}]\n"
		  "      installHint: install it\n      provideClusterInfo: true\n"
		  "      interactiveMode: IfAvailable\n" },
		{ 0 },
	};
	static const struct pair bare[] = {
		{ "/k/config", HEAD CONTEXT CLUSTER "users:\n- {name: u, user: {exec: {apiVersion: "
		                                    "client.authentication.k8s.io/v1, command: aws, env: null}}}\n" },
		{ 0 },
	};
	struct kube_config c = load_files(files);

	(void)state;
	same(c.exec.command, "/k/./bin/login");
	same(c.exec.api_version, "client.authentication.k8s.io/v1beta1");
	assert_int_equal(c.exec.n_args, 3);
	same(c.exec.args[0], "get-token");
	same(c.exec.args[1], "");
	same(c.exec.args[2], "--x=y");
	assert_int_equal(c.exec.n_env, 2);
	same(c.exec.env[0], "A=b=c");
	same(c.exec.env[1], "E=");
	same(c.exec.install_hint, "install it");
	assert_true(c.exec.provide_cluster_info);
	c = load_files(bare);
	same(c.exec.command, "aws");
	assert_int_equal(c.exec.n_args + c.exec.n_env, 0);
	assert_false(c.exec.provide_cluster_info);
}

/* The first file that has an entry wins, with the whole of it; paths are relative to the file they stand in. */
static void test_merge(void **state)
{
	static const struct pair files[] = {
		{ "/a/1", "users:\n- {name: u, user: {token: first}}\ncurrent-context: ''\n" },
		{ "/b/2",
		  "current-context: c\nusers:\n- {name: u, user: {token: second, client-certificate: no}}\n" CONTEXT },
		{ "/c/3", "current-context: other\n"
		          "clusters:\n- {name: k, cluster: {server: 'https://h:1', certificate-authority: ca}}\n"
		          "contexts:\n- {name: d, context: {cluster: k, namespace: space}}\n- {name: e}\n" },
		{ "/d/4", "" },
		{ "/c/ca", PEM },
		{ 0 },
	};
	static const struct pair env[] = { { "KUBECONFIG", ":/missing:/a/1:/b/2::/c/3:/d/4" }, { 0 } };
	struct machine m = { files, env };
	struct kube_config_args args = args_of(&m);
	struct kube_config c = load(&args);

	(void)state;
	same(c.token, "first");
	same(c.server.cert, "");
	same(c.server.ca, PEM);
	same(c.context, "c");
	args.context = STR("d");
	args.master = STR("https://elsewhere/");
	c = load(&args);
	same(c.context, "d");
	same(c.ns, "space");
	same(c.token, "");
	same(c.server.url, "https://elsewhere");
	same(c.server.ca, PEM);
	args.context = STR("e");
	refuse(&args, "/c/3: contexts[1].context.cluster: is missing");
	args.context = STR("f");
	refuse(&args, "/a/1, /b/2, /c/3, /d/4: there is no context named \"f\"");
}

#define USER(what) HEAD CONTEXT CLUSTER "users:\n- {name: u, user: {" what "}}\n"
#define SERVER(what) HEAD CONTEXT "clusters:\n- {name: k, cluster: {" what "}}\nusers:\n- {name: u}\n"
#define EXEC(what) USER("exec: {" what "}")

static void test_refused(void **state)
{
	static const struct pair env[] = { { "KUBECONFIG", "/k/config" }, { 0 } };
	static const struct {
		const char *text, *want;
	} cases[] = {
		{ "[1]", "/k/config: not a kubeconfig, but a list" },
		{ "a: [", "/k/config:2:1: expected a value" },
		{ "a: 1\n---\nb: 2", "/k/config: more than one document" },
		{ "kind: Pod", "/k/config: kind: must be Config, not Pod" },
		{ "kind: Config", "/k/config: current-context is not set" },
		{ "current-context: 5", "/k/config: current-context: must be a string, not a number" },
		{ "current-context: c", "/k/config: there is no context named \"c\"" },
		{ HEAD "contexts: {}", "/k/config: contexts: must be a list, not an object" },
		{ HEAD "contexts: [5, {name: 5}, {name: c, context: 5}]",
		  "/k/config: contexts[2].context: must be an object, not a number" },
		{ HEAD CONTEXT, "/k/config: contexts[0].context.cluster: there is no cluster named \"k\"" },
		{ HEAD CONTEXT CLUSTER, "/k/config: contexts[0].context.user: there is no user named \"u\"" },
		{ HEAD "contexts: [{name: c}, {name: c}]", "/k/config: contexts[1].name: \"c\" is in this file twice" },
		{ SERVER(""), "/k/config: clusters[0].cluster.server: is missing" },
		{ SERVER("server: 5"), "/k/config: clusters[0].cluster.server: must be a string, not a number" },
		{ SERVER("server: 'ftp://x'"), "/k/config: clusters[0].cluster.server: not an http or https URL" },
		{ SERVER("server: 'https://'"),
		  "/k/config: clusters[0].cluster.server: not a URL: the host is missing" },
		{ SERVER("server: 'https://a b'"),
		  "/k/config: clusters[0].cluster.server: not a URL: it has a blank or control character" },
		{ SERVER("server: 'https://u:pw@h'"),
		  "/k/config: clusters[0].cluster.server: not the URL of a server: it must not have a "
		  "query, fragment or user" },
		{ SERVER("server: h, insecure-skip-tls-verify: maybe"),
		  "/k/config: clusters[0].cluster.insecure-skip-tls-verify: must be true or false, not a string" },
		{ SERVER("server: h, insecure-skip-tls-verify: true, certificate-authority-data: " PEM_DATA),
		  "/k/config: clusters[0].cluster.insecure-skip-tls-verify: cannot be combined with a certificate "
		  "authority" },
		{ SERVER("server: h, certificate-authority-data: '*'"),
		  "/k/config: clusters[0].cluster.certificate-authority-data: is not base64" },
		{ SERVER("server: h, certificate-authority-data: YWJj"),
		  "/k/config: clusters[0].cluster.certificate-authority-data: has no PEM data" },
		{ SERVER("server: h, certificate-authority: ca"),
		  "/k/config: clusters[0].cluster.certificate-authority: /k/ca does not exist" },
		{ SERVER("server: h, certificate-authority: /closed"),
		  "/k/config: clusters[0].cluster.certificate-authority: /closed: Permission denied" },
		{ SERVER("server: h, certificate-authority: /text"),
		  "/k/config: clusters[0].cluster.certificate-authority: /text has no PEM data" },
		{ SERVER("server: h, proxy-url: p"),
		  "/k/config: clusters[0].cluster.proxy-url: must begin with http://, https:// or socks5://" },
		{ SERVER("server: \"h\\0i\""), "/k/config: clusters[0].cluster.server: has a zero byte in it" },
		{ USER("auth-provider: {name: gcp}"),
		  "/k/config: users[0].user.auth-provider: was removed from Kubernetes; use exec" },
		{ USER("as: root"), "/k/config: users[0].user.as: impersonation is not supported" },
		{ USER("token: 12345"), "/k/config: users[0].user.token: must be a string, not a number" },
		{ USER("token: \"hush\\r\\nX: y\""),
		  "/k/config: users[0].user.token: the token has a character that a header cannot hold" },
		{ USER("tokenFile: none"), "/k/config: users[0].user.tokenFile: /k/none does not exist" },
		{ USER("tokenFile: /empty"), "/k/config: users[0].user.tokenFile: the file is empty" },
		{ USER("tokenFile: /lines"), "/k/config: users[0].user.tokenFile: /lines: the token has a character "
		                             "that a header cannot hold" },
		{ USER("token: hush, username: me"),
		  "/k/config: users[0].user.username: cannot be combined with a token" },
		{ USER("client-certificate-data: " PEM_DATA),
		  "/k/config: users[0].user.client-key: is missing beside client-certificate" },
		{ USER("client-key-data: " PEM_DATA),
		  "/k/config: users[0].user.client-certificate: is missing beside client-key" },
		{ USER("exec: aws"), "/k/config: users[0].user.exec: must be an object, not a string" },
		{ EXEC("apiVersion: x"), "/k/config: users[0].user.exec.command: is missing" },
		{ EXEC("command: x, apiVersion: client.authentication.k8s.io/v1alpha1"),
		  "/k/config: users[0].user.exec.apiVersion: must be client.authentication.k8s.io/v1 or /v1beta1" },
		{ EXEC("command: x, apiVersion: client.authentication.k8s.io/v1, interactiveMode: Always"),
		  "/k/config: users[0].user.exec.interactiveMode: Always needs a terminal, and there is none" },
		{ EXEC("command: x, args: z"), "/k/config: users[0].user.exec.args: must be a list, not a string" },
		{ EXEC("command: x, args: [5]"), "/k/config: users[0].user.exec.args: must be a list of strings" },
		{ EXEC("command: x, env: {A: b}"), "/k/config: users[0].user.exec.env: must be a list, not an object" },
		{ EXEC("command: x, env: [{name: A=B}]"),
		  "/k/config: users[0].user.exec.env[0].name: must be the name of a variable" },
		{ EXEC("command: x, env: [5]"),
		  "/k/config: users[0].user.exec.env[0].name: must be the name of a variable" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const struct pair files[] = { { "/k/config", cases[i].text },
			                      { "/closed", NULL },
			                      { "/text", "text" },
			                      { "/empty", " \n" },
			                      { "/lines", "one\ntwo" },
			                      { 0 } };
		struct machine m = { files, env };
		struct kube_config_args args = args_of(&m);

		refuse(&args, cases[i].want);
	}
}

#define ACCOUNT "/var/run/secrets/kubernetes.io/serviceaccount/"

static void test_in_cluster(void **state)
{
	static const struct pair files[] = { { ACCOUNT "token", "abc\n" },
		                             { ACCOUNT "ca.crt", PEM },
		                             { ACCOUNT "namespace", "dl\n" },
		                             { "/h/.kube/config", "current-context: never" },
		                             { 0 } };
	static const struct {
		const char *host, *port, *url;
	} cases[] = {
		{ "10.0.0.1", "6443", "https://10.0.0.1:6443" },
		{ "fd00::1", "443", "https://[fd00::1]:443" },
		{ "[fd00::1]", NULL, "https://[fd00::1]:443" },
		{ NULL, NULL, "https://kubernetes.default.svc:443" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const struct pair env[] = { { "KUBERNETES_SERVICE_HOST", cases[i].host },
			                    { "KUBERNETES_SERVICE_PORT", cases[i].port },
			                    { "HOME", "/h" },
			                    { 0 } };
		struct machine m = { files, env };
		struct kube_config_args args = args_of(&m);
		struct kube_config c = load(&args);

		same(c.server.url, cases[i].url);
		same(c.server.ca, PEM);
		same(c.token, "abc");
		same(c.token_file, ACCOUNT "token");
		same(c.ca_file, ACCOUNT "ca.crt");
		same(c.ns, "dl");
		same(c.context, "in-cluster");
		args.master = STR("h:1");
		same(load(&args).server.url, "https://h:1");
	}
}

static void test_account_refused(void **state)
{
	static const struct {
		struct pair files[3];
		const char *want;
	} cases[] = {
		{ { { 0 } }, "/acc/token does not exist: this is not a pod with a service account" },
		{ { { "/acc/token", NULL } }, "/acc/token: Permission denied" },
		{ { { "/acc/token", "\n" } }, "/acc/token: empty" },
		{ { { "/acc/token", "a\nb" } }, "/acc/token: the token has a character that a header cannot hold" },
		{ { { "/acc/token", "a" }, { "/acc/ca.crt", NULL } }, "/acc/ca.crt: Permission denied" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct machine m = { cases[i].files, NULL };
		struct kube_config_args args = args_of(&m);

		args.in_cluster = true;
		args.account_dir = STR("/acc");
		args.kubeconfig = STR("/never");
		refuse(&args, cases[i].want);
	}
}

/* Which source is taken when there are several. */
static void test_order(void **state)
{
#define FILE_OF(host)                                                                                                  \
	"current-context: c\ncontexts: [{name: c, context: {cluster: k}}]\n"                                           \
	"clusters: [{name: k, cluster: {server: 'http://" host "'}}]\n"
	static const struct pair files[] = { { "/flag:x", FILE_OF("flag") }, { "/env", FILE_OF("env") },
		                             { "/use", FILE_OF("use") },     { "/h/.kube/config", FILE_OF("home") },
		                             { ACCOUNT "token", "t" },       { 0 } };
	static const struct pair env[] = {
		{ "KUBECONFIG", "/env" }, { "USE_KUBE_CONFIG", "/use" }, { "HOME", "/h" }, { 0 }
	};
	static const struct pair lost[] = { { "KUBECONFIG", "/no:/none" }, { "HOME", "/h" }, { 0 } };
	struct machine m = { files, env };
	struct kube_config_args args = args_of(&m);

	(void)state;
	args.kubeconfig = STR("/flag:x");
	same(load(&args).server.url, "http://flag");
	args.kubeconfig = STR("/gone");
	refuse(&args, "--kubeconfig: /gone does not exist");
	args.kubeconfig = STR_NONE;
	same(load(&args).server.url, "http://env");
	m.env = env + 1;
	same(load(&args).server.url, "http://use");
	m.env = env + 2;
	same(load(&args).context, "in-cluster");
	args.account_dir = STR("/none");
	same(load(&args).server.url, "http://home");
	args.master = STR("https://m:1");
	same(load(&args).server.url, "https://m:1");
	same(load(&args).context, "c");
	m.env = NULL;
	same(load(&args).context, "--master");
	same(load(&args).server.url, "https://m:1");
	args.master = STR("localhost:8080");
	same(load(&args).server.url, "http://localhost:8080");
	args.master = STR("://");
	refuse(&args, "--master: not an http or https URL");
	args.master = STR_NONE;
	refuse(&args,
	       "no cluster to connect to: neither --kubeconfig, --master nor KUBECONFIG is given, there is no service "
	       "account in /none and no /.kube/config");
	m.env = lost;
	refuse(&args, "none of the files in KUBECONFIG exists: /no:/none");
}

/* A server without http:// or https:// in front: in the clear only if there is nothing to hide. */
static void test_no_scheme(void **state)
{
	static const struct {
		const char *user, *url;
	} cases[] = {
		{ "{}", "http://h:6443" },
		{ "{token: secret}", "https://h:6443" },
		{ "{tokenFile: /t}", "https://h:6443" },
		{ "{username: u, password: p}", "https://h:6443" },
		{ "{exec: {command: c, apiVersion: client.authentication.k8s.io/v1}}", "https://h:6443" },
		{ "{client-certificate-data: " PEM_DATA ", client-key-data: " PEM_DATA "}", "https://h:6443" },
	};
	static const struct pair env[] = { { "KUBECONFIG", "/k" }, { 0 } };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		char text[512];
		struct pair files[] = { { "/k", text }, { "/t", "secret" }, { 0 } };
		struct machine m = { files, env };
		struct kube_config_args args = args_of(&m);

		snprintf(text, sizeof(text),
		         "current-context: c\ncontexts: [{name: c, context: {cluster: k, user: u}}]\n"
		         "clusters: [{name: k, cluster: {server: 'h:6443'}}]\nusers: [{name: u, user: %s}]\n",
		         cases[i].user);
		same(load(&args).server.url, cases[i].url);
		/* The same for a server that the flag names. */
		args.master = STR("h:6443");
		same(load(&args).server.url, cases[i].url);
	}
}

static void test_master_without_context(void **state)
{
	static const struct pair files[] = { { "/k", "clusters: []" }, { 0 } };
	struct machine m = { files, NULL };
	struct kube_config_args args = args_of(&m);

	(void)state;
	args.kubeconfig = STR("/k");
	args.master = STR("http://m");
	same(load(&args).server.url, "http://m");
}

static int teardown(void **state)
{
	(void)state;
	arena_release(&arena);
	return 0;
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_everything, teardown),
		cmocka_unit_test_teardown(test_insecure_and_password, teardown),
		cmocka_unit_test_teardown(test_exec, teardown),
		cmocka_unit_test_teardown(test_merge, teardown),
		cmocka_unit_test_teardown(test_refused, teardown),
		cmocka_unit_test_teardown(test_in_cluster, teardown),
		cmocka_unit_test_teardown(test_account_refused, teardown),
		cmocka_unit_test_teardown(test_order, teardown),
		cmocka_unit_test_teardown(test_no_scheme, teardown),
		cmocka_unit_test_teardown(test_master_without_context, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
