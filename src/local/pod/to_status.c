/* What happened, as the `status` of a Kubernetes pod: the kubelet's rules for phase and conditions. */
#include "local/pod/pod.h"

#include "base/json.h"
#include "object/labels.h"

static void put_str(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *key, struct str s)
{
	if (s.n)
		yyjson_mut_obj_add_val(doc, object, key, json_mut_str(doc, s));
}

static void put_time(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *key, msec t)
{
	char text[TIME_TEXT];

	if (t)
		put_str(doc, object, key, str_c(time_format(t, text)));
}

static const struct pod_container_state *state_of(const struct pod_state *s, size_t i)
{
	return s && i < s->containers.n ? &s->containers.v[i] : NULL;
}

static bool is_terminated(const struct pod_container_run *r)
{
	return r->run == POD_RUN_TERMINATED;
}

/* --- Phase --- */

struct container_counts {
	size_t init_pending, init_failed, waiting, running, stopped, succeeded, total;
};

static void count_init(struct container_counts *n, const struct pod_container_state *c)
{
	if (!c) {
		n->init_pending++;
	} else if (c->sidecar) {
		/* It goes on beside the others: only its start is waited for. */
		n->init_pending += !c->started && !is_terminated(&c->now);
	} else if (is_terminated(&c->now)) {
		n->init_failed += c->now.exit_code != 0;
	} else if (c->now.run == POD_RUN_WAITING && is_terminated(&c->last) && c->last.exit_code != 0) {
		n->init_failed++;
	} else {
		n->init_pending++;
	}
}

static void count_main(struct container_counts *n, const struct pod_container_state *c)
{
	n->total++;
	if (!c || (c->now.run == POD_RUN_WAITING && !is_terminated(&c->last)))
		n->waiting++;
	else if (c->now.run == POD_RUN_RUNNING)
		n->running++;
	else
		n->stopped++;
	n->succeeded += c && is_terminated(&c->now) && c->now.exit_code == 0;
}

static struct container_counts count_containers(const struct pod_spec *spec, const struct pod_state *s)
{
	struct container_counts n = { 0 };

	for (size_t i = 0; i < spec->containers.n; i++)
		if (spec->containers.v[i].init)
			count_init(&n, state_of(s, i));
		else
			count_main(&n, state_of(s, i));
	return n;
}

static const char *phase(const struct pod_spec *spec, const struct pod_state *s)
{
	struct container_counts n = count_containers(spec, s);

	if (s && s->life == POD_ENDED)
		return !s->failed && n.succeeded == n.total ? "Succeeded" : "Failed";
	if (n.init_failed && spec->restart == POD_RESTART_NEVER)
		return "Failed";
	if (n.init_pending || n.init_failed)
		return n.running ? "Running" : "Pending";
	if (n.waiting)
		return "Pending";
	/* Until the parent has ended something of it is there. */
	return "Running";
}

/* --- Conditions --- */

/* Since when; of several the latest. */
static msec changed_since(const struct pod_spec *spec, const struct pod_state *s, bool init)
{
	msec t = s ? s->started : 0;

	for (size_t i = 0; s && i < s->containers.n && i < spec->containers.n; i++) {
		const struct pod_container_state *c = &s->containers.v[i];

		if (init && (!c->init || c->sidecar))
			continue;
		t = MAX(t, init ? c->now.finished : c->ready_since);
	}
	return t;
}

static void condition(yyjson_mut_doc *doc, yyjson_mut_val *list, const char *type, bool is, msec since,
                      const char *reason, struct str message)
{
	yyjson_mut_val *c = yyjson_mut_arr_add_obj(doc, list);

	yyjson_mut_obj_add_str(doc, c, "type", type);
	yyjson_mut_obj_add_str(doc, c, "status", is ? "True" : "False");
	yyjson_mut_obj_add_null(doc, c, "lastProbeTime");
	put_time(doc, c, "lastTransitionTime", since);
	put_str(doc, c, "reason", str_c(reason));
	put_str(doc, c, "message", message);
}

