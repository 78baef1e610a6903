#include "local/runner/runner.h"

#include "local/pod/cgroup.h"
#include "local/runner/admit.h"
#include "local/runner/adopt.h"
#include "local/runner/hosts.h"
#include "local/runner/kept.h"
#include "local/runner/node.h"
#include "local/runner/pods.h"
#include "local/runner/process.h"
#include "local/runner/start.h"
#include "local/runner/status.h"
#include "local/runner/stop.h"
#include "local/runner/units.h"
#include "local/runner/watch.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* Of a step; what is left of the work is done in the next one. What the store did not take (a full disk) is not offered
   again at once. */
static const msec look_time = 25, write_again = SECONDS(1);

struct runner *runner_new(const struct runner_config *c, struct err *e)
{
	struct runner *r = xcalloc(1, sizeof(*r));
	bool ok;

	r->c = *c;
	r->inotify = -1;
	r->folder = arena_str(&r->arena, str_c(c->folder));
	r->node = arena_str(&r->arena, c->node);
	r->cwd = arena_str(&r->arena, c->cwd);
	r->pod_type = store_type(c->store, STR(""), STR("v1"), STR("pods"));
	r->event_type = store_type(c->store, STR(""), STR("v1"), STR("events"));
	r->node_type = store_type(c->store, STR(""), STR("v1"), STR("nodes"));
	r->fit_due = r->hosts_due = r->prune_due = r->adopting = r->stepping = true;
	r->now = loop_now(c->loop);
	node_ip(r->host_ip);
	ok = process_open(r, e) && node_make(r, e) && watch_start(r, e);
	if (ok) {
		watch_take(r);
		ok = adopt_all(r, e);
	}
	r->adopting = r->stepping = false;
	arena_reset(&r->round);
	if (!ok) {
		runner_free(r);
		return NULL;
	}
	c->wake(c->cookie);
	return r;
}

/* No descriptor or no watch was to be had: so we ask. */
static void ask_after(struct runner *r, struct runner_pod *p)
{
	if (p->stage != RUN_LIVES || (p->pidfd >= 0 && p->wd >= 0))
		return;
	if (p->pidfd < 0 && (waitpid(p->pid, NULL, WNOHANG) == p->pid || (kill(p->pid, 0) != 0 && errno == ESRCH)))
		p->exited = true;
	p->state_changed = true;
	runner_wake_at(r, r->now + SECONDS(1));
}

/* Nothing is written of a pod that is gone. */
static bool may_write(const struct runner *r, const struct runner_pod *p)
{
	return p->gone || p->write_at <= r->now;
}

static bool wants_write(const struct runner_pod *p)
{
	return p->state_changed || p->status_due ||
	       (p->stage != RUN_LIVES && (p->gone || (pods_is_deleting(p) && !p->delete_asked)));
}

static bool has_work(const struct runner *r, const struct runner_pod *p)
{
	return p->exited || (wants_write(p) && may_write(r, p));
}

static void write_status(struct runner *r, struct runner_pod *p)
{
	status_write(r, p);
	if (p->status_due)
		p->write_at = r->now + write_again;
}

/* It may be freed. */
static void remove_pod(struct runner *r, struct runner_pod *p)
{
	bool gone = p->gone;

	stop_remove(r, p);
	if (!gone && !p->delete_asked && p->stage != RUN_FOREIGN)
		p->write_at = r->now + write_again;
}

/* One pod: what is new of it, and whether it is to end. It may be freed. */
static void look_at(struct runner *r, struct runner_pod *p)
{
	if (p->stage == RUN_LIVES && p->exited)
		process_over(r, p);
	if ((p->state_changed || p->status_due) && may_write(r, p))
		write_status(r, p);
	if (wants_write(p) && !may_write(r, p))
		runner_wake_at(r, p->write_at);
	if (p->stage == RUN_LIVES)
		stop_some(r, p);
	else if ((p->gone || pods_is_deleting(p)) && !p->status_due && may_write(r, p))
		remove_pod(r, p);
	else if (p->stage == RUN_ENDED && !p->status_due)
		pods_slim(p);
}

