/* What people do to their jobs, and to things that are not theirs. */
#include "sim/groups.h"
#include "sim/kubelet.h"
#include "sim/manifest.h"
#include "sim/server.h"
#include "sim/sim.h"
#include "sim/users.h"

static struct sim_job *pick(struct sim *s)
{
	size_t n = 0;
	struct sim_job *found = NULL;

	for (struct sim_job *j = s->all_jobs; j; j = j->next)
		if (j->exists && !j->deleting && j->wish.script == SCRIPT_WILD && rng_one_in(&s->rng, ++n))
			found = j;
	return found;
}

static struct sim_pod *pick_pod(struct sim *s, struct sim_job *job)
{
	size_t n = 0;
	struct sim_pod *found = NULL;

	for (struct sim_pod *p = job->pods; p; p = p->next)
		if (rng_one_in(&s->rng, ++n))
			found = p;
	return found;
}

/* A template that the server does not take: all of them, or that of one role. The others run, fail and are restarted
   meanwhile. */
static void spoil(struct sim *s, struct sim_job *job)
{
	const struct job *spec = kind_job(job->spec);
	const struct role *role = spec->n_roles ? &spec->roles[rng_below(&s->rng, spec->n_roles)] : NULL;

	job->refuse = job->was_refused = true;
	if (role && !role->aux && rng_one_in(&s->rng, 2))
		job->refused_role = arena_str(s->arena, role->name);
}

static void make(struct sim *s, const struct sim_wish *w, struct str name)
{
	struct sim_job *job = server_create_job(s, w, name);

	if (!job)
		return;
	if (w->script == SCRIPT_WILD && rng_one_in(&s->rng, 25))
		spoil(s, job);
	TRACE(s, "user makes %s %.*s (%.*s), script %d flaky %d limit %d", manifest_kind_id(w->kind), STR_F(name),
	      STR_F(job->uid), (int)w->script, w->flaky, w->limit);
}

static void new_job(struct sim *s)
{
	struct sim_wish w = manifest_wish(s);
	struct str name = arena_printf(s->arena, "job-%d", (int)rng_below(&s->rng, SIM_NAMES));

	/* A name that others have taken, where names can be foreseen. */
	if (w.script == SCRIPT_WILD && manifest_plain_names(w.kind) && rng_one_in(&s->rng, 4) && !s->n_foreign) {
		s->tally->hits[HIT_FOREIGN]++;
		server_foreign_pod(s, arena_printf(s->arena, "%s-%.*s-0", manifest_role_name(w.kind, 1), STR_F(name)),
		                   NULL);
	}
	make(s, &w, name);
}

static void delete_job(struct sim *s, struct sim_job *job)
{
	bool foreground = rng_one_in(&s->rng, 3);
	struct sim_wish w = job->wish;

	TRACE(s, "user deletes %.*s", STR_F(job->name));
	s->tally->hits[foreground ? HIT_JOB_FOREGROUND : HIT_JOB_DELETED]++;
	server_delete_job(s, job, foreground);
	if (!foreground && rng_one_in(&s->rng, 2)) {
		s->tally->hits[HIT_JOB_AGAIN]++;
		w.annotation = NULL;
		make(s, &w, job->name);
	}
}

static void edit(struct sim *s, struct sim_job *job, enum sim_hit hit)
{
	s->tally->hits[hit]++;
	server_edit_job(s, job);
}

/* Members come and go: who left is wanted again, perhaps before its pod is gone. */
static bool grow_again(struct sim *s)
{
	for (struct sim_job *j = s->all_jobs; j; j = j->next) {
		int32_t count = j->grow_to;

		if (!count)
			continue;
		j->grow_to = 0;
		if (!j->exists || j->deleting || *manifest_count(&j->wish) >= count)
			continue;
		*manifest_count(&j->wish) = count;
		s->tally->hits[HIT_ELASTIC_AGAIN]++;
		TRACE(s, "user resizes %.*s to %d again", STR_F(j->name), count);
		edit(s, j, HIT_RESIZED);
		return true;
	}
	return false;
}

static void resize(struct sim *s, struct sim_job *job)
{
	int32_t *count = manifest_count(&job->wish), was = *count;

	*count = (int32_t)rng_between(&s->rng, 1, 8);
	if (job->wish.elastic)
		s->tally->hits[*count < was ? HIT_ELASTIC_DOWN : HIT_ELASTIC_UP] += *count != was;
	if (job->wish.elastic && *count < was && rng_one_in(&s->rng, 2))
		job->grow_to = was;
	TRACE(s, "user resizes %.*s to %d", STR_F(job->name), *count);
	edit(s, job, HIT_RESIZED);
}

static void annotate(struct sim *s, struct sim_job *job)
{
	static const char *const notes[] = { "Preempted", "Failed", "NodeFail" };

	job->wish.annotation = notes[rng_below(&s->rng, ARRAY_LEN(notes))];
	TRACE(s, "user annotates %.*s with %s", STR_F(job->name), job->wish.annotation);
	edit(s, job, HIT_ANNOTATED);
}

