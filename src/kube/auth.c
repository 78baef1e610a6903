#include "kube/auth.h"

#include "base/json.h"

enum { OUTPUT_MAX = 1 << 20, HEADER_MAX = 1 << 20 };
static const msec file_age = MINUTES(1), plugin_timeout = MINUTES(1), expiry_margin = SECONDS(30);
static const msec retry_first = SECONDS(1), retry_most = MINUTES(1);

struct kube_auth {
	struct loop *loop;
	const struct kube_config *config;
	void (*ready)(void *cookie);
	void *cookie;
	struct buf header;
	bool stale;   /* the server does not take it any more */
	msec read_at; /* of the file */
	msec expires; /* of a plugin's token, by the wall clock; 0: not known */
	struct loop_process *plugin;
	struct loop_timer *timer; /* until the next try */
	bool waiting;             /* the timer is set */
	msec retry_in;
	struct err problem;
};

static void retry_due(void *cookie)
{
	struct kube_auth *a = cookie;

	a->waiting = false;
	a->ready(a->cookie);
}

struct kube_auth *kube_auth_new(struct loop *l, const struct kube_config *c, void (*ready)(void *cookie), void *cookie)
{
	struct kube_auth *a = xcalloc(1, sizeof(*a));

	*a = (struct kube_auth){
		.loop = l, .config = c, .ready = ready, .cookie = cookie, .header = BUF_INIT(HEADER_MAX)
	};
	a->timer = loop_timer_new(l, retry_due, a);
	return a;
}

void kube_auth_free(struct kube_auth *a)
{
	if (!a)
		return;
	loop_process_free(a->plugin);
	loop_timer_free(a->timer);
	buf_release(&a->header);
	err_release(&a->problem);
	free(a);
}

static void bearer(struct kube_auth *a, struct str token)
{
	buf_clear(&a->header);
	buf_put(&a->header, STR("Bearer "));
	buf_put(&a->header, str_trim(token));
	a->stale = false;
	a->retry_in = 0;
	err_release(&a->problem);
}

static enum kube_auth_state give_up_for_now(struct kube_auth *a)
{
	a->retry_in = a->retry_in ? MIN(a->retry_in * 2, retry_most) : retry_first;
	a->waiting = true;
	loop_timer_set(a->timer, a->retry_in);
	return KUBE_AUTH_FAILED;
}

/* A header that is only old is better than none: the server decides. */
static enum kube_auth_state read_token_file(struct kube_auth *a)
{
	struct arena arena = ARENA_INIT;
	struct err e = ERR_INIT;
	struct str token, path;
	enum file_read got;

	if (a->header.n && !a->stale && loop_now(a->loop) - a->read_at < file_age)
		return KUBE_AUTH_HAVE;
	path = arena_str(&arena, a->config->token_file);
	got = file_read(&token, path.p, &arena, &e);
	if (got == FILE_READ && !str_trim(token).n)
		err_set(&e, ERR_INVALID, "%s is empty", path.p);
	else if (got == FILE_MISSING)
		err_set(&e, ERR_IO, "%s: no such file", path.p);
	a->read_at = loop_now(a->loop);
	if (!e.code)
		bearer(a, token);
	arena_release(&arena);
	if (!e.code || a->header.n) {
		err_release(&e);
		return KUBE_AUTH_HAVE;
	}
	err_release(&a->problem);
	a->problem = e;
	return give_up_for_now(a);
}

/* ExecCredential: status.token, or a client certificate, which we do not take from plugins. */
static bool take_credential(struct kube_auth *a, struct str out, struct err *e)
{
	yyjson_doc *doc CLEANUP(json_docp) = json_parse(out, e);
	yyjson_val *status = json_get(yyjson_doc_get_root(doc), "status");
	struct str token = json_str(json_get(status, "token"));

	if (!doc)
		return err_wrap(e, "its answer");
	if (!token.n)
		return err_set(e, ERR_INVALID, "its answer has no status.token%s",
		               json_get(status, "clientCertificateData")
		                       ? " (client certificates of plugins are not taken)"
		                       : "");
	a->expires = 0;
	time_parse(json_str(json_get(status, "expirationTimestamp")), &a->expires);
	bearer(a, token);
	return true;
}

