#include "kube/config.h"
#include "kube/kubeconfig.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define ACCOUNT_DIR "/var/run/secrets/kubernetes.io/serviceaccount"

enum file_read kube_args_read(const struct kube_config_args *args, struct str *ret, const char *path, struct arena *a,
                              struct err *e)
{
	return args->read ? args->read(args->cookie, ret, path, a, e) : file_read(ret, path, a, e);
}

static struct str env(const struct kube_config_args *args, const char *name)
{
	return args->env ? str_c(args->env(args->cookie, name)) : STR_NONE;
}

bool kube_server_url(struct str *ret, struct str url, bool tls, struct arena *a, struct err *e)
{
	struct str rest = url;
	bool https = str_has_prefix(url, STR("https://")), http = str_has_prefix(url, STR("http://"));
	bool other = false;

	for (size_t i = 0; i + 3 <= url.n; i++)
		other |= memcmp(url.p + i, "://", 3) == 0;
	for (size_t i = 0; i < url.n; i++)
		if ((unsigned char)url.p[i] <= ' ' || url.p[i] == 0x7f)
			return err_set(e, ERR_INVALID, "not a URL: it has a blank or control character");
	if (other && !https && !http)
		return err_set(e, ERR_INVALID, "not an http or https URL");
	if (http || https)
		rest = str_sub(url, https ? 8 : 7, url.n);
	while (rest.n && rest.p[rest.n - 1] == '/')
		rest.n--;
	if (str_empty(rest) || rest.p[0] == '/' || rest.p[0] == ':')
		return err_set(e, ERR_INVALID, "not a URL: the host is missing");
	if (memchr(rest.p, '?', rest.n) || memchr(rest.p, '#', rest.n) || memchr(rest.p, '@', rest.n))
		return err_set(e, ERR_INVALID, "not the URL of a server: it must not have a query, fragment or user");
	*ret = arena_printf(a, "%s%.*s", https || (!http && tls) ? "https://" : "http://", STR_F(rest));
	return true;
}

bool kube_check_token(struct str token, struct err *e)
{
	for (size_t i = 0; i < token.n; i++)
		if ((unsigned char)token.p[i] < ' ' || token.p[i] == 0x7f)
			return err_set(e, ERR_INVALID, "the token has a character that a header cannot hold");
	return true;
}

static bool account_file(struct str *ret, const struct kube_config_args *args, struct str dir, const char *name,
                         bool wanted, struct arena *a, struct err *e)
{
	struct str path = arena_printf(a, "%.*s/%s", STR_F(dir), name);

	switch (kube_args_read(args, ret, path.p, a, e)) {
	case FILE_READ:
		return true;
	case FILE_MISSING:
		*ret = STR_NONE;
		return !wanted ||
		       err_set(e, ERR_IO, "%s does not exist: this is not a pod with a service account", path.p);
	case FILE_FAILED:
		return false;
	}
	BUG("what was read?");
}

static struct str account_dir(const struct kube_config_args *args)
{
	return str_empty(args->account_dir) ? STR(ACCOUNT_DIR) : args->account_dir;
}

static struct str account_server(const struct kube_config_args *args, struct arena *a)
{
	struct str host = env(args, "KUBERNETES_SERVICE_HOST"), port = env(args, "KUBERNETES_SERVICE_PORT");
	bool v6 = !str_empty(host) && memchr(host.p, ':', host.n) && host.p[0] != '[';

	if (str_empty(host))
		host = STR("kubernetes.default.svc");
	if (str_empty(port))
		port = STR("443");
	return arena_printf(a, "https://%s%.*s%s:%.*s", v6 ? "[" : "", STR_F(host), v6 ? "]" : "", STR_F(port));
}