static void meddle(struct sim *s, struct sim_job *job)
{
	struct sim_pod *p = pick_pod(s, job);

	if (!p)
		return;
	switch (rng_below(&s->rng, 6)) {
	case 0:
	case 1:
		TRACE(s, "user deletes pod %.*s", STR_F(p->now.meta.name));
		s->tally->hits[HIT_POD_DELETED]++;
		server_delete_pod(s, p, rng_one_in(&s->rng, 3) ? 0 : -1);
		break;
	case 2:
		if (p->labelled) {
			TRACE(s, "user takes the labels of pod %.*s", STR_F(p->now.meta.name));
			s->tally->hits[HIT_UNLABELLED]++;
			server_pod_unlabel(s, p);
		}
		break;
	case 3:
		if (p->held)
			break;
		TRACE(s, "somebody's finalizer holds pod %.*s", STR_F(p->now.meta.name));
		p->held = rng_one_in(&s->rng, 3) ? NEVER : s->now + sim_between(s, 5000, 200000);
		break;
	default:
		kubelet_evict(s, p);
	}
}

static void stranger(struct sim *s, struct sim_job *job)
{
	if (s->n_foreign > 3)
		return;
	s->tally->hits[HIT_IMPOSTOR]++;
	server_foreign_pod(s, arena_printf(s->arena, "impostor-%zu", s->step), job);
}

/* The strangers leave, one by one. */
static void stranger_leaves(struct sim *s)
{
	void *value;

	for (size_t at = 0; map_next(&s->pods, &at, NULL, &value);) {
		struct sim_pod *p = value;

		if (p->foreign) {
			s->n_foreign--;
			server_remove_pod(s, p);
			return;
		}
	}
}

/* What has ended is in the way. */
static bool tidy(struct sim *s)
{
	for (struct sim_job *j = s->all_jobs; j; j = j->next)
		if (j->exists && !j->deleting && j->now->record && j->now->record->outcome && rng_one_in(&s->rng, 2)) {
			delete_job(s, j);
			return true;
		}
	return false;
}

void users_act(struct sim *s)
{
	struct sim_job *job = pick(s);

	if (grow_again(s) || (rng_one_in(&s->rng, 3) && tidy(s))) {
		/* One thing at a time. */
	} else if (s->n_jobs < SIM_JOBS || !job) {
		new_job(s);
	} else {
		switch (rng_below(&s->rng, 17)) {
		case 16:
			if (rng_one_in(&s->rng, 4))
				server_later_version(s, job);
			break;
		case 0:
		case 1:
			delete_job(s, job);
			break;
		case 2:
		case 3:
			resize(s, job);
			break;
		case 4:
		case 5:
			job->wish.suspend = !job->wish.suspend;
			edit(s, job, job->wish.suspend ? HIT_SUSPENDED : HIT_RESUMED);
			break;
		case 6:
			job->wish.invalid = !job->wish.invalid;
			edit(s, job, job->wish.invalid ? HIT_SPOILT : HIT_MENDED);
			break;
		case 7:
			if (rng_one_in(&s->rng, 3))
				annotate(s, job);
			break;
		case 8:
			stranger(s, job);
			break;
		case 9:
			stranger_leaves(s);
			break;
		default:
			if (job->wish.elastic && rng_one_in(&s->rng, 2))
				resize(s, job);
			else
				meddle(s, job);
		}
	}
	if (s->gang && rng_one_in(&s->rng, 8))
		groups_meddle(s);
	sim_move(s, s->users, s->now + sim_between(s, 100, 12000));
}

/* Two kinds give the same names to the children of jobs of the same name: the second one waits. */
static bool name_shared(const struct sim *s, const struct sim_job *job)
{
	for (const struct sim_job *j = s->all_jobs; j; j = j->next)
		if (j != job && j->exists && str_eq(j->name, job->name) &&
		    (s->gang || (manifest_plain_names(j->wish.kind) && manifest_plain_names(job->wish.kind))))
			return true;
	return false;
}

/* A finalizer that never goes holds no end, and nothing but the pod itself. */
static bool stays_held(struct sim *s, const struct sim_job *job, const struct sim_pod *p)
{
	if (p->held != NEVER || p->role == SIM_ROLES || job->deleting || !job->now->record ||
	    !job->now->record->outcome)
		return false;
	/* The names of its pods are free for nobody. */
	for (const struct sim_job *j = s->all_jobs; j; j = j->next)
		if (j != job && j->exists && str_eq(j->name, job->name))
			return false;
	return true;
}

static void free_pods(struct sim *s, struct sim_job *job)
{
	for (struct sim_pod *p = job->pods; p; p = p->next) {
		if (!p->held || stays_held(s, job, p))
			continue;
		if (p->held > s->now && p->stage == STAGE_STOPPING)
			sim_move(s, p->timer, s->now);
		p->held = 0;
	}
}

void users_leave(struct sim *s)
{
	while (s->n_foreign)
		stranger_leaves(s);
	groups_leave(s);
	for (struct sim_job *j = s->all_jobs; j; j = j->next)
		free_pods(s, j);
	for (struct sim_job *j = s->all_jobs; j; j = j->next)
		if (j->exists) {
			j->refuse = j->refused_role.n > 0;
			j->denied = 0;
			/* What the kind's own fields say holds nothing up. */
			j->own_refused = s->now < j->own_refused && rng_one_in(&s->rng, 2) ? NEVER : 0;
			if (name_shared(s, j))
				server_delete_job(s, j, false);
		}
}