/* From FROM on, until `look_next` or, with ALL, the last. One that has work has time whatever it takes (*DONE), so that
   each round gets on. Returns the first for which there was none. */
static struct runner_pod *look_at_some(struct runner *r, struct runner_pod *from, bool all, msec end, bool *done)
{
	struct runner_pod *undone = NULL, *next;

	for (struct runner_pod *p = from; p && (all || p != r->look_next); p = next) {
		bool work;

		next = p->next;
		ask_after(r, p);
		work = has_work(r, p);
		if (!work || !*done || loop_now(r->c.loop) < end) {
			*done |= work;
			look_at(r, p);
		} else if (!undone) {
			undone = p;
		}
	}
	return undone;
}

/* All of them, from the one at which the last round ended; or the first ones would have all rounds for themselves. */
static void look_at_all(struct runner *r)
{
	msec end = loop_now(r->c.loop) + look_time;
	struct runner_pod *undone, *undone_before;
	bool done = false;

	undone = look_at_some(r, r->look_next, true, end, &done);
	undone_before = look_at_some(r, r->first_pod, false, end, &done);
	r->look_next = undone ? undone : undone_before;
	if (r->look_next)
		runner_wake_at(r, r->now);
}

msec runner_step(struct runner *r)
{
	r->stepping = true;
	r->troubled = false;
	r->now = loop_now(r->c.loop);
	r->next = NEVER;
	if (r->types_due)
		watch_jobs(r);
	watch_take(r);
	look_at_all(r);
	admit(r);
	start_some(r);
	kept_prune(r);
	if (r->n_news || (r->fit_due && !r->stopping))
		runner_wake_at(r, r->troubled ? r->now + SECONDS(1) : r->now);
	arena_reset(&r->round);
	r->stepping = false;
	return r->next == NEVER ? NEVER : clock_now(r->c.clock) + r->next - r->now;
}

void runner_set_kinds(struct runner *r, struct kinds *kinds)
{
	units_set_kinds(r, kinds);
	watch_set_kinds(r, kinds);
	r->c.kinds = kinds;
	r->types_due = r->fit_due = true;
	r->c.wake(r->c.cookie);
}

size_t runner_living(const struct runner *r)
{
	return r->living;
}

void runner_stop(struct runner *r, int64_t grace)
{
	if (!r->stopping || r->stop_grace < 0 || (grace >= 0 && grace < r->stop_grace))
		r->stop_grace = grace;
	r->stopping = true;
	r->c.wake(r->c.cookie);
}

/* With us they end, whatever they do. */
static void kill_tied(struct runner *r)
{
	for (struct runner_pod *p = r->first_pod; p; p = p->next) {
		if (p->stage != RUN_LIVES)
			continue;
		kill(p->pid, SIGKILL);
		pod_reap(p->folder, r->c.clock, NULL);
		waitpid(p->pid, NULL, 0);
	}
}

/* Other clusters' groups may be in it: then it stays. */
static void remove_group(void)
{
	struct cgroup_mounts mounts;
	char path[CGROUP_PATH + 16];

	cgroup_mounts_find(&mounts);
	for (size_t i = 0; i < mounts.n; i++) {
		snprintf(path, sizeof(path), "%s/dljob", mounts.v[i].path);
		rmdir(path);
	}
}

void runner_free(struct runner *r)
{
	if (!r)
		return;
	if (r->c.tied)
		kill_tied(r);
	watch_stop(r);
	while (r->first_pod) {
		struct runner_pod *p = r->first_pod;

		p->stage = RUN_ENDED;
		pods_drop(r, p);
	}
	while (r->first_unit)
		units_free(r, r->first_unit);
	hosts_free(r);
	kept_free(r);
	map_release(&r->pods);
	map_release(&r->units);
	process_close(r);
	remove_group();
	arena_release(&r->round);
	arena_release(&r->arena);
	free(r);
}
