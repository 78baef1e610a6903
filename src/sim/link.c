/* The way between one operator and the server: latency, lost replies, watches that stall, repeat
   themselves or break, and operators that die in the middle of a sentence. */
#include "sim/sim.h"

static const msec request_timeout = SECONDS(10);

/* Delivery */

static void shown(struct sim *s, const struct link *l, struct version *v)
{
	struct version **known = v->job ? &v->job->known[l->slot] : NULL;

	if (known && (!*known || (*known)->seq < v->seq)) {
		*known = v;
		if (s->opt.mutant)
			mutant_shown(s, v->job);
	}
}

static void shown_group(const struct link *l, struct version *v)
{
	struct version **known = v->gang ? &v->gang->group_known[l->slot] : NULL;

	if (known && (!*known || (*known)->seq < v->seq))
		*known = v;
}

static struct object show(const struct link *l, struct version *v)
{
	struct sim *s = l->sim;

	shown(s, l, v);
	shown_group(l, v);
	return s->opt.mutant ? mutant_object(s, v) : v->object;
}

static bool next_of_list(struct link *l, struct cluster_event *ret)
{
	const struct item *it = l->item;
	size_t at = l->at++;

	if (at == 0) {
		ret->type = EVENT_SYNC;
	} else if (at <= it->n) {
		ret->type = EVENT_PUT;
		ret->object = show(l, it->versions[at - 1]);
	} else {
		ret->type = EVENT_SYNCED;
		l->item = NULL;
	}
	return true;
}

static bool link_next(struct cluster *c, struct cluster_event *ret)
{
	struct link *l = (struct link *)(void *)c;

	*ret = (struct cluster_event){ 0 };
	if (l->reply) {
		struct sim_request *r = l->reply;

		l->reply = NULL;
		ret->type = EVENT_OUTCOME;
		ret->outcome = r->outcome;
		ret->outcome.id = r->r.id;
		if (r->version)
			ret->outcome.object = show(l, r->version);
		return true;
	}
	if (!l->item)
		return false;
	ret->resource = l->resource;
	if (l->item->list)
		return next_of_list(l, ret);
	ret->type = l->item->gone ? EVENT_GONE : EVENT_PUT;
	ret->object = l->item->gone ? l->item->version->object : show(l, l->item->version);
	l->item = NULL;
	return true;
}

static void run_operator(struct sim *s, struct link *l)
{
	msec wake = operator_step(l->op);

	if (wake == NEVER)
		sim_cancel(s, l->wake);
	else
		sim_move(s, l->wake, wake);
}

void link_wake(struct sim *s, struct link *l)
{
	run_operator(s, l);
}

/* Watches */

static enum resource resource_of(const struct link *l, const struct stream *st)
{
	return (enum resource)(st - l->streams);
}

static void schedule(struct sim *s, struct stream *st)
{
	if (st->head < st->items.n)
		sim_move(s, st->timer, MAX(st->items.v[st->head].at, st->stalled));
}

static void push(struct sim *s, struct stream *st, struct item it)
{
	bool idle = st->head == st->items.n;

	if (idle)
		st->head = st->items.n = 0;
	*vec_push(s->arena, &st->items) = it;
	if (idle)
		schedule(s, st);
}

void link_push(struct sim *s, enum resource r, struct version *v, bool gone)
{
	struct link *links[] = { s->link, s->former };

	for (size_t i = 0; i < ARRAY_LEN(links); i++)
		if (links[i] && links[i]->streams[r].on)
			push(s, &links[i]->streams[r],
			     (struct item){ .gone = gone, .version = v, .at = s->now + sim_between(s, 1, 50) });
}

static const char *const resource_names[] = { "jobs", "pods", "services", "nodes", "podgroups" };

void link_watch(struct sim *s, struct stream *st)
{
	struct link *l = st->link;
	struct item *it;

	if (st->head == st->items.n)
		return;
	it = &st->items.v[st->head++];
	l->item = it;
	l->at = 0;
	l->resource = resource_of(l, st);
	if (!it->list)
		st->last[st->n_last++ % STREAM_REPLAY] = *it;
	TRACE(s, "  watch of %s: %s", resource_names[l->resource], it->list ? "list" : it->gone ? "gone" : "put");
	if (s->opt.mutant && mutant_drops(s, it))
		l->item = NULL;
	run_operator(s, l);
	ASSERT(!l->item);
	schedule(s, st);
}

