#include "local/runner/status.h"

#include "base/log.h"
#include "local/runner/call.h"
#include "local/runner/events.h"
#include "local/runner/pods.h"
#include "object/labels.h"

#include <unistd.h>

/* What was told of a container already. */
struct told {
	bool running, backing_off;
	int64_t restarts, problems;
	uint64_t log_problem; /* its hash */
};

static struct told told_of(const struct pod_container_state *c, bool ran)
{
	return (struct told){ .running = ran,
		              .backing_off = str_eqc(c->now.reason, "CrashLoopBackOff"),
		              .restarts = c->restarts,
		              .problems = c->problems,
		              .log_problem = str_hash(c->log_problem) };
}

enum { STATUS_MAX = 1 << 20, CONTAINERS_MAX = 256 };

/* --- Writing --- */

static bool is_ours(struct str type)
{
	static const char *const ours[] = { "PodScheduled", "Initialized", "ContainersReady", "Ready" };

	for (size_t i = 0; i < ARRAY_LEN(ours); i++)
		if (str_eqc(type, ours[i]))
			return true;
	return str_eqc(type, CONDITION_LOG_LOST);
}

/* Others' conditions stay as they are. */
static void keep_conditions(yyjson_mut_doc *doc, yyjson_mut_val *status, yyjson_val *before)
{
	yyjson_mut_val *list = yyjson_mut_obj_get(status, "conditions");
	yyjson_val *c;
	size_t i, max;

	yyjson_arr_foreach(json_get(before, "conditions"), i, max, c)
	{
		if (list && !is_ours(json_str(json_get(c, "type"))))
			yyjson_mut_arr_append(list, yyjson_val_mut_copy(doc, c));
	}
}

/* STATUS becomes the pod's. False: the store did not take it. */
static bool put_status(struct runner *r, struct runner_pod *p, yyjson_mut_doc *doc, yyjson_mut_val *status)
{
	yyjson_val *before = json_get(pod_object(p), "status");
	CLEANUP(buf_release) struct buf body = BUF_INIT(STATUS_MAX);
	CLEANUP(json_docp) yyjson_doc *after = NULL;
	struct err e = ERR_INIT;
	yyjson_mut_val *patch;
	bool ok;
	int code;

	keep_conditions(doc, status, before);
	after = yyjson_mut_val_imut_copy(status, NULL);
	ASSERT(after);
	patch = json_merge_diff(doc, before, yyjson_doc_get_root(after), NULL);
	if (!patch)
		return true;
	buf_printf(&body, "{\"status\":");
	json_write(patch, &body);
	buf_printf(&body, "}");
	/* Gone: its DELETED is on the way. */
	ok = runner_patch_pod(r, p, true, buf_str(&body), &code, &e) || code == HTTP_NOT_FOUND;
	if (!ok) {
		log_warn(FIELDS(F_STR("pod", str_c(p->name))), "its status cannot be written: %s", err_msg(&e));
		runner_trouble(r);
	}
	err_release(&e);
	return ok;
}

static msec scheduled_of(const struct runner_pod *p)
{
	yyjson_val *c;
	size_t i, max;
	msec t = 0;

	yyjson_arr_foreach(json_at(pod_object(p), "status", "conditions", NULL), i, max, c)
	{
		if (str_eqc(json_str(json_get(c, "type")), "PodScheduled") &&
		    str_eqc(json_str(json_get(c, "status")), "True"))
			time_parse(json_str(json_get(c, "lastTransitionTime")), &t);
	}
	return t ? t : p->scheduled;
}

/* --- Telling --- */

static void tell_container(struct runner *r, struct runner_pod *p, const struct pod_container_state *c, struct told *t)
{
	bool running = c->now.run == POD_RUN_RUNNING, ran = running || c->now.run == POD_RUN_TERMINATED;
	bool backing_off = str_eqc(c->now.reason, "CrashLoopBackOff");
	bool began = str_eqc(c->now.reason, "StartError") || str_eqc(c->now.reason, "CreateContainerError");

	if (ran && c->now.run == POD_RUN_TERMINATED && began && !t->running)
		event_say(r, p, EVENT_WARNING, "Failed", c->name, "Error: %.*s", STR_F(c->now.message));
	else if (ran && (!t->running || c->restarts > t->restarts))
		event_say(r, p, EVENT_NORMAL, "Started", c->name, "Started container %.*s", STR_F(c->name));
	if (backing_off && !t->backing_off)
		event_say(r, p, EVENT_WARNING, "BackOff", c->name, "Back-off restarting failed container %.*s",
		          STR_F(c->name));
	if (c->problems > t->problems)
		event_say(r, p, EVENT_WARNING, "Unhealthy", c->name, "%.*s", STR_F(c->problem));
	if (c->log_problem.n && str_hash(c->log_problem) != t->log_problem)
		event_say(r, p, EVENT_WARNING, "LogLost", c->name, "%.*s", STR_F(c->log_problem));
	*t = told_of(c, ran);
}

