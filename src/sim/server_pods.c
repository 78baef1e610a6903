/* The simulated API server's pods and services. */
#include "base/http_code.h"
#include "base/list.h"
#include "sim/check.h"
#include "sim/kubelet.h"
#include "sim/manifest.h"
#include "sim/nodes.h"
#include "sim/server.h"
#include "sim/sim.h"

static void show_pod(struct sim *s, struct sim_pod *p, bool gone)
{
	struct sim_version *v = arena_new(s->arena, struct sim_version);
	struct pod *copy = arena_raw(s->arena, sizeof(*copy));
	struct container *containers = arena_raw(s->arena, sizeof(p->containers));

	*copy = p->now;
	memcpy(containers, p->containers, sizeof(p->containers));
	copy->containers = containers;
	v->object = (struct object){ .resource = RES_POD, .pod = copy };
	v->seq = s->rv;
	v->size = p->size;
	v->pod = p;
	p->version = v;
	if (p->labelled)
		stream_push(s, RES_POD, v, gone);
}

void server_pod_changed(struct sim *s, struct sim_pod *p)
{
	struct str reason = p->containers[p->main].reason;

	if (p->job && !p->job->uncreated && (str_eqc(reason, "ErrImagePull") || str_eqc(reason, "ImagePullBackOff")))
		p->job->uncreated = s->now;
	p->now.meta.rv = server_next_rv(s);
	show_pod(s, p, false);
}

static void link_to_job(struct sim_pod *p)
{
	if (!p->job)
		return;
	list_push(&p->job->pods, p);
}

/* Somebody's finalizer: it is asked to go, and stays. */
static void hold_pod(struct sim *s, struct sim_pod *p)
{
	bool told = p->now.meta.deleted && p->now.meta.deleted <= s->now && p->stage == STAGE_STOPPING;

	s->tally->hits[p->held == NEVER ? HIT_HELD_FOR_EVER : HIT_HELD]++;
	p->stage = STAGE_STOPPING;
	if (!p->now.meta.deleted || p->now.meta.deleted > s->now) {
		p->now.meta.deleted = server_whole(s->now);
		p->now.meta.grace = 0;
	}
	if (p->timer)
		sim_move(s, p->timer, p->held);
	else
		p->timer = sim_at(s, p->held, EV_POD, p);
	if (!told)
		server_pod_changed(s, p);
}

void server_remove_pod(struct sim *s, struct sim_pod *p)
{
	if (p->stage == STAGE_GONE)
		return;
	if (s->now < p->held) {
		hold_pod(s, p);
		return;
	}
	TRACE(s, "pod %.*s is gone", STR_F(p->now.meta.name));
	if (p->on)
		nodes_pod_left(s, p->on, p);
	sim_cancel(s, p->timer);
	p->stage = STAGE_GONE;
	map_del(&s->pods, p->now.meta.name);
	if (p->job) {
		list_drop(&p->job->pods, p);
	}
	p->now.meta.rv = server_next_rv(s);
	show_pod(s, p, true);
	/* The last child lets a job go that was deleted in the foreground. */
	if (p->job && p->job->deleting)
		server_collect(s, p->job);
}

void server_delete_pod(struct sim *s, struct sim_pod *p, int32_t grace)
{
	bool ended = p->now.phase == POD_SUCCEEDED || p->now.phase == POD_FAILED;

	if (p->stage == STAGE_GONE)
		return;
	if (grace < 0)
		grace = SIM_GRACE;
	if (p->now.meta.deleted && s->now < p->held && grace)
		return;
	if (grace == 0 || !p->on || ended) {
		/* Whether the last event shows a deletionTimestamp is up to the server. */
		if (rng_one_in(&s->rng, 2) && s->now >= p->held) {
			p->now.meta.deleted = server_whole(s->now);
			p->now.meta.grace = 0;
		}
		server_remove_pod(s, p);
		return;
	}
	if (p->now.meta.deleted)
		return;
	p->now.meta.deleted = server_whole(s->now) + SECONDS(grace);
	p->now.meta.grace = grace;
	p->now.ready = false;
	kubelet_stop(s, p);
	server_pod_changed(s, p);
}

void server_pod_unlabel(struct sim *s, struct sim_pod *p)
{
	/* The watch selects on the label: to it the pod is gone, in its last state that it saw. */
	p->labelled = false;
	p->hidden = true;
	stream_push(s, RES_POD, p->version, true);
	p->now.job_uid = STR_NONE;
	server_pod_changed(s, p);
}

static struct sim_pod *add_pod(struct sim *s, const struct pod *like, struct sim_job *job)
{
	struct sim_pod *p = arena_new(s->arena, struct sim_pod);

	p->now = *like;
	p->now.containers = p->containers;
	p->now.phase = POD_PENDING;
	p->labelled = like->job_uid.n > 0;
	p->job = job;
	p->role = SIM_ROLES;
	map_put(&s->pods, p->now.meta.name, p);
	link_to_job(p);
	return p;
}

