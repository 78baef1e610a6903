#include "local/runner/admit.h"

#include "local/runner/companion.h"
#include "local/runner/call.h"
#include "local/runner/events.h"
#include "local/runner/pods.h"
#include "local/runner/status.h"
#include "local/runner/units.h"

typedef VEC(struct fit_job) fit_vec;

static void taken_gpus(const struct runner *r, struct gpu_set *ret)
{
	ret->n = 0;
	for (const struct runner_pod *p = r->first_pod; p; p = p->next)
		if (p->stage == RUN_BOUND || p->stage == RUN_LIVES)
			gpus_add(ret, &p->gpus);
}

static bool take_gpus(struct runner *r, struct runner_pod *p)
{
	struct gpu_set all = { .n = 0 }, taken;

	if (p->wants.gpus <= 0 || (int64_t)p->gpus.n == p->wants.gpus)
		return true;
	for (int64_t i = 0; i < r->c.machine.gpus && all.n < MACHINE_GPUS_MAX; i++)
		all.v[all.n++] = r->c.gpus[i];
	taken_gpus(r, &taken);
	return gpus_pick(&p->gpus, &all, &taken, p->wants.gpus);
}

bool admit_gpus(struct runner *r, struct runner_pod *p)
{
	struct str body;
	char text[GPUS_TEXT];
	int code;

	if (p->wants.gpus <= 0 || (int64_t)p->gpus.n == p->wants.gpus)
		return true;
	if (!take_gpus(r, p))
		return false;
	body = arena_printf(&r->round, "{\"metadata\":{\"annotations\":{\"%s\":\"%s\"}}}", ANNOTATION_GPUS,
	                    gpus_write(&p->gpus, text));
	if (runner_patch_pod(r, p, false, body, &code, NULL))
		return true;
	p->gpus.n = 0;
	return false;
}

static void bind(struct runner *r, struct runner_pod *p)
{
	struct buf b = BUF_INIT(4096);
	char text[GPUS_TEXT];
	bool ok;
	int code;

	if (!take_gpus(r, p)) {
		status_unschedulable(r, p, STR("waiting for GPUs that other pods still hold"));
		return;
	}
	buf_printf(&b, "{\"spec\":{\"nodeName\":");
	buf_json_str(&b, r->node);
	buf_printf(&b, "}");
	if (p->gpus.n)
		buf_printf(&b, ",\"metadata\":{\"annotations\":{\"%s\":\"%s\"}}", ANNOTATION_GPUS,
		           gpus_write(&p->gpus, text));
	buf_printf(&b, "}");
	ok = runner_patch_pod(r, p, false, buf_str(&b), &code, NULL);
	buf_release(&b);
	if (!ok) {
		/* It is gone, or the disk is full: the next look tells. */
		p->gpus.n = 0;
		r->fit_due = true;
		runner_trouble(r);
		return;
	}
	p->scheduled = clock_now(r->c.clock);
	pods_set_stage(r, p, RUN_BOUND);
	event_say(r, p, EVENT_NORMAL, "Scheduled", STR_NONE, "Successfully assigned %s/%s to %.*s", p->ns, p->name,
	          STR_F(r->node));
}

static void keep_verdict(struct runner_unit *u, const struct fit_job *f)
{
	u->verdict = f->verdict;
	free(u->reason);
	u->reason = xstrndup(str_text(f->reason), f->reason.n);
	if (f->verdict == FIT_ADMITTED)
		u->admitted = true;
}

/* Those of which nothing runs and nothing waits take no part. */
static bool takes_part(const struct runner_unit *u)
{
	return u->admitted || u->unended;
}

static void decide(struct runner *r)
{
	fit_vec jobs = { 0 };
	size_t i = 0;

	for (struct runner_unit *u = r->first_unit; u; u = u->next) {
		if (!takes_part(u))
			continue;
		*vec_push(&r->round, &jobs) = (struct fit_job){
			.name = arena_printf(&r->round, "%s/%s", u->ns, u->name),
			.wants = units_want(u),
			.admitted = u->admitted,
		};
	}
	fit_jobs(&r->c.machine, jobs.v, jobs.n, &r->round);
	for (struct runner_unit *u = r->first_unit; u; u = u->next)
		if (takes_part(u))
			keep_verdict(u, &jobs.v[i++]);
}

static void carry_out(struct runner *r, struct runner_pod *p)
{
	if (r->cordoned) {
		status_unschedulable(r, p, STR("the node is cordoned: 'kubectl uncordon' lets pods start again"));
		return;
	}
	/* It is not of those that must start together. */
	if (companion_is(p)) {
		bind(r, p);
		return;
	}
	switch (p->unit->verdict) {
	case FIT_ADMITTED:
		bind(r, p);
		break;
	case FIT_WAITS:
		status_unschedulable(r, p, str_c(p->unit->reason));
		break;
	case FIT_NEVER:
		status_fail(r, p, "NeverFits", str_c(p->unit->reason));
		break;
	}
}

void admit(struct runner *r)
{
	if (!r->fit_due || r->stopping)
		return;
	r->fit_due = false;
	units_count(r);
	decide(r);
	for (struct runner_pod *p = r->first_pod; p; p = p->next)
		if (p->stage == RUN_WAITS && !p->gone && !pods_is_deleting(p))
			carry_out(r, p);
}