/* After a restart of ours nothing is told that was told before. */
static void tell_changes(struct runner *r, struct runner_pod *p, const struct pod_state *s)
{
	size_t n = MIN(s->containers.n, (size_t)CONTAINERS_MAX);
	bool first = !p->told && p->adopted;

	if (!p->told) {
		p->told = xcalloc(MAX(n, (size_t)1), sizeof(*p->told));
		p->n_told = n;
	}
	for (size_t i = 0; i < n && i < p->n_told; i++) {
		const struct pod_container_state *c = &s->containers.v[i];

		if (first)
			p->told[i] = told_of(c, c->now.run != POD_RUN_WAITING);
		else
			tell_container(r, p, c, &p->told[i]);
	}
	for (; p->notes_told < s->notes.n; p->notes_told++)
		if (!first)
			event_say(r, p, EVENT_WARNING, "Limited", s->notes.v[p->notes_told], "%.*s",
			          STR_F(s->notes.v[p->notes_told]));
	if (!first && s->life == POD_ENDED && s->reason.n)
		event_say(r, p, EVENT_WARNING, arena_str(&r->round, s->reason).p, STR_NONE, "%.*s", STR_F(s->message));
}

void status_write(struct runner *r, struct runner_pod *p)
{
	struct pod_status_options o = { .host_ip = str_c(r->host_ip), .scheduled = scheduled_of(p) };
	yyjson_mut_doc *doc;
	struct pod_state state;
	struct pod_spec spec;
	struct err e = ERR_INIT;
	bool missing;

	p->state_changed = false;
	/* It has ended, and its status says so. */
	if (p->slim)
		return;
	if (!pod_state_read(&state, &missing, p->folder, &r->round, &e) ||
	    (!missing && !pod_spec_read(&spec, p->folder, &r->round, &e))) {
		log_warn(FIELDS(F_STR("pod", str_c(p->name))), "its state cannot be read: %s", err_msg(&e));
		err_release(&e);
		p->status_due = false;
		return;
	}
	if (missing) {
		p->status_due = false;
		return;
	}
	/* The parent has set itself up: it is inside of its network. */
	if (p->netns >= 0)
		close(p->netns);
	p->netns = -1;
	/* Whoever reads that it has ended may rely on it: the process must be gone first, and it will be soon. */
	if (state.life == POD_ENDED && p->stage == RUN_LIVES)
		return;
	if (!p->gone && p->object) {
		tell_changes(r, p, &state);
		o.pod_ip = spec.pod_ip;
		doc = yyjson_mut_doc_new(NULL);
		p->status_due = !put_status(r, p, doc, pod_status(doc, &spec, &state, &o));
		yyjson_mut_doc_free(doc);
	} else {
		p->status_due = false;
	}
	/* Nobody can show what no object names. */
	if (r->c.changed && p->object)
		r->c.changed(r->c.cookie, str_c(p->ns), str_c(p->name), str_c(p->uid));
}

/* --- States that are ours --- */

static void add_str(yyjson_mut_doc *doc, yyjson_mut_val *obj, const char *key, struct str s)
{
	yyjson_mut_obj_add_val(doc, obj, key, json_mut_str(doc, s));
}

static yyjson_mut_val *status_of(yyjson_mut_doc *doc, const struct runner_pod *p, const char *phase)
{
	yyjson_val *before = json_get(pod_object(p), "status");
	yyjson_mut_val *s = before ? yyjson_val_mut_copy(doc, before) : yyjson_mut_obj(doc);

	yyjson_mut_obj_put(s, yyjson_mut_str(doc, "phase"), yyjson_mut_str(doc, phase));
	yyjson_mut_obj_remove_key(s, "conditions");
	yyjson_mut_obj_add_arr(doc, s, "conditions");
	return s;
}

static void scheduled(yyjson_mut_doc *doc, yyjson_mut_val *status, bool is, msec since, struct str message)
{
	yyjson_mut_val *c = yyjson_mut_arr_add_obj(doc, yyjson_mut_obj_get(status, "conditions"));
	char text[TIME_TEXT];

	add_str(doc, c, "type", STR("PodScheduled"));
	add_str(doc, c, "status", is ? STR("True") : STR("False"));
	add_str(doc, c, "lastTransitionTime", str_c(time_format(since, text)));
	if (is)
		return;
	add_str(doc, c, "reason", STR("Unschedulable"));
	add_str(doc, c, "message", message);
}

