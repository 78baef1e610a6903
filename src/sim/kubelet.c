/* What becomes of pods: the scheduler, the kubelets, and the programs that run. */
#include "sim/groups.h"
#include "sim/kubelet.h"
#include "sim/manifest.h"
#include "sim/server.h"
#include "sim/sim.h"
#include "sim/truth.h"

static msec whole(msec t)
{
	return t - t % 1000;
}

static void later(struct sim *s, struct sim_pod *p, msec from, msec to)
{
	msec at = s->now + sim_between(s, from, to);

	if (p->timer)
		sim_move(s, p->timer, at);
	else
		p->timer = sim_at(s, at, EV_POD, p);
}

static struct container *main_container(struct sim_pod *p)
{
	return &p->containers[p->main];
}

/* NULL: it has none. */
static struct container *sidecar(struct sim_pod *p)
{
	return p->now.n_containers > p->main + 1 ? &p->containers[p->main + 1] : NULL;
}

static bool scripted(const struct sim_pod *p)
{
	return p->job && p->job->wish.script != SCRIPT_WILD;
}

/* It ended in a way that may be counted. */
void kubelet_failure(struct sim *s, struct sim_pod *p)
{
	(void)s;
	if (!p->counted && p->job) {
		p->job->failures++;
		p->counted = true;
	}
}

void kubelet_new(struct sim *s, struct sim_pod *p)
{
	later(s, p, 50, s->quiet ? 500 : 3000);
}

static void ended(struct sim *s, struct sim_pod *p, enum pod_phase phase)
{
	p->now.phase = phase;
	p->now.ready = false;
	p->stage = STAGE_ENDED;
	server_pod_changed(s, p);
}

/* By the clock of its node. */
static msec node_time(const struct sim *s, const struct sim_pod *p)
{
	return whole(s->now + (p->on ? p->on->skew : 0));
}

static void container_ends(struct sim *s, const struct sim_pod *p, struct container *c, int32_t code, struct str reason)
{
	c->state = CONTAINER_TERMINATED;
	c->exit_code = code;
	c->finished = node_time(s, p);
	c->reason = reason;
}

static void container_starts(struct sim *s, const struct sim_pod *p, struct container *c)
{
	c->state = CONTAINER_RUNNING;
	c->reason = STR_NONE;
	c->started = node_time(s, p);
	c->exit_code = 0;
	c->finished = 0;
	c->comes_back = false;
}

static void schedule(struct sim *s, struct sim_pod *p)
{
	size_t from = scripted(p) ? 0 : rng_below(&s->rng, SIM_NODES), among = scripted(p) ? SIM_STABLE : SIM_NODES;

	for (size_t i = 0; i < among && groups_admit(s, p); i++) {
		struct sim_node *n = &s->nodes[(from + i) % among];

		if (!n->exists || !n->now.ready || n->now.out_of_service)
			continue;
		p->on = n;
		p->now.node = n->now.name;
		p->stage = STAGE_BOUND;
		server_pod_changed(s, p);
		later(s, p, 20, 2000);
		return;
	}
	p->now.message = STR("0/8 nodes are available");
	later(s, p, 2000, 6000);
}

static void reject(struct sim *s, struct sim_pod *p)
{
	s->tally->hits[HIT_REJECTED]++;
	TRACE(s, "kubelet rejects pod %.*s", STR_F(p->now.meta.name));
	p->now.reason = rng_one_in(&s->rng, 2) ? STR("OutOfcpu") : STR("UnexpectedAdmissionError");
	p->now.n_containers = 0;
	ended(s, p, POD_FAILED);
}

static void begin(struct sim *s, struct sim_pod *p)
{
	p->now.started = whole(s->now);
	if (!scripted(p) && sim_chance(s, 60)) {
		reject(s, p);
		return;
	}
	p->stage = STAGE_ADMITTED;
	main_container(p)->reason = STR("PodInitializing");
	later(s, p, 20, 1000);
	server_pod_changed(s, p);
}

/* Nobody reaches the registry. */
static bool registry_is_away(const struct sim *s, const struct sim_pod *p)
{
	return !scripted(p) && !s->quiet && s->now < s->registry_until;
}

/* What has been pulled for long fails once, and the next try succeeds. */
static bool pull_fails(struct sim *s, struct sim_pod *p)
{
	if (!p->slow_pull)
		return false;
	p->slow_pull = false;
	main_container(p)->reason = STR("ErrImagePull");
	kubelet_failure(s, p);
	server_pod_changed(s, p);
	later(s, p, 500, 5000);
	return true;
}