static struct version *version_of(enum resource r, void *value)
{
	switch (r) {
	case RES_JOB:
		return ((struct sim_job *)value)->now;
	case RES_POD:
		return ((struct sim_pod *)value)->labelled ? ((struct sim_pod *)value)->version : NULL;
	case RES_SERVICE:
		return ((struct sim_service *)value)->labelled ? ((struct sim_service *)value)->version : NULL;
	case RES_GROUP:
		return ((struct sim_group *)value)->now.job_uid.n ? ((struct sim_group *)value)->version : NULL;
	case RES_NODE:
	case RES_COUNT:
		break;
	}
	return NULL;
}

/* It cannot be listed; the watch tries again. */
static bool unlisted(struct sim *s, struct stream *st)
{
	struct buf line = BUF_INIT(1024);

	if (resource_of(st->link, st) != RES_GROUP || s->now >= s->groups_absent)
		return false;
	operator_trouble(st->link->op, RES_GROUP, 404, STR("404 page not found"), &line);
	buf_release(&line);
	sim_move(s, st->relist, s->now + sim_between(s, 500, 10000));
	run_operator(s, st->link);
	return true;
}

/* The server reads what there is; the operator sees it a little later. */
void link_list(struct sim *s, struct stream *st)
{
	enum resource r = resource_of(st->link, st);
	const struct map *maps[RES_COUNT] = { [RES_JOB] = &s->jobs_by_name,
		                              [RES_POD] = &s->pods,
		                              [RES_SERVICE] = &s->services,
		                              [RES_GROUP] = &s->groups };
	const struct map *from = maps[r];
	struct item it = { .list = true, .at = s->now + sim_between(s, 1, 200) };
	void *value;

	if (unlisted(s, st))
		return;
	if (r == RES_NODE) {
		it.versions = arena_array(s->arena, struct version *, SIM_NODES);
		for (size_t i = 0; i < SIM_NODES; i++)
			if (s->nodes[i].exists)
				it.versions[it.n++] = s->nodes[i].version;
	} else {
		it.versions = arena_array(s->arena, struct version *, from->n);
		for (size_t at = 0; map_next(from, &at, NULL, &value);) {
			struct version *v = version_of(r, value);

			if (v)
				it.versions[it.n++] = v;
		}
	}
	st->on = true;
	push(s, st, it);
}

static void list_anew(struct sim *s, struct stream *st, msec wait)
{
	st->on = false;
	st->head = st->items.n = 0;
	sim_cancel(s, st->timer);
	sim_move(s, st->relist, s->now + wait);
}

static void replay(struct sim *s, struct stream *st)
{
	size_t n = MIN(st->n_last, (size_t)STREAM_REPLAY), from = st->n_last - n + rng_below(&s->rng, n);

	for (size_t i = from; i < st->n_last; i++) {
		struct item it = st->last[i % STREAM_REPLAY];

		it.at = s->now + sim_between(s, 1, 50);
		push(s, st, it);
	}
}

/* Requests */

static void forget(struct sim *s, struct sim_request *r)
{
	if (r->prev)
		r->prev->next = r->next;
	else
		s->in_flight = r->next;
	if (r->next)
		r->next->prev = r->prev;
}

static const char *const verb_names[] = { "get", "create", "delete", "patch", "patch status of" };
static const char *const one_names[] = { "job", "pod", "service", "node", "PodGroup" };

void link_arrive(struct sim *s, struct sim_request *r)
{
	r->timer = NULL;
	if (r->inject)
		r->outcome.code = r->inject;
	else
		server_answer(s, r, &r->outcome);
	TRACE(s, "  server: %s %s %.*s -> %d %.*s%s", verb_names[r->r.verb], one_names[r->r.resource], STR_F(r->r.name),
	      r->outcome.code, STR_F(r->outcome.reason), r->link ? "" : " (of a former operator)");
	if (r->inject_after)
		r->outcome = (struct outcome){ .code = r->inject_after };
	if (!r->link) {
		forget(s, r);
		return;
	}
	if (!r->lose_reply)
		sim_at(s, s->now + sim_between(s, 1, 40), EV_REPLY, r);
}

void link_reply(struct sim *s, struct sim_request *r)
{
	struct link *l = r->link;

	if (!l)
		return;
	if (r->lose_reply)
		r->outcome = (struct outcome){ 0 };
	if (r->timer)
		r->link = NULL; /* it has not arrived yet, and still may */
	else
		forget(s, r);
	r->version = r->outcome.code >= 200 && r->outcome.code < 300 ? r->answered : NULL;
	TRACE(s, "  reply to %s %s %.*s: %d", verb_names[r->r.verb], one_names[r->r.resource], STR_F(r->r.name),
	      r->outcome.code);
	l->reply = r;
	run_operator(s, l);
	ASSERT(!l->reply);
}

