/* PodGroups: the server's part, what a gang scheduler does with them, and what goes wrong. Some seeds have them. */
#include "cluster/decode.h"
#include "base/http_code.h"
#include "sim/check.h"
#include "sim/groups.h"
#include "sim/server.h"
#include "sim/sim.h"

/* How a PodGroup stands that nobody has said anything of. */
static bool not_queued(const struct sim_group *g)
{
	return !g->now.phase.n || str_eqc(g->now.phase, "Pending");
}

static void show(struct sim *s, struct sim_group *g, bool gone)
{
	struct sim_version *v = arena_new(s->arena, struct sim_version);
	struct group *copy = arena_raw(s->arena, sizeof(*copy));

	g->now.meta.rv = arena_printf(s->arena, "%llu", (unsigned long long)++s->rv);
	*copy = g->now;
	v->object = (struct object){ .resource = RES_GROUP, .group = copy };
	v->gang = g->job;
	v->seq = s->rv;
	g->version = v;
	if (g->now.job_uid.n)
		stream_push(s, RES_GROUP, v, gone);
}

void groups_remove(struct sim *s, struct sim_group *g)
{
	TRACE(s, "PodGroup %.*s is gone", STR_F(g->now.meta.name));
	map_del(&s->groups, g->now.meta.name);
	sim_cancel(s, g->timer);
	if (g->job && g->job->group == g)
		g->job->group = NULL;
	if (rng_one_in(&s->rng, 2))
		g->now.meta.deleted = s->now;
	show(s, g, true);
	if (g->job && g->job->deleting)
		server_collect(s, g->job);
}

static yyjson_val *parse(struct sim *s, struct str text)
{
	return yyjson_doc_get_root(yyjson_read_opts((char *)(uintptr_t)text.p, text.n, 0, sim_alc(s), NULL));
}

/* What the server reads of it. */
static void read_object(struct sim *s, struct sim_group *g)
{
	struct meta meta = g->now.meta;
	struct str phase = g->now.phase;
	struct err e = ERR_INIT;

	if (!decode_group(&g->now, g->root, s->arena, &e))
		BUG("%s", err_msg(&e));
	g->now.meta = meta;
	g->now.phase = phase;
}

static void merge(struct sim *s, struct sim_group *g, yyjson_val *patch)
{
	yyjson_mut_doc *doc = yyjson_mut_doc_new(sim_alc(s));

	g->root = yyjson_doc_get_root(yyjson_mut_val_imut_copy(yyjson_merge_patch(doc, g->root, patch), sim_alc(s)));
	read_object(s, g);
	show(s, g, false);
}

static struct sim_group *add(struct sim *s, struct str name, yyjson_val *root, struct sim_job *job, struct str owner)
{
	struct sim_group *g = arena_new(s->arena, struct sim_group);

	g->now.meta = (struct meta){ .ns = STR("ml"), .name = name, .owner_uid = owner, .created = s->now };
	g->now.meta.uid = arena_printf(s->arena, "group-%llu", (unsigned long long)++s->uid);
	g->root = root;
	g->job = job;
	read_object(s, g);
	map_put(&s->groups, g->now.meta.name, g);
	return g;
}

const char *groups_read(struct sim *s, struct sim_request *r, yyjson_val *root)
{
	yyjson_val *labels = json_at(root, "metadata", "labels", NULL);

	(void)s;
	r->group = root;
	if (!str_eqc(json_str(json_get(root, "kind")), "PodGroup"))
		return "wrong kind";
	if (!str_eq(json_str(json_get(labels, LABEL_UID)), r->owner_uid) || !json_get(labels, LABEL_KIND) ||
	    !json_get(labels, LABEL_JOB))
		return "labels are missing";
	return json_at(root, "spec", "minMember", NULL) ? NULL : "no minMember";
}

int groups_create(struct sim *s, struct sim_request *r, struct outcome *o)
{
	struct sim_job *job = map_get(&s->jobs_by_uid, r->owner_uid);
	struct sim_group *g;

	if (s->now < s->groups_absent)
		return HTTP_NOT_FOUND;
	if (map_get(&s->groups, r->r.name)) {
		o->reason = STR("AlreadyExists");
		s->tally->hits[HIT_EXISTS]++;
		return HTTP_CONFLICT;
	}
	g = add(s, r->r.name, r->group, job, r->owner_uid);
	if (job)
		job->group = g;
	show(s, g, false);
	if (s->gang == GANG_VOLCANO)
		g->timer = sim_at(s, s->now + sim_between(s, 50, 2000), EV_GROUP, g);
	if (!job || !job->exists)
		sim_at(s, s->now + sim_between(s, 100, 3000), EV_COLLECT, job);
	r->answered = g->version;
	return HTTP_CREATED;
}

int groups_patch(struct sim *s, struct sim_request *r)
{
	struct sim_group *g = map_get(&s->groups, r->r.name);
	yyjson_val *body = parse(s, r->r.body);

	if (!g)
		return HTTP_NOT_FOUND;
	/* What is meant for another object does not touch this one. */
	if (!str_eq(json_str(json_at(body, "metadata", "uid", NULL)), g->now.meta.uid))
		return HTTP_CONFLICT;
	check_touch(s, r, g->foreign);
	merge(s, g, body);
	r->answered = g->version;
	return HTTP_OK;
}

static bool is_said(struct str said, struct str have)
{
	return !said.n || str_eq(said, have);
}