/* "containers with unready status: [a b]"; empty if there are none. */
static void unready(const struct pod_spec *spec, const struct pod_state *s, bool init, struct buf *out)
{
	const char *front = init ? "containers with incomplete status: [" : "containers with unready status: [";

	for (size_t i = 0; i < spec->containers.n; i++) {
		const struct pod_container *c = &spec->containers.v[i];
		const struct pod_container_state *st = state_of(s, i);

		if (init ? !c->init || (st && (c->sidecar ? st->started : st->ready)) : c->init || (st && st->ready))
			continue;
		buf_printf(out, "%s%.*s", out->n ? " " : front, STR_F(c->name));
	}
	if (out->n)
		buf_putc(out, ']');
}

static void log_lost(yyjson_mut_doc *doc, yyjson_mut_val *list, const struct pod_state *s)
{
	struct buf text = BUF_INIT(16384);

	for (size_t i = 0; s && i < s->containers.n; i++)
		if (s->containers.v[i].log_problem.n)
			buf_printf(&text, "%s%.*s", text.n ? "; " : "", STR_F(s->containers.v[i].log_problem));
	if (text.n)
		condition(doc, list, CONDITION_LOG_LOST, true, 0, "NotWritten", buf_str(&text));
	buf_release(&text);
}

static void conditions(yyjson_mut_doc *doc, yyjson_mut_val *status, const struct pod_spec *spec,
                       const struct pod_state *s, const struct pod_status_options *o, struct str is)
{
	yyjson_mut_val *list = yyjson_mut_obj_add_arr(doc, status, "conditions");
	bool done = str_eqc(is, "Succeeded"), failed = str_eqc(is, "Failed");
	const char *why = done ? "PodCompleted" : failed ? "PodFailed" : "ContainersNotReady";
	msec since = changed_since(spec, s, false), scheduled = o->scheduled ? o->scheduled : s ? s->started : 0;
	struct buf init = BUF_INIT(4096), main = BUF_INIT(4096);
	bool ready, initialized;

	unready(spec, s, true, &init);
	unready(spec, s, false, &main);
	initialized = init.n == 0 || done;
	ready = main.n == 0 && initialized && !done && !failed;
	condition(doc, list, "Initialized", initialized, changed_since(spec, s, true),
	          initialized ? (done ? "PodCompleted" : "") : "ContainersNotInitialized",
	          initialized ? STR_NONE : buf_str(&init));
	condition(doc, list, "Ready", ready, since, ready ? "" : why, ready || done ? STR_NONE : buf_str(&main));
	condition(doc, list, "ContainersReady", ready, since, ready ? "" : why,
	          ready || done ? STR_NONE : buf_str(&main));
	condition(doc, list, "PodScheduled", true, scheduled, "", STR_NONE);
	log_lost(doc, list, s);
	buf_release(&init);
	buf_release(&main);
}

/* --- Containers --- */

static yyjson_mut_val *run_json(yyjson_mut_doc *doc, const struct pod_container_run *r, struct str id)
{
	yyjson_mut_val *state = yyjson_mut_obj(doc), *v;

	switch (r->run) {
	case POD_RUN_WAITING:
		v = yyjson_mut_obj_add_obj(doc, state, "waiting");
		put_str(doc, v, "reason", r->reason);
		put_str(doc, v, "message", r->message);
		break;
	case POD_RUN_RUNNING:
		put_time(doc, yyjson_mut_obj_add_obj(doc, state, "running"), "startedAt", r->started);
		break;
	case POD_RUN_TERMINATED:
		v = yyjson_mut_obj_add_obj(doc, state, "terminated");
		yyjson_mut_obj_add_sint(doc, v, "exitCode", r->exit_code);
		if (r->signal)
			yyjson_mut_obj_add_sint(doc, v, "signal", r->signal);
		put_str(doc, v, "reason", r->reason);
		put_str(doc, v, "message", r->message);
		put_time(doc, v, "startedAt", r->started);
		put_time(doc, v, "finishedAt", r->finished);
		put_str(doc, v, "containerID", id);
		break;
	}
	return state;
}