static const struct {
	msec retry_after;
	int code;
	enum hit hit;
} injected[] = {
	{ 1000, 429, HIT_THROTTLED },
	{ 0, 500, HIT_SERVER_ERROR },
	{ 2000, 503, HIT_SERVER_ERROR },
	{ 0, 504, HIT_SERVER_ERROR },
};

static void choose_faults(struct sim *s, struct sim_request *r, msec *arrives)
{
	size_t i;

	if (sim_chance(s, 50)) {
		r->lose_reply = true;
		sim_at(s, s->now + request_timeout, EV_REPLY, r);
		switch (rng_below(&s->rng, 3)) {
		case 0:
			s->tally->hits[HIT_LOST_DONE]++;
			break;
		case 1:
			s->tally->hits[HIT_LOST_UNDONE]++;
			*arrives = NEVER;
			break;
		default:
			s->tally->hits[HIT_LOST_LATE]++;
			*arrives = s->now + request_timeout + sim_between(s, 1, 15000);
		}
	} else if (sim_chance(s, 40)) {
		i = rng_below(&s->rng, ARRAY_LEN(injected));
		s->tally->hits[injected[i].hit]++;
		if (injected[i].code == 504 && r->r.verb != VERB_GET) {
			r->inject_after = 504;
		} else {
			r->inject = injected[i].code;
			r->outcome.retry_after = injected[i].retry_after;
		}
	}
}

static void send(struct sim *s, struct sim_request *r)
{
	msec arrives = s->now + sim_between(s, 1, 40);

	r->next = s->in_flight;
	if (r->next)
		r->next->prev = r;
	s->in_flight = r;
	choose_faults(s, r, &arrives);
	if (arrives != NEVER)
		r->timer = sim_at(s, arrives, EV_ARRIVE, r);
}

/* A create's body is read as the server would, and must be what it says it is. */
static const char *read_child(struct sim *s, struct sim_request *r)
{
	yyjson_doc *doc = yyjson_read_opts((char *)(uintptr_t)r->r.body.p, r->r.body.n, 0, sim_alc(s), NULL);
	yyjson_val *root = yyjson_doc_get_root(doc), *meta = json_get(root, "metadata"),
		   *labels = json_get(meta, "labels");
	yyjson_val *owner = yyjson_arr_get(json_get(meta, "ownerReferences"), 0), *spec = json_get(root, "spec"), *c;
	struct str job_uid = json_str(json_get(labels, LABEL_UID)), role = json_str(json_get(labels, LABEL_ROLE));
	bool pod = r->r.resource == RES_POD;
	struct container *containers;
	int64_t index, generation = 0;
	size_t i, max;

	if (!doc)
		return "no JSON";
	if (!str_eq(json_str(json_get(meta, "name")), r->r.name))
		return "another name than the request's";
	r->owner_uid = json_str(json_get(owner, "uid"));
	if (!r->owner_uid.n || !yyjson_is_true(json_get(owner, "controller")))
		return "no owner";
	if (r->r.resource == RES_GROUP)
		return groups_read(s, r, root);
	if (!str_eq(json_str(json_get(root, "kind")), pod ? STR("Pod") : STR("Service")))
		return "wrong kind";
	if (!str_eq(job_uid, r->owner_uid) || !role.n || !str_int(json_str(json_get(labels, LABEL_INDEX)), &index))
		return "labels are missing";
	if (!json_get(labels, LABEL_KIND) || !json_get(labels, LABEL_JOB))
		return "labels are missing";
	if (!pod) {
		r->service = (struct service){ .job_uid = job_uid, .role = role, .index = (int32_t)index };
		return NULL;
	}
	if (!str_int(json_str(json_get(labels, LABEL_GENERATION)), &generation))
		return "no generation";
	if (!str_eqc(json_str(json_get(spec, "restartPolicy")), "Never"))
		return "a restartPolicy other than Never";
	r->pod = (struct pod){ .job_uid = job_uid, .role = role, .index = (int32_t)index, .generation = generation };
	containers = arena_array(s->arena, struct container, 2);
	if (json_get(spec, "initContainers"))
		containers[r->n_containers++] = (struct container){ .name = STR("prepare"), .init = true };
	yyjson_arr_foreach(json_get(spec, "containers"), i, max, c)
	{
		if (r->n_containers == 2)
			return "too many containers";
		containers[r->n_containers++] = (struct container){ .name = json_str(json_get(c, "name")) };
	}
	r->pod.containers = containers;
	return NULL;
}