static void pull(struct sim *s, struct sim_pod *p)
{
	p->stage = STAGE_STARTING;
	if (!scripted(p) && sim_chance(s, 30)) {
		s->tally->hits[HIT_SLOW_PULL]++;
		p->slow_pull = true;
		main_container(p)->reason = STR("ContainerCreating");
		later(s, p, 15000, 60000);
	} else if (registry_is_away(s, p)) {
		s->tally->hits[HIT_REGISTRY]++;
		main_container(p)->reason = STR("ImagePullBackOff");
		kubelet_failure(s, p);
		later(s, p, 5000, 30000);
	} else if (!scripted(p) && sim_chance(s, 40)) {
		s->tally->hits[HIT_IMAGE]++;
		main_container(p)->reason = rng_one_in(&s->rng, 8) ? STR("InvalidImageName") : STR("ImagePullBackOff");
		p->stuck = rng_one_in(&s->rng, 2) || str_eqc(main_container(p)->reason, "InvalidImageName");
		kubelet_failure(s, p);
		later(s, p, 5000, 30000);
	} else {
		main_container(p)->reason = STR("ContainerCreating");
		later(s, p, 20, 3000);
	}
	server_pod_changed(s, p);
}

static void start_pod(struct sim *s, struct sim_pod *p)
{
	struct container *c = main_container(p), *beside = sidecar(p);
	/* Not again where only its main container starts again. */
	bool prepares = p->main && p->containers[0].state == CONTAINER_WAITING;

	if (pull_fails(s, p))
		return;
	if ((p->stuck && !s->quiet) || registry_is_away(s, p)) {
		later(s, p, 20000, 60000);
		return;
	}
	/* Only another manifest mends a wrong name, and nobody writes one for a job that ends by it. */
	if (str_eqc(c->reason, "InvalidImageName") && !(p->job && p->job->has_run)) {
		if (!s->quiet)
			later(s, p, 20000, 60000);
		return;
	}
	if (prepares && !scripted(p) && sim_chance(s, 12)) {
		s->tally->hits[HIT_INIT]++;
		kubelet_failure(s, p);
		container_ends(s, p, &p->containers[0], (int32_t)rng_between(&s->rng, 1, 255), STR("Error"));
		ended(s, p, POD_FAILED);
		return;
	}
	if (prepares)
		container_ends(s, p, &p->containers[0], 0, STR("Completed"));
	container_starts(s, p, c);
	if (beside && beside->state == CONTAINER_WAITING)
		container_starts(s, p, beside);
	p->now.phase = POD_RUNNING;
	p->stage = STAGE_UP;
	server_pod_changed(s, p);
	later(s, p, 10, 1500);
}

static void ready(struct sim *s, struct sim_pod *p)
{
	p->now.ready = true;
	p->stage = STAGE_RUNNING;
	server_pod_changed(s, p);
	if (!s->quiet || !manifest_serves(p->job ? p->job->wish.kind : 0, p->role))
		later(s, p, 1000, s->quiet ? 10000 : 60000);
}

static int32_t wild_code(struct sim *s, struct sim_pod *p, struct str *reason)
{
	*reason = STR("Error");
	if (s->quiet || rng_one_in(&s->rng, 2)) {
		*reason = STR("Completed");
		return 0;
	}
	switch (rng_below(&s->rng, 4)) {
	case 0:
		s->tally->hits[HIT_OOM]++;
		*reason = STR("OOMKilled");
		return 137;
	case 1:
		s->tally->hits[HIT_EXIT_PERMANENT]++;
		return (int32_t)rng_between(&s->rng, 1, 127);
	default:
		s->tally->hits[HIT_EXIT_RETRY]++;
		(void)p;
		return rng_one_in(&s->rng, 2) ? 137 : (int32_t)rng_between(&s->rng, 128, 255);
	}
}

/* What a job with a known end does. False: it runs on. */
static bool scripted_code(struct sim *s, struct sim_pod *p, int32_t *code)
{
	const struct sim_wish *w = &p->job->wish;
	bool chief = manifest_chief(w, p->role, p->now.index);

	*code = 0;
	if (w->script == SCRIPT_FLAKY && manifest_flaky(w, p->role, p->now.index)) {
		if (p->now.generation < w->flaky)
			*code = 137;
		else
			p->job->flaky_done = true;
		return true;
	}
	if (w->script == SCRIPT_PERMANENT && chief) {
		*code = 1;
		return true;
	}
	/* The chief waits for the one that everything is about. */
	(void)s;
	return !(w->script == SCRIPT_FLAKY && chief && !p->job->flaky_done);
}