static bool load_account(struct kube_config *ret, const struct kube_config_args *args, struct arena *a, struct err *e)
{
	struct str dir = account_dir(args), token, ns;

	if (!account_file(&token, args, dir, "token", true, a, e) ||
	    !account_file(&ret->server.ca, args, dir, "ca.crt", false, a, e) ||
	    !account_file(&ns, args, dir, "namespace", false, a, e))
		return false;
	ret->context = STR("in-cluster");
	ret->token = str_trim(token);
	ret->token_file = arena_printf(a, "%.*s/token", STR_F(dir));
	ret->ca_file = str_empty(ret->server.ca) ? STR_NONE : arena_printf(a, "%.*s/ca.crt", STR_F(dir));
	ret->ns = str_trim(ns);
	if (str_empty(ret->token))
		return err_set(e, ERR_INVALID, "%s: empty", ret->token_file.p);
	if (!kube_check_token(ret->token, e))
		return err_wrap(e, "%s", ret->token_file.p);
	if (!kube_server_url(&ret->server.url, account_server(args, a), true, a, e))
		return err_wrap(e, "KUBERNETES_SERVICE_HOST, KUBERNETES_SERVICE_PORT");
	if (!str_empty(args->master) && !kube_server_url(&ret->server.url, args->master, true, a, e))
		return err_wrap(e, "--master");
	return true;
}

/* Is there an account at all? What cannot be read is reported by load_account. */
static bool has_account(const struct kube_config_args *args, struct arena *a)
{
	struct str path = arena_printf(a, "%.*s/token", STR_F(account_dir(args))), token;

	return kube_args_read(args, &token, path.p, a, NULL) != FILE_MISSING;
}

static bool load_master(struct kube_config *ret, const struct kube_config_args *args, struct arena *a, struct err *e)
{
	ret->context = STR("--master");
	return kube_server_url(&ret->server.url, args->master, false, a, e) || err_wrap(e, "--master");
}

static bool load_wanted(struct kube_config *ret, const struct kube_config_args *args, struct arena *a, struct err *e)
{
	bool found;

	if (!kubeconfig_load(ret, args, &args->kubeconfig, 1, &found, a, e))
		return false;
	return found || err_set(e, ERR_IO, "--kubeconfig: %.*s does not exist", STR_F(args->kubeconfig));
}

static bool load_several(struct kube_config *ret, const struct kube_config_args *args, struct str files, bool *found,
                         struct arena *a, struct err *e)
{
	VEC(struct str) paths = { 0 };
	struct str one;

	while (str_next(&files, ':', &one))
		if (!str_empty(one))
			*vec_push(a, &paths) = one;
	return kubeconfig_load(ret, args, paths.v, paths.n, found, a, e);
}

bool kube_config_load(struct kube_config *ret, const struct kube_config_args *args, struct arena *a, struct err *e)
{
	struct str files = env(args, "KUBECONFIG"), home = env(args, "HOME"), path;
	const char *variable = "KUBECONFIG";
	bool found;

	*ret = (struct kube_config){ 0 };
	if (args->in_cluster)
		return load_account(ret, args, a, e);
	if (!str_empty(args->kubeconfig))
		return load_wanted(ret, args, a, e);
	if (str_empty(files)) {
		files = env(args, "USE_KUBE_CONFIG");
		variable = "USE_KUBE_CONFIG";
	}
	if (!str_empty(files)) {
		if (!load_several(ret, args, files, &found, a, e))
			return false;
		return found || err_set(e, ERR_IO, "none of the files in %s exists: %.*s", variable, STR_F(files));
	}
	if (has_account(args, a))
		return load_account(ret, args, a, e);
	if (!str_empty(home)) {
		path = arena_printf(a, "%.*s/.kube/config", STR_F(home));
		if (!kubeconfig_load(ret, args, &path, 1, &found, a, e))
			return false;
		if (found)
			return true;
	}
	if (!str_empty(args->master))
		return load_master(ret, args, a, e);
	return err_set(e, ERR_IO,
	               "no cluster to connect to: neither --kubeconfig, --master nor KUBECONFIG is given, there is no "
	               "service account in %.*s and no %.*s/.kube/config",
	               STR_F(account_dir(args)), STR_F(home));
}
