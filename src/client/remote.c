#include "client/remote.h"

#include "client/home.h"
#include "term/plain.h"

#include <signal.h>
#include <unistd.h>

static const msec answer_timeout = SECONDS(30);

const struct kube_resource remote_pods = { STR_INIT(""), STR_INIT("v1"), STR_INIT("pods"), true };
const struct kube_resource remote_events = { STR_INIT(""), STR_INIT("v1"), STR_INIT("events"), true };

void remote_opts(struct opt *to, struct remote_flags *f)
{
	const struct opt opts[REMOTE_OPTS] = {
		{ 'n', "namespace", "NS", "instead of the context's", .text = &f->ns },
		{ 0, "context", "NAME", "of the kubeconfig, instead of its current one", .text = &f->context },
		{ 0, "kubeconfig", "FILE", "instead of KUBECONFIG and ~/.kube/config", .text = &f->kubeconfig },
		{ 0, "local", NULL, "the cluster on this machine (dljob local up)", .flag = &f->local },
		{ 'q', "quiet", NULL, "do not print which cluster it is", .flag = &f->quiet },
	};

	memcpy(to, opts, sizeof(opts));
}

static const char *client_env(void *cookie, const char *name)
{
	(void)cookie;
	/* That one is for dl-operator; kubectl does not know it. */
	return strcmp(name, "USE_KUBE_CONFIG") ? getenv(name) : NULL;
}

static bool is_there(struct arena *a, const char *dir, const char *file)
{
	return dir && *dir && access(arena_printf(a, "%s%s", dir, file).p, F_OK) == 0;
}

/* Is there nothing that kubectl could use? */
static bool no_kubeconfig(struct arena *a, const struct remote_flags *f)
{
	const char *files = getenv("KUBECONFIG");

	return !f->kubeconfig && !f->context && !(files && *files) && !is_there(a, getenv("HOME"), "/.kube/config") &&
	       !getenv("KUBERNETES_SERVICE_HOST");
}

static bool find_local(struct remote *r, const struct remote_flags *f, struct kube_config_args *args)
{
	const char *home = local_home(&r->arena);

	if (!is_there(&r->arena, home, "/kubeconfig")) {
		r->cli->status = cli_fail(r->cli, CLI_FAILED, "%s; start one with 'dljob local up'",
		                          f->local ? "no cluster runs on this machine"
		                                   : "there is no kubeconfig, and no cluster runs on this machine");
		return false;
	}
	args->kubeconfig = arena_printf(&r->arena, "%s/kubeconfig", home);
	r->local = true;
	return true;
}

static bool find_cluster(struct remote *r, const struct remote_flags *f)
{
	struct kube_config_args args = { .kubeconfig = str_c(f->kubeconfig),
		                         .context = str_c(f->context),
		                         .env = client_env };
	struct err e = ERR_INIT;

	if (f->ns && !str_is_dns_label(str_c(f->ns), false)) {
		r->cli->status = cli_usage(r->cli, "'%s' cannot be the name of a namespace", f->ns);
		return false;
	}
	if (f->local && (f->kubeconfig || f->context)) {
		r->cli->status = cli_usage(r->cli, "--local and --%s exclude each other",
		                           f->kubeconfig ? "kubeconfig" : "context");
		return false;
	}
	if ((f->local || no_kubeconfig(&r->arena, f)) && !find_local(r, f, &args))
		return false;
	if (kube_config_load(&r->config, &args, &r->arena, &e))
		return true;
	r->cli->status = cli_fail(r->cli, CLI_FAILED, "%s", err_msg(&e));
	err_release(&e);
	return false;
}

static void on_time(void *cookie)
{
	remote_wake(cookie);
}

static void on_interrupt(void *cookie, int signum)
{
	struct remote *r = cookie;

	(void)signum;
	r->interrupted = true;
	remote_wake(r);
}

