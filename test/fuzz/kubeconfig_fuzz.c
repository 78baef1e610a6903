/* Any bytes as a kubeconfig, on a machine whose every other file holds them too: read, or refused with a reason. */
#include "kube/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static struct str input;

static const char *no_env(void *cookie, const char *name)
{
	(void)cookie;
	return strcmp(name, "KUBECONFIG") == 0 ? "/k/config:/other" : NULL;
}

static enum file_read read_input(void *cookie, struct str *ret, const char *path, struct arena *a, struct err *e)
{
	(void)cookie;
	(void)e;
	ASSERT(path[0]);
	*ret = arena_str(a, input);
	return str_has_suffix(str_c(path), STR("missing")) ? FILE_MISSING : FILE_READ;
}

static void check(const struct kube_config *c)
{
	ASSERT(str_has_prefix(c->server.url, STR("http")) && c->server.url.p[c->server.url.n - 1] != '/');
	ASSERT(str_empty(c->server.cert) == str_empty(c->server.key));
	ASSERT(str_empty(c->token) || !memchr(c->token.p, '\n', c->token.n));
	for (size_t i = 0; i < c->exec.n_env; i++)
		ASSERT(memchr(c->exec.env[i].p, '=', c->exec.env[i].n));
	for (size_t i = 0; i < c->exec.n_args; i++)
		ASSERT(strlen(c->exec.args[i].p) == c->exec.args[i].n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct kube_config_args args = { .env = no_env, .read = read_input };
	struct arena a = ARENA_INIT;
	struct err e = ERR_INIT;
	struct kube_config c;

	input = (struct str){ (const char *)data, n };
	for (int i = 0; i < 3; i++) {
		args.in_cluster = i == 1;
		args.master = i == 2 ? input : STR_NONE;
		if (kube_config_load(&c, &args, &a, &e))
			check(&c);
		else
			ASSERT(e.code && e.msg[0]);
		err_release(&e);
	}
	arena_release(&a);
	return 0;
}