bool groups_says_nothing(struct sim *s, const struct sim_request *r, const struct group *have)
{
	yyjson_val *spec = json_get(parse(s, r->r.body), "spec");
	struct needs needs = needs_of_list(json_get(spec, "minResources"), s->arena);
	int64_t members = 0, timeout = have->timeout;

	json_int(json_get(spec, "minMember"), &members);
	json_int(json_get(spec, "scheduleTimeoutSeconds"), &timeout);
	return members == have->min_member && timeout == have->timeout && needs_eq(&needs, &have->needs) &&
	       is_said(json_str(json_get(spec, "queue")), have->queue) &&
	       is_said(json_str(json_get(spec, "priorityClassName")), have->priority_class);
}

int groups_get(struct sim *s, struct sim_request *r)
{
	struct sim_group *g = map_get(&s->groups, r->r.name);

	r->answered = g ? g->version : NULL;
	return g ? HTTP_OK : HTTP_NOT_FOUND;
}

int groups_delete(struct sim *s, struct sim_request *r)
{
	struct sim_group *g = map_get(&s->groups, r->r.name);

	if (!g)
		return HTTP_NOT_FOUND;
	if (r->r.uid.n && !str_eq(r->r.uid, g->now.meta.uid))
		return HTTP_CONFLICT;
	check_touch(s, r, g->foreign);
	/* Pods that are made after this need another one, if whoever asked for it still lives. */
	if (g->job && r->link)
		g->job->group_known[r->slot] = NULL;
	groups_remove(s, g);
	return HTTP_OK;
}

/* Volcano's webhook of before: pods of a group that is not in its queue are not taken. */
int groups_refuse(struct sim *s, const struct sim_job *job, const struct sim_request *r, struct outcome *o)
{
	const struct role *role = job ? job_role(kind_job(job->spec), r->pod.role) : NULL;

	if (s->gang != GANG_VOLCANO || r->r.resource != RES_POD || !role || role->aux || !job->group ||
	    !not_queued(job->group))
		return 0;
	o->reason = STR("BadRequest");
	o->message = STR("admission webhook denied the request: as the podgroup phase is Pending");
	return HTTP_BAD_REQUEST;
}

/* Is it of the gang, and has not ended? */
static bool is_member(const struct sim_job *job, const struct sim_pod *p)
{
	const struct role *role = job_role(kind_job(job->spec), p->now.role);

	return p->stage < STAGE_ENDED && role && !role->aux;
}

bool groups_admit(const struct sim *s, const struct sim_pod *p)
{
	int32_t members = 0;

	if (s->gang != GANG_PLUGINS || !p->job || !p->job->group || !is_member(p->job, p))
		return true;
	for (const struct sim_pod *q = p->job->pods; q; q = q->next)
		members += is_member(p->job, q);
	return members >= p->job->group->now.min_member;
}

/* Volcano looks at it: first it is seen, then let into the queue; one without pods may be sent back. */
void groups_timer(struct sim *s, struct sim_group *g)
{
	g->timer = NULL;
	if (not_queued(g)) {
		g->now.phase = g->now.phase.n ? STR("Inqueue") : STR("Pending");
		g->now.message = STR("not enough");
		s->tally->hits[HIT_GROUP_QUEUED]++;
		show(s, g, false);
	} else if (sim_chance(s, 4) && g->job && !g->job->pods) {
		g->now.phase = STR("Pending");
		show(s, g, false);
	}
	if (not_queued(g) || !s->quiet)
		g->timer = sim_at(s, s->now + sim_between(s, 100, 20000), EV_GROUP, g);
}

static struct sim_group *pick(struct sim *s)
{
	struct sim_group *found = NULL;
	size_t n = 0;
	void *value;

	for (size_t at = 0; map_next(&s->groups, &at, NULL, &value);)
		if (rng_one_in(&s->rng, ++n))
			found = value;
	return found;
}

static void foreign(struct sim *s)
{
	struct str name = arena_printf(s->arena, "job-%d", (int)rng_below(&s->rng, SIM_NAMES));

	if (map_get(&s->groups, name))
		return;
	TRACE(s, "somebody else makes PodGroup %.*s", STR_F(name));
	s->tally->hits[HIT_GROUP_FOREIGN]++;
	add(s, name, parse(s, STR("{\"metadata\":{\"name\":\"x\"}}")), NULL, STR("somebody-else"))->foreign = true;
	show(s, map_get(&s->groups, name), false);
}

void groups_meddle(struct sim *s)
{
	struct sim_group *g = pick(s);

	if (rng_one_in(&s->rng, 3)) {
		foreign(s);
	} else if (g && (g->foreign || rng_one_in(&s->rng, 2))) {
		groups_remove(s, g);
	} else if (g) {
		TRACE(s, "user edits PodGroup %.*s", STR_F(g->now.meta.name));
		s->tally->hits[HIT_GROUP_EDITED]++;
		merge(s, g, parse(s, STR("{\"spec\":{\"minMember\":77,\"minResources\":{\"pods\":\"9\"}}}")));
	}
}

void groups_leave(struct sim *s)
{
	void *value;

	for (size_t at = 0; map_next(&s->groups, &at, NULL, &value);) {
		struct sim_group *g = value;

		if (g->foreign) {
			groups_remove(s, g);
			at = 0;
		}
	}
	s->groups_absent = 0;
}

/* Somebody takes the CRD away, and with it all PodGroups. */
void groups_undefine(struct sim *s)
{
	void *value;

	TRACE(s, "PodGroups are not defined any more");
	s->tally->hits[HIT_GROUPS_ABSENT]++;
	s->groups_absent = s->now + sim_between(s, 1000, 30000);
	for (size_t at = 0; map_next(&s->groups, &at, NULL, &value); at = 0)
		groups_remove(s, value);
}
