/* For tests: the API on a store in memory, with the CRDs of all kinds, until SIGTERM. Pods are run by nobody.
     testing_server FOLDER
   The identity is kept in FOLDER, logs are looked for in FOLDER/pods/UID, those of pods that are gone in
   FOLDER/kept/NAMESPACE/NAME/0 (the last), 1. Prints the kubeconfig's path once it serves. */
#include "base/json.h"
#include "kind/kind.h"
#include "local/api/api.h"

#include <signal.h>
#include <unistd.h>

struct server {
	struct loop *loop;
	struct store *store;
	struct api *api;
	const char *folder;
	struct loop_timer *timer;
};

static _Noreturn void die(const char *what, const struct err *e)
{
	fprintf(stderr, "%s: %s\n", what, err_msg(e));
	exit(1);
}

static void install(struct store *s)
{
	const struct store_type *crds =
		store_type(s, STR("apiextensions.k8s.io"), STR("v1"), STR("customresourcedefinitions"));
	struct kinds *kinds = kinds_new(NULL);
	struct err e = ERR_INIT;

	if (!kinds_load_builtin(kinds, &e))
		die("kinds", &e);
	for (size_t i = 0; i < kinds_count(kinds); i++) {
		yyjson_mut_doc *doc CLEANUP(json_mut_docp) = yyjson_mut_doc_new(NULL);
		yyjson_mut_val *crd = kind_crd(kinds, kinds_at(kinds, i), doc, &e);
		struct buf b = BUF_INIT(STORE_BODY_MAX);
		struct store_answer a = { 0 };

		if (!crd)
			die("CRD", &e);
		json_write(crd, &b);
		store_call(s, &(struct store_request){ .verb = STORE_CREATE, .type = crds, .body = buf_str(&b) }, &a);
		if (a.code != HTTP_CREATED)
			die(a.body.p, &e);
		store_answer_release(&a);
		buf_release(&b);
	}
	kinds_free(kinds);
}

static void on_step(void *cookie)
{
	struct server *v = cookie;
	msec next = store_step(v->store);

	if (next != NEVER)
		loop_timer_set(v->timer, MAX(next - clock_now(&clock_wall), (msec)0));
}

static void on_wake(void *cookie)
{
	struct server *v = cookie;

	if (v->timer)
		loop_timer_set(v->timer, 0);
}

static void on_signal(void *cookie, int signum)
{
	(void)signum;
	loop_stop(((struct server *)cookie)->loop);
}

static bool pod_folder(void *cookie, struct str ns, struct str name, struct str uid, struct buf *ret)
{
	const struct server *v = cookie;

	(void)ns;
	(void)name;
	buf_printf(ret, "%s/pods/%.*s", v->folder, STR_F(uid));
	return true;
}

static bool kept_logs(void *cookie, struct str ns, struct str name, int before, struct buf *ret)
{
	const struct server *v = cookie;

	buf_printf(ret, "%s/kept/%.*s/%.*s/%d", v->folder, STR_F(ns), STR_F(name), before);
	return access(ret->p, F_OK) == 0;
}

int main(int argc, char **argv)
{
	struct server v = { .loop = loop_new(), .folder = argc == 2 ? argv[1] : "" };
	struct loop_signal *term = loop_signal_new(v.loop, SIGTERM, on_signal, &v);
	struct err e = ERR_INIT;

	if (argc != 2)
		die("usage: testing_server FOLDER", &e);
	v.timer = loop_timer_new(v.loop, on_step, &v);
	v.store = store_open(&(struct store_config){ .clock = &clock_wall, .seed = 1, .wake = on_wake, .cookie = &v },
	                     &e);
	if (!v.store)
		die("store", &e);
	install(v.store);
	on_step(&v);
	v.api = api_open(&(struct api_config){ .loop = v.loop,
	                                       .store = v.store,
	                                       .clock = &clock_wall,
	                                       .folder = v.folder,
	                                       .version = DL_VERSION,
	                                       .pod_folder = pod_folder,
	                                       .kept_logs = kept_logs,
	                                       .cookie = &v },
	                 &e);
	if (!v.api)
		die("api", &e);
	puts(api_kubeconfig_path(v.api));
	fflush(stdout);
	loop_run(v.loop);
	api_close(v.api);
	store_close(v.store);
	loop_timer_free(v.timer);
	loop_signal_free(term);
	loop_free(v.loop);
	return 0;
}