bool remote_open(struct remote *r, struct cli *cli, const struct remote_flags *f, bool silent)
{
	struct kube_options o = { .calls_only = true,
		                  .connections = 16,
		                  .request_timeout = answer_timeout,
		                  .user_agent = STR("dljob/" DL_VERSION) };
	struct err e = ERR_INIT;

	*r = (struct remote){ .cli = cli, .deadline = NEVER };
	if (!find_cluster(r, f)) {
		arena_release(&r->arena);
		*r = (struct remote){ 0 };
		return false;
	}
	r->ns = f->ns ? str_c(f->ns) : str_empty(r->config.ns) ? STR("default") : r->config.ns;
	r->loop = loop_new();
	r->timer = loop_timer_new(r->loop, on_time, r);
	silence_begin(r);
	r->signals[0] = loop_signal_new(r->loop, SIGINT, on_interrupt, r);
	r->signals[1] = loop_signal_new(r->loop, SIGTERM, on_interrupt, r);
	r->kube = kube_new(r->loop, &r->config, &o, &e);
	if (!r->kube) {
		cli->status = cli_fail(cli, CLI_FAILED, "%s", err_msg(&e));
		err_release(&e);
		remote_close(r);
		return false;
	}
	if (!silent && !f->quiet) {
		if (r->local)
			fputs("cluster: this machine\n", stderr);
		else
			plain_printf(stderr, "cluster: %.*s (%.*s)\n", STR_F(r->config.context),
			             STR_F(r->config.server.url));
	}
	return true;
}

bool remote_is_here(struct remote *r)
{
	const char *home = local_home(&r->arena);
	struct str ca = STR_NONE, theirs = str_trim(r->config.server.ca);
	struct err e = ERR_INIT;
	bool ok = home && theirs.n &&
	          file_read(&ca, arena_printf(&r->arena, "%s/ca.pem", home).p, &r->arena, &e) == FILE_READ;

	err_release(&e);
	return ok && str_eq(str_trim(ca), theirs);
}

void remote_close(struct remote *r)
{
	kube_free(r->kube);
	for (size_t i = 0; i < ARRAY_LEN(r->signals); i++)
		loop_signal_free(r->signals[i]);
	loop_timer_free(r->timer);
	silence_end(r);
	loop_free(r->loop);
	arena_release(&r->arena);
	*r = (struct remote){ 0 };
}

void remote_wake(struct remote *r)
{
	loop_stop(r->loop);
}

bool remote_wait(struct remote *r, bool (*done)(void *cookie), void *cookie)
{
	for (;;) {
		msec now = loop_now(r->loop);

		if (r->interrupted) {
			r->cli->status = CLI_INTERRUPTED;
			return false;
		}
		if (done(cookie))
			return true;
		if (now >= r->deadline) {
			r->cli->status = CLI_TIMED_OUT;
			return false;
		}
		if (r->deadline != NEVER)
			loop_timer_set(r->timer, r->deadline - now);
		loop_run(r->loop);
	}
}

static void on_answer(void *cookie, const struct outcome *o, yyjson_val *answer)
{
	struct remote_call *c = cookie;
	struct arena *a = &c->remote->arena;

	c->code = o->code;
	c->reason = arena_str(a, o->reason);
	c->message = arena_str(a, o->message);
	if (answer) {
		CLEANUP(json_mut_docp) yyjson_mut_doc *copy = yyjson_mut_doc_new(NULL);

		yyjson_mut_doc_set_root(copy, yyjson_val_mut_copy(copy, answer));
		c->doc = yyjson_mut_doc_imut_copy(copy, NULL);
		c->root = yyjson_doc_get_root(c->doc);
	}
	c->remote->waiting--;
	if (o->code)
		remote_heard(c->remote);
	else if (!c->remote->waiting && !c->remote->silence.listeners)
		silence_forget(c->remote);
	remote_wake(c->remote);
}

static bool all_answered(void *cookie)
{
	return ((const struct remote *)cookie)->waiting == 0;
}

bool remote_do(struct remote *r, struct remote_call *calls, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct remote_call *c = &calls[i];

		c->remote = r;
		c->code = 0;
		c->doc = NULL;
		c->root = NULL;
		r->waiting++;
		kube_raw(r->kube, &(struct kube_raw){ .method = c->method,
		                                      .path = c->path,
		                                      .body = c->body,
		                                      .content_type = c->content_type,
		                                      .done = on_answer,
		                                      .cookie = c });
	}
	if (n)
		remote_doubt(r);
	return remote_wait(r, all_answered, r);
}

void remote_call_release(struct remote_call *c)
{
	yyjson_doc_free(c->doc);
	c->doc = NULL;
	c->root = NULL;
}

