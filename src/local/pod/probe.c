#include "local/pod/probe.h"

#include "local/pod/container.h"
#include "local/pod/helper.h"
#include "local/pod/parent.h"
#include "local/pod/probe_net.h"
#include "local/pod/stop.h"

#include <sys/wait.h>

static const char *const what_names[] = { "Startup", "Readiness", "Liveness" };

static const struct pod_probe *spec_of(const struct pod_container *c, enum probe_what what)
{
	switch (what) {
	case PROBE_STARTUP:
		return &c->startup;
	case PROBE_READINESS:
		return &c->readiness;
	case PROBE_LIVENESS:
	case PROBE_COUNT:
		break;
	}
	return &c->liveness;
}

void probes_arm(struct proc_container *c)
{
	for (int i = 0; i < PROBE_COUNT; i++)
		c->probes[i] = (struct probe){
			.c = c, .what = (enum probe_what)i, .spec = spec_of(c->spec, (enum probe_what)i), .fd = -1
		};
}

void probes_disarm(struct proc_container *c)
{
	for (int i = 0; i < PROBE_COUNT; i++) {
		helper_kill(&c->probes[i].helper);
		probe_net_end(&c->probes[i]);
		c->probes[i].busy = false;
		c->probes[i].next = 0;
	}
}

static void complain(struct probe *pr, const char *why)
{
	struct proc_container *c = pr->c;
	char text[512];

	snprintf(text, sizeof(text), "%s probe failed: %s", what_names[pr->what], why);
	/* Repeated ones share the text, so that a day of them takes no memory. */
	if (!str_eqc(c->state->problem, text))
		c->state->problem = arena_str(&c->pod->arena, str_c(text));
	c->state->problems++;
	pod_changed(c->pod);
}

static void act_on_failure(struct probe *pr)
{
	struct proc_container *c = pr->c;
	int64_t grace = pr->spec->grace >= 0 ? pr->spec->grace : c->pod->spec.grace;

	if (pr->what == PROBE_READINESS) {
		container_set_ready(c, false);
		return;
	}
	stop_container(c, loop_now(c->pod->loop) + grace);
}

static void act_on_success(struct probe *pr)
{
	struct pod_container_state *s = pr->c->state;

	if (pr->what == PROBE_READINESS)
		container_set_ready(pr->c, true);
	if (pr->what == PROBE_STARTUP && !s->started) {
		s->started = true;
		container_set_ready(pr->c, pr->c->spec->readiness.kind == POD_PROBE_NONE);
		pod_changed(pr->c->pod);
	}
}

/* WHY NULL: it is ok. */
static void result(struct probe *pr, const char *why)
{
	pr->busy = false;
	pr->next = loop_now(pr->c->pod->loop) + pr->spec->period;
	probe_net_end(pr);
	if (why) {
		complain(pr, why);
		pr->good = 0;
		if (++pr->bad >= pr->spec->failure)
			act_on_failure(pr);
	} else {
		pr->bad = 0;
		if (++pr->good >= pr->spec->success)
			act_on_success(pr);
	}
}

static void begin(struct probe *pr, msec now)
{
	char why[256];

	pr->busy = true;
	pr->deadline = now + pr->spec->timeout;
	if (pr->spec->kind == POD_PROBE_EXEC) {
		if (!helper_start(&pr->helper, pr->c, &pr->spec->command, pr->deadline))
			result(pr, "no process could be started");
	} else if (!probe_net_begin(pr, why)) {
		result(pr, why);
	}
}

static void look_at_exec(struct probe *pr, msec now)
{
	struct pod_helper *h = &pr->helper;
	char why[64];

	helper_step(h, pr->c->pod, now);
	if (!h->done)
		return;
	h->done = false;
	if (h->timed_out) {
		snprintf(why, sizeof(why), "timed out after %lld s", (long long)(pr->spec->timeout / 1000));
		result(pr, why);
	} else if (!WIFEXITED(h->status) || WEXITSTATUS(h->status) != 0) {
		snprintf(why, sizeof(why), "the command ended with %d",
		         WIFEXITED(h->status) ? WEXITSTATUS(h->status) : 128 + WTERMSIG(h->status));
		result(pr, why);
	} else {
		result(pr, NULL);
	}
}

static void look_at_net(struct probe *pr, msec now)
{
	char why[256];

	switch (probe_net_look(pr, why)) {
	case PROBE_NET_GOOD:
		result(pr, NULL);
		return;
	case PROBE_NET_BAD:
		result(pr, why);
		return;
	case PROBE_NET_BUSY:
		break;
	}
	if (now >= pr->deadline)
		result(pr, "no answer in time");
	else
		pod_wake_at(pr->c->pod, pr->deadline);
}

static void step_probe(struct probe *pr, msec now)
{
	struct proc_container *c = pr->c;

	if (pr->spec->kind == POD_PROBE_NONE || (pr->what == PROBE_STARTUP) == c->state->started)
		return;
	if (!pr->next)
		pr->next = MAX(now, c->began_at + pr->spec->initial_delay);
	if (!pr->busy && now >= pr->next)
		begin(pr, now);
	if (pr->busy && pr->spec->kind == POD_PROBE_EXEC)
		look_at_exec(pr, now);
	else if (pr->busy)
		look_at_net(pr, now);
	if (!pr->busy)
		pod_wake_at(c->pod, pr->next);
}

void probes_step(struct proc_container *c, msec now)
{
	if (!container_runs(c) || !c->began || c->reaped || c->stop)
		return;
	for (int i = 0; i < PROBE_COUNT; i++)
		step_probe(&c->probes[i], now);
}
