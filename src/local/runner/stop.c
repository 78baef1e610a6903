#include "local/runner/stop.h"

#include "base/log.h"
#include "local/runner/call.h"
#include "local/runner/events.h"
#include "local/runner/kept.h"
#include "local/runner/pods.h"
#include "local/runner/process.h"
#include "object/delete_options.h"

#include <signal.h>

/* A parent that has not ended so long after it should have is ended by force. */
static const msec patience = SECONDS(20);
enum { POD_GRACE = 30 };

static int64_t own_grace(const struct runner_pod *p)
{
	int64_t seconds = POD_GRACE;

	json_int(json_at(pod_object(p), "spec", "terminationGracePeriodSeconds", NULL), &seconds);
	return SECONDS(MAX(MIN(seconds, (int64_t)INT32_MAX), (int64_t)0));
}

/* How many milliseconds it may still take; -1: nobody wants its end. */
static int64_t time_left(const struct runner *r, const struct runner_pod *p, msec now)
{
	yyjson_val *meta = json_get(pod_object(p), "metadata");
	int64_t left = -1, seconds = -1;
	msec at;

	if (time_parse(json_str(json_get(meta, "deletionTimestamp")), &at)) {
		left = MAX(at - now, (int64_t)0);
		/* None: forced, the object did not wait for us. More than that is a clock that was set back. */
		if (json_int(json_get(meta, "deletionGracePeriodSeconds"), &seconds))
			left = MIN(left, SECONDS(MAX(MIN(seconds, (int64_t)INT32_MAX), (int64_t)0)));
	} else if (p->gone) {
		left = own_grace(p);
	}
	if (r->stopping) {
		int64_t most = r->stop_grace < 0 ? own_grace(p) : r->stop_grace;

		left = left < 0 ? most : MIN(left, most);
	}
	return left;
}

/* A pod that ends with us for no reason of its own; those of one job that is over end for good. */
static bool is_shutdown(const struct runner *r, const struct runner_pod *p)
{
	return r->stopping && !r->c.tied && !p->gone && !pods_is_deleting(p);
}

static void ask_to_stop(struct runner *r, struct runner_pod *p, int64_t left)
{
	struct err e = ERR_INIT;
	bool ok;

	if (!p->stop_asked)
		event_say(r, p, EVENT_NORMAL, "Killing", STR_NONE, "Stopping the pod, %lld s at most",
		          (long long)((left + 999) / 1000));
	p->stop_asked = true;
	ok = is_shutdown(r, p) ? pod_shut_down(p->folder, left, &e) : pod_stop(p->folder, left, &e);
	if (ok)
		return;
	log_warn(FIELDS(F_STR("pod", str_c(p->name))), "%s", err_msg(&e));
	err_release(&e);
	/* With the time that its spec gives. */
	if (p->pid > 0)
		kill(p->pid, SIGTERM);
}

/* Who wants its end, and when: the same request is not looked at twice, or a clock that is set forward would cut the
   time short. */
static uint64_t request_of(const struct runner *r, const struct runner_pod *p)
{
	struct str at = json_str(json_at(pod_object(p), "metadata", "deletionTimestamp", NULL));

	return str_hash(at) ^ (uint64_t)p->gone << 1 ^ (r->stopping ? (uint64_t)(r->stop_grace + 2) << 2 : 0);
}

void stop_some(struct runner *r, struct runner_pod *p)
{
	uint64_t request = request_of(r, p);
	msec now = r->now;
	int64_t left = p->stop_asked && p->request == request ? MAX(p->kill_at - now, (int64_t)0)
	                                                      : time_left(r, p, clock_now(r->c.clock));

	if (left < 0)
		return;
	p->request = request;
	/* A message that only repeats the last one is skipped. */
	if (!p->stop_asked || now + left + 500 < p->kill_at) {
		ask_to_stop(r, p, left);
		p->kill_at = now + left;
	}
	if (!p->forced && now >= p->kill_at + patience) {
		log_warn(FIELDS(F_STR("pod", str_c(p->name))), "does not end: killed");
		p->forced = true;
		if (p->pid > 0)
			kill(p->pid, SIGKILL);
		p->exited = true;
		runner_wake_at(r, now);
	}
	if (!p->forced)
		runner_wake_at(r, p->kill_at + patience);
}

static void delete_object(struct runner *r, struct runner_pod *p)
{
	struct buf options = BUF_INIT(DELETE_OPTIONS_MAX);
	int code;

	delete_options_put(&options, &(struct delete_options){ 0, str_c(p->uid), STR_NONE });
	code = runner_ask(r,
	                  &(struct store_request){ .verb = STORE_DELETE,
	                                           .type = r->pod_type,
	                                           .ns = str_c(p->ns),
	                                           .name = str_c(p->name),
	                                           .body = buf_str(&options) },
	                  NULL);
	buf_release(&options);
	/* With finalizers it stays: that is not ours any more. */
	p->delete_asked = code < HTTP_SERVER_ERROR;
	if (!p->delete_asked)
		runner_trouble(r);
}

void stop_remove(struct runner *r, struct runner_pod *p)
{
	struct err e = ERR_INIT;

	if (!p->delete_asked) {
		process_forget(r, p);
		net_pod_remove(r->c.net, str_c(p->uid), NULL);
		if (p->has_ip)
			r->hosts_due = true;
		p->has_ip = false;
		/* What cannot be removed is tried again at the next start. */
		if (!r->c.keep_folders && !kept_remove_pod(r, p, &e))
			log_warn(FIELDS(F_STR("pod", str_c(p->name))), "its folder cannot be removed: %s", err_msg(&e));
		err_release(&e);
		if (p->stage != RUN_FOREIGN)
			pods_set_stage(r, p, RUN_ENDED);
	}
	if (p->gone)
		pods_drop(r, p);
	else if (!p->delete_asked && p->stage != RUN_FOREIGN)
		delete_object(r, p);
}
