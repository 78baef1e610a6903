#include "kube/kubeconfig.h"

#include "base/yaml.h"

struct kubeconfig_source {
	struct str path;
	struct yaml_file *yaml;
	yyjson_val *root; /* NULL: an empty file */
};

struct sources {
	const struct kube_config_args *args;
	struct arena *a;
	struct kubeconfig_source *v;
	size_t n;
};

/* One named entry of clusters, contexts or users. */
struct kubeconfig_entry {
	const struct kubeconfig_source *from;
	struct str field; /* "users[1].user" */
	yyjson_val *val;  /* NULL: there is none */
};

static void release(struct sources *s)
{
	for (size_t i = 0; i < s->n; i++)
		yaml_close(s->v[i].yaml);
}

static bool wrong(const struct kubeconfig_entry *en, const char *key, const char *what, struct err *e)
{
	return err_set(e, ERR_INVALID, "%.*s: %.*s.%s: %s", STR_F(en->from->path), STR_F(en->field), key, what);
}

static bool wrong_type(const struct kubeconfig_entry *en, const char *key, const char *want, yyjson_val *val,
                       struct err *e)
{
	char what[64];

	snprintf(what, sizeof(what), "must be %s, not %s", want, json_type_name(val));
	return wrong(en, key, what, e);
}

static bool get_text(struct str *ret, const struct kubeconfig_entry *en, const char *key, struct arena *a,
                     struct err *e)
{
	yyjson_val *val = json_get(en->val, key);

	*ret = STR_NONE;
	if (!val || yyjson_is_null(val))
		return true;
	if (!yyjson_is_str(val))
		return wrong_type(en, key, "a string", val, e);
	if (memchr(json_str(val).p, '\0', json_str(val).n))
		return wrong(en, key, "has a zero byte in it", e);
	if (json_str(val).n)
		*ret = arena_str(a, json_str(val));
	return true;
}

static bool get_bool(bool *ret, const struct kubeconfig_entry *en, const char *key, struct err *e)
{
	yyjson_val *val = json_get(en->val, key);

	*ret = yyjson_is_true(val);
	return !val || yyjson_is_null(val) || yyjson_is_bool(val) || wrong_type(en, key, "true or false", val, e);
}

/* Relative paths begin where their kubeconfig lies. */
static struct str beside(const struct kubeconfig_entry *en, struct str path, struct arena *a)
{
	const char *slash = memrchr(en->from->path.p, '/', en->from->path.n);

	if (str_empty(path) || path.p[0] == '/' || !slash)
		return path;
	return arena_printf(a, "%.*s/%.*s", (int)(slash - en->from->path.p), en->from->path.p, STR_F(path));
}

static bool get_path(struct str *ret, const struct kubeconfig_entry *en, const char *key, struct arena *a,
                     struct err *e)
{
	if (!get_text(ret, en, key, a, e))
		return false;
	*ret = beside(en, *ret, a);
	return true;
}

static bool read_named(struct str *ret, const struct sources *s, const struct kubeconfig_entry *en, const char *key,
                       struct str path, struct err *e)
{
	switch (kube_args_read(s->args, ret, path.p, s->a, e)) {
	case FILE_READ:
		return true;
	case FILE_MISSING:
		err_set(e, ERR_IO, "%s does not exist", path.p);
		break;
	case FILE_FAILED:
		break;
	}
	return err_wrap(e, "%.*s: %.*s.%s", STR_F(en->from->path), STR_F(en->field), key);
}

static bool has_pem(struct str s)
{
	return !str_empty(s) && memmem(s.p, s.n, "-----BEGIN ", 11);
}