static struct str container_id(char text[static 256], const struct pod_spec *spec, const struct pod_container *c,
                               int64_t number)
{
	snprintf(text, 256, "dljob://%.*s/%.*s/%lld", STR_F(spec->uid), STR_F(c->name), (long long)number);
	return str_c(text);
}

static void container_json(yyjson_mut_doc *doc, yyjson_mut_val *list, const struct pod_spec *spec,
                           const struct pod_container *c, const struct pod_container_state *s)
{
	static const struct pod_container_run waiting = { .reason = STR_INIT("PodInitializing") };
	yyjson_mut_val *v = yyjson_mut_arr_add_obj(doc, list);
	int64_t restarts = s ? s->restarts : 0;
	char now[256], last[256];
	bool ran = s && (s->now.run != POD_RUN_WAITING || is_terminated(&s->last));
	/* While it waits for the next start, the last one is the one that ran. */
	bool backing_off = s && s->now.run == POD_RUN_WAITING;

	put_str(doc, v, "name", c->name);
	yyjson_mut_obj_add_val(doc, v, "state",
	                       run_json(doc, s ? &s->now : &waiting, container_id(now, spec, c, restarts)));
	container_id(last, spec, c, backing_off ? restarts : restarts - 1);
	yyjson_mut_obj_add_val(doc, v, "lastState",
	                       s && is_terminated(&s->last) ? run_json(doc, &s->last, str_c(last))
	                                                    : yyjson_mut_obj(doc));
	yyjson_mut_obj_add_bool(doc, v, "ready", s && s->ready);
	yyjson_mut_obj_add_sint(doc, v, "restartCount", restarts);
	yyjson_mut_obj_add_val(doc, v, "image", json_mut_str(doc, c->image));
	yyjson_mut_obj_add_str(doc, v, "imageID", "");
	if (ran)
		put_str(doc, v, "containerID", str_c(now));
	yyjson_mut_obj_add_bool(doc, v, "started", s && s->started);
}

static void address(yyjson_mut_doc *doc, yyjson_mut_val *status, const char *one, const char *many, struct str ip)
{
	yyjson_mut_val *item;

	if (ip.n == 0)
		return;
	put_str(doc, status, one, ip);
	item = yyjson_mut_arr_add_obj(doc, yyjson_mut_obj_add_arr(doc, status, many));
	put_str(doc, item, "ip", ip);
}

yyjson_mut_val *pod_status(yyjson_mut_doc *doc, const struct pod_spec *spec, const struct pod_state *s,
                           const struct pod_status_options *o)
{
	yyjson_mut_val *status = yyjson_mut_obj(doc), *init = yyjson_mut_arr(doc), *main = yyjson_mut_arr(doc);
	const char *is = phase(spec, s);

	yyjson_mut_obj_add_str(doc, status, "phase", is);
	if (s) {
		put_str(doc, status, "reason", s->reason);
		put_str(doc, status, "message", s->message);
		put_time(doc, status, "startTime", s->started);
	}
	conditions(doc, status, spec, s, o, str_c(is));
	address(doc, status, "hostIP", "hostIPs", o->host_ip);
	address(doc, status, "podIP", "podIPs", o->pod_ip);
	for (size_t i = 0; i < spec->containers.n; i++) {
		const struct pod_container *c = &spec->containers.v[i];

		container_json(doc, c->init ? init : main, spec, c, state_of(s, i));
	}
	if (yyjson_mut_arr_size(init))
		yyjson_mut_obj_add_val(doc, status, "initContainerStatuses", init);
	yyjson_mut_obj_add_val(doc, status, "containerStatuses", main);
	return status;
}