struct sim_pod *server_foreign_pod(struct sim *s, struct str name, struct sim_job *impostor_of)
{
	struct pod like = { .index = -1 };
	struct sim_pod *p;

	if (map_get(&s->pods, name))
		return NULL;
	like.meta = server_new_meta(s, name, STR("somebody-else"));
	if (impostor_of) {
		like.job_uid = impostor_of->uid;
		like.role = str_c(manifest_role_name(impostor_of->wish.kind, 1));
		like.index = (int32_t)rng_below(&s->rng, 3);
	}
	p = add_pod(s, &like, NULL);
	p->foreign = true;
	p->stage = STAGE_RUNNING;
	p->now.phase = POD_RUNNING;
	s->n_foreign++;
	show_pod(s, p, false);
	TRACE(s, "somebody else makes pod %.*s", STR_F(name));
	return p;
}

/* As the API server's admission plugin does it, at the quicker pace of these runs. */
static void default_toleration(int32_t *seconds)
{
	if (*seconds < 0)
		*seconds = SIM_TOLERATION;
}

int server_create_pod(struct sim *s, struct sim_request *r, struct outcome *o)
{
	struct sim_job *job = map_get(&s->jobs_by_uid, r->owner_uid);
	struct pod like = r->pod;
	struct sim_pod *p;

	if (map_get(&s->pods, r->r.name)) {
		o->reason = STR("AlreadyExists");
		s->tally->hits[HIT_EXISTS]++;
		return HTTP_CONFLICT;
	}
	like.meta = server_new_meta(s, r->r.name, r->owner_uid);
	p = add_pod(s, &like, job);
	p->now.n_containers = r->n_containers;
	memcpy(p->containers, r->pod.containers, r->n_containers * sizeof(struct container));
	p->main = r->n_containers > 1 && r->pod.containers[0].init;
	p->in_place = r->in_place;
	p->sidecar_again = r->sidecar_again;
	default_toleration(&p->now.tolerations.not_ready);
	default_toleration(&p->now.tolerations.unreachable);
	p->late = r->link != s->link;
	p->by = r->link;
	p->made = s->now;
	/* Somebody's webhook has made it so. */
	p->size = sim_chance(s, 60) ? SIZE_LARGE : SIZE_USUAL;
	p->index = like.index;
	p->born = like.generation;
	if (job)
		p->role = manifest_role(job->wish.kind, p->now.role);
	s->tally->pods++;
	show_pod(s, p, false);
	kubelet_new(s, p);
	check_pod_made(s, p);
	/* Its owner may be gone already. */
	if (!job || !job->exists)
		sim_at(s, s->now + sim_between(s, 100, 3000), EV_COLLECT, job);
	r->answered = p->version;
	return HTTP_CREATED;
}

/* Services */

static void show_service(struct sim *s, struct sim_service *v, bool gone)
{
	struct sim_version *ver = arena_new(s->arena, struct sim_version);
	struct service *copy = arena_raw(s->arena, sizeof(*copy));

	*copy = v->now;
	ver->object = (struct object){ .resource = RES_SERVICE, .service = copy };
	ver->seq = s->rv;
	ver->size = v->size;
	v->version = ver;
	if (v->labelled)
		stream_push(s, RES_SERVICE, ver, gone);
}

void server_service_changed(struct sim *s, struct sim_service *v)
{
	v->now.meta.rv = server_next_rv(s);
	show_service(s, v, false);
}

void server_remove_service(struct sim *s, struct sim_service *v)
{
	map_del(&s->services, v->now.meta.name);
	if (v->job) {
		list_drop(&v->job->services, v);
	}
	v->now.meta.rv = server_next_rv(s);
	show_service(s, v, true);
	if (v->job && v->job->deleting)
		server_collect(s, v->job);
}

int server_create_service(struct sim *s, struct sim_request *r, struct outcome *o)
{
	struct sim_job *job = map_get(&s->jobs_by_uid, r->owner_uid);
	struct sim_service *v;

	if (map_get(&s->services, r->r.name)) {
		o->reason = STR("AlreadyExists");
		s->tally->hits[HIT_EXISTS]++;
		return HTTP_CONFLICT;
	}
	v = arena_new(s->arena, struct sim_service);
	v->now = r->service;
	v->now.meta = server_new_meta(s, r->r.name, r->owner_uid);
	v->labelled = v->now.job_uid.n > 0;
	v->job = job;
	map_put(&s->services, v->now.meta.name, v);
	if (job) {
		list_push(&job->services, v);
	}
	show_service(s, v, false);
	if (!job || !job->exists)
		sim_at(s, s->now + sim_between(s, 100, 3000), EV_COLLECT, job);
	r->answered = v->version;
	return HTTP_CREATED;
}