/* Certificates and keys: KEY-data in base64, before the file that KEY names. *FILE: its path, if it is one. */
static bool get_pem(struct str *ret, struct str *file, const struct sources *s, const struct kubeconfig_entry *en,
                    const char *key, struct err *e)
{
	struct str data_key = arena_printf(s->a, "%s-data", key), data, path;
	struct buf b = BUF_INIT(FILE_MAX);
	bool ok;

	*ret = *file = STR_NONE;
	if (!get_text(&data, en, data_key.p, s->a, e) || !get_path(&path, en, key, s->a, e))
		return false;
	if (!str_empty(data)) {
		ok = buf_base64(&b, data) && !b.overflow;
		*ret = arena_str(s->a, buf_str(&b));
		buf_release(&b);
		if (!ok)
			return wrong(en, data_key.p, "is not base64", e);
		return has_pem(*ret) || wrong(en, data_key.p, "has no PEM data", e);
	}
	if (str_empty(path))
		return true;
	*file = path;
	if (!read_named(ret, s, en, key, path, e))
		return false;
	return has_pem(*ret) || err_set(e, ERR_INVALID, "%.*s: %.*s.%s: %s has no PEM data", STR_F(en->from->path),
	                                STR_F(en->field), key, path.p);
}

/* The entry of that name in the first file that has one. */
static bool find_entry(struct kubeconfig_entry *ret, const struct sources *s, const char *list, const char *inner,
                       struct str name, struct err *e)
{
	*ret = (struct kubeconfig_entry){ 0 };
	for (size_t f = 0; f < s->n && !ret->val; f++) {
		yyjson_val *all = json_get(s->v[f].root, list), *one;
		size_t i, max;

		if (all && !yyjson_is_arr(all) && !yyjson_is_null(all))
			return err_set(e, ERR_INVALID, "%.*s: %s: must be a list, not %s", STR_F(s->v[f].path), list,
			               json_type_name(all));
		yyjson_arr_foreach(all, i, max, one)
		{
			yyjson_val *val = json_get(one, inner), *its_name = json_get(one, "name");
			struct kubeconfig_entry en = { .from = &s->v[f] };

			if (!yyjson_is_str(its_name) || !str_eq(json_str(its_name), name))
				continue;
			en.field = arena_printf(s->a, "%s[%zu].%s", list, i, inner);
			if (ret->val)
				return err_set(e, ERR_INVALID, "%.*s: %s[%zu].name: \"%.*s\" is in this file twice",
				               STR_F(en.from->path), list, i, STR_F(name));
			if (val && !yyjson_is_obj(val) && !yyjson_is_null(val))
				return err_set(e, ERR_INVALID, "%.*s: %.*s: must be an object, not %s",
				               STR_F(en.from->path), STR_F(en.field), json_type_name(val));
			/* An entry that says nothing is one, too: it hides those of later files. */
			en.val = val ? val : its_name;
			*ret = en;
		}
	}
	return true;
}

static bool check_source(const struct kubeconfig_source *s, struct err *e)
{
	struct str kind = json_str(json_get(s->root, "kind"));

	if (yaml_count(s->yaml) > 1)
		return err_set(e, ERR_INVALID, "%.*s: more than one document", STR_F(s->path));
	if (s->root && !yyjson_is_obj(s->root))
		return err_set(e, ERR_INVALID, "%.*s: not a kubeconfig, but %s", STR_F(s->path),
		               json_type_name(s->root));
	if (!str_empty(kind) && !str_eqc(kind, "Config"))
		return err_set(e, ERR_INVALID, "%.*s: kind: must be Config, not %.*s", STR_F(s->path),
		               STR_F(str_sub(kind, 0, 60)));
	return true;
}

static bool read_sources(struct sources *s, const struct str *paths, size_t n, struct err *e)
{
	s->v = arena_array(s->a, struct kubeconfig_source, n);
	for (size_t i = 0; i < n; i++) {
		struct kubeconfig_source *one = &s->v[s->n];
		struct str text = STR_NONE;
		enum file_read got;

		one->path = arena_str(s->a, paths[i]);
		got = kube_args_read(s->args, &text, one->path.p, s->a, e);
		if (got == FILE_FAILED)
			return false;
		if (got == FILE_MISSING)
			continue;
		one->yaml = yaml_parse(one->path, text, e);
		if (!one->yaml)
			return false;
		s->n++;
		one->root = yaml_count(one->yaml) ? yaml_root(one->yaml, 0) : NULL;
		if (!check_source(one, e))
			return false;
	}
	return true;
}

