/* dljob local: the process that is the cluster. */
#include "run/local.h"

#include "base/log.h"
#include "local/api/api.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LOG_MAX = 10 << 20 };
static const msec log_look = MINUTES(10), end_look = 50;

struct serving {
	struct local *local;
	struct loop *loop;
	struct loop_timer *end, *logs;
	struct loop_signal *signals[3];
	struct embedded *em;
	struct api *api;
	struct local_kinds *kinds;
	bool stopping;
};

/* The log is ours alone when standard error is that file; one older part of it is kept. */
void local_log_open(const char *folder)
{
	char path[4096], old[4096];
	struct stat st;
	int fd;

	snprintf(path, sizeof(path), "%s/log", folder);
	snprintf(old, sizeof(old), "%s/log.1", folder);
	if (stat(path, &st) == 0 && st.st_size > LOG_MAX)
		rename(path, old);
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return;
	dup2(fd, STDOUT_FILENO);
	dup2(fd, STDERR_FILENO);
	close(fd);
}

static void on_logs(void *cookie)
{
	struct serving *s = cookie;

	local_log_open(s->local->folder);
	loop_timer_set(s->logs, log_look);
}

static void on_end(void *cookie)
{
	struct serving *s = cookie;

	if (embedded_living(s->em) == 0)
		loop_stop(s->loop);
	else
		loop_timer_set(s->end, end_look);
}

/* Nobody is served any more; pods have their own grace period, or none. */
static void stop(struct serving *s, bool now)
{
	s->stopping = true;
	local_kinds_unwatch(s->kinds);
	if (s->api)
		api_close(s->api);
	s->api = NULL;
	embedded_stop(s->em, now ? 0 : -1);
	loop_timer_set(s->end, 0);
}

static const int stop_signals[] = { SIGTERM, SIGINT, SIGNAL_NOW };

static const char *stop_word(int signum)
{
	return signum == SIGTERM ? "SIGTERM" : signum == SIGINT ? "SIGINT" : "down --now";
}

/* Another `down` without --now, or a second SIGTERM, waits with the first; a second Ctrl-C is in a hurry. */
static void on_stop_signal(void *cookie, int signum)
{
	struct serving *s = cookie;
	bool now = signum == SIGNAL_NOW || (signum == SIGINT && s->stopping);

	log_info(FIELDS(F_STR("signal", str_c(stop_word(signum))), F_INT("pods", (int64_t)embedded_living(s->em))),
	         now ? "ends at once" : "shutting down");
	stop(s, now);
}

static bool pod_folder(void *cookie, struct str ns, struct str name, struct str uid, struct buf *ret)
{
	struct serving *s = cookie;

	(void)ns, (void)name;
	embedded_pod_folder(s->em, uid, ret);
	return true;
}

static bool kept_logs(void *cookie, struct str ns, struct str name, int before, struct buf *ret)
{
	const struct serving *s = cookie;

	return embedded_kept_logs(s->em, ns, name, before, ret);
}

static bool open_cluster(struct serving *s, struct kinds *kinds, bool down, struct err *e)
{
	const struct local_options *o = s->local->options;
	struct machine machine;
	struct embedded_config c = { .loop = s->loop,
		                     .kinds = kinds,
		                     .folder = s->local->folder,
		                     .keep = true,
		                     .network = o->host_network ? NET_HOST : NET_ROOT,
		                     .machine = &machine,
		                     .without_gpus = o->without_gpus };

	machine_find(&machine, "", getenv("PATH"));
	given_use(&s->local->given, &c);
	s->em = embedded_open(&c, e);
	if (!s->em || down)
		return s->em != NULL;
	if (o->without_gpus)
		log_warn(NO_FIELDS, "--without-gpus: pods that request GPUs run WITHOUT any");
	if (*embedded_world(s->em)->note)
		log_warn(NO_FIELDS, "%s", embedded_world(s->em)->note);
	s->api = api_open(&(struct api_config){ .loop = s->loop,
	                                        .store = embedded_store(s->em),
	                                        .kinds = kinds,
	                                        .clock = &clock_wall,
	                                        .folder = s->local->folder,
	                                        .version = DL_VERSION,
	                                        .port = o->port,
	                                        .pod_folder = pod_folder,
	                                        .kept_logs = kept_logs,
	                                        .cookie = s },
	                  e);
	if (!s->api)
		return false;
	s->kinds = local_kinds_watch(s->local, s->loop, s->em, s->api);
	return local_hold(&s->local->holder, api_port(s->api), e);
}

static void close_cluster(struct serving *s, bool wholly)
{
	local_kinds_unwatch(s->kinds);
	if (s->api)
		api_close(s->api);
	embedded_close(s->em, wholly);
	local_kinds_free(s->kinds);
	loop_timer_free(s->end);
	loop_timer_free(s->logs);
	for (size_t i = 0; i < ARRAY_LEN(s->signals); i++)
		loop_signal_free(s->signals[i]);
	loop_free(s->loop);
}

enum exit_code local_serve(struct local *l, struct kinds *kinds, bool down,
                           void (*ready)(void *cookie, const char *problem), void *cookie)
{
	struct serving s = { .local = l, .loop = loop_new() };
	struct err e = ERR_INIT;
	bool ok;

	s.end = loop_timer_new(s.loop, on_end, &s);
	s.logs = loop_timer_new(s.loop, on_logs, &s);
	for (size_t i = 0; i < ARRAY_LEN(s.signals); i++)
		s.signals[i] = loop_signal_new(s.loop, stop_signals[i], on_stop_signal, &s);
	ok = open_cluster(&s, kinds, down, &e);
	ready(cookie, ok ? NULL : err_msg(&e));
	err_release(&e);
	if (ok) {
		if (down)
			stop(&s, l->options->now);
		else if (!l->options->foreground)
			loop_timer_set(s.logs, log_look);
		loop_run(s.loop);
	}
	close_cluster(&s, ok || (s.em && !embedded_world(s.em)->adopted));
	/* As it was before, if nothing came of it. */
	if (ok || l->holder.clean)
		local_ended(&l->holder, NULL);
	return ok ? CLI_OK : CLI_FAILED;
}