static bool mentions(struct str text, const char *word)
{
	return memmem(str_text(text), text.n, word, strlen(word)) != NULL;
}

static enum exit_code unreachable(struct remote *r, const char *what, struct str message)
{
	struct str url = r->config.server.url;

	if (mentions(message, "certificate") || mentions(message, "SSL"))
		return cli_fail(r->cli, CLI_FAILED,
		                "cannot %s: the certificate of %.*s is not accepted: %.*s; does the "
		                "certificate-authority of context %.*s belong to this server?",
		                what, STR_F(url), STR_F(message), STR_F(r->config.context));
	if (mentions(message, "credential plugin"))
		return cli_fail(r->cli, CLI_FAILED, "cannot %s: %.*s", what, STR_F(message));
	return cli_fail(r->cli, CLI_FAILED, "cannot %s: %.*s cannot be reached: %.*s; %s", what, STR_F(url),
	                STR_F(message.n ? message : STR("no answer")),
	                r->local ? "start the cluster on this machine with 'dljob local up'"
	                         : "is the server running, and is this the right context?");
}

enum exit_code remote_refused(struct remote *r, const char *what, int code, struct str message)
{
	switch (code) {
	case 0:
		return unreachable(r, what, message);
	case HTTP_UNAUTHORIZED:
		return cli_fail(r->cli, CLI_FAILED,
		                "cannot %s: the server does not accept the credentials of context %.*s (401): they are "
		                "missing, wrong or have expired",
		                what, STR_F(r->config.context));
	case HTTP_FORBIDDEN:
		return cli_fail(r->cli, CLI_FAILED, "cannot %s: not allowed: %.*s", what,
		                STR_F(message.n ? message : STR("the server gives no reason (403)")));
	default:
		return cli_fail(r->cli, CLI_FAILED, "cannot %s: the server answered %d%s%.*s", what, code,
		                message.n ? ": " : "", STR_F(message));
	}
}

struct kube_resource remote_kind(const struct kind *k)
{
	return (struct kube_resource){ k->group, k->version, k->plural, true };
}

struct str remote_path(struct remote *r, const struct kube_resource *resource, struct str ns, struct str name)
{
	return kube_object_path(resource, ns, name, &r->arena);
}

enum { PAGE = 500 };

/* Takes a page; true: another one follows. */
static bool take_page(struct remote *r, struct remote_list *l, struct remote_call *c)
{
	yyjson_val *items = json_get(c->root, "items"), *item;
	size_t i, n;

	l->code = c->code;
	l->message = c->message;
	if (!remote_ok(c))
		return false;
	yyjson_arr_foreach(items, i, n, item)
	{
		*vec_push(&r->arena, &l->items) = item;
	}
	*vec_push(&r->arena, &l->docs) = c->doc;
	l->options.resource_version =
		arena_str(&r->arena, json_str(json_at(c->root, "metadata", "resourceVersion", NULL)));
	l->options.continue_token = arena_str(&r->arena, json_str(json_at(c->root, "metadata", "continue", NULL)));
	c->doc = NULL;
	return l->options.continue_token.n > 0;
}

bool remote_lists(struct remote *r, struct remote_list *lists, size_t n)
{
	struct remote_call *calls = arena_array(&r->arena, struct remote_call, n);
	size_t *whose = arena_array(&r->arena, size_t, n);
	size_t left = n;

	for (size_t i = 0; i < n; i++)
		whose[i] = i;
	while (left) {
		size_t kept = 0;

		for (size_t i = 0; i < left; i++) {
			struct remote_list *l = &lists[whose[i]];

			l->options.limit = PAGE;
			l->options.resource_version = STR_NONE;
			calls[i] = (struct remote_call){ .path = kube_list_path(&l->resource, &l->options, &r->arena) };
		}
		if (!remote_do(r, calls, left))
			return false;
		for (size_t i = 0; i < left; i++) {
			if (take_page(r, &lists[whose[i]], &calls[i]))
				whose[kept++] = whose[i];
			remote_call_release(&calls[i]);
		}
		left = kept;
	}
	return true;
}

void remote_list_release(struct remote_list *l)
{
	for (size_t i = 0; i < l->docs.n; i++)
		yyjson_doc_free(l->docs.v[i]);
	l->docs.n = l->items.n = 0;
}