/* The kubelet starts the container again, and the pod runs on: nobody has failed. */
static bool in_place(struct sim *s, struct sim_pod *p, int32_t code)
{
	if (!p->in_place || !code || s->quiet || rng_one_in(&s->rng, 3))
		return false;
	TRACE(s, "container of pod %.*s ends with %d and starts again", STR_F(p->now.meta.name), code);
	s->tally->hits[HIT_IN_PLACE]++;
	container_ends(s, p, main_container(p), code, STR("Error"));
	main_container(p)->comes_back = true;
	p->stage = STAGE_STARTING;
	server_pod_changed(s, p);
	later(s, p, 100, 20000);
	return true;
}

/* The kubelet starts the sidecar again, whatever becomes of the container that counts. */
static bool restarts_sidecar(struct sim *s, struct sim_pod *p)
{
	struct container *c = sidecar(p);

	if (!c || !p->sidecar_again || !sim_chance(s, 3))
		return false;
	if (c->state == CONTAINER_RUNNING) {
		s->tally->hits[HIT_SIDECAR_AGAIN]++;
		container_ends(s, p, c, (int32_t)rng_below(&s->rng, 3), STR("Error"));
		c->comes_back = true;
	} else {
		container_starts(s, p, c);
	}
	server_pod_changed(s, p);
	later(s, p, 100, 20000);
	return true;
}

static enum pod_phase phase_of(struct sim_pod *p)
{
	bool bad = false;

	for (size_t i = 0; i < p->now.n_containers; i++)
		bad |= p->containers[i].exit_code != 0;
	return bad ? POD_FAILED : POD_SUCCEEDED;
}

/* What counts has ended, and another container keeps the pod: for a while, or until somebody deletes it. */
static bool stays_beside(struct sim *s, struct sim_pod *p)
{
	struct container *c = sidecar(p);

	if (!c)
		return false;
	if (!p->sidecar_again && (c->state != CONTAINER_RUNNING || rng_one_in(&s->rng, 3))) {
		if (c->state == CONTAINER_RUNNING)
			container_ends(s, p, c, 0, STR("Completed"));
		return false;
	}
	TRACE(s, "  … and its sidecar runs on");
	s->tally->hits[HIT_BESIDE]++;
	p->stage = STAGE_BESIDE;
	p->now.ready = false;
	server_pod_changed(s, p);
	if (p->sidecar_again || rng_one_in(&s->rng, 2))
		later(s, p, 1000, 600000);
	return true;
}

static void end_sidecar(struct sim *s, struct sim_pod *p)
{
	/* One that comes back does so for ever. */
	if (p->sidecar_again) {
		if (!restarts_sidecar(s, p) && !s->quiet)
			later(s, p, 1000, 60000);
		return;
	}
	container_ends(s, p, sidecar(p), (int32_t)rng_below(&s->rng, 2), STR("Completed"));
	ended(s, p, phase_of(p));
}

static void end(struct sim *s, struct sim_pod *p)
{
	size_t kind = p->job ? p->job->wish.kind : 0;
	struct str reason = STR("Error");
	int32_t code;

	if (restarts_sidecar(s, p))
		return;
	if (scripted(p)) {
		if (manifest_serves(kind, p->role))
			return;
		if (!scripted_code(s, p, &code)) {
			later(s, p, 1000, 5000);
			return;
		}
	} else {
		/* What serves has no reason to end but a bad one. */
		if (manifest_serves(kind, p->role) && (s->quiet || !rng_one_in(&s->rng, 6))) {
			if (!s->quiet)
				later(s, p, 5000, 60000);
			return;
		}
		code = wild_code(s, p, &reason);
	}
	if (in_place(s, p, code))
		return;
	TRACE(s, "pod %.*s ends with %d", STR_F(p->now.meta.name), code);
	/* What does not count has no good end either. */
	if (code || p->role == SIM_ROLES)
		kubelet_failure(s, p);
	else
		truth_succeeded(s, p);
	container_ends(s, p, main_container(p), code, code ? reason : STR("Completed"));
	if (!stays_beside(s, p))
		ended(s, p, phase_of(p));
}