/* Who we are is shown to nobody who listens: without a word on how, the server is asked by TLS. */
static bool has_secret(const struct kube_config *c)
{
	return c->token.n || c->token_file.n || c->username.n || c->exec.command.n || c->server.cert.n;
}

static bool read_cluster(struct kube_config *ret, const struct sources *s, const struct kubeconfig_entry *en,
                         struct err *e)
{
	struct http_server *to = &ret->server;
	struct str url;
	bool tls;

	if (!get_text(&url, en, "server", s->a, e) ||
	    !get_pem(&to->ca, &ret->ca_file, s, en, "certificate-authority", e) ||
	    !get_text(&to->tls_server_name, en, "tls-server-name", s->a, e) ||
	    !get_bool(&to->insecure, en, "insecure-skip-tls-verify", e) ||
	    !get_text(&to->proxy, en, "proxy-url", s->a, e))
		return false;
	if (to->insecure && !str_empty(to->ca))
		return wrong(en, "insecure-skip-tls-verify", "cannot be combined with a certificate authority", e);
	if (!str_empty(to->proxy) && !str_has_prefix(to->proxy, STR("http://")) &&
	    !str_has_prefix(to->proxy, STR("https://")) && !str_has_prefix(to->proxy, STR("socks5://")))
		return wrong(en, "proxy-url", "must begin with http://, https:// or socks5://", e);
	tls = to->insecure || !str_empty(to->ca) || has_secret(ret);
	if (!str_empty(s->args->master))
		return kube_server_url(&to->url, s->args->master, tls, s->a, e) || err_wrap(e, "--master");
	if (str_empty(url))
		return wrong(en, "server", "is missing", e);
	return kube_server_url(&to->url, url, tls, s->a, e) ||
	       err_wrap(e, "%.*s: %.*s.server", STR_F(en->from->path), STR_F(en->field));
}

static bool read_args(struct kube_exec *to, const struct kubeconfig_entry *en, struct arena *a, struct err *e)
{
	yyjson_val *list = json_get(en->val, "args"), *one;
	struct str *all = arena_array(a, struct str, yyjson_arr_size(list));
	size_t i, max;

	if (list && !yyjson_is_arr(list) && !yyjson_is_null(list))
		return wrong_type(en, "args", "a list", list, e);
	yyjson_arr_foreach(list, i, max, one)
	{
		if (!yyjson_is_str(one) || memchr(json_str(one).p, '\0', json_str(one).n))
			return wrong(en, "args", "must be a list of strings", e);
		all[i] = arena_str(a, json_str(one));
	}
	to->args = all;
	to->n_args = yyjson_arr_size(list);
	return true;
}

static bool read_env(struct kube_exec *to, const struct kubeconfig_entry *en, struct arena *a, struct err *e)
{
	yyjson_val *list = json_get(en->val, "env"), *one;
	struct str *all = arena_array(a, struct str, yyjson_arr_size(list));
	size_t i, max;

	if (list && !yyjson_is_arr(list) && !yyjson_is_null(list))
		return wrong_type(en, "env", "a list", list, e);
	yyjson_arr_foreach(list, i, max, one)
	{
		struct kubeconfig_entry item = { en->from, arena_printf(a, "%.*s.env[%zu]", STR_F(en->field), i), one };
		struct str name, value;

		if (!get_text(&name, &item, "name", a, e) || !get_text(&value, &item, "value", a, e))
			return false;
		if (str_empty(name) || memchr(name.p, '=', name.n))
			return wrong(&item, "name", "must be the name of a variable", e);
		all[i] = arena_printf(a, "%.*s=%.*s", STR_F(name), STR_F(value));
	}
	to->env = all;
	to->n_env = yyjson_arr_size(list);
	return true;
}