static struct sim_request *copy_request(struct sim *s, const struct request *r)
{
	struct sim_request *q = arena_new(s->arena, struct sim_request);

	q->r = *r;
	q->r.kind = arena_str(s->arena, r->kind);
	q->r.ns = arena_str(s->arena, r->ns);
	q->r.name = arena_str(s->arena, r->name);
	q->r.body = arena_str(s->arena, r->body);
	q->r.uid = arena_str(s->arena, r->uid);
	return q;
}

static void link_submit(struct cluster *c, const struct request *req)
{
	struct link *l = (struct link *)(void *)c;
	struct sim *s = l->sim;
	struct sim_request *r = copy_request(s, req);

	r->link = l;
	r->slot = l->slot;
	if (r->r.verb == VERB_CREATE)
		r->fault = read_child(s, r);
	TRACE(s, "operator: %s %s %.*s%s", verb_names[r->r.verb], one_names[r->r.resource], STR_F(r->r.name),
	      r->r.verb == VERB_DELETE && r->r.grace == 0 ? " (force)" : "");
	if (r->r.verb == VERB_PATCH_STATUS)
		TRACE(s, "    %.*s", STR_F(str_sub(r->r.body, 0, 560)));
	if (s->opt.mutant && !mutant_request(s, r)) {
		/* Swallowed, and answered as done. */
		r->outcome.code = 200;
		r->next = s->in_flight;
		if (r->next)
			r->next->prev = r;
		s->in_flight = r;
		sim_at(s, s->now + 10, EV_REPLY, r);
		return;
	}
	if (r->r.verb == VERB_CREATE)
		check_create(s, r);
	if (r->r.verb == VERB_DELETE)
		check_delete(s, r);
	if (r->r.verb == VERB_PATCH)
		check_patch(s, r);
	if (r->hoarded)
		r->owner_uid = STR("nobody");
	send(s, r);
}

void link_submit_spoiled(struct sim *s, const struct sim_request *like)
{
	struct sim_request *r = arena_new(s->arena, struct sim_request);

	*r = *like;
	r->link = NULL;
	r->next = r->prev = NULL;
	r->timer = NULL;
	if (r->r.verb == VERB_CREATE)
		check_create(s, r);
	if (r->r.verb == VERB_DELETE)
		check_delete(s, r);
	send(s, r);
}

/* Life and death */

static const struct cluster_ops link_ops = { link_submit, link_next };

static struct operator_config config(const struct sim *s)
{
	struct operator_config c = operator_config_default;

	c.plan = plan_config_default;
	/* The same rules at a quicker pace, so that a run sees more of them. */
	c.plan.node_outage_wait = MINUTES(3);
	c.plan.force_delete_after = MINUTES(1);
	c.plan.creating_duration = SECONDS(20);
	c.plan.gang = s->opt.mutant == MUTANT_EAGER ? GANG_NONE : s->gang;
	c.creates_max = 4;
	/* Some runs keep few jobs ready, so that they are read again and again. */
	c.jobs_open = s->opt.seed % 4 ? c.jobs_open : 2;
	return c;
}

/* PodGroups, the last ones, are watched only where there is a gang scheduler. */
static size_t streams_of(const struct sim *s)
{
	return s->gang ? RES_COUNT : RES_GROUP;
}

struct link *link_new(struct sim *s, size_t slot)
{
	struct link *l = arena_new(s->arena, struct link);
	struct operator_config c = config(s);

	l->cluster.ops = &link_ops;
	l->sim = s;
	l->slot = slot;
	l->wake = arena_new(s->arena, struct sim_event);
	l->wake->type = EV_OPERATOR;
	l->wake->what = l;
	for (size_t i = 0; i < streams_of(s); i++) {
		struct stream *st = &l->streams[i];

		st->link = l;
		st->timer = arena_new(s->arena, struct sim_event);
		st->timer->type = EV_WATCH;
		st->timer->what = st;
		st->relist = arena_new(s->arena, struct sim_event);
		st->relist->type = EV_LIST;
		st->relist->what = st;
		sim_move(s, st->relist, s->now + sim_between(s, 1, 2000));
	}
	l->op = operator_new(&l->cluster, s->kinds, &s->clock, &c);
	return l;
}

