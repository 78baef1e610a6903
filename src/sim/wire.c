/* Requests: latency, lost replies, gateways that give up. */
#include "base/http_code.h"
#include "base/list.h"
#include "sim/body.h"
#include "sim/check.h"
#include "sim/load.h"
#include "sim/mutant.h"
#include "sim/server.h"
#include "sim/sim.h"
#include "sim/work.h"

static const msec request_timeout = SECONDS(10);

static void forget(struct sim *s, struct sim_request *r)
{
	list_drop(&s->in_flight, r);
}

static const char *const verb_names[] = { "get", "create", "delete", "patch", "patch status of" };
static const char *const one_names[] = { "job", "pod", "service", "node", "PodGroup" };

void wire_arrive(struct sim *s, struct sim_request *r)
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

void wire_reply(struct sim *s, struct sim_request *r)
{
	struct sim_link *l = r->link;

	if (!l)
		return;
	if (r->lose_reply)
		r->outcome = (struct outcome){ 0 };
	if (r->timer)
		r->link = NULL; /* it has not arrived yet, and still may */
	else
		forget(s, r);
	r->version = http_is_good(r->outcome.code) ? r->answered : NULL;
	TRACE(s, "  reply to %s %s %.*s: %d", verb_names[r->r.verb], one_names[r->r.resource], STR_F(r->r.name),
	      r->outcome.code);
	l->reply = r;
	link_run(s, l);
	ASSERT(!l->reply);
}

static const struct {
	msec retry_after;
	int code;
	enum sim_hit hit;
} injected[] = {
	{ 1000, 429, HIT_THROTTLED },
	{ 0, 500, HIT_SERVER_ERROR },
	{ 2000, 503, HIT_SERVER_ERROR },
	{ 0, HTTP_GATEWAY_TIMEOUT, HIT_SERVER_ERROR },
};

static void choose_faults(struct sim *s, struct sim_request *r, msec *arrives)
{
	size_t i;

	if (s->busy)
		return;
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
		if (injected[i].code == HTTP_GATEWAY_TIMEOUT && r->r.verb != VERB_GET) {
			r->inject_after = HTTP_GATEWAY_TIMEOUT;
		} else {
			r->inject = injected[i].code;
			r->outcome.retry_after = injected[i].retry_after;
		}
	}
}

static void send_on_wire(struct sim *s, struct sim_request *r)
{
	msec arrives = s->now + r->slow + sim_between(s, 1, 40);

	work_sent(s, r);
	list_push(&s->in_flight, r);
	if (r->link)
		load_check_flight(s, r->link);
	choose_faults(s, r, &arrives);
	if (arrives != NEVER)
		r->timer = sim_at(s, arrives, EV_ARRIVE, r);
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

void wire_submit(struct cluster *c, const struct request *req)
{
	struct sim_link *l = (struct sim_link *)(void *)c;
	struct sim *s = l->sim;
	struct sim_request *r = copy_request(s, req);

	r->link = l;
	r->slot = l->slot;
	if (r->r.verb == VERB_CREATE)
		r->fault = body_read(s, r);
	TRACE(s, "operator: %s %s %.*s%s", verb_names[r->r.verb], one_names[r->r.resource], STR_F(r->r.name),
	      r->r.verb == VERB_DELETE && r->r.grace == 0 ? " (force)" : "");
	if (r->r.verb == VERB_PATCH_STATUS)
		TRACE(s, "    %.*s", STR_F(str_sub(r->r.body, 0, 560)));
	if (s->opt.mutant && !mutant_request(s, r)) {
		/* Swallowed, and answered as done. */
		r->outcome.code = HTTP_OK;
		list_push(&s->in_flight, r);
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
	send_on_wire(s, r);
}

void wire_submit_spoiled(struct sim *s, const struct sim_request *like)
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
	send_on_wire(s, r);
}

void wire_cut(struct sim *s, const struct sim_link *l, bool cut_off)
{
	struct sim_request *next;

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