static bool read_exec(struct kube_exec *to, const struct sources *s, const struct kubeconfig_entry *user, struct err *e)
{
	struct kubeconfig_entry en = { user->from, arena_printf(s->a, "%.*s.exec", STR_F(user->field)),
		                       json_get(user->val, "exec") };
	struct str mode;

	if (!en.val || yyjson_is_null(en.val))
		return true;
	if (!yyjson_is_obj(en.val))
		return wrong_type(user, "exec", "an object", en.val, e);
	if (!get_text(&to->command, &en, "command", s->a, e) ||
	    !get_text(&to->api_version, &en, "apiVersion", s->a, e) ||
	    !get_text(&to->install_hint, &en, "installHint", s->a, e) ||
	    !get_text(&mode, &en, "interactiveMode", s->a, e) ||
	    !get_bool(&to->provide_cluster_info, &en, "provideClusterInfo", e) || !read_args(to, &en, s->a, e) ||
	    !read_env(to, &en, s->a, e))
		return false;
	if (str_empty(to->command))
		return wrong(&en, "command", "is missing", e);
	if (!str_eqc(to->api_version, "client.authentication.k8s.io/v1") &&
	    !str_eqc(to->api_version, "client.authentication.k8s.io/v1beta1"))
		return wrong(&en, "apiVersion", "must be client.authentication.k8s.io/v1 or /v1beta1", e);
	if (str_eqc(mode, "Always"))
		return wrong(&en, "interactiveMode", "Always needs a terminal, and there is none", e);
	if (memchr(to->command.p, '/', to->command.n))
		to->command = beside(&en, to->command, s->a);
	return true;
}

/* What we would leave out, and the server would take us for somebody else. */
static bool check_unknown(const struct kubeconfig_entry *en, struct err *e)
{
	static const char *const impersonation[] = { "as", "as-uid", "as-groups", "as-user-extra" };
	yyjson_val *provider = json_get(en->val, "auth-provider");

	if (provider && !yyjson_is_null(provider))
		return wrong(en, "auth-provider", "was removed from Kubernetes; use exec", e);
	for (size_t i = 0; i < ARRAY_LEN(impersonation); i++) {
		yyjson_val *val = json_get(en->val, impersonation[i]);

		if (val && !yyjson_is_null(val) && !yyjson_equals_str(val, ""))
			return wrong(en, impersonation[i], "impersonation is not supported", e);
	}
	return true;
}

static bool read_token(struct kube_config *ret, const struct sources *s, const struct kubeconfig_entry *en,
                       struct err *e)
{
	struct str text;

	if (!get_text(&ret->token, en, "token", s->a, e) || !get_path(&ret->token_file, en, "tokenFile", s->a, e))
		return false;
	if (!kube_check_token(ret->token, e))
		return err_wrap(e, "%.*s: %.*s.token", STR_F(en->from->path), STR_F(en->field));
	if (str_empty(ret->token_file))
		return true;
	if (!read_named(&text, s, en, "tokenFile", ret->token_file, e))
		return false;
	if (!kube_check_token(str_trim(text), e))
		return err_wrap(e, "%.*s: %.*s.tokenFile: %s", STR_F(en->from->path), STR_F(en->field),
		                ret->token_file.p);
	return !str_empty(str_trim(text)) || wrong(en, "tokenFile", "the file is empty", e);
}