void link_crash(struct sim *s, struct link *l, bool cut_off)
{
	struct sim_request *next;

	operator_free(l->op);
	l->op = NULL;
	if (s->link == l)
		s->link = NULL;
	else
		s->former = NULL;
	sim_cancel(s, l->wake);
	for (size_t i = 0; i < streams_of(s); i++) {
		sim_cancel(s, l->streams[i].timer);
		sim_cancel(s, l->streams[i].relist);
	}
	for (struct sim_request *r = s->in_flight; r; r = next) {
		next = r->next;
		if (r->link != l)
			continue;
		r->link = NULL;
		if (!r->timer || (!cut_off && rng_one_in(&s->rng, 2))) {
			sim_cancel(s, r->timer);
			forget(s, r);
		} else if (cut_off) {
			sim_move(s, r->timer, s->now + sim_between(s, 1, 20000));
		}
	}
}

static void crash(struct sim *s)
{
	TRACE(s, "CRASH");
	s->tally->hits[HIT_CRASH]++;
	link_crash(s, s->link, false);
	s->start = sim_at(s, s->now + sim_between(s, 1, 30000), EV_START, NULL);
}

/* Another one takes over. What the old one has sent still arrives; and sometimes it goes on for a while,
   since nobody told it. */
static void change_leader(struct sim *s)
{
	TRACE(s, "LEADER CHANGE");
	s->tally->hits[HIT_LEADER]++;
	if (!s->former && rng_one_in(&s->rng, 2)) {
		s->tally->hits[HIT_TWO_LEADERS]++;
		s->former = s->link;
		s->link = NULL;
		s->depose = sim_at(s, s->now + sim_between(s, 100, 15000), EV_DEPOSE, NULL);
	} else {
		link_crash(s, s->link, true);
	}
	s->start = sim_at(s, s->now + sim_between(s, 1, 200), EV_START, NULL);
}

void link_depose(struct sim *s)
{
	sim_cancel(s, s->depose);
	if (s->former) {
		TRACE(s, "the former leader stops");
		link_crash(s, s->former, true);
	}
}

static void refuse_status(struct sim *s)
{
	for (struct sim_job *j = s->all_jobs; j; j = j->next)
		if (j->exists && rng_one_in(&s->rng, 4)) {
			j->status_refused = s->now + SECONDS(3);
			return;
		}
}

/* Now and then something goes wrong. */
void link_fault(struct sim *s)
{
	struct stream *st = s->link ? &s->link->streams[rng_below(&s->rng, streams_of(s))] : NULL;

	switch (rng_below(&s->rng, 16)) {
	case 0:
		if (s->link && rng_one_in(&s->rng, 2))
			crash(s);
		else if (s->link)
			change_leader(s);
		break;
	case 1:
	case 2:
	case 3:
	case 4:
		if (st) {
			TRACE(s, "watch stalls");
			st->stalled = s->now + sim_between(s, 500, 40000);
			schedule(s, st);
			s->tally->hits[HIT_WATCH_STALLED]++;
		}
		break;
	case 5:
	case 6:
		if (st && st->on) {
			TRACE(s, "watch breaks");
			list_anew(s, st, sim_between(s, 100, 20000));
			s->tally->hits[HIT_WATCH_DROPPED]++;
		}
		break;
	case 7:
		if (st && st->on) {
			TRACE(s, "410");
			list_anew(s, st, 1);
			s->tally->hits[HIT_WATCH_EXPIRED]++;
		}
		break;
	case 8:
	case 9:
		if (st && st->on && st->n_last) {
			replay(s, st);
			s->tally->hits[HIT_WATCH_REPEATED]++;
		}
		break;
	case 10:
		s->quota_until = s->now + sim_between(s, 1000, 30000);
		break;
	case 11:
		s->webhook_until = s->now + sim_between(s, 1000, 10000);
		break;
	case 12:
		refuse_status(s);
		break;
	default:
		nodes_fault(s);
	}
	if (s->gang && sim_chance(s, 30)) {
		groups_undefine(s);
		if (s->link && s->link->streams[RES_GROUP].on)
			list_anew(s, &s->link->streams[RES_GROUP], sim_between(s, 1, 2000));
	}
	sim_move(s, s->faults, s->now + sim_between(s, 200, 12000));
}
