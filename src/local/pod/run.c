#include "local/pod/run.h"

#include "local/pod/container.h"
#include "local/pod/restart.h"

static void back_off(struct proc_container *c, msec now)
{
	const struct pod_spec *s = &c->pod->spec;

	c->retry_at = restart_at(c, now);
	if (c->retry_at <= now)
		return;
	c->state->last = c->state->now;
	c->state->now = (struct pod_container_run){ .run = POD_RUN_WAITING, .reason = STR("CrashLoopBackOff") };
	c->state->now.message =
		arena_printf(&c->pod->arena, "back-off %llds restarting failed container=%.*s pod=%.*s_%.*s(%.*s)",
	                     (long long)((c->retry_at - now) / 1000), STR_F(c->spec->name), STR_F(s->name),
	                     STR_F(s->ns), STR_F(s->uid));
	pod_changed(c->pod);
}

static void start_again(struct proc_container *c, msec now)
{
	if (c->state->now.run == POD_RUN_TERMINATED)
		c->state->last = c->state->now;
	c->state->restarts++;
	c->last_restart = now;
	c->retry_at = 0;
	container_start(c);
}

/* Starts it if it is due. */
static void keep_running(struct proc_container *c, msec now)
{
	struct proc_pod *p = c->pod;

	if (container_runs(c) || c->finished)
		return;
	if (!c->retry_at && c->state->now.run == POD_RUN_WAITING) {
		container_start(c);
		return;
	}
	if (!c->retry_at) {
		if (!restart_wanted(p->spec.restart, c->spec, c->state->now.exit_code)) {
			c->finished = true;
			return;
		}
		back_off(c, now);
	}
	if (now >= c->retry_at)
		start_again(c, now);
	else
		pod_wake_at(p, c->retry_at);
}

/* May what comes after it begin? */
static bool init_step(struct proc_container *c, msec now)
{
	keep_running(c, now);
	if (c->spec->sidecar)
		return c->state->started;
	return c->finished && c->state->now.exit_code == 0;
}

static bool any_init_failed(const struct proc_pod *p)
{
	for (size_t i = 0; i < p->spec.containers.n; i++) {
		const struct proc_container *c = &p->containers[i];

		if (c->spec->init && !c->spec->sidecar && c->finished && c->state->now.exit_code != 0)
			return true;
	}
	return false;
}

static bool mains_finished(const struct proc_pod *p)
{
	for (size_t i = 0; i < p->spec.containers.n; i++)
		if (!p->containers[i].spec->init && !p->containers[i].finished)
			return false;
	return true;
}

void run_step(struct proc_pod *p, msec now)
{
	for (size_t i = 0; i < p->spec.containers.n; i++) {
		struct proc_container *c = &p->containers[i];

		if (!c->spec->init)
			keep_running(c, now);
		else if (!init_step(c, now) && !p->initialized)
			break;
		if (!p->initialized && (i + 1 == p->spec.containers.n || !p->containers[i + 1].spec->init)) {
			p->initialized = true;
			pod_changed(p);
		}
	}
	if (any_init_failed(p) || mains_finished(p)) {
		p->draining = true;
		p->stop_at = now + p->spec.grace;
	}
}

bool run_is_over(const struct proc_pod *p)
{
	if (!p->draining)
		return false;
	for (size_t i = 0; i < p->spec.containers.n; i++)
		if (container_runs(&p->containers[i]))
			return false;
	return true;
}