static void plugin_ended(void *cookie, const struct loop_process_result *r)
{
	struct kube_auth *a = cookie;
	const struct kube_exec *x = &a->config->exec;
	struct str said = str_trim(r->err);
	struct err e = ERR_INIT;

	if (r->problem)
		err_set(&e, ERR_IO, "%s%s%.*s", r->problem, x->install_hint.n ? "; " : "", STR_F(x->install_hint));
	else if (r->timed_out)
		err_set(&e, ERR_IO, "it did not finish in time");
	else if (r->truncated)
		err_set(&e, ERR_LIMIT, "its answer is too long");
	else if (r->exit_status != 0)
		err_set(&e, ERR_IO, "exit status %d: %.*s", r->exit_status, (int)MIN(said.n, (size_t)300),
		        said.p ? said.p : "");
	else
		take_credential(a, r->out, &e);
	loop_process_free(a->plugin);
	a->plugin = NULL;
	if (!e.code) {
		a->ready(a->cookie);
		return;
	}
	err_wrap(&e, "credential plugin %.*s", STR_F(x->command));
	err_release(&a->problem);
	a->problem = e;
	give_up_for_now(a);
	/* Who waits for it is told why in vain. */
	a->ready(a->cookie);
}

static const char **c_strings(struct arena *a, struct str first, const struct str *rest, size_t n)
{
	const char **v = arena_array(a, const char *, n + 2);
	size_t k = 0;

	if (first.n)
		v[k++] = arena_str(a, first).p;
	for (size_t i = 0; i < n; i++)
		v[k++] = arena_str(a, rest[i]).p;
	return v;
}

/* What the plugin is told of its task (KUBERNETES_EXEC_INFO). */
static struct str exec_info(struct arena *a, const struct kube_config *c)
{
	struct buf b = BUF_INIT(HEADER_MAX);
	struct str ret;

	buf_put(&b, STR("KUBERNETES_EXEC_INFO={\"kind\":\"ExecCredential\",\"apiVersion\":"));
	buf_json_str(&b, c->exec.api_version);
	buf_put(&b, STR(",\"spec\":{\"interactive\":false"));
	if (c->exec.provide_cluster_info) {
		buf_put(&b, STR(",\"cluster\":{\"server\":"));
		buf_json_str(&b, c->server.url);
		if (c->server.tls_server_name.n) {
			buf_put(&b, STR(",\"tls-server-name\":"));
			buf_json_str(&b, c->server.tls_server_name);
		}
		if (c->server.insecure)
			buf_put(&b, STR(",\"insecure-skip-tls-verify\":true"));
		if (c->server.ca.n) {
			buf_put(&b, STR(",\"certificate-authority-data\":\""));
			buf_base64_encode(&b, c->server.ca);
			buf_put(&b, STR("\""));
		}
		buf_put(&b, STR("}"));
	}
	buf_put(&b, STR("}}"));
	ret = arena_str(a, buf_str(&b));
	buf_release(&b);
	return ret;
}

static enum kube_auth_state run_plugin(struct kube_auth *a)
{
	const struct kube_exec *x = &a->config->exec;
	struct arena arena = ARENA_INIT;
	struct str *env;

	if (a->plugin)
		return KUBE_AUTH_WAIT;
	if (a->header.n && !a->stale && (!a->expires || clock_now(&clock_wall) < a->expires - expiry_margin))
		return KUBE_AUTH_HAVE;
	if (a->waiting)
		return KUBE_AUTH_FAILED;
	env = arena_array(&arena, struct str, x->n_env + 1);
	for (size_t i = 0; i < x->n_env; i++)
		env[i] = x->env[i];
	env[x->n_env] = exec_info(&arena, a->config);
	a->plugin = loop_process_start(a->loop,
	                               &(struct loop_process_spec){
					       .argv = c_strings(&arena, x->command, x->args, x->n_args),
					       .env = c_strings(&arena, STR_NONE, env, x->n_env + 1),
					       .timeout = plugin_timeout,
					       .output_max = OUTPUT_MAX,
				       },
	                               plugin_ended, a);
	arena_release(&arena);
	return KUBE_AUTH_WAIT;
}

enum kube_auth_state kube_auth_header(struct kube_auth *a, struct str *ret, struct err *e)
{
	const struct kube_config *c = a->config;
	enum kube_auth_state state = KUBE_AUTH_HAVE;

	if (c->token_file.n) {
		state = a->waiting ? KUBE_AUTH_FAILED : read_token_file(a);
	} else if (c->token.n) {
		if (!a->header.n)
			bearer(a, c->token);
	} else if (c->username.n) {
		struct buf pair = BUF_INIT(HEADER_MAX);

		if (!a->header.n) {
			buf_printf(&pair, "%.*s:%.*s", STR_F(c->username), STR_F(c->password));
			buf_put(&a->header, STR("Basic "));
			buf_base64_encode(&a->header, buf_str(&pair));
		}
		buf_release(&pair);
	} else if (c->exec.command.n) {
		state = run_plugin(a);
	}
	*ret = buf_str(&a->header);
	if (state == KUBE_AUTH_FAILED)
		err_set(e, ERR_IO, "%s", err_msg(&a->problem));
	return state;
}

void kube_auth_refused(struct kube_auth *a)
{
	a->stale = true;
}