/* SIGTERM: some programs take it as a good end. */
static void stopped(struct sim *s, struct sim_pod *p)
{
	/* One that was rejected has none. */
	struct container *c = p->now.n_containers ? main_container(p) : NULL;
	bool good = rng_one_in(&s->rng, 3);

	if (c && c->state == CONTAINER_RUNNING && rng_one_in(&s->rng, 2)) {
		s->tally->hits[HIT_SIGTERM_ZERO] += good;
		container_ends(s, p, c, good ? 0 : 143, good ? STR("Completed") : STR("Error"));
		if (sidecar(p))
			container_ends(s, p, sidecar(p), rng_one_in(&s->rng, 2) ? 143 : 0, STR("Error"));
		p->now.phase = phase_of(p);
		server_pod_changed(s, p);
		later(s, p, 1, 500);
		return;
	}
	server_remove_pod(s, p);
}

void kubelet_stop(struct sim *s, struct sim_pod *p)
{
	p->stage = STAGE_STOPPING;
	later(s, p, 100, s->quiet ? 3000 : 20000);
}

/* The kubelet does not find it any more when it writes the pod's last status. */
static void lose_container(struct container *c)
{
	c->state = CONTAINER_WAITING;
	c->reason = STR("ContainerCreating");
	c->started = 0;
	c->ran = true;
}

/* Not always does the kubelet tell how its containers went. */
static void killed(struct sim *s, struct sim_pod *p)
{
	if (p->stage != STAGE_BESIDE && rng_one_in(&s->rng, 2))
		container_ends(s, p, main_container(p), 137, STR("Error"));
	else if (main_container(p)->state == CONTAINER_RUNNING && rng_one_in(&s->rng, 2))
		lose_container(main_container(p));
	ended(s, p, POD_FAILED);
}

/* Its program takes SIGTERM for a good end, and nobody asks for the pod's deletion: it is Succeeded. */
static bool stops_well(struct sim *s, struct sim_pod *p)
{
	if (main_container(p)->state != CONTAINER_RUNNING || rng_one_in(&s->rng, 3))
		return false;
	s->tally->hits[HIT_STOPPED_ZERO]++;
	for (size_t i = p->main; i < p->now.n_containers; i++)
		container_ends(s, p, &p->containers[i], 0, STR("Completed"));
	ended(s, p, POD_SUCCEEDED);
	return true;
}

/* By the kubelet itself. */
static void stop_in_place(struct sim *s, struct sim_pod *p, struct str reason)
{
	p->now.disrupted = true;
	p->now.disrupted_at = node_time(s, p);
	if (stops_well(s, p))
		return;
	p->now.reason = reason;
	killed(s, p);
}

void kubelet_evict(struct sim *s, struct sim_pod *p)
{
	if (!p->on || p->stage >= STAGE_ENDED || !p->now.n_containers)
		return;
	TRACE(s, "pod %.*s is evicted", STR_F(p->now.meta.name));
	if (rng_one_in(&s->rng, 3)) {
		/* It has used more storage than it said: its own fault. */
		s->tally->hits[HIT_OVERUSE]++;
		kubelet_failure(s, p);
		p->now.reason = STR("Evicted");
		killed(s, p);
		return;
	}
	s->tally->hits[HIT_EVICTED]++;
	if (rng_one_in(&s->rng, 2)) {
		/* By the API: asked to go, like any other. */
		p->now.disrupted = true;
		p->now.disrupted_at = whole(s->now);
		server_pod_changed(s, p);
		server_delete_pod(s, p, -1);
		return;
	}
	stop_in_place(s, p, STR("Evicted"));
}

void kubelet_shutdown(struct sim *s, struct sim_pod *p)
{
	if (p->stage >= STAGE_ENDED || p->now.meta.deleted || !p->now.n_containers)
		return;
	TRACE(s, "pod %.*s is stopped with its node", STR_F(p->now.meta.name));
	p->now.disrupter = STR("TerminationByKubelet");
	stop_in_place(s, p, STR("Terminated"));
}

void kubelet_timer(struct sim *s, struct sim_pod *p)
{
	/* A kubelet that is cut off does nothing; it goes on when it is back. */
	if (p->on && !p->on->now.ready && p->stage != STAGE_GONE) {
		later(s, p, 3000, 10000);
		return;
	}
	switch (p->stage) {
	case STAGE_NEW:
		schedule(s, p);
		break;
	case STAGE_BOUND:
		begin(s, p);
		break;
	case STAGE_ADMITTED:
		pull(s, p);
		break;
	case STAGE_STARTING:
		start_pod(s, p);
		break;
	case STAGE_UP:
		ready(s, p);
		break;
	case STAGE_RUNNING:
		end(s, p);
		break;
	case STAGE_BESIDE:
		end_sidecar(s, p);
		break;
	case STAGE_STOPPING:
		stopped(s, p);
		break;
	case STAGE_ENDED:
	case STAGE_GONE:
		break;
	}
}