static bool read_user(struct kube_config *ret, const struct sources *s, const struct kubeconfig_entry *en,
                      struct err *e)
{
	if (!check_unknown(en, e) || !read_token(ret, s, en, e) ||
	    !get_pem(&ret->server.cert, &ret->cert_file, s, en, "client-certificate", e) ||
	    !get_pem(&ret->server.key, &ret->key_file, s, en, "client-key", e) ||
	    !get_text(&ret->username, en, "username", s->a, e) || !get_text(&ret->password, en, "password", s->a, e) ||
	    !read_exec(&ret->exec, s, en, e))
		return false;
	if (!str_empty(ret->server.cert) && str_empty(ret->server.key))
		return wrong(en, "client-key", "is missing beside client-certificate", e);
	if (!str_empty(ret->server.key) && str_empty(ret->server.cert))
		return wrong(en, "client-certificate", "is missing beside client-key", e);
	if (!str_empty(ret->username) && (!str_empty(ret->token) || !str_empty(ret->token_file)))
		return wrong(en, "username", "cannot be combined with a token", e);
	return true;
}

/* --context, or the first file's that says one. */
static bool choose(struct str *ret, const struct sources *s, struct err *e)
{
	*ret = s->args->context;
	for (size_t i = 0; i < s->n && str_empty(*ret); i++) {
		yyjson_val *val = json_get(s->v[i].root, "current-context");

		if (val && !yyjson_is_str(val) && !yyjson_is_null(val))
			return err_set(e, ERR_INVALID, "%.*s: current-context: must be a string, not %s",
			               STR_F(s->v[i].path), json_type_name(val));
		*ret = json_str(val);
	}
	if (!str_empty(*ret))
		*ret = arena_str(s->a, *ret);
	return true;
}

static struct str all_paths(const struct sources *s)
{
	struct buf b = BUF_INIT(4096);
	struct str out;

	for (size_t i = 0; i < s->n; i++) {
		if (i)
			buf_put(&b, STR(", "));
		buf_put(&b, s->v[i].path);
	}
	out = arena_str(s->a, buf_str(&b));
	buf_release(&b);
	return out;
}

/* The entry of LIST that the context's field KEY names. */
static bool follow(struct kubeconfig_entry *ret, const struct sources *s, const struct kubeconfig_entry *context,
                   const char *key, const char *list, struct err *e)
{
	struct str name;

	*ret = (struct kubeconfig_entry){ 0 };
	if (!get_text(&name, context, key, s->a, e))
		return false;
	if (str_empty(name))
		return true;
	if (!find_entry(ret, s, list, key, name, e))
		return false;
	return ret->val || err_set(e, ERR_INVALID, "%.*s: %.*s.%s: there is no %s named \"%.*s\"",
	                           STR_F(context->from->path), STR_F(context->field), key, key, STR_F(name));
}

static bool resolve(struct kube_config *ret, const struct sources *s, struct err *e)
{
	struct kubeconfig_entry context, cluster, user;

	if (!choose(&ret->context, s, e))
		return false;
	if (str_empty(ret->context)) {
		if (str_empty(s->args->master))
			return err_set(e, ERR_INVALID, "%s: current-context is not set", all_paths(s).p);
		return kube_server_url(&ret->server.url, s->args->master, false, s->a, e) || err_wrap(e, "--master");
	}
	if (!find_entry(&context, s, "contexts", "context", ret->context, e))
		return false;
	if (!context.val)
		return err_set(e, ERR_INVALID, "%s: there is no context named \"%.*s\"", all_paths(s).p,
		               STR_F(ret->context));
	if (!get_text(&ret->ns, &context, "namespace", s->a, e) ||
	    !follow(&cluster, s, &context, "cluster", "clusters", e) || !follow(&user, s, &context, "user", "users", e))
		return false;
	if (!cluster.val)
		return wrong(&context, "cluster", "is missing", e);
	return (!user.val || read_user(ret, s, &user, e)) && read_cluster(ret, s, &cluster, e);
}

bool kubeconfig_load(struct kube_config *ret, const struct kube_config_args *args, const struct str *paths, size_t n,
                     bool *found, struct arena *a, struct err *e)
{
	CLEANUP(release) struct sources s = { .args = args, .a = a };

	*found = false;
	if (!read_sources(&s, paths, n, e))
		return false;
	*found = s.n > 0;
	return !*found || resolve(ret, &s, e);
}
