#include "local/pod/stop.h"

#include "local/pod/container.h"
#include "local/pod/helper.h"
#include "local/pod/restart.h"

#include <signal.h>

void stop_container(struct proc_container *c, msec kill_at)
{
	if (!container_runs(c))
		return;
	if (!c->stop) {
		c->stop = true;
		c->kill_at = kill_at;
		pod_wake(c->pod);
		if (c->began && !c->reaped && c->spec->pre_stop.n)
			helper_start(&c->pre_stop, c, &c->spec->pre_stop, kill_at);
	}
	if (kill_at < c->kill_at) {
		c->kill_at = kill_at;
		pod_wake(c->pod);
	}
}

void stop_container_step(struct proc_container *c, msec now)
{
	if (!c->stop || c->killed)
		return;
	if (now >= c->kill_at) {
		helper_kill(&c->pre_stop);
		container_kill(c);
		c->killed = true;
		return;
	}
	helper_step(&c->pre_stop, c->pod, now);
	/* Before its program runs there is nobody who could tidy up. */
	if (!c->began && !c->reaped) {
		container_kill(c);
	} else if (!c->term_sent && c->pre_stop.pid == 0) {
		c->term_sent = true;
		container_signal(c, SIGTERM);
	}
	pod_wake_at(c->pod, c->kill_at);
}

void stop_begin(struct proc_pod *p, int64_t grace)
{
	msec at = loop_now(p->loop) + MAX(grace, (int64_t)0);

	p->stop_at = p->stopping || p->draining ? MIN(p->stop_at, at) : at;
	p->stopping = p->draining = true;
	if (p->state.life == POD_ALIVE)
		p->state.life = POD_STOPPING;
	pod_changed(p);
}

static bool has_ended(const struct proc_container *c)
{
	return c->state->now.run == POD_RUN_TERMINATED &&
	       !restart_wanted(c->pod->spec.restart, c->spec, c->state->now.exit_code);
}

void stop_judge_shutdown(struct proc_pod *p)
{
	bool ended = true;

	if (!p->shutdown)
		return;
	p->shutdown = false;
	for (size_t i = 0; i < p->spec.containers.n; i++)
		ended &= p->spec.containers.v[i].init || has_ended(&p->containers[i]);
	if (ended || p->state.reason.n)
		return;
	p->state.failed = true;
	p->state.reason = STR("NodeShutdown");
	p->state.message = STR("Pod was terminated in response to imminent node shutdown.");
	pod_changed(p);
}

void stop_step(struct proc_pod *p, msec now)
{
	bool any = false;

	(void)now;
	for (size_t i = 0; i < p->spec.containers.n; i++) {
		struct proc_container *c = &p->containers[i];

		if (c->spec->sidecar)
			continue;
		any |= container_runs(c);
		stop_container(c, p->stop_at);
	}
	for (size_t i = p->spec.containers.n; i > 0 && !any; i--) {
		struct proc_container *c = &p->containers[i - 1];

		any = container_runs(c);
		stop_container(c, p->stop_at);
	}
}