void status_fail(struct runner *r, struct runner_pod *p, const char *reason, struct str message)
{
	yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
	yyjson_mut_val *s = status_of(doc, p, "Failed");
	msec now = clock_now(r->c.clock), since = scheduled_of(p);

	scheduled(doc, s, since, since ? since : now, message);
	yyjson_mut_obj_put(s, yyjson_mut_str(doc, "reason"), yyjson_mut_str(doc, reason));
	yyjson_mut_obj_put(s, yyjson_mut_str(doc, "message"), json_mut_str(doc, message));
	/* If it cannot be written now it is decided anew. */
	if (p->gone || put_status(r, p, doc, s)) {
		event_say(r, p, EVENT_WARNING, reason, STR_NONE, "%.*s", STR_F(message));
		pods_set_stage(r, p, RUN_ENDED);
		p->status_due = false;
	} else {
		r->fit_due = true;
		p->retry_at = r->now + SECONDS(1);
	}
	yyjson_mut_doc_free(doc);
}

void status_unschedulable(struct runner *r, struct runner_pod *p, struct str message)
{
	uint64_t hash = str_hash(message) | 1;
	yyjson_val *c, *before = NULL;
	yyjson_mut_doc *doc;
	yyjson_mut_val *s;
	size_t i, max;
	msec since = clock_now(r->c.clock);

	if (p->waits == hash)
		return;
	p->waits = hash;
	yyjson_arr_foreach(json_at(pod_object(p), "status", "conditions", NULL), i, max, c)
	{
		if (str_eqc(json_str(json_get(c, "type")), "PodScheduled"))
			before = c;
	}
	if (before && str_eq(json_str(json_get(before, "message")), message))
		return;
	time_parse(json_str(json_get(before, "lastTransitionTime")), &since);
	doc = yyjson_mut_doc_new(NULL);
	s = status_of(doc, p, "Pending");
	scheduled(doc, s, false, since, message);
	if (put_status(r, p, doc, s))
		event_say(r, p, EVENT_WARNING, "FailedScheduling", STR_NONE, "%.*s", STR_F(message));
	else
		p->waits = 0, r->fit_due = true;
	yyjson_mut_doc_free(doc);
}

static void waiting(yyjson_mut_doc *doc, yyjson_mut_val *status, const char *key, yyjson_val *containers,
                    struct str which, const char *reason, struct str message)
{
	yyjson_mut_val *list = yyjson_mut_arr(doc);
	yyjson_val *c;
	size_t i, max;

	yyjson_arr_foreach(containers, i, max, c)
	{
		struct str name = json_str(json_get(c, "name"));
		yyjson_mut_val *v = yyjson_mut_arr_add_obj(doc, list), *w;
		bool it = which.n == 0 || str_eq(name, which);

		add_str(doc, v, "name", name);
		add_str(doc, v, "image", json_str(json_get(c, "image")));
		add_str(doc, v, "imageID", STR(""));
		yyjson_mut_obj_add_bool(doc, v, "ready", false);
		yyjson_mut_obj_add_bool(doc, v, "started", false);
		yyjson_mut_obj_add_sint(doc, v, "restartCount", 0);
		w = yyjson_mut_obj_add_obj(doc, yyjson_mut_obj_add_obj(doc, v, "state"), "waiting");
		add_str(doc, w, "reason", str_c(it ? reason : "ContainerCreating"));
		if (it)
			add_str(doc, w, "message", message);
		yyjson_mut_obj_add_obj(doc, v, "lastState");
	}
	if (yyjson_mut_arr_size(list))
		yyjson_mut_obj_put(status, yyjson_mut_str(doc, key), list);
}

void status_waiting(struct runner *r, struct runner_pod *p, struct str container, const char *reason,
                    struct str message)
{
	yyjson_val *spec = json_get(pod_object(p), "spec");
	yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
	yyjson_mut_val *s = status_of(doc, p, "Pending");
	msec since = scheduled_of(p);

	scheduled(doc, s, true, since ? since : clock_now(r->c.clock), STR_NONE);
	waiting(doc, s, "initContainerStatuses", json_get(spec, "initContainers"), container, reason, message);
	waiting(doc, s, "containerStatuses", json_get(spec, "containers"), container, reason, message);
	put_status(r, p, doc, s);
	yyjson_mut_doc_free(doc);
}
